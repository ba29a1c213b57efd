//! Looks at the job ten times a second, or less often where that would cost more than a hundredth of a core.

use super::inside::Inside;
use super::processes::Tree;
use super::record::Writer;
use super::tape::{Tape, collapsed};
use crate::gpu::nvml::Library;
use crate::host::cgroup::{Group, Groups};
use crate::host::processes::numbers_are_the_hosts;
use crate::host::{Root, meminfo, shm};
use crate::incident::context::progress_of_line;
use crate::incident::timeline::{DeviceSample, End, Header, Quantity, SCHEMA, Sample, Timeline, Victim};
use crate::text;
use crate::text::{Lang, Text};
use crate::units::{Bytes, percent};
use rustix::process::{Pid, Signal, kill_process};
use rustix::time::{ClockId, clock_gettime};
use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

const FASTEST: Duration = Duration::from_millis(100);
const SLOWEST: Duration = Duration::from_secs(2);

/// The share of a core that looking may cost.
const COST: f64 = 0.008;

/// Processes are written down this often, and the record is.
const SECOND: Duration = Duration::from_secs(1);

/// What PyTorch tells from inside is read this often.
const INSIDE: Duration = Duration::from_secs(30);

/// A warning is given again after the share has fallen by so much.
const FALLEN: f64 = 0.05;

/// A kill is counted when it is sent; until its victim is gone, with all its memory, that may take so long.
const DYING: Duration = Duration::from_secs(2);

/// Lines of the output looked at for their steps, at each look.
const LINES: usize = 64;

/// What to do besides looking.
#[derive(Clone, Default)]
pub struct Orders {
    /// Share of a limit at which a line is printed.
    pub warn: Option<f64>,
    /// Share of a limit at which the job is asked to end.
    pub stop_at: Option<f64>,
    pub lang: Lang,
    /// Where PyTorch tells what it knows.
    pub inside: Option<Arc<Inside>>,
}

/// The thread that looks.
pub struct Sampler {
    ended: Sender<End>,
    thread: std::thread::JoinHandle<Seen>,
}

/// Looks when it is asked to, and writes nothing down.
pub struct Watch(Looking);

impl Watch {
    pub fn new(pid: Pid, header: Header) -> Watch {
        Watch(Looking::new(pid, header, Arc::default(), None, Orders::default()))
    }

    /// All that was seen until now, this moment included.
    pub fn look(&mut self) -> &Timeline {
        self.0.look(true);
        &self.0.timeline
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.0.watching.store(false, Ordering::Relaxed);
    }
}

/// What came of it.
#[derive(Default)]
pub struct Seen {
    pub timeline: Timeline,
    /// Why the record ends early.
    pub record_failed: Option<std::io::Error>,
}

impl Sampler {
    pub fn start(pid: Pid, header: Header, tape: Arc<Mutex<Tape>>, record: Option<Writer>, orders: Orders) -> Sampler {
        let (ended, end) = channel();
        let thread = std::thread::spawn(move || Looking::new(pid, header, tape, record, orders).until(&end));
        Sampler { ended, thread }
    }

    /// Ends it with how the job ended.
    pub fn finish(self, end: End) -> Seen {
        let _ = self.ended.send(end);
        self.thread.join().unwrap_or_default()
    }
}

/// What is known when it begins.
pub fn header(pid: Pid, command: &[std::ffi::OsString]) -> Header {
    let root = Root::default();
    let number = |name: &str| std::env::var(name).ok()?.trim().parse::<u32>().ok();
    let groups = Groups::read(&root).ok();
    let memory = meminfo::Memory::read(&root).ok();
    let host = root.text("proc/sys/kernel/hostname").ok().map(|name| name.trim().to_string());
    Header {
        schema: SCHEMA.to_string(),
        version: env!("CARGO_PKG_VERSION").to_string(),
        began: std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0.0, |at| at.as_secs_f64()),
        pid: pid.as_raw_pid().unsigned_abs(),
        command: command.iter().map(|word| word.to_string_lossy().into_owned()).collect(),
        rank: ["RANK", "SLURM_PROCID", "OMPI_COMM_WORLD_RANK", "PMI_RANK"].into_iter().find_map(number),
        host,
        ram: memory.as_ref().map(|memory| memory.total),
        swap_size: memory.and_then(|memory| memory.swap_total.ok()),
        cgroup_limit: groups.as_ref().and_then(Groups::tightest).map(|(_, limit, _)| limit),
        shm_size: shm::Shm::read(&root).ok().map(|shm| shm.size),
        devices: Vec::new(),
    }
}

