//! What to change. One file per fix, in two halves: what is known of it before any incident (what it is advice for, its
//! costs, the lines to write for each target), and what it says to one (what it frees, computed from the incident's
//! figures, and why). How likely it cures each cause is data: `cures.json`.
//!
//! A fix sees the incident through [`case::Case`] and speaks through [`draft::Draft`], which withholds what the
//! arithmetic rules out. [`plan`] asks all of [`FIXES`] and ranks what they offer.

mod activation_offload;
pub mod alloc_conf;
mod arena_growth;
mod bf16_states;
mod bound_the_cache;
pub mod budget;
mod carve_out;
pub mod case;
mod check_ids;
mod choose_the_victim;
mod chunk_the_operation;
mod chunked_loss;
mod clear_shared_files;
mod combination;
mod cpu_offload;
mod cudnn_workspace;
pub mod cures;
mod data;
mod data_parallel;
mod ddp_bucket_view;
mod detach_logged_tensors;
mod device_per_rank;
mod donate_buffers;
pub mod draft;
mod eight_bit_optimizer;
mod ema_on_cpu;
mod empty_cache;
mod evaluate_each_step;
mod expandable_segments;
mod expandable_segments_off;
mod fewer_at_once;
mod fewer_cuda_graphs;
mod fewer_gaussians;
mod fewer_sequences;
mod fewer_workers;
mod find_the_leak;
mod fix_the_shape;
mod free_the_device;
mod freeze_layers;
mod fused_attention;
mod fused_optimizer;
mod garbage_collection_threshold;
mod gc_collect;
mod gradient_accumulation;
mod gradient_checkpointing;
mod group_by_length;
mod half_in_training;
mod keep_data_on_host;
mod kill_zombies;
mod kind;
pub mod knob;
mod kv_cache_dtype;
mod launch_blocking;
mod less_at_once;
mod lighter_optimizer;
mod load_to_cpu;
mod load_weights_once;
mod logits_to_keep;
mod longer_context;
mod lora;
mod lower_engine_memory;
mod machine;
mod max_model_len;
mod max_split_size;
mod memory_request;
mod mixed_precision;
mod moment;
mod more_devices;
mod mps_watermark;
mod narrower_profile;
mod nccl_buffers;
mod need;
mod no_grad_in_eval;
mod no_python_lists_in_dataset;
mod offload_eval_predictions;
mod one_region;
mod other_device;
mod other_libraries;
mod own;
mod pass;
mod persistent_workers_off;
mod pin_memory;
mod place;
mod preallocation_fraction;
mod qlora;
mod quantised_features;
mod raise_engine_memory;
mod raise_host_limit;
mod raise_memory_fraction;
mod raise_runtime_limit;
mod raise_ulimit;
mod read_less_at_once;
mod record_a_snapshot;
mod release;
mod release_earlier_rounds;
pub mod replayed;
mod return_pooled_memory;
mod rmm_pool_size;
mod same_collectives;
mod sample_cache_off;
mod set_per_process_memory_fraction;
mod shape_bucketing;
mod shard_states;
mod sharded_checkpoint;
mod share_one_model;
mod shared_cache;
mod shm_size;
mod shorter_sequences;
mod smaller_batch;
mod smaller_buffers;
mod smaller_eval_batch;
mod smaller_images;
mod smaller_kernel_tiles;
mod smaller_pool;
mod smaller_state_vector;
mod spill_to_host;
mod stream_the_data;
pub mod subject;
mod swap;
pub mod tools;
mod vae_tiling;
mod weight_offload;
mod weight_quantisation;
pub mod work;

use crate::cause::{CauseId, Finding, conclusion};
use crate::dialect::Sign;
use crate::domain::{Target, closed_set};
use crate::incident::Incident;
use crate::incident::context::Clue;
use crate::order::InOrder;
use crate::text;
use crate::text::Text;
use crate::units::Interval;
use case::Case;
use knob::Line;
use need::Need;
use work::Work;

closed_set! {
    /// The kind of change, for grouping and for the `class` of the JSON contract.
    pub enum Class {
        FreeTheDevice = "free-the-device",
        AllocConfig = "alloc-config",
        Batch = "batch",
        Shapes = "shapes",
        Activations = "activations",
        Precision = "precision",
        Optimizer = "optimizer",
        Model = "model",
        Sharding = "sharding",
        Offload = "offload",
        Evaluation = "evaluation",
        Leak = "leak",
        Loading = "loading",
        Inference = "inference",
        Limits = "limits",
        Host = "host",
        Libraries = "libraries",
        Diagnosis = "diagnosis",
    }
}

