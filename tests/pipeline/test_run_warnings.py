"""Warnings: in the language of the report, with the same numbers, and old runs keep what they have."""

import re
from pathlib import Path

import pytest

from offline_eval.core.diagnosis import Text
from offline_eval.core.protocols import Item
from offline_eval.pipeline.aggregate import Results, summarize, warnings_of
from offline_eval.pipeline.config import family_warnings
from offline_eval.pipeline.judge_counts import collapsed_judges
from offline_eval.pipeline.report_frame import report_frame
from offline_eval.pipeline.response_details import response_details
from offline_eval.pipeline.run_warnings import SCRIPTED, UNFINISHED, not_made_for, read_stored, stored_form, unanswered
from offline_eval.report.html import render
from tests.support.panel_runs import make_case, make_config, make_response, many, scored, start


def _every() -> list[Text]:
    cases, responses = many(7)
    items = [Item(case=cases[0], response=responses[0])]
    return [
        SCRIPTED,
        UNFINISHED,
        not_made_for("qwen", spoken=["zh", "en"], lacking=["de"]),
        *unanswered(cases, items),
        *unanswered(cases, []),
        *family_warnings({"a": "llama", "b": "llama"}, [make_response(metadata={"family": "llama"})]),
        *collapsed_judges([scored("faithfulness", 3) for _ in range(12)]),
    ]


@pytest.mark.parametrize("text", _every())
def test_both_languages_say_the_same_numbers(text: Text) -> None:
    assert re.search(r"[\u4e00-\u9fff]", text.zh)
    assert text.en.isascii() or "…" in text.en
    assert sorted(re.findall(r"\d+", text.zh)) == sorted(re.findall(r"\d+", text.en))


def test_cases_without_a_response_are_counted_and_five_are_named() -> None:
    cases, responses = many(7)
    found = list(unanswered(cases, [Item(case=cases[0], response=responses[0])]))
    named = ", ".join(case.id for case in cases[1:6])
    assert [text.en for text in found] == [
        f"{responses[0].system} has no response for 6 of 7 cases ({named}, …): they are in none of its means"
    ]


def test_what_is_stored_is_read_back_and_old_runs_keep_their_english() -> None:
    assert read_stored(stored_form([SCRIPTED, UNFINISHED])) == (SCRIPTED, UNFINISHED)
    assert read_stored({"warnings": ["odd"]}) == (Text(en="odd", zh="odd"),)
    assert read_stored({}) == ()


def test_a_report_warns_in_its_language(tmp_path: Path) -> None:
    run_file = start(tmp_path / "r.sqlite", make_config(), [make_case(), make_case("c2")], [make_response()])
    results = Results(run_file)
    assert summarize(results).warnings == tuple(text.en for text in warnings_of(results))
    frame = report_frame(results)
    for language, shown, hidden in (("zh", "本次运行尚未完成", "not finished"), ("en", "not finished", "尚未完成")):
        page = render(frame, response_details(results, frame), language=language)
        assert shown in page
        assert hidden not in page
