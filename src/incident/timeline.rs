//! What `oomdoc run` saw of a job while it ran: plain data, bounded whatever the job does, and what its curves say.

use super::context::{Measure, Phase, Reading, Series, StepUnit};
use crate::thin;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The first value of a record.
pub const SCHEMA: &str = "oomdoc.record/1";

/// Points of one curve at most; older ones are thinned.
const POINTS: usize = 4096;
/// Points of a single process.
const POINTS_OF_PROCESS: usize = 512;
/// Processes whose curves are kept.
const PROCESSES: usize = 256;
/// Processes stand in a record once a second.
const WRITTEN_EACH: f64 = 1.1;
/// Addresses and locked pages are used up from this share of their limit on: the next request finds none.
const USED_UP: f64 = 0.85;
/// Processes shot for want of memory that are kept.
const VICTIMS: usize = 64;
/// Steps of the output, and shares of time, that are kept with their moments.
const STEPS: usize = 4096;

/// One look at the job, and one line of a record. What was not looked at is absent.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Sample {
    /// Seconds since the start.
    #[serde(rename = "t")]
    pub at: f64,
    /// Sum over the job's processes, shared memory once.
    #[serde(rename = "j", skip_serializing_if = "Option::is_none")]
    pub job: Option<u64>,
    /// Held in the control group with the least room, without reclaimable files.
    #[serde(rename = "c", skip_serializing_if = "Option::is_none")]
    pub cgroup: Option<u64>,
    /// In use on the machine, by whomever.
    #[serde(rename = "h", skip_serializing_if = "Option::is_none")]
    pub host: Option<u64>,
    #[serde(rename = "s", skip_serializing_if = "Option::is_none")]
    pub shm: Option<u64>,
    /// Resident in the job's processes, each counted for itself: what a fork shares counts in both.
    #[serde(rename = "r", skip_serializing_if = "Option::is_none")]
    pub resident: Option<u64>,
    /// Page-locked by the job's processes.
    #[serde(rename = "l", skip_serializing_if = "Option::is_none")]
    pub locked: Option<u64>,
    /// Moved out to swap of the job's processes.
    #[serde(rename = "k", skip_serializing_if = "Option::is_none")]
    pub swapped: Option<u64>,
    /// Shared memory and files in memory (tmpfs), of that control group or of the machine.
    #[serde(rename = "m", skip_serializing_if = "Option::is_none")]
    pub shared: Option<u64>,
    /// Swap in use on the machine.
    #[serde(rename = "w", skip_serializing_if = "Option::is_none")]
    pub swap: Option<u64>,
    /// Share of the time since the last look in which everything waited for memory.
    #[serde(rename = "f", skip_serializing_if = "Option::is_none")]
    pub stalled: Option<f64>,
    #[serde(rename = "g", skip_serializing_if = "Vec::is_empty")]
    pub devices: Vec<DeviceSample>,
    #[serde(rename = "p", skip_serializing_if = "Vec::is_empty")]
    pub processes: Vec<ProcessSample>,
    /// Processes of the job that ended while the kernel counted a kill for want of memory.
    #[serde(rename = "x", skip_serializing_if = "Vec::is_empty")]
    pub victims: Vec<Victim>,
    /// Step counter of the output.
    #[serde(rename = "n", skip_serializing_if = "Option::is_none")]
    pub step: Option<f64>,
    /// Of how many the output counts something that it calls no step, and how far it has come.
    #[serde(rename = "q", skip_serializing_if = "Option::is_none")]
    pub count: Option<(f64, f64)>,
    /// What the job printed.
    #[serde(rename = "o", skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
    /// What PyTorch told of the job's processes, all of it anew.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub inside: Vec<InsideProcess>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end: Option<End>,
}

/// One GPU at one moment.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct DeviceSample {
    #[serde(rename = "i")]
    pub index: u32,
    #[serde(rename = "u")]
    pub used: u64,
    /// By the job's processes; absent where nobody can tell them from others.
    #[serde(rename = "o", skip_serializing_if = "Option::is_none", default)]
    pub own: Option<u64>,
    /// Processes of others, and what they hold.
    #[serde(rename = "x", skip_serializing_if = "Vec::is_empty", default)]
    pub others: Vec<(u32, u64)>,
}

