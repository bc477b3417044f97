"""``reticent locate weights``: score every weight of a network."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from reticent.cli.flags import Flags, flags, initial_state, silent
from reticent.spec import RARELY


@flags(*silent("locate weights"), show=False)
class Asked(Flags):
    """What to train, and how."""


def weights(
    *,
    weights: Path | None = None,
    initial: Path | None = None,
    initial_seed: int | None = None,
    members: Path | None = None,
    model: int = 0,
    seeds: int = 1,
    steps: Annotated[int | None, RARELY] = None,
    unlearning: float | None = None,
    flags: Asked = Asked(),  # noqa: B008
    **options: str,
) -> Sequence[Path]:
    """Score every weight: how much it leaks of membership, and how much the network learns by it.

    Without --weights, the model is one of those that `reticent audit` with the same flags would train: it is found in
    the store, or trained and kept there. Other options of the scoring: --set scoring.NAME=VALUE.

    Examples:
        reticent locate weights --dataset mine.csv --label outcome
        reticent locate weights --weights mine.pt --members rows.npy --architecture my_net:build --dataset mine.npz

    Args:
        weights: Trained weights of your own --architecture: safetensors, or torch.save of a state dictionary.
        initial: With --weights: the state before training, in such a file.
        initial_seed: Or the seed of torch.manual_seed right before the architecture was built. [a fresh draw]
        members: With --weights: file of the data set's rows that the model was trained on, .npy or one number a line.
        model: Which model of the population.
        seeds: How often to score, with other batches each time; from 2 on, stability is told.
        steps: Steps of the scoring. [50]
        unlearning: Its part in the loss that scores, from 0 to 1 (the paper's lambda). [0.5]
        flags: data set and recipe, as for `reticent audit`.
        options: An option of the defense, such as --epsilon 8 beside --defense dpsgd; see `reticent defenses NAME`.

    Raises:
        InputError: two initial states are given.
    """
    from reticent.cli.job import reported
    from reticent.jobs.locate.weights import FOLDER, locate_weights
    from reticent.report.output import WEIGHTS

    scoring = {"scoring.steps": steps, "scoring.unlearning": unlearning}
    values = flags.asked(options) | {key: item for key, item in scoring.items() if item is not None}
    start = initial_state(initial, initial_seed)
    return reported(
        WEIGHTS,
        lambda screen: locate_weights(
            flags.config,
            weights=weights,
            initial=start,
            members=members,
            model=model,
            seeds=seeds,
            stage=screen.stage,
            **values,
        ),
        flags.folder(values, FOLDER),
    ).files
