//! The job itself fills the device.

use super::reading::{
    Grown, Kind, allocated_share, entry, fitted_before, grown, kind, on_gpu, one_piece, place, ramp,
    refused_although_free, request_share, size, whole, whole_name,
};
use super::{Cause, CauseId, engine};
use crate::dialect::{Fact, Sign};
use crate::domain::Number;
use crate::evidence::{Evidence, Span};
use crate::incident::Incident;
use crate::incident::context::{Clue, Measure, Phase};
use crate::incident::recording::{Pieces, Recording, Verdict};
use crate::snapshot::what_if::Change;
use crate::text;
use crate::text::Text;
use crate::units::{Bytes, GIB, percent};

pub const CAUSE: Cause = Cause {
    id: CauseId::Capacity,
    title: || text!(en: "the job needs more than the device has", zh: "任务所需显存超过设备容量"),
    doc,
    prior,
    weigh,
    refute,
    fixtures: &[
        "pytorch/reserved-oom-class",
        "pytorch/private-pools",
        "context/ranks",
        "vllm/no-blocks",
        "llama.cpp/model",
    ],
};

fn doc() -> Text {
    Text::new(
        r#"The job itself fills the device: weights, gradients, optimizer state and activations together need more than there is.

**How it shows.** The framework's own tensors hold four fifths or more of the device, the cache beside them is small, nobody else holds much, and the request that failed is an ordinary one: a few percent of the device or less. A request of exactly 2 MiB or 20 MiB is the allocator's smallest segment and only says that the device was full.

**Told from its neighbours.** From *fragmentation* by the cache: a few hundred MiB of slack are the normal state of a full allocator. From *one request far too large* by the size of the request. From *growth* by the first steps: what does not fit fails in the first step or the first long batch, what leaks fails later. From *other processes* by the account of who holds what.

**Example.** `Tried to allocate 64.00 MiB … 15.77 GiB total … 14.90 GiB allocated … 21.00 MiB free, 15.05 GiB reserved`: 94 % of the device are the job's own tensors."#,
        r#"任务本身占满了设备：权重、梯度、优化器状态和激活合起来超过了设备容量。

**表现。** 框架自己的张量占设备的五分之四以上，旁边的缓存很小，其他进程占用不多，失败的请求大小正常（占设备百分之几或更少）。恰好 2 MiB 或 20 MiB 的请求是缓存分配器的最小段，只说明设备已满。

**与相近原因的区别。** 与*碎片化*看缓存：显存占满时有几百 MiB 余量是正常状态。与*单次请求过大*看请求大小。与*持续增长*看最初几步：放不下的任务在第一步或第一个长批次就失败，泄漏则在之后才失败。与*其他进程*看显存归属。

**示例。** `Tried to allocate 64.00 MiB … 15.77 GiB total … 14.90 GiB allocated … 21.00 MiB free, 15.05 GiB reserved`：设备的 94 % 是任务自己的张量。"#,
    )
}

fn prior(incident: &Incident) -> Option<f64> {
    match kind(incident) {
        Kind::Tensor => Some(0.0),
        Kind::PooledTensor => Some(-0.3),
        Kind::WeightBuffers => Some(0.0),
        Kind::Engine => Some(-1.2),
        Kind::KvCache => Some(-1.2),
        Kind::Host => Some(-2.5),
        Kind::Shm | Kind::OnChip => None,
    }
}

