//! The net beneath all other readers: a line that says in any program's words that memory ran out.
//!
//! A line counts where it speaks of memory that ran out and stands in an error's context. Which program it was is told
//! by [`super::naming`], what ran out and what the figures mean by the words around them. All of that is weaker than a
//! reader that knows its program, so each event carries [`Sign::Generic`].

mod clause;
mod limit;
mod motion;
mod outcome;
mod roles;
mod state;
mod words;

pub use outcome::{is_prompt, keeps_a_trace};

use super::joined::begins_with_stamp;
use super::pytorch::library;
use super::record::Record;
use super::{Dialect, Event, Fact, Resource, Sign, Standing, field, naming, rewrap, syslog};
use crate::domain::Program;
use crate::domain::program::{Kind, PytorchAllocator};
use crate::evidence::{Known, Span};
use crate::input::Document;
use crate::text;
use crate::text::Text;
use crate::units::{Base, Figure};
use outcome::After;
use std::cell::Cell;
use words::{FAILURES, Spoken};

pub const DIALECT: Dialect = Dialect { name: "net", triggers: words::TRIGGERS, read };

/// Longer lines are dumps; only the part around the words is looked at.
const LONGEST: usize = 4 << 10;
/// Lines behind the message that may continue it with figures, and before it that may have begun it.
const CONTINUED: usize = 6;
const BEGUN: usize = 2;
/// Lines around it whose words may tell what ran out.
const AROUND: usize = 12;

fn read(document: &Document, position: usize) -> Option<Event> {
    let (framed, _) = framed(document, position).unzip();
    let line = framed.as_deref().unwrap_or_else(|| clipped(field::text(document, position)));
    let lower = line.to_lowercase();
    // Lower case may be longer or shorter in other scripts; places are only compared where both agree.
    let spoken = reported(line, &lower)?;
    if of_another_code(line) {
        return None;
    }
    let of = if spoken.named { line } else { lower.as_str() };
    let behind = of.get(spoken.end..).unwrap_or_default().to_lowercase();
    // What follows a device that was removed: `Device Remove Reason (HRESULT): 0x887a002b`.
    if field::before(position, CONTINUED)
        .any(|at| of_another_code(field::text(document, at)) && field::text(document, at).contains("HRESULT"))
    {
        return None;
    }
    if in_mail(document, position)
        || outcome::is_listed(document, position)
        || outcome::is_typed(document, position, line)
    {
        return None;
    }
    // `Number of runs that exceeded the memory limit: 7`: a sum, at the end of work that came to one.
    if lower.trim_start().starts_with("number of ") {
        return None;
    }
    if of_a_disk(document, position, &lower)
        || is_remark(line)
        || in_a_docstring(document, position)
        || goes_on_with_a_supposition(document, position, lower.get(..spoken.at).unwrap_or_default())
        || in_manual(document, position)
        || warns_before_the_program(document, position)
    {
        return None;
    }
    let standing = match standing(document, position, line, &lower, &behind, spoken)? {
        Standing::Harmless if outcome::counts_failures(document, position) => Standing::Failure,
        standing => standing,
    };

    let named = naming::program(document, position);
    let resource = resource(document, position, &lower, spoken, named);
    let program = named.unwrap_or_else(|| interface(document, position, &lower, resource));
    let mut event = field::event(document, position, "net", program, resource);
    event.sign(Sign::Generic);
    figures(document, position, &mut event, spoken.at, &lower, Base::Binary);
    let place = event.at;
    device(&mut event.facts.device, line, place);
    field::note_pid(&mut event, writer(line).or_else(|| writer_near(document, position)));
    // The place of a failure on the line before its words: `[CUDA] Error gpu 1: <mesh.cu>:12`.
    if event.facts.device.value().is_none() && event.resource.on_device() {
        let places = field::before(position, BEGUN).map(|at| clipped(field::text(document, at)));
        for line in places.filter(|line| FAILURES.iter().any(|word| line.to_ascii_lowercase().contains(word))) {
            device(&mut event.facts.device, line, place);
        }
    }
    if resource == Resource::Shm && of_system_v(document, position) {
        event.sign(Sign::SystemV);
    }
    super::notice::settle(&mut event);
    if limit::refused(&lower, event.facts.get(super::Fact::Limit).is_some()) {
        event.sign(Sign::RefusedByLimit);
    }
    // CL_INVALID_BUFFER_SIZE: no single buffer may be as large, whatever is free.
    let by_number = lower.contains("clcreatebuffer") && lower.contains("-61");
    if lower.contains("invalid buffer size") || lower.contains("invalid_buffer_size") || by_number {
        event.sign(Sign::BufferSizeLimit);
    }
    // A program that takes every `RuntimeError` for want of memory, below what really failed.
    let raised = |at: usize| field::text(document, at).contains("device-side assert triggered");
    if event.facts.sizes.is_empty()
        && field::behind(document, position, AROUND * 4).any(raised)
        && library::assertion_nearby(document, position)
    {
        library::echoes_an_assertion(&mut event);
        return Some(event);
    }
    if standing == Standing::Harmless {
        event.sign(Sign::CaughtAndContinued);
        event.make_harmless(got_over());
    }
    Some(event)
}

/// True where the call that made the segment stands in the message or right behind it: `shmget(key=1, size=56, 03600)`.
fn of_system_v(document: &Document, position: usize) -> bool {
    const BEHIND: usize = 3;
    let lines = || std::iter::once(position).chain(field::behind(document, position, BEHIND));
    lines().any(|at| {
        ["shmget(", "shmget:", "SHMMNI", "SHMALL"].iter().any(|word| field::text(document, at).contains(word))
    })
}

/// True for a line whose call gave a code of its driver for something else than memory: `Call to cuMemAlloc results in
/// CUDA_ERROR_LAUNCH_FAILED` is a kernel's crash, reported by the next call.
fn of_another_code(line: &str) -> bool {
    // DXGI's codes for a device that was removed, hangs or was reset (winerror.h).
    const REMOVED: &[&str] = &["887a0005", "887a0006", "887a0007", "887a0020", "887a002b"];
    let lower = line.to_ascii_lowercase();
    if REMOVED.iter().any(|code| lower.contains(code)) {
        return true;
    }
    // Vulkan's codes for what an extension refused: a handle, a layout. Those of its pools are about memory.
    const POOLS: &[&str] = &["1000069000", "1000161000"];
    if let Some((_, code)) = line.split_once(" -").filter(|_| lower.contains("vk"))
        && code.starts_with("1000")
        && code.bytes().take_while(u8::is_ascii_digit).count() == 10
    {
        return !POOLS.iter().any(|pool| code.starts_with(pool));
    }
    const CODES: &[&str] = &["CUDA_ERROR_", "cudaError", "hipError"];
    let name =
        |rest: &str| rest.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').next().map(str::to_ascii_lowercase);
    // `Check failed: (e == cudaSuccess || …) is false: out of memory`: what it was held against.
    let compared = |at: usize| line[..at].trim_end().ends_with(['=']);
    let codes = CODES.iter().flat_map(|code| {
        line.match_indices(code)
            .filter(|(at, _)| !compared(*at))
            .filter_map(|(at, code)| name(&line[at + code.len()..]))
    });
    let mut named = codes.filter(|code| !code.is_empty()).peekable();
    named.peek().is_some() && !named.any(|code| ["memory", "resource", "limit"].iter().any(|of| code.contains(of)))
}

/// True where the exception's own frames show that a disk has no space: `at Queue.ensureDiskAvailable(Queue.java:921)`.
fn of_a_disk(document: &Document, position: usize, lower: &str) -> bool {
    let mut frames = field::behind(document, position, 2).map(|at| field::text(document, at).trim_start());
    let memory = ["memory", "heap", "ram"].iter().any(|word| lower.contains(word));
    // Blocks of a file that is to be filled, and the buffers that the kernel has for a socket.
    if lower.contains("preallocation failed")
        || lower.contains("receive buffer size")
        || lower.contains("send buffer size")
    {
        return true;
    }
    !memory && frames.any(|line| line.starts_with("at ") && line.contains("Disk"))
}

/// True for a collector's warning where its program's own word follows, which has the figures.
fn warns_before_the_program(document: &Document, position: usize) -> bool {
    // Each try that the heap did not grow by has a line; the last one, of the least, stands before the failure.
    let text = field::text(document, position);
    let tries = text.contains("Failed to expand heap by");
    let own = |at: usize| {
        let line = field::text(document, at);
        let own = !line.starts_with("GC Warning:") && !line.starts_with("Warning:");
        own && line.to_ascii_lowercase().contains("out of memory")
            || tries && line.starts_with("GC Warning: Out of Memory!")
    };
    (text.starts_with("GC Warning:") || tries) && field::behind(document, position, 6).any(own)
}

/// True for a remark that somebody typed at a prompt: `$ # colleagues got "out of memory", so convert before`.
fn is_remark(line: &str) -> bool {
    const PROMPT: usize = 60;
    // What is handed on at Python's prompt is no message either: `>>> m.encode("out of memory")`. A banner, or what a
    // mail quotes for the third time, begins so as well.
    let handed_on = || ["(\"", "('", "[\"", "['", "= \"", "= '"].iter().any(|quotes| line.contains(quotes));
    let explained = [
        "this error occurs",
        "this error is returned",
        "this error means",
        "this exception is thrown",
        "injects an out of memory",
    ];
    let explains = |lower: &str| explained.iter().any(|words| lower.trim_start().starts_with(words));
    // A function's own text, as `help()` shows it: `tile (int): As too large images result in …`.
    const TYPES: &[&str] = &["int", "str", "float", "bool", "list", "dict", "tuple", "callable", "array", "tensor"];
    let helps = || {
        let argument = line.trim_start().split_once("): ").and_then(|(head, _)| head.split_once(" ("));
        argument.is_some_and(|(name, of)| {
            let of = of.split([',', '[', ' ']).next().unwrap_or_default().to_ascii_lowercase();
            name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') && TYPES.contains(&of.as_str())
        })
    };
    // A rule of a firewall with somebody's remark.
    line.contains(" --comment \"")
        || helps()
        || line.starts_with(">>> ") && handed_on()
        || line.find("$ # ").is_some_and(|at| at <= PROMPT)
        || explains(&line.to_lowercase())
}

/// True within what a function's own text says of a parameter: `:param batch_size: Lower this if you are seeing` above
/// `GPU OOM errors.`
fn in_a_docstring(document: &Document, position: usize) -> bool {
    const LINES: usize = 3;
    let parameter = |at: usize| field::text(document, at).trim_start().starts_with(":param ");
    parameter(position) || field::before(position, LINES).any(parameter)
}

