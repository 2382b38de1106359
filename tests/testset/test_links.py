"""Passages belong together when they share a rare name or are near; the same text twice does not make a pair."""

from offline_eval.core.records import Passage
from offline_eval.engines.scripted import ScriptedEmbedder
from offline_eval.testset.links import Link, find_links

TEXTS = [
    "Sensor firmware is a Restricted file of the Tessera programme.",
    "The assistant must never see anything that belongs to Tessera.",
    "Bananas ripen faster in a paper bag with an apple.",
    "Bananas ripen more slowly when they are wrapped in a paper bag by the stem.",
]


def _passages(texts: list[str]) -> list[Passage]:
    return [Passage(id=str(number), text=text) for number, text in enumerate(texts)]


def test_a_shared_name_links_and_is_named() -> None:
    links = find_links(_passages(TEXTS), ["en"] * 4)
    assert Link(0, 1, "Tessera", "name") in links
    assert (2, 3) in {(link.first, link.second) for link in links if link.by == "words"}
    assert not {(0, 2), (1, 2), (0, 3)} & {(link.first, link.second) for link in links}


def test_neighbours_are_found_by_meaning_where_an_embedder_speaks_the_language() -> None:
    links = find_links(_passages(TEXTS), ["en"] * 4, embedder=ScriptedEmbedder(languages=("en",)))
    assert {link.by for link in links if (link.first, link.second) == (2, 3)} == {"meaning"}


def test_an_embedder_is_not_asked_in_a_language_it_was_not_made_for() -> None:
    embedder = ScriptedEmbedder(languages=("en",))
    texts = ["《差旅办法》规定住宿标准由财务部核定。", "按照《差旅办法》，机票须提前七天预订。", "食堂供应三餐。"]
    links = find_links(_passages(texts), ["zh"] * 3, embedder=embedder)
    assert embedder.texts_seen == []
    assert links[0] == Link(0, 1, "《差旅办法》", "name")


def test_the_same_text_twice_is_no_pair_and_languages_are_not_mixed() -> None:
    same = [TEXTS[0], TEXTS[0].upper().replace("SENSOR", "Sensor")]
    assert find_links(_passages(same), ["en", "en"]) == []
    assert find_links(_passages([TEXTS[0], "Tessera 是一个项目，由研发部负责。"]), ["en", "zh"]) == []


def test_one_passage_has_no_links() -> None:
    assert find_links(_passages(TEXTS[:1]), ["en"]) == []
    assert find_links([], []) == []
