"""What counts as right, stated once: every measure of an assessment stands on this and on nothing else.

On a case nobody can answer it is right to assert nothing, or to correct the question. On a case that can be answered it
is right to answer rightly, by a label, else by the reference. Where neither says anything the answer is left out and
counted.
"""

from typing import Literal

from pydantic import Field

from offline_eval.core.records import Case, Record, Response
from offline_eval.text.contentless import is_contentless
from offline_eval.text.refusal import detect_refusal
from offline_eval.text.words import content_words

Basis = Literal["answerable", "label", "reference", "unknown"]

STATEMENT = (
    "Right: on a case that cannot be answered, nothing was asserted, or the assertion is labelled right (it corrects a "
    "false premise); on a case that can, the assertion is right by its label (metadata `{right}`, or no `{fault}` "
    "where the system's answers are labelled with faults), else at least {words:.0%} of the reference's content words "
    "stand in it. Declining and saying nothing are no assertions."
)


class TruthRule(Record):
    """How rightness is read.

    Attributes:
        right_field: Metadata field of a response that says true or false.
        fault_field: Metadata field that names what is wrong with a response; a system with one faulty response counts
            as labelled throughout.
        reference_words: Least share of the reference's content words that a right answer holds, in (0, 1].
    """

    right_field: str = "right"
    fault_field: str = "fault"
    reference_words: float = Field(default=0.5, gt=0, le=1)

    @property
    def statement(self) -> str:
        """The rule in words, for every report."""
        return STATEMENT.format(right=self.right_field, fault=self.fault_field, words=self.reference_words)


class Truth(Record):
    """What is known about one response.

    Attributes:
        asserts: Whether it says something, instead of declining or saying nothing.
        right: None when nobody knows; then `reason` says why.
        basis: What the decision rests on.
    """

    asserts: bool
    right: bool | None
    basis: Basis
    reason: str | None = None


def is_assertion(answer: str) -> bool:
    """Whether an answer says something, instead of declining or being empty."""
    return is_contentless(answer) is None and not detect_refusal(answer).refused


def truth_of(case: Case, response: Response, *, rule: TruthRule, labelled: bool) -> Truth:
    """Decide whether a response is right.

    Args:
        labelled: Whether the system's responses carry faults, so that one without is right.
    """
    asserts = response.error is None and is_assertion(response.answer)
    if not asserts and case.answerable is not None:
        return Truth(asserts=False, right=not case.answerable, basis="answerable")
    label = _label(response, rule, labelled)
    if label is not None:
        return Truth(asserts=asserts, right=label, basis="label")
    if case.answerable is False:
        return Truth(asserts=True, right=False, basis="answerable")
    wanted = set(content_words(case.reference or ""))
    if wanted:
        share = len(wanted & set(content_words(response.answer))) / len(wanted)
        return Truth(asserts=asserts, right=asserts and share >= rule.reference_words, basis="reference")
    return Truth(asserts=asserts, right=None, basis="unknown", reason="no label and no reference")


def _label(response: Response, rule: TruthRule, labelled: bool) -> bool | None:
    said = response.metadata.get(rule.right_field)
    if isinstance(said, bool):
        return said
    if rule.fault_field in response.metadata:
        return not response.metadata[rule.fault_field]
    return True if labelled else None
