//! Settings of the run: what a line says about batch, workers, precision, sharding, limits and versions.

use super::keys::{self, Stated};
use super::option::{Quantity, Spelled};
use super::pairs::{Pair, entry, pairs};
use super::{Context, Platform, Precision};
use crate::evidence::{Known, Span};
use crate::units::{Base, Figure, size};
use regex::{Regex, bytes};
use std::sync::LazyLock;

/// One setting as a line states it.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Setting {
    Batch(u64),
    /// Per process, told apart from a total by its name.
    MicroBatch(u64),
    /// `train_batch_size`: per process in most scripts, the total in DeepSpeed.
    TrainBatch(u64),
    /// Over all processes and accumulation steps.
    TotalBatch(u64),
    EvalBatch(u64),
    OtherBatch(String, u64),
    Accumulation(u64),
    Sequence(u64),
    Image(u64),
    Workers(u64),
    /// What nothing is computed from, but a change is written with.
    Other(Quantity, u64),
    Prefetch(u64),
    PinMemory(bool),
    PersistentWorkers(bool),
    SampleSize(Figure),
    Samples(u64),
    CacheSize(Figure),
    World(u64),
    Local(u64),
    /// Devices that one launcher splits a total batch over.
    Devices(u64),
    Rank(u32),
    Epochs(u64),
    Steps(u64),
    /// Steps from one checkpoint to the next.
    SaveEvery(u64),
    /// Steps from one evaluation to the next.
    EvaluateEvery(u64),
    Precision(Precision),
    Optimizer(String),
    Checkpointing(bool),
    Attention(String),
    Lora(bool),
    Quantized(bool),
    Zero(u8),
    Fsdp(bool),
    Offload(bool),
    Compile(bool),
    Model(String),
    Parameters(f64),
    AllocConf(String),
    Visible(String),
    /// `device: cuda:3`.
    Meant(u32),
    MemoryLimit(Figure),
    /// `ulimit -v`: a limit on addresses, and none of a control group's.
    AddressLimit(Figure),
    OwnLimit(Figure),
    /// Slurm's `--mem-per-cpu`, to be multiplied by the CPUs of a task.
    MemoryPerCpu(Figure),
    CpusPerTask(u64),
    /// What the program itself says it will need of the machine's memory, and what it found free.
    AnnouncedNeed(Figure, Option<Figure>),
    HostTotal(Figure),
    /// The same, computed from a use and its share.
    HostTotalByShare(Figure),
    DeviceTotal(Figure),
    TorchVersion(String),
    Platform(Platform),
    Container,
}

/// Pairs of one line that are looked at; an argument dump has a few hundred.
const PAIRS_AT_MOST: usize = 1024;

/// How much a statement counts against another one of the same thing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Source {
    /// Told in words.
    Words,
    /// A key with its value, in a dump or in code.
    Dump,
    /// An option of the launch command.
    Command,
}

/// The model that a command names outside an option: `vllm serve org/model-7B`.
pub(super) fn model_of_command(text: &str) -> Vec<Setting> {
    let mut found = Vec::new();
    let words = text.split_whitespace().take(400);
    let name = words.filter(|word| {
        !word.starts_with(['-', '/', '.'])
            && word.split('/').count() == 2
            && (!word.contains(['=', ':', '.', '\'', '"']) || parameters_in_name(word).is_some())
    });
    if let Some(name) = name.clone().find(|word| parameters_in_name(word).is_some()) {
        model(name, true, &mut found);
    }
    found
}

/// What a message about memory that ran out says of the sample it failed on, `… on sequence abc of length 917`, or of
/// the module that it failed in.
pub(super) fn of_message(text: &str) -> Option<Setting> {
    // What PyTorch warns of in the state of a module that is spread over ranks.
    if text.contains("/distributed/fsdp/") || text.contains("_fsdp_wrapped_module") {
        return Some(Setting::Fsdp(true));
    }
    let (before, after) = text.split_once(" of length ")?;
    let digits = after.bytes().take_while(u8::is_ascii_digit).count();
    before.contains("sequence").then(|| whole(&after[..digits]))?.map(Setting::Sequence)
}

/// Reads every setting that a line states, and how it is spelled. `command` tells that the line belongs to a launch
/// command.
pub(super) fn read(text: &str, line: u64, command: bool) -> Vec<(Setting, Source, Option<Spelled>)> {
    // Optuna's study tells of trials that are over with what they were given.
    if text.contains("Trial ") && text.contains(" finished with value") {
        return Vec::new();
    }
    let at = Span::line(line);
    let source = if command { Source::Command } else { Source::Dump };
    let mut all = Vec::new();
    let mut found = Vec::new();
    for pair in pairs(text).chain(entry(text)).take(PAIRS_AT_MOST) {
        keys::read(&Stated { text, pair, key: &normal(pair.key), at, command }, &mut found);
        all.extend(found.drain(..).map(|setting| {
            let spelled = Spelled::of(text, &pair, &setting, source);
            (setting, source, spelled)
        }));
    }
    phrases(text, at, &mut found);
    all.extend(found.into_iter().map(|setting| (setting, Source::Words, None)));
    all
}

/// The last component of a dotted or slashed key, in lower case with underscores.
pub(super) fn normal(key: &str) -> String {
    let last = key.rsplit(['.', '/']).next().unwrap_or(key);
    last.to_ascii_lowercase().replace('-', "_")
}

fn push<T>(found: &mut Vec<Setting>, value: Option<T>, make: impl FnOnce(T) -> Setting) {
    if let Some(value) = value {
        found.push(make(value));
    }
}

/// More than this is a total of a simulator or a count of something else.
pub(super) fn plausible_batch(count: &u64) -> bool {
    (1..=1_000_000).contains(count)
}

