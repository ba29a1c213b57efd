//! Which kind of device, program and file it is, as far as the same change is written in another way there or cannot be
//! made at all.

use super::case::Case;
use super::work::runs_python;
use crate::dialect::Sign;
use crate::domain::trainer::Trainer;
use crate::domain::{Accelerator, Number, Program};
use crate::incident::context::{Clue, Frame, Phase, Platform, Subject};
use crate::incident::release;

/// Options that keep what is worked on off the device: a word of the failing lines, functions or files, and how each is
/// given.
const KEEPS_ON_HOST: &[(&str, &str)] = &[
    ("offload_video_to_cpu", "init_state(..., offload_video_to_cpu=True)"),
    ("load_video_frames", "init_state(..., offload_video_to_cpu=True)"),
    ("data_device", "--data_device cpu"),
    ("cache_on_gpu", "cache_on_gpu=False"),
];

/// Words of names of a model and its parts: what is moved there is no data.
const OF_A_MODEL: &[&str] = &[
    "model", "net", "module", "param", "weight", "encoder", "decoder", "pipe", "unet", "vae", "self", "backbone",
    "state", "t",
];

/// Words of names of data.
const OF_DATA: &[&str] = &[
    "image", "img", "frame", "video", "batch", "input", "data", "feature", "sample", "label", "target", "score",
    "pixel", "camera", "points", "voxel",
];

