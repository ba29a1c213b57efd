//! On which device the load sits.

use super::{Mechanism, Reading};
use crate::cause::nature::on_gpu;
use crate::cause::reading::{foreign, size};
use crate::evidence::Span;
use crate::incident::Incident;
use crate::incident::context::Clue;
use crate::input::gpu_tables::GpuRow;
use crate::text;
use crate::units::{Bytes, GIB, percent};

/// So many processes with ids in a row are started by one launcher. Whether by this job's is another matter: without a
/// line of it they may be a neighbour's.
const STARTED_TOGETHER: u64 = 5;

/// Shares of a device that is as good as full, and of one that has as much room as it uses.
const BRIM: f64 = 0.95;
const HALF: f64 = 0.5;

/// True where what the other processes hold is a part of the device that matters, or is not told: in some containers
/// the driver counts 0 for each of them.
fn weigh(incident: &Incident) -> bool {
    let others = incident.event.facts.other_processes.iter();
    let others = others.filter(|other| Some(other.pid) != incident.ledger.self_listed_as);
    let held: u64 = others.map(|other| other.figure.bytes).sum();
    let all = incident.ledger.capacity.map_or(0, |all| all.middle());
    held == 0 || i128::from(held) * 10 >= all
}

/// Ranks that share a device which is not theirs.
pub const RANKS: Mechanism = Mechanism {
    id: "ranks-on-one-device",
    levels: &[
        "several-load",
        "others-hold-what-is-missing",
        "on-the-first",
        "ids-in-a-row",
        "gathers",
        "unequal-devices",
    ],
    read: |incident| {
        if !on_gpu(incident) {
            return None;
        }
        let context = &incident.context;
        let device = incident.event.facts.device.value();
        if let Some(span) = context.clues.get(&Clue::UnequalDevices) {
            let text = text!(
                en: "the framework warns that the devices are unequal: each gets the same share of a batch, whatever \
                     it has",
                zh: "框架警告各设备显存不均：每个设备分到同样大小的批，与其容量无关"
            );
            return Some(Reading::new("unequal-devices", text).at(*span));
        }
        if let Some(span) = context.clues.get(&Clue::RanksOnOneDevice) {
            if let Some(others) = foreign(incident).filter(|others| others.would_serve && others.sure_share >= 0.15) {
                let (amount, part) = (size(others.amount), percent(others.share));
                return Some(
                    Reading::new(
                        "others-hold-what-is-missing",
                        text!(
                            en: "several processes of this job have memory on this one device, and {amount} of it \
                                 (computed; {part}) are not this one's: without them there was room for this request",
                            zh: "本任务的多个进程都占用这同一个设备，其中 {amount}（计算值，{part}）不属于本进程：\
                                 没有它们就放得下这次请求"
                        ),
                    )
                    .at(*span),
                );
            }
            return Some(
                Reading::new(
                    "several-load",
                    text!(
                        en: "several processes of this job have memory on this one device",
                        zh: "本任务的多个进程都占用这同一个设备"
                    ),
                )
                .at(*span),
            );
        }
        if let (Some(0), Some(rank)) = (device, context.rank.value().or(incident.event.rank))
            && rank > 0
            && context.visible_devices.get().is_none_or(|list| list.contains(','))
        {
            return Some(
                Reading::new(
                    "on-the-first",
                    text!(
                        en: "rank {rank} failed on GPU 0, which is rank 0's",
                        zh: "rank {rank} 在 GPU 0 上失败，而 GPU 0 属于 rank 0"
                    ),
                )
                .at(incident.event.at),
            );
        }
        if incident.event.lists_ids_in_a_row(STARTED_TOGETHER) && weigh(incident) {
            let count = incident.event.facts.other_processes.len();
            let text = text!(
                en: "the ids of the {count} other processes follow on one another: one launcher started them all on \
                     this device",
                zh: "另外 {count} 个进程的 pid 连续：由同一个启动器在该设备上启动"
            );
            return Some(Reading::new("ids-in-a-row", text).at(incident.event.at));
        }
        let span = context.clues.get(&Clue::DataParallel).filter(|_| device == Some(0))?;
        Some(
            Reading::new(
                "gathers",
                text!(
                    en: "one process for all devices gathers on GPU 0, which therefore fills first",
                    zh: "单进程多卡在 GPU 0 上汇总，因此它最先占满"
                ),
            )
            .at(*span),
        )
    },
};

