"""A tiny BERT with random weights and a real WordPiece vocabulary, written to disk in a moment."""

import json
from pathlib import Path

_WORDS = """
    the a of to in and or is are was not no staff receive days day annual leave year years public holidays england
    addition may be carried over until april weeks pay full part time passage query answer claim 26 25 8 30 5 20 yes who
    what when how many ? . , : ( ) - '
"""
_CHINESE = "员工每年享有年假天不可以结转月日报销需要什么材料发票申请表部门经理审批十五个工作的"


def make_tiny_encoder(folder: Path, *, labels: int, seed: int = 0, hidden: int = 32) -> Path:
    """Write a sequence classifier with `labels` outputs, or a bare encoder with none (labels = 0)."""
    import torch
    from transformers import BertConfig, BertForSequenceClassification, BertModel

    folder.mkdir(parents=True, exist_ok=True)
    letters = [chr(code) for code in range(ord("a"), ord("z") + 1)] + [str(digit) for digit in range(10)]
    words = [
        "[PAD]",
        "[UNK]",
        "[CLS]",
        "[SEP]",
        "[MASK]",
        *letters,
        *(f"##{letter}" for letter in letters),
        *_WORDS.split(),
    ]
    vocabulary = list(dict.fromkeys([*words, *_CHINESE]))
    _write_tokenizer(folder, vocabulary)
    config = BertConfig(
        vocab_size=len(vocabulary),
        hidden_size=hidden,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=2 * hidden,
        max_position_embeddings=512,
        num_labels=max(1, labels),
    )
    network = BertForSequenceClassification(config) if labels else BertModel(config)
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, weight in sorted(network.named_parameters()):
            if "LayerNorm" in name:
                weight.fill_(1.0 if name.endswith("weight") else 0.0)
            else:
                weight.normal_(0.0, 0.3, generator=generator)
    network.save_pretrained(folder, safe_serialization=True)
    return folder


def _write_tokenizer(folder: Path, vocabulary: list[str]) -> None:
    from transformers import BertTokenizerFast

    (folder / "vocab.txt").write_text("\n".join(vocabulary) + "\n", encoding="utf-8")
    BertTokenizerFast(vocab=str(folder / "vocab.txt"), do_lower_case=True, model_max_length=512).save_pretrained(folder)
    settings = json.loads((folder / "tokenizer_config.json").read_text("utf-8"))
    assert settings["model_max_length"] == 512
