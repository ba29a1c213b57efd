//! What the failing moment shows: what lies in memory then, what is being done, and what the code that failed works
//! with. [`super::need`] asks; each answer comes from frames, phase and signs, and where nothing tells, it says which
//! way it leans.

use super::case::{Case, show};
use super::work::Work;
use crate::account::proof::ModelStates;
use crate::cause::{CauseId, mechanism};
use crate::dialect::{Event, Fact, Resource, Sign};
use crate::domain::program::Language;
use crate::domain::{Number, Program, Trainer};
use crate::estimate::serving::Budget;
use crate::incident::context::{Clue, Frame, Phase, Subject, Unit};
use crate::text;
use crate::text::Text;
use crate::units::GIB;

/// Frames from the innermost outwards that belong to one call of a user's line into a library.
const WITHIN_ONE_CALL: usize = 8;

/// A request of so many devices is of a size that nobody meant.
const ABSURD: i128 = 64;

/// Tokens of a step, all samples together, whose activations are next to nothing beside what the parameters need.
const HARDLY_ANY: u64 = 128;

/// Functions of `torch.nn.init` and of model libraries that fill a module which is being built.
const FILLS: &[&str] = &["reset_parameters", "_reset_parameters", "_init_weights", "init_weights", "post_init"];

/// Calls that make a process known to its group or a library to the device, before there is any data.
const STARTS: &[&str] = &["init_process_group", "distributed.barrier(", "dist.barrier(", ".set_device("];

/// Those of them that only a job of several processes makes.
const GROUPS: &[&str] = &["init_process_group", "distributed.barrier(", "dist.barrier(", "DistributedDataParallel("];

/// Words of attention's own code.
const ATTENTION: &[&str] =
    &["attn", "attention", "softmax", "q @ k", "query", "scores", "baddbmm", "k.transpose", "keys.transpose"];

/// Words of which a program that works with a model has one somewhere in its lines, functions and files.
const OF_A_MODEL: &[&str] = &[
    "model",
    "net",
    "train",
    "learn",
    "loss",
    "forward",
    "backward",
    "epoch",
    "optim",
    "encod",
    "decod",
    "embed",
    "predict",
    "infer",
    "generat",
    "sampl",
    "layer",
    "conv",
    "attention",
    "attn",
    "linear",
    "head",
    "unet",
    "vae",
    "diffus",
    "pipe",
    "bert",
    "gpt",
    "llm",
    "llama",
    "clip",
    "classif",
    "detect",
    "segment",
    "policy",
    "agent",
    "actor",
    "critic",
    "eval",
    "valid",
    "test",
    "batch",
    "feature",
    "token",
    "logit",
];

/// From this share on the device is the wrong one.
const LIKELY_WRONG: f64 = 0.4;

/// Tenths of a device from which on its weights are what fills it.
const MOSTLY_WEIGHTS: i128 = 7;

/// Endings of files of weights: a folder and such a file are no name of the hub.
const OF_A_FILE: &[&str] = &[
    ".bin",
    ".pt",
    ".pth",
    ".ckpt",
    ".tar",
    ".gguf",
    ".safetensors",
    ".onnx",
    ".engine",
    ".h5",
    ".pb",
    ".pkl",
    ".npy",
    ".npz",
    ".yaml",
    ".yml",
    ".json",
];

/// What functions are called that make parts of an object for its constructor.
const MAKERS: &[&str] = &["__init__", "create", "build", "init", "make", "setup", "set_up", "define"];

/// Calls that run a pass in 16 bit, or give back in 32 bit what it computed so.
const IN_16_BIT: &[&str] = &["convert_to_fp32(", "autocast(", "amp.scale_loss(", "scaler.scale("];

/// The most memory of one accelerator that is sold: 288 GB of HBM3E.
const LARGEST_DEVICE: i128 = 288 * GIB as i128;

impl<'a> Case<'a> {
    /// True for a script whose whole traceback is there and shows tensors at work, but no model: nothing has a batch or
    /// samples there.
    pub(super) fn works_without_a_model(&self) -> bool {
        let (context, frames) = (self.context, &self.context.frames);
        let whole = frames.first().is_some_and(|first| first.function == "<module>" && first.is_user_code());
        // What a library's frames do, their words do not tell.
        let plain = |frame: &Frame| {
            let file = frame.path();
            let tensors = file.contains("/torch/functional.py") || file.ends_with("/torch/_tensor.py");
            frame.is_user_code() && frame.code.is_some() || tensors
        };
        let speaks = |frame: &Frame| {
            let file = frame.path().rsplit('/').next().unwrap_or_default().to_ascii_lowercase();
            let code = frame.code.as_deref().unwrap_or_default().to_ascii_lowercase();
            let function = frame.function.to_ascii_lowercase();
            OF_A_MODEL.iter().any(|word| [&file, &code, &function].iter().any(|text| text.contains(word)))
        };
        let told = context.phase.is_known()
            || context.batch_size.is_known()
            || context.epoch.is_known()
            || context.epochs.is_known()
            || context.optimizer.is_known()
            || context.model.is_known()
            || context.parameters.is_known()
            || context.trainer.value().is_some_and(|trainer| trainer != Trainer::PlainPytorch);
        self.pytorch() && whole && !told && frames.iter().all(plain) && !frames.iter().any(speaks)
    }

