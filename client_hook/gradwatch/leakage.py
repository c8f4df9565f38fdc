"""Whether what is to be predicted stands among what it is predicted from, in the graph. Owns no state.

A window that ends one step too late, a column of the table that is the label: the model learns to read it off, and its
loss falls as it should. Only the numbers themselves tell. They are compared where full statistics are due.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import tensorflow as tf

from gradwatch.correlation import Pair, find_deviations
from gradwatch.protocol import (
    ALIKE_PLACE,
    BLANK_PLACE,
    LEAKED_PLACES,
    MASKED_PLACE,
    NEXT_PLACE,
    PADDED_PLACE,
    ROUNDED_PLACE,
    SAME_PLACE,
    TRUNCATED_PLACE,
    TWICE_PLACE,
)
from gradwatch.slips.graph.bootstrap import is_of_return
from gradwatch.slips.graph.peeking import keeps_times, sees_later
from gradwatch.slips.graph.truncated import are_scaled
from gradwatch.walk import behind, given_tensors

__all__ = ["Compared", "find_leaked"]

SAMPLES_MIN: Final = 8
"""Of fewer samples a column may fit by chance."""
UNEXPLAINED: Final = 1e-8
"""Of a target's variance, what a column of float32 that is the target in other units leaves at the most."""
PADDED_MIN: Final = 16
"""Steps of zeros at a sequence's end, and at least half of it, that a recurrent layer forgets its beginning over."""
PADDED_SHARE: Final = 0.5
"""Of the sequences of a batch that end so."""
AMONG_SHARE: Final = 0.1
"""Of a batch's sequences, those that have a 0 between two other numbers."""
LOST: Final = 1e-6
"""Of two numbers of float32, what their difference is at the most where it is rounding: eight times the last digit."""
LOST_SHARE: Final = 0.5
"""Of the differences."""
SAME_SHARE: Final = 0.9
"""Of the samples: the first state of an episode may be one of its own."""
TAIL_MIN: Final = 4
"""Times of a target that is of the end of a series: fewer may be now and what comes next."""
COMPARED_MAX: Final = 4
"""Inputs, and targets, that are looked at."""
_NAN: Final = float("nan")
Tensor = Any  # tensorflow ships no types


class Compared(NamedTuple):
    """What enters one step: a batch of each, its samples along the first axis; integers too.

    Attributes:
        inputs: what the model is given.
        targets: what it is to give.
        pairs: those of its targets that are known, each with what it gave.
        must_differ: whether two of what enters are of a kind and must not be the same (`paired.find_pairs`).
        labels: sequences of labels, of integers ``[n, length]``, of which 0 is none (`blank.find_blank`); or None.
        end_of: how many steps a recurrent layer reads whose last output alone goes on, 0 where that is not known
            (`padded.find_ends`); None where there is none.
        difference: a variance as a difference, and what it is taken from (`rounded.find_difference`); or None.
        moved: sequences of targets as they were given, of integers, of which a loss leaves out the first where the last
            scores are left out (`shifted.find_moved`); or None.
        are_windows: whether sequences are windows of a series: a target is to come after the last time of its own.
        is_zero_masked: whether 0 is masked among sequences of words (`masked.find_masked`).
        truncated: what is cut to whole numbers that look up a table (`truncated.find_truncated`), in the order of these
            slips; None for one that is not known.
    """

    inputs: Sequence[Tensor] = ()
    targets: Sequence[Tensor] = ()
    pairs: Sequence[Pair] = ()
    must_differ: bool = False
    labels: Tensor | None = None
    end_of: int | None = None
    difference: tuple[Tensor, Tensor] | None = None
    moved: Tensor | None = None
    are_windows: bool = False
    is_zero_masked: bool = False
    truncated: Sequence[Tensor | None] = ()


