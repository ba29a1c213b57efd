//! What somebody saw who was there: who grew, who came, and how fast it went.

use super::{Mechanism, Reading};
use crate::cause::nature::{Asker, asker, on_gpu};
use crate::dialect::Fact;
use crate::domain::Sign;
use crate::incident::Incident;
use crate::incident::context::Phase;
use crate::incident::timeline::{Course, Curve, Point, Process, Quantity, Timeline};
use crate::text;
use crate::text::{Text, counted};
use crate::units::{Bytes, percent};

/// Below this share of what the job held, workers are not what filled the memory.
const WORKERS_SHARE: f64 = 0.5;

/// The largest worker's share of what all hold, from which on it is that one.
const ONE_OF_THEM: f64 = 0.6;

/// Reading data fills memory within seconds or minutes; what rises longer and more slowly is kept from step to step.
const SLOWLY: f64 = 120.0;
const SLOW: f64 = (50 << 20) as f64;

/// A climb within this time is one request, as far as looking tells.
const AT_ONCE: f64 = 1.0;

/// A rise that makes up this share of a peak is what filled it.
const OF_PEAK: f64 = 0.3;

/// Steps of which the allocator told what it held, from which on its figures say whether anything rises.
const TOLD: usize = 4;

/// What a fork's copies add is this share of what was there before at least, and of it no more than that share may
/// be pages that the processes did not have before.
const ADDED_BY_COPIES: f64 = 0.25;
const OWN_PAGES: f64 = 0.4;

/// One that holds this many times what its like hold has outgrown them.
const OUTGREW: f64 = 2.0;

/// A bound that so many steps more would have passed has stopped what grew with the steps.
const NEXT: f64 = 3.0;

/// Those that have done are still for at least this share of the time that one goes on alone.
const DONE_BEFORE: f64 = 0.4;

/// Threads whose stacks are worth telling.
const MANY_THREADS: u64 = 16;

/// Readings of a process before its end of which the highest is what it held.
const LAST_READINGS: usize = 5;

/// Page-locked memory is worth naming from this share of what was held on; and addresses of which so many are for
/// memory that is held are no matter of their own.
const OF_BOUND: f64 = 0.5;

/// A level moves by this share at most while it stands still.
const STILL: f64 = 0.08;

/// A level below this share of what came after it is that of a program which has not begun.
const STARTED: f64 = 0.15;

/// A stranger's memory from here on, as a share of the GPU, is more than a desktop or a monitor.
const STRANGER: f64 = 0.05;

/// Full enough that the next request fails.
const FULL: f64 = 0.85;

/// A reading may be this share of the time looked at older than the step it is taken for.
const STALE: f64 = 0.1;

/// A rise is one over the steps where so much of it fell between the first and the last of them.
const OF_THE_STEPS: f64 = 0.5;

/// Steps that a rise must last to be growth from step to step.
const STEPS: f64 = 4.0;

/// A share that makes something the greater part.
const MOSTLY: f64 = 0.6;

/// Locked or swapped bytes below this are anybody's.
const WORTH_TELLING: u64 = 64 << 20;

/// Seconds before the end in which waiting for memory counts, and the share of them from which on it does.
const LATELY: f64 = 10.0;
const STALLED: f64 = 0.2;

fn seconds(value: f64) -> String {
    if value < 10.0 { format!("{value:.1} s") } else { format!("{value:.0} s") }
}

/// What each step added to a rise, and over how many steps, where the output told them.
///
/// Steps are often told only now and then, so that a rise is held against the steps from one telling to another.
fn per_step(timeline: &Timeline, curve: &Curve, from: Point, to: Point) -> Option<(u64, f64)> {
    let mut told = timeline.steps.iter().map(|(at, _)| *at).filter(|at| (from.at..=to.at).contains(at));
    let (first, last) = (told.next()?, told.next_back()?);
    let steps = timeline.steps_between(first, last);
    let (before, after) = (curve.at(first)?, curve.at(last)?);
    let risen = after.bytes.saturating_sub(before.bytes);
    // Readings that are older than that belong to other steps.
    let stale = (first - before.at).max(last - after.at) > STALE * (last - first);
    // What came before the steps or after them, as in a load or a save, is none of theirs.
    let theirs = risen as f64 >= OF_THE_STEPS * to.bytes.saturating_sub(from.bytes) as f64;
    let told = steps >= STEPS && risen > 0 && !stale && theirs;
    told.then_some(((risen as f64 / steps) as u64, steps))
}

/// Who held the memory of the machine or of the job.
pub const HOST: Mechanism = Mechanism {
    id: "watched-host",
    levels: &[
        "workers-rise",
        "workers-hold",
        "rose",
        "rose-over-steps",
        "rose-over-count",
        "worker-rose-over-count",
        "rose-in-load",
        "rose-in-phase",
        "rose-slowly",
        "jumped",
        "climbed-late",
        "others-came",
        "others",
        "shm-full",
        "files-in-memory",
        "forked-copy",
        "steady",
        "refused-at-once",
    ],
    read: |incident| {
        let timeline = incident.observed.as_deref()?;
        if !matches!(asker(incident), Asker::Host | Asker::Shm) {
            return None;
        }
        shm_full(timeline, asker(incident) == Asker::Shm)
            .or_else(|| files_in_memory(timeline))
            .or_else(|| forked_copies(timeline))
            .or_else(|| others(timeline))
            .or_else(|| workers(timeline).filter(|_| outgrown(incident, timeline).is_none()))
            .or_else(|| course(incident, timeline))
    },
};

/// A kill of which the kernel's own counters say that it was none of its own.
pub const KILL: Mechanism = Mechanism {
    id: "watched-kill",
    levels: &["not-counted", "not-counted-rising"],
    read: |incident| {
        let timeline = incident.observed.as_deref()?;
        (incident.event.has(Sign::KilledWithoutProof) && timeline.shot_for_another_reason()).then(|| {
            let (en, zh) = match timeline.end.and_then(|end| end.group_kills) {
                Some(_) => ("in the job's control group", "在作业的控制组中"),
                None => ("on the whole machine", "在整机上"),
            };
            if timeline.rose_to_the_end() {
                Reading::new(
                    "not-counted-rising",
                    text!(
                        en: "the kernel counted no kill for want of memory {en} meanwhile, and no limit was near: \
                             somebody else sent SIGKILL, while the job held more than ever before, as a scheduler or \
                             daemon does that watches what jobs hold (Slurm, LSF, PBS, Ray, earlyoom)",
                        zh: "期间内核{zh}没有记录到因内存不足的杀进程，也没有接近任何上限：SIGKILL 另有来源，而当时\
                             作业的占用达到最高，像是监视作业内存的调度器或守护进程所为\
                             （Slurm、LSF、PBS、Ray、earlyoom）"
                    ),
                )
            } else {
                Reading::new(
                    "not-counted",
                    text!(
                        en: "the kernel counted no kill for want of memory {en} meanwhile, and no limit was near: \
                             somebody else sent SIGKILL",
                        zh: "期间内核{zh}没有记录到因内存不足的杀进程，也没有接近任何上限：SIGKILL 另有来源"
                    ),
                )
            }
        })
    },
};

fn shm_full(timeline: &Timeline, asked: bool) -> Option<Reading> {
    let share = timeline.fullest(Quantity::Shm).filter(|share| *share >= FULL || asked && *share >= 0.5)?;
    let size = Bytes(timeline.header.shm_size?);
    let share = percent(share);
    Some(Reading::new(
        "shm-full",
        text!(en: "/dev/shm ({size}) was filled to {share}", zh: "/dev/shm（{size}）占用达 {share}"),
    ))
}

