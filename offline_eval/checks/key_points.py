"""Takes a case's key points as claims, or splits them from the reference where none are given; needs no model."""

from collections.abc import Mapping, Sequence
from typing import Any

from offline_eval.checks._provenance import provenance
from offline_eval.checks.claims import claims_of, no_reference
from offline_eval.core.evidence import Claim, ClaimsEvidence, Evidence
from offline_eval.core.protocols import EngineKind, Item
from offline_eval.core.results import Status


class KeyPointsCheck:
    """The check."""

    name = "key_points"
    version = "1"
    needs: tuple[str, ...] = ()
    engine: EngineKind | None = None

    def run(
        self, items: Sequence[Item], *, evidence: Mapping[str, Sequence[Evidence]], engine: Any = None
    ) -> list[Evidence]:
        """The key points of every response's case, each as one claim."""
        return [self._one(item) for item in items if item.response.error is None]

    def _one(self, item: Item) -> ClaimsEvidence:
        given = tuple(Claim(text=point.strip()) for point in item.case.key_points if any(map(str.isalnum, point)))
        missing = no_reference(item)
        if given and missing == "no_reference":
            missing = None
        points = given or (() if missing else claims_of(item.case.reference or ""))
        return ClaimsEvidence(
            response_key=item.response.key,
            source="key_points",
            status=Status.NOT_APPLICABLE if missing else Status.SCORED,
            status_reason="no_key_points_and_no_reference" if missing == "no_reference" else missing,
            claims=() if missing else points,
            none_because=None if points or missing else "no_statement",
            provenance=provenance(self.name, self.version),
        )


CHECK = KeyPointsCheck()
