//! Tables that people paste beside a failure: `free`, `df`, `docker stats`, `kubectl top`, `ps`, and the smi of every vendor.
//!
//! Each is told by its header or its labels, and its rows by the header's order. `nvidia-smi`, gpustat and nvitop list
//! whole GPUs and are [`Tables`](crate::input::nvidia_smi_table::Tables); what of them is no GPU stands here: slices of one,
//! processes, the report of `-q`. A table says what held at its moment, which need not be the failure's.

use crate::evidence::Span;
use crate::units::{self, Base, Figure, GIB, KIB, MIB};
use aho_corasick::AhoCorasick;
use std::sync::LazyLock;

/// Which program printed a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tool {
    NvidiaSmi,
    RocmSmi,
    AmdSmi,
    XpuSmi,
    Free,
    Meminfo,
    Df,
    Cgroup,
    KubectlTop,
    KubectlDescribe,
    ContainerStats,
    Ps,
    Top,
    Vmstat,
    Sacct,
}

impl Tool {
    /// The name used in JSON.
    pub fn id(self) -> &'static str {
        match self {
            Tool::NvidiaSmi => "nvidia-smi",
            Tool::RocmSmi => "rocm-smi",
            Tool::AmdSmi => "amd-smi",
            Tool::XpuSmi => "xpu-smi",
            Tool::Free => "free",
            Tool::Meminfo => "meminfo",
            Tool::Df => "df",
            Tool::Cgroup => "cgroup",
            Tool::KubectlTop => "kubectl-top",
            Tool::KubectlDescribe => "kubectl-describe",
            Tool::ContainerStats => "container-stats",
            Tool::Ps => "ps",
            Tool::Top => "top",
            Tool::Vmstat => "vmstat",
            Tool::Sacct => "sacct",
        }
    }
}

/// Where a table stands, seen from the failure: what it shows was so then.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moment {
    Before,
    /// Inside of the failure's own message.
    At,
    After,
}

impl Moment {
    /// The name used in JSON.
    pub fn id(self) -> &'static str {
        match self {
            Moment::Before => "before",
            Moment::At => "at",
            Moment::After => "after",
        }
    }

    /// Of a line, for a failure whose message stands at `at`.
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

/// One line of a table: a device, a process, a container, a mount, or the machine.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SideRow {
    pub name: Option<String>,
    pub index: Option<u32>,
    pub pid: Option<u64>,
    pub used: Option<Figure>,
    pub total: Option<Figure>,
    pub free: Option<Figure>,
    /// What could be had without swapping, where that is more than what is free.
    pub available: Option<Figure>,
}

impl SideRow {
    fn is_empty(&self) -> bool {
        self.used.is_none() && self.total.is_none() && self.free.is_none() && self.available.is_none()
    }
}

/// A table, seen from one failure.
#[derive(Debug, Clone, PartialEq)]
pub struct SideTable {
    pub tool: Tool,
    pub moment: Moment,
    pub rows: Vec<SideRow>,
}

/// Rows kept at most: a `watch` may fill a log.
const ROWS_AT_MOST: usize = 2048;
/// Rows that a report shows of one table.
const ROWS_OF_A_TABLE: usize = 32;
/// A longer line is no row.
const LONGEST_LINE: usize = 400;

/// What the lines that follow a header are.
#[derive(Debug, Clone, PartialEq)]
enum Open {
    /// The columns after the row's label, and the unit of bare numbers that the command's option tells.
    Free(Vec<Column>),
    /// Files that `cat` prints, one number each.
    Files(Vec<Column>),
    /// Of each word its column.
    Columns(Tool, Vec<Column>),
    /// Labels of one device.
    Labels(Tool),
    ContainerStats,
    Slices,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Column {
    Name,
    Index,
    Pid,
    Used,
    Total,
    Free,
    Available,
    Other,
}

/// What a header, or a row without one, holds: most lines of a log have none of it.
static HINTS: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| {
    const OTHERS: [&str; 20] = [
        "MEMORY(bytes)",
        "MEM USAGE",
        "%MEM",
        "swpd",
        "MaxRSS",
        "VRAM",
        "used_gpu_memory",
        "MIG devices",
        "FB Memory",
        "Allocatable",
        "MEM_USAGE",
        "Device ID",
        "memory.",
        "/dev/shm",
        "MemTotal",
        "MemFree",
        "MemAvailable",
        "free -",
        "$ free",
        "# free",
    ];
    AhoCorasick::builder().ascii_case_insensitive(true).build(TOTAL.iter().chain(&OTHERS)).ok()
});

