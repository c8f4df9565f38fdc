"""Healthy trainings of the catalogue, each played once: not a word.

`make test` plays the newest and every twentieth of the others, but for long ones and cured copies of broken ones;
`make thorough` plays the rest.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.health.catalogue.play import play
from tests.health.catalogue.sixteenth import HEALTHY

LONG = {
    "alloy deep",
    "alloy rezero",
    "battery double dqn",
    "bearing domains",
    "bearing resnet1d",
    "bearing transfer",
    "binary keyword",
    "body table",
    "building moe",
    "catalogue two tower",
    "churn dealer embedding",
    "click stream",
    "cloud game",
    "compiled by xla",
    "cough detector",
    "crop multitask",
    "detector flow",
    "dialect lora",
    "digits fp16 cnn",
    "digits thaw finetune",
    "digits vae warmup",
    "dtmf ctc",
    "dune gan",
    "ecg beats",
    "elevator calls",
    "epistasis",
    "fabric resnet",
    "film rating ordinal",
    "flow rezero",
    "gas spectra fp16",
    "greenhouse",
    "grid load quantiles",
    "housing expert mixture",
    "icu forecast",
    "icu gru missing",
    "island gan",
    "keyword qat 4bit",
    "kiosk policy",
    "leaf images",
    "leaf sgd",
    "leaf transfer",
    "lift policy",
    "masked phrases",
    "menu lm",
    "meter digits",
    "mineral distillation",
    "motor claims",
    "museum links",
    "orbit flow",
    "orbit wgan",
    "pendulum neural ode",
    "permit appeals",
    "pole policy",
    "power demand lstm",
    "ring gan",
    "row transformer",
    "scanner sites",
    "seed sorting",
    "shop restock reinforce",
    "sorting transformer",
    "sparse codes",
    "spectra codec",
    "stamp vae",
    "star spectra",
    "stream chemistry",
    "stroke vae",
    "tiny transformer",
    "very deep",
    "vineyard samples",
    "warehouse a2c",
    "warehouse dqn",
    "wave with bars",
    "weave restarts",
    "wind diffusion",
    "wind gan",
    "wind rose",
    "zip strokes",
}


SHORT = [name for name in HEALTHY if name not in LONG and not name.endswith(" cured")]
N_NEWEST, EVERY = 10, 20
PLAYED = {*SHORT[-N_NEWEST:], *SHORT[:-N_NEWEST:EVERY]}


def marked(name: str) -> Any:
    return pytest.param(name, marks=[] if name in PLAYED else [pytest.mark.thorough])


def test_what_is_left_out_is_there() -> None:
    assert HEALTHY.keys() >= LONG


@pytest.mark.parametrize("name", [marked(name) for name in HEALTHY])
def test_healthy(name: str) -> None:
    played = play(HEALTHY[name])
    assert played.n_steps > 100
    assert not played.findings, played.describe()