def find_leaked(compared: Compared) -> Tensor:
    """Which number of a sample is its target (the last, of several), in whatever unit: the same one in all samples.

    Of a sequence ``[n, time, features]``, or of integers ``[n, time]``, only the last time is looked at, unless it is a
    window of a series: to remember the first may be the task, and each but the last of a text's next words stands in
    the text. An input of one number is left out (a condition of the model, such as the label of an image), and so is
    one of the target's own form (what an autoencoder is given), unless both are integers, or ones among zeros, and what
    is compared with the target is made of each time itself: then it is asked whether they are the same. Of either kind
    it is asked whether the target is one step ahead of what a model is given that sees all steps. A reward is no
    target, and what a step draws at random, the input with the target, is no data: a network is to find again what
    another one was given. So it is where another target is one answer for all samples, as a judge of what was made of
    the input is to give.
    Where two of what enters must differ, it is asked of each two of one form whether they are the same in nearly all
    samples; where label 0 is none, whether sequences of labels begin with it; where the end of a sequence is what goes
    on, whether most sequences end in zeros; where a variance is a difference, whether any digits of it are left; where
    a loss moves its targets by a step, whether they are the next numbers before that; where 0 is masked, whether it
    stands among other numbers; and of ids that are cut to whole numbers, before all else, whether they were scaled. Of
    all inputs it is asked whether every sample of the batch is the same, while the targets are not.

    Returns:
        A float32 scalar as `protocol.LEAKED_PLACES` tells: 0 where it is none, NaN where nothing can be told, since
        there is nothing to compare, the samples are few, or all have the same target.
    """
    if compared.labels is not None:
        return tf.where(tf.reduce_any(compared.labels[:, :1] == 0), float(BLANK_PLACE), 0.0)
    if compared.difference is not None:
        left, of = (tf.cast(one, tf.float32) for one in compared.difference)
        is_lost = tf.abs(left) <= LOST * tf.abs(of)
        return tf.where(tf.reduce_mean(tf.cast(is_lost, tf.float32)) >= LOST_SHARE, float(ROUNDED_PLACE), 0.0)
    if compared.moved is not None and (place := _find_twice(compared.inputs, compared.moved)) is not None:
        return place
    found = _find_same(compared) if compared.must_differ else tf.constant(_NAN)
    for target in compared.targets[:COMPARED_MAX]:
        if tf.is_symbolic_tensor(target) and is_of_return(target):
            continue
        looked = [
            (number, *one)
            for number, values in enumerate(compared.inputs[:COMPARED_MAX])
            if not (_is_drawn(values) and _is_drawn(target)) and (one := _look_at(values, target, compared)) is not None
        ]
        is_judged = _is_judged(target, compared.targets) if looked else False
        for number, place, sign in looked:
            moved = tf.where(place > 0, sign * (place + number * LEAKED_PLACES), place)
            found = tf.where((found > 0) | (found < 0), found, tf.where(is_judged, _NAN, moved))
    if compared.is_zero_masked:
        found = _find_among(compared, found)
    found = _find_alike(compared, found)
    found = found if compared.end_of is None else _find_padded(compared, found)
    for number, given in reversed(list(enumerate(compared.truncated))):
        if given is not None:
            found = tf.where(are_scaled(given), float(number * LEAKED_PLACES + TRUNCATED_PLACE), found)
    return found


def _is_drawn(tensor: Tensor) -> bool:
    """Whether a step makes a tensor of random numbers alone, in a graph."""
    if not tf.is_symbolic_tensor(tensor) or given_tensors(tensor):
        return False
    return any("Random" in op.type for op in behind([tensor.op], through=None))


def _is_judged(target: Tensor, targets: Sequence[Tensor]) -> Tensor:
    """Whether another target is the same for all samples."""
    others = [one for one in targets[:COMPARED_MAX] if one is not target and one.dtype.is_floating and one.shape.rank]
    answers = [tf.reduce_all(one == one[:1]) & (tf.shape(one)[0] >= SAMPLES_MIN) for one in others]
    return tf.reduce_any(tf.stack(answers)) if answers else tf.constant(False)


