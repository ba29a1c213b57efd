//! One request is absurd for the device.

use super::reading::{
    Kind, allocated_share, kind, on_gpu, one_piece, place, ramp, refused_although_free, request_share, size, whole,
};
use super::{Cause, CauseId};
use crate::dialect::{Fact, Sign};
use crate::domain::{Number, program};
use crate::evidence::Evidence;
use crate::incident::Incident;
use crate::incident::context::{Clue, Phase};
use crate::text;
use crate::text::Text;
use crate::units::{Bytes, GIB, TIB, percent};

pub const CAUSE: Cause = Cause {
    id: CauseId::SingleHugeAllocation,
    title: || text!(en: "one request is far too large", zh: "单次请求过大"),
    doc,
    prior,
    weigh,
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
        r#"One request is absurd for the device: a shape bug, a quadratic term, an un-batched data set, an overflow.

**How it shows.** The request exceeds the whole device, or is half of it or more while the job holds little. On hosts: hundreds of GiB at once. The product of a shape and the element size usually gives the figure exactly.

**Told from its neighbours.** Certain only where the request exceeds the device. A request equal to what is already allocated is a *second copy*. A size of 2^50 bytes and more, or just below 2^64, is no shape but a number that went wrong.

**Example.** 250 000 nodes as a dense adjacency matrix in fp32 are 233 GiB: `Tried to allocate 232.83 GiB … 23.69 GiB total`. No batch size changes that."#,
        r#"某一次请求对设备来说过大：形状错误、平方项、整个数据集未分批、数值溢出。

**表现。** 请求超过整个设备，或在任务占用不多时达到设备的一半以上；在主机上一次请求数百 GiB。形状乘积乘以元素大小通常恰好等于该数字。

**与相近原因的区别。** 只有请求超过设备容量时才是确定的。请求等于已分配量时是*第二份拷贝*。2^50 字节以上或接近 2^64 的大小不是形状，而是出错的数值。

**示例。** 25 万个节点的 fp32 稠密邻接矩阵为 233 GiB：`Tried to allocate 232.83 GiB … 23.69 GiB total`。改批大小无济于事。"#,
    )
}

/// Above this a figure is no need of any program but a number that went wrong (2^50 bytes = 1 PiB).
pub const GARBAGE: u64 = 1 << 50;

fn prior(incident: &Incident) -> Option<f64> {
    match kind(incident) {
        Kind::Tensor => Some(-2.0),
        Kind::PooledTensor => Some(-1.8),
        Kind::Engine => Some(-3.0),
        // Their buffers are weights: large, but of the size of the model.
        Kind::WeightBuffers => Some(-5.0),
        Kind::Host => Some(-2.2),
        Kind::KvCache | Kind::Shm | Kind::OnChip => None,
    }
}