/// True where the words begin a line that goes on with a sentence which supposes, and lacks them: `This might cause it
/// to run out of memory before your system runs` above `out of memory.` A complete line is another's: `this may take a
/// while`.
fn goes_on_with_a_supposition(document: &Document, position: usize, lead: &str) -> bool {
    const SUPPOSES: &[&str] = &[" might ", " may ", " could ", " can cause "];
    let above = field::before(position, 1).next().map(|at| field::text(document, at).to_ascii_lowercase());
    lead.trim().is_empty()
        && above.is_some_and(|above| {
            let sentence = above.trim_end().rsplit(['.', '!', '?']).next().unwrap_or_default();
            let lacks =
                sentence.rsplit(' ').next().is_some_and(|last| matches!(last, "run" | "runs" | "running" | "an"));
            lacks && SUPPOSES.iter().any(|word| sentence.contains(word))
        })
}

/// True for an entry of a manual's list of messages, below which stands what to do: `Action:`. Spring's report of a
/// failure has that heading too.
fn in_manual(document: &Document, position: usize) -> bool {
    const BELOW: usize = 6;
    let heading = |at: usize| field::text(document, at).trim().trim_start_matches(['*', '/', ' ']) == "Action:";
    let reported = |at: usize| field::text(document, at).contains("FAILED");
    field::behind(document, position, BELOW).any(heading) && !field::before(position + 1, BELOW).any(reported)
}

/// True below the head of a mail that sends a change or answers another: it tells of failures that were.
fn in_mail(document: &Document, position: usize) -> bool {
    const HEAD: usize = 40;
    let text = |at: usize| field::text(document, at).trim_start();
    let about = |line: &str| ["[PATCH", "Re: ", "RE: ", "AW: ", "Fwd: "].iter().any(|mark| line.contains(mark));
    let mut above = field::before(position, HEAD).map(text);
    above.any(|line| line.starts_with("Subject: ") && about(line))
        && field::before(position, HEAD).map(text).any(|line| line.starts_with("From: ") || line.starts_with("Date: "))
}

/// A message in a frame, `| Error: … |`, `! Erreur … !`, with the lines that continue it there, and how many it has.
/// They are indented deeper than the first.
fn framed(document: &Document, position: usize) -> Option<(String, usize)> {
    const MOST: usize = 5;
    let inside = |at: usize| {
        let text = clipped(document.lines.get(at)?.text.trim());
        let mark = text.chars().next().filter(|mark| matches!(mark, '|' | '!'))?;
        let inner = text.strip_prefix(mark)?.strip_suffix(mark)?;
        (!inner.contains(mark) && inner.contains(|c: char| c.is_alphanumeric())).then_some(inner)
    };
    let indent = |inner: &str| inner.len() - inner.trim_start().len();
    let first = inside(position)?;
    let mut message = first.trim().to_owned();
    let mut lines = 1;
    // Deeper than the first, or the rest of its sentence.
    let goes_on = |message: &str, inner: &str| {
        indent(inner) > indent(first) || indent(inner) == indent(first) && !message.ends_with(['.', '!', ':', '>'])
    };
    while let Some(inner) = inside(position + lines).filter(|inner| lines < MOST && goes_on(&message, inner)) {
        message.push(' ');
        message.push_str(inner.trim());
        lines += 1;
    }
    Some((message, lines))
}

