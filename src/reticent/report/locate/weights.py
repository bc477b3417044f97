"""The page of ``locate weights``: the finding, the two scores side by side, in which layers, and how it was done."""

from collections.abc import Mapping
from typing import Any

from reticent.report.locate.pictures import layers, scatter, steps
from reticent.report.templating import drawn, render
from reticent.report.wording import duration, size

GLOSSARY = (
    (
        "Vulnerability",
        "How much a weight helps to know members and not others: the sum over steps of |gradient x weight| while a "
        "copy of the network learns members and is pulled back to its initial answers on records it never saw.",
    ),
    ("Learnability", "The same sum while the copy only learns members: the first-order Taylor importance of pruning."),
    ("Reference non-members", "Records that the model never saw and that no audit of it may use."),
    ("Pearson", "Correlation of the scores themselves; a few large ones decide it, since scores have heavy tails."),
    ("Log-Pearson", "Correlation of the logarithms of the scores, over weights whose scores are both above zero."),
    ("Spearman", "Correlation of the ranks of the scores: 1 means the same order."),
    (
        "Jaccard index",
        "Of the weights that are in either of two sets, the share that is in both: 1 means the same set.",
    ),
)
"""Word -> one line."""
ORIGINS = {
    "training": "known from training",
    "file": "from a file",
    "seed": "built again from a seed",
    "given": "given",
    "fresh draw": "not known: a fresh draw in its place",
}


def page(document: Mapping[str, Any]) -> str:
    """Write what was found as one page that loads nothing."""
    model, data, environment = document["model"], document["data"], document["environment"]
    known = [row for row in document["kinds"] if row["density"]]
    if len(known) == 2:  # One kind is all there is.
        known = known[:1]
    facts = {
        "model": {
            "architecture": model["name"],
            "weights": f"{model['entries']:,}",
            "initial state": ORIGINS.get(document["initial"]["origin"], document["initial"]["origin"]),
            "without a gradient": len(model["unused"]),
        },
        "data": {
            "members": f"{data['members']:,}",
            "reference non-members": f"{data['reference']:,}",
            "classes": data["classes"],
        },
        "scoring": document["scoring"],
        "environment": {
            key: item
            for key, item in environment.items()
            if not key.startswith("seconds") and not key.endswith("_bytes")
        }
        | {"scoring took": duration(environment["seconds_scoring"])}
        | ({"peak memory": size(environment["peak_memory_bytes"])} if environment.get("peak_memory_bytes") else {}),
    }
    values = {
        "sentence": document["sentence"],
        "name": model["name"],
        "data": data,
        "entries": model["entries"],
        "fresh": document["initial"]["origin"] == "fresh draw",
        "kinds": document["kinds"],
        "largest": document["largest"],
        "layer_rows": document["layers"],
        "stability": document["stability"],
        "scatters": [drawn(scatter(row, f"scatter-{i}")) for i, row in enumerate(known)],
        "depth": drawn(layers(document["layers"])) if any(row["vulnerability"] for row in document["layers"]) else None,
        "course": drawn(steps(document["steps"])),
        "facts": facts,
        "limits_said": document["cannot_say"],
        "what": "page",
        "environment": environment,
        "glossary": GLOSSARY,
    }
    return render("locate_weights.html.j2", values)
