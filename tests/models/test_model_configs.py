import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

from offline_eval.core.errors import DataError, UnknownNameError, UsageError
from offline_eval.models.config import list_configs, load_config, shipped_folder

REPOSITORY = Path(__file__).resolve().parents[2]

GOOD = """\
kind: judge
family: qwen
languages: [zh, en]
license: Apache-2.0
context_length: 4096
dtype: bfloat16
memory_gib: 1
source:
  kind: folder
  upstream: someone/tiny
"""


def test_every_shipped_config_is_valid_and_known_by_its_file_name() -> None:
    stems = sorted(
        path.stem for sub in ("judges", "encoders", "embedders") for path in shipped_folder().glob(f"{sub}/*")
    )
    assert [config.name for config in list_configs()] == stems
    assert len(stems) == len(set(stems)) >= 15


def test_the_judges_of_the_default_panel_are_configured_with_thinking_off_where_there_is_thinking() -> None:
    judges = {config.name: config for config in list_configs("judge")}
    assert {config.family for config in judges.values()} == {"smollm", "llama", "qwen", "mistral", "gemma"}
    assert judges["qwen3-8b"].template_options == {"enable_thinking": False}
    assert judges["smollm2-135m-instruct"].license == "Apache-2.0"


def test_every_shipped_nli_model_says_which_label_is_entailment() -> None:
    for config in list_configs("nli"):
        assert list(config.label_map.values()).count("entailment") == 1, config.name


def test_an_english_model_does_not_speak_chinese_and_a_multilingual_one_does() -> None:
    assert not load_config("minicheck-deberta-v3-large").speaks("zh")
    assert load_config("mdeberta-v3-base-xnli").speaks("zh-Hans")
    assert load_config("bge-m3").speaks("zh")


def test_an_unknown_name_is_answered_with_the_nearest_one() -> None:
    with pytest.raises(UnknownNameError, match=r"unknown model 'qwen3-8'; did you mean 'qwen3-8b'\?"):
        load_config("qwen3-8")


def test_a_path_is_no_name() -> None:
    with pytest.raises(UnknownNameError):
        load_config("../judges/qwen3-8b")


def test_the_users_folder_adds_configs_and_goes_before_shipped_ones(own_config: Callable[..., Path]) -> None:
    own_config(GOOD)
    own_config(GOOD, "qwen3-8b")
    assert load_config("tiny").languages == ("zh", "en")
    assert load_config("qwen3-8b").context_length == 4096
    assert "tiny" in [config.name for config in list_configs("judge")]


def test_a_missing_users_folder_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OFFLINE_EVAL_CONFIGS", "/nowhere/at/all")
    with pytest.raises(UsageError, match="/nowhere/at/all"):
        list_configs()


def test_all_problems_of_all_files_are_reported_with_file_and_line(own_config: Callable[..., Path]) -> None:
    first = own_config(GOOD.replace("context_length: 4096", "context_length: -1").replace("judge", "jugde"))
    second = own_config(GOOD + "surprise: 1\n", "other")
    with pytest.raises(DataError) as caught:
        list_configs()
    # name is line 1, kind line 2, context_length line 6; the surprise follows the ten lines of GOOD: line 12
    starts = [problem.split(": ")[:2] for problem in caught.value.problems]
    assert [f"{second}:12", "surprise"] in starts
    assert [f"{first}:2", "kind"] in starts
    assert [f"{first}:6", "context_length"] in starts
    assert len(starts) == 3


def test_a_problem_inside_the_source_names_its_line(own_config: Callable[..., Path]) -> None:
    source = "source:\n  kind: package\n  package: p\n  version: '1'\n  file: ../x\n  sha256: abc\n  format: gguf\n"
    path = own_config(GOOD.split("source:")[0] + source)
    with pytest.raises(DataError) as caught:
        load_config("tiny")
    # seven lines of GOOD stay, after name: source is line 9, file line 13, sha256 line 14
    assert [problem.split(": ")[:2] for problem in caught.value.problems] == [
        [f"{path}:13", "source.file"],
        [f"{path}:14", "source.sha256"],
    ]


@pytest.mark.parametrize(
    ("text", "line"),
    [("kind: [judge\n", 3), ("kind: !!python/object/apply:os.system ['true']\n", 2)],
    ids=["broken YAML", "YAML that wants to run code"],
)
def test_what_is_not_plain_yaml_is_refused_with_its_line(own_config: Callable[..., Path], text: str, line: int) -> None:
    path = own_config(text)
    with pytest.raises(DataError, match=f"{path}:{line}: not valid YAML"):
        load_config("tiny")


def test_the_name_must_be_the_files_stem(own_config: Callable[..., Path]) -> None:
    path = own_config(GOOD)
    path.rename(path.with_name("other.yaml"))
    with pytest.raises(DataError, match="'tiny' must be the file's stem 'other'"):
        load_config("other")


@pytest.mark.parametrize("option", ["max_model_len: 8192", "trust_remote_code: true", "load_format: pt"])
def test_engine_options_cannot_undo_what_the_program_promises(own_config: Callable[..., Path], option: str) -> None:
    own_config(GOOD + f"engine_options: {{vllm: {{{option}}}}}\n")
    with pytest.raises(DataError, match=f"engine_options.vllm may not set {option.split(':')[0]}"):
        load_config("tiny")


def test_the_wheel_ships_the_configs_inside_the_package() -> None:
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())
    included = project["tool"]["hatch"]["build"]["targets"]["wheel"]["force-include"]
    assert included["model_configs"] == "offline_eval/model_configs"
