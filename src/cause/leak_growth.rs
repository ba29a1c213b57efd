//! Usage grows until it hits the limit.

use super::reading::{Grown, Kind, entry, fitted_before, grown, kind, place, ramp, request_share};
use super::{Cause, CauseId};
use crate::account::Holder;
use crate::dialect::{Fact, Resource, Sign};
use crate::domain::{Number, Program};
use crate::evidence::{Evidence, Span};
use crate::incident::Incident;
use crate::incident::context::{Clue, Measure, Phase};
use crate::text;
use crate::text::Text;
use crate::units::{Bytes, MIB, percent};

pub const CAUSE: Cause = Cause {
    id: CauseId::LeakGrowth,
    title: || text!(en: "usage grows over time", zh: "占用随时间增长"),
    doc,
    prior,
    weigh,
    refute,
    fixtures: &["context/leak", "host/after-two-days", "host/last-straw-go"],
};

fn doc() -> Text {
    Text::new(
        r#"Usage grows over steps, epochs or requests until it meets the limit. The request that fails is merely the last straw.

**How it shows.** Memory readings that rise after warm-up; a failure after many steps of equal size; a failing line that collects results (`torch.cat` of predictions, a list of losses that keep their graphs); private pools that hold most of the device because graphs are captured for every new shape; hours between start and kill.

**Told from its neighbours.** From *capacity* by time: what fails in step one cannot have grown. From *a phase that needs more* by repetition: the same phase passed before. A level that was reached and then kept is no growth. For hosts, page cache is reclaimed and no leak.

**Example.** `losses.append(loss)` instead of `losses.append(loss.item())` keeps every step's graph: the rise per step is the size of the activations."#,
        r#"占用随步数、epoch 或请求不断增长，直到触及上限。失败的请求只是最后一根稻草。

**表现。** 预热之后内存读数仍在上升；在许多同样大小的步之后失败；失败处在收集结果（对预测做 `torch.cat`、把带计算图的 loss 存进列表）；私有池占据设备大部分，因为每个新形状都录制计算图；启动与被杀之间相隔数小时。

**与相近原因的区别。** 与*容量不足*看时间：第一步就失败不可能是增长。与*阶段峰值*看重复：同一阶段此前通过了。达到某一水平后保持不变不是增长。对主机而言，页缓存可回收，不算泄漏。

**示例。** 写成 `losses.append(loss)` 而不是 `losses.append(loss.item())` 会保留每一步的计算图：每步上升量就是激活的大小。"#,
    )
}

fn prior(incident: &Incident) -> Option<f64> {
    match kind(incident) {
        Kind::Tensor => Some(-2.2),
        Kind::PooledTensor => Some(-2.0),
        Kind::Engine => Some(-2.5),
        Kind::WeightBuffers => Some(-3.0),
        Kind::Host => Some(-1.5),
        Kind::KvCache | Kind::Shm | Kind::OnChip => None,
    }
}

