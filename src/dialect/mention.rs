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

/// True for a line of a program that compares with an error's name.
pub(super) fn is_comparison(line: &str) -> bool {
    ["== cudaErrorMemoryAllocation", "!= cudaErrorMemoryAllocation", "== CUDA_ERROR_OUT_OF_MEMORY", "case "]
        .iter()
        .any(|code| line.contains(code))
}
