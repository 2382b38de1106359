"""Loops, echoes, statements and cut pieces are told from questions that people ask, in both languages."""

import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from offline_eval.core.protocols import GenerateRequest, Generation, ObjectTail
from offline_eval.core.records import Passage
from offline_eval.testset.asking import asks
from offline_eval.testset.draft import QUESTION_TYPES, Draft
from offline_eval.testset.prompts import PromptLanguage, load_prompts, step_request
from offline_eval.testset.readable import echoed_share, has_mark, is_cut_off, repeated_share, repeats_a_mark
from offline_eval.testset.surface_checks import Thresholds, answer_checks, question_checks
from offline_eval.testset.writing import written_object
from tests.testset.hand_drafts import hand_drafts, handbook

DATA = os.environ.get("OFFLINE_EVAL_PUBLIC_DATA")
LIMITS = Thresholds()
PASSAGE = Passage(id="p", text="Full-time staff receive 26 days of leave a year, part-time staff a share of it.")
PASSAGE_ZH = Passage(id="p", text="员工累计工作满一年的，每年享有年休假五天。非全日制员工按比例计算。")


def _draft(query: str, language: str = "en", **case: object) -> Draft:
    known = {"id": "d", "query": query, "language": language, "relevant_passages": {"p": 2}, **case}
    return Draft.model_validate({"id": "d", "type": "simple", "sources": ["p"], "case": known})


def _objection(draft: Draft) -> str | None:
    passage = PASSAGE_ZH if draft.case.language == "zh" else PASSAGE
    checks = question_checks(draft, thresholds=LIMITS, find={"p": passage}.get)
    if checks[-1].outcome != "rejected":
        checks = answer_checks(draft, thresholds=LIMITS, find={"p": passage}.get, wants_reference=True)
    return checks[-1].reason


@pytest.mark.parametrize(
    ("query", "language", "reason"),
    [
        ("1.1.1.2.1.1.1.1.1.1.1.1.1.1.1.1.1.1.1.1?", "en", "repetitive"),
        ("The fact is that the fact is that the fact is that the fact is that, why?", "en", "repetitive"),
        ("How to be clear, contextual, and specific: How to be clear, contextual, and specific", "en", "repetitive"),
        ("年休假年休假年休假年休假有几天？", "zh", "repetitive"),
        ("f84eb463a42d end ===, what is it?", "en", "prompt_echo"),
        ("请写出 JSON 对象的内容用中文。", "zh", "prompt_echo"),
        ("Write one question that the passage answers; do not mention it.", "en", "prompt_echo"),
        ("How long can I keep a borrowed book if the desk extends the loan?", "en", "prompt_echo"),
        ("周五最晚几点还能办理续借？", "zh", "prompt_echo"),
        ("How long does it take to get a book back a week late?", "en", "prompt_echo"),
        ("确定是否有什么！！！！！！！！！！", "zh", "repetitive"),
        ("按什么顺序！", "zh", "prompt_echo"),
        ("Part-time employees have a smaller entitlement.", "en", "no_question"),
        ("非全日制员工的假期较少。", "zh", "no_question"),
    ],
)
def test_what_is_no_question_is_thrown_out_for_its_reason(query: str, language: str, reason: str) -> None:
    assert _objection(_draft(query, language)) == reason


@pytest.mark.parametrize(
    ("query", "language"),
    [
        ("What is the holiday entitlement of somebody working half the week?", "en"),
        ("If I work half the week, how many days off do I get", "en"),
        ("List the kinds of leave that a trainee may take.", "en"),
        ("Does a trainee get paid leave", "en"),
        ("Leave for trainees is decided by whom", "en"),
        ("在职未满一年能不能请年休假", "zh"),
        ("请列出可以请的假期种类。", "zh"),
    ],
)
def test_questions_and_requests_ask_with_and_without_their_mark(query: str, language: str) -> None:
    case = {"reference": "It is.", "key_points": ["A day.", "B day.", "C day."]}
    if language == "zh":
        case = {"reference": "可以。", "key_points": ["甲类。", "乙类。", "丙类。"]}
    assert asks(query)
    assert _objection(_draft(query, language, **case)) is None


