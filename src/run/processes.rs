//! The job's processes, and what each of them holds.

use crate::host::Root;
use crate::host::processes::environment;
use crate::incident::timeline::{ProcessSample, Victim};
use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

/// Processes that are followed; a job with more is told by these.
const MOST: usize = 1024;

/// Where the kernel lists no children, all of `/proc` is gone through this often.
const BETWEEN_SCANS: Duration = Duration::from_secs(5);

/// The share of a core that exact figures may cost: the kernel walks all pages of a process for them.
const EXACTLY: u32 = 250;

/// Processes that have ended are remembered for a kill that is counted only when all of their memory is free.
const COUNTED_WITHIN: Duration = Duration::from_secs(5);

/// One process of the job.
struct Known {
    parent: u32,
    name: String,
    line: String,
    started: String,
    worker: bool,
    rank: Option<u32>,
    threads: u64,
    /// The limits on its addresses and on page-locked memory, in bytes.
    limit: Option<u64>,
    locked_limit: Option<u64>,
    /// Page-locked.
    locked: u64,
    /// What it alone held when it was looked at last.
    own: u64,
    /// What only this process maps, less its anonymous pages: those that a fork left shared are among the latter.
    correction: i64,
    corrected: Option<Instant>,
    /// When it was seen first.
    met: Instant,
}

/// A file of `Name: n kB` lines, in bytes.
struct Fields(String);

impl Fields {
    fn of(root: &Root, pid: u32, file: &str) -> Fields {
        Fields(root.text(&format!("proc/{pid}/{file}")).unwrap_or_default())
    }

    fn value(&self, name: &str) -> Option<&str> {
        self.0.lines().find_map(|line| Some(line.strip_prefix(name)?.strip_prefix(':')?.trim()))
    }

    fn bytes(&self, name: &str) -> Option<u64> {
        let kib = self.value(name)?.trim_end_matches("kB").trim().parse::<u64>().ok()?;
        Some(kib.saturating_mul(1024))
    }

    /// All that is resident, where the kernel does not tell files apart.
    fn anonymous(&self) -> Option<u64> {
        self.bytes("RssAnon").or_else(|| self.bytes("VmRSS"))
    }

    fn bits(&self, name: &str) -> Option<u64> {
        u64::from_str_radix(self.value(name)?, 16).ok()
    }
}

/// With this capability page-locked memory has no limit.
const CAP_IPC_LOCK: u32 = 14;

/// All of them at one moment.
#[derive(Default)]
pub struct Look {
    pub processes: Vec<ProcessSample>,
    /// What they hold together, shared memory once.
    pub job: u64,
    /// Resident, each counted for itself.
    pub resident: u64,
    pub locked: u64,
    pub swapped: u64,
}

impl Known {
    /// What changes slowly or takes another file to read.
    fn ask(&mut self, root: &Root, pid: u32, status: &Fields) {
        let limits = root.text(&format!("proc/{pid}/limits")).unwrap_or_default();
        // Of the two, the soft one stands first.
        let limit = |name: &str| {
            let line = limits.lines().find_map(|line| line.strip_prefix(name))?;
            line.split_whitespace().next()?.parse().ok()
        };
        let may_lock = status.bits("CapEff").is_some_and(|bits| bits >> CAP_IPC_LOCK & 1 == 1);
        self.limit = limit("Max address space");
        self.locked_limit = limit("Max locked memory").filter(|_| !may_lock);
        let bytes = |name| status.bytes(name).unwrap_or(0);
        self.locked = bytes("VmLck").saturating_add(bytes("VmPin"));
    }
}

/// All of them.
pub struct Tree {
    root: Root,
    top: u32,
    known: BTreeMap<u32, Known>,
    /// Those that have ended, and when that was seen.
    ended: Vec<(Instant, Victim)>,
    scanned: Option<Instant>,
    exact_again: Instant,
}

impl Tree {
    pub fn of(top: u32) -> Tree {
        Tree {
            root: Root::default(),
            top,
            known: BTreeMap::new(),
            ended: Vec::new(),
            scanned: None,
            exact_again: Instant::now(),
        }
    }

