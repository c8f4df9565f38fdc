"""Verdicts on parts that do not fit together: nothing breaks, and little or nothing is learned."""

from __future__ import annotations

import math
from typing import Final

from gradwatch_server.health.episode import (
    Behind,
    ByHeart,
    Collapsed,
    Dropped,
    Emptied,
    Faint,
    Forgetting,
    Overclipped,
    Padded,
    Posterior,
    Relapse,
    Runaway,
    Squashed,
    Starved,
    Stuck,
    Summed,
    Unheard,
    Unreachable,
)
from gradwatch_server.health.finding import Change, Finding, Hypothesis
from gradwatch_server.health.forgetting import CHANGES
from gradwatch_server.health.learning_rate import USUAL_RATIO
from gradwatch_server.health.posterior import SIZE_MAX
from gradwatch_server.health.runaway import is_driven
from gradwatch_server.health.summed import GROWN_FACTOR
from gradwatch_server.health.verdict.advice_growth import GROWN_VARIANCE
from gradwatch_server.health.verdict.advice_misfit import (
    advise_behind,
    advise_by_heart,
    advise_cap,
    advise_collapsed,
    advise_dropped,
    advise_faint,
    advise_held,
    advise_inverted,
    advise_overclipped,
    advise_padded,
    advise_posterior,
    advise_relapse,
    advise_runaway,
    advise_seldom,
    advise_squashed,
    advise_starved,
    advise_stuck,
    advise_summed,
    advise_unheard,
    advise_unreachable,
    is_of_cross_entropy,
    say_losing,
)
from gradwatch_server.health.verdict.operation import name_operation, say_line, say_source
from gradwatch_server.health.verdict.order import advise_order
from gradwatch_server.health.verdict.own_line import parse_call
from gradwatch_server.health.verdict.scene import NAMES_LIMIT, Scene, table_of, tell
from gradwatch_server.health.verdict.spelling import list_names, say_count, say_more_layers, say_number, say_step

__all__ = [
    "tell_behind",
    "tell_by_heart",
    "tell_collapsed",
    "tell_dropped",
    "tell_emptied",
    "tell_faint",
    "tell_forgetting",
    "tell_overclipped",
    "tell_padded",
    "tell_posterior",
    "tell_relapse",
    "tell_runaway",
    "tell_squashed",
    "tell_starved",
    "tell_stuck",
    "tell_unheard",
    "tell_unreachable",
]


def tell_unreachable(lead: Unreachable, scene: Scene) -> Finding:
    """The finding of targets that the last layer cannot give."""
    table = table_of(lead)
    layer, function = table.layer_of(lead.column), table.functions[lead.column]
    reach = f"at least {say_number(lead.low)}"
    if not math.isinf(lead.high):
        reach = f"{say_number(lead.low)} to {say_number(lead.high)}"
    targets = "the data are" if lead.is_of_data else "its targets are" if lead.is_one_of_several else "the targets are"
    ends = f"{layer} ends" if lead.is_of_data or lead.is_one_of_several else "The last layer ends"
    they = "data that it is to be like" if lead.is_of_data else "targets"
    is_entropy = is_of_cross_entropy(lead, scene)
    is_alone = lead.is_of_data or lead.is_one_of_several or is_entropy
    but = "" if is_alone else ", and the loss has not fallen far"
    title = f"Layer {layer} can only give {reach}, and {targets}"
    if is_entropy:
        title = f"A cross-entropy gets labels beyond 0 and 1: {layer} gives {reach}, and {targets}"
    return tell(
        lead,
        scene,
        title=f"{title} {say_number(lead.smallest)} to {say_number(lead.largest)}",
        layer=layer,
        tensor=table.names[lead.column],
        evidence=scene.evidence(
            f"{ends} in {function}, which gives {reach}. In {say_count(lead.n_rows, 'step')} checked, the "
            f"{they} ranged from {say_number(lead.smallest)} to {say_number(lead.largest)}{but}.",
            function=function,
            low=lead.low,
            high=None if math.isinf(lead.high) else lead.high,
            target_min=lead.smallest,
            target_max=lead.largest,
        ),
        hypotheses=advise_unreachable(lead, layer, is_entropy=is_entropy, are_classes=scene.start.are_classes),
    )


