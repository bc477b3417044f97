"""What every line of the table of attacks must keep."""

import json
import subprocess
import sys
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from attack_cases import NAMES, SPECS, auc, problem

from reticent.attacks import ATTACKS, Problem, parse, score, unreferenced
from reticent.attacks.softmax import log_sum
from reticent.data.membership import Membership
from reticent.errors import InputError, NonFiniteError, ShapeError, SpecError, UnknownNameError
from reticent.signals import matrix
from reticent.signals.matrix import Rows, Signals
from reticent.spec import Spec, identity, text

every = pytest.mark.parametrize("spec", SPECS, ids=NAMES)
QUERIES = 2
TARGETS = (0, 2, 7, 8)
"""Some share a fit and some do not."""


def made():
    """Make a problem with an odd number of models, so that a member and another have different numbers of them."""
    return problem(1, models=13, queries=QUERIES, targets=TARGETS)


case = cache(made)
"""The problem of all tests that ask what changes no bit."""


def arrays(given):
    """Copy what a problem holds."""
    told = [given.signals.margins, given.signals.logits, given.signals.labels, given.membership.matrix, given.replicas]
    told += [given.targets, given.references, given.population.margins, given.population.logits]
    told += [*given.probed.values(), *(one.margins for one in given.imitators.values()), given.inputs.audited]
    return [one.tobytes() for one in told]


@cache
def whole(spec):
    """Score that problem."""
    return score(spec, case())


def rows(spec, *targets):
    """Take the scores of some targets."""
    return whole(spec)[[TARGETS.index(target) for target in targets]]


def flipped(case, target):
    known = case.membership.matrix.copy()
    known[target] = ~known[target]
    return replace(case, membership=Membership(known))


def leaves_target_out(attack, case, target):
    """Is a target's score the same whatever the attack is told of its membership?"""
    alone = replace(case, targets=np.array([target]))
    return attack(alone).tobytes() == attack(flipped(alone, target)).tobytes()


def test_entries_are_whole():
    for name, entry in ATTACKS.items():
        assert entry.spec.method == name
        assert entry.summary.endswith(".")
        assert "(20" in entry.paper
        assert entry.access in {"labels", "probabilities", "logits", "margins"}
        for field, facts in entry.spec.model_fields.items():
            assert facts.description, f"{name}.{field} has no description"


@every
def test_scores_are_finite_float64_by_target_and_record(spec):
    first = whole(spec)
    assert first.shape == (len(TARGETS), 60)
    assert first.dtype == np.float64
    assert np.isfinite(first).all()
    assert first[0].tobytes() != first[1].tobytes()


@every
def test_scores_repeat_and_inputs_stay_as_they_are(spec):
    given = made()
    before = arrays(given)
    assert score(spec, given).tobytes() == whole(spec).tobytes()
    assert arrays(given) == before


@every
def test_specs_come_back_from_their_canonical_text(spec):
    assert parse(json.loads(text(spec))) == spec
    assert identity(parse(json.loads(text(spec)))) == identity(spec)


@every
def test_higher_means_member_and_swapping_the_two_turns_the_auc_around(spec):
    spec = spec.replace(steps=60) if ATTACKS[spec.method].fitted else spec
    targets = [0, 8, 10]
    case = problem(4, records=400, models=16, effect=3.0, targets=targets)
    scores, truth = score(spec, case), case.membership.matrix[targets]
    areas = np.array([auc(row, members) for row, members in zip(scores, truth, strict=True)])
    swapped = np.array([auc(row, ~members) for row, members in zip(scores, truth, strict=True)])
    assert areas.min() > 0.55
    np.testing.assert_allclose(swapped, 1 - areas, atol=1e-12)


@every
def test_permuting_records_permutes_scores(spec):
    # Apart from their targets the references are equally many for all records, so that none is drawn and dropped; but
    # not apart from the references that choose `a`.
    spec = spec.replace(a=0.3) if spec.method == "rmia" else spec
    known = np.vstack([problem(4).membership.matrix[:3], Membership.draw(12, 60, 5).matrix])
    case = problem(5, queries=QUERIES, membership=known, targets=range(3), references=range(3, 15))
    order = np.random.default_rng(0).permutation(60)
    kept = case.signals
    shuffled = Signals(kept.labels[order], kept.margins[:, order], 3, kept.logits[:, order])
    members, taught = Membership(case.membership.matrix[:, order]), case.replicas[:, order]
    imitators = {target: one.among(order) for target, one in case.imitators.items()}
    told = {probe: said[:, order] for probe, said in case.probed.items()}
    moved = replace(case, signals=shuffled, membership=members, replicas=taught, imitators=imitators, probed=told)
    moved = replace(moved, inputs=replace(case.inputs, audited=case.inputs.audited[order]))
    np.testing.assert_allclose(score(spec, moved), score(spec, case)[:, order], rtol=1e-9, atol=1e-12)


