"""Asks a judge the same prompts in different batches, orders and cache states before a run, and counts what moves.

Temperature 0 and a seed do not make verdicts repeatable: results can depend on what is computed together. So it is
measured on the run's own prompts, with labels alone, which is where a verdict is decided.
"""

import time
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from offline_eval.checks.rubric_verdict import Question
from offline_eval.core.certification import Arm, ArmName, SelfTest
from offline_eval.core.evidence import Verdict
from offline_eval.core.hashing import digest
from offline_eval.core.protocols import GenerateRequest, Item, PrefixCached, TextEngine
from offline_eval.core.results import Interval, Status
from offline_eval.engines.certified import IN_PROCESS
from offline_eval.judge.prompt import Material, label_request
from offline_eval.judge.rubric import Rubric
from offline_eval.judge.rules import decide
from offline_eval.judge.verdicts import read_label
from offline_eval.pipeline.config import RunConfig
from offline_eval.pipeline.plan import pair
from offline_eval.stats.intervals import wilson
from offline_eval.store.run_file import RunFile

EVENT = "self_test"
MOST, LEAST = 16, 4
_ONE_IN = 20  # of the run's requests: each prompt is asked five times, so the test costs a quarter at most


class Prompt(NamedTuple):
    """A label request of the run, with the rubric that reads its answer."""

    rubric: Rubric
    request: GenerateRequest


class Certifier:
    """Tests every judge once when it is loaded, and keeps the result in the run file.

    Args:
        run_file: Holds what the run asks about.
        sample: Prompts to ask; None for as many as the run's size makes cheap, 0 for none.
    """

    def __init__(
        self,
        run_file: RunFile,
        config: RunConfig,
        *,
        sample: int | None = None,
        announce: Callable[[str], None] = lambda line: None,
    ) -> None:
        self._file = run_file
        self._config = config
        self._sample = sample
        self._announce = announce

    def tested(self, judge: str, engine: TextEngine) -> TextEngine:
        """Hand the engine on after its self-test; one that passed through it in this run before is not asked again.

        What is not in this process is tested only in certified mode: its answers may cost somebody else.

        Raises:
            StoreError: The result cannot be written.
            EngineError: The engine died and does not load again.
        """
        if not self._config.certified and self._config.engine not in IN_PROCESS:
            return engine
        if any(known.engine_fingerprint == engine.info.fingerprint for known in stored_tests(self._file)):
            return engine
        items = pair(list(self._file.cases()), list(self._file.responses()))
        questions = questions_for(self._config, items, judge)
        n = sample_size(len(questions), self._config.reasons, sample=self._sample)
        if n:
            self._announce(f"self-test: {n} of the run's prompts in other batches, orders and cache states")
            started = time.monotonic()
            found = self_test(judge, engine, prompts=prompts_of(questions, n))
            _forget(engine)  # the run begins as it would have without the test
            self._file.note(EVENT, {**found.model_dump(mode="json"), "seconds": time.monotonic() - started})
            self._announce(_told(found))
        return engine


def _told(found: SelfTest) -> str:
    """A self-test in one line for people."""
    return (
        f"self-test: {found.flips} of {found.n} labels changed, largest move of a probability {found.largest_move:.6f}"
    )


def stored_tests(run_file: RunFile) -> list[SelfTest]:
    """The self-tests of a run, in the order they were made."""
    events = [body for name, body in run_file.events() if name == EVENT]
    return [SelfTest.model_validate({k: v for k, v in body.items() if k != "seconds"}) for body in events]


def questions_for(config: RunConfig, items: Sequence[Item], judge: str) -> list[Question]:
    """What the run asks this judge and no rule decides; everything it might be asked, for an arbiter."""
    dimensions = [name for name in config.panel.examiners if judge in config.judges[name] or judge == config.arbiter]
    asked = (Question(item=item, dimension=dimension) for item in items for dimension in dimensions)
    return [q for q in asked if decide(q.item.case, q.item.response, q.rubric) is None]


