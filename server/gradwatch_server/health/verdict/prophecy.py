"""Forecasts as numbers and in words: what moves, whither, and what became of it. Owns no finding."""

from __future__ import annotations

from typing import Any, Final

from gradwatch_server.health.episode import Trend
from gradwatch_server.health.operation_table import ARCS, EXPONENTIALS
from gradwatch_server.health.verdict.operation import say_place
from gradwatch_server.health.verdict.spelling import say_count, say_number, say_step

__all__ = ["forecast_of", "kind_of_trend", "say_about", "say_forecast", "say_quantity", "say_trend", "subject_of"]

_KINDS: Final = {
    "gradient": "exploding_gradient",
    "backprop": "exploding_gradient",
    "loss": "nonfinite_loss",
    "loss_scale": "loss_scale_floor",
    "activation": "nonfinite_activation",
    "weight": "nonfinite_weight",
    "margin": "steep_gradient",
}
"""The kind of finding that a trend leads to, or that it is already."""


def kind_of_trend(trend: Trend) -> str:
    """The finding kind of a forecast (docs/contract.md)."""
    return _KINDS[trend.quantity]


def subject_of(trend: Trend) -> str | None:
    """What a forecast's id is made of: its operation's, tensor's or scalar's name."""
    if trend.operation is not None:
        return trend.operation.name
    if trend.column >= 0 and trend.table is not None:
        return trend.table.names[trend.column]
    return trend.quantity if trend.quantity in {"loss", "loss_scale"} else None


def forecast_of(trend: Trend) -> dict[str, Any]:
    """A forecast as plain numbers: ``evidence.forecast`` of docs/contract.md."""
    outcome = {None: "pending", True: "came_true", False: "did_not"}[trend.has_come]
    return {
        "what": say_quantity(trend),
        "from": trend.start,
        "to": trend.end,
        "from_step": trend.first_step,
        "known_step": trend.known_step,
        "n_steps": trend.known_step - trend.first_step,
        "slope": trend.slope,
        "limit": trend.limit,
        "at_step": trend.at_step,
        "at_step_low": trend.at_step_low,
        "at_step_high": trend.at_step_high,
        "outcome": outcome,
        "outcome_step": trend.outcome_step,
        "lead_steps": None if trend.outcome_step is None else trend.outcome_step - trend.known_step,
    }


def say_quantity(trend: Trend) -> str:
    """``Log's smallest input``, ``the largest output of dense_3``."""
    if trend.operation is not None:
        kind = trend.operation.type
        if kind in EXPONENTIALS:
            return f"{kind}'s headroom to overflow"
        return f"the least distance of {kind}'s input from ±1" if kind in ARCS else f"{kind}'s smallest input"
    name = "" if trend.table is None or trend.column < 0 else trend.table.names[trend.column]
    return {
        "gradient": f"the largest gradient of {name}" if name else "the global gradient norm",
        "loss": "the loss",
        "loss_scale": "the loss scale",
        "activation": f"the largest output of {name}",
        "backprop": f"the largest gradient with respect to the output of {name}",
        "weight": f"the largest weight of {name}",
    }[trend.quantity]


def say_trend(trend: Trend) -> str:
    """``Log's smallest input fell from 0.01 to 3e-05 in 200 steps``."""
    verb = "rose" if trend.end > trend.start else "fell"
    where = "" if trend.operation is None else say_place(trend.operation)
    return (
        f"{say_quantity(trend)}{where} {verb} from {say_number(trend.start)} to {say_number(trend.end)} in "
        f"{trend.known_step - trend.first_step:,} steps"
    )


def say_forecast(trend: Trend) -> str:
    """Whither it leads and what became of that, in two sentences."""
    limit = "" if trend.operation is not None or trend.quantity == "loss_scale" else f", at {say_number(trend.limit)},"
    text = f"At this pace {_say_end(trend)}{limit} {_say_range(trend)}"
    if trend.n_tensors > 1:
        text += f"; {trend.n_tensors - 1:,} more of its kind are on the same way"
    if trend.has_come is None:
        return f"{text}."
    if trend.outcome_step is not None:
        ahead = say_count(trend.outcome_step - trend.known_step, "step")
        return f"{text}. It came true at {say_step(trend.outcome_step)}, {ahead} after this was told."
    return f"{text}. Nothing broke by {say_step(trend.at_step_high)}: this forecast did not come true."


def say_about(n: int) -> str:
    """``40 steps``: two digits are all that a forecast knows."""
    return say_count(float(f"{n:.2g}"), "step")


def _say_end(trend: Trend) -> str:
    """What happens at the limit: ``float16 overflows``."""
    if trend.operation is not None:
        kind = trend.operation.type
        if kind in EXPONENTIALS:
            return f"it overflows {trend.dtype}"
        return "it is exactly ±1" if kind in ARCS else "it is exactly 0"
    if trend.quantity == "loss_scale":
        return "it is at 1, below which it does not go"
    return f"{trend.dtype} overflows"


def _say_range(trend: Trend) -> str:
    """``at about step 1,240 (between step 1,220 and step 1,290)``."""
    low, high = say_step(trend.at_step_low), say_step(trend.at_step_high)
    return f"at about {say_step(trend.at_step)} (between {low} and {high})"
