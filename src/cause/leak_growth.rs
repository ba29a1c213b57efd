//! Usage grows until it hits the limit.

use super::mechanism::rising;
use super::{Cause, CauseId};
use crate::domain::System;
use crate::incident::Incident;
use crate::text;
use crate::text::Text;

pub const CAUSE: Cause = Cause {
    id: CauseId::LeakGrowth,
    title: || text!(en: "usage grows over time", zh: "占用随时间增长"),
    doc,
    refute,
    fixtures: &["context/leak", "host/after-two-days", "host/last-straw-go"],
};

fn doc() -> Text {
    Text::new(
        "Usage grows over steps, epochs or requests until it meets the limit. The request that fails is merely the \
         last straw.\n\n\
         **How it shows.** Memory readings that rise after warm-up; a failure after many steps of equal size; a \
         failing line that collects results (`torch.cat` of predictions, a list of losses that keep their graphs); \
         private pools that hold most of the device because graphs are captured for every new shape; hours between \
         start and kill.\n\n\
         **Told from its neighbours.** From *capacity* by time: what fails in step one cannot have grown. From *a \
         phase that needs more* by repetition: the same phase passed before. A level that was reached and then kept is \
         no growth. For hosts, page cache is reclaimed and no leak.\n\n\
         **Example.** `losses.append(loss)` instead of `losses.append(loss.item())` keeps every step's graph: the rise \
         per step is the size of the activations.",
        "占用随步数、epoch 或请求不断增长，直到触及上限。失败的请求只是最后一根稻草。\n\n\
         **表现。** 预热之后内存读数仍在上升；在许多同样大小的步之后失败；失败处在收集结果（对预测做 `torch.cat`、把带\
         计算图的 loss 存进列表）；私有池占据设备大部分，因为每个新形状都录制计算图；启动与被杀之间相隔数小时。\n\n\
         **与相近原因的区别。** 与*容量不足*看时间：第一步就失败不可能是增长。与*阶段峰值*看重复：同一阶段此前通过了。\
         达到某一水平后保持不变不是增长。对主机而言，页缓存可回收，不算泄漏。\n\n\
         **示例。** 写成 `losses.append(loss)` 而不是 `losses.append(loss.item())` 会保留每一步的计算图：每步上升量就是\
         激活的大小。",
    )
}

fn refute(incident: &Incident) -> Text {
    // What rises in the log has been watched: what is open is whether it would have ended.
    if rising(incident) {
        return text!(
            en: "Run once with half the batch or half the data at a time: if the same readings level off below the \
                 limit, what rose was need, not something kept.",
            zh: "将批大小或单次处理的数据减半运行一次：若同样的读数在上限之下趋于平稳，则上升的是正常需求，并非泄漏。"
        );
    }
    if incident.event.resource.on_host() {
        let now = match incident.system() {
            System::Linux => "ps -o rss= -p PID",
            system => system.process().now,
        };
        return text!(
            en: "Log the resident memory of the process and its children at intervals (`{now}`): if it is flat once \
                 the program has set up, nothing leaks.",
            zh: "定时记录进程及其子进程的常驻内存（`{now}`）：若程序完成初始化后不再上升，则没有泄漏。"
        );
    }
    let now = incident.meter().now;
    text!(
        en: "Print `{now}` at the same point of every step: if it is the same after 10 and after 200 steps, nothing \
             grows.",
        zh: "在每一步的同一位置打印 `{now}`：若第 10 步与第 200 步相同，则没有增长。"
    )
}

#[cfg(test)]
mod tests {
    use super::super::trial::{FULL_CARD, confidence, first, torch};
    use super::*;
    use crate::dialect::Fact;
    use crate::domain::Number;
    use crate::evidence::Span;
    use crate::incident::context::{Clue, Measure};
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
        let flat = confidence(&with_readings(|_| 14 * GIB), CauseId::LeakGrowth);
        assert!(flat < confidence(&torch(&FULL_CARD), CauseId::LeakGrowth));
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
        assert!(confidence(&recorded_growth(Some(1), 30), CauseId::LeakGrowth) < 0.2, "one pass has its activations");
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
        assert!(confidence(&flat, CauseId::LeakGrowth) < 0.05);
    }
}
