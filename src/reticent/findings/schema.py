"""The schemas of all documents: as JSON Schema, and as the tables of ``docs/schema.md``."""

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
HEAD = "<!-- {}: made by scripts/generate -->"
FOOT = "<!-- end -->"


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


def filled(page: str) -> str:
    """Fill in the tables of a page between their marks; what an earlier document has is not told again."""
    done = set[str]()
    for name in DOCUMENTS:
        head, _, rest = page.partition(HEAD.format(name))
        if rest:
            page = f"{head}{HEAD.format(name)}\n\n{tables(name, done)}\n{FOOT}{rest.partition(FOOT)[2]}"
    return page


def tables(name: str, done: set[str]) -> str:
    """Write a document as one table of keys for it and for each object in it, in Markdown."""
    found = json_schema(name)
    parts = found["$defs"]
    queue, lines = [("", found)], list[str]()
    while queue:
        title, part = queue.pop(0)
        if title:
            lines += [f"### {title}", "", _line(part.get("description", "")), ""]
        lines += ["| key | value | |", "|---|---|---|"]
        for key, value in part["properties"].items():
            inner = [ref for ref in _references(value) if "properties" in parts[ref] and ref not in done]
            done.update(inner)
            queue += [(ref, parts[ref]) for ref in inner]
            refs = _references(value)
            told = value.get("description") or (parts[refs[0]].get("description") if len(refs) == 1 else "") or ""
            lines.append(f"| `{key}` | {_type(value, parts)} | {_line(told)} |")
        lines.append("")
    return "\n".join(lines)


def _line(text: str) -> str:
    return " ".join(str(text).split())


def _references(value: Any) -> list[str]:
    """List the objects that a value may hold."""
    if isinstance(value, dict):
        own = [value["$ref"].rpartition("/")[2]] if "$ref" in value else []
        return own + [ref for inner in value.values() for ref in _references(inner)]
    return [ref for inner in value for ref in _references(inner)] if isinstance(value, list) else []


def _type(value: Any, parts: Any) -> str:
    """Write what a value may be."""
    if "$ref" in value:
        name = value["$ref"].rpartition("/")[2]
        return _type(parts[name], parts) if "properties" not in parts[name] else f"[{name}](#{name.lower()})"
    if "anyOf" in value:
        return " or ".join(dict.fromkeys(_type(one, parts) for one in value["anyOf"]))
    if "enum" in value or "const" in value:
        return ", ".join(f"`{one}`" for one in value.get("enum", [value.get("const")]))
    kind = value.get("type")
    if kind == "array":
        if "prefixItems" in value:
            return f"{len(value['prefixItems'])} numbers"
        return f"list of {_type(value.get('items', {}), parts)}"
    if kind == "object" and isinstance(value.get("additionalProperties"), dict):
        return f"name to {_type(value['additionalProperties'], parts)}"
    if kind in {"number", "integer"} and (value.get("minimum"), value.get("maximum")) == (0, 1):
        return "share"
    kinds = {"number": "number", "integer": "count", "string": "text", "boolean": "true or false", "null": "`null`"}
    return kinds.get(str(kind), "object")
