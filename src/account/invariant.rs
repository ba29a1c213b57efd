//! What holds of every account, and what becomes of one that breaks it: the contradiction is resolved and its reason
//! told, or the figures in doubt are unknown from then on.

use super::{Entry, Holder, Ledger};
use crate::dialect::{Event, Fact, Sign};
use crate::domain::closed_set;
use crate::order::InOrder;
use crate::text;
use crate::text::Text;
use crate::units::{Interval, MIB, signed};

closed_set! {
    /// A rule of arithmetic that a message can break.
    pub enum Invariant {
        /// A printed figure is a size.
        FigureIsASize = "figure-is-a-size",
        /// A process that allocates on a device holds at least its context there.
        ProcessHoldsItsContext = "process-holds-its-context",
        /// A process is listed under its own pid.
        OwnPid = "own-pid",
        /// A process is listed once.
        PidListedOnce = "pid-listed-once",
        /// The parts are no more than the whole.
        PartsWithinWhole = "parts-within-whole",
        FreeWithinCapacity = "free-within-capacity",
        AllocatedWithinReserved = "allocated-within-reserved",
        /// The driver counts at least what the framework has reserved.
        ProcessHoldsReserved = "process-holds-reserved",
        /// A request that free memory would serve is served.
        FreeServesRequest = "free-serves-request",
        RequestWithinCapacity = "request-within-capacity",
        HeldWithinLimit = "held-within-limit",
        /// A limit refuses only what would exceed it.
        LimitRefusesBeyondIt = "limit-refuses-beyond-it",
        /// On a device that is not taken, a process holds something before it fails.
        SomethingIsHeld = "something-is-held",
    }
}

closed_set! {
    /// A part of a message that can be in doubt.
    pub enum Part {
        Free = "free",
        /// What the framework's allocator says of itself.
        Framework = "framework",
        /// What the driver says of this process.
        Process = "process",
        /// What the driver says of other processes.
        Others = "others",
        /// The counters, tables and lists of host memory.
        HostCounters = "host-counters",
    }
}

/// Something in the message that contradicts itself or does not mean what it seems to.
#[derive(Debug, Clone, PartialEq)]
pub struct Contradiction {
    pub id: Invariant,
    pub text: Text,
    pub lines: Vec<u64>,
    /// The text tells why it is so, and the account allows for it. Otherwise what is `in_doubt` is unknown in the
    /// account.
    pub resolved: bool,
    pub in_doubt: &'static [Part],
}

impl Contradiction {
    pub(super) fn resolved(id: Invariant, lines: Vec<u64>, text: Text) -> Contradiction {
        Contradiction { id, text, lines, resolved: true, in_doubt: &[] }
    }

    pub(super) fn open(id: Invariant, in_doubt: &'static [Part], lines: Vec<u64>, text: Text) -> Contradiction {
        Contradiction { id, text, lines, resolved: false, in_doubt }
    }
}

/// Below this, what nobody names is the driver's own housekeeping and not worth a line of the account.
/// `cudaMemGetInfo`'s total already leaves out the driver's reserve, so on a healthy device the rest is near 0.
pub(super) const NEGLIGIBLE: i128 = 16 * MIB as i128;

/// So much of a whole can change between two readings of one message.
pub(super) fn between_readings(whole: Interval) -> i128 {
    (whole.middle() / 100).max(NEGLIGIBLE)
}

/// Holds the finished account to the invariants that need all of it.
pub(super) fn check(event: &Event, ledger: &mut Ledger) {
    limits(event, ledger);
    request(event, ledger);
    parts(event, ledger);
}

fn line_of(event: &Event, fact: Fact) -> u64 {
    event.facts.get(fact).map_or(event.at.first, |figure| figure.at.first)
}

/// The failing request was the first one.
fn nothing_held_yet(event: &Event) -> bool {
    event.resource.on_device() && event.facts.get(Fact::Allocated).is_some_and(|figure| figure.bytes == 0)
}

