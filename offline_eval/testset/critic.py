"""A judge that grades questions for clarity and independence, after it was held against questions with known grades.

Why: a small judge may give every question the same mark. Then its marks are kept, and nothing is thrown out by them.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

from offline_eval.core.protocols import Failure, Generation, TextEngine
from offline_eval.testset.draft import CheckResult, Draft
from offline_eval.testset.prompts import GRADES, PromptLanguage, critic_request, load_prompts
from offline_eval.testset.surface_checks import passed, refused, unknown

CANNOT_TELL = "critic_cannot_tell"
_ORDERED_FROM = 0.9
_REASONS = {"clarity": "unclear", "independence": "not_independent"}


class Ability(NamedTuple):
    """What a critic can tell about one dimension.

    Attributes:
        ordered: Share of pairs of a good and a bad question that it puts in the right order, in [0, 1]; ties half.
        threshold: Halfway between the mean grades of the good and of the bad ones.
        failure: Why nothing is known.
    """

    ordered: float
    threshold: float
    failure: str | None = None

    @property
    def can_tell(self) -> bool:
        """Whether its grades may throw a question out."""
        return self.failure is None and self.ordered >= _ORDERED_FROM


class Critic:
    """Grades questions.

    Args:
        engine: Answers with one label, whose probabilities are read.
    """

    def __init__(self, engine: TextEngine) -> None:
        self._engine = engine
        self._abilities: dict[tuple[PromptLanguage, str], Ability] = {}

    def ability(self, language: PromptLanguage, dimension: str) -> Ability:
        """How well it orders questions with known grades; asked once."""
        key = language, dimension
        if key not in self._abilities:
            asked = load_prompts(language).critic.dimensions[dimension]
            grades = self._grades(language, dimension, [*asked.good, *asked.bad])
            self._abilities[key] = _ability(grades[: len(asked.good)], grades[len(asked.good) :])
        return self._abilities[key]

    def check(self, drafts: Sequence[Draft]) -> list[list[CheckResult]]:
        """One result a dimension for every draft."""
        results: list[list[CheckResult]] = [[] for _ in drafts]
        for language in ("en", "zh"):
            places = [at for at, draft in enumerate(drafts) if draft.case.language == language]
            for dimension in load_prompts(language).critic.dimensions if places else ():
                ability = self.ability(language, dimension)
                grades = self._grades(language, dimension, [drafts[at].case.query for at in places])
                for at, grade in zip(places, grades, strict=True):
                    results[at].append(_result(dimension, grade, ability))
        return results

    def _grades(self, language: PromptLanguage, dimension: str, questions: Sequence[str]) -> list[float | str]:
        prompts = load_prompts(language)
        answers = self._engine.generate([critic_request(prompts, dimension, question) for question in questions])
        return [expected_grade(answer) for answer in answers]


def expected_grade(answer: Generation | Failure) -> float | str:
    """The mean grade under the label probabilities, in [1, 3] and with six decimals, or why there is none."""
    if isinstance(answer, Failure):
        return f"{answer.reason}: {answer.detail}"
    if answer.label_logprobs is None:
        return float(answer.text) if answer.text in GRADES else "off_menu: no grade"
    highest = max(answer.label_logprobs.values())
    weights = {label: math.exp(value - highest) for label, value in answer.label_logprobs.items()}
    return round(math.fsum(float(label) * weight for label, weight in weights.items()) / math.fsum(weights.values()), 6)


def _ability(good: Sequence[float | str], bad: Sequence[float | str]) -> Ability:
    failure = next((grade for grade in (*good, *bad) if isinstance(grade, str)), None)
    if failure is not None:
        return Ability(0.0, 0.0, failure)
    best, worst = ([float(grade) for grade in grades] for grades in (good, bad))
    ordered = [1.0 if high > low else 0.5 if high == low else 0.0 for high in best for low in worst]
    threshold = (math.fsum(best) / len(best) + math.fsum(worst) / len(worst)) / 2
    return Ability(math.fsum(ordered) / len(ordered), round(threshold, 6))


def _result(dimension: str, grade: float | str, ability: Ability) -> CheckResult:
    check = f"critic_{dimension}"
    if isinstance(grade, str):
        return unknown(check, grade)
    if not ability.can_tell:
        return unknown(check, CANNOT_TELL).model_copy(update={"value": grade, "threshold": ability.threshold})
    if grade < ability.threshold:
        detail = f"grade {grade:.3g}; known good and bad questions part at {ability.threshold:.3g}"
        return refused(check, _REASONS[dimension], detail, value=grade, threshold=ability.threshold)
    return passed(check, value=grade, threshold=ability.threshold)
