//! What somebody saw who was there: who grew, who came, and how fast it went.

use super::{Mechanism, Reading};
use crate::cause::nature::{Asker, asker, on_gpu};
use crate::domain::Sign;
use crate::incident::Incident;
use crate::incident::timeline::{Course, Curve, Quantity, Timeline};
use crate::text;
use crate::text::Text;
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

/// What a fork's copies add is this share of what was there before at least.
const ADDED_BY_COPIES: f64 = 0.25;

/// A level below this share of what came after it is that of a program which has not begun.
const STARTED: f64 = 0.15;

/// A stranger's memory from here on, as a share of the GPU, is more than a desktop or a monitor.
const STRANGER: f64 = 0.05;

/// Full enough that the next request fails.
const FULL: f64 = 0.85;

/// A reading may be this share of the time looked at older than the step it is taken for.
const STALE: f64 = 0.1;

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

/// `, 72 MiB a step over 40 steps`, where the output told steps.
///
/// Steps are often told only now and then, so that a rise is held against the steps from one telling to another.
fn per_step(timeline: &Timeline, curve: &Curve, from: f64, to: f64) -> Text {
    let mut told = timeline.steps.iter().map(|(at, _)| *at).filter(|at| (from..=to).contains(at));
    let (Some(first), Some(last)) = (told.next(), told.next_back()) else { return Text::default() };
    let steps = timeline.steps_between(first, last);
    let (Some(before), Some(after)) = (curve.at(first), curve.at(last)) else { return Text::default() };
    let risen = after.bytes.saturating_sub(before.bytes);
    // Readings that are older than that belong to other steps.
    let stale = (first - before.at).max(last - after.at) > STALE * (last - first);
    if steps < STEPS || risen == 0 || stale {
        return Text::default();
    }
    let each = Bytes((risen as f64 / steps) as u64);
    text!(en: ", {each} a step over {steps:.0} steps", zh: "，{steps:.0} 步中每步 {each}")
}

/// Who held the memory of the machine or of the job.
pub const HOST: Mechanism = Mechanism {
    id: "watched-host",
    levels: &[
        "workers-rise",
        "workers-hold",
        "rose",
        "rose-over-steps",
        "rose-slowly",
        "jumped",
        "climbed-late",
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
            .or_else(|| others(timeline))
            .or_else(|| workers(timeline))
            .or_else(|| forked_copy(timeline))
            .or_else(|| course(incident, timeline))
    },
};