def tell_faint(lead: Faint, scene: Scene) -> Finding:
    """The finding of layers whose output shrank to next to nothing."""
    table = table_of(lead)
    layer, ratio = table.layer_of(lead.column), lead.after / lead.before
    names = list(dict.fromkeys(table.layer_of(column) for column in sorted(lead.columns)))
    n_others = len(names) - 1
    others = say_more_layers(n_others)
    subject, shrunk = f"The output of {layer}{others}", say_number(ratio)
    summary = (
        f"The standard deviation of the output of {layer} was about {say_number(lead.before)} in the first steps, "
        f"and {say_number(lead.after)} at {say_step(lead.known_step)}"
    )
    is_too_large = scene.start.grown > GROWN_VARIANCE  # then it is no loss that it shrank
    if not is_too_large:
        summary += ". Next to nothing of the input gets past it"
    if lead.is_of_weights:
        subject, shrunk = f"The kernel of {layer}{others}", say_number(lead.weight_factor)
        summary = (
            f"At {say_step(lead.known_step)} the norm of the kernel of {layer} was {shrunk} of its initial value. Next "
            "to nothing of the input gets past it"
        )
    title = f"{subject} has shrunk to {shrunk} of what it was since {say_step(lead.first_step)}"
    if is_too_large:
        title = f"{subject} began far too large, and shrank to {shrunk} of that by {say_step(lead.first_step)}"
    if lead.closed_step is not None:
        title = f"{subject} was down to {shrunk} of what it was until {say_step(lead.closed_step)}"
    return tell(
        lead,
        scene,
        title=title,
        layer=layer,
        tensor=table.names[lead.column],
        evidence=scene.evidence(
            summary
            + (f". The same is true of {list_names([one for one in names if one != layer])}." if n_others else "."),
            std_before=lead.before,
            std=lead.after,
            ratio=ratio,
            weight_factor=None if math.isnan(lead.weight_factor) else lead.weight_factor,
            layers=names[:NAMES_LIMIT],
            n_layers=len(names),
        ),
        hypotheses=advise_faint(lead, layer, scene),
    )


def tell_collapsed(lead: Collapsed, scene: Scene) -> Finding:
    """The finding of layers that came to give the same for every sample."""
    table = table_of(lead)
    names = list(dict.fromkeys(table.layer_of(column) for column in sorted(lead.columns)))
    layer, n_others = table.layer_of(lead.column), len(names) - 1
    subject, since = f"The output of {layer}{say_more_layers(n_others)}", say_step(lead.first_step)
    title = f"{subject} has been nearly the same for every sample since {since}"
    if lead.closed_step is not None:
        title = f"{subject} was nearly the same for every sample from {since} to {say_step(lead.closed_step)}"
    return tell(
        lead,
        scene,
        title=title,
        layer=layer,
        tensor=table.names[lead.column],
        evidence=scene.evidence(
            f"The mean cosine distance between the outputs of {layer} for two samples of a batch (0: same direction, "
            f"1: nothing in common) was up to {say_number(lead.before)} at first, and "
            f"{say_number(lead.after)} at {say_step(lead.known_step)}. Whatever the input, the output is the same"
            + (f". The same is true of {list_names([one for one in names if one != layer])}." if n_others else "."),
            distance_before=lead.before,
            distance=lead.after,
            layers=names[:NAMES_LIMIT],
            n_layers=len(names),
        ),
        hypotheses=advise_collapsed(lead, layer, scene),
    )


