"""All checks of a batch of drafts in their order; the first that objects gives the reason that is counted."""

from collections.abc import Callable, Iterable, Mapping, Sequence

from offline_eval.testset.critic import Critic
from offline_eval.testset.draft import CheckResult, Draft
from offline_eval.testset.grounding import Encoders, entailed_distractors, grounding_checks
from offline_eval.testset.near_duplicates import Seen
from offline_eval.testset.surface_checks import (
    Thresholds,
    answer_checks,
    distractor_check,
    passed,
    question_checks,
    refused,
)

Progress = Callable[[str, int, int], None]


class Checker:
    """Throws bad drafts out; remembers what was kept, so that nothing is asked twice.

    Args:
        critic: None to leave the critic out.
        seen: Questions that were kept so far.
        wants_reference: Whether answerable questions need a reference.
    """

    def __init__(
        self,
        encoders: Encoders,
        *,
        seen: Seen,
        critic: Critic | None = None,
        thresholds: Thresholds | None = None,
        wants_reference: bool = True,
    ) -> None:
        self._encoders = encoders
        self._seen = seen
        self._given = {"example_copied": seen.empty(), "known_question": seen.empty()}
        self._is_given = False
        self._critic = critic
        self._thresholds = thresholds or Thresholds()
        self._wants_reference = wants_reference

    def avoid(self, *, examples: Iterable[str] = (), known: Mapping[str, str] | None = None) -> None:
        """Throw out, from now on, what repeats a question that was there before.

        Args:
            examples: Shown to the writer.
            known: Name to question of earlier sets.
        """
        for number, question in enumerate(examples, start=1):
            self._given["example_copied"].keep(f"example {number}", question)
            self._is_given = True
        for name, question in (known or {}).items():
            self._given["known_question"].keep(name, question)
            self._is_given = True

    def check(self, drafts: Sequence[Draft]) -> list[Draft]:
        """Whole drafts with all their checks, those with an objection rejected; in order."""
        return self.check_answers(self.check_questions(drafts))

    def check_questions(self, drafts: Sequence[Draft]) -> list[Draft]:
        """Drafts of which only the question is needed, with what rules say of it; in order.

        Why apart: an answer to a question that is thrown out need not be written.
        """
        found: dict[str, Draft] = {}
        find, thresholds = self._encoders.find, self._thresholds
        alive = self._settle(
            found, [(draft, question_checks(draft, thresholds=thresholds, find=find)) for draft in drafts]
        )
        if self._is_given:
            self._settle(found, [(draft, [self._not_given(draft)]) for draft in alive])
        return [found[draft.id] for draft in drafts]

    def check_answers(
        self, drafts: Sequence[Draft], *, progress: Progress = lambda stage, done, total: None
    ) -> list[Draft]:
        """What `check_questions` gave, with all further checks of those that it let pass; in order.

        Args:
            progress: Told before and after each of the slow checks.
        """
        found = {draft.id: draft for draft in drafts}
        find, thresholds, wanted = self._encoders.find, self._thresholds, self._wants_reference
        alive = self._settle(
            found,
            [
                (draft, answer_checks(draft, thresholds=thresholds, find=find, wants_reference=wanted))
                for draft in drafts
                if draft.status != "rejected"
            ],
        )
        if alive:
            progress("checking against the corpus", 0, n := len(alive))
            alive = self._settle(found, grounding_checks(alive, self._encoders, self._thresholds))
            progress("checking against the corpus", n, n)
        if self._critic is not None and alive:
            progress("grading", 0, n := len(alive))
            alive = self._settle(found, list(zip(alive, self._critic.check(alive), strict=True)))
            progress("grading", n, n)
        kept: list[Draft] = []
        for draft in alive:
            kept += self._settle(found, [(draft, [self._not_repeated(draft)])])
            if kept and kept[-1].id == draft.id:
                self.keep(draft)
        found |= {draft.id: draft for draft in self._with_wrong_answers(kept, progress)}
        return [found[draft.id] for draft in drafts]

    def keep(self, draft: Draft) -> None:
        """Remember a draft that was kept before."""
        self._seen.keep(draft.id, draft.case.query)

    def _not_repeated(self, draft: Draft) -> CheckResult:
        repeated = self._seen.repeated(draft.case.query)
        if repeated is None:
            return passed("not_repeated")
        name, value, threshold = repeated
        return refused("not_repeated", "duplicate", f"it repeats {name}", value=value, threshold=threshold)

    def _not_given(self, draft: Draft) -> CheckResult:
        for reason, given in self._given.items():
            repeated = given.repeated(draft.case.query)
            if repeated is not None:
                name, value, threshold = repeated
                return refused("not_given", reason, f"it repeats {name}", value=value, threshold=threshold)
        return passed("not_given")

    def _with_wrong_answers(self, drafts: Sequence[Draft], progress: Progress) -> list[Draft]:
        """The drafts, without those wrong answers that no check lets pass; what was said of each is kept."""
        find, thresholds = self._encoders.find, self._thresholds
        ruled = [(draft, distractor_check(draft, thresholds=thresholds, find=find)) for draft in drafts]
        checked = {draft.id: draft if check is None else _with_check(draft, check) for draft, check in ruled}
        left = [checked[draft.id] for draft, _ in ruled if checked[draft.id].distractor is not None]
        if left:
            progress("checking wrong answers", 0, len(left))
            for draft, check in zip(left, entailed_distractors(left, self._encoders, thresholds), strict=True):
                checked[draft.id] = _with_check(draft, check)
            progress("checking wrong answers", len(left), len(left))
        return list(checked.values())

    def _settle(self, found: dict[str, Draft], results: Sequence[tuple[Draft, Sequence[CheckResult]]]) -> list[Draft]:
        """Add results to drafts; the drafts that are still alive."""
        alive = []
        for draft, checks in results:
            changed = draft.model_copy(update={"checks": (*draft.checks, *checks)})
            objection = next((check for check in checks if check.outcome == "rejected"), None)
            if objection is not None:
                changed = changed.rejected(objection.reason or objection.check)
            else:
                alive.append(changed)
            found[draft.id] = changed
        return alive


def _with_check(draft: Draft, check: CheckResult) -> Draft:
    """The draft with what a check said of its wrong answer, which goes when the check objects; the draft stays."""
    update: dict[str, object] = {"checks": (*draft.checks, check)}
    if check.outcome == "rejected":
        metadata = {name: value for name, value in draft.case.metadata.items() if name != "distractor"}
        update |= {"distractor": None, "case": draft.case.model_copy(update={"metadata": metadata})}
    return draft.model_copy(update=update)