/// Gathers the tables of a document line by line.
#[derive(Debug, Default)]
pub(super) struct SideTables {
    rows: Vec<(u64, Tool, SideRow)>,
    open: Option<(Open, u64)>,
    /// Bytes of a bare number of `free`, by the option of the command above it.
    free_unit: Option<u64>,
}

/// Words for the first columns of `free` in the languages it speaks.
const TOTAL: [&str; 14] = [
    "total",
    "gesamt",
    "总计",
    "總計",
    "totale",
    "totaal",
    "всего",
    "合計",
    "전체",
    "celkem",
    "razem",
    "toplam",
    "totalt",
    "усього",
];
const USED: [&str; 14] = [
    "used",
    "benutzt",
    "已用",
    "已使用",
    "utilisé",
    "usado",
    "utilizado",
    "usati",
    "gebruikt",
    "занято",
    "使用",
    "사용",
    "kullanılan",
    "użyte",
];

impl SideTables {
    /// Takes a line of the document.
    pub fn take(&mut self, text: &str, number: u64) {
        if text.len() > LONGEST_LINE || self.rows.len() >= ROWS_AT_MOST {
            self.open = None;
            return;
        }
        if text.trim().is_empty() || self.open.is_none() && !HINTS.as_ref().is_some_and(|hints| hints.is_match(text)) {
            return;
        }
        if let Some(open) = header(text) {
            self.open = Some((open, number));
            return;
        }
        if let Some(command) = text.split(['$', '#', '%']).next_back().map(str::trim)
            && (command == "free" || command.starts_with("free -"))
        {
            self.free_unit = match command.trim_start_matches("free").trim() {
                "" => Some(KIB),
                "-b" | "--bytes" => Some(1),
                "-k" | "--kibi" => Some(KIB),
                "-m" | "--mebi" => Some(MIB),
                "-g" | "--gibi" => Some(GIB),
                _ => None,
            };
            return;
        }
        let at = Span::line(number);
        if let Some((tool, row)) = self.row(text, at).or_else(|| lone_row(text, at)) {
            self.rows.push((number, tool, row));
        } else if !frame(text) {
            self.open = None;
        }
    }

    /// The row that a line is, under the header in force.
    fn row(&mut self, text: &str, at: Span) -> Option<(Tool, SideRow)> {
        let free_unit = self.free_unit;
        let (open, opened) = self.open.as_mut()?;
        // A table without an end is none.
        if at.first.saturating_sub(*opened) > 400 {
            return None;
        }
        match open {
            Open::Free(columns) => free_row(text, columns, free_unit, at).map(|row| (Tool::Free, row)),
            Open::Files(columns) => {
                let column = (!columns.is_empty()).then(|| columns.remove(0))?;
                let mut row = SideRow::default();
                let value = text.trim();
                if value != "max" {
                    let bytes = value.parse().ok()?;
                    // Without a limit the kernel prints the largest number of pages.
                    set(&mut row, column, Figure { bytes, half_width: 0, at }).filter(|_| bytes < 1 << 60);
                }
                Some((Tool::Cgroup, row))
            }
            Open::Columns(tool, columns) => column_row(text, *tool, columns, at).map(|row| (*tool, row)),
            Open::Labels(tool) => labelled_row(text, *tool, at).map(|row| (*tool, row)),
            Open::ContainerStats => container_row(text, at).map(|row| (Tool::ContainerStats, row)),
            Open::Slices => slice_row(text, at).map(|row| (Tool::NvidiaSmi, row)),
        }
    }

