//! Which lines are worth reading closely: one automaton over the names of all settings ([`super::keys`]) and the
//! keywords of everything else tells the topics that a line touches.

use super::{keys, phrases};
use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};
use std::borrow::Cow;
use std::sync::LazyLock;

/// The line may hold settings.
pub(super) const SETTING: u8 = 1;
/// The line may tell an epoch, a step or a phase.
pub(super) const PROGRESS: u8 = 2;
/// The line may hold a reading of memory.
pub(super) const READING: u8 = 4;
/// The line may belong to a table of GPUs or of the machine's memory.
pub(super) const TABLES: u8 = 8;
/// The line may hold a clue or tell the trainer, platform or version.
pub(super) const CLUE: u8 = 16;
/// The line may turn statements into advice or back.
pub(super) const SECTION: u8 = 32;
/// The line is a message about memory that ran out: its figures and hints are no statements.
pub(super) const MESSAGE: u8 = 64;

/// The line may announce a phase.
pub(super) const PHASE: u8 = 128;

const KEYWORDS: &[(&str, u8)] = &[
    ("out of memory", MESSAGE),
    ("tried to allocate", MESSAGE),
    ("total capac", MESSAGE),
    ("by pytorch", MESSAGE),
    ("to avoid fragmentation", MESSAGE),
    ("batch", CLUE | PROGRESS),
    ("batch size", SETTING),
    (" workers", SETTING),
    ("workers ", SETTING),
    ("dataloader will create", SETTING),
    ("num examples", SETTING),
    ("num epochs", SETTING),
    ("accumulation", SETTING),
    ("total optimization steps", SETTING),
    ("of length ", SETTING),
    (" sample", SETTING),
    (" image", SETTING),
    (" frame", SETTING),
    (" example", SETTING),
    (" record", SETTING),
    ("每", SETTING),
    ("共", SETTING),
    ("样本", SETTING),
    ("数据集", SETTING),
    ("物理内存", SETTING),
    ("total ram", SETTING),
    ("system ram", SETTING),
    ("param", SETTING),
    ("zero/stage3", SETTING),
    ("zerooptimizer_stage3", SETTING),
    ("fullysharded", SETTING),
    ("fully_sharded", SETTING),
    ("fsdp", CLUE),
    ("torch.compile(", SETTING),
    ("gradient_checkpointing_enable", SETTING),
    ("optim.", SETTING),
    ("ulimit", SETTING),
    ("docker run", SETTING),
    ("podman run", SETTING),
    ("limits:", SETTING),
    ("global_rank", CLUE),
    ("memory:", READING | TABLES),
    ("mem:", READING | TABLES),
    ("system:", READING),
    ("cache", CLUE),
    ("caching", CLUE),
    ("tcmalloc", CLUE),
    ("缓存", CLUE),
    ("epoch", PROGRESS),
    ("torch", SETTING | CLUE),
    ("step", PROGRESS),
    ("iter", PROGRESS),
    ("%|", PROGRESS),
    ("[===", PROGRESS),
    ("valid", PROGRESS | PHASE),
    ("eval", PROGRESS | PHASE),
    ("mAP50", PROGRESS | PHASE),
    ("testing:", PROGRESS | PHASE),
    ("(val)", PROGRESS | PHASE),
    ("val:", PROGRESS | PHASE),
    ("[val]", PROGRESS | PHASE),
    ("decoding", PROGRESS | PHASE),
    ("vaedecode", PROGRESS | PHASE),
    ("save checkpoint", PROGRESS | PHASE),
    ("restor", PROGRESS | CLUE | PHASE),
    ("load weight", PROGRESS | PHASE),
    ("start train", PROGRESS | PHASE),
    ("starting", PROGRESS | PHASE),
    ("begin training", PROGRESS | PHASE),
    ("running", PROGRESS | PHASE),
    ("warming", PROGRESS | PHASE),
    ("compiling", PROGRESS | PHASE),
    ("torch.compile", PROGRESS | PHASE),
    ("autotuning", PROGRESS | PHASE),
    ("saving", PROGRESS | PHASE),
    ("loading", PROGRESS | CLUE | PHASE),
    ("resum", PROGRESS | CLUE | PHASE),
    ("sanity check", PROGRESS | PHASE | CLUE),
    ("running training", CLUE),
    ("predictions", PROGRESS | PHASE),
    ("perplexity", PROGRESS | PHASE),
    ("metrics", PROGRESS | PHASE),
    ("checkpoint", PROGRESS | CLUE | PHASE),
    ("state dict", PROGRESS | PHASE),
    ("full state", PROGRESS | PHASE),
    ("captur", PROGRESS | PHASE | CLUE),
    ("轮", PROGRESS),
    ("max mem", READING),
    ("memory", READING),
    ("mem_", READING),
    ("_mem", READING),
    ("gpu mem", READING),
    ("vram", READING | TABLES),
    ("alloc", READING),
    ("reserved", READING),
    ("rss", READING),
    ("process:", READING),
    ("mib /", TABLES),
    ("mib |", TABLES),
    (" mb |", TABLES),
    ("memory.used", TABLES),
    (" mib,", TABLES),
    (" mib", TABLES),
    ("query-gpu", TABLES),
    ("# gpu ", TABLES),
    ("fb memory usage", TABLES),
    ("gpu 0", TABLES),
    ("gpu: ", TABLES),
    ("device id", TABLES),
    ("gpu memory used", TABLES),
    ("physical size", TABLES),
    ("usage(mb)", TABLES),
    ("mem-usage", TABLES),
    ("mig devices", TABLES),
    ("nvidia-smi ", TABLES),
    ("buff", TABLES),
    ("free -", TABLES),
    ("$ free", TABLES),
    ("# free", TABLES),
    ("df -", TABLES),
    ("mounted on", TABLES),
    ("memtotal", TABLES),
    ("memfree", TABLES),
    ("memavail", TABLES),
    ("memory(bytes)", TABLES),
    ("mem usage", TABLES),
    ("capacity:", TABLES),
    ("no_grad", CLUE),
    ("learning_rate", CLUE),
    ("max_steps", CLUE),
    ("inference_mode", CLUE),
    ("empty_cache", CLUE),
    ("data_parallel", CLUE),
    ("dataparallel", CLUE),
    ("device-side assert", CLUE),
    ("assertion `", CLUE),
    ("indexselect", CLUE),
    ("skipping", CLUE),
    ("skipped", CLUE),
    ("retrying", CLUE),
    ("cuda graph", CLUE),
    ("cudagraph", CLUE),
    ("deepspeed", CLUE),
    ("transformers", CLUE),
    ("trainingarguments", CLUE),
    ("trl", CLUE),
    ("trainer", CLUE),
    ("lightning", CLUE),
    ("ultralytics", CLUE),
    ("instances", CLUE | PROGRESS | PHASE),
    ("yolo", CLUE),
    ("megatron", CLUE),
    ("llamafactory", CLUE),
    ("llama-factory", CLUE),
    ("swift", CLUE),
    ("accelerate", CLUE),
    ("diffusers", CLUE),
    ("comfy", CLUE),
    ("occurred when executing", CLUE),
    ("got prompt", CLUE),
    ("webui", CLUE),
    ("mmengine", CLUE),
    ("mmcv", CLUE),
    ("mmdet", CLUE),
    ("fastai", CLUE),
    ("nemo", CLUE),
    ("vllm", CLUE),
    ("sglang", CLUE),
    ("text_generation", CLUE),
    ("text-generation", CLUE),
    ("lmdeploy", CLUE),
    ("tensorrt", CLUE),
    ("trtllm", CLUE),
    ("gpu blocks", CLUE),
    ("gpu_executor", CLUE),
    (":\\", CLUE),
    ("wsl", CLUE),
    ("/users/", CLUE),
    ("darwin", CLUE),
    ("macos", CLUE),
    ("jetson", CLUE),
    ("tegra", CLUE),
    ("nvmap", CLUE),
    ("/home/", CLUE),
    ("/usr/", CLUE),
    ("/opt/", CLUE),
    ("docker", CLUE),
    ("kube", CLUE),
    ("containerd", CLUE),
    ("singularity", CLUE),
    ("apptainer", CLUE),
    ("ipython", CLUE),
    ("ipykernel", CLUE),
    ("jupyter", CLUE),
    ("cell in[", CLUE),
    ("gradio", CLUE),
    ("uvicorn", CLUE),
    ("tensorflow", CLUE),
    ("configproto", CLUE),
    ("[[node:", CLUE),
    ("see above for traceback", CLUE),
    ("tf.session(", CLUE),
    ("gpu_options", CLUE),
    ("# gpu blocks", CLUE),
    ("fastchat", CLUE),
    ("bentoml", CLUE),
    ("jax", CLUE),
    ("benchmark", CLUE),
    ("text_generation", CLUE),
    ("startup complete", CLUE),
    ("post /", CLUE),
    ("lmdeploy", CLUE),
    ("api_server", CLUE),
    ("tritonserver", CLUE),
    ("gunicorn", CLUE),
    ("xinference", CLUE),
    ("ninja", CLUE),
    ("could not compile", CLUE),
    (": *** [", CLUE),
    ("compiling objects", CLUE),
    ("cc1plus", CLUE),
    ("rustc", CLUE),
    ("cmake", CLUE),
    ("average", CLUE),
    ("averaging", CLUE),
    ("ema ", CLUE),
    ("teacher", CLUE),
    ("reference model", CLUE),
    ("ref model", CLUE),
    ("ref_model", CLUE),
    ("target network", CLUE),
    ("target net", CLUE),
    ("same architecture", CLUE),
    ("gpus", CLUE),
    ("gpu(s)", CLUE),
    ("devices", CLUE),
    ("smaller batch", CLUE),
    ("#", SECTION),
    ("```", SECTION),
    ("✅", SECTION),
    ("❌", SECTION),
    ("建议", SECTION),
    ("推荐", SECTION),
    ("优化后", SECTION),
    ("解决", SECTION),
    ("方案", SECTION),
    ("修改", SECTION),
    ("修复", SECTION),
    ("改进", SECTION),
    ("当前", SECTION),
    ("原来", SECTION),
    ("recommend", SECTION),
    ("suggest", SECTION),
    ("solution", SECTION),
    ("workaround", SECTION),
    ("fix", SECTION),
    ("try ", SECTION),
    ("rerun", SECTION),
    ("may ", SECTION),
    ("consider ", SECTION),
    ("instead", SECTION),
    ("reduc", SECTION),
    ("lower", SECTION),
];

