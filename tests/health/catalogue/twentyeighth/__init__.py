"""A twenty-eighth set by two who had not seen the rules: 2 that meet NaN, 14 that only fail to learn, 7 healthy.

One of these is a cured copy of which a warning was told. They were first played as users have it, within the default
budget. How it went at first stands in the table.
"""

from __future__ import annotations

from pathlib import Path

from tests.health.catalogue.scripts import enter_healthy, entering
from tests.health.catalogue.twentyseventh import BROKEN, HEALTHY

__all__ = ["BROKEN", "HEALTHY"]

HERE = Path(__file__).parent
enter = entering(HERE, "written blind, twenty-eighth set")

enter("beat_marks_fp16", "log(0)", "loss_scale_floor", "nonfinite_gradient", code="log", cause=("logarithm",))
enter("product_reid", "sqrt(0)", "singular_gradient", code="sqrt", cause=("square root of exactly 0",))

enter("bearing_simsiam", "collapsed representation", "loss_plateau", cause=("nothing in the loss holds",))
enter("engine_diagnosis", "weights that were not loaded", "missing_gradient", cause=("never came into",))
enter("event_log_lm", "target among the inputs", "loss_plateau", cause=("looks at the times to come",))
enter("flat_rents_anew", "inputs scaled to nothing", "loss_plateau", cause=("column by column",))
enter("freight_quotes", "gradients that are never cleared", "exploding_gradient", cause=("never set back to zero",))
enter("load_curve_diffusion", "random numbers drawn once", "loss_plateau", cause=("inside a compiled function",))
enter("machine_events", "target among the inputs", "loss_plateau", cause=("looks at the times to come",))
enter("molecule_graphs", "indices that are not shifted", "loss_plateau", cause=("edges are not shifted",))
enter("movie_ranking", "random numbers drawn once", "loss_plateau", cause=("inside a compiled function",))
enter("road_segmentation", "images turned without their masks", "loss_plateau", code="Flip", cause=("do not lie upon",))
enter("rod_cooling_pinn", "second derivative of relus", "loss_plateau", cause=("no second derivative",))
enter(
    "spoken_codes_ctc",
    "blank that is a label",
    "loss_plateau",
    gap="which number stands for the blank is told in no operation",
)
enter("ticket_tags_anew", "gradients that are never cleared", "exploding_gradient", cause=("never set back to zero",))
enter("warehouse_robots", "shapes that broadcast", "loss_plateau", code="gather", cause=("`batch_dims` is missing",))

enter_healthy(HERE / "healthy")
