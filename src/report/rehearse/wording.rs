//! Words that the formats share.

use crate::domain::Verdict;
use crate::gpu::products::Provenance;
use crate::rehearse::launch::Addresses;
use crate::rehearse::model::Built;
use crate::rehearse::outcome::{Answer, Longest, Outside, Run, Take};
use crate::rehearse::process::OomReport;
use crate::rehearse::view::changes::{Change, Changes};
use crate::rehearse::view::{Level, View};
use crate::report::{Explanation, wording};
use crate::text;
use crate::text::{Text, counted};
use crate::units::{self, Bytes, GIB, Interval, MIB};

/// `21.80 … 22.31 GiB`, or one figure where both ends print alike.
pub fn span(amount: Interval) -> String {
    let (low, high) = (amount.low.max(0) as u64, amount.high.max(0) as u64);
    let (unit, name) = if high > GIB { (GIB, "GiB") } else { (MIB, "MiB") };
    let print = |bytes: u64| format!("{:.2}", bytes as f64 / unit as f64);
    match (print(low), print(high)) {
        (low, high) if low == high => format!("{low} {name}"),
        (low, high) => format!("{low} … {high} {name}"),
    }
}

/// `LlamaForCausalLM, 6,738,415,616 parameters, of which 39,976,960 are trained`.
pub fn model(built: &Built) -> Text {
    let (class, all) = (&built.class, units::grouped(built.parameters));
    let trained = units::grouped(built.trainable_parameters);
    match built.trainable_parameters {
        n if n == built.parameters => text!(en: "{class}, {all} parameters.", zh: "{class}，{all} 个参数。"),
        0 => text!(en: "{class}, {all} parameters, none trained.", zh: "{class}，{all} 个参数，均不训练。"),
        _ => text!(
            en: "{class}, {all} parameters; {trained} are trained.",
            zh: "{class}，{all} 个参数，其中训练 {trained} 个。"
        ),
    }
}

/// `5 %`.
pub fn headroom(answer: &Answer) -> String {
    let percent = answer.question.headroom * 100.0;
    if percent.fract() == 0.0 { format!("{percent:.0} %") } else { format!("{percent:.1} %") }
}

/// `in backward of step 2`.
pub fn moment(phase: Option<&str>, step: Option<u64>) -> Text {
    let phase = match phase {
        Some("forward") => Some(Text::new("the forward pass", "前向")),
        Some("backward") => Some(Text::new("the backward pass", "反向")),
        Some("optimizer") => Some(Text::new("the optimizer's step", "优化器更新")),
        Some("setup") => Some(Text::new("the setup", "准备阶段")),
        Some("evaluation") => Some(Text::new("the evaluation", "评估")),
        Some(other) => Some(Text::same(other)),
        None => None,
    };
    match (phase, step) {
        (Some(phase), Some(step)) if step > 0 => {
            Text::new(format!("in {} of step {step}", phase.en), format!("第 {step} 步的{}", phase.zh))
        }
        (Some(phase), _) => Text::new(format!("in {}", phase.en), phase.zh),
        (None, Some(step)) if step > 0 => text!(en: "in step {step}", zh: "第 {step} 步"),
        _ => Text::default(),
    }
}