/// GPUs, read by a thread of their own: a driver can hang.
#[derive(Default)]
struct Devices {
    sizes: Vec<(u32, u64)>,
    now: Vec<Device>,
}

/// One of them: its index, what is in use, and who holds how much.
struct Device {
    index: u32,
    used: u64,
    processes: Vec<(u32, u64)>,
}

struct Looking {
    root: Root,
    job: Pid,
    tree: Tree,
    began: Instant,
    timeline: Timeline,
    tape: Arc<Mutex<Tape>>,
    record: Option<Writer>,
    orders: Orders,
    group: Option<(Group, u8)>,
    /// Groups with their kills at the start, and those of the machine.
    kills: (Vec<(Group, u8, u64)>, Option<u64>),
    /// Those of the innermost group.
    accounts: Accounts,
    devices: Arc<Mutex<Devices>>,
    /// True where the driver's process numbers are those of `/proc`.
    numbered_alike: bool,
    watching: Arc<AtomicBool>,
    warned: Vec<Quantity>,
    stopped: bool,
    /// The last look at the processes that is not in the record yet.
    unwritten: Option<Sample>,
    last_second: Instant,
    last_inside: Instant,
    /// Microseconds that everything had waited for memory, and when that was read.
    stalled_before: Option<(u64, Instant)>,
    /// What was printed last and has no end yet.
    line: Vec<u8>,
}

impl Looking {
    fn new(job: Pid, header: Header, tape: Arc<Mutex<Tape>>, record: Option<Writer>, orders: Orders) -> Looking {
        let root = Root::default();
        let groups = Groups::read(&root).ok();
        let group = groups.as_ref().and_then(|all| Some((all.tightest()?.0.clone(), all.version)));
        let counted = groups.iter().flat_map(|all| all.groups.iter().map(|group| (group, all.version)));
        let counted =
            counted.filter_map(|(group, version)| Some((group.clone(), version, group.kills_again(&root, version)?)));
        let kills = (counted.collect(), machine_kills(&root));
        let looking = Looking {
            job,
            tree: Tree::of(job.as_raw_pid().unsigned_abs()),
            began: Instant::now(),
            timeline: Timeline::new(header),
            tape,
            record,
            orders,
            group,
            kills,
            accounts: Accounts::default(),
            devices: Arc::default(),
            numbered_alike: numbers_are_the_hosts(&root),
            watching: Arc::new(AtomicBool::new(true)),
            warned: Vec::new(),
            stopped: false,
            unwritten: None,
            last_second: Instant::now(),
            last_inside: Instant::now(),
            stalled_before: None,
            line: Vec::new(),
            root,
        };
        let (devices, watching) = (Arc::clone(&looking.devices), Arc::clone(&looking.watching));
        std::thread::spawn(move || watch_devices(&devices, &watching));
        looking
    }

    fn until(mut self, end: &Receiver<End>) -> Seen {
        let mut period = FASTEST;
        let mut cost = 0.0;
        self.look(true);
        loop {
            match end.recv_timeout(period) {
                Ok(end) => return self.finish(end),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return self.finish(End::default()),
            }
            let before = processor_time();
            let whole = self.last_second.elapsed() >= SECOND;
            self.look(whole);
            let took = processor_time().saturating_sub(before).as_secs_f64();
            // Averaged over some ten looks.
            cost = 0.9 * cost + 0.1 * took;
            if cost > COST * period.as_secs_f64() {
                period = (period * 2).min(SLOWEST);
            } else if cost < 0.3 * COST * period.as_secs_f64() {
                period = (period / 2).max(FASTEST);
            }
        }
    }

