//! What others hold.

use super::pool::of_tensorflow_beside;
use super::{Mechanism, Reading};
use crate::account::identity::may_be_itself;
use crate::cause::nature::{Asker, asker, on_gpu};
use crate::cause::reading::{foreign, place, refused_although_free, short_of_desired, size};
use crate::dialect::Fact;
use crate::domain::Number;
use crate::incident::Incident;
use crate::input::gpu_tables::GpuRow;
use crate::text;
use crate::text::Text;
use crate::units::{Bytes, Figure, GIB, MIB, about, percent};

/// Memory of the device that is neither free nor this process's, against what was missing.
pub const SHARE: Mechanism = Mechanism {
    id: "strangers",
    levels: &["none", "not-enough", "some", "some-unnamed", "much", "much-unnamed", "most"],
    read: |incident| {
        if !on_gpu(incident) || refused_although_free(incident) {
            return None;
        }
        let others = foreign(incident)?;
        let named = others.separated && others.named.is_some();
        if !named && of_tensorflow_beside(incident, others.amount.middle_bytes()) {
            return None;
        }
        let level = match others.sure_share {
            s if s < 0.04 => "none",
            _ if !others.would_serve => "not-enough",
            s if s < 0.15 => {
                if named {
                    "some"
                } else {
                    "some-unnamed"
                }
            }
            s if s < 0.45 => {
                if named {
                    "much"
                } else {
                    "much-unnamed"
                }
            }
            _ => "most",
        };
        // What the message names is told with its own figures: the little that it leaves unexplained is their rounding.
        let of_names = others.named.filter(|named| (others.amount - *named).middle() * 20 <= named.middle());
        let told = of_names.filter(|_| named).unwrap_or(others.amount);
        let (amount, part) = (size(told), percent(incident.ledger.share(Some(told)).unwrap_or(others.share)));
        // "Free" is read after the failure: where it is more than was asked for, what was missing is not told.
        // And what is no more than its rounding was not missing.
        let least = incident.ledger.requested.map_or(0, |requested| requested.middle() / 100);
        let short = incident.ledger.short_of_free.or(short_of_desired(incident));
        let short = short.filter(|short| short.middle() > least);
        let missing = short.map(about);
        let missing =
            missing.map(|short| text!(en: "; {short} were missing (computed)", zh: "；缺口为 {short}（计算值）"));
        let Text { en: missing, zh: missing_zh } = missing.unwrap_or_default();
        let text = match (level, others.separated) {
            ("none", _) => {
                text!(
                    en: "other processes hold at most {amount} (computed), {part} of the device",
                    zh: "其他进程最多占用 {amount}（计算值），为设备的 {part}"
                )
            }
            ("not-enough", _) => {
                text!(
                    en: "what others hold, {amount} (computed), would not have been enough{missing}",
                    zh: "其他进程占用的 {amount}（计算值）即使释放也不够{missing_zh}"
                )
            }
            (_, true) if named => {
                text!(
                    en: "other processes hold {amount} in all, {part} of the device{missing}",
                    zh: "其他进程合计占用 {amount}，为设备的 {part}{missing_zh}"
                )
            }
            (_, true) => {
                text!(
                    en: "{amount} (computed; {part} of the device) belong to nobody the message names: neither free \
                         nor this process{missing}",
                    zh: "{amount}（计算值，设备的 {part}）既非空闲也不属于本进程，报错未说明归属{missing_zh}"
                )
            }
            (_, false) => {
                text!(
                    en: "beyond a usual context, {amount} (computed; {part} of the device) are neither free nor held \
                         by the framework{missing}",
                    zh: "除常规上下文外，还有 {amount}（计算值，设备的 {part}）既非空闲也不由框架持有{missing_zh}"
                )
            }
        };
        let mut reading = Reading::new(level, text).at(place(&incident.event, Fact::Free));
        for other in &incident.event.facts.other_processes {
            reading = reading.at(other.figure.at);
        }
        Some(reading)
    },
};

