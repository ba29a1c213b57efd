//! Tables of GPUs in a log or in a file of their own: `nvidia-smi` in its layouts, its CSV output, gpustat and nvitop;
//! other tools' through [`super::smi`].

use super::smi::{Blocks, Told};
use crate::evidence::Span;
use crate::units::{Base, Figure, size};

/// A process listed for a GPU: pid, name and what it holds.
pub type ListedProcess = (u64, Option<String>, Option<Figure>);

/// One row of an `nvidia-smi` table.
#[derive(Debug, Clone, PartialEq)]
pub struct GpuRow {
    pub index: u32,
    pub name: Option<String>,
    pub used: Figure,
    pub total: Figure,
    /// Utilisation in percent, 0 … 100.
    pub utilization: Option<u8>,
    pub processes: Vec<ListedProcess>,
}

/// A part of a GPU (MIG), as `nvidia-smi` lists it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Partition {
    /// The GPU that it is a part of.
    pub gpu: u32,
    /// GPU instance, compute instance and device number.
    pub ids: (u32, u32, u32),
    pub used: Figure,
    pub total: Figure,
}

/// What is in use of a device whose size its tool does not print.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DeviceUse {
    pub index: u32,
    pub used: Figure,
    pub by: UseTool,
}

/// The tools that print what is in use of a device and not its size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UseTool {
    XpuSmi,
    NvidiaSmiDmon,
}

/// A process that is listed for a GPU of which no row is there.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LooseProcess {
    pub gpu: u32,
    pub pid: u64,
    /// What it holds of the device, where the list tells.
    pub held: Option<Figure>,
    pub line: u64,
    /// Its device's number is the device's own. Of a list by places, an idle device before it would count as well.
    pub numbered: bool,
}

/// Rows kept at most: a `watch nvidia-smi` may fill a log.
const ROWS_AT_MOST: usize = 4096;

/// Processes that one list without the devices' rows holds at most: each failure of a log keeps as many.
const LISTED_AT_MOST: usize = 128;

/// Devices that one list of processes in CSV may name.
const PLACES_AT_MOST: usize = 64;

/// Gathers the tables of a document line by line.
#[derive(Debug, Default)]
pub struct Tables {
    rows: Vec<(u64, GpuRow)>,
    /// The first line of a GPU's two: index and name.
    head: Option<(u64, u32, Option<String>)>,
    /// Within the table of MIG instances, whose rows are parts of the GPUs above.
    instances: bool,
    /// Columns of a CSV header that is in force: index, name, used, total, free, utilization.
    csv: Option<Vec<Column>>,
    /// Columns of a list of processes in CSV that is in force: of the device's place, and of the process.
    apps: Option<(usize, usize)>,
    /// The devices' places, in the order in which such lists name them.
    places: Vec<String>,
    partitions: Vec<Partition>,
    /// Processes of a list of which the devices' own rows were left out.
    loose: Vec<LooseProcess>,
    uses: Vec<DeviceUse>,
    blocks: Blocks,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Column {
    Index,
    Name,
    Used,
    Total,
    Free,
    Utilization,
    Other,
}

impl Tables {
    /// Those of a whole text.
    pub fn of(text: &str) -> Tables {
        let mut tables = Tables::default();
        text.lines().zip(1..).for_each(|(line, number)| tables.take(line, number));
        tables
    }

