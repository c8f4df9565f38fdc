"""Slips of shape that a step shows are told, where training agrees; what follows of them is not told beside."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradwatch.protocol import LEAKED_PLACES, TRUNCATED_PLACE
from tests.health.streams import COLUMN, Run, call, dense

N = 240
SOURCE = {"file": "train.py", "line": 7, "code": "error = y - mean"}
CROSSING = {"type": "Sub", "name": "sub", "source": SOURCE, "axes": [], "unasked": True}
RESHAPE = {
    "name": "reshape/Reshape",
    "layer": "model/reshape",
    "source": None,
    "input_shape": [-1, 6, 160],
    "output_shape": [-1, 160, 6],
}
MASK = {"type": "Equal", "name": "Equal", "layer": None, "source": SOURCE}
BACKWARDS = {"type": "ReverseV2", "name": "back/ReverseV2", "layer": "back", "source": None}
REPEATED = {"type": "Call", "name": "head/BiasAdd", "layer": "head", "source": None, "n": 4}
REDRAWN = {"type": "Multinomial", "name": "Multinomial", "layer": "", "source": SOURCE}
SCALED = {"type": "Normalization", "name": "scale", "layer": "scale", "source": None}
GATHERED = {"type": "GatherV2", "name": "GatherV2", "layer": "", "source": SOURCE}
DOUBLED = {"type": "LogSoftmax", "name": "LogSoftmax", "layer": "", "source": SOURCE, "function": "Softmax"}
RATE = {"type": "Sub", "name": "log_poisson_loss/sub", "layer": "", "source": SOURCE, "function": "Softplus"}
STRAIGHT = {"type": "ZerosLike", "name": "zeros_like", "layer": "", "source": SOURCE, "function": "Relu"}
UNSHOWN = {"type": "RandomStandardNormal", "name": "normal", "layer": "", "source": SOURCE, "shown": None}
ATTRACTED = {"type": "Mul", "name": "mul", "layer": "", "source": SOURCE, "attracts": True}
UNDETACHED = {"type": "Mul", "name": "mul", "layer": "", "source": SOURCE, "undetached": True}
CANCELLED = {"type": "Sub", "name": "sub", "layer": "", "source": SOURCE, "cancels": True}
LINEAR = {"type": "MatMul", "name": "dense_2/MatMul", "layer": "dense_2", "source": None, "n_kernels": 3}
EDGES = {"type": "UnsortedSegmentSum", "name": "sum", "layer": "", "source": SOURCE, "edges": True}
LEVEL, FALLING = np.full(N, 2.0), 2.0 * np.exp(-np.arange(N) / 30)


def run_of(loss: np.ndarray = LEVEL, **setup: Any) -> Run:
    run = Run(dense(4), n_steps=N, layers=[("dense", 32, "relu"), ("out", 1, None)], **setup)
    return run.set_loss(loss)


@pytest.mark.parametrize("batch", [1, 64])
def test_a_column_that_meets_a_vector(batch: int) -> None:
    (found,) = run_of(broadcasts=[CROSSING]).feed(batch=batch).findings()
    assert (found.kind, found.severity, found.first_step) == ("loss_plateau", "warning", 0)
    assert found.title == "A column and a vector make a table of all pairs on the way to the loss (train.py:7)"
    assert found.source is not None
    assert found.source["line"] == 7
    assert found.hypotheses[0].cause == "A broadcast of [n, 1] with [n] makes [n, n] (train.py:7)"


def test_a_loss_that_was_next_to_nothing_from_the_start_was_never_learned() -> None:
    """As that of a policy whose advantages are centred, once each meets the choices of all."""
    (found,) = run_of(4e-9 * np.cos(np.arange(N)), broadcasts=[CROSSING]).feed().findings()
    assert found.title.startswith("A column and a vector make a table of all pairs")


def test_a_dot_product_of_a_whole_batch() -> None:
    slip = {"type": "MatMul", "name": "Tensordot/MatMul", "layer": "", "source": SOURCE, "dotted": True}
    (found,) = run_of(slips=[slip]).feed().findings()
    assert found.title == "A dot product is summed over the whole batch instead of per sample (train.py:7)"
    assert found.hypotheses[0].cause == "The dot product is taken along the batch too (train.py:7)"
    assert "axis=-1" in found.hypotheses[0].code


def test_a_reshape_that_exchanges_axes() -> None:
    (found,) = run_of(reshapes=[RESHAPE]).feed().findings()
    assert (found.kind, found.layer) == ("loss_plateau", "model/reshape")
    assert found.title == "A Reshape layer makes [n, 160, 6] of [n, 6, 160]: that exchanges no axes"
    assert "tf.keras.layers.Permute((2, 1))" in found.hypotheses[0].code


def turned(target: list[int | None], n: int, loss: np.ndarray, layer: str | None = None) -> Run:
    """A training whose script turns images at random, and asks for something of this shape."""
    run = run_of(loss, inputs=[("input", 3), ("target", 1)])
    shapes = ([None, 32, 32, 3], target)
    for column, name, shape in zip(run.columns("input"), ("input", "target"), shapes, strict=True):
        run.tensors[int(column)] |= {"tensor": name, "shape": shape}
    run.script = {"calls": [call("augment", "    x = «tf.image.random_flip_left_right(x)»", n=n, layer=layer)]}
    return run


@pytest.mark.parametrize(
    ("n", "words"),
    [(2, "Images and masks are turned each by a draw of its own"), (1, "Images are turned, and their masks")],
)
@pytest.mark.parametrize("target", [[None, 32, 32, 1], [None, 32, 32]])
def test_images_that_are_turned_away_from_their_masks(target: list[int | None], n: int, words: str) -> None:
    (found,) = turned(target, n, np.linspace(0.7, 0.4, N)).feed().findings()
    assert found.title.startswith(words)
    assert found.source is not None
    assert (found.kind, found.source["line"]) == ("loss_plateau", 7)


def test_images_that_a_layer_of_the_model_turns() -> None:
    (found,) = turned([None, 32, 32, 1], 1, LEVEL, "model/flip").feed().findings()
    assert found.title.startswith("Images are turned, and their masks stay as they are")
    assert found.layer == "model/flip"
    assert "what the model is given" in found.evidence["summary"]
    assert found.hypotheses[0].fix.startswith("Take it out of the model")


def test_images_that_are_turned_are_what_they_are_called_still() -> None:
    assert turned([None, 1], 1, LEVEL).feed().findings() == []
    assert turned([None, 32, 32, 1], 1, FALLING).feed().findings() == []


def test_a_layer_in_several_places() -> None:
    (found,) = run_of(np.linspace(2.0, 0.7, N), slips=[REPEATED]).feed().findings()
    assert (found.kind, found.layer) == ("loss_plateau", "head")
    assert found.title == "head is called 4 times on the same tensor: these outputs are all the same"
    assert "range(4)" in found.hypotheses[0].code


def test_a_gather_of_all_pairs_is_told_whatever_the_loss() -> None:
    (found,) = run_of(FALLING, slips=[GATHERED]).feed().findings()
    assert (found.kind, found.layer) == ("loss_plateau", None)
    assert found.title.startswith("A gather takes the columns of all samples from each")
    assert found.source is not None
    assert "batch_dims=1" in found.hypotheses[0].code


SWAPPED = {"type": "AddV2", "name": "add", "layer": "", "source": SOURCE, "swapped": True}
FOCAL = {"type": "Pow", "name": "pow", "layer": "", "source": SOURCE, "focal": 2.0}
SOLE = {"type": "SoftmaxCrossEntropyWithLogits", "name": "loss", "layer": "", "source": SOURCE, "sole": True}
EPOCH = {"type": "Epoch", "name": "", "layer": "", "source": SOURCE, "batches": 40}


@pytest.mark.parametrize(
    ("means", "stride", "is_told"),
    [
        pytest.param(lambda steps: 0 * steps, 1, True, id="one batch"),
        pytest.param(lambda steps: steps % 40, 1, False, id="forty, over and over"),
        pytest.param(lambda steps: 1 * (steps == N - 1), 1, True, id="another one at last"),
        pytest.param(lambda steps: 1 * (steps == 3), 1, False, id="another one at first"),
        pytest.param(lambda steps: 0 * steps, 40, False, id="seen at one place of the epoch alone"),
    ],
)
def test_batches_of_an_epoch_that_are_all_one(means: Any, stride: int, *, is_told: bool) -> None:
    run = run_of(LEVEL, slips=[EPOCH], inputs=[("input", 5), ("target", 1)])
    run.steps = run.steps * stride
    names = [COLUMN[name] for name in ("mean", "std", "min", "max")]
    for column in run.columns("input"):
        run.statistics[:, column, names] = 0.5
        run.statistics[:, column, COLUMN["mean"]] = means(run.steps)
    told = [one for one in run.feed().findings() if one.title.startswith("Every step gets the same batch")]
    assert len(told) == is_told
    assert all("40 batches" in one.title and one.title.endswith("(train.py:7)") for one in told)


def test_one_line_in_the_steps_of_two_optimizers_is_told_once() -> None:
    """With what each of them suffers of it."""
    first, other = run_of(LEVEL, broadcasts=[CROSSING]), run_of(LEVEL, broadcasts=[CROSSING])
    other.stream = 1
    engine = other.feed(first.feed())
    assert [one.title.endswith("(train.py:7)") for one in engine.findings()] == [True]
    apart = run_of(LEVEL, broadcasts=[CROSSING | {"source": SOURCE | {"line": 8}}])
    apart.stream = 1
    assert len(apart.feed(first.feed()).findings()) == 2


LONE = {"type": "Sum", "name": "sum", "layer": "", "source": SOURCE, "lone": "length"}


def test_single_numbers_that_are_normalised_by_themselves() -> None:
    """Told where little is learned, by the line or the layer; where the rest of a model learns, it may be so."""
    for lone, layer, words in (
        ("length", "", "Vectors of a single number are scaled to length 1: only its sign is left (train.py:7)"),
        ("mean", "norm", "norm normalises a single number by itself: what it gives is the same for every input"),
    ):
        slip = LONE | {"lone": lone, "layer": layer, "source": None if layer else SOURCE}
        (found,) = run_of(LEVEL, slips=[slip]).feed().findings()
        assert (found.kind, found.layer or "") == ("loss_plateau", layer)
        assert found.title.startswith(words)
        assert run_of(FALLING, slips=[slip]).feed().findings() == []


@pytest.mark.parametrize("slip", [UNSHOWN, ATTRACTED, CANCELLED, UNDETACHED, SWAPPED, FOCAL, SOLE])
def test_what_no_loss_shows_is_told_whatever_the_loss(slip: dict[str, Any]) -> None:
    (found,) = run_of(FALLING, slips=[slip]).feed().findings()
    assert (found.kind, found.layer) == ("loss_plateau", None)
    assert found.title.endswith("(train.py:7)")
    assert found.hypotheses[0].confidence >= 0.9


@pytest.mark.parametrize(("loss", "is_told"), [(LEVEL, True), (FALLING, False)])
def test_a_linear_network_that_learns_is_what_is_wanted(loss: np.ndarray, is_told: bool) -> None:
    findings = run_of(loss, slips=[LINEAR]).feed().findings()
    causes = [found.hypotheses[0].cause for found in findings]
    assert causes == ["The layers have no activation function"] * is_told
    assert all("the model's 3 layers with weights" in found.title for found in findings)


@pytest.mark.parametrize(("n_zero", "is_told"), [(0, False), (1, False), (600, True)])
def test_errors_relative_to_targets_of_zero(n_zero: int, *, is_told: bool) -> None:
    slip = {"type": "RealDiv", "name": "divide", "layer": "", "source": None, "relative": 1e-7}
    run = run_of(FALLING, slips=[slip], inputs=[("input", 5), ("target", 1)])
    run.statistics[:, run.columns("input")[1], [COLUMN["n_elements"], COLUMN["n_zero"]]] = 2000, n_zero
    run.statistics[:, run.columns("input")[1], [COLUMN["min"], COLUMN["max"]]] = 0.0, 5.0
    told = [found for found in run.feed().findings() if found.title.startswith("Errors are divided by the target")]
    assert len(told) == is_told
    assert all("30.0% of the targets are exactly 0" in found.title for found in told)


@pytest.mark.parametrize(
    ("low", "high", "is_told"), [(-2.0, 3.0, True), (0.5, 3.0, False), (-0.01, 3.0, False), (-3.0, -0.5, False)]
)
def test_errors_relative_to_targets_of_both_signs(low: float, high: float, *, is_told: bool) -> None:
    slip = {"type": "RealDiv", "name": "divide", "layer": "", "source": None, "relative": 1e-7}
    run = run_of(FALLING, slips=[slip], inputs=[("input", 5), ("target", 1)])
    columns = [COLUMN[name] for name in ("n_elements", "n_zero", "min", "max")]
    run.statistics[:, run.columns("input")[1], columns] = 2000, 0, low, high
    told = [found for found in run.feed().findings() if "through 0" in found.title]
    assert len(told) == is_told
    assert all("from -2 to 3" in found.title for found in told)


@pytest.mark.parametrize(
    ("reached", "owners", "is_told"),
    [
        pytest.param(11, 31, True, id="those of the first"),
        pytest.param(299, 31, False, id="all"),
        pytest.param(160, 31, False, id="half of them"),
        pytest.param(11, 1, False, id="two graphs"),
    ],
)
def test_edges_that_reach_the_first_nodes_alone(reached: int, owners: int, *, is_told: bool) -> None:
    run = run_of(FALLING, slips=[EDGES], inputs=[("input/nodes", 5), ("input/edges", 2), ("input/owner", 1)])
    columns = run.columns("input")
    shapes = [None, 5], [None, 2], [None]
    for column, shape, dtype in zip(columns, shapes, ("float32", "int32", "int32"), strict=True):
        run.tensors[int(column)] |= {"shape": shape, "dtype": dtype}
    for column, n, largest in zip(columns, (1500, 1400, 300), (1.0, reached, owners), strict=True):
        run.statistics[:, column, COLUMN["n_elements"]] = n
        run.statistics[:, column, COLUMN["max"]] = largest
    told = [found for found in run.feed().findings() if found.title.startswith("The edges of a batch use")]
    assert len(told) == is_told
    assert all("12 of its 300 nodes" in found.title for found in told)


def test_where_the_noise_that_is_shown_is_drawn() -> None:
    shown = SOURCE | {"line": 3}
    (found,) = run_of(slips=[UNSHOWN | {"shown": shown}]).feed().findings()
    assert "that one is drawn separately (train.py:3)" in found.evidence["summary"]


def test_a_slip_that_only_a_newer_hook_knows() -> None:
    assert run_of(slips=[{"type": "Unheard", "name": "of", "layer": "", "source": SOURCE}]).feed().findings() == []


ENTERING = {"type": "MatMul", "name": "dense/MatMul", "layer": "dense", "source": None, "entering": 3}


@pytest.mark.parametrize(
    ("reach", "loss", "words"),
    [
        ((5.0, 10_000.0, 900.0), LEVEL, "Column 1 of the input is over 1,000 times as wide as another, and dense gets"),
        ((5.0, 10_000.0, 900.0), FALLING, None),
        ((50.0, 10_000.0, 900.0), LEVEL, None),
        ((1e-3, 8.0, 1.0), LEVEL, None),
        ((1e-14, 1.0, 1.0), FALLING, "Column 0 of the input holds nothing but rounding errors"),
        ((0.0, 1.0, 1.0), LEVEL, None),
    ],
    ids=["wide", "learned all the same", "not that wide", "scaled", "rounding", "always 0"],
)
def test_a_table_that_is_not_scaled(reach: tuple[float, ...], loss: np.ndarray, words: str | None) -> None:
    run = run_of(loss, slips=[ENTERING], inputs=[("table", 3)])
    columns = np.zeros((N, 3, 3), np.float32)
    columns[:, :, 2] = reach
    rows = {"steps": run.steps, "columns": columns, "bad_rows": np.full((N, 8), -1), "n_bad_rows": np.zeros(N, int)}
    run.input_columns.append({"tensor": "table", **rows})
    titles = [found.title for found in run.feed().findings() if " of the input " in found.title]
    assert [title.startswith(str(words)) for title in titles] == [True] * (words is not None)


UNPENALISED = {
    "type": "Regularizer",
    "name": "net/dense/kernel",
    "layer": "net/dense",
    "source": None,
    "unpenalised": 3,
}
AHEAD = {"type": "Mask", "name": "sub", "layer": "", "source": SOURCE, "ahead": True}
UNADDED = {"type": "Penalty", "name": "mul", "layer": "vae/sampling", "source": SOURCE, "unadded": 1}
OVERLAP = {"type": "RealDiv", "name": "truediv", "layer": "", "source": SOURCE, "overlaps": True}
REPELLED = {"type": "Sum", "name": "Sum", "layer": "", "source": SOURCE, "repels": "target"}
LARGER = {"type": "Maximum", "name": "Maximum", "layer": "", "source": SOURCE, "larger": True}
SPREAD = {"type": "Exp", "name": "Exp", "layer": "", "source": SOURCE, "deviates": 2.0}
UNVARIED = {"type": "Cast", "name": "Cast", "layer": "", "source": SOURCE, "unvaried": "cast"}
BELITTLED = {"type": "Mean", "name": "Mean", "layer": "", "source": SOURCE, "belittles": "reward"}
CERTAIN = {"type": "Mul", "name": "mul", "layer": "", "source": SOURCE, "certain": True}
ITSELF = {"type": "AddV2", "name": "add/add", "layer": "add_2", "source": SOURCE, "itself": "add"}
QUANTILE = {"type": "Maximum", "name": "max", "layer": "", "source": SOURCE, "quantile": 0.9}
AVERSE = {"type": "Mul", "name": "mul", "layer": "", "source": SOURCE, "averse": "returns"}
TIMED = {"type": "Sub", "name": "sub", "layer": "dense", "source": None, "times": 12}
UNSTOPPED = {"type": "AddV2", "name": "add", "layer": "", "source": SOURCE, "unstopped": True}


@pytest.mark.parametrize(("loss", "is_told"), [(LEVEL, True), (FALLING, False)])
def test_a_target_that_is_moved_by_its_own_loss(loss: np.ndarray, is_told: bool) -> None:
    titles = [found.title for found in run_of(loss, slips=[UNSTOPPED]).feed().findings()]
    assert (
        titles
        == ["The bootstrapped target is moved by its own loss: nothing stops its gradient (train.py:7)"] * is_told
    )


MARGINALS = {"type": "Log", "name": "Log", "layer": "", "source": SOURCE, "marginals": 3}


@pytest.mark.parametrize(
    ("slip", "words"),
    [
        (UNPENALISED, "The regularizer of net/dense/kernel and 2 more has no effect"),
        (UNADDED, "What vae/sampling adds to the loss has no effect: the loss of your loop leaves it out (train.py:7)"),
        (OVERLAP, "The overlap with the targets is minimised, not maximised (train.py:7)"),
        (REPELLED, "The loss makes the output and its target point in opposite directions"),
        (REPELLED | {"repels": "output"}, "The loss makes the two outputs point in opposite directions"),
        (LARGER, "The policy's clipping bounds no gain: of the two objectives the larger one counts (train.py:7)"),
        (UNVARIED, "The random numbers never change: every step draws the same (train.py:7)"),
        (SPREAD, "The latent code is drawn with another spread than the KL term assumes (train.py:7)"),
        (
            BELITTLED,
            "The actor learns the worst actions: the critic's value goes into its loss with a plus (train.py:7)",
        ),
        (CERTAIN, "The entropy bonus is a penalty: its sign makes the policy stop exploring (train.py:7)"),
        (
            ITSELF,
            "add_2 gets the same tensor twice: the other one, such as a skip connection, is lost (train.py:7)",
        ),
        (
            QUANTILE,
            "The quantile loss learns the 0.1 quantile, not 0.9: its error is negated (train.py:7)",
        ),
        (AVERSE, "The policy learns to avoid what paid off: the loss has the wrong sign (train.py:7)"),
        (TIMED, "dense predicts a number for each of 12 time steps, but a sample has one target"),
        (TIMED | {"times": -1}, "dense predicts a number for each time step, but"),
        (AHEAD, "The attention sees only later positions: its causal mask is inverted (train.py:7)"),
        (MARGINALS, "The mixture is summed for each of 3 coordinates by itself"),
        (
            MARGINALS | {"marginals": 0, "recopied": True},
            "The target network is made a copy of the trained one after each",
        ),
        (MARGINALS | {"marginals": 0, "keeps": 0.005}, "A slow copy of a network keeps only 0.50% of its own value"),
        (MARGINALS | {"marginals": 0, "past": True}, "Each step's return sums the rewards before it, not those that"),
        (MARGINALS | {"marginals": 0, "tiled": 4}, "A tile lays each sample beside the items of other samples"),
    ],
)
def test_losses_of_something_else_are_told_whatever_the_loss(slip: dict[str, Any], words: str) -> None:
    (found,) = run_of(FALLING, slips=[slip]).feed().findings()
    assert found.title.startswith(words)


@pytest.mark.parametrize(("validations", "is_told"), [([0.9, 0.6, 0.7], True), ([0.9, 0.6, 0.61], False), ([], False)])
def test_dropouts_that_drop_nothing_where_the_validation_loss_rises(validations: list[float], is_told: bool) -> None:
    slip = {"type": "Dropout", "name": "dropout", "layer": "dropout", "source": SOURCE, "undropped": 2}
    engine = run_of(FALLING, slips=[slip]).feed()
    if validations:
        engine.feed_scalar("val_loss", np.array([79, 159, 239]), np.array(validations))
    titles = [found.title for found in engine.findings()]
    words = "dropout and 1 more drop nothing in your loop, and the validation loss rises (train.py:7)"
    assert (words in titles) == is_told


def test_dropouts_of_a_call_that_is_not_told_of_the_training() -> None:
    slip = {"type": "Dropout", "name": "dropout", "layer": "dropout", "source": SOURCE, "undropped": 1, "untold": True}
    engine = run_of(FALLING, slips=[slip]).feed()
    engine.feed_scalar("val_loss", np.array([79, 159, 239]), np.array([0.9, 0.6, 0.7]))
    (found,) = [one for one in engine.findings() if "drops nothing" in one.title]
    assert found.title == "dropout drops nothing in `fit`, and the validation loss rises (train.py:7)"
    assert found.hypotheses[0].cause == "`call` of the model has no argument `training` (train.py:7)"


DATA = {"type": "Data", "name": "", "layer": "", "source": SOURCE}


@pytest.mark.parametrize(
    ("slip", "words"),
    [
        (
            DATA | {"n_seen": 232, "n_rows": 5000},
            "Each step restarts the data set: only the first 232 of its 5,000",
        ),
        (
            DATA | {"n_seen": 480, "n_rows": 24000, "reseeded": True},
            "Each epoch draws the same samples: only 480 of 24,000",
        ),
        (DATA | {"type": "Assign", "lost": "target"}, "The update of the weights of target is lost"),
        (DATA | {"resized": "bilinear"}, "Class ids are interpolated: labels are resized with `bilinear`"),
        (DATA | {"buffer": "int32"}, "An array of int32 is filled in the loop and fed as floats"),
        (DATA | {"before": [9, 4, 8], "after": [9, 8, 4]}, "An array of shape (9, 4, 8) is reshaped to (9, 8, 4)"),
        (DATA | {"stateful": True, "layer": "lstm"}, "lstm keeps its state from batch to batch, but `fit` shuffles"),
        (
            DATA | {"stateful": True, "of_set": True, "layer": "lstm"},
            "lstm keeps its state from batch to batch, but the data set shuffles",
        ),
        (DATA | {"serves": "same"}, "`__getitem__` never reads its batch index: every step gets the same rows"),
        (DATA | {"serves": "apart"}, "`__getitem__` slices inputs and targets at different places"),
        (DATA | {"moved": "y_train"}, "`y_train` is shuffled alone: inputs and targets no longer belong together"),
        (DATA | {"positives": [96, 48, 1]}, "The loss takes rows of other samples for the other view of each"),
        (DATA | {"moved": "y", "partner": "x"}, "`x` and `y` are shuffled, each in its own order: their rows"),
        (
            DATA | {"type": "Dropout", "layer": "net/dropout", "source": None, "tops": "net/out"},
            "`net/dropout`, a Dropout, stands behind the last layer `net/out` and changes what the model gives",
        ),
        (
            DATA | {"only": 1.0, "samples": 1200},
            "All 1,200 labels are 1: there is no other class to learn",
        ),
        (
            DATA | {"name": "encode", "unpacked": ["mean", "spread"]},
            "`mean` and `spread` change places: `encode` gives them in the other order (train.py:7)",
        ),
        (
            DATA | {"bunched": [4.2, 40.0]},
            "Whole batches are shuffled, and each holds rows that belong together (train",
        ),
        (
            DATA | {"type": "Line", "name": "u_x", "untaped": "outer", "made": DATA["source"]},
            "`outer` has not seen how `u_x` is computed: its gradient is 0 or None (train.py:7)",
        ),
        (DATA | {"unmatched": True}, "Two data sets are shuffled, each in its own order: their rows no longer"),
        (DATA | {"wraps": "uint8"}, "A difference of two uint8 arrays wraps around: -1 becomes 255"),
        (DATA | {"copies": "tile"}, "Inputs and targets no longer belong together: one is repeated, the other tiled"),
        (DATA | {"copies": "repeat"}, "Inputs and targets no longer belong together: one is repeated, the other laid"),
        (
            DATA | {"copies": "tile", "unrolled": True},
            "Inputs and targets no longer belong together: a reshape keeps those of a sample together, `tile` does not",
        ),
        (DATA | {"trimmed": "y", "picked": "x"}, "Rows are dropped from `x`, but `y` is only shortened to fit"),
        (
            DATA | {"favours": "0", "favoured": 0.6, "rare": "2", "rarely": 0.05},
            "The class weights are the wrong way round: 0.05 for label 2, the rarest, and 0.6 for 0, the commonest",
        ),
        (
            DATA | {"favours": "2", "favoured": 1.86, "rare": "1", "rarely": 0.3, "due": 0.28},
            "The class weights are in the wrong order: label 2 gets 1.86, and by its count is due 0.28 (train.py:7)",
        ),
        (
            DATA | {"floored": "int32", "padded": True},
            "`pad_sequences` cuts the fractions off: it makes int32 of the sequences (train.py:7)",
        ),
        (
            DATA | {"moved": "y_train", "partner": "x_train", "split_apart": True},
            "`x_train` and `y_train` come in two random orders: inputs and targets no longer belong together",
        ),
        (
            DATA | {"beyond": [0.0, 1.0, 0.0, 255.0], "names": ["x_train", "x_test"]},
            "The validation data are in another range: 0 to 255, in training 0 to 1 (train.py:7)",
        ),
        (
            DATA | {"beyond": [-2.0, 2.0, 0.0, 900.0], "names": [], "of_targets": True},
            "The validation targets are in another range: 0 to 900, in training -2 to 2 (train.py:7)",
        ),
        (
            DATA | {"mixed": ["x_test", "y_train"]},
            "Inputs and targets are of different parts of the data: `x_test` with `y_train` (train.py:7)",
        ),
        (DATA | {"renumbers": "tok"}, "The words of the validation texts get numbers of their own (train.py:7)"),
        (DATA | {"folds": "shared", "model": "net"}, "The folds share one model, `net`: from the second on it is"),
        (DATA | {"folds": "swapped", "model": "net"}, "Each fold trains on what is to be held out"),
        (DATA | {"folds": "compiled", "model": "net"}, "Each epoch compiles `net` again: its optimizer begins anew"),
        (DATA | {"folds": "epoch", "model": "net"}, "Each epoch makes a new `net`: what the last one has learned"),
        (DATA | {"resplit": "shuffle"}, "Validation samples are trained on: one data set is cut by `take` and"),
        (DATA | {"resplit": "subset"}, "Validation samples are trained on: both are the same `subset` of the folder"),
        (DATA | {"resplit": "seed"}, "Validation samples are trained on: the folder's files are divided by two seeds"),
        (DATA | {"mixed": ["x[-9:]", "y[:9]"], "cut": True}, "Inputs and targets are cut from different rows"),
        (DATA | {"noisy": "x_noisy", "clean": "x", "as": "both"}, "The noisy inputs are their own targets: nothing"),
        (DATA | {"noisy": "x_noisy", "clean": "x", "as": "target"}, "The noise is on the targets: `x_noisy` is to be"),
        (DATA | {"noisy": "x_noisy", "clean": "x", "as": "alike"}, "All samples of `x_noisy` have the same noise"),
        (DATA | {"jittered": ["RandomFlip"]}, "The validation images are augmented like the training images"),
        (DATA | {"jittered": ["shear_range"]}, "The validation images are augmented like the training images"),
        (DATA | {"blue": True, "name": "Xception"}, "`cv2.imread` reads images for `Xception` with red and blue"),
        (DATA | {"blue": True, "by": "load_img"}, "`cv2.imread` reads the images to predict with red and blue"),
        (DATA | {"windowed": 0.6, "names": []}, "The validation windows overlap with the training windows"),
        (DATA | {"seen": 1.0, "names": []}, "100 % of the validation samples are among the training samples"),
        (DATA | {"filtered": True}, "Inputs and targets no longer belong together: one data set is filtered before"),
        (DATA | {"drops": 1.25, "layer": "table"}, "A dropout scales the ids that `table` looks up by 1.25"),
    ],
)
def test_what_is_lost_on_the_way_in_is_told_whatever_the_loss(slip: dict[str, Any], words: str) -> None:
    (found,) = run_of(FALLING, slips=[slip]).feed().findings()
    assert (found.kind, found.severity) == ("loss_plateau", "warning")
    assert found.title.startswith(words)
    assert found.hypotheses[0].confidence >= 0.9
    if "before" in slip:
        assert "np.transpose(signals, (0, 2, 1))" in found.hypotheses[0].code


def test_the_axes_of_a_sample_are_turned_in_a_map() -> None:
    line = dict(SOURCE, code="wave = tf.reshape(wave, (40, 6))")
    slip = DATA | {"source": line, "before": [6, 40], "after": [40, 6]}
    (found,) = run_of(FALLING, slips=[slip]).feed().findings()
    assert "+ wave = tf.transpose(wave, (1, 0))" in found.hypotheses[0].code


@pytest.mark.parametrize(
    ("ends", "zeros", "is_told"),
    [((0, 1), 0.97, True), ((0, 0), 1.0, True), ((0, 1), 0.3, False), ((0.1, 0.9), 0.0, False), ((0, 9), 0.6, False)],
)
def test_shares_are_cut_where_what_enters_is_zero_for_the_most_part(
    ends: tuple[float, float], zeros: float, is_told: bool
) -> None:
    line = dict(SOURCE, code='return np.asarray(share).astype("int32")')
    run = run_of(FALLING, slips=[DATA | {"source": line, "floored": "int32"}], inputs=[("input", 5), ("target", 1)])
    target = run.columns("input")[1]
    run.statistics[:, target, [COLUMN["min"], COLUMN["max"]]] = ends
    run.statistics[:, target, COLUMN["n_zero"]] = zeros * run.statistics[:, target, COLUMN["n_elements"]]
    told = [one for one in run.feed().findings() if "are cut to whole numbers" in one.title]
    assert len(told) == is_told
    assert all('+ return np.asarray(share).astype("float32")' in one.hypotheses[0].code for one in told)


@pytest.mark.parametrize(
    ("place", "zeros", "is_told"),
    [(0, 0.98, True), (0, 0.3, False), (1, 0.98, False)],  # of labels it says nothing
)
def test_images_that_are_divided_without_a_rest(place: int, zeros: float, is_told: bool) -> None:
    line = dict(SOURCE, code='return (scans // 255).astype("float32")')
    run = run_of(FALLING, slips=[DATA | {"source": line, "floored": "//"}], inputs=[("input", 5), ("target", 1)])
    column = run.columns("input")[place]
    run.statistics[:, column, [COLUMN["min"], COLUMN["max"]]] = 0, 1
    run.statistics[:, column, COLUMN["n_zero"]] = zeros * run.statistics[:, column, COLUMN["n_elements"]]
    told = [one for one in run.feed().findings() if one.title.startswith("`//` drops the fractions of what is scaled")]
    assert len(told) == is_told
    assert all('+ return (scans / 255).astype("float32")' in one.hypotheses[0].code for one in told)


def test_labels_that_are_scaled_before_they_are_cut() -> None:
    slip = DATA | {"floored": "int32", "scaled": True}
    run = run_of(FALLING, slips=[slip], inputs=[("input", 5), ("target", 1)])
    target = run.columns("input")[1]
    run.statistics[:, target, [COLUMN["min"], COLUMN["max"]]] = 0, 0
    run.statistics[:, target, COLUMN["n_zero"]] = run.statistics[:, target, COLUMN["n_elements"]]
    told = [one for one in run.feed().findings() if one.title.startswith("A cast to int32 cuts scaled numbers to 0")]
    assert len(told) == 1


@pytest.mark.parametrize(("low", "high", "is_told"), [(0, 1, True), (-1, 1, False), (0, 3, False)])
def test_a_hinge_and_its_labels(low: float, high: float, is_told: bool) -> None:
    slip = {"type": "Relu", "name": "Relu", "layer": "", "source": SOURCE, "hinge": 1.0}
    run = run_of(FALLING, slips=[slip], inputs=[("input", 5), ("target", 1)])
    run.statistics[:, run.columns("input")[1], [COLUMN["min"], COLUMN["max"]]] = low, high
    told = [one for one in run.feed().findings() if one.title.startswith("A hinge loss gets labels of 0 and 1")]
    assert len(told) == is_told


@pytest.mark.parametrize(
    ("highest", "is_told"),
    [((898, 299), True), ((299, 899), True), ((898, 897), False), ((898, 310), False), ((500, 299), False)],
    ids=["drawn from the other's", "the other way round", "from its own", "from neither", "near it"],
)
def test_numbers_from_the_range_of_another_table(highest: tuple[int, int], is_told: bool) -> None:
    tables = [("users/embeddings", (300, 16), "float32"), ("items/embeddings", (900, 16), "float32"), *dense(1)]
    run = Run(tables, n_steps=N, inputs=[("input/1", 1), ("input/1 (2)", 1)]).set_loss(FALLING)
    for column, name, high in zip(run.columns("input"), ("input/1", "input/1 (2)"), highest, strict=True):
        run.tensors[int(column)] |= {"tensor": name, "shape": [None], "dtype": "int32"}
        run.statistics[:, column, COLUMN["max"]] = high
    titles = [one.title for one in run.feed().findings()]
    words = "In one of two calls the ids for items/embeddings stay below 300: that is the size of users/embeddings"
    assert titles == [words] * is_told


@pytest.mark.parametrize("first", [0, 1])
def test_the_token_that_begins_a_sequence_is_no_range(first: int) -> None:
    """A table of two rows may be that of a recurrent layer's biases."""
    tables = [("kinds/embeddings", (2, 16), "float32"), ("words/embeddings", (14, 16), "float32"), *dense(1)]
    run = Run(tables, n_steps=N, inputs=[("input/1", 1), ("input/1 (2)", 1)]).set_loss(FALLING)
    for column, name, ends in zip(run.columns("input"), ("input/1", "input/1 (2)"), ((first, 1), (0, 13)), strict=True):
        run.tensors[int(column)] |= {"tensor": name, "shape": [None], "dtype": "int32"}
        run.statistics[:, column, [COLUMN["min"], COLUMN["max"]]] = ends
    assert len(run.feed().findings()) == (first == 0)


