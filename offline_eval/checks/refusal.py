"""Finds answers that decline to answer, by rule, in Chinese and English."""

from collections.abc import Sequence

from offline_eval.core.evidence import Evidence, Provenance, RefusalEvidence
from offline_eval.core.hashing import digest
from offline_eval.core.protocols import Item
from offline_eval.text.refusal import detect_refusal

NAME = "refusal"
VERSION = "1"


class RefusalCheck:
    """The check; needs no model."""

    name = NAME

    def run(self, items: Sequence[Item]) -> list[Evidence]:
        """One piece of evidence for every response that has an answer."""
        provenance = Provenance(producer=NAME, version=VERSION, parameters_hash=digest(NAME, VERSION))
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
                    provenance=provenance,
                )
            )
        return found
