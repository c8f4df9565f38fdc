"""A twenty-first set by three who had not seen the rules: scripts of it that only fail to learn, and were played.

The same families as the twentieth. At their first play something fitting was told of 26 of 33; what is not found says
why.
"""

from __future__ import annotations

from pathlib import Path

from tests.health.catalogue.scripts import entering
from tests.health.catalogue.twentieth import BROKEN, HEALTHY

__all__ = ["BROKEN", "HEALTHY"]

HERE = Path(__file__).parent
enter = entering(HERE, "written blind, twenty-first set")

enter("bike_dock_hire", "learning rate that falls to 0", "loss_plateau", cause=("schedule",))
enter("bridge_strain", "broadcast", "loss_plateau", cause=("broadcast",), code="tf.square(yb - pred)")
enter("cell_centers", "dying ReLU", "dead_units", cause=("bias holds every unit below 0",))
enter("compressor_station", "terms of different size", "loss_plateau", cause=("drowns this one",))
enter("crop_plots", "terms of different size", "loss_plateau", cause=("drowns this one",))
enter("crop_yield_accum", "gradients that are never cleared", "exploding_gradient", cause=("never set back",))
enter("district_heating", "learning rate that falls to 0", "loss_plateau", cause=("schedule has taken it away",))
enter("freight_price", "an input that never changes", "loss_plateau", cause=("are the same in every sample",))
enter("hotel_ranking", "unscaled inputs", "loss_plateau", cause=("inputs are not scaled",))
enter("leaf_disease", "labels that say nothing", "loss_plateau", cause=("do not belong to the inputs",))
enter("meter_tamper", "class weights the wrong way round", "loss_plateau", cause=("class weights grow",))
enter("molecule_solubility", "frozen by mistake", "missing_gradient", cause=("Keras does not know",))
enter(
    "motor_observer",
    "an output for two targets",
    "loss_plateau",
    layer="regressor",
    cause=("same layer",),
)
enter("peptide_binding", "learning rate too high", "dead_units", cause=("learning rate is too high",))
enter("radio_coverage", "wrong output for the targets", "saturated_activation", cause=("does not fit the targets",))
enter("raman_vae", "representation collapse", "dead_units", cause=("outweighs what it is good for",))
enter("similar_day_load", "wrong axis", "zero_gradient", cause=("axis of length one",))
enter("spectro_quality", "wrong axis", "zero_gradient", cause=("axis of length one",))
enter("wind_direction", "a sign that is wrong", "loss_plateau", cause=("opposite of the targets",))
