"""The ``gradwatch`` command. Light: the hook's installation has it too, without what the server needs."""

from __future__ import annotations

import sys

__all__ = ["main"]


def main() -> None:
    """Runs the command line, or says in one line what is not installed."""
    try:
        from gradwatch_server.cli import run  # noqa: PLC0415 the extra may be missing
    except ModuleNotFoundError as error:
        if error.name is None or error.name.split(".")[0] in {"gradwatch", "gradwatch_server"}:
            raise
        sys.stderr.write(f"gradwatch: {error.name} is not installed; run: pip install 'gradwatch[server]'\n")
        raise SystemExit(3) from None
    run()
