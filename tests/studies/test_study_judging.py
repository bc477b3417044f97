"""The rule by which a claim is reproduced, not reproduced, or open."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from reticent.errors import InputError
from reticent.findings import study as findings
from reticent.say.study import counted
from reticent.studies.base import Claim, Found, Results, Setting
from reticent.studies.document import judge
from reticent.studies.judging import Part, better, finding, no_worse, reaches
from reticent.studies.numbers import Estimate, Pooled

Z = stats.norm.ppf(0.975)


def at(low, high):
    """A number with this 95 % interval."""
    return Pooled((Estimate((low + high) / 2, (high - low) / 2 / Z),))


@pytest.mark.parametrize(
    ("low", "high", "answer"),
    [
        (0.005, 0.05, "yes"),
        (0.02, 0.05, "yes"),
        (-0.01, 0.05, "open"),
        (-0.05, 0.009, "no"),
        (0.002, 0.008, "no"),
        (-0.05, -0.02, "no"),
        (-0.05, 0.02, "open"),
        (0.001, 0.011, "open"),
        (0.001, 0.0191, "yes"),
    ],
)
def test_better_asks_for_more_than_nothing_and_refuses_what_is_too_small(low, high, answer):
    assert better("x", at(low, high), 0.01).answer() == answer
    assert better("x", at(-high, -low), 0.01, lower=True).answer() == answer


@pytest.mark.parametrize(
    ("low", "high", "answer"),
    [(-0.019, 0.03, "yes"), (-0.03, 0.03, "open"), (-0.05, -0.021, "no"), (-0.03, -0.019, "open")],
)
def test_no_worse_allows_a_small_loss(low, high, answer):
    assert no_worse("x", at(low, high), 0.02).answer() == answer
    assert no_worse("x", at(-high, -low), 0.02, lower=True).answer() == answer


@pytest.mark.parametrize(("low", "high", "answer"), [(0.71, 0.8, "yes"), (0.5, 0.69, "no"), (0.6, 0.8, "open")])
def test_reaches_asks_for_a_level(low, high, answer):
    assert reaches("x", at(low, high), 0.7).answer() == answer
    assert reaches("x", at(-high, -low), -0.7, lower=True).answer() == answer


def test_no_is_widened_for_the_number_of_parts_and_yes_is_not():
    tight = at(-0.05, 0.0099)
    assert better("x", tight, 0.01).answer(1) == "no"
    assert better("x", tight, 0.01).answer(20) == "open"
    assert better("x", at(0.0001, 0.05), 0.01).answer(20) == "yes"


@given(st.floats(-1, 1), st.floats(0, 1), st.floats(-0.5, 0.5), st.floats(0, 0.5), st.integers(1, 9), st.booleans())
def test_turning_all_signs_changes_no_answer(value, error, level, more, parts, lower):
    one = Part("x", Pooled((Estimate(value, error),)), level, level + more, lower)
    other = Part("x", Pooled((Estimate(-value, error),)), level, level + more, not lower)
    assert one.answer(parts) == other.answer(parts)
    if one.answer(parts) == "no":
        assert one.answer(1) == "no"


def test_a_number_without_an_error_decides_nothing_until_seeds_show_its_spread():
    bare = Pooled((Estimate(0.5),))
    assert reaches("x", bare, 0.1).answer() == "open"
    assert bare.finding().interval is None
    assert reaches("x", Pooled((Estimate(0.5), Estimate(0.51), Estimate(0.52))), 0.1).answer() == "yes"


UNMEASURED = better("d", None, 0.01)
YES, NO, UNKNOWN = (
    better(label, at(*ends), 0.01) for label, ends in {"a": (0.1, 0.2), "b": (-0.2, -0.1), "c": (-1, 1)}.items()
)


@pytest.mark.parametrize(
    ("parts", "wanted"),
    [
        ([YES], ("yes", None)),
        ([YES, YES], ("yes", None)),
        ([YES, UNKNOWN], ("open", "interval")),
        ([YES, NO], ("no", None)),
        ([UNKNOWN, NO], ("no", None)),
        ([], ("open", "unmeasured")),
        ([YES, UNMEASURED], ("open", "unmeasured")),
        ([UNKNOWN, UNMEASURED], ("open", "unmeasured")),
        ([UNMEASURED, replace(NO, void="unmatched")], ("open", "unmatched")),
        ([replace(YES, void="condition"), replace(NO, void="unmatched")], ("open", "condition")),
    ],
)
def test_all_parts_make_a_claim_and_one_breaks_it(parts, wanted):
    assert finding(parts) == wanted


def test_what_was_not_measured_fairly_is_open_whatever_it_says():
    for number in (at(0.1, 0.2), at(-0.2, -0.1)):
        for reason in ("unmatched", "condition"):
            part = replace(better("x", number, 0.01), void=reason)
            assert part.answer() == "open"
            assert part.finding(1).reason == reason


def test_levels_that_leave_a_gap_are_refused():
    with pytest.raises(InputError, match="neither: raise it"):
        Part("x", at(0, 1), yes_above=0.5, no_below=0.2)


def test_the_plain_form_tells_levels_in_the_numbers_own_direction():
    found = better("AUC", at(-0.05, -0.02), 0.01, lower=True, metric="difference").finding(1)
    assert (found.better, found.yes, found.no, found.answer) == ("lower", 0.0, -0.01, "yes")
    assert found.mean == pytest.approx(-0.035)
    assert better("AUC", None, 0.01).finding(2).interval is None


def test_a_true_null_is_rarely_called_reproduced_and_never_more_than_its_share():
    """Of claims whose effect is zero, at most 2.5 % are reproduced: 4,000 draws, error 0.25 %."""
    import numpy as np

    draws = np.random.default_rng(0).normal(size=4000)
    called = [finding([better("x", Pooled((Estimate(float(value), 1.0),)), 0.01)])[0] for value in draws]
    assert 0.015 < called.count("yes") / len(called) < 0.035


def planted(origin="paper", networks=(), unlike=(), **effects):
    """Judge a claim of which the effect is planted, one setting a kind of network; a setting without one lacks it."""
    settings = tuple(Setting(n, n, {}, network=n, unlike="a table" if n in unlike else "") for n in effects)
    numbers = {n: {("row", "gain"): Estimate(v, 0.01)} if v is not None else {} for n, v in effects.items()}
    results = Results(settings, {n: [Found(numbers=held)] for n, held in numbers.items()})

    def parts(given):
        return [
            better(one.key, given.get(one.key, "row", "gain"), 0.01)
            for one in given.settings
            if effects[one.key] is not None
        ]

    return judge(Claim("gain", "It gains.", "Table 1", "More.", parts, origin, networks), results)


def test_no_network_vetoes_a_claim_about_another_kind():
    failing = planted(networks=("ResNet", "ViT"), ResNet=0.5, ViT=0.5, CNN=-0.5, MLP=-0.5)
    assert (failing.verdict, failing.reason) == ("reproduced", None)
    assert [(one.network, one.found, one.counts) for one in failing.kinds] == [
        ("ResNet", "yes", True),
        ("ViT", "yes", True),
        ("CNN", "no", False),
        ("MLP", "no", False),
    ]
    assert planted(networks=("ResNet",), ResNet=-0.5, CNN=0.5).verdict == "not reproduced"


def test_kinds_that_the_claim_is_about_and_that_disagree_tell_nothing_together():
    both = planted(networks=("ResNet", "ViT"), ResNet=0.5, ViT=-0.5)
    assert (both.verdict, both.reason) == ("can't tell", "disagree")
    assert [one.found for one in both.kinds] == ["yes", "no"]
    assert planted(networks=("ResNet", "ViT"), ResNet=-0.5, ViT=-0.5).verdict == "not reproduced"


def test_a_kind_that_is_open_beside_one_that_is_not_says_why_and_is_no_disagreement():
    both = planted(networks=("ResNet", "ViT"), ResNet=0.5, ViT=0.005)
    assert [one.found for one in both.kinds] == ["yes", "open"]
    assert (both.verdict, both.reason) == ("can't tell", "interval")
    assert planted(ResNet=0.5, ViT=0.005, CNN=-0.5).reason == "disagree"


def test_without_a_network_that_the_claim_is_about_nothing_is_told():
    other = planted(networks=("ResNet",), MLP=-0.5)
    assert (other.verdict, other.reason) == ("can't tell", "network")
    assert other.kinds[0].found == "no"


def test_a_kind_that_lacks_what_the_claim_asks_for_leaves_it_to_the_others():
    assert planted(ResNet=0.5, ViT=None).verdict == "reproduced"
    nothing = planted(ResNet=None, ViT=None)
    assert (nothing.verdict, nothing.reason) == ("can't tell", "unmeasured")


def test_only_the_papers_setting_or_a_fair_stand_in_settles_what_the_paper_says():
    for effect in (0.5, -0.5):
        elsewhere = planted(unlike=("MLP",), MLP=effect)
        assert (elsewhere.verdict, elsewhere.reason) == ("can't tell", "setting")
    assert planted(unlike=("MLP",), MLP=-0.5, ResNet=0.5).verdict == "reproduced"
    assert planted("ours", unlike=("MLP",), MLP=0.5).verdict == "holds"
    assert planted("ours", unlike=("MLP",), MLP=-0.5).verdict == "does not hold"


def test_the_papers_claims_and_ours_are_counted_apart():
    made = [("paper", "reproduced"), ("paper", "not reproduced"), ("paper", "can't tell"), ("ours", "holds")]
    made += [("ours", "does not hold")] * 2
    texts = {"key": "k", "text": "T.", "source": "S", "rule": "R.", "kinds": ()}
    claims = [findings.Claim(origin=origin, verdict=told, **texts) for origin, told in made]
    assert counted(claims) == (
        "of the paper's 3 claims 1 is reproduced, 1 is not reproduced and 1 can't be told; "
        "of our 3 claims 1 holds and 2 do not hold"
    )
    assert counted(claims[3:4]) == "of our 1 claim 1 holds"
