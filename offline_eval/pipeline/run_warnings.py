"""What a reader should know before trusting a run's numbers, in every language a report has.

Why stored in both: those of the beginning are about the machine and the models of that moment, which are gone later.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from offline_eval.core.diagnosis import Text
from offline_eval.core.protocols import Item
from offline_eval.core.records import Case

STORED, STORED_ZH = "warnings", "warnings_zh"
"""Where a run's stored configuration keeps them; files of earlier versions have the first alone."""

SCRIPTED = Text(
    en="the engine was scripted: these grades are invented and mean nothing",
    zh="引擎为脚本引擎：这些评分是编造的，没有任何意义",
)
UNFINISHED = Text(
    en="the run is not finished: what is missing counts as failed; run the same command again to continue",
    zh="本次运行尚未完成：缺少的部分按失败计；再次运行同一命令即可继续",
)
_NAMED = 5  # cases named in a warning


def stored_form(warnings: Sequence[Text]) -> dict[str, list[str]]:
    """For the run's stored configuration."""
    return {STORED: [text.en for text in warnings], STORED_ZH: [text.zh for text in warnings]}


def read_stored(stored: Mapping[str, Any]) -> tuple[Text, ...]:
    """The warnings a run was begun with; in English alone where the file has no other."""
    english = stored.get(STORED, ())
    chinese = stored.get(STORED_ZH, english)
    return tuple(Text(en=en, zh=zh) for en, zh in zip(english, chinese, strict=True))


def not_made_for(judge: str, *, spoken: Sequence[str], lacking: Sequence[str]) -> Text:
    """A judge that was not made for a language of the test set."""
    made_for, not_for = ", ".join(spoken), ", ".join(lacking)
    return Text(
        en=f"judge {judge} was made for {made_for}, not {not_for}: distrust those grades",
        zh=f"评审模型 {judge} 面向 {made_for}，不面向 {not_for}：这些语言的评分不可信",
    )


def unanswered(cases: Sequence[Case], items: Sequence[Item]) -> Iterable[Text]:
    """Cases that a system left out: they are in none of its means, so leaving out hard ones would pay."""
    n = len(cases)
    if not items:
        yield Text(
            en=f"none of {n} cases has a response: nothing was scored",
            zh=f"{n} 个用例都没有回答：没有任何评分",
        )
    answered: dict[str, set[str]] = {}
    for item in items:
        answered.setdefault(item.response.system, set()).add(item.case.id)
    for system, found in answered.items():
        lacking = [case.id for case in cases if case.id not in found]
        if lacking:
            named = ", ".join(lacking[:_NAMED]) + (", …" if len(lacking) > _NAMED else "")
            yield Text(
                en=f"{system} has no response for {len(lacking)} of {n} cases ({named}): they are in none of its means",
                zh=f"{system} 对 {n} 个用例中的 {len(lacking)} 个没有回答（{named}）：其均值均不包含这些用例",
            )
