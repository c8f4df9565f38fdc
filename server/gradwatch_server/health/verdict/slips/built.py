"""Words for what a training is made of that does not do what it was made for: layers, settings, fine-tuning."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from gradwatch_server.health.episode import Misshaped
from gradwatch_server.health.finding import Hypothesis
from gradwatch_server.health.slip import SlipKind
from gradwatch_server.health.verdict.operation import say_line
from gradwatch_server.health.verdict.rewrite import say_change
from gradwatch_server.health.verdict.slips.line import Words, line_of
from gradwatch_server.health.verdict.spelling import list_names, say_number

__all__ = ["BUILT"]

CALLBACKS: Final = frozenset({"EarlyStopping", "LearningRateScheduler", "ModelCheckpoint", "ReduceLROnPlateau"})
ROTATED_CODE: Final = """\
tf.keras.layers.RandomRotation({degrees} / 360)          # up to {degrees} degrees to either side"""
HALVED_CODE: Final = """\
image = tf.cast(image, tf.float32) / 127.5 - 1.0      # -1 to 1"""
HALVED_LAYER_CODE: Final = """\
tf.keras.layers.Rescaling(1 / 127.5, offset=-1)       # -1 to 1"""

THAWED_CODE: Final = """\
{model}.trainable = True                        # first: it sets that of all layers
for layer in {model}.layers[:n_frozen]:
    layer.trainable = False"""
FROZEN_CODE: Final = """\
{model}.trainable = False
model.compile(optimizer=keras.optimizers.Adam(1e-4), loss=loss)     # with the loss and metrics of before"""

MASKING_CODE: Final = """\
tf.keras.layers.Masking(mask_value={pads})"""
PADDED_CODE: Final = """\
x_train[np.arange(n_times) >= lengths[:, None]] = {value}     # after scaling: what `Masking` looks for"""
SEVERED_CODE: Final = """\
joined = tf.keras.layers.Concatenate()([first, second])               # of features
outputs = decoder(decoder_inputs, initial_state=[state_h, state_c])   # of an encoder's states"""

UNREAD_CODES: Final[Mapping[str, str]] = {
    "label_smoothing": "keras.losses.CategoricalCrossentropy(label_smoothing=self.label_smoothing)",
    "margin": "loss = tf.nn.relu(near - far + self.margin)",
    "tau": "logits = logits / self.tau                  # of a temperature",
    "temperature": "logits = logits / self.temperature",
}
"""Settings that are no weights of a term."""


TOPPED_CODE: Final = """\
x = tf.keras.layers.Dropout(0.5)(x)
outputs = tf.keras.layers.Dense(n_classes, activation="softmax")(x)   # nothing behind it"""
TOPPED_NORM_CODE: Final = """\
x = tf.keras.layers.BatchNormalization()(x)
outputs = tf.keras.layers.Dense(n_classes, activation="softmax")(x)   # nothing behind it"""


