"""What `pptp-disparity` asks of the paper's own networks: where membership begins to show, and their maps."""

from types import SimpleNamespace

import pytest
import torch

from reticent.jobs.base import Work
from reticent.jobs.config import gather
from reticent.jobs.recipes import build_recipe
from reticent.models import ARCHITECTURES
from reticent.models.base import Input, build
from reticent.models.stages import HEAD, stages
from reticent.studies import STUDIES, pptp_disparity
from reticent.studies.base import Found, Results
from reticent.studies.document import judge
from reticent.studies.numbers import Estimate
from reticent.studies.pptp_disparity.claims import FIRST, LAST, ONSET, STAGES

STUDY = STUDIES["pptp-disparity"]
PAPER = STUDY.scales["paper"].settings
ON_ONSETS = ("resnet-onset", "atm-onset", "vgg-earlier")
ONSETS = {"resnet18": 4, "resnet152": 4, "vgg11": 5, "vgg19": 4, "atm-xt": 3}


def judged(onsets, error=0.001, settings=PAPER):
    """Give the verdict of each claim, had membership begun at these stages."""
    found = {}
    for one in settings:
        count, onset = one.options.get(STAGES, 3), onsets[one.key]
        effects = {f"stage {n}": 0.5 if onset is None or n < onset else 0.6 for n in range(1, count + 1)}
        effects |= {FIRST: effects["stage 1"], LAST: effects[f"stage {count}"]}
        found[one.key] = [Found(numbers={(n, "effect"): Estimate(v, error) for n, v in effects.items()})] * 3
    results = Results(settings, found)
    told = {claim.key: judge(claim, results) for claim in STUDY.claims if claim.key != "levels-off"}
    return {key: one.reason or one.verdict for key, one in told.items()}


def test_with_the_papers_onsets_every_claim_on_them_is_reproduced():
    keys = ["early-safe", "late-risky", "resnet-onset", "atm-onset", "vgg-earlier"]
    assert judged(ONSETS) == dict.fromkeys(keys, "reproduced")
    assert set(judged(ONSETS, error=0.2).values()) == {"interval"}


@pytest.mark.parametrize(
    ("changed", "refuted", "disputed"),
    [
        ({"resnet152": 3}, {"resnet-onset"}, {"early-safe"}),
        ({"resnet18": None}, {"resnet-onset"}, {"late-risky"}),
        ({"atm-xt": 4}, {"atm-onset"}, set()),
        ({"atm-xt": 2}, {"atm-onset"}, {"early-safe"}),
        ({"vgg11": 4}, {"vgg-earlier"}, set()),
        ({"vgg11": 3}, {"vgg-earlier"}, set()),
        ({"resnet18": 1, "resnet152": 1, "atm-xt": 1, "vgg11": 1, "vgg19": 1}, {*ON_ONSETS, "early-safe"}, set()),
    ],
)
def test_another_onset_refutes_the_claims_on_that_kind_of_network_alone(changed, refuted, disputed):
    found = judged(ONSETS | changed)
    assert {key for key, told in found.items() if told == "not reproduced"} == refuted
    assert {key for key, told in found.items() if told == "disagree"} == disputed


def test_vgg19_without_an_onset_or_alone_tells_nothing_of_the_two():
    assert judged(ONSETS | {"vgg19": None})["vgg-earlier"] == "unmeasured"
    alone = tuple(one for one in PAPER if one.key != "vgg11")
    assert judged(ONSETS, settings=alone)["vgg-earlier"] == "unmeasured"


@pytest.mark.parametrize("scale", ["tiny", "small"])
def test_scales_without_the_papers_networks_cannot_tell_their_onsets(scale):
    settings = STUDY.scales[scale].settings
    found = judged({one.key: 3 for one in settings}, settings=settings)
    assert [found[key] for key in ("atm-onset", "vgg-earlier")] == ["network"] * 2
    residual = "setting" if scale == "small" else "network"
    assert [found[key] for key in ("resnet-onset", "early-safe")] == [residual] * 2


def test_the_first_stage_is_no_stem(monkeypatch):
    """Stems and embeddings lie before stage 1, and the paper shows none of them."""
    effects = {"stem": 0.50, "stage 1": 0.51, "stage 2": 0.60, HEAD: 0.7}
    stages = [
        SimpleNamespace(
            name=name, size=1, share=0.1, ks=0.0, probe=None,
            effect=SimpleNamespace(mean=value, interval=(value - 0.01, value + 0.01)),
            distances=SimpleNamespace(edges=(), both=(), one=()),
        )
        for name, value in effects.items()
    ]  # fmt: skip
    findings = SimpleNamespace(
        stages=stages, data=SimpleNamespace(test=10), onset=SimpleNamespace(index=2), sentence="", detail=(),
    )  # fmt: skip
    monkeypatch.setattr(pptp_disparity.layers, "run", lambda *_, **__: SimpleNamespace(findings=findings))
    bench = type("Bench", (), {
        "say": print, "setting": PAPER[0], "seed": 0, "folder": "", "options": {}, "work": Work(),
        "job": lambda *_, **__: None,
    })()  # fmt: skip
    found = STUDY.measure(bench)
    assert found.numbers[FIRST, "effect"].value == 0.51
    assert found.numbers[LAST, "effect"].value == 0.60


@pytest.mark.parametrize("setting", PAPER, ids=[one.key for one in PAPER])
def test_the_papers_networks_have_the_stages_that_claims_name(setting):
    """On 64 x 64 pixels stage 4 of a ResNet has the paper's 4 x 4 places."""
    recipe = build_recipe({"architecture": "mlp"}, gather(None, dict(setting.base)).recipe)
    entry = ARCHITECTURES[recipe.architecture.method]
    with torch.random.fork_rng(), torch.device("meta"):
        network = build(entry, recipe.architecture, Input("image", (3, 64, 64)), 200).eval()
        shapes = {}
        for stage in stages(network):
            module = network.get_submodule(stage.output)
            module.register_forward_hook(lambda _, __, out, name=stage.name: shapes.update({name: out.shape}))
        network(torch.zeros(1, 3, 64, 64))
    names = [f"stage {number}" for number in range(1, setting.options[STAGES] + 1)]
    assert [name for name in shapes if name.startswith("stage")] == names
    assert setting.options.get(ONSET, 1) <= setting.options[STAGES]
    if setting.key.startswith("resnet"):
        assert shapes["stage 4"][-2:] == (4, 4)
