"""The default support and answerability scorers: a small calibrated model over features, its numbers shipped as data.

Why: on a fresh machine without a real NLI model a small encoder fine-tuned on few labels does worse than counting
common words; words, figures, names and negations weighed together do better, for questions with token vectors as well.
"""

import json
import math
from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import Literal, Self

from pydantic import Field, ValidationError, model_validator

from offline_eval.core.errors import ModelError, UnknownNameError
from offline_eval.core.evidence import Guarantee
from offline_eval.core.protocols import EngineInfo, Failure
from offline_eval.core.records import Record
from offline_eval.engines.clause_features import CLAUSES, clause_features
from offline_eval.engines.support_features import LEXICAL, lexical_features
from offline_eval.engines.token_alignment import ALIGNMENT, TokenAligner
from offline_eval.models.installed import find_installed, require_installed
from offline_eval.text.language import detect_language

DEFAULT_SCORERS = ("default-support", "default-answerability")
BASE_EMBEDDER = "all-minilm-l6-v2"

_CONTEXT = 100_000  # tokens; the features read a text of any length, but an engine has to state a limit
_MOST_CHARACTERS = 1_000_000


class LinearModel(Record):
    """A logistic regression over standardised features.

    Attributes:
        features: Names, in order.
        means: Of each feature on the fit part.
        scales: Standard deviation of each feature on the fit part, above 0.
        weights: Of each standardised feature.
        intercept: Log odds at the means, both labels taken as equally frequent.
    """

    features: tuple[str, ...]
    means: tuple[float, ...]
    scales: tuple[float, ...]
    weights: tuple[float, ...]
    intercept: float

    @model_validator(mode="after")
    def _has_one_number_a_feature(self) -> Self:
        lengths = {len(self.features), len(self.means), len(self.scales), len(self.weights)}
        if len(lengths) > 1 or min(self.scales, default=1.0) <= 0:
            raise ValueError("features, means, scales and weights must be equally long, scales above 0")
        return self

    def probability(self, values: Mapping[str, float]) -> float:
        """Probability of the positive label, in (0, 1)."""
        z = self.intercept
        for name, mean, scale, weight in zip(self.features, self.means, self.scales, self.weights, strict=True):
            z += weight * (values[name] - mean) / scale
        return 0.5 * (1 + math.tanh(z / 2))


class ScorerData(Record):
    """What stands in a scorer's file.

    Attributes:
        base_embedder: Whose token vectors are read as well; None for words alone.
        with_encoder: For languages of the base embedder, where there is one.
        without_encoder: Language code to its model; `*` for every other language.
        card: Where it comes from: sets with their hashes and licences, figures on held-out groups, date, seed.
    """

    format: Literal[1] = 1
    name: str
    version: str
    task: Literal["support", "answerability"]
    languages: tuple[str, ...] = Field(min_length=1)
    base_embedder: str | None = None
    with_encoder: LinearModel | None = None
    without_encoder: dict[str, LinearModel]
    license: str
    card: dict[str, object] = Field(default_factory=dict)


def load_scorer_data(name: str) -> ScorerData:
    """Read a shipped scorer.

    Raises:
        UnknownNameError: No such scorer.
        ModelError: Its file is damaged.
    """
    if name not in DEFAULT_SCORERS:
        raise UnknownNameError("scorer", name, DEFAULT_SCORERS)
    path = files("offline_eval.models") / "default_scorers" / f"{name}.json"
    try:
        return ScorerData.model_validate(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, ValidationError) as error:
        raise ModelError(f"{path} is damaged ({error}); install offline-eval again") from error


