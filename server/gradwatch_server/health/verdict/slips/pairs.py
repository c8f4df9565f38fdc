"""Words for slips of losses over pairs: what is drawn together, what is pushed apart, what the two sides share."""

from __future__ import annotations

import math
from typing import Final

from gradwatch_server.health.episode import Misshaped
from gradwatch_server.health.finding import Hypothesis
from gradwatch_server.health.slip import SlipKind
from gradwatch_server.health.verdict.leaked import advise_views
from gradwatch_server.health.verdict.operation import say_line
from gradwatch_server.health.verdict.rewrite import say_change, with_added_loss
from gradwatch_server.health.verdict.slips.line import Words, line_of
from gradwatch_server.health.verdict.spelling import say_number

__all__ = ["PAIRS"]

TOWERS_CODE: Final = """\
network = make_network()                              # once; calling it twice shares its weights
distance = compare(network(first), network(second))"""
CONTRAST_LABELS_CODE: Final = """\
# same: 1 where both are of one kind, 0 where they are not
loss = tf.reduce_mean(same * distance**2 + (1 - same) * tf.maximum(margin - distance, 0.0) ** 2)"""
CONTRAST_ROLES_CODE: Final = """\
loss = tf.reduce_mean(tf.maximum(to_positive - to_negative + margin, 0.0))"""
POSITIVES_CODE: Final = """\
z = tf.concat([z1, z2], axis=0)                                # all of the first view, then all of the second
n = tf.shape(z1)[0]
target = tf.concat([tf.range(n) + n, tf.range(n)], axis=0)     # row i belongs to row i + n, and back"""
ATTRACTED_CODE: Final = """\
def distance(p, z):
    z = tf.stop_gradient(z)                               # z: the encoder's output for the other view
    p, z = tf.math.l2_normalize(p, axis=-1), tf.math.l2_normalize(z, axis=-1)
    return -tf.reduce_mean(tf.reduce_sum(p * z, axis=-1))"""
COOLED_CODE: Final = """\
logits = tf.matmul(a, b, transpose_b=True) / temperature       # a, b: unit length; temperature: 0.05 to 0.5"""
NEGATED_CODE: Final = """\
distance = 1.0 + keras.losses.cosine_similarity(a, b)          # 0: the same direction, 2: opposite"""
REPELLED_CODE: Final = """\
loss = keras.losses.CosineSimilarity()(a, b)          # no minus: -1 for the same direction
loss = -tf.reduce_mean(cosine)                        # of a cosine of your own"""


