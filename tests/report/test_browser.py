"""The page in a real browser."""

import json

import browser
import example
import example_compare
import example_trust
import pytest
from audit_forms import html
from shown_comparison import html as compare_html

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(browser.CHROMIUM is None, reason="Chromium is not installed"),
]

STATUS = "document.querySelector('form[data-table={}] output').textContent"

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


@pytest.fixture(scope="module")
def compare_path(tmp_path_factory, compared):
    path = tmp_path_factory.mktemp("compare") / "compare.html"
    path.write_text(compare_html(compared), encoding="utf-8")
    return path


@pytest.fixture(params=["audit", "comparison"])
def either(request, path, compare_path):
    return path if request.param == "audit" else compare_path


def _press(tab, key, code=0):
    text = {"text": "\r"} if key == "Enter" else {}
    tab.call("Input.dispatchKeyEvent", type="keyDown", key=key, code=key, windowsVirtualKeyCode=code, **text)
    tab.call("Input.dispatchKeyEvent", type="keyUp", key=key, code=key, windowsVirtualKeyCode=code)


def _click(tab, selector):
    """Click with the mouse in the middle of an element."""
    spot = tab.ask(
        f"(e => {{ e.scrollIntoView({{block: 'center', behavior: 'instant'}}); const r = e.getBoundingClientRect(); "
        f"return [r.x + r.width / 2, r.y + r.height / 2] }})(document.querySelector({selector!r}))"
    )
    for kind in ("mousePressed", "mouseReleased"):
        tab.call("Input.dispatchMouseEvent", type=kind, x=spot[0], y=spot[1], button="left", clickCount=1)


def _write(tab, selector, text):
    """Type into a field, as a person does."""
    tab.ask(f"(e => {{ e.focus(); e.select && e.select() }})(document.querySelector({selector!r}))")
    tab.call("Input.insertText", text=text)


def _choose(tab, selector, value):
    tab.ask(
        f"(e => {{ e.value = {value!r}; e.dispatchEvent(new Event('input', {{bubbles: true}})) }})"
        f"(document.querySelector({selector!r}))"
    )


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", [360, 1280])
def test_opens_without_complaint_request_or_overflow(tab, either, width, dark):
    tab.open(either, width, dark=dark)
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


HOSTILE = "<img src=x onerror=\"document.body.dataset.hit='1'\">" + "w" * 10_000


def _harmless(tab, path):
    tab.open(path, 360)
    assert tab.complaints() == []
    assert tab.requests() == []
    assert tab.ask("document.body.dataset.hit ?? null") is None
    assert tab.ask("document.documentElement.scrollWidth") <= 360


def test_hostile_text_is_not_executed_nor_wide(tab, tmp_path, document, rows):
    changed = document | {
        "data": document["data"] | {"name": HOSTILE, "class_names": [HOSTILE]},
        "recipe": {HOSTILE: HOSTILE},
        "groups": [
            grouping
            | {"by": HOSTILE, "sentence": HOSTILE, "groups": [g | {"name": HOSTILE} for g in grouping["groups"]]}
            for grouping in document["groups"]
        ],
        "epsilon": document["epsilon"] | {"sentence": HOSTILE},
        "control": document["control"] | {"sentence": HOSTILE},
    }
    path = tmp_path / "hostile.html"
    listed = [row | {"label_name": HOSTILE, f"group_{HOSTILE}": HOSTILE} for row in rows]
    path.write_text(html(changed, listed), encoding="utf-8")
    _harmless(tab, path)


def test_hostile_recipes_are_not_executed_nor_wide(tab, tmp_path, compared):
    changed = compared | {
        "sentence": HOSTILE,
        "detail": [HOSTILE],
        "rows": [row | {"name": f"{HOSTILE}{i}", "matches": [f"{HOSTILE}0"]} for i, row in enumerate(compared["rows"])],
        "pairs": [pair | {"first": HOSTILE, "second": HOSTILE} for pair in compared["pairs"]],
    }
    path = tmp_path / "hostile.html"
    path.write_text(compare_html(changed), encoding="utf-8")
    _harmless(tab, path)


def _numbers(texts):
    return [float(text.split("±")[0].split(" ")[0].replace("−", "-")) for text in texts]


def test_sorting_by_mouse(tab, path, rows):
    tab.open(path)
    head = "#record-table th:nth-child(5) button"
    _click(tab, head)
    shown = _numbers(tab.ask(CELLS.format(4)))
    assert shown == sorted(shown, reverse=True)
    assert len(shown) == len(rows)
    _click(tab, head)
    shown = _numbers(tab.ask(CELLS.format(4)))
    assert shown == sorted(shown)
    heads = tab.ask(
        "[...document.querySelectorAll('#record-table th[aria-sort]')].map(h => h.textContent + h.ariaSort)"
    )
    assert heads == ["Distanceascending"]
    assert (
        tab.ask(STATUS.format("record-table"))
        == f"Sorted by Distance, smallest first; showing {len(rows)} of {len(rows)}"
    )


