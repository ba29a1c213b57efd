//! Whose words a change is written in: the option that stands in the log, the user's own code, a tool's settings, or
//! the spelling of the program that started an engine.

use super::case::Case;
use super::tools;
use crate::domain::{Program, Trainer};
use crate::incident::context::{Clue, Frame, Quantity, Spelled};

/// Parts of the paths of programs that people run and set, but do not write: cloned repositories that are driven by
/// options or configuration files, and what a user interface loads, beside the applications of [`super::tools`]. Each
/// with a slash or a file's name, as it stands in their repositories.
const TOOLS: &[&str] = &[
    // Extensions and nodes of user interfaces; FramePack's parts are loaded by others as well.
    "/custom_nodes/",
    "/comfy/",
    "/extensions/",
    "/diffusers_helper/",
    // Trainers with a runner of their own.
    "/autotrain/",
    "/mmengine/",
    "/mmcv/runner/",
    "/fairseq/",
    "/fairseq_cli/",
    "/onmt/",
    "/eole/",
    "/nnunet/",
    "/nnunetv2/",
    "/espnet/",
    "/espnet2/",
    // kohya's sd-scripts.
    "/sd-scripts/",
    "/library/train_util.py",
    // Structures of proteins.
    "/alphafold/",
    "/openfold/",
    "/rf3/",
    // Films, pictures and speech from a prompt or a file.
    "/whisperjav/",
    "/demucs/",
    "/facefusion/",
    "/realesrgan/",
    // Actors that a library for reinforcement learning makes.
    "/verl/",
    "/openrlhf/",
    "/nemo_rl/",
    "/rllib/",
    // Poses of animals.
    "/deeplabcut/",
    // Pipelines of neuroimaging.
    "/niworkflows/",
    "/fmriprep/",
    "/nipype/",
];

/// Parts of the paths of servers of models, which have a command and settings, and make an engine's object by them.
const SERVERS: &[&str] = &["/xinference/", "/fastchat/", "/khoj/", "/open_webui/"];

/// Folders in which installers of desktop programs put them.
const INSTALLED: &[&str] = &[
    "/pinokio/api/",
    "/stabilitymatrix/",
    "/program files/",
    "/program files (x86)/",
    "/programdata/",
    "/appdata/local/programs/",
];

/// Calls of libraries, and the libraries one of which has to show before somebody is told to write them.
const OF_LIBRARIES: [(&str, &[&str]); 3] = [
    ("get_peft_model(", &["peft", "transformers", "trl"]),
    ("BitsAndBytesConfig(", &["transformers", "bitsandbytes", "peft", "diffusers"]),
    ("cut_cross_entropy", &["transformers", "cut_cross_entropy"]),
];

