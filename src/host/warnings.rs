//! What on the host is about to run out: warnings at nine tenths.

use super::Host;
use super::meminfo::Overcommit;
use crate::text::{Text, counted};
use crate::units::Bytes;

/// From this share of a limit on, a warning is given.
const NEARLY: f64 = 0.9;

/// Waiting for memory more than this share of a minute slows everything down.
const PRESSED: f64 = 10.0;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Warning {
    pub id: &'static str,
    pub text: Text,
}

/// The ids, for `--fail-on`.
pub const IDS: &[&str] =
    &["host-memory", "swap", "cgroup-limit", "cgroup-kills", "host-pressure", "shm", "commit-limit", "kernel-kills"];

/// Everything on the host that is nearly used up or has failed before.
pub fn warnings(host: &Host) -> Vec<Warning> {
    let mut out = Vec::new();
    let mut warn = |id, text| out.push(Warning { id, text });
    if let Ok(memory) = &host.memory {
        if let Ok(used) = memory.used()
            && nearly(used, memory.total)
        {
            let (used, total) = (Bytes(used), Bytes(memory.total));
            warn("host-memory", crate::text!(en: "RAM: {used} of {total} in use", zh: "内存：{total} 中已用 {used}"));
        }
        if let (Ok(total), Ok(free)) = (&memory.swap_total, &memory.swap_free)
            && *total > 0
            && nearly(total.saturating_sub(*free), *total)
        {
            let (used, total) = (Bytes(total.saturating_sub(*free)), Bytes(*total));
            warn("swap", crate::text!(en: "swap: {used} of {total} in use", zh: "交换空间：{total} 中已用 {used}"));
        }
        if let (Ok(Overcommit::Never), Ok(limit), Ok(committed)) =
            (&memory.overcommit, &memory.commit_limit, &memory.committed)
            && nearly(*committed, *limit)
        {
            let (limit, committed) = (Bytes(*limit), Bytes(*committed));
            warn(
                "commit-limit",
                crate::text!(
                    en: "vm.overcommit_memory=2: {committed} of {limit} promised; allocations beyond fail although RAM \
                         is free",
                    zh: "vm.overcommit_memory=2：提交上限 {limit} 中已提交 {committed}；超出后即使内存空闲也会分配失败"
                ),
            );
        }
    }
    if let Ok(groups) = &host.groups {
        if let Some((group, limit, held)) = groups.tightest()
            && nearly(held, limit)
        {
            let (held, limit, path) = (Bytes(held), Bytes(limit), &group.path);
            warn(
                "cgroup-limit",
                crate::text!(
                    en: "control group {path}: {held} of {limit} held without reclaimable files",
                    zh: "控制组 {path}：上限 {limit}，不可回收的占用 {held}"
                ),
            );
        }
        let kills = groups
            .groups
            .iter()
            .find_map(|group| group.oom_kills.clone().ok().filter(|kills| *kills > 0).map(|kills| (group, kills)));
        if let Some((group, kills)) = kills {
            let (path, processes) = (&group.path, counted(kills, "process", "processes"));
            warn(
                "cgroup-kills",
                crate::text!(
                    en: "control group {path}: the kernel killed {processes} of it for want of memory",
                    zh: "控制组 {path}：内核已因内存不足杀死其中 {kills} 个进程"
                ),
            );
        }
    }
    if let Ok(pressure) = &host.pressure
        && pressure.some.minute >= PRESSED
    {
        let share = pressure.some.minute;
        warn(
            "host-pressure",
            crate::text!(
                en: "for {share:.0} % of the last minute some task waited for memory",
                zh: "最近一分钟内有 {share:.0} % 的时间存在任务等待内存"
            ),
        );
    }
    if let Ok(shm) = &host.shm
        && let Ok(used) = shm.used
        && nearly(used, shm.size)
    {
        let (used, size) = (Bytes(used), Bytes(shm.size));
        warn(
            "shm",
            crate::text!(
                en: "/dev/shm: {used} of {size} in use; workers die of bus errors when it is full",
                zh: "/dev/shm：{size} 中已用 {used}；写满后 worker 会以 Bus error 退出"
            ),
        );
    }
    if let Ok(kernel) = &host.kernel
        && let Some(last) = kernel.kills.last()
    {
        let count = kernel.kills.len();
        let kills = counted(count as u64, "kill", "kills");
        warn(
            "kernel-kills",
            crate::text!(
                en: "the kernel's log tells of {kills} for want of memory, the last: {last}",
                zh: "内核日志中有 {count} 次内存不足杀进程，最近一次：{last}"
            ),
        );
    }
    out
}

fn nearly(used: u64, limit: u64) -> bool {
    limit > 0 && used as f64 >= NEARLY * limit as f64
}
