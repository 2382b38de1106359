"""Edits that turn a claim of the demo handbook into one its passage does not make: a figure, a date, a name, a denial.

Why: an unsupported claim that differs from a supported one in one place cannot be told by how many words it shares.
A bound is a figure like any other here: a rule that says "up to 30 days" does not say "up to 60", as people read rules,
though in logic the one follows from the other.
"""

import random
import re
from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeVar

from offline_eval.text.negation import find_negations
from offline_eval.text.numbers import Quantity, find_quantities
from offline_eval.training.claim_rewordings import Rule, rules_of
from offline_eval.training.numeral_spelling import read_spelling, spell, stands_for_no_figure

EDIT_KINDS = ("figure", "figure_swapped", "date", "name", "denial_added", "denial_removed")
"""figure: a value that stands nowhere in the premise. figure_swapped: another value of the premise with the same unit.
date: another date, weekday, month or time of day. name: another person, place, department, product or group of staff,
absent from the premise. denial_added, denial_removed: the statement turned into its opposite."""

_COUNTABLE = ("number", "percent", "money", "duration")

# What stands in the place of what; all of them are names of the handbook.
_NAMES = (
    ("周敏", "陈立"),
    ("财务部", "人事部", "信息部", "行政部", "后勤部", "监察室"),
    ("直属主管", "部门负责人", "项目经理", "财务总监", "安全主管", "行政部"),
    ("苏州", "北京", "上海", "广州", "深圳", "利兹"),
    ("磐石令", "行知"),
    ("研发岗位", "销售岗位", "财务岗位", "普通岗位"),
    ("研发人员", "销售人员", "值班人员"),
    ("生产线员工", "试用期员工", "应届毕业生", "怀孕的员工"),
    ("高铁", "班车"),
    ("笔记本电脑", "打印机", "移动硬盘"),
    ("法定年休假", "育儿假", "婚假"),
    ("Priya Raman", "Helen Brandt"),
    ("Alder Mutual", "Meridian Desk", "Clearwater"),
    ("Harbour", "Finch", "Tessera"),
    ("Leeds", "London", "Suzhou", "Bristol"),
    ("England", "Scotland"),
    ("People Operations", "IT Security", "Finance", "the service desk"),
    ("line manager", "head of department", "team lead", "Finance Director", "data owner"),
    ("Public", "Internal", "Confidential", "Restricted"),
    ("Laptops", "Phones", "Badges"),
    ("laptop", "phone", "badge"),
    ("Part-time staff", "Laboratory staff", "Engineers"),
    ("breakfast", "lunch", "dinner", "hotel"),
)
_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday")
_MONTHS = ("January", "February", "March", "April", "June", "July", "September", "October", "December")
_DATE = re.compile(
    r"(?P<hour>\d{1,2})(?P<minute>:[0-5]\d)|(?P<clock>\d{1,2})(?=点)|(?P<month>\d{1,2})(?=月(?!数))|"
    r"(?<=月)(?P<day>\d{1,2})(?=日)|(?<=周)(?P<zh_weekday>[一二三四五])|"
    rf"\b(?P<weekday>{'|'.join(_WEEKDAYS)})|\b(?P<name>{'|'.join(_MONTHS)})\b|\b(?P<nth>\d{{1,2}})(?=st|nd|rd|th)"
)

_T = TypeVar("_T")


_REMOVED = rules_of(
    (r"不得(?!不)|不可以|不能|不可(?!不)", "可以"),
    (r"无须|无需|不用|不必|不需要", "必须"),
    (r"禁止|不准|不允许", "允许"),
    (r"没有", "有"),
    (r"没(?=[休考])", "已经"),
    (r"不予", "予以"),
    (r"拒收", "收下"),
    (r"无效", "有效"),
    (r"不(?=[签发配折结累计适要安在再提办奖承是收做包按由享])", ""),
    (r"\b(may|is|are|do|does|must|has|have|will) not\b", r"\1"),
    (r"\b(do|does|is|are)n't\b", r"\1"),
    (r"\bcannot\b|\bcan't\b", "can"),
    (r"\b(need|needs|pays|earn) no\b", r"\1 a"),
    (r"^Nobody\b", "Everybody"),
    (r"^No (?=[a-z])", "A "),
    (r"\bnever\b", "always"),
    (r"\bforbidden\b", "allowed"),
    (r"\bexcluded\b", "included"),
    (r"\brefused\b|\bturned down\b", "accepted"),
    (r"\bno (?=monthly|regular|disciplinary|bonus)", "a "),
    (r"\bwithout\b", "with"),
)
_ADDED = rules_of(
    (r"(?<!不)可以", "不可以"),
    (r"(?<![不认许])可(?=[选乘分延补结提用随报匿更获申])", "不可"),
    (r"必须|(?<![必无])须", "无须"),
    (r"(?<!不)应(?=在|当|休)", "不应"),
    (r"(?<!不)由(?=.{2,8}(?:审批|承担|批准|维修|签字|代为|锁定|转运))", "不由"),
    (r"(?<![不准])按(?=[工约基弹设挽排\d])", "不按"),
    (r"(?<!不)(享有|包含|允许|奖励|支付|提供|组织|供应|上浮)", r"不\1"),
    (r"(?<!不)优先", "不优先"),
    (r"\bmay\b(?! not)", "may not"),
    (r"\bcan\b(?! not)", "cannot"),
    (r"\bmust\b(?! not)", "must not"),
    (r"\b(is|are)\b(?! (?:not|no|never|only)\b)", r"\1 not"),
    (r"\bhave to\b", "do not have to"),
    (r"\bhas to\b", "does not have to"),
    (r"\b(need|receive|get|pay|add|earn|run|cover|require|last|rise|cost)s\b(?! no)", r"does not \1"),
    (r"\b(?<!to )(?<!may )(?<!can )(?<!not )(?<!must )(receive|get|need|require|have)\b(?! no| to)", r"do not \1"),
)


