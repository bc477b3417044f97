"""The learned attack: what it finds where, and that it finds nothing where there is nothing."""

from dataclasses import replace

import numpy as np
import pytest
from attack_cases import auc, problem
from scipy.spatial.distance import cosine
from scipy.special import log_softmax, softmax
from scipy.stats import entropy, norm
from sklearn.ensemble import HistGradientBoostingClassifier

from reticent import seeds
from reticent.attacks import Problem, importance, learned, parse, score
from reticent.attacks.cross_fitting import folds, words
from reticent.attacks.learned import pretenders, trees
from reticent.attacks.learned.features import Answers, Scales, Side, answers, features
from reticent.attacks.learned.learner import learn
from reticent.data.membership import Membership
from reticent.data.units import Units
from reticent.errors import TooFewReferencesError
from reticent.findings.evidence import Family
from reticent.signals.matrix import Signals, margin

FAST = {"method": "learned", "learner": "logistic"}


def areas(scores, known):
    return np.array([auc(row, inside) for row, inside in zip(scores, known.matrix, strict=True)])


def planted(seed=0, models=16, records=400, classes=10, shift=3.0):
    """Members' answers have one of the other classes raised; the margin of the label says nothing."""
    rng = np.random.default_rng(seed)
    known = Membership.draw(models, records, seed)
    labels = rng.integers(0, classes, records)
    logits = rng.normal(size=(models, records, classes)) + 2 * rng.normal(size=(records, classes))
    logits[:, np.arange(records), (labels + 1) % classes] += shift * known.matrix
    wanted = rng.normal(size=(models, records))
    now = np.stack([margin(row, labels) for row in logits])
    logits[:, np.arange(records), labels] += wanted - now
    return Problem.make(Signals.from_logits(logits, labels), known)


def test_a_leak_in_the_other_classes_is_found_and_its_place_told():
    case = planted()
    assert abs(areas(score("lira", case), case.membership).mean() - 0.5) < 0.02
    one = replace(case, targets=np.array([2]))
    assert auc(score(FAST, one)[0], case.membership.matrix[2]) > 0.95
    told = importance(FAST, case)
    assert told.auc > 0.95
    assert told.families[0].family is Family.OTHERS
    assert told.families[0].share > 0.5
    assert {one.family for one in told.families} == set(Family)
    assert sum(one.share for one in told.families) == pytest.approx(1)


def test_trees_find_it_too():
    one = replace(case := planted(), targets=np.array([2]))
    scores = score({"method": "learned", "learner": "trees", "rounds": 30}, one)
    assert auc(scores[0], case.membership.matrix[2]) > 0.95


@pytest.mark.parametrize("leaves", [2, 4, 9])
def test_trees_are_evaluated_to_the_same_bits_as_by_scikit_learn(leaves):
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(3000, 6)).astype(np.float32).round(1)  # many rows lie on a threshold
    members = rows[:, 0] * rows[:, 1] + rng.normal(size=len(rows)) > 0
    fitted = HistGradientBoostingClassifier(max_iter=30, max_leaf_nodes=leaves, early_stopping=False, random_state=0)
    fitted.fit(rows, members)
    asked = np.concatenate([rows, rng.normal(size=(2 * trees.BLOCK, 6)).astype(np.float32)])
    np.testing.assert_array_equal(trees.Trees.of(fitted, rows)(asked), fitted.decision_function(asked))


def test_trees_of_an_unknown_form_are_left_to_scikit_learn():
    rows = np.random.default_rng(0).normal(size=(500, 2)).astype(np.float32)
    fitted = HistGradientBoostingClassifier(max_iter=5, random_state=0).fit(rows, rows[:, 0] > 0)
    grown = fitted._predictors
    fitted._predictors = [(tree[0], tree[0]) for tree in grown]
    assert trees.Trees.of(fitted, rows) is None
    fitted._predictors = grown
    fitted.decision_function = lambda asked: np.zeros(len(asked))
    assert trees.Trees.of(fitted, rows) is None
    del fitted._baseline_prediction
    assert trees.Trees.of(fitted, rows) is None


