//! Tables of a machine's memory that people put beside a log: `free`, `/proc/meminfo`, `df`, `kubectl top`, the
//! capacity in `kubectl describe node`, `docker stats`.
//!
//! What they show is of the moment when they were read, often after the process had died and given everything back.

use super::settings::kubernetes_size;
use crate::domain::closed_set;
use crate::evidence::Span;
use crate::input::gpu_tables::{DeviceUse, UseTool};
use crate::units::{self, Base, Figure, GIB, MIB};

/// Readings kept at most: a `watch free` may fill a log.
const READINGS_AT_MOST: usize = 1024;
/// Columns of `free`, of which only the last ones changed with its releases.
const COLUMNS: [&str; 3] = ["total", "used", "free"];
const ALL_COLUMNS: usize = 6;
/// Lines between a command or header and its rows.
const NEAR: u64 = 3;
/// Tables of a machine's memory, the ones with the finest figures first.
pub(super) const OF_MACHINE: [SideTable; 5] =
    [SideTable::Meminfo, SideTable::WindowsSystem, SideTable::Free, SideTable::Top, SideTable::KubectlDescribe];
/// Properties that PowerShell or wmic may list of one object.
const WINDOWS_PROPERTIES: u64 = 64;

closed_set! {
    /// The tool or file that a reading is of.
    pub enum SideTable {
        Free = "free",
        Top = "top",
        Meminfo = "meminfo",
        /// `Win32_OperatingSystem` of Windows, by PowerShell or wmic.
        WindowsSystem = "win32-operating-system",
        Df = "df",
        KubectlTop = "kubectl-top",
        KubectlDescribe = "kubectl-describe",
        DockerStats = "docker-stats",
        XpuSmi = "xpu-smi",
        NvidiaSmiDmon = "nvidia-smi-dmon",
    }
}

closed_set! {
    /// When a table was read, by its place in the log.
    pub enum Moment {
        Before = "before",
        /// Among the lines of the failure's own messages.
        At = "at",
        After = "after",
    }
}

impl Moment {
    /// When a line was written that tells of a failure at `at`.
    pub fn of(line: u64, at: Span) -> Moment {
        if line < at.first {
            Moment::Before
        } else if line > at.last {
            Moment::After
        } else {
            Moment::At
        }
    }
}

/// One row of such a table.
#[derive(Debug, Clone, PartialEq)]
pub struct SideReading {
    pub of: SideTable,
    /// The mount, pod, node, container or device.
    pub subject: Option<String>,
    pub total: Option<Figure>,
    pub used: Option<Figure>,
    pub free: Option<Figure>,
    pub available: Option<Figure>,
    pub line: u64,
}

impl SideReading {
    /// False where a part is larger than the whole: the row was not read as it was printed, or is not whole.
    fn adds_up(&self) -> bool {
        let Some(total) = self.total else { return true };
        let parts = [self.used, self.free, self.available];
        !parts.into_iter().flatten().any(|part| part.interval().low > total.interval().high)
    }
}

/// Gathers the readings of a document line by line.
#[derive(Debug, Default)]
pub(super) struct SideTables {
    readings: Vec<SideReading>,
    /// The unit that a `free` or `df` command asked for, and its line.
    asked: Option<(&'static str, u64)>,
    header: Option<(Header, u64)>,
    /// `Capacity:` of a node.
    capacity: Option<u64>,
}

#[derive(Debug, Clone, PartialEq)]
enum Header {
    /// Names of the columns of `free`.
    Free(Vec<String>),
    /// Names of the properties of `Win32_OperatingSystem` that were selected.
    WindowsSystem(Vec<String>),
    /// The unit of bare numbers.
    Df(Option<&'static str>),
    /// The column of the memory, and whether the first column is the pod of a container.
    KubectlTop(usize),
    DockerStats,
}

impl SideTables {
    /// True while rows may follow that hold no word of their own.
    pub(super) fn expects(&self) -> bool {
        let open = |header: &Header| {
            matches!(header, Header::KubectlTop(_) | Header::DockerStats | Header::Df(_) | Header::WindowsSystem(_))
        };
        self.header.as_ref().is_some_and(|(header, _)| open(header)) || self.capacity.is_some()
    }