/// Most of what the job's group came to hold stands in files, which are no process's and which `ps` does not show.
fn files_in_memory(timeline: &Timeline) -> Option<Reading> {
    let held = timeline.curve(Quantity::Cgroup)?;
    let (first, peak) = (held.points.first()?, held.peak()?);
    let files = timeline.curve(Quantity::Shared)?;
    let (before, at_peak) = (files.points.first()?, files.at(peak.at)?);
    let risen = at_peak.bytes.saturating_sub(before.bytes);
    // What the processes have mapped is theirs, and their own rise tells more. When the group is full they may be gone.
    let own = timeline.curve(Quantity::Job).and_then(|job| job.peak()).map_or(0, |job| job.bytes);
    if (risen as f64) < MOSTLY * peak.bytes.saturating_sub(first.bytes) as f64
        || risen < peak.bytes / 4
        || own > peak.bytes / 2
    {
        return None;
    }
    let (all, of_files, own) = (Bytes(peak.bytes), Bytes(at_peak.bytes), Bytes(own));
    Some(Reading::new(
        "files-in-memory",
        text!(
            en: "of the {all} held, {of_files} were files in memory (tmpfs such as /dev/shm, or shared memory), which \
                 count until they are deleted; the job's processes held {own}",
            zh: "在占用的 {all} 中，{of_files} 是内存中的文件（/dev/shm 等 tmpfs，或共享内存），删除之前一直计入；作业\
                 的进程占用 {own}"
        ),
    ))
}

/// What binds was full, and mostly of what is not the job's: the machine, or a group that others share.
fn others(timeline: &Timeline) -> Option<Reading> {
    let full = |quantity: &Quantity| timeline.fullest(*quantity).is_some_and(|share| share >= FULL);
    let quantity = [Quantity::Cgroup, Quantity::Host].into_iter().find(full)?;
    let (whole, job) = (timeline.curve(quantity)?, timeline.curve(Quantity::Job)?);
    let (first, peak) = (*whole.points.first()?, whole.peak()?);
    // No more than all pages of its processes, each counted for itself, can be the job's: who holds the copies of a
    // fork is read seldom. What was moved out to swap is still whose it was.
    let at_peak = |of| timeline.curve(of).and_then(|curve| curve.at(peak.at)).map_or(0, |point| point.bytes);
    let of_job = job.at(peak.at)?.bytes.max(at_peak(Quantity::Resident)).saturating_add(at_peak(Quantity::Swapped));
    // Files in memory are no process's, and may be this job's own.
    let files = if quantity == Quantity::Cgroup { at_peak(Quantity::Shared) } else { 0 };
    let rest = peak.bytes.saturating_sub(of_job).saturating_sub(files);
    if rest < peak.bytes / 2 || rest < 2 * of_job {
        return None;
    }
    let before = first.bytes.saturating_sub(job.points.first().map_or(0, |first| first.bytes));
    let level = if before <= rest / 2 { "others-came" } else { "others" };
    let (all, own, others, before) = (Bytes(peak.bytes), Bytes(of_job), Bytes(rest), Bytes(before));
    // What the kernel holds for a group's processes, as for sockets, counts in it as well.
    let (where_en, where_zh, who_en, who_zh) = match quantity {
        Quantity::Cgroup => ("in its control group", "控制组", "others or the kernel", "其他进程或内核"),
        _ => ("on the machine", "整机", "others", "其他进程"),
    };
    Some(Reading::new(
        level,
        text!(
            en: "of {all} in use {where_en} the job held {own}: {others} belonged to {who_en}, who had {before} when \
                 it began",
            zh: "{where_zh}已用 {all}，其中作业占 {own}，其余 {others} 属于{who_zh}（作业开始时为 {before}）"
        ),
    ))
}

fn workers(timeline: &Timeline) -> Option<Reading> {
    let peak = timeline.curve(Quantity::Job)?.peak()?;
    let workers = timeline.workers().filter(|workers| workers.count >= 2)?;
    // One of them that holds most of it is a matter of its own.
    if (workers.bytes as f64) < WORKERS_SHARE * peak.bytes as f64
        || workers.largest as f64 > ONE_OF_THEM * workers.bytes as f64
    {
        return None;
    }
    let (count, all, each) = (workers.count, Bytes(workers.bytes), Bytes(workers.largest));
    let (job, rise) = (Bytes(peak.bytes), Bytes(workers.rise));
    Some(if workers.rise as f64 >= OF_PEAK * workers.bytes as f64 {
        Reading::new(
            "workers-rise",
            text!(
                en: "{count} workers held {all} of the job's {job}, the largest {each}, and had grown by {rise} \
                     together",
                zh: "{count} 个 worker 共占作业 {job} 中的 {all}（最大一个 {each}），合计增长了 {rise}"
            ),
        )
    } else {
        Reading::new(
            "workers-hold",
            text!(
                en: "{count} workers held {all} of the job's {job}, the largest {each}",
                zh: "{count} 个 worker 共占作业 {job} 中的 {all}（最大一个 {each}）"
            ),
        )
    })
}

/// Forked children that came to hold for themselves what they had shared with their parent: more and more is in use
/// although no process has more pages than before. What a child allocates of its own adds to its pages.
fn forked_copies(timeline: &Timeline) -> Option<Reading> {
    let mut forked: Vec<_> = timeline.processes.values().filter(|process| process.worker).collect();
    let of_parent = forked.first()?.parent;
    forked.retain(|process| process.parent == of_parent);
    let parent = timeline.processes.get(&of_parent)?;
    let begins = || forked.iter().filter_map(|process| Some(process.curve.points.first()?.at));
    let (first, last) = (begins().fold(f64::INFINITY, f64::min), begins().fold(0.0, f64::max));
    // What belongs to whom is read seldom, as the kernel goes through all pages for it: the group's figure has it all.
    let of = [Quantity::Cgroup, Quantity::Job].into_iter().find_map(|quantity| timeline.curve(quantity))?;
    let resident = timeline.curve(Quantity::Resident)?;
    let (before, peak) = (of.at(first)?, of.peak()?);
    let held = parent.curve.at(first).or(parent.curve.points.first().copied())?.bytes;
    let added = peak.bytes.saturating_sub(before.bytes);
    let pages = resident.at(peak.at)?.bytes.saturating_sub(resident.at(last)?.bytes);
    let children = forked.len() as u64;
    // More than a copy for each of all that there was is not copied.
    let copies = peak.at > last
        && added as f64 >= ADDED_BY_COPIES * held as f64
        && added <= (held + held / 4).saturating_mul(children)
        && (pages as f64) < OWN_PAGES * added as f64;
    let (at, added, held, pages) = (seconds(first), Bytes(added), Bytes(held), Bytes(pages));
    let forks = counted(children, "child was", "children were");
    (copies && held.0 >= WORTH_TELLING).then(|| {
        Reading::new(
            "forked-copy",
            text!(
                en: "{forks} forked after {at} from a process that held {held}; since then {added} came on top, \
                     while the resident pages rose by {pages}: pages that a fork shares are copied when either side \
                     writes to them, which in Python the counting of references does",
                zh: "{at} 后从占用 {held} 的进程 fork 出 {children} 个子进程；此后又增加了 {added}，而常驻页只增加了 \
                     {pages}：fork 共享的页在任一方写入时会被复制，Python 的引用计数也算写入"
            ),
        )
    })
}

