//! Whether a line reports that memory ran out, or supposes it, asks for it, counts it, advises against it.

use super::motion;
use super::standing::{Level, level};
use super::words::{self, FAILURES, Spoken};
use crate::dialect::{field, mention};

/// The words by which a line reports that memory ran out. A sentence that supposes or asks unsays nothing that an
/// earlier one of the line has stated: `failed to allocate 12 bytes. Out of memory?`
pub(super) fn reported(line: &str, lower: &str) -> Option<Spoken> {
    /// Sentences that are looked at, from the one that holds the words back to the line's first.
    const SENTENCES: usize = 4;
    let (mut line, mut lower) = (line, lower);
    for _ in 0..SENTENCES {
        let spoken = words::spoken(line, lower)?;
        let of = if spoken.named { line } else { lower };
        let lead = of.get(..spoken.at)?;
        let behind = of.get(spoken.end..).unwrap_or_default().to_lowercase();
        let said = of.get(spoken.at..spoken.end).unwrap_or_default();
        if mention::is_search(lead) {
            return None;
        }
        if reports(line, &field::without_month(&lead.to_lowercase()), &behind, said)
            && !taken_out(line, lower, lead, spoken)
        {
            return Some(spoken);
        }
        let end = lead.rfind(". ").max(lead.rfind("! "))? + 1;
        (line, lower) = (line.get(..end)?, lower.get(..end)?);
    }
    None
}

/// True where the words are of something that is taken out of memory. A sentence of its own begins with a capital, and
/// a line that calls itself an error reports one.
fn taken_out(line: &str, lower: &str, lead: &str, spoken: Spoken) -> bool {
    let words = lower.get(spoken.at..).unwrap_or_default();
    let begins =
        |words: &str| line.len() == lower.len() && line.get(spoken.at..).is_some_and(|at| at.starts_with(words));
    let capital = begins("Out of ") || begins("OUT OF ");
    !spoken.named
        && words.starts_with("out of ")
        && !capital
        && level(line) != Some(Level::Error)
        && motion::takes_out(lower, lead)
}