fn request(event: &Event, ledger: &mut Ledger) {
    if let (Some(requested), Some(free)) = (ledger.requested, ledger.free)
        && free.surely_at_least(requested)
        && ledger.cap.is_none()
        // Who takes the device up front tells before what is free of it.
        && !event.program.preallocates()
        // No piece of it is as large.
        && event.facts.get(Fact::LargestFreeChunk).is_none_or(|largest| largest.interval().high >= requested.low)
        // A refusal that the message explains otherwise needs no reading at another moment.
        && ![Sign::ExpandableReserve, Sign::RefusedByLimit, Sign::CustomAllocator].iter().any(|sign| event.has(*sign))
    {
        // What was never cached was not given back either.
        let text = match nothing_held_yet(event) {
            true => text!(
                en: "{free} is printed as free although {requested} was refused, and PyTorch held nothing yet that it \
                     could have given back: another process has let go since, or something else than free memory \
                     decided",
                zh: "打印的空闲量 {free} 大于被拒绝的请求 {requested}，而 PyTorch 当时还没有任何可归还的显存：\
                     其他进程此后已释放，或者决定结果的并不是空闲显存"
            ),
            false => text!(
                en: "{free} is printed as free although {requested} was refused: “free” is read after the failed \
                     attempt, when cached memory may have been given back or another process have let go",
                zh: "打印的空闲量 {free} 大于被拒绝的请求 {requested}：“free” 是在失败之后读取的，那时缓存可能已归还，\
                     或其他进程可能已释放"
            ),
        };
        ledger.contradictions.push(Contradiction::resolved(
            Invariant::FreeServesRequest,
            vec![line_of(event, Fact::Free)],
            text,
        ));
    }
    if let (Some(requested), Some(capacity)) = (ledger.requested, ledger.capacity)
        && requested.low > capacity.high
    {
        ledger.contradictions.push(Contradiction::resolved(
            Invariant::RequestWithinCapacity,
            vec![line_of(event, Fact::Requested)],
            text!(
                en: "{requested} is asked of a device that has {capacity} in all",
                zh: "请求 {requested}，而整个设备只有 {capacity}"
            ),
        ));
    }
    if nothing_held_yet(event)
        && ledger.share(ledger.outside).is_some_and(|share| share > 0.05)
        // Who finds enough free is kept out by something else.
        && ledger.requested.zip(ledger.free).is_none_or(|(requested, free)| !free.surely_at_least(requested))
    {
        ledger.contradictions.push(Contradiction::resolved(
            Invariant::SomethingIsHeld,
            vec![line_of(event, Fact::Allocated)],
            text!(
                en: "PyTorch held nothing yet: this was its first request, and the device was already taken",
                zh: "PyTorch 当时还没有持有任何显存：这是第一次请求，设备已被占用"
            ),
        ));
    }
}

/// A limit is compared with what is held; it is never a holding itself.
fn limits(event: &Event, ledger: &mut Ledger) {
    let held = ledger.reserved.or(ledger.allocated);
    let (Some(cap), Some(held)) = (ledger.cap, held) else { return };
    // A pool passes its limit by what was under way when it looked: DuckDB by a few hundred KiB.
    if held.low > cap.high + cap.high / 1000 {
        ledger.contradictions.push(Contradiction::resolved(
            Invariant::HeldWithinLimit,
            vec![line_of(event, Fact::Allocated)],
            text!(
                en: "{held} is held although the limit is {cap}: the limit was set or lowered afterwards",
                zh: "已持有 {held}，超过上限 {cap}：上限是之后才设置或调低的"
            ),
        ));
    }
    if event.has(Sign::RefusedByLimit)
        && let (Some(reserved), Some(requested)) = (ledger.reserved, ledger.requested)
        && (reserved + requested).high < cap.low
    {
        ledger.contradictions.push(Contradiction::resolved(
            Invariant::LimitRefusesBeyondIt,
            vec![line_of(event, Fact::Limit)],
            text!(
                en: "{reserved} held and {requested} asked for are within the limit of {cap}: it was read at another \
                     moment, or another limit refused",
                zh: "已持有 {reserved}、请求 {requested}，合计未超过上限 {cap}：读数时刻不同，或由其他上限拒绝"
            ),
        ));
    }
}

/// The parts are no more than the whole. A small excess is that of readings at different moments; what is beyond it
/// cannot be reconciled, and of the parts only those are kept that fit together, the most reliable first.
fn parts(event: &Event, ledger: &mut Ledger) {
    let Some(whole) = ledger.whole() else { return };
    let sum = |entries: &[Entry]| entries.iter().map(|entry| entry.amount).sum::<Interval>();
    let excess = sum(&ledger.entries).low - whole.high;
    if excess <= 0 {
        return;
    }
    if excess <= between_readings(whole) {
        let mut left = excess;
        for entry in ledger.entries.iter_mut().rev() {
            let give = left.min(entry.amount.low.max(0));
            entry.amount.low -= give;
            left -= give;
        }
        return;
    }
    let host = ledger.bound.is_some();
    let mut order: Vec<Entry> = std::mem::take(&mut ledger.entries);
    order.order_by_key(|entry| reliability(entry.holder));
    for entry in order {
        if sum(&ledger.entries).low + entry.amount.low <= whole.high {
            ledger.entries.push(entry);
        }
    }
    ledger.entries.order_by_key(|entry| entry.holder == Holder::Free);
    let in_doubt: &[Part] = if host { &[Part::HostCounters] } else { &[Part::Process, Part::Others] };
    ledger.contradictions.push(Contradiction::open(
        Invariant::PartsWithinWhole,
        in_doubt,
        vec![event.at.first],
        over(excess),
    ));
}

