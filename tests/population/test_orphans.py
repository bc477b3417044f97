"""Workers whose parent is gone before all was told of what to do: they end, and say nothing."""

import os
import subprocess
import sys
from multiprocessing import spawn

import pytest

from reticent.population.executors.processes import UNCOUNTED, silent_orphans


@pytest.mark.parametrize("alive", [True, False])
@pytest.mark.parametrize("told", [b"", b"\x80\x04\x95\xff\x00\x00\x00\x00\x00\x00\x00}"])
def test_a_worker_that_is_told_a_part_says_nothing_if_its_parent_is_gone(alive, told):
    read, write = os.pipe()
    os.write(write, told)
    os.close(write)
    with silent_orphans():
        words = spawn.get_command_line(tracker_fd=0, pipe_handle=read)
    at = words.index("-c") + 1
    words[at] = words[at].replace(f"== {os.getpid()}", f"== {os.getpid() if alive else 0}")
    ended = subprocess.run(words, pass_fds=[read], capture_output=True, text=True, check=False)
    os.close(read)
    assert ended.returncode == 1
    assert ("Traceback" in ended.stderr) is alive
    assert alive or ended.stderr == ""


def test_nothing_stays_changed():
    usual, options = spawn.get_command_line, list(sys.warnoptions)
    with silent_orphans():
        assert UNCOUNTED in sys.warnoptions
        assert spawn.get_command_line is not usual
    assert (spawn.get_command_line, sys.warnoptions) == (usual, options)
