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
output = tf.keras.layers.Dense(n_classes)(x)                                # no activation: logits
loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)      # for one-hot labels: Categorical...
# predictions: tf.nn.softmax(model(x)); or keep the softmax in the model and set from_logits=False"""
TWICE_OF_TWO_CODE: Final = """\
output = tf.keras.layers.Dense(1)(x)                                        # no activation: logits
loss = tf.keras.losses.BinaryCrossentropy(from_logits=True)
# predictions: tf.sigmoid(model(x)); or keep the sigmoid in the model and set from_logits=False"""
ONE_CODE: Final = """\
output = tf.keras.layers.Dense(1, activation="sigmoid")(x)                  # one number for two classes
loss = tf.keras.losses.BinaryCrossentropy()"""
MANY_CODE: Final = """\
tf.keras.layers.Dense(n_labels, activation="sigmoid")                       # each label independently"""
LABELS_CODE: Final = """\
output = tf.keras.layers.Dense(n_labels, activation="sigmoid")(x)           # each label independently
loss = tf.keras.losses.BinaryCrossentropy()
# or turn the labels into shares, and keep the softmax and the loss:
y = tf.math.divide_no_nan(y, tf.reduce_sum(y, axis=-1, keepdims=True))"""
EACH_CODE: Final = """\
loss="binary_crossentropy"                                                  # in `compile`, instead of the other loss"""
FEW_CODE: Final = """\
y = tf.one_hot(labels - 1, {n_classes})                # classes 1 to {n_classes}
# or, with more classes: a larger depth, and as many units in the last layer
print(float(tf.reduce_mean(tf.reduce_sum(y, axis=-1))))    # the share of samples with a label: must be 1
predicted = tf.argmax(probabilities, axis=-1) + 1     # counted from 0: add 1 to get the class"""
AXIS_CODE: Final = """\
probabilities = tf.nn.softmax(scores, axis=-1)                              # over the classes of each sample
output = tf.keras.layers.Dense(n_classes, activation="softmax")(x)          # the same"""
SCORES_CODE: Final = """\
loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)      # for one-hot labels: Categorical...
# predictions: tf.nn.softmax(model(x))"""
WHOLE_CODE: Final = """\
y = tf.cast(masks > 0, tf.float32)                     # 0 and 1; only images of bytes are divided by 255
print(np.unique(y_train))                              # as it is given to fit"""
FILLED_CODE: Final = """\
measured = (~np.isnan(y)).astype("float32")            # before the gaps are filled
error = tf.square(model(x) - tf.constant(np.nan_to_num(y)))
loss = tf.reduce_sum(error * measured) / tf.maximum(tf.reduce_sum(measured), 1.0)"""
SCORE_CODE: Final = """\
loss = tf.keras.losses.BinaryCrossentropy(from_logits=True)
# predictions: tf.sigmoid(model(x))"""


SCALED_TOLERANCE: Final = 1e-3
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
    elif lead.kind in (MismatchKind.SOFTMAX_OF_MANY, MismatchKind.SOFTMAX_OF_FEW):
        told = _tell_softmax_of_many(layer, is_of_few=lead.kind is MismatchKind.SOFTMAX_OF_FEW)
    elif lead.kind is MismatchKind.MANY_LABELS:
        told = _tell_many_labels(layer, is_sigmoid=table.functions[lead.column] == "sigmoid")
    elif lead.kind in (MismatchKind.NO_LABEL, MismatchKind.FROM_ONE):
        told = _tell_no_label(n_classes, lacks_first=lead.kind is MismatchKind.FROM_ONE)
    elif lead.kind is MismatchKind.SMALL_LABELS:
        told = _tell_small_labels(lead.label)
    elif lead.kind is MismatchKind.FILLED:
        told = _tell_filled(lead.zero_share)
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
            f"{summary} This was so in {say_count(lead.n_rows, 'logged step')}.",
            mismatch=lead.kind.value,
            output_min=lead.low,
            output_max=lead.high,
        ),
        hypotheses=[hypothesis],
        operation=None if operation is None else name_operation(operation),
        source=None if operation is None or operation.source is None else dict(operation.source),
        subject="last layer and loss",
    )


def _tell_filled(share: float) -> tuple[str, str, Hypothesis]:
    return (
        f"{share:.0%} of the targets are exactly 0, in the midst of others: missing ones, filled with 0?",
        (
            f"Of the targets {share:.0%} were exactly 0, which is the mean of the others: these have a mean of about 0 "
            "and a deviation of about 1. The loss counts every one of them."
        ),
        Hypothesis(
            "Missing targets were filled with 0, and the loss has no mask",
            0.8,
            "A filled target is no measurement. After scaling, 0 is the mean: the more targets are missing, the more "
            "the model learns to predict the mean, whatever the input.",
            "Keep which targets were measured, pass that to the step too, and average the errors over these alone. If "
            "the zeros are real, nothing is wrong.",
            FILLED_CODE,
        ),
    )


