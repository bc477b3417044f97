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
    "locate_layers": "reticent.jobs.locate.layers",
    "locate_records": "reticent.jobs.locate.records",
    "locate_weights": "reticent.jobs.locate.weights",
    "plan": "reticent.jobs.plan",
    "rank_members": "reticent.jobs.locate.ranking",
    "size_curve": "reticent.jobs.size_curve",
    "search": "reticent.jobs.search",
    "selftest": "reticent.jobs.selftest",
    "study": "reticent.studies.run",
}

__all__ = sorted(_HOME)  # noqa: PLE0605 (the names below, for type checkers)

if TYPE_CHECKING:
    from reticent.data.load import load as load
    from reticent.data.membership import Membership as Membership
    from reticent.data.records import Records as Records
    from reticent.errors import ReticentError as ReticentError
    from reticent.findings.attack import Audit as Audit
    from reticent.jobs.attack import Attacked as Attacked
    from reticent.jobs.attack import attack as attack
    from reticent.jobs.audit import Audited as Audited
    from reticent.jobs.audit import audit as audit
    from reticent.jobs.compare import Compared as Compared
    from reticent.jobs.compare import compare as compare
    from reticent.jobs.gate import gate as gate
    from reticent.jobs.harden import Hardened as Hardened
    from reticent.jobs.harden import harden as harden
    from reticent.jobs.locate.layers import LocatedLayers as LocatedLayers
    from reticent.jobs.locate.layers import locate_layers as locate_layers
    from reticent.jobs.locate.ranking import RankedMembers as RankedMembers
    from reticent.jobs.locate.ranking import rank_members as rank_members
    from reticent.jobs.locate.records import LocatedRecords as LocatedRecords
    from reticent.jobs.locate.records import locate_records as locate_records
    from reticent.jobs.locate.weights import LocatedWeights as LocatedWeights
    from reticent.jobs.locate.weights import locate_weights as locate_weights
    from reticent.jobs.plan import plan as plan
    from reticent.jobs.search import search as search
    from reticent.jobs.selftest import selftest as selftest
    from reticent.jobs.size_curve import size_curve as size_curve
    from reticent.options import AuditConfig as AuditConfig
    from reticent.signals.matrix import Signals as Signals
    from reticent.studies.run import study as study
    from reticent.training.recipe import Recipe as Recipe


def __getattr__(name: str) -> Any:
    import importlib

    if name not in _HOME:
        raise AttributeError(f"module 'reticent' has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