    /// Takes a line of the document.
    pub(super) fn take(&mut self, text: &str, line: u64) {
        if self.readings.len() >= READINGS_AT_MOST {
            return;
        }
        let words: Vec<&str> = text.split_whitespace().take(32).collect();
        let Some(first) = words.first() else {
            (self.header, self.capacity) = (None, None);
            return;
        };
        self.command(&words, line);
        if let Some(header) = header(&words, text) {
            self.header = Some((header, line));
            return;
        }
        match *first {
            "KiB" | "MiB" | "GiB" if matches!(words.get(1), Some(&("Mem" | "Mem:"))) => self.top(&words, line),
            "Mem:" => self.free(&words, line),
            "MemTotal:" | "MemAvailable:" | "MemFree:" => self.meminfo(&words, line),
            name if name.starts_with("TotalVisibleMemorySize") || name.starts_with("FreePhysicalMemory") => {
                self.property(text, line);
            }
            "Capacity:" => self.capacity = Some(line),
            "memory:" if self.capacity.is_some_and(|opened| line <= opened + 12) => {
                let total = words.get(1).and_then(|word| kubernetes_size(word, Span::line(line)));
                if let Some(total) = total {
                    self.keep(SideTable::KubectlDescribe, None, line, |reading| reading.total = Some(total));
                }
                self.capacity = None;
            }
            _ => self.row(&words, line),
        }
    }

    /// Readings of a tool that is read elsewhere.
    pub(super) fn take_device(&mut self, told: DeviceUse) {
        let DeviceUse { index, used, by } = told;
        let table = match by {
            UseTool::XpuSmi => SideTable::XpuSmi,
            UseTool::NvidiaSmiDmon => SideTable::NvidiaSmiDmon,
        };
        self.keep(table, Some(format!("GPU {index}")), used.at.first, |reading| reading.used = Some(used));
    }

    pub(super) fn all(&self) -> &[SideReading] {
        &self.readings
    }

    fn keep(&mut self, of: SideTable, subject: Option<String>, line: u64, fill: impl FnOnce(&mut SideReading)) {
        if self.readings.len() < READINGS_AT_MOST {
            let mut reading = SideReading { of, subject, total: None, used: None, free: None, available: None, line };
            fill(&mut reading);
            if reading.adds_up() {
                self.readings.push(reading);
            }
        }
    }

    /// The unit that `$ free -m` or `df -BM` asks for.
    fn command(&mut self, words: &[&str], line: u64) {
        let Some(at) = words.iter().position(|word| matches!(word.rsplit('/').next(), Some("free" | "df"))) else {
            return;
        };
        // A command stands alone behind a prompt; prose goes on with other words.
        // What is cut from the table behind a bar leaves the rows as they are.
        let options = words.get(at + 1..).unwrap_or(&[]).split(|word| *word == "|").next().unwrap_or_default();
        let plain = options.iter().all(|word| word.starts_with(['-', '/', '|']) || *word == "&&");
        if at > 4 || !plain {
            return;
        }
        let df = words[at].ends_with("df");
        let unit = options.iter().filter(|word| word.starts_with('-')).find_map(|option| match *option {
            "-b" | "--bytes" if !df => Some("B"),
            "-k" | "--kibi" => Some("KiB"),
            "-m" | "--mebi" => Some("MiB"),
            "-g" | "--gibi" if !df => Some("GiB"),
            option if option.starts_with("-h") || option == "--human" || option == "--human-readable" => Some("h"),
            "-H" | "--si" => Some("si"),
            _ => None,
        });
        self.asked = Some((unit.unwrap_or("KiB"), line));
    }

    fn asked(&self, line: u64) -> Option<&'static str> {
        self.asked.filter(|(_, at)| line > *at && line - at <= NEAR).map(|(unit, _)| unit)
    }

