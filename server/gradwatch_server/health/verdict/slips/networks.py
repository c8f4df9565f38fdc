"""Words for slips of networks: no function between kernels, layers made anew, messages along edges, initial weights."""

from __future__ import annotations

import math
from typing import Final

from gradwatch_server.health.episode import Misshaped
from gradwatch_server.health.finding import Change, Hypothesis
from gradwatch_server.health.slip import SlipKind
from gradwatch_server.health.verdict.operation import say_line, say_source
from gradwatch_server.health.verdict.slips.line import Words, say_line_or_layer
from gradwatch_server.health.verdict.spelling import say_number

__all__ = ["NETWORKS"]

MADE_CODE: Final = """\
def __init__(self):
    super().__init__()
    self.hidden = tf.keras.layers.{kind}(...)           # created once, and tracked by the model

def call(self, inputs):
    return self.hidden(inputs)"""
APART_CODE: Final = """\
def augment(image, mask):
    both = tf.concat([image, tf.cast(mask, image.dtype)], axis=-1)      # one draw for both
    both = tf.image.random_flip_left_right(both)
    both = tf.image.random_flip_up_down(both)
    return both[..., :-1], both[..., -1:]                               # for a mask with one channel
# of arrays: whatever is done with x[i] is done with y[i]; x[i], y[i] = x[i][:, ::-1], y[i][:, ::-1]"""
STRAIGHT_CODE: Final = """\
tf.keras.layers.Dense(units, activation="tanh")       # or "swish": both can be differentiated twice"""
LINEAR_CODE: Final = """\
h = tf.keras.layers.Dense(units, activation="relu")(h)
# Or behind a normalisation:
h = tf.keras.layers.Conv2D(filters, 3, padding="same", use_bias=False)(h)
h = tf.keras.layers.BatchNormalization()(h)
h = tf.keras.layers.ReLU()(h)"""
LONE_LENGTH_CODE: Final = """\
model.compile(optimizer, loss="mse")        # a cosine compares directions of vectors, not single numbers"""
LONE_MEAN_CODE: Final = """\
x = tf.keras.layers.Dense(16)(x)            # several features first
x = tf.keras.layers.LayerNormalization()(x)"""
SUMMED_CODE: Final = """\
dy_dt = tape.batch_jacobian(y, t)[..., 0]       # y: [n, k], t: [n, 1]; gives [n, k]"""
EMPTYING_CODE: Final = """\
h = tf.nn.dropout(h, rate={rate})          # the share that is dropped"""
RETURNED_CODE: Final = """\
messages = tf.gather(h, source)
received = tf.math.unsorted_segment_sum(messages, target, num_segments=n_nodes)"""
WAVES_CODE: Final = """\
bound = np.sqrt(6 / fan_in) / {turns}   # hidden sine layers; the first: 1 / fan_in
initializer = keras.initializers.RandomUniform(-bound, bound)"""
UNDROPPED_CODE: Final = """\
with tf.GradientTape() as tape:
    prediction = model(x, training=True)              # in the training step; evaluation stays as it is"""
UNTOLD_CODE: Final = """\
def call(self, x, training=False):                    # not call(self, x): `fit` passes nothing to that
    return self.out(self.dropout(self.hidden(x), training=training))"""


