//! Tables of GPUs by other tools than the default table of `nvidia-smi`: its log (`-q`) and its monitors (`dmon`,
//! `pmon`), `rocm-smi`, `amd-smi`, `xpu-smi`, `npu-smi`.
//!
//! Rows of one line are read at once; where a tool prints total and use on lines of their own, a row is told when both
//! are there. What they call MB is MiB (amd-smi and npu-smi shift bytes by 20).

use super::gpu_tables::{DeviceUse, GpuRow, ListedProcess, UseTool};
use crate::evidence::Span;
use crate::order::InOrder;
use crate::units::{Base, Figure, size};

/// What a line of such a table tells.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Told {
    Row(GpuRow),
    /// What is in use of a device whose size the tool does not print.
    Used(DeviceUse),
    /// A process on a device.
    Process(u32, ListedProcess),
}

/// What earlier lines opened.
#[derive(Debug, Default)]
pub(super) struct Blocks {
    /// Columns of `amd-smi monitor` or of a CSV of `rocm-smi` that are in force.
    columns: Option<Vec<Column>>,
    /// Columns of `nvidia-smi dmon` and `pmon`, by their names.
    monitor: Option<Vec<String>>,
    /// In the memory section of `nvidia-smi -q`.
    framebuffer: bool,
    /// Below a header of `npu-smi`.
    npu: bool,
    /// Below the header of `amd-smi`'s default table.
    amd: bool,
    /// Below a header of `amd-smi`'s process list.
    processes: bool,
    /// Devices of `nvidia-smi -q` so far.
    logged: u32,
    /// The device of the block, and its name.
    device: Option<u32>,
    name: Option<String>,
    total: Option<Figure>,
    used: Option<Figure>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Column {
    Device,
    Used,
    Total,
    UsedOfTotal,
    /// Another size, which takes its place in the row.
    Size,
    Other,
}

impl Blocks {
    /// True while a header is in force whose rows hold no word of their own.
    pub(super) fn open(&self) -> bool {
        self.columns.is_some()
            || self.monitor.is_some()
            || self.framebuffer
            || self.npu
            || self.amd
            || self.processes
            || self.device.is_some()
    }

    /// Takes a line.
    pub(super) fn take(&mut self, text: &str, at: Span) -> Option<Told> {
        let trimmed = text.trim();
        if trimmed.is_empty() {
            // amd-smi and rocm-smi leave lines empty between devices, not between header and rows.
            return None;
        }
        // `# gpu  pid  type … fb  command`, and below it a line with the units.
        if let Some(names) = trimmed.strip_prefix("# gpu ") {
            let names = std::iter::once("gpu").chain(names.split_whitespace()).map(str::to_string).collect();
            *self = Blocks { monitor: Some(names), ..Blocks::default() };
            return None;
        }
        if let Some(names) = &self.monitor {
            let units = trimmed.starts_with("# Idx");
            match monitored(trimmed, names, at) {
                Some(told) => return Some(told),
                None if units && unit_of(trimmed, names, "fb") == Some("MB") => return None,
                None if trimmed.starts_with(|c: char| c.is_ascii_digit()) => return None,
                None => self.monitor = None,
            }
        }
        if let Some(columns) = header(trimmed) {
            *self = Blocks { columns: Some(columns), ..Blocks::default() };
            return None;
        }
        if let Some(columns) = &self.columns {
            match row(trimmed, columns, at) {
                Some(told) => return Some(told),
                None if trimmed.starts_with(['=', '-', '+']) => return None,
                None => self.columns = None,
            }
        }
        self.boxed(trimmed, at).or_else(|| self.labelled(trimmed, at))
    }