impl<'a> Case<'a> {
    /// The setting that decides a quantity, as this run was given it. `None` where the log shows none, and for an
    /// engine that prints its settings: those names are of its inside, and its options have others. A name with dots
    /// is a key of whoever started it.
    pub(super) fn own_option(&self, of: Quantity) -> Option<&'a Spelled> {
        let of_engine = self.engine().is_some() || self.within_an_engine();
        // Ollama starts a runner by a command of its own, which nobody types.
        let of_ollama = self.engine() == Some(Program::Ollama);
        let given =
            |spelled: &&Spelled| !of_engine || spelled.in_command() && !of_ollama || spelled.name().contains('.');
        self.context.option(of).filter(given)
    }

    /// That setting with another value, where its value now is the one that is to be changed.
    pub(super) fn own_option_with(&self, of: Quantity, now: u64, then: u64) -> Option<String> {
        self.own_option(of).filter(|spelled| spelled.value() == now && now != then).map(|spelled| spelled.with(then))
    }

    /// The same with half of what it is, where that is more than one.
    pub(super) fn own_option_halved(&self, of: Quantity) -> Option<String> {
        self.own_option(of).filter(|spelled| spelled.value() > 1).map(|spelled| spelled.with(spelled.value() / 2))
    }

    /// Half of the frames that the log sets, as a number that the model takes: autoencoders of films keep the first
    /// frame and divide the rest by 4 or 8, so that of 129 come 65, and 64 is refused.
    pub(super) fn fewer_frames(&self) -> Option<String> {
        let spelled = self.own_option(Quantity::Frames).filter(|spelled| spelled.value() > 1)?;
        let all = spelled.value();
        let step = [8, 4].into_iter().find(|step| all > *step && all % step == 1);
        Some(spelled.with(step.map_or(all / 2, |step| all / 2 / step * step + 1)))
    }

    /// True where what failed is a program that its user runs and sets, but did not write: an installed command, a user
    /// interface and what it loads, a cloned repository that is driven by options. No line of Python can be written
    /// there, unless a frame of somebody else's code lies further in.
    pub(super) fn of_a_tool(&self) -> bool {
        *self.asked.of_a_tool.get_or_init(|| self.looks_like_a_tool())
    }

    fn looks_like_a_tool(&self) -> bool {
        let frames = &self.context.frames;
        let of_a_tool = |frame: &Frame| {
            let file = format!("/{}", frame.path().to_ascii_lowercase());
            // Python's own installer puts it there as well, and what runs in it is anybody's.
            let python = INSTALLED.iter().any(|folder| file.contains(&format!("{folder}python")));
            TOOLS.iter().chain(SERVERS).any(|part| file.contains(part))
                || !python && INSTALLED.iter().any(|folder| file.contains(folder))
        };
        // `python -m package`: the interpreter's own frames come first, then the package's.
        let module = || {
            let run = |frame: &Frame| frame.file.contains("runpy");
            let mut rest = frames.iter().skip_while(|frame| run(frame));
            frames.first().is_some_and(run) && rest.next().is_some_and(|frame| !frame.is_user_code())
        };
        // Nodes and a browser, or a configuration of which OpenMMLab's runner makes model, loaders and loop.
        let by_settings = matches!(self.trainer(), Some(Trainer::ComfyUi | Trainer::MmEngine));
        let known = self.tool.is_some_and(tools::is_application);
        self.installed_command() || module() || known || frames.iter().any(of_a_tool) || by_settings
    }

    /// True where a line of the user's own code is shown in the traceback: what is written next to it can be pasted.
    pub(super) fn shows_own_code(&self) -> bool {
        let own = |frame: &Frame| frame.code.is_some() && !of_a_package_in_its_clone(frame);
        self.context.user_frame().is_some_and(own) && !self.of_a_tool()
    }

    /// False for a call of a library that nothing in the log shows: who does not have it cannot write it.
    pub(super) fn shows_the_library_of(&self, line: &str) -> bool {
        // What trains a diffusion model holds its parts, and no pipeline around them.
        if line.starts_with("pipe") && self.training() && !self.shows_a_pipeline() {
            return false;
        }
        let Some((_, libraries)) = OF_LIBRARIES.iter().find(|(call, _)| line.contains(call)) else { return true };
        let trainers = [
            Trainer::HfTrainer,
            Trainer::Trl,
            Trainer::Axolotl,
            Trainer::LlamaFactory,
            Trainer::Swift,
            Trainer::Diffusers,
        ];
        let named = |text: &str| libraries.iter().any(|library| text.contains(library));
        self.trainer().is_some_and(|trainer| trainers.contains(&trainer))
            || self.context.frames.iter().any(|frame| {
                let loads = |code: &str| named(code) || code.contains("from_pretrained");
                named(&frame.path()) || frame.code.as_deref().is_some_and(loads)
            })
            // A model that is known by its name or size is one that those libraries load.
            || self.context.model.is_known()
            || self.context.parameters.is_known()
            || [self.context.command.get(), self.context.program.get()].into_iter().flatten().any(|text| named(text))
    }

    /// True where JAX itself shows, by a frame of its or a line that calls it: XLA's own message is printed under
    /// TensorFlow and torch_xla as well.
    pub(super) fn shows_jax(&self) -> bool {
        self.context.frames.iter().any(|frame| {
            let code = frame.code.as_deref().unwrap_or_default();
            frame.path().contains("/jax/") || ["jax.", "jnp."].iter().any(|name| code.contains(name))
        })
    }

    /// True where one of diffusers' pipelines is called: its methods are there to be called as well.
    pub(super) fn shows_a_pipeline(&self) -> bool {
        self.context.frames.iter().any(|frame| {
            let code = frame.code.as_deref().unwrap_or_default();
            frame.path().contains("/diffusers/pipelines/") || code.contains("Pipeline") || code.contains("pipe(")
        })
    }

    /// True where the command sets how training goes and names no file of settings: what it makes DeepSpeed's settings
    /// from are its own options.
    pub(super) fn set_by_its_command(&self) -> bool {
        const OPTIONS: [&str; 5] = ["batch_size", "batch-size", "gradient_accumulation", "grad_accum", "zero_stage"];
        const FILES: [&str; 4] = [".json", "deepspeed_config", ".yaml", ".yml"];
        self.context.command.get().is_some_and(|command| {
            OPTIONS.iter().any(|option| command.contains(option)) && !FILES.iter().any(|file| command.contains(file))
        })
    }

    /// True where the command gives the arguments of transformers' Trainer as options, as its example scripts and most
    /// that are made after them take them: HfArgumentParser.
    pub(super) fn set_by_options(&self) -> bool {
        const OPTIONS: [&str; 4] = [
            "--per_device_train_batch_size",
            "--per_device_eval_batch_size",
            "--gradient_accumulation_steps",
            "--do_train",
        ];
        self.context.command.get().is_some_and(|command| OPTIONS.iter().any(|option| command.contains(option)))
    }

    /// True where the run is set from outside of its code: by options behind the script, a file of settings, or
    /// overrides as Hydra takes them. What is made of them is made in a program that need not be its user's.
    pub(super) fn is_configured(&self) -> bool {
        const FILES: [&str; 6] = [".yaml", ".yml", ".json", ".toml", ".cfg", ".ini"];
        let sets = |word: &str| {
            let option = word.strip_prefix("--").or_else(|| word.strip_prefix('-'));
            let named = |name: &str| name.starts_with(|c: char| c.is_ascii_alphabetic());
            option.map_or_else(|| word.split_once('=').is_some_and(|(name, _)| named(name)), named)
                || FILES.iter().any(|file| word.ends_with(file))
        };
        self.context.command.get().is_some_and(|command: &String| {
            let script = command.split_whitespace().position(|word| word.ends_with(".py"));
            command.split_whitespace().skip(script.map_or(1, |at| at + 1)).any(sets)
        })
    }

    /// The option by which a script takes what it hands to a keyword, as a frame shows it: `num_workers` of
    /// `num_workers=opt.num_workers`. Its hyphens may be written as the underscores that the code has.
    pub(super) fn option_behind(&self, keyword: &str) -> Option<String> {
        const PARSED: [&str; 4] = ["opt.", "args.", "opts.", "FLAGS."];
        self.context.frames.iter().filter_map(|frame| frame.code.as_deref()).find_map(|code| {
            let (_, value) = code.split_once(keyword)?;
            let value = value.trim_start().strip_prefix('=')?.trim_start();
            let name = PARSED.iter().find_map(|parsed| value.strip_prefix(parsed))?;
            let end = name.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(name.len());
            (end > 0).then(|| format!("--{}", name[..end].replace('_', "-")))
        })
    }

    /// True where the user writes a call of this name, as far as is known: a line of the traceback's has it or what it
    /// made, or the log shows nothing of the user's. A program that is set from outside makes its objects by itself.
    pub(super) fn may_write(&self, call: &str) -> bool {
        let made: &[&str] = match call {
            "DataLoader(" => &["loader"],
            "Trainer(" => &["trainer.fit(", "trainer.validate(", "trainer.test(", "trainer.predict("],
            "Dataset(" => &["Dataset", "dataset"],
            "get_peft_model(" => &["peft"],
            _ => &[],
        };
        let unknown = || self.context.user_frame().is_none() || self.shows_call(made);
        self.shows_call(&[call]) || !self.is_configured() && !self.of_a_tool() && unknown()
    }

    /// True where the optimizer is a class of the program's own, not of an installed package: `state['exp_avg_sq'] = …`
    /// in a file of its.
    pub(super) fn brings_its_optimizer(&self) -> bool {
        let state = |frame: &Frame| frame.code.as_deref().is_some_and(|code| code.contains("exp_avg"));
        self.context.frames.iter().any(|frame| frame.is_user_code() && state(frame))
    }

    /// True where it failed in the code of vLLM or SGLang, whatever trainer or program is around.
    pub(super) fn within_an_engine(&self) -> bool {
        self.context.frames.iter().any(in_an_engine)
    }

    /// True where the user's innermost line calls a library that works out the rest by itself: fastai's learner, a
    /// solver. What failed within is none of the user's operations. Calls of a framework's own functions and modules
    /// are, and so is a model's code that users copy and change.
    pub(super) fn leaves_it_to_a_library(&self) -> bool {
        const SOLVERS: [&str; 5] = ["/fastai/", "/ott/", "/moscot/", "/sklearn/", "/skorch/"];
        // No tensor of the model's is at hand where it is called: `chain({"question": …})`.
        const MODELS: [&str; 4] = ["/transformers/", "/langchain", "/diffusers/", "/sentence_transformers/"];
        let inner = self.context.frames.iter().rev().take_while(|frame| !frame.is_user_code());
        let solves = |frame: &Frame| SOLVERS.iter().chain(&MODELS).any(|folder| frame.path().contains(folder));
        inner.into_iter().any(solves)
    }

    /// True where a line of the user's own calls this, or one of the traceback's at all.
    pub(super) fn shows_call(&self, calls: &[&str]) -> bool {
        self.context.frames.iter().any(|frame| {
            let code = frame.code.as_deref().unwrap_or_default();
            frame.is_user_code() && calls.iter().any(|call| code.contains(call))
        })
    }

    /// True where the loop that evaluates is an installed package's own, which its user calls and cannot write into: a
    /// trainer that is known has settings for it.
    pub(super) fn evaluates_within_a_package(&self) -> bool {
        const LOOPS: [&str; 4] = ["evaluate", "validate", "predict", "test"];
        self.trainer().is_none()
            && self.context.frames.iter().any(|frame| {
                let file = frame.path();
                let installed = file.split_once("-packages/").map(|(_, package)| package);
                installed.is_some_and(|package| !package.starts_with("torch"))
                    && LOOPS.iter().any(|name| frame.function.starts_with(name))
            })
    }

    /// True where an engine was started by another program, which spells its options in a way of its own.
    pub(super) fn wraps_an_engine(&self) -> bool {
        // verl's keys for its rollout.
        let by_key =
            self.context.option(Quantity::Share).is_some_and(|key| key.name().starts_with("actor_rollout_ref."));
        let by_trainer = self.trainer() == Some(Trainer::Trl);
        by_key
            || by_trainer
            || self.clue(Clue::Wrapped)
            || self.context.frames.iter().any(|frame| starts_an_engine(&frame.path()))
    }
}

