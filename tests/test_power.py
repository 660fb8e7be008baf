"""The command that plans how many prompts it takes."""

from __future__ import annotations

import pytest

from pytest_refusal.power import main


def test_change_ceiling_and_width_are_planned(capsys):
    assert main(["--rate", "0.05", "--detect", "0.03", "--ceiling", "0.15", "--width", "0.1"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "expected rate 0.05, power 0.8, confidence level 0.95",
        "       83 prompts for an interval no wider than 0.1 (Wilson)",
        "       19 prompts without a single miss, to prove a rate below 0.15 (the fewest)",
        '       68 prompts to show a rate below 0.15 (decide = "proven")',
        "      260 prompts in both runs, to see a change of 0.03, no prompt going the other way",
        "      609 prompts in both runs, 0.02 of the prompts going the other way",
        "    1,047 prompts in each run of different prompts, up to 0.08",
        "      562 prompts in each run of different prompts, down to 0.02",
    ]


def test_rate_above_its_ceiling_is_planned_as_exceeded(capsys):
    main(["--rate", "0.3", "--ceiling", "0.15"])
    assert '55 prompts to show a rate above 0.15 (decide = "exceeded")' in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--rate", "0.05"], "nothing to plan: give --width, --ceiling or --detect"),
        (["--rate", "5", "--width", "0.1"], "'5' is not a number from 0 to 1"),
        (["--rate", "nan", "--width", "0.1"], "'nan' is not a number from 0 to 1"),
        (["--rate", "0.1", "--width", "0"], "'0' does not lie between 0 and 1"),
        (["--rate", "0.1", "--ceiling", "0.1"], "a rate of 0.1 is at its ceiling"),
        (["--rate", "0.1", "--width", "0.1", "--power", "1"], "'1' does not lie between"),
        (["--rate", "0.5", "--width", "0.00001"], "more than 10,000,000 prompts"),
        (["--width", "0.1"], "--rate"),
    ],
)
def test_plan_that_makes_no_sense_is_explained(arguments, message, capsys):
    with pytest.raises(SystemExit) as stopped:
        main(arguments)
    assert stopped.value.code == 2
    assert message in capsys.readouterr().err.splitlines()[-1]
