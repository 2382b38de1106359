"""Planted leaks are found by every method in English and Chinese; clean sets give nothing."""

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from offline_eval.cli.main import run_cli
from offline_eval.core.records import Case, Passage
from offline_eval.formats.writer import write_cases
from offline_eval.retrieval.index import Index
from offline_eval.testset.draft_file import DraftFile, Header
from offline_eval.testset.leakage import Limits, corpus_leaks, has_long_answer
from offline_eval.testset.leakage_elsewhere import Other, leaks_elsewhere, prompt_examples, rubric_examples, texts_of
from offline_eval.testset.leakage_embedding import embedding_leaks, embedding_leaks_elsewhere
from offline_eval.testset.leakage_report import merged
from offline_eval.testset.prompts import load_prompts
from offline_eval.testset.questions import Questions, is_whole_question, may_ask_the_same, questions_in
from offline_eval.testset.shared_runs import SharedRuns, units
from tests.retrieval.retrieval_corpora import HashedWords, built
from tests.support.cli import offline_eval

LONG_EN = "How many days of paid annual leave does a full-time employee with five years of service receive?"
ANSWER_EN = "A full-time employee with five years of service receives twenty days of paid annual leave each year."
LONG_ZH = "入职满五年的全职员工每年可以享受多少天带薪年休假？"
ANSWER_ZH = "入职满五年的全职员工每年享受二十天带薪年休假，当年没有休完的可以顺延到次年三月底。"
CASES = [
    Case(id="en", query=LONG_EN, reference=ANSWER_EN, relevant_passages={"policy#1": 1}),
    Case(id="zh", query=LONG_ZH, reference=ANSWER_ZH, relevant_passages={"制度#1": 1}),
    Case(id="short", query="Who approves travel costs?", reference="The head of finance", relevant_passages={"t": 1}),
]
CLEAN = [
    Passage(id="policy#1", doc_id="policy", text=f"Leave. {ANSWER_EN} Carry-over ends in March."),
    Passage(id="制度#1", doc_id="制度", text=f"第一章。{ANSWER_ZH}"),
    Passage(id="制度#2", doc_id="制度", text=f"附录：{ANSWER_ZH}"),  # the same document, cut with overlap
    Passage(id="t", text="The head of finance approves travel costs. Why? Because costs add up."),
    Passage(id="faq", text="How many days of sick leave does a full-time employee receive? Who audits travel costs?"),
    Passage(id="常见", text="问：入职满五年的全职员工每年可以享受多少天带薪病假？答：十天。什么时候发工资？"),
]


def found(*passages: Passage) -> set[tuple[str, str, str, str]]:
    leaks = corpus_leaks(CASES, [*CLEAN, *passages]).leaks
    return {(leak.kind, leak.method, leak.case, leak.where) for leak in leaks}


def test_a_clean_corpus_with_its_answers_in_it_gives_nothing() -> None:
    assert found() == set()


@pytest.mark.parametrize(
    ("text", "leak"),
    [
        (f"Sample: {LONG_EN}", ("question", "run", "en")),
        (f"测验：{LONG_ZH}请作答。", ("question", "run", "zh")),
        (f"Q: {LONG_EN}\nA: {ANSWER_EN}", ("pair", "run", "en")),
        (f"问：{LONG_ZH}\n答：{ANSWER_ZH}", ("pair", "run", "zh")),
        ("Q: Who approves travel costs? A: the HEAD of finance.", ("pair", "words", "short")),
        ("Travel costs: who approves?", ("question", "words", "short")),
        # Another order, as a translation would have it; the Chinese one keeps its words and moves two of them.
        (
            "A full-time employee with five years of service does receive how many days of paid annual leave?",
            ("question", "words", "en"),
        ),
        ("每年入职满五年的全职员工可以享受多少天带薪年休假？", ("question", "words", "zh")),
        ("多少天带薪年休假，入职满五年的全职员工每年可以享受？", ("question", "words", "zh")),
        (f"Leaflet. {ANSWER_EN}", ("answer", "run", "en")),
        (f"宣传页：{ANSWER_ZH}", ("answer", "run", "zh")),
    ],
)
def test_what_is_planted_is_found_where_it_was_planted(text: str, leak: tuple[str, str, str]) -> None:
    assert {(kind, method, case) for kind, method, case, where in found(Passage(id="new", text=text))} == {leak}


