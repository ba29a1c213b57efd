//! Lines that hold a failure's words and report none: remarks, manuals, mails, and other things that were refused.

use crate::dialect::field;
use crate::input::Document;

/// True for a line whose call gave a code of its driver for something else than memory: `Call to cuMemAlloc results in
/// CUDA_ERROR_LAUNCH_FAILED` is a kernel's crash, reported by the next call.
pub(super) fn of_another_code(line: &str) -> bool {
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

/// True where what was refused is no memory: blocks of a file that is to be filled, the buffers that the kernel has for
/// a socket, jemalloc's thread where no further one is allowed, a heap whose own records were overwritten (glibc's
/// malloc.c), and a disk by the exception's own frames,
/// `at Queue.ensureDiskAvailable(Queue.java:921)`.
pub(super) fn of_something_else(document: &Document, position: usize, lower: &str) -> bool {
    const REFUSED: &[&str] = &[
        "preallocation failed",
        "thread creation failed",
        "receive buffer size",
        "send buffer size",
        "memory corruption",
    ];
    if REFUSED.iter().any(|words| lower.contains(words)) {
        return true;
    }
    let memory = ["memory", "heap", "ram"].iter().any(|word| lower.contains(word));
    let mut frames = field::behind(document, position, 2).map(|at| field::text(document, at).trim_start());
    !memory && frames.any(|line| line.starts_with("at ") && line.contains("Disk"))
}

/// True for a collector's warning where its program's own word follows, which has the figures.
pub(super) fn warns_before_the_program(document: &Document, position: usize) -> bool {
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
pub(super) fn is_remark(line: &str) -> bool {
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
pub(super) fn in_a_docstring(document: &Document, position: usize) -> bool {
    const LINES: usize = 3;
    let parameter = |at: usize| field::text(document, at).trim_start().starts_with(":param ");
    parameter(position) || field::before(position, LINES).any(parameter)
}

/// True where the words begin a line that goes on with a sentence which supposes, and lacks them: `This might cause it
/// to run out of memory before your system runs` above `out of memory.` A complete line is another's: `this may take a
/// while`.
pub(super) fn goes_on_with_a_supposition(document: &Document, position: usize, lead: &str) -> bool {
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
pub(super) fn in_manual(document: &Document, position: usize) -> bool {
    const BELOW: usize = 6;
    let heading = |at: usize| field::text(document, at).trim().trim_start_matches(['*', '/', ' ']) == "Action:";
    let reported = |at: usize| field::text(document, at).contains("FAILED");
    field::behind(document, position, BELOW).any(heading) && !field::before(position + 1, BELOW).any(reported)
}

/// True below the head of a mail that sends a change or answers another: it tells of failures that were.
pub(super) fn in_mail(document: &Document, position: usize) -> bool {
    const HEAD: usize = 40;
    let text = |at: usize| field::text(document, at).trim_start();
    let about = |line: &str| ["[PATCH", "Re: ", "RE: ", "AW: ", "Fwd: "].iter().any(|mark| line.contains(mark));
    let mut above = field::before(position, HEAD).map(text);
    above.any(|line| line.starts_with("Subject: ") && about(line))
        && field::before(position, HEAD).map(text).any(|line| line.starts_with("From: ") || line.starts_with("Date: "))
}
