"""Makes the default support and answerability scorers from published sets: features, fit, and the cut."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from offline_eval.core.errors import DataError
from offline_eval.core.hashing import digest
from offline_eval.engines.clause_features import CLAUSES, clause_features
from offline_eval.engines.feature_scorer import LinearModel, ScorerData
from offline_eval.engines.support_features import LEXICAL, lexical_features
from offline_eval.engines.token_alignment import ALIGNMENT, TokenAligner
from offline_eval.stats.arrays import Floats
from offline_eval.training.linear import balanced_weights, choose_ridge, fit_linear
from offline_eval.training.public_sets import SETS, GroupedPair, split_by_group

FIT_SHARE = 0.4
"""Of the groups; the scorer has about twenty numbers, so most of the labels can go into saying how good it is."""
FEATURES = (*LEXICAL, *ALIGNMENT)
SUPPORT_FEATURES = (*LEXICAL, *CLAUSES)
CONSTRUCTED_FEATURES = ("best_sentence", "figures_missing", "names_missing", "stems_missing", *CLAUSES)
"""What a model of constructed pairs reads. Lengths tell how the pairs were made; the other shares of words got weights
below 0 on the fit part, because a copy with one edit shares more words than a true claim in other words."""
_FEATURES_VERSION = 3


class FeatureTable(NamedTuple):
    """One set with the features of its pairs.

    Attributes:
        features: Shape (n, n_features): `SUPPORT_FEATURES` for support; for answerability `FEATURES`, without the
            columns of `ALIGNMENT` where no embedder was asked.
        data_hash: Of all pairs with labels and groups.
    """

    name: str
    pairs: tuple[GroupedPair, ...]
    features: Floats
    data_hash: str

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""
        known = SUPPORT_FEATURES if SETS[self.name].task == "support" else FEATURES
        return known[: self.features.shape[1]]

    @property
    def labels(self) -> Floats:
        """Shape (n,), 0 or 1."""
        return np.array([pair.label for pair in self.pairs], dtype=np.float64)

    def column(self, name: str) -> Floats:
        """One feature of all pairs, shape (n,)."""
        found: Floats = self.features[:, self.names.index(name)]
        return found

    def parted(self) -> tuple["FeatureTable", "FeatureTable"]:
        """The part to fit on and the part to report on."""
        fit, report = split_by_group(self.pairs, fit_share=FIT_SHARE)
        return self._only(fit), self._only(report)

    def _only(self, kept: Sequence[GroupedPair]) -> "FeatureTable":
        groups = {pair.group for pair in kept}
        rows = [at for at, pair in enumerate(self.pairs) if pair.group in groups]
        return self._replace(pairs=tuple(self.pairs[at] for at in rows), features=self.features[rows])


def feature_table(
    name: str, folder: Path | None, *, aligner: TokenAligner | None, cache: Path | None = None
) -> FeatureTable:
    """Compute the features of one set, or take them from an earlier run.

    Args:
        name: One of `public_sets.SETS`.
        folder: Holds all published sets; None where only constructed ones are asked for.
        aligner: For questions in its languages. Support is told from words alone: on feversymmetric the token vectors
            added .01 to the AUROC, which is not worth a model.
        cache: Folder of earlier results, by content.
    """
    published = SETS[name]
    if folder is None and published.is_public:
        raise DataError(f"{name} is a published set; point OFFLINE_EVAL_PUBLIC_DATA at the sets' folder")
    pairs = tuple(published.read(folder or Path()))
    data_hash = digest("PublicSet", [list(pair[:4]) for pair in pairs])  # the kind follows from these
    with_encoder = (
        aligner is not None
        and published.task == "answerability"
        and published.language in aligner.model.config.languages
    )
    ordered = [pair[:2] if published.task == "support" else (pair[1], pair[0]) for pair in pairs]
    file = (
        cache / f"{name}-{data_hash[:12]}-{'encoder' if with_encoder else 'words'}-{_FEATURES_VERSION}.json"
        if cache
        else None
    )
    if file is not None and file.is_file():
        return FeatureTable(name, pairs, np.array(json.loads(file.read_text("utf-8"))), data_hash)
    rows = [lexical_features(*pair) for pair in ordered]
    if published.task == "support":
        rows = [(*row, *clause_features(*pair)) for row, pair in zip(rows, ordered, strict=True)]
    if with_encoder and aligner is not None:
        rows = [(*row, *more) for row, more in zip(rows, aligner.features(ordered), strict=True)]
    if file is not None:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(rows), encoding="utf-8")
    return FeatureTable(name, pairs, np.array(rows), data_hash)


def fit_tables(
    tables: Sequence[FeatureTable], *, names: Sequence[str], shares: Mapping[str, float] | None = None
) -> tuple[LinearModel, float]:
    """Fit one model on the given (fit) tables, both labels of a set counting the same.

    Args:
        tables: With the same columns.
        names: Of the columns to read.
        shares: How much a set counts, above 0; 1 for those not named.

    Returns:
        The model and the ridge that the folds of the fit part chose.
    """
    columns = [table.names.index(name) for table in tables[:1] for name in names]
    features = np.vstack([table.features[:, columns] for table in tables])
    labels = np.concatenate([table.labels for table in tables])
    owners = [table.name for table in tables for _ in table.pairs]
    groups = [f"{table.name} {pair.group}" for table in tables for pair in table.pairs]
    weights = balanced_weights(labels, owners)
    if shares:
        weights = weights * np.array([shares.get(owner, 1.0) for owner in owners])
        weights = weights / weights.mean()
    ridge = choose_ridge(features, labels, names=names, weights=weights, groups=groups)
    return fit_linear(features, labels, names=names, weights=weights, ridge=ridge), ridge


def scores(table: FeatureTable, data: ScorerData) -> Floats:
    """A scorer's probabilities for a table's pairs, shape (n,)."""
    language = SETS[table.name].language
    with_encoder = data.with_encoder if ALIGNMENT[0] in table.names else None
    model = with_encoder or data.without_encoder.get(language, data.without_encoder["*"])
    return np.array([model.probability(dict(zip(table.names, row, strict=True))) for row in table.features.tolist()])
