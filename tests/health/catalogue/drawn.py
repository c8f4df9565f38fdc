"""Draws small trainings by a seed, healthy or with one defect: as many as one likes, none that a rule was fitted to.

    python -m tests.health.catalogue.drawn --seeds 100 104 --healthy 20 --folder scripts

Each is a script as a user has it, written to the folder and played. Printed is what it learned in the end (its score: 1
is all, 0 is what guessing gives), what was told, and for each defect how often it was found and its cause named. A
defect that did no harm need not be told.
"""

from __future__ import annotations

import argparse
import io
import random
import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from tests.health.catalogue.play import Played, play, script

VECTORS = ("classes", "numbers", "label")
ANY = (*VECTORS, "images", "series", "words", "codes", "tokens", "signals")
CLASSES = ("classes", "images", "series", "words", "tokens", "signals")


class Defect(NamedTuple):
    """The tasks that a defect is drawn for, and words of which one must stand in the first two causes."""

    tasks: Sequence[str]
    cause: Sequence[str]


DEFECTS = {
    "rate_high": Defect(ANY, ("learning rate",)),
    "rate_low": Defect(ANY, ("learning rate",)),
    "rate_falls_at_once": Defect(ANY, ("learning rate", "rate")),
    "rate_never_rises": Defect(ANY, ("learning rate", "rate")),
    "adam_epsilon": Defect(ANY, ("learning rate", "epsilon")),
    "start_large": Defect(ANY, ("start", "scaled", "too large")),
    "start_small": Defect(ANY, ("start", "vanish", "deep", "depth")),
    "start_zero": Defect(ANY, ("start", "began")),
    "sigmoids": Defect((*VECTORS, "codes"), ("saturating", "start too small")),
    "low_biases": Defect((*VECTORS, "images", "codes"), ("bias",)),
    "relu_last": Defect(("numbers",), ("activation", "relu")),
    "sigmoid_for_numbers": Defect(("numbers",), ("activation", "sigmoid")),
    "softmax_of_one": Defect(("label",), ("softmax",)),
    "softmax_twice": Defect(CLASSES, ("softmax",)),
    "softmax_over_batch": Defect(("classes",), ("axis",)),
    "scores_as_probabilities": Defect(CLASSES, ("from_logits", "probabilities")),
    "inputs_far": Defect((*VECTORS, "images", "series", "codes"), ("inputs are not scaled",)),
    "inputs_tiny": Defect((*VECTORS, "images", "series", "codes"), ("inputs are scaled",)),
    "one_column_far": Defect(VECTORS, ("inputs are not scaled",)),
    "targets_far": Defect(("numbers",), ("targets are not scaled",)),
    "labels_shuffled": Defect((*VECTORS, "images", "series", "words"), ("labels", "targets")),
    "broadcast": Defect(("numbers",), ("broadcast",)),
    "clip_hard": Defect(ANY, ("clip",)),
    "sign": Defect(ANY, ("sign",)),
    "penalty": Defect((*VECTORS, "images", "codes"), ("penalty", "Regularisation")),
    "stopped": Defect(ANY, ("without a gradient", "depend", "slope", "stop")),
    "rounded": Defect(ANY, ("without a gradient", "depend", "slope")),
    "left_out": Defect(ANY, ("never trained",)),
    "never_cleared": Defect(ANY, ("never set back",)),
    "dropout_high": Defect((*VECTORS, "codes"), ("dropout",)),
    "decay_high": Defect(ANY, ("decay", "Regularisation")),
    "inputs_zero": Defect((*VECTORS, "images", "codes"), ("input",)),
    "inputs_constant": Defect((*VECTORS, "images", "series", "words", "tokens", "signals"), ("input",)),
    "sorted": Defect(("classes", "images", "words", "signals"), ("order", "shuffle")),
    "tanh_for_numbers": Defect(("numbers",), ("activation", "tanh")),
    "float16_unscaled": Defect(VECTORS, ("float16",)),
    "sum_loss": Defect(ANY, ("learning rate",)),
    "long_memory": Defect(("series",), ("sequence", "recurren")),
}

HEAD = """\
import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
random = np.random.default_rng(seed)
"""


