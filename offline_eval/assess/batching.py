"""Small queues in front of the encoders: what several requests ask at the same time is computed in one batch.

While the encoder works, questions collect; when it is free it takes all of them. Nobody ever waits for a batch to fill,
so a lone request is as quick as without a queue. Pairs that were answered lately are not computed again.
"""

from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import Future
from queue import Empty, Full, Queue
from threading import Lock, Thread
from typing import Any, Generic, TypeVar

from offline_eval.core.errors import EngineError
from offline_eval.core.protocols import Embedder, EngineInfo, Failure, PairScorer

Q = TypeVar("Q", bound=Hashable)
A = TypeVar("A")

MOST_WAITING = 256
"""Calls that may wait for one encoder."""
MOST_TOGETHER = 512
"""Questions from which a batch takes no further call."""
REMEMBERED = 8192
"""Answers kept; a pair of texts and a few numbers each."""


class BatchingQueue(Generic[Q, A]):
    """One thread that answers questions in batches.

    Args:
        ask: Answers distinct questions, in order.
        is_lasting: Whether an answer may be given again later; failures may not.
        most_waiting: Calls that may wait; a further one raises.
        remembered: Answers kept, the least recently used go first.
    """

    def __init__(
        self,
        ask: Callable[[list[Q]], Sequence[A]],
        *,
        is_lasting: Callable[[A], bool] = lambda answer: True,
        most_waiting: int = MOST_WAITING,
        remembered: int = REMEMBERED,
    ) -> None:
        self._ask = ask
        self._is_lasting = is_lasting
        self._remembered = remembered
        self._known: OrderedDict[Q, A] = OrderedDict()
        self._lock = Lock()
        self._waiting: Queue[tuple[Sequence[Q], Future[dict[Q, A]]] | None] = Queue(maxsize=most_waiting)
        self._is_closed = False
        self._thread = Thread(target=self._work, daemon=True, name="encoder-queue")
        self._thread.start()

    def answer(self, questions: Sequence[Q]) -> list[A]:
        """Answer questions, in order; waits for its batch.

        Raises:
            EngineError: Too many calls are waiting, or the queue is closed.
        """
        known = self._lookup(questions)
        missing = [question for question in dict.fromkeys(questions) if question not in known]
        if missing:
            future: Future[dict[Q, A]] = Future()
            if self._is_closed:
                raise EngineError("the encoder's queue is closed")
            try:
                self._waiting.put_nowait((missing, future))
            except Full:
                raise EngineError(f"{self._waiting.maxsize} calls are waiting for the encoder already") from None
            known |= future.result()
        return [known[question] for question in questions]

    def close(self) -> None:
        """Answer what waits, then stop."""
        if not self._is_closed:
            self._is_closed = True
            self._waiting.put(None)
            self._thread.join(timeout=30.0)

    def _lookup(self, questions: Sequence[Q]) -> dict[Q, A]:
        with self._lock:
            found = {question: self._known[question] for question in questions if question in self._known}
            for question in found:
                self._known.move_to_end(question)
        return found

    def _work(self) -> None:
        while (first := self._waiting.get()) is not None:
            calls = [first]
            size, closes = len(first[0]), False
            while size < MOST_TOGETHER and not closes:
                try:
                    following = self._waiting.get_nowait()
                except Empty:
                    break
                if following is None:
                    closes = True
                else:
                    calls.append(following)
                    size += len(following[0])
            self._answer_calls(calls)
            if closes:
                break
        self._refuse_the_rest()

    def _answer_calls(self, calls: Sequence[tuple[Sequence[Q], "Future[dict[Q, A]]"]]) -> None:
        questions = list(dict.fromkeys(question for asked, _ in calls for question in asked))
        answers = self._lookup(questions)  # again: the batch before may have brought some
        try:
            new = [question for question in questions if question not in answers]
            answers |= dict(zip(new, self._ask(new), strict=True)) if new else {}
        except BaseException as error:  # noqa: BLE001 - the engine's edge: whoever waits has to hear of it
            if len(calls) > 1:  # one call's trouble must not become another's
                for call in calls:
                    self._answer_calls([call])
                return
            calls[0][1].set_exception(error if isinstance(error, Exception) else EngineError(repr(error)))
            return
        with self._lock:
            for question, answer in answers.items():
                if self._is_lasting(answer):
                    self._known[question] = answer
                    self._known.move_to_end(question)
            while len(self._known) > self._remembered:
                self._known.popitem(last=False)
        for asked, future in calls:
            future.set_result({question: answers[question] for question in asked})

    def _refuse_the_rest(self) -> None:
        while True:
            try:
                left = self._waiting.get_nowait()
            except Empty:
                return
            if left is not None:
                left[1].set_exception(EngineError("the encoder's queue was closed"))


class BatchingScorer:
    """A cross-encoder behind a queue."""

    def __init__(self, scorer: PairScorer, *, most_waiting: int = MOST_WAITING, remembered: int = REMEMBERED) -> None:
        self._scorer = scorer
        self._queue: BatchingQueue[tuple[str, str], dict[str, float] | Failure] = BatchingQueue(
            scorer.score,
            is_lasting=lambda answer: not isinstance(answer, Failure),
            most_waiting=most_waiting,
            remembered=remembered,
        )

    @property
    def info(self) -> EngineInfo:
        """The scorer's."""
        return self._scorer.info

    def __getattr__(self, name: str) -> Any:
        return getattr(self._scorer, name)

    def score(self, pairs: Sequence[tuple[str, str]]) -> list[dict[str, float] | Failure]:
        """Score every pair, in order."""
        return self._queue.answer(pairs)

    def close(self) -> None:
        """Answer what waits, then close the scorer."""
        self._queue.close()
        self._scorer.close()


class BatchingEmbedder:
    """An embedder behind a queue."""

    def __init__(self, embedder: Embedder, *, most_waiting: int = MOST_WAITING, remembered: int = REMEMBERED) -> None:
        self._embedder = embedder
        self._queue: BatchingQueue[str, Any] = BatchingQueue(
            lambda texts: list(embedder.embed(texts)), most_waiting=most_waiting, remembered=remembered
        )

    @property
    def info(self) -> EngineInfo:
        """The embedder's."""
        return self._embedder.info

    def __getattr__(self, name: str) -> Any:
        return getattr(self._embedder, name)

    def embed(self, texts: Sequence[str]) -> Any:
        """Embed texts; shape (n_texts, dimension), rows of length 1."""
        import numpy as np

        rows = self._queue.answer(texts)
        return np.stack(rows) if rows else self._embedder.embed([])

    def close(self) -> None:
        """Answer what waits, then close the embedder."""
        self._queue.close()
        self._embedder.close()
