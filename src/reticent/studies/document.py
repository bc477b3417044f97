"""The document of a study: ``study.json``, from its description and what was measured."""

from collections.abc import Mapping, Sequence
from typing import Any

from reticent.data.records import Records
from reticent.studies.base import Claim, Column, Plain, Published, Results, Scale, Setting, Study
from reticent.studies.judging import VERDICTS, Origin
from reticent.studies.numbers import CONFIDENCE, FEW
from reticent.studies.verdicts import Kind, judge

SCHEMA = "reticent.study/2"


def assemble(study: Study, scale: str, given: Scale, results: Results, data: Mapping[str, Records]) -> dict[str, Any]:
    """Put a study's document together, in the order of ``docs/studies.md``."""
    claims = [_claim(one, results) for one in study.claims]
    return {
        "schema": SCHEMA,
        "study": study.name,
        "title": study.title,
        "paper": study.paper,
        "scale": {"name": scale, "seeds": given.seeds, "about": given.about},
        "confidence": CONFIDENCE,
        "over": study.over,
        "sentence": sentence(study.name, scale, claims),
        "claims": claims,
        "tables": [_table(study, one, results) for one in given.settings],
        "figures": [_figure(study, one) for one in study.draw(results)],
        "published": [_published(study, one) for one in study.published],
        "settings": [_setting(one, data[one.key]) for one in given.settings],
        "cannot_say": _limits(study, given, results),
    }


def sentence(name: str, scale: str, claims: Sequence[Plain]) -> str:
    """Count the verdicts in one sentence, the paper's claims and ours apart."""
    said = [_counted(origin, [one for one in claims if one["origin"] == origin]) for origin in VERDICTS]
    return f"{name} at scale {scale}: {'; '.join(filter(None, said))}."


def _counted(origin: Origin, claims: Sequence[Plain]) -> str:
    """Count the verdicts on the claims of one origin; nothing where there are none."""
    words = VERDICTS[origin]
    yes, no, neither = (sum(one["verdict"] == words[answer] for one in claims) for answer in ("yes", "no", "open"))
    if not claims:
        return ""
    if origin == "paper":
        held = f"{yes} {'is' if yes == 1 else 'are'} reproduced, {no} {'is' if no == 1 else 'are'} not"
        return f"of the paper's {_claims(len(claims))}, {held}, and {neither} can't be told"
    held = f"{yes} {'holds' if yes == 1 else 'hold'}, {no} {'does' if no == 1 else 'do'} not"
    return f"of our {_claims(len(claims))}, {held}, and {neither} can't be told"


def _claims(count: int) -> str:
    return f"{count} claim{'' if count == 1 else 's'}"


def _claim(claim: Claim, results: Results) -> dict[str, Any]:
    judged = judge(claim, results)
    return {
        "key": claim.key,
        "text": claim.text,
        "source": claim.source,
        "origin": claim.origin,
        "networks": list(claim.networks),
        "rule": claim.rule,
        "verdict": judged.verdict,
        "reason": judged.reason,
        "kinds": [_kind(one) for one in judged.kinds],
    }


def _kind(kind: Kind) -> dict[str, Any]:
    return {
        "network": kind.network,
        "settings": [one.key for one in kind.settings],
        "counts": kind.counts,
        "found": kind.found,
        "reason": kind.reason,
        "parts": [part.to_json(len(kind.parts)) for part in kind.parts],
    }


def _table(study: Study, setting: Setting, results: Results) -> dict[str, Any]:
    printed = [one for one in study.published if one.group == setting.beside]
    rows = []
    for name, about in results.rows(setting.key).items():
        numbers = {column.metric: results.get(setting.key, name, column.metric) for column in study.columns}
        if not any(numbers.values()):
            continue  # A row that not every seed has.
        paper: dict[str, Any] = {}
        for one in printed:
            paper |= _entries(one.rows.get(name, {}))
        rows.append({
            "name": name,
            "about": about,
            "values": {key: None if one is None else one.to_json() for key, one in numbers.items()},
            "paper": paper or None,
        })
    return {
        "title": setting.label,
        "setting": setting.key,
        "columns": [_column(column) for column in study.columns],
        "rows": rows,
    }


def _column(column: Column) -> dict[str, str]:
    return {"key": column.metric, "label": column.label, "form": column.form}


def _entries(values: Mapping[str, tuple[float, float | None]]) -> dict[str, Any]:
    return {key: {"value": value, "std": std} for key, (value, std) in values.items()}


def _published(study: Study, one: Published) -> dict[str, Any]:
    there = {metric for values in one.rows.values() for metric in values}
    return {
        "title": f"{one.reference}, {one.group}",
        "note": one.note,
        "columns": [_column(column) for column in study.columns if column.metric in there],
        "rows": {name: _entries(values) for name, values in one.rows.items()},
        "remarks": [{"row": row, "column": column, "text": text} for (row, column), text in one.remarks.items()],
    }


def _figure(study: Study, figure: Plain) -> dict[str, Any]:
    name = f"{study.name}-{figure['name']}"
    return {**figure, "name": name, "svg": f"{name}.svg", "png": f"{name}.png"}


def _setting(setting: Setting, records: Records) -> dict[str, Any]:
    facts = {
        "data": records.name,
        "records in the data set": len(records),
        "classes": records.classes,
        **{key: value for key, value in setting.base.items() if key != "dataset"},
        **setting.options,
    }
    plain = {key: list(value) if isinstance(value, tuple) else value for key, value in facts.items()}
    about = {"key": setting.key, "label": setting.label, "network": setting.network, "unlike": setting.unlike}
    return {**about, "digest": records.digest, "facts": plain}


def _limits(study: Study, given: Scale, results: Results) -> list[str]:
    said = list(study.caution)
    if given.seeds < FEW:
        said.append(_few(study, given.seeds, results))
    said += [
        f"{one.label} is neither the paper's setting nor a fair stand-in for it, so that it settles no claim of the "
        f"paper's: {one.unlike}."
        for one in given.settings
        if one.unlike
    ]
    for setting in given.settings:
        for one in results.found[setting.key]:
            said += [f"{setting.label}: {note}" for note in one.notes if f"{setting.label}: {note}" not in said]
    return said


def _few(study: Study, seeds: int, results: Results) -> str:
    """Say what so few seeds leave out."""
    numbers = (one for found in results.found.values() for each in found for one in each.numbers.values())
    if any(one.partial for one in numbers):
        return (
            f"Seeds: {seeds}. The error of one seed is over {study.over}, so that these numbers stand without an "
            f"interval and no claim on them is judged; from {FEW} seeds on both are there."
        )
    return (
        f"Seeds: {seeds}. How much another one would change is not part of the intervals, which are over "
        f"{study.over}; from {FEW} seeds on it is."
    )
