//! The account of a device's memory, from the figures of one message.

use super::identity::{self, Identity, Listed};
use super::invariant::{Contradiction, Invariant, NEGLIGIBLE, Part, between_readings, over};
use super::{Entry, Holder, Ledger};
use crate::dialect::{Event, Fact, Sign};
use crate::domain::program::PytorchAllocator;
use crate::text;
use crate::text::Text;
use crate::units::{Bytes, GIB, Interval};

/// The figures of a message after those that cannot be are taken out.
struct Figures<'a> {
    event: &'a Event,
    pools: Option<Interval>,
    default_cached: Option<Interval>,
    /// What the framework surely holds: what it reserved, or what it allocated where only that is printed.
    held: Option<Interval>,
    process: Option<Interval>,
    listed: Vec<Listed>,
}

/// Makes the account of an event.
///
/// The identities are those of PyTorch's message (`reportProcessMemoryInfo` and `malloc` in
/// `CUDACachingAllocator.cpp`): reserved = allocated + cached in every version; from 2.4 on the printed "allocated"
/// contains the free blocks of private pools, which are taken off here; the driver's figure for this process contains
/// reserved.
pub(super) fn settle(event: &Event) -> Ledger {
    let mut ledger = Ledger {
        requested: printed(event, Fact::Requested),
        capacity: printed(event, Fact::Capacity),
        cap: printed(event, Fact::FractionLimit).or_else(|| printed(event, Fact::Limit)),
        ..Ledger::default()
    };
    unreadable(event, &mut ledger);
    ledger.free = free(event, &mut ledger);
    let (allocated, default_cached) = framework(event, &mut ledger);
    let mut figures = Figures {
        event,
        pools: printed(event, Fact::PrivatePools).filter(|_| ledger.trusts(Fact::PrivatePools)),
        default_cached,
        // Where only "allocated" is printed, it is the least that the framework holds.
        held: ledger.reserved.or(allocated),
        process: None,
        listed: listed(event, &mut ledger),
    };
    figures.process = process(&figures, &mut ledger);
    let used = within_device(&figures, &mut ledger);
    ledger.identity = identity::recognise(event, &figures.listed, figures.held, used);
    take_off_oneself(&mut figures, &mut ledger);
    divide(&mut figures, used, &mut ledger);
    if let (Some(requested), Some(free)) = (ledger.requested, ledger.free) {
        ledger.short_of_free = Some(requested - free);
        if let Some(cached) = ledger.cached {
            ledger.short_of_free_and_cached = Some(requested - free - cached);
        }
    }
    ledger.process = figures.process;
    ledger.entries = entries(&figures, &ledger);
    ledger
}

/// Four times what the largest board has (288 GiB in 2026): what is printed above it is no memory of one device.
const NO_DEVICE_HAS: i128 = 1 << 40;

/// What a printed figure can stand for: never less than nothing, however it was rounded.
fn printed(event: &Event, fact: Fact) -> Option<Interval> {
    event.facts.get(fact).map(|figure| figure.interval().at_least_zero())
}

fn line_of(event: &Event, fact: Fact) -> u64 {
    event.facts.get(fact).map_or(event.at.first, |figure| figure.at.first)
}

fn unreadable(event: &Event, ledger: &mut Ledger) {
    for (fact, at) in &event.facts.unreadable {
        let name = fact.id().trim_end_matches("_bytes").replace('_', " ");
        ledger.contradictions.push(Contradiction::resolved(
            Invariant::FigureIsASize,
            vec![at.first],
            text!(
                en: "the figure printed for {name} is 2^64 minus something: a difference that went below zero, or a \
                     reading the driver does not give; it is treated as unknown",
                zh: "{name} 的打印值接近 2^64：差值下溢或驱动不提供该读数，按未知处理"
            ),
        ));
    }
}

