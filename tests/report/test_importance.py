"""Where a learned attack found the leak, and what was left out, on every form of a report."""

import numpy as np
import pytest

import reticent
from reticent.findings.evidence import Family, FamilyImportance, Importance
from reticent.say.evidence import _importance


def found(**more):
    rng = np.random.default_rng(0)
    first = rng.random((4, 300)) < 0.5
    members = np.stack([first, ~first], axis=1).reshape(8, 300)
    margins = rng.normal(size=(8, 300)) + 2.0 * members
    given = {"labels": np.arange(300) % 3, "membership": members, "margins": margins, "replicates": 100}
    return reticent.attack(**given, attacks=["lira", "learned"], options={"learned": {"learner": "logistic"}}, **more)


def test_the_place_of_the_leak_and_the_references_left_out_are_said_everywhere(tmp_path):
    done = found(out=tmp_path / "out", format="md")
    (told,) = [one.importance for one in done.findings.attacks if one.importance is not None]
    assert "learned" in told.sentence
    assert "on what models say of the true label" in told.sentence
    assert "Only margins were given" in told.sentence
    near = done.findings.near_complements
    assert (near.targets, near.references) == (8, 1)
    assert near.sentence.startswith("8 models were attacked without up to 1 reference each")
    assert near.sentence in done.findings.verdict.cannot_say
    for name in ("report.html", "report.md"):
        text = (tmp_path / "out" / name).read_text(encoding="utf-8")
        assert "Where learned found it" in text
        assert "attacked without up to 1 reference" in text


@pytest.mark.parametrize(
    ("lost", "words"),
    [
        (0.0647, "55.3 %"),
        (0.0300, "25.6 %"),
        (0.2000, "100.0 %"),
    ],
)
def test_a_part_of_what_was_found_is_a_part_of_the_auc_beyond_chance(lost, words):
    """Not of what all parts lose one by one, of which one that hardly matters may have nearly all."""
    family = FamilyImportance(family=Family.LABEL, lost=lost, share=0.9)
    said = _importance("learned", Importance(auc=0.617, families=(family, family.with_(lost=0.001, share=0.1))), 0.58)
    assert said.startswith("learned relies most on what models say of the true label: without that, ")
    assert f"its AUC on references that play the target falls from 0.617 to {0.617 - lost:.3f}, {words} of" in said
    assert "of the way to chance. (On the audited models themselves it is 0.580; no" in said