/// What the job held, and how it is called: the figure of its control group where that is mostly the job, since the
/// kernel keeps it exactly, while the sum over processes is put together from readings of several moments. What was
/// moved out to swap is held as well.
fn held(timeline: &Timeline) -> Option<(Curve, Text)> {
    let job = timeline.curve(Quantity::Job)?;
    let mostly = |group: &&Curve| {
        let peak = group.peak();
        peak.and_then(|peak| Some(job.at(peak.at)?.bytes as f64 >= MOSTLY * peak.bytes as f64)).unwrap_or(false)
    };
    let bound = timeline.header.cgroup_limit.and_then(|_| timeline.curve(Quantity::Cgroup));
    let (base, who) = match bound.filter(mostly) {
        Some(group) => (group, text!(en: "the job's control group", zh: "作业的控制组")),
        None => (job, text!(en: "the job", zh: "作业")),
    };
    let Some(swapped) = timeline.curve(Quantity::Swapped) else { return Some((base.clone(), who)) };
    let with_swap = |point: &Point| {
        let out = swapped.at(point.at).map_or(0, |out| out.bytes);
        Point { bytes: point.bytes.saturating_add(out), ..*point }
    };
    let points = base.points.iter().map(with_swap).collect();
    let (en, zh) = (&who.en, &who.zh);
    Some((Curve { points }, text!(en: "{en}, swap included,", zh: "{zh}（含交换空间）")))
}

/// The one that was shot, where it held far more than its like: then its own memory is what tells.
fn outgrown<'a>(incident: &Incident, timeline: &'a Timeline) -> Option<Shot<'a>> {
    Shot::of(incident, timeline).filter(Shot::outgrew_its_like)
}

fn course(incident: &Incident, timeline: &Timeline) -> Option<Reading> {
    let phase = incident.context.phase.value();
    let (curve, who, whose) = match outgrown(incident, timeline) {
        Some(shot) => (shot.process.curve.clone(), name(shot.process), Whose::Process(phase)),
        None => held(timeline).map(|(curve, who)| (curve, who, Whose::Jobs(phase)))?,
    };
    let course = curve.course();
    if let Some(course @ (Course::Rose { .. } | Course::Climbed { .. })) = course {
        return rise(timeline, &curve, course, whose, &who);
    }
    if let Some(reading) = rise_to_its_bound(incident, timeline, &curve, whose, &who) {
        return Some(reading);
    }
    course?;
    let held = Bytes(curve.peak()?.bytes);
    let (en, zh) = (&who.en, &who.zh);
    Some(if incident.event.killed() {
        Reading::new(
            "steady",
            text!(en: "{en} held {held} and did not grow before the end", zh: "{zh}占用 {held}，结束前没有增长"),
        )
    } else {
        Reading::new(
            "refused-at-once",
            text!(
                en: "{en} held {held} and did not grow: what was refused was asked for at once",
                zh: "{zh}占用 {held} 且没有增长：被拒绝的是一次性申请"
            ),
        )
    })
}

/// A rise over steps that came to its bound long before the job ended: what is refused in a thread, or retried, ends it
/// only when somebody asks for the result.
fn rise_to_its_bound(
    incident: &Incident,
    timeline: &Timeline,
    curve: &Curve,
    whose: Whose,
    who: &Text,
) -> Option<Reading> {
    let (used, limit) = out_of_addresses(incident, timeline)?.addresses?;
    let all = curve.peak()?;
    let reached = curve.points.iter().position(|point| point.bytes as f64 >= (1.0 - STILL) * all.bytes as f64)?;
    let until = Curve { points: curve.points.get(..=reached)?.to_vec() };
    let course = until.course()?;
    let Course::Rose { from, to, .. } = course else { return None };
    let (each, _) = per_step(timeline, &until, from, to)?;
    // A job that had risen to its level and then asks for more than is left has not been stopped by its bound.
    let stopped = limit.saturating_sub(used) as f64 <= NEXT * each as f64;
    stopped.then(|| rise(timeline, &until, course, whose, who)).flatten()
}

/// The process that has used up its addresses, where the failure may be of that.
fn out_of_addresses<'a>(incident: &Incident, timeline: &'a Timeline) -> Option<&'a Process> {
    if asker(incident) != Asker::Host || incident.event.killed() {
        return None;
    }
    timeline.out_of_addresses(incident.event.facts.get(Fact::Requested).map(|asked| asked.bytes))
}

/// What a process alone came to hold more between two moments.
fn risen(process: &Process, from: Point, to: Point) -> u64 {
    let own = |at: f64| process.curve.at(at).map_or(0, |own| own.bytes);
    own(to.at).saturating_sub(own(from.at))
}

/// The process whose rise was most of a rise.
fn riser(timeline: &Timeline, from: Point, to: Point) -> Option<&Process> {
    let process = timeline.processes.values().max_by_key(|process| risen(process, from, to))?;
    let all = to.bytes.saturating_sub(from.bytes);
    (risen(process, from, to) as f64 >= MOSTLY * all as f64).then_some(process)
}

/// The process whose rise it mostly was, else the one that held most.
fn largest(timeline: &Timeline, from: Point, to: Point) -> Text {
    let riser = riser(timeline, from, to);
    let Some(process) = riser.or_else(|| timeline.largest_process()) else { return Text::default() };
    let Text { en, zh } = name(process);
    let peak = Bytes(process.curve.peak().map_or(0, |peak| peak.bytes));
    if riser.is_some() {
        text!(en: ", most of it {en}", zh: "，主要是{zh}")
    } else {
        text!(en: "; the largest, {en}, held {peak}", zh: "；最大的{zh}占用 {peak}")
    }
}

/// `process 9 (python, rank 2)`.
fn name(process: &Process) -> Text {
    let Process { pid, name, rank, .. } = process;
    let rank = rank.map(|rank| format!(", rank {rank}")).unwrap_or_default();
    text!(en: "process {pid} ({name}{rank})", zh: "进程 {pid}（{name}{rank}）")
}

/// Page-locked memory of the job's own processes.
pub const LOCKED: Mechanism = Mechanism {
    id: "watched-locked",
    levels: &["at-its-limit", "rises", "holds"],
    read: |incident| {
        let timeline = incident.observed.as_deref()?;
        if asker(incident) != Asker::Host {
            return None;
        }
        if let Some(process) = timeline.out_of_locked_memory().filter(|_| !incident.event.killed())
            && let Some((locked, limit)) = process.locked
        {
            let (pid, name, locked, limit) = (process.pid, &process.name, Bytes(locked), Bytes(limit));
            return Some(Reading::new(
                "at-its-limit",
                text!(
                    en: "process {pid} ({name}) had page-locked {locked} of the {limit} that its limit allows \
                         (ulimit -l), which has nothing to do with how much memory is free",
                    zh: "进程 {pid}（{name}）已锁页 {locked}，而其上限只允许 {limit}（ulimit -l），与空闲内存多少无关"
                ),
            ));
        }
        let (held, who) = held(timeline)?;
        let (first, peak) = (*held.points.first()?, held.peak()?);
        let locked = timeline.curve(Quantity::Locked)?.peak()?;
        let risen = peak.bytes.saturating_sub(first.bytes);
        let grows = matches!(held.course(), Some(Course::Rose { .. }));
        let (en, zh) = (&who.en, &who.zh);
        let (all, locked) = (Bytes(peak.bytes), Bytes(locked.bytes));
        if locked.0 < WORTH_TELLING {
            return None;
        }
        if grows && locked.0 as f64 >= MOSTLY * risen as f64 {
            let risen = Bytes(risen);
            return Some(Reading::new(
                "rises",
                text!(
                    en: "{en} rose by {risen}, and {locked} came to be page-locked (mlock, pinned buffers), which \
                         nothing can move out: such buffers are made again and again and kept",
                    zh: "{zh}增长了 {risen}，而锁页内存达 {locked}（mlock、固定缓冲区），无法换出：这类缓冲区不断新建\
                         且一直保留"
                ),
            ));
        }
        (locked.0 as f64 >= OF_BOUND * all.0 as f64).then(|| {
            Reading::new(
                "holds",
                text!(
                    en: "of the {all} held, {locked} were page-locked (mlock, pinned buffers), which nothing can move \
                         out",
                    zh: "在占用的 {all} 中，{locked} 为锁页内存（mlock、固定缓冲区），无法换出"
                ),
            )
        })
    },
};