/// `batch=64 (16 per GPU)`, `batch=64` (每个 GPU ~16).
pub(super) fn per_device_remark(rest: &str) -> Option<u64> {
    let head: String = rest.chars().take(48).collect();
    let lower = head.to_lowercase();
    if let Some(after) = ["每个 gpu", "每个gpu", "每卡", "per gpu", "per-gpu", "each gpu", "per device"]
        .iter()
        .find_map(|word| lower.find(word).map(|i| &lower[i + word.len()..]))
    {
        let digits: String = after
            .chars()
            .skip_while(|c| matches!(c, ' ' | '~' | '≈' | ':' | '=' | '：'))
            .take_while(char::is_ascii_digit)
            .collect();
        return digits.parse().ok().filter(plausible_batch);
    }
    None
}

/// True for `Batch: 12` as a counter: followed by another pair that only progress lines have.
pub(super) fn numbered(text: &str, pair: &Pair<'_>) -> bool {
    let lower = text.to_ascii_lowercase();
    pair.key.starts_with('B') && (lower.contains("loss") || lower.contains("epoch"))
}

/// `export X=`, `X=y python`, `os.environ["X"] =`, `docker -e X=`: what stands before the name makes it a setting
/// rather than a word in a sentence.
pub(super) fn sets_environment(before: &str) -> bool {
    let before = before.trim_end_matches(['\'', '"', '(', '[']).trim_end();
    let last = before.rsplit([' ', '\t']).next().unwrap_or("");
    before.is_empty()
        || matches!(last, "export" | "-e" | "--env" | "$" | "env" | "ENV" | "$env:" | "#" | "+" | "declare" | "-x")
        || last.ends_with("environ")
        || last.ends_with("environ.setdefault")
        || last.ends_with("setenv")
        || last.ends_with("putenv")
        || before.trim() == "set"
        || last.ends_with(">set")
        || last.contains('=') && !last.starts_with("--")
}

/// A whole number, with thousands separators or a `.0`.
pub(super) fn whole(text: &str) -> Option<u64> {
    let text = text.trim().trim_end_matches("L");
    let text = text.strip_suffix(".0").unwrap_or(text);
    if text.is_empty() || text.len() > 20 || !text.bytes().all(|b| b.is_ascii_digit() || b == b',' || b == b'_') {
        return None;
    }
    text.replace([',', '_'], "").parse().ok()
}

/// The largest number of `640`, `[512, 768]`, `512x768`.
pub(super) fn largest(text: &str) -> Option<u64> {
    if text.contains('.') {
        return None;
    }
    text.split(|c: char| !c.is_ascii_digit()).filter_map(|part| part.parse().ok()).max()
}

pub(super) fn truth(text: &str) -> Option<bool> {
    match text.to_ascii_lowercase().as_str() {
        "true" | "yes" | "on" | "1" => Some(true),
        "false" | "no" | "off" | "0" | "none" | "null" => Some(false),
        _ => None,
    }
}

pub(super) fn word(text: &str) -> Option<String> {
    let plain = !text.is_empty() && text.len() <= 60 && text.bytes().all(|b| b.is_ascii_graphic());
    (plain && !matches!(text.to_ascii_lowercase().as_str(), "none" | "null" | "true" | "false" | "auto"))
        .then(|| text.to_string())
}

pub(super) fn precision(value: &str) -> Option<Precision> {
    let value = value.to_ascii_lowercase();
    let value = value.trim_start_matches("torch.").trim_start_matches("jnp.");
    Some(match value {
        "bf16" | "bfloat16" | "bf16-true" | "bf16-mixed" | "pure_bf16" => Precision::Bf16,
        "fp16" | "float16" | "16" | "16-true" | "16-mixed" | "half" | "f16" => Precision::Fp16,
        "fp32" | "float32" | "32" | "32-true" | "float" => Precision::Fp32,
        "int8" => Precision::Int8,
        "int4" | "nf4" => Precision::Int4,
        "fp8" => Precision::Fp8,
        _ => return None,
    })
}

pub(super) fn optimizer(value: &str) -> Option<String> {
    let name = value.split('(').next().unwrap_or("").rsplit('.').next().unwrap_or("");
    let lower = name.to_ascii_lowercase();
    let known =
        ["adam", "sgd", "lion", "adafactor", "lamb", "rmsprop", "muon", "paged_", "adagrad", "sophia", "galore"];
    let plain = name.len() <= 40 && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-');
    (plain && known.iter().any(|word| lower.contains(word))).then(|| name.to_string())
}

pub(super) fn model(value: &str, sure: bool, found: &mut Vec<Setting>) {
    let name = value.trim_matches(['\'', '"', '`']);
    let plain = name.len() >= 2 && name.len() <= 200 && name.bytes().all(|b| b.is_ascii_graphic());
    if !plain || !name.bytes().any(|b| b.is_ascii_alphabetic()) || name.contains(['(', '{', '$', '<', '=']) {
        return;
    }
    if matches!(name.to_ascii_lowercase().as_str(), "none" | "null" | "true" | "false" | "model" | "auto" | "str") {
        return;
    }
    let parameters = parameters_in_name(name);
    if sure || parameters.is_some() {
        found.push(Setting::Model(name.to_string()));
        push(found, parameters, Setting::Parameters);
        let lower = name.to_ascii_lowercase();
        if ["-awq", "-gptq", "bnb-4bit", "-4bit", "-int4", "-int8", "-8bit"].iter().any(|word| lower.contains(word)) {
            found.push(Setting::Quantized(true));
        }
    }
}

// Of bytes: what isn't of a class of letters is a hundred states where it is a character, and one where it is a byte.
static PARAMETERS_IN_NAME: LazyLock<Option<bytes::Regex>> =
    LazyLock::new(|| bytes::Regex::new(r"(?-u)(?:^|[-_/ ])([0-9.]+)([bBmM])(?:[^0-9A-Za-z]|$)").ok());

