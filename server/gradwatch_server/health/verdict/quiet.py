"""Verdicts on gradients that fade, are missing or are zero: nothing breaks, and nothing is learned."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from gradwatch_server.health.episode import Fade, Missing, Vanishing, Zero
from gradwatch_server.health.finding import CRITICAL, WARNING, Finding
from gradwatch_server.health.table import TensorTable
from gradwatch_server.health.verdict.advice_fade import advise_fade, advise_vanishing
from gradwatch_server.health.verdict.advice_misfit import advise_outweighed
from gradwatch_server.health.verdict.advice_zero import FLAT, UNSEEN, advise_missing, advise_one_step, advise_zero
from gradwatch_server.health.verdict.operation import say_line
from gradwatch_server.health.verdict.scene import NAMES_LIMIT, Scene, table_of, tell
from gradwatch_server.health.verdict.spelling import list_names, say_count, say_number, say_step
from gradwatch_server.health.zero import CONFIRM_ROWS

__all__ = ["tell_fade", "tell_missing", "tell_vanishing", "tell_zero"]


def tell_vanishing(lead: Vanishing, scene: Scene) -> Finding:
    """The finding of gradients that fade from output to input."""
    table = table_of(lead)
    tensor, last = table.name_gradient(lead.position), table.name_gradient(lead.last_position)
    ratio = lead.first / lead.last
    loss = scene.testimony.known.read_loss()
    on_the_way = table.kernels[(lead.position <= table.kernels) & (table.kernels <= lead.last_position)]
    is_recurrent = table.count_gates(on_the_way) > 0
    return tell(
        lead,
        scene,
        title=(
            f"The gradient vanishes towards the input: {table.layer_of_gradient(lead.position)} gets "
            f"{say_number(ratio)} of what {table.layer_of_gradient(lead.last_position)} gets"
        ),
        layer=table.layer_of_gradient(lead.position),
        tensor=tensor,
        evidence=scene.evidence(
            f"Since {say_step(lead.first_step)} the gradient norm has been about {say_number(lead.first)} at {tensor} "
            f"and {say_number(lead.last)} at {last}, and the loss has hardly fallen.",
            first_norm=lead.first,
            last_norm=lead.last,
            ratio=ratio,
            last_tensor=last,
            loss_initial=loss.initial,
            loss_recent=loss.recent,
        ),
        hypotheses=advise_vanishing(ratio, scene, is_recurrent=is_recurrent),
    )


def tell_fade(lead: Fade, scene: Scene) -> Finding:
    """The finding of a whole gradient that faded to next to nothing of its start."""
    table = table_of(lead)
    loss, ratio = scene.testimony.known.read_loss(), lead.norm / lead.start
    first = table.layer_of_gradient(int(table.kernels[0])) if len(table.kernels) else table.layer_of_gradient(0)
    model = first.rpartition("/")[0] or first
    n_others = sum(isinstance(member, Fade) for member in scene.incident.followers)
    subject = f"The gradient of {model}" + (" (and of its adversary)" if n_others else "")
    title = f"{subject} has fallen to {say_number(ratio)} of what it was since {say_step(lead.first_step)}"
    if lead.closed_step is not None:
        title = f"{subject} fell to {say_number(ratio)} of what it was, until {say_step(lead.closed_step)}"
    return tell(
        lead,
        scene,
        title=title,
        layer=first,
        evidence=scene.evidence(
            f"In the first steps the global gradient norm was about {say_number(lead.start)}; since "
            f"{say_step(lead.first_step)} it has been about {say_number(lead.norm)}"
            + (
                ". Several optimizers train here, each with its own loss: that one side has hardly any gradient left "
                "does not mean that both are done."
                if lead.is_game
                else ", and the loss has not fallen."
            ),
            start_norm=lead.start,
            norm=lead.norm,
            ratio=ratio,
            is_game=lead.is_game,
            loss_initial=loss.initial,
            loss_recent=loss.recent,
        ),
        hypotheses=advise_fade(ratio, scene, is_game=lead.is_game),
        subject=str(lead.stream),
    )


def tell_missing(lead: Missing, scene: Scene) -> Finding:
    """The finding of variables that get no gradient."""
    table = table_of(lead)
    names = [table.name_gradient(position) for position in lead.positions]
    n_all = len(table.gradient)
    them = "it" if len(names) == 1 else "them"
    verb = "gets" if len(names) == 1 else "get"
    title = f"{list_names(names)} {verb} no gradient from the loss"
    if not lead.is_open:
        title = f"{list_names(names)} got no gradient until {say_step(lead.last_step)}"
    cuts = [cut for cut in scene.setup.cuts if cut["type"] != FLAT]
    cut = next(iter(cuts), {})
    return tell(
        lead,
        scene,
        title=title,
        layer=table.layer_of_gradient(lead.positions[0]),
        tensor=names[0],
        operation={"type": cut["type"], "name": cut["name"]} if cut and cut["type"] != UNSEEN else None,
        source=cut.get("source"),
        evidence=scene.evidence(
            f"The gradient of {say_count(len(names), 'variable')} of {n_all:,} was None in each of the first "
            f"{say_count(lead.n_rows, 'step')}"
            + (
                f"; the training loop drops {them} before the optimizer is called, so TensorFlow does not warn."
                if lead.is_left_out
                else f" although the optimizer was given {them} to train."
            ),
            tensors=names[:NAMES_LIMIT],
            n_tensors=len(names),
            n_tensors_all=n_all,
        ),
        hypotheses=advise_missing(
            len(names),
            n_all,
            cuts,
            is_left_out=lead.is_left_out,
            is_cut_off=_is_cut_off(table, lead.positions),
        ),
    )


def tell_zero(lead: Zero, scene: Scene) -> Finding:
    """The finding of kernels whose gradient is exactly zero."""
    table = table_of(lead)
    positions = sorted(lead.positions)
    names = [table.name_gradient(position) for position in positions]
    is_everything = len(positions) == len(table.kernels)
    is_from_start = lead.is_first_row
    dead = table.layer_of_gradient(lead.fed_zeros) if lead.fed_zeros >= 0 else None
    is_cut_off = positions == table.kernels[: len(positions)].tolist()
    flat = [cut for cut in scene.setup.cuts if cut["type"] == FLAT] if is_from_start and not lead.rounding else []
    cut = flat[0] if flat and (is_everything or is_cut_off) else {}
    unread = [] if is_everything else list(dict.fromkeys(map(table.layer_of_gradient, lead.unread)))
    subject = "Every kernel's gradient" if is_everything else f"The gradient of {list_names(names)}"
    since = "from the first step on" if is_from_start else f"since {say_step(lead.first_step)}"
    how_often = f"in at least {CONFIRM_ROWS} steps in a row" if lead.share == 1 else f"in {lead.share:.0%} of the steps"
    zero = "next to nothing" if lead.is_outweighed else "nothing but rounding" if lead.rounding else "exactly zero"
    was_zero = f"{zero} (at most {say_number(lead.rounding)} of the whole gradient)" if lead.rounding else zero
    zero += "" if lead.share == 1 else f" in {lead.share:.0%} of the steps"
    title = f"{subject} has been {zero} {since}"
    if not lead.is_open:
        title = f"{subject} was {zero} from {say_step(lead.first_step)} to {say_step(lead.last_step)}"
    elif lead.is_of_single:
        title = f"A softmax over a single number leaves {list_names(names)} without a gradient {since}"
    short = _find_one_step(scene, names) if is_from_start else None
    if short is not None:
        title = f"{short['layer']} is given sequences of one step, and remembers nothing{say_line(short.get('source'))}"
    return tell(
        lead,
        scene,
        severity=CRITICAL if is_everything and lead.is_open and lead.share == 1 else WARNING,
        title=title,
        layer=table.layer_of_gradient(positions[0]),
        tensor=names[0],
        operation={"type": cut["type"], "name": cut["name"]} if cut else None,
        source=cut.get("source") or (short or {}).get("source"),
        evidence=scene.evidence(
            f"The gradient of {say_count(len(names), 'kernel')} of {len(table.kernels):,} was {was_zero} "
            f"{how_often}, {since}{_say_unread(unread) if dead is None or short else f'; {_say_dead(dead)}'}.",
            tensors=names[:NAMES_LIMIT],
            n_tensors=len(names),
            n_tensors_all=len(table.kernels),
            zero_share=lead.share,
            fed_zeros=dead,
            unread=unread[:NAMES_LIMIT],
            rounding=lead.rounding,
        ),
        hypotheses=[advise_one_step(short, is_repeated=_is_repeated(table, short))]
        if short is not None
        else [advise_outweighed(table.layer_of_gradient(positions[-1]), lead.rounding)]
        if lead.is_outweighed
        else advise_zero(
            scene,
            is_half="float16" in table.dtypes,
            live_size=lead.live_size,
            is_from_start=is_from_start,
            is_everything=is_everything,
            fed_zeros=dead,
            unread=unread,
            cancelled=table.layer_of_gradient(positions[-1]) if lead.rounding else None,
            scorer=_find_scorer(table, unread) if is_from_start else None,
            is_cut_off=is_cut_off,
            cut=cut,
            output=lead.output if is_everything else None,
            is_softmax_of_one=is_everything and _is_softmax_of_one(table, lead.output),
            factors=_zero_factors(lead, table) if is_from_start else [],
            blank=lead.blank if is_from_start else "",
            closed=lead.closed if is_everything else "",
        ),
    )


def _find_one_step(scene: Scene, names: Sequence[str]) -> Mapping[str, Any] | None:
    """The first recurrent layer that is given one step, where all variables with these names are of such layers."""
    short = [slip for slip in scene.setup.slips if slip.get("one_step")]
    is_all = all(any(name.startswith(f"{slip['layer']}/") for slip in short) for name in names)
    return next((slip for slip in short if is_all and names[0].startswith(f"{slip['layer']}/")), None)


def _is_repeated(table: TensorTable, short: Mapping[str, Any]) -> bool:
    """Whether a step calls a layer several times, as a decoder's for each word."""
    own = [table.names[column] for column in table.activation if table.layers[column] == short["layer"]]
    return any(name.endswith(" (2)") for name in own)


