"""Layers that come to give the same for every sample: told where samples were apart before, and only there."""

from __future__ import annotations

import numpy as np
import pytest

from tests.health.streams import COLUMN, Run, dense

N = 240
LAYERS = [(f"dense_{i}", 64, None) for i in range(3)]
TOGETHER = np.maximum(np.exp(-np.arange(N) / 8.0), 1e-4)
"""From one to the next step an eighth nearer: below 4e-3 by about step 40."""


def run(*, layers: list[tuple[str, int, str | None]] = LAYERS, **options: object) -> Run:
    return Run(dense(3), n_steps=N, layers=layers, **options).set_loss(-np.linspace(0.8, 1.0, N))


@pytest.mark.parametrize("batch", [1, 64])
def test_outputs_that_come_to_be_alike(batch: int) -> None:
    (found,) = run().draw_together([1, 2], TOGETHER).feed(batch=batch).findings()
    assert (found.kind, found.severity, found.layer, found.tensor) == ("dead_units", "warning", "dense_1", "dense_1")
    assert 25 <= found.first_step <= 50
    assert found.title.startswith("The output of dense_1 (and of 1 more layer) has been nearly the same for every")
    assert found.evidence["layers"] == ["dense_1", "dense_2"]
    assert found.evidence["distance_before"] > 0.2
    assert found.evidence["distance"] < 4e-3
    assert found.hypotheses[0].cause.startswith("The outputs collapse")
    assert "-0.8" in found.hypotheses[0].why


@pytest.mark.parametrize(("linear_fit", "are_strange"), [(0.01, True), (0.2, False), (0.8, False)])
def test_inputs_that_tell_nothing_may_be_why(linear_fit: float, are_strange: bool) -> None:
    asked = run(inputs=[("input", 8), ("target", 1)]).set_loss(np.linspace(2.0, 1.9, N))
    sick = asked.draw_together([1, 2], TOGETHER)
    sick = sick.correlate("target", 0.2).add_scalar("linear_fit", linear_fit)
    (found,) = sick.feed().findings()
    assert (
        any(one.cause.startswith("The labels do not belong to the inputs") for one in found.hypotheses) == are_strange
    )


@pytest.mark.parametrize(("loss", "is_guess"), [(np.log(64.0), True), (0.9 * np.log(64.0), False)])
def test_samples_of_which_nothing_tells_the_other_half(loss: float, is_guess: bool) -> None:
    """The loss is that of guessing among the samples of a batch: pairs are asked for, and there are none."""
    sick = run(inputs=[("input", 8)]).set_loss(np.where(np.arange(N) < 10, 4.4, loss)).draw_together([1, 2], TOGETHER)
    n_elements = sick.statistics[:, sick.columns("input", [0])[0], COLUMN["n_elements"]]
    n_elements[:] = 64 * 8
    causes = [one.cause for one in sick.feed().findings()[0].hypotheses]
    assert (causes[0] == "The two halves of the pairs do not belong together") == is_guess


def test_attention_that_sees_what_all_samples_share_may_have_its_mask_upside_down() -> None:
    parts = [(f"block/attention/{name}", 64, None) for name in ("query", "key", "value", "out")]
    (found,) = run(layers=[*parts, ("head", 64, None)]).draw_together([3, 4], TOGETHER).feed().findings()
    assert found.layer == "block/attention/out"
    assert any("its mask is inverted" in hypothesis.cause for hypothesis in found.hypotheses[:2])
    (found,) = run(layers=[*parts, ("head", 64, None)]).draw_together([4], TOGETHER).feed().findings()
    assert not any("mask" in hypothesis.cause for hypothesis in found.hypotheses)


def test_outputs_at_the_two_ends_of_a_tanh_are_saturated() -> None:
    """The layer computes its tanh by itself: its function is not known, its numbers are."""
    sick = run().draw_together([1, 2], TOGETHER)
    column = sick.columns("activation", [1])[0]
    n_elements = sick.statistics[:, column, COLUMN["n_elements"]]
    for name, value in {"min": -1.0, "max": 1.0, "norm": 0.995 * np.sqrt(n_elements), "std": 0.995}.items():
        sick.statistics[:, column, COLUMN[name]] = value
    (found,) = sick.feed().findings()
    assert (found.kind, found.layer) == ("saturated_activation", "dense_1")
    assert found.hypotheses[0].cause == "dense_1 is saturated: nearly all that it gives lies at its two ends"


