//! The simulated allocator against what PyTorch's own did, its texts, and what must hold on any trace.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use oomdoc::allocator::caching::AllocError;
use oomdoc::allocator::config::{Config, TorchPlatform};
use oomdoc::allocator::device::{Call, CallResult, Listing, Process, SimulatedDevice, Surroundings};
use oomdoc::allocator::replay::{self, ReplayOutcome, Setup};
use oomdoc::allocator::snapshot::State;
use oomdoc::allocator::trace::Trace;
use oomdoc::allocator::version::Version;
use oomdoc::report::simulation;
use proptest::prelude::*;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;

const MIB: u64 = 1 << 20;
const RELEASES: [&str; 16] = [
    "2.0.1", "2.1.2", "2.2.2", "2.3.1", "2.4.1", "2.5.1", "2.6.0", "2.7.1", "2.8.0", "2.9.1", "2.10.0", "2.11.0",
    "2.12.1", "2.13.0", "2.14.1", "2.15.0",
];

fn setup(torch: &str, conf: &str, capacity: u64, context: u64) -> Setup {
    let version = Version::parse(torch).unwrap();
    let (config, _) = Config::parse(conf, version, TorchPlatform::Linux).unwrap();
    Setup {
        device: SimulatedDevice::new(capacity, context),
        surroundings: Surroundings::default(),
        config,
        version,
        fraction: None,
        no_caching: false,
    }
}

fn trace(lines: &str) -> Trace {
    Trace::parse(lines, 4).unwrap()
}

/// All lines of a run but the last, as `--format jsonl` prints them.
fn lines(trace: &Trace, setup: &Setup) -> String {
    let mut out = String::new();
    replay::run(trace, setup, true, |step| {
        simulation::line(&mut out, trace, &step);
        true
    })
    .unwrap();
    out
}

/// The first out-of-memory text or other error of a run.
fn refusal(lines: &str, setup: &Setup) -> String {
    let mut found = None;
    replay::run(&trace(lines), setup, true, |step| {
        if let Err(AllocError::OutOfMemory(text) | AllocError::Error(text)) = step.outcome {
            found = Some(text.clone());
        }
        found.is_none()
    })
    .unwrap();
    found.unwrap()
}

