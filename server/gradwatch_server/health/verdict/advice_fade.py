"""Causes and cures of gradients that fade: towards the input, or in time."""

from __future__ import annotations

import math
from typing import Final

from gradwatch_server.health.finding import Change, Hypothesis
from gradwatch_server.health.verdict.advice_growth import (
    DEPTH_CODE,
    INITIAL_CODE,
    VARIANCE_RATIO,
    advise_rate,
    advise_scale,
    layers_of,
    say_variance,
    start_as_usual,
)
from gradwatch_server.health.verdict.advice_zero import CUT_CODE
from gradwatch_server.health.verdict.scene import Scene
from gradwatch_server.health.verdict.spelling import say_number

__all__ = [
    "GAME_CODE",
    "advise_fade",
    "advise_vanishing",
]


RECURRENT_CODE: Final = """\
x = tf.keras.layers.LSTM(128, recurrent_initializer="orthogonal", unit_forget_bias=True)(x)
x = tf.keras.layers.LayerNormalization()(x)
# A long sequence in pieces: the state is kept, the gradient is not.
for piece in tf.split(sequence, n_pieces, axis=1):
    train_step(piece)"""

GATE_CODE: Final = """\
gate = tf.keras.layers.Dense(units, activation="sigmoid", bias_initializer=tf.keras.initializers.Constant(-2.0))
x = gate(x) * new + (1.0 - gate(x)) * x                 # new: what the layer computes; at first 88 % of x"""
SIGMOIDS_MIN: Final = 3
"""Layers with a sigmoid: of three slopes at the most a sixty-fourth is left."""
GATES_MIN: Final = 3
"""Biases that begin at the same number."""

ENDING: Final = frozenset({"sigmoid", "tanh"})
GAME_CODE: Final = """\
# The generator: -log D(G(z)) keeps its slope where log(1 - D(G(z))) is flat; both from logits, not log(p + epsilon)
bce = tf.keras.losses.BinaryCrossentropy(from_logits=True, label_smoothing=0.1)
d_loss = bce(tf.ones_like(real), real) + bce(tf.zeros_like(fake), fake)   # real, fake: the discriminator's logits
g_loss = bce(tf.ones_like(fake), fake)

# and a discriminator that does not run ahead: a smaller rate, noise on its inputs, or WGAN-GP
discriminator_optimizer = tf.keras.optimizers.Adam(1e-4, beta_1=0.5)
generator_optimizer = tf.keras.optimizers.Adam(2e-4, beta_1=0.5)"""


def _unsaturated(scene: Scene) -> tuple[Change, ...]:
    """The layers whose function ends, but for the last, with one that does not."""
    table = scene.incident.lead.table
    columns = [] if table is None else [int(column) for column in table.activation[:-1]]
    layers = [table.layer_of(one) for one in columns if table is not None and table.functions[one] in ENDING]
    return tuple(Change("layer", layer, instead=(("activation", '"gelu"'),)) for layer in dict.fromkeys(layers))


def advise_vanishing(ratio: float, scene: Scene, *, is_recurrent: bool) -> list[Hypothesis]:
    """Causes of gradients that fade towards the input."""
    start = scene.start
    is_small = 0 < start.ratio < 1 / VARIANCE_RATIO
    small = (
        f"{say_variance(start)} Each such layer takes as much from the gradient."
        if is_small
        else "Each layer multiplies the gradient by about its weights' size times the root of its width. A start of "
        "stddev 0.01 in narrow layers loses a factor of ten per layer."
    )
    found = [
        _advise_ends(ratio, scene),
        Hypothesis(
            "Weights that start too small", 0.75 if is_small else 0.45, small, "Use a variance-keeping initialiser.",
            INITIAL_CODE, start_as_usual(*layers_of(scene)),
        ),
        Hypothesis(
            "No short way from the loss to the first layers",
            0.35,
            "Without residual connections the gradient must pass every layer. Depth alone then makes it fade.",
            "Add residual connections, or an auxiliary loss near the input.",
            DEPTH_CODE,
        ),
    ]  # fmt: skip
    found += _advise_gates(scene)
    if is_recurrent:
        found.append(
            Hypothesis(
                "A recurrence over many steps of the sequence",
                0.65,
                "A layer on the way has a square recurrent kernel, which the gradient passes once for each step of the "
                "sequence. Whatever that factor is, its power over a long sequence vanishes unless it is 1.",
                "Use LSTM or GRU with an orthogonal recurrent kernel, shorter sequences, or attention.",
                RECURRENT_CODE,
            )
        )
        found += advise_scale(
            scene,
            0.85,
            "The gates of a recurrent layer are sigmoid and tanh, which are at their ends for such sums, the same for "
            "every sample: no slope is left for a gradient to pass.",
        )
    return sorted(found, key=lambda hypothesis: -hypothesis.confidence)


