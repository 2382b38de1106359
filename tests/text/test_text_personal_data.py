"""Personal data is found in English and Chinese, and what only looks like it stays."""

import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from offline_eval.text.personal_data import find_personal_data, mask_personal_data


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("Write to mary.oneil+hr@mail.example.co.uk today", "Write to [e-mail] today"),
        ("My address is j_smith99@example.com.", "My address is [e-mail]."),
        ("请发到zhang.san@example.cn，谢谢", "请发到[邮箱]，谢谢"),
        ("全角ｌｉ＠ｅｘａｍｐｌｅ．ｃｎ也算", "全角[邮箱]也算"),
        ("我的手机13800138000打不通", "我的手机[电话]打不通"),
        ("手机号：138 0013 8000", "手机号：[电话]"),
        ("请拨+86 139-1234-5678找我", "请拨[电话]找我"),
        ("全角１３８００１３８０００", "全角[电话]"),
        ("公司座机010-62345678转801", "公司座机[电话]"),
        ("(0755)26712345 是我家", "[电话] 是我家"),
        ("联系方式是2671 2345", "联系方式是[电话]"),
        ("Call (415) 555-2671 or 415.555.2671", "Call [phone] or [phone]"),
        ("my mobile is +44 20 7946 0958, thanks", "my mobile is [phone], thanks"),
        ("ring 07700 900123 or 020 7946 0958", "ring [phone] or [phone]"),
        ("phone number: 5552671999", "phone number: [phone]"),
        # ISO 7064 MOD 11-2 of 11010519491231002: the published example of the standard, check digit X.
        ("身份证11010519491231002X办理", "身份证[证件号]办理"),
        ("身份证号 110105 19491231 002x", "身份证号 [证件号]"),
        ("my SSN is 536-90-4399.", "my SSN is [identity number]."),
        # Luhn of 4111111111111111: 1s doubled in 8 places less the doubled 4 (8): 8 + 7*2 + 8*1 = 30.
        ("card 4111 1111 1111 1111 was declined", "card [bank card] was declined"),
        ("card 378282246310005 expired", "card [bank card] expired"),
        ("银行卡6222020000000000018刷不了", "银行卡[银行卡号]刷不了"),
        ("pay to GB82 WEST 1234 5698 7654 32 please", "pay to [bank account] please"),
        ("IBAN DE89370400440532013000", "IBAN [bank account]"),
    ],
)
def test_personal_data_gives_way_to_its_kind(text: str, masked: str) -> None:
    assert mask_personal_data(text)[0] == masked


@pytest.mark.parametrize(
    "text",
    [
        "The deadline is 2024-01-15, or 15/01/2024 14:30:00.",
        "截止日期是2024年1月15日，流水时间20240115143000",
        "日期 2024-01-15 2024-02-16",
        "订单号：13800138000 什么时候发货",
        "订单202401151234567890在哪",
        "快递单号 6222020000000000018 查询",
        "order no. 4111111111111111 is late",
        "Order 111-2345678-1234567 and tracking 1Z999AA10123456784",
        "invoice 415-555-2671",
        "预算13800138000元，合同额¥13912345678",
        "It costs $4111111111111111 or 4,111,111,111.00 dollars",
        "共计 138,001,380.00 元，约1.38亿",
        "身份证110105194912310021",  # the check digit is X
        "身份证110105194913310025",  # there is no month 13
        "card 4111 1111 1111 1112",  # Luhn fails
        "9999999999999995",  # Luhn holds, no issuer
        "GB83 WEST 1234 5698 7654 32",  # 83 is not the check of MOD 97
        "536-90-4399 parts in stock",  # nothing names it a social security number
        "服务热线400-810-8888",
        "server 192.168.100.200, version 10.15.7, build 1234567890123",
        "user@localhost, @handle, a@b",
        "π is 3.14159265358979323846",
        "timestamp 1705312800000",
        "call on 2024-01-15",
        "电话会议20240115",
        "range 2000-2024, 1999-12345",
        "",
    ],
)
def test_what_only_looks_like_personal_data_stays(text: str) -> None:
    assert mask_personal_data(text) == (text, [])


def test_places_name_kinds_and_never_values() -> None:
    text = "我叫李雷，13800138000，li@example.cn"
    found = find_personal_data(text)
    assert [(item.kind, text[item.start : item.end]) for item in found] == [
        ("phone", "13800138000"),
        ("email", "li@example.cn"),
    ]
    assert found[0]._fields == ("kind", "start", "end")


@given(st.text(st.sampled_from("0123456789- +.@aX元订电话卡\n１２ ()"), max_size=60))
def test_masking_twice_changes_nothing_and_keeps_everything_else(text: str) -> None:
    masked, found = mask_personal_data(text)
    assert all(0 <= item.start < item.end <= len(text) for item in found)
    assert all(first.end <= second.start for first, second in pairwise(found))
    kept = [text[start:end] for start, end in _between(found, len(text))]
    assert re.split(r"\[(?:phone|电话|bank card|银行卡号|identity number|证件号|e-mail|邮箱)\]", masked) == kept


def _between(found: list[object], length: int) -> list[tuple[int, int]]:
    ends = [0, *(item.end for item in found)]  # type: ignore[attr-defined]
    starts = [*(item.start for item in found), length]  # type: ignore[attr-defined]
    return list(zip(ends, starts, strict=True))


def test_long_texts_take_linear_time() -> None:
    for text in ("1 " * 50_000, "a." * 50_000 + "@", "+1" * 50_000, "AB12 " * 20_000):
        find_personal_data(text)
