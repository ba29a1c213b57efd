//! A recorded device's requests as a trace: what `oomdoc simulate` runs, and prints for changing.

use super::history;
use super::model::{Device, Snapshot};
use super::predict::{self, RecordedRequest, Refusal};
use super::store::NONE;
use crate::allocator::trace::{Op, Trace};
use std::collections::BTreeMap;

/// The requests of a device in their order, those from before the recording first. A request that failed is one, too.
///
/// # Errors
/// Where nothing was recorded, or the record contradicts itself too much.
pub fn of(snapshot: &Snapshot, device: &Device) -> Result<Trace, Refusal> {
    let history = history::walk_back(device);
    let (config, version) = predict::recorded_settings(snapshot, None);
    let program = predict::program(device, &history, config, version, 0)?;
    let mut trace = Trace { ops: Vec::with_capacity(program.requests.len()), ids: Vec::new() };
    trace.ids = (0..history.allocations.len() as i64).collect();
    let before = history.allocations.iter().enumerate().filter(|(_, allocation)| allocation.born == NONE);
    trace.ops.extend(before.map(|(slot, allocation)| Op::Allocate {
        slot: slot as u32,
        bytes: signed(allocation.requested),
        stream: program.stream(allocation.stream),
    }));
    // Private pools are numbered as they come: their own numbers are those of a process.
    let mut pools: BTreeMap<u64, u64> = BTreeMap::new();
    let mut inside = 0;
    for request in &program.requests {
        let pool = match request {
            RecordedRequest::Alloc { pool, .. } => *pool,
            RecordedRequest::Failed { .. } => 0,
            RecordedRequest::Free { .. } | RecordedRequest::Release { .. } => inside,
        };
        if pool != inside {
            let next = pools.len() as u64 + 1;
            for (of, op) in [(inside, Op::EndPool as fn(u64) -> Op), (pool, Op::BeginPool)] {
                if of != 0 {
                    trace.ops.push(op(*pools.entry(of).or_insert(next)));
                }
            }
            inside = pool;
        }
        trace.ops.push(match *request {
            RecordedRequest::Alloc { id, bytes, stream, .. } => Op::Allocate { slot: id, bytes: signed(bytes), stream },
            RecordedRequest::Free { id } => Op::Free { slot: id },
            RecordedRequest::Failed { bytes, stream, .. } => {
                let slot = trace.ids.len() as u32;
                trace.ids.push(i64::from(slot));
                Op::Allocate { slot, bytes: signed(bytes), stream }
            }
            RecordedRequest::Release { pool: 0 } => Op::EmptyCache,
            // A trace has no word for one pool's own: its free segments stay.
            RecordedRequest::Release { .. } => continue,
        });
    }
    Ok(trace)
}

fn signed(bytes: u64) -> i64 {
    i64::try_from(bytes).unwrap_or(i64::MAX)
}
