"""Broken trainings of the catalogue, each played once: it is found, and its culprit named.

`make test` plays the newest of each frequent family of defects that is found and not long, and that no other test
plays; `make thorough` plays the others.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from tests.health.catalogue.play import is_found, names_culprit, play
from tests.health.catalogue.seventyfirst import BROKEN

LONG = {
    "accelerometer activity",
    "activity watch",
    "alloy gp",
    "arm",
    "arm angles lv",
    "arm kinematics",
    "arm mixture",
    "assay panel",
    "barometer forecast",
    "basket department",
    "battery cells",
    "battery charge",
    "battery health",
    "battery soh",
    "bearing condition",
    "bearing faults again",
    "bearing faults anew",
    "bearing faults once more",
    "bearing transfer anew",
    "bearing wear",
    "beat types",
    "beats",
    "beetle photos",
    "bike dock hire",
    "bike rental",
    "bird triplets",
    "blobs",
    "bridge strain",
    "buoy waves",
    "card claims",
    "card focal",
    "cell centers",
    "cell centres",
    "cello timbres",
    "char writer",
    "charge",
    "choir sections",
    "churn events",
    "circles",
    "citation gcn",
    "claim screening",
    "cloud patches",
    "concrete strength",
    "contract clauses",
    "corridor walker",
    "courier",
    "course ratings",
    "crack detector",
    "credit equal chances",
    "crop plots",
    "crop yield accum",
    "customer churn",
    "deal table",
    "delayed saccade",
    "desalination membranes",
    "digit hash codes",
    "digit patches",
    "digits cosine",
    "discriminator that wins",
    "dispatch queue",
    "district heating",
    "ecg beats gan",
    "ecg denoiser",
    "ecg ectopic",
    "ecg leads",
    "eeg direction",
    "eeg gan",
    "elevator dispatch",
    "eleven classes for ten outputs",
    "eta",
    "event logs",
    "fabric",
    "feed ranker",
    "feeder",
    "ferry docking",
    "ferry tickets",
    "field boundaries",
    "field direction",
    "film look",
    "flat prices",
    "flat rents",
    "fog forecast",
    "fringe denoise",
    "fruit grading",
    "gait pairs",
    "galaxy redshift",
    "games group",
    "games stick",
    "games stones",
    "gas sensor array",
    "gauge faces",
    "gaze angles",
    "gearbox acoustics",
    "gearbox state",
    "glacier flow",
    "glaze swatches",
    "goat collars",
    "grain images",
    "grid load",
    "grid quarters",
    "grocery basket",
    "heart murmurs",
    "heron ratings",
    "hotel ranking",
    "hydrophone bearing",
    "icu deterioration",
    "images shapes",
    "imu tilt",
    "intent lstm",
    "intent tagger",
    "keystroke user",
    "kiln moisture",
    "lab imputation",
    "laps",
    "leaf blight",
    "leaf disease",
    "leaf outline",
    "leaf pooling",
    "leaf reid",
    "leaf spectra",
    "leaf spots",
    "lesion masks",
    "leverage",
    "lichen cover",
    "linocut codec",
    "load forecast",
    "log triage again",
    "loom sensors",
    "loom vibration",
    "lowlight raw",
    "machine alarms",
    "machine vibration",
    "melody rnn",
    "medal contour",
    "meter total",
    "modrec",
    "molecule solubility",
    "molprops",
    "moth species",
    "motion",
    "movie factors",
    "mushroom traits",
    "next click",
    "no2 calibration",
    "opening book",
    "opinions",
    "option surrogate",
    "page encoder",
    "particle jets",
    "passage search",
    "passes",
    "peat cores",
    "peptide binding",
    "physics bearing",
    "plankton transfer",
    "podcast affinity",
    "puffin rings",
    "pump vibration",
    "pure premium",
    "quarry plumes",
    "radar codec",
    "radar rain",
    "radio coverage",
    "rain counter",
    "raman vae",
    "rating curve",
    "reacher policy",
    "rec social",
    "recycling bins",
    "regimes",
    "rent estimate",
    "repeatable digits",
    "reservoir change",
    "returns",
    "review pooling",
    "review rating",
    "review sentiment",
    "review sentiment again",
    "review stars",
    "ring samples",
    "river gauge",
    "river gauges pair",
    "road signs",
    "robot heading",
    "rollout",
    "rooms",
    "rounds",
    "saltgraph",
    "scan shapes",
    "segment",
    "seismic denoise",
    "seismic pick",
    "session intent",
    "signature traces",
    "signature triplets anew",
    "similar day load",
    "slate dpp",
    "soil spectra carbon",
    "solubility graphs",
    "sonar bearing",
    "spectra",
    "spectra codes",
    "spectro quality",
    "spot localiser",
    "star type classifier",
    "stat pooling",
    "string modes",
    "support topics",
    "taxi minutes",
    "taxonomy",
    "taxonomy ball",
    "tephra autoencoder",
    "texture cnn",
    "ticket attention",
    "ticket queue",
    "ticket router",
    "ticket router again",
    "ticket routing again",
    "ticket routing anew",
    "ticket tone",
    "ticket topics",
    "tickets",
    "tide curves",
    "tide forecast",
    "tile landcover",
    "tokamak disrupt",
    "tones",
    "tram delays",
    "tsdf shape",
    "turbine",
    "turbine stream",
    "turbine temp",
    "twelve layers without normalization",
    "van loads",
    "vessel forecast",
    "visits",
    "voices",
    "wafer defects",
    "wafer vae",
    "ward stays",
    "ward visits",
    "whale calls",
    "wind direction",
    "wind farm power",
    "wind nowcast",
}
ROUNDED = {"antimicrobial peptides", "ndvi"}
"""How the processor rounds decides how they fail to learn: what is told here may be told otherwise there."""
ELSEWHERE = {
    "a sequence read backwards",
    "an output for two targets",
    "broadcast",
    "data in order",
    "drawn once for all",
    "frozen by mistake",
    "gates that are stuck",
    "gradients that are never cleared",
    "label out of range",
    "layer made in every call",
    "left out of the optimizer",
    "logits for probabilities",
    "masked softmax",
    "number of the first trace",
    "optimizer that is made anew",
    "policy that redraws its action",
    "recurrence that is cut",
    "reshape for a transposition",
    "settings of the optimizer",
    "softmax twice",
    "target among the inputs",
    "target network that is never synchronised",
    "targets that are the inputs",
    "targets that broadcast",
    "variables that Keras does not know",
}
"""Families of which a test of their own trains, here or in tests/hook, and asks for the finding."""
FREQUENT = 20
"""Members from which on a family is played each time."""
COUNTS = Counter(case.family for case in BROKEN.values())
NEWEST = {
    case.family: name
    for name, case in BROKEN.items()
    if not case.gap and name not in LONG | ROUNDED and case.family not in ELSEWHERE
}
PLAYED = {name for family, name in NEWEST.items() if COUNTS[family] >= FREQUENT}


def marked(name: str) -> Any:
    """A known gap must be one: where it is closed, the mark goes."""
    gap = BROKEN[name].gap
    marks = [pytest.mark.xfail(reason=gap, strict=True)] if gap else []
    if name not in PLAYED:
        marks.append(pytest.mark.thorough)
    return pytest.param(name, marks=marks)


def test_what_is_left_out_is_there() -> None:
    assert BROKEN.keys() >= LONG | ROUNDED
    assert {case.family for case in BROKEN.values()} >= ELSEWHERE
    assert set(NEWEST.values()) >= WITHIN_BUDGET


@pytest.mark.parametrize("name", [marked(name) for name in BROKEN])
def test_broken(name: str) -> None:
    check(name, budget=0)


WITHIN_BUDGET = {"news topics lxi", "product tags"}
"""Those that are played once more as users have it: full rows as seldom as the budget asks for."""


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.thorough] * (name not in WITHIN_BUDGET)) for name in NEWEST.values()]
)
def test_broken_within_the_budget(name: str) -> None:
    check(name, budget=0.02)


def check(name: str, *, budget: float) -> None:
    case = BROKEN[name]
    played = play(case.train, budget=budget)
    causes = [[hypothesis.cause for hypothesis in one.hypotheses[:2]] for one in played.findings]
    assert is_found(case, played), played.describe()
    assert names_culprit(case, played), (played.describe(), causes)
