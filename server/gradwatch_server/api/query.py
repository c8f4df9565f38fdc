"""What queries may hold, and what every route needs. Owns no route."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Depends, Query, Request

from gradwatch_server.access import check_host, check_origin, check_token
from gradwatch_server.api.models import ErrorAnswer
from gradwatch_server.errors import InvalidQueryError
from gradwatch_server.services import Services
from gradwatch_server.store import Place, StepRange

__all__ = ["ERRORS", "Here", "Steps", "Whose", "Worker", "check_access", "services_of", "shape"]

STEP_LIMIT = 2**53 - 1
SAFE_METHODS = ("GET", "HEAD", "OPTIONS")
ERRORS: dict[int | str, dict[str, Any]] = {
    401: {"model": ErrorAnswer, "description": "No token, or a wrong one"},
    404: {"model": ErrorAnswer, "description": "No such run, tensor or figure"},
    422: {"model": ErrorAnswer, "description": "A value that does not exist or makes no sense"},
}


def services_of(request: Request) -> Services:
    """The running server's parts."""
    services: Services = request.app.state.services
    return services


Here = Annotated[Services, Depends(services_of)]


def check_access(request: Request, services: Here) -> None:
    """Lets pass who may see this server's runs; to change something, no foreign page."""
    check_host(request, services.settings)
    check_token(request, services.settings)
    if request.method not in SAFE_METHODS:
        check_origin(request, services.settings)


def shape(model: type[Any], description: str = "The answer") -> dict[int | str, dict[str, Any]]:
    """Documents an answer that is encoded without passing through its model, for it may hold a million numbers."""
    return {200: {"model": model, "description": description}, **ERRORS}


def _steps(
    start: Annotated[int, Query(alias="from", ge=0, le=STEP_LIMIT, description="First step")] = 0,
    stop: Annotated[int | None, Query(alias="to", ge=0, le=STEP_LIMIT, description="Step to stop before")] = None,
) -> StepRange:
    if stop is not None and stop <= start:
        raise InvalidQueryError(
            "invalid_range", f"from={start} to={stop}: expected 'to' beyond 'from' (it is exclusive).", None
        )
    return StepRange(start, stop)


Steps = Annotated[StepRange, Depends(_steps)]
Worker = Annotated[int | None, Query(ge=0, description="One worker alone; default: all together")]


def _place(
    worker: Worker = None,
    replica: Annotated[int | None, Query(ge=0, description="One replica's own; default: what is applied")] = None,
) -> Place:
    return Place(worker, replica)


Whose = Annotated[Place, Depends(_place)]