    /// A line of a table drawn with bars.
    fn boxed(&mut self, text: &str, at: Span) -> Option<Told> {
        if !text.contains(['|', '│']) {
            return None;
        }
        if text.contains("HBM-Usage(MB)") || text.contains("Memory-Usage(MB)") {
            *self = Blocks { npu: true, ..Blocks::default() };
            return None;
        }
        if text.contains("GFX-Uti") && text.contains("Mem-Usage") {
            *self = Blocks { amd: true, ..Blocks::default() };
            return None;
        }
        if text.contains("VRAM_MEM") {
            *self = Blocks { processes: true, ..Blocks::default() };
            return None;
        }
        let cells: Vec<&str> = text.split(['|', '│']).map(str::trim).filter(|cell| !cell.is_empty()).collect();
        match cells.as_slice() {
            // xpu-smi: a label and its value.
            ["Device ID", id] => {
                *self = Blocks { device: id.parse().ok(), ..Blocks::default() };
                None
            }
            [label, value] if label.starts_with("GPU Memory Used (MiB)") => {
                let value = value.split([',', ';']).next()?.rsplit(' ').next()?;
                self.used = mib(value, at);
                let told = DeviceUse { index: self.device?, used: self.used?, by: UseTool::XpuSmi };
                Some(self.finish(at).map_or(Told::Used(told), Told::Row))
            }
            [.., cell] if cell.starts_with("Memory Physical Size:") => {
                self.total = cell.split_once(':').and_then(|(_, value)| sized(value.trim(), at));
                self.finish(at).map(Told::Row)
            }
            // npu-smi: the device, then a chip with its memory last.
            [head, ..] if self.npu && cells.len() == 3 => {
                let pair = last_pair(cells[2], at);
                let bus = cells[1].contains(':');
                match (pair, self.device) {
                    (Some((used, total)), Some(index)) if bus => {
                        let name = self.name.clone();
                        Some(Told::Row(GpuRow { index, name, used, total, utilization: None, processes: Vec::new() }))
                    }
                    _ => {
                        let (index, name) = head.split_once(' ')?;
                        self.device = index.parse().ok();
                        self.name = Some(name.trim().to_string()).filter(|name| !name.is_empty());
                        None
                    }
                }
            }
            [only] if self.processes => amd_process(only, at),
            // amd-smi since 7.0: bus and name, then index and memory.
            [left, right] if self.amd => {
                if left.split(' ').next().is_some_and(|bus| bus.matches(':').count() == 2) {
                    self.name = left.split_once(' ').map(|(_, name)| name.trim().to_string());
                    return None;
                }
                let pair = right.strip_suffix("MB").map(str::trim_end)?.rsplit(' ').next()?;
                let (used, total) = pair.split_once('/')?;
                let index = left.split(' ').next()?.parse().ok()?;
                let (used, total) = (mib(used, at)?, mib(total, at)?);
                let name = self.name.take();
                Some(Told::Row(GpuRow { index, name, used, total, utilization: None, processes: Vec::new() }))
            }
            _ => None,
        }
    }

    /// A line with one figure and its name.
    fn labelled(&mut self, text: &str, at: Span) -> Option<Told> {
        // rocm-smi --showmeminfo vram: `GPU[0]		: VRAM Total Used Memory (B): 10960896`.
        if let Some(rest) = text.strip_prefix("GPU[")
            && let Some((index, rest)) = rest.split_once(']')
        {
            let index = index.parse().ok();
            let lower = rest.to_ascii_lowercase();
            let value = |label: &str| {
                let (_, value) = lower.split_once(label)?;
                size(value.trim_start_matches([':', ' ']), "B", Base::Binary)
                    .map(|size| Figure { half_width: 0, ..size.at(at) })
            };
            let (total, used) = (value(": vram total memory (b)"), value(": vram total used memory (b)"));
            if total.is_none() && used.is_none() {
                return None;
            }
            if self.device != index {
                *self = Blocks { device: index, ..Blocks::default() };
            }
            self.total = total.or(self.total);
            self.used = used.or(self.used);
            return self.finish(at).map(Told::Row);
        }
        // nvidia-smi -q
        if text.starts_with("GPU 0") && text.matches(':').count() >= 2 {
            let index = self.logged;
            *self = Blocks { device: Some(index), logged: index + 1, ..Blocks::default() };
            return None;
        }
        if text == "FB Memory Usage" {
            self.framebuffer = true;
            (self.total, self.used) = (None, None);
            return None;
        }
        // amd-smi metric --mem-usage
        if let Some(index) = text.strip_prefix("GPU:").and_then(|index| index.trim().parse().ok()) {
            *self = Blocks { device: Some(index), ..Blocks::default() };
            return None;
        }
        let (label, value) = text.split_once(':')?;
        let value = value.trim();
        match label.trim() {
            "Product Name" if self.device.is_some() => {
                self.name = Some(value.to_string());
                return None;
            }
            "TOTAL_VRAM" => self.total = sized(value, at),
            "USED_VRAM" => self.used = sized(value, at),
            "Total" if self.framebuffer => self.total = sized(value, at),
            "Used" if self.framebuffer => self.used = sized(value, at),
            "Reserved" | "Free" if self.framebuffer => return None,
            _ => {
                self.framebuffer = false;
                return None;
            }
        }
        self.device?;
        self.finish(at).map(Told::Row)
    }

