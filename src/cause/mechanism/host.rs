//! The memory of a machine, container or job.

use super::{Mechanism, Reading};
use crate::cause::nature::{Asker, asker};
use crate::cause::reading::size;
use crate::dialect::{Fact, Resource, Sign};
use crate::domain::Number;
use crate::evidence::Span;
use crate::incident::Incident;
use crate::text;
use crate::units::{Bytes, GIB, MIB, TIB, percent};

/// How sure it is that a lack of memory killed it.
pub const KILL: Mechanism = Mechanism {
    id: "kill",
    levels: &["proved", "bare"],
    read: |incident| {
        let event = &incident.event;
        if event.has(Sign::KilledWithProof) {
            return Some(
                Reading::new(
                    "proved",
                    text!(
                        en: "the log says that it was killed for lack of memory",
                        zh: "日志明确指出因内存不足而杀死进程"
                    ),
                )
                .at(event.at),
            );
        }
        event.has(Sign::KilledWithoutProof).then(|| {
            Reading::new(
                "bare",
                text!(
                    en: "the process died of SIGKILL without a word: most often the kernel's out-of-memory killer, but \
                         nothing here proves it",
                    zh: "进程被 SIGKILL 杀死且没有任何说明：多半是内核 OOM killer，但这里没有证据"
                ),
            )
            .at(event.at)
        })
    },
};

/// What the memory was bounded by.
pub const BOUND: Mechanism = Mechanism {
    id: "bound",
    levels: &["small-limit", "limit", "limit-unknown", "machine"],
    read: |incident| {
        let event = &incident.event;
        if asker(incident) != Asker::Host {
            return None;
        }
        let printed = event.facts.get(Fact::Limit).filter(|_| event.resource == Resource::Cgroup);
        if let Some(limit) = printed.or(incident.context.memory_limit.get().copied()) {
            let all = size(limit.interval());
            // Below this, importing a framework and loading one small model is all that fits.
            let level = if limit.bytes < 8 * GIB { "small-limit" } else { "limit" };
            return Some(
                Reading::new(
                    level,
                    text!(en: "the container or job may use {all} in all", zh: "该容器或作业总共只能使用 {all}"),
                )
                .at(limit.at),
            );
        }
        if event.resource == Resource::Cgroup {
            return Some(
                Reading::new(
                    "limit-unknown",
                    text!(
                        en: "the limit of a container or job was hit; the log does not say how large it is",
                        zh: "触及容器或作业的上限，但日志未给出其大小"
                    ),
                )
                .at(event.at),
            );
        }
        event.facts.get(Fact::Capacity).map(|all| {
            let size = size(all.interval());
            Reading::new("machine", text!(en: "the machine has {size} in all", zh: "整机内存为 {size}")).at(all.at)
        })
    },
};

/// The share of the bound that the killed process held, where the report tells. The kernel's score is that share in
/// thousandths (less an adjustment).
fn victim_share(incident: &Incident) -> Option<(f64, Span)> {
    let facts = &incident.event.facts;
    let by_table = facts.numbers.get(&Number::VictimShareOfLimit).map(|(share, at)| (*share, *at));
    let bound = facts.get(Fact::Limit).or(facts.get(Fact::Capacity)).map(|all| all.bytes as f64);
    let bound = bound.or_else(|| Some(incident.ledger.bound?.middle() as f64)).filter(|bound| *bound > 0.0);
    let held = facts.get(Fact::AnonRss).or(facts.get(Fact::Process));
    let by_kill = held.zip(bound).map(|(held, bound)| (held.bytes as f64 / bound, held.at));
    let by_score = facts
        .numbers
        .get(&Number::Score)
        // Schedulers of containers adjust every score: one that is not printed is nought only outside of them.
        .filter(|(score, _)| match facts.number(Number::OomScoreAdj) {
            Some(adjusted) => adjusted == 0.0,
            None => *score > 0.0 && incident.event.resource == Resource::Host,
        })
        .map(|(score, at)| (score / 1000.0, *at));
    // The table counts what was swapped out as well; the bar and the headline tell what was in RAM.
    let swapped = facts.number(Number::VictimSwap).is_some_and(|swap| swap > 0.0);
    by_kill.filter(|_| swapped).or(by_table).or(by_kill).or(by_score).filter(|(share, _)| (0.0..=1.2).contains(share))
}

