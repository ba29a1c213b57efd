//! Reads what an answer is to rest on. The strongest that is given decides; weaker ones add what they can.

use super::{Why, rehearsal, rehearsed};
use crate::cli::{HeadroomOptions, HostOptions, ServingOptions};
use crate::command::progress::Progress;
use crate::command::replay;
use crate::dialect::{self, Fact};
use crate::estimate::architecture::{Architecture, Body};
use crate::estimate::configuration::{self, Part};
use crate::estimate::fit::{Counted, Fit, Point};
use crate::estimate::inference::{Serving, WeightWidth};
use crate::estimate::loader::Loader;
use crate::estimate::setup::{Attention, Precision, Quantised, Setup};
use crate::estimate::states::Optimizer;
use crate::estimate::surface::{Sample, Surface};
use crate::estimate::training::Training;
use crate::headroom::host::HostAnswer;
use crate::headroom::measurements::{self, Measurement};
use crate::headroom::model_file::{self, Weights};
use crate::headroom::{Basis, Curve, FailedBatch, TargetDevice};
use crate::host::{Host, Root};
use crate::incident;
use crate::input::{self, Repair, Source, TextKind};
use crate::rehearse::gpus::{self, Gpu};
use crate::snapshot::analysis;
use crate::snapshot::holders::Sites;
use crate::snapshot::predict;
use crate::snapshot::space::Rules;
use crate::text;
use crate::text::Text;
use crate::units::Interval;
use std::io::Read;
use std::path::Path;

/// What was found to go by.
pub struct Evidence {
    pub basis: Basis,
    pub curve: Curve,
    pub failures: Vec<FailedBatch>,
    /// What a description takes for granted.
    pub taken: Option<Text>,
    /// Whether a description was rehearsed, or why not.
    pub source: Option<Text>,
    /// The formulas beside a rehearsal, for what would change its answer.
    pub described: Option<Box<Training>>,
    /// What a rehearsal says is outside of PyTorch's count.
    outside: Option<Interval>,
    /// The GPU of a rehearsal, where the user names none.
    gpu: Option<(String, u64)>,
}

impl Evidence {
    fn of(basis: Basis, curve: Curve, failures: Vec<FailedBatch>) -> Evidence {
        Evidence { basis, curve, failures, taken: None, source: None, described: None, outside: None, gpu: None }
    }
}

fn source(path: &Path) -> Source {
    if path.as_os_str() == "-" { Source::Stdin } else { Source::File(path.to_path_buf()) }
}

fn read_text(path: &Path, kind: TextKind) -> Result<String, Why> {
    input::read_text(&source(path), kind).map_err(|error| Why::Read(error.into()))
}

/// An error of a file's content with the file's name.
fn of_file(path: &Path) -> impl Fn(Text) -> Why {
    let name = path.display().to_string();
    move |why| Why::Told(Text::new(format!("{name}: {}", why.en), format!("{name}：{}", why.zh)))
}

