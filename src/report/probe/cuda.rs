//! What CUDA told, as rows for people and as JSON.

pub mod json;

use crate::domain::closed_set;
use crate::gpu::cuda::Failure;
use crate::gpu::cuda::parent;
use crate::gpu::cuda::protocol::ExperimentOutcome;
use crate::gpu::cuda::protocol::Taken;
use crate::gpu::twin::{Layout, Prediction, Reproduction, Ways};
use crate::text;
use crate::text::Text;
use crate::units::Bytes;

/// The CUDA part of one device.
#[derive(Debug, Clone)]
pub enum Part {
    /// Not begun because somebody uses the device, or nobody could tell.
    Refused(Text),
    /// Not begun because it is no device that a program can use.
    Unsuited(Text),
    Read(parent::Findings),
}

closed_set! {
    /// What an experiment on a device said of the arithmetic.
    pub enum Measured {
        /// Every outcome was as predicted.
        Confirmed = "confirmed",
        /// At least one was not.
        Contradicted = "contradicted",
        /// None was contradicted, and at least one proved nothing.
        Inconclusive = "inconclusive",
    }
}

impl Measured {
    /// `None` of nothing.
    pub fn of(outcomes: impl Iterator<Item = ExperimentOutcome>) -> Option<Measured> {
        outcomes
            .map(|outcome| match (outcome.agrees, outcome.verdict) {
                (true, _) => Measured::Confirmed,
                (false, Some(_)) => Measured::Contradicted,
                (false, None) => Measured::Inconclusive,
            })
            .reduce(|a, b| match (a, b) {
                (Measured::Contradicted, _) | (_, Measured::Contradicted) => Measured::Contradicted,
                (Measured::Inconclusive, _) | (_, Measured::Inconclusive) => Measured::Inconclusive,
                _ => Measured::Confirmed,
            })
    }

    fn text(self) -> Text {
        match self {
            Measured::Confirmed => text!(
                en: "on the device, which did as the arithmetic says; that a request goes through says nothing about the next one",
                zh: "已在设备上验证，结果与推算一致；一次请求成功并不说明下一次也会成功"
            ),
            Measured::Contradicted => text!(
                en: "on the device, which did otherwise than the arithmetic says: what was measured counts, see above",
                zh: "已在设备上验证，结果与推算不同：以上方实测为准"
            ),
            Measured::Inconclusive => text!(
                en: "on the device, without a conclusion: see above; what is said here rests on arithmetic",
                zh: "已在设备上尝试但没有结论：见上方；此处结论仅基于推算"
            ),
        }
    }
}

/// One line: what, and the reading or why there is none.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    pub label: Text,
    pub text: Text,
    pub missing: bool,
}

fn row<T>(label: (&str, &str), taken: Taken<T>, print: impl FnOnce(T) -> Text) -> Row {
    let label = Text::new(label.0, label.1);
    match taken {
        Ok(value) => Row { label, text: print(value), missing: false },
        Err(failure) => {
            let why = failure.text();
            let text = Text::new(format!("not available: {}", why.en), format!("不可用：{}", why.zh));
            Row { label, text, missing: true }
        }
    }
}

