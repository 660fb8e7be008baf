from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from pytest_refusal.errors import PolicyError
from pytest_refusal.policy.function import load_function


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    before = set(sys.modules)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.chdir(tmp_path)
    yield tmp_path
    for name in set(sys.modules) - before:
        del sys.modules[name]


def test_a_function_of_a_file_in_the_search_folder(folder: Path) -> None:
    (folder / "my_assistant.py").write_text("def answer(text): return text\n")
    function = load_function("my_assistant:answer", search=[folder])
    assert callable(function)
    assert function("x") == "x"
    assert sys.path[0] == str(folder)


def test_dotted_modules_and_attributes(folder: Path) -> None:
    (folder / "shop").mkdir()
    (folder / "shop" / "bot.py").write_text("class Bot:\n    greeting = 'hi'\nbot = Bot()\n")
    assert load_function("shop.bot:bot.greeting", search=[folder]) == "hi"


@pytest.mark.parametrize(
    ("spec", "told"),
    [
        ("my_asistant:answer", "there is no module 'my_asistant'; did you mean 'my_assistant'"),
        ("nothing_like_it:f", "there is no module 'nothing_like_it' in "),
        ("my_assistant:anser", "my_assistant has no attribute 'anser'; did you mean 'answer'?"),
        ("my_assistant:zzz", "my_assistant has no attribute 'zzz'"),
        ("my_assistant", ("'my_assistant' is not of the form module:attribute;"
                          ' did you mean "my_assistant:answer"?')),
        ("my_assistant.reply", 'did you mean "my_assistant:reply"?'),
        ("two", 'a function of it is named as "two:FUNCTION" (ask, tell)'),
        ("two:Bot.reply", ("'two:Bot.reply': reply is a method of the class Bot and needs an"
                           " instance: write bot = Bot(...) in the module and name two:bot.reply")),
        ("chatpkg.app:f", 'src; set pythonpath = ["src"] under [tool.pytest.ini_options]'),
        ("nothing_like_it:f", 'such as pythonpath = ["src"], or install it'),
        ("my_assistant.py:answer", "did you mean my_assistant:answer?"),
        ("lib/my_assistant.py:answer", "did you mean lib.my_assistant:answer?"),
        (":answer", "is not of the form module:attribute"),
        ("my_assistant:", "is not of the form module:attribute"),
        ("..x:y", "is not of the form module:attribute"),
        ("needs_more:f", ("importing needs_more failed: ModuleNotFoundError: No module named"
                         " 'not_installed_anywhere' (needs_more.py:2 in <module>)")),
        ("broken:f", ("importing broken failed: ZeroDivisionError: division by zero"
                     " (broken.py:2 in start, broken.py:3 in <module>)")),
        ("typo:f", "importing typo failed: SyntaxError"),
        ("typo:f", "(typo.py:2)"),
        ("leaves:f", "importing leaves failed: SystemExit: 3 (leaves.py:1 in <module>)"),
    ],
)  # fmt: skip
def test_faults_are_told_to_people(folder: Path, spec: str, told: str) -> None:
    (folder / "my_assistant.py").write_text("def answer(text): return text\n")
    (folder / "two.py").write_text(
        "def ask(text): ...\nasync def tell(text): ...\nclass Bot:\n def reply(self, text): ...\n"
    )
    (folder / "src" / "chatpkg").mkdir(parents=True)
    (folder / "src" / "chatpkg" / "__init__.py").touch()
    (folder / "needs_more.py").write_text("import sys\nimport not_installed_anywhere\n")
    (folder / "broken.py").write_text("def start():\n    return 1 / 0\nstart()\n")
    (folder / "typo.py").write_text("x = 1\ndef f(:\n")
    (folder / "leaves.py").write_text("raise SystemExit(3)\n")
    with pytest.raises(PolicyError) as caught:
        load_function(spec, search=[folder])
    assert told in str(caught.value)


def test_a_folder_is_named_once(folder: Path) -> None:
    with pytest.raises(PolicyError) as caught:
        load_function("nothing_like_it:f", search=[folder, Path()])
    assert str(caught.value).count(str(folder)) == 1


def test_no_value_of_the_users_code_is_shown(folder: Path) -> None:
    (folder / "secret.py").write_text("key = 'sk-canary'\nassert not key\n")
    with pytest.raises(PolicyError) as caught:
        load_function("secret:f", search=[folder])
    assert "sk-canary" not in str(caught.value)
