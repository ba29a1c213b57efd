//! The JSON of `oomdoc replay` (`docs/replay.schema.json`), for programs. Bytes are integers; what is not known is
//! absent.

use super::View;
use crate::snapshot::NONE;
use crate::snapshot::analysis::{DeviceAnalysis, Fragmentation, Growth, Oom, SnapshotAnalysis};
use crate::snapshot::holders::{Holder, Holding, Site};
use crate::snapshot::model::{Encoding, Generation};
use crate::snapshot::predict::Fidelity;
use crate::snapshot::what_if::{Change, VariationOutcome, WhatIf};
use serde_json::{Map, Value, json};

/// Free pieces that are listed, largest first.
const PIECES: usize = 64;

/// The analyses as one JSON document.
pub fn render(analyses: &[SnapshotAnalysis], view: View) -> Value {
    let mut out = Map::new();
    out.insert("schema".into(), "oomdoc.replay/1".into());
    out.insert("tool".into(), json!({"name": "oomdoc", "version": env!("CARGO_PKG_VERSION")}));
    if let Some(first) = analyses.first() {
        out.insert("input".into(), input(first));
    }
    if analyses.len() > 1 {
        out.insert("inputs".into(), analyses.iter().map(input).collect());
    }
    let mut devices = Vec::new();
    for analysis in analyses {
        for device in &analysis.devices {
            let mut entry = self::device(device, &analysis.sites, view);
            if analyses.len() > 1 {
                entry.insert("source".into(), analysis.source.as_str().into());
            }
            devices.push(Value::Object(entry));
        }
    }
    out.insert("devices".into(), devices.into());
    Value::Object(out)
}

fn input(analysis: &SnapshotAnalysis) -> Value {
    let mut out = Map::new();
    out.insert("source".into(), analysis.source.as_str().into());
    out.insert("bytes".into(), analysis.bytes.into());
    match analysis.encoding {
        Encoding::Pickle(protocol) => {
            out.insert("format".into(), "pickle".into());
            out.insert("pickle_protocol".into(), protocol.into());
        }
        Encoding::Json => {
            out.insert("format".into(), "json".into());
        }
    }
    out.insert("torch".into(), versions(analysis.generation));
    if let Some(settings) = &analysis.settings {
        out.insert(
            "allocator_settings".into(),
            json!({"conf": settings.conf, "expandable_segments": settings.expandable_segments}),
        );
    }
    Value::Object(out)
}

fn versions(generation: Generation) -> Value {
    let version = |(major, minor): (u16, u16)| format!("{major}.{minor}");
    let mut out = Map::new();
    out.insert("from".into(), version(generation.from).into());
    if let Some(to) = generation.to {
        out.insert("to".into(), version(to).into());
    }
    Value::Object(out)
}

