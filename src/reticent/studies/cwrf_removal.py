"""Does removing weights take the leak away: the many that matter least, or the few that give members away?

Paper: Fang and Kim (2026), section 3 and Fig. 1: weights of the least learnability are removed in one shot, without and
with fine-tuning; accuracy stays, and so does the gap between the losses of members and others. Beside it stands what
the paper concludes from it and does not show: the few weights of the largest vulnerability are removed instead, or as
many of each parameter tensor, drawn by chance.
"""

from collections.abc import Iterator
from functools import partial

from torch import Tensor, nn

from reticent.findings.study import Figure
from reticent.locate.scoring import Scoring
from reticent.locate.topk_mask import shuffled_mask, topk_mask
from reticent.options import Options
from reticent.studies import presets
from reticent.studies.base import Bench, Claim, Found, Results, Setting, Study
from reticent.studies.derived_networks import COLUMNS, Model, derived, scales
from reticent.studies.judging import better, no_worse
from reticent.studies.measured import Pairs, differences
from reticent.studies.metrics import AUC, LOSS, METRICS, POINTS, Rows, differ, lines

WHOLE, TUNED = "Whole", ", fine-tuned"
HOW = ("", TUNED)
MANY, FEW = "many weights of least learnability", "few weights"
KINDS = {"Vulnerable": "the largest vulnerability", "By chance": "each parameter tensor as many, drawn by chance"}


def sparse(share: float) -> str:
    """Name the network without the weights that matter least."""
    return f"{100 * share:g} % of least learnability"


def few(kind: str, share: float) -> str:
    """Name the network without a few weights."""
    return f"{kind}, {100 * share:g} %"


def _rows(options: Options) -> dict[str, str]:
    """List the networks, each as it is cut and fine-tuned."""
    made = {sparse(share): "removed" for share in options["sparsities"]}
    made |= {few(kind, share): f"removed: {what}" for share in options["shares"] for kind, what in KINDS.items()}
    rows = {WHOLE: "trained without a defense"}
    for name, about in made.items():
        rows |= {name: about, name + TUNED: f"{about}; then {options['tuned']} epochs"}
    return rows


def _pairs(options: Options) -> Pairs:
    whole = [(sparse(share) + how, WHOLE) for share in options["sparsities"] for how in HOW]
    return differences(whole + [pair for how in HOW for pair in _few(options, how)])


def _two(share: float, how: str) -> Rows:
    """Name the two networks without so few weights, cut so."""
    vulnerable, drawn = (few(kind, share) + how for kind in KINDS)
    return vulnerable, drawn


def measured(bench: Bench) -> Found:
    """Measure one setting with one seed."""
    options = bench.options

    def networks(model: Model) -> list[nn.Module]:
        made, masks = [model.network], list[dict[str, Tensor]]()
        learnable, vulnerable = (model.scores(Scoring(unlearning=weight)) for weight in (0.0, Scoring().unlearning))
        masks += [topk_mask(learnable, 1 - share) for share in options["sparsities"]]
        for share in options["shares"]:
            marked = topk_mask(vulnerable, share)
            drawn = shuffled_mask(marked, model.streams.child("removed").generator("by chance"))
            masks += [{name: ~mask for name, mask in one.items()} for one in (marked, drawn)]
        for keep in masks:
            made += [model.cut(keep), model.tuned(keep, options["tuned"])]
        return made

    return derived(bench, _rows(options), networks, _pairs(options))


def drawn(results: Results, setting: Setting) -> Iterator[Figure]:
    """Draw accuracy, gap and leak over the share that is removed: of many weights, and of few."""
    options = setting.options
    many = {"removed" + how: [(share, sparse(share) + how) for share in options["sparsities"]] for how in HOW}
    kinds = {
        kind.lower() + how: [(share, few(kind, share) + how) for share in options["shares"]]
        for kind in KINDS
        for how in HOW
    }
    panels = tuple(
        lines(
            results,
            setting,
            metric,
            "share of weights removed",
            named,
            title=f"{METRICS[metric].label}, {what}",
            levels=(WHOLE,),
            log_x=what == FEW,
        )
        for what, named in ((MANY, many), (FEW, kinds))
        for metric in ("accuracy", "gap", "auc_loss")
    )
    yield Figure(name=setting.key, title=f"Removing weights, {setting.label}", panels=panels)


def _many(options: Options) -> list[Rows]:
    return [(sparse(share) + TUNED, WHOLE) for share in options["sparsities"]]


def _few(options: Options, how: str) -> list[Rows]:
    return [_two(share, how) for share in options["shares"]]


LACKS = "implied by section 3; a control that the paper lacks"
OPTIONS: Options = {"sparsities": (0.5, 0.7, 0.85, 0.95), "shares": (0.001, 0.01, 0.05), "located": 4, "tuned": 50}
TINY = OPTIONS | {"sparsities": (0.5, 0.85), "shares": (0.01, 0.05), "tuned": 20}
"""Fine-tuned for half of the epochs of training: our choice, the paper does not say."""
STUDY = Study(
    name="cwrf-removal",
    title="Does removing weights take the leak away: the many that matter least, or the few that give members away?",
    paper=presets.FANG_AND_KIM,
    scales=scales(TINY, OPTIONS),
    measure=measured,
    columns=COLUMNS,
    claims=(
        Claim(
            "sparse-accurate",
            "Without most of the weights that matter least, a network is as accurate once it is fine-tuned.",
            "section 3, Fig. 1a",
            f"In each setting and at each share removed: after fine-tuning, accuracy is not lower than that of the "
            f"whole network by more than {100 * POINTS:g} points.",
            differ(_many, ("accuracy", no_worse)),
            networks=("ResNet",),
        ),
        Claim(
            "sparse-leaks",
            "And it is no more private: the gap between the losses of members and others stays.",
            "section 3, Fig. 1b",
            f"In each setting and at each share removed: after fine-tuning, the gap is not smaller than that of the "
            f"whole network by more than {LOSS:g} nats.",
            differ(_many, ("gap", no_worse), turned=True),
            networks=("ResNet",),
        ),
        Claim(
            "few-needed",
            "The few vulnerable weights are what accuracy needs: without them it falls by more than without others.",
            LACKS,
            f"In each setting and at each share: without the most vulnerable weights, and not fine-tuned, accuracy is "
            f"lower than without as many of each tensor, drawn by chance, by {100 * POINTS:g} points or more.",
            differ(partial(_few, how=""), ("accuracy", better), turned=True),
            "ours",
        ),
        Claim(
            "few-private",
            "Without the few vulnerable weights a fine-tuned network gives less away than without others.",
            LACKS,
            f"In each setting and at each share: after fine-tuning, a loss threshold's AUC is lower by {AUC:g} or "
            f"more, at an accuracy that is not lower by more than {100 * POINTS:g} points.",
            differ(partial(_few, how=TUNED), ("auc_loss", better), ("accuracy", no_worse)),
            "ours",
        ),
    ),
    draw=drawn,
    caution=(
        presets.LOST,
        "Fine-tuning has half of the epochs of training, which is our choice: the paper gives no length. What accuracy "
        "a longer one would bring back is not seen.",
        f"Judged on {OPTIONS['located']} models a seed, by a loss threshold, as the paper's figure shows losses.",
    ),
)
