//! The simulated allocator against the record: the same requests, and whether each went where it really went.
//!
//! The prediction is checked request by request. Where one fails, the simulator is set to what the record shows and
//! goes on from there, so that one surprise does not spoil the rest.

use super::history::{History, Range};
use super::model::{Device, Snapshot};
use super::space::{Image, Rules, Space};
use super::store::{Action, NONE};
use crate::allocator::block::{self, BlockId};
use crate::allocator::caching::{AllocError, CachingAllocator};
use crate::allocator::config::{Config, TorchPlatform};
use crate::allocator::device;
use crate::allocator::device::Surroundings;
use crate::allocator::restore::{Home, Piece};
use crate::allocator::version::Version;
use crate::allocator::{SMALL_LIMIT, SMALL_SEGMENT, round_up};
use crate::text;
use crate::text::Text;
use std::collections::{BTreeMap, HashSet, VecDeque};

/// Memory that no device has; a record that claims more is no record.
const IMPOSSIBLE: u64 = 1 << 44;
/// Streams that are told apart at most.
const STREAMS: usize = 4096;
/// Addresses that no record has begin here.
const FRESH: u64 = 1 << 62;
/// Times that the simulator is set right before the comparison is given up.
const RESYNCS: u64 = 1024;
/// Pieces that may be copied for that.
const RESYNC_PIECES: u64 = 20_000_000;

/// The device below the simulated allocator: it has some bytes, and gives the addresses that the record shows next.
#[derive(Debug, Clone)]
pub struct RecordedDevice {
    /// Bytes that the allocator can have at most.
    pub budget: u64,
    /// Bytes of the whole device, after which address space is reserved.
    total: u64,
    pub used: u64,
    /// Address and size of what the record shows next.
    pub hints: VecDeque<(u64, u64)>,
    /// What was given since this was last cleared.
    pub grown: Vec<(u64, u64)>,
    /// The fewest bytes that were missing whenever it had to say no: with fewer than these more, all goes the same way.
    pub short: Option<u64>,
    fresh: u64,
    /// Where there is memory or reserved space, start to end: a damaged record may name a place twice.
    taken: BTreeMap<u64, u64>,
    /// The next mapping is a new one, not the continuation of the last.
    apart: bool,
}

impl RecordedDevice {
    pub fn new(budget: u64) -> RecordedDevice {
        RecordedDevice {
            budget,
            total: budget,
            used: 0,
            hints: VecDeque::new(),
            grown: Vec::new(),
            short: None,
            fresh: FRESH,
            taken: BTreeMap::new(),
            apart: true,
        }
    }

    /// One of which CUDA says that it has `total` bytes, of which shares are reckoned.
    pub fn of_total(budget: u64, total: u64) -> RecordedDevice {
        RecordedDevice { total, ..RecordedDevice::new(budget) }
    }

    /// Marks a range as taken; false when a part of it is already.
    fn take(&mut self, address: u64, size: u64) -> bool {
        let end = address.saturating_add(size);
        let before = self.taken.range(..end).next_back();
        if before.is_some_and(|(_, taken_end)| *taken_end > address) {
            return false;
        }
        self.taken.insert(address, end);
        true
    }

    /// True where so many bytes are left.
    fn has(&mut self, bytes: u64) -> bool {
        let missing = bytes.saturating_sub(self.budget.saturating_sub(self.used));
        if missing > 0 {
            self.short = Some(self.short.map_or(missing, |least| least.min(missing)));
        }
        missing == 0
    }

    fn take_fresh(&mut self, size: u64) -> u64 {
        let address = self.fresh;
        self.fresh = address.saturating_add(round_up(size, device::GRANULE));
        self.take(address, size);
        address
    }
}

impl device::Device for RecordedDevice {
    fn malloc(&mut self, size: u64) -> Option<u64> {
        let physical = round_up(size, device::GRANULE);
        if !self.has(physical) {
            return None;
        }
        self.used += physical;
        let address = match self.hints.front().copied() {
            Some((address, recorded)) if recorded == size && self.take(address, size) => {
                self.hints.pop_front();
                address
            }
            _ => self.take_fresh(size),
        };
        self.grown.push((address, size));
        Some(address)
    }