@every
def test_membership_of_a_target_changes_no_bit_of_its_scores(spec):
    for target in (0, 7):
        told = score(spec, flipped(replace(case(), targets=np.array([target])), target))
        assert told.tobytes() == rows(spec, target).tobytes()


@every
def test_where_references_are_lacking_the_score_is_a_guess_that_no_bit_of_the_target_changes(spec):
    if ATTACKS[spec.method].needs(spec).replicas:
        pytest.skip("models with replicas are drawn with each record in half of them")
    known, counts = Membership.draw(13, 60, 1).matrix.copy(), (0, 1, 12, 13)
    for record, count in enumerate(counts):
        known[:, record] = np.arange(13) < count
    case = problem(1, models=13, queries=QUERIES, membership=known, targets=[0, 7])
    found, short = score(spec, case), unreferenced(spec, case)
    for row, gone in zip(found, np.zeros(case.shape, bool) if short is None else short, strict=True):
        assert not gone[len(counts) :].any()
        assert (row[gone] == np.median(row[~gone])).all()
    alone = replace(case, targets=np.array([0]))
    assert score(spec, flipped(alone, 0)).tobytes() == score(spec, alone).tobytes()


@every
def test_records_of_which_all_models_say_the_same_are_told_apart_by_nothing(spec):
    """With an odd number of models, so that members and non-members have different numbers of references."""
    needs, same = ATTACKS[spec.method].needs(spec), 90
    if needs.inputs or needs.probes or needs.replicas or needs.imitators or needs.own:
        pytest.skip("what it sees besides differs")
    case = problem(6, models=13, records=150, population=20)
    seen = case.signals
    for values in (seen.margins, seen.logits):
        values[:, :same] = values[0, 0]
    seen.labels[:same] = seen.labels[0]
    case = Problem.make(seen, case.membership, population=case.population)
    assert not np.ptp(score(spec, case)[:, :same], axis=1).any()


@every
def test_each_target_is_audited_as_if_alone(spec):
    some = replace(case(), targets=np.array([8, 2]))
    assert score(spec, some).tobytes() == rows(spec, 8, 2).tobytes()


@every
def test_targets_and_references_apart(spec):
    spec = spec.replace(a=0.3) if spec.method == "rmia" else spec  # which references choose `a` depends on the list
    apart = replace(case(), targets=np.array([7]), references=np.flatnonzero(np.arange(13) != 7))
    np.testing.assert_allclose(score(spec, apart), rows(spec, 7), rtol=1e-9, atol=1e-12)


def normalised(signals):
    return replace(signals, logits=signals.logits - log_sum(signals.logits)[..., None])


@every
def test_log_probabilities_are_attacked_as_the_logits_that_they_were_made_of(spec):
    told = replace(case(), signals=normalised(case().signals), population=normalised(case().population))
    if spec.method == "rmia" and spec.taylor:
        with pytest.raises(InputError, match=r"depends on a constant .* give the logits from before the softmax"):
            score(spec, told)
    else:
        np.testing.assert_allclose(score(spec, told), whole(spec), rtol=1e-6, atol=1e-7)


@every
def test_no_leak_gives_an_auc_of_one_half(spec):
    records = 1500
    rng = np.random.default_rng(9)
    known = np.concatenate([rng.random((1, records)) < 0.5, Membership.draw(20, records, 9).matrix])
    case = problem(9, records=records, effect=0.0, membership=known, population=200, targets=[0])
    area = auc(score(spec, case)[0], known[0])
    members = known[0].sum()
    deviation = np.sqrt((records + 1) / (12 * members * (records - members)))
    assert abs(area - 0.5) < 2.6 * deviation


@every
def test_size_of_blocks_changes_no_bit(spec, monkeypatch):
    case = problem(10, records=24, population=8, queries=QUERIES, targets=TARGETS)
    whole = score(spec, case)
    for size in (1, 30_000):
        monkeypatch.setattr(matrix, "BLOCK_BYTES", size)
        assert score(spec, case).tobytes() == whole.tobytes()


@every
def test_signals_may_lie_on_disk_as_float32(spec, tmp_path):
    given = case()
    margins, logits = (given.signals.margins.astype(np.float32), given.signals.logits.astype(np.float32))
    mapped = []
    for name, values in (("margins", margins), ("logits", logits), ("replicas", given.replicas)):
        np.save(tmp_path / f"{name}.npy", values)
        mapped.append(Rows(list(np.load(tmp_path / f"{name}.npy", mmap_mode="r"))))
    memory = replace(given, signals=Signals(given.signals.labels, margins, 3, logits))
    disk = replace(given, signals=Signals(given.signals.labels, mapped[0], 3, mapped[1]), replicas=mapped[2])
    assert score(spec, disk).tobytes() == score(spec, memory).tobytes()


