//! The probe for people: what is wrong first, then each GPU, then the host.

use super::{Findings, watch};
use crate::gpu::verdict::Judgement;
use crate::gpu::{ComputeMode, Gpu, GpuProcess, Identity, Memory};
use crate::host::processes::Process;
use crate::host::{Host, meminfo::Overcommit};
use crate::order::InOrder;
use crate::reading::Reading;
use crate::report::Style;
use crate::report::layout::{Run, Screen, Tone, pad, run, shorten};
use crate::report::table::{Column, Table};
use crate::text::Text;
use crate::units::Bytes;

/// Processes of a GPU printed without `-v`.
const PROCESSES: usize = 8;

/// Largest processes of the host printed without `-v`.
const LARGEST: usize = 3;

/// More GPUs than these get a line each.
const MANY: usize = 3;

/// Columns of the bar.
const BAR: usize = 40;

/// The findings as text.
pub fn render(findings: &Findings, style: Style) -> String {
    let mut page = Page { screen: Screen::of(style), style };
    page.head(findings);
    // Many GPUs are a line each, with what there is to say of one; --gpu and -v show all of it.
    let short = findings.shown.len() > MANY && !style.verbose && findings.cuda.iter().all(Option::is_none);
    if short {
        page.screen.blank();
        watch::gpus(&mut page.screen, findings, style);
        watch::processes(&mut page.screen, findings, findings.shown.len() * PROCESSES, style);
        page.screen.blank();
    }
    for (at, (gpu, verdicts)) in findings.shown.iter().zip(&findings.verdicts).enumerate() {
        if short {
            page.verdicts_of(gpu, verdicts);
        } else {
            page.gpu(gpu, verdicts, findings);
        }
        if let Some(Some(part)) = findings.cuda.get(at) {
            page.lines(&super::cuda::lines(part));
        }
    }
    if let Some(part) = &findings.cuda_alone {
        page.lines(&super::cuda::lines(part));
    }
    if let Some(reproduction) = &findings.reproduction {
        page.screen.blank();
        let head = page.pick("Was it fragmentation?", "是碎片化吗？");
        page.screen.line(&[run(Tone::Strong, head)]);
        page.lines(&super::cuda::reproduction_lines(reproduction, findings.measured()));
    }
    page.others(findings);
    if !matches!(findings.survey.source, crate::gpu::Source::File(_)) {
        page.host(findings);
    }
    page.screen.render()
}

struct Page {
    screen: Screen,
    style: Style,
}

impl Page {
    fn say(&self, text: &Text) -> String {
        text.in_lang(self.style.lang).to_string()
    }

    fn pick(&self, en: &str, zh: &str) -> String {
        Text::new(en, zh).in_lang(self.style.lang).to_string()
    }

    fn line(&mut self, label: (&str, &str), body: Vec<Run>) {
        let label = self.pick(label.0, label.1);
        self.screen.paragraph(&[run(Tone::Faint, pad(&format!("  {label}"), 16))], 16, &body);
    }

    fn plain(&mut self, label: (&str, &str), text: impl Into<String>) {
        self.line(label, vec![run(Tone::Plain, text)]);
    }

    fn lines(&mut self, lines: &[super::cuda::Row]) {
        for row in lines {
            let text = self.say(&row.text);
            self.line(
                (&row.label.en, &row.label.zh),
                vec![run(if row.missing { Tone::Faint } else { Tone::Plain }, text)],
            );
        }
    }

    /// A reading, or in its place why there is none.
    fn reading<T>(&mut self, label: (&str, &str), reading: &Reading<T>, print: impl FnOnce(&T) -> String) {
        match reading {
            Ok(value) => self.plain(label, print(value)),
            Err(reason) => {
                let text = self.missing(&reason.why);
                self.line(label, vec![text]);
            }
        }
    }

    fn missing(&self, why: &Text) -> Run {
        let head = self.pick("not available: ", "不可用：");
        run(Tone::Faint, format!("{head}{}", self.say(why)))
    }

