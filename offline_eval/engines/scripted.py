"""A judge, a cross-encoder and an embedder that follow a script: for tests of what is around a model, and dry runs."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from itertools import chain, zip_longest
from typing import Any

from offline_eval.core.evidence import Guarantee
from offline_eval.core.hashing import digest
from offline_eval.core.protocols import EngineInfo, Failure, GenerateRequest, Generation, LabelChoice
from offline_eval.text.claims import split_claims
from offline_eval.text.language import detect_language
from offline_eval.text.words import content_words, words

_BLOCK = re.compile(r"^=== ([0-9a-f]{12}) .+? ===\n(.*?)\n=== \1 .+? ===$", re.DOTALL | re.MULTILINE)
_NUMBER = re.compile(r"^\[\d+\] ", re.MULTILINE)
_ASKED_ABOUT = 6  # words; as many make more than half of a question's
_ENDS = (".", "!", "?", ";", "。", "！", "？", "；")

Script = Callable[[GenerateRequest], Generation | Failure]


class ScriptedEngine:
    """Answers every request by calling a function; an exception becomes that item's failure.

    Args:
        script: Request to answer; by default a label drawn from the request's hash and a fixed reason, or, where a test
            set is written, a question and answers made of the passages' own words.
        guarantee: What the engine claims about its output.
    """

    def __init__(
        self, script: Script | None = None, *, model: str = "scripted", guarantee: Guarantee = Guarantee.GRAMMAR
    ) -> None:
        self._script = script or by_hash
        self.requests_seen = 0
        self.info = EngineInfo(
            engine="scripted",
            model=model,
            family="scripted",
            weights_hash=digest("scripted", model),
            tokenizer_hash="none",
            template_hash="none",
            dtype="none",
            device="none",
            context_length=1 << 20,
            guarantee=guarantee,
            grammar_backend="none",
        )

    def generate(self, requests: Sequence[GenerateRequest]) -> list[Generation | Failure]:
        """Answer every request, in order."""
        self.requests_seen += len(requests)
        return [self._one(request) for request in requests]

    def close(self) -> None:
        """Nothing to give back."""

    def _one(self, request: GenerateRequest) -> Generation | Failure:
        try:
            return self._script(request)
        except Exception as error:  # noqa: BLE001 - the engine's edge: a script's trouble is that item's
            return Failure(reason="engine_error", detail=f"{type(error).__name__}: {error}")


def by_hash(request: GenerateRequest) -> Generation:
    """A label that depends on nothing but the request, and an object of fixed text, or of the material's words."""
    if isinstance(request.constraint, LabelChoice):
        labels = request.constraint.labels
        number = int(digest("script", request.model_dump(mode="json"))[:8], 16)
        return pick(request, labels[number % len(labels)])
    fields = request.constraint.fields
    values = dict.fromkeys(fields, "scripted")
    if "question" in fields:
        values |= _question(request, fields)
    elif "reference" in fields:
        values |= _answers(request, fields)
    text = json.dumps(values, ensure_ascii=False, separators=(",", ":"))
    return Generation(text=text[1:], prompt_tokens=0, output_tokens=1)


def _question(request: GenerateRequest, fields: Mapping[str, int]) -> dict[str, str]:
    """A question that another request does not get, about words of the passages; about one where none is to answer."""
    material = " ".join(_passages(request))
    is_chinese = detect_language(material) == "zh"
    seed = digest("question", request.model_dump(mode="json"))
    least = 1 if is_chinese else 3  # letters
    named = [word for word in set(content_words(material)) if word.isalpha() and len(word) >= least]
    named.sort(key=lambda word: digest("word", [seed, word]))
    named = named[: 1 if "missing" in fields else _ASKED_ABOUT] or ["scripted"]
    number = int(seed[:8], 16) % 1_000_000
    given = f"规则{number}成立" if is_chinese else f"rule {number} holds"
    asked = _asked(given, named, chinese=is_chinese)
    while len(asked) > fields["question"] and len(named) > 1:
        asked = _asked(given, named := named[:-1], chinese=is_chinese)
    return {"question": asked} | {name: given for name in ("premise", "condition") if name in fields}


def _asked(given: str, named: Sequence[str], *, chinese: bool) -> str:
    if chinese:
        return f"如果{given}，{'、'.join(named)}怎样安排？"
    together = " and ".join(filter(None, (", ".join(named[:-1]), named[-1])))
    return f"If {given}, what changes for {together}?"


def _answers(request: GenerateRequest, fields: Mapping[str, int]) -> dict[str, str]:
    """A reference and key points copied from the passages, in turns."""
    stated = [[claim.text.rpartition("# ")[2] for claim in split_claims(passage)] for passage in _passages(request)]
    turns = [text for text in chain.from_iterable(zip_longest(*stated, fillvalue="")) if text]
    turns.sort(key=lambda text: not text.endswith(_ENDS))  # headings last, for want of statements
    points = [name for name in fields if name != "reference"]
    texts = [*turns[: len(points)], *[""] * (len(points) - len(turns))]
    found = {name: _fitted(text, fields[name]) for name, text in zip(points, texts, strict=True)}
    return found | {"reference": _fitted(" ".join(turns[:1]), fields["reference"])}


