//! The words that reports share: what ran out, who holds memory, phases, confidence, cost.

use super::Diagnosis;
use crate::account::Holder;
use crate::account::proof::{self, ProofKind};
use crate::cause::conclusion::{Conclusion, Family, SURE_ENOUGH, candidates};
use crate::cause::decide::{Observation, Outcome};
use crate::cause::reading::allocated_share;
use crate::cause::{CAUSES, CauseId, Finding};
use crate::dialect::Resource;
use crate::domain::Accelerator;
use crate::evidence::TraceEntry;
use crate::fix::{Certainty, Frees, Numerics, Part};
use crate::incident::context::{Phase, Platform, Precision};
use crate::incident::recording::{HeldAt, Rise, Trial, Verdict};
use crate::incident::{Incident, Recording};
use crate::snapshot::holders::Category;
use crate::text;
use crate::text::{Lang, Text};
use crate::units::{Bytes, GIB, Interval, digits, percent, rounded, signed};

/// True unless the locale names a character set other than UTF-8. `C` and `POSIX` mean ASCII.
pub fn locale_shows_unicode(locale: &str) -> bool {
    let name = locale.split('@').next().unwrap_or_default();
    match name.split_once('.') {
        Some((_, charset)) => charset.to_ascii_lowercase().replace('-', "") == "utf8",
        None => !matches!(name, "C" | "POSIX"),
    }
}

/// Confidence in words; the bands are fixed so that the same words always mean the same odds.
pub fn confidence(share: f64) -> Text {
    if share >= 0.85 {
        Text::new("very likely", "极有可能")
    } else if share >= 0.70 {
        Text::new("likely", "很可能")
    } else if share >= 0.45 {
        Text::new("probably", "较可能")
    } else {
        Text::new("possibly", "也有可能")
    }
}

/// How sure a finding is: proved, or in words with its share.
pub fn sure(finding: &Finding) -> Text {
    if finding.proved {
        return Text::new("proved", "已证明");
    }
    let (words, share) = (confidence(finding.confidence), percent(finding.confidence));
    Text::new(format!("{}, {share}", words.en), format!("{}，{share}", words.zh))
}

/// That the log does not decide, and between what; nothing where it does.
pub fn undecided(diagnosis: &Diagnosis) -> Option<Text> {
    let (conclusion, findings) = (diagnosis.conclusion, &diagnosis.findings);
    let candidates = candidates(findings, conclusion);
    let named: Vec<(Text, String)> = findings
        .iter()
        .filter(|finding| candidates.contains(&finding.cause.id))
        .map(|finding| ((finding.cause.title)(), percent(finding.confidence)))
        .collect();
    let mut list_en: Vec<String> = named.iter().map(|(title, share)| format!("{} ({share})", title.en)).collect();
    let mut list_zh: Vec<String> = named.iter().map(|(title, share)| format!("{}（{share}）", title.zh)).collect();
    // The first observation asks whether it was memory at all: then that is open as well.
    let asks = |outcome: &Outcome| outcome.then == CauseId::DriverOrUnrelated && !candidates.contains(&outcome.then);
    if diagnosis.decide.first().is_some_and(|first| first.outcomes.iter().any(asks)) {
        let unrelated = CAUSES.iter().find(|cause| cause.id == CauseId::DriverOrUnrelated).map(|cause| (cause.title)());
        let Text { en, zh } = unrelated.unwrap_or_default();
        list_en.push(en);
        list_zh.push(zh);
    }
    let (list_en, list_zh) = (one_of(&list_en, ", ", " or "), one_of(&list_zh, "、", "或"));
    let rest = spread_thin(findings.iter().filter(|finding| candidates.contains(&finding.cause.id)));
    let sure = findings.first().is_some_and(|first| first.confidence >= SURE_ENOUGH);
    let told = |finding: &Finding| !finding.supporting().is_empty();
    match conclusion {
        Conclusion::Proved | Conclusion::Likely => None,
        Conclusion::Family(_) | Conclusion::Open if sure && findings.first().is_some_and(told) => {
            Some(Text::new(format!("Most likely: {list_en}."), format!("很可能：{list_zh}。")))
        }
        Conclusion::Family(_) | Conclusion::Open if sure => Some(Text::new(
            format!("Most likely, going by how often failures like this have each cause: {list_en}."),
            format!("很可能（按此类故障中各原因的出现频率）：{list_zh}。"),
        )),
        Conclusion::Family(family) => {
            // The headline tells of a limit: the machine's memory is another matter.
            let limited = family == Family::Host && diagnosis.incident.event.resource == Resource::Cgroup;
            let of_the_limit = Text::new("the need of what runs under that limit", "该上限之下自身的需求");
            let family = if limited { of_the_limit } else { family.name() };
            Some(Text::new(
                format!("Undecided, though most likely {}: {list_en}{}.", family.en, rest.en),
                format!("未定，但很可能是{}：{list_zh}{}。", family.zh, rest.zh),
            ))
        }
        Conclusion::Open if named.is_empty() => None,
        Conclusion::Open => {
            Some(Text::new(format!("Undecided: {list_en}{}.", rest.en), format!("未定：{list_zh}{}。", rest.zh)))
        }
    }
}