impl Class {
    /// What its fixes save of, unless one says otherwise.
    fn part(self) -> Part {
        match self {
            Class::FreeTheDevice | Class::AllocConfig | Class::Limits | Class::Host | Class::Libraries => Part::Whole,
            _ => Part::Held,
        }
    }

    /// True where the weights stay as they are and where they are.
    fn keeps_weights(self) -> bool {
        matches!(
            self,
            Class::Batch | Class::Shapes | Class::Activations | Class::Optimizer | Class::Evaluation | Class::Leak
        )
    }

    /// True for changes that help by an amount of memory: fewer, smaller, elsewhere.
    fn frees_an_amount(self) -> bool {
        !matches!(self, Class::AllocConfig | Class::Limits | Class::Host | Class::Libraries | Class::Diagnosis)
    }

    /// True for changes that can make weights, gradients and optimizer states smaller on the device, or show the cause.
    fn touches_states(self) -> bool {
        matches!(
            self,
            Class::Precision
                | Class::Optimizer
                | Class::Model
                | Class::Sharding
                | Class::Offload
                | Class::Loading
                | Class::Limits
                | Class::Host
                | Class::Diagnosis
        )
    }
}

closed_set! {
    /// How a fix changes results, from harmless to deep.
    pub enum Numerics {
        /// Bit-equal, or equal up to rounding.
        Same = "same",
        /// Different in a way that is benign in practice.
        Benign = "benign",
        /// Changes optimisation: learning dynamics, statistics.
        Optimisation = "optimisation",
        /// Changes the model or its quality.
        Model = "model",
    }
}

/// What a fix frees in this incident.
#[derive(Debug, Clone, PartialEq)]
pub enum Frees {
    /// A range in bytes, with the formula and this incident's figures in it.
    Bytes { range: Interval, formula: Text, of: Part },
    /// Not computable from this log, and why; names the one figure that would settle it.
    Unknown(Text),
}

/// Of what the bytes are that a fix saves: no more can go than that has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// Of what the job itself holds, but for what must stay.
    Held,
    /// Of the request that failed, which held nothing yet.
    Request,
    /// Of the device or machine: what others hold, what a limit or a cache keeps from it.
    Whole,
}

closed_set! {
    /// How sure it is that the fix cures this incident, in words fixed by the basis it rests on.
    pub enum Certainty {
        /// Follows by arithmetic from printed figures.
        Arithmetic = "arithmetic",
        /// Follows from printed figures and a model with a stated error.
        Likely = "likely",
        /// A rule of thumb for this cause.
        RuleOfThumb = "rule-of-thumb",
    }
}

/// The exact thing to change, for one framework.
#[derive(Debug, Clone, PartialEq)]
pub struct Knob {
    /// Whose setting it is.
    pub target: Target,
    /// The line to write, ready to paste; remarks in it are in the language of the report.
    pub line: Text,
}

impl Knob {
    /// True where it is set from outside: a shell's line, or an option of the program. Lines for a framework are code,
    /// but for those that set its environment.
    pub(crate) fn is_a_setting(&self) -> bool {
        !self.target.is_code() || self.line.en.starts_with("export ")
    }

    /// Arguments of the Trainer as options of a command: `--bf16`, `--gradient_accumulation_steps 2`.
    pub(crate) fn for_options(self) -> Knob {
        let of_the_trainer = matches!(self.target, Target::HfTrainer | Target::Trl);
        match of_the_trainer.then(|| as_options(&self.line.en).zip(as_options(&self.line.zh))).flatten() {
            Some((en, zh)) => Knob { line: Text::new(en, zh), ..self },
            None => self,
        }
    }

    /// The names of the calls that the line writes: `DataLoader`, `Trainer`.
    pub(crate) fn calls(&self) -> impl Iterator<Item = &str> {
        const CALLS: [&str; 2] = ["DataLoader(", "Trainer("];
        CALLS.into_iter().filter(|call| self.line.en.contains(call))
    }

