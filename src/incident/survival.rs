//! Whether the program outlived a failure: what comes after it in the log decides.
//!
//! Nothing here knows a program's words for "I go on". A failure was outlived where the loop that ran before it runs on
//! (a counter that rose line after line rises further), or where the run ends well (exit code 0, "training complete").
//! What only looks like it:
//!
//! * Standard output is written in blocks and standard error at once. A traceback may therefore stand above lines that
//!   were printed before it, and these are then the last of the log: at most a block of them.
//! * Another rank, or a launcher that starts the program again, counts on. Only lines of the same rank count, up to the
//!   next program that is started and the next death.

use super::context::ContextReader;
use super::group;
use crate::dialect::net::{is_prompt, keeps_a_trace};
use crate::dialect::{Event, Sign, field, syslog};
use crate::input::{Document, Needles};
use crate::text;
use crate::text::Text;
use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::LazyLock;

/// What shows that a program outlived a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Survival {
    /// The run came to a good end; the line that says so.
    Finished(u64),
    /// Its work went on; the line that shows it first.
    WentOn(u64),
}

impl Survival {
    /// The line that shows it.
    pub fn line(self) -> u64 {
        match self {
            Survival::Finished(line) | Survival::WentOn(line) => line,
        }
    }

    pub fn text(self) -> Text {
        let line = self.line();
        match self {
            Survival::Finished(_) => text!(
                en: "the program outlived it: line {line} shows that it ended well",
                zh: "程序挺过了这次失败：第 {line} 行表明任务正常结束"
            ),
            Survival::WentOn(_) => text!(
                en: "the program outlived it: line {line} shows that its work went on",
                zh: "程序挺过了这次失败：第 {line} 行表明任务继续运行"
            ),
        }
    }
}

/// Steps behind a failure that count as going on. Ranks that wait for each other do one or two without the fallen one.
pub(super) const STEPS: usize = 3;
/// What Python and the C library keep of standard output before they write it to a file or pipe.
const BLOCK: usize = 8 << 10;
/// Only the beginning of a line tells of an end.
const LOOKED_AT: usize = 400;
/// Marks and counting lines that are kept.
const MARKS_AT_MOST: usize = 65_536;
const COUNTS_AT_MOST: usize = 65_536;
/// Numbers of a line that may count.
const NUMBERS: usize = 4;
/// Larger ones are times, addresses and sizes.
const LARGEST_COUNT: u64 = 1_000_000_000;

/// A line that tells of an end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    /// The process ended with 0.
    Exit,
    /// Words of an end as it should be.
    Well,
    /// The verdict of a build or pipeline on all of its work.
    Verdict,
    /// The process died.
    Death,
    /// An exception, which its program may have caught and printed.
    Exception,
}

#[derive(Debug, Clone, Copy)]
struct Mark {
    line: u64,
    rank: Option<u32>,
    end: End,
}

/// A line of a loop: its number, and the numbers in it.
#[derive(Debug, Clone, Copy)]
struct Count {
    line: u64,
    numbers: [u64; NUMBERS],
}

/// What a document tells behind its failures.
pub(super) struct Aftermath<'a> {
    document: &'a Document,
    reader: &'a ContextReader<'a>,
    marks: Vec<Mark>,
    /// Lines with a command at a shell's prompt: what comes behind one is another run.
    prompts: Vec<u64>,
    /// Lines that differ in their digits only, by rank.
    loops: HashMap<(u64, Option<u32>), Vec<Count>>,
}

/// A failure whose end is asked for.
pub(super) struct Failure<'e> {
    pub event: &'e Event,
    /// Last line of what belongs to it.
    pub last: u64,
    /// An exception came through frames up to its message: unless caught, the process died of it.
    pub raised: bool,
}

