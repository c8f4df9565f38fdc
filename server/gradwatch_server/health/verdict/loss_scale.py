"""Verdicts on dynamic loss scaling that does not find a scale: gradients overflow again and again."""

from __future__ import annotations

from typing import Final

from gradwatch_server.health.entry import locate
from gradwatch_server.health.episode import NonFinite
from gradwatch_server.health.finding import Finding, Hypothesis
from gradwatch_server.health.table import TensorTable
from gradwatch_server.health.verdict.advice_nonfinite import from_rate
from gradwatch_server.health.verdict.advice_operation import advise_operation
from gradwatch_server.health.verdict.breakage import doubt, make_finding, say_word
from gradwatch_server.health.verdict.operation import say_place, say_trouble
from gradwatch_server.health.verdict.scene import Scene
from gradwatch_server.health.verdict.spelling import say_count, say_number, say_step

__all__ = ["tell_loss_scale"]

FLOAT32_CODE: Final = """\
# bfloat16 reaches as far as float32: no loss scaling, no overflow.
tf.keras.mixed_precision.set_global_policy("mixed_bfloat16")

# Or keep float16, and compute what overflows in float32:
outputs = tf.keras.layers.Dense(n_classes, dtype="float32")(x)"""

SMALLER_CODE: Final = """\
# A mean instead of a sum, and inputs near 1, make smaller gradients:
loss = tf.reduce_mean(per_sample)                       # instead of tf.reduce_sum
x = (x - mean) / (std + 1e-6)"""


def tell_loss_scale(lead: NonFinite, table: TensorTable, scene: Scene) -> Finding:
    """The finding of overflows under loss scaling that are more than its normal work, and reached no weight."""
    entry = locate(lead, table)
    column = table.gradient[entry.position]
    layer, culprit = table.layer_of_gradient(entry.position), scene.culprit
    since = say_step(lead.first_step)
    if lead.scale < lead.scale_before:
        title = (
            f"The loss scale has fallen from {_say_scale(lead.scale_before)} to {_say_scale(lead.scale)} since {since}"
        )
        title += f": {say_count(lead.n_skipped, 'step')} skipped"
    else:
        title = f"{say_count(lead.n_skipped, 'step')} skipped since {since}: gradients overflow at loss scale "
        title += _say_scale(lead.scale)
    summary = (
        f"Under loss scaling an overflow skips the step and halves the scale. Since {since} that happened in "
        f"{say_count(lead.n_skipped, 'step')}, far more than it takes to find a scale, and the gradient of "
        f"{table.names[column]} is still {say_word(lead.counts)}; no weight was touched, and nothing is learned in "
        "skipped steps"
    )
    hypotheses = [
        Hypothesis(
            "The gradient overflows whatever the scale: it is NaN or infinite by itself",
            0.6,
            "Halving the scale mends an overflow that the scaling made, within some fifteen steps. This one went on: a "
            "division by 0, a log of 0, or numbers beyond 65,504 in the forward pass.",
            "Look at the operation that breaks, and compute the delicate part in float32 or the model in bfloat16.",
            FLOAT32_CODE,
        ),
        Hypothesis(
            "The loss or its gradient is very large",
            0.4,
            "A loss that is summed over a large batch, or inputs that are not scaled, give gradients that leave "
            "float16 even without scaling.",
            "Take means, scale the inputs, clip the global norm.",
            SMALLER_CODE,
        ),
        *from_rate(scene),
    ]
    if culprit is not None and scene.account is not None:
        title = f"{title.rpartition(': ')[0]}: {say_trouble(scene.account, culprit)}{say_place(culprit)}"
        hypotheses = advise_operation(scene.account, culprit) + doubt(hypotheses)
        layer = culprit.layer or layer
    return make_finding(
        lead,
        scene,
        "loss_scale_floor",
        title,
        summary + ".",
        hypotheses=hypotheses,
        culprit=culprit,
        layer=layer,
        tensor=table.names[column],
        loss_scale=lead.scale,
        loss_scale_before=lead.scale_before,
        n_steps_skipped=lead.n_skipped,
        n_tensors=entry.n_nonfinite,
        n_tensors_finite=entry.n_finite,
    )


def _say_scale(scale: float) -> str:
    """``32,768``: powers of 2 are known by all their digits."""
    return f"{scale:,.7g}" if scale >= 1 else say_number(scale)
