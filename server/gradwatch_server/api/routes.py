"""Puts the resources together under ``/api``, behind the token."""

from __future__ import annotations

from fastapi import APIRouter, Depends

from gradwatch_server.api import alerts, compare, controls, figures, forecasts, numbers, reports, reviews, runs
from gradwatch_server.api.query import check_access

__all__ = ["make_router"]


def make_router() -> APIRouter:
    """All routes under ``/api``."""
    router = APIRouter(prefix="/api", dependencies=[Depends(check_access)])
    for resource in (runs, numbers, compare, controls, reviews, reports, alerts, forecasts, figures):
        router.include_router(resource.router)
    return router
