"""Verdicts on what stands still: dead, saturated and equal units, weights, and a loss that never left guessing."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

from gradwatch_server.health.book import GRADIENT_NORM
from gradwatch_server.health.episode import Alike, Flat, Plateau, SharedTarget, Standing, Still, Undone, Untaught
from gradwatch_server.health.finding import CRITICAL, WARNING, Finding, Hypothesis
from gradwatch_server.health.learning_rate import USUAL_RATIO
from gradwatch_server.health.still import RATIO_LIMIT
from gradwatch_server.health.verdict.advice_stall import (
    advise_alike,
    advise_batch,
    advise_copy,
    advise_flat,
    advise_mean,
    advise_plateau,
    advise_shared_target,
    advise_slow,
    advise_standing,
    advise_still,
    advise_undone,
    advise_untaught,
    advise_zero_output,
)
from gradwatch_server.health.verdict.advice_zero import advise_untracked, advise_untrained
from gradwatch_server.health.verdict.scene import NAMES_LIMIT, Scene, table_of, tell
from gradwatch_server.health.verdict.spelling import list_names, say_count, say_more_layers, say_number, say_step

__all__ = [
    "tell_alike",
    "tell_flat",
    "tell_plateau",
    "tell_shared_target",
    "tell_standing",
    "tell_still",
    "tell_undone",
    "tell_untaught",
]

FALLEN_FACTOR: Final = 1.15
"""Of the loss of guessing: from where on a start is said to be above it."""
ALL_SHARE: Final = 0.995
"""From this share on all units are said to be meant."""


def tell_flat(lead: Flat, scene: Scene) -> Finding:
    """The finding of units whose output stands still over whole batches."""
    table = table_of(lead)
    layer, n_layers = table.layer_of(lead.column), len(lead.columns)
    output, source = table.say_output(lead.column), table.sources[lead.column]
    word = "dead" if lead.is_dead else "saturated"
    is_all = lead.share >= ALL_SHARE
    subject = (
        f"{'Every unit' if is_all else f'{lead.share:.0%} of the units'} of {output}{say_more_layers(n_layers - 1)}"
    )
    verb = "is" if is_all else "are"
    if not lead.is_open:
        verb, since = "was" if is_all else "were", f"from {say_step(lead.first_step)} to {say_step(lead.last_step)}"
    else:
        since = "from the first step on" if lead.is_first_row else f"since {say_step(lead.first_step)}"
    what = (
        "0 for every sample of the batch" if lead.is_dead else "at the end of its range for every sample of the batch"
    )
    summary = (
        f"Since {say_step(lead.first_step)} the output of {say_number(100 * lead.share)} % of the units of {output} "
        f"has been {what}"
    )
    if not lead.is_first_row:
        summary += f", after {say_number(100 * max(lead.share_before, 0.0))} % at first"
    summary += ": their slope is 0, and their weights get no gradient."
    names = [table.layer_of(column) for column in sorted(lead.columns)]
    return tell(
        lead,
        scene,
        severity=CRITICAL if is_all and lead.is_open else WARNING,
        title=f"{subject} {verb} {word} {since}",
        layer=layer,
        tensor=table.names[lead.column],
        source=source,
        evidence=scene.evidence(
            summary,
            share=lead.share,
            share_before=lead.share_before,
            function=table.functions[lead.column],
            layers=names[:NAMES_LIMIT],
            n_layers=n_layers,
            largest_input=lead.largest_input,
            is_from_start=lead.is_first_row,
        ),
        hypotheses=advise_flat(lead, scene),
    )


def tell_plateau(lead: Plateau, scene: Scene) -> Finding:
    """The finding of a loss that stays at what guessing gives."""
    n_steps = lead.last_step - lead.first_step + 1
    name = "The loss" if lead.name == "loss" else lead.name
    among = f"{lead.n_classes:,} classes"
    meaning = (
        f"A model that knows nothing of its inputs and has {among} to choose from has a cross-entropy of "
        f"ln {lead.n_classes:,} = {say_number(lead.guess)}."
    )
    if lead.is_of_mean:
        return _tell_mean(lead, scene, name)
    if lead.is_of_zero or lead.is_of_size:
        return _tell_zero_output(lead, scene, name)
    if lead.is_from_start:
        among = f"the {lead.n_classes:,} samples of a batch"
        meaning = (
            f"ln {lead.n_classes:,} is {say_number(lead.guess)}, and {lead.n_classes:,} is the size of the batch, not "
            "a number of classes: the loss compares each sample with all others of its batch, and tells none apart."
        )
    title = f"{name} has not left {say_number(lead.guess)} in {n_steps:,} steps: that is guessing among {among}"
    if lead.is_final:
        title = f"{name} ended at {say_number(lead.level)}, no better than guessing among {among}"
    if not lead.is_open:
        title = f"{name} stood at {say_number(lead.guess)}, guessing among {among}, until {say_step(lead.last_step)}"
    evidence = scene.evidence(
        f"From {say_step(lead.first_step)} to {say_step(lead.last_step)} the median of {lead.name} was "
        f"{say_number(lead.level)}, give or take {say_number(lead.spread)}, without falling. {meaning}"
        + (f" {_say_course(lead)}" if lead.is_final else ""),
        is_final=lead.is_final,
        level=lead.level,
        spread=lead.spread,
        guess=lead.guess,
        n_classes=lead.n_classes,
        is_among_samples=lead.is_from_start,
    )
    return tell(
        lead,
        scene,
        title=title,
        evidence=evidence,
        hypotheses=advise_batch(lead) if lead.is_from_start else advise_plateau(lead, scene),
        subject=lead.name,
    )


def _say_course(lead: Plateau) -> str:
    if lead.start > FALLEN_FACTOR * lead.guess:
        return f"It came down to that from {say_number(lead.start)}, and never below."
    return f"It began at {say_number(lead.start)}, and was at no time any better."


def _say_level(lead: Plateau, name: str, meaning: str) -> str:
    """The title of a squared error at a level that means something, while it stays there."""
    if lead.is_final:
        return f"{name} ended at {say_number(lead.mean)}: {meaning}"
    return f"{name} has not left {say_number(lead.mean)} in {lead.last_step - lead.first_step + 1:,} steps: {meaning}"


def _tell_mean(lead: Plateau, scene: Scene, name: str) -> Finding:
    """The finding of a squared error that stays at what the mean of the targets gives."""
    targets = "the input, which the model is to give back" if lead.is_of_input else "the targets"
    level, title = say_number(lead.mean), _say_level(lead, name, f"that is about the variance of {targets}")
    if not lead.is_open:
        title = f"{name} stood at {level}, the variance of {targets}, until {say_step(lead.last_step)}"
    evidence = scene.evidence(
        f"From {say_step(lead.first_step)} to {say_step(lead.last_step)} {lead.name} was {level} on average, "
        f"without falling, and the variance of {targets} is {say_number(lead.guess)}. A model that gives the mean "
        "of its targets for every input has just that squared error: nothing is learned from the inputs.",
        level=lead.mean,
        spread=lead.spread,
        guess=lead.guess,
        is_target_variance=True,
        is_final=lead.is_final,
    )
    return tell(lead, scene, title=title, evidence=evidence, hypotheses=advise_mean(lead, scene), subject=lead.name)


def _tell_zero_output(lead: Plateau, scene: Scene, name: str) -> Finding:
    """The finding of a squared or absolute error that stays at what giving 0 gives."""
    level = say_number(lead.mean)
    middle = lead.guess if lead.is_of_size else math.sqrt(max(lead.guess - lead.variance, 0.0))
    spread = math.sqrt(lead.variance)
    size, error, left = "mean square", "squared", lead.variance
    if lead.is_of_size:
        size, error, left = "mean size", "absolute", spread
    title = _say_level(lead, name, "the outputs are still near 0, and the targets far from it")
    if not lead.is_open:
        title = (
            f"{name} stood at {level} until {say_step(lead.last_step)}: the outputs were near 0, and the targets not"
        )
    evidence = scene.evidence(
        f"From {say_step(lead.first_step)} to {say_step(lead.last_step)} {lead.name} was {level} on average. The "
        f"{size} of the targets is {say_number(lead.guess)}: a model that gives 0 for every input has just that "
        f"{error} error. Their mean is {say_number(middle)} away from 0, their standard deviation "
        f"{say_number(spread)}; giving the mean alone would leave "
        f"{'less than ' if lead.is_of_size else ''}{say_number(left)}.",
        level=lead.mean,
        spread=lead.spread,
        guess=lead.guess,
        **{"is_target_size" if lead.is_of_size else "is_target_square": True},
        is_final=lead.is_final,
    )
    return tell(
        lead,
        scene,
        title=title,
        evidence=evidence,
        hypotheses=advise_zero_output(middle, spread, scene),
        subject=lead.name,
    )


def tell_shared_target(lead: SharedTarget, scene: Scene) -> Finding:
    """The finding of a squared error that gives all samples of a batch one target."""
    table = table_of(lead)
    layer, since = table.layer_of(lead.column), say_step(lead.first_step)
    title = f"The loss acts as if all samples of a batch had one target, since {since}"
    if not lead.is_open:
        until = say_step(lead.last_step)
        title = f"The loss acted as if all samples of a batch had one target, from {since} to {until}"
    return tell(
        lead,
        scene,
        title=title,
        layer=layer,
        tensor=table.names[lead.column],
        evidence=scene.evidence(
            f"In {say_count(lead.n_rows, 'logged step')} the gradient with respect to the output of {layer} depended "
            "on that output alone, never on a sample's own target: within a batch it was the output minus one number, "
            "times a constant, to the last digits. That number went from "
            f"{say_number(lead.low)} to {say_number(lead.high)} from batch to batch, as the mean of its targets does.",
            target_min=lead.low,
            target_max=lead.high,
        ),
        hypotheses=advise_shared_target(),
    )


def tell_still(lead: Still, scene: Scene) -> Finding:
    """The finding of weights that stand still, or as good as still."""
    if lead.is_slow:
        return _tell_slow(lead, scene)
    n_steps = lead.last_step - lead.first_step + 1
    first, rate = say_step(lead.first_step), scene.learning_rate
    kind = table_of(lead).weight_type
    how_long = f"since {first}" if lead.has_moved else f"in {n_steps:,} steps"
    why = "the learning rate is 0" if rate == 0 else f"no update is large enough to change a {kind}"
    title = f"The weights have not moved {how_long}: {why}"
    if lead.closed_step is not None:
        since = f"from {first} " if lead.has_moved else ""
        why = "the learning rate was 0" if rate == 0 else "no update was large enough"
        title = f"The weights did not move {since}until {say_step(lead.closed_step)}: {why}"
    evidence = scene.evidence(
        f"From {say_step(lead.first_step)} on no kernel's update was more than {say_number(lead.ratio)} of its "
        f"weights, where {USUAL_RATIO:g} is usual and float32 can tell {say_number(RATIO_LIMIT)}. They are kept in "
        f"{kind}. The global "
        f"gradient norm was about {say_number(lead.gradient_norm)}"
        + (f", the learning rate {say_number(rate)}." if rate is not None else "."),
        ratio=lead.ratio,
        ratio_limit=RATIO_LIMIT,
        has_moved=lead.has_moved,
        gradient_norm=lead.gradient_norm,
    )
    return tell(lead, scene, title=title, evidence=evidence, hypotheses=advise_still(lead, scene), subject="weights")


def _tell_slow(lead: Still, scene: Scene) -> Finding:
    """The finding of weights that hardly move."""
    n_steps, loss = lead.last_step - lead.first_step + 1, scene.testimony.known.read_loss()
    hardly = "hardly move" if lead.is_open else f"hardly moved until {say_step(lead.closed_step or lead.last_step)}"
    title = f"The weights {hardly}: no step changed a kernel by more than {say_number(lead.ratio)} of itself"
    rate, norm = scene.learning_rate, scene.testimony.known.read(GRADIENT_NORM)
    what, reading = ("loss", loss) if loss.initial is not None else ("global gradient norm", norm)
    course = (
        f"The {what} (the median of 20 steps) was {say_number(reading.initial or 0.0)} at first, and "
        f"{say_number(reading.recent or 0.0)} by {say_step(lead.known_step)}"
    )
    evidence = scene.evidence(
        f"In {n_steps:,} steps no kernel's update was more than {say_number(lead.ratio)} of its weights, where "
        f"{USUAL_RATIO:g} is usual. {course}"
        + (f"; the learning rate is {say_number(rate)}." if rate is not None else "."),
        ratio=lead.ratio,
        ratio_limit=USUAL_RATIO,
        has_moved=True,
        gradient_norm=lead.gradient_norm,
    )
    return tell(lead, scene, title=title, evidence=evidence, hypotheses=advise_slow(lead, scene), subject="weights")


def tell_undone(lead: Undone, scene: Scene) -> Finding:
    """The finding of weights that something puts back between steps."""
    often = "before every step" if lead.period == 1 else f"every {lead.period:,} steps"
    title = f"What the optimizer does is undone {often}: something puts the weights back"
    if lead.closed_step is not None:
        title = f"What the optimizer did was undone {often} until {say_step(lead.closed_step)}"
    evidence = scene.evidence(
        f"Between two steps the kernels changed without an update, {say_count(lead.n_rows, 'time')} since "
        f"{say_step(lead.first_step)}. Each time that took back what the updates since the last time had done: "
        f"{say_number(round(100 * lead.left, 1))} % of it was left (measured by the kernels' means).",
        left_over=lead.left,
        period=lead.period,
        n_times=lead.n_rows,
    )
    return tell(
        lead, scene, title=title, evidence=evidence, hypotheses=advise_undone(often), subject="weights put back"
    )


def tell_standing(lead: Standing, scene: Scene) -> Finding:
    """The finding of running statistics that no batch has gone into."""
    n_steps = lead.last_step - lead.first_step + 1
    first, others = lead.layers[0], say_more_layers(len(lead.layers) - 1)
    title = f"{first}{others} normalises nothing: in {n_steps:,} steps no batch has gone into its statistics"
    if lead.closed_step is not None:
        title = f"{first}{others} normalised nothing until {say_step(lead.closed_step)}"
    return tell(
        lead,
        scene,
        title=title,
        layer=first,
        evidence=scene.evidence(
            f"The running mean of {first} is still 0 and its running variance still 1, their initial values, while its "
            "gamma and beta are trained. In training each batch changes them. Called as in evaluation, the layer "
            "subtracts 0 and divides by 1"
            + (f". The same is true of {list_names(list(lead.layers[1:]))}." if others else "."),
            states="as made",
            layers=list(lead.layers[:NAMES_LIMIT]),
            n_layers=len(lead.layers),
        ),
        hypotheses=advise_standing(),
        subject=first,
    )


def tell_untaught(lead: Untaught, scene: Scene) -> Finding:
    """The finding of frozen layers that are as they were made."""
    if lead.is_copy:
        return _tell_copy(lead, scene)
    first, names = lead.layers[0], list_names(list(lead.layers))
    are, were = ("is", "was") if len(lead.layers) == 1 else ("are", "were")
    is_left = bool(set(lead.variables) & {*scene.setup.untrained, *scene.setup.untracked})
    title = f"{names} {are} frozen as made: no training has ever moved a bias there"
    if is_left:
        left = _find_left(lead, scene.setup.untrained) or lead.variables
        names = list_names(list(left))
        title = f"No optimizer is given {names}: {'it is' if len(left) == 1 else 'they are'} as first made"
    if lead.closed_step is not None:
        how = "given to no optimizer" if is_left else "frozen as made"
        title = f"{names} {were} {how} until {say_step(lead.closed_step)}"
    return tell(
        lead,
        scene,
        title=title,
        layer=first,
        evidence=scene.evidence(
            _say_made(lead),
            layers=list(lead.layers[:NAMES_LIMIT]),
            n_layers=len(lead.layers),
        ),
        hypotheses=[*_advise_left(lead, scene), *advise_untaught(is_left=is_left, is_judge=lead.is_judge)],
        subject=first,
    )


def _tell_copy(lead: Untaught, scene: Scene) -> Finding:
    """The finding of a copy of what is trained that is never brought up to date."""
    n_steps = lead.last_step - lead.first_step + 1
    title = f"The target network is as it was made: in {n_steps:,} steps it was never brought up to date"
    if lead.closed_step is not None:
        title = f"The target network was as it was made until {say_step(lead.closed_step)}"
    names = [name.removeprefix("copy/") for name in lead.variables]
    return tell(
        lead,
        scene,
        title=title,
        tensor=lead.variables[0],
        evidence=scene.evidence(
            "The step reads a second set of weights, which began as an exact copy of those that it trains, before any "
            f"training. Looked at: the copies of {list_names(names)}. They have not changed up to "
            f"{say_step(lead.known_step)}, while what they were copied from was trained.",
            n_steps=n_steps,
        ),
        hypotheses=advise_copy(),
        subject="copy of what is trained",
    )


def _say_made(lead: Untaught) -> str:
    table = table_of(lead)
    is_bias = [len(table.shapes[table.names.index(name)]) == 1 for name in lead.variables]
    biases = (
        "A bias begins at exactly 0 in all of its places (an LSTM's at 1 for its forget gate), and the first step of "
        "any training moves it. "
    )
    tables = "A table of numbers is as it is drawn at random. "
    return (
        f"Looked at: {list_names(list(lead.variables))}. {biases if any(is_bias) else ''}"
        f"{tables if not all(is_bias) else ''}So it is here, up to "
        f"{say_step(lead.known_step)}: nothing was ever learned there, and what the rest of the model gets from it is "
        "random."
    )


def _advise_left(lead: Untaught, scene: Scene) -> list[Hypothesis]:
    """Causes of variables that no optimizer is given."""
    own = set(lead.variables)
    untracked = [name for name in scene.setup.untracked if name in own]
    return [*advise_untracked(untracked, 0.95), *advise_untrained(_find_left(lead, scene.setup.untrained), 0.9)]


def _find_left(lead: Untaught, names: Sequence[str]) -> list[str]:
    """Those of these variables that stand in layers of which a weight is known to be as it was made."""
    if not set(lead.variables) & set(names):
        return []
    return [name for name in names if name.rpartition("/")[0] in lead.layers]


def tell_alike(lead: Alike, scene: Scene) -> Finding:
    """The finding of layers whose units are copies of one another."""
    table = table_of(lead)
    names = [table.layer_of_gradient(position) for position in lead.positions]
    position, value = next(iter(lead.positions.items()))
    n_units = table.shapes[int(table.gradient[position])][-1]
    others = say_more_layers(len(names) - 1)
    title = f"All units of {names[0]}{others} are the same: its kernel started at {say_number(value)} throughout"
    if lead.closed_step is not None:
        title = f"All units of {names[0]}{others} were the same until {say_step(lead.closed_step)}"
    return tell(
        lead,
        scene,
        title=title,
        layer=names[0],
        tensor=table.name_gradient(position),
        evidence=scene.evidence(
            f"Every element of {table.name_gradient(position)} was {say_number(value)} at the start, and the gradients "
            f"of all {n_units:,} units have been equal in every row looked at since {say_step(lead.first_step)}: what "
            "begins equal and is moved equally stays equal"
            + (f". It is so of {list_names(names)}." if others else "."),
            value=value,
            n_units=n_units,
            layers=names[:NAMES_LIMIT],
            n_layers=len(names),
        ),
        hypotheses=advise_alike(names[0], n_units, value),
    )