def _advise_ends(ratio: float, scene: Scene) -> Hypothesis:
    """Functions with two ends, one behind the other, as far as those of the layers are known."""
    table = scene.incident.lead.table
    functions = [] if table is None else [table.functions[column] for column in table.activation[:-1].tolist()]
    n, n_others = functions.count("sigmoid"), sum(one not in {None, "linear", *ENDING} for one in functions)
    is_certain, is_none = n >= max(SIGMOIDS_MIN, n_others), bool(functions) and not {None, *ENDING} & set(functions)
    counted = f" Here {n} layers end in a sigmoid, which together leave {say_number(0.25**n)} at most."
    return Hypothesis(
        "Saturating activations through many layers",
        0.9 if is_certain else 0.15 if is_none else 0.6,
        f"The gradient at the input is {say_number(ratio)} of that at the output. Sigmoid multiplies it by 0.25 "
        "at most in each layer, tanh by less than 1, and both by almost 0 when saturated."
        f"{counted if is_certain else ''}",
        "Use relu or gelu; through more than some ten layers with residual connections and normalisation.",
        DEPTH_CODE,
        _unsaturated(scene),
    )


def _advise_gates(scene: Scene) -> list[Hypothesis]:
    """Biases of many layers that begin where a gate is open."""
    n, layer, value = scene.start.lifted or (0, "", 0.0)
    if n < GATES_MIN:
        return []
    share = 1 / (1 + math.exp(-value))
    return [
        Hypothesis(
            f"Gates start {'open' if value > 0 else 'closed'}: the biases of {layer} and of {n - 1:,} more layers "
            f"begin at {say_number(value)}",
            0.8,
            f"A sigmoid of {say_number(value)} is {share:.2f}. Where such a gate chooses between what a layer computes "
            f"and what came in, each layer keeps {1 - share:.0%} of one and {share:.0%} of the other at first: a "
            f"factor of {say_number(min(share, 1 - share) ** n)} over all of them. The gradient takes the same way.",
            "Start these biases with the other sign, so that at first each layer hands on what came in.",
            GATE_CODE,
        )
    ]


def advise_fade(ratio: float, scene: Scene, *, is_game: bool) -> list[Hypothesis]:
    """Causes of a whole gradient that fades in time without success."""
    game = Hypothesis(
        "One side has won: the loss that the other learns from is flat there",
        0.85,
        f"The gradient is {say_number(ratio)} of what it was in the first steps. A discriminator that is sure of every "
        "sample saturates: log(1 - D) has next to no slope at D = 0, an epsilon inside the log or a sigmoid at its end "
        "has none, and the generator is told nothing about where to go.",
        "Use the non-saturating loss from logits, and keep the discriminator from running ahead.",
        GAME_CODE,
    )
    flat = Hypothesis(
        "The outputs stand where the loss is flat",
        0.3 if is_game else 0.7,
        "Saturated sigmoid, tanh or softmax outputs, a clip or an epsilon that dominates have next to no slope. A few "
        "steps that were too large are enough to get there, and nothing leads back.",
        "Give the loss the logits, lower the rate, and restart from before the gradient faded.",
        CUT_CODE,
    )
    return [*([game] if is_game else []), flat, *([] if is_game else [advise_rate(scene, 0.4)])]
