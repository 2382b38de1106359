"""Make label files for `offline-eval benchmark` from published sets with human labels, a seeded part of each.

Run it with OFFLINE_EVAL_PUBLIC_DATA pointing at a folder with pandalm/, llmbar/, evouna/, halluqa/, topical_chat/,
wice/, begin/ and clapnq/. What the default scorers were fitted on (part of wice, begin and clapnq) is left out for
everybody, so that all lines of a table are about the same rows.
"""

import argparse
import json
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from offline_eval.benchmark.labels import LabelRow
from offline_eval.benchmark.sampling import sample
from offline_eval.core.hashing import digest
from offline_eval.core.records import Passage, as_json
from offline_eval.training.default_scorers import FIT_SHARE
from offline_eval.training.public_sets import SETS, split_by_group

_PREFERENCES = {0: "tie", 1: "A", 2: "B"}


def pandalm(folder: Path) -> Iterator[LabelRow]:
    """Pairs of answers with three raters; six answers that are JSON booleans were written as text."""
    for row in _json(folder / "pandalm" / "testset-v1.json"):
        task = "\n".join(part for part in (row["instruction"], row["input"]) if part)
        yield LabelRow(
            id=f"pandalm-{row['idx']}",
            kind="pairwise",
            dimension="preference",
            query=task,
            answer_a=_text(row["response1"]),
            answer_b=_text(row["response2"]),
            labels={f"rater {number}": _PREFERENCES[row[f"annotator{number}"]] for number in (1, 2, 3)},
            language="en",
        )


def llmbar(folder: Path) -> Iterator[LabelRow]:
    """Pairs of which one follows the instruction better."""
    for path in sorted((folder / "llmbar").glob("*.json")):
        for number, row in enumerate(_json(path)):
            yield LabelRow(
                id=f"llmbar-{path.stem}-{number}",
                kind="pairwise",
                dimension="preference",
                query=row["input"],
                answer_a=row["output_1"],
                answer_b=row["output_2"],
                labels={"people": _PREFERENCES[row["label"]]},
                slices={"part": path.stem},
                language="en",
            )


def evouna(folder: Path) -> Iterator[LabelRow]:
    """Short questions with a reference; five systems' answers, each right or wrong."""
    for number, row in enumerate(_json(folder / "evouna" / "NQ.json")):
        for system in ("fid", "gpt35", "chatgpt", "gpt4", "newbing"):
            label = row[f"judge_{system}"]
            if row["improper"] or label is None or not row[f"answer_{system}"]:
                continue
            yield LabelRow(
                id=f"evouna-{number}-{system}",
                kind="binary",
                dimension="correctness",
                query=row["question"],
                reference=row["golden_answer"],
                answer=row[f"answer_{system}"],
                labels={"people": int(label)},
                slices={"system": system},
                language="en",
            )


def halluqa(folder: Path) -> Iterator[LabelRow]:
    """Chinese questions that invite a wrong answer: one right and one wrong answer each, the first right one is the
    reference where there are several."""
    for row in _json(folder / "halluqa" / "halluqa_even.json"):
        right = list(dict.fromkeys(row[f"Best Answer{n}"] for n in range(1, 5) if row.get(f"Best Answer{n}")))
        wrong = [row[f"Wrong_Answer{n}"] for n in range(1, 5) if row.get(f"Wrong_Answer{n}")]
        if len(right) < 2 or not wrong:
            continue
        draw = int(digest("halluqa", row["question_id"])[:8], 16)
        chosen = {1: right[1 + draw % (len(right) - 1)], 0: wrong[draw % len(wrong)]}
        for label, answer in chosen.items():
            yield LabelRow(
                id=f"halluqa-{row['question_id']}-{'right' if label else 'wrong'}",
                kind="binary",
                dimension="correctness",
                query=row["Question"],
                reference=right[0],
                answer=answer,
                labels={"people": label},
                slices={"type": row["Category"]},
                language="zh",
            )