def _look_at(values: Tensor, target: Tensor, compared: Compared) -> tuple[Tensor, Tensor | float] | None:
    """The place of a target in an input, and -1 where it is at its last time, or in all of them; None for no place."""
    if _is_series_seen(values, target, compared.pairs):
        return _place_of_next(values, target), -1.0
    is_window = compared.are_windows and values.shape.rank == 3 and values.dtype.is_floating
    sign = 1.0 if is_window or (values.shape.rank == 2 and values.dtype.is_floating) else -1.0
    if (columns := _columns(values, target, is_window=is_window)) is not None:
        place = _place(tf.cast(columns, tf.float64), tf.cast(_last(target), tf.float64))
        return (tf.where(place < ALIKE_PLACE, place, 0.0) if is_window else place), sign
    outputs = [one.output for one in compared.pairs if one.target is target]
    if _are_words(values, target):
        is_seen = any(sees_later(output, values) for output in outputs)
        is_kept = not outputs or any(keeps_times(output, values) for output in outputs)
        place = _place_of_all(values, target, is_next_seen=is_seen, is_kept=is_kept)
        return place, tf.where(place == LEAKED_PLACES, 1.0, sign) if outputs else sign
    if _are_codes(values, target) and any(keeps_times(output, values) for output in outputs):
        words, asked = (tf.argmax(one, axis=-1) for one in (values, target))
        place = _place_of_all(words, asked, is_next_seen=False)
        return tf.where(_is_one_hot(values) & _is_one_hot(target), place, 0.0), 1.0
    return None


def _find_twice(inputs: Sequence[Tensor], moved: Tensor) -> Tensor | None:
    """`TWICE_PLACE` where the targets that a loss moves by a step are the input's next numbers; None without one."""
    alike = {id(one): one for one in inputs[:COMPARED_MAX] if one is not moved and _are_words(one, moved)}
    if len(alike) != 1:
        return None
    place = _place_of_all(next(iter(alike.values())), moved, is_next_seen=True)
    return tf.where(place == NEXT_PLACE, float(TWICE_PLACE), tf.where(place > 0, 0.0, place))


def _find_same(compared: Compared) -> Tensor:
    """`SAME_PLACE` of the first input that another one, or a target, is the same as; 0 for none, NaN where unknown."""
    inputs = compared.inputs[:COMPARED_MAX]
    found = tf.constant(_NAN)
    for number, values in enumerate(inputs):
        for other in (*inputs[number + 1 :], *compared.targets[:COMPARED_MAX]):
            is_alike = values.dtype == other.dtype and values.shape[1:].is_compatible_with(other.shape[1:])
            if values.shape.rank == other.shape.rank and (values.shape.rank or 0) > 1 and is_alike:
                n = tf.minimum(tf.shape(values)[0], tf.shape(other)[0])
                pairs = tf.reshape(values[:n] == other[:n], [n, -1])
                is_same = tf.reduce_mean(tf.cast(tf.reduce_all(pairs, axis=1), tf.float32)) >= SAME_SHARE
                is_known = (n >= SAMPLES_MIN) & tf.reduce_any(values[:n] != values[:1])
                place = tf.where(is_same, float(number * LEAKED_PLACES + SAME_PLACE), 0.0)
                found = tf.where((found > 0) | ~is_known, found, place)
    return found


def _find_padded(compared: Compared, found: Tensor) -> Tensor:
    """`PADDED_PLACE` of the first input whose sequences end in zeros, where nothing else was found."""
    for number, values in enumerate(compared.inputs[:COMPARED_MAX]):
        rank, n_times = values.shape.rank, compared.end_of
        is_sequence = rank == 3 or (rank == 2 and values.dtype.is_integer)
        if is_sequence and (not n_times or values.shape[1] in (n_times, None)):
            is_none = values == 0 if rank == 2 else tf.reduce_all(values == 0, axis=-1)
            n_end = tf.reduce_sum(tf.math.cumprod(tf.cast(is_none, tf.float32), axis=1, reverse=True), axis=1)
            length = tf.cast(tf.shape(values)[1], tf.float32)
            is_long = (n_end >= PADDED_MIN) & (2 * n_end >= length) & (n_end < length)  # of zeros alone is no sequence
            is_padded = tf.reduce_mean(tf.cast(is_long, tf.float32)) >= PADDED_SHARE
            is_known = tf.shape(values)[0] >= SAMPLES_MIN
            place = tf.where(is_padded, float(number * LEAKED_PLACES + PADDED_PLACE), 0.0)
            found = tf.where((found > 0) | (found < 0) | ~is_known, found, place)
    return found


