"""Audit, locate and repair what a neural network leaks about the records it was trained on.

The public names load on first use, so importing this package imports neither torch nor matplotlib.
"""

from typing import TYPE_CHECKING, Any

from reticent.version import VERSION

__version__ = VERSION

_HOME = {
    "Attacked": "reticent.jobs.attack",
    "Audit": "reticent.findings.attack",
    "Audited": "reticent.jobs.audit",
    "AuditConfig": "reticent.options",
    "Compared": "reticent.jobs.compare",
    "Hardened": "reticent.jobs.harden",
    "LocatedLayers": "reticent.jobs.locate.layers",
    "LocatedRecords": "reticent.jobs.locate.records",
    "LocatedWeights": "reticent.jobs.locate.weights",
    "Membership": "reticent.data.membership",
    "RankedMembers": "reticent.jobs.locate.ranking",
    "Recipe": "reticent.training.recipe",
    "Records": "reticent.data.records",
    "ReticentError": "reticent.errors",
    "Signals": "reticent.signals.matrix",
    "attack": "reticent.jobs.attack",
    "audit": "reticent.jobs.audit",
    "compare": "reticent.jobs.compare",
    "gate": "reticent.jobs.gate",
    "harden": "reticent.jobs.harden",
    "load": "reticent.data.load",
    "load_weights": "reticent.jobs.locate.states",
    "locate_layers": "reticent.jobs.locate.layers",
    "locate_records": "reticent.jobs.locate.records",
    "locate_weights": "reticent.jobs.locate.weights",
    "plan": "reticent.jobs.plan",
    "rank_members": "reticent.jobs.locate.ranking",
    "search": "reticent.jobs.search",
    "selftest": "reticent.jobs.selftest",
    "size_curve": "reticent.jobs.size_curve",
    "study": "reticent.studies.run",
}

__all__ = [
    "Attacked",
    "Audit",
    "AuditConfig",
    "Audited",
    "Compared",
    "Hardened",
    "LocatedLayers",
    "LocatedRecords",
    "LocatedWeights",
    "Membership",
    "RankedMembers",
    "Recipe",
    "Records",
    "ReticentError",
    "Signals",
    "attack",
    "audit",
    "compare",
    "gate",
    "harden",
    "load",
    "load_weights",
    "locate_layers",
    "locate_records",
    "locate_weights",
    "plan",
    "rank_members",
    "search",
    "selftest",
    "size_curve",
    "study",
]

if TYPE_CHECKING:
    from reticent.data.load import load
    from reticent.data.membership import Membership
    from reticent.data.records import Records
    from reticent.errors import ReticentError
    from reticent.findings.attack import Audit
    from reticent.jobs.attack import Attacked, attack
    from reticent.jobs.audit import Audited, audit
    from reticent.jobs.compare import Compared, compare
    from reticent.jobs.gate import gate
    from reticent.jobs.harden import Hardened, harden
    from reticent.jobs.locate.layers import LocatedLayers, locate_layers
    from reticent.jobs.locate.ranking import RankedMembers, rank_members
    from reticent.jobs.locate.records import LocatedRecords, locate_records
    from reticent.jobs.locate.states import load_weights
    from reticent.jobs.locate.weights import LocatedWeights, locate_weights
    from reticent.jobs.plan import plan
    from reticent.jobs.search import search
    from reticent.jobs.selftest import selftest
    from reticent.jobs.size_curve import size_curve
    from reticent.options import AuditConfig
    from reticent.signals.matrix import Signals
    from reticent.studies.run import study
    from reticent.training.recipe import Recipe


def __getattr__(name: str) -> Any:
    import importlib

    if name not in _HOME:
        raise AttributeError(f"module 'reticent' has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
