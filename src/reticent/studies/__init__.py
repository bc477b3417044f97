"""Studies: a paper's table or figure as one command. This literal table is all there is."""

from reticent.studies import (
    cwrf_ablation,
    cwrf_defenses,
    cwrf_entanglement,
    cwrf_location,
    cwrf_readings,
    cwrf_removal,
    pptp_disparity,
    sparsity,
    wemem,
)
from reticent.studies.base import Study
from reticent.studies.pptp import cost, defenses, designs

__all__ = ["STUDIES", "Study"]

STUDIES: dict[str, Study] = {
    "cwrf-entanglement": cwrf_entanglement.STUDY,
    "cwrf-ablation": cwrf_ablation.STUDY,
    "cwrf-defenses": cwrf_defenses.STUDY,
    "cwrf-readings": cwrf_readings.STUDY,
    "cwrf-removal": cwrf_removal.STUDY,
    "cwrf-location": cwrf_location.STUDY,
    "pptp-disparity": pptp_disparity.STUDY,
    "pptp-designs": designs.STUDY,
    "pptp-defenses": defenses.STUDY,
    "pptp-cost": cost.STUDY,
    "sparsity": sparsity.STUDY,
    "wemem": wemem.STUDY,
}
"""Name -> study."""