/// Addresses, of which a limit (`ulimit -v`) allows so many.
pub const ADDRESSES: Mechanism = Mechanism {
    id: "watched-addresses",
    levels: &["used-up", "filled"],
    read: |incident| {
        let process = out_of_addresses(incident, incident.observed.as_deref()?)?;
        let (used, limit) = process.addresses?;
        let (pid, name, threads) = (process.pid, &process.name, process.threads);
        let held = process.curve.peak()?.bytes;
        let filled = held as f64 >= OF_BOUND * used as f64;
        let (used, limit, held) = (Bytes(used), Bytes(limit), Bytes(held));
        if filled {
            return Some(Reading::new(
                "filled",
                text!(
                    en: "process {pid} ({name}) had used {used} of the {limit} of addresses that its limit allows \
                         (ulimit -v), most of it for the {held} of memory that it held: the limit stands for so much \
                         RAM",
                    zh: "进程 {pid}（{name}）已使用其上限允许的 {limit} 地址空间中的 {used}（ulimit -v），其中大部分是\
                         它占用的 {held} 内存：该上限相当于这么多内存"
                ),
            ));
        }
        let (en, zh) = if threads < MANY_THREADS {
            Default::default()
        } else {
            (
                format!("; of its {threads} threads each took the addresses of its whole stack at once"),
                format!("；它的 {threads} 个线程各自一次性占用了整个栈的地址"),
            )
        };
        Some(Reading::new(
            "used-up",
            text!(
                en: "process {pid} ({name}) had used {used} of the {limit} of addresses that its limit allows \
                     (ulimit -v), and held no more than {held} of memory{en}",
                zh: "进程 {pid}（{name}）已使用其上限允许的 {limit} 地址空间中的 {used}（ulimit -v），而实际占用\
                     内存不超过 {held}{zh}"
            ),
        ))
    },
};

/// One that was shot, by the kernel's count or as the log names it, beside those that its parent started with it.
struct Shot<'a> {
    process: &'a Process,
    at: f64,
    own: u64,
    /// How many there were of its kind, and what the middle one of them held.
    like: u64,
    middle: u64,
}

impl Shot<'_> {
    fn of<'a>(incident: &Incident, timeline: &'a Timeline) -> Option<Shot<'a>> {
        let counted = timeline.victims.iter().max_by_key(|(_, victim)| victim.own);
        let named = || u32::try_from(incident.event.facts.pid.value()?).ok().filter(|_| incident.event.killed());
        let pid = counted.map(|(_, victim)| victim.pid).or_else(named)?;
        let process = timeline.processes.get(&pid)?;
        let last = process.curve.last()?;
        // One that is about to end has given up what it held.
        let before = process.curve.points.iter().rev().take(LAST_READINGS).map(|point| point.bytes).max()?;
        let (at, own) = counted.map_or((last.at, before), |(at, victim)| (*at, victim.own.max(before)));
        let mut like: Vec<u64> = timeline.like(pid).filter_map(|other| Some(other.at(at)?.bytes)).collect();
        like.sort_unstable();
        let middle = *like.get(like.len() / 2)?;
        Some(Shot { process, at, own, like: like.len() as u64, middle })
    }

    fn outgrew_its_like(&self) -> bool {
        self.own as f64 >= OUTGREW * self.middle as f64 && self.own.saturating_sub(self.middle) >= WORTH_TELLING
    }

    /// What the middle one of its like came to hold more while this one climbed, or since the last step that was told,
    /// where they had done with it before it was shot, kept what they had, and no step was told since: they did the
    /// same, and had less of it to do.
    fn had_more_to_do(&self, timeline: &Timeline) -> Option<u64> {
        let from = match self.process.curve.course() {
            Some(Course::Climbed { from, .. }) => from.at,
            _ => timeline.steps.iter().map(|(at, _)| *at).rfind(|at| *at <= self.at)?,
        };
        let mut risen = Vec::new();
        for other in timeline.like(self.process.pid) {
            let (before, then) = (other.at(from)?.bytes, other.at(self.at)?.bytes);
            let near = |point: &&Point| {
                (from..=self.at).contains(&point.at) && point.bytes as f64 >= (1.0 - STILL) * then as f64
            };
            let done = other.points.iter().find(near)?.at;
            let goes_on = timeline.steps.iter().any(|(at, _)| (done..self.at).contains(at));
            if then > before && !goes_on && self.at - done >= DONE_BEFORE * (self.at - from) {
                risen.push(then - before);
            }
        }
        risen.sort_unstable();
        let middle = risen.get(risen.len() / 2).copied()?;
        (2 * risen.len() as u64 > self.like && middle >= WORTH_TELLING / 2).then_some(middle)
    }
}

/// Who was shot, beside its like.
pub const VICTIM: Mechanism = Mechanism {
    id: "watched-victim",
    levels: &["outgrew-its-like", "had-more-to-do", "one-of-many"],
    read: |incident| {
        let timeline = incident.observed.as_deref()?;
        if asker(incident) != Asker::Host {
            return None;
        }
        let shot = Shot::of(incident, timeline)?;
        let (Text { en, zh }, count) = (name(shot.process), shot.like);
        let (after, own, middle) = (seconds(shot.at), Bytes(shot.own), Bytes(shot.middle));
        if let Some(risen) = shot.had_more_to_do(timeline).filter(|_| shot.outgrew_its_like()) {
            let risen = Bytes(risen);
            return Some(Reading::new(
                "had-more-to-do",
                text!(
                    en: "{en} was shot after {after}, when it held {own}; the {count} others of its kind had risen \
                         with it, by {risen} to {middle} in the middle, and then stood still with that: all did the \
                         same, and this one had far more of it to do, as with a larger share of the data",
                    zh: "{zh}在 {after} 后被杀，当时占用 {own}；同类的其他 {count} 个曾与它一同增长（中位增长 \
                         {risen}，达 {middle}），随后保持不变：它们做的是同样的事，而这个进程的量大得多，例如分到的\
                         数据更多"
                ),
            ));
        }
        if shot.outgrew_its_like() {
            return Some(Reading::new(
                "outgrew-its-like",
                text!(
                    en: "{en} was shot after {after}, when it held {own}; the {count} others of its kind held {middle} \
                         in the middle, and only followed",
                    zh: "{zh}在 {after} 后被杀，当时占用 {own}；同类的其他 {count} 个的中位占用为 {middle}，只是\
                         随之失败"
                ),
            ));
        }
        (count >= 2 && middle.0 as f64 * OUTGREW >= shot.own as f64).then(|| {
            Reading::new(
                "one-of-many",
                text!(
                    en: "{en} was shot after {after}, when it held {own}; the {count} others of its kind held {middle} \
                         in the middle: none of them stands out",
                    zh: "{zh}在 {after} 后被杀，当时占用 {own}；同类的其他 {count} 个的中位占用为 {middle}：没有\
                         哪个特别突出"
                ),
            )
        })
    },
};

