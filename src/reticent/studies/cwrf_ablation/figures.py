"""The figures of `cwrf-ablation`."""

from collections.abc import Iterator

from reticent.findings.study import DotsPanel, Figure, Form, Level, LinesPanel, Points
from reticent.studies.base import Results, Setting
from reticent.studies.cwrf_ablation.rows import CONTROLS, NO_REWINDING, SCRATCH, VARIANTS, named

PANELS: tuple[tuple[str, str, Form], ...] = (
    ("accuracy", "Accuracy on non-members", "share"),
    ("loss_members", "Loss of members", "number"),
    ("loss", "Loss of non-members", "number"),
    ("auc_lira", "LiRA AUC", "number"),
)


def _lines(results: Results, setting: Setting, metric: str, title: str, form: Form) -> LinesPanel:
    rates = tuple(setting.options["rates"])
    known = {name: results.get(setting.key, name, metric) for name in (SCRATCH, NO_REWINDING)}
    return LinesPanel(
        title=title,
        x="share of weights rewound, r",
        y=title,
        log_x=True,
        form=form,
        series=tuple(
            Points(
                label=variant,
                x=rates,
                estimates=results.drawn(setting.key, (named(variant, rate) for rate in rates), metric),
            )
            for variant in VARIANTS
        ),
        levels=tuple(Level(label=name.lower(), value=one.value) for name, one in known.items() if one is not None),
    )


def drawn(results: Results, setting: Setting) -> Iterator[Figure]:
    """Draw accuracy, losses and leak over r, and the controls."""
    names = (named("A3", setting.options["rate"]), *CONTROLS, NO_REWINDING, SCRATCH)
    masks = DotsPanel(
        title="LiRA AUC with other masks and values",
        x="AUC of LiRA",
        names=names,
        series=(Points(estimates=results.drawn(setting.key, names, "auc_lira")),),
    )
    panels = (*(_lines(results, setting, *panel) for panel in PANELS), masks)
    yield Figure(name=setting.key, title=f"A1, A2 and A3 over r, {setting.label}", panels=panels)
