"""Published sets are read as published, and the shipped scorer holds on the part that was kept from it."""

import json
import os
from pathlib import Path

import pytest

from offline_eval.core.errors import DataError
from offline_eval.engines.feature_scorer import load_scorer_data
from offline_eval.stats.separation import auroc
from offline_eval.training.constructed_pairs import SUPPORTED_KINDS, UNSUPPORTED_KINDS
from offline_eval.training.default_scorers import feature_table, scores
from offline_eval.training.public_sets import LICENSES, SETS, read_begin, read_handbook, read_wice, read_xquad

FOLDER = os.environ.get("OFFLINE_EVAL_PUBLIC_DATA")
needs_data = pytest.mark.skipif(FOLDER is None, reason="OFFLINE_EVAL_PUBLIC_DATA does not name the public sets")


def test_a_claim_with_several_evidences_is_one_group(tmp_path: Path) -> None:
    rows = [
        {"evidence": ["a.", "b."], "claim": "c", "label": "supported"},
        {"evidence": ["d."], "claim": "c", "label": "supported"},
        {"evidence": ["e."], "claim": "f", "label": "partially_supported"},
    ]
    (tmp_path / "wice").mkdir()
    (tmp_path / "wice" / "claim_dev.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    first, second, third = read_wice(tmp_path)
    assert first.premise == "a.\nb."
    assert (first.label, third.label) == (1, 0)
    assert first.group == second.group != third.group


def test_generic_replies_are_left_out(tmp_path: Path) -> None:
    (tmp_path / "begin").mkdir()
    lines = [
        "knowledge\tresponse\tbegin_label",
        'k\t"r\tFully attributable',
        "k\ts\tGeneric",
        "l\tt\tNot fully attributable",
    ]
    (tmp_path / "begin" / "begin_dev_wow.tsv").write_text("\n".join(lines))
    pairs = read_begin(tmp_path)
    assert [(pair.hypothesis, pair.label) for pair in pairs] == [('"r', 1), ("t", 0)]


def test_the_other_paragraph_is_of_the_same_article(tmp_path: Path) -> None:
    article = {"paragraphs": [{"context": f"p{n}", "qas": [{"question": f"q{n}"}]} for n in range(3)]}
    (tmp_path / "xquad").mkdir()
    (tmp_path / "xquad" / "xquad.zh.json").write_text(json.dumps({"data": [article, article]}))
    pairs = read_xquad(tmp_path, "zh")
    assert len(pairs) == 12
    assert all((pair.premise[1] == pair.hypothesis[1]) == bool(pair.label) for pair in pairs)
    assert {pair.group for pair in pairs} == {"article 0", "article 1"}


def test_a_missing_set_says_where_it_was_looked_for(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"claim_dev\.jsonl.*OFFLINE_EVAL_PUBLIC_DATA"):
        read_wice(tmp_path)


def test_every_set_has_a_licence() -> None:
    assert set(LICENSES) == set(SETS)


def test_constructed_sets_need_no_folder_and_published_ones_do() -> None:
    assert {pair.kind for pair in read_handbook("zh")} == {*SUPPORTED_KINDS, *UNSUPPORTED_KINDS}
    with pytest.raises(DataError, match="wice is a published set"):
        feature_table("wice", None, aligner=None)


@pytest.mark.slow
def test_the_chinese_support_scorer_beats_overlap_on_passages_kept_from_it() -> None:
    table = feature_table("handbook-zh", None, aligner=None)
    data = load_scorer_data("default-support")
    fit, report = table.parted()
    assert not {pair.premise for pair in fit.pairs} & {pair.premise for pair in report.pairs}
    recorded = {entry["name"]: entry for entry in data.card["sets"]}  # type: ignore[attr-defined]
    assert recorded["handbook-zh"]["data_hash"] == table.data_hash
    assert recorded["handbook-zh"]["pairs_fitted_on"] == len(fit.pairs)
    ours, overlap = auroc(scores(report, data), report.labels), auroc(report.column("content_words"), report.labels)
    assert isinstance(ours, float)
    assert isinstance(overlap, float)
    assert (round(ours, 3), round(overlap, 3)) == (0.839, 0.627)


@needs_data
@pytest.mark.slow
@pytest.mark.parametrize("name", ["wice", "begin"])
def test_the_support_scorer_beats_overlap_on_groups_kept_from_it(name: str) -> None:
    table = feature_table(name, Path(str(FOLDER)), aligner=None)
    data = load_scorer_data("default-support")
    fit, report = table.parted()
    assert not {pair.hypothesis for pair in fit.pairs} & {pair.hypothesis for pair in report.pairs}
    recorded = {entry["name"]: entry for entry in data.card["sets"]}  # type: ignore[attr-defined]
    assert recorded[name]["data_hash"] == table.data_hash
    assert recorded[name]["pairs_fitted_on"] == len(fit.pairs)
    ours, overlap = auroc(scores(report, data), report.labels), auroc(report.column("content_words"), report.labels)
    assert isinstance(ours, float)
    assert isinstance(overlap, float)
    assert ours > overlap
