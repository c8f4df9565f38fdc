"""A thirty-eighth set by two who had not seen the rules: 4 that end in NaN, 26 that only fail to learn, 12 healthy.

One was asked for the families of the studies, the other for what is not among the first ten that anyone would name.
They were first played as users have it, within the default budget.
"""

from __future__ import annotations

from pathlib import Path

from tests.health.catalogue.scripts import enter_healthy, entering
from tests.health.catalogue.thirtyseventh import BROKEN, HEALTHY

__all__ = ["BROKEN", "HEALTHY"]

HERE = Path(__file__).parent
enter = entering(HERE, "written blind, thirty-eighth set")

enter("ambisonic_doa", "acos at 1", "nonfinite_loss", operations=("Acos",), code="tf.math.acos(", cause=("arc", "acos"))
enter(
    "balance_rod",
    "end of an episode ignored",
    gap="what an episode's end is to cut is computed outside the step, from rewards that come to it as numbers",
)
enter("bearing_survival", "risk set", "loss_plateau", code="cumulative_logsumexp", cause=("wrong way",))
enter("berth_value", "broadcast", "loss_plateau", code="target = r", cause=("broadcast",))
enter("birdsong_lm", "learning rate too high", "lr_too_high", cause=("learning rate is too high",))
enter("coin_hoards", "softmax of one", "zero_gradient", cause=("axis of length one",))
enter("engine_hum", "frozen by mistake", "missing_gradient", cause=("clone_model",))
enter(
    "engine_room",
    "float16 overflow",
    "nonfinite_activation",
    operations=("Sum",),
    code="tf.square(bands)",
    cause=("overflows float16",),
)
enter("ferry_delay", "clip that hides", "zero_gradient", code="tf.math.log(", cause=("clip around",))
enter("gearbox_windows", "NaN in the data", "nonfinite_input", cause=("inputs", "data hold nan"))
enter("kiln_curves", "callback the wrong way round", "loss_plateau", code="ReduceLROnPlateau(", cause=("`mode`",))
enter(
    "knitting_rows",
    "padding that is a word",
    gap="a word that the loss never asks for is what padding is, too",
)
enter("lichen_teacher", "copy without its statistics", "missing_gradient", cause=("running means",))
enter("logbook_entries", "a mask the wrong way round", "loss_plateau", code="equal(t, PAD)", cause=("wrong way round",))
enter("meteor_heatmap", "dying ReLU", "dead_units", cause=("bias holds every unit below 0",))
enter("mooring_scatter", "number when traced", "loss_plateau", code="kl_weight", cause=("Python number",))
enter("museum_trail", "softmax twice", "loss_plateau", cause=("softmax is applied twice",))
enter("night_raw", "where after NaN", "singular_gradient", operations=("Pow",), code="tf.where(", cause=("power",))
enter(
    "owl_azimuth",
    "channels exchanged without their target",
    gap="what turns the channels round is to turn the target too: that is no knowledge of numbers",
)
enter("pollen_slides", "labels that say nothing", "dead_units", cause=("labels do not belong",))
enter("pollen_spectra", "views that are one", "loss_plateau", code="tf.matmul(z1, z2", cause=("same random seed",))
enter("polymer_graph", "learning rate that falls to 0", "loss_plateau", cause=("schedule has taken it away",))
enter("relay_echo", "bad initialisation", "loss_plateau", cause=("began with weights",))
enter("ring_molecules", "edges of other nodes", "loss_plateau", code="unsorted_segment_sum", cause=("not shifted",))
enter("seabed_field", "left out of the optimizer", "missing_gradient", cause=("never trained",))
enter("soil_assay", "targets that are missing", "loss_plateau", cause=("filled with 0",))
enter("spare_parts", "wrong loss for the targets", "loss_plateau", cause=("relative error",))
enter("splice_tags", "sequence the wrong way round", "loss_plateau", cause=("turned round again",))
enter("tide_gauge_viii", "variance that is rounding", "loss_plateau", code="tf.square(p)", cause=("mean(x²)",))
enter(
    "tile_glaze",
    "condition of another sample",
    "loss_plateau",
    code="disc([fake",
    cause=("condition of other samples",),
)

enter_healthy(HERE / "healthy")