/// What the killed process held of what binds.
pub const VICTIM: Mechanism = Mechanism {
    id: "victim",
    levels: &["bystander", "small", "part", "most", "most-of-machine", "constructor"],
    read: |incident| {
        let event = &incident.event;
        let facts = &event.facts;
        if asker(incident) != Asker::Host {
            return None;
        }
        // The kernel killed a task of a few percent of what another one holds: an adjustment of scores chose it. Before
        // Linux 5.1 a child dies in place of the task that was chosen; its own figures then say nothing.
        if let (Some(victim), Some((top, at)), Some(bound)) =
            (facts.get(Fact::AnonRss), facts.numbers.get(&Number::TableTopRss), incident.ledger.bound)
            && facts.number(Number::ChosenPid).is_none_or(|chosen| facts.pid.value() == Some(chosen as u64))
            && facts.number(Number::TableTopPid) != facts.pid.value().map(|pid| pid as f64)
            && facts.largest_process.get().is_some_and(|name| facts.process_name.get() != Some(name))
            && *top >= 0.3 * bound.middle() as f64
            && (victim.bytes as f64) < 0.1 * top
        {
            let (held, top) = (Bytes(victim.bytes), Bytes(*top as u64));
            let other = facts.largest_process.get().cloned().unwrap_or_default();
            return Some(
                Reading::new(
                    "bystander",
                    text!(
                        en: "the victim held only {held}, {other} holds {top}: it is a bystander",
                        zh: "被杀进程只占用 {held}，而 {other} 占用 {top}：它只是旁观者"
                    ),
                )
                .at(*at),
            );
        }
        let used = facts.get(Fact::Used).map(|figure| figure.bytes as f64).or_else(|| {
            let (all, free) = (facts.get(Fact::Capacity)?, facts.get(Fact::Free)?);
            Some(all.bytes.saturating_sub(free.bytes) as f64)
        });
        let held = facts.get(Fact::AnonRss).map(|rss| (rss.bytes as f64, rss.at));
        let held = held.or_else(|| facts.numbers.get(&Number::VictimRss).copied());
        if let (Some(used), Some((held, at))) = (used, held)
            && event.resource == Resource::Host
            && held < 0.03 * used
        {
            let (held, used) = (Bytes(held as u64), Bytes(used as u64));
            return Some(
                Reading::new(
                    "bystander",
                    text!(
                        en: "the victim held only {held} of {used} in use (computed): it is a bystander",
                        zh: "被杀进程只占用 {held}，而已用内存为 {used}（计算值）：它只是旁观者"
                    ),
                )
                .at(at),
            );
        }
        let (share, at) = victim_share(incident)?;
        let part = percent(share);
        let constructor = facts.process_name.get().is_some_and(|name| name.ends_with("__init__"));
        if constructor && share >= 0.7 {
            return Some(
                Reading::new(
                    "constructor",
                    text!(
                        en: "one constructor holds {part} of the limit, before any work has begun",
                        zh: "尚未开始工作，一个构造函数就占用上限的 {part}"
                    ),
                )
                .at(at),
            );
        }
        let level = match share {
            s if s < 0.15 => "small",
            s if s < 0.65 => "part",
            _ if event.resource == Resource::Host => "most-of-machine",
            _ => "most",
        };
        // A child may have died in the place of the one that was chosen.
        let pid = facts.pid.value().map(|pid| pid as f64);
        let stood_in = facts.number(Number::ChosenPid).is_some_and(|chosen| Some(chosen) != pid);
        Some(
            Reading::new(
                level,
                if stood_in {
                    text!(
                        en: "the process that the kernel chose held {part} of what there was",
                        zh: "内核选中的进程占用上限的 {part}"
                    )
                } else {
                    text!(en: "the process that died held {part} of what there was", zh: "被杀进程占用上限的 {part}")
                },
            )
            .at(at),
        )
    },
};

