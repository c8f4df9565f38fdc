"""Images that are read blue first for a network that knows them red first are told; those that are turned are not."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from gradwatch.slips.script.bgr import find_bgr

PRETRAINED = """
import cv2
from tensorflow.keras.applications import MobileNetV2, VGG16
from tensorflow.keras.applications.mobilenet_v2 import preprocess_input

images = []
for path in paths:
    image = {read}
    image = cv2.resize(image, (224, 224))
    {more}
    images.append(image)
x = {prepared}
base = {network}
model = build(base)
model.fit(x, y, epochs=3)
"""
PREDICTED = """
import cv2
import tensorflow as tf

train = {loader}
model = build()
model.fit(train, epochs=3)

def show(path):
    image = {read}
    {more}
    batch = np.expand_dims(image / 255.0, 0)
    return model.predict({given})
"""
MOBILE = "MobileNetV2(weights='imagenet', include_top=False)"
FOLDER = "tf.keras.utils.image_dataset_from_directory('photos')"
Find = Callable[[str], list[tuple[str, str, str]]]


@pytest.fixture
def find(tmp_path: Path) -> Find:
    """For which network, or beside what, and the line, in a file that is not run."""

    def read(text: str) -> list[tuple[str, str, str]]:
        path = tmp_path / f"train_{len(list(tmp_path.iterdir()))}.py"  # a file is read once
        path.write_text(text)
        return [(one["name"], one["by"], one["source"]["code"]) for one in find_bgr([str(path)])]

    return read


def pretrained(
    read: str = "cv2.imread(path)",
    more: str = "pass",
    prepared: str = "preprocess_input(images)",
    network: str = MOBILE,
) -> str:
    return PRETRAINED.format(read=read, more=more, prepared=prepared, network=network)


def predicted(loader: str = FOLDER, read: str = "cv2.imread(path)", more: str = "pass", given: str = "batch") -> str:
    return PREDICTED.format(loader=loader, read=read, more=more, given=given)


def test_a_pretrained_network(find: Find) -> None:
    assert find(pretrained()) == [("MobileNetV2", "", "image = cv2.imread(path)")]
    assert find(pretrained("cv2.imread(path, cv2.IMREAD_COLOR)"))[0][0] == "MobileNetV2"
    shown = "image = cv2.imread('cat.png')\nbatch = image[None]\nmodel.predict(batch)"
    assert find(pretrained("next(photos)") + shown)[0][2] == "image = cv2.imread('cat.png')"
    network = "VGG16(weights='imagenet')"
    text = pretrained(network=network).replace("mobilenet_v2 import", "vgg16 import")
    assert find(text)[0][0] == "VGG16"  # whose `preprocess_input` exchanges them once more


def test_images_to_predict(find: Find) -> None:
    assert find(predicted()) == [("", "image_dataset_from_directory", "image = cv2.imread(path)")]
    assert find(predicted("generator.flow_from_directory('photos')"))[0][1] == "flow_from_directory"


@pytest.mark.parametrize(
    "text",
    [
        pretrained("cv2.cvtColor(cv2.imread(path), cv2.COLOR_BGR2RGB)"),
        pretrained("cv2.imread(path)[:, :, ::-1]"),
        pretrained("cv2.imread(path)[..., [2, 1, 0]]"),
        pretrained("cv2.imread(path)[..., (2, 1, 0)]"),
        pretrained(more="image = np.dstack((image[..., 2], image[..., 1], image[..., 0]))"),
        pretrained().replace("in paths", "in glob('chest_xray/train/*/*.jpeg')"),  # all channels are the same
        predicted("tf.keras.utils.image_dataset_from_directory('brain_mri/train')"),
        pretrained("Photo(path).pixels") + "masks = [cv2.imread(path)[..., 0] > 0 for path in outlines]",
        pretrained("next(photos)") + "cv2.imshow('there', cv2.imread('background.png'))",
        pretrained("cv2.imread(path, 0)"),
        pretrained("cv2.imread(path, cv2.IMREAD_GRAYSCALE)"),
        pretrained("cv2.imread(path, cv2.IMREAD_COLOR_RGB)"),
        pretrained("plt.imread(path)"),
        pretrained("Image.open(path)"),
        pretrained(more="image = np.flip(image, -1)"),
        pretrained(more="image = tf.reverse(image, [-1])"),
        pretrained(more="b, g, r = cv2.split(image)"),
        pretrained(network="MobileNetV2(weights=None)"),
        pretrained(network="MobileNetV2(weights='own.h5')"),
        pretrained(network="build_network()"),
        pretrained(network="VGG16(weights='imagenet')", prepared="x - (103.9, 116.8, 123.7)").replace(
            "from tensorflow.keras.applications.mobilenet_v2 import preprocess_input", ""
        ),  # it wants blue first
        pretrained() + "other = tf.io.decode_jpeg(data)",
        predicted(more="image = cv2.cvtColor(image, cv2.COLOR_BGR2RGB)"),
        predicted(read="tf.keras.utils.load_img(path)"),
        predicted(given="other"),  # it is shown
        predicted(loader="read_all('photos')"),
        predicted() + "mask = cv2.imread(first)",  # and others are not
    ],
)
def test_what_is_turned_or_may_be_read_otherwise(find: Find, text: str) -> None:
    assert find(text) == []
