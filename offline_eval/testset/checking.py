"""All checks of a batch of drafts in their order; the first that objects gives the reason that is counted."""

from collections.abc import Sequence

from offline_eval.testset.critic import Critic
from offline_eval.testset.draft import CheckResult, Draft
from offline_eval.testset.grounding import Encoders, grounding_checks
from offline_eval.testset.near_duplicates import Seen
from offline_eval.testset.surface_checks import Thresholds, answer_checks, passed, question_checks, refused


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
        self._critic = critic
        self._thresholds = thresholds or Thresholds()
        self._wants_reference = wants_reference

    def check(self, drafts: Sequence[Draft]) -> list[Draft]:
        """Whole drafts with all their checks, those with an objection rejected; in order."""
        return self.check_answers(self.check_questions(drafts))

    def check_questions(self, drafts: Sequence[Draft]) -> list[Draft]:
        """Drafts of which only the question is needed, with what rules say of it; in order.

        Why apart: an answer to a question that is thrown out need not be written.
        """
        found: dict[str, Draft] = {}
        find, thresholds = self._encoders.find, self._thresholds
        self._settle(found, [(draft, question_checks(draft, thresholds=thresholds, find=find)) for draft in drafts])
        return [found[draft.id] for draft in drafts]

    def check_answers(self, drafts: Sequence[Draft]) -> list[Draft]:
        """What `check_questions` gave, with all further checks of those that it let pass; in order."""
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
        alive = self._settle(found, grounding_checks(alive, self._encoders, self._thresholds) if alive else [])
        if self._critic is not None and alive:
            alive = self._settle(found, list(zip(alive, self._critic.check(alive), strict=True)))
        for draft in alive:
            kept = self._settle(found, [(draft, [self._not_repeated(draft)])])
            for last in kept:
                self.keep(last)
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
