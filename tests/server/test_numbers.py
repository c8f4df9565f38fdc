"""What the page draws, against references computed anew from the messages: exact, and honest when down-sampled."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from gradwatch.protocol import STATISTICS
from gradwatch_server.store.reduce import make_buckets, max_of, mean_of, min_of
from tests.serving import Server
from tests.synthetic import SyntheticHook, SyntheticRun, stream

NORM, N_NAN, N_ELEMENTS = (STATISTICS.index(name) for name in ("norm", "n_nan", "n_elements"))


class Recorded:
    """A run on the server beside the arrays that it was made of."""

    def __init__(self, server: Server, run: SyntheticRun, edit=lambda statistics, steps: None, steps=None) -> None:
        self.server, self.run = server, run
        self.steps = np.arange(run.steps) if steps is None else steps
        self.log = list(run.log())
        self.statistics = []
        with SyntheticHook(server.url, run) as hook:
            hook.greet()
            hook.send(self.log[0])
            for seq, chunk in enumerate(np.array_split(self.steps, max(1, len(self.steps) // 7)), start=1):
                message = run.rows(seq, chunk)
                block = (
                    np.frombuffer(message["statistics"], "<f4")
                    .reshape(len(chunk), len(run.tensors), len(STATISTICS))
                    .copy()
                )
                edit(block, chunk)
                self.statistics.append(block)
                hook.send(message | {"statistics": block.tobytes()})
            hook.wait_for_verdict(seq)
        self.block = np.concatenate(self.statistics)

    def get(self, what: str, **query):
        return self.server.get(f"/api/runs/{self.run.run_id}/{what}", **query)

    def column(self, kind: str, tensor: str, statistic: str) -> np.ndarray:
        index = [(t["kind"], t["tensor"]) for t in self.run.tensors].index((kind, tensor))
        return self.block[:, index, STATISTICS.index(statistic)]

    def names(self, kind: str) -> list[str]:
        return [tensor["tensor"] for tensor in self.run.tensors if tensor["kind"] == kind]


def as_array(values) -> np.ndarray:
    return np.array(values, np.float64)


@pytest.fixture(scope="module")
def sick(server: Server) -> Recorded:
    return Recorded(server, SyntheticRun("sick", 3, 200))


@pytest.mark.parametrize("kind", ["gradient", "weight", "update"])
@pytest.mark.parametrize("statistic", STATISTICS)
def test_every_value_comes_back_as_it_was_sent(sick: Recorded, kind: str, statistic: str) -> None:
    heatmap = sick.get("heatmap", kind=kind, statistic=statistic)
    assert heatmap["steps"] == list(range(200))
    assert (heatmap["step_end"], heatmap["downsampled_by"]) == (200, 1)
    assert heatmap["tensors"] == sick.names(kind)
    expected = np.stack([sick.column(kind, name, statistic) for name in sick.names(kind)])
    np.testing.assert_array_equal(as_array(heatmap["values"]).astype(np.float32), expected)
    name = sick.names(kind)[2]
    series = sick.get("series", kind=kind, tensor=name, statistic=statistic)
    for line in ("min", "mean", "max"):
        np.testing.assert_array_equal(as_array(series[line]).astype(np.float32), sick.column(kind, name, statistic))


def test_counts_tell_what_was_not_finite(sick: Recorded) -> None:
    heatmap = sick.get("heatmap")
    expected = np.stack([sick.column("gradient", name, "n_nan") for name in sick.names("gradient")])
    np.testing.assert_array_equal(heatmap["n_nonfinite"], expected)
    assert np.array(heatmap["n_nonfinite"]).sum(axis=0).nonzero()[0][0] == sick.run.onset
    lane = sick.get("nonfinite")
    assert lane["gradient"] == expected.max(axis=0).tolist()
    assert lane["loss"] == [int(step > sick.run.onset) for step in range(200)]


def test_down_sampled_lines_keep_the_extremes(sick: Recorded) -> None:
    name = sick.names("gradient")[0]
    series = sick.get("series", tensor=name, points=30)
    stride = series["downsampled_by"]
    assert stride == 8
    assert series["steps"] == list(range(0, 200, stride))
    truth = sick.column("gradient", name, "norm").astype(np.float64)
    for place, first in enumerate(series["steps"]):
        bucket = truth[first : first + stride]
        finite = bucket[np.isfinite(bucket)]
        if len(finite):
            assert series["min"][place] == pytest.approx(finite.min(), rel=1e-6)
            assert series["max"][place] == pytest.approx(finite.max(), rel=1e-6)
            assert series["mean"][place] == pytest.approx(finite.mean(), rel=1e-6)
        else:
            assert series["mean"][place] is None
    counts = sick.column("gradient", name, "n_nan")
    assert series["n_nonfinite"] == [counts[first : first + stride].max() for first in series["steps"]]


@pytest.mark.parametrize("columns", [1, 2, 7, 64])
def test_an_event_of_one_step_is_never_hidden(server: Server, columns: int) -> None:
    run = SyntheticRun("healthy", 2, 300, run_id=f"event-{columns}")

    def edit(block: np.ndarray, steps: np.ndarray) -> None:
        block[steps == 123, 3, NORM] = 1e6
        block[steps == 217, 3, N_NAN] = 1

    recorded = Recorded(server, run, edit)
    name = run.tensors[3]["tensor"]
    heatmap = recorded.get("heatmap", columns=columns)
    row = heatmap["tensors"].index(name)
    assert len(heatmap["steps"]) <= columns
    assert max(heatmap["values"][row]) == 1e6
    assert max(heatmap["n_nonfinite"][row]) == 1
    assert max(recorded.get("series", tensor=name, points=columns)["max"]) == 1e6
    lane = recorded.get("nonfinite", columns=columns)
    assert max(lane["gradient"]) == 1
    starts = [*lane["steps"], lane["step_end"]]
    hit = next(place for place, count in enumerate(lane["gradient"]) if count)
    assert starts[hit] <= 217 < starts[hit + 1]


def test_from_is_inclusive_and_to_is_not(sick: Recorded) -> None:
    assert sick.get("heatmap", from_=50, to=53)["steps"] == [50, 51, 52]
    assert sick.get("nonfinite", from_=198)["steps"] == [198, 199]
    assert sick.get("series", tensor="loss", kind="scalar", from_=50, to=51)["steps"] == [50]
    empty = sick.get("heatmap", from_=1000)
    assert (empty["steps"], empty["values"][0]) == ([], [])


def test_buckets_stay_where_they_are_while_the_run_grows(sick: Recorded) -> None:
    whole = sick.get("heatmap", columns=30)
    tail = sick.get("heatmap", columns=30, from_=whole["steps"][15], to=200)
    assert tail["downsampled_by"] <= whole["downsampled_by"]
    assert whole["steps"][15] in tail["steps"]


def test_a_missing_gradient_is_marked_and_a_gap_stays_open(server: Server) -> None:
    steps = np.concatenate([np.arange(0, 20), np.arange(60, 80)])

    def edit(block: np.ndarray, at: np.ndarray) -> None:
        block[:, 3, N_ELEMENTS] = 0
        block[:, 3, NORM] = np.nan

    recorded = Recorded(server, SyntheticRun("healthy", 2, 80, run_id="gap"), edit, steps)
    heatmap = recorded.get("heatmap")
    assert heatmap["steps"] == [*range(20), 20, *range(60, 80)]
    assert heatmap["missing"][1] == [1] * 20 + [0] + [1] * 20
    assert heatmap["missing"][0] == [0] * 41
    # The empty column: nothing is known there, and it says so.
    assert heatmap["values"][0][20] is None
    assert heatmap["n_nonfinite"][0][20] is None
    assert recorded.get("nonfinite")["gradient"] == [0] * 20 + [None] + [0] * 20


def test_the_lane_has_no_number_where_a_kind_was_not_captured(server: Server) -> None:
    def edit(block: np.ndarray, at: np.ndarray) -> None:
        is_thin = at % 8 != 0
        block[np.ix_(is_thin, np.arange(block.shape[1]) % 3 != 0)] = np.nan
        block[at >= 16, 1, N_NAN] = np.where(is_thin[at >= 16], np.nan, 5)

    recorded = Recorded(server, SyntheticRun("healthy", 2, 32, run_id="thinned"), edit, np.arange(32))
    lane = recorded.get("nonfinite")
    assert lane["gradient"] == [0] * 32
    assert lane["weight"] == [None if step % 8 else 5 if step >= 16 else 0 for step in range(32)]


def test_the_update_ratio_is_update_by_weight(sick: Recorded) -> None:
    heatmap = sick.get("heatmap", kind="update", statistic="update_ratio")
    name = sick.names("update")[0]
    update, weight = (sick.column(kind, name, "norm").astype(np.float64) for kind in ("update", "weight"))
    np.testing.assert_allclose(as_array(heatmap["values"][0]), update / weight, rtol=1e-6)
    series = sick.get("series", kind="update", statistic="update_ratio", tensor=name)
    np.testing.assert_allclose(as_array(series["max"]), update / weight, rtol=1e-6)


def test_two_optimizers_share_one_axis(server: Server) -> None:
    """As in a GAN: two streams, disjoint variables, one of them at every other step."""
    run = SyntheticRun("healthy", 2, 32, run_id="two-streams")
    log = list(run.log())
    own = [{**t, "tensor": f"critic/{t['tensor']}", "layer": "critic"} for t in run.tensors]
    every, other = run.rows(0, np.arange(16)), run.rows(0, np.arange(0, 16, 2))
    with SyntheticHook(server.url, run) as hook:
        hook.greet()
        hook.send(log[0])
        hook.send({**log[0], "seq": 1, "stream": 1, "optimizer": "rmsprop", "tensors": own})
        hook.send({**every, "seq": 2})
        hook.send({**other, "seq": 3, "stream": 1})
        hook.wait_for_verdict(3)
    path = f"/api/runs/{run.run_id}"
    heatmap = server.get(f"{path}/heatmap")
    assert len(heatmap["tensors"]) == 8
    assert heatmap["steps"] == list(range(16))
    assert [value is None for value in heatmap["values"][-1]] == [step % 2 == 1 for step in range(16)]
    table = server.get(f"{path}/tensors")
    assert {"loss", "loss@adam", "loss@rmsprop"} <= set(table["scalars"])
    assert {entry["optimizer"] for entry in table["tensors"]} == {"adam", "rmsprop"}
    assert server.get(f"{path}/series", kind="scalar", tensor="loss")["steps"] == list(range(16))
    assert server.get(f"{path}/series", kind="scalar", tensor="loss@rmsprop")["steps"] == list(range(0, 16, 2))


def test_what_one_stream_leaves_out_and_another_trains_is_not_missing(server: Server) -> None:
    run = SyntheticRun("healthy", 2, 32, run_id="left-out")
    log = list(run.log())
    rows = run.rows(0, np.arange(16))
    block = np.frombuffer(rows["statistics"], "<f4").reshape(16, len(run.tensors), len(STATISTICS)).copy()
    block[:, [0, 3], N_ELEMENTS] = 0
    block[:, [0, 3], NORM] = np.nan
    places = {t["tensor"] for t in (run.tensors[0], run.tensors[3])}
    left_out = [{**t, "left_out": t["tensor"] in places} for t in run.tensors]
    with SyntheticHook(server.url, run) as hook:
        hook.greet()
        hook.send({**log[0], "tensors": left_out})
        hook.send({**log[0], "seq": 1, "stream": 1, "optimizer": "other", "tensors": [run.tensors[0]]})
        hook.send({**rows, "seq": 2, "statistics": block.tobytes()})
        own = np.frombuffer(rows["statistics"], "<f4").reshape(16, -1, len(STATISTICS))[:8, :1]
        other = run.rows(0, np.arange(8))
        hook.send({**other, "seq": 3, "stream": 1, "statistics": own.tobytes()})
        hook.wait_for_verdict(3)
    heatmap = server.get(f"/api/runs/{run.run_id}/heatmap")
    first, second = (heatmap["tensors"].index(run.tensors[place]["tensor"]) for place in (0, 3))
    assert heatmap["missing"][first] == [0] * 16
    assert [value is None for value in heatmap["values"][first]] == [False] * 8 + [True] * 8
    assert heatmap["missing"][second] == [1] * 16
    owners = {one["tensor"]: one["optimizer"] for one in server.get(f"/api/runs/{run.run_id}/tensors")["tensors"]}
    assert [owners[run.tensors[place]["tensor"]] for place in (0, 3, 6)] == ["other", "adam", "adam"]


def test_columns_follow_a_live_run_and_survive_a_small_cache(start_server) -> None:
    server = start_server(cache_limit_bytes=1)
    run = SyntheticRun("healthy", 3, 64)
    log = list(run.log())
    path = f"/api/runs/{run.run_id}"
    seen = []
    with SyntheticHook(server.url, run) as hook:
        hook.greet()
        for message in log:
            hook.send(message)
            hook.wait_for_ack(message["seq"])
            seen.append(len(server.get(f"{path}/heatmap", statistic="max")["steps"]))
            server.get(f"{path}/heatmap", kind="weight", statistic="std")
    assert seen == [0, *range(8, 72, 8), 64]
    other = SyntheticRun("healthy", 3, 64, seed=1)
    stream(server.url, other)
    both = [server.get(f"/api/runs/{one.run_id}/heatmap")["values"] for one in (run, other, run)]
    assert both[0] == both[2] != both[1]


def test_a_run_without_rows_is_empty_not_an_error(server: Server) -> None:
    run = SyntheticRun("healthy", 2, 8, run_id="empty")
    with SyntheticHook(server.url, run) as hook:
        hook.greet()
    path = f"/api/runs/{run.run_id}"
    assert server.get(f"{path}/heatmap") == {
        "kind": "gradient",
        "statistic": "norm",
        "tensors": [],
        "steps": [],
        "step_end": 0,
        "values": [],
        "n_nonfinite": [],
        "missing": [],
        "downsampled_by": 1,
    }
    assert server.get(f"{path}/nonfinite")["steps"] == []
    assert server.get(f"{path}/tensors") == {"tensors": [], "scalars": []}
    assert server.get(path)["last_step"] is None


VALUES = hnp.arrays(
    np.float32,
    st.tuples(st.integers(1, 40), st.integers(1, 3)),
    elements=st.floats(-1e6, 1e6, width=32) | st.just(float("nan")),
)


@given(values=VALUES, limit=st.integers(1, 12), data=st.data())
def test_reduction_agrees_with_a_loop(values: np.ndarray, limit: int, data: st.DataObject) -> None:
    gaps = data.draw(hnp.arrays(np.int64, len(values), elements=st.integers(1, 50)))
    steps = np.cumsum(gaps)
    buckets = make_buckets(steps, limit)
    hit, first = buckets.place(steps)
    assert len(buckets.keys) <= limit
    assert buckets.stride & (buckets.stride - 1) == 0
    np.testing.assert_array_equal(hit, np.arange(len(buckets.keys)))
    for place, key in enumerate(buckets.keys):
        inside = values[steps // buckets.stride == key].astype(np.float64)
        for column in range(values.shape[1]):
            known = [value for value in inside[:, column] if not np.isnan(value)]
            expected = (min(known), sum(known) / len(known), max(known)) if known else (np.nan,) * 3
            found = [reduce(values, first)[place, column] for reduce in (min_of, mean_of, max_of)]
            np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-3)


@given(steps=st.lists(st.integers(0, 5000), min_size=1, max_size=60, unique=True), limit=st.integers(1, 40))
def test_holes_are_marked_and_no_step_is_misplaced(steps: list[int], limit: int) -> None:
    ascending = np.array(sorted(steps))
    buckets = make_buckets(ascending, limit, with_holes=True)
    edges = [*buckets.starts.tolist(), buckets.end]
    assert edges == sorted(set(edges))
    hit, first = buckets.place(ascending)
    for place, start in zip(hit, ascending[first], strict=True):
        assert edges[place] <= start < edges[place + 1]
