//! The memory account of a failure: every byte of the device named, or marked as unexplained, with its error bounds.

use crate::dialect::{Event, Fact, Sign};
use crate::domain::named_variants;
use crate::estimate::loader::{Loader, Need};
use crate::host_ledger;
use crate::incident::Context;
use crate::text;
use crate::text::Text;
use crate::units::{Bytes, GIB, Interval, MIB, signed};

named_variants! {
    /// Whom a part of the device belongs to.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum Holder {
        /// Handed out by the framework's allocator: tensors, workspaces.
        Allocated = "allocated",
        /// Held by the framework's allocator, free inside its default pools.
        Cached = "cached",
        /// Free blocks inside private pools (CUDA graphs, MemPool).
        PrivatePools = "private-pools",
        /// This process, outside the framework's allocator: context, NCCL, other libraries.
        NonFramework = "non-framework",
        /// All of this process, where the message does not say what of it the framework holds.
        ThisProcess = "this-process",
        /// Another process that the message names.
        OtherProcess(u64) = "other-process",
        /// Context, libraries and other processes together, where the message does not separate them.
        Outside = "outside",
        /// Free.
        Free = "free",
        /// Neither free nor held by anyone the message names.
        Unexplained = "unexplained",
        /// Host: the process that was killed or failed, its private pages.
        Victim = "victim",
        /// Host: private pages of the other tasks that share the limit.
        OtherTasks = "other-tasks",
        /// Host: files in /dev/shm and tmpfs.
        SharedFiles = "shared-files",
        /// Host: page tables and kernel objects.
        Kernel = "kernel",
        /// Host: file pages that can be dropped.
        FileCache = "file-cache",
        /// Host: in use, but by none of the processes listed.
        Unlisted = "unlisted",
        /// Host, computed: the training processes that the loaders belong to.
        TrainingProcesses = "training-processes",
        /// Host, computed: private pages of the loaders' workers.
        Workers = "workers",
        /// Host, computed: prefetched batches in shared memory.
        PrefetchedBatches = "prefetched-batches",
        /// Host, computed: pinned copies of batches.
        PinnedBatches = "pinned-batches",
        /// Host, computed: samples kept by the processes that read them.
        SampleCaches = "sample-caches",
    }
}

/// One line of the account.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    pub holder: Holder,
    pub amount: Interval,
    /// How it was arrived at, with the figures.
    pub basis: Text,
}

/// Something in the message that contradicts itself or does not mean what it seems to.
#[derive(Debug, Clone, PartialEq)]
pub struct Contradiction {
    pub text: Text,
    pub lines: Vec<u64>,
}

/// The account. Every quantity that the message does not determine is `None`.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Ledger {
    pub capacity: Option<Interval>,
    /// The parts of the capacity, largest meaning first; they add up to it within their bounds.
    pub entries: Vec<Entry>,
    pub contradictions: Vec<Contradiction>,

    pub requested: Option<Interval>,
    pub free: Option<Interval>,
    /// Truly handed out (private pools' free blocks taken off).
    pub allocated: Option<Interval>,
    /// Held by the framework's allocator in all.
    pub reserved: Option<Interval>,
    /// Held by the framework's allocator and not handed out, private pools included.
    pub cached: Option<Interval>,
    /// This process outside the framework's allocator.
    pub non_framework: Option<Interval>,
    /// Everything on the device that is neither free nor this framework's: context, libraries, other processes, hidden.
    pub outside: Option<Interval>,
    /// Named other processes, this one taken off where it was listed under a host pid.
    pub others: Option<Interval>,
    /// Neither free nor held by anyone named.
    pub unexplained: Option<Interval>,
    /// The pid under which this very process is listed as another one (a container without the host's pid namespace).
    pub self_listed_as: Option<u64>,
    /// Request − free: what was missing if no cached memory could serve.
    pub short_of_free: Option<Interval>,
    /// Request − (free + cached): what was missing even if all cached memory could have served; negative when it would have sufficed.
    pub short_of_free_and_cached: Option<Interval>,
    /// The cap of a memory fraction or watermark, where one applies.
    pub cap: Option<Interval>,
    /// What the entries of a failure on the host are held against: the limit that was hit, or the machine's RAM.
    pub bound: Option<Interval>,
    /// What the data loaders take by their settings, where these are known.
    pub loader: Option<LoaderAccount>,
}