/// What is free, as printed or as the rest of what is used. More than the device has is no reading of this device.
fn free(event: &Event, ledger: &mut Ledger) -> Option<Interval> {
    let of_device = event.resource.on_device();
    if let Some(free) = printed(event, Fact::Free) {
        let Some(capacity) = ledger.capacity.filter(|capacity| of_device && free.low > capacity.high) else {
            return Some(free);
        };
        ledger.contradictions.push(Contradiction::open(
            Invariant::FreeWithinCapacity,
            &[Part::Free],
            vec![line_of(event, Fact::Free)],
            text!(
                en: "{free} is printed as free of a device that has {capacity} in all: the figure is of something else \
                     and is not used",
                zh: "打印的空闲量 {free} 超过设备总量 {capacity}：该读数另有所指，不予采用"
            ),
        ));
        return None;
    }
    let (capacity, used) = (ledger.capacity?, printed(event, Fact::Used)?);
    if of_device && used.low > capacity.high {
        ledger.contradictions.push(Contradiction::open(
            Invariant::FreeWithinCapacity,
            &[Part::Free],
            vec![line_of(event, Fact::Used)],
            text!(
                en: "{used} is printed as used of a device that has {capacity} in all: the figure is of something else \
                     and is not used",
                zh: "打印的已用量 {used} 超过设备总量 {capacity}：该读数另有所指，不予采用"
            ),
        ));
        return None;
    }
    Some((capacity - used).at_least_zero())
}

/// The framework's own counters: sets allocated, reserved and cached; returns what is printed as allocated and the
/// cache of the default pools.
fn framework(event: &Event, ledger: &mut Ledger) -> (Option<Interval>, Option<Interval>) {
    let pools = printed(event, Fact::PrivatePools);
    let allocated = printed(event, Fact::Allocated);
    let reserved = printed(event, Fact::Reserved);
    if let Some(beyond) = [allocated, reserved].into_iter().flatten().find(|held| held.low > NO_DEVICE_HAS)
        && ledger.capacity.is_none()
        && event.resource.on_device()
    {
        ledger.contradictions.push(Contradiction::open(
            Invariant::FigureIsASize,
            &[Part::Framework],
            vec![line_of(event, Fact::Allocated)],
            text!(
                en: "{beyond} is printed as held on a device, more than any has: a counter that nobody set, not used",
                zh: "打印的设备占用 {beyond} 超过任何设备的容量：该计数从未设置，不予采用"
            ),
        ));
        return (None, None);
    }
    if let (Some(inside), Some(all)) = (allocated, reserved)
        && inside.low > all.high
    {
        ledger.contradictions.push(Contradiction::open(
            Invariant::AllocatedWithinReserved,
            &[Part::Framework],
            vec![line_of(event, Fact::Allocated)],
            text!(
                en: "{inside} is printed as allocated out of {all} reserved: one of the two is not what it says, and \
                     neither is used",
                zh: "打印的已分配量 {inside} 超过保留量 {all}：其中之一并非其名所指，两者都不予采用"
            ),
        ));
        return (None, None);
    }
    ledger.allocated = match (allocated, pools) {
        (Some(allocated), Some(pools)) => Some((allocated - pools).at_least_zero()),
        (allocated, _) => allocated,
    };
    let default_cached = printed(event, Fact::ReservedUnallocated).or_else(|| printed(event, Fact::Cached));
    ledger.reserved = match (reserved, allocated, default_cached) {
        (Some(reserved), ..) => Some(reserved),
        (None, Some(allocated), Some(cached)) => Some(allocated + cached),
        _ => None,
    };
    let default_cached = match (default_cached, ledger.reserved, allocated) {
        (Some(cached), ..) => Some(cached),
        (None, Some(reserved), Some(allocated)) => Some((reserved - allocated).at_least_zero()),
        _ => None,
    };
    ledger.cached = match (default_cached, pools) {
        (Some(cached), Some(pools)) => Some(cached + pools),
        (cached, _) => cached,
    };
    (allocated, default_cached)
}

