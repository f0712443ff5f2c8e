"""Settings: their defaults, and where else they come from.

Order, later wins: the defaults here, then `treespan.toml`, then the environment
(`TREESPAN__SECTION__KEY`), then flags of the command line. An unknown section or key stops the
start and names the nearest known one. The environment is read nowhere else.
"""

from __future__ import annotations

import dataclasses
import difflib
import os
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_type_hints

import msgspec

if TYPE_CHECKING:
    from collections.abc import Mapping

ENV_PREFIX = "TREESPAN__"
ENV_FILE = "TREESPAN_CONFIG"
FILE_NAME = "treespan.toml"


Count = Annotated[int, msgspec.Meta(ge=1)]
Port = Annotated[int, msgspec.Meta(ge=0, le=65_535)]
Seconds = Annotated[float, msgspec.Meta(gt=0, le=86_400)]


class ConfigError(Exception):
    """A setting is unknown or has a value that is not allowed."""


@dataclass(frozen=True, slots=True)
class StoreConfig:
    """Where the truth is kept."""

    path: str = "treespan-data"
    """Folder of the store; made where it is missing."""


@dataclass(frozen=True, slots=True)
class ModelsConfig:
    """Which models are used and how."""

    embedding: str = "multilingual-e5-small"
    """A known name (`treespan models list`) or the path of a model folder."""
    cache: str = ""
    """Folder of converted models; empty means `treespan/models` in the user's cache folder."""
    weights: str = ""
    """Path of the weight file of a known model, where its package cannot be installed."""
    threads: Count = 1
    """Threads within one run of the model."""
    batch_tokens: Count = 1024
    """Tokens of one run of the model, padding included."""
    query_queue: Count = 256
    """Queries that may wait for the model; more are refused."""
    query_cache: Count = 4096
    """Query vectors kept."""


@dataclass(frozen=True, slots=True)
class IngestConfig:
    """The ingest service."""

    address: str = "127.0.0.1:50051"
    """Address to listen on."""
    concurrent_files: Count = 2
    """Files read at the same time, each in a process of its own."""
    queue_length: Count = 256
    """Ingests under way or waiting, detached ones too; more are refused."""
    upload_stall_s: Seconds = 30.0
    """Longest pause within an upload."""
    metrics_port: Port = 0
    """Port of the Prometheus metrics on 127.0.0.1; 0 means none."""
    drain_s: Seconds = 30.0
    """Longest time that calls under way get at shutdown."""
    operations_kept_s: Annotated[float, msgspec.Meta(gt=0, le=31_536_000)] = 604_800.0
    """How long operations are kept after their end."""
    uri_roots: str = ""
    """Folders whose files may be ingested by URI, separated by ":"; empty means none."""
    uri_hosts: str = ""
    """Hosts that may be fetched from, separated by ","; "*.example.org" means all below one, "*"
    any with a public address; ports are 80 and 443, and another as "example.org:8080"; empty means
    none."""
    uri_private_hosts: str = ""
    """Hosts among them that may have a private or loopback address, separated by ","."""
    uri_redirects: Annotated[int, msgspec.Meta(ge=0, le=20)] = 5
    """Most redirects that are followed; each is checked like the first address."""
    uri_timeout_s: Seconds = 60.0
    """Longest time for fetching one URI."""
    nice: Annotated[int, msgspec.Meta(ge=0, le=19)] = 10
    """How far embedding and reading stand back behind other work of the machine (nice value), so
    that a live query goes ahead; 0 means not at all."""


