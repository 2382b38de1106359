"""Public data as a corpus that commands read: documentation chunks of cookbook_rag, paragraphs of CMRC 2018."""

import json
from collections.abc import Iterator
from pathlib import Path


def cookbook_passages(folder: Path) -> Iterator[dict[str, str]]:
    """Chunks of documentation; one that repeats a link gets a number behind it."""
    seen: dict[str, int] = {}
    for chunk in json.loads((folder / "cookbook_rag" / "anthropic_docs.json").read_text("utf-8")):
        link = chunk["chunk_link"]
        seen[link] = seen.get(link, 0) + 1
        name = link if seen[link] == 1 else f"{link}~{seen[link]}"
        yield {"id": name, "doc_id": link.split("#")[0], "title": chunk["chunk_heading"], "text": chunk["text"]}


def cmrc_passages(folder: Path) -> Iterator[dict[str, str]]:
    """Paragraphs of encyclopedia articles in Chinese."""
    data = json.loads((folder / "cmrc2018" / "cmrc2018_dev.json").read_text("utf-8"))["data"]
    for article in data:
        for paragraph in article["paragraphs"]:
            yield {"id": paragraph["id"], "title": article.get("title") or "", "text": paragraph["context"]}


def write_corpus(rows: Iterator[dict[str, str]], path: Path) -> Path:
    """Write rows as JSON Lines."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), "utf-8")
    return path