fn device(device: &DeviceAnalysis, sites: &[Site], view: View) -> Map<String, Value> {
    let mut out = Map::new();
    out.insert("device".into(), device.ordinal.into());
    out.insert("events".into(), device.events.into());
    out.insert("segments".into(), device.segments.into());
    out.insert("allocated_bytes".into(), device.allocated.into());
    out.insert("reserved_bytes".into(), device.reserved.into());
    if let Some(peak) = device.peak {
        let mut entry = Map::new();
        // Absent: the peak was the state in which recording began.
        if peak.event != NONE {
            entry.insert("event".into(), peak.event.into());
        }
        entry.insert("requested_bytes".into(), peak.requested.into());
        entry.insert("block_bytes".into(), peak.blocks.into());
        if let Some((active, event)) = device.peak_active {
            entry.insert("active_bytes".into(), active.into());
            if event != NONE {
                entry.insert("active_event".into(), event.into());
            }
        }
        if let Some((reserved, event)) = device.peak_reserved {
            entry.insert("reserved_bytes".into(), reserved.into());
            if event != NONE {
                entry.insert("reserved_event".into(), event.into());
            }
        }
        entry.insert("fragmentation".into(), fragmentation(&device.at_peak));
        holding(&mut entry, &device.holding, sites, view.top);
        out.insert("peak".into(), Value::Object(entry));
    } else {
        let mut entry = Map::new();
        entry.insert("fragmentation".into(), fragmentation(&device.at_peak));
        holding(&mut entry, &device.holding, sites, view.top);
        out.insert("end".into(), Value::Object(entry));
    }
    out.insert("oom".into(), device.ooms.iter().map(|oom| self::oom(oom, sites, view)).collect());
    if device.further_ooms > 0 {
        out.insert("further_oom".into(), device.further_ooms.into());
    }
    if let Some(growth) = &device.growth {
        out.insert("growth".into(), self::growth(growth, sites, view.top));
    }
    if let Some(budget) = device.budget {
        let mut entry = Map::new();
        entry.insert("at_least_bytes".into(), budget.low.into());
        if let Some(high) = budget.high {
            entry.insert("at_most_bytes".into(), high.into());
        }
        out.insert("available_to_allocator".into(), Value::Object(entry));
    }
    if let Some(fidelity) = &device.fidelity {
        out.insert("fidelity".into(), self::fidelity(fidelity, view));
    }
    if !device.what_if.is_empty() {
        out.insert("what_if".into(), device.what_if.iter().map(|entry| what_if(entry, sites, view)).collect());
    }
    if let Some(base) = device.what_if_base.filter(|_| !device.what_if.is_empty()) {
        let base = json!({"peak_reserved_bytes": base.reserved, "peak_active_bytes": base.in_use});
        out.insert("what_if_base".into(), base);
    }
    if let Some(least) = device.least_needed() {
        out.insert("packing_bound_bytes".into(), least.into());
    }
    let notes: Vec<&str> = device.notes.iter().map(|note| note.in_lang(view.style.lang)).collect();
    out.insert("notes".into(), notes.into());
    out
}

fn fragmentation(holes: &Fragmentation) -> Value {
    let pieces: Vec<Value> =
        holes.pieces.iter().take(PIECES).map(|(size, count)| json!({"bytes": size, "count": count})).collect();
    let mut out = Map::new();
    out.insert("reserved_bytes".into(), holes.reserved.into());
    out.insert("active_bytes".into(), holes.active.into());
    out.insert("free_bytes".into(), holes.free.into());
    out.insert("largest_free_bytes".into(), holes.largest().into());
    out.insert("free_in_private_pools_bytes".into(), holes.free_in_private_pools.into());
    out.insert("free_pieces".into(), pieces.into());
    Value::Object(out)
}

fn holding(out: &mut Map<String, Value>, holding: &Holding, sites: &[Site], top: usize) {
    out.insert("held_bytes".into(), holding.bytes.into());
    out.insert("holders".into(), holders(&holding.holders, sites, top));
    let categories = holding.categories.iter().map(
        |(category, bytes, certainty)| json!({"category": category.id(), "bytes": bytes, "certainty": certainty.id()}),
    );
    out.insert("categories".into(), categories.collect());
    let sizes = holding.sizes.iter().map(|(bound, count, bytes)| {
        let mut class = Map::new();
        if *bound != u64::MAX {
            class.insert("up_to_bytes".into(), (*bound).into());
        }
        class.insert("count".into(), (*count).into());
        class.insert("bytes".into(), (*bytes).into());
        Value::Object(class)
    });
    out.insert("sizes".into(), sizes.collect());
}

fn holders(holders: &[Holder], sites: &[Site], top: usize) -> Value {
    let shown = holders.iter().take(top).map(|entry| holder(entry, sites));
    shown.collect()
}

/// Who holds memory, and how much.
pub(in crate::report) fn holder(holder: &Holder, sites: &[Site]) -> Value {
    let mut out = Map::new();
    out.insert("bytes".into(), holder.bytes.into());
    out.insert("count".into(), holder.count.into());
    out.insert("largest_bytes".into(), holder.largest.into());
    out.insert("category".into(), holder.category.id().into());
    out.insert("certainty".into(), holder.certainty.id().into());
    if let Some(site) = sites.get(holder.site as usize).filter(|site| !site.label.is_empty()) {
        out.insert("frame".into(), site.label.as_str().into());
        if let Some(inner) = &site.inner {
            out.insert("inner_frame".into(), inner.as_str().into());
        }
        out.insert("frames".into(), site.frames.iter().map(|frame| Value::from(frame.as_str())).collect());
    }
    Value::Object(out)
}