@pytest.mark.parametrize("level", [0.0, 1e6])
def test_means_and_variances_of_kept_references(level):
    rng = np.random.default_rng(3)
    values, kept = rng.normal(size=(7, 5, 2)) + level, rng.random((3, 7, 5)) < 0.6
    kept[:, :2] = True
    for one, mask, pooled in zip(
        Side.of(Answers(values, 0), kept, (1.0, 2.0, 3.0)), kept, (1.0, 2.0, 3.0), strict=True
    ):
        for record in range(5):
            own = values[mask[:, record], record]
            assert one.mean[record] == pytest.approx(own.mean(axis=0), rel=1e-12)
            squares = ((own[:, 0] - own[:, 0].mean()) ** 2).sum()
            assert one.variance[record] == pytest.approx((squares + 4 * pooled) / (len(own) - 1 + 4), rel=1e-8)
            assert one.count[record] == len(own)


@pytest.mark.parametrize(("size", "references"), [(1, 16), (1, 127), (2, 63)])
def test_the_size_of_a_block_changes_no_bit_of_what_is_averaged(size, references):
    rng = np.random.default_rng(4)
    values, kept = rng.normal(size=(references, 9, 4)), rng.random((4, references, 9)) < 0.5
    kept[:, :2] = True
    whole = Side.of(Answers(values, 0), kept, (1.0,) * 4)
    for start in range(0, 9, size):
        part = slice(start, start + size)
        alone = Side.of(Answers(values[:, part].copy(), 0), kept[:, :, part].copy(), (1.0,) * 4)
        for one, own in zip(whole, alone, strict=True):
            np.testing.assert_array_equal(one.mean[part], own.mean)
            np.testing.assert_array_equal(one.variance[part], own.variance)


def test_features_stay_where_the_other_classes_are_renumbered():
    rng = np.random.default_rng(1)
    logits, labels = rng.normal(size=(9, 20, 6)), np.full(20, 2)
    inside = rng.permuted(np.tile(np.arange(8)[:, None] < 4, 20), axis=0)
    order = np.array([3, 5, 2, 0, 1, 4])
    both = []
    for z in (logits, logits[:, :, order]):
        seen = answers(np.stack([margin(row, labels) for row in z])[:, :, None], z, labels)
        part = replace(seen, values=seen.values[:8])
        known = Scales.learned(part, inside)
        sides = Side.of(part, np.stack([inside, ~inside]), known.margin)
        both.append(features(seen.values[8], *sides, known, 6)[0])
    np.testing.assert_allclose(both[0], both[1], rtol=1e-9, atol=1e-9)


def test_features_of_the_label_are_the_formulas():
    """LiRA's ratio and RMIA's, of two IN and two OUT margins."""
    margins = np.array([1.0, 3.0, -1.0, 1.0, 2.5])[:, None, None]
    seen = answers(margins, None, np.zeros(1, dtype=int))
    inside = np.array([True, True, False, False])[:, None]
    part = replace(seen, values=seen.values[:4])
    known = Scales.learned(part, inside)
    assert known.margin == pytest.approx((2.0, 2.0))
    sides = Side.of(part, np.stack([inside, ~inside]), (2.0, 2.0))
    assert sides[0].variance == pytest.approx(2.0)  # (2 + 4 * 2) / (1 + 4)
    found, families = features(seen.values[4], *sides, known, 0)
    x, a, b, *_, pooled, own, ratio = found[0]
    assert (x, a, b) == pytest.approx((2.5, 2.0, 0.0))
    assert pooled == pytest.approx(0.5 * (2.5**2 - 0.5**2) / (2.0 * 1.5))
    assert own == pytest.approx(pooled)
    p = 1 / (1 + np.exp(-margins[:, 0, 0]))
    assert ratio == pytest.approx(np.log(p[4] / (0.5 * (p[:2].mean() + p[2:4].mean()))))
    assert set(families) == {Family.LABEL}


def test_answers_are_the_formulas():
    z, labels = np.array([[[1.0, 0.0, -1.0, 2.0], [0.0, 3.0, 0.5, 1.0]]]), np.array([0, 1])
    margins = np.array([[[0.2, 0.4], [1.0, 3.0]]])
    seen = answers(margins, z, labels)
    assert seen.classes == 4
    for i, label in enumerate(labels):
        p, others = softmax(z[0, i]), np.delete(np.arange(4), label)
        q, logs = softmax(z[0, i, others]), log_softmax(z[0, i, others])
        scalars = [margins[0, i].mean(), 1 / (1 + np.exp(-margins[0, i, 0])), softmax(z[0, i] / 2)[label]]
        scalars += [entropy(p), p.max(), entropy(q), float(i)]  # the second record is classified correctly
        centred, rest = np.zeros(4), np.zeros(4)
        centred[others], rest[others] = logs - logs.mean(), q
        assert seen.values[0, i] == pytest.approx(np.concatenate([scalars, centred, rest]), rel=1e-12)