    /// The row of the block, where all of it is known.
    fn finish(&mut self, at: Span) -> Option<GpuRow> {
        let (index, total, used) = (self.device?, self.total?, self.used?);
        (self.total, self.used, self.framebuffer) = (None, None, false);
        let used = Figure { at, ..used };
        Some(GpuRow { index, name: self.name.clone(), used, total, utilization: None, processes: Vec::new() })
    }
}

/// The unit that a monitor prints below a column's name.
fn unit_of<'a>(text: &'a str, names: &[String], name: &str) -> Option<&'a str> {
    let column = names.iter().position(|column| column == name)?;
    text.strip_prefix('#')?.split_whitespace().nth(column)
}

/// A row of a monitor: a process on a device, or what is in use of one.
fn monitored(text: &str, names: &[String], at: Span) -> Option<Told> {
    let cells: Vec<&str> = text.split_whitespace().collect();
    let cell =
        |name: &str| names.iter().position(|column| column == name).and_then(|column| cells.get(column).copied());
    let index = cell("gpu")?.parse().ok()?;
    let used = mib(cell("fb")?, at);
    if !names.iter().any(|name| name == "pid") {
        return Some(Told::Used(DeviceUse { index, used: used?, by: UseTool::NvidiaSmiDmon }));
    }
    let pid = cell("pid")?.parse().ok()?;
    Some(Told::Process(index, (pid, cell("command").map(str::to_string), used)))
}

/// The memory of each GPU in the JSON of `rocm-smi --showmeminfo vram` and of `amd-smi`; empty for other documents.
pub fn of_json(text: &str) -> Vec<GpuRow> {
    let Ok(document) = serde_json::from_str::<serde_json::Value>(text) else { return Vec::new() };
    let bytes = |value: &serde_json::Value| -> Option<u64> {
        let number = |value: &serde_json::Value| value.as_u64().or_else(|| value.as_str()?.trim().parse().ok());
        match value.get("unit").and_then(serde_json::Value::as_str) {
            None => number(value),
            Some(unit) => {
                let unit = match unit {
                    "B" => 1,
                    "KB" => 1 << 10,
                    "MB" => 1 << 20,
                    "GB" => 1 << 30,
                    _ => return None,
                };
                number(value.get("value")?)?.checked_mul(unit)
            }
        }
    };
    let row = |index: u32, name: Option<String>, used: u64, total: u64| {
        let exactly = |bytes: u64| Figure { bytes, half_width: 0, at: Span::line(1) };
        let (used, total) = (exactly(used), exactly(total));
        GpuRow { index, name, used, total, utilization: None, processes: Vec::new() }
    };
    if let Some(cards) = document.as_object().filter(|object| object.keys().any(|key| key.starts_with("card"))) {
        let mut rows: Vec<GpuRow> = cards
            .iter()
            .filter_map(|(key, card)| {
                let index = key.strip_prefix("card")?.parse().ok()?;
                let name = card.get("Card Series").or_else(|| card.get("Card series"));
                let name = name.and_then(serde_json::Value::as_str).map(str::to_string);
                let size = |key: &str| bytes(card.get(key)?);
                Some(row(index, name, size("VRAM Total Used Memory (B)")?, size("VRAM Total Memory (B)")?))
            })
            .collect();
        rows.order_by_key(|row| row.index);
        return rows;
    }
    // `amd-smi metric` wraps its list since ROCm 6.4.
    let listed = document.as_array().or_else(|| document.get("gpu_data")?.as_array());
    let rows = listed.into_iter().flatten().filter_map(|gpu| {
        let index = u32::try_from(gpu.get("gpu")?.as_u64()?).ok()?;
        let memory = gpu.get("mem_usage")?;
        Some(row(index, None, bytes(memory.get("used_vram")?)?, bytes(memory.get("total_vram")?)?))
    });
    rows.collect()
}

