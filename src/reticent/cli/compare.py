"""``reticent compare``: several recipes under the same membership, side by side, with paired tests."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from reticent.cli.flags import Flags, no_options
from reticent.errors import SpecError


def compare(
    *runs: Path,
    recipe: Annotated[list[Path] | None, Parameter(negative="")] = None,
    baseline: str | None = None,
    control: Annotated[bool, Parameter(name="--early-stopped", negative="--no-early-stopped")] = True,
    fpr: float | None = None,
    flags: Flags = Flags(),  # noqa: B008
    **options: str,
) -> Sequence[Path]:
    """Compare recipes, or audits that ran: accuracy against what they give away, with paired tests.

    All are trained under the same membership and random streams. Beside each recipe stands its control: the baseline,
    stopped early at the same accuracy.

    With --defense NAME, each a row, the undefended recipe is the baseline; it is a row of its own, called none, where
    no run or recipe is undefended. Options follow a colon:
    `reticent compare --defense relaxloss:level=0.5 --defense dpsgd:epsilon=4,max_norm=0.5`.

    Args:
        runs: Folders of audits, or .npz files of outputs as `reticent attack` takes them.
        recipe: TOML file of an audit; repeat it for several. Flags hold for all, and win.
        baseline: Name of the undefended one: a folder's or a file's name without its ending.
            [the first, or the only undefended one]
        control: Train the early-stopped control of each recipe.
        fpr: False-positive rate of the comparison: 0.1, 0.01, 0.001 or 0.0001. [the smallest that is well measured]
        flags: what holds for all.
        options: No other flag is taken; an option of a defense follows its name, as --defense dpsgd:epsilon=8.

    Returns:
        The files that were written.

    Raises:
        SpecError: a configuration is given, which holds one audit, or an unknown flag.
    """
    from reticent.cli.progress import screen
    from reticent.cli.screen import first, replaced, told, unlost
    from reticent.jobs.compare import compare as run
    from reticent.report.output import COMPARISON

    no_options(options, flags.defense or ())
    if flags.config is not None:
        raise SpecError("--config holds one audit: give --recipe FILE for each recipe")
    values = flags.values()
    out = Path(values.pop("out", "reticent-compare"))
    with unlost(), screen() as shown:
        stage = first(lambda: replaced(out, COMPARISON, shown.note), shown.stage)
        compared = run(
            *runs,
            recipes=recipe or (),
            defenses=values.pop("defense", ()),
            baseline=baseline,
            early_stopped=control,
            fpr=fpr,
            out=out,
            progress=shown.model,
            stage=stage,
            note=shown.note,
            **values,
        )
    from reticent.report.kinds.comparison import comparison

    return told(comparison(compared.findings), compared.files)