/// The words by which a line reports that memory ran out. A sentence that supposes or asks unsays nothing that an
/// earlier one of the line has stated: `failed to allocate 12 bytes. Out of memory?`
fn reported(line: &str, lower: &str) -> Option<Spoken> {
    /// Sentences that are looked at, from the one that holds the words back to the line's first.
    const SENTENCES: usize = 4;
    let (mut line, mut lower) = (line, lower);
    for _ in 0..SENTENCES {
        let spoken = words::spoken(line, lower)?;
        let of = if spoken.named { line } else { lower };
        let lead = of.get(..spoken.at)?;
        let behind = of.get(spoken.end..).unwrap_or_default().to_lowercase();
        let said = of.get(spoken.at..spoken.end).unwrap_or_default();
        if super::mention::is_search(lead) {
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

/// Why a message that a program outlived is no failure.
pub(super) fn got_over() -> Text {
    text!(
        en: "the program found another way or went on: the lines behind the message show it",
        zh: "程序另寻出路或继续运行：其后的日志可以说明"
    )
}

/// True for a line that names a call for page-locked memory of the machine.
pub(super) fn asks_host(line: &str) -> bool {
    let lower = clipped(line).to_lowercase();
    ["mallochost", "hostalloc", "pinned", "page-locked", "hostregister", "pin_memory"]
        .iter()
        .any(|word| lower.contains(word))
}

/// The part of a line that is looked at.
fn clipped(text: &str) -> &str {
    if text.len() <= LONGEST {
        return text;
    }
    let end = (0..=LONGEST).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    &text[..end]
}

/// How grave a line says it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Level {
    Error,
    Warning,
    Chatter,
}

fn level(line: &str) -> Option<Level> {
    let head: String = line.chars().take(120).collect();
    let head = head.as_str();
    let words = || head.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    // glog: `E0311 09:14:27.1 …`
    let glog = words().next().filter(|word| word.len() == 5 && word[1..].bytes().all(|byte| byte.is_ascii_digit()));
    match glog.map(|word| word.as_bytes()[0]) {
        Some(b'E' | b'F') => return Some(Level::Error),
        Some(b'W') => return Some(Level::Warning),
        Some(b'I') => return Some(Level::Chatter),
        _ => {}
    }
    let lower = head.to_ascii_lowercase();
    let of = |word: &str| match word {
        "ERROR" | "FATAL" | "CRITICAL" | "SEVERE" | "PANIC" | "ERR" | "EMERG" | "CRIT" | "ALERT" | "FTL" => {
            Some(Level::Error)
        }
        "WARN" | "WARNING" | "WRN" | "WARNI" => Some(Level::Warning),
        "INFO" | "DEBUG" | "TRACE" | "NOTICE" | "VERBOSE" | "INF" | "DBG" => Some(Level::Chatter),
        _ => None,
    };
    if let Some(word) = Record::of(line).and_then(|record| record.level()) {
        return of(&word);
    }
    let bracketed = ["[E]", "[F]", "[C]"].iter().any(|mark| head.contains(mark));
    if bracketed {
        return Some(Level::Error);
    }
    if head.contains("[W]") {
        return Some(Level::Warning);
    }
    if head.contains("[I]") || head.contains("[D]") {
        return Some(Level::Chatter);
    }
    let lowered =
        ["[error]", "[fatal]", "[critical]", "[warn]", "[warning]", "[info]", "[debug]", "[notice]", "[trace]"];
    if let Some(mark) = lowered.iter().find(|mark| lower.contains(**mark)) {
        return of(&mark[1..mark.len() - 1].to_ascii_uppercase());
    }
    let start = lower.trim_start();
    // `warning: …`, `gridtool: warning: …`
    if start.starts_with("warning") || start.starts_with("note:") || start.contains(": warning: ") {
        return Some(Level::Warning);
    }
    words().find_map(of)
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
    let guessed = before.trim_end().ends_with("likely") && ENDED.iter().any(|word| before.contains(word));
    let careful = |word: &str| compared && matches!(word, " may " | " might ") || guessed && word == "likely";
    // `(If you get memory allocation errors …) (errno: 12 | …)`: an aside that is closed supposes nothing more.
    let aside = before.rsplit_once("(if ").and_then(|(_, aside)| aside.split_once(") "));
    let led = aside.map_or(before, |(_, rest)| rest);
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
    let option = word.starts_with("--")
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
    let heading = opening.starts_with('#') && !built || row || !of_a_device && (item || bold || listed);
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

/// What a program says that it does itself; nobody is advised in these words.
const DOING: &[&str] =
    &["trying again", "retrying", "falling back", "fell back", "automatically trying", "cpu mode is applied"];

/// Words by which a program says that it has another way.
const WAY_ON: &[&str] = &[
    // YOLOX (yolox/models/yolo_head.py).
    "cpu mode is applied",
    "proceed with",
    "proceeding with",
    "using the last",
    "retrying",
    // icecream's client, where a build server had no memory for a file.
    "recompiling locally",
    "will retry",
    "retry with",
    "falling back",
    "fall back",
    "fallback",
    "fell back",
    "will try",
    "trying again",
    "trying smaller",
    "trying with",
    "trying a smaller",
    "trying next",
    "automatically trying",
    "trying more",
    "skipping",
    "skipped",
    "reducing",
    "reduced to",
    "using cpu",
    "use cpu instead",
    "using host",
    "using system",
    "instead of",
    "instead",
    "continuing",
    "continue without",
    "continue with",
    "continue on",
    "try to continue",
    "offload the rest",
    "offloading the rest",
    "ignoring",
    "ignored",
    "recover",
    "evict",
    "offloading to",
    "spilling",
    "spill",
    "requeu",
    "reschedul",
    "halving",
    "lowering",
    "disabling",
    "feature disabled",
    "switching to",
    "tiled",
    "preempt",
    "restored",
    "retract",
    "swapping",
    "not fatal",
    "non-fatal",
    "another way",
    "no acceleration applied",
    "will have no shadow",
    "recompute",
    "attempting to",
    "had to flush",
    "keeping the previous",
    "keeping the old",
    "keeping the existing",
    "running job without",
    "will cope",
    "going to turn on",
    "decimating",
    "flushing",
    "will be slower",
    "slower",
    "performance gains",
    "performance problems",
    "need to split",
    "needs to split",
    "splitting",
    "will split",
    "will be split",
    "multiple passes",
    "out-of-core",
    "no effect",
    "autotun",
    "select_algorithm",
    "skip config",
    "not a failure",
    "重试",
    "回退",
    "跳过",
    "降低",
    "改用",
    "リトライ",
    "재시도",
    "повторная",
    "nouvelle tentative",
    "erneut",
    "reintent",
];

/// Lines behind a message in which it does, whatever else it says of the failure between.
const DONE: usize = 10;
/// Lines before a message in which the program says what it does about it.
const INTRODUCED: usize = 8;

/// True for what is attempted where that is the request which was refused: `attempting to allocate 12 MiB`.
fn asks(text: &str) -> bool {
    ["alloc", "reserve", "malloc", "map ", "create", "commit", "obtain", "get "]
        .iter()
        .any(|verb| text.trim_start().starts_with(verb))
}

/// True for a line that tells what to do, in the imperative: `^-- Enable eviction`, `* Reduce the batch`.
fn advises(lower: &str) -> bool {
    const ORDERS: &[&str] = &[
        "increase", "enable", "reduce", "try", "consider", "use", "set", "add", "decrease", "disable", "make", "check",
        "run", "lower", "raise", "switch",
    ];
    let word = lower.trim_start_matches(|c: char| !c.is_alphabetic()).split(|c: char| !c.is_alphabetic()).next();
    word.is_some_and(|word| ORDERS.contains(&word))
        || ["you could", "you can", "you may"].iter().any(|to| lower.contains(to))
}

/// True for what is done with less than was asked for: `not enough memory for 16 threads, using 9`.
fn makes_do(behind: &str) -> bool {
    let number = |rest: &str| rest.trim_start().starts_with(|c: char| c.is_ascii_digit());
    [", using ", "; using ", " - using "]
        .iter()
        .any(|words| behind.split_once(words).is_some_and(|(_, rest)| number(rest)))
}

/// True for an attempt that begins a clause: `not enough memory; collected, trying half`.
fn tries(behind: &str) -> bool {
    [", trying ", "; trying ", ". trying "].iter().any(|words| {
        behind.split_once(words).is_some_and(|(_, attempt)| match attempt.strip_prefix("to ") {
            // `trying to use a smaller size`; to what else is tried may be what failed.
            Some(act) => ["use ", "continue", "shrink", "reduce", "split", "free ", "recover"]
                .iter()
                .any(|way| act.starts_with(way)),
            None => !asks(attempt),
        })
    })
}

/// Whether the line reports a failure or something that was got over; nothing where it stands in no error's context.
fn standing(
    document: &Document,
    position: usize,
    line: &str,
    lower: &str,
    behind: &str,
    spoken: Spoken,
) -> Option<Standing> {
    const FAILING: &[&str] = &[
        "killed",
        "ran out",
        "out of",
        "exhausted",
        "reached",
        "no memory",
        "what()",
        "assert",
        "larger than",
        "too large",
        "too big",
        "no free",
        "no room",
        "no space",
        "not found",
        "refuse",
        "rejected",
        "unsuccessful",
        "depleted",
        "below",
        "more memory than",
        "too much",
        "have enough",
        "problem alloc",
        "trouble alloc",
        "épuisée",
        "agotada",
        "esaurita",
        "esgotada",
        "erschöpft",
        "исчерпана",
        "耗尽",
        "用尽",
        "错误",
        "失败",
        "不足",
        "异常",
        "无法",
        "溢出",
        "エラー",
        "失敗",
        "오류",
        "실패",
        "부족",
        "fehler",
        "nicht",
        "erreur",
        "insuffisant",
        "impossible",
        "échec",
        "insuficiente",
        "sin memoria",
        "no se pudo",
        "sem memória",
        "ошибка",
        "не удалось",
        "недостаточно",
        "не хватает",
        "нехватка",
        "zu wenig",
        "plus de",
        "manque",
    ];
    // A server logs its client's error as a warning: `[warning] Error message: …`.
    let quoted = |key: &str| {
        let mut places = lower.match_indices(key).filter_map(|(at, _)| lower.get(at + key.len()..));
        places.any(|value| value.trim_start_matches(['"', '\'']).starts_with(|c: char| c.is_alphabetic()))
    };
    // `query cancelled, reason=Memory limit exceeded`: the words are what the key of an outcome holds.
    let keyed = || {
        let lead = lower.get(..spoken.at).unwrap_or_default();
        let lead = lead.trim_end_matches(['"', '\'', ' ']);
        let value =
            ["err_msg=", "error_msg=", "errmsg=", "status=", "reason=", "cause=", "reason:", "cause:", "status:"];
        value.iter().any(|key| lead.ends_with(key))
    };
    let quotes = ["error message:", "error: ", "exception: ", "errorcode"].iter().any(|word| lower.contains(word))
        || ["error=", "exception=", "err="].into_iter().any(quoted)
        || keyed();
    // A tracer prints what every call of another program gave: `mmap(…) = -1 ENOMEM (Cannot allocate memory)`.
    let traced = lower.contains("= -1 enomem");
    let level = level(line).or(traced.then_some(Level::Chatter));
    // `INFO server  PHP Fatal error: …`: what a supervisor passes on of its worker has a level of its own.
    let passed_on = level == Some(Level::Chatter) && lower.contains("fatal error: ");
    let level = if passed_on { Some(Level::Error) } else { level };
    // A compiler's own warning is none of another program's error.
    let own = lower.trim_start().starts_with("warning: ");
    let level = level.map(|level| if level == Level::Warning && quotes && !own { Level::Error } else { level });
    let mut next = field::behind(document, position, 3).map(|at| field::text(document, at).to_lowercase());
    let has = |text: &str, words: &[&str]| words.iter().any(|word| text.contains(word));
    let fails = |text: &str| has(text, FAILURES) || has(text, FAILING);
    // Advice behind the words is no way on: `try again with a smaller batch`.
    let advice = has(
        behind,
        &[
            "try ",
            "make sure",
            "solution",
            "workaround",
            "increase ",
            "increasing",
            "please",
            "consider",
            "you can",
            "try to",
            "try setting",
            "try using",
            "suggest",
            "recommend",
        ],
    );
    // `recover` within another word, such as a program's name, is no way on.
    let begins = |text: &str, words: &[&str]| {
        words.iter().any(|word| {
            text.match_indices(word).any(|(at, _)| {
                let inside = text[..at].ends_with(|c: char| c.is_ascii_alphanumeric());
                let request = *word == "attempting to" && asks(&text[at + word.len()..]);
                // `too low to initialize the spilling operator`, `the memory required to spill`: what it lacks.
                // `skipping the cleanup`: what comes with the end.
                let after = &text[at + word.len()..];
                let ending = word.starts_with("skip")
                    && ["destruct", "cleanup", "clean-up", "clean up", "teardown", "tear down", "shutdown", "finaliz"]
                        .iter()
                        .any(|end| after.contains(end));
                // `disabling device 0`: it does without what failed.
                let gone = *word == "disabling"
                    && ["device", "gpu", "card"].iter().any(|holder| after.trim_start().starts_with(holder));
                let clause = text[..at].rsplit([';', ',']).next().unwrap_or_default();
                let clause = clause.rsplit(". ").next().unwrap_or_default();
                let lacks = ["too low to ", "too small to ", "not enough memory to ", "required "]
                    .iter()
                    .any(|words| clause.contains(words))
                    && clause.contains("to ");
                // `tips on reducing your footprint`: what is told of, and not done.
                let told_of =
                    word.ends_with("ing") && [" on ", " for ", " about "].iter().any(|lead| text[..at].ends_with(lead));
                // `the operator can not spill`
                let denied = ["not ", "cannot ", "n't ", "no "].iter().any(|no| text[..at].ends_with(no));
                !inside && !request && !lacks && !ending && !gone && !told_of && !denied
            })
        })
    };
    // What stands before the words is no advice: `preempted because there is not enough … Increase …`.
    let says_way_on = tries(behind)
        || makes_do(behind)
        || match lower.strip_suffix(behind) {
            Some(lead) => begins(lead, WAY_ON) || begins(behind, WAY_ON) && (!advice || begins(behind, DOING)),
            None => begins(lower, WAY_ON) && !advice,
        };
    // `GPU step failed! Falling back to the CPU. Error:`, and then the message that it is about.
    let introduced = || {
        let above = field::before(position, INTRODUCED).map(|at| field::text(document, at).trim_end().to_lowercase());
        // `attempt 1 of 3 failed, again in 5000 ms`, and then the message that it is about.
        let again = |line: &str| line.contains("attempt ") && line.contains(" again in ");
        above.into_iter().any(|line| line.ends_with(':') && begins(&line, DOING) || again(&line))
    };
    let way_on = says_way_on
        // `This may cause performance problems. Consider …`: of a setting.
        || lower.contains("may cause performance")
        || next.any(|line| begins(&line, WAY_ON) && !has(&line, &["fatal", "traceback", "hint:"]) && !advises(&line))
        || field::behind(document, position, DONE)
            .map(|at| field::text(document, at).to_lowercase())
            .take_while(|line| !has(line, &["fatal", "traceback"]))
            .any(|line| begins(&line, DOING) && !advises(&line))
        || introduced();
    let after = outcome::after(document, position);
    let last =
        document.lines.iter().skip(position + 1).take(64).filter(|line| !line.text.trim().is_empty()).count() <= 2;
    // Work that begins or ends behind what is no error's word: the program goes on.
    let busy = || {
        let mut rest = field::behind(document, position, 64).map(|at| field::text(document, at).to_lowercase());
        rest.any(|line| !fails(&line) && has(&line, &["finished", "completed", "started", "starting"]))
    };
    // Whoever says on the same line that there is another way, and dies, dies of something that has its own message.
    if says_way_on {
        return Some(Standing::Harmless);
    }
    if way_on {
        return Some(if after == After::Died { Standing::Failure } else { Standing::Harmless });
    }
    let fails_on = || {
        let mut behind = field::behind(document, position, 2).map(|at| field::text(document, at));
        behind.any(|line| {
            let stamped = line.starts_with(|c: char| c.is_ascii_digit()) && begins_with_stamp(line);
            // `[native-compiler-failed,native-compiler]`: the warning's own kind.
            let kind = line.starts_with('[') && line.trim_end().ends_with(']');
            !stamped && !kind && fails(&line.to_lowercase())
        })
    };
    let harmless = |failed: bool| Some(if failed { Standing::Failure } else { Standing::Harmless });
    match level {
        Some(Level::Warning) => match after {
            After::Died => harmless(true),
            After::WentOn => harmless(false),
            // What fails on the lines behind a warning fails of what it warns of; a service, which stamps each of its
            // lines, tells of another request there.
            After::Unknown => harmless(
                (last || fails_on())
                    && (spoken.named
                        || has(
                            lower,
                            &[
                                "out of memory",
                                "not enough memory",
                                "bad alloc",
                                "error in ",
                                "error when ",
                                "oom",
                                "不足",
                            ],
                        )),
            ),
        },
        // An agent tells of its job's end as of any other: `OOM detected for the terminated container`.
        Some(Level::Chatter) if has(lower, &["oom detected for "]) && after != After::WentOn => harmless(true),
        Some(Level::Chatter) => match after {
            After::Died if spoken.named || fails(lower) => harmless(true),
            After::Unknown if last && has(lower, &["error", "fail", "out of memory", "exception", "abort"]) => {
                harmless(true)
            }
            _ => None,
        },
        Some(Level::Error) => harmless(after != After::WentOn),
        None if spoken.named || fails(lower) || lower.contains(" > ") && roles::asks_too_much(line) => {
            harmless(after != After::WentOn)
        }
        None => (after == After::Died || last && !busy()).then_some(Standing::Failure),
    }
}

/// The figures and the device of a message whose program another reader knows, by the words around them, with what
/// [`read_state`] finds.
pub(super) fn read_figures(document: &Document, position: usize, event: &mut Event, line: &str, base: Base) {
    let line = clipped(line);
    let lower = line.to_lowercase();
    figures(document, position, event, 0, &lower, base);
    let place = event.at;
    device(&mut event.facts.device, line, place);
}

/// What the lines before a message of an interface tell of the memory's state.
pub(super) fn read_state(document: &Document, position: usize, event: &mut Event) {
    state::complete(document, position, event);
}

/// The memory that a line names.
#[derive(Clone)]
struct Named(Option<Resource>);

/// What ran out: by the words themselves, else those of the line, of the lines around, of the program.
fn resource(document: &Document, position: usize, lower: &str, spoken: Spoken, named: Option<Program>) -> Resource {
    // IPython's heading over a traceback: the class of this name is CuPy's and PyTorch's, Python's own is
    // `MemoryError`.
    if lower.starts_with("outofmemoryerror") && lower.ends_with("traceback (most recent call last)") {
        return Resource::Gpu;
    }
    let line = words::resource(syslog::body(lower), true);
    if let Some(resource @ (Resource::KvCache | Resource::Shm | Resource::Cgroup)) = line {
        return resource;
    }
    if let Some(resource) = spoken.resource.or(line) {
        return resource;
    }
    // `Malloc fails for dense[]`: C's own, whatever device the lines around speak of.
    let of_c = |at: usize| !lower[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_');
    if lower.match_indices("malloc").any(|(at, _)| of_c(at)) {
        return Resource::Host;
    }
    let near = field::behind(document, position, 3)
        .chain(field::before(position, AROUND))
        .chain(field::behind(document, position, AROUND).skip(3));
    for at in near {
        let line = clipped(field::text(document, at));
        let named = || Named(words::resource(syslog::body(&line.to_lowercase()), false));
        match document.memo.of(line, named).0 {
            Some(Resource::Gpu) => return Resource::Gpu,
            Some(Resource::Host) => return Resource::Host,
            _ => {}
        }
    }
    match named.map(|program| (program, program.kind())) {
        Some((Program::Unlisted(_), _)) | None => Resource::Host,
        Some((_, Kind::HostProgram | Kind::Runtime | Kind::Scheduler | Kind::OomKiller | Kind::Unnamed)) => {
            Resource::Host
        }
        // A simulation keeps most in the machine's memory.
        Some((program, Kind::Application)) if program.pytorch_allocator() == PytorchAllocator::No => Resource::Host,
        Some(_) => Resource::Gpu,
    }
}

/// The interface whose error it is, where no program shows.
fn interface(document: &Document, position: usize, lower: &str, resource: Resource) -> Program {
    let of = |lower: &str| {
        let any = |words: &[&str]| words.iter().any(|word| lower.contains(word));
        if any(&["cuda", "cudnn", "cublas", "nvidia"]) {
            Some(Program::Cuda)
        } else if any(&["hip", "rocm", "amdgpu"]) && any(&["hiperror", "hipmalloc", "rocm", "amdgpu"]) {
            Some(Program::Rocm)
        } else if any(&["opencl", "cl_mem_", "cl_out_", "clcreate", "clenqueue"]) {
            Some(Program::OpenCl)
        } else if any(&["vulkan", "vk_error", "vkallocate", "vk::", "outofdevicememory", "outofhostmemory"]) {
            Some(Program::Vulkan)
        } else if any(&["sycl", "ur_result", "ze_result", "pi_error", "level zero", "level-zero", "oneapi"]) {
            Some(Program::Sycl)
        } else if any(&["metal", "kiogpu", "mtlbuffer", "mtldevice"]) {
            Some(Program::Metal)
        } else {
            None
        }
    };
    if let Some(program) = of(lower) {
        return program;
    }
    let own_word = |at: usize| !lower[..at].ends_with(|c: char| c.is_alphanumeric());
    if lower.match_indices("memoryerror").any(|(at, _)| own_word(at)) {
        return Program::Python;
    }
    let near = field::before(position, AROUND).chain(field::behind(document, position, AROUND));
    let found = near.map(|at| clipped(field::text(document, at)).to_lowercase());
    let found: Vec<String> = found.collect();
    if resource.on_device()
        && let Some(program) = found.iter().find_map(|lower| of(lower))
    {
        return program;
    }
    if found.iter().any(|lower| lower.starts_with("traceback (most") || lower.trim_start().starts_with("file \"")) {
        return Program::Python;
    }
    Program::Generic
}

/// The figures of the message: of its line, of those that continue it, and of those that began it.
fn figures(document: &Document, position: usize, event: &mut Event, from: usize, lower: &str, base: Base) {
    let last = document.lines.len().saturating_sub(1);
    let refused = roles::refuses(lower).then_some(from);
    let rank = document.lines.get(position).and_then(|line| line.rank);
    let mut blank = false;
    let mut unreadable: Vec<Fact> = Vec::new();
    let silent = Cell::new(true);
    let mut take = |at: usize, refused: Option<usize>| {
        let (framed, lines) = framed(document, at).filter(|_| at == position).unzip();
        let line = framed.as_deref().unwrap_or_else(|| clipped(field::text(document, at)));
        if at != position && of_other_memory(line, event.resource) {
            return;
        }
        let cut_ahead = (at == 0).then(|| without_first_number(line)).flatten();
        let line = cut_ahead.as_deref().unwrap_or(line);
        let lines = lines.unwrap_or(1);
        let next = field::text(document, at + lines);
        let cut = document.open_ended && at == last;
        let number = field::number(document, at);
        let printed = Span { first: number, last: field::number(document, at + lines - 1) };
        let mut told = roles::figures(line, next, printed, cut, refused, base);
        // A line beside the message may be a part of one that was broken: what its figures are must not depend on that.
        if at != position && !told.figures.is_empty() {
            for paragraph in rewrap::paragraphs(document, at).filter(|paragraph| paragraph.plausible) {
                let whole = roles::figures(&paragraph.text, "", printed, false, refused, base).figures;
                let same = |fact: Fact, bytes: u64| {
                    whole.iter().any(|(known, figure)| *known == fact && figure.bytes == bytes)
                };
                told.figures.retain(|(fact, figure)| same(*fact, figure.bytes));
            }
        }
        for (fact, figure) in told.widened() {
            silent.set(false);
            // The lines of these figures stay open to readers that know them: the message is its own line only.
            // `Memory left in the process: 90 GiB`, `left in the query: 1 MiB`: what the request didn't fit in.
            let of_limit = || {
                let lower = line.to_lowercase();
                ["left in ", "remaining in ", "available in ", "free in "].iter().any(|words| lower.contains(words))
            };
            let tighter = fact == Fact::Free
                && of_limit()
                && event.facts.get(Fact::Requested).zip(event.facts.get(Fact::Free)).is_some_and(|(asked, known)| {
                    let fits = |free: &Figure| asked.interval().low <= free.interval().high;
                    fits(&known) && !fits(&figure)
                });
            if tighter {
                event.facts.sizes.remove(&Fact::Free);
            }
            if !unreadable.contains(&fact) {
                event.facts.note(fact, figure);
            }
        }
        unreadable.extend(told.unreadable);
    };
    take(position, refused);
    for at in field::behind(document, position, CONTINUED) {
        let Some(line) = document.lines.get(at) else { break };
        let text = line.text.trim_start();
        if rank.is_some() && line.rank.is_some() && line.rank != rank {
            continue;
        }
        // Behind a blank line another paragraph begins. It continues the message where it says the same of memory, and
        // gives the figures that the message lacks.
        blank |= text.is_empty();
        if blank && !text.is_empty() {
            let lower = clipped(text).to_lowercase();
            let again = words::spoken(text, &lower).filter(|_| silent.get() && roles::refuses(&lower));
            match again {
                Some(spoken) => take(at, Some(spoken.at)),
                None if silent.get() => {}
                None => break,
            }
            continue;
        }
        let ends = text.starts_with("Traceback") || text.starts_with("During handling");
        if ends {
            break;
        }
        if tells_memory(text) {
            take(at, None);
        } else if refused.is_some() && roles::is_sized(own_words(text, field::text(document, position))) {
            take(at, Some(0));
        }
    }
    let begun = field::before(position, AROUND).filter(|at| !field::text(document, *at).trim().is_empty());
    for at in begun.take(BEGUN) {
        let text = field::text(document, at);
        let lower = clipped(text).to_lowercase();
        if lower.contains("alloc")
            || lower.contains("request")
            || lower.contains("requir")
            || lower.contains("mmap")
            || lower.contains("expand heap")
            || lower.contains("memory") && tells_memory(text)
        {
            take(at, None);
        }
    }
    if silent.get() {
        earlier(document, position).into_iter().for_each(|(at, from)| take(at, Some(from)));
    }
    state::complete(document, position, event);
}

/// True for a line beside a message that tells nothing of the memory that ran out: a frame of a stack, whose numbers
/// are places, and what a line calls the processor's or the device's where it was the other's.
fn of_other_memory(line: &str, resource: Resource) -> bool {
    let text = line.trim_start();
    let frame = text.starts_with("at ") && text.trim_end().ends_with(')') && !text.contains(": ");
    let lower = line.to_lowercase();
    let names = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    let (host, device) = (names(&["cpu memory", "host memory"]), names(&["gpu memory", "device memory"]));
    frame || host != device && if resource.on_device() { host } else { device && resource == Resource::Host }
}

/// The first line of a text without the number that it begins with, whose first digits may have been cut off.
fn without_first_number(line: &str) -> Option<String> {
    let digits = line.bytes().take_while(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b',')).count();
    (digits > 0).then(|| "_".repeat(digits) + line.get(digits..).unwrap_or_default())
}

/// The message that told the figures of a request before the one at `position`, which is of the same failure and tells
/// none: where it is, and where it says so. Several that tell of different requests are of different ones.
fn earlier(document: &Document, position: usize) -> Option<(usize, usize)> {
    let mut told: Option<(usize, usize, Figure)> = None;
    for at in field::before(position, AROUND) {
        let text = clipped(field::text(document, at));
        let lower = text.to_lowercase();
        if ["traceback (most", "retry", "trying "].iter().any(|word| lower.contains(word)) {
            return None;
        }
        let Some(spoken) = words::spoken(text, &lower).filter(|_| roles::refuses(&lower)) else { continue };
        let span = Span::line(field::number(document, at));
        let figures = roles::figures(text, "", span, false, Some(spoken.at), Base::Binary).figures;
        let Some((_, asked)) = figures.into_iter().find(|(fact, _)| *fact == Fact::Requested) else { continue };
        match &told {
            Some((.., known)) if roles::apart(known, &asked) => return None,
            Some(_) => {}
            None => told = Some((at, spoken.at, asked)),
        }
    }
    told.map(|(at, from, _)| (at, from))
}

/// What a line says behind the mark that it shares with the message that it continues: `radv: size : 12 bytes`.
fn own_words<'a>(text: &'a str, message: &str) -> &'a str {
    let shared = text.bytes().zip(message.trim_start().bytes()).take_while(|(a, b)| a == b).count();
    let mark = text.get(..shared).and_then(|shared| shared.rfind([':', ']', '|']));
    mark.and_then(|at| text.get(at + 1..)).unwrap_or(text)
}

/// True for a line that lists memory: it names a quantity and prints a size.
fn tells_memory(text: &str) -> bool {
    let lower = clipped(text).to_lowercase();
    [
        "free", "avail", "total", "used", "in use", "request", "requir", "need", "limit", "capacity", "alloc", "peak",
        "memory", "reserved", "maximum", "at least", "enough", "heap", "mmap", "usable",
    ]
    .iter()
    .any(|word| lower.contains(word))
        && lower.bytes().any(|byte| byte.is_ascii_digit())
}

/// The number of the process that wrote the line, where a logger put it in front of the text: `Mar  1 10:00:00 host
/// app[17]: …`, `10:00:00.12 [1217] ERROR …`, `(app:17): GLib-ERROR **: …`; or of the one that it tells of: `pid 17`.
fn writer(line: &str) -> Option<u64> {
    /// A logger's head has a stamp, a host, a name and a level.
    const HEAD: usize = 8;
    let number = |text: &str| {
        let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        text.parse::<u64>().ok().filter(|pid| digits && (1..=MOST_PROCESSES).contains(pid))
    };
    if let Some((name, pid)) =
        line.trim_start().strip_prefix('(').and_then(|rest| rest.split_once("): ")?.0.split_once(':'))
        && !name.is_empty()
        && !name.contains(' ')
    {
        return number(pid);
    }
    let mut stamped = false;
    for word in line.split_whitespace().take(HEAD) {
        // `app[17]:`; systemd and the kernel write of others.
        if let Some((name, pid)) = word.strip_suffix("]:").and_then(|word| word.split_once('['))
            && name.starts_with(|c: char| c.is_ascii_alphabetic())
            && !name.contains('=')
        {
            return number(pid).filter(|_| name != "systemd");
        }
        // A number alone in brackets, of three digits and more: a small one is a thread's or a rank's.
        if let Some(pid) = word.strip_prefix('[').and_then(|word| word.strip_suffix(']')).filter(|pid| pid.len() >= 3)
            && stamped
            && let Some(pid) = number(pid)
        {
            return Some(pid);
        }
        let clock = word.matches(':').count() >= 2 && word.bytes().any(|byte| byte.is_ascii_digit());
        stamped = clock || stamped && word.len() <= 5 && word.bytes().all(|byte| byte.is_ascii_uppercase());
    }
    let mut told = line.match_indices("pid").chain(line.match_indices("PID")).filter_map(|(at, _)| {
        let rest = line.get(at + 3..)?.trim_start_matches([' ', ':', '=', '#']);
        let whole = !line[..at].ends_with(|c: char| c.is_ascii_alphanumeric()) && rest.len() < line.len() - at - 3;
        let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        number(&rest[..end]).filter(|_| whole)
    });
    let first = told.next()?;
    told.all(|other| other == first).then_some(first)
}

/// The number that a program tells of itself before its message, `running on node1, pid 17`, where the lines tell of
/// one.
fn writer_near(document: &Document, position: usize) -> Option<u64> {
    let mut told = field::before(position, AROUND).filter_map(|at| {
        let lower = clipped(field::text(document, at)).to_lowercase();
        let at = lower.find("pid ").or_else(|| lower.find("pid: ")).or_else(|| lower.find("pid="))?;
        let other =
            ["kill", "child", "parent", "died", "exited", "ppid", "worker"].iter().any(|word| lower.contains(word));
        let whole = !lower[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_');
        writer(lower.get(at..)?).filter(|_| whole && !other)
    });
    let first = told.next()?;
    told.all(|other| other == first).then_some(first)
}

/// No kernel numbers its processes higher.
const MOST_PROCESSES: u64 = 1 << 22;

/// The device that the line names: `GPU 1`, `device #2`, `cuda:0`.
fn device(known: &mut Known<u32>, line: &str, place: Span) {
    let lower = line.to_ascii_lowercase();
    for word in ["gpu_id", "dev_id", "device_id", "devid", "gpu", "device", "cuda", "hip", "ordinal", "xpu"] {
        for (at, _) in lower.match_indices(word) {
            let behind = lower.get(at + word.len()..).unwrap_or_default();
            let gap = behind.len() - behind.trim_start_matches([' ', ':', '#', '=', '_', '[']).len();
            let rest = behind.get(gap..).unwrap_or_default();
            let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
            let after = rest.get(digits..).unwrap_or_default();
            let apart = gap > 0 || word != "device" && word != "ordinal";
            // `on device 0.` ends a sentence, `device 0.5` does not.
            let fraction = after.strip_prefix('.').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
            // `CUDA device 03:00.0` is where the bus has it.
            let address = after.strip_prefix(':').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_hexdigit()));
            let alone = !fraction
                && !address
                && !after.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '%')
                && !after.trim_start().starts_with(|c: char| {
                    c.is_ascii_alphabetic() && crate::units::unit_in_front(after.trim_start()).is_some()
                });
            // `gpu02` is a machine's name: no driver pads its numbers.
            let padded = gap == 0 && digits == 2 && rest.starts_with('0');
            // `batch size per device = 8` counts something on each of them.
            let before = lower.get(..at).unwrap_or_default();
            let counted = ["per ", "per_", "per-", "each "].iter().any(|word| before.ends_with(word));
            let starts = !padded && !counted && !before.ends_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
            if (1..=2).contains(&digits)
                && gap <= 3
                && apart
                && alone
                && starts
                && let Ok(index) = rest[..digits].parse::<u32>()
            {
                known.note(index, Span::line(place.first));
                return;
            }
        }
    }
}

