"""What the service counts, in Prometheus' text form; a registry of its own, so that two services do not mix."""

from typing import Any

from offline_eval.assess.records import Assessment, SignalStatus

_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)


class ServiceMetrics:
    """Counters and histograms. No label ever holds a text of a request."""

    def __init__(self) -> None:
        from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector

        self.registry: Any = CollectorRegistry()
        ProcessCollector(registry=self.registry)
        self._requests = Counter(
            "offline_eval_requests", "Requests by path and status.", ["path", "status"], registry=self.registry
        )
        self._seconds = Histogram(
            "offline_eval_request_seconds", "Time to answer.", ["path"], buckets=_SECONDS, registry=self.registry
        )
        self._stages = Histogram(
            "offline_eval_stage_seconds", "Time of a stage.", ["stage"], buckets=_SECONDS, registry=self.registry
        )
        self._checks = Histogram(
            "offline_eval_checks_seconds",
            "Time of an assessment without retrieval and generation.",
            buckets=_SECONDS,
            registry=self.registry,
        )
        self._tiers = Counter("offline_eval_tiers", "Assessments by tier.", ["tier"], registry=self.registry)
        self._missing = Counter(
            "offline_eval_missing_signals",
            "Signals without a value that were to be had.",
            ["signal", "status"],
            registry=self.registry,
        )
        self._cached = Counter("offline_eval_cached", "Assessments from the cache.", registry=self.registry)
        self._degraded = Counter("offline_eval_degraded", "Assessments with a failed stage.", registry=self.registry)
        self._refused = Counter("offline_eval_refused", "Requests not served.", ["code"], registry=self.registry)
        self._accepted = Gauge("offline_eval_accepted", "Requests waiting or under way.", registry=self.registry)

    def request(self, path: str, status: int, seconds: float) -> None:
        """Count one answered request."""
        self._requests.labels(path, str(status)).inc()
        self._seconds.labels(path).observe(seconds)

    def refused(self, code: str) -> None:
        """Count one refusal."""
        self._refused.labels(code).inc()

    def accepted(self, count: int) -> None:
        """Say how many requests wait or are under way."""
        self._accepted.set(count)

    def assessment(self, found: Assessment) -> None:
        """Count one result."""
        self._tiers.labels(found.tier.value).inc()
        if found.cached:
            self._cached.inc()
            return
        if found.degraded:
            self._degraded.inc()
        for signal in found.signals:
            if signal.status in (SignalStatus.FAILED, SignalStatus.TIMED_OUT):
                self._missing.labels(signal.name, signal.status.value).inc()
        for timing in found.timings:
            self._stages.labels(timing.stage.value).observe(timing.ms / 1000)
        self._checks.observe(checks_ms(found) / 1000)

    def text(self) -> bytes:
        """All of it, in Prometheus' text form."""
        from prometheus_client import generate_latest

        return bytes(generate_latest(self.registry))


def checks_ms(found: Assessment) -> float:
    """Wall-clock milliseconds of an assessment without retrieval and generation, which are somebody else's."""
    others = sum(timing.ms for timing in found.timings if timing.stage.value in ("retrieve", "generate"))
    return max(0.0, found.total_ms - others)