/// FNV-1a after every 50 lines, as `tests/oracle/golden.py` computes it.
fn digest(lines: &str) -> Vec<String> {
    let mut value = 0xcbf2_9ce4_8422_2325_u64;
    let count = lines.lines().count();
    let mut out = Vec::new();
    for (n, line) in lines.split_inclusive('\n').enumerate() {
        for byte in line.bytes() {
            value = (value ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
        if (n + 1) % 50 == 0 || n + 1 == count {
            out.push(format!("{value:016x}"));
        }
    }
    out
}

#[test]
fn runs_are_those_of_pytorch() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/traces");
    let expected: Vec<Value> =
        serde_json::from_str(&std::fs::read_to_string(folder.join("expected.json")).unwrap()).unwrap();
    assert!(expected.len() > 100);
    for run in &expected {
        let trace = trace(&std::fs::read_to_string(folder.join(run["trace"].as_str().unwrap())).unwrap());
        let capacity = run["capacity_mib"].as_u64().unwrap() * MIB;
        let mut setup = setup(run["torch"].as_str().unwrap(), run["conf"].as_str().unwrap(), capacity, 412 * MIB);
        setup.fraction = run["fraction"].as_str().map(|fraction| fraction.parse().unwrap());
        let wanted: Vec<&str> = run["digest"].as_array().unwrap().iter().map(|part| part.as_str().unwrap()).collect();
        let name = format!("{} {} '{}' {}", run["torch"], run["trace"], run["conf"], run["fraction"]);
        assert_eq!(digest(&lines(&trace, &setup)), wanted, "{name}");
    }
}

/// The message as the releases put it together, piece by piece.
#[test]
fn texts_of_every_release() {
    // 5 GiB live, 1.6 GiB of the device used by another process.
    let mut requests: String = (0..80).map(|n| format!("a {n} {}\n", 64 * MIB)).collect();
    requests += "a 90 2147483648\n";
    for torch in RELEASES {
        let version = Version::parse(torch).unwrap();
        let mut setup = setup(torch, "", 8192 * MIB, 412 * MIB);
        setup.surroundings.others = vec![Process { pid: 4242, bytes: 1640 * MIB }];
        setup.device.others = setup.surroundings.others.clone();
        let minor = version.minor;
        let gpu = if minor == 3 { "\0" } else { "0" };
        let head = "CUDA out of memory. Tried to allocate 2.00 GiB";
        let url = "for Memory Management  (https://";
        let hint = "avoid fragmentation.  See documentation";
        let wanted = if minor == 0 {
            format!(
                "{head} (GPU 0; 8.00 GiB total capacity; 5.00 GiB already allocated; 1020.00 MiB free; 5.00 GiB reserved in \
                 total by PyTorch) If reserved memory is >> allocated memory try setting max_split_size_mb to {hint} for \
                 Memory Management and PYTORCH_CUDA_ALLOC_CONF"
            )
        } else {
            let capacity = if minor == 1 { "capacty" } else { "capacity" };
            let setting = match minor {
                1 => format!("max_split_size_mb to {hint} for Memory Management and PYTORCH_CUDA_ALLOC_CONF"),
                10 => format!(
                    "PYTORCH_ALLOC_CONF=expandable_segments:True to {hint} {url}pytorch.org/docs/stable/notes/cuda.html\
                     #environment-variables)"
                ),
                2..=9 => format!(
                    "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True to {hint} \
                     {url}pytorch.org/docs/stable/notes/cuda.html#environment-variables)"
                ),
                _ => format!(
                    "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True to {hint} \
                     {url}docs.pytorch.org/docs/stable/notes/cuda.html#optimizing-memory-usage-with-pytorch-cuda-alloc-conf)"
                ),
            };
            format!(
                "{head}. GPU {gpu} has a total {capacity} of 8.00 GiB of which 1020.00 MiB is free. Including non-PyTorch \
                 memory, this process has 5.40 GiB memory in use. Process 4242 has 1.60 GiB memory in use. Of the allocated \
                 memory 5.00 GiB is allocated by PyTorch, and 0 bytes is reserved by PyTorch but unallocated. If reserved but \
                 unallocated memory is large try setting {setting}"
            )
        };
        assert_eq!(refusal(&requests, &setup), wanted, "{torch}");
    }
}

#[test]
fn texts_with_a_limit_and_a_private_pool() {
    let requests = "m 0.5\npb 1\na 1 1073741824\na 2 1073741824\nf 1\npe 1\na 3 2147483648\na 4 1073741824\n";
    for torch in RELEASES.iter().skip(1) {
        let text = refusal(requests, &setup(torch, "", 8192 * MIB, 0));
        let minor = Version::parse(torch).unwrap().minor;
        assert_eq!(text.contains("4.00 GiB allowed; Of the"), minor >= 5, "{torch}: {text}");
        let private = "4.00 GiB is allocated by PyTorch, with 1024.00 MiB allocated in private pools (e.g., CUDA Graphs), and 0 bytes";
        assert_eq!(text.contains(private), minor >= 4, "{torch}: {text}");
    }
}

#[test]
fn endings_under_expandable_segments() {
    let text = |torch, conf, requests| refusal(requests, &setup(torch, conf, 1024 * MIB, 0));
    let conf = "expandable_segments:True";
    let full = "a 1 524288000\na 2 900000000\n";
    assert!(text("2.13.0", conf, full).ends_with("cuda-alloc-conf)"));
    assert!(text("2.14.1", conf, full).ends_with("reserved by PyTorch but unallocated."));
    assert!(text("2.15.0", conf, full).contains("unallocated. expandable_segments is enabled. If instead"));
    let small = text("2.15.0", "expandable_segments:True,expandable_segments_reserve:0.25G", full);
    assert!(small.contains("exceeds the expandable-segment reserve of 256.00 MiB"), "{small}");
}

#[test]
fn other_refusals() {
    let requests = "a 1 700000000\na 2 100\na 3 500000000\n";
    let rejected = refusal(requests, &setup("2.12.1", "throw_on_cudamalloc_oom:True", 1024 * MIB, 0));
    let wanted = "CUDA out of memory. Allocation was preemptively rejected because it would exceed per_process_memory_fraction \
                  limit. Requested size: 476.84 MiB";
    assert_eq!(rejected, wanted);
    let huge = refusal("a 1 1152921504606846976\n", &setup("2.4.1", "", 1024 * MIB, 0));
    assert_eq!(huge, "CUDA out of memory. Tried to allocate more than 1EB memory.");
    let mut no_library = setup("2.1.2", "", 1024 * MIB, 0);
    no_library.surroundings.listing = Listing::NoLibrary;
    assert!(refusal(requests, &no_library).contains("INTERNAL ASSERT FAILED"));
    let asynchronous = refusal(requests, &setup("2.8.0", "backend:cudaMallocAsync", 1024 * MIB, 0));
    assert!(asynchronous.starts_with("Allocation on device \0 would exceed allowed memory. (out of memory)\n"));
    assert!(asynchronous.ends_with("17179869184.00 GiB"), "{asynchronous}");
}

/// A random trace line by line, with ids that can be freed before they exist and streams that do exist.
fn requests() -> impl Strategy<Value = String> {
    let size = prop_oneof![
        3 => 0u64..MIB,
        2 => MIB..10 * MIB,
        2 => 10 * MIB..300 * MIB,
    ];
    let line = prop_oneof![
        10 => (0u32..40, size, 0u32..3).prop_map(|(id, size, stream)| format!("a {id} {size} {stream}")),
        8 => (0u32..40).prop_map(|id| format!("f {id}")),
        1 => (0u32..40, 0u32..3).prop_map(|(id, stream)| format!("r {id} {stream}")),
        1 => prop_oneof![Just("e"), Just("p 0"), Just("p 1"), Just("m 0.7"), Just("m 1.0")].prop_map(String::from),
    ];
    prop::collection::vec(line, 1..150).prop_map(|lines| lines.join("\n"))
}

fn settings() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "",
        "expandable_segments:True",
        "max_split_size_mb:40",
        "garbage_collection_threshold:0.5",
        "roundup_power2_divisions:[1:4,256:2,>:8]",
        "expandable_segments:True,roundup_power2_divisions:8",
    ])
}

