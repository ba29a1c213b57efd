//! Help and man pages in Chinese: the texts of the grammar, each with its translation. The grammar is written in
//! English; a text of it without a pair here fails a test, and so does a pair that the grammar does not have.

use clap::{Arg, ArgAction, Command};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

const OPTIONS: &str = "选项";

/// The grammar with its texts in Chinese.
pub(super) fn translated(command: Command) -> Command {
    let flag = |name: &'static str, short, action, help| {
        Arg::new(name).short(short).long(name).action(action).help(help).help_heading(OPTIONS)
    };
    let version = command.get_version().map(|_| flag("version", 'V', ArgAction::Version, "Print version"));
    let command = command
        .disable_help_flag(true)
        .disable_version_flag(true)
        .arg(flag("help", 'h', ArgAction::Help, "Print help"))
        .args(version)
        .mut_args(argument)
        .term_width(0)
        .subcommand_help_heading("命令")
        .help_template("{about-with-newline}\n用法：{usage}\n\n{all-args}{after-help}")
        .mut_subcommands(translated);
    let about = command.get_about().map(|text| text_of(&text.to_string()));
    let after = command.get_after_help().map(|text| after_help(&text.to_string()));
    let command = if let Some(about) = about { command.about(about) } else { command };
    if let Some(after) = after { command.after_help(after) } else { command }
}

fn argument(arg: Arg) -> Arg {
    let heading = match arg.get_help_heading() {
        Some(heading) => pair(heading).unwrap_or(OPTIONS),
        None if arg.is_positional() => "参数",
        None => OPTIONS,
    };
    let help = arg.get_help().map(|text| text_of(&text.to_string()));
    let arg = arg.help_heading(heading);
    if let Some(help) = help { arg.help(help) } else { arg }
}

fn pair(text: &str) -> Option<&'static str> {
    PAIRS.iter().find(|(en, _)| *en == text).map(|(_, zh)| *zh)
}

fn text_of(text: &str) -> String {
    pair(text).map_or_else(|| text.to_string(), str::to_string)
}