/// Collects everything; `None` where nothing was given.
pub fn collect(options: &HeadroomOptions) -> Result<Option<Evidence>, Why> {
    let given = &options.evidence;
    let mut points: Vec<Point> = Vec::new();
    let mut failures = Vec::new();
    let (mut outside, mut gpu) = (None, None);
    let mut basis = None;
    for path in &given.rehearsals {
        let read = rehearsal::read(&read_text(path, TextKind::Document)?, options.batch).map_err(of_file(path))?;
        points.extend(read.points);
        failures.extend(read.failures);
        outside = outside.or(read.outside);
        gpu = gpu.or(read.gpu);
        basis = Some(Basis::Rehearsal);
    }
    for (batch, path) in &given.snapshots {
        points.push(snapshot(*batch, path, options)?);
        basis = basis.or(Some(Basis::Snapshot));
    }
    let mut measured: Vec<Measurement> = Vec::new();
    for text in &given.measured {
        measured.push(measurements::pair(text)?);
    }
    for path in &given.measurement_files {
        measured.extend(measurements::file(&path.display().to_string(), &read_text(path, TextKind::Table)?)?);
    }
    let doubtful = measurements::contradiction(
        &measured,
        given.counted.or_else(|| measured.iter().find_map(|m| m.counted)).unwrap_or(Counted::Allocated),
    );
    if let Some(curve) = surface(&measured, options)?.filter(|_| doubtful.is_none()) {
        let evidence = Evidence::of(Basis::Measurements, curve, failures);
        return Ok(Some(Evidence { outside, gpu, ..evidence }));
    }
    // Figures that count different things make no curve: the user's word, else the first that says, decides.
    let said = given.counted.or_else(|| measured.iter().find_map(|measurement| measurement.counted));
    let counted = if points.is_empty() { said.unwrap_or(Counted::Allocated) } else { Counted::Allocated };
    if !measured.is_empty() && (points.is_empty() || said.is_none_or(|said| said == counted)) {
        // A batch that a rehearsal or a snapshot tells of needs no other word.
        let known: Vec<u64> = points.iter().map(|point| point.batch).collect();
        let of_kind = measured.iter().filter(|m| m.counted.is_none_or(|own| own == counted));
        points.extend(of_kind.map(|m| m.point).filter(|point| !known.contains(&point.batch)));
        basis = basis.or(Some(Basis::Measurements));
    }
    if let Some(path) = &given.log {
        failures.push(failure(path, options.batch)?);
    }
    let found = |basis, curve, failures| {
        Ok(Some(Evidence { outside, gpu: gpu.clone(), ..Evidence::of(basis, curve, failures) }))
    };
    if let Some(fit) = Fit::new(points, counted) {
        let curve = match doubtful.or_else(|| fit.contradiction()) {
            Some(why) => Curve::Contradicted(fit, why),
            None => Curve::Measured(fit),
        };
        return found(basis.unwrap_or(Basis::Measurements), curve, failures);
    }
    if let Some(serving) = &options.serving {
        if let Some(model) = model(options)? {
            let (serving, taken) = served(model, serving, options.text_only)?;
            let evidence = Evidence::of(Basis::Model, Curve::Served(Box::new(serving)), failures);
            return Ok(Some(Evidence { taken: Some(taken), ..evidence }));
        }
    } else if given.model.is_some() || given.parameters.is_some() {
        return of_description(options, failures).map(Some);
    }
    let Some(failure) = failures.iter().max_by_key(|failure| std::cmp::Reverse(failure.batch)).copied() else {
        return Ok(None);
    };
    found(Basis::Measurements, Curve::Failed(failure), failures)
}

/// The peaks of a model that is described and trained: rehearsed where that can be, and by formulas otherwise.
fn of_description(options: &HeadroomOptions, mut failures: Vec<FailedBatch>) -> Result<Evidence, Why> {
    let formulas = match model(options) {
        Ok(Some(model)) => Ok(described(options, model.architecture)?),
        Ok(None) => Err(Text::default()),
        // A model that formulas don't know may be known to transformers.
        Err(Why::Told(unknown)) if options.rehearsal.is_some() && names_a_type(options) => Err(unknown),
        Err(why) => return Err(why),
    };
    let source = if options.evidence.model.is_some() {
        match rehearsed::of(options, device(options, None)?.as_ref())? {
            rehearsed::Outcome::Peaks(read, source) => {
                failures.extend(read.failures);
                if let Some(fit) = Fit::new(read.points, Counted::Allocated) {
                    let (described, taken) = match formulas {
                        Ok((training, taken)) => (Some(Box::new(training)), taken),
                        Err(_) => (None, rehearsed::taken(options)),
                    };
                    let curve = match fit.contradiction() {
                        Some(why) => Curve::Contradicted(fit, why),
                        None => Curve::Measured(fit),
                    };
                    let evidence = Evidence::of(Basis::Rehearsal, curve, failures);
                    let (taken, source) = (Some(taken), Some(source));
                    return Ok(Evidence { taken, source, described, outside: read.outside, ..evidence });
                }
                None
            }
            rehearsed::Outcome::Nothing(why) => Some(why),
        }
    } else {
        None
    };
    let (training, taken) = formulas.map_err(|unknown| match &source {
        Some(why) => {
            Why::Told(Text::new(format!("{} ({})", unknown.en, why.en), format!("{}（{}）", unknown.zh, why.zh)))
        }
        None => Why::Told(unknown),
    })?;
    let evidence = Evidence::of(Basis::Model, Curve::Described(Box::new(training)), failures);
    Ok(Evidence { taken: Some(taken), source, ..evidence })
}

