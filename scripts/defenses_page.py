"""docs/defenses.md: what `scripts/defenses run` found and docs/measured keeps, as a page."""

import json
import statistics
from pathlib import Path

AUGMENTED = "augmented"
"""The control that augments, and stops early."""


MEASURED = Path(__file__).resolve().parent.parent / "docs" / "measured" / "defenses"
SHOWN = ("name", "role", "matches", "models", "accuracy", "auc", "tpr", "epsilon", "accountant", "control", "notices")
"""What the page shows of a row."""


def keep(document, name, seed):
    """Keep what the page shows of a comparison, for docs/defenses.md.

    Args:
        document: the comparison.
        name: of its set.
        seed: its seed.
    """
    alone = {AUGMENTED, *(row["name"] for row in document["rows"] if row["role"] == "non-adaptive")}
    found = {
        **{key: document[key] for key in ("fpr", "baseline", "sentence")},
        "data": {"roles": {"audited": document["data"]["roles"]["audited"]}},
        "rows": [{key: row.get(key) for key in SHOWN} for row in document["rows"]],
        "pairs": [pair for pair in document["pairs"] if {pair["first"], pair["second"]} & alone],
    }
    MEASURED.mkdir(parents=True, exist_ok=True)
    (MEASURED / f"{name}-{seed}.json").write_text(json.dumps(found, indent=1) + "\n")


def page(sets):
    """Print docs/defenses.md.

    Args:
        sets: what is compared, by name.
    """
    print(HEAD)
    for name, one in sets.items():
        files = {seed: MEASURED / f"{name}-{seed}.json" for seed in one["seeds"]}
        found = {seed: json.loads(file.read_text()) for seed, file in files.items() if file.exists()}
        if found:
            print("\n".join(section(one, found)))
    print(CHANGED)
    cost = MEASURED / "cost.md"
    if cost.exists():
        print(f"{COST}\n{cost.read_text().rstrip()}")


HEAD = """# What the defenses do here

Every defense of `reticent defenses` but `cwrf` and `pptp`, which repair models and have studies of their own
(`docs/studies/`). Each is trained under the same membership, seeds, roles and schedule as the undefended recipe,
attacked by one who knows it (references trained with it), and held against the undefended recipe **stopped early at
the same accuracy**: a weaker model gives less away, and anybody can have one by training for less time. A second
control, `augmented`, is the undefended recipe with augmentation, each model stopped at its best validation loss. This
page is printed by `scripts/defenses page` from the comparisons that `scripts/defenses run` makes. Each defense has a
card in `docs/methods/`.

What to keep in mind. The attacks are those of `reticent audit`, `learned` among them: SELENA's own (`selena-replica`)
is not, and the card of `selena` measures what it adds. No setting was tuned: each is the default or a value of its
paper, most of them chosen for SGD and larger networks, while all rows but those of CIFAR-10 are trained by Adam (which
undoes a factor on the loss, such as that of `ccl`: see its card), but for the tuning of `past`. For cost, `adv-reg`
takes one step of its attack network for each of the model's, weaker than its default of three, and `selena` trains 10
sub-models in place of 25. The intervals were computed when Satterthwaite's degrees of freedom were taken; with those of
the models alone (docs/design.md) they would be up to 9 % wider.
"""


