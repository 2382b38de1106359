"""Token ids as bytes: the only view of a vocabulary in which every label and every character is where it is.

Reading tokens as text loses the pieces of multi-byte characters, and a grammar built on that can be unable to write
half of the characters it allows. So text is decoded, and labels are looked up, over bytes.
"""

import json
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from offline_eval.core.errors import ModelError

_BYTE_FALLBACK = re.compile(r"<0x([0-9A-Fa-f]{2})>")
_METASPACE = "▁"


class ByteVocabulary:
    """A tokenizer file's tokens as the bytes they write.

    Args:
        tokenizer_file: `tokenizer.json` of a model folder.

    Attributes:
        control_ids: Added tokens that no text may become, marked special or not (`<think>` often is not). Runs of
            white space, which some vocabularies list as added tokens, are text.

    Raises:
        ModelError: The file is missing or of a kind whose tokens cannot be mapped to bytes.
    """

    def __init__(self, tokenizer_file: Path) -> None:
        if not tokenizer_file.is_file():
            raise ModelError(f"{tokenizer_file}: missing; the model folder needs a tokenizer.json (a fast tokenizer)")
        data: dict[str, Any] = json.loads(tokenizer_file.read_text("utf-8"))
        tokens = _model_tokens(data["model"])
        to_bytes = _byte_level if _is_byte_level(data) else _metaspace
        added = {int(token["id"]): token for token in data.get("added_tokens") or []}
        self._bytes = {index: to_bytes(token) for token, index in tokens.items()}
        self._bytes.update({index: to_bytes(str(token["content"])) for index, token in added.items()})
        self._special_ids = frozenset(index for index, token in added.items() if token.get("special"))
        self.control_ids = self._special_ids | {index for index in added if self._bytes[index].strip()}
        self._fallback_ids = {index for token, index in tokens.items() if _BYTE_FALLBACK.fullmatch(token)}

    def decode(self, ids: Iterable[int]) -> str:
        """The text that the tokens write, special tokens left out; a broken character becomes U+FFFD.

        An added token that is not special counts as its spelling, as it does under a grammar.
        """
        return b"".join(self._bytes.get(i, b"") for i in ids if i not in self._special_ids).decode("utf-8", "replace")

    def label_ids(self, labels: Sequence[str]) -> dict[str, int]:
        """Find for every label the one ordinary token that writes exactly it.

        Where a vocabulary also has tokens for single bytes, its tokenizer never uses those for a character that has a
        token of its own, so neither does a model trained on it.

        Raises:
            ModelError: A label is not ASCII or has no such token; it could never be chosen.
        """
        found: dict[str, int] = {}
        by_bytes: dict[bytes, int] = {}
        for index in sorted(self._bytes, key=lambda i: (i not in self._fallback_ids, -i)):
            if index not in self.control_ids:
                by_bytes[self._bytes[index]] = index
        for label in labels:
            if not label.isascii():
                raise ModelError(
                    f"label {label!r} is not ASCII; labels on the wire are ASCII, display names are mapped"
                )
            if label.encode() not in by_bytes:
                raise ModelError(f"label {label!r} is not a single token of this vocabulary and cannot be reached")
            found[label] = by_bytes[label.encode()]
        return found


def _model_tokens(model: dict[str, Any]) -> dict[str, int]:
    vocab = model["vocab"]
    if isinstance(vocab, dict):
        return {str(token): int(index) for token, index in vocab.items()}
    return {str(entry[0]): index for index, entry in enumerate(vocab)}  # Unigram: [token, log probability]


def _is_byte_level(data: dict[str, Any]) -> bool:
    return '"ByteLevel"' in json.dumps([data.get("pre_tokenizer"), data.get("decoder")])


def _byte_alphabet() -> dict[str, int]:
    """GPT-2's printable stand-ins for the 256 bytes (public vocabulary convention of byte-level BPE)."""
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    hidden = [byte for byte in range(256) if byte not in set(printable)]
    return {chr(byte): byte for byte in printable} | {chr(256 + n): byte for n, byte in enumerate(hidden)}


_ALPHABET = _byte_alphabet()


def _byte_level(token: str) -> bytes:
    if all(char in _ALPHABET for char in token):
        return bytes(_ALPHABET[char] for char in token)
    return token.encode()


def _metaspace(token: str) -> bytes:
    match = _BYTE_FALLBACK.fullmatch(token)
    return bytes([int(match[1], 16)]) if match else token.replace(_METASPACE, " ").encode()
