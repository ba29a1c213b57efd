//! What came of a rehearsal: one take, the takes of one batch, and the answer to the whole question.
//!
//! A take is one run of the program with one order of addresses. What the program needs on a real GPU is the peak that
//! PyTorch reserved, and on top of it what stands outside of PyTorch's count and is estimated: [`Outside`].

use super::gpus::{self, Gpu};
use super::launch::{Addresses, Exit, Values};
use super::model::Built;
use super::process::{Ended, OomReport, PeakPlace, ProcessReport, Trap};
use super::remedy::Tried;
use super::view::View;
use super::view::changes::Changes;
use crate::domain::{Verdict, named_variants};
use crate::order::InOrder;
use crate::text;
use crate::text::{Text, counted};
use crate::units::{Bytes, Interval, MIB};

/// Optimizer steps after which the peak is complete: the first makes the optimizer's state, the second runs beside it.
const COMPLETE: u64 = 2;

/// Lines of a failed program's standard error that are kept.
const LAST_LINES: usize = 12;
/// Places that are named of a kind of traps.
const PLACES: usize = 3;

/// Most that convolutions' workspaces add to the peak reserved, as a share of it: 20 runs of CNNs on an RTX 3060 needed
/// 0.91 to 1.20 times what was rehearsed without any, 11 others 0.90 to 1.14 times (docs/rehearse-accuracy.md).
const WORKSPACE_SHARE: f64 = 0.20;
/// Most that they spare: what one of them leaves in the cache serves later requests.
const WORKSPACE_SPARES: f64 = 0.10;

/// What a process holds that PyTorch does not count or the simulated device does not know.
#[derive(Debug, Clone, PartialEq)]
pub struct Outside {
    pub context: Interval,
    /// Kernels of CUDA's libraries that are loaded at first use.
    pub libraries: Interval,
    /// Buffers of NCCL; `None` in a job of one process.
    pub nccl: Option<Interval>,
    /// Workspaces of cuDNN, in PyTorch's count but chosen by a closed heuristic; `None` where no convolution ran.
    pub cudnn: Option<Interval>,
}

impl Outside {
    /// For a GPU, before anything is known of the program.
    pub fn of(gpu: &Gpu, world: Option<u32>) -> Outside {
        Outside {
            context: gpu.context,
            libraries: gpus::libraries(None),
            nccl: world.filter(|ranks| *ranks > 1).map(|_| nccl()),
            cudnn: None,
        }
    }

    /// With what the processes of a take told.
    fn seen_in(mut self, processes: &[ProcessReport]) -> Outside {
        let cuda = processes.iter().find_map(|process| cuda_major(process.torch.as_deref()?));
        self.libraries = gpus::libraries(cuda);
        if processes.iter().any(|process| process.world_size.is_some_and(|ranks| ranks > 1)) {
            self.nccl = Some(nccl());
        }
        let flag =
            |process: &ProcessReport, name: &str| process.settings.get(name).and_then(|v| v.as_bool()) == Some(true);
        if processes.iter().any(|process| flag(process, "convolutions")) {
            // Without benchmark mode PyTorch asks a heuristic and takes the next algorithm where the workspace does not
            // fit; with it, every algorithm is tried.
            let searching = processes.iter().any(|process| flag(process, "cudnn_benchmark"));
            let least = if searching { 1024 * MIB } else { 256 * MIB };
            let reserved =
                processes.iter().flat_map(|process| &process.devices).map(|device| device.peak_reserved_bytes);
            let share = reserved.max().unwrap_or(0) as f64 * WORKSPACE_SHARE;
            self.cudnn = Some(Interval::between(0, i128::from(least.max(share as u64))));
        }
        self
    }

    pub fn sum(&self) -> Interval {
        [Some(self.context), Some(self.libraries), self.nccl, self.cudnn].into_iter().flatten().sum()
    }

    /// Bytes that the simulated device takes for them: the middle of what stands outside of PyTorch's count.
    pub fn simulated(&self) -> u64 {
        [Some(self.context), Some(self.libraries), self.nccl].into_iter().flatten().sum::<Interval>().middle_bytes()
    }
}

/// Buffers of NCCL in a process: 544 MiB seen for two ranks of one node, 688 MiB for more, 1.6 GiB with several kinds
/// of links.
fn nccl() -> Interval {
    Interval::between(i128::from(256 * MIB), i128::from(1640 * MIB))
}

/// `2.11.0+cu130` → 13.
fn cuda_major(torch: &str) -> Option<u32> {
    let digits = torch.split_once("+cu")?.1;
    digits.get(..2)?.parse().ok()
}

named_variants! {
    /// How a take ended.
    #[derive(Debug, Clone, PartialEq)]
    pub enum End {
        /// The steps asked for were done, or the program ended by itself without an error.
        Done = "done",
        /// An out-of-memory error ended it, or kept it from its steps.
        OutOfMemory(OomReport) = "out-of-memory",
        /// Something else; why, and the last lines that it wrote.
        Failed(Text) = "failed",
        /// The time was up before the peak was complete.
        TimeUp = "time-up",
    }
}

