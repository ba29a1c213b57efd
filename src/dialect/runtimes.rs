//! Allocations on the host that a language's runtime or a library refused: NumPy, Python, C++, Rust, Go, the JVM, Node,
//! R, MATLAB, data frames, `fork`, Dask's worker memory.

use super::bare::bare;
use super::joined::Printed;
use super::labelled::{Labelled, spoken};
use super::wording::{self, Means, Unit, WORDING, Wording};
use super::xla::tensor;
use super::{Dialect, Event, Fact, Resource, Sign, Standing, field, naming};
use crate::domain::{Number, Program};
use crate::evidence::Span;
use crate::input::Document;
use crate::text;
use crate::units::{Base, Figure, MIB};

pub const DIALECT: Dialect = Dialect {
    name: "runtimes",
    triggers: &[
        "llocate ",
        "(?i)[errno 12]",
        "(?i)alloc of size",
        "(?i): fork: ",
        "(?i)fork failed",
        "(?i)cannot fork",
        "(?i)array size preference",
        "(?i)maximum variable size",
        "(?i)out of memory.",
        "(?i)out of memory error",
        "(?i)out of memory on device",
        "(?i)cap exceeded",
        "(?i)llocation failed",
        "(?i)tokenizing data",
        "(?i)error: oom:",
        "(?i)array is too big",
        "Maximum allowed dimension exceeded",
        "(?i)enough space for",
        "OutOfMemoryException",
        "Stack: OutOfMemoryError",
        "Stack: `OutOfMemoryError",
        "What went wrong:",
        "(?i)directmemoryerror",
        "(?i)of direct buffer",
        "(?i)unable_to_acquire",
        "(?i)nable to acquire",
        "(?i)spark.driver.maxresultsize",
        "(?i)fatal process oom",
        "Fatal JavaScript out of memory",
        "(?i)reaching memory limit",
        "(?i)cannot map pages",
        "insufficient memory for the Java",
        "(?i)runtime: mmap(",
        "(?i)vector memory",
        "(?i)kann vektor",
        "(?i)un vecteur de",
        "(?i)vector de tama",
        "(?i)vetor de tamanho",
        "(?i)vettore di dimensione",
        "вектор размером",
        "无法分配大小为",
        "ベクトルを割り当て",
        "벡터를 할당할",
        "MemoryError",
        "t start new thread",
        "pthread_create failed (EAGAIN)",
        "emory allocation",
        "bad_alloc",
        "(?i)rror 1455",
        "out of memory",
        "illed",
        "(?i)killedworker",
        "memory budget",
        "emory limit",
    ],
    read,
};

/// Lines that a message may take in a narrow terminal.
const LINES: usize = 3;
/// Lines around a message in which the same failure is told.
const NEAR: usize = 15;

type Reader = fn(&Document, usize, &str) -> Option<Event>;

fn read(document: &Document, position: usize) -> Option<Event> {
    const READERS: [Reader; 12] = [numpy, python, cpp, go, node, sentences, jvm, gradle, julia, fork, dask, gdi];
    let line = field::text(document, position);
    READERS.iter().find_map(|reader| reader(document, position, line))
}

/// A refused request of the program itself.
fn refused(document: &Document, position: usize, dialect: &'static str, program: Program) -> Event {
    field::event(document, position, dialect, program, Resource::Host)
}

fn harmless(mut event: Event, because: crate::text::Text) -> Option<Event> {
    event.make_harmless(because);
    Some(event)
}

/// `Unable to allocate X for an array with shape (…) and data type T`; 1.17 gives no size, which follows from the
/// shape (`numpy/core/_exceptions.py`).
fn numpy(document: &Document, position: usize, line: &str) -> Option<Event> {
    if !line.contains("Unable to allocate") {
        return None;
    }
    let message = field::joined(document, position, LINES);
    let start = message.find("Unabletoallocate", 0)?;
    let shape = message.find("arraywithshape", start)?;
    let mut event = refused(document, position, "numpy-array", Program::Numpy);
    let offset = start + "Unabletoallocate".len();
    match message.size_at(offset, Base::Binary) {
        Some((Printed::Size(figure), _)) => event.facts.note(Fact::Requested, figure),
        Some((Printed::Unreadable(at), _)) => {
            event.facts.unreadable.insert(Fact::Requested, at);
            event.sign(Sign::AbsurdRequest);
        }
        None => match of_shape(&message.squeezed[shape..]) {
            Some(bytes) => {
                let at = message.span(shape, shape);
                event.facts.note(Fact::Requested, Figure { bytes, half_width: 0, at });
            }
            None => event.sign(Sign::NoFigures),
        },
    }
    event.at.last = message.line_at(shape);
    Some(event)
}

/// Bytes of `arraywithshape(249255,249255)anddatatypefloat64`; `None` for a torn shape or a type of no fixed size.
fn of_shape(squeezed: &str) -> Option<u64> {
    let (shape, rest) = squeezed.split_once('(')?.1.split_once(')')?;
    let name = rest.strip_prefix("anddatatype")?;
    // Text of a fixed width, `<U1884285`, has four bytes for each letter, bytes (`|S12`) one.
    let wide = name.trim_start_matches(['<', '>', '|', '=']);
    let letters =
        |kind: char| wide.strip_prefix(kind).map(|count| count.trim_end_matches(|c: char| !c.is_ascii_digit()));
    let width = letters('U').and_then(|count| count.parse::<u64>().ok()?.checked_mul(4));
    let width = width.or_else(|| letters('S')?.parse().ok());
    let end = name.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(name.len());
    let sides = shape.split(',').filter(|side| !side.is_empty());
    let elements =
        sides.map(|side| side.parse().ok()).try_fold(1u64, |all, side: Option<u64>| all.checked_mul(side?))?;
    elements.checked_mul(width.or_else(|| tensor::element(&name[..end]))?)
}

