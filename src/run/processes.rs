//! The job's processes, and what each of them holds.

use crate::host::Root;
use crate::incident::timeline::ProcessSample;
use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

/// Processes that are followed; a job with more is told by these.
const MOST: usize = 1024;

/// Where the kernel lists no children, all of `/proc` is gone through this often.
const BETWEEN_SCANS: Duration = Duration::from_secs(5);

/// The share of a core that exact figures may cost: the kernel walks all pages of a process for them.
const EXACTLY: u32 = 250;

/// One process of the job.
struct Known {
    parent: u32,
    name: String,
    line: String,
    started: String,
    worker: bool,
    /// What only this process maps, less what `statm` says is not shared: pages that a fork left shared are among the
    /// latter.
    correction: i64,
    corrected: Option<Instant>,
    /// When it was seen first.
    met: Instant,
}

/// Bytes resident, and of them those of files and shared memory.
fn statm(root: &Root, page: u64, pid: u32) -> Option<(u64, u64)> {
    let text = root.text(&format!("proc/{pid}/statm")).ok()?;
    let mut fields = text.split(' ').skip(1);
    let mut next = || Some(fields.next()?.parse::<u64>().ok()?.saturating_mul(page));
    Some((next()?, next()?))
}

/// All of them.
pub struct Tree {
    root: Root,
    top: u32,
    known: BTreeMap<u32, Known>,
    scanned: Option<Instant>,
    exact_again: Instant,
    page: u64,
}

impl Tree {
    pub fn of(top: u32) -> Tree {
        Tree {
            root: Root::default(),
            top,
            known: BTreeMap::new(),
            scanned: None,
            exact_again: Instant::now(),
            page: rustix::param::page_size() as u64,
        }
    }

    /// Looks at all processes once. Gives what each holds, and the sum with shared memory counted once.
    pub fn look(&mut self) -> (Vec<ProcessSample>, u64) {
        self.find();
        let mut samples = Vec::with_capacity(self.known.len());
        let (mut own_sum, mut shared_most) = (0u64, 0u64);
        let mut oldest: Option<(Option<Instant>, u32)> = None;
        let (root, page) = (&self.root, self.page);
        let exact: BTreeMap<u32, Option<Instant>> =
            self.known.iter().map(|(pid, known)| (*pid, known.corrected)).collect();
        for (pid, known) in &mut self.known {
            let Some((resident, shared)) = statm(root, page, *pid) else { continue };
            let unshared = resident.saturating_sub(shared);
            if known.worker && known.corrected.is_none() && known.correction == 0 {
                // Until the exact figure is there: what it has from the fork is its parent's.
                known.correction = i64::try_from(unshared).map_or(0, |unshared| -unshared);
            }
            let own = unshared.saturating_add_signed(known.correction).min(resident);
            own_sum = own_sum.saturating_add(own);
            // Pages that a fork shares are its parent's until both have been read exactly since.
            let of_parent = exact.get(&known.parent).is_none_or(|at| at.is_some_and(|at| at >= known.met));
            let apart = !known.worker || known.corrected.is_some() && of_parent;
            shared_most = shared_most.max(if apart { resident - own } else { shared.min(resident - own) });
            if oldest.is_none_or(|(at, _)| known.corrected < at) {
                oldest = Some((known.corrected, *pid));
            }
            samples.push(ProcessSample {
                pid: *pid,
                parent: known.parent,
                name: known.name.clone(),
                worker: known.worker,
                own,
            });
        }
        if let Some((_, pid)) = oldest
            && Instant::now() >= self.exact_again
        {
            self.correct(pid);
        }
        (samples, own_sum.saturating_add(shared_most))
    }

    pub fn holds(&self, pid: u32) -> bool {
        self.known.contains_key(&pid)
    }

    /// Takes the exact figure of one process.
    fn correct(&mut self, pid: u32) {
        let began = Instant::now();
        let before = statm(&self.root, self.page, pid);
        let text = self.root.text(&format!("proc/{pid}/smaps_rollup")).unwrap_or_default();
        let field = |name: &str| {
            let value = text.lines().find_map(|line| line.strip_prefix(name))?;
            value.trim().trim_end_matches("kB").trim().parse::<u64>().ok().map(|kib| kib.saturating_mul(1024))
        };
        let private = field("Private_Clean:").zip(field("Private_Dirty:")).map(|(clean, dirty)| clean + dirty);
        if let Some(known) = self.known.get_mut(&pid) {
            known.corrected = Some(Instant::now());
            if let (Some(private), Some((resident, shared))) = (private, before) {
                let unshared = i64::try_from(resident.saturating_sub(shared)).unwrap_or(i64::MAX);
                known.correction = i64::try_from(private).unwrap_or(i64::MAX).saturating_sub(unshared);
            }
        }
        self.exact_again = Instant::now() + began.elapsed() * EXACTLY;
    }

