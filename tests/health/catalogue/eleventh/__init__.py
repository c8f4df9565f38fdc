"""An eleventh set by someone who had not seen the rules: eight that end in NaN, 18 that only fail to learn, 16 healthy.

How it went at first stands in the table. What is not found says why.
"""

from __future__ import annotations

from pathlib import Path

from tests.health.catalogue.scripts import enter_healthy, entering
from tests.health.catalogue.tenth import BROKEN, HEALTHY

__all__ = ["BROKEN", "HEALTHY"]

HERE = Path(__file__).parent
enter = entering(HERE, "written blind, eleventh set")

enter("cell_segmentation", "log(0)", "nonfinite_loss", operations=("Log",), code="tf.math.log")
enter("comment_topics", "float16 overflow", "nonfinite_activation", operations=("Cast", "Softmax"), cause=("float16",))
enter("molecule_energy_again", "sqrt(0)", "singular_gradient", operations=("SqrtGrad",), code="tf.norm")
enter("page_visits", "exp overflow", "nonfinite_activation", operations=("Exp",), layer="sequential/rate")
enter("product_returns", "where after NaN", "nonfinite_gradient", operations=("RealDiv",), code="tf.where")
enter("robot_heading", "acos at 1", "singular_gradient", operations=("AcosGrad",), code="tf.acos")
enter("tank_level", "learning rate too high", "exploding_gradient", "nonfinite_loss", cause=("learning rate",))
enter("texture_retrieval", "power of 0", "singular_gradient", operations=("Pow",), code="tf.pow")

enter("bearing_faults_again", "normalisation of one", "dead_units", cause=("input_norm gave 0",))
enter("citation_gcn", "regularisation too strong", "dead_units", cause=("Regularisation",))
enter("ecg_beats_again", "learning rate that falls to 0", "loss_plateau", cause=("schedule",))
enter("gas_sensor_array", "bad initialisation", "saturated_activation", cause=("start too large",))
enter("house_prices_again", "unscaled targets", "loss_plateau", cause=("targets are not scaled",))
enter("intent_lstm", "padding read last", "loss_plateau", "dead_units", cause=("padding stands",))
enter("leaf_spectra", "logits for probabilities", "loss_plateau", cause=("from_logits",))
enter("load_forecast", "wrong output for the loss", "saturated_activation", layer="next_day")
enter("molecule_energy", "broadcast", "loss_plateau", cause=("broadcast",))
enter("particle_jets", "loss that is not scaled", "loss_plateau", cause=("loss is not scaled",))
enter(
    "pole_policy_again",
    "loss that ascends",
    "loss_plateau",
    gap="the loss of a policy may have either sign, and rewards are not seen",
)
enter("recycling_bins", "inputs scaled to nothing", "dead_units", "loss_plateau", cause=("inputs are scaled",))
enter("review_sentiment_again", "table of zeros", "dead_units", cause=("glove gave 0",))
enter(
    "ring_gan_again",
    "a game that nobody plays",
    "loss_plateau",
    cause=("discriminator's label",),
)
enter(
    "signature_pairs_again",
    "labels the other way round",
    "loss_plateau",
    cause=("labels of the pairs",),
)
enter(
    "sound_tags",
    "gradients that are never cleared",
    "exploding_gradient",
    cause=("not those of the batch",),
)
enter("texture_cnn", "learning rate too high", "lr_too_high", cause=("learning rate",))
enter("ticket_routing_again", "attention to nothing", "dead_units", cause=("mask is inverted",))

enter_healthy(HERE / "healthy")
