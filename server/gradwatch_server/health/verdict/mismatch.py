"""Verdicts on a last layer that does not fit its loss."""

from __future__ import annotations

import math
from typing import Final

from gradwatch_server.health.episode import Mismatch, MismatchKind
from gradwatch_server.health.finding import Change, Finding, Hypothesis
from gradwatch_server.health.verdict.advice_zero import FROM_LOGITS
from gradwatch_server.health.verdict.operation import name_operation, say_place
from gradwatch_server.health.verdict.scene import Scene, table_of, tell
from gradwatch_server.health.verdict.spelling import say_count, say_number

__all__ = ["tell_mismatch"]

TWICE_CODE: Final = """\
output = tf.keras.layers.Dense(n_classes)(x)                                # no activation: scores
loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)      # for one-hot labels: Categorical...
# predictions: tf.nn.softmax(model(x)); or keep the softmax in the model, and from_logits=False"""
TWICE_OF_TWO_CODE: Final = """\
output = tf.keras.layers.Dense(1)(x)                                        # no activation: scores
loss = tf.keras.losses.BinaryCrossentropy(from_logits=True)
# predictions: tf.sigmoid(model(x)); or keep the sigmoid in the model, and from_logits=False"""
ONE_CODE: Final = """\
output = tf.keras.layers.Dense(1, activation="sigmoid")(x)                  # one number for two classes
loss = tf.keras.losses.BinaryCrossentropy()"""
MANY_CODE: Final = """\
tf.keras.layers.Dense(n_labels, activation="sigmoid")                       # each label by itself"""
LABELS_CODE: Final = """\
output = tf.keras.layers.Dense(n_labels, activation="sigmoid")(x)           # each label by itself
loss = tf.keras.losses.BinaryCrossentropy()
# or a share of each, with the softmax and the loss as they are:
y = tf.math.divide_no_nan(y, tf.reduce_sum(y, axis=-1, keepdims=True))"""
EACH_CODE: Final = """\
loss="binary_crossentropy"                                                  # in `compile`, in place of the other"""
FEW_CODE: Final = """\
y = tf.one_hot(labels - 1, {n_classes})                # classes 1 to {n_classes}
# or, where there are more classes: a larger depth, and as many units in the last layer
print(float(tf.reduce_mean(tf.reduce_sum(y, axis=-1))))    # the share of samples with a label: it must be 1
predicted = tf.argmax(probabilities, axis=-1) + 1     # counted from 0: add the 1 again where they are read"""
AXIS_CODE: Final = """\
probabilities = tf.nn.softmax(scores, axis=-1)                              # over the classes of each sample
output = tf.keras.layers.Dense(n_classes, activation="softmax")(x)          # the same"""
SCORES_CODE: Final = """\
loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)      # for one-hot labels: Categorical...
# predictions: tf.nn.softmax(model(x))"""
SCORE_CODE: Final = """\
loss = tf.keras.losses.BinaryCrossentropy(from_logits=True)
# predictions: tf.sigmoid(model(x))"""


SIGMOID: Final = (("activation", '"sigmoid"'),)


def tell_mismatch(lead: Mismatch, scene: Scene) -> Finding:
    """The finding of a last layer that does not fit its loss."""
    table = table_of(lead)
    is_known = lead.column >= 0
    layer = table.layer_of(lead.column) if is_known else ""
    n_classes = table.shapes[lead.column][-1] if is_known and table.shapes[lead.column] else 0
    if lead.kind is MismatchKind.SOFTMAX_TWICE:
        is_layers = is_known and table.functions[lead.column] == "softmax"
        told = _tell_softmax_twice(lead, layer if is_layers else "", n_classes)
    elif lead.kind is MismatchKind.SIGMOID_TWICE:
        told = _tell_sigmoid_twice(layer)
    elif lead.kind is MismatchKind.SOFTMAX_OF_ONE:
        told = _tell_softmax_of_one(layer)
    elif lead.kind is MismatchKind.SOFTMAX_OVER_BATCH:
        told = _tell_softmax_over_batch(layer)
    elif lead.kind is MismatchKind.SOFTMAX_OF_MANY:
        told = _tell_softmax_of_many(layer)
    elif lead.kind is MismatchKind.MANY_LABELS:
        told = _tell_many_labels(layer, is_sigmoid=table.functions[lead.column] == "sigmoid")
    elif lead.kind is MismatchKind.NO_LABEL:
        told = _tell_no_label(n_classes)
    else:
        told = _tell_scores(lead, layer, n_classes)
    title, summary, hypothesis = told
    operation = lead.operation
    return tell(
        lead,
        scene,
        title=title,
        layer=layer or None,
        tensor=table.names[lead.column] if is_known else None,
        evidence=scene.evidence(
            f"{summary} It was so in {say_count(lead.n_rows, 'logged step')}.",
            mismatch=lead.kind.value,
            output_min=lead.low,
            output_max=lead.high,
        ),
        hypotheses=[hypothesis],
        operation=None if operation is None else name_operation(operation),
        source=None if operation is None or operation.source is None else dict(operation.source),
        subject="last layer and loss",
    )


