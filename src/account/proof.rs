//! What follows from the account by logic alone.
//!
//! Every statement is held against both ends of the rounding: it is [`Holds::Certain`] or [`Holds::Refuted`] only where
//! the printed digits leave no other way. A statement is about the one request that failed. "It would have fitted" is
//! not "the job would have run": the next request may fail in the same place, all the more where what was missing is
//! small.

use super::{Identity, Ledger};
use crate::dialect::{Event, Fact, Sign};
use crate::domain::closed_set;
use crate::text;
use crate::text::Text;
use crate::units::{Bytes, GIB, Interval};

closed_set! {
    /// Whether a statement follows from the figures.
    pub enum Holds {
        Certain = "certain",
        Refuted = "refuted",
        /// Within the rounding, both are possible, or a figure is missing.
        Open = "open",
    }
}

closed_set! {
    /// What a proof is about.
    pub enum ProofKind {
        /// One request is larger than the whole device.
        RequestExceedsDevice = "request-exceeds-device",
        /// One request is larger than the limit or pool it is served from.
        RequestExceedsLimit = "request-exceeds-limit",
        /// The request is larger than all that would be there if this process held nothing: what is free and its own.
        RequestExceedsAllButOthers = "request-exceeds-all-but-others",
        /// Without the other processes, the request would have fitted.
        FitsWithoutOthers = "fits-without-others",
        /// What is free and what is cached would have held the request, and what is free alone would not.
        FitsInFreeAndCached = "fits-in-free-and-cached",
        /// The cache of the default pools alone would have held it.
        FitsInCache = "fits-in-cache",
        /// A limit below the device refused what the device had free.
        RefusedByLimit = "refused-by-limit",
        /// What this process holds outside its framework, beyond a context, would have held what was missing.
        FitsWithoutNonFramework = "fits-without-non-framework",
        /// The states of the model are larger than the device.
        StatesExceedDevice = "states-exceed-device",
    }
}

/// A statement, whether it holds, and what it compares.
#[derive(Debug, Clone, PartialEq)]
pub struct Proof {
    pub kind: ProofKind,
    pub holds: Holds,
    /// What is held against [`Proof::against`]: the request, or the memory that would have served.
    pub amount: Interval,
    pub against: Interval,
    /// What is proved, in words; for a refuted statement its contrary.
    pub statement: Text,
    pub lines: Vec<u64>,
}

impl Proof {
    pub fn certain(&self) -> bool {
        self.holds == Holds::Certain
    }

    pub fn refuted(&self) -> bool {
        self.holds == Holds::Refuted
    }
}

/// Bytes that a model takes on one device before any activation, by its parameters and the way it runs.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelStates {
    /// Number of parameters, low to high.
    pub parameters: (f64, f64),
    /// Bytes of each on one device, low to high.
    pub bytes_each: (f64, f64),
    /// What the bytes of each are made of.
    pub made_of: Text,
    pub lines: Vec<u64>,
}

impl ModelStates {
    pub fn need(&self) -> Interval {
        let bytes = |count: f64, each: f64| (count * each).clamp(0.0, 1e18) as i128;
        Interval::between(bytes(self.parameters.0, self.bytes_each.0), bytes(self.parameters.1, self.bytes_each.1))
    }
}

/// All statements whose figures are there, with what logic says of each. Nothing rests on what the account holds in
/// doubt, since that is unknown there.
pub fn all(event: &Event, ledger: &Ledger, states: Option<&ModelStates>) -> Vec<Proof> {
    let reader = Reader { event, ledger };
    let mut proofs: Vec<Proof> = [
        reader.request_against_device(),
        reader.request_against_limit(),
        reader.request_against_all_but_others(),
        reader.without_others(),
        reader.free_and_cached(),
        reader.cache_alone(),
        reader.refused_by_limit(),
        reader.without_non_framework(),
    ]
    .into_iter()
    .flatten()
    .collect();
    proofs.extend(states.and_then(|states| reader.states(states)));
    proofs
}

