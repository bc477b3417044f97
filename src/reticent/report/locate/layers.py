"""``layers.html`` and ``layers.json``: at which depth of a network membership begins to show."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reticent.report.output import Output
from reticent.report.page import facts, scale
from reticent.report.view import short
from reticent.report.wording import level, limits, middle, number, percent, span, written

if TYPE_CHECKING:
    from rich.console import RenderableType

GLOSSARY = (
    ("Member", "A record that a network was trained on."),
    ("Stage", "A run of layers with one feature map at its end; the last stage is the classifier, the head."),
    ("Feature map", "What a stage passes on to the next one, for one record: so many numbers."),
    (
        "Distance",
        "How far apart the feature maps of two networks lie for one record: the root of the mean squared difference.",
    ),
    (
        "Effect",
        "The chance that a record that one network has seen lies farther apart than one that both have seen. 0.5: the "
        "stage shows no trace of who was seen; 1: it tells them apart without fail.",
    ),
    (
        "Risky",
        "The effect exceeds one half by the margin, and its interval one half, at this stage and all later ones.",
    ),
    ("KS", "The largest gap between the two groups' distribution functions; shown beside the effect, decides nothing."),
    ("Probe", "A linear support vector machine that labels records from a stage's features alone."),
    ("Interval", "Where the number lies with the stated confidence, were other records drawn."),
)
"""Word -> one line."""


def write_layers(output: Output, document: Mapping[str, Any]) -> tuple[Path, ...]:
    """Write ``layers.html`` and, last, ``layers.json``, each complete or not at all."""
    return output.write(document, {"layers.html": html(document)})


def html(document: Mapping[str, Any]) -> str:
    """Write the finding as one page that loads nothing."""
    from reticent.report.locate import layer_pictures  # matplotlib takes half a second to import
    from reticent.report.templating import drawn, render

    stages, rule = document["stages"], document["onset"]
    data, environment = document["data"], document["environment"]
    probed = [stage for stage in stages if stage["probe"] is not None]
    shown = [(drawn(layer_pictures.effects(stages, rule["margin"])), EFFECT_CAPTION)]
    if probed:
        own = middle(document["accuracy"])
        shown.append((drawn(layer_pictures.probe(probed, own)), PROBE_CAPTION))
    values = {
        "name": short(data["name"]),
        "scale": scale(data, {}),
        "sentence": document["sentence"],
        "detail": document["detail"],
        "tone": "unsure" if document["detail"] else "neutral",
        "rule": rule,
        "confidence": level(rule["confidence"]),
        "stages": stages,
        "probed": bool(probed),
        "accuracy": document["accuracy"],
        "curves": shown,
        "histograms": [
            (drawn(layer_pictures.distances(stage, f"distances-{i}")), f"{short(stage['name'], 40)}: {_beside(stage)}")
            for i, stage in enumerate(stages)
        ],
        "models": document["models"],
        "options": {key: item for key, item in document["options"].items() if item not in (None, [], "")},
        "recipe": document["recipe"],
        "limits_said": document["cannot_say"],
        "what": "comparison of stages",
        "environment": environment,
        "glossary": GLOSSARY,
        **{key: item for key, item in facts(data, {}, (), environment).items() if key != "specs"},
    }
    return render("layers.html.j2", values)


EFFECT_CAPTION = (
    "A dot is the mean effect of a stage, the bar its interval over records; the small marks beside it are the single "
    "contrasts. The dotted line is what a risky stage must reach; risky stages are shaded."
)
PROBE_CAPTION = (
    "How well a stage's features alone label records that no network has seen. Fang and Kim find that membership "
    "begins to show where this curve levels off."
)


def _beside(stage: Mapping[str, Any]) -> str:
    mark = "risky" if stage["risky"] else "not risky"
    return f"effect {written(stage['effect'])}, KS {number(stage['ks'])}, {mark}"


def terminal(document: Mapping[str, Any]) -> "RenderableType":
    """Bring the finding into a table for the terminal."""
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("stage", overflow="fold")
    for heading in ("map", "weights", "effect", "interval", "KS", "probe", "risky"):
        table.add_column(heading, justify="right", no_wrap=True)
    for stage in document["stages"]:
        table.add_row(
            Text(short(stage["name"], 40)),
            f"{stage['size']:,}",
            percent(stage["share"], 2),
            written(stage["effect"]),
            span(limits(stage["effect"]), to="–"),
            number(stage["ks"]),
            percent(middle(stage["probe"])),
            "yes" if stage["risky"] else "no",
        )
    told = [Text(f"Warning: {line}", style="yellow") for line in document["detail"]]
    return Group(Text(document["sentence"], style="bold"), "", table, *([""] if told else []), *told)