@dataclass(frozen=True, slots=True)
class ReadersConfig:
    """Limits of reading one file; a file that passes one is refused with its name and value."""

    max_file_bytes: Count = 256 << 20
    """Size of a file."""
    max_pages: Count = 10_000
    """Pages of a file."""
    max_nodes: Count = 1_000_000
    """Nodes of a document's tree."""
    max_table_cells: Count = 2_000_000
    """Cells of all tables of a file."""
    max_nesting: Count = 200
    """Depth of headings, lists and the like that is kept; deeper levels count as this one."""
    memory_bytes: Annotated[int, msgspec.Meta(ge=64 << 20)] = 2 << 30
    """Address space of a reader process beyond what it starts with."""
    cpu_s: Count = 300
    """Processor time for one file."""
    wall_s: Seconds = 600.0
    """Time for one file."""
    files_per_worker: Count = 200
    """Files after which a reader process is replaced."""
    max_unpacked_bytes: Count = 1 << 30
    """Bytes that come out of a file's compressed parts, files inside files included."""
    max_unpack_ratio: Count = 100
    """How many times its own size a file may unpack to, beyond the first 64 MiB."""
    max_archive_entries: Count = 10_000
    """Entries of an archive, or parts of an Office file."""
    max_archive_depth: Count = 5
    """Depth of files inside files that is read."""
    max_page_s: Seconds = 60.0
    """Time for one page of a PDF, its OCR included."""
    max_page_drawing_bytes: Count = 4_000_000
    """Content of a PDF's page, in bytes, whose drawings are searched for tables."""
    max_page_rules: Count = 3_000
    """Drawn lines of a PDF's page that is searched for tables."""
    max_outline_entries: Count = 20_000
    """Entries of a PDF's outline that are used; the others are only counted."""
    max_image_pixels: Count = 100_000_000
    """Pixels of a picture, refused by what its head says before it is unpacked."""
    pdf_mode: Literal["fast", "layout"] = "fast"
    """How PDFs are read unless the request says: by text and lines, or by a layout model."""
    include_hidden: bool = False
    """Whether hidden sheets, rows, columns and slides are read unless the request says so."""


@dataclass(frozen=True, slots=True)
class OcrConfig:
    """Pictures of text: scanned pages, and picture files."""

    mode: Literal["off", "auto", "force"] = "auto"
    """Unless the request says: never; pages without text, where an engine is there; every page."""
    languages: str = "eng"
    """Languages by Tesseract's names, joined by "+", for example "eng+chi_sim"."""
    tessdata: str = ""
    """Folder of Tesseract's language files; empty means the usual places."""
    dpi: Annotated[int, msgspec.Meta(ge=50, le=600)] = 200
    """Resolution in which pages are looked at."""
    vision_url: str = ""
    """Base address of an OpenAI-compatible service that reads pictures in place of Tesseract, for
    example "http://127.0.0.1:8000/v1"; empty means none."""
    vision_model: str = ""
    """Name of its model."""
    vision_key_file: str = ""
    """File that holds its key; empty means none."""
    vision_timeout_s: Seconds = 60.0
    """Longest time for one page."""


@dataclass(frozen=True, slots=True)
class SearchConfig:
    """The search service."""

    address: str = "127.0.0.1:50052"
    """Address to listen on."""
    threads: Count = 16
    """Calls handled at the same time; each waits for the query batch while its text is embedded."""
    concurrency: Count = 256
    """Calls under way or waiting; more are refused."""
    context_window: Annotated[int, msgspec.Meta(ge=8, le=8_000_000)] = 8192
    """Tokens that a reader of the answer can take; a hit gets an eighth of it by default."""
    max_message_bytes: Annotated[int, msgspec.Meta(ge=64 << 10, le=1 << 30)] = 4 << 20
    """Largest message of either side."""
    default_deadline_s: Seconds = 30.0
    """Deadline of calls that state none."""
    cache_path: str = ""
    """Folder of sealed segments; empty means `cache` in the store's folder."""
    proposal_cost: Annotated[int, msgspec.Meta(ge=0, le=4_294_967_295)] = 40
    """Rows that are compared in the time in which a graph proposes one: few allowed rows are
    scanned, many are left to the graph; `make bench` measures it."""
    seal_rows: Annotated[int, msgspec.Meta(ge=1, le=10_000_000)] = 20_000
    """Rows after which the delta is sealed into a graph."""
    filter_cache_bytes: Count = 64 << 20
    """Memory for what filters let through; used again until the collection changes."""
    document_cache_bytes: Count = 1 << 30
    """Memory for trees and texts."""
    poll_ms: Count = 5
    """How often the store is asked for changes."""
    metrics_port: Port = 0
    """Port of the Prometheus metrics on 127.0.0.1; 0 means none."""
    drain_s: Seconds = 10.0
    """Longest time that calls under way get at shutdown."""


@dataclass(frozen=True, slots=True)
class LogConfig:
    """Logging."""

    level: Literal["debug", "info", "warning", "error"] = "info"
    """debug, info, warning or error."""
    format: Literal["auto", "text", "json"] = "auto"
    """"text" for people, "json" for machines, "auto": text on a terminal, else json."""
    slow_ms: Annotated[float, msgspec.Meta(ge=0)] = 1000.0
    """Calls that take longer are logged at info; the others, where they succeed, at debug."""


