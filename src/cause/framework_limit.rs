//! A limit set by the framework or its user, below the device's.

use super::reading::{Kind, kind, looks_integrated, looks_like_wddm, on_gpu, place, refused_although_free, size};
use super::{Cause, CauseId, engine};
use crate::dialect::{Fact, Sign};
use crate::domain::{Accelerator, Number, Program};
use crate::evidence::Evidence;
use crate::incident::Incident;
use crate::text;
use crate::text::Text;
use crate::units::{Bytes, GIB, Interval, MIB};

pub const CAUSE: Cause = Cause {
    id: CauseId::FrameworkLimit,
    title: || text!(en: "a limit below the hardware's refused it", zh: "受限于低于硬件容量的人为上限"),
    doc,
    prior,
    weigh,
    refute,
    fixtures: &[
        "pytorch/allowed",
        "pytorch/expandable-reserve",
        "pytorch/mempool",
        "host/group-of-page-tables",
        "sglang/fraction",
        "ollama/estimate",
    ],
};

fn doc() -> Text {
    Text::new(
        r#"A limit below the hardware's refused the request: a memory fraction, a watermark, a partition, an address-space limit, a pool's maximum, a carve-out.

**How it shows.** The device or machine has room, yet the request is refused; or the message prints a limit (`allowed`, `max allowed`, `limit set to`) that reserved plus requested memory exceeds. On Apple devices a limit below 9 GiB was set by somebody. An integrated AMD GPU reports a carve-out and mappable memory as one capacity.

**Told from its neighbours.** “Free” is read after the failure, so a few hundred MiB mean nothing on a full device. Without a printed limit and without a sign of one, see *an error that only looks like it*.

**Example.** `MPS allocated: 6.12 GiB … max allowed: 6.00 GiB` on a machine with 16 GB: the watermark was lowered."#,
        r#"低于硬件容量的人为上限拒绝了请求：显存占比、水位线、分区、地址空间限制、内存池上限、划拨显存。

**表现。** 设备或机器仍有空间却拒绝请求；或报错打印了上限（`allowed`、`max allowed`、`limit set to`），而保留量加请求量超过它。Apple 设备上低于 9 GiB 的上限是人为设置的。集成 AMD GPU 会把划拨显存和可映射内存加在一起报告为容量。

**与相近原因的区别。** “free” 在失败之后读取，因此设备占满时几百 MiB 的空闲说明不了什么。若没有打印上限也没有其他迹象，见*看似内存不足的其他错误*。

**示例。** 16 GB 机器上 `MPS allocated: 6.12 GiB … max allowed: 6.00 GiB`：水位线被调低了。"#,
    )
}

fn prior(incident: &Incident) -> Option<f64> {
    match kind(incident) {
        Kind::Tensor => Some(-2.8),
        Kind::PooledTensor | Kind::Engine => Some(-2.5),
        Kind::WeightBuffers => Some(-1.5),
        Kind::KvCache => Some(-0.3),
        Kind::Host => Some(-1.7),
        Kind::OnChip => Some(-2.0),
        Kind::Shm => None,
    }
}

/// Metal's default watermark is 1.7 times the recommended working set, and the smallest Apple machine with a GPU that
/// PyTorch supports has 8 GB, which gives 9.07 GiB: a lower limit was set by somebody.
const LEAST_METAL_LIMIT: i128 = 9 * GIB as i128;

