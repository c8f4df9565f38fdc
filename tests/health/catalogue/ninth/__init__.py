"""A ninth set by someone who had not seen the rules: eight that end in NaN, ten that only fail to learn, 18 healthy.

They are of the families that people ask about most, each as it occurs in a program and not in a textbook. How it went
at first stands in the table. What is not found says why.
"""

from __future__ import annotations

from pathlib import Path

from tests.health.catalogue.eighth import BROKEN, HEALTHY
from tests.health.catalogue.scripts import enter_healthy, entering

__all__ = ["BROKEN", "HEALTHY"]

HERE = Path(__file__).parent
enter = entering(HERE, "written blind, ninth set")

enter(
    "bearing_faults", "float16 overflow", "nonfinite_activation", operations=("Sum",), code="ops.sum(ops.square(bands)"
)
enter("bike_demand", "exp overflow", "nonfinite_activation", operations=("Exp",), code="tf.exp(x)")
enter("credit_parity", "0 / 0", "nonfinite_gradient", operations=("RealDiv",), code="/ tf.reduce_sum(member)")
enter("pump_survival", "log(0)", "nonfinite_loss", operations=("Log",), code="tf.math.log(1.0 - hazards)")
enter("radar_rain", "log(0) in the data", "nonfinite_input", layer="column 0")
enter("runoff_reservoirs", "where after NaN", "singular_gradient", operations=("StatelessWhile",), code="tf.pow(head")
enter("signature_pairs", "sqrt(0)", "singular_gradient", operations=("SqrtGrad",), code="tf.norm(a - b")
enter("vessel_forecast", "acos at 1", "singular_gradient", operations=("AcosGrad",), code="tf.acos(c)")

enter("delayed_saccade", "vanishing over a sequence", "loss_plateau", cause=("sequence",))
enter(
    "drug_graph",
    "start too large",
    "exploding_gradient",
    gap="the loss falls from a hundred times what guessing gives, and with a penalty in it that would be well",
)
enter("gene_modules", "saturated activation", "saturated_activation", layer="gc1")
enter(
    "inventory_dqn",
    "clipping too hard",
    "zero_gradient",
    gap="most samples' error is clipped, and has no gradient: that of a few is left, and a player's loss may be level",
)
enter("log_triage", "learning rate too high", "lr_too_high", "dead_units", cause=("learning rate is too high",))
enter("melody_rnn", "exploding gradient", "exploding_gradient", cause=("Nothing limits the gradient",))
enter("plume_maps", "float16 underflow", "zero_gradient", cause=("Underflow",))
enter("taxi_trips", "unscaled inputs", "dead_units", "loss_plateau", cause=("inputs are not scaled",))
enter("ticket_routing", "disconnected", "missing_gradient", layer="router/vectors")
enter("wifi_throughput", "dying ReLU", "dead_units", layer="rise_1")

enter_healthy(HERE / "healthy")
