"""A fifteenth set by someone who had not seen the rules: four that end in NaN, 12 that only fail to learn, 14 healthy.

How it went at first stands in the table. What is not found says why.
"""

from __future__ import annotations

from pathlib import Path

from tests.health.catalogue.fourteenth import BROKEN, HEALTHY
from tests.health.catalogue.scripts import enter_healthy, entering

__all__ = ["BROKEN", "HEALTHY"]

HERE = Path(__file__).parent
enter = entering(HERE, "written blind, fifteenth set")

enter("phone_churn", "NaN in the data", "nonfinite_input", cause=("data hold NaN",))
enter("review_pooling", "masked softmax", "nonfinite_activation", "nonfinite_loss", operations=("Softmax",))
enter("signature_triplets", "sqrt(0)", "singular_gradient", operations=("Sqrt", "SqrtGrad"), code="tf.sqrt")
enter("signature_triplets_anew", "sqrt(0)", "singular_gradient", operations=("Sqrt", "SqrtGrad"), code="tf.sqrt")

enter("bearing_faults_once_more", "learning rate that falls to 0", "loss_plateau", cause=("schedule",))
enter("eeg_direction", "an axis taken for another", "loss_plateau", cause=("do not belong to the inputs",))
enter("expression_vae", "posterior collapse", "dead_units", cause=("penalty",))
enter("film_ratings_anew", "variables that Keras does not know", "missing_gradient", cause=("does not know",))
enter("grid_demand", "broadcast", "loss_plateau", cause=("grid_demand.py:",))
enter("lesion_masks", "unscaled targets", "saturated_activation", cause=("must be from 0 to 1",))
enter("playlist_bpr", "drawn once for all", "loss_plateau", cause=("Random numbers of Python",))
enter("road_signs", "wrong output for the loss", "loss_plateau", cause=("taken for probabilities",))
enter("solubility", "wrong output for the targets", "zero_gradient", "saturated_activation", cause=("died",))
enter("spectra_codes", "no gradient", "missing_gradient", cause=("spectra_codes.py:",))
enter("ticket_tone", "mask that is missing", "loss_plateau", "dead_units", cause=("padding stands",))
enter("wafer_vae", "posterior collapse", "dead_units", cause=("penalty",))

enter_healthy(HERE / "healthy")
