"""``reticent compare``: several recipes under the same membership, side by side, with paired tests."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from reticent.cli.flags import RowFlags, Several, Switch, refuse
from reticent.errors import SpecError
from reticent.spec import RARELY


def compare(
    *runs: Path,
    recipe: Several = None,
    baseline: str | None = None,
    early_stopped: Annotated[bool, RARELY] = True,
    augmented: Annotated[Switch, RARELY] = False,
    fpr: Annotated[float | None, RARELY] = None,
    flags: RowFlags = RowFlags(),  # noqa: B008
    **options: Annotated[str, RARELY],
) -> Sequence[Path]:
    """Compare recipes, or audits that ran: accuracy against leak, with paired tests.

    All are trained under the same membership and random streams. Beside each recipe stands its control: the baseline,
    stopped early at the same accuracy.

    With --defense NAME, each a row, the undefended recipe is the baseline; it is a row of its own, called none, where
    no run or recipe is undefended. Options follow a colon.

    Examples:
        reticent compare --defense relaxloss --defense dpsgd:epsilon=4,max_norm=0.5
        reticent compare --dataset mine.csv --label outcome --recipe plain.toml --recipe mine.toml
        reticent compare audits/plain audits/defended

    Args:
        runs: Folders of audits, or .npz files of outputs as `reticent attack` takes them.
        recipe: TOML file of an audit, repeated for several. Flags hold for all, and win.
        baseline: Name of the undefended one: a folder's or a file's name without its ending.
            [the first, or the only undefended one]
        early_stopped: Train the early-stopped control of each recipe.
        augmented: Train a further control: the undefended recipe with augmentation, each model stopped at its best
            validation loss. A tenth of the records, at most half as many as are audited, is set aside for that unless
            --validation says how many.
        fpr: False-positive rate of the comparison: 0.1, 0.01, 0.001 or 0.0001. [the smallest that is well measured]
        flags: what holds for all.
        options: No other flag is taken; an option of a defense follows its name, as --defense dpsgd:epsilon=8.

    Raises:
        SpecError: a configuration is given, which holds one audit, or an unknown flag.
    """
    from reticent.cli.job import reported
    from reticent.jobs.compare import compare as run
    from reticent.report.output import COMPARISON

    values = flags.values()
    if options:
        refuse(options, values.get("defense", ()))
    if flags.config is not None:
        raise SpecError("--config holds one audit: give --recipe FILE for each recipe")
    own = {"recipes": recipe or (), "defenses": values.pop("defense", ()), "baseline": baseline, "fpr": fpr}
    own |= {"early_stopped": early_stopped, "augmented": augmented, "out": values.pop("out", "reticent-compare")}
    return reported(
        COMPARISON,
        lambda screen: run(*runs, **own, progress=screen.model, stage=screen.stage, note=screen.note, **values),
        own["out"],
    ).files
