"""Whether the loss agrees that an episode is a trouble. Vanishing gradients are none where training is done."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Final

from gradwatch_server.health.book import GRADIENT_NORM, LEARNING_RATE, UPDATE_RATIO, Testimony
from gradwatch_server.health.decayed import EVERY_MAX
from gradwatch_server.health.episode import (
    Alike,
    Behind,
    ByHeart,
    Collapsed,
    Cut,
    Decayed,
    Emptied,
    Episode,
    Fade,
    Faint,
    Flat,
    Lagging,
    Mismatch,
    MismatchKind,
    Misset,
    Misshaped,
    Missing,
    Overclipped,
    Plateau,
    Rate,
    Relapse,
    Remade,
    Runaway,
    Smoothed,
    Squashed,
    Still,
    Stuck,
    Summed,
    Twins,
    Undone,
    Unheard,
    Unreachable,
    Unrelated,
    Unskilled,
    Untaught,
    Vanishing,
    Zero,
)
from gradwatch_server.health.incident import BLOCKING_SHARE
from gradwatch_server.health.learning_rate import USUAL_RATIO
from gradwatch_server.health.plateau import LEVEL_TOLERANCE
from gradwatch_server.health.runaway import is_driven
from gradwatch_server.health.series import Reading
from gradwatch_server.health.slip import SlipKind
from gradwatch_server.health.undone import N_LOSSES

__all__ = ["FALLEN_SHARE", "LEARNED_SHARE", "is_credible", "is_overfit"]

LEARNED_SHARE: Final = 0.1
"""A loss below this part of its start has learned, whatever the layers' norms look like."""
UNHEARD_SHARE: Final = 0.02
"""A loss this far down has little left to learn of any sample."""
BY_HEART_SHARE: Final = 0.5
"""Of its start: a training loss that has come down to this or lower has learned something."""
BEST_SHARE: Final = 0.97
"""Of where training began: a validation loss that was never lower knows nothing."""
VALIDATIONS_MIN: Final = 8
RISEN_FACTOR: Final = 1.01
"""So many validations, and the newest this many times the best: it is not going to come down."""
OVERFIT_FACTOR: Final = 1.1
"""Times the best, the newest validation loss: it has risen."""
OVERFIT_SHARE: Final = 0.5
"""Of it, a training loss that is this far below says little of other samples."""
WARMED_SHARE: Final = 0.5
"""Of its start, where a training ended within its warm-up: with more it has only begun."""
FAIR_SHARE: Final = 0.995
"""Of what guessing among equal classes gives: of a few hundred samples not all classes have as many."""
RANKED_ROWS: Final = 100
RANKED_SHARE: Final = 0.8
"""Of its start, what a loss of several labels is at the most by then where they are ranked."""
ALONE_FACTOR: Final = 10.0
"""Times its start, or 1 where that is smaller: a loss that climbs."""
SPARE_SHARE: Final = 0.5
"""A loss that fell below this part of its start learns with the units that are left, or as slowly as it moves."""
LEAPS_MIN: Final = 5
LEAPS_SHARE: Final = 0.9
"""Of the times after which weights were put back, those with a higher loss: by chance it is half of them."""
CLOSE: Final = 0.8
"""A correlation of outputs and targets from which on they are predicted well."""
GONE_RATE: Final = 1e-5
"""Of the highest rate: steps that are lost in float32's rounding of the weights, or soon will be."""
HASTY_RATE: Final = 1e-3
"""Of the highest rate, where it was cut at every step."""
NO_RATE: Final = 1e-9
"""Of the highest rate: one that is lower, and not 0, is in no schedule. A rate that is multiplied, epoch by epoch, by
what should be its share of the first one falls past it."""
SPENT_STEPS: Final = 300
SPENT_FACTOR: Final = 4
"""Times the steps that moved anything: so many at a rate of 0 are a schedule that ended too early."""
UNTAUGHT_SHARE: Final = 0.75
"""A loss that fell below this part of its start in a hundred steps learns from layers that are random, too."""
FALLEN_SHARE: Final = 0.9
"""A loss above this part of its start has not fallen."""
THROWN_FACTOR: Final = 2.0
"""A loss whose first values are this many times the very first one was thrown up by the first updates."""
SMALL_RATIO: Final = 0.1 * USUAL_RATIO
"""Updates this small against the weights are too small."""
GROWN_FACTOR: Final = 3.0
"""A global gradient norm this many times that of the first 20 rows has grown: by then what runs away is on its way."""
WARM_UP_FACTOR: Final = 2.0
"""A rate that has grown by this since the start is on its way up."""
ENTROPY_SHARE: Final = 0.95
"""Of the cross-entropy of guessing: a loss below it knows more."""
SAME_NORM: Final = 0.7
"""Of its first norm: a gradient that has become no smaller."""
USUAL_SPREAD: Final = 0.05
"""A layer's output with this standard deviation has not faded, whatever it was before."""
NEAR_GUESS: Final = 0.7
"""Of the cross-entropy of guessing."""
NATS: Final = 1.0
"""By how much a loss that began below 0 must have fallen, beside its own size, to have learned: a likelihood of e times
as much for each sample. A similarity, from -1 to 1, never falls so far."""
DONE_LOSS: Final = 1e-6
"""A loss this small has nothing left to learn: its gradients may well be zero."""


