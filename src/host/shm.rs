//! `/dev/shm`: where data-loading workers and NCCL exchange data. Containers get 64 MiB unless told otherwise.

use super::Root;
use crate::reading::{Reading, unavailable};
use crate::system;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shm {
    pub size: u64,
    pub used: Reading<u64>,
}

impl Shm {
    /// The mounted file system's own figures; where only its mount line can be read, its size.
    pub fn read(root: &Root) -> Reading<Shm> {
        if let Some((size, used)) = root.is_own().then(|| system::filled(&root.path("dev/shm"))).flatten() {
            return Ok(Shm { size, used: Ok(used) });
        }
        let mounts = root.text("proc/self/mountinfo")?;
        let line = mounts.lines().find(|line| line.split(' ').nth(4) == Some("/dev/shm"));
        let Some(line) = line else { return unavailable("/dev/shm is not mounted", "/dev/shm 没有挂载") };
        let option = line.rsplit(' ').next().unwrap_or_default().split(',').find_map(|part| part.strip_prefix("size="));
        match option.and_then(size) {
            Some(size) => Ok(Shm {
                size,
                used: unavailable(
                    "only the running system can tell how full a mounted file system is",
                    "只有运行中的系统才能给出已挂载文件系统的用量",
                ),
            }),
            None => unavailable(
                "/dev/shm is mounted without a size (half of the RAM)",
                "/dev/shm 挂载时没有指定大小（默认为内存的一半）",
            ),
        }
    }
}

/// `65536k`, `2g`.
fn size(text: &str) -> Option<u64> {
    crate::units::parse(text, crate::units::Base::Binary).map(|size| size.bytes)
}
