"""Words for slips of losses: functions for what they are not for, terms that are missing or exchanged."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final

from gradwatch_server.health.episode import Misshaped
from gradwatch_server.health.finding import Change, Hypothesis
from gradwatch_server.health.slip import SlipKind
from gradwatch_server.health.verdict.advice_zero import advise_sole
from gradwatch_server.health.verdict.operation import say_line
from gradwatch_server.health.verdict.slips.line import Words
from gradwatch_server.health.verdict.spelling import say_number

__all__ = ["LOSSES", "advise_improbable"]

SCORES_CODE: Final = """\
scores = tf.keras.layers.Dense(n_classes)(h)          # no softmax: the loss applies it"""
FUNCTIONS: Final = {"LeakyRelu": "leaky relu"}
SHARES_CODE: Final = """\
layers.Dense(1, activation="sigmoid")             # yes or no
layers.Dense(n, activation="softmax")             # one of n classes"""
TEMPERED_CODE: Final = """\
soft = tf.nn.softmax(teacher(x, training=False) / T)
loss = T**2 * kl(soft, tf.nn.softmax(student(x, training=True) / T))"""
TAUGHT_CODE: Final = """\
teacher.trainable = False                             # before compile
gradients = tape.gradient(loss, student.trainable_variables)      # in a loop of your own"""
ONCE_CODE: Final = """\
layers.Dense(n)                                       # no activation: the sigmoid follows"""
LEAST_CODE: Final = """\
far = tf.reduce_max(distances) + 1.0
nearest = tf.reduce_min(tf.where(keep > 0, distances, far), axis=1)    # keep: the mask, 0 for what is left out"""
EXCHANGED_CODE: Final = """\
return tf.keras.losses.poisson(y_true, y_pred)        # in every loss of Keras the targets come first"""
RELATIVE_CODE: Final = """\
model.compile(optimizer, loss="mae")                  # of counts: loss="poisson", with a positive output
# or relative to a typical size, the same for all samples:
loss = tf.reduce_mean(tf.abs(y - prediction)) / typical_size"""
BOUNDED_CODE: Final = """\
huber = tf.keras.losses.Huber(delta={bound})
loss = huber(wanted[:, None], predicted[:, None])     # both of shape (batch, 1)"""
RATE_CODE: Final = """\
log_rate = tf.keras.layers.Dense(1)(h)                # no activation: the loss takes the exponential
loss = tf.reduce_mean(tf.nn.log_poisson_loss(counts, log_rate))
rate = tf.exp(log_rate)                               # for predictions"""
FOCAL_CODE: Final = """\
loss = -tf.reduce_mean(y * (1.0 - p) ** gamma * tf.math.log(p) + (1.0 - y) * p**gamma * tf.math.log(1.0 - p))
# or tf.keras.losses.BinaryFocalCrossentropy(gamma=gamma)"""
DIVERGING_CODE: Final = """\
kl_divergence(tf.nn.softmax(teacher_logits), tf.nn.softmax(student_logits))     # a temperature divides the logits"""
SOFTMAX_CODE: Final = """\
tf.keras.layers.Dense(n_classes, activation="softmax")         # the shares of a sample add up to 1"""
FUNCTIONS_OF_EACH: Final = frozenset({"Exp", "Relu", "Sigmoid", "Softplus"})
"""Functions that a last layer takes of each score by itself."""
LEFT_CODE: Final = """\
order = tf.argsort(time, direction="DESCENDING")       # latest first: earlier rows are still at risk
# or keep the order and sum from the end (not both):
log_risk_set = tf.math.cumulative_logsumexp(risk_in_order, reverse=True)"""
MARGINALS_CODE: Final = """\
joint = tf.reduce_sum(log_density, axis=-1)           # [n, k, d] -> [n, k]: a component's density of the whole point
loss = -tf.reduce_logsumexp(log_weight + joint, axis=1)"""
UNPENALISED_CODE: Final = """\
loss += tf.add_n(model.losses)                        # after the forward pass, within the tape"""
UNPRICED_CODE: Final = """\
# s: a trained variable for each term, from 0 on (Kendall, Gal and Cipolla, 2018)
loss = tf.reduce_sum(tf.exp(-s) * errors + s)"""
OVERLAP_CODE: Final = """\
return 1.0 - dice                                     # or -dice; of an IoU: 1.0 - iou"""
QUANTILE_CODE: Final = """\
e = y_true - y_pred
loss = tf.reduce_mean(tf.maximum(q * e, (q - 1) * e))"""
HINGE_CODE: Final = """\
y = 2.0 * y - 1.0                                     # 0, 1 -> -1, 1: before your line, which stays as it is"""


