"""Tokens are read as bytes: every label and every character is where it is, in every kind of vocabulary."""

import json
from pathlib import Path
from typing import Any

import llguidance
import pytest
from engine_requests import FAMILIES, tiny_spec
from outlines_core import Index, Vocabulary
from tokenizers import AddedToken, Tokenizer

from offline_eval.core.errors import ModelError
from offline_eval.engines.inprocess import Preparer
from offline_eval.engines.vocabulary import ByteVocabulary
from offline_eval.judge.rubric import RUBRIC_LANGUAGES, load_rubric, rubric_names
from offline_eval.models.installed import InstalledModel

every_family = pytest.mark.parametrize("family", FAMILIES)
RUBRICS = [load_rubric(name, language) for name in rubric_names() for language in RUBRIC_LANGUAGES]


def writable(regex: str, tokens: dict[Any, list[int]], *, end: int, spelled: dict[int, bytes]) -> set[str]:
    """All texts that an automaton over these tokens can write."""
    index = Index(regex, Vocabulary(end, tokens))
    transitions, finals = index.get_transitions(), index.get_final_states()
    found: set[str] = set()
    pending = [(index.get_initial_state(), b"")]
    while pending:
        state, written = pending.pop()
        if state in finals:
            found.add(written.decode())
        steps = transitions.get(state, {}).items()
        pending += [(target, written + spelled[token]) for token, target in steps if token != end]
    return found


def as_bytes(vocabulary: ByteVocabulary) -> dict[bytes, list[int]]:
    tokens: dict[bytes, list[int]] = {}
    for index, spelling in vocabulary._bytes.items():
        if index not in vocabulary.control_ids:
            tokens.setdefault(spelling, []).append(index)
    return tokens


def as_text(vocabulary: ByteVocabulary, tokenizer: Tokenizer) -> dict[str, list[int]]:
    """The same tokens as their decoded texts; a part of a character decodes to U+FFFD."""
    tokens: dict[str, list[int]] = {}
    for index in vocabulary._bytes:
        if index not in vocabulary.control_ids and tokenizer.decode([index]):
            tokens.setdefault(tokenizer.decode([index]), []).append(index)
    return tokens


def check_text_loses_a_label_and_bytes_do_not(folder: Path, *, whole: str, in_pieces: str) -> None:
    vocabulary = ByteVocabulary(folder / "tokenizer.json")
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    assert len(tokenizer.encode(whole, add_special_tokens=False).ids) == 1
    assert len(tokenizer.encode(in_pieces, add_special_tokens=False).ids) > 1
    regex, end, spelled = f"({whole}|{in_pieces})", min(vocabulary.control_ids), vocabulary._bytes
    assert writable(regex, as_text(vocabulary, tokenizer), end=end, spelled=spelled) == {whole}
    assert writable(regex, as_bytes(vocabulary), end=end, spelled=spelled) == {whole, in_pieces}


@pytest.mark.parametrize("family", ["llama", "qwen"])
def test_an_automaton_over_text_cannot_write_fou_and_one_over_bytes_can(family: str, folders: dict[str, Path]) -> None:
    check_text_loses_a_label_and_bytes_do_not(folders[family], whole="对", in_pieces="否")


def test_with_the_default_judge_an_automaton_over_text_can_only_say_shi(default_judge: InstalledModel) -> None:
    check_text_loses_a_label_and_bytes_do_not(default_judge.folder, whole="是", in_pieces="否")


