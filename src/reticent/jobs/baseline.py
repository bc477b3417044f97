"""The baseline of a comparison: the row that all others are held against."""

from collections.abc import Sequence

from reticent.errors import UnknownNameError
from reticent.jobs.comparison.specs import Entrant
from reticent.jobs.defenses import NONE


def usual_baseline(found: Sequence[Entrant]) -> str:
    """Name the row that all others are held against where the user names none."""
    plain = [one.name for one in found if not one.defended]
    return plain[0] if found[0].defended and len(plain) == 1 else found[0].name


def check_baseline(name: str, found: Sequence[Entrant]) -> None:
    """Check that there is a row of the name that the user gives to the baseline."""
    names = [one.name for one in found]
    if name not in names:
        error = UnknownNameError("baseline", name, names)
        hint = f"; the undefended recipe is a row where it is asked for, with --defense {NONE} (defenses=['{NONE}'])"
        raise error.retold(f"{error}{hint}") if name == NONE else error