/// The answer to the whole call in a sentence.
pub fn headline(answer: &Answer) -> Text {
    let gpu = &answer.question.gpu.name;
    let spare = headroom(answer);
    let compared = answer.runs.len() > 1;
    let Some(run) = answer.shown() else {
        return text!(en: "Nothing was rehearsed on the {gpu}.", zh: "没有在 {gpu} 上预演任何运行。");
    };
    if !compared {
        return verdict(answer, run);
    }
    match (answer.largest, answer.first_too_large) {
        (Some(best), Some(worse)) => {
            let why = answer.runs.iter().find(|run| run.batch == Some(worse));
            let out = why.is_some_and(|run| run.verdict == Verdict::DoesNotFit);
            let tail = match out {
                true => text!(en: "batch {worse} does not fit", zh: "批大小 {worse} 放不下"),
                false => text!(en: "batch {worse} leaves less", zh: "批大小 {worse} 的余量不足"),
            };
            let known = worse == best + 1 || answer.question.range.is_none();
            let mut text = match (known, answer.question.range.is_some()) {
                (true, true) => text!(
                    en: "Batch {best} is the largest that fits the {gpu} with {spare} to spare",
                    zh: "批大小 {best} 是在 {gpu} 上留有 {spare} 余量的最大值"
                ),
                (true, false) => text!(
                    en: "Batch {best} is the largest of these that fits the {gpu} with {spare} to spare",
                    zh: "所列批大小中，{best} 是在 {gpu} 上留有 {spare} 余量的最大值"
                ),
                (false, _) => text!(
                    en: "Batch {best} fits the {gpu} with {spare} to spare",
                    zh: "批大小 {best} 在 {gpu} 上放得下，且留有 {spare} 余量"
                ),
            };
            text.en += &format!("; {}.", tail.en);
            text.zh += &format!("；{}。", tail.zh);
            text
        }
        (Some(best), None) => text!(
            en: "Every batch up to {best} fits the {gpu} with {spare} to spare.",
            zh: "直到 {best} 的批大小在 {gpu} 上都放得下，且留有 {spare} 余量。"
        ),
        (None, _) => match answer.runs.first() {
            Some(first) if answer.verdict != Verdict::Unknown => {
                let mut text = verdict(answer, first);
                if let Some(batch) = first.batch {
                    text.en = format!("No batch fits, not even {batch}. {}", text.en);
                    text.zh = format!("没有放得下的批大小，{batch} 也不行。{}", text.zh);
                }
                text
            }
            _ => verdict(answer, run),
        },
    }
}

/// What of the program was seen, and what was not.
pub fn seen(run: &Run) -> Text {
    let Some(take) = run.takes.iter().max_by_key(|take| (take.stages.whole, take.steps)) else {
        return Text::default();
    };
    if take.stages.whole {
        return Text::new("The whole program was seen.", "看到了整个程序。");
    }
    let steps = take.steps;
    let mut seen = text!(en: "Seen: {steps} training steps", zh: "已看到：{steps} 个训练步");
    let mut unseen = Text::default();
    for (was, en, zh) in [(take.stages.evaluated, "evaluation", "评估"), (take.stages.saved, "saving", "保存")] {
        let list = if was { &mut seen } else { &mut unseen };
        let (comma, zh_comma) = if list.is_empty() { ("", "") } else { (", ", "、") };
        list.en += &format!("{comma}{en}");
        list.zh += &format!("{zh_comma}{zh}");
    }
    match take.stages.longest {
        Some(longest) if longest.whole => {
            seen.en += ", the longest batch";
            seen.zh += "、最长的批";
        }
        Some(Longest { looked, .. }) => {
            let (comma, zh_comma) = if unseen.is_empty() { ("", "") } else { (", ", "、") };
            unseen.en += &format!("{comma}batches longer than those of the first {looked} samples");
            unseen.zh += &format!("{zh_comma}比前 {looked} 个样本更长的批");
        }
        None => {}
    }
    let (comma, zh_comma) = if unseen.is_empty() { ("", "") } else { (", ", "、") };
    Text::new(
        format!("{}; not seen: {}{comma}what comes later.", seen.en, unseen.en),
        format!("{}；未看到：{}{zh_comma}之后的部分。", seen.zh, unseen.zh),
    )
}

/// The verdict on one run in a sentence or two, and what it rests on.
pub fn verdict(answer: &Answer, run: &Run) -> Text {
    let mut out = bare_verdict(answer, run);
    if matches!(run.verdict, Verdict::Fits | Verdict::Tight) && run.oom().is_none() {
        let seen = seen(run);
        out.en += &format!(" {}", seen.en);
        out.zh += &seen.zh;
    }
    out
}