/// Whether the model's file is a configuration of transformers.
fn names_a_type(options: &HeadroomOptions) -> bool {
    let text = options.evidence.model.as_ref().and_then(|path| read_text(path, TextKind::Document).ok());
    let config: Option<serde_json::Value> = text.and_then(|text| serde_json::from_str(&text).ok());
    config.is_some_and(|config| config.get("model_type").is_some_and(serde_json::Value::is_string))
}

/// The curve of measurements that name their sequence; `None` where none does or all have the one asked about.
fn surface(measured: &[Measurement], options: &HeadroomOptions) -> Result<Option<Curve>, Why> {
    let samples: Vec<Sample> = measured
        .iter()
        .filter_map(|m| Some(Sample { batch: m.point.batch, sequence: m.sequence?, bytes: m.point.bytes }))
        .collect();
    let Some(first) = samples.first() else { return Ok(None) };
    let asked = options.training.sequence;
    let one_length = samples.iter().all(|sample| sample.sequence == first.sequence);
    if one_length && asked.is_none_or(|asked| asked == first.sequence) {
        return Ok(None);
    }
    let Some(sequence) = asked else {
        return Err(Text::new(
            "the peaks are of several sequence lengths: say with --seq which one is asked about",
            "峰值来自多种序列长度：请用 --seq 指明要问的长度",
        )
        .into());
    };
    Surface::fit(samples, sequence).map(|surface| Some(Curve::Surface(surface))).ok_or_else(|| {
        Text::new(
            "another sequence length than the measured one needs three peaks of at least two lengths, such as --measure 8x512=7.2GiB",
            "推算其他序列长度至少需要两种长度的三个峰值，例如 --measure 8x512=7.2GiB",
        )
        .into()
    })
}

/// The device asked about, or the one that was rehearsed on.
pub fn device(options: &HeadroomOptions, evidence: Option<&Evidence>) -> Result<Option<TargetDevice>, Why> {
    let given = &options.device;
    let rehearsed = evidence.and_then(|evidence| evidence.gpu.clone());
    let gpu = match (&given.gpu, given.memory, rehearsed) {
        (Some(name), memory, _) => Gpu::of(gpus::find(name).map_err(|error| error.text(name))?, memory),
        (None, Some(memory), _) => Gpu { name: String::new(), ..Gpu::of_size(memory) },
        (None, None, Some((name, memory))) => Gpu { name, ..Gpu::of_size(memory) },
        (None, None, None) => return Ok(None),
    };
    let kernels = gpus::libraries(None);
    // A rehearsal on another GPU still knows what its libraries take; the context of the GPU asked about is its own.
    let context = match (given.context, evidence.and_then(|evidence| evidence.outside)) {
        (Some(bytes), _) => Interval::exactly(bytes),
        (None, Some(outside)) if given.gpu.is_none() && given.memory.is_none() => outside,
        (None, Some(outside)) => {
            let own = gpu.context + kernels;
            Interval::between(own.low.min(outside.low), own.high.max(outside.high))
        }
        (None, None) => gpu.context + kernels,
    };
    Ok(Some(TargetDevice { capacity: gpu.capacity(), name: gpu.name, context, others: given.others }))
}