def _tell_softmax_twice(lead: Mismatch, layer: str, n_classes: int) -> tuple[str, str, Hypothesis]:
    best = math.e / (math.e + n_classes - 1)
    floor = f": the loss cannot fall below {say_number(-math.log(best))}" if n_classes > 1 else ""
    place = "" if lead.operation is None else say_place(lead.operation)
    first = f"{layer} ends in a softmax" if layer else "The input of the loss has passed a softmax already"
    share = (
        f"Even a certain and correct prediction then has a probability of {say_number(100 * best)} % among "
        f"{n_classes:,} classes. "
        if n_classes > 1
        else ""
    )
    return (
        f"A softmax is taken twice{floor}",
        (
            f"{first}, and the loss{place} applies another one to its input: a probability, between 0 and 1, is taken "
            "for a score (logit)."
        ),
        Hypothesis(
            f"A softmax before a loss that takes one itself{place}",
            0.97,
            f"To the second softmax, scores between 0 and 1 are nearly equal. {share}Gradients are small, and the "
            "model learns slowly or not at all.",
            "Give the loss the logits: remove the softmax, and apply it only where predictions are used. Or keep it, "
            "and set from_logits=False.",
            TWICE_CODE,
            (Change("layer", layer, without=("activation",)),) if layer else (),
        ),
    )


def _tell_sigmoid_twice(layer: str) -> tuple[str, str, Hypothesis]:
    floor = say_number(math.log1p(math.exp(-1)))
    return (
        f"A sigmoid is taken twice: the loss cannot fall below {floor}",
        (
            f"{layer} ends in a sigmoid, and the gradient with respect to its output is that of another sigmoid: a "
            "probability, between 0 and 1, is taken for a score (logit)."
        ),
        Hypothesis(
            "A sigmoid before a loss that takes one itself",
            0.95,
            "The second sigmoid maps every probability to the range 0.5 to 0.73. No sample can be assigned to class 0 "
            f"with confidence, the gradient never goes to 0, and the loss stays at {floor} or more, however good the "
            "predictions are.",
            "Give the loss the logits: remove the sigmoid, and apply it only where predictions are used. Or keep it, "
            "and set from_logits=False.",
            TWICE_OF_TWO_CODE,
            (Change("layer", layer, without=("activation",)),),
        ),
    )


def _tell_softmax_of_one(layer: str) -> tuple[str, str, Hypothesis]:
    return (
        f"{layer} gives 1 for every sample: a softmax over one unit",
        (
            f"A softmax divides by the sum over the units of its layer. {layer} has a single unit, so its output is "
            "always 1."
        ),
        Hypothesis(
            "A softmax over one unit, where a sigmoid is meant",
            0.97,
            "Keras' own cross-entropies use the number before the activation, so the loss may still fall, but the "
            "model predicts 1 for every sample. A loss that uses the predictions as they are has no gradient at all.",
            "For two classes and one unit, use a sigmoid.",
            ONE_CODE,
            (Change("layer", layer, instead=SIGMOID),),
        ),
    )


def _tell_softmax_over_batch(layer: str) -> tuple[str, str, Hypothesis]:
    return (
        f"The softmax of {layer} runs over the samples of a batch, not over its units",
        (
            f"The output of {layer} lies between 0 and 1 and adds up to 1 over the samples of a batch: each unit is "
            "shared out among the samples."
        ),
        Hypothesis(
            "A softmax over the wrong axis",
            0.97,
            "The samples of a batch then compete for each class, and each prediction depends on the other samples: it "
            "changes with the size or order of the batch, and for a single sample it is always 1.",
            "Take the softmax over the last axis, which is the default.",
            AXIS_CODE,
        ),
    )


def _tell_softmax_of_many(layer: str, *, is_of_few: bool) -> tuple[str, str, Hypothesis]:
    which, each = ("no label", "less than one per sample") if is_of_few else ("several labels", "several per sample")
    none = "A sample without a label cannot be told at all: something must add up to 1. " if is_of_few else ""
    who = "Many samples" if is_of_few else "Samples"
    return (
        f"{who} have {which}, but {layer} gives them shares of 1: it ends in a softmax",
        (
            f"The targets are labels of 0 and 1, {each}, and the loss treats each label independently. "
            f"{layer} ends in a softmax, which makes them compete."
        ),
        Hypothesis(
            "A softmax where a sigmoid is meant",
            0.95,
            f"{none}No two labels of a sample can both be above 0.5: at most one is ever predicted, and what one label "
            "gains the others lose. (Keras' own binary cross-entropy uses the numbers before the softmax, so the loss "
            "may still fall; the predictions still compete.)",
            "Use a sigmoid, which predicts each label independently. The loss can stay.",
            MANY_CODE,
            (Change("layer", layer, instead=SIGMOID),),
        ),
    )


