import torch

from reticent.outputs._draws import drawn, secret, seeds

KEY = bytes(range(32))


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


def test_seeds_are_functions_of_the_row_and_the_key_alone():
    x = torch.randn(20, 3, 4, generator=generator())
    found = seeds(x, KEY)
    assert len(set(found)) == 20
    assert all(0 <= seed < 2**63 for seed in found)
    assert seeds(x[[7, 2]], KEY) == [found[7], found[2]]
    assert seeds(x.transpose(1, 2).contiguous().transpose(1, 2), KEY) == found
    assert not set(seeds(x, KEY[::-1])) & set(found)


def test_the_least_change_of_a_query_gives_another_seed_and_minus_zero_none():
    x = torch.tensor([[0.0, 1.0]])
    assert seeds(torch.tensor([[-0.0, 1.0]]), KEY) == seeds(x, KEY)
    assert seeds(torch.nextafter(x, torch.tensor(2.0)), KEY) != seeds(x, KEY)


def test_tokens_have_seeds_too():
    first, second = seeds(torch.tensor([[1, 2, 3], [3, 2, 1]]), KEY)
    assert first != second


def test_secrets_are_32_bytes_of_the_stream():
    assert len(secret(generator())) == 32
    assert secret(generator()) == secret(generator())
    assert secret(generator()) != secret(generator(1))


def test_draws_of_equal_queries_are_equal_and_of_others_look_independent():
    x = torch.arange(4000.0).view(-1, 1)
    numbers = drawn(torch.cat([x, x]), KEY, lambda g: torch.rand((), generator=g, dtype=torch.float64))
    assert torch.equal(numbers[:4000], numbers[4000:])
    own = numbers[:4000]
    # Mean 1/2 and variance 1/12, no correlation from one query to the next; five standard errors.
    assert abs(float(own.mean()) - 0.5) < 5 * (1 / 12 / 4000) ** 0.5
    assert abs(float(own.var()) - 1 / 12) < 5 * (1 / 180 / 4000) ** 0.5
    centred = own - own.mean()
    assert abs(float((centred[1:] * centred[:-1]).mean())) < 5 * (1 / 12) / 4000**0.5