/// What the shares of those that are named leave, where that is much: it is spread over causes each less likely.
fn spread_thin<'a>(named: impl Iterator<Item = &'a Finding>) -> Text {
    /// Less is rounding, and what is kept for causes of no list.
    const WORTH_TELLING: f64 = 0.25;
    let rest = 1.0 - named.map(|finding| finding.confidence).sum::<f64>();
    if rest < WORTH_TELLING {
        return Text::default();
    }
    let rest = percent(rest);
    Text::new(format!("; {rest} is spread over others"), format!("；其余 {rest} 分散在其他原因上"))
}

/// What stands before a first cause that stands out: on what it rests where no line speaks for it.
pub fn why(first: &Finding) -> Text {
    if first.supporting().is_empty() && first.evidence.iter().all(|evidence| evidence.weight <= 0.0) {
        return Text::new("Why, going by how often failures like this have it: ", "原因（按此类故障中的出现频率）：");
    }
    Text::new("Why: ", "原因：")
}

/// On what a first cause rests where no line speaks for it before its rivals.
pub fn rests_on(first: &Finding, incident: &Incident) -> Text {
    /// A device that the job's own tensors fill: the account tells whose need it is.
    const FILLED: f64 = 0.75;
    let filled = allocated_share(incident).filter(|share| *share >= FILLED && first.cause.id == CauseId::Capacity);
    match filled.map(percent) {
        Some(part) => text!(
            en: "The account speaks for it: {part} of the device are the job's own tensors. That it is no peak and no \
                 leak goes by how often failures like this have each cause.",
            zh: "账目支持它：设备的 {part} 是任务自己的张量。至于不是峰值或泄漏，则按此类故障中各原因的出现频率。"
        ),
        None => Text::new(
            "No line of the log speaks for it by itself: the share is how often failures like this have this cause.",
            "日志中没有哪一行单独支持它：百分比是此类故障中该原因的出现频率。",
        ),
    }
}

/// On what the shares rest where nothing in the log is told for any of the causes that it leaves open.
pub fn rests_on_frequency() -> Text {
    Text::new(
        "What was recognised in the log decides between none of them: the shares are how often failures like this \
         have each cause.",
        "日志中识别到的内容不足以在它们之间作出判断：百分比是此类故障中各原因的出现频率。",
    )
}

/// Several of which one holds: "a, b or c".
fn one_of(all: &[String], comma: &str, or: &str) -> String {
    match all.split_last() {
        // Between a Chinese word and a Latin one stands a space.
        Some((last, rest)) if !rest.is_empty() && !or.is_ascii() && last.starts_with(|c: char| c.is_ascii()) => {
            format!("{}{or} {last}", rest.join(comma))
        }
        Some((last, rest)) if !rest.is_empty() => format!("{}{or}{last}", rest.join(comma)),
        _ => all.concat(),
    }
}