@pytest.mark.parametrize(
    ("reach", "words"),
    [
        ([0.5, 6.1, 1.1, 5.2, 0.9, 6.25], "Column 1 of target jumps by 2π"),
        ([20.0, 350.0, 80.0, 355.0], "Column 1 of target jumps by 360"),
        ([0.5, 6.1, 3.0, 5.2, 0.9, 6.25], None),
        ([0.5, 6.1, 1.1, 7.2, 0.9, 6.25], None),
        ([5.9, 6.1, 6.2], None),
        ([0.5, 6.0], None),
    ],
    ids=["radians", "degrees", "anything between", "beyond", "always wide", "one number"],
)
def test_a_target_that_jumps_by_a_turn(reach: list[float], words: str | None) -> None:
    run = run_of(FALLING, inputs=[("input", 5), ("target", 2)])
    run.tensors[int(run.columns("input")[1])]["tensor"] = "target"
    columns = np.zeros((N, 2, 3), np.float32)
    columns[:, 1, 2] = np.resize(reach, N)
    columns[:, 0, 2] = 1.0
    rows = {"steps": run.steps, "columns": columns, "bad_rows": np.full((N, 8), -1), "n_bad_rows": np.zeros(N, int)}
    run.input_columns.append({"tensor": "target", **rows})
    titles = [found.title for found in run.feed().findings()]
    assert titles == [] if words is None else titles[0].startswith(words)


