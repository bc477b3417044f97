"""What attacks look at besides models' plain answers: further questions, and the records themselves."""

from collections.abc import Sequence

from reticent.arrays import Ints
from reticent.attacks import ATTACKS
from reticent.attacks.base import Inputs
from reticent.data.records import Records
from reticent.errors import ReticentError, SpecError
from reticent.spec import Spec


def check(attacks: Sequence[Spec], kind: str, others: int, *, given: bool = True) -> None:
    """Refuse, before training, attacks that are not given what they look at, or whose questions do not suit.

    `kind` is of the records; `others` is how many there are that no model sees.
    """
    for spec in attacks:
        needs = ATTACKS[spec.method].needs(spec)
        if not given and (needs.probes or needs.inputs):
            raise SpecError(
                f"{spec.method}: looks at more than the plain answers of models (the records themselves, or answers to "
                "further questions), which reticent audit and compare give it, without --also-non-adaptive: leave this "
                "attack out here"
            )
        for probe in needs.probes:
            try:
                probe.check(kind, others)
            except ReticentError as error:
                raise error.prefixed(f"{spec.method}: ") from None


def inputs(attacks: Sequence[Spec], records: Records, audited: Ints, population: Ints) -> Inputs | None:
    """Take the records for attacks that look at them; None where none does."""
    if not any(ATTACKS[spec.method].needs(spec).inputs for spec in attacks):
        return None
    return Inputs(records.kind, records.x[audited], records.x[population], records.vocabulary)
