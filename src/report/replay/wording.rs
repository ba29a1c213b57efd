//! Words that the formats share.

use crate::snapshot::analysis::{DeviceAnalysis, Fragmentation, Growth, Oom, SnapshotAnalysis};
use crate::snapshot::holders::{self, Holder, Site};
use crate::snapshot::model::Encoding;
use crate::snapshot::{Generation, NONE};
use crate::text;
use crate::text::Text;
use crate::units::Bytes;

/// `2.10 to 2.11`.
pub fn versions(generation: Generation) -> Text {
    let (major, minor) = generation.from;
    match generation.to {
        Some((to_major, to_minor)) if (to_major, to_minor) == (major, minor) => Text::same(format!("{major}.{minor}")),
        Some((to_major, to_minor)) => {
            text!(en: "{major}.{minor} to {to_major}.{to_minor}", zh: "{major}.{minor} 至 {to_major}.{to_minor}")
        }
        None => text!(en: "{major}.{minor} or later", zh: "{major}.{minor} 或更新"),
    }
}

/// The file in a line.
pub fn file(analysis: &SnapshotAnalysis) -> Text {
    let versions = versions(analysis.generation);
    let how = match analysis.encoding {
        Encoding::Pickle(protocol) => format!("pickle {protocol}"),
        Encoding::Json => "JSON".to_string(),
    };
    let size = Bytes(analysis.bytes);
    let source = &analysis.source;
    Text::new(
        format!("{source}: {size}, {how}, written by PyTorch {}", versions.en),
        format!("{source}：{size}，{how}，由 PyTorch {} 写出", versions.zh),
    )
}

/// After which entry; `NONE` is before the trace.
pub fn moment(event: u32, events: usize) -> Text {
    if event == NONE {
        return Text::new("before the recording", "记录开始之前");
    }
    let number = u64::from(event) + 1;
    text!(en: "after entry {number} of {events}", zh: "第 {number}/{events} 条记录之后")
}

/// The place in the program, with what it ran.
pub fn place(site: Option<&Site>) -> Text {
    match site {
        Some(site) if holders::is_silent(site) || site.label.is_empty() => {
            Text::new("no stack recorded", "未记录调用栈")
        }
        Some(Site { label, inner: Some(inner), .. }) => Text::same(format!("{label} → {inner}")),
        Some(site) => Text::same(site.label.clone()),
        None => Text::new("no stack recorded", "未记录调用栈"),
    }
}

/// How many blocks, and of what.
pub fn count(holder: &Holder) -> Text {
    let (n, largest) = (holder.count, Bytes(holder.largest));
    let kind = holder.category.text();
    match n {
        1 => Text::new(format!("1 block, {}", kind.en), format!("1 个 block，{}", kind.zh)),
        _ => Text::new(
            format!("{n} blocks up to {largest}, {}", kind.en),
            format!("{n} 个 block，最大 {largest}，{}", kind.zh),
        ),
    }
}

/// The holes at a moment in a sentence.
pub fn fragmentation(holes: &Fragmentation) -> Text {
    let (free, largest) = (Bytes(holes.free), Bytes(holes.largest()));
    let pieces: u64 = holes.pieces.iter().map(|(_, count)| count).sum();
    if holes.free == 0 {
        return Text::new("nothing cached was free", "缓存中没有空闲显存");
    }
    let mut out = match pieces {
        1 => text!(en: "{free} cached and free in one piece", zh: "缓存中空闲 {free}，为一整块"),
        _ => text!(
            en: "{free} cached and free in {pieces} pieces, the largest {largest}",
            zh: "缓存中空闲 {free}，分成 {pieces} 块，最大 {largest}"
        ),
    };
    if holes.free_in_private_pools > 0 {
        let private = Bytes(holes.free_in_private_pools);
        out.en += &format!(", {private} of it in private pools");
        out.zh += &format!("，其中 {private} 在私有内存池中");
    }
    out
}