/// From here on a request is a shape, and no need.
const ABSURD: i128 = (TIB / 4) as i128;

/// How much was asked for at once.
pub const REQUEST: Mechanism = Mechanism {
    id: "host-request",
    levels: &[
        "a-few-pages",
        "padded-texts",
        "small",
        "gigabytes",
        "many-gigabytes",
        "data-of-gigabytes",
        "absurd",
        "exceeds-machine",
        "data-exceeds-machine",
        "need-exceeds-machine",
    ],
    read: |incident| {
        let event = &incident.event;
        if asker(incident) != Asker::Host {
            return None;
        }
        let requested = incident.ledger.requested?;
        let want = size(requested);
        let at = super::super::reading::place(event, Fact::Requested);
        if event.refuses_a_tiny_mapping() {
            let text = text!(
                en: "no more than {want} were to be mapped: where memory is left, it is the number of the process's \
                     mappings that ended (vm.max_map_count)",
                zh: "只需映射 {want}：若内存仍有余，则是该进程的映射数量已达上限（vm.max_map_count）"
            );
            return Some(Reading::new("a-few-pages", text).at(at));
        }
        if event.has(Sign::HeapCommit) || event.has(Sign::EngineStartup) {
            return None;
        }
        let printed = incident.ledger.capacity.filter(|_| !event.held_against_a_part());
        let machine = incident.context.host_total.get().map(|figure| figure.interval()).or(printed);
        if let Some(machine) = machine.filter(|machine| requested.low > machine.high) {
            let all = size(machine);
            if event.needs_in_all() {
                let text = text!(
                    en: "the program needs {want} by its own account; the machine has {all}",
                    zh: "程序自称需要 {want}，而机器只有 {all}"
                );
                return Some(Reading::new("need-exceeds-machine", text).at(at));
            }
            // An array that is as large as the data is no wrong shape.
            let data = incident.context.takes_in_data() && requested.middle() < ABSURD;
            return Some(
                Reading::new(
                    if data { "data-exceeds-machine" } else { "exceeds-machine" },
                    text!(
                        en: "{want} were asked for at once; the machine has {all}",
                        zh: "一次请求 {want}，而机器只有 {all}"
                    ),
                )
                .at(at)
                .seen(&incident.context.host_total),
            );
        }
        if event.needs_in_all() {
            return None;
        }
        if event.pads_texts() {
            let text = text!(
                en: "{want} for texts of a fixed width: each takes the room of the longest, four bytes a letter",
                zh: "定长文本数组共 {want}：每条文本都按最长的一条占用空间，每个字符四字节"
            );
            return Some(Reading::new("padded-texts", text).at(at));
        }
        // More samples than a large machine holds are as likely a mistake.
        let by_shape =
            !incident.context.takes_in_data() && requested.middle() < (128 * GIB) as i128 && event.stacks_samples();
        // Servers with more than 1 TiB of RAM are rare, so a request of that size is a shape, not a need.
        let level = match requested.middle() {
            bytes if bytes >= ABSURD => "absurd",
            bytes if bytes >= (8 * GIB) as i128 && (incident.context.takes_in_data() || by_shape) => {
                "data-of-gigabytes"
            }
            bytes if bytes >= (8 * GIB) as i128 => "many-gigabytes",
            bytes if bytes >= (3 * GIB / 2) as i128 => "gigabytes",
            _ => "small",
        };
        let last_straw = requested.middle() < (512 * MIB) as i128;
        let text = match level {
            "absurd" => {
                text!(
                    en: "{want} were asked for at once, more than almost any machine has",
                    zh: "一次请求 {want}，几乎超过任何机器的内存"
                )
            }
            "small" if last_straw => text!(
                en: "no more than {want} were asked for when it was refused: the rest was in use before",
                zh: "被拒绝时只请求了 {want}：其余内存此前已被占用"
            ),
            "data-of-gigabytes" if by_shape => text!(
                en: "{want} were asked for at once, by the shape for many samples one behind the other",
                zh: "一次请求 {want}，按形状是把许多样本排在一起"
            ),
            "data-of-gigabytes" => text!(
                en: "{want} were asked for at once, for data that is read or joined as a whole",
                zh: "一次请求 {want}，用于整体读入或拼接的数据"
            ),
            _ => text!(en: "{want} were asked for at once", zh: "一次请求 {want}"),
        };
        Some(Reading::new(level, text).at(at))
    },
};