def topical_chat(folder: Path) -> Iterator[LabelRow]:
    """Chat replies; how many of three raters said that the reply uses the fact it was given."""
    for number, row in enumerate(_json(folder / "topical_chat" / "topical_chat.json")):
        yield LabelRow(
            id=f"topical_chat-{number}",
            kind="ordinal",
            dimension="faithfulness",
            query=row["source"].strip().split("\n")[-1].strip(),
            passages=(Passage(id="fact", text=row["context"]),),
            answer=row["system_output"],
            scale=(0.0, 1.0, 2.0, 3.0),
            labels={"raters saying so": float(round(3 * row["scores"]["groundedness"]))},
            slices={"system": row["system_id"]},
            cluster=digest("topical_chat", row["source"])[:16],
            language="en",
        )


def wice(folder: Path) -> Iterator[LabelRow]:
    """Claims with web evidence; partly supported counts as not supported."""
    return _faithfulness("wice", folder, query="")


def begin(folder: Path) -> Iterator[LabelRow]:
    """Replies to a passage; generic replies are left out."""
    return _faithfulness("begin", folder, query="")


def clapnq(folder: Path) -> Iterator[LabelRow]:
    """Questions with a passage that does, or does not, hold the answer."""
    for number, pair in enumerate(_held_out("clapnq", folder)):
        yield LabelRow(
            id=f"clapnq-{number}",
            kind="binary",
            dimension="answerability",
            query=pair.premise,
            passages=(Passage(id="p1", text=pair.hypothesis),),
            labels={"people": pair.label},
            cluster=pair.group,
            language="en",
        )


BUILDERS: dict[str, Callable[[Path], Iterator[LabelRow]]] = {
    "pandalm": pandalm,
    "llmbar": llmbar,
    "evouna": evouna,
    "halluqa": halluqa,
    "topical_chat": topical_chat,
    "wice": wice,
    "begin": begin,
    "clapnq": clapnq,
}


def main() -> int:
    """Write one file a set."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=os.environ.get("OFFLINE_EVAL_PUBLIC_DATA"))
    parser.add_argument("--out", type=Path, default=Path("build/labels"))
    parser.add_argument("--max-rows", type=int, default=300, help="of each set, at most")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("sets", nargs="*", help=f"of {', '.join(BUILDERS)}; all when none is named")
    options = parser.parse_args()
    if options.data is None:
        print("point OFFLINE_EVAL_PUBLIC_DATA (or --data) at the folder with the sets", file=sys.stderr)
        return 2
    unknown = [name for name in options.sets if name not in BUILDERS]
    if unknown:
        print(f"unknown set {', '.join(unknown)}; known: {', '.join(BUILDERS)}", file=sys.stderr)
        return 2
    options.out.mkdir(parents=True, exist_ok=True)
    for name in options.sets or BUILDERS:
        rows = sample(list(BUILDERS[name](Path(options.data))), options.max_rows, seed=options.seed)
        path = options.out / f"{name}.jsonl"
        lines = [json.dumps(as_json(row), ensure_ascii=False) for row in rows]
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        print(f"{path}: {len(rows)} rows", file=sys.stderr)
    return 0


def _faithfulness(name: str, folder: Path, *, query: str) -> Iterator[LabelRow]:
    for number, pair in enumerate(_held_out(name, folder)):
        yield LabelRow(
            id=f"{name}-{number}",
            kind="binary",
            dimension="faithfulness",
            query=query,
            passages=(Passage(id="p1", text=pair.premise),),
            answer=pair.hypothesis,
            labels={"people": pair.label},
            cluster=pair.group,
            language="en",
        )


def _held_out(name: str, folder: Path) -> list[Any]:
    """The pairs that no default scorer was fitted on."""
    _, report = split_by_group(SETS[name].read(folder), fit_share=FIT_SHARE)
    return report


def _text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _json(path: Path) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))
    return rows


if __name__ == "__main__":
    sys.exit(main())