def sample_size(n_questions: int, reasons: str, *, sample: int | None) -> int:
    """How many prompts to test: what was asked for, or few enough to cost a quarter of the run at most."""
    if sample is not None:
        return min(sample, n_questions)
    requests = n_questions * (2 if reasons == "all" else 1)
    return min(n_questions, MOST, max(LEAST, requests // _ONE_IN))


def prompts_of(questions: Sequence[Question], n: int) -> list[Prompt]:
    """Choose n, spread evenly over languages and dimensions, by their hashes and so independent of the file's order."""
    ranked = sorted(questions, key=lambda q: (q.rubric.language, q.dimension, digest("SelfTest", q.key)))
    chosen = [ranked[(2 * i + 1) * len(ranked) // (2 * n)] for i in range(n)]  # the middle of each n-th part
    return [Prompt(q.rubric, label_request(Material(q.item.case, q.item.response), q.rubric)) for q in chosen]


def self_test(judge: str, engine: TextEngine, *, prompts: Sequence[Prompt]) -> SelfTest:
    """Ask the prompts in every arm and compare with asking all at once of an empty cache.

    Prompts that cannot be answered at all (too long, say) are left out and not counted.
    """
    reference = _ask(engine, prompts, cold=True)
    usable = [i for i, verdict in enumerate(reference) if verdict.status is Status.SCORED]
    arms = _arms(engine, [prompts[i] for i in usable], [reference[i] for i in usable]) if usable else {}
    compared = [pair for pairs in arms.values() for pair in pairs]
    flipped = {pair.place for pair in compared if pair.is_flip}
    interval = wilson(len(flipped), len(usable)) if usable else None
    return SelfTest(
        judge=judge,
        engine_fingerprint=engine.info.fingerprint,
        setting=f"{engine.info.engine}, {engine.info.dtype}, {engine.info.device}",
        n=len(usable),
        arms=tuple(_counted(name, pairs) for name, pairs in arms.items()),
        flips=len(flipped),
        flip_interval=interval if isinstance(interval, Interval) else None,
        largest_move=_largest(pair.move for pair in compared),
        noise=_largest(pair.margin_move for pair in compared),
    )


class _Compared(NamedTuple):
    """A prompt's verdict in one arm, beside the one it is compared with; both as they would be stored."""

    place: int
    before: Verdict
    after: Verdict

    @property
    def is_flip(self) -> bool:
        return self.before.label != self.after.label

    @property
    def move(self) -> float:
        """Largest difference of a probability."""
        first, second = self.before.probabilities, self.after.probabilities
        return _largest(abs(first[label] - second[label]) for label in first.keys() & second.keys())

    @property
    def margin_move(self) -> float:
        """How far the margin went; through zero when another label came out."""
        first, second = self.before.margin or 0.0, self.after.margin or 0.0
        return first + second if self.is_flip else abs(first - second)


def _arms(
    engine: TextEngine, prompts: Sequence[Prompt], reference: Sequence[Verdict]
) -> dict[ArmName, list[_Compared]]:
    warm = _ask(engine, prompts)  # the reference came just before, so its prompts are in the cache
    backwards = _ask(engine, prompts[::-1], cold=True)[::-1]
    _forget(engine)
    alone = [verdict for prompt in prompts for verdict in _ask(engine, [prompt])]
    resumed = _ask(engine, prompts, cold=True)  # the same batch after another history, as when a run is resumed
    found: dict[ArmName, list[Verdict]] = {
        "resumed": resumed,
        "warm": warm,
        "reversed": backwards,
        "one_at_a_time": alone,
    }
    return {name: _compare(reference, verdicts) for name, verdicts in found.items()}


def _compare(before: Sequence[Verdict], after: Sequence[Verdict]) -> list[_Compared]:
    return [_Compared(index, *two) for index, two in enumerate(zip(before, after, strict=True))]


def _counted(name: ArmName, pairs: Sequence[_Compared]) -> Arm:
    return Arm(
        name=name,
        n=len(pairs),
        moved=sum(pair.before != pair.after for pair in pairs),
        flips=sum(pair.is_flip for pair in pairs),
        largest_move=_largest(pair.move for pair in pairs),
    )


def _largest(values: Iterable[float]) -> float:
    return round(max(values, default=0.0), 6)  # differences of numbers with six digits


def _ask(engine: TextEngine, prompts: Sequence[Prompt], *, cold: bool = False) -> list[Verdict]:
    """The verdicts of one call, as they would be stored."""
    if cold:
        _forget(engine)
    answers = engine.generate([prompt.request for prompt in prompts]) if prompts else []
    return [read_label(prompt.rubric, answer) for prompt, answer in zip(prompts, answers, strict=True)]


def _forget(engine: TextEngine) -> None:
    if isinstance(engine, PrefixCached):
        engine.forget_prefixes()
