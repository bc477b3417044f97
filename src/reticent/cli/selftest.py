"""``reticent selftest``: does this installation give right numbers?"""

from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

if TYPE_CHECKING:
    from rich.console import RenderableType

    from reticent.jobs.selftest import Check, Selftested

WRONG = 1


def selftest(
    *,
    only: Annotated[list[str] | None, Parameter(negative="")] = None,
    json: Annotated[bool, Parameter(negative="")] = False,
) -> None:
    """Check that this installation gives right numbers, in less than a minute; exit with 1 if it does not.

    A planted leak must be found by every attack, and none where there is none; formulas must equal closed forms; a
    small audit is trained. It needs no network, and no files but in a temporary folder, which is removed.

    Args:
        only: A group of checks to run; repeat it for several. By default all: metrics, limits, epsilon, margins,
            membership, memorisation, formulas, leak, null, own-references, eval-mode, optimizers and engine.
        json: Print JSON for programs instead of a table.

    Raises:
        SystemExit: with 1 if a number is wrong, with 130 if interrupted, or as a signal says.
    """
    from reticent.cli.run import interrupted
    from reticent.cli.screen import stdout

    try:
        from reticent.jobs.selftest import selftest as run

        tested = run(only or (), progress=None if json else _tell)
    except KeyboardInterrupt as error:
        raise SystemExit(interrupted(error, "nothing is left behind")) from None
    console = stdout()
    if json:
        import json as writer

        from reticent.jobs.document import versions

        text = writer.dumps(tested.to_json() | {"environment": versions().to_json()}, indent=2, allow_nan=False)
        console.out(text, highlight=False)
    else:
        console.print(_page(tested))
    if not tested.ok:
        raise SystemExit(WRONG)


def _tell(group: str) -> None:
    from reticent.cli.screen import stderr

    stderr().print(f"checking {group}", style="dim", markup=False)


def _page(tested: "Selftested") -> "RenderableType":
    """Lay out the table, what is wrong and what kind of fault does that, and the sentence."""
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="bold")
    for title in ("check", "expected", "got"):
        table.add_column(title, overflow="fold")
    table.add_column("")
    table.add_column("seconds", justify="right")
    for check in tested.checks:
        mark = Text("ok", style="green") if check.ok else Text("WRONG", style="bold red")
        texts = (Text(text) for text in (check.name, check.expected, check.got))
        table.add_row(*texts, mark, f"{check.seconds:.2f}")
    faults = [
        Text.assemble(("\n" + ", ".join(names), "bold red"), f"\n  {fault}") for fault, names in _faults(tested.wrong)
    ]
    style = "bold green" if tested.ok else "bold red"
    return Group(table, *faults, Text(f"\n{tested.sentence} ({tested.seconds:.1f} s)", style=style))


def _faults(wrong: "tuple[Check, ...]") -> list[tuple[str, list[str]]]:
    """Gather the wrong checks that one kind of fault explains."""
    found: dict[str, list[str]] = {}
    for check in wrong:
        found.setdefault(check.fault or "", []).append(check.name)
    return list(found.items())
