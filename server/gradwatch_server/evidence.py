"""Which numbers of a run show a finding, and in which steps: what the page goes to and what a report draws. Pure."""

from __future__ import annotations

from typing import Any, Final

__all__ = ["is_slow", "view_of"]

Json = dict[str, Any]

DEFAULT: Final = ("gradient", "norm")
SHOWN_BY: Final = {
    "nonfinite_input": ("input", "norm"),
    "nonfinite_activation": ("activation", "norm"),
    "nonfinite_weight": ("weight", "norm"),
    "dead_units": ("activation", "saturated_share"),
    "saturated_activation": ("activation", "saturated_share"),
    "zero_gradient": ("gradient", "zero_share"),
    "lr_too_high": ("update", "update_ratio"),
}
"""Kind and statistic as in the address of the Run page."""

SHOWN_WITH: Final = {
    "std_before": ("activation", "std"),
    "distance_before": ("activation", "cosine_distance"),
    "n_units": ("weight", "std"),
    "states": ("weight", "max"),
    "kept": ("activation", "zero_share"),
    "starved_ratio": ("update", "update_ratio"),
    "target_max": ("activation", "max"),
    "left": ("update", "update_ratio"),
}
"""Where evidence of this name tells that another kind of numbers shows it: outputs that shrank, outputs that are alike
for all samples, units that are all the same, outputs that are pressed against their end, and updates that clipping left
small."""

SLOW: Final = frozenset(
    {"dead_units", "saturated_activation", "vanishing_gradient", "loss_plateau", "loss_scale_floor"}
)
"""What creeps in over hundreds of steps rather than from one to the next."""
SUDDEN_REACH: Final = 40
SLOW_REACH: Final = 200
"""Steps before the onset that show what was usual."""
AFTER_SHARE: Final = 2
"""Of so many steps before the onset one after it shows what came of it."""
CHAIN_REACH: Final = 400
"""What the chain tells of is shown if it came within so many steps."""
CHAIN_MARGIN: Final = 10


def is_slow(finding: Json) -> bool:
    """Whether it takes many steps to be seen."""
    return finding["kind"] in SLOW


def view_of(finding: Json) -> Json:
    """The contract's ``view`` of a finding.

    Args:
        finding: its kind, first step, operation and chain are looked at.

    Returns:
        ``kind`` and ``statistic`` of the heatmap that shows it, and the steps around its onset, ``to`` exclusive.
    """
    evidence = finding["evidence"]
    kind, statistic = SHOWN_BY.get(finding["kind"], DEFAULT)
    kind, statistic = next((shown for name, shown in SHOWN_WITH.items() if name in evidence), (kind, statistic))
    if finding["kind"] == "zero_gradient" and finding["operation"] is not None:
        # A clip cuts what flows back into a layer's output; the kernels before it still get some gradient.
        kind = "backprop"
    if finding["kind"] == "loss_plateau" and "ratio" in evidence:
        kind, statistic = SHOWN_BY["lr_too_high"]  # weights that stand still
    onset = int(finding["first_step"])
    usual = SLOW_REACH if is_slow(finding) else SUDDEN_REACH
    span = _chain_span(finding, onset)
    before, after = max(usual, span), max(usual // AFTER_SHARE, span + CHAIN_MARGIN if span else 0)
    return {"kind": kind, "statistic": statistic, "from": max(0, onset - before), "to": onset + after + 1}


def _chain_span(finding: Json, onset: int) -> int:
    """Steps from the onset to the last link of its chain that is not too far away."""
    steps = [link["step"] for link in finding["evidence"].get("chain") or [] if link.get("step") is not None]
    return max((step - onset for step in steps if 0 <= step - onset <= CHAIN_REACH), default=0)
