"""Studies: a paper's table or figure as one command. This literal table is all there is."""

from reticent.studies import cwrf_ablation, cwrf_defenses, cwrf_entanglement, pptp_disparity, sparsity, wemem
from reticent.studies.base import Study

__all__ = ["STUDIES", "Study"]

STUDIES: dict[str, Study] = {
    "cwrf-entanglement": cwrf_entanglement.STUDY,
    "cwrf-ablation": cwrf_ablation.STUDY,
    "cwrf-defenses": cwrf_defenses.STUDY,
    "pptp-disparity": pptp_disparity.STUDY,
    "sparsity": sparsity.STUDY,
    "wemem": wemem.STUDY,
}
"""Name -> study."""
