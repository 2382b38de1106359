"""The demo's data keep every promise its README makes."""

import ast
import json
import operator
import re
from collections import Counter
from importlib.resources import files
from pathlib import Path

import pytest

from offline_eval.core.records import Case, Passage, Response

DEMO = Path(str(files("offline_eval.demo")))
SYSTEMS = ("careful", "hasty")
FAULTS = {
    "invented_number",
    "contradicts_passage",
    "missing_key_points",
    "off_topic",
    "wrong_citation",
    "retrieval_miss",
    "answered_instead_of_refusing",
    "refused_answerable",
}
REFUSALS = re.compile(
    "could not find|no information|do not say|don't have information"
    "|抱歉|对不起|资料中没有|现有资料没有|没有提到|无法回答|无法确定"
)
FACTORS = {"2", "12", "100", "10000"}  # half, months in a year, percent, 万
OPERATORS = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv}


def lines(name: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in (DEMO / name).read_text("utf-8").splitlines()]


PASSAGES = {passage.id: passage for passage in map(Passage.model_validate, lines("passages.jsonl"))}
CASES = {case.id: case for case in map(Case.model_validate, lines("cases.jsonl"))}
RESPONSES = {system: [Response.model_validate(row) for row in lines(f"answers-{system}.jsonl")] for system in SYSTEMS}
ALL_RESPONSES = [response for system in SYSTEMS for response in RESPONSES[system]]


def numbers(text: str) -> set[str]:
    """Numbers as written, without thousands separators; `15:00` is one number."""
    return set(re.findall(r"\d+(?:[.:]\d+)?", re.sub(r"(?<=\d),(?=\d{3})", "", text)))


def prose(response: Response) -> str:
    """The answer without its citation marks."""
    return re.sub(r"[\[【]\d+[\]】]", "", response.answer)


def fault(response: Response) -> str | None:
    value = response.metadata.get("fault")
    return None if value is None else str(value)


def faulty(name: str) -> list[Response]:
    return [response for response in ALL_RESPONSES if fault(response) == name]


def needed(case: Case) -> set[str]:
    """Passages that state the answer."""
    return {passage for passage, grade in case.relevant_passages.items() if grade == 2}


def shown_numbers(response: Response) -> set[str]:
    return set().union(*(numbers(passage.text) for passage in response.passages))


def value(expression: str) -> float:
    def walk(node: ast.expr) -> float:
        if isinstance(node, ast.BinOp):
            return float(OPERATORS[type(node.op)](walk(node.left), walk(node.right)))
        assert isinstance(node, ast.Constant)
        assert isinstance(node.value, int | float)
        return float(node.value)

    return walk(ast.parse(expression, mode="eval").body)


def derivations(case: Case) -> dict[str, str]:
    derived = case.metadata.get("derived", {})
    assert isinstance(derived, dict)
    return {number: str(expression) for number, expression in derived.items()}


def test_ids_are_unique() -> None:
    assert len(PASSAGES) == len(lines("passages.jsonl"))
    assert len(CASES) == len(lines("cases.jsonl"))


def test_there_are_enough_passages_in_each_language() -> None:
    languages = Counter(passage.metadata["language"] for passage in PASSAGES.values())
    assert languages == {"en": 32, "zh": 33}


@pytest.mark.parametrize("passage", PASSAGES.values(), ids=lambda passage: passage.id)
def test_every_passage_stands_verbatim_in_its_document(passage: Passage) -> None:
    document = (DEMO / "handbook" / f"{passage.doc_id}.md").read_text("utf-8")
    assert f"\n{passage.text}\n" in document
    assert passage.title is not None
    assert all(part in document for part in re.split(r": |：", passage.title))


def test_every_section_of_the_handbook_is_a_passage() -> None:
    sections = [path.read_text("utf-8").count("\n## ") for path in DEMO.glob("handbook/*/*.md")]
    assert sum(sections) == len(PASSAGES)


def test_some_documents_exist_in_one_language_only() -> None:
    english, chinese = ({path.stem for path in DEMO.glob(f"handbook/{language}/*.md")} for language in ("en", "zh"))
    assert english - chinese == {"remote-work"}
    assert chinese - english == {"attendance", "dormitory", "lab-safety"}