def is_credible(episode: Episode, testimony: Testimony) -> bool:
    """Whether the loss, as it was when the rule was sure, agrees that an episode is a trouble."""
    judge = _JUDGES.get(type(episode))
    return judge is None or judge(episode, testimony)


def _has_work_left(_: Episode, testimony: Testimony) -> bool:
    loss = testimony.known.read_loss()
    return not _has_learned(loss.initial, loss.recent)


DIVISIONS: Final = frozenset({"Div", "RealDiv"})
HELD_PART: Final = 0.1
"""Of what elements held by a bound on the wrong side would add to the loss: masks and weights may take the rest."""


def _is_cut_credible(episode: Cut, testimony: Testimony) -> bool:
    """Whether the loss leaves room for elements that a bound before a logarithm holds where they should not be."""
    operation, loss = episode.operation, testimony.known.read_loss()
    if _asks_for_nothing(loss):
        return False
    if operation is not None and operation.function == "Log" and operation.is_held and loss.recent is not None:
        of_each = -math.log(operation.floor or 1.0)
        # A mean begins with the loss of a guess, ln 2, and a sum with as many of these as it has elements.
        n_summed = loss.initial / math.log(2) if loss.initial is not None and loss.initial > of_each else 1.0
        if loss.recent < HELD_PART * episode.share * of_each * n_summed:
            return False
    if operation is not None and operation.function in DIVISIONS and not episode.is_first_row:
        # A softmax over a temperature that is lowered step by step becomes a choice, and has no slope then.
        return _is_still_to_learn(testimony, SPARE_SHARE)
    return _has_work_left(episode, testimony)


def _is_vanishing_credible(episode: Vanishing, testimony: Testimony) -> bool:
    if episode.is_mild:
        return _has_not_fallen(testimony.known.read_loss())
    return _has_work_left(episode, testimony)


def _is_faint_credible(episode: Faint, testimony: Testimony) -> bool:
    # What began far too large and came down to a usual size is well, unless the model has hardly learned since.
    if episode.is_of_weights or episode.after < USUAL_SPREAD:
        return True
    loss = testimony.known.read_loss().recent
    return loss is not None and loss > NEAR_GUESS * episode.guess


def _is_zero_credible(episode: Zero, testimony: Testimony) -> bool:
    if not episode.positions:  # none are left where a later optimizer trains them
        return False
    loss = testimony.known.read_loss()
    if episode.share < 1 and _asks_for_nothing(loss):  # in the other steps it learns
        return False
    # A loss that was tiny from its start tells nothing about its end: what is exactly 0 in float16 may be small.
    # And no one means to weigh by a softmax of a single score, whatever the rest learns.
    return episode.is_unscaled or episode.is_of_single or not _has_learned(loss.initial, loss.recent, done=0.0)


