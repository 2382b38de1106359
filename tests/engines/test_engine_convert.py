"""A damaged GGUF file is one clear model error, whatever its bytes do to the parser."""

from pathlib import Path

import numpy as np
import pytest

from offline_eval.core.errors import ModelError
from offline_eval.engines.convert import gguf_to_safetensors


@pytest.fixture(scope="module")
def incomplete(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A well-formed Llama file of one layer that has its embeddings and no other weight."""
    from gguf import GGUFWriter

    path = tmp_path_factory.mktemp("gguf") / "llama.gguf"
    writer = GGUFWriter(str(path), "llama")
    writer.add_context_length(64)
    writer.add_embedding_length(32)
    writer.add_block_count(1)
    writer.add_feed_forward_length(64)
    writer.add_head_count(2)
    writer.add_head_count_kv(1)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_tokenizer_model("gpt2")
    writer.add_token_list(["<s>", "</s>", "a", "b", "ab"])
    writer.add_token_types([3, 3, 1, 1, 1])
    writer.add_token_merges(["a b"])
    writer.add_tensor("token_embd.weight", np.zeros((5, 32), dtype=np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path.read_bytes()


NOISE = np.random.default_rng(0).bytes(4096)


@pytest.mark.parametrize(
    "content",
    [b"", b"GGUF", NOISE, b"GGUF" + NOISE, b"GGUF\x63\x00\x00\x00", b"<html>not found</html>" * 100],
    ids=["empty", "only the magic", "noise", "magic and noise", "unknown version", "a web page"],
)
def test_a_file_that_is_no_gguf_is_a_model_error(content: bytes, tmp_path: Path) -> None:
    refuse(content, tmp_path, "cannot be read as GGUF")


@pytest.mark.parametrize("kept", [0.1, 0.5, 0.7, 0.95])
def test_a_file_that_was_cut_short_is_a_model_error(kept: float, incomplete: bytes, tmp_path: Path) -> None:
    refuse(incomplete[: int(len(incomplete) * kept)], tmp_path, "cannot be read as GGUF")


def test_a_file_whose_weights_are_incomplete_is_a_model_error_and_not_filled_with_random_numbers(
    incomplete: bytes, tmp_path: Path
) -> None:
    refuse(incomplete, tmp_path, "10 weights are missing, model.layers.0.input_layernorm.weight first")


def test_a_file_that_does_not_exist_is_a_model_error(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"none\.gguf"):
        gguf_to_safetensors(tmp_path / "none.gguf", tmp_path / "out")


def refuse(content: bytes, folder: Path, why: str) -> None:
    file = folder / "judge.gguf"
    file.write_bytes(content)
    with pytest.raises(ModelError, match=why) as caught:
        gguf_to_safetensors(file, folder / "out")
    assert str(file) in str(caught.value)
    assert not (folder / "out").exists()