/// The proof of one kind.
pub fn of(proofs: &[Proof], kind: ProofKind) -> Option<&Proof> {
    proofs.iter().find(|proof| proof.kind == kind)
}

/// `a > b` at every end of the rounding, `a ≤ b` at every end, or open.
fn exceeds(a: Interval, b: Interval) -> Holds {
    if a.low > b.high {
        Holds::Certain
    } else if a.high <= b.low {
        Holds::Refuted
    } else {
        Holds::Open
    }
}

/// `a ≥ b` for sure where `a` is a range whose both ends are possible, `a < b` for sure, or open.
fn covers(a: Interval, b: Interval) -> Holds {
    if a.low >= b.high {
        Holds::Certain
    } else if a.high < b.low {
        Holds::Refuted
    } else {
        Holds::Open
    }
}

fn size(amount: Interval) -> Bytes {
    Bytes(amount.middle_bytes())
}

/// A finding in words for each way it can come out.
fn say(holds: Holds, certain: Text, refuted: Text) -> Text {
    match holds {
        Holds::Certain => certain,
        Holds::Refuted => refuted,
        Holds::Open => text!(
            en: "within the rounding of the printed figures both are possible",
            zh: "在打印精度之内两种情况都有可能"
        ),
    }
}

struct Reader<'a> {
    event: &'a Event,
    ledger: &'a Ledger,
}

