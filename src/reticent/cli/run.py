"""How a command runs: errors of the user without a traceback, exit codes, and an interruption that loses nothing."""

from collections.abc import Sequence

import cyclopts
from rich.console import Console

from reticent.cli.streams import steady
from reticent.errors import ReticentError

USER_ERROR = 2
INTERRUPTED = 130


def guarded(app: cyclopts.App, tokens: Sequence[str] | None = None) -> int:
    """Run a command.

    Args:
        app: the command line.
        tokens: its words; by default those that the process was started with.

    Returns:
        The exit code: 0; 2 for what the user got wrong, or where standard output cannot be written; 130 if interrupted.
        A code of the command's own, such as the gate's, stays. Who closes the pipe behind standard output changes
        nothing.
    """
    with steady() as (out, _):
        code = _run(app, tokens)
        out.flush()
        if out.failed is None:
            return 0 if code is None else code
        message = f"standard output cannot be written ({out.failed}): send it elsewhere; nothing else was left undone"
        return _refuse(message, USER_ERROR if code is None else code)


def _run(app: cyclopts.App, tokens: Sequence[str] | None) -> int | None:
    """Run a command; the exit code is None where it ends without one of its own."""
    try:
        app(tokens, exit_on_error=False, print_error=False, result_action="return_value")
    except cyclopts.UnusedCliTokensError as error:
        words = " ".join(error.unused_tokens or [])
        return _refuse(
            f"not expected: {words} (see --help; a flag that takes several is repeated: --attack lira --attack rmia)"
        )
    except cyclopts.CycloptsError as error:
        return _refuse(str(error).strip())
    except ReticentError as error:
        return _refuse(str(error))
    except KeyboardInterrupt:
        return _refuse("interrupted; finished models are kept: run the same command again to go on", INTERRUPTED)
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    return None


def _refuse(message: str, code: int = USER_ERROR) -> int:
    console = Console(stderr=True, highlight=False, emoji=False, soft_wrap=True)
    console.print("reticent: ", style="bold red", end="")
    console.print(message, markup=False)
    return code
