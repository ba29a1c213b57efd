//! The net beneath all other readers: a line that says in any program's words that memory ran out.
//!
//! A line counts where it speaks of memory that ran out and stands in an error's context. Which program it was is told
//! by [`super::naming`], what ran out and what the figures mean by the words around them. All of that is weaker than a
//! reader that knows its program, so each event carries [`Sign::Generic`].

mod clause;
mod likely;
mod limit;
mod motion;
mod outcome;
mod reported;
mod resource;
mod roles;
mod spoken_of;
mod standing;
mod state;
mod whose;
mod words;

pub use likely::{speaks_of_memory, terms};
pub use outcome::{is_prompt, keeps_a_trace, shows_a_file};
pub use standing::{got_over, survived};

use super::pytorch::library;
use super::{Dialect, Event, Fact, Resource, Sign, Standing, field, naming, rewrap};
use crate::evidence::Span;
use crate::input::Document;
use crate::text;
use crate::units::{Base, Figure};
use reported::reported;
use resource::{interface, resource};
use spoken_of::{
    goes_on_with_a_supposition, in_a_docstring, in_mail, in_manual, is_remark, of_another_code, of_something_else,
    warns_before_the_program,
};
use standing::standing;
use std::cell::Cell;
use whose::{device, writer, writer_near};
use words::FAILURES;

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
    if of_something_else(document, position, &lower)
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
    // Nothing was asked for, and the line below has the code of what failed: guppy tells so of a limit.
    let nothing = event.facts.get(Fact::Requested).is_some_and(|asked| asked.bytes == 0);
    if nothing && field::behind(document, position, 1).any(|at| of_another_code(field::text(document, at))) {
        return None;
    }
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

/// True for a line that names a call for page-locked memory of the machine.
pub(super) fn asks_host(line: &str) -> bool {
    let lower = clipped(line).to_lowercase();
    ["mallochost", "hostalloc", "pinned", "page-locked", "hostregister", "pin_memory"]
        .iter()
        .any(|word| lower.contains(word))
}

/// The part of a line that is looked at.
fn clipped(text: &str) -> &str {
    beginning(text, LONGEST)
}

/// The first bytes of a line, whole characters.
fn beginning(text: &str, most: usize) -> &str {
    let end = (0..=most.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    &text[..end]
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
        // `Allocated 1 hashtable units (max memory: 4 GB)`: what was had, and the bound of that alone.
        let had = lower.trim_start().starts_with("allocated ") && lower.contains("(max");
        let tells = ["alloc", "request", "requir", "mmap", "expand heap"].iter().any(|word| lower.contains(word))
            || lower.contains("memory") && tells_memory(text);
        if tells && !had {
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

/// What the lines around a message say of its end, where no reader knows the message: one that reads as those that came
/// to nothing is no failure.
pub fn doubt_the_unknown(document: &Document, events: &mut [Event]) {
    for event in events.iter_mut().filter(|event| event.has(Sign::Generic) && event.standing == Standing::Failure) {
        let position = document.position(event.at.first);
        if position.is_some_and(|position| likely::came_to_nothing(document, position)) {
            event.sign(Sign::DoubtedByWords);
            event.make_harmless(text!(
                en: "it speaks of memory, but the words around it are those of messages behind which nothing failed",
                zh: "它提到了内存，但周围的文字与那些并无故障的消息相同"
            ));
        }
    }
}

#[cfg(test)]
mod tests;