def _say_doubled(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    place, function = say_line(lead.slip.get("source")), str(lead.slip["function"]).lower()
    if function == "softmax":
        return (
            f"The loss takes the softmax of what is one already{place}",
            "In the compiled step, the output of a softmax goes into an operation that takes the softmax of its input.",
            Hypothesis(
                f"A softmax is applied twice{place}",
                0.95,
                "The loss expects logits of any size. Probabilities lie between 0 and 1, and the softmax of such "
                "numbers is nearly uniform: no class can become likely, and the gradient is small.",
                "Remove the softmax from the last layer, and apply it when you predict.",
                SCORES_CODE,
            ),
        )
    return (
        f"The loss expects the logarithm of a rate, and is given the rate{place}",
        (
            "In the compiled step, the loss is exp(s) - s * targets: that of a Poisson distribution with rate exp(s). "
            f"Here s is the output of a {function}, which makes a number positive."
        ),
        Hypothesis(
            f"The Poisson loss is given a rate in place of its logarithm{place}",
            0.95,
            f"The number is made positive twice: by the {function}, and by the exponential in the loss. The model "
            "outputs the logarithm of the rate that it has learned, so every prediction is far too small.",
            "Let the last layer output the logarithm, without an activation function. Take the exponential when you "
            "predict.",
            RATE_CODE,
        ),
    )


def _say_twice(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    place, first = say_line(lead.slip.get("source")), str(lead.slip["twice"]).lower()
    of_layer = f" of {lead.slip['of']}" if lead.slip.get("of") else ""
    return (
        f"The output of a {first} goes through a sigmoid{place}",
        f"The {first}{of_layer} gives numbers from 0 to 1. The sigmoid of such a number lies between 0.5 and 0.73.",
        Hypothesis(
            f"An activation function is applied twice, so outputs stay between 0.5 and 0.73{place}",
            0.95,
            "No other value can be reached, whatever the model learns.",
            f"Remove one of the two: the {first}{of_layer}, or the sigmoid after it.",
            ONCE_CODE,
        ),
    )


def _say_improbable(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    place, layer, name = say_line(lead.slip.get("source")), str(lead.slip["layer"]), _function_of(lead.slip)
    of_layer = f" of {layer}" if layer else ""
    reach = "above 1" if name == "relu" else "below 0" if name == "tanh" else "below 0 and above 1"
    return (
        f"The loss takes the output of a {name} for probabilities{place}",
        f"The {name}{of_layer} also gives numbers {reach}. The loss clips them to 0 and 1, and takes logarithms.",
        advise_improbable(lead.slip),
    )


def _function_of(slip: Mapping[str, Any]) -> str:
    return FUNCTIONS.get(str(slip["improbable"]), str(slip["improbable"]).lower())


def advise_improbable(slip: Mapping[str, Any], *, is_broken: bool = False) -> Hypothesis:
    """A function whose output a cross-entropy takes for probabilities; ``is_broken``: which is NaN of it."""
    name = _function_of(slip)
    return Hypothesis(
        f"The last layer ends in a {name} where the loss expects a sigmoid or a softmax{say_line(slip.get('source'))}",
        0.95,
        f"The loss divides what the {name} gives for all classes by its sum. Where all are 0, that is 0 / 0."
        if is_broken
        else "What is clipped has no gradient: a sample whose output lies at or beyond 0 or 1 teaches nothing, however "
        "wrong it is.",
        f"Put a sigmoid in place of the {name}, or a softmax for several classes of which one is right. Or use no "
        "activation, with from_logits=True in the loss.",
        SHARES_CODE,
    )


def _say_tempered(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    place, whose = say_line(lead.slip.get("source")), str(lead.slip["whose"])
    number, other = say_number(float(lead.slip["tempered"])), "teacher" if whose == "student" else "student"
    size = "large" if whose == "student" else "small"
    becomes = "too sure of itself" if whose == "student" else "less sure than the teacher"
    return (
        f"Only the {whose} is divided by the temperature of {number}, not the {other}{place}",
        (
            f"The scores of the {whose} are divided by {number} before their softmax, those of the {other} are not. "
            "The loss compares the two."
        ),
        Hypothesis(
            f"The temperature is missing in the softmax of the {other}{place}",
            0.9,
            f"The student can match only with scores that are {number} times as {size} as the teacher's. Used "
            f"without a temperature, it is {becomes}; a loss of hard labels beside it pulls the other way.",
            f"Divide the scores of the {other} by {number} too.",
            TEMPERED_CODE,
        ),
    )


def _say_taught(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    place, teacher, student = (say_line(lead.slip.get("source")), *(lead.slip[key] for key in ("layer", "taught")))
    named, other = (f" ({layer})" if layer else "" for layer in (teacher, student))
    return (
        f"The teacher{named} is trained as well, to be like its student{place}",
        (
            f"The loss compares two networks, and asks labels only of one{other}. The weights of the other{named} are "
            "given to the optimizer too, and get their gradient from that comparison alone."
        ),
        Hypothesis(
            f"The weights of the teacher are among those that are trained{place}",
            0.9,
            "The two can also agree by the teacher becoming as the student is: it forgets what it knew. A model that "
            "holds its teacher as an attribute has the teacher's weights among its `trainable_variables`.",
            "Set `teacher.trainable = False` before `compile`, or give the optimizer only the student's variables.",
            TAUGHT_CODE,
        ),
    )


def _say_least(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    place = say_line(lead.slip.get("source"))
    return (
        f"A minimum includes entries that a mask has set to 0, so it is always 0{place}",
        "A mask sets some entries to 0. The others are 0 or more, so the minimum of all is one of the masked ones.",
        Hypothesis(
            f"The masked entries win the minimum{place}",
            0.95,
            "The result is 0 whatever the network outputs, and no gradient comes back through it. In a triplet loss, "
            "no negative sample is pushed away.",
            "Set masked entries to a large number, not to 0, before the minimum.",
            LEAST_CODE,
        ),
    )


def _say_exchanged(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    place = say_line(lead.slip.get("source"))
    return (
        f"The loss gets targets and predictions in the wrong order{place}",
        "The loss takes the logarithm of the targets and multiplies it by the model's output.",
        Hypothesis(
            f"The arguments of the loss are exchanged{place}",
            0.95,
            "Losses of Keras take the targets first and the predictions second, and the logarithm of the predictions. "
            "With the two exchanged, the model's output is only a factor: the loss falls without a limit, or is best "
            "at a useless answer.",
            "Exchange the two arguments.",
            EXCHANGED_CODE,
        ),
    )


def _say_sole(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    place = say_line(lead.slip.get("source"))
    return (
        f"A cross-entropy over classes gets one number per sample{place}",
        "Its softmax is always 1, and so the loss is always 0.",
        advise_sole(),
    )


def _say_focal(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    place, power = say_line(lead.slip.get("source")), float(lead.slip["focal"])
    turn = math.exp(-1.0 / power)
    return (
        f"A focal loss weighs easy samples most, and hard ones hardly at all{place}",
        f"The logarithm of a probability is multiplied by the same probability to the power {power:g}.",
        Hypothesis(
            f"The weight of a focal loss is `p`, not `1 - p`{place}",
            0.95,
            "The focal weight makes samples that are right already count less: (1 - p)^gamma. With p^gamma they count "
            f"most. Where a sample's class has a probability below {turn:.2f}, the loss even pushes it further down.",
            "Weigh log(p) by 1 - p, and log(1 - p) by p.",
            FOCAL_CODE,
        ),
    )


def _say_hinge(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    place = say_line(lead.slip.get("source"))
    return (
        f"A hinge loss gets labels of 0 and 1: those of 0 have no gradient{place}",
        (
            f"So far all targets were 0 or 1. Where y is 0, `relu({lead.slip['hinge']:g} - y * score)` is the same for "
            "any score."
        ),
        Hypothesis(
            f"The labels of a hinge must be -1 and 1{place}",
            0.95,
            "With a label of 0 the score drops out of the loss. The model only learns to give every sample a score of "
            "1 or more.",
            "Turn the labels into -1 and 1; `tf.keras.losses.Hinge` and `SquaredHinge` do that by themselves.",
            HINGE_CODE,
        ),
    )


def _say_marginals(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    place, n = say_line(lead.slip.get("source")), int(lead.slip["marginals"])
    return (
        f"The mixture is summed for each of {n:,} coordinates by itself, before these are joined{place}",
        (
            "The log-sum-exp over the components runs on each coordinate's own density. So each coordinate may come "
            "from another component."
        ),
        Hypothesis(
            f"The coordinates' log-densities are summed after the log-sum-exp, not before it{place}",
            0.9,
            "A point of a component has all its coordinates from that one. As it is, every combination of the "
            "components' coordinates is as likely, and the weights cannot tell which go together.",
            "Sum over the coordinates first, then add the weight's logarithm, then take the log-sum-exp.",
            MARGINALS_CODE,
        ),
    )


def _say_unpenalised(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    n, name = int(lead.slip["unpenalised"]), lead.slip["name"]
    others = "" if n == 1 else f" and {n - 1:,} more"
    return (
        f"The regularizer of {name}{others} has no effect: the loss of your loop leaves it out",
        (
            f"{name}{others} {'was' if n == 1 else 'were'} made with a regularizer. `fit` adds it to the loss; the "
            "loss that this step differentiates does not contain it."
        ),
        Hypothesis(
            "`model.losses` is missing in the loss",
            0.95,
            "A layer's regularizer is a term of the loss that Keras keeps in `model.losses`. In a loop of your own "
            "nothing is added by itself, so the weights are not regularised at all.",
            "Add the sum of `model.losses`, within the tape.",
            UNPENALISED_CODE,
        ),
    )


def _say_unpriced(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    n, place = int(lead.slip["unpriced"]), say_line(lead.slip["source"])
    weights = "A weight of the loss is" if n == 1 else f"The {n:,} weights of the loss's terms are"
    return (
        f"{weights} trained, and nothing keeps {'it' if n == 1 else 'them'} above 0{place}",
        (
            "The loss is a sum of errors, each times a variable that the same step trains, and has come below 0: of "
            "errors alone it could not."
        ),
        Hypothesis(
            f"The training makes the weights of the errors negative{place}",
            0.95,
            "An error times a weight is made smaller by a smaller weight, and nothing in the loss makes that cost "
            "anything. Once a weight is below 0, a larger error makes the loss smaller, without an end.",
            "Give the weights a price (`exp(-s) * error + s`), make them shares by a softmax, or hold them fixed.",
            UNPRICED_CODE,
        ),
    )


def _say_unadded(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    n, layer, place = int(lead.slip["unadded"]), lead.slip["layer"], say_line(lead.slip.get("source"))
    others = "" if n == 1 else f", and {n - 1:,} more like it,"
    return (
        f"What {layer} adds to the loss{others} has no effect: the loss of your loop leaves it out{place}",
        (
            f"{layer} adds a term by `add_loss` or an `activity_regularizer`{place}. `fit` puts it into the loss; the "
            "loss that this step differentiates does not contain it."
        ),
        Hypothesis(
            f"`model.losses` is missing in the loss{place}",
            0.95,
            "Keras keeps such terms in `model.losses`; a loop of your own has to add them. Without them nothing pulls "
            "at what they are about: a latent code's distribution, a codebook, the load of experts, sparse outputs.",
            "Add the sum of `model.losses`, within the tape.",
            UNPENALISED_CODE,
        ),
    )


def _say_overlap(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    place = say_line(lead.slip.get("source"))
    return (
        f"The overlap with the targets is minimised, not maximised{place}",
        (
            "What the output and the target share is divided by what both have: 1 where they agree, 0 where they have "
            "nothing in common. It goes into the loss with a plus sign."
        ),
        Hypothesis(
            f"A Dice coefficient or IoU is used as the loss itself{place}",
            0.95,
            "The optimizer makes the loss small. A falling loss then means masks that miss their targets ever more "
            "completely, an empty mask in the end.",
            "Subtract it from 1.",
            OVERLAP_CODE,
        ),
    )


def _say_quantile(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    place, asked = say_line(lead.slip.get("source")), float(lead.slip["quantile"])
    learned = say_number(1 - asked)
    return (
        f"The quantile loss learns the {learned} quantile, not {say_number(asked)}: its error is negated{place}",
        "The error is the prediction less the target. The loss is written for the target less the prediction.",
        Hypothesis(
            f"Target and prediction change places in the quantile loss{place}",
            0.93,
            f"A prediction that is too low should cost {say_number(asked)} a unit, and one that is too high {learned}. "
            "It is the other way round. The loss falls all the same.",
            "Subtract the prediction from the target.",
            QUANTILE_CODE,
        ),
    )


def _say_relative(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    place, bound = say_line(lead.slip.get("source")), float(lead.slip["relative"])
    times = say_number(1 / bound)
    if any(lead.reach):
        low, high = map(say_number, lead.reach)
        return (
            f"Errors are divided by the target, and the targets go from {low} to {high}, through 0{place}",
            (
                f"The loss divides each error by the size of its target, which is held from 0 by {bound:g}: the nearer "
                "a target is to 0, the more its error counts, without a limit."
            ),
            Hypothesis(
                f"A relative error, such as MAPE, of targets of both signs{place}",
                0.85,
                "The few samples whose target is near 0 count more than all others together, so the model learns to "
                "predict 0 for all. An error of 1 % of nothing means nothing.",
                "Use an absolute error (MAE, MSE), or an error relative to a typical size.",
                RELATIVE_CODE,
                (Change("loss", kind="MeanSquaredError"),),
            ),
        )
    return (
        f"Errors are divided by the target, and {lead.zero_share:.1%} of the targets are exactly 0{place}",
        (
            f"The loss divides each error by the size of its target, which is held from 0 by {bound:g}: where a target "
            f"is 0, the error counts {times} times."
        ),
        Hypothesis(
            f"A relative error, such as MAPE, of targets that can be 0{place}",
            0.9,
            "Only the samples whose target is 0 count, so the model learns to predict 0 for all. The loss falls by "
            "orders of magnitude while it does.",
            "Use an absolute error (MAE, MSE), a Poisson loss for counts, or an error relative to a typical size.",
            RELATIVE_CODE,
            (Change("loss", kind="MeanSquaredError"),),
        ),
    )


def _say_bounded(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    place, bound = say_line(lead.slip.get("source")), float(lead.slip["bounds"])
    return (
        f"Errors are clipped to {bound:g} before the loss is taken of them: beyond, they have no gradient{place}",
        (
            f"In the compiled step, the difference of prediction and target is clipped to -{bound:g} and {bound:g}, "
            "and only then squared or made positive."
        ),
        Hypothesis(
            f"The error is clipped in the loss, instead of its gradient{place}",
            0.85,
            f"Where a prediction is further off than {bound:g}, the clipped error no longer depends on it: the sample "
            "teaches nothing, though it is the one that is most wrong. What clipping errors is meant to do, to bound "
            "how hard one sample can pull, is what the Huber loss does.",
            "Use the Huber loss, or clip the gradient norm.",
            BOUNDED_CODE.format(bound=f"{bound:g}"),
        ),
    )


def _say_diverging(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    place = say_line(lead.slip.get("source"))
    scores = lead.slip["scores"]
    is_of_logarithms = scores == "LogSoftmax"
    if scores in FUNCTIONS_OF_EACH:
        return _say_unshared(scores.lower(), place)
    what = "log-probabilities" if is_of_logarithms else "logits"
    given = "the logarithm of a softmax" if is_of_logarithms else "the raw output of a last layer"
    return (
        f"KL divergence gets {what} instead of probabilities{place}",
        f"The loss clips both inputs to [0, 1] before it takes log(p / q). One of them is {given}.",
        Hypothesis(
            (
                f"KL divergence takes probabilities, and is given their logarithms{place}"
                if is_of_logarithms
                else f"Missing softmax before the KL divergence{place}"
            ),
            0.95,
            "Values outside [0, 1] are clipped and get no gradient, so those classes stop learning. The loss can go "
            "negative.",
            "Apply softmax to both inputs.",
            DIVERGING_CODE,
        ),
    )


def _say_unshared(function: str, place: str) -> tuple[str, str, Hypothesis]:
    return (
        f"KL divergence gets numbers that need not add up to 1: each is the {function} of one score{place}",
        f"The loss is sum(p * log(p / q)), and q is the {function} of each score by itself, not a softmax of all.",
        Hypothesis(
            f"{function} in place of a softmax before the KL divergence{place}",
            0.9,
            "Each share that grows lowers this loss, whatever the target is, as nothing takes from the others: all "
            "outputs go up.",
            "Take a softmax over the classes.",
            SOFTMAX_CODE,
        ),
    )


def _say_left(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    place = say_line(lead.slip.get("source"))
    return (
        f"Cox loss: the risk sets hold earlier times instead of later ones{place}",
        (
            "The batch is sorted by a column of the targets, and the predictions are summed from the first row up to "
            "each sample. Those have shorter times; a risk set needs the longer ones."
        ),
        Hypothesis(
            f"The sort or the cumulative sum runs the wrong way{place}",
            0.85,
            "Each event is compared with samples that are already gone, not with those still at risk, so who stays "
            "long gets a high risk.",
            "Sort by time, latest first, or sum from the end. Not both.",
            LEFT_CODE,
        ),
    )


LOSSES: Final[Words] = {
    SlipKind.DOUBLED: _say_doubled,
    SlipKind.HINGE: _say_hinge,
    SlipKind.UNPRICED: _say_unpriced,
    SlipKind.UNADDED: _say_unadded,
    SlipKind.OVERLAP: _say_overlap,
    SlipKind.QUANTILE: _say_quantile,
    SlipKind.UNPENALISED: _say_unpenalised,
    SlipKind.MARGINALS: _say_marginals,
    SlipKind.FOCAL: _say_focal,
    SlipKind.SOLE: _say_sole,
    SlipKind.DIVERGING: _say_diverging,
    SlipKind.LEFT: _say_left,
    SlipKind.TWICE: _say_twice,
    SlipKind.TAUGHT: _say_taught,
    SlipKind.TEMPERED: _say_tempered,
    SlipKind.IMPROBABLE: _say_improbable,
    SlipKind.LEAST: _say_least,
    SlipKind.EXCHANGED: _say_exchanged,
    SlipKind.RELATIVE: _say_relative,
    SlipKind.BOUNDED: _say_bounded,
}
"""What each tells: a title, what was seen, and the cause."""
