"""What a defense goes with, in words."""

from collections.abc import Mapping, Sequence

from reticent.findings.clash import Clash
from reticent.say.grammar import listed


def goes_with(kinds: Sequence[str], clashes: Mapping[str, Clash]) -> str:
    """Say what a defense can be joined with, and with what not."""
    never = [other for other, when in clashes.items() if not when.options]
    told = f"any {listed([kind.partition(' ')[2] for kind in kinds], 'or')}, joined by +"
    told += f", but not with {listed(never, 'or')}" if never else ""
    for other, when in clashes.items():
        if when.options:
            told += f"; not with {other} if " if when.defaults else f"; with {other} only if "
            told += when.options
    return told


def apart(clashes: Mapping[str, Clash]) -> str:
    """Name, in short, what a defense does not go with, and when."""
    return ", ".join(f"{other}{_when(clash)}" for other, clash in clashes.items())


def _when(clash: Clash) -> str:
    if not clash.options:
        return ""
    return f" ({'if' if clash.defaults else 'unless'} {clash.options})"
