"""The block that computes with one thread."""

import pytest
import torch

from reticent.training.threads import one_thread


def test_the_number_of_threads_is_one_within_and_as_before_after():
    before = torch.get_num_threads()
    try:
        torch.set_num_threads(2)
        with one_thread():
            assert torch.get_num_threads() == 1
        assert torch.get_num_threads() == 2
        with pytest.raises(KeyError), one_thread():
            raise KeyError
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)
