#!/usr/bin/env bash
# Assembles src/gpu/cuda/probe.ptx with NVIDIA's own assembler for every architecture that it knows, which proves the text
# valid without a GPU. ptxas comes as a Python wheel and is taken by its package name; nothing is installed.
#
#   tests/gpu/assemble_ptx.sh                          the assembler of CUDA 12.9
#   tests/gpu/assemble_ptx.sh nvidia-cuda-nvcc         the newest
#   tests/gpu/assemble_ptx.sh nvidia-cuda-nvcc-cu11    CUDA 11.8
#   PTXAS=/usr/local/cuda/bin/ptxas tests/gpu/assemble_ptx.sh    one that is there already
#
# Exit code 0: it assembles for all of them. 1: it does not. 2: no assembler to be had.
set -u
cd "$(dirname "$0")/../.."
package=${1:-nvidia-cuda-nvcc-cu12}
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT

if [ -z "${PTXAS:-}" ]; then
    python3 -m pip download --quiet --no-deps --dest "$scratch" "$package" || { echo "cannot fetch $package" >&2; exit 2; }
    python3 -m zipfile --extract "$scratch"/*.whl "$scratch/wheel" || exit 2
    PTXAS=$(find "$scratch/wheel" -type f -name ptxas | head -n 1)
    [ -n "$PTXAS" ] || { echo "no ptxas in $package" >&2; exit 2; }
    chmod +x "$PTXAS"
fi
"$PTXAS" --version | tail -n 1

failed=0
assembled=
for arch in 50 52 53 60 61 62 70 72 75 80 86 87 88 89 90 100 101 103 110 120 121; do
    if ! "$PTXAS" --help | grep -q "sm_$arch'"; then
        continue # An architecture that this assembler has not learned yet or has dropped.
    fi
    if "$PTXAS" --gpu-name "sm_$arch" --warning-as-error --output-file "$scratch/probe.cubin" src/gpu/cuda/probe.ptx; then
        assembled="$assembled sm_$arch"
    else
        echo "does not assemble for sm_$arch" >&2
        failed=1
    fi
done
[ -n "$assembled" ] || { echo "no architecture recognised" >&2; exit 2; }
echo "assembles for:$assembled"
exit $failed
