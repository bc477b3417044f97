import mmap
import subprocess
import sys

import numpy as np
import pytest
import torch

from reticent import resident
from reticent.training.memory import peak

CPU = torch.device("cpu")
MIB = 2**20


def hold(mib):
    """Touch so much memory, which goes back to the system when it is let go, whatever the heap has kept."""
    with mmap.mmap(-1, mib * MIB) as memory:
        np.frombuffer(memory, dtype=np.uint8)[:: mmap.PAGESIZE] = 1


pytestmark = pytest.mark.skipif(resident.top() is None, reason="only Linux tells the peak of resident memory")


def test_the_growth_of_a_piece_of_work_is_measured():
    with peak(CPU) as memory:
        hold(64)
    assert 60 * MIB < memory.bytes < 80 * MIB


def test_a_part_measured_inside_takes_nothing_from_the_whole():
    with peak(CPU) as whole:
        hold(96)
        with peak(CPU) as small:
            hold(32)
        with peak(CPU) as large:
            hold(48)
    assert 90 * MIB < whole.bytes < 112 * MIB
    assert 28 * MIB < small.bytes < 48 * MIB < large.bytes + 4 * MIB < 68 * MIB


def test_the_largest_part_counts_in_the_whole():
    with peak(CPU) as whole:
        with peak(CPU):
            hold(96)
        hold(16)
    assert 90 * MIB < whole.bytes < 112 * MIB


def test_what_the_process_that_began_this_one_holds_does_not_count():
    code = "from reticent import resident; print(resident.largest())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert 4 * MIB < int(done.stdout) < resident.now() / 2
