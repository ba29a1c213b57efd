//! Limits of control groups, versions 1 and 2, of this process's group and of all groups around it: the tightest one
//! kills.

use super::Root;
use super::meminfo::{Pressure, stalled};
use crate::reading::{Reading, unavailable};

/// Groups nested deeper than this do not occur.
const DEEPEST: usize = 32;

/// Limits of version 1 that mean "none" are a rounded-down `i64::MAX`.
const NO_LIMIT: u64 = 1 << 60;

/// The groups from the process's own to the outermost that can be seen.
#[derive(Debug, Clone, PartialEq)]
pub struct Groups {
    pub version: u8,
    pub groups: Vec<Group>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Group {
    /// As it stands below the mount point; `/` may be a container's own.
    pub path: String,
    /// Where its files lie, from the root.
    pub folder: String,
    /// `memory.max` or `memory.limit_in_bytes`; `None` = no limit.
    pub limit: Reading<Option<u64>>,
    /// `memory.high`, above which the kernel slows the group down; version 2.
    pub high: Reading<Option<u64>>,
    pub current: Reading<u64>,
    pub peak: Reading<u64>,
    /// Kills since the group exists.
    pub oom_kills: Reading<u64>,
    pub anonymous: Reading<u64>,
    pub shared: Reading<u64>,
    pub files: Reading<u64>,
    pub pressure: Reading<Pressure>,
    /// Device memory per region: limit and use (`dmem`, kernel 6.14+ with a driver that registers its memory).
    pub devices: Vec<DeviceLimit>,
}

/// One line of `dmem.max` and `dmem.current`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeviceLimit {
    /// Such as `nvidia/0000:3b:00.0/vidmem`.
    pub region: String,
    pub limit: u64,
    pub current: Reading<u64>,
}

impl Groups {
    /// # Errors
    /// Where no control group of memory can be found.
    pub fn read(root: &Root) -> Reading<Groups> {
        let own = root.text("proc/self/cgroup")?;
        let mut of_v1 = None;
        let mut of_v2 = None;
        for line in own.lines() {
            let mut parts = line.splitn(3, ':');
            let (Some(_), Some(controllers), Some(path)) = (parts.next(), parts.next(), parts.next()) else { continue };
            if controllers.is_empty() {
                of_v2 = Some(path.to_string());
            } else if controllers.split(',').any(|name| name == "memory") {
                of_v1 = Some(path.to_string());
            }
        }
        let unified = if root.exists("sys/fs/cgroup/unified") { "sys/fs/cgroup/unified" } else { "sys/fs/cgroup" };
        let (version, groups) = match (of_v1, of_v2) {
            (Some(path), _) => (1, walk(root, "sys/fs/cgroup/memory", &path, v1)),
            (None, Some(path)) => (2, walk(root, unified, &path, v2)),
            (None, None) => {
                return unavailable(
                    "/proc/self/cgroup names no group that accounts memory",
                    "/proc/self/cgroup 中没有管理内存的控制组",
                );
            }
        };
        if groups.is_empty() {
            return unavailable("/sys/fs/cgroup is not mounted here", "此处没有挂载 /sys/fs/cgroup");
        }
        Ok(Groups { version, groups })
    }

    /// The group whose limit leaves the least, with that limit and what is used of it without reclaimable files.
    pub fn tightest(&self) -> Option<(&Group, u64, u64)> {
        self.groups
            .iter()
            .filter_map(|group| {
                let limit = group.limit.clone().ok()??;
                Some((group, limit, group.held().ok()?))
            })
            .min_by_key(|(_, limit, held)| limit.saturating_sub(*held))
    }
}

impl Group {
    /// What the kernel cannot simply take back: `current` counts the page cache too.
    pub fn held(&self) -> Reading<u64> {
        let current = self.current.clone()?;
        Ok(match (&self.files, &self.shared) {
            (Ok(files), Ok(shared)) => current.saturating_sub(files.saturating_sub(*shared)),
            _ => current,
        })
    }
}

/// What a group holds at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Held {
    /// Without files that the kernel can take back.
    pub bytes: u64,
    /// Of it shared memory and files in memory (tmpfs), which the kernel cannot take back and no process's end frees.
    pub shared: u64,
}