@dataclass(frozen=True, slots=True)
class Config:
    """All settings."""

    store: StoreConfig = field(default_factory=StoreConfig)
    models: ModelsConfig = field(default_factory=ModelsConfig)
    ingest: IngestConfig = field(default_factory=IngestConfig)
    readers: ReadersConfig = field(default_factory=ReadersConfig)
    ocr: OcrConfig = field(default_factory=OcrConfig)
    search: SearchConfig = field(default_factory=SearchConfig)
    log: LogConfig = field(default_factory=LogConfig)


@dataclass(frozen=True, slots=True)
class Setting:
    """A setting's value and where it came from."""

    name: str
    value: object
    source: str


def load(
    file: Path | None = None,
    environ: Mapping[str, str] | None = None,
    flags: Mapping[str, object] | None = None,
) -> tuple[Config, list[Setting]]:
    """Return the settings, and each with its source.

    Args:
        file: A settings file; None means the one that `TREESPAN_CONFIG` names, else `treespan.toml`
            in the working folder, where there is one.
        environ: The environment; None means the process's own.
        flags: Values by "section.key"; None values are passed over.

    Raises:
        ConfigError: a key is unknown, a value has the wrong type, or `file` is not there.
    """
    environ = os.environ if environ is None else environ
    if file is None and environ.get(ENV_FILE):
        file = Path(environ[ENV_FILE])
    layers = [
        *_file_layer(file),
        *_environment_layer(environ),
        *((name, value, "flag") for name, value in (flags or {}).items() if value is not None),
    ]
    chosen: dict[str, tuple[object, str]] = {}
    for name, value, source in layers:
        chosen[name] = (_typed(name, value, source), source)
    return _build(chosen), _sources(chosen)


def environment(flags: Mapping[str, object], file: Path | None = None) -> dict[str, str]:
    """Return the environment that gives a child process these flags and this file."""
    variables = {
        ENV_PREFIX + name.upper().replace(".", "__"): str(value)
        for name, value in flags.items()
        if value is not None
    }
    return variables | ({ENV_FILE: str(file.absolute())} if file else {})


def _file_layer(file: Path | None) -> list[tuple[str, object, str]]:
    path = file or Path(FILE_NAME)
    if file is None and not path.exists():
        return []
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ConfigError(f"{path}: {error}") from error
    layer: list[tuple[str, object, str]] = []
    for section, values in data.items():
        if not isinstance(values, dict):
            raise ConfigError(f"{path}: {section!r} is no section; write settings below [section]")
        layer += [(f"{section}.{key}", value, str(path)) for key, value in values.items()]
    return layer


def _environment_layer(environ: Mapping[str, str]) -> list[tuple[str, object, str]]:
    return [
        (name.removeprefix(ENV_PREFIX).lower().replace("__", ".", 1), value, name)
        for name, value in environ.items()
        if name.startswith(ENV_PREFIX)
    ]


def _known() -> dict[str, Any]:
    """Return the type of every setting by its name."""
    known = {}
    for section in dataclasses.fields(Config):
        kind = get_type_hints(Config)[section.name]
        for key, hint in get_type_hints(kind, include_extras=True).items():
            known[f"{section.name}.{key}"] = hint
    return known


def _typed(name: str, value: object, source: str) -> object:
    known = _known()
    if name not in known:
        near = difflib.get_close_matches(name, known, 1, 0.0)
        raise ConfigError(f"{source}: there is no setting {name!r}; the nearest is {near[0]!r}")
    try:
        return msgspec.convert(value, known[name], strict=not isinstance(value, str))
    except msgspec.ValidationError as error:
        raise ConfigError(f"{source}: {name} is {value!r}; {error}") from error


def _build(chosen: Mapping[str, tuple[object, str]]) -> Config:
    sections = {}
    for section in dataclasses.fields(Config):
        kind = get_type_hints(Config)[section.name]
        values = {
            name.partition(".")[2]: value
            for name, (value, _) in chosen.items()
            if name.partition(".")[0] == section.name
        }
        sections[section.name] = kind(**values)
    return Config(**sections)


def _sources(chosen: Mapping[str, tuple[object, str]]) -> list[Setting]:
    config = _build(chosen)
    return [
        Setting(
            name,
            getattr(getattr(config, name.partition(".")[0]), name.partition(".")[2]),
            chosen[name][1] if name in chosen else "default",
        )
        for name in _known()
    ]
