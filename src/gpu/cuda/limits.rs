//! What the steps of a probe may take, of memory and of time.

use super::driver::Context;
use super::failure::Failure;
use super::protocol::Taken;
use crate::units::{GIB, MIB};
use std::time::{Duration, Instant};

/// Device memory that the probe never takes: 512 MiB or 2 % of `total`, whichever is more; 2 GiB or 10 % where the
/// device is not known to be idle; 1 GiB more where a display is drawn from it.
pub fn margin(total: u64, known_idle: bool, display: bool) -> u64 {
    let margin = if known_idle { (512 * MIB).max(total / 50) } else { (2 * GIB).max(total / 10) };
    margin.saturating_add(if display { GIB } else { 0 })
}

/// Free memory moves by so much without anybody's doing.
const NOISE: u64 = 64 * MIB;

/// Time, and whether somebody else moved.
pub struct Watch {
    end: Instant,
    seconds: u64,
}

impl Watch {
    pub fn new(seconds: u64) -> Watch {
        Watch { end: Instant::now() + Duration::from_secs(seconds), seconds }
    }

    pub fn in_time(&self) -> Taken<()> {
        if Instant::now() < self.end { Ok(()) } else { Err(Failure::TimeUp { seconds: self.seconds }) }
    }

    /// Fails when memory that should be free again is not.
    pub fn undisturbed(&self, context: &Context, free_before: u64) -> Taken<()> {
        self.in_time()?;
        let after = context.memory()?.free;
        if after.saturating_add(NOISE) < free_before {
            return Err(Failure::OthersMoved { before: free_before, after });
        }
        Ok(())
    }

    /// Fails where taking `bytes` now would not leave the margin, but for noise: what was planned has been overtaken.
    pub fn leaves(&self, context: &Context, bytes: u64, margin: u64) -> Taken<()> {
        self.in_time()?;
        let free = context.memory()?.free;
        if free.saturating_add(NOISE) < bytes.saturating_add(margin) {
            return Err(Failure::MarginUsed { free, margin });
        }
        Ok(())
    }
}

/// What the steps may take.
pub struct Limits {
    /// Left to others.
    pub margin: u64,
    /// Upper bound of the buffers that kernels run over.
    pub buffer: Option<u64>,
}

impl Limits {
    /// Free memory less the margin, at this moment.
    pub(super) fn usable(&self, context: &Context) -> Taken<u64> {
        Ok(context.memory()?.free.saturating_sub(self.margin))
    }

    pub(super) fn room(&self, context: &Context, needed: u64) -> Taken<()> {
        let free = context.memory()?.free;
        if free.saturating_sub(self.margin) >= needed {
            Ok(())
        } else {
            Err(Failure::TooLittleFree { free, margin: self.margin })
        }
    }
}