def test_a_variant_and_a_title_leak_too() -> None:
    case = Case(id="v", query="年假几天", variants=("一名员工每年究竟能休多少天的年假呢？",))
    passage = Passage(id="p", title="一名员工每年究竟能休多少天的年假呢？", text="见下文。")
    [leak] = corpus_leaks([case], [passage]).leaks
    assert (leak.case, leak.field, leak.where) == ("v", "variants", "p")


def test_long_answers_without_sources_are_counted_and_not_called_leaks() -> None:
    case = Case(id="a", query="Why?", reference=ANSWER_EN)
    result = corpus_leaks([case], [Passage(id="p", text=ANSWER_EN)])
    assert (result.leaks, result.n_passages, result.answers_unchecked) == ([], 1, 1)


def test_numbers_and_what_is_asked_for_keep_questions_apart() -> None:
    assert not may_ask_the_same("Who approves 5,000 euros?", "Who approves 2,000 euros?")
    assert not may_ask_the_same("Who built the tower?", "When was the tower built?")
    assert not may_ask_the_same("谁批准出差？", "什么时候批准出差？")
    assert may_ask_the_same("In what year was it built?", "When was it built?")
    assert may_ask_the_same("What should I do?", "Why should I?")
    asked = Questions({"k": "报销3000元需要谁审批？"})
    assert [item.key for item in asked.alike("需要谁审批报销3000元？")] == ["k"]
    assert asked.alike("报销5000元需要谁审批？") == []
    assert asked.alike("报销3000元需要谁通知？") == []  # one word in another's place


def test_questions_are_cut_out_of_running_text() -> None:
    text = "See 3.5 below. Q: How long is it? It is long. 问：怎么申请？答：线上申请。我们没有问题。"
    assert questions_in(text) == ["How long is it?", "怎么申请？"]


def test_a_run_of_thirteen_counts_and_one_of_twelve_does_not() -> None:
    words = [f"w{n}" for n in range(20)]
    runs = SharedRuns({"k": " ".join(words)})
    # 13 of 20 units, in the middle of other words.
    [shared] = runs.search("x y " + " ".join(words[4:17]) + " z")
    assert (shared.key, shared.share, shared.longest) == ("k", 13 / 20, 13)
    assert runs.search("x y " + " ".join(words[4:16]) + " z") == []
    # Two runs of the same text count together: 7..19 and 0..12 cover all 20.
    [both] = runs.search(" ".join([*words[7:], "x", *words[:13]]))
    assert (both.share, both.longest) == (1.0, 13)


@settings(max_examples=40)
@given(
    st.lists(st.sampled_from("abcdefgh甲乙丙丁"), min_size=8, max_size=30),
    st.lists(st.sampled_from("xyz戊"), max_size=9),
    st.lists(st.sampled_from("xyz戊"), max_size=9),
)
def test_a_text_inside_a_passage_is_always_found_whole(text: list[str], before: list[str], after: list[str]) -> None:
    [shared] = SharedRuns({"k": " ".join(text)}).search(" ".join([*before, *text, *after]))
    assert (shared.share, shared.longest) == (1.0, len(text))


@settings(max_examples=40)
@given(st.lists(st.sampled_from("ab"), max_size=40), st.lists(st.sampled_from("ab"), max_size=60))
def test_shared_runs_agree_with_looking_at_every_place(text: list[str], passage: list[str]) -> None:
    run = min(13, len(text))
    covered = {
        place
        for start in range(len(text) - run + 1)
        if any(passage[at : at + run] == text[start : start + run] for at in range(len(passage) - run + 1))
        for place in range(start, start + run)
    }
    found = SharedRuns({"k": " ".join(text)}).search(" ".join(passage))
    wanted = len(covered) / len(text) if len(text) >= 8 else 0.0
    assert (found[0].share if found else 0.0) == wanted


def test_a_question_with_another_ending_is_another_question() -> None:
    runs = SharedRuns({"k": LONG_EN})
    [other] = runs.search(LONG_EN.replace("receive", "lose"))  # 16 of 17 words
    assert not is_whole_question(other, least=0.8)
    polite = SharedRuns({"k": f"Please tell me {LONG_EN}"})  # 17 of 20 words, the rest says nothing
    assert is_whole_question(polite.search(LONG_EN)[0], least=0.8)
    assert not is_whole_question(polite.search(LONG_EN)[0], least=0.9)


