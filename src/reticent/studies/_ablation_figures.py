"""The figures and the printed numbers of `cwrf-ablation`."""

from reticent.studies._ablation_rows import CONTROLS, NO_REWINDING, SCRATCH, VARIANTS, named
from reticent.studies.base import Plain, Published, Results, Setting


def _printed() -> dict[str, dict[str, tuple[float, float | None]]]:
    """Give Table 2: mean cross-entropy of members and others by rate; from scratch it holds for all rates."""
    rates = (0.001, 0.01, 0.03, 0.05)
    values = {
        "A2": ((1.2268, 0.8570, 0.4326, 0.4619), (1.3797, 1.2728, 0.9288, 0.9610)),
        "A3": ((0.1502, 0.3376, 0.4473, 0.4815), (0.7720, 0.7433, 0.8044, 0.8330)),
    }
    rows: dict[str, dict[str, tuple[float, float | None]]] = {
        SCRATCH: {"loss_members": (0.8087, None), "loss": (1.5398, None), "gap": (round(1.5398 - 0.8087, 4), None)}
    }
    for variant, (inside, outside) in values.items():
        for rate, one, other in zip(rates, inside, outside, strict=True):
            rows[named(variant, rate)] = {
                "loss_members": (one, None),
                "loss": (other, None),
                "gap": (round(other - one, 4), None),
            }
    return rows


PUBLISHED = Published(
    "Fang and Kim (2026), Table 2",
    "ResNet18",
    _printed(),
    note="Mean cross-entropy; which data set is not said. The gaps are differences of the printed losses, taken here. "
    "At r = 0.1 % the table's gap of A3 is larger than that of A2, though its losses are lower; at 1, 3 and 5 % it is "
    "smaller.",
)


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
    """Draw accuracy, losses and leak over r, and the controls.

    Args:
        results: all.

    Returns:
        One figure a setting.
    """
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
