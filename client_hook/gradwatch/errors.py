"""The errors of the hook.

    GradwatchError
    +-- ConfigurationError      a mistake in how watch() was called
    |   +-- TargetError         a target that cannot be watched
    +-- ProtocolError           a message that is not what the contract says
    +-- ServerError             the server answered with an error
    +-- ServerTimeoutError      the server's word did not come in time
    +-- SpoolError              what waits on disk cannot be used
    +-- NonFiniteError          on_nonfinite="raise" met a non-finite value
    +-- TrainingStoppedError    a person stopped the training

Each says what was found, what was expected and what to do.
"""

from __future__ import annotations

from pathlib import Path

__all__ = [
    "ConfigurationError",
    "GradwatchError",
    "NonFiniteError",
    "ProtocolError",
    "ServerError",
    "ServerTimeoutError",
    "SpoolError",
    "TargetError",
    "TrainingStoppedError",
]


class GradwatchError(Exception):
    """The base of every error that gradwatch raises."""


class ConfigurationError(GradwatchError, ValueError):
    """An argument or environment variable has a value that cannot be used.

    Attributes:
        name: the argument or variable.
        found: what it was.
        expected: what would do.
    """

    def __init__(self, name: str, found: object, expected: str) -> None:
        """Keeps the three parts of the message."""
        super().__init__(name, found, expected)
        self.name, self.found, self.expected = name, found, expected

    def __str__(self) -> str:
        """The message: what was found, and what was expected."""
        return f"{self.name}: found {self.found!r}, expected {self.expected}."


class TargetError(ConfigurationError, TypeError):
    """A target given to `gradwatch.watch` is no model, layer or optimizer of Keras and no module, or holds nothing."""


class ProtocolError(GradwatchError):
    """A message between hook and server breaks the contract."""


class ServerError(GradwatchError):
    """The server refused the hook.

    Attributes:
        code: the server's error code.
        message: what it said.
    """

    def __init__(self, code: str, message: str) -> None:
        """Keeps the server's code and words."""
        super().__init__(code, message)
        self.code, self.message = code, message

    def __str__(self) -> str:
        """The server's words, with its code."""
        return f"{self.message} ({self.code})"


class ServerTimeoutError(GradwatchError, TimeoutError):
    """The server did not answer within the time given."""


class SpoolError(GradwatchError):
    """A file of waiting messages cannot be used.

    Attributes:
        path: the file.
        found: what is wrong with it.
        expected: what would do.
    """

    def __init__(self, path: Path, found: str, expected: str) -> None:
        """Keeps the three parts of the message."""
        super().__init__(path, found, expected)
        self.path, self.found, self.expected = path, found, expected

    def __str__(self) -> str:
        """The message: which file, what was found, and what was expected."""
        return f"{self.path}: {self.found}; expected {self.expected}."


class NonFiniteError(GradwatchError, ArithmeticError):
    """Training was stopped because a gradient was not finite (``on_nonfinite="raise"``)."""


class TrainingStoppedError(GradwatchError):
    """A person stopped the training, from the dashboard or by ``gradwatch control``, and no ``fit`` could end it."""
