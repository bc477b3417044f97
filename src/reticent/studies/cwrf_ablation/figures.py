"""The figures of `cwrf-ablation`."""

from reticent.studies.cwrf_ablation.rows import CONTROLS, NO_REWINDING, SCRATCH, VARIANTS, named
from reticent.studies.base import Plain, Results, Setting


def _series(results: Results, setting: Setting, metric: str) -> list[Plain]:
    rates = list(setting.options["rates"])
    made: list[Plain] = []
    for variant in VARIANTS:
        numbers = [results.get(setting.key, named(variant, rate), metric) for rate in rates]
        plain = [None if one is None else one.to_json() for one in numbers]
        made.append({"label": variant, "x": rates, "estimates": plain})
    return made


def _panel(results: Results, setting: Setting, metric: str, title: str, form: str) -> Plain:
    levels = []
    for name in (SCRATCH, NO_REWINDING):
        number = results.get(setting.key, name, metric)
        if number is not None:
            levels.append({"label": name.lower(), "value": number.value})
    return {
        "kind": "lines",
        "title": title,
        "x": "share of weights rewound, r",
        "y": title,
        "log_x": True,
        "form": form,
        "series": _series(results, setting, metric),
        "levels": levels,
    }


def _masks(results: Results, setting: Setting) -> Plain:
    names = [named("A3", setting.options["rate"]), *CONTROLS, NO_REWINDING, SCRATCH]
    numbers = [results.get(setting.key, name, "auc_lira") for name in names]
    estimates = [None if one is None else one.to_json() for one in numbers]
    title = "LiRA AUC with other masks and values"
    return {
        "kind": "dots",
        "title": title,
        "x": "AUC of LiRA",
        "names": names,
        "series": [{"label": "", "estimates": estimates}],
    }


def drawn(results: Results) -> list[Plain]:
    """Draw accuracy, losses and leak over r, and the controls."""
    figures: list[Plain] = []
    for one in results.settings:
        panels = [
            _panel(results, one, "accuracy", "Accuracy on non-members", "share"),
            _panel(results, one, "loss_members", "Loss of members", "number"),
            _panel(results, one, "loss", "Loss of non-members", "number"),
            _panel(results, one, "auc_lira", "LiRA AUC", "number"),
            _masks(results, one),
        ]
        figures.append({"name": one.key, "title": f"A1, A2 and A3 over r, {one.label}", "panels": panels})
    return figures