fn weigh(incident: &Incident) -> Vec<Evidence> {
    let event = &incident.event;
    let context = &incident.context;
    let mut found = Vec::new();
    if let Some(pools) = incident.ledger.amount(Holder::PrivatePools)
        && let Some(share) = incident.ledger.share(Some(pools))
        && share >= 0.3
    {
        // An engine's or compiler's graphs take a few hundred MiB; most of a card means graphs recorded over and over.
        let part = percent(share);
        found.push(
            Evidence::new(3.5, text!(en: "{pools}, {part} of the device, sit idle in private pools: graphs are recorded again and again and never dropped", zh: "{pools}（设备的 {part}）闲置在私有池中：CUDA Graph 被反复录制且从未释放"))
                .at(place(event, Fact::PrivatePools)),
        );
    }
    found.extend(readings(incident));
    found.extend(recorded(incident));
    if let Some(span) = context.clues.get(&Clue::Accumulates) {
        found.push(
            Evidence::new(2.8, text!(en: "the failing line collects results over steps, so each step holds more than the last", zh: "失败处在逐步累积结果，每一步都比上一步占用更多"))
                .at(*span),
        );
    }
    if let Some(span) = context.clues.get(&Clue::SampleCache) {
        found.push(
            Evidence::new(1.0, text!(en: "samples are cached in RAM as they are read", zh: "样本在读取时被缓存到内存"))
                .at(*span),
        );
    }
    if let Some(span) = context.clues.get(&Clue::LongLived) {
        found.push(
            Evidence::new(0.7, text!(en: "the program is long-lived and may hold earlier results", zh: "程序长期运行，可能仍持有先前的结果"))
                .at(*span),
        );
    }
    if let Some((text, at)) = fitted_before(incident) {
        // On a host, what loaders and models need is in place after the first epoch.
        let weight = if kind(incident) == Kind::Host { 1.5 } else { 0.6 };
        found.push(Evidence::new(weight, text).at(at));
    }
    if kind(incident) == Kind::PooledTensor
        && let Some(requested) = event.facts.get(Fact::Requested).filter(|requested| requested.bytes < MIB)
    {
        let want = Bytes(requested.bytes);
        found.push(
            Evidence::new(1.8, text!(en: "a request of {want} was the last straw: the pool had filled up with what is kept", zh: "{want} 的请求只是最后一根稻草：内存池已被保留的内容填满"))
                .at(requested.at),
        );
    }
    if kind(incident) == Kind::Tensor
        && incident.ledger.capacity.is_none()
        && let (Some(free), Some(requested)) = (event.facts.get(Fact::Free), event.facts.get(Fact::Requested))
        && free.bytes < 64 * MIB
        && requested.bytes < 256 * MIB
    {
        let (left, want) = (Bytes(free.bytes), Bytes(requested.bytes));
        found.push(
            Evidence::new(2.0, text!(en: "{want} were asked for with {left} left: the device had filled up before, this request is the last straw", zh: "只剩 {left} 时请求 {want}：设备早已被填满，这只是最后一根稻草"))
                .at(free.at),
        );
    }
    if let Some((rounds, at)) = event.facts.numbers.get(&Number::RoundsBefore) {
        // A second round may be a larger one; after dozens what failed is what the earlier ones left behind.
        let weight = ramp(*rounds, &[(1.0, 2.0), (10.0, 2.8), (100.0, 3.6)]);
        let rounds = *rounds as u64;
        found.push(
            Evidence::new(weight, text!(en: "the same work had been done {rounds} times before in this process: earlier models or buffers are still held", zh: "同样的工作在该进程中此前已完成 {rounds} 次：先前的模型或缓冲区仍未释放"))
                .at(*at),
        );
    }
    if let Some((seconds, at)) = event.facts.numbers.get(&Number::LifetimeSeconds) {
        // Start-up needs show within minutes; what takes hours to reach the limit grew.
        let hours = seconds / 3600.0;
        let weight = ramp(hours, &[(0.02, -1.0), (0.5, 0.0), (2.0, 0.8), (6.0, 1.8), (24.0, 2.6), (48.0, 3.2)]);
        let told = format!("{hours:.1}");
        found.push(
            Evidence::new(
                weight,
                text!(en: "it ran for {told} hours before it was killed", zh: "在被杀之前运行了 {told} 小时"),
            )
            .at(*at),
        );
    }
    if let Some((kills, at)) = event.facts.numbers.get(&Number::Kills)
        && *kills >= 100.0
    {
        let kills = *kills as u64;
        found.push(
            Evidence::new(2.6, text!(en: "{kills} processes were in the unit that was killed: processes pile up", zh: "被杀的单元中有 {kills} 个进程：进程在不断堆积"))
                .at(*at),
        );
    }
    found.extend(host_growth(incident));
    if event.resource == Resource::Host
        && let Some((share, at)) = hog_of_machine(incident)
    {
        let part = percent(share);
        found.push(
            Evidence::new(2.4, text!(en: "one process had grown to {part} of the whole machine", zh: "一个进程已增长到整机内存的 {part}"))
                .at(at),
        );
    }
    if let Some(share) = request_share(incident)
        && share >= 0.5
    {
        found.push(
            Evidence::new(-1.5, text!(en: "the request is {} of the device: too large for the last straw", zh: "请求占设备 {}：不像压垮骆驼的最后一根稻草", percent(share)))
                .at(place(event, Fact::Requested)),
        );
    }
    if context.phase.value() == Some(Phase::Load) || event.has(Sign::ContextCreation) || event.has(Sign::EngineStartup)
    {
        found.push(Evidence::new(
            -1.5,
            text!(en: "it failed at start-up, before anything could grow", zh: "失败发生在启动阶段，还来不及增长"),
        ));
    }
    found
}