    /// The trainer, where a traceback does not show a loop of the user's own: a script may print a trainer's banner.
    pub(super) fn trainer_seen(&self) -> Option<Trainer> {
        let told = self.context.trainer.value()?;
        let calls =
            |frame: &Frame| frame.code.as_deref().is_some_and(|code| code.to_ascii_lowercase().contains("trainer"));
        let called = self.context.frames.iter().any(calls);
        if told != Trainer::HfTrainer || called || !self.own_loop("transformers/trainer") {
            return Some(told);
        }
        let accelerate = self.context.frames.iter().any(|frame| frame.path().contains("/accelerate/"));
        Some(if accelerate { Trainer::Accelerate } else { Trainer::PlainPytorch })
    }

    /// True where the traceback starts in the user's script and no frame of it lies in the library.
    pub(super) fn own_loop(&self, library: &str) -> bool {
        let frames = &self.context.frames;
        frames.first().is_some_and(|first| first.function == "<module>" && first.is_user_code())
            && frames.len() > 1
            && !frames.iter().any(|frame| frame.path().contains(library))
    }

    /// True where sound is worked on.
    pub fn of_sound(&self) -> bool {
        self.subject() == Some(Subject::Sound)
    }

    /// The innermost frames, the failing one first.
    fn innermost(&self) -> impl Iterator<Item = &'a Frame> {
        self.context.frames.iter().rev().take(WITHIN_ONE_CALL)
    }

    /// The innermost line of the user's own code.
    pub fn failing_code(&self) -> &'a str {
        self.context.failing_code()
    }

    /// Why no activation is left at the failing point; `None` where a pass may be under way.
    pub fn activations_gone(&self) -> Option<Text> {
        if self.phase() == Some(Phase::Checkpoint) || self.clue(Clue::GathersState) {
            return Some(text!(
                en: "it failed while saving, when the activations are gone already",
                zh: "失败发生在保存检查点时，此时激活早已释放"
            ));
        }
        if self.averaging() {
            return Some(text!(
                en: "it failed while the averaged copy was updated, when the activations are gone already",
                zh: "失败发生在更新平均副本时，此时激活早已释放"
            ));
        }
        let (length, batch) = (self.context.sequence_length.value(), self.context.batch_size.value());
        let tokens = length.zip(batch).map(|(length, batch)| length.saturating_mul(batch));
        if let Some(tokens) = tokens.filter(|tokens| *tokens <= HARDLY_ANY) {
            return Some(text!(
                en: "a step has {tokens} tokens in all: its activations are next to nothing",
                zh: "每步总共只有 {tokens} 个 token：激活微不足道"
            ));
        }
        if self.activations_at_most() == Some(0) && !self.evaluating() {
            let count = format!("{:.2}", self.context.parameters.value().unwrap_or_default() / 1e9);
            return Some(text!(
                en: "the weights alone, 2 bytes for each of {count} G parameters, are what is allocated",
                zh: "已分配的就是权重本身：{count} G 参数，每个 2 字节"
            ));
        }
        if let Some(each) = self.bytes_for_each_parameter() {
            return Some(text!(
                en: "the request is {each} bytes for each parameter: a buffer of the model's, whatever the batch",
                zh: "申请量正好是每参数 {each} 字节：属于模型自身的缓冲，与批大小无关"
            ));
        }
        (self.phase() == Some(Phase::OptimizerStep) || self.clue(Clue::OptimizerState)).then(|| match self.phase() {
            Some(Phase::OptimizerSetup) => text!(
                en: "it failed while the optimizer was made, before any batch",
                zh: "失败发生在创建优化器时，尚未处理任何批次"
            ),
            // A graph updates one tensor while another's gradient is still computed.
            _ if self.program() == Program::Tensorflow => text!(
                en: "it failed in the optimizer's update of a tensor, whose size no batch changes",
                zh: "失败发生在优化器更新某个张量时，其大小与批次无关"
            ),
            _ => text!(
                en: "it failed in the optimizer's step, when the activations are gone already",
                zh: "失败发生在优化器步进时，此时激活早已释放"
            ),
        })
    }

    /// Bytes for each parameter that the request comes to, where it is a copy of all of them in a usual width.
    pub(super) fn bytes_for_each_parameter(&self) -> Option<u64> {
        let count = self.context.parameters.value().filter(|count| *count >= 1e7)?;
        let asked = self.requested()?.middle() as f64;
        [2u64, 4, 8].into_iter().find(|each| (asked - count * *each as f64).abs() <= asked / 200.0)
    }

    /// True where a group of processes is being set up: its library asks for buffers before there is any data.
    pub(super) fn sets_up_a_group(&self) -> bool {
        let context = self.context;
        self.sign(Sign::Nccl)
            && self.sign(Sign::NoFigures)
            && context.frames.is_empty()
            && context.phase.value().is_none()
            && context.step.value().is_none()
            && context.epoch.value().is_none()
    }

    /// True where results of all ranks are gathered on the device.
    pub(super) fn gathers_results(&self) -> bool {
        let names = |frame: &Frame| {
            let function = frame.function.as_str();
            function.contains("all_gather") || function.contains("synchronize_between_processes")
        };
        self.context.exchanges_objects() || self.context.frames.iter().rev().take(3).any(names)
    }

    /// True where what fills memory are weights that a program reads, converts or merges.
    pub(super) fn handles_weights(&self) -> bool {
        const WORDS: [&str; 8] =
            ["convert", "to_hf_", "quantiz", "merge_", "gguf", "ggml", "local_chat", "export_model"];
        let told = [self.context.program.get(), self.context.command.get()];
        self.loading()
            || self.clue(Clue::CopyPerNode)
            || told.into_iter().flatten().any(|text| WORDS.iter().any(|word| text.to_ascii_lowercase().contains(word)))
    }

    /// True where transformers' own loader shows by a model of the hub: `owner/name`.
    pub(super) fn of_the_hub(&self) -> bool {
        let named = |model: &String| {
            let parts: Vec<&str> = model.split('/').collect();
            let plain = |part: &&str| {
                part.starts_with(|c: char| c.is_ascii_alphanumeric())
                    && part.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'))
            };
            parts.len() == 2 && parts.iter().all(plain) && !OF_A_FILE.iter().any(|end| model.ends_with(end))
        };
        self.context.model.get().is_some_and(named)
    }

    /// True where a pass over data may be under way, as far as the failing moment tells.
    pub fn in_a_pass(&self) -> bool {
        self.activations_gone().is_none() && !self.before_a_pass()
    }

    /// True where nothing of a pass can be in memory yet: weights are read, a model is built, a process starts, or
    /// nothing at all was held.
    pub(super) fn before_a_pass(&self) -> bool {
        let begun = !self.loading()
            && !self.holds_nothing()
            && !self.data_goes_first()
            && !self.constructs()
            && !self.starts()
            && !self.context.exchanges_objects()
            // A handle of cuBLAS or cuDNN is made in the midst of a pass, when it is first needed.
            && (!self.sign(Sign::ContextCreation) || self.sign(Sign::ForeignLibrary));
        !begun
    }

    /// True where PyTorch itself held nothing when its first request was refused: not even weights were there.
    fn holds_nothing(&self) -> bool {
        self.pytorch() && self.on_gpu() && self.allocated().is_some_and(|allocated| allocated.high == 0)
    }

    /// True where an engine compares what is free with what it wants, before anything is loaded: neither weights nor
    /// lengths have a part in it.
    pub(super) fn compares_at_start(&self) -> bool {
        let budget = Budget::of(&self.incident.event.facts);
        let printed = budget.share.is_some() && budget.free.is_some();
        self.on_gpu() && self.sign(Sign::EngineStartup) && (printed || self.sign(Sign::UnevenDevices))
    }

    /// True where the layers of a model are being made or copied: no data has been read yet.
    pub(super) fn builds_a_model(&self) -> bool {
        let layer = |frame: &Frame| {
            let file = frame.path();
            let of_models =
                file.contains("/torch/nn/") || file.contains("/modeling_") || file.contains("/timm/models/");
            FILLS.contains(&frame.function.as_str())
                || file.ends_with("/torch/nn/init.py")
                || frame.function.ends_with("__init__") && of_models
                // Keras makes a layer's weights when it learns of the input's shape.
                || matches!(frame.function.as_str(), "build" | "add_weight") && file.contains("keras/")
                || frame.function == "__deepcopy__" && file.contains("/torch/")
        };
        self.innermost().any(layer) && !self.innermost().any(|frame| frame.function == "forward")
    }

    /// True where the model's own state was being read, which every checkpoint holds: what it leaves out comes later.
    pub(super) fn reads_own_weights(&self) -> bool {
        self.context.frames.iter().any(|frame| {
            let code = frame.code.as_deref().unwrap_or_default();
            code.contains("model.state_dict(") || frame.function == "_save_to_state_dict"
        })
    }

    /// True where the failing line makes a second model of one that is there: the first is what it is made of.
    pub(super) fn copies_a_model(&self) -> bool {
        let deep = |frame: &Frame| frame.function == "deepcopy" && frame.path().ends_with("/copy.py");
        self.failing_code().contains("deepcopy(") || self.context.frames.iter().any(deep)
    }

    /// True where the job runs on several devices, by what it was told or by the calls that failed: a group of
    /// processes that wait for each other has one device for each.
    pub(super) fn several_devices(&self) -> bool {
        let waits = |frame: &Frame| {
            let code = frame.code.as_deref().unwrap_or_default();
            GROUPS.iter().any(|call| code.contains(call))
        };
        self.context.world_size.value().is_some_and(|ranks| ranks > 1)
            || self.incident.event.rank.is_some()
            || self.clue(Clue::DataParallel)
            || self.context.frames.iter().any(waits)
    }

    /// True where the user's own code is making an object, rather than working with one.
    pub fn constructs(&self) -> bool {
        let own = self.context.frames.iter().rev().filter(|frame| frame.is_user_code());
        let made = |frame: &&Frame| {
            let function = frame.function.rsplit('.').next().unwrap_or_default();
            MAKERS.iter().any(|maker| function == *maker || function.trim_start_matches('_').starts_with(maker))
        };
        // The constructor itself, or a method of the kind that constructors call.
        own.take_while(made).any(|frame| frame.function.ends_with("__init__"))
            && !self.context.frames.iter().any(|frame| frame.function == "forward")
    }

    /// True where an object of the user's is made that is no optimizer's and holds none.
    pub(super) fn builds_before_an_optimizer(&self) -> bool {
        let of_an_optimizer = |frame: &Frame| {
            let code = frame.code.as_deref().unwrap_or_default().to_ascii_lowercase();
            code.contains("optim") || frame.path().contains("optim")
        };
        self.on_gpu()
            && self.constructs()
            && self.phase() != Some(Phase::OptimizerSetup)
            && !self.clue(Clue::OptimizerState)
            && !self.context.frames.iter().any(of_an_optimizer)
    }

    /// True where a library, a device or a group of processes is being set up.
    fn starts(&self) -> bool {
        let code = self.failing_code();
        STARTS.iter().any(|call| code.contains(call))
            || matches!(self.phase(), Some(Phase::CommunicatorSetup | Phase::OptimizerSetup))
            || self.on_gpu() && self.phase() == Some(Phase::DataLoading)
            || self.context.imports()
            || self.context.frames.last().is_some_and(|frame| frame.function == "_lazy_init")
    }

    /// True where the request is of a size that nobody meant: overflown, or as large as many devices.
    pub fn absurd(&self) -> bool {
        self.sign(Sign::AbsurdRequest)
            || self
                .requested()
                .zip(self.capacity())
                .is_some_and(|(asked, all)| asked.low > all.high.saturating_mul(ABSURD))
    }

    /// True where more RAM is asked for at once than most servers have: nobody buys that much for one array.
    pub fn asks_beyond_machines(&self) -> bool {
        const MOST: i128 = 256 * GIB as i128;
        !self.on_device() && self.requested().is_some_and(|asked| asked.low >= MOST)
    }

    /// True where transformers' Trainer reads its own checkpoint: a single process maps it to the host.
    pub fn trainer_reads(&self) -> bool {
        let loads = |frame: &Frame| frame.path().contains("/transformers/trainer") && frame.function.contains("load");
        self.context.world_size.value().is_none_or(|ranks| ranks <= 1) && self.context.frames.iter().any(loads)
    }

    /// True where it is an optimizer's state that is put back.
    pub fn restores_an_optimizer(&self) -> bool {
        let puts_back = |frame: &Frame| frame.is_user_code() && frame.function.contains("load_opt");
        self.context.frames.iter().any(puts_back)
            || self.innermost().any(|frame| {
                frame.path().contains("/torch/optim/")
                    || frame.code.as_deref().is_some_and(|code| code.contains("optimizer.load_state_dict"))
            })
    }

    /// True where a checkpoint is read whose tensors may return to the device that they were saved from.
    pub fn reads_a_checkpoint(&self) -> bool {
        let codes = || self.context.frames.iter().filter_map(|frame| frame.code.as_deref());
        let to_cpu = |code: &str| {
            code.split_once("map_location").is_some_and(|(_, rest)| rest.contains("cpu") || rest.contains("meta"))
        };
        if codes().any(to_cpu) {
            return false;
        }
        let reads = |frame: &Frame| {
            frame.path().ends_with("torch/serialization.py")
                || ["load_state_dict", "load_checkpoint"].iter().any(|name| frame.function.ends_with(name))
        };
        codes().any(|code| {
            ["torch.load(", "load_state_dict(", "load_from_checkpoint("].iter().any(|call| code.contains(call))
        }) || self.innermost().any(reads)
    }

    /// True where a request was refused that a part of what is free would have held, and no limit shows: an amount of
    /// memory is not what was missing.
    pub fn refused_with_room(&self) -> bool {
        let (Some(asked), Some(free), Some(all)) = (self.requested(), self.free(), self.capacity()) else {
            return false;
        };
        self.on_gpu() && free.low > asked.high.saturating_mul(4) && free.low.saturating_mul(10) > all.high
    }

    /// True where even this share of the request is more than the device has, or than any has where the log does not
    /// tell.
    pub fn still_beyond(&self, share: f64) -> bool {
        let all = self.capacity().map_or(LARGEST_DEVICE, |all| all.high);
        self.requested().is_some_and(|asked| asked.low as f64 * share > all as f64)
    }

    /// True where the message itself tells of weights that are being loaded.
    pub(super) fn says_loading(&self) -> bool {
        let loads = |event: &Event| event.of_loading() || event.of_a_session_start();
        std::iter::once(&self.incident.event).chain(&self.incident.followers).any(loads)
    }

    /// True inside a call that switches gradients off by itself: a library's, or one under `@torch.no_grad()`, which
    /// stands in a traceback as `decorate_context` (`torch/utils/_contextlib.py`, `torch/autograd/grad_mode.py` before
    /// 2.0); or the validation and prediction of a trainer whose own loop does.
    pub fn decorated(&self) -> bool {
        let validates = matches!(self.phase(), Some(Phase::Validation | Phase::Inference));
        let by_its_trainer = validates && self.trainer().is_some_and(Trainer::evaluates_without_gradients);
        // What transformers generates by is decorated, whether that frame is printed or was cut.
        let generates = self.frames_of("/transformers/models/") && self.shows_call(&[".generate("]);
        by_its_trainer
            || generates
            || self.context.frames.iter().any(|frame| {
                let file = frame.path();
                file.contains("/transformers/generation/")
                    || file.contains("/diffusers/pipelines/")
                    || frame.function == "decorate_context" && file.contains("/torch/")
            })
    }

    /// True where the pass computes in 16 bit by its own frames: autocast, and what gives its outputs back in 32 bit.
    pub(super) fn autocasts(&self) -> bool {
        self.context.frames.iter().any(|frame| {
            let code = frame.code.as_deref().unwrap_or_default();
            frame.path().ends_with("amp/autocast_mode.py")
                || frame.function == "decorate_autocast"
                || IN_16_BIT.iter().any(|call| code.contains(call))
        })
    }

    /// True where the first step of training failed before its `optimizer.step()`: no optimizer has a state yet, unless
    /// a library makes it at the start.
    pub(super) fn before_the_first_update(&self) -> bool {
        let made_at_start = matches!(self.trainer(), Some(Trainer::DeepSpeed | Trainer::Megatron))
            || self.context.zero_stage.is_known()
            || self.context.frames.iter().any(|frame| frame.path().contains("/deepspeed/"));
        matches!(self.phase(), Some(Phase::Forward | Phase::Loss | Phase::Backward))
            && self.training()
            && self.context.step.value() == Some(0)
            && self.context.epoch.value().is_none_or(|epoch| epoch <= 1)
            && !self.clue(Clue::Resumed)
            && !made_at_start
    }

    /// Why a change of the optimizer's states frees nothing at this failure; `None` where they may be in memory.
    pub(super) fn no_states_yet(&self) -> Option<Text> {
        let withheld = self.before_the_first_update() && self.never_fits().is_none() && !self.composing();
        withheld.then(|| {
            text!(
                en: "the first optimizer.step() was not reached: no state is in memory yet that could be smaller",
                zh: "尚未执行第一次 optimizer.step()：内存中还没有可以缩小的优化器状态"
            )
        })
    }

    /// True where the readings of RAM rise all along, and by much: what is kept grows with what is done. A few figures
    /// are enough where each one lies well above the last.
    pub(super) fn rises_all_along(&self) -> bool {
        let of_ram = self.context.series.iter().filter(|series| !series.measure.on_device());
        let named = self.context.trends.iter().filter(|trend| {
            trend.unit == Unit::Bytes && !trend.free && !trend.of_device() && !trend.series().running_maximum
        });
        let of_ram = of_ram.map(|series| series.readings.iter().map(|reading| reading.bytes as f64).collect());
        let named = named.map(|trend| trend.samples.iter().map(|(_, bytes)| *bytes).collect());
        self.on_host() && of_ram.chain(named).any(|values: Vec<f64>| evenly_rising(&values))
    }

    /// The share of memory that was in use at the last reading, in percent, where a request was refused with more than
    /// half of it left: what refused it is no lack of RAM.
    pub(super) fn refused_far_below_all(&self) -> Option<f64> {
        let killed = self.incident.event.killed();
        let shares = self.context.trends.iter().filter(|trend| trend.unit == Unit::Percent && !trend.of_device());
        let last = shares.filter_map(|trend| {
            let used = |share: f64| if trend.free { 100.0 - share } else { share };
            trend.samples.last().map(|(_, share)| used(*share))
        });
        let most = last.reduce(f64::max)?;
        let one_request = self.confidence(CauseId::SingleHugeAllocation) >= 0.2;
        (self.resource() == Resource::Host && !killed && !one_request && most < 50.0).then_some(most)
    }

    /// Why more memory of the machine is of no use to a process of 32 bits.
    pub(super) fn beyond_its_addresses(&self) -> Option<Text> {
        self.incident.of_32_bits().then(|| {
            text!(
                en: "a process of 32 bits has addresses for 2 to 4 GiB: more memory behind them is out of its reach",
                zh: "32 位进程只有 2 至 4 GiB 的地址空间：再多的内存它也用不到"
            )
        })
    }

    /// True where data loaders were being started: a fork, which asks for as much memory as the parent has.
    pub(super) fn forks_loaders(&self) -> bool {
        let forks = self.context.frames.last().is_some_and(|frame| {
            frame.function == "_launch" && frame.code.as_deref().is_some_and(|code| code.contains("os.fork()"))
        });
        forks && self.context.frames.iter().any(|frame| frame.path().ends_with("dataloader.py"))
    }

    /// True where ranks of one job read a checkpoint whose tensors return to the device they were saved from.
    pub(super) fn ranks_read_one_device(&self) -> bool {
        self.reads_a_checkpoint() && self.ranks_on_one_device()
    }

    /// True where ranks of one job took the same device: by their messages, or by processes of one size on a device
    /// that the causes found hold to be the wrong one.
    pub(super) fn ranks_on_one_device(&self) -> bool {
        let several = self.incident.event.facts.other_processes.len() > 1;
        let of_one_size = || {
            let read = mechanism::readings(self.incident);
            read.iter().any(|(mechanism, _)| mechanism.id == "like-sized-processes")
        };
        self.clue(Clue::RanksOnOneDevice)
            || several && self.confidence(CauseId::WrongDevice) >= LIKELY_WRONG && of_one_size()
    }

    /// True where a worker was ended at the share that each is given.
    pub(super) fn kept_to_a_budget(&self) -> bool {
        self.incident.event.kept_to_a_budget()
    }

    /// Why nothing that is saved helps: it was no amount of memory that was missing.
    pub(super) fn short_of_no_bytes(&self) -> Option<Text> {
        if self.incident.event.ran_out_of_a_count() {
            return Some(text!(
                en: "what runs out here is mostly a number of things that the driver keeps, not memory",
                zh: "这里耗尽的多半是驱动所能保持的对象数量，而不是内存"
            ));
        }
        // Only Metal's message tells all that is held under its limit.
        let below = |(mechanism, reading): &(&mechanism::Mechanism, mechanism::Reading)| {
            mechanism.id == "limit" && reading.level == "not-reached"
        };
        (self.sign(Sign::Mps) && mechanism::readings(self.incident).iter().any(below)).then(|| {
            text!(
                en: "the limit was not reached: the device gives nothing, however little is asked for",
                zh: "并未达到上限：无论申请多小，设备都不提供内存"
            )
        })
    }

    /// Why nothing that this process could save helps: ranks of its own job hold half of the device and more.
    pub(super) fn crowded_by_its_ranks(&self) -> Option<Text> {
        let shared = self.ranks_on_one_device() && self.on_gpu();
        let (others, all) = self.others().zip(self.capacity()).filter(|_| shared)?;
        (others.low * 2 >= all.high).then(|| {
            let (others, all) = (show(others.middle()), show(all.middle()));
            text!(
                en: "other ranks of this job hold {others} of the {all}: each needs a device of its own",
                zh: "本任务的其他 rank 占用了 {all} 中的 {others}：每个 rank 需要自己的设备"
            )
        })
    }

    /// True where the weights, or all that is kept for them, take so much of the device that no batch is what fills it.
    pub(super) fn weights_fill(&self) -> bool {
        let printed = self.incident.event.facts.get(Fact::Weights).map(|weights| weights.interval().low);
        let reckon = |states: ModelStates| (states.parameters.0 + states.parameters.1) / 2.0 * states.bytes_each.0;
        let computed = || self.context.model_states(&self.incident.event).map(|states| reckon(states) as i128);
        let least = printed.or_else(computed);
        self.on_gpu() && least.zip(self.capacity()).is_some_and(|(least, all)| least * 10 >= all.high * MOSTLY_WEIGHTS)
    }

    /// True for a container that was killed at its own limit, of which nothing shows that more than its one program
    /// runs in it.
    pub(super) fn alone_in_its_container(&self) -> bool {
        let warden = matches!(self.warden(), Some(Program::Kubernetes | Program::Docker | Program::Podman));
        let several = self.sign(Sign::DataLoaderWorker)
            || self.sign(Sign::PoolWorkerKilled)
            || self.context.workers.is_known()
            || self.context.world_size.value().is_some_and(|ranks| ranks > 1)
            || self.incident.event.facts.number(Number::TableTasks).is_some_and(|tasks| tasks > 1.0);
        warden && self.resource() == Resource::Cgroup && !self.incident.event.evicted() && !several
    }

    /// True where a program computes on a device without a model, by a library that no script speaks to: its users set
    /// the size of the problem and write no loop.
    pub(super) fn of_an_installed_program(&self) -> bool {
        let scripted = [Language::Python, Language::Julia];
        self.works() == [Work::Compute]
            && self.context.frames.is_empty()
            && !self.program().languages().iter().any(|language| scripted.contains(language))
    }

    /// True for a library that grows trees on a table of features.
    pub fn grows_trees(&self) -> bool {
        matches!(self.program(), Program::Xgboost | Program::LightGbm | Program::Catboost)
    }

    /// True where transformers or diffusers show, whose models `from_pretrained` loads.
    pub fn pretrained(&self) -> bool {
        let library = |frame: &Frame| {
            let (file, code) = (frame.path(), frame.code.as_deref().unwrap_or_default());
            // SwissArmyTransformer's takes the arguments of the command first.
            let hub = code.contains("from_pretrained") && !code.contains("from_pretrained(args,");
            file.contains("/transformers/") || file.contains("/diffusers/") || hub
        };
        self.context.frames.iter().any(library)
            || self.trainer().is_some_and(|trainer| trainer.trains_language_models() || trainer == Trainer::Diffusers)
    }

    /// True where the layers were spread over devices as the model was loaded.
    pub fn dispatched(&self) -> bool {
        let spreads = |frame: &Frame| {
            let file = frame.path();
            file.contains("/accelerate/") && (file.contains("modeling") || file.contains("big_modeling"))
                || file.ends_with("/accelerate/hooks.py")
                || frame.code.as_deref().is_some_and(|code| code.contains("device_map"))
        };
        self.context.frames.iter().any(spreads)
    }

    /// True where attention is what failed, by its own words.
    pub fn in_attention(&self) -> bool {
        let speaks = |frame: &Frame| {
            let text = format!("{} {}", frame.function, frame.code.as_deref().unwrap_or_default()).to_ascii_lowercase();
            ATTENTION.iter().any(|word| text.contains(word))
        };
        self.innermost().take(3).any(speaks) || self.context.user_frame().is_some_and(speaks)
    }

    /// True where the failing line multiplies queries by keys.
    pub fn multiplies_queries(&self) -> bool {
        let last = self.context.frames.last().and_then(|frame| frame.code.as_deref()).unwrap_or_default();
        ["q @ k", "k.transpose", "keys.transpose"].iter().any(|words| last.contains(words))
    }

    /// True where the fused operation is the one that ran.
    pub fn attention_is_fused(&self) -> bool {
        let fused = |frame: &Frame| {
            let code = frame.code.as_deref().unwrap_or_default();
            ["scaled_dot_product_attention", "flash_attn", "memory_efficient_attention"]
                .iter()
                .any(|name| code.contains(name) || frame.function.contains(name))
        };
        self.innermost().any(fused)
    }

    /// True for a form that ExLlama reads, which keeps every layer on a GPU.
    pub fn in_exllamas_form(&self) -> bool {
        self.engine() == Some(Program::Exllama) || self.model_is_named(&["exl2", "exl3"])
    }

    /// True for a quantised form that comes in several widths, of which a narrower one may be had.
    pub fn in_several_widths(&self) -> bool {
        self.model_is_named(&["exl2", "exl3", "gguf", "bpw"])
    }

    /// True for a form of hardly more than two bits for each weight, of which there is none that is narrower: `2.4bpw`.
    pub(super) fn in_its_narrowest_width(&self) -> bool {
        const FLOOR: f64 = 2.6;
        let Some(name) = self.context.model.get().map(|name| name.to_ascii_lowercase()) else { return false };
        let before = name.split_once("bpw").map_or("", |(before, _)| before).trim_end_matches(['-', '_', ' ']);
        let start = before.rfind(|c: char| !(c.is_ascii_digit() || c == '.')).map_or(0, |at| at + 1);
        before.get(start..).and_then(|bits| bits.parse::<f64>().ok()).is_some_and(|bits| bits <= FLOOR)
    }

    /// True where the model is of a kind that comes in forms of fewer bits and in layers that can be told apart: a
    /// language model, a diffusion model, one of a hub or of an engine. Networks that somebody trained for a task of
    /// their own, and those of web UIs and other libraries, are neither.
    pub(super) fn comes_in_forms(&self) -> bool {
        if self.of_latent_diffusion() {
            return false;
        }
        self.engine().is_some()
            || self.large_model()
            || self.pretrained()
            || self.of_the_hub()
            || self.in_several_widths()
            || self.in_exllamas_form()
            || self.weights_fill()
            || self.loading() && self.fills_the_device()
            || self.of_a_language_model()
            || self.diffusion() && self.trainer() != Some(Trainer::StableDiffusionWebUi)
    }

    /// True where what this process allocated is most of the device.
    fn fills_the_device(&self) -> bool {
        let (allocated, all) = (self.allocated(), self.capacity());
        allocated.zip(all).is_some_and(|(allocated, all)| allocated.low * 10 >= all.high * MOSTLY_WEIGHTS)
    }

    /// True for a language model, also where it answers in a program that is no engine known by name: behind OpenAI's
    /// interface, or out of candle's collection of models.
    pub(super) fn of_a_language_model(&self) -> bool {
        let of_models = |frame: &Frame| {
            frame.function.contains("candle_transformers") || frame.path().contains("/openai/api_server")
        };
        self.language_model() || self.clue(Clue::Serves) && self.apple() || self.context.frames.iter().any(of_models)
    }

    /// True where the model's name holds one of these words.
    fn model_is_named(&self, words: &[&str]) -> bool {
        let name = self.context.model.get().map(|name| name.to_ascii_lowercase());
        name.is_some_and(|name| words.iter().any(|word| name.contains(word)))
    }

    /// True where weights are quantised by what the program, its model or its frames are called.
    pub fn quantised(&self) -> bool {
        self.context.quantized.value() == Some(true)
            || self.context.quantised_width().is_some()
            || self.clue(Clue::FourBits)
            || self.context.frames.iter().any(|frame| frame.path().contains("/bitsandbytes/"))
    }

    /// True where adapters are trained, told or by what a quantised base allows.
    pub fn adapters(&self) -> bool {
        self.context.lora.value() == Some(true)
            || self.context.frames.iter().any(|frame| frame.path().contains("/peft/"))
            || self.training() && self.quantised()
    }

    /// True where the failing call gives back no tensor but a library's own memory beside a pool that took the device.
    pub fn beside_a_full_pool(&self) -> bool {
        let own = [Sign::Cublas, Sign::Cudnn, Sign::Nccl, Sign::ContextCreation, Sign::ForeignLibrary];
        self.program().preallocates() && own.iter().any(|sign| self.sign(*sign))
    }
}

/// True for four values and more of which each lies above the last by a third of the mean rise at least, and which rise
/// by half of the last one in all.
fn evenly_rising(values: &[f64]) -> bool {
    let (Some(first), Some(last)) = (values.first(), values.last()) else { return false };
    let mean = (last - first) / (values.len().max(2) - 1) as f64;
    values.len() >= 4
        && last - first >= last / 2.0
        && values.windows(2).all(|pair| matches!(pair, [one, next] if next - one >= mean / 3.0 && next > one))
}
