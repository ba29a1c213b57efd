//! Blocks in order of two numbers: free blocks by size and address, unmapped ones by address.
//!
//! A sorted list in leaves of at most [`LEAF`] entries. Real programs keep some hundreds of free blocks per stream: a
//! few leaves, found by one binary search and changed by moving a few cache lines. A hundred thousand blocks cost a
//! second binary search over the leaves.

use super::block::BlockId;

const LEAF: usize = 64;

/// The sort key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key {
    primary: u64,
    secondary: u64,
}

impl Key {
    #[inline]
    pub fn new(primary: u64, secondary: u64) -> Key {
        Key { primary, secondary }
    }

    /// 1 where this key comes before the other, else 0; without a branch.
    #[inline]
    fn precedes(self, other: Key) -> usize {
        let ties = u8::from(self.primary == other.primary) & u8::from(self.secondary < other.secondary);
        usize::from(u8::from(self.primary < other.primary) | ties)
    }
}

/// How many keys are smaller. Free blocks come in random order, so that a search by branches is mispredicted at every
/// second step, and `partition_point` compiles to one for keys of two words.
#[inline]
fn lower_bound(keys: &[Key], key: Key) -> usize {
    let mut base = 0;
    let mut left = keys.len();
    while left > 0 {
        let half = left.div_ceil(2);
        base += half * keys[base + half - 1].precedes(key);
        left -= half;
    }
    base
}

#[derive(Debug, Clone, Default)]
struct Leaf {
    keys: Vec<Key>,
    blocks: Vec<BlockId>,
}

/// A place in the list. Changing the list makes it stale.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    leaf: usize,
    index: usize,
}

#[derive(Debug, Clone, Default)]
pub struct Ordered {
    leaves: Vec<Leaf>,
    /// The largest key of each leaf.
    bounds: Vec<Key>,
}

impl Ordered {
    /// The first entry at or after `key`.
    #[inline]
    pub fn at_or_after(&self, key: Key) -> Option<Place> {
        let leaf = if self.bounds.len() <= 1 { 0 } else { lower_bound(&self.bounds, key) };
        let index = lower_bound(&self.leaves.get(leaf)?.keys, key);
        self.settle(Place { leaf, index })
    }

    /// The place itself, or the next leaf's first where it lies past the end of its leaf.
    #[inline]
    fn settle(&self, place: Place) -> Option<Place> {
        let leaf = self.leaves.get(place.leaf)?;
        if place.index < leaf.keys.len() {
            return Some(place);
        }
        (place.leaf + 1 < self.leaves.len()).then_some(Place { leaf: place.leaf + 1, index: 0 })
    }

    pub fn next(&self, place: Place) -> Option<Place> {
        self.settle(Place { leaf: place.leaf, index: place.index + 1 })
    }

    pub fn previous(&self, place: Place) -> Option<Place> {
        if place.index > 0 {
            return Some(Place { leaf: place.leaf, index: place.index - 1 });
        }
        let leaf = place.leaf.checked_sub(1)?;
        Some(Place { leaf, index: self.leaves.get(leaf)?.keys.len().checked_sub(1)? })
    }

    pub fn last(&self) -> Option<Place> {
        let leaf = self.leaves.len().checked_sub(1)?;
        Some(Place { leaf, index: self.leaves[leaf].keys.len().checked_sub(1)? })
    }

    /// The block at a place that this list gave and that no change has made stale.
    #[inline]
    pub fn block(&self, place: Place) -> BlockId {
        self.leaves[place.leaf].blocks[place.index]
    }

    pub fn insert(&mut self, key: Key, block: BlockId) {
        if self.leaves.is_empty() {
            self.leaves.push(Leaf { keys: Vec::with_capacity(LEAF), blocks: Vec::with_capacity(LEAF) });
            self.bounds.push(key);
        }
        let last = self.leaves.len() - 1;
        let mut at = if last == 0 { 0 } else { lower_bound(&self.bounds, key).min(last) };
        if self.leaves[at].keys.len() == LEAF {
            self.split(at);
            at += usize::from(self.bounds[at] < key);
        }
        let leaf = &mut self.leaves[at];
        let index = lower_bound(&leaf.keys, key);
        leaf.keys.insert(index, key);
        leaf.blocks.insert(index, block);
        if self.bounds[at] < key {
            self.bounds[at] = key;
        }
    }

    fn split(&mut self, at: usize) {
        let mut upper = Leaf { keys: Vec::with_capacity(LEAF), blocks: Vec::with_capacity(LEAF) };
        let leaf = &mut self.leaves[at];
        upper.keys.extend(leaf.keys.drain(LEAF / 2..));
        upper.blocks.extend(leaf.blocks.drain(LEAF / 2..));
        let bound = leaf.keys[LEAF / 2 - 1];
        self.bounds.insert(at, bound);
        self.leaves.insert(at + 1, upper);
    }

    #[inline]
    pub fn remove_at(&mut self, place: Place) -> BlockId {
        let leaf = &mut self.leaves[place.leaf];
        leaf.keys.remove(place.index);
        let block = leaf.blocks.remove(place.index);
        match leaf.keys.last() {
            Some(bound) => self.bounds[place.leaf] = *bound,
            None => {
                self.leaves.remove(place.leaf);
                self.bounds.remove(place.leaf);
            }
        }
        block
    }

    /// Takes the entry of `key` out; `None` when there is none.
    #[inline]
    pub fn remove(&mut self, key: Key) -> Option<BlockId> {
        let place = self.at_or_after(key)?;
        (self.leaves[place.leaf].keys[place.index] == key).then(|| self.remove_at(place))
    }

    /// All blocks in order.
    pub fn iter(&self) -> impl Iterator<Item = BlockId> + '_ {
        self.leaves.iter().flat_map(|leaf| leaf.blocks.iter().copied())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        #[test]
        fn it_is_a_sorted_map(steps in prop::collection::vec((0u64..400, any::<bool>()), 0..1200)) {
            let (mut ours, mut model) = (Ordered::default(), BTreeMap::new());
            for (n, add) in steps {
                let key = Key::new(n / 7, n);
                if add && !model.contains_key(&key) {
                    ours.insert(key, BlockId(n as u32));
                    model.insert(key, BlockId(n as u32));
                } else if !add {
                    prop_assert_eq!(ours.remove(key), model.remove(&key));
                }
                let found = ours.at_or_after(key);
                let expected = |entry: Option<(&Key, &BlockId)>| entry.map(|(_, block)| *block);
                prop_assert_eq!(found.map(|place| ours.block(place)), expected(model.range(key..).next()));
                if let Some(place) = found {
                    prop_assert_eq!(ours.next(place).map(|p| ours.block(p)), expected(model.range(key..).nth(1)));
                    let before = ours.previous(place).map(|p| ours.block(p));
                    prop_assert_eq!(before, expected(model.range(..key).next_back()));
                }
            }
            prop_assert!(ours.iter().eq(model.values().copied()));
            prop_assert_eq!(ours.last().map(|place| ours.block(place)), model.values().next_back().copied());
        }
    }
}