/// A full device beside idle ones in a printed table or on one line.
pub const IDLE_NEIGHBOURS: Mechanism = Mechanism {
    id: "idle-neighbours",
    levels: &["idle", "all-idle-at-first", "others-share-the-first", "uneven"],
    read: |incident| {
        if !on_gpu(incident) {
            return None;
        }
        let failing = incident.event.facts.device.value();
        if let Some((line, cards)) = &incident.context.cards {
            let most = cards.iter().map(|card| card.1).fold(0.0, f64::max);
            let idle = cards.iter().filter(|card| card.1 < most * 0.1 && Some(card.0) != failing).count();
            let (level, text) = if most >= GIB as f64 && idle > 0 {
                (
                    "idle",
                    text!(
                        en: "{idle} other devices stand idle on the last line that names them",
                        zh: "最后一行设备读数中，另有 {idle} 个设备空闲"
                    ),
                )
            } else if most < GIB as f64 {
                let count = cards.len();
                (
                    "all-idle-at-first",
                    text!(
                        en: "the program names {count} devices, all of them empty then, and fails on one",
                        zh: "程序列出 {count} 个设备，当时全部空闲，却在其中一个上失败"
                    ),
                )
            } else {
                return None;
            };
            return Some(Reading::new(level, text).at(Span::line(*line)));
        }
        if let Some(span) = incident.context.clues.get(&Clue::SeveralDevices)
            && failing == Some(0)
            && incident.event.facts.other_processes.len() >= 2
        {
            return Some(
                Reading::new(
                    "others-share-the-first",
                    text!(
                        en: "the program sees several devices, and several processes share GPU 0",
                        zh: "程序可见多个设备，而多个进程共用 GPU 0"
                    ),
                )
                .at(*span),
            );
        }
        let rows = &incident.context.gpus;
        let full = |row: &GpuRow| row.used.bytes > row.total.bytes / 10 * 8;
        let failing = match incident.event.facts.device.value() {
            Some(device) => rows.iter().find(|row| row.index == device)?,
            None => rows.iter().find(|row| full(row))?,
        };
        let Some(idle) = rows.iter().find(|row| row.index != failing.index && row.used.bytes < row.total.bytes / 10)
        else {
            return uneven(failing, rows);
        };
        full(failing).then(|| {
            let (device, index) = (failing.index, idle.index);
            Reading::new(
                "idle",
                text!(
                    en: "GPU {device} is full while GPU {index} is idle",
                    zh: "GPU {device} 已满，而 GPU {index} 空闲"
                ),
            )
            .at(failing.used.at)
            .at(idle.used.at)
        })
    },
};

/// A device that is full to the brim beside one that is at most half so: what was split over them was split unevenly.
fn uneven(failing: &GpuRow, rows: &[GpuRow]) -> Option<Reading> {
    let used = |row: &GpuRow| row.used.bytes as f64 / row.total.bytes.max(1) as f64;
    let others = || rows.iter().filter(|row| row.index != failing.index);
    let emptier = others().find(|row| used(row) <= HALF)?;
    let (full, half) = (Bytes(failing.used.bytes), Bytes(emptier.used.bytes));
    let (device, index) = (failing.index, emptier.index);
    (used(failing) >= BRIM).then(|| {
        Reading::new(
            "uneven",
            text!(
                en: "{full} of GPU {device} are in use, and only {half} of GPU {index}",
                zh: "GPU {device} 已用 {full}，而 GPU {index} 只用了 {half}"
            ),
        )
        .at(failing.used.at)
        .at(emptier.used.at)
    })
}

/// A device was chosen, and the one in use is full of others' memory.
pub const CHOSEN: Mechanism = Mechanism {
    id: "chosen-device",
    levels: &["another-meant", "taken-by-others"],
    read: |incident| {
        if let Some(found) = another_meant(incident) {
            return Some(found);
        }
        let list = incident.context.visible_devices.get()?;
        (on_gpu(incident) && foreign(incident).is_some_and(|others| others.share >= 0.5)).then(|| {
            Reading::new(
                "taken-by-others",
                text!(
                    en: "a device was chosen on purpose ({list}), yet the one in use was full of others' memory",
                    zh: "已指定设备（{list}），但实际使用的设备被其他进程占满"
                ),
            )
            .seen(&incident.context.visible_devices)
        })
    },
};

/// One device is asked for by its number among those visible, and the failure is on another. Ranks of one job each
/// have their own, and where several are asked for, parts of the program or processes of the job have theirs.
fn another_meant(incident: &Incident) -> Option<Reading> {
    let context = &incident.context;
    let used = incident.event.facts.device.value()?;
    let (meant, at) = context.meant_devices.first_key_value().filter(|_| context.meant_devices.len() == 1)?;
    let one_process = incident.event.rank.is_none()
        && context.world_size.value().is_none_or(|all| all <= 1)
        && !context.visible_devices.is_known();
    (one_process && *meant != used).then(|| {
        Reading::new(
            "another-meant",
            text!(
                en: "cuda:{meant} is asked for, and it failed on GPU {used}",
                zh: "要求使用 cuda:{meant}，却在 GPU {used} 上失败"
            ),
        )
        .at(*at)
    })
}

