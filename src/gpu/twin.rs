//! The analytic twin of the fragmentation experiment: pure arithmetic on a caching allocator's state.
//!
//! Question: the allocator holds segments that are partly in use. Would the request that failed have gone through (a)
//! as one plain driver allocation, (b) with expandable segments of PyTorch's page size, (c) with the smallest pages
//! that the device can map? Segments without a live block count as free in all three, since PyTorch gives them back
//! before it fails (`release_cached_blocks`, CUDACachingAllocator.cpp).
//!
//! The layout is the old one: with expandable segments from the start a job's layout is usually better, so (b) and (c)
//! are lower bounds.

use crate::allocator::{LARGE_SEGMENT, QUANTUM};
use crate::domain::closed_set;
use crate::text;
use crate::text::Text;
use crate::units::{Bytes, Interval, MIB};
use serde::{Deserialize, Serialize};

/// The smallest page that devices known so far can map.
pub const SMALL_PAGE: u64 = 2 * MIB;
/// The page of PyTorch's expandable segments for requests above 1 MiB (`large_segment_size_mb`, 20 by default).
pub const TORCH_PAGE: u64 = LARGE_SEGMENT;
/// Without a snapshot: bytes allocated per hole. An assumption, printed with every answer that rests on it.
const LIVE_PER_HOLE: u64 = 64 * MIB;

/// One block of a segment, in address order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Block {
    pub bytes: u64,
    /// Allocated, or waiting for another stream.
    pub live: bool,
}

/// Memory that the allocator took from the driver in one piece.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Segment {
    pub blocks: Vec<Block>,
    /// The page that an expandable segment in its place has: 2 MiB for the small pool, [`TORCH_PAGE`] for the large
    /// one.
    pub page: u64,
    /// In a private pool that is in use (CUDA graphs), or expandable, so that whole pages were given back before the
    /// failure: nothing of it can be given back.
    pub pinned: bool,
}

impl Segment {
    pub fn bytes(&self) -> u64 {
        self.blocks.iter().fold(0, |sum, block| sum.saturating_add(block.bytes))
    }

    /// True where no block is live: such a segment is given back as a whole.
    pub fn idle(&self) -> bool {
        !self.pinned && self.blocks.iter().all(|block| !block.live)
    }

    /// Free spans as offset and end, neighbours merged; empty for pinned segments.
    pub fn holes(&self) -> Vec<(u64, u64)> {
        let mut holes: Vec<(u64, u64)> = Vec::new();
        let mut offset = 0u64;
        for block in &self.blocks {
            let end = offset.saturating_add(block.bytes);
            if !block.live && !self.pinned {
                match holes.last_mut() {
                    Some(last) if last.1 == offset => last.1 = end,
                    _ => holes.push((offset, end)),
                }
            }
            offset = end;
        }
        holes
    }

    /// [`Segment::holes`] shrunk to whole pages.
    pub fn free_pages(&self, page: u64) -> Vec<(u64, u64)> {
        let page = page.max(1);
        self.holes()
            .into_iter()
            .map(|(start, end)| (start.div_ceil(page).saturating_mul(page), end / page * page))
            .filter(|(start, end)| start < end)
            .collect()
    }
}

/// Where a state comes from, which bounds what it can prove.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Layout {
    /// A memory snapshot: every block known.
    Known,
    /// The sums of a message, cached memory spread over holes of this size between live blocks.
    Spread { hole: u64 },
    /// The sums of a message, all cached memory in holes smaller than any page: the worst that they allow.
    Crumbs { hole: u64 },
}

/// A caching allocator's state at the moment of a failure.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct State {
    pub segments: Vec<Segment>,
    /// What was asked of the driver.
    pub requested: u64,
    /// Free on the device.
    pub free: u64,
    pub layout: Layout,
}

/// The sums that a message prints, in bytes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sums {
    pub requested: Interval,
    pub free: Interval,
    pub allocated: Interval,
    /// Reserved and not allocated, private pools left out.
    pub cached: Interval,
}

impl Sums {
    /// True where free and cached memory together are surely less than the request: no layout could have served it.
    pub fn surely_too_little(&self) -> bool {
        (self.requested - self.free - self.cached).low > 0
    }

    /// True where free and cached memory together surely hold the request.
    pub fn surely_enough(&self) -> bool {
        (self.requested - self.free - self.cached).high <= 0
    }