    /// `Mem:  515712  120000 …`, `Mem: 503Gi 117Gi …`.
    fn free(&mut self, words: &[&str], line: u64) {
        let columns = match self.header.clone() {
            Some((Header::Free(columns), at)) if line <= at + NEAR => columns,
            // `free -m | grep Mem` leaves no header.
            _ if self.asked(line).is_some() => COLUMNS.map(str::to_string).to_vec(),
            _ => return,
        };
        // Marks between thousands that are blanks make two columns of one.
        if words.len() < 4 || words.len() > columns.len().max(ALL_COLUMNS) + 1 {
            return;
        }
        let bare = words[1].bytes().all(|byte| byte.is_ascii_digit());
        let unit = match self.asked(line) {
            Some("h" | "si") | None if !bare => None,
            Some("si") => return,
            Some(unit) if bare => Some(unit),
            _ => match words[1].parse().ok().and_then(unit_of_total) {
                Some(unit) => Some(unit),
                None => return,
            },
        };
        let si = self.asked(line) == Some("si");
        let figure = |name: &str| {
            let column = columns.iter().position(|column| column == name)?;
            amount(words.get(column + 1)?, unit, si, line)
        };
        let (total, used, free, available) = (figure("total"), figure("used"), figure("free"), figure("available"));
        if total.is_some() {
            self.keep(SideTable::Free, None, line, |reading| {
                (reading.total, reading.used, reading.free, reading.available) = (total, used, free, available);
            });
        }
    }

    /// `MiB Mem :  64255.8 total,   1203.4 free,  60100.2 used,   2952.2 buff/cache`, and below it, behind the swap,
    /// `3512.6 avail Mem`.
    fn top(&mut self, words: &[&str], line: u64) {
        let unit = words.first().copied();
        let figure = |name: &str| {
            let at = words.iter().position(|word| word.trim_end_matches([',', '.']) == name)?;
            amount(words.get(at.checked_sub(1)?)?, unit, false, line)
        };
        let (total, free, used) = (figure("total"), figure("free"), figure("used"));
        if total.is_some() {
            self.keep(SideTable::Top, None, line, |reading| {
                (reading.total, reading.free, reading.used) = (total, free, used);
            });
        }
    }

    /// `MemTotal:       527940192 kB`.
    fn meminfo(&mut self, words: &[&str], line: u64) {
        let [name, number, "kB"] = words else { return };
        // The kernel prints whole kB.
        if !is_number(number) {
            return;
        }
        let Some(figure) = amount(number, Some("KiB"), false, line).map(exactly) else { return };
        let open = self.readings.last().is_some_and(|last| {
            last.of == SideTable::Meminfo && line.saturating_sub(last.line) <= NEAR && *name != "MemTotal:"
        });
        if !open {
            self.keep(SideTable::Meminfo, None, line, |_| {});
        }
        if let Some(last) = self.readings.last_mut() {
            match *name {
                "MemTotal:" => last.total = Some(figure),
                "MemFree:" => last.free = Some(figure),
                _ => last.available = Some(figure),
            }
        }
    }

    /// `TotalVisibleMemorySize : 16711680`, `FreePhysicalMemory=3145728`: KiB, of one object's properties.
    fn property(&mut self, text: &str, line: u64) {
        let Some((name, number)) = text.split_once([':', '=']).map(|(name, number)| (name.trim(), number.trim()))
        else {
            return;
        };
        let Some(figure) = amount(number, Some("KiB"), false, line).map(exactly) else { return };
        let open = self.readings.last().is_some_and(|last| {
            last.of == SideTable::WindowsSystem && line.saturating_sub(last.line) <= WINDOWS_PROPERTIES
        });
        if !open {
            self.keep(SideTable::WindowsSystem, None, line, |_| {});
        }
        if let Some(last) = self.readings.last_mut() {
            match name {
                "TotalVisibleMemorySize" => last.total = Some(figure),
                "FreePhysicalMemory" => last.free = Some(figure),
                _ => {}
            }
        }
    }

