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
    """

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        of = {"registry": self.registry, "namespace": "gradwatch"}
        self.messages = Counter("messages", "Messages committed", ["type"], **of)
        self.rows = Counter("rows", "Rows committed", **of)
        self.received_bytes = Counter("received_bytes", "Bytes of messages committed", **of)
        self.errors = Counter("errors", "Messages and requests refused", ["code"], **of)
        self.hooks = Gauge("hooks", "Hooks connected", **of)
        self.browsers = Gauge("browsers", "Browsers connected", **of)
        self.commit_s = Histogram("commit_seconds", "From a message's check to its commit", **of)
        self.health_s = Histogram("health_seconds", "The health engine's time for one batch", **of)
        self.health_failures = Counter("health_failures", "Health engines that failed", **of)
        self.cache_bytes = Gauge("cache_bytes", "Decoded columns in memory", **of)

    def render(self) -> bytes:
        """All counters as Prometheus text."""
        return generate_latest(self.registry)