    /// The states that the sums stand for: a middling one and the worst.
    pub fn states(&self) -> [State; 2] {
        let allocated = self.allocated.middle_bytes();
        let cached = self.cached.middle_bytes();
        let holes = (allocated / LIVE_PER_HOLE).max(1);
        let spread = align_down(cached / holes, QUANTUM);
        [
            self.state(Layout::Spread { hole: spread }, allocated, cached),
            self.state(Layout::Crumbs { hole: MIB }, allocated, cached),
        ]
    }

    fn state(&self, layout: Layout, allocated: u64, cached: u64) -> State {
        let (Layout::Spread { hole } | Layout::Crumbs { hole }) = layout else {
            return State { segments: Vec::new(), requested: 0, free: 0, layout };
        };
        let holes = (cached / hole.max(QUANTUM)).clamp(1, MOST_HOLES);
        let hole = align_down(cached / holes, QUANTUM);
        // Live memory lies on both sides of every hole, and a segment ends after enough of it for one segment a hole of
        // the middling layout.
        let live = align_down(allocated / holes / 2, QUANTUM).max(QUANTUM);
        let per_segment = (TORCH_PAGE * 5 / (2 * live + hole).max(1)).clamp(1, holes);
        let segments = (0..holes)
            .step_by(per_segment as usize)
            .map(|first| {
                // Holes begin at eight different places, lest all of them lie well or ill to the pages.
                let before = align_down(live / 8 * (1 + 2 * (first / per_segment % 8)), QUANTUM).max(QUANTUM);
                let after = (2 * live).saturating_sub(before).max(QUANTUM);
                let trio = [
                    Block { bytes: before, live: true },
                    Block { bytes: hole, live: false },
                    Block { bytes: after, live: true },
                ];
                let blocks = (first..holes.min(first + per_segment)).flat_map(|_| trio);
                Segment { blocks: blocks.filter(|block| block.bytes > 0).collect(), page: TORCH_PAGE, pinned: false }
            })
            .collect();
        State { segments, requested: self.requested.middle_bytes(), free: self.free.middle_bytes(), layout }
    }
}

/// A message of a 192 GiB device in holes of 1 MiB stays below this.
const MOST_HOLES: u64 = 1 << 18;

impl State {
    /// Held by the allocator, idle segments left out: they are given back before anything fails.
    pub fn held(&self) -> u64 {
        self.segments
            .iter()
            .filter(|segment| !segment.idle())
            .fold(0, |sum, segment| sum.saturating_add(segment.bytes()))
    }

    /// Every size times `numerator / 2^shift`: blocks to 512 B, segments to whole small pages (the last block takes up
    /// the difference), pages to whole small pages.
    pub fn scaled_down(&self, shift: u32) -> State {
        let scale = |bytes: u64| bytes.checked_shr(shift).unwrap_or(0);
        let segments = self
            .segments
            .iter()
            .map(|segment| {
                let mut blocks: Vec<Block> = Vec::with_capacity(segment.blocks.len());
                for block in &segment.blocks {
                    let bytes = align_down(scale(block.bytes), QUANTUM);
                    blocks.push(Block { bytes: if block.live { bytes.max(QUANTUM) } else { bytes }, live: block.live });
                }
                let bytes = blocks.iter().fold(0u64, |sum, block| sum.saturating_add(block.bytes));
                if let Some(last) = blocks.last_mut() {
                    last.bytes = last.bytes.saturating_add(align_up(bytes, SMALL_PAGE) - bytes);
                }
                let page = align_up(scale(segment.page), SMALL_PAGE).max(SMALL_PAGE);
                Segment { blocks, page, pinned: segment.pinned }
            })
            .collect();
        State { segments, requested: scale(self.requested), free: scale(self.free), layout: self.layout }
    }