def _is_flat_credible(episode: Flat, testimony: Testimony) -> bool:
    loss = testimony.known.read_loss()
    if episode.share >= BLOCKING_SHARE:
        return not _has_learned(loss.initial, loss.recent)
    # With units to spare a model may learn well; without a loss nobody can say.
    if episode.correlation >= CLOSE or episode.has_adversary:
        return False
    return loss.initial is not None and not _has_learned(loss.initial, loss.recent, SPARE_SHARE)


def _is_still_credible(episode: Still, testimony: Testimony) -> bool:
    rate = testimony.known.read(LEARNING_RATE)
    if not episode.is_slow:
        # Whoever has learned all may stand still; no schedule is meant to spend most of its steps on nothing.
        n_still = episode.last_step - episode.first_step
        is_spent = rate.recent == 0 and n_still >= max(SPENT_STEPS, SPENT_FACTOR * episode.first_step)
        return is_spent or _has_work_left(episode, testimony)
    is_rising = rate.initial is not None and rate.recent is not None and rate.recent > WARM_UP_FACTOR * rate.initial
    loss = testimony.known.read_loss()
    if loss.initial is None:  # then the gradient must be what it was: it is, at weights that are
        norm = testimony.known.read(GRADIENT_NORM)
        is_same = norm.initial is not None and norm.recent is not None and norm.recent > SAME_NORM * norm.initial
        return is_same and not is_rising
    return not is_rising and not _has_learned(loss.initial, loss.recent, SPARE_SHARE)


def _is_still_to_learn(testimony: Testimony, share: float) -> bool:
    """Whether there is a loss, and it has not come down to that part of its start."""
    loss = testimony.known.read_loss()
    return loss.initial is not None and not _has_learned(loss.initial, loss.recent, share)


def _is_undone_credible(episode: Undone, testimony: Testimony) -> bool:
    # A loss may come down slowly all the same: what is lost each time is what came between.
    n_higher, n_others = episode.leaps
    is_lost = n_higher >= LEAPS_MIN and n_higher >= LEAPS_SHARE * (n_higher + n_others)
    return (is_lost and episode.period >= 2 * N_LOSSES) or _is_still_to_learn(testimony, SPARE_SHARE)


def _is_decayed_credible(episode: Decayed, testimony: Testimony) -> bool:
    # No schedule is meant to leave most steps without any effect: whoever has not learned all by then has lost them.
    gone = HASTY_RATE if episode.every < EVERY_MAX else GONE_RATE
    is_gone = episode.rate < gone * episode.highest
    if 0 < episode.rate < NO_RATE * episode.highest:
        return True
    return _is_still_to_learn(testimony, LEARNED_SHARE if is_gone else SPARE_SHARE)


def _is_untaught_credible(episode: Untaught, testimony: Testimony) -> bool:
    # What is random on purpose, a reservoir or random features, is learned from at once; and it is not said to be
    # trainable, as what is merely left out is. To please a judge that was taught nothing is no success, nor
    # to come near to what a random copy says. Who clones a model wants its weights. And who holds random numbers in a
    # variable with a gradient, which Keras does not know of, does not mean to keep them, whatever the rest learns.
    if episode.is_unknown or episode.is_judge or episode.is_copy or episode.clone is not None:
        return True
    return _is_still_to_learn(testimony, LEARNED_SHARE if episode.is_left else UNTAUGHT_SHARE)


