"""States of recurrent layers that go on over shuffled samples: told with their layer, and only then."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from gradwatch.slips.script.stateful import find_stateful
from tests.hook.fed import found_while_it_trains

CAPTURE = ("gradient", "operation")

STATEFUL = """
memory = keras.layers.LSTM(4, stateful={stateful}, name="memory")
model = keras.Sequential([keras.Input(batch_shape=(20, 1, 3)), memory, keras.layers.Dense(1)])
model.compile("sgd", "mse")


class Look(keras.callbacks.Callback):
    def on_train_batch_begin(self, batch, logs=None):
        global found
        found = find([model])


sequences = {data}
model.fit(sequences, {given}callbacks=[Look()], verbose=0)
"""
ARRAYS = "x[:, None]"
SET = "tf.data.Dataset.from_tensor_slices((x[:, None], y)).batch(20, drop_remainder=True)"


@pytest.fixture
def find(tmp_path: Path) -> Callable[[str], list[dict[str, Any]]]:
    return partial(found_while_it_trains, tmp_path, find_stateful)


@pytest.mark.filterwarnings("ignore:.shuffle=True. was passed")
@pytest.mark.filterwarnings("ignore:Your input ran out of data")
@pytest.mark.parametrize(
    ("stateful", "data", "given", "is_told"),
    [
        (True, ARRAYS, "y, batch_size=20, ", True),
        (True, ARRAYS, "y, batch_size=20, shuffle=False, ", False),
        (True, SET, "", False),
        (True, f"{SET}.shuffle(9)", "", True),
        (True, f"{SET}.shuffle(9).window(1).flat_map(lambda x, y: tf.data.Dataset.zip((x, y)))", "", False),
        (False, ARRAYS, "y, batch_size=20, ", False),
    ],
    ids=["shuffled", "in order", "a data set", "a shuffled one", "one of shuffled sequences", "without a state"],
)
def test_a_state_that_goes_on_over_shuffled_samples(
    find: Any, stateful: bool, data: str, given: str, is_told: bool
) -> None:
    found = find(STATEFUL.format(stateful=stateful, data=data, given=given))
    assert [(one["layer"].rpartition("/")[2], one["stateful"]) for one in found] == [("memory", True)] * is_told
    assert all(one["source"]["code"].startswith("model.fit(sequences") for one in found)
