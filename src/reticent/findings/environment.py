"""Where, when and at what cost something was found."""

from typing import Annotated

from pydantic import ConfigDict, Field

from reticent.findings.base import Empty, Finding, LeftOut, Number, Plain
from reticent.findings.numbers import Count
from reticent.findings.training import Stacking


class Environment(Finding):
    """Versions, machine, times. Each verb adds what it spent time on, as ``seconds_...``."""

    model_config = ConfigDict(extra="allow")

    reticent: str | None = None
    python: str | None = None
    torch: str | None = None
    "`null` if it was not loaded."
    numpy: str | None = None
    scipy: str | None = None
    platform: str | None = None
    device: Annotated[str | None, LeftOut] = None
    "Where the models ran."
    workers: Annotated[Count | None, LeftOut] = None
    "How many processes."
    stacking: Annotated[Stacking | None, LeftOut] = None
    "Only with `stack = auto`: how many models are trained together, and what was measured when that was picked."
    models_found: Annotated[Count | None, LeftOut] = None
    "Models that were finished before and were not trained again."
    started: Annotated[str | None, LeftOut] = None
    "ISO 8601."
    seconds_training: Annotated[Number | None, LeftOut] = None
    seconds_scoring: Annotated[Number | None, LeftOut] = None
    seconds_non_adaptive: Annotated[Number | None, LeftOut] = None
    seconds_control: Annotated[Number | None, LeftOut] = None
    seconds_attacks: Annotated[dict[str, Number], Empty] = Field(default_factory=dict)
    "By attack: how long it took to score all targets."
    seconds_parts: Annotated[dict[str, Number], Empty] = Field(default_factory=dict)
    "By part of the scoring: attacks and the audits of their scores, exposures, groups, epsilon, tests of records."
    seconds_models: Annotated[Number | None, LeftOut] = None
    "Model-seconds: what training took, all models together, those that were found finished too."
    peak_memory_bytes: Annotated[Count | None, LeftOut] = None
    "The most memory held."
    out: Annotated[str | None, LeftOut] = None
    "Folder of the report, as it was given; left out where none was written."
    command: Annotated[tuple[str, ...] | None, LeftOut] = None
    "The command line's arguments."
    stages: Annotated[dict[str, Number], Empty] = Field(default_factory=dict)
    "Only where training has stages (`cwrf`, `prune`, ...): stage to the seconds of one model, the mean over models."
    config: Annotated[Plain | None, LeftOut] = None
    "What was asked for, as far as it differs from the defaults; `reticent compare` finds the models again by it."