def test_a_feature_far_larger_than_the_others_makes_samples_alike() -> None:
    sick = run(inputs=[("input", 8)]).draw_together([1, 2], TOGETHER)
    sick.statistics[:, sick.columns("input", [0])[0], COLUMN["max"]] = 2.8e7
    (found,) = sick.feed().findings()
    assert found.kind == "dead_units"
    assert found.hypotheses[0].cause == "The inputs are not scaled"


@pytest.mark.parametrize(("factor", "is_small"), [(1e-5, True), (1e-2, False)])
def test_a_start_too_small_for_the_depth_comes_first(factor: float, is_small: bool) -> None:
    far = run().draw_together([1, 2], TOGETHER)
    far.statistics[0, far.columns("activation", [0])[0], COLUMN["std"]] /= factor
    assert "start too small" not in far.feed().findings()[0].hypotheses[0].cause, "what was out of scale may shrink"
    sick = run().draw_together([1, 2], TOGETHER)
    sick.statistics[0, sick.columns("activation", [2])[0], COLUMN["std"]] *= factor
    (found,) = sick.feed().findings()
    assert (found.hypotheses[0].cause == "The weights start too small for the depth") == is_small


@pytest.mark.parametrize(("factors", "is_small"), [((1.0, 0.1, 0.005), True), ((1.0, 1.0, 0.005), False)])
def test_a_start_that_shrinks_layer_by_layer(factors: tuple[float, ...], is_small: bool) -> None:
    """Which a small last layer alone, as that of a policy, does not."""
    sick = run().draw_together([1, 2], TOGETHER)
    for column, factor in zip(sick.columns("activation"), factors, strict=False):
        sick.statistics[0, column, COLUMN["std"]] *= factor
    (found,) = sick.feed().findings()
    assert (found.hypotheses[0].cause == "The weights start too small for the depth") == is_small


@pytest.mark.parametrize(("kernel", "is_sequence"), [((64, 192), True), ((64, 64, 3), False)])
def test_the_end_of_a_sequence_that_is_the_same_for_all(kernel: tuple[int, ...], is_sequence: bool) -> None:
    """A gated recurrent layer has a kernel for its input and one, as wide, for its own units."""
    variables = [("read/cell/kernel", (30, 192), "float32"), ("read/cell/recurrent_kernel", kernel, "float32")]
    layers = [("words", 64, None), ("read", 64, None), ("head", 64, None)]
    sick = Run([*variables, *dense(1)], n_steps=N, layers=layers).set_loss(0.69)
    (found,) = sick.draw_together([1, 2], TOGETHER).feed().findings()
    assert found.layer == "read"
    assert found.hypotheses[0].cause.startswith("The end of the sequence is the same") == is_sequence


def test_large_steps_are_among_the_suspects() -> None:
    sick = run().draw_together([1, 2], TOGETHER).scale("update", 50.0)
    (found,) = sick.feed().findings()
    assert any(one.cause == "The learning rate is too high" for one in found.hypotheses[:2])


def test_seldom_looked_at() -> None:
    (found,) = run().draw_together([2], TOGETHER).thin(5).feed().findings()
    assert found.layer == "dense_2"


def test_two_that_play_against_each_other_may_have_a_generator_that_makes_one_sample() -> None:
    generator = run(optimizer="generator").draw_together([2], TOGETHER)
    engine = generator.feed()
    run(stream=1, optimizer="critic").feed(engine)
    (found,) = engine.findings()
    assert found.hypotheses[0].cause.startswith("Mode collapse")


def test_a_copy_on_another_device_is_no_player() -> None:
    engine = run(optimizer="adam").draw_together([2], TOGETHER).feed()
    run(stream=1, optimizer="adam", replica=0).feed(engine)
    found = next(one for one in engine.findings() if one.kind == "dead_units")
    assert not any("Mode collapse" in one.cause for one in found.hypotheses)


