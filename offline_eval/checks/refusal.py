"""Finds answers that decline to answer, by rule, in Chinese and English."""

from collections.abc import Mapping, Sequence
from typing import Any

from offline_eval.checks._provenance import provenance
from offline_eval.core.evidence import Evidence, RefusalEvidence
from offline_eval.core.protocols import EngineKind, Item
from offline_eval.text.refusal import detect_refusal, refusal_fingerprint


class RefusalCheck:
    """The check; needs no model."""

    name = "refusal"
    version = "2"
    needs: tuple[str, ...] = ()
    engine: EngineKind | None = None

    def run(
        self, items: Sequence[Item], *, evidence: Mapping[str, Sequence[Evidence]] | None = None, engine: Any = None
    ) -> list[Evidence]:
        """One piece of evidence for every response that has an answer."""
        found: list[Evidence] = []
        for item in items:
            if item.response.error is not None:
                continue
            refusal = detect_refusal(item.response.answer)
            found.append(
                RefusalEvidence(
                    response_key=item.response.key,
                    refused=refusal.refused,
                    matched=refusal.matched,
                    provenance=provenance(self.name, self.version, parameters=refusal_fingerprint()),
                )
            )
        return found


CHECK = RefusalCheck()
