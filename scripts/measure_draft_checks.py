"""Hold the checks of test-set drafts, with the default encoders, against 60 good and 60 bad drafts written by hand.

Prints what became of each kind and the share that was decided rightly, with Wilson intervals, in English and Chinese.
The thresholds are the shipped ones; nothing is fitted on these drafts. Needs the models of a fresh machine
(`offline-eval models fetch all-minilm-l6-v2`); other encoders by name.
"""

import argparse
import sys
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from offline_eval.cli.defaults import DEFAULT_ENCODERS
from offline_eval.core.results import Interval
from offline_eval.engines.embedder import open_embedder
from offline_eval.engines.pair_scorers import open_pair_scorer
from offline_eval.stats.intervals import wilson
from offline_eval.testset.checking import Checker
from offline_eval.testset.draft import Draft
from offline_eval.testset.grounding import Encoders
from offline_eval.testset.near_duplicates import Seen
from offline_eval.testset.sources import read_sources
from tests.testset.hand_drafts import HANDBOOK, HandDraft, hand_drafts, handbook

KEPT = "good"


def main() -> None:
    """Check the drafts and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nli", default=DEFAULT_ENCODERS["nli"])
    parser.add_argument("--answerability", default=DEFAULT_ENCODERS["answerability"])
    parser.add_argument("--embedder", default=None, help="compares questions by meaning; only for its languages")
    parser.add_argument("--each", action="store_true", help="also one line for every draft that was decided wrongly")
    chosen = parser.parse_args()
    hands, passages = hand_drafts(), handbook()
    with TemporaryDirectory() as folder:
        sources = read_sources(HANDBOOK, Path(folder) / "index", language="auto", seed=0)
        encoders = Encoders(
            open_pair_scorer(chosen.nli), open_pair_scorer(chosen.answerability), sources.search, passages.get
        )
        embedder = open_embedder(chosen.embedder) if chosen.embedder else None
        drafts = Checker(encoders, seen=Seen(embedder)).check([hand.draft for hand in hands])
    pairs = list(zip(hands, drafts, strict=True))
    for language in ("en", "zh"):
        print_table(
            [(hand, draft) for hand, draft in pairs if hand.draft.id.lstrip("b").startswith(language[0])], language
        )
    print_table(pairs, "both")
    if chosen.each:
        print_mistakes(pairs)


def print_table(pairs: list[tuple[HandDraft, Draft]], name: str) -> None:
    """A confusion table: label by hand to what the checks said."""
    print(
        f"\n## {name}\n\n| by hand | n | kept | right reason | what the checks said |\n| --- | --- | --- | --- | --- |"
    )
    for label in dict.fromkeys(hand.label for hand, _ in pairs):
        said = Counter(outcome(draft) for hand, draft in pairs if hand.label == label)
        words = ", ".join(f"{reason} {count}" for reason, count in said.most_common())
        print(f"| {label} | {said.total()} | {said[KEPT]} | {said[label]} | {words} |")
    good = [draft for hand, draft in pairs if hand.label == KEPT]
    bad = [draft for hand, draft in pairs if hand.label != KEPT]
    print(f"\ngood ones kept: {share(sum(outcome(draft) == KEPT for draft in good), len(good))}")
    print(f"bad ones thrown out: {share(sum(outcome(draft) != KEPT for draft in bad), len(bad))}")
    right = sum(outcome(draft) == hand.label for hand, draft in pairs if hand.label != KEPT)
    print(f"bad ones thrown out for the right reason: {share(right, len(bad))}")


def print_mistakes(pairs: list[tuple[HandDraft, Draft]]) -> None:
    """Every draft whose fate is not its label."""
    print("\n## Decided otherwise than by hand\n")
    for hand, draft in pairs:
        if outcome(draft) != hand.label:
            last = draft.checks[-1]
            print(f"{draft.id} {hand.label} -> {outcome(draft)} {last.check} {last.value} {last.detail}")


def outcome(draft: Draft) -> str:
    """`good`, or the reason it was thrown out."""
    return draft.status_reason or "" if draft.status == "rejected" else KEPT


def share(k: int, n: int) -> str:
    """`k/n = share [interval]`."""
    found = wilson(k, n)
    bounds = f" [{found.low:.3f}, {found.high:.3f}]" if isinstance(found, Interval) else ""
    return f"{k}/{n} = {k / n:.3f}{bounds}"


if __name__ == "__main__":
    main()
