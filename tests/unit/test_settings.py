"""What can be set: argument before environment before default; and the words for what cannot."""

import math
from pathlib import Path

import numpy as np
import pytest

from gradwatch.errors import ConfigurationError, GradwatchError
from gradwatch.protocol import encode
from gradwatch.settings import DEFAULT_URL, Settings, resolve

ENVIRONMENT = {
    "GRADWATCH_URL": "https://watch.example:8443/",
    "GRADWATCH_TOKEN": "from-environment",
    "GRADWATCH_PROJECT": "environment project",
    "GRADWATCH_DIR": "/data/gradwatch",
}


def settle(environment=None, **arguments):
    return resolve(environment=environment or {}, **arguments)


def test_defaults():
    assert settle() == Settings()
    assert Settings().url == DEFAULT_URL
    assert Settings().directory == Path.home() / ".gradwatch"


def test_environment_before_default():
    found = settle(ENVIRONMENT)
    assert found.url == "https://watch.example:8443"
    assert found.token == "from-environment"
    assert found.project == "environment project"
    assert found.directory == Path("/data/gradwatch")


def test_argument_before_environment():
    found = settle(ENVIRONMENT, url="http://10.0.0.1:1", token="mine", project="mine")
    assert (found.url, found.token, found.project) == ("http://10.0.0.1:1", "mine", "mine")


def test_empty_environment_is_no_setting():
    assert settle(dict.fromkeys(ENVIRONMENT, "")) == Settings()


def test_home_is_expanded():
    assert settle({"GRADWATCH_DIR": "~/runs"}).directory == Path.home() / "runs"


@pytest.mark.parametrize("word", ["1", "true", "TRUE", "yes"])
def test_disabled(word):
    assert settle({"GRADWATCH_DISABLED": word}).is_disabled


@pytest.mark.parametrize("word", ["0", "", "no", "false"])
def test_not_disabled(word):
    assert not settle({"GRADWATCH_DISABLED": word}).is_disabled


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("gradient", ("gradient",)),
        (["update", "gradient"], ("gradient", "update")),
        (("gradient", "weight", "update", "gradient"), ("gradient", "weight", "update")),
        (iter(["gradient", "weight"]), ("gradient", "weight")),
    ],
)
def test_capture_is_put_into_order(given, kept):
    assert settle(capture=given).capture == kept


def test_one_tag_is_a_list_of_one():
    assert settle(tags="baseline").tags == ("baseline",)
    assert settle(tags=["a", "b"]).tags == ("a", "b")


BAD = [
    ("url", "ws://127.0.0.1:8470", "the server's address, e.g. http://127.0.0.1:8470"),
    ("url", "127.0.0.1:8470", "the server's address"),
    ("url", "http://", "the server's address"),
    ("url", "http://host:not-a-port", "the server's address"),
    ("url", "http://host:99999", "the server's address"),
    ("url", 8470, "the server's address"),
    ("every", 0, "a whole number of steps, 1 or more"),
    ("every", -3, "a whole number of steps"),
    ("every", 1.5, "a whole number of steps"),
    ("every", True, "a whole number of steps"),
    ("every", "10", "a whole number of steps"),
    ("every", None, "a whole number of steps"),
    ("on_nonfinite", "stop", "one of 'record', 'skip', 'raise'"),
    ("on_nonfinite", None, "one of 'record', 'skip', 'raise'"),
    ("on_nonfinite", ["skip"], "one of 'record', 'skip', 'raise'"),
    ("capture", "activations", "one of 'gradient', 'weight', 'update'"),
    ("capture", ["gradient", "gradients"], "one of 'gradient', 'weight', 'update'"),
    ("capture", ["weight"], "kinds that include 'gradient'"),
    ("capture", [], "kinds that include 'gradient'"),
    ("capture", None, "some of 'gradient', 'weight', 'update'"),
    ("capture", 3, "some of 'gradient', 'weight', 'update'"),
    ("budget", 1, "a share of step time from 0 (no limit) to below 1"),
    ("budget", -0.1, "a share of step time"),
    ("budget", math.nan, "a share of step time"),
    ("budget", "2%", "a share of step time"),
    ("budget", False, "a share of step time"),
    ("project", "", "1 to 100 letters, digits, spaces or . _ - /"),
    ("project", "a\nb", "1 to 100 letters"),
    ("project", "x" * 101, "1 to 100 letters"),
    ("project", None, "1 to 100 letters"),
    ("project", 7, "1 to 100 letters"),
    ("name", "", "a text of 1 to 200 characters, or None"),
    ("name", 5, "a text of 1 to 200 characters"),
    ("name", "n" * 201, "a text of 1 to 200 characters"),
    ("config", ["batch_size", 64], "a dict of settings, e.g. {'learning_rate': 1e-3}"),
    ("config", "batch_size=64", "a dict of settings"),
    ("tags", [""], "texts of 1 to 60 characters"),
    ("tags", ["ok", 5], "texts of 1 to 60 characters"),
    ("tags", 5, "texts of 1 to 60 characters"),
    ("tags", None, "texts of 1 to 60 characters"),
    ("tags", ["t" * 61], "texts of 1 to 60 characters"),
    ("token", 123, "the server's token, a text"),
]


@pytest.mark.parametrize(("name", "value", "expected"), BAD, ids=[f"{name}={value!r:.20}" for name, value, _ in BAD])
def test_mistakes_name_themselves(name, value, expected):
    with pytest.raises(ConfigurationError) as caught:
        settle(**{name: value})
    error = caught.value
    assert error.name == name
    assert expected in error.expected
    assert str(error) == f"{name}: found {error.found!r}, expected {error.expected}."
    assert isinstance(error, (GradwatchError, ValueError))


def test_a_mistake_in_the_environment_is_found_too():
    with pytest.raises(ConfigurationError, match=r"^url: found 'localhost', expected the server's address"):
        settle({"GRADWATCH_URL": "localhost"})
    with pytest.raises(ConfigurationError, match=r"^project: "):
        settle({"GRADWATCH_PROJECT": "?"})


def test_a_secret_token_is_not_in_the_message():
    with pytest.raises(ConfigurationError) as caught:
        settle(token=b"secret")
    assert "secret" not in str(caught.value)


class Anything:
    def __repr__(self):
        return "<anything>"


CONFIG = {
    "rate": 1e-3,
    "nan": math.nan,
    "infinite": -math.inf,
    "none": None,
    "layers": (8, [3, Anything()]),
    "nested": {1: {"deep": True}},
    "seed": 2**100,
    "numpy": np.float32(0.5),
    "array": np.zeros(2),
    "bytes": b"x",
}


def test_config_becomes_values_that_travel():
    config = dict(settle(config=CONFIG).config)
    assert config == {
        "rate": 1e-3,
        "nan": "nan",
        "infinite": "-inf",
        "none": None,
        "layers": [8, [3, "<anything>"]],
        "nested": {"1": {"deep": True}},
        "seed": str(2**100),
        "numpy": "0.5",
        "array": "[0. 0.]",
        "bytes": "b'x'",
    }
    encode({"type": "hello", "config": config})


def test_settings_are_documented():
    documented = Settings.__doc__ or ""
    for name in Settings.__dataclass_fields__:
        assert f"        {name}: " in documented, f"{name} is not described"
