"""The errors of the server, each with its code and its HTTP status.

    GradwatchServerError
    +-- SettingsError           a setting has a value that cannot be used
    +-- NewerDatabaseError      the database was written by a newer gradwatch
    +-- DatabaseError           the database cannot be opened or written
    +-- RequestError            a request that cannot be answered (4xx)
    |   +-- NotFoundError       an unknown run, tensor, figure or path
    |   +-- InvalidQueryError   a query value that does not exist or makes no sense
    |   +-- ConflictError       it cannot be done as things stand
    |   +-- AccessError         no token, or a wrong one
    |       +-- ForbiddenError  a foreign origin or host name
    +-- MessageError            a message on a websocket that breaks the contract

Every one becomes ``{"code", "message", "detail"}``, on HTTP and on websockets alike.
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any, ClassVar

__all__ = [
    "AccessError",
    "ConflictError",
    "DatabaseError",
    "ForbiddenError",
    "GradwatchServerError",
    "InvalidQueryError",
    "MessageError",
    "NewerDatabaseError",
    "NotFoundError",
    "RequestError",
    "SettingsError",
    "unknown",
]


class GradwatchServerError(Exception):
    """The base of every error that the server raises.

    Attributes:
        code: a stable name for programs.
        message: what was found, what was expected and what to do, for people.
        detail: plain JSON values that a program may use, or None.
        status: the HTTP status.
    """

    status: ClassVar[int] = 500

    def __init__(self, code: str, message: str, detail: Any = None) -> None:
        """Keeps the three parts that are sent."""
        super().__init__(code, message, detail)
        self.code, self.message, self.detail = code, message, detail

    def __str__(self) -> str:
        """The message for people."""
        return self.message

    def to_json(self) -> dict[str, Any]:
        """The one shape in which every error leaves the server."""
        return {"code": self.code, "message": self.message, "detail": self.detail}


class SettingsError(GradwatchServerError):
    """A setting has a value that cannot be used."""


class DatabaseError(GradwatchServerError):
    """The database cannot be opened, read or written."""

    status = 503


class NewerDatabaseError(DatabaseError):
    """The database was written by a newer gradwatch than this one.

    Attributes:
        found: the revision found in the database.
        expected: the newest revision that this code knows.
    """

    def __init__(self, found: str, expected: str, where: str) -> None:
        """Says what was found, and the two ways out."""
        super().__init__(
            "newer_database",
            f"The database {where} has schema {found!r}, which this gradwatch does not know (its newest is "
            f"{expected!r}). Upgrade with \"pip install -U 'gradwatch[server]'\", or choose another database with "
            "--database or GRADWATCH_DATABASE.",
            {"found": found, "expected": expected},
        )
        self.found, self.expected = found, expected


class RequestError(GradwatchServerError):
    """A request that cannot be answered as it stands."""

    status = 400


class NotFoundError(RequestError):
    """What was asked for does not exist."""

    status = 404


class InvalidQueryError(RequestError):
    """A value in the query or the body does not exist or makes no sense."""

    status = 422


class ConflictError(RequestError):
    """What is asked for is right, but cannot be done as things stand."""

    status = 409


class AccessError(RequestError):
    """The token is missing or wrong, or the request comes from a foreign page."""

    status = 401


class ForbiddenError(AccessError):
    """The request comes from a page or a host name that is not this server's."""

    status = 403


class MessageError(GradwatchServerError):
    """A websocket message breaks the contract.

    Attributes:
        fatal: whether the peer had better stop trying.
    """

    status = 400

    def __init__(self, code: str, message: str, detail: Any = None, *, fatal: bool = True) -> None:
        """Keeps whether trying again can help."""
        super().__init__(code, message, detail)
        self.fatal = fatal

    def to_json(self) -> dict[str, Any]:
        """The error as a websocket message."""
        return {"type": "error", **super().to_json(), "fatal": self.fatal}


def unknown(what: str, found: str, known: Iterable[str], error: type[RequestError] = InvalidQueryError) -> RequestError:
    """Builds the error for a name that does not exist: what exists, the nearest ones first.

    Args:
        what: what kind of name it is, as in ``unknown_WHAT``.
        found: the name that was asked for.
        known: the names that exist.
        error: the class to build.

    Returns:
        The error, to be raised by the caller.
    """
    names = list(known)
    near = get_close_matches(found, names, n=3, cutoff=0.5)
    listed = near or names[:12]
    more = "" if near or len(names) <= len(listed) else f" and {len(names) - len(listed)} more"
    hint = f"did you mean {', '.join(listed)}?" if near else f"there are: {', '.join(listed) or 'none yet'}{more}."
    return error(f"unknown_{what}", f"No {what} {found!r}; {hint}", {"found": found, "known": listed})