/// True for a frame within vLLM or SGLang, whatever failed further in.
fn in_an_engine(frame: &Frame) -> bool {
    let file = frame.path();
    [Program::Vllm, Program::Sglang].iter().any(|engine| engine.markers().iter().any(|marker| file.contains(marker)))
}

/// True for a file of a program that makes an engine's object by settings of its own.
fn starts_an_engine(file: &str) -> bool {
    const STARTERS: [&str; 8] = [
        "/langchain",
        "/lm_eval/",
        "/llamafactory/",
        "/swift/llm/",
        "/openrlhf/",
        "/verl/",
        "/nemo_rl/",
        "/text-generation-webui/",
    ];
    STARTERS.iter().chain(SERVERS).any(|starter| file.contains(starter))
}

/// True for a file of a package within a clone of its repository: `espnet/espnet/nets/x.py`,
/// `axolotl/src/axolotl/train.py`, `graphstorm/python/graphstorm/run.py`. Who cloned it sets it by options.
pub(super) fn of_a_package_in_its_clone(frame: &Frame) -> bool {
    const BETWEEN: [&str; 4] = ["src", "python", "lib", "packages"];
    let file = frame.path().to_ascii_lowercase().replace('-', "_");
    let folders: Vec<&str> = file.split('/').rev().skip(1).collect();
    let twice = |one: &str, other: &str| one == other && one.len() >= 3;
    folders.windows(2).any(|pair| twice(pair[0], pair[1]))
        || folders.windows(3).any(|three| twice(three[0], three[2]) && BETWEEN.contains(&three[1]))
}
