"""Asks a cross-encoder how premises bear on hypotheses: rules first, then chunks in one go, the best of them kept.

Entailment, citations and answerability share it, so that a pair is read the same way wherever it comes from.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Literal

from offline_eval.checks._chunks import Span, chunk_spans, estimated_tokens
from offline_eval.checks._statements import denied_at
from offline_eval.core.evidence import Support
from offline_eval.core.protocols import Failure, PairScorer
from offline_eval.text.language import detect_language
from offline_eval.text.normalize import normalize
from offline_eval.text.sentences import split_sentences

Pair = tuple[str, str]
"""Premise and hypothesis."""

Relation = Literal["entails", "answers"]
"""Does a premise entail a hypothesis, or does a passage answer a query? Encoders read the latter query first."""

LARGEST_CHUNK = 384  # tokens; encoders are trained on short premises, and a long chunk drowns the sentence that counts
SMALLEST_CHUNK = 16  # tokens; below this a sentence is no longer one
_MARGIN = 8  # tokens a chunk stays below what the model takes: separators and a miscount
_DIGITS = 6  # of stored probabilities: float32 arithmetic moves the seventh between batches
_MARKS = " \t\n.,;:!?。，；：！？、\"'"


def support_of(
    pairs: Iterable[Pair], engine: PairScorer | None, *, relation: Relation = "entails"
) -> dict[Pair, Support]:
    """How each premise supports each hypothesis, or how far each passage answers each query.

    Every pair is asked about once, however often it occurs. A premise longer than the model takes is read in chunks and
    the best one counts; when the model says that a chunk was too long after all, it is asked again in chunks half as
    long. Nothing is cut off.

    Args:
        pairs: Premise and hypothesis, or passage and query.
        engine: None to apply the rules alone; what they leave open then fails.

    Returns:
        One `Support` a distinct pair.
    """
    found: dict[Pair, Support] = {}
    pending: list[Pair] = []
    for pair in dict.fromkeys(pairs):
        decided = by_rule(*pair, relation=relation)
        if decided is None:
            pending.append(pair)
        else:
            found[pair] = decided
    if engine is None:
        return found | {pair: _failed("no_engine: no model was loaded") for pair in pending}
    limit = min(LARGEST_CHUNK, engine.info.context_length)
    while pending:
        results = _ask(pending, engine, limit, relation=relation)
        too_long = [pair for pair in pending if limit > SMALLEST_CHUNK and _is_too_long(results[pair])]
        found |= {pair: _best(results[pair]) for pair in pending if pair not in too_long}
        pending, limit = too_long, max(SMALLEST_CHUNK, limit // 2)
    return found


def by_rule(premise: str, hypothesis: str, *, relation: Relation = "entails") -> Support | None:
    """What needs no model: silence, the same words, the same statement with another number.

    Words do not answer a query by repeating it, so only the first holds beside entailment.

    Returns:
        No support from a premise without a letter or digit; full support when the hypothesis is the premise or one of
        its sentences (case, width and marks aside); a contradiction when the premise has the same statement with
        another number or date; else None.
    """
    if not any(map(str.isalnum, premise)):
        return Support(entailment=0.0, decided_by="rule")
    if relation == "answers":
        return None
    wanted = _bare(hypothesis)
    if _bare(premise) == wanted:
        return Support(entailment=1.0, contradiction=0.0, chunk=(0, len(premise)), decided_by="rule")
    if wanted and wanted in _normal(premise):
        for sentence in split_sentences(premise):
            if _bare(sentence.text) == wanted:
                return Support(
                    entailment=1.0, contradiction=0.0, chunk=(sentence.start, sentence.end), decided_by="rule"
                )
    denied = denied_at(premise, hypothesis)
    return None if denied is None else Support(entailment=0.0, contradiction=1.0, chunk=denied, decided_by="rule")


def unspoken_language(
    pairs: Iterable[Pair], engine: PairScorer | None, *, relation: Relation = "entails"
) -> str | None:
    """The first language of what a model would be asked about that it was not made for; None when there is none.

    Texts without letters have no language, and pairs that rules decide are never shown to the model.
    """
    return unspoken((text for pair in pairs if by_rule(*pair, relation=relation) is None for text in pair), engine)


def unspoken(texts: Iterable[str], engine: object) -> str | None:
    """The first language of some texts that a model was not made for; None when there is none."""
    languages = languages_of(engine)
    if "*" in languages:
        return None
    found = {detect_language(text) for text in set(texts) if any(map(str.isalpha, text))}
    return next((language for language in sorted(found) if language not in languages), None)


def languages_of(engine: object) -> tuple[str, ...]:
    """Language codes a model was made for; `*` for any, also when it does not say."""
    named: Sequence[str] = getattr(engine, "languages", None) or ("*",)
    return tuple(language.split("-")[0].lower() for language in named)


Chunked = list[tuple[Span, Mapping[str, float] | Failure]]


def _ask(pairs: Sequence[Pair], engine: PairScorer, limit: int, *, relation: Relation) -> dict[Pair, Chunked]:
    spans = {pair: _spans(pair, limit) for pair in pairs}
    requests = [
        (premise[start:end], hypothesis) if relation == "entails" else (hypothesis, premise[start:end])
        for premise, hypothesis in pairs
        for start, end in spans[premise, hypothesis]
    ]
    answers = iter(engine.score(requests))
    return {pair: [(span, next(answers)) for span in spans[pair]] for pair in pairs}


def _spans(pair: Pair, limit: int) -> list[Span]:
    premise, hypothesis = pair
    room = limit - estimated_tokens(hypothesis) - _MARGIN
    return chunk_spans(premise, max(SMALLEST_CHUNK, room))


def _best(answers: Chunked) -> Support:
    scored: list[tuple[float, float | None, Span]] = []
    for span, answer in answers:
        if isinstance(answer, Failure):
            return _failed(f"{answer.reason}: {answer.detail}")
        entailment = answer["entailment"] if "entailment" in answer else answer.get("score")
        if entailment is None or not 0.0 <= round(entailment, _DIGITS) <= 1.0:
            return _failed(f"off_menu: neither an entailment nor a score in [0, 1] among {dict(answer)}")
        scored.append((entailment, answer.get("contradiction"), span))
    best = max(scored, key=lambda entry: (entry[0], -entry[2][0]))
    contradictions = [entry[1] for entry in scored if entry[1] is not None]
    return Support(
        entailment=round(best[0], _DIGITS),
        contradiction=round(max(contradictions), _DIGITS) if contradictions else None,
        chunk=best[2],
        chunks=len(scored),
    )


def _is_too_long(answers: Chunked) -> bool:
    return any(isinstance(answer, Failure) and answer.reason.endswith("too_long") for _, answer in answers)


def _failed(reason: str) -> Support:
    return Support(failure=reason)


def _bare(text: str) -> str:
    return _normal(text).strip(_MARKS)


@lru_cache(maxsize=4096)
def _normal(text: str) -> str:
    return normalize(text)  # a premise meets many hypotheses