/// Rows of what was asked for.
pub fn lines(part: &Part) -> Vec<Row> {
    let read = match part {
        Part::Refused(why) | Part::Unsuited(why) => {
            return vec![Row { label: Text::same("CUDA"), text: why.clone(), missing: false }];
        }
        Part::Read(read) => read,
    };
    let mut rows = Vec::new();
    let ready = read.driver().and_then(|driver| Ok((driver, read.device()?)));
    let lost = ready.is_err();
    rows.push(row(("CUDA", "CUDA"), ready, |(driver, device)| {
        let (major, minor) = device.capability;
        let version = cuda_version(driver.cuda_version);
        text!(
            en: "driver serves CUDA {version}; CUDA's device {}, compute capability {major}.{minor}, {} multiprocessors",
            zh: "驱动支持 CUDA {version}；CUDA 设备 {}，计算能力 {major}.{minor}，{} 个 SM",
            device.ordinal, device.multiprocessors
        )
    }));
    if lost {
        return rows;
    }
    rows.push(row(("context", "上下文"), read.memory(), |memory| {
        let (free, total, margin) = (Bytes(memory.free), Bytes(memory.total), Bytes(memory.margin));
        let cost = match memory.context {
            Some(bytes) => {
                let bytes = Bytes(bytes);
                text!(en: "{bytes} for a bare context; ", zh: "空上下文占 {bytes}；")
            }
            None if memory.beyond > 0 => {
                let beyond = Bytes(memory.beyond);
                text!(en: "its cost is not known, since with it {beyond} more than any context costs were gone; ", zh: "开销未知：创建后减少的显存比任何上下文的开销还多 {beyond}；")
            }
            None => {
                text!(en: "its cost needs NVML's free memory before, which was not to be had; ", zh: "其开销需要 NVML 提供之前的空闲量，此处无法获得；")
            }
        };
        let rest = text!(
            en: "{free} free of {total} with it, {margin} are left to others",
            zh: "创建后空闲 {free}（共 {total}），其中始终留出 {margin}"
        );
        Text::new(cost.en + &rest.en, cost.zh + &rest.zh)
    }));
    if read.memory().is_err() {
        return rows;
    }
    if let Some(bytes) = read.busy() {
        let text = busy(bytes);
        rows.push(Row { label: Text::new("refused", "拒绝"), text, missing: false });
        return rows;
    }
    rows.push(row(("granularity", "粒度"), read.granularity(), |bytes| Text::same(Bytes(bytes).to_string())));
    rows.extend(asked(
        row(("bandwidth", "带宽"), read.bandwidth(), |found| {
            let rate = |bytes: f64| match found.peak {
                Some(peak) if peak > 0.0 => format!("{:.0} GB/s ({:.0} %)", bytes / 1e9, 100.0 * bytes / peak),
                _ => format!("{:.0} GB/s", bytes / 1e9),
            };
            let (read, write, copy) = (rate(found.read), rate(found.write), rate(found.copy));
            let mut text =
                text!(en: "read {read}, write {write}, copy {copy}", zh: "读 {read}，写 {write}，拷贝 {copy}");
            if let Some(peak) = found.peak {
                let peak = format!("{:.0} GB/s", peak / 1e9);
                let of = text!(en: "; peak by bus width and clock {peak}", zh: "；按位宽与频率计算的峰值 {peak}");
                text = Text::new(text.en + &of.en, text.zh + &of.zh);
            }
            text
        }),
        read.bandwidth().err(),
    ));
    rows.extend(asked(row(("memory check", "显存检查"), read.check(), |found| {
        let bytes = Bytes(found.bytes);
        if found.wrong_words == 0 && found.sums_agree {
            text!(en: "{bytes} written and read back twice without a fault", zh: "{bytes} 写入并读回两遍，无错误")
        } else {
            let wrong = found.wrong_words;
            // A cell that is wrong in both passes is one place.
            let mut places = found.first.clone();
            places.sort_unstable();
            places.dedup();
            let first: Vec<String> =
                places.iter().take(4).map(|(offset, bits)| format!("{offset:#x} {bits:#018x}")).collect();
            let first = first.join(", ");
            text!(
                en: "{wrong} wrong words in {bytes} (offset and wrong bits: {first}), which points to faulty memory: run NVIDIA's diagnostics (dcgmi diag)",
                zh: "{bytes} 中有 {wrong} 个字出错（偏移与错误位：{first}），很可能是显存故障：请运行 NVIDIA 诊断（dcgmi diag）"
            )
        }
    }), read.check().err()));
    rows.extend(asked(
        row(("allocation", "分配耗时"), read.latencies(), |found| {
            let micro = |seconds: f64| format!("{:.0} µs", seconds * 1e6);
            let all = |pool: &str, map: &str| {
                let each = found.iter().map(|one| {
                    let mut text = format!("{} {} + {}", Bytes(one.bytes), micro(one.alloc), micro(one.free));
                    if let (Some(alloc), Some(free)) = (one.pool_alloc, one.pool_free) {
                        text += &format!(" ({pool} {} + {}", micro(alloc), micro(free));
                        if let Some(mapped) = one.map {
                            text += &format!(", {map} {}", micro(mapped));
                        }
                        text.push(')');
                    } else if let Some(mapped) = one.map {
                        text += &format!(" ({map} {})", micro(mapped));
                    }
                    text
                });
                each.collect::<Vec<_>>().join("; ")
            };
            Text::new(
                format!("median times to allocate + free: {}", all("pool", "map")),
                format!("分配 + 释放的中位耗时：{}", all("内存池", "映射")),
            )
        }),
        read.latencies().err(),
    ));
    rows.extend(asked(row(("largest block", "最大块"), read.largest(), |found| {
        let (single, bound) = (Bytes(found.single), Bytes(found.bound));
        let mut text = text!(en: "{single} in one allocation of {bound} tried for", zh: "单次分配最大 {single}（尝试上限 {bound}）");
        if let (Some(mapped), Some(pieces)) = (found.mapped, found.physically_fragmented()) {
            let mapped = Bytes(mapped);
            let more = if pieces {
                text!(en: ", {mapped} by mapped pages: the device's own memory is in pieces", zh: "，映射分散页可达 {mapped}：设备物理显存碎片化")
            } else {
                text!(en: ", {mapped} by mapped pages: the device's own memory is not in pieces", zh: "，映射分散页可达 {mapped}：设备物理显存没有碎片化")
            };
            text = Text::new(text.en + &more.en, text.zh + &more.zh);
        }
        text
    }), read.largest().err()));
    match read.experiment() {
        Ok(outcomes) => rows.extend(
            outcomes
                .into_iter()
                .map(|outcome| row(("on the device", "设备实验"), outcome, |outcome| outcome_text(&outcome))),
        ),
        Err(failure) => {
            let missing = row(("on the device", "设备实验"), Err::<(), _>(failure.clone()), |()| Text::default());
            rows.extend(asked(missing, Some(failure)));
        }
    }
    rows
}