/// What the largest processes listed hold of what is in use.
pub const LISTED: Mechanism = Mechanism {
    id: "listed-processes",
    levels: &["a-fraction", "most"],
    read: |incident| {
        let facts = &incident.event.facts;
        let (listed, at) = facts.numbers.get(&Number::TopUsersSum)?;
        let used = facts.get(Fact::Used).map(|figure| figure.bytes as f64).or_else(|| {
            let (all, free) = (facts.get(Fact::Capacity)?, facts.get(Fact::Free)?);
            Some(all.bytes.saturating_sub(free.bytes) as f64)
        })?;
        let level = if *listed < 0.4 * used { "a-fraction" } else { "most" };
        let (sum, used) = (Bytes(*listed as u64), Bytes(used as u64));
        Some(
            Reading::new(
                level,
                text!(
                    en: "the largest processes listed hold {sum} together (computed), of {used} in use",
                    zh: "列出的最大进程合计占用 {sum}（计算值），而已用内存为 {used}"
                ),
            )
            .at(*at),
        )
    },
};

/// What the kernel itself holds, or cannot kill.
pub const KERNEL: Mechanism = Mechanism {
    id: "kernel",
    levels: &["objects", "nothing-to-kill"],
    read: |incident| {
        let event = &incident.event;
        if let Some((slab, at)) = event.facts.numbers.get(&Number::SlabUnreclaimable)
            && let Some(all) = incident.ledger.bound
            && *slab >= 0.3 * all.middle() as f64
            && event.resource == Resource::Host
        {
            let (slab, all) = (Bytes(*slab as u64), Bytes(all.middle_bytes()));
            return Some(
                Reading::new(
                    "objects",
                    text!(
                        en: "{slab} of {all} are kernel objects that cannot be reclaimed: a leak in the kernel or a \
                             driver, no process is to blame",
                        zh: "{all} 中有 {slab} 是不可回收的内核对象：内核或驱动泄漏，与任何进程无关"
                    ),
                )
                .at(*at),
            );
        }
        let (_, at) = event.facts.numbers.get(&Number::NoKillableProcess)?;
        (event.facts.number(Number::TableTasks).unwrap_or(0.0) < 5.0).then(|| {
            Reading::new(
                "nothing-to-kill",
                text!(
                    en: "the kernel found no process to kill: memory is gone before any workload runs",
                    zh: "内核找不到可杀的进程：在任何负载运行之前内存就已耗尽"
                ),
            )
            .at(*at)
        })
    },
};

/// A program that compares what it needs with what is available before it takes anything.
pub const CHECKED: Mechanism = Mechanism {
    id: "checked-before",
    levels: &["nearly-enough", "much-missing", "hardly-any", "below-a-round-size"],
    read: |incident| {
        let event = &incident.event;
        if asker(incident) != Asker::Host || !event.has(Sign::EngineStartup) {
            return None;
        }
        let (need, free) = (event.facts.get(Fact::Requested)?, event.facts.get(Fact::Free)?);
        let missing = need.bytes.saturating_sub(free.bytes) as f64 / need.bytes.max(1) as f64;
        let level = if free.bytes < 5 * GIB / 2 {
            "hardly-any"
        } else if just_below_a_limit(free.bytes) && !incident.on_windows() {
            "below-a-round-size"
        } else if missing < 0.4 {
            "nearly-enough"
        } else {
            "much-missing"
        };
        let (need, left) = (Bytes(need.bytes), Bytes(free.bytes));
        // What is available lies so just below the size of a container or virtual machine more often than by chance.
        let (round, round_zh) = match level {
            "below-a-round-size" => (": just below a round size", "：略低于整数容量"),
            _ => ("", ""),
        };
        Some(
            Reading::new(
                level,
                text!(
                    en: "{left} were available of the {need} needed, by the program's own count, before it had taken \
                         anything{round}",
                    zh: "程序尚未占用内存时，按其自己的统计，所需 {need} 中只有 {left} 可用{round_zh}"
                ),
            )
            .at(free.at),
        )
    },
};