    /// The arguments of those calls alone, for a program that makes them by settings of its own.
    pub(crate) fn into_arguments(self) -> Knob {
        let told = |line: &str, of: fn(&str) -> String| {
            let (code, remark) = knob::and_remark(line);
            let (names, arguments) = arguments_of(code)?;
            let remark = remark.map(|remark| format!("; {remark}")).unwrap_or_default();
            Some(knob::remarked(&arguments, Some(&format!("{}{remark}", of(&names)))))
        };
        let en = told(&self.line.en, |names| format!("of its {names}, as the program sets it"));
        let zh = told(&self.line.zh, |names| format!("{names} 的参数，写法以程序的设置为准"));
        match en.zip(zh) {
            Some((en, zh)) => Knob { line: Text::new(en, zh), ..self },
            None => self,
        }
    }

    /// The same for a shell of Windows; `None` for a tool that it does not have.
    pub(crate) fn for_windows(self, shell: Shell) -> Option<Knob> {
        const UNIX: [&str; 12] = [
            "free ",
            "ps ",
            "sudo ",
            "ls ",
            "watch ",
            "ulimit ",
            "cat ",
            "grep ",
            "while ",
            "mount ",
            "systemctl ",
            "unset ",
        ];
        let line = &self.line;
        // Its driver does not tell what single processes hold, and AMD's tool is one of Linux.
        if line.en.contains("--query-compute-apps") || line.en.contains("rocm-smi") {
            return None;
        }
        if UNIX.iter().any(|tool| line.en.starts_with(tool)) {
            return None;
        }
        Some(Knob { line: Text::new(of_windows(&line.en, shell), of_windows(&line.zh, shell)), ..self })
    }

    /// False for a tool or file of Linux alone, which a Mac and BSD's family lack.
    pub(crate) fn works_beyond_linux(&self) -> bool {
        const TOOLS: [&str; 9] =
            ["free", "systemctl", "fuser", "watch", "dmesg", "nvidia-smi", "rocm-smi", "fallocate", "mount"];
        // They have a sysctl of their own, with other names.
        const PLACES: [&str; 4] = ["/proc/", "/dev/shm", "/sys/", "sysctl vm."];
        let line = &self.line.en;
        let command = line.strip_prefix("sudo ").unwrap_or(line);
        let tool = command.split_whitespace().next().unwrap_or_default();
        !TOOLS.contains(&tool) && !PLACES.iter().any(|place| line.contains(place))
    }
}

/// `DataLoader(..., a=1); Trainer(b=2)` as the calls' names and `a=1, b=2`; `None` where it is anything else.
fn arguments_of(code: &str) -> Option<(String, String)> {
    let (mut names, mut arguments) = (Vec::new(), Vec::new());
    for call in code.split("; ") {
        let call = call.split_once(" = ").map_or(call, |(_, call)| call);
        let (name, inner) = call.strip_suffix(')')?.split_once('(')?;
        names.push(name);
        arguments.extend(inner.split(", ").filter(|argument| argument.contains('=')));
    }
    (!arguments.is_empty()).then(|| (names.join(" / "), arguments.join(", ")))
}

/// `a=1, b=True` as `--a 1 --b`; `None` where it is anything else. A dictionary at the end only refines what stands
/// before it, and not every release reads one from a command.
fn as_options(line: &str) -> Option<String> {
    let option = |part: &str| {
        let (name, value) = part.split_once('=')?;
        let plain = |text: &str| !text.is_empty() && !text.contains(['(', '{', '[', '=', ' ']);
        let named = plain(name) && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
        let words = value.strip_prefix('"').and_then(|value| value.strip_suffix('"')).filter(|text| text.contains(' '));
        if let Some(words) = words.filter(|words| named && words.split(' ').all(plain)) {
            return Some(format!("--{name} \"{words}\""));
        }
        (named && plain(value)).then(|| match value {
            "True" => format!("--{name}"),
            _ => format!("--{name} {}", value.trim_matches('"')),
        })
    };
    let (line, remark) = knob::and_remark(line);
    let dictionary = line.find(", ").filter(|_| line.ends_with('}'));
    let line = dictionary.map_or(line, |at| &line[..at]);
    let options = line.split(", ").map(option).collect::<Option<Vec<_>>>()?.join(" ");
    Some(knob::remarked(&options, remark))
}

/// A shell of Windows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shell {
    Cmd,
    PowerShell,
}

