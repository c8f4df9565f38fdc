"""What a person says of a finding: acknowledged, dismissed, or neither again."""

from __future__ import annotations

import asyncio
from functools import partial

from fastapi import APIRouter, Response

from gradwatch_server.answers import Answer
from gradwatch_server.api.models import Finding, ReviewWish
from gradwatch_server.api.query import ERRORS, Here, shape
from gradwatch_server.services import Services
from gradwatch_server.store.findings import read_findings, reopen_finding, review_finding

__all__ = ["router"]

router = APIRouter(tags=["findings"])
PATH = "/runs/{run_id}/findings/{finding_id}/review"


@router.put(PATH, responses=shape(Finding, "The finding with its review"))
async def put_review(services: Here, run_id: str, finding_id: str, wish: ReviewWish) -> Response:
    """Acknowledges a finding, or dismisses it; a dismissed one does not count in the run's health."""
    job = partial(
        review_finding, run_id=run_id, finding_id=finding_id, state=wish.state, note=" ".join(wish.note.split())
    )
    await asyncio.wrap_future(services.store.writer.submit(job))
    known = await _publish(services, run_id)
    return Answer(next(one for one in known if one["id"] == finding_id))


@router.delete(PATH, status_code=204, responses=ERRORS)
async def delete_review(services: Here, run_id: str, finding_id: str) -> Response:
    """Takes back what was said of a finding: it is open again."""
    job = partial(reopen_finding, run_id=run_id, finding_id=finding_id)
    await asyncio.wrap_future(services.store.writer.submit(job))
    await _publish(services, run_id)
    return Response(status_code=204)


async def _publish(services: Services, run_id: str) -> list[dict[str, object]]:
    """Tells the open pages."""
    known = await asyncio.to_thread(_read, services, run_id)
    services.hub.publish_findings(run_id, known)
    await services.publish_run(run_id)
    return known


def _read(services: Services, run_id: str) -> list[dict[str, object]]:
    with services.store.read() as connection:
        return read_findings(connection, run_id)