/// Lines between the exception and what Paddle says of it.
const OF_PADDLE: usize = 40;

/// A bare `MemoryError`, and threads that Python cannot start.
fn python(document: &Document, position: usize, line: &str) -> Option<Event> {
    let text = bare(line).trim_end();
    if ["can't start new thread", "can’t start new thread"].iter().any(|words| text.ends_with(words)) {
        let mut event = refused(document, position, "python-thread", Program::Python);
        event.sign(Sign::ThreadRefused);
        return harmless(
            event,
            text!(
                en: "Python could not start a thread: the limit on threads (ulimit -u, pids.max) or on addresses was \
                     reached (ulimit -v, of which each thread's stack takes a part), not the memory",
                zh: "Python 无法创建线程：达到的是线程数上限（ulimit -u、pids.max）或地址空间上限（ulimit -v，每个线程的栈\
                     占去一部分），而不是内存上限"
            ),
        );
    }
    let raised = text == "MemoryError"
        || text.strip_prefix("MemoryError:").is_some_and(|tail| !foreign(tail) && !tail.contains("bad_alloc"));
    if !raised {
        return None;
    }
    let mut event = refused(document, position, "python-memory-error", Program::Python);
    event.sign(Sign::NoFigures);
    // Paddle's own message stands below, behind the traceback of its C++.
    let own = |at: usize| field::text(document, at).starts_with("Out of memory error on ");
    if field::behind(document, position, OF_PADDLE).any(own) {
        event.standing = Standing::Follower;
    }
    Some(event)
}

/// True where the memory is a device's, so that another dialect reads it.
fn foreign(text: &str) -> bool {
    ["CUDA", "cuda", "cuMem", "hipM", "rmm", "GPU", "gpu", "device memory"].iter().any(|word| text.contains(word))
}

/// `std::bad_alloc`, uncaught or wrapped in a Python error.
fn cpp(document: &Document, position: usize, line: &str) -> Option<Event> {
    if !line.contains("std::bad_alloc") || foreign(line) {
        return None;
    }
    let before = field::text(document, position.saturating_sub(1));
    let wrapped = position > 0 && before.contains("terminate called");
    let raised = wrapped || line.contains("terminate called") || line.contains("rror: ") || line.contains("what():");
    let told = field::before(position, 4).any(|at| field::text(document, at).contains("bad_alloc"));
    if !raised || told || foreign(field::text(document, position + 1)) {
        return None;
    }
    let near = |word: &str| field::before(position, 40).any(|at| field::text(document, at).contains(word));
    let program = if near("torch") {
        Program::Pytorch
    } else if near("site-packages") || near("Traceback") {
        Program::Python
    } else {
        naming::program(document, position).unwrap_or(Program::Generic)
    };
    let mut event = refused(document, position, "cpp-bad-alloc", program);
    event.sign(Sign::NoFigures);
    Some(event)
}

/// `runtime: out of memory: cannot allocate N-byte block (M in use)`, then `fatal error: out of memory`.
fn go(document: &Document, position: usize, line: &str) -> Option<Event> {
    let first = line.contains("runtime: out of memory");
    let fatal = line.trim_start().starts_with("fatal error:") && line.trim_end().ends_with("out of memory");
    let goroutine =
        || field::behind(document, position, 8).any(|at| field::text(document, at).starts_with("goroutine "));
    if !(first || fatal && goroutine()) {
        return None;
    }
    let mut event = refused(document, position, "go-runtime", Program::Go);
    let labelled = Labelled::at(document, position, 2);
    for (fact, label, unit) in [
        (Fact::Requested, "cannotallocate", Unit::Counted(1, "-byte")),
        (Fact::Allocated, "block(", Unit::Counted(1, "inuse")),
    ] {
        if let Some(figure) = labelled.figure(label, unit).filter(|_| first) {
            event.facts.note(fact, figure);
        }
    }
    // `runtime.sysMap(0xc078000000, 0x4000000, …)` of the stack: what the system was asked for (runtime/mem_linux.go).
    // `runtime.largeAlloc(0x36e0d8000, …)`: what the program asked for (runtime/malloc.go); the heap grows by more.
    let hexadecimal = |text: &str| {
        let end = text.find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(text.len());
        u64::from_str_radix(&text[..end], 16).ok()
    };
    let of_stack = |call: &str, argument: usize| {
        field::behind(document, position, 40).find_map(|at| {
            let arguments = field::after(field::text(document, at), call)?;
            Some((at, hexadecimal(arguments.split(", ").nth(argument)?.strip_prefix("0x")?)?))
        })
    };
    let (mapped, asked) = (of_stack("runtime.sysMap(", 1), of_stack("runtime.largeAlloc(", 0));
    // Of a small piece the heap grows by 64 MiB, and that was refused.
    let asked = asked.filter(|(_, asked)| mapped.is_none_or(|(_, mapped)| *asked >= mapped / 2));
    if event.facts.get(Fact::Requested).is_none()
        && let Some((at, size)) = asked.or(mapped)
    {
        let at = Span::line(field::number(document, at));
        event.facts.note(Fact::Requested, Figure { bytes: size, half_width: 0, at });
    }
    if fatal && field::before(position, 3).any(|at| field::text(document, at).contains("runtime: out of memory")) {
        event.standing = Standing::Follower;
    }
    Some(event)
}

/// True where the lines around a refused thread show how many there may be or are.
fn counts_threads(document: &Document, position: usize) -> bool {
    const COUNTS: [&str; 8] =
        ["ulimit -u", "max user processes", "pid_limit", "pids-limit", "pids.max", "numproc", "threads-max", "  PIDS"];
    let around = field::before(position, 40).chain(field::behind(document, position, 40));
    around.map(|at| field::text(document, at)).any(|line| COUNTS.iter().any(|words| line.contains(words)))
}

