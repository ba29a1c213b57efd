//! The plan of a program that a compiler laid out.

use super::strangers::LEFT_OVERS;
use super::{Mechanism, Reading};
use crate::cause::nature::one_piece;
use crate::cause::reading::{size, whole};
use crate::domain::{Number, Resource};
use crate::text;
use crate::units::{Bytes, GIB, MIB, percent};

/// Bytes of a whole program that any device has.
const SLIVER: f64 = 512.0 * MIB as f64;

/// Which part of the plan dominates.
pub const PLAN: Mechanism = Mechanism {
    id: "plan",
    levels: &["temporaries", "mixed", "arguments", "one-program", "no-arguments", "a-sliver"],
    read: |incident| {
        let facts = &incident.event.facts;
        let asked = incident.ledger.requested.map(|all| all.middle() as f64);
        let planned = facts.number(Number::ProgramTotal);
        let total = planned.or(asked).filter(|total| *total > 0.0);
        // A TPU's report counts the arguments beside the program.
        let beside = facts.number(Number::Parameter).filter(|arguments| planned.is_some_and(|all| *arguments > all));
        // No device on which programs are compiled is that small.
        if let Some((total, at)) = facts.numbers.get(&Number::ProgramTotal).filter(|(total, _)| *total <= SLIVER)
            && incident.event.resource == Resource::Gpu
        {
            let total = Bytes(*total as u64);
            let text = text!(
                en: "the program needs {total} in all, a sliver of any device: what fills it is kept elsewhere, by \
                     arrays, by another pool or by another process",
                zh: "整个程序只需 {total}，远小于任何设备：占满设备的是别处，即其他数组、另一个内存池或其他进程"
            );
            return Some(Reading::new("a-sliver", text).at(*at));
        }
        if let (Some((temporary, at)), Some(total), None) = (facts.numbers.get(&Number::Temp), total, beside) {
            let share = temporary / total;
            let (amount, part) = (Bytes(*temporary as u64), percent(share));
            let level = if share >= 0.55 {
                "temporaries"
            } else if share >= 0.3 {
                "mixed"
            } else {
                "arguments"
            };
            return Some(
                Reading::new(
                    level,
                    text!(
                        en: "{amount} of the program, {part}, are temporary buffers: activations and scratch",
                        zh: "程序中有 {amount}（{part}）是临时缓冲区：激活和中间结果"
                    ),
                )
                .at(*at),
            );
        }
        if let (Some((parameters, at)), Some(total)) = (facts.numbers.get(&Number::Parameter), total)
            && !one_piece(incident)
        {
            let total = if beside.is_some() { asked.unwrap_or(total) } else { total };
            // Outputs that lie over the arguments take nothing besides.
            let output = facts.number(Number::Output).filter(|_| !incident.event.of_donated_arguments());
            let kept = parameters + output.unwrap_or(0.0);
            if *parameters == 0.0 {
                return Some(
                    Reading::new(
                        "no-arguments",
                        text!(
                            en: "the program has no arguments: all that it needs is temporary",
                            zh: "程序没有参数：所需全部是临时缓冲区"
                        ),
                    )
                    .at(*at),
                );
            }
            if kept >= 0.5 * total {
                let (kept, total) = (Bytes(kept as u64), Bytes(total as u64));
                return Some(
                    Reading::new(
                        "arguments",
                        text!(
                            en: "inputs and outputs of the program, {kept} of {total}, dominate: weights, optimizer \
                                 state, batch",
                            zh: "程序的输入和输出占主导：{total} 中的 {kept}，即权重、优化器状态和批次"
                        ),
                    )
                    .at(*at),
                );
            }
        }
        let (_, at) = facts.numbers.get(&Number::WholeProgram)?;
        let requested = incident.ledger.requested.filter(|requested| requested.middle() >= GIB as i128)?;
        let want = size(requested);
        Some(
            Reading::new(
                "one-program",
                text!(
                    en: "{want} are all temporary buffers of one compiled program at once: activations and scratch",
                    zh: "{want} 是一个编译后程序的全部临时缓冲区：激活和中间结果"
                ),
            )
            .at(*at),
        )
    },
};