/// One process of the job at one moment.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct ProcessSample {
    #[serde(rename = "i")]
    pub pid: u32,
    #[serde(rename = "u")]
    pub parent: u32,
    #[serde(rename = "n")]
    pub name: String,
    /// Runs the program of its parent: a worker that was forked.
    #[serde(rename = "w", skip_serializing_if = "std::ops::Not::not", default)]
    pub worker: bool,
    /// What it alone holds.
    #[serde(rename = "m")]
    pub own: u64,
    /// Its rank, by its environment.
    #[serde(rename = "k", skip_serializing_if = "Option::is_none", default)]
    pub rank: Option<u32>,
    #[serde(rename = "t", skip_serializing_if = "no_more_than_one", default)]
    pub threads: u64,
    /// Addresses in use, and the limit on them (`ulimit -v`) where there is one.
    #[serde(rename = "v", skip_serializing_if = "Option::is_none", default)]
    pub addresses: Option<(u64, u64)>,
    /// Page-locked bytes, and the limit on them (`ulimit -l`) where one applies and anything is locked.
    #[serde(rename = "l", skip_serializing_if = "Option::is_none", default)]
    pub locked: Option<(u64, u64)>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over references")]
fn no_more_than_one(count: &u64) -> bool {
    *count <= 1
}

/// A process that the kernel shot for want of memory.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Victim {
    pub pid: u32,
    pub name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rank: Option<u32>,
    /// What it alone held when it was seen last.
    pub own: u64,
}

/// What PyTorch's allocator told from inside one process (`--snapshot`).
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct InsideProcess {
    pub pid: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rank: Option<u32>,
    /// The version of PyTorch.
    pub torch: String,
    /// Optimizer steps made.
    pub steps: u64,
    /// The highest that was allocated when a step was over, and the step in which it was reached; 0 before the first.
    pub peak: u64,
    pub peak_step: u64,
    /// Steps that peaked above all before them, and that peak; thinned.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub raises: Vec<(u64, u64)>,
    /// The device that the figures of steps are of; absent before the first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub device: Option<u32>,
    /// Steps, and bytes allocated after each; thinned.
    pub rows: Vec<(u64, u64)>,
    /// Requests that the allocator could not serve, the newest last; also those that the job survived.
    pub failures: Vec<Refusal>,
}

impl InsideProcess {
    /// Allocated after each step.
    pub fn series(&self) -> Series {
        Series {
            measure: Measure::GpuAllocated,
            rank: self.rank,
            per: StepUnit::Step,
            running_maximum: false,
            readings: self
                .rows
                .iter()
                .map(|(step, bytes)| Reading { line: 0, step: Some(*step as f64), bytes: *bytes })
                .collect(),
        }
    }
}

/// A request that PyTorch's allocator could not serve.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Refusal {
    pub device: u32,
    /// Bytes asked for, of the device, free on it, and allocated by the process.
    pub requested: u64,
    pub total: u64,
    pub free: u64,
    pub allocated: u64,
    /// Optimizer steps made before.
    pub step: u64,
    /// What the process was doing, where its calls tell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phase: Option<Phase>,
    /// The file of the memory snapshot.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub snapshot: Option<String>,
    /// Whose weights were on the device, and how often.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weights: Option<HeldWeights>,
    /// What the optimizers kept, where it failed in a step of theirs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub states: Option<HeldStates>,
}

/// The module with the most weights on a device.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct HeldWeights {
    pub class: String,
    pub bytes: u64,
    /// Further modules with weights of the same shapes.
    pub modules: u64,
    /// What those have on the device: less than their weights where they are still on their way to it.
    pub again: u64,
    /// Whole sets of tensors of these shapes that belong to no module and are neither gradients nor the optimizer's.
    pub tensors: u64,
}

/// What optimizers keep for the parameters that they update.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct HeldStates {
    /// Bytes of states on the device, of the parameters that have all of theirs, and of all with gradients.
    pub made: u64,
    pub parameters: u64,
    pub all: u64,
    /// What the states come to once all have theirs.
    pub whole: u64,
}

/// How the job ended, and what the kernel counted meanwhile.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct End {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signal: Option<i32>,
    /// Kills for want of memory in the job's control groups.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub group_kills: Option<u64>,
    /// The same on the whole machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub machine_kills: Option<u64>,
    /// Oomdoc ended it, because `--stop-at` was reached.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub stopped_by_us: bool,
}

