//! Limits below the device's or the machine's size.

use super::{Mechanism, Reading};
use crate::cause::nature::{Asker, asker, on_gpu};
use crate::cause::reading::{looks_integrated, place, refused_although_free, size};
use crate::dialect::{Fact, Sign};
use crate::domain::{Number, System};
use crate::incident::context::Clue;
use crate::text;
use crate::units::{GIB, Interval, percent};

/// Metal's default watermark is 1.7 times the recommended working set, and the smallest Apple machine with a GPU that
/// PyTorch supports has 8 GB, which gives 9.07 GiB: a lower limit was set by somebody.
const LEAST_METAL_LIMIT: i128 = 9 * GIB as i128;

/// True for the default limit of an older Mac's own graphics card, 1.7 times its 2 or 4 GB: cards of 4 GB printed 6.67
/// to 6.91 GiB.
fn of_a_card(limit: Interval) -> bool {
    const CARDS: [i128; 2] = [2 << 30, 4 << 30];
    CARDS.iter().any(|card| limit.high * 100 >= card * 165 && limit.low * 100 <= card * 174)
}

/// A monitor that kills below this share of the machine's memory does so before it is short; Ray's own is 0.95.
pub const WATCHED: f64 = 0.9;

/// A limit on the device, by how it shows.
pub const LIMIT: Mechanism = Mechanism {
    id: "limit",
    levels: &[
        "refused-by-limit",
        "killed-at-limit",
        "killed-at-setting",
        "reserve-exceeded",
        "custom-allocator",
        "contiguous",
        "not-reached",
        "lowered-watermark",
        "reached-while-free",
        "pinned-pool",
        "four-gigabytes",
        "carve-out-empty",
        "carve-out",
        "watched-below",
        "builder-workspace",
    ],
    read: |incident| {
        let event = &incident.event;
        let ledger = &incident.ledger;
        let here = |level, text| Some(Reading::new(level, text).at(event.at));
        if let Some(span) = incident.context.clues.get(&Clue::ShortWorkspace).filter(|_| event.facts.sizes.is_empty()) {
            let text = text!(
                en: "the builder left out tactics for want of workspace, of which a setting gives it so much, whatever \
                     the device has",
                zh: "构建器因工作区不足而放弃了部分 tactic；工作区大小由设置决定，与设备显存无关"
            );
            return Some(Reading::new("builder-workspace", text).at(*span));
        }
        if event.has(Sign::ExpandableReserve) {
            return here(
                "reserve-exceeded",
                text!(
                    en: "the request exceeds the address space set aside for expandable segments, whatever is free",
                    zh: "请求超过了为 expandable segments 预留的地址空间，与空闲量无关"
                ),
            );
        }
        if event.has(Sign::CustomAllocator) {
            return here(
                "custom-allocator",
                text!(
                    en: "the custom allocator behind a memory pool refused it: the device's own figures say nothing \
                         here",
                    zh: "内存池背后的自定义分配器拒绝了请求：设备本身的数字在此没有意义"
                ),
            );
        }
        // A scheduler that kills at its limit bounds what the job needs, as a container does; one on address space
        // counts what was never used.
        if event.has(Sign::RefusedByLimit)
            && event.has(Sign::KilledWithProof)
            && event.facts.get(Fact::TotalVm).is_none()
            && !event.has(Sign::AddressSpaceLimit)
        {
            if event.says_which_setting_to_raise() {
                return here(
                    "killed-at-setting",
                    text!(
                        en: "it was killed at a limit that a setting of its own makes, and the message says which",
                        zh: "它因超过自身某项设置所定的上限而被杀死，报错已指出是哪一项"
                    ),
                );
            }
            return here(
                "killed-at-limit",
                text!(
                    en: "it was killed when it had passed a limit: no single request was refused",
                    zh: "它是在超过上限后被杀死的，并没有哪个请求被拒绝"
                ),
            );
        }
        if event.has(Sign::RefusedByLimit) {
            let text = match event.facts.get(Fact::TotalVm) {
                Some(_) => text!(en: "the message says that a limit was passed", zh: "报错说明超过了某个上限"),
                None => text!(
                    en: "the message says that a limit refused the request",
                    zh: "报错说明请求是被上限拒绝的"
                ),
            };
            return here("refused-by-limit", text);
        }
        if event.has(Sign::ContiguousMemory) {
            return here(
                "contiguous",
                text!(
                    en: "the board's allocator of contiguous memory refused it, which is smaller than the RAM that is \
                         free",
                    zh: "拒绝它的是板载的连续内存分配器，其可用量小于空闲内存"
                ),
            );
        }
        if event.has(Sign::PinnedHost)
            && asker(incident) == Asker::Host
            && let (Some(limit), Some(held), Some(requested)) =
                (event.facts.get(Fact::Limit), ledger.allocated, ledger.requested)
            && (held + requested).surely_at_least(limit.interval())
        {
            let (limit, held, want) = (size(limit.interval()), size(held), size(requested));
            return here(
                "pinned-pool",
                text!(
                    en: "the pool of pinned memory may take {limit}; it holds {held} and {want} more were asked for",
                    zh: "锁页内存池上限为 {limit}，已持有 {held}，又请求 {want}"
                ),
            );
        }
        if let Some((share, at)) = event.facts.numbers.get(&Number::Threshold)
            && asker(incident) == Asker::Host
            && *share < WATCHED
        {
            let share = percent(*share);
            let text = text!(
                en: "whoever watches memory here kills at {share} of the machine: the rest was there",
                zh: "内存监控在机器内存的 {share} 处即杀进程：其余内存尚可用"
            );
            return Some(Reading::new("watched-below", text).at(*at));
        }
        if !on_gpu(incident) {
            return None;
        }
        let at = if event.facts.get(Fact::FractionLimit).is_some() { Fact::FractionLimit } else { Fact::Limit };
        if let Some(cap) = ledger.cap {
            let limit = size(cap);
            // Of a pool that prints its own limit it is that limit which is reached, whatever the device has. A pool
            // that took all that was free at the start has no other limit than that.
            let own = event.program.own_limit().is_some() && !event.program.preallocates() && ledger.capacity.is_none();
            if event.has(Sign::Mps) {
                let known = ledger.allocated.zip(ledger.requested).zip(event.facts.get(Fact::OtherAllocations));
                let held = known.map(|((held, requested), other)| held + requested + other.interval());
                // A small request takes a heap of up to a GiB with it.
                if held.is_some_and(|held| held.high < cap.low / 2) {
                    return here(
                        "not-reached",
                        text!(
                            en: "what is held and the request together stay far below the limit of {limit}: it was the \
                                 device that gave nothing, as in a virtual machine without a GPU of its own",
                            zh: "已占用与请求之和远低于上限 {limit}：是设备本身没有提供内存，例如没有独立 GPU 的虚拟机"
                        ),
                    );
                }
                if cap.high < LEAST_METAL_LIMIT && !of_a_card(cap) {
                    return Some(
                        Reading::new(
                            "lowered-watermark",
                            text!(
                                en: "the limit is {limit}, below the 9 GiB that a Mac with 8 GiB of unified memory \
                                     allows by default, and none that a card of its own has: it was lowered",
                                zh: "上限为 {limit}，低于 8 GiB 统一内存 Mac 默认的 9 GiB，也非独立显卡默认值：\
                                     被人为调低"
                            ),
                        )
                        .at(place(event, at)),
                    );
                }
            } else if let (Some(held), Some(requested)) = (ledger.reserved.or(ledger.allocated), ledger.requested)
                && (held + requested).surely_at_least(cap)
                && (own || ledger.free_beside(event).is_some_and(|free| free.surely_at_least(requested)))
                && ledger.capacity.is_none_or(|capacity| cap.high < capacity.low)
            {
                let (held, want) = (size(held), size(requested));
                let printed = [Fact::Reserved, Fact::Allocated].into_iter().filter_map(|fact| event.facts.get(fact));
                let (computed, computed_zh) =
                    match printed.map(|figure| size(figure.interval())).any(|size| size == held) {
                        true => ("", ""),
                        false => (" (computed)", "（计算值）"),
                    };
                if own {
                    return Some(
                        Reading::new(
                            "reached-while-free",
                            text!(
                                en: "{held} held + {want} asked for exceed the {limit} that the program's own \
                                     pool may take",
                                zh: "已持有 {held} + 请求 {want} 超过程序自身内存池的上限 {limit}"
                            ),
                        )
                        .at(place(event, at)),
                    );
                }
                return Some(
                    Reading::new(
                        "reached-while-free",
                        text!(
                            en: "{held} reserved{computed} + {want} asked for exceed the {limit} allowed, while the \
                                 device had enough free",
                            zh: "已保留 {held}{computed_zh} + 请求 {want} 超过允许的 {limit}，而设备仍有足够空闲"
                        ),
                    )
                    .at(place(event, at)),
                );
            }
        }
        let demand = |requested: Interval| requested + ledger.allocated.unwrap_or(Interval::exactly(0));
        if event.has(Sign::Xpu)
            && let Some(requested) = ledger.requested
            && requested.middle() > (4 * GIB) as i128
            // What is allocated and what was asked for must fit the device together.
            && ledger.capacity.is_none_or(|all| demand(requested).high < all.low)
            && ledger.free.is_none_or(|free| free.surely_at_least(requested))
        {
            let want = size(requested);
            return Some(
                Reading::new(
                    "four-gigabytes",
                    text!(
                        en: "Intel's runtime refuses single buffers above 4 GiB unless that limit is relaxed; {want} \
                             were asked for",
                        zh: "Intel 运行时默认拒绝超过 4 GiB 的单个缓冲区，而请求为 {want}"
                    ),
                )
                .at(place(event, Fact::Requested)),
            );
        }
        if looks_integrated(incident)
            && (refused_although_free(incident) || ledger.share(ledger.outside).is_some_and(|share| share >= 0.3))
            && let Some(capacity) = ledger.capacity
        {
            let all = size(capacity);
            let empty = ledger.allocated.is_some_and(|allocated| allocated.middle() == 0);
            return Some(
                Reading::new(
                    if empty { "carve-out-empty" } else { "carve-out" },
                    text!(
                        en: "no discrete AMD card has {all}: this is an integrated GPU whose capacity adds a carve-out \
                             and mappable RAM, and one of the two is smaller than it looks",
                        zh: "没有容量为 {all} 的 AMD 独立显卡：这是集成 GPU，其容量是划拨显存与可映射内存之和，其中之一\
                             比看上去小"
                    ),
                )
                .at(place(event, Fact::Capacity)),
            );
        }
        None
    },
};

