"""In what kind of Python process the hook finds itself: a script, a notebook, a worker that imports the script."""

from __future__ import annotations

import linecache
import multiprocessing
import sys
from typing import Any, NamedTuple

__all__ = ["Cell", "find_cell", "find_crash", "is_imported_by_worker"]


class Cell(NamedTuple):
    """The notebook cell that is being run.

    Attributes:
        source: its text.
        line: the line in it that is being run.
        execution: the number of this execution.
    """

    source: str
    line: int
    execution: int

    def repeats(self, other: Cell | None) -> bool:
        """Whether the same line of the same cell ran before, in an earlier execution."""
        return other is not None and self[:2] == other[:2] and self.execution > other.execution


def find_cell() -> Cell | None:
    """The cell that is being run, None outside of IPython."""
    shell = _shell()
    frame: Any = sys._getframe() if shell is not None else None
    while frame is not None:
        if frame.f_code.co_name == "<module>" and frame.f_globals is shell.user_ns:
            source = "".join(linecache.getlines(frame.f_code.co_filename, frame.f_globals))
            return Cell(source, frame.f_lineno, shell.execution_count)
        frame = frame.f_back
    return None


def find_crash() -> BaseException | None:
    """What ended a script, asked while the interpreter exits.

    In an interactive session the last error is only that of some line or cell, after which its user went on: None.
    """
    if hasattr(sys, "ps1") or _shell() is not None:
        return None
    return getattr(sys, "last_value", None)


def is_imported_by_worker() -> bool:
    """Whether the script is only imported again, by a spawned process that looks for what it has to run."""
    return bool(getattr(multiprocessing.current_process(), "_inheriting", False))


def _shell() -> Any:
    ipython = sys.modules.get("IPython")
    return None if ipython is None else ipython.get_ipython()