/// What every snapshot must satisfy.
fn check(outcome: &ReplayOutcome, device: &BTreeMap<u64, u64>) {
    let segments = outcome.segments.as_ref().unwrap();
    let (mut reserved, mut allocated, mut active, mut requested) = (0, 0, 0, 0);
    let mut end = 0;
    for segment in segments {
        assert!(segment.address >= end, "segments do not overlap");
        end = segment.address + segment.size;
        assert_eq!(segment.blocks.iter().map(|block| block.size).sum::<u64>(), segment.size, "no byte is lost");
        let free_pair = segment.blocks.windows(2).any(|pair| pair.iter().all(|block| block.state == State::Free));
        assert!(!free_pair, "free neighbours are one block: {segment:?}");
        reserved += segment.size;
        allocated += segment.allocated;
        active += segment.active;
        requested += segment.requested;
    }
    let stats = &outcome.stats;
    assert_eq!(stats.reserved_bytes.all.current, reserved as i64);
    assert_eq!(stats.allocated_bytes.all.current, allocated as i64);
    assert_eq!(stats.active_bytes.all.current, active as i64);
    assert_eq!(stats.requested_bytes.all.current, requested as i64);
    for (name, counter) in stats.named() {
        assert_eq!(counter.all.current, counter.small.current + counter.large.current, "{name}");
        assert!(counter.all.peak >= counter.all.current && counter.all.current >= 0, "{name}");
    }
    assert_eq!(device.values().sum::<u64>(), reserved, "what the driver gave is what the allocator holds");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]
    #[test]
    fn nothing_is_lost_on_any_trace(text in requests(), conf in settings(), release in 1usize..RELEASES.len()) {
        let trace = trace(&text);
        let setup = setup(RELEASES[release], conf, 1536 * MIB, 100 * MIB);
        let mut device = BTreeMap::new();
        let outcome = replay::run(&trace, &setup, true, |step| {
            for event in step.events {
                let address = event.address.unwrap_or_default();
                match (event.call, event.result) {
                    (Call::Malloc | Call::Map, CallResult::Served) => {
                        assert!(device.insert(address, event.size).is_none(), "an address is given once");
                    }
                    (Call::Free | Call::Unmap, _) => assert!(device.remove(&address).is_some(), "memory is freed once"),
                    _ => {}
                }
            }
            assert!(device.values().sum::<u64>() + 100 * MIB <= 1536 * MIB, "the device is not exceeded");
            true
        })
        .unwrap();
        check(&outcome, &device);
        prop_assert_eq!(lines(&trace, &setup), lines(&trace, &setup), "a replay is repeatable");
        prop_assert_eq!(replay::run_silently(&trace, &setup).unwrap(), outcome);
    }
}