def _say_rotated(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    place, layer = say_line(lead.slip.get("source")), lead.slip["layer"]
    low, high = map(float, lead.slip["rotates"])
    degrees = say_number(max(abs(low), abs(high)))
    return (
        f"`RandomRotation` turns images by up to {degrees} whole turns: its factor counts turns, not degrees{place}",
        (
            f"The factor of {f'`{layer}`' if layer else 'the layer'} goes from {say_number(low)} to "
            f"{say_number(high)}. 1 is a whole turn."
        ),
        Hypothesis(
            f"Images are turned by any angle, where at most {degrees} degrees are meant{place}",
            0.93,
            "A random number of turns ends at any angle, upside down as often as not. The model has to learn what it "
            "will never be shown, and 6 and 9 are one.",
            "Give the share of a whole turn: degrees divided by 360.",
            ROTATED_CODE.format(degrees=degrees),
        ),
    )


def _say_halved(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    place, line = say_line(lead.slip.get("source")), line_of(lead)
    layer = lead.slip["layer"]
    low, high = map(say_number, lead.reach)
    is_layer = bool(layer) or "Rescaling" in line
    changed = re.sub(r"(?<![\d.])25[56](\.0*)?(?![\d.])", "127.5", line)
    return (
        f"Images are scaled to between {low} and {high}, not to between -1 and 1{place}",
        (
            f"{f'`{layer}` gives' if layer else 'What enters the model has'} numbers from {low} "
            f"to {high} in all checked steps: 0 to 255 was divided by the whole range, and 1 subtracted."
        ),
        Hypothesis(
            f"1 is subtracted from images between 0 and 1{place}",
            0.93,
            "With 0 to 255 divided by 255, an offset of -1 leaves nothing above 0. What ends in a tanh, or was trained "
            "on -1 to 1, meets one half of its range alone.",
            "Divide by 127.5 and subtract 1, for -1 to 1. For 0 to 1 leave the offset out.",
            (say_change(line, changed) if changed != line else None)
            or (HALVED_LAYER_CODE if is_layer else HALVED_CODE),
        ),
    )


def _say_thawed(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    place, model = say_line(lead.slip.get("source")), lead.slip["thawed"]
    return (
        f"No layer of `{model}` is frozen: a later line sets `trainable` of all of them{place}",
        f"A loop over `{model}.layers[...]` sets `trainable = False`. A line after it sets that back to True.",
        Hypothesis(
            f"`{model}.trainable = True` stands after the loop that freezes some of its layers{place}",
            0.93,
            "A model's `trainable` sets that of every layer in it. All of them are trained now, the first ones too, "
            "which were meant to stay as they are.",
            "Set the model's `trainable` first, then freeze layers.",
            THAWED_CODE.format(model=model),
        ),
    )


def _say_still_trained(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    place, model = say_line(lead.slip.get("source")), lead.slip["frozen"]
    return (
        f"Freezing `{model}` between two calls of `fit` changes nothing: `compile` is not called{place}",
        f"`fit` is called before and after the line that sets `{model}.trainable = False`, and `compile` not between.",
        Hypothesis(
            f"`{model}` goes on being trained in the second stage{place}",
            0.9,
            "`fit` compiles its step once, with the weights that could be trained then. Later calls go on with that "
            "step, whatever `trainable` is by now, until `compile` is called.",
            "Call `compile` after `trainable` has changed.",
            FROZEN_CODE.format(model=model),
        ),
    )


def _say_severed(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    name, layers = lead.slip["name"], list_names([f"`{one}`" for one in lead.slip["severs"]])
    return (
        f"No output of the model depends on its input `{name}`: what was built on it is joined with nothing",
        f"The layers {layers} were called on `{name}`. None of them is on the way to an output.",
        Hypothesis(
            f"What the layers behind `{name}` give is not handed on",
            0.93,
            "`keras.Model` keeps only the layers between its inputs and its outputs. This input is fed, and then "
            "dropped. What it could tell is never learned.",
            f"Hand the result of these layers on to those that make the output, or leave `{name}` out.",
            SEVERED_CODE,
        ),
    )


def _say_withheld(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    place, what, name = say_line(lead.slip.get("source")), str(lead.slip["name"]), lead.slip["withheld"]
    if what == "class_weight":
        given = f"dict(enumerate({name}))" if "compute_class_weight" in line_of(lead) else name  # a dict it has to be
        use, code = "`fit` weighs all classes alike", f"model.fit(x_train, y_train, class_weight={given})"
    elif what in CALLBACKS:
        use, code = "`fit` never calls it", f"model.fit(x_train, y_train, callbacks=[{name}])"
    else:
        use, code = "the optimizer does not follow it", f"optimizer = tf.keras.optimizers.Adam({name})"
    return (
        f"`{name}` is made and never passed on: {use}{place}",
        (
            f"The script gives {'class weights' if what == 'class_weight' else f'its `{what}`'} the name `{name}`. "
            "Nothing reads that name."
        ),
        Hypothesis(
            f"`{name}` is passed to nothing{place}",
            0.9,
            "Making it has no effect by itself. The training runs as if the line were not there.",
            "Pass it on, or remove the line.",
            code,
        ),
    )


def _say_uncalled(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    place, name, layer = say_line(lead.slip.get("source")), lead.slip["name"], lead.slip["layer"]
    return (
        f"`self.{name}` of `{layer}` is made and never called{place}",
        (
            f"`{layer}` has been called. Its {lead.slip['uncalled']} `{name}` has not: it has no weights yet, and no "
            f"line reads `self.{name}`."
        ),
        Hypothesis(
            f"`self.{name}` is left out where `{layer}` computes its output{place}",
            0.85,
            "What that layer should do is not done, and the model has fewer weights than intended. Usual reason: "
            "another layer's name was copied to its line, or the line is missing.",
            f"Call `self.{name}` where it belongs, or remove it.",
            f"x = self.{name}(x)",
        ),
    )


def _say_unread(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    place, name, layer = say_line(lead.slip.get("source")), lead.slip["name"], lead.slip["layer"]
    return (
        f"`{layer}` stores `{name}` and never reads it: its value has no effect{place}",
        f"`self.{name}` is set in `__init__`, and no line reads it.",
        Hypothesis(
            f"`self.{name}` is left out of what `{layer}` computes{place}",
            0.85,
            f"Whatever value `{name}` is given, the training is the same. Usual reason: the term that it belongs to is "
            "not added to the loss, or is added without it.",
            f"Use `self.{name}` where the output or the loss is computed, or remove it.",
            UNREAD_CODES.get(name, f"loss = loss + self.{name} * penalty"),
        ),
    )


def _say_unmasked(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    place, layer, value = say_line(lead.slip.get("source")), lead.slip["layer"], lead.slip["unmasked"]
    pads = None if lead.slip["pads"] is None else say_number(float(lead.slip["pads"]))
    what = "with other numbers" if pads is None else f"with {pads}"
    return (
        f"`{layer}` masks nothing: it looks for {value}, and the sequences are padded {what}{place}",
        (
            f"At no time step of the sequences that `fit` was given are all numbers {value}. Most sequences begin or "
            "end with one time step repeated, some longer than others."
        ),
        Hypothesis(
            f"The padding is not what `{layer}` is made to mask{place}",
            0.93,
            "The layers behind it read the padding as if it were data. A recurrence ends in what the padding leaves, "
            "more so the shorter the sequence is. Usual reason: the value differs, or the data were scaled after they "
            "were padded.",
            "Give `Masking` the number that the sequences are padded with, or pad after scaling.",
            PADDED_CODE.format(value=value) if pads is None else MASKING_CODE.format(pads=pads),
        ),
    )


def _say_topped(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    layer, head, kind = lead.slip["layer"], lead.slip["tops"], lead.slip["type"]
    is_dropped = "Dropout" in kind
    return (
        f"`{layer}`, a {kind}, stands behind the last layer `{head}` and changes what the model gives",
        f"The output of `{head}` goes into `{layer}`, and what comes out of that meets the targets.",
        Hypothesis(
            f"A {kind} behind the last layer: `{layer}`",
            0.93,
            "In training it sets part of the predictions to 0 and makes the others larger. No weight can answer for "
            "that, and a probability is no longer one."
            if is_dropped
            else "What it gives has a mean of 0 over the batch: numbers below 0 and above 1. A cross-entropy of "
            "probabilities cuts these off, and their gradient with them.",
            f"Put it before `{head}`, or remove it.",
            (TOPPED_CODE if is_dropped else TOPPED_NORM_CODE),
        ),
    )


BUILT: Final[Words] = {
    SlipKind.ROTATED: _say_rotated,
    SlipKind.HALVED: _say_halved,
    SlipKind.THAWED: _say_thawed,
    SlipKind.UNMASKED: _say_unmasked,
    SlipKind.WITHHELD: _say_withheld,
    SlipKind.UNCALLED: _say_uncalled,
    SlipKind.UNREAD: _say_unread,
    SlipKind.SEVERED: _say_severed,
    SlipKind.TOPPED: _say_topped,
    SlipKind.STILL_TRAINED: _say_still_trained,
}
"""What each tells: a title, what was seen, and the cause."""