/// True within a twentieth below 4, 8, 16 … GiB. A quarter of all values up to 64 GiB would be.
fn just_below_a_limit(bytes: u64) -> bool {
    (2..=6).map(|power| GIB << power).any(|limit| bytes <= limit && bytes >= limit - limit / 20)
}

/// A small request on top of much in use.
pub const LAST_STRAW: Mechanism = Mechanism {
    id: "last-straw",
    levels: &["on-host", "in-pool", "on-device"],
    read: |incident| {
        let facts = &incident.event.facts;
        let requested = facts.get(Fact::Requested)?;
        let want = Bytes(requested.bytes);
        match asker(incident) {
            Asker::Host => {
                let held = facts.get(Fact::Allocated).filter(|held| requested.bytes <= held.bytes / 8)?;
                let held = Bytes(held.bytes);
                Some(
                    Reading::new(
                        "on-host",
                        text!(
                            en: "{want} more were asked for on top of {held} in use: the request is the last straw",
                            zh: "已用 {held}，又请求 {want}：这只是最后一根稻草"
                        ),
                    )
                    .at(requested.at),
                )
            }
            Asker::PooledTensor if requested.bytes < 1 << 20 => Some(
                Reading::new(
                    "in-pool",
                    text!(
                        en: "a request of {want} was the last straw: the pool had filled up with what is kept",
                        zh: "{want} 的请求只是最后一根稻草：内存池已被保留的内容填满"
                    ),
                )
                .at(requested.at),
            ),
            Asker::Tensor if incident.ledger.capacity.is_none() => {
                let free = facts.get(Fact::Free).filter(|free| free.bytes < 64 << 20 && requested.bytes < 256 << 20)?;
                let left = Bytes(free.bytes);
                Some(
                    Reading::new(
                        "on-device",
                        text!(
                            en: "{want} were asked for with {left} left: the device had filled up before, this request \
                                 is the last straw",
                            zh: "只剩 {left} 时请求 {want}：设备早已被填满，这只是最后一根稻草"
                        ),
                    )
                    .at(free.at),
                )
            }
            _ => None,
        }
    },
};

#[cfg(test)]
mod tests {
    use super::super::level;
    use super::*;
    use crate::cause::trial::{event, figure, host, settled, torch};
    use crate::domain::Program;

    fn with(mut incident: Incident, numbers: &[(Number, f64)]) -> Incident {
        for (name, value) in numbers {
            incident.event.facts.numbers.insert(*name, (*value, Span::line(3)));
        }
        incident
    }

    #[test]
    fn kills_proved_and_bare() {
        let mut kill = host(&[]);
        assert_eq!(level(&KILL, &kill), None);
        kill.event.sign(Sign::KilledWithoutProof);
        assert_eq!(level(&KILL, &kill), Some("bare"));
        kill.event.sign(Sign::KilledWithProof);
        assert_eq!(level(&KILL, &kill), Some("proved"));
    }

    #[test]
    fn what_binds() {
        let cgroup = |figures| settled(event(Program::LinuxKernel, Resource::Cgroup, figures));
        assert_eq!(level(&BOUND, &cgroup(&[(Fact::Limit, "2.00 GiB")])), Some("small-limit"));
        assert_eq!(level(&BOUND, &cgroup(&[(Fact::Limit, "64.00 GiB")])), Some("limit"));
        assert_eq!(level(&BOUND, &cgroup(&[])), Some("limit-unknown"));
        assert_eq!(level(&BOUND, &host(&[(Fact::Capacity, "64.00 GiB")])), Some("machine"));
    }

