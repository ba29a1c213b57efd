//! The kind of job, the phase that it was in and how far it had come.

use super::{Mechanism, Reading};
use crate::cause::nature::{Asker, JobKind, asker, job_kind, on_gpu};
use crate::cause::reading::place;
use crate::dialect::{Fact, Sign};
use crate::domain::Number;
use crate::evidence::{Known, Span};
use crate::incident::Incident;
use crate::incident::context::{Clue, Phase};
use crate::text;
use crate::units::Bytes;

/// The kind of job.
pub const JOB: Mechanism = Mechanism {
    id: "job",
    levels: &["training", "inference", "serving", "compiled", "host", "scheduler"],
    read: |incident| {
        let kind = job_kind(incident)?;
        let text = match kind {
            JobKind::Training => text!(en: "this is a training job", zh: "这是训练任务"),
            JobKind::Inference => text!(en: "this is inference, not training", zh: "这是推理，而非训练"),
            JobKind::Serving => {
                text!(
                    en: "an inference engine runs here, which sets a share of the device aside for weights and cache",
                    zh: "这里运行的是推理引擎，它为权重和缓存预留设备的一部分"
                )
            }
            JobKind::Compiled => {
                text!(en: "the program's memory was planned as a whole by a compiler", zh: "程序的内存由编译器整体规划")
            }
            JobKind::Host => {
                text!(en: "it is the machine's memory, not a device's", zh: "涉及的是主机内存，而非设备显存")
            }
            JobKind::Scheduler => {
                text!(en: "a scheduler or container runtime reports it", zh: "由调度器或容器运行时报告")
            }
        };
        Some(Reading::new(kind.id(), text).at(incident.event.at))
    },
};

/// The phase that was under way.
pub const PHASE: Mechanism = Mechanism {
    id: "phase",
    levels: &[
        "load",
        "resume",
        "forward",
        "loss",
        "backward",
        "optimizer-step",
        "train",
        "validation",
        "save",
        "inference",
        "decode",
        "compile",
        "warm-up",
        "data",
        "communicator",
        "optimizer-setup",
        "engine-load",
        "validation-again",
        "save-gathered",
    ],
    read: |incident| {
        let (phase, at) = match incident.context.phase {
            // An engine's own word for its warm-up tells more than a line about the graphs before it.
            Known::Seen(Phase::Warmup, _) if incident.event.has(Sign::EngineWarmup) => {
                (Phase::Warmup, incident.event.at)
            }
            Known::Seen(phase, at) => (phase, at),
            Known::Unknown => return None,
        };
        let (level, en, zh) = match phase {
            // By its frames: a line of loading may be the last before pools are made.
            Phase::Load if asker(incident) == Asker::Engine && incident.context.frames.iter().any(|f| f.at == at) => {
                ("engine-load", "loading the model", "加载模型")
            }
            Phase::Load => ("load", "loading the model", "加载模型"),
            Phase::Resume => ("resume", "restoring a checkpoint", "恢复检查点"),
            Phase::Forward => ("forward", "the forward pass", "前向传播"),
            Phase::Loss => ("loss", "the loss", "损失计算"),
            Phase::Backward => ("backward", "the backward pass", "反向传播"),
            Phase::OptimizerStep => ("optimizer-step", "the optimizer step", "优化器更新"),
            Phase::Train => ("train", "training", "训练"),
            Phase::Validation if incident.context.has(Clue::ValidatedBefore) => {
                ("validation-again", "validation", "验证阶段")
            }
            Phase::Validation => ("validation", "validation", "验证阶段"),
            Phase::Checkpoint if on_gpu(incident) && incident.context.has(Clue::GathersState) => (
                "save-gathered",
                "gathering the whole model on each device to save it",
                "为保存而在每张卡上收集完整模型",
            ),
            Phase::Checkpoint => ("save", "saving a checkpoint", "保存检查点"),
            Phase::Inference => ("inference", "inference", "推理"),
            Phase::Decode => ("decode", "decoding latents", "解码 latent"),
            Phase::Compile => ("compile", "compilation", "编译"),
            Phase::Warmup => ("warm-up", "warm-up", "预热"),
            Phase::DataLoading => ("data", "reading data", "读取数据"),
            Phase::CommunicatorSetup => ("communicator", "setting up a communicator", "建立通信域"),
            Phase::OptimizerSetup => ("optimizer-setup", "setting up the optimizer", "初始化优化器"),
        };
        let text = match phase {
            Phase::OptimizerStep if incident.context.has(Clue::OptimizerState) => text!(
                en: "it failed while the optimizer made its states, which stay from its first step on",
                zh: "失败发生在优化器创建状态时，这些状态从首次更新起一直保留"
            ),
            Phase::Validation if incident.context.has(Clue::ValidatedBefore) => text!(
                en: "it failed in {en}, which had gone well before: its result is printed",
                zh: "失败发生在{zh}，而该阶段此前曾通过：其结果已打印"
            ),
            Phase::Validation
            | Phase::Loss
            | Phase::OptimizerStep
            | Phase::Checkpoint
            | Phase::Resume
            | Phase::Decode
            | Phase::Warmup
            | Phase::Compile => {
                text!(
                    en: "it failed in {en}, which needs memory of its own for a moment",
                    zh: "失败发生在{zh}，该阶段会短暂需要额外内存"
                )
            }
            Phase::Load | Phase::CommunicatorSetup | Phase::OptimizerSetup => {
                text!(en: "it failed in {en}, before any work on data", zh: "失败发生在{zh}，尚未处理任何数据")
            }
            _ => text!(en: "it failed in {en}", zh: "失败发生在{zh}"),
        };
        Some(Reading::new(level, text).at(at))
    },
};

