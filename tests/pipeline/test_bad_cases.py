"""The bad-case library: what goes in, what is kept across runs, and what comes out as a test set."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from offline_eval.core.bad_case import BadCase, Sighting
from offline_eval.core.errors import DataError, UsageError
from offline_eval.core.records import Case, Response
from offline_eval.formats.reader import read_cases, read_responses
from offline_eval.formats.writer import write_cases, write_responses
from offline_eval.pipeline.bad_cases import Wanted, regression_set, select
from offline_eval.store.case_library import merge, read_library, write_library
from tests.support.scored_sides import FAILED, make_side


def bad(id: str = "c1", *, query: str = "年假有几天？", run: str = "r1", system: str = "ours", **more) -> BadCase:
    response = Response(case_id=id, system=system, answer="十五天")
    return BadCase(
        case=Case(id=id, query=query),
        sightings=(Sighting(run_id=run, system=system, response=response, why="low", **more),),
    )


def ids(found) -> list[str]:
    return [one.case.id for one in found]


def test_failed_and_low_responses_are_taken_the_worst_first_and_good_ones_are_not():
    side = make_side({"faithfulness": [0.9, 0.4, FAILED, 0.1, None, 0.5]})
    found = select(side, Wanted())
    assert ids(found) == ["c002", "c003", "c001"]  # the middle of the range is .5
    assert [one.sightings[0].why for one in found] == ["failed", "low", "low"]
    assert found[0].sightings[0].failures == {"faithfulness": "time_limit"}
    assert ids(select(side, Wanted(worst=1))) == ["c002"]
    assert ids(select(side, Wanted(limits={"faithfulness": 0.2}))) == ["c002", "c003"]
    assert ids(select(side, Wanted(cases=("c000",), note="looks odd"))) == ["c000"]


def test_where_lower_is_better_high_values_are_low_scoring():
    side = make_side({"hallucination": [0.9, 0.1, 0.6]})
    assert ids(select(side, Wanted())) == ["c000", "c002"]


def test_names_the_run_does_not_have_are_refused():
    side = make_side({"faithfulness": [0.9]})
    with pytest.raises(UsageError, match="mrr: not a metric of this run"):
        select(side, Wanted(limits={"mrr": 0.5}))
    with pytest.raises(UsageError, match="no response of ours to case 'zz'"):
        select(side, Wanted(cases=("zz",)))


def test_causes_come_from_the_diagnosis_and_can_be_asked_for():
    cases = [Case(id="c0", query="?", relevant_passages={"p": 1}, answerable=True), Case(id="c1", query="?")]
    side = make_side({"faithfulness": [0.9, 0.1]}, cases=cases, owners=["c0", "c1"])
    found = select(side, Wanted(faulty=True))  # c0's expected passage did not come
    assert sorted(ids(found)) == ["c0", "c1"]
    chosen = select(side, Wanted(faulty=True, tags=("retrieval_miss",)))
    assert ids(chosen) == ["c0"]
    sighting = chosen[0].sightings[0]
    assert (sighting.why, sighting.tags, sighting.fault) == ("faulty", ("retrieval_miss",), "retrieval")
    assert "retrieval brought 0 %" in sighting.reasons[0]


def test_a_case_seen_in_two_runs_is_kept_once_with_both_sightings(tmp_path: Path):
    path = tmp_path / "library" / "bad.jsonl"
    write_library(merge([], [bad(run="r1", tags=("noise",))]), path)
    write_library(merge(read_library(path), [bad(run="r2", tags=("invention",))]), path)
    again = merge(read_library(path), [bad(run="r2", tags=("invention", "noise"))])  # adding a run again replaces it
    write_library(again, path)
    (found,) = read_library(path)
    assert [sighting.run_id for sighting in found.sightings] == ["r1", "r2"]
    assert found.tags == ("noise", "invention")
    assert "年假有几天" in path.read_text("utf-8")  # people read this file


def test_a_changed_question_under_the_same_id_is_another_case_and_both_can_be_exported():
    library = merge([bad(query="年假有几天？")], [bad(query="病假有几天？")])
    chosen = regression_set(library)
    assert len({case.id for case, _ in chosen}) == 2
    assert all(case.id.startswith("c1-") and response.case_id == case.id for case, response in chosen)


def test_an_exported_set_is_read_back_as_it_was_with_its_causes_as_tags(tmp_path: Path):
    case = Case(
        id="请假-1",
        query="年假有几天？\u2028第二行",
        reference="15天",
        key_points=("15天",),
        relevant_passages={"p1": 2},
        answerable=True,
        tags=("leave",),
        metadata={"来源": "手册"},
    )
    response = Response(case_id="请假-1", system="ours", answer="十五天", error=None)
    known = [
        BadCase(
            case=case, sightings=(Sighting(run_id="r", system="ours", response=response, why="low", tags=("noise",)),)
        )
    ]
    write_library(known, tmp_path / "bad.jsonl")
    chosen = regression_set(read_library(tmp_path / "bad.jsonl"), tags=("noise",))
    write_cases((case for case, _ in chosen), tmp_path / "set.jsonl")
    write_responses((response for _, response in chosen), tmp_path / "answers.jsonl")
    (again,) = read_cases(tmp_path / "set.jsonl")
    assert again == case.model_copy(update={"tags": ("leave", "cause:noise")})
    assert read_responses(tmp_path / "answers.jsonl", cases=[again]) == [response]
    assert regression_set(known, tags=("invention",)) == []


def test_lines_that_are_no_bad_cases_are_all_named(tmp_path: Path):
    path = tmp_path / "bad.jsonl"
    write_library([bad()], path)
    path.write_text(path.read_text("utf-8") + '{"x": 1}\nnonsense\n', "utf-8")
    with pytest.raises(DataError) as refusal:
        read_library(path)
    assert "bad.jsonl:2: not a bad case" in str(refusal.value)
    assert "bad.jsonl:3: not a bad case" in str(refusal.value)
    assert read_library(tmp_path / "none.jsonl") == []


@settings(max_examples=30)
@given(st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from("xyz"), st.sampled_from("12")), max_size=8))
def test_merging_keeps_every_sighting_once_in_whatever_portions_it_comes(places):
    found = [bad(id, run=run, system=system) for id, run, system in places]
    at_once = merge([], found)
    one_by_one: list[BadCase] = []
    for one in found:
        one_by_one = merge(one_by_one, [one])
    assert at_once == one_by_one
    assert sum(len(one.sightings) for one in at_once) == len(set(places))
