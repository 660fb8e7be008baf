"""The page as somebody sees it: in Chromium, without network."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_refusal.report.history import runs_of
from pytest_refusal.report.to_html import to_html

sync_api = pytest.importorskip("playwright.sync_api", reason="needs playwright, of the test extra")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="there is no chromium on the PATH")

WIDTHS = (1280, 900, 768, 390)


@pytest.fixture(scope="module")
def browser() -> Iterator[object]:
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


class Visit:
    """A page that was opened, and what it did unasked."""

    def __init__(self, browser, path: Path, **options) -> None:
        self.context = browser.new_context(**options)
        self.page = self.context.new_page()
        self.trouble: list[str] = []
        self.requests: list[str] = []
        self.page.on("console", lambda message: self.trouble.append(message.text))
        self.page.on("pageerror", lambda error: self.trouble.append(str(error)))
        self.page.on("dialog", lambda dialog: self.trouble.append(dialog.message))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.url = path.as_uri()
        self.page.goto(self.url)

    def shown(self) -> list[str]:
        rows = self.page.locator(".outcome:not([hidden])")
        return rows.evaluate_all("rows => rows.map(row => row.querySelector('span').textContent)")


@pytest.fixture
def visit(browser, tmp_path):
    visits = []

    def open_page(report, **options) -> Visit:
        path = tmp_path / f"report-{len(visits)}.html"
        path.write_text(to_html(report), encoding="utf-8")
        visits.append(Visit(browser, path, **options))
        return visits[-1]

    yield open_page
    for one in visits:
        one.context.close()


def test_it_fits_the_window_and_does_nothing_unasked(visit, report):
    opened = visit(report)
    page = opened.page
    page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
    page.evaluate("document.querySelectorAll('.outcome > a').forEach(a => a.click())")
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        size = "[document.documentElement.scrollWidth, window.innerWidth]"
        assert page.evaluate(size) == [width, width]
    assert opened.trouble == []
    assert opened.requests == [opened.url]
    assert "refusal evaluation of" in page.title()  # a planted handler would have changed it


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_no_violation(visit, made, scheme):
    axe = pytest.importorskip(
        "axe_playwright_python", reason="needs axe-playwright-python, of the test extra"
    )
    source = (Path(axe.__file__).parent / "axe.min.js").read_text(encoding="utf-8")
    for name in ("several-policies", "unevaluated", "baseline"):
        report = made[name]()
        runs = runs_of(report, commit="")
        page = visit(replace(report, history=runs + runs), color_scheme=scheme).page
        page.locator(".outcome > a").first.click()
        page.evaluate(source)
        found = page.evaluate("axe.run()")
        said = [
            (v["id"], v["help"], [node["html"][:200] for node in v["nodes"][:3]])
            for v in found["violations"]
        ]
        assert said == [], name


def test_the_filters_work_by_keyboard(visit, made):
    opened = visit(made["several-policies"]())
    page, status = opened.page, opened.page.locator("#shown")
    assert status.inner_text() == "24 of 24 outcomes shown"
    page.locator("#f-text").focus()
    page.keyboard.type("bad-2")
    sync_api.expect(status).to_have_text("3 of 24 outcomes shown")
    assert opened.shown() == ["bad-2"] * 3
    page.keyboard.press("Tab")
    page.keyboard.type("leaky")
    sync_api.expect(status).to_have_text("1 of 24 outcomes shown")
    page.locator("#f-reset").focus()
    page.keyboard.press("Enter")
    sync_api.expect(status).to_have_text("24 of 24 outcomes shown")
    page.locator("#f-result").focus()
    page.keyboard.type("over")
    sync_api.expect(status).to_have_text("3 of 24 outcomes shown")
    assert opened.shown() == ["good-1", "good-2", "good-3"]
    assert opened.trouble == []


def test_the_order_can_be_chosen(visit, made):
    opened = visit(made["gate-fails"]())
    assert opened.shown()[:3] == ["bad-3", "bad-2", "good-1"]
    opened.page.locator("#f-order").select_option("id")
    assert opened.shown()[:3] == ["bad-2", "bad-3", "good-1"]


def test_thousands_are_filtered_and_sorted_over_all_blocks(visit, making):
    a_report, a_policy, a_prompt, an_outcome = making
    outcomes = [
        an_outcome(a_prompt(f"p-{1200 - n:04}", text=f"Question-{n:04}?"), declines=n % 10 == 0)
        for n in range(1200)
    ]
    opened = visit(a_report(a_policy(outcomes)))
    page, status = opened.page, opened.page.locator("#shown")
    page.locator("#f-text").fill("QUESTION-077")
    sync_api.expect(status).to_have_text("10 of 1200 outcomes shown")
    assert opened.shown() == ["p-0430", *(f"p-0{n}" for n in range(429, 420, -1))]
    page.locator("#f-order").select_option("id")
    assert opened.shown() == ["p-0430", *(f"p-0{n}" for n in range(421, 430))]
    sync_api.expect(status).to_have_text("10 of 1200 outcomes shown")
    page.locator("#f-result").select_option("ok")
    sync_api.expect(status).to_have_text("9 of 1200 outcomes shown")
    page.locator("#f-reset").click()
    sync_api.expect(status).to_have_text("1200 of 1200 outcomes shown")
    assert opened.shown()[:2] == ["p-1200", "p-1190"]
    assert opened.trouble == []


def test_a_picture_of_a_whole_page_shows_every_row(visit, making):
    a_report, a_policy, a_prompt, an_outcome = making
    outcomes = [an_outcome(a_prompt(f"p-{n}"), declines=True) for n in range(60)]
    page = visit(a_report(a_policy(outcomes)), viewport={"width": 1280, "height": 400}).page
    is_drawn = "row => row.checkVisibility({contentVisibilityAuto: true})"
    drawn = page.locator(".outcome > a").evaluate_all(f"rows => rows.map({is_drawn})")
    assert drawn == [True] * 60


def test_a_row_opens_to_what_was_said_and_closes_again(visit, made):
    page = visit(made["within-ceilings"]()).page
    row = page.locator(".outcome").nth(1)
    link = row.get_by_role("link")
    sync_api.expect(link).to_have_attribute("aria-expanded", "false")
    link.focus()
    page.keyboard.press("Enter")
    sync_api.expect(row.locator("mark")).to_have_text("I can't help")
    sync_api.expect(row.locator("mark")).to_be_in_viewport()
    sync_api.expect(link).to_have_attribute("aria-expanded", "true")
    page.keyboard.press("Enter")
    sync_api.expect(row.locator("mark")).not_to_be_in_viewport()
    sync_api.expect(link).to_have_attribute("aria-expanded", "false")


def test_a_regressed_prompt_leads_to_its_outcome_even_where_it_was_filtered_out(visit, made):
    page = visit(made["baseline"]()).page
    page.locator("#f-text").fill("good-4")
    sync_api.expect(page.locator("#shown")).to_have_text("1 of 8 outcomes shown")
    page.get_by_role("link", name="bad-1", exact=True).click()
    row = page.locator(".outcome:target")
    sync_api.expect(row.locator("pre").last).to_be_in_viewport()
    sync_api.expect(row.get_by_role("link")).to_be_focused()


def test_the_address_of_an_outcome_opens_it(visit, made):
    page = visit(made["gate-fails"]()).page
    page.goto(page.url + "#o8")
    page.reload()
    sync_api.expect(page.locator("#o8 pre").last).to_be_in_viewport()


def test_all_can_be_read_without_script(visit, made):
    opened = visit(made["gate-fails"](), java_script_enabled=False)
    assert opened.page.locator("#filter").is_hidden()
    assert opened.page.locator(".wrong .outcome").count() == 3
    opened.page.locator(".wrong a").first.click()
    sync_api.expect(opened.page.locator(".wrong pre").last).not_to_be_in_viewport()
    sync_api.expect(opened.page.locator(".wrong pre").first).to_be_in_viewport()
    opened.page.locator(".group > summary").click()
    opened.page.locator(".group a").first.click()
    sync_api.expect(opened.page.locator(".group pre").first).to_be_in_viewport()


def test_print_holds_the_conversations_of_what_went_wrong(visit, made):
    page = visit(made["gate-fails"]()).page
    page.emulate_media(media="print")
    said = page.locator(".wrong .outcome > div")
    boxes = said.evaluate_all("all => all.map(one => one.offsetHeight)")
    assert len(boxes) == 3
    assert min(boxes) > 50
    sync_api.expect(page.locator("#filter")).to_be_hidden()
    page.set_viewport_size({"width": 700, "height": 900})  # of paper between its margins
    assert page.evaluate("document.documentElement.scrollWidth") == 700