    /// Takes a line of the document.
    pub fn take(&mut self, text: &str, number: u64) {
        if self.rows.len() >= ROWS_AT_MOST {
            return;
        }
        let at = Span::line(number);
        if let Some(queried) = queried_without_header(text) {
            self.csv = Some(queried);
            return;
        }
        if let Some(apps) = queried_apps(text) {
            (self.apps, self.places) = (Some(apps), Vec::new());
            return;
        }
        if let Some((place, process)) = self.apps {
            let cells: Vec<&str> = text.split(',').map(str::trim).collect();
            let pid = cells.get(process).and_then(|cell| cell.parse().ok());
            match cells.get(place).zip(pid) {
                Some((place, pid)) => {
                    let gpu = self.places.iter().position(|known| known == place).unwrap_or(self.places.len());
                    if gpu == self.places.len() && gpu < PLACES_AT_MOST {
                        self.places.push((*place).to_string());
                    }
                    if gpu < PLACES_AT_MOST && self.loose.len() < ROWS_AT_MOST {
                        let (gpu, numbered) = (gpu as u32, false);
                        self.loose.push(LooseProcess { gpu, pid, held: None, line: number, numbered });
                    }
                    return;
                }
                // The head of the list, below a command that asks for one.
                None if cells.get(process).is_some_and(|cell| *cell == "pid") => return,
                None => self.apps = None,
            }
        }
        if text.contains("memory.") && text.contains(',') && !text.contains("--query") {
            self.csv = Some(text.split(',').map(column).collect());
            return;
        }
        if let Some(columns) = &self.csv {
            match csv_row(text, columns, at) {
                Some(row) => {
                    self.rows.push((number, row));
                    return;
                }
                None => self.csv = None,
            }
        }
        if let Some(row) = gpustat_row(text, at) {
            self.rows.push((number, row));
            return;
        }
        match self.blocks.take(text, at) {
            Some(Told::Row(row)) => {
                self.rows.push((number, row));
                return;
            }
            Some(Told::Used(used)) => {
                if self.uses.len() < ROWS_AT_MOST {
                    self.uses.push(used);
                }
                return;
            }
            Some(Told::Process(index, process)) => {
                self.add_process(index, process, number);
                return;
            }
            None => {}
        }
        if !text.contains(['|', '│']) {
            return;
        }
        let cells: Vec<&str> = text.split(['|', '│']).map(str::trim).filter(|cell| !cell.is_empty()).collect();
        if let Some(first) = cells.first() {
            self.instances = match *first {
                "MIG devices:" => true,
                "Processes:" => false,
                first if first.starts_with("NVIDIA-SMI") => false,
                _ => self.instances,
            };
        }
        // Their memory lies within the GPU's own, and the second of their two rows is address space, not memory.
        if self.instances {
            if self.partitions.len() < ROWS_AT_MOST {
                self.partitions.extend(partition(&cells, at));
            }
            return;
        }
        if let Some((used, total)) = cells.iter().find_map(|cell| used_of_total(cell, at)) {
            let utilization = cells.iter().rev().find_map(|cell| percent(cell)).filter(|_| cells.len() >= 2);
            let (index, name) = match self.head.take().filter(|(line, ..)| number.saturating_sub(*line) <= 2) {
                Some((_, index, name)) => (index, name),
                None => (self.next_index(number), None),
            };
            self.rows.push((number, GpuRow { index, name, used, total, utilization, processes: Vec::new() }));
            return;
        }
        if let Some((index, process)) = process_row(&cells, at) {
            self.add_process(index, process, number);
            return;
        }
        if let Some((index, name)) = head_row(&cells) {
            self.head = Some((number, index, name));
        }
    }

    /// The index of a row without its own: one after the last of the same table.
    fn next_index(&self, number: u64) -> u32 {
        self.rows.last().filter(|(line, _)| number.saturating_sub(*line) <= 5).map_or(0, |(_, row)| row.index + 1)
    }

    /// Puts a listed process to its device's last row.
    fn add_process(&mut self, index: u32, process: ListedProcess, line: u64) {
        match self.rows.iter_mut().rev().take(64).find(|(_, row)| row.index == index) {
            Some((_, row)) => row.processes.push(process),
            None if self.loose.len() < ROWS_AT_MOST => {
                self.loose.push(LooseProcess { gpu: index, pid: process.0, held: process.2, line, numbered: true });
            }
            None => {}
        }
    }

    /// The processes of lists without the devices' rows: the last before a line, or the first after it.
    pub fn loose_near(&self, line: u64) -> Vec<LooseProcess> {
        let before = self.loose.partition_point(|listed| listed.line < line);
        let near = match before {
            0 => self.loose.get(..LISTED_AT_MOST.min(self.loose.len())),
            _ => self.loose.get(before.saturating_sub(LISTED_AT_MOST)..before),
        };
        near.unwrap_or(&[]).to_vec()
    }