/// What a watcher asks a group again and again for, in two small files.
impl Group {
    pub fn held_again(&self, root: &Root, version: u8) -> Option<Held> {
        let names = if version == 1 {
            ("memory.usage_in_bytes", "total_cache", "total_shmem")
        } else {
            ("memory.current", "file", "shmem")
        };
        let current = root.number(&format!("{}/{}", self.folder, names.0)).ok()?;
        let stat = root.text(&format!("{}/memory.stat", self.folder)).unwrap_or_default();
        let field = |name: &str| {
            stat.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' ')?.trim().parse::<u64>().ok())
        };
        let shared = field(names.2).unwrap_or(0);
        let files = field(names.1).unwrap_or(0).saturating_sub(shared);
        Some(Held { bytes: current.saturating_sub(files), shared })
    }

    /// Microseconds in which all of its tasks waited for memory at once (PSI); version 2.
    pub fn stalled_again(&self, root: &Root) -> Option<u64> {
        stalled(root, &format!("{}/memory.pressure", self.folder))
    }

    /// Kills in it since it exists.
    pub fn kills_again(&self, root: &Root, version: u8) -> Option<u64> {
        let file = if version == 1 { "memory.oom_control" } else { "memory.events" };
        keyed(root, &format!("{}/{file}", self.folder), "oom_kill").ok()
    }
}

/// From the group of the path up to the mount point. A container that sees its own group as the root is found there.
fn walk(root: &Root, base: &str, path: &str, read: fn(&Root, &str, &str) -> Group) -> Vec<Group> {
    let mut parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty() && *part != "..").collect();
    let mut groups = Vec::new();
    for _ in 0..DEEPEST {
        let name = format!("/{}", parts.join("/"));
        let folder = if parts.is_empty() { base.to_string() } else { format!("{base}/{}", parts.join("/")) };
        if root.exists(&folder) {
            groups.push(read(root, &folder, &name));
        }
        if parts.pop().is_none() {
            break;
        }
    }
    groups
}

/// `max` or a number.
fn limit(root: &Root, file: &str) -> Reading<Option<u64>> {
    let text = root.text(file)?;
    match text.trim() {
        "max" => Ok(None),
        number => match number.parse::<u64>() {
            Ok(bytes) => Ok((bytes < NO_LIMIT).then_some(bytes)),
            Err(_) => unavailable(format!("/{file} holds no size"), format!("/{file} 中不是大小")),
        },
    }
}

/// The number behind a key of a file of `key value` lines.
fn keyed(root: &Root, file: &str, key: &str) -> Reading<u64> {
    let text = root.text(file)?;
    let value = text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(' ')?.trim().parse().ok());
    match value {
        Some(value) => Ok(value),
        None => unavailable(format!("/{file} has no {key}"), format!("/{file} 中没有 {key}")),
    }
}

fn v2(root: &Root, folder: &str, path: &str) -> Group {
    let file = |name: &str| format!("{folder}/{name}");
    // The outermost group has no limit files: it is the whole machine.
    let whole = folder.ends_with("cgroup") || folder.ends_with("unified");
    let limit_of = |name: &str| match limit(root, &file(name)) {
        Err(_) if whole && !root.exists(&file(name)) => Ok(None),
        read => read,
    };
    Group {
        path: path.to_string(),
        folder: folder.to_string(),
        limit: limit_of("memory.max"),
        high: limit_of("memory.high"),
        current: root.number(&file("memory.current")),
        peak: root.number(&file("memory.peak")),
        oom_kills: keyed(root, &file("memory.events"), "oom_kill"),
        anonymous: keyed(root, &file("memory.stat"), "anon"),
        shared: keyed(root, &file("memory.stat"), "shmem"),
        files: keyed(root, &file("memory.stat"), "file"),
        pressure: Pressure::read(root, &file("memory.pressure")),
        devices: devices(root, folder),
    }
}

fn v1(root: &Root, folder: &str, path: &str) -> Group {
    let file = |name: &str| format!("{folder}/{name}");
    Group {
        path: path.to_string(),
        folder: folder.to_string(),
        limit: limit(root, &file("memory.limit_in_bytes")),
        high: unavailable("version 1 of control groups has no memory.high", "cgroup v1 没有 memory.high"),
        current: root.number(&file("memory.usage_in_bytes")),
        peak: root.number(&file("memory.max_usage_in_bytes")),
        oom_kills: keyed(root, &file("memory.oom_control"), "oom_kill"),
        anonymous: keyed(root, &file("memory.stat"), "total_rss"),
        shared: keyed(root, &file("memory.stat"), "total_shmem"),
        files: keyed(root, &file("memory.stat"), "total_cache"),
        pressure: unavailable("version 1 of control groups measures no pressure", "cgroup v1 不提供压力指标"),
        devices: Vec::new(),
    }
}

fn devices(root: &Root, folder: &str) -> Vec<DeviceLimit> {
    let Ok(limits) = root.text(&format!("{folder}/dmem.max")) else { return Vec::new() };
    let file = format!("{folder}/dmem.current");
    limits
        .lines()
        .filter_map(|line| {
            let (region, limit) = line.trim().rsplit_once(' ')?;
            Some(DeviceLimit {
                region: region.to_string(),
                limit: limit.parse().ok()?,
                current: keyed(root, &file, region),
            })
        })
        .collect()
}
