"""How much memory a training step takes at its peak, with the hook and without: each variant in a process of its own.

    python -m benchmarks.memory [--model wide] [--steps 30] [--jit] [--bad]

Prints the peak resident memory of each process, as the operating system counts it, and what it is above the plain one.
Statistics of an update that held a second copy of all weights would show here as the size of the weights. With
``--bad`` the last step's batch is NaN, and all gradients and weights with it.
"""

from __future__ import annotations

import argparse
import math
import multiprocessing
import os
import resource
import statistics
import tempfile

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

VARIANTS = ("plain", "default", "gradients", "every step", "everything")


def train(job: tuple[str, str, int, bool, bool]) -> tuple[float, float]:
    """Trains in this process; returns the megabytes of the weights, and the peak of its resident memory."""
    from benchmarks.models import MODELS  # noqa: PLC0415 - TensorFlow belongs to the child
    from benchmarks.overhead import Variant  # noqa: PLC0415

    model, variant, n_steps, jit, is_bad = job
    with tempfile.TemporaryDirectory() as directory:
        os.environ["GRADWATCH_DIR"] = directory
        one = Variant(variant, MODELS[model], url="http://127.0.0.1:9", jit=jit)
        for _ in range(n_steps):
            one.time_steps(1)
        if is_bad:
            x, y = one.inputs
            one.function(x * math.nan, y)
        if one.watch is not None:
            one.watch.close()
    return one.weights_mb, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3


def main() -> None:
    """Measures each variant three times."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="wide")
    parser.add_argument("--steps", type=int, default=30)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--jit", action="store_true")
    parser.add_argument("--bad", action="store_true")
    options = parser.parse_args()
    peaks: dict[str, list[float]] = {name: [] for name in VARIANTS}
    weights = 0.0
    with multiprocessing.get_context("spawn").Pool(1, maxtasksperchild=1) as pool:
        for _ in range(options.repeats):
            for name in VARIANTS:
                weights, peak = pool.apply(train, ((options.model, name, options.steps, options.jit, options.bad),))
                peaks[name].append(peak)
    plain = statistics.median(peaks["plain"])
    print(f"{options.model}{' (XLA)' if options.jit else ''}: {weights:.0f} MB of weights")
    print("| variant | peak, MB (median) | above plain, MB | in weights |")
    print("|---|---|---|---|")
    for name, found in peaks.items():
        peak = statistics.median(found)
        print(f"| {name} | {peak:.0f} | {peak - plain:+.0f} | {(peak - plain) / weights:+.2f} |")


if __name__ == "__main__":
    main()
