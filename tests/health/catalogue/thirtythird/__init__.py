"""A thirty-third set by three who had not seen the rules: 1 that meets NaN, 26 that only fail to learn, 15 healthy.

One of the three took what is most often reported, one what a reviewer finds on a second look in games, autoencoders,
policies and their like, one what people get wrong in general. They were first played as users have it, within the
default budget; the third's scripts after the rules were mended by the others'.
"""

from __future__ import annotations

from pathlib import Path

from tests.health.catalogue.scripts import enter_healthy, entering
from tests.health.catalogue.thirtysecond import BROKEN, HEALTHY

__all__ = ["BROKEN", "HEALTHY"]

HERE = Path(__file__).parent
enter = entering(HERE, "written blind, thirty-third set")

enter(
    "nuclei_segmentation",
    "log(0)",
    "nonfinite_loss",
    operations=("Log",),
    code="tf.math.log(prob)",
    cause=("logarithm of a probability of 0",),
)

enter("audio_lyrics_contrastive", "inputs shuffled apart", "dead_units", "loss_plateau", cause=("do not belong",))
enter("bearing_sound", "vanishing through depth", "vanishing_gradient", cause=("Saturating activations",))
enter("cell_masks", "targets that are not scaled", "exploding_gradient", cause=("Labels lie outside",))
enter("distill_spectra", "logits for probabilities", "loss_plateau", code="kld(soft, out)", cause=("Missing softmax",))
enter("district_heat_forecast", "learning rate", "dead_units", "lr_too_high", cause=("learning rate is too high",))
enter("dqn_warehouse_robot", "target network", "missing_gradient", cause=("never synchronised",))
enter("drone_actor_critic", "broadcast", "loss_plateau", code="chosen * advantage", cause=("A broadcast",))
enter("fm_recommender", "weights that Keras does not know", "missing_gradient", cause=("Keras does not know",))
enter("glyph_classes", "softmax twice", "loss_plateau", cause=("A softmax before a loss",))
enter("glyph_codes_vae", "posterior collapse", "dead_units", cause=("A penalty on the output",))
enter(
    "grid_load_forecast", "learning rate that ends too soon", "loss_plateau", cause=("schedule of the learning rate",)
)
enter("hotel_review_sentiment", "embedding of zeros", "zero_gradient", cause=("outputs only zeros",))
enter("house_sales", "targets that are not scaled", "loss_plateau", cause=("The targets are not scaled",))
enter("keyword_clips", "inputs and targets shuffled apart", "loss_plateau", cause=("shuffled independently",))
enter("loan_default_risk", "inputs that are not scaled", "lr_too_high", "dead_units", cause=("inputs are not scaled",))
enter("order_history_attention", "a mask the wrong way round", "loss_plateau", cause=("the wrong way round",))
enter("pendulum_period", "broadcast", "loss_plateau", code="pred - t", cause=("A broadcast",))
enter("product_retrieval", "temperature", "loss_plateau", code="TEMPERATURE", cause=("by the temperature",))
enter("scene_vae", "posterior collapse", "dead_units", cause=("A penalty on the output",))
enter("sprite_gan", "activation that does not fit", "saturated_activation", cause=("not on the scale",))
enter("subscriber_leavers", "softmax of one", "loss_plateau", cause=("A softmax over one unit",))
enter("survival_cox", "an order that is wrong", "loss_plateau", code="logsumexp", cause=("runs the wrong way",))
enter("token_lm", "a mask that is missing", "loss_plateau", cause=("looks at the times to come",))
enter("vae_cell_images", "posterior collapse", "dead_units", cause=("A penalty on the output",))
enter("wafer_map_classifier", "logits for probabilities", "loss_plateau", cause=("Scores are taken for",))
enter("wrist_movements", "data in order", "loss_plateau", cause=("The data come in order",))

enter_healthy(HERE / "healthy")
