#!/usr/bin/env bash
# Runs every check of docs/gpu-validation.md on this machine's first GPU, which must be idle. A failing check stops nothing.
#
#   tests/gpu/validate.sh [OOMDOC] [OUT]
#
# OOMDOC is the binary, target/release/oomdoc unless said; OUT takes what was measured, gpu-validation/ unless said.
# Exit code: the number of checks that were not as expected; 100 where there is no GPU or no such binary, and nothing was run.
set -u
cd "$(dirname "$0")/../.."
oomdoc=${1:-target/release/oomdoc}
out=${2:-gpu-validation}
[ -x "$oomdoc" ] || { echo "no such program: $oomdoc (cargo build --release)" >&2; exit 100; }
if ! why=$(python3 -c '
import ctypes, sys
try:
    for library, call in (("libnvidia-ml.so.1", "nvmlInit_v2"), ("libcuda.so.1", "cuInit")):
        loaded = ctypes.CDLL(library)
        code = getattr(loaded, call)(*((0,) if call == "cuInit" else ()))
        if code:
            sys.exit(f"{call} returned {code}")
except OSError as error:
    sys.exit(str(error))' 2>&1); then
    echo "no GPU here that could be checked: $why" >&2
    exit 100
fi
mkdir -p "$out"
wrong=0

check() {
    echo "== $1"
    shift
    if ! timeout 600 "$@"; then
        wrong=$((wrong + 1))
    fi
}

"$oomdoc" probe --json > "$out/probe.json"
check "NVML's figures" python3 tests/gpu/nvml_figures.py "$oomdoc"
check "CUDA: context, rounding, largest block, experiment, bandwidth" python3 tests/gpu/cuda_figures.py "$oomdoc" "$out"
if python3 -c 'import torch, sys; sys.exit(not torch.cuda.is_available())' 2> /dev/null; then
    check "PyTorch: overheads, its own allocator on a fragmented state" python3 tests/gpu/torch_figures.py "$out"
    check "provoked failures" python3 tests/gpu/provoke_ooms.py "$out/oom" --oomdoc "$oomdoc"
else
    echo "== PyTorch: left out, since torch finds no GPU"
fi
echo "$wrong check(s) not as expected; figures in $out/"
exit $wrong
