"""A report as one HTML file: an archive, and the page's own modules, style and Plotly, which draw it without a server.

The modules go in unchanged but for their imports: a module that is part of a document has no address that "./dom.js"
could be relative to, so each gets a name of its own in an import map. The file may fetch nothing; its policy says so.
"""

from __future__ import annotations

import base64
import html
import posixpath
import re
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Any, Final

import orjson

__all__ = ["MARK", "render_document"]

MARK: Final = '<meta name="generator" content="gradwatch report" />'
"""What tells a report from any other file that happens to stand where one is to be written."""
TEMPLATE: Final = "report.html"
ENTRY: Final = "report.js"
NAMESPACE: Final = "gradwatch/"
IMPORT: Final = re.compile(r'((?:\bfrom|^import)\s+)"(\.{1,2}/[^"]+)"', re.MULTILINE)


def render_document(archive: Mapping[str, Any]) -> str:
    """Makes the file.

    Args:
        archive: as `gradwatch_server.report.make_archive` gives it.

    Returns:
        The HTML, about 5 MB of which are Plotly.
    """
    # Plotly takes most of a second to import.
    from plotly.offline import get_plotlyjs  # noqa: PLC0415

    parts = {
        "mark": MARK,
        "title": html.escape(f"{archive['run']['name']} · gradwatch report"),
        "style": _read("style.css"),
        "early_theme": _read("early_theme.js"),
        "plotly": _close_no_script(get_plotlyjs()),
        "modules": _escape(orjson.dumps({"imports": _pack_modules()})),
        "archive": _escape(orjson.dumps(archive, option=orjson.OPT_SERIALIZE_NUMPY)),
        "entry": f"{NAMESPACE}{ENTRY}",
    }
    return re.sub(r"\{\{(\w+)\}\}", lambda found: parts[found[1]], _read(TEMPLATE))


def _escape(json: bytes) -> str:
    r"""JSON that cannot end the element it stands in: "<" stands only in strings, where "\u003c" is the same."""
    return json.decode().replace("<", "\\u003c")


def _close_no_script(code: str) -> str:
    return re.sub(r"</(script)", r"<\\/\1", code, flags=re.IGNORECASE)


@cache
def _pack_modules() -> dict[str, str]:
    """The import map: the entry and all that it imports, each under a name, as a data URL."""
    modules: dict[str, str] = {}
    pending = [ENTRY]
    while pending:
        path = pending.pop()
        if path in modules:
            continue
        folder = posixpath.dirname(path)
        code = _read(path)
        wanted = {found[2]: posixpath.normpath(posixpath.join(folder, found[2])) for found in IMPORT.finditer(code)}
        pending += wanted.values()
        modules[path] = _rename_imports(code, wanted)
    return {f"{NAMESPACE}{path}": _as_url(code) for path, code in modules.items()}


def _rename_imports(code: str, names: Mapping[str, str]) -> str:
    return IMPORT.sub(lambda found: f'{found[1]}"{NAMESPACE}{names[found[2]]}"', code)


def _as_url(code: str) -> str:
    return f"data:text/javascript;base64,{base64.b64encode(code.encode()).decode()}"


def _read(path: str) -> str:
    return (resources.files("gradwatch_frontend") / path).read_text(encoding="utf-8")