/// What is said of parts that are more than their whole.
pub(super) fn over(excess: i128) -> Text {
    let excess = signed(excess);
    text!(
        en: "the parts add up to {excess} more than there is: they were read at different moments, or share memory; \
             what does not fit is left out and nothing is concluded from it",
        zh: "各部分之和超出总量 {excess}：读数时刻不同，或存在共享；不相容的部分不计入，也不据此下结论"
    )
}

/// The most reliable first: the framework's own counters, what the driver reads at once, then what it lists.
fn reliability(holder: Holder) -> u8 {
    match holder {
        Holder::Allocated | Holder::Victim => 0,
        Holder::Cached | Holder::PrivatePools => 1,
        Holder::Free => 2,
        Holder::ThisProcess | Holder::SharedFiles | Holder::Kernel => 3,
        Holder::NonFramework | Holder::FileCache => 4,
        Holder::OtherProcess(_) | Holder::OtherTasks | Holder::Tasks => 5,
        _ => 6,
    }
}

#[cfg(test)]
mod tests {
    use super::super::settle;
    use super::*;
    use crate::dialect::{ProcessUse, Resource};
    use crate::evidence::Span;
    use crate::units::{Figure, GIB};

    fn event(figures: &[(Fact, u64)], others: &[(u64, u64)]) -> Event {
        let mut event = Event::new("test", crate::domain::Program::Pytorch, Resource::Gpu, Span::line(1));
        let figure = |mebibytes: u64| Figure { bytes: mebibytes * MIB, half_width: 5200, at: Span::line(1) };
        figures.iter().for_each(|(fact, mebibytes)| event.facts.note(*fact, figure(*mebibytes)));
        for (pid, mebibytes) in others {
            event.facts.other_processes.push(ProcessUse { pid: *pid, figure: figure(*mebibytes) });
        }
        event
    }

    /// A message in order: 24 GiB, of which 20 are this process's and 3 another one's.
    const SOUND: [(Fact, u64); 6] = [
        (Fact::Requested, 2048),
        (Fact::Capacity, 24 * 1024),
        (Fact::Free, 1024),
        (Fact::Process, 20 * 1024),
        (Fact::Allocated, 18 * 1024),
        (Fact::ReservedUnallocated, 1536),
    ];

    fn altered(changes: &[(Fact, u64)]) -> Vec<(Fact, u64)> {
        let kept = SOUND.into_iter().filter(|(fact, _)| changes.iter().all(|(changed, _)| changed != fact));
        kept.chain(changes.iter().copied()).collect()
    }

    #[test]
    fn a_message_in_order_breaks_nothing() {
        let ledger = settle(&event(&SOUND, &[(7, 3072)]));
        assert!(ledger.contradictions.is_empty(), "{:?}", ledger.contradictions);
        assert_eq!(ledger.amount(Holder::OtherProcess(7)).map(|amount| amount.middle()), Some(3 * GIB as i128));
    }