    #[test]
    fn the_victims_share() {
        let held = |resource, rss, fact, all| {
            settled(event(Program::LinuxKernel, resource, &[(Fact::AnonRss, rss), (fact, all)]))
        };
        for (rss, want) in [("1.00 GiB", "small"), ("30.00 GiB", "part"), ("60.00 GiB", "most")] {
            assert_eq!(level(&VICTIM, &held(Resource::Cgroup, rss, Fact::Limit, "64.00 GiB")), Some(want));
        }
        let machine = held(Resource::Host, "60.00 GiB", Fact::Capacity, "64.00 GiB");
        assert_eq!(level(&VICTIM, &machine), Some("most-of-machine"));
        let mut actor = held(Resource::Cgroup, "60.00 GiB", Fact::Limit, "64.00 GiB");
        actor.event.facts.process_name.note("Loader.__init__".into(), Span::line(1));
        assert_eq!(level(&VICTIM, &actor), Some("constructor"));
        let mut bystander = held(Resource::Host, "100.00 MiB", Fact::Capacity, "64.00 GiB");
        bystander.event.facts.note(Fact::Free, figure("200.00 MiB"));
        assert_eq!(level(&VICTIM, &bystander), Some("bystander"));
    }

    #[test]
    fn requests_at_once() {
        let mut small = host(&[(Fact::Requested, "64.00 MiB")]);
        for (requested, want) in [
            ("64.00 MiB", "small"),
            ("2.00 GiB", "gigabytes"),
            ("20.00 GiB", "many-gigabytes"),
            ("900.00 GiB", "absurd"),
        ] {
            assert_eq!(level(&REQUEST, &host(&[(Fact::Requested, requested)])), Some(want));
        }
        small.context.host_total.note(figure("32.00 MiB"), Span::line(1));
        assert_eq!(level(&REQUEST, &small), Some("exceeds-machine"));
    }

    #[test]
    fn lists_and_the_kernel() {
        let used = || host(&[(Fact::Used, "60.00 GiB"), (Fact::Capacity, "64.00 GiB")]);
        assert_eq!(level(&LISTED, &with(used(), &[(Number::TopUsersSum, 9e9)])), Some("a-fraction"));
        assert_eq!(level(&LISTED, &with(used(), &[(Number::TopUsersSum, 55e9)])), Some("most"));
        let mut slab = with(used(), &[(Number::SlabUnreclaimable, 4e10)]);
        slab.ledger.bound = slab.ledger.capacity;
        assert_eq!(level(&KERNEL, &slab), Some("objects"));
        assert_eq!(level(&KERNEL, &with(host(&[]), &[(Number::NoKillableProcess, 1.0)])), Some("nothing-to-kill"));
    }

    #[test]
    fn a_check_before_loading() {
        for (free, want) in [
            ("1.10 GiB", "hardly-any"),
            ("7.80 GiB", "below-a-round-size"),
            ("6.00 GiB", "nearly-enough"),
            ("3.00 GiB", "much-missing"),
        ] {
            let mut checked =
                event(Program::Ollama, Resource::Host, &[(Fact::Requested, "9.10 GiB"), (Fact::Free, free)]);
            checked.sign(Sign::EngineStartup);
            assert_eq!(level(&CHECKED, &settled(checked)), Some(want), "{free}");
        }
    }

    #[test]
    fn last_straws() {
        let on_host = host(&[(Fact::Requested, "100.00 MiB"), (Fact::Allocated, "30.00 GiB")]);
        assert_eq!(level(&LAST_STRAW, &on_host), Some("on-host"));
        let pool = settled(event(Program::Tensorflow, Resource::Gpu, &[(Fact::Requested, "100.00 KiB")]));
        assert_eq!(level(&LAST_STRAW, &pool), Some("in-pool"));
        let device = torch(&[(Fact::Requested, "100.00 MiB"), (Fact::Free, "10.00 MiB")]);
        assert_eq!(level(&LAST_STRAW, &device), Some("on-device"));
    }
}