class Edit(NamedTuple):
    """A changed claim and what kind of change it is, one of `EDIT_KINDS`."""

    kind: str
    text: str


def edited(claim: str, premise: str, *, draw: random.Random) -> list[Edit]:
    """Change a claim once in every way that it allows.

    Args:
        claim: A statement the premise makes.
        premise: All of the evidence.
        draw: Decides which of several figures, dates, names and denials is changed, and into what.

    Returns:
        At most one edit of each kind, each another statement than the claim.
    """
    makers: tuple[Callable[[], str | None], ...] = (
        lambda: _figure(claim, premise, draw),
        lambda: _figure_swapped(claim, premise, draw),
        lambda: _date(claim, premise, draw),
        lambda: _name(claim, premise, draw),
        lambda: _denial(claim, _ADDED, draw),
        lambda: _denial(claim, _REMOVED, draw),
    )
    made = [(kind, make()) for kind, make in zip(EDIT_KINDS, makers, strict=True)]
    return [
        Edit(kind, text) for kind, text in made if text is not None and text not in (claim, "") and text not in premise
    ]


def _countable(text: str) -> list[Quantity]:
    return [
        quantity
        for quantity in find_quantities(text)
        if quantity.kind in _COUNTABLE and not stands_for_no_figure(text, quantity)
    ]


def _figure(claim: str, premise: str, draw: random.Random) -> str | None:
    known = {quantity.value for quantity in find_quantities(premise)}
    for quantity in _shuffled(_countable(claim), draw):
        spelling = read_spelling(quantity.text)
        if spelling is None:
            continue
        value = spelling.value
        step = 10 ** (len(str(value)) - 1)
        for other in _shuffled(
            [value + step, value + 2 * step, value - step, 2 * value, value + (step // 2 or 3)], draw
        ):
            new = _replaced(claim, quantity, spell(other, like=spelling))
            if 0 < other != value and _values(new) - _values(claim) and not (_values(new) - _values(claim)) & known:
                return new
    return None


def _figure_swapped(claim: str, premise: str, draw: random.Random) -> str | None:
    stated = _values(claim)
    for quantity in _shuffled(_countable(claim), draw):
        spelling = read_spelling(quantity.text)
        others = {
            other.value
            for other in _countable(premise)
            if _counted_as(premise, other) == _counted_as(claim, quantity) and other.value not in stated
        }
        for value in _shuffled(sorted(others), draw):
            factor = float(quantity.value) / spelling.value if spelling else 0  # weeks are counted in days
            written = float(value) / factor if factor else 0.5
            if spelling is not None and written.is_integer() and written > 0:
                return _replaced(claim, quantity, spell(int(written), like=spelling))
    return None


def _counted_as(text: str, quantity: Quantity) -> tuple[str, str, str]:
    """What a quantity counts: its unit, or the measure word after a bare number."""
    return quantity.kind, quantity.unit, "" if quantity.unit else text[quantity.end : quantity.end + 1]


def _date(claim: str, premise: str, draw: random.Random) -> str | None:
    for found in _shuffled(list(_DATE.finditer(claim)), draw):
        field = str(found.lastgroup)
        start, end = found.span("hour" if field == "minute" else field)
        for other in _shuffled(_other_dates(field, claim[start:end]), draw):
            new = claim[:start] + other + claim[end:]
            changed = new[max(0, start - 1) : start + len(other) + (3 if field == "minute" else 1)]
            if other != claim[start:end] and changed not in premise:
                return new
    return None


def _other_dates(field: str, written: str) -> list[str]:
    if field == "zh_weekday":
        return list("一二三四五")
    if field in ("weekday", "name"):
        return list(_WEEKDAYS if field == "weekday" else _MONTHS)
    value = int(written)
    last = {"month": 12, "day": 28, "nth": 28, "clock": 12}.get(field, 23)
    return [
        str(other) for other in (value - 3, value - 2, value - 1, value + 1, value + 2, value + 4) if 0 < other <= last
    ]


def _name(claim: str, premise: str, draw: random.Random) -> str | None:
    found = [(name, names) for names in _NAMES for name in names if name in claim]
    for name, names in _shuffled(found, draw):
        for other in _shuffled(list(names), draw):
            if other.lower() not in premise.lower() and other.lower() not in claim.lower():
                return claim.replace(name, other)
    return None


def _denial(claim: str, rules: tuple[Rule, ...], draw: random.Random) -> str | None:
    for pattern, replacement in _shuffled([rule for rule in rules if rule[0].search(claim)], draw):
        new = pattern.sub(replacement, claim, count=1)
        if len(find_negations(new, bounds=True)) != len(find_negations(claim, bounds=True)):
            return new
    return None


def _values(text: str) -> set[str]:
    return {quantity.value for quantity in find_quantities(text)}


def _replaced(claim: str, quantity: Quantity, number: str) -> str:
    spelling = read_spelling(quantity.text)
    at = quantity.start + (claim[quantity.start : quantity.end].index(spelling.text) if spelling else 0)
    return claim[:at] + number + claim[at + len(spelling.text if spelling else "") :]


def _shuffled(items: Sequence[_T], draw: random.Random) -> list[_T]:
    return draw.sample(items, len(items))