def _passages(request: GenerateRequest) -> list[str]:
    """The passages that a request shows last; none where it shows none."""
    block = _BLOCK.search(request.messages[-1].content)
    return [] if block is None else [text.strip() for text in _NUMBER.split(block[2]) if text.strip()]


def _fitted(text: str, limit: int) -> str:
    """The text, or as many of its words as there is room for, ended like a sentence."""
    if len(text) <= limit:
        return text
    if detect_language(text) == "zh":
        return text[: limit - 1] + "。"
    return (text[:limit].rpartition(" ")[0] or text[: limit - 1]) + "."


def pick(request: GenerateRequest, label: str, *, probability: float = 0.9) -> Generation:
    """A generation that chose `label` with the given probability and shares the rest out evenly."""
    import math

    if not isinstance(request.constraint, LabelChoice):
        raise ValueError("only a label request can be answered with a label")
    others = len(request.constraint.labels) - 1
    share = (1 - probability) / others
    logprobs = {name: math.log(probability if name == label else share) for name in request.constraint.labels}
    return Generation(text=label, label_logprobs=logprobs, prompt_tokens=0, output_tokens=1)


PairScript = Callable[[str, str], "dict[str, float] | float | Failure"]


class ScriptedScorer:
    """A cross-encoder that follows a script.

    Args:
        script: Premise and hypothesis to probabilities, or to the one of entailment; by default the share of the
            hypothesis' words that the premise has.
        languages: What it claims to have been made for.
        context_length: What it claims to read, in tokens; a longer pair (by words) fails as `pair_too_long`.
    """

    def __init__(
        self, script: PairScript | None = None, *, languages: Sequence[str] = ("*",), context_length: int = 1 << 20
    ) -> None:
        self._script = script or word_share
        self.languages = tuple(languages)
        self.pairs_seen: list[tuple[str, str]] = []
        self.info = ScriptedEngine(model="scripted-scorer").info.model_copy(
            update={"context_length": context_length, "guarantee": Guarantee.NONE}
        )

    def score(self, pairs: Sequence[tuple[str, str]]) -> list[dict[str, float] | Failure]:
        """Score every pair, in order."""
        self.pairs_seen += pairs
        return [self._one(first, second) for first, second in pairs]

    def close(self) -> None:
        """Nothing to give back."""

    def _one(self, first: str, second: str) -> dict[str, float] | Failure:
        n = len(words(first)) + len(words(second))
        if n > self.info.context_length:
            detail = f"{n} tokens, the model takes {self.info.context_length}"
            return Failure(reason="pair_too_long", detail=detail)
        try:
            answer = self._script(first, second)
        except Exception as error:  # noqa: BLE001 - the engine's edge: a script's trouble is that item's
            return Failure(reason="engine_error", detail=f"{type(error).__name__}: {error}")
        return {"score": float(answer)} if isinstance(answer, int | float) else answer


def word_share(premise: str, hypothesis: str) -> float:
    """Share of the hypothesis' words that stand in the premise, in [0, 1]."""
    wanted = set(words(hypothesis))
    return len(wanted & set(words(premise))) / len(wanted) if wanted else 0.0


def query_share(query: str, passage: str) -> float:
    """Share of the query's content words that stand in the passage, in [0, 1]: how far it could answer."""
    wanted = set(content_words(query))
    return len(wanted & set(words(passage))) / len(wanted) if wanted else 0.0


class ScriptedEmbedder:
    """An embedder whose vectors count words: the same words give the same vector, no common word a cosine near 0.

    Args:
        languages: What it claims to have been made for.
    """

    dimension = 4096

    def __init__(self, *, languages: Sequence[str] = ("*",)) -> None:
        self.languages = tuple(languages)
        self.texts_seen: list[str] = []
        self.info = ScriptedEngine(model="scripted-embedder").info.model_copy(update={"guarantee": Guarantee.NONE})

    def embed(self, texts: Sequence[str]) -> Any:
        """Embed texts.

        Returns:
            Shape (n_texts, 4096), float32, rows of length 1; a text without words points along the first axis.
        """
        import numpy as np

        self.texts_seen += texts
        vectors = np.zeros((len(texts), self.dimension), dtype=np.float32)
        for row, text in enumerate(texts):
            for word in words(text):
                vectors[row, int(digest("word", word)[:8], 16) % self.dimension] += 1.0
            if not vectors[row].any():
                vectors[row, 0] = 1.0
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)

    def close(self) -> None:
        """Nothing to give back."""