/// What swap and the kernel's measure of waiting say.
pub const PRESSURE: Mechanism = Mechanism {
    id: "watched-pressure",
    levels: &["outgrew-ram", "swapped", "stalled"],
    read: |incident| {
        let timeline = incident.observed.as_deref()?;
        if asker(incident) != Asker::Host {
            return None;
        }
        let waited: f64 = timeline.stalled_of_last(LATELY);
        let share = percent(waited);
        let job = timeline.curve(Quantity::Job).and_then(|job| job.peak()).map_or(0, |job| job.bytes);
        let enough = |out: &u64| *out >= WORTH_TELLING.max(job / 10);
        let own = timeline.curve(Quantity::Swapped).and_then(|out| out.peak()).map(|out| out.bytes).filter(enough);
        if let Some(own) = own
            && let Some((held, _)) = held(timeline)
            && stood_still(&held)
        {
            let (own, all) = (Bytes(own), Bytes(held.peak()?.bytes));
            return Some(Reading::new(
                "outgrew-ram",
                text!(
                    en: "the job needed {all} and stayed at that, {own} of it in swap: its data is larger than the RAM \
                         it may use, and in the last 10 s everything waited for memory {share} of the time",
                    zh: "作业需要 {all} 并保持在该水平，其中 {own} 在交换空间：数据大于可用内存，最后 10 秒中有 \
                         {share} 的时间所有任务都在等待内存"
                ),
            ));
        }
        let machine = timeline.curve(Quantity::Swap);
        let swap = machine.and_then(|swap| Some((swap.points.first()?.bytes, swap.peak()?.bytes)));
        let risen = own.or(swap.map(|(first, peak)| peak.saturating_sub(first))).filter(enough);
        if let Some((risen, (_, used))) = risen.zip(swap) {
            let (risen, used) = (Bytes(risen), Bytes(used));
            let all = Bytes(timeline.header.swap_size.unwrap_or(0));
            return Some(Reading::new(
                "swapped",
                text!(
                    en: "{risen} were moved out to swap meanwhile ({used} of {all} in use), and in the last 10 s \
                         everything waited for memory {share} of the time",
                    zh: "期间有 {risen} 被换出到交换空间（{all} 中已用 {used}），最后 10 秒中有 {share} 的时间所有任\
                         务都在等待内存"
                ),
            ));
        }
        (waited >= STALLED).then(|| {
            Reading::new(
                "stalled",
                text!(
                    en: "in the last 10 s everything waited for memory {share} of the time",
                    zh: "最后 10 秒中有 {share} 的时间所有任务都在等待内存"
                ),
            )
        })
    },
};

/// True where it stayed at one level in the second half of its time.
fn stood_still(curve: &Curve) -> bool {
    let (Some(first), Some(last)) = (curve.points.first(), curve.last()) else { return false };
    let half = first.at + (last.at - first.at) / 2.0;
    let late = || curve.points.iter().filter(|point| point.at >= half).map(|point| point.bytes);
    let (Some(low), Some(high)) = (late().min(), late().max()) else { return false };
    late().count() >= TOLD && (high - low) as f64 <= STILL * high as f64
}

/// What rose.
#[derive(Clone, Copy)]
enum Whose {
    Devices,
    /// The job's on the machine, or that of one of its processes, and the phase that its log shows at last.
    Jobs(Option<Phase>),
    Process(Option<Phase>),
}

/// A rise or climb in words; `None` where it was steady.
fn rise(timeline: &Timeline, curve: &Curve, course: Course, whose: Whose, who: &Text) -> Option<Reading> {
    let (from, to) = match course {
        Course::Rose { from, to, .. } | Course::Climbed { from, to } => (from, to),
        Course::Steady => return None,
    };
    let (on_device, phase) = match whose {
        Whose::Devices => (true, None),
        Whose::Jobs(phase) | Whose::Process(phase) => (false, phase),
    };
    let in_load = matches!(phase, Some(Phase::Load | Phase::Resume | Phase::DataLoading));
    // After steps of which this is not.
    let apart = matches!(phase, Some(Phase::Checkpoint | Phase::Validation)) && timeline.steps.len() as f64 >= STEPS;
    // What a program holds while it starts is no level that its steps had.
    let started = from.bytes as f64 >= STARTED * to.bytes as f64;
    if matches!(course, Course::Climbed { .. }) && !started && (on_device || to.at - from.at > AT_ONCE) {
        return None;
    }
    let (start, end, lasted) = (Bytes(from.bytes), Bytes(to.bytes), to.at - from.at);
    let steps = per_step(timeline, curve, from, to).map_or_else(Text::default, |(each, steps)| {
        let each = Bytes(each);
        text!(en: ", {each} a step over {steps:.0} steps", zh: "，{steps:.0} 步中每步 {each}")
    });
    // What is counted is the work of those who print; a worker that grows beside it keeps what it was given.
    let worker = riser(timeline, from, to).filter(|process| process.worker);
    let in_worker = worker.is_some();
    let alone = worker.is_some_and(|process| alone_of_its_like(timeline, process, from, to));
    let counts = !on_device && !in_worker && steps.is_empty();
    let first = curve.points.first().filter(|_| counts);
    let mut count = first.map_or_else(Text::default, |first| whole_count(timeline, *first, to));
    let rose = matches!(course, Course::Rose { .. });
    if let Some((done, all)) = timeline.count.filter(|(done, _)| rose && !on_device && alone && *done >= STEPS) {
        count = text!(
            en: ", a worker, while the output counted to {done:.0} of {all:.0} and the others of its kind hardly grew",
            zh: "，它是一个 worker，期间输出计到 {all:.0} 中的 {done:.0}，而同类进程几乎没有增长"
        );
    }
    let level = match course {
        _ if !steps.is_empty() => "rose-over-steps",
        _ if apart => "rose-in-phase",
        _ if in_load => "rose-in-load",
        _ if rose && !count.is_empty() => {
            if in_worker {
                "worker-rose-over-count"
            } else {
                "rose-over-count"
            }
        }
        Course::Rose { bytes_per_second, .. } if lasted >= SLOWLY && bytes_per_second <= SLOW => "rose-slowly",
        Course::Rose { .. } => "rose",
        _ if lasted <= AT_ONCE => "jumped",
        _ => "climbed-late",
    };
    let (en, zh) = match course {
        Course::Rose { bytes_per_second, .. } => {
            let rate = Bytes(bytes_per_second.max(0.0) as u64);
            (format!("rose from {start} to {end}, {rate} a second"), format!("从 {start} 升到 {end}，每秒 {rate}"))
        }
        _ => (
            format!("kept its level and then went from {start} to {end}"),
            format!("先保持平稳，随后从 {start} 升到 {end}"),
        ),
    };
    let time = seconds(lasted);
    let process = match whose {
        Whose::Jobs(_) => largest(timeline, from, to),
        Whose::Devices | Whose::Process(_) => Text::default(),
    };
    Some(Reading::new(
        level,
        Text::new(
            format!("{} {en} within {time}{}{}{}", who.en, steps.en, count.en, process.en),
            format!("{}在 {time} 内{zh}{}{}{}", who.zh, steps.zh, count.zh, process.zh),
        ),
    ))
}

