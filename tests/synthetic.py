"""A hook without TensorFlow: streams an invented but plausible run over the real websocket.

    python -m tests.synthetic --url http://127.0.0.1:8470 --kind sick --layers 60 --steps 900 [--pace 50] [--crash]

The numbers are drawn from a seed: the same arguments give the same run. ``healthy`` converges; ``sick`` has one
layer whose gradient grows for some dozens of steps, then holds NaN at `SyntheticRun.onset`, after which every weight is
NaN. `tests.synthetic_layers` has runs whose layers and inputs are captured too.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import Any

import numpy as np
import numpy.typing as npt
from websockets.sync.client import ClientConnection

from gradwatch.protocol import PROTOCOL_VERSION, STATISTICS, decode, encode, name_correlation, rows_message
from tests.serving import PATIENCE_S, connect

__all__ = ["SyntheticHook", "SyntheticRun", "stream"]

Message = dict[str, Any]
Float32 = npt.NDArray[np.float32]
NORM, MIN, MAX, MEAN, STD, N_NAN, N_POS_INF, N_NEG_INF, N_ZERO, N_ELEMENTS, N_SATURATED, COSINE_DISTANCE = range(
    len(STATISTICS)
)
KINDS = ("gradient", "weight", "update")
SCALARS = ["loss", "learning_rate", "gradient_norm"]
LEARNING_RATE = 1e-3
"""Of a hook: a server on a machine that is busy with other things may say nothing for a while."""


@dataclass
class SyntheticRun:
    """An invented run.

    Attributes:
        kind: ``healthy`` or ``sick``.
        layers: how many dense layers, each with kernel and bias.
        steps: how many steps.
        run_id, name, project, tags, config: how it presents itself.
        seed: what its numbers are drawn from.
        started_at: unix seconds.
        steps_per_s: the training's own pace, as its times tell it.
        rows_per_message: rows in one message.
        worker: which of the run's workers speaks.
        targets: its targets; outputs follow the first, and none of the others.
        linear_fit: how far a linear fit follows the first, from the fifth part of the run on; None: not told.
    """

    kind: str = "healthy"
    layers: int = 12
    steps: int = 300
    run_id: str = ""
    name: str = ""
    project: str = "synthetic"
    tags: tuple[str, ...] = ("invented",)
    config: dict[str, Any] = field(default_factory=dict)
    seed: int = 0
    started_at: float = 0.0
    steps_per_s: float = 40.0
    rows_per_message: int = 8
    worker: int = 0
    targets: tuple[str, ...] = ()
    linear_fit: float | None = None

    def __post_init__(self) -> None:
        self.started_at = self.started_at or time.time()
        stamp = datetime.fromtimestamp(self.started_at, timezone.utc).strftime("%Y%m%d-%H%M%S")
        self.run_id = self.run_id or f"{stamp}-{self.kind}-{np.random.default_rng().integers(16**6):06x}"
        self.name = self.name or f"synthetic-{self.kind}"
        self.config = self.config or {"optimizer": {"name": "adam", "learning_rate": LEARNING_RATE}, "batch_size": 128}
        self._rng = np.random.default_rng(self.seed)
        self.tensors = self._make_tensors()
        self._sizes = np.array([tensor["n_elements"] for tensor in self.tensors], np.float32)

    @property
    def onset(self) -> int:
        """The step of the first NaN of a sick run."""
        return int(self.steps * 0.7)

    @property
    def sick_tensor(self) -> str:
        """The variable whose gradient is NaN first."""
        return self._variable(self.layers // 2, "kernel")

    def hello(self) -> Message:
        run = {
            "run_id": self.run_id,
            "name": self.name,
            "project": self.project,
            "tags": list(self.tags),
            "config": self.config,
            "started_at": self.started_at,
            "environment": {"python": "3.11", "tensorflow": None, "host": "synthetic"},
        }
        return {"type": "hello", "protocol": PROTOCOL_VERSION, "run": run, "worker": self.worker}

    def log(self, *, crash: bool = False) -> Iterator[Message]:
        """All logged messages in order; ``crash`` ends it as a training does that raised."""
        yield {
            "type": "tensors",
            "seq": 0,
            "stream": 0,
            "optimizer": "adam",
            "tensors": self.tensors,
            "scalars": [
                *SCALARS,
                *map(name_correlation, self.targets),
                *["linear_fit"] * (self.linear_fit is not None),
            ],
            "statistics": list(STATISTICS),
        }
        seq = 1
        for first in range(0, self.steps, self.rows_per_message):
            yield self.rows(seq, np.arange(first, min(first + self.rows_per_message, self.steps)))
            seq += 1
        error = "InvalidArgumentError: loss is not finite" if crash else None
        state = "crashed" if crash else "finished"
        yield {"type": "state", "seq": seq, "state": state, "error": error, "last_step": self.steps - 1}

    def rows(self, seq: int, steps: npt.NDArray[np.int64]) -> Message:
        """The message with these steps."""
        statistics = self.statistics(steps)
        gradients = statistics[:, : len(self._sizes) : len(KINDS), NORM].astype(np.float64)
        norm = np.sqrt(np.nansum(gradients**2, axis=1))
        scalars = np.stack([self._loss(steps), np.full(len(steps), LEARNING_RATE), norm], axis=1)
        if self.kind == "sick":
            scalars[steps >= self.onset, 2] = np.nan
        scalars = np.concatenate([scalars, self._correlations(steps)], 1)
        if self.linear_fit is not None:
            scalars = np.column_stack([scalars, np.where(steps < self.steps // 5, np.nan, self.linear_fit)])
        return rows_message(
            seq=seq,
            stream=0,
            steps=steps,
            times=self.started_at + (steps + 1) / self.steps_per_s,
            statistics=statistics,
            scalars=scalars.astype(np.float32),
            scalars_present=(~np.isnan(scalars) | (np.arange(scalars.shape[1]) < len(SCALARS))).astype(np.uint8),
            n_lost=0,
            cost=0.011,
        )

    def statistics(self, steps: npt.NDArray[np.int64]) -> Float32:
        """``[n, n_tensors, n_statistics]``: the statistics of these steps."""
        n, width = len(steps), len(self._sizes)
        depth = np.repeat(np.linspace(0, 1, self.layers), 2 * len(KINDS))
        progress = (steps / max(self.steps, 1))[:, None]
        is_bias = np.tile(np.repeat([0.0, 1.0], len(KINDS)), self.layers)
        noise = np.exp(self._rng.normal(0, 0.18, (n, width)))
        gradient = (0.02 + 0.5 * depth**2) * (1 - 0.7 * progress) * 10.0 ** (-0.7 * is_bias) * noise
        weight = np.sqrt(self._sizes) * 0.06 * (1 + 0.4 * progress) * np.ones((n, 1))
        update = weight * 10.0 ** (-2.8 - 0.6 * progress) * noise**0.3
        if self.kind == "sick":
            gradient *= 10.0 ** (self._swelling(steps)[:, None] * (1 - 2.5 * np.abs(depth - 0.5)).clip(0.1))
        kinds = np.tile(np.arange(len(KINDS)), 2 * self.layers)
        norm = np.choose(kinds, [gradient, weight, update])
        rms = norm / np.sqrt(self._sizes)
        block = np.zeros((n, width, len(STATISTICS)), np.float32)
        block[..., NORM], block[..., STD] = norm, rms
        block[..., MIN], block[..., MAX], block[..., MEAN] = -3.1 * rms, 3.0 * rms, 0.01 * rms
        block[..., MEAN] *= np.where(kinds == KINDS.index("update"), -1.0, 1.0)  # down the gradient
        block[..., N_ELEMENTS] = self._sizes
        block[..., N_SATURATED] = block[..., COSINE_DISTANCE] = np.nan
        if self.kind == "sick":
            self._poison(block, steps)
        return block

    def _correlations(self, steps: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
        learned = 0.9 * (1 - np.exp(-8 * steps / max(self.steps, 1)))
        is_first = np.arange(len(self.targets)) == 0
        return learned[:, None] * is_first + self._rng.normal(0, 0.03, (len(steps), len(self.targets)))

    def _swelling(self, steps: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
        """Decades by which the gradients of a sick run have grown."""
        before = max(20, self.steps // 8)
        return 5.0 * np.clip((steps - (self.onset - before)) / before, 0, 1) ** 2

    def _poison(self, block: Float32, steps: npt.NDArray[np.int64]) -> None:
        sick = [(t["kind"], t["tensor"]) for t in self.tensors].index(("gradient", self.sick_tensor))
        rows = steps == self.onset
        block[rows, sick, N_NAN] = np.ceil(self._sizes[sick] / 12)
        # The optimizer applies it: that weight is NaN after the step, and with the next forward pass everything.
        for flooded, where in ((rows, slice(sick + 1, sick + 3)), (steps > self.onset, slice(None))):
            block[flooded, where, :N_NAN] = np.nan
            block[flooded, where, N_NAN] = self._sizes[where]

    def _loss(self, steps: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
        smooth = 0.15 + 2.2 * np.exp(-4.0 * steps / max(self.steps, 1))
        loss = smooth * np.exp(self._rng.normal(0, 0.04, len(steps)))
        if self.kind == "sick":
            loss *= 1 + self._swelling(steps)
            loss[steps > self.onset] = np.nan
        return loss

    def _variable(self, layer: int, name: str) -> str:
        return f"mlp/dense_{layer}/{name}"

    def _make_tensors(self) -> list[Message]:
        return [
            {
                "kind": kind,
                "tensor": self._variable(layer, name),
                "layer": f"mlp/dense_{layer}",
                "variable": self._variable(layer, name),
                "shape": shape,
                "dtype": "float32",
                "n_elements": int(np.prod(shape)),
            }
            for layer in range(self.layers)
            for name, shape in (("kernel", [128, 128]), ("bias", [128]))
            for kind in KINDS
        ]


class SyntheticHook:
    """The hook's end of the socket, without its queue: sends what it is told, and keeps what comes back.

    Args:
        url: the server's address, ``http://...``.
        run: who it speaks for.
        token: what the server asks for.
    """

    def __init__(self, url: str, run: SyntheticRun, token: str | None = None) -> None:
        headers = {"Authorization": f"Bearer {token}"} if token else None
        address = url.replace("http", "ws", 1) + "/ws/ingest"
        self.run = run
        self._open = ExitStack()
        self.socket: ClientConnection = self._open.enter_context(
            connect(address, additional_headers=headers, max_size=None)
        )
        self.acked = -1
        self.findings: list[Message] = []
        self.through_seq = -1

    def __enter__(self) -> SyntheticHook:
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    def greet(self) -> int:
        """Says hello; returns the newest seq that the server has."""
        self.send(self.run.hello())
        welcome = self.receive()
        if welcome["type"] != "welcome":
            raise RuntimeError(f"expected welcome, got {welcome}")
        self.acked = welcome["last_seq"]
        return self.acked

    def send(self, message: Message) -> None:
        self.socket.send(encode(message))

    def receive(self, timeout_s: float | None = PATIENCE_S) -> Message:
        """The next message, noted if it is an acknowledgement or findings."""
        message = decode(self.socket.recv(timeout=timeout_s))
        if message["type"] == "ack":
            self.acked = message["seq"]
        elif message["type"] == "findings":
            self.findings, self.through_seq = message["findings"], message["through_seq"]
        elif message["type"] == "error":
            raise RuntimeError(f"{message['code']}: {message['message']}")
        return message

    def drain(self) -> None:
        """Notes what has come, without waiting."""
        with suppress(TimeoutError):
            while True:
                self.receive(timeout_s=0)

    def wait_for_ack(self, seq: int) -> None:
        """Waits until everything up to ``seq`` is committed."""
        while self.acked < seq:
            self.receive()

    def wait_for_verdict(self, seq: int) -> list[Message]:
        """Waits for the findings through ``seq``."""
        while self.through_seq < seq:
            self.receive()
        return self.findings


def stream(
    url: str, run: SyntheticRun, *, token: str | None = None, pace: float | None = None, crash: bool = False
) -> list[Message]:
    """Streams a whole run, and waits until all of it is committed and judged.

    Args:
        url: the server's address.
        run: the run.
        token: what the server asks for.
        pace: steps per second; None sends as fast as the server takes.
        crash: end as a training that raised.

    Returns:
        The findings.
    """
    started = time.monotonic()
    with SyntheticHook(url, run, token) as hook:
        last = hook.greet()
        for message in run.log(crash=crash):
            if message["type"] == "rows" and pace:
                step = int(np.frombuffer(message["steps"], "<i8")[-1])
                time.sleep(max(0.0, started + step / pace - time.monotonic()))
            if message["seq"] > last:
                hook.send(message)
                hook.drain()
        return hook.wait_for_verdict(message["seq"])


def main() -> None:
    """Streams a run as the arguments say, and prints its page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--url", default="http://127.0.0.1:8470")
    parser.add_argument("--token")
    parser.add_argument("--kind", choices=("healthy", "sick"), default="sick")
    parser.add_argument("--layers", type=int, default=60)
    parser.add_argument("--steps", type=int, default=900)
    parser.add_argument("--pace", type=float, help="steps per second; default: as fast as the server takes")
    parser.add_argument("--crash", action="store_true", help="end as a training that raised")
    parser.add_argument("--name", default="")
    parser.add_argument("--project", default="synthetic")
    parser.add_argument("--run-id", default="")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    run = SyntheticRun(
        kind=args.kind,
        layers=args.layers,
        steps=args.steps,
        run_id=args.run_id,
        name=args.name,
        project=args.project,
        seed=args.seed,
        steps_per_s=args.pace or 40.0,
    )
    print(f"{args.url}/runs/{run.run_id}", flush=True)
    findings = stream(args.url, run, token=args.token, pace=args.pace, crash=args.crash)
    print("\n".join(f"{finding['severity']}: {finding['title']}" for finding in findings) or "healthy")


if __name__ == "__main__":
    main()