/// No lack of memory where the system did not permit it: `os::commit_memory(…) failed; error='Operation not
/// permitted' (errno=1)`, a few lines above.
fn may_map(document: &Document, position: usize, event: Event) -> Option<Event> {
    if !field::before(position, 3).any(|at| field::text(document, at).contains("(errno=1)")) {
        return Some(event);
    }
    harmless(
        event,
        text!(
            en: "the system does not permit the JVM to map these pages (errno 1): a right is missing, not memory",
            zh: "系统不允许 JVM 映射这些页面（errno 1）：缺少的是权限，而不是内存"
        ),
    )
}

fn jvm(document: &Document, position: usize, line: &str) -> Option<Event> {
    if line.contains("Native memory allocation (") {
        let mut event = refused(document, position, "jvm-native", Program::Java);
        event.sign(Sign::HeapCommit);
        let labelled = Labelled::at(document, position, 3);
        let asked = ["failedtomap", "failedtoallocate"]
            .iter()
            .find_map(|label| labelled.figure(label, Unit::Printed(Base::Binary)));
        if let Some(asked) = asked {
            event.facts.note(Fact::Requested, asked);
        }
        return may_map(document, position, event);
    }
    // `There is insufficient memory for the Java Runtime Environment`, `Cannot create worker GC thread.`: why stands in
    // the line of `os,thread` before.
    if line.contains("insufficient memory for the Java") {
        let told = |at: &usize, words: &str| field::text(document, *at).contains(words);
        let Some(refusal) = field::behind(document, position, 3).find(|at| told(at, "thread. Out of system resources"))
        else {
            let event = refused(document, position, "jvm-native", Program::Java);
            return may_map(document, position, event).filter(|event| event.standing == Standing::Harmless);
        };
        let begun = field::before(position, 6).filter(|at| told(at, "pthread_create failed")).last();
        let mut event = refused(document, position, "jvm-thread", Program::Java);
        event.sign(Sign::ThreadRefused);
        if begun.is_some_and(|at| told(&at, "(EPERM)")) {
            event.sign(Sign::NotPermitted);
        }
        event.at = Span::lines(document.lines[begun.unwrap_or(position)].number, document.lines[refusal].number);
        return Some(event);
    }
    // A program that goes on or dies without a word of its own has only the JVM's warning.
    if line.contains("Failed to start thread") && line.contains("pthread_create failed (EAGAIN)") {
        let said = |at: usize| {
            let line = field::text(document, at);
            line.contains("native thread:")
                || line.contains("OutOfMemoryError")
                || line.contains("Out of system resources")
                || line.contains("pthread_create failed")
        };
        if field::behind(document, position, 16).any(said) {
            return None;
        }
        let mut event = refused(document, position, "jvm-thread", Program::Java);
        event.sign(Sign::ThreadRefused);
        return Some(event);
    }
    // Gradle tells it in words of its own: `Out of memory. Java heap space`.
    let thrown = field::after(line, "java.lang.OutOfMemoryError")
        .or_else(|| field::after(line, "Out of memory. Java"))
        .or_else(|| field::after(line, "Throwing OutOfMemoryError"));
    // Android's lint tells the reason a line above: `Message: Metaspace`, `Stack: OutOfMemoryError`.
    let linted = || {
        let above = field::text(document, field::before(position, 1).next()?);
        field::after(line, "Stack: ").filter(|stack| stack.trim_start_matches('`').starts_with("OutOfMemoryError"))?;
        field::after(above, "Message: ")
    };
    let reason = thrown.or_else(linted)?.trim_start_matches([':', ' ', '"']);
    let mut event = refused(document, position, "jvm-heap", Program::Java);
    if thrown.is_none() {
        event.message = format!("OutOfMemoryError: {}", reason.trim());
    }
    // A limit on threads or addresses, or the RAM for stacks: the log alone seldom tells. Where it shows the count that
    // was reached, memory is not what ran out.
    if reason.contains("unable to create") && reason.contains("native thread") {
        if counts_threads(document, position) {
            return harmless(
                event,
                text!(
                    en: "the JVM could not start a thread: the limit on processes or threads was reached, not the \
                         memory",
                    zh: "JVM 无法创建线程：达到的是进程/线程数上限，而不是内存上限"
                ),
            );
        }
        event.sign(Sign::ThreadRefused);
        return Some(event);
    }
    // A file that is mapped takes no heap: a process may have so many mappings (FileChannelImpl.java). Windows counts
    // none, and runs out of addresses.
    if reason.starts_with("Map failed") {
        let around = field::before(position, NEAR).chain(field::behind(document, position, NEAR));
        let windows = around.map(|at| field::text(document, at)).any(|line| line.contains(":\\"));
        event.sign(if windows { Sign::AddressSpaceLimit } else { Sign::MappingsRanOut });
        event.sign(Sign::NoFigures);
        return Some(event);
    }
    // The JVM's own limit, set by -Xmx or derived from the machine, not the machine's memory.
    event.sign(Sign::RefusedByLimit);
    // `Failed to allocate a N byte allocation with N free bytes and NMB until OOM, …, growth limit N`: Android's.
    let labelled = Labelled::at(document, position, 3);
    for (fact, label, unit) in [
        (Fact::Requested, "failedtoallocatea", Unit::Counted(1, "byteallocation")),
        (Fact::Free, "byteallocationwith", Unit::Counted(1, "freebytes")),
        (Fact::Limit, "growthlimit", Unit::Of(1)),
    ] {
        if let Some(figure) = labelled.figure(label, unit).filter(|_| reason.starts_with("Failed to allocate a")) {
            event.facts.note(fact, figure);
        }
    }
    // Guava's, of a file that no array holds (com/google/common/io/ByteStreams.java).
    if let Some(bytes) = field::number_after(reason, "fit in a byte array: ") {
        event.facts.note(Fact::Requested, Figure { bytes, half_width: 0, at: event.at });
    }
    if let Some((at, [free, limit])) = crash_report(document, position) {
        for (fact, bytes) in [(Fact::Free, free), (Fact::Limit, limit)] {
            let at = Span::line(field::number(document, at));
            event.facts.note(fact, Figure { bytes, half_width: 0, at });
        }
    }
    if event.facts.sizes.is_empty() {
        event.sign(Sign::NoFigures);
    }
    if field::before(position, NEAR).any(|at| field::text(document, at).contains("java.lang.OutOfMemoryError")) {
        event.standing = Standing::Follower;
    }
    Some(event)
}

