"""A run to hand on, the run that came after it, and the last healthy one before it."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Response

from gradwatch_server.answers import Answer
from gradwatch_server.api.models import Baseline, Report, Sequel
from gradwatch_server.api.query import ERRORS, Here, shape
from gradwatch_server.store.baseline import read_baseline
from gradwatch_server.store.sequel import read_sequel

__all__ = ["router"]

router = APIRouter(prefix="/runs/{run_id}", tags=["reports"])

AS_FILE: dict[int | str, dict[str, Any]] = {
    200: {
        "model": Report,
        "description": "One HTML file that opens without a server, or its content as JSON",
        "content": {"text/html": {"schema": {"type": "string"}}},
    },
    **ERRORS,
}


@router.get("/report", responses=AS_FILE)
def get_report(
    services: Here,
    run_id: str,
    form: Annotated[Literal["html", "json"], Query(alias="format", description="For people or for programs")] = "html",
) -> Response:
    """Everything that a run's page shows, in one file to hand on."""
    # See api.figures on why it is imported late.
    from gradwatch_server.report import make_archive, render_document  # noqa: PLC0415

    archive = make_archive(services.store, run_id, with_figures=form == "html")
    if form == "json":
        return Answer(archive)
    # A header's value is latin-1, and a path has no place in it.
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", f"gradwatch-{archive['run']['name']}-{run_id}")[:150]
    # It brings its own policy; under this server's it would stay blank, so it is saved and not shown.
    headers = {"Content-Disposition": f'attachment; filename="{name}.html"', "Cache-Control": "no-store"}
    return Response(render_document(archive), media_type="text/html; charset=utf-8", headers=headers)


@router.get("/next", responses=shape(Sequel))
def get_next(services: Here, run_id: str) -> Response:
    """The next run of the same project, and whether this run's findings came back there."""
    with services.store.read() as connection:
        return Answer(read_sequel(connection, run_id))


@router.get("/baseline", responses=shape(Baseline))
def get_baseline(services: Here, run_id: str) -> Response:
    """The last healthy run before this one, what was set otherwise there, and its numbers at the same step."""
    return Answer(read_baseline(services.store, run_id))
