"""When steady trends reach their limits: a robust slope, its confidence, and an extrapolation. Pure; keeps nothing.

The slope is the median of the slopes between all pairs of points (Theil 1950, Sen 1968), its bounds are order
statistics of them (Sen 1968, by Kendall's tau): both need no assumption on the noise, and a third of the points may be
outliers.
"""

from __future__ import annotations

import math
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from gradwatch_server.health.window import N_POINTS, Window

__all__ = ["Extrapolation", "extrapolate", "find_near"]

HORIZON_WINDOWS: Final = 2.0
"""How far ahead of its window a trend is believed, in windows: what is left to the limit is at most twice what the
trend has covered before our eyes."""
CONFIDENCE_Z: Final = 3.29
"""Two-sided 99.9 %: many channels are looked at many times."""
LEVELLING_SHARE: Final = 0.6
"""The newer half of the window must rise at least so steeply, in parts of the whole: what levels off is on its way to
some level, not to the limit."""
RISING_SHARE: Final = 1.2
"""Where it rises by more than that, the newer half alone tells how it goes on."""
RANGE_FACTOR: Final = 1.5
"""A forecast's latest step is at least this many times as far away as its middle one."""
RANGE_LIMIT: Final = 3.0
"""And at most so many times: what has not come by then was not forecast."""

LOG_FAR: Final = 50.0
"""Steps beyond e^50 times those so far never come."""

_FIRST, _SECOND = np.triu_indices(N_POINTS, k=1)
_HALF = slice(N_POINTS // 2, None)
_HALF_FIRST, _HALF_SECOND = np.triu_indices(N_POINTS // 2, k=1)
_N_PAIRS: Final = len(_FIRST)
_TAU_SIGMA: Final = math.sqrt(N_POINTS * (N_POINTS - 1) * (2 * N_POINTS + 5) / 18)
_LOW: Final = int((_N_PAIRS - CONFIDENCE_Z * _TAU_SIGMA) / 2)

Float = npt.NDArray[np.float64]
Bool = npt.NDArray[np.bool_]


class Extrapolation(NamedTuple):
    """Where one channel's trend leads.

    Attributes:
        slope: of the channel's value, per step.
        start: the trend's value at the first point.
        end: and at the last one.
        at_step: the step at which it reaches the limit.
        at_step_low: the earliest one that the points allow.
        at_step_high: the latest one.
    """

    slope: float
    start: float
    end: float
    at_step: int
    at_step_low: int
    at_step_high: int


def find_near(first: Float, last: Float, limits: Float) -> Bool:
    """Which channels moved far enough that they may reach their limits soon: a sieve that costs little.

    Args:
        first: ``[n_windows, n]`` values at the windows' first points.
        last: and at their last ones.
        limits: ``[n]``.
    """
    # A robust trend may be steeper than the line between two points: what is near is looked at closely.
    moved, left = last - first, limits - last
    return np.asarray((2 * HORIZON_WINDOWS * np.abs(moved) >= np.abs(left)) & (moved * left > 0))


def extrapolate(window: Window, channel: int, limit: float) -> Extrapolation | None:
    """Follows one channel's trend to a limit; None where it is not steady, levels off, or the limit is far.

    A trend may be straight over the steps or over their logarithm (what goes as a power of the steps soon hardly
    moves): the one that fits the points better is followed.
    """
    values = window.values[:, channel]
    if not np.isfinite(values).all():
        return None
    direction = 1.0 if limit > values[-1] else -1.0
    x, y = window.steps, direction * values
    slopes = np.sort((y[_SECOND] - y[_FIRST]) / (x[_SECOND] - x[_FIRST]))
    slope, low, high = float(np.median(slopes)), float(slopes[_LOW]), float(slopes[-1 - _LOW])
    newer_x, newer_y = x[_HALF], y[_HALF]
    newer = float(
        np.median((newer_y[_HALF_SECOND] - newer_y[_HALF_FIRST]) / (newer_x[_HALF_SECOND] - newer_x[_HALF_FIRST]))
    )
    if not low > 0 or newer < LEVELLING_SHARE * slope:
        return None
    base = float(np.median(y - slope * x))
    if newer > RISING_SHARE * slope:  # it began within the window, or becomes ever faster
        slope, base = newer, float(np.median(newer_y - newer * newer_x))
    start, end = base + slope * x[0], base + slope * window.last_step
    left = direction * limit - end
    span = window.last_step - window.first_step
    ahead = max(left, 0.0) / slope
    residual = float(np.abs(y - base - slope * x).sum())
    ahead = max(ahead, _follow_power(window, y, direction * limit, residual))
    if ahead > HORIZON_WINDOWS * span:
        return None
    soonest = min(0.5 * ahead, max(left, 0.0) / max(high, slope))
    latest = min(max(RANGE_FACTOR * ahead, max(left, 0.0) / low), RANGE_LIMIT * max(ahead, 1.0))
    return Extrapolation(
        slope=direction * slope,
        start=direction * float(np.clip(start, y.min(), y.max())),  # a line may begin before its trend
        end=direction * end,
        at_step=window.last_step + max(1, round(ahead)),
        at_step_low=window.last_step + max(1, math.floor(soonest)),
        at_step_high=window.last_step + max(2, math.ceil(latest)),
    )


def _follow_power(window: Window, y: Float, limit: float, residual: float) -> float:
    """Steps until a straight line over the logarithm of the step reaches a limit; 0 where it fits worse than that."""
    z = np.log1p(window.steps)
    steepness = float(np.median((y[_SECOND] - y[_FIRST]) / (z[_SECOND] - z[_FIRST])))
    base = float(np.median(y - steepness * z))
    if float(np.abs(y - base - steepness * z).sum()) >= residual:
        return 0.0
    if steepness <= 0:
        return math.inf
    exponent = max(limit - base - steepness * math.log1p(window.last_step), 0.0) / steepness
    return (1 + window.last_step) * math.expm1(exponent) if exponent < LOG_FAR else math.inf