/// That the model does not fit its device whatever is done about batches, where arithmetic proves it; a sentence that
/// stands before all others.
pub fn never_fits(incident: &Incident) -> Option<Text> {
    let proofs = incident.proofs();
    let states = proof::of(&proofs, ProofKind::StatesExceedDevice).filter(|states| states.certain())?;
    let made_of = incident.context.model_states(&incident.event)?.made_of;
    let (need, all) = (Bytes(states.amount.low.max(0) as u64), Bytes(states.against.middle_bytes()));
    Some(Text::new(
        format!("This model never fits: {} take at least {need}; the device has {all}. ", made_of.en),
        format!("该模型无论如何都放不下：{}至少需要 {need}，而设备只有 {all}。", made_of.zh),
    ))
}

/// A share of the device from which on memory of which nobody says whose it is comes before the rest.
const UNEXPLAINED: f64 = 0.1;

/// What a context with many libraries takes, at the most.
const LARGE_CONTEXT: i128 = GIB as i128;

/// What a reader should know before the causes: memory of the device of which the message does not say whose it is, and
/// a reading of free memory that was taken at another time.
pub fn beforehand(incident: &Incident) -> Vec<Text> {
    let mut told = Vec::new();
    let ledger = &incident.ledger;
    if let (Some(outside), Some(short), Some(capacity)) = (ledger.outside, ledger.short_of_free, ledger.capacity)
        && ledger.others.is_none()
        && outside.middle() as f64 >= UNEXPLAINED * capacity.middle() as f64
        && short.low > 0
        && outside.low - LARGE_CONTEXT >= short.high
    {
        // The figure that the account has for it.
        let held = Bytes(ledger.non_framework.unwrap_or(outside).middle_bytes());
        let missing = signed(short.middle());
        let tool = incident.event.accelerator().tool();
        told.push(if ledger.non_framework.is_some() {
            text!(
                en: "This process holds {held} outside the framework's allocator, where a context takes 0.3 to 1 GiB; \
                     {missing} was missing.",
                zh: "本进程在框架分配器之外占用 {held}，而上下文通常只占 0.3 到 1 GiB；缺口为 {missing}。"
            )
        } else if ledger.reserved.is_none() {
            text!(
                en: "{held} of the device is neither allocated nor free: what is cached, which the message does not \
                     tell, a context of 0.3 to 1 GiB, and others. {missing} was missing; {tool} shows whose it is.",
                zh: "设备中有 {held} 既未分配也非空闲：包括报错未给出的缓存、0.3 到 1 GiB 的上下文和其他占用。\
                     缺口为 {missing}；归属可用 {tool} 查看。"
            )
        } else {
            text!(
                en: "{held} of the device is neither this framework's nor free; its context takes 0.3 to 1 GiB of \
                     that, and {missing} was missing. {tool} shows whose the rest is.",
                zh: "设备中有 {held} 既不属于本框架也非空闲，其中上下文通常占 0.3 到 1 GiB；缺口为 {missing}。其余\
                     属于谁可用 {tool} 查看。"
            )
        });
    }
    let device = incident.event.facts.device.value();
    if let (Some(free), Some(requested)) = (ledger.free, ledger.requested)
        && let Some(later) = incident.context.free_told.iter().find(|reading| {
            Some(reading.device) == device
                && reading.bytes > 4.0 * free.high.max(1) as f64
                && reading.bytes > 2.0 * requested.high as f64
        })
    {
        let (read, line) = (Bytes(later.bytes as u64), later.line);
        told.push(text!(
            en: "The {read} of free memory in line {line} was read at another time, most likely after the job had \
                 ended: it would have held what was asked for.",
            zh: "第 {line} 行的空闲 {read} 是在其他时刻读取的，很可能在任务已退出之后：\
                 当时若有这么多空闲，请求早已满足。"
        ));
    }
    told
}