impl Shell {
    /// How it sets a variable, given as `A=B`.
    fn sets(self, set: &str) -> String {
        match (self, set.split_once('=')) {
            (Shell::PowerShell, Some((name, value))) => format!("$env:{name} = \"{}\"", value.trim_matches('"')),
            _ => format!("set {set}"),
        }
    }
}

/// `export A=B` and `A=B command` as a shell of Windows writes them: each variable on a line of its own, since what
/// stands before `&&`, blanks included, would be its value.
fn of_windows(line: &str, shell: Shell) -> String {
    if let Some(set) = line.strip_prefix("export ") {
        let (sets, remark) = knob::and_remark(set);
        let mut rest = Some(sets);
        let each = std::iter::from_fn(|| {
            let (set, after) = rest.map(first_word)?;
            rest = after;
            Some(shell.sets(set))
        });
        let sets = each.collect::<Vec<_>>().join("\n");
        return knob::remarked(&sets, remark);
    }
    let (set, command) = first_word(line);
    let names_a_variable = set.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty() && name.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_')
    });
    match command {
        _ if !names_a_variable => line.to_string(),
        Some(command) => format!("{}\n{}", shell.sets(set), of_windows(command, shell)),
        None => shell.sets(set),
    }
}

/// What stands before the first blank that is in no placeholder (`<nine tenths of the limit>`), and what comes after.
fn first_word(line: &str) -> (&str, Option<&str>) {
    let mut depth = 0_usize;
    for (at, letter) in line.char_indices() {
        match letter {
            '<' => depth += 1,
            '>' => depth = depth.saturating_sub(1),
            ' ' if depth == 0 => return (&line[..at], Some(&line[at + 1..])),
            _ => {}
        }
    }
    (line, None)
}

/// What a fix costs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Costs {
    /// Share of throughput lost, low and high, 0 … 1; negative where it gets faster.
    pub slows: (f64, f64),
    pub numerics: Numerics,
}

/// A fix worth trying in this incident.
#[derive(Debug, Clone, PartialEq)]
pub struct Offer {
    pub frees: Frees,
    pub costs: Costs,
    pub certainty: Certainty,
    /// What it is called here, where that is not what it is called elsewhere: fewer of what the job works on.
    pub title: Option<Box<Text>>,
    /// Probability in 0 … 1 that this change alone cures this incident, given the causes found.
    pub cures: f64,
    /// The knob for this incident's framework first.
    pub knobs: Vec<Knob>,
    /// Why it helps here, with figures.
    pub why: Text,
}

/// What a fix has to say about an incident.
#[derive(Debug, Clone, PartialEq)]
pub enum Advice {
    Offer(Offer),
    /// Would not help here although people try it: the folk remedy and why it fails in this case.
    WontHelp(Text),
    /// Not offered: already in force, unsupported here, or pointless; said with `--verbose` only.
    Withheld(Text),
    /// Nothing to do with this incident.
    Silent,
}

/// A fix's file: what is known of it before any incident, and what it says to one. How likely it cures each cause
/// stands in `cures.json`.
pub struct Fix {
    /// Slug, as in the JSON and on the command line of `oomdoc rules`; the name of the file with hyphens.
    pub id: &'static str,
    pub class: Class,
    pub title: fn() -> Text,
    /// User documentation in Markdown.
    pub doc: fn() -> Text,
    /// The kinds of work that it is advice for.
    pub helps: &'static [Work],
    /// What must be so for it to be able to help, besides the kind of work.
    pub needs: &'static [Need],
    /// Whether it has to do with the incident at all.
    pub applies: fn(&Case) -> bool,
    pub costs: Costs,
    /// What to write, for each target that it can be written for.
    pub knobs: &'static [Line],
    /// Fixtures below `fixtures/logs` in which it is offered, or refused with a reason.
    pub fixtures: &'static [&'static str],
    /// Called where it applies: what it frees here and why, or why it does not help.
    pub advise: fn(&Case) -> Advice,
}