    /// What arithmetic says about the three ways.
    pub fn predict(&self, small_page: u64) -> Prediction {
        let small_page = small_page.max(1);
        let mut found = Prediction { requested: self.requested, free: self.free, ..Prediction::default() };
        let sum = |spans: &[(u64, u64)]| spans.iter().fold(0u64, |sum, (start, end)| sum.saturating_add(end - start));
        let mut torch_page = small_page;
        for segment in &self.segments {
            torch_page = torch_page.max(segment.page);
            if segment.idle() {
                found.idle = found.idle.saturating_add(segment.bytes());
                continue;
            }
            let holes = segment.holes();
            found.cached = found.cached.saturating_add(sum(&holes));
            found.largest_hole = holes.iter().map(|(start, end)| end - start).fold(found.largest_hole, u64::max);
            found.small_pages = found.small_pages.saturating_add(sum(&segment.free_pages(small_page)));
            found.torch_pages = found.torch_pages.saturating_add(sum(&segment.free_pages(segment.page)));
        }
        let at_hand = self.free.saturating_add(found.idle);
        let serves = |more: u64, page: u64| {
            align_down(at_hand, small_page).saturating_add(more) >= align_up(self.requested, page)
        };
        found.ways = Ways {
            plain: serves(0, small_page),
            torch: serves(found.torch_pages, torch_page),
            small: serves(found.small_pages, small_page),
        };
        found
    }
}

/// Whether the request goes through, in each of the three ways.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Ways {
    /// One driver allocation.
    pub plain: bool,
    /// Pages of PyTorch's expandable segments.
    pub torch: bool,
    /// The smallest pages that the device maps.
    pub small: bool,
}

impl Ways {
    pub fn verdict(self) -> FailureMode {
        match (self.plain, self.torch, self.small) {
            (true, ..) => FailureMode::FitsPlainly,
            (false, true, _) => FailureMode::Fragmentation,
            (false, false, true) => FailureMode::PiecesBelowPage,
            (false, false, false) => FailureMode::Exhaustion,
        }
    }
}

/// The arithmetic, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Prediction {
    pub requested: u64,
    pub free: u64,
    /// Segments without a live block.
    pub idle: u64,
    /// Free inside segments that hold live blocks.
    pub cached: u64,
    /// Whole free pages of PyTorch's size inside these.
    pub torch_pages: u64,
    /// Whole free pages of the smallest size inside these.
    pub small_pages: u64,
    pub largest_hole: u64,
    pub ways: Ways,
}

closed_set! {
    /// What three ways prove.
    pub enum FailureMode {
        /// Expandable segments would have let the request through.
        Fragmentation = "fragmentation",
        /// Only smaller pages than PyTorch's would have.
        PiecesBelowPage = "pieces-below-page",
        /// No way leads through: too little memory, however it lies.
        Exhaustion = "exhaustion",
        /// The state alone does not explain the failure.
        FitsPlainly = "fits-plainly",
    }
}

impl FailureMode {
    pub fn text(self) -> Text {
        match self {
            FailureMode::Fragmentation => text!(
                en: "fragmentation: expandable segments would have let this request through",
                zh: "碎片化：启用 expandable_segments 后这次请求本可成功"
            ),
            FailureMode::PiecesBelowPage => text!(
                en: "fragmentation in pieces smaller than PyTorch's page: expandable segments help only from the start \
                     of the process, so that this layout never arises",
                zh: "碎片小于 PyTorch 的页：只有从进程启动就启用 expandable_segments、避免形成这种布局才有用"
            ),
            FailureMode::Exhaustion => text!(
                en: "exhaustion: no way to map the free pieces serves this request; the advice “to avoid \
                     fragmentation” is wrong here",
                zh: "显存耗尽：无论怎样映射空闲碎片都满足不了这次请求；“避免碎片化”的建议在此不适用"
            ),
            FailureMode::FitsPlainly => text!(
                en: "this state does not explain the failure: the request fits as it is; look at other processes, \
                     limits, and what was free at that very moment",
                zh: "该状态无法解释失败：请求本可直接满足；请检查其他进程、显存限额以及失败瞬间的空闲量"
            ),
        }
    }
}

impl Layout {
    /// What an answer on this layout rests on.
    pub fn text(self) -> Text {
        match self {
            Layout::Known => text!(en: "every block known, from a snapshot", zh: "来自快照，所有块已知"),
            Layout::Spread { hole } => {
                let (hole, live) = (Bytes(hole), Bytes(LIVE_PER_HOLE));
                text!(
                    en: "assumed: one free block of {hole} per {live} allocated",
                    zh: "假设：每分配 {live} 有一个 {hole} 的空洞"
                )
            }
            Layout::Crumbs { hole } => {
                let hole = Bytes(hole);
                text!(
                    en: "worst case: all free blocks {hole}, smaller than any page",
                    zh: "最坏情况：空洞均为 {hole}，小于任何页"
                )
            }
        }
    }
}