    fn free(&mut self, address: u64) -> bool {
        let Some(end) = self.taken.remove(&address) else { return false };
        self.used = self.used.saturating_sub(round_up(end - address, device::GRANULE));
        true
    }

    fn reserve(&mut self, size: u64) -> u64 {
        match self.hints.front().copied() {
            Some((address, _)) if self.take(address, size) => address,
            _ => self.take_fresh(size),
        }
    }

    fn unreserve(&mut self, address: u64, _size: u64) {
        self.taken.remove(&address);
    }

    fn create(&mut self, size: u64) -> bool {
        self.apart = true;
        if !self.has(size) {
            return false;
        }
        self.used += size;
        true
    }

    fn release(&mut self, size: u64) {
        self.used = self.used.saturating_sub(size);
    }

    fn map(&mut self, address: u64, size: u64) {
        match self.grown.last_mut() {
            Some(last) if !self.apart => last.1 += size,
            _ => self.grown.push((address, size)),
        }
        self.apart = false;
    }

    fn unmap(&mut self, _address: u64, _size: u64) {}

    fn free_bytes(&self) -> u64 {
        self.budget.saturating_sub(self.used)
    }

    fn total_bytes(&self) -> u64 {
        self.total
    }

    fn own_bytes(&self) -> u64 {
        self.used
    }
}

/// Bytes that the allocator can have on this device, as far as the record tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budget {
    /// It had at least this much.
    pub low: u64,
    /// And at most this much; `None` when it never came to its limit, as far as is known.
    pub high: Option<u64>,
    /// True where memory was given back just before more was got, and no stack tells whether the program emptied its
    /// cache or the device was full.
    pub unclear: bool,
}

/// What was asked of the allocator, without where it went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecordedRequest {
    Alloc {
        event: u32,
        id: u32,
        bytes: u64,
        stream: u32,
        pool: u64,
    },
    Free {
        id: u32,
    },
    /// A request that failed, its bytes rounded.
    Failed {
        event: u32,
        bytes: u64,
        stream: u32,
    },
    /// The free segments of a private pool, or with 0 those of the default pool, were given back.
    Release {
        pool: u64,
    },
}

/// A device's trace made ready for simulation.
pub struct Program {
    pub requests: Vec<RecordedRequest>,
    pub budget: Budget,
    pub config: Config,
    pub version: Version,
    /// Entries at whose start the program had just given free memory back.
    empties: HashSet<u32>,
    /// Handles of the streams in their order; a stream's number is its index.
    streams: Vec<u64>,
}

/// Why a device cannot be simulated.
pub type Refusal = Text;

/// The settings and the version that a snapshot was recorded under; `torch` replaces the version.
pub fn recorded_settings(snapshot: &Snapshot, torch: Option<Version>) -> (Config, Version) {
    let version = torch.unwrap_or_else(|| {
        let (major, minor) = snapshot.generation.to.unwrap_or((Version::NEWEST.major, Version::NEWEST.minor));
        Version::new(major, minor).max(Version::OLDEST)
    });
    let mut config = Config::default();
    if let Some(settings) = &snapshot.settings {
        if let Ok((parsed, _)) = Config::parse(&settings.conf, version, TorchPlatform::Linux) {
            config = parsed;
        }
        config.expandable_segments |= settings.expandable_segments;
    }
    // Before 2.3 the settings are not recorded, but mapped memory shows.
    let mapped = |device: &Device| {
        device.segments.iter().any(|segment| segment.expandable)
            || device.trace.iter().any(|event| event.action == Action::SegmentMap)
    };
    config.expandable_segments |= snapshot.settings.is_none() && snapshot.devices.iter().any(mapped);
    (config, version)
}

/// The rounding that settings ask for.
pub fn rounding(config: &Config, version: Version) -> impl Fn(u64) -> u64 + use<> {
    let allocator = CachingAllocator::new(RecordedDevice::new(0), Surroundings::default(), config.clone(), version);
    move |bytes| allocator.round_size(bytes)
}