@pytest.mark.parametrize(
    ("reference", "points", "reason"),
    [
        ("0c9c749d8165", ["One.", "Two.", "Three."], "prompt_echo"),
        ("Yes.", ["1", "2", "3"], "key_points"),
        ("Yes.", ["Staff have leave.", "It is so, it is so, it is so, it is so.", "All do."], "repetitive"),
        ("Ja, alle Angestellten haben Urlaub.", ["Staff have leave.", "All have.", "It is a right."], None),
        ("是的。", ["Staff have leave.", "All have.", "It is a right."], "wrong_language"),
    ],
)
def test_a_reference_has_to_say_something(reference: str, points: list[str], reason: str | None) -> None:
    assert _objection(_draft("How much leave is there?", reference=reference, key_points=points)) == reason


def test_shares_are_those_counted_by_hand() -> None:
    assert repeated_share("a b c a b c a b") == pytest.approx(1 - 3 / 6)  # six runs: abc bca cab abc bca cab
    assert repeated_share("一二三四五六") == 0
    assert repeated_share("no no no no") == 0  # two runs say too little
    assert repeated_share("") == 0
    assert echoed_share("the town library", "en") == 0  # two pairs say too little
    # "the town", "town library" and "in the" stand there; "visit the", "library today", "today in" do not
    assert echoed_share("visit the town library today in the", "en") == pytest.approx(3 / 6)


@given(st.lists(st.sampled_from("abcdefg"), min_size=6, max_size=30), st.integers(2, 5))
def test_saying_it_again_raises_the_share_and_it_stays_below_one(words: list[str], times: int) -> None:
    once, again = repeated_share(" ".join(words)), repeated_share(" ".join(words * times))
    assert 0 <= once <= again < 1
    assert (
        again >= 1 - len(set(zip(words * 2, words[1:] * 2, words[2:] * 2, strict=False))) / (len(words) * times - 2) - 1
    )


def test_a_mark_that_the_sources_have_is_no_echo() -> None:
    assert has_mark("What does commit 3fba3b02c104 change?", ["some text"])
    assert not has_mark("What does commit 3fba3b02c104 change?", ["Commit 3fba3b02c104 renames a field."])
    assert not has_mark("What happened in 198419851986?", [])
    assert not has_mark("What is an effacedbadge?", [])


def test_text_that_fills_its_room_is_cut_off_unless_it_ends() -> None:
    assert is_cut_off("Who decides about lea", 21)
    assert not is_cut_off("Who decides about it?", 21)
    assert not is_cut_off("谁来决定这件事？”", 9)
    assert not is_cut_off("Who decides", 21)


def _written(fields: dict[str, str], limits: dict[str, int]) -> tuple[str, ...]:
    request = GenerateRequest.model_validate(
        {"messages": [{"role": "user", "content": "x"}], "prefill": "{", "constraint": ObjectTail(fields=limits)}
    )
    text = json.dumps(fields, ensure_ascii=False)[1:]
    found = written_object(request, Generation(text=text, prompt_tokens=1, output_tokens=1))
    assert not isinstance(found, str)
    return found.cut_off


def test_every_cut_field_of_an_object_is_named() -> None:
    limits = {"reference": 12, "key_point_1": 8}
    assert _written({"reference": "As many as d", "key_point_1": "A share."}, limits) == ("reference",)
    assert _written({"reference": "As many.", "key_point_1": "A shar  "}, limits) == ("key_point_1",)


def test_a_cut_question_or_key_point_is_thrown_out_and_a_cut_note_is_not() -> None:
    draft = _draft("Which leave do part-time staff get", reference="A share.", key_points=["A is.", "B is.", "C is."])
    for step, field, reason in [
        ("question", "question", "cut_off"),
        ("question", "premise", "cut_off"),
        ("question", "missing", None),
        ("reference", "key_point_2", "cut_off"),
        ("facts", "fact_1", None),
    ]:
        cut = {"step": step, "output": {field: "x"}, "cut_off": [field]}
        assert _objection(Draft.model_validate({**draft.model_dump(mode="json"), "steps": [cut]})) == reason, field


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("kind", QUESTION_TYPES)
def test_worked_examples_ask_what_their_type_asks_in_their_own_words(kind: str, language: PromptLanguage) -> None:
    prompts = load_prompts(language)
    step = prompts.types[kind]  # type: ignore[index]
    query = step.example.output["question"]
    names = [str(n) for n in range(step.example.passages)]
    case = {
        "id": "w",
        "query": query,
        "language": language,
        "answerable": kind != "unanswerable",
        "relevant_passages": dict.fromkeys(names, 2) if kind != "unanswerable" else {},
    }
    premise = step.example.output.get("premise")
    draft = Draft.model_validate({"id": "w", "type": kind, "sources": names, "case": case, "false_premise": premise})
    passages = {name: Passage(id=name, text=prompts.example_passages[int(name)]) for name in names}
    found = question_checks(
        draft,
        thresholds=LIMITS.model_copy(update={"echoed_from": 2.0, "example_like_from": 2.0}),
        find=lambda name: passages.get(name),
    )
    assert [check.detail for check in found if check.outcome != "passed"] == []


