"""What an entry of the table declares is what its attack does: a lie in access, needs or strong is found and named."""

import ast
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from attack_cases import NAMES, SPECS, problem

import reticent
from reticent import seeds
from reticent.attacks import ATTACKS, parse, score
from reticent.attacks.base import Needs
from reticent.attacks.view import view
from reticent.data.membership import Membership
from reticent.errors import InputError
from reticent.signals.matrix import Signals

FOLDER = Path(reticent.__file__).parent / "attacks"
LESS = {"margins": "labels", "probabilities": "margins", "logits": "margins"}
TARGET = 3
RECORDS = range(0, 60, 6)
USUAL = dict(zip(ATTACKS, SPECS, strict=False))


def case():
    """One target, so that all that references say of their members can be hidden."""
    return problem(21, targets=[TARGET], references=[model for model in range(12) if model != TARGET])


def run(entry, spec, shown):
    return entry.score(spec, shown, seeds.rng(0, "attack", spec.method))[0]


def seen(entry, spec, given):
    """The scores by what an entry declares; None where the attack looks at what is hidden."""
    try:
        with np.errstate(invalid="ignore"):
            return run(entry, spec, view(entry, spec, given))
    except InputError:
        return None


def same(one, other):
    return one is not None and one.tobytes() == other.tobytes()


def needing(entry, **facts):
    return replace(entry, needs=lambda spec: replace(entry.needs(spec), **facts))


def exchanged(given, record):
    """Tell the attack that one IN and one OUT reference of a record are the other way round."""
    known, replicas, rows = given.membership.matrix.copy(), given.replicas.copy(), given.references
    pair = [rows[known[rows, record]][0], rows[~known[rows, record]][0]]
    for values in (known, replicas):
        values[pair, record] = values[pair[::-1], record]
    return replace(given, membership=Membership(known), replicas=replicas)


def compares(entry, spec, given):
    """Does a record's place in its class depend on which references were trained on it, and which were not?

    Its place among those that scored as it did, where there are any: they share what is learned of its class.
    Not if it stays where it is, and others move, since a rule for these was learned from it.
    """
    before = run(entry, spec, given)
    for record in RECORDS[::5] if entry.fitted else RECORDS:
        moved = run(entry, spec, exchanged(given, record)) - before
        alike = given.signals.labels == given.signals.labels[record]
        alike[record] = False
        equal = alike & (before == before[record])
        alike = equal if equal.any() else alike
        if moved[record] and abs(moved[record] - np.median(moved[alike])) > 1e-9:
            return True
    return False


def other_answers_of_members(given):
    """The same problem, in which references say something else of the records that they were trained on."""
    rng, inside = np.random.default_rng(5), given.membership.matrix.copy()
    inside[given.targets] = False
    shift = rng.normal(0, 3, inside.shape)[..., None] * inside[..., None]
    kept = given.signals
    logits = kept.logits + shift * (np.arange(3) == kept.labels[:, None])
    return replace(given, signals=Signals(kept.labels, kept.margins + shift, 3, logits))


def lies(entry, spec):
    """Name each fact of an entry that is not so, given options, with what to do."""
    given, needs, found = case(), entry.needs(spec), []
    full, shown = run(entry, spec, given), seen(entry, spec, given)
    if shown is None or not np.isfinite(shown).all():
        found.append("access or needs: the attack looks at what is not declared: declare it, or do without")
    elif not same(shown, full):
        found.append("access: what is hidden changes the scores: declare the access that they need")
    usual = spec == USUAL[spec.method]
    if usual and entry.access in LESS:
        less = replace(entry, access=LESS[entry.access])
        if same(seen(needing(less, logits=False), spec, given), full):
            found.append(f"access: {less.access} are enough: declare that")
    for name, vain in {
        "references": not needs.alone and replace(entry, needs=lambda _: Needs(logits=True, population=True)),
        "population": needs.population and needing(entry, population=False),
        "logits": needs.logits and needing(entry, logits=False),
    }.items():
        if vain and same(seen(vain, spec, given), full):
            found.append(f"needs: {name} are declared, and not looked at: leave them out")
    chooses = getattr(spec, "a", None) == "auto"  # RMIA's slope, on references that have members, where any has.
    only_out = not chooses and needs.references_in == 0 and 0 < needs.references_out >= needs.references
    if only_out and not np.allclose(run(entry, spec, other_answers_of_members(given)), full, rtol=1e-9, atol=1e-9):
        found.append("needs: IN references are not declared, and change the scores: give their number in references_in")
    if usual and compares(entry, spec, given) != entry.strong:
        found.append("strong: true if a record is compared with models that were not trained on it, and only then")
    return found


@pytest.mark.parametrize("spec", SPECS, ids=NAMES)
def test_no_entry_lies(spec):
    assert lies(ATTACKS[spec.method], spec) == []


@pytest.mark.parametrize("name", ATTACKS)
def test_every_attack_runs_without_a_population(name):
    """Audits, the self-test and the golden table have none unless asked for."""
    bare = replace(case(), population=None)
    try:
        assert score(USUAL[name], bare).shape == bare.shape
    except InputError as error:
        pytest.fail(f"{error}. Without a population, compare with the other audited records, as rmia does.")


def test_no_attack_imports_helpers_of_another():
    methods = {name.replace("-", "_") for name in ATTACKS}
    for path in sorted(FOLDER.rglob("*.py")):
        inside = path.relative_to(FOLDER).with_suffix("").parts
        others = () if path == FOLDER / "__init__.py" else methods - {inside[0]}
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            named = [f"{node.module}.{a.name}." for a in node.names] if isinstance(node, ast.ImportFrom) else []
            used = {other for other in others if any(one.startswith(f"reticent.attacks.{other}.") for one in named)}
            assert not used, f"{path.name}: what {used} shares lies in a file that is no attack's"


