"""What a test set shares with the corpus it is asked over, with examples, and with training data.

Why: a question that stands in the index, best with its answer beside it, tests copying; one that stands in a prompt or
in the training data tests memory.
"""

from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple

from pydantic import Field

from offline_eval.core.protocols import ProgressCallback
from offline_eval.core.records import Case, Passage, Record
from offline_eval.testset.expected import document_of, is_own_source
from offline_eval.testset.questions import LEAST_LIKENESS, Questions, is_question, is_whole_question, questions_in
from offline_eval.testset.shared_runs import RUN, Shared, SharedRuns, spoken_length, units
from offline_eval.text.normalize import normalize_for_quote

LEAST_SHARE = 0.8
_TOLD_EVERY = 1000
_EXCERPT = 300  # characters of a text in the report
_ANSWER = "answer "  # before the key of an answer, in the search that looks for questions and answers at once
_SHORTEST_ANSWER = 2  # letters or digits of an answer that is looked for beside its question

Kind = Literal["question", "pair", "answer", "example", "training"]


class Leak(Record):
    """One thing that stands where it should not.

    Attributes:
        kind: `question`, `pair` (question and answer together) or `answer` in the corpus; `example`; `training`.
        method: `run` of the same words, `words` in another order, `letters` where words are misspelt, or `embedding`.
        field: Of the case.
        where: The passage's id, or file and line.
        likeness: By the method: share of the text, overlap of words, of runs of letters, or cosine.
        text: The case's, cut for the report.
        found: What it is like, cut for the report.
    """

    kind: Kind
    method: Literal["run", "words", "letters", "embedding"]
    case: str
    field: Literal["query", "reference", "variants"]
    where: str
    likeness: float = Field(ge=-1, le=1)
    text: str
    found: str


class Limits(Record):
    """From where something counts.

    Attributes:
        run: Words, in Chinese characters, of a run.
        share: Of a text that stands in shared runs.
        words: Overlap of two questions' words.
        letters: Likeness of two questions' runs of letters, where their words differ by slips of spelling alone.
        embedding: Cosine of two questions.
        answer_embedding: Cosine of two answers.
    """

    run: int = Field(default=RUN, ge=8)
    share: float = Field(default=LEAST_SHARE, gt=0, le=1)
    words: float = Field(default=LEAST_LIKENESS, gt=0, le=1)
    letters: float = Field(default=0.4, gt=0, le=1)
    embedding: float = Field(default=0.9, gt=0, le=1)
    answer_embedding: float = Field(default=0.95, gt=0, le=1)


DEFAULT_LIMITS = Limits()


class Asked(NamedTuple):
    """One wording of a case's question, with its key in the searches."""

    case: Case
    field: Literal["query", "variants"]
    text: str


class CorpusLeaks(NamedTuple):
    """What a corpus gave.

    Attributes:
        leaks: In the order of passages, then cases.
        n_passages: How many were read.
        answers_unchecked: Cases whose long answer names no source, so that finding it says nothing.
        answers_short: Cases whose answer is too short to be looked for by itself.
        questions_short: Wordings too short for runs of words, which are compared as whole questions alone.
    """

    leaks: list[Leak]
    n_passages: int
    answers_unchecked: int
    answers_short: int = 0
    questions_short: int = 0


def corpus_leaks(
    cases: Sequence[Case],
    passages: Iterable[Passage],
    *,
    limits: Limits = DEFAULT_LIMITS,
    progress: ProgressCallback | None = None,
) -> CorpusLeaks:
    """Look for a test set's questions and answers in a corpus; passages are read once and not kept.

    A question is found where most of it stands in runs of the same words, or where a passage asks the same in another
    order. An answer alone is a leak only outside the case's expected passages and their documents: there it is what
    the corpus is for.

    Args:
        passages: Of the corpus, in any number.
        progress: Told (done, 0) now and then.
    """
    search = _CorpusSearch(cases, limits)
    number = 0
    for number, passage in enumerate(passages, start=1):
        search.look(passage)
        if progress is not None and number % _TOLD_EVERY == 0:
            progress(number, 0)
    short = sum(_has_short_answer(case, limits.run) for case in cases)
    return CorpusLeaks(search.leaks(), number, search.answers_unchecked, short, search.questions_short)


def wordings(cases: Sequence[Case]) -> dict[str, Asked]:
    """Every wording of every question under a key of its own."""
    found: dict[str, Asked] = {}
    for place, case in enumerate(cases):
        found[f"{place}"] = Asked(case, "query", case.query)
        found |= {f"{place}~{n}": Asked(case, "variants", text) for n, text in enumerate(case.variants)}
    return found