def test_a_passage_that_states_what_is_asked_does_not_ask_it() -> None:
    case = Case(
        id="1815", query="1815年，「三柯城」的民众以莲花呈献谁，因此遂为此城改新名为「巴吞城」？", reference="拉玛二世"
    )
    passage = Passage(id="p", text="在1815年，「三柯城」的民众以莲花呈献拉玛二世，因此遂为此城改新名为「巴吞城」。")
    assert corpus_leaks([case], [passage]).leaks == []
    assert [leak.kind for leak in corpus_leaks([case], [Passage(id="q", text=case.query + "拉玛二世")]).leaks] == [
        "pair"
    ]


def test_an_answer_must_be_long_to_say_anything_by_itself() -> None:
    # 15 characters are 9 words; 23 are 13.8.
    assert not has_long_answer(Case(id="s", query="?", reference="辐鳍鱼纲鳗鲡目糯鳗亚目通鳃鳗科"), 13)
    assert has_long_answer(Case(id="l", query="?", reference="入职满五年的全职员工每年享受二十天的带薪年休假"), 13)


def test_units_are_words_and_chinese_characters() -> None:
    assert units("Ｔｈｅ 3 cats，和两只狗") == ["the", "3", "cats", "和", "两", "只", "狗"]


class Synonyms(HashedWords):
    """Hashed words after synonyms were made one, as a real embedder would place them."""

    def embed(self, texts):  # type: ignore[no-untyped-def]
        table = {"holiday": "leave", "staff": "employee", "yearly": "annual", "年假": "假期", "员工": "职工"}
        for old, new in table.items():
            texts = [text.lower().replace(old, f" {new} ").replace(new, f" {new} ") for text in texts]
        return super().embed(texts)


def test_rewordings_are_found_through_a_saved_index(tmp_path: Path) -> None:
    cases = [
        Case(id="en", query="How much annual leave does an employee have?", reference="20 days"),
        Case(id="zh", query="员工 一共 有 多少 年假？"),
        Case(id="ja", query="有給休暇は何日ありますか"),
    ]
    passages = [
        *CLEAN,
        Passage(id="faq-en", text="Rules. How much yearly holiday does an staff have? 20 days."),
        Passage(id="faq-zh", text="职工 一共 有 多少 假期？见手册。"),
    ]
    embedder = Synonyms(dimension=512)
    built(passages, tmp_path / "i", embedder=embedder).close()
    index = Index(tmp_path / "i")
    assert corpus_leaks(cases, passages).leaks == []  # words alone do not see it
    result = embedding_leaks(cases, index.store, index.dense(embedder), embedder, languages=("en", "zh"))
    assert {(leak.kind, leak.case, leak.where) for leak in result.leaks} == {
        ("pair", "en", "faq-en"),
        ("question", "zh", "faq-zh"),
    }
    assert (result.n_compared, result.not_applicable) == (2, {"ja": 1})
    english = embedding_leaks(cases, index.store, index.dense(embedder), embedder, languages=("en",))
    assert english.not_applicable == {"zh": 1, "ja": 1}
    others = [Other("f:1", "How much yearly holiday does an staff have?", True), Other("f:2", "Something else?", True)]
    elsewhere = embedding_leaks_elsewhere(cases, others, embedder, kind="training", languages=("*",))
    assert [(leak.kind, leak.case, leak.where) for leak in elsewhere.leaks] == [("training", "en", "f:1")]


def test_rubric_examples_and_training_labels_are_recognised(tmp_path: Path) -> None:
    examples = rubric_examples()
    assert len({other.where.split("@")[0] for other in examples}) >= 6
    case = Case(id="leaked", query="一本书可以借多久？")
    leaks = leaks_elsewhere([*CASES, case], examples, kind="example")
    assert {leak.case for leak in leaks} == {"leaked"}
    train = tmp_path / "train.jsonl"
    rows = [{"query": "Travel costs: who approves?", "passage": ANSWER_EN, "label": 1},
            {"claim": ANSWER_ZH, "premise": "x", "label": 0}, {"question": "Other?", "label": 1}]  # fmt: skip
    train.write_text("".join(json.dumps(row) + "\n" for row in rows))
    others = texts_of(train)
    assert [(other.is_question, other.where.rsplit(":", 1)[1]) for other in others] == [
        (True, "1"),
        (False, "2"),
        (True, "3"),
    ]
    found = leaks_elsewhere(CASES, others, kind="training")
    assert {(leak.case, leak.field, leak.where) for leak in found} == {
        ("short", "query", f"{train}:1"),
        ("zh", "reference", f"{train}:2"),
    }


