"""``reticent search``: choose a defense's option on models that no reported audit is made of."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from reticent.cli.flags import RowFlags, Several
from reticent.errors import SpecError
from reticent.spec import toml_or_text


def search(*, over: Several = None, lost: float = 0.02, flags: RowFlags = RowFlags()) -> Sequence[Path]:  # noqa: B008
    """Try values of a defense's options on models of their own, and choose the one that leaks least.

    The models are drawn apart from those of `reticent audit` with the same seed, which therefore may be reported.

    Examples:
        reticent search --defense relaxloss --over level=0.1,0.5,1,2
        reticent search --defense cwrf+relaxloss --over rate=0.001,0.01,0.05 --over unlearning=0.1,0.5

    Args:
        over: Values of an option to try, as option=value,value,..., repeated for several options, of which all
            combinations are tried.
        lost: How much accuracy may be lost against no defense, a fraction.
        flags: what to audit, and how.

    Raises:
        SpecError: no defense or several, a configuration file, or values that cannot be read.
    """
    from reticent.cli.job import reported
    from reticent.jobs.search import search as run
    from reticent.report.output import SEARCH

    if flags.config is not None:
        raise SpecError("--config holds one audit: give --defense, --over and other flags")
    values = flags.values()
    names = values.pop("defense", [])
    if len(names) != 1:
        got = f"{len(names)}: join what goes into one model by +" if names else "none: give --defense NAME"
        raise SpecError(f"search: expected one --defense, whose options are searched, got {got}")
    options, out = dict(_values(text) for text in over or ()), values.pop("out", "reticent-search")
    return reported(
        SEARCH,
        lambda screen: run(
            names[0], options, lost=lost, out=out, progress=screen.model, stage=screen.stage, note=screen.note, **values
        ),
        out,
    ).files


def _values(text: str) -> tuple[str, list[Any]]:
    """Read one ``option=value,value``."""
    from reticent.jobs.defenses import COMMA

    key, equals, rest = text.partition("=")
    if not equals or not key.strip() or not rest.strip():
        raise SpecError(f"--over {text}: expected option=value,value, such as rate=0.001,0.01,0.05")
    return key.strip(), [toml_or_text(part) for part in COMMA.split(rest)]
