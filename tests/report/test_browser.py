"""The page in a real browser."""

import browser
import example
import pytest

from reticent.report.html import html

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(browser.CHROMIUM is None, reason="Chromium is not installed"),
]

CELLS = "[...document.querySelectorAll('#record-table tbody tr:not([hidden])')].map(r => r.cells[{}].textContent)"

CONTRAST = """(() => {
  const channel = x => (x /= 255) <= .03928 ? x / 12.92 : ((x + .055) / 1.055) ** 2.4;
  const light = c => {
    const [r, g, b] = c.match(/[\\d.]+/g).map(Number).map(channel);
    return .2126 * r + .7152 * g + .0722 * b };
  const behind = e => {
    for (; e; e = e.parentElement) { const c = getComputedStyle(e).backgroundColor; if (c.startsWith('rgb(')) return c }
    return 'rgb(255,255,255)' };
  const speaks = e => !e.closest('svg') && [...e.childNodes].some(n => n.nodeType === 3 && n.textContent.trim());
  const ratio = e => {
    const pair = [light(getComputedStyle(e).color), light(behind(e))].sort((a, b) => b - a);
    return (pair[0] + .05) / (pair[1] + .05) };
  return Math.min(...[...document.body.querySelectorAll('*:not(script)')].filter(speaks).map(ratio)) })()"""
"""The least contrast between a text of the page and what is behind it (WCAG 2.2)."""


@pytest.fixture(scope="module")
def tab():
    with browser.tab() as opened:
        yield opened


@pytest.fixture(scope="module")
def path(tmp_path_factory, page):
    path = tmp_path_factory.mktemp("page") / "report.html"
    path.write_text(page, encoding="utf-8")
    return path


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", [360, 768, 1280])
def test_opens_without_complaint_request_or_overflow(tab, path, width, dark):
    tab.open(path, width, dark=dark)
    assert tab.complaints() == []
    assert tab.requests() == []
    assert tab.ask("document.documentElement.scrollWidth") <= width == tab.ask("innerWidth")


def test_the_harness_sees_what_it_looks_for(tab, tmp_path):
    bad = tmp_path / "bad.html"
    bad.write_text(
        "<!DOCTYPE html><div style='width:2000px'>x</div><img src='http://localhost:9/x.png'><script>undefined.x</script>"
    )
    tab.open(bad, 360)
    assert any("undefined" in said for said in tab.complaints())
    assert tab.requests() == ["http://localhost:9/x.png"]
    assert tab.ask("document.documentElement.scrollWidth") > 360


def test_hostile_text_is_not_executed_nor_wide(tab, tmp_path, document, rows):
    hostile = "<img src=x onerror=\"document.body.dataset.hit='1'\">" + "w" * 10_000
    changed = document | {
        "data": document["data"] | {"name": hostile, "class_names": [hostile]},
        "recipe": {hostile: hostile},
    }
    path = tmp_path / "hostile.html"
    path.write_text(html(changed, [row | {"label_name": hostile} for row in rows]), encoding="utf-8")
    tab.open(path, 360)
    assert tab.complaints() == []
    assert tab.ask("document.body.dataset.hit ?? null") is None
    assert tab.ask("document.documentElement.scrollWidth") <= 360


def test_sorting(tab, path, rows):
    tab.open(path)
    tab.ask("document.querySelectorAll('#record-table th button')[4].click()")
    shown = [float(text.replace("−", "-")) for text in tab.ask(CELLS.format(4))]
    assert shown == sorted(shown, reverse=True)
    assert len(shown) == len(rows)
    tab.ask("document.querySelectorAll('#record-table th button')[4].click()")
    shown = [float(text.replace("−", "-")) for text in tab.ask(CELLS.format(4))]
    assert shown == sorted(shown)
    heads = tab.ask(
        "[...document.querySelectorAll('#record-table th[aria-sort]')].map(h => h.textContent + h.ariaSort)"
    )
    assert heads == ["Margin with itascending"]
    assert tab.ask("document.getElementById('status').textContent").startswith(
        "Sorted by Margin with it, smallest first"
    )


def test_filtering(tab, path, rows):
    tab.open(path)
    tab.ask("(e => { e.value = 'digit 3'; e.dispatchEvent(new Event('change')) })(document.getElementById('class'))")
    expected = [str(row["record"]) for row in rows if row["label"] == 3]
    assert tab.ask(CELLS.format(0)) == expected
    assert tab.ask("document.getElementById('status').textContent") == f"{len(expected)} of {len(rows)} shown"
    tab.ask(
        f"(e => {{ e.value = '{expected[0]}'; e.dispatchEvent(new Event('input')) }})(document.getElementById('find'))"
    )
    assert tab.ask(CELLS.format(0))[0] == expected[0]


def test_keyboard_reaches_everything(tab, path):
    tab.open(path)
    seen = []
    for _ in range(40):
        for kind in ("keyDown", "keyUp"):
            tab.call("Input.dispatchKeyEvent", type=kind, key="Tab", code="Tab", windowsVirtualKeyCode=9)
        seen.append(
            tab.ask(
                "document.activeElement.id || document.activeElement.className || document.activeElement.textContent"
            )
        )
    assert {"skip", "scroll", "scroll tall", "find", "class", "Exposure"} <= set(seen)


def test_text_stands_out_from_its_background(tab, path):
    for dark in (False, True):
        tab.open(path, dark=dark)
        assert tab.ask(CONTRAST) >= 4.5


def test_prints(tab, path):
    tab.open(path, 688)
    assert tab.paper().startswith(b"%PDF")
    tab.call("Emulation.setEmulatedMedia", media="print")
    shown = "[...document.querySelectorAll('#record-table tbody tr')].filter(r => r.offsetParent).length"
    assert tab.ask(shown) == 40
    assert tab.ask("document.documentElement.scrollWidth") <= 688
    assert tab.ask("getComputedStyle(document.querySelector('nav')).display") == "none"
    tab.call("Emulation.setEmulatedMedia", media="")


def test_without_script_the_table_is_still_there(tab, path, rows):
    tab.call("Emulation.setScriptExecutionDisabled", value=True)
    tab.open(path)
    assert len(tab.ask(CELLS.format(0))) == len(rows)
    assert tab.ask("getComputedStyle(document.querySelector('.controls')).display") == "none"
    tab.call("Emulation.setScriptExecutionDisabled", value=False)


def test_three_verdicts_fit_a_phone(tab, tmp_path, rows):
    for leak in ("found", "not found", "cannot tell"):
        document = example.document(models=1, records=100, measurable=False, attacks=1)
        document["verdict"]["leak"] = leak
        path = tmp_path / f"{leak}.html"
        path.write_text(html(document, rows[:3]), encoding="utf-8")
        tab.open(path, 360)
        assert tab.complaints() == []
        assert tab.ask("document.documentElement.scrollWidth") <= 360
