"""What DP-SGD costs: epsilon of so many noisy steps by Opacus' accountants, and the noise that a target needs.

Papers: Gopi, Lee and Wutschitz (2021), "Numerical composition of differential privacy" (PRV); Mironov, Talwar and Zhang
(2019), "Renyi differential privacy of the sampled Gaussian mechanism" (RDP); Dong, Roth and Su (2022), "Gaussian
differential privacy" (the central limit that the search for noise starts from; it states nothing).
"""

import math
import warnings
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from reticent.errors import ModelError, SpecError
from reticent.procedures.dpsgd import opacus_import

CELLS = 2**19
"""How finely the PRV accountant may divide the privacy loss: about 50 MB and half a second."""
COARSEST = 0.5
"""The largest error of the PRV accountant, which it adds to epsilon; beyond it the RDP accountant is used."""
NEAR = 0.98
"""A search for noise ends where epsilon is at least this part of the target."""
TRIES, LARGEST = 40, 1e7
"""How often a search asks, and the noise at which it gives up: at an epsilon of 0.001 less is needed."""
ORDERS = (1.1, 1.3, 1.5, 1.75, 2.5, *range(2, 64), 64, 80, 100, 128, 160, 200, 256, 320, 400, 512)
"""Orders of the Renyi divergence: Opacus' own with fewer fractions, which cost most, and larger ones for small epsilon.
Any choice of orders gives a bound."""
OTHER = {"prv": "rdp", "rdp": "prv"}
FAILURES = (ArithmeticError, RuntimeError, ValueError, MemoryError)
"""What Opacus' accountants raise where they cannot go on."""


@dataclass(frozen=True)
class Spent:
    """An upper bound of epsilon, and the accountant that it comes from: prv or rdp."""

    epsilon: float
    source: str


@dataclass(frozen=True)
class Steps:
    """Noisy steps on Poisson samples.

    Attributes:
        rate: with which probability a record is in a step, above 0 and at most 1.
        delta: of the (epsilon, delta) to bound.
    """

    rate: float
    count: int
    delta: float


def spent(noise: float, steps: Steps, accountant: str) -> Spent:
    """Bound epsilon from above; where the accountant asked for cannot, the other one does."""
    for source in (accountant, OTHER[accountant]):
        epsilon = _tried(source, noise, steps)
        if epsilon is not None:
            return Spent(epsilon, source)
    raise ModelError(
        f"neither accountant can bound epsilon for noise {noise:g}, sampling rate {steps.rate:g}, {steps.count} steps "
        f"and delta {steps.delta:g}: expected more noise, or noise 0 for clipping alone without a guarantee"
    )


def of_group(records: int, noise: float, steps: Steps) -> Spent | None:
    """Bound epsilon of so many records that are added or removed together; None where no order of the divergence can.

    What is (e, d)-private for one record is (k e, k exp((k - 1) e) d)-private for k (Dwork and Roth 2014, section 2.3).
    At order a > k the d that gives `delta` follows from the divergence, by the conversion of Balle et al. (2020) that
    Opacus has; the best order counts.
    """
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        divergence = _rdp_of_one(noise, steps.rate) * steps.count
    a = np.array(ORDERS)
    able = (a > records) & np.isfinite(divergence)
    a, divergence = a[able], divergence[able]
    numerator = (a - 1) * (divergence + np.log1p(-1 / a)) - np.log(a) + math.log(records / steps.delta)
    epsilon = records * numerator / (a - records)
    known = epsilon[epsilon >= 0]
    return Spent(float(known.min()), "rdp") if len(known) else None


@lru_cache(maxsize=1024)
def noise_for(epsilon: float, steps: Steps, accountant: str) -> tuple[float, Spent]:
    """Find little noise that keeps epsilon at or just below a target.

    The search interpolates between a noise that is too small and one that is not, in logarithms; the noise that it
    returns is one that the accountant was asked about, so what is said of it is a bound like any other.
    """
    low: tuple[float, float] | None = None
    high: tuple[float, Spent] | None = None
    noise = _guess(epsilon, steps)
    for _ in range(TRIES):
        found = spent(noise, steps, accountant)
        if found.epsilon > epsilon:
            low = (noise, found.epsilon)
        else:
            high = (noise, found)
            if found.epsilon >= NEAR * epsilon:
                break
        noise = _next(noise, found.epsilon, (1 + NEAR) / 2 * epsilon, low, high)
        if noise > LARGEST:
            break
    if high is None:
        raise SpecError(
            f"dpsgd: epsilon: no noise was found that keeps {epsilon:g} in {steps.count} steps at sampling rate "
            f"{steps.rate:g} and delta {steps.delta:g}: expected a larger epsilon, fewer epochs or smaller batches"
        )
    return high