fn bare_verdict(answer: &Answer, run: &Run) -> Text {
    let gpu = &answer.question.gpu.name;
    let spare = headroom(answer);
    let (capacity, needed) = (Bytes(answer.capacity()), span(run.needed()));
    let (it, zh_it) = match run.batch {
        Some(batch) => (format!("Batch {batch}"), format!("批大小 {batch} ")),
        None => ("It".to_string(), "程序".to_string()),
    };
    match run.verdict {
        Verdict::Fits if run.pressed == Some(true) => text!(
            en: "{it} fits the {gpu} with {spare} to spare: PyTorch's cache grows to {reserved}, but it still ran where only {usable} were there.",
            zh: "{zh_it}在 {gpu} 上放得下，且留有 {spare} 余量：PyTorch 缓存会增长到 {reserved}，但在只有 {usable} 时仍能运行。",
            reserved = span(run.reserved()), usable = Bytes(answer.usable())
        ),
        Verdict::Fits => text!(
            en: "{it} fits the {gpu} with {spare} to spare: it needs {needed} of {capacity}.",
            zh: "{zh_it}在 {gpu} 上放得下，且留有 {spare} 余量：需要 {needed}，共 {capacity}。"
        ),
        Verdict::Tight if run.depends_on_layout() => text!(
            en: "{it} hardly fits the {gpu}: it ran out of memory with one of two layouts of the allocator's \
                 blocks.",
            zh: "{zh_it}在 {gpu} 上几乎放不下：在两种显存块布局之一下显存不足。"
        ),
        Verdict::Tight if run.oom().is_some() => text!(
            en: "{it} hardly fits the {gpu}: it ran out of memory, and runs only if the context and the libraries take no more than the lower end of their estimates.",
            zh: "{zh_it}在 {gpu} 上几乎放不下：显存不足；只有上下文与库的占用处于估计下限时才能运行。"
        ),
        Verdict::Tight if !run.is_whole() => text!(
            en: "{it} does not leave {spare} of the {gpu}: it needs at least {low} of {capacity}.",
            zh: "{zh_it}在 {gpu} 上的余量不足 {spare}：至少需要 {low}，共 {capacity}。",
            low = Bytes(run.needed().low.max(0) as u64)
        ),
        Verdict::Tight => text!(
            en: "{it} runs on the {gpu}, but may not leave {spare}: it needs {needed} of {capacity}.",
            zh: "{zh_it}能在 {gpu} 上运行，但余量可能不足 {spare}：需要 {needed}，共 {capacity}。"
        ),
        Verdict::DoesNotFit => match run.oom() {
            Some(oom) => {
                let when = moment(oom.phase.as_deref(), oom.step);
                let (en, zh) = match when.is_empty() {
                    true => (String::new(), String::new()),
                    false => (format!(" {}", when.en), format!("（{}）", when.zh)),
                };
                text!(
                    en: "{it} does not fit the {gpu}: it runs out of memory{en}.",
                    zh: "{zh_it}在 {gpu} 上放不下：显存不足{zh}。"
                )
            }
            None => text!(
                en: "{it} does not fit the {gpu}: it needs at least {low} of {capacity}.",
                zh: "{zh_it}在 {gpu} 上放不下：至少需要 {low}，而共有 {capacity}。",
                low = Bytes(run.needed().low.max(0) as u64)
            ),
        },
        Verdict::Unknown => {
            let low = Bytes(run.needed().low.max(0) as u64);
            let reason = run.shortfalls().into_iter().next().unwrap_or_default();
            let it = run.batch.map_or("it".to_string(), |batch| format!("batch {batch}"));
            if !run.ran() {
                return Text::new(
                    format!("Cannot tell whether {it} fits the {gpu}: {}.", short(&reason.en)),
                    format!("无法判断{zh_it}在 {gpu} 上是否放得下：{}。", short(&reason.zh)),
                );
            }
            let mut out = Text::new(
                format!(
                    "Cannot tell whether {it} fits the {gpu}: it needs at least {low} of {capacity}, and more is possible: {}.",
                    reason.en
                ),
                format!(
                    "无法判断{zh_it}在 {gpu} 上是否放得下：至少需要 {low}（共 {capacity}），还可能更多：{}。",
                    reason.zh
                ),
            );
            if let Some(batch) = answer.first_too_large {
                out.en += &format!(" From batch {batch} on it surely does not.");
                out.zh += &format!("批大小从 {batch} 起一定不行。");
            }
            out
        }
    }
}

/// A reason of at most two lines; the whole stands below the headline.
fn short(reason: &str) -> String {
    match reason.char_indices().nth(160) {
        Some((end, _)) => format!("{}…", reason.get(..end).unwrap_or(reason)),
        None => reason.to_string(),
    }
}

