//! A failure that somebody watched: the message of the job's output with what was seen, or, where the job died without
//! a word, what was seen alone. And records of it, read back.

use super::Incident;
use super::context::{ContextReader, Measure, Phase};
use super::timeline::{Course, End, Header, InsideProcess, Quantity, Refusal, SCHEMA, Sample, Timeline};
use crate::dialect::{Event, Fact, Resource, Sign};
use crate::domain::Program;
use crate::domain::program::PytorchAllocator;
use crate::evidence::{Known, Span};
use crate::input::Document;
use crate::text;
use crate::text::counted;
use crate::units::Figure;
use std::io::BufRead;
use std::sync::Arc;

/// Slug of a failure that no program printed.
const WATCHED: &str = "watched";

const SIGKILL: i32 = 9;
const SIGBUS: i32 = 7;

/// From here on a file system or limit is taken for full: what was asked for last did not fit any more.
const FULL: f64 = 0.85;

/// Below this share of what binds, neither the kernel nor a daemon that watches memory kills.
const NEARLY: f64 = 0.6;

/// What binds is nearly full from here on: a record that breaks off then was not ended by chance.
const BROKEN_OFF: f64 = 0.9;

/// Seconds of a record that may not be written yet when it breaks off; and how full it was then, if it went on rising.
const UNWRITTEN: f64 = 1.0;
const FILLED: f64 = 0.97;

/// What was reached this many seconds before the end, or in this share of the time, was reached at the end: others
/// notice a little later that one of them is gone.
const TO_THE_END: f64 = 2.0;
const TO_THE_END_SHARE: f64 = 0.2;

const A_DAY: f64 = 86_400.0;

/// Lines of a record at most; it is written anew long before.
const LONGEST_LINE: usize = 8 << 20;

/// True where a file begins as a record does.
pub fn is_record(beginning: &[u8]) -> bool {
    let start: String = String::from_utf8_lossy(beginning.get(..64.min(beginning.len())).unwrap_or_default())
        .chars()
        .filter(|c| !c.is_whitespace())
        .collect();
    start.starts_with(&format!("{{\"schema\":\"{SCHEMA}\""))
}

/// Reads a record: what was seen, and what the job printed. A line that was cut when oomdoc was killed is left out.
///
/// # Errors
/// Where it cannot be read.
pub fn read_record(mut from: impl BufRead) -> std::io::Result<(Timeline, String)> {
    let mut timeline = Timeline::default();
    let mut output = String::new();
    let mut line = Vec::new();
    loop {
        line.clear();
        let mut limited = std::io::Read::take(&mut from, LONGEST_LINE as u64);
        if limited.read_until(b'\n', &mut line)? == 0 {
            return Ok((timeline, output));
        }
        if line.starts_with(b"{\"schema\"") {
            if let Ok(header) = serde_json::from_slice::<Header>(&line) {
                timeline.header = header;
            }
        } else if let Ok(sample) = serde_json::from_slice::<Sample>(&line) {
            output.push_str(sample.output.as_deref().unwrap_or_default());
            timeline.add(&sample);
        }
    }
}

impl Timeline {
    /// The kernel shot something of the job for want of memory: the counter of its control group says so, which counts
    /// every victim in it, whichever limit was reached. Only where that cannot be read does the machine's count prove
    /// it, and only of a job that was shot: on a machine with others the victim may be anybody's.
    pub fn kill_is_proved(&self) -> bool {
        let end = self.end.unwrap_or_default();
        match end.group_kills {
            Some(kills) => kills > 0,
            None => end.machine_kills.unwrap_or(0) > 0 && self.was_shot(),
        }
    }

    /// SIGKILL, by the job itself or by what started it, as its code says.
    fn was_shot(&self) -> bool {
        self.end.is_some_and(|end| {
            end.signal == Some(SIGKILL) || end.code == Some(128 + SIGKILL) || end.code == Some(-SIGKILL & 0xff)
        })
    }

