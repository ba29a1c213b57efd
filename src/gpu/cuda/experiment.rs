//! The fragmentation experiment: an allocator's state re-created on the device, and the failing request tried on it.
//!
//! The device stays off its limit. Memory beyond the state is held as ballast until at least the margin is left free;
//! the request grows by what that adds, so that it lacks as much as the failing one did. A request that the driver must
//! refuse takes nothing; one that goes through is tried less the margin, which stays free and counts as if it had been
//! taken. So the margin is free all the time, and every step that takes memory looks first whether it still is.

use super::driver::{Context, Memory, Physical, Range};
use super::failure::Failure;
use super::kernels::Kernels;
use super::limits::{Limits, Watch};
use super::protocol::{ExperimentOutcome, Taken};
use crate::gpu::twin::{Prediction, SMALL_PAGE, State, TORCH_PAGE, Ways, align_down, align_up};
use crate::units::GIB;

/// Times that every way is tried.
const REPEATS: usize = 3;
/// Smaller than 1/64 of its size a state says nothing.
const MOST_HALVINGS: u32 = 6;

/// Runs it. `granularity` is the device's smallest page.
///
/// # Errors
/// [`Failure::TooLittleFree`] where no scale fits, [`Failure::Implausible`] where a scale that fits would change the
/// answer, and whatever a call answers that is neither success nor out of memory.
pub fn run(
    context: &Context,
    kernels: &Kernels,
    state: &State,
    granularity: u64,
    limits: &Limits,
    watch: &Watch,
) -> Taken<ExperimentOutcome> {
    let before = context.memory()?.free;
    let plan = Plan::new(state, granularity, limits.margin, before)?;
    let predicted = plan.state.predict(granularity);
    let arena =
        Arena { context, kernels, plan: &plan, predicted, watch, before, buffer: limits.buffer.unwrap_or(u64::MAX) };
    let control = arena.control()?;
    let mut observed = Vec::new();
    for _ in 0..REPEATS {
        let ways =
            Ways { plain: arena.plain()?, torch: arena.mapped(|page| page)?, small: arena.mapped(|_| granularity)? };
        observed.push(ways);
    }
    let same = observed.windows(2).all(|pair| pair[0] == pair[1]);
    let verdict = observed.first().filter(|_| same && control).map(|ways| ways.verdict());
    // Who came during the last repetition has made its answers worthless.
    watch.undisturbed(context, before)?;
    let after = context.memory()?.free;
    Ok(ExperimentOutcome {
        layout: state.layout,
        halvings: plan.halvings,
        free: plan.state.free,
        requested: plan.state.requested,
        raised: plan.raised,
        agrees: control && observed.iter().all(|ways| *ways == predicted.ways),
        observed,
        control,
        predicted,
        verdict,
        returned: after.abs_diff(before) <= 16 << 20,
    })
}

/// The state as it is built here.
struct Plan {
    state: State,
    halvings: u32,
    /// By how much free memory and request were raised.
    raised: u64,
    /// The margin in whole pages: counted as part of a request that goes through, never taken.
    withheld: u64,
    granularity: u64,
}

impl Plan {
    /// The largest scale that leaves the margin.
    fn new(state: &State, granularity: u64, margin: u64, free: u64) -> Taken<Plan> {
        let original = state.predict(SMALL_PAGE).ways.verdict();
        let mut fitted = false;
        for halvings in 0..=MOST_HALVINGS {
            let mut planned = state.scaled_down(halvings);
            for segment in &mut planned.segments {
                segment.page = align_up(segment.page, granularity);
            }
            let floor = align_up(margin, granularity);
            // Of a request below the margin nothing would be left to try.
            let least = floor.saturating_add(align_up(TORCH_PAGE, granularity));
            let added = floor.saturating_sub(planned.free).max(least.saturating_sub(planned.requested));
            planned.free = planned.free.saturating_add(added);
            planned.requested = planned.requested.saturating_add(added);
            let idle = planned.predict(granularity).idle;
            // Everything built takes whole pages, and the control has to fit as well.
            let built = planned
                .segments
                .iter()
                .filter(|segment| !segment.idle())
                .fold(0u64, |sum, segment| sum.saturating_add(align_up(segment.bytes(), granularity)));
            let state_needs = built.saturating_add(planned.free).saturating_add(idle);
            let control_needs = planned.requested.saturating_add(margin);
            if state_needs.max(control_needs).saturating_add(4 * granularity) > free {
                continue;
            }
            fitted = true;
            if planned.predict(granularity).ways.verdict() == original {
                return Ok(Plan { state: planned, halvings, raised: added, withheld: floor, granularity });
            }
        }
        if fitted { Err(Failure::NotScalable) } else { Err(Failure::TooLittleFree { free, margin }) }
    }
}

struct Arena<'a, 'c> {
    context: &'c Context<'c>,
    kernels: &'a Kernels<'c>,
    plan: &'a Plan,
    predicted: Prediction,
    watch: &'a Watch,
    before: u64,
    buffer: u64,
}

