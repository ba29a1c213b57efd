//! Messages printed from a state that is known, and what the account may and may not say of it.

use super::identity::{Identity, strangers};
use super::proof::{self, Holds, ProofKind};
use super::{Holder, Ledger, settle};
use crate::dialect::{Event, Fact, Resource, events};
use crate::domain::{Number, Program};
use crate::evidence::Span;
use crate::input::Document;
use crate::units::{Figure, GIB, Interval, KIB, MIB};
use proptest::prelude::*;

/// The pid of the failing process on the host.
const OWN: u64 = 700_001;

/// What is true, in bytes.
#[derive(Debug, Clone)]
struct Truth {
    live: u64,
    pools: u64,
    cached: u64,
    non_framework: u64,
    /// Other processes that the driver lists.
    others: Vec<(u64, u64)>,
    /// Held by nobody listed.
    hidden: u64,
    free: u64,
    requested: u64,
}

impl Truth {
    fn reserved(&self) -> u64 {
        self.live + self.pools + self.cached
    }

    fn process(&self) -> u64 {
        self.reserved() + self.non_framework
    }

    fn listed(&self) -> u64 {
        self.others.iter().map(|(_, bytes)| bytes).sum()
    }

    fn capacity(&self) -> u64 {
        self.process() + self.listed() + self.hidden + self.free
    }
}

/// How the processes are listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Listing {
    /// None: Windows, ROCm, an NVML that fails.
    Nothing,
    /// This process and the others.
    ToldApart,
    /// All under the host's pids, this one among them.
    HostPids,
    /// Only the others.
    OnlyOthers,
}

/// PyTorch's `format_size`.
fn size(bytes: u64) -> String {
    let of = |unit: u64| format!("{:.2}", bytes as f64 / unit as f64);
    match bytes {
        0..=KIB => format!("{bytes} bytes"),
        n if n <= MIB => format!("{} KiB", of(KIB)),
        n if n <= GIB => format!("{} MiB", of(MIB)),
        _ => format!("{} GiB", of(GIB)),
    }
}

/// The message of a version, counted as 100 × major + minor.
fn message(truth: &Truth, version: u32, listing: Listing) -> String {
    let (want, all, free) = (size(truth.requested), size(truth.capacity()), size(truth.free));
    let head = format!("RuntimeError: CUDA out of memory. Tried to allocate {want}");
    if version < 201 {
        let last = match version {
            ..=103 => format!("{} cached)", size(truth.cached)),
            _ => format!("{} reserved in total by PyTorch)", size(truth.live + truth.cached)),
        };
        let live = size(truth.live);
        return format!("{head} (GPU 0; {all} total capacity; {live} already allocated; {free} free; {last}\n");
    }
    let mut text = format!("{head}. GPU 0 has a total capacity of {all} of which {free} is free. ");
    let own = size(truth.process());
    let named = |pid: u64, held: &str| format!("Process {pid} has {held} memory in use. ");
    match listing {
        Listing::Nothing | Listing::OnlyOthers => {}
        Listing::ToldApart => {
            text.push_str(&format!("Including non-PyTorch memory, this process has {own} memory in use. "));
        }
        Listing::HostPids => text.push_str(&named(OWN, &own)),
    }
    if listing != Listing::Nothing {
        for (pid, bytes) in &truth.others {
            text.push_str(&named(*pid, &size(*bytes)));
        }
    }
    let pools = if version >= 204 { truth.pools } else { 0 };
    let (allocated, cached) = (size(truth.live + pools), size(truth.cached));
    text.push_str(&format!("Of the allocated memory {allocated} is allocated by PyTorch, "));
    if pools > 0 {
        let pools = size(pools);
        text.push_str(&format!("with {pools} allocated in private pools (e.g., CUDA Graphs), "));
    }
    text.push_str(&format!("and {cached} is reserved by PyTorch but unallocated.\n"));
    text
}

fn truth() -> impl Strategy<Value = Truth> {
    let amount = |most: u64| prop_oneof![1 => Just(0), 2 => 0..=64 * MIB, 4 => 0..=most];
    let own = (amount(40 * GIB), amount(4 * GIB), amount(12 * GIB), 80 * MIB..=9 * GIB);
    let other = (1u64..700_000, 70 * MIB..=40 * GIB);
    let rest = (prop::collection::vec(other, 0..4), amount(20 * GIB), amount(4 * GIB), 512u64..=48 * GIB);
    // Ranks of one job hold nearly the same.
    let twin = prop_oneof![2 => Just(None), 1 => (0..=600 * MIB).prop_map(Some)];
    (own, rest, twin).prop_map(|((live, pools, cached, non_framework), (mut others, hidden, free, requested), twin)| {
        if let (Some(more), Some((_, bytes))) = (twin, others.first_mut()) {
            *bytes = live + pools + cached + more;
        }
        others.retain(|(_, bytes)| *bytes > 0);
        others.sort_unstable();
        others.dedup_by_key(|(pid, _)| *pid);
        Truth { live, pools, cached, non_framework, others, hidden, free, requested }
    })
}