fn oom(oom: &Oom, sites: &[Site], view: View) -> Value {
    let mut out = Map::new();
    out.insert("event".into(), oom.event.into());
    out.insert("requested_bytes".into(), oom.requested.into());
    out.insert("device_free_bytes".into(), oom.device_free.into());
    let fit = oom.would_fit;
    out.insert(
        "would_fit".into(),
        json!({
            "free_and_cached": fit.free_and_cached,
            "recoverable_by_expandable": fit.recoverable_by_expandable,
            "with_private_pools": fit.with_private_pools,
            "in_other_stream_or_pool": fit.elsewhere,
        }),
    );
    out.insert("fragmentation".into(), fragmentation(&oom.fragmentation));
    holding(&mut out, &oom.holding, sites, view.top);
    Value::Object(out)
}

fn growth(growth: &Growth, sites: &[Site], top: usize) -> Value {
    let grown = growth.sites.iter().take(top).map(|(site, bytes)| {
        let label = sites.get(*site as usize).map(|site| site.label.as_str()).filter(|label| !label.is_empty());
        let mut out = Map::new();
        out.insert("bytes".into(), (*bytes).into());
        if let Some(label) = label {
            out.insert("frame".into(), label.into());
        }
        Value::Object(out)
    });
    json!({
        "by": if growth.by_steps { "optimizer-steps" } else { "stretches" },
        "floor_bytes": growth.floors,
        "per_step_bytes": growth.per_step,
        "holders": grown.collect::<Vec<_>>(),
    })
}

fn fidelity(fidelity: &Fidelity, view: View) -> Value {
    let divergence = match &fidelity.first_divergence {
        Some((event, how)) => json!({"event": event, "how": how.in_lang(view.style.lang)}),
        None => Value::Null,
    };
    let mut out = Map::new();
    out.insert("allocations".into(), fidelity.allocations.into());
    out.insert("same_address".into(), fidelity.same_address.into());
    out.insert("segments".into(), fidelity.segments.into());
    out.insert("same_size".into(), fidelity.same_size.into());
    out.insert("failed_requests".into(), fidelity.failed.into());
    out.insert("failed_too".into(), fidelity.failed_too.into());
    out.insert("first_divergence".into(), divergence);
    if fidelity.given_up {
        out.insert("given_up".into(), true.into());
    }
    Value::Object(out)
}

fn what_if(entry: &WhatIf, sites: &[Site], view: View) -> Value {
    let mut out = Map::new();
    out.insert("change".into(), entry.change.id().into());
    out.insert("conf".into(), entry.conf.as_str().into());
    out.insert("torch".into(), format!("{}.{}", entry.torch.major, entry.torch.minor).into());
    match &entry.change {
        Change::Capacity(bytes) => {
            out.insert("capacity_bytes".into(), (*bytes).into());
        }
        Change::Without(site) => {
            if let Some(site) = sites.get(*site as usize) {
                out.insert("frame".into(), site.label.as_str().into());
            }
        }
        _ => {}
    }
    match &entry.outcome {
        VariationOutcome::Ran { peak_reserved, peak_reserved_at_most, peak_active, oom, served, retries } => {
            out.insert("peak_reserved_bytes".into(), (*peak_reserved).into());
            if peak_reserved_at_most > peak_reserved {
                out.insert("peak_reserved_at_most_bytes".into(), (*peak_reserved_at_most).into());
            }
            out.insert("peak_active_bytes".into(), (*peak_active).into());
            // Absent: the limit of the device is known too roughly to say.
            if let Some(served) = served {
                out.insert("oom".into(), (!served).into());
            }
            if let Some((event, bytes)) = oom {
                if *event != NONE {
                    out.insert("oom_event".into(), (*event).into());
                }
                out.insert("oom_requested_bytes".into(), (*bytes).into());
            }
            out.insert("retries".into(), (*retries).into());
        }
        VariationOutcome::Refused(why) => {
            out.insert("refused".into(), why.in_lang(view.style.lang).into());
        }
        VariationOutcome::GivenUp => {
            out.insert("given_up".into(), true.into());
        }
    }
    if let Some(saves) = entry.saves {
        out.insert("saves_bytes".into(), i64::try_from(saves).unwrap_or(0).into());
    }
    Value::Object(out)
}
