"""The command from label files to the table, with judges whose behaviour is known."""

import json
from pathlib import Path

import pytest

from offline_eval.benchmark.label_files import read_label_file
from offline_eval.benchmark.labels import LabelRow, label_sets
from offline_eval.benchmark.respondents import SCRIPTS, scripted_respondent
from offline_eval.benchmark.run_benchmark import Settings, run_benchmark
from offline_eval.benchmark.sampling import sample
from offline_eval.cli.main import run_cli
from offline_eval.core.protocols import GenerateRequest, Generation
from offline_eval.core.records import as_json
from tests.benchmark.label_builders import binary_row, one_set, pair_row
from tests.benchmark.test_label_files import ragchecker_row


def write(path: Path, rows: list[LabelRow]) -> Path:
    path.write_text("".join(json.dumps(as_json(row), ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    return path


@pytest.fixture
def chinese(tmp_path: Path) -> Path:
    rows = [
        LabelRow(
            id=f"z{at}",
            kind="binary",
            dimension="correctness",
            query=f"第{at}条规定了什么？",
            reference=f"第{at}条规定年假。",
            answer=f"第{at}条规定年假。" if at % 3 else "不知道这件事，大概是病假。",
            labels={"anna": int(at % 3 > 0), "bo": int(at % 3 > 0)},
            slices={"类型": "短" if at < 6 else "长"},
        )
        for at in range(24)
    ]
    return write(tmp_path / "规定.jsonl", rows)


def test_a_chinese_set_goes_through_to_every_form_of_the_table(
    chinese: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    arguments = ["benchmark", str(chinese), "--scripted", "last,first", "--resamples", "100", "--out", str(out)]
    assert run_cli([*arguments, "--format", "json"]) == 0
    (table,) = json.loads(capsys.readouterr().out)["tables"]
    lines = {line["judge"]: line for line in table["lines"]}
    assert (table["name"], table["languages"], table["raters"]) == ("规定", {"zh": 24}, 2)
    assert table["human"] == {"0": 8, "1": 16}
    # Always grade 3: right on the 16 that people accept; all 8 that they reject are called supported.
    assert lines["scripted:last"]["measures"]["agreement"]["value"] == pytest.approx(16 / 24)
    assert lines["scripted:last"]["measures"]["false_support"]["value"] == 1.0
    assert lines["scripted:first"]["measures"]["agreement"]["value"] == pytest.approx(8 / 24)
    assert lines["reference found in answer"]["measures"]["kappa"]["value"] == 1.0
    assert table["lines"][0]["judge"] in ("reference found in answer", "word overlap")
    assert table["ceiling"]["agreement"]["value"] == 1.0
    assert lines["scripted:last"]["share_of_ceiling"]["agreement"] == pytest.approx(16 / 24)
    assert {entry["slice"] for entry in table["slices"]} == {"类型", "length"}
    for form in ("json", "csv", "md", "html"):
        assert "scripted:last" in (out / f"benchmark.{form}").read_text("utf-8")
    assert "规定" in (out / "benchmark.html").read_text("utf-8")
    shown = (out / "benchmark.md").read_text("utf-8")
    assert "| 规定 | correctness, yes or no, zh | 24 | scripted:" in shown
    assert "| people among themselves | 1 " in shown
    assert "warning: scripted:last calls 100% of what people call unsupported or wrong supported" in shown


def test_a_judge_that_prefers_the_first_answer_gets_the_known_table(tmp_path: Path) -> None:
    labels = ["A"] * 12 + ["B"] * 6 + ["tie"] * 2
    rows = [pair_row(f"p{at}", label) for at, label in enumerate(labels)]
    settings = Settings(seed=0, resamples=100)
    found = run_benchmark(
        [one_set(rows, "pairs")], [scripted_respondent("first", swap=False)], folder=tmp_path, settings=settings
    )
    (table,) = found.tables
    line = next(line for line in table.lines if line.judge == "scripted:first")
    assert line.measures["agreement"].value == pytest.approx(12 / 20)
    assert line.measures["balanced_accuracy"].value == pytest.approx(1 / 3)
    assert line.measures["kappa"].value == 0.0
    assert line.decisions == {"A": 20}
    assert line.cost.verdicts == 20
    # Every first answer is the longer one, so that baseline says the same.
    longer = next(line for line in table.lines if line.judge == "longer answer wins")
    assert longer.measures["agreement"] == line.measures["agreement"]
    assert [line.measures["kappa"].value for line in table.lines] == sorted(
        (line.measures["kappa"].value for line in table.lines), reverse=True
    )


def test_a_second_run_asks_nothing_and_gives_the_same_table(tmp_path: Path) -> None:
    label_set = one_set([binary_row(f"r{at}", at % 2) for at in range(12)], "s")
    settings = Settings(seed=0, resamples=100)
    respondent = scripted_respondent("hash", swap=False)
    first = run_benchmark([label_set], [respondent], folder=tmp_path, settings=settings)

    def refuse() -> object:
        raise AssertionError("nothing needs to be loaded")

    silent = respondent._replace(open=refuse)  # type: ignore[arg-type]
    assert run_benchmark([label_set], [silent], folder=tmp_path, settings=settings) == first


def test_ragchecker_labels_give_the_ceiling_worked_out_by_hand(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    # Both raters per query, sign turned: agree on direction in q1, q2, q4; differ in q3 (1, -1) and q5 (0, 2).
    labels = [(1, 2), (-1, -2), (1, -1), (2, 2), (0, 2)]
    rows = [ragchecker_row(f"q{at}", label, second=label) for at, pair in enumerate(labels, 1) for label in pair]
    path = tmp_path / "human.json"
    path.write_text(json.dumps(rows))
    arguments = ["benchmark", str(path), "--resamples", "100", "--out", str(tmp_path / "out"), "--format", "json"]
    assert run_cli(arguments) == 0
    tables = json.loads(capsys.readouterr().out)["tables"]
    assert [table["dimension"] for table in tables] == ["correctness", "preference"]
    for table in tables:
        assert (table["n_rows"], table["n_unsettled"], table["raters"]) == (5, 2, 2)
        assert table["ceiling"]["agreement"]["value"] == pytest.approx(3 / 5)
        # Pearson of (-1, 1, -1, -2, 0) and (-2, 2, 1, -2, -2): means -.6 and -.6, products of deviations
        # (-.4)(-1.4) + (1.6)(2.6) + (-.4)(1.6) + (-1.4)(-1.4) + (.6)(-1.4) = 5.2, squares 5.2 and 15.2.
        assert table["ceiling"]["pearson"]["value"] == pytest.approx(5.2 / (5.2 * 15.2) ** 0.5)


def test_bad_rows_of_all_files_are_listed_and_nothing_is_asked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first, second = tmp_path / "a.jsonl", tmp_path / "b.jsonl"
    first.write_text('{"dimension": "faithfulness", "answer": "x", "label": 3}\n')
    second.write_text("not json\n")
    assert run_cli(["benchmark", str(first), str(second), "--out", str(tmp_path / "out")]) == 3
    shown = capsys.readouterr().err
    assert f"{first}:1:" in shown
    assert f"{second}:1:" in shown
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--scripted", "lst"], "did you mean 'last'"),
        (["--scripted", "last", "--panel", "last+other"], "is not asked"),
        (["--judges", "no-such-model", "--engine", "transformers"], "no-such-model"),
    ],
)
def test_wrong_names_are_refused_with_what_to_do(
    options: list[str], words: str, chinese: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_cli(["benchmark", str(chinese), *options, "--out", str(tmp_path / "out")]) in (2, 3)
    assert words in capsys.readouterr().err


def test_an_interrupted_command_says_how_to_continue_and_ends_with_130(
    chinese: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(request: GenerateRequest) -> Generation:
        raise KeyboardInterrupt

    monkeypatch.setitem(SCRIPTS, "stop", stop)
    assert run_cli(["benchmark", str(chinese), "--scripted", "stop", "--out", str(tmp_path / "out")]) == 130
    assert "run the same command again" in capsys.readouterr().err


def test_a_judge_that_cannot_answer_has_no_numbers_and_ends_with_4(
    chinese: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(request: GenerateRequest) -> Generation:
        raise ValueError("no answer")

    monkeypatch.setitem(SCRIPTS, "broken", broken)
    arguments = ["benchmark", str(chinese), "--scripted", "broken", "--resamples", "100", "--format", "md"]
    assert run_cli([*arguments, "--out", str(tmp_path / "out")]) == 4
    shown = capsys.readouterr()
    assert "failed on 24 of 24 rows" in shown.err
    line = next(line for line in shown.out.splitlines() if line.startswith("| scripted:broken"))
    assert "| 0/24 |" in line
    assert "without a decision engine\\_error: 24; failed rows z0, z1, z2, z3, z4 and 19 more" in shown.out


def test_a_panel_and_both_thresholds_have_lines_of_their_own(
    chinese: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = [
        "benchmark",
        str(chinese),
        "--scripted",
        "last,first,hash",
        "--pass-from",
        "both",
        "--resamples",
        "100",
    ]
    panel = ["--panel", "scripted:last+scripted:first+scripted:hash", "--no-baselines"]
    assert run_cli([*arguments, *panel, "--out", str(tmp_path / "out"), "--format", "csv"]) == 0
    shown = capsys.readouterr().out
    assert "scripted:hash (yes from 3)" in shown
    assert "scripted:last+scripted:first+scripted:hash (yes from 2)" in shown
    assert "majority" not in shown


def test_a_sample_keeps_whole_queries_and_is_the_same_every_time() -> None:
    rows = [binary_row(f"r{at}", 1, query=f"q{at // 4}") for at in range(40)]
    drawn = sample(rows, 14, seed=3)
    assert len(drawn) == 12  # three queries of four rows; a fourth does not fit
    assert drawn == sample(rows[::-1], 14, seed=3)[::-1]
    assert {row.id for row in drawn} != {row.id for row in sample(rows, 14, seed=4)}
    assert sample(rows, 40, seed=0) == rows


def test_the_review_pages_rows_are_read_back(chinese: Path) -> None:
    (found,) = label_sets(read_label_file(chinese), "x")
    assert found.kind == "binary"