const VERSIONS: [u32; 8] = [100, 103, 104, 110, 201, 202, 204, 205];

fn listing() -> impl Strategy<Value = Listing> {
    prop_oneof![Just(Listing::Nothing), Just(Listing::ToldApart), Just(Listing::HostPids), Just(Listing::OnlyOthers)]
}

fn read(text: &str) -> Event {
    events(&Document::from_text("-", text)).into_iter().next().expect("the message is read")
}

fn contains(interval: Interval, bytes: u64) -> bool {
    interval.low <= i128::from(bytes) && i128::from(bytes) <= interval.high
}

fn parts_fit(ledger: &Ledger) -> bool {
    let sum: Interval = ledger.entries.iter().map(|entry| entry.amount).sum();
    ledger.whole().is_none_or(|whole| sum.low <= whole.high)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn what_the_account_says_is_true(truth in truth(), version in prop::sample::select(&VERSIONS), listing in listing()) {
        // Before 2.4 the free blocks of private pools are part of the cache.
        let truth = match version {
            204.. => truth,
            _ => Truth { cached: truth.cached + truth.pools, pools: 0, ..truth },
        };
        let text = message(&truth, version, listing);
        let event = read(&text);
        let ledger = settle(&event);
        let names = version >= 201 && listing != Listing::Nothing;
        prop_assert!(ledger.consistent(), "{:?}\n{text}", ledger.contradictions);
        prop_assert!(parts_fit(&ledger), "{:#?}\n{text}", ledger.entries);
        let shown = |pid: u64| ledger.entries.iter().any(|entry| entry.holder == Holder::OtherProcess(pid));
        for entry in &ledger.entries {
            let bytes = match entry.holder {
                Holder::Allocated => truth.live,
                Holder::PrivatePools => truth.pools,
                Holder::Cached => truth.cached,
                Holder::NonFramework => truth.non_framework,
                Holder::Free => truth.free,
                Holder::ThisProcess => truth.process(),
                Holder::Unexplained => truth.hidden,
                Holder::OtherProcess(pid) => {
                    prop_assert_ne!(pid, OWN, "own memory is called a stranger's\n{}", text);
                    truth.others.iter().find(|(other, _)| *other == pid).map_or(0, |(_, bytes)| *bytes)
                }
                Holder::Outside => {
                    let apart = truth.others.iter().filter(|(pid, _)| !shown(*pid)).map(|(_, bytes)| bytes).sum::<u64>();
                    truth.non_framework + truth.hidden + apart
                }
                holder => return Err(TestCaseError::fail(format!("{holder:?} of a device"))),
            };
            prop_assert!(contains(entry.amount, bytes), "{entry:?} is {bytes}\n{text}");
        }
        if let Some(others) = ledger.others {
            prop_assert!(names && contains(others, truth.listed()), "{others:?} is {}\n{text}", truth.listed());
        }
        match &ledger.identity {
            Identity::ListedAs(pid) => prop_assert_eq!((*pid, listing), (OWN, Listing::HostPids), "{}", text),
            Identity::AnyOf { pids, surely } => {
                prop_assert!(!surely || pids.contains(&OWN), "{text}");
                prop_assert!(listing != Listing::HostPids || pids.contains(&OWN), "{text}");
            }
            Identity::AllOthers => prop_assert_eq!(listing, Listing::OnlyOthers, "{}", text),
            Identity::ToldApart => prop_assert_eq!(listing, Listing::ToldApart),
            Identity::NoneListed => {}
        }
        let strangers = strangers(&event, &ledger);
        prop_assert!(!strangers.sure.contains(&OWN) && (strangers.sure.is_empty() || listing == Listing::ToldApart));
    }

    #[test]
    fn what_is_proved_is_true(truth in truth(), version in prop::sample::select(&VERSIONS), listing in listing()) {
        let truth = Truth { cached: truth.cached + truth.pools, pools: 0, ..truth };
        let text = message(&truth, version, listing);
        let event = read(&text);
        let proofs = proof::all(&event, &settle(&event), None);
        let holds = |kind| proof::of(&proofs, kind).map_or(Holds::Open, |proof| proof.holds);
        let check = |kind: ProofKind, certain: bool, refuted: bool| match holds(kind) {
            Holds::Certain => certain,
            Holds::Refuted => refuted,
            Holds::Open => true,
        };
        let Truth { requested, free, cached, .. } = truth;
        let foreign = truth.listed() + truth.hidden;
        let all = truth.capacity();
        let cases = [
            (ProofKind::RequestExceedsDevice, requested > all, requested <= all),
            (ProofKind::RequestExceedsAllButOthers, requested > free + truth.process(), requested <= free + truth.process()),
            // Without a process line the context counts as what others can hold at the most.
            (ProofKind::FitsWithoutOthers, requested <= free + foreign, requested > free + foreign),
            (ProofKind::FitsInFreeAndCached, requested <= free + cached && requested > free, requested > free + cached),
            (ProofKind::FitsInCache, requested <= cached, requested > cached),
            (ProofKind::FitsWithoutNonFramework, requested <= free + truth.non_framework, true),
        ];
        for (kind, certain, refuted) in cases {
            prop_assert!(check(kind, certain, refuted), "{kind:?} {:?}\n{text}", holds(kind));
        }
    }

    #[test]
    fn figures_that_contradict_each_other_never_make_parts_larger_than_the_whole(
        truth in truth(),
        listing in listing(),
        version in prop::sample::select(&VERSIONS),
        altered in prop::collection::vec((0usize..24, prop_oneof![Just(0.0), 0.01f64..40.0]), 1..4),
    ) {
        let text = message(&truth, version, listing);
        let mut event = read(&text);
        for (at, factor) in altered {
            let figures = event.facts.sizes.values_mut().chain(event.facts.other_processes.iter_mut().map(|p| &mut p.figure));
            if let Some(figure) = figures.into_iter().nth(at) {
                figure.bytes = (figure.bytes as f64 * factor) as u64;
            }
        }
        let ledger = settle(&event);
        prop_assert!(parts_fit(&ledger), "{:#?}\n{:?}\n{text}", ledger.entries, ledger.contradictions);
        prop_assert!(ledger.entries.iter().all(|entry| entry.amount.low >= 0), "{:#?}", ledger.entries);
        prop_assert!(!strangers(&event, &ledger).sure.contains(&OWN));
        if let (Some(capacity), true) = (ledger.capacity, ledger.consistent()) {
            let own = ledger.process.or(ledger.reserved).unwrap_or(Interval::exactly(0));
            let others = ledger.others.unwrap_or(Interval::exactly(0));
            let lent = own.low > capacity.high;
            prop_assert!(lent || (own + others).low <= capacity.high * 102 / 100, "{ledger:#?}");
        }
    }

    /// The counters of a group, some of them as if read at another moment or with what was swapped out.
    #[test]
    fn the_counters_of_a_host_never_exceed_what_they_are_held_against(
        kernel: bool,
        limit in MIB..=512 * GIB,
        figures in prop::collection::vec(prop_oneof![Just(None), (0..=600 * GIB).prop_map(Some)], 10),
    ) {
        let resource = if kernel { Resource::Cgroup } else { Resource::Host };
        let (dialect, program) = if kernel { ("kernel-oom-kill", Program::LinuxKernel) } else { ("ray-monitor", Program::Ray) };
        let mut event = Event::new(dialect, program, resource, Span::line(1));
        let figure = |bytes| Figure { bytes, half_width: 0, at: Span::line(1) };
        event.facts.note(if kernel { Fact::Limit } else { Fact::Capacity }, figure(limit));
        let sizes = [Fact::AnonRss, Fact::Process, Fact::Used, Fact::Free];
        let numbers = [Number::Anon, Number::Shmem, Number::File, Number::Kmem, Number::TableSum, Number::TopUsersSum];
        for (fact, bytes) in sizes.into_iter().zip(&figures) {
            bytes.iter().for_each(|bytes| event.facts.note(fact, figure(*bytes)));
        }
        for (number, bytes) in numbers.into_iter().zip(&figures[4..]) {
            bytes.iter().for_each(|bytes| { event.facts.numbers.insert(number, (*bytes as f64, Span::line(1))); });
        }
        let ledger = settle(&event);
        prop_assert!(parts_fit(&ledger), "{:#?}", ledger.entries);
        prop_assert!(ledger.entries.iter().all(|entry| entry.amount.low >= 0), "{:#?}", ledger.entries);
    }

    /// Pools and watermarks: a limit is compared with what is held, and is never part of it.
    #[test]
    fn a_limit_is_no_holding(
        program in prop::sample::select(vec![Program::Tensorflow, Program::Jax, Program::Pytorch, Program::Vllm, Program::Mlx]),
        limit in MIB..=96 * GIB,
        allocated in 0..=96 * GIB,
        requested in 1..=96 * GIB,
        capacity in prop_oneof![Just(None), (GIB..=96 * GIB).prop_map(Some)],
        fraction: bool,
    ) {
        let mut event = Event::new("test", program, Resource::Gpu, Span::line(1));
        let figure = |bytes| Figure { bytes, half_width: 0, at: Span::line(1) };
        event.facts.note(if fraction { Fact::FractionLimit } else { Fact::Limit }, figure(limit));
        event.facts.note(Fact::Allocated, figure(allocated));
        event.facts.note(Fact::Requested, figure(requested));
        capacity.into_iter().for_each(|capacity| event.facts.note(Fact::Capacity, figure(capacity)));
        let ledger = settle(&event);
        prop_assert!(parts_fit(&ledger), "{:#?}", ledger.entries);
        prop_assert!(ledger.reserved.is_none() && ledger.entries.iter().all(|entry| entry.holder == Holder::Allocated));
        let proofs = proof::all(&event, &ledger, None);
        let beyond = proof::of(&proofs, ProofKind::RequestExceedsLimit).map(|proof| proof.holds);
        let expected = if requested > limit { Holds::Certain } else { Holds::Refuted };
        prop_assert_eq!(beyond, Some(expected));
    }
}
