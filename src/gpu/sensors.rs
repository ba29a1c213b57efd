//! How warm, how hungry and how fast a GPU is at the moment.

use crate::reading::{Reading, Unavailable, unavailable};

/// What sensors and counters of a GPU say. Drivers and boards lack some of them: a passively cooled board has no fan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sensors {
    /// Of the chip, in degrees Celsius.
    pub temperature: Reading<u32>,
    /// Percent of the fan's full speed, as it is meant to be.
    pub fan: Reading<u32>,
    /// Milliwatts that the board draws, and that it may draw.
    pub power: Reading<u32>,
    pub power_limit: Reading<u32>,
    /// MHz of the multiprocessors, now and at most.
    pub clock: Reading<u32>,
    pub clock_most: Reading<u32>,
    /// MHz of the memory.
    pub memory_clock: Reading<u32>,
    /// Percent of the last sampling period in which the memory was read or written.
    pub memory_busy: Reading<u32>,
}

impl Sensors {
    /// None of them, for one reason.
    pub fn unread(reason: &Unavailable) -> Sensors {
        let unread = || Err(reason.clone());
        Sensors {
            temperature: unread(),
            fan: unread(),
            power: unread(),
            power_limit: unread(),
            clock: unread(),
            clock_most: unread(),
            memory_clock: unread(),
            memory_busy: unread(),
        }
    }
}

/// A reading that a board can have; what lies beyond is a driver's garbage.
pub(super) fn possible(value: u32, most: u32) -> Reading<u32> {
    if value <= most {
        return Ok(value);
    }
    unavailable(format!("the driver's figure cannot be: {value}"), format!("驱动给出的数值不可能成立：{value}"))
}

/// °C, percent of a fan, milliwatts and MHz that no board exceeds.
pub(super) const HOTTEST: u32 = 200;
pub(super) const FASTEST_FAN: u32 = 200;
pub(super) const MOST_POWER: u32 = 10_000_000;
pub(super) const FASTEST: u32 = 20_000;
