"""Signals that end a process: raised as Ctrl-C is, and kept out of blocks that they must not cut in two."""

import contextlib
import os
import select
import signal
import threading
import time
from collections.abc import Callable, Iterator
from types import FrameType
from typing import NoReturn

ASKED = (signal.SIGTERM, signal.SIGHUP)
"""By which the system, a scheduler or a closed terminal asks a process to end; Python by itself dies of them."""

INTERRUPTED = 130
"""Exit code of a command that Ctrl-C ended."""
PATIENCE = 0.3
"""Seconds in which most commands end, so that there is nothing to tell; in them, Ctrl-C counts once."""


class Terminated(KeyboardInterrupt):
    """Somebody else than the user at the keyboard asked the process to end; it unwinds as Ctrl-C does."""

    def __init__(self, number: int) -> None:
        """Keep which signal it was."""
        super().__init__(number)
        self.signal = signal.Signals(number)


@contextlib.contextmanager
def heard() -> Iterator[None]:
    """Raise `Terminated` in the block where the process is asked to end; a signal that is ignored stays ignored.

    It leaves the block even where compiled code, as that of Ray, made another exception of it on its way.
    """
    came: list[int] = []

    def terminate(number: int, _: FrameType | None) -> NoReturn:
        came.append(number)
        raise Terminated(number)

    main = threading.current_thread() is threading.main_thread()
    taken = [one for one in ASKED if main and signal.getsignal(one) is signal.SIG_DFL]
    for one in taken:
        signal.signal(one, terminate)
    try:
        yield
    except BaseException:
        if came:
            raise Terminated(came[0]) from None
        raise
    finally:
        for one in taken:
            signal.signal(one, signal.SIG_DFL)


@contextlib.contextmanager
def answered(seen: Callable[[], None], ended: Callable[[], None]) -> Iterator[None]:
    """Call `seen` where the block does not end soon after Ctrl-C; a second one calls `ended` and ends the process.

    Python hears of a signal only when compiled code, or a block that must not be cut in two, is done; a thread that
    reads what its handler in C writes hears of it at once.
    """
    main = threading.current_thread() is threading.main_thread()
    if not main or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return
    reads, writes = os.pipe()
    os.set_blocking(writes, False)
    before = signal.set_wakeup_fd(writes, warn_on_full_buffer=False)
    listener = threading.Thread(target=_answer, args=(reads, seen, ended), daemon=True)
    listener.start()
    try:
        yield
    finally:
        signal.set_wakeup_fd(before)
        os.close(writes)
        listener.join()
        os.close(reads)


def _answer(reads: int, seen: Callable[[], None], ended: Callable[[], None]) -> None:
    told = False
    while came := os.read(reads, 64):
        if signal.SIGINT not in came:
            continue
        if told:
            ended()
            os._exit(INTERRUPTED)
        until, told = time.monotonic() + PATIENCE, True
        while select.select([reads], [], [], max(0.0, until - time.monotonic()))[0]:
            if not os.read(reads, 64):
                return
        seen()


@contextlib.contextmanager
def held_back() -> Iterator[None]:
    """Let Ctrl-C, and what else asks to end, wait until the block does.

    Processes that are started inside never hear them: whole groups of processes are sent these, and it is the parent
    that tells of it, once, and ends the others. For them signals are blocked; here that is not enough, since any thread
    may be given one, so they are noted too.
    """
    came: list[tuple[int, FrameType | None]] = []
    main = threading.current_thread() is threading.main_thread()
    before = {one: signal.getsignal(one) for one in (signal.SIGINT, *ASKED) if main}
    before = {one: does for one, does in before.items() if does not in (signal.SIG_IGN, None)}
    for one in before:
        signal.signal(one, lambda number, frame: came.append((number, frame)))
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, *ASKED})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        for one, does in before.items():
            signal.signal(one, does)
        for number, frame in came[:1]:
            does = signal.getsignal(number)
            if callable(does):
                does(number, frame)
            else:
                os.kill(os.getpid(), number)