    fn row(&mut self, words: &[&str], line: u64) {
        // `df -h | grep shm` leaves no header: sizes with a unit need none.
        let named = matches!(words, ["tmpfs" | "shm", total, ..] if total.ends_with(|c: char| c.is_ascii_uppercase()));
        let bare = Some((Header::Df(None), line)).filter(|_| named);
        let Some((header, at)) = self.header.clone().or(bare) else { return };
        match header {
            // The columns before the mount are five, whatever the device is called; a long name has a line of its own.
            Header::Df(unit) => {
                let Some((share, mount)) = words.len().checked_sub(2).map(|at| (words[at], words[at + 1])) else {
                    return;
                };
                if !share.ends_with('%') || !mount.starts_with('/') || !(5..=6).contains(&words.len()) {
                    return;
                }
                if !matches!(mount, "/dev/shm" | "/run/shm") {
                    return;
                }
                let unit = unit.or(self.asked(at).filter(|unit| !matches!(*unit, "h" | "si")));
                let si = self.asked(at) == Some("si");
                let figure = |back: usize| amount(words.get(words.len().checked_sub(back)?)?, unit, si, line);
                let (total, used, available) = (figure(5), figure(4), figure(3));
                if total.is_some() {
                    self.keep(SideTable::Df, Some(mount.to_string()), line, |reading| {
                        (reading.total, reading.used, reading.available) = (total, used, available);
                    });
                }
            }
            Header::KubectlTop(column) => {
                let used = words.get(column).and_then(|word| kubernetes_size(word, Span::line(line)));
                match used
                    .filter(|_| words.get(column - 1).is_some_and(|cpu| cpu.ends_with(['m', '%']) || is_number(cpu)))
                {
                    Some(used) => {
                        // kubectl prints whole units.
                        let used = rounded(used, words[column]);
                        let subject = words.first().map(|name| (*name).to_string());
                        self.keep(SideTable::KubectlTop, subject, line, |reading| reading.used = Some(used));
                    }
                    None => self.header = None,
                }
            }
            Header::DockerStats => {
                let Some(stroke) = words.iter().position(|word| *word == "/") else {
                    self.header = None;
                    return;
                };
                let figure = |at: Option<usize>| amount(words.get(at?)?, None, false, line);
                let (used, total) = (figure(stroke.checked_sub(1)), figure(Some(stroke + 1)));
                let subject = words.get(1).map(|name| (*name).to_string());
                if let (Some(used), Some(total)) = (used, total) {
                    self.keep(SideTable::DockerStats, subject, line, |reading| {
                        (reading.used, reading.total) = (Some(used), Some(total));
                    });
                }
            }
            Header::WindowsSystem(names) if line <= at + NEAR && words.len() == names.len() => {
                let figure = |name: &str| {
                    let column = names.iter().position(|of| of == name)?;
                    amount(words.get(column)?, Some("KiB"), false, line).map(exactly)
                };
                let (total, free) = (figure("TotalVisibleMemorySize"), figure("FreePhysicalMemory"));
                if total.or(free).is_some() {
                    self.keep(SideTable::WindowsSystem, None, line, |reading| {
                        (reading.total, reading.free) = (total, free);
                    });
                }
            }
            Header::Free(_) | Header::WindowsSystem(_) => {}
        }
    }
}

fn is_number(word: &str) -> bool {
    !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit())
}

fn header(words: &[&str], text: &str) -> Option<Header> {
    if words.first() == Some(&"total") && words.get(1) == Some(&"used") && words.get(2) == Some(&"free") {
        return Some(Header::Free(words.iter().map(|word| word.to_ascii_lowercase()).collect()));
    }
    let of_windows = |word: &&str| matches!(*word, "TotalVisibleMemorySize" | "FreePhysicalMemory");
    if words.iter().any(of_windows) && words.iter().all(|word| word.bytes().all(|byte| byte.is_ascii_alphanumeric())) {
        return Some(Header::WindowsSystem(words.iter().map(|word| (*word).to_string()).collect()));
    }
    if words.first() == Some(&"Filesystem") && text.contains("Mounted on") {
        let unit = match words.get(1).copied() {
            Some("Size") => None,
            Some("1K-blocks") => Some("KiB"),
            Some("1M-blocks") => Some("MiB"),
            Some("1G-blocks") => Some("GiB"),
            Some("1B-blocks") => Some("B"),
            Some("512-blocks" | "512B-blocks") => return None,
            _ => return None,
        };
        return Some(Header::Df(unit));
    }
    if matches!(words.first(), Some(&"NAME" | &"POD")) {
        let memory = words.iter().position(|word| *word == "MEMORY(bytes)");
        return memory.filter(|column| *column > 0).map(Header::KubectlTop);
    }
    (text.starts_with("CONTAINER") && text.contains("MEM USAGE / LIMIT")).then_some(Header::DockerStats)
}

