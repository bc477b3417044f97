"""The grammar that all sentences share: lists, plurals and cuts. Numbers are written by `reticent.rounding`."""

from collections.abc import Iterable, Sequence
from fractions import Fraction

LONGEST = 60
"""Characters of a name in a sentence."""


def listed(names: Iterable[object], last: str = "and") -> str:
    """Join names: ``a``, ``a and b``, ``a, b and c``."""
    told = [str(name) for name in names]
    return f"{', '.join(told[:-1])} {last} {told[-1]}" if len(told) > 1 else "".join(told)


def some(names: Sequence[object], most: int = 8) -> str:
    """Join the first names, and show that there are more."""
    return ", ".join(str(name) for name in names[:most]) + (", ..." if len(names) > most else "")


def plural(count: int, one: str, many: str = "") -> str:
    """Write a count with its noun: ``1 model``, ``2,000 models``."""
    return f"{count:,} {one if count == 1 else many or f'{one}s'}"


def spans(numbers: Sequence[int]) -> str:
    """Join rising numbers, neighbours as a span: ``1, 3 to 6``."""
    told: list[list[int]] = []
    for number in numbers:
        if told and number == told[-1][-1] + 1:
            told[-1].append(number)
        else:
            told.append([number])
    return ", ".join(f"{run[0]} to {run[-1]}" if len(run) > 2 else ", ".join(map(str, run)) for run in told)


def agree(count: int, one: str, many: str) -> str:
    """Choose the form of a verb: ``is`` or ``are``."""
    return one if count == 1 else many


def short(text: str, most: int = LONGEST) -> str:
    """Put a name of the user's data on one line of at most so many characters."""
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[: most - 1]}…"


def middle_out(text: str, most: int = LONGEST) -> str:
    """Leave out the middle of a long name, since names that begin alike, as paths do, differ at their end."""
    return text if len(text) <= most else f"{text[: most // 2]}…{text[most // 2 + 1 - most :]}"


def sentence(text: str) -> str:
    """Begin with a capital and end with a full stop."""
    text = text.strip()
    return f"{text[:1].upper()}{text[1:]}" + ("" if text.endswith((".", "!", "?")) else ".")


def alarms(fpr: float) -> str:
    """Write a false positive rate as counts: ``1 false alarm in 100``."""
    rate = Fraction(fpr).limit_denominator(10**9)
    return f"{plural(rate.numerator, 'false alarm')} in {rate.denominator:,}"