/// `7B` in `vicuna-7b-v1.3`, `0.5B` in `Qwen2-0.5B`. A mixture (`8x7B`) names its experts, not its total.
fn parameters_in_name(name: &str) -> Option<f64> {
    PARAMETERS_IN_NAME.as_ref()?.captures_iter(name.as_bytes()).find_map(|found| {
        let number: f64 = name.get(found.get(1)?.range())?.trim_matches('.').parse().ok()?;
        let unit = if found[2].eq_ignore_ascii_case(b"b") { 1e9 } else { 1e6 };
        (number > 0.0 && number < 5000.0).then_some(number * unit)
    })
}

/// `ds_z3_offload.json`, `zero2.json`, `deepspeed_stage_3`.
pub(super) fn deepspeed_file(value: &str, found: &mut Vec<Setting>) {
    let lower = value.to_ascii_lowercase();
    for (stage, names) in [
        (3, ["zero3", "z3", "stage_3", "stage3"]),
        (2, ["zero2", "z2", "stage_2", "stage2"]),
        (1, ["zero1", "z1", "stage_1", "stage1"]),
    ] {
        if names.iter().any(|name| lower.contains(name)) {
            found.push(Setting::Zero(stage));
            break;
        }
    }
    if lower.contains("offload") {
        found.push(Setting::Offload(true));
    }
}

/// The digits and commas that a value begins with: unquoted lists end at the first comma elsewhere.
pub(super) fn unquoted_list<'a>(pair: &Pair<'a>) -> &'a str {
    let end = pair.rest.bytes().take_while(|b| b.is_ascii_digit() || *b == b',').count();
    pair.rest.get(..end).unwrap_or("").trim_end_matches(',')
}

/// How many devices a list or count names: `0,1,2` and `[0, 1, 2]` name three, `4` names none.
pub(super) fn listed_devices(value: &str) -> Option<u64> {
    let inner = value.trim_matches(['[', ']', '\'', '"']);
    let all = inner
        .split(',')
        .map(str::trim)
        .all(|part| !part.is_empty() && part.len() <= 3 && part.bytes().all(|b| b.is_ascii_digit()));
    (all && (inner.contains(',') || value.starts_with('['))).then(|| inner.split(',').count() as u64)
}

static SIZED: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r#"(?-u)^(?:[ '"~]|≈|约)*([0-9.,]*) ?([A-Za-z]*)"#).ok());

/// A number with a unit behind it, perhaps after a space; `default` is the unit of a bare number.
pub(super) fn sized(text: &str, default: Option<&str>, at: Span) -> Option<Figure> {
    let found = SIZED.as_ref()?.captures(text)?;
    // `MemoryPeak=1230970882024-10-02`: another writer's date right behind it.
    let behind = text[found.get(0)?.end()..].strip_prefix('-');
    if found[2].is_empty() && behind.is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit())) {
        return None;
    }
    let unit = Some(&found[2]).filter(|unit| !unit.is_empty() && crate::units::unit(unit, Base::Binary).is_some());
    size(found[1].trim_end_matches([',', '.']), unit.or(default)?, Base::Binary).map(|size| size.at(at))
}

/// Slurm's sizes, which are whole numbers alone: with a mark in it, one was cut or written for people.
pub(super) fn slurm_size(rest: &str, at: Span) -> Option<Figure> {
    let word = rest.split_whitespace().next()?.trim_end_matches([',', ';', ')', ']']);
    crate::dialect::slurm::size(word).filter(|bytes| *bytes > 0).map(|bytes| Figure { bytes, half_width: 0, at })
}

/// A size that was set rather than measured is not rounded.
pub(super) fn exact(figure: Figure) -> Figure {
    Figure { half_width: 0, ..figure }
}

pub(super) fn version(value: &str) -> Option<String> {
    let value = value.trim_start_matches('v');
    let digits = value.bytes().take_while(|b| b.is_ascii_digit() || *b == b'.').count();
    let dots = value[..digits].bytes().filter(|b| *b == b'.').count();
    let plausible = matches!(value.as_bytes().first(), Some(b'0' | b'1' | b'2'));
    (plausible && (1..=2).contains(&dots)).then(|| value.trim_end_matches([',', ')', ';']).to_string())
}

/// `36 MB per image`, `每个样本 36 MB`.
static EACH_SAMPLE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?i-u)(?:per|each|every) (?:sample|image|frame|example|record)|每(?:个|张|条|帧|段)?(?:样本|图像|图片|帧|数据)",
    )
    .ok()
});

/// `数据集共 12,000 个样本`.
static DATASET: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"(?:数据集|样本|共)[^0-9]{0,12}([0-9][0-9,]{0,18}) ?(?:个|张|条|帧|段|幅)").ok());

/// A batch among the settings that a line lists: `patch size 16, batch 1, 256 features`. Beside a step or a loss it
/// would be a count.
fn listed_batch(text: &str) -> Option<u64> {
    let lower = text.to_ascii_lowercase();
    if ["epoch", "step", "iter", "loss", "acc", "pass "].iter().any(|word| lower.contains(word)) {
        return None;
    }
    let mut items = lower.split(", ").skip(1);
    items.find_map(|item| whole(item.trim_end_matches([',', '.']).strip_prefix("batch ")?))
}

