//! Runs a trace against a simulated device and tells what happened.

use super::POOL_STREAMS;
use super::block::BlockId;
use super::caching::{AllocError, CachingAllocator};
use super::config::{Backend, Config};
use super::device::{DriverCall, SimulatedDevice, Surroundings};
use super::snapshot::SegmentView;
use super::stats::Stats;
use super::trace::{Op, Trace};
use super::uncached::{Bypass, UncachedAllocator};
use super::version::Version;

/// Where a trace runs.
#[derive(Debug, Clone)]
pub struct Setup {
    pub device: SimulatedDevice,
    pub surroundings: Surroundings,
    pub config: Config,
    pub version: Version,
    /// Memory fraction set before the first request.
    pub fraction: Option<f64>,
    /// Nothing is cached: `PYTORCH_NO_CUDA_MEMORY_CACHING`.
    pub no_caching: bool,
}

/// What one request did.
#[derive(Debug, Clone, Copy)]
pub struct Step<'a> {
    /// 0-based, comments not counted.
    pub index: usize,
    pub op: &'a Op,
    pub outcome: &'a Result<Done, AllocError>,
    /// The driver calls that it made.
    pub events: &'a [DriverCall],
    pub stats: &'a Stats,
}

/// What a request gave.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Done {
    /// An address; `None` for zero bytes.
    Address(Option<u64>),
    Segments(Vec<SegmentView>),
    Nothing,
}

/// The end of a replay.
#[derive(Debug, Clone, PartialEq)]
pub struct ReplayOutcome {
    pub requests: usize,
    pub stats: Stats,
    /// `None` where nothing is known about segments: `cudaMallocAsync` and no caching.
    pub segments: Option<Vec<SegmentView>>,
}

/// One of the allocators with what its live requests hold.
enum Machine {
    Caching(Box<CachingAllocator<SimulatedDevice>>, Vec<Option<BlockId>>),
    /// Addresses with their sizes.
    Uncached(Box<UncachedAllocator<SimulatedDevice>>, Vec<Option<(u64, u64)>>, Box<Stats>),
}