/// Lines of progress behind the one that tells of unfrozen layers in which the first of their steps is told.
const OTHER_WORK: u64 = 8;

/// The epoch from which on a validation is not the first, however epochs are counted.
const LATER: u64 = 3;

/// Steps of training from which on the memory that they need is known.
const STEADY: u64 = 3;

/// A phase of its own that failed after steps of training or sampling had gone well, or the optimizer's first step.
pub const APART: Mechanism = Mechanism {
    id: "phase-apart",
    levels: &["after-steps", "after-epochs", "first-optimizer-step"],
    read: |incident| {
        let Known::Seen(phase, at) = incident.context.phase else { return None };
        if !on_gpu(incident) {
            return None;
        }
        let steps = incident.context.step.value().or(incident.context.epoch.value()).unwrap_or(0);
        match phase {
            Phase::Validation | Phase::Checkpoint | Phase::Decode => after_steps(incident, steps, at),
            // The states stay: a job that never fits fails here as well, so that it counts and is no evidence.
            Phase::OptimizerStep if steps <= 1 && incident.context.has(Clue::OptimizerState) => {
                let text = text!(
                    en: "the optimizer makes its states in its first step: twice the parameters and more on top of \
                         what the pass needed",
                    zh: "优化器在首次更新时创建状态：在前向反向所需之外再加参数量的两倍以上"
                );
                Some(Reading::new("first-optimizer-step", text).at(at).untold())
            }
            _ => None,
        }
    },
};