def _tell_softmax_twice(lead: Mismatch, layer: str, n_classes: int) -> tuple[str, str, Hypothesis]:
    best = math.e / (math.e + n_classes - 1)
    floor = f": the loss cannot fall below {say_number(-math.log(best))}" if n_classes > 1 else ""
    place = "" if lead.operation is None else say_place(lead.operation)
    first = f"{layer} ends in a softmax" if layer else "What goes into the loss has passed a softmax"
    share = (
        f"Even what is sure and right has a probability of {say_number(100 * best)} % then, among {n_classes:,} "
        "classes; "
        if n_classes > 1
        else ""
    )
    return (
        f"A softmax is taken twice{floor}",
        (
            f"{first}, and the loss{place} takes a softmax of what it is given: a probability, between 0 and 1, is "
            "taken for a score."
        ),
        Hypothesis(
            f"A softmax before a loss that takes one itself{place}",
            0.97,
            f"Scores between 0 and 1 are nearly alike to the second softmax. {share}gradients are small, and what is "
            "learned comes slowly or not at all.",
            "Give the loss the scores: leave the softmax away, and use it where predictions are read. Or keep it, and "
            "say from_logits=False.",
            TWICE_CODE,
            (Change("layer", layer, without=("activation",)),) if layer else (),
        ),
    )


def _tell_sigmoid_twice(layer: str) -> tuple[str, str, Hypothesis]:
    floor = say_number(math.log1p(math.exp(-1)))
    return (
        f"A sigmoid is taken twice: the loss cannot fall below {floor}",
        (
            f"{layer} ends in a sigmoid, and the gradient with respect to what it gives is that of a sigmoid of it: a "
            "probability, between 0 and 1, is taken for a score."
        ),
        Hypothesis(
            "A sigmoid before a loss that takes one itself",
            0.95,
            "The second sigmoid makes 0.5 to 0.73 of any probability: nothing is ever sure to be of the class 0, "
            f"gradients never end, and the loss stays at {floor} or more, however right the first one is.",
            "Give the loss the scores: leave the sigmoid away, and use it where predictions are read. Or keep it, and "
            "say from_logits=False.",
            TWICE_OF_TWO_CODE,
            (Change("layer", layer, without=("activation",)),),
        ),
    )


def _tell_softmax_of_one(layer: str) -> tuple[str, str, Hypothesis]:
    return (
        f"{layer} gives 1 for every sample: a softmax over one unit",
        (
            f"A softmax divides by the sum over the units of its layer, and {layer} has a single one: it gives 1, "
            "whatever comes in."
        ),
        Hypothesis(
            "A softmax over one unit, where a sigmoid is meant",
            0.97,
            "Keras' own cross-entropies use the number before the activation, so that the loss may fall all the same; "
            "but the model's predictions are 1 for every sample. A loss that takes the predictions as they are has no "
            "gradient at all.",
            "Use a sigmoid for two classes and one unit.",
            ONE_CODE,
            (Change("layer", layer, instead=SIGMOID),),
        ),
    )


def _tell_softmax_over_batch(layer: str) -> tuple[str, str, Hypothesis]:
    return (
        f"The softmax of {layer} runs over the samples of a batch, not over its units",
        (
            f"What {layer} gives lies between 0 and 1, and adds up to 1 over the samples of a batch: each unit shares "
            "itself out among the samples."
        ),
        Hypothesis(
            "A softmax over the wrong axis",
            0.97,
            "The samples of a batch then compete for each class, and what is given for one depends on the others "
            "beside it: a batch of another size or order has other predictions, and a single sample has 1 throughout.",
            "Take the softmax over the last axis, which is what it does where no axis is given.",
            AXIS_CODE,
        ),
    )


