"""What the commands share: the arguments that several have, the database, how an answer is printed. Owns no command."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any

import orjson
import typer

from gradwatch_server.errors import NotFoundError, RequestError
from gradwatch_server.settings import read_settings
from gradwatch_server.store import RunFilter, Store
from gradwatch_server.store.catalogue import list_runs

__all__ = ["AsJson", "Database", "RunArgument", "Url", "address_of", "find_run", "open_store", "print_json"]

Database = Annotated[
    str | None, typer.Option("--database", help="SQLAlchemy URL or file of the database [env: GRADWATCH_DATABASE]")
]

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON")]
RunArgument = Annotated[str, typer.Argument(metavar="RUN", help="A run's id, or the beginning of one")]
Url = Annotated[str | None, typer.Option(help="The server's address", envvar="GRADWATCH_URL")]


def address_of(url: str | None) -> tuple[str, str | None]:
    """The address and the token of the server to ask."""
    settings = read_settings()
    return url or f"http://127.0.0.1:{settings.port}", settings.secret


def print_json(value: Any) -> None:
    """Prints an answer as JSON on standard output."""
    typer.echo(orjson.dumps(value, option=orjson.OPT_INDENT_2 | orjson.OPT_SERIALIZE_NUMPY).decode())


@contextmanager
def open_store(database: str | None) -> Iterator[Store]:
    """The database, for as long as a command works on it."""
    store = Store(read_settings(database=database))
    try:
        yield store
    finally:
        store.close()


def find_run(store: Store, text: str) -> str:
    """Finds the one run whose id is, or begins with, ``text``.

    Raises:
        RequestError: there is none, or there are several.
    """
    with store.read() as connection:
        found, _ = list_runs(connection, RunFilter(search=text, limit=1000))
    ids = [one["id"] for one in found]
    if text in ids:
        return text
    begin = [run_id for run_id in ids if run_id.startswith(text)]
    if len(begin) == 1:
        return str(begin[0])
    if begin:
        raise RequestError("ambiguous_run", f"{len(begin)} runs begin with {text!r}: {', '.join(begin[:5])} ...")
    raise NotFoundError("unknown_run", f'There is no run {text!r}; "gradwatch runs" lists them.', {"run_id": text})
