"""What filters mean, written down from the words of `treespan.v1.MetadataCondition` alone."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from treespan.filters import All, Any, Condition, Instant, Not, Operator

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from treespan.filters import Filter, Scalar

Values: TypeAlias = "Scalar | list[Scalar] | None"
"""None: the key is missing."""


@dataclass(frozen=True)
class Node:
    """A node: its kind, parent, text, pages, and the cells of a row."""

    kind: str
    parent: int = 0
    text: str = ""
    pages: tuple[int, ...] = ()
    cells: Mapping[str, Scalar] = field(default_factory=dict)
    has_vector: bool = True


@dataclass(frozen=True)
class Document:
    """A content; node 0 is the root."""

    nodes: Sequence[Node]
    title: str = ""
    language: str = ""
    media_type: str = "text/plain"
    stated: Mapping[str, Values] = field(default_factory=dict)
    """What the file states of itself."""

    def above(self, node: int) -> Iterator[Node]:
        """Yield a node and all above it."""
        while node:
            yield self.nodes[node]
            node = self.nodes[node].parent
        yield self.nodes[0]


@dataclass(frozen=True)
class Artifact:
    """An artifact of a collection."""

    name: str
    document: Document
    file_name: str = ""
    metadata: Mapping[str, Values] = field(default_factory=dict)
    ingested_us: int = 0
    source_uri: str = ""


def value_at(artifact: Artifact, node: int, key: str) -> Values:
    """Return the value of a key at a node of an artifact."""
    document = artifact.document
    if key.startswith("row."):
        column = " ".join(key[4:].split())
        cells = (cells for above in document.above(node) for cells in above.cells.items())
        return next((value for name, value in cells if " ".join(name.split()) == column), None)
    if key.startswith("file."):
        return document.stated.get(key[5:])
    if key == "kind":
        return document.nodes[node].kind
    if key == "page":
        return list(document.nodes[node].pages) or None
    if key == "heading":
        named = [above.text for above in document.above(node) if above.kind == "SECTION"]
        return [text for text in named if text] or None
    if key in {"artifact", "ingested_at"}:
        return artifact.name if key == "artifact" else Instant(artifact.ingested_us)
    if key == "source_uri":
        return artifact.source_uri or None
    if key in {"file_name", "title", "language", "media_type"}:
        whole = artifact if key == "file_name" else document
        return artifact.metadata.get(key, getattr(whole, key) or None)
    return artifact.metadata.get(key.removeprefix("metadata."))


def type_of(value: Scalar) -> str:
    """Return the name of a value's type; whole and floating point numbers are of one."""
    name = type(value).__name__
    return "number" if name in {"int", "float"} else name


def holds(condition: Condition, value: Values) -> bool:
    """Return whether a condition holds for a value."""
    operator, operand = condition.operator, condition.values
    opposite = {
        Operator.NE: Operator.EQ,
        Operator.NOT_IN: Operator.IN,
    }.get(operator)
    if opposite is not None:
        return not holds(Condition(condition.key, opposite, operand), value)
    if operator is Operator.IS_EMPTY:
        return value is None or value in ("", [])
    if value is None:
        return False
    if operator is Operator.EXISTS:
        return True
    if operator is Operator.CONTAINS_ALL:
        return all(_contains(value, one) for one in operand)
    if operator in {Operator.CONTAINS, Operator.CONTAINS_ANY}:
        return any(_contains(value, one) for one in operand)
    elements = value if isinstance(value, list) else [value]
    return any(_compares(operator, element, one) for element in elements for one in operand)


def _contains(value: Values, operand: Scalar) -> bool:
    if isinstance(value, list):
        return any(_same(element, operand) for element in value)
    return isinstance(value, str) and isinstance(operand, str) and operand in value


def _same(one: Scalar, other: Scalar) -> bool:
    return type_of(one) == type_of(other) and one == other


def _compares(operator: Operator, value: Scalar, operand: Scalar) -> bool:
    if type_of(value) != type_of(operand):
        return False
    match operator:
        case Operator.EQ | Operator.IN:
            return value == operand
        case Operator.TEXT_MATCH:
            return _words(operand) <= _words(value)
        case Operator.GT:
            return value > operand  # type: ignore[operator]
        case Operator.GTE:
            return value >= operand  # type: ignore[operator]
        case Operator.LT:
            return value < operand  # type: ignore[operator]
        case Operator.LTE:
            return value <= operand  # type: ignore[operator]
    raise AssertionError(operator)


def _words(text: Scalar) -> set[str]:
    return set(re.findall("[a-z0-9]+", str(text).lower()))


def lets_through(where: Filter, artifact: Artifact, node: int) -> bool:
    """Return whether a filter holds for a node of an artifact."""
    match where:
        case Condition():
            return holds(where, value_at(artifact, node, where.key))
        case Not(part):
            return not lets_through(part, artifact, node)
        case All(parts):
            return all(lets_through(part, artifact, node) for part in parts)
        case Any(parts):
            return any(lets_through(part, artifact, node) for part in parts)


def types_at(artifacts: Sequence[Artifact], key: str) -> set[str]:
    """Return the types that a key has anywhere in a collection."""
    found: set[str] = set()
    for artifact in artifacts:
        for node in range(len(artifact.document.nodes)):
            value = value_at(artifact, node, key)
            elements = value if isinstance(value, list) else [value]
            found |= {type_of(element) for element in elements if element is not None}
    return found