def _find_alike(compared: Compared, found: Tensor) -> Tensor:
    """`ALIKE_PLACE` where all samples are one in every input, and some target is another for some of them."""
    given = [one for one in compared.inputs[:COMPARED_MAX] if one.shape.rank]
    asked = [one for one in compared.targets[:COMPARED_MAX] if one.shape.rank]
    if not given or not asked or len(compared.inputs) > COMPARED_MAX:
        return found
    n = tf.reduce_min([tf.shape(one)[0] for one in (*given, *asked)])
    is_alike = tf.reduce_all([tf.reduce_all(one == one[:1]) for one in given]) & (n >= SAMPLES_MIN)
    is_asked = tf.reduce_any([tf.reduce_any(one != one[:1]) for one in asked])
    return tf.where(is_alike & is_asked, float(ALIKE_PLACE), found)


def _find_among(compared: Compared, found: Tensor) -> Tensor:
    """`MASKED_PLACE` where 0 is a word of the only sequences of integers, and nothing else was found.

    One that stands alone between two others, as padding that was joined with what follows does not.
    """
    sequences = {id(one): one for one in compared.inputs if one.shape.rank == 2 and one.dtype.is_integer}
    if len(sequences) != 1:
        return found
    is_word = next(iter(sequences.values())) != 0
    is_within = tf.cumsum(tf.cast(is_word, tf.int32), axis=1) > 0
    is_within &= tf.cumsum(tf.cast(is_word, tf.int32), axis=1, reverse=True) > 0
    begins = is_within[:, 1:] & ~is_word[:, 1:] & is_word[:, :-1]
    is_alone = begins[:, :-1] & is_word[:, 2:]
    n_alone, n_begun = (tf.reduce_sum(tf.cast(one, tf.float32)) for one in (is_alone, begins))
    share = tf.reduce_mean(tf.cast(tf.reduce_any(is_alone, axis=1), tf.float32))
    place = tf.where((share >= AMONG_SHARE) & (2 * n_alone >= n_begun), float(MASKED_PLACE), 0.0)
    is_known = tf.shape(is_word)[0] >= SAMPLES_MIN
    return tf.where((found > 0) | (found < 0) | ~is_known, found, place)


def _columns(values: Tensor, target: Tensor, *, is_window: bool) -> Tensor | None:
    """The numbers of each sample that are looked at, ``[n, n_columns]``; None for none."""
    rank, goal = values.shape.rank, target.shape.rank
    if rank not in (2, 3) or not goal or (goal > 1 and target.shape[1:].is_compatible_with(values.shape[1:])):
        return None
    if None in (values.shape[-1], target.shape[-1] if goal > 1 else 0) or values.shape[1:].num_elements() == 1:
        return None
    if is_window:
        return tf.reshape(values, [tf.shape(values)[0], -1])
    if rank == 3:
        values = values[:, -1]
    elif not values.dtype.is_floating:
        values = values[:, -1:]
    return values if values.shape[-1] < ALIKE_PLACE else None


def _are_words(values: Tensor, target: Tensor) -> bool:
    """Whether both are a batch of sequences of integers, ``[n, time]``."""
    return all(one.shape.rank == 2 and one.dtype.is_integer for one in (values, target))


def _are_codes(values: Tensor, target: Tensor) -> bool:
    """Whether both are a batch of sequences of the same numbers of real ones, ``[n, time, features]``."""
    are_series = all(one.shape.rank == 3 and one.dtype.is_floating for one in (values, target))
    return are_series and values.shape[1:].is_compatible_with(target.shape[1:]) and (values.shape[-1] or 0) > 1


def _is_one_hot(codes: Tensor) -> Tensor:
    """Whether of the numbers of each time one is 1 and all others are 0."""
    is_one = tf.reduce_sum(tf.cast(codes == 1, tf.int32), axis=-1) == 1
    return tf.reduce_all(is_one) & tf.reduce_all((codes == 0) | (codes == 1))