impl End {
    pub fn failed(&self) -> bool {
        self.signal.is_some() || self.code != Some(0)
    }
}

/// What is known before the first look.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Header {
    pub schema: String,
    pub version: String,
    /// Seconds since 1970.
    pub began: f64,
    pub pid: u32,
    pub command: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rank: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ram: Option<u64>,
    /// The limit of the control group with the least room.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cgroup_limit: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shm_size: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub swap_size: Option<u64>,
    /// Index and bytes of each GPU.
    pub devices: Vec<(u32, u64)>,
}

/// What a curve is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Quantity {
    Job,
    Cgroup,
    Host,
    Shm,
    Resident,
    Locked,
    /// Shared memory and files in memory.
    Shared,
    Swap,
    Swapped,
    Device(u32),
    Own(u32),
}

impl Quantity {
    /// The name in JSON.
    pub fn id(self) -> &'static str {
        match self {
            Quantity::Job => "job",
            Quantity::Cgroup => "cgroup",
            Quantity::Host => "host",
            Quantity::Shm => "shm",
            Quantity::Locked => "locked",
            Quantity::Shared => "shared",
            Quantity::Swap => "swap",
            Quantity::Swapped => "swapped",
            Quantity::Resident => "resident",
            Quantity::Device(_) => "gpu",
            Quantity::Own(_) => "gpu-own",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    pub at: f64,
    pub bytes: u64,
}

/// Readings over time, thinned in their older part.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Curve {
    pub points: Vec<Point>,
}

/// What a curve did before the job ended.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Course {
    /// It rose steadily.
    Rose {
        bytes_per_second: f64,
        from: Point,
        to: Point,
    },
    /// It kept its level for long and then went up.
    Climbed {
        from: Point,
        to: Point,
    },
    Steady,
}

/// A rise by less than this is none.
const WORTH_A_RISE: u64 = 32 << 20;

/// What leaves its level before this share of the time rises rather than climbs late: a straight rise leaves that of
/// its first half after a third.
const LATE: f64 = 0.45;

/// Readings that make a level.
const LEVEL: usize = 4;

/// Growth of this confidence (see [`Series::growth`]) is told as such.
const SURE: f64 = 0.4;

impl Curve {
    /// Adds a reading; beyond `most` points those of the older three quarters are merged, keeping highs and lows.
    pub fn push(&mut self, point: Point, most: usize) {
        self.points.push(point);
        if self.points.len() <= most {
            return;
        }
        let recent = self.points.split_off(self.points.len() * 3 / 4);
        let older = std::mem::take(&mut self.points);
        self.points.extend(older.chunks(4).flat_map(extremes));
        self.points.extend(recent);
    }

    pub fn peak(&self) -> Option<Point> {
        self.points.iter().copied().max_by_key(|point| point.bytes)
    }

    pub fn last(&self) -> Option<Point> {
        self.points.last().copied()
    }

    /// The last reading at or before a moment.
    pub fn at(&self, moment: f64) -> Option<Point> {
        let after = self.points.partition_point(|point| point.at <= moment);
        after.checked_sub(1).and_then(|at| self.points.get(at)).copied()
    }

    /// What it did until its peak, as far as its readings tell.
    pub fn course(&self) -> Option<Course> {
        let (first, peak) = (self.points.first()?, self.peak()?);
        if let Some(from) = self.late_climb(*first, peak) {
            return Some(Course::Climbed { from, to: peak });
        }
        let from = self.points.get(self.points.len() / 4)?;
        match self.growth(peak.at) {
            Some((confidence, slope))
                if confidence >= SURE && peak.bytes.saturating_sub(from.bytes) >= WORTH_A_RISE =>
            {
                Some(Course::Rose { bytes_per_second: slope, from: *from, to: peak })
            }
            // Too few readings after the start, or a rise too short to be called one: nothing is told.
            _ => {
                let level = self.points.get(self.points.len() / 4..)?;
                let low = level.iter().map(|point| point.bytes).min()?;
                (level.len() >= LEVEL && peak.bytes - low < (peak.bytes / 10).max(WORTH_A_RISE))
                    .then_some(Course::Steady)
            }
        }
    }

