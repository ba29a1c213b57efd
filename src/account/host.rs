//! The account of host memory: whose pages filled the limit, as the kernel's counters or a monitor's list tell.

use super::{Entry, Holder};
use crate::dialect::{Event, Fact, Resource};
use crate::domain::{Number, Program};
use crate::text;
use crate::text::Text;
use crate::units::{Bytes, Interval, MIB};

/// Parts below this are not worth a line.
const NEGLIGIBLE: i128 = MIB as i128;

/// What the parts are held against and the parts, for a failure of the host's memory. Without a total there is no
/// account.
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
        // The threshold below which a node evicts is a part of its memory.
        Resource::Host => facts.get(Fact::Capacity).or(facts.get(Fact::Limit).filter(|_| !event.evicted())),
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
    if let Some(all) = anonymous.filter(|_| victim.is_none()) {
        add(Holder::Tasks, all, text!(en: "anonymous memory of the group", zh: "该组的匿名内存"));
    } else if let Some(all) = anonymous {
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
        // What was swapped out is no RAM of anybody's.
        let swapped = number(event, Number::TableSwap).unwrap_or(zero);
        let rest = (table - swapped - own).at_least_zero();
        let most = (total - held).at_least_zero();
        add(
            Holder::OtherTasks,
            Interval::between(rest.low.min(most.low), rest.high.min(most.high)),
            text!(
                en: "resident pages of all tasks in the table {} − the killed one's; pages that tasks share count in \
                     each row",
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
            text!(
                en: "shmem of the group: files in /dev/shm and tmpfs",
                zh: "该组的 shmem：/dev/shm 与 tmpfs 中的文件"
            ),
        );
    }
    // Of several tasks the killed one's page tables are a part.
    let alone = event.facts.number(Number::TableTasks).is_none_or(|tasks| tasks <= 1.0);
    let of_victim = || number(event, Number::VictimPagetables).filter(|_| alone);
    let tables = number(event, Number::Pagetables).or_else(of_victim);
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
            text!(
                en: "file pages less shared memory; the kernel drops these before it kills",
                zh: "文件页减去共享内存；内核会在杀进程之前回收"
            ),
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
            basis: text!(
                en: "used on the node − every process listed: smaller processes, tmpfs and the object store, other \
                     users",
                zh: "节点已用 − 列出的所有进程：较小的进程、tmpfs 与对象存储、其他用户"
            ),
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::Span;
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
    fn a_task_killed_in_an_outer_group_holds_no_more_of_this_one_than_the_group() {
        let killed = event(&[(Fact::Limit, 4 * GIB), (Fact::AnonRss, 3 * GIB)], &[(Number::Anon, GIB)]);
        let (_, entries) = settle(&killed).unwrap();
        assert_eq!(amount(&entries, Holder::Victim), Some(GIB as i128));
        assert_eq!(amount(&entries, Holder::OtherTasks), None);
    }

    #[test]
    fn what_ray_does_not_list_is_what_is_used_less_every_process_listed() {
        let settled = |facts: &[(Fact, u64)], numbers: &[(Number, u64)]| {
            let mut killed = event(facts, numbers);
            (killed.program, killed.resource) = (Program::Ray, Resource::Host);
            settle(&killed).unwrap().1
        };
        let node = [(Fact::Capacity, 32 * GIB), (Fact::Used, 31 * GIB)];
        let entries = settled(&[&node[..], &[(Fact::Process, 8 * GIB)]].concat(), &[(Number::TopUsersSum, 20 * GIB)]);
        let exactly = |n: u64| Some(i128::from(n * GIB));
        assert_eq!(amount(&entries, Holder::Victim), exactly(8));
        assert_eq!(amount(&entries, Holder::OtherTasks), exactly(12));
        assert_eq!(amount(&entries, Holder::Unlisted), exactly(11));
        assert_eq!(amount(&entries, Holder::Free), exactly(1));
        // A killed process that is none of the ten largest stands beside them.
        let small = settled(&[&node[..], &[(Fact::Process, 25 * GIB)]].concat(), &[(Number::TopUsersSum, 20 * GIB)]);
        assert_eq!(amount(&small, Holder::Unlisted), exactly(6));
        let unnamed = settled(&node, &[(Number::TopUsersSum, 20 * GIB)]);
        assert_eq!(amount(&unnamed, Holder::OtherTasks), exactly(20));
        assert_eq!(amount(&unnamed, Holder::Unlisted), exactly(11));
    }
}
