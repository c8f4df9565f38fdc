"""Healthy trainings of the catalogue, each played once: not a word.

`make test` plays the first twenty, one of each usual kind of training, the newest, and every fiftieth of the others,
but for long ones and cured copies of broken ones; `make thorough` plays the rest.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.health.catalogue.play import play
from tests.health.catalogue.seventyfirst import HEALTHY

LONG = {
    "alloy deep",
    "alloy rezero",
    "aurora swirl",
    "battery double dqn",
    "bearing domains",
    "bearing resnet1d",
    "bearing spectra",
    "bearing transfer",
    "beehive scales",
    "binary keyword",
    "body table",
    "building moe",
    "card alerts",
    "card ledger",
    "catalogue two tower",
    "churn dealer embedding",
    "click stream",
    "clicks",
    "cloud game",
    "compiled by xla",
    "cough detector",
    "crop multitask",
    "demand quantiles",
    "detector flow",
    "dialect lora",
    "digits fp16 cnn",
    "digits thaw finetune",
    "digits vae warmup",
    "dtmf ctc",
    "dune gan",
    "dungeon door",
    "ecg beats game",
    "ecg beats",
    "elevator calls",
    "epistasis",
    "fabric resnet",
    "film rating ordinal",
    "flat valuation",
    "flow rezero",
    "gas spectra fp16",
    "glass",
    "glyphs",
    "greenhouse",
    "grid load quantiles",
    "heart rhythm",
    "housing expert mixture",
    "icu forecast",
    "icu gru missing",
    "interlock",
    "island gan",
    "keyword qat 4bit",
    "kiosk policy",
    "leaf images",
    "leaf sgd",
    "leaf transfer",
    "leak alerts",
    "lift policy",
    "lock basins",
    "lorenz readout",
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
    "physics beam",
    "plant",
    "pole policy",
    "pole",
    "power demand lstm",
    "rank one triplets",
    "recipe words",
    "return density",
    "review stars again",
    "ring gan",
    "row transformer",
    "scanner sites",
    "seed sorting",
    "sepsis alarm",
    "shell growth",
    "shop restock reinforce",
    "shop visits",
    "slang lexicon",
    "song bpr",
    "sorting transformer",
    "sparse codes",
    "spectra codec",
    "stamp vae",
    "star spectra",
    "stream chemistry",
    "street multitask",
    "stroke vae",
    "tide curves cured",
    "tiny transformer",
    "turbine faults",
    "very deep",
    "vineyard samples",
    "warehouse a2c",
    "warehouse dqn",
    "wave with bars",
    "weave restarts",
    "wind diffusion",
    "wind gan",
    "wind rose",
    "words",
    "zip strokes",
}


SHORT = [name for name in HEALTHY if name not in LONG and not name.endswith(" cured")]
N_FIRST, N_NEWEST, EVERY = 20, 4, 50
PLAYED = {*SHORT[:N_FIRST], *SHORT[-N_NEWEST:], *SHORT[:-N_NEWEST:EVERY]}


def marked(name: str) -> Any:
    return pytest.param(name, marks=[] if name in PLAYED else [pytest.mark.thorough])


def test_what_is_left_out_is_there() -> None:
    assert HEALTHY.keys() >= LONG


@pytest.mark.parametrize("name", [marked(name) for name in HEALTHY])
def test_healthy(name: str) -> None:
    played = play(HEALTHY[name])
    assert played.n_steps > 100
    assert not played.findings, played.describe()
