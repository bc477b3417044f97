"""``reticent locate layers``: at which depth of a network membership begins to show."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from reticent.cli.flags import Flags, with_options


def layers(
    flags: Flags = Flags(),  # noqa: B008
    *,
    stage: Annotated[list[str] | None, Parameter(negative="")] = None,
    seeds: int | None = None,
    swap: bool | None = None,
    equalise: str | None = None,
    margin: float | None = None,
    probe: str | None = None,
    test: float | None = None,
    **options: str,
) -> Sequence[Path]:
    """Find at which depth of a network membership begins to show: networks on all and on half of the records compared.

    Networks are kept in the store: the same command after an interruption goes on where it was.

    Args:
        flags: what to train, and how.
        stage: Modules of one stage, by name or pattern, several separated by commas; repeat it for each stage, in
            forward order. [the network's own stages]
        seeds: Repetitions, with other initial weights and other halves. [2]
        swap: Also train on the other half. [yes]
        equalise: epochs or steps: what the networks on half of the records have as many of as those on all. [epochs]
        margin: By so much the effect must exceed one half. [0.05]
        probe: svm or none: the linear probe; its options are --set probe.NAME=value. [svm]
        test: Share of the records for measuring accuracy. [0.2]
        options: An option of the defense.

    Returns:
        The files that were written.
    """
    from reticent.cli.progress import screen
    from reticent.cli.screen import replaced, told, unlost
    from reticent.jobs.locate.layers import prepare, run
    from reticent.report.kinds import layers as kind
    from reticent.report.output import LAYERS

    own: dict[str, Any] = {
        "stages": tuple(stage) if stage else None,
        "seeds": seeds,
        "swap": swap,
        "equalise": equalise,
        "margin": margin,
        "probe": probe,
        "test": test,
    }
    given = {key: value for key, value in own.items() if value is not None}
    values = with_options(flags.values(), options, flags.config)
    job, chosen = prepare(flags.config, values | given)
    with unlost(), screen() as shown:
        found = run(
            job,
            chosen,
            progress=shown.model,
            stage=shown.stage,
            checked=lambda out: replaced(out, LAYERS, shown.note),
        )
    return told(kind.layers(found.findings), found.files)