    #[test]
    fn every_broken_invariant_is_noticed_and_what_is_in_doubt_is_unknown() {
        use Invariant as I;
        let mut limited = event(&altered(&[(Fact::Limit, 23 * 1024)]), &[]);
        limited.sign(Sign::RefusedByLimit);
        let mut unreadable = event(&SOUND, &[]);
        unreadable.facts.sizes.remove(&Fact::Process);
        unreadable.facts.unreadable.insert(Fact::Process, Span::line(1));
        let without_process = |changes: &[(Fact, u64)], others: &[(u64, u64)]| {
            let mut event = event(&altered(changes), others);
            event.facts.sizes.remove(&Fact::Process);
            event
        };
        let of = |changes: &[(Fact, u64)], others: &[(u64, u64)]| event(&altered(changes), others);
        let cases: Vec<(Invariant, bool, Event)> = vec![
            (I::FigureIsASize, true, unreadable),
            (I::FigureIsASize, false, {
                let mut event = of(&[(Fact::Allocated, 125 << 20)], &[]);
                event.facts.sizes.remove(&Fact::Capacity);
                event
            }),
            (I::ProcessHoldsItsContext, true, {
                let mut event = event(&SOUND, &[]);
                let nothing = Figure { bytes: 0, half_width: 0, at: Span::line(1) };
                event.facts.sizes.insert(Fact::Process, nothing);
                event
            }),
            (I::OwnPid, true, without_process(&[], &[(7, 22 * 1024)])),
            (I::PidListedOnce, true, of(&[], &[(7, 3072), (7, 3072)])),
            (I::PartsWithinWhole, false, of(&[], &[(7, 9 * 1024)])),
            (I::PartsWithinWhole, false, without_process(&[(Fact::Allocated, 60 * 1000)], &[])),
            (I::PartsWithinWhole, false, without_process(&[(Fact::Free, 12 * 1024)], &[])),
            (I::FreeWithinCapacity, false, of(&[(Fact::Free, 25 * 1024)], &[])),
            (I::AllocatedWithinReserved, false, of(&[(Fact::Reserved, 17 * 1024)], &[])),
            (I::ProcessHoldsReserved, false, of(&[(Fact::Process, 19 * 1024)], &[])),
            (I::FreeServesRequest, true, of(&[(Fact::Requested, 512)], &[])),
            (I::RequestWithinCapacity, true, of(&[(Fact::Requested, 25 * 1024)], &[])),
            (I::HeldWithinLimit, true, of(&[(Fact::FractionLimit, 18 * 1024)], &[])),
            (I::LimitRefusesBeyondIt, true, limited),
            (I::SomethingIsHeld, true, without_process(&[(Fact::Allocated, 0), (Fact::ReservedUnallocated, 0)], &[])),
        ];
        for (invariant, resolved, event) in &cases {
            let mut event = event.clone();
            if *invariant == I::SomethingIsHeld
                && let Some(figure) = event.facts.sizes.get_mut(&Fact::Allocated)
            {
                figure.half_width = 0;
            }
            // Windows lends memory beyond the device; this one is no Windows device.
            if let Some(capacity) = event.facts.sizes.get_mut(&Fact::Capacity) {
                capacity.bytes -= 300 * MIB;
            }
            let ledger = settle(&event);
            let found = ledger.contradictions.iter().find(|told| told.id == *invariant);
            let found = found.unwrap_or_else(|| panic!("{invariant:?}: {:?}", ledger.contradictions));
            assert_eq!(found.resolved, *resolved, "{invariant:?}");
            assert_eq!(ledger.consistent(), ledger.in_doubt().is_empty());
            for part in ledger.in_doubt() {
                let unknown = match part {
                    Part::Free => ledger.free.is_none(),
                    Part::Framework => ledger.amount(Holder::Allocated).is_none(),
                    Part::Process => ledger.process.is_none() && ledger.non_framework.is_none(),
                    Part::Others => ledger.others.is_none(),
                    Part::HostCounters => false,
                };
                assert!(unknown, "{invariant:?}: {part:?} is in doubt and known");
            }
        }
        for invariant in Invariant::ALL {
            assert!(cases.iter().any(|(case, ..)| case == invariant), "{invariant:?} has no case");
        }
    }

    #[test]
    fn readings_of_different_moments_are_no_contradiction() {
        let ledger = settle(&event(&SOUND, &[(7, 3072 + 100)]));
        assert!(ledger.consistent() && ledger.others.is_some());
        let sum: Interval = ledger.entries.iter().map(|entry| entry.amount).sum();
        assert!(ledger.capacity.is_some_and(|capacity| sum.low <= capacity.high), "{:?}", ledger.entries);
    }

    /// The last byte that two moments may differ by, and the first that they may not.
    #[test]
    fn readings_of_different_moments_differ_by_a_hundredth_at_most() {
        let differing = |by: u64| {
            let mut event = event(&SOUND, &[(7, 3072)]);
            let facts =
                event.facts.sizes.values_mut().chain(event.facts.other_processes.iter_mut().map(|p| &mut p.figure));
            facts.for_each(|figure| figure.half_width = 0);
            event.facts.other_processes[0].figure.bytes += by;
            settle(&event).consistent()
        };
        let hundredth = 24 * GIB / 100;
        assert_eq!([differing(hundredth), differing(hundredth + 1)], [true, false]);
    }

    #[test]
    fn a_first_request_is_told_where_others_hold_more_than_a_twentieth() {
        let told = |held_by_others: u64| {
            let figures = [(Fact::Requested, 20 * 1024), (Fact::Capacity, 20 * 1000), (Fact::Allocated, 0)];
            let mut event = event(&figures, &[]);
            let free = Figure { bytes: 20 * 1000 * MIB - held_by_others, half_width: 0, at: Span::line(1) };
            event.facts.note(Fact::Free, free);
            event.facts.sizes.values_mut().for_each(|figure| figure.half_width = 0);
            let ledger = settle(&event);
            ledger.contradictions.iter().any(|told| told.id == Invariant::SomethingIsHeld)
        };
        assert_eq!([told(1000 * MIB), told(1001 * MIB)], [false, true]);
    }
}