def cut(text: str) -> str:
    """A text as a report shows it: one line, and said when it goes on."""
    line = " ".join(text.split())
    return line if len(line) <= _EXCERPT else f"{line[:_EXCERPT]}… ({len(line):,} characters)"


class _CorpusSearch:
    """The state of one pass over a corpus."""

    def __init__(self, cases: Sequence[Case], limits: Limits) -> None:
        self._limits = limits
        self._asked = wordings(cases)
        texts = {key: asked.text for key, asked in self._asked.items()}
        long = {key: text for key, text in texts.items() if len(units(text)) >= limits.run or is_question(text)}
        self._questions = Questions(texts, least=limits.words)
        with_sources = {str(n): case for n, case in enumerate(cases) if has_long_answer(case, limits.run)}
        self._answered = {
            key: case for key, case in with_sources.items() if case.relevant_passages or case.relevant_documents
        }
        self.answers_unchecked = len(with_sources) - len(self._answered)
        answers = {f"{_ANSWER}{key}": case.reference or "" for key, case in self._answered.items()}
        self._runs = SharedRuns({**long, **answers}, run=limits.run)
        self.questions_short = len(texts) + len(answers) - len(self._runs)
        self._expected = {id for case in cases for id in case.relevant_passages}
        self._document_of: dict[str, str] = {}
        self._leaks: list[Leak] = []
        self._answers: list[tuple[Case, Passage, Leak]] = []

    def look(self, passage: Passage) -> None:
        """Take one passage in."""
        if passage.id in self._expected:
            self._document_of[passage.id] = document_of(passage)
        text = f"{passage.title}\n{passage.text}" if passage.title else passage.text
        shared = self._runs.search(text)
        asked = self._asked_in(passage, text, [item for item in shared if not item.key.startswith(_ANSWER)])
        self._leaks += asked.values()
        for item in shared:
            case = self._answered.get(item.key.removeprefix(_ANSWER)) if item.key.startswith(_ANSWER) else None
            if case is None or case.id in asked or passage.id in case.relevant_passages:
                continue
            if item.share >= self._limits.share:
                place = passage.model_copy(update={"text": ""})  # texts are not kept
                self._answers.append((case, place, _answer_leak(case, passage, item.share)))

    def _asked_in(self, passage: Passage, text: str, shared: Sequence[Shared]) -> dict[str, Leak]:
        """Case id to its question's leak in a passage: the likest, by runs or by words."""
        found: dict[str, Leak] = {}
        for item in shared:
            if is_whole_question(item, least=self._limits.share):
                self._keep(found, self._leak(item.key, "run", passage, item.share, text, found=passage.text))
        for sentence in questions_in(text):
            for alike in self._questions.alike(sentence):
                self._keep(found, self._leak(alike.key, "words", passage, alike.likeness, text, found=sentence))
        return found

    def leaks(self) -> list[Leak]:
        """Everything found; answers in a document that holds an expected passage are left out as its own."""
        return self._leaks + [
            leak for case, passage, leak in self._answers if not is_own_source(passage, case, self._document_of)
        ]

    def _leak(
        self, key: str, method: Literal["run", "words"], passage: Passage, likeness: float, text: str, *, found: str
    ) -> Leak:
        asked = self._asked[key]
        kind: Kind = "pair" if has_answer(text, asked.case) else "question"
        return Leak(
            kind=kind, method=method, case=asked.case.id, field=asked.field, where=passage.id,
            likeness=min(1.0, likeness), text=cut(asked.text), found=cut(found),
        )  # fmt: skip

    @staticmethod
    def _keep(asked: dict[str, Leak], leak: Leak) -> None:
        """One leak a case and passage: the likest."""
        if leak.case not in asked or leak.likeness > asked[leak.case].likeness:
            asked[leak.case] = leak


def _answer_leak(case: Case, passage: Passage, share: float) -> Leak:
    return Leak(
        kind="answer", method="run", case=case.id, field="reference", where=passage.id,
        likeness=share, text=cut(case.reference or ""), found=cut(passage.text),
    )  # fmt: skip


def has_answer(text: str, case: Case) -> bool:
    """Whether a text holds a case's reference answer, marks and width aside."""
    answer = _bare(case.reference or "")
    return len(answer) >= _SHORTEST_ANSWER and answer in _bare(text)


def _bare(text: str) -> str:
    return "".join(filter(str.isalnum, normalize_for_quote(text)))


def has_long_answer(case: Case, run: int) -> bool:
    """Whether finding an answer by itself would say something; a name or a number stands in many places."""
    return case.answerable is not False and case.reference is not None and spoken_length(case.reference) >= run


def _has_short_answer(case: Case, run: int) -> bool:
    return case.answerable is not False and bool(case.reference) and not has_long_answer(case, run)