impl Reader<'_> {
    fn lines(&self, facts: &[Fact]) -> Vec<u64> {
        // A snapshot's figures stand on no line.
        let mut lines: Vec<u64> = facts
            .iter()
            .filter_map(|fact| self.event.facts.get(*fact))
            .filter(|figure| !figure.at.is_given())
            .map(|figure| figure.at.first)
            .collect();
        lines.sort_unstable();
        lines.dedup();
        lines
    }

    /// What the device has in all; the same in words, and its line where that is known of its name alone.
    fn device(&self) -> Option<(Interval, Text, Option<u64>)> {
        if let Some(capacity) = self.ledger.capacity {
            return Some((capacity, Text::same(size(capacity).to_string()), None));
        }
        let board = self.ledger.board.as_ref()?;
        let all = Interval { high: board.most(), ..board.total };
        let (name, most) = (&board.name, Bytes(u64::try_from(all.high).unwrap_or_default()));
        let words = text!(
            en: "{most} (the most that a device named {name} has)",
            zh: "{most}（名为 {name} 的设备的上限）"
        );
        Some((all, words, Some(board.line)))
    }

    fn request_against_device(&self) -> Option<Proof> {
        let (requested, (capacity, Text { en: all, zh: all_zh }, line)) = (self.ledger.requested?, self.device()?);
        let holds = exceeds(requested, capacity);
        let want = size(requested);
        Some(Proof {
            kind: ProofKind::RequestExceedsDevice,
            holds,
            amount: requested,
            against: capacity,
            statement: say(
                holds,
                text!(
                    en: "{want} asked for at once is more than the {all} there are in all: it fits on no empty device \
                         of this size",
                    zh: "一次请求 {want}，超过总量 {all_zh}：即使设备全空也放不下"
                ),
                text!(
                    en: "{want} is within the {all} there are in all",
                    zh: "请求 {want} 未超过总量 {all_zh}"
                ),
            ),
            lines: self.lines(&[Fact::Requested, Fact::Capacity]).into_iter().chain(line).collect(),
        })
    }

    fn request_against_limit(&self) -> Option<Proof> {
        let (requested, cap) = (self.ledger.requested?, self.ledger.cap?);
        let holds = exceeds(requested, cap);
        let (want, limit) = (size(requested), size(cap));
        Some(Proof {
            kind: ProofKind::RequestExceedsLimit,
            holds,
            amount: requested,
            against: cap,
            statement: say(
                holds,
                text!(
                    en: "{want} asked for at once is more than the limit of {limit}: nothing that is freed below it \
                         helps",
                    zh: "一次请求 {want}，超过上限 {limit}：在该上限之下释放什么都没用"
                ),
                text!(en: "{want} by itself is within the limit of {limit}", zh: "请求 {want} 本身未超过上限 {limit}"),
            ),
            lines: self.lines(&[Fact::Requested, Fact::Limit, Fact::FractionLimit]),
        })
    }

    /// What the device has in use, unless it is in doubt.
    fn used(&self) -> Option<Interval> {
        let used = self.ledger.capacity? - self.ledger.free?;
        self.event.resource.on_device().then_some(used.at_least_zero())
    }

    /// What others hold, from what they surely hold to all that is not this process's. Free memory and other processes'
    /// use are read at different moments; the account allows for it.
    fn others(&self) -> Option<Interval> {
        let used = self.used()?;
        let own = self.ledger.process.or(self.ledger.reserved).or(self.ledger.allocated)?;
        let most = (used - own).high.max(0);
        let least = match self.ledger.identity {
            Identity::NoneListed => 0,
            _ => self.ledger.others.map_or(0, |others| others.low.max(0)),
        };
        Some(Interval { low: least.min(most), high: most })
    }

    fn request_against_all_but_others(&self) -> Option<Proof> {
        let (requested, free) = (self.ledger.requested?, self.ledger.free?);
        let own = self.ledger.process?;
        self.ledger.capacity.filter(|_| self.event.resource.on_device())?;
        let available = free + own;
        let holds = exceeds(requested, available);
        let (want, there) = (size(requested), size(available));
        Some(Proof {
            kind: ProofKind::RequestExceedsAllButOthers,
            holds,
            amount: requested,
            against: available,
            statement: say(
                holds,
                text!(
                    en: "even if this process gave up all it holds, {there} would be free for the {want} asked for",
                    zh: "即使本进程释放全部占用，也只有 {there} 可用于请求的 {want}"
                ),
                text!(
                    en: "what is free and what this process holds itself are together {there}: {want} fits if it gives \
                         up enough",
                    zh: "空闲与本进程自身占用合计 {there}：释放足够多就能放下 {want}"
                ),
            ),
            lines: self.lines(&[Fact::Requested, Fact::Free, Fact::Process]),
        })
    }

    /// Certain: what others surely hold is at least what was missing even if no cached memory could serve. Refuted: all
    /// that others can hold is less than what was missing even if all cached memory had served.
    fn without_others(&self) -> Option<Proof> {
        let short = self.ledger.short_of_free.filter(|short| short.high > 0)?;
        let others = self.others()?;
        let least_missing = self.ledger.short_of_free_and_cached.unwrap_or(short);
        let missing = Interval { low: least_missing.low.max(0).min(short.high), high: short.high };
        let holds = covers(others, missing);
        let (least, most, want) = (Bytes(others.low as u64), Bytes(others.high as u64), size(short));
        let lines = self.event.facts.other_processes.iter().map(|other| other.figure.at.first);
        Some(Proof {
            kind: ProofKind::FitsWithoutOthers,
            holds,
            amount: others,
            against: missing,
            statement: say(
                holds,
                text!(
                    en: "other processes hold at least {least}, and {want} was missing: without them this request \
                         would have been served",
                    zh: "其他进程至少占用 {least}，而缺少 {want}：没有它们，这次请求就能满足"
                ),
                text!(
                    en: "other processes hold at most {most}: even without them this request would not have been \
                         served",
                    zh: "其他进程最多占用 {most}：即使没有它们，这次请求也无法满足"
                ),
            ),
            lines: self.lines(&[Fact::Free]).into_iter().chain(lines).collect(),
        })
    }

    /// The cache of the default pools: free blocks of private pools serve only their own graphs.
    fn cached(&self) -> Option<Interval> {
        if self.event.has(Sign::AsyncBackend) {
            return None;
        }
        let pools = self.event.facts.get(Fact::PrivatePools).map(|figure| figure.interval());
        let cached = self.ledger.cached?;
        Some(pools.map_or(cached, |pools| (cached - pools).at_least_zero()))
    }

    /// True where the device's free memory is what decides: no limit below it refuses first.
    fn unlimited(&self) -> bool {
        match (self.ledger.cap, self.ledger.capacity) {
            (None, _) => true,
            (Some(cap), Some(capacity)) => cap.low >= capacity.high || cap.middle() == capacity.middle(),
            _ => false,
        }
    }

    fn free_and_cached(&self) -> Option<Proof> {
        let (requested, free) = (self.ledger.requested?, self.ledger.free?);
        let there = free + self.cached().filter(|_| self.unlimited())?;
        let holds = match covers(there, requested) {
            Holds::Certain if requested.low <= free.high => Holds::Open,
            holds => holds,
        };
        let (want, sum, alone) = (size(requested), size(there), size(free));
        Some(Proof {
            kind: ProofKind::FitsInFreeAndCached,
            holds,
            amount: there,
            against: requested,
            statement: say(
                holds,
                text!(
                    en: "{sum} free and cached would have held the {want} asked for, the {alone} that is free would \
                         not: the cache is in pieces too small or cannot be given back, or belongs to other streams",
                    zh: "空闲与缓存合计 {sum}，足以容纳请求的 {want}，仅空闲的 {alone} 不够：缓存碎片过小、无法归还，或\
                         属于其他流"
                ),
                text!(
                    en: "{sum} free and cached are less than the {want} asked for: no layout of the cache could have \
                         served it",
                    zh: "空闲与缓存合计 {sum}，少于请求的 {want}：无论缓存如何布局都放不下"
                ),
            ),
            lines: self.lines(&[Fact::Requested, Fact::Free, Fact::ReservedUnallocated, Fact::Reserved, Fact::Cached]),
        })
    }

    fn cache_alone(&self) -> Option<Proof> {
        let requested = self.ledger.requested?;
        let cached = self.cached()?;
        let holds = covers(cached, requested);
        let (want, held) = (size(requested), size(cached));
        Some(Proof {
            kind: ProofKind::FitsInCache,
            holds,
            amount: cached,
            against: requested,
            statement: say(
                holds,
                text!(
                    en: "{held} cached is at least the {want} asked for, and it failed: no cached block that the \
                         request could use was that large",
                    zh: "缓存 {held} 不少于请求的 {want} 却仍失败：没有一个可用的缓存块有这么大"
                ),
                text!(
                    en: "{held} cached is less than the {want} asked for",
                    zh: "缓存 {held} 少于请求的 {want}"
                ),
            ),
            lines: self.lines(&[Fact::Requested, Fact::ReservedUnallocated, Fact::Reserved, Fact::Cached]),
        })
    }

    /// Certain: the device had free what was asked for, and what is held and asked for are beyond the limit. Refuted:
    /// held and asked for are within it.
    fn refused_by_limit(&self) -> Option<Proof> {
        let (requested, cap) = (self.ledger.requested?, self.ledger.cap?);
        let held = self.ledger.reserved.or(self.ledger.allocated)?;
        let together = held + requested;
        let below_device = self.ledger.capacity.is_none_or(|capacity| cap.high < capacity.low);
        let device_had_it = self.ledger.free_beside(self.event).is_some_and(|free| free.surely_at_least(requested));
        let holds = match exceeds(together, cap) {
            Holds::Certain if below_device && device_had_it => Holds::Certain,
            // What is allocated is the least that is held.
            Holds::Refuted if self.ledger.reserved.is_some() => Holds::Refuted,
            _ => Holds::Open,
        };
        let (want, have, limit) = (size(requested), size(held), size(cap));
        Some(Proof {
            kind: ProofKind::RefusedByLimit,
            holds,
            amount: together,
            against: cap,
            statement: say(
                holds,
                text!(
                    en: "{have} held and {want} asked for exceed the limit of {limit}, while the device had {want} \
                         free: the limit refused it",
                    zh: "已持有 {have} 加请求 {want} 超过上限 {limit}，而设备尚有 {want} 空闲：是上限拒绝了请求"
                ),
                text!(
                    en: "{have} held and {want} asked for are within the limit of {limit}: the limit did not refuse it",
                    zh: "已持有 {have} 加请求 {want} 未超过上限 {limit}：不是上限拒绝的"
                ),
            ),
            lines: self.lines(&[Fact::Requested, Fact::FractionLimit, Fact::Limit, Fact::Free]),
        })
    }

    /// The context itself is needed; only what lies beyond one counts.
    fn without_non_framework(&self) -> Option<Proof> {
        let short = self.ledger.short_of_free.filter(|short| short.high > 0)?;
        let process = self.ledger.process?;
        // What the driver counts, not what a message calls "other allocations".
        let beyond =
            (self.ledger.non_framework.filter(|_| process.high > 0)? - crate::gpu::context_size::USUAL).at_least_zero();
        let least_missing = self.ledger.short_of_free_and_cached.unwrap_or(short);
        let missing = Interval { low: least_missing.low.max(0).min(short.high), high: short.high };
        let holds = covers(beyond, missing);
        let (held, want) = (size(beyond), size(short));
        Some(Proof {
            kind: ProofKind::FitsWithoutNonFramework,
            holds,
            amount: beyond,
            against: missing,
            statement: say(
                holds,
                text!(
                    en: "this process holds {held} outside its framework beyond a usual context, and {want} was \
                         missing: without it this request would have been served",
                    zh: "本进程在框架之外、除通常的上下文外还占用 {held}，而缺少 {want}：没有它，这次请求就能满足"
                ),
                text!(
                    en: "what this process holds outside its framework beyond a context is less than what was missing",
                    zh: "本进程在框架之外（除上下文）的占用少于所缺的量"
                ),
            ),
            lines: self.lines(&[Fact::Process, Fact::Allocated, Fact::Free]),
        })
    }

    fn states(&self, states: &ModelStates) -> Option<Proof> {
        let (capacity, Text { en: all, zh: all_zh }, line) =
            self.device().filter(|_| self.event.resource.on_device())?;
        let need = states.need();
        let holds = exceeds(need, capacity);
        let billions = |count: f64| (count / 1e8).round() / 10.0;
        let (count, least) = (billions(states.parameters.0), need.low as f64 / GIB as f64);
        let hundred_millions = (states.parameters.0 / 1e8).round();
        let least = format!("{least:.1} GiB");
        let each = format!("{:.3}", states.bytes_each.0);
        let each = each.trim_end_matches('0').trim_end_matches('.');
        let (made_en, made_zh) = (&states.made_of.en, &states.made_of.zh);
        Some(Proof {
            kind: ProofKind::StatesExceedDevice,
            holds,
            amount: need,
            against: capacity,
            statement: say(
                holds,
                text!(
                    en: "at least {count} billion parameters × {each} bytes ({made_en}) are {least}: they never fit a \
                         device of {all}, whatever the batch",
                    zh: "至少 {hundred_millions} 亿参数 × {each} 字节（{made_zh}）为 {least}：无论批大小如何，都放不进 \
                         {all_zh} 的设备"
                ),
                text!(
                    en: "the model's states ({made_en}) fit a device of {all} by themselves",
                    zh: "模型状态（{made_zh}）本身放得进 {all_zh} 的设备"
                ),
            ),
            lines: states.lines.iter().copied().chain(line).collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::settle;
    use super::*;
    use crate::dialect::{ProcessUse, Resource};
    use crate::evidence::Span;
    use crate::units::{Base, parse};

    fn holds(kind: ProofKind, figures: &[(Fact, &str)], others: &[(u64, &str)]) -> Holds {
        let mut event = Event::new("test", crate::domain::Program::Pytorch, Resource::Gpu, Span::line(1));
        let figure = |text: &str| parse(text, Base::Binary).unwrap().at(Span::line(1));
        figures.iter().for_each(|(fact, text)| event.facts.note(*fact, figure(text)));
        for (pid, text) in others {
            event.facts.other_processes.push(ProcessUse { pid: *pid, figure: figure(text) });
        }
        let states = ModelStates {
            parameters: (6.3e9, 7.7e9),
            bytes_each: (16.0, 16.0),
            made_of: Text::same("weights, gradients, optimizer states"),
            lines: vec![1],
        };
        of(&all(&event, &settle(&event), Some(&states)), kind).map_or(Holds::Open, |proof| proof.holds)
    }

    /// A device of 24 GiB with 20.2 of this process, of which 18 are allocated and 1.5 cached, and `free`.
    fn device<'a>(requested: &'a str, free: &'a str, process: &'a str) -> [(Fact, &'a str); 6] {
        [
            (Fact::Requested, requested),
            (Fact::Capacity, "23.60 GiB"),
            (Fact::Free, free),
            (Fact::Process, process),
            (Fact::Allocated, "18.00 GiB"),
            (Fact::ReservedUnallocated, "1.50 GiB"),
        ]
    }

    #[test]
    fn each_statement_is_certain_refuted_or_open_as_the_figures_say() {
        use Holds::{Certain, Open, Refuted};
        use ProofKind as K;
        let at =
            |kind, requested, free, others: &[(u64, &str)]| holds(kind, &device(requested, free, "20.20 GiB"), others);
        assert_eq!(at(K::RequestExceedsDevice, "23.70 GiB", "1.00 GiB", &[]), Certain);
        assert_eq!(at(K::RequestExceedsDevice, "23.60 GiB", "1.00 GiB", &[]), Open, "both are rounded");
        assert_eq!(at(K::RequestExceedsDevice, "2.00 GiB", "1.00 GiB", &[]), Refuted);
        assert_eq!(at(K::RequestExceedsAllButOthers, "22.00 GiB", "1.00 GiB", &[(9, "2.30 GiB")]), Certain);
        assert_eq!(at(K::RequestExceedsAllButOthers, "21.00 GiB", "1.00 GiB", &[(9, "2.30 GiB")]), Refuted);
        assert_eq!(at(K::FitsWithoutOthers, "3.00 GiB", "1.00 GiB", &[(9, "2.30 GiB")]), Certain);
        assert_eq!(at(K::FitsWithoutOthers, "5.00 GiB", "1.00 GiB", &[(9, "2.30 GiB")]), Refuted);
        assert_eq!(
            at(K::FitsWithoutOthers, "4.00 GiB", "1.00 GiB", &[(9, "2.30 GiB")]),
            Open,
            "the cache might have served"
        );
        assert_eq!(at(K::FitsInFreeAndCached, "2.40 GiB", "1.00 GiB", &[]), Certain);
        assert_eq!(at(K::FitsInFreeAndCached, "2.60 GiB", "1.00 GiB", &[]), Refuted);
        assert_eq!(
            at(K::FitsInFreeAndCached, "512.00 MiB", "1.00 GiB", &[]),
            Open,
            "free memory alone would have served"
        );
        assert_eq!(at(K::FitsInCache, "1.40 GiB", "1.00 GiB", &[]), Certain);
        assert_eq!(at(K::FitsInCache, "1.60 GiB", "1.00 GiB", &[]), Refuted);
        let outside = |process| holds(K::FitsWithoutNonFramework, &device("2.00 GiB", "100.00 MiB", process), &[]);
        assert_eq!(outside("22.20 GiB"), Certain, "2.7 GiB beside PyTorch, 1.9 missing");
        assert_eq!(outside("19.90 GiB"), Refuted, "a context, and 0.4 missing even with the cache");
        assert_eq!(holds(K::StatesExceedDevice, &device("2.00 GiB", "1.00 GiB", "20.20 GiB"), &[]), Certain);
        let large = [(Fact::Capacity, "178.00 GiB")];
        assert_eq!(holds(K::StatesExceedDevice, &large, &[]), Refuted);
    }

    #[test]
    fn a_limit_refuses_only_what_is_beyond_it_and_was_there() {
        let at = |limit, free| {
            let mut figures = device("2.00 GiB", free, "20.20 GiB").to_vec();
            figures.push((Fact::FractionLimit, limit));
            holds(ProofKind::RefusedByLimit, &figures, &[])
        };
        assert_eq!(at("21.00 GiB", "3.00 GiB"), Holds::Certain);
        assert_eq!(at("21.00 GiB", "1.00 GiB"), Holds::Open, "the device had it neither");
        assert_eq!(at("22.00 GiB", "1.00 GiB"), Holds::Refuted);
        assert_eq!(at("23.60 GiB", "3.00 GiB"), Holds::Refuted, "a limit of the whole device is none");
        let beyond =
            |limit| holds(ProofKind::RequestExceedsLimit, &[(Fact::Requested, "9.00 GiB"), (Fact::Limit, limit)], &[]);
        assert_eq!((beyond("8.00 GiB"), beyond("9.10 GiB")), (Holds::Certain, Holds::Refuted));
    }

    #[test]
    fn states_beyond_the_device_are_told_in_parameters_and_gibibytes() {
        let mut event = Event::new("test", crate::domain::Program::Pytorch, Resource::Gpu, Span::line(1));
        event.facts.note(Fact::Capacity, parse("23.60 GiB", Base::Binary).unwrap().at(Span::line(1)));
        let states = ModelStates {
            parameters: (6.3e9, 7.7e9),
            bytes_each: (16.0, 16.0),
            made_of: Text::same("states"),
            lines: Vec::new(),
        };
        let proofs = all(&event, &settle(&event), Some(&states));
        let told = &of(&proofs, ProofKind::StatesExceedDevice).unwrap().statement;
        assert!(told.en.contains("6.3 billion parameters × 16 bytes (states) are 93.9 GiB"), "{}", told.en);
        assert!(told.zh.contains("63 亿参数 × 16 字节（states）为 93.9 GiB"), "{}", told.zh);
    }

    #[test]
    fn the_drivers_own_pool_is_no_cache_that_could_have_served() {
        let figures = device("1.40 GiB", "1.00 GiB", "20.20 GiB");
        let cached = |backend: Option<Sign>| {
            let mut event = Event::new("test", crate::domain::Program::Pytorch, Resource::Gpu, Span::line(1));
            for (fact, text) in figures {
                event.facts.note(fact, parse(text, Base::Binary).unwrap().at(Span::line(1)));
            }
            backend.into_iter().for_each(|sign| event.sign(sign));
            of(&all(&event, &settle(&event), None), ProofKind::FitsInCache).map(|proof| proof.holds)
        };
        assert_eq!(cached(None), Some(Holds::Certain));
        assert_eq!(cached(Some(Sign::AsyncBackend)), None);
    }

    #[test]
    fn nothing_is_proved_from_figures_in_doubt() {
        // Two processes of 20 and 19 GiB on a device of 24.
        let figures = device("2.00 GiB", "1.00 GiB", "20.20 GiB");
        assert_eq!(holds(ProofKind::FitsWithoutOthers, &figures, &[(9, "19.00 GiB")]), Holds::Open);
        assert_eq!(holds(ProofKind::RequestExceedsAllButOthers, &figures, &[(9, "19.00 GiB")]), Holds::Open);
    }
}