/// A failure worked out: the states that its figures stand for, and what arithmetic says of each.
#[derive(Debug, Clone, PartialEq)]
pub struct Reproduction {
    pub sums: Sums,
    /// Where the failure stands: a line of a log, an entry of a snapshot.
    pub origin: Text,
    pub cases: Vec<(State, Prediction)>,
    /// Expandable segments were on already; a message does not tell.
    pub expandable: bool,
    /// Whether the request is served where the recording is replayed with expandable segments from its start; `None`
    /// without a recording, or where the replay does not say.
    pub replayed: Option<bool>,
}

impl Reproduction {
    /// Of a message: several states have its sums.
    pub fn of_message(sums: Sums, line: u64) -> Reproduction {
        let cases = sums.states().into_iter().map(|state| {
            let prediction = state.predict(SMALL_PAGE);
            (state, prediction)
        });
        let origin = text!(en: "line {line}", zh: "第 {line} 行");
        Reproduction { sums, origin, cases: cases.collect(), expandable: false, replayed: None }
    }

    /// Of a snapshot: one state, every block known.
    /// `expandable`: free bytes inside expandable segments, where there are such.
    pub fn of_snapshot(state: State, device: u32, event: u32, expandable: Option<u64>) -> Reproduction {
        let prediction = state.predict(SMALL_PAGE);
        let at_hand = prediction.cached.saturating_add(prediction.idle).saturating_add(expandable.unwrap_or(0));
        let sums = Sums {
            requested: Interval::exactly(state.requested),
            free: Interval::exactly(state.free),
            allocated: Interval::exactly(state.held().saturating_add(prediction.idle).saturating_sub(at_hand)),
            cached: Interval::exactly(at_hand),
        };
        let entry = u64::from(event) + 1;
        let origin = text!(en: "entry {entry} of device {device}'s trace", zh: "设备 {device} 记录的第 {entry} 条");
        let cases = vec![(state, prediction)];
        Reproduction { sums, origin, cases, expandable: expandable.is_some(), replayed: None }
    }

    /// The verdict that holds however the cached memory lies; `None` where that decides.
    pub fn verdict(&self) -> Option<FailureMode> {
        if self.sums.surely_too_little() {
            return Some(FailureMode::Exhaustion);
        }
        let mut verdicts = self.cases.iter().map(|(_, prediction)| prediction.ways.verdict());
        let first = verdicts.next()?;
        let of_the_moment = verdicts.all(|verdict| verdict == first).then_some(first)?;
        let known = self.cases.iter().all(|(state, _)| state.layout == Layout::Known);
        // A replay from the start knows more than the pages that are free at one moment.
        match (of_the_moment, self.replayed) {
            // Layouts that were made up refute nothing.
            (FailureMode::Exhaustion, _) if !known => None,
            (FailureMode::FitsPlainly, _) | (_, None) => Some(of_the_moment),
            (FailureMode::Fragmentation, Some(false)) => None,
            (FailureMode::Fragmentation, Some(true)) => Some(FailureMode::Fragmentation),
            (_, Some(true)) => Some(FailureMode::PiecesBelowPage),
            (_, Some(false)) => Some(FailureMode::Exhaustion),
        }
    }

    /// What follows from the message alone.
    pub fn text(&self) -> Text {
        let missing = crate::units::signed((self.sums.requested - self.sums.free - self.sums.cached).middle());
        match self.verdict() {
            Some(FailureMode::Exhaustion) if self.sums.surely_too_little() => text!(
                en: "refuted: even in one piece, free and cached memory fall {missing} short of the request; no \
                     allocator setting helps",
                zh: "已否定：即使全部连成一块，空闲与缓存之和仍比请求少 {missing}；任何分配器设置都无济于事"
            ),
            Some(FailureMode::Exhaustion) if self.expandable => text!(
                en: "not fragmentation that a setting cures: expandable segments were on and had given back every \
                     whole page; what is left lies in smaller pieces between live blocks",
                zh: "不是靠设置能解决的碎片化：expandable_segments 已启用，完整的页都已归还；剩余的是夹在使用中的块之间\
                     的小碎片"
            ),
            Some(verdict) => verdict.text(),
            None if self.replayed == Some(false) => text!(
                en: "open: the pages that were free at that moment would have served it, and yet it fails where the \
                     recording is replayed with expandable segments from its start",
                zh: "未定：当时空闲的页足以满足这次请求，但从记录开始就启用 expandable_segments 重放时它依然失败"
            ),
            None if self.sums.surely_enough() => text!(
                en: "free and cached memory together hold the request, but not in one piece. Whether expandable \
                     segments would have let it through is open: it depends on how the cached memory lies, which the \
                     message does not say; `--reproduce` on a memory snapshot of the failure decides",
                zh: "空闲与缓存之和足够这次请求，但不连续。启用 expandable_segments 能否成功尚无法判断：取决于缓存块的\
                     分布，而报错信息没有给出；对失败时的显存快照使用 `--reproduce` 才能判断"
            ),
            None => text!(
                en: "open: it depends on how the cached memory lies, which the message does not say; `--reproduce` on \
                     a memory snapshot of the failure decides",
                zh: "未定：取决于缓存块的分布，而报错信息没有给出；对失败时的显存快照使用 `--reproduce` 才能判断"
            ),
        }
    }
}