/// No CUDA context with PyTorch's kernels takes less.
const CONTEXT: u64 = 200 * MIB;

/// Two or more named processes that hold the same: ranks of one job on one device.
pub const LIKE_SIZED: Mechanism = Mechanism {
    id: "like-sized-processes",
    levels: &["ranks", "contexts"],
    read: |incident| {
        let others: Vec<_> = incident
            .event
            .facts
            .other_processes
            .iter()
            .filter(|other| Some(other.pid) != incident.ledger.self_listed_as)
            .collect();
        let most = others.iter().map(|other| other.figure.bytes).max()?;
        let least = others.iter().map(|other| other.figure.bytes).min()?;
        let (count, each) = (others.len(), Bytes(most));
        // A context alone takes as much in each process of one program: several of them are its ranks, which made one
        // on the first device before each chose its own.
        let contexts = count >= 3 && most < GIB && least >= CONTEXT && most - least <= 2 * MIB;
        // More than a bare context each, and equal within a twentieth.
        let loads = count >= 2 && least >= GIB && most - least <= most / 20;
        let (level, text) = match (loads, contexts) {
            (true, _) => (
                "ranks",
                text!(
                    en: "{count} other processes of about {each} each sit on this device: ranks of one job that all \
                         took the same one",
                    zh: "该设备上另有 {count} 个各约 {each} 的进程：同一任务的多个 rank 占用了同一个设备"
                ),
            ),
            (_, true) => (
                "contexts",
                text!(
                    en: "{count} other processes hold {each} each on this device, no more than a context: ranks of \
                         one job that touched it before they took their own",
                    zh: "该设备上另有 {count} 个进程各占 {each}，仅为一个上下文：同一任务的多个 rank 在选定自己的设备\
                         前先碰了它"
                ),
            ),
            _ => return None,
        };
        let mut reading = Reading::new(level, text);
        for other in others {
            reading = reading.at(other.figure.at);
        }
        Some(reading)
    },
};

/// A pool below this was made of left-overs: frameworks that take a pool at start take most of what is free, and the
/// GPUs that they run on have 1 GiB and more.
pub(super) const LEFT_OVERS: u64 = 640 * MIB;

/// The framework's first request, on a device that was already full.
pub const FIRST_REQUEST: Mechanism = Mechanism {
    id: "first-request",
    levels: &["device-taken", "pool-of-left-overs", "pool-below-its-limit"],
    read: |incident| {
        let event = &incident.event;
        if event.facts.get(Fact::Allocated).is_some_and(|figure| figure.bytes == 0)
            && foreign(incident).is_some_and(|others| {
                others.share > 0.3 && !of_tensorflow_beside(incident, others.amount.middle_bytes())
            })
        {
            return Some(
                Reading::new(
                    "device-taken",
                    text!(
                        en: "the framework had 0 bytes allocated: this was its first request",
                        zh: "框架已分配 0 字节：这是它的第一次请求"
                    ),
                )
                .at(place(event, Fact::Allocated)),
            );
        }
        if asker(incident) != Asker::PooledTensor {
            return None;
        }
        let limit = event.facts.get(Fact::Limit)?;
        if limit.bytes < LEFT_OVERS && event.facts.get(Fact::Capacity).is_none() {
            let pool = Bytes(limit.bytes);
            return Some(
                Reading::new(
                    "pool-of-left-overs",
                    text!(
                        en: "the pool was given {pool} at start, a sliver of any GPU: it is made of what the others \
                             left over",
                        zh: "内存池启动时只分到 {pool}，远小于任何 GPU：这是其他进程占用后的剩余"
                    ),
                )
                .at(limit.at),
            );
        }
        // A map of what the pool has from the device, in which no place is free: it holds what is in use.
        let full = event.facts.numbers.get(&Number::LongestFreeRunPercent).is_some_and(|(run, _)| *run == 0.0);
        let pool = incident.ledger.reserved.or(incident.ledger.allocated.filter(|_| full))?;
        let requested = incident.ledger.requested?;
        (limit.interval() - pool).surely_at_least(requested).then(|| {
            let (limit_size, pool, want) = (size(limit.interval()), size(pool), size(requested));
            Reading::new(
                "pool-below-its-limit",
                text!(
                    en: "the pool held {pool} of the {limit_size} it may take, yet could not grow by {want}: the \
                         device itself was full",
                    zh: "内存池上限 {limit_size}，只持有 {pool}，却无法再增长 {want}：设备本身已满"
                ),
            )
            .at(limit.at)
        })
    },
};