/// The reading where enough steps, by their count or by readings printed at them, went well before this phase.
fn after_steps(incident: &Incident, steps: u64, at: Span) -> Option<Reading> {
    let context = &incident.context;
    let trend = context.trends.iter().max_by_key(|trend| trend.samples.len());
    let readings = trend.map_or(0, |trend| trend.samples.len() as u64);
    if steps.max(readings) < STEADY {
        return None;
    }
    if let (Some((line, stood)), Some(held)) = (context.last_reading, incident.ledger.allocated)
        && held.middle_bytes() > stood + stood / 10
    {
        let (stood, held) = (Bytes(stood), Bytes(held.middle_bytes()));
        let text = text!(
            en: "training stood at {stood}; {held} were allocated when this phase failed",
            zh: "训练时占用为 {stood}；该阶段失败时已分配 {held}"
        );
        let reading = Reading::new("after-steps", text).at(Span::line(line));
        return Some(reading.at(place(&incident.event, Fact::Allocated)));
    }
    // What comes once in each epoch has been passed before, or its result is printed.
    if incident.context.phase.value() == Some(Phase::Validation)
        && let Some(line) = context.clues.get(&Clue::ValidatedBefore)
    {
        let text = text!(
            en: "steps had gone well before, and so had this phase: its result is printed",
            zh: "此前若干步都正常，该阶段也曾通过：其结果已打印"
        );
        return Some(Reading::new("after-epochs", text).at(*line));
    }
    if incident.context.phase.value() == Some(Phase::Validation)
        && let Known::Seen(epoch, at) = context.epoch
        && epoch >= LATER
    {
        let text = text!(
            en: "steps had gone well before; in epoch {epoch} this phase has come before as well, if it comes in each",
            zh: "此前若干步都正常；若每个 epoch 都有该阶段，则到第 {epoch} 个 epoch 时它也曾通过"
        );
        return Some(Reading::new("after-epochs", text).at(at));
    }
    // The steps are what tells; the trends' lines where the steps are not counted.
    let counted = context.step.span().or(context.epoch.span()).filter(|_| steps >= STEADY);
    let printed = trend.and_then(|trend| Some(Span::lines(trend.samples.first()?.0, trend.samples.last()?.0)));
    let text = text!(
        en: "steps had gone well before: it is this phase that asks for more",
        zh: "此前若干步都正常：是这个阶段需要更多内存"
    );
    Some(Reading::new("after-steps", text).at(counted.or(printed).unwrap_or(at)))
}

/// How far the same work had come before it failed.
pub const PROGRESS: Mechanism = Mechanism {
    id: "progress",
    levels: &["first-steps", "some-steps", "many-steps", "later-epoch", "host-many-steps", "host-later-epoch"],
    read: |incident| {
        let context = &incident.context;
        // The work of validation is another one than that of the steps before, as decoding is after steps of sampling.
        // The epochs are of training, and what failed after one is not that.
        let answers = context.phase.value() == Some(Phase::Inference) && context.epoch.is_known();
        if answers || matches!(context.phase.value(), Some(Phase::Validation | Phase::Checkpoint | Phase::Decode)) {
            return None;
        }
        let on_host = asker(incident) == Asker::Host;
        if !on_host && !on_gpu(incident) {
            return None;
        }
        // More layers that learn are other work than the steps before did.
        let unfrozen = |at: Span| {
            let since = context.clues.get(&Clue::Unfrozen);
            since.is_some_and(|since| since.first < at.first && at.first - since.first <= OTHER_WORK)
        };
        // What comes behind the last epoch is other work.
        let over = |epoch: u64| {
            let last = context.epochs.value() == Some(epoch) && context.steps.value() == context.step.value();
            last && context.frames.is_empty()
        };
        if let Known::Seen(epoch, at) = context.epoch
            && epoch >= 2
            && !unfrozen(at)
            // Of a script that predicts, the epoch is the checkpoint's.
            && !context.runs_to_predict()
            && !context.has(Clue::FirstEpochSinceResume)
            && !context.starts_at(epoch)
            && !over(epoch)
        {
            let level = if on_host { "host-later-epoch" } else { "later-epoch" };
            return Some(
                Reading::new(
                    level,
                    text!(
                        en: "epoch {epoch} had been reached: the same work fitted before",
                        zh: "已进行到第 {epoch} 个 epoch：同样的工作此前放得下"
                    ),
                )
                .at(at),
            );
        }
        let Known::Seen(step, at) = context.step else { return None };
        if context.is_behind_the_last_step() {
            return None;
        }
        let level = match step {
            0..=3 => "first-steps",
            4..200 => "some-steps",
            _ if on_host => "host-many-steps",
            _ => "many-steps",
        };
        let text = match level {
            "first-steps" => {
                text!(en: "it failed in step {step}, one of the first", zh: "在第 {step} 步失败，属于最初几步")
            }
            _ => {
                text!(
                    en: "step {step} had been reached: the same work fitted before",
                    zh: "已进行到第 {step} 步：同样的工作此前放得下"
                )
            }
        };
        Some(Reading::new(level, text).at(at))
    },
};