def _is_softmax_of_one(table: TensorTable, output: tuple[float, float] | None) -> bool:
    """Whether the last layer gives one number, which a softmax makes 1."""
    last = table.activation[-1:]
    is_one = output is not None and all(math.isclose(number, 1.0, rel_tol=1e-6) for number in output)
    is_softmax = is_one or any(table.functions[column] == "softmax" for column in last)
    return is_softmax and any(table.shapes[column][-1:] == (1,) for column in last)


def _find_scorer(table: TensorTable, layers: list[str]) -> str | None:
    """The last of some layers, where it gives one number for each of several items of a sample."""
    shapes = [table.shapes[column] for column in table.activation if layers and table.layers[column] == layers[-1]]
    is_one = len(shapes) > 0 and all(len(shape) > 2 and shape[-1] == 1 and shape[-2] != 1 for shape in shapes)
    return layers[-1] if is_one else None


def _is_cut_off(table: TensorTable, positions: tuple[int, ...]) -> bool:
    """Whether the layers of these variables were called before every layer whose variables have a gradient."""
    order = {layer: place for place, layer in reversed([*enumerate(table.layers[c] for c in table.activation)])}
    missing = {table.layer_of_gradient(position) for position in positions}
    others = {table.layer_of_gradient(position) for position in range(len(table.gradient))} - missing
    places = [order.get(layer) for layer in missing]
    rest = [order[layer] for layer in others if layer in order]
    return bool(rest) and all(place is not None and place < min(rest) for place in places)


def _zero_factors(lead: Zero, table: TensorTable) -> list[str]:
    """Variables that hold nothing but zeros since the start, if some are among those without a gradient."""
    names = [table.name_gradient(position) for position in lead.zero_weights]
    return names if any(position in lead.positions for position in lead.zero_weights) else []


def _say_dead(layer: str) -> str:
    # kernel gradient = input^T times signal; bias gradient = sum of the signal
    return f"the bias of {layer} still has a gradient, so the input of {layer} is exactly zero"


def _say_unread(layers: list[str]) -> str:
    if not layers:
        return ""
    return f"; {list_names(layers)} did compute something, but the loss does not depend on it"
