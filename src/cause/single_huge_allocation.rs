//! One request is absurd for the device.

use super::reading::size;
use super::{Cause, CauseId};
use crate::incident::Incident;
use crate::text;
use crate::text::Text;

pub const CAUSE: Cause = Cause {
    id: CauseId::SingleHugeAllocation,
    title: || text!(en: "one request is far too large", zh: "单次请求过大"),
    doc,
    refute,
    fixtures: &[
        "cause/dense-adjacency",
        "pytorch/more-than-1eb",
        "pytorch/mps-buffer-size",
        "host/dense-kernel-matrix",
    ],
};

fn doc() -> Text {
    Text::new(
        "One request is absurd for the device: a shape bug, a quadratic term, an un-batched data set, an overflow.\n\n\
         **How it shows.** The request exceeds the whole device, or is half of it or more while the job holds little. \
         On hosts: hundreds of GiB at once. The product of a shape and the element size usually gives the figure \
         exactly.\n\n\
         **Told from its neighbours.** Certain only where the request exceeds the device. A request equal to what is \
         already allocated is a *second copy*. A size of 2^50 bytes and more, or just below 2^64, is no shape but a \
         number that went wrong.\n\n\
         **Example.** 250 000 nodes as a dense adjacency matrix in fp32 are 233 GiB: `Tried to allocate 232.83 GiB … \
         23.69 GiB total`. No batch size changes that.",
        "某一次请求对设备来说过大：形状错误、平方项、整个数据集未分批、数值溢出。\n\n\
         **表现。** 请求超过整个设备，或在任务占用不多时达到设备的一半以上；在主机上一次请求数百 GiB。形状乘积乘以元素\
         大小通常恰好等于该数字。\n\n\
         **与相近原因的区别。** 只有请求超过设备容量时才是确定的。请求等于已分配量时是*第二份拷贝*。2^50 字节以上或接\
         近 2^64 的大小不是形状，而是出错的数值。\n\n\
         **示例。** 25 万个节点的 fp32 稠密邻接矩阵为 233 GiB：`Tried to allocate 232.83 GiB … 23.69 GiB total`。改批大\
         小无济于事。",
    )
}

fn refute(incident: &Incident) -> Text {
    if incident.context.exchanges_objects() {
        return text!(
            en: "Print `len(pickle.dumps(object))` on every rank before the call: if one of them is about what was \
                 asked for, the ranks told each other the truth.",
            zh: "调用之前在每个 rank 上打印 `len(pickle.dumps(object))`：若其中之一与请求的大小相当，则各 rank 交换的\
                 长度无误。"
        );
    }
    let (en, zh) = match incident.context.user_frame() {
        Some(frame) => (format!("at {}:{}", frame.file, frame.line), format!(" {}:{} 处", frame.file, frame.line)),
        None => ("at the failing line".to_string(), "失败行处".to_string()),
    };
    if incident.event.prints_its_shape() {
        return text!(
            en: "Print the sizes from which the printed shape is made, {en}: if each of them is as meant, no size went \
                 wrong, and the operation itself needs this much.",
            zh: "打印{zh}构成该形状的各个尺寸：若都符合预期，则不是尺寸出错，而是该操作本身就需要这么多。"
        );
    }
    match incident.ledger.requested.map(size) {
        Some(want) => text!(
            en: "Print the shapes of the inputs {en} just before it fails: if no product of a shape and the element \
                 size is about {want}, the request comes from elsewhere.",
            zh: "在失败之前打印{zh}各输入的形状：若没有任何形状乘以元素大小约等于 {want}，则请求来自别处。"
        ),
        None => text!(
            en: "Print the shapes of the inputs {en} just before it fails: if every product of a shape and the element \
                 size is small beside the memory there is, no single request is to blame.",
            zh: "在失败之前打印{zh}各输入的形状：若每个形状乘以元素大小都远小于可用内存，则不是单次请求的问题。"
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::super::trial::{FULL_CARD, confidence, event, first, host, settled, torch};
    use super::*;
    use crate::dialect::Fact;
    use crate::dialect::Resource;
    use crate::domain::Number;
    use crate::domain::Program;
    use crate::evidence::Span;

    #[test]
    fn more_than_the_device_in_one_piece_is_certain() {
        let incident = torch(&[
            (Fact::Requested, "232.83 GiB"),
            (Fact::Capacity, "23.69 GiB"),
            (Fact::Allocated, "1.10 GiB"),
            (Fact::Free, "21.90 GiB"),
            (Fact::Reserved, "1.20 GiB"),
        ]);
        assert!(confidence(&incident, CauseId::SingleHugeAllocation) > 0.9);
    }

    #[test]
    fn most_of_the_device_for_a_job_that_holds_little() {
        let incident = torch(&[
            (Fact::Requested, "14.00 GiB"),
            (Fact::Capacity, "23.69 GiB"),
            (Fact::Allocated, "9.00 GiB"),
            (Fact::Free, "12.20 GiB"),
            (Fact::Reserved, "9.10 GiB"),
        ]);
        assert_eq!(first(&incident), CauseId::SingleHugeAllocation);
    }

    #[test]
    fn an_ordinary_request_is_innocent() {
        assert!(confidence(&torch(&FULL_CARD), CauseId::SingleHugeAllocation) < 0.02);
    }

    #[test]
    fn a_terabyte_of_ram_at_once_is_a_shape() {
        assert_eq!(first(&host(&[(Fact::Requested, "2.50 TiB")])), CauseId::SingleHugeAllocation);
        assert_ne!(first(&host(&[(Fact::Requested, "16.00 MiB")])), CauseId::SingleHugeAllocation);
    }

    #[test]
    fn one_buffer_beyond_the_largest_allowed() {
        let asked = |requested| {
            let figures = [(Fact::Requested, requested), (Fact::Limit, "18.00 GiB")];
            let event = super::super::trial::event(Program::Mlx, crate::dialect::Resource::Gpu, &figures);
            confidence(&super::super::trial::settled(event), CauseId::SingleHugeAllocation)
        };
        assert!(asked("40.00 GiB") > 0.8 && asked("1.00 GiB") < 0.1);
    }

    #[test]
    fn a_square_and_a_state_vector_are_one_request() {
        let figures = [(Fact::Requested, "25.66 GiB")];
        let mut square = event(Program::Tensorflow, Resource::Host, &figures);
        square.facts.numbers.insert(Number::SquareSide, (83000.0, Span::line(1)));
        assert_eq!(first(&settled(square)), CauseId::SingleHugeAllocation);
        let circuit = event(Program::Cuquantum, Resource::Gpu, &[]);
        assert_eq!(first(&settled(circuit)), CauseId::SingleHugeAllocation);
    }

    #[test]
    fn a_request_that_an_empty_device_would_hold_is_not_too_large_by_itself() {
        let asked = |requested| {
            let figures = [(Fact::Requested, requested), (Fact::Capacity, "15.11 GiB"), (Fact::Allocated, "0 bytes")];
            torch(&figures)
        };
        assert_ne!(first(&asked("8.00 GiB")), CauseId::SingleHugeAllocation);
        assert_eq!(first(&asked("40.00 GiB")), CauseId::SingleHugeAllocation);
    }

    #[test]
    fn a_request_whose_size_is_unknown_is_refuted_without_a_figure() {
        for incident in [torch(&[]), torch(&FULL_CARD)] {
            let refute = refute(&incident);
            assert!(!refute.en.contains('?') && !refute.zh.contains('?'), "{refute:?}");
            assert_eq!(refute.en.contains("64.00 MiB"), incident.ledger.requested.is_some(), "{refute:?}");
        }
    }
}