/// Makes a device's trace ready.
///
/// # Errors
/// When there is nothing to simulate, or the record contradicts itself too much.
pub fn program(
    device: &Device,
    history: &History,
    config: Config,
    version: Version,
    misfits: u64,
) -> Result<Program, Refusal> {
    let allocs = device.trace.iter().filter(|event| event.action == Action::Alloc).count() as u64;
    if allocs == 0 {
        return Err(Text::new("the trace holds no allocations", "trace 中没有分配记录"));
    }
    if (misfits + history.misfits) * 5 > device.trace.len() as u64 {
        return Err(Text::new("the trace and the memory map do not belong together", "trace 与内存图不一致"));
    }
    let held = device.trace.iter().map(|event| event.size).chain(history.initial.iter().map(|range| range.size));
    let far = device.trace.iter().filter(|e| e.action != Action::Oom).map(|e| e.addr.saturating_add(e.size));
    if held.max().unwrap_or(0) > IMPOSSIBLE
        || history.peak_reserved.0 > IMPOSSIBLE
        || history.peak.requested > IMPOSSIBLE
        || far.max().unwrap_or(0) >= FRESH / 2
        || history.initial.iter().any(|range| range.address >= FRESH / 2)
    {
        return Err(Text::new("the sizes or addresses are those of no device", "大小或地址超出任何设备的范围"));
    }
    let mut streams: Vec<u64> = device.trace.iter().map(|event| event.stream).collect();
    streams.extend(history.initial.iter().map(|range| range.stream));
    streams.push(0);
    streams.sort_unstable();
    streams.dedup();
    if streams.len() > STREAMS {
        return Err(Text::new("there are too many streams", "流的数量过多"));
    }
    let (budget, empties) = budget(device, history);
    let mut program = Program { requests: Vec::new(), budget, config, version, empties, streams };
    program.requests = requests(device, history, &program);
    Ok(program)
}

/// One number for a private pool.
pub(super) fn pool_number(pool: (u32, u32)) -> u64 {
    u64::from(pool.0) << 32 | u64::from(pool.1)
}

impl Program {
    /// Number of a stream.
    pub fn stream(&self, handle: u64) -> u32 {
        self.streams.binary_search(&handle).unwrap_or(0) as u32
    }

    /// The budget under which every request of the record is decided as it was: the least that the allocator can have
    /// had where it ever came to its limit.
    pub fn certain_budget(&self) -> u64 {
        self.budget.high.map_or(IMPOSSIBLE, |_| self.budget.low)
    }
}

fn requests(device: &Device, history: &History, program: &Program) -> Vec<RecordedRequest> {
    let mut pools = Pools::default();
    history.initial.iter().for_each(|range| pools.gained(*range));
    // Pools that gave memory back since the last entry that was about anything else.
    let mut released: Vec<u64> = Vec::new();
    let mut requests = Vec::with_capacity(device.trace.len() / 3 * 2);
    for (i, event) in device.trace.iter().enumerate() {
        let number = i as u32;
        if program.empties.contains(&number) {
            requests.extend(released.drain(..).map(|pool| RecordedRequest::Release { pool }));
        }
        let id = history.of_event.get(i).copied().unwrap_or(NONE);
        match event.action {
            Action::SegmentFree | Action::SegmentUnmap => {
                let pool = pools.at(event.addr);
                if !released.contains(&pool) && released.len() < STREAMS {
                    released.push(pool);
                }
                continue;
            }
            Action::SegmentAlloc | Action::SegmentMap => {
                history.gained.get(&number).into_iter().for_each(|range| pools.gained(*range));
            }
            Action::Alloc if id != NONE => requests.push(RecordedRequest::Alloc {
                event: number,
                id,
                bytes: event.size,
                stream: program.stream(event.stream),
                pool: if event.pool == (0, 0) { pools.at(event.addr) } else { pool_number(event.pool) },
            }),
            Action::FreeCompleted | Action::Free | Action::FreeRequested
                if history.allocations.get(id as usize).is_some_and(|a| a.freed == number) =>
            {
                requests.push(RecordedRequest::Free { id });
            }
            Action::Oom => requests.push(RecordedRequest::Failed {
                event: number,
                bytes: event.size,
                stream: program.stream(event.stream),
            }),
            _ => {}
        }
        if event.action != Action::FreeCompleted {
            released.clear();
        }
    }
    requests
}