/// The peak of a snapshot, the highest over its devices.
fn snapshot(batch: u64, path: &Path, options: &HeadroomOptions) -> Result<Point, Why> {
    let source = source(path);
    let progress = Progress::new(std::slice::from_ref(&source));
    let lang = options.output.style.lang;
    let (snapshot, _) = replay::read(&source, &progress).map_err(|error| Why::Read(error.context_of(&source, lang)))?;
    drop(progress);
    let (config, version) = predict::recorded_settings(&snapshot, None);
    let round = predict::rounding(&config, version);
    let rules = Rules { round: &round, max_split: config.max_split_size.unwrap_or(u64::MAX) };
    let mut sites = Sites::new(&snapshot);
    let mut highest: Option<(u64, u64)> = None;
    for device in &snapshot.devices {
        let analysis = analysis::device(&snapshot, device, &mut sites, rules);
        let (Some(_), Some((active, _)), Some((reserved, _))) =
            (analysis.peak, analysis.peak_active, analysis.peak_reserved)
        else {
            continue;
        };
        if !analysis.ooms.is_empty() {
            return Err(of_file(path)(Text::new(
                "the run of this snapshot ran out of memory: its peak is not reached; give it as --log, or a snapshot of a smaller batch",
                "该快照对应的运行显存不足，峰值没有到达；请用 --log 给出日志，或提供较小批大小的快照",
            )));
        }
        highest = highest.max(Some((active, reserved)));
    }
    let Some((active, reserved)) = highest else {
        return Err(of_file(path)(Text::new(
            "the snapshot holds no history, only its end: record with torch.cuda.memory._record_memory_history()",
            "快照中没有历史，只有结束时的状态：请用 torch.cuda.memory._record_memory_history() 记录",
        )));
    };
    Ok(Point { batch, bytes: active as f64, reserved: Some(reserved as f64), on_floor: false })
}

/// The out-of-memory error of a log: which batch, and what it held and wanted.
fn failure(path: &Path, batch: Option<u64>) -> Result<FailedBatch, Why> {
    let document = dialect::reader().read(&source(path)).map_err(Why::Read)?;
    let (incidents, _) = incident::assemble(&document, dialect::events(&document));
    let incident = incidents.iter().find(|incident| incident.primary && incident.event.resource.on_device());
    let Some(incident) = incident else {
        let none = match document.repairs.contains(&Repair::GzipTruncated) {
            true => Text::new(
                "no out-of-memory error of a GPU in it as far as it goes: it is gzip that ends early",
                "读到断处为止没有 GPU 显存不足的报错：gzip 提前结束",
            ),
            false => Text::new("no out-of-memory error of a GPU in it", "其中没有 GPU 显存不足的报错"),
        };
        return Err(of_file(path)(none));
    };
    let facts = &incident.event.facts;
    let bytes = |fact| facts.get(fact).map(|figure| figure.bytes as f64);
    let held = bytes(Fact::Allocated).or_else(|| bytes(Fact::Reserved));
    let Some((held, wanted)) = held.zip(bytes(Fact::Requested)) else {
        return Err(of_file(path)(Text::new(
            "the error does not say how much was in use and asked for",
            "报错没有给出已用与请求的显存大小",
        )));
    };
    let Some(batch) = incident.context.batch_size.value().or(batch).filter(|batch| *batch > 0) else {
        return Err(of_file(path)(Text::new(
            "the log does not say which batch failed: give it with --batch",
            "日志没有说明失败时的批大小：请用 --batch 给出",
        )));
    };
    Ok(FailedBatch { batch, needed: held + wanted, capacity: facts.get(Fact::Capacity).map(|figure| figure.bytes) })
}

/// A model and, where a file of weights tells it, the bytes of its weights.
struct Model {
    architecture: Architecture,
    weights: Option<f64>,
}

