"""Finds names and terms by rule in English and Chinese: no model, no list of the world's names.

Why: whether the answer's names, codes and numbers stand in the passages is a cheap and telling check; it must compare
"paris" with "Paris" as equal and cannot depend on which tagger is installed.
"""

import re
from bisect import bisect_left
from collections.abc import Sequence
from typing import Literal, NamedTuple

from offline_eval.text.normalize import normalize
from offline_eval.text.numbers import Quantity, find_quantities
from offline_eval.text.scripts import HAN, LATIN

Kind = Literal["name", "title", "organisation", "place", "person", "code", "quantity"]


class Entity(NamedTuple):
    """A name or term and where it stands.

    Attributes:
        key: The form for comparing: normalised, without a leading "the" and a trailing "'s"; quantities by value.
    """

    text: str
    kind: Kind
    key: str
    start: int
    end: int


_UPPER = "A-Z\u00c0-\u00d6\u00d8-\u00de"
_CAPITALISED = rf"[{_UPPER}][{LATIN}'’]*(?:-[{LATIN}]+)*"
_WORD = rf"(?:[{_UPPER}]\.(?![{LATIN}])|{_CAPITALISED})"
_NAME = re.compile(rf"(?<![{LATIN}\d.]){_WORD}(?: (?:(?:of|the|de|la|du|von|van|der|da|di|&) ){{0,2}}{_WORD})*")
_CODE = re.compile(
    r"(?<![A-Za-z0-9])(?:[A-Za-z]{1,5}/[A-Za-z]{1,3}[ -]?\d[\d.-]*|[A-Z]{2,}[ -]?\d[\w.-]*|[A-Za-z]+[-_]?\d[\w.-]*|"
    r"v\d+(?:\.\d+)+)"
    r"(?![A-Za-z0-9])"
)
_TITLE = re.compile(
    r"《([^《》\n]{1,60})》|〈([^〈〉\n]{1,60})〉|“([^“”\n]{1,20})”|「([^「」\n]{1,20})」|『([^『』\n]{1,20})』"
)

