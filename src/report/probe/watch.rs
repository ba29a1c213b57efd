//! One line for each GPU and one for each of its processes: what `--watch` shows of one reading, and what stands first
//! where there are many GPUs. Off a terminal a reading is one line.

use super::Findings;
use crate::gpu::attribution::ROUNDING;
use crate::gpu::{Gpu, GpuProcess, Memory};
use crate::order::InOrder;
use crate::reading::Reading;
use crate::report::Style;
use crate::report::layout::{Run, Screen, Tone, run};
use crate::report::table::{Column, Table};
use crate::text::{Lang, Text};
use crate::units::{Bytes, GIB};

/// A reading that is not available; the full report says why.
const UNKNOWN: &str = "-";
/// From these shares on a figure is marked.
const NEARLY_FULL: f64 = 0.95;
const HOT: u32 = 85;
/// Columns of a terminal from which on bars, names, clocks are shown.
const WITH_BARS: usize = 78;
const WITH_NAMES: usize = 104;
const WITH_CLOCKS: usize = 114;
/// Lines that processes get in any case.
const PROCESSES: usize = 3;

/// GPUs, their processes and the host on one screen: what does not fit the terminal's height is counted.
pub fn screen(findings: &Findings, at: u64, style: Style) -> String {
    let pick = |en: &str, zh: &str| Text::new(en, zh).in_lang(style.lang).to_string();
    let mut screen = Screen::of(style);
    let driver = &findings.survey.driver;
    let mut head = vec![clock(at)];
    head.extend(driver.version.as_ref().ok().map(|version| pick("driver ", "驱动 ") + version));
    head.extend(driver.cuda.as_ref().ok().map(|version| format!("CUDA {version}")));
    screen.line(&[run(Tone::Strong, "oomdoc probe  "), run(Tone::Faint, head.join("  "))]);
    if let Some(degraded) = findings.survey.degraded {
        screen.paragraph(&[], 0, &[run(Tone::Alarm, degraded.text().in_lang(style.lang))]);
    }
    gpus(&mut screen, findings, style);
    if let Ok(memory) = &findings.survey.host.memory
        && let Ok(used) = memory.used()
    {
        screen.blank();
        let bar = bar(&[(Tone::Used, used)], memory.total, if style.width >= WITH_BARS { 20 } else { 10 }, style);
        let (used, total) = (Bytes(used), Bytes(memory.total));
        let mut runs = vec![run(Tone::Plain, pick("RAM ", "内存 "))];
        runs.extend(bar);
        runs.push(run(Tone::Plain, format!(" {used} / {total}")));
        screen.line(&runs);
    }
    // The line that the cursor is left on is not to be used.
    let room = style.height.map_or(usize::MAX, |height| height.saturating_sub(2));
    let left = room.saturating_sub(screen.height() + 1).max(PROCESSES);
    processes(&mut screen, findings, left, style);
    let text = screen.render();
    if text.lines().count() <= room {
        return text;
    }
    let mut kept: Vec<&str> = text.lines().take(room.saturating_sub(1)).collect();
    let cut = text.lines().count() - kept.len();
    let more = crate::text!(en: "and {cut} more lines", zh: "另有 {cut} 行");
    kept.push(more.in_lang(style.lang));
    kept.join("\n") + "\n"
}

