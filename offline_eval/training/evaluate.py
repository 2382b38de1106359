"""Held-out scores of a trained encoder, beside counting common words, which a small encoder does not always beat."""

from collections.abc import Callable, Sequence

import numpy as np

from offline_eval.core.records import Record
from offline_eval.stats.agreement import balanced_accuracy
from offline_eval.stats.arrays import Floats
from offline_eval.stats.association import pearson, spearman
from offline_eval.stats.measured import Measured, measure
from offline_eval.stats.paired import Outcome, verdict
from offline_eval.stats.separation import auroc
from offline_eval.stats.undefined import Undefined
from offline_eval.training.labels import Example, LabelledSet

OVERLAP = "word overlap"


class HeldOut(Record):
    """Scores on the reporting part.

    Attributes:
        measures: Name to value with its interval; `difference` is the encoder's first measure less word overlap's.
        against_overlap: What the difference shows.
    """

    measures: dict[str, Measured]
    against_overlap: Outcome

    def sentence(self) -> str:
        """The comparison in words."""
        said = {"better": "better than", "worse": "worse than", "cannot tell": "not shown to differ from"}
        return f"On these pairs the encoder is {said[self.against_overlap]} counting common words."


def evaluate(data: LabelledSet, examples: Sequence[Example], rows: Sequence[Sequence[float]], *, seed: int) -> HeldOut:
    """Score a trained head on examples it has not seen.

    Args:
        data: For the task and the classes.
        examples: The reporting part.
        rows: The head's probabilities, one row an example.
        seed: Of the resampling.
    """
    groups = [example.group for example in examples]
    labels = np.array([example.label for example in examples], dtype=np.float64)
    overlap = np.array([_overlap(data, example) for example in examples])
    outputs = np.array(rows, dtype=np.float64)  # (n, n_outputs)
    statistic: Callable[..., float | Undefined]
    if data.task == "alignment":
        statistic, truth, score = spearman, labels, outputs[:, 0]
        extra = {"Pearson": measure(pearson, [score, truth], clusters=groups, seed=seed)}
        name = "Spearman"
    else:
        place = data.classes.index("entailment") if data.classes else 0
        statistic, score, name = auroc, outputs[:, place], "AUROC"
        truth = (labels == place).astype(np.float64) if data.classes else labels
        called = outputs.argmax(axis=1) if data.classes else (outputs[:, 0] >= 0.5)
        extra = {
            "balanced accuracy": measure(_balanced, [called.astype(np.float64), labels], clusters=groups, seed=seed)
        }

    def difference(one: Floats, other: Floats, actual: Floats) -> float | Undefined:
        first, second = statistic(one, actual), statistic(other, actual)
        if isinstance(first, Undefined):
            return first
        return second if isinstance(second, Undefined) else first - second

    found = {
        name: measure(statistic, [score, truth], clusters=groups, seed=seed),
        **extra,
        f"{name} of {OVERLAP}": measure(statistic, [overlap, truth], clusters=groups, seed=seed),
        "difference": measure(difference, [score, overlap, truth], clusters=groups, seed=seed),
    }
    return HeldOut(measures=found, against_overlap=verdict(found["difference"].interval))


def _balanced(called: Floats, actual: Floats) -> float | Undefined:
    return balanced_accuracy([str(value) for value in called], [str(value) for value in actual])


def _overlap(data: LabelledSet, example: Example) -> float:
    from offline_eval.text.words import content_words

    text, claim = (example.first, example.second) if data.task == "nli" else (example.second, example.first)
    wanted, known = content_words(claim), set(content_words(text))
    return sum(word in known for word in wanted) / len(wanted) if wanted else 1.0