def test_cases_cover_languages_query_types_and_unanswerable_questions() -> None:
    assert Counter(case.language for case in CASES.values()) == {"en": 40, "zh": 40}
    for language in ("en", "zh"):
        own = [case for case in CASES.values() if case.language == language]
        types = Counter(case.query_type for case in own)
        assert set(types) == {"factual", "comparison", "reasoning", "open", "multi-hop", "conditional"}
        assert min(types.values()) >= 3
        assert {case.difficulty for case in own} == {"easy", "medium", "hard"}
        assert sum(case.answerable is False for case in own) == 6
        assert any(case.variants for case in own)
        assert any("false-premise" in case.tags for case in own)
        assert any("cross-language" in case.tags for case in own)


@pytest.mark.parametrize("case", CASES.values(), ids=lambda case: case.id)
def test_what_is_known_about_a_case_is_complete(case: Case) -> None:
    assert set(case.relevant_passages) <= set(PASSAGES)
    assert set(case.relevant_passages.values()) <= {1, 2}
    best: dict[str, int] = {}
    for passage, grade in case.relevant_passages.items():
        document = str(PASSAGES[passage].doc_id)
        best[document] = max(grade, best.get(document, 0))
    assert case.relevant_documents == best
    assert bool(case.reference) == bool(case.key_points) == bool(needed(case)) == bool(case.answerable)
    if case.query_type in {"open", "multi-hop", "reasoning", "comparison"} and case.answerable:
        assert 2 <= len(case.key_points) <= 5
    if case.query_type == "open":
        assert len(case.key_points) >= 4


def test_most_answerable_cases_have_three_to_five_key_points() -> None:
    counts = [len(case.key_points) for case in CASES.values() if case.answerable]
    assert max(counts) == 5
    assert sum(count >= 3 for count in counts) > 0.7 * len(counts)


@pytest.mark.parametrize("case", CASES.values(), ids=lambda case: case.id)
def test_numbers_of_a_key_point_stand_in_a_passage_the_query_or_a_sum_shown(case: Case) -> None:
    known = numbers(case.query) | set(derivations(case))
    for point in case.key_points:
        assert any(numbers(point) <= numbers(PASSAGES[one].text) | known for one in case.relevant_passages), point


@pytest.mark.parametrize("case", [case for case in CASES.values() if derivations(case)], ids=lambda case: case.id)
def test_sums_come_out_and_use_given_numbers_only(case: Case) -> None:
    given = numbers(case.query).union(*(numbers(PASSAGES[one].text) for one in needed(case)), FACTORS)
    for result, expression in derivations(case).items():
        assert value(expression) == float(result)
        assert numbers(expression) <= given


@pytest.mark.parametrize("system", SYSTEMS)
def test_each_system_answers_every_case_once(system: str) -> None:
    assert [response.case_id for response in RESPONSES[system]] == list(CASES)
    assert {response.system for response in RESPONSES[system]} == {system}
    assert all(3 <= len(response.passages) <= 5 for response in RESPONSES[system])


@pytest.mark.parametrize("response", ALL_RESPONSES, ids=lambda response: response.key)
def test_embedded_passages_and_citations_agree(response: Response) -> None:
    ids = [passage.id for passage in response.passages]
    assert len(set(ids)) == len(ids)
    for passage in response.passages:
        own = PASSAGES[passage.id]
        assert (passage.text, passage.title, passage.doc_id) == (own.text, own.title, own.doc_id)
    marks = [ids[int(mark) - 1] for mark in re.findall(r"[\[【](\d+)[\]】]", response.answer)]
    assert response.citations == tuple(dict.fromkeys(marks))


def test_faults_occur_as_often_as_the_readme_says() -> None:
    readme = (DEMO / "README.md").read_text("utf-8")
    table = re.findall(r"^\| `(\w+)` \| .* \| (\d+) \| (\d+) \|$", readme, re.MULTILINE)
    promised = {name: (int(careful), int(hasty)) for name, careful, hasty in table}
    counted = {system: Counter(filter(None, map(fault, RESPONSES[system]))) for system in SYSTEMS}
    assert set(promised) == FAULTS | {"empty_answer"} == set(counted["careful"]) | set(counted["hasty"])
    assert promised == {name: (counted["careful"][name], counted["hasty"][name]) for name in promised}
    assert counted["careful"].total() == 8
    assert counted["hasty"].total() == 55
    assert "careful`: mostly right, 8 faulty" in readme
    assert "`hasty`: 55 faulty" in readme