/// The arithmetic of a job's data loaders against the memory that is to hold them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LoaderAccount {
    pub loader: Loader,
    pub need: Need,
    pub limit: Interval,
    /// False where the batch size is not known and 1 stands for it, which makes the need a lower bound.
    pub batch_known: bool,
    /// The most workers per process for which all of it stays within the limit, caches in the end included.
    pub workers_that_fit: Option<u64>,
    /// The same for the batch size.
    pub batch_that_fits: Option<u64>,
    /// Bytes that each process which reads samples may cache.
    pub cache_that_fits: Option<u64>,
    /// Bytes of one cache that all processes share.
    pub shared_cache_that_fits: Option<u64>,
}

impl LoaderAccount {
    /// True when all that the settings take, caches in the end included, surely stays within the limit.
    pub fn fits(&self) -> bool {
        self.limit.surely_at_least(self.need.in_the_end())
    }

    pub fn new(loader: Loader, limit: Interval, batch_known: bool) -> LoaderAccount {
        LoaderAccount {
            need: loader.need(),
            limit,
            batch_known,
            workers_that_fit: loader.workers_that_fit(limit),
            batch_that_fits: loader.batch_that_fits(limit),
            cache_that_fits: loader.cache_that_fits(limit),
            shared_cache_that_fits: loader.shared_cache_that_fits(limit),
            loader,
        }
    }
}

impl Ledger {
    pub fn amount(&self, holder: Holder) -> Option<Interval> {
        self.entries.iter().find(|entry| entry.holder == holder).map(|entry| entry.amount)
    }

    /// What the entries are parts of: the device, or on the host the limit or the machine's RAM.
    pub fn whole(&self) -> Option<Interval> {
        self.bound.or(self.capacity)
    }

    /// Puts in what the data loaders take by the settings in the log and those that the user gave. Where the failure itself
    /// tells no parts, these are the account.
    pub fn add_loader(&mut self, event: &Event, context: &Context) {
        let Some(account) = host_ledger::loader(event, context) else { return };
        if self.entries.iter().all(|entry| entry.holder == Holder::Free) {
            self.entries = host_ledger::loader_entries(&account);
            self.bound = Some(account.limit);
        }
        self.loader = Some(account);
    }

    /// An amount as a share of [`Ledger::whole`], by the middles of both; `None` without one.
    pub fn share(&self, amount: Option<Interval>) -> Option<f64> {
        let capacity = self.whole()?.middle();
        if capacity <= 0 { None } else { Some(amount?.middle() as f64 / capacity as f64) }
    }
}

/// Below this, what nobody names is the driver's own housekeeping and not worth a line of the account.
/// `cudaMemGetInfo`'s total already leaves out the driver's reserve, so on a healthy device the rest is near 0.
const NEGLIGIBLE: i128 = 16 * MIB as i128;

/// The largest plausible difference between what the driver says a process holds and what PyTorch reserved, for the
/// guess that a listed pid is this very process: context and libraries take 0.2–0.6 GiB, with NCCL and graphs up to this.
const CONTEXT_AT_MOST: i128 = 2 * GIB as i128;

