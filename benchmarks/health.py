"""How many statistics a second the health engine judges on one core, and whether that stays so in long runs.

    python -m benchmarks.health [--tensors 300] [--statistics 30e6] [--batch 32]

Feeds a synthetic run as a server would: batches of rows, findings read after each. Prints a line per table size and
kind of run; "late / early" compares the last tenth of the run with the second one: 1.0 is flat. Times are of the
processor, not of the wall clock.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

from gradwatch.protocol import STATISTICS
from gradwatch_server.health import Engine

SCALARS = ["loss", "learning_rate", "gradient_norm"]
KINDS = ("gradient", "weight", "update", "activation", "backprop")
LAYER_KINDS = KINDS[3:]
PERIOD_ROWS = 512


def main() -> None:
    """Runs the benchmark and prints its table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tensors", type=int, nargs="+", default=[30, 300, 3_000], help="rows of the tensor table")
    parser.add_argument("--statistics", type=float, default=30e6, help="statistics to feed in each measurement")
    parser.add_argument("--batch", type=int, default=32, help="rows fed at once")
    options = parser.parse_args()
    print(
        f"{'run':<8}{'tensors':>9}{'rows':>9}{'M statistics/s':>17}{'us/row':>10}{'late / early':>14}{'findings':>10}"
    )
    for kind in ("healthy", "thinned", "NaN", "dead"):
        for n_tensors in options.tensors:
            n_rows = max(20 * options.batch, int(options.statistics / n_tensors / len(STATISTICS)))
            measure(kind, n_tensors, n_rows, options.batch)


def measure(kind: str, n_tensors: int, n_rows: int, batch: int) -> None:
    """Feeds one run and prints its line."""
    tensors, statistics = build(kind, n_tensors)
    engine = Engine()
    engine.add_stream(0, "adam", tensors, SCALARS)
    present = np.ones((batch, len(SCALARS)), bool)
    seconds = []
    for start in range(0, n_rows, batch):
        place = start % (PERIOD_ROWS - batch)
        scalars = np.full((batch, len(SCALARS)), 1.0 / (1 + start), np.float32)
        steps = np.arange(start, start + batch, dtype=np.int64)
        begin = time.process_time()
        engine.feed_rows(0, steps, statistics[place : place + batch], scalars, present)
        _ = engine.revision
        seconds.append(time.process_time() - begin)
    tenth = max(1, len(seconds) // 10)
    early, late = np.median(seconds[tenth : 2 * tenth]), np.median(seconds[-tenth:])
    n_fed = len(seconds) * batch
    rate = n_fed * len(tensors) * len(STATISTICS) / sum(seconds)
    print(
        f"{kind:<8}{n_tensors:>9,}{n_fed:>9,}{rate / 1e6:>17.2f}{1e6 * sum(seconds) / n_fed:>10.1f}"
        f"{late / early:>14.2f}{len(engine.findings()):>10}"
    )


def build(kind: str, n_tensors: int) -> tuple[list[dict[str, object]], np.ndarray]:
    """A tensor table of gradients, weights, updates, activations and backprop, and rows to feed again and again."""
    n = n_tensors // len(KINDS)
    tensors: list[dict[str, object]] = [
        {"kind": kind_, "tensor": f"d{i}" if kind_ in LAYER_KINDS else f"d{i}/kernel", "layer": f"d{i}",
         "variable": "kernel", "shape": [64, 64], "dtype": "float32", "n_elements": 4_096,
         "activation": "relu" if kind_ == "activation" else None}
        for kind_ in KINDS
        for i in range(n)
    ]  # fmt: skip
    random = np.random.default_rng(0)
    norm = np.exp(0.3 * random.standard_normal((PERIOD_ROWS, len(tensors)))).astype(np.float32)
    statistics = np.zeros((PERIOD_ROWS, len(tensors), len(STATISTICS)), np.float32)
    statistics[:, :, :5] = norm[:, :, None]
    statistics[:, :, STATISTICS.index("n_elements")] = 4_096
    statistics[:, :, STATISTICS.index("n_zero")] = 2_048
    statistics[:, :, STATISTICS.index("n_saturated")] = np.nan
    statistics[:, 3 * n : 4 * n, STATISTICS.index("n_saturated")] = 64
    statistics[:, :, STATISTICS.index("cosine_distance")] = np.nan
    statistics[:, 3 * n : 4 * n, STATISTICS.index("cosine_distance")] = 0.4
    # As in training: of a weight's mean nothing changes but by its update.
    statistics[:, n : 3 * n, STATISTICS.index("mean")] = 0
    if kind == "thinned":
        is_due = np.arange(PERIOD_ROWS) % 10 == 0
        statistics[~is_due, n:] = np.nan
        statistics[~is_due, :n, 1:5] = np.nan
        statistics[~is_due, :n, 8] = np.nan
    if kind == "dead":
        statistics[:, 3 * n : 3 * n + n // 2 + 1, STATISTICS.index("n_saturated")] = 4_096
    if kind == "NaN":
        statistics[:, : n // 2 + 1, 5] = 17
    return tensors, statistics


if __name__ == "__main__":
    main()