/// What each outcome of an observation means, causes with the same outcome together: those of the first `most` causes.
pub fn outcomes(observation: &Observation, most: usize) -> Text {
    let mut groups: Vec<(&Text, Vec<Text>)> = Vec::new();
    for outcome in observation.outcomes.iter().take(most) {
        let title = CAUSES.iter().find(|cause| cause.id == outcome.then).map(|cause| (cause.title)());
        let title = title.unwrap_or_else(|| Text::same(outcome.then.id()));
        match groups.iter_mut().find(|(see, _)| *see == &outcome.see) {
            Some((_, causes)) => causes.push(title),
            None => groups.push((&outcome.see, vec![title])),
        }
    }
    let lines = |see: fn(&Text) -> &str, arrow: &str, comma: &str, or: &str, end: &str| {
        let each = groups.iter().map(|(seen, causes)| {
            let causes: Vec<String> = causes.iter().map(|cause| see(cause).to_string()).collect();
            format!("{}{arrow}{}", see(seen), one_of(&causes, comma, or))
        });
        each.collect::<Vec<_>>().join(end)
    };
    Text::new(
        lines(|text| text.in_lang(Lang::En), " → ", ", ", " or ", "; "),
        lines(|text| text.in_lang(Lang::Zh), " → ", "、", "或", "；"),
    )
}

pub fn holder(holder: Holder) -> Text {
    match holder {
        Holder::Allocated => Text::new("allocated", "已分配"),
        Holder::Cached => Text::new("cached", "缓存未用"),
        Holder::PrivatePools => Text::new("private pools, free", "私有池空闲"),
        Holder::NonFramework => Text::new("context, libraries", "上下文与库"),
        Holder::ThisProcess => Text::new("this process", "本进程"),
        Holder::OtherProcess(pid) => text!(en: "process {pid}", zh: "进程 {pid}"),
        Holder::Outside => Text::new("context, others", "上下文与其他进程"),
        Holder::Free => Text::new("free", "空闲"),
        Holder::Unexplained => Text::new("unexplained", "去向不明"),
        Holder::Victim => Text::new("the killed process", "被杀进程"),
        Holder::Tasks => Text::new("its processes", "其中的进程"),
        Holder::OtherTasks => Text::new("other processes", "其他进程"),
        Holder::SharedFiles => Text::new("shared memory, tmpfs", "共享内存与 tmpfs"),
        Holder::Kernel => Text::new("page tables, kernel", "页表与内核"),
        Holder::FileCache => Text::new("file cache", "文件缓存"),
        Holder::Unlisted => Text::new("not among those listed", "未列出的占用"),
        Holder::TrainingProcesses => Text::new("training processes", "训练进程"),
        Holder::Workers => Text::new("workers' own pages", "worker 私有内存"),
        Holder::PrefetchedBatches => Text::new("prefetched batches", "预取批次"),
        Holder::PinnedBatches => Text::new("pinned batches", "锁页批次"),
        Holder::SampleCaches => Text::new("cached samples", "样本缓存"),
    }
}

/// What a holder is, in full.
pub fn holder_meaning(holder: Holder) -> Text {
    match holder {
        Holder::Allocated => Text::new("allocated by the framework", "框架分配器已分配"),
        Holder::Cached => Text::new("held by the framework's allocator, not in use", "框架分配器保留但未使用"),
        Holder::PrivatePools => Text::new("free in private pools (CUDA graphs)", "私有池（CUDA Graph）中的空闲"),
        Holder::NonFramework => {
            Text::new("this process outside the framework: context, libraries", "本进程、框架之外：上下文与库")
        }
        Holder::ThisProcess => Text::new("this process, the framework included", "本进程（含框架）"),
        Holder::OtherProcess(pid) => text!(en: "another process, pid {pid}", zh: "其他进程 pid {pid}"),
        Holder::Outside => Text::new("context, libraries and other processes together", "上下文、库与其他进程合计"),
        Holder::Free => Text::new("free", "空闲"),
        Holder::Unexplained => Text::new("held by nobody that the message names", "报错未指明的占用"),
        Holder::Victim => {
            Text::new("private pages of the process that was killed or failed", "被杀或失败进程的私有内存")
        }
        Holder::Tasks => Text::new("the processes that share the limit", "共享该上限的进程"),
        Holder::OtherTasks => Text::new("the other processes that share the limit", "共享该上限的其他进程"),
        Holder::SharedFiles => Text::new("files in /dev/shm and tmpfs", "/dev/shm 与 tmpfs 中的文件"),
        Holder::Kernel => Text::new("page tables and kernel objects", "页表与内核对象"),
        Holder::FileCache => Text::new("cached files, which can be dropped", "可回收的文件缓存"),
        Holder::Unlisted => Text::new("in use, but by none of the processes listed", "已使用，但不属于列出的任何进程"),
        Holder::TrainingProcesses => Text::new("the training processes (computed)", "训练进程（计算值）"),
        Holder::Workers => {
            Text::new("private pages of the loader's workers (computed)", "加载 worker 的私有内存（计算值）")
        }
        Holder::PrefetchedBatches => Text::new("prefetched batches (computed)", "预取的批次（计算值）"),
        Holder::PinnedBatches => Text::new("pinned copies of batches (computed)", "批次的锁页副本（计算值）"),
        Holder::SampleCaches => {
            Text::new("cached samples after one epoch (computed)", "一个 epoch 后的样本缓存（计算值）")
        }
    }
}

