"""Units of several records: membership, roles, references, scores, control and statistics go by unit.

Of 200 audits of persons whose records are alike in a model (correlation 0.8, 120 persons, 8 models), with no leak, 3 %
by unit find one, and 10 % by record, whose intervals take the records for apart.
"""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

import reticent
from reticent.attacks import score
from reticent.attacks.base import Problem
from reticent.attacks.lira import Lira
from reticent.auditing.exposure import count_exposed, exposure
from reticent.auditing.partition import by_column
from reticent.auditing.units import SEVERAL, exposure_of_units, groups_of_units, scores_of_units
from reticent.data.membership import Membership
from reticent.data.records import Records
from reticent.data.roles import Roles
from reticent.data.units import Units, units_of
from reticent.errors import InputError, ShapeError
from reticent.findings.population import ColumnReading
from reticent.jobs.config import called
from reticent.jobs.control import _permuted, exchanged
from reticent.jobs.measure import measure
from reticent.jobs.scoring import Settings
from reticent.jobs.units import as_records
from reticent.report.output import AUDIT
from reticent.say.population import of_units
from reticent.signals.matrix import Signals


def persons(seed=0, units=80, most=12):
    """Number persons, of whom some have many records, in a random order of the records."""
    rng = np.random.default_rng(seed)
    codes = np.repeat(np.arange(units), np.minimum(rng.geometric(0.3, units), most))
    return Units.of("person", rng.permutation(codes) + 1000)


def problem(seed=0, models=8, leak=0.0, alike=0.8, **options):
    """Margins of persons whose records are alike in a model."""
    rng, units = np.random.default_rng(seed), persons(seed, **options)
    membership = Membership(units.expanded(Membership.draw(models, units.count, seed).matrix))
    own = rng.normal(size=(models, units.count))[:, units.codes]
    noise = np.sqrt(alike) * own + np.sqrt(1 - alike) * rng.normal(size=own.shape)
    margins = noise + 2 * rng.normal(size=own.shape[1]) + leak * membership.matrix
    signals = Signals.from_margins(margins, np.zeros(own.shape[1], int), 2)
    return Problem.make(signals, membership, units=units)


def test_units_are_numbered_by_their_values():
    units = Units.of("person", np.array(["b", "a", "b", "c"]))
    assert (units.codes.tolist(), units.count, units.column) == ([1, 0, 1, 2], 3, "person")
    assert units.among(np.array([0, 2, 3])).codes.tolist() == [0, 0, 1]
    assert units.among(np.array([0, 2, 3])).names == ("b", "c")
    of_csv = np.array([35.0, 350.0, 35.5, 35.0])
    assert Units.of("person", of_csv).names == ("35", "35.5", "350")
    matrix = np.array([[True, False, False]])
    assert units.expanded(matrix).tolist() == [[False, True, False, False]]
    assert units.of_units(units.expanded(matrix)).tolist() == matrix.tolist()


