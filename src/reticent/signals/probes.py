"""Probes: what models are asked of each record beyond its plain answer; each a run of the store, made once a model."""

from typing import Annotated, ClassVar

from annotated_types import Ge, Gt, Le, Lt

from reticent.errors import InputError
from reticent.spec import Spec


class Probe(Spec):
    """What one probe asks.

    Attributes:
        of_labels: it sees which labels are predicted, and nothing else, so that no output defense changes what is said.
        of_population: it depends on which records no model sees.
    """

    of_labels: ClassVar[bool] = True
    of_population: ClassVar[bool] = False

    @property
    def queries(self) -> int:
        """How often it asks a model about a record, at most."""
        raise NotImplementedError

    def check(self, kind: str, others: int) -> None:
        """Refuse records of a kind that cannot be asked about so, or too few others, that no model sees."""


class Views(Probe):
    """Is each rotated or shifted image labelled correctly? ``(N, Q)``, 1 or 0, the plain image first."""

    method: ClassVar[str] = "views"

    rotations: Annotated[int, Ge(0), Le(180)] = 9
    translations: Annotated[int, Ge(0)] = 1

    def views(self) -> list[tuple[int, int, int]]:
        """List degrees, pixels down and pixels right: one degree apart, and the shifts with |dx| + |dy| = d."""
        d = self.translations
        turned = [(degrees, 0, 0) for degrees in range(-self.rotations, self.rotations + 1) if degrees]
        shifts = [(dy, sign * (d - abs(dy))) for dy in range(-d, d + 1) for sign in ((1, -1) if abs(dy) < d else (1,))]
        return [(0, 0, 0), *turned, *((0, *shift) for shift in shifts if any(shift))]

    @property
    def queries(self) -> int:
        """How often it asks a model about a record."""
        return len(self.views())

    def check(self, kind: str, others: int) -> None:
        """Refuse records that are no images."""
        if kind != "image":
            raise InputError(f"expected images to turn and shift, got {kind} records: give by = noise")


class Noise(Probe):
    """Which share of noisy copies of a record is labelled correctly? ``(N, 1)``."""

    method: ClassVar[str] = "noise"

    copies: Annotated[int, Ge(1)] = 100
    strength: Annotated[float, Gt(0), Lt(1)] = 0.1

    @property
    def queries(self) -> int:
        """How often it asks a model about a record."""
        return self.copies


class Sensitivity(Probe):
    """How much do probabilities move if a record does, by a little noise? ``(N, C)``, as its owner's output says it."""

    method: ClassVar[str] = "sensitivity"
    of_labels: ClassVar[bool] = False

    copies: Annotated[int, Ge(1)] = 10
    step: Annotated[float, Gt(0)] = 1e-3

    @property
    def queries(self) -> int:
        """How often it asks a model about a record."""
        return 1 + self.copies

    def check(self, kind: str, others: int) -> None:
        """Refuse records that noise cannot be added to."""
        if kind == "tokens":
            raise InputError("expected records of numbers, which a little noise moves, got tokens")


class Students(Probe):
    """What is lost on a record by a student of the model, after each epoch of its distillation? ``(N, epochs)``, nats.

    The model is asked about the population alone.
    """

    method: ClassVar[str] = "students"
    of_labels: ClassVar[bool] = False
    of_population: ClassVar[bool] = True

    epochs: Annotated[int, Ge(1)] = 30

    @property
    def queries(self) -> int:
        """How often it asks a model about a record."""
        return 0

    def check(self, kind: str, others: int) -> None:
        """Refuse to distil a student on nothing."""
        if others == 0:
            raise InputError(
                "expected records that no model sees, to distil students on, got none: give --population N"
            )


class Boundary(Probe):
    """How far is a record from what is labelled otherwise? ``(N, 1)``, 0 where it is labelled wrongly itself."""

    method: ClassVar[str] = "boundary"

    steps: Annotated[int, Ge(1)] = 10
    directions: Annotated[int, Ge(2)] = 50

    HALVINGS: ClassVar[int] = 15
    """Of an interval that holds the boundary, and most of a step that leads over it again."""

    @property
    def queries(self) -> int:
        """How often it asks a model about a record, at most."""
        return self.HALVINGS + self.steps * (self.directions + 2 * self.HALVINGS)

    def check(self, kind: str, others: int) -> None:
        """Refuse records between which there is nothing."""
        if kind == "tokens":
            raise InputError("expected records of numbers, between which a boundary lies, got tokens: give by = noise")
