//! A hash map whose order of iteration is that of `c10/util/flat_hash_map.h` (Malte Skarupke's robin-hood table with
//! Fibonacci hashing).
//!
//! The allocator walks such tables of streams and of pools, so that their order decides which of two neighbours is
//! freed first and which pool is released first.

const LEAST_LOOKUPS: usize = 4;

#[derive(Debug, Clone)]
struct Slot<V> {
    /// Places between where the key belongs and where it stands.
    distance: usize,
    key: u64,
    value: V,
}

/// A map from hashes, which must tell keys apart.
#[derive(Debug, Clone)]
pub struct FlatMap<V> {
    /// The buckets and the places that entries near the end may overflow to.
    slots: Vec<Option<Slot<V>>>,
    buckets: usize,
    lookups: usize,
    entries: usize,
}

impl<V> Default for FlatMap<V> {
    fn default() -> FlatMap<V> {
        FlatMap { slots: Vec::new(), buckets: 0, lookups: LEAST_LOOKUPS - 1, entries: 0 }
    }
}

impl<V> FlatMap<V> {
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.entries == 0
    }

    fn place_of(&self, key: u64) -> usize {
        let shift = 64 - self.buckets.max(2).ilog2();
        (11_400_714_819_323_198_485_u64.wrapping_mul(key) >> shift) as usize
    }

    fn find(&self, key: u64) -> Option<usize> {
        if self.entries == 0 {
            return None;
        }
        let first = self.place_of(key);
        for distance in 0..=self.lookups {
            match self.slots.get(first + distance)? {
                Some(slot) if slot.distance >= distance => {
                    if slot.key == key {
                        return Some(first + distance);
                    }
                }
                _ => return None,
            }
        }
        None
    }

    pub fn contains(&self, key: u64) -> bool {
        self.find(key).is_some()
    }

    /// Puts a value in for a key that is not there yet; otherwise leaves the old one.
    pub fn insert(&mut self, key: u64, value: V) {
        if self.contains(key) {
            return;
        }
        let mut carried = Slot { distance: 0, key, value };
        // Growing starts over with whatever is carried at that moment: the table's own way.
        loop {
            if self.buckets == 0 || (self.entries + 1) * 2 > self.buckets {
                self.grow();
            }
            match self.try_place(carried) {
                Ok(()) => return,
                Err(left) => {
                    carried = left;
                    self.grow();
                }
            }
        }
    }

    /// Robin hood: an entry nearer to its place gives way. Gives back the entry that found none within the lookups.
    fn try_place(&mut self, mut carried: Slot<V>) -> Result<(), Slot<V>> {
        carried.distance = 0;
        let mut at = self.place_of(carried.key);
        loop {
            if carried.distance == self.lookups {
                return Err(carried);
            }
            match &mut self.slots[at] {
                empty @ None => {
                    *empty = Some(carried);
                    self.entries += 1;
                    return Ok(());
                }
                Some(there) => {
                    if there.distance < carried.distance {
                        std::mem::swap(there, &mut carried);
                    }
                }
            }
            carried.distance += 1;
            at += 1;
        }
    }

    fn grow(&mut self) {
        let buckets = (self.buckets * 2).max(LEAST_LOOKUPS);
        self.lookups = LEAST_LOOKUPS.max(buckets.ilog2() as usize);
        self.buckets = buckets;
        let mut slots = Vec::new();
        slots.resize_with(buckets + self.lookups, || None);
        let before = std::mem::replace(&mut self.slots, slots);
        self.entries = 0;
        for slot in before.into_iter().flatten() {
            self.insert(slot.key, slot.value);
        }
    }

    pub fn get_mut(&mut self, key: u64) -> Option<&mut V> {
        let at = self.find(key)?;
        self.slots.get_mut(at)?.as_mut().map(|slot| &mut slot.value)
    }

    fn remove_at(&mut self, at: usize) {
        self.slots[at] = None;
        self.entries -= 1;
        let mut empty = at;
        while let Some(next) = self.slots.get_mut(empty + 1) {
            match next {
                Some(slot) if slot.distance > 0 => {
                    slot.distance -= 1;
                    self.slots.swap(empty, empty + 1);
                    empty += 1;
                }
                _ => return,
            }
        }
    }

    /// Walks the entries in order and drops those for which `keep` is false.
    pub fn retain(&mut self, mut keep: impl FnMut(u64, &mut V) -> bool) {
        let mut at = 0;
        while at < self.slots.len() {
            let kept = self.slots[at].as_mut().is_none_or(|slot| keep(slot.key, &mut slot.value));
            if kept {
                at += 1;
            } else {
                // What follows moves to this place.
                self.remove_at(at);
            }
        }
    }

    /// The entries in order.
    pub fn iter(&self) -> impl Iterator<Item = (u64, &V)> + '_ {
        self.slots.iter().flatten().map(|slot| (slot.key, &slot.value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        #[test]
        fn it_is_a_map(steps in prop::collection::vec((0u64..60, 0u8..4), 0..300)) {
            let (mut ours, mut model) = (FlatMap::default(), BTreeMap::new());
            for (key, step) in steps {
                match step {
                    0 | 1 => {
                        ours.insert(key, key * 2);
                        model.insert(key, key * 2);
                    }
                    2 => {
                        ours.retain(|k, _| k != key);
                        model.remove(&key);
                    }
                    _ => prop_assert_eq!(ours.get_mut(key).copied(), model.get(&key).copied()),
                }
                prop_assert_eq!(ours.is_empty(), model.is_empty());
            }
            let mut all: Vec<u64> = ours.iter().map(|(key, _)| key).collect();
            all.sort_unstable();
            prop_assert_eq!(all, model.into_keys().collect::<Vec<_>>());
        }
    }

    #[test]
    fn small_numbers_come_in_the_order_of_fibonacci_hashing() {
        let mut map = FlatMap::default();
        for key in [1, 2, 3] {
            map.insert(key, ());
        }
        // Eight buckets: 1 goes to the 4th, 2 to the 1st, 3 to the 6th.
        assert_eq!(map.iter().map(|(key, ())| key).collect::<Vec<_>>(), [2, 1, 3]);
    }

    #[test]
    fn half_of_the_buckets_are_filled_before_the_table_grows() {
        // Both belong to the last of four buckets and stay in the order they came; of eight they have one each.
        let (early, late) = (3, 8);
        let order = |keys: &[u64]| {
            let mut map = FlatMap::default();
            keys.iter().for_each(|key| map.insert(*key, ()));
            map.iter().map(|(key, ())| key).collect::<Vec<_>>()
        };
        assert_eq!(order(&[late, early]), [late, early], "two of four");
        assert_eq!(order(&[late, early, 2]), [2, early, late], "three need eight");
    }
}