def tell_unheard(lead: Unheard, scene: Scene) -> Finding:
    """The finding of a loss that takes nothing of most samples."""
    table = table_of(lead)
    layer, share = table.layer_of(lead.column), say_number(round(100 * lead.share))
    if lead.is_inverted:
        return _tell_inverted(lead, layer, share, scene)
    verb, since = ("get", f"since {say_step(lead.first_step)}") if lead.is_open else ("got", _say_span(lead))
    recent = scene.testimony.known.read_loss().recent
    loss = "not near its minimum" if recent is None else say_number(recent)
    return tell(
        lead,
        scene,
        title=f"{share} % of the samples {verb} no gradient at all from the loss {since}",
        layer=layer,
        tensor=table.names[lead.column],
        evidence=scene.evidence(
            f"At {say_step(lead.known_step)} the gradient with respect to the output of {layer}, the last layer, was "
            f"exactly 0 for {share} % of the samples. These samples are not simply learned: the loss was still {loss}. "
            + ("" if lead.cap else "With logits every sample would have a gradient."),
            share=lead.share,
            output_min=lead.low,
            output_max=lead.high,
        ),
        source=dict(lead.cap["source"]) if lead.cap else None,
        hypotheses=[advise_cap(lead.cap)] if lead.cap else advise_unheard(lead),
    )


def _tell_inverted(lead: Unheard, layer: str, share: str, scene: Scene) -> Finding:
    """The finding of a mask that keeps the padding."""
    since = f"since {say_step(lead.first_step)}" if lead.is_open else _say_span(lead)
    what, padded = ("words of the input", "0 in the input") if lead.is_of_words else ("labels", "labelled 0")
    return tell(
        lead,
        scene,
        title=f"The loss is taken of the places that are {padded} alone, {since}: its mask is inverted",
        layer=layer,
        tensor=table_of(lead).names[lead.column],
        evidence=scene.evidence(
            f"At {say_step(lead.known_step)} the gradient with respect to the output of {layer}, the last layer, was "
            f"exactly 0 at {share} % of the positions. Exactly as many {what} differ from 0, in this and in every "
            f"other batch checked. So the positions that are {padded}, as padding is, get all of the gradient.",
            share=lead.share,
        ),
        hypotheses=advise_inverted(),
    )


def _say_span(lead: Unheard) -> str:
    return f"from {say_step(lead.first_step)} to {say_step(lead.closed_step or lead.last_step)}"


def tell_dropped(lead: Dropped, scene: Scene) -> Finding:
    """The finding of layers that drop nearly all they are given."""
    table = table_of(lead)
    names = list(dict.fromkeys(table.layer_of(column) for column in lead.columns))
    share = say_number(round(100 * lead.kept, 1))
    verb, since = ("lets", "") if lead.is_open else ("let", f" until {say_step(lead.closed_step or lead.last_step)}")
    return tell(
        lead,
        scene,
        title=f"{names[0]}{say_more_layers(len(names) - 1)} {verb} through {share} % of what it is given{since}",
        layer=names[0],
        tensor=table.names[lead.columns[0]],
        evidence=scene.evidence(
            f"{share} % of the non-zero elements that reach {names[0]} come through, scaled up, as in dropout. What is "
            "left says little about a sample, and differs at every step"
            + (f". The same is true of {list_names(names[1:])}." if len(names) > 1 else "."),
            kept=lead.kept,
            layers=names[:NAMES_LIMIT],
            n_layers=len(names),
        ),
        hypotheses=advise_dropped(lead, names),
    )