    fn head(&mut self, findings: &Findings) {
        let survey = &findings.survey;
        if let Some(degraded) = survey.degraded {
            let tone = match (survey.gpus.is_empty(), survey.others.is_empty()) {
                (true, true) => Tone::Alarm,
                (true, false) => Tone::Faint,
                (false, _) => Tone::Strong,
            };
            let text = self.say(&degraded.text());
            self.screen.paragraph(&[], 0, &[run(tone, text)]);
            if !survey.gpus.is_empty() {
                let text = self.pick("What follows was told by nvidia-smi.", "以下数据来自 nvidia-smi。");
                self.screen.paragraph(&[], 0, &[run(Tone::Plain, text)]);
            }
        }
        if !survey.gpus.is_empty() {
            let count = survey.gpus.len();
            let s = if count == 1 { "" } else { "s" };
            // A saved table of another maker's names no driver and no CUDA.
            let known = survey.driver.version.is_ok() || survey.driver.cuda.is_ok();
            let unknown = self.pick("unknown", "未知");
            let version = survey.driver.version.clone().unwrap_or(unknown.clone());
            let cuda = survey.driver.cuda.clone().unwrap_or(unknown);
            let text = self.say(&match known {
                true => crate::text!(
                    en: "{count} NVIDIA GPU{s}, driver {version}, CUDA up to {cuda}",
                    zh: "{count} 个 NVIDIA GPU，驱动 {version}，CUDA 最高支持 {cuda}"
                ),
                false => crate::text!(en: "{count} GPU{s}, driver unknown", zh: "{count} 个 GPU，驱动未知"),
            });
            self.screen.paragraph(&[], 0, &[run(Tone::Strong, text)]);
        }
        if let Some(list) = &survey.visibility.list {
            self.screen.paragraph(&[], 2, &[run(Tone::Plain, format!("CUDA_VISIBLE_DEVICES={list}"))]);
        }
        if let Some(text) = findings.mapping.text().filter(|_| !survey.gpus.is_empty()) {
            let text = self.say(&text);
            self.screen.paragraph(&[], 2, &[run(Tone::Plain, text)]);
        }
        for note in &survey.notes {
            let text = self.say(&note.text);
            self.screen.paragraph(&[], 2, &[run(Tone::Faint, text)]);
        }
    }

    fn gpu(&mut self, gpu: &Gpu, verdicts: &[Judgement], findings: &Findings) {
        self.screen.blank();
        let name = gpu.name.clone().unwrap_or_else(|_| self.pick("name unknown", "名称未知"));
        let mut head = vec![run(Tone::Strong, format!("GPU {}  {name}", gpu.index))];
        if let Ok(uuid) = &gpu.uuid {
            let short = if self.style.verbose { uuid.clone() } else { shorten(uuid, 13, self.style.unicode) };
            head.push(run(Tone::Faint, format!("  {short}")));
        }
        if let Some(cuda) = findings.mapping.cuda_index(gpu.index).filter(|_| findings.survey.visibility.list.is_some())
        {
            head.push(run(Tone::Faint, format!("  cuda:{cuda}")));
        }
        self.screen.line(&head);
        self.verdicts("  ", verdicts);
        match &gpu.memory {
            Ok(memory) => self.memory(gpu, memory),
            Err(reason) => {
                let text = self.missing(&reason.why);
                self.line(("memory", "显存"), vec![text]);
            }
        }
        self.processes(gpu);
        match &gpu.attribution {
            Ok(attribution) => {
                let amount = Bytes(attribution.unexplained);
                let told = verdicts.iter().any(|verdict| verdict.id == "unexplained");
                let text = if told {
                    amount.to_string()
                } else {
                    format!("{amount}{}{}", self.pick(": ", "："), self.say(&attribution.text))
                };
                self.plain(("unexplained", "无归属"), text);
            }
            Err(reason) if gpu.memory.is_ok() || self.style.verbose => {
                let text = self.missing(&reason.why);
                self.line(("unexplained", "无归属"), vec![text]);
            }
            Err(_) => {}
        }
        self.instances(gpu);
        self.state(gpu);
    }

    fn verdicts(&mut self, of: &str, verdicts: &[Judgement]) {
        for verdict in verdicts {
            let text = self.say(&verdict.text);
            let tone = if verdict.id == "hardware" { Tone::Alarm } else { Tone::Strong };
            let mark = if self.style.unicode { "→ " } else { "> " };
            let head = run(tone, format!("{of}{mark}{}: ", verdict.id));
            self.screen.paragraph(&[], 4, &[head, run(Tone::Plain, text)]);
        }
    }

