"""Outputs whose members differ by themselves, with and without a leak: what is said, and how the gate judges."""

import numpy as np
import pytest

import reticent
from reticent.auditing.blind.baseline import baseline
from reticent.auditing.blind.features import of_records
from reticent.data.membership import Membership
from reticent.data.records import Records
from reticent.errors import InputError
from reticent.findings.audit import Leak, Reason
from reticent.findings.blind import Known, Unlooked
from reticent.jobs.attack import run
from reticent.jobs.signals_file import read_signals
from reticent.options import AttackConfig

N = 1_000


def outputs(shift, leak, n=N):
    """One audited model: a margin follows the first feature, which is `shift` higher for members, and what leaks.

    Its references were trained on random halves.
    """
    rng = np.random.default_rng(0)
    members = rng.permutation(np.arange(n) < n // 2)
    x = rng.normal(size=(n, 4)).astype(np.float32)
    x[members, 0] += shift
    halves = Membership.draw(8, n, 0).matrix
    membership = np.concatenate([members[None], halves])
    margins = 1 + x[:, 0] + leak * membership + 0.5 * rng.normal(size=(9, n))
    return {
        "margins": margins,
        "labels": rng.integers(0, 3, n),
        "membership": membership,
        "targets": [0],
        "records": x,
    }


def audited(shift, leak, attacks=("loss", "confidence"), **changes):
    arrays = outputs(shift, leak) | changes
    return reticent.attack(**arrays, attacks=attacks, replicates=200)


@pytest.fixture(scope="module")
def shifted():
    return audited(1, 0)


@pytest.fixture(scope="module")
def both():
    return audited(1, 1.5, ("loss", "lira"))


def test_a_shift_alone_is_never_called_a_leak(shifted):
    found = shifted.findings
    assert found.blind.shift
    assert found.verdict.auc > 0.65  # what today's verdict would have called a leak
    assert (found.verdict.leak, found.verdict.reason) == (Leak.CANNOT_TELL, Reason.SHIFT)
    assert found.verdict.excess.auc.interval[0] < 0
    assert found.verdict.sentence.startswith("Members and non-members differ by themselves")
    assert "no leak is shown" in found.verdict.detail
    assert "one source, drawn at random" in found.verdict.detail or found.verdict.cannot_say
    assert (found.epsilon, found.groups) == (None, ())
    assert all(audit.epsilon is None for audit in found.attacks)
    assert any(line.startswith("Epsilon and groups of records") for line in found.verdict.cannot_say)


def test_a_leak_beside_a_shift_is_what_goes_beyond_it(both):
    found = both.findings
    assert (found.verdict.leak, found.verdict.reason) == (Leak.FOUND, Reason.MORE_THAN_SHIFT)
    assert found.verdict.excess == next(one for one in found.attacks if one.name == found.verdict.attack).excess
    assert found.verdict.excess.auc.difference == pytest.approx(found.verdict.auc - found.blind.auc, abs=1e-9)
    assert "gives away more than the records do" in found.verdict.detail


def test_what_only_thresholds_find_beyond_a_shift_is_no_leak_that_is_shown():
    """A margin that never saw a record sums a shift over 100 features better than a classifier learns it."""
    rng = np.random.default_rng(0)
    given = outputs(0, 0, 400)
    x = rng.normal(size=(400, 100)) + 0.1 * given["membership"][0][:, None]
    given |= {"records": x.astype(np.float32), "margins": x.sum(axis=1) / 5 + 0.5 * rng.normal(size=(9, 400))}
    thin = reticent.attack(**given, attacks=["loss"], replicates=200)
    found = thin.findings
    assert (found.verdict.leak, found.verdict.reason) == (Leak.CANNOT_TELL, Reason.UNCOMPARED)
    assert found.verdict.excess.auc.interval[0] > 0
    assert "not shown to be a leak" in found.verdict.detail
    (check,) = reticent.gate(thin, max_auc=0.51).checks
    assert (check.outcome.value, check.reason.value) == ("cannot judge", "records-differ")
    compared = reticent.attack(**given, attacks=["loss", "lira", "rmia"], replicates=200).findings
    assert all(one.excess.counts == (one.auc.interval[0] < 0.5) for one in compared.attacks)
    offline = {"rmia": {"mode": "offline", "a": 0.3}}
    (loosely,) = reticent.attack(**given, attacks=["rmia"], options=offline, replicates=200).findings.attacks
    assert loosely.auc.mean > 0.55
    assert not loosely.excess.counts


@pytest.mark.parametrize(("members", "looked"), [(19, False), (20, True), (21, True)])
def test_where_there_are_too_few_records_the_report_says_so(members, looked):
    given = outputs(0, 0, 60)
    given["membership"][0] = np.arange(60) < members
    found = reticent.attack(**given, attacks=["loss", "confidence"], replicates=200).findings
    told = [line for line in found.verdict.cannot_say if line.startswith("Whether members and non-members differ")]
    assert (found.blind is not None, found.not_blind) == (looked, None if looked else Unlooked.FEW_RECORDS)
    assert ("too few different members or non-members" in " ".join(told)) == (not looked)
    assert len(told) == 1


def test_without_a_shift_all_is_as_before():
    found = audited(0, 1.5).findings
    assert not found.blind.shift
    assert (found.verdict.leak, found.verdict.reason) == (Leak.FOUND, Reason.MORE_THAN_CHANCE)
    assert found.verdict.excess is None
    assert found.epsilon is not None
    assert found.blind.by is Known.RECORDS
    assert found.blind.sentence.startswith("Without the model, members and non-members are not told apart")
    assert any(
        line.startswith("Whether members and non-members come from one source") for line in found.verdict.cannot_say
    )


def test_labels_alone_are_looked_at_where_there_are_no_records():
    found = audited(1, 0, records=None).findings
    assert found.blind.by is Known.LABELS
    assert not found.blind.shift
    assert any(
        line.startswith("Whether members and non-members differ in what they are") for line in found.verdict.cannot_say
    )


def test_the_gate_judges_what_goes_beyond_the_shift(shifted, both):
    limits = {"max_auc": 0.6, "max_tpr": {0.01: 0.25}, "max_epsilon": 1, "max_group_auc": 0.6}
    result = reticent.gate(shifted, **limits)
    assert [check.outcome.value for check in result.checks] == ["cannot judge"] * 4
    assert {check.reason.value for check in result.checks} == {"records-differ"}
    assert result.exit_code == 2
    result = reticent.gate(both, **limits)
    assert [check.outcome.value for check in result.checks[:2]] == ["failed", "failed"]
    assert "above the limit: lira beyond what is found without the model has" in result.checks[0].message
    allowed = ["weak-attacks", "did-not-learn"]
    assert not reticent.gate(shifted, max_auc=0.6, allow=allowed).passed
    assert reticent.gate(shifted, max_auc=0.6, allow=["records-differ", *allowed]).passed


def test_records_come_as_arrays_as_a_data_set_and_in_the_file(tmp_path):
    arrays = outputs(1, 0, 200)
    x, labels = arrays.pop("records"), arrays["labels"]
    first = reticent.attack(**arrays, records=x, attacks=["loss"], replicates=100).findings.blind
    named = Records.make(x, labels)
    assert reticent.attack(**arrays, records=named, attacks=["loss"], replicates=100).findings.blind == first
    np.savez(tmp_path / "in.npz", x=x, y=labels)
    path = tmp_path / "in.npz"
    assert reticent.attack(**arrays, records=path, attacks=["loss"], replicates=100).findings.blind == first
    np.savez(tmp_path / "signals.npz", records=x, **arrays)
    read = read_signals(tmp_path / "signals.npz")
    assert run(read, AttackConfig(attacks="loss", replicates=100)).findings.blind == first


def test_other_records_are_refused():
    arrays = outputs(0, 0)
    x, labels = arrays.pop("records"), arrays["labels"]
    with pytest.raises(InputError, match="records: expected one for each of the 1,000 labels of the outputs"):
        reticent.attack(**arrays, records=Records.make(x[:-1], labels[:-1]))
    other = labels.max() - labels  # By other names.
    other[[7, 9]] = other[[9, 7]]
    words = (
        r"records: their classes are not those of the outputs' labels in 2 of 1,000 rows, the first is row 7 \(from 0\)"
    )
    with pytest.raises(InputError, match=words):
        reticent.attack(**arrays, records=Records.make(x, other))


@pytest.mark.slow
def test_a_membership_that_reticent_drew_is_no_shift():
    """The null control of the baseline, once: real records, halves drawn by the package."""
    records = reticent.load("digits")
    members = Membership.draw(4, len(records), 0).matrix
    features = of_records(records.kind, records.x)
    found = baseline(members, records.y, features.__getitem__, records.groups, seed=0).found
    assert found.by is Known.RECORDS
    assert not found.shift
    assert found.auc == pytest.approx(0.5, abs=0.03)


def test_of_few_records_what_goes_beyond_a_shift_is_told_though_folds_of_redraws_have_no_non_member():
    rng = np.random.default_rng(0)
    members = rng.permutation(np.arange(44) < 22)
    labels = np.where(rng.random(44) < 0.9, members, ~members).astype(int)
    found = reticent.attack(margins=rng.normal(size=(1, 44)), labels=labels, membership=members[None], replicates=200)
    assert found.findings.blind.shift
    assert all(np.isfinite(one.excess.auc.interval).all() for one in found.findings.attacks)
