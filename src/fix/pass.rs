//! Who wrote the pass that failed, and which part of a model or loss is within it: a block that can be wrapped, an
//! operation on tensors, a tower that sees pictures, a penalty on gradients.

use super::case::Case;
use crate::domain::Trainer;
use crate::incident::context::{Clue, Frame};

/// Trainers that run the pass over a model by themselves: their user calls them once, by settings.
const DRIVES: &[Trainer] = &[
    Trainer::HfTrainer,
    Trainer::Trl,
    Trainer::LlamaFactory,
    Trainer::Axolotl,
    Trainer::Swift,
    Trainer::Ultralytics,
    Trainer::MmEngine,
    Trainer::Fastai,
];

/// Functions that go over the data.
const LOOPS: &[&str] =
    &["train", "_train", "fit", "_fit", "train_epoch", "_train_epoch", "train_one_epoch", "run_epoch", "training_loop"];

/// How the names of the training scripts in diffusers' `examples/` begin.
const EXAMPLES: &[&str] = &[
    "train_text_to_image",
    "train_dreambooth",
    "train_controlnet",
    "train_unconditional",
    "train_instruct_pix2pix",
    "train_custom_diffusion",
    "train_lcm_distill",
    "train_t2i_adapter",
    "train_cogvideox",
    "train_flux",
    "textual_inversion",
];

/// What a user's own part of such a pass is called.
const OWN_PARTS: &[&str] = &["forward", "compute_loss", "training_step", "train_step", "loss"];

/// Operations whose result is no product of sizes that could be made a block of rows at a time: convolutions and what
/// changes the size of pictures work on neighbours.
const ON_NEIGHBOURS: &[&str] = &["conv", "interpolate", "upsample", "pool", "grid_sample", "pixel_shuffle", "unfold"];

/// Calls of a model or of something that has one, by the names that they have in scripts; calls into compiled
/// extensions, which take what they are given as a whole: a rasteriser blends all points of a picture in their order.
const WHOLE: &[&str] = &[
    "model(",
    "net(",
    "super()",
    "apply_fwd(",
    ".apply(",
    "rasteriz",
    "voxeliz",
    "batch_norm(",
    " _C.",
    "=_C.",
    "_ext.",
    "_cuda.",
    "self.forward(",
    ".fit(",
    ".train(",
    ".predict(",
    ".generate(",
    ".lr_find(",
    ".run(",
    "backbone(",
    "encoder(",
    "decoder(",
    "generator(",
];

/// Modules of PyTorch, by their files in `torch/nn/modules`, that work on each element or row by itself. The others are
/// layers: a batch norm needs the whole batch, and what a layer puts out is kept for the backward pass in any case.
const BY_ROWS: &[&str] = &["/activation.py", "/loss.py", "/distance.py"];

/// Calls that make a tensor of nothing but its shape.
const MAKES: &[&str] =
    &["zeros(", "ones(", "empty(", "eye(", "full(", "rand(", "randn(", "zeros_like(", "ones_like(", "empty_like("];

/// Words of functions and files that go over a picture or volume window by window.
const WINDOWS: &[&str] = &["sliding", "slide_inference", "tiled", "tile_process"];

