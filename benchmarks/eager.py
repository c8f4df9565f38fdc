"""What the hook costs an eager loop: step time with it, divided by step time without, in turn in one process.

    python -m benchmarks.eager [--models tiny cnn transformer] [--rounds 25]

One model trains on, a few steps watched and a few not, and so on; while it is not watched every class is as TensorFlow
made it. "no operations" captures all but operations: what is more in "default" is the price of keeping what the tape
differentiates. Both after the governor has decided. Run it on an otherwise idle machine.
"""

from __future__ import annotations

import argparse
import gc
import os
import statistics
import tempfile
import time
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import keras
import tensorflow as tf

import gradwatch
from benchmarks.models import MODELS
from gradwatch.interception import add_observer, remove_observer

SETTLE_S = 30.0
SLICE_S = 0.3
CAPTURES: dict[str, tuple[str, ...] | None] = {
    "default": None,
    "no operations": ("gradient", "weight", "update", "activation", "backprop", "input"),
}


def measure(model_name: str, name: str, n_rounds: int) -> str:
    """Trains a model and gives a row of the table."""
    keras.utils.set_random_seed(0)
    model, x, y = MODELS[model_name]()
    optimizer = keras.optimizers.Adam(1e-4)
    optimizer.build(model.trainable_variables)
    loss_of = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    inputs = (tf.constant(x), tf.constant(y))

    def step() -> Any:
        with tf.GradientTape() as tape:
            loss = loss_of(inputs[1], model(inputs[0], training=True))
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
        return loss

    def time_steps(n: int) -> float:
        began = time.perf_counter()
        for _ in range(n):
            loss = step()
        float(loss)
        return (time.perf_counter() - began) / n

    options = {} if CAPTURES[name] is None else {"capture": CAPTURES[name]}
    watch = gradwatch.watch(model, url="http://127.0.0.1:9", name=f"benchmark {name}", **options)
    governor = watch._reader._plan.governor
    began = time.perf_counter()
    while (governor.full_cost is None or governor.is_measuring) and time.perf_counter() - began < SETTLE_S:
        step()
    n_steps = max(1, round(SLICE_S / time_steps(5)))
    ratios, plain = [], []
    gc.disable()
    for _ in range(n_rounds):
        watched_s = time_steps(n_steps)
        remove_observer(watch)
        plain.append(time_steps(n_steps))
        add_observer(watch, [model], [])
        ratios.append(watched_s / plain[-1])
    gc.enable()
    watch.close()
    low, middle, high = statistics.quantiles(ratios, n=4)
    ms = statistics.median(plain) * 1e3
    return f"| {model_name} | {ms:.1f} ms | {name} | {middle:.2f} ({low:.2f} to {high:.2f}) |"


def main() -> None:
    """Reads the options and prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", nargs="+", choices=MODELS, default=["tiny", "cnn", "transformer"])
    parser.add_argument("--rounds", type=int, default=25)
    arguments = parser.parse_args()
    print("| model | step without | variant | step time with / without (quartiles) |\n|---|---|---|---|")
    with tempfile.TemporaryDirectory() as directory:
        os.environ["GRADWATCH_DIR"] = directory
        for model in arguments.models:
            for name in CAPTURES:
                print(measure(model, name, arguments.rounds), flush=True)


if __name__ == "__main__":
    main()
