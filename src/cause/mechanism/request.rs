//! The size of what was asked for.

use super::pool::is_own_piece;
use super::{Mechanism, Reading};
use crate::account::Board;
use crate::cause::nature::{Asker, asker, is_state_vector, on_gpu, one_piece};
use crate::cause::reading::{
    allocated_share, place, request_share, size, whole, whole_by_name, whole_name, whole_size,
};
use crate::dialect::{Fact, Sign};
use crate::domain::Number;
use crate::evidence::Span;
use crate::incident::context::Phase;
use crate::text;
use crate::text::Text;
use crate::units::{GIB, percent};

/// The request as a share of the device or pool.
pub const SHARE: Mechanism = Mechanism {
    id: "request-share",
    levels: &["sliver", "small", "medium", "large", "huge", "exceeds"],
    read: |incident| {
        // What is no need of any program is told by `absurd-size`.
        if !on_gpu(incident) || !one_piece(incident) || garbage(incident) || incident.context.origin.mines {
            return None;
        }
        // Nobody's array.
        if is_own_piece(incident) {
            return None;
        }
        let (share, requested, all) = (request_share(incident)?, incident.ledger.requested?, whole(incident)?);
        let by_name = whole_by_name(incident);
        let exceeds = requested.low > by_name.map_or(all.high, Board::most);
        let (want, part) = (size(requested), percent(share));
        let Text { en: all, zh: all_zh } = whole_size(incident)?;
        let Text { en: of, zh: of_zh } = whole_name(incident);
        let level = match share {
            _ if exceeds => "exceeds",
            s if s < 0.005 => "sliver",
            s if s < 0.05 => "small",
            s if s < 0.16 => "medium",
            s if s < 0.42 => "large",
            _ => "huge",
        };
        let text = match level {
            "exceeds" => {
                text!(
                    en: "{want} were asked for in one piece, more than {of} ({all})",
                    zh: "单次请求 {want}，超过{of_zh}（{all_zh}）"
                )
            }
            "sliver" | "small" => {
                text!(
                    en: "the request of {want} is an ordinary one, {part} of {of}",
                    zh: "请求 {want} 属于正常大小，占{of_zh} {part}"
                )
            }
            _ => {
                text!(
                    en: "one request of {want} is {part} of {of} ({all})",
                    zh: "单次请求 {want} 占{of_zh}（{all_zh}）的 {part}"
                )
            }
        };
        let reading = Reading::new(level, text)
            .at(place(&incident.event, Fact::Requested))
            .at_any(by_name.map(|board| Span::line(board.line)));
        // The size of a pool is told as that.
        Some(if super::pool::is_requested(incident) { reading.untold() } else { reading })
    },
};

/// Of a device of which a job holds less than this share, all but a context is others' or free.
const NEXT_TO_NOTHING: f64 = 0.01;

/// A request below this share of the device has room on an empty one, beside a context.
const NEARLY_ALL: f64 = 0.9;

