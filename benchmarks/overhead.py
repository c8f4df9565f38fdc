"""What the hook costs: step time with it, divided by step time without, in turn in one process.

    python -m benchmarks.overhead [--models mlp cnn transformer tiny] [--rounds 60] [--slice 0.1] [--jit]

Each variant trains its own copy of the model with the same `tf.function` step. One *round* times every variant once, in
an order that is shuffled anew, for a few steps (about ``--slice`` seconds); a round's ratio is variant / plain, and the
table shows the median of the rounds with the quartiles. Run it on an otherwise idle machine. No server is needed: what
the hook's threads send waits in a temporary directory unless ``--url`` names a server.

Variants:
    default      gradwatch.watch(model): full statistics thinned to the budget of 2 %
    every step   gradients, weights and updates, budget=0: all their statistics at every step
    gradients    gradwatch.watch(model, capture="gradient", budget=0): gradients only, all statistics, at every step
    l2_loss      one tf.nn.l2_loss pass over each gradient, the floor of any monitor
    everything   gradwatch.watch(model, budget=0) with layers, inputs and operations too, at every step
and, by ``--variants``, what people use instead (`benchmarks.others`; of the debugger one mode and model in a process).
"""

from __future__ import annotations

import argparse
import gc
import math
import os
import random
import statistics
import tempfile
import time
from collections.abc import Callable
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import keras
import tensorflow as tf

import gradwatch
from benchmarks.models import MODELS
from benchmarks.others import OTHERS, Other

VARIANTS: dict[str, dict[str, Any] | None] = {
    "plain": None,
    "default": {},
    "everything": {"budget": 0},
    "every step": {"budget": 0, "capture": ("gradient", "weight", "update")},
    "gradients": {"budget": 0, "capture": "gradient"},
    "l2_loss": None,
}


class Variant:
    """One copy of a model with its own training step."""

    def __init__(self, name: str, build: Callable[[], tuple[Any, Any, Any]], *, url: str | None, jit: bool) -> None:
        keras.utils.set_random_seed(0)
        self.name = name
        model, x, y = build()
        self.weights_mb = sum(4 * math.prod(variable.shape) for variable in model.trainable_variables) / 1e6
        optimizer = keras.optimizers.Adam(1e-4)
        optimizer.build(model.trainable_variables)
        loss_of = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        other = OTHERS.get(name, Other())
        options = VARIANTS.get(name)
        self.watch = None if options is None else gradwatch.watch(model, url=url, name=f"benchmark {name}", **options)
        floor = tf.Variable(0.0)

        @tf.function(jit_compile=jit)
        def step(x: Any, y: Any) -> Any:
            with tf.GradientTape() as tape:
                loss = loss_of(y, model(x, training=True))
            gradients = tape.gradient(loss, model.trainable_variables)
            if name == "l2_loss":
                dense = [g.values if isinstance(g, tf.IndexedSlices) else g for g in gradients]
                floor.assign(tf.add_n([tf.nn.l2_loss(g) for g in dense]))
            optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
            return loss

        inputs = (tf.constant(x), tf.constant(y))
        self.function, self.inputs = step, inputs
        self.step = lambda: step(*inputs)
        began = time.perf_counter()
        with other.tracing():
            self.step()
        self.first_step_s = time.perf_counter() - began
        self._after_step = other.after_step and other.after_step(model, loss_of, *inputs)

    def time_steps(self, n: int) -> float:
        """Seconds a step, over ``n`` steps; the last one's result is waited for."""
        began = time.perf_counter()
        for _ in range(n):
            loss = self.step()
            if self._after_step is not None:
                self._after_step()
        float(loss)
        return (time.perf_counter() - began) / n

    def settle(self, seconds: float) -> None:
        """Trains until the governor has decided, so many seconds at the most."""
        governor = self.watch._reader._plan.governor
        began = time.perf_counter()
        while (governor.full_cost is None or governor.is_measuring) and time.perf_counter() - began < seconds:
            self.time_steps(1)
        took_s, cost = time.perf_counter() - began, governor.full_cost
        print(
            f"{self.name}: the governor decided after {took_s:.0f} s: full rows cost {cost or math.nan:.2f} of a step"
        )

    def train_for(self, seconds: float) -> None:
        """Trains that long."""
        began = time.perf_counter()
        while time.perf_counter() - began < seconds:
            self.time_steps(1)


