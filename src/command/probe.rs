//! `oomdoc probe`: what the GPUs and the memory of this machine look like now.

use super::{probe_cuda, reproduce};
use crate::cli::{GpuName, ProbeFormat, ProbeOptions};
use crate::gpu::attribution::{self, Attribution, Surroundings};
use crate::gpu::nvml::Library;
use crate::gpu::platform::{self, Degraded};
use crate::gpu::trial;
use crate::gpu::verdict::{self, Judgement};
use crate::gpu::visibility::{Mapping, Visibility};
use crate::gpu::{Driver, Gpu, Source, Survey, amd, nvidia_smi};
use crate::host::{Host, Root, processes, warnings};
use crate::reading::{Unavailable, unavailable};
use crate::report::probe::{self as report, Findings};
use crate::report::view::{to_json, to_json_line};
use crate::system::{Noted, Signal};
use crate::text::Text;
use anyhow::{Context, bail};
use std::io::{IsTerminal, Read, Write};
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// There is no GPU or driver to read.
const NOTHING_TO_READ: u8 = 3;

/// A GPU is in use by others, and the user has not allowed to go on.
const REFUSED: u8 = 4;

/// Between the samples that tell whether unexplained memory stays.
const BETWEEN_SAMPLES: Duration = Duration::from_millis(100);

/// Further samples where memory is unexplained.
const SAMPLES: usize = 3;

/// `nvidia-smi` hangs where the driver does.
const NVIDIA_SMI_PATIENCE: Duration = Duration::from_secs(10);

/// So long a reading may still take once `--watch` is to end.
const LAST_READING: Duration = Duration::from_secs(2);

/// 128 + SIGINT, where the last reading never came.
const INTERRUPTED: i32 = 130;

/// A saved output is a few kilobytes; a log that holds one may be larger.
const LARGEST_TABLE: u64 = 64 << 20;

/// Reads and prints. The exit code: 0 readings were taken, 1 something of `--fail-on` was found, 3 nothing to read,
/// 4 refused because a GPU is in use.
///
/// # Errors
/// When a GPU that was asked for does not exist, a file cannot be read, or standard output cannot be written.
pub fn run(options: &ProbeOptions) -> anyhow::Result<u8> {
    match options.watch {
        Some(seconds) => watch(options, Duration::from_secs_f64(seconds)),
        None => {
            let findings = findings(options)?;
            super::print(&rendered(&findings, options), &options.output)?;
            Ok(exit_code(&findings, options))
        }
    }
}

fn rendered(findings: &Findings, options: &ProbeOptions) -> String {
    let style = options.output.style;
    match options.format {
        ProbeFormat::Json => to_json(&report::json::document(findings, style.lang)),
        ProbeFormat::Jsonl => to_json_line(&report::json::document(findings, style.lang)),
        ProbeFormat::Prometheus => report::prometheus::render(findings),
        ProbeFormat::Terminal => report::terminal::render(findings, style),
        ProbeFormat::Markdown => report::markdown::render(findings, style.lang),
    }
}

fn exit_code(findings: &Findings, options: &ProbeOptions) -> u8 {
    let found = findings
        .verdicts
        .iter()
        .flatten()
        .map(|verdict| verdict.id)
        .filter(|id| *id != verdict::FITS_NOW)
        .chain(findings.warnings.iter().map(|warning| warning.id));
    let asked = |id: &str| options.fail_on.iter().any(|wanted| wanted == id || wanted == "any");
    let mut parts = findings.cuda.iter().flatten().chain(&findings.cuda_alone);
    let cuda_answered = findings.cuda_alone.as_ref().is_some_and(probe_cuda::answered);
    if parts.any(probe_cuda::is_refused) {
        REFUSED
    } else if findings.survey.gpus.is_empty() && findings.survey.others.is_empty() && !cuda_answered {
        NOTHING_TO_READ
    } else {
        u8::from(found.into_iter().any(asked))
    }
}

