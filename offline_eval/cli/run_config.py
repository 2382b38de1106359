"""The `run` command's options → the run's configuration; kept apart so that the command reads as one story."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from offline_eval.cli.defaults import DEFAULT_ENCODERS, DEFAULT_JUDGE
from offline_eval.core.errors import UsageError
from offline_eval.core.protocols import EngineKind
from offline_eval.engines.certified import certified_setting
from offline_eval.engines.encoder_setting import encoder_format, require_encoder_engine
from offline_eval.engines.select import EncoderDtype, EngineOptions, encoder_weights, pick_engine
from offline_eval.judge.panel import Panel, load_panel
from offline_eval.models.installed import require_installed
from offline_eval.pipeline.config import RunConfig, assign_judges, rubric_hashes
from offline_eval.pipeline.metric_plan import checks_for, engine_kinds, needs_panel, resolve_metrics

NO_JUDGE = "none"
"""The engine's name when no judge is asked; encoders run in this process."""


def configuration(options: dict[str, Any], *, announce: Callable[[str], None]) -> tuple[RunConfig, EngineOptions]:
    """Resolve metrics to checks and engines, and name the models.

    Raises:
        UsageError: Options that do not fit each other.
        UnknownNameError: An unknown metric, panel or model.
        ModelError: A model that is not installed.
    """
    panel = load_panel(options["panel_name"])
    metrics = resolve_metrics(options["metrics"], panel)
    screen = parse_screen(options["screen"])
    checks = checks_for(metrics, judge_claims=options["judge_claims"], screen=screen is not None)
    engines = _models_of_checks(options, checks)
    judges = _judges(options, panel, metrics)
    if screen is not None and not any(judges.values()):
        raise UsageError("--screen spares the judges; add panel to --metrics, or leave --screen out")
    asked = {name for names in judges.values() for name in names} | ({options["arbiter"]} - {None})
    asked |= {name for kind, name in engines.items() if kind == "judge"}
    engine = _engine(options, has_judge=bool(asked), announce=announce)
    certified = certified_setting(options["certified"], engine=engine, judges=sorted(asked), dtype=options["dtype"])
    if asked:
        announce(f"certified mode {'on' if certified.on else 'off'} ({certified.why})")
    shared = {name: options[name] for name in ("batch_size", "context_length", "url", "seed", "encoder_engine")}
    shared["certified"] = certified.on
    shared["encoder_dtype"] = _encoder_dtype(options, engines, certified=certified.on, announce=announce)
    config = RunConfig(
        panel=panel,
        judges=judges,
        engine=engine,
        dtype=certified.dtype or "config",
        reasons=options["reasons"],
        arbiter=options["arbiter"],
        models=_weights(asked, set(engines.values()) - asked, engine),
        rubrics=rubric_hashes(panel.examiners),
        metrics=metrics,
        checks=checks,
        engines=engines,
        screen=screen,
        **shared,
    )
    engine_options = EngineOptions(
        engine=engine,
        dtype=certified.dtype,
        allow_hosts=options["allow_hosts"],
        batch_limit_s=options["batch_limit_s"],
        item_limit_s=options["item_limit_s"],
        **shared,
    )
    return config, engine_options


def parse_screen(text: str | None) -> tuple[float, float] | None:
    """Read `LOW,HIGH`.

    Raises:
        UsageError: Not two probabilities, the lower first.
    """
    if text is None:
        return None
    try:
        low, high = (float(part) for part in text.split(","))
    except ValueError:
        low, high = 1.0, 0.0
    if not 0.0 <= low < high <= 1.0:
        raise UsageError(f"--screen {text}: write two probabilities, the lower first, for example --screen 0.1,0.9")
    return low, high


def _encoder_dtype(
    options: dict[str, Any], engines: Mapping[EngineKind, str], *, certified: bool, announce: Callable[[str], None]
) -> EncoderDtype:
    """The encoders' number format; refuses a backend that runs none of them."""
    is_scripted = options["engine"] == "scripted"  # then none is loaded
    encoders = [] if is_scripted else [name for kind, name in engines.items() if kind != "judge"]
    if not is_scripted:
        scorers = [name for kind, name in engines.items() if kind in ("nli", "answerability")]
        require_encoder_engine(options["encoder_engine"], scorers)
    found = encoder_format(
        options["encoder_dtype"], certified=certified, encoders=encoders, engine=options["encoder_engine"]
    )
    if encoders:
        announce(f"encoders in {found.dtype} ({found.why})")
    return found.dtype


def _judges(options: dict[str, Any], panel: Panel, metrics: Sequence[str]) -> dict[str, tuple[str, ...]]:
    if not needs_panel(metrics):
        return dict.fromkeys(panel.examiners, ())
    return assign_judges(panel, options["judges"] or [DEFAULT_JUDGE])


def _models_of_checks(options: dict[str, Any], checks: Sequence[str]) -> dict[EngineKind, str]:
    first_judge = (options["judges"] or [DEFAULT_JUDGE])[0].rpartition("=")[2]
    return {
        kind: first_judge if kind == "judge" else options[kind] or DEFAULT_ENCODERS[kind]
        for kind in engine_kinds(checks)
    }


def _engine(options: dict[str, Any], *, has_judge: bool, announce: Callable[[str], None]) -> str:
    if not has_judge and options["engine"] != "scripted":
        return NO_JUDGE
    engine, why = pick_engine(options["engine"])
    announce(f"engine {engine} ({why})")
    if engine == "endpoint" and not options["url"]:
        raise UsageError("--engine endpoint needs --url, for example --url http://127.0.0.1:8000/v1")
    return engine


def _weights(judges: set[str], encoders: set[str], engine: str) -> dict[str, str]:
    """Model to the hash of its weights; a model behind an endpoint or a script has none."""
    is_local = engine in ("vllm", "transformers")
    found = {name: require_installed(name).weights_hash if is_local else engine for name in judges}
    found |= {name: engine if engine == "scripted" else encoder_weights(name) for name in encoders}
    return dict(sorted(found.items()))
