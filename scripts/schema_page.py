"""The tables of ``docs/schema.md``: every document of reticent's as its keys, of their JSON Schema."""

from reticent.findings.schema import DOCUMENTS, json_schema

HEAD = "<!-- {}: made by scripts/generate -->"
FOOT = "<!-- end -->"


def filled(page):
    """Fill in the tables of a page between their marks; what an earlier document has is not told again."""
    done = set()
    for name in DOCUMENTS:
        head, _, rest = page.partition(HEAD.format(name))
        if rest:
            page = f"{head}{HEAD.format(name)}\n\n{tables(name, done)}\n{FOOT}{rest.partition(FOOT)[2]}"
    return page


def tables(name, done):
    """Write a document as one table of keys for it and for each object in it, in Markdown."""
    found = json_schema(name)
    parts = found["$defs"]
    queue, lines = [("", found)], []
    while queue:
        title, part = queue.pop(0)
        if title:
            lines += [f"### {title}", "", part.get("description", ""), ""]
        lines += ["| key | value | |", "|---|---|---|"]
        for key, value in part["properties"].items():
            refs = references(value)
            inner = [ref for ref in refs if "properties" in parts[ref] and ref not in done]
            done.update(inner)
            queue += [(ref, parts[ref]) for ref in inner]
            told = value.get("description") or (parts[refs[0]].get("description") if len(refs) == 1 else "") or ""
            lines.append(f"| `{key}` | {kind(value, parts)} | {told} |")
        lines.append("")
    return "\n".join(lines)


def references(value):
    """List the objects that a value may hold."""
    if isinstance(value, dict):
        own = [value["$ref"].rpartition("/")[2]] if "$ref" in value else []
        return own + [ref for inner in value.values() for ref in references(inner)]
    return [ref for inner in value for ref in references(inner)] if isinstance(value, list) else []


def kind(value, parts):
    """Write what a value may be."""
    if "$ref" in value:
        name = value["$ref"].rpartition("/")[2]
        return kind(parts[name], parts) if "properties" not in parts[name] else f"[{name}](#{name.lower()})"
    if "anyOf" in value:
        return " or ".join(dict.fromkeys(kind(one, parts) for one in value["anyOf"]))
    if "enum" in value or "const" in value:
        return ", ".join(f"`{one}`" for one in value.get("enum", [value.get("const")]))
    name = value.get("type")
    if name == "array":
        if "prefixItems" in value:
            return f"{len(value['prefixItems'])} numbers"
        return f"list of {kind(value.get('items', {}), parts)}"
    if name == "object" and isinstance(value.get("additionalProperties"), dict):
        return f"name to {kind(value['additionalProperties'], parts)}"
    if name in {"number", "integer"} and (value.get("minimum"), value.get("maximum")) == (0, 1):
        return "share"
    kinds = {"number": "number", "integer": "count", "string": "text", "boolean": "true or false", "null": "`null`"}
    return kinds.get(name, "object")
