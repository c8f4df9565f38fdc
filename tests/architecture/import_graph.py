"""Reads which module imports which, from the sources alone. Owns the reading, not the rules."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCES = {
    "gradwatch": ROOT / "client_hook" / "gradwatch",
    "gradwatch_server": ROOT / "server" / "gradwatch_server",
    "gradwatch_frontend": ROOT / "frontend" / "gradwatch_frontend",
}


@dataclass(frozen=True)
class Import:
    """One name that a module imports.

    Attributes:
        importer: the importing module, dotted.
        target: what is imported, dotted; for ``from a import b`` it is ``a.b``, be ``b`` a module or not.
        line: where.
        is_at_import: whether it runs when the importer is imported (not in a function, not for type checkers).
    """

    importer: str
    target: str
    line: int
    is_at_import: bool

    def reaches(self, *names: str) -> bool:
        """Whether the target is one of the dotted names or lies inside one."""
        return any(self.target == name or self.target.startswith(f"{name}.") for name in names)


def name_module(path: Path, package: str, root: Path) -> str:
    """The dotted name of a file inside a package."""
    parts = [package, *path.relative_to(root).with_suffix("").parts]
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def read_source(source: str, module: str, *, is_package: bool = False) -> list[Import]:
    """Every import in a module's source."""
    found: list[Import] = []
    package = module if is_package else module.rpartition(".")[0]
    _collect(ast.parse(source), module, package, found, at_import=True)
    return found


def read_package(package: str) -> list[Import]:
    """Every import in every module of one of our packages."""
    root = SOURCES[package]
    found: list[Import] = []
    for path in sorted(root.rglob("*.py")):
        module = name_module(path, package, root)
        found += read_source(path.read_text(encoding="utf-8"), module, is_package=path.name == "__init__.py")
    return found


def follow(imports: list[Import], start: str, *, modules: set[str]) -> dict[str, str]:
    """What importing ``start`` imports in turn: each dotted target, with the module that asked for it."""
    reached: dict[str, str] = {}
    waiting = [start]
    seen: set[str] = set()
    while waiting:
        module = waiting.pop()
        if module in seen:
            continue
        seen.add(module)
        for edge in imports:
            if edge.importer == module and edge.is_at_import:
                reached.setdefault(edge.target, module)
                waiting += _list_own_modules(edge.target, modules)
    return reached


def _list_own_modules(target: str, modules: set[str]) -> Iterator[str]:
    """The modules of ours that an import runs: the target, and every package on the way to it."""
    parts = target.split(".")
    return (name for name in (".".join(parts[:n]) for n in range(1, len(parts) + 1)) if name in modules)


def _collect(node: ast.AST, module: str, package: str, found: list[Import], *, at_import: bool) -> None:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import):
            found += [Import(module, alias.name, child.lineno, at_import) for alias in child.names]
        elif isinstance(child, ast.ImportFrom):
            base = child.module or ""
            if child.level:
                above = package.split(".")[: len(package.split(".")) - child.level + 1]
                base = ".".join([*above, *([base] if base else [])])
            found += [Import(module, f"{base}.{alias.name}", child.lineno, at_import) for alias in child.names]
        elif isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
            for statement in child.body:
                _collect(ast.Module([statement], []), module, package, found, at_import=False)
            for statement in child.orelse:
                _collect(ast.Module([statement], []), module, package, found, at_import=at_import)
        else:
            is_function = isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))
            _collect(child, module, package, found, at_import=at_import and not is_function)