def _say_towers(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    place, share = say_line(lead.slip.get("source")), f"{lead.slip['towers']:.0%}"
    return (
        f"The two sides of the pairs go through networks that share no weights{place}",
        (
            "The networks have kernels of the same shapes, both are trained, and the distance is between their "
            f"outputs. {share} of the rows of one input are rows of the other as well."
        ),
        Hypothesis(
            f"The network is made twice, once for each input, where one is to be called twice{place}",
            0.9,
            "Both inputs hold samples of the same kind, but two networks map them, each in its own way. So a sample "
            "has a distance from itself, which both must learn away, and each learns from half of the data.",
            "Make the network once, and call it on both inputs.",
            TOWERS_CODE,
        ),
    )


def _say_attracted(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    source = lead.slip.get("source")
    place = say_line(source)
    what = f"`{source['code']}`" if source else "The loss"
    return (
        f"The loss only pulls two outputs of one network together, and the gradient flows through both{place}",
        (
            f"{what} compares two outputs of the same network, and the gradient reaches the network through both. "
            "There is no other term in the loss."
        ),
        Hypothesis(
            f"The outputs collapse: nothing in the loss holds different samples apart{place}",
            0.95,
            "The easiest way to make two views of a sample agree is to give the same output for every input. With the "
            "gradient flowing through both, the network does that: the loss reaches its lowest value, and the output "
            "says nothing about the input.",
            "Let the gradient flow through only one of the two: wrap the other in `tf.stop_gradient` (in SimSiam the "
            "encoder's output, not the predictor's). Or add a term that keeps the outputs apart: a contrast with other "
            "samples, or a variance term.",
            ATTRACTED_CODE,
        ),
    )


def _say_repelled(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    place, of_target = say_line(lead.slip.get("source")), lead.slip["repels"] == "target"
    both = "the output and its target" if of_target else "the two outputs"
    return (
        f"The loss makes {both} point in opposite directions: the cosine similarity is minimised{place}",
        (
            f"The loss contains the cosine of {both} with a plus sign"
            + (", and none with a minus." if of_target else ", and nothing else.")
            + " It is 1 for the same direction and -1 for opposite ones."
        ),
        Hypothesis(
            f"The cosine similarity has the wrong sign{place}",
            0.95,
            "A loss is made small, so the cosine has to be subtracted. `keras.losses.CosineSimilarity` and "
            "`keras.losses.cosine_similarity` give minus the cosine already: another minus turns it round.",
            "Use Keras' loss as it is, or subtract a cosine of your own.",
            REPELLED_CODE,
        ),
    )


def _say_contrast(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    place = say_line(lead.slip.get("source"))
    of_inputs, of_outputs = lead.contrast
    is_of_labels = lead.slip["contrasts"] == "labels"
    outcome = (
        f"hardly farther ({say_number(of_outputs)})" if of_outputs > 0 else f"nearer still ({say_number(-of_outputs)})"
    )
    return (
        f"The loss draws together the pairs that are less alike, and pushes apart those that are more alike{place}",
        (
            "As they enter the network, the pairs that the loss pushes apart lie nearer to one another than those that "
            f"it draws together, by {say_number(-of_inputs)} standard deviations of the distance. As the network "
            f"describes them they lie {outcome}."
        ),
        Hypothesis(
            (
                f"The labels of the pairs are the other way round: what is the same is pushed apart{place}"
                if is_of_labels
                else f"The positive and the negative sample are exchanged, or a sign is: what is the same is pushed "
                f"apart{place}"
            ),
            0.85,
            "What belongs together is, as a rule, more alike already as it enters, and here it is the other way round. "
            "The loss comes down by whatever tells the two kinds apart, and descriptions of the same thing end up no "
            "nearer than those of different ones.",
            (
                "See which label stands for `the same` where the pairs are made, and multiply the squared distance by "
                "that: some texts write 0 for it, others 1."
                if is_of_labels
                else "See in which order the samples are handed over, and that the distance to the positive one is the "
                "one that is to be small."
            ),
            CONTRAST_LABELS_CODE if is_of_labels else CONTRAST_ROLES_CODE,
        ),
    )


def _say_positives(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    place = say_line(lead.slip.get("source"))
    n_rows, asked, partner = (int(one) for one in lead.slip["positives"])
    return (
        f"The loss takes rows of other samples for the other view of each{place}",
        (
            f"In a table of {n_rows:,} rows, as the step lays them, the other view of row 0 is row {partner:,}. The "
            f"loss asks for row {asked:,}, which is another sample, and so for most rows."
        ),
        Hypothesis(
            f"The rows are laid in another order than the places of the positives are counted for{place}",
            0.9,
            "Views that are concatenated lie n rows apart; views that are stacked along axis 1 and reshaped lie side "
            "by side. With the places of the one order in the other, each row is drawn to a sample that has nothing to "
            "do with it: the loss stays at that of guessing, and the descriptions say nothing or become one point.",
            "Concatenate the views along axis 0, or ask each row for its neighbour.",
            POSITIVES_CODE,
        ),
    )


def _say_twins(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    place, drawn = say_line(lead.slip.get("source")), lead.slip.get("drawn")
    seeded, cause, fix = "", "Neither view is augmented", "Augment each view by random numbers of its own."
    if drawn:
        seeded = f" The random numbers of both come from one seed{say_line(drawn)}."
        cause = f"Both views are drawn with the same random seed{say_line(drawn)}"
        fix = "Where the two views are made, give each a seed of its own."
    return (
        f"The two views of each sample are identical{place}",
        (
            f"The step compares what the network makes of each sample with what it makes of it again.{seeded} Both are "
            "computed in exactly the same way, so they are always equal."
        ),
        advise_views(cause, fix),
    )


def _say_cooled(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    place, factor = say_line(lead.slip.get("source")), float(lead.slip["cosines"])
    number = say_number(factor)
    return (
        f"Cosines are scaled by {number} before the softmax, so the loss can barely fall{place}",
        (
            f"Cosines lie in [-1, 1]; times {number}, in [-{number}, {number}]. So the right match can be at most "
            f"{say_number(math.exp(2 * factor))} times as likely as any other."
        ),
        Hypothesis(
            f"The cosines are multiplied by the temperature, not divided by it{place}",
            0.93,
            "Dividing by a temperature below 1 spreads the cosines, so that the right match can win. Multiplying makes "
            "them nearly equal, and the softmax can't pick one.",
            "Divide the cosines by the temperature.",
            COOLED_CODE,
        ),
    )


def _say_negated(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    place, code = say_line(lead.slip.get("source")), line_of(lead)
    changed = with_added_loss(code, "cosine_similarity")
    return (
        f"`1 - cosine_similarity` has the wrong sign: Keras' function gives minus the cosine{place}",
        (
            "As a loss it is -1 for vectors of the same direction and 1 for opposite ones. 1 minus it is 2 where they "
            "are alike, and 0 where they are opposite."
        ),
        Hypothesis(
            f"`keras.losses.cosine_similarity` is the negative of the cosine{place}",
            0.95,
            "Taken for a distance, it is largest between vectors that are the same. What is to come together is driven "
            "apart, and the loss falls all the same.",
            "Add it to 1, or subtract the cosine itself.",
            NEGATED_CODE if changed is None else say_change(code, changed),
        ),
    )


PAIRS: Final[Words] = {
    SlipKind.REPELLED: _say_repelled,
    SlipKind.ATTRACTED: _say_attracted,
    SlipKind.COOLED: _say_cooled,
    SlipKind.NEGATED: _say_negated,
    SlipKind.TOWERS: _say_towers,
    SlipKind.TWINS: _say_twins,
    SlipKind.POSITIVES: _say_positives,
    SlipKind.CONTRAST: _say_contrast,
}
"""What each tells: a title, what was seen, and the cause."""
