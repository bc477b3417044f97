"""How a command runs: errors of the user without a traceback, exit codes, and an interruption that loses nothing."""

import os
import re
import sys
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import cyclopts

from reticent.cli.screen import stderr, working
from reticent.cli.streams import steady
from reticent.errors import ReticentError
from reticent.interrupts import INTERRUPTED, Terminated, answered, heard

USER_ERROR = 2
MODELS = "finished models are kept: run the same command again to go on"
KEPT = {
    **dict.fromkeys(("audit", "compare", "search", "harden", "locate", "plan --curve"), MODELS),
    "study": "finished models, and what was measured of whole settings, are kept: run the same command again to go on",
    "data fetch": "what was downloaded is kept: run the same command again to go on",
    "runs rm": "runs that were removed are gone, and the others are whole",
    "selftest": "nothing is left behind",
}
"""What is there after an interruption, by how the command begins."""
NOTHING = "nothing is kept of it: the same command begins anew"
STOPPING = (
    "stopping: Ctrl-C was seen, and what must not be cut in two is being finished; press it again to end at once, "
    "which loses nothing that is finished"
)
HELP = {"--help", "-h"}
EVERY = "--help-all"
"""Asks for the help of a verb with every flag in full."""
SIZES = ("COLUMNS", "LINES")
"""In which the environment may say how large the terminal is."""


def guarded(app: cyclopts.App, tokens: Sequence[str] | None = None) -> int:
    """Run a command."""
    _forget_sizes()
    with steady() as (out, _):
        code, made = _run(app, tokens)
        out.flush()
        if out.failed is None:
            return code
        lost = f"standard output cannot be written ({out.failed})"
        if made:
            return refuse(f"{lost}; what the command does is done: {', '.join(map(str, made))}", code)
        return refuse(f"{lost}: send it elsewhere", code or USER_ERROR)


def _forget_sizes() -> None:
    """Leave out of the environment a size of the terminal that is none, as 0, by which nothing would be shown."""
    for name in SIZES:
        if not re.fullmatch("[1-9][0-9]{0,3}", os.environ.get(name, "1")):
            del os.environ[name]


def _run(app: cyclopts.App, tokens: Sequence[str] | None) -> tuple[int, Sequence[object]]:
    """Run a command; beside its exit code stands what it returns: the files it wrote, or the runs it removed."""
    words = sys.argv[1:] if tokens is None else tokens
    try:
        with heard(), answered(_stopping, _stopped), _helped(app, words) as asked:
            made = app(asked, exit_on_error=False, print_error=False, result_action="return_value")
    except cyclopts.UnusedCliTokensError as error:
        return refuse(_unexpected(error.unused_tokens or [])), ()
    except cyclopts.CycloptsError as error:
        return refuse(str(error).strip()), ()
    except ReticentError as error:
        return refuse(str(error)), ()
    except KeyboardInterrupt as error:
        return interrupted(error, words), ()
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None), ()
    except Exception:  # noqa: BLE001 - by itself, Python would exit with 1, which is an answer of the gate's.
        traceback.print_exc()
        return refuse("a fault of reticent, and not of yours: please report what is above"), ()
    return 0, made or ()


def _unexpected(words: Sequence[str]) -> str:
    """Say what to write in place of words that no flag stands before."""
    from reticent.data.datasets import DATASETS

    if len(words) == 1 and (words[0] in DATASETS or Path(words[0]).exists()):
        return f"not expected: {words[0]}: a data set is given as --dataset {words[0]}"
    return (
        f"not expected: {' '.join(words)} (see --help; a flag that takes several is repeated: --attack lira --attack "
        "rmia)"
    )


@contextmanager
def _helped(app: cyclopts.App, words: Sequence[str]) -> Iterator[Sequence[str]]:
    """Prepare the help that words ask for; give the words as cyclopts knows them."""
    asked = ["--help" if word == EVERY else word for word in words]
    if not HELP & set(asked):
        yield asked
        return
    line = [*app.name]
    for word in asked:
        if word.startswith("-") or word not in set(app):
            break
        app = app[word]
        line.append(word)
    if len(line) == 1 or app.default_command is None:
        yield asked
        return
    from reticent.cli.help import telling

    with telling(app, " ".join(line), every=EVERY in words):
        yield asked


def _stopping() -> None:
    working().print(STOPPING, markup=False, soft_wrap=True)


def _stopped() -> None:
    console = working()
    console.show_cursor()
    console.print("reticent: ended at once", markup=False)


def interrupted(error: KeyboardInterrupt, words: Sequence[str]) -> int:
    """Tell that the command was ended from outside, and what it keeps."""
    told = "plan --curve" if words[:1] == ["plan"] and "--curve" in words else " ".join(words[:2])
    rest = next((kept for verb, kept in KEPT.items() if told == verb or told.startswith(f"{verb} ")), NOTHING)
    if isinstance(error, Terminated):
        return refuse(f"ended by {error.signal.name}; {rest}", 128 + error.signal)
    return refuse(f"interrupted; {rest}", INTERRUPTED)


def refuse(message: str, code: int = USER_ERROR) -> int:
    """Print a message of the command's own on standard error."""
    console = stderr()
    console.print("reticent: ", style="bold red", end="")
    console.print(message, markup=False, soft_wrap=True)
    return code
