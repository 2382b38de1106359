"""The last layer at the first token alone: the same logits as the whole layer."""

from typing import Any

import pytest
import torch
import transformers

from offline_eval.engines.first_token import ARCHITECTURES, read_first_token_only

TINY = {
    "vocab_size": 60,
    "hidden_size": 24,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "intermediate_size": 48,
    "max_position_embeddings": 40,
    "num_labels": 3,
}


def logits(network: Any, ids: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    with torch.inference_mode():
        found: torch.Tensor = network(input_ids=ids, attention_mask=mask).logits
    return found


def padded(*lengths: int) -> tuple[torch.Tensor, torch.Tensor]:
    torch.manual_seed(3)
    mask = torch.tensor([[int(i < length) for i in range(max(lengths))] for length in lengths])
    return torch.randint(5, 60, mask.shape) * mask, mask


@pytest.mark.parametrize("attention", ["sdpa", "eager"])
@pytest.mark.parametrize("lengths", [(1,), (7, 7), (30, 12, 2)])
@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_the_logits_are_those_of_the_whole_layer(architecture: str, lengths: tuple[int, ...], attention: str) -> None:
    torch.manual_seed(1)
    kind = getattr(transformers, architecture)
    network = kind(kind.config_class(**TINY, pad_token_id=0)).eval()
    network.set_attn_implementation(attention)
    torch.nn.init.normal_(network.base_model.encoder.layer[-1].attention.self.query.weight)  # far from even
    ids, mask = padded(*lengths)
    whole = logits(network, ids, mask)
    assert read_first_token_only(network)
    torch.testing.assert_close(logits(network, ids, mask), whole, rtol=0, atol=2e-6)


def test_the_last_layer_computes_one_token() -> None:
    network = transformers.BertForSequenceClassification(transformers.BertConfig(**TINY)).eval()
    seen: list[tuple[int, ...]] = []
    for layer in network.base_model.encoder.layer:
        layer.output.register_forward_hook(lambda _module, _inputs, output: seen.append(tuple(output.shape)))
    read_first_token_only(network)
    logits(network, *padded(9, 5))
    assert seen == [(2, 9, 24), (2, 9, 24), (2, 1, 24)]


def test_another_architecture_is_left_alone() -> None:
    network = transformers.ElectraForSequenceClassification(transformers.ElectraConfig(**TINY)).eval()
    ids, mask = padded(9, 5)
    whole = logits(network, ids, mask)
    assert not read_first_token_only(network)
    torch.testing.assert_close(logits(network, ids, mask), whole, rtol=0, atol=0)
