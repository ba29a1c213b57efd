//! The probe's kernels, each behind a method that checks what it is given.

#![allow(unsafe_code, reason = "starts kernels on checked memory")]

use super::Failure;
use super::driver::{Allocation, Context, CudaEvent, Kernel, Memory, Module};

/// Own PTX, compiled by the driver at run time: see the comments there.
const PTX: &str = include_str!("probe.ptx");

/// Wrong words that `verify` describes one by one.
const DESCRIBED: usize = 16;

/// What `verify` saw.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verification {
    /// Words that were not what `fill` had written.
    pub wrong: u64,
    /// The sum of all words read, modulo 2^64.
    pub sum: u64,
    /// Index of the word and its wrong bits, for at most 16 of them.
    pub first: Vec<(u64, u64)>,
}

/// Words of the report of `verify`.
const REPORT: usize = 2 + 2 * DESCRIBED;

/// The loaded kernels.
pub struct Kernels<'c> {
    context: &'c Context<'c>,
    module: Module<'c>,
    /// Where kernels put what they found: held from the start, so that no check takes memory once the device is full.
    report: Allocation<'c>,
    blocks: u32,
}

impl<'c> Kernels<'c> {
    /// Compiles them. `multiprocessors` sets the size of the grid: enough threads to keep the memory busy.
    pub fn load(context: &'c Context<'c>, multiprocessors: u32) -> Result<Kernels<'c>, Failure> {
        let module = context.load(PTX)?;
        let report = context.alloc(8 * REPORT as u64)?;
        Ok(Kernels { context, module, report, blocks: multiprocessors.clamp(1, 4096) * 8 })
    }

    fn kernel(&self, name: &std::ffi::CStr) -> Result<Kernel<'_>, Failure> {
        self.module.kernel(name)
    }

    /// Fills `memory` with `mix64(index ^ seed) ^ flip`, word by word.
    pub fn fill(&self, memory: &dyn Memory, seed: u64, flip: u64) -> Result<(), Failure> {
        let words = memory.bytes() / 8;
        // SAFETY: `fill` writes `words` words from the address on, all inside `memory`.
        unsafe { self.kernel(c"fill")?.launch(self.blocks, [memory.address(), words, seed, flip]) }?;
        self.context.synchronize()
    }

    /// Compares `memory` with what [`Kernels::fill`] writes for the same seed and flip.
    pub fn verify(&self, memory: &dyn Memory, seed: u64, flip: u64) -> Result<Verification, Failure> {
        let mut report = [0u64; REPORT];
        self.report.write(&report)?;
        let words = memory.bytes() / 8;
        // SAFETY: `verify` reads `words` words of `memory` and writes at most 2 + 2 × 16 words of the report.
        unsafe {
            self.kernel(c"verify")?.launch(self.blocks, [memory.address(), words, seed, flip, self.report.address()])
        }?;
        self.context.synchronize()?;
        self.report.read(&mut report)?;
        let first = report[2..].chunks_exact(2).map(|pair| (pair[0], pair[1]));
        let described = usize::try_from(report[0]).unwrap_or(DESCRIBED).min(DESCRIBED);
        Ok(Verification { wrong: report[0], sum: report[1], first: first.take(described).collect() })
    }

    /// Seconds to read all of `memory` once.
    pub fn time_read(&self, memory: &dyn Memory) -> Result<f64, Failure> {
        let kernel = self.kernel(c"read")?;
        // SAFETY: `read` reads whole pairs of words inside `memory` and adds to the first word of the report.
        self.timed(|| unsafe {
            kernel.launch(self.blocks, [memory.address(), memory.bytes() / 16, self.report.address()])
        })
    }

    /// Seconds to write all of `memory` once.
    pub fn time_write(&self, memory: &dyn Memory) -> Result<f64, Failure> {
        let kernel = self.kernel(c"write")?;
        // SAFETY: `write` writes whole pairs of words inside `memory`.
        self.timed(|| unsafe { kernel.launch(self.blocks, [memory.address(), memory.bytes() / 16, 0x5a5a_5a5a]) })
    }

    /// Seconds to copy `from` to `to`, as far as the shorter of them goes.
    pub fn time_copy(&self, to: &dyn Memory, from: &dyn Memory) -> Result<f64, Failure> {
        let pairs = to.bytes().min(from.bytes()) / 16;
        let kernel = self.kernel(c"copy")?;
        // SAFETY: `copy` touches `pairs` pairs of words, which both sides have.
        self.timed(|| unsafe { kernel.launch(self.blocks, [to.address(), from.address(), pairs]) })
    }

    fn timed(&self, launch: impl Fn() -> Result<(), Failure>) -> Result<f64, Failure> {
        let (start, end): (CudaEvent, CudaEvent) = (self.context.event()?, self.context.event()?);
        start.record()?;
        launch()?;
        end.record()?;
        end.seconds_since(&start)
    }
}

/// What `fill` writes at `index`, before the flip: the output function of SplitMix64 (Steele, Lea and Flood 2014).
pub fn mix64(index: u64, seed: u64) -> u64 {
    let mut z = (index ^ seed).wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pattern_is_that_of_split_mix_64() {
        // The first output of the generator seeded with 1234567, published with its reference implementation.
        assert_eq!(mix64(1_234_567, 0), 6_457_827_717_110_365_317);
    }
}
