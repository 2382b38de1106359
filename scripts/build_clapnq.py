"""Build cases and two recorded systems from ClapNQ's published files, to run the main job on public data.

The files stay where they are; what is written here is for measuring and is not part of the project.
"""

import argparse
import json
from pathlib import Path
from typing import Any

REFUSAL = "The passages do not answer this question."


def main() -> None:
    """Write cases.jsonl, answers-gold.jsonl and answers-first-sentence.jsonl."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "source", type=Path, help="folder with dev_answerable_even.jsonl and dev_unanswerable_even.jsonl"
    )
    parser.add_argument("target", type=Path)
    parser.add_argument("--limit", type=int, default=150, help="cases of each kind")
    arguments = parser.parse_args()
    rows = [
        (row, answerable)
        for name, answerable in (("answerable", True), ("unanswerable", False))
        for row in _read(arguments.source / f"dev_{name}_even.jsonl")[: arguments.limit]
    ]
    arguments.target.mkdir(parents=True, exist_ok=True)
    _write(arguments.target / "cases.jsonl", [_case(row, answerable) for row, answerable in rows])
    _write(arguments.target / "answers-gold.jsonl", [_gold(row, answerable) for row, answerable in rows])
    _write(arguments.target / "answers-first-sentence.jsonl", [_first_sentence(row) for row, _ in rows])
    print(f"{len(rows)} cases and 2 systems in {arguments.target}")


def _read(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]


def _write(path: Path, rows: list[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), "utf-8")


def _case(row: dict[str, Any], answerable: bool) -> dict[str, Any]:
    reference = row["output"][0]["answer"] or None
    return {"id": row["id"], "query": row["input"], "language": "en", "reference": reference, "answerable": answerable}


def _response(row: dict[str, Any], system: str, answer: str) -> dict[str, Any]:
    passages = [
        {"id": f"{row['id']}-{number}", "title": passage["title"], "text": passage["text"]}
        for number, passage in enumerate(row["passages"], 1)
    ]
    return {"case_id": row["id"], "system": system, "answer": answer, "passages": passages}


def _gold(row: dict[str, Any], answerable: bool) -> dict[str, Any]:
    """The published answer, and a refusal where there is none."""
    return _response(row, "gold", row["output"][0]["answer"] if answerable else REFUSAL)


def _first_sentence(row: dict[str, Any]) -> dict[str, Any]:
    """A system that copies the passage's first sentence: always faithful, rarely an answer, never a refusal."""
    return _response(row, "first-sentence", row["passages"][0]["sentences"][0])


if __name__ == "__main__":
    main()