fn weigh(incident: &Incident) -> Vec<Evidence> {
    let ledger = &incident.ledger;
    let event = &incident.event;
    let mut found = Vec::new();
    if let (Some(share), Some(allocated), Some(capacity)) =
        (allocated_share(incident), ledger.allocated, whole(incident))
    {
        // The share of reports in which capacity was the cause rises steadily with what the job's own tensors hold.
        let weight = ramp(share, &[(0.1, -2.5), (0.4, -1.0), (0.6, -0.2), (0.75, 0.3), (0.9, 1.0)]);
        let share = percent(share);
        let (allocated, capacity) = (size(allocated), size(capacity));
        let Text { en: of, zh: of_zh } = whole_name(incident);
        found.push(
            Evidence::new(
                weight,
                if weight >= 0.0 {
                    text!(en: "the job's own tensors hold {allocated}, {share} of {of} ({capacity})", zh: "任务自身的张量占用 {allocated}，为{of_zh}（{capacity}）的 {share}")
                } else {
                    text!(en: "the job's own tensors hold only {allocated}, {share} of {of} ({capacity})", zh: "任务自身的张量只占用 {allocated}，为{of_zh}（{capacity}）的 {share}")
                },
            )
            .at(place(event, Fact::Allocated)),
        );
    }
    if let (Some(share), Some(requested)) = (request_share(incident), ledger.requested)
        && on_gpu(incident)
    {
        let requested = size(requested);
        let part = percent(share);
        if !one_piece(incident) {
            let all = whole(incident).map_or_else(String::new, |all| size(all).to_string());
            found.push(
                Evidence::new(0.8, text!(en: "the whole program needs {requested}; the device has {all}", zh: "整个程序需要 {requested}，而设备只有 {all}"))
                    .at(place(event, Fact::Requested)),
            );
        } else if share >= 1.0 {
            found.push(
                Evidence::new(-4.0, text!(en: "{requested} in one piece is more than the whole device: no amount of freeing helps", zh: "单次请求 {requested} 已超过整个设备：释放多少都没用"))
                    .at(place(event, Fact::Requested)),
            );
        } else if share >= 0.15 {
            found.push(
                Evidence::new(-0.6, text!(en: "one request of {requested} is {part} of the device, more than a steady shortage would show", zh: "单次请求 {requested} 占设备 {part}，不像一般的容量不足"))
                    .at(place(event, Fact::Requested)),
            );
        } else {
            found.push(
                Evidence::new(0.3, text!(en: "the request of {requested} is an ordinary one, {part} of the device", zh: "请求 {requested} 属于正常大小，占设备 {part}"))
                    .at(place(event, Fact::Requested)),
            );
        }
    }
    if on_gpu(incident)
        && kind(incident) != Kind::WeightBuffers
        && request_share(incident).is_none()
        && let Some(requested) = ledger.requested.filter(|requested| requested.middle() > (12 * GIB) as i128)
    {
        let want = size(requested);
        found.push(
            Evidence::new(-0.6, text!(en: "{want} in one piece is more than a steady shortage would show", zh: "单次请求 {want}，不像一般的容量不足"))
                .at(place(event, Fact::Requested)),
        );
    }
    if let (Some((parameters, at)), Some(total)) =
        (event.facts.numbers.get(&Number::Parameter), event.facts.number(Number::ProgramTotal))
        && total > 0.0
    {
        let kept = parameters + event.facts.number(Number::Output).unwrap_or(0.0);
        if kept >= 0.5 * total {
            let (kept, total) = (Bytes(kept as u64), Bytes(total as u64));
            found.push(
                Evidence::new(1.5, text!(en: "inputs and outputs of the program, {kept} of {total}, dominate: weights, optimizer state, batch", zh: "程序的输入和输出占主导：{total} 中的 {kept}，即权重、优化器状态和批次"))
                    .at(*at),
            );
        }
    }
    if refused_although_free(incident)
        && let Some(free) = ledger.free
    {
        let free = size(free);
        found.push(
            Evidence::new(
                -2.5,
                text!(en: "{free} were free, more than was asked for", zh: "当时空闲 {free}，多于请求量"),
            )
            .at(place(event, Fact::Free)),
        );
    }
    if let Some(phase) = incident.context.phase.value()
        && matches!(phase, Phase::Forward | Phase::Backward | Phase::Load)
        && on_gpu(incident)
    {
        let (en, zh) = match phase {
            Phase::Forward => ("the forward pass", "前向传播"),
            Phase::Backward => ("the backward pass", "反向传播"),
            _ => ("loading the model", "加载模型"),
        };
        found.push(
            Evidence::new(0.3, text!(en: "it failed in {en}, where the job's regular memory is taken", zh: "失败发生在{zh}，正是任务常规占用显存的阶段"))
                .seen(&incident.context.phase),
        );
    }
    if on_gpu(incident)
        && let Some((text, at)) = fitted_before(incident)
    {
        // A need that is too large by itself shows in the first steps, unless sizes vary.
        found.push(Evidence::new(-0.5, text).at(at));
    }
    if let Some(capacity) = ledger.capacity
        && let Some(first) = incident
            .context
            .series
            .iter()
            .filter(|series| matches!(series.measure, Measure::GpuAllocated | Measure::GpuUsed))
            .filter_map(|series| series.readings.first())
            .find(|first| first.bytes as i128 >= capacity.middle() / 10 * 8)
    {
        let (level, all) = (Bytes(first.bytes), size(capacity));
        found.push(
            Evidence::new(0.6, text!(en: "the first reading of the log already stands at {level} of {all}", zh: "日志中的第一个读数就已达 {all} 中的 {level}"))
                .at(Span::line(first.line)),
        );
    }
    if incident.context.has(Clue::SmallerBatchTried) {
        found.push(Evidence::new(
            -0.4,
            text!(en: "a smaller batch is said to have failed as well", zh: "据称减小批大小后仍然失败"),
        ));
    }
    if event.has(Sign::AsyncBackend)
        && let (Some(allocated), None) = (ledger.allocated, ledger.capacity)
    {
        let allocated = size(allocated);
        found.push(
            Evidence::new(
                0.8,
                text!(en: "the program's own allocations stood at {allocated}", zh: "程序自身已分配 {allocated}"),
            )
            .at(place(event, Fact::Allocated)),
        );
    }
    found.extend(engine::too_much(incident));
    if let Some(recording) = incident.proof() {
        found.extend(replayed(recording, grown(incident)));
    }
    found
}