CHANGED = """## What changed, and why

Before, this page rested on LiRA and RMIA with 32 models, which see no more of an answer than the margin of the label.
Now `learned` and `bavaria` are in the default set, 16 models of each row are audited, a tenth of the records is set
aside for validation, and `relaxloss`, `past` and `hamp` have other defaults (their cards say which). With half as many
models a small difference is harder to show. On Location30, with three seeds each, of what was said before:

- *SELENA leaks less than early stopping* stands, and by less than half of what was said: AUC -0.047 where it was
  -0.117. Its leak is in the other classes, where LiRA and RMIA do not look.
- *Changes of the answers leak less by their scores* stands for `hamp-output` (-0.185, was -0.206), `memguard` (-0.100,
  was -0.138) and `rounding` (-0.058, was -0.042); for `top-k` nothing is shown any more.
- *DP-SGD leaks more than early stopping, by the AUC alone* is shown by one seed of three (+0.009, was +0.010).
- *`relaxloss` leaks more* stands with its new default, by half as much (+0.079, was +0.158); *`past` leaks more* stands
  as released, by more (+0.255, was +0.186).
- The other ways of training that leaked more than early stopping still do. `focal` is new here, and cannot be judged.

On digits (one seed), *`mixup-mmd` leaks less than early stopping* and *`temperature` leaks less, by the AUC alone* are
no longer shown. *`relaxloss` leaks less, by the AUC alone* stands with its new default.

On a part of CIFAR-10 (one seed, 8 models, new here) the control is the best defense: `augmented` is as accurate as the
undefended model to a point, with an AUC of 0.752 where early stopping alone leaves 0.899. `relaxloss` and `hamp` leak
more than early stopping; `ccl` and `adv-reg`, at settings that cost 15 and more points of accuracy, show no difference.

New here, too: pruning. None of `imp`, `prune` and WeMem's three ways of
fine-tuning leaks less than early stopping on Location30; `prune+rmr` comes closest (+0.017), and `imp` keeps all of the
accuracy and a little less of the leak (AUC 0.924 where the undefended model has 0.934).

Stopping early, or augmentation with early stopping, is still what a defense has to beat. On Location30 `augmented` is
as accurate as the undefended model to about a point, with an AUC .09 lower; early stopping alone does as well at that
accuracy, or better (one seed of three shows it).
"""


COST = """## What they cost

Printed by `benchmarks/defenses.py --epochs 40` on a 2.1 GHz Xeon that other work shared (plain training itself varied
by as much as its line says): one model of each, as ratios to plain training in the same run. `adv-reg` takes three
steps of its attack network for each of the model's, as by default; the tables above give it one. Output defenses leave
the training of the model as it is: what they cost is paid with every answer, and by `memguard` before the first one
too, for a small network that it trains for each model.
"""


def across(rows, key):
    """Write an estimate over seeds.

    Args:
        rows: the same row of each seed's comparison.
        key: takes the estimate out of a row; None where it is not measurable.

    Returns:
        The mean over seeds, and from the lowest lower limit to the highest upper one of their intervals.
    """
    values = [key(row) for row in rows]
    if any(value is None for value in values):
        return "not measurable"
    mean = statistics.mean(value["mean"] for value in values)
    low, high = min(value["interval"][0] for value in values), max(value["interval"][1] for value in values)
    return f"{mean:.3f} ({low:.3f} to {high:.3f})"


def relation(document, first, second):
    """Say how one row's leak stands to another's: by AUC and TPR, corrected for all tests of the comparison.

    Args:
        document: a comparison.
        first: name of a row.
        second: name of another.

    Returns:
        "less", "more", "mixed" or "no difference shown".
    """
    found = set()
    for pair in document["pairs"]:
        if {pair["first"], pair["second"]} != {first, second} or pair["statistic"] == "accuracy":
            continue
        if pair["verdict"] != "tie":
            lower = pair["first"] if pair["verdict"] == "first lower" else pair["second"]
            found.add("less" if lower == first else "more")
    return "mixed" if len(found) > 1 else found.pop() if found else "no difference shown"


def row_of(document, name):
    """Find a row by its name.

    Args:
        document: a comparison.
        name: of a row.

    Returns:
        The row.
    """
    return next(row for row in document["rows"] if row["name"] == name)


def control_of(document, name):
    """Find the early-stopped control of a row.

    Args:
        document: a comparison.
        name: of a row.

    Returns:
        The control's row; None where the baseline as it is stands beside it.
    """
    rows = document["rows"]
    return next((r for r in rows if r["role"] == "control" and name in r["matches"]), None)


