//! Processes from `/proc`: the largest by memory, the names and users behind process ids, who holds GPU device files
//! open.

use super::Root;
use crate::reading::{Reading, unavailable};
use std::collections::BTreeSet;
use std::time::{Duration, Instant};

/// Processes listed at most.
const LISTED: usize = 10;

/// Going through the open files of a large machine ends after this long; what was not seen is counted.
const PATIENCE: Duration = Duration::from_millis(300);

/// The inode of the first process-id namespace (`PROC_PID_INIT_INO`, include/linux/proc_ns.h).
const FIRST_NAMESPACE: &str = "pid:[4026531836]";

/// A process of the host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Process {
    pub pid: u32,
    pub name: Reading<String>,
    pub user: Reading<String>,
    pub container: Reading<Option<String>>,
    /// `R`, `S`, `D` (stuck in the kernel), `Z` (zombie) …
    pub state: Reading<char>,
    pub parent: Reading<u32>,
    /// Since it was started.
    pub age_seconds: Reading<u64>,
    pub resident: Reading<u64>,
    /// Resident with shared pages divided among those who share them.
    pub proportional: Reading<u64>,
    /// `mlock`ed.
    pub locked: Reading<u64>,
    /// Pinned for devices, such as the host buffers of CUDA.
    pub pinned: Reading<u64>,
    pub swapped: Reading<u64>,
}

/// True where `/proc` numbers processes as the kernel does, and so as the driver does. In a container it does not: the
/// driver knows no namespaces and names processes by the host's numbers.
pub fn numbers_are_the_hosts(root: &Root) -> bool {
    root.link("proc/self/ns/pid").is_ok_and(|namespace| namespace == FIRST_NAMESPACE)
        || root.text("proc/2/comm").is_ok_and(|name| name.trim() == "kthreadd")
}

impl Process {
    /// Reads what `/proc` tells of a process; `proportional` only on demand, for it makes the kernel walk all its
    /// pages.
    pub fn read(root: &Root, pid: u32) -> Reading<Process> {
        let folder = format!("proc/{pid}");
        let status = match root.text(&format!("{folder}/status")) {
            Ok(status) => status,
            Err(_) if !root.exists(&folder) => {
                return unavailable(format!("process {pid} is gone"), format!("进程 {pid} 已不存在"));
            }
            Err(reason) => return Err(reason),
        };
        let field =
            |name: &str| status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':')).map(str::trim);
        let size =
            |name: &str| match field(name).and_then(|value| value.trim_end_matches("kB").trim().parse::<u64>().ok()) {
                Some(kib) => Ok(kib.saturating_mul(1024)),
                None => unavailable(
                    format!("/{folder}/status has no {name} (a kernel thread or a dead process)"),
                    format!("/{folder}/status 中没有 {name}（内核线程或已死亡的进程）"),
                ),
            };
        let absent =
            |name: &str| crate::text!(en: "/{folder}/status has no {name}", zh: "/{folder}/status 中没有 {name}");
        let uid = field("Uid").and_then(|ids| ids.split_whitespace().next()?.parse::<u32>().ok());
        Ok(Process {
            pid,
            name: name(root, &folder)
                .or_else(|_| field("Name").map(str::to_string).ok_or_else(|| absent("Name").into())),
            user: match uid {
                Some(uid) => Ok(user(root, uid)),
                None => Err(absent("Uid").into()),
            },
            container: root.text(&format!("{folder}/cgroup")).map(|groups| container(&groups)),
            state: field("State").and_then(|state| state.chars().next()).ok_or_else(|| absent("State").into()),
            parent: field("PPid").and_then(|pid| pid.parse().ok()).ok_or_else(|| absent("PPid").into()),
            age_seconds: age(root, &folder),
            resident: size("VmRSS"),
            proportional: unavailable("not asked", "未读取"),
            locked: size("VmLck"),
            pinned: size("VmPin"),
            swapped: size("VmSwap"),
        })
    }

    fn add_proportional(&mut self, root: &Root) {
        let file = format!("proc/{}/smaps_rollup", self.pid);
        self.proportional = root.text(&file).and_then(|text| {
            let value = text.lines().find_map(|line| line.strip_prefix("Pss:"));
            match value.and_then(|value| value.trim().trim_end_matches("kB").trim().parse::<u64>().ok()) {
                Some(kib) => Ok(kib.saturating_mul(1024)),
                None => unavailable(format!("/{file} has no Pss"), format!("/{file} 中没有 Pss")),
            }
        });
    }
}