    /// The tables near a failure: of each tool the last before it and the first after it.
    pub fn near(&self, at: Span) -> Vec<SideTable> {
        let mut tables: Vec<(u64, SideTable)> = Vec::new();
        for (number, tool, row) in &self.rows {
            let moment = Moment::of(*number, at);
            let joined = tables.last_mut().filter(|(last, table)| {
                table.tool == *tool && table.moment == moment && number.saturating_sub(*last) <= 8
            });
            match joined {
                Some((last, table)) => {
                    *last = *number;
                    join(&mut table.rows, row);
                }
                None => {
                    let later = moment == Moment::After
                        && tables.iter().any(|(_, table)| table.tool == *tool && table.moment == Moment::After);
                    if later {
                        continue;
                    }
                    tables.retain(|(_, table)| moment != Moment::Before || table.tool != *tool);
                    tables.push((*number, SideTable { tool: *tool, moment, rows: vec![row.clone()] }));
                }
            }
        }
        let mut tables: Vec<SideTable> = tables.into_iter().map(|(_, table)| table).collect();
        for table in &mut tables {
            table.rows.retain(|row| !row.is_empty());
            table.rows.truncate(ROWS_OF_A_TABLE);
        }
        tables.retain(|table| !table.rows.is_empty());
        tables
    }
}

/// Labels print a device on several lines: what the last row lacks is filled in.
fn join(rows: &mut Vec<SideRow>, row: &SideRow) {
    let merges = rows.last().is_some_and(|last| {
        let apart = |a: bool, b: bool| !(a && b);
        last.pid.is_none()
            && row.pid.is_none()
            && last.name == row.name
            && (row.index.is_none() || last.index == row.index)
            && apart(last.used.is_some(), row.used.is_some())
            && apart(last.total.is_some(), row.total.is_some())
            && apart(last.free.is_some(), row.free.is_some())
            && apart(last.available.is_some(), row.available.is_some())
    });
    match rows.last_mut().filter(|_| merges) {
        Some(last) => {
            last.used = last.used.or(row.used);
            last.total = last.total.or(row.total);
            last.free = last.free.or(row.free);
            last.available = last.available.or(row.available);
        }
        None => rows.push(row.clone()),
    }
}

/// Lines of a table's frame.
fn frame(text: &str) -> bool {
    let drawn = |c: char| matches!(c, '+' | '-' | '=' | '|' | ' ' | '\t') || ('\u{2500}'..='\u{257f}').contains(&c);
    text.chars().all(drawn)
}