/// One run with one order of addresses.
#[derive(Debug, Clone, PartialEq)]
pub struct Take {
    pub addresses: Addresses,
    pub end: End,
    pub seconds: f64,
    pub steps: u64,
    /// Peaks of the process and device that reserved most.
    pub allocated: u64,
    pub reserved: u64,
    /// Times that the cache was given back because the device was full.
    pub retries: u64,
    /// Processes that used the fullest device at the same time: the peaks are their sums.
    pub processes: usize,
    /// The use grew with each of the last steps.
    pub growth: Option<Growth>,
    pub stages: Stages,
    pub outside: Outside,
    pub peak: Option<PeakPlace>,
    pub traps: Vec<Trap>,
    pub notes: Vec<Text>,
    pub batch: Option<u64>,
    pub torch: Option<String>,
    /// The model that was built from a description.
    pub model: Option<Built>,
    /// What was asked for less what was free when it ran out of memory, where the message tells.
    pub missing: Option<u64>,
    /// The type of the exception that ended the program.
    pub exception: Option<String>,
    /// The last lines that the program wrote to standard error, where it failed.
    pub last_words: Vec<String>,
    /// What it wrote and removed in its view of the files.
    pub changes: Changes,
    /// Variables of the environment that it did not get.
    pub kept_back: Vec<String>,
}

/// The device that holds most, over all processes that used it at the same time.
#[derive(Default)]
struct Fullest {
    device: u32,
    processes: usize,
    allocated: u64,
    reserved: u64,
}

impl Fullest {
    fn of(processes: &[ProcessReport]) -> Fullest {
        // Processes that chose different GPUs of the real machine are given the same simulated one.
        let chosen = |process: &ProcessReport| process.settings.get("visible_devices").cloned();
        let mut best = Fullest::default();
        for from in processes {
            for device in &from.devices {
                let index = device.device;
                let used = |process: &&ProcessReport| {
                    chosen(process) == chosen(from)
                        && process.devices.iter().any(|row| row.device == index && row.peak_reserved_bytes > 0)
                };
                // At the moment in which this process began: every pair that overlaps does so when one of them begins.
                let at_once = |process: &&ProcessReport| match (from.used_from, process.used_from, process.used_until) {
                    (Some(moment), Some(began), Some(until)) => began <= moment && moment < until,
                    _ => true,
                };
                let mut sum = Fullest { device: index, ..Fullest::default() };
                for process in processes.iter().filter(used).filter(at_once) {
                    sum.processes += 1;
                    for row in process.devices.iter().filter(|row| row.device == index) {
                        sum.allocated = sum.allocated.saturating_add(row.peak_allocated_bytes);
                        sum.reserved = sum.reserved.saturating_add(row.peak_reserved_bytes);
                    }
                }
                if (sum.reserved, sum.allocated) > (best.reserved, best.allocated) {
                    best = sum;
                }
            }
        }
        best
    }
}

/// Memory in use that grows with each step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Growth {
    /// Bytes a step.
    pub each: u64,
    /// The last step that was seen, and the most in use during it.
    pub step: u64,
    pub used: u64,
    /// The step in which the device is full, where its size is known.
    pub runs_out: Option<u64>,
}

impl Growth {
    /// Notes the step in which `room` bytes are used up.
    pub fn fill(&mut self, room: u64) {
        self.runs_out = Some(self.step + room.saturating_sub(self.used) / self.each.max(1) + 1);
    }

    fn text(&self) -> Text {
        let each = Bytes(self.each);
        let mut text = text!(
            en: "memory grows by {each} with each step: something keeps the tensors of earlier steps (a loss summed \
                 up with its graph, a list)",
            zh: "每一步显存增长 {each}：有对象保留了之前各步的张量（例如带计算图累加的 loss，或列表）"
        );
        if let Some(step) = self.runs_out {
            text.en += &format!("; it would run out at step {step}");
            text.zh += &format!("；到第 {step} 步将耗尽");
        }
        text
    }
}

/// Steps in a row that have to grow alike.
const GROWING: usize = 5;

/// Growth of the last steps by the same amount, within a quarter.
fn growth(processes: &[ProcessReport]) -> Option<Growth> {
    let rows = processes.iter().flat_map(|process| &process.devices).map(|device| &device.last_steps);
    rows.filter_map(|rows| {
        let last = rows.get(rows.len().checked_sub(GROWING + 1)?..)?;
        let steps: Vec<u64> = last.windows(2).map(|pair| pair[1].1.saturating_sub(pair[0].1)).collect();
        let (least, most) = (*steps.iter().min()?, *steps.iter().max()?);
        let each = steps.iter().sum::<u64>() / steps.len() as u64;
        let (step, used) = *last.last()?;
        (least > 0 && most - least <= each / 4).then_some(Growth { each, step, used, runs_out: None })
    })
    .max_by_key(|growth| growth.each)
}

/// What of the program was seen.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Stages {
    /// It ended by itself: there is no more.
    pub whole: bool,
    pub evaluated: bool,
    pub saved: bool,
    /// An optimizer was made, and none made a step.
    pub idle: bool,
    /// What is known of the loader's longest batch; `None` where there is no loader that could be asked.
    pub longest: Option<Longest>,
}

