//! Programs that kill before the kernel must: systemd-oomd, earlyoom, nohang, Facebook's oomd, Android's lmkd; and what
//! systemd tells of the units that died.

use super::labelled::Labelled;
use super::wording::{self, Unit, WORDING, Wording};
use super::{Dialect, Event, Fact, Resource, Sign, Standing, field};
use crate::domain::{Number, Program};
use crate::evidence::{Known, Span};
use crate::input::Document;
use crate::text;
use crate::units::{Base, Figure, MIB};

pub const DIALECT: Dialect = Dialect {
    name: "oom-daemons",
    triggers: &[
        "illed",
        "(?i)sending sig",
        "oom-kill",
        "(?i)for killing due",
        "(?i)taking action",
        "(?i)oomd kill:",
        "(?i)killing process '",
        "(?i)could not find a process to kill",
        "(?i)requires corrective actions",
        "(?i)require corrective actions",
        "there was reclaim activity",
        "lowmemorykiller",
    ],
    read,
};

const TABLE: &[Wording] = &[
    Wording {
        says: &["oomdkill:"],
        and: &["killer:"],
        not: &["killer:(dry)"],
        slug: "oomd-kill",
        program: Program::Oomd,
        signs: &[Sign::KilledWithProof],
        // Three pressures, the group, what it holds.
        figures: &[
            (Fact::Used, ".service", Unit::Of(1)),
            (Fact::Used, ".slice", Unit::Of(1)),
            (Fact::Used, ".scope", Unit::Of(1)),
        ],
        ..WORDING
    },
    Wording {
        says: &["conditionsmetforcgroup"],
        and: &["takingaction"],
        slug: "systemd-oomd",
        program: Program::SystemdOomd,
        signs: &[Sign::KilledWithProof],
        ..WORDING
    },
    // oomd-manager.c of 247: what it prints before it kills; the kill itself is the service manager's line.
    Wording {
        says: &["memorypressurefor"],
        and: &["isgreaterthan", "andtherewasreclaimactivity"],
        slug: "systemd-oomd",
        program: Program::SystemdOomd,
        signs: &[Sign::KilledWithProof],
        ..WORDING
    },
    // earlyoom up to 1.2.
    Wording {
        says: &["killingprocess'"],
        and: &["badness:", "vmrss:"],
        slug: "earlyoom",
        program: Program::EarlyOom,
        signs: &[Sign::KilledWithProof],
        figures: &[(Fact::Process, "vmrss:", Unit::Of(MIB))],
        pid: &["pid:"],
        name: &[("killingprocess'", '\'')],
        ..WORDING
    },
    Wording {
        says: &["couldnotfindaprocesstokill"],
        slug: "earlyoom-no-victim",
        program: Program::EarlyOom,
        ..WORDING
    },
    Wording {
        says: &["correctiveactions:"],
        and: &["memavailable[", "victimstatus"],
        slug: "nohang",
        program: Program::Nohang,
        signs: &[Sign::KilledWithProof],
        figures: &[
            (Fact::Free, "memavailable[", Unit::Printed(Base::Binary)),
            (Fact::TotalVm, "vm,mib:size:", Unit::Of(MIB)),
            (Fact::Process, ",rss:", Unit::Of(MIB)),
            (Fact::AnonRss, "(anon:", Unit::Of(MIB)),
            (Fact::FileRss, ",file:", Unit::Of(MIB)),
            (Fact::ShmemRss, ",shmem:", Unit::Of(MIB)),
        ],
        pid: &["pid:"],
        name: &[("name:", ',')],
        lines: 8,
        ..WORDING
    },
    Wording {
        says: &["correctiveactions:"],
        and: &["memavailable["],
        slug: "nohang",
        program: Program::Nohang,
        signs: &[Sign::KilledWithProof],
        figures: &[(Fact::Free, "memavailable[", Unit::Printed(Base::Binary))],
        lines: 3,
        ..WORDING
    },
];

/// Lines around a kill in which the daemon gives its reason.
const NEAR: usize = 12;

fn read(document: &Document, position: usize) -> Option<Event> {
    let line = field::text(document, position);
    if line.contains("sending SIG") {
        return earlyoom(document, position);
    }
    if line.contains("lowmemorykiller") {
        return lmkd(document, position, line);
    }
    let acted = line.contains("Killed ") || line.contains("Marked ");
    if line.contains("systemd-oomd killed") || line.contains("oomd") && acted {
        return Some(systemd_oomd(document, position));
    }
    if let Some(event) = unit(document, position) {
        return Some(event);
    }
    if let Some(event) = wording::read(document, position, TABLE) {
        return Some(event);
    }
    // Wrapped before the reason, or quoted without the daemon's name.
    if !(acted && line.contains('/')) {
        return None;
    }
    let message = field::joined(document, position, 3);
    let reason = ["duetomemoryused(", "duetomemorypressurefor"].iter().any(|reason| message.contains(reason));
    reason.then(|| systemd_oomd(document, position))
}

