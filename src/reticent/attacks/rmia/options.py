"""RMIA's options, and what they need of a problem."""

from typing import Annotated, ClassVar, Literal

from annotated_types import Ge, Gt, Le, Lt

from reticent.attacks.base import Needs, Offer
from reticent.errors import InputError, SpecError
from reticent.spec import Spec

Formula = Literal["softmax", "taylor", "soft-margin", "sm-taylor"]


class Rmia(Spec):
    """Options of RMIA."""

    method: ClassVar[str] = "rmia"

    mode: Literal["online", "offline"] = "online"
    """Marginals from IN and OUT references with equal weights, or from OUT references alone, corrected by `a`."""
    score: Literal["count", "log-ratio"] = "count"
    """How many records a record beats; or, without ties, the logarithm of its probability under the target over its
    marginal. That ranks a target's records as InfoRMIA does; at temperature 1 it is BASE1."""
    gamma: Annotated[float, Ge(1)] = 1.0
    """A record dominates another if the ratio of their likelihood ratios is strictly above this; the paper uses 2, its
    authors' later tool 1, which ties fewer records."""
    a: Annotated[float, Ge(0), Le(1)] | Literal["auto"] = "auto"
    """Offline: slope of the line that gives IN from OUT probabilities; "auto" chooses it on references, and is 0.3
    where none can be attacked, as where none was trained on any of the records."""
    signal: Formula = "softmax"
    """How a probability is made from logits; taylor and sm-taylor need those from before the softmax."""
    temperature: Annotated[float, Gt(0)] | Literal["auto"] = "auto"
    """What logits are divided by; "auto" is 2, as the paper has it for CIFAR-10, CINIC-10 and Purchase100, where the
    logits behind every query used are known, and 1 where only margins are."""
    margin: float = 0.6
    """What the soft-margin signals subtract from the label's logit (m in the paper)."""
    degree: Annotated[int, Ge(1)] = 4
    """Degree of the Taylor signals; 3 is what the released code computes where it says 4: its values can be negative,
    and are kept."""
    queries: Annotated[int, Ge(1)] | None = None
    """How many queries of a record vote on each pair; by default all. More than one costs O(N Z) pairs."""
    trim: Annotated[float, Ge(0), Lt(0.5)] = 0.0
    """Proportion of references cut at each end before they are averaged, IN and OUT together; the paper's code uses
    0.2."""
    population: Literal["auto", "held-out", "others"] = "auto"
    """Compare with the population, with the other audited records, or with the population if there is one."""
    epsilon: Annotated[float, Gt(0), Lt(1)] = 1e-30
    """Smallest probability, or smallest size of a negative one."""

    @property
    def odd(self) -> bool:
        """Whether probabilities can be negative."""
        return self.taylor and self.degree % 2 == 1

    @property
    def taylor(self) -> bool:
        """Whether the signal is a polynomial of logits."""
        return self.signal in {"taylor", "sm-taylor"}

    def margins_suffice(self, temperature: float, classes: int) -> bool:
        """Whether the margin says all that the signal needs."""
        return self.signal in {"softmax", "soft-margin"} and (temperature == 1 or classes == 2)


def needs(spec: Rmia) -> Needs:
    """Say what it looks at: logits, but where margins suffice; offline, IN references only to choose `a` on them."""
    logits, population = not spec.margins_suffice(temperature(spec), 0), spec.population != "others"
    if spec.score == "log-ratio":
        for key, vain in {
            "gamma": spec.gamma != 1,
            "population": spec.population != "auto",
            "degree": spec.odd,
        }.items():
            if vain:
                told = f"{key} = {getattr(spec, key)}"
                raise SpecError(f"rmia: score = log-ratio does not go with {told}: leave one of them out")
        population = False
    if spec.mode == "online":
        return Needs(references_in=1, references_out=1, logits=logits, population=population)
    return Needs(references_out=1, out_only=spec.a != "auto", logits=logits, population=population)


def temperature(spec: Rmia, offer: Offer | None = None, queries: int = 1) -> float:
    """Choose what logits are divided by, where nothing is offered, as if all were."""
    if spec.temperature != "auto":
        return spec.temperature
    return 2.0 if offer is None or offer.classes == 2 or (offer.logits and queries == 1) else 1.0


def fits(spec: Rmia, offer: Offer) -> None:
    """Refuse options that need what the problem does not hold."""
    queries = spec.queries or offer.queries
    if spec.population == "held-out" and not offer.population:
        raise InputError(
            "rmia: population='held-out' expected records that no model was trained on, got none: give a population, "
            "or use population='others'"
        )
    divisor = temperature(spec, offer, queries)
    if spec.margins_suffice(divisor, offer.classes):
        return
    if not offer.logits:
        raise InputError(
            f"rmia: expected logits for signal={spec.signal!r} at temperature={divisor} and {offer.classes} "
            "classes, got margins only: give logits (M, N, C), or use signal='softmax' with temperature=1"
        )
    if queries > 1:
        raise InputError(
            f"rmia: expected one query for signal={spec.signal!r} at temperature={divisor}, since logits are "
            f"stored for the plain query only, got {queries}: use queries=1, or signal='softmax' with temperature=1"
        )