_SEEN_IN_LOSS: Final = frozenset(
    {
        *(SlipKind.CROSSING, SlipKind.RESHAPE, SlipKind.BACKWARDS, SlipKind.REPEATED, SlipKind.APART, SlipKind.LINEAR),
        *(SlipKind.NORMED, SlipKind.WAVES, SlipKind.UNORDERED, SlipKind.UNPASSED, SlipKind.UNCALLED),
        *(SlipKind.DIMMED, SlipKind.TOWERS, SlipKind.UNSTOPPED, SlipKind.MASK, SlipKind.CUT, SlipKind.LONE),
    }
)
"""Slips that may be meant, by those who learn with them. Of any other a loss tells nothing: that of a policy, one whose
targets are made of what it gives, or that has no second derivative, takes a rate for its logarithm or a mean over all
pairs, or is lowest where all is the same; an attention that looks ahead for want of weights brings it down, as does
what is learned by heart without neighbours."""
NEAR_MEDIAN: Final = 0.1
"""Of the error of one answer for all: a loss this close to it has learned no other."""
FAR: Final = 30.0
"""A number that no scaled input holds."""
_NEVER_MEANT: Final = frozenset(
    {*(SlipKind.APART, SlipKind.BACKWARDS, SlipKind.CROSSING, SlipKind.REPEATED, SlipKind.TOWERS), SlipKind.UNPASSED}
)
"""No one means to throw away what is learned, nor to lay the first step of a sequence beside the last, to answer
several questions by one number, to turn an image away from its mask, to put samples far from themselves, or to leave
an encoder without what comes of its codes. Who learns with the others may mean them."""


def _is_misshaped_credible(episode: Misshaped, testimony: Testimony) -> bool:
    is_shown = _SHOWN_OTHERWISE.get(episode.what)
    if is_shown is not None:
        return is_shown(episode)
    if episode.what is SlipKind.UNSCALED:
        if math.isfinite(episode.deviation):
            return _is_still_to_learn(testimony, SPARE_SHARE)
        is_far = max(map(abs, episode.reach)) > FAR and _is_still_to_learn(testimony, SPARE_SHARE)
        return bool(episode.narrow) and (episode.is_rounded or is_far)
    if episode.what is SlipKind.MEDIAN:
        loss = testimony.known.read_loss().recent
        return loss is not None and abs(loss / episode.slip["guess"] - 1) <= NEAR_MEDIAN
    if episode.what not in _SEEN_IN_LOSS:
        # Outputs may come to lie between 0 and 1 in time.
        return episode.what is not SlipKind.IMPROBABLE or _is_still_to_learn(testimony, UNHEARD_SHARE)
    # One that was next to nothing from the start, as that of a policy may be, was never learned.
    initial = testimony.known.read_loss().initial
    is_nothing = episode.what is SlipKind.CROSSING and initial is not None and abs(initial) < DONE_LOSS
    return is_nothing or _is_still_to_learn(testimony, LEARNED_SHARE if episode.what in _NEVER_MEANT else SPARE_SHARE)


def is_overfit(best: float, newest: float, loss: float) -> bool:
    """Whether a validation loss has risen from its best, and that of the training lies far below."""
    return newest >= OVERFIT_FACTOR * best > 0 and loss <= OVERFIT_SHARE * newest


_SHOWN_OTHERWISE: Final[Mapping[SlipKind, Callable[[Misshaped], bool]]] = {
    SlipKind.SCALED: lambda episode: bool(episode.narrow),
    SlipKind.ANGLES: lambda episode: episode.turn is not None,
    # Whoever learns well without dropouts may leave it so.
    SlipKind.UNDROPPED: lambda episode: is_overfit(*episode.validation, episode.loss),
}
"""Slips of which other numbers than a loss tell whether they do harm."""


def _is_emptied_credible(_: Emptied, testimony: Testimony) -> bool:
    # Where most nodes have no neighbour, or most classes no sample, it is right: then the rest is learned from.
    return _is_still_to_learn(testimony, SPARE_SHARE)


def _is_unheard_credible(episode: Unheard | Mismatch, testimony: Testimony) -> bool:
    # A loss that has come to its end has nothing more to say of most samples; one of padding comes there at once.
    is_inverted = isinstance(episode, Unheard) and episode.is_inverted
    return is_inverted or _is_still_to_learn(testimony, UNHEARD_SHARE)


def _is_mismatch_credible(episode: Mismatch, testimony: Testimony) -> bool:
    # Scores may lie between 0 and 1 in time, and be learned as what they are taken for. Where several labels are only
    # to be ranked, p - y leads there too.
    if episode.kind is MismatchKind.FROM_ONE:
        return episode.lacks_first
    if episode.kind is MismatchKind.MANY_LABELS:
        return episode.n_rows >= RANKED_ROWS and _is_still_to_learn(testimony, RANKED_SHARE)
    return episode.kind is not MismatchKind.SCORES or _is_unheard_credible(episode, testimony)