fn model(options: &HeadroomOptions) -> Result<Option<Model>, Why> {
    let given = &options.evidence;
    let Some(path) = &given.model else {
        return Ok(given.parameters.map(|n| Model { architecture: Architecture::of_size(n), weights: None }));
    };
    let named = of_file(path);
    let part = if options.text_only { Part::Text } else { Part::Whole };
    let kind = path.extension().and_then(|end| end.to_str()).unwrap_or_default().to_ascii_lowercase();
    let weights: Weights = match kind.as_str() {
        "safetensors" => {
            let mut file = open(path)?;
            let mut first = [0; 8];
            file.read_exact(&mut first)
                .map_err(|_| named(Text::new("shorter than a safetensors header", "短于 safetensors 头部")))?;
            let length = model_file::safetensors_header(first).map_err(&named)?;
            let header = head(file, length, path)?;
            if (header.len() as u64) < length {
                let there = header.len() + first.len();
                return Err(named(text!(
                    en: "ends at byte {there}, within its header of {length} bytes: fetch or copy the file again",
                    zh: "在第 {there} 字节处、{length} 字节的头部之内结束：请重新获取或复制该文件"
                )));
            }
            model_file::safetensors(&header).map_err(&named)?
        }
        "gguf" => model_file::gguf(&head(open(path)?, model_file::LONGEST_HEADER, path)?).map_err(&named)?,
        _ => {
            let text = read_text(path, TextKind::Document)?;
            let config: serde_json::Value = serde_json::from_str(&text)
                .map_err(|error| named(text!(en: "not JSON: {error}", zh: "不是 JSON：{error}")))?;
            let architecture = configuration::read(&config, part).map_err(&named)?;
            return Ok(Some(Model { architecture, weights: None }));
        }
    };
    // The configuration usually lies beside the weights; it tells more than shapes do.
    let beside = path.with_file_name("config.json");
    let config = match &weights.config {
        _ if beside.is_file() => serde_json::from_str(&read_text(&beside, TextKind::Document)?).ok(),
        Some(config) => Some(config.clone()),
        None => None,
    };
    // `model-00001-of-00004.safetensors`.
    if config.is_none() && path.file_stem().is_some_and(|name| name.to_string_lossy().contains("-of-")) {
        return Err(named(Text::new(
            "one of several files: give the config.json of the model",
            "这是多个文件之一：请给出模型的 config.json",
        )));
    }
    let mut architecture = config
        .map(|config| configuration::read(&config, part).map_err(&named))
        .transpose()?
        .unwrap_or_else(|| Architecture::of_size(weights.parameters));
    // What is in the file is what is loaded; one file of several holds a part only.
    let whole = weights.parameters > 0.9 * architecture.parameters;
    if whole {
        architecture.parameters = weights.parameters;
    }
    Ok(Some(Model { architecture, weights: whole.then_some(weights.bytes) }))
}

fn open(path: &Path) -> Result<std::fs::File, Why> {
    std::fs::File::open(path).map_err(|error| of_file(path)(Text::same(error.to_string())))
}

/// At most so many bytes from where the file stands.
fn head(file: std::fs::File, length: u64, path: &Path) -> Result<Vec<u8>, Why> {
    let mut bytes = Vec::new();
    file.take(length).read_to_end(&mut bytes).map_err(|error| of_file(path)(Text::same(error.to_string())))?;
    Ok(bytes)
}

fn served(model: Model, options: &ServingOptions, text_only: bool) -> Result<(Serving, Text), Why> {
    let Model { architecture, weights } = model;
    let own = weights.map(|bytes| bytes / architecture.parameters.max(1.0));
    let context = options.context.or(architecture.max_positions.map(|n| n as u64)).unwrap_or(4096);
    let mut taken = Taken::default();
    taken.add(options.context.is_some(), text!(en: "requests of {context} tokens", zh: "每个请求 {context} 个 token"));
    taken.add(
        options.bits.is_some() || own.is_some() || architecture.stored.is_some(),
        match (options.bits, own, &architecture.stored) {
            (Some(bits), ..) => {
                text!(en: "layers in {bits} bit, the rest in up to 16", zh: "层内 {bits} 位，其余至多 16 位")
            }
            (None, Some(_), _) => Text::new("weights as in the file", "权重与文件一致"),
            (None, None, Some(stored)) => {
                let (method, bits) = (&stored.method, (stored.width * 80.0).round() / 10.0);
                text!(
                    en: "layers in {bits} bit as {method} stores them, the rest in 16",
                    zh: "层内按 {method} 存储为 {bits} 位，其余 16 位"
                )
            }
            (None, None, None) => Text::new("weights in 16 bit", "16 位权重"),
        },
    );
    let cache = options.cache_width * 8.0;
    taken.add(options.cache_width != 2.0, text!(en: "cache in {cache} bit", zh: "缓存 {cache} 位"));
    if text_only {
        taken.add(true, Text::new("the language model alone", "仅语言模型"));
    }
    let serving = Serving {
        width: match (options.bits, own, &architecture.stored) {
            (Some(bits), ..) => WeightWidth { in_layers: bits / 8.0, outside: (bits / 8.0, (bits / 8.0).max(2.0)) },
            (None, Some(own), _) => WeightWidth::of_all(own),
            (None, None, Some(stored)) => WeightWidth { in_layers: stored.width, outside: (2.0, 2.0) },
            (None, None, None) => WeightWidth::of_all(2.0),
        },
        cache_width: options.cache_width,
        context,
        model: architecture,
    };
    if !serving.is_generative() {
        return Err(Text::new(
            "--inference knows models that generate text; this one keeps no KV cache",
            "--inference 只适用于生成文本的模型；该模型没有 KV 缓存",
        )
        .into());
    }
    Ok((serving, taken.text()))
}