impl<'c> Arena<'_, 'c> {
    /// The first way: segments as single allocations, the request as one.
    fn plain(&self) -> Taken<bool> {
        self.watch.undisturbed(self.context, self.before)?;
        let mut held = Vec::new();
        for segment in self.plan.state.segments.iter().filter(|segment| !segment.idle()) {
            self.watch.leaves(self.context, segment.bytes(), self.plan.withheld)?;
            held.push(self.context.alloc(segment.bytes())?);
        }
        let _ballast = self.ballast(self.plan.state.free + self.predicted.idle)?;
        let spare = if self.predicted.ways.plain { self.plan.withheld } else { 0 };
        self.granted(self.plan.state.requested.saturating_sub(spare).max(self.plan.granularity))
    }

    /// The other ways: segments mapped page by page, whole free pages recovered, the request mapped from these and from
    /// fresh pages to one range, which is then written and read.
    fn mapped(&self, page_for: impl Fn(u64) -> u64) -> Taken<bool> {
        self.watch.undisturbed(self.context, self.before)?;
        let granularity = self.plan.granularity;
        let mut ranges: Vec<(Range, Vec<(u64, u64)>)> = Vec::new();
        let mut request_page = granularity;
        for segment in self.plan.state.segments.iter() {
            let page = align_up(page_for(segment.page), granularity);
            request_page = request_page.max(page);
            if segment.idle() {
                continue;
            }
            let bytes = align_up(segment.bytes(), granularity);
            let mut range = self.context.reserve(bytes)?;
            let mut offset = 0;
            while offset < bytes {
                let piece = page.min(bytes - offset);
                self.watch.leaves(self.context, piece, self.plan.withheld)?;
                range.map(offset, self.context.create(piece)?)?;
                offset += piece;
            }
            ranges.push((range, segment.free_pages(page)));
        }
        let _ballast = self.ballast(self.plan.state.free + self.predicted.idle)?;
        let mut recovered = Vec::new();
        for (range, spans) in &mut ranges {
            self.watch.in_time()?;
            recovered.extend(range.recover(spans)?);
        }
        let wanted =
            align_up(self.plan.state.requested, request_page).saturating_sub(self.plan.withheld).max(granularity);
        let mut serving = self.context.reserve(wanted)?;
        let mut mapped = 0;
        while mapped < wanted {
            self.watch.in_time()?;
            let physical = match recovered.pop() {
                Some(physical) if physical.bytes() <= wanted - mapped => physical,
                // Pages of the small pool differ in size; what does not fit in goes back to the device.
                Some(_) => continue,
                None => match self.fresh(request_page.min(wanted - mapped))? {
                    Some(physical) => physical,
                    None => return Ok(false),
                },
            };
            let bytes = physical.bytes();
            serving.map(mapped, physical)?;
            mapped += bytes;
        }
        serving.allow_access()?;
        self.touch(&serving)?;
        Ok(true)
    }

    /// A new page of `bytes`, else one of the smallest, unless it is not to be had or would go below what is withheld.
    fn fresh(&self, bytes: u64) -> Taken<Option<Physical<'c>>> {
        for bytes in [bytes, self.plan.granularity] {
            if self.context.memory()?.free < self.plan.withheld.saturating_add(bytes) {
                continue;
            }
            match self.context.create(bytes) {
                Ok(physical) => return Ok(Some(physical)),
                Err(failure) if failure.is_out_of_memory() => {}
                Err(failure) => return Err(failure),
            }
        }
        Ok(None)
    }

    /// Scattered pages must behave as one piece: its beginning and its end, up to the limit on buffers. Both are
    /// written before either is read, so that a page that stands for two would be seen.
    fn touch(&self, memory: &Range) -> Taken<()> {
        let length = align_down(self.buffer.min(memory.bytes()), 16);
        let parts = [memory.part(0, length / 2), memory.part(memory.bytes() - length / 2, length / 2)];
        for (part, seed) in parts.iter().zip(1..) {
            self.kernels.fill(part, seed, 0)?;
        }
        for (part, seed) in parts.iter().zip(1..) {
            self.watch.in_time()?;
            let wrong = self.kernels.verify(part, seed, 0)?.wrong;
            if wrong > 0 {
                return Err(Failure::Implausible {
                    what: format!("{wrong} words of the mapped pages read back wrong"),
                });
            }
        }
        Ok(())
    }

    /// Without the state: as much free as the plan leaves must refuse what the arithmetic refuses, and enough must
    /// serve.
    fn control(&self) -> Taken<bool> {
        self.watch.undisturbed(self.context, self.before)?;
        let must_fail = self.plan.state.requested > self.plan.state.free.saturating_add(self.plan.granularity);
        let refused = {
            let _ballast = self.ballast(self.plan.state.free)?;
            !must_fail || !self.granted(self.plan.state.requested)?
        };
        let _ballast = self.ballast(self.plan.state.requested + self.plan.withheld + 2 * self.plan.granularity)?;
        Ok(refused && self.granted(self.plan.state.requested)?)
    }

    fn granted(&self, bytes: u64) -> Taken<bool> {
        match self.context.alloc(bytes) {
            Ok(block) => block.free().map(|()| true),
            Err(failure) if failure.is_out_of_memory() => Ok(false),
            Err(failure) => Err(failure),
        }
    }

    /// Takes physical memory until `leave` bytes are free, or one page more.
    fn ballast(&self, leave: u64) -> Taken<Vec<Physical<'c>>> {
        let mut ballast = Vec::new();
        for piece in [GIB, 64 << 20, self.plan.granularity] {
            let piece = align_up(piece, self.plan.granularity);
            loop {
                self.watch.in_time()?;
                if self.context.memory()?.free < leave.saturating_add(piece) {
                    break;
                }
                match self.context.create(piece) {
                    Ok(physical) => ballast.push(physical),
                    // A large piece may be refused where small ones are not.
                    Err(failure) if failure.is_out_of_memory() && piece > self.plan.granularity => break,
                    Err(failure) => return Err(failure),
                }
            }
        }
        Ok(ballast)
    }
}
