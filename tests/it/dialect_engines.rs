//! Messages of serving engines: the figures to the byte, what ran out, what is no failure, and that what is advised
//! fits by the printed figures.

use oomdoc::cause::{self, CauseId};
use oomdoc::dialect::{self, Event, Sign, Standing};
use oomdoc::fix::{self, Certainty, Plan};
use oomdoc::incident;
use oomdoc::input::{Document, Source};

fn document(name: &str) -> Document {
    let path = format!("{}/fixtures/logs/{name}.log", env!("CARGO_MANIFEST_DIR"));
    dialect::reader().read(&Source::File(path.into())).expect("the fixture")
}

/// The figures of an event as `name=bytes`, and its numbers, sorted.
fn figures(event: &Event) -> Vec<String> {
    let facts = &event.facts;
    let mut all = super::figures::of(facts);
    all.extend(facts.numbers.iter().map(|(name, (value, _))| format!("{name}={value}")));
    all.sort();
    all
}

/// Log, shape, framework, resource, figures.
#[rustfmt::skip]
const FAILURES: &[(&str, &str, &str, &str, &str)] = &[
    ("vllm/startup", "vllm-free-memory-on-startup", "vllm", "gpu",
        "free=12.31GiB capacity=23.64GiB desired=21.28GiB gpu_memory_utilization=0.9 device=1"),
    ("vllm/startup-wrapped", "vllm-free-memory-on-startup", "vllm", "gpu",
        "free=77.6GiB capacity=79.25GiB desired=77.67GiB gpu_memory_utilization=0.98"),
    ("vllm/kv-tokens", "vllm-max-seq-len-v0", "vllm", "kv-cache",
        "weights=14.96GiB gpu_memory_utilization=0.9 activation_peak_bytes=1.52GiB max_model_len=65536 kv_cache_tokens=38912"),
    ("vllm/kv-bytes", "vllm-v1-kv-needed", "vllm", "kv-cache",
        "weights=14.99GiB needed=16.00GiB available=5.83GiB kv_available_bytes=5.83GiB gpu_memory_utilization=0.9 max_model_len=131072 estimated_max_model_len=47744"),
    ("vllm/kv-noted", "vllm-v1-kv-needed", "vllm", "kv-cache", "needed=6.0GiB available=5.41GiB max_model_len=32768"),
    ("vllm/no-blocks", "vllm-no-cache-blocks-negative", "vllm", "kv-cache",
        "weights=27.5140GiB kv_available_bytes=-1.94GiB gpu_memory_utilization=0.9 max_model_len=8192"),
    ("sglang/fraction", "sglang-mem-fraction-static", "sglang", "kv-cache",
        "weights=15.86GiB avail_mem_bytes=7.12GiB free_before_weights_bytes=22.98GiB mem_fraction_static=0.65"),
    ("sglang/graph", "sglang-capture-graph-failed", "sglang", "gpu",
        "requested=1.25GiB capacity=47.40GiB free=640.00MiB process=46.77GiB allocated=45.51GiB reserved_unallocated=318.20MiB device=3"),
    ("sglang/serving", "sglang-scheduler-exception", "sglang", "gpu",
        "requested=2.32GiB capacity=79.10GiB free=1.40GiB process=77.69GiB allocated=74.10GiB reserved_unallocated=1.22GiB device=0"),
    ("tensorrt-llm/executor", "trtllm-executor-creation", "tensorrt-llm", "kv-cache", "capacity=79.19GiB free=41.37GiB"),
    ("tensorrt-llm/cuda", "trtllm-cuda-error", "tensorrt-llm", "gpu", ""),
    ("llama.cpp/model", "llamacpp-cuda-buffer-alloc", "llama.cpp", "gpu",
        "requested=7605.33MiB device=0 device_free_at_start_bytes=5925MiB layers_repeating=32 n_ctx=8192 n_gpu_layers=99"),
    ("llama.cpp/cache", "llamacpp-kv-buffer", "llama.cpp", "gpu",
        "requested=16384MiB weights=4403.49MiB device=0 device_free_at_start_bytes=11806MiB layers_model=33 layers_offloaded=33 n_ctx=131072 n_gpu_layers=99"),
    ("llama.cpp/compute", "llamacpp-compute-buffer", "llama.cpp", "gpu", "requested=808.00MiB device=1 kv_buffer_bytes=3072MiB"),
    ("llama.cpp/vulkan", "llamacpp-cuda-buffer-alloc", "llama.cpp", "gpu", "requested=1610612736B device=0"),
    ("llama.cpp/object-pool", "ggml-memory-pool", "llama.cpp", "host", "requested=45632B free=45264B n_ctx=32768 n_gpu_layers=99"),
    ("llama.cpp/pool", "llamacpp-cuda-error", "llama.cpp", "gpu", "device=1"),
    ("llama.cpp/cache-in-ram", "llamacpp-kv-buffer", "llama.cpp", "host", "requested=25769803776B"),
    ("ollama/cache", "llamacpp-kv-buffer", "ollama", "gpu", "requested=2147483648B device=0"),
    ("sglang/unbalanced", "sglang-unbalanced", "sglang", "gpu", "least_free_bytes=41.5GiB own_free_bytes=78.25GiB"),
    ("sglang/prefill", "sglang-batch-too-large", "sglang", "kv-cache", "tokens_requested=6144 tokens_available=2048"),
    ("llama.cpp/ram", "llamacpp-cpu-buffer", "llama.cpp", "host", "requested=34359738400B"),
    ("ollama/ram", "ollama-system-memory", "ollama", "host", "requested=9.1GiB free=7.8GiB"),
    ("ollama/runner", "llamacpp-compute-buffer", "ollama", "gpu", "requested=2485125120B device=0"),
    ("ollama/estimate", "ollama-offload-estimate", "ollama", "gpu",
        "layers_model=41 layers_offloaded=30 estimated_free_bytes=7.6GiB required_full_bytes=9.9GiB required_partial_bytes=7.5GiB"),
    ("engines/tgi", "tgi-warmup", "tgi", "gpu", "prefill_tokens=8192"),
    ("engines/lmdeploy", "lmdeploy-gpu-memory", "lmdeploy", "kv-cache", ""),
    ("engines/turbomind", "lmdeploy-turbomind", "lmdeploy", "gpu", ""),
    ("engines/mlc", "mlc-gpu-memory", "mlc-llm", "gpu", "limit=5734.400MiB weights=4308.133MiB temporary_buffer_bytes=1886.144MiB"),
];