def tell_starved(lead: Starved, scene: Scene) -> Finding:
    """The finding of kernels that hardly move while the others do."""
    table = table_of(lead)
    names = list(dict.fromkeys(table.layer_of_gradient(position) for position in lead.positions))
    layer, ratio = names[0], say_number(lead.ratio)
    verb = "moves" if lead.is_open else f"moved until {say_step(lead.closed_step or lead.last_step)}"
    return tell(
        lead,
        scene,
        title=f"The kernel of {layer}{say_more_layers(len(names) - 1)} hardly {verb} while the others do: at most "
        f"{ratio} of itself in a step",
        layer=layer,
        tensor=table.name_gradient(lead.positions[0]),
        evidence=scene.evidence(
            f"Since {say_step(lead.first_step)} no update of {list_names(names)} has been more than {ratio} of its "
            f"weights. The median kernel has moved by up to {say_number(lead.usual_ratio)} of itself.",
            starved_ratio=lead.ratio,
            usual_ratio=lead.usual_ratio,
            layers=names[:NAMES_LIMIT],
            n_layers=len(names),
        ),
        hypotheses=advise_starved(layer, scene),
    )


EMPTIED_CODE: Final = """\
n_steps = tf.cast(tf.round(share * max_steps), tf.int32)     # tf.cast(share, tf.int32) is 0 for any share below 1
mask = tf.sequence_mask(n_steps, max_steps, dtype=x.dtype)"""


def tell_emptied(lead: Emptied, scene: Scene) -> Finding:
    """The finding of divisors that are mostly 0."""
    operation = lead.operation
    source = None if operation is None else operation.source
    place = say_line(source)
    until = "" if lead.closed_step is None else f", until {say_step(lead.closed_step)}"
    layer = "" if operation is None else operation.layer or ""
    return tell(
        lead,
        scene,
        title=f"{lead.share:.0%} of the divisors in {layer} are 0, and `divide_no_nan` makes 0 of them{place}{until}",
        layer=layer or None,
        operation=None if operation is None else name_operation(operation),
        source=None if source is None else dict(source),
        evidence=scene.evidence(
            f"At every step checked since {say_step(lead.first_step)}, half of the divisors or more were exactly 0. "
            "`divide_no_nan` gives 0 for these, with a gradient of 0: what is divided there is lost.",
            share=lead.share,
        ),
        hypotheses=[
            Hypothesis(
                f"What is divided by, such as the size of a mask, is 0 for most samples{place}",
                0.8,
                "A mean over an empty mask is 0 for every such sample, whatever it holds: they look all alike to what "
                "comes after. Usual reasons: a length or share that was rounded down to 0 (`tf.cast` cuts off the "
                "fraction), a mask the wrong way round, a wrong unit.",
                "Look at how the divisor is made: multiply before you cast, and round. If most divisors are meant to "
                "be 0, nothing is wrong.",
                EMPTIED_CODE,
            )
        ],
    )


def tell_padded(lead: Padded, scene: Scene) -> Finding:
    """The finding of sequences that end in padding before a recurrent layer's last state."""
    until = "" if lead.closed_step is None else f", until {say_step(lead.closed_step)}"
    layer = lead.layer or "the recurrent layer"
    title = f"The sequences end in padding, and {layer} outputs only its state after it{until}"
    source = None
    if lead.lost is not None:
        title = f"{layer} reads the padding: its mask is lost in {say_losing(lead.lost)}{until}"
        source = lead.lost.get("source")
    return tell(
        lead,
        scene,
        title=title,
        source=None if source is None else dict(source),
        layer=lead.layer or None,
        evidence=scene.evidence(
            f"In every batch checked since {say_step(lead.first_step)}, at least half of the sequences ended in zeros "
            f"for half of their length or more. No mask makes {layer} skip them. The loss began at "
            f"{say_number(lead.start)} and was {say_number(lead.loss)} at {say_step(lead.known_step)}.",
            start=lead.start,
            loss=lead.loss,
        ),
        hypotheses=advise_padded(lead.layer, lead.lost),
    )