def _tell_softmax_of_many(layer: str) -> tuple[str, str, Hypothesis]:
    return (
        f"A sample has several labels, and what {layer} gives for all of them adds up to 1: a softmax",
        (
            f"The targets are labels of 0 and 1, several of a sample, and the loss takes each by itself. {layer} ends "
            "in a softmax, which makes them compete."
        ),
        Hypothesis(
            "A softmax where a sigmoid is meant",
            0.95,
            "No two labels of a sample can both be above 0.5: at most one is ever found likely, and what is learned of "
            "one is taken from the others. (Keras' own binary cross-entropy looks "
            "behind the softmax, so that the loss may fall all the same; what the model predicts is shared out.)",
            "Use a sigmoid, which asks for each label by itself. The loss may stay.",
            MANY_CODE,
            (Change("layer", layer, instead=SIGMOID),),
        ),
    )


def _tell_many_labels(layer: str, *, is_sigmoid: bool) -> tuple[str, str, Hypothesis]:
    if is_sigmoid:
        return (
            f"A sample has several labels, and the loss asks for one: a categorical cross-entropy of {layer}",
            (
                f"The targets are labels of 0 and 1, several of a sample. {layer} ends in a sigmoid, which takes each "
                "by itself; the loss is one of classes that exclude each other, and takes what enters the sigmoid."
            ),
            Hypothesis(
                "A categorical cross-entropy where each label is to be told by itself",
                0.95,
                "Its gradient is right where the labels of a sample add up to 1. With several all scores of a sample "
                "are pushed up, step after step, and the weights grow without bound.",
                "Keep the sigmoid, and change the loss alone.",
                EACH_CODE,
                (Change("loss", kind="BinaryCrossentropy"),),
            ),
        )
    return (
        f"A sample has several labels, and the loss asks for one: a softmax cross-entropy of what {layer} gives",
        (
            "The targets are labels of 0 and 1, several of a sample, and the loss is a softmax cross-entropy. "
            "TensorFlow takes p - y for its gradient, which is right where the labels of a sample add up to 1."
        ),
        Hypothesis(
            "A softmax cross-entropy where each label is to be told by itself",
            0.95,
            "With several labels p - y never comes to an end: all scores of a sample are pushed up, step after step, "
            "and the weights grow without bound. And no two labels can both have a probability above 0.5.",
            "Use a sigmoid and a binary cross-entropy, which ask for each label by itself. Where a share of each is "
            "meant, divide the labels of a sample by their sum.",
            LABELS_CODE,
        ),
    )


def _tell_no_label(n_classes: int) -> tuple[str, str, Hypothesis]:
    return (
        "Many samples have no label at all: their targets are 0 throughout",
        (
            f"The targets are labels of 0 and 1 for {n_classes:,} classes, and in a batch there are fewer labels than "
            "samples: some have none. The loss takes a softmax, and expects one label of each."
        ),
        Hypothesis(
            "One-hot labels of classes that are counted from 1, or of classes that are not among them",
            0.9,
            f"`tf.one_hot` makes zeros of any class outside of 0 to {n_classes - 1}, without a word. Such a sample "
            "tells the model nothing of its class, and its gradient pushes all scores down.",
            "Count classes from 0, or raise the depth; and see that each row of the targets adds up to 1.",
            FEW_CODE.format(n_classes=n_classes),
        ),
    )


def _tell_scores(lead: Mismatch, layer: str, n_classes: int) -> tuple[str, str, Hypothesis]:
    operation = lead.operation
    if operation is None:
        raise ValueError("an episode of scores that are taken for probabilities needs its logarithm, found none")
    bound = say_number(operation.input_constant or 0.0)
    given = f"{say_number(lead.low)} to {say_number(lead.high)}"
    return (
        f"The loss takes the output of {layer} for probabilities, and it runs from {given}",
        (
            f"{layer} has no activation, and gave {given}; the loss{say_place(operation)} takes a logarithm of it, "
            f"clipped to at least {bound}."
        ),
        Hypothesis(
            "Scores are taken for probabilities: from_logits=True is missing, or a softmax or sigmoid",
            0.95,
            "What is below 0 is clipped, and what is clipped has no slope: where the score of the right class is "
            "negative, little or nothing of that sample is learned.",
            "Say from_logits=True, or end the model in the activation that makes probabilities.",
            SCORES_CODE if n_classes > 1 else SCORE_CODE,
            FROM_LOGITS,
        ),
    )