/// An address-space or commit limit.
pub const ADDRESS_SPACE: Mechanism = Mechanism {
    id: "address-space",
    levels: &["address-space", "commit-limit", "page-tables", "32-bit", "datasize"],
    read: |incident| {
        let event = &incident.event;
        if incident.of_32_bits()
            && let Some(at) = incident.context.clues.get(&Clue::ThirtyTwoBit)
        {
            let text = text!(
                en: "the process has addresses of 32 bits: it may hold 2 to 4 GiB, whatever the machine has",
                zh: "该进程是 32 位的：无论机器内存多大，最多只能用 2 至 4 GiB"
            );
            return Some(Reading::new("32-bit", text).at(*at));
        }
        // login.conf(5) of OpenBSD; FreeBSD and NetBSD have the same limit, and mostly leave it open.
        let refused = asker(incident) == Asker::Host && !event.killed() && !event.has(Sign::RefusedByLimit);
        if incident.system() == System::Bsd && refused {
            let text = text!(
                en: "on BSD the class of a user may have a limit on the data of each process (ulimit -d): OpenBSD sets \
                     one for everybody, well below the RAM",
                zh: "BSD 上用户的登录类可能对每个进程的数据大小设有上限（ulimit -d）：OpenBSD 默认即设，且远低于内存"
            );
            return Some(Reading::new("datasize", text));
        }
        if event.has(Sign::AddressSpaceLimit) {
            return Some(if event.has(Sign::Windows) {
                Reading::new(
                    "commit-limit",
                    text!(
                        en: "Windows' commit limit, RAM and page file together, was reached",
                        zh: "达到了 Windows 的提交上限（内存加页面文件）"
                    ),
                )
                .at(event.at)
            } else if let Some(held) = event.facts.get(Fact::TotalVm) {
                let addresses = size(held.interval());
                Reading::new(
                    "address-space",
                    text!(
                        en: "what passed the limit is {addresses} of addresses, which need not be RAM",
                        zh: "超过上限的是 {addresses} 地址空间，未必占用物理内存"
                    ),
                )
                .at(held.at)
            } else {
                Reading::new(
                    "address-space",
                    text!(
                        en: "an address-space or commit limit refused it, not the lack of RAM",
                        zh: "拒绝它的是地址空间或提交上限，而不是内存不足"
                    ),
                )
                .at(event.at)
            });
        }
        let (tables, at) = [Number::Pagetables, Number::VictimPagetables]
            .into_iter()
            .find_map(|name| event.facts.numbers.get(&name))?;
        let limit = event.facts.get(Fact::Limit)?;
        (*tables >= (16u64 << 20) as f64 && *tables >= 0.3 * limit.bytes as f64).then(|| {
            let (tables, limit) = (crate::units::Bytes(*tables as u64), crate::units::Bytes(limit.bytes));
            Reading::new(
                "page-tables",
                text!(
                    en: "{tables} of the limit's {limit} are page tables: a huge sparse mapping, not data",
                    zh: "上限 {limit} 中有 {tables} 是页表：来自巨大的稀疏映射，而不是数据"
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
    use crate::cause::trial::{event, host, settled, torch};
    use crate::dialect::Resource;
    use crate::domain::Program;
    use crate::evidence::Span;

    #[test]
    fn a_limit_shows_in_many_ways() {
        for (sign, want) in [
            (Sign::RefusedByLimit, "refused-by-limit"),
            (Sign::ExpandableReserve, "reserve-exceeded"),
            (Sign::CustomAllocator, "custom-allocator"),
        ] {
            let mut incident = torch(&[(Fact::Requested, "1.00 GiB")]);
            incident.event.sign(sign);
            assert_eq!(level(&LIMIT, &incident), Some(want));
        }
        let mut board = torch(&[]);
        board.event.sign(Sign::ContiguousMemory);
        assert_eq!(level(&LIMIT, &board), Some("contiguous"));
        let mut apple = torch(&[(Fact::FractionLimit, "4.00 GiB"), (Fact::Requested, "1.00 GiB")]);
        apple.event.sign(Sign::Mps);
        assert_eq!(level(&LIMIT, &apple), Some("lowered-watermark"));
        // A card of 4 GB in an older Mac allows 1.7 times that.
        for of_a_card in ["6.67 GiB", "6.80 GiB", "6.91 GiB"] {
            let mut radeon = torch(&[(Fact::FractionLimit, of_a_card), (Fact::Requested, "1.00 GiB")]);
            radeon.event.sign(Sign::Mps);
            assert_eq!(level(&LIMIT, &radeon), None, "{of_a_card}");
        }
        let reached = torch(&[
            (Fact::Requested, "2.00 GiB"),
            (Fact::Capacity, "23.69 GiB"),
            (Fact::Free, "12.00 GiB"),
            (Fact::Allocated, "11.00 GiB"),
            (Fact::ReservedUnallocated, "0 bytes"),
            (Fact::FractionLimit, "11.80 GiB"),
        ]);
        assert_eq!(level(&LIMIT, &reached), Some("reached-while-free"));
        let mut pinned =
            host(&[(Fact::Requested, "2.00 GiB"), (Fact::Limit, "4.00 GiB"), (Fact::Allocated, "3.00 GiB")]);
        pinned.event.sign(Sign::PinnedHost);
        assert_eq!(level(&LIMIT, &pinned), Some("pinned-pool"));
        let mut intel = torch(&[(Fact::Requested, "6.00 GiB"), (Fact::Capacity, "16.00 GiB")]);
        intel.event.sign(Sign::Xpu);
        assert_eq!(level(&LIMIT, &intel), Some("four-gigabytes"));
        for (allocated, want) in [("0 bytes", "carve-out-empty"), ("1.00 GiB", "carve-out")] {
            let mut amd = event(
                Program::Pytorch,
                Resource::Gpu,
                &[
                    (Fact::Requested, "1.00 GiB"),
                    (Fact::Capacity, "27.30 GiB"),
                    (Fact::Free, "10.00 MiB"),
                    (Fact::Allocated, allocated),
                    (Fact::Reserved, allocated),
                ],
            );
            amd.sign(Sign::Hip);
            assert_eq!(level(&LIMIT, &settled(amd)), Some(want));
        }
        assert_eq!(level(&LIMIT, &torch(&[(Fact::Requested, "1.00 GiB")])), None);
    }

    #[test]
    fn a_kill_at_a_limit_is_no_refused_request() {
        let mut job = host(&[]);
        job.event.sign(Sign::RefusedByLimit);
        assert_eq!(level(&LIMIT, &job), Some("refused-by-limit"));
        job.event.sign(Sign::KilledWithProof);
        assert_eq!(level(&LIMIT, &job), Some("killed-at-limit"));
        let mut addresses = host(&[(Fact::TotalVm, "270.00 GiB")]);
        addresses.event.sign(Sign::RefusedByLimit);
        addresses.event.sign(Sign::KilledWithProof);
        assert_eq!(level(&LIMIT, &addresses), Some("refused-by-limit"));
    }

    #[test]
    fn limits_of_addresses() {
        let mut limit = host(&[]);
        limit.event.sign(Sign::AddressSpaceLimit);
        assert_eq!(level(&ADDRESS_SPACE, &limit), Some("address-space"));
        limit.event.sign(Sign::Windows);
        assert_eq!(level(&ADDRESS_SPACE, &limit), Some("commit-limit"));
        let mut tables = host(&[(Fact::Limit, "1.00 GiB")]);
        tables.event.facts.numbers.insert(Number::Pagetables, (6e8, Span::line(2)));
        assert_eq!(level(&ADDRESS_SPACE, &tables), Some("page-tables"));
    }
}