/// A step that was not asked for needs no line.
fn asked(row: Row, failure: Option<Failure>) -> Option<Row> {
    (!matches!(failure, Some(Failure::NotAsked { .. }))).then_some(row)
}

/// Why a probe stops on a device that somebody uses.
pub fn busy(bytes: u64) -> Text {
    let bytes = Bytes(bytes);
    text!(
        en: "the GPU is in use, or limited: {bytes} more are taken than any context costs; --allow-busy goes on all the same",
        zh: "GPU 正在使用或受限：已占用的显存比任何上下文的开销还多 {bytes}；可用 --allow-busy 强制继续"
    )
}

fn outcome_text(outcome: &ExperimentOutcome) -> Text {
    let layout = outcome.layout.text();
    let scale = 1u64 << outcome.halvings.min(63);
    let scale = if scale == 1 { String::from("1") } else { format!("1/{scale}") };
    let seen = outcome.observed.first().copied().unwrap_or_default();
    let ways = ways(seen);
    let verdict = match outcome.verdict {
        Some(verdict) => verdict.text(),
        None if !outcome.control => text!(
            en: "inconclusive: the control failed, so the device is limited or in use",
            zh: "无结论：对照失败，设备受限或正被使用"
        ),
        None => text!(en: "inconclusive: the repetitions differ", zh: "无结论：多次重复结果不一致"),
    };
    let agrees = if outcome.agrees {
        text!(en: "as predicted", zh: "与推算一致")
    } else {
        let said = self::ways(outcome.predicted.ways);
        Text::new(format!("unlike predicted: {}", said.en), format!("与推算不同，推算为：{}", said.zh))
    };
    // What holds of an assumed layout holds of no more than that.
    let (if_so, zh_if_so) = match outcome.layout {
        Layout::Known => ("", ""),
        Layout::Spread { .. } | Layout::Crumbs { .. } => ("if it lay so, ", "若如此分布，则"),
    };
    let times = outcome.observed.len();
    let (requested, free) = (Bytes(outcome.requested), Bytes(outcome.free));
    let mut built = text!(
        en: "re-created at scale {scale}, {requested} asked for with {free} free",
        zh: "按比例 {scale} 重建，空闲 {free}，请求 {requested}"
    );
    if outcome.raised > 0 {
        let raised = Bytes(outcome.raised);
        built += text!(
            en: " (both raised by {raised}, which stay free as the margin)",
            zh: "（两者各增加 {raised}，作为余量始终空闲）"
        );
    }
    Text::new(
        format!(
            "{}; {}; measured {times} times: {} ({}) → {if_so}{}",
            layout.en, built.en, ways.en, agrees.en, verdict.en
        ),
        format!("{}；{}；实测 {times} 次：{}（{}）→ {zh_if_so}{}", layout.zh, built.zh, ways.zh, agrees.zh, verdict.zh),
    )
}

