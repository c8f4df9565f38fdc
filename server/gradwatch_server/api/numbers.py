"""A run's numbers at the page's resolution: series, heatmap, the lane of non-finite counts, inputs."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Response

from gradwatch_server.answers import Answer
from gradwatch_server.api.models import Heatmap, InputColumns, Nonfinite, Series
from gradwatch_server.api.query import Here, Steps, Whose, Worker, shape
from gradwatch_server.services import Services
from gradwatch_server.store.catalogue import check_run
from gradwatch_server.store.inputs import read_columns

__all__ = ["router"]

router = APIRouter(prefix="/runs/{run_id}", tags=["numbers"])

Columns = Annotated[int, Query(ge=1, le=10_000, description="Columns at most")]


@router.get("/series", responses=shape(Series))
def get_series(
    services: Here,
    run_id: str,
    steps: Steps,
    place: Whose,
    *,
    tensor: Annotated[str, Query(description="A tensor's path, or a scalar's name")],
    kind: Annotated[str, Query(description="A kind, or scalar")] = "gradient",
    statistic: Annotated[str, Query(description="A statistic, or update_ratio")] = "norm",
    points: Annotated[int, Query(ge=1, le=100_000, description="Points at most")] = 1000,
) -> Response:
    """One tensor's statistic, or one scalar, over steps."""
    _check_run(services, run_id)
    numbers = services.store.numbers
    return Answer(
        numbers.series(run_id, kind=kind, tensor=tensor, statistic=statistic, steps=steps, points=points, place=place)
    )


@router.get("/heatmap", responses=shape(Heatmap))
def get_heatmap(
    services: Here,
    run_id: str,
    steps: Steps,
    place: Whose,
    *,
    kind: Annotated[str, Query(description="A kind")] = "gradient",
    statistic: Annotated[str, Query(description="A statistic, or update_ratio")] = "norm",
    columns: Columns = 600,
) -> Response:
    """All tensors of a kind over steps."""
    _check_run(services, run_id)
    numbers = services.store.numbers
    return Answer(numbers.heatmap(run_id, kind=kind, statistic=statistic, steps=steps, columns=columns, place=place))


@router.get("/nonfinite", responses=shape(Nonfinite))
def get_nonfinite(services: Here, run_id: str, steps: Steps, columns: Columns = 600, worker: Worker = None) -> Response:
    """Where anything was not finite."""
    _check_run(services, run_id)
    return Answer(services.store.numbers.nonfinite(run_id, steps=steps, columns=columns, worker=worker))


@router.get("/columns", responses=shape(InputColumns))
def get_columns(
    services: Here,
    run_id: str,
    steps: Steps,
    *,
    tensor: Annotated[str, Query(description="An input")],
    worker: Worker = None,
) -> Response:
    """An input's feature columns over steps, and the rows of the batch that were not finite."""
    with services.store.read() as connection:
        check_run(connection, run_id)
        return Answer(read_columns(connection, run_id, tensor=tensor, steps=steps, worker=worker))


def _check_run(services: Services, run_id: str) -> None:
    with services.store.read() as connection:
        check_run(connection, run_id)
