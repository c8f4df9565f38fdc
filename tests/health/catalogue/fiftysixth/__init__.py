"""A fifty-sixth set by one who had not seen the rules: 4 that end in NaN, 10 that only fail to learn, 3 healthy.

Drawn widely from what people report. They were first played as users have it, within the default budget.
"""

from __future__ import annotations

from pathlib import Path

from tests.health.catalogue.fiftyfifth import BROKEN, HEALTHY
from tests.health.catalogue.scripts import enter_healthy, entering

__all__ = ["BROKEN", "HEALTHY"]

HERE = Path(__file__).parent
enter = entering(HERE, "written blind, fifty-sixth set")

enter("bridge_strain_lvi", "loss not scaled", "loss_plateau", cause=("The loss is not scaled",))
enter("card_player", "0 times Inf", "nonfinite_loss", operations=("Mul",), code="tf.exp(logp) * logp")
enter("chest_findings", "labels that mark the unknown", "exploding_gradient", cause=("Labels of -1",))
enter("clinic_visits", "padding without a mask", "loss_plateau", layer="lstm", cause=("Padding stands at the end",))
enter("crop_photos", "scaled twice", "loss_plateau", layer="rescaling", cause=("divided by their range twice",))
enter("leaf_masks", "labels scaled", "loss_plateau", layer="mask", cause=("labels were scaled down",))
enter("parcel_boxes", "root of a negative", "nonfinite_loss", operations=("Sqrt",), code="tf.sqrt(p[:, 3:])")
enter("pump_pressure", "NaN in the data", "nonfinite_input", layer="column 0", cause=("data hold NaN",))
enter("road_traffic", "variables unknown to Keras", "missing_gradient", code="tf.Variable(init(shape)")
enter("store_sales", "ids cut to whole numbers", "loss_plateau", code='astype("int32")', cause=("cuts off",))
enter("stroke_shapes", "gradient through both branches", "loss_plateau", cause=("outputs collapse",))
enter("ticket_router_lvi", "mask the wrong way round", "loss_plateau", cause=("wrong way round",))
enter("voice_prints", "acos of 1", "singular_gradient", operations=("Reciprocal",), code="tf.acos(cos)")
enter("wind_vectors_lvi", "never thawed", "missing_gradient", layer="discriminator", cause=("never thawed",))

enter_healthy(HERE / "healthy")
