"""What the HTML report says, in the reader's language; wording is data, so that a translation needs no code."""

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any, Literal

from offline_eval.core.comparison import Difference
from offline_eval.core.diagnosis import Text
from offline_eval.core.yaml_text import parse_yaml

Language = Literal["zh", "en"]
LANGUAGES: tuple[Language, ...] = ("zh", "en")


class Words:
    """The texts of one language; `words.scores` is the text under the key `scores`.

    Raises:
        AttributeError: No such text.
    """

    def __init__(self, language: Language) -> None:
        self.language = language
        self._texts = interface_texts(language)

    def __getattr__(self, name: str) -> Any:
        try:
            return self._texts[name]
        except KeyError:
            raise AttributeError(name) from None

    def named(self, table: str, name: str) -> str:
        """A name's wording from one of the tables; the name itself where the table has none."""
        return str(self._texts[table].get(name, name))

    def said(self, text: Text) -> str:
        """A text that was written in both languages."""
        return text.zh if self.language == "zh" else text.en

    def difference(self, found: Difference) -> str:
        """`test set: …`, with what differs in words."""
        return f"{self.named('differing', found.what)}: {found.detail}"

    def reason(self, text: str) -> str:
        """A reason such as `time_limit: no answer within 60 s`, with its code in words where they are known."""
        code, colon, rest = text.partition(":")
        if code in self._texts["rules"]:
            for name, wording in self._texts["dimensions"].items():
                rest = rest.replace(name, wording)
        words = self._texts["reasons"].get(code) or self._texts["rules"].get(code) or code
        return f"{words}{colon}{rest}"


@cache
def interface_texts(language: Language) -> Mapping[str, Any]:
    """All texts of one language."""
    text = files("offline_eval.report").joinpath("interface", f"{language}.yaml").read_bytes()
    found: Mapping[str, Any] = parse_yaml(text, f"{language}.yaml").data
    return found
