"""Every block in a real browser: sorting, filtering, phones, paper."""

import browser
import example_blocks
import pytest

from reticent.report.render.html import PRINTED, html

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(browser.CHROMIUM is None, reason="Chromium is not installed"),
]
CELLS = "[...document.querySelectorAll('#groups tbody tr')].filter(r => !r.hidden).map(r => r.cells[{}].textContent)"
STATUS = "document.querySelector('form[data-table=groups] output').textContent"


@pytest.fixture(scope="module")
def tab():
    with browser.tab() as opened:
        yield opened


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    made = tmp_path_factory.mktemp("blocks") / "all.html"
    made.write_text(html(example_blocks.document(PRINTED + 5)), encoding="utf-8")
    return made


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", [360, 1280])
def test_a_page_fits_every_screen(tab, path, width, dark):
    tab.open(path, width, dark=dark)
    assert tab.complaints() == []
    assert tab.requests() == []
    assert tab.ask("document.documentElement.scrollWidth") <= width
    assert tab.ask("(e => e.scrollWidth - e.clientWidth)(document.querySelector('#groups').closest('.scroll'))") == 0


def test_a_table_is_sorted_and_filtered(tab, path):
    tab.open(path)
    buttons = "[...document.querySelectorAll('#groups thead button')][{}].click()"
    tab.ask(buttons.format(2))
    assert tab.ask(CELLS.format(2))[0].startswith("0.500")
    tab.ask(buttons.format(3))
    assert tab.ask(CELLS.format(3))[0].startswith("12.5")  # what is missing comes last
    assert tab.ask(CELLS.format(3))[-1] == "–"
    tab.ask(
        "(s => { s.value = 'class 3'; s.dispatchEvent(new Event('change', {bubbles: true})); })"
        "(document.querySelector('form[data-table=groups] select'))"
    )
    assert set(tab.ask(CELLS.format(1))) == {"class 3"}
    assert tab.ask(STATUS) == f"showing 11 of {PRINTED + 5}"


def test_paper_has_the_first_lines_and_no_forms(tab, path):
    tab.open(path, 688)
    assert tab.paper().startswith(b"%PDF")
    tab.call("Emulation.setEmulatedMedia", media="print")
    assert tab.ask("[...document.querySelectorAll('#groups tbody tr')].filter(r => r.offsetParent).length") == PRINTED
    assert tab.ask("[...document.querySelectorAll('form')].every(f => getComputedStyle(f).display === 'none')")
    tab.call("Emulation.setEmulatedMedia", media="")
