"""The self-assessing pipeline: the checks that evaluate offline, run around somebody's retrievers and generator.

retrieve → answerability, consensus, alignment, contradiction → early exit, or context and answer → grounding and
citations → confidence → wording. The stages are functions next door; here is only their order and what ends it early.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import date

from offline_eval import __version__
from offline_eval.assess import stages
from offline_eval.assess.context import assemble
from offline_eval.assess.finish import finish
from offline_eval.assess.fronts import Fronts
from offline_eval.assess.policy import Policy
from offline_eval.assess.protocols import Encoders, Generated, Generator, PassageRetriever, StageCallback
from offline_eval.assess.records import Assessment, KeptPassage, Stage
from offline_eval.assess.result_cache import ResultCache, cache_key
from offline_eval.assess.retrieve import retrieve
from offline_eval.assess.stages import Found
from offline_eval.assess.state import SIGNAL_OF, State, Timekeeper, found_by
from offline_eval.assess.timed import Call, TimedCalls
from offline_eval.assess.wording import LANGUAGES, Wording, load_wording
from offline_eval.confidence.signals import SignalStatus, missing
from offline_eval.core.errors import UsageError
from offline_eval.core.records import Passage
from offline_eval.text.language import detect_language

Steps = Mapping[Stage, Callable[[], Found]]


class SelfAssessingRag:
    """Answers, and says how far the answer may be relied on. Safe to call from several threads.

    Args:
        retrievers: At least one to `assess`, with names of their own; none is needed to `check`.
        generator: None when answers are only checked.
        checks: The encoders; queues are put in front of them, so that requests share batches.
        policy: Limits, profile, wording.
        today: For the age of sources; the system's date by default.
        clock: Seconds, rising.

    Raises:
        UsageError: Two retrievers of one name.
        DataError: A wording that cannot be used.
    """

    def __init__(
        self,
        retrievers: Sequence[PassageRetriever],
        generator: Generator | None,
        checks: Encoders,
        policy: Policy | None = None,
        *,
        today: Callable[[], date] = date.today,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        names = [retriever.name for retriever in retrievers]
        if len(set(names)) < len(names):
            raise UsageError(f"each retriever needs a name of its own, found {', '.join(names)}")
        self.policy = policy or Policy()
        self._retrievers = tuple(retrievers)
        self._generator = generator
        self._wordings = {language: load_wording(language, self.policy.wording) for language in LANGUAGES}
        self._fronts = Fronts(checks)
        self._timed = TimedCalls(clock=clock)
        self._cache = ResultCache(self.policy.cache_entries)
        self._today = today
        self._clock = clock
        self.versions = self._all_versions()

    def assess(
        self,
        query: str,
        *,
        language: str | None = None,
        deadline_s: float | None = None,
        on_stage: StageCallback | None = None,
    ) -> Assessment:
        """Retrieve, check, generate, check again, and word the result.

        Args:
            language: `zh` or `en` for the wording; the query's own by default.
            deadline_s: Seconds for all of it; the policy's by default. What is not ready by then is a named signal.
            on_stage: Told as stages begin and end.

        Raises:
            UsageError: An empty query, or no retriever or generator.
        """
        if not self._retrievers or self._generator is None:
            raise UsageError(
                "to assess a query, a retriever and a generator are needed; to check an answer, use check()"
            )
        keeper, state = self._begin(query, language, deadline_s, on_stage)
        state = self._retrieve(state, keeper)
        key = self._key(state, [])
        known = self._known(key, keeper)
        if known is not None:
            return known
        state = self._check_passages(state, keeper, {})
        reason = self._reason_to_exit(state)
        state = self._give_up(state, keeper, reason) if reason else self._answer(state, keeper)
        return self._finish(state, keeper, key)

    def check(
        self,
        query: str,
        passages: Sequence[Passage],
        answer: str,
        *,
        rankings: Mapping[str, Sequence[str]] | None = None,
        citations: Sequence[str] = (),
        language: str | None = None,
        deadline_s: float | None = None,
        on_stage: StageCallback | None = None,
    ) -> Assessment:
        """Assess an answer that is already there, without generating.

        Args:
            passages: What the answer was written from, in the order its citations count.
            rankings: Retriever to passage ids, best first; without at least two there is no consensus.
            citations: Ids of the passages the answer says it used.
            language: As for `assess`.
            deadline_s: As for `assess`.
            on_stage: As for `assess`.

        Raises:
            UsageError: An empty query, or a passage id given twice.
        """
        keeper, state = self._begin(query, language, deadline_s, on_stage)
        if len({passage.id for passage in passages}) < len(passages):
            raise UsageError("passage ids must be distinct")
        state = replace(
            state,
            passages=tuple(KeptPassage(passage=passage, in_context=True) for passage in passages),
            rankings={name: tuple(ids) for name, ids in (rankings or {}).items()},
            signals=(missing("retrieval", SignalStatus.NOT_APPLICABLE, "the passages were given"),),
            answer=answer,
            citations=tuple(citations),
        )
        key = self._key(state, [answer, *citations])
        known = self._known(key, keeper)
        if known is not None:
            return known
        state = state.plus(Found((stages.generation(answer),)))
        state = self._check_passages(state, keeper, self._grounding_steps(state))
        return self._finish(state, keeper, key)

    def close(self) -> None:
        """Answer what waits for the encoders, then close them."""
        self._fronts.close()

    def _begin(
        self, query: str, language: str | None, deadline_s: float | None, on_stage: StageCallback | None
    ) -> tuple[Timekeeper, State]:
        if not any(map(str.isalnum, query)):
            raise UsageError("the query is empty; ask something with at least one letter or digit")
        keeper = Timekeeper(self.policy, deadline_s, clock=self._clock, on_stage=on_stage)
        return keeper, State(query=query, language=language or detect_language(query))

    def _retrieve(self, state: State, keeper: Timekeeper) -> State:
        keeper.started([Stage.RETRIEVE])
        found = retrieve(
            self._retrievers,
            state.query,
            k=self.policy.k,
            most=self.policy.most_passages,
            timed=self._timed,
            limit_s=keeper.limit_s(Stage.RETRIEVE),
        )
        keeper.ended(Stage.RETRIEVE, found.signal.status, found.ms)
        return replace(state, passages=found.passages, rankings=found.rankings, signals=(found.signal,))

    def _check_passages(self, state: State, keeper: Timekeeper, others: Steps) -> State:
        """The stages that read query and passages, side by side, with others that are ready to run."""
        policy, fronts = self.policy, self._fronts
        item = stages.item_of(state.query, [p.passage for p in state.passages], rankings=state.rankings)
        state = state.plus(stages.rules(item, policy, today=self._today()))
        state = self._run(state, keeper, {Stage.CONSENSUS: lambda: stages.consensus(item, k=policy.k)}, inline=True)
        steps: dict[Stage, Callable[[], Found]] = {
            Stage.ANSWERABILITY: lambda: stages.answerability(item, fronts.answerability),
            Stage.ALIGNMENT: lambda: stages.alignment(item, fronts.embedder, policy),
            **others,
        }
        scorer, why = fronts.contradiction_scorer(policy, state)
        if scorer is not None and policy.route == "auto" and not policy.profile.always_deep:
            state = self._run(state, keeper, steps)
            scorer, why = fronts.contradiction_scorer(policy, state)
            steps = {}
        steps[Stage.CONTRADICTION] = lambda: stages.contradiction(item, scorer, why_not_asked=why)
        return self._run(state, keeper, steps).with_answerability()

    def _reason_to_exit(self, state: State) -> str | None:
        if not state.passages:
            return "no_passages"
        value = state.value("answerability")
        if value is not None and value < self.policy.profile.exit_below:
            return f"not_answerable: {value:.3g} is below {self.policy.profile.exit_below:g}"
        return None

    def _give_up(self, state: State, keeper: Timekeeper, reason: str) -> State:
        """Without an answer there is nothing more to check."""
        gone = (Stage.GENERATE, Stage.GROUNDING, Stage.CITATIONS)
        for stage in gone:
            keeper.skipped(stage)
        signals = tuple(missing(SIGNAL_OF[s], SignalStatus.SKIPPED, f"early exit ({reason})") for s in gone)
        return replace(state.plus(Found(signals)), early_exit=reason)

    def _answer(self, state: State, keeper: Timekeeper) -> State:
        """Assemble, generate, ground."""
        begin = keeper.now_ms()
        context = assemble(
            state.query,
            state.language,
            state.passages,
            conflicts=state.conflicts,
            best_chunks=state.best_chunks,
            room=self.policy.context_characters,
            wording=self._wording(state.language),
        )
        state = replace(state, passages=context.passages)
        keeper.ended(Stage.CONTEXT, SignalStatus.SCORED, keeper.now_ms() - begin)
        if not context.request.passages:
            return self._give_up(state, keeper, "no_passages: all of them were set aside")
        keeper.started([Stage.GENERATE])
        generator = self._generator
        call: Call[Generated] = Call(
            lambda: generator.generate(context.request),  # type: ignore[union-attr]
            keeper.limit_s(Stage.GENERATE),
        )
        outcome = self._timed.run({Stage.GENERATE.value: call})[Stage.GENERATE.value]
        keeper.ended(Stage.GENERATE, outcome.status, outcome.ms)
        if outcome.value is None:
            return self._unanswered(state, keeper, outcome.status, outcome.reason or "no answer")
        made = outcome.value
        state = replace(state, answer=made.answer, citations=made.citations)
        state = state.plus(Found((stages.generation(made.answer),)))
        return self._run(state, keeper, self._grounding_steps(state))

    def _unanswered(self, state: State, keeper: Timekeeper, status: SignalStatus, reason: str) -> State:
        signals = [missing("generation", status, reason)]
        for stage in (Stage.GROUNDING, Stage.CITATIONS):
            keeper.skipped(stage)
            signals.append(missing(SIGNAL_OF[stage], SignalStatus.SKIPPED, "there is no answer to check"))
        return state.plus(Found(tuple(signals)))

    def _grounding_steps(self, state: State) -> dict[Stage, Callable[[], Found]]:
        item = stages.item_of(state.query, state.shown, answer=state.answer, citations=state.citations)
        return {
            Stage.GROUNDING: lambda: stages.grounding(item, self._fronts.support, self.policy),
            Stage.CITATIONS: lambda: stages.citations(item, self._fronts.support),
        }

    def _run(self, state: State, keeper: Timekeeper, steps: Steps, *, inline: bool = False) -> State:
        """Run stages side by side; what the policy switches off is a skipped signal."""
        off = [stage for stage in steps if stage in self.policy.switched_off]
        for stage in off:
            keeper.skipped(stage)
        found = [Found((missing(SIGNAL_OF[s], SignalStatus.SKIPPED, "switched off by the policy"),)) for s in off]
        active = {stage: step for stage, step in steps.items() if stage not in off}
        keeper.started(list(active))
        if inline:
            for stage, step in active.items():
                begin = keeper.now_ms()
                found.append(step())
                keeper.ended(stage, SignalStatus.SCORED, keeper.now_ms() - begin)
            return state.plus(*found)
        calls = {stage.value: Call(step, keeper.limit_s(stage)) for stage, step in active.items()}
        outcomes = self._timed.run(calls, on_done=lambda name, o: keeper.ended(Stage(name), o.status, o.ms))
        return state.plus(*found, *(found_by(Stage(name), outcome) for name, outcome in outcomes.items()))

    def _finish(self, state: State, keeper: Timekeeper, key: str) -> Assessment:
        wording = self._wording(state.language)
        result = finish(state, keeper, policy=self.policy, wording=wording, today=self._today(), versions=self.versions)
        self._cache.put(key, result)
        return result

    def _wording(self, language: str) -> Wording:
        return self._wordings.get(language, self._wordings["en"])

    def _key(self, state: State, given: Sequence[str]) -> str:
        return cache_key(
            state.query,
            [entry.passage for entry in state.passages],
            rankings=state.rankings,
            given=[state.language, self._today().isoformat(), *given],
            versions=self.versions,
        )

    def _known(self, key: str, keeper: Timekeeper) -> Assessment | None:
        known = self._cache.get(key)
        if known is None:
            return None
        return known.model_copy(update={"cached": True, "timings": keeper.timings, "total_ms": keeper.total_ms})

    def _all_versions(self) -> dict[str, str]:
        found = {
            "program": __version__,
            "policy": self.policy.content_hash()[:12],
            "profile": f"{self.policy.profile.name}@{self.policy.profile.content_hash()[:12]}",
            **{f"wording.{language}": wording.version for language, wording in self._wordings.items()},
            **self._fronts.versions,
            **{f"retriever.{retriever.name}": retriever.version for retriever in self._retrievers},
        }
        if self._generator is not None:
            found["generator"] = f"{self._generator.name}@{self._generator.version}"
        return found