/// The processes listed, each once. Of two figures under one pid neither is preferred.
fn listed(event: &Event, ledger: &mut Ledger) -> Vec<Listed> {
    let mut found: Vec<Listed> = Vec::new();
    for other in &event.facts.other_processes {
        let amount = other.figure.interval().at_least_zero();
        let Some(earlier) = found.iter_mut().find(|listed| listed.pid == other.pid) else {
            found.push(Listed { pid: other.pid, amount });
            continue;
        };
        let pid = other.pid;
        let range = Interval { low: earlier.amount.low.min(amount.low), high: earlier.amount.high.max(amount.high) };
        earlier.amount = range;
        ledger.contradictions.push(Contradiction::resolved(
            Invariant::PidListedOnce,
            vec![other.figure.at.first],
            text!(en: "process {pid} is listed more than once; it counts once", zh: "进程 {pid} 被重复列出，只计一次"),
        ));
    }
    found
}

/// What the driver says of this process, unless that cannot be: a process that allocates holds its context and what its
/// framework reserved.
fn process(figures: &Figures, ledger: &mut Ledger) -> Option<Interval> {
    let event = figures.event;
    let figure = event.facts.get(Fact::Process)?;
    let process = figure.interval().at_least_zero();
    if process.high <= 0 {
        ledger.contradictions.push(Contradiction::resolved(
            Invariant::ProcessHoldsItsContext,
            vec![figure.at.first],
            text!(
                en: "the driver counts 0 bytes for this process, which cannot be, since it has a context: the figure \
                     is unknown",
                zh: "驱动统计本进程占用 0 字节，而它至少持有上下文，这不可能：按未知处理"
            ),
        ));
        return None;
    }
    if let Some(held) = figures.held.filter(|held| process.high < held.low) {
        ledger.contradictions.push(Contradiction::open(
            Invariant::ProcessHoldsReserved,
            &[Part::Process],
            vec![figure.at.first],
            text!(
                en: "the driver counts {process} for this process, less than the {held} that PyTorch has reserved: the \
                     reading is from another moment, or the memory is not counted for this pid; it is not used",
                zh: "驱动统计本进程 {process}，少于 PyTorch 保留的 {held}：读数时刻不同，或这部分显存未计入该 pid；不予\
                     采用"
            ),
        ));
        return None;
    }
    Some(process)
}

/// What the device has in use, where the framework's own counters agree with it. A framework that holds more than the
/// device has in use either holds a part of it elsewhere, or one of the readings is not of this device.
fn within_device(figures: &Figures, ledger: &mut Ledger) -> Option<Interval> {
    let event = figures.event;
    let capacity = ledger.capacity?;
    let used = ledger.free.map(|free| capacity - free);
    if !event.resource.on_device() {
        return used;
    }
    let Some(held) = figures.held else { return used };
    let mut lines = vec![line_of(event, Fact::Allocated), line_of(event, Fact::Capacity)];
    lines.dedup();
    if held.low > capacity.high {
        let lends = event.has(Sign::UnifiedMemory) || looks_like_wddm(event, ledger.capacity);
        ledger.contradictions.push(if lends {
            Contradiction::resolved(
                Invariant::PartsWithinWhole,
                lines,
                text!(
                    en: "{held} is held on a device of {capacity}: the driver has lent system memory for the rest, \
                         which is slow; how much of it lies on the device is unknown",
                    zh: "设备只有 {capacity}，却持有 {held}：其余由驱动借用系统内存（很慢），其中多少在设备上未知"
                ),
            )
        } else {
            Contradiction::open(
                Invariant::PartsWithinWhole,
                &[Part::Framework],
                lines,
                text!(
                    en: "{held} is held on a device of {capacity}: the figures are not of one device, or system memory \
                         was lent; how much lies on the device is unknown",
                    zh: "设备只有 {capacity}，却持有 {held}：读数不属于同一设备，或借用了系统内存；其中多少在设备上未知"
                ),
            )
        });
        return None;
    }
    let used = used?;
    let excess = held.low - used.high;
    if excess > between_readings(capacity) {
        ledger.free = None;
        ledger.short_of_free = None;
        ledger.contradictions.push(Contradiction::open(
            Invariant::PartsWithinWhole,
            &[Part::Free],
            vec![line_of(event, Fact::Free)],
            text!(
                en: "{held} held by the framework and what is printed as free are more than the device's {capacity}: “\
                     free” was read at another moment and is not used",
                zh: "框架持有的 {held} 与打印的空闲量之和超过设备总量 {capacity}：“free” 是在另一时刻读取的，不予采用"
            ),
        ));
        return None;
    }
    Some(used)
}