/// A printed table of the device lists a process that is not this one.
pub const NEIGHBOUR_LISTED: Mechanism = Mechanism {
    id: "neighbour-listed",
    levels: &["another-process", "same-program"],
    read: |incident| {
        let rows = &incident.context.gpus;
        let row = match (incident.event.facts.device.value(), rows.as_slice()) {
            (Some(device), _) => rows.iter().find(|row| row.index == device)?,
            (None, [row]) => return same_program(row).filter(|_| on_gpu(incident)),
            _ => return None,
        };
        if let Some(reading) = same_program(row) {
            return Some(reading);
        }
        let (pid, name, held) = row.processes.iter().find(|(pid, _, held)| {
            let held = held.map(|figure| figure.interval());
            !may_be_itself(&incident.event, &incident.ledger, *pid, held)
        })?;
        let holder = name.clone().map_or_else(|| format!("pid {pid}"), |name| format!("{name} (pid {pid})"));
        let (used, index) = (Bytes(row.used.bytes), row.index);
        let reading = Reading::new(
            "another-process",
            text!(
                en: "a table of GPUs in the log lists {holder} on GPU {index}, where {used} are used",
                zh: "日志中的 GPU 表显示 GPU {index} 已用 {used}，其上有 {holder}"
            ),
        )
        .at(row.used.at);
        Some(held.iter().fold(reading, |reading, held| reading.at(held.at)))
    },
};

/// A process that holds less than this share of its device is a context or a screen's.
const WORTH_NAMING: u64 = 20;

/// One program that is listed more than once on a device: its ranks, workers or servers share it. In seven of seven
/// such reports that failed for want of memory, somebody else's share, a wrong device or a second copy was the cause.
fn same_program(row: &GpuRow) -> Option<Reading> {
    let large = |held: &Option<Figure>| held.is_some_and(|held| held.bytes >= row.total.bytes / WORTH_NAMING);
    let named = || {
        row.processes
            .iter()
            .filter(|(_, _, held)| large(held))
            .filter_map(|(_, name, held)| Some((name.as_ref()?, (*held)?)))
    };
    let (name, count) = named()
        .map(|(name, _)| (name, named().filter(|(other, _)| *other == name).count()))
        .find(|(_, count)| *count >= 2)?;
    let index = row.index;
    let reading = Reading::new(
        "same-program",
        text!(
            en: "a table of GPUs in the log lists {name} {count} times on GPU {index}: they share its memory",
            zh: "日志中的 GPU 表显示 GPU {index} 上有 {count} 个 {name} 进程：它们共用该设备的显存"
        ),
    );
    Some(named().filter(|(other, _)| *other == name).fold(reading, |reading, (_, held)| reading.at(held.at)))
}

/// Of a device this share is another's where it is held when the job has ended; and this one is what a driver and a
/// desktop's screen take.
const HELD: u64 = 2;
const IDLE: u64 = 12;
/// Of a device so many tenths, which leave no room for a job.
const FULL: u64 = 9;