/// The pool of each place, as far as a record tells: an allocation is of the pool of the segment that it lies in.
/// Addresses come again, so it is that of the newest segment there.
#[derive(Default)]
struct Pools(BTreeMap<u64, (u64, u64)>);

impl Pools {
    fn gained(&mut self, range: Range) {
        let pool = if range.pool == (0, 0) { 0 } else { pool_number(range.pool) };
        let end = range.address.saturating_add(range.size);
        while let Some((&start, _)) = self.0.range(range.address..end).next() {
            self.0.remove(&start);
        }
        self.0.insert(range.address, (end, pool));
    }

    fn at(&self, address: u64) -> u64 {
        let found = self.0.range(..=address).next_back();
        found.filter(|(_, (end, _))| address < *end).map_or(0, |(_, (_, pool))| *pool)
    }
}

/// How much the allocator could have, and where the program gave memory back that it could have kept.
fn budget(device: &Device, history: &History) -> (Budget, HashSet<u32>) {
    let mut budget = Budget { low: history.peak_reserved.0, high: None, unclear: false };
    let has_stacks = device.trace.iter().any(|event| event.stack != NONE);
    let Releases { groups, exact } = releases(device, history);
    let limit = exact.unwrap_or(0).max(budget.low);
    let mut empties = HashSet::new();
    for Release { before, next, asked, .. } in groups {
        match asked {
            // It would not have fitted: the allocator released its cache to make room.
            Some(asked) if before.saturating_add(asked) > limit && !has_stacks => {
                budget.unclear = true;
                empties.insert(next);
            }
            Some(asked) if before.saturating_add(asked) > limit => {
                let most = before.saturating_add(asked).saturating_sub(1).max(budget.low);
                budget.high = Some(budget.high.map_or(most, |high| high.min(most)));
            }
            _ => {
                empties.insert(next);
            }
        }
    }
    if let Some(exact) = exact.filter(|exact| *exact >= budget.low) {
        budget = Budget { low: exact, high: Some(exact), unclear: false };
    }
    (budget, empties)
}

/// All that was given back, and what the allocator could have at the first failed request: what it held and what the
/// device had left.
pub(super) struct Releases {
    pub groups: Vec<Release>,
    exact: Option<u64>,
}

pub(super) fn releases(device: &Device, history: &History) -> Releases {
    let mut reserved = history.initial_reserved();
    let mut exact = None;
    let mut groups: Vec<Release> = Vec::new();
    let mut open: Option<Release> = None;
    for (i, event) in device.trace.iter().enumerate() {
        let number = i as u32;
        let closed = |group: Release| Release { next: number, ..group };
        match event.action {
            Action::SegmentFree | Action::SegmentUnmap => {
                // What two calls give back is told apart.
                groups.extend(open.take_if(|group| group.stack != event.stack).map(closed));
                let group = open.get_or_insert(Release {
                    before: reserved,
                    next: 0,
                    asked: None,
                    given: Vec::new(),
                    stack: event.stack,
                });
                group.given.push(number);
                reserved = reserved.saturating_sub(event.size);
            }
            Action::FreeCompleted => {}
            Action::SegmentAlloc | Action::SegmentMap => {
                if let Some(group) = open.take() {
                    // An allocator that makes room does so within the request: one stack, not that of empty_cache() or
                    // of the capture of a CUDA graph.
                    let own = group.stack != event.stack || served_by_cache(device, i, &group);
                    let asked = if own { None } else { Some(event.size) };
                    groups.push(Release { asked, ..closed(group) });
                }
                reserved = reserved.saturating_add(event.size);
            }
            Action::Oom => {
                exact.get_or_insert(reserved.saturating_add(event.addr));
                open = None;
            }
            _ => groups.extend(open.take().map(closed)),
        }
    }
    groups.extend(open.take().map(|group| Release { next: device.trace.len() as u32, ..group }));
    Releases { groups, exact }
}

