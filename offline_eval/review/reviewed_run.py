"""A finished run as something to review: which responses need a person, and what the screen of each one shows."""

from collections.abc import Sequence
from typing import Literal

from pydantic import JsonValue

from offline_eval.core.evidence import CitationsEvidence, ClaimsEvidence, ReasonEvidence, Verdict, VerdictEvidence
from offline_eval.core.protocols import Item
from offline_eval.core.records import Passage, Record, as_json, query_of
from offline_eval.judge.routing import verdicts_of
from offline_eval.judge.rubric import Rubric, load_rubric
from offline_eval.pipeline.aggregate import Results
from offline_eval.pipeline.slices import language_of, query_type_of
from offline_eval.review.queue import Candidate

PANEL = "panel"
"""The name under which the panel's grade of a dimension is compared, whoever its judges are."""


class JudgeLine(Record):
    """What one judge, or a rule, said about one dimension, with its reason where it gave one."""

    judge: str
    verdict: Verdict
    reason: str | None = None
    quote: str | None = None
    quote_verbatim: bool | None = None


class CitedText(Record):
    """A statement of the answer with the passages it cites."""

    text: str
    cited: tuple[str, ...]
    unknown: tuple[str, ...]


class Screen(Record):
    """One response as its labeller sees it.

    Attributes:
        rubrics: The panel's dimensions, in the language the judge was asked in.
        judged: Dimension to what was said about it; shown only when the labeller has answered.
    """

    key: str
    case_id: str
    system: str
    query: str
    answer: str
    passages: tuple[Passage, ...]
    citations: tuple[str, ...]
    reference: str | None
    key_points: tuple[str, ...]
    answerable: bool | None
    claims: tuple[str, ...]
    statements: tuple[CitedText, ...]
    rubrics: tuple[Rubric, ...]
    judged: dict[str, tuple[JudgeLine, ...]]

    def rubric(self, dimension: str) -> Rubric | None:
        """The rubric of a dimension; None when the panel has none."""
        return next((rubric for rubric in self.rubrics if rubric.dimension == dimension), None)


