"""Code for a cause in the user's own words: their line, changed, or their names in place of ours. Pure text."""

from __future__ import annotations

import ast
import re
import textwrap
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from difflib import SequenceMatcher
from functools import partial
from typing import Any, Final

from gradwatch_server.health.finding import Change, Finding, Hypothesis
from gradwatch_server.health.setup import Setup
from gradwatch_server.health.verdict.operation import say_source
from gradwatch_server.health.verdict.rewrite import Text

__all__ = ["in_own_words", "parse_call"]

PLACES: Final[Mapping[str, int]] = {"learning_rate": 0, "rate": 0, "activation": 1, "decay_steps": 1}
"""Where an argument stands that is given without its name."""
CALLS_LIMIT: Final = 4
"""Lines that are shown changed; what is to be done to more of them is seen by then."""
WORDS: Final[Mapping[str, str]] = {"optimizer": "optimizers", "loss": "losses"}
"""What `compile` may be given by a word, and the module of Keras that has its class."""
Call = Mapping[str, Any]


def in_own_words(finding: Finding, setup: Setup) -> Finding:
    """A finding whose codes are changes of the user's own calls, as far as these are known.

    The others stay what they were, with the names by which the user's code knows packages.
    """
    own = tuple(_in_own_words(hypothesis, setup) for hypothesis in finding.hypotheses)
    return finding if own == finding.hypotheses else replace(finding, hypotheses=own)


def _in_own_words(hypothesis: Hypothesis, setup: Setup) -> Hypothesis:
    calls: Sequence[Call] = setup.script.get("calls", ())
    imports: Mapping[str, str] = setup.script.get("imports", {})
    known = [(change, call) for change in hypothesis.changes for call in _find(calls, change)]
    # What a layer gives is changed where the call makes no other, which may be right as it is.
    counts = Counter(map(_place, (call for _, call in known)))
    known = [(one, call) for one, call in known if not _is_of_function(one) or counts[_place(call)] >= call["n"]]
    texts = [_write(change, call, setup) for change, call in known]
    own = list(dict.fromkeys(text for text in texts if text is not None))[:CALLS_LIMIT]
    code = "\n".join(own) or _with_model(hypothesis.code, calls)
    return replace(hypothesis, code=_with_packages(code, imports), changes=())


def _find(calls: Sequence[Call], change: Change) -> Iterator[Call]:
    """The calls that a change is for; that of `compile` where it may be given a word in place of an object."""
    found = [one for one in calls if one["role"] == change.role and _is_meant(one, change)]
    if change.before is not None:
        found = [one for one in (*found, *calls) if one["role"] in (change.role, "data") and len(_data_of(one)) > 1][:1]
    yield from found or [one for one in calls if change.role in WORDS and one["role"] == "compile"]


def _place(call: Call) -> tuple[Any, ...]:
    return call["file"], call["line"], call["start"]


def _is_of_function(change: Change) -> bool:
    return "activation" in (*change.without, *dict(change.instead))


def _is_meant(call: Call, change: Change) -> bool:
    if change.of is not None:
        tree = parse_call(call)
        return tree is not None and _last_name(tree.func) == change.of
    return bool(call["layer"] == change.layer)


def _write(change: Change, call: Call, setup: Setup) -> str | None:
    """A change in the lines of a call, as a diff below their place; None where it cannot be made."""
    place = say_source(call)
    if change.note is not None:
        return f"# {place}: {change.note}\n{textwrap.dedent(chr(10).join(call['lines']))}"
    if change.before is not None:
        shown = str(call["lines"][0]).strip()
        place = say_source({**call, "line": call["begins"]})
        added = textwrap.indent(_with_model(_with_data(change.before, call), [call]), "+ ")
        return f"# before {place}, {shown}\n{added}"
    if change.role != call["role"]:
        change = Change("compile", instead=_made_of(call, change, setup))
    imports: Mapping[str, str] = setup.script.get("imports", {})
    text = _text_of(call)
    changed = _change(text, change, imports)
    if changed is None or changed == text or _parse(changed) is None:
        return None
    several = f", which makes {call['n']} layers" if call["n"] > 1 else ""
    first, last = call["lines"][0], call["lines"][-1]
    new = f"{first[: call['start']]}{changed}{last[call['end'] :]}".split("\n")
    remark = [f"# {change.remark}"] if change.remark else []
    return "\n".join([f"# {place}{several}", *_differ(call["lines"], new), *remark])