fn weigh(incident: &Incident) -> Vec<Evidence> {
    let ledger = &incident.ledger;
    let event = &incident.event;
    let mut found = Vec::new();
    if event.has(Sign::RefusedByLimit) {
        found.push(
            Evidence::new(5.0, text!(en: "the message says that a limit refused the request before the driver was asked", zh: "报错说明请求在询问驱动之前就被上限拒绝"))
                .at(event.at),
        );
    }
    if event.has(Sign::ExpandableReserve) {
        found.push(
            Evidence::new(6.0, text!(en: "the request exceeds the address space set aside for expandable segments, whatever is free", zh: "请求超过了为 expandable segments 预留的地址空间，与空闲量无关"))
                .at(event.at),
        );
    }
    if event.has(Sign::PinnedHost)
        && kind(incident) == Kind::Host
        && let (Some(limit), Some(held), Some(requested)) =
            (event.facts.get(Fact::Limit), ledger.allocated, ledger.requested)
        && (held + requested).surely_at_least(limit.interval())
    {
        let (limit, held, want) = (size(limit.interval()), size(held), size(requested));
        found.push(
            Evidence::new(4.0, text!(en: "the pool of pinned memory may take {limit}; it holds {held} and {want} more were asked for", zh: "锁页内存池上限为 {limit}，已持有 {held}，又请求 {want}"))
                .at(place(event, Fact::Limit)),
        );
    }
    if event.has(Sign::ContiguousMemory) {
        found.push(
            Evidence::new(4.5, text!(en: "the board's allocator of contiguous memory refused it, which is smaller than the RAM that is free", zh: "拒绝它的是板载的连续内存分配器，其可用量小于空闲内存"))
                .at(event.at),
        );
    }
    if event.has(Sign::CustomAllocator) {
        found.push(
            Evidence::new(5.0, text!(en: "the custom allocator behind a memory pool refused it: the device's own figures say nothing here", zh: "内存池背后的自定义分配器拒绝了请求：设备本身的数字在此没有意义"))
                .at(event.at),
        );
    }
    if event.has(Sign::AddressSpaceLimit) {
        found.push(
            Evidence::new(if event.has(Sign::Windows) { 0.8 } else { 3.0 }, text!(en: "an address-space or commit limit refused it, not the lack of RAM", zh: "拒绝它的是地址空间或提交上限，而不是内存不足"))
                .at(event.at),
        );
    }
    let cap_at = if event.facts.get(Fact::FractionLimit).is_some() { Fact::FractionLimit } else { Fact::Limit };
    if let (Some(cap), true) = (ledger.cap, on_gpu(incident)) {
        let limit = size(cap);
        let held = ledger.reserved.or(ledger.allocated);
        if event.has(Sign::Mps) {
            if cap.high < LEAST_METAL_LIMIT {
                found.push(
                    Evidence::new(6.0, text!(en: "the limit is {limit}; even the smallest Apple machine allows 9 GiB by default, so it was lowered", zh: "上限为 {limit}；最小的 Apple 机型默认也有 9 GiB，说明被人为调低"))
                        .at(place(event, cap_at)),
                );
            }
        } else if let (Some(held), Some(requested)) = (held, ledger.requested)
            && (held + requested).surely_at_least(cap)
            && ledger.free.is_some_and(|free| free.surely_at_least(requested))
            && ledger.capacity.is_none_or(|capacity| cap.high < capacity.low)
        {
            let (held, want) = (size(held), size(requested));
            found.push(
                Evidence::new(6.0, text!(en: "{held} reserved + {want} asked for exceed the {limit} allowed, while the device had enough free", zh: "已保留 {held} + 请求 {want} 超过允许的 {limit}，而设备仍有足够空闲"))
                    .at(place(event, cap_at)),
            );
        }
    }
    if (event.has(Sign::Xpu) || event.program == Program::Sycl)
        && on_gpu(incident)
        && let Some(requested) = ledger.requested
        && requested.middle() > (4 * GIB) as i128
        && ledger.capacity.is_none_or(|capacity| requested.high < capacity.low)
        && ledger.free.is_none_or(|free| free.surely_at_least(requested))
    {
        let want = size(requested);
        found.push(
            Evidence::new(3.5, text!(en: "Intel's runtime refuses single buffers above 4 GiB unless that limit is relaxed; {want} were asked for", zh: "Intel 运行时默认拒绝超过 4 GiB 的单个缓冲区，而请求为 {want}"))
                .at(place(event, Fact::Requested)),
        );
    }
    found.extend(carve_out(incident));
    if refused_although_free(incident) && !looks_like_wddm(incident) && found.is_empty() {
        let (free, want) =
            (size(ledger.free.unwrap_or(Interval::exactly(0))), size(ledger.requested.unwrap_or(Interval::exactly(0))));
        found.push(
            Evidence::new(1.2, text!(en: "{want} were refused although {free} were free: something below the device's size forbids it", zh: "空闲 {free} 却拒绝了 {want}：存在低于设备容量的限制"))
                .at(place(event, Fact::Free)),
        );
    }
    if kind(incident) == Kind::Host
        && event.has(Sign::EngineStartup)
        && let (Some(need), Some(free)) = (event.facts.get(Fact::Requested), event.facts.get(Fact::Free))
    {
        let (need, left) = (Bytes(need.bytes), Bytes(free.bytes));
        found.push(
            Evidence::new(1.6, text!(en: "the program refused by its own count, {need} against {left}, before the system was asked: a container's or virtual machine's limit counts there as the machine's", zh: "程序按自己的统计（{need} 对 {left}）提前拒绝：容器或虚拟机的上限在此被当作整机内存"))
                .at(place(event, Fact::Free)),
        );
    }
    if let Some((tables, at)) =
        [Number::Pagetables, Number::VictimPagetables].into_iter().find_map(|number| event.facts.numbers.get(&number))
        && let Some(limit) = event.facts.get(Fact::Limit)
        && *tables >= (16 * MIB) as f64
        && *tables >= 0.3 * limit.bytes as f64
    {
        let (tables, limit) = (Bytes(*tables as u64), Bytes(limit.bytes));
        found.push(
            Evidence::new(4.0, text!(en: "{tables} of the limit's {limit} are page tables: a huge sparse mapping, not data", zh: "上限 {limit} 中有 {tables} 是页表：来自巨大的稀疏映射，而不是数据"))
                .at(*at),
        );
    }
    found.extend(engine::share_too_small(incident));
    found
}

