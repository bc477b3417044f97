"""``reticent schema``: the JSON Schema of a document."""

from reticent.cli.screen import stdout


def schema(document: str = "audit") -> None:
    """Write the JSON Schema of a document of reticent's to standard output.

    Args:
        document: audit, or another document of docs/schema.md.
    """
    import json

    from reticent.findings.schema import json_schema

    stdout().print(json.dumps(json_schema(document), indent=2, ensure_ascii=False), markup=False, soft_wrap=True)
