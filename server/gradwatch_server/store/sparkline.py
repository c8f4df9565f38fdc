"""A run in at most sixty points: pure functions from the last picture and new values to the next picture.

A point stands for ``stride`` steps. It keeps the last finite loss, the worst state of the loss and the largest
gradient norm among them; when there are more than sixty points the stride doubles and neighbours merge.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

__all__ = ["EMPTY", "POINT_LIMIT", "add_points", "read_sparkline", "state_of"]

POINT_LIMIT = 60
EMPTY: dict[str, Any] = {"stride": 1, "points": []}
Point = tuple[int, float | None, str | None, float | None]
_STATE_RANK = {None: 0, "-inf": 1, "+inf": 2, "nan": 3}


def state_of(value: float) -> str | None:
    """The name of a non-finite number, None for a finite one."""
    if math.isfinite(value):
        return None
    return "nan" if math.isnan(value) else "+inf" if value > 0 else "-inf"


def add_points(sparkline: dict[str, Any], points: Iterable[Point]) -> dict[str, Any]:
    """Adds values to a sparkline.

    Args:
        sparkline: what this function returned last, or `EMPTY`.
        points: (step, loss or None, loss state, gradient norm or None), in any order of steps.

    Returns:
        The new sparkline; the old one is not altered.
    """
    stride: int = sparkline["stride"]
    buckets: dict[int, Point] = {point[0]: tuple(point) for point in sparkline["points"]}
    for step, loss, state, norm in points:
        bucket = step // stride
        new = (bucket, loss, state, norm)
        buckets[bucket] = _merge(buckets[bucket], new) if bucket in buckets else new
        while len(buckets) > POINT_LIMIT:
            stride *= 2
            buckets = _halve(buckets)
    return {"stride": stride, "points": [list(buckets[key]) for key in sorted(buckets)]}


def read_sparkline(sparkline: dict[str, Any]) -> dict[str, list[Any]]:
    """The sparkline as the contract has it: parallel lists."""
    points = sparkline["points"]
    return {
        "loss": [point[1] for point in points],
        "loss_state": [point[2] for point in points],
        "gradient_norm": [point[3] for point in points],
    }


def _halve(buckets: dict[int, Point]) -> dict[int, Point]:
    halved: dict[int, Point] = {}
    for key in sorted(buckets):
        bucket = key // 2
        point = (bucket, *buckets[key][1:])
        halved[bucket] = _merge(halved[bucket], point) if bucket in halved else point
    return halved


def _merge(old: Point, new: Point) -> Point:
    norms = [norm for norm in (old[3], new[3]) if norm is not None]
    return (
        old[0],
        old[1] if new[1] is None else new[1],
        max(old[2], new[2], key=lambda state: _STATE_RANK[state]),
        max(norms, default=None),
    )
