"""What the exact statistics of a tensor cost under XLA: its reductions in one pass, and left to themselves.

    python -m benchmarks.reductions [--sizes 1000000 100000 4096] [--rounds 15]

Both compute the same eight sums (`gradwatch.statistic`), in turn in one process: compiling once each, then the median
time of a call.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import numpy as np
import tensorflow as tf

from gradwatch.statistic import _exact_sums


def compiled(size: int, *, is_one_pass: bool) -> tuple[Any, float]:
    """The statistics of a vector of so many elements, compiled, and the seconds that took."""

    @tf.function(jit_compile=True)
    def sums(x: Any) -> Any:
        return _exact_sums(tf.cast(x, tf.float64)[None, :], None, is_fused=is_one_pass)

    begin = time.perf_counter()
    sums(tf.ones([size])).numpy()
    return sums, time.perf_counter() - begin


def main() -> None:
    """Compiles and runs both at each size."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[1_000_000, 100_000, 4_096])
    parser.add_argument("--rounds", type=int, default=15)
    options = parser.parse_args()
    print("| elements | compiled: left to themselves | in one pass | a call: left to themselves | in one pass |")
    print("|---|---|---|---|---|")
    for size in options.sizes:
        x = tf.constant(np.random.default_rng(0).normal(size=size), tf.float32)
        (apart, first), (together, second) = (compiled(size, is_one_pass=one) for one in (False, True))
        times: dict[int, list[float]] = {0: [], 1: []}
        for _ in range(options.rounds):
            for which, block in enumerate((apart, together)):
                begin = time.perf_counter()
                block(x).numpy()
                times[which].append(time.perf_counter() - begin)
        one, other = (f"{1e3 * statistics.median(times[which]):.2f} ms" for which in (0, 1))
        print(f"| {size:,} | {first:.2f} s | {second:.2f} s | {one} | {other} |", flush=True)


if __name__ == "__main__":
    main()