/// What a header opens.
fn header(text: &str) -> Option<Open> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let has = |word: &str| words.contains(&word);
    let first = words.first()?.to_lowercase();
    if words.len() >= 3 && TOTAL.contains(&first.as_str()) && USED.contains(&words[1].to_lowercase().as_str()) {
        let mut columns = vec![Column::Total, Column::Used, Column::Free];
        columns.extend(std::iter::repeat_n(Column::Other, words.len().saturating_sub(3)));
        // Before procps 3.3.10 the last column is `cached`.
        let last = words.last().map(|word| word.to_lowercase()).unwrap_or_default();
        if words.len() == 6 && !last.starts_with("cache") {
            columns[5] = Column::Available;
        }
        return Some(Open::Free(columns));
    }
    if has("MEMORY(bytes)") {
        let columns = words.iter().map(|word| match *word {
            "NAME" | "POD" => Column::Name,
            "MEMORY(bytes)" => Column::Used,
            _ => Column::Other,
        });
        return Some(Open::Columns(Tool::KubectlTop, columns.collect()));
    }
    if text.contains("MEM USAGE / LIMIT") {
        return Some(Open::ContainerStats);
    }
    if has("RSS") && has("%MEM") && has("PID") || has("RES") && has("VIRT") && has("PID") {
        let tool = if has("RSS") { Tool::Ps } else { Tool::Top };
        let columns = words.iter().map(|word| match *word {
            "PID" => Column::Pid,
            "RSS" | "RES" => Column::Used,
            "COMMAND" | "CMD" => Column::Name,
            _ => Column::Other,
        });
        return Some(Open::Columns(tool, columns.collect()));
    }
    if has("swpd") && has("free") && has("buff") {
        let columns = words.iter().map(|word| if *word == "free" { Column::Free } else { Column::Other });
        return Some(Open::Columns(Tool::Vmstat, columns.collect()));
    }
    if has("MaxRSS") && (has("JobID") || has("State")) {
        let columns = words.iter().map(|word| match *word {
            "MaxRSS" => Column::Used,
            "ReqMem" => Column::Total,
            _ => Column::Other,
        });
        return Some(Open::Columns(Tool::Sacct, columns.collect()));
    }
    if has("VRAM_USED") && has("VRAM_TOTAL") {
        return Some(Open::Columns(Tool::AmdSmi, vec![Column::Index, Column::Used, Column::Total]));
    }
    if text.contains("PROCESS NAME") && text.contains("VRAM USED") {
        let columns = vec![Column::Pid, Column::Name, Column::Other, Column::Used];
        return Some(Open::Columns(Tool::RocmSmi, columns));
    }
    if text.contains("used_gpu_memory") && text.contains("pid") && text.contains(',') && !text.contains("--query") {
        let columns = text.split(',').map(|word| match word.trim().split(' ').next().unwrap_or_default() {
            "pid" => Column::Pid,
            "process_name" => Column::Name,
            "used_gpu_memory" => Column::Used,
            _ => Column::Other,
        });
        return Some(Open::Columns(Tool::NvidiaSmi, columns.collect()));
    }
    if text.contains("MIG devices:") {
        return Some(Open::Slices);
    }
    if text.trim() == "FB Memory Usage" {
        return Some(Open::Labels(Tool::NvidiaSmi));
    }
    if text.trim() == "Allocatable:" {
        return Some(Open::Labels(Tool::KubectlDescribe));
    }
    if text.trim() == "MEM_USAGE:" {
        return Some(Open::Labels(Tool::AmdSmi));
    }
    if text.contains("| Device ID") {
        return Some(Open::Labels(Tool::XpuSmi));
    }
    files(text)
}

/// `cat memory.max memory.current`: what follows are their contents, in order.
fn files(text: &str) -> Option<Open> {
    let (_, names) = text.split_once("cat ")?;
    let columns: Option<Vec<Column>> = names
        .split_whitespace()
        .map(|path| match path.rsplit('/').next()? {
            "memory.max" | "memory.limit_in_bytes" => Some(Column::Total),
            "memory.current" | "memory.usage_in_bytes" => Some(Column::Used),
            "memory.peak" | "memory.max_usage_in_bytes" | "memory.failcnt" | "memory.high" | "memory.low" => {
                Some(Column::Other)
            }
            _ => None,
        })
        .collect();
    columns.filter(|columns| columns.contains(&Column::Used) || columns.contains(&Column::Total)).map(Open::Files)
}

/// Rows that need no header.
fn lone_row(text: &str, at: Span) -> Option<(Tool, SideRow)> {
    if text.trim_end().ends_with("/dev/shm") {
        return df_row(text, at).map(|row| (Tool::Df, row));
    }
    let mut row = SideRow::default();
    let meminfo = [("MemTotal:", Column::Total), ("MemFree:", Column::Free), ("MemAvailable:", Column::Available)];
    if let Some((label, column)) = meminfo.into_iter().find(|(label, _)| text.trim_start().starts_with(label)) {
        let kib = text.trim_start()[label.len()..].trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?;
        set(&mut row, column, Figure { bytes: kib.checked_mul(KIB)?, half_width: 0, at })?;
        return Some((Tool::Meminfo, row));
    }
    if let Some((device, rest)) = text.split_once("VRAM Total ").filter(|(device, _)| device.contains("GPU[")) {
        let index = device.split_once('[')?.1.split_once(']')?.0.parse().ok()?;
        let column = if rest.starts_with("Used Memory (B):") { Column::Used } else { Column::Total };
        let bytes = rest.rsplit(':').next()?.trim().parse().ok()?;
        set(&mut row, column, Figure { bytes, half_width: 0, at })?;
        return Some((Tool::RocmSmi, SideRow { index: Some(index), ..row }));
    }
    None
}