class _Draw:
    """One training: what is drawn in the order of the script, and its lines."""

    def __init__(self, seed: int, defect: str | None) -> None:
        self.random = r = random.Random(f"{seed} {defect}")  # noqa: S311 (no secret)
        self.defect = defect
        self.task = r.choice(DEFECTS[defect].tasks if defect else ANY)
        self.n, self.n_features = r.choice([512, 1000, 3000]), r.choice([8, 13, 30])
        self.n_classes = r.choice([3, 5, 10])
        self.batch, self.width, self.depth = r.choice([16, 32, 64]), r.choice([16, 48, 96]), r.choice([1, 2, 3, 4])
        self.activation = r.choice(["relu", "relu", "tanh", "elu", "gelu"])
        self.norm = r.choice(["", "", "BatchNormalization", "LayerNormalization"])
        self.optimizer = r.choice(["SGD", "SGD", "Adam", "Adam", "RMSprop", "AdamW"])
        self.is_loop = r.random() < 0.5
        self.is_compiled = r.random() < 0.3
        self.n_steps = r.choice([250, 400, 600])
        self.is_one_hot = r.random() < 0.3
        self.has_probabilities = r.random() < 0.5
        self.is_mixed = defect == "float16_unscaled" or (self.task in VECTORS and not defect and r.random() < 0.25)
        self.lines = [HEAD]
        if defect in ("broadcast", "left_out", "never_cleared", "softmax_twice", "float16_unscaled", "sum_loss"):
            self.is_loop = True
        if defect == "sum_loss":
            self.optimizer = "SGD"
        if defect == "decay_high":
            self.optimizer = "AdamW"
        if defect in ("start_large", "start_small", "start_zero", "sigmoids", "low_biases", "penalty"):
            self.norm = ""
        if defect in ("start_small", "start_zero", "penalty"):
            self.depth = max(self.depth, 3)
        if defect in ("clip_hard", "never_cleared"):
            self.optimizer = "SGD"
        if defect == "adam_epsilon":
            self.optimizer = "Adam"

    def write(self) -> str:
        """The script."""
        if self.is_mixed:
            self._add("keras.mixed_precision.set_global_policy('mixed_float16')")
        self._write_data()
        self._write_model()
        self._write_optimizer()
        self._write_training()
        self._write_score()
        return "\n".join(self.lines) + "\n"

    def _add(self, *lines: str) -> None:
        self.lines += lines

    @property
    def is_of_classes(self) -> bool:
        return self.task in CLASSES

    def _write_data(self) -> None:
        n, d, k, r = self.n, self.n_features, self.n_classes, self.random
        if self.task in VECTORS:
            self._add(
                f"x = random.normal(size=({n}, {d}))",
                f"hidden = np.tanh(2 * x @ random.normal(size=({d}, 24)) / np.sqrt({d}))",
                f"score = hidden @ random.normal(size=(24, {k if self.task == 'classes' else 1}))",
                {
                    "classes": "y = score.argmax(-1)",
                    "label": "y = (score > np.median(score)).astype('float32')",
                    "numbers": "y = (score - score.mean()) / score.std()",
                }[self.task],
            )
        elif self.task == "images":
            size = r.choice([8, 12, 16])
            self._add(
                f"templates = random.normal(size=({k}, {size}, {size}, 1))",
                f"y = random.integers({k}, size={n})",
                f"x = templates[y] + 0.8 * random.normal(size=({n}, {size}, {size}, 1))",
            )
        elif self.task == "series":
            length = 100 if self.defect == "long_memory" else r.choice([10, 20, 30])
            read = "x[:, 0]" if self.defect == "long_memory" else "x[:, -5:].mean(1)"
            self._add(f"x = random.normal(size=({n}, {length}, {k}))", f"y = {read}.argmax(-1)")
        elif self.task in ("words", "tokens"):
            self._add(
                f"x = random.integers(1, 60, size=({n}, {r.choice([8, 16, 24])}))",
                f"y = random.normal(size=(60, {k}))[x].mean(1).argmax(-1)",
            )
        elif self.task == "signals":
            length = r.choice([32, 64])
            self._add(
                f"y = random.integers({k}, size={n})",
                f"time = np.arange({length}) / {length} + random.random(({n}, 1))",
                "x = np.sin(2 * np.pi * time * (1 + y[:, None]))[..., None]",
                f"x += 0.3 * random.normal(size=({n}, {length}, 1))",
            )
        else:
            self._add(f"x = np.tanh(random.normal(size=({n}, 4)) @ random.normal(size=(4, {d})))", "y = x")
        self._spoil_data()
        self._add("x = x.astype('int32')" if self.task in ("words", "tokens") else "x = x.astype('float32')")
        if not self.is_of_classes:
            self._add("y = y.astype('float32')")
        elif self.is_one_hot:
            self._add(f"y = np.eye({k}, dtype='float32')[y]")
        self._add("")

    def _spoil_data(self) -> None:
        r = self.random
        if self.defect == "inputs_far":
            self._add(f"x = {r.choice([500, 2000, 10000])} * x + {r.choice([0, 3000])}")
        elif self.defect == "inputs_tiny":
            self._add(f"x = {r.choice(['1e-4', '1e-5'])} * x")
        elif self.defect == "one_column_far":
            self._add(f"x[:, {r.randrange(self.n_features)}] *= {r.choice(['1e4', '1e5'])}")
        elif self.defect == "targets_far":
            self._add(f"y = {r.choice([500, 5000])} * y + {r.choice([0, 20000])}")
        elif self.defect == "labels_shuffled":
            self._add("random.shuffle(y)")
        elif self.defect == "inputs_zero":
            self._add("x = (np.abs(x) / 255).astype('uint8')")
        elif self.defect == "inputs_constant":
            self._add("x = np.stack([x[0] for _ in x])")
        elif self.defect == "sorted":
            self._add("order = np.argsort(y)", "x, y = x[order], y[order]")
        elif self.defect == "tanh_for_numbers":
            self._add(f"y = {r.choice([3, 10])} * y + {r.choice([5, 40])}")

    def _write_model(self) -> None:
        options = [f"activation='{'sigmoid' if self.defect == 'sigmoids' else self.activation}'"]
        start = {
            "start_large": f"keras.initializers.RandomNormal(stddev={self.random.choice([1.0, 3.0])})",
            "start_small": "keras.initializers.RandomNormal(stddev=1e-3)",
            "start_zero": "'zeros'",
        }.get(self.defect or "")
        if start:
            options.append(f"kernel_initializer={start}")
        if self.defect == "low_biases":
            bias = self.random.choice([-5, -20])
            options = ["activation='relu'", f"bias_initializer=keras.initializers.Constant({bias})"]
        if self.defect == "penalty":
            options.append("kernel_regularizer=keras.regularizers.L2(1.0)")
        hidden = ", ".join(options)
        depth = self.random.choice([8, 10]) if self.defect == "sigmoids" else self.depth
        self._add("h = inputs = keras.Input(x.shape[1:])")
        widths = [self.width] * depth
        if self.task == "images":
            for place in range(min(depth, 3)):
                self._add(f"h = layers.Conv2D({self.random.choice([8, 16])}, 3, padding='same', {hidden})(h)")
                self._add(*(["h = layers.MaxPooling2D()(h)"] if place < 2 else []))
            self._add(f"h = layers.{self.random.choice(['Flatten', 'GlobalAveragePooling2D'])}()(h)")
            widths = []
        elif self.task == "series":
            kind = "SimpleRNN" if self.defect == "long_memory" else self.random.choice(["LSTM", "GRU"])
            self._add(f"h = layers.{kind}({min(self.width, 32)})(h)")
        elif self.task == "words":
            self._add(f"h = layers.Embedding(60, {self.random.choice([8, 16, 32])})(h)")
            self._add("h = layers.GlobalAveragePooling1D()(h)")
        elif self.task == "tokens":
            self._write_transformer(hidden)
            widths = []
        elif self.task == "signals":
            self._add(f"h = layers.Conv1D(16, 5, padding='same', {hidden})(h)")
            for _ in range(depth):
                self._add(
                    f"more = layers.Conv1D(16, 5, padding='same', {hidden})(layers.BatchNormalization()(h))",
                    "h = layers.Add()([h, layers.Conv1D(16, 5, padding='same')(more)])",
                )
            self._add("h = layers.GlobalMaxPooling1D()(h)")
            widths = []
        elif self.task == "codes":
            widths = [self.width, 8, *widths]
        for units in widths:
            self._add(f"h = layers.Dense({units}, {hidden})(h)")
            if self.norm and self.task in VECTORS:
                self._add(f"h = layers.{self.norm}()(h)")
            if self.defect == "dropout_high":
                self._add("h = layers.Dropout(0.98)(h)")
        if self.defect == "stopped":
            self._add("h = layers.Lambda(tf.stop_gradient)(h)")
        elif self.defect == "rounded":
            self._add(f"h = layers.Lambda({self.random.choice(['tf.round', 'tf.sign'])})(h)")
        self._write_output(start)

    def _write_transformer(self, hidden: str) -> None:
        width = self.random.choice([16, 32])
        self._add(
            f"places = layers.Embedding(x.shape[1], {width})(np.arange(x.shape[1])[None])",
            f"h = layers.Embedding(60, {width})(h) + places",
        )
        for _ in range(min(self.depth, 2)):
            self._add(
                "near = layers.LayerNormalization()(h)",
                f"h = layers.Add()([h, layers.MultiHeadAttention(2, {width // 2})(near, near)])",
                f"more = layers.Dense({2 * width}, {hidden})(layers.LayerNormalization()(h))",
                f"h = layers.Add()([h, layers.Dense({width})(more)])",
            )
        self._add("h = layers.GlobalAveragePooling1D()(h)")

    def _write_output(self, start: str | None) -> None:
        n_outputs = self.n_classes if self.is_of_classes else self.n_features if self.task == "codes" else 1
        activation = None
        if self.is_of_classes and self.has_probabilities:
            activation = "softmax"
        elif self.task == "label" and self.has_probabilities:
            activation = "sigmoid"
        self.is_of_scores = activation is None
        if self.defect == "softmax_twice":
            activation, self.is_of_scores = "softmax", True
        elif self.defect == "scores_as_probabilities":
            activation, self.is_of_scores = None, False
        elif self.defect in ("relu_last", "sigmoid_for_numbers", "tanh_for_numbers"):
            activation = self.defect.partition("_")[0]
        elif self.defect == "softmax_of_one":
            activation, self.is_of_scores = "softmax", False
        more = f", kernel_initializer={start}" if start and self.defect != "start_large" else ""
        more += ", dtype='float32'" if self.is_mixed else ""
        if self.defect == "softmax_over_batch":
            self.is_of_scores = False
            self._add(f"outputs = layers.Softmax(axis=0)(layers.Dense({n_outputs})(h))")
        else:
            self._add(f"outputs = layers.Dense({n_outputs}, activation={activation!r}{more})(h)")
        self._add("model = keras.Model(inputs, outputs)")

    def _write_optimizer(self) -> None:
        r = self.random
        rate = {"SGD": 0.05, "Adam": 2e-3, "RMSprop": 1e-3, "AdamW": 2e-3}[self.optimizer] * r.choice([0.5, 1, 2])
        more = ", momentum=0.9" if self.optimizer == "SGD" and r.random() < 0.5 and not self.defect else ""
        if more:
            rate /= 5
        if self.defect == "rate_high":
            rate *= 200 if self.optimizer == "SGD" else 500
        elif self.defect == "rate_low":
            rate *= 1e-5
        elif self.defect == "clip_hard":
            more += r.choice([", clipnorm=1e-4", ", clipvalue=1e-6", ", global_clipnorm=1e-4"])
        elif self.defect == "adam_epsilon":
            more += ", epsilon=10.0"
        elif self.defect == "decay_high":
            more += f", weight_decay={r.choice([10.0, 50.0])}"
        given = f"{rate:g}" if rate < 1 else f"{rate:.1f}"
        schedules = "keras.optimizers.schedules"
        if self.defect == "rate_falls_at_once":
            given = f"{schedules}.ExponentialDecay({rate:g}, 10, 0.3)"
        elif self.defect == "rate_never_rises":
            given = f"{schedules}.PolynomialDecay(1e-9, 10_000_000, {rate:g})"
        self._add(f"optimizer = keras.optimizers.{self.optimizer}({given}{more})")
        self.is_scaled = self.is_mixed and self.is_loop and not self.defect
        if self.is_scaled:
            self._add("optimizer = keras.optimizers.LossScaleOptimizer(optimizer)")

    def _write_training(self) -> None:
        if self.is_of_classes:
            loss = "CategoricalCrossentropy" if self.is_one_hot else "SparseCategoricalCrossentropy"
        else:
            loss = "BinaryCrossentropy" if self.task == "label" else "MeanSquaredError"
        options = f"from_logits={self.is_of_scores}" if self.is_of_classes or self.task == "label" else ""
        self._add(f"loss_fn = keras.losses.{loss}({options})", "", "import gradwatch; gradwatch.watch(model)")
        if self.is_loop:
            self._write_loop()
        else:
            self._write_fit()

    def _write_fit(self) -> None:
        if self.defect == "sign":
            self._add("", "def objective(y_true, y_pred):", "    return -loss_fn(y_true, y_pred)", "")
        order = ", shuffle=False" if self.defect == "sorted" else ""
        n_epochs = max(1, round(self.n_steps * self.batch / self.n))
        self._add(
            f"model.compile(optimizer, {'objective' if self.defect == 'sign' else 'loss_fn'})",
            f"model.fit(x, y, batch_size={self.batch}, epochs={n_epochs}{order}, verbose=0)",
        )

    def _write_loop(self) -> None:
        loss = "loss_fn(targets, predictions)"
        if self.defect == "broadcast":
            loss = "tf.reduce_mean(tf.square(tf.squeeze(targets, -1) - predictions))"
        elif self.defect == "sign":
            loss = f"-{loss}"
        elif self.defect == "penalty":
            loss += " + tf.add_n(model.losses)"
        elif self.defect == "softmax_twice":
            kind = "" if self.is_one_hot else "sparse_"
            loss = f"tf.reduce_mean(tf.nn.{kind}softmax_cross_entropy_with_logits(targets, predictions))"
        elif self.defect == "sum_loss":
            loss = f"{self.batch * self.random.choice([1, 20])} * {loss}"
        elif self.defect == "float16_unscaled":
            loss += " / 10_000"
        variables = "model.layers[-1].trainable_variables" if self.defect == "left_out" else "model.trainable_variables"
        is_sum = self.defect == "never_cleared"
        mixed = "rows" if self.defect == "sorted" else "rows.shuffle(3000, seed=seed)"
        self._add(
            "rows = tf.data.Dataset.from_tensor_slices((x, y))",
            f"batches = {mixed}.repeat().batch({self.batch})",
            *(["sums = [tf.Variable(tf.zeros_like(v), trainable=False) for v in model.trainable_variables]"] * is_sum),
            "",
            "",
            f"@tf.function(jit_compile={self.is_compiled})",
            "def train_step(inputs, targets):",
            "    with tf.GradientTape() as tape:",
            "        predictions = model(inputs, training=True)",
            f"        loss = {f'optimizer.scale_loss({loss})' if self.is_scaled else loss}",
            f"    variables = {variables}",
            "    gradients = tape.gradient(loss, variables)",
            *(
                ["    for one, new in zip(sums, gradients):", "        one.assign_add(new)", "    gradients = sums"]
                * is_sum
            ),
            "    optimizer.apply_gradients(zip(gradients, variables))",
            "",
            "",
            f"for inputs, targets in batches.take({self.n_steps}):",
            "    train_step(inputs, targets)",
        )

    def _write_score(self) -> None:
        k = self.n_classes
        self._add("given, asked = model(x[:512], training=False).numpy(), y[:512]")
        if self.is_of_classes:
            asked = "asked.argmax(-1)" if self.is_one_hot else "asked"
            self._add(f"score = ((given.argmax(-1) == {asked}).mean() - 1 / {k}) / (1 - 1 / {k})")
        elif self.task == "label":
            middle = 0.0 if self.is_of_scores else 0.5
            self._add(f"score = 2 * ((given > {middle}) == (asked > 0.5)).mean() - 1")
        else:
            self._add("score = 1 - np.square(given - asked).mean() / asked.var()")
        self._add('print("score", float(score))')