impl<'a> Aftermath<'a> {
    /// Reads the marks and loops of a document, without the lines of its failures' own messages.
    pub(super) fn of(document: &'a Document, reader: &'a ContextReader<'a>, messages: &[(u64, u64)]) -> Aftermath<'a> {
        let mut aftermath =
            Aftermath { document, reader, marks: Vec::new(), prompts: Vec::new(), loops: HashMap::new() };
        let mut counts = 0;
        let mut asked_status = false;
        for line in &document.lines {
            let before = messages.partition_point(|(first, _)| *first <= line.number);
            if before.checked_sub(1).and_then(|at| messages.get(at)).is_some_and(|(_, last)| line.number <= *last) {
                continue;
            }
            let text = head(&line.text);
            if text.trim().is_empty() {
                continue;
            }
            let asks = text.trim_end().ends_with("echo $?");
            if is_prompt(text) && !asks && aftermath.prompts.len() < MARKS_AT_MOST {
                aftermath.prompts.push(line.number);
            }
            let answered = std::mem::take(&mut asked_status).then(|| text.trim().parse::<i64>().ok()).flatten();
            asked_status = asks;
            // `set -x` prints what a script does last.
            let answered = answered.or_else(|| text.trim().strip_prefix("+ exit ")?.parse().ok());
            let end = match answered {
                Some(0) => Some(End::Exit),
                Some(_) => Some(End::Death),
                None => end_of(text),
            };
            if let Some(end) = end
                && aftermath.marks.len() < MARKS_AT_MOST
            {
                aftermath.marks.push(Mark { line: line.number, rank: line.rank, end });
            } else if counts < COUNTS_AT_MOST
                && let Some((shape, numbers)) = counting(text)
            {
                counts += 1;
                aftermath.loops.entry((shape, line.rank)).or_default().push(Count { line: line.number, numbers });
            }
        }
        aftermath
    }

    /// The line of a message, or behind it, in which its program tells of another try: in another way, or with less.
    /// An exception ended its process, and who starts another tells of that by itself.
    fn another_try(&self, failure: &Failure<'_>) -> Option<u64> {
        /// Lines behind a message in which its program tells what it does about it.
        const NEAR: usize = 8;
        // On the last of the message's own lines as well: `failed to allocate 2 MB. Block skipped, will retry`.
        let place = |number: u64| self.document.lines.partition_point(|line| line.number < number);
        let behind = place(failure.last + 1);
        let from = place(failure.event.at.first).max(behind.saturating_sub(NEAR));
        let mut told = self.document.lines.get(from..)?.iter().take(behind - from + NEAR);
        let of_it = |rank: Option<u32>| rank.is_none() || failure.event.rank.is_none() || rank == failure.event.rank;
        let announced = told.find(|line| of_it(line.rank) && announces_another_try(head(&line.text)))?;
        (!failure.raised).then_some(announced.number)
    }

    /// The last line that says of its work that it is done, where nothing behind a line tells of an error. It is asked
    /// where another try was announced.
    fn done_behind(&self, line: u64) -> Option<u64> {
        /// What is done whatever became of the work.
        const AROUND: &[&str] = &["clean", "cop", "sync", "upload", "log", "archiv", "remov", "delet", "sav", "exit"];
        const ERRORS: &[&str] = &["error", "fail", "unable", "cannot", "could not", "killed"];
        /// What work came to, as the first word of a line or the last.
        const DONE: &[&str] = &["done", "finished", "wrote", "written", "completed", "connected"];
        let from = self.document.lines.partition_point(|other| other.number <= line);
        let mut done = None;
        for line in self.document.lines.get(from..)? {
            let text = head(&line.text).trim().to_ascii_lowercase();
            let says = |words: &[&str]| words.iter().any(|word| text.contains(word));
            // `Ignore any errors mentioned above`, `2880 of 2880 frames, 0 failed`
            let none = [" 0 failed", " 0 errors", "no errors"];
            let others = none.iter().fold(text.clone(), |text, none| text.replace(none, ""));
            if ERRORS.iter().any(|word| others.contains(word)) && !says(&["ignore"]) {
                return None;
            }
            let mut words = text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
            let (first, last) = (words.next().unwrap_or_default(), words.next_back().unwrap_or_default());
            let tells = DONE.contains(&first)
                || DONE.contains(&last)
                || [" is all done", " finished in ", " finished: "].iter().any(|end| text.contains(end));
            if tells && !says(AROUND) && !keeps_a_trace(&text) {
                done = Some(line.number);
            }
        }
        done
    }

    /// Whether the program outlived a failure, as far as the log shows.
    pub(super) fn survival(&self, failure: &Failure<'_>) -> Option<Survival> {
        let Failure { event, last, .. } = failure;
        if let Some(line) = self.ended_with_success(failure) {
            return Some(Survival::Finished(line));
        }
        // What is announced is the next run, and its end this one's.
        let tried = self.another_try(failure);
        // What was killed did not go on by itself: who started it may have started it again.
        let killed = event.has(Sign::KilledWithProof) || event.has(Sign::KilledWithoutProof) && tried.is_none();
        if killed || event.program.is_warden() || event.has(Sign::Stated) || event.has(Sign::Asked) {
            return None;
        }
        let (last, until) = tried.map_or_else(|| (*last, self.next_run(*last)), |line| (line, u64::MAX));
        let of_it = |rank: Option<u32>| rank.is_none() || event.rank.is_none() || rank == event.rank;
        let from = self.marks.partition_point(|mark| mark.line <= last);
        let behind: Vec<Mark> = self.marks[from..]
            .iter()
            .take_while(|mark| mark.line < until)
            .filter(|mark| of_it(mark.rank))
            .copied()
            .collect();
        let death = behind.iter().find(|mark| mark.end == End::Death).map(|mark| mark.line);
        // Of one that said that it tries again, the next step shows it.
        let steps = if tried.is_some() { 1 } else { STEPS };
        let went_on = self.went_on(failure, until.min(death.unwrap_or(u64::MAX)), steps, &behind);
        match behind.last().copied() {
            // One of several containers or processes may have ended well, another not.
            Some(Mark { end: End::Exit, line, .. }) if death.is_none() => return Some(Survival::Finished(line)),
            // A shell's `done` stands behind an exception as well.
            Some(Mark { end: End::Well, line, .. })
                if !failure.raised && death.is_none() || went_on.is_some() || self.caught(failure) =>
            {
                return Some(Survival::Finished(line));
            }
            _ => {}
        }
        let done = || self.done_behind(tried.filter(|_| death.is_none())?).map(Survival::Finished);
        let logs_on = || self.logs_on(failure, until).filter(|_| death.is_none()).map(Survival::WentOn);
        went_on.map(Survival::WentOn).or_else(done).or_else(logs_on)
    }

    /// The line by which a service shows in the system's log, or in its own, that it is still there: half a minute
    /// behind the refusal, by the clock, it has written others, none of which tells of an error, an end or a new start.
    /// Where nothing says who writes, and the stamps differ, another program's lines may follow. Of the process itself,
    /// by its number, one line is enough.
    fn logs_on(&self, failure: &Failure<'_>, until: u64) -> Option<u64> {
        const SECONDS: f64 = 30.0;
        const LINES: usize = 2;
        /// Errors of one moment; in a flood of them nobody goes on.
        const AT_ONCE: usize = 64;
        const OTHERWISE: &[&str] = &[
            "error",
            "fail",
            "unable",
            "cannot",
            "can't",
            "could not",
            "out of memory",
            "refused",
            "denied",
            "lost",
            "disconnect",
            "reconnect",
            "cancel",
            "timed out",
            "kill",
            "exit",
            "terminat",
            "abort",
            "crash",
            "dump",
            "start",
            "boot",
            "init",
            "stop",
            "shut",
            "clos",
            "exceed",
            "limit",
            " 500",
            " 502",
            " 503",
            " 507",
        ];
        let event = failure.event;
        if !event.has(Sign::Generic) || !event.resource.on_host() || failure.raised {
            return None;
        }
        let from = self.document.lines.partition_point(|line| line.number < event.at.first);
        let own = head(&self.document.lines.get(from)?.text);
        let (at, writer) = (group::clock(own)?, writer(own)?);
        let process = syslog::process(own);
        let (mut first, mut lines, mut last, mut at_once) = (None, 0, at, 0);
        for line in self.document.lines.get(from + 1..)?.iter().skip_while(|line| line.number <= failure.last) {
            let text = head(&line.text);
            if line.number >= until {
                break;
            }
            let now = group::clock(text);
            // `AudioOutput::start: sampleRate: 48000`: a function's name.
            let lower = text.to_ascii_lowercase().replace("::start", "");
            if OTHERWISE.iter().any(|word| lower.contains(word)) {
                // Of the same moment: what the refusal led to.
                at_once += 1;
                if at_once <= AT_ONCE && now.is_some_and(|now| (at..at + 1.0).contains(&now)) {
                    continue;
                }
                return None;
            }
            if let Some(now) = now.filter(|now| *now >= last && self::writer(text).as_ref() == Some(&writer)) {
                let itself = process.is_some() && syslog::process(text) == process;
                (first, lines, last) = (first.or(Some(line.number)), lines + if itself { LINES } else { 1 }, now);
            }
        }
        first.filter(|_| lines >= LINES && last - at >= SECONDS)
    }

    /// The line on which something else is started behind a line, by a program's command or at a shell's prompt.
    fn next_run(&self, line: u64) -> u64 {
        let typed = self.prompts.get(self.prompts.partition_point(|prompt| *prompt <= line));
        self.reader.next_run(line).min(typed.copied().unwrap_or(u64::MAX))
    }

    /// The line of a verdict on the whole work, which is good and the last word: a step that was killed was made again,
    /// or made in another way. What a warden tells may be of another job.
    fn ended_with_success(&self, failure: &Failure<'_>) -> Option<u64> {
        let Failure { event, last, .. } = failure;
        if event.program.is_warden() || event.has(Sign::Stated) || event.has(Sign::Asked) {
            return None;
        }
        let until = self.next_run(*last);
        let from = self.marks.partition_point(|mark| mark.line <= *last);
        let last = self.marks[from..].iter().take_while(|mark| mark.line < until).last()?;
        (last.end == End::Verdict).then_some(last.line)
    }

    /// True where the program itself says that it caught the failure.
    fn caught(&self, failure: &Failure<'_>) -> bool {
        failure.event.has(Sign::CaughtAndContinued)
    }

    /// The line that shows that the work of before went on.
    fn went_on(&self, failure: &Failure<'_>, until: u64, steps: usize, marks: &[Mark]) -> Option<u64> {
        let event = failure.event;
        let advanced = self.reader.advanced(event.at, failure.last, (event.rank, steps), until, !failure.raised);
        let counted = || self.counted(failure, until);
        let (first, last) = advanced.or_else(counted)?;
        // An exception with frames, or one behind the message, may stand above what was written before it.
        let exception = marks.iter().rev().find(|mark| mark.end == End::Exception && mark.line < first);
        let anchor = match exception {
            Some(mark) => mark.line,
            None if failure.raised && !self.caught(failure) => failure.last,
            None => return Some(first),
        };
        (self.written_behind(anchor) > BLOCK || self.later_by_the_clock(event.at.first, last)).then_some(first)
    }

    /// How many bytes stand behind a line.
    fn written_behind(&self, line: u64) -> usize {
        let from = self.document.lines.partition_point(|other| other.number <= line);
        let mut sum = 0;
        for line in &self.document.lines[from..] {
            sum += line.text.len() + 1;
            // A progress bar is written to standard error, where nothing is kept back.
            if sum > BLOCK || line.text.contains("%|") && line.text.contains("it/s") {
                return BLOCK + 1;
            }
        }
        sum
    }

    /// True where both lines carry a time of day and the second is later by more than a second.
    fn later_by_the_clock(&self, message: u64, later: u64) -> bool {
        let clock = |line: u64| self.document.line(line).and_then(|text| group::clock(&text));
        matches!((clock(message), clock(later)), (Some(a), Some(b)) if b > a + 1.0)
    }

    /// A counter in lines of one shape that rose by the same amount before and behind the failure: the first and the
    /// third line behind it.
    fn counted(&self, failure: &Failure<'_>, until: u64) -> Option<(u64, u64)> {
        let event = failure.event;
        let of_it = |rank: Option<u32>| rank.is_none() || event.rank.is_none() || rank == event.rank;
        let mut found: Option<(u64, u64)> = None;
        for ((_, rank), counts) in &self.loops {
            if counts.len() < 2 + STEPS || !of_it(*rank) {
                continue;
            }
            let before = counts.partition_point(|count| count.line < event.at.first);
            let behind = counts.partition_point(|count| count.line <= failure.last);
            let end = counts.partition_point(|count| count.line < until);
            let (Some(before), Some(behind)) = (counts.get(before.saturating_sub(2)..before), counts.get(behind..end))
            else {
                continue;
            };
            if let ([a, b], [c, d, e, ..]) = (before, behind)
                && (0..NUMBERS).any(|i| {
                    let [a, b, c, d, e] = [a, b, c, d, e].map(|count| count.numbers[i]);
                    let step = b.saturating_sub(a);
                    step > 0
                        && c >= b.saturating_add(step)
                        && d.checked_sub(c) == Some(step)
                        && e.checked_sub(d) == Some(step)
                })
                && found.is_none_or(|(line, _)| c.line < line)
            {
                found = Some((c.line, e.line));
            }
        }
        found
    }
}

/// True for a line that tells of another try: `trying tile 400`, `failed with 6, trying again`, `failed, re-running
/// with -usetemp`, `falling back to CPU`. What was tried when it failed (`trying to allocate`) and advice to the
/// reader are none.
fn announces_another_try(text: &str) -> bool {
    const TO_THE_READER: &[&str] =
        &["please", "you ", "your ", "should", "could", "consider", "if ", "when ", "never", "http"];
    const PIECES: &[&str] = &["it", "image", "file", "frame", "chain", "item", "chunk", "sequence"];
    let lower = text.to_ascii_lowercase();
    let mut words = lower.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty()).peekable();
    let mut tries = false;
    while let Some(word) = words.next() {
        let next = words.peek().copied();
        tries |= word == "retrying"
            || word == "rerunning"
            || word == "re" && next == Some("running")
            || word == "falling" && next == Some("back")
            || word == "try" && next == Some("again") && lower.contains("will ")
            || word == "will" && next == Some("retry")
            || word == "retry" && next == Some("with")
            // fairseq/trainer.py
            || word == "attempting" && next == Some("to") && lower.contains("attempting to recover")
            || word == "continuing" && next.is_some()
            || word == "going" && next == Some("to") && lower.contains("going to turn on")
            // The piece of the work is left out, and the next one taken. Who trains wants every batch.
            || word == "skipping" && next.is_some_and(|next| PIECES.contains(&next))
            || word == "skip" && next == Some("it") && lower.trim_end_matches(['!', '.', ' ']).ends_with("skip it")
            || word == "trying" && next.is_some_and(|next| next != "to");
    }
    // `INFO:root:Skipping...`, and no `no checkpoint found, skipping`.
    let said = lower.trim_end_matches(['.', ' ']).rsplit([':', ']']).next().unwrap_or_default();
    tries |= said.trim() == "skipping";
    tries && !TO_THE_READER.iter().any(|words| lower.contains(words))
}