    /// Where it left the level of its first half, if it did so late.
    fn late_climb(&self, first: Point, peak: Point) -> Option<Point> {
        let lasted = peak.at - first.at;
        let within = |from: f64, to: f64| {
            let between = move |point: &&Point| (from..=to).contains(&((point.at - first.at) / lasted.max(1e-3)));
            self.points.iter().filter(between)
        };
        // Without the start: a level is what comes after imports and the first load.
        let mut level: Vec<u64> = within(0.1, 0.5).map(|point| point.bytes).collect();
        level.sort_unstable();
        let low = *level.get(level.len() / 2).filter(|_| level.len() >= LEVEL)?;
        let climb = peak.bytes.checked_sub(low)?;
        if climb < (peak.bytes / 10 * 3).max(WORTH_A_RISE) {
            return None;
        }
        let from = within(0.0, 1.0).rfind(|point| point.bytes <= low + climb / 10)?;
        ((from.at - first.at) >= LATE * lasted).then_some(*from)
    }

    /// Confidence and bytes per second of its growth until a moment.
    fn growth(&self, until: f64) -> Option<(f64, f64)> {
        let readings = self.points.iter().take_while(|point| point.at <= until).enumerate();
        let series = Series {
            measure: Measure::HostProcess,
            rank: None,
            per: StepUnit::Step,
            running_maximum: false,
            readings: readings
                .map(|(i, point)| Reading { line: i as u64 + 1, step: Some(point.at), bytes: point.bytes })
                .collect(),
        };
        series.growth().map(|growth| (growth.confidence, growth.bytes_per_step))
    }
}

/// The lowest and the highest of a stretch of readings, in the order of time; one where they are the same.
pub fn extremes(stretch: &[Point]) -> impl Iterator<Item = Point> + use<> {
    let low = stretch.iter().min_by_key(|point| point.bytes).copied();
    let high = stretch.iter().max_by_key(|point| point.bytes).copied().filter(|high| Some(*high) != low);
    let early = high.filter(|high| low.is_some_and(|low| high.at < low.at));
    early.into_iter().chain(low).chain(high.filter(|_| early.is_none()))
}

/// One process of the job.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Process {
    pub pid: u32,
    pub parent: u32,
    pub name: String,
    pub worker: bool,
    pub rank: Option<u32>,
    /// The most threads it had.
    pub threads: u64,
    /// The most addresses it used, and the limit on them, where there was one.
    pub addresses: Option<(u64, u64)>,
    /// The same of page-locked memory.
    pub locked: Option<(u64, u64)>,
    pub curve: Curve,
}

/// A process of somebody else on a GPU.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Neighbour {
    pub device: u32,
    pub pid: u32,
    pub came: f64,
    pub seen: f64,
    pub bytes: u64,
}

/// Adds a value; of too many every second one goes.
fn push_thinned(values: &mut Vec<(f64, f64)>, value: (f64, f64)) {
    values.push(value);
    if values.len() > STEPS {
        thin::halve(values);
    }
}

/// Everything seen of one job.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Timeline {
    pub header: Header,
    pub curves: BTreeMap<Quantity, Curve>,
    pub processes: BTreeMap<u32, Process>,
    pub neighbours: Vec<Neighbour>,
    /// Moments and counters of the steps that the output told.
    pub steps: Vec<(f64, f64)>,
    /// The last count of something that the output calls no step: how far, and of how many.
    pub count: Option<(f64, f64)>,
    /// Moments and shares of the time before them in which everything waited for memory.
    pub stalls: Vec<(f64, f64)>,
    /// Processes that the kernel shot for want of memory, and when that was seen.
    pub victims: Vec<(f64, Victim)>,
    /// What PyTorch told from inside, where it was asked.
    pub inside: Vec<InsideProcess>,
    /// Seconds until the last sample.
    pub lasted: f64,
    /// `None` where the record breaks off: oomdoc itself was killed, or the machine died, or the job still runs.
    pub end: Option<End>,
    /// The job runs on this machine at this moment.
    pub running: bool,
}

impl Timeline {
    pub fn new(header: Header) -> Timeline {
        Timeline { header, ..Timeline::default() }
    }

    /// Seconds since 1970 of its end, or of what was seen last.
    pub fn ended_at(&self) -> f64 {
        self.header.began + self.lasted
    }

    /// True where the job did not end well, or nobody saw how it ended.
    pub fn failed(&self) -> bool {
        !self.running && self.end.is_none_or(|end| end.failed())
    }