def test_sorting_by_keyboard_ignores_errors_below_numbers(tab, path):
    tab.open(path)
    tab.ask("document.querySelector('#record-table th:nth-child(4) button').focus()")
    _press(tab, "Enter", 13)
    shown = _numbers(tab.ask(CELLS.format(3)))
    assert shown == sorted(shown)
    assert min(shown) < 0 < max(shown)


def test_filtering_by_class_group_text_and_exposure(tab, path, rows):
    tab.open(path)
    form = 'form[data-table="record-table"]'
    _choose(tab, f"{form} select[data-column='1']", "digit 3")
    _choose(tab, f"{form} select[data-column='2']", "female")
    _write(tab, f"{form} [data-least]", "1.5")
    wanted = [r for r in rows if r["label"] == 3 and r["group_sex"] == "female" and round(r["exposure"], 2) >= 1.5]
    assert 0 < len(wanted) < len(rows)
    assert tab.ask(CELLS.format(0)) == [str(r["record"]) for r in wanted]
    assert tab.ask(STATUS.format("record-table")) == f"showing {len(wanted)} of {len(rows)}"
    assert tab.ask(f"document.querySelector('{form} output').getAttribute('aria-live')") == "polite"
    _write(tab, f"{form} [data-find]", str(wanted[0]["record"]))
    assert tab.ask(CELLS.format(0))[0] == str(wanted[0]["record"])
    _write(tab, f"{form} [data-find]", "no such record")
    assert tab.ask(CELLS.format(0)) == []
    assert tab.ask(STATUS.format("record-table")) == f"showing 0 of {len(rows)}"


def test_groups_sort_with_unknown_ones_last(tab, path):
    tab.open(path)
    column = "[...document.querySelectorAll('#group-0-table tbody tr')].map(r => r.cells[2].dataset.key ?? '')"
    for _ in range(2):
        _click(tab, "#group-0-table th:nth-child(3) button")
        keys = tab.ask(column)
        assert keys[-1] == ""
    values = [float(key) for key in keys[:-1]]
    assert values == sorted(values, reverse=True)


def test_pairs_filter_and_sort(tab, compare_path, compared):
    tab.open(compare_path)
    form = 'form[data-table="pairs-table"]'
    _choose(tab, f"{form} select[data-column='2']", "Accuracy")
    _write(tab, f"{form} [data-find]", "tie")
    ties = [p for p in compared["pairs"] if p["statistic"] == "accuracy" and p["verdict"] == "tie"]
    assert tab.ask(STATUS.format("pairs-table")) == f"showing {len(ties)} of 45"
    tab.ask("document.querySelector('#pairs-table th:nth-child(5) button').focus()")
    _press(tab, "Enter", 13)
    keys = tab.ask(
        "[...document.querySelectorAll('#pairs-table tbody tr:not([hidden])')].map(r => +r.cells[4].dataset.key)"
    )
    assert keys == pytest.approx(sorted((p["difference"] for p in ties), reverse=True))


WHO = "(e => e.className || e.placeholder || e.dataset.column || e.textContent)(document.activeElement)"

OUTLINE = "getComputedStyle(document.activeElement).outlineStyle"


def test_keyboard_reaches_everything_and_shows_where_it_is(tab, path):
    tab.open(path)
    seen, outlines = [], set()
    for _ in range(70):
        _press(tab, "Tab", 9)
        seen.append(tab.ask(WHO))
        if tab.ask("document.activeElement !== document.body"):
            outlines.add(tab.ask(OUTLINE))
    assert {"skip", "scroll", "scroll tall", "record or text", "1", "2", "Exposure", "Distance"} <= set(seen)
    assert outlines == {"solid"}


def test_skip_link_leads_past_the_head(tab, either):
    tab.open(either)
    _press(tab, "Tab", 9)
    assert tab.ask("getComputedStyle(document.activeElement).left") == "16px"
    _press(tab, "Enter", 13)
    assert tab.ask("location.hash") == "#main"


def test_text_stands_out_from_its_background(tab, either):
    for dark in (False, True):
        tab.open(either, dark=dark)
        assert tab.ask(CONTRAST) >= 4.5


