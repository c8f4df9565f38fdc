"""Verdicts on what stands still: dead, saturated and equal units, weights, and a loss that never left guessing."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

from gradwatch_server.health.book import GRADIENT_NORM
from gradwatch_server.health.episode import (
    Alike,
    Flat,
    Lagging,
    Plateau,
    SharedTarget,
    Shrunk,
    Smoothed,
    Standing,
    Still,
    Twins,
    Undone,
    Untaught,
)
from gradwatch_server.health.finding import CRITICAL, WARNING, Finding, Hypothesis
from gradwatch_server.health.lagging import MADE_FACTOR, MADE_SHIFT
from gradwatch_server.health.learning_rate import USUAL_RATIO
from gradwatch_server.health.setup import source_of
from gradwatch_server.health.still import RATIO_LIMIT
from gradwatch_server.health.verdict.advice_stall import (
    advise_alike,
    advise_batch,
    advise_clone,
    advise_copy,
    advise_flat,
    advise_kept,
    advise_lagging,
    advise_last_batch,
    advise_mean,
    advise_plateau,
    advise_shared_target,
    advise_shrinking,
    advise_slow,
    advise_smoothed,
    advise_standing,
    advise_still,
    advise_twins,
    advise_undone,
    advise_untaught,
    advise_zero_output,
)
from gradwatch_server.health.verdict.advice_zero import advise_outside, advise_untracked, advise_untrained
from gradwatch_server.health.verdict.operation import say_line
from gradwatch_server.health.verdict.scene import NAMES_LIMIT, Scene, table_of, tell
from gradwatch_server.health.verdict.spelling import list_names, say_count, say_more_layers, say_number, say_step

__all__ = [
    "say_flat",
    "tell_alike",
    "tell_flat",
    "tell_lagging",
    "tell_plateau",
    "tell_shared_target",
    "tell_smoothed",
    "tell_standing",
    "tell_still",
    "tell_undone",
    "tell_untaught",
]

FALLEN_FACTOR: Final = 1.15
"""Of the loss of guessing: from where on a start is said to be above it."""


def say_flat(lead: Flat) -> str:
    """Which units stand still, and since when."""
    output, is_all = table_of(lead).say_output(lead.column), lead.is_whole
    which = "Every unit" if is_all else f"{lead.share:.0%} of the units"
    verb, since = "is" if is_all else "are", "from the first step on"
    if not lead.is_open:
        verb, since = "was" if is_all else "were", f"from {say_step(lead.first_step)} to {say_step(lead.last_step)}"
    elif not lead.is_first_row:
        verb, since = "has been" if is_all else "have been", f"since {say_step(lead.first_step)}"
    word = "dead" if lead.is_dead else "saturated"
    return f"{which} of {output}{say_more_layers(len(lead.columns) - 1)} {verb} {word} {since}"


def tell_flat(lead: Flat, scene: Scene) -> Finding:
    """The finding of units whose output stands still over whole batches."""
    table = table_of(lead)
    output = table.say_output(lead.column)
    what = (
        "0 for every sample of the batch" if lead.is_dead else "at the end of its range for every sample of the batch"
    )
    summary = (
        f"Since {say_step(lead.first_step)} the output of {say_number(100 * lead.share)} % of the units of {output} "
        f"has been {what}"
    )
    if not lead.is_first_row:
        summary += f" ({say_number(100 * max(lead.share_before, 0.0))} % at first)"
    summary += ". Their slope is 0, and their weights get no gradient."
    names = [table.layer_of(column) for column in sorted(lead.columns)]
    return tell(
        lead,
        scene,
        severity=CRITICAL if lead.is_whole and lead.is_open else WARNING,
        title=say_flat(lead),
        layer=table.layer_of(lead.column),
        tensor=table.names[lead.column],
        source=table.sources[lead.column],
        evidence=scene.evidence(
            summary,
            share=lead.share,
            share_before=lead.share_before,
            function=table.functions[lead.column],
            layers=names[:NAMES_LIMIT],
            n_layers=len(lead.columns),
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
        f"A model that ignores its inputs and guesses among {among} has a cross-entropy of ln {lead.n_classes:,} = "
        f"{say_number(lead.guess)}."
    )
    if lead.is_of_mean:
        return _tell_mean(lead, scene, name)
    if lead.is_of_zero or lead.is_of_size:
        return _tell_zero_output(lead, scene, name)
    if lead.is_from_start:
        among = f"the {lead.n_classes:,} samples of a batch"
        meaning = (
            f"ln {lead.n_classes:,} is {say_number(lead.guess)}, and {lead.n_classes:,} is the batch size, not a "
            "number of classes. The loss compares each sample with all others of its batch, and the model tells none "
            "apart."
        )
    title = f"{name} has not left {say_number(lead.guess)} in {n_steps:,} steps: that is guessing among {among}"
    if lead.is_final:
        title = f"{name} ended at {say_number(lead.level)}, no better than guessing among {among}"
    if not lead.is_open:
        title = f"{name} stood at {say_number(lead.guess)}, guessing among {among}, until {say_step(lead.last_step)}"
    evidence = scene.evidence(
        f"From {say_step(lead.first_step)} to {say_step(lead.last_step)} the median of {lead.name} was "
        f"{say_number(lead.level)}, give or take {say_number(lead.spread)}, and did not fall. {meaning}"
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
        return f"It came down from {say_number(lead.start)} to this level, and never went below it."
    return f"It began at {say_number(lead.start)}, and was never any better."


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
        f"From {say_step(lead.first_step)} to {say_step(lead.last_step)} {lead.name} was {level} on average and did "
        f"not fall. {say_number(lead.guess)} is the variance of {targets}. A model that outputs the mean of its "
        "targets for every input has just that squared error: nothing is learned from the inputs.",
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
            f"{name} stood at {level} until {say_step(lead.last_step)}: the outputs were near 0, the targets were not"
        )
    evidence = scene.evidence(
        f"From {say_step(lead.first_step)} to {say_step(lead.last_step)} {lead.name} was {level} on average. The "
        f"{size} of the targets is {say_number(lead.guess)}: a model that outputs 0 for every input has just that "
        f"{error} error. The mean of the targets is {say_number(middle)} away from 0, and their standard deviation is "
        f"{say_number(spread)}. Outputting that mean alone would leave "
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
    title = f"The loss has acted as if all samples of a batch had one target since {since}"
    if not lead.is_open:
        until = say_step(lead.last_step)
        title = f"The loss acted as if all samples of a batch had one target from {since} to {until}"
    return tell(
        lead,
        scene,
        title=title,
        layer=layer,
        tensor=table.names[lead.column],
        evidence=scene.evidence(
            f"In {say_count(lead.n_rows, 'logged step')} the gradient with respect to the output of {layer} depended "
            "only on that output, not on a sample's own target. Within a batch it was the output minus one number, "
            "times a constant, to the last digits. From batch to batch that number varied between "
            f"{say_number(lead.low)} and {say_number(lead.high)}, as the mean of its targets does.",
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
    moved = "no kernel has changed at all"
    if lead.ratio > 0:
        moved = f"no kernel's update was more than {say_number(lead.ratio)} of its weights"
    at = f", the learning rate {say_number(rate)}" if rate is not None else ""
    evidence = scene.evidence(
        f"From {say_step(lead.first_step)} on, {moved}. {USUAL_RATIO:g} of its weights is usual, and float32 can "
        f"resolve {say_number(RATIO_LIMIT)}. The weights are kept in {kind}. The global gradient norm was about "
        f"{say_number(lead.gradient_norm)}{at}.",
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
        f"In {n_steps:,} steps no kernel's update was more than {say_number(lead.ratio)} of its weights; "
        f"{USUAL_RATIO:g} is usual. {course}"
        + (f". The learning rate is {say_number(rate)}." if rate is not None else "."),
        ratio=lead.ratio,
        ratio_limit=USUAL_RATIO,
        has_moved=True,
        gradient_norm=lead.gradient_norm,
    )
    return tell(lead, scene, title=title, evidence=evidence, hypotheses=advise_slow(lead, scene), subject="weights")


def tell_undone(lead: Undone, scene: Scene) -> Finding:
    """The finding of weights that something puts back between steps."""
    often = "before every step" if lead.period == 1 else f"every {lead.period:,} steps"
    place, (n_higher, n_others) = say_line(lead.source), lead.leaps
    title = f"What the optimizer does is undone {often}: something puts the weights back{place}"
    if lead.closed_step is not None:
        title = f"What the optimizer did was undone {often} until {say_step(lead.closed_step)}{place}"
    went = ""
    if n_higher > n_others:
        went = f" The loss was higher afterwards {n_higher} of {n_higher + n_others} times."
    evidence = scene.evidence(
        f"The weights changed between two steps, and not by the optimizer, {say_count(lead.n_rows, 'time')} since "
        f"{say_step(lead.first_step)}. Of the updates made since the last time, "
        f"{say_number(round(100 * lead.left, 1))} % remained.{went}",
        left_over=lead.left,
        period=lead.period,
        n_times=lead.n_rows,
    )
    return tell(
        lead,
        scene,
        title=title,
        source=None if lead.source is None else dict(lead.source),
        evidence=evidence,
        hypotheses=advise_undone(often, place),
        subject="weights put back",
    )


def tell_shrunk(lead: Shrunk, scene: Scene) -> Finding:
    """The finding of weights that are made smaller at every step, beside the optimizer."""
    table, place, (first, last) = table_of(lead), say_line(lead.source), lead.norms
    names = [table.name_gradient(position) for position in lead.positions]
    share = f"about {100 * lead.share:.2g}%"
    return tell(
        lead,
        scene,
        title=f"Something besides the optimizer takes {share} off the weights at every step{place}",
        layer=table.layer_of_gradient(lead.positions[0]),
        tensor=names[0],
        source=None if lead.source is None else dict(lead.source),
        evidence=scene.evidence(
            f"The norm of {list_names(names)} fell by {share} a step from {say_step(lead.first_step)} on: that of "
            f"{names[0]} from {say_number(first)} to {say_number(last)} in {say_count(lead.n_rows, 'step')}. The "
            f"optimizer moved it by {100 * lead.ratio:.2g}% at the last of them: too little to explain the fall.",
            share=lead.share,
            ratio=lead.ratio,
            tensors=names[:NAMES_LIMIT],
        ),
        hypotheses=advise_shrinking(share, place),
        subject="weights that are made smaller",
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
            f"The running mean of {first} is still 0 and its running variance still 1, although its gamma and beta are "
            "trained. These are the initial values; in training each batch changes them. Called as in evaluation, the "
            "layer subtracts 0 and divides by 1"
            + (f". The same is true of {list_names(list(lead.layers[1:]))}." if others else "."),
            states="as made",
            layers=list(lead.layers[:NAMES_LIMIT]),
            n_layers=len(lead.layers),
        ),
        hypotheses=advise_standing(),
        subject=first,
    )


def tell_smoothed(lead: Smoothed, scene: Scene) -> Finding:
    """The finding of layers that make samples alike, one after another."""
    names = table_of(lead)
    layer, first = names.layer_of(lead.column), names.layer_of(lead.of_first)
    before, after = map(say_number, lead.distances)
    return tell(
        lead,
        scene,
        title=f"Layer after layer the samples become alike: behind {layer} nothing told them apart at the start",
        layer=layer,
        evidence=scene.evidence(
            f"When training began, the mean cosine distance between two samples (0: same direction, 1: nothing in "
            f"common) was {before} behind {first} and {after} behind {layer}; {lead.n_layers} outputs lie on this way.",
            distance_first=lead.distances[0],
            distance_last=lead.distances[1],
            n_layers=lead.n_layers,
        ),
        hypotheses=advise_smoothed(),
        subject=layer,
    )


def tell_lagging(lead: Lagging, scene: Scene) -> Finding:
    """The finding of running statistics that evaluation uses and that are not those of the batches."""
    first, n_others = lead.layers[0], len(lead.layers) - 1
    others = f" The same is true of {list_names(list(lead.layers[1:]))}." if n_others else ""
    if math.isfinite(lead.jump):
        return _tell_of_last_batch(lead, scene, others)
    which = f"{first}{say_more_layers(n_others)}"
    title = f"The running statistics of {which} are still near their initial values"
    share = f"{lead.share:.0%} of each still comes from the initial value"
    if math.isfinite(lead.together):
        made = 1 - (1 - lead.share) / lead.factor**2
        title = f"Much of the running variance of {which} is still its initial value"
        share += f", and that is {made:.0%} of the running variance, since the batches vary by so little"
    times, is_larger = max(lead.factor, 1 / lead.factor), lead.factor > 1
    off = []
    if times >= MADE_FACTOR:
        off.append(f"divides by a standard deviation {say_number(times)} times {'larger' if is_larger else 'smaller'}")
    if lead.shift >= MADE_SHIFT:
        off.append(f"subtracts a mean that is off by {say_number(lead.shift)} standard deviations of the batches")
    return tell(
        lead,
        scene,
        title=f"{title}: evaluation differs from training",
        layer=first,
        evidence=scene.evidence(
            f"Each batch moves the running mean and variance of {first} only {100 * (1 - lead.momentum):.2g} % of the "
            f"way to its own (momentum {lead.momentum:g}). After {lead.n_rows:,} steps {share}. "
            f"Compared with training, evaluation {' and '.join(off)}.{others}",
            momentum=lead.momentum,
            initial_share=lead.share,
            deviation_factor=lead.factor,
            mean_shift=lead.shift,
        ),
        hypotheses=advise_lagging(lead),
        subject=first,
    )


def _tell_of_last_batch(lead: Lagging, scene: Scene, others: str) -> Finding:
    first, of_last = lead.layers[0], 1 - lead.momentum
    return tell(
        lead,
        scene,
        title=f"Evaluation normalises by the last batch: {of_last:.0%} of the running statistics of {first}"
        f"{say_more_layers(len(lead.layers) - 1)} are its own",
        layer=first,
        evidence=scene.evidence(
            f"Each batch replaces {of_last:.0%} of the running mean and variance of {first} by its own (momentum "
            f"{lead.momentum:g}). From one look to the next the running standard deviation changed by "
            f"{lead.jump:.1%} (median), where an average over many batches stands nearly still.{others}",
            momentum=lead.momentum,
            median_jump=lead.jump,
        ),
        hypotheses=advise_last_batch(lead),
        subject=first,
    )


def tell_untaught(lead: Untaught, scene: Scene) -> Finding:
    """The finding of frozen layers that are as they were made."""
    if lead.is_copy:
        return _tell_copy(lead, scene)
    first, names = lead.layers[0], list_names(list(lead.layers))
    are, were = ("is", "was") if len(lead.layers) == 1 else ("are", "were")
    title = f"{names} {are} frozen as made: no training has ever moved a bias there"
    if lead.is_left:
        left = _find_left(lead, scene.setup.untrained) or lead.layers
        names = list_names(list(left))
        verb, them = ("is", "it") if len(left) == 1 else ("are", "them")
        title = f"{names} {verb} never trained: no optimizer is given {them}"
    call = None
    if lead.is_unknown:
        own = [name for name in lead.variables if name in scene.setup.untracked]
        call = next((one for one in scene.setup.script.get("calls", ()) if one.get("layer") in own), None)
        title = _title_unknown(own, say_line(None if call is None else source_of(call)))
    if lead.clone is not None:
        title = f"{names} {are} frozen with random weights: `clone_model` copies none{say_line(lead.clone)}"
    if lead.closed_step is not None:
        how = "given to no optimizer" if lead.is_left else "frozen as made"
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
        source=None if call is None else source_of(call),
        hypotheses=[
            *_advise_left(lead, scene),
            *(
                advise_untaught(is_left=lead.is_left, is_judge=lead.is_judge)
                if lead.clone is None
                else [advise_clone(lead.clone)]
            ),
        ],
        subject=first,
    )


def _title_unknown(names: Sequence[str], place: str) -> str:
    """Of variables that Keras does not know of: which layer holds them, by which attributes."""
    held = list_names([name.rpartition("/")[2] for name in names])
    are, what = ("is", "a plain `tf.Variable`") if len(names) == 1 else ("are", "plain `tf.Variable`s")
    return f"{held} of {names[0].rpartition('/')[0]} {are} never trained: {what}, which Keras 3 does not track{place}"


def _tell_copy(lead: Untaught, scene: Scene) -> Finding:
    """The finding of a copy of what is trained that is never brought up to date."""
    n_steps = lead.last_step - lead.first_step + 1
    title = f"The target network is as it was made: in {n_steps:,} steps it was never brought up to date"
    if lead.closed_step is not None:
        title = f"The target network was as it was made until {say_step(lead.closed_step)}"
    names = [name.removeprefix("copy/") for name in lead.variables]
    if lead.is_of_statistics:
        return _tell_kept(lead, scene, names)
    return tell(
        lead,
        scene,
        title=title,
        tensor=lead.variables[0],
        evidence=scene.evidence(
            "The step reads a second set of weights. Before any training it was an exact copy of those that the step "
            f"trains. Checked: the copies of {list_names(names)}. They have not changed up to "
            f"{say_step(lead.known_step)}, while the originals were trained.",
            n_steps=n_steps,
        ),
        hypotheses=advise_copy(),
        subject="copy of what is trained",
    )


def _tell_kept(lead: Untaught, scene: Scene, names: list[str]) -> Finding:
    """The finding of a copy whose weights are brought up to date, and not what its layers keep beside them."""
    n_steps = lead.last_step - lead.first_step + 1
    until = "" if lead.closed_step is None else f", until {say_step(lead.closed_step)}"
    return tell(
        lead,
        scene,
        title=f"The copy's running means and variances are as they were made{until}: they are never copied",
        tensor=lead.variables[0],
        evidence=scene.evidence(
            "The step reads a second network, which began as an exact copy of the one it trains: a teacher, an average "
            f"or a target. Its copies of {list_names(names)} have held their initial 0 or 1 for {n_steps:,} steps.",
            n_steps=n_steps,
        ),
        hypotheses=advise_kept(),
        subject="copy of what is trained",
    )


def _say_made(lead: Untaught) -> str:
    table = table_of(lead)
    ranks = [len(table.shapes[table.names.index(name)]) for name in lead.variables]
    if not any(ranks):
        return (
            f"Checked: {list_names(list(lead.variables))}. The loss has a gradient for each, and nothing there has "
            f"changed up to {say_step(lead.known_step)}."
        )
    is_bias = [rank == 1 for rank in ranks]
    biases = (
        "A bias starts at exactly 0 in all of its elements (an LSTM's at 1 for its forget gate), and the first step of "
        "any training moves it. "
    )
    tables = "A table of numbers starts at random. "
    return (
        f"Checked: {list_names(list(lead.variables))}. {biases if any(is_bias) else ''}"
        f"{tables if not all(is_bias) else ''}Nothing there has changed up to "
        f"{say_step(lead.known_step)}: nothing was ever learned there, and the rest of the model gets random numbers "
        "from it."
    )


def _advise_left(lead: Untaught, scene: Scene) -> list[Hypothesis]:
    """Causes of variables that no optimizer is given."""
    own = set(lead.variables)
    outside = next((slip for slip in scene.setup.slips if own.intersection(slip.get("outside", ()))), None)
    if outside is not None:
        return [advise_outside(outside)]
    untracked = [name for name in scene.setup.untracked if name in own]
    known = {*scene.setup.untrained, *scene.setup.untracked}
    # Of a model of which no optimizer is given anything, only layers are known.
    layers = [] if own & known or not lead.is_left else list(lead.layers)
    untrained = _find_left(lead, scene.setup.untrained)
    told = advise_untrained(untrained, 0.9) or advise_untrained(layers, 0.9, noun="layer")
    return [*advise_untracked(untracked, 0.95), *told]


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
    start = f"its kernel started at {say_number(value)} throughout"
    title = f"The units of {names[0]}{others} are copies of one another: {start}"
    if lead.closed_step is not None:
        title = f"The units of {names[0]}{others} were copies of one another until {say_step(lead.closed_step)}"
    return tell(
        lead,
        scene,
        title=title,
        layer=names[0],
        tensor=table.name_gradient(position),
        evidence=scene.evidence(
            f"Every element of {table.name_gradient(position)} was {say_number(value)} at the start. In every row "
            f"checked since {say_step(lead.first_step)} each of its {n_units:,} units has moved as another one has. "
            "Units that start equal and move equally stay equal"
            + (f". The same is true of {list_names(names)}." if others else "."),
            value=value,
            n_units=n_units,
            layers=names[:NAMES_LIMIT],
            n_layers=len(names),
        ),
        hypotheses=advise_alike(names[0], n_units, value),
    )


def tell_twins(lead: Twins, scene: Scene) -> Finding:
    """The finding of kernels that are copies of one another."""
    table = table_of(lead)
    names = [table.name_gradient(position) for position in lead.positions]
    title = f"{list_names(names)} are copies of one another: they started with the same numbers"
    if lead.closed_step is not None:
        title = f"{list_names(names)} were copies of one another until {say_step(lead.closed_step)}"
    more = say_count(lead.n_groups - 1, "more group")
    return tell(
        lead,
        scene,
        title=title,
        layer=table.layer_of_gradient(lead.positions[0]),
        tensor=names[0],
        evidence=scene.evidence(
            f"At each of the {lead.n_rows:,} steps checked since {say_step(lead.first_step)} the {len(names)} kernels "
            "had the same smallest and largest number, and were given the same gradient, while they were trained"
            + (f". The same is true of {more} of kernels." if lead.n_groups > 1 else "."),
            tensors=names[:NAMES_LIMIT],
            n_tensors=len(names),
            n_groups=lead.n_groups,
        ),
        hypotheses=advise_twins(names),
    )