/// What comes every so many steps was due at the step that was reached.
pub const DUE: Mechanism = Mechanism {
    id: "due-at-this-step",
    levels: &["checkpoint", "evaluation"],
    read: |incident| {
        let context = &incident.context;
        // A phase or a traceback tells more.
        if !matches!(context.phase.value(), None | Some(Phase::Train)) || !context.frames.is_empty() {
            return None;
        }
        let Known::Seen(step, at) = context.step else { return None };
        let due = |every: &Known<u64>| match every {
            Known::Seen(every, told) if step > 0 && step.is_multiple_of(*every) => Some((*every, *told)),
            _ => None,
        };
        // A GPU is filled by what is evaluated, the machine by what is gathered to be written.
        let (save, evaluate) = (due(&context.save_every), due(&context.evaluate_every));
        let save_first = asker(incident) == Asker::Host || evaluate.is_none();
        let (level, (every, set)) = match (save, evaluate) {
            (Some(save), _) if save_first => ("checkpoint", save),
            (_, Some(evaluate)) => ("evaluation", evaluate),
            _ => return None,
        };
        let text = match level {
            "checkpoint" => text!(
                en: "a checkpoint is due every {every} steps, and so at step {step}, the last one told",
                zh: "每 {every} 步保存一次检查点，最后记录的第 {step} 步正是保存之时"
            ),
            _ => text!(
                en: "an evaluation is due every {every} steps, and so at step {step}, the last one told",
                zh: "每 {every} 步评估一次，最后记录的第 {step} 步正是评估之时"
            ),
        };
        Some(Reading::new(level, text).at(at).at(set))
    },
};

/// A server or notebook that may hold earlier results.
pub const LONG_LIVED: Mechanism = Mechanism {
    id: "long-lived",
    levels: &["holds-earlier-results"],
    read: |incident| {
        let span = incident.context.clues.get(&Clue::LongLived)?;
        Some(
            Reading::new(
                "holds-earlier-results",
                text!(
                    en: "the program is long-lived and may hold earlier results",
                    zh: "程序长期运行，可能仍持有先前的结果"
                ),
            )
            .at(*span),
        )
    },
};

/// A server had answered before.
pub const ANSWERED: Mechanism = Mechanism {
    id: "answered-before",
    levels: &["requests"],
    read: |incident| {
        let span = incident.context.clues.get(&Clue::RequestsAnswered)?;
        incident.event.resource.on_device().then(|| {
            Reading::new(
                "requests",
                text!(
                    en: "requests had been answered before: what is loaded fitted, and this one is longer, or \
                         something of the earlier ones stayed",
                    zh: "此前已成功应答过请求：加载的内容放得下，这次的请求更长，或先前请求的内容未释放"
                ),
            )
            .at(*span)
        })
    },
};

/// The same work was done before in this process.
pub const ROUNDS: Mechanism = Mechanism {
    id: "rounds-before",
    levels: &["few", "many"],
    read: |incident| {
        let (rounds, at) = incident.event.facts.numbers.get(&Number::RoundsBefore)?;
        let level = if *rounds >= 10.0 { "many" } else { "few" };
        let rounds = *rounds as u64;
        let times = if rounds == 1 { "once".to_string() } else { format!("{rounds} times") };
        Some(
            Reading::new(
                level,
                text!(
                    en: "the same work had been done {times} before in this process: earlier models or buffers may \
                         still be held",
                    zh: "同样的工作在该进程中此前已完成 {rounds} 次：先前的模型或缓冲区可能仍未释放"
                ),
            )
            .at(*at),
        )
    },
};