/// `bytes` down to a multiple of `unit`.
pub fn align_down(bytes: u64, unit: u64) -> u64 {
    bytes / unit.max(1) * unit.max(1)
}

/// `bytes` up to a multiple of `unit`.
pub fn align_up(bytes: u64, unit: u64) -> u64 {
    bytes.div_ceil(unit.max(1)).saturating_mul(unit.max(1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::GIB;

    fn segment(blocks: &[(u64, bool)]) -> Segment {
        let blocks = blocks.iter().map(|(mib, live)| Block { bytes: mib * MIB, live: *live }).collect();
        Segment { blocks, page: TORCH_PAGE, pinned: false }
    }

    fn state(segments: Vec<Segment>, requested: u64, free: u64) -> State {
        State { segments, requested, free, layout: Layout::Known }
    }

    #[test]
    fn large_holes_are_fragmentation() {
        // 36 holes of 170 MiB after 33 MiB of live memory: of each, the pages from 40 to 200 serve.
        let with_holes = (0..36).map(|_| segment(&[(33, true), (170, false), (97, true)])).collect();
        let found = state(with_holes, 3 * GIB, 700 * MIB).predict(SMALL_PAGE);
        assert_eq!(found.cached, 36 * 170 * MIB);
        assert_eq!(found.torch_pages, 36 * 160 * MIB);
        assert_eq!(found.small_pages, 36 * 168 * MIB);
        assert_eq!(found.ways.verdict(), FailureMode::Fragmentation);
    }

    #[test]
    fn the_same_sum_in_crumbs_is_exhaustion() {
        let crumbs = (0..36).map(|_| {
            let blocks = (0..170).flat_map(|_| [(1, true), (1, false)]).collect::<Vec<_>>();
            segment(&blocks)
        });
        let found = state(crumbs.collect(), 3 * GIB, 700 * MIB).predict(SMALL_PAGE);
        assert_eq!(found.cached, 36 * 170 * MIB);
        assert_eq!((found.small_pages, found.ways.verdict()), (0, FailureMode::Exhaustion));
    }

    #[test]
    fn holes_between_both_page_sizes_need_an_early_switch() {
        let segments = (0..100).map(|_| segment(&[(9, true), (14, false), (9, true)])).collect();
        let found = state(segments, GIB, 100 * MIB).predict(SMALL_PAGE);
        assert_eq!((found.torch_pages, found.small_pages), (0, 100 * 12 * MIB));
        assert_eq!(found.ways.verdict(), FailureMode::PiecesBelowPage);
    }

    #[test]
    fn idle_segments_are_given_back_and_pinned_ones_never() {
        let mut idle = segment(&[(600, false)]);
        assert_eq!(
            state(vec![idle.clone()], 500 * MIB, 0).predict(SMALL_PAGE).ways.verdict(),
            FailureMode::FitsPlainly
        );
        idle.pinned = true;
        assert_eq!(state(vec![idle], 500 * MIB, 0).predict(SMALL_PAGE).ways.verdict(), FailureMode::Exhaustion);
    }

    #[test]
    fn what_expandable_segments_could_not_give_back_is_no_fragmentation_to_cure() {
        let mut left = segment(&[(300, true), (19, false), (300, true)]);
        left.pinned = true;
        let state = state(vec![left; 40], 500 * MIB, 100 * MIB);
        let found = Reproduction::of_snapshot(state.clone(), 0, 7, Some(40 * 19 * MIB));
        assert_eq!((found.verdict(), found.sums.surely_too_little()), (Some(FailureMode::Exhaustion), false));
        assert!(found.text().en.contains("expandable segments were on"), "{}", found.text().en);
        assert_eq!(found.sums.allocated, Interval::exactly(40 * 600 * MIB));
        // Too little in one piece too: no layout matters.
        assert!(Reproduction::of_snapshot(state, 0, 7, Some(MIB)).text().en.starts_with("refuted"));
    }

    #[test]
    fn a_replay_from_the_start_goes_before_the_pages_of_one_moment() {
        let holes = (0..36).map(|_| segment(&[(33, true), (170, false), (97, true)])).collect();
        let joined = Reproduction::of_snapshot(state(holes, 3 * GIB, 700 * MIB), 0, 7, None);
        let crumbs = (0..200).map(|_| segment(&[(1, true), (19, false), (1, true), (1, false)])).collect();
        let crumbs = Reproduction::of_snapshot(state(crumbs, 3 * GIB, 700 * MIB), 0, 7, None);
        let with = |of: &Reproduction, replayed| Reproduction { replayed: Some(replayed), ..of.clone() };
        assert_eq!(with(&joined, true).verdict(), Some(FailureMode::Fragmentation));
        assert_eq!(with(&joined, false).verdict(), None);
        assert!(with(&joined, false).text().en.contains("replayed"), "{}", with(&joined, false).text().en);
        assert_eq!(with(&crumbs, true).verdict(), Some(FailureMode::PiecesBelowPage));
        assert_eq!(with(&crumbs, false).verdict(), Some(FailureMode::Exhaustion));
        assert_eq!(joined.origin.en, "entry 8 of device 0's trace", "as people count, as in every other report");
    }

    #[test]
    fn a_message_gives_two_states_with_its_sums() {
        let gib = |value: f64| Interval::exactly((value * GIB as f64) as u64);
        let sums = Sums { requested: gib(1.4), free: gib(0.3), allocated: gib(15.0), cached: gib(6.5) };
        assert!(!sums.surely_too_little());
        let [spread, crumbs] = sums.states();
        for state in [&spread, &crumbs] {
            let found = state.predict(SMALL_PAGE);
            let near = |value: u64, wanted: f64| (value as f64 / GIB as f64 - wanted).abs() < 0.01;
            assert!(near(found.cached, 6.5) && near(state.held() - found.cached, 15.0), "{found:?}");
        }
        assert_eq!(spread.predict(SMALL_PAGE).ways.verdict(), FailureMode::Fragmentation);
        assert_eq!(crumbs.predict(SMALL_PAGE).ways.verdict(), FailureMode::Exhaustion);
        // Nor do both say so where the layouts are made up: the message alone cannot tell.
        let small = Sums { cached: gib(1.2), ..sums };
        let reproduced = Reproduction::of_message(small, 3);
        assert!(reproduced.cases.iter().all(|(_, found)| found.ways.verdict() == FailureMode::Exhaustion));
        assert_eq!((reproduced.verdict(), small.surely_enough()), (None, true));
        assert!(Sums { requested: gib(8.0), ..sums }.surely_too_little());
    }

    #[test]
    fn scaling_keeps_whole_pages_and_what_is_live() {
        let scaled = state(vec![segment(&[(33, true), (170, false), (97, true)])], 3 * GIB, GIB).scaled_down(2);
        assert_eq!(scaled.segments[0].bytes() % SMALL_PAGE, 0);
        assert_eq!(scaled.segments[0].page, 6 * MIB);
        assert_eq!((scaled.requested, scaled.free), (3 * GIB / 4, GIB / 4));
    }

    #[test]
    fn hostile_sums_end() {
        let absurd = Interval::exactly(u64::MAX);
        let sums = Sums { requested: absurd, free: Interval::exactly(0), allocated: absurd, cached: absurd };
        for state in sums.states() {
            state.predict(SMALL_PAGE);
            state.scaled_down(63).predict(SMALL_PAGE);
        }
        let nothing = Interval::exactly(0);
        for state in (Sums { requested: nothing, free: nothing, allocated: nothing, cached: nothing }).states() {
            state.predict(SMALL_PAGE);
        }
    }
}
