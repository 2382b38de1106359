"""What quantities look like in English and Chinese, as regular expressions in the order in which they are tried.

Why apart from `numbers`: a new unit or date form is a new line here, and the code that reads values stays as it is.
"""

import re
from typing import Literal

from offline_eval.text.numerals import DIGITS, NUMERAL, ZH_NUMERAL

Kind = Literal["number", "percent", "money", "date", "time", "duration", "ordinal"]

_MONTH = (
    r"(?P<{}>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|"
    r"oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\.?"
)
_ZH_INT = f"(?:\\d{{1,2}}|{ZH_NUMERAL}{{1,3}})"
CURRENCIES = {
    "CNY": r"人民币|元|块钱|块|yuan|rmb|cny|[¥￥]",
    "USD": r"美元|美金|us dollars?|dollars?|usd|us\$|\$",
    "EUR": r"欧元|euros?|eur|€",
    "GBP": r"英镑|pounds? sterling|pounds?|gbp|£",
    "JPY": r"日元|yen|jpy",
    "HKD": r"港元|港币|hkd|hk\$",
}
SPANS = {
    ("s", 1): r"秒钟?|seconds?|secs?",
    ("s", 60): r"分钟|minutes?|mins?",
    ("s", 3600): r"个?小时|个?钟头|hours?|hrs?",
    ("working day", 1): r"个?工作日|(?:working|business|work) days?",
    ("day", 1): r"个?自然日|天|日(?!元|期|常|本|志|程|历)|calendar days?|days?",
    ("day", 7): r"周(?!年|[一二三四五六日末])|个?星期(?![一二三四五六日天])|个?礼拜|weeks?",
    ("month", 1): r"个月|months?",
    ("month", 3): r"个?季度|quarters?",
    ("month", 12): r"周年|年(?!代|级|会|假|终|报|检|度|薪|金|龄|货)|years?|yrs?",
}
MEASURES = {
    "km": r"km|公里|千米|kilomet(?:er|re)s?",
    "m": r"m|米|met(?:er|re)s?",
    "cm": r"cm|厘米|centimet(?:er|re)s?",
    "mm": r"mm|毫米|millimet(?:er|re)s?",
    "kg": r"kg|公斤|千克|kilograms?|kilos?",
    "g": r"g|克|grams?",
    "t": r"吨|tons?|tonnes?",
    "l": r"升|lit(?:er|re)s?",
    "m2": r"平方米|㎡|m²|square met(?:er|re)s?",
    "°c": r"摄氏度|℃|°c|degrees celsius",
    "kb": r"kb",
    "mb": r"mb|兆",
    "gb": r"gb",
    "tb": r"tb",
}
COUNTED = "个名位人次件项条天周年月日号页份家台辆套种款倍级层届期章节门岁杯间张票"
"""Measure words: a single Chinese numeral is a number only before one of these."""
NOT_A_NUMBER = re.compile(
    "一些|一起|一定|一般|一样|一直|一旦|一切|一边|一面|一律|一致|一下|一点|一并|一经|统一|唯一|万一|第一时间|十分|"
    "百般|千万(?!元|人|美)|"
    "万能|四川|四周|五官|三明治|三角|七夕|八卦|九州|两者|两边|两侧|一个(?!半|月|小时|工作日|自然日|星期|礼拜|季度|"
    "钟头)|一种|一项|一名|一位|一份|一次性"
)
_AFTER_A_SPAN = (
    r"(?:a|after|afterwards|ago|and|apart|as|at|away|because|before|but|by|during|each|earlier|every|faster|for|from|he|"
    r"i|if|in|it|later|long|longer|now|of(?! (?:the|these|those|its|our|their|his|her|which|whom)\b)|on|only|or|passed|"
    r"passes|per|please|she|shorter|since|slower|so|than|that|the|then|they|this|till|to|too|until|we|when|where|which|"
    r"while|with|within|without|you)\b"
)
ANOTHER = re.compile(
    rf"(?<!half )\ban? second(?:-(?!long\b)|\s{{1,3}}(?!{_AFTER_A_SPAN}))(?=[^\W\d_])|"
    rf"(?<!half )(?<!\bin )(?<!\bwithin )\ban? second,\s{{1,3}}(?!{_AFTER_A_SPAN})(?=[^\W\d_])",
    re.IGNORECASE,
)
"""One more of something, not a span of time: "a second factor", but not "a second later" and "within a second"."""

