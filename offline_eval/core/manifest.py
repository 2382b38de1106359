"""What exactly was run, by whom, when and why: everything that somebody needs to make a run again, or to audit it."""

from pydantic import Field, JsonValue

from offline_eval.core.protocols import EngineInfo
from offline_eval.core.records import Record


class ModelEntry(Record):
    """One model of a run.

    Attributes:
        kind: `judge`, or the kind of encoder.
        weights: Hash over the weights; the engine's name where there are none on this machine.
        template: Hash of the chat template with its options; None for a model without one.
        license: As its config states it; None where nobody does.
    """

    name: str
    kind: str
    weights: str
    tokenizer: str | None = None
    template: str | None = None
    license: str | None = None
    family: str | None = None
    languages: tuple[str, ...] = ()


class RunSession(Record):
    """One call of the program that worked on a run; a run that was interrupted has several.

    Attributes:
        started: ISO 8601, UTC.
        test_set: Version of the cases as `NAME@NUMBER`; None where no changelog lies beside them, or none of its
            versions holds exactly these cases.
        packages: Name to version, of those that can move a number.
        schemas: Rubric id to the hash of the form that its verdicts have.
        settings: Environment variables that can move a number and were set.
        switches: Offline switches as they were set.
        switch_problems: Those that were not as they must be.
    """

    started: str
    operator: str | None = None
    purpose: str | None = None
    test_set: str | None = None
    python: str
    platform: str
    processor: str
    cpu_features: tuple[str, ...]
    cpus: int
    memory_total: int | None
    gpus: tuple[str, ...]
    packages: dict[str, str]
    models: tuple[ModelEntry, ...]
    rubrics: dict[str, str]
    wording: str
    schemas: dict[str, str]
    settings: dict[str, str] = Field(default_factory=dict)
    switches: dict[str, str]
    switch_problems: tuple[str, ...] = ()


class Manifest(Record):
    """A run's manifest; outside the canonical results document, since times and names differ between equal runs.

    Attributes:
        head: Hash of the log's last row when this was read.
        decoding: How tokens were chosen.
        config: The whole configuration, seed and engine options included.
        engines: Every engine that was loaded, each once.
    """

    format: str = "offline-eval manifest 1"
    run_id: str
    head: str
    n_cases: int
    cases_hash: str
    n_responses: int
    responses_hash: str
    decoding: dict[str, JsonValue]
    config: dict[str, JsonValue]
    engines: tuple[EngineInfo, ...]
    sessions: tuple[RunSession, ...]