/// Takes this process off the list of others.
fn take_off_oneself(figures: &mut Figures, ledger: &mut Ledger) {
    let event = figures.event;
    let lines_of = |pids: &[u64]| {
        let listed = event.facts.other_processes.iter().filter(|other| pids.contains(&other.pid));
        listed.map(|other| other.figure.at.first).collect::<Vec<_>>()
    };
    match &ledger.identity {
        Identity::ListedAs(pid) => {
            let pid = *pid;
            ledger.self_listed_as = Some(pid);
            let own = figures.listed.iter().position(|listed| listed.pid == pid).map(|at| figures.listed.remove(at));
            figures.process = figures.process.or(own.map(|listed| listed.amount));
            ledger.contradictions.push(Contradiction::resolved(
                Invariant::OwnPid,
                lines_of(&[pid]),
                text!(
                    en: "“Process {pid}” is this very process under its host pid, or contains it: as another one, it \
                         and what PyTorch reserved would be more than is in use, and no “this process” line is printed \
                         (a container without the host's pid namespace)",
                    zh: "“Process {pid}” 就是本进程（宿主机 pid）或包含本进程：若是其他进程，其用量加上 PyTorch 保留量\
                         会超过已用显存，且没有 “this process” 一行（容器未共享宿主机 pid 命名空间）"
                ),
            ));
        }
        Identity::AnyOf { pids, surely } => {
            let list = pids.iter().take(4).map(u64::to_string).collect::<Vec<_>>().join(", ");
            let text = if *surely {
                text!(
                    en: "this very process is among those listed ({list}): together with what PyTorch reserved they \
                         would be more than is in use; the figures do not tell which it is",
                    zh: "本进程就在列出的进程（{list}）之中：加上 PyTorch 保留量会超过已用显存；无法确定是哪一个"
                )
            } else {
                text!(
                    en: "no “this process” line is printed, so a process listed ({list}) may be this very one under \
                         its host pid",
                    zh: "没有 “this process” 一行，列出的进程（{list}）可能就是本进程（宿主机 pid）"
                )
            };
            ledger.contradictions.push(Contradiction::resolved(Invariant::OwnPid, lines_of(pids), text));
        }
        _ => {}
    }
}

/// What processes hold together, what of this one its framework does not know, and what nobody names.
fn divide(figures: &mut Figures, used: Option<Interval>, ledger: &mut Ledger) {
    let event = figures.event;
    let all: Interval = figures.listed.iter().map(|listed| listed.amount).sum();
    let others = match &ledger.identity {
        Identity::AnyOf { pids, surely } => {
            let candidates = figures.listed.iter().filter(|listed| pids.contains(&listed.pid));
            let most = candidates.clone().map(|listed| listed.amount.high).max().unwrap_or(0);
            let least = candidates.map(|listed| listed.amount.low).min().unwrap_or(0);
            let high = if *surely { all.high - least } else { all.high };
            let high = match (used, figures.held) {
                (Some(used), Some(held)) => high.min((used - held).high),
                _ => high,
            };
            let low = (all.low - most).max(0);
            Interval { low, high: high.max(low) }
        }
        _ => all,
    };
    // Where the framework keeps a cache and does not tell its size, what is left may as well be that.
    let caches = event.program.pytorch_allocator() != PytorchAllocator::No
        && !event.has(Sign::Mps)
        && !event.has(Sign::AsyncBackend);
    let first_request = event.facts.get(Fact::Allocated).is_some_and(|figure| figure.bytes == 0);
    let tells_all = ledger.reserved.is_some() || !caches || first_request;
    let outside = match (used, figures.held) {
        (Some(used), Some(held)) if tells_all => Some((used - held).at_least_zero()),
        _ => None,
    };
    let unexplained = match (used, figures.process) {
        (Some(used), Some(process)) => Some(used - process - others),
        _ => None,
    };
    // What is left of the device once the others are taken off; below zero they cannot all be.
    let left = unexplained.or_else(|| Some(outside? - others));
    let excess = left.map_or(0, |left| -left.high);
    if ledger.capacity.is_some_and(|capacity| excess > between_readings(capacity)) {
        ledger.contradictions.push(Contradiction::open(
            Invariant::PartsWithinWhole,
            &[Part::Process, Part::Others],
            vec![event.at.first],
            over(excess),
        ));
        figures.process = None;
        figures.listed.clear();
        ledger.outside = outside;
        return;
    }
    ledger.others = (!figures.listed.is_empty()).then_some(others);
    ledger.outside = outside;
    ledger.unexplained = unexplained;
    if let (Some(process), Some(held)) = (figures.process, figures.held)
        && !event.has(Sign::AsyncBackend)
    {
        ledger.non_framework = Some((process - held).at_least_zero());
    }
    if let Some(other) = event.facts.get(Fact::OtherAllocations) {
        ledger.non_framework = Some(other.interval().at_least_zero());
    }
}