def test_a_critic_beside_a_policy_is_no_generator() -> None:
    engine = run(optimizer="critic").draw_together([2], TOGETHER).feed()
    others = [(f"policy_{number}", 64, "tanh") for number in range(3)]
    policy = [(name.replace("dense", "policy"), shape, kind) for name, shape, kind in dense(3)]
    Run(policy, n_steps=N, stream=1, optimizer="policy", layers=others).set_loss(0.69).feed(engine)
    (found,) = engine.findings()
    assert found.layer == "dense_2"
    assert not any("Mode collapse" in one.cause for one in found.hypotheses)


def test_a_player_that_moves_the_other_too() -> None:
    engine = run(optimizer="generator").draw_together([2], TOGETHER).feed()
    Run(dense(1), n_steps=N, stream=1, optimizer="critic").set_loss(0.69).feed(engine)
    (found,) = engine.findings()
    assert found.hypotheses[0].cause.startswith("The step of `generator` trains what `critic` trains as well")


@pytest.mark.parametrize(("stop", "is_told"), [(120, False), (200, True)])
def test_what_heals_soon_is_taken_back(stop: int, is_told: bool) -> None:
    healed = np.where(np.arange(N) < stop, TOGETHER, 1.0)
    engine = run().draw_together([1, 2], healed).feed()
    assert [found.kind for found in engine.findings()] == (["dead_units"] if is_told else [])


@pytest.mark.parametrize(("n_steps", "is_told"), [(280, True), (320, False)])
def test_what_has_been_over_for_long_is_taken_back(n_steps: int, is_told: bool) -> None:
    """A critic gives the same for all states until the returns differ by more than their mean."""
    together = np.maximum(np.exp(-np.arange(n_steps) / 8.0), 1e-4)
    critic = Run(dense(3), n_steps=n_steps, layers=LAYERS).set_loss(np.linspace(1.0, 0.2, n_steps))
    engine = critic.draw_together([2], together, stop=200).feed()
    assert [found.kind for found in engine.findings()] == (["dead_units"] if is_told else [])


@pytest.mark.parametrize(("codes", "is_told"), [(["dense_0", "dense_1"], False), (["dense_1"], True)], ids=str)
def test_the_spread_of_a_code_may_be_the_same_for_every_sample(codes: list[str], *, is_told: bool) -> None:
    well = run()
    well.slips = [{"type": "AddV2", "name": "add", "layer": "", "source": None, "codes": codes}]
    assert bool(well.draw_together([1], TOGETHER).feed().findings()) == is_told


def test_what_was_always_alike_has_not_collapsed() -> None:
    assert not run().draw_together([0, 1, 2], 1e-3).feed().findings()


def test_outputs_that_differ_more_than_ever_beside_a_large_mean_have_not_collapsed() -> None:
    """Prices of about 2,000: their directions are alike, and the samples are told apart all the same."""
    well = run().draw_together([2], TOGETHER)
    column = well.columns("activation", [2])[0]
    well.statistics[:, column, COLUMN["norm"]] *= TOGETHER**-0.7
    assert not well.feed().findings()


def test_few_units_have_few_directions() -> None:
    narrow = run(layers=[("dense_0", 64, None), ("dense_1", 3, None)]).draw_together([1], TOGETHER)
    assert not narrow.feed().findings()


def test_samples_that_come_apart_again() -> None:
    (found,) = run().draw_together([2], TOGETHER, stop=150).feed().findings()
    assert "was nearly the same for every sample from step" in found.title
    assert found.title.endswith("to step 150")


def test_not_for_long() -> None:
    assert not run().draw_together([2], TOGETHER, stop=70).feed().findings()


def test_one_that_learned_to_give_the_same_target_to_all() -> None:
    well = run(inputs=[("input", 8), ("target", 64)]).draw_together([2], TOGETHER)
    assert not well.set_loss(2.3 * np.exp(-np.arange(N) / 20.0)).feed().findings()
    sick = run(inputs=[("input", 8), ("target", 64)]).draw_together([2], TOGETHER)
    assert [found.kind for found in sick.set_loss(2.3).feed().findings()] == ["dead_units"]