/// How long it ran before it ended.
pub const LIFETIME: Mechanism = Mechanism {
    id: "lifetime",
    levels: &["seconds", "minutes", "hours", "days"],
    read: |incident| {
        let (seconds, at) = incident.event.facts.numbers.get(&Number::LifetimeSeconds)?;
        let level = match *seconds {
            s if s < 120.0 => "seconds",
            s if s < 3600.0 => "minutes",
            s if s < 6.0 * 3600.0 => "hours",
            _ => "days",
        };
        let text = match level {
            "seconds" => {
                text!(
                    en: "it was killed {seconds:.0} seconds after its start (computed from its times): what it needs \
                         to start does not fit",
                    zh: "启动 {seconds:.0} 秒后被杀（由起止时间算出）：启动所需就放不下"
                )
            }
            _ => {
                let hours = seconds / 3600.0;
                text!(
                    en: "it had run for {hours:.1} hours when it ended (computed from its times)",
                    zh: "结束时已运行 {hours:.1} 小时（由起止时间算出）"
                )
            }
        };
        Some(Reading::new(level, text).at(*at))
    },
};

/// How often it was restarted, and what its scheduler was told.
pub const RESTARTS: Mechanism = Mechanism {
    id: "restarts",
    levels: &["again-and-again", "hours-apart", "piled-up"],
    read: |incident| {
        let numbers = &incident.event.facts.numbers;
        let seen = |number: Number, least: f64| numbers.get(&number).filter(|(count, _)| *count >= least).copied();
        if let Some((kills, at)) = seen(Number::Kills, 100.0) {
            return Some(
                Reading::new(
                    "piled-up",
                    text!(
                        en: "{kills:.0} processes were in the unit that was killed: processes pile up",
                        zh: "被杀的单元中有 {kills:.0} 个进程：进程在不断堆积"
                    ),
                )
                .at(at),
            );
        }
        if let Some(span) = incident.context.clues.get(&Clue::KilledApart) {
            return Some(
                Reading::new(
                    "hours-apart",
                    text!(
                        en: "it was killed again and again at the same size, each time long after the last: it grows \
                             that far, or does something as large now and then",
                        zh: "多次在同样的大小上被杀，每次相隔很久：或是逐渐涨到那里，或是偶尔做同样大的工作"
                    ),
                )
                .at(*span),
            );
        }
        let (restarts, at): (f64, Span) = seen(Number::RestartCount, 5.0)?;
        Some(
            Reading::new(
                "again-and-again",
                text!(
                    en: "it was restarted {restarts:.0} times; the log does not say how the other runs ended",
                    zh: "已重启 {restarts:.0} 次；其余各次如何结束，日志未说明"
                ),
            )
            .at(at),
        )
    },
};

#[cfg(test)]
mod tests {
    use super::super::level;
    use super::*;
    use crate::cause::trial::{event, host, settled, torch};
    use crate::dialect::Resource;
    use crate::domain::Program;

    fn at_phase(phase: Phase) -> Incident {
        let mut incident = torch(&[]);
        incident.context.phase.note(phase, Span::line(3));
        incident
    }

    #[test]
    fn every_phase_has_its_level() {
        let phases = [
            Phase::Load,
            Phase::Resume,
            Phase::Forward,
            Phase::Loss,
            Phase::Backward,
            Phase::OptimizerStep,
            Phase::Train,
            Phase::Validation,
            Phase::Checkpoint,
            Phase::Inference,
            Phase::Decode,
            Phase::Compile,
            Phase::Warmup,
            Phase::DataLoading,
            Phase::CommunicatorSetup,
            Phase::OptimizerSetup,
        ];
        for (phase, want) in phases.into_iter().zip(PHASE.levels) {
            assert_eq!(level(&PHASE, &at_phase(phase)), Some(*want));
        }
        assert_eq!(level(&PHASE, &torch(&[])), None);
    }

    #[test]
    fn the_kind_of_job_is_told_by_program_and_phase() {
        assert_eq!(level(&JOB, &at_phase(Phase::Backward)), Some("training"));
        assert_eq!(level(&JOB, &at_phase(Phase::Inference)), Some("inference"));
        assert_eq!(level(&JOB, &settled(event(Program::Vllm, Resource::KvCache, &[]))), Some("serving"));
        assert_eq!(level(&JOB, &host(&[])), Some("host"));
        assert_eq!(level(&JOB, &settled(event(Program::Slurm, Resource::Cgroup, &[]))), Some("scheduler"));
        let mut planned = event(Program::Jax, Resource::Gpu, &[]);
        planned.facts.numbers.insert(Number::ProgramTotal, (1e9, Span::line(2)));
        assert_eq!(level(&JOB, &settled(planned)), Some("compiled"));
        assert_eq!(level(&JOB, &torch(&[])), None);
    }