/// An integrated AMD GPU, whose capacity cannot be had in one pool.
fn carve_out(incident: &Incident) -> Option<Evidence> {
    let ledger = &incident.ledger;
    let capacity = ledger.capacity?;
    if !looks_integrated(incident) {
        return None;
    }
    let nothing_held = ledger.allocated.is_some_and(|allocated| allocated.middle() == 0);
    let outside = ledger.share(ledger.outside)?;
    if outside < 0.3 && !refused_although_free(incident) {
        return None;
    }
    let all = size(capacity);
    Some(
        Evidence::new(
            if nothing_held { 4.0 } else { 2.0 },
            text!(en: "no discrete AMD card has {all}: this is an integrated GPU whose capacity adds a carve-out and mappable RAM, and one of the two is smaller than it looks", zh: "没有容量为 {all} 的 AMD 独立显卡：这是集成 GPU，其容量是划拨显存与可映射内存之和，其中之一比看上去小"),
        )
        .at(place(&incident.event, Fact::Capacity)),
    )
}

fn refute(incident: &Incident) -> Text {
    let event = &incident.event;
    match kind(incident) {
        Kind::Host => text!(
            en: "Run `ulimit -v; cat /sys/fs/cgroup/memory.max` in the job's own shell: if both say unlimited, no limit below the machine's RAM was in force.",
            zh: "在任务自己的 shell 中运行 `ulimit -v; cat /sys/fs/cgroup/memory.max`：若都显示不受限，则没有低于物理内存的上限。"
        ),
        Kind::KvCache | Kind::Engine => text!(
            en: "Start once with the memory fraction at 0.95: if the same figure is still missing, no fraction is to blame.",
            zh: "将显存占比设为 0.95 启动一次：若缺口不变，则与占比设置无关。"
        ),
        _ if event.program.own_limit().is_some() => {
            let told = event.program.own_limit().unwrap_or_default();
            text!(
                en: "Look at `{told}`: if it shows no limit, or one above what was asked for, no limit of the program's own refused.",
                zh: "查看 `{told}`：若没有上限，或上限高于请求量，则拒绝请求的不是程序自身的上限。"
            )
        }
        _ if event.accelerator() == Accelerator::Mps && !event.on_pytorch() => text!(
            en: "Run `sysctl iogpu.wired_limit_mb` and search the program's settings for a limit on its memory: if none is set, the limit is the machine's own.",
            zh: "查看 `sysctl iogpu.wired_limit_mb`，并在程序设置中查找显存上限：若都未设置，则上限来自机器本身。"
        ),
        _ if !event.on_pytorch() && event.accelerator() != Accelerator::Cuda => text!(
            en: "Search the program's settings and its environment for a limit on its memory: if there is none, no limit below the device's was in force.",
            zh: "在程序设置和环境中查找显存上限：若没有，则不存在低于设备容量的上限。"
        ),
        _ if !event.on_pytorch() && event.program.names_itself() => text!(
            en: "Search the program's settings and its environment for a limit on its memory, and the device for a partition (`nvidia-smi -L` shows MIG profiles): if there is none, no limit below the device's was in force.",
            zh: "在程序设置和环境中查找显存上限，并查看设备是否被切分（`nvidia-smi -L` 显示 MIG 配置）：若都没有，则不存在低于设备容量的上限。"
        ),
        _ if event.has(Sign::Mps) => text!(
            en: "Run `echo $PYTORCH_MPS_HIGH_WATERMARK_RATIO` and `sysctl iogpu.wired_limit_mb`, and search the program for `set_per_process_memory_fraction`: if none is set, the limit is the machine's own.",
            zh: "查看 `echo $PYTORCH_MPS_HIGH_WATERMARK_RATIO`、`sysctl iogpu.wired_limit_mb`，并在程序中搜索 `set_per_process_memory_fraction`：若都未设置，则上限来自机器本身。"
        ),
        _ if event.accelerator() != Accelerator::Cuda => text!(
            en: "Search the program and its environment for `set_per_process_memory_fraction`: if there is none, no limit below the device's was in force.",
            zh: "在程序和环境中查找 `set_per_process_memory_fraction`：若没有，则不存在低于设备容量的上限。"
        ),
        _ => text!(
            en: "Search the program and its environment for `set_per_process_memory_fraction`, `per_process_memory_fraction` and a MIG profile (`nvidia-smi -L`): if there is none, no limit below the device's was in force.",
            zh: "在程序和环境中查找 `set_per_process_memory_fraction`、`per_process_memory_fraction` 以及 MIG 配置（`nvidia-smi -L`）：若都没有，则不存在低于设备容量的上限。"
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::super::trial::{FULL_CARD, confidence, event, first, settled, torch};
    use super::*;
    use crate::dialect::Resource;

    #[test]
    fn a_fraction_that_refuses_while_the_device_has_room() {
        let incident = torch(&[
            (Fact::Requested, "1.00 GiB"),
            (Fact::Capacity, "79.15 GiB"),
            (Fact::Free, "47.00 GiB"),
            (Fact::FractionLimit, "31.66 GiB"),
            (Fact::Allocated, "30.50 GiB"),
            (Fact::ReservedUnallocated, "600.00 MiB"),
        ]);
        assert!(confidence(&incident, CauseId::FrameworkLimit) > 0.8);
    }

    #[test]
    fn an_unused_fraction_does_not() {
        let mut figures = FULL_CARD.to_vec();
        figures.push((Fact::FractionLimit, "15.77 GiB"));
        assert!(confidence(&torch(&figures), CauseId::FrameworkLimit) < 0.1);
    }

    fn metal(limit: &'static str, allocated: &'static str) -> Incident {
        let figures = [(Fact::Requested, "300.00 MiB"), (Fact::FractionLimit, limit), (Fact::Allocated, allocated)];
        let mut event = event(Program::Pytorch, Resource::Gpu, &figures);
        event.sign(Sign::Mps);
        settled(event)
    }

    #[test]
    fn a_watermark_below_any_machines_was_set_by_somebody() {
        assert_eq!(first(&metal("6.00 GiB", "5.90 GiB")), CauseId::FrameworkLimit);
        assert_ne!(first(&metal("27.20 GiB", "27.00 GiB")), CauseId::FrameworkLimit);
    }

    #[test]
    fn an_integrated_amd_gpu_adds_two_pools() {
        let mut event = event(
            Program::Pytorch,
            Resource::Gpu,
            &[
                (Fact::Requested, "12.00 GiB"),
                (Fact::Capacity, "111.50 GiB"),
                (Fact::Free, "10.00 GiB"),
                (Fact::Allocated, "0 bytes"),
                (Fact::ReservedUnallocated, "0 bytes"),
            ],
        );
        event.sign(Sign::Hip);
        assert_eq!(first(&settled(event)), CauseId::FrameworkLimit);
    }

    #[test]
    fn a_custom_allocator_that_refuses_is_a_limit_of_its_own() {
        let mut event = event(
            Program::Pytorch,
            Resource::Gpu,
            &[(Fact::Requested, "256.00 MiB"), (Fact::Capacity, "79.25 GiB"), (Fact::Free, "61.00 GiB")],
        );
        event.sign(Sign::CustomAllocator);
        assert_eq!(first(&settled(event)), CauseId::FrameworkLimit);
    }
}
