//! Processes that multiply what one of them needs.

use super::{Mechanism, Reading};
use crate::cause::nature::{Asker, asker};
use crate::dialect::{Event, Fact, Sign};
use crate::domain::Number;
use crate::incident::context::Clue;
use crate::text;
use crate::units::{Bytes, GIB};

/// A worker died rather than the main process.
pub const DIED: Mechanism = Mechanism {
    id: "worker-died",
    levels: &[
        "data-loading",
        "started-anew",
        "loads-anew",
        "of-a-pool",
        "again-and-again",
        "build",
        "one-of-a-build",
        "several-of-a-build",
    ],
    read: |incident| {
        let event = &incident.event;
        if asker(incident) != Asker::Host {
            return None;
        }
        if event.has(Sign::DataLoaderWorker) {
            return Some(
                Reading::new(
                    "data-loading",
                    text!(
                        en: "a data-loading worker died, not the training process",
                        zh: "死掉的是数据加载 worker，而不是训练进程"
                    ),
                )
                .at(event.at),
            );
        }
        if incident.context.starts_a_child() {
            return Some(
                Reading::new(
                    "started-anew",
                    text!(
                        en: "a child process failed as it started: each of them imports the program again and maps \
                             its libraries anew",
                        zh: "失败的是正在启动的子进程：每个子进程都会重新导入程序并重新映射所用的库"
                    ),
                )
                .at(event.at),
            );
        }
        if event.has(Sign::AddressSpaceLimit)
            && incident.context.has(Clue::LoadsLibrary)
            && incident.context.shows_training()
        {
            return Some(
                Reading::new(
                    "loads-anew",
                    text!(
                        en: "on Windows each loader worker is a new process that maps the libraries of CUDA anew, and \
                             the commit limit counts them in each",
                        zh: "在 Windows 上，每个数据加载 worker 都是新进程，会重新映射 CUDA 的库，而提交限额对每个进程\
                             都重复计入"
                    ),
                )
                .at(event.at),
            );
        }
        if event.has(Sign::PoolWorkerKilled) {
            return Some(
                Reading::new(
                    "of-a-pool",
                    text!(
                        en: "a worker of a process pool ended before its work was done",
                        zh: "进程池中的一个 worker 未完成工作就已终止"
                    ),
                )
                .at(event.at),
            );
        }
        // What links is mostly one at the end, however many compiled.
        let links = event.killed_a_linker();
        if event.has(Sign::CompilerKilled) || incident.context.builds() && event.has(Sign::KilledWithoutProof) {
            // What ran the compiler tells of the same end: `make: *** [all] Killed`, an image's `exit code: 137`.
            let killed = |event: &&Event| match links {
                true => event.killed_a_linker(),
                false => {
                    event.has(Sign::CompilerKilled) || event.has(Sign::KilledWithoutProof) && !event.passes_an_end_on()
                }
            };
            if let Some(second) = incident.followers.iter().find(killed) {
                return Some(
                    Reading::new(
                        "several-of-a-build",
                        text!(
                            en: "several compilers were killed: they ran at once, and each takes 1–3 GB",
                            zh: "有多个编译器被杀：它们在同时运行，每个占用 1–3 GB"
                        ),
                    )
                    .at(event.at)
                    .at(second.at),
                );
            }
            if links {
                return None;
            }
            if let Some(at) = incident.context.makes_one_by_one() {
                return Some(
                    Reading::new(
                        "one-of-a-build",
                        text!(
                            en: "make was started for one job at a time: no other compiler ran",
                            zh: "make 每次只执行一个任务：没有其他编译器同时运行"
                        ),
                    )
                    .at(at),
                );
            }
            return Some(
                Reading::new(
                    "build",
                    match event.has(Sign::KilledWithoutProof) || event.has(Sign::KilledWithProof) {
                        true => text!(
                            en: "a compiler was killed: builds often start several at once, and each takes 1–3 GB",
                            zh: "编译器被杀：构建常会同时启动多个，每个占用 1–3 GB"
                        ),
                        false => text!(
                            en: "a compiler found no memory: builds that run several at once need 1–3 GB for each",
                            zh: "编译器申请不到内存：并行构建时每个编译器需要 1–3 GB"
                        ),
                    },
                )
                .at(event.at),
            );
        }
        let (kills, at) = event.facts.numbers.get(&Number::OomEvents).filter(|(kills, _)| *kills >= 8.0)?;
        Some(
            Reading::new(
                "again-and-again",
                text!(
                    en: "{kills:.0} kills in one step: several processes, or one that was started again and again",
                    zh: "一个作业步中被杀 {kills:.0} 次：该步的多个进程，或某个进程反复启动"
                ),
            )
            .at(*at),
        )
    },
};