def check_masks_reach(folder: Path, texts: tuple[str, ...]) -> None:
    """Walk the masks that the engines use, token by token, along each text."""
    preparer = Preparer(tiny_spec("any", folder))
    tokenizer = preparer.encoder.tokenizer
    masks = llguidance.LLTokenizer(tokenizer.backend_tokenizer.to_str(), eos_token=preparer.end_id)
    grammar = llguidance.LLMatcher.grammar_from_regex(f"({'|'.join(texts)})")
    for text in texts:
        matcher = llguidance.LLMatcher(masks, grammar)
        for token in [*tokenizer.encode(text, add_special_tokens=False), preparer.end_id]:
            mask = matcher.compute_bitmask()
            assert mask[token // 8] >> token % 8 & 1, (text, token)
            matcher.consume_token(token)
        assert matcher.is_stopped()
        assert not matcher.is_error()


@every_family
def test_the_engines_masks_reach_both_shi_and_fou(family: str, folders: dict[str, Path]) -> None:
    check_masks_reach(folders[family], ("是", "否"))


def test_the_engines_masks_reach_both_with_the_default_judge(default_judge: InstalledModel) -> None:
    check_masks_reach(default_judge.folder, ("是", "否"))


@every_family
def test_every_label_of_every_rubric_is_the_token_that_the_tokenizer_writes(
    family: str, folders: dict[str, Path]
) -> None:
    check_labels(folders[family])


def test_every_label_of_every_rubric_is_reachable_with_the_default_judge(default_judge: InstalledModel) -> None:
    check_labels(default_judge.folder)


def check_labels(folder: Path) -> None:
    vocabulary = ByteVocabulary(folder / "tokenizer.json")
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    assert len(RUBRICS) >= 10
    for rubric in RUBRICS:
        found = vocabulary.label_ids(rubric.labels)
        assert len(set(found.values())) == len(rubric.labels)
        for label, index in found.items():
            assert label.isascii()
            assert index not in vocabulary.control_ids
            assert tokenizer.encode(label, add_special_tokens=False).ids == [index]


@every_family
def test_tokens_have_the_bytes_that_the_masks_give_them(family: str, folders: dict[str, Path]) -> None:
    check_bytes(folders[family])


def test_tokens_of_the_default_judge_have_the_bytes_that_the_masks_give_them(default_judge: InstalledModel) -> None:
    check_bytes(default_judge.folder)


def check_bytes(folder: Path) -> None:
    vocabulary = ByteVocabulary(folder / "tokenizer.json")
    masks = llguidance.LLTokenizer((folder / "tokenizer.json").read_text("utf-8"), eos_token=0)
    ordinary = [
        index
        for index, spelling in vocabulary._bytes.items()
        if index not in vocabulary.control_ids and spelling != b"\xff"  # no UTF-8 has it; the masks use it as a mark
    ]
    assert {i: vocabulary._bytes[i] for i in ordinary} == {i: masks.decode_bytes([i]) for i in ordinary}


def test_a_label_that_is_not_ascii_or_not_one_token_is_refused(folders: dict[str, Path]) -> None:
    vocabulary = ByteVocabulary(folders["llama"] / "tokenizer.json")
    with pytest.raises(ModelError, match="not ASCII"):
        vocabulary.label_ids(["是"])
    with pytest.raises(ModelError, match="cannot be reached"):
        vocabulary.label_ids(["1", "zzqqxx"])
    with pytest.raises(ModelError, match="cannot be reached"):
        vocabulary.label_ids(["<|eot_id|>"])


def test_a_folder_without_tokenizer_json_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"tokenizer\.json"):
        ByteVocabulary(tmp_path / "tokenizer.json")


def with_added_tokens(folder: Path, target: Path, tokens: list[AddedToken]) -> Tokenizer:
    """A copy of a model's tokenizer files with more added tokens."""
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    for token in tokens:
        (tokenizer.add_special_tokens if token.special else tokenizer.add_tokens)([token])
    target.mkdir()
    tokenizer.save(str(target / "tokenizer.json"))
    (target / "tokenizer_config.json").write_bytes((folder / "tokenizer_config.json").read_bytes())
    return tokenizer


@every_family
def test_added_white_space_is_text_and_an_added_tag_is_control_marked_special_or_not(
    family: str, folders: dict[str, Path], tmp_path: Path
) -> None:
    # Gemma's vocabulary lists line breaks and runs of spaces as added tokens, Qwen's lists <think> as not special.
    spaces = "▁▁▁" if family == "gemma" else "   "
    added = [
        AddedToken("\n\n", normalized=False),
        AddedToken(spaces, normalized=False),
        AddedToken("<tool>", normalized=False),
        AddedToken("<|call|>", special=True, normalized=False),
    ]
    tokenizer = with_added_tokens(folders[family], tmp_path / family, added)
    vocabulary = ByteVocabulary(tmp_path / family / "tokenizer.json")
    ids = {text: tokenizer.token_to_id(text) for text in ("\n\n", spaces, "<tool>", "<|call|>")}
    assert vocabulary.control_ids >= {ids["<tool>"], ids["<|call|>"]}
    assert vocabulary.control_ids.isdisjoint({ids["\n\n"], ids[spaces]})
    assert vocabulary.decode([ids["\n\n"], ids[spaces], ids["<tool>"]]) == "\n\n   <tool>"
    assert vocabulary.decode([ids["<|call|>"]]) == ""
    masks = llguidance.LLTokenizer(tokenizer.to_str(), eos_token=ids["<|call|>"])
    for index in (ids["\n\n"], ids[spaces], ids["<tool>"]):
        assert vocabulary.decode([index]).encode() == masks.decode_bytes([index])


def test_half_a_character_is_shown_as_a_replacement_character(folders: dict[str, Path]) -> None:
    data = json.loads((folders["llama"] / "tokenizer.json").read_text("utf-8"))
    first_byte = data["model"]["vocab"]["å"]  # the stand-in of byte 0xE5, with which 否 begins
    assert ByteVocabulary(folders["llama"] / "tokenizer.json").decode([first_byte]) == "\ufffd"
