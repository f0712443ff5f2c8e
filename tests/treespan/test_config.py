"""Settings: order of sources, types, and sentences that help."""

from __future__ import annotations

from pathlib import Path

import pytest

from treespan.config import Config, ConfigError, environment, load


def test_defaults_hold_where_nothing_is_set(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    config, settings = load(environ={})
    assert config == Config()
    assert {setting.source for setting in settings} == {"default"}


def test_later_sources_win_and_are_named(tmp_path: Path) -> None:
    file = tmp_path / "treespan.toml"
    file.write_text('[search]\nthreads = 3\npoll_ms = 7\n[store]\npath = "here"\n')
    config, settings = load(
        file,
        {"TREESPAN__SEARCH__THREADS": "5", "HOME": "/nowhere"},
        {"store.path": "there", "log.level": None},
    )
    assert (config.search.threads, config.search.poll_ms, config.store.path) == (5, 7, "there")
    sources = {setting.name: setting.source for setting in settings}
    assert sources["search.threads"] == "TREESPAN__SEARCH__THREADS"
    assert sources["search.poll_ms"] == str(file)
    assert sources["store.path"] == "flag"
    assert sources["log.level"] == "default"


def test_an_unknown_key_names_the_nearest_known_one(tmp_path: Path) -> None:
    file = tmp_path / "treespan.toml"
    file.write_text("[search]\nthread = 3\n")
    with pytest.raises(ConfigError, match=r"no setting 'search.thread'; .*'search.threads'"):
        load(file, {})
    with pytest.raises(ConfigError, match=r"TREESPAN__SEERCH__THREADS.*'search.threads'"):
        load(environ={"TREESPAN__SEERCH__THREADS": "1"})


def test_a_value_of_the_wrong_type_is_refused_with_its_name() -> None:
    with pytest.raises(ConfigError, match=r"search.threads is 'many'"):
        load(environ={"TREESPAN__SEARCH__THREADS": "many"})


@pytest.mark.parametrize("text", ["threads = 3", "[search\n"])
def test_a_file_that_is_no_settings_file_is_refused(tmp_path: Path, text: str) -> None:
    file = tmp_path / "treespan.toml"
    file.write_text(text)
    with pytest.raises(ConfigError, match=str(file)):
        load(file, {})


def test_a_missing_file_is_refused_only_where_it_was_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError):
        load(tmp_path / "none.toml", {})
    with pytest.raises(ConfigError):
        load(environ={"TREESPAN_CONFIG": str(tmp_path / "none.toml")})


def test_a_child_process_gets_the_same_settings(tmp_path: Path) -> None:
    file = tmp_path / "other.toml"
    file.write_text("[search]\nthreads = 3\n")
    passed = environment(
        {"store.path": tmp_path, "ingest.queue_length": 4, "log.level": None}, file
    )
    config, _ = load(environ=passed)
    assert (config.store.path, config.ingest.queue_length) == (str(tmp_path), 4)
    assert config.search.threads == 3


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("search.threads", "0"),
        ("search.poll_ms", "-1"),
        ("search.metrics_port", "99999"),
        ("search.context_window", "0"),
        ("ingest.concurrent_files", "0"),
        ("ingest.upload_stall_s", "-1"),
        ("readers.memory_bytes", "1"),
        ("readers.wall_s", "nan"),
        ("models.batch_tokens", "0"),
        ("log.level", "loud"),
        ("log.format", "xml"),
    ],
)
def test_a_value_out_of_range_is_refused_with_the_range(name: str, value: str) -> None:
    variable = "TREESPAN__" + name.upper().replace(".", "__")
    with pytest.raises(ConfigError, match=rf"{name} is '{value}'; Expected|Invalid"):
        load(environ={variable: value})


def test_a_file_that_is_not_utf_8_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "treespan.toml"
    file.write_bytes(b"[search]\nthreads = 3 # \xff\n")
    with pytest.raises(ConfigError, match=str(file)):
        load(file, {})