/// What is free of the heap, and its limit, as Minecraft's crash report prints them below the error:
/// `Memory: 41943040 bytes (40 MB) / 2041577472 bytes (1947 MB) up to 2059403264 bytes (1964 MB)`.
fn crash_report(document: &Document, position: usize) -> Option<(usize, [u64; 2])> {
    /// Lines of a report between its error and its figures.
    const BEHIND: usize = 120;
    field::behind(document, position, BEHIND).find_map(|at| {
        let (_, told) = field::text(document, at).split_once("Memory: ")?;
        let (free, rest) = told.split_once(" bytes (")?;
        let (_, most) = rest.split_once(" up to ")?;
        let (most, _) = most.split_once(" bytes (")?;
        Some((at, [free.parse().ok()?, most.parse().ok()?]))
    })
}

/// V8's heap limit; the last collections are printed in front, in MB of 2^20 bytes.
fn node(document: &Document, position: usize, line: &str) -> Option<Event> {
    // What Deno and other hosts of V8 print: `# Fatal JavaScript out of memory: Reached heap limit`.
    let of_v8 = line.contains("Fatal JavaScript out of memory");
    let collects = |line: &str| line.contains(" ms: Mark-sweep ") || line.contains("[last resort gc]");
    // Up to Node 6 V8 said so of its own limit too; the collections that it tried in vain stand above.
    let in_vain = || field::before(position, NEAR).any(|at| collects(field::text(document, at)));
    let old = line.contains("Allocation failed - process out of memory") && in_vain();
    if !(line.contains("heap out of memory") || line.contains("JavaScript heap") || of_v8 || old) {
        return None;
    }
    let host = naming::program(document, position).filter(|_| of_v8);
    let wording = if old { "node-process-oom-in-vain" } else { "node-heap" };
    let mut event = refused(document, position, wording, host.unwrap_or(Program::Node));
    event.sign(Sign::RefusedByLimit);
    let pid = field::before(position, NEAR).find_map(|at| {
        let (_, tail) = field::text(document, at).split_once('[')?;
        tail.split_once(":0x").and_then(|(pid, _)| pid.parse().ok())
    });
    field::note_pid(&mut event, pid);
    let collection = field::before(position, NEAR).find_map(|at| {
        let line = field::text(document, at);
        (line.contains(" -> ") && line.contains(" MB")).then_some(())?;
        Labelled::at(document, at, 1).figure("->", Unit::In("MiB"))
    });
    // `[4711:0x6f0] 237406174 ms: Scavenge …`: since the process began.
    let lived = field::before(position, NEAR).find_map(|at| {
        let (head, rest) = field::text(document, at).split_once(" ms: ")?;
        let collects = ["Scavenge", "Mark-"].iter().any(|kind| rest.starts_with(kind));
        let ms: f64 = head.rsplit([' ', ']']).next()?.parse().ok()?;
        collects.then(|| (ms / 1000.0, Span::line(field::number(document, at))))
    });
    if let Some(lived) = lived {
        event.facts.numbers.insert(Number::LifetimeSeconds, lived);
    }
    match collection {
        Some(used) => event.facts.note(Fact::Used, used),
        None => event.sign(Sign::NoFigures),
    }
    Some(event)
}

/// The innermost of Gradle's causes, each below the other: `> Execution failed for …`, `   > Java heap space`. It is
/// looked for from their head: lines of a collector's log have its words, and there are millions of those.
fn gradle(document: &Document, position: usize, line: &str) -> Option<Event> {
    const CAUSES: usize = 12;
    const REASONS: [&str; 3] = ["Java heap space", "GC overhead limit exceeded", "Metaspace"];
    line.contains("What went wrong:").then_some(())?;
    // Its marks look like those of a quotation, which are taken off.
    let cause = |at: &usize| field::text(document, *at).trim_start_matches(['>', ' ']).trim_end();
    let at = field::behind(document, position, CAUSES).find(|at| REASONS.contains(&cause(at)))?;
    let mut event = refused(document, at, "jvm-heap", Program::Java);
    event.sign(Sign::RefusedByLimit);
    event.sign(Sign::NoFigures);
    Some(event)
}

/// Julia's own error.
fn julia(document: &Document, position: usize, line: &str) -> Option<Event> {
    if !line.contains("OutOfMemoryError()") || foreign(line) {
        return None;
    }
    let mut event = refused(document, position, "julia", Program::Julia);
    event.sign(Sign::NoFigures);
    Some(event)
}