/// What a memory snapshot of the very failure shows: growth over the steps of the optimizer, growth all through a recording
/// that the log shows to span several steps, or none over the steps recorded.
fn recorded(incident: &Incident) -> Vec<Evidence> {
    let Some(recording) = incident.proof() else { return Vec::new() };
    let at = || entry(recording);
    let Some(rise) = &recording.growth else {
        let steps = recording.steps;
        if steps < 4 {
            return Vec::new();
        }
        let text = text!(
            en: "the snapshot spans {steps} steps of the optimizer, and nothing grows from one to the next",
            zh: "快照覆盖 {steps} 个优化器步，步与步之间没有增长"
        );
        return vec![Evidence::new(-3.0, text).recorded(at())];
    };
    let Some(grown) = grown(incident) else { return Vec::new() };
    let (first, last, each, steps) = (Bytes(rise.first), Bytes(rise.last), Bytes(rise.per_window), rise.windows);
    let (weight, text) = match grown {
        Grown::OverSteps if rise.by_steps => (
            6.5,
            text!(
                en: "memory in use between steps grows from {first} to {last} over {steps} steps of the optimizer, {each} from one to the next",
                zh: "步间占用在 {steps} 个优化器步内从 {first} 增长到 {last}，每步增加 {each}"
            ),
        ),
        Grown::OverSteps => (
            6.5,
            text!(
                en: "what is not given back grows from {first} to {last} from the start of the run on, over the steps that the log shows",
                zh: "自运行开始，未归还的显存在日志所示的各训练步中从 {first} 持续增长到 {last}"
            ),
        ),
        Grown::Somehow => (
            2.0,
            text!(
                en: "what is not given back grows from {first} to {last} all through the snapshot: a leak if that is several steps, the activations of one pass if not",
                zh: "未归还的显存在整个快照中从 {first} 增长到 {last}：若跨越多个训练步则是泄漏，若只有一次前向则是其激活"
            ),
        ),
    };
    let mut found = vec![Evidence::new(weight, text).recorded(at())];
    if let Some((held, passes)) = recording.passes_kept() {
        let (place, blocks) = (&held.place, held.blocks);
        if passes >= 5 {
            found.push(Evidence::new(4.0, Text::new(
                format!("{blocks} results of {} are kept at once, {passes} for each tensor of parameters: those of many passes, unless the model is recurrent", place.en),
                format!("{} 的 {blocks} 个结果同时存活，平均每个参数张量 {passes} 个：除非模型是循环结构，否则来自多次前向", place.zh),
            )).recorded(at()));
        } else if grown == Grown::Somehow {
            found.push(
                Evidence::new(
                    -1.0,
                    Text::new(
                        format!("{} keeps {blocks} results, no more than one pass over the model makes", place.en),
                        format!("{} 保留 {blocks} 个结果，不多于模型一次前向所产生的", place.zh),
                    ),
                )
                .recorded(at()),
            );
        }
    }
    if grown == Grown::OverSteps
        && let Some((place, bytes)) = rise.places.first()
    {
        let bytes = Bytes(*bytes);
        found.push(
            Evidence::new(
                0.5,
                Text::new(
                    format!("{bytes} of the growth come from {}", place.en),
                    format!("增长中的 {bytes} 来自 {}", place.zh),
                ),
            )
            .recorded(at()),
        );
    }
    found
}

/// What on a host tells growth from a need that was there from the start.
fn host_growth(incident: &Incident) -> Vec<Evidence> {
    let event = &incident.event;
    let mut found = Vec::new();
    if kind(incident) != Kind::Host {
        return found;
    }
    if let (Some(requested), Some(held)) = (event.facts.get(Fact::Requested), event.facts.get(Fact::Allocated))
        && requested.bytes <= held.bytes / 8
    {
        let (want, held) = (Bytes(requested.bytes), Bytes(held.bytes));
        found.push(
            Evidence::new(2.4, text!(en: "{want} more were asked for on top of {held} in use: the request is the last straw", zh: "已用 {held}，又请求 {want}：这只是最后一根稻草"))
                .at(requested.at),
        );
    }
    if let Some(at) = incident.context.clues.get(&Clue::GrowingList) {
        found.push(
            Evidence::new(2.8, text!(en: "single blocks of a GiB and more are reported on the way: one list or buffer that is enlarged again and again", zh: "途中多次报告 1 GiB 以上的单块分配：某个列表或缓冲区在反复扩容"))
                .at(*at),
        );
    }
    if let Some((slab, at)) = event.facts.numbers.get(&Number::SlabUnreclaimable)
        && let Some(all) = incident.ledger.bound
        && *slab >= 0.3 * all.middle() as f64
        && event.resource == Resource::Host
    {
        let (slab, all) = (Bytes(*slab as u64), Bytes(all.middle_bytes()));
        found.push(
            Evidence::new(3.0, text!(en: "{slab} of {all} are kernel objects that cannot be reclaimed: a leak in the kernel or a driver, no process is to blame", zh: "{all} 中有 {slab} 是不可回收的内核对象：内核或驱动泄漏，与任何进程无关"))
                .at(*at),
        );
    }
    found
}

