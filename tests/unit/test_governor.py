"""The governor against trainings with a clock of their own: no test waits."""

import pytest

from gradwatch.governor import N_ROUNDS, PERIOD_MAX, REPEAT_AFTER_S, SPARSE_PERIOD, WARM_UP_STEPS, Governor

READING_S = 0.1


class Training:
    """A simulated training that is read every 100 ms: a step takes so long, a full row so long on top."""

    def __init__(self, governor, *, step_s=0.01, full_s=0.0):
        self.governor, self.step_s, self.full_s = governor, step_s, full_s
        self.elapsed_s, self.step, self.periods, self.slow = 0.0, 0, [], lambda now: 1.0
        self._rest_s = 0.0

    def run(self, seconds):
        end = self.elapsed_s + seconds
        while self.elapsed_s < end:
            n_steps, used_s = 0, self._rest_s
            while used_s < READING_S:
                is_full = self.step % self.governor.period == 0
                used_s += (self.step_s + self.full_s * is_full) * self.slow(self.elapsed_s)
                self.step += 1
                n_steps += 1
            self._rest_s = used_s - READING_S
            self.elapsed_s += READING_S
            self.periods.append(self.governor.observe(n_steps, READING_S))
        return self


def test_full_rows_at_every_step_at_first():
    governor = Governor(0.02)
    assert governor.period == 1
    assert governor.cost is None
    for _ in range(WARM_UP_STEPS):
        assert governor.observe(1, 0.3) == 1


@pytest.mark.parametrize("full_s", [0.001, 0.01, 0.05])
@pytest.mark.parametrize("budget", [0.02, 0.1])
def test_period_keeps_the_cost_under_the_budget(full_s, budget):
    training = Training(Governor(budget), full_s=full_s).run(40)
    real_cost = full_s / training.step_s
    smallest = real_cost / budget
    assert training.governor.period == pytest.approx(max(1, smallest), rel=0.15, abs=1)
    assert real_cost / training.governor.period <= budget * 1.15
    assert training.governor.cost == pytest.approx(real_cost / training.governor.period, rel=0.2)


def test_a_cheap_row_is_never_thinned():
    training = Training(Governor(0.02), full_s=0.0001).run(30)
    assert training.governor.period == 1
    assert training.governor.cost <= 0.02


def test_no_row_is_so_dear_that_it_is_never_taken():
    training = Training(Governor(0.001), full_s=0.1).run(60)
    assert training.governor.period == PERIOD_MAX


def test_no_budget_means_no_measurement():
    training = Training(Governor(0), full_s=0.1).run(REPEAT_AFTER_S + 20)
    assert set(training.periods) == {1}
    assert training.governor.cost is None


def test_measuring_alternates_and_ends():
    training = Training(Governor(0.02), full_s=0.005).run(40)
    changes = [b for a, b in zip(training.periods, training.periods[1:], strict=False) if a != b]
    assert changes[:-1] == ([SPARSE_PERIOD, 1] * N_ROUNDS)[: 2 * N_ROUNDS - 1]
    assert changes[-1] == training.governor.period != SPARSE_PERIOD


def test_measures_again_when_the_training_may_have_changed():
    training = Training(Governor(0.02), full_s=0.005).run(40)
    assert training.governor.period == pytest.approx(25, abs=4)
    training.full_s = 0.001
    training.run(REPEAT_AFTER_S + 40)
    assert training.governor.period == pytest.approx(5, abs=1)


def test_a_passing_disturbance_does_not_decide():
    """Another job slows a few seconds of the measurement to a half."""
    training = Training(Governor(0.02), full_s=0.002)
    training.slow = lambda now: 2.0 if 0.5 < now < 1.6 else 1.0
    training.run(40)
    assert training.governor.period == pytest.approx(10, abs=2)


def test_a_pause_without_steps_is_not_measured():
    governor = Governor(0.02)
    training = Training(governor, full_s=0.002).run(0.5)
    for _ in range(100):
        governor.observe(0, READING_S)
    training.run(40)
    assert governor.period == pytest.approx(10, abs=2)


def test_training_slower_than_the_reading():
    """Steps of a second: most readings bring none, and yet the cost is found."""
    governor = Governor(0.02)
    now_s = seen_s = 0.0
    for step in range(140):
        now_s += 1.0 + 0.2 * (step % governor.period == 0)
        while seen_s + READING_S < now_s:
            seen_s += READING_S
            governor.observe(0, READING_S)
        seen_s += READING_S
        governor.observe(1, READING_S)
    assert governor.period == pytest.approx(10, abs=2)