def tell_posterior(lead: Posterior, scene: Scene) -> Finding:
    """The finding of a latent code that is the prior for every sample."""
    table = table_of(lead)
    layer, since = table.layer_of(lead.column), say_step(lead.first_step)
    title = f"Posterior collapse: the latent mean and log-variance have stayed near 0 since {since}"
    if lead.closed_step is not None:
        title = f"Posterior collapse: the latent mean and log-variance stayed near 0 from {since} to "
        title += say_step(lead.closed_step)
    return tell(
        lead,
        scene,
        title=title,
        layer=layer,
        tensor=table.names[lead.column],
        evidence=scene.evidence(
            f"Mean and log-variance ({layer}) had an RMS of {say_number(lead.size)} or less at "
            f"{say_step(lead.known_step)}, and of less than {SIZE_MAX:g} ever since {since}. A useful code has means "
            "of size about 1 and log-variances well below 0.",
            size=lead.size,
        ),
        hypotheses=advise_posterior(layer),
    )


def tell_squashed(lead: Squashed, scene: Scene) -> Finding:
    """The finding of hidden layers, or functions in them, that give hardly anything but their two ends."""
    table = table_of(lead)
    function, source = table.functions[lead.column] or "tanh", table.sources[lead.column]
    is_within = lead.column in table.within
    others = len(lead.columns) - 1
    what = f"{table.say_output(lead.column)}{say_line(source)}"
    more = f" (and {others} more like it)" if is_within and others else say_more_layers(others)
    ends = "-1 and 1" if function == "tanh" else "0 and 1"
    measured = (
        f"The mean square of {table.say_output(lead.column)} was {say_number(lead.square)}; it would be 1 if there "
        f"were only {ends}."
        if function == "tanh"
        else f"The output of {table.say_output(lead.column)} was {lead.square:.1%} of the way to nothing but {ends}."
    )
    until = "" if lead.is_open else f" until {say_step(lead.closed_step or lead.last_step)}"
    return tell(
        lead,
        scene,
        title=f"The output of {what}{more} {'is' if lead.is_open else 'was'} hardly anything but {ends}, "
        f"from the first step on{until}",
        layer=table.layer_of(lead.column),
        tensor=table.names[lead.column],
        source=source,
        evidence=scene.evidence(
            f"{measured}{_say_lines(lead)} There a {function} has next to no slope. The gradient that reaches the "
            "layers before it is small or erratic, and they hardly learn.",
            square=lead.square,
            gain=None if math.isnan(lead.gain) else lead.gain,
            layers=[table.layer_of(column) for column in sorted(lead.columns)][:NAMES_LIMIT],
            n_layers=len(lead.columns),
        ),
        hypotheses=advise_squashed(lead, scene),
    )


def tell_stuck(lead: Stuck, scene: Scene) -> Finding:
    """The finding of recurrent cells of which most gates have no slope left."""
    table = table_of(lead)
    names = list(dict.fromkeys(table.layer_of_gradient(position) for position in lead.positions))
    others, share = say_more_layers(len(names) - 1), f"{lead.share:.0%}"
    stuck = f"stuck since {say_step(lead.first_step)}"
    title = f"{share} of the gates of {names[0]}{others} have been {stuck}: no slope is left"
    if lead.closed_step is not None:
        title = f"{share} of the gates of {names[0]}{others} were stuck until {say_step(lead.closed_step)}"
    return tell(
        lead,
        scene,
        title=title,
        layer=names[0],
        tensor=table.name_gradient(lead.positions[0]),
        evidence=scene.evidence(
            f"The gradient of {share} of the biases in {names[0]} has been exactly 0 in each of "
            f"{say_count(lead.n_rows, 'step')} checked. A bias is added to the input of its gate in every sample and "
            "at every step of the sequence. So that gate's sigmoid or tanh is at its end for all of them.",
            share=lead.share,
            layers=names[:NAMES_LIMIT],
            n_layers=len(names),
        ),
        hypotheses=advise_stuck(names[0], scene),
    )


def _say_lines(lead: Squashed) -> str:
    """The other lines of the user's own code of which it is so."""
    sources = table_of(lead).sources
    functions = table_of(lead).functions
    others = [
        f"the {functions[c] or 'function'} of {say_source(source)}"
        for c in sorted(lead.columns)
        if (source := sources[c]) is not None and source != sources[lead.column]
    ]
    lines = list(dict.fromkeys(others))
    return f" The same is true of {list_names(lines)}." if lines else ""