/// The request against what the framework already holds.
pub const AGAINST_HELD: Mechanism = Mechanism {
    id: "request-against-held",
    levels: &["a-copy", "fits-an-empty-device", "far-more", "as-much", "on-top-of-much"],
    read: |incident| {
        let (requested, allocated) = (incident.ledger.requested?, incident.ledger.allocated?);
        // Where no size of the device is printed, what is held is all that there is to compare with: it has to be much.
        let known = request_share(incident);
        let share = known.unwrap_or(if requested.middle() >= GIB as i128 { 0.1 } else { 0.0 });
        if !on_gpu(incident) || !one_piece(incident) || share < 0.1 {
            return None;
        }
        let (want, held) = (size(requested), size(allocated));
        let difference = (requested.middle() - allocated.middle()).unsigned_abs();
        let at = |reading: Reading| {
            Some(reading.at(place(&incident.event, Fact::Requested)).at(place(&incident.event, Fact::Allocated)))
        };
        // Within a pass the next result is often as large as the one before: no copy of a model or a buffer.
        let in_a_pass = matches!(
            incident.context.phase.value(),
            Some(Phase::Forward | Phase::Loss | Phase::Backward | Phase::Validation | Phase::Inference)
        );
        if known.is_some()
            && !in_a_pass
            && share < 1.0
            && difference <= (allocated.middle().unsigned_abs() / 200).max(1)
        {
            return at(Reading::new(
                "a-copy",
                text!(
                    en: "the {want} asked for equal the {held} already held: one buffer doubled, or a second whole \
                         copy",
                    zh: "请求的 {want} 与已占用的 {held} 相等：缓冲区翻倍，或完整的第二份拷贝"
                ),
            ));
        }
        if known.is_some_and(|share| share < NEARLY_ALL)
            && allocated_share(incident).is_some_and(|held| held < NEXT_TO_NOTHING)
        {
            return at(Reading::new(
                "fits-an-empty-device",
                text!(
                    en: "{want} would fit the device if it were empty, and this job holds {held}: it is not the size \
                         that stands in the way, but what else is there, or a limit",
                    zh: "设备若为空，{want} 放得下，而本任务只占 {held}：妨碍它的不是大小，而是其他占用或某个上限"
                ),
            ));
        }
        if known.is_none() && requested.low > allocated.high {
            return at(Reading::new(
                "far-more",
                text!(
                    en: "{want} is more than all that the job holds, {held}",
                    zh: "{want} 超过整个任务已占用的 {held}"
                ),
            ));
        }
        if requested.middle() >= 2 * allocated.middle().max(1) {
            return at(Reading::new(
                "far-more",
                text!(
                    en: "{want} is more than twice what the whole job holds, {held}",
                    zh: "{want} 超过整个任务已占用量 {held} 的两倍"
                ),
            ));
        }
        if 2 * requested.middle() >= allocated.middle() {
            return at(Reading::new(
                "as-much",
                text!(
                    en: "{want} were asked for beside {held} held: one step wants about as much as all the rest",
                    zh: "已占用 {held} 时又请求 {want}：单个步骤所需与其余部分相当"
                ),
            ));
        }
        (allocated_share(incident)? >= 0.6).then_some(())?;
        at(Reading::new(
            "on-top-of-much",
            text!(
                en: "{held} were in place and working when one step asked for {want} more",
                zh: "已有 {held} 在正常使用，单个步骤又请求 {want}"
            ),
        ))
    },
};

/// The request in bytes, where nothing tells how large the device is.
pub const SIZE: Mechanism = Mechanism {
    id: "request-size",
    levels: &["small", "gigabytes", "many-gigabytes", "beyond-most-devices", "beyond-any-device"],
    read: |incident| {
        if !on_gpu(incident) || !one_piece(incident) || request_share(incident).is_some() || garbage(incident) {
            return None;
        }
        let requested = incident.ledger.requested?;
        let want = size(requested);
        let gib = requested.middle() as f64 / GIB as f64;
        let level = match gib {
            g if g < 0.75 => "small",
            g if g < 6.0 => "gigabytes",
            g if g < 25.0 => "many-gigabytes",
            // The largest single devices have 288 GiB.
            g if g < 300.0 => "beyond-most-devices",
            _ => "beyond-any-device",
        };
        let text = text!(
            en: "{want} were asked for in one piece; the log does not give the size of the device",
            zh: "单次请求 {want}；日志未说明设备总容量"
        );
        Some(Reading::new(level, text).at(place(&incident.event, Fact::Requested)))
    },
};

/// From here on a request is no need of any program: 8 EiB less a little, as a negative number of bytes prints.
const GARBAGE: u64 = 1 << 50;

fn garbage(incident: &crate::incident::Incident) -> bool {
    incident.event.facts.get(Fact::Requested).is_some_and(|requested| requested.bytes >= GARBAGE)
}

/// True where the failing line of the user's own code makes a tensor from a shape or by broadcasting: then its size was
/// asked for and is no left-over of memory that was never set.
fn made_by_shape(incident: &crate::incident::Incident) -> bool {
    let code = incident.context.user_frame().and_then(|frame| frame.code.as_deref()).unwrap_or("");
    ["ones(", "zeros(", "empty(", "full(", "one_hot(", "eye(", "outer(", "unsqueeze(", "[:, None]", "cdist("]
        .iter()
        .any(|call| code.contains(call))
}