/// Tokens of a sample where nobody said: what usual recipes cut to. What a model was made for can be a hundred times as
/// much.
const USUAL_SEQUENCE: f64 = 2048.0;

/// The training that the options describe, and what was taken for granted where they do not say.
fn described(options: &HeadroomOptions, model: Architecture) -> Result<(Training, Text), Why> {
    let given = &options.training;
    if model.serves_only {
        let family = &model.family;
        return Err(text!(
            en: "what the layers of {family} keep for backward is not counted here: run the program with oomdoc \
                 rehearse, or measure one or two batches (--inference is counted)",
            zh: "这里不计算 {family} 的层为反向保留的显存：请用 oomdoc rehearse 运行程序，\
                 或实测一两个批大小（--inference 可计算）"
        )
        .into());
    }
    let mut lora = given.lora;
    if let Some(stored) = &model.stored {
        let width = (stored.width.min(1.0), stored.width);
        match &mut lora {
            Some(lora) => lora.quantised = lora.quantised.or(Some(Quantised { width, prepared: None })),
            None => {
                let method = &stored.method;
                return Err(text!(
                    en: "its weights are quantised by {method}, which nothing trains as they are: say --lora RANK, or \
                         give the configuration of the model that is not quantised",
                    zh: "其权重经 {method} 量化，无法直接训练：请用 --lora 指定秩，或给出未量化模型的配置"
                )
                .into());
            }
        }
    }
    if let Some(quantised) = lora.as_mut().and_then(|lora| lora.quantised.as_mut()) {
        quantised.prepared = given.prepared.or(quantised.prepared);
    }
    let mut taken = Taken::default();
    // Quantised weights are trained on in 16 bit; without them nothing tells, and 32 bit needs most.
    let otherwise = if lora.is_some_and(|lora| lora.quantised.is_some()) { Precision::Mixed } else { Precision::Fp32 };
    let mut precision = given.precision.unwrap_or(otherwise);
    // DeepSpeed keeps 32-bit master weights of 16-bit ones wherever it shards.
    let masters = matches!(given.stage, 1 | 2) && precision == Precision::Pure16 && lora.is_none();
    if masters {
        precision = Precision::MasterWeights;
    }
    let fixed = match &model.body {
        Body::Transformer(stack) => stack.quirks.fixed_tokens,
        Body::EncoderDecoder { .. } => None,
        Body::Convolutions(_) => Some(0.0),
    };
    let made_for = model.max_positions.unwrap_or(f64::INFINITY);
    let sequence = given.sequence.map_or(USUAL_SEQUENCE.min(made_for), |n| n as f64);
    if fixed.is_none() {
        taken.add(
            given.sequence.is_some(),
            text!(en: "{sequence} tokens a sample, padded to that", zh: "每个样本 {sequence} 个 token（补齐到该长度）"),
        );
    }
    taken.add(given.precision.is_some() && !masters, precision.text());
    let optimizer = given.optimizer.unwrap_or(Optimizer::Adam);
    taken.add(given.optimizer.is_some(), Text::same(optimizer.name()));
    if !matches!(model.body, Body::Convolutions(_)) {
        taken.add(given.attention.is_some(), given.attention.unwrap_or(Attention::Fused).text());
        if given.attention.is_none() && model.is_t5() {
            taken.add(
                true,
                Text::new("or written out, as older transformers do for T5", "或未融合：旧版 transformers 的 T5 如此"),
            );
        }
        taken.add(given.checkpointing, rehearsed::recomputes(given.checkpointing));
    } else {
        taken.add(true, Text::new("without cuDNN's larger workspaces", "不含 cuDNN 的大工作区"));
    }
    if let Some(quantised) = lora.and_then(|lora| lora.quantised) {
        taken.add(
            quantised.prepared.is_some(),
            match quantised.prepared {
                Some(false) => Text::new("embeddings and head in 16 bit", "嵌入与输出层为 16 位"),
                _ => Text::new(
                    "embeddings and head in 32 bit (prepare_model_for_kbit_training)",
                    "嵌入与输出层为 32 位（prepare_model_for_kbit_training）",
                ),
            },
        );
    }
    if options.text_only {
        taken.add(true, Text::new("the language model alone", "仅语言模型"));
    }
    let setup = Setup {
        precision,
        optimizer,
        fused: given.fused,
        lora,
        checkpointing: given.checkpointing,
        attention: given.attention.unwrap_or(Attention::Fused),
        attention_known: given.attention.is_some(),
        sequence,
        target_sequence: given.target_sequence.map_or(sequence, |n| n as f64),
        image: given.image.map(|side| side as f64),
        stage: given.stage,
        ranks: given.ranks.unwrap_or(1),
        accumulates: given.accumulation.is_some_and(|batches| batches > 1),
    };
    Ok((Training { setup, model }, taken.text()))
}

