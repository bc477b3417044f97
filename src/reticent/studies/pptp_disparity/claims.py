"""The claims of `pptp-disparity`; the rules were fixed before anything was measured."""

from collections.abc import Iterator
from dataclasses import replace

from reticent.locate.onset import first
from reticent.studies.base import Claim, Results, Setting, each
from reticent.studies.judging import Part, better, reaches

MARGIN, GAIN = 0.05, 0.005
"""The effect beyond one half that is a disparity, and the smallest difference of the probe's gains that matters."""
FIRST, LAST = "first stage", "last stage"
STEMS = frozenset({"stem", "embedding"})
"""What comes before stage 1 of the paper's, which shows stages 1 to 4."""
LEVELS = "gain a stage before the onset less that from it on"
"""The gain from chance to the first stage is no step between stages, and dwarfs them: it does not count."""
RIVAL = "that difference less the one elsewhere"
FAMILY, STAGES, ONSET = "family", "stages", "onset in the paper"
"""Options of a setting with one of the paper's networks: which it is, how many numbered stages it has, and at which of
them the paper says that membership begins to show, where it says so."""
RESNET, ATM, SHALLOW, DEEP, VGG = "ResNet", "ATM", "VGG11", "VGG19", "VGG"


def against(stage: str) -> str:
    """Name the contrast of the onset with another place."""
    return f"{RIVAL}, at {stage}"


def _effect(results: Results, one: Setting, name: str, *, safe: bool, called: str = "") -> Part:
    """Ask whether the effect of a stage shows no trace of membership, or does."""
    label = f"effect, {called or name}"
    part = reaches(label, results.get(one.key, name, "effect"), 0.5 + MARGIN, lower=safe)
    return replace(part, setting=one.label)


def _early(results: Results, one: Setting) -> Iterator[Part]:
    onset = one.options.get(ONSET)
    for name in [FIRST] if onset is None else [f"stage {number}" for number in range(1, onset)]:
        yield _effect(results, one, name, safe=True)


def _late(results: Results, one: Setting) -> Iterator[Part]:
    yield _effect(results, one, LAST, safe=False, called="last stage before the classifier")


def _begins(results: Results, family: str) -> list[Part]:
    """Ask of each network of a family whether membership begins to show at the stage that the paper says."""
    made = [
        _effect(results, one, f"stage {number}", safe=number < one.options[ONSET])
        for one in results.settings
        if one.options.get(FAMILY) == family
        for number in range(1, one.options[STAGES] + 1)
    ]
    return made or [Part(f"effect by stage, {family} (this scale has none of the paper's)", None)]


def _earlier(results: Results) -> list[Part]:
    """Ask whether membership shows in VGG19 from a stage on where VGG11 is still without it."""
    by_family = {one.options.get(FAMILY): one for one in results.settings}
    if not {SHALLOW, DEEP} <= set(by_family):
        return [Part(f"effect by stage, {DEEP} and {SHALLOW} (this scale lacks them)", None)]
    deep, shallow = by_family[DEEP], by_family[SHALLOW]
    names = [f"stage {number}" for number in range(1, deep.options[STAGES] + 1)]
    numbers = [results.get(deep.key, name, "effect") for name in names]
    onset = first([number is not None and number.value >= 0.5 + MARGIN for number in numbers])
    if onset is None:
        return [Part(f"effect, the stage where membership begins to show in {DEEP} (none is known)", None)]
    return [_effect(results, one, names[onset], safe=one is shallow) for one in (deep, shallow)]


def _levels(results: Results, one: Setting) -> Iterator[Part]:
    # Where there is no other place, or no onset, one is asked for all the same: then it can't be told.
    known = (name for found in results.found[one.key] for name, _ in found.numbers)
    others = dict.fromkeys(name for name in known if name.startswith(RIVAL)) or [RIVAL]
    for name in (LEVELS, *others):
        number = results.get(one.key, name, "probe")
        yield better(f"probe, {name}", number, GAIN, metric="points")


CLAIMS = (
    Claim(
        "early-safe",
        "Early stages carry no trace of membership.",
        "section 3.3, Figures 1 and 9 to 11",
        f"In each setting: the effect is below {0.5 + MARGIN:g}, where 0.5 is no trace, at every stage before the one "
        f"that the paper names for this network (stages 1 to 3 of a ResNet, 1 and 2 of ATM-XT), and at the first stage "
        f"of a network for which it names none. A stem or an embedding is no stage of the paper's.",
        each(_early),
        networks=(RESNET, VGG, ATM),
    ),
    Claim(
        "late-risky",
        "Late stages carry a trace of membership.",
        "section 3.3, Figures 1 and 9 to 11",
        f"In each setting: the effect of the last stage before the classifier is above {0.5 + MARGIN:g}.",
        each(_late),
        networks=(RESNET, VGG, ATM),
    ),
    Claim(
        "resnet-onset",
        "In every ResNet, membership begins to show at stage 4, however deep it is.",
        "section 3.3, Figures 1 and 10",
        f"In each setting with a ResNet of the paper's (18 and 152 layers): the effect of each of stages 1 to 3 is "
        f"below {0.5 + MARGIN:g}, and that of stage 4 above it. Scales without such a network can't tell.",
        lambda results: _begins(results, RESNET),
        networks=(RESNET,),
    ),
    Claim(
        "atm-onset",
        "In ATM, membership begins to show at stage 3.",
        "section 3.3, Figure 11",
        f"In each setting with ATM: the effect of stages 1 and 2 is below {0.5 + MARGIN:g}, and that of stages 3 and 4 "
        f"above it. Scales without such a network can't tell.",
        lambda results: _begins(results, ATM),
        networks=(ATM,),
    ),
    Claim(
        "vgg-earlier",
        "Membership begins to show earlier in VGG19 than in VGG11.",
        "section 3.3, Figure 9",
        f"In each setting with the two: let s be the first stage of VGG19 from which on every stage's effect, the mean "
        f"over seeds, is {0.5 + MARGIN:g} or more. VGG19's effect at s is above {0.5 + MARGIN:g}, and VGG11's at s is "
        f"below it. Scales without both can't tell, nor can they if there is no s.",
        _earlier,
        networks=(VGG,),
    ),
    Claim(
        "levels-off",
        "Membership begins to show where a probe's accuracy stops to grow with the stage.",
        "section 3.3, Figure 8",
        f"In each setting: a step between stages before the onset adds more to the probe's accuracy than one from it "
        f"on, by {100 * GAIN:g} points or more, and that difference is larger than at each other stage where the onset "
        f"could be, by as much. It can't be told if a seed has no onset, or one with no such step before it, if "
        f"there is no other stage where it could be, or if the onset of one seed is at another stage than that of one "
        f"before. (The paper says that growth starts to level off after stage 3 to various degrees; that no other "
        f"stage may do as well is ours.)",
        each(_levels),
        networks=(RESNET, VGG, ATM),
    ),
)