fn set(row: &mut SideRow, column: Column, figure: Figure) -> Option<()> {
    let place = match column {
        Column::Used => &mut row.used,
        Column::Total => &mut row.total,
        Column::Free => &mut row.free,
        Column::Available => &mut row.available,
        _ => return None,
    };
    *place = Some(figure);
    Some(())
}

/// `Mem:` and the old `-/+ buffers/cache:`; swap is another account.
fn free_row(text: &str, columns: &[Column], unit: Option<u64>, at: Span) -> Option<SideRow> {
    let (label, values) = text.split_once([':', '：'])?;
    let label = label.trim();
    let values: Vec<&str> = values.split_whitespace().collect();
    let other = label.starts_with("-/+") || values.len() < 3 || values.len() > columns.len();
    if other
        || ["Swap", "交换", "交換", "Подкачка", "Échange", "스왑", "Takas"].iter().any(|word| label.starts_with(word))
    {
        return Some(SideRow::default());
    }
    let bare = values[0].bytes().all(|b| b.is_ascii_digit());
    let unit = if bare { unit.or_else(|| likely_unit(values[0].parse().ok()?))? } else { 1 };
    let mut row = SideRow::default();
    for (value, column) in values.iter().zip(columns) {
        let figure = if bare {
            let bytes = value.parse::<u64>().ok()?.checked_mul(unit)?;
            // Whole MiB and GiB are cut down.
            Figure { bytes, half_width: if unit > KIB { unit } else { 0 }, at }
        } else {
            suffixed(value, at)?
        };
        let _ = set(&mut row, *column, figure);
    }
    Some(row)
}

/// What a bare total of `free` counts, where only one unit makes a machine of it.
fn likely_unit(total: u64) -> Option<u64> {
    const SMALLEST: u64 = 512 * MIB;
    const LARGEST: u64 = 8 << 40;
    let mut fitting = [1, KIB, MIB, GIB]
        .into_iter()
        .filter(|unit| total.checked_mul(*unit).is_some_and(|bytes| (SMALLEST..=LARGEST).contains(&bytes)));
    let unit = fitting.next()?;
    fitting.next().is_none().then_some(unit)
}

/// A number with a suffix such as `31Gi`, `1,2Gi`, `812M`, `0B`; powers of 1024.
fn suffixed(value: &str, at: Span) -> Option<Figure> {
    let digits = value.find(|c: char| !(c.is_ascii_digit() || c == '.' || c == ','))?;
    Some(units::size(&value[..digits], &value[digits..], Base::Binary)?.at(at))
}

fn df_row(text: &str, at: Span) -> Option<SideRow> {
    let values: Vec<&str> = text.split_whitespace().collect();
    let [.., total, used, free, share, _] = values.as_slice() else { return None };
    share.ends_with('%').then_some(())?;
    // Without a suffix `df` counts in KiB; with one it rounds up.
    let figure = |value: &str| match value.parse::<u64>() {
        Ok(0) if !total.bytes().all(|b| b.is_ascii_digit()) => Some(Figure { bytes: 0, half_width: 0, at }),
        Ok(kib) => Some(Figure { bytes: kib.checked_mul(KIB)?, half_width: 0, at }),
        Err(_) => {
            suffixed(value, at).map(|figure| Figure { half_width: figure.half_width.saturating_mul(2), ..figure })
        }
    };
    Some(SideRow {
        name: Some("/dev/shm".to_string()),
        total: Some(figure(total)?),
        used: Some(figure(used)?),
        free: Some(figure(free)?),
        ..SideRow::default()
    })
}

/// `12.3GiB / 62.8GiB` of `docker stats`, in powers of 1024; of `podman stats` in the units it names.
fn container_row(text: &str, at: Span) -> Option<SideRow> {
    let (front, behind) = text.split_once(" / ")?;
    let size = |word: &str| {
        let digits = word.find(|c: char| !(c.is_ascii_digit() || c == '.'))?;
        Some(units::size(&word[..digits], &word[digits..], Base::Decimal)?.at(at))
    };
    let words: Vec<&str> = front.split_whitespace().collect();
    Some(SideRow {
        name: words.get(1).map(|name| (*name).to_string()),
        used: Some(size(words.last()?)?),
        total: Some(size(behind.split_whitespace().next()?)?),
        ..SideRow::default()
    })
}