/// A table with a line for each GPU.
pub(super) fn gpus(screen: &mut Screen, findings: &Findings, style: Style) {
    let wide = |least: usize| style.width >= least;
    let pick = |en: &str, zh: &str| Text::new(en, zh).in_lang(style.lang).to_string();
    let mut heads = vec![(pick("GPU", "GPU"), Column::Left)];
    if wide(WITH_NAMES) {
        heads.push((pick("name", "名称"), Column::Left));
    }
    if wide(WITH_BARS) {
        heads.push((String::new(), Column::Left));
    }
    let right = [("in use", "已用"), ("free", "空闲"), ("busy", "利用率"), ("temp", "温度"), ("power", "功耗")];
    heads.extend(right.map(|(en, zh)| (pick(en, zh), Column::Right)));
    if wide(WITH_CLOCKS) {
        heads.push((pick("clock", "频率"), Column::Right));
    }
    let size = if wide(WITH_NAMES) && !wide(WITH_CLOCKS) { 20 } else { 12 };
    let columns: Vec<Column> = heads.iter().map(|(_, column)| *column).collect();
    let mut table = Table::new(&columns);
    table.plain(Tone::Faint, heads.into_iter().map(|(head, _)| head));
    for gpu in &findings.shown {
        let mut cells = vec![vec![run(Tone::Strong, gpu.index.to_string())]];
        if wide(WITH_NAMES) {
            cells.push(vec![run(Tone::Plain, model(&gpu.name))]);
        }
        let memory = gpu.memory.as_ref().ok();
        if wide(WITH_BARS) {
            let unexplained = gpu.attribution.as_ref().map_or(0, |attribution| attribution.unexplained);
            cells.push(memory.map_or_else(Vec::new, |memory| memory_bar(memory, unexplained, size, style)));
        }
        cells.extend(memory_cells(memory));
        cells.push(vec![cell(&gpu.utilization, |percent| format!("{percent} %"))]);
        let sensors = &gpu.sensors;
        let hot = sensors.temperature.as_ref().is_ok_and(|degrees| *degrees >= HOT);
        let slowed = gpu.throttling.as_ref().is_ok_and(|reasons| !reasons.is_empty());
        let mut temperature = cell(&sensors.temperature, |degrees| format!("{degrees} °C"));
        temperature.tone = if hot { Tone::Alarm } else { temperature.tone };
        cells.push(vec![temperature]);
        cells.push(vec![watts(&sensors.power, &sensors.power_limit)]);
        if wide(WITH_CLOCKS) {
            let mut clock = cell(&sensors.clock, |now| match &sensors.clock_most {
                Ok(most) => format!("{now} / {most} MHz"),
                Err(_) => format!("{now} MHz"),
            });
            clock.tone = if slowed { Tone::Alarm } else { clock.tone };
            cells.push(vec![clock]);
        }
        table.row(cells);
        for instance in gpu.mig.iter().flat_map(|mig| &mig.instances) {
            let label = instance.gpu_instance.as_ref().map_or(UNKNOWN.to_string(), u32::to_string);
            let mut cells = vec![vec![run(Tone::Plain, format!("{}/{label}", gpu.index))]];
            if wide(WITH_NAMES) {
                cells.push(vec![run(Tone::Plain, model(&instance.name))]);
            }
            let memory = instance.memory.as_ref().ok();
            if wide(WITH_BARS) {
                cells.push(memory.map_or_else(Vec::new, |memory| memory_bar(memory, 0, size, style)));
            }
            cells.extend(memory_cells(memory));
            cells.resize_with(columns.len(), || vec![run(Tone::Faint, UNKNOWN)]);
            table.row(cells);
        }
    }
    for other in &findings.survey.others {
        let mut cells = vec![vec![run(Tone::Strong, other.name.clone())]];
        cells.resize_with(columns.len(), || vec![run(Tone::Faint, UNKNOWN)]);
        let memory = match (&other.total, &other.used) {
            (Ok(total), Ok(used)) => Memory::new(*total, None, *used, total.saturating_sub(*used)).ok(),
            _ => None,
        };
        let first = usize::from(wide(WITH_NAMES)) + usize::from(wide(WITH_BARS)) + 1;
        for (at, figures) in memory_cells(memory.as_ref()).into_iter().enumerate() {
            if let Some(slot) = cells.get_mut(first + at) {
                *slot = figures;
            }
        }
        table.row(cells);
    }
    screen.table(0, &table);
}