/// Makes the account of an event.
///
/// The identities are those of PyTorch's message (`reportProcessMemoryInfo` and `malloc` in `CUDACachingAllocator.cpp`):
/// reserved = allocated + cached in every version; from 2.4 on the printed "allocated" contains the free blocks of private
/// pools, which are taken off here; the driver's figure for this process contains reserved.
pub fn settle(event: &Event) -> Ledger {
    let facts = &event.facts;
    let printed = |fact: Fact| facts.get(fact).map(|figure| figure.interval());
    let mut ledger = Ledger {
        requested: printed(Fact::Requested),
        free: printed(Fact::Free),
        capacity: printed(Fact::Capacity),
        cap: printed(Fact::FractionLimit).or_else(|| printed(Fact::Limit)),
        ..Ledger::default()
    };
    if ledger.free.is_none()
        && let (Some(capacity), Some(used)) = (ledger.capacity, printed(Fact::Used))
    {
        ledger.free = Some((capacity - used).at_least_zero());
    }
    let pools = printed(Fact::PrivatePools);
    let printed_allocated = printed(Fact::Allocated);
    ledger.allocated = match (printed_allocated, pools) {
        (Some(allocated), Some(pools)) => Some((allocated - pools).at_least_zero()),
        (allocated, _) => allocated,
    };
    let default_cached = printed(Fact::ReservedUnallocated).or_else(|| printed(Fact::Cached));
    ledger.reserved = match (printed(Fact::Reserved), printed_allocated, default_cached) {
        (Some(reserved), ..) => Some(reserved),
        (None, Some(allocated), Some(cached)) => Some(allocated + cached),
        _ => None,
    };
    let default_cached = match (default_cached, ledger.reserved, printed_allocated) {
        (Some(cached), ..) => Some(cached),
        (None, Some(reserved), Some(allocated)) => Some((reserved - allocated).at_least_zero()),
        _ => None,
    };
    ledger.cached = match (default_cached, pools) {
        (Some(cached), Some(pools)) => Some(cached + pools),
        (cached, _) => cached,
    };
    // Where only "allocated" is printed, it is the least that the framework holds.
    let held = ledger.reserved.or(printed_allocated);

    let process = printed(Fact::Process).or_else(|| {
        let pid = listed_self(event, held?)?;
        ledger.self_listed_as = Some(pid);
        facts.other_processes.iter().find(|other| other.pid == pid).map(|other| other.figure.interval())
    });
    let named: Vec<_> =
        facts.other_processes.iter().filter(|other| Some(other.pid) != ledger.self_listed_as).copied().collect();
    if !named.is_empty() {
        ledger.others = Some(named.iter().map(|other| other.figure.interval()).sum());
    }
    if let (Some(process), Some(held)) = (process, held)
        && !event.has(Sign::AsyncBackend)
    {
        ledger.non_framework = Some((process - held).at_least_zero());
    }
    if let Some(other) = printed(Fact::OtherAllocations) {
        ledger.non_framework = Some(other);
    }
    if let (Some(capacity), Some(free)) = (ledger.capacity, ledger.free) {
        let used = capacity - free;
        if let Some(held) = held {
            ledger.outside = Some((used - held).at_least_zero());
        }
        let others = ledger.others.unwrap_or(Interval::exactly(0));
        if let Some(process) = process {
            ledger.unexplained = Some(used - process - others);
        }
    }
    if let (Some(requested), Some(free)) = (ledger.requested, ledger.free) {
        ledger.short_of_free = Some(requested - free);
        if let Some(cached) = ledger.cached {
            ledger.short_of_free_and_cached = Some(requested - free - cached);
        }
    }
    ledger.entries = entries(event, &ledger, default_cached, pools, process, &named);
    if event.resource.on_host()
        && let Some((bound, entries)) = host_ledger::settle(event)
    {
        ledger.bound = Some(bound);
        ledger.entries = entries;
    }
    ledger.contradictions = contradictions(event, &ledger, process, held);
    ledger
}

/// The pid under which the failing process itself is listed, if that is plain: a container without the host's pid
/// namespace sees host pids, so `getpid()` matches none and no "this process" line is printed. The listed process whose
/// figure is what PyTorch reserved plus a context is this one.
fn listed_self(event: &Event, held: Interval) -> Option<u64> {
    if held.middle() < 64 * MIB as i128 {
        return None;
    }
    event
        .facts
        .other_processes
        .iter()
        .map(|other| (other.figure.interval() - held, other.pid))
        .filter(|(beyond, _)| beyond.high >= 0 && beyond.low <= CONTEXT_AT_MOST)
        .min_by_key(|(beyond, _)| beyond.middle().abs())
        .map(|(_, pid)| pid)
}