def test_dead_layers_give_the_same_for_every_sample() -> None:
    relus = run(layers=[(name, units, "relu") for name, units, _ in LAYERS]).set_loss(2.3)
    (found,) = relus.flatten([0], 1.0, start=20).draw_together([1, 2], TOGETHER).feed().findings()
    assert (found.kind, found.layer) == ("dead_units", "dense_0")
    assert "dead" in found.title


def test_a_kernel_that_shrank_to_nothing_is_why() -> None:
    sick = run().draw_together([1, 2], TOGETHER)
    sick.scale("weight", np.where(np.arange(N) < 20, 1.0, 1e-3), [2])
    (found,) = sick.feed().findings()
    assert found.hypotheses[0].cause.startswith("Regularisation or weight decay")


@pytest.mark.parametrize(("end", "is_told"), [(-4.0, False), (-1.5, True)])
def test_the_log_of_a_density_that_fell_far_below_0(end: float, is_told: bool) -> None:
    """A spread that is given beside a mean is nearly all of the output, and the same for every sample."""
    sick = run(inputs=[("input", 8), ("target", 1)]).draw_together([1, 2], TOGETHER)
    kinds = [found.kind for found in sick.set_loss(np.where(np.arange(N) < 25, -1.0, end)).feed().findings()]
    assert kinds == (["dead_units"] if is_told else [])


@pytest.mark.parametrize(("factor", "is_large"), [(100.0, True), (3.0, False)])
def test_numbers_that_grow_through_the_layers_come_first(factor: float, is_large: bool) -> None:
    sick = run().draw_together([1, 2], TOGETHER)
    sick.statistics[0, sick.columns("activation", [0]), COLUMN["std"]] = 1.0
    sick.statistics[0, sick.columns("activation", [2]), COLUMN["std"]] = factor
    causes = [hypothesis.cause for hypothesis in sick.feed().findings()[0].hypotheses]
    assert (causes[0] == "The numbers grow from layer to layer: nothing normalises them") == is_large


@pytest.mark.parametrize(
    ("before", "after", "is_told"),
    [
        pytest.param(500.0, 0.4, False, id="from far too large to a usual size"),
        pytest.param(1.0, 1e-3, True, id="to nothing"),
    ],
)
def test_outputs_that_shrank(before: float, after: float, is_told: bool) -> None:
    sick = run()
    column = sick.columns("activation", [1])[0]
    sick.statistics[:, column, COLUMN["std"]] = np.where(np.arange(N) < 8, before, after)
    told = [found for found in sick.feed().findings() if " has shrunk to " in found.title]
    assert len(told) == is_told


@pytest.mark.parametrize("layer", ["out", "between"])
def test_the_last_layer_may_come_to_rest_in_one_of_its_calls(layer: str) -> None:
    """As the edges of a domain do, where what is sought is 0."""
    names = ("between", "out", "between (2)", "out (2)", "between (3)", "out (3)")
    run = Run(dense(4), n_steps=N, layers=[(name, 4, None) for name in names])
    for column, name in zip(run.columns("activation"), names, strict=True):
        run.tensors[int(column)] |= {"layer": name.partition(" ")[0]}
    run.scale("activation", 1e-3, [names.index(f"{layer} (2)")], start=60)
    told = [found for found in run.feed().findings() if " has shrunk to " in found.title]
    assert len(told) == (layer == "between")


