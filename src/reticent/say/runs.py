"""What lies in a store, in words."""

import re
import shlex
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from reticent.findings.base import Plain
from reticent.findings.runs import Checked, Kept, Kind, Listing, Removal, State
from reticent.say.grammar import middle_out, plural, some

STORE = "reticent-store"
"""The store that commands use where none is named."""
KINDS = {
    Kind.TRAINING: "models",
    Kind.SIGNALS: "signals of models",
    Kind.PROBE: "of answers to further questions",
    Kind.MEMORISATION: "memorisation scores",
    Kind.STACKING: "how models are trained together",
    Kind.REPAIR: "repaired models",
    Kind.UNKNOWN: "unknown",
}
OF: dict[object, str] = {
    Kind.MEMORISATION: "memorisation by ",
    Kind.REPAIR: "repair of ",
    Kind.STACKING: "how to train ",
}
"""What stands before the recipe of what is no plain run of it."""
USUAL = {"objective": "cross-entropy", "sampler": "shuffle", "procedure": "plain", "augmentation": "none"}
"""Parts of a recipe that are named only where they are not these."""
REMOVAL_INTERRUPTED = "its removal was interrupted"
PROCESS_ENDED = "its process ended before it was finished"
NOT_DONE = "it has no done.json"
UNREADABLE = "cannot be read"
EMPTY = "There is nothing to remove."
DECLINED = "Nothing was removed."
MEANWHILE = "a live process took it meanwhile"


def size(count: int) -> str:
    """Write bytes for people, such as "340 kB" or "1.2 GB", in powers of 1000."""
    value, unit = float(count), "B"
    for larger in ("kB", "MB", "GB", "TB"):
        if value < 999.5:
            break
        value, unit = value / 1000, larger
    return f"{value:.0f} {unit}" if unit == "B" or value >= 99.5 else f"{value:.1f} {unit}"


def unknown(signals: bool, state: State | None) -> str:
    """Say in place of a recipe why it is not known; of signals, by the state of their model."""
    if signals:
        return "answers of models that were removed" if state is None else f"answers of models that are {state}"
    if state is State.IN_USE:
        return "being made by a live process"
    return "unfinished, left by a process that ended" if state is State.UNFINISHED else UNREADABLE


def recipe(spec: Plain) -> str:
    """Say in short how models are made."""
    made = spec.get("recipe")
    if not isinstance(made, Mapping):
        return UNREADABLE
    procedure = made.get("procedure")
    if isinstance(procedure, Mapping) and procedure.get("method") == "function":
        return _method(made, "procedure")
    epochs = _short(made.get("epochs"))
    parts = [_method(made, "architecture"), f"{epochs} epoch{'s' * (epochs != '1')}"]
    parts.append(f"{_short(made.get('optimizer'))} {_short(made.get('learning_rate'))}")
    if made.get("weight_decay"):
        parts.append(f"weight decay {_short(made['weight_decay'])}")
    parts += [_method(made, key) for key, usual in USUAL.items() if _method(made, key) not in {usual, "None"}]
    return OF.get(spec.get("kind"), "") + ", ".join(parts)


def _method(made: Mapping[str, object], key: str) -> str:
    part = made.get(key)
    if isinstance(part, Mapping):
        part = part.get("factory") or part.get("function") or part.get("method")
    return middle_out(str(part))


def further(recipe: str, options: Mapping[str, object]) -> str:
    """Add the options in which models differ whose recipes would look alike."""
    return ", ".join([recipe, *(f"{key.removeprefix('recipe.')} {_short(value)}" for key, value in options.items())])


def _short(value: object) -> str:
    """Write one option in short; of a hash, its beginning."""
    text = "none" if value is None else str(value)
    return text[:8] if re.fullmatch("[0-9a-f]{20,}", text) else middle_out(text, 40)


def states(found: Iterable[State]) -> str:
    """Say how many runs are in which state."""
    counts = Counter(found)
    return State.FINISHED if set(counts) == {State.FINISHED} else ", ".join(f"{n} {s}" for s, n in counts.most_common())


def summary(found: Listing) -> list[str]:
    """Say how many runs there are, and what to do about those that are not whole."""
    kinds, broken = (Counter(getattr(run, name) for run in found.runs) for name in ("kind", "state"))
    parts = ", ".join(f"{kinds[kind]:,} {name}" for kind, name in KINDS.items() if kinds[kind])
    lines = [f"{plural(len(found.runs), 'run')}{f' ({parts})' * bool(parts)}, {size(found.bytes)} in {found.store}"]
    if count := broken[State.CORRUPT]:
        lines.append(f"{count} corrupt, which will not be used: {_rm('--corrupt', found.store)}")
    if count := broken[State.UNREADABLE]:
        lines.append(f"{count} {_maybe_whole(f'at who may read {found.store}')}")
    if count := broken[State.UNFINISHED]:
        lines.append(f"{count} unfinished, left by a process that ended: {_rm('--unfinished', found.store)}")
    return [*lines, *foreign(found.foreign)]


def verified(checked: Sequence[Checked], store: str) -> list[str]:
    """Say what every hash, computed anew, tells."""
    told = [(one.run.id, (*one.corrupt, *one.unreadable, *one.notes)) for one in checked]
    lines = [f"{run}: {'; '.join(files)}" for run, files in told if files]
    lines += [""] * bool(lines)
    finished = [one.run for one in checked if one.run.written]
    corrupt = sum(bool(one.corrupt) for one in checked)
    unreadable = sum(bool(one.unreadable and not one.corrupt) for one in checked)
    runs = plural(len(finished), "run")
    if corrupt:
        lines.append(f"{corrupt} of {runs} corrupt; they will not be used. To remove them: {_rm('--corrupt', store)}")
    if unreadable:
        lines.append(f"{unreadable} of {runs} {_maybe_whole('at who may read it')}")
    if not corrupt and not unreadable:
        files = plural(sum(len(run.digests) for run in finished), "file")
        lines.append(f"{runs}, {files}, {size(sum(run.bytes for run in finished))}: every hash holds.")
    if unfinished := len(checked) - len(finished):
        lines.append(f"{plural(unfinished, 'run')} not finished, so not checked.")
    return lines


def planned(removal: Removal) -> list[str]:
    """Say what goes with the models that are removed, and what stays."""
    count = removal.with_them
    goes = ["One of these holds what a model that is removed was asked, and goes with it."] if count == 1 else []
    if count > 1:
        goes = [f"{count:,} of these hold what models that are removed were asked, and go with them."]
    return [*goes, *kept(removal.kept), *([] if removal.runs else [EMPTY])]


def question(removal: Removal) -> str:
    """Ask whether to remove runs."""
    return f"Remove {plural(len(removal.runs), 'run')}, {size(removal.bytes)}? [y/N] "


def removed(removal: Removal) -> list[str]:
    """Say what is gone, and what stays."""
    return [f"Removed {plural(len(removal.runs), 'run')}, {size(removal.bytes)}.", *kept(removal.kept)]


def kept(runs: Iterable[Kept]) -> list[str]:
    """Say what keeps runs."""
    return [f"{one.run.folder} is kept: {one.why}." for one in runs]


def foreign(names: tuple[str, ...]) -> list[str]:
    """Name what is not reticent's."""
    return [f"not made by reticent, and left alone: {some(names, 5)}"] if names else []


def _maybe_whole(who: str) -> str:
    return f"cannot be read now, and may be whole: look at the disk, and {who}"


def _rm(flag: str, store: str) -> str:
    return f"reticent runs rm {flag}" + ("" if store == STORE else f" --store {shlex.quote(store)}")
