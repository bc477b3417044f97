"""Is it a weight's place or its value that learning needs: a network, and its pruned form retrained and as it is.

Paper: Fang and Kim (2026), section 4.4 and Fig. 4, M1, M2 and M3. M1 is plain training. M2 holds the weights of M1 that
matter least for accuracy at zero, and trains the others from their initial values. M3 is M1 with the same weights set
to zero. The paper lacks two controls: M2 with as many weights of each parameter tensor, drawn by chance (another
place), and M2 from another draw of the initial values (the same places, other values). (A draw from all tensors
together holds most gains and biases of norm layers at zero, which kills whole channels: it tells nothing of places.)
"""

from collections.abc import Iterator

from torch import nn

from reticent.findings.study import Figure
from reticent.locate.scoring import Scoring
from reticent.locate.topk_mask import shuffled_mask, topk_mask
from reticent.options import Options
from reticent.studies import presets
from reticent.studies.base import Bench, Claim, Found, Results, Setting, Study
from reticent.studies.derived_networks import COLUMNS, Model, derived, scales
from reticent.studies.judging import better, no_worse
from reticent.studies.measured import differences
from reticent.studies.metrics import POINTS, differ, dots, together

PRUNED = 0.85
"""Share of the weights that is pruned, as in the paper."""
ROWS = {
    "M1": "trained without a defense",
    "M2": "M1's weights of least learnability held at zero, the others trained from their initial values",
    "M3": "M1 with the same weights set to zero",
    "M2 at random": "M2 with as many weights of each parameter tensor, drawn by chance, held at zero",
    "M2 from new values": "M2 from another draw of the initial values",
}
PAIRS = differences(("M2", name) for name in ROWS if name != "M2")


def networks(model: Model) -> list[nn.Module]:
    """Make the networks of one model, in the order of the rows."""
    kept = topk_mask(model.scores(Scoring(unlearning=0.0)), 1 - PRUNED)
    drawn = shuffled_mask(kept, model.streams.child("pruned").generator("by chance"))
    return [
        model.network,
        model.trained(model.initial, kept),
        model.cut(kept),
        model.trained(model.initial, drawn),
        model.trained(model.fresh(), kept),
    ]


def measured(bench: Bench) -> Found:
    """Measure one setting with one seed."""
    return derived(bench, ROWS, networks, PAIRS)


def drawn(results: Results, setting: Setting) -> Iterator[Figure]:
    """Draw accuracy and losses."""
    names = tuple(ROWS)
    panels = tuple(dots(results, setting, names, metric) for metric in ("accuracy", "loss", "auc_loss"))
    yield Figure(name=setting.key, title=f"M1, M2 and M3, {setting.label}", panels=panels)


LACKS = "implied by section 4.4; a control that the paper lacks"
OPTIONS: Options = {"located": 4}
STUDY = Study(
    name="cwrf-location",
    title="Is it a weight's place or its value that learning needs?",
    paper=presets.FANG_AND_KIM,
    scales=scales(OPTIONS, OPTIONS),
    measure=measured,
    columns=COLUMNS,
    claims=(
        Claim(
            "pruned",
            "A network of which 85 % was pruned learns as well from its initial values; cut without training it does "
            "not.",
            "section 4.4, Fig. 4",
            f"In each setting: M2 is not less accurate than M1 by more than {100 * POINTS:g} points, and is more "
            f"accurate than M3 by {100 * POINTS:g} points or more.",
            together(differ([("M2", "M1")], ("accuracy", no_worse)), differ([("M2", "M3")], ("accuracy", better))),
            networks=("ResNet",),
        ),
        Claim(
            "value",
            "The values of the weights that are kept do not matter: another draw of them learns as well.",
            LACKS,
            f"In each setting: M2 from another draw of its initial values is not less accurate than M2 by more than "
            f"{100 * POINTS:g} points.",
            differ([("M2", "M2 from new values")], ("accuracy", no_worse), turned=True),
            "ours",
        ),
        Claim(
            "place",
            "It matters which 85 % are pruned: with as many of each tensor drawn by chance, a network learns less.",
            LACKS,
            f"In each setting: M2 is more accurate than the same with a random mask that keeps as many weights of each "
            f"parameter tensor, by {100 * POINTS:g} points or more.",
            differ([("M2", "M2 at random")], ("accuracy", better)),
            "ours",
        ),
    ),
    draw=drawn,
    caution=(
        presets.LOST,
        f"Judged on {OPTIONS['located']} models a seed. The {100 * PRUNED:g} % that are pruned are those of least "
        "learnability, as in the paper.",
    ),
)