def _is_rate_credible(episode: Rate, testimony: Testimony) -> bool:
    loss, onset = testimony.known.read_loss(), testimony.onset.read_loss()
    first = min((one for one in (onset.before, onset.value) if one is not None), default=None)
    if first is not None and loss.initial is not None and loss.initial > THROWN_FACTOR * first > 0:
        # The first updates threw the loss up with the weights: it is compared with what it was before them.
        return _has_not_fallen(replace(loss, initial=first), SPARE_SHARE)
    if not episode.n_first:
        return _has_not_fallen(loss)
    # Updates that replace the weights may well lead from worse than guessing to guessing, and no farther.
    return onset.value is not None and _has_not_fallen(replace(loss, initial=min(onset.value, episode.guess)))


def _is_fade_credible(episode: Fade, testimony: Testimony) -> bool:
    # In a game a loss near its end is one side's success only.
    return episode.is_game or _has_not_fallen(testimony.known.read_loss())


def _is_collapse_credible(episode: Collapsed, testimony: Testimony) -> bool:
    if episode.has_healed:
        return False
    # Who learned to give what is asked for gives the same where the same is asked for. Without targets the loss that
    # led there is no witness.
    is_asked = episode.table is not None and bool(episode.table.entering("target"))
    return not is_asked or _has_work_left(episode, testimony)


def _is_overclipped_credible(_: Overclipped, testimony: Testimony) -> bool:
    # Adam and its like make the same steps of a gradient of any size.
    return _has_not_fallen(testimony.known.read_loss()) and _are_updates_small(testimony)


def _is_misset_credible(episode: Misset, testimony: Testimony) -> bool:
    if not math.isnan(episode.warm_up[1]):
        return _has_not_fallen(testimony.known.read_loss(), WARMED_SHARE)
    # A rate may make up for a large epsilon; nothing makes up for swapped betas.
    return math.isnan(episode.epsilon) or _are_updates_small(testimony)


def _are_updates_small(testimony: Testimony) -> bool:
    ratio = testimony.known.read(UPDATE_RATIO).recent
    return ratio is not None and ratio < SMALL_RATIO


def _is_unreachable_credible(episode: Unreachable, testimony: Testimony) -> bool:
    # In a game of two a loss that falls is no success, nor is it where another output may have made it fall.
    return episode.is_of_data or episode.is_one_of_several or _has_work_left(episode, testimony)


def _is_remade_credible(episode: Remade, _: Testimony) -> bool:
    return not episode.has_learned


def _is_by_heart_credible(episode: ByHeart, testimony: Testimony) -> bool:
    loss = testimony.known.read_loss()
    if not episode.is_judged or loss.recent is None:
        return False
    if episode.is_guess and episode.n_values >= VALIDATIONS_MIN and episode.newest >= RISEN_FACTOR * episode.best:
        is_sure = episode.n_values >= 2 * VALIDATIONS_MIN  # however slowly it is learned
        share = FAIR_SHARE if is_sure else BEST_SHARE
        return loss.recent <= share * episode.start and episode.best >= FAIR_SHARE * episode.start
    return loss.recent <= BY_HEART_SHARE * episode.start and episode.best >= BEST_SHARE * episode.start


def _is_lagging_credible(episode: Lagging, _: Testimony) -> bool:
    return math.isnan(episode.together) or episode.is_seen


def _is_missing_credible(episode: Missing, _: Testimony) -> bool:
    return bool(episode.positions)  # none are left where another stream trains them


def _is_plateau_credible(episode: Plateau, _: Testimony) -> bool:
    if not episode.has_labels:
        return False
    # What is level early is a guess only at a level that is known for one.
    if episode.is_of_mean or episode.is_of_zero or episode.is_of_size or not episode.is_early:
        return True
    return episode.is_from_start and abs(episode.level - episode.guess) <= LEVEL_TOLERANCE * episode.guess