/// Ticks of `/proc/PID/stat` in a second; Linux fixes them for user space (`USER_HZ`) on all machines with GPUs.
const TICKS: u64 = 100;

/// Seconds since the process was started: the machine's uptime less field 22 of its `stat`.
fn age(root: &Root, folder: &str) -> Reading<u64> {
    let stat = root.text(&format!("{folder}/stat"))?;
    let uptime = root.text("proc/uptime")?;
    // The name in parentheses may hold anything; the fields are counted from behind it.
    let started = stat.rsplit_once(')').and_then(|(_, rest)| rest.split_whitespace().nth(19)?.parse::<u64>().ok());
    let up = uptime.split('.').next().and_then(|seconds| seconds.trim().parse::<u64>().ok());
    match (started, up) {
        (Some(started), Some(up)) => Ok(up.saturating_sub(started / TICKS)),
        _ => unavailable(
            format!("/{folder}/stat or /proc/uptime does not have the known form"),
            format!("/{folder}/stat 或 /proc/uptime 的格式无法识别"),
        ),
    }
}

/// True where a process of this number runs that is at least so many seconds old: not a later one of the same number.
pub fn has_run_for(root: &Root, pid: u32, seconds: u64) -> bool {
    age(root, &format!("proc/{pid}")).is_ok_and(|age| age >= seconds)
}

/// The program and its first argument that is no option: `python train.py`.
fn name(root: &Root, folder: &str) -> Reading<String> {
    let line = root.text(&format!("{folder}/cmdline"))?;
    let mut words = line.split('\0').filter(|word| !word.is_empty());
    let base = |path: &str| path.rsplit('/').next().unwrap_or(path).to_string();
    match words.next() {
        Some(program) => {
            let mut name = base(program);
            let argument = words.next().filter(|_| name.starts_with("python"));
            if let Some(script) = argument.filter(|word| !word.starts_with('-')) {
                name = format!("{name} {}", base(script));
            }
            Ok(name.chars().filter(|c| !c.is_control()).take(60).collect())
        }
        None => unavailable(format!("/{folder}/cmdline is empty"), format!("/{folder}/cmdline 为空")),
    }
}

/// The user's name, the number where `/etc/passwd` has none.
fn user(root: &Root, uid: u32) -> String {
    let number = uid.to_string();
    let accounts = root.text("etc/passwd").unwrap_or_default();
    let name = accounts.lines().find_map(|line| {
        let mut fields = line.split(':');
        let name = fields.next()?;
        (fields.nth(1)? == number).then(|| name.to_string())
    });
    name.unwrap_or_else(|| format!("uid {number}"))
}

/// The container or batch job that a process's control groups name: `docker 1a2b3c4d5e6f`, `slurm job_4242`.
fn container(groups: &str) -> Option<String> {
    let runtimes = [
        ("docker", "docker"),
        ("cri-containerd", "containerd"),
        ("crio", "cri-o"),
        ("libpod", "podman"),
        ("kubepods", "kubernetes"),
        ("containerd", "containerd"),
        ("lxc", "lxc"),
    ];
    for line in groups.lines() {
        let path = line.splitn(3, ':').nth(2).unwrap_or_default();
        if path.contains("slurm")
            && let Some(job) = path.split('/').find(|part| part.starts_with("job_"))
        {
            return Some(format!("slurm {job}"));
        }
        let Some((_, runtime)) = runtimes.iter().find(|(mark, _)| path.contains(mark)) else { continue };
        let id = path
            .split(['/', '-', '.', ':'])
            .find(|part| part.len() >= 12 && part.bytes().all(|byte| byte.is_ascii_hexdigit()))
            .map_or("", |id| &id[..12]);
        return Some(format!("{runtime} {id}").trim_end().to_string());
    }
    None
}

