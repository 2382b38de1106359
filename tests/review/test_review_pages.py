"""What the pages show and hide, without any script; and that no text can do harm on them."""

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from offline_eval.core.records import Passage
from offline_eval.review.desk import Desk
from offline_eval.review.pages import EXCERPT, shown
from offline_eval.review.words import WORDS, Words
from tests.support.panel_runs import make_case, make_response
from tests.support.review_runs import grades_in_the_answer, labeller, make_desk, make_run, send, small_run

HOSTILE = (  # markup, template code, control and direction marks
    '<script>alert(1)</script><img src=x onerror="alert(2)"></textarea></title>'
    "\x00\x07\x1b[31m\u202eevil\u202c\u200b\ufeff"
    "{{ 7*7 }}{% raw %} javascript:alert(3) '\"><svg/onload=alert(4)>"
)
UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]")


class Tags(HTMLParser):
    """Every tag of a page with its attributes."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


def hostile_desk(folder: Path) -> Desk:
    text = HOSTILE
    case = make_case("c1\u202e<b>", query=text, reference=text, key_points=(text, text))
    passages = tuple(Passage(id=f"p{n}<i>{text[:60]}", text=text, title=text, date=text[:50]) for n in range(3))
    response = make_response(case.id, answer=text, passages=passages, citations=(text[:100],), system="<s>\u202e")
    run = make_run(folder / "run.sqlite", [case], [response])
    return make_desk(run, folder / "l.db", show_verdicts=True)


def test_hostile_text_is_shown_and_does_nothing(tmp_path: Path) -> None:
    client = labeller(hostile_desk(tmp_path))
    assert send(client, "/item/1/note", text=HOSTILE.replace("\x00", "")) == 303
    for address in ("/item/1", "/queue", "/agreement", "/item/1/text/answer", "/item/1/text/passage-2"):
        page = client.get(address).text
        tags = Tags(page).found
        assert [attributes.get("src") for tag, attributes in tags if tag == "script"] == ["/static/keys.js"]
        assert not {tag for tag, _ in tags} & {"img", "svg", "iframe", "i", "b", "s", "style", "object"}
        assert not any(name.startswith("on") or name == "style" for _, attributes in tags for name in attributes)
        assert not UNSEEN.search(page), address
        assert "49" not in page
    page = client.get("/item/1").text
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert "\\u202eevil" in page
    assert "\\x1b[31m" in page


def test_a_megabyte_is_shown_in_parts_and_nothing_is_cut_silently(tmp_path: Path) -> None:
    text = "长" * 999_999 + "末"
    response = make_response(answer=text)
    run = make_run(tmp_path / "r.sqlite", [make_case()], [response])
    client = labeller(make_desk(run, tmp_path / "l.db"))
    page = client.get("/item/1").text
    assert len(page) < 40 * EXCERPT
    assert f"{1_000_000 - EXCERPT:,} more characters" in page
    parts = [client.get(f"/item/1/text/answer?page={n}").text for n in range(1, 11)]
    assert sum(part.count("长") for part in parts) == 999_999
    assert "末" in parts[-1]
    assert len(client.get("/queue").text) < 20_000


def test_line_breaks_stay_and_everything_unseen_is_written_out() -> None:
    assert shown("a\r\nb\tc\rd\u200be\u3000") == "a\nb\tc\\x0dd\\u200be\u3000"


def test_the_essentials_work_without_a_script(tmp_path: Path) -> None:
    client = labeller(make_desk(small_run(tmp_path, 6), tmp_path / "l.db"))
    assert client.get("/").headers["location"] == "/item/1"
    for dimension in ("faithfulness", "relevance", "completeness"):
        form = {"dimension": dimension, "value": "2"}
        assert send(client, "/item/1/label", **form) == 303
    page = client.get("/item/1").text
    assert page.count('aria-pressed="true"') == 3
    assert client.get("/").headers["location"] == "/item/2"
    assert send(client, "/item/2/skip") == 303
    assert client.get("/").headers["location"] == "/item/3"
    assert send(client, "/item/3/note", text="半句\r\n第二行") == 303
    assert "半句\n第二行</textarea>" in client.get("/item/3").text
    assert send(client, "/undo") == 303
    assert "半句" not in client.get("/item/3").text
    assert "2 of 6 answered" in client.get("/queue").text


def test_the_verdict_and_the_reason_for_review_appear_only_after_the_answer(tmp_path: Path) -> None:
    response = make_response(answer="You get 28 days, grade 3.")
    desk = make_desk(
        make_run(tmp_path / "r.sqlite", [make_case()], [response], script=grades_in_the_answer), tmp_path / "l.db"
    )
    client = labeller(desk)
    for dimension in ("faithfulness", "relevance", "completeness"):
        page = client.get("/item/1").text
        assert "margin" not in page
        assert 'class="verdict"' not in page
        assert '<td class="aside"></td>' in client.get("/queue").text
        send(client, "/item/1/label", dimension=dimension, value="none")
    page = client.get("/item/1").text
    assert page.count('class="verdict"') == 3
    assert "not blind" in page


def test_a_second_rater_sees_nothing_of_the_first(tmp_path: Path) -> None:
    run = small_run(tmp_path, 6)
    anna = labeller(make_desk(run, tmp_path / "l.db"))
    send(anna, "/item/1/label", dimension="relevance", value="1")
    send(anna, "/item/1/note", text="Annas Notiz")
    bob = labeller(make_desk(run, tmp_path / "l.db", person="bob"))
    for address in ("/item/1", "/queue", "/agreement"):
        page = bob.get(address).text
        assert "Annas Notiz" not in page
        assert 'aria-pressed="true"' not in page
    assert "0 of 6 answered" in bob.get("/queue").text


def test_the_criteria_of_every_dimension_are_shown_in_the_language_of_the_question(tmp_path: Path) -> None:
    case = make_case("c1", query="年假有多少天？", language="zh", reference="28天。")
    response = make_response(answer="每年有28天年假。", passages=(Passage(id="p1", text="每人每年28天年假。"),))
    client = labeller(make_desk(make_run(tmp_path / "r.sqlite", [case], [response]), tmp_path / "l.db"), language="zh")
    page = client.get("/item/1").text
    assert '<html lang="zh-Hans">' in page
    for text in ("忠实度", "相关性", "完整性", "所有说法都有依据", "你的标注", "撤销", "无法判断"):
        assert text in page
    assert not re.search("Your labels|Undo|Skip<", page)


def test_both_languages_have_the_same_words_with_the_same_places() -> None:
    places = re.compile(r"\{(\w+)\}")
    assert WORDS["en"].keys() == WORDS["zh"].keys()
    for name, text in WORDS["en"].items():
        assert set(places.findall(text)) == set(places.findall(WORDS["zh"][name])), name
    assert Words("zh").reason("examiners_apart: faithfulness 1, relevance 3") == "两个维度相差很大: 忠实度 1, 相关性 3"


def test_all_passages_can_be_reached_when_there_are_many(tmp_path: Path) -> None:
    passages = tuple(Passage(id=f"p{n}", text=f"text number {n}") for n in range(1, 41))
    response = make_response(answer="It is so, grade 2.", passages=passages)
    client = labeller(make_desk(make_run(tmp_path / "r.sqlite", [make_case()], [response]), tmp_path / "l.db"))
    page = client.get("/item/1").text
    assert "10 more passages" in page
    assert "text number 40" in client.get("/item/1/text/passage-40").text
    assert 'href="/item/1/text/passage-40"' in page


@pytest.mark.parametrize("number", ["0", "-1", "x", "9" * 30])
def test_a_page_number_that_is_none_is_the_first(tmp_path: Path, number: str) -> None:
    client = labeller(make_desk(small_run(tmp_path, 2), tmp_path / "l.db"))
    assert client.get(f"/queue?page={number}").status_code == 200
