//! The private pools of segments that came and went. Up to 2.11 a trace does not say of which pool memory is, and only
//! what is there at the end shows it. What a pool gave back when it ended is found from the replay: no allocator leaves
//! free memory of the default pool alone and gets new memory for a request that would fit into it.

use super::history::{History, Range};
use super::model::Device;
use super::predict::{self, Fidelity, Program, Refusal};
use super::space::Rules;
use super::store::{Action, NumberMap};
use crate::allocator::config::Config;
use crate::allocator::version::Version;

/// Groups of memory given back that are looked at, at most.
const GROUPS: usize = 64;
/// Pools of the record's end that each is compared with, at most.
const KNOWN: usize = 4;
/// Entries that may be replayed for this.
const EFFORT: u64 = 4_000_000;

/// A device's trace made ready for simulation, and how well it is foreseen; pools that the trace does not name are put
/// where the replay needs them.
///
/// # Errors
/// As [`predict::program`].
pub fn settled(
    device: &Device,
    history: &mut History,
    rules: Rules<'_>,
    (config, version): (&Config, Version),
    misfits: u64,
) -> Result<(Program, Fidelity), Refusal> {
    let program = predict::program(device, history, config.clone(), version, misfits)?;
    let fidelity = predict::fidelity(device, history, rules, &program);
    if fidelity.is_exact() || device.trace.iter().any(|event| event.pool != (0, 0)) {
        return Ok((program, fidelity));
    }
    let mut best = (program, fidelity);
    let mut effort = 0;
    let origins = origins(device);
    let known = known(history);
    for (n, group) in predict::releases(device, history).groups.iter().filter(|group| group.asked.is_none()).enumerate()
    {
        let places: Vec<Place> = group.given.iter().filter_map(|entry| origins.get(entry).copied()).collect();
        let unnamed = places.iter().all(|place| range_of(history, *place).is_some_and(|range| range.pool == (0, 0)));
        if best.1.is_exact() || n >= GROUPS || places.len() != group.given.len() || !unnamed {
            continue;
        }
        // One of its own, which no number at the record's end can be.
        let own = (u32::MAX, n as u32);
        let mut found = (0, 0);
        for pool in std::iter::once(own).chain(known.iter().copied()) {
            effort += device.trace.len() as u64;
            if effort > EFFORT {
                break;
            }
            set(history, &places, pool);
            let program = predict::program(device, history, config.clone(), version, misfits)?;
            let fidelity = predict::fidelity(device, history, rules, &program);
            if right(&fidelity) > right(&best.1) {
                (best, found) = ((program, fidelity), pool);
            }
        }
        set(history, &places, found);
    }
    Ok(best)
}

/// How much went as foreseen.
fn right(fidelity: &Fidelity) -> u64 {
    if fidelity.given_up { 0 } else { fidelity.same_address + fidelity.same_size }
}

/// Where the record tells of a segment: the entry at which it was got, or its address before the first.
#[derive(Debug, Clone, Copy)]
enum Place {
    Gained(u32),
    Before(u64),
}

/// For each entry that gives a segment back, where the record has it.
fn origins(device: &Device) -> NumberMap<u32, Place> {
    let mut held: NumberMap<u64, u32> = NumberMap::default();
    let mut origins = NumberMap::default();
    for (i, event) in device.trace.iter().enumerate() {
        match event.action {
            Action::SegmentAlloc => {
                held.insert(event.addr, i as u32);
            }
            Action::SegmentFree => {
                let place = held.remove(&event.addr).map_or(Place::Before(event.addr), Place::Gained);
                origins.insert(i as u32, place);
            }
            _ => {}
        }
    }
    origins
}

/// Private pools of segments that are there at the end.
fn known(history: &History) -> Vec<(u32, u32)> {
    let mut known: Vec<(u32, u32)> =
        history.initial.iter().chain(history.gained.values()).map(|range| range.pool).collect();
    known.sort_unstable();
    known.dedup();
    known.retain(|pool| *pool != (0, 0));
    known.truncate(KNOWN);
    known
}

fn range_of(history: &History, place: Place) -> Option<&Range> {
    match place {
        Place::Gained(entry) => history.gained.get(&entry),
        Place::Before(address) => history.initial.get(index_of(history, address)?),
    }
}

/// Ranges from before the record lie by address.
fn index_of(history: &History, address: u64) -> Option<usize> {
    history.initial.binary_search_by_key(&address, |range| range.address).ok()
}

fn set(history: &mut History, places: &[Place], pool: (u32, u32)) {
    for place in places {
        let range = match place {
            Place::Gained(entry) => history.gained.get_mut(entry),
            Place::Before(address) => {
                let at = index_of(history, *address);
                at.and_then(|at| history.initial.get_mut(at))
            }
        };
        if let Some(range) = range {
            range.pool = pool;
        }
    }
}
