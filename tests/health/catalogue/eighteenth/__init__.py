"""An eighteenth set by someone who had not seen the rules: 17 that end in NaN, 25 that only fail to learn, 15 healthy.

One of each family of defects that the catalogue began with, and of some that came later, in another place and program.
How it went at first stands in the table. What is not found says why.
"""

from __future__ import annotations

from pathlib import Path

from tests.health.catalogue.scripts import enter_healthy, entering
from tests.health.catalogue.seventeenth import BROKEN, HEALTHY

__all__ = ["BROKEN", "HEALTHY"]

HERE = Path(__file__).parent
enter = entering(HERE, "written blind, eighteenth set")

enter("band_energy", "float16 overflow", "nonfinite_activation", cause=("Overflow in float16",), layer="band_energy")
enter("deal_table", "NaN in the data", "nonfinite_input", cause=("The data hold NaN",))
enter("eta", "log(0)", "nonfinite_loss", operations=("Log",), code="tf.math.log(p)")
enter("games_columns", "where after NaN", "nonfinite_gradient", operations=("Log",), code="tf.where(p > 0")
enter("games_group", "variance that vanishes", "nonfinite_loss", operations=("RealDiv",), code="reduce_std(gain")
enter("games_stick", "acos at 1", "nonfinite_loss", operations=("Atanh",), code="tf.math.atanh(action)")
enter("images_rays", "0 * infinity", "nonfinite_activation", operations=("Mul",), code="sigma * gap")
enter("lab_imputation", "0 / 0", "nonfinite_loss", operations=("RealDiv",), code="tf.reduce_sum(target")
enter("leverage", "log of a negative", "nonfinite_loss", operations=("Log1p",), code="tf.math.log1p(pnl)")
enter("passage_search", "exp overflow", "nonfinite_loss", operations=("Sum",), code="tf.reduce_sum(sim")
enter("physics_bearing", "exploding gradient", "exploding_gradient", cause=("along the recurrence",))
enter("physics_pipes", "power of a negative", "nonfinite_activation", operations=("Pow",), code="tf.pow(dh")
enter(
    "rec_social", "attention to nothing", "nonfinite_activation", operations=("RealDiv",), code="weight / tf.reduce_sum"
)
enter("saltgraph", "rsqrt(0)", "nonfinite_activation", operations=("Rsqrt",), code="tf.math.rsqrt(degree)")
enter("stat_pooling", "sqrt(0)", "singular_gradient", cause=("square root of exactly 0",), code="tf.math.reduce_std(x")
enter("ticket_attention", "log(0)", "nonfinite_loss", operations=("Log",), code="tf.math.log(a)")
enter("wakeword", "NaN in the weights", "nonfinite_weight", layer="batch_normalization")

enter("added_views", "labels that say nothing", "loss_plateau", cause=("do not belong to the inputs",))
enter("charge", "vanishing over a sequence", "loss_plateau", cause=("sequence",))
enter("chunk_reader", "disconnected", "missing_gradient", cause=("without a gradient",))
enter("dayahead", "broadcast", "loss_plateau", cause=("broadcast",), code="e = y - q")
enter("diagnosis_codes", "wrong output for the targets", "loss_plateau", cause=("softmax where a sigmoid",))
enter("dialect", "regularisation too strong", "dead_units", cause=("penalty",))
enter("feeder", "float16 underflow", "zero_gradient", cause=("Underflow in float16",))
enter("games_moves", "clip that hides", "zero_gradient", cause=("cap on the loss",), code="tf.minimum(nll, 3.0)")
enter("games_stones", "saturation", "saturated_activation")
enter("images_cells", "label out of range", "exploding_gradient", cause=("outside of 0 to 1",))
enter("images_shapes", "missing normalization", "vanishing_gradient", cause=("short way", "start too small"))
enter("molprops", "terms of different size", "loss_plateau", cause=("drowns this one",))
enter("page_encoder", "learning rate too high", "dead_units", cause=("learning rate is too high",))
enter("parcels", "data in order", "loss_plateau", cause=("come in order",))
enter("phonecode", "left out of the optimizer", "missing_gradient", cause=("never trained",))
enter("physics_membrane", "loss without a bottom", "exploding_gradient", "dead_units", cause=("no lower bound",))
enter("rec_factors", "all weights equal", "dead_units", cause=("starts at a constant",))
enter(
    "rec_sessions",
    "learning rate that falls to 0",
    "loss_plateau",
    gap="the loss has come down by half before, as where a schedule is at its end",
)
enter("rounds", "a mask the wrong way round", "loss_plateau", cause=("wrong way round",))
enter("soft_sensor", "vanishing gradient", "dead_units", cause=("start too small for the depth",))
enter("unrolled_codes", "dying ReLU", "zero_gradient", cause=("Units that died",))
enter("spectra", "learning rate too low", "loss_plateau", cause=("rate is too small",))
enter("turbine", "wrong settings of the optimizer", "loss_plateau", cause=("look swapped",))
enter("voiceviews", "collapsed representation", "dead_units", cause=("penalty",))
enter("vol_forecast", "unscaled inputs", "zero_gradient", cause=("inputs are not scaled",))

enter_healthy(HERE / "healthy")
