//! Whether something is taken out of memory, `reading the file out of shared memory`, where the same words without a
//! verb of motion say that memory ran out.

use super::words::FAILURES;

/// Verbs by which things come out of memory, or are kept out of it.
const VERBS: &[&str] = &[
    "read", "load", "copy", "move", "stream", "evict", "offload", "swap", "keep", "take", "pull", "transfer", "unload",
    "push", "spill", "fetch", "map", "page", "drop", "free", "release", "flush", "write", "migrate", "bring", "shift",
    "pop", "serve", "dump", "export", "restore", "save", "send", "stage", "upload", "download", "purge", "remove",
    "carve", "extract", "unpin", "unmap", "leave", "paste", "gather", "sweep", "get",
];

/// Forms that follow no rule, and participles of verbs whose other forms ask for memory.
const FORMS: &[&str] =
    &["kept", "took", "taken", "wrote", "written", "spilt", "brought", "sent", "left", "swept", "allocated", "built"];

/// Who has this directly before `out of` ran out of it.
const STATES: &[&str] =
    &["ran", "run", "runs", "running", "is", "was", "were", "are", "be", "been", "got", "goes", "went", "now", "being"];

/// What besides [`FAILURES`] says that the line reports a failure, whatever else it says.
const FAILING: &[&str] = &["kill", "exhaust", "refus", "died", "unsuccessful", "giving up"];

/// Words that open another clause.
const CLAUSES: &[&str] = &[" and ", " then ", " but ", " when ", " while ", " because ", " so ", " as ", " since "];

/// How a word of a clause is a verb of motion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// As in a dictionary: a noun as well, `page`, `the copy`.
    Plain,
    Inflected,
}

fn form(word: &str) -> Option<Form> {
    if FORMS.contains(&word) { Some(Form::Inflected) } else { form_of(word, VERBS) }
}

fn form_of(word: &str, verbs: &[&str]) -> Option<Form> {
    if verbs.contains(&word) {
        return Some(Form::Plain);
    }
    let stems = ["s", "es", "d", "ed", "ing"].iter().filter_map(|ending| word.strip_suffix(ending));
    let regular = |stem: &str| {
        let doubled = || {
            let last = stem.chars().next_back();
            last.and_then(|last| stem.strip_suffix(last).filter(|stem| stem.ends_with(last) && verbs.contains(stem)))
                .is_some()
        };
        let silent = || verbs.iter().any(|verb| verb.strip_suffix('e') == Some(stem));
        let ending_in_y =
            || stem.strip_suffix('i').is_some_and(|stem| verbs.iter().any(|v| v.strip_suffix('y') == Some(stem)));
        verbs.contains(&stem) || doubled() || silent() || ending_in_y()
    };
    stems.into_iter().any(regular).then_some(Form::Inflected)
}

/// True where what stands `before` the words `out of …`, in lower case, says that a thing comes out of memory, and no
/// word of the whole line says that anything failed.
pub(super) fn takes_out(lower: &str, before: &str) -> bool {
    if FAILURES.iter().chain(FAILING).any(|word| lower.contains(word)) {
        return false;
    }
    let clause = last_clause(before).trim();
    let words: Vec<&str> = clause
        .split(|c: char| !(c.is_alphanumeric() || matches!(c, '\'' | '_')))
        .filter(|word| !word.is_empty())
        .collect();
    let Some((last, ahead)) = words.split_last() else { return false };
    // `model loading out of memory`: what was being done, not what is moved; `loading out of memory` alone is an act.
    let names_work = last.ends_with("ing") && ahead.last().is_some_and(|word| !STATES.contains(word));
    if STATES.contains(last) || names_work {
        return false;
    }
    words.iter().enumerate().any(|(i, word)| match form(word) {
        Some(Form::Inflected) => true,
        // `copy the tensors out of memory`, `to page it out of memory`: an order or an infinitive with its object. A
        // noun stands behind others and before nothing: `texture upload out of memory`.
        Some(Form::Plain) => {
            let led = i.checked_sub(1).and_then(|i| words.get(i));
            i + 1 < words.len() && led.is_none_or(|led| matches!(*led, "to" | "will" | "can" | "not" | "we" | "they"))
        }
        None => false,
    })
}

/// The clause that a text ends in.
fn last_clause(text: &str) -> &str {
    let marks = [
        ": ", "; ", ", ", ". ", "! ", "? ", "...", "…", " - ", " -- ", "– ", "— ", "|", "] ", ") ", "\t", "=> ", "-> ",
    ];
    let start = marks.iter().chain(CLAUSES).filter_map(|mark| text.rfind(mark).map(|at| at + mark.len())).max();
    text.get(start.unwrap_or(0)..).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use crate::dialect::{self, Standing};
    use crate::input::Document;

    fn failures(line: &str) -> usize {
        let document = Document::from_text("-", &format!("step 1\n{line}\n"));
        dialect::events(&document).iter().filter(|event| event.standing == Standing::Failure).count()
    }

    #[test]
    fn what_is_taken_out_of_memory_did_not_run_out() {
        for line in [
            "Reading dataset out of memory-mapped file train.bin",
            "loaded model out of shared memory in 3.2 s",
            "Copying tensors out of pinned memory",
            "Offloading 12 layers out of GPU memory to the CPU",
            "kept out of shared memory by --no-shm",
            "swapped out of memory 4 models",
            "2026-02-03 10:00:00 INFO streams tiles straight out of host memory",
            "Paging the index out of memory",
            "copy the weights out of device memory",
            "INFO freed 3 buffers, moving the rest out of VRAM",
            "pages were flushed out of memory",
            "model dropped out of memory after 300 s idle",
        ] {
            assert_eq!(failures(line), 0, "{line}");
        }
    }

    #[test]
    fn a_failure_that_tells_what_was_done_stays_one() {
        for line in [
            "Failed to load model: out of memory",
            "copy failed: out of host memory",
            "loading shard 3/8: out of memory",
            "Loading model... Out of memory!",
            "solver ran out of memory while copying the mesh",
            "ERROR reading tile 4 out of memory",
            "texture upload out of memory",
            "GPU is out of memory",
            "process loading the mesh went out of memory",
            "reading tile 4 - out of memory",
            "writing the index, out of memory",
            "loaded 12 layers and ran out of memory",
            "Out of shared memory",
            "Model loading out of memory",
            "GPU worker restoring out of memory",
            "ééing out of memory",
        ] {
            assert_eq!(failures(line), 1, "{line}");
        }
    }
}