impl Case<'_> {
    /// True where the user wrote the pass over the model: a line of it can stand around the pass or a block.
    pub(super) fn writes_the_pass(&self) -> bool {
        let own = |frame: &Frame| frame.is_user_code() && OWN_PARTS.contains(&frame.function.as_str());
        self.shows_own_code() && (!self.driven() || self.context.frames.iter().any(own))
    }

    /// True where one of the scripts in diffusers' own `examples/` runs: their options are theirs, whoever else trains
    /// with its models.
    pub(super) fn runs_an_example_of_diffusers(&self) -> bool {
        let named = |text: &str| {
            text.split([' ', '/', '\\']).any(|word| {
                word.strip_suffix(".py").is_some_and(|name| EXAMPLES.iter().any(|example| name.starts_with(example)))
            })
        };
        let told = [self.context.program.get(), self.context.command.get()];
        told.into_iter().flatten().any(|text| named(text))
            || self.context.frames.iter().any(|frame| frame.is_user_code() && named(&frame.path()))
    }

    /// True where Keras, or what is made like it, runs the loop.
    pub(super) fn fits(&self) -> bool {
        self.context.frames.iter().any(|frame| {
            let code = frame.code.as_deref().unwrap_or_default();
            code.contains(".fit(") || code.contains("fit_generator(") || frame.function == "fit_generator"
        })
    }

    /// True where a trainer, or a library's loop, runs the pass by itself.
    pub(super) fn driven(&self) -> bool {
        self.trainer().is_some_and(|trainer| DRIVES.contains(&trainer))
            || self.frames_of("/transformers/trainer.py")
            || self.frames_of("/ultralytics/")
            || self.looped_by_a_library()
    }

    /// True where a library's function, or one of a package in its clone, goes over the data and calls what failed.
    fn looped_by_a_library(&self) -> bool {
        let of_a_library = |frame: &Frame| {
            let below_it = ["/torch/", "/accelerate/", "/ignite/", "runpy", "/fire/", "/click/", "/hydra/"];
            (!frame.is_user_code() || super::own::of_a_package_in_its_clone(frame))
                && !below_it.iter().any(|part| frame.path().contains(part))
        };
        let inner = |frame: &&Frame| of_a_library(frame) || !frame.is_user_code();
        let loops = |frame: &Frame| of_a_library(frame) && LOOPS.contains(&frame.function.as_str());
        self.context.frames.iter().rev().take_while(inner).any(loops)
    }

    /// True where a loss differentiates gradients, as the penalties of adversarial networks do: the default form of
    /// `torch.utils.checkpoint` refuses `torch.autograd.grad`.
    pub(super) fn penalises_gradients(&self) -> bool {
        const WORDS: [&str; 6] =
            ["gradient_penalty", "grad_penalty", "create_graph=True", "compute_grad2", "d_r1_loss", "path_regularize"];
        let speaks = |frame: &Frame| {
            let code = frame.code.as_deref().unwrap_or_default();
            WORDS.iter().any(|word| code.contains(word) || frame.function.contains(word))
        };
        self.clue(Clue::GradientPenalty) || self.context.frames.iter().any(speaks)
    }

    /// True within the tower of a language model that sees pictures: its tokens are pixels, whatever the text is. In
    /// the files of transformers for Qwen-VL and its like its blocks call `self.attn(`, those of the text
    /// `self.self_attn(`.
    pub(super) fn in_a_vision_tower(&self) -> bool {
        const CALLS: [&str; 4] = ["self.visual(", "vision_tower(", "vision_model(", "get_image_features("];
        const FUNCTIONS: [&str; 3] = ["get_image_features", "encode_images", "get_video_features"];
        self.context.frames.iter().any(|frame| {
            let code = frame.code.as_deref().unwrap_or_default();
            let file = frame.path();
            let of_both =
                file.rsplit('/').next().is_some_and(|name| name.starts_with("modeling_") && name.contains("_vl"));
            CALLS.iter().any(|call| code.contains(call))
                || FUNCTIONS.contains(&frame.function.as_str())
                || of_both && code.contains("self.attn(")
        })
    }

    /// True where the innermost line of the user's is an operation on tensors, of which a block can be made at a time:
    /// no call of a model, and beneath it nothing but PyTorch, and there no convolution.
    pub(super) fn works_on_tensors(&self) -> bool {
        let frames = &self.context.frames;
        let Some(at) = frames.iter().rposition(Frame::is_user_code) else { return false };
        let on_neighbours = |frame: &Frame| {
            let code = frame.code.as_deref().unwrap_or_default().to_ascii_lowercase();
            let function = frame.function.to_ascii_lowercase();
            ON_NEIGHBOURS.iter().any(|word| code.contains(word) || function.contains(word))
        };
        let beneath = frames.get(at + 1..).unwrap_or_default();
        let modules = || beneath.iter().map(|frame| frame.path()).filter(|file| file.contains("/torch/nn/modules/"));
        let by_rows = || modules().any(|file| BY_ROWS.iter().any(|module| file.ends_with(module)));
        !self.calls_a_whole()
            && beneath.iter().all(|frame| frame.path().contains("/torch/"))
            && !beneath.iter().any(|frame| frame.path().ends_with("/torch/nn/init.py"))
            && (modules().next().is_none() || by_rows())
            && !frames.get(at..).unwrap_or_default().iter().any(on_neighbours)
    }

    /// True where the innermost line of the user's calls a model, an extension, or something that works out the rest.
    pub(super) fn calls_a_whole(&self) -> bool {
        let code = self.failing_code();
        WHOLE.iter().any(|call| code.contains(call))
    }

    /// True where the failing line makes a tensor and computes nothing: there is none yet that could be split.
    pub(super) fn makes_a_tensor(&self) -> bool {
        let code = self.failing_code();
        let made = code.rsplit_once(" = ").map_or(code, |(_, made)| made).trim_start_matches("return ");
        let called = made.trim_start().split_once('(').map_or("", |(called, _)| called);
        let name = called.rsplit('.').next().unwrap_or_default();
        MAKES.iter().any(|call| call.trim_end_matches('(') == name)
    }

    /// True where pieces of a picture or volume go through the model, some of them in each call: what looks like a
    /// batch there is of windows.
    pub(super) fn works_by_windows(&self) -> bool {
        self.context.frames.iter().any(|frame| {
            let name = format!("{} {}", frame.function, frame.path().rsplit('/').next().unwrap_or_default());
            let name = name.to_ascii_lowercase();
            WINDOWS.iter().any(|word| name.contains(word))
        })
    }

    /// True where `DataParallel` has one device: it calls its module as it is, divides nothing and gathers nothing.
    pub(super) fn parallel_on_one_device(&self) -> bool {
        let direct = |frame: &Frame| frame.code.as_deref().is_some_and(|code| code.contains("self.module(*inputs[0]"));
        self.context.frames.iter().any(direct)
    }

    /// True where a library makes a model by its name alone: `whisper.load_model("large")`. In which widths it comes,
    /// and where its layers lie, is the library's.
    pub(super) fn loads_by_name(&self) -> bool {
        let loads = |frame: &Frame| {
            let code = frame.code.as_deref().unwrap_or_default();
            frame.is_user_code() && code.contains(".load_model(") && !code.contains("self.")
        };
        self.loading() && self.context.frames.iter().any(loads)
    }

    /// True for Segment Anything's generator of masks: one picture, asked about at a grid of points.
    pub(super) fn masks_by_points(&self) -> bool {
        self.context.frames.iter().any(|frame| frame.path().ends_with("/automatic_mask_generator.py"))
    }

    /// True where the weights of a model that is trained come back to the device after another part of the job had it.
    pub(super) fn brings_weights_back(&self) -> bool {
        self.context.frames.iter().any(|frame| {
            frame.function.ends_with("backload_to_gpu")
                || frame.function.starts_with("load_megatron_") && frame.function.ends_with("_to_gpu")
        })
    }

    /// True where the traceback shows a tokenizer: texts go through it.
    pub(super) fn shows_a_tokenizer(&self) -> bool {
        self.context.frames.iter().any(|frame| {
            let code = frame.code.as_deref().unwrap_or_default();
            code.contains("tokeniz") || frame.function.contains("tokeniz") || frame.path().contains("tokenization")
        })
    }

    /// True for the scripts that came with the first latent diffusion models (CompVis), and their forks: one network in
    /// one file, without forms of fewer bits and without a map of devices.
    pub(super) fn of_latent_diffusion(&self) -> bool {
        const PARTS: [&str; 5] =
            ["/ldm/modules/", "/ldm/models/", "/ldm/util", "scripts/txt2img.py", "scripts/img2img.py"];
        let told = [self.context.program.get(), self.context.command.get()];
        self.context.frames.iter().any(|frame| PARTS.iter().any(|part| frame.path().contains(part)))
            || told.into_iter().flatten().any(|text| PARTS.iter().any(|part| text.contains(part)))
    }

    /// True where the failing line moves something to the host: it is there already, and nothing is read.
    pub(super) fn moves_to_the_host(&self) -> bool {
        let code = self.failing_code();
        [".to('cpu')", ".to(\"cpu\")", ".cpu()"].iter().any(|call| code.contains(call))
    }
}
