"""The messages between hook and server, byte for byte: what is on the wire may not change unnoticed."""

import base64
from typing import Any

import numpy as np
import pytest

from gradwatch import protocol
from gradwatch.protocol import (
    OPERATION_STATISTICS,
    PROTOCOL_VERSION,
    columns_message,
    decode,
    decode_rows,
    decode_scalars,
    encode,
    rows_message,
    scalars_message,
)
from gradwatch_server.errors import MessageError
from gradwatch_server.messages import StreamTable, read_frame, read_hello
from tests.contract.snapshots_io import check, read

TENSORS = [
    {
        "kind": kind,
        "tensor": "mlp/dense/kernel",
        "layer": "mlp/dense",
        "variable": "mlp/dense/kernel",
        "shape": [2, 3],
        "dtype": "float32",
        "n_elements": 6,
    }
    for kind in ("gradient", "weight")
]
OPERATIONS = [
    {
        "type": "SqrtGrad",
        "name": "gradient_tape/norm/SqrtGrad",
        "layer": "mlp/norm",
        "is_gradient": True,
        "forward": {"type": "Sqrt", "name": "norm/Sqrt"},
        "source": {
            "file": "train.py",
            "line": 2,
            "code": "dist = tf.norm(a - b, axis=0)",
            "excerpt": {
                "first": 1,
                "lines": ["def spread(a, b):", "    dist = tf.norm(a - b, axis=0)", "    return dist"],
            },
        },
    },
    {
        "type": "While",
        "name": "mlp/cell/while",
        "layer": "mlp/cell",
        "is_gradient": False,
        "forward": None,
        "source": None,
        "inside": [{"type": "Exp", "source": {"file": "cell.py", "line": 7, "code": "fade = tf.exp(-gap)"}}],
    },
]
STATISTICS = np.arange(48, dtype=np.float32).reshape(2, 2, 12)
STATISTICS[1, 0, :5] = np.nan
STEPS, TIMES = np.array([0, 1]), np.array([1.79e9, 1.79e9 + 0.025])

WITHIN = {
    "kind": "activation",
    "tensor": "mlp/gate/sigmoid",
    "layer": "mlp/gate",
    "variable": "",
    "shape": [None, 3],
    "dtype": "float32",
    "n_elements": 0,
    "activation": "sigmoid",
    "within": True,
    "source": {"file": "train.py", "line": 9, "code": "gate = tf.sigmoid(x / temperature)"},
}

MESSAGES: dict[str, dict[str, Any]] = {
    "tensors_within": {
        "type": "tensors",
        "seq": 0,
        "stream": 1,
        "optimizer": "sgd",
        "tensors": [TENSORS[0], WITHIN],
        "scalars": ["loss"],
    },
    "hello": {
        "type": "hello",
        "protocol": PROTOCOL_VERSION,
        "run": {
            "run_id": "20260921-141320-k3x9",
            "name": "mlp-digits",
            "project": "demo",
            "tags": ["baseline"],
            "config": {"learning_rate": 0.001},
            "started_at": 1.79e9,
            "environment": {"tensorflow": "2.21.0"},
        },
        "worker": 0,
    },
    "tensors": {
        "type": "tensors",
        "seq": 0,
        "stream": 0,
        "optimizer": "adam",
        "tensors": TENSORS,
        "scalars": ["loss", "gradient_norm"],
        "operations": OPERATIONS,
        "statistics": list(protocol.STATISTICS),
        "untrained": ["head/kernel"],
        "untracked": ["mixer/w"],
        "broken": ["embedding/embeddings"],
        "settings": {"class": "Adam", "learning_rate": 0.001, "use_ema": False, "ema_overwrite_frequency": 100},
        "broadcasts": [{"type": "Sub", "name": "sub", "source": {"file": "train.py", "line": 5, "code": "d = a - b"}}],
        "cuts": [{"type": "Round", "name": "Round", "layer": "encoder", "source": None}],
        "reshapes": [
            {
                "name": "Reshape",
                "layer": "encoder",
                "source": None,
                "input_shape": [-1, 6, 160],
                "output_shape": [-1, 160, 6],
            }
        ],
        "slips": [{"type": "Equal", "name": "Equal", "layer": None, "source": None}],
        "traced": [
            {"name": "rng.normal()", "value": None, "source": {"file": "train.py", "line": 6, "code": "x += draw()"}},
            {
                "name": "beta",
                "value": 0.5,
                "source": {"file": "train.py", "line": 7, "code": "loss += beta * penalty"},
                "changed_at": {"file": "train.py", "line": 9, "code": "beta += 0.1"},
            },
        ],
        "alike": ["factors/kernel"],
        "script": {
            "calls": [
                {
                    "role": "layer",
                    "layer": "head",
                    "n": 1,
                    "file": "train.py",
                    "line": 3,
                    "begins": 2,
                    "lines": ['    layers.Dense(1, activation="relu"),'],
                    "start": 4,
                    "end": 37,
                }
            ],
            "imports": {"keras.layers": "layers"},
        },
        "from_tape": True,
        "eager": True,
        "loss_source": {"file": "train.py", "line": 7, "code": "loss = mse(y, model(x))", "excerpt": None},
        "cleared_source": {"file": "train.py", "line": 9, "code": "clear()", "excerpt": None},
    },
    "rows": rows_message(
        seq=1,
        stream=0,
        steps=STEPS,
        times=TIMES,
        statistics=STATISTICS,
        scalars=np.array([[2.5, 0.5], [np.inf, np.nan]], np.float32),
        scalars_present=np.array([[1, 1], [1, 0]], np.uint8),
        n_lost=3,
        cost=0.012,
        n_skipped=1,
        operations=np.array([[[0, 0, 0.5, 2, 0, 6]] * 2, [[1, 0, 0, np.inf, 1, 6]] * 2], np.float32),
        assigned=[
            {
                "step": 0,
                "left": 0.05,
                "source": {
                    "file": "train.py",
                    "line": 9,
                    "code": "model.set_weights(average)",
                    "excerpt": None,
                },
            },
            {"step": 1, "left": None, "source": None},
        ],
    ),
    "scalars": scalars_message(
        seq=2, name="val_loss", steps=STEPS, times=TIMES, values=np.array([1.5, np.nan], np.float32)
    ),
    "columns": columns_message(
        seq=1,
        stream=1,
        tensor="input",
        steps=STEPS,
        times=TIMES,
        columns=np.array([[[0, -1, 1], [2, np.nan, np.nan]], [[0, -1, 1], [0, 0, 3]]], np.float32),
        bad_rows=np.array([[0, 7, *[-1] * 6], [-1] * 8]),
        n_bad_rows=np.array([2, 0]),
        n_lost=1,
    ),
    "state": {"type": "state", "seq": 3, "state": "crashed", "error": "loss is not finite", "last_step": 1},
    "capture": {
        "type": "capture",
        "seq": 4,
        "step": 40,
        "period": 1,
        "every": 0,
        "kinds": ["gradient", "weight", "update"],
        "until_step": 90,
        "cost": 0.16,
        "reason": "control",
    },
    "control": {
        "type": "control",
        "id": "0123456789abcdef",
        "every": 0,
        "kinds": ["gradient", "weight"],
        "everything_for": 50,
        "stop": "loss is NaN since step 812",
    },
    "welcome": {
        "type": "welcome",
        "protocol": PROTOCOL_VERSION,
        "run_id": "20260921-141320-k3x9",
        "last_seq": -1,
        "server_version": "0.1.0",
    },
    "ack": {"type": "ack", "seq": 3},
    "findings": {"type": "findings", "run_id": "20260921-141320-k3x9", "through_seq": 3, "findings": []},
    "error": MessageError(
        "sequence_gap", "Message 5 came where 4 was expected; send what is in between first."
    ).to_json(),
}