/// Memory given back in one go.
pub(super) struct Release {
    /// Bytes held before.
    before: u64,
    /// The first entry after it.
    next: u32,
    /// Bytes of new memory that were asked for next, if that is why.
    pub asked: Option<u64>,
    /// The entries of what was given.
    pub given: Vec<u32>,
    /// Where the program was.
    stack: u32,
}

/// True when the request that memory was got for next would have found room in what was given back just before: then
/// the allocator did not give it back by itself.
fn served_by_cache(device: &Device, next: usize, release: &Release) -> bool {
    let request = device.trace.iter().skip(next).take(64).find(|event| event.action == Action::Alloc);
    let Some(request) = request else { return false };
    let rounded = super::space::plain_rounding(request.size);
    let small = rounded <= SMALL_LIMIT;
    release
        .given
        .iter()
        .filter_map(|entry| device.trace.get(*entry as usize))
        .any(|piece| piece.size >= rounded && piece.stream == request.stream && (piece.size <= SMALL_SEGMENT) == small)
}

/// How well the simulator predicted what happened.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Fidelity {
    /// Allocations of the trace.
    pub allocations: u64,
    /// Of these, those that got the address that was predicted.
    pub same_address: u64,
    /// Segments and mapped ranges that the allocator got.
    pub segments: u64,
    /// Of these, those of the predicted size.
    pub same_size: u64,
    /// Failed requests, and those that the simulator could not serve either.
    pub failed: u64,
    pub failed_too: u64,
    /// The first entry that went differently, and how.
    pub first_divergence: Option<(u32, Text)>,
    /// True when so much differed that the rest was not compared.
    pub given_up: bool,
}

impl Fidelity {
    /// True where all went as foreseen.
    pub fn is_exact(&self) -> bool {
        let Fidelity { allocations, same_address, segments, same_size, failed, failed_too, .. } = self;
        (allocations, segments, failed) == (same_address, same_size, failed_too)
    }

    /// True when the simulator fails on the same requests as the record: only then do its variations prove anything.
    pub fn fails_alike(&self) -> bool {
        !self.given_up && self.failed > 0 && self.failed == self.failed_too
    }
}

type Simulator = CachingAllocator<RecordedDevice>;

/// Starts a simulator in the state that a map shows. `ids` gets the block of each live allocation. `None` when segments
/// overlap, as they do only in a damaged record.
fn restore(program: &Program, image: &Image, history: &History, budget: u64, ids: &mut [BlockId]) -> Option<Simulator> {
    let mut device = RecordedDevice::new(budget);
    // Reservations lie at least as far apart as the device is large, and it is no smaller than this.
    device.total = program.budget.low;
    device.used =
        image.segments.iter().map(|segment| round_up(segment.range.size, device::GRANULE)).fold(0, u64::saturating_add);
    let mut simulator = CachingAllocator::new(device, Surroundings::default(), program.config.clone(), program.version);
    let reserve = program.budget.low.saturating_add(program.budget.low / 8);
    let mut segments = image.segments.iter().peekable();
    while let Some(segment) = segments.next() {
        let range = segment.range;
        let home = Home {
            stream: program.stream(range.stream),
            small: range.small,
            owner: (range.pool != (0, 0)).then(|| pool_number(range.pool)),
        };
        let mut pieces: Vec<Piece> = Vec::new();
        let mut holders: Vec<u32> = Vec::new();
        let mut take = |segment: &super::space::ImageSegment| {
            for piece in &segment.pieces {
                let requested = history.allocations.get(piece.holder as usize).map(|a| a.requested);
                pieces.push(Piece { address: piece.address, size: piece.size, requested });
                holders.push(piece.holder);
            }
        };
        take(segment);
        if !range.expandable {
            if !simulator.device.take(range.address, range.size) {
                return None;
            }
            simulator.restore_segment(home, &pieces, |i, id| keep(ids, &holders, i, id));
            continue;
        }
        // Ranges that are no farther apart than a reservation is long belong to one.
        let end = range.address.saturating_add(reserve);
        while let Some(next) = segments.next_if(|next| {
            let other = next.range;
            other.expandable
                && (other.stream, other.small, other.pool) == (range.stream, range.small, range.pool)
                && other.address.saturating_add(other.size) <= end
        }) {
            take(next);
        }
        let last = pieces.last().map_or(range.address, |piece| piece.address.saturating_add(piece.size));
        let next = segments.peek().map_or(u64::MAX, |next| next.range.address);
        let size = reserve.min(next.saturating_sub(range.address)).max(last.checked_sub(range.address)?);
        if !simulator.device.take(range.address, size) {
            return None;
        }
        simulator.restore_expandable(home, range.address, size, &pieces, |i, id| keep(ids, &holders, i, id));
    }
    Some(simulator)
}

