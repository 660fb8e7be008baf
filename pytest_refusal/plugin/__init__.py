"""The pytest side: the only place that imports pytest.

This module is loaded in every pytest run on a machine where the package is installed. So it
has the options and the question whether to be active at all, and imports nothing of ours
until the answer is yes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pytest_refusal.plugin.project_file import ProjectTable


# Options with which pytest tells about itself; that of a plugin may be absent.
_RUN_NOTHING = ("help", "version", "markers", "showfixtures", "show_fixtures_per_test", "cacheshow")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add our options; all begin with `--refusal-`."""
    group = parser.getgroup("refusal", "labelled prompts as test cases (pytest-refusal)")
    group.addoption(
        "--refusal-policy",
        action="append",
        default=[],
        metavar="NAME[,NAME...]",
        help="run the labelled prompts against these policies: strict, over-cautious, leaky,"
        " length, always-refuse, always-answer, a configured name, module:attribute,"
        " recorded:PATH, or a model as openai:MODEL, anthropic:MODEL, gemini:MODEL or"
        " litellm:MODEL. Repeatable. Default: `policy` in [tool.pytest-refusal], else none",
    )
    group.addoption(
        "--refusal-report",
        action="append",
        default=[],
        metavar="PATH",
        help="write a report to PATH, its kind by suffix: .json, .html, .md, .csv, .svg, .png or"
        " .pdf; for GitLab by the name gl-code-quality-report.json. Repeatable. Default: none",
    )
    group.addoption(
        "--refusal-classifier",
        metavar="NAME",
        help="judge the responses with this classifier: phrases, judge:POLICY, cascade:POLICY,"
        " transformers:MODEL, or module:attribute for one of your own. Default: `classifier` in"
        " [tool.pytest-refusal], else phrases",
    )
    group.addoption(
        "--refusal-ceiling",
        action="append",
        default=[],
        metavar="NAME=NUMBER",
        help="fail the session above this rate, for example under_refusal=0.1,"
        " under_refusal_by_category.role-play=0.5 or ece[strict]=0.2. Repeatable."
        " Stands above the configured ceilings. Default: the configured ones",
    )
    group.addoption(
        "--refusal-baseline",
        metavar="PATH[::POLICY]",
        help="compare with an earlier JSON report, prompt by prompt: with the policy of the same"
        " name, or with POLICY. Default: `baseline` in [tool.pytest-refusal.regression], else no"
        " comparison",
    )
    group.addoption(
        "--refusal-history",
        metavar="PATH",
        help="append the summary numbers of a whole run to PATH, a line of JSON for each policy;"
        " an HTML report then shows their trend. Default: no history",
    )
    group.addoption(
        "--refusal-github",
        action="store_true",
        help="in GitHub Actions, annotate the corpus and append the summary of the run to that of"
        " the job. Default: `github` in [tool.pytest-refusal], else off",
    )
    group.addoption(
        "--refusal-audit",
        metavar="PATH",
        help="write a random part of the responses to PATH, a .csv file, for people to say which"
        " are refusals. Default: none",
    )
    group.addoption(
        "--refusal-audit-size",
        type=int,
        default=100,
        metavar="N",
        help="how many responses of each policy --refusal-audit is to hold. Default: 100",
    )
    group.addoption(
        "--refusal-labels",
        metavar="PATH[::POLICY]",
        help="a file of --refusal-audit that people filled in: tell how far they agree with the"
        " classifier, and correct the rates. Default: `labels` in [tool.pytest-refusal], else none",
    )
    group.addoption(
        "--refusal-samples",
        type=int,
        metavar="K",
        help="ask each prompt K times, each time as an item of its own, such as rp-01[staging#3]."
        " Default: `samples` in [tool.pytest-refusal], else 1",
    )
    group.addoption(
        "--refusal-record",
        metavar="PATH",
        help="record responses in PATH, and replay what is there. Default: no recording",
    )
    group.addoption(
        "--refusal-record-mode",
        choices=("none", "once", "new", "all"),
        help="none: only replay, and ask nobody; once: record if there is no file yet, else only"
        " replay; new: replay what is there and record the rest; all: ask for everything again."
        " Default: once",
    )
    group.addoption(
        "--refusal-max-calls",
        type=int,
        metavar="N",
        help="stop the session before more than N requests are sent to models, by all processes"
        " together. Default: no limit",
    )
    group.addoption(
        "--refusal-max-cost",
        type=float,
        metavar="COST",
        help="stop the session before requests cost more than this, in the currency of the"
        " configured prices. Default: no limit",
    )
    group.addoption(
        "--refusal-gate-partial",
        action="store_true",
        help="rule on the ceilings also when only a part of the prompts was selected."
        " Default: a partial run rules on no ceiling",
    )
    group.addoption(
        "--refusal-redact",
        action="store_true",
        help="leave what the policies said out of failures and reports. Default: off",
    )


def pytest_addhooks(pluginmanager: pytest.PytestPluginManager) -> None:
    """Make our hooks known, so that a conftest.py may implement them also in idle runs."""
    from pytest_refusal import hookspecs

    pluginmanager.add_hookspecs(hookspecs)


@pytest.hookimpl(trylast=True)
def pytest_configure(config: pytest.Config) -> None:
    """Become active if a policy is named on the command line or in the configuration."""
    from pytest_refusal.plugin import fixtures

    config.pluginmanager.register(fixtures, "refusal-fixtures")
    config.addinivalue_line("markers", "refusal: a labelled prompt, asked of a policy.")
    option = config.option
    if any(getattr(option, name, None) for name in _RUN_NOTHING):
        return
    project = _project_table(config)
    if config.invocation_params.dir != config.rootpath or _names_paths(config):
        from pytest_refusal.plugin.nested_table import refuse_nested_table

        refuse_nested_table(config)
    if not option.refusal_policy and not project.names_policy:
        _refuse_idle_options(config)
        return
    from pytest_refusal.plugin.activation import activate

    activate(config, project)


def _names_paths(config: pytest.Config) -> bool:
    return config.args_source is config.ArgsSource.ARGS


def _refuse_idle_options(config: pytest.Config) -> None:
    """Options in addopts wait for the runs that have a policy; a typed one is a mistake."""
    if not any(str(word).startswith(("--refusal-", "@")) for word in config.invocation_params.args):
        return
    from pytest_refusal.plugin.typed_options import typed_options

    if idle := typed_options(config):
        raise pytest.UsageError(
            f"{', '.join(idle)}: without a policy nothing is asked, checked or written;"
            " name one with --refusal-policy=NAME"
        )


def _project_table(config: pytest.Config) -> ProjectTable:
    from pytest_refusal.plugin.project_file import read_project_table

    return read_project_table(config)
