"""gradwatch: a live health monitor for the gradients of TensorFlow training.

    import gradwatch
    gradwatch.watch(model)

Importing it is cheap: TensorFlow is imported when `watch` is first asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradwatch.errors import (
    ConfigurationError,
    GradwatchError,
    NonFiniteError,
    ProtocolError,
    ServerError,
    ServerTimeoutError,
    TargetError,
    TrainingStoppedError,
)

if TYPE_CHECKING:
    from gradwatch.session import Watch, watch

__version__ = "0.1.0"

__all__ = [
    "ConfigurationError",
    "GradwatchError",
    "NonFiniteError",
    "ProtocolError",
    "ServerError",
    "ServerTimeoutError",
    "TargetError",
    "TrainingStoppedError",
    "Watch",
    "__version__",
    "watch",
]


def __getattr__(name: str) -> Any:
    if name in ("Watch", "watch"):
        from gradwatch import session  # noqa: PLC0415 it imports TensorFlow

        return getattr(session, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
