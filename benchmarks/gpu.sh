#!/usr/bin/env bash
# cwrf-defenses on a GPU, with the card's name and a table for the docs:
#
#     benchmarks/gpu.sh [SCALE] [DATA_DIR] [OUT]
#
# SCALE is gpu (a part of CIFAR-10, ResNet18 and a small ViT) or, where there is no GPU, tiny (Location30, an MLP).
# DATA_DIR holds the official files. OUT gets the study, and table.md: the card, the time and the study's section. Set
# RETICENT to run another installation than the one on the path.
set -euo pipefail

scale=${1:-gpu}
data=${2:-${RETICENT_DATA:-}}
out=${3:-gpu-study}
read -r -a reticent <<<"${RETICENT:-reticent}"
python=${PYTHON:-python}

device=$("$python" -c 'import torch; print("cuda" if torch.cuda.is_available() else "cpu")')
if [[ $scale == gpu && $device == cpu ]]; then
    echo "gpu.sh: there is no CUDA device here: give another scale, as in benchmarks/gpu.sh tiny DATA_DIR" >&2
    exit 2
fi
card=$("$python" -c '
import os, platform, torch
print(torch.cuda.get_device_name() if torch.cuda.is_available() else f"{os.cpu_count()} cores, {platform.machine()}")')

mkdir -p "$out"
began=$SECONDS
"${reticent[@]}" study cwrf-defenses --scale "$scale" --device "$device" --store "$out/store" --out "$out/study" \
    ${data:+--data-dir "$data"} ${SETTING:+--setting "$SETTING"}
took=$((SECONDS - began))

{
    echo "Machine: $card. Time: $took s. Scale: $scale."
    echo
    cat "$out/study/study.md"
} >"$out/table.md"
echo
cat "$out/table.md"