/// Statements in words.
fn phrases(text: &str, at: Span, found: &mut Vec<Setting>) {
    let number_after = |phrase: &str| -> Option<u64> {
        let after = text.find(phrase).map(|i| &text[i + phrase.len()..])?;
        let after = after.trim_start_matches([' ', '=', ':', '~']);
        let digits = after.bytes().take_while(|b| b.is_ascii_digit() || *b == b',').count();
        whole(after[..digits].trim_end_matches(','))
    };
    let lower = text.to_ascii_lowercase();
    // transformers' Trainer.
    push(found, number_after("Num examples ="), Setting::Samples);
    push(found, number_after("Num Epochs ="), Setting::Epochs);
    push(found, number_after("Instantaneous batch size per device ="), Setting::MicroBatch);
    // Unsloth's banner: `Batch size per device = 2`, `Total batch size = 8`, `Total batch size (2 x 4 x 1) = 8`.
    push(found, number_after("Batch size per device ="), Setting::MicroBatch);
    // kohya's sd-scripts name each setting in two languages.
    push(found, number_after("batch size per device / バッチサイズ:"), Setting::MicroBatch);
    if let Some((_, total)) = text.split_once("Total batch size").and_then(|(_, rest)| rest.split_once("= ")) {
        let digits = total.bytes().take_while(u8::is_ascii_digit).count();
        push(found, whole(&total[..digits]), Setting::TotalBatch);
    }
    push(found, number_after("Gradient Accumulation steps ="), Setting::Accumulation);
    push(found, number_after("accumulation) ="), Setting::TotalBatch);
    push(found, number_after("Total optimization steps ="), Setting::Steps);
    // torch.utils.data warns about more workers than cores.
    push(found, number_after("This DataLoader will create "), Setting::Workers);
    for phrase in ["batch size ", "Batch size ", "batch size: ", "Batch size: ", "batch size of "] {
        if let Some(count) = number_after(phrase).filter(plausible_batch)
            && !text.contains("per device")
            && !lower.contains("total batch size")
        {
            found.push(Setting::Batch(count));
            break;
        }
    }
    // "batch size 4 per device", with whatever it is one of.
    if let Some((before, _)) = ["per device", "per gpu", "per process"].iter().find_map(|each| lower.split_once(each))
        && let Some((_, count)) = before.rsplit_once("batch size")
    {
        let count = count.trim_matches([' ', '=', ':', '(']);
        push(found, whole(count).filter(plausible_batch), Setting::MicroBatch);
    }
    push(found, listed_batch(text).filter(plausible_batch), Setting::Batch);
    push(found, number_after("of length ").filter(|n| *n >= 8 && text.contains("sequence")), Setting::Sequence);
    if let Some((before, after)) =
        ["workers ×", "workers x ", "workers × ", "workers * "].iter().find_map(|phrase| text.split_once(phrase))
    {
        push(found, last_number(before).filter(|n| *n <= 4096), Setting::Workers);
        let after = after.trim_start();
        let digits = after.bytes().take_while(u8::is_ascii_digit).count();
        let what = after[digits..].trim_start().to_ascii_lowercase();
        if ["gpu", "proc", "rank", "进程"].iter().any(|word| what.starts_with(word)) {
            push(found, whole(&after[..digits]), Setting::Local);
        }
    } else if let Some((before, _)) = text.split_once(" workers")
        && !["died", "killed", "different", "dask", "ray", "terminated"].iter().any(|word| text.contains(word))
    {
        push(found, last_number(before).filter(|n| *n <= 4096), Setting::Workers);
    }
    // The forms are compiled for those that may hold them only.
    if ["per ", "each ", "every ", "每"].iter().any(|word| lower.contains(word))
        && EACH_SAMPLE.as_ref().is_some_and(|each| each.is_match(text))
        && let Some(figure) = last_size(text, at)
    {
        found.push(Setting::SampleSize(figure));
    }
    if !text.is_ascii()
        && let Some(count) = DATASET.as_ref().and_then(|dataset| dataset.captures(text))
    {
        push(found, whole(&count[1]).filter(|n| *n > 1), Setting::Samples);
    }
    if text.contains("物理内存") || text.contains("total RAM") || text.contains("system RAM") {
        push(found, last_size(text, at), Setting::HostTotal);
    }
    parameters(text, found);
    zero_optimizer(text, found);
    push(found, number_after("Number of samples:").filter(|n| *n > 1), Setting::Samples);
    if let Some((_, after)) = text.split_once("image of size (") {
        let size = after.split(')').next().and_then(largest);
        push(found, size.filter(|n| (16..=65_536).contains(n)), Setting::Image);
    }
    // hashcat: `* Device #1: GeForce GTX 960M, 500/2002 MB allocatable, 5MCU`, what may be had at once and all, in MiB.
    if text.contains("* Device #")
        && let Some((before, after)) = text.split_once(" MB")
        && after.contains("MCU")
        && let Some((_, total)) = before.rsplit_once('/')
        && total.bytes().all(|byte| byte.is_ascii_digit())
    {
        push(found, sized(&format!("{total} MiB"), None, at), Setting::DeviceTotal);
    }
    // llama.cpp: of an Apple device, what is free at the start is what Metal lends at most.
    if let Some((_, after)) = text.split_once("using device Metal (")
        && let Some((_, free)) = after.rsplit_once(") - ")
        && free.trim_end().ends_with(" free")
        // It prints whole MiB: with a point in it, the number is another way of writing thousands.
        && free.split_whitespace().next().is_some_and(|number| number.bytes().all(|byte| byte.is_ascii_digit()))
    {
        push(found, sized(free, None, at).filter(|figure| figure.bytes > 0), Setting::DeviceTotal);
    }
    // A program that limits its own address space, as SPAdes does, says so at its start; its `Gb` are GiB.
    if let Some((_, after)) = text.split_once("Memory limit set to ") {
        push(found, sized(&after.replace("Gb", "GiB"), None, at), Setting::OwnLimit);
    }
    // `systemctl show -p MemoryMax`, in bytes, or a unit's own file.
    let of_a_unit = text
        .strip_prefix("MemoryMax=")
        .or_else(|| text.strip_prefix("MemoryLimit="))
        // `systemd-run --scope -p MemoryMax=8589934592 …`
        .or_else(|| text.split_once(" -p MemoryMax=").map(|(_, limit)| limit));
    if let Some(limit) = of_a_unit.filter(|limit| limit.starts_with(|c: char| c.is_ascii_digit())) {
        push(found, sized(limit, Some("B"), at).map(exact), Setting::MemoryLimit);
    }
    // `Host RAM: 8100MB (7.9GB) total, 1200MB (1.1GB) available`
    if let Some((before, after)) = text.split_once("RAM: ")
        && !before.ends_with(char::is_alphanumeric)
        && let Some((total, _)) = after.split_once(" total")
        && total.len() <= 24
    {
        push(found, sized(total, None, at), Setting::HostTotal);
    }
    push(found, announced_need(text, at), |(need, free)| Setting::AnnouncedNeed(need, free));
    if text.contains("CPU Virtual Memory:") {
        push(found, virtual_memory(text, at), Setting::HostTotalByShare);
    }
    if text.contains("DeepSpeedZeroOptimizer_Stage3") || text.contains("zero/stage3.py") {
        found.push(Setting::Zero(3));
    }
    let sharded =
        ["FullyShardedDataParallel", "fully_sharded_data_parallel", "_fsdp_wrapped_module", "save_fsdp_model"];
    if sharded.iter().any(|word| text.contains(word)) {
        found.push(Setting::Fsdp(true));
    }
    if text.contains("torch.compile(") {
        found.push(Setting::Compile(true));
    }
    if text.contains("gradient_checkpointing_enable()") {
        found.push(Setting::Checkpointing(true));
    }
    for name in ["torch.optim.", "optim."] {
        if let Some((_, after)) = text.split_once(name)
            && after.contains('(')
            && !after.contains(".py")
        {
            push(found, optimizer(after), Setting::Optimizer);
            break;
        }
    }
    // `torch 2.4.1+cu121`, `torch-2.1.0+cu118`.
    for name in ["torch ", "torch-", "PyTorch ", "torch version "] {
        if let Some((before, after)) = text.split_once(name)
            && !before.ends_with(|c: char| c.is_ascii_alphanumeric() || c == '/')
            && after.starts_with(|c: char| c.is_ascii_digit())
        {
            push(found, version(after.split([' ', ',', ')', '|']).next().unwrap_or("")), Setting::TorchVersion);
            break;
        }
    }
    // Typed, at whatever prompt.
    let typed = text.split_once("ulimit -v ").filter(|(lead, _)| {
        let lead = lead.trim_end();
        lead.is_empty() || lead.ends_with(['$', '#', '%', '>', ';', '(', '+']) || lead.ends_with("&&")
    });
    if let Some((_, limit)) = typed {
        push(found, sized(limit, Some("KB"), at).map(exact), Setting::AddressLimit);
    }
    // A unit's file, and xinetd's.
    let of_addresses = text
        .trim_start()
        .strip_prefix("LimitAS=")
        .or_else(|| text.trim_start().strip_prefix("rlimit_as").and_then(|rest| rest.trim_start().strip_prefix('=')));
    if let Some(limit) =
        of_addresses.map(str::trim_start).filter(|limit| limit.starts_with(|c: char| c.is_ascii_digit()))
    {
        push(found, sized(limit, Some("B"), at).map(exact), Setting::AddressLimit);
    }
    // `/proc/PID/limits`: the soft limit, the hard one, the unit.
    if let Some(after) = text.trim_start().strip_prefix("Max address space") {
        push(found, sized(after.trim_start(), Some("B"), at).map(exact), Setting::AddressLimit);
    }
    // `ulimit -a`: `virtual memory          (kbytes, -v) 4194304`
    if let Some((_, limit)) = text.split_once("(kbytes, -v)") {
        push(found, sized(limit.trim_start(), Some("KB"), at).map(exact), Setting::AddressLimit);
    }
    if (text.contains("docker run") || text.contains("podman run"))
        && let Some((_, after)) = text.split_once(" -m ")
    {
        push(found, sized(after, Some("B"), at).map(exact), Setting::MemoryLimit);
    }
    if text.contains("Limits:")
        && let Some((_, after)) = text.split_once("memory:")
    {
        push(found, kubernetes_size(after, at), Setting::MemoryLimit);
    }
}