    /// What there is to say of a GPU whose figures stand in a table.
    fn verdicts_of(&mut self, gpu: &Gpu, verdicts: &[Judgement]) {
        let of = format!("GPU {} ", gpu.index);
        self.verdicts(&of, verdicts);
        if let Err(reason) = &gpu.memory {
            let text = self.missing(&reason.why);
            self.screen.paragraph(&[], 4, &[run(Tone::Plain, of), text]);
        }
    }

    fn memory(&mut self, gpu: &Gpu, memory: &Memory) {
        let (total, free, allocated) = (Bytes(memory.total), Bytes(memory.free), Bytes(memory.allocated()));
        let mut text = self.say(&crate::text!(
            en: "{allocated} in use, {free} free of {total}",
            zh: "共 {total}，已用 {allocated}，空闲 {free}"
        ));
        if let Some(reserved) = memory.reserved {
            let reserved = Bytes(reserved);
            text += &self.say(&crate::text!(en: ", {reserved} kept by the driver", zh: "，驱动保留 {reserved}"));
        }
        self.plain(("memory", "显存"), text);
        let unexplained = gpu.attribution.as_ref().map_or(0, |attribution| attribution.unexplained);
        let mut bar = vec![run(Tone::Plain, " ".repeat(16))];
        bar.extend(watch::memory_bar(memory, unexplained, BAR, self.style));
        self.screen.line(&bar);
        if let (Identity::Unclear(by), Some(_)) = (memory.identity, memory.reserved) {
            let by = crate::units::signed(by);
            let text = self.say(&crate::text!(
                en: "the driver's figures do not add up: used + reserved + free is {by} beside the total",
                zh: "驱动的数值不自洽：已用 + 保留 + 空闲 与总量相差 {by}"
            ));
            self.plain(("", ""), text);
        }
    }

    fn processes(&mut self, gpu: &Gpu) {
        let list = match &gpu.processes {
            Ok(list) => list,
            Err(reason) => {
                let text = self.missing(&reason.why);
                return self.line(("processes", "进程"), vec![text]);
            }
        };
        if list.is_empty() {
            let text = self.pick("none listed", "未列出任何进程");
            return self.plain(("processes", "进程"), text);
        }
        let mut sorted: Vec<&GpuProcess> = list.iter().collect();
        sorted.order_by_key(|process| std::cmp::Reverse(process.bytes.clone().unwrap_or(0)));
        let most = if self.style.verbose { sorted.len() } else { PROCESSES };
        let label = self.pick("processes", "进程");
        let mut table = Table::new(&[Column::Label(14), Column::Right, Column::Left, Column::Left, Column::Text]);
        for (at, process) in sorted.iter().take(most).enumerate() {
            let label = if at == 0 { format!("  {label}") } else { String::new() };
            let mut cells = vec![vec![run(Tone::Faint, label)]];
            cells.extend(self.process(process).map(|cell| vec![run(Tone::Plain, cell)]));
            table.row(cells);
        }
        self.screen.table(0, &table);
        if sorted.len() > most {
            let more = sorted.len() - most;
            let text = self.say(&crate::text!(en: "and {more} more (-v)", zh: "另有 {more} 个（-v）"));
            self.plain(("", ""), text);
        }
    }

    /// Memory, number, name and what else is known of a process.
    fn process(&self, process: &GpuProcess) -> [String; 4] {
        let bytes = match &process.bytes {
            Ok(bytes) => Bytes(*bytes).to_string(),
            Err(_) => self.pick("memory unknown", "显存未知"),
        };
        let mut more = match &process.process {
            Ok(known) => self.surroundings(known),
            Err(reason) => format!("({})", self.say(&reason.why)),
        };
        if process.kind == crate::gpu::Kind::Mps {
            more += "  MPS";
        }
        let name = process.name().unwrap_or_default();
        [bytes, format!("pid {}", process.pid), name, more.trim_start().to_string()]
    }