/// A table with a line for each process, the largest of each GPU first, at most `most` lines; what nobody explains
/// stands among them.
pub(super) fn processes(screen: &mut Screen, findings: &Findings, most: usize, style: Style) {
    let pick = |en: &str, zh: &str| Text::new(en, zh).in_lang(style.lang).to_string();
    let mut rows: Vec<Vec<Vec<Run>>> = Vec::new();
    for gpu in &findings.shown {
        let mut sorted: Vec<&GpuProcess> = gpu.processes.iter().flatten().collect();
        sorted.order_by_key(|process| std::cmp::Reverse(process.bytes.clone().unwrap_or(0)));
        rows.extend(sorted.into_iter().map(|process| process_row(gpu, process)));
        if let Ok(attribution) = &gpu.attribution
            && attribution.unexplained >= ROUNDING
        {
            let nobody = run(Tone::Alarm, pick("no process that is listed", "不属于任何列出的进程"));
            let blank = || vec![run(Tone::Faint, UNKNOWN)];
            let held = vec![run(Tone::Alarm, Bytes(attribution.unexplained).to_string())];
            rows.push(vec![
                vec![run(Tone::Strong, gpu.index.to_string())],
                held,
                blank(),
                blank(),
                blank(),
                blank(),
                vec![nobody],
            ]);
        }
    }
    if rows.is_empty() {
        return;
    }
    let heads = [
        ("GPU", "GPU"),
        ("memory", "显存"),
        ("busy", "利用率"),
        ("pid", "pid"),
        ("user", "用户"),
        ("since", "已运行"),
        ("process", "进程"),
    ];
    let columns =
        [Column::Left, Column::Right, Column::Right, Column::Right, Column::Left, Column::Right, Column::Left];
    let mut table = Table::new(&columns);
    table.plain(Tone::Faint, heads.map(|(en, zh)| pick(en, zh)));
    // Two lines are the heads and what was left out.
    let most = most.saturating_sub(2).max(1);
    let left_out = rows.len().saturating_sub(most);
    rows.into_iter().take(most).for_each(|row| table.row(row));
    screen.blank();
    screen.table(0, &table);
    if left_out > 0 {
        let s = if left_out == 1 { "" } else { "es" };
        let text = crate::text!(en: "and {left_out} more process{s}", zh: "另有 {left_out} 个进程");
        screen.line(&[run(Tone::Faint, text.in_lang(style.lang))]);
    }
}

fn process_row(gpu: &Gpu, process: &GpuProcess) -> Vec<Vec<Run>> {
    let known = process.process.as_ref().ok();
    let text = |reading: Option<&Reading<String>>| match reading {
        Some(Ok(text)) => run(Tone::Plain, text.clone()),
        _ => run(Tone::Faint, UNKNOWN),
    };
    let age = known.and_then(|known| known.age_seconds.as_ref().ok());
    let name = process.name();
    vec![
        vec![run(Tone::Strong, gpu.index.to_string())],
        vec![cell(&process.bytes, |bytes| Bytes(*bytes).to_string())],
        vec![cell(&process.busy, |percent| format!("{percent} %"))],
        vec![run(Tone::Plain, process.pid.to_string())],
        vec![text(known.map(|known| &known.user))],
        vec![run(Tone::Plain, age.map_or(UNKNOWN.to_string(), |seconds| super::age(*seconds)))],
        vec![text(Some(&name))],
    ]
}

/// One line: the time in seconds since 1970, and what each GPU does.
pub fn line(findings: &Findings, at: u64, lang: Lang) -> String {
    let mut parts = vec![at.to_string()];
    let told = |run: Run| run.text;
    let bytes = |value: Option<u64>| value.map_or(UNKNOWN.to_string(), |bytes| Bytes(bytes).to_string());
    for gpu in &findings.shown {
        let memory = gpu.memory.as_ref().ok();
        let (used, total) = (bytes(memory.map(Memory::allocated)), bytes(memory.map(|memory| memory.total)));
        let figures = [
            format!("GPU {}: {used} / {total}", gpu.index),
            told(cell(&gpu.utilization, |percent| format!("{percent} %"))),
            told(cell(&gpu.sensors.temperature, |degrees| format!("{degrees} °C"))),
            told(watts(&gpu.sensors.power, &gpu.sensors.power_limit)),
            told(cell(&gpu.processes, |list| list.len().to_string())) + " proc",
            format!("? {}", bytes(gpu.attribution.as_ref().ok().map(|attribution| attribution.unexplained))),
        ];
        parts.push(figures.join(", "));
    }
    for other in &findings.survey.others {
        let (used, total) = (bytes(other.used.clone().ok()), bytes(other.total.clone().ok()));
        parts.push(format!("{}: {used} / {total}", other.name));
    }
    if let Some(degraded) = findings.survey.degraded {
        parts.push(degraded.text().in_lang(lang).to_string());
    }
    if let Ok(memory) = &findings.survey.host.memory
        && let Ok(used) = memory.used()
    {
        parts.push(format!("RAM {} / {}", Bytes(used), Bytes(memory.total)));
    }
    parts.join("\t") + "\n"
}

