"""The shipped scorers give what their data says, in order, in both languages; the token vectors see a swapped word."""

from pathlib import Path

import pytest

from offline_eval.core.errors import ModelError, UnknownNameError
from offline_eval.core.protocols import Failure
from offline_eval.engines.clause_features import CLAUSES, clause_features
from offline_eval.engines.feature_scorer import (
    DEFAULT_SCORERS,
    FeatureScorer,
    LinearModel,
    ScorerData,
    load_scorer_data,
    open_default_scorer,
)
from offline_eval.engines.pair_scorers import open_pair_scorer
from offline_eval.engines.support_features import LEXICAL, lexical_features
from offline_eval.engines.token_alignment import ALIGNMENT, TokenAligner
from offline_eval.models.config import FolderSource, ModelConfig
from offline_eval.models.installed import describe_folder
from tests.support.tiny_encoders import make_tiny_encoder

TEXT = "Full-time staff receive 26 days of annual leave a year. Unused days may not be carried over."
CHINESE = "全职员工每年享有年假10天。未休的年假不得结转到下一年。"


@pytest.fixture
def support() -> FeatureScorer:
    return open_default_scorer("default-support")


@pytest.fixture
def aligner(tmp_path: Path) -> TokenAligner:
    folder = make_tiny_encoder(tmp_path / "tiny", labels=0)
    config = ModelConfig(
        name="tiny",
        kind="embedder",
        family="bert",
        languages=("en",),
        license="CC0-1.0",
        context_length=48,
        dtype="float32",
        memory_gib=0.01,
        source=FolderSource(upstream="none"),
    )
    return TokenAligner(describe_folder(folder, config), device="cpu")


def model(features: tuple[str, ...], weights: tuple[float, ...]) -> LinearModel:
    n = len(features)
    return LinearModel(features=features, means=(0.0,) * n, scales=(1.0,) * n, weights=weights, intercept=0.0)


def entailment(scorer: FeatureScorer, text: str, claim: str) -> float:
    row = scorer.score([(text, claim)])[0]
    assert isinstance(row, dict)
    return row["entailment"]


@pytest.mark.parametrize("name", DEFAULT_SCORERS)
def test_shipped_data_names_known_features_and_its_sources(name: str) -> None:
    data = load_scorer_data(name)
    models = [*data.without_encoder.values(), *([data.with_encoder] if data.with_encoder else [])]
    known = {*LEXICAL, *CLAUSES} if data.task == "support" else {*LEXICAL, *ALIGNMENT}
    assert all(set(one.features) <= known for one in models)
    assert not any(set(one.features) & set(ALIGNMENT) for one in data.without_encoder.values())
    assert "*" in data.without_encoder
    sets = data.card["sets"]
    assert isinstance(sets, list)
    assert all(entry["license"] and entry["pairs_kept_for_reporting"] > 0 for entry in sets)


@pytest.mark.parametrize(
    ("text", "right", "wrong"),
    [
        (TEXT, "Staff receive 26 days of leave a year.", "Staff receive 31 days of leave a year."),
        (TEXT, "Unused days may not be carried over.", "Pension payments are made every quarter."),
        (CHINESE, "全职员工每年有10天年假。", "全职员工每年有15天年假。"),
        (CHINESE, "未休的年假不得结转。", "公司为员工提供免费午餐。"),
    ],
)
def test_what_the_text_says_is_more_supported_than_what_it_does_not(
    support: FeatureScorer, text: str, right: str, wrong: str
) -> None:
    assert entailment(support, text, right) > entailment(support, text, wrong)


@pytest.mark.parametrize(
    ("text", "right", "wrong"),
    [
        (
            "普通岗位的推荐奖为3000元，转正后发放，研发岗位为6000元。",
            "研发岗位的推荐奖为6000元。",
            "研发岗位的推荐奖为9000元。",
        ),
        (
            "普通岗位签3年合同，试用期3个月；研发岗位签5年合同，试用期6个月。",
            "研发岗位试用期6个月。",
            "研发岗位试用期9个月。",
        ),
        ("未休的年假不得结转到下一年。", "未休的年假不能结转到下一年。", "未休的年假可以结转到下一年。"),
        ("每月加班不得超过36小时。", "每月加班最多三十六小时。", "每月加班最多四十六小时。"),
        ("费用在30天内提交，由财务部审批。", "费用要在30天之内提交。", "费用要在30周之内提交。"),
    ],
)
def test_one_change_in_a_chinese_claim_takes_a_quarter_of_its_support(
    support: FeatureScorer, text: str, right: str, wrong: str
) -> None:
    assert entailment(support, text, right) > max(0.5, entailment(support, text, wrong) + 0.25)


def test_in_the_chinese_support_model_nothing_missing_or_elsewhere_ever_helps() -> None:
    model = load_scorer_data("default-support").without_encoder["zh"]
    weights = dict(zip(model.features, model.weights, strict=True))
    assert weights.pop("best_sentence") > 0
    assert all(weight < 0 for weight in weights.values())


