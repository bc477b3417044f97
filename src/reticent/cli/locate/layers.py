"""``reticent locate layers``: at which depth of a network membership begins to show."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from reticent.cli.flags import Flags, Several, flags, silent
from reticent.spec import RARELY


@flags(*silent("locate layers"), show=False)
class Asked(Flags):
    """What to train, and how."""


def layers(
    flags: Asked = Asked(),  # noqa: B008
    *,
    stage: Several = None,
    seeds: int | None = None,
    swap: bool | None = None,
    equalise: Annotated[str | None, RARELY] = None,
    margin: Annotated[float | None, RARELY] = None,
    probe: Annotated[str | None, RARELY] = None,
    test: Annotated[float | None, RARELY] = None,
    **options: str,
) -> Sequence[Path]:
    """Find at which depth of a network membership begins to show: networks on all and on half of the records compared.

    Networks are kept in the store: the same command after an interruption goes on where it was.

    Examples:
        reticent locate layers --dataset mine.csv --label outcome

    Args:
        flags: what to train, and how.
        stage: Modules of one stage, by name or pattern, several separated by commas, repeated for each stage in
            forward order. [the network's own stages]
        seeds: Repetitions, with other initial weights and other halves. [2]
        swap: Also train on the other half. [yes]
        equalise: epochs or steps: what the networks on half of the records have as many of as those on all. [epochs]
        margin: By so much the effect must exceed one half. [0.05]
        probe: svm or none: the linear probe; its options are --set probe.NAME=value. [svm]
        test: Share of the records for measuring accuracy. [0.2]
        options: An option of the defense, such as --epsilon 8 beside --defense dpsgd; see `reticent defenses NAME`.
    """
    from reticent.cli.job import reported
    from reticent.jobs.locate.layers import OUT, locate_layers
    from reticent.report.output import LAYERS

    asked = flags.asked(options) | {"seeds": seeds, "swap": swap, "equalise": equalise, "margin": margin}
    asked |= {"stages": tuple(stage) if stage else None, "probe": probe, "test": test}
    given = {key: value for key, value in asked.items() if value is not None}
    return reported(
        LAYERS,
        lambda screen: locate_layers(flags.config, progress=screen.model, stage=screen.stage, **given),
        flags.folder(given, OUT),
    ).files
