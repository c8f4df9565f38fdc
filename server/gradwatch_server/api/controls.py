"""What a person asks a running training for, and how its cadence changed."""

from __future__ import annotations

import asyncio
from typing import Any

from fastapi import APIRouter, Response

from gradwatch_server.answers import Answer
from gradwatch_server.api.models import CaptureHistory, ControlAccepted, ControlWishes, ErrorAnswer
from gradwatch_server.api.query import ERRORS, Here, shape
from gradwatch_server.control import check_kinds
from gradwatch_server.errors import InvalidQueryError
from gradwatch_server.services import Services
from gradwatch_server.store.captures import read_captures
from gradwatch_server.store.catalogue import check_run, read_streams

__all__ = ["router"]

router = APIRouter(tags=["controls"])


@router.get("/runs/{run_id}/capture", responses=shape(CaptureHistory))
def get_capture(services: Here, run_id: str) -> Response:
    """Tells how often full statistics are taken, and how that changed."""
    with services.store.read() as connection:
        check_run(connection, run_id)
        return Answer({"capture": read_captures(connection, run_id)})


@router.post(
    "/runs/{run_id}/controls",
    status_code=202,
    responses={
        202: {"model": ControlAccepted, "description": "Sent to the training"},
        409: {"model": ErrorAnswer, "description": "No training of this run is connected"},
        **ERRORS,
    },
)
async def post_control(services: Here, run_id: str, wishes: ControlWishes) -> Response:
    """Asks a running training for another cadence, other kinds, everything for some steps, or an end."""
    asked = {name: value for name, value in wishes.model_dump().items() if value is not None}
    streams = await asyncio.to_thread(_read_streams, services, run_id)
    if not asked:
        known = ", ".join(ControlWishes.model_fields)
        raise InvalidQueryError("empty_control", f"Nothing is asked for; expected one of {known}.", None)
    missing = check_kinds(asked["kinds"], streams) if "kinds" in asked else []
    control_id = await services.hooks.control(run_id, asked)
    return Answer({"id": control_id, "run_id": run_id, "not_captured": missing}, status_code=202)


def _read_streams(services: Services, run_id: str) -> list[dict[str, Any]]:
    with services.store.read() as connection:
        check_run(connection, run_id)
        return read_streams(connection, run_id)