def test_clauses_are_compared_only_for_a_model_that_reads_them() -> None:
    data = ScorerData(
        name="default-support",
        version="t",
        task="support",
        languages=("en", "zh"),
        without_encoder={"*": model(("has_figures",), (1.0,)), "zh": model(("denials_differ",), (-1.0,))},
        license="CC0-1.0",
    )
    denied = "未休的年假可以结转到下一年。"
    english, chinese = FeatureScorer(data).features([(TEXT, "Staff receive leave."), (CHINESE, denied)])
    assert set(english) == set(LEXICAL)
    assert set(chinese) == {*LEXICAL, *CLAUSES}
    assert chinese["denials_differ"] == clause_features(CHINESE, denied)[CLAUSES.index("denials_differ")] == 1


def test_support_knows_no_contradiction_and_sums_to_one(support: FeatureScorer) -> None:
    row = support.score([(TEXT, "Staff receive leave.")])[0]
    assert isinstance(row, dict)
    assert set(row) == {"entailment", "neutral"}
    assert sum(row.values()) == pytest.approx(1.0)


def test_rows_come_in_the_order_of_the_pairs_and_repeats_are_equal(support: FeatureScorer) -> None:
    pairs = [(TEXT, "Staff receive 26 days."), (CHINESE, "员工有年假。"), (TEXT, "Staff receive 26 days.")]
    rows = support.score(pairs)
    assert rows[0] == rows[2]
    assert rows[::-1] == support.score(pairs[::-1])
    assert rows[1] == support.score(pairs[1:2])[0]


def test_the_probability_is_the_logistic_of_the_weighted_features() -> None:
    # Standardised: (3 - 1) / 2 = 1 times .5, (0 - 1) / 1 = -1 times 2, intercept .5: log odds -1, so 1 / (1 + e).
    one = LinearModel(features=("a", "b"), means=(1.0, 1.0), scales=(2.0, 1.0), weights=(0.5, 2.0), intercept=0.5)
    assert one.probability({"a": 3.0, "b": 0.0}) == pytest.approx(1 / (1 + 2.718281828459045))


def test_answerability_takes_the_query_first() -> None:
    data = ScorerData(
        name="default-answerability",
        version="t",
        task="answerability",
        languages=("en", "zh"),
        without_encoder={"*": model(("content_words",), (1.0,))},
        license="CC0-1.0",
    )
    query = "annual leave bonus"  # two of its three content words stand in the passage
    row = FeatureScorer(data).score([(query, TEXT)])[0]
    expected = data.without_encoder["*"].probability({"content_words": lexical_features(TEXT, query)[0]})
    assert row == {"score": pytest.approx(expected)}
    assert lexical_features(TEXT, query)[0] == pytest.approx(2 / 3)


def test_each_language_gets_its_own_model_and_english_the_token_vectors(aligner: TokenAligner) -> None:
    data = ScorerData(
        name="default-answerability",
        version="t",
        task="answerability",
        languages=("en", "zh"),
        base_embedder="tiny",
        with_encoder=model(("token_mean",), (0.0,)),
        without_encoder={"*": model(("has_figures",), (100.0,)), "zh": model(("has_figures",), (-100.0,))},
        license="CC0-1.0",
    )
    scorer = FeatureScorer(data, aligner=aligner)
    rows = scorer.score([("26 days of leave?", TEXT), ("年假是10天吗？", CHINESE), ("年休は10日ですか", TEXT)])
    assert [round(row["score"], 6) for row in rows if isinstance(row, dict)] == [0.5, 0.0, 1.0]
    assert scorer.languages == ("en", "zh")


def test_every_token_of_the_text_finds_itself_and_a_swapped_one_does_not(aligner: TokenAligner) -> None:
    same, swapped = aligner.features(
        [("staff receive leave", "staff receive leave"), ("staff receive leave", "staff receive pay")]
    )
    assert same == pytest.approx((1.0,) * len(ALIGNMENT), abs=1e-5)
    assert swapped[ALIGNMENT.index("token_least")] < 0.99


@pytest.mark.parametrize(
    "sentence", ["The passage is about public holidays in england.", "员工每年享有年假，不可以结转。"]
)
def test_a_long_text_is_read_to_its_end_in_windows_that_fit(aligner: TokenAligner, sentence: str) -> None:
    text = " ".join([sentence] * 60) + " leave" * 90
    windows = aligner.windows(text)
    assert "".join("".join(windows).split()) == "".join(text.split())
    assert all(len(aligner.token_ids(window)) <= 48 for window in windows)
    assert len(aligner.features([(text, sentence)])[0]) == len(ALIGNMENT)


def test_an_enormous_pair_fails_and_says_so(support: FeatureScorer) -> None:
    row = support.score([("x" * 1_000_001, "claim")])[0]
    assert isinstance(row, Failure)
    assert row.reason == "prompt_too_long"


def test_names_are_resolved_and_unknown_ones_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("OFFLINE_EVAL_HOME", str(tmp_path))
    engine = open_pair_scorer("default-answerability")
    assert engine.info.options["encoder"] is None  # the base embedder is not installed here
    with pytest.raises(UnknownNameError):
        open_pair_scorer("default-suport")
    with pytest.raises(ModelError, match="models fetch all-minilm-l6-v2"):
        open_default_scorer("default-answerability", with_encoder=True)


def test_the_fingerprint_moves_with_the_embedder(aligner: TokenAligner) -> None:
    data = load_scorer_data("default-answerability")
    assert FeatureScorer(data).info.fingerprint != FeatureScorer(data, aligner=aligner).info.fingerprint