@pytest.mark.parametrize("name", MESSAGES)
def test_message_on_the_wire(name: str) -> None:
    encoded = encode(MESSAGES[name])
    check(f"protocol_{name}", {"fields": sorted(MESSAGES[name]), "msgpack": base64.b64encode(encoded).decode()})
    assert decode(encoded) == MESSAGES[name]


def recorded(name: str) -> bytes:
    return base64.b64decode(read(f"protocol_{name}")["msgpack"])


def test_the_server_understands_what_is_recorded() -> None:
    assert read_hello(decode(recorded("hello"))).run.run_id == "20260921-141320-k3x9"
    table = read_frame(decode(recorded("tensors")), recorded("tensors"), {})
    streams = {0: StreamTable.of(table.fields)}
    for seq, name in enumerate(("tensors", "rows", "scalars", "state", "capture")):
        frame = read_frame(decode(recorded(name)), recorded(name), streams)
        assert (frame.seq, frame.type) == (seq, name)


def test_the_server_understands_the_columns_of_an_input() -> None:
    table = StreamTable([TENSORS[0] | {"kind": "input", "tensor": "input"}], [], "adam")
    frame = read_frame(decode(recorded("columns")), recorded("columns"), {1: table})
    assert frame.fields.n_lost == 1
    assert frame.arrays["bad_rows"][0, :3].tolist() == [0, 7, -1]
    assert frame.arrays["n_bad_rows"].tolist() == [2, 0]
    np.testing.assert_array_equal(frame.arrays["columns"][0], [[0, -1, 1], [2, np.nan, np.nan]])


def test_blocks_come_back_as_arrays() -> None:
    rows = decode_rows(decode(recorded("rows")), n_tensors=2, n_scalars=2, n_operations=2)
    assert rows["operations"].shape == (2, 2, len(OPERATION_STATISTICS))
    assert rows["operations"][1, 0, OPERATION_STATISTICS.index("amplification")] == np.inf
    np.testing.assert_array_equal(rows["statistics"], STATISTICS)
    np.testing.assert_array_equal(rows["steps"], STEPS)
    np.testing.assert_array_equal(rows["times"], TIMES)
    assert rows["scalars"][1, 0] == np.inf
    assert rows["scalars_present"].tolist() == [[True, True], [True, False]]
    scalars = decode_scalars(decode(recorded("scalars")))
    assert scalars["values"][0] == 1.5
    assert np.isnan(scalars["values"][1])