/// `System.OutOfMemoryException` out of System.Drawing: GDI+ answers so to a rectangle outside of the picture and to a
/// file that is none (`Bitmap.Clone`, `Image.FromFile` in Microsoft's reference), whatever memory there is.
fn gdi(document: &Document, position: usize, line: &str) -> Option<Event> {
    const CALLS: &[&str] = &["Bitmap.Clone(", "Image.FromFile(", "Image.FromStream("];
    let named = |line: &str| line.contains("System.OutOfMemoryException");
    // Its text, on a line of its own.
    let text = line.trim_end().trim_end_matches('.').ends_with("Out of memory");
    let above = || field::before(position, 3).any(|at| named(field::text(document, at)));
    let tells = named(line) || text && above();
    if !tells {
        return None;
    }
    let near = || field::behind(document, position, 6).map(|at| field::text(document, at));
    let drawn = std::iter::once(line).chain(near()).any(|line| {
        line.split_once(" at System.Drawing.").is_some_and(|(_, call)| CALLS.iter().any(|name| call.starts_with(name)))
    });
    let event = refused(document, position, "dotnet-drawing", Program::named("dotnet")?);
    drawn.then(|| {
        harmless(
            event,
            text!(
                en: "GDI+ says so of a rectangle outside of the picture and of a file that is no picture as well",
                zh: "GDI+ 对超出图片范围的矩形和无效的图片文件也报这个错误"
            ),
        )
    })?
}

/// Runtimes and libraries with a sentence each.
fn sentences(document: &Document, position: usize, _: &str) -> Option<Event> {
    wording::read(document, position, SENTENCES)
}

/// R's words for `cannot allocate vector of size`, up to the figure, in the languages it speaks.
const R_VECTOR: &[(Fact, &str, Unit)] = &[
    (Fact::Requested, "vectorofsize", Unit::Printed(Base::Binary)),
    (Fact::Requested, "memoryblockofsize", Unit::Printed(Base::Binary)),
    (Fact::Requested, "vektordergröße", Unit::Printed(Base::Binary)),
    (Fact::Requested, "vecteurdetaille", Unit::Printed(Base::Binary)),
    (Fact::Requested, "vectordetamaño", Unit::Printed(Base::Binary)),
    (Fact::Requested, "vetordetamanho", Unit::Printed(Base::Binary)),
    (Fact::Requested, "vettoredidimensione", Unit::Printed(Base::Binary)),
    (Fact::Requested, "векторразмером", Unit::Printed(Base::Binary)),
    (Fact::Requested, "无法分配大小为", Unit::Printed(Base::Binary)),
    (Fact::Requested, "サイズ", Unit::Printed(Base::Binary)),
    (Fact::Requested, "크기가", Unit::Printed(Base::Binary)),
];

