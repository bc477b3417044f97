"""How a command runs: errors of the user without a traceback, exit codes, and an interruption that loses nothing."""

import os
import sys
from collections.abc import Sequence

import cyclopts
from rich.console import Console

from reticent.errors import ReticentError

USER_ERROR = 2
INTERRUPTED = 130


def guarded(app: cyclopts.App, tokens: Sequence[str] | None = None) -> int:
    """Run a command.

    Args:
        app: the command line.
        tokens: its words; by default those that the process was started with.

    Returns:
        The exit code: 0; 2 for what the user got wrong; 130 if interrupted.
    """
    try:
        app(tokens, exit_on_error=False, print_error=False)
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
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    return 0


def _refuse(message: str, code: int = USER_ERROR) -> int:
    console = Console(stderr=True, highlight=False, emoji=False, soft_wrap=True)
    console.print("reticent: ", style="bold red", end="")
    console.print(message, markup=False)
    return code