fn entries(figures: &Figures, ledger: &Ledger) -> Vec<Entry> {
    let event = figures.event;
    let mut entries = Vec::new();
    let mut add = |holder, amount: Option<Interval>, basis: Text| {
        if let Some(amount) = amount {
            entries.push(Entry { holder, amount, basis });
        }
    };
    // What the driver has lent beyond the device is no part of it.
    let on_device = |held: &Interval| ledger.capacity.is_none_or(|capacity| held.low <= capacity.high);
    let fits = figures.held.as_ref().is_none_or(on_device);
    add(
        Holder::Allocated,
        ledger.allocated.filter(|_| fits),
        match figures.pools {
            Some(pools) => text!(
                en: "printed as allocated, less {pools} of free blocks in private pools",
                zh: "打印的已分配量减去私有池中的空闲块 {pools}"
            ),
            None => text!(en: "printed as allocated", zh: "打印的已分配量"),
        },
    );
    add(
        Holder::PrivatePools,
        figures.pools.filter(|_| fits),
        text!(
            en: "free blocks of private pools (CUDA graphs), which only their own graphs can use",
            zh: "私有池（CUDA Graphs）中的空闲块，只有对应的图能使用"
        ),
    );
    add(
        Holder::Cached,
        figures.default_cached.filter(|_| fits),
        match (event.facts.get(Fact::Reserved), event.facts.get(Fact::Allocated)) {
            (Some(reserved), Some(allocated)) => text!(
                en: "reserved {} − allocated {}", zh: "保留 {} − 已分配 {}",
                Bytes(reserved.bytes), Bytes(allocated.bytes)
            ),
            _ => text!(en: "printed as reserved but unallocated", zh: "打印的“已保留但未分配”"),
        },
    );
    if event.facts.get(Fact::OtherAllocations).is_some() {
        add(
            Holder::NonFramework,
            ledger.non_framework,
            text!(
                en: "printed as other allocations (Metal, graph caches)",
                zh: "打印的其他分配（Metal、图缓存）"
            ),
        );
    } else if figures.process.is_some() {
        add(
            Holder::NonFramework,
            ledger.non_framework.filter(|amount| amount.high > NEGLIGIBLE),
            text!(
                en: "what the driver counts for this process, less what PyTorch reserved",
                zh: "驱动统计的本进程用量减去 PyTorch 保留量"
            ),
        );
    }
    if ledger.allocated.is_none() && ledger.reserved.is_none() {
        add(
            Holder::ThisProcess,
            figures.process,
            text!(
                en: "printed for this process, without the framework's share of it",
                zh: "打印的本进程用量，未区分框架所占"
            ),
        );
    }
    let doubtful = |listed: &&Listed| match &ledger.identity {
        Identity::AnyOf { pids, .. } => pids.contains(&listed.pid),
        _ => false,
    };
    let mut named = Interval::exactly(0);
    for other in figures.listed.iter().filter(|listed| !doubtful(listed)) {
        named = named + other.amount;
        add(
            Holder::OtherProcess(other.pid),
            Some(other.amount),
            text!(en: "printed for process {}", zh: "打印的进程 {} 用量", other.pid),
        );
    }
    let mixed: Vec<String> =
        figures.listed.iter().filter(doubtful).map(|listed| format!("{} ({})", listed.pid, listed.amount)).collect();
    if figures.process.is_some() {
        add(
            Holder::Unexplained,
            ledger.unexplained.filter(|amount| amount.low > NEGLIGIBLE),
            text!(en: "capacity − free − every process named", zh: "总容量 − 空闲 − 所有已列出的进程"),
        );
    } else if let Some(outside) = ledger.outside {
        let basis = if mixed.is_empty() && ledger.reserved.is_none() {
            text!(
                en: "capacity − free − what is allocated: cached blocks, context, libraries and other processes, which \
                     the message does not tell apart",
                zh: "总容量 − 空闲 − 已分配：缓存块、CUDA 上下文、库和其他进程，报错信息没有区分"
            )
        } else if mixed.is_empty() {
            text!(
                en: "capacity − free − what this framework holds: context, libraries and other processes, which the \
                     message does not tell apart",
                zh: "总容量 − 空闲 − 框架持有量：CUDA 上下文、库和其他进程，报错信息没有区分"
            )
        } else {
            let list = mixed.join(", ");
            text!(
                en: "capacity − free − what this framework holds; listed for {list}, which may be this very process or \
                     others",
                zh: "总容量 − 空闲 − 框架持有量；列出的 {list} 可能是本进程，也可能是其他进程"
            )
        };
        let rest = (outside - named).at_least_zero();
        add(Holder::Outside, Some(rest).filter(|amount| amount.high > NEGLIGIBLE), basis);
    }
    add(Holder::Free, ledger.free, text!(en: "printed as free", zh: "打印的空闲量"));
    entries
}