    /// True for a line that may belong to a table though it holds no size of its own.
    pub fn expects(&self, text: &str) -> bool {
        self.csv.is_some()
            || self.apps.is_some()
            || self.blocks.open()
            || text.trim_start().starts_with(['|', '│']) && (text.contains(':') || text.contains("N/A"))
    }

    /// The parts of GPUs in the last list before a line, or in the first after it.
    pub fn partitions_near(&self, line: u64) -> Vec<Partition> {
        let before = self.partitions.partition_point(|part| part.used.at.first < line);
        let place = |part: &Partition| (part.gpu, part.ids);
        let (from, to) = if before > 0 {
            let mut from = before - 1;
            while from > 0 && place(&self.partitions[from - 1]) < place(&self.partitions[from]) {
                from -= 1;
            }
            (from, before)
        } else {
            let mut to = usize::from(!self.partitions.is_empty());
            while to < self.partitions.len() && place(&self.partitions[to]) > place(&self.partitions[to - 1]) {
                to += 1;
            }
            (0, to)
        };
        self.partitions.get(from..to).unwrap_or(&[]).to_vec()
    }

    /// The devices of which only the use is told.
    pub fn uses(&self) -> &[DeviceUse] {
        &self.uses
    }

    /// The last table before a line, or the first one after it.
    pub fn near(&self, line: u64) -> Vec<GpuRow> {
        let before = self.rows.partition_point(|(at, _)| *at < line);
        let (from, to) = if before > 0 {
            // Upward while the index falls: a new table starts over.
            let mut from = before - 1;
            while from > 0 && self.rows[from - 1].1.index < self.rows[from].1.index {
                from -= 1;
            }
            (from, before)
        } else {
            let mut to = usize::from(!self.rows.is_empty());
            while to < self.rows.len() && self.rows[to].1.index > self.rows[to - 1].1.index {
                to += 1;
            }
            (0, to)
        };
        self.rows.get(from..to).unwrap_or(&[]).iter().map(|(_, row)| row.clone()).collect()
    }
}

/// The columns of `nvidia-smi --query-gpu=… --format=csv,noheader`, as its command line names them.
fn queried_without_header(text: &str) -> Option<Vec<Column>> {
    let (_, list) = text.split_once("--query-gpu")?;
    let list = list.strip_prefix(['=', ' '])?.split([' ', '"', '\'']).next()?;
    (text.contains("noheader") && list.contains("memory.")).then(|| list.split(',').map(column).collect())
}

/// Where the device and the process stand in the rows of `nvidia-smi --query-compute-apps=gpu_bus_id,pid,…`, by its
/// command or by the head of its list.
fn queried_apps(text: &str) -> Option<(usize, usize)> {
    let list = match text.split_once("--query-compute-apps") {
        Some((_, list)) => list.strip_prefix(['=', ' '])?.split([' ', '"', '\'']).next()?,
        None => text.contains("used_gpu_memory [").then_some(text)?,
    };
    let columns = || list.split(',').map(str::trim);
    let place = columns().position(|name| matches!(name, "gpu_bus_id" | "gpu_uuid" | "gpu_serial"))?;
    Some((place, columns().position(|name| name == "pid")?))
}

/// `0    1   0   0` and `11990MiB / 19968MiB`.
fn partition(cells: &[&str], at: Span) -> Option<Partition> {
    let ids: Vec<u32> = cells.first()?.split_whitespace().map(str::parse).collect::<Result<_, _>>().ok()?;
    let [gpu, gi, ci, dev] = ids.as_slice() else { return None };
    let (used, total) = used_of_total(cells.get(1)?, at)?;
    Some(Partition { gpu: *gpu, ids: (*gi, *ci, *dev), used, total })
}

fn column(name: &str) -> Column {
    let name = name.trim();
    if name.starts_with("memory.used") {
        Column::Used
    } else if name.starts_with("memory.total") {
        Column::Total
    } else if name.starts_with("memory.free") {
        Column::Free
    } else if name.starts_with("utilization.gpu") {
        Column::Utilization
    } else if name == "index" {
        Column::Index
    } else if name == "name" {
        Column::Name
    } else {
        Column::Other
    }
}

/// `7000MiB`, `7000 MiB`, `24.00GiB`; and `7.000MiB` with its thousands set off, since no tool prints three decimals.
fn mebibytes(cell: &str, at: Span) -> Option<Figure> {
    let cell = cell.trim();
    let digits = cell.bytes().take_while(|b| b.is_ascii_digit() || *b == b'.').count();
    let unit = cell[digits..].trim();
    if digits == 0 || !matches!(unit, "MiB" | "GiB" | "MB" | "") {
        return None;
    }
    let number = match cell[..digits].split_once('.') {
        Some((thousands, rest)) if rest.len() == 3 && unit != "GiB" => format!("{thousands}{rest}"),
        _ => cell[..digits].to_string(),
    };
    size(&number, if unit.is_empty() { "MiB" } else { unit }, Base::Binary).map(|size| size.at(at))
}

fn used_of_total(cell: &str, at: Span) -> Option<(Figure, Figure)> {
    let (used, total) = cell.split_once('/')?;
    if !used.trim_end().ends_with('B') || !total.trim_end().ends_with('B') {
        return None;
    }
    Some((mebibytes(used, at)?, mebibytes(total, at)?))
}

fn percent(cell: &str) -> Option<u8> {
    let (number, _) = cell.split_once('%')?;
    number.trim().rsplit(' ').next()?.parse().ok().filter(|n| *n <= 100)
}

/// `0  NVIDIA GeForce RTX 3090    On`, `0  Tesla V100-SXM2...  Off`.
fn head_row(cells: &[&str]) -> Option<(u32, Option<String>)> {
    let first = cells.first()?;
    // The bus id stands in the second cell.
    if !cells.get(1)?.contains(':') {
        return None;
    }
    let (index, rest) = first.split_once(' ')?;
    let index = index.parse().ok().filter(|n| *n < 1024)?;
    let rest = rest.trim();
    let name = rest.trim_end_matches("Off").trim_end_matches("On").trim_end_matches("N/A").trim();
    Some((index, (!name.is_empty()).then(|| name.to_string())))
}

/// `0   N/A  N/A      1234      C   python    1024MiB` and the old `0      1234      C   python   1024MiB`.
fn process_row(cells: &[&str], at: Span) -> Option<(u32, ListedProcess)> {
    let words: Vec<&str> = cells.first()?.split_whitespace().collect();
    let index: u32 = words.first()?.parse().ok().filter(|n| *n < 1024)?;
    let kind = words.iter().position(|word| matches!(*word, "C" | "G" | "C+G" | "M+C"))?;
    let pid: u64 = words.get(kind.checked_sub(1)?)?.parse().ok()?;
    let held = |word: &&str| mebibytes(word, at).filter(|_| word.ends_with('B'));
    // nvitop: user, memory, four shares, time, command.
    if let Some(used) = words.get(kind + 2).and_then(held)
        && words.len() >= kind + 8
        && words[kind + 3..].iter().any(|word| word.contains(':'))
    {
        let time = (kind + 3..words.len()).find(|i| words[*i].contains(':')).unwrap_or(words.len());
        let name = words.get(time + 1..).unwrap_or(&[]).join(" ");
        return Some((index, (pid, (!name.is_empty()).then_some(name), Some(used))));
    }
    let used = words.last().and_then(held);
    let name_end = words.len() - usize::from(used.is_some() || words.last() == Some(&"N/A"));
    let name = words.get(kind + 1..name_end).unwrap_or(&[]).join(" ");
    Some((index, (pid, (!name.is_empty()).then_some(name), used)))
}

fn csv_row(text: &str, columns: &[Column], at: Span) -> Option<GpuRow> {
    let cells: Vec<&str> = text.split(',').map(str::trim).collect();
    if cells.len() != columns.len() {
        return None;
    }
    let cell = |wanted| columns.iter().position(|column| *column == wanted).and_then(|i| cells.get(i).copied());
    let used = cell(Column::Used).and_then(|text| mebibytes(text, at));
    let free = cell(Column::Free).and_then(|text| mebibytes(text, at));
    let total = cell(Column::Total).and_then(|text| mebibytes(text, at));
    let add = |a: Figure, b: Figure| Figure {
        bytes: a.bytes.saturating_add(b.bytes),
        half_width: a.half_width + b.half_width,
        at,
    };
    let take = |a: Figure, b: Figure| Figure {
        bytes: a.bytes.saturating_sub(b.bytes),
        half_width: a.half_width + b.half_width,
        at,
    };
    let (used, total) = match (used, total, free) {
        (Some(used), Some(total), _) => (used, total),
        (Some(used), None, Some(free)) => (used, add(used, free)),
        (None, Some(total), Some(free)) => (take(total, free), total),
        _ => return None,
    };
    Some(GpuRow {
        index: cell(Column::Index).and_then(|text| text.parse().ok()).unwrap_or(0),
        name: cell(Column::Name).map(str::to_string),
        used,
        total,
        utilization: cell(Column::Utilization).and_then(percent),
        processes: Vec::new(),
    })
}

/// Whether a line is a device of gpustat's table: its `[0]` is no rank.
pub(super) fn is_gpustat_row(text: &str) -> bool {
    gpustat_row(text, Span::line(0)).is_some()
}

/// gpustat: `[0] NVIDIA A100 | 45'C,  98 % | 12345 / 40960 MB | user(1000M)`.
fn gpustat_row(text: &str, at: Span) -> Option<GpuRow> {
    let rest = text.trim_start().strip_prefix('[')?;
    let (index, rest) = rest.split_once(']')?;
    let index = index.parse().ok().filter(|n| *n < 1024)?;
    let cells: Vec<&str> = rest.split('|').map(str::trim).collect();
    let (used, total) = cells.get(2)?.strip_suffix("MB").or(cells.get(2)?.strip_suffix("MiB"))?.split_once('/')?;
    Some(GpuRow {
        index,
        name: cells.first().filter(|name| !name.is_empty()).map(|name| (*name).to_string()),
        used: mebibytes(used, at)?,
        total: mebibytes(total, at)?,
        utilization: cells.get(1).and_then(|cell| percent(cell)),
        processes: cells
            .get(3)
            .map(|list| list.split_whitespace().filter_map(|word| gpustat_process(word, at)).collect())
            .unwrap_or_default(),
    })
}

/// `me:python/4242(1000M)` of gpustat's `--show-pid`.
fn gpustat_process(word: &str, at: Span) -> Option<ListedProcess> {
    let (who, held) = word.strip_suffix("M)")?.rsplit_once('(')?;
    let (who, pid) = who.rsplit_once('/')?;
    let name = who.rsplit(':').next().filter(|name| !name.is_empty()).map(str::to_string);
    Some((pid.parse().ok()?, name, mebibytes(held, at)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::MIB;

    fn read(text: &str) -> Vec<GpuRow> {
        let mut tables = Tables::default();
        for (i, line) in text.lines().enumerate() {
            tables.take(line, i as u64 + 1);
        }
        tables.near(u64::MAX)
    }

    #[test]
    fn both_layouts_of_the_table_are_read_with_their_processes() {
        let new = "\
|   0  NVIDIA GeForce RTX 3090        Off |   00000000:01:00.0 Off |                  N/A |
|  0%   45C    P8             25W /  350W |   20480MiB /  24576MiB |      3%      Default |
|                                         |                        |                  N/A |
|   1  NVIDIA GeForce RTX 3090        Off |   00000000:02:00.0 Off |                  N/A |
|  0%   45C    P8             25W /  350W |       1MiB /  24576MiB |      0%      Default |
| Processes:                                                                              |
|    0   N/A  N/A            4242      C   python train.py                      20470MiB |";
        let rows = read(new);
        assert_eq!(rows.len(), 2);
        assert_eq!((rows[0].index, rows[0].used.bytes, rows[0].utilization), (0, 20480 * MIB, Some(3)));
        assert_eq!(rows[0].name.as_deref(), Some("NVIDIA GeForce RTX 3090"));
        assert_eq!(rows[0].processes[0].0, 4242);
        assert_eq!(rows[0].processes[0].1.as_deref(), Some("python train.py"));
        assert_eq!(rows[1].total.bytes, 24576 * MIB);

        let old = "\
|   0  Tesla V100-SXM2...  On   | 00000000:1A:00.0 Off |                    0 |
| N/A   41C    P0    57W / 300W |  30511MiB / 32510MiB |     98%      Default |
|    0     20477      C   /opt/conda/bin/python                      30499MiB |";
        let rows = read(old);
        assert_eq!((rows[0].used.bytes, rows[0].utilization), (30511 * MIB, Some(98)));
        assert_eq!(
            rows[0].processes,
            [(
                20477,
                Some("/opt/conda/bin/python".into()),
                Some(Figure { bytes: 30499 * MIB, half_width: MIB / 2, at: Span::line(3) })
            )]
        );
    }

    #[test]
    fn instances_of_a_gpu_are_no_further_gpus() {
        let rows = read(
            "\
|   0  NVIDIA A100-SXM4-40GB          On  | 00000000:07:00.0 Off |                   On |
| N/A   33C    P0              44W / 400W |  12000MiB / 40960MiB |     N/A      Default |
|                                         |                      |              Enabled |
| MIG devices:                                                                          |
| GPU  GI  CI  MIG |                   Memory-Usage |        Vol|      Shared           |
|      ID  ID  Dev |                     BAR1-Usage | SM     Unc| CE ENC DEC OFA JPG    |
|  0    1   0   0  |           11990MiB / 19968MiB  | 42      0 |  3   0    2    0    0 |
|                  |               2MiB / 32767MiB  |           |                       |
|  0    2   0   1  |              10MiB / 19968MiB  | 42      0 |  3   0    2    0    0 |
|                  |               0MiB / 32767MiB  |           |                       |
| Processes:                                                                            |
|    0    1    0       4242      C   python                                   11980MiB |",
        );
        assert_eq!(rows.len(), 1);
        assert_eq!((rows[0].used.bytes, rows[0].total.bytes), (12000 * MIB, 40960 * MIB));
        assert_eq!(rows[0].processes.len(), 1);
    }

    #[test]
    fn instances_are_parts_of_their_gpu() {
        let tables = Tables::of(
            "\
| MIG devices:                                                                          |
| GPU  GI  CI  MIG |                   Memory-Usage |        Vol|      Shared           |
|  0    1   0   0  |           11990MiB / 19968MiB  | 42      0 |  3   0    2    0    0 |
|                  |               2MiB / 32767MiB  |           |                       |
|  0    2   0   1  |              10MiB / 19968MiB  | 42      0 |  3   0    2    0    0 |",
        );
        let parts = tables.partitions_near(99);
        let told: Vec<_> = parts.iter().map(|part| (part.gpu, part.ids, part.used.bytes / MIB)).collect();
        assert_eq!(told, [(0, (1, 0, 0), 11990), (0, (2, 0, 1), 10)]);
        assert_eq!(parts[0].total.bytes, 19968 * MIB);
        assert_eq!(tables.partitions_near(1), parts, "the first list behind where none stands before");
    }

    #[test]
    fn nvitop_and_gpustat_name_processes() {
        let rows = read(
            "\
│   0  A100-SXM4-40GB       Off  │ 00000000:07:00.0 Off │                    0 │
│ N/A   33C    P0    44W / 400W  │   11.50GiB / 40.00GiB │      3%      Default │
│   0    4242 C      me   11.19GiB  5    1   101.0   1.2  1:02:03  python train.py --bs 4 │",
        );
        assert_eq!(rows[0].used.bytes, 11_776 * MIB);
        let (pid, name, held) = &rows[0].processes[0];
        assert_eq!((*pid, name.as_deref()), (4242, Some("python train.py --bs 4")));
        assert!(held.is_some_and(|held| held.bytes / MIB == 11_458), "{held:?}");
        let rows = read(
            "[0] NVIDIA RTX A6000 | 61°C,  98 %, 290 / 300 W | 47810 / 49140 MB | me:python/4242(47000M) root(12M)",
        );
        let listed: Vec<_> = rows[0].processes.iter().map(|(pid, name, _)| (*pid, name.as_deref())).collect();
        assert_eq!(listed, [(4242, Some("python"))]);
    }

    #[test]
    fn a_query_without_header_is_read_by_its_command() {
        let rows = read(
            "$ nvidia-smi --query-gpu=index,name,memory.used,memory.total --format=csv,noheader\n\
             0, NVIDIA A10, 22001 MiB, 23028 MiB\n\
             1, NVIDIA A10, 4 MiB, 23028 MiB",
        );
        assert_eq!(rows.iter().map(|row| row.used.bytes / MIB).collect::<Vec<_>>(), [22_001, 4]);
        let rows = read(
            "watch -n1 'nvidia-smi --query-gpu=memory.used,memory.total --format=csv,noheader,nounits'\n22001, 23028",
        );
        assert_eq!(rows[0].total.bytes, 23_028 * MIB);
    }

    #[test]
    fn a_list_of_processes_in_csv_tells_which_are_on_which_device() {
        let log = "$ nvidia-smi --query-compute-apps=gpu_bus_id,pid,used_memory --format=csv\n\
            gpu_bus_id, pid, used_gpu_memory [MiB]\n\
            00000000:05:00.0, 8120, 6021 MiB\n00000000:05:00.0, 8121, 1660 MiB\n00000000:06:00.0, 8121, 5944 MiB\n";
        let listed = |log: &str| -> Vec<(u32, u64)> {
            Tables::of(log).loose_near(1).iter().map(|listed| (listed.gpu, listed.pid)).collect()
        };
        assert_eq!(listed(log), [(0, 8120), (0, 8121), (1, 8121)]);
        let (_, without_command) = log.split_once('\n').expect("two lines");
        assert_eq!(listed(without_command), [(0, 8120), (0, 8121), (1, 8121)]);
        assert_eq!(listed("a, b, c\n00000000:05:00.0, 8120, 6021 MiB"), []);
        let many: String = (0..200).map(|i| format!("{i:08x}, {i}, 1 MiB\n")).collect();
        assert_eq!(listed(&format!("gpu_uuid, pid, used_gpu_memory [MiB]\n{many}")).len(), PLACES_AT_MOST);
    }

    #[test]
    fn csv_and_gpustat_are_read() {
        let rows =
            read("index, memory.used [MiB], memory.free [MiB]\n0, 7000 MiB, 41000 MiB\n1, 10 MiB, 47990 MiB\nloss 3");
        assert_eq!((rows.len(), rows[1].total.bytes), (2, 48000 * MIB));
        let rows = read("[3] NVIDIA A100 | 45'C,  98 % | 12345 / 40960 MB | me(1000M)");
        assert_eq!((rows[0].index, rows[0].used.bytes), (3, 12345 * MIB));
        let rows = read("[3] NVIDIA A100 | 45'C,  98 % | 12.345 / 40.960 MB | me(1000M)");
        assert_eq!((rows[0].used.bytes, rows[0].total.bytes), (12345 * MIB, 40960 * MIB));
    }

    #[test]
    fn the_latest_table_before_the_failure_counts() {
        let mut tables = Tables::default();
        for (i, used) in [100, 200].iter().enumerate() {
            tables.take(&format!("[0] A | 1'C, 0 % | {used} / 1000 MB |"), i as u64 * 10 + 1);
            tables.take("[1] A | 1'C, 0 % | 7 / 1000 MB |", i as u64 * 10 + 2);
        }
        assert_eq!(tables.near(9)[0].used.bytes, 100 * MIB);
        assert_eq!(tables.near(99).len(), 2);
        assert_eq!(tables.near(99)[0].used.bytes, 200 * MIB);
    }
}