/// The automaton, and for each of its patterns the topics, and whether it is a key that must stand as a word of its
/// own.
struct Words {
    automaton: AhoCorasick,
    topics: Vec<(u8, bool)>,
}

static WORDS: LazyLock<Option<Words>> = LazyLock::new(|| {
    let mut words: Vec<(Cow<'_, str>, u8, bool)> =
        KEYWORDS.iter().map(|(word, topics)| (Cow::Borrowed(*word), *topics, false)).collect();
    for name in keys::ROWS.iter().flat_map(|row| row.names) {
        words.push((Cow::Borrowed(name), SETTING, true));
        if name.contains('_') {
            words.push((Cow::Owned(name.replace('_', "-")), SETTING, true));
        }
    }
    words.extend(phrases::WORDS.iter().map(|word| (Cow::Borrowed(*word), SETTING, true)));
    // Of small letters, as lines are made before the search: with both cases it takes twice as long to build, and it is
    // built for every message that is pasted.
    let automaton = AhoCorasick::builder()
        .match_kind(MatchKind::Standard)
        .kind(Some(AhoCorasickKind::ContiguousNFA))
        .build(words.iter().map(|(word, ..)| word.to_ascii_lowercase()))
        .ok()?;
    Some(Words { automaton, topics: words.into_iter().map(|(_, topics, key)| (topics, key)).collect() })
});

/// The topics of a line, as the bits above.
pub(super) fn of(text: &str) -> u8 {
    let Some(words) = WORDS.as_ref() else { return 0 };
    let text = text.to_ascii_lowercase();
    let in_word = |at: Option<usize>| {
        at.and_then(|at| text.as_bytes().get(at)).is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
    };
    words.automaton.find_overlapping_iter(&text).fold(0, |found, hit| {
        match words.topics.get(hit.pattern().as_usize()) {
            Some((_, true)) if in_word(hit.start().checked_sub(1)) || in_word(Some(hit.end())) => found,
            Some((topics, _)) => found | topics,
            None => found,
        }
    })
}
