"""The command ``reticent``: one file a verb, loaded when it is called."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, get_args

import cyclopts

from reticent import user_files
from reticent.version import VERSION

VERBS = {
    "audit": "Train models, attack every one of them, report what they leak.",
    "plan": "Estimate time, memory, disk and the smallest false-positive rate of an audit.",
    "attack": "Audit outputs of models that were trained elsewhere.",
    "compare": "Compare recipes: accuracy against leak, with paired tests.",
    "search": "Choose a defense's options on models that no audit reports.",
    "defenses": "List the defenses, or tell all of one.",
    "data": "List, show, check and fetch data sets.",
    "selftest": "Check that this installation gives right numbers.",
    "gate": "Hold an audit against limits: exit 0 pass, 1 fail, 2 cannot judge.",
    "locate": "Find where a leak is: in which weights, at which depth, in which records.",
    "harden": "Repair a model that was trained elsewhere, and audit it before and after.",
    "study": "Repeat a paper's table or figure, and judge its claims.",
    "schema": "Write the JSON Schema of a document.",
    "runs": "List, show, check and remove what is in the store.",
}
GROUPS = ("data", "locate", "runs")
"""Verbs that have verbs of their own."""


def converted(kind: Any, tokens: Sequence[cyclopts.Token]) -> Any:
    """Convert the words of one flag as cyclopts does, but without rounding, and with ~ as the home folder."""
    kinds = {*get_args(kind), kind}  # A flag of a group of flags comes as "int | None".
    words = [token.value for token in tokens]
    if str in kinds and kinds & {int, float}:  # A number or a word; the spec says which words there are.
        try:
            return float(words[-1]) if float in kinds else _whole(words[-1])
        except ValueError:
            return words[-1]
    if int in kinds:
        for word in words:
            try:
                _whole(word)
            except ValueError:
                raise ValueError(f"expected a whole number, got {word or 'nothing'}") from None
    value = cyclopts.convert(kind, tokens)
    return user_files.path(value) if isinstance(value, Path) else value


def _whole(word: str) -> int:
    """Read a whole number as cyclopts does."""
    return int(word, 0 if word.lower().lstrip("+-")[:2] in {"0x", "0o", "0b"} else 10)


app = cyclopts.App(
    name="reticent",
    help="Audit what a neural network leaks about the records it was trained on.",
    version=VERSION,
    version_flags=["--version"],
    suppress_keyboard_interrupt=False,
    group_parameters=cyclopts.Group("Parameters", sort_key=0),
    # Words are what they are: a file may be called "[x].npz", and 2.5 is no whole number.
    default_parameter=cyclopts.Parameter(converter=converted, json_dict=False, json_list=False),
)
for verb, about in VERBS.items():
    app.command(f"reticent.cli.{verb}:{'app' if verb in GROUPS else verb}", name=verb, help=about)


def main() -> None:
    """Run the command line; what a user can get wrong is printed without a traceback, and exits with 2."""
    from reticent.cli.run import guarded

    sys.exit(guarded(app))
