"""The JSON of a finding, as docs/contract.md has it, and the words in it."""

from __future__ import annotations

import ast
import json

import numpy as np
import pytest

from gradwatch_server.health.finding import make_plain
from gradwatch_server.health.verdict.spelling import list_names, say_number
from tests.health.test_layers import CASES as LAYER_CASES
from tests.health.test_operation import CASES as OPERATION_CASES
from tests.health.test_sick import CASES as SICK_CASES

CASES = SICK_CASES | OPERATION_CASES | LAYER_CASES

FIELDS = {
    "id", "kind", "severity", "first_step", "last_step", "title", "layer", "tensor", "operation", "source", "evidence",
    "hypotheses", "worker",
}  # fmt: skip


def read_change(code: str) -> str:
    """What a reader takes over: of a line before and after, the one after."""
    lines = code.splitlines()
    if not any(line.startswith("- ") for line in lines):
        return code
    return "\n".join(line.removeprefix("+ ") for line in lines if not line.startswith("- "))


@pytest.mark.parametrize("name", CASES)
def test_json_is_as_the_contract_says(name: str) -> None:
    for finding in CASES[name].run.feed().findings():
        told = json.loads(json.dumps(finding.to_json(), allow_nan=False))
        assert set(told) == FIELDS
        assert told["severity"] in {"warning", "critical"}
        assert told["operation"] is None or set(told["operation"]) == {"type", "name"}
        assert told["source"] is None or set(told["source"]) - {"excerpt"} == {"file", "line", "code"}
        assert told["first_step"] <= told["last_step"]
        assert told["id"].startswith(f"{told['kind']}-{told['first_step']}")
        assert "/" not in told["id"]
        evidence = told["evidence"]
        assert evidence["summary"].endswith(".")
        assert all(set(link) == {"what", "step", "n"} for link in evidence["chain"])
        assert all(set(entry) == {"kind", "first_step", "n_tensors"} for entry in evidence["flood"])
        steps = [link["step"] for link in evidence["chain"]]
        assert steps == sorted(steps)
        assert steps[0] == told["first_step"]


@pytest.mark.parametrize("name", CASES)
def test_words_are_fit_for_a_tired_reader(name: str) -> None:
    for finding in CASES[name].run.feed().findings():
        texts = [finding.title, finding.evidence["summary"]]
        assert len(finding.title) <= 140
        assert not finding.title.endswith(".")
        for hypothesis in finding.hypotheses:
            assert 0 < hypothesis.confidence < 1
            texts += [hypothesis.cause, hypothesis.why, hypothesis.fix]
            ast.parse(read_change(hypothesis.code))
        confidences = [hypothesis.confidence for hypothesis in finding.hypotheses]
        assert confidences == sorted(confidences, reverse=True)
        for text in texts:
            assert text == text.strip()
            assert text
            assert "None" not in text.replace("is None only", "").replace("was None in", "")
            assert "nan" not in text.replace("finan", "").replace("divide_no_nan", "")
            assert "  " not in text


def test_plain_values() -> None:
    found = make_plain(
        {"a": np.float32(0.1), "b": (np.int64(3), float("nan")), "c": np.array([1.0, np.inf]), "d": np.True_}
    )
    assert found == {"a": 0.1, "b": [3, None], "c": [1.0, None], "d": True}
    assert type(found["b"][0]) is int


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0"), (1, "1"), (0.01234, "0.0123"), (4_198.0, "4,200"), (3.44e12, "3.44e+12"), (float("inf"), "infinite")],
)
def test_numbers_are_short(value: float, text: str) -> None:
    assert say_number(value) == text


def test_names_are_listed_shortly() -> None:
    assert [list_names(list("abcde"[:n])) for n in (1, 2, 5)] == ["a", "a and b", "a, b and 3 more"]
