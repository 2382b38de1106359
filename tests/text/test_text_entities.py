import pytest
from hypothesis import given
from hypothesis import strategies as st

from offline_eval.text.entities import entity_key, find_entities


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        ("The Eiffel Tower is in Paris. Paris is big.", ["eiffel tower", "paris", "paris"]),
        ("Paris", ["paris"]),
        ("Barack Obama was born in Honolulu on August 4, 1961.", ["barack obama", "honolulu", "1961-08-04"]),
        ("J. K. Rowling and the Bank of England's policy", ["j. k. rowling", "bank of england"]),
        ("Employees can go. However, nobody did.", []),
        ("Rules of GB/T 7714, COVID-19 and v2.1", ["gb/t7714", "covid19", "v2.1"]),
        ("《劳动合同法》规定，北京大学位于海淀区。", ["劳动合同法", "北京大学", "海淀区"]),
        ("请联系人力资源部，或致电财务部张伟经理。", ["人力资源部", "财务部", "张伟"]),
        ("列夫·托尔斯泰写了《战争与和平》", ["列夫·托尔斯泰", "战争与和平"]),
        ("星海科技有限公司提供500元补贴", ["星海科技有限公司", "500 CNY"]),
        ("2024年北京大学发布报告。", ["2024", "北京大学"]),
        ("2024年3月5日上海市政府宣布", ["2024-03-05", "上海市政府"]),
        ("二〇二四年浙江大学招生", ["2024", "浙江大学"]),
        ("500名复旦大学学生去了5家北京银行", ["500", "复旦大学", "5", "北京银行"]),
        ("第二届北京大学论坛", ["北京大学"]),
        ("2020年代武汉大学，2020年广东省", ["2020", "武汉大学", "2020", "广东省"]),
        ("上午9点南京医院开门", ["09:00", "南京医院"]),
        ("360公司在五家渠市，今年三亚市也有", ["360公司", "五家渠市", "三亚市"]),
        ("大部分员工处理问题", []),
        ("", []),
    ],
)
def test_names_terms_and_quantities_are_found(text: str, keys: list[str]) -> None:
    assert [entity.key for entity in find_entities(text)] == keys


GENERAL = ("安全", "信息安全", "高级", "最高", "高中", "市场", "客户", "项目", "值班", "行政", "其余", "任何", "每周")
FROM_SURNAMES = ("方案", "金融", "石油", "白班", "许可", "任课", "周边", "程序", "顾问", "曾任", "黄金", "武术", "向")
UP_TO_SURNAMES = ("双方", "对方", "基金", "资金", "历史", "责任", "工程", "课程", "担任")
MODIFIERS = (*GENERAL, *FROM_SURNAMES, *UP_TO_SURNAMES)
ROLES = ("主管", "经理", "主任", "总监", "工程师", "老师", "教授")


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("modifier", MODIFIERS)
def test_a_post_is_nobody(modifier: str, role: str) -> None:
    for text in (
        f"须报告{modifier}{role}。",
        f"{modifier}{role}",
        f"由{modifier}{role}审批，",
        f"人事部{modifier}{role}",
    ):
        found = [(entity.kind, entity.text) for entity in find_entities(text)]
        assert found in ([], [("organisation", "人事部")]), text


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("请联系张伟经理。", "张伟"),
        ("王芳主任审批。", "王芳"),
        ("由李华总监签字", "李华"),
        ("财务部陈立经理", "陈立"),
        ("致电高敏老师，", "高敏"),
        ("（任红教授）", "任红"),
        ("院长方芳教授", "方芳"),
        ("和金铭博士", "金铭"),
        ("主任周敏，负责", "周敏"),
        ("跟刘业经教授学习", "刘业经"),
        ("找马经理。", "马"),
    ],
)
def test_a_person_with_a_role_is_found_where_a_word_can_begin(text: str, name: str) -> None:
    assert "".join(entity.text for entity in find_entities(text) if entity.kind == "person") == name


@pytest.mark.parametrize(
    "text",
    [
        "经理高兴。",
        "教授武术，",
        "老师任课。",
        "主任许可；",
        "哥斯达黎加总统",
        "历史系主任",
        "兼任波克夏的副主席",
        "马会主席",
    ],
)
def test_what_only_begins_or_ends_like_a_surname_names_nobody(text: str) -> None:
    assert [entity for entity in find_entities(text) if entity.kind == "person"] == []


def test_a_second_factor_is_no_quantity_among_the_entities() -> None:
    assert [entity.key for entity in find_entities("Use a second factor within 3 days.")] == ["3 day"]


def test_spelling_does_not_make_two_names() -> None:
    assert entity_key("Paris") == entity_key("paris") == entity_key("PARIS") == entity_key("“Paris”")
    assert entity_key("The Hague's") == entity_key("hague")
    assert entity_key("五味子") == entity_key("五味子")
    assert entity_key("Paris") != entity_key("London")


@given(st.text())
def test_entities_do_not_overlap(text: str) -> None:
    at = 0
    for entity in find_entities(text):
        assert at <= entity.start < entity.end <= len(text)
        assert entity.key
        at = entity.end
