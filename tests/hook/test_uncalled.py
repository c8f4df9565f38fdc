"""Layers of a model's own that nothing calls, and settings that nothing reads, are told; others are not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest
from keras import layers

from gradwatch.slips.script.uncalled import find_uncalled
from tests.hook.diagnosis import find_line

pytestmark = pytest.mark.filterwarnings("ignore:.*does not have a `build:UserWarning")
FILE = str(Path(__file__))
X = np.ones((4, 3), np.float32)


class Forgetful(keras.Model):
    """Makes two layers, and calls one."""

    def __init__(self) -> None:
        super().__init__()
        self.project = layers.Dense(2)
        self.left_behind = layers.Dense(2)  # left behind

    def call(self, x: Any) -> Any:
        return self.project(x)


class Staged(keras.Model):
    """Calls the second of its layers elsewhere."""

    def __init__(self) -> None:
        super().__init__()
        self.first_stage = layers.Dense(2)
        self.second_stage = layers.Dense(2)
        self.no_weights = layers.Dropout(0.1)

    def call(self, x: Any) -> Any:
        return self.first_stage(x)

    def generate(self, x: Any) -> Any:
        return self.second_stage(x)


class Careless(keras.Model):
    """Stores what its loss should be weighed by."""

    def __init__(self, penalty_weight: float, width: int = 2) -> None:
        super().__init__()
        self.penalty_weight = penalty_weight  # stored
        self.width_of_all = width
        self.dense = layers.Dense(2)

    def call(self, x: Any) -> Any:
        return self.dense(x)

    def get_config(self) -> dict[str, Any]:
        return {"penalty_weight": self.penalty_weight}


def of(model: Any) -> list[dict[str, Any]]:
    model(X)
    return find_uncalled([model], [FILE])


def test_a_layer() -> None:
    (found,) = of(Forgetful())
    assert (found["name"], found["uncalled"]) == ("left_behind", "Dense")
    assert found["source"]["line"] == find_line("left behind", Path(__file__))


def test_a_setting() -> None:
    (found,) = of(Careless(10.0))
    assert (found["name"], found["setting"]) == ("penalty_weight", True)
    assert found["source"]["line"] == find_line("stored", Path(__file__))


@pytest.mark.parametrize("model", [Staged(), keras.Sequential([layers.Dense(1)])])
def test_what_is_read(model: Any) -> None:
    assert of(model) == []


def test_another_file_that_reads_it(tmp_path: Path) -> None:
    path = tmp_path / "train.py"
    path.write_text("loss = model.penalty_weight * penalty\nother = 1\n")
    model = Careless(10.0)
    model(X)
    assert find_uncalled([model], [FILE, str(path)]) == []
