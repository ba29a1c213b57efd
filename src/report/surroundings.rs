//! Every known value of an incident's context, with its name in JSON, its label and its line.

use super::wording;
use crate::allocator::config::{self, Remark};
use crate::allocator::version::Version;
use crate::evidence::Known;
use crate::incident::Context;
use crate::incident::context::Platform;
use crate::text::Text;
use crate::units::{Bytes, Figure};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Serialize, Serializer};
use serde_json::Value;
use std::borrow::Cow;

/// One known value.
pub struct Row {
    /// The key in JSON.
    pub key: &'static str,
    pub label: Text,
    pub value: Value,
    /// The value for people.
    pub shown: Text,
    /// Where it was read; `None` for a value that the user gave.
    pub line: Option<u64>,
}

/// Whoever goes through all values that can be known, in a fixed order. To describe their form is left to one that the
/// program itself never asks, so that it need not carry what writes schemas.
trait Visitor {
    fn add<T, V: Serialize + JsonSchema>(
        &mut self,
        key: &'static str,
        label: Text,
        known: &Known<T>,
        read: impl Fn(&T) -> (V, Text),
    );

    fn number(&mut self, key: &'static str, label: Text, known: &Known<u64>) {
        self.add(key, label, known, |n| (*n, Text::same(n.to_string())));
    }

    fn word(&mut self, key: &'static str, label: Text, known: &Known<String>) {
        self.add(key, label, known, |word| (word.clone(), Text::same(word.clone())));
    }

    fn flag(&mut self, key: &'static str, label: Text, known: &Known<bool>) {
        self.add(key, label, known, |flag| (*flag, if *flag { Text::new("yes", "是") } else { Text::new("no", "否") }));
    }

    fn figure(&mut self, key: &'static str, label: Text, known: &Known<Figure>) {
        self.add(key, label, known, |figure| (figure.bytes, Text::same(Bytes(figure.bytes).to_string())));
    }
}

impl Visitor for Vec<Row> {
    fn add<T, V: Serialize + JsonSchema>(
        &mut self,
        key: &'static str,
        label: Text,
        known: &Known<T>,
        read: impl Fn(&T) -> (V, Text),
    ) {
        if let Known::Seen(value, at) = known {
            let (value, shown) = read(value);
            let value = serde_json::to_value(value).unwrap_or_default();
            self.push(Row { key, label, value, shown, line: (!at.is_given()).then_some(at.first) });
        }
    }
}

/// The form of each value with its place.
struct Forms<'a> {
    generator: &'a mut SchemaGenerator,
    properties: serde_json::Map<String, Value>,
}

impl Visitor for Forms<'_> {
    fn add<T, V: Serialize + JsonSchema>(
        &mut self,
        key: &'static str,
        label: Text,
        _: &Known<T>,
        _: impl Fn(&T) -> (V, Text),
    ) {
        let mut schema = self.generator.subschema_for::<Setting<V>>();
        schema.insert("description".into(), label.en.into());
        self.properties.insert(key.into(), schema.into());
    }
}

/// What PyTorch makes of the allocator settings, where that is worth a word; at the line of the settings.
fn alloc_conf_remarks(context: &Context) -> Known<Vec<Remark>> {
    let Known::Seen(conf, at) = &context.alloc_conf else { return Known::default() };
    let version = context.torch_version.get().and_then(|version| Version::parse(version));
    let platform = match context.platform.get() {
        Some(Platform::Windows) => config::TorchPlatform::Windows,
        Some(Platform::Wsl) => config::TorchPlatform::Wsl,
        _ => config::TorchPlatform::Linux,
    };
    let remarks = config::remarks(conf, version, platform);
    if remarks.is_empty() { Known::default() } else { Known::Seen(remarks, *at) }
}

/// A value, and the line it was read from or that the user gave it.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "known_{V}")]
struct Setting<V> {
    value: V,
    /// 1-based line of the input.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    line: Option<u64>,
    /// True for a value that the user gave.
    #[serde(skip_serializing_if = "Option::is_none")]
    given: Option<bool>,
}

/// Things batched under another name.
#[derive(Debug, Serialize, JsonSchema)]
struct OtherBatch {
    name: String,
    count: u64,
}

/// What PyTorch makes of an option, in both languages.
#[derive(Debug, Serialize, JsonSchema)]
struct ConfRemark {
    /// Empty for the settings as a whole.
    option: String,
    /// PyTorch does not start with these settings.
    fatal: bool,
    en: String,
    zh: String,
}

/// The known values as an object of JSON.
#[derive(Debug)]
pub struct Settings(Vec<(&'static str, Setting<Value>)>);

impl Settings {
    pub fn of(context: &Context) -> Settings {
        let rows = rows(context).into_iter();
        let setting =
            |row: Row| Setting { value: row.value, line: row.line, given: row.line.is_none().then_some(true) };
        Settings(rows.map(|row| (row.key, setting(row))).collect())
    }
}

impl Serialize for Settings {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(key, setting)| (key, setting)))
    }
}

impl JsonSchema for Settings {
    fn schema_name() -> Cow<'static, str> {
        "Settings".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut forms = Forms { generator, properties: serde_json::Map::new() };
        all(&Context::default(), &mut forms);
        json_schema!({"type": "object", "properties": forms.properties})
    }
}

/// The known values in a fixed order.
pub fn rows(context: &Context) -> Vec<Row> {
    let mut rows = Vec::new();
    all(context, &mut rows);
    rows
}