/// What a replay of the very failure says about the size of the job.
fn replayed(recording: &Recording, grown: Option<Grown>) -> Vec<Evidence> {
    let mut found: Vec<Evidence> = room(recording).into_iter().collect();
    match grown {
        // That nothing else helps is as true of a device that a leak has filled.
        Some(Grown::Somehow) => found.iter_mut().for_each(|evidence| evidence.weight = evidence.weight.min(1.0)),
        Some(Grown::OverSteps) => {
            found.iter_mut().for_each(|evidence| evidence.weight = evidence.weight.min(0.5));
            found.push(
                Evidence::new(-3.0, text!(en: "what fills the device came step by step: the first ones had room", zh: "占满显存的内容是逐步累积的：最初几步放得下"))
                    .recorded(entry(recording)),
            );
        }
        None => {}
    }
    found
}

/// The job's need at the failure against what the allocator could have.
fn room(recording: &Recording) -> Option<Evidence> {
    let had = recording.reserved.saturating_add(recording.device_free?);
    let (asked, least) = (Bytes(recording.requested?), Bytes(recording.least));
    let shown = Bytes(had);
    let found = match recording.pieces()? {
        Pieces::InTheWay { full, .. } => {
            let weight = ramp(full, &[(0.85, -6.0), (0.93, 0.0), (0.97, 1.5)]);
            let part = percent(full);
            if full < 0.93 {
                Evidence::new(
                    weight,
                    text!(en: "with the {asked} asked for, the job's own tensors are {part} of the {shown} that the allocator could have: they fit", zh: "连同申请的 {asked}，任务自身的张量只占分配器可用 {shown} 的 {part}：放得下"),
                )
            } else {
                Evidence::new(
                    weight,
                    text!(en: "with the {asked} asked for, the job's own tensors are {part} of the {shown} that the allocator could have", zh: "连同申请的 {asked}，任务自身的张量已占分配器可用 {shown} 的 {part}"),
                )
            }
        }
        Pieces::NotInTheWay { .. } | Pieces::TooLittle if recording.least > had => Evidence::new(
            3.5,
            text!(en: "the program needs {least} at that moment, the {asked} asked for included; the allocator could have {shown}", zh: "连同申请的 {asked}，程序此刻需要 {least}，而分配器可用 {shown}"),
        ),
        Pieces::NotInTheWay { tried } => Evidence::new(
            2.5,
            text!(en: "replayed under {tried} other settings of the allocator, the {asked} cannot be had of {shown} under any", zh: "以另外 {tried} 种分配器设置重放，在可用的 {shown} 中都拿不到 {asked}"),
        ),
        Pieces::TooLittle => Evidence::new(
            2.5,
            text!(en: "free and cached memory together were less than the {asked} asked for, to the byte", zh: "空闲与缓存合计精确到字节也少于申请的 {asked}"),
        ),
    };
    Some(found.recorded(entry(recording)))
}

fn refute(incident: &Incident) -> Text {
    let peak = incident.event.meter().peak;
    if let Some(recording) = incident.proof()
        && let Some(half) = recording.trial(|trial| trial.change == Change::HalfBatch)
        && let Verdict::Serves { peak_reserved, .. } = half.verdict
    {
        let foreseen = Bytes(peak_reserved);
        return text!(
            en: "Run once with half the batch (or half the sequence or image size): the replay foresees {foreseen} reserved at most; if the failure comes at the same place all the same, the device is filled by something else.",
            zh: "将批大小（或序列长度、图像尺寸）减半运行一次：重放预计最多保留 {foreseen}；若仍在同一处失败，则显存被别的东西占满。"
        );
    }
    let batch = incident.context.batch_size.value().filter(|batch| *batch > 1);
    match batch {
        Some(batch) => {
            let half = batch / 2;
            text!(
                en: "Run once with batch size {half} instead of {batch} and print `{peak}` after step 3: if the peak stays where it was, the batch is not what fills the device.",
                zh: "将批大小从 {batch} 改为 {half} 运行一次，在第 3 步后打印 `{peak}`：若峰值不变，则显存并非被批大小占满。"
            )
        }
        None => text!(
            en: "Run once with half the batch (or half the sequence or image size) and print `{peak}` after step 3: if the peak does not fall, the device is filled by something else.",
            zh: "将批大小（或序列长度、图像尺寸）减半运行一次，在第 3 步后打印 `{peak}`：若峰值没有下降，则显存被别的东西占满。"
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