    /// Looks at all processes once; a whole look asks each for what it has locked and swapped, too.
    pub fn look(&mut self, whole: bool) -> Look {
        self.find();
        let mut look = Look { processes: Vec::with_capacity(self.known.len()), ..Look::default() };
        let (mut own_sum, mut shared_most) = (0u64, 0u64);
        let mut oldest: Option<(Option<Instant>, u32)> = None;
        let root = &self.root;
        let exact: BTreeMap<u32, Option<Instant>> =
            self.known.iter().map(|(pid, known)| (*pid, known.corrected)).collect();
        for (pid, known) in &mut self.known {
            let status = Fields::of(root, *pid, "status");
            // Without any memory it is about to end.
            let Some(anonymous) = status.anonymous() else { continue };
            let bytes = |name| status.bytes(name).unwrap_or(0);
            // Pages of files that it maps are not among them: the kernel takes them back where memory is short.
            let resident = anonymous.saturating_add(bytes("RssShmem"));
            if known.worker && known.corrected.is_none() && known.correction == 0 {
                // Until the exact figure is there: what it has from the fork is its parent's.
                known.correction = i64::try_from(anonymous).map_or(0, |anonymous| -anonymous);
            }
            if whole {
                known.ask(root, *pid, &status);
            }
            let own = anonymous.saturating_add_signed(known.correction).min(resident);
            known.own = own;
            own_sum = own_sum.saturating_add(own);
            look.resident = look.resident.saturating_add(resident);
            look.locked = look.locked.saturating_add(known.locked);
            look.swapped = look.swapped.saturating_add(bytes("VmSwap"));
            // Pages that a fork shares are its parent's until both have been read exactly since.
            let of_parent = exact.get(&known.parent).is_none_or(|at| at.is_some_and(|at| at >= known.met));
            let apart = !known.worker || known.corrected.is_some() && of_parent;
            let shared = resident - own;
            shared_most = shared_most.max(if apart { shared } else { shared.min(bytes("RssShmem")) });
            if oldest.is_none_or(|(at, _)| known.corrected < at) {
                oldest = Some((known.corrected, *pid));
            }
            look.processes.push(ProcessSample {
                pid: *pid,
                parent: known.parent,
                name: known.name.clone(),
                worker: known.worker,
                own,
                rank: known.rank,
                threads: known.threads,
                addresses: status.bytes("VmSize").zip(known.limit),
                locked: known.locked_limit.map(|limit| (known.locked, limit)).filter(|(locked, _)| *locked > 0),
            });
        }
        if let Some((_, pid)) = oldest
            && Instant::now() >= self.exact_again
        {
            self.correct(pid);
        }
        look.job = own_sum.saturating_add(shared_most);
        look
    }

    /// True where a process has ended lately: a kill that is counted now may be of it.
    pub fn has_lost(&self) -> bool {
        !self.ended.is_empty()
    }

    /// The largest of those that have ended lately, as many as kills were counted; they are not given again.
    pub fn victims(&mut self, kills: u64) -> Vec<Victim> {
        self.ended.sort_by_key(|(_, ended)| std::cmp::Reverse(ended.own));
        let most = usize::try_from(kills).unwrap_or(usize::MAX).min(self.ended.len());
        self.ended.drain(..most).map(|(_, ended)| ended).collect()
    }

    pub fn holds(&self, pid: u32) -> bool {
        self.known.contains_key(&pid)
    }

    /// Takes the exact figure of one process.
    fn correct(&mut self, pid: u32) {
        let began = Instant::now();
        let before = Fields::of(&self.root, pid, "status").anonymous();
        let exact = Fields::of(&self.root, pid, "smaps_rollup");
        // Clean ones are of files, and can be taken back.
        let private = exact.bytes("Private_Dirty");
        if let Some(known) = self.known.get_mut(&pid) {
            known.corrected = Some(Instant::now());
            if let (Some(private), Some(anonymous)) = (private, before) {
                let anonymous = i64::try_from(anonymous).unwrap_or(i64::MAX);
                known.correction = i64::try_from(private).unwrap_or(i64::MAX).saturating_sub(anonymous);
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
            let Some((started, threads)) = self.started(pid) else { continue };
            if self.known.get(&pid).is_some_and(|known| known.started != started) {
                // Another process of that number.
                self.forget(pid);
                if parent != 0 && pid != self.top {
                    continue;
                }
            }
            alive.insert(pid);
            self.meet(pid, parent, started);
            if let Some(known) = self.known.get_mut(&pid) {
                known.threads = threads;
            }
            waiting.extend(self.children(pid).into_iter().map(|child| (child, pid)));
        }
        let gone: Vec<u32> = self.known.keys().copied().filter(|pid| !alive.contains(pid)).collect();
        self.ended.retain(|(at, _)| at.elapsed() < COUNTED_WITHIN);
        gone.into_iter().for_each(|pid| self.forget(pid));
    }

    /// Drops one that has ended, and remembers what it held.
    fn forget(&mut self, pid: u32) {
        let Some(known) = self.known.remove(&pid) else { return };
        if self.ended.len() < MOST {
            let victim = Victim { pid, name: known.name, rank: known.rank, own: known.own };
            self.ended.push((Instant::now(), victim));
        }
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
        let rank = environment(&self.root, pid, "RANK").ok().flatten().and_then(|rank| rank.trim().parse().ok());
        let known = Known {
            parent,
            name,
            line,
            started,
            worker,
            rank,
            threads: 1,
            limit: None,
            locked_limit: None,
            locked: 0,
            own: 0,
            correction: 0,
            corrected: None,
            met: Instant::now(),
        };
        self.known.insert(pid, known);
    }

    /// When it was started and its threads, fields 22 and 20 of `stat`.
    fn started(&self, pid: u32) -> Option<(String, u64)> {
        let stat = self.root.text(&format!("proc/{pid}/stat")).ok()?;
        let mut fields = stat.rsplit_once(") ")?.1.split(' ');
        // One that has ended and is not waited for holds nothing.
        fields.next().filter(|state| *state != "Z")?;
        let threads = fields.nth(16)?.parse().ok()?;
        Some((fields.nth(1)?.to_string(), threads))
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