/// What a device's tool showed, asked at the prompt when the job had ended: what is in use then is somebody else's, a
/// leftover process of an earlier run included.
pub const AFTERWARDS: Mechanism = Mechanism {
    id: "device-afterwards",
    levels: &["held", "empty", "full"],
    read: |incident| {
        let asked = incident.context.origin.asked_afterwards?;
        let rows = &incident.context.gpus;
        if rows.is_empty() && on_gpu(incident) {
            return listed_afterwards(incident, asked);
        }
        let row = match (incident.event.facts.device.value(), &rows[..]) {
            (None, [row]) => row,
            (device, _) => rows.iter().find(|row| Some(row.index) == device)?,
        };
        if !on_gpu(incident) || row.used.at.first < asked {
            return None;
        }
        let (used, total, index) = (row.used.bytes, row.total.bytes, row.index);
        // Beside what the failed process itself held, that much had no room: it was taken later, or not all had ended.
        let own = incident.ledger.reserved.or(incident.ledger.allocated).map_or(0, |own| own.low.max(0));
        if own + i128::from(used) > i128::from(total) {
            return None;
        }
        let (shown, all) = (Bytes(used), Bytes(total));
        let reading = match () {
            () if used >= total / 10 * FULL => Reading::new(
                "full",
                text!(
                    en: "{shown} of {all} were in use on GPU {index} when the job had ended: no room for one",
                    zh: "任务结束后 GPU {index} 仍有 {shown}（共 {all}）被占用：放不下任何任务"
                ),
            ),
            () if used >= total / HELD => Reading::new(
                "held",
                text!(
                    en: "{shown} of {all} were in use on GPU {index} when the job had ended",
                    zh: "任务结束后 GPU {index} 仍有 {shown}（共 {all}）被占用"
                ),
            ),
            () if used <= total / IDLE => Reading::new(
                "empty",
                text!(
                    en: "only {shown} of {all} were in use on GPU {index} when the job had ended",
                    zh: "任务结束后 GPU {index} 只占用 {shown}（共 {all}）"
                ),
            ),
            () => return None,
        };
        Some(reading.at(row.used.at))
    },
};

/// The same by a list of processes of which the devices' rows were left out.
fn listed_afterwards(incident: &Incident, asked: u64) -> Option<Reading> {
    let listed = || incident.context.loose_processes.iter().filter(|listed| listed.line >= asked && listed.numbered);
    let index = listed().next()?.gpu;
    let device = incident.event.facts.device.value();
    if device.unwrap_or(index) != index || device.is_none() && listed().any(|other| other.gpu != index) {
        return None;
    }
    let on_it = || listed().filter(|listed| listed.gpu == index).filter_map(|listed| listed.held);
    let (sum, count) = (on_it().map(|held| held.bytes).sum::<u64>(), on_it().count());
    // A desktop's screen and its programs take less.
    if sum < 2 * GIB {
        return None;
    }
    let sum = Bytes(sum);
    let text = match count {
        1 => text!(
            en: "a process held {sum} on GPU {index} when the job had ended",
            zh: "任务结束后 GPU {index} 上仍有进程占用 {sum}"
        ),
        _ => text!(
            en: "{count} processes held {sum} together (computed) on GPU {index} when the job had ended",
            zh: "任务结束后 GPU {index} 上仍有 {count} 个进程，共占用 {sum}（计算值）"
        ),
    };
    Some(on_it().fold(Reading::new("held", text), |reading, held| reading.at(held.at)))
}

#[cfg(test)]
mod tests {
    use super::super::level;
    use super::*;
    use crate::cause::trial::{event, figure, settled, torch, torch_among};
    use crate::dialect::Resource;
    use crate::domain::Program;