    fn surroundings(&self, process: &Process) -> String {
        let mut text = String::new();
        if let Ok(user) = &process.user {
            text += &format!("  {user}");
        }
        if let Ok(Some(container)) = &process.container {
            text += &format!("  {container}");
        }
        if let Ok(seconds) = process.age_seconds {
            let age = super::age(seconds);
            text += &self.say(&crate::text!(en: "  for {age}", zh: "  已运行 {age}"));
        }
        match process.state {
            Ok('Z') => text += &self.pick("  zombie", "  僵尸进程"),
            Ok('D') => {
                text += &self.pick(
                    "  stuck in the kernel: kill -9 has no effect until its file system answers",
                    "  卡在内核中：文件系统恢复前 kill -9 无效",
                )
            }
            _ => {}
        }
        text
    }

    fn instances(&mut self, gpu: &Gpu) {
        let Ok(mig) = &gpu.mig else { return };
        for instance in &mig.instances {
            let name = instance.name.clone().or_else(|_| instance.uuid.clone()).unwrap_or_default();
            let memory = match &instance.memory {
                Ok(memory) => {
                    let (used, total) = (Bytes(memory.allocated()), Bytes(memory.total));
                    self.say(&crate::text!(en: "{used} of {total} in use", zh: "{total} 中已用 {used}"))
                }
                Err(reason) => self.missing(&reason.why).text,
            };
            let uuid = instance.uuid.clone().unwrap_or_default();
            self.plain(("instance", "实例"), format!("{name}  {memory}  {uuid}"));
        }
        if mig.enabled && mig.instances.is_empty() {
            let text = self.pick(
                "MIG is on, but there is no instance: programs cannot run",
                "已开启 MIG 但没有实例：程序无法运行",
            );
            self.plain(("instance", "实例"), text);
        }
    }

    /// Everything else: what is unusual, or all of it when asked.
    fn state(&mut self, gpu: &Gpu) {
        let all = self.style.verbose;
        if all || gpu.compute_mode.as_ref().is_ok_and(|mode| *mode != ComputeMode::Default) {
            let refused = self.pick(
                ": a second program is refused with CUDA error 46, which is no lack of memory",
                "：第二个程序会被拒绝（CUDA 错误 46），这不是显存不足",
            );
            self.reading(("compute mode", "计算模式"), &gpu.compute_mode, |mode| match mode {
                ComputeMode::Default => mode.id().to_string(),
                _ => format!("{}{refused}", mode.id()),
            });
        }
        if all || gpu.throttling.as_ref().is_ok_and(|reasons| !reasons.is_empty()) {
            let lang = self.style.lang;
            let none = self.pick("no", "无");
            self.reading(("throttled", "降频"), &gpu.throttling, |reasons| {
                let list: Vec<String> = reasons.iter().map(|reason| reason.text().in_lang(lang).to_string()).collect();
                if list.is_empty() { none } else { list.join(", ") }
            });
        }
        if all || gpu.virtualization.as_ref().is_ok_and(|mode| *mode == crate::gpu::Virtualization::VGpu) {
            self.reading(("virtualised", "虚拟化"), &gpu.virtualization, |mode| mode.id().to_string());
        }
        if gpu.bar1.as_ref().is_ok_and(|bar1| bar1.total > 0 && bar1.used >= bar1.total / 10 * 9) || all {
            self.reading(("BAR1", "BAR1"), &gpu.bar1, |bar1| format!("{} / {}", Bytes(bar1.used), Bytes(bar1.total)));
        }
        if !all {
            return;
        }
        let sensors = &gpu.sensors;
        let percent = |percent: &u32| format!("{percent} %");
        self.reading(("utilisation", "利用率"), &gpu.utilization, percent);
        self.reading(("memory busy", "显存读写"), &sensors.memory_busy, percent);
        self.reading(("temperature", "温度"), &sensors.temperature, |degrees| format!("{degrees} °C"));
        self.reading(("fan", "风扇"), &sensors.fan, percent);
        let of = |most: &Reading<u32>, unit: &str, parts: f64| match most {
            Ok(most) => format!(" / {:.0} {unit}", f64::from(*most) / parts),
            Err(_) => format!(" {unit}"),
        };
        let (watts, mhz) = (of(&sensors.power_limit, "W", 1e3), of(&sensors.clock_most, "MHz", 1.0));
        self.reading(("power", "功耗"), &sensors.power, |power| format!("{:.0}{watts}", f64::from(*power) / 1e3));
        self.reading(("clock", "频率"), &sensors.clock, |clock| format!("{clock}{mhz}"));
        self.reading(("memory clock", "显存频率"), &sensors.memory_clock, |clock| format!("{clock} MHz"));
        let unknown = self.pick("not available", "不可用");
        self.reading(("ECC", "ECC"), &gpu.ecc, |ecc| {
            let count = |count: &Reading<u64>| count.as_ref().map_or_else(|_| unknown.clone(), u64::to_string);
            let state = if ecc.enabled { "on" } else { "off" };
            format!("{state}, uncorrected {} / {}", count(&ecc.volatile_uncorrected), count(&ecc.aggregate_uncorrected))
        });
        self.reading(("remapped rows", "重映射行"), &gpu.remapped, |rows| {
            format!("{} + {}, pending {}, failed {}", rows.correctable, rows.uncorrectable, rows.pending, rows.failed)
        });
        self.reading(("MIG", "MIG"), &gpu.mig, |mig| if mig.enabled { "on".into() } else { "off".into() });
        self.reading(("persistence", "持久模式"), &gpu.persistence, bool::to_string);
        self.reading(("display", "显示输出"), &gpu.display, bool::to_string);
        self.reading(("addressing", "寻址模式"), &gpu.addressing, |mode| mode.id().to_string());
        self.reading(("NUMA node", "NUMA 节点"), &gpu.numa_node, u32::to_string);
        self.reading(("PCI", "PCI"), &gpu.pci, String::clone);
        self.reading(("device file", "设备文件"), &gpu.minor, |minor| format!("/dev/nvidia{minor}"));
    }

