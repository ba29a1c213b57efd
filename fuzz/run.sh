#!/usr/bin/env bash
# run.sh [SECONDS [TARGET…]]: every target (or those named) for so many seconds, 480 unless told, from its seeds and the
# project's fixtures. What was found lies in artifacts/TARGET; the table at the end is in Markdown.
set -uo pipefail
cd "$(dirname "$0")"
seconds=${1:-480}
shift || true
all=(explain record replay diff simulate headroom_measurements headroom_model headroom_rehearsal headroom_log budget
    probe alloc_conf elf)
targets=("${@:-}")
[[ -n "${targets[0]}" ]] || targets=("${all[@]}")

# Copies the files into the target's corpus, under the sum of their content.
seed() {
    local into=corpus/$1 file
    shift
    mkdir -p "$into"
    for file in "$@"; do
        [[ -f $file && $(stat -c %s "$file") -le 65536 ]] && cp -n "$file" "$into/$(sha1sum <"$file" | cut -c1-16)"
    done
}
for target in "${all[@]}"; do seed "$target" seeds/"$target"/*; done
f=../fixtures
seed explain $(find $f/logs ../tests/planted/logs -name '*.log') $f/host/*/*
seed headroom_log $(find $f/logs/pytorch -name '*.log')
seed replay $f/snapshots/*
seed diff $f/snapshots/*
seed simulate $f/traces/*.trace
seed headroom_measurements ../examples/ci/peaks.csv
seed budget ../examples/ci/oomdoc.toml
seed probe $(grep -rl NVIDIA-SMI $f ../tests/planted ../tests/corpus/reports)

cd ..
printf '| target | CPU s | executions | edges | findings |\n| --- | --- | --- | --- | --- |\n'
for target in "${targets[@]}"; do
    artifacts=fuzz/artifacts/$target
    mkdir -p "$artifacts"
    before=$(times | tail -1)
    fuzz/target/x86_64-unknown-linux-gnu/release/"$target" -dict=fuzz/oom.dict -max_total_time="$seconds" -max_len=65536 \
        -timeout=10 -rss_limit_mb=2048 -fork=1 -ignore_crashes=1 -ignore_timeouts=1 -ignore_ooms=1 -close_fd_mask=2 \
        -artifact_prefix="$artifacts/" "fuzz/corpus/$target" >/dev/null 2>"$artifacts.log"
    after=$(times | tail -1)
    cpu=$(printf '%s %s\n' "$before" "$after" | awk '{
        for (i = 1; i <= 4; i++) { split($i, part, /[ms]/); t[i] = part[1] * 60 + part[2] }
        printf "%d", t[3] + t[4] - t[1] - t[2]
    }')
    last=$(grep -E '^#[0-9]+: cov:' "$artifacts.log" | tail -1)
    printf '| %s | %s | %s | %s | %s |\n' "$target" "$cpu" "$(sed -E 's/^#([0-9]+):.*/\1/' <<<"$last")" \
        "$(sed -E 's/.*cov: ([0-9]+).*/\1/' <<<"$last")" "$(find "$artifacts" -type f | wc -l)"
done
