from reading import read

from reticent.report.stacking import stacked

TABLE = """<table class="plain short" id="t"><caption>C</caption>
<thead><tr><th scope="col" class="text">Name</th><th scope="col">Found<span>1 &lt; 2</span></th></tr></thead>
<tbody>
<tr><th scope="row">a</th><td data-key="1">1<span class="span">x</span></td></tr>
<tr><th scope="row">b</th><td></td></tr>
</tbody></table>"""


def test_cells_say_which_column_they_are_of():
    page = stacked(f"<p>1</p>{TABLE}<p>2</p>")
    table = read(page).one("table")
    assert table.attributes == {"role": "table", "class": "plain stack short", "id": "t"}
    cells = [cell.attributes for cell in table.all("td")]
    assert cells == [
        {"role": "cell", "data-label": "Found 1 < 2", "data-key": "1"},
        {"role": "cell", "data-label": "Found 1 < 2"},
    ]
    assert [head.attributes["role"] for head in table.all("th")] == ["columnheader"] * 2 + ["rowheader"] * 2
    assert [row.attributes["role"] for row in table.all("tr")] == ["row"] * 3
    assert [table.one(part).attributes["role"] for part in ("thead", "tbody")] == ["rowgroup"] * 2
    assert table.text == read(TABLE).one("table").text


def test_what_a_template_labels_itself_and_the_records_stay():
    for table in (TABLE.replace("plain", "plain stack"), TABLE.replace('id="t"', 'id="record-table"')):
        assert stacked(table) == table
