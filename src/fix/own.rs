//! The run's own words for a change: the option that stands in its command line or in what it printed of its settings.

use super::case::Case;
use crate::incident::context::{Quantity, Spelled};

impl<'a> Case<'a> {
    /// The setting that decides a quantity, as this run was given it. `None` where the log shows none, and for an
    /// engine that prints its settings: those names are of its inside, and its options have others.
    pub(super) fn own_option(&self, of: Quantity) -> Option<&'a Spelled> {
        let inside = |spelled: &&Spelled| self.engine().is_none() || spelled.in_command();
        self.context.option(of).filter(inside)
    }

    /// That setting with another value, where its value now is the one that is to be changed.
    pub(super) fn own_option_with(&self, of: Quantity, now: u64, then: u64) -> Option<String> {
        self.own_option(of).filter(|spelled| spelled.value() == now && now != then).map(|spelled| spelled.with(then))
    }
}
