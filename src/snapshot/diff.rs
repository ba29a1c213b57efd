//! What grew between two snapshots, by the place in the program: addresses and order mean nothing across runs.

use super::history;
use super::holders::{self, Category, Sites};
use super::model::{BlockState, Snapshot};
use super::predict;
use super::space::{self, Rules, Wanted};
use super::store::Action;
use crate::order::InOrder;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

/// Which moment of each snapshot is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Moment {
    /// What is held when the snapshot is taken.
    #[default]
    End,
    /// What was held at the peak, where a history was recorded.
    Peak,
}

/// Bytes and blocks on both sides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Sides {
    pub before: u64,
    pub after: u64,
    pub before_count: u64,
    pub after_count: u64,
}

impl Sides {
    /// Bytes that came on.
    pub fn growth(&self) -> i128 {
        i128::from(self.after) - i128::from(self.before)
    }
}

/// One place in the program on both sides.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    pub label: String,
    pub inner: Option<String>,
    pub category: Category,
    pub sides: Sides,
    /// The label of the other side where only its line has moved.
    pub moved_from: Option<String>,
}

/// A device on both sides.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeviceDiff {
    pub ordinal: u32,
    pub total: Sides,
    pub reserved: (u64, u64),
    /// Places that differ, the largest change first.
    pub entries: Vec<Entry>,
    /// Places that are the same on both sides.
    pub unchanged: usize,
}

impl DeviceDiff {
    /// Growth as a share of what was held before; `None` where that was nothing.
    pub fn share(&self) -> Option<f64> {
        (self.total.before > 0).then(|| self.total.growth() as f64 / self.total.before as f64)
    }
}

/// What one side holds at a place: label, inner frame, category.
type Key = (String, Option<String>, Category);

/// Bytes and blocks by place.
type Places = BTreeMap<Key, (u64, u64)>;

/// One side, device by device: what is where, and the bytes reserved.
pub struct Side {
    devices: BTreeMap<u32, (Places, u64)>,
}

/// Gathers one side. Devices without a recorded history are taken as they are at the end.
pub fn side(snapshot: &Snapshot, moment: Moment) -> Side {
    let (config, version) = predict::recorded_settings(snapshot, None);
    let round = predict::rounding(&config, version);
    let rules = Rules { round: &round, max_split: config.max_split_size.unwrap_or(u64::MAX) };
    let mut sites = Sites::new(snapshot);
    let mut devices = BTreeMap::new();
    for device in &snapshot.devices {
        let mut places = Places::new();
        let mut add = |sites: &Sites<'_>, site: u32, category: Category, bytes: u64, count: u64| {
            let Some(site) = sites.get(site) else { return };
            let place = places.entry((site.label.clone(), site.inner.clone(), category)).or_default();
            place.0 = place.0.saturating_add(bytes);
            place.1 += count;
        };
        let recorded = device.trace.iter().any(|event| event.action == Action::Alloc);
        let reserved = if moment == Moment::Peak && recorded {
            let mut history = history::walk_back(device);
            space::play(device, &mut history, rules, Wanted::default());
            for holder in &holders::at(&mut sites, &history, history.peak.event).holders {
                add(&sites, holder.site, holder.category, holder.bytes, holder.count);
            }
            history.peak_reserved.0
        } else {
            for block in device.segments.iter().flat_map(|segment| &segment.blocks) {
                if block.state != BlockState::Inactive {
                    let site = sites.of(block.stack);
                    let category = holders::category_of_stack(&mut sites, block.stack);
                    add(&sites, site, category, block.size, 1);
                }
            }
            device.reserved()
        };
        devices.insert(device.ordinal, (places, reserved));
    }
    Side { devices }
}

/// Compares two sides.
pub fn compare(before: Side, after: Side) -> Vec<DeviceDiff> {
    let ordinals: std::collections::BTreeSet<u32> =
        before.devices.keys().chain(after.devices.keys()).copied().collect();
    ordinals
        .into_iter()
        .map(|ordinal| {
            let nothing = (BTreeMap::new(), 0);
            let (old, old_reserved) = before.devices.get(&ordinal).unwrap_or(&nothing);
            let (new, new_reserved) = after.devices.get(&ordinal).unwrap_or(&nothing);
            device_diff(ordinal, old, new, (*old_reserved, *new_reserved))
        })
        .collect()
}

