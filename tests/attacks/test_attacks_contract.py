"""What every line of the table of attacks must keep."""

import json
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from attack_cases import NAMES, SPECS, auc, problem

from reticent.attacks import ATTACKS, Problem, parse, score
from reticent.attacks.softmax import log_sum
from reticent.data.membership import Membership
from reticent.errors import InputError, NonFiniteError, ShapeError, SpecError, UnknownNameError
from reticent.signals import matrix
from reticent.signals.matrix import Rows, Signals
from reticent.spec import Spec, identity, text

every = pytest.mark.parametrize("spec", SPECS, ids=NAMES)
QUERIES = 2


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
def test_scores_are_finite_float64_by_target_and_record_and_repeat(spec):
    case = problem(1, queries=QUERIES)
    first, second = score(spec, case, seed=3), score(spec, case, seed=3)
    assert first.shape == (12, 60)
    assert first.dtype == np.float64
    assert np.isfinite(first).all()
    assert first.tobytes() == second.tobytes()
    assert first[0].tobytes() != first[1].tobytes()


@every
def test_inputs_stay_as_they_are(spec):
    case = problem(2, queries=QUERIES)
    arrays = [
        case.signals.margins,
        case.signals.logits,
        case.signals.labels,
        case.membership.matrix,
        case.targets,
        case.references,
        case.population.margins,
        case.population.logits,
        case.replicas,
    ]
    before = [array.tobytes() for array in arrays]
    score(spec, case)
    assert [array.tobytes() for array in arrays] == before


@every
def test_specs_come_back_from_their_canonical_text(spec):
    assert parse(json.loads(text(spec))) == spec
    assert identity(parse(json.loads(text(spec)))) == identity(spec)


@every
def test_higher_means_member_and_swapping_the_two_turns_the_auc_around(spec):
    spec = spec.replace(steps=60) if ATTACKS[spec.method].fitted else spec
    case = problem(4, records=400, models=16, effect=3.0)
    scores, truth = score(spec, case), case.membership.matrix
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
    case = problem(6, models=13, queries=QUERIES)
    for target in (0, 7):
        assert leaves_target_out(lambda problem: score(spec, problem), case, target)


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
    case = problem(7, queries=QUERIES)
    together = score(spec, case)
    some = replace(case, targets=np.array([8, 2]))
    assert score(spec, some).tobytes() == together[[8, 2]].tobytes()


@every
def test_targets_and_references_apart(spec):
    spec = spec.replace(a=0.3) if spec.method == "rmia" else spec  # which references choose `a` depends on the list
    both = problem(8, models=14, queries=QUERIES, targets=[3])
    apart = replace(both, references=np.flatnonzero(np.arange(14) != 3))
    np.testing.assert_allclose(score(spec, apart), score(spec, both), rtol=1e-9, atol=1e-12)


def normalised(signals):
    return replace(signals, logits=signals.logits - log_sum(signals.logits)[..., None])


@every
def test_log_probabilities_are_attacked_as_the_logits_that_they_were_made_of(spec):
    case = problem(18)
    told = replace(case, signals=normalised(case.signals), population=normalised(case.population))
    if spec.method == "rmia" and spec.taylor:
        with pytest.raises(InputError, match=r"depends on a constant .* give the logits from before the softmax"):
            score(spec, told)
    else:
        np.testing.assert_allclose(score(spec, told, seed=3), score(spec, case, seed=3), rtol=1e-6, atol=1e-7)


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
    case = problem(10, records=24, population=8, queries=QUERIES)
    whole = score(spec, case)
    for size in (1, 30_000):
        monkeypatch.setattr(matrix, "BLOCK_BYTES", size)
        assert score(spec, case).tobytes() == whole.tobytes()


@every
def test_signals_may_lie_on_disk_as_float32(spec, tmp_path):
    case = problem(11, queries=QUERIES)
    margins, logits = (case.signals.margins.astype(np.float32), case.signals.logits.astype(np.float32))
    mapped = []
    for name, values in (("margins", margins), ("logits", logits), ("replicas", case.replicas)):
        np.save(tmp_path / f"{name}.npy", values)
        mapped.append(Rows(list(np.load(tmp_path / f"{name}.npy", mmap_mode="r"))))
    memory = replace(case, signals=Signals(case.signals.labels, margins, 3, logits))
    disk = replace(case, signals=Signals(case.signals.labels, mapped[0], 3, mapped[1]), replicas=mapped[2])
    assert score(spec, disk).tobytes() == score(spec, memory).tobytes()


@every
def test_replicas_of_a_target_change_no_bit_of_its_scores(spec):
    case = problem(13)
    for target in (0, 7):
        alone = replace(case, targets=np.array([target]))
        other = case.replicas.copy()
        other[target] = 1 / 3
        assert score(spec, replace(alone, replicas=other)).tobytes() == score(spec, alone).tobytes()


@every
def test_what_needs_replicas_says_so_and_the_others_do_not_look_at_them(spec):
    case = problem(15)
    bare = replace(case, replicas=None)
    if ATTACKS[spec.method].needs(spec).replicas:
        with pytest.raises(InputError, match=r"expected soft targets that every reference's own Split-AI .* use lira"):
            score(spec, bare)
    else:
        assert score(spec, bare).tobytes() == score(spec, case).tobytes()


@every
def test_what_needs_imitators_says_so_and_the_others_do_not_look_at_them(spec):
    case = problem(16)
    bare = replace(case, imitators=None)
    if ATTACKS[spec.method].needs(spec).imitators:
        with pytest.raises(
            InputError, match=r"expected models that were trained to answer like .* run reticent harden"
        ):
            score(spec, bare)
    else:
        assert score(spec, bare).tobytes() == score(spec, case).tobytes()


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
