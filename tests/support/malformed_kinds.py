"""The kinds of malformed input: each makes one, from a seeded generator, and the command that reads it."""

import json
import os
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

from tests.support.malformed import WILD_JSON, broken_bytes, broken_row, broken_rows, broken_text, strange_row
from tests.support.program_call import call
from tests.support.well_formed import (
    CASES,
    CORPUS,
    CSV,
    FEEDBACK,
    GATES,
    LABELS,
    MAPPING,
    PAIRS,
    QRELS,
    RESPONSES,
    ROWS,
    TREC_DOCS,
    TREC_RUN,
)

Make = Callable[[Random, "Workshop"], list[str]]


class Workshop:
    """A folder with good files, each used as it is or as what is damaged."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.number = 0
        os.chdir(folder)
        os.environ["OFFLINE_EVAL_HOME"] = str(folder / "home")
        _write("cases.jsonl", _lines(CASES))
        _write("responses.jsonl", _lines(RESPONSES))
        _write("corpus.jsonl", _lines(CORPUS))
        _write("run.trec", TREC_RUN.encode())
        _write("qrels.txt", QRELS.encode())
        _write("gates.yaml", GATES.encode())
        _write("own/tiny.yaml", _config().encode())
        self.model = _model(folder / "tiny-model")
        _must(
            "run", "cases.jsonl", "--responses", "responses.jsonl", "--engine", "scripted", "--metrics", "panel,claims"
        )
        self.run_file = next((folder / "runs").glob("*.sqlite")).read_bytes()
        _must("retrieve", "index", "corpus.jsonl", "--out", "index")
        _must("models", "import", str(self.model), "--name", "tiny")
        _must(
            "bundle",
            "create",
            "--models",
            "tiny",
            "--configs",
            "own",
            "--test-sets",
            "cases.jsonl",
            "--out",
            "good.tar",
        )
        self.bundle = Path("good.tar").read_bytes()
        shutil.rmtree("home")

    def write(self, name: str, data: bytes) -> str:
        """A new file of this name in a folder of its own."""
        self.number += 1
        return str(_write(f"bad-{self.number}/{name}", data))


def cases(random: Random, shop: Workshop) -> list[str]:
    path = shop.write("cases.jsonl", broken_rows(random, CASES))
    options = ["--responses", "responses.jsonl", "--engine", "scripted", "--out", f"out-{shop.number}"]
    return ["run", path, *options, *random.choice([["--dry-run"], [], ["--metrics", "all", "--format", "json"]])]


def responses(random: Random, shop: Workshop) -> list[str]:
    path = shop.write("responses.jsonl", broken_rows(random, RESPONSES))
    options = ["--engine", "scripted", "--out", f"out-{shop.number}", "--metrics", random.choice(["panel", "all"])]
    return ["run", "cases.jsonl", "--responses", path, *options, "--format", random.choice(["md", "json", "table"])]


def rows(random: Random, shop: Workshop) -> list[str]:
    data = broken_rows(random, ROWS)
    if random.random() < 0.5:
        body = b"[" + b",".join(data.strip().split(b"\n")) + b"]"
        path = shop.write("rows.json", body if random.random() < 0.5 else broken_bytes(random, body))
    else:
        path = shop.write("rows.jsonl", data)
    return ["run", path, "--engine", "scripted", "--out", f"out-{shop.number}"]


def csv(random: Random, shop: Workshop) -> list[str]:
    text = broken_text(random, CSV)
    path = shop.write("rows.csv", text.decode("utf-8", "replace").encode("gb18030") if random.random() < 0.2 else text)
    return ["run", path, "--engine", "scripted", "--out", f"out-{shop.number}", "--dry-run"]


def configs(random: Random, shop: Workshop) -> list[str]:
    path = Path(shop.write("tiny.yaml", broken_text(random, _config())))
    os.environ["OFFLINE_EVAL_CONFIGS"] = str(path.parent)
    return random.choice([["models", "list"], ["models", "show", "tiny"], ["doctor", "--offline"]])


def panels(random: Random, shop: Workshop) -> list[str]:
    """The program reads the panels it was shipped with: those are what is damaged."""
    from offline_eval.judge import panel

    good = panel.shipped_folder() / "panels" / "three-examiners.yaml"
    path = Path(shop.write("panels/three-examiners.yaml", broken_text(random, good.read_text("utf-8"))))
    panel.load_panel.cache_clear()
    _patched(panel, "shipped_folder", lambda: path.parent.parent)
    return [
        "run",
        "cases.jsonl",
        "--responses",
        "responses.jsonl",
        "--engine",
        "scripted",
        "--out",
        f"out-{shop.number}",
    ]


def rubrics(random: Random, shop: Workshop) -> list[str]:
    """As for panels."""
    from offline_eval.judge import rubric

    good = Path(rubric.__file__).parent / "rubrics"
    shop.number += 1
    bad = Path(f"bad-{shop.number}")
    shutil.copytree(good, bad / "rubrics")
    victim = bad / "rubrics" / random.choice(["faithfulness.en.yaml", "relevance.zh.yaml", "completeness.en.yaml"])
    victim.write_bytes(broken_text(random, victim.read_text("utf-8")))
    rubric.load_rubric.cache_clear()
    _patched(rubric, "files", lambda package: bad.absolute())
    return [
        "run",
        "cases.jsonl",
        "--responses",
        "responses.jsonl",
        "--engine",
        "scripted",
        "--out",
        f"out-{shop.number}",
    ]


def qrels(random: Random, shop: Workshop) -> list[str]:
    path = shop.write(random.choice(["qrels.txt", "qrels.tsv", "qrels.txt.gz"]), broken_text(random, QRELS))
    verb = random.choice(["eval", "compare"])
    runs = ["--run", "run.trec", "--run", "other=run.trec"]
    return ["retrieve", verb, "--qrels", path, *runs, "--format", random.choice(["json", "table"])]


def trec_runs(random: Random, shop: Workshop) -> list[str]:
    path = shop.write("run.trec", broken_text(random, TREC_RUN))
    verb = random.choice([["eval", "--qrels", "qrels.txt"], ["consensus", "--run", "run.trec"]])
    return ["retrieve", *verb, "--run", f"other={path}"]


def corpora(random: Random, shop: Workshop) -> list[str]:
    form = random.choice(["jsonl", "trec", "txt"])
    if form == "jsonl":
        path = shop.write("corpus.jsonl", broken_rows(random, CORPUS))
    elif form == "trec":
        path = shop.write("corpus.trec", broken_text(random, TREC_DOCS))
    else:
        path = str(Path(shop.write("docs/a.md", broken_bytes(random, b"# leave\n\n15 days.\n" * 5))).parent)
    split = random.choice([[], ["--split", "sentence", "--size", "40", "--overlap", "10"]])
    return ["retrieve", "index", path, "--out", f"index-{shop.number}", *split]


def queries(random: Random, shop: Workshop) -> list[str]:
    if random.random() < 0.5:
        path = shop.write("cases.jsonl", broken_rows(random, CASES))
        return ["retrieve", "eval", "--index", "index", "--retriever", "bm25", "--cases", path]
    path = shop.write("queries.tsv", broken_text(random, "a\t年假？\nb\tLeave days?\n"))
    options = ["--queries", path, "--qrels", "qrels.txt"]
    return ["retrieve", "eval", "--index", "index", "--retriever", "bm25", *options]


def indexes(random: Random, shop: Workshop) -> list[str]:
    shop.number += 1
    folder = Path(f"bad-{shop.number}/index")
    shutil.copytree("index", folder)
    victim = random.choice(sorted(path for path in folder.rglob("*") if path.is_file()))
    victim.write_bytes(broken_bytes(random, victim.read_bytes()))
    return ["retrieve", "search", "--index", str(folder), "年假", "days"]


def run_files(random: Random, shop: Workshop) -> list[str]:
    path = shop.write("a.sqlite", broken_bytes(random, shop.run_file))
    folder = str(Path(path).parent)
    verbs = [
        *(["report", path], ["report", path, "--format", "md"], ["runs", "audit", path], ["runs", "show", path]),
        *(["runs", "export", path], ["score", path], ["compare", path, "--format", "json"], ["verify", path]),
        *(["runs", "list", "--runs", folder], ["history", folder], ["gate", path, "--gates", "gates.yaml"]),
        *(["feedback", path], ["labels", "export", path], ["cases", "add", path, "--file", f"{folder}/library.sqlite"]),
    ]
    return random.choice(verbs)


def run_rows(random: Random, shop: Workshop) -> list[str]:
    """A sound database in which rows say something else."""
    path = shop.write("a.sqlite", shop.run_file)
    database = sqlite3.connect(path)
    for (trigger,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
        database.execute(f"DROP TRIGGER {trigger}")
    # One of each kind is as likely as another, however many rows there are.
    [kind] = random.choice(database.execute("SELECT DISTINCT kind FROM log ORDER BY kind").fetchall())
    seq, body = random.choice(database.execute("SELECT seq, body FROM log WHERE kind = ?", [kind]).fetchall())
    changed = random.choice([broken_row, strange_row])(random, json.loads(body) or {"a": 1})
    database.execute("UPDATE log SET body = ? WHERE seq = ?", [random.choice([changed, *WILD_JSON[:20]]), seq])
    database.commit()
    database.close()
    return random.choice([["report", path], ["runs", "show", path], ["runs", "export", path], ["runs", "audit", path],
                          ["compare", path], ["gate", path, "--gates", "gates.yaml"], ["verify", path]])  # fmt: skip


def caches(random: Random, shop: Workshop) -> list[str]:
    path = shop.write("c.sqlite", broken_bytes(random, random.choice([shop.run_file, b""])))
    return ["cache", random.choice(["info", "prune"]), "--cache", path]


def gates(random: Random, shop: Workshop) -> list[str]:
    path = shop.write("gates.yaml", broken_text(random, GATES))
    return ["gate", str(next(Path("runs").glob("*.sqlite"))), "--gates", path]


def label_sets(random: Random, shop: Workshop) -> list[str]:
    path = shop.write("labels.jsonl", broken_rows(random, LABELS))
    run = str(next(Path("runs").glob("*.sqlite")))
    scripted = ["benchmark", path, "--scripted", "hash", "--resamples", "100", "--out", f"out-{shop.number}"]
    return random.choice([scripted, ["correct", run, path], ["labels", "export", path]])


def feedback(random: Random, shop: Workshop) -> list[str]:
    path = shop.write("feedback.jsonl", broken_rows(random, FEEDBACK))
    return ["feedback", str(next(Path("runs").glob("*.sqlite"))), "--file", path]


def bundles(random: Random, shop: Workshop) -> list[str]:
    path = shop.write("b.tar", broken_bytes(random, shop.bundle))
    into = f"into-{shop.number}"
    return random.choice([["bundle", "verify", path], ["bundle", "install", path, "--into", into]])


def models(random: Random, shop: Workshop) -> list[str]:
    shop.number += 1
    folder = Path(f"bad-{shop.number}/model")
    shutil.copytree(shop.model, folder)
    victim = random.choice(sorted(folder.iterdir()))
    if victim.suffix == ".json" and random.random() < 0.7:
        victim.write_bytes(
            broken_row(random, json.loads(victim.read_bytes()) or {"a": 1}).encode("utf-8", "surrogatepass")
        )
    else:
        victim.write_bytes(broken_bytes(random, victim.read_bytes()))
    return ["models", "import", str(folder), "--name", f"m{shop.number}"]


def labels(random: Random, shop: Workshop) -> list[str]:
    if random.random() < 0.6:
        path = shop.write("pairs.jsonl", broken_rows(random, PAIRS))
    else:
        path = shop.write("pairs.csv", broken_text(random, "premise,hypothesis,label\na,b,entailment\nc,d,neutral\n"))
    task = random.choice(["nli", "nli", "answerability", "alignment"])
    return ["train", task, "--data", path, "--out", f"trained-{shop.number}", "--base", "nowhere"]


def mappings(random: Random, shop: Workshop) -> list[str]:
    path = shop.write("live.yaml", broken_text(random, MAPPING))
    return ["run", "cases.jsonl", "--system", path, "--engine", "scripted", "--out", f"out-{shop.number}", "--dry-run"]


KINDS: dict[str, Make] = {
    make.__name__: make
    for make in (
        *(cases, responses, rows, csv, configs, panels, rubrics, qrels, trec_runs, corpora, queries, indexes),
        *(run_files, bundles, models, labels, mappings, gates, label_sets, feedback, run_rows, caches),
    )
}


_ORIGINALS: list[tuple[Any, str, Any]] = []


def _patched(module: Any, name: str, value: Any) -> None:
    _ORIGINALS.append((module, name, getattr(module, name)))
    setattr(module, name, value)


def undo() -> None:
    while _ORIGINALS:
        module, name, value = _ORIGINALS.pop()
        setattr(module, name, value)
        for load in ("load_panel", "load_rubric"):
            if hasattr(module, load):
                getattr(module, load).cache_clear()
    os.environ.pop("OFFLINE_EVAL_CONFIGS", None)


def _must(*arguments: str) -> None:
    code, said = call(list(arguments), limit_s=0)  # loads libraries and word lists, which takes a while
    if code:
        raise SystemExit(f"{' '.join(arguments)} failed with {code}:\n{said}")


def _lines(rows: list[dict[str, Any]]) -> bytes:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()


def _write(name: str, data: bytes) -> Path:
    path = Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def _config() -> str:
    from offline_eval.models.config import shipped_folder

    text = (shipped_folder() / "judges" / "qwen3-8b.yaml").read_text("utf-8")
    return "\n".join("name: tiny" if line.startswith("name:") else line for line in text.splitlines()) + "\n"


def _model(folder: Path) -> Path:
    header = b'{"w": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}}'
    files = {
        "config.json": b'{"model_type": "qwen3", "architectures": ["Qwen3ForCausalLM"], "max_position_embeddings": 99}',
        "model.safetensors": len(header).to_bytes(8, "little") + header + bytes(8),
        "tokenizer.json": b'{"version": "1.0"}',
        "tokenizer_config.json": b'{"chat_template": "{{ messages }}", "eos_token": "x"}',
    }
    for name, data in files.items():
        _write(str(folder / name), data)
    return folder