/// How many loaders' workers there are.
pub const COUNT: Mechanism = Mechanism {
    id: "workers",
    levels: &["none", "several", "many"],
    read: |incident| {
        if !matches!(asker(incident), Asker::Host | Asker::Shm) {
            return None;
        }
        let workers = incident.context.workers.value()?;
        let all = workers.saturating_mul(incident.context.local_processes.value().unwrap_or(1).max(1));
        let (level, text) = if workers <= 1 {
            (
                "none",
                text!(
                    en: "with {workers} worker there is nothing to multiply",
                    zh: "只有 {workers} 个 worker，谈不上成倍占用"
                ),
            )
        } else if all >= 24 {
            (
                "many",
                text!(
                    en: "{all} workers run on one machine: what each holds for itself counts {all} times",
                    zh: "同一台机器上有 {all} 个 worker：每个各自持有的内存计 {all} 次"
                ),
            )
        } else if workers >= 4 {
            (
                "several",
                text!(
                    en: "{workers} workers run: what each holds for itself counts {workers} times",
                    zh: "有 {workers} 个 worker：每个各自持有的内存计 {workers} 次"
                ),
            )
        } else {
            return None;
        };
        Some(Reading::new(level, text).seen(&incident.context.workers))
    },
};

/// Tasks of one name in the kernel's table.
pub const TABLE: Mechanism = Mechanism {
    id: "like-named-tasks",
    levels: &["share-the-bound", "beyond-the-bound"],
    read: |incident| {
        let facts = &incident.event.facts;
        let (count, at) = facts.numbers.get(&Number::TableLikeNamedCount).filter(|(count, _)| *count >= 3.0)?;
        let (sum, top) = (facts.number(Number::TableLikeNamedSum)?, facts.number(Number::TableTopRss)?);
        let bound = facts.get(Fact::Limit).or(facts.get(Fact::Capacity))?;
        if sum < 0.5 * bound.bytes as f64 || top > 0.6 * sum {
            return None;
        }
        let (count, all, together) = (*count as u64, Bytes(bound.bytes), Bytes(sum as u64));
        let name = facts.largest_process.get().cloned().unwrap_or_default();
        Some(
            if sum > bound.bytes as f64 {
                Reading::new(
                    "beyond-the-bound",
                    text!(
                        en: "{count} tasks named {name} hold {together} together (computed), over the limit of {all}: \
                             pages shared at the fork are becoming private copies",
                        zh: "{count} 个名为 {name} 的任务合计 {together}（计算值），超过上限 {all}：fork 时共享的页正在\
                             变成各自的私有副本"
                    ),
                )
            } else {
                Reading::new(
                    "share-the-bound",
                    text!(
                        en: "{count} tasks named {name} hold {together} together (computed), where {all} is the limit",
                        zh: "{count} 个名为 {name} 的任务合计占用 {together}（计算值），而上限为 {all}"
                    ),
                )
            }
            .at(*at),
        )
    },
};

/// What the loaders take by their own settings, against what there is.
pub const LOADERS: Mechanism = Mechanism {
    id: "loader-arithmetic",
    levels: &["exceeds", "exceeds-after-an-epoch", "exceeds-in-the-end", "fits"],
    read: |incident| {
        let account = incident.ledger.loader?;
        let (need, limit) = (account.need, account.limit);
        let all = Bytes(limit.middle_bytes());
        let bytes = |amount: i128| Bytes(amount.clamp(0, u64::MAX as i128) as u64);
        let (level, text) = if need.without_caches().low > limit.high {
            let least = bytes(need.without_caches().low);
            (
                "exceeds",
                text!(
                    en: "workers and prefetched batches alone take {least} (computed), and there is {all}",
                    zh: "仅 worker 和预取批次就占用 {least}（计算值），而总共只有 {all}"
                ),
            )
        } else if need.after_one_epoch().low > limit.high {
            let first = Bytes(need.after_one_epoch().middle_bytes());
            let (end, readers) = (Bytes(need.in_the_end().middle_bytes()), account.loader.readers());
            (
                "exceeds-after-an-epoch",
                text!(
                    en: "{readers} processes that keep what they read hold {first} by the end of the first epoch, \
                         {end} if it goes on (computed), and there is {all}",
                    zh: "{readers} 个进程各自缓存读到的样本：第一个 epoch 结束时占用 {first}，继续下去将达到 {end}\
                         （计算值），而总共只有 {all}"
                ),
            )
        } else if need.in_the_end().low > limit.high {
            let (end, readers) = (Bytes(need.in_the_end().middle_bytes()), account.loader.readers());
            (
                "exceeds-in-the-end",
                text!(
                    en: "the caches of {readers} processes grow to {end} in all (computed), and there is {all}",
                    zh: "{readers} 个进程的缓存合计将增长到 {end}（计算值），而总共只有 {all}"
                ),
            )
        } else if need.in_the_end().high < limit.low / 3 && account.batch_known {
            let most = bytes(need.in_the_end().high);
            (
                "fits",
                text!(
                    en: "by their settings the loaders take {most} at most (computed), of {all}",
                    zh: "按其设置，数据加载最多占用 {most}（计算值），而总共有 {all}"
                ),
            )
        } else {
            return None;
        };
        Some(Reading::new(level, text).seen(&incident.context.workers))
    },
};