fn device_diff(ordinal: u32, old: &Places, new: &Places, reserved: (u64, u64)) -> DeviceDiff {
    let mut entries: Vec<Entry> = Vec::new();
    let mut total = Sides::default();
    let mut unchanged = 0;
    let keys: std::collections::BTreeSet<&Key> = old.keys().chain(new.keys()).collect();
    for key in keys {
        let (before, before_count) = old.get(key).copied().unwrap_or_default();
        let (after, after_count) = new.get(key).copied().unwrap_or_default();
        let sides = Sides { before, after, before_count, after_count };
        total.before = total.before.saturating_add(before);
        total.after = total.after.saturating_add(after);
        total.before_count += before_count;
        total.after_count += after_count;
        if before == after {
            unchanged += 1;
            continue;
        }
        let (label, inner, category) = key.clone();
        entries.push(Entry { label, inner, category, sides, moved_from: None });
    }
    let mut entries = join_moved(entries);
    entries.retain(|entry| entry.sides.growth() != 0 || entry.moved_from.is_none());
    entries.order_by(|a, b| {
        let key = |entry: &Entry| std::cmp::Reverse(entry.sides.growth().unsigned_abs());
        key(a).cmp(&key(b)).then_with(|| a.label.cmp(&b.label)).then_with(|| a.inner.cmp(&b.inner))
    });
    DeviceDiff { ordinal, total, reserved, entries, unchanged }
}

/// A line that only moved within its function is the same place: what vanished from `train.py:40 step` and appeared at
/// `train.py:42 step` is one entry. Only where exactly one place vanished and one appeared there.
fn join_moved(entries: Vec<Entry>) -> Vec<Entry> {
    type Function = (String, Option<String>, Category);
    let function = |entry: &Entry| -> Function {
        (without_line(&entry.label), entry.inner.as_deref().map(without_line), entry.category)
    };
    let mut gone: BTreeMap<Function, Vec<usize>> = BTreeMap::new();
    let mut come: BTreeMap<Function, Vec<usize>> = BTreeMap::new();
    for (i, entry) in entries.iter().enumerate() {
        match (entry.sides.before, entry.sides.after) {
            (_, 0) => gone.entry(function(entry)).or_default().push(i),
            (0, _) => come.entry(function(entry)).or_default().push(i),
            _ => {}
        }
    }
    let mut joined: BTreeMap<usize, usize> = BTreeMap::new();
    for (place, old) in &gone {
        if let ([old], Some([new])) = (old.as_slice(), come.get(place).map(Vec::as_slice)) {
            joined.insert(*new, *old);
        }
    }
    let removed: std::collections::BTreeSet<usize> = joined.values().copied().collect();
    let mut out = Vec::with_capacity(entries.len());
    for (i, entry) in entries.iter().enumerate() {
        if removed.contains(&i) {
            continue;
        }
        let mut entry = entry.clone();
        if let Some(old) = joined.get(&i).and_then(|old| entries.get(*old)) {
            entry.sides.before = old.sides.before;
            entry.sides.before_count = old.sides.before_count;
            entry.moved_from = Some(old.label.clone());
        }
        out.push(entry);
    }
    out
}

/// `train.py:40 step` → `train.py step`.
fn without_line(label: &str) -> String {
    let Some((file, rest)) = label.split_once(':') else { return label.to_string() };
    let name = rest.trim_start_matches(|c: char| c.is_ascii_digit());
    format!("{file}{name}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(label: &str, bytes: u64) -> (Key, (u64, u64)) {
        ((label.to_string(), None, Category::Activations), (bytes, 1))
    }

    #[test]
    fn growth_is_told_by_place_and_moved_lines_are_one_place() {
        let old = BTreeMap::from([place("a.py:1 f", 100), place("a.py:9 g", 50), place("b.py:3 h", 7)]);
        let new = BTreeMap::from([place("a.py:1 f", 300), place("a.py:12 g", 60), place("b.py:3 h", 7)]);
        let diff = device_diff(0, &old, &new, (1, 2));
        assert_eq!(diff.unchanged, 1);
        assert_eq!(diff.total.growth(), 210);
        let told: Vec<(&str, i128, Option<&str>)> = diff
            .entries
            .iter()
            .map(|entry| (entry.label.as_str(), entry.sides.growth(), entry.moved_from.as_deref()))
            .collect();
        assert_eq!(told, [("a.py:1 f", 200, None), ("a.py:12 g", 10, Some("a.py:9 g"))]);
    }

    #[test]
    fn two_candidates_are_not_guessed_at() {
        let old = BTreeMap::from([place("a.py:1 f", 100)]);
        let new = BTreeMap::from([place("a.py:2 f", 100), place("a.py:3 f", 100)]);
        assert_eq!(device_diff(0, &old, &new, (0, 0)).entries.len(), 3);
    }
}