    #[test]
    fn strangers_by_share_and_by_what_was_missing() {
        let named = |others| {
            torch_among(
                &[
                    (Fact::Requested, "400.00 MiB"),
                    (Fact::Capacity, "20.00 GiB"),
                    (Fact::Free, "100.00 MiB"),
                    (Fact::Process, "5.00 GiB"),
                    (Fact::Allocated, "4.50 GiB"),
                    (Fact::ReservedUnallocated, "50.00 MiB"),
                ],
                others,
            )
        };
        assert_eq!(level(&SHARE, &named(&[(4, "14.80 GiB")])), Some("most"));
        let beside = |process, requested, others| {
            torch_among(
                &[
                    (Fact::Requested, requested),
                    (Fact::Capacity, "20.00 GiB"),
                    (Fact::Free, "100.00 MiB"),
                    (Fact::Process, process),
                    (Fact::Allocated, "4.50 GiB"),
                    (Fact::ReservedUnallocated, "50.00 MiB"),
                ],
                others,
            )
        };
        assert_eq!(level(&SHARE, &beside("14.00 GiB", "1.00 GiB", &[(4, "5.90 GiB")])), Some("much"));
        assert_eq!(level(&SHARE, &beside("18.00 GiB", "1.00 GiB", &[(4, "1.90 GiB")])), Some("some"));
        assert_eq!(level(&SHARE, &beside("18.00 GiB", "6.00 GiB", &[(4, "1.90 GiB")])), Some("not-enough"));
        assert_eq!(level(&SHARE, &beside("19.80 GiB", "1.00 GiB", &[])), Some("none"));
        let unnamed = |allocated| {
            torch(&[
                (Fact::Requested, "400.00 MiB"),
                (Fact::Capacity, "20.00 GiB"),
                (Fact::Free, "100.00 MiB"),
                (Fact::Allocated, allocated),
                (Fact::ReservedUnallocated, "50.00 MiB"),
            ])
        };
        assert_eq!(level(&SHARE, &unnamed("17.50 GiB")), Some("some-unnamed"));
        assert_eq!(level(&SHARE, &unnamed("14.00 GiB")), Some("much-unnamed"));
    }

    #[test]
    fn equal_processes_are_ranks() {
        let figures = [(Fact::Requested, "1.00 GiB"), (Fact::Capacity, "20.00 GiB")];
        assert_eq!(level(&LIKE_SIZED, &torch_among(&figures, &[(1, "4.00 GiB"), (2, "4.05 GiB")])), Some("ranks"));
        assert_eq!(level(&LIKE_SIZED, &torch_among(&figures, &[(1, "4.00 GiB"), (2, "9.00 GiB")])), None);
        let contexts = [(1, "398.00 MiB"), (2, "398.00 MiB"), (3, "398.00 MiB")];
        assert_eq!(level(&LIKE_SIZED, &torch_among(&figures, &contexts)), Some("contexts"));
        assert_eq!(level(&LIKE_SIZED, &torch_among(&figures, &contexts[..2])), None, "two may be anybody's");
    }

    #[test]
    fn the_first_request_finds_the_device_taken() {
        let none = torch(&[
            (Fact::Requested, "20.00 MiB"),
            (Fact::Capacity, "20.00 GiB"),
            (Fact::Free, "10.00 MiB"),
            (Fact::Allocated, "0 bytes"),
            (Fact::Reserved, "0 bytes"),
        ]);
        assert_eq!(level(&FIRST_REQUEST, &none), Some("device-taken"));
        let pool = |limit, reserved| {
            let mut event =
                event(Program::Tensorflow, Resource::Gpu, &[(Fact::Requested, "2.50 MiB"), (Fact::Limit, limit)]);
            event.facts.note(Fact::Reserved, figure(reserved));
            settled(event)
        };
        assert_eq!(level(&FIRST_REQUEST, &pool("8.30 MiB", "7.50 MiB")), Some("pool-of-left-overs"));
        assert_eq!(level(&FIRST_REQUEST, &pool("9.30 GiB", "2.00 GiB")), Some("pool-below-its-limit"));
        assert_eq!(level(&FIRST_REQUEST, &pool("9.30 GiB", "9.30 GiB")), None);
    }

    #[test]
    fn a_table_that_lists_another_process() {
        let mut incident = torch(&[(Fact::Requested, "1.00 GiB")]);
        incident.event.facts.device.note(0, crate::evidence::Span::line(7));
        incident.context.gpus.push(crate::input::gpu_tables::GpuRow {
            index: 0,
            name: None,
            used: figure("12.00 GiB"),
            total: figure("16.00 GiB"),
            utilization: None,
            processes: vec![(88, Some("python".into()), None)],
        });
        assert_eq!(level(&NEIGHBOUR_LISTED, &incident), Some("another-process"));
    }
}