def test_the_spread_of_the_other_classes_is_pooled_within_records_and_kinds():
    rng = np.random.default_rng(2)
    values, inside = rng.normal(size=(4, 30, 13)), np.repeat([[True], [True], [False], [False]], 30, axis=1)
    found = Scales.learned(Answers(values, 3), inside)
    gaps = np.concatenate([values[0] - values[1], values[2] - values[3]])[:, 7:10]
    covariance = gaps.T @ gaps / 2 / 60  # a pair has one degree of freedom
    spread = np.diag(covariance)
    kept = 0.9 * covariance + np.diag(0.1 * spread + 1e-6 * spread.max())
    np.testing.assert_allclose(found.precision, np.linalg.inv(kept), rtol=1e-9)


def test_all_features_are_the_formulas():
    """One record of three classes, the first of which is its label."""
    rng = np.random.default_rng(4)
    margins, z = rng.normal(size=(3, 1, 1)), rng.normal(size=(3, 1, 3))
    own, a, b = (
        answers(one[None], logits[None], np.zeros(1, int)).values[0] for one, logits in zip(margins, z, strict=True)
    )
    count, root = np.array([3]), rng.normal(size=(3, 3))
    scales = Scales((1.0, 2.0), root @ root.T)
    inside, outside = Side(a, np.array([1.5]), count), Side(b, np.array([2.5]), count)
    found, families = features(own, inside, outside, scales, 3)
    own, a, b, metric = own[0], a[0], b[0], scales.precision
    expected = [own[0], a[0], b[0], own[0] - a[0], own[0] - b[0], a[0] - b[0], np.log(1.5), np.log(2.5)]
    for first, second in ((1.0, 2.0), (1.5, 2.5)):
        laws = [norm(mean, np.sqrt(var * 4 / 3)) for mean, var in ((a[0], first), (b[0], second))]
        expected.append(laws[0].logpdf(own[0]) - laws[1].logpdf(own[0]))
    expected.append(np.log(own[1] / (0.5 * (a[1] + b[1]))))
    expected += [np.log(own[2] / (0.5 * (a[2] + b[2])))]
    for place in (3, 4, 5):
        expected += [own[place], own[place] - a[place], own[place] - b[place], a[place] - b[place]]
    expected += [own[6], a[6], b[6]]
    x, y, w = own[7:10], a[7:10], b[7:10]
    near, far = (x - y) @ metric @ (x - y), (x - w) @ metric @ (x - w)
    # Fisher's linear discriminant: half of what the squared distances differ by.
    expected += [0.5 * (far - near), (y - w) @ metric @ (y - w), far - near, np.log(near), np.log(far)]
    pairs = [[1 - cosine(x, y), 1 - cosine(x, w)], [1 - cosine(own[10:], a[10:]), 1 - cosine(own[10:], b[10:])]]
    p, p_in, p_out = (one[11:] for one in (own, a, b))
    pairs += [[entropy(p, p_in), entropy(p, p_out)], [entropy(p_in, p), entropy(p_out, p)]]
    for to_in, to_out in pairs:
        expected += [to_in, to_out, to_in - to_out]
    assert found[0] == pytest.approx(expected, rel=1e-9)
    told = [Family.LABEL] * 12 + [Family.CERTAINTY] * 8 + [Family.OTHERS] * 4 + [Family.CORRECTNESS] * 3
    assert families == told + [Family.OTHERS] * 17


def test_the_score_is_a_mean_over_draws_that_differ():
    """References of a kind that agree: whichever are drawn, what they say is the same."""
    case = problem(7, models=8, records=60, population=0, effect=0.0)
    level = np.random.default_rng(0).normal(size=60)
    for margins, same in ((level + 2.0 * case.membership.matrix, True), (case.signals.margins[:, :, 0], False)):
        bare = replace(case, signals=Signals.from_margins(margins, case.signals.labels, 3))
        one, four = (score({**FAST, "draws": draws}, bare) for draws in (1, 4))
        assert np.allclose(one, four, rtol=1e-9) == same


