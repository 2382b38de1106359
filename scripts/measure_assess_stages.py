"""How often the stages of the self-assessing pipeline do their work with the default encoders, on constructed cases.

Ten facts in English and ten in Chinese. From each: a clean case (the right passage and the right answer), passages that
are only about the subject, a passage that says the opposite, an answer with one invented number. A rate without its
false alarms says nothing, so the clean cases are counted beside. Rates with 95 % Wilson intervals; one JSON line a
language and kind.
"""

import json
import sys
from collections.abc import Callable
from pathlib import Path

from offline_eval.assess.pipeline import SelfAssessingRag
from offline_eval.assess.policy import Policy
from offline_eval.assess.protocols import Encoders, GenerationRequest
from offline_eval.assess.records import Assessment, Mark
from offline_eval.assess.sources import CallableGenerator, CallableRetriever
from offline_eval.confidence.profile import Tier
from offline_eval.core.records import Passage
from offline_eval.core.yaml_text import read_yaml
from offline_eval.engines.embedder import open_embedder
from offline_eval.engines.feature_scorer import BASE_EMBEDDER
from offline_eval.engines.pair_scorers import open_pair_scorer
from offline_eval.stats.intervals import wilson

FACTS = Path(__file__).with_name("assess_facts.yaml")


class Asked:
    """A pipeline whose two retrievers agree on what it is told to find, and whose generator says what it is told."""

    def __init__(self, checks: Encoders) -> None:
        self._found: list[Passage] = []
        self._answer = ""
        retrievers = [CallableRetriever(self._search, name=name) for name in ("first", "second")]
        generator = CallableGenerator(self._write, name="given")
        self._rag = SelfAssessingRag(retrievers, generator, checks, Policy(cache_entries=0, deadline_s=600))

    def __call__(self, query: str, texts: list[str], answer: str) -> Assessment:
        """One assessment."""
        self._found = [Passage(id=f"p{number}", text=text) for number, text in enumerate(texts)]
        self._answer = answer
        return self._rag.assess(query)

    def _search(self, query: str, k: int) -> list[Passage]:
        return self._found

    def _write(self, request: GenerationRequest) -> str:
        return self._answer


def invented_is_marked(result: Assessment) -> bool:
    """Whether the last claim, and nothing but it, is marked, and the answer was not given without a doubt."""
    marks = [claim.mark is Mark.SUPPORTED for claim in result.claims]
    return bool(marks) and not marks[-1] and result.tier is not Tier.ANSWER


KINDS: dict[str, Callable[[Assessment], bool]] = {
    "topical passages: early exit": lambda result: result.early_exit is not None,
    "clean case: early exit (false alarm)": lambda result: result.early_exit is not None,
    "opposite passage: contradiction named": lambda result: bool(result.contradictions),
    "clean case: contradiction named (false alarm)": lambda result: bool(result.contradictions),
    "invented number: marked, tier lowered": invented_is_marked,
    "clean case: a claim marked (false alarm)": lambda result: any(c.mark is not Mark.SUPPORTED for c in result.claims),
    "clean case: answered without a doubt": lambda result: result.tier is Tier.ANSWER,
}


def main() -> int:
    """Measure and print JSON lines."""
    support, answerability = open_pair_scorer("default-support"), open_pair_scorer("default-answerability")
    ask = Asked(Encoders(support, answerability, open_embedder(BASE_EMBEDDER)))
    for language, facts in read_yaml(FACTS).data.items():
        counts = dict.fromkeys(KINDS, 0)
        for fact in facts:
            query, right = fact["query"], fact["right"]
            results = {
                "topical": ask(query, [fact["topical"]], right),
                "clean": ask(query, [right, fact["topical"]], right),
                "opposite": ask(query, [right, fact["opposite"]], right),
                "invented": ask(query, [right, fact["topical"]], f"{right} {fact['invented']}"),
            }
            for kind, holds in KINDS.items():
                counts[kind] += holds(results[kind.split()[0]])
        for kind, count in counts.items():
            interval = wilson(count, len(facts))
            low, high = (getattr(interval, end, None) for end in ("low", "high"))
            row = {"language": language, "kind": kind, "count": count, "of": len(facts), "low": low, "high": high}
            print(json.dumps(row, ensure_ascii=False))
    return 0


if __name__ == "__main__":
    sys.exit(main())
