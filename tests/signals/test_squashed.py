"""Probabilities are refused among logits, and taken where they are given as what they are."""

import re

import numpy as np
import pytest
import torch

import reticent
from reticent.errors import InputError, NonFiniteError, ShapeError, SpecError, TooFewReferencesError
from reticent.signals.matrix import Signals, log_probability
from reticent.signals.probabilities import resolution
from reticent.signals.squashed import Squashed, squashed

MODELS, RECORDS, CLASSES = 4, 200, 5
RNG = np.random.default_rng(0)
Z = 4 * RNG.normal(size=(MODELS, RECORDS, CLASSES))
Y = np.arange(RECORDS) % CLASSES
MEMBERSHIP = RNG.permuted(np.tile([True, False], (RECORDS, MODELS // 2)), axis=1).T


def softmax(z):
    p = np.exp(z - z.max(axis=-1, keepdims=True))
    return p / p.sum(axis=-1, keepdims=True)


def sigmoid(z):
    return 1 / (1 + np.exp(-z))


def bfloat16(p):
    return torch.from_numpy(p).bfloat16()


def printed(p, digits):
    return np.array([float(f"{one:.{digits}g}") for one in p.ravel()]).reshape(p.shape)


P, S, ONE = softmax(Z), sigmoid(Z), sigmoid(Z[:, :, 0])


@pytest.mark.parametrize(
    ("answers", "labels", "words"),
    [
        (P, Y, "rows? sums to 1: these are probabilities.*: give them as probabilities"),
        (P.astype(np.float32), Y, "these are probabilities"),
        (P.astype(np.float16), Y, "these are probabilities"),
        (bfloat16(P), Y, "these are probabilities"),
        (P.round(4), Y, "these are probabilities"),
        (P.round(2), Y, "these are probabilities"),
        (100 * P, Y, "every row sums to 100: these are percentages: give them, divided by 100, as probabilities"),
        ((100 * P).round(1).astype(np.float16), Y, "these are percentages"),
        (np.eye(CLASSES, dtype=int)[P.argmax(axis=2)], Y, "these are probabilities"),
        (
            np.rint(255 * P).astype(np.uint8),
            Y,
            "are whole numbers from 0 on.* give them, divided by that constant, as prob",
        ),
        ((RNG.multinomial(30, P)), Y, "such as 255, or votes: give them, divided by that constant, as probabilities"),
        (S, Y, "rows do not sum to 1: as after a sigmoid for each class.*not supported: give the logits from before"),
        (ONE, Y % 2, r"after a sigmoid do: give them as probabilities \(of class 1\), or the logits from before"),
        (ONE[:, :, None], Y % 2, "as probabilities after a sigmoid do"),
        (ONE.astype(np.float16), Y % 2, "as probabilities after a sigmoid do"),
        (np.stack([1 - ONE, ONE], axis=2), Y % 2, "these are probabilities"),
        (np.concatenate([Z[:3], P[3:]]), Y, r"the answers of model 3 \(1 of 4 models\) lie between 0 and 1"),
        (np.concatenate([ONE[:2], Z[2:, :, 0]]), Y % 2, r"the answers of model 0 \(2 of 4 models\) all lie between 0"),
    ],
)
def test_squashed_outputs_are_no_logits(answers, labels, words):
    with pytest.raises(InputError, match=f"^logits: .*{words}".replace("rows? sums", "row sums")):
        Signals.from_logits(answers, labels)


@pytest.mark.parametrize("z", [np.log(P), np.log(S), torch.log_softmax(torch.from_numpy(Z), dim=2), 0 * Z, 0 * Z + 0.3])
def test_logarithms_of_probabilities_and_constants_are_logits(z):
    exact = np.asarray(z)
    assert np.array_equal(Signals.from_logits(z, Y).logits, exact)


def test_logarithms_of_zeros_are_better_given_as_probabilities():
    with np.errstate(divide="ignore"), pytest.raises(NonFiniteError, match=r"\(logarithms of zero\? Give the prob"):
        Signals.from_logits(np.log(P.round(2)), Y)


def test_the_remedies_for_logits_between_zero_and_one_say_the_same():
    small = RNG.uniform(0.1, 0.9, size=(MODELS, RECORDS, CLASSES))
    few = Signals.from_logits(small[:, :9], Y[:9])
    with pytest.raises(InputError, match=r"give logits - logits\.mean\(axis=-1, keepdims=True\), which says the same"):
        Signals.from_logits(small, Y)
    centred = Signals.from_logits(small - small.mean(axis=-1, keepdims=True), Y)
    assert centred.margins[:, :9] == pytest.approx(few.margins, abs=1e-12)
    z = small[:, :, :1]
    with pytest.raises(
        InputError, match=r"give numpy\.concatenate\(\[-z, z\], axis=-1\) / 2 with z of shape \(M, N, 1\)"
    ):
        Signals.from_logits(z, Y % 2)
    both = Signals.from_logits(np.concatenate([-z, z], axis=-1) / 2, Y % 2)
    assert both.margins[:, :9] == pytest.approx(Signals.from_logits(z[:, :9], Y[:9] % 2).margins, abs=1e-12)


def test_what_each_kind_is():
    assert [squashed(one[0]) for one in (P, 100 * P, S, Z)] == [
        Squashed.SOFTMAX,
        Squashed.PERCENT,
        Squashed.SIGMOIDS,
        None,
    ]
    wide = np.stack([0 * ONE[0], ONE[0]], axis=1)
    assert (squashed(wide), squashed(wide[:9]), squashed(wide[:9], rows=1)) == (
        Squashed.SIGMOID,
        None,
        Squashed.SIGMOID,
    )
    assert squashed(np.stack([0 * ONE[0], 2 * ONE[0]], axis=1)) is None


def test_margins_of_one_sign_may_be_losses_and_are_told():
    margins = np.asarray(Signals.from_logits(Z, Y).margins)
    assert Signals.from_margins(margins, Y).notices == ()
    loss = 3 - log_probability(margins)  # Of models that are sure of nothing: minus it is near 0 nowhere.
    for given, told in ((-loss, "No margin is above 0: "), (loss, "All margins are above 0: ")):
        (notice,) = Signals.from_margins(given, Y).notices
        assert notice.startswith(told)
        assert notice.endswith("Are they losses? Margins are log-odds of the true label, log(p) - log(1 - p).")


def test_probabilities_say_what_their_logits_say():
    wanted = Signals.from_logits(Z, Y)
    found = Signals.from_probabilities(P, Y)
    assert found.margins == pytest.approx(wanted.margins, abs=1e-9)
    assert (found.classes, found.notices) == (CLASSES, ())
    binary = Signals.from_logits(Z[:, :, 0], Y % 2)
    for one in (ONE, ONE[:, :, None], np.stack([1 - ONE, ONE], axis=2)):
        assert Signals.from_probabilities(one, Y % 2).margins == pytest.approx(binary.margins, abs=1e-8)


@pytest.mark.parametrize(
    ("form", "error"), [(lambda p: p.astype("f4"), 1e-6), (lambda p: p.astype("f2"), 2e-3), (bfloat16, 1e-2)]
)
def test_coarser_types_lose_their_digits_alone(form, error):
    """Where nothing is smaller than float16's smallest normal number, a margin is as exact as the type's digits."""
    shown = Z / 3
    wanted, found = Signals.from_logits(shown, Y), Signals.from_probabilities(form(softmax(shown)), Y)
    assert found.margins == pytest.approx(wanted.margins, abs=error)
    assert found.notices == ()


@pytest.mark.parametrize("digits", [1, 2, 3, 4, 5, 6])
def test_rounded_probabilities_are_off_by_half_a_unit_a_class(digits):
    unit = 10.0**-digits
    told = P.round(digits)
    assert resolution(told).unit == pytest.approx(unit)
    found = np.exp(log_probability(Signals.from_probabilities(told, Y).margins))
    exact = np.exp(log_probability(Signals.from_logits(Z, Y).margins))
    assert np.abs(found - exact).max() <= CLASSES * unit / 2


@pytest.mark.parametrize(
    ("form", "unit", "least"),
    [
        (lambda p: p, 2.0**-53, 2.0**-1074),
        (lambda p: p.astype("f4"), 2.0**-24, 2.0**-149),
        (lambda p: p.astype("f4").astype("f8"), 2.0**-24, 2.0**-149),
        (lambda p: p.astype("f2"), 2.0**-11, 2.0**-24),
        (lambda p: p.astype("f2").astype("f4"), 2.0**-11, 2.0**-24),
        (lambda p: bfloat16(p).float().numpy(), 2.0**-8, 2.0**-133),
        (lambda p: p.round(3), 1e-3, 1e-3),
        (lambda p: p.round(3).astype("f4"), 1e-3, 1e-3),
        (lambda p: (64 * p).round() / 64, 1 / 64, 1 / 64),
        (lambda p: (30 * p).round() * (1 / 30), 1 / 30, 1 / 30),
        (lambda p: 1 - (1 - p).astype("f4"), 2.0**-24, 2.0**-24),
        (lambda p: printed(p, 6), 1e-6, 2.0**-1074),
        (lambda p: printed(p, 4), 1e-4, 2.0**-1074),
        (lambda p: printed(p, 9), 1e-9, 2.0**-1074),
        (lambda p: printed(p, 6).astype("f4"), 1e-6, 2.0**-149),
    ],
)
def test_how_finely_probabilities_are_told(form, unit, least):
    saturated = form(softmax(np.concatenate([10 * Z, Z, Z / 10])))
    found = resolution(saturated)
    assert (found.unit, found.least) == (pytest.approx(unit, rel=1e-12), pytest.approx(least, rel=1e-12))


def test_zeros_and_ones_are_half_a_step_away_and_counted():
    ordinary = np.linspace(0.1, 0.9, 12) + np.pi / 1e9
    one = np.concatenate([ordinary, [0.0, 1.0, 1.0]])[None].repeat(2, axis=0)
    found = Signals.from_probabilities(one, [1] * 15)
    assert found.margins[0, 12:, 0] == pytest.approx([-54 * np.log(2), 54 * np.log(2), 54 * np.log(2)], abs=1e-12)
    assert found.notices[0].startswith("6 of 30 probabilities are too near to 0 or 1 to be told (steps of 1.1e-16")
    finer = np.concatenate([ordinary, [1e-30, 0.0, 1.0]])[None]
    smallest = Signals.from_probabilities(finer, [1] * 15).margins[0, 12:, 0]
    assert smallest == pytest.approx([np.log(1e-30), -1075 * np.log(2), 54 * np.log(2)], abs=1e-9)
    single = Signals.from_probabilities(one.astype(np.float32), [0] * 15).margins[0, 12:, 0]
    assert single == pytest.approx([25 * np.log(2), -25 * np.log(2), -25 * np.log(2)], abs=1e-6)


def test_zeros_of_rounded_rows_share_what_the_row_lacks():
    first = np.array([*np.linspace(0.55, 0.95, 11).round(2), 1.0])
    rows = np.zeros((12, 100))
    rows[:, 0], rows[:11, 1] = first, 0.03
    found = Signals.from_probabilities(rows[None], [0] * 12)
    shared = np.minimum(98 * 0.005, np.maximum(1 - first[:11] - 0.03, 0.005))
    assert np.exp(found.logits[0]).sum(axis=1) == pytest.approx([*(first[:11] + 0.03 + shared), 1.005], abs=1e-12)
    assert found.margins[0, 11, 0] == pytest.approx(np.log(1 / 0.005))


@pytest.mark.parametrize(
    ("given", "labels", "words"),
    [
        (
            100 * P,
            Y,
            "model 0: .* from 0 to 1, got .*, a row that sums to 100 and not to 1: .*, percentages divided by 100",
        ),
        (np.rint(255 * P), Y, "model 0: expected numbers from 0 to 1, got .*, counts by their sum"),
        (100 * ONE, Y % 2, "model 0: expected numbers from 0 to 1, got .* for record 0"),
        (Z, Y, "model 0: expected numbers from 0 to 1, got -.*: logits are given as logits"),
        (S, Y, "model 0: expected rows that sum to 1, .* one sigmoid a class makes none .*multi-label"),
        (
            np.where(P.min(axis=-1, keepdims=True) == P, 0, P),
            Y,
            "model 0: expected rows that sum to 1, .* as where the largest alone were kept: .* share what is missing",
        ),
        (np.concatenate([P[:3], 0.9 * P[3:]]), Y, "model 3: expected rows that sum to 1, .* got 0.9 for record"),
    ],
)
def test_what_are_no_probabilities(given, labels, words):
    with pytest.raises(InputError, match=f"^probabilities: {words}"):
        Signals.from_probabilities(given, labels)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (
            lambda: Signals.from_logits(Z[0], Y),
            r"got \(200, 5\), as of one model alone: give logits\[None\]",
        ),
        (
            lambda: Signals.from_logits(ONE[0], Y),
            r"got \(200,\), as of one model alone: give logits\[None\]",
        ),
        (
            lambda: Signals.from_margins(Z[0, :, 0], Y),
            r"got \(200,\), as of one model alone: give margins\[None\]",
        ),
        (
            lambda: Signals.from_probabilities(P[0], Y),
            r"as of one model alone: give probabilities\[None\]",
        ),
        (
            lambda: Signals.from_logits(Z.swapaxes(0, 1), Y),
            r"records and models exchanged\? Give logits\.swapaxes\(0, 1\)",
        ),
        (lambda: Signals.from_logits(Z[:, :, None], Y), "one a token or a pixel, are not supported"),
        (lambda: Signals.from_logits(Z[:0], Y), r"at least one model and one record, got none: \(0, 200, 5\)$"),
        (lambda: Signals.from_probabilities(P[:0], Y), r"got none: \(0, 200, 5\)$"),
        (lambda: Signals.from_margins(Z[:, :, :0], Y), r"margins: expected numbers .* got none: \(4, 200, 0\)$"),
        (lambda: Signals.from_logits(Z[:, :7], Y), r"expected shape \(M, 200\) or \(M, 200, C\) .* got \(4, 7, 5\)$"),
    ],
)
def test_axes_that_are_not_those_of_models_and_records(call, words):
    with pytest.raises(ShapeError, match=words):
        call()


@pytest.mark.parametrize(
    ("answers", "labels", "words"),
    [
        (
            Z,
            np.eye(CLASSES, dtype=int)[Y] | np.eye(CLASSES, dtype=int)[0],
            "with 2 ones for record 1: multi-label data are",
        ),
        (
            Z,
            np.stack([Y, Y], axis=1),
            r"got shape \(200, 2\) of other numbers: several labels a record, such as one a token",
        ),
        (Z, Y + 0.5, "got 0.5 for record 0: targets of a regression are not supported"),
        (
            Z[:, :, 0],
            Y,
            "one number a record is the answer of a binary model, and there are 5 different labels: .*regression",
        ),
        (
            Z[:, :, :2],
            np.where(Y > 2, 5, 1),
            "from 0 to 1, got 5 at position 3: the answers have 2 classes, and the labels are 1, 5: renumber them",
        ),
        (
            Z,
            10 * (Y + 1),
            r"from 0 to 4, got 50 .* 10, 20, 30, 40, 50: renumber them, for example with numpy\.unique\(labels, "
            r"return_inverse=True\)\[1\], which numbers the classes in sorted order, as the answers' columns must be$",
        ),
        (Z[:, :, 0], 1 + Y % 2, r"got 2 at position 1: .* 2 classes, and the labels are 1, 2: do they count from 1\?"),
        (Z, np.where(Y > 2, 30, 10), r"labels are 10, 30: .*numpy\.searchsorted\(columns, labels\), .* all 5 columns"),
        (Z[:, :, :2], 10 * Y, "the answers have 2 classes, and the labels are 0, 10, 20, 30, 40$"),
        (Z, Y + 1, "from 0 to 4, got 5 .* the labels are 1, 2, 3, 4, 5: do they count from 1\\? Give labels - 1"),
        (
            Z[:, :, 0],
            2 * (Y % 2) - 1,
            r"got numbers below 0 among -1, 1: .*numpy\.unique\(labels, return_inverse=True\)\[1\]",
        ),
        (Z, np.array(list("abcde"))[Y], r"got texts among a, b, c, d, e: .* return_inverse=True\)\[1\]"),
    ],
)
def test_kinds_of_data_that_are_not_supported_are_named(answers, labels, words):
    with pytest.raises(InputError, match=f"^labels: .*{words}"):
        Signals.from_logits(answers, labels)


def attacked(**values):
    return reticent.attack(labels=Y, membership=MEMBERSHIP, replicates=100, attacks=["loss"], **values)


def test_the_report_says_how_many_probabilities_were_told_by_their_resolution():
    exact = attacked(probabilities=P)
    assert exact.scores["loss"] == pytest.approx(attacked(logits=Z).scores["loss"], abs=1e-9)
    assert "notices" not in exact.document["population"]
    told = P.round(2)
    found = attacked(probabilities=told).document
    sentence = f"{(told == 0).sum():,} of 4,000 probabilities are too near to 0 or 1 to be told (steps of 0.01"
    assert found["population"]["notices"][0].startswith(sentence)
    assert found["population"]["notices"][0] in found["verdict"]["cannot_say"]
    with pytest.raises(
        InputError, match="expected one of logits, probabilities, margins, got logits and probabilities"
    ):
        attacked(probabilities=P, logits=Z)


def test_a_file_of_probabilities(tmp_path):
    from reticent.jobs.attack import run
    from reticent.jobs.signals_file import read_signals
    from reticent.options import AttackConfig

    np.savez(tmp_path / "o.npz", probabilities=P, labels=Y, membership=MEMBERSHIP)
    found = run(read_signals(tmp_path / "o.npz"), AttackConfig(replicates=100, attacks=["loss"]))
    assert np.array_equal(found.scores["loss"], attacked(probabilities=P).scores["loss"])


def test_records_of_equal_shares_of_votes_tie_whatever_the_other_classes_got():
    """Of 30 votes: the label's share alone is what loss and LiRA see; how many other classes got none is not."""
    votes = np.array([[20, 10, 0, 0], [20, 4, 3, 3], [0, 30, 0, 0], [0, 10, 10, 10], [30, 0, 0, 0], [1, 29, 0, 0]])
    found = Signals.from_probabilities(np.stack([votes, votes[::-1]]) / 30, np.zeros(6, dtype=int))
    margins = np.asarray(found.margins)[0, :, 0]
    expected = np.log([2, 2, 0.5 / 30, 0.5 / 30, 60, 1 / 29])
    assert margins == pytest.approx(expected, rel=1e-12)
    assert margins[0] == margins[1]
    assert margins[2] == margins[3]


def test_votes_for_class_one_are_votes_against_class_zero():
    votes = np.arange(11) / 10
    labels = np.arange(11) % 2
    found = np.asarray(Signals.from_probabilities(np.stack([votes, votes]), labels).margins)[0, :, 0]
    own = np.clip(np.where(labels == 1, votes, 1 - votes), 0.05, None)
    other = np.clip(np.where(labels == 1, 1 - votes, votes), 0.05, None)
    assert found == pytest.approx(np.log(own / other), rel=1e-12)


OWN = np.take_along_axis(P, Y[None, :, None], axis=2)[:, :, 0]
EXACT = Signals.from_logits(Z, Y).margins[:, :]


@pytest.mark.parametrize(
    ("given", "remedy", "words"),
    [
        (
            OWN,
            lambda p: np.log(p) - np.log1p(-p),
            r"these are probabilities of the true label: .* numpy\.log\(p\) - nu",
        ),
        (
            np.log(OWN),
            lambda log: log - np.log(-np.expm1(log)),
            r"log-probabilities of the true label \(minus the loss\): .* l - numpy\.log\(-numpy\.expm1\(l\)\)",
        ),
    ],
)
def test_the_labels_probabilities_are_no_margins(given, remedy, words):
    """Whether all models' are, or one's; of few records it may be an accident."""
    mixed = np.where(np.arange(MODELS)[:, None] == 2, given, EXACT[:, :, 0])
    for one in (given, mixed, given[:, :30]):
        with pytest.raises(InputError, match=f"^margins: expected log-odds of the true label, .*{words}"):
            Signals.from_margins(one, Y[: one.shape[1]])
    assert Signals.from_margins(given[:, :20], Y[:20]).records == 20
    assert Signals.from_margins(remedy(given), Y).margins == pytest.approx(EXACT, abs=1e-9)


def test_margins_of_models_that_are_always_wrong_are_margins():
    for weak in (EXACT - EXACT.max() - 1e-3, -0.7 + 0.2 * RNG.uniform(-1, 1, size=(MODELS, RECORDS)), 0 * EXACT + 0.3):
        assert Signals.from_margins(weak, Y).records == RECORDS


def test_logits_are_no_margins_of_queries():
    telling = Z + 3 * np.eye(CLASSES)[Y]
    for given, name in ((telling, "logits"), (softmax(telling), "probabilities")):
        with pytest.raises(InputError, match=rf"^margins: got shape \(4, 200, 5\), .*: give them as {name}\."):
            Signals.from_margins(given, Y)
    uneven = np.where(Y < 4, 0, 4)
    queries = EXACT + RNG.normal(size=Z.shape) + [2, 0, 0, 0, 0]
    assert Signals.from_margins(queries, uneven).queries == CLASSES
    assert Signals.from_margins(telling, Y, classes=7).queries == CLASSES


def test_quantised_logits_are_logits_and_bytes_over_255_are_probabilities():
    assert squashed(np.rint(128 + 8 * Z[0])) is None
    assert squashed(np.rint(128 + 8 * RNG.normal(size=(RECORDS, 100)))) is None
    found = Signals.from_probabilities(np.rint(255 * P) / 255, Y)
    assert np.abs(np.exp(log_probability(found.margins)) - np.exp(log_probability(EXACT))).max() <= 0.5 / 255 + 1e-12


def test_an_exact_one_among_printed_numbers_is_half_of_their_last_digit_away():
    ordinary = printed(np.concatenate([sigmoid(np.linspace(0.1, 9, 40)), [1e-12]]), 6)
    one = np.concatenate([ordinary, [1.0, 0.0]])[None]
    found = Signals.from_probabilities(one, np.ones(43, dtype=int))
    assert found.margins[0, 40:, 0] == pytest.approx([np.log(1e-12), np.log(2e6), -1075 * np.log(2)], abs=1e-5)
    assert "(steps of 1e-06 near 1" in found.notices[0]


def test_models_of_which_some_are_rounded_are_each_told_by_their_own_digits():
    mixed = np.where(np.arange(MODELS)[:, None, None] < 2, P.round(2), P)
    found, rounded = (Signals.from_probabilities(one, Y).margins for one in (mixed, P.round(2)))
    assert np.array_equal(found[:2], rounded[:2])
    assert found[2:] == pytest.approx(EXACT[2:], abs=1e-9)


def test_models_of_one_split_are_told_that_more_of_them_do_not_help():
    known = np.repeat(MEMBERSHIP[:1], MODELS, axis=0)
    with pytest.raises(TooFewReferencesError, match=r"lira: 3 of 4 models are no references .* do not help"):
        reticent.attack(labels=Y, membership=known, logits=Z, attacks=["lira"], replicates=100)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", ["logits", "margins"])
def test_numbers_that_have_no_squares_are_refused_before_they_are_squared(name):
    large = np.where(np.arange(RECORDS)[:, None] == 7, 1e300, Z)[:, :, :1] * [1, -1]
    with pytest.raises(NonFiniteError, match=f"^{name}: model 0 has 2 of 400 beyond 1e\\+37, which are taken for inf"):
        reticent.attack(labels=Y % 2, membership=MEMBERSHIP, attacks=["lira"], **{name: large})


@pytest.mark.parametrize("name", ["logits", "margins"])
@pytest.mark.parametrize("value", [1e8, -1e30])
def test_a_margin_that_tells_nothing_is_refused_with_its_model_record_and_value(name, value):
    at = (np.arange(RECORDS)[:, None] == 7) & (np.arange(4)[:, None, None] == 2)
    size = value / 2 if name == "logits" else value
    large = np.where(at, size, Z)[:, :, :1] * ([-1, 1] if name == "logits" else [1])
    labels = np.ones(RECORDS, dtype=int)
    words = f"{name}: model 2 has record 7 at a margin of {value:g}: expected log-odds of the true label of at most 16,"
    with pytest.raises(InputError, match=re.escape(words)):
        reticent.attack(labels=labels, membership=MEMBERSHIP, attacks=["lira"], **{name: large})


def test_a_masked_class_may_have_any_logit():
    masked = np.concatenate([Z, np.full((*Z.shape[:2], 1), -1e30)], axis=2)
    assert np.array_equal(Signals.from_logits(masked, Y).margins, Signals.from_logits(Z, Y).margins)


def test_a_file_without_several_arrays_is_told_of_all(tmp_path):
    from reticent.jobs.signals_file import read_signals

    np.savez(tmp_path / "o.npz", other=Y)
    words = "3 arrays are missing, 'labels' and 'membership' and one of logits, probabilities, margins; it holds other"
    with pytest.raises(SpecError, match=f"{words}$"):
        read_signals(tmp_path / "o.npz")
    np.savez(tmp_path / "o.npz", label=Y, logits=Z)
    with pytest.raises(SpecError, match="it holds label, logits; did you mean 'labels' by 'label'"):
        read_signals(tmp_path / "o.npz")


def test_arrays_of_a_file_that_are_not_read_are_named(tmp_path, caplog):
    from reticent.jobs.signals_file import read_signals

    np.savez(tmp_path / "o.npz", labels=Y, membership=MEMBERSHIP, logits=Z, note=np.array(3.0))
    assert read_signals(tmp_path / "o.npz").ungrouped == ()
    assert "note: not read: expected one of labels, membership, logits" in caplog.text