/// Android's killer: `lowmemorykiller: Kill 'com.example.chat' (15964), uid 10137, oom_score_adj 500 to free 92212kB
/// rss, 33036kB swap; reason: low watermark is breached and swap is low (712kB < 389076kB)` (system/memory/lmkd), and
/// the kernel's before 4.12, `Killing 'com.example' (900) (tgid 900), adj 800,`.
fn lmkd(document: &Document, position: usize, line: &str) -> Option<Event> {
    /// From here on an application is only cached, and closed whenever memory is wanted (ProcessList.java).
    const CACHED: u64 = 900;
    let (_, tail) = line.split_once("Kill '").or_else(|| line.split_once("Killing '"))?;
    let (name, tail) = tail.split_once("' (")?;
    let pid = field::leading_number(tail)?;
    let mut event = field::event(document, position, "android-lmkd", Program::named("lmkd")?, Resource::Host);
    event.sign(Sign::KilledWithProof);
    field::note_pid(&mut event, Some(pid));
    event.facts.process_name = Known::Seen(name.to_string(), event.at);
    match field::size_after(tail, "to free ", Base::Binary) {
        Some(held) => event.facts.note(Fact::Process, held.at(event.at)),
        None => event.sign(Sign::NoFigures),
    }
    let adjustment = ["oom_score_adj ", "adj "].iter().find_map(|label| field::number_after(tail, label));
    if adjustment.is_some_and(|adjustment| adjustment >= CACHED) {
        event.make_harmless(text!(
            en: "Android closed an application that was only cached, as it does whenever memory is wanted",
            zh: "Android 关闭了一个仅处于缓存状态的应用：需要内存时它总会这样做"
        ));
    }
    Some(event)
}

/// A unit of which the service manager saw the kernel, or systemd-oomd, kill a process.
fn unit(document: &Document, position: usize) -> Option<Event> {
    const SAID: [&str; 3] =
        ["has been killed by the OOM killer", "Failed with result 'oom-kill'", "(Result: oom-kill)"];
    let line = field::text(document, position);
    if !SAID.iter().any(|said| line.contains(said)) {
        return None;
    }
    let mut event = field::event(document, position, "systemd-unit-oom", Program::LinuxKernel, Resource::Host);
    event.sign(Sign::KilledWithProof);
    let told = |at: usize| {
        let earlier = field::text(document, at);
        SAID.iter().any(|said| earlier.contains(said)) || earlier.contains("systemd-oomd killed")
    };
    if field::before(position, NEAR).any(told) {
        event.standing = Standing::Follower;
    }
    // `systemctl status` names the process, the journal what the unit had used.
    let main = field::behind(document, position, NEAR).map(|at| field::text(document, at)).find_map(|line| {
        ["Main PID:", "Process:"]
            .iter()
            .find_map(|label| field::number_after(line, label))
            .filter(|_| line.contains("code=killed"))
    });
    // Of several processes of the unit the kernel says which it killed.
    let unit = std::iter::once(position)
        .chain(field::before(position, 4))
        .flat_map(|at| field::text(document, at).split_whitespace())
        .map(|word| word.trim_end_matches(':'))
        .find(|word| word.ends_with(".service"));
    let by_the_kernel = field::behind(document, position, NEAR)
        .map(|at| field::text(document, at))
        .find(|line| line.contains("oom-kill:constraint") && unit.is_some_and(|unit| line.contains(unit)))
        .and_then(|line| field::number_after(line, "pid="));
    field::note_pid(&mut event, by_the_kernel.or(main));
    let peak = field::behind(document, position, NEAR).find_map(|at| {
        let line = field::text(document, at);
        let (front, _) = line.split_once(" memory peak")?;
        let size = field::leading_size(front.rsplit(' ').next()?, Base::Binary)?;
        Some(size.at(Span::line(field::number(document, at))))
    });
    match peak {
        Some(peak) => event.facts.note(Fact::Peak, peak),
        None => event.sign(Sign::NoFigures),
    }
    Some(event)
}

/// True for a line that begins a reason of systemd-oomd.
fn gives_reason(line: &str) -> bool {
    line.contains("due to memory")
        || line.contains("for killing due")
        || line.contains("oomd") && line.contains("Killed ")
}