def test_prints(tab, path):
    tab.open(path, 688)
    assert tab.paper().startswith(b"%PDF")
    tab.call("Emulation.setEmulatedMedia", media="print")
    shown = "[...document.querySelectorAll('#record-table tbody tr')].filter(r => r.offsetParent).length"
    assert tab.ask(shown) == 120
    assert tab.ask("document.documentElement.scrollWidth") <= 688
    assert tab.ask("getComputedStyle(document.querySelector('nav')).display") == "none"
    tab.call("Emulation.setEmulatedMedia", media="")


def test_comparison_prints(tab, tmp_path):
    path = tmp_path / "compare.html"
    path.write_text(compare_html(example_compare.comparison(12, 11)), encoding="utf-8")
    tab.open(path, 688)
    assert tab.paper().startswith(b"%PDF")
    tab.call("Emulation.setEmulatedMedia", media="print")
    assert tab.ask("[...document.querySelectorAll('#pairs-table tbody tr')].filter(r => r.offsetParent).length") == 120
    assert tab.ask("document.documentElement.scrollWidth") <= 688
    assert tab.ask("[...document.querySelectorAll('form')].every(f => getComputedStyle(f).display === 'none')")
    tab.call("Emulation.setEmulatedMedia", media="")


def test_big_documents_open_at_any_width(tab, tmp_path):
    document = example_trust.add(example.document(models=128, records=400, attacks=2), classes=100)
    path = tmp_path / "big.html"
    path.write_text(html(document, example_trust.extend(example.rows(2000, classes=100))), encoding="utf-8")
    for width in (360, 1280):
        tab.open(path, width)
        assert tab.complaints() == []
        assert tab.ask("document.documentElement.scrollWidth") <= width
    assert len(tab.ask(CELLS.format(0))) == 2000


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


LONG = "the_department_of_very_long_names_of_things_and_of_all_people"
OVER = "(e => e.scrollWidth - e.clientWidth)(document.querySelector('{}').closest('.scroll'))"
"""By how much a table is wider than its frame."""


def test_a_long_group_name_pushes_nothing_out_of_view(tab, tmp_path, document):
    changed = json.loads(json.dumps(document))
    changed["data"]["class_names"][3] = LONG
    changed["groups"][1]["groups"][0]["name"] = f"{LONG}, and more"
    path = tmp_path / "long.html"
    path.write_text(html(changed, []), encoding="utf-8")
    tab.open(path)
    assert tab.ask(OVER.format("#group-0-table")) == tab.ask(OVER.format("#group-1-table")) == 0
    assert tab.ask("[...document.querySelectorAll('#group-1-table bdi[title]')].map(e => e.title)") == [
        f"{LONG}, and more"
    ]


def test_long_names_of_recipes_wrap_and_tables_stack_on_a_phone(tab, tmp_path, compared):
    name = "cwrf:rate=0.001,weight=magnitude,level=2+relaxloss:level=0.5,upper=1"
    text = json.dumps(compared).replace(json.dumps(compared["rows"][1]["name"]), json.dumps(name))
    path = tmp_path / "long.html"
    path.write_text(compare_html(json.loads(text)), encoding="utf-8")
    for width, shown in ((1280, "table-row"), (360, "block")):
        tab.open(path, width)
        for table in ("#rows-table", "#pairs-table"):
            assert tab.ask(OVER.format(table)) == 0
            assert tab.ask(f"getComputedStyle(document.querySelector('{table} tbody tr')).display") == shown
    verdict = "document.querySelector('#pairs-table [data-label=Verdict]').getBoundingClientRect()"
    assert tab.ask(f"{verdict}.left >= 0 && {verdict}.right <= innerWidth")
    assert tab.ask("[...document.querySelectorAll('#rows-table [title]')].map(e => e.title)") == [name]
    tab.ask("[...document.querySelectorAll('#rows-table thead button')][3].click()")
    assert tab.ask("document.querySelector('#rows-table tbody th bdi').textContent") == "plain"


def test_the_mark_of_ties_stands_beside_its_number(tab, tmp_path, document):
    changed = json.loads(json.dumps(document))
    rate = changed["attacks"][1]["overall"]["tpr_at_fpr"][1]
    rate |= {"tpr": {"mean": 0.0, "std": 0.0, "interval": [0.0, 0.02], "tied": True}, "realised_fpr": 0.0}
    path = tmp_path / "ties.html"
    path.write_text(html(changed, []), encoding="utf-8")
    for width in (1280, 360):
        tab.open(path, width)
        beside = "(m => Math.abs(m.bottom - m.parent) < 8)((e => ({bottom: e.getBoundingClientRect().bottom, "
        beside += "parent: e.parentElement.getBoundingClientRect().bottom}))(document.querySelector('a.mark')))"
        assert tab.ask(beside)
        assert tab.ask("document.querySelector('a.mark').parentElement.className") == "value"