    /// Finds new processes and drops those that have ended.
    fn find(&mut self) {
        let mut alive = BTreeSet::new();
        let mut waiting = vec![(self.top, 0)];
        // Whoever was left by its parent still belongs to the job.
        waiting.extend(self.known.iter().map(|(pid, known)| (*pid, known.parent)));
        while let Some((pid, parent)) = waiting.pop() {
            if alive.len() >= MOST || alive.contains(&pid) {
                continue;
            }
            let Some(started) = self.started(pid) else { continue };
            if self.known.get(&pid).is_some_and(|known| known.started != started) {
                // Another process of that number.
                self.known.remove(&pid);
                if parent != 0 && pid != self.top {
                    continue;
                }
            }
            alive.insert(pid);
            self.meet(pid, parent, started);
            waiting.extend(self.children(pid).into_iter().map(|child| (child, pid)));
        }
        self.known.retain(|pid, _| alive.contains(pid));
    }

    fn meet(&mut self, pid: u32, parent: u32, started: String) {
        let line = match self.root.text(&format!("proc/{pid}/cmdline")) {
            // The command line changes when a child becomes another program.
            Ok(line) if self.known.get(&pid).is_none_or(|known| known.line != line && !line.is_empty()) => line,
            _ => return,
        };
        // Between fork and its program, and when it ends, a process has no command line.
        let named = if line.is_empty() {
            self.root.text(&format!("proc/{pid}/comm")).unwrap_or_default()
        } else {
            line.clone()
        };
        let of_parent = self.known.get(&parent).map(|parent| parent.line.as_str());
        let worker = of_parent == Some(line.as_str()) || line.contains("multiprocessing");
        let mut words =
            named.split('\0').filter(|word| !word.is_empty()).map(|word| word.rsplit('/').next().unwrap_or(word));
        let mut name = words.next().unwrap_or("?").to_string();
        if let Some(script) = words.next().filter(|word| !word.starts_with('-')) {
            name = format!("{name} {script}");
        }
        let name = name.chars().filter(|c| !c.is_control()).take(48).collect();
        let known = Known { parent, name, line, started, worker, correction: 0, corrected: None, met: Instant::now() };
        self.known.insert(pid, known);
    }

    /// Field 22 of `stat`.
    fn started(&self, pid: u32) -> Option<String> {
        let stat = self.root.text(&format!("proc/{pid}/stat")).ok()?;
        let mut fields = stat.rsplit_once(") ")?.1.split(' ');
        // One that has ended and is not waited for holds nothing.
        fields.next().filter(|state| *state != "Z")?;
        fields.nth(18).map(str::to_string)
    }

    fn children(&mut self, pid: u32) -> Vec<u32> {
        let mut found = Vec::new();
        let threads = self.root.names(&format!("proc/{pid}/task")).unwrap_or_default();
        let mut listed = false;
        for thread in threads {
            if let Ok(text) = self.root.text(&format!("proc/{pid}/task/{thread}/children")) {
                listed = true;
                found.extend(text.split_whitespace().filter_map(|pid| pid.parse::<u32>().ok()));
            }
        }
        if !listed && pid == self.top && self.scanned.is_none_or(|at| at.elapsed() >= BETWEEN_SCANS) {
            self.scanned = Some(Instant::now());
            return self.scan();
        }
        found
    }

    /// Everything below the top, where the kernel lists no children.
    fn scan(&self) -> Vec<u32> {
        let mut parents = BTreeMap::new();
        for pid in self.root.names("proc").unwrap_or_default().iter().filter_map(|name| name.parse::<u32>().ok()) {
            let stat = self.root.text(&format!("proc/{pid}/stat")).unwrap_or_default();
            let parent = stat.rsplit_once(") ").and_then(|(_, rest)| rest.split(' ').nth(1)?.parse::<u32>().ok());
            parent.map(|parent| parents.insert(pid, parent));
        }
        let below = |mut pid: u32| {
            for _ in 0..64 {
                match parents.get(&pid) {
                    Some(parent) if *parent == self.top => return true,
                    Some(parent) => pid = *parent,
                    None => return false,
                }
            }
            false
        };
        parents.keys().copied().filter(|pid| below(*pid)).collect()
    }
}