fn entries(
    event: &Event,
    ledger: &Ledger,
    default_cached: Option<Interval>,
    pools: Option<Interval>,
    process: Option<Interval>,
    named: &[crate::dialect::ProcessUse],
) -> Vec<Entry> {
    let mut entries = Vec::new();
    let mut add = |holder, amount: Option<Interval>, basis: Text| {
        if let Some(amount) = amount {
            entries.push(Entry { holder, amount, basis });
        }
    };
    add(
        Holder::Allocated,
        ledger.allocated,
        match pools {
            Some(pools) => {
                text!(en: "printed as allocated, less {pools} of free blocks in private pools", zh: "打印的已分配量减去私有池中的空闲块 {pools}")
            }
            None => text!(en: "printed as allocated", zh: "打印的已分配量"),
        },
    );
    add(
        Holder::PrivatePools,
        pools,
        text!(en: "free blocks of private pools (CUDA graphs), which only their own graphs can use", zh: "私有池（CUDA Graphs）中的空闲块，只有对应的图能使用"),
    );
    add(
        Holder::Cached,
        default_cached,
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
            text!(en: "printed as other allocations (Metal, graph caches)", zh: "打印的其他分配（Metal、图缓存）"),
        );
    } else if process.is_some() {
        add(
            Holder::NonFramework,
            ledger.non_framework.filter(|amount| amount.high > NEGLIGIBLE),
            text!(en: "what the driver counts for this process, less what PyTorch reserved", zh: "驱动统计的本进程用量减去 PyTorch 保留量"),
        );
    }
    if ledger.allocated.is_none() && ledger.reserved.is_none() {
        add(
            Holder::ThisProcess,
            process,
            text!(en: "printed for this process, without the framework's share of it", zh: "打印的本进程用量，未区分框架所占"),
        );
    }
    for other in named {
        add(
            Holder::OtherProcess(other.pid),
            Some(other.figure.interval()),
            text!(en: "printed for process {}", zh: "打印的进程 {} 用量", other.pid),
        );
    }
    if process.is_some() {
        add(
            Holder::Unexplained,
            ledger.unexplained.filter(|amount| amount.low > NEGLIGIBLE),
            text!(en: "capacity − free − every process named", zh: "总容量 − 空闲 − 所有已列出的进程"),
        );
    } else if let Some(outside) = ledger.outside {
        let outside = outside - ledger.others.unwrap_or(Interval::exactly(0));
        add(
            Holder::Outside,
            Some(outside.at_least_zero()).filter(|amount| amount.high > NEGLIGIBLE),
            text!(
                en: "capacity − free − what this framework holds: context, libraries and other processes, which the message does not tell apart",
                zh: "总容量 − 空闲 − 框架持有量：CUDA 上下文、库和其他进程，报错信息没有区分"
            ),
        );
    }
    add(Holder::Free, ledger.free, text!(en: "printed as free", zh: "打印的空闲量"));
    entries
}

