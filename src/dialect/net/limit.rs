//! Whether a message names a limit that somebody set: a heap's size, a quota, a budget. What it refuses may
//! be there.

/// Words for a limit. Nobody says "budget" or "quota" of what a machine has.
const LIMITS: &[&str] = &["limit", "quota", "budget", "ceiling", "watermark", "allowed memory", "heap", "maximum"];

/// What is said of a limit that was reached.
const REACHED: &[&str] =
    &["exceed", "exhaust", "reached", "reaches", "hit the", "over the", "above the", "beyond the", "larger than"];

/// Who was killed at a limit was not refused a request.
const KILLED: &[&str] = &["kill", "terminated by", "evict", "sigterm", "signal 9"];

/// True for a message in lower case that says that a limit refused: it was reached, or its size is `printed`.
pub(super) fn refused(lower: &str, printed: bool) -> bool {
    let says = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    // PostgreSQL allows a GiB for one piece, whatever there is.
    // `Too little memory given for the algorithm`: of what its user had given it.
    let given = ["given", "granted", "assigned", "allotted", "specified"];
    let given = given.iter().any(|word| lower.contains(&format!("memory {word}"))) && says(&["too little", "enough"]);
    let outright = given || says(&["out of memory quota", "invalid memory alloc request size"]);
    (printed || says(LIMITS) && says(REACHED) || outright) && !says(KILLED)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_that_was_reached_is_told_from_a_machine_that_is_full() {
        for text in [
            "solver: out of memory: reached the memory limit set by -memlimit",
            "heap exhausted during garbage collection: 1024 bytes available",
            "error 1105: out of memory quota!",
            "request aborted: process memory limit exceeded",
            "query aborted, its budget is exhausted",
            "fatal error: too little memory given for the local algorithm!",
        ] {
            assert!(refused(text, false), "{text}");
        }
        for text in [
            "cannot allocate memory: 34359738368 bytes requested",
            "out of memory allocating the index. please try again on a computer with more memory",
            "not enough memory available, lower the limit",
            "task exceeded its memory limit and was killed",
        ] {
            assert!(!refused(text, false), "{text}");
        }
        assert!(refused("not enough memory, limit=12148002000 used=12018500250", true));
        assert!(!refused("the job used 9.1 GB of 9 GB and was killed", true));
    }

    #[test]
    fn a_program_in_no_list_that_names_its_limit_is_refused_by_it() {
        let signed = |text: &str| {
            let events = crate::dialect::events(&crate::input::Document::from_text("-", text));
            events.first().map(|event| event.has(crate::domain::Sign::RefusedByLimit))
        };
        let packer = "packer: out of memory: 1568 MiB of memory is required. The limit is 181 MiB.\n";
        assert_eq!(signed(packer), Some(true));
        assert_eq!(signed("packer: out of memory: cannot allocate 1568 MiB\n"), Some(false));
    }
}