fn weigh(incident: &Incident) -> Vec<Evidence> {
    let ledger = &incident.ledger;
    let event = &incident.event;
    let at = place(event, Fact::Requested);
    let mut found = Vec::new();
    if event.has(Sign::AbsurdRequest) {
        found.push(
            Evidence::new(5.0, text!(en: "the size asked for can only come from a wrong shape: a negative or overflowed dimension", zh: "请求的大小只可能来自错误的形状：维度为负或溢出"))
                .at(at),
        );
        return found;
    }
    if event.has(Sign::BufferSizeLimit) {
        let want = ledger.requested.map_or_else(String::new, |requested| size(requested).to_string());
        found.push(
            Evidence::new(5.0, text!(en: "one buffer of {want} exceeds the largest that the device makes, whatever is free", zh: "单个缓冲区 {want} 超过设备允许的最大值，与空闲量无关"))
                .at(at),
        );
        return clues(incident, found);
    }
    if let Some(limit) = event.facts.get(Fact::Limit)
        && on_gpu(incident)
        && one_piece(incident)
        && ledger.requested.is_some_and(|requested| requested.surely_at_least(limit.interval()))
        && ledger.requested.is_some_and(|requested| requested.middle() < GARBAGE as i128)
    {
        let (want, most) = (ledger.requested.map_or_else(String::new, |r| size(r).to_string()), size(limit.interval()));
        found.push(
            Evidence::new(5.0, text!(en: "{want} were asked for in one piece; {most} are allowed", zh: "单次请求 {want}，而允许的最大值为 {most}"))
                .at(at),
        );
        return clues(incident, found);
    }
    if event.program.kind() == program::Kind::QuantumSimulator {
        found.push(
            Evidence::new(3.2, text!(en: "a simulator keeps the state of n qubits as one array of 2^n amplitudes of 8 or 16 bytes: each qubit more doubles it", zh: "模拟器把 n 个量子比特的状态存成一个含 2^n 个振幅（每个 8 或 16 字节）的数组：每多一个量子比特就翻倍"))
                .at(event.at),
        );
    }
    if let Some((side, place)) = event.facts.numbers.get(&Number::SquareSide)
        && *side >= 4096.0
    {
        let (side, weight) = (*side as u64, if on_gpu(incident) { 1.2 } else { 2.4 });
        found.push(
            Evidence::new(weight, text!(en: "the tensor is {side} × {side}: it grows with the square of that number", zh: "张量为 {side} × {side}：随该数的平方增长"))
                .at(*place),
        );
    }
    found.extend(one_process(incident));
    let Some(requested) = ledger.requested.filter(|_| one_piece(incident)) else { return clues(incident, found) };
    let want = size(requested);
    if on_gpu(incident) {
        if let (Some(share), Some(capacity)) = (request_share(incident), whole(incident)) {
            let (part, all) = (percent(share), size(capacity));
            if share >= 1.0 {
                found.push(
                    Evidence::new(7.0, text!(en: "{want} were asked for in one piece; the whole device has {all}", zh: "单次请求 {want}，而整个设备只有 {all}"))
                        .at(at),
                );
                return found;
            }
            let mut weight =
                ramp(share, &[(0.02, -3.0), (0.1, -1.5), (0.2, -0.2), (0.33, 1.2), (0.5, 2.6), (0.8, 3.6)]);
            if refused_although_free(incident) {
                weight = weight.min(0.0);
            }
            // With the device mostly full of the job's own tensors, a big request is the peak of a big job.
            if weight > 0.0 && allocated_share(incident).is_some_and(|share| share > 0.72) {
                weight -= 1.5;
            }
            // Where the pool's dump shows what is held, the last request says nothing more by being small.
            let held_chunk = event.facts.numbers.contains_key(&Number::LargestAllocation);
            if weight > 0.0 || !held_chunk {
                found.push(
                Evidence::new(
                    weight,
                    if weight > 0.0 {
                        text!(en: "one request of {want} is {part} of the device's {all}", zh: "单次请求 {want} 占设备 {all} 的 {part}")
                    } else {
                        text!(en: "the request of {want} is only {part} of the device", zh: "请求 {want} 只占设备的 {part}")
                    },
                )
                .at(at),
            );
            }
            if let Some(allocated) = ledger.allocated
                && share >= 0.2
                && !refused_although_free(incident)
                && requested.middle() >= 2 * allocated.middle().max(1)
            {
                let held = size(allocated);
                found.push(
                    Evidence::new(0.8, text!(en: "it is more than twice what the whole job holds, {held}", zh: "超过整个任务已占用量 {held} 的两倍"))
                        .at(at),
                );
            }
        } else {
            // Without a capacity: the largest single devices have 288 GiB; training cards in wide use 16 … 80.
            let gib = requested.middle() as f64 / GIB as f64;
            let weight = ramp(
                gib,
                &[(0.5, -1.5), (4.0, -0.3), (12.0, 0.8), (18.0, 1.6), (32.0, 2.4), (80.0, 3.6), (192.0, 5.0)],
            );
            found.push(
                Evidence::new(weight, text!(en: "{want} were asked for in one piece", zh: "单次请求 {want}")).at(at),
            );
        }
    // A virtual machine commits its heap as a whole: that is no array of the program's.
    } else if kind(incident) == Kind::Host && !event.has(Sign::HeapCommit) {
        let machine = incident.context.host_total.get().map(|figure| figure.interval()).or(ledger.capacity);
        match machine {
            Some(machine) if requested.surely_at_least(machine) => {
                let all = size(machine);
                found.push(
                    Evidence::new(5.0, text!(en: "{want} were asked for at once; the machine has {all}", zh: "一次请求 {want}，而机器只有 {all}")).at(at),
                );
            }
            _ => {
                // Servers with more than 1 TiB of RAM are rare, so a request of that size is a shape, not a need.
                let gib = requested.middle() as f64 / GIB as f64;
                let weight = ramp(
                    gib,
                    &[(0.25, -2.5), (1.0, -0.8), (4.0, 0.8), (8.0, 2.0), (16.0, 3.0), (128.0, 4.0), (512.0, 5.0)],
                );
                let terabyte = requested.middle() >= TIB as i128;
                found.push(
                    Evidence::new(
                        weight,
                        if terabyte {
                            text!(en: "{want} were asked for at once, more than almost any machine has", zh: "一次请求 {want}，几乎超过任何机器的内存")
                        } else {
                            text!(en: "{want} were asked for at once", zh: "一次请求 {want}")
                        },
                    )
                    .at(at),
                );
            }
        }
    }
    clues(incident, found)
}

