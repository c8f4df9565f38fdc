"""One training of the demo as a process of its own, as a user's training is. Owns the process, not the screen."""

from __future__ import annotations

import importlib.util
import os
import signal
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import IO, Final

from gradwatch_server.demo.errors import MissingPackageError, TrainingError

__all__ = ["PROJECT", "Training", "check_packages"]

PROJECT: Final = "demo"
"""The project that the demo's runs are filed under."""
NEEDED: Final = {
    "tensorflow": "pip install tensorflow",
    "sklearn": "pip install 'gradwatch[demo]'",
}
JIT_OPTION: Final = "--jit"
"""What a script is given to compile its training step."""
STOP_TIMEOUT_S: Final = 20.0
TAIL_LINES: Final = 25


def check_packages() -> None:
    """Looks for the packages that the trainings import, without importing them.

    Raises:
        MissingPackageError: one is not installed; the message says how to install it.
    """
    for package, command in NEEDED.items():
        if importlib.util.find_spec(package) is None:
            raise MissingPackageError(
                "missing_package", f"The demo trains with {package}, which is not installed here. Run: {command}"
            )


class Training:
    """A script that trains, run by the same interpreter; a context manager that never leaves it behind.

    Its two output streams go to files, not to pipes: a script that prints much must not block on a reader.
    """

    def __init__(self, script: Path, *, url: str, token: str | None, jit: bool = False) -> None:
        """Starts the script.

        Args:
            script: the Python file.
            url: the server's address, which the script's hook takes from its environment.
            token: the server's token, or None.
            jit: have the training step compiled by XLA, which each script does when given ``--jit``.
        """
        self.script = script
        self._output = tempfile.TemporaryFile(prefix="gradwatch-demo-")  # noqa: SIM115 - closed on leaving
        self._complaints = tempfile.TemporaryFile(prefix="gradwatch-demo-")  # noqa: SIM115 - closed on leaving
        environment = os.environ | {"GRADWATCH_URL": url, "GRADWATCH_PROJECT": PROJECT, "PYTHONUNBUFFERED": "1"}
        environment.pop("GRADWATCH_DISABLED", None)
        environment.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
        if token:
            environment["GRADWATCH_TOKEN"] = token
        # A session of its own: Ctrl-C reaches the demo alone, which passes it on once.
        self._process = subprocess.Popen(  # noqa: S603 - a file of this package, on our own interpreter
            [sys.executable, str(script), *([JIT_OPTION] if jit else [])],
            stdin=subprocess.DEVNULL,
            stdout=self._output,
            stderr=self._complaints,
            env=environment,
            start_new_session=True,
        )

    def __enter__(self) -> Training:
        """The training, already running."""
        return self

    def __exit__(self, *_: object) -> None:
        """Ends the script if it still runs, as Ctrl-C would, and then less kindly."""
        for _time in range(2):  # an interrupt that Python meets in a finalizer is dropped
            if self.is_running:
                self._process.send_signal(signal.SIGINT)
                with suppress(subprocess.TimeoutExpired):
                    self._process.wait(STOP_TIMEOUT_S)
        if self.is_running:
            self._process.kill()
            self._process.wait()
        self._output.close()
        self._complaints.close()

    @property
    def pid(self) -> int:
        """The process id, by which the hook describes its environment too."""
        return self._process.pid

    @property
    def is_running(self) -> bool:
        """Whether the script has not ended yet."""
        return self._process.poll() is None

    def read_result(self) -> str:
        """The last line that the script printed itself, once it has ended.

        Raises:
            TrainingError: the script ended with an error; the message holds the end of what it wrote.
        """
        returncode = self._process.wait()
        if returncode != 0:
            raise TrainingError(
                "training_failed",
                f"{self.script.name} ended with status {returncode}:\n{_tail(self._complaints)}\n"
                f"Run it alone to see more: {sys.executable} {self.script}",
            )
        lines = [line for line in _tail(self._output).splitlines() if not line.startswith("gradwatch")]
        return lines[-1] if lines else ""


def _tail(stream: IO[bytes]) -> str:
    stream.seek(0)
    return "\n".join(stream.read().decode(errors="replace").splitlines()[-TAIL_LINES:])