impl Case<'_> {
    /// True for Apple's devices: one memory for host and device, and one device.
    pub(super) fn apple(&self) -> bool {
        self.on_device() && self.accelerator() == Accelerator::Mps
    }

    /// True where nothing speaks of a container and the system is one that people work on directly: WSL.
    pub(super) fn on_wsl_itself(&self) -> bool {
        self.context.platform.value() == Some(Platform::Wsl) && self.context.container.value() != Some(true)
    }

    /// True where an installed command failed in its package's own code: its user has no line, loader or block to edit.
    pub(super) fn installed_command(&self) -> bool {
        // Its launcher lies beside the interpreter; all that follows is the package's own.
        let of_a_package = |frame: &Frame| !frame.is_user_code() || frame.path().contains("/bin/");
        self.native_program()
            || self.clue(Clue::CalledFromR)
            || self.clue(Clue::InstalledCommand) && self.context.frames.iter().all(of_a_package)
    }

    /// True for a compiled program, which has no line of Python. In a thread of a Python program some of its words are
    /// the same.
    pub(super) fn native_program(&self) -> bool {
        self.clue(Clue::NativeProgram) && !runs_python(self) && self.trainer().is_none()
    }

    /// True where the trainer makes optimizer and model from its command's arguments: nobody writes a line for them.
    pub(super) fn arguments_alone(&self) -> bool {
        self.trainer() == Some(Trainer::Megatron)
    }

    /// True for one of diffusers' pipelines, which is several models: the options of a single one are refused.
    pub(super) fn pipeline(&self) -> bool {
        self.trainer() == Some(Trainer::Diffusers)
            || self.context.frames.iter().any(|frame| frame.path().contains("/diffusers/"))
    }

    /// True for the first FSDP, a module around the model with files of its own; the second is a function,
    /// `fully_shard`.
    pub(super) fn of_the_first_fsdp(&self) -> bool {
        const FILES: [&str; 6] = [
            "/fsdp/fully_sharded_data_parallel.py",
            "/fsdp/flat_param.py",
            "/fsdp/_flat_param.py",
            "/fsdp/_runtime_utils.py",
            "/fsdp/_unshard_param_utils.py",
            "/fsdp/_state_dict_utils.py",
        ];
        FILES.iter().any(|file| self.frames_of(file))
    }

    /// True for the first fastai, by files and names that the second has not.
    pub(super) fn first_fastai(&self) -> bool {
        const FILES: [&str; 4] =
            ["fastai/basic_train.py", "fastai/callback.py", "fastai/basic_data.py", "fastai/train.py"];
        self.context.frames.iter().any(|frame| {
            let file = frame.path();
            FILES.iter().any(|name| file.ends_with(name))
                || frame.code.as_deref().is_some_and(|code| code.contains("DatasetType."))
        })
    }

    /// True for what came before the first fastai, 0.7 and its courses, of whose calls none is left.
    pub(super) fn fastai_before_the_first(&self) -> bool {
        self.context.frames.iter().any(|frame| {
            let code = frame.code.as_deref().unwrap_or_default();
            frame.path().ends_with("fastai/conv_learner.py")
                || ["ConvLearner.", "ImageClassifierData."].iter().any(|name| code.contains(name))
        })
    }

    /// True where a frame lies in a library's folder.
    pub(super) fn frames_of(&self, folder: &str) -> bool {
        self.context.frames.iter().any(|frame| frame.path().contains(folder))
    }

    /// True for a Megatron-LM before 2.0, by calls that its schedule of micro-batches replaced.
    pub(super) fn first_megatron(&self) -> bool {
        let old = ["backward_step(optimizer, model, loss)", "fp32_allreduce"];
        let calls =
            |frame: &Frame| frame.code.as_deref().is_some_and(|code| old.iter().any(|call| code.contains(call)));
        self.context.frames.iter().any(calls)
    }

    /// True where MMEngine shows: of OpenMMLab's libraries before it the settings have other keys.
    pub(super) fn on_mmengine(&self) -> bool {
        self.context.origin.mmengine
    }

    /// True where sessions run TensorFlow's graphs: it is a release before 2.0, by its words or its day.
    pub(super) fn of_sessions(&self) -> bool {
        let of_the_day = || self.program() == Program::Tensorflow && !release::knows(self.incident, "tf.config.");
        self.clue(Clue::TensorFlow1) || of_the_day()
    }

    /// True where the log shows that an engine has several devices: another device of its own in the words of a worker,
    /// or the buffers of the second one.
    pub(super) fn spreads_already(&self) -> bool {
        self.clue(Clue::SeveralWorkers) || self.incident.event.facts.numbers.contains_key(&Number::SplitOverDevices)
    }

    /// True where a scene of Gaussians is fitted, one picture a step: what fills the device is their number.
    pub(super) fn of_gaussians(&self) -> bool {
        const WORDS: [&str; 3] = ["gaussian", "splat", "3dgs"];
        let speaks = |text: &str| {
            let text = text.to_ascii_lowercase();
            WORDS.iter().any(|word| text.contains(word)) && !text.contains("gaussian_diffusion")
        };
        let context = self.context;
        let frames = || context.frames.iter();
        // A network that puts Gaussians out is trained on batches of pictures; a scene is fitted without a trainer, but
        // for threestudio and what is made of it.
        if self.trainer() == Some(Trainer::Lightning) && !frames().any(|frame| frame.path().contains("threestudio")) {
            return false;
        }
        let nerfstudio = frames().any(|frame| frame.path().contains("/nerfstudio/"));
        let of_a_frame = |frame: &Frame| {
            let file = frame.path();
            let shown = if frame.is_user_code() { &*file } else { file.rsplit("-packages/").next().unwrap_or("") };
            // Of an ordinary distribution a line speaks as well: a folder or a package does not.
            speaks(shown.rsplit_once('/').map_or("", |(folder, _)| folder)) || speaks(&frame.function) && nerfstudio
        };
        self.on_gpu()
            && (context.subject == Some(Subject::Gaussians)
                || nerfstudio && context.has(Clue::Splats)
                || frames().any(of_a_frame)
                || [context.program.get(), context.command.get()].into_iter().flatten().any(|text| speaks(text)))
    }

    /// True for ONNX Runtime outside of its own training: whatever counts steps around it, a model answers.
    pub(super) fn only_asks(&self) -> bool {
        let trains = |frame: &Frame| frame.path().contains("onnxruntime/training") || frame.function.contains("ort_");
        self.program() == Program::OnnxRuntime
            && !self.context.frames.iter().any(trains)
            && !self.context.optimizer.is_known()
            && !matches!(self.phase(), Some(Phase::Backward | Phase::OptimizerStep | Phase::Loss))
    }

    /// True where a script draws, enlarges or repaints pictures, by its name and what it is given.
    pub(super) fn draws_pictures(&self) -> bool {
        const WORDS: [&str; 7] = ["img2img", "txt2img", "--init-img", "inpaint", "upscal", "superres", "super_res"];
        let told = [self.context.program.get(), self.context.command.get()];
        !self.training() && told.into_iter().flatten().any(|text| WORDS.iter().any(|word| text.contains(word)))
    }

    /// True where an embedding is computed: the whole text goes through the device at once.
    pub(super) fn embeds(&self) -> bool {
        let told = [self.context.command.get(), self.context.model.get(), self.context.program.get()];
        told.into_iter().flatten().any(|text| {
            let text = text.to_ascii_lowercase();
            text.contains("embedding") || text.contains("--pooling")
        })
    }

    /// True where ComfyUI moves a model's weights to the device, patched: nothing is drawn or decoded yet.
    pub(super) fn patches_weights(&self) -> bool {
        const MOVES: [&str; 4] = ["patch_weight_to_device", "partially_load", "patch_model_lowvram", "model_load"];
        let moves = |frame: &Frame| frame.path().contains("comfy/") && MOVES.contains(&frame.function.as_str());
        self.context.frames.iter().rev().take(4).any(moves)
    }

    /// True where an engine makes or reads the weights: neither a pool nor a batch is there yet.
    pub(super) fn engine_reads_weights(&self) -> bool {
        const READS: [&str; 6] = [
            "create_weights",
            "load_weights",
            "load_model",
            "_initialize_model",
            "_load_model",
            "process_weights_after_loading",
        ];
        // LMDeploy's TurboMind makes its instance of a model in a constructor.
        let names = |frame: &Frame| {
            READS.contains(&frame.function.as_str())
                || frame.code.as_deref().is_some_and(|code| code.contains("._from_hf("))
        };
        self.engine().is_some()
            && !self.sign(Sign::EngineWarmup)
            && !self.incident.event.makes_its_cache_with_the_weights()
            && (self.context.frames.iter().any(names) || self.sign(Sign::WeightsBuffer))
    }

    /// The name of the tensor that the failing line moves to the device, where it is one of data: `images` in
    /// `images = images.cuda()`.
    pub(super) fn data_moved(&self) -> Option<&str> {
        let code = self.failing_code();
        let at = code.find(".cuda(").or_else(|| code.find(".to("))?;
        let before = code.get(..at)?;
        let start =
            before.rfind(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '.'))).map_or(0, |at| at + 1);
        let name = before.get(start..)?;
        let last = name.rsplit('.').next().unwrap_or_default().to_ascii_lowercase();
        let of_a_model = OF_A_MODEL.iter().any(|word| if word.len() > 1 { last.contains(word) } else { last == *word });
        let called = code.get(at..).is_some_and(|call| call.starts_with(".to(") && call.contains("float"));
        (!name.is_empty() && !of_a_model && !called).then_some(name)
    }

    /// True where the failing line moves a model to the device: its shape is nobody's mistake.
    pub(super) fn moves_a_model(&self) -> bool {
        let code = self.failing_code();
        let Some(before) = code.find(".cuda(").or_else(|| code.find(".to(")).and_then(|at| code.get(..at)) else {
            return false;
        };
        let start = before.rfind(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).map_or(0, |at| at + 1);
        let name = before.get(start..).unwrap_or_default().to_ascii_lowercase();
        OF_A_MODEL.iter().any(|word| word.len() > 2 && *word != "self" && name.contains(word))
    }

    /// True where the failing line moves data to the device, by its name or by an option that would keep it off.
    pub(super) fn moves_data(&self) -> bool {
        let named = |name: &str| {
            let last = name.rsplit('.').next().unwrap_or_default().to_ascii_lowercase();
            OF_DATA.iter().any(|word| last.contains(word))
        };
        self.host_option().is_some() || self.data_moved().is_some_and(named)
    }

    /// True where all of the data goes to the device before anything is done with it.
    pub(super) fn data_goes_first(&self) -> bool {
        let loads = matches!(self.phase(), Some(Phase::Load | Phase::Resume));
        self.moves_data() && (loads || self.host_option().is_some())
    }

    /// The option that keeps data off the device, where the failing code shows it and the command does not give it.
    pub(super) fn host_option(&self) -> Option<&'static str> {
        let given = |option: &str| self.context.command.get().is_some_and(|command| command.contains(option));
        let shown = |word: &str| {
            let frames = self.context.frames.iter().rev().take(4);
            frames
                .into_iter()
                .any(|frame| frame.function == word || frame.code.as_deref().is_some_and(|code| code.contains(word)))
        };
        let found = KEEPS_ON_HOST.iter().find(|(word, option)| shown(word) && !given(option));
        found.map(|(_, option)| *option)
    }
}