class ReviewedRun:
    """A run's responses, those without an answer because the system failed left out.

    Args:
        results: Everything the run file says.
    """

    def __init__(self, results: Results) -> None:
        self._results = results
        self._items = {item.response.key: item for item in results.items if item.response.error is None}
        self.left_out = len(results.items) - len(self._items)
        self.run_id = results.run_id
        self.dimensions = results.panel.examiners
        self.seed = results.config.seed

    @property
    def keys(self) -> list[str]:
        """Of all responses that can be reviewed."""
        return list(self._items)

    @property
    def main_language(self) -> Literal["en", "zh"]:
        """`zh` when most queries are Chinese, else `en`."""
        chinese = sum(language_of(item) == "zh" for item in self._items.values())
        return "zh" if 2 * chinese > len(self._items) else "en"

    def subject(self) -> dict[str, JsonValue]:
        """What labels of this run are about: labels of other cases or responses must not be mixed in."""
        return {
            "cases_hash": self._results.cases_hash,
            "responses_hash": self._results.responses_hash,
            "dimensions": list(self.dimensions),
        }

    def candidates(self) -> list[Candidate]:
        """Every response with its need: how many routing rules apply, then how close its closest verdict was."""
        found = []
        for key, item in self._items.items():
            reasons = self._results.verdicts[key].review_reasons
            margins = [v.verdict.margin for v in self._verdicts(key) if v.verdict.margin is not None]
            need = len(reasons) + 1.0 - min(margins, default=1.0)
            found.append(Candidate(key=key, stratum=_stratum(item), reasons=reasons, need=need))
        return found

    def grades(self, dimension: str) -> dict[str, dict[str, float]]:
        """What the judge said on one dimension: judge to response to grade; failed and not applicable left out.

        The panel's own grade comes first; each judge follows when the dimension has several.
        """
        panel = {key: grades[dimension] for key in self._items if dimension in (grades := self._panel_grades(key))}
        found = {PANEL: panel}
        judges = self._results.config.judges.get(dimension, ())
        for judge in judges if len(judges) > 1 else ():
            found[judge] = {
                key: piece.verdict.grade
                for key in self._items
                for piece in self._verdicts(key)
                if piece.dimension == dimension and piece.judge == judge and piece.verdict.grade is not None
            }
        return found

    def clusters(self) -> dict[str, str]:
        """Response key to its case."""
        return {key: item.case.id for key, item in self._items.items()}

    def grade_of(self, dimension: str) -> dict[str, float | None]:
        """Label to grade."""
        return {level.label: level.grade for level in load_rubric(dimension, "en").levels}

    def screen(self, key: str) -> Screen:
        """Everything about one response.

        Raises:
            KeyError: No such response.
        """
        item = self._items[key]
        evidence = self._results.evidence[key]
        claims = next((p for p in evidence if isinstance(p, ClaimsEvidence) and p.source == "answer"), None)
        cited = next((p for p in evidence if isinstance(p, CitationsEvidence)), None)
        statements = [s for s in (cited.statements if cited else ()) if s.cited or s.unknown]
        return Screen(
            key=key,
            case_id=item.case.id,
            system=item.response.system,
            query=query_of(item.case, item.response),
            answer=item.response.answer,
            passages=item.response.passages,
            citations=item.response.citations,
            reference=item.case.reference,
            key_points=item.case.key_points,
            answerable=item.case.answerable,
            claims=tuple(claim.text for claim in (claims.claims if claims else ())),
            statements=tuple(CitedText(text=s.text, cited=s.cited, unknown=s.unknown) for s in statements),
            rubrics=tuple(self._rubric(item, dimension) for dimension in self.dimensions),
            judged={dimension: tuple(self._lines(key, dimension)) for dimension in self.dimensions},
        )

    def shown(self, key: str) -> dict[str, JsonValue]:
        """What a labeller was shown, to be kept beside the labels, so that a labels file is complete in itself."""
        item, screen = self._items[key], self.screen(key)
        return {
            "run_id": self.run_id,
            "cluster": screen.case_id,
            "language": language_of(item),
            "query": screen.query,
            "answer": screen.answer,
            "passages": [as_json(passage) for passage in screen.passages],
            "reference": screen.reference,
            "key_points": list(screen.key_points),
            "slices": {"system": screen.system, "query_type": query_type_of(item)},
            "scales": {
                rubric.dimension: {level.label: level.grade for level in rubric.levels} for rubric in screen.rubrics
            },
        }

    def _verdicts(self, key: str) -> list[VerdictEvidence]:
        return verdicts_of(self._results.evidence[key])

    def _panel_grades(self, key: str) -> dict[str, float]:
        return self._results.verdicts[key].grades

    def _rubric(self, item: Item, dimension: str) -> Rubric:
        """In the language of the run's own question, so that people and judge are told the same."""
        asked = next((v.rubric for v in self._verdicts(item.response.key) if v.dimension == dimension), None)
        language = asked.split("@")[0].rsplit(".", 1)[1] if asked else language_of(item)
        return load_rubric(dimension, language)

    def _lines(self, key: str, dimension: str) -> Sequence[JudgeLine]:
        reasons: dict[tuple[str, str], ReasonEvidence] = {
            (piece.judge, piece.role): piece
            for piece in self._results.evidence[key]
            if isinstance(piece, ReasonEvidence) and piece.dimension == dimension
        }
        return [
            JudgeLine(
                judge=piece.judge,
                verdict=piece.verdict,
                reason=said.reason if said else None,
                quote=said.quote if said else None,
                quote_verbatim=said.quote_verbatim if said else None,
            )
            for piece in self._verdicts(key)
            if piece.dimension == dimension
            for said in (reasons.get((piece.judge, piece.role)),)
        ]


def _stratum(item: Item) -> str:
    return f"{item.response.system} / {query_type_of(item)}"
