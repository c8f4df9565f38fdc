"""A fortieth set by three who had not seen the rules: 8 that end in NaN, 32 that only fail to learn, 16 healthy.

One was asked for the families of the studies of numeric defects and training problems, one for those of the studies of
bugs, one for what is not among the first ten that anyone would name. They were first played as users have it, within
the default budget.
"""

from __future__ import annotations

from pathlib import Path

from tests.health.catalogue.scripts import enter_healthy, entering
from tests.health.catalogue.thirtyninth import BROKEN, HEALTHY

__all__ = ["BROKEN", "HEALTHY"]

HERE = Path(__file__).parent
enter = entering(HERE, "written blind, fortieth set")

enter(
    "arm_angles",
    "log(0)",
    "nonfinite_loss",
    operations=("Log",),
    code="tf.math.log(tf.reduce_sum",
    cause=("logarithm",),
)
enter("biopsy_bags", "softmax over one", "zero_gradient", "loss_plateau", cause=("axis of length one",))
enter("crane_control", "relu on the output", "zero_gradient", "dead_units", cause=("relu of the last", "passes a relu"))
enter("dew_point", "unscaled inputs", "saturated_activation", cause=("not scaled",))
enter("field_tiles", "learning rate that falls to 0", "loss_plateau", cause=("taken it away",))
enter("gait_curves", "posterior collapse", "dead_units", "loss_plateau", cause=("penalty",))
enter("helpdesk", "softmax of -Inf", "nonfinite_activation", operations=("Softmax",), cause=("nothing but -inf",))
enter("motor_claims_x", "where after NaN", "nonfinite_gradient", operations=("Log",), cause=("masked after",))
enter("pulsar_profiles", "labels of a hinge", "loss_plateau", code="tf.nn.relu(1.0 - y", cause=("must be -1 and 1",))
enter("relay_signals", "loss that is summed", "lr_too_high", cause=("learning rate",))
enter("retention_basins", "sqrt of a negative", "nonfinite_activation", operations=("Sqrt",), cause=("square root",))
enter("solvents", "start too small", "dead_units", "vanishing_gradient", cause=("start too small",))
enter("speaker_id_x", "sqrt(0)", "singular_gradient", code="reduce_std(", cause=("square root",))
enter("star_tracker_x", "acos at 1", "nonfinite_loss", "singular_gradient", operations=("Acos",), cause=("acos",))
enter("boiler_valve", "state over shuffled samples", "loss_plateau", code="model.fit(", cause=("shuffle=false",))
enter("gait_phases", "reshape for transpose", "loss_plateau", code="signals.reshape", cause=("axes should change",))
enter("harbor_sounds", "gradients that are never cleared", "exploding_gradient", cause=("never set back",))
enter("ozone", "broadcast", "loss_plateau", code="nll =", cause=("broadcast",))
enter("pulse_waves", "labels of a generator", "loss_plateau", code="g_loss =", cause=("discriminator's label",))
enter("pump_hazard", "log(0)", "nonfinite_loss", operations=("Log",), code="loglik =", cause=("logarithm",))
enter("recipe_tags", "inverted mask", "loss_plateau", code="tf.equal(tokens, 0)", cause=("wrong way round",))
enter("retina_vessels", "views that do not fit", "loss_plateau", code="random_flip", cause=("upon one another",))
enter("rockfall", "inference mode", "loss_plateau", cause=("training=true",))
enter("signatures", "sqrt(0)", "singular_gradient", code="tf.sqrt(", cause=("square root",))
enter("tide_gauge_x", "learning rate that falls to 0", "loss_plateau", cause=("taken it away",))
enter("triage", "missing activation", "loss_plateau", cause=("no activation function",))
enter("warehouse_cart", "states that are one", "loss_plateau", cause=("same array",))
enter("wine_cellar", "variables left out", "missing_gradient", cause=("never trained",))
enter("alloy_strength", "data set begun anew", "loss_plateau", code="next(iter(", cause=("within the loop",))
enter("bike_rentals_x", "feature without a period", "loss_plateau", cause=("terms that cancel",))
enter("crane_moves", "integer buffer", "loss_plateau", code="np.zeros_like(", cause=("made like",))
enter("forum_topics", "dropout of numbers of rows", "loss_plateau", cause=("before the embedding",))
enter("gene_panel", "number read once", "loss_plateau", code="self.temperature", cause=("python number",))
enter("grasp_points", "mixture of marginals", "loss_plateau", code="reduce_logsumexp", cause=("after the log-sum-exp",))
enter("leaf_matching", "minimum of a masked 0", "loss_plateau", code="tf.reduce_min", cause=("win the minimum",))
enter("molecule_charges", "edges of the next graph", "loss_plateau", cause=("one graph too many",))
enter("pendulum_steps", "differences of wrapped angles", "loss_plateau", cause=("without wrapping",))
enter("river_masks", "interpolated classes", "loss_plateau", code="tf.image.resize(mask", cause=('method="nearest"',))
enter("song_picks", "numbers of another table", "loss_plateau", cause=("from the range of",))
enter(
    "traffic_camera",
    "unsigned difference",
    "loss_plateau",
    code="second - first",
    cause=("before the arrays are cast",),
)

enter_healthy(HERE / "healthy")