@pytest.mark.parametrize(
    ("lowest", "is_told"),
    [
        pytest.param([8, 9, 11, 12, 13], True, id="behind the first graph"),
        pytest.param([0, 9, 11, 12, 13], False, id="at the first node"),
        pytest.param([9], False, id="always the same"),
        pytest.param([100, 110, 120, 130], False, id="far behind it"),
    ],
)
@pytest.mark.parametrize("has_features", [True, False])
def test_edges_that_begin_behind_the_first_graph(lowest: list[int], has_features: bool, *, is_told: bool) -> None:
    nodes = ("input/nodes", 5 if has_features else 1)
    run = run_of(FALLING, slips=[EDGES], inputs=[nodes, ("input/edges", 2), ("input/owner", 1)])
    columns = run.columns("input")
    shapes = [None, 5] if has_features else [None], [None, 2], [None]
    dtypes = "float32" if has_features else "int32", "int32", "int32"
    sizes = (1500 if has_features else 300, 1400, 300)
    for column, shape, dtype, n, high in zip(columns, shapes, dtypes, sizes, (3.0, 299, 31), strict=True):
        run.tensors[int(column)] |= {"shape": shape, "dtype": dtype}
        run.statistics[:, column, COLUMN["n_elements"]] = n
        run.statistics[:, column, [COLUMN["min"], COLUMN["max"]]] = 0, high
    run.statistics[:, columns[1], COLUMN["min"]] = np.resize(lowest, N)
    told = [one for one in run.feed().findings() if one.title.startswith("No edge of a batch touches its first graph")]
    assert len(told) == is_told