def tell_overclipped(lead: Overclipped, scene: Scene) -> Finding:
    """The finding of clipping that leaves next to nothing of the gradient."""
    verb = "leaves" if lead.is_open else "left"
    ratio = scene.update_ratio
    return tell(
        lead,
        scene,
        title=f"Clipping {verb} {say_number(lead.left)} of the gradient in every step, and the loss does not fall",
        evidence=scene.evidence(
            f"Since {say_step(lead.first_step)} the global gradient norm has been about {say_number(lead.norm)}, and "
            f"the optimizer's clipping left {say_number(lead.left)} of it"
            + (
                "."
                if ratio is None
                else f"; updates were at most {say_number(ratio)} of the weights ({USUAL_RATIO:g} is usual)."
            ),
            left=lead.left,
            norm=lead.norm,
        ),
        hypotheses=advise_overclipped(lead, scene),
        subject="clipping",
    )


def tell_summed(lead: Summed, scene: Scene) -> Finding:
    """The finding of gradients that are added up and never set back to zero, or not after each update."""
    if math.isfinite(lead.uses):
        return _tell_seldom(lead, scene)
    grown = f"The gradient has grown by a factor of {say_number(lead.grown)} since {say_step(lead.first_step)}"
    if lead.grown < GROWN_FACTOR:
        grown = "The gradient is clipped to the same norm at every step, so its growth cannot be seen"
    title = "The gradients that are applied add up from step to step: they are never set back to zero"
    if lead.closed_step is not None:
        title = f"The gradients that were applied added up from step to step, until {say_step(lead.closed_step)}"
    if lead.ratio is None:
        why = "all gradients are read from variables of the script's own, which were only added to, never reset to 0"
    else:
        why = (
            "each contains the one before: the mean square of the difference between one and the next was "
            f"{say_number(lead.ratio)} of their variance (about 2 for gradients of one batch each)"
        )
    return tell(
        lead,
        scene,
        title=title,
        evidence=scene.evidence(
            f"{grown}, and {why}.",
            grown=lead.grown,
            von_neumann_ratio=lead.ratio,
        ),
        hypotheses=advise_summed(),
        subject="sums of gradients",
    )


def _tell_seldom(lead: Summed, scene: Scene) -> Finding:
    """The finding of gradients that are set back to zero once in several updates."""
    source = scene.facts.setups[lead.stream].cleared_source
    n = round(lead.uses)
    return tell(
        lead,
        scene,
        title=f"The gradients that are applied add up over about {n:,} updates, and are set back to zero only then",
        evidence=scene.evidence(
            "All gradients are read from variables of the script's own, to which the gradients of batches are added. "
            f"There were about {n:,} updates for each time that another number was written into these.",
            grown=lead.grown,
            updates_per_clearing=lead.uses,
        ),
        hypotheses=[advise_seldom(n, source)],
        subject="sums of gradients",
        source=None if source is None else dict(source),
    )


def tell_relapse(lead: Relapse, scene: Scene) -> Finding:
    """The finding of a loss that is back where it began."""
    name = "The loss" if lead.name == "loss" else lead.name
    since = say_step(lead.first_step)
    level = say_number(lead.level)
    title = f"What was learned is lost: {name[0].lower() + name[1:]} has been back at {level} since {since}"
    if lead.closed_step is not None:
        title = f"{name} was back where it began from {since} to {say_step(lead.closed_step)}"
    stale = next((one for one in scene.facts.stales.values() if one.is_long), None)
    return tell(
        lead,
        scene,
        title=title,
        evidence=scene.evidence(
            f"{name} began at {say_number(lead.start)} and had fallen to {say_number(lead.best)} by "
            f"{say_step(lead.best_step)}. Since {since} it has been about {say_number(lead.level)}. In every step it "
            f"was above all its values around {say_step(lead.best_step)}, and it no longer falls."
            + (
                f" From {say_step(stale.first_step)} on nearly every step applied the same gradients, to the last "
                f"digit, with a norm of {say_number(stale.norm)}."
                if stale
                else ""
            ),
            start=lead.start,
            best=lead.best,
            best_step=lead.best_step,
            level=lead.level,
            stale_step=None if stale is None else stale.first_step,
        ),
        hypotheses=advise_relapse(scene, stale),
        subject=lead.name,
    )