/// True where those like a process were there and came to hold little in comparison meanwhile.
fn alone_of_its_like(timeline: &Timeline, process: &Process, from: Point, to: Point) -> bool {
    let most = risen(process, from, to) as f64 / OUTGREW / OUTGREW;
    let mut like = timeline.like(process.pid).map(|other| {
        let at = |moment: f64| other.at(moment).map_or(0, |point| point.bytes);
        at(to.at).saturating_sub(at(from.at))
    });
    like.next().is_some_and(|first| std::iter::once(first).chain(like).all(|risen| risen as f64 <= most))
}

/// Where the output counts something of which it tells how many there are: what all of them would take.
fn whole_count(timeline: &Timeline, from: Point, to: Point) -> Text {
    let Some((done, all)) = timeline.count.filter(|(done, all)| *done >= STEPS && done < all) else {
        return Text::default();
    };
    let risen = to.bytes.saturating_sub(from.bytes) as f64;
    let whole = Bytes(from.bytes.saturating_add((risen / done * all) as u64));
    text!(
        en: ", when its output had counted to {done:.0} of {all:.0}: at this rate the whole takes about {whole}",
        zh: "，此时输出已计到 {all:.0} 中的 {done:.0}：照此速度，全部约需 {whole}"
    )
}

/// Who held the memory of the GPU.
pub const DEVICE: Mechanism = Mechanism {
    id: "watched-device",
    levels: &["stranger-came", "strangers", "rose", "rose-over-steps", "rose-slowly", "jumped", "climbed-late"],
    read: |incident| {
        let timeline = incident.observed.as_deref()?;
        if !on_gpu(incident) {
            return None;
        }
        let device = timeline.fullest_device()?;
        // What the allocator told after each step is of the job's tensors; the device's figure holds its cache as well.
        let told = timeline.refused(incident).is_some_and(|(process, _)| process.rows.len() >= TOLD);
        strangers(timeline, device).or_else(|| own(timeline, device).filter(|_| !told))
    },
};

fn strangers(timeline: &Timeline, device: u32) -> Option<Reading> {
    let capacity = timeline.limit(Quantity::Device(device))?;
    let enough = |bytes: u64| bytes as f64 >= STRANGER * capacity as f64;
    let stayed = timeline
        .neighbours
        .iter()
        .filter(|other| other.device == device && enough(other.bytes) && timeline.lasted - other.seen < 5.0);
    let largest = stayed.max_by_key(|other| other.bytes)?;
    let own_first = timeline.curve(Quantity::Own(device))?.points.iter().find(|point| point.bytes > 0);
    let (pid, bytes, came) = (largest.pid, Bytes(largest.bytes), seconds(largest.came));
    Some(if own_first.is_some_and(|own| own.at < largest.came) {
        Reading::new(
            "stranger-came",
            text!(
                en: "process {pid}, which is none of this job, came to GPU {device} after {came} and held {bytes}",
                zh: "不属于本作业的进程 {pid} 在 {came} 后出现在 GPU {device} 上，占用 {bytes}"
            ),
        )
    } else {
        Reading::new(
            "strangers",
            text!(
                en: "process {pid}, which is none of this job, held {bytes} of GPU {device} from before it",
                zh: "不属于本作业的进程 {pid} 此前就在 GPU {device} 上占用 {bytes}"
            ),
        )
    })
}

fn own(timeline: &Timeline, device: u32) -> Option<Reading> {
    // Where the driver names no owner, what rises on a device without strangers is the job's.
    let curves = [Quantity::Own(device), Quantity::Device(device)].into_iter().filter_map(|of| timeline.curve(of));
    let mut courses = curves.filter_map(|curve| Some((curve, curve.course()?)));
    let who = text!(en: "the job's memory on GPU {device}", zh: "作业在 GPU {device} 上的显存");
    courses.find_map(|(curve, course)| rise(timeline, curve, course, Whose::Devices, &who))
}

#[cfg(test)]
mod tests {
    use super::super::level;
    use super::*;
    use crate::cause::trial::{figure, host};
    use crate::cause::{CauseId, rank};
    use crate::incident::timeline::{Header, ProcessSample, Sample, Victim};
    use crate::units::MIB;
    use std::sync::Arc;

    /// A job in a group of 1000 MiB, looked at each second.
    fn watched(seconds: u32, mut look: impl FnMut(u64, &mut Sample)) -> Incident {
        let header = Header { cgroup_limit: Some(1000 * MIB), swap_size: Some(1000 * MIB), ..Header::default() };
        let mut timeline = Timeline::new(header);
        for i in 0..seconds {
            let mut sample = Sample { at: f64::from(i), ..Sample::default() };
            look(u64::from(i), &mut sample);
            timeline.add(&sample);
        }
        let mut incident = host(&[]);
        incident.observed = Some(Arc::new(timeline));
        incident
    }

    fn process(pid: u32, parent: u32, own: u64) -> ProcessSample {
        ProcessSample {
            pid,
            parent,
            name: "python".into(),
            worker: parent != 1,
            own: own * MIB,
            ..ProcessSample::default()
        }
    }

    #[test]
    fn files_in_memory_are_told_from_what_the_job_has_mapped() {
        let files = |job: u64| {
            watched(30, move |i, sample| {
                (sample.cgroup, sample.shared) = (Some((50 + 30 * i) * MIB), Some(30 * i * MIB));
                sample.job = Some((40 + job * i) * MIB);
                sample.processes = vec![process(7, 1, 40 + job * i)];
            })
        };
        assert_eq!(level(&HOST, &files(0)), Some("files-in-memory"));
        assert_ne!(level(&HOST, &files(30)), Some("files-in-memory"), "its own rise tells more");
    }

    /// A parent of 400 MiB that forks after 10 s; so much more is in use with each second, and so many pages more.
    fn forked(children: u32, each: u64, pages: u64) -> Incident {
        watched(30, move |i, sample| {
            let since = i.saturating_sub(10);
            (sample.cgroup, sample.job) = (Some((400 + each * since) * MIB), Some((400 + each * since) * MIB));
            sample.processes = vec![process(7, 1, 400)];
            sample.resident = Some(400 * MIB);
            if i >= 10 {
                sample.resident = Some((400 * u64::from(children + 1) + pages * since) * MIB);
                sample.processes.extend((0..children).map(|child| process(8 + child, 7, each * since / 2)));
            }
        })
    }

    #[test]
    fn a_forks_copies_are_told_where_there_is_one_child_and_no_more_than_a_copy() {
        assert_eq!(level(&HOST, &forked(1, 20, 0)), Some("forked-copy"));
        assert_ne!(level(&HOST, &forked(1, 30, 0)), Some("forked-copy"), "more than there was to copy");
        let incident = forked(1, 20, 0);
        assert_eq!(rank(&incident)[0].cause.id, CauseId::HostWorkers);
    }

    #[test]
    fn what_forked_processes_take_for_themselves_is_no_copy() {
        for children in [1, 4] {
            assert_eq!(level(&HOST, &forked(children, 20, 2)), Some("forked-copy"), "{children}");
            assert_ne!(level(&HOST, &forked(children, 20, 20)), Some("forked-copy"), "{children}: pages of their own");
        }
    }