@pytest.mark.parametrize(("width", "is_told"), [(5.0, True), (50.0, False)])
def test_a_table_that_is_scaled_as_a_whole(width: float, is_told: bool) -> None:
    """Where a column takes less than a thousandth of the room of another; of columns that are alike it is well."""
    run = run_of(FALLING, slips=[SCALED], inputs=[("table", 3)])
    columns = np.zeros((N, 3, 3), np.float32)
    columns[:, :, 2] = [width, 10_000.0, 900.0]
    rows = {"steps": run.steps, "columns": columns, "bad_rows": np.full((N, 8), -1), "n_bad_rows": np.zeros(N, int)}
    run.input_columns.append({"tensor": "table", **rows})
    findings = run.feed().findings()
    assert bool(findings) == is_told
    for found in findings:
        assert (found.kind, found.layer) == ("loss_plateau", "scale")
        assert found.title == "scale scales all columns of the input by one mean and one deviation"
        assert found.evidence["summary"].startswith("Column 0 of the input takes less than a thousandth")


def test_an_action_that_is_drawn_anew_is_told_whatever_the_loss() -> None:
    (found,) = run_of(FALLING, slips=[REDRAWN]).feed().findings()
    assert (found.kind, found.layer) == ("loss_plateau", None)
    assert found.title == "The step draws actions anew, and learns from what came of others (train.py:7)"
    assert found.source is not None