def test_few_rows_are_learned_from_by_several_turns_and_the_scores_are_steadier(monkeypatch):
    case, found = replace(problem(7, models=8, records=200, population=0, effect=0.5), targets=np.array([0, 3])), []
    group, word = next(pretenders.groups(case)), words(case, seeds.rng(0, "x"))
    for rows, turns in ((pretenders.ROWS, 4), (2 * 7 * 200 + 1, 2), (7 * 200, 1)):
        monkeypatch.setattr(pretenders, "ROWS", rows)
        turned = group.turns(word)
        assert turned.shape == (turns, 200)
        assert np.array_equal(turned[0], word)
        assert len(np.unique(turned)) == 200 * turns
        first, second = (score(FAST, case, seed=seed) for seed in (0, 1))
        found.append(np.corrcoef(first.ravel(), second.ravel())[0, 1])
    assert found[0] > found[1] > found[2]


def test_nothing_is_important_where_nothing_leaks():
    """The rule is judged on records that it was not learned from; where it gives one score to all, ties count half."""
    assert abs(importance(FAST, problem(1, models=8, records=200, effect=0.0)).auc - 0.5) < 0.05
    same = Signals.from_logits(np.ones((8, 200, 3)), np.zeros(200, dtype=int))
    assert importance(FAST, Problem.make(same, Membership.draw(8, 200, 0))).auc == 0.5


def test_models_that_say_the_same_give_one_score():
    labels = np.arange(200) % 3
    same = np.broadcast_to(np.array([1.0, 0.5, -1.0]), (8, 200, 3))
    case = Problem.make(Signals.from_logits(same, np.zeros(200, dtype=int)), Membership.draw(8, 200, 0))
    for learner in ("trees", "logistic"):
        assert np.ptp(score({"method": "learned", "learner": learner}, case)) == 0
    assert labels.max() == 2


@pytest.mark.parametrize("learner", ["trees", "logistic"])
def test_a_record_that_is_recognised_gives_nothing_away(learner):
    """All models say the same of a record, and of each record something else: its share of members is no answer."""
    rng = np.random.default_rng(3)
    logits = np.broadcast_to(rng.normal(size=(1200, 3)), (8, 1200, 3))
    known = Membership.draw(8, 1200, 0)
    case = Problem.make(Signals.from_logits(logits, rng.integers(0, 3, 1200)), known, targets=[0, 3])
    scores = score({"method": "learned", "learner": learner, "rounds": 60, "leaves": 15}, case)
    found = [auc(row, known.matrix[target]) for row, target in zip(scores, (0, 3), strict=True)]
    assert abs(np.mean(found) - 0.5) < 0.03


def test_records_of_one_unit_have_one_fold_and_one_draw():
    case = problem(3, models=8, records=40, population=0)
    units = Units.of("person", np.repeat(np.arange(40), np.arange(40) % 3 + 1))
    signals = Signals.from_margins(np.random.default_rng(0).normal(size=(8, len(units.codes))), units.codes % 2)
    whole = Problem.make(signals, units.expanded(case.membership.matrix), units=units)
    word = words(whole, seeds.rng(0, "x"))
    alone = words(replace(whole, units=None), seeds.rng(0, "x"))
    assert len(np.unique(alone)) == len(units.codes)
    first = np.unique(units.codes, return_index=True)[1]
    assert np.array_equal(word, word[first][units.codes])
    assert len(np.unique(word)) == 40
    dealt = folds(word, 2)
    assert np.array_equal(dealt, dealt[first][units.codes])
    assert np.bincount(dealt[first]).tolist() == [20, 20]
    assert np.isfinite(score(FAST, whole)).all()


def test_the_spread_is_measured_on_as_many_records_as_memory_allows(monkeypatch):
    case, order = problem(1, models=8, records=300, population=0), np.arange(300)
    group, seen = next(pretenders.groups(case)), []
    monkeypatch.setattr(Scales, "learned", classmethod(lambda cls, answers, inside: seen.append(inside.shape)))
    pretenders.scales(case, group, order)
    monkeypatch.setattr(pretenders, "VALUES", 13 * len(group.references) * 20)
    pretenders.scales(case, group, order)
    assert seen == [(len(group.references), 300), (len(group.references), 20)]


