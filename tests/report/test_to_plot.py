"""Pictures: made of every run, equal when made twice."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from dataclasses import replace

import pytest

from pytest_refusal.report.to_plot import write_plot

BEGINNING = {".svg": b"<?xml", ".png": b"\x89PNG\r\n", ".pdf": b"%PDF-"}


@pytest.mark.parametrize("suffix", BEGINNING)
def test_equal_runs_give_equal_bytes(made, tmp_path, suffix):
    paths = [tmp_path / f"{name}{suffix}" for name in ("one", "two")]
    for path in paths:
        write_plot(made["within-ceilings"](), path)
    assert paths[0].read_bytes() == paths[1].read_bytes()
    assert paths[0].read_bytes().startswith(BEGINNING[suffix])


def test_the_calibration_error_stands_beside_its_chance_level(made, tmp_path):
    report = made["within-ceilings"]()
    write_plot(report, tmp_path / "run.svg")
    found = report.policies[0].calibration().everything
    caption = f"8 of 8 stated; ECE by chance alone {found.ece_chance_level:.3f}"
    # Letters are drawn as paths, with the words in a comment.
    assert caption in (tmp_path / "run.svg").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["all-errors", "hostile"])
def test_every_run_can_be_drawn(made, tmp_path, name):
    path = tmp_path / "run.svg"
    write_plot(made[name](), path)
    root = ET.parse(path).getroot()
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    tags = {element.tag.partition("}")[2] for element in root.iter()}
    assert not tags & {"script", "image", "foreignObject", "a"}


def test_a_run_without_policies_can_be_drawn(made, tmp_path):
    write_plot(replace(made["all-pass"](), policies=()), tmp_path / "none.png")
    assert (tmp_path / "none.png").stat().st_size > 0
