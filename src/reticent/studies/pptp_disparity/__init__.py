"""At which stage of a network does membership begin to show, and is it where a probe's accuracy stops to grow?

Paper: Fang and Kim, "Decoupling generalizability and membership privacy risks in neural networks" (PPTP, arXiv
2602.02296), figures 1 and 8 to 11. The paper compares distributions by eye; here the first risky stage is chosen by the
rule of `locate layers`, with its evidence. Its figures have no printed numbers: what it says of them stands in the
claims.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from reticent.findings.locate import StageFound
from reticent.findings.study import Column, DensityPanel, Figure, Form, Heights, Level, LinesPanel
from reticent.jobs.locate import layers
from reticent.models.stages import HEAD
from reticent.options import Options
from reticent.rounding import percent
from reticent.studies import presets
from reticent.studies.base import Bench, Found, Results, Scale, Setting, Study
from reticent.studies.numbers import Estimate
from reticent.studies.pptp.settings import PAPER
from reticent.studies.pptp_disparity import claims
from reticent.studies.pptp_disparity.levelling import levelling, places, rivals, share


def measured(bench: Bench) -> Found:
    """Measure one setting with one seed."""
    bench.say("networks on all records and on halves")
    job, options = bench.job(out=str(bench.folder)), layers.LayersOptions(margin=claims.MARGIN)
    document = layers.run(job, options, bench.work).findings
    found, test = Found(), document.data.test
    for stage in document.stages:
        found.rows[stage.name] = f"{stage.size:,} numbers a record, {percent(stage.share, 2)} of the weights"
        effect = Estimate.between(stage.effect.mean, *stage.effect.interval, partial=True)
        found.numbers |= {(stage.name, "effect"): effect, (stage.name, "ks"): Estimate(stage.ks, partial=True)}
        if stage.probe is not None:
            found.numbers[stage.name, "probe"] = share(stage.probe.mean, test)
    body = [stage for stage in document.stages if stage.name != HEAD]  # The classifier is no stage of the paper's.
    first = next((stage for stage in body if stage.name not in claims.STEMS), body[0])
    for name, stage in ((claims.FIRST, first), (claims.LAST, body[-1])):
        found.numbers[name, "effect"] = found.numbers[stage.name, "effect"]
    levels, onset = [stage.probe.mean for stage in body if stage.probe is not None], document.onset.index
    if onset is not None and onset in places(len(levels)):
        found.numbers[claims.LEVELS, "probe"] = levelling(levels, onset, test)
        for place, rival in rivals(levels, onset, test).items():
            found.numbers[claims.against(body[place].name), "probe"] = rival
    found.panels = tuple(map(_distances, document.stages))
    found.notes = [f"seed {bench.seed}: {document.sentence}", *document.detail]
    return found


def _distances(stage: StageFound) -> DensityPanel:
    counts = {"seen by both": stage.distances.both, "seen by one": stage.distances.one}
    return DensityPanel(
        title=stage.name,
        x="normalised distance of feature maps",
        edges=stage.distances.edges,
        series=tuple(_heights(label, many) for label, many in counts.items()),
    )


def _heights(label: str, counts: Sequence[int]) -> Heights:
    return Heights(label=label, heights=tuple(count / max(1, sum(counts)) for count in counts))


COLUMNS = (
    Column(key="effect", label="Effect (0.5: no trace)"),
    Column(key="ks", label="Kolmogorov's distance"),
    Column(key="probe", label="Probe's accuracy", form="share"),
)


def drawn(results: Results, setting: Setting) -> Iterator[Figure]:
    """Draw effect and probe by stage, and the distances at each stage."""
    names = tuple(results.rows(setting.key))

    def by_stage(metric: str, title: str, form: Form, *levels: Level) -> LinesPanel:
        return LinesPanel(
            title=f"{title} by stage",
            y=title.lower(),
            form=form,
            ticks=names,
            series=(results.points(setting, names, metric, title if levels else "", range(len(names))),),
            levels=levels,
        )

    panels = (
        by_stage("effect", "Effect", "number", Level(label="no trace", value=0.5)),
        by_stage("probe", "Probe's accuracy", "share"),
    )
    yield Figure(name=setting.key, title=f"Where membership begins to show, {setting.label}", panels=panels)
    yield Figure(
        name=f"{setting.key}-distances",
        title=f"Distances between a network on all records and one on half, {setting.label} (first seed)",
        panels=results.found[setting.key][0].panels,
    )


TINY_IMAGES: Options = presets.CIFAR | {"dataset": "tinyimagenet", "epochs": 100, "augmentation": "flip-crop"}
RESIDUAL: Options = {"stem": "tiny"}
"""On 64 x 64 pixels, stage 4 of a ResNet then has 4 x 4 places, as the paper says of ResNet18 ("originally 4x4")."""
RESNETS: Options = {claims.FAMILY: claims.RESNET, claims.STAGES: 4, claims.ONSET: 4}
NETWORKS: dict[str, tuple[str, str | Options, str, Options]] = {
    "resnet18": ("ResNet18", RESIDUAL | {"name": "resnet18"}, claims.RESNET, RESNETS),
    "resnet152": ("ResNet152", RESIDUAL | {"name": "resnet152"}, claims.RESNET, RESNETS),
    "vgg11": ("VGG11", "vgg11", claims.VGG, {claims.FAMILY: claims.SHALLOW, claims.STAGES: 5}),
    "vgg19": ("VGG19", "vgg19", claims.VGG, {claims.FAMILY: claims.DEEP, claims.STAGES: 5}),
    "atm-xt": ("ATM-XT", "atm", claims.ATM, {claims.FAMILY: claims.ATM, claims.STAGES: 4, claims.ONSET: 3}),
}
"""The paper's: label, architecture, kind, and what it says of them."""
SCALES = {
    "tiny": Scale(
        (
            presets.TINY_CNN,
            replace(presets.TINY_LOCATION, key="mlp", base=presets.LOCATION | {"records": 2000}),
        ),
        3,
        "Digits as pictures and a part of Location30; 6 networks of each kind a seed, 3 seeds: some minutes.",
    ),
    "small": Scale(
        (
            presets.SMALL_RESNET20,
            replace(presets.SMALL_CNN, key="cnn", base=presets.CIFAR_SMALL),
            replace(presets.SMALL_LOCATION, key="mlp", base=presets.LOCATION),
        ),
        3,
        "A part of CIFAR-10 and Location30; 6 networks of each kind a seed, 3 seeds: about half an hour on two cores.",
    ),
    "paper": Scale(
        tuple(
            Setting(name, f"{label} on TinyImageNet", TINY_IMAGES | {"architecture": it}, options, network=network)
            for name, (label, it, network, options) in NETWORKS.items()
        ),
        3,
        "TinyImageNet with augmentation, 100 epochs, five architectures, 3 seeds: days on one GPU.",
    ),
}

STUDY = Study(
    name="pptp-disparity",
    title="At which stage does membership begin to show, and is it where a probe's accuracy stops to grow?",
    paper=PAPER,
    scales=SCALES,
    measure=measured,
    columns=COLUMNS,
    claims=claims.CLAIMS,
    draw=drawn,
    caution=(
        "The paper prints no number of these figures and names no optimizer, epochs or kind of probe: what it says is "
        "judged, not its values.",
        "The paper's networks see pictures. An MLP on a table asks whether what it says holds elsewhere; it has no "
        "part in the verdicts.",
        "Whether membership begins where the probe stops to gain needs four stages before the classifier, so that "
        "there are two such places: it can't be told of networks with fewer, such as the MLP.",
        "A stage's effect says that its maps differ, not what an attack on the network's answers would find.",
    ),
    over="records alone, with the networks as they are",
)
