"""Messages → token ids, in a way that no text of a data set can ever become a control token.

The chat template is rendered around place-holders; only the template's own text is read with control tokens, every
message is encoded by a copy of the tokenizer that has none, and the result is checked.
"""

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from offline_eval.core.errors import ModelError
from offline_eval.core.protocols import GenerateRequest, Message
from offline_eval.engines.vocabulary import ByteVocabulary

_SLOT = "q8zslot{}q8z"  # ordinary letters: templates strip and escape anything else
_SLOT_PATTERN = re.compile(r"q8zslot(\d+)q8z")
_BREAKER = "\u200b"


class NotEncodableError(ModelError):
    """A text that this model's tokenizer turns into control tokens whatever is done about it."""


class PromptEncoder:
    """Turns a request into the token ids of its prompt.

    Args:
        folder: A model folder with tokenizer.json and a chat template.
        template_options: Passed to the chat template, for example `{"enable_thinking": False}`.

    Raises:
        ModelError: There is no chat template, or none that takes a system and a user turn.
    """

    def __init__(self, folder: Path, template_options: dict[str, Any]) -> None:
        from tokenizers import Tokenizer
        from transformers import AutoTokenizer

        self.tokenizer = AutoTokenizer.from_pretrained(str(folder), trust_remote_code=False, local_files_only=True)
        if not getattr(self.tokenizer, "chat_template", None):
            raise ModelError(f"{folder}: has no chat template; a judge must be an instruction-tuned chat model")
        self.vocabulary = ByteVocabulary(folder / "tokenizer.json")
        self._template_options = template_options
        data = json.loads((folder / "tokenizer.json").read_text("utf-8"))
        data["truncation"] = data["padding"] = data["post_processor"] = None
        self._control = Tokenizer.from_str(json.dumps(data))
        control = self.vocabulary.control_ids
        text_only = [token for token in data.get("added_tokens") or [] if token["id"] not in control]
        self._plain = Tokenizer.from_str(json.dumps(data | {"added_tokens": text_only}))
        self._templates: dict[tuple[str, ...], str] = {}
        self._render(("system", "user"))  # a template that cannot is found now, not at the first batch

    def encode(self, request: GenerateRequest) -> list[int]:
        """Token ids of the whole prompt, the assistant's prefill included.

        Raises:
            NotEncodableError: A text would become control tokens.
        """
        ids: list[int] = []
        rendered = self._render(tuple(message.role for message in request.messages))
        for n, part in enumerate(_SLOT_PATTERN.split(rendered)):
            ids += self._content(request.messages[int(part)].content) if n % 2 else self._markup(part)
        return ids + self._content(request.prefill)

    def head_length(self, request: GenerateRequest) -> int:
        """Tokens before the second message, which prompts of one kind share; 0 for a prompt of one message."""
        if len(request.messages) < 2:
            return 0
        rendered = self._render(tuple(message.role for message in request.messages))
        opening, _, between = _SLOT_PATTERN.split(rendered)[:3]
        return sum(map(len, (self._markup(opening), self._content(request.messages[0].content), self._markup(between))))

    def _render(self, roles: tuple[str, ...]) -> str:
        """The chat template around numbered slots; rendered once for each sequence of roles."""
        if roles not in self._templates:
            slots = [{"role": role, "content": _SLOT.format(n)} for n, role in enumerate(roles)]
            self._templates[roles] = self._apply_template(slots)
        return self._templates[roles]

    def _apply_template(self, messages: list[dict[str, str]]) -> str:
        from jinja2.exceptions import TemplateError

        options = {"tokenize": False, "add_generation_prompt": True, **self._template_options}
        problem = "it leaves a turn out"
        try:
            rendered = str(self.tokenizer.apply_chat_template(messages, **options))
            if all(message["content"] in rendered for message in messages):
                return rendered
        except TemplateError as error:
            problem = str(error)
        if len(messages) < 2 or messages[0]["role"] != "system":
            raise ModelError(f"the chat template refuses this conversation: {problem}; use another judge")
        # Some templates know no system turn: its text then opens the first user turn.
        merged = {"role": "user", "content": f"{messages[0]['content']}\n\n{messages[1]['content']}"}
        return self._apply_template([merged, *messages[2:]])

    def _markup(self, text: str) -> list[int]:
        return list(self._control.encode(text, add_special_tokens=False).ids) if text else []

    def _content(self, text: str) -> list[int]:
        """Encode text that must stay text.

        A vocabulary may hold a control token's spelling as an ordinary merge; then the spelling is broken up by
        zero-width spaces, which is visible to nobody and harmless to a judge.
        """
        if not text:
            return []
        ids = list(self._plain.encode(text, add_special_tokens=False).ids)
        if not self.vocabulary.control_ids.intersection(ids):
            return ids
        broken = re.sub(r"([<\[|])", rf"\1{_BREAKER}", text)
        ids = list(self._plain.encode(broken, add_special_tokens=False).ids)
        if self.vocabulary.control_ids.intersection(ids):
            raise NotEncodableError(
                "the text cannot be encoded without control tokens of this model; use another judge"
            )
        return ids


def user_prompt(*texts: str) -> Sequence[Message]:
    """A conversation of one user turn; for probes and self-tests."""
    return (Message(role="user", content="\n".join(texts)),)