    #[test]
    fn swap_and_waiting_are_told_only_where_there_was_some() {
        let pressed = |swapped: u64, stalled: f64| {
            watched(30, move |i, sample| {
                (sample.job, sample.swap) = (Some(300 * MIB), Some((5 + swapped * i) * MIB));
                sample.stalled = Some(stalled);
            })
        };
        assert_eq!(level(&PRESSURE, &pressed(10, 0.6)), Some("swapped"));
        assert_eq!(level(&PRESSURE, &pressed(0, 0.6)), Some("stalled"));
        assert_eq!(level(&PRESSURE, &pressed(0, 0.02)), None);
    }

    #[test]
    fn a_need_that_stands_still_above_the_ram_is_no_growth() {
        let swapping = |out: fn(u64) -> u64| {
            watched(40, move |i, sample| {
                sample.job = Some((60 * i.min(6)) * MIB);
                sample.swapped = (i > 6).then(|| out(i) * MIB);
                sample.processes = vec![process(7, 1, 60 * i.min(6))];
                sample.stalled = Some(0.4);
            })
        };
        let stands = swapping(|i| 300 + i % 4);
        assert_eq!(level(&PRESSURE, &stands), Some("outgrew-ram"));
        let told = (PRESSURE.read)(&stands).unwrap().text.en;
        assert!(told.contains("needed 663.00 MiB and stayed at that, 303.00 MiB of it in swap"), "{told}");
        assert_eq!(rank(&stands)[0].cause.id, CauseId::HostMemory);
        let grows = swapping(|i| 20 * i);
        assert_ne!(level(&PRESSURE, &grows), Some("outgrew-ram"));
        assert_eq!(rank(&grows)[0].cause.id, CauseId::LeakGrowth, "what is moved out is held all the same");
    }

    #[test]
    fn what_is_locked_is_told_with_the_rise_and_a_program_that_starts_has_no_level() {
        let of = |locked: fn(u64) -> u64| {
            watched(30, move |i, sample| {
                sample.job = Some((20 + 15 * i) * MIB);
                sample.locked = (i > 0).then(|| locked(i) * MIB);
                sample.processes = vec![process(7, 1, 20 + 15 * i)];
            })
        };
        let told = (LOCKED.read)(&of(|i| 15 * i)).unwrap();
        assert_eq!(told.level, "rises");
        assert!(told.text.en.contains("435.00 MiB came to be page-locked"), "{}", told.text.en);
        assert_eq!(level(&LOCKED, &of(|i| i)), None, "a few pages of keys are anybody's");
        let pool = watched(30, |i, sample| {
            (sample.job, sample.locked) = (Some(if i < 2 { 20 } else { 720 } * MIB), Some(400 * MIB));
        });
        assert_eq!(level(&LOCKED, &pool), Some("holds"));
        let started = watched(30, |i, sample| {
            sample.job = Some(if i < 20 { 20 } else { 20 + 90 * (i - 19) } * MIB);
            sample.processes = vec![process(7, 1, 20)];
        });
        assert_eq!(level(&HOST, &started), None);
    }

    #[test]
    fn addresses_that_are_used_up_are_a_limits_doing_and_a_request_that_no_machine_has_is_not() {
        let level_of = |used: u64, held: u64, requested: Option<&str>| {
            let mut incident = watched(5, move |_, sample| {
                let addresses = Some((used * MIB, 3000 * MIB));
                sample.processes = vec![ProcessSample { addresses, threads: 40, ..process(7, 1, held) }];
            });
            let mut timeline = incident.observed.as_deref().cloned().unwrap();
            timeline.header.ram = Some(16_000 * MIB);
            incident.observed = Some(Arc::new(timeline));
            requested.into_iter().for_each(|size| incident.event.facts.note(Fact::Requested, figure(size)));
            level(&ADDRESSES, &incident)
        };
        let of = |used, requested| level_of(used, 20, requested);
        assert_eq!(level_of(2900, 2000, None), Some("filled"), "memory fills it, as it would fill RAM");
        assert_eq!(of(2900, None), Some("used-up"));
        assert_eq!(of(900, None), None, "there is room below the limit");
        assert_eq!(of(30, None), None);
        assert_eq!(of(900, Some("3.00 GiB")), Some("used-up"));
        assert_eq!(of(900, Some("1.00 GiB")), None);
        assert_eq!(of(900, Some("3000.00 GiB")), None, "no machine has that");
    }

    #[test]
    fn a_limit_on_locked_pages_is_told_where_it_is_reached() {
        let of = |locked: u64| {
            watched(5, move |_, sample| {
                let locked = Some((locked << 20, 8 * MIB));
                sample.processes = vec![ProcessSample { locked, ..process(7, 1, 90) }];
            })
        };
        assert_eq!(level(&LOCKED, &of(7)), Some("at-its-limit"));
        assert_eq!(rank(&of(7))[0].cause.id, CauseId::FrameworkLimit);
        assert_eq!(level(&LOCKED, &of(4)), None, "there is room below the limit");
        let mut shot = of(7);
        shot.event.sign(Sign::KilledWithProof);
        assert_ne!(level(&LOCKED, &shot), Some("at-its-limit"), "a limit refuses, and does not kill");
    }

    #[test]
    fn a_rise_before_or_after_the_steps_is_none_of_theirs() {
        // Steps from 10 to 30 s; what rises does so with them, or when they are over.
        let of = |with_steps: bool| {
            watched(40, move |i, sample| {
                let risen = if with_steps { i.saturating_sub(8).min(24) } else { i / 8 + i.saturating_sub(30) * 5 };
                sample.job = Some((200 + 15 * risen) * MIB);
                sample.processes = vec![process(7, 1, 200 + 15 * risen)];
                sample.step = (10..=30).contains(&i).then_some(i as f64);
            })
        };
        assert_eq!(level(&HOST, &of(true)), Some("rose-over-steps"));
        let mut after = of(false);
        assert_ne!(level(&HOST, &after), Some("rose-over-steps"));
        after.context.phase.note(Phase::Checkpoint, crate::evidence::Span::line(9));
        assert_eq!(level(&HOST, &after), Some("rose-in-phase"));
        assert_eq!(rank(&after)[0].cause.id, CauseId::TransientPeak);
        let mut with_them = of(true);
        with_them.context.phase.note(Phase::Checkpoint, crate::evidence::Span::line(9));
        assert_eq!(level(&HOST, &with_them), Some("rose-over-steps"), "a save after steps that leak");
    }

    #[test]
    fn a_victim_stands_beside_its_like() {
        let of = |own: u64| {
            watched(10, move |i, sample| {
                sample.processes = (0..4).map(|rank| process(7 + rank, 1, 100)).collect();
                (sample.processes[2].own, sample.processes[2].rank) = (own * MIB, Some(2));
                if i == 9 {
                    let victim = Victim { pid: 9, name: "python".into(), rank: Some(2), own: own * MIB };
                    sample.processes.remove(2);
                    sample.victims = vec![victim];
                }
            })
        };
        let told = (VICTIM.read)(&of(600)).unwrap();
        assert_eq!(told.level, "outgrew-its-like");
        assert!(told.text.en.contains("(python, rank 2) was shot after 9.0 s, when it held 600.00 MiB"), "{told:?}");
        assert_eq!(level(&VICTIM, &of(110)), Some("one-of-many"));
        // Nobody counted, and the launcher names the process.
        let mut named = of(600);
        let mut timeline = named.observed.as_deref().cloned().unwrap();
        timeline.victims.clear();
        named.observed = Some(Arc::new(timeline));
        assert_eq!(level(&VICTIM, &named), None);
        named.event.facts.pid.note(9u64, crate::evidence::Span::line(3));
        named.event.sign(Sign::KilledWithoutProof);
        assert_eq!(level(&VICTIM, &named), Some("outgrew-its-like"));
        assert_eq!(level(&VICTIM, &watched(10, |_, _| {})), None);
    }

