#!/usr/bin/env bash
# A training job of Slurm whose tasks are watched: one record for each rank, and one report when it ends badly.
#SBATCH --job-name=train
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=4
#SBATCH --gpus-per-task=1
#SBATCH --mem=200G
set -uo pipefail

records=records/${SLURM_JOB_ID:-local}
mkdir -p "$records"
srun oomdoc run --quiet --record "$records/" --snapshot="$records/snapshots" -- "${@:-./train.sh}"
code=$?
if [ "$code" -ne 0 ]; then
    # Who fell first, and why. Says nothing that is not in the records: safe to run again, or on another machine.
    oomdoc explain "$records" || true
fi
exit "$code"
