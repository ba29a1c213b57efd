//! The account of host memory: whose pages filled the limit, as the kernel's counters, a monitor's list or the settings of
//! the data loaders tell.

use crate::dialect::{Event, Fact, Resource, Sign};
use crate::domain::{Number, Program};
use crate::estimate::loader::{Cache, DEFAULT_PREFETCH, Loader};
use crate::evidence::Span;
use crate::incident::Context;
use crate::incident::context::{Clue, Platform};
use crate::ledger::{Entry, Holder, LoaderAccount};
use crate::text;
use crate::text::Text;
use crate::units::{Bytes, Interval, MIB};

/// Parts below this are not worth a line.
const NEGLIGIBLE: i128 = MIB as i128;

/// What the parts are held against and the parts, for a failure of the host's memory. Without a total there is no account.
pub fn settle(event: &Event) -> Option<(Interval, Vec<Entry>)> {
    let total = bound(event)?;
    let mut entries = match event.program {
        Program::Ray => listed(event),
        Program::LinuxKernel => kernel(event, total),
        _ => alone(event),
    };
    if let Some(free) = free(event, total) {
        entries.push(Entry {
            holder: Holder::Free,
            amount: free,
            basis: text!(en: "printed as available, or total − used", zh: "打印的可用量，或总量 − 已用"),
        });
    }
    entries.retain(|entry| entry.amount.high >= NEGLIGIBLE);
    let parts = entries.iter().any(|entry| entry.holder != Holder::Free);
    parts.then_some((total, entries))
}

/// The limit that was hit, or the machine's memory.
fn bound(event: &Event) -> Option<Interval> {
    let facts = &event.facts;
    let printed = match event.resource {
        Resource::Cgroup => facts.get(Fact::Limit).or(facts.get(Fact::Capacity)),
        Resource::Host => facts.get(Fact::Capacity).or(facts.get(Fact::Limit)),
        _ => None,
    };
    let bound = printed.map(|figure| figure.interval()).or_else(|| number(event, Number::Ram))?;
    (bound.low > 0).then_some(bound)
}

fn number(event: &Event, number: Number) -> Option<Interval> {
    let value = event.facts.number(number).filter(|value| value.is_finite() && *value >= 0.0)?;
    Some(Interval::exactly(value as u64))
}

fn free(event: &Event, total: Interval) -> Option<Interval> {
    if event.resource != Resource::Host {
        return None;
    }
    let printed = event.facts.get(Fact::Free).map(|figure| figure.interval());
    printed.or_else(|| Some((total - event.facts.get(Fact::Used)?.interval()).at_least_zero()))
}

