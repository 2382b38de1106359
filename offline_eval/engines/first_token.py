"""The last layer of a cross-encoder, computed at the first token alone: its head reads no other.

The other tokens still give the last layer its keys and values, so the scores are the same but for float rounding. Of
the layer's multiplications in the hidden size (four for attention, eight for the feed-forward part) two are left.
"""

from typing import Any

ARCHITECTURES = (
    "BertForSequenceClassification",
    "RobertaForSequenceClassification",
    "XLMRobertaForSequenceClassification",
)
"""Networks whose heads read the first token and whose layers are laid out as BERT's."""


def read_first_token_only(network: Any) -> bool:
    """Let the last layer compute the first token's state alone, where the architecture allows it.

    Args:
        network: A transformers network for sequence classification; changed in place.

    Returns:
        Whether it was changed.
    """
    if type(network).__name__ not in ARCHITECTURES:
        return False
    last = network.base_model.encoder.layer[-1]
    last.attention = _first_token_attention(last.attention)
    return True


def _first_token_attention(attention: Any) -> Any:
    import torch

    class FirstTokenAttention(torch.nn.Module):  # type: ignore[misc]
        """Self-attention whose only query is the first token."""

        def __init__(self) -> None:
            super().__init__()
            self.self, self.output = attention.self, attention.output

        def forward(self, hidden: torch.Tensor, attention_mask: torch.Tensor | None = None, **_: Any) -> Any:
            """From (n_pairs, n_tokens, n_hidden) to (n_pairs, 1, n_hidden)."""
            first = hidden[:, :1]
            heads = (*hidden.shape[:1], -1, self.self.num_attention_heads, self.self.attention_head_size)
            query, key, value = (
                project(states).view(heads).transpose(1, 2)  # (n_pairs, n_heads, n_tokens, n_head_size)
                for project, states in (
                    (self.self.query, first),
                    (self.self.key, hidden),
                    (self.self.value, hidden),
                )
            )
            mask = None if attention_mask is None else attention_mask[:, :, :1]
            mixed = torch.nn.functional.scaled_dot_product_attention(query, key, value, attn_mask=mask)
            return self.output(mixed.transpose(1, 2).flatten(2), first), None

    return FirstTokenAttention()
