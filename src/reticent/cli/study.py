"""``reticent study``: a paper's table or figure as one command; alone, it lists what there is."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from reticent.cli.flags import DATA, Several, Told, flags
from reticent.cli.screen import say, show

if TYPE_CHECKING:
    from reticent.studies.base import Study


@flags(*(key for key in DATA if key not in {"image_size", "scale"}))
class Reading(Told):
    """How a table's columns are read; --scale is that of the study."""


def study(
    name: str | None = None,
    *,
    scale: str = "tiny",
    setting: Several = None,
    seeds: int | None = None,
    dataset: str | None = None,
    data_dir: Path | None = None,
    store: str = "reticent-store",
    out: Path | None = None,
    workers: int | None = None,
    device: str = "auto",
    reading: Reading = Reading(),  # noqa: B008
) -> Sequence[Path]:
    """Repeat a paper's table or figure: our numbers beside the paper's, and a verdict on each of its claims.

    All but cwrf-entanglement need Location30 (`reticent data fetch location30`), and larger scales CIFAR-10 or -100.
    Without a name, list the studies. What was measured is kept in --out and finished models in --store: the same
    command after any interruption goes on.

    Examples:
        reticent study
        reticent study cwrf-ablation --scale tiny

    Args:
        name: A study.
        scale: tiny (minutes on two cores), small (hours), paper (the paper's own setting, for a GPU), or gpu
            (a part of it, for one GPU; of the studies of CWRF and PPTP that train defenses).
        setting: One of the scale's settings, repeated for several. [all]
        seeds: How many seeds. [as the scale says]
        dataset: A table of your own, in the place of the scale's: a file, as `reticent audit` takes it. [none]
        data_dir: Folder of official data files. [RETICENT_DATA, then the cache folder]
        store: Folder of finished models, never trained twice.
        out: Folder for the page, the figures and the numbers. [reticent-study/NAME-SCALE, and the name of --dataset]
        workers: Processes to train in. [one a core]
        device: auto, cpu, cuda or cuda:N.
        reading: with --dataset, how a table's columns are read.
    """
    from reticent.cli.job import reported
    from reticent.report import blocks as b
    from reticent.report.output import STUDY
    from reticent.studies import STUDIES
    from reticent.studies.run import study as run

    def able(one: "Study") -> str:
        counts = ((key, *one.untellable(scale)) for key, scale in one.scales.items())
        return ", ".join(f"{key} {claims - untellable}" for key, untellable, claims in counts)

    if name is None:
        heads = b.words("study", "asks", "claims told")
        rows = [
            (one.name, b.Cell(one.title, below=(one.paper.partition("),")[0] + ")" * (")," in one.paper),)), able(one))
            for one in STUDIES.values()
        ]
        show(b.table("Studies", heads, rows))
        say("Scales: tiny takes minutes on two cores, small hours; gpu and paper need a GPU (docs/studies.md).")
        say("Claims told: how many of the paper's each scale can tell, by its own networks and data or a stand-in.")
        say("Use: reticent study NAME --scale tiny")
        return ()
    return reported(
        STUDY,
        lambda screen: run(
            name,
            scale=scale,
            settings=setting or (),
            seeds=seeds,
            dataset=dataset,
            data_dir=data_dir,
            store=store,
            out=out,
            workers=workers,
            device=device,
            progress=screen.model,
            stage=screen.stage,
            note=screen.note,
            **reading.values(),
        ),
    ).files
