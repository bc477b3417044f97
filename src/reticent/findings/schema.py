"""The JSON Schemas of all documents (``docs/schema.md`` has them as tables)."""

from importlib import import_module
from typing import Any

from reticent.errors import UnknownNameError
from reticent.findings.base import Document

DOCUMENTS = {
    "audit": "reticent.findings.audit:AuditDocument",
    "comparison": "reticent.findings.comparison:ComparisonDocument",
    "search": "reticent.findings.search:SearchDocument",
    "harden": "reticent.findings.harden:HardenDocument",
    "locate.weights": "reticent.findings.locate:WeightsDocument",
    "locate.layers": "reticent.findings.locate:LayersDocument",
    "locate.records": "reticent.findings.locate:RecordsDocument",
    "locate.ranking": "reticent.findings.ranking:RankingDocument",
    "selftest": "reticent.findings.selftest:Selftested",
    "study": "reticent.findings.study:StudyDocument",
}
"""By the name of a document, its class; `reticent schema NAME` writes its JSON Schema."""


def document(name: str) -> type[Document]:
    """Look up the class of a document."""
    if name not in DOCUMENTS:
        raise UnknownNameError("document", name, DOCUMENTS)
    module, _, found = DOCUMENTS[name].partition(":")
    return getattr(import_module(module), found)  # type: ignore[no-any-return]


def json_schema(name: str) -> Any:
    """Return the JSON Schema of a document; unknown keys are allowed, as within a version keys may be added."""
    found = document(name).model_json_schema()
    for part in (found, *found.get("$defs", {}).values()):
        part.pop("title", None)
        if "description" in part:
            part["description"] = _line(part["description"])
        for key in part.get("properties", {}).values():
            key.pop("title", None)
            if "description" in key:
                key["description"] = _line(key["description"])
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": f"reticent {name}", **found}


def _line(text: str) -> str:
    return " ".join(text.split())
