"""A sixth set by someone who had not seen the rules: trainings that only fail to learn, after studies and reports.

How it went at first stands in the table. What is not found says why.
"""

from __future__ import annotations

from pathlib import Path

from tests.health.catalogue.fifth import BROKEN, HEALTHY
from tests.health.catalogue.scripts import enter_healthy, entering

__all__ = ["BROKEN", "HEALTHY"]

HERE = Path(__file__).parent
enter = entering(HERE, "written blind, sixth set")

enter("parcel_weights", "unscaled inputs", "saturated_activation", layer="dense", cause=("inputs are not scaled",))
enter("scan_triage", "start of zeros", "dead_units", layer="conv2d", cause=("start at 0",))
enter("review_stars", "a mask the wrong way round", "zero_gradient", layer="query")
enter("galaxy_shapes", "learning rate too high", "lr_too_high", cause=("learning rate is too high",))
enter(
    "tide_level",
    "wrong output for the loss",
    "saturated_activation",
    gap="three outputs for one target: what is an output, and what a representation, is not known",
)
enter("fruit_grading", "terms of different size", "vanishing_gradient", layer="grade", cause=("very different size",))
enter("field_boundaries", "inputs scaled to nothing", "dead_units", layer="conv2d", cause=("inputs",))
enter("loan_default", "learning rate that falls to 0", "loss_plateau", cause=("learning rate",))
enter("ecg_denoiser", "dropout too strong", "dead_units", layer="dropout", cause=("dropout rate",))
enter("crop_yield", "clipping too hard", "vanishing_gradient", cause=("limit of the clipping",))
enter("movie_ratings", "regularisation too strong", "dead_units", layer="embedding", cause=("Regularisation",))
enter(
    "corridor_walker",
    "weights that are put back",
    "loss_plateau",
    cause=("writes older weights", "leaves other weights"),
)
enter("stroke_vae", "posterior collapse", "dead_units", cause=("penalty",))
enter("ring_samples", "collapsed representation", "dead_units", cause=("Mode collapse",))
enter("turbine_power", "normalisation in evaluation", "loss_plateau", layer="normalization", cause=("training=True",))
enter("wine_origin", "vanishing gradient", "vanishing_gradient", layer="dense", cause=("Saturating",))
enter("dialect_experts", "disconnected", "missing_gradient", layer="dense", cause=("operation without a gradient",))
enter("rent_estimate", "targets that broadcast", "loss_plateau", cause=("broadcast",))
enter(
    "banner_choice",
    "an axis taken for another",
    "loss_plateau",
    "zero_gradient",
    gap="an advantage that is always 0 leaves the gradient of the entropy bonus, which looks well",
)
enter(
    "wave_flow",
    "a sign that is wrong",
    "exploding_gradient",
    gap="the loss falls; told is that outputs become alike, not why",
)
enter("ticket_tags", "labels that say nothing", "loss_plateau", gap="labels are learned by heart; the loss falls")
enter("tile_accumulate", "gradients that are never cleared", "exploding_gradient", cause=("not those of the batch",))

enter_healthy(HERE / "healthy")
