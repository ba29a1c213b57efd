//! Sentences that no program's list holds: every verb with every noun, as a program in no list might print them.

use super::verdict;
use rayon::prelude::*;

const REFUSALS: &[&str] =
    &["failed to", "unable to", "cannot", "could not", "can't", "was not able to", "failure to", "refused to"];
const TAKES: &[&str] =
    &["allocate", "reserve", "obtain", "get", "map", "commit", "secure", "provide", "claim", "acquire"];
const TAKEN: &[&str] =
    &["1234567 bytes", "memory", "a buffer of 1234567 bytes", "GPU memory", "12.5 GB of memory", "device memory"];
/// What is taken, and is no memory.
const OTHERS: &[&str] = &["a port", "the lease", "a seat", "an IP address", "the file lock", "a licence"];
const READS: &[&str] = &["get", "obtain", "read", "parse"];
const TOLD: &[&str] = &["memory info", "GPU memory usage", "memory statistics", "the memory limit"];

const REQUESTS: &[&str] = &[
    "memory allocation",
    "allocation",
    "malloc",
    "cudaMalloc",
    "buffer allocation",
    "memory request",
    "heap allocation",
];
const OF: &[&str] = &["", " of 1234567 bytes", " for the mesh", " (1234567 bytes)"];
const FAILS: &[&str] = &["failed", "was refused", "denied", "rejected", "was unsuccessful", "returned NULL"];

const USES: &[&str] = &["memory usage", "heap usage", "resident memory", "RSS", "process memory", "GPU memory usage"];
const PASSES: &[&str] =
    &["exceeds", "exceeded", "is above", "went over", "surpassed", "hit", "reached", "would exceed", "grew beyond"];
const BOUNDS: &[&str] = &["the limit", "its limit", "the memory limit", "the quota", "the budget", "the limit of 4 GB"];
const WATCHED: &[&str] = &["disk usage", "the request rate", "the upload", "the context length"];

const LARGE: &[&str] = &["the matrix", "the model", "the dataset", "the batch"];
const TOO_LARGE: &[&str] = &[
    "is too large for memory",
    "does not fit in memory",
    "does not fit into GPU memory",
    "won't fit in RAM",
    "needs more memory than available",
    "requires more memory than is available",
    "exceeds available memory",
    "is larger than the available memory",
    "cannot be held in memory",
];

const LACKS: &[&str] =
    &["insufficient", "not enough", "too little", "no more", "no free", "out of", "short of", "no available"];
const MEMORY: &[&str] = &["memory", "RAM", "heap space", "GPU memory", "device memory", "VRAM", "host memory"];
/// What there may be too little of as well.
const MATTER: &[&str] = &["disk space", "permissions", "arguments", "data points", "free ports", "time"];

const SPACES: &[&str] = &["memory", "the heap", "the memory pool", "the arena", "GPU memory", "VRAM"];
const SPENT: &[&str] = &["is exhausted", "is full", "depleted", "is used up", "is insufficient", "exhausted"];

fn product(parts: &[&[&str]], glue: &str) -> Vec<String> {
    let mut all = vec![String::new()];
    for (at, part) in parts.iter().enumerate() {
        let glue = if at == 0 { "" } else { glue };
        all = all.iter().flat_map(|lead| part.iter().map(move |word| format!("{lead}{glue}{word}"))).collect();
    }
    all
}

/// Those of which no failure is reported.
fn unheard(sentences: &[String]) -> Vec<&String> {
    let heard = |sentence: &&String| {
        let report = verdict::explain(&format!("reading input.dat\ngridtool: ERROR: {sentence}\n"));
        let incidents = report["incidents"].as_array().into_iter().flatten();
        incidents.clone().any(|incident| incident["primary"] == true && incident["survived"] != true)
    };
    sentences.par_iter().filter(|sentence| !heard(sentence)).collect()
}

#[test]
fn every_verb_is_heard_with_every_noun() {
    for (name, sentences) in [
        ("takes", product(&[REFUSALS, TAKES, TAKEN], " ")),
        ("requests", product(&[REQUESTS, OF, &[" "], FAILS], "")),
        ("limits", product(&[USES, PASSES, BOUNDS], " ")),
        ("sizes", product(&[LARGE, TOO_LARGE], " ")),
        ("lacks", product(&[LACKS, MEMORY], " ")),
        ("states", product(&[SPACES, SPENT], " ")),
    ] {
        let unheard = unheard(&sentences);
        println!("{name}: {} of {} heard", sentences.len() - unheard.len(), sentences.len());
        assert!(unheard.len() * 20 <= sentences.len(), "{name}: {} of {}: {unheard:?}", unheard.len(), sentences.len());
    }
}

#[test]
fn the_same_verbs_of_other_matters_are_left_alone() {
    for (name, sentences) in [
        ("takes", product(&[REFUSALS, TAKES, OTHERS], " ")),
        ("reads", product(&[REFUSALS, READS, TOLD], " ")),
        ("limits", product(&[WATCHED, PASSES, BOUNDS.get(..1).unwrap()], " ")),
        ("lacks", product(&[LACKS, MATTER], " ")),
    ] {
        let unheard = unheard(&sentences);
        println!("{name}: {} of {} left alone", unheard.len(), sentences.len());
        let heard: Vec<&String> = sentences.iter().filter(|sentence| !unheard.contains(sentence)).collect();
        assert!(heard.is_empty(), "{name}: {heard:?}");
    }
}