    pub fn add(&mut self, sample: &Sample) {
        let at = sample.at;
        self.lasted = self.lasted.max(at);
        let mut note = |quantity, bytes: Option<u64>| {
            if let Some(bytes) = bytes {
                self.curves.entry(quantity).or_default().push(Point { at, bytes }, POINTS);
            }
        };
        note(Quantity::Job, sample.job);
        note(Quantity::Cgroup, sample.cgroup);
        note(Quantity::Host, sample.host);
        note(Quantity::Shm, sample.shm);
        note(Quantity::Resident, sample.resident);
        note(Quantity::Locked, sample.locked);
        note(Quantity::Swapped, sample.swapped);
        note(Quantity::Shared, sample.shared);
        note(Quantity::Swap, sample.swap);
        for device in &sample.devices {
            note(Quantity::Device(device.index), Some(device.used));
            note(Quantity::Own(device.index), device.own);
        }
        for device in &sample.devices {
            for (pid, bytes) in &device.others {
                self.neighbour(device.index, *pid, *bytes, at);
            }
        }
        for process in &sample.processes {
            if self.processes.len() >= PROCESSES && !self.processes.contains_key(&process.pid) {
                self.forget_the_smallest();
            }
            let known = self.processes.entry(process.pid).or_insert_with(|| Process {
                pid: process.pid,
                parent: process.parent,
                name: process.name.clone(),
                ..Process::default()
            });
            known.worker = process.worker;
            known.rank = process.rank.or(known.rank);
            known.threads = known.threads.max(process.threads);
            known.addresses = known.addresses.max(process.addresses);
            known.locked = known.locked.max(process.locked);
            if known.name != process.name {
                known.name.clone_from(&process.name);
            }
            known.curve.push(Point { at, bytes: process.own }, POINTS_OF_PROCESS);
        }
        if let Some(step) = sample.step {
            push_thinned(&mut self.steps, (at, step));
        }
        self.count = sample.count.or(self.count);
        if let Some(stalled) = sample.stalled {
            push_thinned(&mut self.stalls, (at, stalled));
        }
        let room = VICTIMS.saturating_sub(self.victims.len());
        self.victims.extend(sample.victims.iter().take(room).map(|victim| (at, victim.clone())));
        if !sample.inside.is_empty() {
            self.inside.clone_from(&sample.inside);
        }
        self.end = sample.end.or(self.end);
    }

    fn neighbour(&mut self, device: u32, pid: u32, bytes: u64, at: f64) {
        let known = self.neighbours.iter().position(|known| (known.device, known.pid) == (device, pid));
        if let Some(known) = known.and_then(|position| self.neighbours.get_mut(position)) {
            (known.seen, known.bytes) = (at, bytes);
        } else if self.neighbours.len() < PROCESSES {
            self.neighbours.push(Neighbour { device, pid, came: at, seen: at, bytes });
        }
    }

    fn forget_the_smallest(&mut self) {
        let peak = |process: &Process| process.curve.peak().map_or(0, |peak| peak.bytes);
        let smallest = self.processes.values().min_by_key(|process| peak(process)).map(|process| process.pid);
        smallest.map(|pid| self.processes.remove(&pid));
    }

    pub fn curve(&self, quantity: Quantity) -> Option<&Curve> {
        self.curves.get(&quantity)
    }

    /// The files of the memory snapshots that were written, the newest of each process.
    pub fn snapshots(&self) -> impl Iterator<Item = &str> {
        self.inside
            .iter()
            .filter_map(|process| process.failures.iter().rev().find_map(|failure| failure.snapshot.as_deref()))
    }

    /// What bounds a quantity.
    pub fn limit(&self, quantity: Quantity) -> Option<u64> {
        match quantity {
            Quantity::Cgroup => self.header.cgroup_limit,
            Quantity::Host => self.header.ram,
            Quantity::Job => self.header.cgroup_limit.or(self.header.ram),
            Quantity::Shm => self.header.shm_size,
            Quantity::Resident | Quantity::Locked | Quantity::Shared => None,
            Quantity::Swap | Quantity::Swapped => self.header.swap_size.filter(|size| *size > 0),
            Quantity::Device(index) | Quantity::Own(index) => {
                self.header.devices.iter().find(|(other, _)| *other == index).map(|(_, bytes)| *bytes)
            }
        }
    }