/// How far the samples of a loader were looked at for its longest batch, which was then among the first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Longest {
    /// Samples that were looked at, and whether these are all of an epoch.
    pub looked: u64,
    pub whole: bool,
}

impl Longest {
    fn of(process: &ProcessReport) -> Option<Longest> {
        let told = process.settings.get("longest")?;
        Some(Longest { looked: told.get("looked")?.as_u64()?, whole: told.get("whole")?.as_bool()? })
    }
}

impl Stages {
    fn of(processes: &[ProcessReport], done: u64, exit: Exit) -> Stages {
        let by_itself = |process: &ProcessReport| process.ended == Some(Ended::Exit) || process.devices.is_empty();
        Stages {
            whole: exit == Exit::Code(0) && processes.iter().all(by_itself),
            evaluated: processes.iter().any(|process| process.evaluated),
            saved: processes.iter().any(|process| process.saved),
            longest: processes.iter().find_map(Longest::of),
            idle: done == 0 && processes.iter().any(|process| !process.optimizers.is_empty()),
        }
    }
}

/// What the launcher saw of a take.
pub struct Seen<'a> {
    pub processes: &'a [ProcessReport],
    pub exit: Exit,
    pub stderr_tail: &'a str,
    pub seconds: f64,
}

impl Take {
    /// `steps` optimizer steps were asked for; 0 = the whole program.
    pub fn of(addresses: Addresses, seen: Seen<'_>, outside: &Outside, steps: u32) -> Take {
        let processes = seen.processes;
        let devices = || processes.iter().flat_map(|process| &process.devices);
        let fullest = Fullest::of(processes);
        let main = processes
            .iter()
            .max_by_key(|process| process.devices.iter().map(|device| device.peak_reserved_bytes).max().unwrap_or(0));
        let mut notes = Vec::new();
        if fullest.processes > 1 {
            let (count, index) = (fullest.processes, fullest.device);
            notes.push(text!(
                en: "{count} processes used GPU {index} at the same time: their peaks are added up",
                zh: "有 {count} 个进程同时使用 GPU {index}：所列为各自峰值之和"
            ));
        }
        let done = processes.iter().map(|process| process.steps).max().unwrap_or(0);
        let stages = Stages::of(processes, done, seen.exit);
        let end = end(&seen, done, steps, &mut notes);
        let last_words = match end {
            End::Failed(_) => last_lines(seen.stderr_tail),
            _ => Vec::new(),
        };
        Take {
            addresses,
            end,
            seconds: seen.seconds,
            steps: done,
            allocated: fullest.allocated,
            reserved: fullest.reserved,
            processes: fullest.processes,
            growth: growth(processes).filter(|_| !stages.whole),
            stages,
            retries: devices().map(|device| device.retries).sum(),
            outside: outside.clone().seen_in(processes),
            peak: main.and_then(|process| process.peak.clone()),
            traps: processes.iter().flat_map(|process| process.traps.iter().cloned()).collect(),
            notes,
            batch: processes.iter().find_map(|process| process.batch.as_ref()?.observed),
            torch: processes.iter().find_map(|process| process.torch.clone()),
            model: processes.iter().find_map(|process| Built::of(&process.settings)),
            missing: None,
            exception: processes.iter().find_map(|process| process.error.as_ref()).map(|error| error.kind.clone()),
            last_words,
            changes: Changes::default(),
            kept_back: Vec::new(),
        }
    }

    /// Whether it failed as some releases of PyTorch do when allocations are recorded: 2.11 with checkpointing, whose
    /// early stop of the recomputation is lost ("returned NULL without setting an exception").
    pub fn fails_by_recording(&self) -> bool {
        matches!(self.end, End::Failed(_)) && self.exception.as_deref() == Some("SystemError")
    }

    /// What a real GPU needs for it, as far as the take went.
    pub fn needed(&self) -> Interval {
        let spared = if self.outside.cudnn.is_some() { self.reserved as f64 * WORKSPACE_SPARES } else { 0.0 };
        let low = i128::from(self.reserved.saturating_sub(spared as u64));
        let reserved = Interval::between(low, i128::from(self.reserved));
        // Each process has a context and libraries of its own.
        (0..self.processes.max(1)).fold(reserved, |sum, _| sum + self.outside.sum())
    }

    /// Selections by values that are not computed gave no rows; how many there are on a real GPU decides.
    pub fn selects_nothing(&self) -> bool {
        self.traps.iter().any(Trap::is_empty_selection)
    }