/// All process ids below `/proc`.
fn pids(root: &Root) -> Reading<Vec<u32>> {
    root.names("proc").map(|names| names.iter().filter_map(|name| name.parse().ok()).collect())
}

/// The processes with the most resident memory, the largest first.
pub fn largest(root: &Root) -> Reading<Vec<Process>> {
    let page = 4096;
    let mut resident: Vec<(u64, u32)> = pids(root)?
        .into_iter()
        .filter(|pid| !root.is_own() || *pid != std::process::id())
        .filter_map(|pid| {
            let pages = root.text(&format!("proc/{pid}/statm")).ok()?;
            let pages: u64 = pages.split_whitespace().nth(1)?.parse().ok()?;
            Some((pages.saturating_mul(page), pid))
        })
        .collect();
    resident.sort_unstable_by(|a, b| b.cmp(a));
    let mut processes: Vec<Process> =
        resident.iter().take(LISTED).filter_map(|(_, pid)| Process::read(root, *pid).ok()).collect();
    processes.iter_mut().for_each(|process| process.add_proportional(root));
    Ok(processes)
}

/// A process that has a GPU's device file open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Holder {
    pub process: Process,
    /// Minor numbers of the open `/dev/nvidiaN`; empty where only the unified-memory device is open.
    pub minors: Vec<u32>,
    /// Its program file was deleted or replaced while it runs.
    pub deleted: bool,
}

impl Holder {
    /// The parent is gone, so that nothing waits for this process any more.
    pub fn orphaned(&self) -> bool {
        self.process.parent == Ok(1)
    }
}

/// What the search for open device files found.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Holders {
    pub found: Vec<Holder>,
    /// Processes whose open files could not be looked at: those of other users without root, or for want of time.
    pub unseen: usize,
}

/// Goes through the open files of all processes for `/dev/nvidia*`.
pub fn holders(root: &Root) -> Reading<Holders> {
    let started = Instant::now();
    let mut out = Holders::default();
    for pid in pids(root)? {
        if started.elapsed() > PATIENCE {
            out.unseen += 1;
            continue;
        }
        let folder = format!("proc/{pid}/fd");
        let Ok(numbers) = root.names(&folder) else {
            out.unseen += 1;
            continue;
        };
        let mut minors = BTreeSet::new();
        let mut holds = false;
        for number in numbers {
            let Ok(target) = root.link(&format!("{folder}/{number}")) else { continue };
            let Some(rest) = target.strip_prefix("/dev/nvidia") else { continue };
            if let Ok(minor) = rest.parse::<u32>() {
                minors.insert(minor);
                holds = true;
            } else if rest == "-uvm" {
                holds = true;
            }
        }
        if holds && let Ok(process) = Process::read(root, pid) {
            let deleted = root.link(&format!("proc/{pid}/exe")).is_ok_and(|exe| exe.ends_with(" (deleted)"));
            out.found.push(Holder { process, minors: minors.into_iter().collect(), deleted });
        }
    }
    Ok(out)
}

/// The value of an environment variable of a process; `None` where it is not set.
pub fn environment(root: &Root, pid: u32, name: &str) -> Reading<Option<String>> {
    let text = root.text(&format!("proc/{pid}/environ"))?;
    Ok(text.split('\0').find_map(|entry| entry.strip_prefix(name)?.strip_prefix('=')).map(str::to_string))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn containers_are_named_by_their_control_groups() {
        let id = "3f9c0a51d2e4b7781122334455667788990011223344556677889900aabbccdd";
        assert_eq!(container(&format!("0::/system.slice/docker-{id}.scope")).as_deref(), Some("docker 3f9c0a51d2e4"));
        assert_eq!(container(&format!("4:memory:/docker/{id}")).as_deref(), Some("docker 3f9c0a51d2e4"));
        assert_eq!(container("0::/system.slice/slurmstepd.scope/job_77/step_0").as_deref(), Some("slurm job_77"));
        assert_eq!(container("0::/user.slice/user-1000.slice"), None);
    }
}
