#!/usr/bin/env bash
# run.sh [SECONDS [TARGET…]]: every target (or those named) for so many seconds, 480 unless told, seeded with the fixtures.
# Findings are left in artifacts/TARGET; the table at the end is in Markdown.
set -uo pipefail
cd "$(dirname "$0")"
seconds=${1:-480}
shift || true
built=target/x86_64-unknown-linux-gnu/release
all=(explain replay diff simulate headroom_measurements headroom_model headroom_rehearsal headroom_log budget probe alloc_conf)
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
# The same for what comes in by a pipe.
made() {
    local text
    text=$(cat)
    mkdir -p "corpus/$1"
    printf '%s' "$text" >"corpus/$1/$(printf '%s' "$text" | sha1sum | cut -c1-16)"
}
f=../fixtures
seed explain $(find $f/logs ../tests/planted/logs -name '*.log') $f/host/*/*
seed headroom_log $(find $f/logs/pytorch -name '*.log')
seed replay $f/snapshots/*
seed diff $f/snapshots/*
seed simulate $f/traces/*.trace
seed headroom_measurements ../examples/ci/peaks.csv
printf '{"model_type":"llama","hidden_size":2048,"num_hidden_layers":16,"num_attention_heads":32,"num_key_value_heads":8,%s' \
    '"intermediate_size":8192,"vocab_size":128256,"torch_dtype":"bfloat16"}' | made headroom_model
printf '{"model_type":"gpt2","n_embd":768,"n_layer":12,"n_head":12,"n_positions":1024,"vocab_size":50257}' | made headroom_model
printf '{"schema":"oomdoc.rehearse/1","verdict":"fits","peak":{"allocated_bytes":1000000000}}' | made headroom_rehearsal
seed budget ../examples/ci/oomdoc.toml
seed probe $(grep -rl NVIDIA-SMI $f ../tests/planted ../tests/corpus/reports)
printf 'expandable_segments:True,max_split_size_mb:128' | made alloc_conf

printf '| target | CPU s | executions | edges | findings |\n| --- | --- | --- | --- | --- |\n'
for target in "${targets[@]}"; do
    mkdir -p "artifacts/$target"
    log=artifacts/$target.log
    before=$(times | tail -1)
    "$built/$target" -dict=oom.dict -max_total_time="$seconds" -max_len=65536 -timeout=25 -rss_limit_mb=1024 -fork=1 \
        -ignore_crashes=1 -ignore_timeouts=1 -ignore_ooms=1 -close_fd_mask=2 -artifact_prefix="artifacts/$target/" \
        "corpus/$target" >/dev/null 2>"$log"
    after=$(times | tail -1)
    cpu=$(printf '%s %s\n' "$before" "$after" | awk '{
        for (i = 1; i <= 4; i++) { split($i, part, /[ms]/); t[i] = part[1] * 60 + part[2] }
        printf "%d", t[3] + t[4] - t[1] - t[2]
    }')
    last=$(grep -E '^#[0-9]+: cov:' "$log" | tail -1)
    printf '| %s | %s | %s | %s | %s |\n' "$target" "$cpu" "$(sed -E 's/^#([0-9]+):.*/\1/' <<<"$last")" \
        "$(sed -E 's/.*cov: ([0-9]+).*/\1/' <<<"$last")" "$(find "artifacts/$target" -type f | wc -l)"
done
