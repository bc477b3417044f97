"""``reticent selftest``: does this installation give right numbers?"""

from typing import TYPE_CHECKING

from reticent.cli.flags import Several, Switch

if TYPE_CHECKING:
    from rich.console import RenderableType

    from reticent.jobs.selftest import Selftested


def selftest(*, only: Several = None, json: Switch = False) -> None:
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
    from reticent.cli.screen import say, stdout

    try:
        from reticent.jobs.selftest import selftest as run

        tell = None if json else lambda group: say(f"checking {group}", style="dim", error=True)
        tested = run(only or (), progress=tell)
    except KeyboardInterrupt as error:
        raise SystemExit(interrupted(error, "nothing is left behind")) from None
    if json:
        import json as writer

        from reticent.jobs.document import versions

        text = writer.dumps(tested.to_json() | {"environment": versions().to_json()}, indent=2, allow_nan=False)
        stdout().out(text, highlight=False)
    else:
        stdout().print(_page(tested))
    if not tested.ok:
        raise SystemExit(1)


def _page(tested: "Selftested") -> "RenderableType":
    """Lay out the table, what is wrong and what kind of fault does that, and the sentence."""
    from rich.console import Group
    from rich.text import Text

    from reticent.cli.screen import table

    rows = []
    faults: dict[str, list[str]] = {}
    for check in tested.checks:
        mark = Text("ok", style="green") if check.ok else Text("WRONG", style="bold red")
        rows.append((check.name, check.expected, check.got, mark, f"{check.seconds:.2f}"))
        if not check.ok:
            faults.setdefault(check.fault or "", []).append(check.name)
    told = [Text.assemble(("\n" + ", ".join(names), "bold red"), f"\n  {fault}") for fault, names in faults.items()]
    sentence = Text(f"\n{tested.sentence} ({tested.seconds:.1f} s)", style="bold green" if tested.ok else "bold red")
    checks = table(("check", "expected", "got", "", "seconds"), rows, right=("seconds",))
    return Group(checks, *told, sentence)
