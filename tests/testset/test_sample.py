"""Samples of logs: diverse, by quota, without personal data, with what users thought."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from offline_eval.cli.main import run_cli
from offline_eval.core.errors import DataError, UsageError
from offline_eval.core.records import Case
from offline_eval.formats.reader import read_cases
from offline_eval.testset.query_log import LoggedQuery, as_case, read_logs, removal_counts, removal_rows
from offline_eval.testset.sample import draw_sample, parse_quotas, pick_diverse, word_vectors
from tests.retrieval.retrieval_corpora import HashedWords
from tests.support.cli import offline_eval

ROWS = [
    {"query": "我的手机13800138000收不到验证码，怎么办？", "feedback": -1, "answer": "请重试", "user": "李雷"},
    {"question": "How do I reset my password?", "thumb": "up"},
    {"query": "how do I reset my password", "feedback": 1},
    {"query": "Mail me at a.b@example.com or c@example.com: what is the limit?", "rating": "thumbs_down"},
    {"query": "订单20240115123456什么时候发货？", "feedback": True},
    {"query": " "},
]


def write(path: Path, rows: list[dict[str, object]]) -> Path:
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), "utf-8")
    return path


def test_logs_lose_personal_data_and_keep_thumbs(tmp_path: Path) -> None:
    path = write(tmp_path / "log.jsonl", ROWS)
    log = read_logs([path])
    assert [(q.query, q.language, q.asked, q.up, q.down, q.masked) for q in log.queries] == [
        ("我的手机[电话]收不到验证码，怎么办？", "zh", 1, 0, 1, True),
        ("How do I reset my password?", "en", 2, 2, 0, False),
        ("Mail me at [e-mail] or [e-mail]: what is the limit?", "en", 1, 0, 1, True),
        ("订单20240115123456什么时候发货？", "zh", 1, 1, 0, False),
    ]
    assert (log.n_rows, log.n_empty) == (6, 1)
    assert removal_rows(log) == [
        {"where": f"{path}:1", "kind": "phone", "count": 1},
        {"where": f"{path}:4", "kind": "email", "count": 2},
    ]
    assert removal_counts(log) == {"email": 2, "phone": 1}
    case = as_case(log.queries[1])
    assert (case.origin, case.tags, case.metadata) == (
        "log", ("log", "feedback:up"), {"asked": 2, "feedback": {"up": 2}},
    )  # fmt: skip
    assert "李雷" not in log.model_dump_json() + case.model_dump_json()


def test_what_the_test_set_asks_already_is_left_out(tmp_path: Path) -> None:
    path = write(tmp_path / "log.jsonl", ROWS)
    known = [Case(id="k", query="x", variants=("How do I reset my PASSWORD",))]
    assert all("password" not in query.query for query in read_logs([path], known=known).queries)


def test_a_log_without_queries_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "log.jsonl", [{"text": "hello"}])
    with pytest.raises(DataError, match="no row has a query"):
        read_logs([path])
    assert [q.query for q in read_logs([path], mapping={"query": "text"}).queries] == ["hello"]


def query(text: str, kind: str = "factual") -> LoggedQuery:
    return LoggedQuery(query=text, language="en", query_type=kind, asked=1)


TOPICS = [
    [f"How do I reset my password on device {n}?" for n in range(12)],
    [f"What is the travel allowance for city {n}?" for n in range(5)],
    ["年假可以顺延吗？", "今年的年假可以顺延吗？", "年假可以顺延到明年吗？"],
]


@pytest.mark.parametrize("embedder", [None, HashedWords(dimension=256)])
def test_one_query_of_each_topic_is_picked(embedder: HashedWords | None) -> None:
    queries = [query(text) for topic in TOPICS for text in topic]
    sample = draw_sample(queries, size=3, embedder=embedder)
    picked = {item.query for item in sample.queries}
    assert [len(picked & set(topic)) for topic in TOPICS] == [1, 1, 1]
    assert sample.method == ("words" if embedder is None else "embedding")
    again = draw_sample(queries[::-1], size=3, embedder=embedder)
    assert again.queries == sample.queries


def test_quotas_are_met_and_the_rest_is_shared_by_frequency() -> None:
    queries = [query(f"fact {n}") for n in range(60)]
    queries += [query(f"why {n}", "reasoning") for n in range(30)] + [query("tell me", "open")]
    found = {share.query_type: (share.wanted, share.picked) for share in draw_sample(queries, size=20).types}
    # 20 * 60/91 = 13.2, 20 * 30/91 = 6.6, 20 * 1/91 = .2: floors 13 + 6 + 0, the last one to the largest remainder.
    assert found == {"factual": (13, 13), "reasoning": (7, 7), "open": (0, 0)}
    quotas = {"open": 5, "reasoning": 10}
    found = {
        share.query_type: (share.wanted, share.picked) for share in draw_sample(queries, size=20, quotas=quotas).types
    }
    assert found == {"factual": (9, 9), "reasoning": (10, 10), "open": (5, 1)}  # four of the five are made up for
    with pytest.raises(UsageError, match="no query in the logs is of type multi-hop"):
        draw_sample(queries, size=20, quotas={"multi-hop": 1})
    with pytest.raises(UsageError, match="more than --size"):
        draw_sample(queries, size=4, quotas=quotas)


def test_quotas_are_counts_or_shares() -> None:
    assert parse_quotas(["factual=5", "multi-hop=.25"], size=40) == {"factual": 5, "multi-hop": 10}
    for wrong in ("factual", "factual=x", "=3", "factual=-1", "factual=2.5"):
        with pytest.raises(UsageError, match="expected TYPE=COUNT"):
            parse_quotas([wrong], size=10)


@settings(max_examples=40)
@given(st.integers(1, 12), st.lists(st.text("ab年 ", max_size=4), min_size=1, max_size=12), st.integers(0, 3))
def test_as_many_as_wanted_are_picked_each_once(count: int, texts: list[str], seed: int) -> None:
    picked = pick_diverse(word_vectors(texts), count, seed=seed)
    assert picked == sorted(set(picked))
    assert len(picked) == min(count, len(texts))


def test_word_vectors_have_length_one() -> None:
    vectors = word_vectors(["年假几天", "annual leave", ""])
    assert np.allclose(np.linalg.norm(vectors, axis=1), [1, 1, 0])


def test_the_command_writes_cases_and_a_report_without_values(tmp_path: Path) -> None:
    write(tmp_path / "log.jsonl", ROWS)
    done = offline_eval(
        "testset", "sample", "log.jsonl", "--size", "3", "--out", "cases.jsonl", "--embedder", "none",
        "--report", "removed.jsonl", "--format", "json", cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "personal data taken out: 2 email, 1 phone, in 2 rows" in done.stderr
    assert "3 of 3 wanted queries, diverse by words" in done.stderr
    cases = read_cases(tmp_path / "cases.jsonl")
    assert len(cases) == 3
    everything = done.stdout + done.stderr + "".join(path.read_text() for path in tmp_path.glob("*d.jsonl"))
    everything += (tmp_path / "cases.jsonl").read_text("utf-8")
    assert "13800138000" not in everything
    assert "a.b@example.com" not in everything


def test_shares_that_add_up_to_one_give_the_size() -> None:
    # 3.5 + 3.5 + 3: floors 3 + 3 + 3, the tenth to the largest remainder, the earlier of two equal ones.
    assert parse_quotas(["a=.35", "b=.35", "c=.3"], size=10) == {"a": 4, "b": 3, "c": 3}
    assert parse_quotas(["a=.25", "b=.25"], size=10) == {"a": 3, "b": 2}
    assert parse_quotas(["a=4", "b=.35", "c=.35"], size=10) == {"a": 4, "b": 4, "c": 3}
    assert parse_quotas(["a=.3", "b=.7"], size=10) == {"a": 3, "b": 7}  # .7 * 10 is a hair off


@given(st.lists(st.integers(1, 20), min_size=1, max_size=6), st.integers(1, 200))
def test_no_share_is_off_by_one_or_more_and_none_is_lost(parts: list[int], size: int) -> None:
    total = sum(parts)
    found = parse_quotas([f"t{n}={part / total:.12f}" for n, part in enumerate(parts)], size=size)
    assert sum(found.values()) == size
    assert all(abs(found[f"t{n}"] - part / total * size) < 1 + 1e-6 for n, part in enumerate(parts))


def test_the_command_speaks_chinese(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "log.jsonl", ROWS)
    call = ["testset", "sample", "log.jsonl", "--size", "3", "--out", "c.jsonl", "--embedder", "none", "--lang", "zh"]
    assert run_cli(call) == 0
    shown = capsys.readouterr()
    assert shown.out.split()[:4] == ["类型", "可选", "需要", "选出"]
    assert "已去除的个人信息：电子邮箱 2 处，电话 1 处；涉及 2 行" in shown.err
    assert "6 行，其中 1 行没有问题；4 个不同的问题" in shown.err
    assert run_cli([*call, "--format", "json"]) == 0
    assert set(json.loads(capsys.readouterr().out)[0]) == {"query_type", "available", "wanted", "picked"}
