"""The answer on an input's columns, as the page's tests read it: the second feature breaks at step 4."""

import numpy as np
import pytest

from gradwatch.protocol import STATISTICS, columns_message
from tests.contract.snapshots_io import check
from tests.serving import Server
from tests.synthetic import SyntheticHook, SyntheticRun

TENSOR = {"kind": "input", "layer": "", "variable": None, "shape": [None, 3], "dtype": "float32", "n_elements": 0}
STEPS = np.arange(0, 8, 2)


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    table = {
        "type": "tensors",
        "seq": 0,
        "stream": 0,
        "optimizer": "adam",
        "tensors": [TENSOR | {"tensor": name} for name in ("input", "target")],
        "scalars": [],
        "statistics": list(STATISTICS),
    }
    columns = np.tile(np.array([[0, -1, 1], [0, 0, 9.5], [0, -2.5, 0]], np.float32), (len(STEPS), 1, 1))
    columns[2:, 1] = [32, np.nan, np.nan]
    message = columns_message(
        seq=1,
        stream=0,
        tensor="input",
        steps=STEPS,
        times=1.79e9 + STEPS,
        columns=columns,
        bad_rows=np.array([[-1] * 8] * 2 + [list(range(8))] * 2),
        n_bad_rows=np.array([0, 0, 32, 32]),
    )
    with Server(tmp_path_factory.mktemp("inputs")) as running:
        with SyntheticHook(running.url, SyntheticRun(run_id="inputs")) as hook:
            hook.greet()
            hook.send(table)
            hook.send(message)
            hook.wait_for_ack(1)
        yield running


@pytest.mark.parametrize(("name", "query"), [("columns", "tensor=input"), ("columns_empty", "tensor=target")])
def test_answer(server: Server, name: str, query: str) -> None:
    check(name, server.get(f"/api/runs/inputs/columns?{query}"))