class FeatureScorer:
    """Scores pairs by features; English by words and token vectors, other languages by words alone.

    Args:
        data: The calibrated model.
        aligner: Loaded base embedder; None for words alone in every language.
    """

    def __init__(self, data: ScorerData, *, aligner: TokenAligner | None = None) -> None:
        self._data = data
        self._aligner = aligner
        self.languages = data.languages
        self._encoder_languages = aligner.model.config.languages if aligner else ()
        self._by_clause = {
            language for language, model in data.without_encoder.items() if not set(CLAUSES).isdisjoint(model.features)
        }
        self.info = _engine_info(data, aligner)

    def score(self, pairs: Sequence[tuple[str, str]]) -> list[dict[str, float] | Failure]:
        """Score pairs.

        Args:
            pairs: Premise and claim for support; query and passage for answerability.

        Returns:
            In the pairs' order: `entailment` and `neutral` for support, which knows no contradiction; `score` for
            answerability. All in [0, 1]; calibrated for labels that are equally frequent.
        """
        # Sorted, so that the order of the pairs cannot move a score; pairs with one premise come together.
        fitting = sorted({pair for pair in pairs if sum(map(len, pair)) <= _MOST_CHARACTERS})
        found = dict(zip(fitting, self._probabilities(fitting), strict=True))
        return [self._row(found[pair]) if pair in found else _too_long(pair) for pair in pairs]

    def close(self) -> None:
        """Forget the base embedder."""
        if self._aligner is not None:
            self._aligner.close()

    def features(self, pairs: Sequence[tuple[str, str]]) -> list[dict[str, float]]:
        """The features of each pair.

        Those of the clauses only where the model of the claim's language reads them, those of the token vectors only
        where the embedder speaks it.
        """
        ordered = [self._text_and_claim(pair) for pair in pairs]
        rows = [dict(zip(LEXICAL, lexical_features(*pair), strict=True)) for pair in ordered]
        for at, pair in enumerate(ordered):
            if self._words_alone(pair) in self._by_clause:
                rows[at] |= dict(zip(CLAUSES, clause_features(*pair), strict=True))
        spoken = [at for at, pair in enumerate(ordered) if _language(pair) in self._encoder_languages]
        if self._aligner is not None and spoken:
            for at, values in zip(spoken, self._aligner.features([ordered[at] for at in spoken]), strict=True):
                rows[at] |= dict(zip(ALIGNMENT, values, strict=True))
        return rows

    def _probabilities(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        found: list[float] = []
        for pair, values in zip(pairs, self.features(pairs), strict=True):
            with_encoder = self._data.with_encoder if ALIGNMENT[0] in values else None
            words_alone = self._data.without_encoder[self._words_alone(self._text_and_claim(pair))]
            found.append((with_encoder or words_alone).probability(values))
        return found

    def _words_alone(self, pair: tuple[str, str]) -> str:
        """Which of the models over words alone is for a pair."""
        language = _language(pair)
        return language if language in self._data.without_encoder else "*"

    def _text_and_claim(self, pair: tuple[str, str]) -> tuple[str, str]:
        return pair if self._data.task == "support" else (pair[1], pair[0])

    def _row(self, probability: float) -> dict[str, float]:
        if self._data.task == "support":
            return {"entailment": probability, "neutral": 1 - probability}
        return {"score": probability}


def open_default_scorer(
    name: str, *, device: str | None = None, dtype: str | None = None, with_encoder: bool | None = None
) -> FeatureScorer:
    """Load a default scorer.

    Args:
        name: One of `DEFAULT_SCORERS`.
        device: Where the base embedder runs.
        dtype: Of the base embedder; float32 unless given. The weights over its features are always float64.
        with_encoder: Whether English pairs are also read by the scorer's base embedder, if it has one; by default when
            that is installed.

    Raises:
        UnknownNameError: No such scorer.
        ModelError: The base embedder is asked for but not installed, or altered.
        EngineError: It cannot be loaded.
    """
    data = load_scorer_data(name)
    base = data.base_embedder
    if base is None or with_encoder is False or (with_encoder is None and find_installed(base) is None):
        return FeatureScorer(data)
    return FeatureScorer(data, aligner=TokenAligner(require_installed(base), device=device, dtype=dtype or "float32"))


def _language(pair: tuple[str, str]) -> str:
    text, claim = pair
    found = detect_language(claim)
    return detect_language(text) if found == "other" else found


def _too_long(pair: tuple[str, str]) -> Failure:
    size = sum(map(len, pair))
    return Failure(reason="prompt_too_long", detail=f"the pair has {size:,} characters, at most {_MOST_CHARACTERS:,}")


def _engine_info(data: ScorerData, aligner: TokenAligner | None) -> EngineInfo:
    return EngineInfo(
        engine="features",
        model=data.name,
        family=aligner.model.config.family if aligner else "rules",
        weights_hash=data.content_hash() if aligner is None else f"{data.content_hash()}+{aligner.model.weights_hash}",
        tokenizer_hash=aligner.model.tokenizer_hash if aligner else "none",
        template_hash="none",
        dtype=aligner.dtype if aligner else "float32",
        device=aligner.device if aligner else "cpu",
        context_length=_CONTEXT,
        guarantee=Guarantee.NONE,
        grammar_backend="none",
        options={"version": data.version, "encoder": aligner.model.config.name if aligner else None},
    )