/// The unit in which `free` printed a machine's memory, where only one is likely: a machine has 256 MiB to 4 TiB. Whole
/// gibibytes are few, bytes many; between lie the two others, which overlap for small machines in KiB and large ones in
/// MiB.
fn unit_of_total(total: u64) -> Option<&'static str> {
    let likely = |unit: &&str| {
        let bytes = units::unit(unit, Base::Binary).and_then(|bytes| total.checked_mul(bytes));
        bytes.is_some_and(|bytes| (GIB / 4..=4096 * GIB).contains(&bytes))
    };
    let mut units = ["B", "KiB", "MiB"].into_iter().filter(likely);
    let unit = units.next()?;
    units.next().is_none().then_some(unit)
}

/// `503Gi`, `15G`, `62.8G`, `64M`, `0`, or a bare number of `unit`. These tools cut, round or round up: the last digit
/// may be off by one. With `si` the letters are powers of 1000.
fn amount(word: &str, unit: Option<&str>, si: bool, line: u64) -> Option<Figure> {
    let digits = word.bytes().take_while(|byte| byte.is_ascii_digit() || *byte == b'.').count();
    let letters = &word[digits..];
    let (base, unit) = match (unit, letters) {
        (Some(unit), "") => (Base::Binary, unit),
        (None, "") if word == "0" => (Base::Binary, "B"),
        (None, "B") => (Base::Binary, "B"),
        (None, "K" | "k" | "Ki" | "KiB") => (Base::Binary, "KiB"),
        (None, "M" | "Mi" | "MiB") => (Base::Binary, "MiB"),
        (None, "G" | "Gi" | "GiB") => (Base::Binary, "GiB"),
        (None, "T" | "Ti" | "TiB") => (Base::Binary, "TiB"),
        (None, "kB") => (Base::Decimal, "kB"),
        (None, "MB") => (Base::Decimal, "MB"),
        (None, "GB") => (Base::Decimal, "GB"),
        _ => return None,
    };
    if si && letters.len() == 1 && letters != "B" {
        let bytes = units::size(&word[..digits], &format!("{letters}B"), Base::Decimal)?;
        return Some(twice(bytes.at(Span::line(line))));
    }
    Some(twice(units::size(&word[..digits], unit, base)?.at(Span::line(line))))
}

/// With a last digit that was cut rather than rounded.
fn twice(figure: Figure) -> Figure {
    Figure { half_width: figure.half_width.saturating_mul(2), ..figure }
}

fn exactly(figure: Figure) -> Figure {
    Figure { half_width: 0, ..figure }
}

