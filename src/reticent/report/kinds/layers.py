"""At which depth membership shows: the finding, stage by stage, the distances behind it, and how it was done."""

from functools import partial

from reticent.findings.locate import LayersDocument, StageFound
from reticent.report import blocks as b
from reticent.report.cells import NOTHING
from reticent.report.kinds import method
from reticent.report.pictures import layers as pictures
from reticent.rounding import beside, count, fraction, level, number, percent, signed
from reticent.say.grammar import plural, short

SINGLE = 6
"""Most contrasts that a cell lists."""
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
EFFECT_CAPTION = (
    "A dot is the mean effect of a stage, the bar its interval over records; the small marks beside it are the single "
    "contrasts. The dotted line is what a risky stage must reach; risky stages are shaded."
)
PROBE_CAPTION = (
    "How well a stage's features alone label records that no network has seen. Fang and Kim find that membership "
    "begins to show where this curve levels off."
)


def layers(document: LayersDocument) -> b.Report:
    """Bring a comparison of stages into blocks."""
    name = b.Name(document.data.name)
    return b.Report(
        title=f"Where membership shows: {name.text}",
        brand="where membership shows",
        blocks=(
            _banner(document, name),
            b.Heading("Stage by stage", "stages", "Stages", level=2, only=b.DOCUMENTS),
            *b.only(b.PAGE, *_figures(document)),
            _stages(document),
            b.Prose(_rule(document), "note", only=b.DOCUMENTS),
            *b.only(b.PAGE, *_distances(document), *_details(document)),
            *b.only(b.DOCUMENTS, *method.limits("comparison of stages", document.cannot_say)),
            *method.glossary(GLOSSARY),
        ),
        files=b.coded("The same numbers are in `layers.json`."),
        version=document.environment.reticent,
    )


def _banner(document: LayersDocument, name: b.Name) -> b.Banner:
    how = (
        "Two networks with the same initial weights, one trained on all records and one on half of them, are compared "
        f"stage by stage, {plural(document.onset.contrasts, 'time')} in all. "
    )
    return b.Banner(
        about=("Stages of a network on ", b.Strong(name), f": {method.scale(document.data, None)}"),
        sentence=document.sentence,
        tone="unsure" if document.detail else "neutral",
        blocks=(
            *(b.Prose(line, only=b.DOCUMENTS) for line in document.detail),
            *(b.Notice(line, only=b.TERMINAL) for line in document.detail),
            b.Prose((how, b.Link("What this comparison of stages cannot say.", "limits")), only=b.PAGE),
        ),
    )


def _figures(document: LayersDocument) -> list[b.Block]:
    drawn = [b.Figure(partial(pictures.effects, document.stages, document.onset.margin), EFFECT_CAPTION)]
    if any(stage.probe is not None for stage in document.stages):
        drawn.append(b.Figure(partial(pictures.probe, document.stages, document.accuracy.mean), PROBE_CAPTION))
    return [
        b.Prose(
            "Where a stage carries no trace of membership, the two networks differ by as much on records that both "
            "have seen as on records that only one has seen: the effect is 0.5."
        ),
        b.Figures(tuple(drawn)),
    ]


def _stages(document: LayersDocument) -> b.Table:
    probed, least = any(stage.probe is not None for stage in document.stages), 0.5 + document.onset.margin
    below = "the effect and the probe" if probed else "the effect"
    heads: tuple[str | b.Column, ...] = (
        b.Column("Stage", "its last layer"),
        b.Column("Risky", numbers=False),
        "Effect",
        b.Column("Single contrasts", only=b.DOCUMENTS),
        b.Column("KS", only=b.DOCUMENTS),
        *([b.Column("Probe", "test accuracy"), b.Column("Gain", "points", only=b.DOCUMENTS)] if probed else []),
        b.Column("Map", "numbers", only=b.DOCUMENTS),
        b.Column("Weights", "share of all"),
    )
    title = f"Stages in forward order; below {below} its {level(document.onset.confidence)} interval"
    return b.table(title, heads, (_stage(stage, probed, least) for stage in document.stages))


def _stage(stage: StageFound, probed: bool, least: float) -> tuple[b.Text | b.Cell, ...]:
    several = [number(one) for one in stage.effects[:SINGLE]] + ["…"] * (len(stage.effects) > SINGLE)
    probe = () if stage.probe is None else (b.Span(*(percent(end) for end in stage.probe.interval)),)
    probed_cells = (
        NOTHING if stage.probe is None else b.Cell(percent(stage.probe.mean), below=probe),
        NOTHING if stage.gain is None else b.Cell(signed(100 * stage.gain, 1)),
    )
    return (
        b.Cell(b.Name(stage.name), below=(b.Name(stage.output),)),
        b.Cell("yes", tone="bad") if stage.risky else "no",
        b.Cell(beside(stage.effect.mean, least), below=(b.Span(*(beside(end, 0.5) for end in stage.effect.interval)),)),
        b.Cell(", ".join(several[:2]), below=(", ".join(several[2:]),) if several[2:] else ()),
        number(stage.ks),
        *(probed_cells if probed else ()),
        count(stage.size),
        b.Cell(count(stage.parameters), below=(percent(stage.share, 2),)),
    )


def _rule(document: LayersDocument) -> str:
    return (
        f"The rule: an effect of at least {number(0.5 + document.onset.margin)} and an interval above 0.5, at a stage "
        f"and all later ones. The networks on all records label {percent(document.accuracy.mean)} of the test records "
        "correctly."
    )


def _distances(document: LayersDocument) -> list[b.Block]:
    drawn = tuple(
        b.Figure(partial(pictures.distances, stage, f"distances-{i}"), f"{short(stage.name, 40)}: {_beside(stage)}")
        for i, stage in enumerate(document.stages)
    )
    return [
        b.Heading("The distances behind it", "distances", "Distances", level=2),
        b.Prose(
            "How far apart the feature maps of the two networks lie, record by record, all contrasts together. Where "
            "the two curves lie on each other, the stage shows nothing."
        ),
        b.Figures(drawn, "small"),
    ]


def _beside(stage: StageFound) -> str:
    mark = "risky" if stage.risky else "not risky"
    return f"effect {fraction(stage.effect.mean)}, KS {number(stage.ks)}, {mark}"


def _details(document: LayersDocument) -> list[b.Block]:
    """Say how it was done: the networks, the options, the data, the machine."""
    heads = ("Records", "Epochs", "Steps", "Accuracy, own records", "Accuracy, test")
    rows = (
        (
            str(one.repetition + 1),
            one.trained_on,
            *map(count, (one.members, one.epochs, one.steps)),
            *map(percent, (one.accuracy_members, one.accuracy_test)),
        )
        for one in document.models
    )
    options = {key: item for key, item in document.options.items() if item not in (None, [], "")}
    return [
        b.Heading("Details and method", "details", "Details", level=2),
        b.Heading("The networks", "models"),
        b.table(
            "Networks, what they were trained on, and their accuracy",
            ("Repetition", b.Column("Trained on", numbers=False), *heads),
            rows,
        ),
        b.Prose(
            "Networks of one repetition begin with the same weights and draw from the same streams. All are asked in "
            "eval mode, about the same records, without augmentation. They are for this measurement only: none is to "
            "be released."
        ),
        method.facts(
            ("Options", method.tree(options)),
            ("Recipe", method.tree(document.recipe)),
            *method.about_data(document.data),
            *method.about_run(document.environment),
        ),
        *method.columns(document.data),
    ]