impl Fix {
    /// What it says to an incident.
    pub fn advice(&self, case: &Case) -> Advice {
        let helps = self.helps.iter().any(|work| case.works().contains(work));
        let meant = Need::Meant.met(case) || need::OF_ANY_SIZE.contains(&self.id);
        let amount = !self.class.frees_an_amount() || Need::Shortage.met(case);
        if self.of_another_kind(case) {
            return Advice::Silent;
        }
        if !helps || !meant || !amount || !self.needs.iter().all(|need| need.met(case)) || !(self.applies)(case) {
            return Advice::Silent;
        }
        let advice = (self.advise)(case);
        if matches!(advice, Advice::Offer(_)) && self.postpones(case) {
            return Advice::Withheld(text!(
                en: "usage grows from step to step: less of this only postpones the failure",
                zh: "占用逐步增长：减少这一项只会推迟失败"
            ));
        }
        if let (Advice::Offer(_), Some(why)) = (&advice, case.crowded_by_its_ranks().filter(|_| self.saves_by_itself()))
        {
            return Advice::Withheld(why);
        }
        if let (Advice::Offer(_), Some(why)) = (&advice, case.short_of_no_bytes().filter(|_| self.saves_by_itself())) {
            return Advice::WontHelp(why);
        }
        // Parameters before opinion: what their bytes rule out is no offer, however common the remedy.
        match (&advice, case.never_fits()) {
            (Advice::Offer(_), Some(why)) if !self.class.touches_states() && !case.composing() => Advice::Withheld(why),
            _ => advice,
        }
    }

    /// True for changes of what is not there yet where it failed, or of what a program of this kind does not have.
    fn of_another_kind(&self, case: &Case) -> bool {
        // What is written in Python, and what a program in another language mostly lacks.
        const OF_PYTHON: [&str; 12] = [
            "gc-collect",
            "set-per-process-memory-fraction",
            "gradient-checkpointing",
            "mixed-precision",
            "activation-offload",
            "bf16-states",
            "lora",
            "qlora",
            "eight-bit-optimizer",
            "lighter-optimizer",
            "half-in-training",
            "no-grad-in-eval",
        ];
        const OF_A_POOL: [&str; 6] = [
            "lower-engine-memory",
            "raise-engine-memory",
            "fewer-sequences",
            "max-model-len",
            "kv-cache-dtype",
            "fewer-cuda-graphs",
        ];
        // Of a network's layers, its loss and the batch that goes through it.
        const OF_LAYERS: [&str; 8] = [
            "smaller-batch",
            "gradient-checkpointing",
            "activation-offload",
            "mixed-precision",
            "gradient-accumulation",
            "chunk-the-operation",
            "fused-attention",
            "detach-logged-tensors",
        ];
        let of_data = matches!(
            self.class,
            Class::Batch | Class::Shapes | Class::Activations | Class::Precision | Class::Evaluation
        );
        // What draws by ggml has neither a context nor slots, and options of its own.
        let of_llama = OF_A_POOL.contains(&self.id) || ["more-devices", "weight-offload"].contains(&self.id);
        // No memory was missing, of whatever kind.
        case.sign(Sign::FixedBuffer)
            || OF_A_POOL.contains(&self.id) && case.on_device() && case.engine_reads_weights()
            || of_llama && case.clue(Clue::StableDiffusionCpp)
            || OF_PYTHON.contains(&self.id) && case.native_program()
            || OF_LAYERS.contains(&self.id) && case.of_gaussians()
            || of_data && case.sets_up_a_group()
            || self.id == "fix-the-shape" && (case.data_goes_first() || case.moves_a_model())
            // The model is in the making: no optimizer has been made for it.
            || self.class == Class::Optimizer && case.builds_before_an_optimizer()
            // No weight is in what goes there.
            || (matches!(self.class, Class::Model | Class::Sharding) || self.id == "weight-offload")
                && case.data_goes_first()
    }

    /// True for changes of what one process holds, and of what nobody of the job holds.
    fn saves_by_itself(&self) -> bool {
        matches!(
            self.class,
            Class::Batch
                | Class::Shapes
                | Class::Activations
                | Class::Precision
                | Class::Optimizer
                | Class::Model
                | Class::Offload
                | Class::Evaluation
        ) || self.id == "kill-zombies"
    }