/// Training processes that share one machine's memory.
pub const PROCESSES: Mechanism = Mechanism {
    id: "processes",
    levels: &["share-the-node", "little-for-each", "side-by-side"],
    read: |incident| {
        if asker(incident) != Asker::Host {
            return None;
        }
        let Some(processes) = incident.context.local_processes.value().filter(|processes| *processes >= 8) else {
            let at = incident.context.clues.get(&Clue::SideBySide)?;
            let text = text!(en: "several processes work side by side", zh: "多个进程并行运行");
            return Some(Reading::new("side-by-side", text).at(*at));
        };
        let limit = incident.event.facts.get(Fact::Limit).or(incident.context.memory_limit.get().copied());
        // Importing a framework alone takes half a GiB in each process.
        let each = limit.map(|limit| limit.bytes / processes).filter(|each| *each < 4 * GIB);
        Some(
            match each {
                Some(each) => {
                    let (each, all) = (Bytes(each), Bytes(each.saturating_mul(processes)));
                    Reading::new(
                        "little-for-each",
                        text!(
                            en: "{processes} processes share {all}: {each} for each (computed)",
                            zh: "{processes} 个进程共享 {all}：每个只有 {each}（计算值）"
                        ),
                    )
                }
                None => Reading::new(
                    "share-the-node",
                    text!(
                        en: "{processes} processes share the node's memory",
                        zh: "{processes} 个进程共享该节点的内存"
                    ),
                ),
            }
            .seen(&incident.context.local_processes),
        )
    },
};

#[cfg(test)]
mod tests {
    use super::super::level;
    use super::*;
    use crate::cause::trial::{figure, host};
    use crate::evidence::Span;
    use crate::incident::Incident;
    use crate::incident::context::Given;

    #[test]
    fn who_died() {
        let mut loader = host(&[]);
        loader.event.sign(Sign::DataLoaderWorker);
        assert_eq!(level(&DIED, &loader), Some("data-loading"));
        for (sign, want) in [(Sign::PoolWorkerKilled, "of-a-pool"), (Sign::CompilerKilled, "build")] {
            let mut incident = host(&[]);
            incident.event.sign(sign);
            assert_eq!(level(&DIED, &incident), Some(want));
        }
        let mut build = host(&[]);
        build.event.sign(Sign::CompilerKilled);
        build.followers.push(build.event.clone());
        assert_eq!(level(&DIED, &build), Some("several-of-a-build"));
        let mut kills = host(&[]);
        kills.event.facts.numbers.insert(Number::OomEvents, (12.0, Span::line(1)));
        assert_eq!(level(&DIED, &kills), Some("again-and-again"));
    }

    #[test]
    fn how_many_there_are() {
        let count = |workers, processes| {
            let mut incident = host(&[]);
            incident.context.workers.note(workers, Span::line(1));
            incident.context.local_processes.note(processes, Span::line(1));
            incident
        };
        assert_eq!(level(&COUNT, &count(0, 1)), Some("none"));
        assert_eq!(level(&COUNT, &count(2, 1)), None);
        assert_eq!(level(&COUNT, &count(8, 1)), Some("several"));
        assert_eq!(level(&COUNT, &count(8, 4)), Some("many"));
        assert_eq!(level(&PROCESSES, &count(2, 8)), Some("share-the-node"));
        let mut little = count(2, 8);
        little.context.memory_limit.note(figure("16.00 GiB"), Span::line(2));
        assert_eq!(level(&PROCESSES, &little), Some("little-for-each"));
    }

    #[test]
    fn like_named_tasks() {
        for (sum, want) in [(40e9, "share-the-bound"), (90e9, "beyond-the-bound")] {
            let mut incident = host(&[(Fact::Capacity, "64.00 GiB")]);
            let numbers = &mut incident.event.facts.numbers;
            numbers.insert(Number::TableLikeNamedCount, (12.0, Span::line(1)));
            numbers.insert(Number::TableLikeNamedSum, (sum, Span::line(1)));
            numbers.insert(Number::TableTopRss, (6e9, Span::line(1)));
            assert_eq!(level(&TABLE, &incident), Some(want));
        }
    }

    #[test]
    fn the_loaders_by_their_settings() {
        let given = |workers, sample_gib: u64, cache: u64, host_gib: u64| -> Incident {
            let mut incident = host(&[]);
            incident.context.override_with(&Given {
                workers: Some(workers),
                batch_size: Some(4),
                sample_bytes: Some(sample_gib * GIB / 8),
                samples: Some(2000),
                cache_bytes: Some(cache * GIB).filter(|bytes| *bytes > 0),
                host_bytes: Some(host_gib * GIB),
                ..Given::default()
            });
            incident.ledger.add_loader(&incident.event.clone(), &incident.context.loader_settings());
            incident
        };
        assert_eq!(level(&LOADERS, &given(32, 8, 0, 16)), Some("exceeds"));
        assert_eq!(level(&LOADERS, &given(2, 1, 0, 2000)), Some("fits"));
    }
}