def test_one_place_is_reported_once_pairs_first() -> None:
    passage = Passage(id="n", text=f"{LONG_EN} {ANSWER_EN}")
    leaks = corpus_leaks(CASES, [passage, Passage(id="q", text=LONG_ZH)]).leaks
    assert [leak.kind for leak in merged([*leaks, *leaks])] == ["pair", "question"]


def test_stricter_limits_find_less() -> None:
    passage = Passage(id="p", text=f"{LONG_EN} {LONG_ZH} Who now approves all travel costs here?")
    assert len(corpus_leaks(CASES, [passage]).leaks) == 2
    assert len(corpus_leaks(CASES, [passage], limits=Limits(words=0.6)).leaks) == 3  # 3 of 6 words: 2 * 3 / 9


def test_the_command_prints_pairs_and_tells_ci(tmp_path: Path) -> None:
    (tmp_path / "cases.jsonl").write_text(
        "".join(json.dumps(case.model_dump(mode="json", exclude_defaults=True)) + "\n" for case in CASES)
    )
    (tmp_path / "corpus.jsonl").write_text(
        "".join(json.dumps(passage.model_dump(mode="json", exclude_defaults=True)) + "\n" for passage in CLEAN)
    )
    clean = offline_eval(
        "testset", "leakage", "cases.jsonl", "--corpus", "corpus.jsonl", "--format", "json", cwd=tmp_path
    )
    assert (clean.returncode, json.loads(clean.stdout)) == (0, []), clean.stderr
    assert "looked through 6 passages" in clean.stderr
    with (tmp_path / "corpus.jsonl").open("a") as stream:
        stream.write(json.dumps({"id": "faq-zh", "text": f"问：{LONG_ZH} 答：{ANSWER_ZH}"}) + "\n")
    bad = offline_eval(
        "testset", "leakage", "cases.jsonl", "--corpus", "corpus.jsonl", "--format", "json", cwd=tmp_path
    )
    assert bad.returncode == 1
    [leak] = json.loads(bad.stdout)
    assert (leak["kind"], leak["case"], leak["where"]) == ("pair", "zh", "faq-zh")
    assert "1 questions with their answer in the corpus" in bad.stderr


def _cases(folder: Path, *cases: Case) -> None:
    write_cases(cases, folder / "cases.jsonl")


def _left_out(said: str) -> list[str]:
    return [line.removeprefix("not looked at: ") for line in said.splitlines() if line.startswith("not looked at: ")]


def test_misspelt_copies_are_found_in_labels_and_examples() -> None:
    case = Case(id="c", query="How many vacation days do employees get?", variants=("年假可以休几天？",))
    others = [Other("f:1", "How many vacaton days do employes get?", True), Other("f:2", "年架可以休几天？", True),
              Other("f:3", "How many sick days do employees get?", True)]  # fmt: skip
    leaks = leaks_elsewhere([case], others, kind="training")
    assert [(leak.method, leak.field, leak.where) for leak in leaks] == [
        ("letters", "query", "f:1"),
        ("letters", "variants", "f:2"),
    ]


def test_the_question_writers_own_examples_are_searched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    texts = {other.text for other in prompt_examples() if other.is_question}
    for language in ("en", "zh"):
        assert set(load_prompts(language).example_questions) <= texts  # type: ignore[arg-type]
    _cases(tmp_path, Case(id="c", query="周五最晚几点还能办理续借？"))
    assert run_cli(["testset", "leakage", "cases.jsonl", "--format", "json"]) == 1
    [leak] = json.loads(capsys.readouterr().out)
    assert (leak["kind"], leak["case"], leak["where"].split("@")[0]) == ("example", "c", "prompt zh")


