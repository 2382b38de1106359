"""Variants change wording and nothing else: figures and names stay, and a judge's rewording must mean the same."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from offline_eval.core.protocols import GenerateRequest, Generation, ObjectTail
from offline_eval.core.records import Case
from offline_eval.engines.scripted import ScriptedEngine, ScriptedScorer
from offline_eval.testset.near_duplicates import likeness
from offline_eval.testset.rule_variants import RULE_KINDS, RuleKind, load_wording, rule_variant
from offline_eval.testset.variants import add_variants

EN = "How long do employees of Quillmere have to keep a receipt above £10 in 2026?"
ZH = "公司员工报销超过200元的费用需要在多久之内提交申请？"


@pytest.mark.parametrize("kind", RULE_KINDS)
@pytest.mark.parametrize(("question", "language"), [(EN, "en"), (ZH, "zh")])
def test_every_rule_works_in_both_languages_and_keeps_figures(question: str, language: str, kind: RuleKind) -> None:
    changed = rule_variant(question, kind, language=language, seed=1)  # type: ignore[arg-type]
    assert changed is not None
    assert changed != question
    assert rule_variant(question, kind, language=language, seed=1) == changed  # type: ignore[arg-type]
    for kept in ("Quillmere", "£10", "2026") if language == "en" else ("200",):
        assert kept in changed


def test_phrases_before_words_and_two_changes_at_most() -> None:
    changed = rule_variant("How long may staff wait?", "synonyms", language="en")
    assert changed == "For what length of time may employees wait?"


@given(st.text(max_size=60), st.sampled_from(RULE_KINDS), st.sampled_from(["en", "zh"]), st.integers(0, 3))
def test_no_question_breaks_a_rule(question: str, kind: RuleKind, language: str, seed: int) -> None:
    changed = rule_variant(question, kind, language=language, seed=seed)  # type: ignore[arg-type]
    assert changed is None or changed != question.strip()


@given(st.integers(0, 200))
def test_typos_are_few_and_the_question_can_still_be_read(seed: int) -> None:
    english, chinese = (
        rule_variant(text, "typos", language=lang, seed=seed) for text, lang in ((EN, "en"), (ZH, "zh"))
    )  # type: ignore[arg-type]
    assert english is not None
    assert chinese is not None
    assert abs(len(english) - len(EN)) <= 3
    assert likeness(english, EN) > 0.5
    # 27 characters: two slips, each a character for a character
    assert sum(left != right for left, right in zip(chinese, ZH, strict=True)) == 2


def test_slips_are_single_characters_other_than_themselves() -> None:
    wording = load_wording("zh")
    for table in (wording.homophones, wording.shapes):
        for character, others in table.items():
            assert len(character) == 1
            assert others
            assert character not in others


def _judge(paraphrase: str, colloquial: str, lengthened: str) -> ScriptedEngine:
    texts = {"paraphrase": paraphrase, "colloquial": colloquial, "lengthened": lengthened}

    def write(request: GenerateRequest) -> Generation:
        assert isinstance(request.constraint, ObjectTail)
        written = {name: texts[name] for name in request.constraint.fields}
        return Generation(text=json.dumps(written, ensure_ascii=False)[1:], prompt_tokens=1, output_tokens=1)

    return ScriptedEngine(write)


def test_a_judges_rewording_is_kept_only_when_each_entails_the_other() -> None:
    case = Case(id="a", query=ZH, language="zh", variants=("老问法",))
    judge = _judge(
        "员工报销200元以上的费用，要在多长时间里提交？",
        "报销超过200元的，多久内得交？谁来批？",
        "请教各位：公司员工报销超过500元的费用需要在多久之内提交申请？",
    )
    # the second asks for more: it entails the question, the question does not entail it
    nli = ScriptedScorer(lambda premise, hypothesis: 0.1 if "谁来批" in hypothesis else 0.9)
    varied = add_variants([case], (), engine=judge, nli=nli)
    assert varied.cases[0].variants == ("老问法", "员工报销200元以上的费用，要在多长时间里提交？")
    assert {count.kind: (count.made, count.dropped) for count in varied.counts} == {
        "judge paraphrase": (1, {}),
        "judge colloquial": (0, {"meaning_changed": 1}),
        "judge lengthened": (0, {"figures_changed": 1}),
    }


@pytest.mark.parametrize(
    ("text", "reason"),
    [("", "empty"), (EN.upper(), "nothing_new"), ("收据要保留多久？", "wrong_language")],
)
def test_rules_object_before_any_model_is_asked(text: str, reason: str) -> None:
    nli = ScriptedScorer(lambda premise, hypothesis: 0.9)
    fine = "In 2026, for what time do employees of Quillmere keep a receipt above £10?"
    varied = add_variants([Case(id="a", query=EN)], (), engine=_judge(text, fine, fine), nli=nli)
    counts = {count.kind: count for count in varied.counts}
    assert counts["judge paraphrase"].dropped == {reason: 1}
    assert varied.cases[0].variants == (fine,)
    assert counts["judge lengthened"].dropped == {"repeated": 1}


def test_without_an_entailment_model_no_rewording_is_taken() -> None:
    fine = "In 2026, for what time do employees of Quillmere keep a receipt above £10?"
    varied = add_variants([Case(id="a", query=EN)], (), engine=_judge(fine, fine, fine))
    assert varied.cases[0].variants == ()
    assert {reason for count in varied.counts for reason in count.dropped} == {"not_checked"}


def test_rules_alone_need_no_model_and_other_languages_are_left_alone() -> None:
    cases = [Case(id="a", query=EN), Case(id="b", query=ZH), Case(id="c", query="서류는 언제까지 내야 하나요?")]
    varied = add_variants(cases, seed=2)
    assert [len(case.variants) for case in varied.cases] == [5, 5, 0]
    assert all(count.made == 2 and count.dropped == {"language: ko": 1} for count in varied.counts)
    assert add_variants(cases, seed=2) == varied


ORDINARY = {
    "年休假有几天？": "年假有多少天？",
    "办公室几点关门？": "办公室什么时间关门？",
    "迟到三次会怎样？": "迟到三次会如何？",
    "食堂午餐补贴怎么领？": None,
    "产假是多久？": "产假是多长时间？",
    "可不可以带宠物？": None,
}


@pytest.mark.parametrize(("question", "wanted"), ORDINARY.items())
def test_ordinary_chinese_questions_have_synonyms(question: str, wanted: str | None) -> None:
    changed = rule_variant(question, "synonyms", language="zh")
    assert changed is not None
    assert wanted is None or changed == wanted
    assert changed.replace("可不可以", "") == changed or "不能够" not in changed


def test_synonyms_leave_longer_words_and_their_own_work_alone() -> None:
    for seed in range(20):
        # "审批" becomes "审核批准", whose "批准" is not replaced in turn; "申请人" has no synonym inside.
        assert rule_variant("申请人找谁审批？", "synonyms", language="zh", seed=seed) == "申请人找什么人审核批准？"
        assert rule_variant("前几天发了通知书吗？", "synonyms", language="zh", seed=seed) is None
        assert "不能够" not in str(rule_variant("可不可以请假？", "synonyms", language="zh", seed=seed))


def test_an_english_phrase_keeps_its_capital_where_it_stands() -> None:
    assert rule_variant("When does the company need it?", "synonyms", language="en") == (
        "When does the firm require it?"
    )
