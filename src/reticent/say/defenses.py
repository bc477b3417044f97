"""What a defense goes with, in words."""

from collections.abc import Mapping, Sequence

from reticent.say.grammar import listed


def goes_with(kinds: Sequence[str], clashes: Mapping[str, str]) -> str:
    """Say what a defense can be joined with, and with what not: `clashes` to when, empty for always."""
    never = [other for other, when in clashes.items() if not when]
    told = f"any {listed([kind.partition(' ')[2] for kind in kinds], 'or')}, joined by +"
    told += f", but not with {listed(never, 'or')}" if never else ""
    for other, when in clashes.items():
        word, _, options = when.partition(" ")
        if when:
            told += f"; {'not with' if word == 'if' else 'with'} {other}{'' if word == 'if' else ' only'} if {options}"
    return told


def apart(clashes: Mapping[str, str]) -> str:
    """Name, in short, what a defense does not go with, and when."""
    return ", ".join(f"{other} ({when})" if when else other for other, when in clashes.items())