def test_every_comparison_that_was_not_made_is_named_with_its_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    _cases(tmp_path, Case(id="c", query="How many vacation days do employees get per year?", reference="26 days"),
           Case(id="d", query="Why?", reference=ANSWER_EN))  # fmt: skip
    (tmp_path / "train.jsonl").write_text(json.dumps({"query": "How many vacation days per year do staff get?"}) + "\n")
    (tmp_path / "corpus.jsonl").write_text(json.dumps({"id": "p", "text": "Some text."}) + "\n")
    call = ["testset", "leakage", "cases.jsonl", "--train", "train.jsonl", "--corpus", "corpus.jsonl"]
    assert run_cli(call) == 0
    worked = "the worked examples of judges and of the question writer"
    assert _left_out(capsys.readouterr().err) == [
        f"other wordings in {worked}: no vectors without --embedder",
        "other wordings in train.jsonl: no vectors without --embedder",
        "examples of your own; name some with --examples",
        "misspelt copies in corpus.jsonl: questions are compared letter by letter with examples and training labels "
        "alone",
        "1 short wordings in corpus.jsonl by runs of words: they are compared as whole questions alone",
        "the answers of 1 cases in corpus.jsonl by themselves: shorter than 13 words, they stand in many places",
        "the answers of 1 cases in corpus.jsonl: they name no expected passage or document, so an answer cannot be "
        "told from its source",
        "other wordings in corpus.jsonl: documents have no vectors; build an index with --embedder and name it with "
        "--index",
    ]
    assert run_cli(["testset", "leakage", "cases.jsonl"]) == 0
    assert _left_out(capsys.readouterr().err)[1:] == [
        "examples of your own; name some with --examples",
        "training labels; name some with --train",
        "a corpus; name one with --corpus or --index",
    ]


@pytest.mark.parametrize("path", ["made", "made/drafts.jsonl"])
def test_drafts_without_examples_say_so_and_those_with_some_are_compared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], path: str
) -> None:
    monkeypatch.chdir(tmp_path)
    _cases(tmp_path, *CASES)
    DraftFile(tmp_path / "made" / "drafts.jsonl").begin(Header())
    assert run_cli(["testset", "leakage", "cases.jsonl", "--examples", path]) == 0
    assert f"looked through {path}: no examples were shown when these drafts were written" in capsys.readouterr().err
    (tmp_path / "made" / "drafts.jsonl").unlink()
    DraftFile(tmp_path / "made" / "drafts.jsonl").begin(Header(examples=("Who approves travel costs?",)))
    assert run_cli(["testset", "leakage", "cases.jsonl", "--examples", path]) == 1
    assert "1 questions and answers of" in capsys.readouterr().err


def test_what_no_embedder_speaks_is_counted_on_both_sides() -> None:
    cases = [Case(id="en", query="How much leave is there?", variants=("有多少假期？",))]
    others = [Other("f:1", "休暇は何日ありますか", True), Other("f:2", "How much leave is there?", True)]
    found = embedding_leaks_elsewhere(cases, others, Synonyms(dimension=64), kind="training", languages=("en",))
    assert (found.n_compared, found.not_applicable) == (1, {"zh": 1, "ja": 1})
    assert [(leak.field, leak.where) for leak in found.leaks] == [("query", "f:2")]


def test_the_table_and_its_lines_speak_chinese_and_json_does_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    _cases(tmp_path, *CASES)
    (tmp_path / "train.jsonl").write_text(json.dumps({"query": "Who approves travel costs?"}) + "\n")
    call = ["testset", "leakage", "cases.jsonl", "--train", "train.jsonl", "--lang", "zh"]
    assert run_cli(call) == 1
    shown = capsys.readouterr()
    assert shown.out.split()[:8] == ["种类", "方法", "用例", "字段", "位置", "相似度", "文本", "找到的文本"]
    assert "训练数据" in shown.out
    assert "1 处泄漏：训练数据中的问题或答案 1 处" in shown.err
    assert "未检查：语料；请用 --corpus 或 --index 指定" in shown.err
    assert run_cli([*call, "--format", "json"]) == 1
    [leak] = json.loads(capsys.readouterr().out)
    assert (leak["kind"], leak["method"], leak["field"]) == ("training", "words", "query")