/// What stands at the end of a page: whole lines, and commands with what they do behind them.
fn after_help(text: &str) -> String {
    let lines = text.lines().map(|line| match pair(line) {
        Some(zh) => zh.to_string(),
        None => remarks(line).into_iter().rev().fold(line.to_string(), |mut line, (at, remark)| {
            if let Some(zh) = pair(remark) {
                line.replace_range(at..at + remark.len(), zh);
            }
            line
        }),
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// What stands behind at least two spaces in a line, and where.
fn remarks(line: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    let mut at = 0;
    for part in line.split("  ") {
        let start = at + (part.len() - part.trim_start().len());
        if !part.trim().is_empty() {
            found.push((start, part.trim()));
        }
        at += part.len() + 2;
    }
    found
}

/// A page as clap makes it, with what it says by itself in Chinese, and wrapped: it takes every character for one
/// column wide and breaks at spaces only.
pub(super) fn page(text: &str, width: usize) -> String {
    let heading = |line: &str| match line.strip_suffix(':').filter(|name| !name.starts_with(' ')) {
        Some(name) => format!("{name}："),
        None => wrapped(line, width),
    };
    own_words(text).lines().map(|line| heading(line) + "\n").collect()
}

/// What clap says by itself in a page or in a line of usage, in Chinese.
pub(super) fn own_words(text: &str) -> String {
    let notes = [
        ("Usage: ", "用法："),
        ("[OPTIONS]", "[选项]"),
        ("<COMMAND>", "<命令>"),
        ("[default: ", "[默认："),
        ("[possible values: ", "[可选值："),
        ("[env: ", "[环境变量："),
    ];
    notes.iter().fold(text.to_string(), |page, (en, zh)| page.replace(en, zh))
}

/// A line and those that it takes; they begin below what is said of an option, where that has a column of its own.
fn wrapped(line: &str, width: usize) -> String {
    let text_at = line.len() - line.trim_start().len();
    let own = line[text_at..].find("  ").map(|gap| {
        let behind = &line[text_at + gap..];
        (line.len() - behind.trim_start().len(), !behind.trim().is_empty())
    });
    let hang = own.filter(|(at, filled)| *filled && line[..*at].width() <= width / 2).map_or(text_at, |(at, _)| at);
    let hang = line[..hang].width();
    let (mut out, mut column, mut row) = (String::new(), 0, String::new());
    let mut before = ' ';
    // Where the row may end: behind a space, and beside a wide character, where nothing opens or closes.
    let mut may_end = 0;
    for c in line.chars() {
        let wide = |c: char| c.width() == Some(2);
        let between =
            (wide(before) || wide(c)) && c != ' ' && !"，。；、：）]),.".contains(c) && !"（[(".contains(before);
        if before == ' ' || between {
            may_end = row.len();
        }
        let columns = c.width().unwrap_or(0);
        if column + columns > width && !row[..may_end].trim().is_empty() {
            let rest = row.split_off(may_end);
            out += row.trim_end();
            out.push('\n');
            row = " ".repeat(hang) + rest.trim_start();
            column = row.width();
            may_end = 0;
        }
        row.push(c);
        column += columns;
        before = c;
    }
    out + row.trim_end()
}

const PAIRS: &[(&str, &str)] = &[
    ("A doctor for out-of-memory failures of machine-learning jobs", "机器学习任务显存/内存不足的诊断工具"),
    (
        "Explain the out-of-memory failure in a log: what ran out, why, and what to change",
        "解释日志中的内存不足：什么耗尽了、为什么、改哪里",
    ),
    (
        "List the causes and fixes that oomdoc knows, or print the documentation of one",
        "列出 oomdoc 所知的原因和修复办法，或打印其中一项的文档",
    ),
    (
        "Replay a PyTorch memory snapshot: the true peak, who held it, what was fragmented, what other \
         settings would do",
        "重放 PyTorch 显存快照：真实峰值、谁占用、哪里碎片化、换设置会怎样",
    ),
    ("What grew between two memory snapshots, by the place in the program", "两个显存快照之间增长了什么，按代码位置"),
    (
        "Run a list of allocations through PyTorch's caching allocator on a device of any size",
        "在任意大小的设备上，用 PyTorch 的缓存分配器执行一串申请",
    ),
    (
        "Read the GPUs and memory of this machine: who holds what, what nobody explains, what limits apply",
        "读取本机的 GPU 与内存：谁占用多少、哪些无法解释、有何限额",
    ),
    (
        "Does batch N fit a GPU with room to spare, and what is the largest that does",
        "批大小 N 能否放进某个 GPU 并留有余量，最大能放多少",
    ),
    (
        "Run a training program for a few steps on a simulated GPU: would it fit, and up to which batch",
        "在模拟的 GPU 上把训练程序运行几步：能否放下，最大批大小是多少",
    ),
    ("Run a job unchanged, and explain why when its memory runs out", "原样运行任务，内存耗尽时说明原因"),
    ("Watch a process that already runs, as run does, until it ends", "像 run 一样观察一个已在运行的进程，直到它结束"),
    (
        "Print the script that completes commands, GPUs, rules and settings in a shell",
        "打印 shell 补全脚本：命令、GPU、规则与设置",
    ),
    ("Print help", "显示帮助"),
    ("Print help (see more with '--help')", "显示帮助（--help 更详细）"),
    ("Print version", "显示版本"),
    ("What to print: terminal, json or markdown", "输出格式：terminal、json 或 markdown"),
    ("What to print: terminal, json, markdown or html", "输出格式：terminal、json、markdown 或 html"),
    (
        "What to print: terminal, json, jsonl, prometheus or markdown",
        "输出格式：terminal、json、jsonl、prometheus 或 markdown",
    ),
    (
        "What to print: terminal, json, markdown, junit, sarif or github",
        "输出格式：terminal、json、markdown、junit、sarif 或 github",
    ),
    ("What to print: terminal, json, junit or github", "输出格式：terminal、json、junit 或 github"),
    ("What to print: summary, jsonl, or the trace itself", "输出格式：summary、jsonl，或 trace 本身"),
    ("Short for --format json", "即 --format json"),
    ("Short for --format jsonl", "即 --format jsonl"),
    (
        "Memory snapshot of the run, which proves or refutes it; may be repeated",
        "该次运行的显存快照，用来证明或推翻诊断；可重复",
    ),
    (
        "Everything: all evidence, formulas, the account, what was ruled out",
        "全部内容：所有证据、公式、明细、已排除的原因",
    ),
    ("Everything: all notes, whole stacks", "全部内容：所有说明、完整调用栈"),
    ("Everything: whole stacks, all holders, all that was assumed", "全部内容：完整调用栈、所有占用者、所有前提"),
    ("Everything that was read, and why other readings are missing", "读到的全部内容，以及其余读数缺失的原因"),
    (
        "Language of the report; auto asks LC_ALL, LC_MESSAGES and LANG",
        "报告的语言；auto 依据 LC_ALL、LC_MESSAGES 和 LANG",
    ),
    ("When to colour; auto colours terminals and respects NO_COLOR", "何时着色；auto 只在终端着色，并遵守 NO_COLOR"),
    ("Columns to fill [default: those of the terminal, else 80]", "输出宽度 [默认：终端宽度，否则 80]"),
    (
        "Lines to fill [default: those of the terminal, else as many as there are]",
        "输出行数 [默认：终端高度，否则不限]",
    ),
    ("Hide users, machines and folders; auto: in Markdown", "隐去用户、主机和目录；auto：仅 Markdown"),
    ("Samples per step and process", "每步每进程的样本数"),
    ("Steps of gradient accumulation", "梯度累积步数"),
    ("Tokens per sample", "每个样本的 token 数"),
    ("Pixels of the longer side", "图像长边的像素"),
    ("Data-loading workers per process", "每进程的数据加载 worker 数"),
    ("Batches that each worker prefetches", "每个 worker 预取的批数"),
    ("Training processes on this machine", "本机的训练进程数"),
    ("Size of one loaded sample", "一个加载后样本的大小"),
    ("Samples of the data set", "数据集的样本数"),
    ("Size of a cache of samples in RAM", "内存中样本缓存的大小"),
    ("RAM of the machine or limit of the container", "主机内存或容器限额"),
    (
        "RAM of the machine or limit of the container [default: those of this machine]",
        "主机内存或容器限额 [默认：本机]",
    ),
    ("Parameters of the model", "模型的参数量"),
    ("Parameters of the model, such as 350M or 7B", "模型的参数量，如 350M 或 7B"),
    ("Optimizer, such as adamw", "优化器，如 adamw"),
    ("Precision: fp32, fp16, bf16, mixed, fp8, int8 or int4", "精度：fp32、fp16、bf16、mixed、fp8、int8 或 int4"),
    ("Only this device", "只看该设备"),
    ("Holders to list", "列出的占用者数量"),
    ("Places to list", "列出的代码位置数量"),
    (
        "Only what was recorded: nothing is simulated, so how well the simulator foresees the record is \
         not said either",
        "只看记录：不做模拟，因此也不给出模拟与记录的吻合程度",
    ),
    (
        "Allocator settings to try in place of the usual ones; may be repeated",
        "要尝试的分配器设置，取代默认的几种；可重复",
    ),
    ("Size of the device", "设备大小"),
    ("Which batch fits the device; BATCH is that of the recording", "多大的批大小能放进设备；BATCH 为记录时的批大小"),
    (
        "PyTorch version to replay as [default: the newest that writes such a snapshot]",
        "按哪个 PyTorch 版本重放 [默认：会写出此种快照的最新版本]",
    ),
    ("Which moment to compare: the end of the recording or its peak", "比较哪个时刻：记录结束或峰值"),
    (
        "Growth that makes the exit code 1: growth>5%, growth>200MiB, reserved>5%",
        "使退出码为 1 的增长：growth>5%、growth>200MiB、reserved>5%",
    ),
    ("List only causes or only fixes", "只列原因或只列修复办法"),
    ("Memory of the device", "设备显存"),
    ("Settings as in PYTORCH_CUDA_ALLOC_CONF", "与 PYTORCH_CUDA_ALLOC_CONF 相同的设置"),
    ("Release of PyTorch, 2.0 to 2.15", "PyTorch 版本，2.0 到 2.15"),
    ("Memory that the CUDA context of this process takes", "本进程 CUDA 上下文占用的显存"),
    ("Other processes on the device, as pid:bytes", "设备上的其他进程，写作 pid:bytes"),
    ("Memory in use that NVML lists for no process", "NVML 未归于任何进程的已用显存"),
    (
        "How NVML lists this process: self, another pid, none, or missing for no NVML at all",
        "NVML 如何列出本进程：self、另一个 pid、none；missing 表示没有 NVML",
    ),
    ("Index of the device, as error texts print it", "设备编号，与报错中的一致"),
    ("Memory fraction set before the first request, 0 to 1", "首次申请前设置的显存比例，0 到 1"),
    ("Streams besides the default one", "默认流之外的流数"),
    ("Cache nothing, as with PYTORCH_NO_CUDA_MEMORY_CACHING=1", "不缓存，相当于 PYTORCH_NO_CUDA_MEMORY_CACHING=1"),
    ("What makes the exit code 1", "什么使退出码为 1"),
    (
        "Stop at the first out-of-memory error; otherwise the failed request is skipped",
        "遇到第一次显存不足即停止；否则跳过失败的申请",
    ),
    (
        "GPUs to show, as nvidia-smi counts: 3 or 0,2 or a UUID, or all",
        "要显示的 GPU，编号与 nvidia-smi 相同：3、0,2、UUID 或 all",
    ),
    ("Read again every so many seconds", "每隔若干秒重新读取"),
    (
        "Read a saved output of nvidia-smi instead of this machine's GPUs",
        "读取保存的 nvidia-smi 输出，而不是本机的 GPU",
    ),
    ("Folder below which /proc and /sys of the machine lie", "主机的 /proc 与 /sys 所在的目录"),
    (
        "Verdict or warning that makes the exit code 1, or any; may be repeated",
        "使退出码为 1 的结论或警告，或 any；可重复",
    ),
    ("Its process, as the driver numbers it", "任务的进程号（驱动看到的）"),
    ("What it asks for", "它申请的大小"),
    ("What PyTorch has reserved", "PyTorch 已保留的显存"),
    ("What of that is unallocated", "其中未分配的部分"),
    (
        "Create a CUDA context, which takes 100 to 600 MiB meanwhile: its cost, and what CUDA calls free",
        "创建 CUDA 上下文（期间占用 100 到 600 MiB）：其开销，以及 CUDA 所称的空闲",
    ),
    (
        "Also measure bandwidth and allocation times and check memory, on small buffers for some seconds",
        "另外用小缓冲区测量带宽与分配时间并检查显存，约数秒",
    ),
    (
        "Also fill the device up to a margin: largest block, and --reproduce on the device",
        "另外把设备填到只剩余量：最大连续块，以及在设备上做 --reproduce",
    ),
    (
        "Go on although other processes use the GPU; their next allocation may fail",
        "即使其他进程正在使用该 GPU 也继续；它们的下一次分配可能失败",
    ),
    (
        "Was it fragmentation? Works out the failure in a log or a memory snapshot, with --allow-fill on \
         the device too",
        "是碎片化吗？复算日志或显存快照中的故障；加 --allow-fill 也在设备上做",
    ),
    ("Largest buffer of --bench", "--bench 的最大缓冲区"),
    ("Seconds for the CUDA part of each GPU", "每个 GPU 的 CUDA 部分的时限（秒）"),
    (
        "Samples per step and process; without it the largest batch is sought",
        "每步每进程的样本数；不给出则寻找最大批大小",
    ),
    ("Every formula with the figures put in", "列出每个公式及代入的数字"),
    (
        "The GPU, such as \"RTX 3090\" (oomdoc rehearse --like list prints all that are known)",
        "GPU 型号，如 \"RTX 3090\"（oomdoc rehearse --like list 列出全部）",
    ),
    ("Memory of the GPU as CUDA counts it", "CUDA 所计的 GPU 显存"),
    ("Room to keep free: 5% or 2GiB [default: 5%]", "要留出的余量：5% 或 2GiB [默认：5%]"),
    ("Room to keep free: 5% or 2GiB", "要留出的余量：5% 或 2GiB"),
    (
        "What the CUDA context and its kernels take [default: 0.1 to 0.8 GiB, by the GPU's \
         multiprocessors]",
        "CUDA 上下文及其内核占用 [默认：0.1 到 0.8 GiB，视 GPU 的 SM 数]",
    ),
    ("What other processes hold on the GPU", "其他进程在该 GPU 上的占用"),
    ("What oomdoc rehearse --format json printed; may be repeated", "oomdoc rehearse --format json 的输出；可重复"),
    (
        "A memory snapshot with the history of a run at this batch; may be repeated",
        "该批大小下运行的显存快照（含历史）；可重复",
    ),
    (
        "A measured peak, 8x512=7.2GiB with the sequence; may be repeated",
        "实测峰值，带序列长度写作 8x512=7.2GiB；可重复",
    ),
    (
        "Measured peaks: a CSV with batch and peak_bytes, or a training log",
        "实测峰值：含 batch 与 peak_bytes 的 CSV，或训练日志",
    ),
    (
        "What the measured figures count: allocated, reserved or process [default: allocated]",
        "实测数字的口径：allocated、reserved 或 process [默认：allocated]",
    ),
    ("A log with the out-of-memory error of a batch that failed", "某个失败批大小的显存不足日志"),
    ("The model: its config.json, or a .safetensors or .gguf file", "模型：config.json，或 .safetensors、.gguf 文件"),
    ("Of a model that sees or hears too, its language model alone", "多模态模型只算其语言模型"),
    (
        "The Python that rehearses the model [default: the first with PyTorch for CUDA and transformers]",
        "预演模型所用的 Python [默认：第一个装有 CUDA 版 PyTorch 与 transformers 的]",
    ),
    ("Longest time of the model's rehearsal", "模型预演的最长时间"),
    (
        "The model by formulas alone: a config.json is not rehearsed, whatever Python there is",
        "只用公式估算：不预演 config.json，无论有无 Python",
    ),
    (
        "fp32, mixed (autocast), bf16 (weights and states) or master (bf16 with 32-bit master weights)",
        "fp32、mixed（autocast）、bf16（权重与状态）或 master（bf16 加 32 位主权重）",
    ),
    (
        "Optimizer, such as adamw, adamw8bit, sgd, sgd-momentum, adafactor [default: adamw]",
        "优化器，如 adamw、adamw8bit、sgd、sgd-momentum、adafactor [默认：adamw]",
    ),
    ("The optimizer's fused form", "优化器的 fused 形式"),
    ("LoRA of this rank on frozen weights", "冻结权重上该秩的 LoRA"),
    ("Which linear layers have adapters: attention or all", "哪些线性层带适配器：attention 或 all"),
    ("Bits of frozen weights that are quantised: 4 or 8", "冻结权重的量化位数：4 或 8"),
    (
        "Whether PEFT's prepare_model_for_kbit_training made embeddings and head 32 bit: yes or no \
         [default: either]",
        "PEFT 的 prepare_model_for_kbit_training 是否把嵌入与输出层变为 32 位：yes 或 no [默认：两种都算]",
    ),
    ("Layers are recomputed in backward (gradient checkpointing)", "反向传播时重算各层（激活重计算）"),
    ("fused (SDPA, flash) or eager [default: fused]", "fused（SDPA、flash）或 eager [默认：fused]"),
    (
        "Tokens per sample [default: 2048, or what the model was made for if that is less]",
        "每个样本的 token 数 [默认：2048，模型上限更小则取其上限]",
    ),
    ("Tokens per sample on the decoder's side [default: as --seq]", "解码器一侧每个样本的 token 数 [默认：同 --seq]"),
    ("Pixels of an image's side", "图像边长的像素"),
    ("ZeRO stage, 0 to 3; 3 for FSDP", "ZeRO 阶段，0 到 3；FSDP 为 3"),
    ("Batches whose gradients are accumulated", "梯度累积的批数"),
    ("Processes that train together", "一起训练的进程数"),
    ("The model serves, it does not train", "模型用于推理，不训练"),
    (
        "Tokens of a request, prompt and answer [default: what the model was made for]",
        "一个请求的 token 数，含提示与回答 [默认：模型上限]",
    ),
    ("Precision of the key/value cache: 16bit, fp8, q8_0 or q4_0", "KV 缓存精度：16bit、fp8、q8_0 或 q4_0"),
    (
        "Share of the GPU that the engine may take, 0 to 1, such as vLLM's gpu_memory_utilization",
        "引擎可占 GPU 的比例，0 到 1，如 vLLM 的 gpu_memory_utilization",
    ),
    ("Bits of a weight, such as 4.5 [default: 16]", "每个权重的位数，如 4.5 [默认：16]"),
    (
        "Every process that reads caches what it has read, up to SIZE where one is given",
        "每个读取进程缓存读过的数据，给出 SIZE 时以其为上限",
    ),
    ("Batches are copied to pinned memory", "批数据复制到锁页内存"),
    ("Workers are spawned, not forked", "worker 以 spawn 方式启动，而非 fork"),
    ("Hold every budget against its GPU and its baseline", "逐项检查预算是否符合其 GPU 与基线"),
    ("Make the present peaks the baseline", "把当前峰值设为基线"),
    ("The file with the budgets", "预算文件"),
    ("Only the budget of this name", "只检查该名称的预算"),
    (
        "Write down what is seen, for oomdoc explain; {rank}, {host} and {pid} stand for those, and a \
         folder gets a file for each",
        "记录所见，供 oomdoc explain 读取；{rank}、{host}、{pid} 会被替换，给出目录则每个进程一个文件",
    ),
    (
        "Say so when RAM, the control group, /dev/shm or a GPU is filled to this share",
        "内存、控制组、/dev/shm 或 GPU 用到此比例时提示",
    ),
    (
        "Ask the job to end (SIGTERM, once) when one of them is filled to this share",
        "其中之一用到此比例时请任务结束（一次 SIGTERM）",
    ),
    ("Say nothing when all goes well", "一切正常时不输出"),
    ("Kill the job when oomdoc itself is killed", "oomdoc 被杀时一并杀死任务"),
    (
        "Have PyTorch keep its allocator's history, write a memory snapshot into FOLDER when a process \
         runs out of GPU memory, and tell what was allocated after each step",
        "让 PyTorch 保留分配历史，进程显存不足时把快照写入 FOLDER，并给出每步之后的分配量",
    ),
    (
        "A description in place of a program: built from its configuration, without weights",
        "以描述代替程序：按配置构建，不带权重",
    ),
    ("The job in question", "所问的任务"),
    ("What only CUDA can tell; refused on a GPU in use by others", "只有 CUDA 知道的内容；GPU 被他人使用时拒绝"),
    ("What the log does not say", "日志没有给出的信息"),
    ("How the model is trained", "模型如何训练"),
    (
        "Inference: weights, cache and engine; --batch counts concurrent sequences",
        "推理：权重、缓存与引擎；--batch 为并发序列数",
    ),
    ("The budgets of a repository (oomdoc.toml)", "仓库的预算（oomdoc.toml）"),
    ("The device", "设备"),
    ("The host: data loaders against the machine's or container's memory", "主机：数据加载与主机或容器内存"),
    ("What the answer rests on, the strongest first", "答案的依据，最可靠的在前"),
    (
        "GPU to play, such as \"RTX 3090\"; list prints all that are known",
        "要模拟的 GPU，如 \"RTX 3090\"；list 列出全部",
    ),
    ("Memory of the GPU, as CUDA reports it", "GPU 显存，按 CUDA 报告的大小"),
    (
        "Batches to rehearse: 8,16,32 each, or 1..64 for the largest that fits; stands for {batch} in the \
         command",
        "要预演的批大小：8,16,32 逐个，或 1..64 找最大；替换命令中的 {batch}",
    ),
    (
        "The largest batch that fits, of any size: short for --batch 1..4096",
        "寻找能放下的最大批大小：即 --batch 1..4096",
    ),
    ("Optimizer steps to run; 0 runs the program to its end", "要运行的优化器步数；0 表示运行到程序结束"),
    ("After this time no further batch is tried", "超过此时间不再尝试新的批大小"),
    ("Longest time of one run", "单次运行的最长时间"),
    ("Runs at once [default: 2 where there are two processors]", "同时运行的数量 [默认：有两个处理器时为 2]"),
    (
        "How long the program goes on after these steps, to see evaluation, saving and later steps too; \
         0s: it stops",
        "这些步之后程序继续多久，以便看到评估、保存和后续步骤；0s：立即停止",
    ),
    ("Orders of device addresses to rehearse: both, up or down", "要预演的设备地址顺序：both、up 或 down"),
    ("Ranks to pretend: one process runs as rank 0 of that many", "假装的 rank 数：一个进程作为其中的 rank 0 运行"),
    (
        "GPUs of the machine [default: the world size, else the processes that a launcher starts, else 1]",
        "机器的 GPU 数 [默认：world size，否则启动器启动的进程数，否则 1]",
    ),
    (
        "Environment of the program; a name alone lets a variable pass that would be kept back; may be \
         repeated",
        "程序的环境变量；只写名称则放行本会被拦下的变量；可重复",
    ),
    (
        "Let the program write, rename and remove your files; otherwise it works on a private view of them",
        "允许程序写入、改名、删除你的文件；否则它只在私有视图中操作",
    ),
    (
        "Let the program reach the network; otherwise it has none, and hubs and loggers are told so",
        "允许程序访问网络；否则没有网络，并告知模型库与日志服务",
    ),
    (
        "How your files are kept from the program: auto, overlay (namespaces), landlock, or agent (Python \
         alone)",
        "如何保护你的文件：auto、overlay（命名空间）、landlock 或 agent（仅 Python）",
    ),
    ("Let the program's own output through, to standard error", "把程序自己的输出转到标准错误"),
    ("Keep the memory snapshots in this folder", "把显存快照保存在此目录"),
    ("The Python that imports torch, where the command hides it", "命令看不出时，导入 torch 的 Python"),
    (
        "The torch package, where it is not the one that the program's Python imports",
        "torch 包的位置，若不是程序的 Python 所导入的那个",
    ),
    ("What values read from the simulated GPU are: zeros or ones", "从模拟 GPU 读回的值：zeros 或 ones"),
    (
        "What a program is told that asks what a real GPU is known to answer, such as whether rows are \
         packed or gradients finite: likely (that answer), or none (the values above)",
        "程序询问真实 GPU 必有定论的问题（如行是否紧凑、梯度是否有限）时的回答：likely（该定论）或 none（\
         上述的值）",
    ),
    (
        "The model: a config.json of transformers, timm or diffusers, a folder with one, or a name that is in the \
         hub's cache",
        "模型：transformers、timm 或 diffusers 的 config.json，含它的目录，或模型库缓存中的名称",
    ),
    (
        "What it is made for, such as causal-lm, masked-lm, seq2seq-lm or image-classification [default: \
         as configured]",
        "用途，如 causal-lm、masked-lm、seq2seq-lm 或 image-classification [默认：按配置]",
    ),
    (
        "The Python that has PyTorch and transformers [default: python3]",
        "装有 PyTorch 与 transformers 的 Python [默认：python3]",
    ),
    ("Share of the tokens that pads, 0 to 0.5", "填充 token 的比例，0 到 0.5"),
    ("No training: one pass without gradients", "不训练：一次无梯度前向"),
    ("No training: this many tokens are generated for each sample", "不训练：每个样本生成这么多 token"),
    ("Logs to read, also .gz; - or nothing reads standard input", "要读的日志，也可为 .gz；- 或不给出则读标准输入"),
    (
        "Snapshots to read: pickle or JSON, also .gz; - reads standard input",
        "要读的快照：pickle 或 JSON，也可为 .gz；- 读标准输入",
    ),
    ("Snapshot to compare with; - reads standard input", "作为基准的快照；- 读标准输入"),
    ("Id of a cause or fix; without it, list all", "原因或修复办法的 id；不给出则列出全部"),
    ("Process to watch, with all that it starts", "要观察的进程，连同它启动的所有进程"),
    ("The program and its arguments", "程序及其参数"),
    ("Snapshot to look at", "要查看的快照"),
    (
        "Requests to run, or a memory snapshot that recorded them; - reads standard input",
        "要执行的申请，或记录了申请的显存快照；- 读标准输入",
    ),
    ("The job and its arguments", "任务及其参数"),
    ("Examples:", "示例："),
    ("what ran out, where every byte was, why, what to change;", "什么耗尽了、每个字节在哪里、为什么、改哪里；"),
    ("oomdoc train.log is short for it", "可简写为 oomdoc train.log"),
    ("what a cause means and how to tell it from others", "某个原因的含义，以及如何与其他原因区分"),
    ("the peak of a memory snapshot and who held it", "显存快照的峰值与占用者"),
    ("what grew between two of them", "两者之间增长了什么"),
    ("what PyTorch's allocator would do with a list of requests", "PyTorch 分配器对一串申请会怎样做"),
    ("who holds the memory of this machine's GPUs right now", "此刻谁占用本机 GPU 的显存"),
    ("does batch 16 fit a T4, and what is the largest that does;", "batch 16 能否放进 T4，最大能放下多大的 batch；"),
    ("closer with peaks that were measured: --measure 8=7.2GiB", "有实测峰值则更准：--measure 8=7.2GiB"),
    ("would it fit that GPU? a few real steps, without any GPU", "能放进该 GPU 吗？运行真实的几步，无需 GPU"),
    ("the job as it is; a diagnosis when its memory runs out", "原样运行任务；内存耗尽时给出诊断"),
    (
        "Exit codes of explain: 0 an incident was found, 1 none, 2 bad usage or unreadable input.",
        "explain 的退出码：0 找到故障，1 没有，2 用法错误或输入无法读取。",
    ),
    ("in ~/.bashrc; zsh alike", "写入 ~/.bashrc；zsh 相同"),
    ("one screen; -v for everything behind it", "一屏；-v 显示全部依据"),
    (
        "several files, a folder with a log for each rank: one report",
        "多个文件，或每个 rank 一份日志的目录：合为一份报告",
    ),
    ("a pipe; without one, paste and press Ctrl-D", "管道；没有管道则粘贴后按 Ctrl-D"),
    ("with the memory snapshot of the run", "连同该次运行的显存快照"),
    (
        "Sizes: 133.59MB and 133.59MiB are both 133.59 * 2^20 bytes. Counts of parameters: 350M, 7B.",
        "大小：133.59MB 与 133.59MiB 都是 133.59 * 2^20 字节。参数量写作 350M、7B。",
    ),
    (
        "Exit codes: 0 an incident was explained, 1 none in the input, 2 bad usage or unreadable input.",
        "退出码：0 已解释一个故障，1 输入中没有，2 用法错误或输入无法读取。",
    ),
    ("peaks, holders, fragmentation, what other settings would do", "峰值、占用者、碎片化、换设置会怎样"),
    ("a folder with a snapshot for each rank", "每个 rank 一份快照的目录"),
    ("would it fit another GPU?", "换一块 GPU 放得下吗？"),
    (
        "Snapshots come from torch.cuda.memory._record_memory_history() and \
         torch.cuda.memory._dump_snapshot(\"snapshot.pickle\").",
        "快照由 torch.cuda.memory._record_memory_history() 与 torch.cuda.memory._dump_snapshot(\"snapshot.pickle\") \
         生成。",
    ),
    ("Exit codes: 0 replayed, 2 bad usage or unreadable input.", "退出码：0 已重放，2 用法错误或输入无法读取。"),
    (
        "Exit codes: 0 compared, 1 it grew more than --fail-on allows, 2 bad usage or unreadable input.",
        "退出码：0 已比较，1 增长超过 --fail-on，2 用法错误或输入无法读取。",
    ),
    ("every cause and fix, one line each", "所有原因与修复办法，各一行"),
    ("one of them in full", "其中一项的全文"),
    ("every option of PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_CUDA_ALLOC_CONF 的每个选项"),
    ("A trace has one request a line:", "trace 每行一个申请："),
    ("allocate", "申请"),
    ("free", "释放"),
    ("memory fraction", "显存比例"),
    ("allocator settings", "分配器设置"),
    ("begin, end, release a private pool", "私有池的开始、结束、释放"),
    ("hold events back, let them pass", "暂扣事件、放行事件"),
    ("reset the peaks", "重置峰值"),
    ("the requests that a snapshot recorded", "快照所记录的申请"),
    (
        "Exit codes: 0 done, 1 an out-of-memory error with --fail-on oom, 2 bad usage or an unreadable \
         trace.",
        "退出码：0 完成，1 指定 --fail-on oom 且显存不足，2 用法错误或 trace 无法读取。",
    ),
    ("all GPUs and the host; changes nothing, uses no GPU memory", "所有 GPU 与主机；不改变任何东西，不占用显存"),
    ("one of them; also 0,2 or a UUID", "其中一块；也可为 0,2 或 UUID"),
    ("would it fit now, and who is in the way", "现在放得下吗，谁占着"),
    ("a live table; Ctrl-C ends it", "实时表格；Ctrl-C 结束"),
    (
        "a saved nvidia-smi (table, CSV or -q) in place of this machine's GPUs",
        "保存的 nvidia-smi 输出（表格、CSV 或 -q），代替本机的 GPU",
    ),
    ("also what only CUDA can tell; refused on a GPU in use", "另含只有 CUDA 知道的内容；GPU 使用中则拒绝"),
    ("was it fragmentation? with --allow-fill tried on the GPU", "是碎片化吗？加 --allow-fill 在 GPU 上试验"),
    (
        "Exit codes: 0 readings were taken, 1 a verdict of --fail-on was found, 2 bad usage or unreadable \
         input, 3 there is no GPU or driver to read, 4 refused: the GPU is in use, and the CUDA part was asked \
         for.",
        "退出码：0 已读取，1 出现 --fail-on 所列结论，2 用法错误或输入无法读取，3 没有可读的 GPU 或驱动，4 拒绝：GPU \
         使用中而要求了 CUDA 部分。",
    ),
    (
        "No GPU and no CUDA libraries are needed, only the program's own PyTorch. Kernels do not compute: \
         memory is real, values are not. A program that reads values is run up to four times more, with other \
         ones in their place; where its memory depends on them, the answer says so.",
        "不需要 GPU 和 CUDA 库，只需程序自己的 PyTorch。内核不做计算：显存是真实的，数值不是。若程序读取数值，会换上其\
         他数值再运行最多四次；若显存取决于它们，答案会说明。",
    ),
    (
        "What is run is your command itself, with all that it does on the processor: it reads your data \
         and runs your code. It works on a private view of the files: what it writes, renames or removes is \
         dropped at the end and listed. It has no network, no credentials and none of a job's variables \
         (RANK, MASTER_ADDR, SLURM_*); hubs and loggers are told that they are offline.",
        "运行的就是你的命令本身，包括它在 CPU 上做的一切：读取你的数据，运行你的代码。它在文件的私有视图上工作：写\
         入、改名、删除的内容最后丢弃并列出。它没有网络、没有凭据，也没有作业变量（RANK、MASTER_ADDR、SLURM_*）；\
         模型库与日志服务会被告知处于离线状态。",
    ),
    (
        "Share of the device that the program lets itself have (set_per_process_memory_fraction), 0 to 1",
        "程序允许自己使用的设备份额（set_per_process_memory_fraction），0 到 1",
    ),
    (
        "--allow-writes, --allow-network and --env NAME give each back.",
        "--allow-writes、--allow-network、--env NAME 分别恢复这些权限。",
    ),
    (
        "Exit codes: 0 fits with the headroom asked for, 1 does not, 2 bad usage, 3 cannot tell, 130 \
         interrupted.",
        "退出码：0 放得下并留有所要余量，1 放不下，2 用法错误，3 无法判断，130 被中断。",
    ),
    ("the budgets in oomdoc.toml, as in continuous integration", "检查 oomdoc.toml 中的预算，用于持续集成"),
    ("their present peaks become the baseline", "以当前峰值为基线"),
    (
        "Exit codes: 0 fits with the headroom asked for, 1 does not, 2 bad usage or unreadable input, 3 \
         cannot tell.",
        "退出码：0 放得下并留有所要余量，1 放不下，2 用法错误或输入无法读取，3 无法判断。",
    ),
    ("PyTorch's allocator tells, without a change of code", "由 PyTorch 的分配器提供信息，无需改代码"),
    ("as the container's first process, too", "也可作为容器的首个进程"),
    ("afterwards: who fell first, and why", "事后：谁最先失败，为什么"),
    (
        "--snapshot (or OOMDOC_SNAPSHOT=1) has every Python of the job import a small module through \
         PYTHONPATH. It changes no function and resets no counter; keeping the history costs a few \
         microseconds for each allocation.",
        "--snapshot（或 OOMDOC_SNAPSHOT=1）让任务的每个 Python 通过 PYTHONPATH 导入一个小模块。它不改变任\
         何函数，不重置任何计数；保留历史使每次分配多花几微秒。",
    ),
    (
        "The job keeps its terminal, colours, input, signals, working directory and exit code. Nothing is \
         said when all goes well but one line with the peak; when it dies for want of memory, the diagnosis \
         goes to standard error.",
        "任务保有自己的终端、颜色、输入、信号、工作目录与退出码。一切正常时只输出一行峰值；因内存不足而终\
         止时，诊断写到标准错误。",
    ),
    (
        "Exit codes: the job's own, 128 + n when signal n ended it, 127 or 126 when it cannot be started.",
        "退出码：任务自己的；被信号 n 终止为 128 + n；无法启动为 127 或 126。",
    ),
    (
        "Ends with the process; Ctrl-C ends it before, and the process goes on. What the process prints is \
         not seen.",
        "随进程结束；Ctrl-C 可提前结束，进程继续运行。看不到进程的输出。",
    ),
    (
        "Exit codes: 0 it was watched to its end or until Ctrl-C, 2 bad usage or no such process.",
        "退出码：0 已观察到结束或 Ctrl-C，2 用法错误或没有该进程。",
    ),
    ("Show what a running job holds, at every moment", "实时显示运行中的任务占用多少内存"),
    ("Process to show, with all that it starts", "要显示的进程，连同它启动的所有进程"),
    ("Time between two looks", "两次读取的间隔"),
    ("End after so many looks", "读取这么多次后结束"),
    ("a line for each look, where it is no terminal", "不是终端时，每次读取一行"),
    (
        "Each look shows the job's memory, its control group, swap, /dev/shm, page-locked memory, the GPUs, \
         how long everything waited for memory, and the processes with what each holds alone. Nothing is \
         written down: oomdoc attach --record does that. Ctrl-C ends it, and the process goes on.",
        "每次读取显示任务的内存、控制组、交换空间、/dev/shm、锁页内存、各 GPU、因等待内存而停顿的时间，以及\
         各进程的独占内存。不作记录；记录请用 oomdoc attach --record。Ctrl-C 可结束，进程继续运行。",
    ),
    (
        "Exit codes: 0 the process ended, the looks were made, or Ctrl-C; 2 bad usage or no such process.",
        "退出码：0 进程已结束、读取次数已满或 Ctrl-C；2 用法错误或没有该进程。",
    ),
];

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;
    use std::collections::BTreeSet;

    /// All texts of a command and those below it.
    fn texts(command: &Command, found: &mut BTreeSet<String>) {
        found.extend(command.get_about().map(ToString::to_string));
        for arg in command.get_arguments() {
            found.extend(arg.get_help().map(ToString::to_string));
            found.extend(arg.get_help_heading().map(str::to_string));
        }
        for line in command.get_after_help().map(ToString::to_string).unwrap_or_default().lines() {
            if pair(line).is_some() || line.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '-') {
                found.insert(line.to_string());
                continue;
            }
            // Of a command what it does; a command alone needs no translation.
            found.extend(remarks(line).into_iter().filter(|(at, _)| *at > 2).map(|(_, remark)| remark.to_string()));
        }
        command.get_subcommands().for_each(|command| texts(command, found));
    }

    #[test]
    fn a_wide_line_is_broken_below_its_text() {
        let line = "  --name <N>  把显存快照保存在此目录";
        assert_eq!(wrapped(line, 30), "  --name <N>  把显存快照保存在\n              此目录");
        assert_eq!(wrapped("一二三。四五", 6), "一二\n三。四\n五");
        assert_eq!(wrapped("short", 26), "short");
    }

    /// The same in both languages: names of calls, and syntax.
    const SAME: &[&str] = &["record_stream", "empty_cache", "snapshot", "f ID", "e", "c SETTINGS", "p 1, p 0", "z"];

    #[test]
    fn every_text_of_the_grammar_has_its_pair_and_every_pair_its_text() {
        let mut command = super::super::Cli::command();
        command.build();
        let mut asked = BTreeSet::new();
        texts(&command, &mut asked);
        let missing: Vec<_> =
            asked.iter().filter(|text| pair(text).is_none() && !SAME.contains(&text.as_str())).collect();
        assert!(missing.is_empty(), "without a translation: {missing:#?}");
        let unused: Vec<_> = PAIRS.iter().filter(|(en, _)| !asked.contains(*en)).map(|(en, _)| en).collect();
        assert!(unused.is_empty(), "in no page: {unused:#?}");
    }
}