/// A whole number of GiB within the printed digits, as Windows' display driver model reports cards (`8.00 GiB`, `23.99
/// GiB`); Linux drivers take their reserve off first (`7.79 GiB`, `23.69 GiB`). Cards above 48 GiB do not run under it.
pub(crate) fn looks_like_wddm(event: &Event, capacity: Option<Interval>) -> bool {
    if event.has(Sign::Windows) {
        return true;
    }
    if event.has(Sign::Hip) || event.has(Sign::Mps) || event.has(Sign::Xpu) {
        return false;
    }
    let Some(capacity) = capacity else { return false };
    let gib = capacity.middle() as f64 / GIB as f64;
    (2.0..=48.0).contains(&gib.round()) && (gib - gib.round()).abs() <= 0.015
}

#[cfg(test)]
mod tests {
    use super::super::{Ledger, settle};
    use super::{Holder, NEGLIGIBLE};
    use crate::dialect::{Event, Fact, ProcessUse, Resource};
    use crate::evidence::Span;
    use crate::units::{self, Base, GIB, Interval};

    fn event(figures: &[(Fact, &str)], others: &[(u64, &str)]) -> Event {
        let mut event = Event::new("test", crate::domain::Program::Pytorch, Resource::Gpu, Span::line(1));
        for (fact, text) in figures {
            event.facts.note(*fact, units::parse(text, Base::Binary).unwrap().at(Span::line(1)));
        }
        for (pid, text) in others {
            let figure = units::parse(text, Base::Binary).unwrap().at(Span::line(1));
            event.facts.other_processes.push(ProcessUse { pid: *pid, figure });
        }
        event
    }

    fn gib(interval: Option<Interval>) -> f64 {
        interval.unwrap().middle() as f64 / GIB as f64
    }