fn head(text: &str) -> &str {
    let end = (0..=LOOKED_AT.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    &text[..end]
}

/// Words of which one stands on every line that tells of an end.
static GLANCE: LazyLock<Needles> = LazyLock::new(|| {
    Needles::of_any_case([
        "exit",
        "return",
        "complet",
        "finish",
        "done",
        "succe",
        " rescued=",
        "abort",
        "kill",
        "core dump",
        "terminat",
        "panicked",
        "segmentation",
        "calledprocess",
        "srun: error",
        "traceback",
        "error",
        "exception",
        "interrupt",
        "reached",
        "rc=",
        "完成",
        "结束",
        "成功",
    ])
});

/// The end that a line tells of.
fn end_of(text: &str) -> Option<End> {
    GLANCE.all(text.as_bytes()).next()?;
    let lower = text.to_lowercase();
    // Jenkins, Gradle, Maven, MSBuild, GitLab.
    const VERDICTS: &[&str] =
        &["finished: success", "build successful", "build success", "build succeeded", "job succeeded"];
    let verdict = lower.trim().trim_start_matches("[info] ");
    // Dagster's last word on a run.
    if VERDICTS.iter().any(|words| verdict.starts_with(words)) || lower.contains(" - run_success - ") {
        return Some(End::Verdict);
    }
    // Luigi's last words on all tasks.
    if lower.contains("they all succeeded in a retry") {
        return Some(End::Verdict);
    }
    // Ansible's recap has a line for each machine: one whose tasks were rescued ended well; another may have failed.
    if lower.contains(" rescued=") {
        let counts = |name: &str| {
            let count = lower.split_once(name).map(|(_, count)| count);
            count.is_some_and(|count| count.starts_with(|c: char| matches!(c, '1'..='9')))
        };
        if counts(" failed=") || counts(" unreachable=") {
            return Some(End::Death);
        }
        if counts(" rescued=") {
            return Some(End::Exit);
        }
    }
    if let Some(code) = exit_code(&lower) {
        return Some(if code == 0 { End::Exit } else { End::Death });
    }
    let says = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    if says(&["traceback (most recent call last"]) || field::is_exception(text) {
        return Some(End::Exception);
    }
    const DEATHS: &[&str] = &[
        "core dumped",
        "terminate called",
        "segmentation fault",
        "panicked at",
        "calledprocesserror",
        "childfailederror",
        "srun: error",
        "mpi_abort",
        "job failed",
        "run failed",
        "signal 9",
        "signal 6",
        "sigabrt",
        "sigkill",
        "keyboardinterrupt",
        "error: command",
    ];
    let alone = lower.trim().trim_end_matches(['.', '!']);
    if says(DEATHS) || ["aborted", "killed", "abort trap: 6"].contains(&alone) || alone.ends_with("killed: 9") {
        return Some(End::Death);
    }
    ends_well(&lower).then_some(End::Well)
}

/// The exit code that a line tells.
fn exit_code(lower: &str) -> Option<i64> {
    const WORDS: &[&str] = &[
        "exit code",
        "exit status",
        "exitcode",
        "exit_code",
        "return code",
        "returncode",
        "return_code",
        "exited with",
        "exit value",
        "non-zero status",
        "nonzero status",
        "rc=",
        "exit:",
    ];
    for word in WORDS {
        for (at, _) in lower.match_indices(word) {
            let rest = &lower[at + word.len()..];
            let rest = rest.trim_start_matches([' ', ':', '=', '"', '\'', '(', ')', 's']);
            let rest = ["status", "code", "of", "is"].iter().fold(rest, |rest, word| {
                rest.strip_prefix(word).map_or(rest, |rest| rest.trim_start_matches([' ', ':', '=']))
            });
            // Windows prints them so: `0xC0000017`.
            if let Some(digits) = rest.strip_prefix("0x") {
                let length = digits.bytes().take_while(u8::is_ascii_hexdigit).count();
                return i64::from_str_radix(&digits[..length], 16).ok();
            }
            let sign = if rest.starts_with('-') { -1 } else { 1 };
            let digits: String = rest.trim_start_matches('-').chars().take_while(char::is_ascii_digit).collect();
            if let Ok(code) = digits.parse::<i64>() {
                return Some(sign * code);
            }
            if rest.starts_with("non-zero") || rest.starts_with("nonzero") {
                return Some(1);
            }
        }
    }
    None
}

/// Who writes a line: the program that the system's log names, or who stamps its lines in this way.
fn writer(line: &str) -> Option<Cow<'_, str>> {
    syslog::writer(line).map(Cow::Borrowed).or_else(|| stamp(line).map(Cow::Owned))
}