/// What was estimated or taken for granted.
pub fn assumptions(answer: &Answer) -> Vec<Text> {
    let mut out = Vec::new();
    let question = &answer.question;
    let gpu = &question.gpu;
    let (major, minor) = gpu.compute;
    if gpu.unified {
        out.push(Text::new(
            "this memory is shared with the processor: other programs and the page cache take from it",
            "该显存与处理器共享：其他程序与页缓存也会占用",
        ));
    }
    if !gpu.named {
        out.push(text!(
            en: "compute capability {major}.{minor}: it decides which attention kernels PyTorch picks; --like names a GPU",
            zh: "计算能力按 {major}.{minor}：它决定 PyTorch 选用哪种注意力实现；可用 --like 指定 GPU"
        ));
    }
    let total = span(gpu.total);
    match gpu.known {
        Some(Provenance::Reported) => out.push(text!(
            en: "CUDA reports {total} on such boards, depending on the driver; the smallest figure is used",
            zh: "CUDA 在此类 GPU 上报告 {total}（随驱动而异），取最小值"
        )),
        Some(Provenance::Derived) => out.push(text!(
            en: "CUDA's total of {total} is derived from boards of the same kind; the smallest figure is used, --gpu-memory replaces it",
            zh: "CUDA 总量 {total} 由同类 GPU 推算，取最小值；可用 --gpu-memory 指定"
        )),
        None => {}
    }
    if let Some(take) = answer.shown().and_then(Run::deciding) {
        out.extend(estimates(&take.outside));
    }
    if answer.shown().is_some_and(|run| run.takes.len() > 1) {
        out.push(Text::new(
            "where blocks fall depends on the order of the driver's addresses and on cuBLAS's workspaces: it was \
             rehearsed with addresses upwards, and with addresses downwards and workspaces out of the way; the larger \
             need decides",
            "显存块的布局取决于驱动分配地址的顺序和 cuBLAS 的工作区：已预演两种，即地址自低向高，以及地址自高\
             向低且工作区不挡路，以较大者为准",
        ));
    }
    if question.range.is_some() {
        out.push(Text::new("a larger batch never needs less memory", "批越大，所需显存不会减少"));
    }
    if let Some(ranks) = question.world.filter(|ranks| *ranks > 1) {
        out.push(text!(
            en: "the other {others} ranks do the same as rank 0",
            zh: "其余 {others} 个 rank 与 rank 0 行为相同",
            others = ranks - 1
        ));
    }
    out
}

/// What stands outside of what PyTorch counts, estimate by estimate.
pub fn estimates(outside: &Outside) -> Vec<Text> {
    let mut out = vec![
        text!(en: "the CUDA context: {amount} (estimate)", zh: "CUDA 上下文：{amount}（估计）", amount = span(outside.context)),
        text!(
            en: "kernels of the CUDA libraries, loaded at first use: {amount} (estimate)",
            zh: "CUDA 库首次使用时加载的内核：{amount}（估计）",
            amount = span(outside.libraries)
        ),
    ];
    if let Some(nccl) = outside.nccl {
        out.push(
            text!(en: "buffers of NCCL: {amount} (estimate)", zh: "NCCL 缓冲区：{amount}（估计）", amount = span(nccl)),
        );
    }
    if let Some(cudnn) = outside.cudnn {
        out.push(text!(
            en: "workspaces of cuDNN's convolutions: {amount} (estimate; its choice of algorithm is closed)",
            zh: "cuDNN 卷积工作区：{amount}（估计；其算法选择不公开）",
            amount = span(cudnn)
        ));
    }
    out
}

/// `upwards`.
pub fn order(addresses: Addresses) -> Text {
    match addresses {
        Addresses::Up => Text::new("upwards", "自低向高"),
        Addresses::Down => Text::new("downwards", "自高向低"),
    }
}

/// Where the peak was, in words.
pub fn peak_moment(take: &Take) -> Text {
    match &take.peak {
        Some(peak) => moment(peak.phase.as_deref(), peak.step),
        None => Text::default(),
    }
}

/// The frames of the program's own files, which are told relative to where it runs; all where there are none.
pub fn own_frames(stack: &[String]) -> Vec<&String> {
    let own: Vec<&String> = stack.iter().filter(|frame| !frame.starts_with('/')).collect();
    if own.is_empty() { stack.iter().collect() } else { own }
}

/// `train.py:88 step` → (`train.py`, 88).
pub fn file_and_line(frame: &str) -> Option<(String, u64)> {
    let place = frame.rsplit_once(' ').map_or(frame, |(place, _)| place);
    let (file, line) = place.rsplit_once(':')?;
    (!file.is_empty()).then_some(())?;
    Some((file.to_string(), line.parse().ok()?))
}