def test_no_record_is_judged_by_a_rule_that_was_learned_from_it(monkeypatch):
    """All models say the same of a record, and of each another thing, so that the margin is its name."""
    margins = np.broadcast_to(np.arange(60.0), (8, 60))
    case = Problem.make(Signals.from_margins(margins, np.zeros(60, dtype=int), 3), Membership.draw(8, 60, 0))
    judged = []

    def learn(spec, rows, members):
        def rule(asked):
            assert not np.isin(asked[:, 0], rows[:, 0]).any()
            judged.append(len(asked))
            return np.zeros(len(asked))

        return rule

    monkeypatch.setattr(learned.learner, "learn", learn)
    score(FAST, case)
    assert sum(judged) == 8 * 60 * 4 * 4  # targets, records, draws, turns
    importance(FAST, case)


def test_every_reference_that_plays_the_target_is_compared_with_equally_many_of_both_kinds():
    case = problem(1, models=16, records=200)
    for group in pretenders.groups(case):
        inside = case.membership.matrix[group.references]
        assert not np.isin(group.targets, group.references).any()
        assert group.apart.diagonal().all()
        least = np.minimum(inside.sum(axis=0), (~inside).sum(axis=0))
        assert (group.count == least - 1).all()
        word = np.arange(200, dtype=np.uint64)
        players = group.players(word)
        assert players.shape == (len(group.references), 200)
        assert all(len(set(column)) == len(group.references) for column in players.T)


@pytest.mark.parametrize("models", [7, 9, 17])
def test_the_number_of_references_tells_nothing_where_records_are_in_more_than_half_of_the_models(models):
    case = problem(1, models=models, records=300, population=0)
    for group in pretenders.groups(case):
        assert len(np.unique(group.count)) == 1
        assert group.count[0] == models // 2 - len(group.targets) - 1


def test_the_references_that_are_kept_are_as_many_as_stated_and_never_the_player():
    case = problem(2, models=12, records=80, population=0)
    order = np.arange(80)
    word = words(case, seeds.rng(0, "x"))
    group = next(pretenders.groups(case))
    known = pretenders.scales(case, group, order)
    seen = []
    original = Side.of.__func__

    def spied(cls, references, kept, pooled):
        seen.extend(zip(kept, pooled, strict=True))
        return original(cls, references, kept, pooled)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Side, "of", classmethod(spied))
        places = [place for _, place, *_ in pretenders.played(case, group, word[None], known)]
    players = group.players(word)
    assert known.margin[0] != known.margin[1]
    for turn, (place, (kept, pooled)) in enumerate(zip(np.repeat(places, 2), seen, strict=True)):
        assert pooled == known.margin[turn % 2]  # That of IN references, then that of OUT ones.
        assert (kept.sum(axis=0) == group.count).all()
        assert not kept[players[place], np.arange(80)].any()


def test_references_that_play_are_not_compared_with_their_complements():
    first = np.random.default_rng(0).random((8, 200)) < 0.5
    known = np.stack([first, ~first], axis=1).reshape(16, 200)
    group = pretenders.everyone(problem(1, records=200, membership=known))
    np.testing.assert_array_equal(group.apart, np.kron(np.eye(8), np.ones((2, 2))).astype(bool))
    least = np.minimum(known.sum(axis=0), (~known).sum(axis=0))
    assert (group.count == least - 1).all()  # of a pair one is IN and one OUT


def test_a_target_is_compared_with_draws_from_equally_many_of_both_kinds(monkeypatch):
    case = problem(2, models=13, records=40, population=0)
    group, word = next(pretenders.groups(case)), words(case, seeds.rng(0, "x"))
    seen, original = [], Side.of.__func__

    def spied(cls, references, kept, pooled):
        seen.extend(kept)
        return original(cls, references, kept, pooled)

    monkeypatch.setattr(Side, "of", classmethod(spied))
    pretenders.compared(case, group, slice(0, 40), word, pretenders.scales(case, group, np.arange(40)), 60)
    inside = case.membership.matrix[group.references]
    least = group.count + 1
    assert (inside.sum(axis=0) != (~inside).sum(axis=0)).all()
    for place in range(2):
        for kind in range(2):
            drawn = np.any(seen[120 * place + kind : 120 * (place + 1) : 2], axis=0)
            assert (drawn.sum(axis=0) == least).all()


