"""What attacks ask models besides the plain answers: refused where nobody asks, and where records do not allow it."""

from collections.abc import Sequence

from reticent.attacks import probes
from reticent.errors import ReticentError, SpecError
from reticent.spec import Spec


def check(attacks: Sequence[Spec], kind: str, *, asked: bool = True) -> None:
    """Refuse, before training, attacks whose questions are not put to all models, or do not suit a kind of records."""
    for spec in attacks:
        for probe in probes([spec]):
            if not asked:
                raise SpecError(
                    f"{spec.method}: asks models further questions of each record, which reticent audit and compare "
                    "put to all of them, without --also-non-adaptive: leave this attack out here"
                )
            try:
                probe.check(kind)
            except ReticentError as error:
                raise error.prefixed(f"{spec.method}: ") from None