/// A size that only a wrong shape or an overflow makes.
pub const ABSURD: Mechanism = Mechanism {
    id: "absurd-size",
    levels: &["wrong-shape", "garbage", "above-buffer-limit", "state-vector"],
    read: |incident| {
        let event = &incident.event;
        let at = place(event, Fact::Requested);
        if let Some(requested) = event.facts.get(Fact::Requested).filter(|requested| requested.bytes >= GARBAGE)
            && event.resource.on_device()
        {
            let bytes = requested.bytes;
            if made_by_shape(incident) {
                return Some(
                    Reading::new("wrong-shape", text!(
                        en: "a tensor of {bytes} bytes was asked for by its shape: a dimension is larger than meant, \
                             or enters twice",
                        zh: "按形状请求了 {bytes} 字节的张量：某一维大于预期，或出现两次"
                    ))
                        .at(at),
                );
            }
            return Some(
                Reading::new(
                    "garbage",
                    text!(
                        en: "{bytes} bytes are no need of any program: a size that overflowed or was never set",
                        zh: "{bytes} 字节不可能是真实需求：大小溢出或未初始化"
                    ),
                )
                .at(at),
            );
        }
        if event.has(Sign::AbsurdRequest) && incident.context.exchanges_objects() {
            return Some(
                Reading::new(
                    "wrong-shape",
                    text!(
                        en: "the size asked for is a length that ranks told each other, not the size of an object",
                        zh: "请求的大小来自各 rank 相互告知的长度，而不可能是某个对象的长度"
                    ),
                )
                .at(incident.context.exchange().unwrap_or(at))
                .at(at),
            );
        }
        if event.has(Sign::AbsurdRequest) {
            return Some(
                Reading::new(
                    "wrong-shape",
                    text!(
                        en: "nobody meant the size asked for: a dimension that is negative or overflowed, or the \
                             workspace that a library asks for on its own",
                        zh: "请求的大小不可能是本意：维度为负或溢出，或库自行申请的工作区"
                    ),
                )
                .at(at),
            );
        }
        let by_figures = || {
            on_gpu(incident)
                && one_piece(incident)
                && incident.ledger.allocated.is_none()
                && asker(incident) != Asker::PooledTensor
                && matches!((incident.ledger.requested, event.facts.get(Fact::Limit)),
                    (Some(requested), Some(limit)) if requested.low > limit.interval().high)
        };
        // A currency's table has the size that it has by now, and nobody set it wrong.
        let above = !incident.context.origin.mines && (event.has(Sign::BufferSizeLimit) || by_figures());
        if above {
            let want = incident.ledger.requested.map(|requested| size(requested).to_string());
            let of = want.as_ref().map_or_else(String::new, |want| format!(" of {want}"));
            let want = want.map_or_else(String::new, |want| format!(" {want} "));
            return Some(
                Reading::new(
                    "above-buffer-limit",
                    text!(
                        en: "one buffer{of} exceeds the largest that is made in one piece, whatever is free",
                        zh: "单个缓冲区{want}超过允许的单块上限，与空闲量无关"
                    ),
                )
                .at(at),
            );
        }
        is_state_vector(incident).then(|| {
            Reading::new(
                "state-vector",
                text!(
                    en: "a simulator keeps the state of n qubits as one array of 2^n amplitudes of 8 or 16 bytes: each \
                         qubit more doubles it",
                    zh: "模拟器把 n 个量子比特的状态存成一个含 2^n 个振幅（每个 8 或 16 字节）的数组：每多一个量子比特\
                         就翻倍"
                ),
            )
            .at(event.at)
        })
    },
};

/// A tensor that is a square of a large number.
pub const SQUARE: Mechanism = Mechanism {
    id: "square-tensor",
    levels: &["square"],
    read: |incident| {
        let (side, at) = incident.event.facts.numbers.get(&Number::SquareSide).filter(|(side, _)| *side >= 4096.0)?;
        let side = *side as u64;
        Some(
            Reading::new(
                "square",
                text!(
                    en: "the tensor is {side} × {side}: it grows with the square of that number",
                    zh: "张量为 {side} × {side}：随该数的平方增长"
                ),
            )
            .at(*at),
        )
    },
};

