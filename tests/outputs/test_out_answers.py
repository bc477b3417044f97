"""Temperature, top-k and rounding: functions of the logits alone."""

import numpy as np
import pytest
import torch
from output_contexts import context

from reticent.errors import SpecError
from reticent.outputs import rounding, temperature, top_k
from reticent.outputs.rounding import Rounding
from reticent.outputs.temperature import Temperature
from reticent.outputs.top_k import TopK
from reticent.signals.matrix import margin

KNOWN = {c: context(np.zeros((2 * c, 3), dtype=np.float32), classes=c) for c in (2, 3, 5, 10)}


def answers(module, spec, logits):
    given = torch.as_tensor(logits, dtype=torch.float64)
    return module.build(spec, KNOWN[given.shape[1]])(given, torch.zeros(len(given), 3))


def some(classes, n=200, seed=0):
    return 3 * torch.randn(n, classes, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def test_temperature_divides_and_one_is_the_identity():
    logits = some(10)
    assert torch.equal(answers(temperature, Temperature(temperature=4.0), logits), logits / 4)
    assert torch.equal(answers(temperature, Temperature(temperature=1.0), logits), logits)


@pytest.mark.parametrize("factor", [1e-300, 1e-30, 1e30, 1e300])
def test_no_temperature_is_too_extreme(factor):
    logits = some(5)
    # Below 0.01 the spec refuses; the division itself must not break.
    made = answers(temperature, Temperature.model_construct(temperature=factor), logits)
    assert bool((made.abs() <= 1e37).all())
    assert torch.equal(made.float().argmax(dim=1), logits.argmax(dim=1))
    top = made.float().sort(dim=1).values
    assert bool((top[:, -1] > top[:, -2]).all())


@pytest.mark.parametrize("factor", [1e-300, 0.0099, 0.0, -1.0])
def test_a_temperature_that_underflows_is_refused(factor):
    with pytest.raises(SpecError, match=r"temperature: expected greater than or equal to 0\.01, got "):
        Temperature(temperature=factor)
    assert Temperature(temperature=0.01).temperature == 0.01


def test_the_k_largest_probabilities_are_told_and_the_rest_is_even():
    probabilities = [[0.4, 0.05, 0.3, 0.2, 0.05], [0.1, 0.15, 0.5, 0.2, 0.05]]
    told = answers(top_k, TopK(k=2), np.log(probabilities)).exp()
    expected = [[0.4, 0.1, 0.3, 0.1, 0.1], [0.1, 0.1, 0.5, 0.2, 0.1]]
    assert torch.allclose(told, torch.tensor(expected, dtype=torch.float64), rtol=0, atol=1e-15)
    one = answers(top_k, TopK(k=1), np.log(probabilities)).exp()
    assert torch.allclose(one[0], torch.tensor([0.4, 0.15, 0.15, 0.15, 0.15], dtype=torch.float64), atol=1e-15)


@pytest.mark.parametrize("k", [1, 2, 3, 9, 10, 50])
def test_what_is_told_sums_to_one_and_is_known_from_k_numbers(k):
    logits = some(10)
    told = answers(top_k, TopK(k=k), logits)
    assert torch.allclose(told.exp().sum(dim=1), torch.ones(200, dtype=torch.float64), rtol=0, atol=1e-12)
    distinct = [len(set(row.tolist())) for row in told]
    assert max(distinct) == min(k + 1, 10)
    if k >= 9:
        assert torch.allclose(told, logits.log_softmax(dim=1), rtol=0, atol=1e-12)


def test_answers_with_the_same_k_numbers_are_the_same():
    first = np.log([[0.5, 0.3, 0.1, 0.07, 0.03]])
    second = np.log([[0.5, 0.3, 0.02, 0.08, 0.1]])
    assert torch.allclose(answers(top_k, TopK(k=2), first), answers(top_k, TopK(k=2), second), rtol=0, atol=1e-14)


def test_the_rest_of_a_saturated_answer_is_finite():
    told = answers(top_k, TopK(k=1), [[1e37, 0.0, -1e37], [900.0, 0.0, 1.0]])
    assert bool((told.abs() <= 1e37).all())
    assert told[1, 0] == 0
    assert torch.allclose(told[1, 1:], torch.full((2,), -900 + np.log((1 + np.e) / 2), dtype=torch.float64))


def test_probabilities_are_rounded_and_none_is_zero():
    probabilities = [[0.62, 0.341, 0.039], [0.549, 0.4509, 0.0001]]
    one = answers(rounding, Rounding(digits=1), np.log(probabilities)).exp()
    assert torch.allclose(one, torch.tensor([[0.6, 0.3, 0.05], [0.5, 0.5, 0.05]], dtype=torch.float64), atol=1e-6)
    two = answers(rounding, Rounding(digits=2), np.log(probabilities)).exp()
    assert torch.allclose(two, torch.tensor([[0.62, 0.34, 0.04], [0.55, 0.45, 0.005]], dtype=torch.float64), atol=1e-14)


def test_a_lead_that_is_rounded_away_is_kept_by_the_least_step_alone():
    made = answers(rounding, Rounding(digits=1), np.log([[0.52, 0.48], [0.48, 0.52]]))
    margins = made[:, 0] - made[:, 1]
    assert 0 < float(margins[0]) < 2.4e-7
    assert float(margins[1]) == -float(margins[0])


@pytest.mark.parametrize("digits", [1, 2, 3, 6])
def test_an_answer_of_d_digits_is_within_half_a_unit(digits):
    logits = some(10)
    told = answers(rounding, Rounding(digits=digits), logits).exp()
    assert float((told - logits.softmax(dim=1)).abs().max()) <= 0.5 * 10**-digits * (1 + 1e-6)
    assert float(told.min()) >= 0.5 * 10**-digits * (1 - 1e-6)
    assert len(told.round(decimals=digits + 1).unique()) <= 10**digits + 1


def test_many_digits_tell_all():
    logits = some(3)
    made = answers(rounding, Rounding(digits=15), logits)
    assert torch.allclose(made.softmax(dim=1), logits.softmax(dim=1), rtol=0, atol=1e-14)


@pytest.mark.parametrize("k", [1, 3])
def test_the_margin_of_a_label_that_is_told_stays(k):
    logits = some(10)
    told = answers(top_k, TopK(k=k), logits).numpy()
    labels = np.argsort(-logits.numpy(), axis=1)[:, k - 1]
    assert np.allclose(margin(told, labels), margin(logits.numpy(), labels), rtol=0, atol=1e-11)