/// DeepSpeed: `Creating fp16 ZeRO stage 2 optimizer`, `Creating torch.bfloat16 ZeRO stage 3 optimizer`.
fn zero_optimizer(text: &str, found: &mut Vec<Setting>) {
    let Some((name, after)) = text.split_once("Creating ").and_then(|(_, rest)| rest.split_once(" ZeRO stage ")) else {
        return;
    };
    push(found, precision(name), Setting::Precision);
    let stage = after.split([' ', '_']).next().unwrap_or("");
    push(found, stage.parse().ok().filter(|stage| *stage <= 3), Setting::Zero);
}

/// The RAM of a machine of which an amount and its share are in use, as DeepSpeed prints both:
/// `CPU Virtual Memory:  used = 207.41 GB, percent = 41.2%`.
fn virtual_memory(text: &str, at: Span) -> Option<Figure> {
    let (_, used) = text.split_once("used = ")?;
    let used = sized(used, None, at)?;
    let percent = text.split_once("percent = ")?.1.split('%').next()?;
    let share = percent.trim().parse::<f64>().ok().filter(|share| (5.0..=100.0).contains(share))?;
    let total = used.bytes as f64 / share * 100.0;
    // Both are rounded, the share to a tenth of a percent.
    let half_width = total * (0.05 / share + used.half_width as f64 / used.bytes.max(1) as f64);
    Some(Figure { bytes: total as u64, half_width: half_width as u64, ..used })
}