def test_as_many_of_a_records_members_as_of_its_non_members_are_learned_from(monkeypatch):
    seen = []
    monkeypatch.setattr(learned.learner, "learn", lambda spec, rows, members: seen.append((rows[:, 0], members)))
    members = np.array([[1, 0, 1, 0], [1, 0, 0, 1], [1, 0, 0, 1], [0, 0, 1, 0]], dtype=bool)
    rows = np.arange(16.0).reshape(4, 4, 1)
    learned._rule(parse("learned"), rows, members, np.array([True, True, True, False]))
    # Of three to one the first and that one, of none to four none, of two to two all.
    assert seen[0][0].tolist() == [0, 2, 6, 10, 12, 14]
    assert seen[0][1].tolist() == [True, True, False, False, False, True]
    learned._rule(parse("learned"), rows[:1], members[:1], np.array([True, True, True, False]))
    assert seen[1][0].tolist() == [0, 1, 2]  # one reference plays for each record


def test_more_records_than_rows_have_some_references_play(monkeypatch):
    monkeypatch.setattr(pretenders, "ROWS", 700)
    case = planted(records=300)
    assert {group.plays for group in pretenders.groups(case)} == {2}
    assert areas(score(FAST, case), case.membership).mean() > 0.85


def test_margins_alone_are_enough_and_few_references_are_refused():
    full = problem(4, records=300, models=8, effect=3.0)
    bare = replace(full, signals=Signals.from_margins(full.signals.margins, full.signals.labels, 3), population=None)
    assert areas(score(FAST, bare), bare.membership).mean() > 0.6
    assert [one.family for one in importance(FAST, bare).families] == [Family.LABEL]
    with pytest.raises(TooFewReferencesError, match="learned: expected at least 2 IN and 2 OUT references"):
        score(FAST, problem(4, models=4))
    six = problem(4, records=300, models=6, effect=3.0)
    assert areas(score(FAST, six), six.membership).mean() > 0.6


def test_the_rule_is_judged_against_what_all_records_have():
    """With nothing to tell, the log-odds are 0, however many rows are members'."""
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(4000, 3)).astype(np.float32)
    members = rng.random(4000) < 0.8
    for learner in ("trees", "logistic"):
        rule = learn(parse({"method": "learned", "learner": learner, "rounds": 20}), rows, members)
        assert abs(rule(rows).mean()) < 0.05


def test_the_regression_is_held_back_by_as_much_as_the_rows_tell_little():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(2000, 40)).astype(np.float32)
    for slope, spread in ((0.0, 0.0), (2.0, 2.0)):
        members = rng.random(2000) < 1 / (1 + np.exp(-slope * rows[:, 0]))
        told = learn(parse(FAST), rows, members)(rng.normal(size=(2000, 40)).astype(np.float32))
        assert told.std() == pytest.approx(spread, abs=0.15)  # with nothing to tell, 0.29 under a penalty of 1


def test_another_seed_draws_other_references():
    case = problem(5, records=100)
    assert score(FAST, case, seed=0).tobytes() != score(FAST, case, seed=1).tobytes()
    assert importance("lira", case) is None


@pytest.mark.parametrize(
    "models",
    [
        pytest.param(8, marks=pytest.mark.slow),
        pytest.param(16, marks=pytest.mark.slow),
        pytest.param(32, marks=pytest.mark.calibration),
    ],
)
@pytest.mark.parametrize("kind", ["plain", "constant", "no class"])
def test_nothing_is_found_where_membership_was_drawn_apart(kind, models):
    """Models learn, or say one thing of all records, or some hold none of one class; members are drawn afterwards."""
    found = []
    for seed in range(8):
        rng = np.random.default_rng([seed, models])
        labels = rng.integers(0, 4, 600)
        logits = rng.normal(size=(models, 600, 4)) + 2 * rng.normal(size=(600, 4))
        if kind == "constant":
            logits = np.broadcast_to(rng.normal(size=(models, 1, 4)) + np.array([3, 0, 0, -3]), logits.shape)
        known = Membership.draw(models, 600, seed).matrix.copy()
        if kind == "no class":
            known[: models // 8, labels == 3] = False
        case = Problem.make(Signals.from_logits(logits, labels), known)
        alike = labels != 3 if kind == "no class" else np.ones(600, dtype=bool)
        areas = [auc(row[alike], inside[alike]) for row, inside in zip(score("learned", case), known, strict=True)]
        found.append(np.mean(areas))  # the targets of one drawing share their references
    assert abs(np.mean(found) - 0.5) < 3 * np.std(found, ddof=1) / np.sqrt(len(found)) + 1e-9
