"""The errors of the demo, beside those of the server."""

from __future__ import annotations

from gradwatch_server.errors import GradwatchServerError

__all__ = ["DashboardError", "DemoError", "MissingPackageError", "TrainingError"]


class DemoError(GradwatchServerError):
    """The base of what can go wrong in a demo."""


class DashboardError(DemoError):
    """No server could be started, or what answers at the address is none of ours."""


class MissingPackageError(DemoError):
    """A package that the trainings need is not installed."""


class TrainingError(DemoError):
    """A training of the demo ended with an error of its own."""