def measure(model: str, arguments: argparse.Namespace) -> None:
    """Trains one model in all variants, in turn, and reports."""
    variants = {name: Variant(name, MODELS[model], url=arguments.url, jit=arguments.jit) for name in arguments.variants}
    if "default" in variants:  # let the governor settle: its own comparisons are a cost of the first seconds only
        variants["default"].train_for(3)  # traced, and warm
        variants["default"].settle(arguments.settle)
    for variant in variants.values():
        variant.train_for(0.5)
    n_steps = max(1, round(arguments.slice / variants["plain"].time_steps(10)))
    times: dict[str, list[float]] = {name: [] for name in variants}
    cpu_times: dict[str, list[float]] = {name: [] for name in variants}
    order = list(variants.values())
    gc.disable()
    for _ in range(arguments.rounds):
        random.shuffle(order)
        for variant in order:
            variant.time_steps(1)  # the other variants' data leaves the caches
            began = time.process_time()
            times[variant.name].append(variant.time_steps(n_steps))
            cpu_times[variant.name].append((time.process_time() - began) / n_steps)
    gc.enable()
    report(model, variants, times, cpu_times, arguments)
    for variant in variants.values():
        if variant.watch is not None:
            variant.watch.close()
    keras.backend.clear_session()


def report(
    model: str,
    variants: dict[str, Variant],
    times: dict[str, list[float]],
    cpu_times: dict[str, list[float]],
    arguments: Any,
) -> None:
    """Prints one model's table: time by the clock, and the processors' over all threads, which others disturb less."""
    plain = times["plain"]
    print(f"\n{model}{' (XLA)' if arguments.jit else ''}: {statistics.median(plain) * 1e3:.2f} ms a step, plain")
    print("| variant | step time / plain (median) | quartiles | processor time / plain (median) | first step, s |")
    print("|---|---|---|---|---|")
    for name, found in times.items():
        ratios = [a / b for a, b in zip(found, plain, strict=True)]
        low, middle, high = statistics.quantiles(ratios, n=4)
        cpu = statistics.median(a / b for a, b in zip(cpu_times[name], cpu_times["plain"], strict=True))
        first_step_s = variants[name].first_step_s
        print(f"| {name} | {middle:.3f} | {low:.3f} to {high:.3f} | {cpu:.3f} | {first_step_s:.1f} |")
    for variant in variants.values():
        if variant.watch is not None:
            rings = sum(stream.ring.size_bytes for stream in variant.watch._streams)
            period = variant.watch._reader._plan.period
            print(f"{variant.name}: full statistics every {period} steps; ring {rings / 1e6:.1f} MB")


def main() -> None:
    """Reads the options and measures each model."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", nargs="+", choices=MODELS, default=["mlp", "cnn", "transformer", "tiny"])
    parser.add_argument("--variants", nargs="+", choices=[*VARIANTS, *OTHERS], default=list(VARIANTS))
    parser.add_argument("--rounds", type=int, default=60)
    parser.add_argument("--slice", type=float, default=0.1, help="seconds that one variant trains in a round")
    parser.add_argument("--settle", type=float, default=120.0, help="seconds that the governor may take to decide")
    parser.add_argument("--jit", action="store_true")
    parser.add_argument("--url", default="http://127.0.0.1:9")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        os.environ["GRADWATCH_DIR"] = directory
        for model in arguments.models:
            measure(model, arguments)


if __name__ == "__main__":
    main()