/// Takes all readings and judges them.
fn findings(options: &ProbeOptions) -> anyhow::Result<Findings> {
    let survey = survey(options)?;
    let mapping = Mapping::of(&survey.visibility, &survey.gpus);
    let mut shown = shown(&survey, options)?;
    let warnings = if options.from.is_some() { Vec::new() } else { warnings::warnings(&survey.host) };
    let reproduction =
        options.cuda.reproduce.as_ref().map(|source| reproduce::read(source, options.output.style.lang)).transpose()?;
    let mut cuda = Vec::new();
    for gpu in &mut shown {
        let asked = || probe_cuda::of(gpu, &survey, &mapping, &options.cuda, reproduction.as_ref(), &options.root);
        let probed = options.cuda.context.then(asked);
        if let (Some(kept_back), Ok(memory)) = (probed.as_ref().and_then(|probed| probed.kept_back), &gpu.memory) {
            gpu.cuda_free = Ok(memory.free.saturating_sub(kept_back));
        }
        cuda.push(probed.map(|probed| probed.part));
    }
    let verdicts: Vec<Vec<Judgement>> =
        shown.iter().map(|gpu| verdict::verdicts(gpu, &survey, &mapping, options.question)).collect();
    let cuda_alone = (options.cuda.context && survey.gpus.is_empty())
        .then(|| probe_cuda::alone(&options.cuda, reproduction.as_ref()));
    Ok(Findings { shown, verdicts, cuda, cuda_alone, reproduction, warnings, mapping, survey })
}

/// The GPUs that were asked for.
fn shown(survey: &Survey, options: &ProbeOptions) -> anyhow::Result<Vec<Gpu>> {
    let Some(names) = &options.gpus else { return Ok(survey.gpus.clone()) };
    let mut out: Vec<Gpu> = Vec::new();
    for name in names {
        let gpu = survey.gpus.iter().find(|gpu| match name {
            GpuName::Index(index) => gpu.index == *index,
            GpuName::Uuid(start) => gpu.uuid.as_ref().is_ok_and(|uuid| uuid.starts_with(start.as_str())),
        });
        match gpu {
            Some(gpu) if out.iter().any(|known| known.index == gpu.index) => {}
            Some(gpu) => out.push(gpu.clone()),
            // Without any GPU the report says why; a name that fits none of several is a mistake.
            None if survey.gpus.is_empty() => {}
            None => {
                let name = match name {
                    GpuName::Index(index) => index.to_string(),
                    GpuName::Uuid(uuid) => uuid.clone(),
                };
                let count = survey.gpus.len();
                let text = crate::text!(
                    en: "there is no GPU '{name}' among the {count} that were found; `oomdoc probe` lists them",
                    zh: "找到的 {count} 个 GPU 中没有 '{name}'；`oomdoc probe` 可列出全部"
                );
                bail!("{}", text.in_lang(options.output.style.lang));
            }
        }
    }
    Ok(out)
}

