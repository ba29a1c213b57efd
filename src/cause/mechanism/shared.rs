//! Shared memory: /dev/shm and tmpfs.

use super::{Mechanism, Reading};
use crate::cause::nature::{Asker, asker};
use crate::cause::reading::size;
use crate::dialect::{Fact, Sign};
use crate::domain::Number;
use crate::evidence::Span;
use crate::text;
use crate::units::Bytes;

/// What of the limit, or what message, is about shared memory.
pub const SEGMENT: Mechanism = Mechanism {
    id: "shared-memory",
    levels: &["segment", "bus-error", "segment-with-room", "most-of-the-limit", "half-of-the-limit"],
    read: |incident| {
        let event = &incident.event;
        if asker(incident) == Asker::Shm {
            if let Some((used, total, line)) = incident.context.shared_memory() {
                let has_room = incident.context.shared_memory_has_room(event.facts.get(Fact::Requested));
                let level = if has_room { "segment-with-room" } else { "segment" };
                let (used, total) = (Bytes(used), Bytes(total));
                return Some(
                    Reading::new(
                        level,
                        text!(
                            en: "what failed is memory shared between processes; of {total} in /dev/shm {used} \
                                 were in use",
                            zh: "失败的是进程间共享内存；/dev/shm 共 {total}，当时已用 {used}"
                        ),
                    )
                    .at(event.at)
                    .at(Span::line(line)),
                );
            }
            if event.has(Sign::BusError) {
                let text = text!(
                    en: "a process died of a bus error: it touched a page that could not be had, most often of \
                         /dev/shm, of which containers get 64 MiB, or of a mapped file that was cut short",
                    zh: "进程死于总线错误：访问了无法提供的页，最常见于 /dev/shm（容器默认 64 MiB），也可能是被截断\
                         的映射文件"
                );
                return Some(Reading::new("bus-error", text).at(event.at));
            }
            return Some(
                Reading::new(
                    "segment",
                    text!(
                        en: "what failed is memory shared between processes, a segment or the bus error of whoever \
                             touches one; containers get 64 MiB of /dev/shm unless told otherwise",
                        zh: "失败的是进程间共享内存（申请共享段，或访问时的总线错误）；容器的 /dev/shm 默认只有 64 MiB"
                    ),
                )
                .at(event.at),
            );
        }
        if asker(incident) != Asker::Host {
            return None;
        }
        // Files in /dev/shm and tmpfs, of the group or of the victim, which killing a process does not free.
        let group = event.facts.numbers.get(&Number::Shmem).map(|(bytes, at)| (*bytes as u64, *at));
        let victim = event.facts.get(Fact::ShmemRss).map(|figure| (figure.bytes, figure.at));
        let (shared, at) = group.into_iter().chain(victim).max_by_key(|(bytes, _)| *bytes)?;
        let limit = event.facts.get(Fact::Limit).or(event.facts.get(Fact::Capacity))?;
        let level = match shared as f64 / limit.bytes.max(1) as f64 {
            share if share >= 0.75 => "most-of-the-limit",
            share if share >= 0.45 => "half-of-the-limit",
            _ => return None,
        };
        let (held, all) = (Bytes(shared), size(limit.interval()));
        Some(
            Reading::new(
                level,
                text!(
                    en: "of {all}, {held} are shared memory: files in /dev/shm or tmpfs, or shared mappings",
                    zh: "上限 {all} 中有 {held} 是共享内存：/dev/shm 或 tmpfs 中的文件，或共享映射"
                ),
            )
            .at(at),
        )
    },
};

#[cfg(test)]
mod tests {
    use super::super::level;
    use super::*;
    use crate::cause::trial::{event, host, settled};
    use crate::dialect::Resource;
    use crate::domain::Program;

    #[test]
    fn segments_and_shares_of_the_limit() {
        assert_eq!(level(&SEGMENT, &settled(event(Program::Pytorch, Resource::Shm, &[]))), Some("segment"));
        let held = |shared| host(&[(Fact::Limit, "16.00 GiB"), (Fact::ShmemRss, shared)]);
        assert_eq!(level(&SEGMENT, &held("15.00 GiB")), Some("most-of-the-limit"));
        assert_eq!(level(&SEGMENT, &held("8.00 GiB")), Some("half-of-the-limit"));
        assert_eq!(level(&SEGMENT, &held("1.00 GiB")), None);
    }
}