def section(one, by_seed):
    """Write the part of the page on one set.

    Args:
        one: the set.
        by_seed: the comparison of each seed.

    Returns:
        Lines of Markdown.
    """
    found = list(by_seed.values())
    first = found[0]
    fpr = first["fpr"]
    config = next(iter(first["rows"]))
    lines = [
        f"## {one['title']}",
        "",
        f"{config['models']} models of each row, {first['data']['roles']['audited']} audited records, "
        f"{len(found)} {'seeds' if len(found) > 1 else 'seed'}. In brackets: "
        + (
            "from the lowest lower limit to the highest upper limit of the seeds' 95 % intervals."
            if len(found) > 1
            else "95 % intervals."
        ),
        "",
    ]
    proofs = any(row.get("accountant") for row in first["rows"])
    if proofs and len(found) > 1:
        lines[-2] += " Of epsilon, the smallest lower bound of the seeds, and the largest proof."
    heads = ["defense", "accuracy, members", "accuracy, others", "AUC", f"TPR at FPR {fpr:g}"]
    heads += ["epsilon, at least", "epsilon, proven"] if proofs else []
    held = ["against its control"] + [f"against `{AUGMENTED}`"] * any(r["name"] == AUGMENTED for r in first["rows"])
    lines += ["| " + " | ".join(heads + held) + " |", "|---|" + "---:|" * (len(heads) - 1) + "---|" * len(held)]
    for row in first["rows"]:
        same = [next((r for r in d["rows"] if r["name"] == row["name"]), None) for d in found]
        if None in same or row["role"] == "control":
            continue
        lines.append(line(row["name"], same, found, proofs, first["baseline"]))
        control = control_of(first, row["name"])
        if row["role"] == "recipe" and control is not None:
            controls = [control_of(d, row["name"]) for d in found]
            if None not in controls:
                lines.append(line(f"— control of {row['name']}", controls, found, proofs, None))
    lines += ["", *plainly(found), *by_labels(found), *unaware(found), *noticed(by_seed), ""]
    return lines if len(found) > 1 else [*lines, first["sentence"], ""]


LEAKS = {
    "less": "less",
    "more": "more",
    "tie": "no difference shown",
    "mixed": "mixed",
    "open": "not judged",
    "idle": "not judged",
}
HEADS = {
    "less": "Leaks less than its control",
    "more": "Leaks more than its control",
    "tie": "No difference from its control is shown",
    "mixed": "Less by one measure and more by the other",
    "open": "Not judged, since its control is not as accurate as it is, which may be all that sets them apart",
    "idle": "Not judged, since most models of it or of its control did not learn",
}
UNEVEN = "Not the same with every seed"
MEASURES = {"auc": "AUC", "tpr": "TPR"}


def against(document, name):
    """Say how a row's leak stands to its control's, or to the baseline's where that is its control.

    Args:
        document: a comparison.
        name: of a defended row.

    Returns:
        A key of `LEAKS`.
    """
    held = row_of(document, name)["control"]
    return held["leak"] if held["settled"] else "idle" if held.get("unlearned") else "open"


def alone(found, name):
    """Name the measure by which alone a row differs from its control.

    Args:
        found: the comparison of each seed.
        name: of a defended row.

    Returns:
        Words in brackets; nothing where both measures show it, or it is not the same with every seed.
    """
    by = {tuple(row_of(document, name)["control"]["by"]) for document in found}
    one = by.pop() if len(by) == 1 else ()
    judged = {against(document, name) for document in found} <= {"less", "more"}
    return f" (by {MEASURES[one[0]]} alone)" if judged and len(one) == 1 else ""