    /// Why the figures are only a lower bound; empty where they are whole. `bounded`: what selections give at most was
    /// seen in another take.
    pub fn shortfalls(&self, bounded: bool) -> Vec<Text> {
        let mut out = Vec::new();
        match &self.end {
            End::Failed(why) => out.push(why.clone()),
            End::TimeUp => {
                let (steps, counted) = (self.steps, counted(self.steps, "step", "steps"));
                out.push(text!(
                    en: "the time was up after {counted}, before the peak was complete",
                    zh: "时间用尽时只完成 {steps} 步，峰值尚不完整"
                ));
            }
            End::Done if self.stages.idle => out.push(Text::new(
                "an optimizer was made but made no step: the program ended before it trained",
                "创建了优化器但没有任何更新：程序在训练之前就结束了",
            )),
            End::Done | End::OutOfMemory(_) => {}
        }
        if let Some(growth) = &self.growth {
            out.push(growth.text());
        }
        let counts = |trap: &&Trap| !(trap.keeps_memory() || bounded && trap.is_empty_selection());
        out.extend(trap_texts(self.traps.iter().filter(counts)));
        out
    }
}

fn end(seen: &Seen<'_>, done: u64, steps: u32, notes: &mut Vec<Text>) -> End {
    let processes = seen.processes;
    let wanted = u64::from(steps);
    if seen.exit == Exit::Interrupted {
        return End::Failed(Text::new("interrupted", "被中断"));
    }
    if processes.is_empty() {
        return End::Failed(match seen.exit {
            Exit::Stopped => {
                Text::new("the time was up before the program used the GPU", "程序尚未使用 GPU，时间已用尽")
            }
            Exit::Code(0) => Text::new("the program never used the GPU", "程序从未使用 GPU"),
            Exit::Code(code) => text!(
                en: "the program ended with code {code} before it used the GPU{tail}",
                zh: "程序尚未使用 GPU 就以代码 {code} 退出{tail}",
                tail = quoted(seen.stderr_tail)
            ),
            Exit::Signal(signal) => text!(
                en: "signal {signal} ended the program before it used the GPU",
                zh: "程序尚未使用 GPU 就被信号 {signal} 终止"
            ),
            Exit::Interrupted => Text::default(),
        });
    }
    let reached = wanted > 0 && done >= wanted;
    let oom = processes.iter().find_map(|process| {
        let oom = process.oom.as_ref()?;
        (process.ended == Some(Ended::Oom) || !oom.message.is_empty()).then_some((oom, process.ended))
    });
    if let Some((oom, ended)) = oom {
        // One that it survives leads to a good end: the steps done, or its own with some.
        let survived =
            matches!(ended, Some(Ended::Steps | Ended::Exit)) && (reached || done > 0) && seen.exit == Exit::Code(0);
        if !survived || !oom.caught {
            return End::OutOfMemory(oom.clone());
        }
        let count = oom.count.unwrap_or(1);
        let times = if count == 1 { "once".to_string() } else { format!("{count} times") };
        let batch = processes.iter().find_map(|process| process.batch.as_ref()?.observed);
        let (en, zh) = match batch {
            Some(batch) => (format!(" with batch {batch}"), format!("，批大小为 {batch}")),
            None => Default::default(),
        };
        notes.push(text!(
            en: "the program ran out of memory {times}, caught the error and went on{en}; the figures are those \
                 of what came after",
            zh: "程序曾 {count} 次显存不足，均捕获错误后继续运行{zh}；所列为此后的用量"
        ));
    }
    let steps = counted(done, "step", "steps");
    let error = processes.iter().find_map(|process| process.error.as_ref());
    if let Some(error) = error.filter(|_| processes.iter().any(|process| process.ended == Some(Ended::Error))) {
        let (kind, message) = (&error.kind, first_line(&error.message));
        let place = error.stack.first().map(|frame| format!(" ({frame})")).unwrap_or_default();
        if reached {
            notes.push(text!(
                en: "after {steps} the program failed for another reason, and what comes later was not seen: \
                     {kind}: {message}{place}",
                zh: "{done} 步之后程序因其他原因失败，之后的部分没有看到：{kind}: {message}{place}"
            ));
            return End::Done;
        }
        return End::Failed(text!(
            en: "the program failed after {steps} for another reason: {kind}: {message}{place}",
            zh: "程序在 {done} 步之后因其他原因失败：{kind}: {message}{place}"
        ));
    }
    let stopped = seen.exit == Exit::Stopped || processes.iter().any(|process| process.ended == Some(Ended::Time));
    if stopped && !reached {
        if done < COMPLETE {
            return End::TimeUp;
        }
        notes.push(text!(
            en: "the time was up after {steps}; later steps need as much as the second one unless shapes change",
            zh: "时间用尽时完成了 {done} 步；若形状不变，之后各步与第二步用量相同"
        ));
        return End::Done;
    }
    match seen.exit {
        Exit::Code(0) => {}
        _ if reached || processes.iter().any(|process| matches!(process.ended, Some(Ended::Steps))) => {}
        Exit::Code(code) => {
            return End::Failed(text!(
                en: "the program ended with code {code} after {steps}{tail}",
                zh: "程序在 {done} 步之后以代码 {code} 退出{tail}",
                tail = quoted(seen.stderr_tail)
            ));
        }
        Exit::Signal(signal) => {
            return End::Failed(text!(
                en: "signal {signal} ended the program after {steps}",
                zh: "程序在 {done} 步之后被信号 {signal} 终止"
            ));
        }
        Exit::Stopped | Exit::Interrupted => {}
    }
    let holds = |process: &ProcessReport| process.devices.iter().any(|device| device.peak_reserved_bytes > 0);
    if !processes.iter().any(holds) {
        return End::Failed(Text::new(
            "the program ended without using the GPU through PyTorch",
            "程序结束时从未通过 PyTorch 使用 GPU",
        ));
    }
    if done == 0 && !processes.iter().any(|process| !process.optimizers.is_empty()) {
        notes.push(Text::new(
            "no optimizer step was seen: the peak is that of the whole program",
            "未看到优化器更新：峰值为整个程序的峰值",
        ));
    } else if wanted > 0 && done < wanted {
        notes.push(text!(
            en: "the program ended by itself after {done} optimizer steps",
            zh: "程序在 {done} 次优化器更新之后自行结束"
        ));
    }
    End::Done
}

