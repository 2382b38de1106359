"""Labelled sets as pairs with a group each, so that no claim, evidence, passage or article is on both sides.

Why groups: two pairs that share a claim or a passage are not independent; a split that ignores it flatters.
"""

import csv
import json
import random
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

from offline_eval.core.errors import DataError
from offline_eval.core.hashing import digest
from offline_eval.training.constructed_pairs import constructed_pairs

Task = Literal["support", "answerability"]
_SEED = 0


class GroupedPair(NamedTuple):
    """One labelled pair.

    Attributes:
        premise: The evidence; for answerability, the query.
        hypothesis: The claim; for answerability, the passage.
        label: 1 supported (answerable), 0 not.
        group: What must stay on one side of a split and is resampled together.
        kind: How a constructed claim was made; empty for people's labels.
    """

    premise: str
    hypothesis: str
    label: int
    group: str
    kind: str = ""


class PublicSet(NamedTuple):
    """How one published set is read.

    Attributes:
        grouped_by: In words, for tables.
        read: From the folder that holds all sets.
        is_public: Whether that folder is needed; constructed sets come with the program.
    """

    task: Task
    language: str
    grouped_by: str
    read: Callable[[Path], list[GroupedPair]]
    is_public: bool = True


def read_wice(folder: Path) -> list[GroupedPair]:
    """Claims of encyclopedia articles with web evidence; partly supported counts as not supported.

    Nearly every claim stands in three rows with other pieces of its evidence and the same label, so a split by evidence
    alone would show a scorer the claims it is measured on.
    """
    rows = _json_lines(folder / "wice" / "claim_dev.jsonl")
    return joined([("\n".join(row["evidence"]), row["claim"], int(row["label"] == "supported")) for row in rows])


def read_begin(folder: Path) -> list[GroupedPair]:
    """Dialogue replies to a passage; generic replies, which say nothing to attribute, are left out."""
    labels = {"Fully attributable": 1, "Not fully attributable": 0}
    pairs = []
    for path in sorted((folder / "begin").glob("begin_dev_*.tsv")):
        with path.open(encoding="utf-8", newline="") as stream:
            for row in csv.DictReader(stream, delimiter="\t", quoting=csv.QUOTE_NONE):
                label = labels.get((row["begin_label"] or "").strip())
                if label is not None and row["knowledge"] and row["response"]:
                    pairs.append((row["knowledge"], row["response"], label))
    return joined(pairs)


def read_fever_symmetric(folder: Path) -> list[GroupedPair]:
    """Claims each with a supporting and a refuting evidence, so that the claim alone tells nothing.

    Two claims share each evidence with opposite labels; those four rows stay together.
    """
    rows = _json_lines(folder / "feversymmetric" / "fever_symmetric_dev.jsonl")
    return joined([(row["evidence"], row["claim"], int(row["gold_label"] == "SUPPORTS")) for row in rows])


def read_clapnq(folder: Path) -> list[GroupedPair]:
    """Questions with a passage of a fitting article that does, or does not, hold the answer."""
    pairs = []
    for name, label in (("dev_answerable_even.jsonl", 1), ("dev_unanswerable_even.jsonl", 0)):
        for row in _json_lines(folder / "clapnq" / name):
            passage = row["passages"][0]
            pairs.append(GroupedPair(row["input"], passage["text"], label, passage["title"]))
    return pairs


def read_xquad(folder: Path, language: str) -> list[GroupedPair]:
    """Each question with its paragraph and with another paragraph of the same article, drawn at random."""
    draw = random.Random(_SEED)
    pairs = []
    for number, article in enumerate(_json(folder / "xquad" / f"xquad.{language}.json")["data"]):
        texts = [paragraph["context"] for paragraph in article["paragraphs"]]
        for place, paragraph in enumerate(article["paragraphs"]):
            others = [text for other, text in enumerate(texts) if other != place]
            for question in paragraph["qas"]:
                group = f"article {number}"
                pairs.append(GroupedPair(question["question"], texts[place], 1, group))
                pairs.append(GroupedPair(question["question"], draw.choice(others), 0, group))
    return pairs