def verdict(found, name):
    """Fill the last column of a row: how it stands to its control with each seed, by how much, and what is amiss.

    Args:
        found: the comparison of each seed.
        name: of a defended row.

    Returns:
        Words.
    """
    told = [LEAKS[against(document, name)] for document in found]
    said = (told[0] if len(set(told)) == 1 else ", ".join(told)) + alone(found, name)
    held = [(document, row_of(document, name)) for document in found]
    gaps = [row["auc"]["mean"] - row_of(d, row["control"]["name"])["auc"]["mean"] for d, row in held]
    area = statistics.mean(gaps)
    said += f"; AUC {area:+.{3 if abs(area) >= 0.0005 else 4}f}"
    missed = [100 * row["control"]["missed"] for _, row in held if row["control"]["missed"] is not None]
    if missed:
        seeds = "" if len(missed) == len(found) else f" with {len(missed)} of {len(found)} seeds"
        said += f"; its control is {gap(missed)} accurate{seeds}"
    return said


def gap(missed):
    """Say by how much controls are more or less accurate than a row: on average, if all of them are either.

    Args:
        missed: percentage points of each seed, none of them zero.

    Returns:
        Words.
    """
    ends = sorted(missed) if min(missed) < 0 < max(missed) else [statistics.mean(missed)]
    each = [f"{abs(one):.1f} points {'more' if one > 0 else 'less'}" for one in ends]
    return each[0] if len(each) == 1 else f"between {each[0]} and {each[-1]}"


def plainly(found):
    """Say which defenses help beyond early stopping, by what is found with every seed.

    Args:
        found: the comparison of each seed.

    Returns:
        Lines of Markdown.
    """
    baseline = found[0]["baseline"]
    names = [row["name"] for row in found[0]["rows"] if row["role"] == "recipe" and row["name"] != baseline]
    every = "with every seed" if len(found) > 1 else "with this seed"
    groups = {}
    for name in names:
        told = {against(document, name) for document in found}
        head = f"{HEADS[told.pop()]}, {every}" if len(told) == 1 else UNEVEN
        groups.setdefault(head, []).append(f"`{name}`{alone(found, name)}")
    order = [*(f"{head}, {every}" for head in HEADS.values()), UNEVEN]
    return [f"- {head}: {', '.join(groups[head])}." for head in order if head in groups]


def noticed(by_seed):
    """Pass on what training had to say of the defenses, such as that one never acted; `by_labels` says the rest.

    Args:
        by_seed: the comparison of each seed.

    Returns:
        Lines of Markdown.
    """
    lines, told = [], alike_by_labels(list(by_seed.values()))
    for seed, document in by_seed.items():
        of = f", seed {seed}" if len(by_seed) > 1 else ""
        rows = [row for row in document["rows"] if row["name"] not in told]
        lines += [f"- `{row['name']}`{of}: {text}" for row in rows for text in row["notices"]]
    return lines


def unaware(found):
    """Say what the attackers who do not know the defense would have made of it.

    Args:
        found: the comparison of each seed.

    Returns:
        Lines of Markdown; none where no such attacker was asked for.
    """
    lines, kinder, harder = [], [], []
    for row in found[0]["rows"]:
        if row["role"] != "non-adaptive":
            continue
        (name,) = row["matches"]
        own = row_of(found[0], name)
        told = {relation(document, row["name"], name) for document in found}
        gap = own["auc"]["mean"] - row["auc"]["mean"]
        lines.append(
            f"- `{name}`: AUC {own['auc']['mean']:.3f} by the attacker who knows it, {row['auc']['mean']:.3f} by one "
            f"whose references are undefended ({gap:+.3f})."
        )
        (kinder if told == {"less"} else harder if told == {"more"} else []).append(f"`{name}`")
    if lines and kinder:
        lines.append(
            f"- What the gap means: attacked by somebody who does not know the defense, {', '.join(kinder)} would look "
            "better than against one who does; that part of the protection is the attacker's ignorance and not the "
            "model's silence, and is lost once the method is known. So only the adaptive rows count."
        )
    elif lines:
        lines.append(
            "- What the gap means: for none of these is it shown that an attacker who does not know the method finds "
            "less; that it would be so with more models or records is not excluded."
        )
    if harder:
        lines.append(
            f"- {', '.join(harder)}: undefended references find more than defended ones here, so an attacker would use "
            "those."
        )
    return lines