    /// True where growth is what fills the device and the change is one of size alone.
    fn postpones(&self, case: &Case) -> bool {
        let of_size = matches!(
            self.class,
            Class::Batch
                | Class::Shapes
                | Class::Activations
                | Class::Precision
                | Class::Optimizer
                | Class::Model
                | Class::Sharding
                | Class::Offload
        );
        // Whatever the allocator arranges, what grows fills it a little later.
        let arranges = self.class == Class::AllocConfig && case.confidence(CauseId::Fragmentation) < IN_PIECES;
        let of_size = of_size || arranges;
        let sure = case.confidence(CauseId::LeakGrowth) >= GROWTH;
        // An array that was refused last is none of data that are read: a part of it would be refused a little later.
        let of_an_array = self.id == "read-less-at-once" && case.requested().is_some() && !case.context.reads_a_file();
        (of_size && case.on_gpu() && sure || of_an_array && case.on_host() && (sure || case.rises_all_along()))
            && !is_for(self, CauseId::LeakGrowth)
    }

    /// How likely it cures each cause, where no particular circumstance is given.
    pub fn cures(&self) -> &'static cures::Table {
        &cures::of(self.id).cures
    }
}

/// From this share on growth is what fills a device.
const GROWTH: f64 = 0.6;

/// From this share on pieces of the cache may be a cause beside growth.
const IN_PIECES: f64 = 0.15;

/// A fix as the report shows it.
#[derive(Clone)]
pub struct Ranked {
    pub fix: &'static Fix,
    pub offer: Offer,
    /// P(cures) × usefulness ÷ cost; only the order matters.
    pub value: f64,
    /// It changes nothing: it shows what the memory holds, for the next time. Such offers stand behind all changes.
    pub look: bool,
}

impl Ranked {
    /// What the change is called in this incident.
    pub fn title(&self) -> Text {
        self.offer.title.as_deref().cloned().unwrap_or_else(self.fix.title)
    }
}

