//! Who wrote the pass that failed, and which part of a model or loss is within it: a block that can be wrapped, an
//! operation on tensors, a tower that sees pictures, a penalty on gradients.

use super::case::Case;
use super::moment::path;
use crate::domain::Trainer;
use crate::incident::context::{Clue, Frame};

/// Trainers that run the pass over a model by themselves: their user calls them once, by settings.
const DRIVES: &[Trainer] = &[
    Trainer::HfTrainer,
    Trainer::Trl,
    Trainer::LlamaFactory,
    Trainer::Swift,
    Trainer::Ultralytics,
    Trainer::MmEngine,
    Trainer::Fastai,
];

/// What a user's own part of such a pass is called.
const OWN_PARTS: &[&str] = &["forward", "compute_loss", "training_step", "train_step", "loss"];

/// Operations whose result is no product of sizes that could be made a block of rows at a time: convolutions and what
/// changes the size of pictures work on neighbours.
const ON_NEIGHBOURS: &[&str] = &["conv", "interpolate", "upsample", "pool", "grid_sample", "pixel_shuffle", "unfold"];

/// Parts of a line or function that work on something as a whole: an extension that blends splats in the order of their
/// depth, statistics over the batch.
const AS_A_WHOLE: &[&str] = &["rasteriz", "voxeliz", "batch_norm"];

/// Calls that make an array from its sides alone: there is nothing yet that could be taken in blocks.
const MAKES_AN_ARRAY: &[&str] = &["zeros", "ones", "empty", "full", "eye", "randn", "rand", "tensor", "zeros_like"];

/// Calls of a model or of something that has one, by the names that they have in scripts.
const WHOLE: &[&str] = &[
    "model(",
    "net(",
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

impl Case<'_> {
    /// True where the user wrote the pass over the model: a line of it can stand around the pass or a block.
    pub(super) fn writes_the_pass(&self) -> bool {
        let own = |frame: &Frame| frame.is_user_code() && OWN_PARTS.contains(&frame.function.as_str());
        self.shows_own_code() && (!self.driven() || self.context.frames.iter().any(own))
    }

    /// True where Keras, or what is made like it, runs the loop.
    pub(super) fn fits(&self) -> bool {
        self.context.frames.iter().any(|frame| {
            let code = frame.code.as_deref().unwrap_or_default();
            code.contains(".fit(") || code.contains("fit_generator(") || frame.function == "fit_generator"
        })
    }

    /// True where a trainer runs the pass by itself.
    pub(super) fn driven(&self) -> bool {
        self.trainer().is_some_and(|trainer| DRIVES.contains(&trainer))
            || self.frames_of("/transformers/trainer.py")
            || self.frames_of("/ultralytics/")
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
            let file = path(frame);
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
        let as_a_whole = |frame: &Frame| {
            let code = frame.code.as_deref().unwrap_or_default().to_ascii_lowercase();
            let function = frame.function.to_ascii_lowercase();
            AS_A_WHOLE.iter().any(|part| code.contains(part) || function.contains(part))
        };
        let makes_an_array = |code: &str| {
            let made = code.rsplit("= ").next().unwrap_or("").trim_start_matches("return ").trim_start();
            let call = made.split('(').next().unwrap_or("");
            call.strip_prefix("torch.").is_some_and(|name| MAKES_AN_ARRAY.contains(&name))
        };
        let beneath = frames.get(at + 1..).unwrap_or_default();
        let code = self.failing_code();
        !makes_an_array(code)
            && !code.contains("super(")
            && !WHOLE.iter().any(|call| code.contains(call))
            && beneath.iter().all(|frame| path(frame).contains("/torch/"))
            && !frames.get(at..).unwrap_or_default().iter().any(|frame| on_neighbours(frame) || as_a_whole(frame))
    }

    /// True for the scripts that came with the first latent diffusion models (CompVis), and their forks: one network in
    /// one file, without forms of fewer bits and without a map of devices.
    pub(super) fn of_latent_diffusion(&self) -> bool {
        const PARTS: [&str; 5] =
            ["/ldm/modules/", "/ldm/models/", "/ldm/util", "scripts/txt2img.py", "scripts/img2img.py"];
        let told = [self.context.program.get(), self.context.command.get()];
        self.context.frames.iter().any(|frame| PARTS.iter().any(|part| path(frame).contains(part)))
            || told.into_iter().flatten().any(|text| PARTS.iter().any(|part| text.contains(part)))
    }

    /// True where the failing line moves something to the host: it is there already, and nothing is read.
    pub(super) fn moves_to_the_host(&self) -> bool {
        let code = self.failing_code();
        [".to('cpu')", ".to(\"cpu\")", ".cpu()"].iter().any(|call| code.contains(call))
    }
}