#[test]
fn every_engine_names_what_ran_out_with_its_figures() {
    for (log, slug, framework, resource, wanted) in FAILURES {
        let events = dialect::events(&document(log));
        assert_eq!(events.len(), 1, "{log}: {:?}", events.iter().map(|event| event.wording()).collect::<Vec<_>>());
        let event = &events[0];
        assert_eq!((event.wording(), event.program.id(), event.resource.id()), (*slug, *framework, *resource), "{log}");
        assert_eq!(event.standing, Standing::Failure, "{log}");
        assert_eq!(figures(event), super::figures::expected(wanted), "{log}");
        assert!(!event.message.is_empty(), "{log}");
    }
}

#[test]
fn what_recovers_or_waits_is_no_failure_and_says_why() {
    for (log, slugs) in [
        ("vllm/profiling", &["vllm-memory-profiling-race"][..]),
        ("sglang/retracted", &["sglang-retracted"]),
        ("llama.cpp/pipeline", &["llamacpp-unpinned", "llamacpp-retry-without-pipeline"]),
    ] {
        let events = dialect::events(&document(log));
        assert_eq!(events.iter().map(|event| event.wording()).collect::<Vec<_>>(), slugs, "{log}");
        for event in &events {
            assert_eq!(event.standing, Standing::Harmless, "{log}");
            assert!(event.harmless_because.as_ref().is_some_and(|why| !why.en.is_empty() && !why.zh.is_empty()));
        }
        assert!(incident::assemble(&document(log), events).0.is_empty(), "{log}");
    }
}

/// The first cause of a log's primary incident, and its plan.
fn judged(log: &str) -> (CauseId, Plan) {
    let document = document(log);
    let (incidents, _) = incident::assemble(&document, dialect::events(&document));
    let primary = incidents.iter().find(|incident| incident.primary).expect("an incident");
    let findings = cause::rank(primary);
    (findings[0].cause.id, fix::plan(primary, &findings))
}

fn line(plan: &Plan, id: &str) -> (String, Certainty) {
    let offer = &plan.offers.iter().find(|ranked| ranked.fix.id == id).unwrap_or_else(|| panic!("{id}")).offer;
    (offer.knobs[0].line.en.clone(), offer.certainty)
}

fn refused(plan: &Plan, id: &str) -> bool {
    plan.wont_help.iter().any(|(fix, _)| fix.id == id)
}

#[test]
fn a_driver_that_makes_no_buffer_that_large_is_told_from_a_full_device() {
    let event = |reason: &str| {
        let text = format!(
            "ggml_vulkan: Device memory allocation of size 5150212096 failed.\n\
             ggml_vulkan: {reason}: ErrorOutOfDeviceMemory\n\
             ggml_gallocr_reserve_n: failed to allocate Vulkan0 buffer of size 5150212096\n"
        );
        let document = Document::from_text("-", &text);
        incident::assemble(&document, dialect::events(&document)).0.remove(0).event
    };
    assert!(event("Requested buffer size exceeds device buffer size limit").has(Sign::BufferSizeLimit));
    assert!(event("Requested buffer size exceeds device memory allocation limit").has(Sign::BufferSizeLimit));
    assert!(!event("vk::Device::allocateMemory").has(Sign::BufferSizeLimit));
}