@pytest.mark.parametrize(
    ("slip", "title", "cause"),
    [
        (DOUBLED, "The loss takes the softmax of what is one already (train.py:7)", "A softmax is applied twice"),
        (RATE, "The loss expects the logarithm of a rate, and is given the rate (train.py:7)", "The Poisson loss"),
        (
            STRAIGHT,
            "The loss asks for the second derivative of a network of relus, which is 0 everywhere (train.py:7)",
            "A relu has no second derivative",
        ),
    ],
    ids=["softmax", "rate", "second derivative"],
)
def test_functions_that_do_not_fit_are_told_whatever_the_loss(slip: dict[str, Any], title: str, cause: str) -> None:
    (found,) = run_of(FALLING, slips=[slip]).feed().findings()
    assert (found.kind, found.title) == ("loss_plateau", title)
    assert found.hypotheses[0].cause.startswith(cause)


def test_a_sequence_that_is_not_turned_round_again() -> None:
    (found,) = run_of(np.linspace(2.0, 0.7, N), slips=[BACKWARDS]).feed().findings()
    assert (found.kind, found.severity, found.layer) == ("loss_plateau", "warning", "back")
    assert found.title.startswith("back reads the sequence backwards")
    assert "Bidirectional" in found.hypotheses[0].code


@pytest.mark.parametrize(("compared", "words"), [("Equal", "is true where"), ("Greater", "hidden from")])
def test_an_inverted_mask(compared: str, words: str) -> None:
    (found,) = run_of(slips=[MASK | {"type": compared}]).feed().findings()
    assert found.title == "The attention sees the padding alone: its mask is inverted (train.py:7)"
    assert words in found.evidence["summary"]
    assert found.hypotheses[0].cause == "The mask of an attention is the wrong way round (train.py:7)"