/// Replays a trace; `tell` hears of every request and ends the replay with `false`. Where nobody looks at the snapshots
/// that it asks for they are not taken: each is as large as all that is alive.
///
/// # Errors
/// When the trace cannot run in this setup at all: a memory fraction out of range, or private pools before 2.1.
pub fn run(
    trace: &Trace,
    setup: &Setup,
    snapshots: bool,
    mut tell: impl FnMut(Step<'_>) -> bool,
) -> Result<ReplayOutcome, AllocError> {
    let mut machine = Machine::start(trace, setup)?;
    machine.device().record_events();
    let mut stream = 0;
    let mut requests = 0;
    for (index, op) in trace.ops.iter().enumerate() {
        requests += 1;
        let outcome = machine.step(op, &mut stream, setup, snapshots)?;
        let (stats, events) = machine.state();
        let goes_on = tell(Step { index, op, outcome: &outcome, events, stats });
        machine.device().clear_events();
        if !goes_on {
            break;
        }
    }
    Ok(machine.finish(requests))
}

/// Replays a trace without telling anything: for measuring, and where only the end matters.
///
/// # Errors
/// As [`run`].
pub fn run_silently(trace: &Trace, setup: &Setup) -> Result<ReplayOutcome, AllocError> {
    let mut machine = Machine::start(trace, setup)?;
    let mut stream = 0;
    for op in &trace.ops {
        machine.step(op, &mut stream, setup, false)?.ok();
    }
    Ok(machine.finish(trace.ops.len()))
}

/// PyTorch's pool of side streams repeats after [`POOL_STREAMS`]; stream 0 is the default one.
fn handle(stream: u32) -> u32 {
    if stream == 0 { 0 } else { (stream - 1) % POOL_STREAMS + 1 }
}

impl Machine {
    fn start(trace: &Trace, setup: &Setup) -> Result<Machine, AllocError> {
        let bypass = match (setup.no_caching, setup.config.backend) {
            (true, _) => Some(Bypass::NoCaching),
            (false, Backend::MallocAsync) => Some(Bypass::MallocAsync),
            (false, Backend::Native) => None,
        };
        let (device, surroundings) = (setup.device.clone(), setup.surroundings.clone());
        let slots = trace.ids.len();
        if let Some(bypass) = bypass {
            let mut allocator = UncachedAllocator::new(device, surroundings, bypass, setup.version);
            if let Some(fraction) = setup.fraction {
                allocator.set_memory_fraction(fraction);
            }
            return Ok(Machine::Uncached(Box::new(allocator), vec![None; slots], Box::default()));
        }
        let mut allocator = CachingAllocator::new(device, surroundings, setup.config.clone(), setup.version);
        if let Some(fraction) = setup.fraction {
            allocator.set_memory_fraction(fraction)?;
        }
        Ok(Machine::Caching(Box::new(allocator), vec![None; slots]))
    }

    fn device(&mut self) -> &mut SimulatedDevice {
        match self {
            Machine::Caching(allocator, _) => &mut allocator.device,
            Machine::Uncached(allocator, ..) => &mut allocator.device,
        }
    }

    fn state(&self) -> (&Stats, &[DriverCall]) {
        match self {
            Machine::Caching(allocator, _) => (&allocator.stats, allocator.device.events()),
            Machine::Uncached(allocator, _, stats) => (stats, allocator.device.events()),
        }
    }

    #[inline]
    fn step(
        &mut self,
        op: &Op,
        current: &mut u32,
        setup: &Setup,
        snapshots: bool,
    ) -> Result<Result<Done, AllocError>, AllocError> {
        if matches!(op, Op::BeginPool(_) | Op::EndPool(_) | Op::ReleasePool(_)) && !setup.version.from(2, 1) {
            return Err(AllocError::Error("private pools: not for torch < 2.1".into()));
        }
        Ok(match self {
            Machine::Caching(_, _) if matches!(op, Op::Snapshot) && !snapshots => Ok(Done::Nothing),
            Machine::Caching(allocator, live) => caching_step(allocator, live, op, current),
            Machine::Uncached(allocator, live, stats) => uncached_step(allocator, live, stats, op),
        })
    }

    fn finish(self, requests: usize) -> ReplayOutcome {
        match self {
            Machine::Caching(allocator, live) => ReplayOutcome {
                requests,
                stats: allocator.stats,
                segments: Some(allocator.snapshot(live.into_iter().flatten())),
            },
            Machine::Uncached(_, _, stats) => ReplayOutcome { requests, stats: *stats, segments: None },
        }
    }
}

#[inline]
fn caching_step(
    allocator: &mut CachingAllocator<SimulatedDevice>,
    live: &mut [Option<BlockId>],
    op: &Op,
    current: &mut u32,
) -> Result<Done, AllocError> {
    match op {
        Op::Allocate { slot, bytes, stream } => {
            let stream = handle(*stream);
            *current = stream;
            // A negative size is a huge one to the library.
            let id = allocator.allocate(*bytes as u64, stream)?;
            if let Some(before) = std::mem::replace(&mut live[*slot as usize], id) {
                allocator.free(before);
            }
            return Ok(Done::Address(id.map(|id| allocator.block(id).address)));
        }
        Op::Free { slot } => {
            if let Some(id) = live[*slot as usize].take() {
                allocator.free(id);
            }
        }
        Op::RecordStream { slot, stream } => {
            if let Some(id) = live[*slot as usize] {
                allocator.record_stream(id, handle(*stream));
            }
        }
        Op::EmptyCache => allocator.empty_cache()?,
        Op::MemoryFraction(fraction) => allocator.set_memory_fraction(*fraction)?,
        Op::Settings(text) => allocator.set_config(text)?,
        Op::Snapshot => return Ok(Done::Segments(allocator.snapshot(live.iter().copied().flatten()))),
        Op::HoldEvents(hold) => allocator.hold_events(*hold),
        Op::BeginPool(id) => allocator.begin_allocate_to_pool(*id, *current)?,
        Op::EndPool(id) => allocator.end_allocate_to_pool(*id)?,
        Op::ReleasePool(id) => allocator.release_pool(*id)?,
        Op::ResetPeaks => allocator.stats.reset_peaks(),
    }
    Ok(Done::Nothing)
}

fn uncached_step(
    allocator: &mut UncachedAllocator<SimulatedDevice>,
    live: &mut [Option<(u64, u64)>],
    stats: &mut Stats,
    op: &Op,
) -> Result<Done, AllocError> {
    match op {
        Op::Allocate { slot, bytes, .. } => {
            let bytes = *bytes as u64;
            let outcome = allocator.allocate(bytes);
            if matches!(outcome, Err(AllocError::OutOfMemory(_))) {
                stats.num_ooms += 1;
            }
            let address = outcome?;
            let before = std::mem::replace(&mut live[*slot as usize], address.map(|address| (address, bytes)));
            if let Some((address, bytes)) = before {
                allocator.free(address, bytes);
            }
            return Ok(Done::Address(address));
        }
        Op::Free { slot } => {
            if let Some((address, bytes)) = live[*slot as usize].take() {
                allocator.free(address, bytes);
            }
        }
        Op::MemoryFraction(fraction) => allocator.set_memory_fraction(*fraction),
        _ => {}
    }
    Ok(Done::Nothing)
}