fn cell<T>(reading: &Reading<T>, print: impl FnOnce(&T) -> String) -> Run {
    match reading {
        Ok(value) => run(Tone::Plain, print(value)),
        Err(_) => run(Tone::Faint, UNKNOWN),
    }
}

/// What the board draws of what it may draw.
fn watts(power: &Reading<u32>, limit: &Reading<u32>) -> Run {
    let whole = |milliwatts: u32| (f64::from(milliwatts) / 1e3).round();
    cell(power, |power| match limit {
        Ok(limit) => format!("{} / {} W", whole(*power), whole(*limit)),
        Err(_) => format!("{} W", whole(*power)),
    })
}

/// In use of the total, and free.
fn memory_cells(memory: Option<&Memory>) -> [Vec<Run>; 2] {
    let Some(memory) = memory else { return [(); 2].map(|()| vec![run(Tone::Faint, UNKNOWN)]) };
    let full = memory.allocated() as f64 >= NEARLY_FULL * memory.total as f64;
    // Both in the unit of the total, so that figures stand below one another.
    let used = match memory.total {
        GIB.. => format!("{:.2}", memory.allocated() as f64 / GIB as f64),
        _ => Bytes(memory.allocated()).to_string(),
    };
    let tone = if full { Tone::Alarm } else { Tone::Plain };
    [
        vec![run(tone, format!("{used} / {}", Bytes(memory.total)))],
        vec![run(Tone::Plain, Bytes(memory.free).to_string())],
    ]
}

/// What programs hold, what nobody explains, what the driver keeps, and what is free.
pub(super) fn memory_bar(memory: &Memory, unexplained: u64, size: usize, style: Style) -> Vec<Run> {
    let unexplained = if unexplained >= ROUNDING { unexplained.min(memory.allocated()) } else { 0 };
    let parts = [
        (Tone::Used, memory.allocated() - unexplained),
        (Tone::Alarm, unexplained),
        (Tone::Foreign, memory.reserved.unwrap_or(0)),
    ];
    bar(&parts, memory.total, size, style)
}

/// Shares of a total, `size` columns in all.
fn bar(parts: &[(Tone, u64)], total: u64, size: usize, style: Style) -> Vec<Run> {
    let glyph = |tone: Tone| match (tone, style.unicode) {
        (Tone::Used, true) => "█",
        (Tone::Alarm, true) => "▓",
        (Tone::Foreign, true) => "▒",
        (_, true) => "░",
        (Tone::Used, false) => "#",
        (Tone::Alarm, false) => "?",
        (Tone::Foreign, false) => "=",
        (_, false) => ".",
    };
    let mut left = size;
    let mut runs = Vec::new();
    for (tone, bytes) in parts {
        let share = (*bytes as f64 / total.max(1) as f64 * size as f64).round() as usize;
        let columns = share.min(left);
        left -= columns;
        runs.push(run(*tone, glyph(*tone).repeat(columns)));
    }
    runs.push(run(Tone::Free, glyph(Tone::Free).repeat(left)));
    runs
}

/// The name of a product without its maker.
fn model(name: &Reading<String>) -> String {
    name.as_ref().map_or(UNKNOWN.to_string(), |name| name.trim_start_matches("NVIDIA ").chars().take(20).collect())
}

/// Seconds since 1970 as the time of day.
fn clock(at: u64) -> String {
    format!("{:02}:{:02}:{:02} UTC", at / 3600 % 24, at / 60 % 60, at % 60)
}