@pytest.mark.parametrize("name", sorted(FAULTS))
@pytest.mark.parametrize("language", ["en", "zh"])
def test_hasty_has_every_main_fault_three_times_in_each_language(name: str, language: str) -> None:
    own = [one for one in RESPONSES["hasty"] if fault(one) == name and CASES[one.case_id].language == language]
    assert len(own) >= 3


def test_faultless_answers_hold_only_numbers_that_were_given() -> None:
    for response in ALL_RESPONSES:
        if fault(response) is None:
            case = CASES[response.case_id]
            known = shown_numbers(response) | numbers(case.query) | set(derivations(case))
            assert numbers(prose(response)) <= known, response.key


def test_faultless_answers_to_answerable_cases_were_shown_and_cite_what_states_the_answer() -> None:
    for response in ALL_RESPONSES:
        case = CASES[response.case_id]
        if fault(response) is None and case.answerable:
            assert needed(case) <= {passage.id for passage in response.passages}
            assert needed(case) & set(response.citations)
            assert set(response.citations) <= set(case.relevant_passages)


def test_faultless_answers_to_unanswerable_cases_refuse_or_correct_the_premise() -> None:
    refusals = [one for one in ALL_RESPONSES if fault(one) is None and CASES[one.case_id].answerable is False]
    assert len(refusals) == 15  # careful 12 - 1, hasty 12 - 8
    assert len({one.answer for one in refusals}) == 15
    for response in refusals:
        corrects = "false-premise" in CASES[response.case_id].tags
        assert bool(response.citations) == corrects


def test_invented_numbers_stand_in_no_passage_shown() -> None:
    for response in faulty("invented_number"):
        case = CASES[response.case_id]
        assert numbers(prose(response)) - shown_numbers(response) - numbers(case.query) - set(derivations(case))


def test_wrong_citations_miss_every_relevant_passage_although_it_was_shown() -> None:
    for response in faulty("wrong_citation"):
        relevant = CASES[response.case_id].relevant_passages
        assert response.citations
        assert not set(response.citations) & set(relevant)
        assert set(relevant) <= {passage.id for passage in response.passages}


def test_retrieval_misses_lack_a_passage_that_states_the_answer() -> None:
    for response in faulty("retrieval_miss"):
        assert needed(CASES[response.case_id]) - {passage.id for passage in response.passages}


def test_contradictions_cite_the_passage_they_contradict() -> None:
    for response in faulty("contradicts_passage"):
        assert set(response.citations) & needed(CASES[response.case_id])


def test_missing_key_points_are_short_true_answers() -> None:
    for response in faulty("missing_key_points"):
        case = CASES[response.case_id]
        assert len(case.key_points) >= 3
        assert len(prose(response)) < 0.6 * len(str(case.reference))
        assert numbers(prose(response)) <= shown_numbers(response) | numbers(case.query)


def test_off_topic_answers_cite_nothing_relevant() -> None:
    for response in faulty("off_topic"):
        assert response.citations
        assert not set(response.citations) & set(CASES[response.case_id].relevant_passages)


def test_wrong_refusals_were_shown_the_answer() -> None:
    for response in faulty("refused_answerable"):
        case = CASES[response.case_id]
        assert case.answerable
        assert REFUSALS.search(response.answer)
        assert needed(case) <= {passage.id for passage in response.passages}


def test_answers_instead_of_refusals_are_to_unanswerable_cases() -> None:
    for response in faulty("answered_instead_of_refusing"):
        assert CASES[response.case_id].answerable is False
        assert response.answer
        assert not REFUSALS.search(response.answer)


def test_exactly_one_answer_is_empty_and_says_so() -> None:
    empty = [response for response in ALL_RESPONSES if not response.answer]
    assert [(one.system, fault(one)) for one in empty] == [("hasty", "empty_answer")]