    /// True where the record has no end and what binds was nearly full when it breaks off: what was killed then was
    /// oomdoc too, or the machine.
    pub fn breaks_off_full(&self) -> bool {
        let bounds = [Quantity::Cgroup, Quantity::Host];
        self.end.is_none()
            && !self.running
            && bounds.iter().any(|quantity| self.was_nearly_full(*quantity).unwrap_or(false))
    }

    /// True where a quantity stood near its bound at last, or would have within the second that is not on the disk yet.
    fn was_nearly_full(&self, quantity: Quantity) -> Option<bool> {
        let (curve, limit) = (self.curve(quantity)?, self.limit(quantity)?);
        let last = curve.last()?;
        let before = curve.at(last.at - UNWRITTEN).map_or(last.bytes, |before| before.bytes);
        let then = last.bytes.saturating_add(last.bytes.saturating_sub(before));
        Some(last.bytes as f64 >= BROKEN_OFF * limit as f64 || then as f64 >= FILLED * limit as f64)
    }

    /// True where the job ended as jobs do whose memory ran out, whatever it printed.
    pub fn may_be_memory(&self) -> bool {
        self.breaks_off_full()
            || self.end.is_some_and(|end| end.failed() && !end.stopped_by_us)
                && (self.kill_is_proved()
                    || self.was_shot() && (!self.shot_for_another_reason() || self.rose_to_the_end())
                    || self.died_in_shared_memory())
    }

    /// SIGKILL, while the kernel counted no kill of the job's for want of memory and nothing was nearly full: somebody
    /// or something else sent it. That may be a scheduler or daemon that watches what jobs hold, which counts nowhere.
    pub fn shot_for_another_reason(&self) -> bool {
        let counted = self.kills_counted() == Some(0);
        let full = [Quantity::Cgroup, Quantity::Host].into_iter().filter_map(|quantity| self.fullest(quantity));
        counted && full.fold(0.0, f64::max) < NEARLY
    }

    /// True where the job's memory had risen and was at its highest when the end came, as when one is shot for it.
    pub fn rose_to_the_end(&self) -> bool {
        let Some(job) = self.curve(Quantity::Job) else { return false };
        let rose = job.course().is_some_and(|course| course != Course::Steady);
        let late = self.lasted - TO_THE_END.max(TO_THE_END_SHARE * self.lasted);
        rose && job.peak().is_some_and(|peak| peak.at >= late)
    }

    fn died_in_shared_memory(&self) -> bool {
        let bus = self.end.is_some_and(|end| end.signal == Some(SIGBUS) || end.code == Some(128 + SIGBUS));
        bus && self.fullest(Quantity::Shm).is_some_and(|share| share >= FULL)
    }

    /// The failure where nothing was printed about it.
    fn event(&self) -> Option<Event> {
        if !self.may_be_memory() {
            return None;
        }
        let of_group = self.header.cgroup_limit.is_some()
            && self.end.map_or_else(
                || self.was_nearly_full(Quantity::Cgroup) == Some(true),
                |end| end.group_kills.unwrap_or(0) > 0,
            );
        let resource = if self.died_in_shared_memory() {
            Resource::Shm
        } else if of_group {
            Resource::Cgroup
        } else {
            Resource::Host
        };
        let is_python = self.processes.values().any(|process| process.name.starts_with("python"));
        let program = if is_python { Program::Python } else { Program::LinuxKernel };
        let mut event = Event::new(WATCHED, program, resource, Span::GIVEN);
        event.rank = self.header.rank;
        let how = match self.end {
            Some(End { signal: Some(signal), .. }) => text!(en: "signal {signal}", zh: "信号 {signal}"),
            Some(End { code: Some(code), .. }) => text!(en: "exit code {code}", zh: "退出码 {code}"),
            _ => text!(en: "an unknown end", zh: "未知的结束方式"),
        };
        event.message = match self.kills_counted().unwrap_or(0) {
            _ if self.end.is_none() => "the record breaks off while memory was nearly full".to_string(),
            0 => format!("the job ended with {}", how.en),
            kills => format!(
                "the job ended with {}; the kernel counted {} for want of memory",
                how.en,
                counted(kills, "kill", "kills")
            ),
        };
        if resource != Resource::Shm {
            event.sign(if self.kill_is_proved() { Sign::KilledWithProof } else { Sign::KilledWithoutProof });
        }
        let exactly = |bytes| Figure { bytes, half_width: 0, at: Span::GIVEN };
        if let Some(limit) = self.header.cgroup_limit.filter(|_| of_group) {
            event.facts.note(Fact::Limit, exactly(limit));
        } else if let Some(ram) = self.header.ram.filter(|_| resource == Resource::Host) {
            event.facts.note(Fact::Capacity, exactly(ram));
        }
        Some(event)
    }
}