    #[test]
    fn the_parts_of_a_full_message_add_up_to_the_device() {
        let event = event(
            &[
                (Fact::Requested, "1.50 GiB"),
                (Fact::Capacity, "23.69 GiB"),
                (Fact::Free, "800.00 MiB"),
                (Fact::Process, "21.00 GiB"),
                (Fact::Allocated, "18.00 GiB"),
                (Fact::ReservedUnallocated, "2.40 GiB"),
            ],
            &[(77, "1.90 GiB")],
        );
        let ledger: Ledger = settle(&event);
        assert!((gib(ledger.reserved) - 20.40).abs() < 0.01);
        assert!((gib(ledger.non_framework) - 0.60).abs() < 0.01);
        assert!((gib(ledger.others) - 1.90).abs() < 0.01);
        let sum: Interval = ledger.entries.iter().map(|entry| entry.amount).sum();
        let capacity = ledger.capacity.unwrap();
        assert!(sum.low <= capacity.high + NEGLIGIBLE && sum.high >= capacity.low - NEGLIGIBLE, "{sum} of {capacity}");
        assert!(ledger.short_of_free_and_cached.unwrap().high < 0);
    }

    #[test]
    fn what_is_used_leaves_the_rest_free_unless_it_is_more_than_there_is() {
        let of = |used| settle(&event(&[(Fact::Capacity, "8.00 GiB"), (Fact::Used, used)], &[]));
        let ledger = of("3.00 GiB");
        assert!((gib(ledger.free) - 5.0).abs() < 0.01);
        assert!(ledger.contradictions.is_empty(), "{:?}", ledger.contradictions);
        let ledger = of("9.00 GiB");
        assert_eq!((ledger.free, ledger.contradictions.len()), (None, 1));
    }

    #[test]
    fn two_figures_under_one_pid_are_a_range() {
        let figures = [(Fact::Capacity, "24.00 GiB"), (Fact::Free, "2.00 GiB"), (Fact::Process, "12.00 GiB")];
        let ledger = settle(&event(&figures, &[(7, "4.00 GiB"), (7, "6.00 GiB")]));
        let others = ledger.others.unwrap();
        assert!(others.low <= 4 * GIB as i128 + 6 * NEGLIGIBLE && others.high >= 6 * GIB as i128, "{others}");
        let ledger = settle(&event(&figures, &[(7, "6.00 GiB"), (7, "4.00 GiB")]));
        assert_eq!(ledger.others, Some(others), "in whatever order they stand");
    }

    #[test]
    fn a_process_that_is_not_split_up_is_one_entry() {
        let event = event(
            &[
                (Fact::Requested, "90.00 MiB"),
                (Fact::Capacity, "23.64 GiB"),
                (Fact::Free, "70.00 MiB"),
                (Fact::Process, "23.07 GiB"),
            ],
            &[(31, "512.00 MiB")],
        );
        let ledger = settle(&event);
        assert_eq!(ledger.amount(Holder::ThisProcess), event.facts.get(Fact::Process).map(|f| f.interval()));
        let sum: Interval = ledger.entries.iter().map(|entry| entry.amount).sum();
        let capacity = ledger.capacity.unwrap();
        assert!(sum.low <= capacity.high + NEGLIGIBLE && sum.high >= capacity.low - NEGLIGIBLE, "{sum} of {capacity}");
    }

    #[test]
    fn what_may_be_the_frameworks_own_cache_is_nobodys_else() {
        let figures = [
            (Fact::Requested, "640.00 MiB"),
            (Fact::Capacity, "29.50 GiB"),
            (Fact::Free, "288.10 MiB"),
            (Fact::Allocated, "27.75 GiB"),
        ];
        let ledger = settle(&event(&figures, &[]));
        assert_eq!((ledger.outside, ledger.amount(Holder::Outside)), (None, None));
        let told = [&figures[..], &[(Fact::Reserved, "28.00 GiB")]].concat();
        assert!((gib(settle(&event(&told, &[])).amount(Holder::Outside)) - 1.22).abs() < 0.01);
    }

    #[test]
    fn what_nobody_names_is_an_entry_of_its_own() {
        let event = event(
            &[
                (Fact::Requested, "300.00 MiB"),
                (Fact::Capacity, "47.50 GiB"),
                (Fact::Free, "194.56 MiB"),
                (Fact::Allocated, "37.60 GiB"),
                (Fact::ReservedUnallocated, "302.00 MiB"),
            ],
            &[],
        );
        let ledger = settle(&event);
        assert!((gib(ledger.amount(Holder::Outside)) - 9.41).abs() < 0.01);
        assert_eq!(ledger.unexplained, None, "without a process line, what is outside cannot be split");
    }

