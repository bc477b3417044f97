"""The data, the models and the machine as templates take them, for kinds of documents that are not blocks yet."""

from collections.abc import Sequence
from typing import Any

from reticent.findings.environment import Environment
from reticent.findings.population import Data, Population
from reticent.report import blocks as b
from reticent.report.kinds import method
from reticent.report.wording import Plain


def facts(data: Plain, population: Plain, attacks: Sequence[Plain], environment: Plain) -> dict[str, Any]:
    """Group what the method section lists."""
    del attacks
    about = method.about_data(Data.model_validate(data, extra="ignore")) if data else (("", ()), ("", ()))
    models = (
        method.about_models(None, Population.model_validate(population, extra="ignore"))[1:]
        if population
        else (("", ()), ("", ()))
    )
    ((_, machine),) = method.about_run(Environment.model_validate(environment, extra="ignore"))
    groups = dict(zip(("facts_data", "facts_roles", "facts_models", "facts_repair"), (*about, *models), strict=True))
    listed = {name: values for name, (_, values) in groups.items()} | {"facts_environment": machine}
    return {name: _plain(values) for name, values in listed.items()} | {
        "columns_read": columns_read(data),
        "facts_statistics": {},
    }


def _plain(values: b.Values) -> dict[str, Any]:
    return {name: value if isinstance(value, str) else _plain(value) for name, value in values}


def scale(data: Plain, population: Plain) -> str:
    """Say how large an audit is."""
    return method.scale(Data.model_validate(data, extra="ignore"), population.get("models"))


def columns_read(data: Plain) -> dict[str, Any] | None:
    """Choose which columns of the table the page lists, and in which words."""
    columns = data.get("columns")
    if not columns:
        return None
    return {"rows": columns[: method.LISTED], "left": len(columns) - method.LISTED, "fitted": data.get("fitted")}