/// A slice of a GPU: `|  0    1   0   0  |  7000MiB / 20096MiB  | …`; the line below it counts BAR1.
fn slice_row(text: &str, at: Span) -> Option<SideRow> {
    let mut cells = text.split('|').map(str::trim).filter(|cell| !cell.is_empty());
    let ids: Option<Vec<u32>> = cells.next()?.split_whitespace().map(|id| id.parse().ok()).collect();
    let ids = match ids {
        Some(ids) if ids.len() == 4 => ids,
        // The lines between rows, and the header's own.
        _ => return text.trim_start().starts_with('|').then(SideRow::default),
    };
    let (used, total) = cells.next()?.split_once('/')?;
    Some(SideRow {
        name: Some(format!("GPU {} GI {}", ids[0], ids[1])),
        index: Some(ids[3]),
        used: Some(suffixed(used.trim(), at)?),
        total: Some(suffixed(total.trim(), at)?),
        ..SideRow::default()
    })
}

fn column_row(text: &str, tool: Tool, columns: &[Column], at: Span) -> Option<SideRow> {
    let mut row = SideRow::default();
    match tool {
        Tool::NvidiaSmi => {
            let cells: Vec<&str> = text.split(',').map(str::trim).collect();
            (cells.len() == columns.len()).then_some(())?;
            for (cell, column) in cells.iter().zip(columns) {
                fill(&mut row, *column, cell, at, MIB)?;
            }
        }
        // Values with their unit behind a blank; the last two are memory.
        Tool::AmdSmi => {
            let words: Vec<&str> = text.split_whitespace().collect();
            let mut sizes = words.windows(2).filter(|pair| pair[1] == "MB").map(|pair| pair[0].parse::<u64>().ok());
            let figure = |mib: Option<u64>| Some(Figure { bytes: mib?.checked_mul(MIB)?, half_width: MIB, at });
            row.used = Some(figure(sizes.next()?)?);
            row.total = Some(figure(sizes.next()?)?);
            row.index = words.first().and_then(|index| index.parse().ok());
        }
        Tool::RocmSmi => {
            let cells: Vec<&str> = text.split('\t').map(str::trim).filter(|cell| !cell.is_empty()).collect();
            let cells = if cells.len() > 3 { cells } else { text.split_whitespace().collect() };
            (cells.len() >= columns.len()).then_some(())?;
            for (cell, column) in cells.iter().zip(columns) {
                fill(&mut row, *column, cell, at, 1)?;
            }
        }
        // Columns may be empty: sizes have a suffix, and stand in the header's order.
        Tool::Sacct => {
            let sizes: Vec<Figure> = text.split_whitespace().filter_map(|word| accounted(word, at)).collect();
            let wanted: Vec<Column> = columns.iter().copied().filter(|column| *column != Column::Other).collect();
            if sizes.len() != wanted.len() {
                return Some(SideRow::default()).filter(|_| !sizes.is_empty() || frame(text));
            }
            for (figure, column) in sizes.into_iter().zip(wanted) {
                let _ = set(&mut row, column, figure);
            }
        }
        _ => {
            let words: Vec<&str> = text.split_whitespace().collect();
            (words.len() >= columns.len()).then_some(())?;
            for (word, column) in words.iter().zip(columns) {
                fill(&mut row, *column, word, at, KIB)?;
            }
        }
    }
    (!row.is_empty()).then_some(row)
}

/// A size of Slurm's accounting, whose suffix may say that it is for each node.
fn accounted(word: &str, at: Span) -> Option<Figure> {
    let word = word.strip_suffix('n').unwrap_or(word);
    let (number, suffix) = word.split_at(word.len().checked_sub(1)?);
    let sized = ["K", "M", "G", "T"].contains(&suffix) && number.starts_with(|c: char| c.is_ascii_digit());
    let size = sized.then(|| units::size(number, suffix, Base::Binary))??;
    Some(Figure { bytes: size.bytes, half_width: 0, at })
}

