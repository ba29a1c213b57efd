//! One phase needs far more than the steady state.

use super::reading::{
    Kind, allocated_share, kind, on_gpu, one_piece, place, ramp, refused_although_free, request_share, size,
};
use super::{Cause, CauseId, engine};
use crate::dialect::{Fact, Sign};
use crate::domain::Number;
use crate::evidence::Evidence;
use crate::incident::Incident;
use crate::incident::context::{Clue, Phase};
use crate::text;
use crate::text::Text;
use crate::units::{Bytes, GIB, percent};

pub const CAUSE: Cause = Cause {
    id: CauseId::TransientPeak,
    title: || text!(en: "one phase needs far more than the rest", zh: "某个阶段出现显存峰值"),
    doc,
    prior,
    weigh,
    refute,
    fixtures: &["context/hf-trainer", "sglang/serving"],
};

fn doc() -> Text {
    Text::new(
        r#"One phase needs far more than the steady state: validation, the loss over a large vocabulary, the first optimizer step, saving a checkpoint, an engine's warm-up.

**How it shows.** A request of a tenth to a half of the device on top of a job that is already in place; a traceback in one of those phases; a failure at the first validation or the first checkpoint.

**Told from its neighbours.** From *one request far too large* by proportion: a peak is large but could fit if the rest were smaller. From *growth* by the first occurrence of the phase. From *capacity* by what the other phases need.

**Example.** `Tried to allocate 5.86 GiB … 31.74 GiB total … 24.10 GiB allocated, 4.90 GiB free` in a decoder that makes all logits at once."#,
        r#"某个阶段所需远超稳态：验证、大词表上的损失、第一次优化器更新、保存检查点、引擎预热。

**表现。** 任务已就位的情况下，又请求设备的十分之一到一半；回溯指向上述某个阶段；在第一次验证或第一次保存时失败。

**与相近原因的区别。** 与*单次请求过大*看比例：峰值虽大，但其余部分小一些就能放下。与*增长*看该阶段是否首次出现。与*容量不足*看其他阶段需要多少。

**示例。** `Tried to allocate 5.86 GiB … 31.74 GiB total … 24.10 GiB allocated, 4.90 GiB free`：解码器一次产生全部 logits。"#,
    )
}

fn prior(incident: &Incident) -> Option<f64> {
    match kind(incident) {
        Kind::Tensor => Some(-1.9),
        Kind::PooledTensor => Some(-1.0),
        Kind::Engine => Some(-0.8),
        Kind::WeightBuffers => Some(-2.5),
        Kind::KvCache => Some(-3.0),
        Kind::Host => Some(-2.6),
        Kind::Shm | Kind::OnChip => None,
    }
}

fn weigh(incident: &Incident) -> Vec<Evidence> {
    let ledger = &incident.ledger;
    let event = &incident.event;
    let context = &incident.context;
    let mut found = Vec::new();
    if let (Some(share), Some(requested)) = (request_share(incident), ledger.requested)
        && on_gpu(incident)
        && one_piece(incident)
        && !refused_although_free(incident)
    {
        let (want, part) = (size(requested), percent(share));
        let weight =
            ramp(share, &[(0.01, -1.2), (0.05, -0.4), (0.12, 0.6), (0.18, 1.5), (0.42, 1.9), (0.6, 1.2), (1.0, -3.0)]);
        found.push(
            Evidence::new(
                weight,
                if weight > 0.0 {
                    text!(en: "a single step asked for {want}, {part} of the device, on top of what was held", zh: "单个步骤在已占用之上又请求 {want}，占设备 {part}")
                } else if share >= 1.0 {
                    text!(en: "{want} is more than the device: no peak of a job that works", zh: "{want} 超过整个设备：不是正常任务的峰值")
                } else {
                    text!(en: "the request of {want} is small: no peak shows in it", zh: "请求 {want} 很小：看不出峰值")
                },
            )
            .at(place(event, Fact::Requested)),
        );
        if (0.15..1.0).contains(&share)
            && let (Some(held), Some(allocated)) = (allocated_share(incident), ledger.allocated)
            && held >= 0.7
        {
            let allocated = size(allocated);
            found.push(
                Evidence::new(0.7, text!(en: "{allocated} were already in place and working: the peak comes on top", zh: "已有 {allocated} 在正常使用：峰值叠加在其上"))
                    .at(place(event, Fact::Allocated)),
            );
        }
    }
    if let Some((temporary, at)) = event.facts.numbers.get(&Number::Temp) {
        let program = event.facts.number(Number::ProgramTotal).or(ledger.requested.map(|all| all.middle() as f64));
        if let Some(program) = program.filter(|program| *program > 0.0) {
            let share = temporary / program;
            let (amount, part) = (Bytes(*temporary as u64), percent(share));
            found.push(
                Evidence::new(ramp(share, &[(0.2, -1.5), (0.4, 0.0), (0.6, 1.8), (0.9, 2.5)]), text!(en: "{amount} of the program, {part}, are temporary buffers: activations and scratch", zh: "程序中有 {amount}（{part}）是临时缓冲区：激活和中间结果"))
                    .at(*at),
            );
        }
    } else if let Some((_, at)) = event.facts.numbers.get(&Number::WholeProgram)
        && let Some(requested) = ledger.requested.filter(|requested| requested.middle() >= GIB as i128)
    {
        let want = size(requested);
        found.push(
            Evidence::new(3.0, text!(en: "{want} are all temporary buffers of one compiled program at once: activations and scratch", zh: "{want} 是一个编译后程序的全部临时缓冲区：激活和中间结果"))
                .at(*at),
        );
    } else if !one_piece(incident) && event.facts.number(Number::Parameter) == Some(0.0) {
        found.push(
            Evidence::new(1.8, text!(en: "the program has no arguments: all that it needs is temporary", zh: "程序没有参数：所需全部是临时缓冲区"))
                .at(event.at),
        );
    }
    if let Some(phase) = context.phase.value() {
        let told = match phase {
            Phase::Validation => Some((2.2, "validation", "验证阶段")),
            Phase::Loss => Some((0.6, "the loss", "损失计算")),
            Phase::OptimizerStep => Some((0.9, "the optimizer step", "优化器更新")),
            // Rank 0 gathers the whole state in RAM before it is written.
            Phase::Checkpoint if kind(incident) == Kind::Host => Some((3.4, "saving a checkpoint", "保存检查点")),
            Phase::Checkpoint => Some((1.8, "saving a checkpoint", "保存检查点")),
            Phase::Resume => Some((0.6, "restoring a checkpoint", "恢复检查点")),
            Phase::Warmup => Some((1.0, "warm-up", "预热")),
            Phase::Compile => Some((0.8, "compilation", "编译")),
            _ => None,
        };
        if let Some((weight, en, zh)) = told {
            found.push(
                Evidence::new(weight, text!(en: "it failed in {en}, which needs memory of its own for a moment", zh: "失败发生在{zh}，该阶段会短暂需要额外内存"))
                    .seen(&context.phase),
            );
        }
    }
    for (clue, weight, en, zh) in [
        (
            Clue::VocabularyLogits,
            0.9,
            "the failing line makes logits or a loss over the whole vocabulary",
            "失败处产生整个词表大小的 logits 或损失",
        ),
        (
            Clue::OptimizerState,
            0.6,
            "the failing line creates optimizer state, which the first steps did without",
            "失败处正在创建优化器状态，最初几步还没有它",
        ),
        (
            Clue::ConvWorkspace,
            0.8,
            "a convolution's workspace or its autotuning is at work",
            "卷积工作区或其自动调优正在进行",
        ),
    ] {
        if let Some(span) = context.clues.get(&clue) {
            found.push(Evidence::new(weight, Text::new(en, zh)).at(*span));
        }
    }
    if event.has(Sign::EngineWarmup) {
        found.push(
            Evidence::new(0.6, text!(en: "the engine was warming up or capturing graphs after its pools had been set up", zh: "引擎的内存池已建好，正在预热或捕获计算图"))
                .at(event.at),
        );
    }
    found.extend(engine::beside_the_pool(incident));
    found
}