const SENTENCES: &[Wording] = &[
    // R: `Gb` are 2^30 bytes.
    Wording {
        says: &[
            "cannotallocatevectorofsize",
            "cannotallocatememoryblockofsize",
            "kannvektordergröße",
            "impossibled'allouerunvecteurdetaille",
            "nosepuedeubicarunvectordetamaño",
            "épossívelalocarvetordetamanho",
            "èpossibileallocareunvettoredidimensione",
            "немогуразместитьвекторразмером",
            "无法分配大小为",
            "のベクトルを割り当てることができません",
            "벡터를할당할수없습니다",
        ],
        slug: "r-vector",
        program: Program::R,
        figures: R_VECTOR,
        ..WORDING
    },
    Wording {
        says: &["vectormemoryexhausted(limitreached?)", "vectormemorylimitof"],
        slug: "r-vector-limit",
        program: Program::R,
        signs: &[Sign::RefusedByLimit],
        figures: &[(Fact::Limit, "vectormemorylimitof", Unit::Printed(Base::Binary))],
        ..WORDING
    },
    Wording {
        says: &["outofmemoryondevice."],
        and: &["gpudevice"],
        slug: "matlab-gpu",
        program: Program::Matlab,
        resource: Resource::Gpu,
        lines: 2,
        ..WORDING
    },
    // gpuArray and CUDAKernel: one array is larger than the device makes.
    Wording {
        says: &["maximumvariablesizeallowedonthedeviceisexceeded"],
        slug: "matlab-device-array",
        program: Program::Matlab,
        resource: Resource::Gpu,
        signs: &[Sign::BufferSizeLimit],
        ..WORDING
    },
    Wording {
        says: &["requested"],
        and: &["arrayexceedsmaximumarraysizepreference"],
        slug: "matlab-array-limit",
        program: Program::Matlab,
        signs: &[Sign::RefusedByLimit],
        figures: &[
            (Fact::Requested, "requested", Unit::Printed(Base::Binary)),
            (Fact::Requested, "(", Unit::Printed(Base::Binary)),
            (Fact::Limit, "preference(", Unit::Printed(Base::Binary)),
        ],
        ..WORDING
    },
    Wording {
        says: &["outofmemory.typehelpmemoryforyouroptions", "outofmemory.typehelpmemory"],
        slug: "matlab-out-of-memory",
        program: Program::Matlab,
        ..WORDING
    },
    Wording {
        says: &["outofmemory."],
        and: &["relateddocumentation"],
        slug: "matlab-out-of-memory",
        program: Program::Matlab,
        lines: 3,
        ..WORDING
    },
    // DuckDB cuts decimals off; its `GB` of 0.9 and before are 10^9.
    Wording {
        says: &["failedtochangememorylimitto"],
        slug: "duckdb-limit",
        program: Program::DuckDb,
        means: Means::Harmless(
            "a lower limit was refused because more is in use; the session goes on under the old one",
            "新的内存上限低于已用内存，被拒绝；会话仍按旧上限继续",
        ),
        ..WORDING
    },
    Wording {
        says: &["outofmemoryerror:failedto", "outofmemoryerror:couldnot"],
        // Android's Java says it in the same words.
        not: &["java.lang.", "untiloom"],
        slug: "duckdb",
        program: Program::DuckDb,
        signs: &[Sign::RefusedByLimit],
        figures: &[
            (Fact::Requested, "dataofsize", Unit::CutOff(Base::Decimal)),
            (Fact::Requested, "blockofsize", Unit::CutOff(Base::Decimal)),
            (Fact::Requested, "blockof", Unit::CutOff(Base::Decimal)),
            (Fact::Allocated, "(", Unit::CutOff(Base::Decimal)),
            (Fact::Allocated, "(", Unit::Counted(1, "/")),
            (Fact::Limit, "/", Unit::CutOff(Base::Decimal)),
            (Fact::Limit, "/", Unit::Counted(1, "used")),
        ],
        ..WORDING
    },
    Wording {
        says: &["bytes_allocatedcapexceeded"],
        slug: "arrow-pool-limit",
        program: Program::PyArrow,
        signs: &[Sign::RefusedByLimit],
        figures: &[
            (Fact::Limit, "limit=", Unit::Of(1)),
            (Fact::Allocated, "currentallocation=", Unit::Of(1)),
            (Fact::Requested, "requested=", Unit::Of(1)),
        ],
        ..WORDING
    },
    Wording {
        says: &["arrowmemoryerror:", "arrow::status:outofmemory:"],
        slug: "arrow-malloc",
        program: Program::PyArrow,
        figures: &[(Fact::Requested, "allocofsize", Unit::Of(1))],
        ..WORDING
    },
    Wording {
        says: &["openblaserror:memoryallocationstillfailed"],
        slug: "openblas",
        program: Program::OpenBlas,
        ..WORDING
    },
    Wording { says: &["memoryallocationfailedforrawdatachunk"], slug: "hdf5-chunk", program: Program::Hdf5, ..WORDING },
    Wording {
        says: &["errortokenizingdata.cerror:outofmemory"],
        slug: "pandas-parser",
        program: Program::Pandas,
        ..WORDING
    },
    Wording {
        says: &["computeerror:oom:", "outofspecification:oom:"],
        slug: "polars-oom",
        program: Program::Polars,
        ..WORDING
    },
    Wording {
        says: &["arrayistoobig;`arr.size*arr.dtype.itemsize`islarger"],
        slug: "numpy-array-too-big",
        program: Program::Numpy,
        signs: &[Sign::AbsurdRequest],
        ..WORDING
    },
    // Before 1.10, and `np.arange` of more than an index can count.
    Wording {
        says: &["valueerror:arrayistoobig.", "valueerror:maximumalloweddimensionexceeded"],
        slug: "numpy-array-too-big",
        program: Program::Numpy,
        signs: &[Sign::AbsurdRequest],
        ..WORDING
    },
    Wording {
        says: &["memoryallocationof"],
        and: &["bytesfailed"],
        slug: "rust-allocation",
        program: Program::Rust,
        figures: &[(Fact::Requested, "memoryallocationof", Unit::Printed(Base::Binary))],
        ..WORDING
    },
    // The JVM's.
    Wording {
        says: &["couldnotreserveenoughspacefor"],
        slug: "jvm-heap-reservation",
        program: Program::Java,
        signs: &[Sign::HeapCommit],
        figures: &[(Fact::Requested, "enoughspacefor", Unit::Printed(Base::Binary))],
        ..WORDING
    },
    // At its start, for classes: addresses alone, which nothing but a limit on them refuses.
    Wording {
        says: &["couldnotallocatemetaspace", "couldnotallocatecompressedclassspace"],
        slug: "jvm-class-reservation",
        program: Program::Java,
        signs: &[Sign::AddressSpaceLimit],
        figures: &[
            (Fact::Requested, "metaspace:", Unit::Of(1)),
            (Fact::Requested, "compressedclassspace:", Unit::Of(1)),
        ],
        ..WORDING
    },
    Wording {
        says: &["outofdirectmemoryerror:failedtoallocate"],
        slug: "jvm-direct-memory",
        program: Program::Java,
        signs: &[Sign::RefusedByLimit],
        figures: &[
            (Fact::Requested, "failedtoallocate", Unit::Of(1)),
            (Fact::Used, "(used:", Unit::Of(1)),
            (Fact::Limit, "max:", Unit::Of(1)),
        ],
        ..WORDING
    },
    Wording {
        says: &["outofmemoryerror:cannotreserve"],
        and: &["ofdirectbuffermemory"],
        slug: "jvm-direct-memory",
        program: Program::Java,
        signs: &[Sign::RefusedByLimit],
        figures: &[
            (Fact::Requested, "cannotreserve", Unit::Of(1)),
            (Fact::Allocated, "(allocated:", Unit::Of(1)),
            (Fact::Limit, "limit:", Unit::Of(1)),
        ],
        ..WORDING
    },
    Wording {
        says: &["[unable_to_acquire_memory]", "unabletoacquire"],
        and: &["bytesofmemory,got"],
        slug: "spark-task-memory",
        program: Program::Spark,
        signs: &[Sign::RefusedByLimit],
        figures: &[
            (Fact::Requested, "unabletoacquire", Unit::Of(1)),
            (Fact::Available, "bytesofmemory,got", Unit::Of(1)),
        ],
        ..WORDING
    },
    Wording {
        says: &["totalsizeofserializedresultsof"],
        and: &["isbiggerthanspark.driver.maxresultsize"],
        slug: "spark-result-size",
        program: Program::Spark,
        signs: &[Sign::RefusedByLimit],
        figures: &[
            (Fact::Used, "tasks(", Unit::Printed(Base::Binary)),
            (Fact::Limit, "maxresultsize(", Unit::Printed(Base::Binary)),
        ],
        ..WORDING
    },
    // V8's, beside the heap limit.
    Wording {
        says: &["fatalprocessoom", "allocationfailed-processoutofmemory"],
        slug: "node-process-oom",
        program: Program::Node,
        ..WORDING
    },
    Wording {
        says: &["rangeerror:arraybufferallocationfailed"],
        slug: "node-array-buffer",
        program: Program::Node,
        ..WORDING
    },
    Wording {
        says: &["workerterminatedduetoreachingmemorylimit"],
        slug: "node-worker-limit",
        program: Program::Node,
        signs: &[Sign::RefusedByLimit],
        ..WORDING
    },
    // Go's, where the system refused to map.
    Wording {
        says: &["fatalerror:runtime:cannotallocatememory", "fatalerror:runtime:cannotmappages"],
        slug: "go-runtime",
        program: Program::Go,
        ..WORDING
    },
    Wording {
        says: &["runtime:mmap("],
        and: &["returned0x0,12"],
        slug: "go-runtime",
        program: Program::Go,
        figures: &[(Fact::Requested, ",", Unit::Of(1))],
        ..WORDING
    },
];