fn contradictions(
    event: &Event,
    ledger: &Ledger,
    process: Option<Interval>,
    held: Option<Interval>,
) -> Vec<Contradiction> {
    let mut found = Vec::new();
    let facts = &event.facts;
    let line_of = |fact: Fact| facts.get(fact).map_or(event.at.first, |figure| figure.at.first);
    let mut tell = |lines: Vec<u64>, text: Text| found.push(Contradiction { text, lines });

    for (fact, at) in &facts.unreadable {
        let name = fact.id().trim_end_matches("_bytes").replace('_', " ");
        tell(
            vec![at.first],
            text!(
                en: "the figure printed for {name} is 2^64 minus something: a difference that went below zero, or a reading the driver does not give; it is treated as unknown",
                zh: "{name} 的打印值接近 2^64：差值下溢或驱动不提供该读数，按未知处理"
            ),
        );
    }
    if let Some(pid) = ledger.self_listed_as {
        tell(
            facts.other_processes.iter().filter(|other| other.pid == pid).map(|other| other.figure.at.first).collect(),
            text!(
                en: "“Process {pid}” is almost surely this very process under its host pid: it holds what PyTorch reserved plus a context, and no “this process” line is printed (a container without the host's pid namespace)",
                zh: "“Process {pid}” 几乎可以确定就是本进程（宿主机 pid）：其用量等于 PyTorch 保留量加上下文，且没有 “this process” 一行（容器未共享宿主机 pid 命名空间）"
            ),
        );
    }
    if let (Some(requested), Some(free)) = (ledger.requested, ledger.free)
        && free.low >= requested.high
        && ledger.cap.is_none()
    {
        tell(
            vec![line_of(Fact::Free)],
            text!(
                en: "{free} is printed as free although {requested} was refused: “free” is read after the failed attempt, when cached memory has been given back or another process has let go",
                zh: "打印的空闲量 {free} 大于被拒绝的请求 {requested}：“free” 是在失败之后读取的，那时缓存已归还或其他进程已释放"
            ),
        );
    }
    if let (Some(requested), Some(capacity)) = (ledger.requested, ledger.capacity)
        && requested.low > capacity.high
    {
        tell(
            vec![line_of(Fact::Requested)],
            text!(en: "{requested} is asked of a device that has {capacity} in all", zh: "请求 {requested}，而整个设备只有 {capacity}"),
        );
    }
    if let (Some(process), Some(held)) = (process, held)
        && process.high < held.low
    {
        tell(
            vec![line_of(Fact::Process)],
            text!(
                en: "the driver counts {process} for this process, less than the {held} that PyTorch has reserved: the reading is from another moment, or the memory is not counted for this pid",
                zh: "驱动统计本进程 {process}，少于 PyTorch 保留的 {held}：读数时刻不同，或这部分显存未计入该 pid"
            ),
        );
    }
    if let Some(unexplained) = ledger.unexplained
        && unexplained.high < -NEGLIGIBLE
    {
        tell(
            vec![event.at.first],
            text!(
                en: "the parts add up to more than the device has, by {}: they were read at different moments, or memory is shared between processes",
                zh: "各部分之和超过设备总量 {}：读数时刻不同，或存在进程间共享",
                signed(-unexplained.middle())
            ),
        );
    }
    if let (Some(held), Some(cap)) = (held, ledger.cap)
        && held.low > cap.high
    {
        tell(
            vec![line_of(Fact::Allocated)],
            text!(en: "{held} is held although the limit is {cap}: the limit was set or lowered afterwards", zh: "已持有 {held}，超过上限 {cap}：上限是之后才设置或调低的"),
        );
    }
    if event.resource.on_device()
        && facts.get(Fact::Allocated).is_some_and(|figure| figure.bytes == 0)
        && ledger.share(ledger.outside).is_some_and(|share| share > 0.05)
    {
        tell(
            vec![line_of(Fact::Allocated)],
            text!(en: "PyTorch held nothing yet: this was its first request, and the device was already taken", zh: "PyTorch 当时还没有持有任何显存：这是第一次请求，设备已被占用"),
        );
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::{ProcessUse, Resource};
    use crate::domain::Program;
    use crate::evidence::Span;
    use crate::units::{self, Base};

    fn event(figures: &[(Fact, &str)], others: &[(u64, &str)]) -> Event {
        let mut event = Event::new("test", Program::Pytorch, Resource::Gpu, Span::line(1));
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
        let ledger = settle(&event);
        assert!((gib(ledger.reserved) - 20.40).abs() < 0.01);
        assert!((gib(ledger.non_framework) - 0.60).abs() < 0.01);
        assert!((gib(ledger.others) - 1.90).abs() < 0.01);
        let sum: Interval = ledger.entries.iter().map(|entry| entry.amount).sum();
        let capacity = ledger.capacity.unwrap();
        assert!(sum.low <= capacity.high + NEGLIGIBLE && sum.high >= capacity.low - NEGLIGIBLE, "{sum} of {capacity}");
        assert!(ledger.short_of_free_and_cached.unwrap().high < 0);
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
}