    /// One look; a whole one writes down the processes and the output as well.
    fn look(&mut self, whole: bool) {
        let at = (self.began.elapsed().as_secs_f64() * 1000.0).round() / 1000.0;
        let mut sample = Sample { at, ..Sample::default() };
        let look = self.tree.look(whole);
        if !look.processes.is_empty() {
            sample.job = Some(look.job);
            sample.resident = Some(look.resident);
            // Most jobs have none of either; once there was some, that it is gone again is worth a line.
            let told = |quantity| whole && self.timeline.curve(quantity).is_some();
            sample.locked = Some(look.locked).filter(|locked| whole && *locked > 0 || told(Quantity::Locked));
            sample.swapped = Some(look.swapped).filter(|swapped| whole && *swapped > 0 || told(Quantity::Swapped));
        }
        sample.victims = self.victims(whole);
        let held = self.group.as_ref().and_then(|(group, version)| group.held_again(&self.root, *version));
        sample.cgroup = held.map(|held| held.bytes);
        sample.shared = held.map(|held| held.shared);
        if let Ok(memory) = meminfo::Memory::read(&self.root) {
            sample.host = memory.used().ok();
            sample.shared = sample.shared.or(memory.shared.ok());
            sample.swap = memory.swap_total.ok().zip(memory.swap_free.ok()).map(|(all, free)| all.saturating_sub(free));
            sample.swap = sample.swap.filter(|_| self.timeline.header.swap_size.is_some_and(|size| size > 0));
        }
        sample.shm = shm::Shm::read(&self.root).ok().and_then(|shm| shm.used.ok());
        sample.stalled = self.stalled();
        self.look_at_devices(&mut sample);
        let fresh = self.tape.lock().unwrap_or_else(PoisonError::into_inner).take_fresh();
        (sample.step, sample.count) = self.progress(&fresh);
        if !fresh.is_empty() && self.record.is_some() {
            sample.output = Some(collapsed(&fresh));
        }
        if whole {
            self.last_second = Instant::now();
        }
        if let Some(inside) = self.orders.inside.as_ref().filter(|_| self.last_inside.elapsed() >= INSIDE) {
            self.last_inside = Instant::now();
            sample.inside = inside.processes();
        }
        // Workers come and go in less than a second, but a record of each look would be all about them.
        let mut written = Sample { processes: Vec::new(), ..sample.clone() };
        sample.processes = look.processes;
        self.timeline.add(&sample);
        if let Some(record) = &mut self.record {
            let processes = std::mem::take(&mut sample.processes);
            if whole {
                written.processes = processes;
                self.unwritten = None;
            } else if !processes.is_empty() {
                self.unwritten = Some(Sample { at, processes, ..Sample::default() });
            }
            record.write(&written, &self.timeline);
            if whole {
                record.flush();
            }
        }
        self.watch_limits();
    }

    /// Kills in the innermost group that tells, since the start. A kill counts in the victim's own group and in all
    /// around it, which hold other jobs too.
    fn group_kills(&self) -> Option<u64> {
        self.kills
            .0
            .iter()
            .find_map(|(group, version, before)| Some(group.kills_again(&self.root, *version)?.saturating_sub(*before)))
    }

    /// Processes that ended while their group's kills rose.
    fn victims(&mut self, whole: bool) -> Vec<Victim> {
        let lost = self.tree.has_lost();
        let Some(kills) = (lost || whole).then(|| self.group_kills()).flatten() else { return Vec::new() };
        let open = self.accounts.open(kills, lost, Instant::now());
        let victims = if open > 0 { self.tree.victims(open) } else { Vec::new() };
        self.accounts.settled = self.accounts.settled.saturating_add(victims.len() as u64);
        victims
    }

    /// The share of the time since the last look in which everything waited for memory: in the job's group where that
    /// is told, else on the machine. A tenth of a second is what looks are apart at least.
    fn stalled(&mut self) -> Option<f64> {
        let of_group = self.group.as_ref().and_then(|(group, _)| group.stalled_again(&self.root));
        let total = of_group.or_else(|| meminfo::stalled(&self.root, "proc/pressure/memory"))?;
        let (before, at) = self.stalled_before.replace((total, Instant::now()))?;
        let share = total.saturating_sub(before) as f64 / 1e6 / at.elapsed().as_secs_f64().max(1e-3);
        Some((share * 1000.0).round().min(1000.0) / 1000.0)
    }

    fn look_at_devices(&mut self, sample: &mut Sample) {
        let Ok(devices) = self.devices.lock() else { return };
        if self.timeline.header.devices != devices.sizes {
            self.timeline.header.devices.clone_from(&devices.sizes);
            if let Some(record) = &mut self.record {
                record.header(&self.timeline.header);
            }
        }
        for Device { index, used, processes } in &devices.now {
            let mut device = DeviceSample { index: *index, used: *used, ..DeviceSample::default() };
            if self.numbered_alike {
                let (own, others): (Vec<_>, Vec<_>) =
                    processes.iter().copied().partition(|(pid, _)| self.tree.holds(*pid));
                device.own = Some(own.iter().map(|(_, bytes)| *bytes).sum());
                device.others = others;
            }
            sample.devices.push(device);
        }
    }