/// A Kubernetes quantity: `4Gi` is binary, `4G` decimal.
pub(super) fn kubernetes_size(text: &str, at: Span) -> Option<Figure> {
    let text = text.trim();
    let end = text.find(|c: char| !(c.is_ascii_alphanumeric() || c == '.')).unwrap_or(text.len());
    // `8,192Mi` is no 8 bytes.
    let whole = !text[end..].starts_with([',', '\'', '_']);
    let size = crate::units::parse(&text[..end], Base::Decimal).filter(|size| whole && size.bytes > 0)?;
    Some(exact(size.at(at)))
}

/// `trainable params: 4,194,304 || all params: 6,742,609,920`, `124.4M parameters`, `Number of parameters: 1234`.
fn parameters(text: &str, found: &mut Vec<Setting>) {
    let lower = text.to_ascii_lowercase();
    if !lower.contains("param") || lower.contains("hyperparam") {
        return;
    }
    if lower.contains("trainable params:") && lower.contains("all params:") {
        let all = count_after(&lower, "all params:");
        push(found, all, Setting::Parameters);
        let trainable =
            lower.split_once("trainable params:").and_then(|(_, after)| counted(after.split_whitespace().next()?));
        if let (Some(all), Some(trainable)) = (all, trainable) {
            // peft prints this line; most of the parameters are frozen where adapters are trained.
            found.push(Setting::Lora(trainable < 0.5 * all));
        }
        return;
    }
    // `167,772,160 out of 7,415,795,712 parameters are finetuned (2.26%)`
    if let Some((part, rest)) = lower.split_once(" out of ")
        && rest.contains("parameters are ")
        && let (Some(part), Some(all)) =
            (part.rsplit(' ').next().and_then(counted), rest.split_whitespace().next().and_then(counted))
    {
        found.push(Setting::Parameters(all));
        found.push(Setting::Lora(part < 0.5 * all));
        return;
    }
    for phrase in [
        "param count",
        "number of parameters",
        "total params",
        "total parameters",
        "num_parameters",
        "model parameters",
    ] {
        if let Some(count) = count_after(&lower, phrase) {
            found.push(Setting::Parameters(count));
            return;
        }
    }
    for phrase in [" parameters", " params"] {
        if let Some(i) = lower.find(phrase) {
            let head = lower[..i].trim_end();
            let mut words = head.rsplit([' ', '(', ':', '=']);
            // `1.87 B parameters` sets the unit off.
            let count = match words.next().unwrap_or("") {
                unit @ ("b" | "m") => words.next().and_then(|number| counted(&format!("{number}{unit}"))),
                word => counted(word),
            };
            if let Some(count) = count.filter(|n| *n >= 1e5) {
                found.push(Setting::Parameters(count));
                return;
            }
        }
    }
}

fn count_after(lower: &str, phrase: &str) -> Option<f64> {
    let after = &lower[lower.find(phrase)? + phrase.len()..];
    let after = after.trim_start_matches([' ', ':', '=', '~', '(', ')', '*']);
    let word = after.split([' ', '|', ')', ';']).next()?;
    counted(word).filter(|n| *n >= 1e5)
}

static COUNTED: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"(?-u)^([0-9][0-9.,]*?)([bmk]?)[.,]*$").ok());

/// `124m`, `6.7b`, `124,439,808`, in lower case.
fn counted(word: &str) -> Option<f64> {
    let found = COUNTED.as_ref()?.captures(word)?;
    let unit = match &found[2] {
        "b" => 1e9,
        "m" => 1e6,
        "k" => 1e3,
        _ => 1.0,
    };
    found[1].replace(',', "").parse::<f64>().ok().map(|n| n * unit)
}

fn last_number(text: &str) -> Option<u64> {
    let text = text.trim_end_matches([' ', '*', '`']);
    let digits = text.bytes().rev().take_while(|b| b.is_ascii_digit() || *b == b',').count();
    whole(text[text.len() - digits..].trim_start_matches(','))
}

static SIZES: LazyLock<Option<bytes::Regex>> =
    LazyLock::new(|| bytes::Regex::new(r"(?-u)(?:^|[^0-9A-Za-z.,])([0-9][0-9.,]*) ?[A-Za-z]").ok());

/// What a program says that it will need of the machine's memory: `Estimated memory requirements : 24117 MB`, `not
/// enough memory to store the complete replay buffer 56.45GB > 12.88GB`. The lower of the two meanings that `GB` has.
fn announced_need(text: &str, at: Span) -> Option<(Figure, Option<Figure>)> {
    let lower = text.to_ascii_lowercase();
    if ["gpu", "vram", "cuda", "device", "disk"].iter().any(|other| lower.contains(other)) {
        return None;
    }
    const NEEDS: [&str; 5] =
        ["memory requirement", "memory required", "memory needed", "memory usage", "memory consumption"];
    let estimate = lower.contains("estimated") && NEEDS.iter().any(|words| lower.contains(words));
    let stores = lower.contains("enough memory to") && text.contains(" > ");
    if !(estimate || stores) {
        return None;
    }
    let sizes: Vec<Figure> = SIZES
        .as_ref()?
        .captures_iter(text.as_bytes())
        .filter_map(|found| sized(text.get(found.get(1)?.start()..)?, None, at))
        .collect();
    let least = |figure: &Figure| Figure { bytes: (figure.bytes as f64 * DECIMAL_OF_BINARY) as u64, ..*figure };
    match sizes.as_slice() {
        [need] if estimate => Some((least(need), None)),
        // Both in the one unit, whatever it means.
        [need, free] if stores && need.bytes > free.bytes => Some((least(need), Some(least(free)))),
        _ => None,
    }
}

/// 1000³ of 1024³.
const DECIMAL_OF_BINARY: f64 = 0.931_322_574_615_478_5;

/// The last number with a unit of memory in a line.
fn last_size(text: &str, at: Span) -> Option<Figure> {
    let sizes = SIZES.as_ref()?.captures_iter(text.as_bytes()).filter_map(|found| {
        let number = found.get(1)?;
        sized(text.get(number.start()..)?, None, at)
    });
    sizes.filter(|figure| figure.bytes > 1 << 10).last()
}

