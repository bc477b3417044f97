import copy
import re

from audit_forms import html, markdown, terminal

from reticent.report.kinds.method import used


def test_terminal_fits_80_columns_and_has_the_numbers(document):
    text = terminal(document)
    assert max(len(line) for line in text.splitlines()) <= 80
    assert "…" not in text
    for attack in document["attacks"]:
        auc = attack["overall"]["auc"]
        assert re.search(rf"^{attack['name']} +{auc['mean']:.3f} ", text, re.MULTILINE)
        assert f"{auc['interval'][0]:.3f}–{auc['interval'][1]:.3f}" in text
    assert "Found at 0.01\u00a0% FPR: not measurable (needs 10,000 non-members)" in text
    assert text.startswith("▲ Leak found. An attacker who accepts 1 false alarm in 100")
    assert "Model 3 labels 31\u00a0% of" in text


def test_terminal_says_in_the_cell_what_only_one_attack_cannot_measure(document):
    changed = copy.deepcopy(document)
    changed["attacks"][1]["overall"]["tpr_at_fpr"][0].update(measurable=False, tpr=None)
    text = " ".join(terminal(changed, 160).split())
    assert "not measurable (needs 10" in text


def test_terminal_shows_markup_as_text(document):
    changed = copy.deepcopy(document)
    changed["attacks"][0]["name"] = changed["verdict"]["attack"] = "[red]lira[/red]"
    changed["verdict"]["sentence"] = "[bold]x[/bold]\x1b[31m"
    text = terminal(changed)
    assert "[red]lira[/red]" in text
    assert "[bold]x[/bold]" in text
    assert "\x1b" not in text


def test_the_verdict_says_which_models_were_audited_and_what_its_attacker_needs(document):
    document = copy.deepcopy(document)
    first, models = document["attacks"][0], document["population"]["models"]
    for strong, needs in ((True, ", and train others like it, can learn"), (False, "may query such a model can learn")):
        first["strong"] = strong
        (said,) = re.findall(r"Anyone who .*", html(document))
        assert needs in said
        assert f"The {models} models were trained for this audit: one that you ship is not among them." in said
    brought = document["population"] | {"targets": [0], "models": models}
    assert "trained for this audit" not in html(document | {"population": brought})


def test_markdown_has_the_table_and_the_limits(older):
    document = older
    text = markdown(older)
    assert text.startswith("## Membership privacy\n\n**Leak found.** An attacker")
    table = [line for line in text.splitlines() if line.startswith("|")]
    assert len(table) == 2 + 7
    assert {line.count("|") for line in table} == {7}
    auc = document["attacks"][0]["overall"]["auc"]
    assert (
        f"| **lira** (sees probabilities) | {auc['mean']:.3f} ({auc['interval'][0]:.3f} to {auc['interval'][1]:.3f}) |"
        in text
    )
    assert "- Found at 0.1\u00a0% FPR: not measurable (needs 1,000 non-members)" in text
    assert "### What this audit cannot say\n\n- What an attacker" in text
    assert "- Architecture: mlp" in text


def test_markdown_escapes(document):
    changed = copy.deepcopy(document)
    changed["data"]["name"] = "<script>|*a*\n# b"
    line = next(line for line in markdown(changed).splitlines() if line.startswith("- Data:"))
    assert line == r"- Data: \<script\>\|\*a\* \# b"


def test_what_a_function_of_the_users_did_not_use_is_notterminal(document):
    recipe = {
        "procedure": {"method": "function", "function": "my:train", "source": "abc"},
        "output": "none",
        "epochs": 77,
    }
    own = document | {"recipe": recipe | {"architecture": {"method": "cnn-of-nobody"}}}
    text = markdown(own)
    assert "Trained: by my:train" in text
    assert "cnn-of-nobody" not in text
    assert used(own["recipe"]) == {"trained": "by my:train", "source": "abc", "output": "none"}
    assert used({"epochs": 3}) == {"epochs": 3}


def test_the_section_names_the_defense_and_what_it_repaired(document):
    defended = copy.deepcopy(document)
    defended["recipe"]["objective"] = {"method": "relaxloss", "alpha": 0.5}
    defended["recipe"]["procedure"] = {"method": "cwrf", "rate": 0.01, "inner": {"method": "plain"}, "epochs": None}
    defended["recipe"]["output"] = {"method": "top-k", "k": 3}
    defended["population"]["repair"] = {"cwrf": {"weights": 200, "rewound": 2.0, "kinds": {"linear": 2.0}}}
    text = markdown(defended)
    assert "- Objective: relaxloss, alpha 0.5\n" in text
    assert "- Trained by procedure: cwrf, rate 0.01, inner plain\n" in text
    assert "- Answers changed by: top-k, k 3\n" in text
    assert "- CWRF:\n  - weights rewound: 2 of 200 (1.0" in text
    assert "Trained by procedure" not in markdown(document)


def test_what_training_said_is_told_in_the_terminal(document):
    notice = "BatchNorm was replaced by GroupNorm in 2 layers."
    changed = document | {"population": document["population"] | {"notices": [notice, "Two."]}}
    lines = terminal(changed, 160).splitlines()
    assert {notice, "Two."} <= set(lines)


def test_what_no_part_of_training_proves_is_said_once_on_a_terminal(document):
    why = "There is no guarantee for the whole."
    found = document["epsilon"] | {"unproved": why, "sentence": f"Found. {why}"}
    changed = document | {"epsilon": found, "population": document["population"] | {"notices": [why, "Another."]}}
    text = terminal(changed, 160)
    assert text.count(why) == 1
    assert text.index(why) < text.index("Another.")
    assert f"Found. {why}" in markdown(changed)
