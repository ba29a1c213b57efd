//! Lines that speak of a failure without reporting one: source code, documentation, advice.

/// True for a line that holds a message's words without being one: source code, documentation, advice.
/// Only for texts without figures; a figure is never hypothetical. What counts stands in front of the words, at `hit`.
pub(super) fn is_code_or_advice(line: &str, hit: usize) -> bool {
    const CODE: [&str; 12] = [
        "except ",
        "raise ",
        "if ",
        "elif ",
        "print(",
        "assert",
        "logger.",
        "logging.",
        "warnings.",
        "return ",
        "case ",
        "#define",
    ];
    const ADVICE: [&str; 16] = [
        "avoid", "prevent", "may ", "might ", "could ", " can ", "if you", "If you", "when you", "would ", "避免",
        "防止", "可能", "如果", "如遇", "解决",
    ];
    let before = line.get(..hit).unwrap_or_default().trim_start();
    CODE.iter().any(|code| before.starts_with(code))
        || line.contains(" in str(")
        // A call with a string literal is a program's line; Python shows exceptions in single quotes.
        || before.contains("(f\"")
        || before.contains("(\"")
        || ADVICE.iter().any(|word| before.contains(word))
}

/// True for the line of a test that passed, whose name may hold any words: `✓ retries after heap out of memory (2 ms)`,
/// `ok 12 - …`, `--- PASS: …`.
pub(super) fn is_passed_test(line: &str) -> bool {
    let start = line.trim_start();
    let numbered = || start.strip_prefix("ok ").is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    start.starts_with(['✓', '✔', '√']) || start.starts_with("--- PASS: ") || numbered()
}

/// True for what Prometheus' text says of a metric: `# HELP quaxel_oom_total Containers that ran out of memory`.
pub(super) fn is_of_a_metric(line: &str) -> bool {
    let mut words = line.trim_start_matches(['#', ' ']).split(' ');
    words.next().is_some_and(|word| matches!(word, "HELP" | "TYPE"))
        && words.next().is_some_and(|name| name.contains('_'))
}

/// True for a line of a program that compares with an error's name.
pub(super) fn is_comparison(line: &str) -> bool {
    ["== cudaErrorMemoryAllocation", "!= cudaErrorMemoryAllocation", "== CUDA_ERROR_OUT_OF_MEMORY", "case "]
        .iter()
        .any(|code| line.contains(code))
}

/// True where what stands before some words is a command that searches for them: `$ dmesg -T | grep -i 'oom|`.
pub(super) fn is_search(before: &str) -> bool {
    const TOOLS: &[&str] = &["grep", "egrep", "fgrep", "zgrep", "rg", "ag", "findstr", "select-string", "sls"];
    let mut last = "";
    before.split_whitespace().any(|word| {
        // At a line's start, behind a prompt, a pipe or the end of another command.
        let starts =
            last.is_empty() || last.ends_with(['$', '#', '%', '>', '|', ';', '&']) || matches!(last, "sudo" | "git");
        last = word;
        starts && TOOLS.iter().any(|tool| word.eq_ignore_ascii_case(tool))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_search_for_words_is_told_from_a_program_that_says_them() {
        for before in [
            "ann@box:~$ dmesg -T | grep -i -E 'oom|",
            "$ grep -ri '",
            "# journalctl -k | egrep '",
            "PS C:\\work> Select-String '",
            "sudo grep \"",
            "~/src/grid$ git grep -n -i '",
        ] {
            assert!(is_search(before), "{before}");
        }
        for before in ["grep: ", "line 4: 18112 Killed cat big", "Killed process 12 (grep) ", "the grep of it ran "] {
            assert!(!is_search(before), "{before}");
        }
    }
}
