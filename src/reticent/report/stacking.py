"""Tables that stack on a phone: each cell says which column it is of, since the heads are then not above it."""

import re

TABLE = re.compile(r'<table class="plain(?![^>]*id="record-table")[^>]*>.*?</table>', re.DOTALL)
"""All but the table of records, whose thousands of cells are better compared in columns; its box scrolls sideways."""
HEAD = re.compile(r'<th scope="col"[^>]*>(.*?)</th>', re.DOTALL)
ROW = re.compile(r"<tr\b.*?</tr>", re.DOTALL)
CELL = re.compile(r"<(td|th)\b([^>]*)>")
TAG = re.compile(r"<[^>]+>")
ROLES = {"table": "table", "thead": "rowgroup", "tbody": "rowgroup", "tr": "row", "th": "columnheader"}
"""Of elements that are no longer laid out as a table, and so might not be read out as one."""


def stacked(page: str) -> str:
    """Prepare all tables of a page for narrow screens; what a template says itself stays."""
    return TABLE.sub(lambda found: _table(found[0]), page)


def _table(table: str) -> str:
    if "stack" in table[: table.index(">")]:
        return table
    head, body = table.replace('class="plain', 'class="plain stack', 1).split("<tbody>", 1)
    labels = [" ".join(TAG.sub(" ", text).split()) for text in HEAD.findall(head)]
    for tag, role in ROLES.items():
        head = re.sub(rf"<{tag}\b", f'<{tag} role="{role}"', head)
    return f'{head}<tbody role="rowgroup">' + ROW.sub(lambda found: _row(found[0], labels), body)


def _row(row: str, labels: list[str]) -> str:
    left = iter(labels)

    def marked(found: re.Match[str]) -> str:
        label = next(left)
        told = 'role="rowheader"' if found[1] == "th" else f'role="cell" data-label="{label}"'
        return f"<{found[1]} {told}{found[2]}>"

    return CELL.sub(marked, row).replace("<tr", '<tr role="row"', 1)