def _differ(old: Sequence[str], new: Sequence[str]) -> Iterator[str]:
    """Lines that go behind a minus, those that come behind a plus, and those that stay behind two spaces."""
    for kind, first, last, begin, end in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind == "equal":
            yield from (f"  {line}" for line in old[first:last])
        else:
            yield from (f"- {line}" for line in old[first:last])
            yield from (f"+ {line}" for line in new[begin:end])


def _made_of(call: Call, change: Change, setup: Setup) -> tuple[tuple[str, str], ...]:
    """The argument of `compile` that takes the place of a word: the call of the class that the word stands for."""
    tree = parse_call(call)
    found = None if tree is None else _argument(tree, change.role)
    word = found.value if isinstance(found, ast.keyword) else None
    if not (isinstance(word, ast.Constant) and isinstance(word.value, str)):
        return ()
    named = setup.optimizer_class if change.role == "optimizer" else _class_of_loss(word.value)
    arguments = ", ".join(f"{name}={value}" for name, value in change.given)
    if not (change.kind or (named and arguments)):
        return ()
    return ((change.role, f"tf.keras.{WORDS[change.role]}.{change.kind or named}({arguments})"),)


def _class_of_loss(word: str) -> str:
    return word if word[:1].isupper() else "".join(part.capitalize() for part in word.split("_"))


def _change(code: str, change: Change, imports: Mapping[str, str]) -> str | None:
    """A call's text, changed."""
    edits = [partial(_without, name=name) for name in change.without]
    for is_added, arguments in ((False, change.instead), (True, change.given)):
        edits += [partial(_with, name=n, value=_with_names(v, imports), is_added=is_added) for n, v in arguments]
    if change.kind is not None:
        edits.append(partial(_of_kind, change=change, imports=imports))
    changed: str | None = code
    for edit in edits:
        changed = None if changed is None else edit(changed)
    return changed


def parse_call(call: Call) -> ast.Call | None:
    """A call's syntax tree; None where its text is none."""
    return _parse(_text_of(call))


def _text_of(call: Call) -> str:
    """The call itself, out of the lines that it stands in."""
    lines = list(call["lines"])
    lines[-1] = lines[-1][: call["end"]]
    lines[0] = lines[0][call["start"] :]
    return "\n".join(lines)


def _parse(text: str) -> ast.Call | None:
    try:
        tree = ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError):
        return None
    return tree if isinstance(tree, ast.Call) else None


def _last_name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def _argument(tree: ast.Call, name: str) -> ast.expr | ast.keyword | None:
    """An argument by its name, or by the place of that name."""
    for keyword in tree.keywords:
        if keyword.arg == name:
            return keyword
    place = PLACES.get(name, len(tree.args))
    is_starred = any(isinstance(argument, ast.Starred) for argument in tree.args)
    return tree.args[place] if place < len(tree.args) and not is_starred else None


def _with(code: str, name: str, value: str, *, is_added: bool) -> str | None:
    """A call with another value of an argument, which is added where it has none of that name."""
    tree, text = _parse(code), Text(code)
    if tree is None:
        return None
    found = _argument(tree, name)
    if found is not None:
        node = found.value if isinstance(found, ast.keyword) else found
        return text.splice(node, value.replace("{}", text.of(node)))
    if not is_added:
        return code
    others = [*tree.args, *tree.keywords]
    if others:
        end, added = max(text.span(one)[1] for one in others), f", {name}={value}"
    else:  # before the closing bracket
        end, added = text.span(tree)[1] - 1, f"{name}={value}"
    return text.replace(end, end, added)