def draw(seed: int, defect: str | None = None) -> str:
    """The script of a training, healthy where no defect is named."""
    return _Draw(seed, defect).write()


def is_named(defect: str, played: Played) -> bool:
    """Whether a right cause stands among the first two of any finding."""
    causes = " ".join(one.cause for found in played.findings for one in found.hypotheses[:2]).lower()
    return any(word.lower() in causes for word in DEFECTS[defect].cause)


def _play(path: Path) -> tuple[float, Played]:
    """What a script learned, and what was told of it."""
    output = io.StringIO()
    played = play(script(path, output))
    return float(re.findall(r"score (\S+)", output.getvalue())[0]), played


def main(arguments: Sequence[str] | None = None) -> None:
    """Draws and plays, and prints what came of it."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--seeds", type=int, nargs=2, default=(0, 2), metavar=("FROM", "TO"))
    parser.add_argument("--healthy", type=int, default=10, help="how many healthy ones, from the first seed on")
    parser.add_argument("--defects", nargs="*", default=list(DEFECTS), choices=DEFECTS)
    parser.add_argument("--folder", type=Path, required=True, help="where the scripts are written")
    options = parser.parse_args(arguments)
    options.folder.mkdir(parents=True, exist_ok=True)
    first, end = options.seeds
    wanted: list[tuple[int, str | None]] = [(seed, name) for name in options.defects for seed in range(first, end)]
    wanted += [(first + i, None) for i in range(options.healthy)]
    tally: dict[str, list[int]] = {}
    for seed, defect in wanted:
        path = options.folder / f"{defect or 'healthy'}_{seed}.py"
        path.write_text(draw(seed, defect))
        score, played = _play(path)
        counts = tally.setdefault(defect or "healthy", [0, 0, 0])
        counts[0] += 1
        counts[1] += bool(played.findings)
        counts[2] += defect is not None and is_named(defect, played)
        print(f"{path.stem:28} score {score:6.2f}  {played.describe()[:160]}", flush=True)
    for name, (n, n_told, n_named) in tally.items():
        print(f"{name:28} {n} drawn, {n_told} told of, {n_named} named")


if __name__ == "__main__":
    main()