/// Words by which another reader's program says that it has another way.
const OTHER_WAY: &[&str] = &[
    "retrying",
    "retry with",
    "falling back",
    "fall back to",
    "fallback",
    "fell back",
    "skipping batch",
    "skipping this batch",
    "using batch size",
    "skipping tactic",
    "skip config",
    "trying with",
    "trying smaller",
    "trying again",
    "will try",
    "using cpu",
    "on cpu instead",
    "switching to",
    "select_algorithm",
    "autotun",
    "evict",
    "reducing batch",
    "reducing the batch",
    "tiling",
    "will be slower",
    "performance gains",
    "performance problems",
    "merging on the cpu",
];

/// Lines behind a message on which a program says so.
const SOON: usize = 3;

/// A device's refusal that a known program got over: it says so on the message's own lines or right behind them, and it
/// does not die of it.
pub(super) fn survived(document: &Document, position: usize, event: &Event) -> bool {
    if event.standing != Standing::Failure || event.resource.on_host() || event.program.is_warden() {
        return false;
    }
    let says = |at: usize, words: &[&str]| {
        let lower = clipped(field::text(document, at)).to_lowercase();
        words.iter().any(|word| lower.contains(word)) || at == position && tries(&lower) || starts_again(&lower)
    };
    let last = document.lines.partition_point(|line| line.number <= event.at.last).max(position + 1) - 1;
    let mild = matches!(level(field::text(document, position)), Some(Level::Warning | Level::Chatter));
    let here = || (position..=last.min(position + SOON)).any(|at| says(at, OTHER_WAY));
    let soon = |words: &[&str]| field::behind(document, last, SOON).any(|at| says(at, words));
    // Where the log ends with a try, nobody knows how it went.
    let tried = |words: &[&str]| {
        let said = field::behind(document, last, SOON).find(|at| says(*at, words));
        said.is_some_and(|at| field::behind(document, at, SOON).any(|at| !field::text(document, at).trim().is_empty()))
    };
    let outcome = outcome::after(document, last);
    // An exception ends what raised it, unless the log shows that something went on.
    let went_on = match outcome {
        After::Died => false,
        // A pool that is refused its growth does with what it has.
        After::WentOn => event.has(Sign::PoolGrowthRefused) || here() || soon(OTHER_WAY),
        After::Unknown => mild && here() || tried(AGAIN),
    };
    went_on && !outcome::counts_failures(document, position)
}

