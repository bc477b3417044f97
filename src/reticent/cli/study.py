"""``reticent study``: a paper's table or figure as one command; alone, it lists what there is."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter


def study(
    name: str | None = None,
    *,
    scale: str = "tiny",
    setting: Annotated[list[str] | None, Parameter(negative="")] = None,
    seeds: int | None = None,
    data_dir: Path | None = None,
    store: Path = Path("reticent-store"),
    out: Path | None = None,
    workers: int | None = None,
    device: str = "auto",
) -> Sequence[Path]:
    """Repeat a paper's table or figure: our numbers beside the paper's, and a verdict on each of its claims.

    Without a name, list the studies. What was measured is kept in --out and finished models in --store: the same
    command after any interruption goes on.

    Args:
        name: A study.
        scale: tiny (minutes on two cores), small (an hour or so), paper (the paper's own setting, for a GPU), or gpu
            (cwrf-defenses alone: some minutes on one).
        setting: One of the scale's settings; repeat it for several. [all]
        seeds: How many seeds. [as the scale says]
        data_dir: Folder of official data files; then RETICENT_DATA, then the cache folder.
        store: Folder of finished models; they are never trained twice.
        out: Folder for the page, the figures and the numbers. [reticent-study/NAME-SCALE]
        workers: Processes to train in. [one a core]
        device: auto, cpu, cuda or cuda:N.

    Returns:
        The files that were written.
    """
    from reticent.cli.progress import screen
    from reticent.cli.screen import replaced, stdout, told, unlost
    from reticent.report.output import STUDY
    from reticent.studies.run import study as run

    if name is None:
        console = stdout()
        console.print(_list())
        console.print("Use: reticent study NAME --scale tiny")
        return ()
    with unlost(), screen() as shown:
        done = run(
            name,
            scale=scale,
            settings=setting or (),
            seeds=seeds,
            data_dir=data_dir,
            store=store,
            out=out,
            workers=workers,
            device=device,
            progress=shown.model,
            stage=shown.note,
            checked=lambda folder: replaced(folder, STUDY, shown.note),
        )
    from reticent.report.kinds.study import study as kind

    return told(kind(done.findings), done.files)


def _list() -> object:
    from rich.table import Table

    from reticent.studies import STUDIES

    table = Table(box=None, pad_edge=False)
    for heading in ("study", "asks", "paper", "scales"):
        table.add_column(heading, overflow="fold")
    for one in STUDIES.values():
        scales = "\n".join(f"{name}: {scale.about}" for name, scale in one.scales.items())
        table.add_row(one.name, one.title, one.paper, scales)
    return table
