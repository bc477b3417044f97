"""``reticent attack``: audit outputs that were computed elsewhere, without training."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from reticent.cli.flags import ATTACK, DataFlags, Setting, Told, flags
from reticent.cli.screen import say
from reticent.errors import InputError


@flags(*ATTACK)
class Attacks(Told):
    """Which attacks to run, and how they are audited."""

    set: Setting = None
    config: Annotated[
        Path | None, Parameter(help="TOML file with any of these, and [attack.NAME] tables; flags win.")
    ] = None


def attack(
    *,
    signals: Path,
    out: Path = Path("reticent-attack"),
    scores: Path | None = None,
    records: str | None = None,
    reading: DataFlags = DataFlags(),  # noqa: B008
    flags: Attacks = Attacks(),  # noqa: B008
) -> Sequence[Path]:
    """Attack and audit the outputs of models of any framework.

    Examples:
        reticent attack --signals outputs.npz
        reticent attack --signals outputs.npz --records both.csv --attack lira --attack rmia

    Args:
        signals: .npz file of M models and N records, with the arrays `labels` (N,), `membership` (M, N) of booleans
            or 0 and 1 (True or 1 where the model was trained on the record), one of `logits` (M, N, C),
            `probabilities` (M, N, C) or `margins` (M, N), and if wanted `records` (N, ...), what the models saw. Of
            binary models logits and probabilities may be (M, N). It may also hold `targets`, row numbers of the models
            to audit or a boolean mask (M,) of them, and `references`, the same of those to learn from, which may have
            been trained on none of the records; `classes`, how many there are; and other arrays (N,), by whose values
            --group-by groups the records, or one that --unit names and that tells whose each record is; either may be a
            column of --records instead.
        out: Folder for report.html, audit.json and records.csv.
        scores: Save the scores here: .npy `(T, N)` with one attack, .npz by attack's name with several; NaN for
            records that are not audited.
        records: What the models saw, if it does not stand in the file of signals: a data set, as `reticent audit
            --dataset` takes it, of the same records in the same order. To find out whether members and non-members
            differ without the model; otherwise the labels alone are looked at.
        reading: with --records, how a table's columns, or a folder's pictures, are read.
        flags: which attacks to run.
    """
    from reticent.cli.job import reported
    from reticent.data.load import load
    from reticent.jobs.attack import run
    from reticent.jobs.attacks import build_attacks, gather_attacks
    from reticent.jobs.grouping import check_unit
    from reticent.jobs.score_files import check_scores, save_scores
    from reticent.jobs.signals_file import check_file, read_signals
    from reticent.options import DataOptions, spelled
    from reticent.report.files import check_writable
    from reticent.report.output import AUDIT, check_folder
    from reticent.say.audit import not_looked_at

    read_as = DataOptions(**reading.values()).given()
    if records is None and read_as:
        named = ", ".join(f"--{spelled(key)}" for key in read_as)
        raise InputError(f"{named}: how a table is read; expected the table beside it: give --records FILE")
    chosen = gather_attacks(flags.config, flags.values())
    check_unit(chosen)
    read = (signals, flags.config, records)
    if scores:
        check_scores(scores, len(build_attacks(chosen)), read)
    check_folder(out, AUDIT, read, chosen.format)
    check_file(signals)  # Before a large table is read.
    table = None if records is None else load(records, **read_as)
    brought = read_signals(signals, chosen.group_by, chosen.unit, chosen.unit_score, table)
    if scores:
        check_writable(scores.parent)
    say(*not_looked_at(brought.ungrouped))
    done = reported(AUDIT, lambda screen: run(brought, chosen, out, signals.name, screen.stage), out)
    if not scores:
        return done.files
    say(saved := save_scores(scores, done.every_score))
    return [*done.files, saved]