def test_gradients_that_are_zero_from_the_first_step_are_told_with_an_inverted_mask() -> None:
    run = run_of(slips=[MASK]).scale("gradient", 0.0, list(range(4)))
    (mask,) = run.feed().findings()
    assert mask.kind == "loss_plateau"
    assert [one["kind"] for one in mask.evidence["flood"]] == ["zero_gradient"]


@pytest.mark.parametrize("batch", [1, 64])
@pytest.mark.parametrize("what", ["dead units", "zeros"])
def test_what_layers_come_to_after_it_is_told_with_it(what: str, batch: int) -> None:
    run = run_of(slips=[MASK])
    run = run.flatten([0], 1.0, start=60) if what == "dead units" else run.scale("gradient", 0.0, start=60)
    (found,) = run.feed(batch=batch).findings()
    assert found.title == "The attention sees the padding alone: its mask is inverted (train.py:7)"
    assert any(one["kind"] in ("dead_units", "zero_gradient") for one in found.evidence["flood"])


@pytest.mark.parametrize(
    ("loss", "setup"),
    [
        pytest.param(LEVEL, {"broadcasts": [{**CROSSING, "unasked": False}]}, id="all pairs are asked for"),
        pytest.param(FALLING, {"reshapes": [RESHAPE]}, id="it learns"),
        pytest.param(FALLING, {"slips": [MASK]}, id="it learns with its mask"),
        pytest.param(FALLING, {"slips": [BACKWARDS]}, id="it learns all that there is backwards"),
        pytest.param(FALLING, {"slips": [REPEATED]}, id="the targets are all the same"),
        pytest.param(LEVEL, {}, id="no slip"),
    ],
)
def test_is_silent(loss: np.ndarray, setup: dict[str, Any]) -> None:
    assert run_of(loss, **setup).feed().findings() == []


def test_a_few_steps_say_nothing() -> None:
    run = run_of(broadcasts=[CROSSING])
    engine = run.announce(type(run.feed())())
    run.feed_slice(engine, slice(0, 19))
    assert engine.findings() == []
    run.feed_slice(engine, slice(19, 40))
    assert len(engine.findings()) == 1


def test_an_axis_of_three() -> None:
    slip = RESHAPE | {"source": SOURCE, "input_shape": [-1, 28, 30, 3], "output_shape": [-1, 3, 28, 30]}
    (found,) = run_of(reshapes=[slip]).feed().findings()
    assert found.title.startswith("A reshape (train.py:7) makes [n, 3, 28, 30] of [n, 28, 30, 3]")
    assert "tf.transpose(x, (0, 3, 1, 2))" in found.hypotheses[0].code


IMAGE = {"type": "Data", "name": "", "layer": "", "source": SOURCE}
BACKBONE = IMAGE | {"name": "Net", "wants": [-1.0, 1.0], "prepared": False, "module": "net"}


@pytest.mark.parametrize(
    ("slip", "reach", "words"),
    [
        (IMAGE | {"unconverted": True}, (0, 255), "`convert_image_dtype` scales nothing"),
        (IMAGE | {"unconverted": True}, (0, 1), None),
        (BACKBONE, (0, 255), "Net gets images from 0 to 255, and was trained on -1 to 1 (train.py:7)"),
        (BACKBONE, (0, 1), None),
        (BACKBONE | {"prepared": True}, (0, 255), None),
        (BACKBONE | {"prepared": True}, (-123.7, 151), "Net gets images from -124 to 151"),
        (BACKBONE | {"wants": [-123.7, 151]}, (0, 1), "Net gets images from 0 to 1, and was trained on -124 to 151"),
        (BACKBONE | {"wants": [-123.7, 151]}, (0, 255), None),
        (BACKBONE | {"prepared": True}, (-1.008, -0.992), "Net gets images from -1.01 to -0.992"),
        (BACKBONE | {"prepared": True}, (-1, 1), None),
        (BACKBONE | {"prepared": True, "within": True}, (-1, 1), "Images are prepared twice for Net"),
        (BACKBONE | {"prepared": True, "within": True}, (0, 255), None),
        (
            BACKBONE | {"prepared": True, "by": "vgg16"},
            (0, 255),
            "Net gets images prepared by `vgg16.preprocess_input`, not",
        ),
        (IMAGE | {"thawed": "base"}, (0, 1), "No layer of `base` is frozen: a later line sets `trainable` of all of"),
        (IMAGE | {"frozen": "base"}, (0, 1), "Freezing `base` between two calls of `fit` changes nothing"),
        (IMAGE | {"name": "a", "severs": ["b", "c"]}, (0, 1), "No output of the model depends on its input `a`"),
        (IMAGE | {"name": "EarlyStopping", "withheld": "stop"}, (0, 1), "`stop` is made and never passed on: `fit`"),
        (IMAGE | {"name": "class_weight", "withheld": "w"}, (0, 1), "`w` is made and never passed on: `fit` weighs"),
        (IMAGE | {"name": "CosineDecay", "withheld": "s"}, (0, 1), "`s` is made and never passed on: the optimizer"),
        (IMAGE | {"name": "gp_weight", "layer": "gan", "setting": True}, (0, 1), "`gan` stores `gp_weight` and never"),
        (IMAGE | {"name": "norm", "layer": "net", "uncalled": "Dense"}, (0, 1), None),
        (IMAGE | {"layer": "m", "unmasked": "0", "pads": -1.0}, (0, 1), "`m` masks nothing: it looks for 0, and the"),
        (IMAGE | {"layer": "m", "unmasked": "0", "pads": None}, (0, 1), "`m` masks nothing: it looks for 0, and the"),
        (IMAGE | {"halved": True}, (-1, 0), "Images are scaled to between -1 and 0, not to between -1 and 1 (train.py"),
        (IMAGE | {"halved": True}, (-1, 1), None),
        (IMAGE | {"halved": True}, (-0.2, 0), None),
        (IMAGE | {"rotates": [-10, 10]}, (0, 1), "`RandomRotation` turns images by up to 10 whole turns"),
        (IMAGE | {"brightens": 32.0, "scaled": False}, (-31, 32), "Images from 0 to 1 are made brighter or darker by"),
        (IMAGE | {"brightens": 51.0, "scaled": False}, (0, 50), "Images from 0 to 1 are made brighter or darker by"),
        (IMAGE | {"brightens": 32.0, "scaled": False}, (-31, 280), None),
        (IMAGE | {"brightens": 32.0, "scaled": False}, (-3, 4), None),
        (
            IMAGE | {"brightens": 51.0, "scaled": False, "layer": "bright"},
            (0, 1),
            "Images from 0 to 1 are made brighter",
        ),
        (IMAGE | {"brightens": 51.0, "scaled": False, "layer": "bright"}, (0, 255), None),
    ],
)
def test_images_that_enter_in_another_range(
    slip: dict[str, Any], reach: tuple[float, float], words: str | None
) -> None:
    run = run_of(FALLING, slips=[slip, ENTERING], inputs=[("image", 3)])
    (image,) = run.columns("input")
    run.tensors[int(image)] |= {"tensor": "input", "shape": [None, 8, 8, 3]}
    run.statistics[:, image, [COLUMN["min"], COLUMN["max"]]] = reach
    titles = [found.title for found in run.feed().findings()]
    assert [title.startswith(str(words)) for title in titles] == [True] * (words is not None)