/// The form of the date and time that begin a line, each digit as 0 and each letter as a.
fn stamp(line: &str) -> Option<String> {
    /// `Tue Jun  4 09:10:01 2024 : `, the longest that was seen.
    const LONGEST: usize = 24;
    let (at, _) = group::clock_at(line).filter(|(at, _)| *at < LONGEST)?;
    let lead = line.get(..at + 8)?;
    // Words before it are of a sentence.
    let plain = lead.split(|c: char| !c.is_ascii_alphabetic()).all(|word| word.len() <= 3);
    let form = |c: char| match c {
        '0'..='9' => '0',
        'a'..='z' | 'A'..='Z' => 'a',
        _ => c,
    };
    plain.then(|| lead.chars().map(form).collect())
}

/// True for words of a good end of the whole run: `Training complete`, `Job finished successfully`.
///
/// Of the work itself it is enough that it ended. A job, a script or a pipeline ends whatever became of the program in
/// it, and says so all the same (`echo "Job finished at $(date)"` closes many batch scripts): there it has to say that
/// it went well.
fn ends_well(lower: &str) -> bool {
    const ENDED: &[&str] = &["complete", "finished", "done", "reached", "完成", "结束"];
    const WELL: &[&str] = &["succeeded", "success", "成功"];
    const WORK: &[&str] = &[
        "training",
        "experiment",
        "fit",
        "evaluation",
        "epochs",
        "inference",
        "transcription",
        "rendering",
        "simulation",
        "optimization",
        "optimisation",
        "study",
        "sweep",
        "训练",
    ];
    const AROUND: &[&str] = &[
        "run",
        "job",
        "process",
        "script",
        "program",
        "all ",
        "pipeline",
        "task",
        "everything",
        "workflow",
        "任务",
        "全部",
        "程序",
        "运行",
    ];
    // What did not come to an end, one that is still to come, and a part of the work.
    const OTHER: &[&str] = &[
        "error",
        "fail",
        "not ",
        "n't",
        "unable",
        "cannot",
        "abort",
        "before",
        "until",
        "when ",
        "once ",
        "if ",
        "will ",
        "could",
        "should",
        "to be ",
        "without",
        "incomplete",
        "warmup",
        "warm-up",
        "profil",
        "load",
        "download",
        "preprocess",
        "pre-process",
        "initializ",
        "setup",
        "compil",
        "captur",
        "limit",
        "out of memory",
        "retr",
        "completed 0",
        "?",
        "未",
        "失败",
    ];
    if OTHER.iter().any(|word| lower.contains(word)) {
        return false;
    }
    // A share of the work, or a step of it.
    let share = lower.contains('%') && !lower.contains("100%");
    if share || is_told(lower) {
        return false;
    }
    let places = |words: &[&str]| -> Vec<usize> {
        words.iter().flat_map(|word| lower.match_indices(word).map(|(at, _)| at)).collect()
    };
    let near = |these: &[&str], those: &[&str]| {
        let those = places(those);
        places(these).iter().any(|at| those.iter().any(|other| other.abs_diff(*at) <= WORDS_APART))
    };
    near(ENDED, WORK) || near(WELL, WORK) || near(WELL, AROUND) || lower.contains("all results are saved")
}

