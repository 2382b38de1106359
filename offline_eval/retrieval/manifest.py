"""What an index was made of, written beside it, so that a stale, foreign or damaged one is refused by name."""

from pathlib import Path

from pydantic import Field, ValidationError

from offline_eval.core.errors import DataError
from offline_eval.core.hashing import file_digest
from offline_eval.core.records import Record
from offline_eval.retrieval.analysis import AnalyzerSettings
from offline_eval.retrieval.bm25 import Bm25Settings
from offline_eval.retrieval.dense import HnswSettings
from offline_eval.retrieval.splitter import SplitSettings

FORMAT = 1
MANIFEST = "manifest.json"


class IndexSettings(Record):
    """Everything chosen when an index is built.

    Attributes:
        hnsw: Build a graph beside the exact vectors; needs an embedder.
    """

    split: SplitSettings = Field(default_factory=SplitSettings)
    analyzer: AnalyzerSettings = Field(default_factory=AnalyzerSettings)
    bm25: Bm25Settings = Field(default_factory=Bm25Settings)
    hnsw: HnswSettings | None = None


class GraphRecall(Record):
    """How much of the exact result an HNSW graph finds.

    Attributes:
        recall: Share of the exact k nearest found, in [0, 1].
        n_queries: Passages used as queries, drawn evenly over the corpus.
    """

    recall: float
    k: int
    n_queries: int


class DensePart(Record):
    """The vectors of an index.

    Attributes:
        embedder: The model's name, for messages.
        identity: Hash of what makes its vectors comparable.
        dimension: Numbers a vector.
        graph_recall: None without a graph.
    """

    embedder: str
    identity: str
    dimension: int = Field(gt=0)
    graph_recall: GraphRecall | None = None


class FileEntry(Record):
    """One file of an index."""

    bytes: int
    sha256: str


class Manifest(Record):
    """The contents of `manifest.json`.

    Attributes:
        corpus_hash: Of all passages, whatever their order.
        analyzer_hash: Of the settings and what they do; see `Analyzer.hash`.
        files: Path inside the folder to size and hash.
    """

    format: int
    corpus_hash: str
    n_passages: int = Field(ge=1)
    n_documents: int = Field(ge=1)
    settings: IndexSettings
    analyzer_hash: str
    dense: DensePart | None = None
    files: dict[str, FileEntry]


def describe_files(folder: Path) -> dict[str, FileEntry]:
    """Size and hash of every file below a folder, the manifest left out."""
    paths = sorted(path for path in folder.rglob("*") if path.is_file() and path.name != MANIFEST)
    return {
        path.relative_to(folder).as_posix(): FileEntry(bytes=path.stat().st_size, sha256=file_digest(path))
        for path in paths
    }


def read_manifest(folder: Path) -> Manifest:
    """Read and check a manifest and the files it names.

    Raises:
        DataError: No index there, another version's index, or files that are missing or changed; all are listed.
    """
    path = folder / MANIFEST
    if not path.is_file():
        raise DataError(
            f"{folder}: no index there ({MANIFEST} is missing); build one with `offline-eval retrieve index`"
        )
    try:
        manifest = Manifest.model_validate_json(path.read_bytes())
    except (OSError, ValidationError) as error:
        detail = str(error).splitlines()[0]
        raise DataError(f"{path}: not an index of this program's version ({detail}); build it again") from None
    if manifest.format != FORMAT:
        raise DataError(f"{path}: index format {manifest.format}, this program reads {FORMAT}; build it again")
    problems = [
        f"{folder / name}: {fault}; build the index again"
        for name, entry in manifest.files.items()
        if (fault := _fault(folder / name, entry))
    ]
    if problems:
        raise DataError(problems)
    return manifest


def _fault(path: Path, entry: FileEntry) -> str | None:
    if not path.is_file():
        return "missing"
    if path.stat().st_size != entry.bytes:
        return f"has {path.stat().st_size:,} bytes, expected {entry.bytes:,}"
    return None if file_digest(path) == entry.sha256 else "was changed since the index was built"
