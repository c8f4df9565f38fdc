"""Runs: list, read, change, delete; their tensors and findings."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Query, Response

from gradwatch_server.answers import Answer
from gradwatch_server.api.models import FindingList, RunChange, RunDetail, RunList, RunState, TensorTable
from gradwatch_server.api.query import ERRORS, Here, shape
from gradwatch_server.services import Services
from gradwatch_server.store import RunFilter
from gradwatch_server.store.catalogue import change_run, check_run, list_runs, read_run, read_tensors, remove_run
from gradwatch_server.store.findings import read_findings

__all__ = ["router"]

router = APIRouter(tags=["runs"])


@router.get("/runs", responses=shape(RunList))
def get_runs(
    services: Here,
    *,
    project: Annotated[str | None, Query(description="Only this project")] = None,
    state: Annotated[RunState | None, Query(description="Only this state")] = None,
    search: Annotated[str | None, Query(max_length=200, description="Text in name, id, project or a tag")] = None,
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
    offset: Annotated[int, Query(ge=0, le=2**31)] = 0,
) -> Response:
    """Lists runs, newest first."""
    with services.store.read() as connection:
        found, total = list_runs(connection, RunFilter(project, state, search, limit, offset))
    return Answer({"runs": found, "total": total})


@router.get("/runs/{run_id}", responses=shape(RunDetail))
def get_run(services: Here, run_id: str) -> Response:
    """Reads one run."""
    with services.store.read() as connection:
        return Answer(read_run(connection, run_id))


@router.patch("/runs/{run_id}", responses=shape(RunDetail))
async def patch_run(services: Here, run_id: str, change: RunChange) -> Response:
    """Changes name, project or tags."""
    values = {name: value for name, value in change.model_dump(exclude_unset=True).items() if value is not None}
    await asyncio.to_thread(_read, services, run_id)
    if values:
        await asyncio.wrap_future(services.store.writer.submit(partial(change_run, run_id=run_id, values=values)))
        await services.publish_run(run_id)
    return Answer(await asyncio.to_thread(_read, services, run_id))


@router.delete("/runs/{run_id}", status_code=204, responses=ERRORS)
async def delete_run(services: Here, run_id: str) -> Response:
    """Deletes a run and all that is stored of it; a hook that still speaks for it is told to stop."""
    await asyncio.to_thread(_read, services, run_id)
    await asyncio.wrap_future(services.store.writer.submit(partial(remove_run, run_id=run_id)))
    services.store.columns.forget(run_id)
    services.verdicts.forget(run_id)
    services.hub.publish_deleted(run_id)
    return Response(status_code=204)


@router.get("/runs/{run_id}/tensors", responses=shape(TensorTable))
def get_tensors(services: Here, run_id: str) -> Response:
    """Lists the variables and scalars of a run."""
    with services.store.read() as connection:
        check_run(connection, run_id)
        tensors = read_tensors(connection, run_id)
    return Answer({"tensors": tensors, "scalars": services.store.numbers.scalar_names(run_id)})


@router.get("/runs/{run_id}/findings", responses=shape(FindingList))
def get_findings(services: Here, run_id: str) -> Response:
    """Lists what went wrong, the leading finding first."""
    with services.store.read() as connection:
        check_run(connection, run_id)
        return Answer({"findings": read_findings(connection, run_id)})


def _read(services: Services, run_id: str) -> dict[str, Any]:
    with services.store.read() as connection:
        return read_run(connection, run_id)
