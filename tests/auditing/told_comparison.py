"""A comparison with its sentences, as the document of a job has them."""

from reticent.findings.comparison import ComparisonDocument, ComparisonEnvironment, Row
from reticent.findings.population import Data
from reticent.say.comparison import spoken


def told(compared, notes=()):
    """Return the plain values of a document that holds these numbers, and what there is to say of controls."""
    document = ComparisonDocument(
        data=Data(name="made up", records=1),
        environment=ComparisonEnvironment(),
        notes=tuple(notes),
        **dict(compared) | {"rows": [Row(**dict(row)) for row in compared.rows]},
    )
    return spoken(document).to_json()