/// True for a line that reports a failure, rather than speaking of one that may come, does not come, or is dealt with
/// by code.
fn reports(line: &str, before: &str, behind: &str, said: &str) -> bool {
    const SUPPOSED: &[&str] = &[
        "if ",
        "in case",
        "avoid",
        "prevent",
        " may ",
        " might ",
        "would ",
        "could run",
        "can run",
        "can cause",
        "could cause",
        "may cause",
        "to reduce",
        "reduce the",
        "risk",
        "unless",
        "likely",
        "whether",
        "without",
        "never",
        "not an ",
        "not a ",
        "no longer",
        "handling",
        "handler for",
        "handle ",
        "how to",
        "what to do",
        "should",
        "check for",
        "checking for",
        "such as",
        "e.g.",
        "for example",
        "documentation",
        "protect",
        "safeguard",
        "until ",
        "simulating ",
        "simulated ",
        "detect ",
        "detects ",
        "detecting ",
        "when you",
        "common cause",
        "for out of",
        "on out of",
        "mitigat",
        "tip:",
        "hint:",
        "fix:",
        "fixed",
        "fixes",
        "issue ",
        "issues ",
        "question ",
        "error indicates",
        "http://",
        "https://",
        "避免",
        "防止",
        "如果",
        "可能",
        "以免",
        "если",
        "falls ",
        "can result",
        "found for",
        " 0 workers",
        "pour éviter",
        "para evitar",
        "чтобы",
        "防ぐ",
        "방지",
    ];
    const CODE: &[&str] = &[
        "except ",
        "raise ",
        "throw new",
        "throw ",
        "return ",
        "assert",
        "#define",
        "case ",
        "print(",
        "printf(",
        "logger.",
        "logging.",
        "def ",
        "class ",
        "import ",
        "catch",
        "enum ",
        "const ",
        "static ",
        "fn ",
        "//",
        "/*",
        "* ",
        "# ",
        "<!--",
        "elif ",
        "else:",
        "try:",
        "warnings.",
        "raises(",
        "console.",
        "fix ",
        "=== run",
        "--- pass",
    ];
    // States, causes of a collector's run, and refusals that the kernel notes without killing anybody.
    const NOTED: &[&str] = &[
        "__vm_enough_memory",
        // V8's trace of a collection.
        "scavenge might not succeed",
        // What may not be locked is used all the same.
        "mlock",
        "vmalloc: allocation failure",
        "page allocation failure",
        "(allocation failure)",
        "hasinsufficientmemory",
        // Of a palette, which has places and no bytes.
        "allocate color",
        "allocate colour",
        // Advice of Paddle's.
        "solve the out of memory problem",
        // An earlier fault of another kind, which every later call returns.
        "result = 700",
        "has insufficient memory available",
    ];
    let lower = line.to_lowercase();
    if NOTED.iter().any(|words| lower.contains(words)) {
        return false;
    }
    // `could not allocate oversize buffer: CL_SUCCESS`: the call's own word.
    let status = behind.get(..behind.find("_success").unwrap_or(0)).unwrap_or_default();
    if !status.is_empty() && status.len() < 120 && !FAILURES.iter().any(|word| status.contains(word)) {
        return false;
    }
    // `34:  -e "grid: memory exhausted` of a listing with its lines' numbers: the text of a script.
    let listed = before.trim_start().split_once([':', '-']).is_some_and(|(number, rest)| {
        let digits = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
        digits && rest.starts_with(['\t', ' ']) && rest.matches('"').count() % 2 == 1
    });
    if listed {
        return false;
    }
    // A disk's space.
    let disk = ["disk", "space left on device", "space on device", "file system", "filesystem"];
    let own = (before.rsplit(". ").next().unwrap_or_default(), behind.split(". ").next().unwrap_or_default());
    let spoken_of = |words: &str| own.0.contains(words) || said.to_lowercase().contains(words) || own.1.contains(words);
    if disk.iter().any(|words| spoken_of(words)) && !lower.contains("memory") && !lower.contains("ram") {
        return false;
    }
    let start = before.trim_start();
    // `* Device #1: Not enough …`: of a list of devices, what one of them said.
    let of_a_device = ["* device #", "- device #"].iter().any(|mark| start.starts_with(mark));
    let raised = super::rewrap::begins_with_an_exception(line.trim_start());
    // `Assertion failed: Failed to allocate …`
    let code = CODE.iter().any(|code| start.starts_with(code)) && !start.starts_with("assertion fail");
    if code && !raised && !of_a_device
        || line.contains(" in str(")
        || ["(\"", "(f\""].iter().any(|mark| before.find(mark).is_some_and(|at| !prints_an_error(&before[..at])))
    {
        return false;
    }
    if line.contains(" import ") || line.trim_start().starts_with("from ") && line.contains("import") {
        return false;
    }
    // `[ RUN      ] Allocator.OutOfMemory`, `[  FAILED  ] …`: a test by its name.
    let mark = start.strip_prefix('[').and_then(|rest| rest.split_once(']')).map(|(mark, _)| mark.trim());
    if mark.is_some_and(|mark| {
        matches!(mark, "run" | "ok" | "pass" | "passed" | "failed" | "skip" | "skipped" | "disabled")
    }) {
        return false;
    }
    // `memory_limit_exceeded_total 3`: a counter.
    if ["_total", "_count", "s_total"].iter().any(|ending| behind.starts_with(ending)) {
        return false;
    }
    // `lower it when the GPU runs out of memory`: what ran out is told of in the past.
    let clause = before.rsplit(['.', ',', ';', ':']).next().unwrap_or_default();
    if clause.trim_end().ends_with(" runs") && clause.contains(" when ") {
        return false;
    }
    // The words stand in the middle of a longer name: `rect_out_of_memory_box`.
    let begun = before.ends_with('_') || said.starts_with('_') && before.ends_with(|c: char| c.is_alphanumeric());
    let inside = said.contains('_') && begun && behind.starts_with('_');
    if inside && line.get(before.len()..before.len() + said.len()).is_some_and(|words| words == said.to_lowercase()) {
        return false;
    }
    // `would be too large to fit`, `would exceed the limit`: refused before it was tried.
    let refused_before = |lead: &str, words: &str| before.strip_suffix(lead).filter(|_| said.starts_with(words));
    let before = refused_before("would be ", "too ").or(refused_before("would ", "exceed")).unwrap_or(before);
    // `… would use 3 GiB … (MEMORY_LIMIT_EXCEEDED)`: the error's name stands by itself.
    let code = said.contains('_') && before.trim_end().ends_with(['(', '[']);
    // `AssertionError: … may be larger than GPU memory size …`: the comparison was made, however carefully it is put.
    let compared = raised && matches!(said, "larger than" | "greater than" | "more than");
    // `was stopped by the system (signal 9), most likely out of memory`: that it ended is told, and why is guessed.
    const ENDED: [&str; 7] = [" stopped", " killed", " terminated", " crashed", " died", " exited", " aborted"];
    // `malloc() returned NULL; heap memory is likely exhausted`
    let guessed = before.trim_end().ends_with("likely")
        && (before.contains(" returned null") || ENDED.iter().any(|word| before.contains(word)));
    // `(If you get memory allocation errors …) (errno: 12 | …)`: an aside that is closed supposes nothing more.
    let aside = before.rsplit_once("(if ").and_then(|(_, aside)| aside.split_once(") "));
    let led = aside.map_or(before, |(_, rest)| rest);
    // `While downloading https://example.org/a.run: Not enough memory`: what was being read.
    let address = led.trim_end().strip_suffix(':').and_then(|led| led.rsplit(' ').next()).unwrap_or_default();
    let careful = |word: &str| {
        compared && matches!(word, " may " | " might ")
            || guessed && word == "likely"
            || word.ends_with("://") && address.contains(word)
    };
    if !code && SUPPOSED.iter().any(|word| supposes(led, word) && !careful(word)) {
        return false;
    }
    const STATED: &[&str] = &[
        "is ",
        "are ",
        "means",
        "refers",
        "errors are",
        "occurs when",
        "happens when",
        "(expected)",
        "can ",
        "may ",
        "could ",
        "might ",
    ];
    // `Out of Memory! Trying to continue... (expected by oomtest)`
    if STATED.iter().any(|words| behind.trim_start().starts_with(words)) || behind.contains("(expected by ") {
        return false;
    }
    // What is named by the words is a thing that deals with it: `out of memory protection`.
    const THINGS: &[&str] = &[
        "protection",
        "killer",
        "handler",
        "handling",
        "guard",
        "detection",
        "detector",
        "policy",
        "policies",
        "watchdog",
        "behavior",
        "behaviour",
        "action",
        "callback",
        "hook",
        "notifier",
        "notifiers",
        "notification",
        "notifications",
        "listener",
        "listeners",
        "score",
        "events",
        "kills",
        "recovery",
        "monitor",
        "safety",
        "prevention",
        "threshold",
        "tests",
        "situations",
        "conditions",
        "problems",
        "issues",
        "risk",
    ];
    // `insufficient memory bandwidth`: how fast it is.
    let behind_it = behind.trim_start().strip_prefix("memory ").unwrap_or_default();
    if behind_it.starts_with("bandwidth") || behind_it.starts_with("clock") {
        return false;
    }
    let thing = behind.trim_start_matches([' ', '-', '_']).split(|c: char| !c.is_alphabetic()).next();
    if thing.is_some_and(|thing| THINGS.contains(&thing)) {
        return false;
    }
    // The word that holds it is an option, a setting, a test, a counter or a function.
    let word = before.rsplit(char::is_whitespace).next().unwrap_or_default();
    let option = word.starts_with("--") && !word.starts_with("---")
        || word.starts_with("-x")
        || word.starts_with("-d")
        || word.starts_with("test")
        || word.contains("test_")
        || word.contains("::test");
    if option || word.contains("on_") || word.contains("num_") || word.contains("max_") || word.contains("is_") {
        return false;
    }
    let tail = behind.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || c == '_');
    // `com.acme.OutOfMemoryHandlerTest`
    let rest_of_name = behind.strip_suffix(tail).unwrap_or_default();
    if ["test", "tests", "testcase", "spec"].iter().any(|name| rest_of_name.ends_with(name)) {
        return false;
    }
    let value = tail.trim_start_matches(['"', '\'', ' ', ':', '=', ')', ',', '(']);
    let zero =
        value.starts_with('0') && !value[1..].starts_with(|c: char| c.is_ascii_digit() || matches!(c, '.' | 'x'));
    let denied =
        ["false", "none", "no,", "never", "null", "disabled", "0 times"].iter().any(|word| value.starts_with(word));
    if tail.len() < behind.len().max(1) && tail.starts_with('(') && said.contains('_') && tail.starts_with("()") {
        return false;
    }
    let counted = tail.trim_start().starts_with([':', '=', '"']) || before.ends_with("0 ");
    // `oom 0` of a cgroup's events.
    let no_oom = said.trim().eq_ignore_ascii_case("oom") && behind.trim_start().starts_with("0 ");
    if no_oom
        || counted && (zero || denied)
        || before.trim_end().strip_suffix(" 0").is_some_and(|lead| counts_cases(lead, said))
        || before.trim_end().ends_with(" no")
        || before == "no "
    {
        return false;
    }
    if ["passed", "skipped", "xfail", "... ok", "[ ok ]", "not found", "all resolved"]
        .iter()
        .any(|word| behind.contains(word))
    {
        return false;
    }
    // `out of memory did not occur`; what else did not come about is said behind a comma, or of the request.
    let denied = ["did not ", "was not "].iter().any(|words| {
        behind.split([',', ';', ':']).next().is_some_and(|clause| clause.contains(words))
            && !behind.contains("not succeed")
    });
    if denied {
        return false;
    }
    // A driver that is too old and a device that is not there refuse whatever is asked of them.
    if ["driver version is insufficient", "no cuda-capable device"].iter().any(|reason| behind.contains(reason)) {
        return false;
    }
    // Fortran's word on an array that was made before: a fault of the program's.
    if behind.contains("is already allocated") {
        return false;
    }
    // `not enough memory: is the number of qubits too large?`: a program says it, in small letters, before it asks.
    let says_first = before.trim().is_empty() && line.trim_start().starts_with(|c: char| c.is_lowercase());
    let asks_then = behind.split_once(": ").is_some_and(|(rest, _)| rest.split_whitespace().count() <= 2);
    let question = line.trim_end().ends_with(['?', '？']) && !(says_first && asks_then);
    // `*** OUT OF MEMORY ***` is no heading; `* out of memory` and `**out of memory**` are.
    let opening = line.trim_start();
    let stars = opening.len() - opening.trim_start_matches('*').len();
    let bold = stars == 2 && opening[stars..].starts_with(|c: char| c.is_alphanumeric());
    // `**ERROR**: out of memory` prints its level so.
    // `- **Exception Message:** …`: a field of a report of errors.
    let of_an_error = |label: &str| {
        level(label) == Some(Level::Error)
            || label.split(|c: char| !c.is_alphabetic()).any(|word| matches!(word, "ERROR" | "EXCEPTION" | "FAILURE"))
    };
    let bold =
        bold && opening[stars..].split_once("**").is_none_or(|(label, _)| !of_an_error(&label.to_ascii_uppercase()));
    // A row of a table has several cells; a message in a frame is one.
    let row = opening.starts_with('|') && opening.trim_end().trim_matches('|').contains('|');
    // ` *ERROR in …`, `*Error*: …`, as solvers and tools of astronomy print their level.
    let named = opening[stars..].split([' ', '*']).next().unwrap_or_default().to_ascii_uppercase();
    let item = stars == 1 && level(&named) != Some(Level::Error);
    // `- error: …`, as answers are printed in YAML, and `- 15:04:10.226 ERROR: …`, as some logs begin their lines.
    let listed = opening.strip_prefix("- ").is_some_and(|rest| {
        let key = rest.split(':').next().unwrap_or_default().to_ascii_uppercase();
        let stamped = rest.starts_with(|c: char| c.is_ascii_digit()) && level(rest) == Some(Level::Error);
        !of_an_error(&key) && !stamped
    });
    // `#17 31.09 …`, as BuildKit prints what a step of an image's build says.
    let built = opening.strip_prefix('#').is_some_and(|rest| {
        let mut words = rest.split(' ');
        let number = |word: Option<&str>| word.is_some_and(|word| word.parse::<f64>().is_ok());
        number(words.next()) && number(words.next())
    });
    // `#ERROR(solver): …` is none.
    let heading = opening.starts_with('#') && !opening.starts_with("#ERROR") && !built
        || row
        || !of_a_device && (item || bold || listed);
    !question && !heading
}

