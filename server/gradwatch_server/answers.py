"""How answers leave the server: JSON without a bare NaN, and one shape for every error."""

from __future__ import annotations

import logging
from http import HTTPStatus
from typing import Any

import orjson
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from sqlalchemy.exc import SQLAlchemyError
from starlette.exceptions import HTTPException
from starlette.responses import Response

from gradwatch_server.errors import GradwatchServerError, RequestError

__all__ = ["Answer", "add_error_handlers"]

logger = logging.getLogger(__name__)


class Answer(Response):
    """JSON as RFC 8259 has it: arrays go in as they are, and a number that is not finite becomes null."""

    media_type = "application/json"

    def render(self, content: Any) -> bytes:
        """Encodes the content."""
        return orjson.dumps(content, option=orjson.OPT_SERIALIZE_NUMPY)

    @classmethod
    def of_error(cls, status: int, code: str, message: str, detail: Any = None) -> Answer:
        """An error in the one shape that all have."""
        return cls({"code": code, "message": message, "detail": detail}, status_code=status)


def add_error_handlers(app: FastAPI) -> None:
    """Gives every error of the app the one shape, those of the framework too."""
    app.add_exception_handler(GradwatchServerError, _answer_own)
    app.add_exception_handler(RequestValidationError, _answer_invalid)
    app.add_exception_handler(HTTPException, _answer_http)
    app.add_exception_handler(SQLAlchemyError, _answer_database)
    app.add_exception_handler(Exception, _answer_mistake)


async def _answer_own(request: Request, error: Exception) -> Answer:
    if not isinstance(error, GradwatchServerError):
        raise error
    if not isinstance(error, RequestError):
        logger.error("%s %s: %s", request.method, request.url.path, error)
    return Answer.of_error(error.status, error.code, error.message, error.detail)


async def _answer_invalid(_: Request, error: Exception) -> Answer:
    if not isinstance(error, RequestValidationError):
        raise error
    problems = [
        {"where": ".".join(str(part) for part in item["loc"]), "problem": item["msg"]} for item in error.errors()
    ]
    first = problems[0]
    place, _, name = first["where"].partition(".")
    text = f"{place} {name or 'as a whole'}: {first['problem']}."
    return Answer.of_error(422, "invalid_request", text, {"problems": problems})


async def _answer_http(request: Request, error: Exception) -> Answer:
    if not isinstance(error, HTTPException):
        raise error
    phrase = HTTPStatus(error.status_code).phrase
    code = phrase.lower().replace(" ", "_").replace("-", "_")
    what = f"{request.method} {request.url.path}"
    text = f"{what}: {phrase.lower()}. /api/openapi.json lists what there is."
    answer = Answer.of_error(error.status_code, code, text, {"path": request.url.path})
    answer.headers.update(error.headers or {})
    return answer


async def _answer_database(request: Request, error: Exception) -> Answer:
    logger.error("%s %s: the database failed", request.method, request.url.path, exc_info=error)
    text = "The database cannot be read or written just now; the server's log says why."
    return Answer.of_error(503, "database_unavailable", text)


async def _answer_mistake(_: Request, __: Exception) -> Answer:
    # Starlette logs it with its traceback after this answer.
    return Answer.of_error(500, "internal_error", "The server made a mistake; its log has the traceback.")