#[cfg(test)]
mod tests {
    use super::super::level;
    use super::*;
    use crate::cause::trial::{figure, torch, torch_among};
    use crate::dialect::Fact;

    #[test]
    fn ranks_and_gathering() {
        let mut incident = torch(&[]);
        incident.event.facts.device.note(0, Span::line(7));
        incident.context.clues.insert(Clue::DataParallel, Span::line(2));
        assert_eq!(level(&RANKS, &incident), Some("gathers"));
        incident.event.rank = Some(3);
        assert_eq!(level(&RANKS, &incident), Some("on-the-first"));
        incident.context.clues.insert(Clue::RanksOnOneDevice, Span::line(2));
        assert_eq!(level(&RANKS, &incident), Some("several-load"));
    }

    #[test]
    fn ids_in_a_row_are_one_launchers() {
        let figures = [(Fact::Requested, "1.00 GiB"), (Fact::Capacity, "40.00 GiB"), (Fact::Free, "20.00 MiB")];
        let row = |each| [11, 12, 13, 14, 15].map(|pid| (pid, each));
        let told = |others: &[(u64, &'static str)]| level(&RANKS, &torch_among(&figures, others));
        assert_eq!(told(&row("7.00 GiB")), Some("ids-in-a-row"));
        assert_eq!(told(&row("0 bytes")), Some("ids-in-a-row"), "the driver tells nothing in a container");
        assert_eq!(told(&row("398.00 MiB")), None, "contexts are not what fills it");
        assert_eq!(told(&row("7.00 GiB")[..3]), None, "three may be a neighbour's");
        assert_eq!(told(&[11, 912, 1813, 2714, 3615].map(|pid| (pid, "7.00 GiB"))), None);
    }

    #[test]
    fn an_idle_device_in_the_table() {
        let row = |index, used| GpuRow {
            index,
            name: None,
            used: figure(used),
            total: figure("24.00 GiB"),
            utilization: None,
            processes: Vec::new(),
        };
        let mut incident = torch(&[]);
        incident.context.gpus = vec![row(0, "23.00 GiB"), row(1, "0.20 GiB")];
        assert_eq!(level(&IDLE_NEIGHBOURS, &incident), Some("idle"));
        incident.context.gpus = vec![row(0, "23.70 GiB"), row(1, "8.00 GiB")];
        assert_eq!(level(&IDLE_NEIGHBOURS, &incident), Some("uneven"));
        incident.context.gpus = vec![row(0, "23.00 GiB"), row(1, "20.00 GiB")];
        assert_eq!(level(&IDLE_NEIGHBOURS, &incident), None);
    }

    #[test]
    fn a_chosen_device_that_others_fill() {
        let mut incident = torch_among(
            &[
                (Fact::Requested, "1.00 GiB"),
                (Fact::Capacity, "20.00 GiB"),
                (Fact::Free, "100.00 MiB"),
                (Fact::Process, "1.00 GiB"),
                (Fact::Allocated, "500.00 MiB"),
            ],
            &[(9, "18.00 GiB")],
        );
        incident.context.visible_devices.note("3".into(), Span::line(1));
        assert_eq!(level(&CHOSEN, &incident), Some("taken-by-others"));
    }

    #[test]
    fn another_device_was_asked_for() {
        let mut incident = torch(&[]);
        incident.event.facts.device.note(0, Span::line(7));
        incident.context.meant_devices.insert(3, Span::line(9));
        assert_eq!(level(&CHOSEN, &incident), Some("another-meant"));
        incident.event.rank = Some(0);
        assert_eq!(level(&CHOSEN, &incident), None, "each rank has its own");
        incident.event.rank = None;
        incident.context.meant_devices.insert(0, Span::line(11));
        assert_eq!(level(&CHOSEN, &incident), None, "each part has its own");
    }

    #[test]
    fn devices_on_one_line_show_which_are_idle() {
        let gib = |gib: u64| (gib * GIB) as f64;
        let mut incident = torch(&[]);
        incident.event.facts.device.note(0, Span::line(7));
        incident.context.cards = Some((5, vec![(0, gib(12)), (1, 0.0)]));
        assert_eq!(level(&IDLE_NEIGHBOURS, &incident), Some("idle"));
        incident.context.cards = Some((5, vec![(0, gib(12)), (1, gib(11))]));
        assert_eq!(level(&IDLE_NEIGHBOURS, &incident), None);
        incident.context.cards = Some((5, vec![(0, 0.0), (1, 0.0)]));
        assert_eq!(level(&IDLE_NEIGHBOURS, &incident), Some("all-idle-at-first"));
    }
}