def test_worked_examples_come_before_all_material_so_that_a_cache_keeps_them() -> None:
    prompts = load_prompts("en")
    step = prompts.types["simple"]
    first = step_request(prompts, step, passages=(PASSAGE,), angle=prompts.angles[0])
    second = step_request(prompts, step, passages=(PASSAGE_ZH,), angle=prompts.angles[1])
    assert first.messages[:3] == second.messages[:3]
    assert first.messages[3] != second.messages[3]


def test_good_drafts_by_hand_have_no_fault() -> None:
    passages = handbook()
    for hand in hand_drafts():
        if hand.label == "good":
            found = question_checks(hand.draft, thresholds=LIMITS, find=passages.get)
            assert [check.reason for check in found if check.outcome != "passed"] == [], hand.draft.id


@pytest.mark.skipif(DATA is None, reason="OFFLINE_EVAL_PUBLIC_DATA is not set")
def test_what_people_ask_is_let_pass() -> None:
    texts = [("xquad/xquad.en.json", "en"), ("xquad/xquad.zh.json", "zh"), ("cmrc2018/cmrc2018_dev.json", "zh")]
    asked = thrown = 0
    for name, language in texts:
        data = json.loads(Path(DATA or "", name).read_text("utf-8"))["data"]
        for row in (row for article in data for p in article["paragraphs"] for row in p["qas"]):
            query = row["question"]
            asked += 1
            thrown += (
                not asks(query)
                or repeated_share(query) >= LIMITS.repeated_from
                or repeats_a_mark(query)
                or echoed_share(query, language) >= LIMITS.echoed_from  # type: ignore[arg-type]
                or has_mark(query, [])
            )
    assert asked == 5599
    assert thrown <= 0.001 * asked  # 3: two unfinished sentences in English, one in Chinese


@pytest.mark.parametrize(
    "statement",
    [
        "介绍费由公司承担。", "申请人须说明原因。", "解释权归公司所有。", "计算机由公司提供。", "说明书随产品提供。",
        "分析师由公司聘用。", "请假须提前三天。", "请病假的员工须说明原因。", "申请列出的材料须齐全。",
        "请勿携带食物。", "计算方法如下。", "请示报告须写出原因。", "邀请函由人事部写出。",
        "State employees get 25 days.", "State employees in Ohio get 25 days.", "State law requires 20 days.",
        "List prices are set by the publisher.", "Name tags for visitors are at the desk.",
        "The list of names is long.", "Given the rules, staff get leave.",
    ],
)  # fmt: skip
def test_statements_that_begin_like_a_request_ask_nothing(statement: str) -> None:
    assert not asks(statement)


@pytest.mark.parametrize(
    "request_text",
    [
        "请您用一句话说明年假规定。", "说明员工年假规定。", "介绍公司的历史", "列出员工可以申请的假期",
        "比较年假和病假的区别", "如果加班，说明可以获得的补贴。", "请问年假规定",
        "麻烦告诉我年假的规定", "请简要概括请假流程", "帮我总结年假制度",
        "根据制度，请列举三种假期", "请分别写出两种假期的天数", "解释人事部的职责", "说明会议室的预订流程",
        "Compare annual leave and sick leave.", "List documents required for travel.", "Describe leave entitlement.",
        "Please state the notice period.", "Name three kinds of leave.", "Explain photosynthesis.",
        "List employees in Ohio.", "Could you list the steps", "State whether trainees get leave.",
        "If I leave early, explain the deduction.", "In short, name the head of finance.",
    ],
)  # fmt: skip
def test_requests_ask(request_text: str) -> None:
    assert asks(request_text)


@pytest.mark.parametrize(
    "piece", ["please ", "请", "请说", "list ab ", ", then ", " ", "介绍", "。 ", "— ", "list a-b'c "]
)
def test_asking_takes_time_in_proportion_to_the_length(piece: str) -> None:
    assert asks(piece * 20_000) in (True, False)  # a quadratic pattern would take minutes
