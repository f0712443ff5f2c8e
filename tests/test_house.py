"""What must agree across files: versions, reasons, generated code, dependencies, imports."""

from __future__ import annotations

import ast
import importlib
import re
import subprocess
import sys
import tomllib
from functools import cache
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from treespan.errors import TreespanError
from treespan.node import NodeKind
from treespan.v1 import error_reason_pb2, node_pb2

ROOT = Path(__file__).resolve().parent.parent
PYTHON = ROOT / "python"
RUST = ROOT / "rust" / "tree_expand" / "src"
PACKAGES = ("treespan", "ingest_svc", "search_svc")
PREFIX = "ERROR_REASON_"
NEVER_SENT = "UNSPECIFIED"


def toml(path: str) -> dict:
    return tomllib.loads((ROOT / path).read_text(encoding="utf-8"))


def own_modules() -> list[Path]:
    return sorted(
        path for path in PYTHON.rglob("*.py") if not path.stem.endswith(("_pb2", "_pb2_grpc"))
    )


def module_name(path: Path) -> str:
    parts = path.relative_to(PYTHON).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def imported(path: Path) -> frozenset[str]:
    """Return the absolute names that a module imports, `from a import b` as both `a` and `a.b`."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module)
            names.update(f"{node.module}.{alias.name}" for alias in node.names)
    return frozenset(names)


def error_classes(base: type[TreespanError] = TreespanError) -> list[type[TreespanError]]:
    """Return the table of errors; what another module keeps to itself is no part of it."""
    children = [one for one in base.__subclasses__() if one.__module__ == TreespanError.__module__]
    return [base, *(found for child in children for found in error_classes(child))]


def stated_codes() -> dict[str, str]:
    """Return the gRPC code that the comment above each reason in the proto begins with."""
    text = (ROOT / "proto/treespan/v1/error_reason.proto").read_text(encoding="utf-8")
    pairs = re.findall(rf"// ([A-Z_]+): .*\n(?:\s*//.*\n)*\s*{PREFIX}(\w+) =", text)
    return {reason: code for code, reason in pairs}


def test_wheel_and_crate_have_one_version():
    assert (
        toml("pyproject.toml")["project"]["version"]
        == toml("Cargo.toml")["workspace"]["package"]["version"]
    )


def test_generated_code_is_what_the_protos_give(tmp_path):
    subprocess.run(
        [ROOT / ".ci" / "proto", tmp_path],
        check=True,
        env={"PYTHON": sys.executable, "PATH": "/usr/bin:/bin"},
    )
    fresh = {path.name: path.read_text() for path in (tmp_path / "treespan/v1").glob("*_pb2*")}
    kept = {path.name: path.read_text() for path in (PYTHON / "treespan/v1").glob("*_pb2*")}
    assert sorted(fresh) == sorted(kept)
    assert [name for name in fresh if fresh[name] != kept[name]] == []


def test_every_reason_of_the_api_has_an_exception_and_no_other_reason_has():
    in_proto = {name.removeprefix(PREFIX) for name in error_reason_pb2.ErrorReason.keys()}  # noqa: SIM118
    in_python = {error.reason for error in error_classes()}
    assert in_python == in_proto - {NEVER_SENT}


def test_exceptions_have_the_code_that_the_api_states_for_their_reason():
    stated = stated_codes()
    assert len(stated) == len(error_reason_pb2.ErrorReason.keys()) - 1
    with_reason = [error for error in error_classes() if "reason" in vars(error)]
    assert [error for error in with_reason if error.code.name != stated[error.reason]] == []


def test_every_exception_stands_in_the_drawing_of_the_tree():
    drawing = sys.modules["treespan.errors"].__doc__ or ""
    assert [
        error.__name__
        for error in error_classes()
        if not re.search(rf"\b{error.__name__}\b", drawing)
    ] == []


def test_node_kinds_have_the_numbers_of_the_api():
    in_proto = {
        name.removeprefix("NODE_KIND_"): number
        for name, number in node_pb2.NodeKind.items()
        if number != node_pb2.NODE_KIND_UNSPECIFIED
    }
    assert {kind.name: kind.value for kind in NodeKind} == in_proto


def test_the_wheel_holds_every_package_and_each_says_that_it_is_typed():
    packages = sorted(path.parent.name for path in PYTHON.glob("*/__init__.py"))
    assert packages == sorted(PACKAGES)
    assert sorted(toml("pyproject.toml")["tool"]["maturin"]["python-packages"]) == packages
    assert [name for name in packages if not (PYTHON / name / "py.typed").exists()] == []


def test_every_folder_with_modules_is_a_package():
    folders = {path.parent for path in own_modules()}
    assert [folder for folder in folders if not (folder / "__init__.py").exists()] == []


@pytest.mark.parametrize(
    "name",
    [module_name(path) for path in own_modules() if "__all__" in path.read_text(encoding="utf-8")],
)
def test_all_is_sorted_and_names_what_is_there(name):
    module = importlib.import_module(name)
    assert list(module.__all__) == sorted(module.__all__)
    assert [entry for entry in module.__all__ if not hasattr(module, entry)] == []


def test_what_is_imported_is_declared():
    project = toml("pyproject.toml")["project"]
    declared = {
        re.match(r"[\w.-]+", wanted)[0].lower().replace("_", "-")
        for extra in (project["dependencies"], *project["optional-dependencies"].values())
        for wanted in extra
    }
    distributions = packages_distributions()
    tops = {name.split(".")[0] for path in own_modules() for name in imported(path)}
    foreign = tops - set(sys.stdlib_module_names) - set(PACKAGES)
    undeclared = {
        top
        for top in foreign
        if not declared
        & {found.lower().replace("_", "-") for found in distributions.get(top, [top])}
    }
    assert undeclared == set()


def test_the_native_module_has_one_facade_beside_the_hash_of_a_file():
    users = {module_name(path) for path in own_modules() if "treespan._core" in imported(path)}
    assert users == {"search_svc.index", "treespan.cli.store"}


@pytest.mark.parametrize(
    ("crate", "rooms"),
    [("pyo3", {"py"}), ("usearch", {"graph"}), ("prost", {"reply"})],
)
def test_a_foreign_crate_is_named_in_its_own_rooms_only(crate, rooms):
    users = {
        path.relative_to(RUST).with_suffix("").parts[0]
        for path in RUST.rglob("*.rs")
        if re.search(
            rf"^\s*(pub )?use {crate}\b|(?<![\w:]){crate}::", path.read_text(encoding="utf-8"), re.M
        )
    }
    assert users <= rooms


def test_no_file_is_longer_than_500_lines():
    # A service's contract stands in one file, however many calls it has.
    files = [*own_modules(), *RUST.rglob("*.rs")]
    lengths = {path.name: len(path.read_text(encoding="utf-8").splitlines()) for path in files}
    assert {name: length for name, length in lengths.items() if length > 500} == {}
