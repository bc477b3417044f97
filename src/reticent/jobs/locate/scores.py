"""The scores of a source: one seed after the other, one state in memory at a time; those of the first go to disk."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from reticent.errors import CorruptFileError, MissingFileError, StoreError
from reticent.findings.locate import ScoringSteps, Stability, StableRate, Steps
from reticent.jobs.locate.source import Source
from reticent.locate.scoring import Scores
from reticent.locate.topk_mask import topk_mask
from reticent.locate.weights import Answers, Scoring, answers, run
from reticent.report.files import make_folder

RATES = (0.001, 0.01, 0.05)
"""Shares of the weights whose part is told."""
Packed = dict[float, list[NDArray[np.uint8]]]


@dataclass(frozen=True, eq=False)
class Scored:
    """What scoring left.

    `entropy`: the initial model's mean entropy on non-members, as a share of log C; None if it was not asked.
    `stability`: None where there was one scoring.
    """

    files: tuple[Path, Path]
    steps: ScoringSteps
    unused: tuple[str, ...]
    entropy: float | None
    stability: Stability | None

    def read(self) -> tuple[Scores, Scores]:
        """Read both scores from the disk."""
        return read_scores(self.files[0]), read_scores(self.files[1])


def scored(source: Source, scoring: Scoring, repeats: int, folder: Path, stage: Callable[[str], None]) -> Scored:
    """Score a network, and write the scores."""
    make_folder(folder)
    files = folder / "vulnerability.safetensors", folder / "learnability.safetensors"
    streams = [source.streams.child("locate", k) for k in range(repeats)]
    told: list[Answers | None] = [None] * repeats
    network, materials, recipe = source.network, source.materials, source.recipe
    if scoring.unlearning:
        source.begin()
        told = [answers(network, materials, scoring, one, recipe) for one in streams]
    facts: list[Steps] = []
    sets: list[Packed] = []
    unused: tuple[str, ...] = ()
    for k, one in enumerate(streams):
        stage("vulnerability" if repeats == 1 else f"vulnerability {k + 1} of {repeats}")
        source.restore()
        found = run(network, told[k], materials, scoring, one, recipe)
        facts.append(_steps(found))
        sets.append({rate: _packed(topk_mask(found, rate)) for rate in RATES} if repeats > 1 else {})
        if k == 0:
            unused = tuple(sorted(found.unused))
            _save(files[0], found)
        del found
    stage("learnability")
    source.restore()
    plain = scoring.replace(unlearning=0.0)
    learnt = run(network, None, materials, plain, streams[0], recipe)
    _save(files[1], learnt)
    entropy = told[0].entropy if told[0] is not None else None
    steps = ScoringSteps(vulnerability=tuple(facts), learnability=_steps(learnt))
    return Scored(files, steps, unused, entropy, _stability(sets) if repeats > 1 else None)


def _stability(sets: Sequence[Packed]) -> Stability:
    """Measure how much the largest scores depend on the draw of batches: the Jaccard index of each two seeds' sets."""
    pairs = list(combinations(sets, 2))
    taken = [rate for rate in RATES if any(map(np.any, sets[0][rate]))]
    overlap = {rate: [_jaccard(a[rate], b[rate]) for a, b in pairs] for rate in taken}
    rows = tuple(
        StableRate(rate=rate, mean=sum(values) / len(values), least=min(values), chance=rate / (2 - rate))
        for rate, values in overlap.items()
    )
    return Stability(seeds=len(sets), pairs=len(pairs), rows=rows)


def _steps(found: Scores) -> Steps:
    return Steps(member_loss=found.member_loss, divergence=found.divergence)


def _save(path: Path, scores: Scores) -> None:
    """Write scores without a copy of them, under a temporary name, and rename them.

    The metadata say which file it is, whatever the weight lambda was: by that the next report knows it.
    """
    about = {"scores": path.stem, "order": "\n".join(scores), "unused": "\n".join(sorted(scores.unused))}
    temporary = path.with_name(f".{path.name}.tmp")
    try:
        temporary.touch()
        mode = temporary.stat().st_mode
        save_file(dict(scores), temporary, metadata=about)
        temporary.chmod(mode)  # That of any other file: safetensors' own is for the owner alone.
        temporary.replace(path)
    except (OSError, SafetensorError) as error:
        raise StoreError(f"expected to write {path}, got {error}: free some space, or choose another folder") from None
    finally:
        temporary.unlink(missing_ok=True)


def read_scores(path: str | Path) -> Scores:
    """Read scores that `scored` wrote, in the network's order, which safetensors do not keep."""
    if not Path(path).is_file():
        raise MissingFileError(f"no file {str(path)!r}: expected scores that reticent locate weights wrote")
    try:
        with safe_open(path, "pt") as file:
            about = file.metadata() or {}
            if set(about.get("order", "").split("\n")) != set(file.keys()):
                raise CorruptFileError(f"{path}: expected scores that reticent locate weights wrote, got other tensors")
            found = {name: file.get_tensor(name) for name in about["order"].split("\n")}
    except (SafetensorError, OSError) as error:
        raise CorruptFileError(f"{path}: not a safetensors file: {error}") from None
    return Scores(found, unused=[name for name in about.get("unused", "").split("\n") if name])


def _packed(mask: Mapping[str, Tensor]) -> list[NDArray[np.uint8]]:
    return [np.packbits(value.view(-1).numpy()) for value in mask.values()]


def _jaccard(a: list[NDArray[np.uint8]], b: list[NDArray[np.uint8]]) -> float:
    both = sum(int(np.bitwise_count(x & y).sum()) for x, y in zip(a, b, strict=True))
    either = sum(int(np.bitwise_count(x | y).sum()) for x, y in zip(a, b, strict=True))
    return both / either
