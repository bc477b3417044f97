"""The command ``reticent``: one file a verb, loaded when it is called."""

import sys

import cyclopts

from reticent.cli.integers import converted
from reticent.version import VERSION

app = cyclopts.App(
    name="reticent",
    help="Audit what a neural network gives away about the records it was trained on.",
    version=VERSION,
    version_flags=["--version"],
    suppress_keyboard_interrupt=False,
    # Words are what they are: a file may be called "[x].npz", and 2.5 is no whole number.
    default_parameter=cyclopts.Parameter(converter=converted, json_dict=False, json_list=False),
)
app.command(
    "reticent.cli.audit:audit", name="audit", help="Train models, attack every one of them, report what they give away."
)
app.command(
    "reticent.cli.plan:plan",
    name="plan",
    help="Estimate time, memory, disk and the smallest false-positive rate of an audit.",
)
app.command("reticent.cli.attack:attack", name="attack", help="Audit outputs of models that were trained elsewhere.")
app.command(
    "reticent.cli.compare:compare", name="compare", help="Compare recipes: accuracy against leak, with paired tests."
)
app.command(
    "reticent.cli.search:search", name="search", help="Choose a defense's options on models that no audit reports."
)
app.command("reticent.cli.defenses:defenses", name="defenses", help="List the defenses, or tell all of one.")
app.command("reticent.cli.data:app", name="data", help="List, show, check and fetch data sets.")
app.command("reticent.cli.selftest:selftest", name="selftest", help="Check that this installation gives right numbers.")
app.command(
    "reticent.cli.gate:gate", name="gate", help="Hold an audit against limits: exit 0 pass, 1 fail, 2 cannot judge."
)
app.command(
    "reticent.cli.locate:app",
    name="locate",
    help="Find where a leak is: in which weights, at which depth, in which records.",
)
app.command(
    "reticent.cli.harden:harden",
    name="harden",
    help="Repair a model that was trained elsewhere, and audit it before and after.",
)
app.command("reticent.cli.study:study", name="study", help="Repeat a paper's table or figure, and judge its claims.")
app.command("reticent.cli.schema:schema", name="schema", help="Write the JSON Schema of a document.")
app.command("reticent.cli.runs:app", name="runs", help="List, show, check and remove what is in the store.")


def main() -> None:
    """Run the command line; what a user can get wrong is printed without a traceback, and exits with 2."""
    from reticent.cli.run import guarded

    sys.exit(guarded(app))