def _say_made(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    kind, name = lead.slip["class"], lead.slip["name"]
    place = say_line(lead.slip.get("source"))
    return (
        f"Every call of the model creates a new {kind} layer, which never learns{place}",
        (
            f"{name} was first called inside the model, in the first step. After that step it is not part of the "
            "model: no attribute of the model holds it, and no optimizer is given its weights."
        ),
        Hypothesis(
            f"A {kind} layer is made where the model is called{place}",
            0.95,
            "Each call creates new random weights, uses them once and drops them. The rest of the model learns to fit "
            "weights that are gone at the next step.",
            "Create the layer once, in `__init__`, and call it in `call`.",
            MADE_CODE.format(kind=kind),
        ),
    )


def _say_apart(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    source, layer = lead.slip["source"], lead.slip["layer"]
    place = say_source(source)
    how = (
        "Images and masks are turned each by a draw of its own"
        if lead.slip["n"] > 1
        else "Images are turned, and their masks stay as they are"
    )
    whose = "what the model is given" if layer else "one of the two that are fed as a pair"
    return (
        f"{how} ({place})",
        (
            f"`{source['code']}` changes the positions in {whose}. The targets have one number per position of the "
            "input, so they must be moved with it."
        ),
        Hypothesis(
            f"Images and masks do not lie upon one another ({place})",
            0.9,
            "Two separate random flips agree in half of the samples, two of each in a quarter. The same holds where "
            "only the image is flipped, or only its copy. In all other samples the mask describes other positions.",
            ("Take it out of the model, and transform both" if layer else "Transform both")
            + " by the same draw: concatenate them, transform the result, and split it again.",
            APART_CODE,
        ),
    )


def _say_straight(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    place, function = say_line(lead.slip.get("source")), str(lead.slip["function"]).lower()
    return (
        f"The loss asks for the second derivative of a network of {function}s, which is 0 everywhere{place}",
        (
            "In the compiled step, a derivative is differentiated again on the way to the loss. No function there is "
            f"curved: the only activation functions are {function}s."
        ),
        Hypothesis(
            f"A {function} has no second derivative",
            0.95,
            f"A {function} is piecewise linear. Its slope is constant on each piece, so the second derivative of "
            "anything built from it is exactly 0. Any weights meet what the loss demands of this derivative, however "
            "low the loss gets.",
            "Use an activation function that can be differentiated twice.",
            STRAIGHT_CODE,
        ),
    )


def _say_lone(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    layer = lead.slip["layer"]
    place = say_line_or_layer(lead, layer or "the loss")
    if lead.slip["lone"] == "length":
        return (
            f"Vectors of a single number are scaled to length 1: only its sign is left{place}",
            "The axis along which the squares are summed has length 1, so each number is divided by its own size.",
            Hypothesis(
                f"A cosine or a unit length of one number is 1 or -1{place}",
                0.9,
                "How large a prediction or a feature is no longer counts, and its sign has no gradient: next to "
                "nothing is learned.",
                "For one number per sample use a loss of its size, such as a mean squared error. A vector's length "
                "is taken along its features.",
                LONE_LENGTH_CODE,
            ),
        )
    what = layer or "A layer"
    return (
        f"{what} normalises a single number by itself: what it gives is the same for every input{place}",
        "The axis along which mean and variance are taken has length 1. A number minus its own mean is 0.",
        Hypothesis(
            f"{what} normalises along an axis of one element",
            0.95,
            "Whatever comes in, 0 comes out, plus the layer's own bias. Nothing of the input passes, and no gradient "
            "comes back.",
            "Normalise along an axis with several features, put the layer behind one that makes several, or scale the "
            "data once with the mean and the deviation of the training set.",
            LONE_MEAN_CODE,
        ),
    )


def _say_linear(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    n, layer = int(lead.slip["n_kernels"]), lead.slip["layer"]
    last = f", of which {layer} is the last," if layer else ""
    return (
        f"There is no activation function between the model's {n} layers with weights: up to its output it is linear",
        f"Between these {n} layers{last} there are only normalisations, averages, dropouts and sums.",
        Hypothesis(
            "The layers have no activation function",
            0.85,
            "Several linear layers in a row can do no more than one. The model cannot learn anything that is not a "
            "weighted sum of its inputs.",
            "Add an activation (ReLU, for example) after each layer except the last; after the normalisation, if there "
            "is one.",
            LINEAR_CODE,
        ),
    )


def _say_undropped(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    n, name, place = int(lead.slip["undropped"]), lead.slip["name"], say_line(lead.slip["source"])
    others = "" if n == 1 else f" and {n - 1:,} more"
    best, newest = map(say_number, lead.validation)
    is_untold = "untold" in lead.slip
    where = "`fit`" if is_untold else "your loop"
    return (
        f"{name}{others} {'drops' if n == 1 else 'drop'} nothing in {where}, and the validation loss rises{place}",
        (
            "No random number is drawn in any layer of the step, so no dropout is active. The validation loss was "
            f"{best} at its best and is {newest} now, while the training loss has come down to {say_number(lead.loss)}."
        ),
        Hypothesis(
            f"`call` of the model has no argument `training`{place}",
            0.9,
            "Keras 3 tells a model that it is trained by this argument. Where `call` does not take it, its layers run "
            "as in evaluation: no dropout drops anything, and nothing keeps the model from learning the training "
            "samples by heart.",
            "Give `call` an argument `training`, and pass it on.",
            UNTOLD_CODE,
        )
        if is_untold
        else Hypothesis(
            f"The model is called as in evaluation: without `training=True`{place}",
            0.9,
            "`model.fit` passes it for you; a custom loop must pass it itself. Without it no dropout drops anything, "
            "and nothing keeps the model from learning the training samples by heart.",
            "Call the model with `training=True` in the training step. Pass `training` on in custom layers.",
            UNDROPPED_CODE,
            (Change("call", given=(("training", "True"),)),),
        ),
    )


def _say_summed(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    place = say_line(lead.slip.get("source"))
    n = lead.slip["columns"]
    return (
        f"The derivatives of {n} outputs are added up, and their sum is compared with each of them{place}",
        (
            f"A gradient of {n} columns was taken at once. It has one number per sample, which is broadcast against "
            f"{n} columns."
        ),
        Hypothesis(
            f"`tape.gradient` of {n} columns is the gradient of their sum{place}",
            0.95,
            "A gradient of several numbers is the gradient of their sum: the derivative of each output alone is lost. "
            "The loss asks for something that no solution satisfies.",
            "Take the derivative of each output on its own, or all of them with `batch_jacobian`.",
            SUMMED_CODE,
        ),
    )


def _say_emptying(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    place, rate = say_line(lead.slip.get("source")), float(lead.slip["rate"])
    return (
        f"A dropout drops {rate:.0%} of what it is given{place}",
        f"Its rate is {rate:g}. One element in {1 / (1 - rate):.0f} is left, times {1 / (1 - rate):.3g}.",
        Hypothesis(
            f"The share to keep is given as the rate{place}",
            0.85,
            "The rate is the share that is set to 0. In TensorFlow 1 the same place took the share to keep.",
            f"If {rate:g} was to be kept, the rate is {1 - rate:.2g}.",
            EMPTYING_CODE.format(rate=f"{1 - rate:.2g}"),
        ),
    )


def _say_returned(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    place = say_line(lead.slip.get("source"))
    return (
        f"The messages of a graph go back to the nodes that sent them{place}",
        (
            "The features of nodes are gathered with one index, and the messages made of them are summed with the same "
            "index."
        ),
        Hypothesis(
            f"Messages are summed at the sender instead of the receiver{place}",
            0.9,
            "Each edge has two ends: the message is made from the node at one end and must be added up at the other. "
            "Here every node gets only its own message back, as often as it has edges, and learns nothing from its "
            "neighbours.",
            "Sum the messages with the index of the other end of each edge.",
            RETURNED_CODE,
        ),
    )


def _say_waves(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    place = say_line(lead.slip.get("source"))
    layer, turns = lead.slip["layer"] or "a kernel", say_number(abs(lead.slip["turns"]))
    spread = say_number(lead.spread)
    return (
        f"The initial weights of {layer} are too large for a sine: its input varies by {spread} radians{place}",
        (
            f"{layer} gets sines, multiplies them by its kernel, scales the result by {turns} and takes the sine "
            f"again. Estimated from the initial weights, the input of that sine has a standard deviation of {spread} "
            f"radians ({say_number(lead.spread / (2 * math.pi))} full turns); about 1 is usual."
        ),
        Hypothesis(
            f"The initial weights are too large for a sine{place}",
            0.85,
            "When the input of a sine spans many turns, inputs that lie close together get unrelated outputs. The "
            "network starts as noise that usual learning rates cannot train.",
            f"Where the kernel of this layer and of others like it is initialised, divide the range by {turns}; the "
            "first sine layer keeps 1 / fan_in (Sitzmann et al. 2020).",
            WAVES_CODE.format(turns=turns),
        ),
    )


NETWORKS: Final[Words] = {
    SlipKind.MADE: _say_made,
    SlipKind.STRAIGHT: _say_straight,
    SlipKind.APART: _say_apart,
    SlipKind.UNDROPPED: _say_undropped,
    SlipKind.LONE: _say_lone,
    SlipKind.LINEAR: _say_linear,
    SlipKind.SUMMED: _say_summed,
    SlipKind.EMPTYING: _say_emptying,
    SlipKind.RETURNED: _say_returned,
    SlipKind.WAVES: _say_waves,
}
"""What each tells: a title, what was seen, and the cause."""
