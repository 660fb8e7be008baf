"""Report to a picture, by suffix .svg, .png or .pdf: trade-off, rates by category, reliability.

What the HTML report shows beside its tables, for slides and papers. Colours are of Okabe and
Ito's palette, and markers and hatches tell the same in grey.
"""

from __future__ import annotations

import io
import textwrap
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure as Canvas
from matplotlib.patches import Patch

from pytest_refusal.escape import plot_label
from pytest_refusal.metrics.wording import number
from pytest_refusal.report.atomic import write_atomically
from pytest_refusal.report.findings import (
    CategoryFigures,
    Figure,
    bin_interval,
    category_figures,
    main_figures,
    rate_figures,
    reliability,
    span_of_rates,
)
from pytest_refusal.report.lines import display_width
from pytest_refusal.report.report import PolicyReport, Report

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_UNDER, _OVER, _INK, _SOFT = "#d55e00", "#0072b2", "#222222", "#777777"
_MARKERS = "osD^vP*X<>"

#: More rows than these cannot be read, and matplotlib needs a second for each hundred.
MOST_CATEGORIES = 40
MOST_POLICIES = 12

# No font, date or random name of this machine in the file, so that equal runs give equal bytes.
# Any: matplotlib types the names as a closed set, which differs by version.
_SETTINGS: dict[Any, dict[str, Any]] = {
    "font": {"family": "DejaVu Sans", "size": 9},
    "svg": {"hashsalt": "pytest-refusal", "fonttype": "path"},
    "pdf": {"fonttype": 42},
    "axes.spines": {"top": False, "right": False},
}
_METADATA = {
    ".svg": {"Date": None, "Creator": "pytest-refusal"},
    ".pdf": {"CreationDate": None, "Creator": "pytest-refusal", "Producer": None},
    ".png": {"Software": "pytest-refusal"},
}


def write_plot(report: Report, path: Path, *, redact: bool = False) -> None:  # noqa: ARG001  # as of every writer; a plot shows no response
    """Draw the run into `path`, in the format of its suffix."""
    suffix = path.suffix.lower()
    file = io.BytesIO()
    with mpl.rc_context(), warnings.catch_warnings():
        mpl.rcdefaults()
        for group, values in _SETTINGS.items():
            mpl.rc(group, **values)
        # A script that the font lacks is drawn as boxes, and is no reason to fail.
        warnings.filterwarnings("ignore", message=".*(missing from|does not support).*")
        _draw(report.policies[:MOST_POLICIES]).savefig(
            file, format=suffix.removeprefix("."), dpi=150, metadata=_METADATA[suffix]
        )
    write_atomically(path, file.getvalue())


# Inches. Places are given, since matplotlib's own layout takes as long as all the drawing.
_WIDTH, _SIDE, _ABOVE, _BELOW, _BETWEEN = 9.5, 0.25, 0.45, 0.6, 0.8
_LETTER = 0.075


def _draw(policies: Sequence[PolicyReport]) -> Canvas:
    categories = [category_figures(policy)[:MOST_CATEGORIES] for policy in policies]
    labels = [plot_label(one.category, 24) for found in categories for one in found]
    left = 0.5 + _LETTER * max([6, *map(display_width, labels)])
    width = (_WIDTH - left - _BETWEEN - _SIDE) / 2
    heights = [3.0, *(max(2.8, 0.22 * len(found)) for found in categories)]
    total = sum(heights) + len(heights) * (_ABOVE + _BELOW)
    canvas = Canvas(figsize=(_WIDTH, total))
    FigureCanvasAgg(canvas)

    def axes(row: int, column: int) -> Axes:
        above = sum(heights[: row + 1]) + row * (_ABOVE + _BELOW) + _ABOVE
        x, y = left + column * (width + _BETWEEN), total - above
        return canvas.add_axes((x / _WIDTH, y / total, width / _WIDTH, heights[row] / total))

    _trade_off(axes(0, 0), policies)
    _legend(axes(0, 1), policies)
    for row, (policy, found) in enumerate(zip(policies, categories, strict=True), 1):
        _by_category(axes(row, 0), policy, found)
        _reliability(axes(row, 1), policy)
    return canvas


def _square(axes: Axes, across: str, up: str, *, top: float = 1.0) -> None:
    ends = (-0.03 * top, 1.03 * top)
    axes.set(xlim=ends, ylim=ends, xlabel=across, ylabel=up)
    axes.set_aspect("equal")
    axes.grid(color="#dddddd", linewidth=0.6)
    axes.set_axisbelow(True)