#[cfg(test)]
mod tests {
    use super::super::level;
    use super::*;
    use crate::cause::trial::torch;
    use crate::domain::Program;
    use crate::incident::Incident;

    fn asked(requested: &'static str, allocated: &'static str) -> Incident {
        torch(&[(Fact::Requested, requested), (Fact::Capacity, "20.00 GiB"), (Fact::Allocated, allocated)])
    }

    #[test]
    fn the_share_of_the_device_is_told_in_six_levels() {
        for (requested, want) in [
            ("20.00 MiB", "sliver"),
            ("500.00 MiB", "small"),
            ("2.00 GiB", "medium"),
            ("5.00 GiB", "large"),
            ("12.00 GiB", "huge"),
            ("30.00 GiB", "exceeds"),
        ] {
            assert_eq!(level(&SHARE, &asked(requested, "1.00 GiB")), Some(want), "{requested}");
        }
        assert_eq!(level(&SHARE, &torch(&[(Fact::Requested, "1.00 GiB")])), None);
    }

    #[test]
    fn a_request_is_held_against_what_is_there() {
        for (requested, allocated, want) in [
            ("6.00 GiB", "6.00 GiB", Some("a-copy")),
            ("9.00 GiB", "2.00 GiB", Some("far-more")),
            ("6.00 GiB", "9.00 GiB", Some("as-much")),
            ("3.00 GiB", "15.00 GiB", Some("on-top-of-much")),
            ("3.00 GiB", "7.00 GiB", None),
            ("64.00 MiB", "64.00 MiB", None),
        ] {
            assert_eq!(level(&AGAINST_HELD, &asked(requested, allocated)), want, "{requested} on {allocated}");
        }
    }

    #[test]
    fn without_a_device_size_the_bytes_themselves_are_told() {
        for (requested, want) in [
            ("64.00 MiB", "small"),
            ("2.00 GiB", "gigabytes"),
            ("12.00 GiB", "many-gigabytes"),
            ("90.00 GiB", "beyond-most-devices"),
            ("900.00 GiB", "beyond-any-device"),
        ] {
            assert_eq!(level(&SIZE, &torch(&[(Fact::Requested, requested)])), Some(want));
        }
        assert_eq!(level(&SIZE, &asked("2.00 GiB", "1.00 GiB")), None);
    }

    #[test]
    fn sizes_that_no_program_needs() {
        let mut wrong = torch(&[]);
        wrong.event.sign(Sign::AbsurdRequest);
        assert_eq!(level(&ABSURD, &wrong), Some("wrong-shape"));
        assert_eq!(level(&ABSURD, &torch(&[(Fact::Requested, "4194304.00 GiB")])), Some("garbage"));
        let above = torch(&[(Fact::Requested, "6.00 GiB"), (Fact::Limit, "4.00 GiB")]);
        assert_eq!(level(&ABSURD, &above), Some("above-buffer-limit"));
        let mut qubits = torch(&[(Fact::Requested, "6.00 GiB")]);
        qubits.event.program = Program::Qiskit;
        assert_eq!(level(&ABSURD, &qubits), Some("state-vector"));
        assert_eq!(level(&ABSURD, &torch(&[(Fact::Requested, "6.00 GiB")])), None);
    }

    #[test]
    fn a_square_is_told_by_its_side() {
        let mut incident = torch(&[(Fact::Requested, "6.00 GiB")]);
        incident.event.facts.numbers.insert(Number::SquareSide, (40_000.0, crate::evidence::Span::line(3)));
        assert_eq!(level(&SQUARE, &incident), Some("square"));
    }

    #[test]
    fn a_tensor_that_its_shape_asked_for_is_no_garbage() {
        let mut incident = torch(&[(Fact::Requested, "12000000.00 GiB"), (Fact::Capacity, "8.00 GiB")]);
        assert_eq!(level(&ABSURD, &incident), Some("garbage"));
        incident.context.frames = vec![crate::incident::context::Frame {
            file: "train.py".into(),
            line: 4,
            function: "<module>".into(),
            code: Some("mask = torch.ones(n, n, device=device)".into()),
            at: crate::evidence::Span::line(3),
        }];
        assert_eq!(level(&ABSURD, &incident), Some("wrong-shape"));
    }
}
