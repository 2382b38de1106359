"""Retrievers and generators somebody already has, behind our protocols: an index, a Python function, an endpoint.

Whatever they do wrong is raised as `SourceError`, which the pipeline turns into a named signal.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from offline_eval.assess.protocols import Generated, GenerationRequest
from offline_eval.core.hashing import digest, file_digest
from offline_eval.core.protocols import Retriever
from offline_eval.core.records import Case, Passage, Response
from offline_eval.formats.wording import described, plain_words
from offline_eval.pipeline.system_http import HttpSystem
from offline_eval.retrieval.passage_store import PassageStore

_CASE_ID = "query"


class SourceError(Exception):
    """A retriever or generator that did not give what it should; its stage reports it as a failed signal."""


class IndexRetriever:
    """A retriever of the retrieval harness over an opened index.

    Args:
        retriever: For example from `retrieval.retrievers.open_retriever`.
        store: The index's passages.
        version: The index's corpus hash, so that cached results end with their documents.
    """

    def __init__(self, retriever: Retriever, store: PassageStore, *, version: str) -> None:
        self._retriever = retriever
        self._store = store
        self.name = retriever.name
        self.version = version

    def retrieve(self, query: str, *, k: int) -> Sequence[Passage]:
        """The k best passages with their scores."""
        hits = self._retriever.search([query], k=k)[0]
        return [self._store.get(hit.passage_id).model_copy(update={"score": hit.score}) for hit in hits]


class CallableRetriever:
    """A function from query (and `k`) to passages: `Passage` records, dictionaries of their fields, or plain texts.

    Args:
        function: Called as `function(query, k=k)`.
    """

    def __init__(self, function: Callable[..., Sequence[Any]], *, name: str, version: str = "0") -> None:
        self._function = function
        self.name = name
        self.version = version

    def retrieve(self, query: str, *, k: int) -> Sequence[Passage]:
        """What the function returns, best first, cut to k.

        Raises:
            SourceError: It returns no passages.
        """
        return passages_from(self._function(query, k=k), source=self.name)[:k]


class _MappedEndpoint:
    """An endpoint described by a mapping file as for systems under test, asked one text at a time.

    Args:
        mapping_file: `{query}` in its request is the text.
        allow_hosts: Hosts beyond this machine that may be asked.

    Raises:
        DataError: A mapping file that cannot be used.
        AirGapError: A host beyond this machine that is not allowed.
    """

    def __init__(
        self, mapping_file: Path, *, name: str | None = None, allow_hosts: Sequence[str] = (), version: str = "0"
    ) -> None:
        self._system = HttpSystem(mapping_file, name=name, allow_hosts=allow_hosts)
        self.name = self._system.name
        self.version = f"{version}:{file_digest(mapping_file)[:12]}"

    def _ask(self, text: str) -> Response:
        response = self._system.answer([Case(id=_CASE_ID, query=text)])[0]
        if response.error is not None:
            raise SourceError(response.error)
        return response


class HttpRetriever(_MappedEndpoint):
    """An endpoint that answers a query with passages; its mapping file has `answer: null`."""

    def retrieve(self, query: str, *, k: int) -> Sequence[Passage]:
        """The endpoint's passages, cut to k.

        Raises:
            SourceError: It cannot be reached or understood.
        """
        return self._ask(query).passages[:k]


class CallableGenerator:
    """A function from a `GenerationRequest` to the answer: a text, or an object with `answer` and `citations`."""

    def __init__(self, function: Callable[[GenerationRequest], Any], *, name: str, version: str = "0") -> None:
        self._function = function
        self.name = name
        self.version = version

    def generate(self, request: GenerationRequest) -> Generated:
        """The function's answer.

        Raises:
            SourceError: It returns no answer.
        """
        result = self._function(request)
        if isinstance(result, Generated):
            return result
        if isinstance(result, str):
            return Generated(answer=result)
        if isinstance(result, Mapping):
            try:
                return Generated.model_validate(dict(result))
            except ValidationError as error:
                raise SourceError(f"{self.name}: {'; '.join(plain_words(error))}") from None
        raise SourceError(f"{self.name}: the answer is {described(result)}, expected text or an object")


class HttpGenerator(_MappedEndpoint):
    """An endpoint that is given the whole prompt; passages it answers with are ignored: it was given ours."""

    def generate(self, request: GenerationRequest) -> Generated:
        """The endpoint's answer.

        Raises:
            SourceError: It cannot be reached or understood.
        """
        response = self._ask(request.prompt)
        return Generated(answer=response.answer, citations=response.citations)


def passages_from(found: Any, *, source: str) -> list[Passage]:
    """Passages from what a function returned.

    Raises:
        SourceError: Not a list of passages, dictionaries or texts.
    """
    if isinstance(found, str | Mapping) or not isinstance(found, Sequence):
        raise SourceError(f"{source}: returned {described(found)}, expected a list of passages")
    return [_passage(item, source) for item in found]


def _passage(item: Any, source: str) -> Passage:
    if isinstance(item, Passage):
        return item
    if isinstance(item, str):  # a text without an id is known by its content, so that retrievers can agree on it
        return Passage(id=digest("passage", item)[:12], text=item)
    if not isinstance(item, Mapping):
        raise SourceError(f"{source}: a passage is {described(item)}, expected an object or text")
    try:
        return Passage.model_validate(dict(item))
    except ValidationError as error:
        raise SourceError(f"{source}: {'; '.join(plain_words(error))}") from None