/// The counters of a cgroup, or the table of tasks where only that is printed. `file` and `cache` contain the pages of
/// tmpfs (`shmem`), which are taken off; `anon` is of the whole subtree, the kill line of one task.
fn kernel(event: &Event, total: Interval) -> Vec<Entry> {
    let facts = &event.facts;
    let zero = Interval::exactly(0);
    let mut entries = Vec::new();
    let mut add = |holder, amount: Interval, basis: Text| entries.push(Entry { holder, amount, basis });
    let victim = facts.get(Fact::AnonRss).map(|figure| figure.interval());
    let anonymous = number(event, Number::Anon);
    if let Some(victim) = victim {
        // A task killed in an outer group holds no more of this one than the group has.
        let amount =
            anonymous.map_or(victim, |all| Interval::between(victim.low.min(all.high), victim.high.min(all.high)));
        add(Holder::Victim, amount, text!(en: "anon-rss of the kill line", zh: "杀进程行中的 anon-rss"));
    }
    let held = victim.unwrap_or(zero);
    if let Some(all) = anonymous {
        add(
            Holder::OtherTasks,
            (all - held).at_least_zero(),
            text!(en: "anonymous memory of the group {} − the killed task's", zh: "该组匿名内存 {} − 被杀任务的", Bytes(all.middle_bytes())),
        );
    } else if let Some(table) = number(event, Number::TableSum) {
        let own = [Fact::AnonRss, Fact::FileRss, Fact::ShmemRss]
            .into_iter()
            .filter_map(|fact| facts.get(fact))
            .map(|figure| figure.interval())
            .sum::<Interval>();
        let rest = (table - own).at_least_zero();
        let most = (total - held).at_least_zero();
        add(
            Holder::OtherTasks,
            Interval::between(rest.low.min(most.low), rest.high.min(most.high)),
            text!(
                en: "resident pages of all tasks in the table {} − the killed one's; pages that tasks share count in each row",
                zh: "任务表中全部常驻内存 {} − 被杀任务的；任务间共享的页在每一行都计数",
                Bytes(table.middle_bytes())
            ),
        );
    }
    let shared = number(event, Number::Shmem);
    if let Some(shared) = shared {
        add(
            Holder::SharedFiles,
            shared,
            text!(en: "shmem of the group: files in /dev/shm and tmpfs", zh: "该组的 shmem：/dev/shm 与 tmpfs 中的文件"),
        );
    }
    let tables = number(event, Number::Pagetables).or_else(|| number(event, Number::VictimPagetables));
    let slab = number(event, Number::SlabUnreclaimable);
    let kernel = number(event, Number::Kmem).or_else(|| match (tables, slab) {
        (None, None) => None,
        (tables, slab) => Some(tables.unwrap_or(zero) + slab.unwrap_or(zero)),
    });
    if let Some(kernel) = kernel {
        add(
            Holder::Kernel,
            kernel,
            text!(en: "page tables and unreclaimable kernel objects", zh: "页表与不可回收的内核对象"),
        );
    }
    if let Some(files) = number(event, Number::File) {
        add(
            Holder::FileCache,
            (files - shared.unwrap_or(zero)).at_least_zero(),
            text!(en: "file pages less shared memory; the kernel drops these before it kills", zh: "文件页减去共享内存；内核会在杀进程之前回收"),
        );
    }
    entries
}

/// Ray's list of the largest processes.
fn listed(event: &Event) -> Vec<Entry> {
    let mut entries = alone(event);
    let own = event.facts.get(Fact::Process).map(|figure| figure.interval()).unwrap_or(Interval::exactly(0));
    let sum = number(event, Number::TopUsersSum);
    if let Some(sum) = sum {
        entries.push(Entry {
            holder: Holder::OtherTasks,
            amount: (sum - own).at_least_zero(),
            basis: text!(en: "the ten largest processes {} − the killed one", zh: "占用最多的十个进程 {} − 被杀的进程", Bytes(sum.middle_bytes())),
        });
    }
    if let Some(used) = event.facts.get(Fact::Used)
        && (sum.is_some() || own.high > 0)
    {
        let named = own + sum.map_or(Interval::exactly(0), |sum| (sum - own).at_least_zero());
        entries.push(Entry {
            holder: Holder::Unlisted,
            amount: (used.interval() - named).at_least_zero(),
            basis: text!(en: "used on the node − every process listed: smaller processes, tmpfs and the object store, other users", zh: "节点已用 − 列出的所有进程：较小的进程、tmpfs 与对象存储、其他用户"),
        });
    }
    entries
}

/// Only the process that failed is known.
fn alone(event: &Event) -> Vec<Entry> {
    let facts = &event.facts;
    let printed =
        [Fact::AnonRss, Fact::Process].into_iter().find_map(|fact| facts.get(fact)).map(|figure| figure.interval());
    let held = printed.or_else(|| number(event, Number::VictimRss));
    held.map(|amount| Entry {
        holder: Holder::Victim,
        amount,
        basis: text!(en: "printed for the process that was stopped", zh: "打印的被终止进程的占用"),
    })
    .into_iter()
    .collect()
}