def read_cmrc(folder: Path) -> list[GroupedPair]:
    """Each question with its paragraph and with the paragraph most like it in words, of the whole set.

    Articles have one paragraph each here, so none can be swapped inside an article. The other paragraph is chosen by
    its likeness to the paragraph, not to the question, which would favour or punish word overlap.
    """
    from offline_eval.text.words import content_words

    paragraphs = [article["paragraphs"][0] for article in _json(folder / "cmrc2018" / "cmrc2018_dev.json")["data"]]
    bags = [frozenset(content_words(paragraph["context"])) for paragraph in paragraphs]
    pairs = []
    for place, paragraph in enumerate(paragraphs):
        likeness = [len(bags[place] & bag) / (1 + len(bag)) if other != place else -1 for other, bag in enumerate(bags)]
        like = paragraphs[max(range(len(likeness)), key=likeness.__getitem__)]["context"]
        for question in paragraph["qas"]:
            pairs.append(GroupedPair(question["question"], paragraph["context"], 1, f"paragraph {place}"))
            pairs.append(GroupedPair(question["question"], like, 0, f"paragraph {place}"))
    return pairs


def read_handbook(language: Literal["zh", "en"]) -> list[GroupedPair]:
    """Claims about the demo handbook, true by construction or with one thing changed."""
    return [
        GroupedPair(pair.premise, pair.claim, pair.label, pair.group, pair.kind) for pair in constructed_pairs(language)
    ]


SETS: dict[str, PublicSet] = {
    "wice": PublicSet("support", "en", "claim and evidence", read_wice),
    "feversymmetric": PublicSet("support", "en", "claim and evidence", read_fever_symmetric),
    "begin": PublicSet("support", "en", "evidence and reply", read_begin),
    "handbook-en": PublicSet("support", "en", "passages", lambda _: read_handbook("en"), is_public=False),
    "handbook-zh": PublicSet("support", "zh", "passages", lambda _: read_handbook("zh"), is_public=False),
    "clapnq": PublicSet("answerability", "en", "article", read_clapnq),
    "xquad-en": PublicSet("answerability", "en", "article", lambda folder: read_xquad(folder, "en")),
    "xquad-zh": PublicSet("answerability", "zh", "article", lambda folder: read_xquad(folder, "zh")),
    "cmrc2018": PublicSet("answerability", "zh", "paragraph", read_cmrc),
}

LICENSES = {
    "wice": "ODC-BY, text CC BY-SA",
    "feversymmetric": "CC BY-SA 3.0",
    "begin": "CC BY 4.0, Topical-Chat part CDLA-Sharing",
    "handbook-en": "Apache-2.0",
    "handbook-zh": "Apache-2.0",
    "clapnq": "Apache-2.0, text CC BY-SA",
    "xquad-en": "CC BY-SA 4.0",
    "xquad-zh": "CC BY-SA 4.0",
    "cmrc2018": "CC BY-SA 4.0",
}


def split_by_group(
    pairs: Sequence[GroupedPair], *, fit_share: float, seed: int = _SEED
) -> tuple[list[GroupedPair], list[GroupedPair]]:
    """Cut pairs into a part to fit on and a part to report on; a group's side depends on its name and the seed alone.

    Args:
        pairs: With their groups.
        fit_share: Expected share of the groups in the fit part, in (0, 1).
        seed: Which cut.

    Returns:
        Fit part and report part, each in the pairs' order.
    """
    fits = {
        group: int(digest("split", [seed, group])[:12], 16) / 16**12 < fit_share for group in {p.group for p in pairs}
    }
    return [pair for pair in pairs if fits[pair.group]], [pair for pair in pairs if not fits[pair.group]]


def joined(pairs: Sequence[tuple[str, str, int]]) -> list[GroupedPair]:
    """Group pairs that share a premise or a hypothesis, directly or over other pairs.

    Args:
        pairs: Premise, hypothesis, label.

    Returns:
        The pairs in order, each with the name of its group.
    """
    parent: dict[tuple[str, str], tuple[str, str]] = {}

    def root(node: tuple[str, str]) -> tuple[str, str]:
        while parent.setdefault(node, node) != node:
            parent[node] = parent[parent[node]]
            node = parent[node]
        return node

    for premise, hypothesis, _ in pairs:
        one, other = sorted((root(("premise", premise)), root(("hypothesis", hypothesis))))
        parent[other] = one
    return [GroupedPair(*pair, digest("group", list(root(("premise", pair[0]))))[:16]) for pair in pairs]


def _json_lines(path: Path) -> Iterator[dict[str, Any]]:
    with _open(path) as stream:
        yield from (json.loads(line) for line in stream if line.strip())


def _json(path: Path) -> dict[str, Any]:
    with _open(path) as stream:
        data: dict[str, Any] = json.load(stream)
    return data


def _open(path: Path) -> Any:
    try:
        return path.open(encoding="utf-8")
    except OSError as error:
        raise DataError(
            f"{path}: cannot be read ({error}); point OFFLINE_EVAL_PUBLIC_DATA at the sets' folder"
        ) from error
