//! Words that the formats share.

use crate::gpu::context_size;
use crate::incident::recording::Verdict;
use crate::snapshot::analysis::{DeviceAnalysis, Fragmentation, Growth, Oom, SnapshotAnalysis};
pub use crate::snapshot::holders::place;
use crate::snapshot::holders::{Category, Certainty, Holder, Holding, Site};
use crate::snapshot::join;
use crate::snapshot::model::Encoding;
use crate::snapshot::predict::Fidelity;
use crate::snapshot::what_if::{BatchScale, Change, Doubt, Unrecorded, VariationOutcome, WhatIf};
use crate::snapshot::{Generation, NONE};
use crate::text;
use crate::text::Text;
use crate::units::{Bytes, MIB};

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

/// A category and how sure it is.
pub fn category(category: Category, certainty: Certainty) -> Text {
    let (name, sure) = (category.text(), certainty.text());
    match category {
        // That nothing is known is no guess.
        Category::Unknown => name,
        _ => Text::new(format!("{} ({})", name.en, sure.en), format!("{}（{}）", name.zh, sure.zh)),
    }
}

/// Who held memory at the moment that matters: the first failed request, else the peak, else the end.
pub fn holding(device: &DeviceAnalysis) -> &Holding {
    device.ooms.first().map_or(&device.holding, |oom| &oom.holding)
}

/// The heading above [`holding`].
pub fn held(device: &DeviceAnalysis) -> Text {
    let bytes = Bytes(holding(device).bytes);
    if !device.ooms.is_empty() {
        text!(en: "Held when it failed: {bytes}", zh: "失败时的占用：共 {bytes}")
    } else if device.peak.is_some() {
        text!(en: "Held at the peak: {bytes}", zh: "峰值时的占用：共 {bytes}")
    } else {
        text!(en: "Held at the end: {bytes}", zh: "结束时的占用：共 {bytes}")
    }
}

