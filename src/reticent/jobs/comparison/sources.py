"""What a caller of `reticent.compare` may give as a run or a recipe, brought to paths and to keys and values."""

from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any, NoReturn, Protocol

from reticent import user_files
from reticent.errors import InputError, UnknownNameError
from reticent.jobs.defenses import parts_of, with_option
from reticent.options import SHORT, AuditConfig, Options
from reticent.training.recipe import Recipe

Source = str | Path | Mapping[str, Any] | AuditConfig
"""A TOML file, keys and values, or a configuration."""
Recipes = str | Path | Sequence[Source] | Mapping[str, Source]
"""One TOML file; several sources; or several by name."""


Defense = str | Options
Defenses = Defense | Sequence[Defense]
"""One defense, or several: texts, or tables with a name and options."""


class Finished(Protocol):
    """What `reticent.audit` returns."""

    @property
    def files(self) -> tuple[Path, ...]:
        """The files that it wrote."""


def place(run: Any) -> Path:
    """Find where a finished run lies."""
    if isinstance(run, (str, Path)):
        return user_files.path(run)
    files = getattr(run, "files", None)
    if isinstance(files, tuple) and files:
        return Path(files[0]).parent
    hint = "; recipes are given as recipes={'name': {...}}" if isinstance(run, (Mapping, AuditConfig, list)) else ""
    raise InputError(
        "expected as runs folders of audits, .npz files of outputs, or what reticent.audit returned, got "
        f"{type(run).__name__}{hint}"
    )


def named(recipes: Any) -> dict[str, Source]:
    """Give every recipe a name: the one given, that of its file without its ending, or its number."""
    if isinstance(recipes, Mapping):
        given = [(str(name), source) for name, source in recipes.items()]
    else:
        items = [recipes] if isinstance(recipes, (str, Path, AuditConfig)) else recipes
        if not isinstance(items, Iterable):
            raise InputError(f"recipes: expected TOML files, or tables of keys and values, got {told(items)}")
        given = [
            (Path(item).stem if isinstance(item, (str, Path)) else f"recipe {number}", item)
            for number, item in enumerate(items, start=1)
        ]
    for name, source in given:
        if not isinstance(source, (str, Path, Mapping, AuditConfig)):
            raise InputError(
                f"recipes: expected for {name!r} a TOML file or a table of keys and values, got {told(source)}; for "
                "example recipes={'plain': {}, 'decay': {'weight_decay': 0.01}}"
            )
    if any(not name.strip() for name, _ in given):
        raise InputError("recipes: expected a name for each recipe, got an empty one")
    if len(dict(given)) < len(given):
        shown = ", ".join(str(source) if isinstance(source, (str, Path)) else name for name, source in given)
        raise InputError(f"recipes: expected files of different names, got {shown}")
    return dict(given)


def of_defenses(defenses: Any, others: Sequence[str]) -> dict[str, Source]:
    """Make a recipe of each defense."""
    given = [defenses] if isinstance(defenses, (str, Mapping)) else defenses
    if not isinstance(given, Sequence) or not all(isinstance(one, (str, Mapping)) for one in given):
        raise InputError(f"defenses: expected names such as relaxloss or dpsgd:epsilon=8, got {defenses!r}")
    texts = [one if isinstance(one, str) else _as_text(dict(one)) for one in given]
    for number, name in enumerate(texts):
        if name in texts[:number] or name in others:
            raise InputError(f"two recipes or defenses are called {name!r}: leave one out, or give it other options")
    return {name: {"defense": name} for name in texts}


def _as_text(defense: Options) -> str:
    """Write a defense that is given as a table as a text."""
    parts_of(defense)
    text = str(defense["name"])
    for key, value in defense.items():
        text = text if key == "name" else with_option(text, key, value)
    return text


def check_defense(defense: Any, *, alone: bool) -> None:
    """Refuse a defense that is given for all rows, where it is meant as rows of its own."""
    if defense is None or (isinstance(defense, (str, Mapping)) and not alone):
        return
    several = [defense] if isinstance(defense, (str, Mapping)) else defense
    raise InputError(
        f"defense: it is one for all rows, got {defense!r}: to compare defenses, each a row, give defenses={several!r}"
    )


def refuse_runs(runs: Any) -> NoReturn:
    """Refuse runs that are given by name, which a call takes by their place."""
    several = runs if isinstance(runs, (list, tuple)) and runs else ("audit-a", "audit-b")
    shown = ", ".join(repr(str(run)) if isinstance(run, (str, Path)) else told(run) for run in several)
    raise InputError(f"runs: they are given by their place, not by name: write reticent.compare({shown})")


def told(value: Any) -> str:
    """Name a wrong value in short."""
    return repr(value) if isinstance(value, (int, float)) else type(value).__name__


def check_arguments(given: Iterable[str], arguments: Iterable[str]) -> None:
    """Refuse a key that looks most like an argument of the call, and not like a key of a configuration."""
    keys = {*AuditConfig.model_fields, *Recipe.model_fields, *SHORT}
    own = set(arguments) - keys
    for key in given:
        head = key.replace("__", ".").split(".")[0]
        close = get_close_matches(head, sorted(own | keys), n=1)
        if head not in keys and close and close[0] in own:
            raise UnknownNameError("argument", key, own | keys)