/// The place that was too small, as the subject of "… ran out".
pub fn place(resource: Resource, device: Option<u32>, accelerator: Accelerator) -> Text {
    let text = on_a_gpu(resource, device);
    match accelerator {
        Accelerator::Tpu if resource == Resource::CudaSharedMemory => {
            Text::new("The TPU's vector memory (VMEM)", "TPU 的向量内存（VMEM）")
        }
        Accelerator::Tpu | Accelerator::Npu => {
            let name = accelerator.id().to_ascii_uppercase();
            Text::new(text.en.replace("GPU", &name), text.zh.replace("GPU", &name))
        }
        _ => text,
    }
}

fn on_a_gpu(resource: Resource, device: Option<u32>) -> Text {
    match (resource, device) {
        (Resource::Gpu, Some(n)) => text!(en: "GPU {n}", zh: "GPU {n} 显存"),
        (Resource::Gpu, None) => Text::new("The GPU", "GPU 显存"),
        (Resource::KvCache, Some(n)) => text!(en: "The KV cache on GPU {n}", zh: "GPU {n} 的 KV 缓存"),
        (Resource::KvCache, None) => Text::new("The KV cache", "KV 缓存"),
        (Resource::Host, _) => Text::new("The machine's RAM", "主机内存"),
        (Resource::Cgroup, _) => Text::new("The memory limit of the container or job", "容器或作业的内存限额"),
        (Resource::Shm, _) => Text::new("Shared memory (/dev/shm)", "共享内存（/dev/shm）"),
        (Resource::CudaSharedMemory, Some(n)) => {
            text!(en: "The on-chip shared memory of GPU {n}", zh: "GPU {n} 的片上共享内存")
        }
        (Resource::CudaSharedMemory, None) => Text::new("The GPU's on-chip shared memory", "GPU 片上共享内存"),
    }
}

pub fn phase(phase: Phase) -> Text {
    match phase {
        Phase::Load => Text::new("while loading the model", "加载模型时"),
        Phase::Resume => Text::new("while restoring a checkpoint", "恢复检查点时"),
        Phase::Forward => Text::new("in the forward pass", "前向传播时"),
        Phase::Loss => Text::new("in the loss", "计算损失时"),
        Phase::Backward => Text::new("in the backward pass", "反向传播时"),
        Phase::OptimizerStep => Text::new("in the optimizer step", "优化器更新时"),
        Phase::Train => Text::new("in training", "训练中"),
        Phase::Validation => Text::new("in validation", "验证阶段"),
        Phase::Checkpoint => Text::new("while saving a checkpoint", "保存检查点时"),
        Phase::Inference => Text::new("in inference", "推理时"),
        Phase::Decode => Text::new("while decoding latents", "解码 latent 时"),
        Phase::Compile => Text::new("while compiling", "编译时"),
        Phase::Warmup => Text::new("in warm-up or graph capture", "预热或图捕获时"),
        Phase::DataLoading => Text::new("while loading data", "加载数据时"),
        Phase::CommunicatorSetup => Text::new("while setting up a communicator", "建立通信域时"),
        Phase::OptimizerSetup => Text::new("while setting up the optimizer", "初始化优化器时"),
    }
}