fn survey(options: &ProbeOptions) -> anyhow::Result<Survey> {
    let root = &options.root;
    let host_pids = processes::numbers_are_the_hosts(root);
    let mut survey = Survey {
        source: Source::None,
        driver: unread_driver(),
        gpus: Vec::new(),
        degraded: None,
        others: Vec::new(),
        host: Host::read(root),
        visibility: Visibility::of_environment(),
        holders: unavailable("not looked for", "未查询"),
        host_pids,
        notes: Vec::new(),
    };
    if let Some(path) = &options.from {
        let mut text = Vec::new();
        std::fs::File::open(path)
            .and_then(|file| file.take(LARGEST_TABLE).read_to_end(&mut text))
            .with_context(|| path.display().to_string())?;
        let text = String::from_utf8_lossy(&text);
        let told = nvidia_smi::saved(&text);
        if told.gpus.is_empty() {
            let path = path.display();
            if let Some(why) = nvidia_smi::why_none(&text) {
                let why = Text::new(format!("{path}: {}", why.en), format!("{path}：{}", why.zh));
                bail!("{}", why.in_lang(options.output.style.lang));
            }
            let text =
                crate::text!(en: "{path} holds no table of GPUs that is known", zh: "{path} 中没有已知的 GPU 表格");
            bail!("{}", text.in_lang(options.output.style.lang));
        }
        survey.source = Source::File(path.display().to_string());
        survey.visibility = Visibility::default();
        (survey.gpus, survey.driver) = (told.gpus, told.driver);
        attribute(&mut survey, root, None);
        survey.notes = platform::notes(root, &survey.gpus, true, options.question.pid);
        return Ok(survey);
    }

    // Once is enough: a driver that fails later on fails a reading that nobody waits for in vain, see `watch`.
    static TRIED: OnceLock<()> = OnceLock::new();
    let trial = if TRIED.get().is_some() { Ok(None) } else { trial::go_first().map(Some) };
    let library = trial.and_then(|trial| {
        let library = Library::open(root)?;
        let gpus = library.gpus()?;
        drop(trial);
        let _ = TRIED.set(());
        Ok((library, gpus))
    });
    let library = match library {
        Ok((library, gpus)) => {
            survey.source = Source::Nvml;
            survey.driver = library.driver();
            survey.gpus = gpus;
            Some(library)
        }
        Err(degraded) => {
            survey.degraded = Some(degraded);
            // It calls the same driver.
            if degraded != Degraded::Hangs
                && let Some(told) = ask_nvidia_smi()
            {
                survey.source = Source::NvidiaSmi;
                (survey.gpus, survey.driver) = (told.gpus, told.driver);
            }
            None
        }
    };
    survey.others = amd::read(root);
    if !survey.gpus.is_empty() {
        survey.holders = if host_pids {
            processes::holders(root)
        } else {
            unavailable(
                "this is a container: only its own processes can be looked at",
                "当前在容器中：只能查看容器自己的进程",
            )
        };
        name_processes(&mut survey, root);
        attribute(&mut survey, root, library.as_ref());
    }
    survey.notes = platform::notes(root, &survey.gpus, host_pids, options.question.pid);
    Ok(survey)
}

fn unread_driver() -> Driver {
    let no = || unavailable("no driver answered", "没有驱动应答");
    Driver { version: no(), nvml: no(), cuda: no() }
}

/// Puts names to process ids where `/proc` numbers processes as the driver does.
fn name_processes(survey: &mut Survey, root: &Root) {
    let host_pids = survey.host_pids;
    for process in survey.gpus.iter_mut().filter_map(|gpu| gpu.processes.as_mut().ok()).flatten() {
        if !host_pids {
            let outside = Unavailable::from(Text::new(
                "a process of the host, outside this container or numbered differently in it",
                "宿主机的进程号：位于此容器之外，或在容器内编号不同",
            ));
            process.process = Err(outside.clone());
            process.visible_devices = Err(outside);
            continue;
        }
        process.process = processes::Process::read(root, process.pid);
        process.visible_devices = processes::environment(root, process.pid, "CUDA_VISIBLE_DEVICES");
        process.mps_limit =
            processes::environment(root, process.pid, "CUDA_MPS_PINNED_DEVICE_MEM_LIMIT").ok().flatten();
    }
}

/// Says of each GPU's memory what no process explains; where that is much, it is sampled again.
fn attribute(survey: &mut Survey, root: &Root, library: Option<&Library>) {
    let mut samples: Vec<Vec<i128>> = survey
        .gpus
        .iter()
        .map(|gpu| match (&gpu.memory, &gpu.processes) {
            (Ok(memory), Ok(processes)) => attribution::sample(memory, processes).into_iter().collect(),
            _ => Vec::new(),
        })
        .collect();
    let suspicious = |samples: &Vec<i128>| samples.iter().any(|left| *left >= i128::from(attribution::ROUNDING));
    if let Some(library) = library
        && samples.iter().any(suspicious)
    {
        for _ in 0..SAMPLES {
            std::thread::sleep(BETWEEN_SAMPLES);
            for (gpu, samples) in survey.gpus.iter().zip(&mut samples).filter(|(_, samples)| suspicious(samples)) {
                if let Some((memory, processes)) = library.again(gpu.index)
                    && let Ok(sample) = attribution::sample(&memory, &processes)
                {
                    samples.push(sample);
                }
            }
        }
    }
    let around = Surroundings { host_pids: survey.host_pids, wsl: platform::is_wsl(root), holders: &survey.holders };
    let judged: Vec<_> =
        survey.gpus.iter().zip(samples).map(|(gpu, samples)| Attribution::of(gpu, samples, &around)).collect();
    for (gpu, attribution) in survey.gpus.iter_mut().zip(judged) {
        gpu.attribution = attribution;
    }
}