/// A quantity of Kubernetes that was cut to whole units.
fn rounded(figure: Figure, word: &str) -> Figure {
    let unit = if word.ends_with("Mi") {
        MIB
    } else if word.ends_with("Gi") {
        GIB
    } else {
        1
    };
    Figure { half_width: unit, ..figure }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Vec<SideReading> {
        let mut tables = SideTables::default();
        text.lines().zip(1..).for_each(|(line, number)| tables.take(line, number));
        tables.readings
    }

    fn one(text: &str) -> SideReading {
        let mut all = read(text);
        assert_eq!(all.len(), 1, "{text}: {all:?}");
        all.remove(0)
    }

    fn bytes(figure: Option<Figure>) -> Option<u64> {
        figure.map(|figure| figure.bytes)
    }

    #[test]
    fn free_is_read_in_the_layouts_of_its_versions() {
        // procps-ng 3.3.17 and later, with the command above.
        let now = one("$ free -h\n               total        used        free      shared  buff/cache   available\n\
                       Mem:           503Gi       117Gi       9.5Gi       2.1Gi       376Gi       380Gi\n\
                        Swap:             0B          0B          0B");
        assert_eq!((bytes(now.total), bytes(now.available)), (Some(503 * GIB), Some(380 * GIB)));
        assert_eq!(now.total.unwrap().half_width, GIB, "the last digit may be cut");
        assert_eq!(bytes(now.free), Some(9 * GIB + GIB / 2));
        // 3.3.10 to 3.3.16: one letter.
        let older = one("              total        used        free      shared  buff/cache   available\n\
             Mem:            62G         51G        1.1G         20M         10G         10G");
        assert_eq!((bytes(older.total), bytes(older.used)), (Some(62 * GIB), Some(51 * GIB)));
        // Before: no available; whole MiB by option.
        let oldest = one("$ free -m\n\
             total       used       free     shared    buffers     cached\n\
             Mem:        129028     120511       8517          0        312       9021\n\
             -/+ buffers/cache:     111178      17850");
        assert_eq!((bytes(oldest.total), oldest.available), (Some(129_028 * MIB), None));
    }

    #[test]
    fn a_row_that_does_not_add_up_is_not_read() {
        let free = |row: &str| {
            read(&format!(
                "$ free -m\n              total        used        free      shared  buff/cache   available\n{row}"
            ))
        };
        assert_eq!(free("Mem:            3946        3402         180           1         364         210").len(), 1);
        assert_eq!(free("Mem:            3 946        3402         180           1         364         210"), []);
        assert_eq!(free("Mem:            946        3402         180           1         364"), [], "cut to the left");
        assert_eq!(read("MemTotal:         514.825 kB"), []);
        let shm = "$ df -B1 /dev/shm\nFilesystem  1B-blocks  Used Available Use% Mounted on\n";
        assert_eq!(read(&format!("{shm}tmpfs  67 108 864 67 076 096 32768 100% /dev/shm")), []);
    }

    #[test]
    fn the_unit_of_free_is_told_by_its_option_or_left_unknown() {
        let table = |total: u64| {
            format!(
                "              total        used        free      shared  buff/cache   available\n\
                 Mem:  {total}  1  2  3  4  5\n\
                 "
            )
        };
        assert_eq!(bytes(one(&table(131_072_000)).total), Some(131_072_000 << 10), "KiB: in MiB no machine");
        assert_eq!(bytes(one(&table(257_000)).total), Some(257_000 << 20), "MiB: in KiB no machine");
        assert_eq!(bytes(one(&table(270_582_939_648)).total), Some(270_582_939_648), "bytes");
        assert_eq!(read(&table(2_000_000)), [], "2 GiB in KiB, or 2 TiB in MiB");
        assert_eq!(read(&table(251)), [], "GiB, and who says so?");
        let asked = |option: &str, total: u64| one(&format!("user@host:~$ free {option}\n{}", table(total)));
        assert_eq!(bytes(asked("-g", 251).total), Some(251 << 30));
        assert_eq!(bytes(asked("-m", 2_000_000).total), Some(2_000_000 << 20));
        assert_eq!(bytes(asked("", 2_000_000).total), Some(2_000_000 << 10));
    }

    #[test]
    fn shared_memory_of_df_is_read_in_its_units() {
        let human = one("$ df -h /dev/shm\n\
             Filesystem      Size  Used Avail Use% Mounted on\n\
             shm              64M   61M  3.2M  95% /dev/shm");
        assert_eq!((bytes(human.total), bytes(human.used)), (Some(64 * MIB), Some(61 * MIB)));
        assert_eq!(human.subject.as_deref(), Some("/dev/shm"));
        let blocks = one("Filesystem     1K-blocks  Used Available Use% Mounted on\n\
             /dev/sda1  9 9 9 9% /\n\
             tmpfs           65536     0     65536   0% /dev/shm");
        assert_eq!(bytes(blocks.total), Some(64 * MIB));
        let blocks = one("Filesystem     1M-blocks  Used Available Use% Mounted on\n\
             tmpfs           64000    12     63988   1% /dev/shm");
        assert_eq!(bytes(blocks.total), Some(64_000 * MIB));
        let si = one("$ df -H /dev/shm\n\
             Filesystem      Size  Used Avail Use% Mounted on\n\
             tmpfs            68G     0   68G   0% /dev/shm");
        assert_eq!(bytes(si.total), Some(68_000_000_000));
    }

    #[test]
    fn kubernetes_and_docker_are_read() {
        let pods = read(
            "$ kubectl top pod\n\
             NAME          CPU(cores)   MEMORY(bytes)\n\
             train-0       3987m        61234Mi\n\
             train-1       12m          512Mi\n\
             \n\
             NAME",
        );
        assert_eq!(pods.iter().map(|pod| bytes(pod.used)).collect::<Vec<_>>(), [Some(61_234 * MIB), Some(512 * MIB)]);
        assert_eq!(pods[0].subject.as_deref(), Some("train-0"));
        let node = one(
            "NAME     CPU(cores)   CPU%   MEMORY(bytes)   MEMORY%\ngpu-07   8123m        12%    231Gi           46%",
        );
        assert_eq!(bytes(node.used), Some(231 * GIB));
        let containers =
            one("POD       NAME      CPU(cores)   MEMORY(bytes)\ntrain-0   main      3987m        61234Mi");
        assert_eq!(bytes(containers.used), Some(61_234 * MIB));
        let node = one("Capacity:\n\
             cpu:                64\n\
             ephemeral-storage:  921Gi\n\
             memory:             263846276Ki\n\
             Allocatable:\n\
             memory:             263743876Ki");
        assert_eq!((node.of, bytes(node.total)), (SideTable::KubectlDescribe, Some(263_846_276 << 10)));
        let docker = one("CONTAINER ID   NAME      CPU %     MEM USAGE / LIMIT     MEM %     NET I/O\n\
             4f1e   train     801.20%   61.2GiB / 64GiB       95.62%    1MB / 2MB");
        assert_eq!(bytes(docker.total), Some(64 * GIB));
        assert_eq!(bytes(docker.used), Some((61.2 * GIB as f64).round() as u64));
    }

    #[test]
    fn rows_of_free_without_a_header_have_its_first_columns() {
        let cut = one("[root@mq1 ~]# free -m | sed -n 2p\nMem:      7821     7012      201       16      607      402");
        assert_eq!((bytes(cut.total), bytes(cut.used)), (Some(7821 * MIB), Some(7012 * MIB)));
        assert_eq!((bytes(cut.free), cut.available), (Some(201 * MIB), None), "older releases end with what is cached");
    }

    #[test]
    fn windows_memory_is_read_as_a_table_and_as_a_list() {
        let table =
            one("PS D:\\> Get-CimInstance Win32_OperatingSystem | Select TotalVisibleMemorySize,FreePhysicalMemory\n\
             \n\
             TotalVisibleMemorySize FreePhysicalMemory\n\
             ---------------------- ------------------\n\
             16711680            3145728");
        assert_eq!((bytes(table.total), bytes(table.free)), (Some(16_711_680 << 10), Some(3 << 30)));
        let list =
            one("FreePhysicalMemory     : 3145728\nFreeVirtualMemory      : 9\nTotalVisibleMemorySize : 16711680");
        assert_eq!((bytes(list.total), bytes(list.free)), (Some(16_711_680 << 10), Some(3 << 30)));
        let wmic = one("FreePhysicalMemory=3145728\nTotalVisibleMemorySize=16711680");
        assert_eq!((bytes(wmic.total), bytes(wmic.free)), (Some(16_711_680 << 10), Some(3 << 30)));
    }

    #[test]
    fn meminfo_is_one_reading() {
        let meminfo = one(
            "MemTotal:       527940192 kB\nMemFree:         1203344 kB\nMemAvailable:    2100448 kB\nBuffers: 1 kB",
        );
        let exact = |kib: u64| Some(Figure { bytes: kib << 10, half_width: 0, at: meminfo.total.unwrap().at });
        assert_eq!((meminfo.total, bytes(meminfo.free)), (exact(527_940_192), Some(1_203_344 << 10)));
        assert_eq!(bytes(meminfo.available), Some(2_100_448 << 10));
    }

    #[test]
    fn the_moment_of_a_table_is_its_place() {
        let at = Span::lines(10, 12);
        assert_eq!(
            [9, 10, 12, 13].map(|line| Moment::of(line, at)),
            [Moment::Before, Moment::At, Moment::At, Moment::After]
        );
    }
}
