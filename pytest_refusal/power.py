"""How many prompts it takes, as a command: `python -m pytest_refusal.power --rate 0.05 ...`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from pytest_refusal.command_line import run_command
from pytest_refusal.metrics.decisions import clean_prompts_needed
from pytest_refusal.metrics.planning import (
    prompts_for_interval_width,
    prompts_to_detect_change_paired,
    prompts_to_detect_change_unpaired,
    prompts_to_show_below,
    prompts_to_show_exceeded,
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print how many prompts are needed; 0, or by way of argparse 2 for what makes no sense."""
    parser = _parser()
    options = parser.parse_args(arguments)
    if options.width is None and options.ceiling is None and options.detect is None:
        parser.error("nothing to plan: give --width, --ceiling or --detect")
    try:
        lines = _plan(options)
    except ValueError as error:
        parser.error(str(error))
    sys.stdout.write("\n".join(lines) + "\n")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m pytest_refusal.power",
        description="How many prompts of one label it takes to tell.",
    )
    parser.add_argument(
        "--rate",
        type=_between_0_and_1,
        required=True,
        metavar="R",
        help="the rate of mistakes that you expect, such as 0.05",
    )
    parser.add_argument(
        "--width",
        type=_strictly_between,
        metavar="W",
        help="prompts for an interval no wider than this, upper end less lower end",
    )
    parser.add_argument(
        "--ceiling",
        type=_between_0_and_1,
        metavar="C",
        help="prompts to show that the rate is below this ceiling, or above it",
    )
    parser.add_argument(
        "--detect",
        type=_strictly_between,
        metavar="D",
        help="prompts to see the rate change by this much, such as 0.03",
    )
    parser.add_argument(
        "--churn",
        type=_between_0_and_1,
        default=0.02,
        metavar="S",
        help="share of prompts that change the other way meanwhile (default 0.02)",
    )
    parser.add_argument(
        "--power",
        type=_strictly_between,
        default=0.8,
        metavar="P",
        help="how often it should be seen (default 0.8)",
    )
    parser.add_argument(
        "--confidence-level",
        type=_strictly_between,
        default=0.95,
        metavar="L",
        help="of intervals, ceilings and tests (default 0.95)",
    )
    return parser


def _between_0_and_1(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not 0.0 <= number <= 1.0:
        msg = f"{text!r} is not a number from 0 to 1"
        raise argparse.ArgumentTypeError(msg)
    return number


def _strictly_between(text: str) -> float:
    number = _between_0_and_1(text)
    if number in (0.0, 1.0):
        msg = f"{text!r} does not lie between 0 and 1"
        raise argparse.ArgumentTypeError(msg)
    return number


def _plan(options: argparse.Namespace) -> list[str]:
    level = options.confidence_level
    lines = [
        f"expected rate {options.rate:g}, power {options.power:g}, confidence level {level:g}",
    ]
    if options.width is not None:
        n = prompts_for_interval_width(options.rate, options.width, level)
        lines.append(_line(n, f"for an interval no wider than {options.width:g} (Wilson)"))
    if options.ceiling is not None:
        lines += _plan_ceiling(options.rate, options.ceiling, options.power, level)
    if options.detect is not None:
        lines += _plan_change(options)
    return lines


def _plan_ceiling(rate: float, ceiling: float, power: float, level: float) -> list[str]:
    alpha = 1.0 - level
    if rate > ceiling:
        n = prompts_to_show_exceeded(ceiling, rate, power, alpha)
        return [_line(n, f'to show a rate above {ceiling:g} (decide = "exceeded")')]
    if rate == ceiling:
        msg = f"a rate of {rate:g} is at its ceiling: no number of prompts shows on which side"
        raise ValueError(msg)
    lines = []
    if (clean := clean_prompts_needed(ceiling, level)) is not None:
        lines.append(
            _line(clean, f"without a single miss, to prove a rate below {ceiling:g} (the fewest)")
        )
    n = prompts_to_show_below(ceiling, rate, power, alpha)
    return [*lines, _line(n, f'to show a rate below {ceiling:g} (decide = "proven")')]


def _plan_change(options: argparse.Namespace) -> list[str]:
    rate, change, churn = options.rate, options.detect, options.churn
    power, alpha = options.power, 1.0 - options.confidence_level
    alone = prompts_to_detect_change_paired(change, 0.0, power, alpha)
    lines = [
        _line(alone, f"in both runs, to see a change of {change:g}, no prompt going the other way")
    ]
    if churn and change + 2 * churn <= 1.0:
        n = prompts_to_detect_change_paired(change + churn, churn, power, alpha)
        lines.append(_line(n, f"in both runs, {churn:g} of the prompts going the other way"))
    # Rounded, since 0.05 - 0.03 is 0.020000000000000004.
    for direction, after in (("up", round(rate + change, 12)), ("down", round(rate - change, 12))):
        if 0.0 <= after <= 1.0:
            n = prompts_to_detect_change_unpaired(rate, after, power, alpha)
            lines.append(_line(n, f"in each run of different prompts, {direction} to {after:g}"))
    return lines


def _line(n: int, purpose: str) -> str:
    return f"{n:>9,} prompts {purpose}"


if __name__ == "__main__":
    run_command(main)