/// The arithmetic of the data loaders, where the log or the user tells enough: workers, bytes of a sample, and the memory
/// that is to hold them.
pub fn loader(event: &Event, context: &Context) -> Option<LoaderAccount> {
    if !matches!(event.resource, Resource::Host | Resource::Cgroup) {
        return None;
    }
    let sample = context.sample_size.get()?.interval();
    let workers = context.workers.value()?;
    let limit = limit(event, context)?;
    if sample.high <= 0 || limit.low <= 0 {
        return None;
    }
    let cache = match context.cache_size.get() {
        Some(size) if size.bytes == 0 => Cache::None,
        Some(size) => Cache::Bounded(size.bytes),
        // Who gives the number of samples beside the size of one asks what keeping them would take.
        None if context.samples.is_known()
            && (context.has(Clue::SampleCache) || context.samples.span() == Some(Span::GIVEN)) =>
        {
            Cache::Unbounded
        }
        None => Cache::None,
    };
    let loader = Loader {
        processes: context.local_processes.value().or(context.world_size.value()).unwrap_or(1).max(1),
        workers,
        prefetch: context.prefetch.value().unwrap_or(DEFAULT_PREFETCH),
        batch: context.batch_size.value().unwrap_or(1).max(1),
        sample,
        samples: context.samples.value(),
        pinned: context.pin_memory.value() == Some(true),
        spawned: matches!(context.platform.value(), Some(Platform::Windows | Platform::MacOs))
            || event.has(Sign::Windows),
        cache,
    };
    Some(LoaderAccount::new(loader, limit, context.batch_size.is_known()))
}

/// What binds: what the user gave, else the limit that was hit, the job's limit, the machine's memory.
fn limit(event: &Event, context: &Context) -> Option<Interval> {
    let given = context.host_total.get().filter(|figure| figure.at.is_given());
    let figure = given
        .copied()
        .or(event.facts.get(Fact::Limit))
        .or(context.memory_limit.get().copied())
        .or(event.facts.get(Fact::Capacity))
        .or(context.host_total.get().copied())?;
    Some(figure.interval())
}