def _next(
    noise: float, epsilon: float, aim: float, low: tuple[float, float] | None, high: tuple[float, Spent] | None
) -> float:
    """Choose what noise to try next, given the nearest that is too small and the nearest that is not."""
    if low is None or high is None:
        return noise * min(4.0, max(0.25, epsilon / aim if epsilon > 0 else 0.25))
    left, right = math.log(low[0]), math.log(high[0])
    above, below = math.log(low[1]), math.log(max(high[1].epsilon, 1e-12))
    part = (above - math.log(aim)) / (above - below)
    return math.exp(left + (right - left) * min(0.9, max(0.1, part)))


def _guess(epsilon: float, steps: Steps) -> float:
    """Compute the noise that the target would need if the central limit held."""
    from scipy import optimize, special  # Slow to load, and of use to few.

    def excess(mu: float) -> float:
        far = math.log(special.ndtr(-epsilon / mu - mu / 2) or 5e-324)
        return float(special.ndtr(-epsilon / mu + mu / 2) - math.exp(min(700.0, epsilon + far))) - steps.delta

    largest = 2 * math.sqrt(2 * epsilon) + 20
    mu = optimize.brentq(excess, 1e-6, largest) if excess(1e-6) < 0 < excess(largest) else 1.0
    return 1 / math.sqrt(math.log1p((mu / steps.rate) ** 2 / steps.count))


def _tried(source: str, noise: float, steps: Steps) -> float | None:
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = _prv(noise, steps) if source == "prv" else _rdp(noise, steps.rate, steps.count, steps.delta)
    except FAILURES:
        return None
    return max(0.0, found) if math.isfinite(found) else None


@lru_cache(maxsize=64)
def _rdp_of_one(noise: float, rate: float) -> NDArray[np.float64]:
    """Compute the Renyi divergence of one step at every order. Cost: milliseconds, most of it for the fractions."""
    found = opacus_import.module("accountants.analysis.rdp").compute_rdp(
        q=rate, noise_multiplier=noise, steps=1, orders=list(ORDERS)
    )
    return np.asarray(found, dtype=np.float64)


def _rdp(noise: float, rate: float, count: int, delta: float) -> float:
    total = _rdp_of_one(noise, rate) * count
    spend = opacus_import.module("accountants.analysis.rdp").get_privacy_spent
    return float(spend(orders=list(ORDERS), rdp=total, delta=delta)[0])


@lru_cache(maxsize=64)
def _prv(noise: float, steps: Steps) -> float:
    """Compose the loss of one step with itself, as Opacus' PRV accountant does, on a grid of a bounded size.

    The accountant itself takes its grid as fine as a fixed error asks for, which is gigabytes where noise is small.
    Here the error is 0.01, or less where epsilon is below 2 and more where it is above 10 (0.005 and 0.001 of epsilon),
    or what `CELLS` allow; it is added to epsilon.
    """
    part = opacus_import.module("accountants.analysis.prv")
    rest = steps.delta / 1000  # Of delta, for what is cut off: Opacus' own choice.
    total = _rdp(noise, steps.rate, steps.count, rest / 4)
    single = _rdp(noise, steps.rate, 1, rest / (8 * steps.count))
    half = max(total, single, COARSEST) + 3
    cells = math.sqrt(steps.count * math.log(12 / rest) / 2)
    about = _rdp(noise, steps.rate, steps.count, steps.delta)
    error = max(2 * half * cells / CELLS, min(0.005 * about, max(0.01, 0.001 * about)))
    if not error <= COARSEST:
        raise OverflowError(f"the PRV accountant would have an error of {error}")
    domain = part.Domain.create_aligned(-half, half, error / cells)
    loss = part.PoissonSubsampledGaussianPRV(steps.rate, noise)
    one = part.discretize(part.TruncatedPrivacyRandomVariable(loss, domain.t_min, domain.t_max), domain)
    composed = part.compose_heterogeneous(dprvs=[one], num_self_compositions=[steps.count])
    return float(composed.compute_epsilon(steps.delta, rest, error)[2])