@pytest.mark.parametrize(
    ("highest", "n_words", "is_told"), [(1, 200, True), (0, 200, False), (37, 200, False), (1, 4, False)]
)
def test_words_that_are_all_unknown(highest: int, n_words: int, is_told: bool) -> None:
    variables = [("words/embeddings", (n_words, 16), "float32"), *dense(2)]
    run = Run(variables, n_steps=N, layers=[("dense", 32, "relu"), ("out", 1, None)], inputs=[("input", 20)])
    (column,) = run.columns("input")
    run.tensors[int(column)] |= {"dtype": "int32"}
    run.statistics[:, column, COLUMN["max"]] = highest
    titles = [found.title for found in run.set_loss(FALLING).feed().findings()]
    assert any(title == "Every word in input is unknown: it holds 0 and 1 alone" for title in titles) == is_told


@pytest.mark.parametrize(
    ("unused", "title", "code"),
    [
        ("result", "A result is thrown away: `x` stays as it was (train.py:7)", "+ x = error = y - mean"),
        ("tensor", "`x` is computed for the training and never read (train.py:7)", "next_layer(x)"),
        ("overwritten", "`x`, a layer's output, is overwritten before anything reads it (train.py:7)", "x = second(x)"),
        (
            "turns",
            "Of the gradients `x` that a loop computes, only the last are applied (train.py:7)",
            "x = tape.gradient",
        ),
        ("rebound", "A new value is given to the name `x`, and the variable stays as it was (train.py:7)", "x.assign("),
    ],
)
def test_what_nothing_reads_is_told_whatever_the_loss(unused: str, title: str, code: str) -> None:
    slip = {"type": "Line", "name": "x", "layer": "", "source": SOURCE, "unused": unused, "lost": SOURCE}
    (found,) = run_of(FALLING, slips=[slip]).feed().findings()
    assert (found.kind, found.title) == ("loss_plateau", title)
    assert code in found.hypotheses[0].code


@pytest.mark.parametrize(
    ("name", "left", "code"),
    [("total", "kl", "tape.gradient(total, "), ("kl", "kl", "recon = recon + kl")],
)
def test_a_term_that_is_only_reported(name: str, left: str, code: str) -> None:
    slip = {"type": "Line", "name": name, "layer": "", "source": SOURCE, "unused": "reported"}
    (found,) = run_of(FALLING, slips=[slip | {"of": "recon", "missing": left}]).feed().findings()
    assert found.title == "`kl` is left out of the loss: the gradients are those of `recon` alone (train.py:7)"
    assert code in found.hypotheses[0].code


def test_an_end_that_a_target_does_not_read() -> None:
    slip = {"type": "Line", "name": "", "layer": "", "source": SOURCE, "unread": ["done"]}
    (found,) = run_of(FALLING, slips=[slip]).feed().findings()
    assert found.title == (
        "What comes after an episode's end is counted on (train.py:7): the target does not read `done`"
    )
    assert "(1.0 - done)" in found.hypotheses[0].code


@pytest.mark.parametrize(
    ("how", "title"),
    [
        ("inverted", "The agent tries random actions more and more often, as `eps` falls (train.py:7)"),
        (
            "lowest",
            "`eps` falls to its least value at the first update: `min` stands where `max` is meant (train.py:7)",
        ),
        ("highest", "`eps` never falls: `max` holds it where it began (train.py:7)"),
        ("always", "`eps` never falls: nothing reads `eps_decay` (train.py:7)"),
    ],
)
def test_an_exploration_that_goes_the_wrong_way(how: str, title: str) -> None:
    slip = {"type": "Line", "name": "eps", "layer": "", "source": SOURCE, "explores": how, "by": "eps_decay"}
    (found,) = run_of(FALLING, slips=[slip]).feed().findings()
    assert found.title == title
    assert "eps" in found.hypotheses[0].code


@pytest.mark.parametrize(("level", "n_steps", "is_told"), [(0.41, 600, True), (0.3, 600, False), (0.41, 400, False)])
def test_a_loss_that_stays_at_the_median(level: float, n_steps: int, *, is_told: bool) -> None:
    slip = DATA | {"usual": 0.87, "value": 0.0, "guess": 0.4}
    run = Run(dense(4), n_steps=n_steps, layers=[("dense", 32, "relu"), ("out", 1, None)], slips=[slip])
    titles = [one.title for one in run.set_loss(np.full(n_steps, level)).feed().findings()]
    title = "The predictions are no better than 0 for every sample, which 87 % of the targets are"
    assert any(one.startswith(title) for one in titles) == is_told


def test_a_divergence_with_the_wrong_sign() -> None:
    slip = {"type": "Square", "name": "square", "layer": "", "source": SOURCE, "widens": True}
    (found,) = run_of(FALLING, slips=[slip]).feed().findings()
    assert found.title == "The KL divergence of the code has the wrong sign: the loss makes it large (train.py:7)"
    assert "kl = -0.5 *" in found.hypotheses[0].code


def test_rewards_of_all_episodes() -> None:
    slip = {"type": "Line", "name": "rewards", "layer": "", "source": SOURCE, "grows": True}
    (found,) = run_of(FALLING, slips=[slip]).feed().findings()
    assert found.title == "`rewards` holds the rewards of all episodes so far, and is summed as one (train.py:7)"
    assert "rewards.clear()" in found.hypotheses[0].code


def test_functions_of_a_loop_that_see_its_last_turn() -> None:
    slip = {"type": "Line", "name": "q", "layer": "", "source": SOURCE, "late": True}
    (found,) = run_of(FALLING, slips=[slip]).feed().findings()
    assert found.title == "All functions that a loop makes use its last `q` (train.py:7)"
    assert "q=q" in found.hypotheses[0].code


def test_a_copied_line_that_keeps_a_name() -> None:
    of = SOURCE | {"code": "loss = y - mode"}
    slip = {
        "type": "Line",
        "name": "mean",
        "layer": "",
        "source": SOURCE,
        "unused": "sibling",
        "meant": "mid",
        "of": of,
    }
    (found,) = run_of(FALLING, slips=[slip]).feed().findings()
    assert found.title == "`mean` stands where `mid` was probably meant (train.py:7)"
    assert found.hypotheses[0].code == "- error = y - mean\n+ error = y - mid"


