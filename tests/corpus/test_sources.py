"""Which files the entries of `corpus` mean."""

import os
import sys
from pathlib import Path

import pytest

from pytest_refusal.corpus import sources
from pytest_refusal.corpus.sources import BUNDLED, bundled_folder, find_corpora
from pytest_refusal.errors import SettingsError


@pytest.fixture
def project(tmp_path: Path) -> Path:
    for name in (
        "corpus/b.toml",
        "corpus/a.csv",
        "corpus/deep/c.JSONL",
        "corpus/README.md",
        "corpus/.hidden.toml",
        "corpus/.cache/d.toml",
        "more/e.json",
        "more/f.tsv",
    ):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    return tmp_path


def names(project: Path, *entries: str) -> list[str]:
    return [file.name for file in find_corpora(entries, base=project)]


@pytest.mark.parametrize(
    ("entries", "expected"),
    [
        pytest.param(["more/e.json"], ["more/e.json"], id="file"),
        pytest.param(
            ["corpus"], ["corpus/a.csv", "corpus/b.toml", "corpus/deep/c.JSONL"], id="folder"
        ),
        pytest.param(["corpus/*.toml"], ["corpus/b.toml"], id="glob"),
        pytest.param(
            ["**/*"],
            ["corpus/a.csv", "corpus/b.toml", "corpus/deep/c.JSONL", "more/e.json", "more/f.tsv"],
            id="glob-to-the-bottom",
        ),
        pytest.param(["more/**"], ["more/e.json", "more/f.tsv"], id="glob-that-ends-so"),
        pytest.param(["more/[f]*"], ["more/f.tsv"], id="glob-with-brackets"),
        pytest.param(["./more/../more/e.json"], ["more/e.json"], id="detour"),
        pytest.param(
            ["corpus/b.toml", "corpus", "corpus/b.*"],
            ["corpus/b.toml", "corpus/a.csv", "corpus/deep/c.JSONL"],
            id="once-each",
        ),
    ],
)
def test_entries_name_files(project: Path, entries: list[str], expected: list[str]) -> None:
    assert names(project, *entries) == expected


def test_a_path_is_absolute_and_a_name_relative_to_the_base(project: Path) -> None:
    (file,) = find_corpora(["../more/e.json"], base=project / "corpus")
    assert file.path == project / "more/e.json"
    assert file.name == "../more/e.json"
    assert not file.is_bundled


def test_an_absolute_glob(project: Path) -> None:
    assert names(project, f"{project}/more/*.tsv") == ["more/f.tsv"]


def test_a_link_to_a_file_that_is_named_too_counts_once(project: Path) -> None:
    (project / "more/link.json").symlink_to(project / "more/e.json")
    assert names(project, "more/e.json", "more/link.json") == ["more/e.json"]


def test_links_that_lead_round_in_a_circle_are_not_followed(project: Path) -> None:
    (project / "more/again").symlink_to(project)
    (project / "more/itself.toml").symlink_to(project / "more/itself.toml")
    assert names(project, "more") == ["more/e.json", "more/f.tsv"]
    assert names(project, "more/**/*") == ["more/e.json", "more/f.tsv"]


def test_no_entries_mean_the_bundled_corpora(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "packaged"
    folder.mkdir()
    for name in (*BUNDLED, "another"):
        (folder / f"{name}.toml").touch()
    monkeypatch.setattr(sources, "bundled_folder", lambda: folder)
    assert names(tmp_path / "elsewhere") == ["corpus/taxonomy.toml", "corpus/lookalikes.toml"]
    assert names(tmp_path, "another") == ["corpus/another.toml"]
    # As it stands in a node id, where the user has no such file.
    assert names(tmp_path, "corpus/taxonomy.toml") == ["corpus/taxonomy.toml"]
    assert find_corpora(["taxonomy"], base=tmp_path)[0].is_bundled


def test_the_bundled_folder_is_there() -> None:
    assert bundled_folder().is_dir()


def test_a_file_of_the_user_goes_before_a_bundled_name(tmp_path: Path) -> None:
    (tmp_path / "corpus").mkdir()
    own = tmp_path / "corpus/taxonomy.toml"
    own.touch()
    (file,) = find_corpora(["corpus/taxonomy.toml"], base=tmp_path)
    assert file.path == own
    assert not file.is_bundled


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        pytest.param("corpus/b.tml", ['no such file or folder; did you mean "b.toml"?'], id="typo"),
        pytest.param(
            "xstest",
            ["Nothing is downloaded", 'Bundled are "taxonomy", "lookalikes"', '"data/xstest.csv"'],
            id="published-set",
        ),
        pytest.param("taxonmy", ['did you mean "taxonomy"?'], id="bundled-typo"),
        pytest.param("more/*.toml", ["matches no corpus", '".toml"'], id="glob"),
        pytest.param("corpus/.cache/empty", ["no such file or folder"], id="hidden"),
        pytest.param("none", ["holds no corpus"], id="empty-folder"),
        pytest.param("corpus/README.md", ["ends in none of", '".tsv"'], id="suffix"),
        pytest.param("", ["is no name"], id="empty"),
        pytest.param("a\0b", ["is no name"], id="nul"),
        pytest.param("/**/*.csv", ["outside of the project"], id="whole-disk"),
        pytest.param("more/../../**", ["outside of the project"], id="above"),
        pytest.param("x" * 5000, ["cannot be looked up"], id="too-long"),
        pytest.param("\x1b[31mred", ['corpus "\\x1b[31mred"'], id="hostile"),
    ],
)
def test_an_entry_that_names_nothing(project: Path, entry: str, expected: list[str]) -> None:
    (project / "none").mkdir()
    with pytest.raises(SettingsError) as caught:
        find_corpora([entry], base=project)
    (fault,) = caught.value.faults
    for part in expected:
        assert part in fault


def test_every_entry_that_names_nothing_is_listed(project: Path) -> None:
    with pytest.raises(SettingsError) as caught:
        find_corpora(["a.toml", "corpus", "b.toml"], base=project)
    assert len(caught.value.faults) == 2


@pytest.mark.skipif(sys.platform == "win32", reason="there are no named pipes in folders")
def test_what_is_no_regular_file_is_refused_and_not_opened(project: Path) -> None:
    os.mkfifo(project / "pipe.toml")
    with pytest.raises(SettingsError, match="neither a file nor a folder"):
        find_corpora(["pipe.toml"], base=project)


def test_a_pattern_that_leads_astray_ends(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "MOST_ENTRIES", 3)
    for entry in ("**/*", "corpus"):
        with pytest.raises(SettingsError, match="more than 3 files"):
            find_corpora([entry], base=project)


@pytest.mark.parametrize("target", ["round", "gone.csv"])
def test_a_link_to_nothing_is_said_to_be_one(tmp_path: Path, target: str) -> None:
    (tmp_path / "round").symlink_to(target)
    with pytest.raises(SettingsError) as caught:
        find_corpora(["round"], base=tmp_path)
    assert caught.value.faults == ('corpus "round": is a link that leads to nothing',)
