"""`watch.on_finding`: from a gradient that turns NaN, over a real server, to the user's function."""

import threading

import keras
import numpy as np
import pytest
import tensorflow as tf

import gradwatch
from gradwatch.errors import ConfigurationError
from tests.serving import PATIENCE_S, Server


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with Server(tmp_path_factory.mktemp("server")) as running:
        yield running


def train(model, optimizer, n, *, poison=1.0):
    """Eagerly: nothing to trace, so that a step costs next to nothing."""
    for _ in range(n):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(model(np.ones((2, 3), np.float32)) ** 2) * poison
        optimizer.apply(tape.gradient(loss, model.trainable_variables), model.trainable_variables)


@pytest.fixture
def trained():
    keras.utils.set_random_seed(1)
    model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(2)])
    return model, keras.optimizers.SGD(1e-3)


def test_the_function_is_called_while_the_training_goes_on(server, trained, capfd):
    model, optimizer = trained
    heard, came = [], threading.Event()
    with gradwatch.watch(model, optimizer, url=server.url, capture=("gradient", "weight")) as watch:

        @watch.on_finding
        def stumble(finding):
            raise ValueError("no pager answers")

        @watch.on_finding
        def note(finding):
            heard.append((finding, threading.current_thread().name))
            came.set()

        train(model, optimizer, 8)
        assert watch.findings(PATIENCE_S) == []
        train(model, optimizer, 1, poison=np.float32("nan"))
        assert came.wait(PATIENCE_S), "the function was not called"
        train(model, optimizer, 4)
        known = watch.findings(PATIENCE_S)
    told = [finding for finding, _ in heard]
    assert [one["id"] for one in told] == [one["id"] for one in known]
    assert told[0].keys() == known[0].keys()
    assert (told[0]["severity"], told[0]["first_step"]) == ("critical", 8)
    assert {thread for _, thread in heard} == {"gradwatch-findings"}
    assert watch.on_finding(note) is note, "of no use after the end, and no mistake"
    said = capfd.readouterr().err
    assert said.count("stumble, given to on_finding, failed: ValueError: no pager answers") == 1


def test_what_is_found_at_the_very_end_is_told_before_close_returns(server, trained):
    model, optimizer = trained
    heard = []
    watch = gradwatch.watch(model, optimizer, url=server.url, capture=("gradient", "weight"))
    watch.on_finding(heard.append)
    train(model, optimizer, 4)
    train(model, optimizer, 1, poison=np.float32("nan"))
    watch.close()
    assert [one["first_step"] for one in heard] == [4]


def test_what_was_dismissed_leads_no_verdict(server, trained, capfd):
    model, optimizer = trained
    with gradwatch.watch(model, optimizer, url=server.url, capture=("gradient", "weight")) as watch:
        train(model, optimizer, 4)
        train(model, optimizer, 1, poison=np.float32("nan"))
        (finding,) = watch.findings(PATIENCE_S)
        path = f"/api/runs/{watch.run_id}/findings/{finding['id']}/review"
        assert server.request("PUT", path, json={"state": "dismissed"}).status_code == 200
        train(model, optimizer, 1)
    assert "gradwatch: healthy, 1 dismissed · 6 steps" in capfd.readouterr().err


def test_what_cannot_be_called_is_a_mistake_at_once(watch, trained):
    watched = watch(*trained)
    with pytest.raises(ConfigurationError, match="on_finding: found 'mail', expected a function that takes a finding"):
        watched.on_finding("mail")


def test_a_watch_that_is_switched_off_takes_the_function_all_the_same(trained, monkeypatch):
    monkeypatch.setenv("GRADWATCH_DISABLED", "1")
    watched = gradwatch.watch(*trained)
    assert watched.on_finding(print) is print
    watched.close()
