"""What the commands share: the arguments that several have, and how an answer is printed. Owns no command."""

from __future__ import annotations

from typing import Annotated, Any

import orjson
import typer

from gradwatch_server.settings import read_settings

__all__ = ["AsJson", "RunArgument", "Url", "address_of", "print_json"]

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