def tell_forgetting(lead: Forgetting, scene: Scene) -> Finding:
    """The finding of classes that are learned one after another, each at the cost of the others."""
    leap, learned, guess = say_number(lead.leap), say_number(lead.learned), say_number(math.log(lead.n_classes))
    title = f"Each class is forgotten while another is learned: the loss leaps to about {leap} when that one returns"
    if lead.closed_step is not None:
        title = f"Each class was forgotten while another was learned, until {say_step(lead.closed_step)}"
    return tell(
        lead,
        scene,
        title=title,
        evidence=scene.evidence(
            f"Many batches in a row hold one class only, then another. At {lead.n_leaps} of {CHANGES} changes to a "
            f"class that had been learned before, the loss jumped (to {leap} as a rule), above the {guess} of "
            f"guessing among {lead.n_classes:,} classes. By the last batch of that class it was down to {learned}. "
            "The low loss in between says only that the model predicts the current class.",
            leap=lead.leap,
            learned=lead.learned,
            n_leaps=lead.n_leaps,
            n_classes=lead.n_classes,
            guess=math.log(lead.n_classes),
        ),
        hypotheses=[
            advise_order(
                f"one after another, {lead.stay:.0f} batches of each as a rule",
                lead.n_samples,
                confidence=0.9,
                is_label=True,
            )
        ],
        subject="forgetting",
    )


def tell_behind(lead: Behind, scene: Scene) -> Finding:
    """The finding of a loss that stays where it began, though it had come down before."""
    if lead.baseline is None:
        raise ValueError("an episode of a loss that lags behind needs the run that it lags behind, found none")
    name = "The loss" if lead.name == "loss" else lead.name
    before, here = lead.baseline, say_number(lead.level)
    known = say_step(lead.known_step)
    title = (
        f"{name} does not come down as it did in the last healthy run: {here} at {known}, where that was at "
        f"{say_number(lead.there_level)} by {say_step(lead.there_step)}"
    )
    if lead.closed_step is not None:
        title = f"{name} came down later than in the last healthy run: from {say_step(lead.closed_step)} on"
    return tell(
        lead,
        scene,
        title=title,
        evidence=scene.evidence(
            f"{before.name} ({before.run}) is the last healthy run before this one with the same script or name. Its "
            f"{lead.name} began at {say_number(lead.there_start)} and had come down to {say_number(lead.there_level)} "
            f"by {say_step(lead.there_step)}. Here it began at {say_number(lead.start)} and is {here} at {known}, "
            "after twice as many steps.",
            start=lead.start,
            level=lead.level,
            baseline_run=before.run,
            baseline_start=lead.there_start,
            baseline_level=lead.there_level,
            baseline_step=lead.there_step,
        ),
        hypotheses=advise_behind(before),
        subject=lead.name,
    )


def _say_unseen(lead: ByHeart) -> str:
    return "the last class" if lead.n_unseen == 1 else f"the last {lead.n_unseen} classes"


FAR_FACTOR: Final = 3.0
"""Of the loss of guessing: no labels learned by heart leave all validations so far above it."""
SPLIT_CODE: Final = """\
order = np.random.default_rng(0).permutation(len(x))
model.fit(x[order], y[order], validation_split=0.2)"""


