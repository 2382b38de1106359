"""The statistics of a test set as sections of tables and sentences, in English and Chinese."""

from collections.abc import Mapping

from offline_eval.report.numbers import interval_text, percent, three
from offline_eval.report.section import Section
from offline_eval.testset.printed import Language
from offline_eval.testset.statistics import Distance, SetStatistics

_WORDS: Mapping[Language, Mapping[str, str]] = {
    "en": {
        "made_of": "What the set is made of",
        "property": "property", "value": "value", "cases": "cases", "share": "share",
        "type": "type", "difficulty": "difficulty", "language": "language", "answerable": "answerable",
        "origin": "origin", "generated_type": "generated as", "yes": "yes", "no": "no", "all": "all",
        "n_cases": "{n} cases",
        "guessed": "{n} types were not given and are guessed by their words",
        "distance": "Words of the questions that their passages do not have",
        "distance_what": "0: every content word of the question stands in the nearest expected passage; 1: none does. "
        "Questions near 0 flatter search by words.",
        "no_passage": "{n} cases name no expected passage of this corpus and are left out",
        "mean": "mean [95 %]",
        "detectable": "How large a difference it can show",
        "detectable_what": "For scores from {low} to {high}: the smallest true difference between two systems that a "
        "paired comparison finds with power .8, and half the width of one system's 95 % interval; {spread}.",
        "widest": "for the widest spread possible, so real scores do better",
        "measured": "for the spread that was given",
        "difference": "smallest difference", "half_width": "half width",
        "too_few_cases": "too few cases", "none_within_range": "none within the range",
        "wanted": "wanted", "enough": "enough",
    },
    "zh": {
        "made_of": "测试集构成",
        "property": "属性", "value": "取值", "cases": "用例数", "share": "占比",
        "type": "类型", "difficulty": "难度", "language": "语言", "answerable": "可回答",
        "origin": "来源", "generated_type": "生成类型", "yes": "是", "no": "否", "all": "全部",
        "n_cases": "共 {n} 条用例",
        "guessed": "其中 {n} 条没有注明类型，按用词推断",
        "distance": "问题中有多少用词不在期望段落里",
        "distance_what": "0：问题的实词都在最接近的期望段落里；1：都不在。越接近 0，越偏向按词检索的系统。",
        "no_passage": "{n} 条用例没有指明本语料中的期望段落，未计入",
        "mean": "均值 [95 %]",
        "detectable": "能看出多大的差异",
        "detectable_what": "分数范围 {low} 到 {high}：配对比较以 0.8 的功效能发现的两个系统之间的最小真实差异，以及"
        "单个系统 95 % 区间的半宽；{spread}。",
        "widest": "按可能的最大离散程度计算，实际分数会更好",
        "measured": "按给定的离散程度计算",
        "difference": "最小差异", "half_width": "区间半宽",
        "too_few_cases": "用例太少", "none_within_range": "范围内没有", "wanted": "建议数量", "enough": "是否足够",
    },
}  # fmt: skip


def statistics_sections(found: SetStatistics, *, language: Language, measured: bool = False) -> list[Section]:
    """Everything, in three sections; the distance is left out where no corpus was given.

    Args:
        measured: Whether the spread was given by the user.
    """
    words = _WORDS[language]
    sections = [_made_of(found, words)]
    if found.distances:
        sections.append(_distance(found, words))
    return [*sections, _detectable(found, words, measured=measured)]


def _made_of(found: SetStatistics, words: Mapping[str, str]) -> Section:
    rows = [
        [words[share.property], words.get(share.value, share.value), str(share.n), percent(share.share)]
        for share in found.shares
    ]
    lines = [words["n_cases"].format(n=found.n_cases)]
    if found.guessed_types:
        lines.append(words["guessed"].format(n=found.guessed_types))
    columns = [words[name] for name in ("property", "value", "cases", "share")]
    return Section(title=words["made_of"], lines=tuple(lines), columns=tuple(columns), rows=tuple(map(tuple, rows)))


def _distance(found: SetStatistics, words: Mapping[str, str]) -> Section:
    rows = [(words.get(row.group, row.group), _mean(row), str(row.n)) for row in found.distances]
    lines = [words["distance_what"]]
    if found.no_passage:
        lines.append(words["no_passage"].format(n=found.no_passage))
    return Section(
        title=words["distance"], lines=tuple(lines), columns=(words["type"], words["mean"], words["cases"]),
        rows=tuple(rows),
    )  # fmt: skip


def _detectable(found: SetStatistics, words: Mapping[str, str], *, measured: bool) -> Section:
    rows = [
        (
            words.get(advice.scope, advice.scope),
            str(advice.n),
            _or_reason(advice.smallest_difference, advice.difference_reason, words),
            _or_reason(advice.half_width, advice.half_width_reason, words),
            str(advice.wanted),
            words["yes" if advice.enough else "no"],
        )
        for advice in found.detectable
    ]
    columns = tuple(words[name] for name in ("type", "cases", "difference", "half_width", "wanted", "enough"))
    spread = words["measured" if measured else "widest"]
    line = words["detectable_what"].format(low=three(found.low), high=three(found.high), spread=spread)
    return Section(title=words["detectable"], lines=(line,), columns=columns, rows=tuple(rows))


def _mean(row: Distance) -> str:
    if row.mean is None:
        return f"– ({row.reason})"
    return f"{three(row.mean)} {interval_text(row.interval)}"


def _or_reason(value: float | None, reason: str | None, words: Mapping[str, str]) -> str:
    return three(value) if value is not None else words[reason] if reason else "–"