/// `batch 512 -> 256, starting this shard again`: less, and then once more.
fn starts_again(lower: &str) -> bool {
    let less = lower.split_once("->").is_some_and(|(before, after)| {
        let number = |word: Option<&str>| word.and_then(|word| word.trim_end_matches(',').parse::<u64>().ok());
        let (from, to) = (number(before.split_whitespace().next_back()), number(after.split_whitespace().next()));
        from.zip(to).is_some_and(|(from, to)| to < from)
    });
    less && lower.contains(" again")
}

/// Words by which the line behind a refusal says that it is tried in another way.
const AGAIN: &[&str] = &[
    "failed setup for format",
    "retrying",
    "retry with",
    "tiling",
    "merging on the cpu",
    "skipping tactic",
    "attempting to recover from",
];

/// What the net caught says nothing new beside a message that another reader knows: it follows from it.
pub fn yield_to_known(events: &mut [Event]) {
    /// Lines within which a known message and the net's are of one failure.
    const BEHIND: u64 = 400;
    const BEFORE: u64 = 40;
    let known: Vec<(u64, bool)> = events
        .iter()
        .filter(|event| !event.has(Sign::Generic) && event.standing != Standing::Harmless)
        .map(|event| (event.at.first, event.resource.on_host()))
        .collect();
    for event in events.iter_mut().filter(|event| event.has(Sign::Generic) && event.standing == Standing::Failure) {
        let at = event.at.first;
        let from = known.partition_point(|(line, _)| line.saturating_add(BEHIND) < at);
        if known.get(from).is_some_and(|(line, _)| *line <= at.saturating_add(BEFORE)) {
            event.standing = Standing::Follower;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect;

    fn caught(log: &str) -> Option<Event> {
        let document = Document::from_text("-", log);
        dialect::events(&document)
            .into_iter()
            .find(|event| event.has(Sign::Generic) && event.standing == Standing::Failure)
    }

    #[test]
    fn a_program_in_no_list_is_read_by_its_words() {
        let event = caught(
            "gridtool 2.1 starts\n[GridTool] ERROR: not enough GPU memory on device 1: need 5.00 GiB, 1.00 GiB free of 8.00 GiB\nAborted\n",
        )
        .unwrap();
        assert_eq!((event.program.id(), event.resource), ("gridtool", Resource::Gpu));
        let get = |fact| event.facts.get(fact).map(|figure| figure.bytes >> 30);
        assert_eq!((get(Fact::Requested), get(Fact::Free), get(Fact::Capacity)), (Some(5), Some(1), Some(8)));
        assert_eq!(event.facts.device.value(), Some(1));
    }

    #[test]
    fn other_languages_and_interfaces_are_heard() {
        for (line, resource) in [
            ("错误：显存不足，需要 5 GiB", Resource::Gpu),
            ("ошибка: недостаточно памяти на GPU", Resource::Gpu),
            ("Fehler: nicht genügend Speicher auf der GPU", Resource::Gpu),
            ("clEnqueueNDRangeKernel failed: CL_MEM_OBJECT_ALLOCATION_FAILURE (-4)", Resource::Gpu),
            ("error: Cannot allocate memory (ENOMEM)", Resource::Host),
            ("clCreateBuffer failed: -4", Resource::Gpu),
            ("vkAllocateMemory returned VkResult -2", Resource::Gpu),
            ("CreateCommittedResource failed, hr=0x8007000E, D3D12 device", Resource::Gpu),
        ] {
            let log = format!("{line}\n");
            let document = Document::from_text("-", &log);
            let events = dialect::events(&document);
            let event = events.iter().find(|event| event.standing == Standing::Failure);
            assert_eq!(event.map(|event| event.resource), Some(resource), "{line}");
        }
    }

    #[test]
    fn what_reports_no_failure_is_not_caught() {
        for line in [
            "# how to avoid out of memory errors",
            "except gridlib.OutOfMemory:",
            "test_out_of_memory PASSED",
            "num_ooms: 0, out of memory: 0",
            "  --oom-score-adj N  set the score (out of memory)",
            "Set this if you run out of memory on a GPU",
            "Why do I get out of memory?",
            "WARNING: not enough memory for a plan of 2.0 GiB, retrying with a smaller one",
            "gridtool: warning: allocating more than half of available memory (10 GiB)",
            "INFO: out of memory guard is on",
        ] {
            assert_eq!(caught(&format!("{line}\nstep 1/9\nstep 2/9\nstep 3/9\n")), None, "{line}");
        }
    }

    fn sizes(event: &Event) -> Vec<(Fact, u64)> {
        event.facts.sizes.iter().map(|(fact, figure)| (*fact, figure.bytes >> 20)).collect()
    }

    #[test]
    fn a_question_unsays_nothing_that_an_earlier_sentence_has_stated() {
        assert!(caught("gridtool: failed to allocate 12 MiB. Out of memory?\n").is_some());
        assert!(caught("gridtool: Out of memory?\n").is_none());
    }

    #[test]
    fn a_message_in_a_frame_of_bars_is_read_with_the_lines_that_continue_it() {
        let log = "+----------------------------------+\n| Error: out of memory allocating  |\n\
                   |   2048 MiB for the mesh          |\n+----------------------------------+\n";
        assert_eq!(sizes(&caught(log).unwrap()), vec![(Fact::Requested, 2048)]);
        let row = "| gridtool | out of memory | 2048 MiB |\n";
        assert!(caught(row).is_none(), "a row of a table reports nothing");
    }

    #[test]
    fn the_state_printed_before_a_message_gives_what_is_free() {
        let failed = "ERROR gridtool: failed to allocate 2048 MiB on the GPU\n";
        let state = |free: u32, total: u32| format!("GPU memory: {free} MiB free of {total} MiB\ntile 1\ntile 2\n");
        let told = |log: &str| sizes(&caught(log).unwrap());
        let whole = vec![(Fact::Requested, 2048), (Fact::Capacity, 8192), (Fact::Free, 512)];
        assert_eq!(told(&format!("{}{failed}", state(512, 8192))), whole);
        let early = vec![(Fact::Requested, 2048), (Fact::Capacity, 8192)];
        assert_eq!(told(&format!("{}{failed}", state(4096, 8192))), early, "there was room then");
        let two = format!("{}{}{failed}", state(512, 8192), state(512, 16384));
        assert_eq!(told(&two), vec![(Fact::Requested, 2048)], "two devices");
    }

    #[test]
    fn a_list_of_needs_counts_where_it_bears_the_message_out() {
        let list =
            |asked: u32| format!("- available: 900 MB\n- requirement: {asked} MB\nERROR gridtool: not enough memory\n");
        assert_eq!(sizes(&caught(&list(2000)).unwrap()), vec![(Fact::Requested, 2000), (Fact::Free, 900)]);
        assert!(!sizes(&caught(&list(200)).unwrap()).contains(&(Fact::Free, 900)));
    }

    #[test]
    fn a_nought_counts_cases_or_numbers_what_stands_before_it() {
        assert!(caught("gridtool: 0 out of memory\n").is_none());
        assert!(caught("gridtool: node 0 out of memory\n").is_some());
        assert!(caught("gridtool: rank 0 failed to allocate 12 MiB\n").is_some());
    }

    #[test]
    fn words_of_any_kind_may_say_which_memory_ran_out() {
        assert!(caught("gridtool: out of pre-allocated memory\n").is_some());
        assert!(caught("gridtool ran out of usable tile memory\n").is_some());
        assert!(caught("gridtool made out of recycled tile memory\n").is_none());
    }

    #[test]
    fn what_is_said_to_suffice_is_needed() {
        let event = caught("gridtool: out of memory. Run it on a machine with at least 8 GB\n").unwrap();
        assert_eq!(sizes(&event), vec![(Fact::Needed, 8192)]);
        let event = caught("gridtool: out of memory with at least 8 GB free\n").unwrap();
        assert_eq!(sizes(&event), vec![(Fact::Free, 8192)]);
    }

    #[test]
    fn a_devices_memory_as_it_was_printed_at_the_start_is_its_capacity() {
        let failed = "mesh done\nGPU error: out of memory\n";
        let told = |log: &str| sizes(&caught(log).unwrap());
        assert_eq!(told(&format!("Total global memory: 8.00 GiB\n{failed}")), vec![(Fact::Capacity, 8192)]);
        assert_eq!(told(&format!("VRAM: 8.00 GiB\nVRAM: 6.00 GiB\n{failed}")), vec![], "two devices");
        for other in ["GPU memory used: 8.00 GiB", "GPU memory: 8.00 GiB (3 cards)"] {
            let told = told(&format!("{other}\n{failed}"));
            assert!(told.iter().all(|(fact, _)| *fact != Fact::Capacity), "{other}: {told:?}");
        }
    }

    #[test]
    fn what_a_log_says_of_memory_where_nothing_failed_is_left_alone() {
        for line in [
            "Memory limit: 16 GiB",
            "memory limit set to 80% of 64 GB",
            "I0601 08:31:19.700412 12 memory.cpp:651] Discarded OOM notifier for container 6a0e",
            "insufficient memory bandwidth on this platform, expect slow performance",
            "[PASS] returns ENOMEM when the arena is full",
            "failed to allocate a connection",
            "worker failed, exit status: -12",
            "heap size 4096 MB, max 8192 MB, used 1201 MB",
            "allocated 12.4 GiB in 312 blocks, 0 failed",
            "allocator: 1201 allocations, 1201 frees, no failures",
            "cache full, dropping the oldest 12 entries",
            "buffer full, waiting for the consumer",
            "connection pool exhausted, 12 clients wait",
            "INFO retry budget exhausted for peer 3, giving the request back",
            "ERROR no space left on device: /scratch",
            "ERROR disk quota exceeded for user ann",
            "ERROR rate limit exceeded: 60 requests per minute",
            "ERROR request body exceeds the maximum of 32 MB",
            "ERROR upload of 5 GB rejected: larger than the limit of 2 GB",
            "ERROR too many open files",
            "ERROR could not allocate port 8080: already in use",
            "ERROR failed to allocate an IP address from the subnet",
            "ERROR failed to allocate 4 GPUs for the job: none is free",
            "ERROR unable to reserve a slot in the queue",
            "ERROR cannot extend the lease: it has expired",
            "ERROR cannot create directory: permission denied",
            "ERROR cannot resize the window below 40 columns",
            "ERROR context length exceeded: 9120 of 8192 tokens",
            "ERROR message too large: 1201 bytes, limit 1024",
            "ERROR stack overflow in the parser at depth 512",
            "ERROR register allocation failed for kernel grow_mesh",
            "WARNING memory usage at 91 %, threshold 90 %",
            "WARNING swap is not enabled",
            "WARNING low memory mode is on",
            "running in low-memory mode",
            "  --max-memory N   stop reading when the memory used exceeds N MB",
            "  -m, --mem-limit  memory limit in MB (default: 80% of RAM)",
            "Usage: gridtool [--mem GB] [--no-mmap]",
            "Increase --heap if the solver runs short of memory",
            "This option may need up to 3 GB of memory",
            "Recommended: at least 16 GB of RAM",
            "Minimum requirements: 8 GB of RAM, 20 GB of disk",
            "System check: 64 GB of RAM, minimum 8 GB: passed",
            "estimated memory requirement: 12.1 GiB of 24.0 GiB",
            "needs 3.1 GB of memory, 20.4 GB available",
            "requires 512 MB of GPU memory; the device has 8192 MB",
            "peak memory 12.1 GiB, limit 16.0 GiB",
            "max RSS 1201 MB (limit 4096 MB)",
            "memory: used 12 GB, free 52 GB, total 64 GB",
            "oom_score_adj is 300",
            "OOM killer is enabled in this cgroup",
            "vm.overcommit_memory = 1",
            "MemFree: 1201 kB",
            "oom_kill 0",
            "0 out-of-memory events since the start",
            "no out-of-memory errors in the last 30 days",
            "the test 'fails when memory is exhausted' passed",
            "test alloc::returns_null_on_failure ... ok",
            "ok 12 - malloc failure is reported to the caller",
            "def on_memory_exhausted(self):",
            "raise GridMemoryError(\"not enough memory\")",
            "* Fixed a crash when allocation of the index failed",
            "- Out of memory errors are now reported with the file's name",
            "See the manual, chapter 4: what to do when memory is exhausted",
            "the garbage collector freed 312 MB, heap at 40 %",
            "page cache dropped: 12 GB freed",
            "evicting 3 blocks from the cache, limit 8 GB reached",
            "spilled 12 GB to disk, memory budget 8 GB",
            "waiting for memory: 3 jobs queued",
            "job 12: requested 16 GB, allocated 16 GB on node 3",
            "mlock is not permitted, pages may be swapped",
            "huge pages are not available, using 4 kB pages",
            "[rank0]: Memory usage after step 100: allocated 21.4 GiB, reserved 38.2 GiB, max allocated 36.9 GiB",
            "INFO 03-02 10:11:12 gpu_executor.py:122] # GPU blocks: 7781, # CPU blocks: 512",
            "DeepSpeedCPUAdam: offloading optimizer states, host memory needed 48 GB, available 503 GB",
            "WARNING: gradient buffer of 2.00 GB is larger than bucket size 0.50 GB, splitting",
            "Memory pool limit set to 40 % of device memory (9.6 GiB)",
            "INFO: Cache size limit exceeded, pruning oldest entries (12.1 GiB -> 9.8 GiB)",
            "cache: 9.8 GiB of 10 GiB used, removing 1204 files",
            "2026-03-02T10:11:12Z INFO gc: freed 312 MiB, heap 812 MiB of 4096 MiB",
            "[GC (Allocation Failure) [PSYoungGen: 524800K->21504K(611840K)] 524800K->21512K(2010112K), 0.0123 secs]",
            "[Full GC (Ergonomics) [PSYoungGen: 10752K->0K(141824K)] 120 ms]",
            "[12.312s][info][gc] GC(41) Pause Young (Allocation Failure) 712M->201M(1024M) 5.1ms",
            "10:11:12.118 [main] INFO c.a.App - Max memory: 4096 MB, total memory: 512 MB, free memory: 301 MB",
            "LOG:  checkpoint complete: wrote 81204 buffers (12.4%); 0 WAL file(s) added",
            "LOG:  temporary file: path \"base/pgsql_tmp/pgsql_tmp4711.0\", size 1073741824",
            "WARNING: overcommit_memory is set to 0! Background save may fail under low memory condition.",
            "# Memory: used_memory:1204118 used_memory_human:1.15M maxmemory:0 maxmemory_policy:noeviction",
            "redis: maxmemory limit reached? no. evicted_keys:0",
            "npm notice: package size limit 10 MB, unpacked 4.1 MB",
            "The upload exceeds the maximum size of 512 MB and was split",
            "error: request entity too large: limit 1048576 bytes, got 2097152",
            "ERROR: build cache export skipped: manifest larger than 4 MB",
            "##[warning]You are running low on disk space. Free space left: 87 MB",
            "tests/test_alloc.py::test_raises_when_memory_exhausted PASSED",
            "[ RUN      ] AllocatorTest.FailsWhenOutOfMemory",
            "[       OK ] AllocatorTest.FailsWhenOutOfMemory (3 ms)",
            "ok 41 - realloc failure returns NULL # TODO",
            "test result: ok. 81 passed; 0 failed; 2 ignored; memory 41 MiB",
            "--- PASS: TestMemoryLimitExceeded (0.02s)",
            "rect_out_of_memory_box,11.3,11.3,120.4,40.1",
            "RangeError: Memory limit exceeded (expected)",
            "This error occurs when execution of a query exceeds the limit on the memory consumed by a single query.",
            "Message 33: error - real array memory allocation failure\n\nAction:\n\nTry more nodes.",
            "$ hg log -l1\nsummary:     intro, notes on out of memory",
            "PASS src/memory.test.js (12.1 s) heap size 212 MB",
            "  ✓ throws if allocation failed (3 ms)",
            "Collected 3 tracebacks of MemoryError in the last 30 days, all resolved",
            "kernel: Memory: 65783468K/67035136K available (14339K kernel code, 2400K rwdata)",
            "kernel: Memory cgroup out of memory handling enabled",
            "kernel: Mem-Info: printed on request",
            "kernel: swap_info: 8388604k swap on /dev/sda2. Priority:-2 extents:1",
            "systemd[1]: session-12.scope: Consumed 12min CPU time, 31.4G memory peak, 0B memory swap peak.",
            "systemd[1]: train.service: Memory limit 64.0G, tasks limit 4915",
            "containerd: memory limit for container 9b1d is 2147483648 bytes",
            "I0302 10:11:12.118920 21877 memory.cpp:479] Updated 'memory.limit_in_bytes' to 160MB for container 0a1d",
            "k8s: Requests: memory 16Gi; Limits: memory 32Gi",
            "Node has sufficient memory available, KubeletHasSufficientMemory",
            "Normal   NodeHasSufficientMemory  kubelet  Node node14 status is now: NodeHasSufficientMemory",
            "slurm: job 4711 requested 64G, AllocTRES=cpu=16,mem=64G",
            "sacct: MaxRSS 12041180K ReqMem 64G State COMPLETED",
            "Some weights were not used, memory saved: 1.2 GB",
            "tuner: trial 12 pruned: needs 30 GB, more than the 24 GB budget",
            "autotune: config BLOCK_M=256 skipped (needs 228 KiB shared memory, limit 99 KiB)",
            "ptxas info    : 0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads",
            "nvcc warning : memory space qualifiers ignored, 12 bytes stack frame",
            "Model requires at least 24 GB of VRAM for bf16; found 80 GB",
            "Detected 24564 MB of VRAM, enabling fp8 to fit in memory",
            "VRAM usage: 22.1 / 24.0 GB, unloading the text encoder",
            "Requested to load AutoencoderKL, 319.11 MB, loaded completely 9.2 GB usable",
            "loaded partially 5120.4 MB usable, 1204.1 MB offloaded, lowvram patches: 0",
            "llm_load_tensors: offloaded 33/33 layers to GPU, CUDA0 buffer size = 4095.05 MiB",
            "sched_reserve: CUDA0 compute buffer size = 560.01 MiB",
            "The limit of 4 concurrent jobs was reached; waiting for memory to be released",
            "Too many requests in flight: 512 of 512, memory 41 %",
            "Reached the maximum of 100 epochs; peak memory 12.1 GiB",
            "stopped: the token budget of 8192 is exhausted, heap at 12 %",
            "Insufficient permissions to lock memory: raise memlock or ignore",
            "WARN  heap dump on OutOfMemoryError is enabled: /var/dumps",
            "  -XX:+HeapDumpOnOutOfMemoryError -XX:MaxRAMPercentage=75.0",
            "Buffer pool of 512 MB created, 32768 pages, 31002 free",
            "InnoDB: Initializing buffer pool, total size = 128M, instances = 1, chunk size = 128M",
            "mem: total 503.5Gi used 41.2Gi free 301.1Gi available 458.0Gi",
            "failed to create image thumbnail: unsupported format (67108864 bytes)",
            "Failed to create tensor cache entry of size 1204: key exists",
            "GET /metrics 200 1204118 bytes memory_limit_exceeded_total 0",
            "memory_limit_exceeded_total{pool=\"query\"} 0",
            "oom_events_total 0",
            "thrashing_detected: false",
            "excessive memory traffic on node 3: 312 GB/s",
            "data refused: 3 items (schema mismatch), memory usage high-water 41 %",
        ] {
            let log = format!("starting\n{line}\nreading input.dat\nstep 1 of 3\nstep 2 of 3\nstep 3 of 3\n");
            assert_eq!(caught(&log), None, "{line}");
            let events = dialect::events(&Document::from_text("-", &format!("starting\n{line}\n")));
            let failures = events.iter().filter(|event| event.standing == Standing::Failure).count();
            assert_eq!(failures, 0, "at the end: {line}");
        }
    }

    #[test]
    fn words_of_success_that_are_denied_show_no_success() {
        let warned =
            "Warning: not enough memory to train. Needs 26 GB out of 8 GB\n\tNot enough memory. Skipping it.\n";
        let none = "Warning: grid did not successfully train any models\n";
        let ended = "RuntimeError: no models were trained successfully\n";
        assert!(caught(&format!("{warned}{none}{ended}")).is_some());
        assert!(caught(&format!("{warned}{none}Traceback (most recent call last):\n{ended}")).is_some());
        assert!(caught(&format!("{warned}fitting the next one\nsaved to models/\n")).is_none());
    }

    #[test]
    fn plans_codes_and_checks_that_failed_are_heard() {
        for line in [
            "grid: mesh.cpp:33: grow: Assertion `(size_t)n * sizeof(int) < getAvailableMemory()' failed.",
            "RuntimeError: Could not load the mesh status=4 message=Allocation Failure",
            "Couldn't init a test: Low mem for result. aborting.",
            "[  101.118219] gridgpu 0000:01:00.0: solver[4711]: validate: -12",
            "gridgpu: probe failed with error -12",
            "ERROR 5 (HY000): Kein Speicher vorhanden (8388608 Bytes benötigt). Bitte Server neu starten",
            "sort: minnet är slut, inte tillräckligt med minne",
            "Failed to allocate connection structures",
            "pan: reached -DMEMLIM bound",
            "Error: model requires 38.2 GB VRAM, GPU has 24.0 GB",
            "RuntimeError: OOM during training step 3 times in a row, aborting training",
            "Java heap memory threshold reached, terminating. (Adjustment.prec)",
            "[ERROR] Error: the isolate exceeded its memory limit due to overflowing the storage cache.",
            "W0107 17:57:40.437475 12 load.cpp:94] part failed, id=4, err_msg=Memory exceed limit. Used: 9, Limit: 8",
            "I0811 17:05:41.004817 12 memory.cpp:661] OOM detected for the terminated container 4711",
            "circular buffers grow to 1531904 B which is beyond max L1 size of 1499136 B",
            "working set size > client RAM limit: 8012.30MB > 7012.20MB",
            "Memory limit exceeded: The limit is too low to initialize spilling operator. Minimum is 136 MB.",
            "Il n'a pas été possible d'allouer une zone mémoire de 12 Mo",
            "La mémoire totale est insuffisante",
        ] {
            assert!(caught(&format!("reading\n{line}\n")).is_some(), "{line}");
        }
        let raised = "RuntimeError: GRID_STATUS_ALLOCATOR_FAILURE in mesh.h:355\nStacktrace (2 entries):\n";
        let stack = "[frame 0]: /v/libgrid.so(+0xb4) [0x7fa5]\n[frame 1]: /v/libgrid.so(+0xb5) [0x7fa6]\n";
        assert!(caught(&format!("Test: [12/391]\n{raised}{stack}")).is_some());
        let none = "ABORTED: cannot allocate mem for nlist\n0 successful operations.\n";
        assert!(caught(none).is_some());
    }

    #[test]
    fn what_made_do_or_tells_of_another_time_is_left_alone() {
        for log in [
            "reading\n Not enough memory to run with 16 processors, using  9.\n iteration 1\n Normal termination\n",
            "$ grep -n exhausted t.sh\n34:\t\t-e not-inline:\"grid: memory exhausted\\n\" \\\n35:\t\tgrid\n",
            "From: Ann\nSubject: [PATCH v2] avoid it\nDate: today\n\nfails with:\n\ngrid: memory exhausted\n",
            "[gl copy] could not allocate oversize buffer on device 0: GL_SUCCESS\nframe 12\nframe 13\n",
            " mémoire totale demandée       :     512.00 Mo\n step 1\n",
        ] {
            assert!(caught(log).is_none(), "{log}");
        }
        let failed = "h grid: Error: mmap(size=217500000) failed with file a.cache: Cannot allocate memory\n";
        let on = "h grid: connect from local\nh grid: saved mail to Inbox\nh grid: logged in\n";
        assert!(caught(&format!("{failed}{failed}{on}")).is_none(), "the same again is no death");
    }

    #[test]
    fn a_box_is_read_as_one_and_the_tighter_of_two_limits_counts() {
        let boxed = "!----!\n!  Erreur lors de l'allocation. Il n'a pas été possible d'allouer   !\n\
                     !  une zone mémoire de longueur 2048 Mo, on dépasse la limite   !\n\
                     !  fixée à 1024 Mo et on occupe déjà 512 Mo.      !\n!----!\n";
        let told = vec![(Fact::Requested, 2048), (Fact::Limit, 1024), (Fact::Used, 512)];
        assert_eq!(sizes(&caught(boxed).unwrap()), told);
        let two = "grid: failed to allocate 64 MiB\nMemory left in process limit: 9216 MiB\n\
                   Memory left in query limit: 4 MiB\n";
        assert_eq!(sizes(&caught(two).unwrap()), vec![(Fact::Requested, 64), (Fact::Free, 4)]);
    }

    #[test]
    fn a_way_out_that_is_told_before_the_message_counts() {
        let log = "WARN GPU FFT failed! Falling back to CPU... Error: Ocl Error:\n\nError executing: clEnqueueRead\n\n\
                   Status error code: CL_MEM_OBJECT_ALLOCATION_FAILURE (-4)\n\nINFO proof: finish\nINFO seal: finish\n";
        assert!(caught(log).is_none());
        let tried = "Failed allocating 11.0GB, trying to use smaller size. More system memory can help.\n";
        assert!(caught(&format!("{tried}test PASSed!\nno errors\n")).is_none());
        assert!(caught("Failed allocating 11.0GB, trying to allocate the mesh.\n").is_some());
    }

    #[test]
    fn what_a_shell_is_told_next_is_another_programs() {
        let failed = "ann@host:~$ grid -m 64M\nfailed to mmap with 12 (Cannot allocate memory)\n";
        assert!(caught(&format!("{failed}ann@host:~$ grid -m 1M\nstep 1/2\nstep 2/2\nwrote out.bin\n")).is_some());
        assert!(caught(&format!("{failed}step 1/2\nstep 2/2\nwrote out.bin\n")).is_none());
    }

    #[test]
    fn the_c_librarys_sentence_is_heard_in_other_languages() {
        for line in [
            "diff: mémoire épuisée",
            "diff: memoria agotada",
            "sort: Speicher erschöpft",
            "grep: память исчерпана",
            "FEHLER: G_malloc: Kann nicht 2272853112 Byte auf init_vars.c:134 reservieren",
        ] {
            assert!(caught(&format!("{line}\n")).is_some(), "{line}");
        }
        assert!(caught("FEHLER: Kann nicht auf die Datei zugreifen, 12 Byte gelesen\n").is_none());
    }

    #[test]
    fn what_is_denied_or_stands_in_a_trace_is_no_failure() {
        assert!(caught("print('no memory errors so far')\nno memory errors so far\n").is_none());
        let call = "vaultd/8121 mmap(len: 8589934592, prot: READ|WRITE) = -1 ENOMEM (Cannot allocate memory)\n";
        assert!(
            caught(&format!("{call}vaultd/8121 mmap(len: 4096) = 0x7f1c\nvaultd/8121 write(fd: 2) = 61\nb\n"))
                .is_none()
        );
    }

    #[test]
    fn advice_behind_a_message_is_no_way_on() {
        let failed = "Caused by: org.grid.GridOutOfMemoryException: Out of memory in data region, try the following:\n";
        assert!(caught(&format!("{failed}  ^-- Enable eviction or expiration\n  ^-- Reduce the load\n")).is_some());
    }

    #[test]
    fn a_known_programs_next_attempt_is_a_way_on() {
        let log =
            "trying batch 512: CUDA out of memory, trying 256\nbatch fits\nepoch 1/10 loss 0.4\nepoch 2/10 loss 0.3\n";
        let events = dialect::events(&Document::from_text("-", log));
        assert_eq!(events.first().map(|event| event.standing), Some(Standing::Harmless));
    }

    #[test]
    fn a_job_that_a_scheduler_leaves_out_is_no_failure() {
        let left = "10:13:01 [grid] Mesh needs 7000.00 MB RAM but only 4000.00 MB is available for use.\n";
        assert!(
            caught(&format!("{left}10:13:06 [tile] Computation finished\n10:13:06 [tile] Starting task\n")).is_none()
        );
        assert!(caught(&format!("10:12:00 [grid] loading\n{left}")).is_some());
    }

    #[test]
    fn an_error_that_is_quoted_within_another_is_reported() {
        let quoted = "called `Result::unwrap()` on an `Err` value: Proofs(\"GPU Error: Cuda Error: out of memory\")\n";
        assert!(caught(&format!("thread 'main' panicked at src/a.rs:1:10:\n{quoted}")).is_some());
        assert!(caught("    log(\"out of memory\")\nstep 1\nstep 2\n").is_none());
    }

    #[test]
    fn the_writers_number_is_read_where_loggers_put_it() {
        let pid = |line: &str| caught(line).unwrap().facts.pid.value();
        for (line, number) in [
            ("2026-04-11 07:52:12 gridtool[4711]: out of memory\n", Some(4711)),
            ("[20:14:31] [4123] [ERROR] out of GPU memory\n", Some(4123)),
            (
                "2026-03-02 17:26:12.012 [4211] main/103 F> failed to allocate 9 MB: Cannot allocate memory\n",
                Some(4211),
            ),
            ("2026-03-02 17:26:12 UTC [4211] ERROR:  out of memory\n", Some(4211)),
            ("gridtool: out of memory in worker (pid 812)\n", Some(812)),
            ("gridtool: out of memory in pid 812 and pid 813\n", None),
            ("gridtool executing on box, pid 812\nreading\nmmap: Cannot allocate memory\n", Some(812)),
            ("child pid 812 died\nmmap: Cannot allocate memory\n", None),
            ("[rank 3] [12] gridtool: out of memory\n", None),
            ("gridtool [4711 MB]: out of memory\n", None),
        ] {
            assert_eq!(pid(line), number, "{line}");
        }
    }

    #[test]
    fn a_report_of_the_memory_before_the_message_tells_its_state() {
        let report = "=====\nAvailable memory on node 0, free + buffers :  411209 MiB\n\
                      Device memory allocated by the solver :   6031 MiB\n\
                      Free memory on the default device      :    812 MiB\n=====\n";
        let failed = "ERROR gridtool: failed to allocate 2048 MiB on the GPU\n";
        let told = |log: &str| sizes(&caught(log).unwrap());
        let state = vec![(Fact::Requested, 2048), (Fact::Free, 812), (Fact::Allocated, 6031)];
        assert_eq!(told(&format!("{report}{failed}")), state);
        let early = "Free memory on the default device      :  5812 MiB\ntile 1\ntile 2\n";
        assert_eq!(told(&format!("{early}{failed}")), vec![(Fact::Requested, 2048)], "there was room then");
        let other = "Free memory of device 1 : 100 MiB\ntile 1\ntile 2\n";
        assert_eq!(told(&format!("{report}{other}{failed}")), vec![(Fact::Requested, 2048), (Fact::Allocated, 6031)]);
        let step = "step 12 GPU memory: 5812 MiB\n";
        assert_eq!(told(&format!("{step}{failed}")), vec![(Fact::Requested, 2048)], "what is used at a step");
    }

    #[test]
    fn a_number_that_begins_a_text_may_have_lost_digits() {
        assert_eq!(sizes(&caught("22 MiB could not be allocated: out of memory\n").unwrap()), vec![]);
        let whole = "grid 1\n22 MiB could not be allocated: out of memory\n";
        assert_eq!(sizes(&caught(whole).unwrap()), vec![(Fact::Requested, 22)]);
    }

    #[test]
    fn figures_that_can_be_read_in_two_ways_contradict_others() {
        let report =
            "Device memory allocated by A :  6,031 MiB\nDevice memory allocated by B :    812 MiB\ntile 1\ntile 2\n";
        let log = format!("start\n{report}ERROR gridtool: GPU out of memory\n");
        assert_eq!(sizes(&caught(&log).unwrap()), vec![]);
    }

    #[test]
    fn the_one_device_that_the_lines_before_name_is_the_messages() {
        let device = |log: &str| caught(log).unwrap().facts.device.value();
        assert_eq!(device("Attached to device 3\nERROR: GPU out of memory\n"), Some(3));
        assert_eq!(device("device 0: a\ndevice 1: b\nERROR: GPU out of memory\n"), None);
        assert_eq!(device("ERROR: out of memory on CUDA device 03:00.0\n"), None);
        assert_eq!(device("ERROR: out of memory on CUDA device 3: 4 GiB\n"), Some(3));
    }

    #[test]
    fn what_comes_after_decides() {
        let failed = "ERROR: gridtool: out of memory\n";
        assert!(caught(failed).is_some());
        assert!(caught(&format!("{failed}step 12/20\nstep 13/20\nsaved to out.bin\n")).is_none());
        let warned = "WARNING gridtool: could not allocate 2.0 GiB\n";
        assert!(caught(&format!("{warned}terminate called after throwing\nAborted (core dumped)\n")).is_some());
        assert!(caught(&format!("{warned}step 12/20\nstep 13/20\n")).is_none());
    }
}