SHUFFLE_CODE: Final = """\
order = np.random.default_rng(0).permutation(len(x_train))
x_train, y_train = x_train[order], y_train[order]"""


def _advise_unseen(lead: ByHeart, scene: Scene) -> list[Hypothesis]:
    """The cause of classes that only the validation has."""
    if not lead.n_unseen:
        return []
    call = scene.setup.find_call("fit")
    tree = None if call is None else parse_call(call)
    is_split = tree is not None and any(one.arg == "validation_split" for one in tree.keywords)
    last = _say_unseen(lead)
    return [
        Hypothesis(
            f"No training sample is of {last}: the data are sorted{say_line(call) if is_split else ''}",
            0.88,
            f"The model has a unit for {last}, and no label of the training was so high. "
            + (
                "`validation_split` takes the last rows as they stand, before anything is shuffled: where rows are "
                "sorted by class, the validation gets classes that were never trained."
                if is_split
                else "Where rows are sorted by class and then cut in two, the validation gets classes that were never "
                "trained."
            ),
            "Shuffle the rows of inputs and labels by one permutation before they are divided.",
            SPLIT_CODE,
            (Change("fit", before=SHUFFLE_CODE),),
        )
    ]


def tell_by_heart(lead: ByHeart, scene: Scene) -> Finding:
    """The finding of a validation loss that never came below where training began."""
    unseen = f"No training sample is of {_say_unseen(lead)}" if lead.n_unseen else ""
    what = unseen or "What is learned does not carry over"
    is_split = any("validation_split" in line for line in (scene.setup.find_call("fit") or {}).get("lines", ()))
    loss = scene.testimony.known.read_loss()
    held = next((one for one in scene.setup.slips if "relabelled" in one or "unlabelled" in one), None)
    return tell(
        lead,
        scene,
        title=f"{what}: the validation loss was never below {say_number(lead.best)}",
        evidence=scene.evidence(
            f"A model that knew nothing had a loss of {say_number(lead.start)}. By {say_step(lead.known_step)} the "
            f"training loss has come down to {say_number(loss.recent or 0.0)} (the median of 20 steps). The best of "
            f"{say_count(lead.n_values, 'validation')} gave {say_number(lead.best)}.",
            best=lead.best,
            n_validations=lead.n_values,
            start=lead.start,
            training_loss=loss.recent,
        ),
        hypotheses=[
            *(advise_held(held, is_told=lead.n_unseen > 0) if held else []),
            *_advise_unseen(lead, scene),
            *advise_by_heart(
                is_split=is_split,
                refit=scene.setup.find_call("refit"),
                is_far=lead.is_guess and lead.best > FAR_FACTOR * lead.start,
            ),
        ],
        subject="validation loss",
    )


def _say_grown(lead: Runaway) -> str:
    factor = say_number(lead.weight_factor)
    return f" All kernels together are {factor} times as large as at first." if is_driven(lead) else ""


def tell_runaway(lead: Runaway, scene: Scene) -> Finding:
    """The finding of a loss that runs away."""
    name = "The loss" if lead.name == "loss" else lead.name
    since = say_step(lead.first_step)
    title = f"{name} has run away: {say_number(lead.start)} at first, {say_number(lead.level)} since {since}"
    if lead.closed_step is not None:
        title = f"{name} ran away to {say_number(lead.level)} and came back at {say_step(lead.closed_step)}"
    is_game = len(scene.facts.optimizers) - len(scene.facts.replicas) > 1
    return tell(
        lead,
        scene,
        title=title,
        evidence=scene.evidence(
            f"The median of {lead.name} over its first values was {say_number(lead.start)}. Since {since} it has been "
            f"at least {say_number(lead.times)} times that, and reached {say_number(lead.level)}. No value was NaN or "
            f"infinite.{_say_grown(lead)}",
            start=lead.start,
            level=lead.level,
        ),
        hypotheses=advise_runaway(lead, scene, is_game=is_game),
        subject=lead.name,
    )