/// A kill of which the kernel's own counters say that it was none of its own.
pub const KILL: Mechanism = Mechanism {
    id: "watched-kill",
    levels: &["not-counted"],
    read: |incident| {
        let timeline = incident.observed.as_deref()?;
        (incident.event.has(Sign::KilledWithoutProof) && timeline.shot_for_another_reason()).then(|| {
            let (en, zh) = match timeline.end.and_then(|end| end.group_kills) {
                Some(_) => ("in the job's control group", "在作业的控制组中"),
                None => ("on the whole machine", "在整机上"),
            };
            Reading::new(
                "not-counted",
                text!(
                    en: "the kernel counted no kill for want of memory {en} meanwhile, and no limit was near: \
                         somebody else sent SIGKILL",
                    zh: "期间内核{zh}没有记录到因内存不足的杀进程，也没有接近任何上限：SIGKILL 另有来源"
                ),
            )
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

/// Most of what the job's group came to hold stands in files, which are nobody's memory and of which `ps` shows nothing.
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

/// The machine was full, and mostly of what is not the job's.
fn others(timeline: &Timeline) -> Option<Reading> {
    timeline.fullest(Quantity::Host).filter(|share| *share >= FULL)?;
    let (host, job) = (timeline.curve(Quantity::Host)?.peak()?, timeline.curve(Quantity::Job)?);
    let of_job = job.at(host.at)?.bytes;
    let rest = host.bytes.saturating_sub(of_job);
    if rest < host.bytes / 2 || rest < 2 * of_job {
        return None;
    }
    let (all, own, others) = (Bytes(host.bytes), Bytes(of_job), Bytes(rest));
    Some(Reading::new(
        "others",
        text!(
            en: "of {all} in use on the machine the job held {own}: {others} belonged to others",
            zh: "整机已用 {all}，其中作业占 {own}，其余 {others} 属于其他进程"
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

/// One forked child that came to hold for itself what it had shared with its parent.
fn forked_copy(timeline: &Timeline) -> Option<Reading> {
    let mut workers = timeline.processes.values().filter(|process| process.worker);
    let (Some(child), None) = (workers.next(), workers.next()) else { return None };
    let parent = timeline.processes.get(&child.parent)?;
    let forked = child.curve.points.first()?.at;
    // What belongs to whom is read seldom, as the kernel goes through all pages for it: the group's figure has it all.
    let of = [Quantity::Cgroup, Quantity::Job].into_iter().find_map(|quantity| timeline.curve(quantity))?;
    let (before, peak) = (of.at(forked)?, of.peak()?);
    let held = parent.curve.at(forked).or(parent.curve.points.first().copied())?.bytes;
    let added = peak.bytes.saturating_sub(before.bytes);
    // More than a copy of all that there was is not copied.
    let copies = peak.at > forked && added as f64 >= ADDED_BY_COPIES * held as f64 && added <= held + held / 4;
    let (pid, at, added, held) = (child.pid, seconds(forked), Bytes(added), Bytes(held));
    (copies && held.0 >= WORTH_TELLING).then(|| {
        Reading::new(
            "forked-copy",
            text!(
                en: "process {pid} was forked after {at} from one that held {held}; {added} came on top since: pages \
                     that a fork shares are copied when either of the two writes to them",
                zh: "进程 {pid} 在 {at} 后由占用 {held} 的进程 fork 而来，此后又增加了 {added}：fork 共享的页在任一方写入\
                     时会被复制"
            ),
        )
    })
}

fn course(incident: &Incident, timeline: &Timeline) -> Option<Reading> {
    let curve = timeline.curve(Quantity::Job)?;
    let largest = timeline.largest_process()?;
    let locked = locked(timeline, curve);
    let (pid, name) = (largest.pid, &largest.name);
    let process = Text::new(
        format!(", most of it process {pid} ({name}){}", locked.en),
        format!("，主要是进程 {pid}（{name}）{}", locked.zh),
    );
    let course = curve.course()?;
    if course != Course::Steady {
        return rise(timeline, curve, course, false, &text!(en: "the job", zh: "作业"), &process);
    }
    let held = Bytes(curve.peak()?.bytes);
    let killed = incident.event.has(Sign::KilledWithProof) || incident.event.has(Sign::KilledWithoutProof);
    Some(if killed {
        Reading::new(
            "steady",
            text!(en: "the job held {held} and did not grow before it died", zh: "作业占用 {held}，死亡前没有增长"),
        )
    } else {
        Reading::new(
            "refused-at-once",
            text!(
                en: "the job held {held} and did not grow: what was refused was asked for at once",
                zh: "作业占用 {held} 且没有增长：被拒绝的是一次性申请"
            ),
        )
    })
}

/// `; 480 MiB of it page-locked`, where that is most of what was added.
fn locked(timeline: &Timeline, job: &Curve) -> Text {
    let risen = |curve: &Curve| {
        let (first, peak) = (curve.points.first()?, job.peak()?);
        Some(curve.at(peak.at)?.bytes.saturating_sub(first.bytes))
    };
    // None of it is no curve at all, which then begins with what was locked first.
    let of_locked = timeline.curve(Quantity::Locked).and_then(|curve| curve.peak()).map_or(0, |peak| peak.bytes);
    let before = timeline.curve(Quantity::Locked).and_then(|curve| curve.points.first()).map_or(0, |first| {
        if first.at > job.points.first().map_or(0.0, |first| first.at) + 0.05 { 0 } else { first.bytes }
    });
    let of_locked = of_locked.saturating_sub(before);
    if of_locked < WORTH_TELLING || (of_locked as f64) < MOSTLY * risen(job).unwrap_or(u64::MAX) as f64 {
        return Text::default();
    }
    let locked = Bytes(of_locked);
    text!(
        en: "; {locked} were page-locked meanwhile (mlock, pinned buffers), which nothing can move out",
        zh: "；期间有 {locked} 被锁页（mlock、固定缓冲区），无法换出"
    )
}

/// What swap and the kernel's measure of waiting say.
pub const PRESSURE: Mechanism = Mechanism {
    id: "watched-pressure",
    levels: &["swapped", "stalled"],
    read: |incident| {
        let timeline = incident.observed.as_deref()?;
        if asker(incident) != Asker::Host {
            return None;
        }
        let waited: f64 = timeline.stalled_of_last(LATELY);
        let share = percent(waited);
        let swap = timeline.curve(Quantity::Swap).and_then(|swap| Some((swap.points.first()?, swap.peak()?)));
        let swapped = swap.map(|(first, peak)| (peak.bytes.saturating_sub(first.bytes), peak.bytes));
        let held = timeline.curve(Quantity::Job).and_then(|job| job.peak()).map_or(0, |peak| peak.bytes);
        if let Some((risen, used)) = swapped.filter(|(risen, _)| *risen >= WORTH_TELLING.max(held / 10)) {
            let (risen, used) = (Bytes(risen), Bytes(used));
            let all = Bytes(timeline.header.swap_size.unwrap_or(0));
            return Some(Reading::new(
                "swapped",
                text!(
                    en: "{risen} were moved out to swap meanwhile ({used} of {all} in use), and in the last 10 s \
                         everything waited for memory {share} of the time",
                    zh: "期间有 {risen} 被换出到交换空间（{all} 中已用 {used}），最后 10 秒中有 {share} 的时间所有任务都\
                         在等待内存"
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

/// A rise or climb in words; `None` where it was steady.
fn rise(
    timeline: &Timeline,
    curve: &Curve,
    course: Course,
    on_device: bool,
    who: &Text,
    process: &Text,
) -> Option<Reading> {
    let (from, to) = match course {
        Course::Rose { from, to, .. } | Course::Climbed { from, to } => (from, to),
        Course::Steady => return None,
    };
    // What a program holds while it starts is no level that its steps had.
    let started = from.bytes as f64 >= STARTED * to.bytes as f64;
    if matches!(course, Course::Climbed { .. }) && !started && (on_device || to.at - from.at > AT_ONCE) {
        return None;
    }
    let (start, end, lasted) = (Bytes(from.bytes), Bytes(to.bytes), to.at - from.at);
    let steps = per_step(timeline, curve, from.at, to.at);
    let level = match course {
        _ if !steps.is_empty() => "rose-over-steps",
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
    Some(Reading::new(
        level,
        Text::new(
            format!("{} {en} within {time}{}{}", who.en, steps.en, process.en),
            format!("{}在 {time} 内{zh}{}{}", who.zh, steps.zh, process.zh),
        ),
    ))
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
    courses.find_map(|(curve, course)| rise(timeline, curve, course, true, &who, &Text::default()))
}