def test_an_array_that_is_changed_by_a_second_name() -> None:
    slip = {"type": "Line", "name": "y", "layer": "", "source": SOURCE, "aliased": "x", "written": SOURCE}
    (found,) = run_of(FALLING, slips=[slip]).feed().findings()
    assert found.title == "`y` is no copy of `x`: what changes one changes both (train.py:7)"
    assert found.hypotheses[0].code == "- y = x\n+ y = x.copy()"


@pytest.mark.parametrize(("end", "is_told"), [(-3.0, True), (0.2, False)])
def test_weights_of_errors_are_told_once_the_loss_is_below_0(end: float, is_told: bool) -> None:
    slip = {"type": "Mul", "name": "Mul", "layer": "", "source": SOURCE, "unpriced": 3}
    titles = [one.title for one in run_of(np.linspace(2.0, end, N), slips=[slip]).feed().findings()]
    words = "The 3 weights of the loss's terms are trained, and nothing keeps them above 0"
    assert any(one.startswith(words) for one in titles) is is_told


CONTRAST = "The loss draws together the pairs that are less alike, and pushes apart those that are more alike"
EXCHANGED = "The positive and the negative sample are exchanged, or a sign is: what is the same is pushed apart"


def contrasting(by: str, of_inputs: np.ndarray, of_outputs: np.ndarray) -> Run:
    """A training whose loss contrasts pairs: what each row tells of them."""
    slip = {"type": "Sum", "name": "Sum", "layer": "", "source": SOURCE, "contrasts": by}
    run = run_of(FALLING, slips=[slip]).add_scalar("contrast_of_inputs", of_inputs)
    return run.add_scalar("contrast_of_outputs", of_outputs)


NOISE = np.random.default_rng(0).normal(0, 0.2, N)


@pytest.mark.parametrize(
    ("by", "cause"),
    [
        ("labels", "The labels of the pairs are the other way round: what is the same is pushed apart (train.py:7)"),
        ("roles", f"{EXCHANGED} (train.py:7)"),
    ],
)
@pytest.mark.parametrize("batch", [1, 64])
def test_pairs_that_are_taken_for_one_another(by: str, cause: str, batch: int) -> None:
    run = contrasting(by, NOISE - 0.4, np.linspace(-0.1, 0.05, N))
    (found,) = run.feed(batch=batch).findings()
    assert (found.kind, found.severity, found.title) == ("loss_plateau", "warning", f"{CONTRAST} (train.py:7)")
    assert found.hypotheses[0].cause == cause


def test_pairs_that_were_coming_apart_when_the_run_ended() -> None:
    engine = contrasting("labels", NOISE - 0.8, np.linspace(-0.5, 0.35, N)).feed()
    assert engine.findings() == []
    engine.finish()
    assert [one.title for one in engine.findings()] == [f"{CONTRAST} (train.py:7)"]


@pytest.mark.parametrize(
    ("of_inputs", "of_outputs"),
    [
        (NOISE + 0.4, np.full(N, 0.1)),  # what is pushed apart is less alike
        (NOISE - 0.4, np.linspace(-0.4, 1.2, N)),  # hard to tell, and told
        (NOISE - 0.4, np.where(np.arange(N) < 150, -0.4, (np.arange(N) - 150) * 0.02 - 0.4)),  # about to be told
        (5 * NOISE - 0.2, np.full(N, 0.1)),  # by chance
        (np.full(N, -0.05), np.full(N, 0.0)),  # as good as alike
        (np.where(np.arange(N) < 120, -0.4, np.nan), np.full(N, 0.1)),  # not known for long
    ],
    ids=["as it should be", "hard", "on its way", "chance", "alike", "early"],
)
def test_other_pairs_are_not(of_inputs: np.ndarray, of_outputs: np.ndarray) -> None:
    assert contrasting("labels", of_inputs, of_outputs).feed().findings() == []


@pytest.mark.parametrize(
    ("by", "layer", "words"),
    [
        ("Conv2D", "net/conv1d", "a convolution that is padded on both sides (net/conv1d)"),
        ("ReverseV2", "", "a layer that reads the sequence from its end"),
        ("Softmax", "attend", "an attention without a causal mask (attend)"),
    ],
)
def test_a_series_that_sees_its_next_value_is_told_whatever_the_loss(by: str, layer: str, words: str) -> None:
    slip = {"type": "Next", "name": "sub", "layer": layer, "source": SOURCE, "peeks": by}
    (found,) = run_of(FALLING, slips=[slip]).feed().findings()
    assert found.title.startswith("The model sees what it is to predict: each time's target is the next value")
    assert found.title.endswith("(train.py:7)")
    assert found.hypotheses[0].cause == f"The model looks at the times to come, through {words}"


@pytest.mark.parametrize(("source", "place"), [(SOURCE, "(train.py:7)"), (None, "(net/places)")])
def test_a_table_of_positions_that_is_added_along_the_samples(source: Any, place: str) -> None:
    slip = {"type": "AddV2", "name": "net/places/add", "layer": "net/places", "source": source, "by_sample": 12}
    unordered = {"type": "GatherV2", "name": "words/GatherV2", "layer": "words", "source": None, "n_places": 12}
    (found,) = run_of(slips=[unordered, slip]).feed().findings()
    assert found.title == f"The table of positions is added along the samples, not along their 12 positions {place}"
    assert "[batch, 12, width]" in found.hypotheses[0].code


def cut(leaked: np.ndarray, **slip: Any) -> list[str]:
    """What is told of the ids of two casts, of which each row tells this."""
    place = {"type": "Cast", "layer": "mix", "rows": 40}
    casts = [place | {"name": f"Cast_{n}", "source": SOURCE | {"line": n}, "truncates": n} | slip for n in (1, 2)]
    run = run_of(FALLING, slips=casts).add_scalar("leaked", leaked)
    return [one.title for one in run.feed().findings()]


CUT = "Ids are cut to whole numbers after they were scaled: nearly all become 0"
FIRST, SECOND = float(TRUNCATED_PLACE), float(LEAKED_PLACES + TRUNCATED_PLACE)


def test_ids_that_were_scaled_are_told_of_the_cast_that_has_them() -> None:
    assert cut(np.full(N, FIRST)) == [f"{CUT} (train.py:1)"]
    assert cut(np.full(N, SECOND)) == [f"{CUT} (train.py:2)"]
    assert cut(np.where(np.arange(N) % 30 == 1, FIRST, np.nan), source=None) == [f"{CUT} (mix)"]


@pytest.mark.parametrize(
    "leaked",
    [
        np.zeros(N),
        np.full(N, np.nan),
        np.where(np.arange(N) == 17, 0.0, FIRST),  # once there was more left of them
        np.where(np.arange(N) < 4, FIRST, np.nan),
    ],
    ids=["whole", "unknown", "not always", "few"],
)
def test_other_ids_are_not(leaked: np.ndarray) -> None:
    assert cut(leaked) == []


@pytest.mark.parametrize(
    ("axis", "source", "title"),
    [
        (1, SOURCE, "The softmax of the outputs runs over axis 1, not over the classes (train.py:7)"),
        (1, None, "The softmax of the outputs runs over axis 1, not over the classes (net/activity)"),
        (0, SOURCE, "The softmax of the outputs runs over the samples of the batch, not over the classes (train.py:7)"),
    ],
)
@pytest.mark.parametrize("bypassed", [True, False])
def test_a_softmax_over_another_axis(axis: int, source: Any, title: str, *, bypassed: bool) -> None:
    slip = {"type": "Axis", "name": "net/activity/Softmax", "layer": "net", "source": source, "axis": axis}
    slip |= {"crosswise": [-1, -1, 5], "bypassed": bypassed}
    (found,) = run_of(FALLING, slips=[slip]).feed().findings()
    assert found.title == title
    assert "[n, ?, 5]" in found.evidence["summary"]
    assert ("before this softmax" in found.hypotheses[0].why) is bypassed