pub fn precision(precision: Precision) -> &'static str {
    match precision {
        Precision::Fp32 => "fp32",
        Precision::Fp16 => "fp16",
        Precision::Bf16 => "bf16",
        Precision::Mixed => "mixed",
        Precision::Int8 => "int8",
        Precision::Int4 => "int4",
        Precision::Fp8 => "fp8",
    }
}

pub fn platform(platform: Platform) -> &'static str {
    match platform {
        Platform::Linux => "Linux",
        Platform::Windows => "Windows",
        Platform::Wsl => "WSL",
        Platform::MacOs => "macOS",
        Platform::Bsd => "BSD",
        Platform::Jetson => "Jetson",
    }
}

/// How sure it is that a fix cures.
pub fn certainty(certainty: Certainty) -> Text {
    match certainty {
        Certainty::Arithmetic => Text::new("follows from the printed figures", "由打印的数字直接推出"),
        Certainty::Likely => Text::new("from the figures and a model", "由数字与模型估算"),
        Certainty::RuleOfThumb => Text::new("rule of thumb", "经验法则"),
    }
}

/// What a fix changes about results; nothing where it changes none.
pub fn numerics(numerics: Numerics) -> Option<Text> {
    match numerics {
        Numerics::Same => None,
        Numerics::Benign => Some(Text::new("results differ slightly", "结果略有差异")),
        Numerics::Optimisation => Some(Text::new("changes training dynamics", "影响训练动态")),
        Numerics::Model => Some(Text::new("changes the model or its quality", "影响模型或质量")),
    }
}

/// What a fix frees, in a few words.
pub fn frees(frees: &Frees) -> Text {
    match frees {
        Frees::Unknown(_) => Text::new("frees: unknown", "释放量未知"),
        Frees::Bytes { range, .. } if range.high <= 0 => Text::new("frees nothing by itself", "本身不释放显存"),
        Frees::Bytes { range, of, .. } if range.low <= 0 => {
            let most = at_most(range.high);
            match of {
                Part::Request => text!(en: "asks for up to {most} less", zh: "最多少申请 {most}"),
                _ => text!(en: "frees up to {most}", zh: "最多释放 {most}"),
            }
        }
        Frees::Bytes { range, of, .. } => {
            let amount = spread(*range);
            match of {
                Part::Request => text!(en: "asks for {amount} less", zh: "少申请 {amount}"),
                _ => text!(en: "frees {amount}", zh: "释放 {amount}"),
            }
        }
    }
}

/// An amount in two or three digits, rounded down: what is printed never exceeds what it was computed from.
fn at_most(bytes: i128) -> String {
    let Ok(whole) = u64::try_from(bytes) else { return signed(bytes) };
    let (step, _, decimals) = digits(whole as f64, whole / 100);
    let step = step as f64 / f64::from(10_u32.pow(decimals as u32));
    // The product of a printed figure and its unit may fall short of it by the last bit.
    rounded(((whole as f64 / step) + 1e-6).floor() * step, whole / 100)
}

/// Both ends of an estimate, unless they print alike.
fn spread(estimate: Interval) -> String {
    let (low, high) = (at_most(estimate.low), at_most(estimate.high));
    match (low.rsplit_once(' '), high.rsplit_once(' ')) {
        _ if low == high => low,
        (Some((number, a)), Some((_, b))) if a == b => format!("{number}–{high}"),
        _ => format!("{low}–{high}"),
    }
}