/// On a host: one process that holds nearly all of the limit. A single reading cannot tell one allocation from growth, so
/// this is weak; a constructor that holds it while it loads says more.
fn one_process(incident: &Incident) -> Option<Evidence> {
    let event = &incident.event;
    if kind(incident) != Kind::Host || event.facts.number(Number::TableLikeNamedCount).is_some_and(|count| count > 1.0)
    {
        return None;
    }
    let held = event.facts.get(Fact::AnonRss).or(event.facts.get(Fact::Process))?;
    let all = incident.ledger.bound.filter(|bound| bound.low > 0)?;
    let share = held.bytes as f64 / all.middle() as f64;
    if !(0.7..=1.1).contains(&share) {
        return None;
    }
    let loading = event.facts.process_name.get().is_some_and(|name| name.ends_with("__init__"));
    let (amount, all, part) = (Bytes(held.bytes), size(all), percent(share));
    let evidence = if loading {
        Evidence::new(
            2.4,
            text!(en: "one constructor holds {amount}, {part} of {all}, before any work has begun", zh: "尚未开始工作，一个构造函数就占用 {amount}，为 {all} 的 {part}"),
        )
    } else {
        Evidence::new(
            1.3,
            text!(en: "a single process holds {amount}, {part} of {all}", zh: "单个进程占用 {amount}，为 {all} 的 {part}"),
        )
    };
    Some(evidence.at(held.at))
}

fn clues(incident: &Incident, mut found: Vec<Evidence>) -> Vec<Evidence> {
    if let Some((chunk, at)) = incident.event.facts.numbers.get(&Number::LargestAllocation)
        && let Some(all) = whole(incident)
        && *chunk >= 0.5 * all.middle() as f64
    {
        let weight = ramp(*chunk / all.middle() as f64, &[(0.5, 1.5), (0.7, 3.5), (0.9, 5.0)]);
        let (chunk, all) = (Bytes(*chunk as u64), size(all));
        found.push(
            Evidence::new(weight, text!(en: "one tensor of {chunk} holds most of the pool's {all}", zh: "单个 {chunk} 的张量占去内存池 {all} 的大部分"))
                .at(*at),
        );
    }
    if let Some((buffer, at)) = incident.event.facts.numbers.get(&Number::LargestBuffer)
        && let Some(total) = incident.event.facts.number(Number::ProgramTotal).filter(|total| *total > 0.0)
        && buffer / total >= 0.33
    {
        let (buffer, total) = (Bytes(*buffer as u64), Bytes(total as u64));
        found.push(
            Evidence::new(1.8, text!(en: "one buffer of {buffer} is a third or more of the program's {total}", zh: "单个缓冲区 {buffer} 占程序 {total} 的三分之一以上"))
                .at(*at),
        );
    }
    if let Some(span) = incident.context.clues.get(&Clue::Quadratic) {
        found.push(
            Evidence::new(1.0, text!(en: "the failing line makes something quadratic: every pair of tokens, points or masks", zh: "失败处的代码产生平方规模的张量：每一对 token、点或掩码"))
                .at(*span),
        );
    }
    if incident.context.phase.value() == Some(Phase::Load) && on_gpu(incident) {
        found.push(
            Evidence::new(-1.0, text!(en: "it failed while a model was loaded, not while a tensor was computed", zh: "失败发生在加载模型时，而不是计算张量时"))
                .seen(&incident.context.phase),
        );
    }
    found
}

fn refute(incident: &Incident) -> Text {
    let want = incident.ledger.requested.map_or_else(|| "?".to_string(), |requested| size(requested).to_string());
    let place = incident.context.user_frame().map(|frame| format!("{}:{}", frame.file, frame.line));
    match place {
        Some(place) => text!(
            en: "Print the shapes of the inputs at {place} just before it fails: if the product of the shape and the element size is not about {want}, the request comes from elsewhere.",
            zh: "在 {place} 失败之前打印输入形状：若形状乘积乘以元素大小与 {want} 不符，则请求来自别处。"
        ),
        None => text!(
            en: "Print the shapes at the failing line just before it fails: if no product of shape and element size is about {want}, the request comes from elsewhere.",
            zh: "在失败行之前打印各张量形状：若没有任何形状乘以元素大小约等于 {want}，则请求来自别处。"
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::super::trial::{FULL_CARD, confidence, event, first, host, settled, torch};
    use super::*;
    use crate::dialect::Resource;
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
}