# What ends a Chinese name; the name itself is what stands before it, back to a word that cannot be part of one.
_ORGANISATION = (
    "股份有限公司|有限责任公司|有限公司|集团|公司|委员会|人民政府|政府|大学|学院|研究院|研究所|医院|银行|法院|检察院|"
    "协会|学会|基金会|"
    "出版社|中心|部门|事业部|人力资源部|财务部|行政部|法务部|技术部|市场部|[\u4e00-\u9fff]{1,3}部(?![分位门署])|"
    "[\u4e00-\u9fff]{1,3}局(?![面部限势])|"
    "[\u4e00-\u9fff]{1,3}处(?![理于罚分置])|[\u4e00-\u9fff]{1,3}科(?![学技目普研])"
)
_PLACE = "自治区|特别行政区|[省市县区镇乡村州岛山江河湖海港湾路街](?![场面长内外上下和的])"
# Characters that end a word before a name and are in hardly any name.
_CUT = (
    "的了是在有与和及或也都就而但又还把被让向从到对于为以之其这那该此个我你您他她它由给将等每各请需应可能会要"
    "经按据须归交自至所并因则第若如当"
)
_ZH_ORGANISATION = re.compile(f"(?:(?![{_CUT}])[{HAN}A-Za-z0-9·]){{1,16}}?(?:{_ORGANISATION})+")
_ZH_PLACE = re.compile(f"(?:(?:(?![{_CUT}])[{HAN}]){{1,4}}?(?:{_PLACE})[省市县区]?){{1,3}}")
_FOREIGN = re.compile(f"[{HAN}]{{1,8}}(?:[·•・](?:(?![{_CUT}写说著出发创建认曾任])[{HAN}]){{1,8}}){{1,4}}")
# Dates and counts stand right before a name without a space and are no part of it: "2024年北京大学".
# Numerals in characters only where they cannot be a name's own ("三亚市", "五家渠市" are cities).
_NUMERAL = "〇零一二两三四五六七八九十百千"
_COUNTED = re.compile(
    r"\d{1,12}(?:年代|年度|年级|月份|[年月日号时点分秒届名位家个所次期批级班岁周天元条项款章节层楼间座人])[底初末起间前后]?|"
    rf"[{_NUMERAL}]{{2,6}}年[底初末]?|[{_NUMERAL}]{{1,3}}月(?:份|[底初末]|[{_NUMERAL}]{{1,3}}[日号])|"
    rf"第[{_NUMERAL}]{{1,6}}[届次批期章节条款项]|[{_NUMERAL}]{{1,6}}[名位]|(?:今|去|前|明)年[底初末]?"
)
# Verbs that stand right before a name without a space and are no part of it.
_LEADING_VERB = re.compile(
    f"[{HAN}]{{0,8}}(?:联系|致电|咨询|前往|通知|位于|提交|报送|告知|访问|毕业|加入|就职|任职|来自|担任|隶属|属于|成为|"
    f"进入|离开|抵达|参观)"
)
_SURNAMES = (
    "王李张刘陈杨黄赵吴周徐孙马朱胡郭何高林罗郑梁谢宋唐许韩冯邓曹彭曾肖田董袁潘蒋蔡余杜叶程苏魏吕丁任沈姚卢姜"
    "崔钟谭陆汪范金石廖贾夏韦付方白邹孟熊秦邱江"
    "尹薛闫段雷侯龙史陶黎贺顾毛郝龚邵万钱严武戴莫孔向汤"
)
_ROLE = "先生|女士|教授|博士|医生|老师|经理|主任|总监|董事长|总裁|院长|校长|部长|局长|市长|省长|主席|总理|总统|工程师"
_PERSON = re.compile(
    f"[{_SURNAMES}][{HAN}]{{0,2}}(?={_ROLE})|(?:{_ROLE})(?P<name>[{_SURNAMES}][{HAN}]{{1,2}})(?=[，。、；：,.;\\s]|$)"
)
# What stands right before a person's name; elsewhere a surname is the end of a word: 基金经理, 历史老师, 主任医生.
_BEFORE_PERSON = re.compile(
    rf"(?:[^{HAN}]|[{_CUT}跟同找请问见叫帮邀派选聘拜得称报找访]|[部处司局科室院所会校组队系厂行社团台馆长授士生师理席统监裁记员人]|"
    rf"中心|主任|联系|致电|咨询|通知|告知|拜访|感谢)$"
)
# What a name's first character begins as well; such words stand before a role: 高级经理 is nobody.
_NO_PERSON = re.compile(
    "高[级中校等层管速新兴度效]|方[案法面便向式针]|金[融牌属额]|石[油化材]|史学|白[班天领酒]|许[可多]|任[何职课务教命免意期]|曾[任经]|"
    "周[末边期会年]|马上|夏[季天]|程[序控]|董事|顾[问客]|陆[军上运]|余[额下]|付[款费]|毛利|黄金|钱币|武[术装]|万能|严[格重肃]|龙头|田径|"
    "范围|雷达|段落|林业|钟[点表]|谢[谢绝]|孔径"
)
_NO_SURNAME = re.compile("其余|[对各我]方|每周")  # after a character that does stand before names
_IN_NO_PERSON = frozenset("的了是在有与和及或也都就而但又还把被让向从到对于为以之等会")

# Forms that cannot be anything else go before names that overlap them.
_EXACT: tuple[Kind, ...] = ("title", "code", "quantity")

_NOT_A_NAME_WORDS = """
    the a an this that these those it its he she they we you i my our your his her their in on at by for from with to
    of and or but if when while as after before since until because although however therefore thus also then there
    here what who whom whose which where why how is are was were be been do does did has have had can could may might
    must shall should will would not no yes all any some each every both most many few more other another one two
    three first second next finally moreover furthermore additionally overall according based please note answer
    question let see under during between about unlike despite given only such into over even just once still today
    sorry unfortunately
"""
_NOT_A_NAME = frozenset(_NOT_A_NAME_WORDS.split())
_SENTENCE_START = re.compile(r"(?:^|[.!?。！？:：\n\"“”(（•*-])\s*$")


def find_entities(text: str) -> list[Entity]:
    """Find the names, terms, codes and quantities of a text.

    The rule: quoted titles (《》 and short quotations), runs of capitalised words, codes of letters and digits, Chinese
    names that end like an organisation or a place, persons with a role (where a word can begin: 基金经理 and 高级经理
    name nobody), names with a middle dot, and quantities (`numbers`). Function words are cut off a name's ends; a
    single capitalised word at a sentence's start counts only when it stands capitalised inside a sentence too, or is
    written in capitals. Overlaps go to titles, codes and quantities, then to the longer.

    Args:
        text: Any text.

    Returns:
        The entities in order, without overlap.
    """
    found = [*_quoted(text), *_codes(text), *_chinese(text), *_names(text)]
    names = sorted((name.start, name.end) for name in found if name.kind in ("organisation", "place"))
    found += [
        Entity(quantity.text, "quantity", " ".join(filter(None, quantity.key[1:])), quantity.start, quantity.end)
        for quantity in find_quantities(text)
        if quantity.kind != "ordinal" and not (quantity.text.isnumeric() and _opens_one_of(names, quantity))
    ]
    kept: list[Entity] = []
    used = bytearray(len(text))
    for entity in sorted(
        found, key=lambda entity: (entity.kind not in _EXACT, entity.start - entity.end, entity.start)
    ):
        if entity.key and not any(used[entity.start : entity.end]):
            used[entity.start : entity.end] = b"\x01" * (entity.end - entity.start)
            kept.append(entity)
    return sorted(kept, key=lambda entity: entity.start)