/// What `nvidia-smi` says, where it runs.
fn ask_nvidia_smi() -> Option<nvidia_smi::Told> {
    for columns in nvidia_smi::COLUMNS {
        let query = format!("--query-gpu={columns}");
        let Some(text) = output_of(&[&query, "--format=csv,noheader,nounits"])? else { continue };
        let mut told = nvidia_smi::csv(&text, columns);
        if told.gpus.is_empty() {
            continue;
        }
        let query = format!("--query-compute-apps={}", nvidia_smi::PROCESS_COLUMNS);
        if let Some(Some(list)) = output_of(&[&query, "--format=csv,noheader,nounits"]) {
            nvidia_smi::add_processes(&mut told, &list);
        }
        return Some(told);
    }
    let text = output_of(&[])??;
    let told = nvidia_smi::saved(&text);
    (!told.gpus.is_empty()).then_some(told)
}

/// The standard output of `nvidia-smi`; inner `None` where it failed, outer `None` where there is none or it hangs.
fn output_of(arguments: &[&str]) -> Option<Option<String>> {
    let mut child = Command::new("nvidia-smi")
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    let stdout = child.stdout.take()?;
    let reader = std::thread::spawn(move || {
        let mut text = Vec::new();
        let _ = stdout.take(LARGEST_TABLE).read_to_end(&mut text);
        String::from_utf8_lossy(&text).into_owned()
    });
    let started = Instant::now();
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Some(reader.join().ok().filter(|_| status.success())),
            Ok(None) if started.elapsed() < NVIDIA_SMI_PATIENCE => std::thread::sleep(Duration::from_millis(5)),
            _ => {
                let _ = child.kill();
                let _ = child.wait();
                return None;
            }
        }
    }
}

/// Reads again and again until it is interrupted: a table redrawn in place on a terminal, else a line per reading.
fn watch(options: &ProbeOptions, every: Duration) -> anyhow::Result<u8> {
    let noted = Noted::from_now_on(&[Signal::Interrupt, Signal::Terminate])?;
    // A driver that hangs in the middle of a reading must not keep it from ending.
    let asked = noted.flag();
    std::thread::spawn(move || {
        while !asked.load(Ordering::Relaxed) {
            std::thread::sleep(Duration::from_millis(100));
        }
        std::thread::sleep(LAST_READING);
        std::process::exit(INTERRUPTED);
    });
    let in_place = std::io::stdout().is_terminal() && options.format == ProbeFormat::Terminal;
    let mut height = 0;
    let mut code = 0;
    while !noted.came() {
        let started = Instant::now();
        let findings = findings(options)?;
        code = code.max(exit_code(&findings, options));
        let style = options.output.style;
        let text = match options.format {
            ProbeFormat::Json | ProbeFormat::Jsonl => to_json_line(&report::json::document(&findings, style.lang)),
            ProbeFormat::Prometheus => report::prometheus::render(&findings),
            _ if in_place => {
                let screen = report::watch::screen(&findings, started_at(), style);
                // Up to the first line of before, and everything below is cleared.
                if height > 0 {
                    let mut stdout = std::io::stdout().lock();
                    write!(stdout, "\x1b[{height}A\x1b[J")?;
                }
                height = screen.lines().count();
                screen
            }
            _ => report::watch::line(&findings, started_at(), style.lang),
        };
        if !written(&text, options)? || (findings.survey.gpus.is_empty() && findings.survey.others.is_empty()) {
            break;
        }
        while started.elapsed() < every && !noted.came() {
            std::thread::sleep(Duration::from_millis(20).min(every.saturating_sub(started.elapsed())));
        }
    }
    Ok(code)
}

/// Seconds since 1970.
fn started_at() -> u64 {
    std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

/// False where the reader has gone away, so that there is nobody to go on for.
fn written(text: &str, options: &ProbeOptions) -> anyhow::Result<bool> {
    let text = crate::privacy::leaving(text, options.output.style.redact);
    let mut stdout = anstream::AutoStream::new(std::io::stdout().lock(), options.output.color);
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(false),
        Err(error) => Err(error.into()),
    }
}