def _trade_off(axes: Axes, policies: Sequence[PolicyReport]) -> None:
    _square(axes, "under-refusal", "over-refusal", top=span_of_rates(policies))
    axes.set_title("Trade-off, with intervals", loc="left")
    for index, policy in enumerate(policies):
        under, over = rate_figures(policy)[:2]
        if under.value is None or over.value is None:
            continue
        _bar(axes, under, over.value, across=True, colour=_UNDER)
        _bar(axes, over, under.value, across=False, colour=_OVER)
        marker = _MARKERS[index % len(_MARKERS)]
        axes.plot(under.value, over.value, marker, color=_INK, markersize=7, zorder=3)


def _bar(axes: Axes, figure: Figure, at: float, *, across: bool, colour: str) -> None:
    if figure.interval is None:
        return
    ends, still = [figure.interval.lower, figure.interval.upper], [at, at]
    axes.plot(*((ends, still) if across else (still, ends)), color=colour, linewidth=1.6)


def _legend(axes: Axes, policies: Sequence[PolicyReport]) -> None:
    axes.axis("off")
    lines = []
    for index, policy in enumerate(policies):
        figures = main_figures(policy)
        (line,) = axes.plot(
            [], [], _MARKERS[index % len(_MARKERS)], color=_INK, label=_summary(policy, figures)
        )
        lines.append(line)
    axes.legend(handles=lines, loc="upper left", frameon=False, borderaxespad=0)


def _summary(policy: PolicyReport, figures: Sequence[Figure]) -> str:
    lines = [plot_label(policy.policy, 40)]
    for figure in figures[:2]:
        words = f"{figure.name} {figure.words}{', breaks its ceiling' * figure.is_broken}"
        lines += textwrap.wrap(plot_label(words, 140), 44, subsequent_indent="    ")
    return "\n".join(lines)


def _by_category(axes: Axes, policy: PolicyReport, categories: Sequence[CategoryFigures]) -> None:
    axes.set_title(f"{plot_label(policy.policy, 30)}: rates", loc="left")
    for place, one in enumerate(categories):
        for figure, shift, colour, hatch in (
            (one.under, -0.19, _UNDER, "//"),
            (one.over, 0.19, _OVER, None),
        ):
            if figure is None or figure.value is None:
                continue
            at = place + shift
            axes.barh(
                at, figure.value, 0.36, color=colour, alpha=0.55, hatch=hatch, edgecolor=colour
            )
            _bar(axes, figure, at, across=True, colour=_INK)
    axes.set_yticks(range(len(categories)), [plot_label(c.category, 24) for c in categories])
    axes.set(xlim=(0, 1))
    axes.invert_yaxis()
    axes.legend(
        handles=[
            Patch(
                facecolor=_UNDER, alpha=0.55, hatch="////", edgecolor=_UNDER, label="under-refusal"
            ),
            Patch(facecolor=_OVER, alpha=0.55, edgecolor=_OVER, label="over-refusal"),
        ],
        loc="upper center",
        bbox_to_anchor=(0.5, -0.08),
        ncols=2,
        fontsize=7,
        frameon=False,
    )


def _caption(policy: PolicyReport) -> str:
    found = policy.calibration().everything
    if found.ece is None:
        return "no data"
    stated = found.evaluated - found.missing_confidence
    chance = number(found.ece_chance_level)
    return f"{stated} of {found.evaluated} stated; ECE by chance alone {chance}"


def _reliability(axes: Axes, policy: PolicyReport) -> None:
    ece = main_figures(policy)[3]
    _square(axes, f"stated confidence\n{_caption(policy)}", "accuracy")
    axes.set_title(
        plot_label(f"{policy.policy[:20]}: ECE {ece.words.split(' (')[0]}", 40), loc="left"
    )
    axes.plot([0, 1], [0, 1], "--", color=_SOFT, linewidth=1)
    bins = reliability(policy)
    total = sum(one.count for one in bins)
    for one in bins:
        interval = bin_interval(one, policy.confidence_level)
        at = [one.mean_confidence] * 2
        axes.bar(
            (one.lower + one.upper) / 2,
            0.25 * one.count / total,
            one.upper - one.lower,
            color="#e4e4e4",
            edgecolor=_SOFT,
            linewidth=0.6,
        )
        axes.plot(at, [interval.lower, interval.upper], color=_INK, linewidth=1.6)
        axes.plot(one.mean_confidence, one.accuracy, "o", color=_INK)
        if len(bins) <= 12:
            axes.annotate(
                f"n={one.count}",
                (one.mean_confidence, one.accuracy),
                xytext=(-5, 5),
                textcoords="offset points",
                ha="right",
                fontsize=7,
            )