@pytest.mark.parametrize(
    ("factors", "shapes", "is_told"),
    [
        pytest.param((0.05, 0.06), ((8, 4), (8, 4)), True, id="two heads"),
        pytest.param((0.05, 0.06), ((4, 4), (4, 4)), False, id="one behind the other"),
        pytest.param((0.05, 0.06), ((8, 4), (6, 4)), False, id="of two layers"),
        pytest.param((0.05, 0.9), ((8, 4), (8, 4)), False, id="one alone"),
        pytest.param((0.3, 0.3), ((8, 4), (8, 4)), False, id="not that far"),
    ],
)
def test_two_heads_that_shrink_together(
    factors: tuple[float, float], shapes: tuple[tuple[int, int], tuple[int, int]], is_told: bool
) -> None:
    names = ("mean", "log_var", "out")
    variables = [(f"{name}/kernel", shape, "float32") for name, shape in zip(names, (*shapes, (4, 8)), strict=True)]
    run = Run(
        variables,
        n_steps=N,
        layers=[(name, shape[1], None) for (_, shape, _), name in zip(variables, names, strict=True)],
    )
    for place, factor in enumerate(factors):
        run.scale("activation", factor, [place], start=60)
    told = [found for found in run.feed().findings() if " has shrunk to " in found.title]
    assert len(told) == is_told
    assert all(one.hypotheses[0].cause.startswith("A penalty on the output of mean is") for one in told)


@pytest.mark.parametrize(("low", "mean", "is_told"), [(0.0, 0.1, False), (0.0, 0.2, True), (-0.1, 0.1, True)])
def test_weights_of_an_attention_may_be_the_same_for_all(low: float, mean: float, is_told: bool) -> None:
    """Shares of 1 among ten keys, for each head and query: as of one that looks at the place before."""
    sick = run()
    for tensor in sick.tensors:
        if tensor["tensor"] == "dense_1":
            tensor["shape"] = [None, 4, 10, 10]
    sick.draw_together([1], TOGETHER)
    column = sick.columns("activation", [1])[0]
    sick.statistics[:, column, COLUMN["min"]], sick.statistics[:, column, COLUMN["mean"]] = low, mean
    assert bool(sick.feed().findings()) == is_told


@pytest.mark.parametrize(
    ("factor", "function", "depth", "is_told"),
    [
        pytest.param(0.05, None, 3, True, id="what stands behind goes to 0"),
        pytest.param(0.05, "linear", 3, True, id="so it is called"),
        pytest.param(0.5, None, 3, False, id="it gives something still"),
        pytest.param(0.05, "relu", 3, False, id="it may be dead as well"),
        pytest.param(0.05, None, 2, False, id="it is what is asked for"),
    ],
)
def test_units_that_die_because_what_stands_behind_is_to_be_0(
    factor: float, function: str | None, depth: int, *, is_told: bool
) -> None:
    layers = [("dense_0", 64, "relu"), ("dense_1", 8, function), ("dense_2", 64, "relu")][:depth]
    sick = Run(dense(4), n_steps=N, layers=layers)
    sick.flatten([0], 0.9, start=60).scale("activation", factor, [1], start=60)
    causes = [one.cause for found in sick.feed().findings() if found.kind == "dead_units" for one in found.hypotheses]
    words = "A penalty on the output of dense_1 is" if is_told else "Units that died"
    assert [cause.startswith(words) for cause in causes] == [True]


@pytest.mark.parametrize(("level", "margin", "is_told"), [(0.501, 0.5, True), (0.4, 0.5, False), (0.501, None, False)])
def test_embeddings_that_became_one_point(level: float, margin: float | None, is_told: bool) -> None:
    sick = run().draw_together([1, 2], TOGETHER).set_loss(np.where(np.arange(N) < 10, 0.8, level))
    slip = {"type": "Relu", "name": "Relu", "layer": "", "source": None}
    sick.slips = [slip | {"margin": margin}] if margin else []
    (found,) = sick.feed().findings()
    cause = "All embeddings became one point: the loss stands at its margin, 0.5"
    assert (found.hypotheses[0].cause == cause) == is_told


@pytest.mark.parametrize("is_contrasted", [True, False])
def test_what_a_loss_pushes_apart_is_not_held_apart_by_nothing(is_contrasted: bool) -> None:
    sick = run().draw_together([1, 2], TOGETHER)
    slip = {"type": "Sum", "name": "Sum", "layer": "", "source": None, "contrasts": "labels"}
    sick.slips = [slip] if is_contrasted else []
    cause = sick.feed().findings()[0].hypotheses[0].cause
    words = "All descriptions became one point" if is_contrasted else "The outputs collapse: nothing in the loss"
    assert cause.startswith(words)