    fn others(&mut self, findings: &Findings) {
        for other in &findings.survey.others {
            self.screen.blank();
            self.screen.line(&[run(Tone::Strong, other.name.clone())]);
            let memory = match (&other.used, &other.total) {
                (Ok(used), Ok(total)) => {
                    let (used, total) = (Bytes(*used), Bytes(*total));
                    run(
                        Tone::Plain,
                        self.say(&crate::text!(en: "{used} of {total} in use", zh: "{total} 中已用 {used}")),
                    )
                }
                (Err(reason), _) | (_, Err(reason)) => self.missing(&reason.why),
            };
            self.line(("memory", "显存"), vec![memory]);
            let text = self.say(&other.maker.text());
            self.plain(("", ""), text);
        }
    }

    fn host(&mut self, findings: &Findings) {
        let host = &findings.survey.host;
        self.screen.blank();
        let head = self.pick("Host", "主机");
        self.screen.line(&[run(Tone::Strong, head)]);
        for warning in &findings.warnings {
            let text = self.say(&warning.text);
            let mark = if self.style.unicode { "→ " } else { "> " };
            let head = run(Tone::Strong, format!("  {mark}{}: ", warning.id));
            self.screen.paragraph(&[], 4, &[head, run(Tone::Plain, text)]);
        }
        self.host_memory(host);
        self.host_limits(host);
        let most = if self.style.verbose { usize::MAX } else { LARGEST };
        match &host.processes {
            Ok(list) => {
                for (at, process) in list.iter().take(most).enumerate() {
                    let (amount, kind) = match (&process.proportional, &process.resident) {
                        (Ok(bytes), _) => (Bytes(*bytes).to_string(), "PSS"),
                        (Err(_), Ok(bytes)) => (Bytes(*bytes).to_string(), "RSS"),
                        _ => continue,
                    };
                    let name = process.name.clone().unwrap_or_default();
                    let pinned = match process.pinned {
                        Ok(bytes) if bytes > 0 => {
                            let bytes = Bytes(bytes);
                            self.say(&crate::text!(en: ", {bytes} pinned", zh: "，锁页 {bytes}"))
                        }
                        _ => String::new(),
                    };
                    let text = format!(
                        "{amount:>11} {kind}{pinned}  pid {}  {name}{}",
                        process.pid,
                        self.surroundings(process)
                    );
                    self.plain(if at == 0 { ("largest", "占用最多") } else { ("", "") }, text);
                }
            }
            Err(reason) => {
                let text = self.missing(&reason.why);
                self.line(("largest", "占用最多"), vec![text]);
            }
        }
        if self.style.verbose || host.kernel.as_ref().is_ok_and(|log| !log.xids.is_empty()) {
            let lang = self.style.lang;
            let none = self.pick("no Xid report", "没有 Xid 报告");
            self.reading(("kernel's log", "内核日志"), &host.kernel, |log| match log.xids.last() {
                Some(xid) => format!("Xid {} ({}): {}", xid.number, xid.pci, xid.meaning().in_lang(lang)),
                None => none,
            });
        }
    }