fn mib(number: &str, at: Span) -> Option<Figure> {
    size(number.trim(), "MiB", Base::Binary).map(|size| size.at(at))
}

/// `283 MB`, `14248.00 MiB`, `17.9 GB`.
fn sized(text: &str, at: Span) -> Option<Figure> {
    let digits = text.bytes().take_while(|byte| byte.is_ascii_digit() || *byte == b'.').count();
    let unit = match text[digits..].trim() {
        "MB" | "MiB" => "MiB",
        "GB" | "GiB" => "GiB",
        "KB" | "KiB" => "KiB",
        "B" => "B",
        _ => return None,
    };
    size(&text[..digits], unit, Base::Binary).map(|size| size.at(at))
}

/// The `3161 / 65536` that ends a cell, in MiB.
fn last_pair(cell: &str, at: Span) -> Option<(Figure, Figure)> {
    let (front, total) = cell.rsplit_once('/')?;
    let used = front.trim_end().rsplit(' ').next()?;
    let (used, total) = (mib(used, at)?, mib(total, at)?);
    (total.bytes > 0).then_some((used, total))
}

/// The columns of `amd-smi monitor` and of `rocm-smi --csv`.
fn header(text: &str) -> Option<Vec<Column>> {
    let of = |name: &str| match name.trim() {
        "GPU" | "device" => Column::Device,
        "VRAM_USED" | "VRAM Total Used Memory (B)" => Column::Used,
        "VRAM_TOTAL" | "VRAM Total Memory (B)" => Column::Total,
        "VRAM_USAGE" => Column::UsedOfTotal,
        "VRAM_FREE" => Column::Size,
        _ => Column::Other,
    };
    if text.starts_with("device,") && text.contains("VRAM Total Memory (B)") {
        return Some(text.split(',').map(of).collect());
    }
    let monitor = text.starts_with("GPU ")
        && (text.contains(" VRAM_USED ") && text.contains(" VRAM_TOTAL") || text.contains(" VRAM_USAGE"));
    monitor.then(|| text.split_whitespace().map(of).collect())
}