    #[test]
    fn a_rank_that_goes_on_alone_with_what_all_began_has_a_larger_share_and_one_that_leaks_has_not() {
        // Four ranks at 100 MiB; all climb after 20 s, three of them for 2 s and by so much.
        let of = |others: u64, step: Option<u64>| {
            watched(30, move |i, sample| {
                let climbed = i.saturating_sub(20);
                sample.processes = (0..4).map(|rank| process(7 + rank, 1, 100 + others * climbed.min(2))).collect();
                (sample.processes[2].own, sample.processes[2].rank) = ((100 + 70 * climbed) * MIB, Some(2));
                sample.job = Some(sample.processes.iter().map(|process| process.own).sum());
                sample.step = step.filter(|from| i >= *from).map(|_| i as f64);
                if i == 29 {
                    let own = sample.processes.remove(2).own;
                    sample.victims = vec![Victim { pid: 9, name: "python".into(), rank: Some(2), own }];
                }
            })
        };
        let mut larger = of(60, None);
        larger.event.sign(Sign::KilledWithProof);
        let told = (VICTIM.read)(&larger).unwrap();
        assert_eq!(told.level, "had-more-to-do");
        assert!(told.text.en.contains("by 120.00 MiB to 220.00 MiB in the middle"), "{told:?}");
        assert_eq!(rank(&larger)[0].cause.id, CauseId::HostMemory);
        let mut from_the_start = larger.observed.as_deref().cloned().unwrap();
        for process in from_the_start.processes.values_mut() {
            process.curve.points.retain(|point| point.at > 18.0);
        }
        from_the_start.steps = vec![(19.0, 7.0)];
        larger.observed = Some(Arc::new(from_the_start));
        assert_eq!(level(&VICTIM, &larger), Some("had-more-to-do"), "since the last step");
        assert_eq!(level(&VICTIM, &of(2, None)), Some("outgrew-its-like"), "the others did nothing of the kind");
        assert_eq!(
            level(&VICTIM, &of(60, Some(22))),
            Some("outgrew-its-like"),
            "steps go on: it keeps what they leave"
        );
    }

    #[test]
    fn a_worker_that_alone_grows_while_things_are_counted_keeps_what_it_was_given() {
        let of = |other: u64| {
            watched(40, move |i, sample| {
                sample.processes = vec![process(7, 1, 20), process(8, 7, 20 + 20 * i), process(9, 7, 5 + other * i)];
                sample.job = Some(sample.processes.iter().map(|process| process.own).sum());
                sample.count = Some((i as f64, 64.0));
            })
        };
        let alone = of(0);
        let told = (HOST.read)(&alone).unwrap();
        assert_eq!(told.level, "worker-rose-over-count");
        assert!(told.text.en.contains("counted to 39 of 64 and the others of its kind hardly grew"), "{told:?}");
        assert_eq!(rank(&alone)[0].cause.id, CauseId::LeakGrowth);
        assert_eq!(level(&HOST, &of(12)), Some("rose"), "several take what they are given");
    }

    #[test]
    fn what_rises_with_the_steps_to_the_limit_on_addresses_and_fails_later_is_growth() {
        // Steps from the start; 50 MiB each for so many of them, and then none until the end.
        let of = |limit: u64, stopped: u64| {
            let mut incident = watched(40, move |i, sample| {
                let held = 100 + 50 * i.min(stopped);
                let addresses = Some(((held + 100) * MIB, limit * MIB));
                sample.job = Some(held * MIB);
                sample.processes = vec![ProcessSample { addresses, ..process(7, 1, held) }];
                sample.step = Some(i as f64);
            });
            incident.event.facts.note(Fact::Requested, figure("300.00 MiB"));
            incident
        };
        let stopped = of(1000, 15);
        assert_eq!(level(&HOST, &stopped), Some("rose-over-steps"));
        assert_eq!(rank(&stopped)[0].cause.id, CauseId::LeakGrowth);
        assert_ne!(level(&HOST, &of(1200, 15)), Some("rose-over-steps"), "it stood below its limit");
    }

    #[test]
    fn others_in_the_jobs_group_are_told_from_the_job_and_its_files() {
        let of = |own: u64, files: u64| {
            watched(20, move |i, sample| {
                sample.cgroup = Some((50 + 50 * i).min(1000) * MIB);
                (sample.job, sample.shared) = (Some(own * MIB), Some(files * MIB));
                sample.processes = vec![process(7, 1, own)];
            })
        };
        assert_eq!(level(&HOST, &of(40, 0)), Some("others-came"));
        assert_eq!(rank(&of(40, 0))[0].cause.id, CauseId::OtherProcess);
        for incident in [of(700, 0), of(40, 800)] {
            let level = level(&HOST, &incident);
            assert!(!level.is_some_and(|level| level.starts_with("others")), "files are no process's: {level:?}");
        }
        let copies = watched(20, |i, sample| {
            (sample.cgroup, sample.job) = (Some((50 + 50 * i).min(1000) * MIB), Some(40 * MIB));
            sample.resident = Some(1500 * MIB);
            sample.processes = vec![process(7, 1, 40)];
        });
        let level_of_copies = level(&HOST, &copies);
        assert!(!level_of_copies.is_some_and(|level| level.starts_with("others")), "{level_of_copies:?}");
        let all_along = watched(20, |_, sample| (sample.cgroup, sample.job) = (Some(950 * MIB), Some(40 * MIB)));
        assert_eq!(level(&HOST, &all_along), Some("others"));
    }

    #[test]
    fn a_count_to_a_known_end_is_a_load_with_its_whole_need_and_steps_are_not() {
        let of = |count: Option<(f64, f64)>, phase: Option<Phase>| {
            let mut incident = watched(40, move |i, sample| {
                sample.job = Some((40 + 20 * i) * MIB);
                sample.processes = vec![process(7, 1, 40 + 20 * i)];
                sample.count = count.map(|(each, all)| (each * i as f64, all));
            });
            phase.into_iter().for_each(|phase| incident.context.phase.note(phase, crate::evidence::Span::line(2)));
            incident
        };
        let counted = of(Some((2.0, 200.0)), None);
        let told = (HOST.read)(&counted).unwrap();
        assert_eq!(told.level, "rose-over-count");
        // 780 MiB at 78 of 200, on top of 40 MiB.
        assert!(told.text.en.contains("counted to 78 of 200: at this rate the whole takes about 1.99 GiB"), "{told:?}");
        assert_eq!(rank(&counted)[0].cause.id, CauseId::HostMemory);
        let mut in_worker = of(Some((2.0, 200.0)), None).observed.as_deref().cloned().unwrap();
        in_worker.processes.values_mut().for_each(|process| process.worker = true);
        let mut beside = of(None, None);
        beside.observed = Some(Arc::new(in_worker));
        assert_eq!(level(&HOST, &beside), Some("rose"), "who prints the count is not who grows");
        assert_eq!(level(&HOST, &of(None, None)), Some("rose"));
        assert_eq!(level(&HOST, &of(Some((1.0, 39.0)), None)), Some("rose"), "all of it was there");
        assert_eq!(level(&HOST, &of(None, Some(Phase::DataLoading))), Some("rose-in-load"));
    }
}
