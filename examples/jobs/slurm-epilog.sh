#!/usr/bin/env bash
# Epilog of Slurm (TaskEpilog, as the job's user): explains the records that a job left, into a file beside them.
# RECORDS is where the jobs of this cluster write them.
set -u
records=${RECORDS:-${SLURM_SUBMIT_DIR:-.}/records}/${SLURM_JOB_ID:-local}
if [ -d "$records" ]; then
    oomdoc explain --format markdown "$records" > "$records/oomdoc.md" || true
fi