REPLICAS = r"expected soft targets that every reference's own Split-AI .* use lira"
IMITATORS = r"expected models that were trained to answer like .* run reticent harden"


@every
def test_what_needs_replicas_or_imitators_says_so_and_the_others_do_not_look_at_them(spec):
    needs, bare = ATTACKS[spec.method].needs(spec), case()
    for name, needed, words in (("replicas", needs.replicas, REPLICAS), ("imitators", needs.imitators, IMITATORS)):
        if needed:
            with pytest.raises(InputError, match=words):
                score(spec, replace(case(), **{name: None}))
        else:
            bare = replace(bare, **{name: None})
    assert score(spec, bare).tobytes() == whole(spec).tobytes()


@pytest.mark.parametrize("spec", [spec for spec in SPECS if ATTACKS[spec.method].needs(spec).replicas], ids=str)
def test_replicas_of_a_target_change_no_bit_of_its_scores(spec):
    for target in (0, 7):
        other = case().replicas.copy()
        other[target] = 1 / 3
        told = score(spec, replace(case(), targets=np.array([target]), replicas=other))
        assert told.tobytes() == rows(spec, target).tobytes()


def leaking(spec, case):
    """Attack with the target's own answers among the references, as a copy under another number."""
    target = int(case.targets[0])
    rows = np.append(np.arange(case.membership.models), target)
    kept = case.signals
    doubled = Signals(kept.labels, kept.margins[rows], 3, kept.logits[rows])
    known, spec = case.membership.matrix[rows], parse(spec)
    given = Problem.make(doubled, known, targets=[target], references=np.arange(len(rows)))
    # Not by `score`, which finds the copy and leaves it out.
    return ATTACKS[spec.method].score(spec, given, np.random.default_rng(0))


@pytest.mark.parametrize("method", ["lira", "lira-released", "rmia", "confidence"])
def test_a_target_among_its_references_is_caught(method):
    case = problem(12, effect=0.0, population=0)
    assert leaves_target_out(lambda problem: score(method, problem), case, 2)
    assert not leaves_target_out(lambda problem: leaking(method, problem), case, 2)


@pytest.mark.parametrize("method", ["lira", "lira-released"])
def test_a_target_among_its_references_would_look_like_a_leak(method):
    case = problem(1, models=8, effect=0.0, population=0, records=400, targets=[1])
    members = case.membership.matrix[1]
    honest, leaked = (auc(attack(method, case)[0], members) for attack in (score, leaking))
    assert honest < 0.55
    assert leaked > honest + 0.15


def test_parse_reads_names_mappings_and_specs():
    assert parse("lira") == ATTACKS["lira"].spec()
    assert parse({"method": "rmia", "gamma": 1.5}).gamma == 1.5
    assert parse(parse("loss")) == parse("loss")
    with pytest.raises(SpecError, match="attack: expected the spec of an attack, got Spec"):
        parse(Spec())
    with pytest.raises(UnknownNameError, match=r"unknown attack 'lyra': did you mean 'lira'"):
        parse("lyra")
    with pytest.raises(SpecError, match=r"expected method to be one of .*confidence, correctness"):
        parse({"gamma": 2.0})
    with pytest.raises(SpecError, match=r"rmia: unknown key 'gama': did you mean 'gamma'"):
        parse({"method": "rmia", "gama": 2.0})
    with pytest.raises(SpecError, match=r"rmia: gamma: expected greater than or equal to 1, got 0.5"):
        parse({"method": "rmia", "gamma": 0.5})
    with pytest.raises(SpecError, match="rmia: mode: expected 'online' or 'offline', got 'both'"):
        parse({"method": "rmia", "mode": "both"})


def test_a_broken_attack_is_named(monkeypatch):
    case = problem(14)
    entry = ATTACKS["loss"]
    monkeypatch.setitem(ATTACKS, "loss", replace(entry, score=lambda *_: np.zeros((2, 3))))
    with pytest.raises(ShapeError, match=r"loss: expected float64 scores of shape \(12, 60\)"):
        score("loss", case)
    wrong = np.zeros((12, 60))
    wrong[5, :2] = np.nan
    monkeypatch.setitem(ATTACKS, "loss", replace(entry, score=lambda *_: wrong))
    with pytest.raises(NonFiniteError, match="loss: expected finite scores, got 2 NaN or infinite of 60 for target 5"):
        score("loss", case)


def test_attacks_need_no_torch():
    code = "import sys, reticent.attacks; sys.exit('torch' in sys.modules or 'matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