def entity_key(text: str) -> str:
    """The form in which two spellings of a name are equal: "The Hague's" and "hague", but not "Paris" and "London"."""
    key = normalize(text).strip(" .,;:!?\"'()[]")
    return key.removeprefix("the ").removesuffix("'s").strip()


def _opens_one_of(names: Sequence[tuple[int, int]], quantity: Quantity) -> bool:
    """Whether a bare number is the beginning of a name: "360公司"."""
    place = bisect_left(names, (quantity.start, 0))
    return place < len(names) and names[place][0] == quantity.start and names[place][1] > quantity.end


def _quoted(text: str) -> list[Entity]:
    return [
        Entity(found.group(), "title", entity_key(next(filter(None, found.groups()))), found.start(), found.end())
        for found in _TITLE.finditer(text)
    ]


def _codes(text: str) -> list[Entity]:
    return [
        Entity(found.group(), "code", re.sub(r"[ -]", "", entity_key(found.group())), found.start(), found.end())
        for found in _CODE.finditer(text)
    ]


def _chinese(text: str) -> list[Entity]:
    patterns: tuple[tuple[Kind, re.Pattern[str]], ...] = (
        ("organisation", _ZH_ORGANISATION),
        ("place", _ZH_PLACE),
        ("person", _FOREIGN),
        ("person", _PERSON),
    )
    entities: list[Entity] = []
    names_only = _COUNTED.sub(lambda counted: "，" * len(counted.group()), text)
    for kind, pattern in patterns:
        for found in pattern.finditer(names_only):
            start, end = found.span("name") if found.groupdict().get("name") else found.span()
            if pattern is _PERSON and not _can_be_a_person(text, start, end):
                continue
            verb = _LEADING_VERB.match(text, start, end)
            start = verb.end() if verb and end - verb.end() > 1 else start
            entities.append(Entity(text[start:end], kind, entity_key(text[start:end]), start, end))
    return entities


def _can_be_a_person(text: str, start: int, end: int) -> bool:
    """Whether a surname beside a role begins a name, and is not a part of the role or of a word before it."""
    starts_a_word = start == 0 or _BEFORE_PERSON.search(text[max(0, start - 2) : start]) is not None
    if not starts_a_word or _NO_PERSON.match(text, start) or _NO_SURNAME.match(text, max(0, start - 1)):
        return False
    return _IN_NO_PERSON.isdisjoint(text[start:end])


def _names(text: str) -> list[Entity]:
    entities: list[Entity] = []
    unsure: list[Entity] = []
    for found in _NAME.finditer(text):
        start, end = _without_function_words(text, found.start(), found.end())
        if end - start < 2:
            continue
        name = text[start:end]
        entity = Entity(name, "name", entity_key(name), start, end)
        at_start = start == found.start() and _SENTENCE_START.search(text[max(0, start - 8) : start]) is not None
        is_plain_word = " " not in name and not name[1:].isupper() and name[1:].islower()
        (unsure if at_start and is_plain_word else entities).append(entity)
    sure = {entity.key for entity in entities}
    alone = not entities and len(text.split()) <= 3  # "Paris." as a whole answer
    return entities + [entity for entity in unsure if alone or entity.key in sure]


def _without_function_words(text: str, start: int, end: int) -> tuple[int, int]:
    name = text[start:end]
    while (first := name.split(" ", 1)) and first[0].lower().rstrip(".'’") in _NOT_A_NAME:
        if len(first) == 1:
            return start, start
        start += len(first[0]) + 1
        name = first[1]
    while (last := name.rsplit(" ", 1)) and len(last) == 2 and last[1].lower() in _NOT_A_NAME:
        name = last[0]
    stripped = re.sub(r"['’]s$", "", name.rstrip(".'’"))
    return start, start + len(stripped)
