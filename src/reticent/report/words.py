"""The sentences of the report that do not depend on the numbers."""

from typing import NamedTuple

from reticent.say.glossary import GLOSSARY as GLOSSARY_OF_ALL


class Leak(NamedTuple):
    """How one state of the verdict is shown: by a word, an icon and a colour, never by a colour alone."""

    state: str
    word: str
    style: str
    meaning: str


LEAKS = {
    "found": Leak(
        "found",
        "Leak found",
        "found",
        "Whoever may ask such a model can learn of some records that they were used to train it.",
    ),
    "not found": Leak(
        "not found",
        "No leak found",
        "safe",
        "This holds for the attacks that were tried; others may find more.",
    ),
    "cannot tell": Leak(
        "cannot tell",
        "Cannot tell",
        "unsure",
        "That is neither a pass nor a fail: more records, or more models, may settle it.",
    ),
}
"""State of the verdict -> how it is shown; any other state is shown as "cannot tell"."""

GLOSSARY = tuple(GLOSSARY_OF_ALL.items())