fn first_line(text: &str) -> &str {
    text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default().trim()
}

/// The last lines that hold anything, in their order.
fn last_lines(tail: &str) -> Vec<String> {
    let lines = tail.lines().rev().filter(|line| !line.trim().is_empty());
    let mut last: Vec<String> = lines.take(LAST_LINES).map(|line| line.chars().take(400).collect()).collect();
    last.reverse();
    last
}

/// The last line of what a program wrote, after a colon.
fn quoted(tail: &str) -> String {
    match tail.lines().rev().map(str::trim).find(|line| !line.is_empty()) {
        Some(line) => format!(": {}", line.chars().take(200).collect::<String>()),
        None => String::new(),
    }
}

/// Traps in words, those of a kind together with their places.
pub fn trap_texts<'t>(traps: impl Iterator<Item = &'t Trap>) -> Vec<Text> {
    let mut kinds: Vec<(&str, Vec<&str>)> = Vec::new();
    for trap in traps {
        let at = kinds.iter().position(|(kind, _)| *kind == trap.kind).unwrap_or_else(|| {
            kinds.push((&trap.kind, Vec::new()));
            kinds.len() - 1
        });
        if let (Some((_, places)), Some(place)) = (kinds.get_mut(at), trap.place.as_deref())
            && !places.contains(&place)
        {
            places.push(place);
        }
    }
    let told = |(kind, places): (&str, Vec<&str>)| {
        let what = trap_text(kind);
        let named = places.iter().take(PLACES).map(|place| short_place(place)).collect::<Vec<_>>().join(", ");
        match places.len() {
            0 => what,
            n if n > PLACES => Text::new(
                format!("{} ({named}, and {} more places)", what.en, n - PLACES),
                format!("{}（{named} 等 {n} 处）", what.zh),
            ),
            _ => Text::new(format!("{} ({named})", what.en), format!("{}（{named}）", what.zh)),
        }
    };
    kinds.into_iter().map(told).collect()
}

/// `/home/me/train.py:88 train` → `train.py:88 train`.
fn short_place(place: &str) -> &str {
    let path = place.split(':').next().unwrap_or(place);
    path.rfind('/').and_then(|slash| place.get(slash + 1..)).unwrap_or(place)
}

fn trap_text(kind: &str) -> Text {
    match kind {
        "value-read" => Text::new(
            "values were read from the GPU, which computed none: whatever the program decides by them may differ",
            "程序从 GPU 读取了数值，而这里没有计算：据此做出的判断可能不同",
        ),
        "synchronised-values" => Text::new(
            "values gathered from other ranks are taken to be those of this one",
            "从其他 rank 收集的数值按本 rank 的数值处理",
        ),
        "isfinite" => Text::new(
            "checks for finite values are answered with yes: nothing is computed that could overflow",
            "对数值是否有限的检查一律回答“是”：没有可溢出的计算",
        ),
        "distributions" => {
            Text::new("arguments of probability distributions are taken to be valid", "概率分布的参数一律视为有效")
        }
        "grad-scaler" => Text::new(
            "the gradient scaler sees no overflow and skips no step",
            "梯度缩放器不会遇到溢出，也不会跳过更新",
        ),
        "scale-read" => Text::new(
            "the program asks for the scale of the gradients, which no overflow lowers here",
            "程序查询了梯度缩放因子，而这里没有溢出使它降低",
        ),
        "zero-rows" => Text::new(
            "an operation whose result size depends on values gave 0 rows: what follows needs more on a real GPU",
            "结果大小取决于数值的运算得到 0 行：真实 GPU 上后续占用更多",
        ),
        "generation" => Text::new(
            "generation runs to its maximal length: an end token is never seen",
            "生成会一直到最大长度：不会出现结束符",
        ),
        "data-dependent-shape" => Text::new(
            "sizes depend on computed values: a real GPU may need more",
            "形状取决于计算结果：真实 GPU 上可能需要更多",
        ),
        "loop" => Text::new("a loop waits for a value that never comes", "循环等待某个数值，而它不会出现"),
        "attention-mask" => Text::new(
            "whether rows are padded or packed is computed on the GPU; taken to be as in the batch, else one full \
             sequence per row",
            "是否有填充或打包序列要在 GPU 上计算；按批数据处理，否则视为每行一个完整序列",
        ),
        "routing" => Text::new(
            "tokens are taken to go to all experts alike; what an uneven share needs more for a moment is not in it",
            "假定各专家分到同样多的 token；分配不均时短暂多占的部分未计入",
        ),
        "checkpoint" => Text::new(
            "checkpoints are not written: their values would be those of a GPU that computes nothing",
            "不写入检查点文件：其中的数值来自不做计算的 GPU",
        ),
        "linalg" => Text::new(
            "linear algebra on the GPU needs workspaces that are not simulated",
            "GPU 上的线性代数需要未模拟的工作区",
        ),
        other => text!(en: "{other}: not simulated", zh: "{other}：未模拟"),
    }
}