/// The system's text of ENOMEM in the languages of its users.
const NO_MEMORY: [&str; 14] = [
    "annot allocate memory",
    "无法分配内存",
    "無法配置記憶體",
    "Nicht genügend Hauptspeicher verfügbar",
    "Ne peut allouer de la mémoire",
    "Impossible d'allouer de la mémoire",
    "No se pudo asignar memoria",
    "Não foi possível alocar memória",
    "Não é possível alocar memória",
    "Невозможно выделить память",
    "Не удаётся выделить память",
    "メモリを確保できません",
    "메모리를 할당할 수 없습니다",
    "Impossibile allocare memoria",
];

/// `fork` without memory to promise to the child. `Resource temporarily unavailable` is the limit on processes instead.
fn fork(document: &Document, position: usize, line: &str) -> Option<Event> {
    // The number is the same in every language.
    let numbered = line.contains("[Errno 12]");
    let said = NO_MEMORY.iter().any(|words| line.contains(words));
    if line.contains("sh: ") && line.trim_end().ends_with("Cannot fork") {
        let mut event = refused(document, position, "fork-no-memory", Program::Generic);
        event.sign(Sign::NoFigures);
        return Some(event);
    }
    if !(numbered || said) {
        return None;
    }
    if line.contains("static TLS block") {
        let event = refused(document, position, "static-tls", Program::Generic);
        return harmless(
            event,
            text!(
                en: "the loader's small area for thread-local variables is full: an order-of-imports problem, not a lack of memory",
                zh: "动态加载器的静态 TLS 空间不足，属于库加载顺序问题，并非内存不足"
            ),
        );
    }
    // Rust's spelling: in a Python program the reader of safetensors files or tokenizers.
    if line.contains("(os error 12)") {
        let program =
            if line.contains("OSError") || line.contains("Safetensor") { Program::HuggingFace } else { Program::Rust };
        let mut event = refused(document, position, "rust-io-no-memory", program);
        event.sign(Sign::NoFigures);
        field::note_number(&mut event, Number::Errno, Some(12.0));
        return Some(event);
    }
    // A mapped file or device memory has its own reader.
    if line.contains("fork: ") || line.contains("fork failed: ") || numbered && !foreign(line) {
        let program = match numbered || line.contains("Error") {
            true => Program::Python,
            false => naming::program(document, position).unwrap_or(Program::Generic),
        };
        let mut event = refused(document, position, "fork-no-memory", program);
        event.sign(Sign::NoFigures);
        field::note_number(&mut event, Number::Errno, Some(12.0));
        return Some(event);
    }
    None
}

/// Dask's nanny and scheduler (`distributed/worker_memory.py`).
fn dask(document: &Document, position: usize, line: &str) -> Option<Event> {
    let warning = line.contains("Unmanaged memory use is high")
        || line.contains("memory usage. Pausing worker")
        || line.contains("memory usage. Resuming worker");
    if warning {
        return harmless(
            refused(document, position, "dask-memory-warning", Program::Dask),
            text!(
                en: "a warning of Dask's worker about its memory; it went on or paused, and nothing was killed by it",
                zh: "Dask worker 的内存警告：任务继续或暂停，没有进程因此被杀"
            ),
        );
    }
    if spoken(document, position, &["memorybudget.restarting"]).is_some() {
        let mut event = refused(document, position, "dask-worker-restarted", Program::Dask);
        event.sign(Sign::KilledWithProof);
        event.sign(Sign::RefusedByLimit);
        let pid = Labelled::at(document, position.saturating_sub(1), 3).count("(pid=");
        field::note_pid(&mut event, pid.map(|(pid, _)| pid));
        note_dask_limit(document, position, &mut event);
        return Some(event);
    }
    spoken(document, position, &["killedworker:attemptedtoruntask", "killedworker:("])?;
    let mut event = refused(document, position, "dask-killed-worker", Program::Dask);
    event.sign(Sign::NoFigures);
    let restarted =
        field::before(position, 200).find(|at| field::text(document, *at).contains("memory budget. Restarting"));
    match restarted {
        Some(at) => {
            event.standing = Standing::Follower;
            event.signs.insert(Sign::KilledWithProof, Span::line(field::number(document, at)));
        }
        None => event.sign(Sign::KilledWithoutProof),
    }
    note_dask_limit(document, position, &mut event);
    Some(event)
}