/// True for what leads to an error that is printed with its parts in quotes, `Error: Proofs("…")`: a call in a
/// program's text has none of it.
fn prints_an_error(lead: &str) -> bool {
    ["`err` value: ", "panicked at", "error: ", "error=", "exception: ", "failed: ", "caused by: "]
        .iter()
        .any(|words| lead.contains(words))
}

/// True where a word that supposes or advises stands in `before`, and not as the end of another: `unprotected`. An
/// address names where a request went that failed, unless the line only refers to it.
fn supposes(before: &str, word: &str) -> bool {
    let mut places = before.match_indices(word);
    if word.starts_with("http") {
        return places.any(|(at, _)| {
            let behind = before.get(at..).unwrap_or_default();
            !["error", "fail", "exception"].iter().any(|word| behind.contains(word))
        });
    }
    let whole = word.starts_with(|c: char| c.is_ascii_alphanumeric());
    places.any(|(at, _)| {
        let lead = &before[..at];
        // `failed to handle the request: out of memory`
        let failed =
            word == "handle " && ["failed to ", "unable to ", "cannot ", "not "].iter().any(|w| lead.ends_with(w));
        // `alloc_and_check_handle :Aborting …`: the end of a function's name.
        !(failed || whole && lead.ends_with(|c: char| c.is_ascii_alphanumeric() || c == '_'))
    })
}

/// True where a nought between `lead` and the words counts what they name, `0 out of memory`. It numbers a thing behind
/// that thing's name, and nothing can be counted of a clause: `Node 0 failed to allocate`.
fn counts_cases(lead: &str, said: &str) -> bool {
    const NUMBERED: &[&str] = &[
        "node",
        "rank",
        "gpu",
        "device",
        "worker",
        "process",
        "thread",
        "core",
        "task",
        "host",
        "stage",
        "shard",
        "executor",
        "instance",
        "cuda",
        "replica",
        "partition",
        "card",
        "slot",
        "job",
    ];
    const CLAUSES: &[&str] = &["fail", "unable", "cannot", "can't", "can not", "could", "ran ", "exceed", "error"];
    let word = lead.trim_end_matches([' ', '#', ':']).rsplit(|c: char| !c.is_ascii_alphabetic()).next();
    !word.is_some_and(|word| NUMBERED.contains(&word)) && !CLAUSES.iter().any(|clause| said.starts_with(clause))
}
