//! Versions of PyTorch and what changed between them in the allocator.

use std::fmt;

/// A release of PyTorch. The patch number is kept for printing; no rule depends on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Version {
    pub major: u16,
    pub minor: u16,
    pub patch: u16,
}

impl Version {
    /// The newest release whose behaviour is known.
    pub const NEWEST: Version = Version::new(2, 15);
    /// The oldest release whose behaviour is known.
    pub const OLDEST: Version = Version::new(2, 0);

    pub const fn new(major: u16, minor: u16) -> Version {
        Version { major, minor, patch: 0 }
    }

    /// Reads `2.11`, `2.11.0`, `2.4.1+cu124`, `v2.1.0a0+git…`. `None` for anything else.
    pub fn parse(text: &str) -> Option<Version> {
        let text = text.trim().trim_start_matches(['v', 'V']);
        let text = text.split('+').next().unwrap_or_default();
        let mut parts = text.split('.');
        let major = parts.next()?.parse().ok()?;
        let minor = parts.next().map_or(Some(0), leading_number)?;
        let patch = parts.next().map_or(Some(0), leading_number)?;
        Some(Version { major, minor, patch })
    }

    /// True from release `major.minor` on.
    pub fn from(self, major: u16, minor: u16) -> bool {
        (self.major, self.minor) >= (major, minor)
    }

    /// True when release `major.minor` is this one or a patch of it.
    pub fn is(self, major: u16, minor: u16) -> bool {
        (self.major, self.minor) == (major, minor)
    }
}

/// The number at the start of `1a0` and the like.
fn leading_number(text: &str) -> Option<u16> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    text[..end].parse().ok()
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.major, self.minor, self.patch)
    }
}

/// Which private pool serves a request while several are in use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PoolChoice {
    /// The pool that was begun on the stream of the request; a second one on the same stream is an error.
    ByStream,
    FirstBegun,
    LastBegun,
}

/// What `empty_cache` does while a private pool is in use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EmptyCacheInPool {
    Asserts,
    SkipsDefaultPools,
    Works,
}

/// The behaviour of one release. Observed on the releases 2.0.1 to 2.15.0 unless noted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Behaviour {
    /// 2.12 only: among free blocks of one size the oldest block object is taken, not the lowest address.
    pub ties_by_age: bool,
    /// Up to 2.3 a division of 1 leaves sizes as they are; later they round to 512 bytes.
    pub division_of_one_keeps_size: bool,
    /// Up to 2.9 `>` of a roundup list starts at the last listed size; later above it.
    pub open_end_includes_last: bool,
    /// Private pools use expandable segments from 2.5 on.
    pub expandable_private_pools: bool,
    /// Up to 2.4 releasing oversize blocks asserts when it meets an expandable one.
    pub release_asserts_on_expandable: bool,
    /// From 2.4 on streams recorded during a capture are forgotten when it ends.
    pub forgets_captured_streams: bool,
    pub pool_choice: PoolChoice,
    /// Up to 2.12 any private pool in use counts as a capture; later only a real graph capture does.
    pub pool_counts_as_capture: bool,
    pub empty_cache_in_pool: EmptyCacheInPool,
    /// From 2.10 on a memory fraction of 1 is no limit.
    pub full_fraction_is_no_limit: bool,
    /// From 2.15 on a new expandable segment that is shorter than the request is given up at once.
    pub drops_short_segments: bool,
}

impl Behaviour {
    pub fn of(version: Version) -> Behaviour {
        Behaviour {
            ties_by_age: version.is(2, 12),
            division_of_one_keeps_size: !version.from(2, 4),
            open_end_includes_last: !version.from(2, 10),
            expandable_private_pools: version.from(2, 5),
            release_asserts_on_expandable: !version.from(2, 5),
            forgets_captured_streams: version.from(2, 4),
            pool_choice: if !version.from(2, 3) {
                PoolChoice::ByStream
            } else if !version.from(2, 10) {
                PoolChoice::FirstBegun
            } else {
                PoolChoice::LastBegun
            },
            pool_counts_as_capture: !version.from(2, 13),
            empty_cache_in_pool: if !version.from(2, 8) {
                EmptyCacheInPool::Asserts
            } else if !version.from(2, 13) {
                EmptyCacheInPool::SkipsDefaultPools
            } else {
                EmptyCacheInPool::Works
            },
            full_fraction_is_no_limit: version.from(2, 10),
            drops_short_segments: version.from(2, 15),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_as_programs_print_them() {
        assert_eq!(Version::parse("2.4.1+cu124"), Some(Version { major: 2, minor: 4, patch: 1 }));
        assert_eq!(Version::parse("v2.1.0a0+git1234"), Some(Version::new(2, 1)));
        assert_eq!(Version::parse("2.11"), Some(Version::new(2, 11)));
        assert_eq!(Version::parse("nightly"), None);
        assert!(Version::new(2, 10).from(2, 9), "minor numbers are numbers, not text");
    }
}