    /// The last step that the output tells, and, where it tells none, the last count of anything else.
    fn progress(&mut self, fresh: &[u8]) -> (Option<f64>, Option<(f64, f64)>) {
        self.line.extend_from_slice(fresh);
        let Some(ended) = self.line.iter().rposition(|byte| matches!(byte, b'\n' | b'\r')) else {
            return (None, None);
        };
        let lines: Vec<u8> = self.line.drain(..=ended).collect();
        // What never ends is no line.
        if self.line.len() > 64 << 10 {
            self.line.clear();
        }
        let lines = lines.rsplit(|byte| matches!(byte, b'\n' | b'\r')).filter(|line| line.len() > 3);
        let lines = lines.take(LINES).map(|line| line.get(..line.len().min(1000)).unwrap_or_default());
        let lines: Vec<_> = lines.map(String::from_utf8_lossy).collect();
        let step = lines.iter().find_map(|line| progress_of_line(line));
        (step, if step.is_none() { lines.iter().find_map(|line| counter(line)) } else { None })
    }

    fn watch_limits(&mut self) {
        let bounded = [Quantity::Cgroup, Quantity::Host, Quantity::Shm].into_iter();
        let devices = self.timeline.header.devices.iter().map(|(index, _)| Quantity::Device(*index));
        for quantity in bounded.chain(devices).collect::<Vec<_>>() {
            let (Some(limit), Some(last)) =
                (self.timeline.limit(quantity), self.timeline.curve(quantity).and_then(|curve| curve.last()))
            else {
                continue;
            };
            let share = last.bytes as f64 / limit.max(1) as f64;
            if let Some(warn) = self.orders.warn {
                let known = self.warned.iter().position(|known| *known == quantity);
                match known {
                    None if share >= warn => {
                        self.warned.push(quantity);
                        self.say(&filling(quantity, last.bytes, limit));
                    }
                    Some(position) if share < warn - FALLEN => {
                        self.warned.remove(position);
                    }
                    _ => {}
                }
            }
            if self.orders.stop_at.is_some_and(|stop_at| share >= stop_at) && !self.stopped {
                self.stopped = true;
                let _ = kill_process(self.job, Signal::TERM);
                let full = filling(quantity, last.bytes, limit);
                self.say(&Text::new(
                    format!("{}: the job gets SIGTERM, so that it can save", full.en),
                    format!("{}：向作业发送 SIGTERM，让它保存", full.zh),
                ));
            }
        }
    }

    fn say(&self, text: &Text) {
        let _ = writeln!(std::io::stderr(), "oomdoc: {}", crate::text::inert(text.in_lang(self.orders.lang)));
    }

    fn finish(mut self, mut end: End) -> Seen {
        self.watching.store(false, Ordering::Relaxed);
        end.group_kills = self.group_kills();
        end.machine_kills = machine_kills(&self.root).zip(self.kills.1).map(|(now, before)| now.saturating_sub(before));
        end.stopped_by_us = self.stopped;
        let at = self.began.elapsed().as_secs_f64();
        let rest = self.tape.lock().unwrap_or_else(PoisonError::into_inner).take_fresh();
        let (step, count) = self.progress(&rest);
        self.tree.look(false);
        let victims = self.victims(true);
        let output = (!rest.is_empty()).then(|| collapsed(&rest));
        let inside = self.orders.inside.as_ref().map(|inside| inside.processes()).unwrap_or_default();
        let last = Sample { at, victims, step, count, output, inside, end: Some(end), ..Sample::default() };
        self.timeline.add(&last);
        let record_failed = self.record.take().and_then(|mut record| {
            // Who held what at the end decides.
            if let Some(unwritten) = self.unwritten.take() {
                record.write(&unwritten, &self.timeline);
            }
            record.write(&last, &self.timeline);
            record.finish()
        });
        Seen { timeline: self.timeline, record_failed }
    }
}

/// Which kills for want of memory have a victim of the job, or are known to have none.
#[derive(Default)]
struct Accounts {
    settled: u64,
    /// Since when one is counted by which the job has lost nothing yet.
    open_since: Option<Instant>,
}

impl Accounts {
    /// Kills whose victims are among what the job has lost, if anything.
    fn open(&mut self, kills: u64, lost: bool, now: Instant) -> u64 {
        let open = kills.saturating_sub(self.settled);
        self.open_since = if open > 0 && !lost { self.open_since.or(Some(now)) } else { None };
        if self.open_since.is_some_and(|since| now.duration_since(since) >= DYING) {
            // The victim was another's.
            (self.settled, self.open_since) = (kills, None);
        }
        if lost { open } else { 0 }
    }
}

