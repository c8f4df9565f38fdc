"""A fourth set by someone who had not seen the rules, after reports of users: how it went at first stands in the table.

What is not found says why.
"""

from __future__ import annotations

from tests.health.catalogue.broken import broken
from tests.health.catalogue.fourth import audio, control, generative, images, science, series, tabular, text
from tests.health.catalogue.healthy import healthy
from tests.health.catalogue.third import BROKEN, HEALTHY

__all__ = ["BROKEN", "HEALTHY"]

FOURTH = "written blind, fourth set"

# -- broken: NaN or Inf -----------------------------------------------------------------------------------------------

broken(
    "0 * infinity",
    FOURTH,
    "nonfinite_activation",
    operations=("Pow",),
    code="tf.pow(degree, -0.5)",
    cause=("power of 0",),
)(science.molecule_property)
broken("unscaled inputs", FOURTH, "exploding_gradient", "nonfinite_activation", cause=("inputs are not scaled",))(
    tabular.tumour_screening
)
broken("acos at 1", FOURTH, "singular_gradient", code="tf.acos(cosine)", cause=("acos",))(science.gaze_direction)
broken("log(0)", FOURTH, "nonfinite_loss", operations=("Log",), code="tf.math.log(sigma)", cause=("logarithm",))(
    series.sales_forecast
)
broken("log(0)", FOURTH, "nonfinite_loss", operations=("Log",), code="tf.math.log(prob)", cause=("logarithm",))(
    control.banner_policy
)
broken("float16 overflow", FOURTH, "nonfinite_activation", layer="units", cause=("overflows float16",))(
    tabular.loan_scoring
)
broken(
    "sqrt(0)",
    FOURTH,
    "singular_gradient",
    operations=("SqrtGrad", "Sqrt"),
    code="tf.math.reduce_std",
    cause=("square root",),
)(audio.speaker_id)
broken("0 / 0", FOURTH, "nonfinite_loss", code="reduce_sum(known, axis=0)", cause=("division",))(science.tox_assays)

# -- broken: nothing breaks, and nothing good is learned --------------------------------------------------------------

broken(
    "labels that say nothing",
    FOURTH,
    "loss_plateau",
    gap="the loss stands at the variance of the targets for less than 300 steps, as harder problems do at first",
)(series.machine_switching)
broken(
    "targets that grow",
    FOURTH,
    "exploding_gradient",
    gap="the values grow tenfold and stop, and the loss falls all the while; dead units are told instead",
)(control.corridor_agent)
broken(
    "gradients that are never cleared", FOURTH, "loss_plateau", "exploding_gradient", cause=("not those of the batch",)
)(images.digits_small_memory)
broken("an axis taken for another", FOURTH, "zero_gradient", layer="score", cause=("axis of length one",))(
    series.alarm_source
)
broken("learning rate that is 0", FOURTH, "loss_plateau", cause=("schedule of the learning rate",))(
    images.digits_cosine
)
broken("posterior collapse", FOURTH, "dead_units", cause=("penalty on what",))(generative.digit_codes)
broken(
    "a game that nobody plays",
    FOURTH,
    "loss_plateau",
    cause=("discriminator's label",),
)(generative.point_generator)
broken(
    "labels that do not fit",
    FOURTH,
    "loss_plateau",
    gap="a loss of some samples that nothing lowers is not told from the noise of batches",
)(audio.spoken_words)
broken(
    "an order that is not seen",
    FOURTH,
    "loss_plateau",
    gap="rows of an embedding are not looked at one by one, and the loss leaves its plateau",
)(text.command_router)
broken("targets that are the inputs", FOURTH, "loss_plateau", cause=("among what it is predicted",))(text.phrase_model)
broken(
    "collapsed representation",
    FOURTH,
    "dead_units",
    layer="head",
    cause=("collapse",),
)(images.digits_two_views)
broken(
    "weights that are put back",
    FOURTH,
    "loss_plateau",
    cause=("writes older weights", "leaves other weights"),
)(images.digits_averaged)

# -- healthy ----------------------------------------------------------------------------------------------------------

for train in (
    generative.body_table,
    series.river_level,
    text.basket_items,
    images.digits_forty,
    series.echo_series,
    images.digits_cycles,
    images.digits_weather,
    images.digits_crowd,
    generative.spike_dictionary,
    control.patrol_agent,
    images.digits_alike,
    tabular.house_dollars,
):
    healthy(train)