    fn host_memory(&mut self, host: &Host) {
        let memory = match &host.memory {
            Ok(memory) => memory,
            Err(reason) => {
                let text = self.missing(&reason.why);
                return self.line(("RAM", "内存"), vec![text]);
            }
        };
        let total = Bytes(memory.total);
        let text = match &memory.available {
            Ok(available) => {
                let available = Bytes(*available);
                self.say(&crate::text!(en: "{available} available of {total}", zh: "共 {total}，可用 {available}"))
            }
            Err(_) => total.to_string(),
        };
        self.plain(("RAM", "内存"), text);
        if let (Ok(total), Ok(free)) = (&memory.swap_total, &memory.swap_free) {
            let text = if *total == 0 {
                self.pick("none", "无")
            } else {
                let (used, total) = (Bytes(total.saturating_sub(*free)), Bytes(*total));
                self.say(&crate::text!(en: "{used} of {total} in use", zh: "{total} 中已用 {used}"))
            };
            self.plain(("swap", "交换空间"), text);
        }
        if self.style.verbose || memory.overcommit == Ok(Overcommit::Never) {
            self.reading(("overcommit", "内存超配"), &memory.overcommit, |mode| mode.id().to_string());
            self.reading(("promised", "已承诺"), &memory.committed, |bytes| Bytes(*bytes).to_string());
            self.reading(("commit limit", "承诺上限"), &memory.commit_limit, |bytes| Bytes(*bytes).to_string());
        }
        if self.style.verbose {
            self.reading(("file cache", "文件缓存"), &memory.file_cache, |bytes| Bytes(*bytes).to_string());
            self.reading(("shared", "共享内存"), &memory.shared, |bytes| Bytes(*bytes).to_string());
            self.reading(("page-locked", "锁页内存"), &memory.locked, |bytes| Bytes(*bytes).to_string());
            self.reading(("pressure", "内存压力"), &host.pressure, |pressure| {
                format!("some {:.2} %, full {:.2} % (60 s)", pressure.some.minute, pressure.full.minute)
            });
        }
    }

    fn host_limits(&mut self, host: &Host) {
        match &host.groups {
            Ok(groups) => {
                let text = match groups.tightest() {
                    Some((group, limit, held)) => {
                        let (held, limit, path) = (Bytes(held), Bytes(limit), &group.path);
                        let mut text = self.say(&crate::text!(
                            en: "{held} of {limit} held ({path})",
                            zh: "上限 {limit}，占用 {held}（{path}）"
                        ));
                        if let Ok(peak) = group.peak {
                            let peak = Bytes(peak);
                            text += &self.say(&crate::text!(en: ", at most {peak} so far", zh: "，峰值 {peak}"));
                        }
                        text
                    }
                    None => self.pick("no limit", "无限制"),
                };
                self.plain(("cgroup", "控制组"), text);
            }
            Err(reason) => {
                let text = self.missing(&reason.why);
                self.line(("cgroup", "控制组"), vec![text]);
            }
        }
        match &host.shm {
            Ok(shm) => {
                let size = Bytes(shm.size);
                match &shm.used {
                    Ok(used) => {
                        let used = Bytes(*used);
                        let text = crate::text!(en: "{used} of {size} in use", zh: "{size} 中已用 {used}");
                        let text = self.say(&text);
                        self.plain(("/dev/shm", "/dev/shm"), text);
                    }
                    Err(reason) => {
                        let missing = self.missing(&reason.why);
                        let used = self.pick(", used ", "，用量");
                        self.line(("/dev/shm", "/dev/shm"), vec![run(Tone::Plain, format!("{size}{used}")), missing]);
                    }
                }
            }
            Err(reason) => {
                let text = self.missing(&reason.why);
                self.line(("/dev/shm", "/dev/shm"), vec![text]);
            }
        }
    }
}
