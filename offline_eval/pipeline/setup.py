"""Compares what a run was made with and what is here now, part by part, before anything is replayed."""

from collections.abc import Mapping

from offline_eval.core.manifest import RunSession
from offline_eval.core.protocols import EngineInfo
from offline_eval.core.verification import Difference


def session_differences(then: RunSession | None, now: RunSession) -> list[Difference]:
    """Weights, rubrics, versions, hardware and settings that are not the same.

    Args:
        then: The run's last session; None for a run without a manifest, which cannot be held against anything.
    """
    if then is None:
        return [Difference(part="manifest", then=None, now="nothing says what the run was made with")]
    found: list[Difference] = []
    before, after = ({model.name: model for model in session.models} for session in (then, now))
    for part in ("weights", "tokenizer", "template"):
        found += _mapped(
            f"{part} of", *({n: getattr(m, part) for n, m in models.items()} for models in (before, after))
        )
    found += _mapped("rubric", then.rubrics, now.rubrics)
    found += _mapped("verdict schema", then.schemas, now.schemas)
    found += _mapped("", {"prompt wording": then.wording}, {"prompt wording": now.wording})
    found += _mapped("version of", {"python": then.python, **then.packages}, {"python": now.python, **now.packages})
    found += _mapped("", _hardware(then), _hardware(now))
    return found + _mapped("setting", then.settings, now.settings)


def engine_differences(known: Mapping[str, EngineInfo], now: EngineInfo) -> list[Difference]:
    """What a loaded engine says about itself, against what it said in the run.

    Args:
        known: Model to its engine in the run.
    """
    if now.model not in known:
        return [Difference(part=f"engine of {now.model}", then=None, now=now.engine)]
    before, after = ({k: _text(v) for k, v in info.model_dump().items()} for info in (known[now.model], now))
    return _mapped(f"engine of {now.model},", before, after)


def _text(value: object) -> str:
    """A value in words; a mapping in the order of its names, since a run file keeps no other."""
    return str(dict(sorted(value.items()))) if isinstance(value, dict) else str(value)


def _hardware(session: RunSession) -> dict[str, str]:
    return {
        "processor": session.processor,
        "processor features": ", ".join(session.cpu_features),
        "cores": str(session.cpus),
        "graphics cards": ", ".join(session.gpus) or "none",
    }


def _mapped(what: str, then: Mapping[str, str | None], now: Mapping[str, str | None]) -> list[Difference]:
    return [
        Difference(part=f"{what} {name}".strip(), then=then.get(name), now=now.get(name))
        for name in dict.fromkeys([*then, *now])
        if then.get(name) != now.get(name)
    ]
