"""The rows of the studies of PPTP: what is trained, and how rows and their differences are called."""

from reticent.options import Options
from reticent.studies.excess import NONE, UNDEFENDED
from reticent.studies.measured import Recipe, Recipes

RELAXLOSS = "RelaxLoss"
CS_KD = f"{RELAXLOSS}, PPTP, CS-KD first"
FIRST = "stem"
"""The first stage of every network here, so that all of it is trained again."""
DESIGNS = {
    "Last layer, fine-tuned": ("head", "trained", "the classifier alone is trained on"),
    "Last layer, rewound": ("head", "initial", "the classifier alone is set back and trained again"),
    "Risky stages, fine-tuned": ("", "trained", "from the first risky stage on, trained on"),
    "Risky stages, rewound": ("", "initial", "PPTP: from the first risky stage on, set back and trained again"),
    "All, fine-tuned": (FIRST, "trained", "the whole network is trained on"),
    "All, rewound": (FIRST, "initial", "the whole network from its initial values: the defense alone, half as long"),
}
"""Row -> first stage that is trained again (empty: the first risky one), to what it goes back, and in words."""
LAST_TUNED, LAST, RISKY_TUNED, RISKY, ALL_TUNED, ALL = DESIGNS
SCRATCH = f"{RELAXLOSS} from scratch"
DEFENSES = {RELAXLOSS: "relaxloss", "Adv-Reg": "adv-reg", "SELENA": "selena"}


def joined(stage: str, defense: str, **options: str) -> str:
    """Write PPTP with a defense."""
    more = "".join(f",{key}={value}" for key, value in options.items())
    return f"pptp:stage={stage}{more}+{defense}"


def designs(options: Options) -> Recipes:
    """List what `pptp-designs` trains."""
    defense, risky = options["defenses"][RELAXLOSS], options["stage"]
    rows = {NONE: UNDEFENDED, SCRATCH: Recipe(defense, defense)}
    for name, (stage, rewind, words) in DESIGNS.items():
        rows[name] = Recipe(joined(stage or risky, defense, rewind=rewind), words)
    return rows


def with_pptp(title: str) -> str:
    """Name a defense with PPTP."""
    return f"{title}, PPTP"


def shorter(title: str) -> str:
    """Name a defense alone, for as many epochs as PPTP's second training has."""
    return f"{title}, half as long"


def defenses(options: Options) -> Recipes:
    """List what `pptp-defenses` trains."""
    rows = {NONE: UNDEFENDED}
    for title, defense in options["defenses"].items():
        rows[title] = Recipe(defense, defense)
        rows[with_pptp(title)] = Recipe(joined(options["stage"], defense), f"PPTP from {options['stage']} on")
        rows[shorter(title)] = Recipe(joined(FIRST, defense), "the whole network from its initial values")
    first = joined(options["stage"], options["defenses"][RELAXLOSS], pretraining="cs-kd")
    return rows | {CS_KD: Recipe(first, f"PPTP from {options['stage']} on, after CS-KD")}


def added(title: str) -> list[tuple[str, str]]:
    """List a defense with PPTP beside the defense alone, and beside that for half as long."""
    return [(with_pptp(title), title), (with_pptp(title), shorter(title))]