fn refute(incident: &Incident) -> Text {
    if incident.event.resource.on_host() {
        return text!(
            en: "Sample the resident memory once a second (`while sleep 1; do grep VmRSS /proc/PID/status; done`): if it climbs evenly instead of jumping before the end, it is no peak.",
            zh: "每秒采样一次常驻内存（`while sleep 1; do grep VmRSS /proc/PID/status; done`）：若是平缓上升而不是结尾突增，则不是瞬时峰值。"
        );
    }
    let accelerator = incident.event.accelerator();
    let meter = incident.event.meter();
    if !incident.event.program.reads_pytorch() || !accelerator.torch_keeps_a_peak() {
        let now = meter.now;
        return text!(
            en: "Sample `{now}` before and after each phase, and once a second within the failing one: if it climbs evenly instead of jumping, it is the steady state that does not fit.",
            zh: "在每个阶段前后以及失败阶段内每秒采样一次 `{now}`：若是平缓上升而不是突增，则是稳态放不下。"
        );
    }
    let (peak, module) = (meter.peak, accelerator.torch_module());
    text!(
        en: "Print `{peak}` after each phase, with `{module}.reset_peak_memory_stats()` in front of it: if the failing phase's peak is within 10 % of the others, it is the steady state that does not fit.",
        zh: "在每个阶段前调用 `{module}.reset_peak_memory_stats()`，阶段后打印 `{peak}`：若失败阶段的峰值与其他阶段相差不到 10 %，则是稳态放不下。"
    )
}

#[cfg(test)]
mod tests {
    use super::super::trial::{FULL_CARD, confidence, event, first, settled, torch};
    use super::*;
    use crate::dialect::Resource;
    use crate::domain::Program;
    use crate::evidence::{Known, Span};

    #[test]
    fn a_big_step_on_top_of_a_big_job_is_a_peak() {
        let incident = torch(&[
            (Fact::Requested, "8.10 GiB"),
            (Fact::Capacity, "31.74 GiB"),
            (Fact::Allocated, "24.10 GiB"),
            (Fact::Free, "6.40 GiB"),
            (Fact::Reserved, "24.60 GiB"),
        ]);
        assert_eq!(first(&incident), CauseId::TransientPeak);
    }

    #[test]
    fn the_phase_counts() {
        let plain = torch(&[]);
        let mut validation = torch(&[]);
        validation.context.phase = Known::Seen(Phase::Validation, Span::line(4));
        assert!(confidence(&validation, CauseId::TransientPeak) > 2.0 * confidence(&plain, CauseId::TransientPeak));
    }

    #[test]
    fn a_small_request_shows_no_peak() {
        assert!(confidence(&torch(&FULL_CARD), CauseId::TransientPeak) < 0.1);
    }

    #[test]
    fn what_a_compiled_program_asks_for_at_once_is_temporary() {
        let mut event = event(Program::Jax, Resource::Gpu, &[(Fact::Requested, "9.00 GiB")]);
        event.facts.numbers.insert(Number::WholeProgram, (1.0, Span::line(1)));
        assert_eq!(first(&settled(event)), CauseId::TransientPeak);
    }
}