fn row(text: &str, columns: &[Column], at: Span) -> Option<Told> {
    if columns.contains(&Column::Total) && text.starts_with("card") {
        let cells: Vec<&str> = text.split(',').collect();
        let cell = |wanted| columns.iter().position(|column| *column == wanted).and_then(|i| cells.get(i).copied());
        let bytes =
            |cell: Option<&str>| size(cell?, "B", Base::Binary).map(|size| Figure { half_width: 0, ..size.at(at) });
        let index = cells.first()?.strip_prefix("card")?.parse().ok()?;
        let (used, total) = (bytes(cell(Column::Used))?, bytes(cell(Column::Total))?);
        return Some(Told::Row(GpuRow { index, name: None, used, total, utilization: None, processes: Vec::new() }));
    }
    let words: Vec<&str> = text.split_whitespace().collect();
    let index = words.first()?.parse().ok()?;
    let sizes: Vec<Figure> = words
        .windows(2)
        .filter(|pair| !pair[0].contains('/'))
        .filter_map(|pair| sized(&format!("{} {}", pair[0], pair[1]), at))
        .collect();
    let (used, total) = if columns.contains(&Column::UsedOfTotal) {
        // `17.9/192.0 GB`, with or without blanks around the stroke.
        let (front, behind) = text.rsplit_once('/')?;
        let total = sized(behind.trim(), at)?;
        let unit = behind.trim().rsplit(' ').next()?;
        (sized(&format!("{} {unit}", front.trim_end().rsplit(' ').next()?), at)?, total)
    } else {
        let mut of_sizes =
            columns.iter().filter(|column| matches!(column, Column::Used | Column::Total | Column::Size)).zip(&sizes);
        let used = of_sizes.clone().find(|(column, _)| **column == Column::Used)?.1;
        let total = of_sizes.find(|(column, _)| **column == Column::Total)?.1;
        (*used, *total)
    };
    let fits = used.bytes <= total.bytes.saturating_add(used.half_width + total.half_width);
    fits.then(|| Told::Row(GpuRow { index, name: None, used, total, utilization: None, processes: Vec::new() }))
}

/// `0    41217  python    2.0 MB  12.3 GB  12.4 GB  N/A`: memory of the host, of the device, and both.
fn amd_process(cell: &str, at: Span) -> Option<Told> {
    let words: Vec<&str> = cell.split_whitespace().collect();
    let index = words.first()?.parse().ok()?;
    let pid = words.get(1)?.parse().ok()?;
    let sizes: Vec<(usize, Figure)> = (2..words.len().saturating_sub(1))
        .filter_map(|i| Some((i, sized(&format!("{} {}", words[i], words[i + 1]), at)?)))
        .collect();
    let name = words.get(2..sizes.first().map_or(words.len(), |(i, _)| *i))?.join(" ");
    let held = sizes.get(1).map(|(_, figure)| *figure);
    Some(Told::Process(index, (pid, Some(name).filter(|name| !name.is_empty()), held)))
}

#[cfg(test)]
mod tests {
    use super::super::gpu_tables::{GpuRow, Tables};
    use super::{Blocks, Told};
    use crate::evidence::Span;
    use crate::units::{GIB, MIB};

    fn tables(text: &str) -> Tables {
        let mut tables = Tables::default();
        // As the reader of a log asks: a line without a word of its own only where a header is in force.
        text.lines().zip(1..).for_each(|(line, number)| tables.take(line, number));
        tables
    }

    fn rows(text: &str) -> Vec<(u32, u64, u64)> {
        let rows: Vec<GpuRow> = tables(text).near(u64::MAX);
        rows.iter().map(|row| (row.index, row.used.bytes, row.total.bytes)).collect()
    }

    #[test]
    fn rocm_smi_is_read() {
        let text = "\
============================ ROCm System Management Interface ============================
================================== Memory Usage (Bytes) ==================================
GPU[0]		: VRAM Total Memory (B): 68702699520
GPU[0]		: VRAM Total Used Memory (B): 68130959360
GPU[1]		: VRAM Total Memory (B): 68702699520
GPU[1]		: VRAM Total Used Memory (B): 10960896
==========================================================================================";
        assert_eq!(rows(text), [(0, 68_130_959_360, 68_702_699_520), (1, 10_960_896, 68_702_699_520)]);
        // ROCm 3 writes `vram`.
        assert_eq!(rows(&text.replace("VRAM", "vram")).len(), 2);
        let csv = "device,VRAM Total Memory (B),VRAM Total Used Memory (B)\ncard0,17163091968,16989028352\n\n";
        assert_eq!(rows(csv), [(0, 16_989_028_352, 17_163_091_968)]);
    }