/// What the memory readings of the log show: growth that goes on, or a flat line.
fn readings(incident: &Incident) -> Option<Evidence> {
    let on_host = incident.event.resource.on_host();
    let has_allocated = incident.context.series.iter().any(|series| series.measure == Measure::GpuAllocated);
    let (series, growth) = incident
        .context
        .series
        .iter()
        .filter(|series| series.measure.on_device() != on_host)
        // Reserved memory that grows while allocated memory does not is a cache in pieces, no growth of the job.
        .filter(|series| series.measure != Measure::GpuReserved || !has_allocated)
        .filter_map(|series| Some((series, series.growth()?)))
        .max_by(|a, b| a.1.confidence.total_cmp(&b.1.confidence))?;
    let (from, to) = (series.readings.first()?, series.readings.last()?);
    let at = Span::lines(from.line, to.line);
    let (start, end) = (Bytes(from.bytes), Bytes(to.bytes));
    let count = growth.readings;
    if growth.confidence >= 0.25 {
        let weight = ramp(growth.confidence, &[(0.25, 1.5), (0.5, 3.3), (0.8, 4.8)]);
        let relative = percent(growth.relative_rise);
        Some(
            Evidence::new(weight, text!(en: "{count} readings rise from {start} to {end} and go on rising after warm-up (by {relative})", zh: "{count} 个读数从 {start} 升到 {end}，预热之后仍在上升（{relative}）"))
                .at(at),
        )
    } else if growth.confidence < 0.05 && count >= 6 {
        Some(
            Evidence::new(-1.0, text!(en: "{count} readings between {start} and {end} show no lasting rise", zh: "{count} 个读数（{start} 到 {end}）没有持续上升"))
                .at(at),
        )
    } else {
        None
    }
}

/// The share of the machine's memory that one process held when the kernel chose it, where the report tells. The kernel's
/// score is that share in thousandths (less an adjustment).
fn hog_of_machine(incident: &Incident) -> Option<(f64, Span)> {
    let facts = &incident.event.facts;
    let by_table = facts.numbers.get(&Number::VictimShareOfLimit).map(|(share, at)| (*share, *at));
    let by_kill = facts.get(Fact::AnonRss).and_then(|rss| {
        let machine = facts.get(Fact::Capacity)?;
        Some((rss.bytes as f64 / machine.bytes.max(1) as f64, rss.at))
    });
    let by_score = facts
        .numbers
        .get(&Number::Score)
        .filter(|_| {
            facts.number(Number::OomScoreAdj).unwrap_or(0.0) == 0.0 && incident.event.program == Program::LinuxKernel
        })
        .map(|(score, at)| (score / 1000.0, *at));
    [by_table, by_kill, by_score]
        .into_iter()
        .flatten()
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .filter(|(share, _)| (0.7..=1.1).contains(share))
}

fn refute(incident: &Incident) -> Text {
    if incident.event.resource.on_host() {
        return text!(
            en: "Log the resident memory of the main process and its workers once a minute (`ps -o rss= -p PID`): if it is flat after the first epoch, nothing leaks.",
            zh: "每分钟记录主进程和 worker 的常驻内存（`ps -o rss= -p PID`）：若第一个 epoch 后不再上升，则没有泄漏。"
        );
    }
    let now = incident.event.meter().now;
    text!(
        en: "Print `{now}` at the same point of every step: if it is the same after 10 and after 200 steps, nothing grows.",
        zh: "在每一步的同一位置打印 `{now}`：若第 10 步与第 200 步相同，则没有增长。"
    )
}

#[cfg(test)]
mod tests {
    use super::super::trial::{FULL_CARD, confidence, first, torch};
    use super::*;
    use crate::incident::context::{Reading, Series, StepUnit};
    use crate::units::GIB;

