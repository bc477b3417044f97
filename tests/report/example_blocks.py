"""A document with a block of every kind, and with text from outside that would break a page."""

from reticent.report.blocks import (
    Banner,
    Bar,
    Bars,
    Bullets,
    Card,
    Cards,
    Cell,
    Code,
    Column,
    Dot,
    Facts,
    Figure,
    Figures,
    Folded,
    Footnote,
    Gallery,
    Heading,
    Link,
    Name,
    Notice,
    Picture,
    Prose,
    Report,
    Span,
    Strong,
    Table,
    Terms,
)

EVIL = "<script>alert(1)</script> & |*_`\u202e\x1b[31m"
PIXEL = (
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR42mNgAAAAAgAB4iG8MwAAAABJRU5ErkJggg=="
)
TIED = Footnote("Equal scores decide this.")
FEW = Footnote("Few records.")


def drawn():
    return '<svg class="chart" viewBox="0 0 360 200" role="img" aria-label="a line"><path d="M0 0L360 200"/></svg>'


def table(rows=30, **options):
    """A line a group, with names, classes, numbers with and without an interval, and two footnotes."""
    lines = [
        (
            Cell((Dot("control"), Name(f"a_group:of=very,long+names_and_of_more_{i}"))),
            Cell(f"class {i % 12}"),
            Cell(f"0.{500 + i}", 0.5 + i / 1000, (Span(f"0.{400 + i}", f"0.{600 + i}"), "alone: 0.1")),
            Cell(("12.5\xa0%", TIED, FEW) if i == 3 else "–", 0.125 if i == 3 else None, tone="quiet"),
            Cell("more" if i % 2 else "", tone="bad"),
        )
        for i in range(rows)
    ]
    heads = (
        Column("Group", numbers=False),
        Column("Class", numbers=False),
        Column("AUC", "chance 0.5"),
        Column("Found at 1\xa0% false alarms"),
        Column("Differs", numbers=False),
    )
    told = {
        "key": "groups",
        "sortable": True,
        "sorted": 2,
        "find": "name",
        "choices": (1,),
        "least": 2,
        "strong": 0,
    } | options
    return Table("Groups", heads, tuple(lines), **told)


def wide(rows=150):
    """A table that does not stack."""
    heads = (Column("Record"), Column("Class", numbers=False), *(Column(f"Measure {i}") for i in range(10)))
    lines = ((Cell(str(i)), Cell("a"), *(Cell(f"{i}.{j}") for j in range(10))) for i in range(rows))
    return Table("Records", heads, tuple(lines), key="records", sortable=True, stacks=False, total=4000)


def document(rows=30):
    inside = (
        Prose(("See ", Link("the limits.", "limits")), "note"),
        Cards((
            Bars("Of 1,000", (Bar((Strong("361"), " are found"), 0.7, interval=(0.6, 0.8)), Bar("others", 0.1))),
            Card("AUC", ("0.714", TIED), "chance 0.5"),
            Card("Attack", Name(EVIL, 30), "the only one"),
        )),
        Folded("In words", (Bullets(("one", "two")),)),
    )
    return Report(
        f"All blocks {EVIL}",
        "every block",
        (
            Banner(("Audit of ", Strong(Name(EVIL))), EVIL, "bad", "Leak found", inside, menu="Verdict"),
            Heading("Evidence", "evidence", "Evidence", 2),
            Prose(EVIL),
            table(rows),
            Bullets((("a ", Strong("bold"), " thing"), EVIL), "note"),
            Figures((Figure(drawn, EVIL, "one.png"), Figure(drawn))),
            Figures((Figure(drawn),), "wide", beside=(Prose("beside"),)),
            Heading("Epsilon"),
            Notice((Strong("Not kept."), " At all."), "bad"),
            Notice("Passed.", "good"),
            Bars("", (Bar("at least 1.2", 0.3, style="ruled-out"), Bar("at most 4.0", 1.0, 0.3, style="promised"))),
            Heading("Records", "records-part", "Records", 2),
            Gallery((Picture(PIXEL, EVIL, EVIL, ("exposure 3", "record 1")),)),
            wide(),
            Heading("Method", "method", "Method", 2),
            Facts((("Data", (("name", EVIL), ("recipe", (("objective", "relaxloss"), ("level", "0.2"))))),)),
            Heading("Limits", "limits", "Limits", 2),
            Terms((("Member", "A record."), ("AUC", ("The chance. ", Code("auc"))))),
        ),
        ("Numbers: ", Code("audit.json"), "."),
        "0.1",
        "Everything",
    )
