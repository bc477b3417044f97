"""The document of a study: from its description and what was measured to `study.json`.

A claim is judged for each kind of network by itself, then for those that it is about.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace

from reticent.data.records import Records
from reticent.findings import study as findings
from reticent.findings.study import VERDICTS, Answer, Printed, Reason, StudyDocument
from reticent.say.study import spoken
from reticent.studies.base import Claim, Found, Published, Results, Scale, Setting, Study
from reticent.studies.judging import finding
from reticent.studies.numbers import CONFIDENCE


def assemble(study: Study, scale: str, given: Scale, results: Results, data: Mapping[str, Records]) -> StudyDocument:
    """Put a study's document together, with its sentences."""
    document = StudyDocument(
        study=study.name,
        title=study.title,
        paper=study.paper,
        scale=findings.Scale(name=scale, seeds=given.seeds, about=given.about),
        confidence=CONFIDENCE,
        over=study.over,
        claims=tuple(judge(one, results) for one in study.claims),
        tables=tuple(_table(study, one, results) for one in given.settings),
        figures=tuple(_named(study, one) for setting in given.settings for one in study.draw(results, setting)),
        published=tuple(_published(study, one) for one in study.published),
        settings=tuple(_setting(one, data[one.key], results.found[one.key]) for one in given.settings),
    )
    numbers = [one for each in results.found.values() for found in each for one in found.numbers.values()]
    partial = bool(numbers) and all(one.partial for one in numbers)
    return spoken(document, study.caution, without_interval=partial)


def judge(claim: Claim, results: Results) -> findings.Claim:
    """Judge a claim."""
    kinds = [_kind(claim, results, name) for name in dict.fromkeys(one.network for one in results.settings)]
    answer, reason = _together(claim, kinds)
    return findings.Claim(
        key=claim.key,
        text=claim.text,
        source=claim.source,
        origin=claim.origin,
        networks=claim.networks,
        rule=claim.rule,
        verdict=VERDICTS[claim.origin][answer],
        reason=reason,
        kinds=tuple(kinds),
    )


def _kind(claim: Claim, results: Results, network: str) -> findings.Kind:
    settings = tuple(one for one in results.settings if one.network == network)
    parts = claim.parts(replace(results, settings=settings))
    alike = claim.origin == "ours" or not any(one.unlike for one in settings)
    found, reason = finding(parts)
    return findings.Kind(
        network=network,
        settings=tuple(one.key for one in settings),
        counts=_about(claim, network) and alike,
        found=found,
        reason=reason,
        parts=tuple(part.finding(len(parts)) for part in parts),
    )


def _about(claim: Claim, network: str) -> bool:
    return not claim.networks or network in claim.networks


def _together(claim: Claim, kinds: Sequence[findings.Kind]) -> tuple[Answer, Reason | None]:
    counted = [one for one in kinds if one.counts]
    if not counted:
        return "open", "setting" if any(_about(claim, one.network) for one in kinds) else "network"
    measured = [one for one in counted if one.parts] or counted
    if {"yes", "no"} <= {one.found for one in measured}:
        return "open", "disagree"
    decisive = next((one for one in measured if one.found == "open"), measured[0])
    return decisive.found, decisive.reason


def _table(study: Study, setting: Setting, results: Results) -> findings.Table:
    """List the rows that every seed has."""
    printed = [one for one in study.published if one.group == setting.published]
    rows = []
    for name, about in results.rows(setting.key).items():
        numbers = {column.key: results.get(setting.key, name, column.key) for column in study.columns}
        if any(numbers.values()):
            values = {key: None if one is None else one.finding() for key, one in numbers.items()}
            paper = {key: one for table in printed for key, one in _entries(table.rows.get(name, {})).items()}
            rows.append(findings.Row(name=name, about=about, values=values, paper=paper or None))
    return findings.Table(title=setting.label, setting=setting.key, columns=study.columns, rows=tuple(rows))


def _entries(values: Mapping[str, tuple[float, float | None]]) -> dict[str, Printed]:
    return {key: Printed(value=value, std=std) for key, (value, std) in values.items()}


def _published(study: Study, one: Published) -> findings.PublishedTable:
    there = {metric for values in one.rows.values() for metric in values}
    remarks = (findings.Remark(row=row, column=column, text=text) for (row, column), text in one.remarks.items())
    return findings.PublishedTable(
        title=f"{one.reference}, {one.group}",
        note=one.note,
        columns=tuple(column for column in study.columns if column.key in there),
        rows={name: _entries(values) for name, values in one.rows.items()},
        remarks=tuple(remarks),
    )


def _named(study: Study, figure: findings.Figure) -> findings.Figure:
    name = f"{study.name}-{figure.name}"
    return figure.with_(name=name, svg=f"{name}.svg", png=f"{name}.png")


def _setting(setting: Setting, records: Records, found: Sequence[Found]) -> findings.Setting:
    facts = {
        "data": records.name,
        "records in the data set": len(records),
        "classes": records.classes,
        **{key: value for key, value in setting.base.items() if key != "dataset"},
        **setting.options,
    }
    return findings.Setting(
        key=setting.key,
        label=setting.label,
        network=setting.network,
        unlike=setting.unlike,
        digest=records.digest,
        facts=json.loads(json.dumps(facts)),
        notes=tuple(dict.fromkeys(note for one in found for note in one.notes)),
    )
