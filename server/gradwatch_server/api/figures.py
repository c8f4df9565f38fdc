"""Figure specifications, built once in Python and filled in the browser."""

from __future__ import annotations

from functools import cache
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Response

from gradwatch_server.answers import Answer
from gradwatch_server.api.models import FigureSpecification
from gradwatch_server.api.query import shape
from gradwatch_server.errors import NotFoundError, unknown

__all__ = ["router"]

router = APIRouter(tags=["figures"])


@router.get("/figures/{name}", responses=shape(FigureSpecification))
def get_figure(
    name: str, theme: Annotated[Literal["light", "dark"], Query(description="Which colours")] = "light"
) -> Response:
    """A Plotly figure without data."""
    return Answer(_specification(name, theme))


@cache
def _specification(name: str, theme: str) -> dict[str, Any]:
    # Plotly takes most of a second to import, which starting the server need not wait for.
    from gradwatch_server.figures import FIGURES, specify  # noqa: PLC0415

    if name not in FIGURES:
        raise unknown("figure", name, FIGURES, NotFoundError)
    return specify(name, theme)