def _is_series_seen(values: Tensor, target: Tensor, pairs: Sequence[Pair]) -> bool:
    """Whether both are real numbers of the same times, and what is compared with the target sees later ones.

    Or the target is of the last few times alone, as where a decoder is taught by what came before each.
    """
    is_series = values.dtype.is_floating and target.dtype.is_floating and values.shape.rank in (2, 3)
    forms = [
        one.shape[1:-1] if one.shape.rank == 3 and one.shape[-1] == 1 else one.shape[1:] for one in (values, target)
    ]
    if not is_series or not target.shape.rank or not all(one.is_fully_defined() for one in forms):
        return False
    (n_times, *of_each), (n_asked, *of_asked) = (list(one) or [0] for one in forms)
    if of_each != of_asked or not (n_asked == n_times or TAIL_MIN <= n_asked < n_times):
        return False
    return any(one.target is target and sees_later(one.output, values, values.shape[1]) for one in pairs)


def _place_of_next(values: Tensor, target: Tensor) -> Tensor:
    """`NEXT_PLACE` where each time's target is exactly the sequence at the next one; NaN where it never varies."""
    n_before = values.shape[1] - target.shape[1]
    values, target = (
        tf.cast(tf.reshape(one, [tf.shape(one)[0], one.shape[1], -1]), tf.float32) for one in (values, target)
    )
    n = tf.minimum(tf.shape(values)[0], tf.shape(target)[0])
    is_next = tf.reduce_all(values[:n, n_before + 1 :] == target[:n, :-1])
    is_known = (n >= SAMPLES_MIN) & tf.reduce_any(values[:, 1:] != values[:, :-1])
    return tf.where(is_known, tf.where(is_next, float(NEXT_PLACE), 0.0), _NAN)


def _place_of_all(values: Tensor, target: Tensor, *, is_next_seen: bool, is_kept: bool = True) -> Tensor:
    """`LEAKED_PLACES` where sequences of integers are their own targets, else 0; NaN where they are all alike.

    Only if the model keeps their times, that is. And `NEXT_PLACE` where each time's target is the number of the next
    time, if the model sees that.
    """
    values, target = tf.cast(values, tf.int64), tf.cast(target, tf.int64)
    n, n_times = tf.unstack(tf.minimum(tf.shape(values), tf.shape(target)))
    is_same = tf.reduce_all(tf.shape(values) == tf.shape(target))
    is_same &= tf.reduce_all(values[:n, :n_times] == target[:n, :n_times])
    is_next = tf.reduce_all(values[:n, 1:n_times] == target[:n, : n_times - 1]) & (n_times > 1)
    place = tf.where(is_next & is_next_seen, float(NEXT_PLACE), 0.0)
    is_known = (n >= SAMPLES_MIN) & tf.reduce_any(target != target[:1])
    return tf.where(is_known, tf.where(is_same & is_kept, float(LEAKED_PLACES), place), _NAN)


def _last(target: Tensor) -> Tensor:
    return target if target.shape.rank == 1 else tf.reshape(target, [tf.shape(target)[0], -1])[:, -1]


def _place(columns: Tensor, target: Tensor) -> Tensor:
    """Which column ``[n, n_columns]`` is the target ``[n]``, or it multiplied and moved: counted from 1, 0 for none."""
    n, n_targets = tf.shape(columns)[0], tf.shape(target)[0]
    n_both = tf.minimum(n, n_targets)
    x, y = columns[:n_both], target[:n_both, None]
    (x, of_x, x_varies), (y, of_y, y_varies) = (find_deviations(one, axis=0) for one in (x, y))
    # Explained by the column: (x . y)^2 of |x|^2 |y|^2.
    is_same = tf.square(tf.reduce_sum(x * y, axis=0)) >= (1 - UNEXPLAINED) * of_x * of_y
    is_same &= x_varies
    place = tf.reduce_sum(tf.cast(tf.cumsum(tf.cast(is_same, tf.int32)) == 0, tf.float32)) + 1
    place = tf.where(tf.reduce_any(is_same), place, 0.0)
    return tf.where((n == n_targets) & (n >= SAMPLES_MIN) & y_varies[0], place, _NAN)