/// The message, what it comes from and what would help, as plain lines.
pub fn oom_details(oom: &OomReport, explanation: Option<&Explanation>) -> Text {
    let mut out = Text::same(oom.message.trim());
    for frame in oom.stack.iter().take(8) {
        out.en += &format!("\n  at {frame}");
        out.zh += &format!("\n  位于 {frame}");
    }
    if let Some(diagnosis) = explanation.and_then(Explanation::primary) {
        for finding in diagnosis.findings.iter().take(1) {
            let title = (finding.cause.title)();
            let sure = units::percent(finding.confidence);
            out.en += &format!("\n\nMost likely cause: {} ({sure})", title.en);
            out.zh += &format!("\n\n最可能的原因：{}（{sure}）", title.zh);
        }
        for (i, ranked) in diagnosis.plan.offers.iter().take(3).enumerate() {
            let (title, frees) = (ranked.title(), wording::frees(&ranked.offer.frees));
            out.en += &format!("\n{}. {}: {}", i + 1, title.en, frees.en);
            out.zh += &format!("\n{}. {}：{}", i + 1, title.zh, frees.zh);
        }
    }
    out
}

/// What keeps the user's files and network from the program, in a sentence.
pub fn protection(view: &View) -> Text {
    let files = match view.level {
        Level::Overlay => Text::new(
            "Nothing of yours was changed: the program ran on a private copy-on-write view of all files",
            "你的文件没有任何改动：程序在全部文件的私有写时复制视图上运行",
        ),
        Level::Landlock => Text::new(
            "Nothing of yours was changed: the kernel refused all writes; those of Python went into a private folder",
            "你的文件没有任何改动：内核拒绝了所有写入，Python 的写入转到了私有目录",
        ),
        Level::Agent => Text::new(
            "The writes of Python itself went into a private folder, and programs that could write past it were not \
             started; what libraries write by themselves (image writers, HDF5) is not seen and reached your files",
            "Python 自身的写入转到了私有目录，可能绕过它写入的程序没有启动；库自行写入的内容（图像写入、HDF5 等）\
             看不到，并会直接写到你的文件",
        ),
        Level::Off => Text::new(
            "The program wrote your files themselves (--allow-writes), but for checkpoints",
            "程序直接写入了你的文件（--allow-writes），检查点除外",
        ),
    };
    match (view.offline, view.level) {
        (true, Level::Overlay) => {
            Text::new(format!("{}, without network.", files.en), format!("{}，且没有网络。", files.zh))
        }
        (true, _) => Text::new(
            format!("{}. Python's connections to other machines were refused.", files.en),
            format!("{}。Python 到其他机器的连接已被拒绝。", files.zh),
        ),
        (false, _) => Text::new(format!("{}.", files.en), format!("{}。", files.zh)),
    }
}

/// What would have happened to the user's files: removed, replaced, written; `most` of each are named.
pub fn changes(changes: &Changes, most: usize) -> Vec<Text> {
    let here = std::env::current_dir().unwrap_or_default();
    let named = |list: &[Change]| {
        let name = |change: &Change| {
            let path = change.path.strip_prefix(&here).unwrap_or(&change.path).display();
            let (files, counted, size) = (change.files, counted(change.files, "file", "files"), Bytes(change.bytes));
            match change.folder {
                true => text!(en: "{path}/ ({counted}, {size})", zh: "{path}/（{files} 个文件，{size}）"),
                false => text!(en: "{path} ({size})", zh: "{path}（{size}）"),
            }
        };
        let mut names: Vec<Text> = list.iter().take(most).map(name).collect();
        if let Some(more) = list.len().checked_sub(most).filter(|more| *more > 0) {
            names.push(text!(en: "{more} more", zh: "另外 {more} 项"));
        }
        let join = |words: Vec<&str>, by: &str| words.join(by);
        Text::new(
            join(names.iter().map(|text| text.en.as_str()).collect(), ", "),
            join(names.iter().map(|text| text.zh.as_str()).collect(), "、"),
        )
    };
    let mut out = Vec::new();
    for (list, en, zh) in [
        (&changes.removed, "would have been removed", "本会被删除"),
        (&changes.replaced, "would have been overwritten", "本会被覆盖"),
        (&changes.created, "would have been written", "本会被写入"),
    ] {
        if !list.is_empty() {
            let names = named(list);
            out.push(Text::new(format!("{en}: {}", names.en), format!("{zh}：{}", names.zh)));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_agent_alone_promises_no_more_than_the_writes_of_python() {
        let said = |level| protection(&View { level, offline: false, program: None }).en;
        assert!(said(Level::Overlay).starts_with("Nothing of yours was changed"));
        let agent = said(Level::Agent);
        assert!(!agent.contains("Nothing of yours") && agent.contains("is not seen"), "{agent}");
    }
}