def _without(code: str, name: str) -> str | None:
    """A call without an argument; as it is, where it has none of that name."""
    tree, text = _parse(code), Text(code)
    if tree is None:
        return None
    found = _argument(tree, name)
    if found is None:
        return code
    if not isinstance(found, ast.keyword) and found is not tree.args[-1]:
        return None  # those behind it would move into its place
    others = sorted([*tree.args, *tree.keywords], key=text.span)
    place = others.index(found)
    start, end = text.span(found)
    if place > 0:
        start = text.span(others[place - 1])[1]
    elif len(others) > 1:
        end = text.span(others[1])[0]
    return text.replace(start, end, "")


def _of_kind(code: str, change: Change, imports: Mapping[str, str]) -> str | None:
    """A call of another class, in the same module."""
    tree, text = _parse(code), Text(code)
    if tree is None:
        return None
    if change.role == "variable":
        return text.splice(tree.func, _with_names(f"tf.keras.{change.kind}", imports))
    module = text.of(tree.func).rpartition(".")[0]
    if not module:  # a class that was imported by its name alone: the other is not
        module = _with_names(f"tf.keras.{WORDS.get(change.role, 'layers')}.", imports).rstrip(".")
    return text.splice(tree.func, f"{module}.{change.kind}")


def _with_data(code: str, call: Call) -> str:
    """The names of what is trained on in place of ours."""
    for ours, name in zip(("x_train", "y_train"), _data_of(call), strict=False):
        code = re.sub(rf"\b{ours}\b", name, code)
    return code


def _data_of(call: Call) -> list[str]:
    """What inputs and targets are called where they are given to `fit` or made a data set of, if they have names."""
    tree = parse_call(call)
    given = [] if tree is None else [*tree.args]
    if len(given) == 1 and isinstance(given[0], ast.Tuple):
        given = given[0].elts
    if tree is not None and call["role"] == "fit":
        given += [keyword.value for name in ("x", "y") for keyword in tree.keywords if keyword.arg == name]
    names = [ast.unparse(one) for one in given[:2] if isinstance(one, (ast.Name, ast.Attribute))]
    return names if len(names) == len(given[:2]) else []


def _with_model(code: str, calls: Sequence[Call]) -> str:
    """The name of what is compiled and fitted in place of ours."""
    for role in ("fit", "compile"):
        call = next((one for one in calls if one["role"] == role), None)
        tree = None if call is None else parse_call(call)
        if tree is not None and isinstance(tree.func, ast.Attribute) and isinstance(tree.func.value, ast.Name):
            return re.sub(r"(?<![.\w])model(?=[.(])", tree.func.value.id, code)
    return code


def _with_names(code: str, imports: Mapping[str, str]) -> str:
    """The names by which the user's code knows Keras and its modules in place of ours."""
    for module in ("keras.layers", "keras.losses", "keras.optimizers", "keras"):
        if module in imports:
            code = re.sub(rf"(?<![.\w])tf\.{re.escape(module)}\.", f"{imports[module]}.", code)
    return code


def _with_packages(code: str, imports: Mapping[str, str]) -> str:
    """The same for all packages, with an import of those that the user's code does not know."""
    if not imports:
        return code
    is_known = re.compile(r"[#-] ")  # a comment, or a line as it is
    lines = [line if is_known.match(line) else _with_names(line, imports) for line in code.split("\n")]
    needed = []
    for module, ours in (("tensorflow", "tf"), ("numpy", "np")):
        is_used = re.compile(rf"(?<![.\w]){ours}\.")
        if not any(is_used.search(line.partition("#")[0]) for line in lines):
            continue
        if module in imports:
            lines = [line if is_known.match(line) else is_used.sub(f"{imports[module]}.", line) for line in lines]
        else:
            needed.append(f"import {module} as {ours}")
    return "\n".join([*needed, *lines])