    #[test]
    fn amd_smi_is_read_in_the_layouts_of_its_versions() {
        // 6.0 to 6.2: the list of metrics and the monitor.
        let metric = "GPU: 0\n\
         MEM_USAGE:\n\
         TOTAL_VRAM: 196592 MB\n\
         USED_VRAM: 196010 MB\n\
         FREE_VRAM: 582 MB\n\
         TOTAL_GTT: 257837 MB\n\
         USED_GTT: 12 MB";
        assert_eq!(rows(metric), [(0, 196_010 * MIB, 196_592 * MIB)]);
        let monitor = "GPU  VRAM_USED  VRAM_TOTAL\n  0     283 MB   196300 MB\n  1  196010 MB   196300 MB";
        assert_eq!(rows(monitor), [(0, 283 * MIB, 196_300 * MIB), (1, 196_010 * MIB, 196_300 * MIB)]);
        // 6.3 and 6.4: with what is free, and other columns before.
        let monitor = "GPU  POWER   GPU_T  VRAM_USED  VRAM_FREE  VRAM_TOTAL  VRAM%\n\
         0  162 W   41 °C     283 MB  196017 MB   196300 MB  0.1 %";
        assert_eq!(rows(monitor), [(0, 283 * MIB, 196_300 * MIB)]);
        // 7.0: used and total in one column; the default table.
        let monitor = "GPU  XCP  POWER   GPU_T   MEM_T   GFX_CLK   GFX%   MEM%   ENC%  DEC%      VRAM_USAGE\n\
         0    0  162 W   41 °C   38 °C   132 MHz    0 %    0 %    N/A   0 %     17.5/192.0 GB";
        assert_eq!(rows(monitor), [(0, 17 * GIB + GIB / 2, 192 * GIB)]);
        let table = "\
| BDF                        GPU-Name | Mem-Uti   Temp   UEC       Power-Usage |
| GPU  HIP-ID  OAM-ID  Partition-Mode | GFX-Uti    Fan               Mem-Usage |
|=====================================+========================================|
| 0000:05:00.0    AMD Instinct MI300X | 0 %      42 °C   0           140/750 W |
|   0       0       7        SPX/NPS1 | 0 %        N/A           283/196592 MB |
|-------------------------------------+----------------------------------------|
| 0000:15:00.0    AMD Instinct MI300X | 99 %     61 °C   0           612/750 W |
|   1       1       3        SPX/NPS1 | 98 %       N/A        196010/196592 MB |
+-------------------------------------+----------------------------------------+
| Processes:                                                                   |
|  GPU        PID  Process Name          GTT_MEM  VRAM_MEM  MEM_USAGE     CU % |
|==============================================================================|
|    1      41217  python3.12             2.0 MB  191.2 GB  191.2 GB  N/A      |";
        assert_eq!(rows(table), [(0, 283 * MIB, 196_592 * MIB), (1, 196_010 * MIB, 196_592 * MIB)]);
        let listed = tables(table).near(u64::MAX);
        assert_eq!(listed[1].name.as_deref(), Some("AMD Instinct MI300X"));
        let (pid, name, held) = &listed[1].processes[0];
        assert_eq!((*pid, name.as_deref()), (41_217, Some("python3.12")));
        assert_eq!(held.map(|held| held.bytes), Some((191.2 * GIB as f64).round() as u64));
    }

    #[test]
    fn xpu_smi_tells_the_use_and_elsewhere_the_size() {
        let stats = "| Device ID                   | 0                                      |\n\
         | GPU Utilization (%)         | 100                                    |\n\
         | GPU Memory Used (MiB)       | 15980                                  |";
        let told = tables(stats);
        assert_eq!(
            told.uses().iter().map(|told| (told.index, told.used.bytes)).collect::<Vec<_>>(),
            [(0, 15_980 * MIB)]
        );
        assert!(told.near(u64::MAX).is_empty(), "no size, no row");
        let with_size =
            "| Device ID | 0 |\n| 0 | Memory Physical Size: 16288.00 MiB |\n| GPU Memory Used (MiB) | 15980 |";
        assert_eq!(rows(with_size), [(0, 15_980 * MIB, 16_288 * MIB)]);
        // 2.0 queries as nvidia-smi does.
        let csv = "index, memory.used [MiB], memory.total [MiB]\n0, 15980 MiB, 16288 MiB";
        assert_eq!(rows(csv), [(0, 15_980 * MIB, 16_288 * MIB)]);
    }

