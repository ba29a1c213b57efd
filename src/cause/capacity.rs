//! The job itself fills the device.

use super::nature::{self, JobKind, job_kind, one_piece};
use super::{Cause, CauseId};
use crate::account::proof::{self, Proof, ProofKind};
use crate::domain::program::Kind;
use crate::incident::Incident;
use crate::incident::context::Phase;
use crate::incident::recording::Verdict;
use crate::snapshot::what_if::Change;
use crate::text;
use crate::text::Text;
use crate::units::Bytes;

pub const CAUSE: Cause = Cause {
    id: CauseId::Capacity,
    title: || text!(en: "the job needs more than the device has", zh: "任务所需显存超过设备容量"),
    doc,
    refute,
    fixtures: &["pytorch/reserved-oom-class", "context/ranks", "vllm/no-blocks", "llama.cpp/model"],
};

fn doc() -> Text {
    Text::new(
        "The job itself fills the device: weights, gradients, optimizer state and activations together need more than \
         there is.\n\n\
         **How it shows.** The framework's own tensors hold four fifths or more of the device, the cache beside them \
         is small, nobody else holds much, and the request that failed is an ordinary one: a few percent of the device \
         or less. A request of exactly 2 MiB or 20 MiB is the allocator's smallest segment and only says that the \
         device was full.\n\n\
         **Told from its neighbours.** From *fragmentation* by the cache: a few hundred MiB of slack are the normal \
         state of a full allocator. From *one request far too large* by the size of the request. From *growth* by the \
         first steps: what does not fit fails in the first step or the first long batch, what leaks fails later. From \
         *other processes* by the account of who holds what.\n\n\
         **Example.** `Tried to allocate 64.00 MiB … 15.77 GiB total … 14.90 GiB allocated … 21.00 MiB free, 15.05 GiB \
         reserved`: 94 % of the device are the job's own tensors.",
        "任务本身占满了设备：权重、梯度、优化器状态和激活合起来超过了设备容量。\n\n\
         **表现。** 框架自己的张量占设备的五分之四以上，旁边的缓存很小，其他进程占用不多，失败的请求大小正常（占设备百\
         分之几或更少）。恰好 2 MiB 或 20 MiB 的请求是缓存分配器的最小段，只说明设备已满。\n\n\
         **与相近原因的区别。** 与*碎片化*看缓存：显存占满时有几百 MiB 余量是正常状态。与*单次请求过大*看请求大小。与*\
         持续增长*看最初几步：放不下的任务在第一步或第一个长批次就失败，泄漏则在之后才失败。与*其他进程*看显存归属。\n\
         \n\
         **示例。** `Tried to allocate 64.00 MiB … 15.77 GiB total … 14.90 GiB allocated … 21.00 MiB free, 15.05 GiB \
         reserved`：设备的 94 % 是任务自己的张量。",
    )
}

