//! Sorting that keeps equals in their order, once for all types: each list that the standard library sorts brings 4 KB
//! of code of its own (57 of them a quarter of a megabyte), which for the short lists of a report is all that it costs.

use std::cmp::Ordering;

/// Lists that are sorted where speed is no matter.
pub(crate) trait InOrder {
    type Item;

    /// As [`slice::sort_by`].
    fn order_by(&mut self, compare: impl FnMut(&Self::Item, &Self::Item) -> Ordering);

    /// As [`slice::sort_by_key`].
    fn order_by_key<K: Ord>(&mut self, key: impl FnMut(&Self::Item) -> K);
}

impl<T> InOrder for [T] {
    type Item = T;

    fn order_by(&mut self, mut compare: impl FnMut(&T, &T) -> Ordering) {
        let mut order = order(self.len(), &mut |a, b| match (self.get(a), self.get(b)) {
            (Some(a), Some(b)) => compare(a, b),
            _ => Ordering::Equal,
        });
        // Each cycle of places is gone round once.
        for start in 0..order.len() {
            let mut at = start;
            while let Some(from) = order.get(at).copied().filter(|from| *from != start) {
                self.swap(at, from);
                order[at] = at;
                at = from;
            }
            if let Some(last) = order.get_mut(at) {
                *last = at;
            }
        }
    }

    fn order_by_key<K: Ord>(&mut self, mut key: impl FnMut(&T) -> K) {
        self.order_by(|a, b| key(a).cmp(&key(b)));
    }
}

/// Where each item of a sorted list comes from.
fn order(length: usize, compare: &mut dyn FnMut(usize, usize) -> Ordering) -> Vec<usize> {
    let mut order: Vec<usize> = (0..length).collect();
    order.sort_by(|a, b| compare(*a, *b));
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_sorts_as_the_standard_library_does() {
        let mut state = 9u64;
        for length in 0..200 {
            let mut list: Vec<(u64, usize)> = (0..length)
                .map(|i| {
                    state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                    ((state >> 33) % 17, i)
                })
                .collect();
            let mut expected = list.clone();
            expected.sort_by_key(|(key, _)| *key);
            list.order_by_key(|(key, _)| *key);
            assert_eq!(list, expected);
        }
    }
}