_BEFORE = r"(?<![A-Za-z\d._/\[])(?<![A-Za-z]-)"


def _alternatives(table: dict[str, str]) -> str:
    return "|".join(table.values())


_RULES: tuple[tuple[Kind, str], ...] = (
    ("date", rf"{_BEFORE}(?P<y>(?:1\d|20)\d\d)(?P<sep>[-/.])(?P<m>\d{{1,2}})(?P=sep)(?P<d>\d{{1,2}})(?!\d)"),
    (
        "date",
        rf"(?P<y>\d{{4}}|"
        rf"[零〇一二三四五六七八九]{{4}}) ?年 ?(?:(?P<m>{_ZH_INT}) ?月(?:份)? ?(?:(?P<d>{_ZH_INT}) ?[日号])?)?",
    ),
    ("date", rf"(?<!\d)(?P<m>{_ZH_INT}) ?月(?:份)? ?(?:(?P<d>{_ZH_INT}) ?[日号])?"),
    ("date", rf"\b{_MONTH.format('m')} (?P<d>\d{{1,2}})(?:st|nd|rd|th)?(?:,? (?P<y>(?:1\d|20)\d\d))?(?!\d)"),
    (
        "date",
        rf"\b(?P<d>\d{{1,2}})(?:st|nd|rd|th)?(?: of)? {_MONTH.format('m')}(?:,? (?P<y>(?:1\d|"
        rf"20)\d\d)\b)?(?![a-z])",
    ),
    ("date", rf"\b{_MONTH.format('m')},? (?P<y>(?:1\d|20)\d\d)\b"),
    ("percent", rf"百分之(?P<n>{ZH_NUMERAL}{{1,20}}(?:点{ZH_NUMERAL}{{1,9}})?|{DIGITS})"),
    ("percent", rf"{_BEFORE}(?P<n>{NUMERAL}) ?(?:%|％|per ?cent\b|个?百分点)"),
    ("time", r"(?<![\d:])(?P<h>[01]?\d|2[0-3]):(?P<min>[0-5]\d)(?::[0-5]\d)? ?(?P<half>[ap]\.?m\b\.?)?(?![\d:])"),
    ("time", r"(?<!\d)(?P<h>1[0-2]|[1-9]) ?(?P<half>[ap]\.?m\b\.?)"),
    (
        "time",
        rf"(?P<half>上午|早上|凌晨|下午|晚上|中午)?(?P<h>{_ZH_INT})(?:点|时)(?:钟|整|(?P<min>半|一刻|三刻|"
        rf"{_ZH_INT})分?)?(?!{ZH_NUMERAL}|\d|间)",
    ),
    ("money", rf"(?P<c>us\$|hk\$|[$€£¥￥]) ?(?P<n>{DIGITS}(?:[万亿]| ?(?:thousand|million|billion|k|m|bn)\b)?)"),
    ("money", rf"{_BEFORE}(?P<n>{NUMERAL}) ?(?P<c>{_alternatives(CURRENCIES)})(?![a-z])"),
    (
        "duration",
        rf"(?:{_BEFORE}(?P<n>{NUMERAL}|半|an?(?= )|"
        rf"half an?)(?P<half>个半)?[ -]?)(?P<u>{'|'.join(SPANS.values())})(?P<plus>半)?(?![a-z])",
    ),
    ("number", rf"(?P<den>{ZH_NUMERAL}{{1,20}})分之(?P<n>{ZH_NUMERAL}{{1,20}})"),
    ("number", rf"{_BEFORE}(?P<n>\d{{1,3}})/(?P<den>\d{{1,3}})(?![\d/])"),
    ("ordinal", rf"第(?P<n>{ZH_NUMERAL}{{1,20}}|\d+)"),
    ("ordinal", r"\b(?P<n>\d{1,9})(?:st|nd|rd|th)\b"),
    ("number", rf"{_BEFORE}(?P<n>{NUMERAL}) ?(?P<measure>{_alternatives(MEASURES)})(?![a-z])"),
    ("number", rf"{_BEFORE}(?P<n>{NUMERAL})"),
)
RULES = tuple((kind, re.compile(pattern, re.IGNORECASE)) for kind, pattern in _RULES)
"""Kind of quantity and its form, tried from top to bottom."""
