"""Broken trainings of the catalogue, each played once: it is found, and its culprit named.

`make test` plays the newest of each family of defects that is found and not long, `make thorough` the others.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.health.catalogue.play import is_found, names_culprit, play
from tests.health.catalogue.twentyfirst import BROKEN

LONG = {
    "accelerometer activity",
    "activity watch",
    "arm",
    "arm kinematics",
    "barometer forecast",
    "battery cells",
    "battery soh",
    "bearing faults again",
    "bearing faults anew",
    "bearing faults once more",
    "bearing transfer anew",
    "beat types",
    "beats",
    "beetle photos",
    "bike dock hire",
    "blobs",
    "bridge strain",
    "cell centers",
    "cell centres",
    "char writer",
    "churn events",
    "circles",
    "citation gcn",
    "cloud patches",
    "corridor walker",
    "courier",
    "credit equal chances",
    "crop plots",
    "crop yield accum",
    "customer churn",
    "deal table",
    "delayed saccade",
    "desalination membranes",
    "digit hash codes",
    "digits cosine",
    "discriminator that wins",
    "dispatch queue",
    "district heating",
    "ecg denoiser",
    "ecg leads",
    "eeg direction",
    "eeg gan",
    "eleven classes for ten outputs",
    "eta",
    "event logs",
    "fabric",
    "feed ranker",
    "feeder",
    "field boundaries",
    "field direction",
    "film look",
    "flat rents",
    "fog forecast",
    "freight price",
    "fruit grading",
    "games stones",
    "gas sensor array",
    "gearbox acoustics",
    "glacier flow",
    "grocery basket",
    "heart murmurs",
    "hotel ranking",
    "icu deterioration",
    "imu tilt",
    "intent lstm",
    "keystroke user",
    "lab imputation",
    "laps",
    "leaf disease",
    "leaf spectra",
    "lesion masks",
    "leverage",
    "load forecast",
    "log triage again",
    "loom sensors",
    "lowlight raw",
    "machine alarms",
    "machine vibration",
    "melody rnn",
    "modrec",
    "molecule solubility",
    "molprops",
    "motion",
    "mushroom traits",
    "next click",
    "no2 calibration",
    "opening book",
    "opinions",
    "option surrogate",
    "page encoder",
    "particle jets",
    "passage search",
    "peptide binding",
    "plankton transfer",
    "pump vibration",
    "pure premium",
    "radar codec",
    "radar rain",
    "radio coverage",
    "raman vae",
    "rec social",
    "recycling bins",
    "rent estimate",
    "returns",
    "review pooling",
    "review sentiment",
    "review sentiment again",
    "review stars",
    "ring samples",
    "river gauge",
    "road signs",
    "robot heading",
    "rollout",
    "rooms",
    "rounds",
    "scan shapes",
    "segment",
    "session intent",
    "signature triplets anew",
    "similar day load",
    "slate dpp",
    "soil spectra carbon",
    "solubility graphs",
    "spectra codes",
    "spectro quality",
    "star type classifier",
    "stat pooling",
    "string modes",
    "taxonomy",
    "taxonomy ball",
    "tephra autoencoder",
    "texture cnn",
    "ticket attention",
    "ticket router",
    "ticket router again",
    "ticket routing again",
    "ticket routing anew",
    "ticket tone",
    "tickets",
    "tokamak disrupt",
    "tones",
    "tram delays",
    "tsdf shape",
    "turbine",
    "turbine stream",
    "twelve layers without normalization",
    "vessel forecast",
    "voices",
    "wafer vae",
    "ward visits",
    "wind direction",
    "wind farm power",
    "wind nowcast",
}
ROUNDED = {"antimicrobial peptides"}
"""How the processor rounds decides how they fail to learn: what is told here may be told otherwise there."""
NEWEST = {case.family: name for name, case in BROKEN.items() if not case.gap and name not in LONG | ROUNDED}


def marked(name: str) -> Any:
    """A known gap must be one: where it is closed, the mark goes."""
    gap = BROKEN[name].gap
    marks = [pytest.mark.xfail(reason=gap, strict=True)] if gap else []
    if name != NEWEST.get(BROKEN[name].family):
        marks.append(pytest.mark.thorough)
    return pytest.param(name, marks=marks)


def test_what_is_left_out_is_there() -> None:
    assert BROKEN.keys() >= LONG | ROUNDED


@pytest.mark.parametrize("name", [marked(name) for name in BROKEN])
def test_broken(name: str) -> None:
    case = BROKEN[name]
    played = play(case.train)
    causes = [[hypothesis.cause for hypothesis in one.hypotheses[:2]] for one in played.findings]
    assert is_found(case, played), played.describe()
    assert names_culprit(case, played), (played.describe(), causes)