/// All advice for one incident.
#[derive(Clone, Default)]
pub struct Plan {
    pub offers: Vec<Ranked>,
    pub wont_help: Vec<(&'static Fix, Text)>,
    pub withheld: Vec<(&'static Fix, Text)>,
}

/// Every fix, in the order in which equals are shown: what costs nothing first.
pub const FIXES: &[&Fix] = &[
    &free_the_device::FIX,
    &device_per_rank::FIX,
    &other_device::FIX,
    &kill_zombies::FIX,
    &expandable_segments::FIX,
    &expandable_segments_off::FIX,
    &one_region::FIX,
    &garbage_collection_threshold::FIX,
    &max_split_size::FIX,
    &return_pooled_memory::FIX,
    &shape_bucketing::FIX,
    &smaller_batch::FIX,
    &less_at_once::FIX,
    &gradient_accumulation::FIX,
    &smaller_eval_batch::FIX,
    &no_grad_in_eval::FIX,
    &offload_eval_predictions::FIX,
    &detach_logged_tensors::FIX,
    &find_the_leak::FIX,
    &shorter_sequences::FIX,
    &group_by_length::FIX,
    &smaller_images::FIX,
    &fewer_gaussians::FIX,
    &keep_data_on_host::FIX,
    &fused_attention::FIX,
    &gradient_checkpointing::FIX,
    &mixed_precision::FIX,
    &fused_optimizer::FIX,
    &eight_bit_optimizer::FIX,
    &lighter_optimizer::FIX,
    &empty_cache::FIX,
    &gc_collect::FIX,
    &set_per_process_memory_fraction::FIX,
    &launch_blocking::FIX,
    &record_a_snapshot::FIX,
    &shm_size::FIX,
    &clear_shared_files::FIX,
    &bound_the_cache::FIX,
    &shared_cache::FIX,
    &fewer_workers::FIX,
    &persistent_workers_off::FIX,
    &no_python_lists_in_dataset::FIX,
    &raise_host_limit::FIX,
    &memory_request::FIX,
    &sharded_checkpoint::FIX,
    &choose_the_victim::FIX,
    &read_less_at_once::FIX,
    &smaller_buffers::FIX,
    &swap::FIX,
    &raise_ulimit::FIX,
    &load_weights_once::FIX,
    &fewer_at_once::FIX,
    &raise_runtime_limit::FIX,
    &raise_memory_fraction::FIX,
    &mps_watermark::FIX,
    &raise_engine_memory::FIX,
    &lower_engine_memory::FIX,
    &longer_context::FIX,
    &max_model_len::FIX,
    &fewer_sequences::FIX,
    &kv_cache_dtype::FIX,
    &fewer_cuda_graphs::FIX,
    &weight_quantisation::FIX,
    &more_devices::FIX,
    &weight_offload::FIX,
    &donate_buffers::FIX,
    &spill_to_host::FIX,
    &rmm_pool_size::FIX,
    &smaller_pool::FIX,
    &other_libraries::FIX,
    &narrower_profile::FIX,
    &quantised_features::FIX,
    &release_earlier_rounds::FIX,
    &stream_the_data::FIX,
    &evaluate_each_step::FIX,
    &arena_growth::FIX,
    &smaller_state_vector::FIX,
    &preallocation_fraction::FIX,
    &chunk_the_operation::FIX,
    &fix_the_shape::FIX,
    &same_collectives::FIX,
    &activation_offload::FIX,
    &bf16_states::FIX,
    &half_in_training::FIX,
    &lora::FIX,
    &qlora::FIX,
    &freeze_layers::FIX,
    &chunked_loss::FIX,
    &logits_to_keep::FIX,
    &shard_states::FIX,
    &cpu_offload::FIX,
    &ddp_bucket_view::FIX,
    &nccl_buffers::FIX,
    &cudnn_workspace::FIX,
    &load_to_cpu::FIX,
    &share_one_model::FIX,
    &ema_on_cpu::FIX,
    &vae_tiling::FIX,
    &smaller_kernel_tiles::FIX,
    &carve_out::FIX,
    &check_ids::FIX,
    &data_parallel::FIX,
    &pin_memory::FIX,
    &sample_cache_off::FIX,
    &combination::FIX,
];

/// Most offers of one class among the first [`HEAD`].
const MOST_OF_A_CLASS: usize = 2;
/// Length of the part of the list that people read.
const HEAD: usize = 5;

/// Asks every fix and ranks what it offers by expected value: the probability of a cure, less for what it costs.
/// Among the first five no class appears more than twice, so that near-duplicates don't crowd out other ways.
pub fn plan(incident: &Incident, findings: &[Finding]) -> Plan {
    let mut plan = Plan::default();
    let case = Case::new(incident, findings);
    let leading = findings.first().map(|leading| leading.cause.id);
    for fix in FIXES {
        match fix.advice(&case) {
            Advice::Offer(offer) => {
                let value = value(&offer);
                plan.offers.push(Ranked { fix, offer, value, look: looks(fix, leading) });
            }
            Advice::WontHelp(why) => plan.wont_help.push((fix, why)),
            Advice::Withheld(why) => plan.withheld.push((fix, why)),
            Advice::Silent => {}
        }
    }
    // The sort is stable: equals stay in the order of the list.
    plan.offers.order_by(|a, b| b.value.total_cmp(&a.value));
    let named = named_causes(incident, findings);
    let (looks, offers): (Vec<Ranked>, Vec<Ranked>) = plan.offers.into_iter().partition(|ranked| ranked.look);
    let (mut changes, mut beside): (Vec<Ranked>, Vec<Ranked>) =
        offers.into_iter().partition(|ranked| named.iter().any(|cause| cures_at_best(ranked.fix, *cause) >= SOME_CURE));
    // Of a cause that nothing here cures well, the little that is known is better than nothing.
    if changes.is_empty() {
        std::mem::swap(&mut changes, &mut beside);
    }
    plan.withheld.extend(beside.into_iter().map(|ranked| {
        let why = text!(en: "it cures none of the causes that are named", zh: "对所列各原因都没有作用");
        (ranked.fix, why)
    }));
    plan.offers = spread(changes, leading);
    plan.offers.extend(looks);
    plan
}

/// True for what only looks: a recording, and the search for what grows where growth is not what leads. Where it leads
/// nothing can be changed before it is found.
fn looks(fix: &Fix, leading: Option<CauseId>) -> bool {
    fix.class == Class::Diagnosis || fix.id == find_the_leak::FIX.id && leading != Some(CauseId::LeakGrowth)
}

/// Length of the part of the list that is read first.
const FIRST: usize = 3;
/// A change that cures a cause in so many cases is one for it.
const FOR_A_CAUSE: f64 = 0.3;

/// True for a change that is one for a cause, in whatever circumstances.
fn is_for(fix: &Fix, cause: CauseId) -> bool {
    cures_at_best(fix, cause) >= FOR_A_CAUSE
}

/// How likely a change cures a cause, in the circumstances that are best for it.
fn cures_at_best(fix: &Fix, cause: CauseId) -> f64 {
    let row = cures::of(fix.id);
    row.when.values().chain([&row.cures]).filter_map(|table| table.get(&cause)).copied().fold(0.0, f64::max)
}

/// A change that cures a named cause at most this seldom is advice for something that nobody named.
const SOME_CURE: f64 = 0.1;

/// A cause that is said to hold this seldom is named for completeness, and nothing is changed for it.
const HARDLY: f64 = 0.05;

/// The causes that the report names, for which changes are offered.
fn named_causes(incident: &Incident, findings: &[Finding]) -> Vec<CauseId> {
    let candidates = conclusion::candidates(findings, conclusion::conclude(incident, findings));
    let share =
        |cause: &CauseId| findings.iter().find(|finding| finding.cause.id == *cause).map_or(0.0, |f| f.confidence);
    candidates
        .into_iter()
        .enumerate()
        .filter(|(i, cause)| *i == 0 || share(cause) >= HARDLY)
        .map(|(_, cause)| cause)
        .collect()
}

/// Expected value of an offer: P(cures) × what is kept of results and speed. Costs weigh mildly, because a job that
/// runs slower beats one that dies; a change of the model weighs most.
fn value(offer: &Offer) -> f64 {
    offer.cures * kept(&offer.costs)
}

/// Share of results and speed that is kept.
fn kept(costs: &Costs) -> f64 {
    let kept_results = match costs.numerics {
        Numerics::Same => 1.0,
        Numerics::Benign => 0.97,
        Numerics::Optimisation => 0.88,
        Numerics::Model => 0.75,
    };
    let (low, high) = costs.slows;
    let slowdown = ((low + high) / 2.0).clamp(-0.1, 1.0);
    kept_results * (1.0 - 0.5 * slowdown)
}

/// Another way is worth its place before a third of the same class if it is worth at least this part of it.
const WORTH_ANOTHER_WAY: f64 = 0.5;

/// Moves what would be a class's third entry among the first [`HEAD`] behind other ways that are worth nearly as much;
/// the order is kept otherwise. The first [`FIRST`] hold a change for the leading cause, where one is offered at all.
fn spread(mut offers: Vec<Ranked>, leading: Option<CauseId>) -> Vec<Ranked> {
    let mut head: Vec<Ranked> = Vec::new();
    while head.len() < HEAD && !offers.is_empty() {
        let crowded = |ranked: &Ranked| {
            head.iter().filter(|other| other.fix.class == ranked.fix.class).count() >= MOST_OF_A_CLASS
        };
        let best = offers.first().map_or(0.0, |best| best.value);
        let speaks = |ranked: &Ranked| leading.is_some_and(|leading| is_for(ranked.fix, leading));
        let last_call = head.len() + 1 == FIRST && !head.iter().any(speaks);
        let speaker = last_call.then(|| offers.iter().position(speaks)).flatten();
        let another = || {
            let other = offers.iter().position(|ranked| !crowded(ranked));
            other.filter(|at| offers.get(*at).is_some_and(|other| other.value >= WORTH_ANOTHER_WAY * best))
        };
        let next = speaker.or_else(another).unwrap_or(0);
        head.push(offers.remove(next));
    }
    head.extend(offers);
    head
}

/// What the files of the fixes are written with.
mod prelude {
    pub(super) use super::case::{Case, bytes, join, show};
    pub(super) use super::draft::Draft;
    pub(super) use super::knob::{line, said};
    pub(super) use super::need::Need;
    pub(super) use super::subject::AtOnce;
    pub(super) use super::work::Work;
    pub(super) use super::{Advice, Certainty, Class, Costs, Fix, Numerics};
    pub(super) use crate::cause::CauseId;
    pub(super) use crate::dialect::{Fact, Resource, Sign};
    pub(super) use crate::domain::program::DeviceUse;
    pub(super) use crate::domain::{Accelerator, Number, Program, Target, Trainer};
    pub(super) use crate::incident::context::{Clue, Phase, Precision, Quantity, Subject};
    pub(super) use crate::text;
    pub(super) use crate::text::Text;
    pub(super) use crate::units::{GIB, Interval, MIB, about};
}

#[cfg(test)]
mod tests;

#[cfg(test)]
mod ranking_tests;
