//! What `oomdoc run` saw, for programs.

use super::{Timeline, fallen, fallen_first};
use crate::incident::timeline::{Curve, Quantity};
use crate::order::InOrder;
use schemars::JsonSchema;
use serde::Serialize;
use std::sync::Arc;

/// Points of one curve; longer ones are thinned evenly.
const POINTS: usize = 200;
/// Records whose curves are told; all of them have their peaks.
const WITH_CURVES: usize = 16;
/// Processes, the largest first.
const PROCESSES: usize = 32;

/// All records: those of jobs that failed first, the one that fell first in front.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Watched<'a> {
    records: usize,
    /// Those whose job failed, or that break off.
    failed: usize,
    jobs: Vec<Job<'a>>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Job<'a> {
    source: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    rank: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    host: Option<&'a str>,
    /// Seconds since 1970.
    began: f64,
    seconds: f64,
    /// Absent where the record breaks off.
    #[serde(skip_serializing_if = "Option::is_none")]
    end: Option<End>,
    curves: Vec<Line>,
    /// Seconds, and the share of the time before in which everything waited for memory, where it did; thinned.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    stalled: Vec<(f64, f64)>,
    /// The 32 largest, of the first 16 records.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    processes: Vec<Process<'a>>,
    /// Those that ended while the kernel counted a kill for want of memory in the job's control group.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    shot: Vec<Shot<'a>>,
    /// Processes of others on the GPUs, of the first 16 records.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    strangers: Vec<Stranger>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct End {
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    signal: Option<i32>,
    /// Kills for want of memory that the kernel counted meanwhile in the job's control groups.
    #[serde(skip_serializing_if = "Option::is_none")]
    group_kills: Option<u64>,
    /// The same on the whole machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    machine_kills: Option<u64>,
    /// True where `--stop-at` was reached.
    stopped_by_us: bool,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Line {
    /// What it is of: job, cgroup, host, shm, resident, locked, shared, swap, swapped, gpu or gpu-own.
    of: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    device: Option<u32>,
    peak_bytes: u64,
    /// Seconds from the start to the peak.
    at: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    limit_bytes: Option<u64>,
    /// Seconds and bytes, thinned, of the first 16 records.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    points: Vec<(f64, u64)>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Process<'a> {
    pid: u32,
    parent: u32,
    name: &'a str,
    /// It runs its parent's program.
    worker: bool,
    /// Of what it alone held.
    peak_bytes: u64,
    points: Vec<(f64, u64)>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Shot<'a> {
    pid: u32,
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    rank: Option<u32>,
    /// Seconds from the start.
    at: f64,
    /// Of what it alone held when it was seen last.
    bytes: u64,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Stranger {
    device: u32,
    pid: u32,
    bytes: u64,
    /// Seconds from the start.
    came: f64,
    seen: f64,
}

/// The view; `None` where nothing was watched.
pub fn view(watched: &[(String, Arc<Timeline>)]) -> Option<Watched<'_>> {
    let failed = fallen(watched).len();
    let jobs = fallen_first(watched).into_iter().enumerate();
    let jobs = jobs.map(|(i, (source, timeline))| job(source, timeline, i < WITH_CURVES));
    (!watched.is_empty()).then(|| Watched { records: watched.len(), failed, jobs: jobs.collect() })
}

/// What stalled at all, thinned evenly.
fn stalls(timeline: &Timeline) -> impl Iterator<Item = (f64, f64)> + '_ {
    let some = timeline.stalls.iter().filter(|(_, share)| *share > 0.0);
    let stride = some.clone().count().div_ceil(POINTS).max(1);
    some.step_by(stride).copied()
}

fn job<'a>(source: &'a str, timeline: &'a Timeline, curves: bool) -> Job<'a> {
    let peak = |curve: &Curve| curve.peak().map_or(0, |peak| peak.bytes);
    let mut processes: Vec<_> = timeline.processes.values().filter(|_| curves).collect();
    processes.order_by_key(|process| std::cmp::Reverse(peak(&process.curve)));
    let strangers = timeline.neighbours.iter().filter(|_| curves);
    Job {
        source,
        rank: timeline.header.rank,
        host: timeline.header.host.as_deref(),
        began: timeline.header.began,
        seconds: timeline.lasted,
        end: timeline.end.map(|end| End {
            code: end.code,
            signal: end.signal,
            group_kills: end.group_kills,
            machine_kills: end.machine_kills,
            stopped_by_us: end.stopped_by_us,
        }),
        curves: timeline.curves.iter().filter_map(|(of, curve)| line(timeline, *of, curve, curves)).collect(),
        stalled: stalls(timeline).filter(|_| curves).collect(),
        processes: processes
            .into_iter()
            .take(PROCESSES)
            .map(|process| Process {
                pid: process.pid,
                parent: process.parent,
                name: &process.name,
                worker: process.worker,
                peak_bytes: peak(&process.curve),
                points: points(&process.curve),
            })
            .collect(),
        shot: timeline
            .victims
            .iter()
            .map(|(at, victim)| Shot {
                pid: victim.pid,
                name: &victim.name,
                rank: victim.rank,
                at: *at,
                bytes: victim.own,
            })
            .collect(),
        strangers: strangers
            .map(|other| Stranger {
                device: other.device,
                pid: other.pid,
                bytes: other.bytes,
                came: other.came,
                seen: other.seen,
            })
            .collect(),
    }
}

fn line(timeline: &Timeline, quantity: Quantity, curve: &Curve, with_points: bool) -> Option<Line> {
    let peak = curve.peak()?;
    Some(Line {
        of: quantity.id(),
        device: match quantity {
            Quantity::Device(index) | Quantity::Own(index) => Some(index),
            _ => None,
        },
        peak_bytes: peak.bytes,
        at: peak.at,
        limit_bytes: timeline.limit(quantity),
        points: if with_points { points(curve) } else { Vec::new() },
    })
}

fn points(curve: &Curve) -> Vec<(f64, u64)> {
    let stride = curve.points.len().div_ceil(POINTS).max(1);
    let mut points: Vec<(f64, u64)> =
        curve.points.iter().step_by(stride).map(|point| (point.at, point.bytes)).collect();
    if let Some(last) = curve.last().filter(|last| points.last().is_some_and(|(at, _)| *at < last.at)) {
        points.push((last.at, last.bytes));
    }
    points
}