fn systemd_oomd(document: &Document, position: usize) -> Event {
    let mut event = field::event(document, position, "systemd-oomd", Program::SystemdOomd, Resource::Host);
    event.sign(Sign::KilledWithProof);
    let line = field::text(document, position);
    field::note_number(&mut event, Number::Kills, field::number_after(line, "systemd-oomd killed").map(|n| n as f64));
    let told = |at: usize| {
        let line = field::text(document, at);
        line.contains("systemd-oomd killed")
            || line.contains("oomd") && (line.contains("Killed ") || line.contains("Marked "))
    };
    if field::before(position, NEAR).any(told) {
        event.standing = Standing::Follower;
    }
    let reason = std::iter::once(position)
        .chain(field::behind(document, position, NEAR))
        .chain(field::before(position, NEAR))
        .find(|at| gives_reason(field::text(document, *at)));
    let Some(reason) = reason else { return event };
    if let Some(path) = ["Killed /", "Marked /"].iter().find_map(|start| {
        field::text(document, reason).find(start).map(|at| &field::text(document, reason)[at + start.len() - 1..])
    }) {
        let path = path.split_once(" due").or_else(|| path.split_once(" for")).map_or(path, |(path, _)| path);
        event.facts.cgroup.note(path.trim().to_string(), Span::line(field::number(document, reason)));
    }
    let message = field::joined(document, reason, 3);
    let size = |from: usize, label: &str| {
        let offset = message.after(label, from)?;
        let (bytes, end) = message.count_at(offset)?;
        let closed = message.squeezed[end..].starts_with(')');
        closed.then_some((Figure { bytes, half_width: 0, at: message.span(offset, end) }, offset))
    };
    if let Some((used, at)) = size(0, "memoryused(") {
        event.facts.note(Fact::Used, used);
        if let Some((total, _)) = size(at, "total(") {
            event.facts.note(Fact::Capacity, total);
        }
    }
    if let Some((used, at)) = size(0, "swapused(") {
        event.facts.numbers.insert(Number::SwapUsed, (used.bytes as f64, used.at));
        if let Some((total, _)) = size(at, "total(") {
            event.facts.numbers.insert(Number::SwapTotal, (total.bytes as f64, total.at));
        }
    }
    if let Some(offset) = message.find("pressurefor", 0).and_then(|from| message.after("being", from)) {
        let rest = message.squeezed.get(offset..).unwrap_or_default();
        let percent = rest.split_once('%').and_then(|(number, _)| number.parse::<f64>().ok());
        if let Some(percent) = percent {
            event.facts.numbers.insert(Number::PressurePercent, (percent, message.span(offset, offset + 1)));
        }
    }
    event
}

/// `sending SIGTERM to process N uid U "NAME": badness B, VmRSS R MiB`, with the memory of the machine in front.
fn earlyoom(document: &Document, position: usize) -> Option<Event> {
    let line = field::text(document, position);
    let tail = field::after(line, "to process")?;
    let labelled = Labelled::at(document, position, 2);
    let (pid, _) = labelled.count("toprocess")?;
    let mut event = field::event(document, position, "earlyoom", Program::EarlyOom, Resource::Host);
    event.sign(Sign::KilledWithProof);
    field::note_pid(&mut event, Some(pid));
    let died = |at: usize| {
        let later = field::text(document, at);
        let of_it = field::number_after(later, "to process") == Some(pid)
            || field::number_after(later, "process") == Some(pid)
            || field::number_after(later, "Process") == Some(pid);
        of_it && (later.contains("SIGKILL") || later.contains("exited") || later.contains("Killed process"))
    };
    if line.contains("SIGTERM") && !field::behind(document, position, NEAR).any(died) {
        event.sign(Sign::ToldToEnd);
    }
    let at = event.at;
    let name = quoted_name(tail);
    if let Some(name) = name {
        event.facts.process_name = Known::Seen(name.to_string(), at);
    }
    // Cut down to whole MiB.
    if let Some(resident) = labelled.figure("vmrss", Unit::Counted(MIB, "mib")) {
        event.facts.numbers.insert(Number::VictimRss, (resident.bytes as f64, at));
        event.facts.note(Fact::Process, Figure { half_width: MIB, ..resident });
    }
    field::note_number(&mut event, Number::Score, field::number_after(line, "badness").map(|n| n as f64));
    let again = |at: usize| {
        let earlier = field::text(document, at);
        earlier.contains("sending SIG") && field::number_after(earlier, "to process") == Some(pid)
    };
    if field::before(position, NEAR).any(again) {
        event.standing = Standing::Follower;
    }
    let state = field::before(position, 5).find(|at| field::text(document, *at).contains("mem avail:"));
    if let Some(state) = state {
        let labelled = Labelled::at(document, state, 1);
        // Whole MiB: of the free ones, before `of` the total.
        let pair = |label: &str| {
            let from = labelled.lower.find(label)?;
            let rest = from..labelled.lower.len();
            let (total, end) = labelled.figure_within(rest, "of", Unit::Counted(MIB, "mib"))?;
            let free = labelled.figure_within(from..end, label, Unit::Of(MIB)).map(|(free, _)| free);
            Some((Figure { half_width: MIB / 2, ..free? }, Figure { half_width: MIB / 2, ..total }))
        };
        if let Some((free, total)) = pair("memavail:") {
            event.facts.note(Fact::Free, free);
            event.facts.note(Fact::Capacity, total);
        }
        if let Some((free, total)) = pair("swapfree:") {
            event.facts.numbers.insert(Number::SwapFree, (free.bytes as f64, free.at));
            event.facts.numbers.insert(Number::SwapTotal, (total.bytes as f64, total.at));
        }
    }
    Some(event)
}

