"""What a test set is made of, in numbers with their counts, in English and Chinese."""

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from offline_eval.core.errors import DataError
from offline_eval.core.records import Case, Passage
from offline_eval.formats.writer import write_cases
from offline_eval.stats.power import half_width, smallest_difference
from offline_eval.testset.statistics import lexical_distance, set_statistics
from offline_eval.testset.statistics_text import _WORDS, statistics_sections
from tests.support.cli import offline_eval

CASES = [
    Case(id="1", query="Who approves travel costs?", query_type="factual", difficulty="easy",
         relevant_passages={"p": 1, "zero": 0}, answerable=True),
    Case(id="2", query="travel insurance", query_type="factual", relevant_passages={"p": 1}),
    Case(id="3", query="为什么要提前申请年假？", relevant_passages={"gone": 1}, answerable=False),
    Case(id="4", query="报销需要什么材料？", query_type="factual", relevant_passages={"zh": 1, "p": 1}, origin="log"),
]  # fmt: skip
PASSAGES = {
    "p": Passage(id="p", title="Travel", text="The head of finance approves the costs."),
    "zero": Passage(id="zero", text="Who approves travel costs?"),
    "zh": Passage(id="zh", text="报销需要发票等材料。"),
}


def test_distance_is_the_share_of_content_words_the_passage_lacks() -> None:
    # approves, travel, costs: all in title and text.
    assert lexical_distance("Who approves travel costs?", "Travel\nThe head of finance approves the costs.") == 0
    assert lexical_distance("travel insurance", "Travel by train") == 0.5
    assert lexical_distance("what is it?", "anything") is None


@settings(max_examples=40)
@given(st.text("abc 年假报销", max_size=12), st.text("abc 年假报销", max_size=12))
def test_distance_is_a_share_and_none_to_itself(question: str, passage: str) -> None:
    value = lexical_distance(question, passage)
    assert value is None or 0 <= value <= 1
    assert lexical_distance(question, question) in (0, None)
    more = lexical_distance(question, f"{passage} {question}")
    assert more is None or (value is not None and more <= value)


def test_shares_and_distances_carry_their_counts() -> None:
    found = set_statistics(CASES, passages=PASSAGES, low=1, high=3)
    shares = {(share.property, share.value): (share.n, share.share) for share in found.shares}
    assert shares["type", "factual"] == (3, 0.75)
    assert shares["type", "reasoning"] == (1, 0.25)
    assert shares["difficulty", "–"] == (3, 0.75)
    assert shares["language", "zh"] == (2, 0.5)
    assert shares["answerable", "no"] == (1, 0.25)
    assert shares["origin", "log"] == (1, 0.25)
    assert (found.n_cases, found.guessed_types, found.no_passage) == (4, 1, 1)
    total, factual = found.distances
    # 0 for the first, 1/2 for the second, 0 for the fourth (its Chinese passage is the nearest): .5 / 3.
    assert (total.group, total.n, factual.group) == ("all", 3, "factual")
    assert total.mean == pytest.approx(0.5 / 3)
    assert total.interval is None  # three cases are too few for one
    assert total.reason
    assert set_statistics(CASES, low=1, high=3).distances == ()


def test_what_can_be_detected_follows_from_size_and_spread() -> None:
    cases = [Case(id=str(n), query="Q?", query_type="factual" if n < 90 else "open") for n in range(120)]
    total, factual, rest = set_statistics(cases, low=1, high=3, sd=0.5, sd_difference=0.6).detectable
    assert (total.n, factual.n, rest.n) == (120, 90, 30)
    assert total.smallest_difference == smallest_difference(120, 0.6)
    assert rest.half_width == half_width(30, 0.5)
    assert (total.enough, total.wanted, rest.enough, rest.wanted) == (True, 100, True, 20)
    formal = set_statistics(cases, low=1, high=3, formal=True).detectable[0]
    assert (formal.enough, formal.wanted) == (False, 300)
    assert formal.smallest_difference is not None
    assert total.smallest_difference is not None
    assert formal.smallest_difference > total.smallest_difference
    with pytest.raises(DataError):
        set_statistics(cases, low=3, high=1)


def test_sections_speak_both_languages() -> None:
    found = set_statistics(CASES, passages=PASSAGES, low=1, high=3)
    assert _WORDS["en"].keys() == _WORDS["zh"].keys()
    english, chinese = (statistics_sections(found, language=language) for language in ("en", "zh"))
    assert [len(section.rows) for section in english] == [len(section.rows) for section in chinese]
    assert chinese[0].title == "测试集构成"
    assert ("类型", "factual", "3", "75 %") in chinese[0].rows
    assert all(len(row) == len(section.columns) for section in english for row in section.rows)


