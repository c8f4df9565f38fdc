"""A forty-fourth set by two who had not seen the rules: 9 that end in NaN, 19 that only fail to learn, 6 healthy.

Both were asked for all families of the studies, after the forty-third. They were first played as users have it, within
the default budget.
"""

from __future__ import annotations

from pathlib import Path

from tests.health.catalogue.fortythird import BROKEN, HEALTHY
from tests.health.catalogue.scripts import enter_healthy, entering

__all__ = ["BROKEN", "HEALTHY"]

HERE = Path(__file__).parent
enter = entering(HERE, "written blind, forty-fourth set")

enter("ant_caste", "0 / 0", "nonfinite_loss", operations=("RealDiv",), code="total / ants", cause=("exactly 0",))
enter("apple_frost", "scaled twice", "loss_plateau", cause=("adapted to data that are not",))
enter("clause_hash", "sign without a slope", "zero_gradient", cause=("without a slope",))
enter("damage_award", "power of 0", "nonfinite_loss", operations=("Pow",), code="y_pred", cause=("power of 0 or",))
enter("ferry_load_xiv", "rate cut at each step", "loss_plateau", cause=("cut at every step",))
enter("grid_demand_xiv", "decay of one's own", "loss_plateau", code="k.assign", cause=("decay of the script's own",))
enter("hull_type", "repeat beside copies", "loss_plateau", code="np.repeat", cause=("one is repeated",))
enter("jury_vote", "shares cut to integers", "loss_plateau", code="int32", cause=("cuts off the fractions",))
enter("motif_top", "softmax over one", "zero_gradient", cause=("axis of length one",))
enter("orbit_drift", "recurrence that grows", "loss_plateau", cause=("grows along the recurrence",))
enter("order_prep", "where after NaN", "nonfinite_gradient", operations=("RealDiv",), cause=("masked after",))
enter("ore_blend", "start at zero", "zero_gradient", cause=("began at exactly 0",))
enter("pitch_ball", "bias that kills relu", "dead_units", cause=("bias holds every unit",))
enter("weave_match", "overflow of exp", "nonfinite_loss", operations=("Exp",), cause=("exponential that overflows",))
enter("arm_torques", "rate that is compounded", "loss_plateau", cause=("share of the first one",))
enter("blurb_codes", "cut gradient", "missing_gradient", code="tf.cast(p > 0.5", cause=("without a gradient",))
enter("call_profiles", "KL term too heavy", "dead_units", cause=("outweighs the reconstruction",))
enter(
    "conformer_dipole",
    "overflow of exp",
    "nonfinite_activation",
    operations=("Exp",),
    code="weight = tf.exp",
    cause=("exponential that overflows",),
)
enter("exam_marks", "one data set filtered alone", "loss_plateau", code=".filter(", cause=("filtered alone",))
enter("fx_session", "recurrence that grows", "nonfinite_weight", cause=("grows along the recurrence",))
enter("hex_value", "labels of -1 and 1", "saturated_activation", cause=("must be 0 and 1",))
enter("house_heating", "scaled twice", "loss_plateau", cause=("adapted to data that are not",))
enter("lift_dispatch", "broadcasting", "loss_plateau", code="goal - chosen", cause=("A broadcast of",))
enter("press_proof", "power of a negative", "nonfinite_loss", operations=("Pow",), cause=("power of 0 or",))
enter("rating_curve_xiv", "where after NaN", "nonfinite_gradient", operations=("Pow",), cause=("masked after",))
enter("rotor_thrust", "one seed for all", "dead_units", cause=("One seed makes",))
enter("ward_census", "0 / 0", "nonfinite_loss", operations=("RealDiv",), code="per_ward", cause=("exactly 0",))
enter("weed_map", "bias that kills relu", "dead_units", cause=("bias holds every unit",))

enter_healthy(HERE / "healthy")