fn refute(incident: &Incident) -> Text {
    let peak = incident.meter().peak;
    if let Some(recording) = incident.proof()
        && let Some(half) = recording.trial(|trial| trial.change == Change::HalfBatch)
        && let Verdict::Serves { peak_reserved, .. } = half.verdict
    {
        let foreseen = Bytes(peak_reserved);
        return text!(
            en: "Run once with half the batch (or half the sequence or image size): the replay foresees {foreseen} \
                 reserved at most; if the failure comes at the same place all the same, the device is filled by \
                 something else.",
            zh: "将批大小（或序列长度、图像尺寸）减半运行一次：重放预计最多保留 {foreseen}；若仍在同一处失败，则显存被\
                 别的东西占满。"
        );
    }
    // Where the states alone are too large, no batch is the test of it.
    if let Some(states) = incident.context.model_states(&incident.event)
        && let Some(capacity) = incident.ledger.capacity
        && proof::of(&incident.proofs(), ProofKind::StatesExceedDevice).is_some_and(Proof::certain)
    {
        let most = format!("{:.1}", capacity.high as f64 / states.bytes_each.0.max(0.1) / 1e9);
        return text!(
            en: "Print `sum(p.numel() for p in model.parameters())`: up to {most} billion, the states could fit this \
                 device, and something else fills it.",
            zh: "打印 `sum(p.numel() for p in model.parameters())`：若不超过 {most}×10⁹，模型状态放得进该设备，显存是被\
                 别的东西占满的。"
        );
    }
    if matches!(incident.context.phase.value(), Some(Phase::Load | Phase::Resume)) {
        return text!(
            en: "Load once with half of the layers, or in a narrower type: if it fails at the same figures, the device \
                 is filled by something other than the weights.",
            zh: "只加载一半的层，或以更窄的类型加载一次：若在同样的数字处失败，则显存不是被权重占满的。"
        );
    }
    if job_kind(incident) == Some(JobKind::Serving) {
        return text!(
            en: "Start once with a model of half the size, all else unchanged: if it fails at the same figures, the \
                 device is filled by something other than the model.",
            zh: "其他不变，换一个大小减半的模型启动一次：若在同样的数字处失败，则显存不是被模型占满的。"
        );
    }
    // Nothing runs where the compiler refuses, and what it plans it prints.
    if !one_piece(incident) {
        return text!(
            en: "Compile once with half the batch (or half the sequence or image size): if the message prints as large \
                 a need as before, it is not what fills the device.",
            zh: "将批大小（或序列长度、图像尺寸）减半编译一次：若报错打印的需求不变，则占满设备的不是它。"
        );
    }
    let batch = incident.context.batch_size.value().filter(|batch| *batch > 1);
    match batch {
        Some(batch) => {
            let half = batch / 2;
            text!(
                en: "Run once with batch size {half} instead of {batch} and print `{peak}` after step 3: if the peak \
                     stays where it was, the batch is not what fills the device.",
                zh: "将批大小从 {batch} 改为 {half} 运行一次，在第 3 步后打印 `{peak}`：若峰值不变，则显存并非被批大小\
                     占满。"
            )
        }
        // A renderer, a game, an encoder: neither batches nor steps.
        None if !nature::trains(incident)
            && !incident.event.on_pytorch()
            && incident.event.program.kind() != Kind::TrainingFramework =>
        {
            text!(
                en: "Run once on half as much (a smaller input, or a smaller model) and look at `{peak}` meanwhile: \
                     if it does not fall, the device is filled by something else.",
                zh: "将处理量减半（更小的输入或更小的模型）运行一次，同时查看 `{peak}`：若没有下降，则显存被别的东西\
                     占满。"
            )
        }
        None => text!(
            en: "Run once with half the batch (or half the sequence or image size) and print `{peak}` after step 3: if \
                 the peak does not fall, the device is filled by something else.",
            zh: "将批大小（或序列长度、图像尺寸）减半运行一次，在第 3 步后打印 `{peak}`：若峰值没有下降，则显存被别的东\
                 西占满。"
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::super::trial::{FULL_CARD, confidence, first, torch};
    use super::*;

    #[test]
    fn a_card_filled_by_its_own_tensors_is_a_matter_of_capacity() {
        let incident = torch(&FULL_CARD);
        assert_eq!(first(&incident), CauseId::Capacity);
        assert!(confidence(&incident, CauseId::Capacity) > 0.5);
    }

    #[test]
    fn a_request_beyond_the_device_speaks_against_it() {
        let mut figures = FULL_CARD;
        figures[0].1 = "40.00 GiB";
        assert!(confidence(&torch(&figures), CauseId::Capacity) < 0.05);
    }

    #[test]
    fn the_batch_is_named_in_the_counter_proof() {
        let mut incident = torch(&FULL_CARD);
        incident.context.batch_size.note(24, crate::evidence::Span::line(3));
        let refute = refute(&incident);
        assert!(refute.en.contains("batch size 12 instead of 24") && refute.zh.contains("从 24 改为 12"), "{refute:?}");
    }

    #[test]
    fn growth_from_the_start_refutes_it_although_no_settings_help() {
        use crate::incident::recording::Rise;
        use crate::units::{GIB, MIB};
        let mut recording = super::super::trial::recording(12 * GIB, None);
        recording.cached = 100 * MIB;
        recording.reserved = 12 * GIB + 100 * MIB;
        let full = Incident { recording: Some(recording.clone()), ..torch(&FULL_CARD) };
        assert!(confidence(&full, CauseId::Capacity) > 0.9);
        recording.growth =
            Some(Rise { by_steps: true, first: GIB, last: 12 * GIB, windows: 12, per_window: GIB, places: Vec::new() });
        let grown = Incident { recording: Some(recording), ..full };
        assert_eq!(first(&grown), CauseId::LeakGrowth);
        assert!(confidence(&grown, CauseId::Capacity) < 0.1);
    }
}