fn keep(ids: &mut [BlockId], holders: &[u32], piece: usize, id: BlockId) {
    if let Some(slot) = holders.get(piece).and_then(|holder| ids.get_mut(*holder as usize)) {
        *slot = id;
    }
}

/// Serves a request of the default or a private pool. `None` when it fails.
pub(super) fn serve(simulator: &mut Simulator, bytes: u64, stream: u32, pool: u64) -> Option<BlockId> {
    let served =
        if pool == 0 { simulator.allocate(bytes, stream) } else { simulator.allocate_in_pool(bytes, stream, pool) };
    served.ok().flatten()
}

/// Gives the free segments of a pool back to the driver.
pub(super) fn give_back(simulator: &mut Simulator, pool: u64) -> Result<(), AllocError> {
    if pool == 0 { simulator.empty_cache() } else { simulator.release_private_blocks(pool) }
}

/// Replays the record and compares. Block sizes must be known ([`super::space::play`]).
pub fn fidelity(device: &Device, history: &mut History, rules: Rules<'_>, program: &Program) -> Fidelity {
    let mut out = Fidelity::default();
    let mut space = Space::before(history, rules);
    let mut ids = vec![block::NONE; history.allocations.len()];
    let budget = program.certain_budget();
    let Some(mut simulator) = restore(program, &space.image(), history, budget, &mut ids) else {
        out.allocations = program.requests.iter().filter(|r| matches!(r, RecordedRequest::Alloc { .. })).count() as u64;
        out.given_up = true;
        return out;
    };
    let (mut resyncs, mut copied) = (0u64, 0u64);
    let mut requests = program.requests.iter().peekable();
    let mut hints: Vec<(u64, u64)> = Vec::new();
    for (i, event) in device.trace.iter().enumerate() {
        let number = i as u32;
        while let Some(RecordedRequest::Release { pool }) =
            requests.next_if(|request| matches!(request, RecordedRequest::Release { .. }))
        {
            out.given_up |= give_back(&mut simulator, *pool).is_err();
        }
        let gains = matches!(event.action, Action::SegmentAlloc | Action::SegmentMap);
        if gains {
            hints.push((event.addr, event.size));
            out.segments += 1;
        }
        let mut differs: Option<Text> = None;
        match event.action {
            Action::Alloc | Action::Oom => {
                out.allocations += u64::from(event.action == Action::Alloc);
                let request = requests.next_if(|request| match request {
                    RecordedRequest::Alloc { event, .. } | RecordedRequest::Failed { event, .. } => *event == number,
                    _ => false,
                });
                simulator.device.hints = hints.iter().copied().collect();
                simulator.device.grown.clear();
                match request.filter(|_| !out.given_up) {
                    Some(RecordedRequest::Alloc { id, bytes, stream, pool, .. }) => {
                        let served = serve(&mut simulator, *bytes, *stream, *pool);
                        let address = served.map(|block| simulator.block(block).address);
                        let grown = &simulator.device.grown;
                        out.same_size += hints.iter().zip(grown).filter(|(a, b)| a.1 == b.1).count() as u64;
                        let same = address == Some(event.addr);
                        out.same_address += u64::from(same && grown.len() == hints.len());
                        if let (Some(block), Some(slot)) = (served, ids.get_mut(*id as usize)) {
                            *slot = block;
                        }
                        if !same || *grown != hints {
                            differs = Some(divergence(event.addr, event.size, address, &hints, grown));
                        }
                    }
                    Some(RecordedRequest::Failed { bytes, stream, .. }) => {
                        out.failed += 1;
                        let served = serve(&mut simulator, *bytes, *stream, 0);
                        let grown = &simulator.device.grown;
                        out.same_size += hints.iter().zip(grown).filter(|(a, b)| a.1 == b.1).count() as u64;
                        match served {
                            Some(block) => {
                                simulator.free(block);
                                differs = Some(Text::new(
                                    "the simulated allocator serves the request that failed",
                                    "模拟的分配器满足了实际失败的请求",
                                ));
                            }
                            None => out.failed_too += 1,
                        }
                    }
                    _ => {}
                }
                hints.clear();
            }
            Action::FreeCompleted | Action::Free | Action::FreeRequested => {
                if let Some(RecordedRequest::Free { id }) = requests.next_if(|request| match request {
                    RecordedRequest::Free { id } => history.of_event.get(i) == Some(id),
                    _ => false,
                }) && let Some(block) = ids.get_mut(*id as usize)
                    && *block != block::NONE
                {
                    if !out.given_up {
                        simulator.free(*block);
                    }
                    *block = block::NONE;
                }
            }
            _ => {}
        }
        space.apply(device, history, i);
        if out.given_up {
            continue;
        }
        if event.action == Action::Alloc && differs.is_none() && simulator.reserved() != space.reserved {
            let (ours, theirs) = (crate::units::Bytes(simulator.reserved()), crate::units::Bytes(space.reserved));
            differs = Some(text!(
                en: "{ours} reserved where the record has {theirs}",
                zh: "模拟保留 {ours}，记录为 {theirs}"
            ));
        }
        if let Some(how) = differs {
            out.first_divergence.get_or_insert((number, how));
            resyncs += 1;
            let image = space.image();
            copied += image.segments.iter().map(|segment| segment.pieces.len() as u64).sum::<u64>();
            if resyncs > RESYNCS || copied > RESYNC_PIECES {
                out.given_up = true;
                continue;
            }
            ids.fill(block::NONE);
            match restore(program, &image, history, budget, &mut ids) {
                Some(restored) => simulator = restored,
                None => out.given_up = true,
            }
        }
    }
    out
}