impl Timeline {
    /// A thread that could not be started is a matter of a limit on threads or on addresses; that the addresses were
    /// used up decides it, and then it is a failure for want of them.
    fn refused_thread(&self, harmless: &mut Vec<Event>) -> Option<Event> {
        let (_, limit) = self.out_of_addresses(None)?.addresses?;
        let at = harmless.iter().position(|event| event.has(Sign::ThreadRefused))?;
        let mut event = harmless.remove(at);
        event.make_failure();
        event.sign(Sign::AddressSpaceLimit);
        event.facts.note(Fact::Limit, Figure { bytes: limit, half_width: 0, at: Span::GIVEN });
        Some(event)
    }
}

/// The last message of the output that only the words around it spoke against: the job did fail.
fn last_doubted(harmless: &mut Vec<Event>) -> Option<Event> {
    let at = harmless.iter().rposition(|event| event.has(Sign::DoubtedByWords))?;
    let mut event = harmless.remove(at);
    event.make_failure();
    Some(event)
}

/// The failures of a job's output with what was seen. Where the output tells of none and the end may be one, it is one,
/// with what the output tells besides.
pub fn attach(document: &Document, incidents: &mut Vec<Incident>, harmless: &mut Vec<Event>, timeline: &Arc<Timeline>) {
    if timeline.failed() && !incidents.iter().any(|incident| incident.primary) {
        let event = timeline.event().or_else(|| timeline.refused_thread(harmless)).or_else(|| last_doubted(harmless));
        incidents.extend(event.map(|event| {
            let at = if event.at.is_given() { Span::line(document.line_count) } else { event.at };
            let context = ContextReader::new(document).at(at, event.rank, None);
            Incident::alone(event, context)
        }));
    }
    put_to(incidents, timeline);
}

/// Puts what was seen to failures.
pub fn put_to(incidents: &mut [Incident], timeline: &Arc<Timeline>) {
    for incident in incidents.iter_mut() {
        incident.observed = Some(Arc::clone(timeline));
        told_from_inside(incident, timeline);
        // Of many records, the one that ended first is the failure that the others followed.
        incident.clock.get_or_insert(timeline.ended_at().rem_euclid(A_DAY));
        // The launcher or shell said only that it was shot; the kernel's counter says why.
        let event = &mut incident.event;
        if event.has(Sign::KilledWithoutProof) && timeline.kill_is_proved() {
            event.signs.remove(&Sign::KilledWithoutProof);
            event.sign(Sign::KilledWithProof);
            let of_group = timeline.end.is_some_and(|end| end.group_kills.unwrap_or(0) > 0);
            if let (true, Some(limit)) = (of_group, timeline.header.cgroup_limit) {
                event.resource = Resource::Cgroup;
                event.facts.note(Fact::Limit, Figure { bytes: limit, half_width: 0, at: Span::GIVEN });
            }
        }
    }
}

impl Incident {
    /// True where all that is known of a failure is that the job's record breaks off: nothing was printed of it.
    pub fn is_broken_record(&self) -> bool {
        self.event.at == Span::GIVEN && self.observed.as_ref().is_some_and(|timeline| timeline.end.is_none())
    }
}

