"""A section for a model card: the verdict, the table, what the audit cannot say, in Markdown."""

from collections.abc import Mapping
from typing import Any

from reticent.report.view import confidence, measured, ordered, rate_at, short, title, unmeasured
from reticent.report.wording import MISSING, Plain, count, level, limits, middle, number, percent, span, unmeasurable
from reticent.report.words import LEAKS

SPECIAL = "\\`*_{}[]<>#|~&$"
"""Characters that Markdown, or the HTML inside it, gives a meaning."""


def markdown(document: Mapping[str, Any]) -> str:
    """Write an audit as a section of a model card.

    Args:
        document: the audit, in the form of ``docs/schema.md``.

    Returns:
        GitHub-flavoured Markdown that begins with a second-level heading; text from outside is escaped.
    """
    verdict, attacks = document.get("verdict") or {}, ordered(document)
    leak = LEAKS.get(verdict.get("leak", ""), LEAKS["cannot tell"])
    parts = ["## Membership privacy", f"**{leak.word}.** {_plain(verdict.get('sentence', ''), 400)}"]
    if verdict.get("detail"):
        parts.append(_plain(verdict["detail"], 600))
    if attacks:
        missing = [f"- TPR at FPR {level(fpr)}: {unmeasurable(entry)}" for fpr, entry in unmeasured(attacks)]
        parts += [_table(attacks), *(["\n".join(missing)] if missing else []), _legend(attacks)]
    parts += ["### What was audited", "\n".join(_facts(document))]
    said = verdict.get("cannot_say")
    if said:
        parts += ["### What this audit cannot say", "\n".join(f"- {_plain(item, 600)}" for item in said)]
    return "\n\n".join(parts) + "\n"


def _legend(attacks: list[Plain]) -> str:
    return f"In brackets: {confidence(attacks)} intervals. Chance: AUC 0.5, and TPR equal to FPR."


def _table(attacks: list[Plain]) -> str:
    listed = measured(attacks)
    heads = ["Attack", "AUC", *(f"TPR at FPR {level(fpr)}" for fpr in listed), "Balanced accuracy"]
    lines = [_line(heads), _line(["---", *["---:"] * (len(heads) - 1)])]
    for attack in attacks:
        overall = attack["overall"]
        cells = [_rate(rate_at(overall, fpr)) for fpr in listed]
        balanced = number(middle((overall.get("balanced_accuracy") or {}).get("transferred")))
        auc = _with(number(middle(overall["auc"])), span(limits(overall["auc"])))
        lines.append(_line([_plain(title(attack)), auc, *cells, balanced]))
    return "\n".join(lines)


def _facts(document: Mapping[str, Any]) -> list[str]:
    """Say what was audited, with what and when."""
    data, population = document.get("data") or {}, document.get("population") or {}
    recipe, environment = document.get("recipe") or {}, document.get("environment") or {}
    architecture, objective = (_method(recipe.get(key)) for key in ("architecture", "objective"))
    accuracy = population.get("accuracy") or {}
    facts = [
        ("Data", data.get("name")),
        ("Records", count(data["records"]) if data.get("records") is not None else None),
        ("Models", count(population["models"]) if population.get("models") is not None else None),
        ("Architecture", architecture),
        ("Objective", objective),
        ("Accuracy on members", percent(middle(accuracy["members"])) if accuracy.get("members") else None),
        ("Accuracy on non-members", percent(middle(accuracy["non_members"])) if accuracy.get("non_members") else None),
        ("Audited with", f"reticent {environment['reticent']}" if environment.get("reticent") else None),
        ("Started", environment.get("started")),
    ]
    return [f"- {name}: {_plain(fact, 120)}" for name, fact in facts if fact is not None]


def _method(part: Any) -> Any:
    return part.get("method") if isinstance(part, Mapping) else part


def _rate(rate: Plain | None) -> str:
    if rate is None:
        return MISSING
    if rate.get("tpr") is None:
        return unmeasurable(rate)
    return _with(percent(middle(rate["tpr"])), span(limits(rate["tpr"]), as_percent=True))


def _with(value: str, interval: str) -> str:
    return f"{value} ({interval})" if interval else value


def _line(cells: list[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _plain(text: Any, most: int = 80) -> str:
    """Keep Markdown and HTML in text from outside from meaning anything."""
    return "".join("\\" + c if c in SPECIAL else c for c in short(text, most))
