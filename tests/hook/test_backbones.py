"""Pretrained networks that get images in another range than they were trained on are told; others are not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest
from keras import layers

from gradwatch.slips.script.backbones import find_backbones
from tests.hook.diagnosis import diagnose, find_line

CAPTURE = ("gradient", "input")
SHAPE = (32, 32, 3)
DEEP = keras.Sequential([keras.Input((8,)), *(layers.Dense(2) for _ in range(12))])
IMAGES = np.random.default_rng(0).integers(0, 256, (64, *SHAPE)).astype(np.float32)


@pytest.fixture(scope="module")
def weights(tmp_path_factory: Any) -> str:
    """Those of a small network, as if they had been trained."""
    path = str(tmp_path_factory.mktemp("weights") / "net.weights.h5")
    keras.applications.MobileNetV2(SHAPE, alpha=0.35, include_top=False, weights=None).save_weights(path)
    return path


IMPORT = "from tensorflow.keras.applications import MobileNetV2, ResNet50\nfrom tensorflow import keras\n"


@pytest.mark.parametrize(
    ("lines", "wanted"),
    [
        ("base = MobileNetV2(include_top=False)", ("MobileNetV2", (-1, 1), False)),
        ("base = keras.applications.DenseNet121(weights='imagenet')", ("DenseNet121", (-2.1, 2.6), False)),
        ("base = keras.applications.vgg16.VGG16(weights='imagenet')", ("VGG16", (-123.7, 151.1), False)),
        ("base = ResNet50()\nx = x * 255.0", ("ResNet50", (-123.7, 151.1), True)),
        ("base = ResNet50()\nx = x / 255.0", ("ResNet50", (-123.7, 151.1), False)),
        ("base = MobileNetV2()\nx = x / 127.5 - 1", ("MobileNetV2", (-1, 1), True)),
        ("base = MobileNetV2()\nx = preprocess_input(x)", ("MobileNetV2", (-1, 1), True)),
        ("base = MobileNetV2(weights=None)", None),
        ("base = MobileNetV2()\nother = ResNet50()", None),
        ("base = keras.applications.EfficientNetB0()", None),
        ("base = networks.MobileNetV2()", None),
        ("base = Xception()", None),
    ],
)
def test_a_call_that_makes_one(tmp_path: Path, lines: str, wanted: Any) -> None:
    path = tmp_path / "train.py"
    path.write_text(IMPORT + lines)
    found = find_backbones([DEEP], [str(path)])
    known = [(one["name"], tuple(round(end, 1) for end in one["wants"]), one["prepared"]) for one in found]
    assert known == ([] if wanted is None else [wanted])
    assert [one["source"]["line"] for one in found] == [3] * len(found)


@pytest.mark.parametrize(
    ("lines", "by"),
    [
        ("from keras.applications.vgg16 import preprocess_input\nResNet50()\npreprocess_input(x)", ""),
        (
            "from keras.applications.mobilenet_v2 import preprocess_input\nResNet50()\npreprocess_input(x)",
            "mobilenet_v2",
        ),
        ("from keras.applications.resnet import preprocess_input\nMobileNetV2()\nmap(preprocess_input)", "resnet"),
        ("from keras.applications import resnet as net\nMobileNetV2()\nnet.preprocess_input(x)", "resnet"),
        ("MobileNetV2()\nkeras.applications.vgg16.preprocess_input(x)", "vgg16"),
        ("keras.applications.EfficientNetB0()\nkeras.applications.vgg16.preprocess_input(x)", "vgg16"),
        ("from keras.applications.resnet import preprocess_input\nMobileNetV2()", ""),
        ("MobileNetV2()\nkeras.applications.imagenet_utils.preprocess_input(x, mode='tf')", ""),
        ("MobileNetV2()\nutils.preprocess_input(x)", ""),
        ("keras.applications.vgg16.preprocess_input(x)\nMobileNetV2()\nmobilenet_v2.preprocess_input(x)", ""),
        ("MobileNetV2(weights='mine.weights.h5')\nkeras.applications.vgg16.preprocess_input(x)", ""),
        ("MobileNetV2()\nx = x / 127.5 - 1\nkeras.applications.vgg16.preprocess_input(y)", ""),
        ("MobileNetV2()\nf = load_model(p)\nkeras.applications.vgg16.preprocess_input(y)", ""),
        ("MobileNetV2()\ntable = {'v': keras.applications.vgg16.preprocess_input}", ""),
        ("from keras.applications import vgg16\nMobileNetV2()\n(vgg16 or other.net).preprocess_input(x)", ""),
    ],
)
def test_what_prepares_for_another_network(tmp_path: Path, lines: str, by: str) -> None:
    path = tmp_path / "train.py"
    path.write_text(IMPORT + lines)
    assert [one["by"] for one in find_backbones([DEEP], [str(path)])] == [by] * ("Efficient" not in lines or by != "")


@pytest.mark.parametrize(
    ("lines", "is_within"),
    [
        ("inputs = keras.Input((8, 8, 3))\nx = preprocess_input(inputs)", True),
        ("turn = Sequential([flip])\ni = keras.Input((8, 8, 3))\nx = turn(i)\nx = preprocess_input(x)", True),
        ("turn = Sequential([Rescaling(2)])\ni = keras.Input((8, 8, 3))\nx = turn(i)\nx = preprocess_input(x)", False),
        ("i = keras.Input((8, 8, 3))\nx = restore(i)\nx = preprocess_input(x)", False),
        ("x = preprocess_input(x)", False),
    ],
)
def test_a_model_that_prepares(tmp_path: Path, lines: str, is_within: bool) -> None:
    path = tmp_path / "train.py"
    path.write_text(f"{IMPORT}base = MobileNetV2()\n{lines}\n")
    (found,) = find_backbones([DEEP], [str(path)])
    assert found["within"] == is_within


@pytest.mark.parametrize(("first", "is_prepared"), [([layers.Rescaling(2.0)], True), ([layers.Dropout(0.1)], False)])
def test_a_layer_that_may_scale(tmp_path: Path, first: list[Any], is_prepared: bool) -> None:
    path = tmp_path / "train.py"
    path.write_text(IMPORT + "base = MobileNetV2()")
    (found,) = find_backbones([keras.Sequential([*first, DEEP])], [str(path)])
    assert found["prepared"] == is_prepared


def test_a_small_model_has_none(tmp_path: Path) -> None:
    path = tmp_path / "train.py"
    path.write_text(IMPORT + "base = MobileNetV2()")
    assert find_backbones([keras.Sequential([keras.Input((8,)), layers.Dense(2)])], [str(path)]) == []


@pytest.mark.filterwarnings("ignore:__array__ implementation doesn't accept a copy keyword:DeprecationWarning")
def test_what_enters_tells_it(watch: Any, read: Any, weights: str) -> None:
    keras.utils.set_random_seed(0)
    base = keras.applications.MobileNetV2(SHAPE, alpha=0.35, include_top=False, weights=weights)  # base
    base.trainable = False
    inputs = keras.Input(SHAPE)
    pooled = layers.GlobalAveragePooling2D()(base(inputs, training=False))
    model = keras.Model(inputs, layers.Dense(1)(pooled))
    model.compile(keras.optimizers.SGD(1e-4), "mse")
    begun = watch(model)
    model.fit(IMAGES, IMAGES.mean((1, 2, 3)), batch_size=8, epochs=14, verbose=0)
    (told,) = [one for one in diagnose(read(begun)).findings() if "was trained on" in one.title]
    assert "mobilenet_v2.preprocess_input(image)" in told.hypotheses[0].code
    assert told.source["line"] == find_line("base", Path(__file__))