    #[test]
    fn progress_is_told_by_epochs_and_steps() {
        let reached = |mut incident: Incident, epoch: Option<u64>, step: Option<u64>| {
            if let Some(epoch) = epoch {
                incident.context.epoch.note(epoch, Span::line(2));
            }
            if let Some(step) = step {
                incident.context.step.note(step, Span::line(2));
            }
            level(&PROGRESS, &incident)
        };
        assert_eq!(reached(torch(&[]), None, Some(1)), Some("first-steps"));
        assert_eq!(reached(torch(&[]), Some(1), Some(60)), Some("some-steps"));
        assert_eq!(reached(torch(&[]), None, Some(900)), Some("many-steps"));
        assert_eq!(reached(torch(&[]), Some(3), None), Some("later-epoch"));
        assert_eq!(reached(host(&[]), None, Some(900)), Some("host-many-steps"));
        assert_eq!(reached(host(&[]), Some(3), None), Some("host-later-epoch"));
        assert_eq!(reached(at_phase(Phase::Validation), Some(3), None), None);
    }

    #[test]
    fn lives_rounds_and_restarts() {
        let with = |name, value| {
            let mut incident = host(&[]);
            incident.event.facts.numbers.insert(name, (value, Span::line(2)));
            incident
        };
        for (seconds, want) in [(30.0, "seconds"), (900.0, "minutes"), (9000.0, "hours"), (90_000.0, "days")] {
            assert_eq!(level(&LIFETIME, &with(Number::LifetimeSeconds, seconds)), Some(want));
        }
        assert_eq!(level(&ROUNDS, &with(Number::RoundsBefore, 2.0)), Some("few"));
        assert_eq!(level(&ROUNDS, &with(Number::RoundsBefore, 40.0)), Some("many"));
        assert_eq!(level(&RESTARTS, &with(Number::RestartCount, 7.0)), Some("again-and-again"));
        let mut apart = host(&[]);
        apart.context.clues.insert(Clue::KilledApart, Span::lines(1, 9));
        assert_eq!(level(&RESTARTS, &apart), Some("hours-apart"));
        assert_eq!(level(&RESTARTS, &with(Number::Kills, 300.0)), Some("piled-up"));
        let mut notebook = torch(&[]);
        notebook.context.clues.insert(Clue::LongLived, Span::line(1));
        assert_eq!(level(&LONG_LIVED, &notebook), Some("holds-earlier-results"));
    }

    #[test]
    fn a_phase_after_steps_that_went_well_stands_apart() {
        let mut incident = settled(event(Program::Pytorch, Resource::Gpu, &crate::cause::trial::FULL_CARD));
        incident.context.phase.note(Phase::Validation, Span::line(6));
        assert_eq!(level(&APART, &incident), None, "nothing tells that steps went well");
        incident.context.step.note(40, Span::line(5));
        assert_eq!(level(&APART, &incident), Some("after-steps"));
        let mut later = incident.clone();
        later.context.epoch.note(5, Span::line(4));
        assert_eq!(level(&APART, &later), Some("after-epochs"), "it has come before");
        incident.context.last_reading = Some((4, 9 << 30));
        let told = (APART.read)(&incident).unwrap().text.en;
        assert!(told.starts_with("training stood at 9.00 GiB; 14.90 GiB were allocated"), "{told}");
        let mut first = at_phase(Phase::OptimizerStep);
        first.context.clues.insert(Clue::OptimizerState, Span::line(5));
        assert_eq!(level(&APART, &first), Some("first-optimizer-step"));
        first.context.step.note(40, Span::line(5));
        assert_eq!(level(&APART, &first), None);
    }
}