fn divergence(address: u64, size: u64, ours: Option<u64>, hints: &[(u64, u64)], grown: &[(u64, u64)]) -> Text {
    let bytes = crate::units::Bytes(size);
    match (hints, grown, ours) {
        (_, _, None) => text!(
            en: "the simulated allocator cannot serve {bytes}, the real one did",
            zh: "模拟的分配器无法满足 {bytes}，实际却满足了"
        ),
        ([], [(_, grown), ..], _) => {
            let grown = crate::units::Bytes(*grown);
            text!(
                en: "{bytes} went into cached memory, {grown} of new memory was predicted",
                zh: "{bytes} 实际使用了缓存，预测为申请新显存 {grown}"
            )
        }
        ([(_, real), ..], [], _) => {
            let real = crate::units::Bytes(*real);
            text!(
                en: "{bytes} got {real} of new memory, cached memory was predicted",
                zh: "{bytes} 实际申请了新显存 {real}，预测为使用缓存"
            )
        }
        ([(_, real), ..], [(_, predicted), ..], _) if real != predicted => {
            let (real, predicted) = (crate::units::Bytes(*real), crate::units::Bytes(*predicted));
            text!(
                en: "{bytes} got {real} of new memory, {predicted} were predicted",
                zh: "{bytes} 实际申请新显存 {real}，预测为 {predicted}"
            )
        }
        (_, _, Some(ours)) => text!(
            en: "{bytes} went to 0x{address:x}, 0x{ours:x} was predicted",
            zh: "{bytes} 位于 0x{address:x}，预测为 0x{ours:x}"
        ),
    }
}
