"""Splits answers, references and key points into claims by rule, in Chinese and English; needs no model.

Claims are stored once and read by every other check, so that all metrics count the same statements.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from offline_eval.checks._provenance import provenance
from offline_eval.core.evidence import Claim, ClaimsEvidence, Evidence
from offline_eval.core.protocols import EngineKind, Item
from offline_eval.core.results import Status
from offline_eval.text.claims import split_claims
from offline_eval.text.contentless import is_contentless
from offline_eval.text.refusal import detect_refusal

Source = Literal["answer", "reference"]

# A bare yes or no speaks about the query; beside the sentence that says it in full it cannot be checked by itself.
_STANCE = re.compile(
    r"(?:yes|no|possibly|maybe|perhaps|probably|correct|not necessarily|是的?|不是的?|可以的?|不可以|能|不能|会|不会|"
    r"行|不行|对的?|不对|需要|不需要|有|没有|不一定|可能)[\W_]*",
    re.IGNORECASE,
)


class ClaimsCheck:
    """The check."""

    name = "claims"
    version = "1"
    needs: tuple[str, ...] = ()
    engine: EngineKind | None = None

    def run(
        self, items: Sequence[Item], *, evidence: Mapping[str, Sequence[Evidence]], engine: Any = None
    ) -> list[Evidence]:
        """The answer's claims and the reference's, for every response that has an answer."""
        return [
            found
            for item in items
            if item.response.error is None
            for found in (self._answer(item), self._reference(item))
        ]

    def _answer(self, item: Item) -> ClaimsEvidence:
        nothing = states_nothing(item.response.answer)
        claims = () if nothing else claims_of(item.response.answer)
        return ClaimsEvidence(
            response_key=item.response.key,
            source="answer",
            claims=claims,
            none_because=None if claims else nothing or "no_statement",
            provenance=provenance(self.name, self.version),
        )

    def _reference(self, item: Item) -> ClaimsEvidence:
        missing = no_reference(item)
        claims = () if missing else claims_of(item.case.reference or "")
        return ClaimsEvidence(
            response_key=item.response.key,
            source="reference",
            status=Status.NOT_APPLICABLE if missing else Status.SCORED,
            status_reason=missing,
            claims=claims,
            none_because=None if claims or missing else "no_statement",
            provenance=provenance(self.name, self.version),
        )


def claims_of(text: str) -> tuple[Claim, ...]:
    """A text's claims with their places; a bare yes or no is left out where other claims stand beside it."""
    claims = tuple(Claim(text=claim.text, start=claim.start, end=claim.end) for claim in split_claims(text))
    return tuple(claim for claim in claims if not _STANCE.fullmatch(claim.text)) or claims


def states_nothing(answer: str) -> str | None:
    """Why an answer claims nothing: `refusal`, `no_content`; None when it may claim something."""
    if is_contentless(answer) is not None:
        return "no_content"
    return "refusal" if detect_refusal(answer).refused else None


def no_reference(item: Item) -> str | None:
    """Why there is nothing to compare an answer with: the case has no answer, or nobody wrote one down."""
    if item.case.answerable is False:
        return "unanswerable"
    return None if (item.case.reference or "").strip() else "no_reference"


CHECK = ClaimsCheck()