/// The holes at a moment in a sentence.
pub fn fragmentation(holes: &Fragmentation) -> Text {
    let (free, largest) = (Bytes(holes.free), Bytes(holes.largest()));
    let pieces: u64 = holes.pieces.iter().map(|(_, count)| count).sum();
    if holes.free == 0 {
        return Text::new("Nothing cached was free", "缓存中没有空闲显存");
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
        out += text!(en: ", {private} of it in private pools", zh: "，其中 {private} 在私有内存池中");
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
            "Fragmentation: there was enough memory, but not in one piece; expandable_segments:True could have joined \
             it.",
            "碎片化：显存足够，但不连续；expandable_segments:True 可将其合并使用。",
        )
    } else if fit.free_and_cached {
        Text::new(
            "There was enough free and cached memory together, but the cached part cannot be returned in whole \
             granules: expandable segments alone would not have served it.",
            "空闲与缓存合计足够，但缓存部分无法按整粒度归还：仅靠可扩展段无法满足。",
        )
    } else if fit.with_private_pools {
        Text::new(
            "Only together with the free memory of private pools (CUDA graphs, MemPool) would it have fitted; other \
             requests cannot use that.",
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
    let (steps, stretches) = (growth.spans, growth.floors.len());
    let (first, last) =
        (Bytes(growth.floors.first().copied().unwrap_or(0)), Bytes(growth.floors.last().copied().unwrap_or(0)));
    let each = Bytes(growth.per_step);
    if growth.by_steps {
        text!(
            en: "Memory in use between steps grows from {first} to {last} over {steps} optimizer steps, {each} \
                 from one to the next.",
            zh: "两步之间的占用在 {steps} 个优化器步内从 {first} 增长到 {last}，每步增加 {each}。"
        )
    } else {
        text!(
            en: "Memory that is not given back grows from {first} to {last} all through the recording, about {each} in \
                 each of {stretches} equal stretches: a leak if it spans several steps, the activations of one pass if \
                 not.",
            zh: "在整个记录期间，未归还的显存从 {first} 增长到 {last}（等分为 {stretches} 段，每段约 {each}）：若记录\
                 跨越多个训练步则是泄漏，若只有一次前向则是其激活值。"
        )
    }
}

/// The peak in two sentences.
pub fn peak(device: &DeviceAnalysis) -> Option<Text> {
    let (peak, (active, event), (reserved, reserved_event)) =
        (device.peak?, device.peak_active?, device.peak_reserved?);
    let (requested, active, reserved) = (Bytes(peak.requested), Bytes(active), Bytes(reserved));
    let when = moment(event, device.events);
    let when_reserved = if reserved_event == event || reserved_event == NONE {
        Text::default()
    } else {
        let at = moment(reserved_event, device.events);
        Text::new(format!(", {}", at.en), format!("（{}）", at.zh))
    };
    let (en, zh) = match active.0.saturating_sub(requested.0) {
        0 => ("all of it asked for".to_string(), "全部为请求的大小".to_string()),
        rounding => {
            let rounding = Bytes(rounding);
            (
                format!("{requested} asked for and {rounding} rounding"),
                format!("其中请求 {requested}，对齐取整 {rounding}"),
            )
        }
    };
    Some(Text::new(
        format!("Peak {}: {active} in use, {en}. Reserved at most {reserved}{}.", when.en, when_reserved.en),
        format!("峰值（{}）：占用 {active}，{zh}。最大保留 {reserved}{}。", when.zh, when_reserved.zh),
    ))
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
                format!("GPU {n}: out of memory, {asked} asked for, {free} free on the device{}", times.en),
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

/// What was varied.
pub fn change(entry: &WhatIf, sites: &[Site]) -> Text {
    let torch = entry.torch;
    match &entry.change {
        Change::Settings if entry.conf.is_empty() => Text::new("no settings at all", "不使用任何设置"),
        Change::Settings => Text::same(entry.conf.clone()),
        Change::Torch => Text::same(format!("PyTorch {}.{}", torch.major, torch.minor)),
        Change::Capacity(bytes) => {
            let device = beside_context(*bytes);
            let conf = if entry.conf.is_empty() { String::new() } else { format!(", {}", entry.conf) };
            Text::new(format!("{}{conf}", device.en), format!("{}{conf}", device.zh))
        }
        Change::HalfBatch => Text::new("batch and activations halved", "批大小减半（激活值减半）"),
        Change::Without(site) => {
            let place = place(sites.get(*site as usize));
            Text::new(format!("without {}", place.en), format!("去掉 {}", place.zh))
        }
    }
}

/// A device, and what of it the allocator cannot have.
fn beside_context(capacity: u64) -> Text {
    let (bytes, context) = (Bytes(capacity), context_size::USUAL);
    let mib = |bytes: i128| bytes / i128::from(MIB);
    let (low, high) = (mib(context.low), mib(context.high));
    text!(
        en: "a device of {bytes}, less {low} to {high} MiB for CUDA's context",
        zh: "显存为 {bytes} 的设备，减去 CUDA 上下文 {low} 至 {high} MiB"
    )
}

/// What the variations are compared with.
pub fn base(device: &DeviceAnalysis) -> Option<Text> {
    let base = device.what_if_base.filter(|_| !device.what_if.is_empty())?;
    let (reserved, used) = (Bytes(base.reserved), Bytes(base.in_use));
    Some(if base.packed_anew {
        text!(
            en: "Compared with {reserved} reserved and {used} in use: the same settings, with what was there before \
                 the recording packed anew.",
            zh: "比较基准：保留 {reserved}，占用 {used}（设置不变，记录开始前已有的显存重新排列）。"
        )
    } else {
        text!(
            en: "Compared with {reserved} reserved and {used} in use, as recorded.",
            zh: "比较基准：保留 {reserved}，占用 {used}（与记录一致）。"
        )
    })
}

/// What came of it.
pub fn outcome(entry: &WhatIf, device: &DeviceAnalysis) -> Text {
    let recorded_oom = !device.ooms.is_empty();
    let recorded = device.peak_reserved.map_or(0, |(bytes, _)| bytes);
    match &entry.outcome {
        VariationOutcome::Refused(why) => {
            Text::new(format!("PyTorch refuses it: {}", why.en), format!("PyTorch 拒绝该设置：{}", why.zh))
        }
        VariationOutcome::GivenUp => Text::new("not known: the simulation took too long", "未知：模拟耗时过长"),
        VariationOutcome::Ran {
            oom,
            served,
            peak_reserved,
            least_reserved,
            most_reserved,
            peak_active,
            enough,
            too_little,
            ..
        } => {
            let used = Bytes(*peak_active);
            let (least, expected, most) = (Bytes(*least_reserved), Bytes(*peak_reserved), Bytes(*most_reserved));
            let peak = match (least == most, enough) {
                (true, None) => Text::same(expected.to_string()),
                (true, Some(enough)) => {
                    let enough = Bytes(*enough);
                    text!(
                        en: "{expected}, where the allocator can have {enough},",
                        zh: "{expected}（若分配器能有 {enough}）"
                    )
                }
                (false, Some(enough)) if most == expected && *enough == *peak_reserved => {
                    text!(en: "{expected}, where the device has as much,", zh: "{expected}（若设备有这么多）")
                }
                (false, _) if *most_reserved == u64::MAX => text!(
                    en: "about {expected} ({least} at least)",
                    zh: "约 {expected}（至少 {least}）"
                ),
                (false, None) => text!(
                    en: "about {expected} ({least} to {most})",
                    zh: "约 {expected}（{least} 至 {most}）"
                ),
                (false, Some(enough)) => {
                    let enough = Bytes(*enough);
                    text!(
                        en: "about {expected} ({least} to {most}), where the allocator can have {enough},",
                        zh: "约 {expected}（{least} 至 {most}；若分配器能有 {enough}）"
                    )
                }
            };
            let (en, zh) = (&peak.en, &peak.zh);
            let failed = device.ooms.first().map(|oom| oom.event);
            match (served, oom) {
                (_, Some((at, bytes))) if matches!(join::verdict(entry, failed), Verdict::Serves { .. }) => {
                    let (number, asked) = (u64::from(*at) + 1, Bytes(*bytes));
                    text!(
                        en: "this request would be served, {en} reserved at most; a later one fails, on {asked} \
                             (entry {number})",
                        zh: "这次请求可以满足，最多保留 {zh}；之后第 {number} 条的请求 {asked} 失败"
                    )
                }
                (Some(false), oom) => {
                    let asked = Bytes(oom.map_or(0, |(_, bytes)| bytes));
                    if recorded_oom {
                        text!(en: "fails all the same, on {asked}", zh: "依然失败（请求 {asked}）")
                    } else {
                        text!(en: "would run out of memory, on {asked}", zh: "会显存不足（请求 {asked}）")
                    }
                }
                (None, _) if enough.is_some() || too_little.is_some() => {
                    depends(*enough, *too_little, (least, expected, most), *most_reserved == u64::MAX)
                }
                (None, None) => text!(
                    en: "what was recorded would be served, {en} reserved; what came before is not known",
                    zh: "记录到的请求可以满足，保留 {zh}；记录之前的情况未知"
                ),
                (None, _) => text!(
                    en: "close: {en} reserved, and the limit of the device is not known that exactly",
                    zh: "接近极限：需保留 {zh}，而设备上限无法精确得知"
                ),
                (Some(true), _) if recorded_oom => {
                    text!(
                        en: "would be served, {en} reserved at most, {used} in use",
                        zh: "可以满足，最多保留 {zh}，占用 {used}"
                    )
                }
                (Some(true), _) => match entry.saves {
                    _ if entry.is_without_effect(recorded_oom, recorded) => {
                        text!(
                            en: "no effect: {en} reserved at most, {used} in use",
                            zh: "没有效果：最多保留 {zh}，占用 {used}"
                        )
                    }
                    Some(saves) if saves >= 0 => {
                        let saves = crate::units::signed(saves);
                        text!(
                            en: "saves {saves}: {en} reserved at most, {used} in use",
                            zh: "节省 {saves}：最多保留 {zh}，占用 {used}"
                        )
                    }
                    Some(saves) => {
                        let more = crate::units::signed(-saves);
                        text!(
                            en: "takes {more} more: {en} reserved at most, {used} in use",
                            zh: "多占 {more}：最多保留 {zh}，占用 {used}"
                        )
                    }
                    None => text!(en: "{en} reserved at most, {used} in use", zh: "最多保留 {zh}，占用 {used}"),
                },
            }
        }
    }
}

/// What depends on how much the device leaves to the allocator.
fn depends(enough: Option<u64>, too_little: Option<u64>, peak: (Bytes, Bytes, Bytes), open: bool) -> Text {
    let (least, expected, most) = peak;
    let mut out = match (enough.map(Bytes), too_little.map(Bytes)) {
        (Some(enough), Some(less)) if enough == less => text!(
            en: "would be served where the allocator can have {enough}, and fail with less",
            zh: "若分配器能有 {enough} 则可以满足，更少则失败"
        ),
        (Some(enough), Some(less)) => text!(
            en: "would be served where the allocator can have {enough}, and fail with less than {less}",
            zh: "若分配器能有 {enough} 则可以满足，少于 {less} 则失败"
        ),
        (Some(enough), None) => text!(
            en: "would be served where the allocator can have {enough}",
            zh: "若分配器能有 {enough} 则可以满足"
        ),
        (None, less) => {
            let less = less.unwrap_or(least);
            text!(
                en: "would fail where the allocator can have less than {less}; with more it is not known",
                zh: "若分配器能有的少于 {less} 则失败，更多时未知"
            )
        }
    };
    let figures = match (least == most, open) {
        (true, _) => text!(en: "; {expected} reserved", zh: "；保留 {expected}"),
        (_, true) => {
            text!(en: "; about {expected} reserved, {least} at least", zh: "；约保留 {expected}，至少 {least}")
        }
        _ => text!(
            en: "; about {expected} reserved ({least} to {most})",
            zh: "；约保留 {expected}（{least} 至 {most}）"
        ),
    };
    out += figures;
    out
}

/// Why a figure is a range.
pub fn doubt(doubt: Doubt) -> Text {
    match doubt {
        Doubt::Before { reserved, in_use } => {
            let (reserved, in_use) = (Bytes(reserved), Bytes(in_use));
            text!(
                en: "the recording begins with {in_use} in use and {reserved} reserved: what came before, and how it \
                     would have lain, is not recorded",
                zh: "记录开始时已占用 {in_use}、保留 {reserved}：此前的过程以及在其他设置下会如何排列均未被记录"
            )
        }
        Doubt::Astray => {
            Text::new("the simulator does not foresee every segment of the record", "模拟器未能预测记录中的每一个段")
        }
        Doubt::Limit { low, high: Some(high) } => {
            let (low, high) = (Bytes(low), Bytes(high));
            text!(
                en: "the device leaves {low} to {high} to the allocator",
                zh: "设备留给分配器的显存为 {low} 至 {high}"
            )
        }
        Doubt::Limit { low, high: None } => {
            let low = Bytes(low);
            text!(
                en: "the device leaves {low} or more to the allocator",
                zh: "设备留给分配器的显存不少于 {low}"
            )
        }
        Doubt::OwnLimit => Text::new(
            "a limit that the program sets itself (set_per_process_memory_fraction) is not recorded; only with one \
             does PyTorch collect its cache by this threshold (--fraction tells it)",
            "程序自设的上限（set_per_process_memory_fraction）不会被记录；只有设了它，PyTorch 才会按该阈值回收缓存\
             （可用 --fraction 告知）",
        ),
    }
}

/// Why figures of the variations are ranges, each reason once; what the device has is told elsewhere.
pub fn doubts(device: &DeviceAnalysis) -> Vec<Text> {
    let mut seen: Vec<Doubt> = Vec::new();
    for entry in &device.what_if {
        let VariationOutcome::Ran { because, .. } = &entry.outcome else { continue };
        for doubt in because.iter().filter(|doubt| !matches!(doubt, Doubt::Limit { .. } | Doubt::Astray)) {
            if !seen.contains(doubt) {
                seen.push(*doubt);
            }
        }
    }
    let sentence = |doubt: &Doubt| {
        let why = self::doubt(*doubt);
        Text::new(format!("Ranges, because {}.", why.en), format!("给出范围的原因：{}。", why.zh))
    };
    seen.iter().map(sentence).collect()
}

/// Which batch fits, in sentences.
pub fn batch_scale(scale: &BatchScale) -> Text {
    let device = match scale.capacity {
        Some(capacity) => beside_context(capacity),
        None => Text::new("the device of the recording", "记录时的设备"),
    };
    let fits = match &scale.fits {
        Ok(fits) => fits,
        Err(why) => return Text::new(format!("Not known: {}.", why.en), format!("未知：{}。", why.zh)),
    };
    let amount = match scale.recorded {
        Some(_) if fits.low == fits.high => Text::same(fits.low.to_string()),
        Some(_) => Text::new(format!("{} to {}", fits.low, fits.high), format!("{} 至 {}", fits.low, fits.high)),
        None => {
            let times = |parts: u64| format!("{:.2}", parts as f64 / fits.parts as f64);
            let (low, high) = (times(fits.low), times(fits.high));
            match low == high {
                true => text!(en: "{low} times the recorded one", zh: "记录时的 {low} 倍"),
                false => text!(en: "{low} to {high} times the recorded one", zh: "记录时的 {low} 至 {high} 倍"),
            }
        }
    };
    let recorded = scale.recorded.map(|batch| text!(en: " ({batch} was recorded)", zh: "（记录时为 {batch}）"));
    let recorded = recorded.unwrap_or_default();
    let (surely, perhaps) = (Bytes(scale.grows.0), Bytes(scale.grows.1));
    let open = scale.open.map(|open| match open {
        Unrecorded::Start => Text::new(
            "the recording begins in the middle, and what came before may need more",
            "记录从中途开始，之前可能需要更多",
        ),
        Unrecorded::End => Text::new(
            "the recording ends with the failure, and what would follow may need more",
            "记录止于失败的请求，之后可能还需要更多",
        ),
    });
    let mut out = match (fits.high, open) {
        (0, _) => Text::new(
            format!("Not even the smallest batch fits {}{}.", device.en, recorded.en),
            format!("{}连最小的批也放不下{}。", device.zh, recorded.zh),
        ),
        (_, Some(open)) => Text::new(
            format!("A batch of at most {} fits {}{}: {}.", amount.en, device.en, recorded.en, open.en),
            format!("{}上批大小最多为 {}{}：{}。", device.zh, amount.zh, recorded.zh, open.zh),
        ),
        (_, None) => Text::new(
            format!("The largest batch that fits {} is {}{}.", device.en, amount.en, recorded.en),
            format!("{}能放下的最大批大小是 {}{}。", device.zh, amount.zh, recorded.zh),
        ),
    };
    let grown = match scale.grows.1 {
        0 => text!(en: " {surely} of the peak grow with it.", zh: "峰值中 {surely} 随之增长。"),
        _ => text!(
            en: " {surely} of the peak grow with it, for a further {perhaps} the recording does not say.",
            zh: "峰值中 {surely} 随之增长，另有 {perhaps} 记录无法说明。"
        ),
    };
    out += grown;
    out
}

/// Whether the simulator can be believed.
pub fn fidelity(fidelity: &Fidelity) -> Text {
    let Fidelity { allocations, same_address, segments, same_size, .. } = fidelity;
    let exact = fidelity.is_exact();
    let mut out = if exact && *segments == 0 && fidelity.first_divergence.is_none() {
        text!(
            en: "The simulator predicted the address of all {allocations} allocations.",
            zh: "模拟器准确预测了全部 {allocations} 次分配的地址。"
        )
    } else if exact && fidelity.first_divergence.is_none() {
        text!(
            en: "The simulator predicted the address of all {allocations} allocations and the size of all {segments} \
                 segments.",
            zh: "模拟器准确预测了全部 {allocations} 次分配的地址和全部 {segments} 个段的大小。"
        )
    } else {
        text!(
            en: "The simulator predicted {same_address} of {allocations} addresses and {same_size} of {segments} \
                 segments: what follows is no more exact.",
            zh: "模拟器预测对了 {allocations} 个地址中的 {same_address} 个、{segments} 个段中的 {same_size} 个：以下结\
                 果同样粗略。"
        )
    };
    if let Some((event, how)) = &fidelity.first_divergence {
        let number = u64::from(*event) + 1;
        out.en += &format!(" First difference at entry {number}: {}.", how.en);
        out.zh += &format!("首个差异在第 {number} 条：{}。", how.zh);
    }
    out
}

/// The limit that no allocator can beat, and what the allocator could have.
pub fn bounds(device: &DeviceAnalysis) -> Option<Text> {
    let bound = Bytes(device.least_needed()?);
    let budget = device.budget?;
    Some(match budget.high {
        Some(high) if high == budget.low => {
            let high = Bytes(high);
            text!(
                en: "The allocator could have {high} of this device; no allocator can do with less than {bound}.",
                zh: "分配器在该设备上最多可用 {high}；任何分配器都至少需要 {bound}。"
            )
        }
        Some(high) => {
            let (low, high) = (Bytes(budget.low), Bytes(high));
            text!(
                en: "The allocator could have {low} to {high} of this device; no allocator can do with less than \
                     {bound}.",
                zh: "分配器在该设备上可用 {low} 至 {high}；任何分配器都至少需要 {bound}。"
            )
        }
        None if budget.unclear => text!(
            en: "No allocator can do with less than {bound}. Memory was given back just before more was got; without \
                 stacks it is not known whether the program emptied its cache or the device was full, so only \
                 --capacity can say what would not fit.",
            zh: "任何分配器都至少需要 {bound}。曾在申请更多显存之前归还显存；没有调用栈，\
                 无法得知是程序清空了缓存还是设备已满，只有用 --capacity 才能判断放不放得下。"
        ),
        None => text!(
            en: "No allocator can do with less than {bound}. The device's limit was never reached, so only --capacity \
                 can say what would not fit; a limit that the program sets itself \
                 (set_per_process_memory_fraction) is not recorded, --fraction tells it.",
            zh: "任何分配器都至少需要 {bound}。记录中从未触及设备上限，只有用 --capacity 才能判断放不放得下；程序自设的\
                 上限（set_per_process_memory_fraction）不会被记录，请用 --fraction 告知。"
        ),
    })
}