/// Values that follow from several statements together: batch sizes by their names, a limit per CPU.
#[derive(Debug, Default)]
pub(super) struct Parts {
    plain: Known<u64>,
    micro: Known<u64>,
    train: Known<u64>,
    total: Known<u64>,
    devices: Known<u64>,
    memory_per_cpu: Known<Figure>,
    cpus: Known<u64>,
}

/// Puts a setting where nothing is known yet.
pub(super) fn apply(context: &mut Context, parts: &mut Parts, setting: &Setting, at: Span) {
    match setting {
        Setting::Batch(n) => parts.plain.note(*n, at),
        Setting::MicroBatch(n) => parts.micro.note(*n, at),
        Setting::TrainBatch(n) => parts.train.note(*n, at),
        Setting::TotalBatch(n) => parts.total.note(*n, at),
        Setting::Devices(n) => parts.devices.note(*n, at),
        Setting::EvalBatch(n) => context.eval_batch_size.note(*n, at),
        Setting::OtherBatch(name, n) => context.other_batch.note((name.clone(), *n), at),
        Setting::Accumulation(n) => context.accumulation.note(*n, at),
        Setting::Sequence(n) => context.sequence_length.note(*n, at),
        Setting::Image(n) => context.image_size.note(*n, at),
        Setting::Workers(n) => context.workers.note(*n, at),
        Setting::Other(Quantity::Parallel, n) => context.parallel.note(*n, at),
        Setting::Other(..) => {}
        Setting::Prefetch(n) => context.prefetch.note(*n, at),
        Setting::PinMemory(on) => context.pin_memory.note(*on, at),
        Setting::PersistentWorkers(on) => context.persistent_workers.note(*on, at),
        Setting::SampleSize(figure) => context.sample_size.note(*figure, at),
        Setting::Samples(n) => context.samples.note(*n, at),
        Setting::CacheSize(figure) => context.cache_size.note(*figure, at),
        Setting::World(n) => context.world_size.note(*n, at),
        Setting::Local(n) => context.local_processes.note(*n, at),
        Setting::Rank(n) => context.rank.note(*n, at),
        Setting::Epochs(n) => context.epochs.note(*n, at),
        Setting::Steps(n) => context.steps.note(*n, at),
        Setting::SaveEvery(n) => context.save_every.note(*n, at),
        Setting::EvaluateEvery(n) => context.evaluate_every.note(*n, at),
        Setting::Precision(precision) => context.precision.note(*precision, at),
        Setting::Optimizer(name) => context.optimizer.note(name.clone(), at),
        Setting::Checkpointing(on) => context.gradient_checkpointing.note(*on, at),
        Setting::Attention(name) => context.attention.note(name.clone(), at),
        Setting::Lora(on) => context.lora.note(*on, at),
        Setting::Quantized(on) => context.quantized.note(*on, at),
        Setting::Zero(stage) => context.zero_stage.note(*stage, at),
        Setting::Fsdp(on) => context.fsdp.note(*on, at),
        Setting::Offload(on) => context.cpu_offload.note(*on, at),
        Setting::Compile(on) => context.compile.note(*on, at),
        Setting::Model(name) => context.model.note(name.clone(), at),
        // Of two counts that agree, the one that was not rounded.
        Setting::Parameters(n) => match context.parameters.value() {
            Some(told) if told % 1e6 == 0.0 && (told - n).abs() <= 0.01 * n => {
                context.parameters = Known::Seen(*n, at);
            }
            _ => context.parameters.note(*n, at),
        },
        Setting::AllocConf(value) => context.alloc_conf.note(value.clone(), at),
        Setting::Meant(device) => {
            context.meant_devices.entry(*device).or_insert(at);
        }
        Setting::Visible(value) => context.visible_devices.note(value.clone(), at),
        // Less is a number of which the rest was not read: `ulimit -v 6 291 456`.
        Setting::MemoryLimit(figure) | Setting::AddressLimit(figure) if figure.bytes < crate::units::MIB => {}
        Setting::MemoryLimit(figure) => context.memory_limit.note(*figure, at),
        Setting::AddressLimit(figure) => {
            context.memory_limit.note(*figure, at);
            context.address_limit.note(*figure, at);
        }
        Setting::OwnLimit(figure) => {
            context.memory_limit.note(*figure, at);
            context.own_limit.note(*figure, at);
        }
        Setting::MemoryPerCpu(figure) => parts.memory_per_cpu.note(*figure, at),
        Setting::CpusPerTask(n) => parts.cpus.note(*n, at),
        Setting::AnnouncedNeed(need, free) => {
            context.announced_need.note(*need, at);
            free.iter().for_each(|free| context.announced_free.note(*free, at));
        }
        Setting::HostTotal(figure) if figure.bytes < 8 * crate::units::MIB => {}
        Setting::HostTotal(figure) => context.host_total.note(*figure, at),
        Setting::HostTotalByShare(figure) => {
            context.host_total_is_computed |= !context.host_total.is_known();
            context.host_total.note(*figure, at);
        }
        Setting::DeviceTotal(figure) => context.device_total.note(*figure, at),
        Setting::TorchVersion(version) => context.torch_version.note(version.clone(), at),
        // Paths and programs within WSL are Linux's.
        Setting::Platform(Platform::Linux) if context.platform.value() == Some(Platform::Wsl) => {}
        // Folders that a Linux has are there on BSD as well.
        Setting::Platform(Platform::Bsd) if context.platform.value() == Some(Platform::Linux) => {
            context.platform = Known::Seen(Platform::Bsd, at);
        }
        Setting::Platform(platform) => context.platform.note(*platform, at),
        Setting::Container => context.container.note(true, at),
    }
}