/// The name in quotes or brackets.
fn quoted_name(text: &str) -> Option<&str> {
    if let Some((_, tail)) = text.split_once('"') {
        return tail.split_once('"').map(|(name, _)| name);
    }
    text.split_once('(')?.1.split_once(')').map(|(name, _)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(log: &str) -> Vec<Event> {
        let document = Document::from_text("-", log);
        (0..document.lines.len()).filter_map(|position| read(&document, position)).collect()
    }

    #[test]
    fn earlyoom_names_the_victim_and_the_machine() {
        let events = all(
            "earlyoom[7]: mem avail:   512 of 16000 MiB ( 3.20%), swap free:    0 of 2048 MiB ( 0.00%)\nearlyoom[7]: sending SIGTERM to process 900 uid 1000 \"py thon\": badness 812, VmRSS 9000 MiB\nearlyoom[7]: sending SIGKILL to process 900 uid 1000 \"py thon\": badness 812, VmRSS 9000 MiB",
        );
        assert_eq!(events[0].facts.get(Fact::Capacity).map(|f| f.bytes), Some(16000 * MIB));
        assert_eq!(events[0].facts.process_name.get().map(String::as_str), Some("py thon"));
        assert_eq!(events[1].standing, Standing::Follower);
        assert!(all("earlyoom: sending SIGTERM when mem <= 10.00% and swap <= 10.00%,").is_empty());
    }

    #[test]
    fn android_kills_whom_it_must_and_closes_what_is_cached() {
        let log = |adjustment: u32| {
            all(&format!(
                "04-29 09:41:12.195   300   300 I lowmemorykiller: Kill 'org.example.chat' (10280), uid 10028, \
                 oom_score_adj {adjustment} to free 45088kB rss, 33516kB swap; reason: min watermark is breached and \
                 swap is low (130588kB < 192936kB)"
            ))
        };
        let killed = log(0).remove(0);
        assert!(killed.has(Sign::KilledWithProof) && killed.standing != Standing::Harmless);
        assert_eq!(killed.facts.get(Fact::Process).map(|held| held.bytes), Some(45088 << 10));
        assert_eq!(killed.facts.process_name.get().map(String::as_str), Some("org.example.chat"));
        assert_eq!(log(935)[0].standing, Standing::Harmless);
        assert!(all("I lowmemorykiller: Using psi monitors for memory pressure detection").is_empty());
    }

    #[test]
    fn systemd_oomd_gives_one_of_two_reasons() {
        let used = all(
            "systemd-oomd[5]: Killed /user.slice/a.scope due to memory used (8000) / total (8800) and swap used (900) / total (1000) being more than 90.00%",
        );
        assert_eq!(used[0].facts.get(Fact::Capacity).map(|f| f.bytes), Some(8800));
        assert_eq!(used[0].facts.number(Number::SwapTotal), Some(1000.0));
        assert_eq!(used[0].facts.cgroup.get().map(String::as_str), Some("/user.slice/a.scope"));
        let pressure = all(
            "systemd-oomd[5]: Killed /a.slice due to memory pressure\n  for /a.slice being 71.25% > 60.00% for > 30s with reclaim activity",
        );
        assert_eq!(pressure[0].facts.number(Number::PressurePercent), Some(71.25));
        assert!(all("Killed process group /x after 5 s").is_empty());
    }
}