    fn with_readings(bytes_at: impl Fn(u64) -> u64) -> Incident {
        let mut incident = torch(&FULL_CARD);
        let readings = (0..40).map(|i| Reading { line: i + 1, step: Some(i as f64), bytes: bytes_at(i) }).collect();
        incident.context.series.push(Series {
            measure: Measure::GpuAllocated,
            rank: None,
            per: StepUnit::Step,
            running_maximum: false,
            readings,
        });
        incident
    }

    #[test]
    fn readings_that_rise_to_the_end_are_growth() {
        let incident = with_readings(|i| 4 * GIB + i * (GIB / 4));
        assert_eq!(first(&incident), CauseId::LeakGrowth);
    }

    #[test]
    fn readings_that_stay_flat_speak_against_it() {
        let odds = |incident: &Incident| weigh(incident).iter().map(|evidence| evidence.weight).sum::<f64>();
        assert!(odds(&with_readings(|_| 14 * GIB)) < odds(&torch(&FULL_CARD)));
    }

    #[test]
    fn graphs_that_fill_the_device_are_growth() {
        let incident = torch(&[
            (Fact::Requested, "2.00 MiB"),
            (Fact::Capacity, "39.39 GiB"),
            (Fact::Free, "1.00 MiB"),
            (Fact::Allocated, "38.60 GiB"),
            (Fact::PrivatePools, "37.10 GiB"),
            (Fact::ReservedUnallocated, "120.00 MiB"),
        ]);
        assert_eq!(first(&incident), CauseId::LeakGrowth);
    }

    #[test]
    fn a_failing_line_that_collects_results_is_growth() {
        let mut incident = torch(&[]);
        incident.context.clues.insert(Clue::Accumulates, Span::line(5));
        assert_eq!(first(&incident), CauseId::LeakGrowth);
    }

    #[test]
    fn work_that_fitted_many_times_before_leaves_something_behind() {
        let mut incident = torch(&[]);
        let before = confidence(&incident, CauseId::LeakGrowth);
        incident.event.facts.numbers.insert(Number::RoundsBefore, (120.0, Span::line(2)));
        assert!(confidence(&incident, CauseId::LeakGrowth) > 3.0 * before);
    }

    fn recorded_growth(step: Option<u64>, blocks: u64) -> Incident {
        use crate::incident::recording::{HeldAt, Rise};
        use crate::snapshot::holders::{Category, Certainty};
        let mut recording = super::super::trial::recording(12 * GIB, None);
        recording.growth = Some(Rise {
            by_steps: false,
            first: GIB,
            last: 11 * GIB,
            windows: 14,
            per_window: GIB,
            places: Vec::new(),
        });
        let held = |category, blocks| HeldAt {
            place: Text::same("train.py:12 step"),
            own_code: true,
            bytes: GIB,
            blocks,
            category,
            certainty: Certainty::Likely,
        };
        recording.holders = vec![held(Category::Activations, blocks), held(Category::Parameters, 20)];
        let mut incident = torch(&FULL_CARD);
        if let Some(step) = step {
            incident.context.step.note(step, Span::line(3));
        }
        Incident { recording: Some(recording), ..incident }
    }

    #[test]
    fn recorded_growth_is_a_leak_where_the_log_shows_several_steps() {
        assert!(confidence(&recorded_growth(Some(60), 30), CauseId::LeakGrowth) > 0.9);
        assert!(recorded(&recorded_growth(Some(1), 30)).is_empty(), "one pass has its activations");
        let mut late = recorded_growth(Some(60), 30);
        late.recording.as_mut().expect("a recording").from_the_start = false;
        assert!(confidence(&late, CauseId::LeakGrowth) < 0.5, "the recording may be of the last pass alone");
    }

    #[test]
    fn results_of_many_passes_kept_at_once_are_a_leak_without_any_log() {
        assert!(confidence(&recorded_growth(None, 600), CauseId::LeakGrowth) > 0.8);
        assert_eq!(first(&recorded_growth(None, 30)), CauseId::Capacity);
    }

    #[test]
    fn steps_recorded_without_growth_speak_against_it() {
        let mut flat = recorded_growth(None, 30);
        let recording = flat.recording.as_mut().expect("a recording");
        (recording.growth, recording.steps) = (None, 9);
        assert_eq!(recorded(&flat).iter().map(|evidence| evidence.weight).sum::<f64>(), -3.0);
    }
}