/// Bytes between what ended and that it did: `Training of 12 folds has finished`.
const WORDS_APART: usize = 24;

/// True for a sentence of somebody who tells of a run, in a report or a write-up: "after that the training finished",
/// "这样就可以成功训练".
fn is_told(lower: &str) -> bool {
    const TELLING: &[&str] = &[
        "after ",
        "now ",
        "then ",
        "thank",
        "fixed",
        "solved",
        "works",
        "worked",
        "with this",
        "with that",
        "able to",
        "can ",
        "may ",
        "，",
        "。",
        "可以",
        "能够",
        "能成功",
        "通过",
        "这样",
        "应该",
        "就能",
        "之后",
        "才能",
    ];
    let person =
        lower.split(|c: char| !c.is_alphanumeric()).any(|word| matches!(word, "i" | "we" | "you" | "my" | "our"));
    let lower = field::without_month(lower);
    person || TELLING.iter().any(|word| lower.contains(word))
}

/// The shape of a line that may count, and the whole numbers in it that are no time, size or address.
fn counting(text: &str) -> Option<(u64, [u64; NUMBERS])> {
    if text.len() > 300 || text.contains("File \"") || text.trim_start().starts_with(['#', '|', '+']) {
        return None;
    }
    let bytes = text.as_bytes();
    let mut numbers = [0; NUMBERS];
    let mut found = 0;
    let mut shape = 0xcbf2_9ce4_8422_2325_u64;
    let mut mix = |byte: u8| shape = (shape ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        if !byte.is_ascii_digit() {
            mix(*byte);
            at += 1;
            continue;
        }
        let end = at + bytes[at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        let before = at.checked_sub(1).map_or(b' ', |at| bytes[at]);
        let behind = bytes.get(end).copied().unwrap_or(b' ');
        let after = bytes.get(end + 1).copied().unwrap_or(b' ');
        // Parts of times, dates, decimals, versions, words and addresses count nothing.
        let part = before.is_ascii_alphabetic()
            || matches!(before, b'.' | b'_' | b'-')
            || before == b':' && at >= 2 && bytes[at - 2].is_ascii_digit()
            || matches!(behind, b'.' | b':' | b'-' | b',') && after.is_ascii_digit()
            || behind.is_ascii_alphabetic()
            || behind == b'%';
        let value = text[at..end].parse::<u64>().unwrap_or(u64::MAX);
        if !part && value < LARGEST_COUNT && found < NUMBERS {
            numbers[found] = value;
            found += 1;
        }
        mix(b'0');
        at = end;
    }
    (found > 0).then_some((shape, numbers))
}