/// The same program with other values in place of those that are not computed.
#[derive(Debug, Clone, PartialEq)]
pub enum Assumed {
    /// It needs the same memory.
    Same,
    /// It took another way where the values were these: reserved bytes, `None` where it did not end well.
    Other { values: Values, reserved: Option<u64>, places: Vec<String> },
    /// Where selections keep everything, the answer is another one than where they keep nothing: bytes needed then.
    Selections { needed: u64 },
    /// With zeros it ended so, and with these values it goes on: the figures are those of the run that did. `alike`:
    /// with all others that it goes on with it needs the same.
    Instead { of: End, values: Values, alike: bool },
}

impl Assumed {
    /// Why the figures are only a lower bound, where they are.
    fn text(&self) -> Option<Text> {
        let (values, reserved, places) = match self {
            Assumed::Same | Assumed::Instead { alike: true, .. } => return None,
            Assumed::Selections { needed } => {
                let needed = Bytes(*needed);
                return Some(text!(
                    en: "with all rows that could be selected it needs up to {needed}",
                    zh: "若可选的行全部被选中，最多需要 {needed}"
                ));
            }
            Assumed::Instead { of, values, .. } => {
                let ended = with_zeros(of);
                let (en, zh) = match values {
                    Values::Ones => ("ones", "为 1"),
                    _ => ("large ones", "较大"),
                };
                return Some(Text::new(
                    format!("{}; the figures are those with {en}", ended.en),
                    format!("{}；所列为数值{zh}时的用量", ended.zh),
                ));
            }
            Assumed::Other { values, reserved, places } => (values, reserved, places),
        };
        let (en, zh) = match values {
            Values::Negative => ("negative", "为负"),
            Values::Huge => ("huge", "极大"),
            Values::Mixed => ("mixed", "不一"),
            _ => ("large", "较大"),
        };
        let named = places.iter().take(PLACES).map(|place| short_place(place)).collect::<Vec<_>>().join(", ");
        let at = if named.is_empty() { String::new() } else { format!(" ({named})") };
        Some(match reserved {
            Some(reserved) => {
                let reserved = Bytes(*reserved);
                text!(
                    en: "memory depends on values that are read from the GPU, which computed none{at}: \
                         {reserved} reserved where they are {en}",
                    zh: "显存取决于从 GPU 读取的数值，而这里没有计算{at}：数值{zh}时保留 {reserved}"
                )
            }
            None => text!(
                en: "what the program does depends on values that are read from the GPU, which computed none{at}: with \
                     {en} ones it takes another way",
                zh: "程序的行为取决于从 GPU 读取的数值，而这里没有计算{at}：数值{zh}时走另一条路径"
            ),
        })
    }
}

/// How the program ended with zeros in place of the values that it read, where it goes on with other ones.
fn with_zeros(of: &End) -> Text {
    let ended = match of {
        End::Failed(why) => why.clone(),
        _ => Text::new("it runs out of memory", "显存不足"),
    };
    Text::new(
        format!("with zeros in place of the values that it reads from the GPU, which computed none, {}", ended.en),
        format!("程序从 GPU 读取数值，而这里没有计算：数值为零时，{}", ended.zh),
    )
}

/// All takes of one batch, and what follows from them.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    /// `None` where the command has no `{batch}`.
    pub batch: Option<u64>,
    pub takes: Vec<Take>,
    /// Whether a further pair of takes ran: without the headroom, where the cache filled what was there; or with the
    /// estimates at their kind end, where memory ran out by less than what they may be wrong.
    pub pressed: Option<bool>,
    /// What came of the take in which unknown values were assumed to be large; `None` where none was needed.
    pub assumed: Option<Assumed>,
    /// A take in which selections by unknown values kept everything: the most that they can need.
    pub most: Option<Take>,
    pub verdict: Verdict,
    /// From start to end; takes may have run at once.
    pub seconds: f64,
}

impl Run {
    /// What is known before anything else is tried.
    pub fn of(batch: Option<u64>, takes: Vec<Take>) -> Run {
        Run { batch, takes, pressed: None, assumed: None, most: None, verdict: Verdict::Unknown, seconds: 0.0 }
    }

    /// Bytes in use at the peak, the larger of all takes.
    pub fn allocated(&self) -> u64 {
        self.takes.iter().map(|take| take.allocated).max().unwrap_or(0)
    }

