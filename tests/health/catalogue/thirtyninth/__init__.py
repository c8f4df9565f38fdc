"""A thirty-ninth set by two who had not seen the rules: 6 that end in NaN, 24 that only fail to learn, 12 healthy.

One was asked for what is not among the first ten that anyone would name, the other for sixteen families that the rules
are meant for, one of each. They were first played as users have it, within the default budget.
"""

from __future__ import annotations

from pathlib import Path

from tests.health.catalogue.scripts import enter_healthy, entering
from tests.health.catalogue.thirtyeighth import BROKEN, HEALTHY

__all__ = ["BROKEN", "HEALTHY"]

HERE = Path(__file__).parent
enter = entering(HERE, "written blind, thirty-ninth set")

enter("bat_calls", "sqrt(0)", "singular_gradient", code="tf.norm(za - zb", cause=("norm of a vector",))
enter("blot_codes", "posterior collapse", "dead_units", cause=("penalty",))
enter(
    "catchment_graph",
    "edges the wrong way round",
    gap="which end of an edge is to hear of the other is known to nobody but who laid the edges",
)
enter("cell_ageing", "broadcast", "loss_plateau", code='out["capacity"]', cause=("broadcast",))
enter("channel_current", "where after NaN", "nonfinite_gradient", operations=("RealDiv",), cause=("masked after",))
enter("cinema_fm", "start of zeros", "zero_gradient", cause=("began at exactly 0",))
enter("depot_robot", "states that are one", "loss_plateau", cause=("same array",))
enter("depot_robot_ix", "clip that falsifies", "loss_plateau", code="clip_by_value(td", cause=("clipped in the loss",))
enter("engine_map", "learning rate that falls to 0", "loss_plateau", cause=("taken it away",))
enter("ferry_minutes", "log(0)", "nonfinite_loss", operations=("Log",), code="tf.math.log(", cause=("logarithm",))
enter(
    "gait_density",
    "coupling without a turn",
    gap="coordinates that a flow hands through unchanged are not compared with those that enter",
)
enter("gait_codes", "no slope", "loss_plateau", code="tf.argmin(d", cause=("straight-through",))
enter("hull_rust", "power of 0", "singular_gradient", operations=("Pow",), code="tf.pow(", cause=("power",))
enter("hydrophone", "target among the inputs", "loss_plateau", cause=("times to come",))
enter("key_lookup", "wrong axis", "loss_plateau", code="tf.nn.softmax(scores, axis=1)", cause=("wrong axis",))
enter("kiln_images", "gradients that are never cleared", "exploding_gradient", cause=("never set back",))
enter("loan_trees", "saturation", "saturated_activation", code="tf.sigmoid(", cause=("too large",))
enter("pollen_vae", "posterior collapse", "dead_units", "loss_plateau", cause=("penalty",))
enter(
    "recipe_match_ix",
    "exp overflow",
    "singular_gradient",
    operations=("RealDiv", "Exp"),
    code="",
    cause=("so small that its slope", "exponential"),
)
enter("ring_detector", "one player moves the other", "loss_plateau", cause=("one player moves the other",))
enter("river_gauge_ix", "NaN in running statistics", "nonfinite_weight", cause=("batch with nan or inf",))
enter("river_stage_ix", "target among the inputs", "loss_plateau", cause=("among what it is predicted from",))
enter("shop_baskets", "variables that Keras does not know", "missing_gradient", cause=("does not know",))
enter("spoken_digits_ix", "learning rate that falls to 0", "loss_plateau", cause=("taken it away",))
enter("street_noise", "dying ReLU", "dead_units", cause=("only negative inputs",))
enter(
    "ticket_topics_ix",
    "rows of a table moved",
    gap="a table of vectors whose rows stand for other words looks like any other",
)
enter("weld_seams", "split of sorted data", "loss_plateau", cause=("no training sample is of",))
enter("whale_clips", "empty masks", "loss_plateau", code="divide_no_nan", cause=("size of a mask",))
enter("wrist_emg", "loss that is not scaled", "loss_plateau", cause=("not scaled",))
enter("wrist_motion", "collapsed representation", "loss_plateau", code="p * z", cause=("outputs collapse",))

enter_healthy(HERE / "healthy")
