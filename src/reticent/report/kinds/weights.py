"""The scores of weights: the finding, the two scores side by side, in which layers, and how it was done."""

from functools import partial

from reticent.findings.locate import ByLayer, Origin, Stability, WeightsDocument
from reticent.report import blocks as b
from reticent.report.cells import estimate
from reticent.report.kinds import method
from reticent.report.pictures import weights as pictures
from reticent.rounding import count, level, number, percent
from reticent.say.grammar import plural

FEW = 12
"""With fewer layers, nobody needs to search them."""
ORIGINS = {
    Origin.TRAINING: "known from training",
    Origin.FILE: "from a file",
    Origin.GIVEN: "given",
    Origin.SEED: "built again from a seed",
    Origin.FRESH: "not known: a fresh draw in its place",
}
GLOSSARY = (
    (
        "Vulnerability",
        "How much a weight helps to know members and nobody else: the sum over steps of |gradient x weight| while a "
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


def weights(document: WeightsDocument) -> b.Report:
    """Bring scores of weights into blocks."""
    name, data = b.Name(document.model.name), b.Name(document.data.name)
    return b.Report(
        title=f"Where the leak is: the weights of {name.text} on {data.text}",
        brand="where the leak is: weights",
        blocks=(
            _banner(document, name, data),
            *_kinds(document),
            b.Heading("What the weights with the largest scores hold", "largest", only=b.DOCUMENTS),
            _largest(document),
            *b.only(b.PAGE, *([] if document.stability is None else _stability(document.stability))),
            *b.only(b.DOCUMENTS, *_layers(document)),
            *b.only(b.PAGE, *_details(document)),
            *method.limits("scoring", document.cannot_say),
            *method.glossary(GLOSSARY),
        ),
        files=b.coded(
            "The same numbers are in `weights.json`, the scores in `vulnerability.safetensors` and "
            "`learnability.safetensors`."
        ),
        version=document.environment.reticent,
    )


def _banner(document: WeightsDocument, name: b.Name, data: b.Name) -> b.Banner:
    known = document.data
    right = f"The model labels {percent(known.accuracy_members)} of its members correctly"
    if known.accuracy_reference is not None:
        right += f", and {percent(known.accuracy_reference)} of records that it never saw"
    fresh = "The initial state is not this model's own: it is a fresh draw."
    return b.Banner(
        about=(
            f"The {count(document.model.entries)} weights of ",
            b.Strong(name),
            f", trained on {count(known.members)} members of ",
            b.Strong(data),
        ),
        sentence=document.sentence,
        blocks=b.only(
            b.PAGE,
            b.Prose(f"{right}."),
            *([b.Prose(fresh)] if document.initial.origin is Origin.FRESH else []),
            b.Prose(("A score ranks weights inside one model. ", b.Link("What this scoring cannot say.", "limits"))),
        ),
    )


def _kinds(document: WeightsDocument) -> list[b.Block]:
    """Show how the two scores agree by kind of layer."""
    heads = ("Weights", "Share of weights", "Share of vulnerability", "Pearson", "Log-Pearson", "Spearman")
    rows = (
        (
            row.kind,
            count(row.entries),
            percent(row.share, 2),
            percent(row.vulnerability),
            *map(number, (row.pearson, row.log_pearson, row.spearman)),
        )
        for row in (document.kinds[1:] if len(document.kinds) == 2 else document.kinds)  # One kind is all there is.
    )
    drawn = [row for row in document.kinds if row.density is not None]
    drawn = drawn[1:] if len(drawn) == 2 else drawn
    scatters = tuple(b.Figure(partial(pictures.scatter, row, f"scatter-{i}")) for i, row in enumerate(drawn))
    cells = (
        "Each cell counts weights, darker for more, on a logarithmic scale. Weights whose score is zero, or more than "
        "8 powers of ten below the largest, lie at the left or lower edge."
    )
    return [
        b.Heading("Are these the weights that the network learns by?", "kinds", "Kinds", level=2, only=b.DOCUMENTS),
        b.Prose(
            "Vulnerability is what a weight adds to knowing members and nobody else; learnability is what it adds to "
            "knowing members at all. Where the two agree, taking a weight away takes accuracy away too.",
            only=b.PAGE,
        ),
        b.table("Agreement of vulnerability and learnability by kind of layer", ("Kind of layer", *heads), rows),
        *((b.Figures(scatters, "small", only=b.PAGE), b.Prose(cells, "note", only=b.PAGE)) if scatters else ()),
    ]


def _largest(document: WeightsDocument) -> b.Table:
    again = {} if document.stability is None else {row.rate: row.mean for row in document.stability.rows}
    several = [b.Column("Jaccard, other batches", only=b.TERMINAL)] if again else []
    heads = ("Largest scores", "Weights", "Vulnerability held", "Learnability held", "In both sets")
    rows = (
        (
            level(row.rate),
            count(row.entries),
            *map(percent, (row.vulnerability, row.learnability, row.shared)),
            number(row.jaccard, 2),
            *(number(again.get(row.rate), 2) for _ in several),
        )
        for row in document.largest
    )
    columns: tuple[str | b.Column, ...] = (*heads, b.Column("Jaccard index", only=b.DOCUMENTS), *several)
    return b.table(
        "What the weights with the largest scores hold, and whether both scores take the same", columns, rows
    )


def _stability(found: Stability) -> list[b.Block]:
    heads = ("Largest scores", f"Mean over {plural(found.pairs, 'pair')}", "Least", "Random sets")
    rows = ((level(row.rate), number(row.mean), number(row.least), number(row.chance, 4)) for row in found.rows)
    title = f"Jaccard index of the most vulnerable weights between {found.seeds} scorings of the same model"
    return [b.Heading("Would other batches rank them the same?", "stability"), b.table(title, heads, rows)]


def _layers(document: WeightsDocument) -> list[b.Block]:
    """Show which layers hold the vulnerability."""
    rows = document.layers
    heads = ("Weights", "Share of weights", "Share of vulnerability", "Share of learnability", "Among the top 1 %")
    caption = (
        "Layers from the input (top or left) to the output. A layer whose circle lies beyond its square holds more of "
        "the vulnerability than its size explains."
    )
    depth = b.Figures((b.Figure(partial(pictures.layers, rows), caption),), "wide", only=b.PAGE)
    return [
        b.Heading("In which layers", "layers", "Layers", level=2),
        *([depth] if any(row.vulnerability for row in rows) else []),
        b.table(
            "What each layer holds; last, the share of its weights that are among the 1 % most vulnerable",
            ("Layer", b.Column("Kind", numbers=False), *heads),
            map(_layer, rows),
            key="layer-table",
            sortable=True,
            find="name or kind" if len(rows) >= FEW else "",
        ),
    ]


def _layer(row: ByLayer) -> tuple[b.Text | b.Cell, ...]:
    share = b.Cell(percent(row.share, 2), row.share)
    shares = (estimate(one, True) for one in (row.vulnerability, row.learnability, row.marked))
    return b.Name(row.layer or "(network)"), row.kind, b.Cell(count(row.entries), row.entries), share, *shares


def _details(document: WeightsDocument) -> list[b.Block]:
    """Say how it was done."""
    model = (
        *method.values(document.model, "unused"),
        ("initial state", ORIGINS[document.initial.origin]),
        ("parameters without a gradient", count(len(document.model.unused))),
    )
    data = method.values(document.data, "accuracy_members", "accuracy_reference", "commonest", "unlearned")
    return [
        b.Heading("Details and method", "details", "Details", level=2),
        b.Prose(
            "A working copy of the trained network takes steps on members, and on reference non-members is pulled to "
            "the answers of the network before training. At each step the product of gradient and weight, without its "
            "sign, is added to the weight's score. The network itself is not changed."
        ),
        b.Figures(
            (
                b.Figure(
                    partial(pictures.steps, document.steps),
                    "While vulnerability is scored, members should stay known (low loss) and non-members should move "
                    "toward the initial model (low divergence).",
                ),
            ),
            "wide",
        ),
        method.facts(
            ("Model", model),
            ("Data", data),
            ("Scoring", method.tree(document.scoring)),
            *method.about_run(document.environment, "seconds", "parameters"),
        ),
    ]