def test_what_are_no_units_is_refused():
    with pytest.raises(InputError, match="has no value for 2 of 4 records"):
        Units.of("person", np.array(["a", "", "b", "nan"], dtype=object))
    with pytest.raises(InputError, match="has no value for 3 of 6 records"):  # else they would be one person
        Units.of("person", np.array(["a", "NA", "b", "?", "b", " null "]))
    with pytest.raises(
        InputError, match="at least 20 different values of 'person' for 4 models, got 2 in the 40 audited"
    ):
        Units.of("person", np.arange(40) // 20).draw(4, 0)
    with pytest.raises(InputError, match="so that records are units already"):
        Units.of("person", np.arange(4))
    units = Units.of("person", np.array([0, 0, 1, 1]))
    with pytest.raises(ShapeError, match="got record 1 apart from others of it in model 0"):
        units.of_units(np.array([[True, False, True, True]]))
    data = {"x": np.zeros((6, 2)), "y": [0, 1] * 3}
    with pytest.raises(InputError, match="has no column 'person' besides its label"):
        called(None, {"dataset": data, "unit": "person", "models": 2})
    kept = ColumnReading(column="a", read_as="number", features=2)
    both = Records.make(np.zeros((6, 2)), [0, 1] * 3, columns={"a": np.zeros(6), "b": np.zeros(6)}, readings=(kept,))
    with pytest.raises(InputError, match=r"'person' besides its label: expected one of a, b$"):
        units_of(both, "person")


def test_units_that_share_duplicates_stay_together():
    units = Units.of("person", np.array([0, 0, 1, 1, 2, 3]))
    assert units.together(np.array([0, 1, 1, 3, 4, 5])).tolist() == [0, 0, 0, 0, 4, 5]
    assert units.together(np.arange(6)).tolist() == [0, 0, 2, 2, 4, 5]


def test_units_of_the_same_records_are_alike():
    units = Units.of("person", np.array([0, 1, 0, 1, 2, 2, 3]))
    assert units.alike(np.array([4, 4, 5, 4, 5, 4, 5])).tolist() == [0, 1, 0, 3]


def test_no_person_has_two_roles():
    units = persons()
    rng = np.random.default_rng(0)
    records = Records.make(rng.normal(size=(len(units.codes), 3)), np.arange(len(units.codes)) % 2)
    roles = Roles.split(records, 0, validation=20, population=40, units=units)
    parts = [set(units.codes[ids]) for ids in (roles.audited, roles.validation, roles.population)]
    assert not (parts[0] & parts[1])
    assert not (parts[0] & parts[2])
    assert not (parts[1] & parts[2])
    assert (len(roles.validation), len(roles.population)) == (20, 40)


def data(units, seed=0):
    rng = np.random.default_rng(seed)
    n = len(units.codes)
    return {"x": rng.normal(size=(n, 4)).astype(np.float32), "y": np.arange(n) % 2, "columns": {"person": units.codes}}


def test_each_person_is_in_exactly_half_of_the_models():
    units = persons(units=60)
    job = called(None, {"dataset": data(units), "unit": "person", "models": 6, "population": 30})
    matrix = job.units.of_units(job.population.membership.matrix)
    assert (matrix.sum(axis=0) == 3).all()
    assert job.units.count == matrix.shape[1] < 60
    plain = called(None, {"dataset": data(units), "models": 6})
    assert plain.units is None
    with pytest.raises(InputError, match="only reticent audit and attack are of units"):
        reticent.compare(recipes={"a": {"epochs": 1}}, dataset=data(units), unit="person", models=6)


def test_scores_groups_and_exposures_are_joined_by_unit():
    units = Units.of("person", np.array([0, 1, 0, 1, 2]))
    assert scores_of_units(np.array([[1.0, 2, 3, 6, 5]]), units).tolist() == [[2, 4, 5]]
    assert scores_of_units(np.ones((1, 5)), None).shape == (1, 5)
    for way, joined in (("sum", [4, 8, 5]), ("max", [3, 6, 5])):
        asked = replace(units, score=way).among(np.arange(5))
        assert scores_of_units(np.array([[1.0, 2, 3, 6, 5]]), asked).tolist() == [joined]
    grouped = groups_of_units(by_column("g", np.array(["x", "x", "x", "y", "y"]), 5), units)
    assert grouped.values() == ["x", SEVERAL, "y"]
    whole = groups_of_units(by_column("g", np.array(["x", "y", "x", "y", "y"]), 5), units)
    assert (whole.names, whole.values()) == (("x", "y"), ["x", "y", "y"])
    made = problem()
    found = exposure(made.signals, made.membership)
    whole = as_records(made, made.units)
    own = exposure(whole.signals, whole.membership)
    means = exposure_of_units(own, found, made.units)
    assert means.memorisation[3] == pytest.approx(found.memorisation[made.units.codes == 3].mean())
    assert means.exposure is own.exposure
    sizes = np.bincount(made.units.codes)
    most, least = int(sizes.argmax()), int(sizes.argmin())
    hidden = made.units.codes == least
    hidden[np.flatnonzero(made.units.codes == most)[0]] = True
    some = replace(found, memorisation=np.ma.MaskedArray(found.memorisation.data, mask=hidden))
    means = exposure_of_units(own, some, made.units).memorisation
    assert np.flatnonzero(means.mask).tolist() == [least]  # a unit is known by those of its records that are
    known = (made.units.codes == most) & ~hidden
    assert means[most] == pytest.approx(found.memorisation.data[known].mean())


def test_the_control_deals_membership_out_by_unit():
    made = problem()
    other = _permuted(made, 0)
    matrix = made.units.of_units(other.membership.matrix)
    assert (matrix.sum(axis=0) == 4).all()
    assert not np.array_equal(other.membership.matrix, made.membership.matrix)


def test_membership_is_exchanged_among_units():
    made = problem()
    own, other = made.drawn.matrix, exchanged(made, 0).drawn.matrix  # refused where records of a unit were apart
    assert not np.array_equal(own, other)
    assert sorted(own.T.tolist()) == sorted(other.T.tolist())


def test_records_of_a_unit_drop_the_same_reference():
    made = problem(alike=1.0, models=10)
    level = np.asarray(made.signals.margins)[0, :, 0]
    shared = made.signals.margins - made.signals.margins[:1]  # what is left of a person is the same in all its records
    same = replace(made, signals=Signals.from_margins(shared[:, :, 0], np.zeros(len(level), int), 2))
    scores = score(Lira(variance="per-record"), same, 0)
    for unit in range(made.units.count):
        own = scores[:, made.units.codes == unit]
        assert np.allclose(own, own[:, :1])


def test_statistics_are_of_units_and_find_what_is_planted():
    made = problem(leak=1.5)
    everyone = by_column("all", np.zeros(made.signals.records, int), made.signals.records)
    settings, ids = Settings(0, replicates=100), np.arange(made.signals.records)
    found = measure(made, [Lira()], settings, ids=ids, partitions=[everyone])
    audit = found.audits[0]
    assert audit.targets[0].members + audit.targets[0].non_members == made.units.count
    assert audit.auc.mean > 0.75
    assert found.records is None
    rows = found.units.rows(np.zeros(made.signals.records, int))
    assert [row.measured.exposure for row in rows] == sorted((row.measured.exposure for row in rows), reverse=True)
    assert found.groups[0].groups[0].records == made.units.count  # A group has the mean of what its units are told.
    assert found.groups[0].groups[0].exposure.mean == pytest.approx(np.mean([row.measured.exposure for row in rows]))
    known = exposure(made.signals, made.membership)
    single = [row for row in rows if row.records == 1]
    assert single
    for row in single:  # A unit of one record is measured as that record is, but for the variance of the others.
        (record,) = np.flatnonzero(made.units.codes == row.measured.record)
        assert row.measured.margin_out == pytest.approx(known.mean_out[record])
    assert np.mean([row.measured.probability for row in rows]) > 0.6
    assert count_exposed(found.units.exposure).records == made.units.count
    assert found.scores["lira"].shape == made.shape


@pytest.mark.words
def test_an_audit_by_unit_says_so(tmp_path):
    units = persons(units=60)
    given = data(units)
    given["columns"] |= {"even": np.where(units.codes % 2, "no", "yes"), "one": np.arange(len(units.codes)) > 0}
    done = reticent.audit(
        dataset=given,
        unit="person",
        unit_score="sum",
        group_by=["even", "one"],
        models=4,
        epochs=1,
        attacks=["loss"],
        replicates=100,
        workers=1,
        store=tmp_path / "store",
        out=tmp_path / "out",
    )
    found = done.findings
    assert (found.data.unit, found.data.units, found.data.unit_score) == ("person", 60, "sum")
    assert "its score is the sum of its records'" in found.verdict.detail
    assert any("such as --unit-score mean" in line for line in found.verdict.cannot_say)
    assert found.verdict.sentence.endswith("A person here is all records of one person.")
    whole = "In all of this, “a person”, or “a record”, is all records of one person, of which"
    assert found.verdict.detail.startswith(whole)
    target = found.attacks[0].targets[0]
    assert target.members + target.non_members == 60
    assert len(done.records) == len(units.codes)
    (one,) = [row for row in done.units if row.unit == "17"]
    own = [row for row in done.records if row.groups["person"] == "17"]
    assert one.records == len(own)
    assert one.measured.margin_in == pytest.approx(np.mean([row.margin_in for row in own]))
    listed = (tmp_path / "out" / "units.csv").read_text(encoding="utf-8").splitlines()
    assert listed[0].startswith("unit,records,exposure,")
    assert listed[0].endswith(",models_out,label_name,group_even,group_one")
    assert AUDIT.recognised(tmp_path / "out" / "units.csv")  # So that the next audit may replace it.
    for row in done.units:  # A person's class and groups are those of all their records.
        own = units.codes == int(row.unit)
        labels = set(given["y"][own].tolist())
        assert row.measured.label_name == (SEVERAL if len(labels) > 1 else str(*labels))
        assert row.measured.groups["even"] == ("no" if int(row.unit) % 2 else "yes")
        assert (row.measured.groups["one"] == "True") == (not own[0])
    assert {row.measured.label_name for row in done.units} == {"0", "1", SEVERAL}
    assert [line.split(",")[0] for line in listed[1:]] == [row.unit for row in done.units]
    assert found.exposure.records == 60
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "Look it up in the table “By person” by its value there" in page
    assert ">17<" in page


def wrong(seeds, by_unit):
    """Count how often an audit of alike records finds a leak that is not there."""
    found = 0
    for seed in range(seeds):
        made = problem(seed, units=120)
        said = measure(
            made if by_unit else replace(made, units=None),
            [Lira()],
            Settings(seed, replicates=100),
            ids=np.arange(made.signals.records),
        ).verdict
        found += said.leak == "found"
    return found


@pytest.mark.parametrize(
    "seeds",
    [pytest.param(40, id="40", marks=pytest.mark.slow), pytest.param(400, id="400", marks=pytest.mark.calibration)],
)
def test_audits_by_unit_seldom_find_what_is_not_there(seeds):
    assert wrong(seeds, by_unit=True) <= stats.binom.ppf(0.99, seeds, 0.05)


def test_a_person_with_much_of_the_data_is_told_of():
    few, much = Units.of("person", np.arange(100) // 2), Units.of("person", np.minimum(np.arange(100), 60))
    assert "value of its own" not in of_units(few)
    assert "One person has 40 of the records: if its value stands for none" in of_units(much)


@pytest.mark.parametrize(
    "verb", [reticent.locate_records, reticent.locate_weights, reticent.rank_members, reticent.size_curve]
)
def test_what_is_of_records_alone_refuses_units(verb):
    with pytest.raises(InputError, match="only reticent audit and attack are of units"):
        verb(dataset=data(persons()), unit="person")


def test_a_column_that_models_see_is_no_unit(tmp_path):
    file = tmp_path / "t.csv"
    file.write_text("\n".join(["person,a,y", *(f"{7 * (i // 3)},{i % 5},{i % 2}" for i in range(120))]) + "\n")
    with pytest.raises(InputError, match=r"unit: 'person' is a feature of .*t\.csv: give --not-feature person too"):
        called(None, {"dataset": file, "label": "y", "unit": "person", "models": 4})
    with pytest.raises(InputError, match="did you mean 'person'"):
        called(None, {"dataset": file, "label": "y", "unit": "persn", "not_features": ["person"], "models": 4})
    made = reticent.plan(dataset=file, label="y", unit="person", not_features=["person"], models=4, epochs=1)
    assert 10 < 1 / made.smallest_fpr <= 20  # Of 40 persons a model leaves out half, or less.


def test_how_scores_are_joined_needs_units():
    with pytest.raises(InputError, match=r"unit_score: .*: say whose each record is too"):
        reticent.audit(dataset="digits", unit_score="sum")


def test_the_units_column_is_no_group():
    with pytest.raises(InputError, match="'person' is the unit's column, and every unit is listed by itself"):
        reticent.audit(dataset=data(persons()), unit="person", group_by="person", models=6)