/// Puts a word into its column; bare numbers count `unit` bytes.
fn fill(row: &mut SideRow, column: Column, word: &str, at: Span, unit: u64) -> Option<()> {
    match column {
        Column::Other => {}
        Column::Name => row.name = Some(word.to_string()),
        Column::Index => row.index = Some(word.parse().ok()?),
        Column::Pid => row.pid = Some(word.parse().ok()?),
        column => {
            let figure = match word.parse::<u64>() {
                Ok(count) => Figure { bytes: count.checked_mul(unit)?, half_width: 0, at },
                Err(_) => suffixed(&word.replace(' ', ""), at)?,
            };
            set(row, column, figure)?;
        }
    }
    Some(())
}

/// A label with its value, of one device or node.
fn labelled_row(text: &str, tool: Tool, at: Span) -> Option<SideRow> {
    let mut row = SideRow::default();
    let text = text.trim().trim_matches('|').trim();
    let (label, value) = text.split_once(if tool == Tool::XpuSmi && text.contains('|') { '|' } else { ':' })?;
    let (label, value) = (label.trim(), value.trim());
    let size = || suffixed(&value.replace(' ', ""), at);
    let mib = || Some(Figure { bytes: value.parse::<u64>().ok()?.checked_mul(MIB)?, half_width: MIB / 2, at });
    match (tool, label) {
        (Tool::NvidiaSmi, "Total") => row.total = Some(size()?),
        (Tool::NvidiaSmi, "Used") => row.used = Some(size()?),
        (Tool::NvidiaSmi, "Free") => row.free = Some(size()?),
        (Tool::NvidiaSmi, "Reserved") => {}
        // MB are 2^20.
        (Tool::AmdSmi, "TOTAL_VRAM") => row.total = Some(size()?),
        (Tool::AmdSmi, "USED_VRAM") => row.used = Some(size()?),
        (Tool::AmdSmi, "FREE_VRAM") => row.free = Some(size()?),
        (Tool::XpuSmi, "GPU Memory Used (MiB)") => row.used = Some(mib()?),
        (Tool::XpuSmi, "Memory Physical Size") => row.total = Some(size()?),
        (Tool::KubectlDescribe, "memory") => row.total = Some(size()?),
        (Tool::KubectlDescribe, _) if !value.is_empty() => {}
        (Tool::XpuSmi, _) => {
            if let Some(size) = value.strip_prefix("Memory Physical Size:") {
                row.total = Some(suffixed(&size.replace(' ', ""), at)?);
            }
        }
        _ => return None,
    }
    Some(row)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The rows of the only table: used, total, free, available in MiB.
    fn rows(text: &str) -> Vec<[Option<u64>; 4]> {
        let mut tables = SideTables::default();
        text.lines().zip(1..).for_each(|(line, number)| tables.take(line, number));
        let tables = tables.near(Span::line(1000));
        assert!(tables.len() <= 1, "{tables:?}");
        let mib = |figure: Option<Figure>| figure.map(|figure| figure.bytes >> 20);
        let rows = tables.into_iter().flat_map(|table| table.rows);
        rows.map(|row| [mib(row.used), mib(row.total), mib(row.free), mib(row.available)]).collect()
    }

    #[test]
    fn free_in_its_units_and_languages() {
        let gib = |n: u64| Some(n << 10);
        for text in [
            "               total        used        free      shared  buff/cache   available\nMem:            31Gi        12Gi       4.0Gi       1.2Gi        15Gi        18Gi\nSwap:          8.0Gi          0B       8.0Gi",
            "               gesamt       benutzt     frei      gemns.  Puffer/Cache verfügbar\nSpeicher:       31Gi        12Gi       4,0Gi       1,2Gi        15Gi        18Gi",
            "$ free -g\n              total        used        free      shared  buff/cache   available\nMem:             31          12           4           1          15          18",
            "              total        used        free      shared  buff/cache   available\nMem:       32505856    12582912     4194304      412312    15728640    18874368",
            "内存：\n               总计         已用        空闲        共享    缓冲/缓存        可用\n内存：         31Gi        12Gi       4.0Gi       1.2Gi        15Gi        18Gi",
        ] {
            assert_eq!(rows(text), [[gib(12), gib(31), gib(4), gib(18)]], "{text}");
        }
        // 1 GiB in KiB or 1 TiB in MiB: nobody can tell.
        assert_eq!(rows("total used free shared buff/cache available\nMem: 1048576 10 10 10 10 10"), []);
    }

    #[test]
    fn tables_of_devices_processes_and_containers() {
        let cases: [(&str, [Option<u64>; 4]); 12] = [
            (
                "Filesystem      Size  Used Avail Use% Mounted on\nshm              64M   41M   24M  64% /dev/shm",
                [Some(41), Some(64), Some(24), None],
            ),
            ("tmpfs           65536 1024  64512  2% /dev/shm", [Some(1), Some(64), Some(63), None]),
            (
                "MemTotal:       2097152 kB\nMemFree:        1048576 kB\nMemAvailable:   1572864 kB",
                [None, Some(2048), Some(1024), Some(1536)],
            ),
            ("$ cat memory.max memory.current\n2147483648\n1073741824", [Some(1024), Some(2048), None, None]),
            ("NAME       CPU(cores)   MEMORY(bytes)\ntrainer-x  12m   2048Mi", [Some(2048), None, None, None]),
            (
                "CONTAINER ID   NAME      CPU %     MEM USAGE / LIMIT     MEM %     NET I/O\nab12   trainer   1%   1.5GiB / 2GiB   75%    1MB / 2kB",
                [Some(1536), Some(2048), None, None],
            ),
            (
                "USER         PID %CPU %MEM    VSZ   RSS TTY      STAT START   TIME COMMAND\nlin     12 1 2 4194304 1048576 pts/2    Rl+  09:12 212:44 python",
                [Some(1024), None, None, None],
            ),
            (
                "GPU[0]\t\t: VRAM Total Memory (B): 2147483648\nGPU[0]\t\t: VRAM Total Used Memory (B): 1073741824",
                [Some(1024), Some(2048), None, None],
            ),
            (
                "GPU: 0\n    MEM_USAGE:\n        TOTAL_VRAM: 2048 MB\n        USED_VRAM: 1024 MB\n        FREE_VRAM: 1024 MB",
                [Some(1024), Some(2048), Some(1024), None],
            ),
            (
                "| MIG devices:   |\n|  0    1   0   0  |  1024MiB / 2048MiB  | 60      0 |  3   0 |\n|                  |     0MiB / 32767MiB |           |        |",
                [Some(1024), Some(2048), None, None],
            ),
            (
                "    FB Memory Usage\n        Total                             : 2048 MiB\n        Reserved                          : 10 MiB\n        Used                              : 1024 MiB\n        Free                              : 1014 MiB\n    BAR1 Memory Usage\n        Total                             : 131072 MiB",
                [Some(1024), Some(2048), Some(1014), None],
            ),
            ("pid, process_name, used_gpu_memory [MiB]\n12, python, 1024 MiB", [Some(1024), None, None, None]),
        ];
        for (text, row) in cases {
            assert_eq!(rows(text), [row], "{text}");
        }
    }

    #[test]
    fn a_table_knows_its_moment() {
        let text =
            "MemTotal: 2097152 kB\nx\nMemTotal: 1048576 kB\nfailure\nMemTotal: 4194304 kB\nx\nMemTotal: 8388608 kB\n";
        let mut tables = SideTables::default();
        text.lines().zip(1..).for_each(|(line, number)| tables.take(line, number * 10));
        let near = tables.near(Span::line(40));
        let told: Vec<_> =
            near.iter().map(|table| (table.moment, table.rows[0].total.map(|total| total.bytes >> 30))).collect();
        assert_eq!(told, [(Moment::Before, Some(1)), (Moment::After, Some(4))]);
    }
}
