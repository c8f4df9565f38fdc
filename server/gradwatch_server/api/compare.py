"""Runs side by side: what was set differently, what they have in common, their losses and gradient norms."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Response

from gradwatch_server.answers import Answer
from gradwatch_server.api.models import Comparison
from gradwatch_server.api.query import Here, shape
from gradwatch_server.config import compare_configs
from gradwatch_server.errors import InvalidQueryError
from gradwatch_server.store.catalogue import read_run, read_tensors

__all__ = ["router"]

router = APIRouter(tags=["compare"])
Json = dict[str, Any]
COMPARED = ("loss", "gradient_norm")


@router.get("/compare", responses=shape(Comparison))
def get_comparison(
    services: Here,
    run: Annotated[list[str], Query(description="A run's id, 2 to 8 times")],
    points: Annotated[int, Query(ge=1, le=100_000, description="Points at most")] = 1000,
) -> Response:
    """Lays two to eight runs side by side."""
    if not 2 <= len(run) <= 8:
        raise InvalidQueryError("invalid_comparison", f"run: found {len(run)} runs, expected 2 to 8.", None)
    if len(set(run)) < len(run):
        raise InvalidQueryError("invalid_comparison", "run: the same run is named twice.", None)
    with services.store.read() as connection:
        details = [read_run(connection, run_id) for run_id in run]
        tables = [[entry["tensor"] for entry in read_tensors(connection, run_id)] for run_id in run]
    common = set(tables[0]).intersection(*tables[1:])
    numbers = services.store.numbers
    return Answer(
        {
            "runs": [_without_detail(detail) for detail in details],
            "config": compare_configs([detail["config"] for detail in details]),
            "tensors": [name for name in tables[0] if name in common],
            "series": {
                name: [numbers.scalar_or_empty(run_id, name, points=points) for run_id in run] for name in COMPARED
            },
        }
    )


def _without_detail(detail: Json) -> Json:
    return {name: value for name, value in detail.items() if name not in {"error", "streams", "workers"}}