def by_labels(found):
    """Say what an attacker who sees labels alone finds under defenses that change nothing but answers.

    Args:
        found: the comparison of each seed.

    Returns:
        Lines of Markdown; none where there is no such defense.
    """
    names = [f"`{name}`" for name in alike_by_labels(found)]
    if not names:
        return []
    areas = [seen(document, document["baseline"]) for document in found]
    area = statistics.mean(0.5 + (members - others) / 2 for members, others in areas)
    verb = "gives" if len(names) == 1 else "give"
    return [
        f"- {', '.join(names)} {verb} the same label as the undefended model for every record: an attacker who sees "
        f"labels alone finds as much as without {'it' if len(names) == 1 else 'them'} (AUC {area:.3f}). What such a "
        "defense hides, it hides from the scores only."
    ]


def alike_by_labels(found):
    """List the defenses under which labels tell what they tell without a defense.

    Args:
        found: the comparison of each seed.

    Returns:
        Names of rows.
    """
    baseline = [seen(document, document["baseline"]) for document in found]
    names = [row["name"] for row in found[0]["rows"] if row["role"] == "recipe" and row["name"] != found[0]["baseline"]]
    return [name for name in names if [seen(document, name) for document in found] == baseline]


def seen(document, name):
    """Tell what labels tell in a row.

    Args:
        document: a comparison.
        name: of the row.

    Returns:
        The accuracies on members and on others.
    """
    row = row_of(document, name)
    return row["accuracy"]["members"]["mean"], row["accuracy"]["non_members"]["mean"]


def against_augmented(found, name):
    """Say how a row stands to the augmented control: by leak with each seed, and by how much in AUC and accuracy.

    Args:
        found: the comparison of each seed.
        name: of a row.

    Returns:
        Words; none where there is no such control.
    """
    pairs = [(row_of(d, name), row_of(d, AUGMENTED)) for d in found if any(r["name"] == AUGMENTED for r in d["rows"])]
    if not pairs or name == AUGMENTED:
        return ""
    told = [relation(document, name, AUGMENTED) for document in found]
    area = statistics.mean(one["auc"]["mean"] - other["auc"]["mean"] for one, other in pairs)
    right = [100 * (o["accuracy"]["non_members"]["mean"] - r["accuracy"]["non_members"]["mean"]) for r, o in pairs]
    said = told[0] if len(set(told)) == 1 else ", ".join(told)
    points = statistics.mean(right)
    return f"{said}; AUC {area:+.3f}; {abs(points):.1f} points {'less' if points > 0 else 'more'} accurate"


def line(label, rows, found, proofs, baseline):
    """Write one row of a table.

    Bounds on epsilon stay bounds: the smallest of the lower ones, rounded down, and the largest proof, rounded up.

    Args:
        label: what stands in the first column.
        rows: the row in the comparison of each seed.
        found: the comparison of each seed.
        proofs: the table has columns for epsilon.
        baseline: name of the undefended row; None where the row is held against nothing.

    Returns:
        A line of Markdown.
    """
    from reticent.rounding import up
    from reticent.say.epsilon import shown

    cells = [f"`{label}`" if not label.startswith("—") else label]
    cells += [across(rows, lambda r: r["accuracy"]["members"]), across(rows, lambda r: r["accuracy"]["non_members"])]
    cells += [across(rows, lambda r: r["auc"]), across(rows, lambda r: r["tpr"])]
    if proofs:
        lower = [r["epsilon"] for r in rows]
        cells.append("" if None in lower else shown(min(lower)))
        proven = [(r.get("accountant") or {}).get("epsilon") for r in rows]
        cells.append("" if None in proven else up(max(proven), digits=2))
    recipe = baseline is not None and rows[0]["role"] == "recipe"
    cells.append(verdict(found, label) if recipe and label != baseline else "")
    if any(row["name"] == AUGMENTED for document in found[:1] for row in document["rows"]):
        cells.append(against_augmented(found, label) if recipe else "")
    return "| " + " | ".join(cells) + " |"
