"""Small corpora and a cheap, real embedder (hashed words) for the retrieval tests."""

import hashlib
import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from offline_eval.core.evidence import Guarantee
from offline_eval.core.protocols import EngineInfo
from offline_eval.core.records import Passage
from offline_eval.retrieval.index import Index, build_index
from offline_eval.retrieval.manifest import IndexSettings


class HashedWords:
    """Embeds a text as the normalised counts of its hashed words; equal texts give equal vectors."""

    def __init__(self, dimension: int = 64, *, seed: str = "a") -> None:
        self.dimension = dimension
        self._seed = seed
        self.info = EngineInfo(
            engine="hashed-words",
            model=f"hashed-words-{seed}",
            family="none",
            weights_hash=seed,
            tokenizer_hash="words",
            template_hash="none",
            dtype="float32",
            device="cpu",
            context_length=1_000_000,
            guarantee=Guarantee.NONE,
            grammar_backend="none",
            options={"dimension": dimension},
        )

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        vectors = np.zeros((len(texts), self.dimension), dtype=np.float32)
        for row, text in enumerate(texts):
            for word in re.findall(r"\w+", text.lower()):
                digest = hashlib.sha256((self._seed + word).encode()).digest()
                vectors[row, int.from_bytes(digest[:4], "big") % self.dimension] += 1
            vectors[row] /= max(1.0, float(np.linalg.norm(vectors[row])))
        return vectors

    def close(self) -> None:
        pass


CHINESE = [
    Passage(id="travel", title="差旅费报销", text="员工出差回来后，报销需要提交以下材料：发票原件、行程单和审批表。"),
    Passage(id="leave", title="请假制度", text="员工请假应提前三天提出申请，由部门主管审批。"),
    Passage(id="card", title="门禁卡", text="门禁卡丢失后请联系行政部补办，需要缴纳工本费。"),
    Passage(id="meal", title="餐补", text="每个工作日补贴二十元，随工资发放。"),
]
ENGLISH = [
    Passage(id="cats", text="Cats sleep for most of the day and hunt at night."),
    Passage(id="wings", title="Aircraft", text="The lift of a wing grows with the angle of attack."),
    Passage(id="bank", text="The bank raised its interest rate by 0.25 points in 2023."),
    Passage(id="tax", text="Form 1040-ES is used to pay estimated tax."),
]


def built(
    passages: Sequence[Passage],
    folder: Path,
    *,
    embedder: HashedWords | None = None,
    settings: IndexSettings | None = None,
) -> Index:
    build_index(passages, folder, settings=settings or IndexSettings(), embedder=embedder)
    return Index(folder)