    #[test]
    fn npu_smi_is_read() {
        let text = "\
| NPU   Name                | Health        | Power(W)    Temp(C)           Hugepages-Usage(page)|
| Chip                      | Bus-Id        | AICore(%)   Memory-Usage(MB)  HBM-Usage(MB)        |
+===========================+===============+====================================================+
| 0     910B3               | OK            | 93.6        36                0    / 0             |
| 0                         | 0000:C1:00.0  | 0           0    / 0          3161 / 65536         |
+===========================+===============+====================================================+
| 1     910B3               | OK            | 301.2       58                0    / 0             |
| 0                         | 0000:01:00.0  | 97          0    / 0          64990/ 65536         |";
        assert_eq!(rows(text), [(0, 3161 * MIB, 65_536 * MIB), (1, 64_990 * MIB, 65_536 * MIB)]);
    }

    #[test]
    fn the_log_of_nvidia_smi_is_read() {
        let text = "\
Attached GPUs                             : 2
GPU 00000000:01:00.0
    Product Name                          : NVIDIA RTX A6000
    FB Memory Usage
        Total                             : 49140 MiB
        Reserved                          : 454 MiB
        Used                              : 47810 MiB
        Free                              : 875 MiB
    BAR1 Memory Usage
        Total                             : 256 MiB
        Used                              : 5 MiB
        Free                              : 251 MiB
GPU 00000000:02:00.0
    Product Name                          : NVIDIA RTX A6000
    FB Memory Usage
        Total                             : 49140 MiB
        Used                              : 12 MiB";
        assert_eq!(rows(text), [(0, 47_810 * MIB, 49_140 * MIB), (1, 12 * MIB, 49_140 * MIB)]);
    }

    #[test]
    fn the_monitors_of_nvidia_smi_are_read() {
        let processes = "\
# gpu         pid   type     sm    mem     fb    command
# Idx           #    C/G      %      %     MB       name
    0       4711     C     12      3  12288      python
    0       5822     C      -      -  11000      jupyter
    1          -     -      -      -      -      -
";
        let table = "|   0  N/A  4711  C  python  12288MiB |";
        assert!(Tables::of(table).near(9).is_empty());
        let mut blocks = Blocks::default();
        let told: Vec<Told> = processes.lines().filter_map(|line| blocks.take(line, Span::line(1))).collect();
        let expected: Vec<(u32, u64, u64)> = vec![(0, 4711, 12288), (0, 5822, 11000)];
        let read: Vec<(u32, u64, u64)> = told
            .iter()
            .filter_map(|told| match told {
                Told::Process(index, (pid, _, used)) => Some((*index, *pid, used.as_ref()?.bytes >> 20)),
                _ => None,
            })
            .collect();
        assert_eq!(read, expected);
        let devices = "# gpu     fb   bar1\n# Idx     MB     MB\n    0  23500     12\n    1    400      4\nthe end\n";
        let uses: Vec<(u32, u64)> =
            Tables::of(devices).uses().iter().map(|told| (told.index, told.used.bytes >> 20)).collect();
        assert_eq!(uses, [(0, 23500), (1, 400)]);
    }

    #[test]
    fn prose_and_other_tables_tell_nothing() {
        for text in [
            "GPU: 0 is used for the model\nTotal: 40 GB",
            "GPU: 0\nTOTAL_VRAM is 5",
            "| Device ID | 0 |\n| Used | 5 |",
            "GPU  LOAD  TOTAL\n  0  283 MB  5 MB",
            "| a | b |\n| 0 | 12/40 MB |",
        ] {
            assert_eq!(rows(text), [], "{text}");
        }
    }
}