/// The sizes of the holes, largest first.
pub fn pieces(holes: &Fragmentation, most: usize) -> String {
    let mut shown: Vec<String> = holes
        .pieces
        .iter()
        .take(most)
        .map(|(size, count)| match count {
            1 => Bytes(*size).to_string(),
            n => format!("{n} × {}", Bytes(*size)),
        })
        .collect();
    if holes.pieces.len() > most {
        shown.push("…".into());
    }
    shown.join(", ")
}

/// What could have served a failed request.
pub fn verdict(oom: &Oom) -> Text {
    let fit = oom.would_fit;
    if fit.recoverable_by_expandable {
        Text::new(
            "Fragmentation: there was enough memory, but not in one piece; expandable_segments:True could have joined it.",
            "碎片化：显存足够，但不连续；expandable_segments:True 可将其合并使用。",
        )
    } else if fit.free_and_cached {
        Text::new(
            "There was enough free and cached memory together, but the cached part cannot be returned in whole granules: expandable segments alone would not have served it.",
            "空闲与缓存合计足够，但缓存部分无法按整粒度归还：仅靠可扩展段无法满足。",
        )
    } else if fit.with_private_pools {
        Text::new(
            "Only together with the free memory of private pools (CUDA graphs, MemPool) would it have fitted; other requests cannot use that.",
            "只有加上私有内存池（CUDA graph、MemPool）中的空闲显存才够，而其他请求无法使用它。",
        )
    } else {
        Text::new(
            "Truly full: free and cached memory together were too little, no allocator setting helps.",
            "确实已满：空闲与缓存合计也不够，任何分配器设置都无济于事。",
        )
    }
}

/// The growth in a sentence.
pub fn growth(growth: &Growth) -> Text {
    let steps = growth.floors.len();
    let (first, last) =
        (Bytes(growth.floors.first().copied().unwrap_or(0)), Bytes(growth.floors.last().copied().unwrap_or(0)));
    let each = Bytes(growth.per_step);
    if growth.by_steps {
        text!(
            en: "Memory in use between steps grows from {first} to {last} over {steps} optimizer steps looked at, {each} from one to the next.",
            zh: "两步之间的占用从 {first} 增长到 {last}（查看了 {steps} 个优化器步），每次增加 {each}。"
        )
    } else {
        text!(
            en: "Memory that is not given back grows from {first} to {last} all through the recording, about {each} in each of {steps} equal stretches: a leak if it spans several steps, the activations of one pass if not.",
            zh: "在整个记录期间，未归还的显存从 {first} 增长到 {last}（等分为 {steps} 段，每段约 {each}）：若记录跨越多个训练步则是泄漏，若只有一次前向则是其激活值。"
        )
    }
}

/// The headline of a device.
pub fn headline(device: &DeviceAnalysis) -> Text {
    let n = device.ordinal;
    let reserved = Bytes(device.reserved);
    match (device.ooms.first(), device.peak_active, device.peak_reserved) {
        (Some(oom), _, _) => {
            let (asked, free) = (Bytes(oom.requested), Bytes(oom.device_free));
            let count = device.ooms.len() + device.further_ooms;
            let times = if count > 1 {
                text!(en: " ({count} failed requests, this the first)", zh: "（共 {count} 次失败，此为第一次）")
            } else {
                Text::default()
            };
            Text::new(
                format!("GPU {n}: out of memory, {asked} asked with {free} of the device free{}", times.en),
                format!("GPU {n}：显存不足，请求 {asked}，设备空闲 {free}{}", times.zh),
            )
        }
        (None, Some((active, _)), Some((peak_reserved, _))) => {
            let (active, peak_reserved) = (Bytes(active), Bytes(peak_reserved));
            text!(
                en: "GPU {n}: peak {active} in use, {peak_reserved} reserved; no failed request",
                zh: "GPU {n}：峰值占用 {active}，保留 {peak_reserved}；没有失败的请求"
            )
        }
        _ => {
            let allocated = Bytes(device.allocated);
            text!(
                en: "GPU {n}: {allocated} allocated, {reserved} reserved at the end; no history",
                zh: "GPU {n}：结束时已分配 {allocated}，保留 {reserved}；没有历史记录"
            )
        }
    }
}