/// What a fix costs in speed, in a few words.
pub fn slowdown((low, high): (f64, f64)) -> Text {
    let whole = |share: f64| format!("{:.0}", (share * 100.0).abs());
    let (a, b) = (whole(low), whole(high));
    if high <= 0.005 && low >= -0.005 {
        Text::new("no slowdown", "不影响速度")
    } else if high <= 0.0 {
        let range = if a == b { a } else { format!("{b}–{a}") };
        text!(en: "{range} % faster", zh: "提速 {range} %")
    } else if low < 0.0 {
        text!(en: "{a} % faster to {b} % slower", zh: "提速 {a} % 至变慢 {b} %")
    } else {
        let range = if a == b { a } else { format!("{a}–{b}") };
        text!(en: "{range} % slower", zh: "变慢 {range} %")
    }
}

/// `oom.pickle, entry 289`.
pub fn entry(entry: &TraceEntry) -> Text {
    let name = entry.source.rsplit(['/', '\\']).next().unwrap_or(&entry.source);
    match entry.event {
        Some(event) => {
            let number = u64::from(event) + 1;
            text!(en: "{name}, entry {number}", zh: "{name} 第 {number} 条")
        }
        None => Text::same(name),
    }
}

/// Who holds most of what a snapshot shows, in a line.
pub fn holds_most(recording: &Recording, held: &HeldAt) -> Text {
    let (bytes, share) = (Bytes(held.bytes), percent(recording.share(held.bytes)));
    Text::new(
        format!("{bytes} ({share}) held by {}", held.place.en),
        format!("{bytes}（{share}）由 {} 持有", held.place.zh),
    )
}

/// One place that holds memory, behind its bytes and their share.
pub fn held(held: &HeldAt) -> Text {
    let (kind, sure, blocks) = (held.category.text(), held.certainty.text(), held.blocks);
    let (place, noun) = (&held.place, if blocks == 1 { "block" } else { "blocks" });
    let (kind_en, kind_zh) = match held.category {
        Category::Unknown => (String::new(), String::new()),
        _ => (format!(", {} ({})", kind.en, sure.en), format!("，{}（{}）", kind.zh, sure.zh)),
    };
    Text::new(format!("{}, {blocks} {noun}{kind_en}", place.en), format!("{}，{blocks} 个 block{kind_zh}", place.zh))
}

/// How a variation ended.
pub fn trial(trial: &Trial) -> Text {
    match &trial.verdict {
        Verdict::Serves { peak_reserved, to_the_end } => {
            let peak = Bytes(*peak_reserved);
            if *to_the_end {
                text!(en: "served, {peak} reserved at most", zh: "可以满足，最多保留 {peak}")
            } else {
                text!(
                    en: "this request is served, a later one fails; {peak} reserved at most",
                    zh: "这次申请可以满足，之后的失败；最多保留 {peak}"
                )
            }
        }
        Verdict::Fails { bytes } => {
            let bytes = Bytes(*bytes);
            text!(en: "fails all the same, on {bytes}", zh: "依然失败（申请 {bytes}）")
        }
        Verdict::Unclear => Text::new("cannot be told", "无法判断"),
        Verdict::Refused(why) => {
            Text::new(format!("PyTorch refuses it: {}", why.en), format!("PyTorch 拒绝该设置：{}", why.zh))
        }
    }
}