fn all(context: &Context, rows: &mut impl Visitor) {
    rows.word("program", Text::new("program", "程序"), &context.program);
    rows.word("command", Text::new("command", "启动命令"), &context.command);
    rows.add("trainer", Text::new("trainer", "训练框架"), &context.trainer, |t| (*t, Text::same(t.name())));
    rows.word("model", Text::new("model", "模型"), &context.model);
    rows.add("parameters", Text::new("parameters", "参数量"), &context.parameters, |n| {
        let shown = if *n >= 1e9 { format!("{:.2}B", n / 1e9) } else { format!("{:.1}M", n / 1e6) };
        (*n, Text::same(shown))
    });
    rows.word("torch_version", Text::new("PyTorch", "PyTorch 版本"), &context.torch_version);
    rows.add("platform", Text::new("platform", "平台"), &context.platform, |p| {
        (*p, Text::same(wording::platform(*p)))
    });
    rows.flag("container", Text::new("container", "容器"), &context.container);

    rows.add("phase", Text::new("phase", "阶段"), &context.phase, |p| (*p, wording::phase(*p)));
    rows.number("epoch", Text::new("epoch", "epoch"), &context.epoch);
    rows.number("epochs", Text::new("epochs in all", "总 epoch 数"), &context.epochs);
    rows.number("step", Text::new("step", "步"), &context.step);
    rows.number("steps", Text::new("steps in all", "总步数"), &context.steps);

    rows.number("save_every", Text::new("steps between checkpoints", "检查点间隔步数"), &context.save_every);
    rows.number("evaluate_every", Text::new("steps between evaluations", "评估间隔步数"), &context.evaluate_every);

    rows.number("batch_size", Text::new("batch size", "批大小"), &context.batch_size);
    rows.number("eval_batch_size", Text::new("evaluation batch size", "评估批大小"), &context.eval_batch_size);
    rows.number("accumulation", Text::new("gradient accumulation", "梯度累积"), &context.accumulation);
    rows.number("sequence_length", Text::new("sequence length", "序列长度"), &context.sequence_length);
    rows.number("image_size", Text::new("image size", "图像尺寸"), &context.image_size);
    rows.add("other_batch", Text::new("batched otherwise", "其他批量"), &context.other_batch, |(name, n)| {
        (OtherBatch { name: name.clone(), count: *n }, Text::same(format!("{n} {name}")))
    });

    rows.number("workers", Text::new("loader workers", "加载进程数"), &context.workers);
    rows.number("prefetch", Text::new("prefetch factor", "预取系数"), &context.prefetch);
    rows.flag("pin_memory", Text::new("pinned memory", "锁页内存"), &context.pin_memory);
    rows.flag("persistent_workers", Text::new("persistent workers", "常驻加载进程"), &context.persistent_workers);
    rows.figure("sample_bytes", Text::new("size of a sample", "单样本大小"), &context.sample_size);
    rows.number("samples", Text::new("samples", "样本数"), &context.samples);
    rows.figure("cache_bytes", Text::new("sample cache", "样本缓存"), &context.cache_size);

    rows.number("world_size", Text::new("processes in all", "总进程数"), &context.world_size);
    rows.number("local_processes", Text::new("processes on this node", "本机进程数"), &context.local_processes);
    rows.add("rank", Text::new("rank", "rank"), &context.rank, |n| (*n, Text::same(n.to_string())));

    rows.add("precision", Text::new("precision", "精度"), &context.precision, |p| {
        (*p, Text::same(wording::precision(*p)))
    });
    rows.word("optimizer", Text::new("optimizer", "优化器"), &context.optimizer);
    rows.flag(
        "gradient_checkpointing",
        Text::new("gradient checkpointing", "激活重计算"),
        &context.gradient_checkpointing,
    );
    rows.word("attention", Text::new("attention", "注意力实现"), &context.attention);
    rows.flag("lora", Text::new("LoRA", "LoRA"), &context.lora);
    rows.flag("quantized", Text::new("quantized", "量化"), &context.quantized);
    rows.add("zero_stage", Text::new("ZeRO stage", "ZeRO 阶段"), &context.zero_stage, |n| {
        (*n, Text::same(n.to_string()))
    });
    rows.flag("fsdp", Text::new("FSDP", "FSDP"), &context.fsdp);
    rows.flag("cpu_offload", Text::new("CPU offload", "CPU 卸载"), &context.cpu_offload);
    rows.flag("compile", Text::new("compiled", "torch.compile"), &context.compile);

    rows.word("alloc_conf", Text::new("allocator settings", "分配器配置"), &context.alloc_conf);
    rows.add("alloc_conf_remarks", Text::new("about them", "配置说明"), &alloc_conf_remarks(context), |remarks| {
        let value = remarks.iter().map(|remark| ConfRemark {
            option: remark.option.clone(),
            fatal: remark.fatal,
            en: remark.text.en.clone(),
            zh: remark.text.zh.clone(),
        });
        let all = |pick: fn(&Remark) -> &str| remarks.iter().map(pick).collect::<Vec<_>>().join("; ");
        (value.collect::<Vec<_>>(), Text::new(all(|remark| &remark.text.en), all(|remark| &remark.text.zh)))
    });
    rows.word("visible_devices", Text::new("visible devices", "可见设备"), &context.visible_devices);
    rows.figure("memory_limit_bytes", Text::new("memory limit of the job", "作业内存限额"), &context.memory_limit);
    rows.figure(
        "announced_need_bytes",
        Text::new("memory that the program said it needs, at least", "程序自称至少需要的内存"),
        &context.announced_need,
    );
    rows.figure(
        "announced_free_bytes",
        Text::new("memory that the program then found free, at least", "程序当时发现的空闲内存（至少）"),
        &context.announced_free,
    );
    rows.figure("host_total_bytes", Text::new("RAM of the machine", "主机内存"), &context.host_total);
}
