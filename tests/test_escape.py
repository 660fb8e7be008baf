"""Hostile text, given to the reader of each kind of file."""

from __future__ import annotations

import csv
import html
import io
import re
import unicodedata
import xml.etree.ElementTree as ET
from html.parser import HTMLParser

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from pytest_refusal.escape import (
    csv_cell,
    encodable,
    html_text,
    markdown_block,
    markdown_inline,
    one_line,
    plot_label,
    visible,
    workflow_data,
    workflow_property,
)

settings.register_profile("escape", deadline=None)
settings.load_profile("escape")

# Mostly the characters that mean something somewhere.
_MARKS = list("<>&\"'`*_[]()|~$#!@{}\\=+-\t\n\r;:,.%")
_WORDS = ["http://", "www.", "@team", "#12", "GH-7", "<script>", "```", "::error::", "a@b.example"]
_OTHERS = ["é", "漢", "😀", "a", "b"]
_ACTING = ["\x00", "\x1b[2J", "\u202e", "\ud800", "\u200b", " ", "    "]
_PIECES = st.sampled_from([*_MARKS, *_WORDS, *_OTHERS, *_ACTING])
hostile = st.lists(st.one_of(_PIECES, st.text(max_size=5)), max_size=20).map("".join)

ZERO_WIDTH_SPACE = "\u200b"


@given(hostile)
def test_html_and_xml_show_the_visible_text_and_hold_no_element(text):
    written = html_text(text)
    parsed = ET.fromstring(f'<p title="{written}">{written}</p>')
    assert parsed.text == (visible(text) or None)
    assert len(parsed) == 0

    seen = []
    reader = HTMLParser()
    reader.handle_starttag = lambda tag, attrs: seen.append(tag)
    reader.feed(written)
    assert not seen
    assert html.unescape(written) == visible(text)


@given(hostile)
@example('=HYPERLINK("http://x","y")')
@example("\u200b=1+1")
@example("-Infinity")
@example("  +1")
@example("\uff1d1")
def test_no_cell_of_a_spreadsheet_begins_a_formula(text):
    cell = csv_cell(text)
    assert cell.strip()[:1] not in set("=+-@\uff1d\uff0b\uff0d\uff20")
    assert not cell.startswith(("\t", "\r", "\n"))
    assert cell.removeprefix("'") == visible(text).removeprefix("'")
    file = io.StringIO(newline="")
    csv.writer(file, lineterminator="\n").writerow([cell, "next"])
    assert list(csv.reader(io.StringIO(file.getvalue(), newline=""))) == [[cell, "next"]]


@pytest.mark.parametrize("text", ["0.5", "plain", "rp-01", "a=b", ""])
def test_a_plain_cell_stays_as_it_is(text):
    assert csv_cell(text) == text


@given(hostile)
@example("[x](javascript:alert(1))")
@example("<img src=x onerror=alert(1)>")
@example("a | b")
@example("see https://evil.example and @team #12")
def test_markdown_shows_the_text_and_nothing_of_it_acts(text):
    source = markdown_inline(text)
    reader = MarkdownIt("gfm-like", {"linkify": False})
    (cell,) = [
        token
        for token in reader.parse(f"| a | b |\n|---|---|\n| - {source} | end |\n")
        if token.type == "inline" and token.content not in {"a", "b", "end"}
    ]
    assert {child.type for child in cell.children} <= {"text", "text_special"}
    shown = "".join(child.content for child in cell.children)
    wanted = f"- {one_line(text)}".strip(" ")
    assert shown.replace(ZERO_WIDTH_SPACE, "").strip(" ") == wanted
    assert not re.search(r"@\w|#\d|www\.|https?:/|mailto:\w|GH-\d", shown, re.IGNORECASE)


@given(hostile)
@example("```\n<script>")
@example("~~~")
@example("`" * 50)
def test_nothing_leaves_a_block_of_markdown(text):
    tokens = MarkdownIt("commonmark").parse(f"before\n\n{markdown_block(text)}\n\nafter\n")
    assert [t.type for t in tokens if t.nesting == 0] == ["inline", "fence", "inline"]
    (block,) = [t for t in tokens if t.type == "fence"]
    assert block.content == visible(text) + "\n"
    assert tokens[1].content == "before"
    assert tokens[-2].content == "after"


@given(hostile)
@example("a\n::set-output name=x::y")
def test_a_workflow_command_is_one_line_and_is_read_back(text):
    data, prop = workflow_data(text), workflow_property(text)
    assert "\n" not in data + prop
    assert not {":", ","} & set(prop)
    back = prop.replace("%2C", ",").replace("%3A", ":")
    assert back == data
    assert back.replace("%0A", "\n").replace("%25", "%") == visible(text)


def test_a_label_of_a_plot_holds_no_formula():
    assert plot_label("costs $5 or $x^2$") == r"costs \$5 or \$x^2\$"
    assert plot_label("a\nb" + "x" * 50, 10) == r"a\nbxxx..."


@given(st.one_of(hostile, st.text(st.characters(exclude_categories=()))))
def test_what_is_visible_can_be_written_anywhere(text):
    shown = visible(text)
    assert ET.fromstring(f"<a>{html.escape(shown)}</a>").text == (shown or None)
    # Control (Cc), format (Cf) and surrogate (Cs) characters but the two that lay text out;
    # the soft hyphen and joining marks of scripts only shape what is seen.
    acting = [c for c in shown if unicodedata.category(c) in ("Cc", "Cs") and c not in "\n\t"]
    assert acting == []
    assert not re.search("[\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]", shown)
    assert visible(shown) == shown


@given(st.text("abc é漢😀 .\n\t\\"))
def test_ordinary_text_stays_as_it_is(text):
    assert visible(text) == text


@given(st.one_of(hostile, st.text(st.characters(exclude_categories=()))), st.integers(3, 50))
def test_one_line_is_one_and_has_its_limit(text, limit):
    assert len(one_line(text).splitlines()) <= 1
    assert len(one_line(text, limit)) <= limit
    if len(one_line(text)) <= limit:
        assert one_line(text, limit) == one_line(text)


@given(hostile, st.sampled_from(["ascii", "latin-1", "cp1252", "utf-8"]))
def test_what_an_encoding_lacks_is_an_escape(text, encoding):
    encodable(visible(text), encoding).encode(encoding)
