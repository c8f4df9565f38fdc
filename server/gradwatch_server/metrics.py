"""What the server counts of itself, for Prometheus. One registry for each server, nothing global."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

__all__ = ["CONTENT_TYPE", "Metrics"]

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


class Metrics:
    """The server's counters.

    Attributes:
        messages: messages committed, by type.
        rows: rows committed.
        received_bytes: bytes of messages committed.
        errors: refused messages and requests, by code.
        hooks: hooks connected.
        browsers: browsers connected.
        commit_s: time in seconds from a message's check to its commit.
        health_s: time in seconds that the health engine took for what was committed together.
        health_failures: engines that failed.
        cache_bytes: bytes of decoded columns in memory.
        alerts: tries to deliver an alert, by channel and by how they ended: ``sent``, ``retried`` or ``failed``.
    """

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        registry = self.registry
        self.messages = Counter("gradwatch_messages", "Messages committed", ["type"], registry=registry)
        self.rows = Counter("gradwatch_rows", "Rows committed", registry=registry)
        self.received_bytes = Counter("gradwatch_received_bytes", "Bytes of messages committed", registry=registry)
        self.errors = Counter("gradwatch_errors", "Messages and requests refused", ["code"], registry=registry)
        self.hooks = Gauge("gradwatch_hooks", "Hooks connected", registry=registry)
        self.browsers = Gauge("gradwatch_browsers", "Browsers connected", registry=registry)
        self.commit_s = Histogram("gradwatch_commit_seconds", "From a message's check to its commit", registry=registry)
        self.health_s = Histogram("gradwatch_health_seconds", "The health engine's time for a batch", registry=registry)
        self.health_failures = Counter("gradwatch_health_failures", "Health engines that failed", registry=registry)
        self.alerts = Counter(
            "gradwatch_alerts", "Tries to deliver an alert", ["channel", "outcome"], registry=registry
        )
        self.cache_bytes = Gauge("gradwatch_cache_bytes", "Decoded columns in memory", registry=registry)

    def render(self) -> bytes:
        """All counters as Prometheus text."""
        return generate_latest(self.registry)