/// `Process memory: 3.50 GiB -- Worker memory limit: 4.00 GiB` of the last warning.
fn note_dask_limit(document: &Document, position: usize, event: &mut Event) {
    let warning = field::before(position, 60).find(|at| field::text(document, *at).contains("Worker memory limit:"));
    let Some(warning) = warning else { return };
    let labelled = Labelled::at(document, warning, 1);
    for (label, fact) in [("workermemorylimit:", Fact::Limit), ("processmemory:", Fact::Process)] {
        // Before it printed GiB, its GB were powers of ten.
        if let Some(figure) = labelled.figure(label, Unit::Printed(Base::Decimal)) {
            event.facts.note(fact, Figure { half_width: figure.half_width.min(MIB << 10), ..figure });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn first(log: &str) -> Option<Event> {
        crate::dialect::testing::first(read, log)
    }

    /// Framework and request of each runtime's message.
    #[test]
    fn each_runtime_names_itself_and_its_request() {
        for (log, program, requested) in [
            (
                "MemoryError: Unable to allocate 29.8 GiB for an array with shape (4000000000,) and data type float64",
                Program::Numpy,
                Some(31_997_506_355),
            ),
            (
                "MemoryError: Unable to allocate array with shape (249255, 249255) and data type float64",
                Program::Numpy,
                Some(8 * 249_255 * 249_255),
            ),
            (
                "MemoryError: Unable to allocate array with shape (9, 9) and data type <U12",
                Program::Numpy,
                Some(9 * 9 * 12 * 4),
            ),
            (
                "MemoryError: Unable to allocate array with shape (9, 9) and data type |S12",
                Program::Numpy,
                Some(9 * 9 * 12),
            ),
            ("MemoryError: Unable to allocate array with shape (9, 9) and data type void", Program::Numpy, None),
            (
                "numpy._core._exceptions._ArrayMemoryError: Unable to allocate 512. GiB for an array with\nshape (262144, 262144) and data type float64",
                Program::Numpy,
                Some(512 << 30),
            ),
            ("MemoryError", Program::Python, None),
            ("terminate called after throwing an instance of 'std::bad_alloc'", Program::Generic, None),
            ("memory allocation of 805306368 bytes failed", Program::Rust, Some(805_306_368)),
            (
                "runtime: out of memory: cannot allocate 4194304-byte block (66715648 in use)",
                Program::Go,
                Some(4_194_304),
            ),
            (
                "# Native memory allocation (mmap) failed to map 4294967296 bytes for committing reserved memory.",
                Program::Java,
                Some(4 << 30),
            ),
            ("Exception in thread \"main\" java.lang.OutOfMemoryError: Java heap space", Program::Java, None),
            ("FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory", Program::Node, None),
            ("Error: cannot allocate vector of size 7.5 Gb", Program::R, Some(15 << 29)),
            ("pyarrow.lib.ArrowMemoryError: malloc of size 4194304 failed", Program::PyArrow, Some(4_194_304)),
            (
                "duckdb.OutOfMemoryException: Out of Memory Error: failed to allocate data of size 2.0 GiB (3.5 GiB/4.0 GiB used)",
                Program::DuckDb,
                Some(2 << 30),
            ),
            ("ERROR: LoadError: OutOfMemoryError()", Program::Julia, None),
            ("OSError: Cannot allocate memory (os error 12)", Program::HuggingFace, None),
            ("OSError: [Errno 12] Cannot allocate memory", Program::Python, None),
            ("bash: fork: Cannot allocate memory", Program::Generic, None),
            (
                "distributed.scheduler.KilledWorker: Attempted to run task 'x' on 4 different workers",
                Program::Dask,
                None,
            ),
        ] {
            let event = first(log).unwrap_or_else(|| panic!("{log}"));
            assert_eq!(event.program, program, "{log}");
            assert_eq!(event.standing, Standing::Failure, "{log}");
            assert_eq!(event.facts.get(Fact::Requested).map(|figure| figure.bytes), requested, "{log}");
        }
    }

    #[test]
    fn what_only_looks_like_it() {
        for log in [
            "except MemoryError:",
            "MemoryError: std::bad_alloc: out_of_memory: CUDA error at: rmm",
            "[2.1s][info][gc] GC(7) Pause Young (Allocation Failure) 24M->11M(92M)",
            "BlockingIOError: [Errno 11] Resource temporarily unavailable",
            "[Errno 28] No space left on device",
            "resource_tracker: There appear to be 6 leaked shared_memory objects to clean up at shutdown",
        ] {
            assert_eq!(first(log), None, "{log}");
        }
        for log in [
            "libgomp.so: cannot allocate memory in static TLS block",
            "distributed.worker.memory - WARNING - Unmanaged memory use is high. -- Unmanaged memory: 1 MiB -- Worker memory limit: 4.00 GiB",
        ] {
            assert_eq!(first(log).unwrap().standing, Standing::Harmless, "{log}");
        }
    }

    #[test]
    fn a_jvm_that_cannot_start_a_thread_failed_for_its_limit() {
        let log = "java.lang.OutOfMemoryError: unable to create new native thread";
        let event = first(log).unwrap();
        assert!(event.has(Sign::ThreadRefused) && event.standing == Standing::Failure, "{log}");
        // The last that some programs print.
        let log = "[5.04s][warning][os,thread] Failed to start thread \"Thread-9\" - pthread_create failed (EAGAIN) \
                   for attributes: stacksize: 24576k, guardsize: 0k, detached.";
        let event = first(log).unwrap();
        assert!(event.has(Sign::ThreadRefused) && event.standing == Standing::Failure, "{log}");
        let log = format!("{log}\nERROR unable to create native thread: possibly out of memory");
        assert_eq!(first(&log), None, "what the JVM says itself follows");
        let log = "java.lang.OutOfMemoryError: unable to create new native thread\n$ ulimit -u\n1024";
        assert_eq!(first(log).unwrap().standing, Standing::Harmless, "{log}");
    }

    #[test]
    fn a_worker_that_was_restarted_knows_its_limit() {
        let event = first(
            "distributed.worker.memory - WARNING - Worker is at 81% memory usage. Pausing worker.  Process memory: 1.62 GiB -- Worker memory limit: 2.00 GiB\ndistributed.nanny.memory - WARNING - Worker tcp://127.0.0.1:1 (pid=44) exceeded 95% memory budget. Restarting...",
        );
        assert_eq!(event.unwrap().standing, Standing::Harmless);
        let document = Document::from_text(
            "-",
            "Worker memory limit: 2.00 GiB\nWorker tcp://a (pid=44) exceeded 95% memory budget. Restarting...",
        );
        let event = read(&document, 1).unwrap();
        assert_eq!(event.facts.get(Fact::Limit).unwrap().bytes, 2 << 30);
        assert_eq!(event.facts.pid.value(), Some(44));
    }
}
