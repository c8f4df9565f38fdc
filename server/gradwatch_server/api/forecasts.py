"""The engine's own record: what it forecast, and what became of it."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Response

from gradwatch_server.answers import Answer
from gradwatch_server.api.models import ForecastList
from gradwatch_server.api.query import Here, shape
from gradwatch_server.store.catalogue import check_run
from gradwatch_server.store.forecasts import read_forecasts

__all__ = ["router"]

router = APIRouter(tags=["findings"])


@router.get("/forecasts", responses=shape(ForecastList))
def get_forecasts(
    services: Here,
    *,
    run: Annotated[str | None, Query(description="Only of this run")] = None,
    project: Annotated[str | None, Query(description="Only of this project")] = None,
    limit: Annotated[int, Query(ge=0, le=1000, description="So many of the list; the counts are of all")] = 100,
) -> Response:
    """Lists forecasts, those of the newest run first, and counts what became of them."""
    with services.store.read() as connection:
        if run is not None:
            check_run(connection, run)
        found, counts = read_forecasts(connection, run_id=run, project=project)
    return Answer({"forecasts": found[:limit], "total": len(found), "counts": counts})