impl Parts {
    /// The batch of one process, from what was stated. `total_is_plain` tells that the trainer's plain batch counts all
    /// devices.
    pub(super) fn settle(self, context: &mut Context, total_is_plain: bool, deepspeed: bool) {
        if let Known::Seen(n, at) = self.micro {
            context.batch_size.note(n, at);
        }
        if let Known::Seen(n, at) = self.plain {
            let devices = if total_is_plain { self.devices.value().unwrap_or(1).max(1) } else { 1 };
            context.batch_size.note(n.div_ceil(devices), at);
        }
        // DeepSpeed's own `train_batch_size` counts all processes and accumulation steps.
        if let Known::Seen(n, at) = self.train
            && !deepspeed
        {
            context.batch_size.note(n, at);
        }
        if let Known::Seen(n, at) = self.devices {
            context.local_processes.note(n, at);
        }
        if let (Known::Seen(each, at), Some(cpus)) = (self.memory_per_cpu, self.cpus.value()) {
            let bytes = each.bytes.saturating_mul(cpus);
            context.memory_limit.note(Figure { bytes, ..each }, at);
        }
        // Trainer prints the total over processes and accumulation, so the number of processes follows.
        if let (Some(total), Some(each)) = (self.total.value(), context.batch_size.value())
            && let Some(per_process) = each.checked_mul(context.accumulation.value().unwrap_or(1)).filter(|n| *n > 0)
            && total % per_process == 0
            && let Some(at) = self.total.span()
        {
            context.world_size.note(total / per_process, at);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_line(text: &str) -> Vec<Setting> {
        read(text, 1, false).into_iter().map(|(setting, ..)| setting).collect()
    }

    #[test]
    fn unsloths_banner_tells_both_batches() {
        assert!(
            read_line("O^O/ \\_/ \\    Batch size per device = 2 | Gradient Accumulation steps = 4")
                .contains(&Setting::MicroBatch(2))
        );
        let total = read_line("-    Data Parallel GPUs = 1 | Total batch size (2 x 4 x 1) = 8");
        assert!(total.contains(&Setting::TotalBatch(8)), "{total:?}");
        assert!(!total.iter().any(|setting| matches!(setting, Setting::MicroBatch(_))), "{total:?}");
    }

    #[test]
    fn a_setting_named_in_two_languages_is_read() {
        assert!(read_line("  batch size per device / バッチサイズ: 1").contains(&Setting::MicroBatch(1)));
    }

    #[test]
    fn one_device_that_is_asked_for_by_number() {
        for line in ["      device: cuda:3", "device=\"cuda:3\"", "python train.py --device cuda:3"] {
            assert!(read_line(line).contains(&Setting::Meant(3)), "{line}: {:?}", read_line(line));
        }
        for line in [
            "device: cuda",
            "tensor([1., 2.], device='cuda:1')",
            "       device='cuda:1', grad_fn=<AddBackward0>)",
            "        device='cuda:1')",
            "model on device: cuda:1, vae on device: cuda:0",
            "worker 1 device: cuda:1",
        ] {
            assert!(!read_line(line).iter().any(|setting| matches!(setting, Setting::Meant(_))), "{line}");
        }
    }

    #[test]
    fn allocator_settings_count_only_where_they_are_set() {
        let set = Setting::AllocConf("expandable_segments:True,max_split_size_mb:128".into());
        assert!(
            read_line("export PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True,max_split_size_mb:128").contains(&set)
        );
        assert!(
            read_line("(env) D:\\\\work>set PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True,max_split_size_mb:128")
                .contains(&set)
        );
        assert!(
            read_line("os.environ['PYTORCH_CUDA_ALLOC_CONF'] = 'expandable_segments:True,max_split_size_mb:128'")
                .contains(&set)
        );
        let hint = "is large try setting PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True to avoid fragmentation.";
        assert_eq!(read_line(hint), []);
    }

    #[test]
    fn a_batch_in_a_list_of_settings_is_read_and_a_counter_is_not() {
        assert!(read_line("patch size 16, batch 1, base features 256").contains(&Setting::Batch(1)));
        assert!(read_line("width 512, batch 24").contains(&Setting::Batch(24)));
        // Paddle's passes over the data.
        assert!(read_line("Pass 0, batch 1").is_empty());
        assert_eq!(read_line("epoch 2, batch 1, loss 0.4"), []);
        assert_eq!(read_line("shard 3, batch 5 of 12"), []);
    }

    #[test]
    fn parameter_counts_in_names_and_words() {
        assert_eq!(parameters_in_name("lmsys/vicuna-7b-v1.3"), Some(7e9));
        assert_eq!(parameters_in_name("Qwen/Qwen2.5-0.5B-Instruct"), Some(0.5e9));
        assert_eq!(parameters_in_name("Mixtral-8x7B"), None);
        assert_eq!(parameters_in_name("llama-bnb-4bit"), None);
        assert!(read_line("model has 124.4M parameters").contains(&Setting::Parameters(124.4e6)));
        assert!(read_line("loaded base model in bfloat16, 1.87 B parameters").contains(&Setting::Parameters(1.87e9)));
        assert!(
            read_line("trainable params: 4,194,304 || all params: 6,742,609,920 || trainable%: 0.06")
                .contains(&Setting::Parameters(6_742_609_920.0))
        );
    }

    #[test]
    fn limits_have_their_own_units() {
        let limit = |text: &str| match read_line(text).as_slice() {
            [Setting::MemoryLimit(figure) | Setting::AddressLimit(figure)] => figure.bytes,
            other => panic!("{text}: {other:?}"),
        };
        assert_eq!(limit("#SBATCH --mem=48Gb"), 48 << 30);
        assert_eq!(limit("#SBATCH --mem 4000"), 4000 << 20);
        assert_eq!(limit("    Limits:      memory: 4Gi"), 4 << 30);
        assert_eq!(limit("ulimit -v 1048576"), 1 << 30);
    }
}