def _is_summed_credible(episode: Summed, testimony: Testimony) -> bool:
    # The gradient of a loss without a lower bound keeps its direction, and grows with the weights.
    if episode.ratio is None:
        return True
    loss = testimony.known.read_loss()
    is_bottomless = loss.initial is not None and loss.recent is not None and loss.recent < -abs(loss.initial)
    return not is_bottomless


def _is_runaway_credible(episode: Runaway, _: Testimony) -> bool:
    # A few times its start is what one player's loss may well be; that its kernels grow so is another matter, and ten
    # times is what one that has targets to come to never is.
    if not episode.is_far:
        is_high = episode.is_alone and episode.level >= ALONE_FACTOR * max(abs(episode.start), 1.0)
        return is_driven(episode) or is_high
    # The log of a density may fall far below 0 and be well; what drives it has a gradient that grows with it.
    return episode.level > 0 or episode.gradient_factor >= GROWN_FACTOR


def _is_unskilled_credible(episode: Unskilled, testimony: Testimony) -> bool:
    # Among very many classes the right one may be ten times as likely as at first, and still far from sure: that shows
    # in the cross-entropy, and not in the square.
    loss = testimony.known.read_loss().recent
    is_lower = not episode.is_worse and loss is not None and loss < ENTROPY_SHARE * episode.entropy
    return episode.is_judged and not is_lower


def _is_judged(episode: Relapse | Behind | Unrelated, _: Testimony) -> bool:
    return episode.is_judged


_JUDGES: Final[Mapping[type[Episode], Callable[[Any, Testimony], bool]]] = {
    Vanishing: _is_vanishing_credible,
    Cut: _is_cut_credible,
    Still: _is_still_credible,
    Undone: _is_undone_credible,
    Untaught: _is_untaught_credible,
    Smoothed: lambda _, testimony: _is_still_to_learn(testimony, SPARE_SHARE),
    Misshaped: _is_misshaped_credible,
    Emptied: _is_emptied_credible,
    Unheard: _is_unheard_credible,
    Mismatch: _is_mismatch_credible,
    Alike: _has_work_left,
    Twins: _has_work_left,
    Collapsed: _is_collapse_credible,
    Zero: _is_zero_credible,
    Faint: _is_faint_credible,
    Flat: _is_flat_credible,
    Rate: _is_rate_credible,
    Fade: _is_fade_credible,
    Missing: _is_missing_credible,
    Plateau: _is_plateau_credible,
    Overclipped: _is_overclipped_credible,
    Misset: _is_misset_credible,
    Unreachable: _is_unreachable_credible,
    Unskilled: _is_unskilled_credible,
    Squashed: _has_work_left,
    Stuck: _has_work_left,
    Decayed: _is_decayed_credible,
    Relapse: _is_judged,
    Remade: _is_remade_credible,
    Unrelated: _is_judged,
    Behind: _is_judged,
    ByHeart: _is_by_heart_credible,
    Lagging: _is_lagging_credible,
    Runaway: _is_runaway_credible,
    Summed: _is_summed_credible,
}


def _has_not_fallen(loss: Reading, share: float = FALLEN_SHARE) -> bool:
    """Whether a loss is near its start still; not known without one, or of a negative one (rewards, densities)."""
    if loss.initial is None or loss.recent is None or not loss.initial > 0:
        return False
    return loss.recent > share * loss.initial


def _asks_for_nothing(loss: Reading) -> bool:
    """Whether a loss is exactly 0 in most steps and was not so at first: say all rewards of a batch are alike."""
    return loss.recent == 0 and loss.initial is not None and loss.initial != 0


def _has_learned(
    initial: float | None, recent: float | None, share: float = LEARNED_SHARE, *, done: float = DONE_LOSS
) -> bool:
    if initial is None or recent is None or not math.isfinite(recent):
        return False
    if initial <= 0:  # the log of a density, which has no end to come near to
        return recent <= initial - max(-initial, NATS)
    return abs(recent) < done or recent < share * initial