/// What an answer takes for granted, piece by piece.
#[derive(Default)]
pub struct Taken(Vec<Text>);

impl Taken {
    /// `given` tells what the user said from what was assumed.
    pub fn add(&mut self, given: bool, what: Text) {
        let marked = Text::new(format!("{} (assumed)", what.en), format!("{}（假设）", what.zh));
        self.0.push(if given { what } else { marked });
    }

    pub fn text(&self) -> Text {
        let joined = |of: fn(&Text) -> &str, with: &str| self.0.iter().map(of).collect::<Vec<_>>().join(with);
        Text::new(joined(|text| &text.en, ", "), joined(|text| &text.zh, "，"))
    }
}

/// The data loaders against the host's memory.
pub fn host(options: &HostOptions, batch: Option<u64>) -> Result<HostAnswer, Why> {
    let loader = Loader {
        processes: options.processes,
        workers: options.workers,
        prefetch: options.prefetch,
        batch: batch.unwrap_or(1),
        sample: Interval::exactly(options.sample),
        samples: options.samples,
        pinned: options.pinned,
        spawned: options.spawned,
        cache: options.cache,
    };
    let (limit, from) = match options.limit {
        Some(limit) => (limit, Text::new("given", "给定")),
        None => this_machine()?,
    };
    Ok(HostAnswer::new(loader, limit, from))
}

/// The tighter of this machine's memory and the limit of the group around this process.
fn this_machine() -> Result<(u64, Text), Why> {
    let host = Host::read(&Root::default());
    let total = host.memory.as_ref().ok().map(|memory| memory.total);
    let limit = host.groups.as_ref().ok().and_then(|groups| groups.tightest().map(|(_, limit, _)| limit));
    match (total, limit) {
        (Some(total), Some(limit)) if limit < total => Ok((limit, Text::new("limit of the container", "容器限制"))),
        (Some(total), _) => Ok((total, Text::new("this machine's memory", "本机内存"))),
        (None, Some(limit)) => Ok((limit, Text::new("limit of the container", "容器限制"))),
        (None, None) => Err(Text::new(
            "the memory of this machine cannot be read: give --host-memory",
            "无法读取本机内存：请用 --host-memory 给出",
        )
        .into()),
    }
}