/// The account's lines for the arithmetic, caches as they are after the first epoch.
pub fn loader_entries(account: &LoaderAccount) -> Vec<Entry> {
    let LoaderAccount { loader, need, batch_known, .. } = account;
    let (processes, workers, prefetch, batch) = (loader.processes, loader.workers, loader.prefetch, loader.batch);
    let sample = Bytes(loader.sample.middle_bytes());
    let (least_en, least_zh) = if *batch_known { ("", "") } else { (" (at least)", "（至少）") };
    let mut entries = vec![
        Entry {
            holder: Holder::TrainingProcesses,
            amount: need.parents,
            basis: text!(
                en: "{processes} × 268–481 MiB for a process with torch imported; model and data of its own come on top",
                zh: "{processes} × 268–481 MiB（导入 torch 的进程）；其自身的模型与数据另计"
            ),
        },
        Entry {
            holder: Holder::Workers,
            amount: need.workers,
            basis: text!(
                en: "{processes} × {workers} workers × (start + between one sample of {sample} and a batch of {batch}{least_en}); pages of Python objects that reading makes private come on top",
                zh: "{processes} × {workers} 个 worker ×（启动开销 + 一个样本 {sample} 到一批 {batch} 个{least_zh}）；读取 Python 对象而变为私有的页另计"
            ),
        },
        Entry {
            holder: Holder::PrefetchedBatches,
            amount: need.queue,
            basis: text!(
                en: "{processes} × ({workers} workers × {prefetch} prefetched + 1–2 held) × batch of {batch}{least_en} × {sample}, in shared memory",
                zh: "{processes} ×（{workers} 个 worker × 预取 {prefetch} + 持有 1–2）× 每批 {batch}{least_zh} × {sample}，位于共享内存"
            ),
        },
        Entry {
            holder: Holder::PinnedBatches,
            amount: need.pinned,
            basis: text!(
                en: "{processes} × 1 … ({workers} × {prefetch} + 1) batches, rounded up to powers of two",
                zh: "{processes} × 1 … ({workers} × {prefetch} + 1) 批，按 2 的幂向上取整"
            ),
        },
    ];
    let samples = loader.samples.unwrap_or_default();
    let readers = loader.readers();
    let end = Bytes(need.caches_in_the_end.middle_bytes());
    let basis = match loader.cache {
        Cache::Bounded(each) => {
            let each = Bytes(each);
            text!(
                en: "{readers} reading processes × {each} of cache, no more than the data set after one epoch; {end} in the end",
                zh: "{readers} 个读数据进程 × 缓存 {each}，一个 epoch 后不超过整个数据集；最终 {end}"
            )
        }
        _ => text!(
            en: "{samples} samples × {sample}, each kept by one process after one epoch; every process of {readers} gets to see all of them later: {end} in the end",
            zh: "{samples} 个样本 × {sample}，一个 epoch 后各由一个进程保留；之后 {readers} 个进程都会读到全部样本：最终 {end}"
        ),
    };
    entries.push(Entry { holder: Holder::SampleCaches, amount: need.caches_at_first, basis });
    entries.retain(|entry| entry.amount.high > 0);
    entries
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::Known;
    use crate::units::{Figure, GIB};

    fn figure(bytes: u64) -> Figure {
        Figure { bytes, half_width: 0, at: Span::line(3) }
    }

    fn event(facts: &[(Fact, u64)], numbers: &[(Number, u64)]) -> Event {
        let mut event = Event::new("kernel-kill", Program::LinuxKernel, Resource::Cgroup, Span::line(3));
        facts.iter().for_each(|(fact, bytes)| event.facts.note(*fact, figure(*bytes)));
        for (number, value) in numbers {
            event.facts.numbers.insert(*number, (*value as f64, Span::line(4)));
        }
        event
    }

    fn amount(entries: &[Entry], holder: Holder) -> Option<i128> {
        entries.iter().find(|entry| entry.holder == holder).map(|entry| entry.amount.middle())
    }

    #[test]
    fn a_group_is_divided_by_its_counters() {
        let killed = event(
            &[(Fact::Limit, 4 * GIB), (Fact::AnonRss, GIB)],
            &[
                (Number::Anon, 3 * GIB),
                (Number::Shmem, GIB / 2),
                (Number::File, 5 * GIB / 8),
                (Number::Pagetables, GIB / 4),
            ],
        );
        let (total, entries) = settle(&killed).unwrap();
        assert_eq!(total, Interval::exactly(4 * GIB));
        assert_eq!(amount(&entries, Holder::OtherTasks), Some(2 * GIB as i128));
        assert_eq!(amount(&entries, Holder::FileCache), Some(GIB as i128 / 8), "shmem is part of file");
        let sum: Interval = entries.iter().map(|entry| entry.amount).sum();
        assert!(sum.high <= total.high, "{sum}");
    }

    #[test]
    fn rows_that_share_pages_do_not_exceed_the_limit() {
        let killed = event(&[(Fact::Limit, GIB), (Fact::AnonRss, GIB / 4)], &[(Number::TableSum, 3 * GIB)]);
        let (_, entries) = settle(&killed).unwrap();
        assert_eq!(amount(&entries, Holder::OtherTasks), Some(3 * GIB as i128 / 4));
        assert_eq!(settle(&event(&[(Fact::AnonRss, GIB)], &[])), None, "no total, no account");
    }

    #[test]
    fn the_loaders_are_accounted_for_when_sample_workers_and_memory_are_known() {
        let mut context = Context::default();
        let event = Event::new("test", Program::Pytorch, Resource::Host, Span::line(1));
        assert_eq!(loader(&event, &context), None);
        context.workers = Known::Seen(20, Span::line(1));
        context.local_processes = Known::Seen(4, Span::GIVEN);
        context.sample_size = Known::Seen(figure(50 * MIB), Span::GIVEN);
        context.samples = Known::Seen(4000, Span::GIVEN);
        context.host_total = Known::Seen(Figure { at: Span::GIVEN, ..figure(128 * GIB) }, Span::GIVEN);
        let account = loader(&event, &context).unwrap();
        assert_eq!(account.loader.cache, Cache::Unbounded);
        let entries = loader_entries(&account);
        assert_eq!(amount(&entries, Holder::SampleCaches), Some(4000 * 50 * MIB as i128));
        assert_eq!(amount(&entries, Holder::PinnedBatches), None);
    }
}
