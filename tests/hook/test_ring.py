"""The ring: every row once and whole, and an exact count of those that were overwritten."""

import threading

import numpy as np
import pytest
import tensorflow as tf

from gradwatch.ring import ROWS_MAX, ROWS_MIN, SIZE_LIMIT_BYTES, Ring, create_untraced


def filled(ring, first, n):
    """Writes ``n`` rows, each full of its step."""
    for step in range(first, first + n):
        ring.write(tf.constant(step, tf.int64), tf.fill([ring.width], tf.constant(step, tf.float32)))


def assert_whole(rows):
    np.testing.assert_array_equal(rows.values, np.broadcast_to(rows.steps[:, None], rows.values.shape))


def test_rows_come_once_and_in_order():
    ring = Ring(3, 16)
    filled(ring, 0, 5)
    rows = ring.read()
    assert rows.steps.tolist() == [0, 1, 2, 3, 4]
    assert_whole(rows)
    assert rows.values.dtype == np.float32
    assert len(ring.read().steps) == 0
    filled(ring, 5, 14)
    rows = ring.read()
    assert rows.steps.tolist() == list(range(5, 19))
    assert_whole(rows)
    assert rows.n_lost == 0


@pytest.mark.parametrize("excess", [1, 7, 16, 100])
def test_overflow_is_counted_exactly(excess):
    ring = Ring(2, 16)
    filled(ring, 0, 16 + excess)
    rows = ring.read()
    assert_whole(rows)
    assert rows.n_lost + len(rows.steps) == 16 + excess
    assert len(rows.steps) >= 15, "what was not overwritten is there"
    assert rows.steps.tolist() == list(range(rows.n_lost, 16 + excess))
    filled(ring, 16 + excess, 3)
    rows = ring.read()
    assert (len(rows.steps), rows.n_lost) == (3, 0), "what was lost is counted once"


def test_nothing_written():
    rows = Ring(4).read()
    assert (rows.steps.shape, rows.values.shape, rows.n_lost) == ((0,), (0, 4), 0)


def test_nonfinite_values_and_large_steps_pass_unchanged():
    ring = Ring(4)
    values = np.array([np.nan, np.inf, -np.inf, 1e-38], np.float32)
    step = 2**40 + 2**20 - 1
    ring.write(tf.constant(step, tf.int64), tf.constant(values))
    rows = ring.read()
    assert rows.steps.tolist() == [step]
    np.testing.assert_array_equal(rows.values[0], values)


def test_sequence_beyond_what_float32_can_count():
    ring = Ring(1, 16)
    start = 2**24 + 2**20 - 5
    ring._next.assign(start + 1)
    ring._n_read = start
    filled(ring, 0, 12)
    assert ring.read().steps.tolist() == list(range(12))


@pytest.mark.parametrize("jit_compile", [False, True], ids=["graph", "jit"])
def test_written_in_a_loop_in_the_graph(jit_compile):
    ring = Ring(3, 32)

    @tf.function(jit_compile=jit_compile)
    def run():
        for step in tf.range(20, dtype=tf.int64):
            ring.write(step, tf.fill([3], tf.cast(step, tf.float32)))

    run()
    rows = ring.read()
    assert rows.steps.tolist() == list(range(20))
    assert_whole(rows)


@pytest.mark.parametrize("width", [1, 1000, 10_000_000])
def test_size_is_bounded(width):
    n_rows = max(ROWS_MIN, min(ROWS_MAX, SIZE_LIMIT_BYTES // (4 * (width + 4))))
    if width < 10_000_000:
        assert Ring(width).n_rows == n_rows
    assert ROWS_MIN <= n_rows <= ROWS_MAX


@pytest.mark.parametrize("jit_compile", [False, True], ids=["graph", "jit"])
def test_reader_beside_a_writer_that_overtakes_it(jit_compile):
    """Few wide rows and no pause: the writer laps the reader. No row torn, none twice, none uncounted."""
    ring = Ring(500_000, 3)
    n_steps = 500

    @tf.function(jit_compile=jit_compile)
    def write(step):
        ring.write(step, tf.fill([ring.width], tf.cast(step, tf.float32)))

    steps = [tf.constant(step, tf.int64) for step in range(n_steps)]

    def train():
        for step in steps:
            write(step)

    writer = threading.Thread(target=train)
    writer.start()
    seen, n_lost = [], 0
    while True:
        is_over = not writer.is_alive()
        rows = ring.read()
        assert_whole(rows)
        seen += rows.steps.tolist()
        n_lost += rows.n_lost
        if is_over:
            break
    writer.join()
    assert seen == sorted(set(seen)), "in order, and none twice"
    assert len(seen) + n_lost == n_steps
    assert seen[-1] == n_steps - 1


def test_variables_are_made_outside_of_every_trace():
    made = []

    @tf.function
    def run(x):
        made.append(create_untraced(lambda: tf.Variable(1.0)))
        return x

    run(tf.constant(1.0))
    assert made[0].numpy() == 1.0
    with pytest.raises(ZeroDivisionError):
        create_untraced(lambda: 1 / 0)