/// What PyTorch told of the process that failed: the phase and step of the failed request, and what was allocated after
/// each step. It goes before what the log's lines let guess.
fn told_from_inside(incident: &mut Incident, timeline: &Timeline) {
    let Some((process, refusal)) = timeline.refused(incident) else { return };
    let context = &mut incident.context;
    // That no backward pass and no step of the optimizer was under way leaves open what else was.
    let told = context.phase.value();
    let vague = refusal.phase == Some(Phase::Forward)
        && told.is_some_and(|phase| !matches!(phase, Phase::Backward | Phase::OptimizerStep));
    if let Some(phase) = refusal.phase.filter(|_| !vague) {
        context.phase = Known::Seen(phase, Span::GIVEN);
    }
    if refusal.step > 0 {
        context.step = Known::Seen(refusal.step, Span::GIVEN);
        context.last_reading = Some((0, process.peak));
    }
    if process.rows.len() > 1 {
        // The allocator's own counters after each step, in place of what was printed now and then.
        context.series.retain(|series| series.measure != Measure::GpuAllocated);
        context.series.push(process.series());
    }
}

impl Timeline {
    /// The process whose failed request an incident tells of: by the bytes it asked for, the newest of them; where the
    /// message has no figures, the only process that failed.
    pub(crate) fn refused(&self, incident: &Incident) -> Option<(&InsideProcess, &Refusal)> {
        if incident.event.resource != Resource::Gpu
            || incident.event.program.pytorch_allocator() == PytorchAllocator::No
        {
            return None;
        }
        let all =
            || self.inside.iter().flat_map(|process| process.failures.iter().map(move |failure| (process, failure)));
        match incident.event.facts.get(Fact::Requested) {
            Some(requested) => {
                let asked = requested.interval();
                let of_rank = |process: &InsideProcess| {
                    process.rank.is_none_or(|rank| incident.event.rank.is_none_or(|named| named == rank))
                };
                let printed = |failure: &Refusal| (asked.low..=asked.high).contains(&i128::from(failure.requested));
                all().rfind(|(process, failure)| of_rank(process) && printed(failure))
            }
            None => {
                let last = all().next_back()?;
                all().all(|(process, _)| process.pid == last.0.pid).then_some(last)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shot(group_kills: Option<u64>, machine_kills: Option<u64>) -> Timeline {
        let end = End { signal: Some(SIGKILL), group_kills, machine_kills, ..End::default() };
        Timeline { end: Some(end), ..Timeline::default() }
    }

    #[test]
    fn another_jobs_kill_on_the_same_machine_proves_nothing_where_the_jobs_own_counter_is_read() {
        let busy = shot(Some(0), Some(1));
        assert!(!busy.kill_is_proved() && busy.shot_for_another_reason() && !busy.may_be_memory());
        for own in [shot(Some(1), Some(1)), shot(Some(1), None), shot(None, Some(1))] {
            assert!(own.kill_is_proved() && !own.shot_for_another_reason() && own.may_be_memory(), "{:?}", own.end);
        }
        let untold = shot(None, None);
        assert!(!untold.kill_is_proved() && !untold.shot_for_another_reason() && untold.may_be_memory());
    }

    #[test]
    fn a_record_that_breaks_off_is_a_failure_only_where_memory_was_nearly_full() {
        let of = |share: f64, end: Option<End>| {
            let header = Header { cgroup_limit: Some(1000), ..Header::default() };
            let mut timeline = Timeline::new(header);
            timeline.add(&Sample { at: 1.0, cgroup: Some((1000.0 * share) as u64), end, ..Sample::default() });
            timeline
        };
        assert!(of(0.99, None).may_be_memory() && !of(0.5, None).may_be_memory());
        let well = Some(End { code: Some(0), ..End::default() });
        assert!(!of(0.99, well).may_be_memory(), "it ended well");
        let running = Timeline { running: true, ..of(0.99, None) };
        assert!(!running.may_be_memory(), "it has not ended");
        let event = of(0.99, None).event().unwrap();
        assert_eq!(event.resource, Resource::Cgroup);
        assert!(event.has(Sign::KilledWithoutProof), "what ended it is not known");
    }

    #[test]
    fn a_job_that_was_not_shot_is_no_victim_of_the_machines() {
        let end = End { code: Some(1), machine_kills: Some(3), ..End::default() };
        let failed = Timeline { end: Some(end), ..Timeline::default() };
        assert!(!failed.kill_is_proved() && !failed.may_be_memory());
    }
}