def test_the_command_prints_a_table_and_json(tmp_path: Path) -> None:
    write_cases(CASES, tmp_path / "cases.jsonl")
    rows = "".join(json.dumps(p.model_dump(mode="json", exclude_defaults=True)) + "\n" for p in PASSAGES.values())
    (tmp_path / "corpus.jsonl").write_text(rows)
    arguments = ("testset", "stats", "cases.jsonl", "--corpus", "corpus.jsonl")
    shown = offline_eval(*arguments, "--lang", "zh", cwd=tmp_path)
    assert shown.returncode == 0, shown.stderr
    assert "能看出多大的差异" in shown.stdout
    data = json.loads(offline_eval(*arguments, "--format", "json", cwd=tmp_path).stdout)
    assert (data["n_cases"], data["distances"][0]["n"]) == (4, 3)


def test_what_lies_beyond_the_range_is_no_figure() -> None:
    # 2 cases, range 1-3: (12.706 + 1.376) * sqrt 2 / sqrt 2 = 14.1 > 2, and 12.706 * 1 / sqrt 2 = 8.98 > 1.
    cases = [Case(id=str(n), query="Q?", query_type="factual") for n in range(2)]
    total = set_statistics(cases, low=1, high=3).detectable[0]
    assert (total.smallest_difference, total.difference_reason) == (None, "none_within_range")
    assert (total.half_width, total.half_width_reason) == (None, "none_within_range")
    [one, *_] = set_statistics(cases[:1], low=1, high=3).detectable
    assert (one.smallest_difference, one.difference_reason) == (None, "too_few_cases")
    assert (one.half_width, one.half_width_reason) == (None, "too_few_cases")
    # A small measured spread keeps both within the range: 14.08 * .1 / sqrt 2 = .996, 12.706 * .1 / sqrt 2 = .898.
    [near, *_] = set_statistics(cases, low=1, high=3, sd=0.1, sd_difference=0.1).detectable
    assert (near.smallest_difference, near.difference_reason) == (pytest.approx(0.99576, abs=1e-4), None)
    assert (near.half_width, near.half_width_reason) == (pytest.approx(0.89846, abs=1e-4), None)
    # The difference may be as large as the range, the half width as half of it: .996 is within 1, .898 not within .5.
    [narrow, *_] = set_statistics(cases, low=0, high=1, sd=0.1, sd_difference=0.1).detectable
    assert (narrow.difference_reason, narrow.half_width_reason) == (None, "none_within_range")
    shown = [statistics_sections(set_statistics(cases, low=1, high=3), language=lang) for lang in ("en", "zh")]
    assert shown[0][-1].rows[0][2:4] == ("none within the range", "none within the range")
    assert shown[1][-1].rows[0][2:4] == ("范围内没有", "范围内没有")


@given(st.integers(1, 400), st.floats(0, 10), st.floats(0, 10))
def test_every_figure_is_within_the_range_or_has_a_reason(n: int, sd: float, sd_difference: float) -> None:
    cases = [Case(id=str(k), query="Q?", query_type="factual") for k in range(n)]
    for found in set_statistics(cases, low=1, high=3, sd=sd, sd_difference=sd_difference).detectable:
        for value, reason, most in (
            (found.smallest_difference, found.difference_reason, 2),
            (found.half_width, found.half_width_reason, 1),
        ):
            assert (value is None) == (reason is not None)
            assert value is None or 0 <= value <= most


def test_the_wanted_mix_is_shown_beside_the_type() -> None:
    made = [
        Case(id="a", query="假设是二十元呢？", query_type="conditional", origin="generated", tags=("counterfactual",)),
        Case(id="b", query="Who?", origin="generated", tags=("unanswerable", "unreviewed")),
        Case(id="c", query="Why?", origin="generated", tags=("multi-hop",)),
        Case(id="d", query="Where?", origin="generated", tags=("multi-hop",)),
        Case(id="e", query="Who pays?", origin="log", tags=("log", "simple")),
    ]  # fmt: skip
    shares = [
        (share.value, share.n, share.share)
        for share in set_statistics(made, low=1, high=3).shares
        if share.property == "generated_type"
    ]
    assert shares == [("multi-hop", 2, 0.4), ("counterfactual", 1, 0.2), ("unanswerable", 1, 0.2), ("–", 1, 0.2)]
    assert "generated_type" not in {share.property for share in set_statistics(CASES, low=1, high=3).shares}
    assert ("生成类型", "multi-hop", "2", "40 %") in statistics_sections(
        set_statistics(made, low=1, high=3), language="zh"
    )[0].rows