def entry(name, **facts):
    return replace(ATTACKS[name], **facts)


LIES = {
    "labels for losses": ("loss", entry("loss", access="labels"), "access or needs"),
    "labels for entropies": ("entropy", entry("entropy", access="labels"), "access: what is hidden"),
    "margins for entropies": ("entropy", entry("entropy", access="margins"), "access or needs"),
    "margins for labels": ("correctness", entry("correctness", access="margins"), "access: labels are enough"),
    "probabilities for margins": ("confidence", entry("confidence", access="probabilities"), "access: margins are"),
    "no references": ("lira", entry("lira", needs=lambda _: Needs()), "access or needs"),
    "no references for thresholds": ("confidence", entry("confidence", needs=lambda _: Needs()), "access or needs"),
    "references for nothing": ("loss", entry("loss", needs=lambda _: Needs(1)), "needs: references are declared"),
    "no IN references": ("lira", needing(ATTACKS["lira"], references_in=0), "needs: IN references are not"),
    "OUT references only": ("lira", needing(ATTACKS["lira"], out_only=True), "access or needs"),
    "no population": ("rmia", needing(ATTACKS["rmia"], population=False), "access or needs"),
    "a population for nothing": ("lira", needing(ATTACKS["lira"], population=True), "needs: population are"),
    "no logits": ("rmia", needing(ATTACKS["rmia"], logits=False), "access or needs"),
    "logits for nothing": ("lira", needing(ATTACKS["lira"], logits=True), "needs: logits are declared"),
    "no replicas": ("selena-replica", needing(ATTACKS["selena-replica"], replicas=False), "access or needs"),
    "no imitators": ("imia", needing(ATTACKS["imia"], imitators=False), "access or needs"),
    "weak imitators": ("imia", entry("imia", strong=False), "strong"),
    "a strong loss": ("loss", entry("loss", strong=True), "strong"),
    "strong thresholds": ("confidence", entry("confidence", strong=True), "strong"),
    "weak comparisons": ("lira", entry("lira", strong=False), "strong"),
    "weak counts": ("rmia", entry("rmia", strong=False), "strong"),
    "labels for one variance": ("base3", entry("base3", access="labels"), "access or needs"),
    "no IN references beside a prior": (
        "bavaria",
        needing(ATTACKS["bavaria"], references_in=0),
        "needs: IN references",
    ),
    "no logits to learn from": ("learned", needing(ATTACKS["learned"], logits=False), "access or needs"),
    "weak places": ("attack-r", entry("attack-r", strong=False), "strong"),
    "strong shares": ("risk-score", entry("risk-score", strong=True), "strong"),
    "a strong network": ("nn", entry("nn", strong=True), "strong"),
    "weak proxies": ("pmia", entry("pmia", strong=False), "strong"),
}


@pytest.mark.parametrize("lie", LIES)
def test_a_planted_lie_is_found(lie):
    name, planted, found = LIES[lie]
    assert any(one.startswith(found) for one in lies(planted, USUAL[name]))


@pytest.mark.parametrize(
    ("name", "facts", "words"),
    [
        ("loss", {"access": "labels"}, r"loss: .* looks at margins with access='labels'"),
        ("entropy", {"access": "margins"}, r"entropy: .* looks at logits with access='margins', Needs.logits=False"),
        ("rmia", {"needs": lambda _: Needs(1, 1, 1)}, r"rmia: .* looks at the population with Needs.population=False"),
        ("lira", {"needs": lambda _: Needs()}, r"lira: .* looks at references, or at who .*, with Needs\(\) of none"),
    ],
)
def test_what_is_hidden_names_the_entry_and_the_declaration(name, facts, words):
    lying, spec = entry(name, **facts), parse(name)
    with pytest.raises(InputError, match=f"{words}: this is a fault of the attack: declare it, or do without"):
        run(lying, spec, view(lying, spec, case()))


def test_what_out_references_say_is_shown_and_what_in_references_say_is_blank():
    given, spec = case(), parse({"method": "rmia", "mode": "offline", "a": 0.3})
    shown, inside = view(ATTACKS["rmia"], spec, given).signals, given.membership.matrix.copy()
    inside[TARGET] = False
    for rows in (slice(None), np.arange(12), 5, TARGET):
        for told, true in ((shown.margins, given.signals.margins), (shown.logits, given.signals.logits)):
            expected = np.where(inside[rows][..., None], np.nan, true[rows])
            np.testing.assert_array_equal(told[rows, slice(0, 60)], expected)


def test_of_labels_the_predicted_class_is_shown_and_nothing_else():
    given, spec = case(), parse("correctness")
    shown = view(ATTACKS["correctness"], spec, given).signals
    told, logits = shown.logits[:, 10:20], given.signals.logits[:, 10:20]
    np.testing.assert_array_equal(told.argmax(axis=2), logits.argmax(axis=2))
    assert np.unique(told).tolist() == [0.0, 1.0]
    assert (shown.models, shown.records, shown.queries) == (12, 60, 1)
    two = replace(given, signals=Signals.from_margins(given.signals.margins, given.signals.labels % 2))
    np.testing.assert_array_equal(
        view(ATTACKS["correctness"], spec, two).signals.margins[2, :9], np.sign(given.signals.margins[2, :9])
    )