fn ways(ways: Ways) -> Text {
    let word = |served: bool| if served { ("served", "成功") } else { ("refused", "失败") };
    let (plain, torch, small) = (word(ways.plain), word(ways.torch), word(ways.small));
    Text::new(
        format!("plain allocation {}, PyTorch's expandable pages {}, smallest pages {}", plain.0, torch.0, small.0),
        format!("普通分配{}，PyTorch 可扩展段的页{}，最小页{}", plain.1, torch.1, small.1),
    )
}

/// Rows of the arithmetic twin.
pub fn reproduction_lines(reproduction: &Reproduction, measured: Option<Measured>) -> Vec<Row> {
    let mut rows = Vec::new();
    let sums = &reproduction.sums;
    let (requested, free, cached) = (sums.requested, sums.free, sums.cached);
    let (at, zh_at) = (&reproduction.origin.en, &reproduction.origin.zh);
    rows.push(Row {
        label: Text::new("asked for", "请求"),
        text: Text::new(
            format!("{requested} ({at}), with {free} free and {cached} cached by the allocator"),
            format!("{requested}（{zh_at}），当时空闲 {free}，分配器缓存 {cached}"),
        ),
        missing: false,
    });
    for (state, prediction) in &reproduction.cases {
        let layout = state.layout.text();
        let arithmetic = prediction_text(prediction);
        rows.push(Row {
            label: Text::new("predicted", "推算"),
            text: Text::new(format!("{}: {}", layout.en, arithmetic.en), format!("{}：{}", layout.zh, arithmetic.zh)),
            missing: false,
        });
    }
    rows.push(Row { label: Text::new("so", "结论"), text: reproduction.text(), missing: false });
    rows.push(Row {
        label: Text::new("tried", "实测"),
        text: measured.map_or_else(
            || {
                text!(
                    en: "not on a device: this is arithmetic alone; on an idle GPU, --allow-fill tries it",
                    zh: "未在设备上验证：以上仅为推算；在空闲 GPU 上可用 --allow-fill 实测"
                )
            },
            Measured::text,
        ),
        missing: false,
    });
    rows
}

fn prediction_text(prediction: &Prediction) -> Text {
    let Prediction { requested, free, idle, .. } = *prediction;
    let at_hand = Bytes(free.saturating_add(idle));
    let (requested, torch, small) = (Bytes(requested), Bytes(prediction.torch_pages), Bytes(prediction.small_pages));
    let ways = ways(prediction.ways);
    Text::new(
        format!("{at_hand} free + {torch} in whole 20 MiB pages ({small} in 2 MiB pages) for {requested}: {}", ways.en),
        format!("空闲 {at_hand} + 完整 20 MiB 页 {torch}（2 MiB 页 {small}），请求 {requested}：{}", ways.zh),
    )
}

fn cuda_version(version: i32) -> String {
    format!("{}.{}", version / 1000, version % 1000 / 10)
}