/// The growth in a sentence.
pub fn rise(rise: &Rise) -> Text {
    let (first, last, each, n) = (Bytes(rise.first), Bytes(rise.last), Bytes(rise.per_window), rise.windows);
    let mut out = if rise.by_steps {
        text!(
            en: "From {first} to {last} over {n} steps of the optimizer, {each} in each.",
            zh: "{n} 个优化器步内从 {first} 增长到 {last}，每步 {each}。"
        )
    } else {
        text!(
            en: "From {first} to {last} in {n} equal stretches of the recording, about {each} in each.",
            zh: "记录等分为 {n} 段，从 {first} 增长到 {last}，每段约 {each}。"
        )
    };
    for (place, bytes) in rise.places.iter().take(4) {
        let bytes = Bytes(*bytes);
        out.en += &format!(" {bytes} at {}.", place.en);
        out.zh += &format!("其中 {bytes} 来自 {}。", place.zh);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_carries_a_high_share_is_not_called_undecided() {
        let incident = crate::cause::trial::torch(&crate::cause::trial::FULL_CARD);
        let mut diagnosis = super::super::sample::explanation().diagnoses.remove(0);
        diagnosis.findings = crate::cause::rank(&incident);
        diagnosis.decide = Vec::new();
        diagnosis.conclusion = Conclusion::Family(Family::OwnNeed);
        let mut told = |share| {
            diagnosis.findings[0].confidence = share;
            undecided(&diagnosis).expect("it is open").en
        };
        assert!(told(0.84).starts_with("Most likely, going by how often"));
        assert!(told(0.7).starts_with("Undecided"));
    }

    #[test]
    fn an_upper_bound_is_rounded_down() {
        let most = |gib: f64| at_most((gib * GIB as f64) as i128);
        assert_eq!((most(2.24), most(37.61), most(9.0), most(0.5)), tuple("2.2 GiB", "37 GiB", "9.0 GiB", "512 MiB"));
        for hundredth in 1..4000 {
            let bytes = i128::from(hundredth) * (GIB / 100) as i128;
            let printed = at_most(bytes);
            let (number, unit) = printed.split_once(' ').expect("a number and a unit");
            let unit = if unit == "GiB" { GIB } else { crate::units::MIB };
            let value = number.parse::<f64>().expect("a number") * unit as f64;
            assert!(value <= bytes as f64 * (1.0 + 1e-6), "{printed}");
        }
    }

    fn tuple(a: &str, b: &str, c: &str, d: &str) -> (String, String, String, String) {
        (a.into(), b.into(), c.into(), d.into())
    }
    use crate::text::Lang;

    #[test]
    fn memory_of_nobody_is_told_where_more_than_a_context_of_it_was_missing() {
        use crate::cause::trial::torch;
        use crate::dialect::Fact;
        let told = |requested, capacity, allocated, reserved, free| {
            let figures = [
                (Fact::Requested, requested),
                (Fact::Capacity, capacity),
                (Fact::Allocated, allocated),
                (Fact::Reserved, reserved),
                (Fact::Free, free),
            ];
            beforehand(&torch(&figures)).first().map(|text| text.en.clone())
        };
        let much = told("300.00 MiB", "47.50 GiB", "37.60 GiB", "37.89 GiB", "194.56 MiB");
        assert!(much.is_some_and(|text| text.starts_with("9.42 GiB")));
        assert_eq!(told("1012.00 MiB", "3.95 GiB", "2.53 GiB", "2.55 GiB", "181.01 MiB"), None, "about a context");
        assert_eq!(told("20.00 MiB", "8.00 GiB", "2.00 GiB", "2.10 GiB", "2.43 GiB"), None, "nothing was missing");
    }

    #[test]
    fn confidence_never_reads_as_proof() {
        assert_eq!(percent(0.999), ">99 %");
        assert_eq!(percent(0.004), "<1 %");
        assert_eq!(confidence(0.9).in_lang(Lang::En), "very likely");
        assert_eq!(confidence(0.44).in_lang(Lang::Zh), "也有可能");
    }

    #[test]
    fn cost_in_words() {
        assert_eq!(slowdown((0.0, 0.0)).en, "no slowdown");
        assert_eq!(slowdown((0.2, 0.35)).en, "20–35 % slower");
        assert_eq!(slowdown((-0.3, -0.1)).en, "10–30 % faster");
        assert_eq!(slowdown((-0.05, 0.1)).zh, "提速 5 % 至变慢 10 %");
    }

    #[test]
    fn locales_that_show_block_characters() {
        for yes in ["en_US.UTF-8", "zh_CN.utf8", "C.UTF-8", "de_DE.UTF-8@euro", "en-US"] {
            assert!(locale_shows_unicode(yes), "{yes}");
        }
        for no in ["C", "POSIX", "zh_CN.GBK", "en_US.ISO-8859-1"] {
            assert!(!locale_shows_unicode(no), "{no}");
        }
    }

    #[test]
    fn what_an_estimate_frees_has_no_more_digits_than_it_is_sure_of() {
        assert_eq!(spread(Interval::between(2 * GIB as i128, 3 * GIB as i128)), "2.0–3.0 GiB");
    }
}