/// The largest single buffer of a plan or a pool.
pub const LARGEST_BUFFER: Mechanism = Mechanism {
    id: "largest-buffer",
    levels: &["a-third", "exceeds-the-device", "half-of-the-pool", "most-of-the-pool", "mostly-padding"],
    read: |incident| {
        let facts = &incident.event.facts;
        // A tensor that fills a sliver of a device is no large one.
        let all = whole(incident).filter(|all| all.high >= i128::from(LEFT_OVERS));
        if let (Some((chunk, at)), Some(all)) = (facts.numbers.get(&Number::LargestAllocation), all) {
            let share = chunk / all.middle().max(1) as f64;
            let level = if share >= 0.7 {
                "most-of-the-pool"
            } else if share >= 0.5 {
                "half-of-the-pool"
            } else {
                return None;
            };
            let (chunk, all) = (Bytes(*chunk as u64), size(all));
            return Some(
                Reading::new(
                    level,
                    text!(
                        en: "one tensor of {chunk} holds most of the pool's {all}",
                        zh: "单个 {chunk} 的张量占去内存池 {all} 的大部分"
                    ),
                )
                .at(*at),
            );
        }
        let (buffer, at) = facts.numbers.get(&Number::LargestBuffer)?;
        if let Some(all) = incident.ledger.capacity.filter(|all| *buffer > all.high as f64) {
            let (buffer, all) = (Bytes(*buffer as u64), size(all));
            return Some(
                Reading::new(
                    "exceeds-the-device",
                    text!(
                        en: "one buffer of {buffer} is more than the device's {all}: no freeing helps",
                        zh: "单个缓冲区 {buffer} 就超过设备的 {all}：释放任何东西都无济于事"
                    ),
                )
                .at(*at),
            );
        }
        if let Some((factor, told)) = incident.event.padded() {
            let (buffer, factor) = (Bytes(*buffer as u64), factor.round() as u64);
            return Some(
                Reading::new(
                    "mostly-padding",
                    text!(
                        en: "the device's layout makes the data {factor} times as large (computed from the figures \
                             printed): the largest buffer takes {buffer}, nearly all of it padding",
                        zh: "设备的布局使数据膨胀到约 {factor} 倍（由打印的数字算得）：最大的缓冲区占 {buffer}，\
                         几乎全是填充"
                    ),
                )
                .at(*at)
                .at(told),
            );
        }
        let total = facts.number(Number::ProgramTotal).filter(|total| *total > 0.0)?;
        (buffer / total >= 0.33).then(|| {
            let (buffer, total) = (Bytes(*buffer as u64), Bytes(total as u64));
            Reading::new(
                "a-third",
                text!(
                    en: "one buffer of {buffer} is a third or more of the program's {total}",
                    zh: "单个缓冲区 {buffer} 占程序 {total} 的三分之一以上"
                ),
            )
            .at(*at)
        })
    },
};

#[cfg(test)]
mod tests {
    use super::super::level;
    use super::*;
    use crate::cause::trial::{event, settled};
    use crate::dialect::{Fact, Resource};
    use crate::domain::Program;
    use crate::evidence::Span;
    use crate::incident::Incident;

    fn plan(numbers: &[(Number, f64)]) -> Incident {
        let mut event =
            event(Program::Jax, Resource::Gpu, &[(Fact::Requested, "20.00 GiB"), (Fact::Capacity, "16.00 GiB")]);
        for (name, value) in numbers {
            event.facts.numbers.insert(*name, (*value, Span::line(3)));
        }
        settled(event)
    }

    #[test]
    fn the_part_that_dominates() {
        let total = (Number::ProgramTotal, 20e9);
        for (temporary, want) in [(16e9, "temporaries"), (8e9, "mixed"), (2e9, "arguments")] {
            assert_eq!(level(&PLAN, &plan(&[total, (Number::Temp, temporary)])), Some(want));
        }
        assert_eq!(level(&PLAN, &plan(&[total, (Number::Parameter, 15e9)])), Some("arguments"));
        assert_eq!(level(&PLAN, &plan(&[total, (Number::Parameter, 0.0)])), Some("no-arguments"));
        assert_eq!(level(&PLAN, &plan(&[(Number::WholeProgram, 1.0)])), Some("one-program"));
    }

    #[test]
    fn a_tensor_that_fills_what_others_left_of_a_device_is_no_large_one() {
        let pool = |limit: &str| {
            let figures = [(Fact::Requested, "16.00 MiB"), (Fact::Limit, limit)];
            let mut event = event(Program::Tensorflow, Resource::Gpu, &figures);
            event.facts.numbers.insert(Number::LargestAllocation, (45e6, Span::line(3)));
            level(&LARGEST_BUFFER, &settled(event))
        };
        assert_eq!(pool("53.00 MiB"), None);
    }

    #[test]
    fn the_largest_buffer() {
        let total = (Number::ProgramTotal, 20e9);
        assert_eq!(level(&LARGEST_BUFFER, &plan(&[total, (Number::LargestBuffer, 9e9)])), Some("a-third"));
        assert_eq!(level(&LARGEST_BUFFER, &plan(&[total, (Number::LargestBuffer, 2e9)])), None);
        let above = plan(&[total, (Number::LargestBuffer, 19e9)]);
        assert_eq!(level(&LARGEST_BUFFER, &above), Some("exceeds-the-device"));
        let proof = crate::cause::proof::proof(&above).expect("no freeing helps");
        assert_eq!(proof.cause, crate::cause::CauseId::SingleHugeAllocation);
        assert_eq!(level(&LARGEST_BUFFER, &plan(&[(Number::LargestAllocation, 9.5e9)])), Some("half-of-the-pool"));
        assert_eq!(level(&LARGEST_BUFFER, &plan(&[(Number::LargestAllocation, 14e9)])), Some("most-of-the-pool"));
    }
}
