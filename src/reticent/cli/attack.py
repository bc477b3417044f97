"""``reticent attack``: audit outputs that were computed elsewhere, without training."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from reticent.cli.flags import setting


def attack(
    *,
    signals: Path,
    attack: Annotated[list[str] | None, Parameter(negative="")] = None,
    out: Path = Path("reticent-attack"),
    scores: Path | None = None,
    group_by: Annotated[list[str] | None, Parameter(negative="")] = None,
    seed: int | None = None,
    control: str | None = None,
    format: str | None = None,  # noqa: A002
    delta: float | None = None,
    promised_epsilon: float | None = None,
    config: Path | None = None,
    set: Annotated[list[str] | None, Parameter(negative="")] = None,  # noqa: A002
) -> Sequence[Path]:
    """Attack and audit the outputs of models of any framework.

    Args:
        signals: .npz file with `labels` (N,), `membership` (M, N) of booleans, and one of `logits` (M, N, C),
            `probabilities` (M, N, C) and `margins` (M, N), the first two also (M, N) of binary models; if wanted
            `targets` and `references`, rows of the models, `classes`, how many there are, and arrays (N,) to group
            records by.
        attack: An attack to run; repeat it for several. By default all that the outputs allow.
        out: Folder for report.html, audit.json and records.csv.
        scores: Save the scores here: .npy `(T, N)` with one attack, .npz by attack's name with several; NaN for
            records that are not audited.
        group_by: An array of the file, one value a record, whose groups are compared, beside the classes; repeat it.
        seed: Seed of the bootstrap. [0]
        control: null repeats the audit with permuted membership, where there is nothing to find. [none]
        format: md writes report.md too, a section of a model card. [html]
        delta: Delta of the lower bounds on epsilon. [0.00001]
        promised_epsilon: The epsilon, at delta, that you say training keeps; shown beside the bound, as stated.
        config: TOML file with `attacks` and `[attack.NAME]` tables.
        set: An attack's option by its dotted name: --set attack.lira.variance=pooled.

    Returns:
        The files that were written.
    """
    from reticent.attacks import ATTACKS
    from reticent.cli.screen import first, replaced, told, unlost
    from reticent.jobs.attack import attack as run
    from reticent.jobs.attack import not_looked_at, read_signals
    from reticent.jobs.attacks import gather_attacks
    from reticent.jobs.score_files import check_scores, save_scores
    from reticent.report.kinds.audit import audit as kind
    from reticent.report.output import AUDIT, check_folder

    given = {"attacks": attack, "group_by": group_by, "seed": seed, "control": control, "delta": delta}
    given |= {"promised_epsilon": promised_epsilon, "format": format}
    chosen = gather_attacks(config, given | dict(setting(text) for text in set or []))
    if scores:
        check_scores(scores, len(chosen.attacks or ATTACKS), (signals, config))
    check_folder(out, AUDIT, (signals, config), chosen.format)
    arrays = read_signals(signals, chosen.group_by)
    with unlost():
        done = run(
            **arrays, attacks=chosen.attacks, options=chosen.attack, seed=chosen.seed, out=out, name=signals.name,
            replicates=chosen.replicates, confidence=chosen.confidence, delta=chosen.delta,
            promised_epsilon=chosen.promised_epsilon, control=chosen.control, format=chosen.format,
            stage=first(lambda: replaced(out, AUDIT), lambda _: None),
        )  # fmt: skip
    files = told(kind(done.findings), done.files, beside=not_looked_at(arrays.get("ungrouped", ())))
    return [*files, *told(None, [save_scores(scores, done.every_score)])] if scores else files