def _tell_many_labels(layer: str, *, is_sigmoid: bool) -> tuple[str, str, Hypothesis]:
    if is_sigmoid:
        return (
            f"A sample has several labels, but the loss expects one: a categorical cross-entropy of {layer}",
            (
                f"The targets are labels of 0 and 1, several per sample. {layer} ends in a sigmoid, which treats each "
                "independently. The loss is for mutually exclusive classes, and uses the numbers before the sigmoid."
            ),
            Hypothesis(
                "A categorical cross-entropy where each label is to be told by itself",
                0.95,
                "Its gradient is correct if the labels of a sample add up to 1. With several labels, every step "
                "pushes all scores of the sample up, and the weights grow without bound.",
                "Keep the sigmoid, and change only the loss.",
                EACH_CODE,
                (Change("loss", kind="BinaryCrossentropy"),),
            ),
        )
    return (
        f"A sample has several labels, but the loss expects one: a softmax cross-entropy of the output of {layer}",
        (
            "The targets are labels of 0 and 1, several per sample, and the loss is a softmax cross-entropy. "
            "TensorFlow uses p - y as its gradient, which is correct if the labels of a sample add up to 1."
        ),
        Hypothesis(
            "A softmax cross-entropy where each label is to be told by itself",
            0.95,
            "With several labels p - y never goes to 0: every step pushes all scores of the sample up, and the "
            "weights grow without bound. Also, no two labels can both have a probability above 0.5.",
            "Use a sigmoid and a binary cross-entropy, which treat each label independently. If shares are meant, "
            "divide the labels of a sample by their sum.",
            LABELS_CODE,
        ),
    )


def _tell_small_labels(label: float) -> tuple[str, str, Hypothesis]:
    value = say_number(label)
    origin = " (that is 1 / 255)" if abs(255 * label - 1) < SCALED_TOLERANCE else ""
    return (
        f"The labels are 0 and {value}, where 0 and 1 are meant",
        f"In every batch each target was 0 or {value}{origin}. The model outputs probabilities.",
        Hypothesis(
            f"The labels were scaled down: 1 became {value}",
            0.95,
            f"The model learns to output at most {value}. With a threshold of 0.5 everything is a no, and the loss is "
            "close to 0 all the same. It happens when labels that are 0 and 1 already are divided by 255, as 8-bit "
            "images are.",
            "Do not scale the labels: they must be 0 and 1.",
            WHOLE_CODE,
        ),
    )


def _tell_no_label(n_classes: int, *, lacks_first: bool) -> tuple[str, str, Hypothesis]:
    given = f"The targets are labels of 0 and 1 for {n_classes:,} classes"
    if lacks_first:
        title = "Class 0 never occurs, and many samples have no label at all: their targets are all 0"
        summary = f"{given}. A batch has fewer labels than samples, and the first class of all has none."
        cause = "One-hot labels of classes that are counted from 1"
        effect = ": here the last class. Samples of it count for nothing in the loss, so it is never learned."
    else:
        title = "Many samples have no label at all: their targets are all 0"
        summary = (
            f"{given}, and a batch has fewer labels than samples: some samples have none. The loss applies a softmax, "
            "and expects one label per sample."
        )
        cause = "One-hot labels of classes that are counted from 1, or of classes outside of the range"
        effect = ". Such a sample tells the model nothing about its class, and its gradient pushes all scores down."
    return (
        title,
        summary,
        Hypothesis(
            cause,
            0.9,
            f"`tf.one_hot` turns any class outside of 0 to {n_classes - 1} into zeros, without a warning{effect}",
            "Count classes from 0, or raise the depth. Check that each row of the targets adds up to 1.",
            FEW_CODE.format(n_classes=n_classes),
        ),
    )


def _tell_scores(lead: Mismatch, layer: str, n_classes: int) -> tuple[str, str, Hypothesis]:
    operation = lead.operation
    if operation is None:
        raise ValueError("an episode of scores that are taken for probabilities needs its logarithm, found none")
    bound = say_number(operation.floor or 0.0)
    given = f"{say_number(lead.low)} to {say_number(lead.high)}"
    return (
        f"The loss takes the output of {layer} for probabilities, but it ranges from {given}",
        (
            f"{layer} has no activation, and its output was {given}. The loss{say_place(operation)} takes a logarithm "
            f"of it, clipped to at least {bound}."
        ),
        Hypothesis(
            "Scores are taken for probabilities: from_logits=True is missing, or a softmax or sigmoid",
            0.95,
            "Scores below 0 are clipped, and a clipped score has no gradient. If the score of the right class is "
            "negative, the model learns little or nothing from that sample.",
            "Set from_logits=True, or end the model in an activation that outputs probabilities.",
            SCORES_CODE if n_classes > 1 else SCORE_CODE,
            FROM_LOGITS,
        ),
    )
