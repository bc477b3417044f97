#!/usr/bin/env bash
# Many models of half of CIFAR-10 each by fast-resnet on a GPU, and what LiRA and RMIA find:
#
#     benchmarks/gpu_many.sh [SIZE] [DATA_DIR] [OUT]
#
# SIZE is full (all of CIFAR-10, 256 models, 24 epochs; MODELS=64 takes fewer) or, where there is no GPU, tiny (400
# records, 4 narrow models, 2 epochs: it shows that all runs). DATA_DIR holds the official files. OUT gets the audit and
# table.md: the machine, seconds a model, mean accuracy, and what was found. The same command goes on after any end. Set
# RETICENT to run another installation than the one on the path.
set -euo pipefail

size=${1:-full}
data=${2:-${RETICENT_DATA:-}}
out=${3:-gpu-many}
read -r -a reticent <<<"${RETICENT:-reticent}"
python=${PYTHON:-python}
recipe=$(dirname "$0")/fast_resnet.toml

device=$("$python" -c 'import torch; print("cuda" if torch.cuda.is_available() else "cpu")')
case $size in
full)
    if [[ $device == cpu ]]; then
        echo "gpu_many.sh: there is no CUDA device here: give another size, as in benchmarks/gpu_many.sh tiny DATA_DIR" >&2
        exit 2
    fi
    sizes=(--models "${MODELS:-256}")
    ;;
tiny)
    sizes=(--models "${MODELS:-4}" --records 400 --epochs 2 --batch-size 64 --set recipe.architecture.width=4
        --set recipe.warmup_epochs=1)
    ;;
*)
    echo "gpu_many.sh: expected the size full or tiny, got $size" >&2
    exit 2
    ;;
esac

"${reticent[@]}" audit --config "$recipe" --dataset cifar10 ${data:+--data-dir "$data"} --device "$device" "${sizes[@]}" \
    --attack lira --attack rmia --store "$out/store" --out "$out/audit"
"$python" - "$out" <<'PY'
import json
import os
import platform
import sys
from pathlib import Path

import torch

out = Path(sys.argv[1])
found = json.loads((out / "audit" / "audit.json").read_text(encoding="utf-8"))
cores = f"{os.cpu_count()} cores, {platform.machine()}"
machine = torch.cuda.get_device_name() if torch.cuda.is_available() else cores
population, environment = found["population"], found["environment"]
trained = population["models"] - environment["models_found"]
seconds = f"{environment['seconds_training'] / trained:.2f}" if trained else "all found"
lines = [
    f"Machine: {machine}. {population['models']} models, seconds a model: {seconds}. Accuracy on non-members: "
    f"{100 * population['accuracy']['non_members']['mean']:.1f} %.",
    "",
    "| attack | AUC | TPR at 1 % FPR | TPR at 0.1 % FPR |",
    "|---|---:|---:|---:|",
]
for attack in found["attacks"]:
    rates = {rate["fpr"]: rate["tpr"] for rate in attack["overall"]["tpr_at_fpr"]}
    cells = [f"{rates[fpr]['mean']:.4f}" if rates[fpr] else "not measurable" for fpr in (0.01, 0.001)]
    lines.append(f"| {attack['name']} | {attack['overall']['auc']['mean']:.4f} | {' | '.join(cells)} |")
text = "\n".join(lines) + "\n"
(out / "table.md").write_text(text, encoding="utf-8")
print(text, end="")
PY