    /// The largest share of its limit that a quantity reached.
    pub fn fullest(&self, quantity: Quantity) -> Option<f64> {
        let limit = self.limit(quantity).filter(|limit| *limit > 0)?;
        Some(self.curve(quantity)?.peak()?.bytes as f64 / limit as f64)
    }

    /// The GPU that was nearest to its end.
    pub fn fullest_device(&self) -> Option<u32> {
        let devices = self.header.devices.iter().map(|(index, _)| *index);
        devices.max_by(|a, b| {
            let of = |index: &u32| self.fullest(Quantity::Device(*index)).unwrap_or(0.0);
            of(a).total_cmp(&of(b))
        })
    }

    /// Kills for want of memory that the kernel counted while the job ran: those of the job's group where they can be
    /// read, since the machine's are other jobs' too. `None` where neither can.
    pub fn kills_counted(&self) -> Option<u64> {
        let end = self.end?;
        end.group_kills.or(end.machine_kills)
    }

    /// The share of the last seconds in which everything waited for memory.
    pub fn stalled_of_last(&self, seconds: f64) -> f64 {
        let mut waited = 0.0;
        let mut before: Option<f64> = None;
        for (at, share) in &self.stalls {
            if *at > self.lasted - seconds {
                waited += share * (at - before.unwrap_or(*at));
            }
            before = Some(*at);
        }
        waited / seconds.min(self.lasted).max(1.0)
    }

    /// Steps told between two moments.
    pub fn steps_between(&self, from: f64, to: f64) -> f64 {
        let within: Vec<f64> =
            self.steps.iter().filter(|(at, _)| (from..=to).contains(at)).map(|(_, step)| *step).collect();
        // Counters start again with each epoch.
        within.windows(2).map(|pair| if pair[1] > pair[0] { pair[1] - pair[0] } else { 1.0 }).sum()
    }

    /// The workers that ran when the job held most, what they held together then, and their rise until then.
    pub fn workers(&self) -> Option<Workers> {
        let moment = self.curve(Quantity::Job)?.peak()?.at;
        let running: Vec<(u64, u64)> = self
            .processes
            .values()
            .filter(|process| process.worker || self.has_twins(process))
            .filter_map(|process| {
                let (first, now) = (process.curve.points.first()?, process.curve.at(moment)?);
                (moment - now.at <= WRITTEN_EACH).then(|| (now.bytes, now.bytes.saturating_sub(first.bytes)))
            })
            .collect();
        let largest = running.iter().map(|(bytes, _)| *bytes).max()?;
        // Helpers of a shell or launcher are forked as well and hold nothing.
        let workers = running.iter().filter(|(bytes, _)| bytes.saturating_mul(20) >= largest);
        Some(workers.fold(Workers { largest, ..Workers::default() }, |all, (bytes, rise)| Workers {
            count: all.count + 1,
            bytes: all.bytes.saturating_add(*bytes),
            rise: all.rise.saturating_add(*rise),
            largest,
        }))
    }

    /// True for one of several processes that one parent started with the same program: ranks, parallel jobs.
    fn has_twins(&self, process: &Process) -> bool {
        self.processes.contains_key(&process.parent) && self.like(process.pid).next().is_some()
    }

    /// The curves of those that one parent started with the same program as this process.
    pub fn like(&self, pid: u32) -> impl Iterator<Item = &Curve> {
        let process = self.processes.get(&pid);
        let kind = process.map(|process| (process.parent, &process.name));
        self.processes
            .values()
            .filter(move |other| other.pid != pid && Some((other.parent, &other.name)) == kind)
            .map(|other| &other.curve)
    }

    /// The process that came nearest to its limit on addresses (`ulimit -v`), where what it asked for last, or a little
    /// more, could not be had below it.
    pub fn out_of_addresses(&self, requested: Option<u64>) -> Option<&Process> {
        let limited = self.processes.values().filter_map(|process| Some((process, process.addresses?)));
        let (process, (used, limit)) = limited.max_by(|(_, a), (_, b)| {
            let share = |(used, limit): &(u64, u64)| *used as f64 / (*limit).max(1) as f64;
            share(a).total_cmp(&share(b))
        })?;
        let beyond = requested.is_some_and(|requested| {
            // What no machine has is not the limit's doing.
            requested <= self.header.ram.unwrap_or(u64::MAX) && used.saturating_add(requested) > limit
        });
        (beyond || used as f64 >= USED_UP * limit as f64).then_some(process)
    }

