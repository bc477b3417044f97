"""The rows of `wemem`, as its tables, claims and figures name them."""

from dataclasses import dataclass

from reticent.options import Options
from reticent.rounding import percent
from reticent.studies.measured import Pairs, Recipe, Recipes, differences

DENSE, ONCE, PRUNED, NOTHING = "Dense", "One-shot", "Base", "Nothing pruned"
"""Base is iterative pruning whose fine-tuning has early stopping and weight decay alone, as the paper has it."""
SMALLER = "Smaller dense"
HIGH, LOW = "high-to-low", "low-to-high"
WAYS = {HIGH: "H to L", LOW: "L to H"}
BASELINES = {
    "ppb": ("PPB", "ppb"),
    "adv-reg": ("Adv-Reg", "adv-reg"),
    "relaxloss": ("RelaxLoss", "relaxloss:level=1"),
    "dpsgd": ("DP-SGD", "dpsgd:epsilon=8"),
}
"""The paper's, each with the part of the defense that its fine-tuning has; RelaxLoss at the level of its code."""


@dataclass(frozen=True)
class Window:
    """A window over ranked members.

    Each epoch visits `width` members of each class, and the window moves on by `stride`, from one end in `order`.
    """

    width: int
    stride: int
    order: str = HIGH

    @property
    def words(self) -> str:
        """How it stands in the name of a row."""
        return f"w {self.width}, s {self.stride}, {WAYS[self.order]}"

    @property
    def options(self) -> str:
        """What a sampler is given."""
        return f"width={self.width},stride={self.stride},order={self.order}"


def windows(options: Options) -> list[Window]:
    """List the windows: of the middle width first, both orders of it, then the others."""
    return [Window(*one) for one in options["windows"]]


def at_rate(name: str, rate: float) -> str:
    """Name a row at another pruning rate than the usual one."""
    return f"{name}, {percent(rate, 0)} pruned"


def rsw(window: Window) -> str:
    """Name the row of a sliding window."""
    return f"RSW, {window.words}"


def swmr(window: Window) -> str:
    """Name the row of a sliding window with two strengths."""
    return f"SWMR, {window.words}"


def rmr(strength: float) -> str:
    """Name the row of two strengths."""
    return f"RMR, lambda {strength:g}"


def ours(options: Options) -> dict[str, str]:
    """Name the row that stands for each of the paper's three methods: the middle window, and the usual strength."""
    middle = windows(options)[0]
    return {"rsw": rsw(middle), "rmr": rmr(options["strength"]), "swmr": swmr(middle)}


def pruning(options: Options, rate: float | None = None, *more: str) -> str:
    """Write iterative pruning as it is asked for."""
    given = [f"rate={options['rate'] if rate is None else rate:g}", f"tuning_epochs={options['tuning_epochs']}"]
    if options["skip"]:
        given.append("skip=[" + ",".join(f'"{one}"' for one in options["skip"]) + "]")
    return "prune:" + ",".join((*given, *more))


def recipes(options: Options) -> Recipes:
    """List what is trained: by row, its defense and a word on it."""
    scores, usual = f"models={options['sub_models']},outside={options['outside']}", options["strength"]
    base, weak = pruning(options), f"{scores},threshold={options['threshold']:g}"
    made = {
        DENSE: Recipe(None, "not pruned; early stopping and weight decay, as all rows"),
        PRUNED: Recipe(base, "iterative pruning, fine-tuned without a defense"),
        ONCE: Recipe(pruning(options, None, "rounds=1"), "the same share pruned at once"),
        NOTHING: Recipe(pruning(options, 1e-9), "fine-tuned as often as Base, of which no weight is pruned"),
    }
    for rate in options["rates"]:
        made[at_rate(PRUNED, rate)] = Recipe(pruning(options, rate), "iterative pruning, fine-tuned without a defense")
    for one in windows(options):
        made[rsw(one)] = Recipe(f"{base}+rsw:{scores},{one.options}", "ranking-based sliding window")
    for strength in options["strengths"]:
        made[rmr(strength)] = Recipe(f"{base}+rmr:{weak},strength={strength:g}", "risky memory regularisation")
    for one in windows(options)[: options["joined"]]:
        made[swmr(one)] = Recipe(f"{base}+swmr:{weak},{one.options},strength={usual:g}", "window and regularisation")
    middle = windows(options)[0]
    for rate in options["rates"]:
        joined = f"{pruning(options, rate)}+swmr:{weak},{middle.options},strength={usual:g}"
        made[at_rate(swmr(middle), rate)] = Recipe(joined, "window and regularisation")
    for name in options["baselines"]:
        title, part = BASELINES[name]
        made[title] = Recipe(f"{base}+{part}", part)
    return made


def widths(options: Options) -> tuple[Window, Window]:
    """Find the widest and the narrowest of the windows that begin with what is memorised most."""
    known = sorted((one for one in windows(options) if one.order == HIGH), key=lambda one: one.width)
    return known[-1], known[0]


def pairs(options: Options) -> Pairs:
    """Name the differences that claims ask for."""
    wide, narrow = (rsw(one) for one in widths(options))
    both = [(PRUNED, ONCE), (PRUNED, DENSE), (PRUNED, NOTHING), (NOTHING, DENSE), (ONCE, DENSE), (narrow, wide)]
    middle = windows(options)
    both += [(rsw(middle[0]), rsw(replaced)) for replaced in middle[1:] if replaced.order == LOW]
    both += [(swmr(one), rsw(one)) for one in middle[: options["joined"]]]
    strengths = [rmr(one) for one in options["strengths"]]
    both += list(zip(strengths[1:], strengths, strict=False))
    both += [(name, BASELINES[one][0]) for name in ours(options).values() for one in options["baselines"]]
    both += [(name, PRUNED) for name in ours(options).values()]
    return differences(both)


FIFTHS = ("least memorised fifth", "second fifth", "middle fifth", "fourth fifth", "most memorised fifth")
"""Of a model's members."""


def shown(options: Options) -> list[str]:
    """Name the rows whose true positives are counted by memorisation."""
    return [DENSE, ONCE, PRUNED, *ours(options).values()]