    #[test]
    fn this_process_is_recognised_under_its_host_pid() {
        let figures = [
            (Fact::Requested, "270.00 MiB"),
            (Fact::Capacity, "21.67 GiB"),
            (Fact::Free, "255.75 MiB"),
            (Fact::Allocated, "20.08 GiB"),
            (Fact::ReservedUnallocated, "56.49 MiB"),
        ];
        let ledger = settle(&event(&figures, &[(2109, "344.00 MiB"), (1448259, "21.07 GiB")]));
        assert_eq!(ledger.self_listed_as, Some(1448259));
        assert!((gib(ledger.others) - 0.336).abs() < 0.001);
        assert!(gib(ledger.non_framework) < 1.0);

        let rival = settle(&event(
            &[
                (Fact::Capacity, "21.67 GiB"),
                (Fact::Free, "0 bytes"),
                (Fact::Allocated, "1.00 GiB"),
                (Fact::ReservedUnallocated, "0 bytes"),
            ],
            &[(9, "19.00 GiB")],
        ));
        assert_eq!(rival.self_listed_as, None, "a process far larger than what PyTorch holds is somebody else");
    }

    #[test]
    fn private_pools_are_taken_off_what_is_printed_as_allocated() {
        let event = event(
            &[
                (Fact::Requested, "1024.00 MiB"),
                (Fact::Capacity, "8.00 GiB"),
                (Fact::Free, "612.00 MiB"),
                (Fact::Process, "7.40 GiB"),
                (Fact::Allocated, "7.00 GiB"),
                (Fact::PrivatePools, "2.00 GiB"),
                (Fact::ReservedUnallocated, "0 bytes"),
            ],
            &[],
        );
        let ledger = settle(&event);
        assert_eq!(gib(ledger.allocated), 5.0);
        assert_eq!(gib(ledger.cached), 2.0);
        assert_eq!(gib(ledger.reserved), 7.0);
    }

    #[test]
    fn contradictions_are_told() {
        let refused = settle(&event(
            &[(Fact::Requested, "430.00 MiB"), (Fact::Capacity, "23.99 GiB"), (Fact::Free, "17.55 GiB")],
            &[],
        ));
        assert_eq!(refused.contradictions.len(), 1);
        let mut underflow = event(&[(Fact::Requested, "20.00 MiB")], &[]);
        underflow.facts.unreadable.insert(Fact::Process, Span::line(3));
        assert_eq!(settle(&underflow).contradictions[0].lines, vec![3]);
        let sound = settle(&event(
            &[(Fact::Requested, "2.00 GiB"), (Fact::Capacity, "8.00 GiB"), (Fact::Free, "1.00 GiB")],
            &[],
        ));
        assert!(sound.contradictions.is_empty());
    }

    #[test]
    fn a_card_of_whole_gibibytes_is_one_under_windows_unless_it_is_not_nvidias() {
        use super::looks_like_wddm;
        use crate::domain::Sign;
        let whole = |gib: f64| Some(Interval::exactly((gib * GIB as f64) as u64));
        let plain = event(&[], &[]);
        for (gib, looks) in [
            (8.0, true),
            (23.99, true),
            (24.01, true),
            (23.98, false),
            (7.79, false),
            (2.0, true),
            (48.0, true),
            (1.0, false),
            (80.0, false),
        ] {
            assert_eq!(looks_like_wddm(&plain, whole(gib)), looks, "{gib}");
        }
        assert!(!looks_like_wddm(&plain, None));
        let signed = |sign: Sign| {
            let mut event = event(&[], &[]);
            event.signs.insert(sign, Span::line(1));
            event
        };
        for sign in [Sign::Hip, Sign::Mps, Sign::Xpu] {
            assert!(!looks_like_wddm(&signed(sign), whole(24.0)), "{sign}");
        }
        assert!(looks_like_wddm(&signed(Sign::Windows), None));
    }
}