/// `shard 44/200`: what a program counts that names no step. A count to less than ten may be a part of anything.
fn counter(line: &str) -> Option<(f64, f64)> {
    line.split([' ', '\t', '(', '[', ')', ']', ',', ';', ':', '|', '=']).find_map(|word| {
        let (done, all) = word.split_once('/')?;
        let (done, all) = (done.parse::<u32>().ok()?, all.parse::<u32>().ok()?);
        (done <= all && all >= 10).then_some((f64::from(done), f64::from(all)))
    })
}

/// `GPU 0: 22.1 GiB of 23.6 GiB in use (94 %)`.
fn filling(quantity: Quantity, bytes: u64, limit: u64) -> Text {
    let share = percent(bytes as f64 / limit.max(1) as f64);
    let (used, all) = (Bytes(bytes), Bytes(limit));
    match quantity {
        Quantity::Device(index) | Quantity::Own(index) => {
            text!(
                en: "GPU {index}: {used} of {all} in use ({share})",
                zh: "GPU {index}：{all} 中已用 {used}（{share}）"
            )
        }
        Quantity::Shm => {
            text!(en: "/dev/shm: {used} of {all} in use ({share})", zh: "/dev/shm：{all} 中已用 {used}（{share}）")
        }
        Quantity::Cgroup => text!(
            en: "control group: {used} of its limit of {all} held ({share})",
            zh: "控制组：上限 {all}，已占用 {used}（{share}）"
        ),
        _ => text!(en: "RAM: {used} of {all} in use ({share})", zh: "内存：{all} 中已用 {used}（{share}）"),
    }
}

fn watch_devices(devices: &Mutex<Devices>, watching: &AtomicBool) {
    let Ok(library) = Library::open(&Root::default()) else { return };
    let Ok(gpus) = library.gpus() else { return };
    let sizes: Vec<(u32, u64)> =
        gpus.iter().filter_map(|gpu| Some((gpu.index, gpu.memory.as_ref().ok()?.total))).collect();
    let mut period = FASTEST;
    while watching.load(Ordering::Relaxed) {
        let began = Instant::now();
        let now = sizes.iter().filter_map(|(index, _)| {
            let (memory, processes) = library.again(*index)?;
            let processes = processes.iter().filter_map(|process| Some((process.pid, *process.bytes.as_ref().ok()?)));
            Some(Device { index: *index, used: memory.allocated(), processes: processes.collect() })
        });
        let now = now.collect();
        if let Ok(mut devices) = devices.lock() {
            devices.now = now;
            devices.sizes.clone_from(&sizes);
        }
        // The driver works in the caller's time; a call that takes long is not made often.
        period = began.elapsed().mul_f64(1.0 / COST).clamp(FASTEST, SLOWEST).max(period / 2);
        std::thread::sleep(period);
    }
}

/// Kills for want of memory on the whole machine since it was started (kernel 4.13).
fn machine_kills(root: &Root) -> Option<u64> {
    let text = root.text("proc/vmstat").ok()?;
    text.lines().find_map(|line| line.strip_prefix("oom_kill ")?.trim().parse().ok())
}

/// Of this thread.
fn processor_time() -> Duration {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(now.tv_sec.unsigned_abs(), u32::try_from(now.tv_nsec).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::{Accounts, counter};
    use std::time::{Duration, Instant};

    /// A large victim takes its time to end: the kill that was counted before was taken for another's.
    #[test]
    fn a_kill_waits_for_its_victim_and_not_for_ever() {
        let now = Instant::now();
        let after = |seconds: f64| now + Duration::from_secs_f64(seconds);
        let mut accounts = Accounts::default();
        assert_eq!(accounts.open(0, false, now), 0);
        assert_eq!(accounts.open(1, false, after(1.0)), 0);
        assert_eq!(accounts.open(1, true, after(1.2)), 1, "gone at last");
        accounts.settled = 1;
        assert_eq!(accounts.open(2, false, after(2.0)), 0);
        assert_eq!(accounts.open(2, false, after(5.0)), 0);
        assert_eq!(accounts.open(2, true, after(6.0)), 0, "what ends much later was not shot then");
        assert_eq!(accounts.open(3, true, after(7.0)), 1);
    }

    #[test]
    fn a_count_is_told_from_paths_and_dates() {
        assert_eq!(counter("reading shard 44/200, 352000 records"), Some((44.0, 200.0)));
        assert_eq!(counter("[12/5000] done"), Some((12.0, 5000.0)));
        for line in ["/data/44/200", "11/22/2026 10:00", "2/3", "200/44 a", "and/or", "44/200/3"] {
            assert_eq!(counter(line), None, "{line}");
        }
    }
}