    /// Bytes reserved at the peak: lowest and highest over the orders of addresses.
    pub fn reserved(&self) -> Interval {
        let reserved = || self.takes.iter().map(|take| i128::from(take.reserved));
        Interval::between(reserved().min().unwrap_or(0), reserved().max().unwrap_or(0))
    }

    /// What a real GPU needs: from the lower end of the better order to the upper end of the worse one.
    pub fn needed(&self) -> Interval {
        let needed = || self.takes.iter().chain(&self.most).map(Take::needed);
        Interval {
            low: needed().map(|interval| interval.low).min().unwrap_or(0),
            high: needed().map(|interval| interval.high).max().unwrap_or(0),
        }
    }

    /// By how many bytes it ran out of memory, at its closest; `None` where it did not, or where the message does not
    /// say.
    pub fn missing(&self) -> Option<u64> {
        self.takes.iter().filter(|take| matches!(take.end, End::OutOfMemory(_))).map(|take| take.missing).min()?
    }

    /// The take that decides: one that ran out of memory, else the one that reserved most.
    pub fn deciding(&self) -> Option<&Take> {
        let out = self.takes.iter().find(|take| matches!(take.end, End::OutOfMemory(_)));
        out.or_else(|| self.takes.iter().max_by_key(|take| take.reserved))
    }

    pub fn oom(&self) -> Option<&OomReport> {
        self.takes.iter().find_map(|take| match &take.end {
            End::OutOfMemory(oom) => Some(oom),
            _ => None,
        })
    }

    /// Why the figures are only a lower bound, each reason once. Takes that fail do so for the same reason.
    pub fn shortfalls(&self) -> Vec<Text> {
        match self.takes.iter().find(|take| matches!(take.end, End::Failed(_))) {
            Some(failed) => failed.shortfalls(false),
            None => {
                let assumed = self.assumed.as_ref().and_then(Assumed::text);
                let bounded = self.most.is_some();
                each_once(self.takes.iter().flat_map(|take| take.shortfalls(bounded)).chain(assumed))
            }
        }
    }

    /// False where the program failed for a reason other than memory, or never used the GPU.
    pub fn ran(&self) -> bool {
        self.allocated() > 0 && !self.takes.iter().any(|take| matches!(take.end, End::Failed(_)))
    }

    pub fn notes(&self) -> Vec<Text> {
        let tried = match &self.assumed {
            Some(Assumed::Same) => Some(Text::new(
                "the program reads values from the GPU, which computed none: four more runs, with large, negative, \
                 huge and mixed ones in place of zeros, needed no other memory",
                "程序从 GPU 读取数值，而这里没有计算：除零以外，又以较大、为负、极大和不一的数值共运行四次，\
                 用量不变",
            )),
            Some(Assumed::Instead { of, alike: true, .. }) => {
                let ended = with_zeros(of);
                Some(Text::new(
                    format!("{}; with all other ones that it goes on with it needs the same", ended.en),
                    format!("{}；在能够继续运行的其他数值下，用量相同", ended.zh),
                ))
            }
            _ => None,
        };
        let spanned = self.most.as_ref().map(|_| {
            Text::new(
                "how many rows selections by computed values keep is not known: the figures reach from none to all",
                "按计算结果选取的行数未知：所列范围从全不选到全选",
            )
        });
        each_once(self.takes.iter().flat_map(|take| take.notes.iter().cloned()).chain(spanned).chain(tried))
    }

    /// True where nothing keeps the figures from being those of a real GPU.
    pub fn is_whole(&self) -> bool {
        !self.takes.is_empty() && self.shortfalls().is_empty()
    }

    /// Whether the cache filled what was there, so that the peak reserved says little about the need: the memory in use
    /// would leave the headroom, the memory reserved does not.
    pub fn cache_decides(&self, capacity: u64, headroom: f64) -> bool {
        let outside = self.takes.iter().map(|take| take.outside.sum().high).max().unwrap_or(0);
        let in_use = Interval::exactly(self.allocated()) + Interval { low: outside, high: outside };
        self.oom().is_none()
            && self.is_whole()
            && Verdict::of(self.needed(), capacity, headroom) != Verdict::Fits
            && Verdict::of(in_use, capacity, headroom) == Verdict::Fits
    }

    /// Whether it ran out of memory with one layout of the allocator's blocks, and not with the other.
    pub fn depends_on_layout(&self) -> bool {
        self.oom().is_some() && self.takes.iter().any(|take| take.end == End::Done)
    }

    /// Whether it ran out of memory by less than what the estimates may be wrong: the device may be `spread` bytes
    /// larger, and what stands outside of PyTorch's count smaller than simulated.
    pub fn is_close(&self, spread: u64) -> bool {
        let outside = self.takes.iter().map(|take| take.outside.sum().half_width()).max().unwrap_or(0);
        self.missing().is_some_and(|missing| missing <= outside.saturating_add(spread))
    }