#[test]
fn the_engines_verdict_takes_the_figures_of_the_message_below_it() {
    let document = document("vllm/sampler");
    let (incidents, _) = incident::assemble(&document, dialect::events(&document));
    assert_eq!(incidents.len(), 1);
    let event = &incidents[0].event;
    assert_eq!((event.wording(), event.program.id()), ("vllm-sampler-warmup", "vllm"));
    let all = figures(event);
    for figure in super::figures::expected("requested=1.86GiB free=1.06GiB dummy_requests=1024 kv_cache_tokens=98304") {
        assert!(all.contains(&figure), "{figure}: {all:?}");
    }
}

#[test]
fn causes_follow_from_the_engines_account() {
    for (log, id) in [
        ("vllm/startup", CauseId::OtherProcess),
        ("vllm/startup-wrapped", CauseId::Preallocation),
        ("vllm/kv-tokens", CauseId::KvCache),
        ("vllm/kv-bytes", CauseId::KvCache),
        ("vllm/kv-noted", CauseId::KvCache),
        ("vllm/no-blocks", CauseId::Capacity),
        ("vllm/sampler", CauseId::Preallocation),
        ("sglang/fraction", CauseId::FrameworkLimit),
        ("sglang/graph", CauseId::Preallocation),
        ("sglang/serving", CauseId::TransientPeak),
        ("tensorrt-llm/executor", CauseId::KvCache),
        ("llama.cpp/model", CauseId::Capacity),
        ("llama.cpp/cache", CauseId::KvCache),
        ("llama.cpp/cache-in-ram", CauseId::KvCache),
        ("ollama/cache", CauseId::KvCache),
        ("sglang/unbalanced", CauseId::OtherProcess),
        ("sglang/prefill", CauseId::KvCache),
        ("ollama/ram", CauseId::FrameworkLimit),
        ("ollama/estimate", CauseId::FrameworkLimit),
    ] {
        assert_eq!(judged(log).0, id, "{log}");
    }
}

#[test]
fn the_context_offered_fits_by_the_printed_figures() {
    // The engine's own estimate, the tokens that the cache holds, and need against room: 32768 · 5.405 / 6.05 = 29274.
    for (log, wanted) in [("vllm/kv-bytes", 47616), ("vllm/kv-tokens", 38912), ("vllm/kv-noted", 29184)] {
        let (text, certainty) = line(&judged(log).1, "max-model-len");
        assert_eq!((text, certainty), (format!("--max-model-len {wanted}"), Certainty::Arithmetic), "{log}");
    }
    // 131072 tokens take 16384 MiB; 11806 − 4403.49 − 1024 MiB are left for them: 51028, in steps of 256.
    assert_eq!(line(&judged("llama.cpp/cache").1, "max-model-len").0, "-c 50944");
}

#[test]
fn the_share_moves_in_the_direction_that_helps() {
    // 12.31 of 23.64 GiB are free: 0.5207.
    let (_, startup) = judged("vllm/startup");
    assert_eq!(line(&startup, "lower-engine-memory").0, "--gpu-memory-utilization 0.51");
    assert!(refused(&startup, "raise-engine-memory"));
    // 77.6 / 79.25 = 0.9792.
    let (_, nearly) = judged("vllm/startup-wrapped");
    assert_eq!(line(&nearly, "lower-engine-memory"), ("--gpu-memory-utilization 0.97".into(), Certainty::Arithmetic));
    // The weights and the peak need all of the share and more.
    let (_, blocks) = judged("vllm/no-blocks");
    assert!(refused(&blocks, "raise-engine-memory") && refused(&blocks, "max-model-len"));
    assert!(refused(&blocks, "expandable-segments"));
    // 1 − (7.12 − 1) / 22.98 = 0.7337 leaves a GiB for the cache.
    let (_, fraction) = judged("sglang/fraction");
    assert_eq!(line(&fraction, "raise-engine-memory").0, "--mem-fraction-static 0.74");
    // (45.51 − (1.255 − 0.625)) / 47.40 − 0.01 = 0.9368 leaves the graphs their room.
    let (_, graph) = judged("sglang/graph");
    assert_eq!(line(&graph, "lower-engine-memory").0, "--mem-fraction-static 0.93");
    assert!(refused(&graph, "raise-engine-memory"));
}

#[test]
fn layers_that_fit_are_counted() {
    // 33 layers of 230.5 MiB; a fifth of 5925 MiB stays free: 20 layers.
    let (text, certainty) = line(&judged("llama.cpp/model").1, "weight-offload");
    assert!(text.starts_with("-ngl 20 "), "{text}");
    assert_eq!(certainty, Certainty::Likely);
    assert!(line(&judged("ollama/estimate").1, "weight-offload").0.starts_with("PARAMETER num_gpu 27"));
}