    /// A process that came to its limit on page-locked memory (`ulimit -l`).
    pub fn out_of_locked_memory(&self) -> Option<&Process> {
        let at_limit = |(locked, limit): (u64, u64)| locked as f64 >= USED_UP * limit as f64;
        self.processes.values().find(|process| process.locked.is_some_and(at_limit))
    }

    /// The process that held most at any time.
    pub fn largest_process(&self) -> Option<&Process> {
        self.processes.values().max_by_key(|process| process.curve.peak().map_or(0, |peak| peak.bytes))
    }
}

/// What forked processes held together.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Workers {
    pub count: u64,
    pub bytes: u64,
    pub rise: u64,
    pub largest: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curve(points: impl IntoIterator<Item = (f64, u64)>) -> Curve {
        let mut curve = Curve::default();
        points.into_iter().for_each(|(at, mib)| curve.push(Point { at, bytes: mib << 20 }, POINTS));
        curve
    }

    /// The newest step went with every thinning: a job seemed to have stood still before it ended.
    #[test]
    fn the_newest_step_is_kept_when_there_are_too_many() {
        let mut timeline = Timeline::default();
        (0..=STEPS).for_each(|step| {
            timeline.add(&Sample { at: step as f64, step: Some(step as f64), ..Sample::default() });
        });
        assert_eq!(timeline.steps.len(), STEPS / 2 + 1);
        assert_eq!(timeline.steps.last().map(|(_, step)| *step), Some(STEPS as f64));
    }

    #[test]
    fn rises_jumps_and_steady_use_are_told_apart() {
        let rising = curve((0..200u32).map(|i| (f64::from(i) * 0.1, 300 + 10 * u64::from(i))));
        assert!(matches!(rising.course(), Some(Course::Rose { .. })), "{:?}", rising.course());
        let jump = curve((0..200u32).map(|i| (f64::from(i) * 0.1, if i < 195 { 800 } else { 3000 })));
        assert!(matches!(jump.course(), Some(Course::Climbed { .. })), "{:?}", jump.course());
        let steady = curve((0..200u32).map(|i| (f64::from(i) * 0.1, 800 + u64::from(i % 3))));
        assert_eq!(steady.course(), Some(Course::Steady));
    }

    #[test]
    fn steady_is_only_said_of_a_level_of_several_readings() {
        let few = curve([(0.0, 13), (0.1, 90), (0.2, 186)]);
        assert_eq!(few.course(), None, "it grew to the end");
        assert_eq!(curve([(0.0, 186)]).course(), None, "one reading is no level");
        let grew = curve((0..8u32).map(|i| (f64::from(i), if i < 5 { 400 } else { 480 })));
        assert_eq!(grew.course(), None, "a fifth more than before is not steady");
        let started = curve((0..40u32).map(|i| (f64::from(i) * 0.1, if i < 4 { 13 } else { 186 })));
        assert_eq!(started.course(), Some(Course::Steady), "what rises while it starts is no growth");
    }

    #[test]
    fn a_curve_stays_bounded_and_keeps_its_peak() {
        let mut long = Curve::default();
        for i in 0..100_000u32 {
            long.push(Point { at: f64::from(i), bytes: if i == 5000 { 1 << 40 } else { u64::from(i) } }, POINTS);
        }
        assert!(long.points.len() <= POINTS, "{}", long.points.len());
        assert_eq!(long.peak(), Some(Point { at: 5000.0, bytes: 1 << 40 }));
        assert!(long.points.is_sorted_by(|a, b| a.at <= b.at));
        // The last ones are all there.
        assert!(long.points[long.points.len() - 600..].windows(2).all(|pair| pair[1].at - pair[0].at == 1.0));
    }

    #[test]
    fn steps_are_counted_over_epochs() {
        let mut timeline = Timeline::default();
        for (i, step) in [1.0, 5.0, 9.0, 2.0, 4.0].into_iter().enumerate() {
            timeline.add(&Sample { at: i as f64, step: Some(step), ..Sample::default() });
        }
        assert_eq!(timeline.steps_between(0.0, 10.0), 4.0 + 4.0 + 1.0 + 2.0);
    }
}