    /// The verdict for a device of `capacity` bytes of which the share `headroom` is to stay free.
    pub fn judge(&mut self, capacity: u64, headroom: f64) {
        self.verdict = if self.takes.is_empty() {
            Verdict::Unknown
        } else if self.oom().is_some() {
            let runs = self.pressed == Some(true) || self.depends_on_layout();
            if runs { Verdict::Tight } else { Verdict::DoesNotFit }
        } else {
            let verdict = match self.pressed {
                Some(true) => Verdict::Fits,
                _ => Verdict::of(self.needed(), capacity, headroom),
            };
            match (verdict, self.is_whole()) {
                // It ran to its end within the device, so it is at worst tight; several processes had one each.
                (Verdict::DoesNotFit, true) if self.takes.iter().all(|take| take.processes < 2) => Verdict::Tight,
                (verdict, true) => verdict,
                (Verdict::DoesNotFit, false) => Verdict::DoesNotFit,
                // More than was seen can only leave less.
                (_, false)
                    if self.ran()
                        && Verdict::of(Interval::exactly(self.least()), capacity, headroom) != Verdict::Fits =>
                {
                    Verdict::Tight
                }
                (_, false) => Verdict::Unknown,
            }
        };
    }

    /// The lower end of the need, bytes.
    fn least(&self) -> u64 {
        self.needed().low.clamp(0, i128::from(u64::MAX)) as u64
    }
}

fn each_once(texts: impl Iterator<Item = Text>) -> Vec<Text> {
    let mut out: Vec<Text> = Vec::new();
    for text in texts {
        if !out.contains(&text) {
            out.push(text);
        }
    }
    out
}

/// What was asked.
#[derive(Debug, Clone, PartialEq)]
pub struct Question {
    pub gpu: Gpu,
    pub gpus: u32,
    /// 0 … 1.
    pub headroom: f64,
    pub steps: u32,
    pub world: Option<u32>,
    /// The command as the user wrote it, `{batch}` unreplaced.
    pub command: Vec<String>,
    /// The batches to search between; `None` where they were listed or there is no `{batch}`.
    pub range: Option<(u64, u64)>,
}

/// The answer to the whole call.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    pub question: Question,
    /// In the order of the batches.
    pub runs: Vec<Run>,
    pub verdict: Verdict,
    /// Index of the run that the verdict and the details are about.
    pub shown: usize,
    /// The largest batch that fits, where batches were compared.
    pub largest: Option<u64>,
    /// The smallest batch that was seen not to fit.
    pub first_too_large: Option<u64>,
    /// Why the search ended before it knew.
    pub cut_short: Option<Text>,
    pub seconds: f64,
    /// How files and network were kept from the program.
    pub view: View,
    /// Fixes that were rehearsed, in the order in which they were.
    pub tried: Vec<Tried>,
}

impl Answer {
    /// Puts the runs together.
    pub fn of(question: Question, mut runs: Vec<Run>, cut_short: Option<Text>, seconds: f64) -> Answer {
        runs.order_by_key(|run| run.batch);
        let fits = runs.iter().rposition(|run| run.verdict == Verdict::Fits);
        let largest = fits.and_then(|at| runs.get(at)?.batch);
        let may_fit = runs.iter().rev().find(|run| matches!(run.verdict, Verdict::Fits | Verdict::Unknown));
        let may_fit = may_fit.and_then(|run| run.batch);
        let first_too_large = runs
            .iter()
            .filter(|run| matches!(run.verdict, Verdict::DoesNotFit | Verdict::Tight))
            .filter_map(|run| run.batch)
            .find(|batch| may_fit.is_none_or(|may_fit| *batch > may_fit));
        let searching = question.range.is_some();
        let unknown = runs.iter().rposition(|run| run.verdict == Verdict::Unknown);
        // A search is answered by what fits; a list is a demand on each of its batches.
        let (verdict, shown) = match (searching, fits.or(unknown)) {
            (true, Some(at)) => (runs.get(at).map_or(Verdict::Unknown, |run| run.verdict), at),
            _ => {
                let verdict = Verdict::of_all(runs.iter().map(|run| run.verdict)).unwrap_or(Verdict::Unknown);
                // Of a list, the largest that fits is of more interest than one that failed; where none fits, the
                // first.
                let shown = fits.or_else(|| runs.iter().position(|run| run.verdict == verdict)).unwrap_or(0);
                (verdict, shown)
            }
        };
        Answer {
            question,
            runs,
            verdict,
            shown,
            largest,
            first_too_large,
            cut_short,
            seconds,
            view: View::none(),
            tried: Vec::new(),
        }
    }

    pub fn shown(&self) -> Option<&Run> {
        self.runs.get(self.shown)
    }

    /// The smallest batch that ran out of memory, or the only run if it did.
    pub fn first_oom(&self) -> Option<(&Run, &OomReport)> {
        self.runs.iter().find_map(|run| Some((run, run.oom()?)))
    }

    pub fn capacity(&self) -> u64 {
        self.question.gpu.capacity()
    }

    /// Bytes that may be used: the capacity less the headroom.
    pub fn usable(&self) -> u64 {
        (self.capacity() as f64 * (1.0 - self.question.headroom)) as u64
    }
}
