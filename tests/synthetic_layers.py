"""A hook without TensorFlow that captures layers and inputs too: activations, backprop, input columns, the cadence.

    python -m tests.synthetic_layers --url http://127.0.0.1:8470 --kind dirty --period 8 [--pace 40]

``sick`` names the operation that made the first NaN; ``dirty`` is fed an input with broken columns from
`SyntheticRun.onset` on.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gradwatch.protocol import STATISTICS
from tests.synthetic import (
    COSINE_DISTANCE,
    KINDS,
    MAX,
    MEAN,
    MIN,
    N_ELEMENTS,
    N_NAN,
    N_NEG_INF,
    N_SATURATED,
    N_ZERO,
    NORM,
    STD,
    Float32,
    Message,
    SyntheticRun,
    stream,
)

__all__ = ["BAD_COLUMNS", "LayeredRun"]

BATCH, UNITS, FEATURES = 128, 128, 30
BAD_COLUMNS = (4, 17)
"""The input's columns that hold NaN in a ``dirty`` run from the onset on: one at every step, the other at some."""
N_BAD_ROWS = 8
BUDGET_COST = 0.017
COLLAPSED_DEPTH = 0.6
MEASURED_STEPS = 40
"""Steps before the hook knows what it costs, and thins."""


@dataclass
class LayeredRun(SyntheticRun):
    """A run with ``activation`` and ``backprop`` of each layer, and the tensors that enter the step.

    Attributes:
        period: full rows at every so many steps, from `MEASURED_STEPS` on.
        is_dead: whether one layer's units die.
        is_collapsed: whether the last third of the layers comes to give the same for every sample.
    """

    period: int = 1
    is_dead: bool = False
    is_collapsed: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        self.layer_names = list(dict.fromkeys(tensor["layer"] for tensor in self.tensors))
        self.tensors = [*self.tensors, *self._make_layers(), *self._make_inputs()]

    @property
    def collapsed_layer(self) -> str:
        """The first layer that comes to give the same for every sample in a run that `is_collapsed`."""
        depth = np.linspace(0, 1, len(self.layer_names))
        return self.layer_names[int(np.argmax(depth >= COLLAPSED_DEPTH))]

    @property
    def dead_layer(self) -> str:
        """The layer whose units die in a run that `is_dead`."""
        return self.layer_names[len(self.layer_names) // 3]

    def log(self, *, crash: bool = False) -> Iterator[Message]:
        for seq, message in enumerate(self._messages(crash)):
            yield message | {"seq": seq}

    def _messages(self, crash: bool) -> Iterator[Message]:
        for message in super().log(crash=crash):
            yield message
            if message["type"] == "tensors":
                yield self.capture(0, period=1, cost=None)
            if message["type"] != "rows":
                continue
            steps = np.frombuffer(message["steps"], "<i8")
            yield self.columns(0, steps)
            if self.period > 1 and steps[0] <= MEASURED_STEPS <= steps[-1]:
                yield self.capture(0, period=self.period, cost=BUDGET_COST, step=MEASURED_STEPS)

    def capture(
        self, seq: int, *, period: int, cost: float | None, step: int = 0, reason: str = "budget", **more: Any
    ) -> Message:
        """The message that tells a new cadence."""
        kinds = [*KINDS, "activation", "backprop", "input"]
        return {
            "type": "capture", "seq": seq, "step": step, "period": period, "every": 1, "kinds": kinds,
            "until_step": None, "cost": cost, "reason": reason, **more,
        }  # fmt: skip

    def rows(self, seq: int, steps: npt.NDArray[np.int64]) -> Message:
        message = super().rows(seq, steps)
        return message | {"origins": [self.origin()]} if self.kind == "sick" and self.onset in steps else message

    def origin(self) -> Message:
        """The operation of a ``sick`` run that made the first NaN, and the way from it to the gradient."""
        layer = self.sick_tensor.rpartition("/")[0]
        source = {"file": "/home/ada/digits/train.py", "line": 47, "code": "scale = tf.norm(features, axis=-1)"}
        lines = [
            "    def call(self, features):",
            "        # each sample on the unit sphere",
            f"        {source['code']}",
            "        return features / scale[:, None]",
            "",
        ]
        source |= {"excerpt": {"first": 45, "lines": lines}}

        def link(kind: str, name: str, n: int, is_gradient: bool = True) -> Message:
            return {"type": kind, "name": name, "layer": layer, "is_gradient": is_gradient, "n_nonfinite": n}

        chain = [
            link("SqrtGrad", f"gradient_tape/{layer}/norm/SqrtGrad", 12),
            link("Reshape", f"gradient_tape/{layer}/norm/Reshape", 12),
            link("BroadcastTo", f"gradient_tape/{layer}/norm/BroadcastTo", 1536),
            link("Mul", f"gradient_tape/{layer}/norm/mul", 1536),
            link("ReluGrad", f"gradient_tape/{layer}/ReluGrad", 1536),
            link("Transpose", f"gradient_tape/{layer}/MatMul/transpose", 1536),
            link("MatMul", f"gradient_tape/{layer}/MatMul/MatMul_1", 1366),
        ]
        operation = {key: chain[0][key] for key in ("type", "name", "layer", "is_gradient")}
        operation |= {"forward": {"type": "Sqrt", "name": f"{layer}/norm/Sqrt"}, "source": source}
        return {
            "step": self.onset, "operation": operation, "n_nonfinite": 12, "n_nonfinite_in": 0, "n_elements": BATCH,
            "chain": chain,
        }  # fmt: skip

    def columns(self, seq: int, steps: npt.NDArray[np.int64]) -> Message:
        """The message on the columns of ``input`` at these steps, and on the rows of the batch that are broken."""
        found = np.zeros((len(steps), FEATURES, 3), "<f4")
        wave = 1 + np.arange(FEATURES) % 7
        found[..., 1], found[..., 2] = -wave, wave * (1 + 0.1 * np.sin(steps / 9)[:, None])
        bad_rows = np.full((len(steps), N_BAD_ROWS), -1, "<i8")
        n_bad_rows = np.zeros(len(steps), "<i8")
        for row, step in enumerate(steps):
            counts = self._count_bad(int(step))
            found[row, list(BAD_COLUMNS), 0] = counts
            n = int(max(counts))
            n_bad_rows[row] = n
            places = np.sort(np.random.default_rng(int(step)).choice(BATCH, n, replace=False))[:N_BAD_ROWS]
            bad_rows[row, : len(places)] = places
        return {
            "type": "columns", "seq": seq, "stream": 0, "tensor": "input", "n_rows": len(steps), "n_columns": FEATURES,
            "steps": steps.astype("<i8").tobytes(),
            "times": (self.started_at + (steps + 1) / self.steps_per_s).astype("<f8").tobytes(),
            "columns": found.tobytes(), "bad_rows": bad_rows.tobytes(), "n_bad_rows": n_bad_rows.tobytes(),
        }  # fmt: skip

    def _count_bad(self, step: int) -> tuple[int, int]:
        """How many elements of each of `BAD_COLUMNS` are NaN at a step."""
        if self.kind != "dirty" or step < self.onset:
            return 0, 0
        return 3 + step % 9, 2 if step % 8 == 0 else 0

    def statistics(self, steps: npt.NDArray[np.int64]) -> Float32:
        block = np.concatenate([super().statistics(steps), self._layer_block(steps), self._input_block(steps)], axis=1)
        if self.kind == "dirty":
            self._flood(block, steps > self.onset)
        return self._thin(block, steps)

    def _layer_block(self, steps: npt.NDArray[np.int64]) -> Float32:
        n_layers, size = len(self.layer_names), BATCH * UNITS
        depth = np.linspace(0, 1, n_layers)
        noise = np.exp(self._rng.normal(0, 0.1, (len(steps), n_layers)))
        progress = (steps / max(self.steps, 1))[:, None]
        zero_share = (0.42 + 0.1 * np.sin(7 * depth)) * noise**0.2
        dead_share = np.round(0.02 * noise * UNITS) / UNITS
        if self.is_dead:
            place = self.layer_names.index(self.dead_layer)
            dead_share[:, place] = np.round((0.05 + 0.8 * progress[:, 0] ** 2) * UNITS) / UNITS
            zero_share[:, place] = np.maximum(zero_share[:, place], dead_share[:, place] + 0.1)
        distance = (0.55 - 0.2 * depth) * noise
        if self.is_collapsed:
            distance[:, depth >= COLLAPSED_DEPTH] *= np.maximum(np.exp(-12 * progress), 1e-4)
        block = np.zeros((len(steps), 2 * n_layers, len(STATISTICS)), np.float32)
        rms = {0: (0.6 + 0.5 * depth) * noise, 1: (1e-4 + 3e-3 * depth**2) * (1 - 0.6 * progress) * noise}
        for offset, size_of in rms.items():
            part = block[:, offset::2]
            part[..., NORM], part[..., STD] = size_of * np.sqrt(size), size_of
            part[..., MIN], part[..., MAX], part[..., MEAN] = -3 * size_of * offset, 3.4 * size_of, 0.3 * size_of
            part[..., N_ELEMENTS] = size
            part[..., N_SATURATED] = np.nan if offset else np.round(dead_share * UNITS) * BATCH
            part[..., N_ZERO] = np.round(zero_share * size)
            part[..., COSINE_DISTANCE] = np.nan if offset else distance
        if self.kind == "sick":
            self._flood(block, steps > self.onset)
        return block

    def _input_block(self, steps: npt.NDArray[np.int64]) -> Float32:
        block = np.zeros((len(steps), 2, len(STATISTICS)), np.float32)
        block[:, 0, NORM : STD + 1] = np.sqrt(BATCH * FEATURES) * 2.4, -7, 7.4, 0.1, 2.4
        block[:, 1, NORM : STD + 1] = np.sqrt(BATCH) * 5.3, 0, 9, 4.5, 2.9
        block[:, 0, N_ELEMENTS], block[:, 1, N_ELEMENTS] = BATCH * FEATURES, BATCH
        block[..., N_SATURATED] = block[..., COSINE_DISTANCE] = np.nan
        block[:, 0, N_NAN] = [sum(self._count_bad(int(step))) for step in steps]
        return block

    def _flood(self, block: Float32, rows: npt.NDArray[np.bool_]) -> None:
        """Makes everything NaN but the inputs, which stand last and have their own."""
        end = block.shape[1] - (2 if block.shape[1] == len(self.tensors) else 0)
        sizes = block[rows, :end, N_ELEMENTS].copy()
        block[rows, :end, :N_NAN] = np.nan
        block[rows, :end, N_NAN] = sizes
        block[rows, :end, N_ZERO] = 0

    def _thin(self, block: Float32, steps: npt.NDArray[np.int64]) -> Float32:
        """Between full rows only the norm of gradients and non-finite counts of gradients and inputs are known."""
        is_thin = (steps > MEASURED_STEPS) & (steps % self.period != 0)
        kinds = np.array([tensor["kind"] for tensor in self.tensors])
        kept = np.zeros(block.shape[1:], bool)
        kept[kinds == "gradient", NORM] = True
        kept[np.isin(kinds, ("gradient", "input")), N_NAN : N_NEG_INF + 1] = True
        kept[:, N_ELEMENTS] = True
        block[is_thin] = np.where(kept, block[is_thin], np.float32(np.nan))
        return block

    def _loss(self, steps: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
        loss = super()._loss(steps)
        if self.kind == "dirty":
            loss[steps >= self.onset] = np.nan
        return loss

    def _make_layers(self) -> list[Message]:
        shared = {"variable": None, "shape": [None, UNITS], "dtype": "float32", "n_elements": 0, "activation": "relu"}
        return [
            {"kind": kind, "tensor": layer, "layer": layer, **shared}
            for layer in self.layer_names
            for kind in ("activation", "backprop")
        ]

    def _make_inputs(self) -> list[Message]:
        shapes: dict[str, list[int | None]] = {"input": [None, FEATURES], "target": [None]}
        return [
            {
                "kind": "input", "tensor": name, "layer": "", "variable": None, "shape": shape, "dtype": "float32",
                "n_elements": 0, "activation": None,
            }
            for name, shape in shapes.items()
        ]  # fmt: skip


def main() -> None:
    """Streams a run as the arguments say, and prints its page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--url", default="http://127.0.0.1:8470")
    parser.add_argument("--kind", choices=("healthy", "sick", "dirty"), default="dirty")
    parser.add_argument("--layers", type=int, default=20)
    parser.add_argument("--steps", type=int, default=600)
    parser.add_argument("--period", type=int, default=1)
    parser.add_argument("--pace", type=float, help="steps per second; default: as fast as the server takes")
    parser.add_argument("--run-id", default="")
    args = parser.parse_args()
    run = LayeredRun(kind=args.kind, layers=args.layers, steps=args.steps, period=args.period, run_id=args.run_id)
    print(f"{args.url}/runs/{run.run_id}", flush=True)
    findings = stream(args.url, run, pace=args.pace)
    print("\n".join(f"{finding['severity']}: {finding['title']}" for finding in findings) or "healthy")


if __name__ == "__main__":
    main()
