//! The traceback that ends at a failure: Python, IPython, rich and TorchScript frames, and what they show.

use super::{Clue, Context, Frame, Phase, boxed};
use crate::evidence::Span;
use crate::input::{Document, Line};
use std::collections::BTreeMap;

/// A traceback longer than this is cut: recursion, not information.
const LINES_AT_MOST: usize = 600;

/// Reads the frames above the line at `position` (the exception), outermost first, of the same rank where lines tell.
///
/// Where the exception was raised from another one (`The above exception was the direct cause`, a DataLoader's
/// `Original Traceback`), the frames of the original stand last, so that the innermost frame is where it happened.
pub(super) fn frames(document: &Document, position: usize, rank: Option<u32>) -> Vec<Frame> {
    let own: Vec<&Line> = document.lines[..position.min(document.lines.len())]
        .iter()
        .rev()
        .take(LINES_AT_MOST)
        .filter(|line| rank.is_none() || line.rank.is_none() || line.rank == rank)
        .collect();
    let downward: Vec<&Line> = own.iter().rev().copied().collect();
    let unboxed = boxed::plain(&downward);
    let own = unboxed.as_ref().map_or(own, |lines| lines.iter().rev().collect());
    let exception = document.lines.get(position).map_or("", |line| line.text.as_str());
    let mut blocks: Vec<Vec<Frame>> = Vec::new();
    let mut from = 0;
    while blocks.len() < 4 {
        let Some((end, header)) = block_end(&own[from..], exception) else { break };
        let block: Vec<&Line> = own[from..from + end].iter().rev().copied().collect();
        blocks.push(parse(&block));
        from += end;
        match chained(&own[from..], header) {
            Some(skip) => from += skip,
            None => break,
        }
    }
    // A paste may keep nothing of the traceback but the line of code above the message, or what was typed.
    if blocks.is_empty() {
        let above = own.iter().find(|line| line.text.is_empty() || line.text.bytes().any(|byte| byte != b'-'));
        if let Some(line) = above
            && let Some(code) = typed(&line.text).or_else(|| is_call(&line.text).then(|| line.text.trim()))
        {
            return vec![Frame { code: Some(code.to_string()), ..nameless(line.number) }];
        }
    }
    // Collected from the last upward. A chain `A, direct cause of B` prints A first: A's frames are the original.
    // A DataLoader prints the outer traceback first and the worker's original after it: already in that order.
    let original_last = own.iter().take(from.max(1)).any(|line| line.text.contains("Original Traceback"));
    if original_last {
        blocks.reverse();
    }
    blocks.into_iter().flatten().collect()
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Header {
    Plain,
    /// A worker's traceback below the one of the process that raised it again.
    Original,
    /// The text breaks off before the header.
    Missing,
}

/// How many of the lines (bottom up) belong to the lowest traceback, its header included.
fn block_end(own: &[&Line], exception: &str) -> Option<(usize, Header)> {
    let mut frames_seen = false;
    let mut strays = 0;
    for (i, line) in own.iter().enumerate() {
        let text = line.text.as_str();
        if text.contains("Traceback (most recent call last)") {
            let header = if text.contains("Original Traceback") { Header::Original } else { Header::Plain };
            return frames_seen.then_some((i + 1, header));
        }
        if is_frame(text) || arrow(text).is_some() {
            frames_seen = true;
            strays = 0;
        } else if !is_inside(text) && !same_prefix(text, exception) && !is_flat_code(own, i) {
            // One or two lines of another stream may have fallen into the traceback.
            strays += 1;
            if strays > 2 || looks_like_exception(text) || frames_seen {
                return frames_seen.then_some((i, Header::Missing));
            }
        }
    }
    frames_seen.then_some((own.len(), Header::Missing))
}

/// How many lines above a block belong to the joint between it and the traceback that it goes with.
fn chained(above: &[&Line], header: Header) -> Option<usize> {
    if header == Header::Original {
        // The line above says `RuntimeError: Caught X in DataLoader worker process 0.`
        return above.first().filter(|line| line.text.contains("Caught ")).map(|_| 1);
    }
    let mut joint = false;
    for (i, line) in above.iter().enumerate().take(12) {
        let text = line.text.trim();
        if text.is_empty() {
            continue;
        }
        if text.starts_with("The above exception was the direct cause") {
            joint = true;
        } else if joint {
            // The message of the original exception.
            return Some(i + 1);
        } else {
            return None;
        }
    }
    None
}

/// True for an indented line that calls something: source code as a traceback prints it.
fn is_call(text: &str) -> bool {
    let code = text.trim();
    text.starts_with("    ")
        && code.contains('(')
        && code.ends_with([')', '(', ','])
        && !code.contains(": ")
        && code.is_ascii()
}

/// The call behind a prompt of Python's or IPython's: `>>> model = load()`, `In [3]: model(x)`.
fn typed(text: &str) -> Option<&str> {
    let numbered = || {
        let (number, code) = text.strip_prefix("In [")?.split_once("]: ")?;
        number.bytes().all(|byte| byte.is_ascii_digit()).then_some(code)
    };
    text.strip_prefix(">>> ").or_else(numbered).map(str::trim).filter(|code| code.contains('('))
}

fn is_frame(text: &str) -> bool {
    frame_of(text).is_some()
}

/// Lines that stand inside tracebacks: source lines, carets, blanks, IPython's numbered lines.
fn is_inside(text: &str) -> bool {
    match text.as_bytes().first() {
        None | Some(b' ' | b'\t') => true,
        Some(b'-') => text.starts_with("-->") || text.starts_with("---") && text.contains("> "),
        Some(b'0'..=b'9') => {
            let digits = text.bytes().take_while(u8::is_ascii_digit).count();
            digits <= 6 && matches!(text.as_bytes().get(digits), None | Some(b' '))
        }
        Some(b'[') => text.starts_with("[Previous line repeated"),
        _ => text.trim().is_empty(),
    }
}

/// True for the code below a frame where a paste has lost the indentation: the line above, which follows here, is a
/// frame without any.
fn is_flat_code(own: &[&Line], i: usize) -> bool {
    let above = own.get(i + 1).map_or("", |line| line.text.as_str());
    let code = own.get(i).map_or("", |line| line.text.as_str());
    above.starts_with("File \"") && is_frame(above) && !looks_like_exception(code)
}

/// True for lines with the same log prefix as the exception's own line: `(Worker pid=7) ERROR 01-02 03:04:05 …`.
fn same_prefix(text: &str, exception: &str) -> bool {
    let common = text.bytes().zip(exception.bytes()).take_while(|(a, b)| a == b).count();
    common >= 8 && !text.trim_start().starts_with("File ")
}

fn looks_like_exception(text: &str) -> bool {
    let head = text.split(':').next().unwrap_or("");
    !head.contains(' ') && (head.ends_with("Error") || head.ends_with("Exception") || head.ends_with("Interrupt"))
}

/// The parts of a frame's line: column at which it starts, file, line, function.
fn frame_of(text: &str) -> Option<(usize, &str, u64, &str)> {
    if let Some(column) = text.find("File \"") {
        let after = &text[column + 6..];
        let (file, after) = after.split_once('"')?;
        let after = after.strip_prefix(", line ")?;
        let digits = after.bytes().take_while(u8::is_ascii_digit).count();
        let line = after[..digits].parse().unwrap_or(0);
        let function = after.find(", in ").map_or("", |i| &after[i + 5..]);
        return Some((column, file, line, function.trim()));
    }
    // IPython 8: `File ~/x/adam.py:171, in Adam._init_group(self, …)`, `Cell In[3], line 5`.
    if let Some(after) = text.strip_prefix("File ") {
        let (place, function) = after.split_once(", in ").unwrap_or((after, ""));
        let (file, line) = place.rsplit_once(':')?;
        return Some((0, file, line.trim().parse().ok()?, name_of(function)));
    }
    if let Some(after) = text.strip_prefix("Cell In[") {
        let (_, after) = after.split_once("], line ")?;
        let digits = after.bytes().take_while(u8::is_ascii_digit).count();
        return Some((
            0,
            "<cell>",
            after[..digits].parse().ok()?,
            name_of(after.split_once(" in ").map_or("", |p| p.1)),
        ));
    }
    // IPython 5 … 7: `/path/xla.py in f(args)`, `<ipython-input-3-0ab> in <module>`.
    let (file, function) = text.split_once(" in ")?;
    let plain =
        !file.contains(' ') && (file.ends_with(".py") || file.ends_with(".pyx") || file.starts_with("<ipython"));
    plain.then(|| (0, file, 0, name_of(function)))
}

fn name_of(function: &str) -> &str {
    function.split('(').next().unwrap_or("").trim()
}

fn parse(block: &[&Line]) -> Vec<Frame> {
    let mut frames: Vec<Frame> = Vec::new();
    let mut column = 0;
    let mut previous_code: Option<String> = None;
    for line in block {
        let text = line.text.as_str();
        if let Some((at, file, number, function)) = frame_of(text) {
            column = at;
            previous_code = None;
            frames.push(Frame {
                file: file.to_string(),
                line: number,
                function: function.to_string(),
                code: None,
                at: Span::line(line.number),
            });
            continue;
        }
        if let Some((number, code)) = arrow(text) {
            if frames.is_empty() {
                // Cut off above: the file is unknown, the line is not.
                frames.push(nameless(line.number));
            }
            if let Some(frame) = frames.last_mut() {
                frame.line = number;
                frame.code = Some(code.to_string());
                frame.at.last = line.number;
            }
            continue;
        }
        let Some(frame) = frames.last_mut() else { continue };
        let code = text.get(column..).unwrap_or(text).trim();
        if code.is_empty() || code.bytes().all(|b| matches!(b, b'^' | b'~' | b' ')) {
            continue;
        }
        if code.starts_with('~') && code.contains("<--- HERE") {
            // TorchScript prints the surroundings and points below the line.
            if let Some(pointed) = previous_code.take() {
                frame.code = Some(pointed);
            }
            continue;
        }
        let flat = frame.at.last + 1 == line.number && column == 0 && !looks_like_exception(text);
        if frame.code.is_none() && (flat || text.get(column..).is_some_and(|t| t.starts_with(' '))) {
            frame.code = Some(code.to_string());
            frame.at.last = line.number;
        }
        previous_code = Some(code.to_string());
    }
    frames
}

/// IPython marks the line that failed: `--> 174    state["exp_avg"] = …`.
fn arrow(text: &str) -> Option<(u64, &str)> {
    let (dashes, after) = text.trim_start().split_once("> ")?;
    if dashes.len() < 2 || !dashes.bytes().all(|b| b == b'-') {
        return None;
    }
    let after = after.trim_start();
    let digits = after.bytes().take_while(u8::is_ascii_digit).count();
    Some((after[..digits].parse().ok()?, after[digits..].trim()))
}

/// A frame of which only the code is left.
fn nameless(line: u64) -> Frame {
    Frame { file: String::new(), line: 0, function: String::new(), code: None, at: Span::line(line) }
}

/// The phase that the frames show: the innermost frame that belongs to one, a forward pass or a loss giving way to what
/// called it (validation, generation, the backward pass that recomputes).
pub(super) fn phase(frames: &[Frame]) -> Option<(Phase, Span)> {
    let mut weak: Option<(Phase, Span)> = None;
    // JAX's programs of radiance fields render whole pictures to look at; PyTorch's call a pass of training so as well.
    let in_jax = frames.iter().any(|frame| frame.path().contains("/jax/"));
    for frame in frames.iter().rev() {
        if in_jax && frame.function.starts_with("render_image") {
            return Some((Phase::Inference, frame.at));
        }
        let Some(phase) = phase_of(frame) else { continue };
        match phase {
            Phase::Forward | Phase::Loss => {
                if weak.is_none() || weak.is_some_and(|(p, _)| p == Phase::Forward) && phase == Phase::Loss {
                    weak = Some((phase, frame.at));
                }
            }
            Phase::Train => {
                return weak.or(Some((Phase::Train, frame.at)));
            }
            // A script that only tests works so all the time: it is no phase of its own.
            Phase::Validation if only_tests(frames) => return Some((Phase::Inference, frame.at)),
            // What predicts, or brings a model for it, called by what validates within a training.
            Phase::Inference | Phase::Load if validates_in_training(frames, frame) => {
                return Some((Phase::Validation, frame.at));
            }
            // What is made at the first step of an optimizer is made while it is set up where that calls it.
            Phase::OptimizerStep if frames.iter().any(sets_up_the_optimizer) => {
                return Some((Phase::OptimizerSetup, frame.at));
            }
            // Where state is loaded or saved inside a forward pass, it is the pass that matters less.
            strong => return Some((strong, frame.at)),
        }
    }
    // A pass of a script that evaluates or shows a model, beneath nothing that trains or validates, answers.
    weak.map(|(phase, at)| (if phase == Phase::Forward && only_answers(frames) { Phase::Inference } else { phase }, at))
}

/// True where a frame stands below one that validates, in a traceback of something that trains.
fn validates_in_training(frames: &[Frame], within: &Frame) -> bool {
    let trains = |frame: &Frame| {
        let function = frame.function.rsplit('.').next().unwrap_or("").to_ascii_lowercase();
        phase_of(frame) == Some(Phase::Train) || function.starts_with("train") || SHOWS.contains(&function.as_str())
    };
    let mut outer = frames.iter().take_while(|frame| frame.at != within.at);
    outer.any(|frame| phase_of(frame) == Some(Phase::Validation)) && frames.iter().any(trains)
}

/// True for a traceback of a user's script that is named for showing or judging what was trained before.
fn only_answers(frames: &[Frame]) -> bool {
    const WORDS: [&str; 5] = ["eval", "evaluate", "demo", "render", "visualize"];
    let main = frames.iter().find(|frame| frame.function == "<module>" || frame.function == "main");
    let script = main.filter(|frame| frame.is_user_code()).map_or("", |frame| file_name(&frame.file));
    let stem = script.trim_end_matches(".py").to_ascii_lowercase();
    let named = stem.split(|c: char| !c.is_ascii_alphanumeric()).any(|word| WORDS.contains(&word));
    let trains = frames.iter().any(|frame| {
        let code = frame.code.as_deref().unwrap_or_default();
        frame.function.to_ascii_lowercase().contains("train") || code.contains("train(") || code.contains("trainer")
    });
    named && !trains
}

/// True for a traceback of a user's script that is named for tests, and in which nothing is trained or gathered.
fn only_tests(frames: &[Frame]) -> bool {
    let named = frames.iter().find(|frame| frame.function == "<module>" || frame.function == "main");
    let script = named.filter(|frame| frame.is_user_code()).map_or("", |frame| file_name(&frame.file));
    let stem = script.trim_end_matches(".py").to_ascii_lowercase();
    let tests =
        ["test", "infer", "inference", "predict"].iter().any(|word| stem.starts_with(word) || stem.ends_with(word));
    let trains = frames.iter().any(|frame| frame.function.to_ascii_lowercase().contains("train"));
    tests && !trains && !frames.iter().any(|frame| frame.function.contains("gather"))
}

/// True for a line that calls the model: a function named for the loss runs the forward pass there.
fn calls_model(code: &str) -> bool {
    ["model(", "net(", "module("].iter().any(|call| code.contains(call))
}

/// True for a line that runs a backward pass of something made before: in `loss(model(x)).backward()` it is as often
/// the call within that fails, and the frames below tell.
fn goes_backward(code: &str) -> bool {
    code.split_once(".backward(").is_some_and(|(of, _)| !of.contains('('))
}

fn phase_of(frame: &Frame) -> Option<Phase> {
    let file = frame.path();
    let function = frame.function.rsplit('.').next().unwrap_or("");
    let code = frame.code.as_deref().unwrap_or("");
    let installed = !frame.is_user_code();
    if code.contains("load_from_checkpoint") || code.contains("load_state_dict") || function == "load_state_dict" {
        return Some(if file.contains("optim") || code.contains("optim") { Phase::Resume } else { Phase::Load });
    }
    // Paddle's predictor reads the weights when it is made.
    if code.contains("create_predictor(") {
        return Some(Phase::Load);
    }
    // TensorFlow 1: weights and the optimizer's slots are made here, and no batch is fed.
    if code.contains("variables_initializer(") || code.contains("initialize_all_variables(") {
        return Some(Phase::Load);
    }
    if code.contains("exp_avg")
        || function == "_init_group"
        || file.contains("/torch/optim/") && !code.contains("closure()")
    {
        return Some(Phase::OptimizerStep);
    }
    // Wrappers, ColossalAI's and Apex's among them, keep the optimizer as `self.optim`.
    let steps = ["optimizer.step(", ".optim.step(", "scaler.step("];
    if steps.iter().any(|call| code.contains(call)) && !code.contains("closure") {
        return Some(Phase::OptimizerStep);
    }
    if function == "backward" || goes_backward(code) || file.contains("/autograd/") && function == "run_backward" {
        return Some(Phase::Backward);
    }
    if file.ends_with("torch/serialization.py") {
        return match function {
            "save" | "_save" | "_legacy_save" => Some(Phase::Checkpoint),
            _ => Some(Phase::Load),
        };
    }
    if code.contains("torch.load(") || code.contains("resume_from_checkpoint") && function.contains("resume") {
        return Some(Phase::Load);
    }
    if saves(function) || called(code).any(saves) {
        return Some(Phase::Checkpoint);
    }
    if decodes(function) || function.ends_with("decode") && file.contains("autoencoder") || called(code).any(decodes) {
        return Some(Phase::Decode);
    }
    // Flax's loops make parameters and the optimizer's state together.
    let makes_the_state = ["init_train_state", "create_train_state"].contains(&function);
    if makes_the_state || sets_up_the_optimizer(frame) {
        return Some(Phase::OptimizerSetup);
    }
    // What a frozen model makes of the data is kept before training begins.
    if caches_data(function) {
        return Some(Phase::Inference);
    }
    if moves_data(&file, &frame.function, code) {
        return Some(Phase::DataLoading);
    }
    if code.contains("from_pretrained(")
        // Keras'.
        || code.contains(".from_preset(")
        || code.contains("paddle.load(")
        || function.contains("from_pretrained")
        || LOADERS.contains(&function)
        || function.starts_with("load_model")
        // Weights that wait in host memory while another part of the job works.
        || function.starts_with("load_") && function.ends_with("_to_gpu")
        || ["backload_to_gpu", "onload", "reload_weights"].contains(&function)
        || ["convert", "cuda", "to", "_apply"].contains(&function) && file.ends_with("nn/modules/module.py")
        || function.contains("repack")
        // transformers' trainer and those made of it bring the model to the device when they are made.
        || code.contains("Trainer(") && ![".train(", ".fit(", ").run("].iter().any(|call| code.contains(call))
        || moves_model(code)
        || builds_model(&file, function, code)
    {
        return Some(Phase::Load);
    }
    if function.contains("worker_loop") || function.contains("collate") || file.contains("torch/utils/data/") {
        return Some(Phase::DataLoading);
    }
    if file.contains("_inductor/") || file.contains("torch/_dynamo/") && function.starts_with("compile") {
        return Some(Phase::Compile);
    }
    if function.contains("warmup")
        || function.contains("warm_up")
        || function.contains("capture") && (function.contains("graph") || file.contains("graph"))
        || profiles_an_engine(function)
    {
        return Some(Phase::Warmup);
    }
    let lower = function.to_ascii_lowercase();
    if SHOWS.contains(&lower.as_str())
        || called(code).any(|name| SHOWS.contains(&name.rsplit('.').next().unwrap_or(name)))
    {
        return Some(Phase::Validation);
    }
    // `train_val`, `run_train_validation_loop`: what goes over both is neither.
    let both = lower.contains("train") && !file.ends_with("/hooks/evaluation.py");
    let validating = file.ends_with("/hooks/evaluation.py")
        || lower.contains("valid") && !lower.contains("validate_") && !checks_input(&lower)
        || lower == "evaluate"
        // A case of a suite of tests evaluates no model.
        || (lower == "test" || lower.starts_with("test_") && !file_name(&file).starts_with("test_")) && !installed
        || lower == "eval"
        || lower.contains("evaluation")
        || lower.starts_with("eval_")
        || lower.ends_with("_eval")
        || lower.contains("sanity_check")
        || lower.contains("perplexity")
        || lower == "compute_metrics"
        || validates(function);
    let calls = called(code).any(validates) || goes_over_other_data(code) && !installed;
    if validating && !both || calls {
        return Some(Phase::Validation);
    }
    // What predicts with Ultralytics' models, and the harnesses that evaluate language models.
    let answers = ["/engine/predictor.py", "/lm_eval/evaluator.py", "/lmms_eval/evaluator.py"];
    if answers.iter().any(|end| file.ends_with(end)) {
        return Some(Phase::Inference);
    }
    // `wav = vocoder.infer_waveform(spec)`, below which the paste has no frame.
    let infers = |name: &str| name.rsplit('.').next().is_some_and(|name| name.starts_with("infer_"));
    if ANSWERING.contains(&lower.as_str())
        || !installed && (renders_pictures(&lower) || infers(&lower) || called(code).any(infers))
    {
        return Some(Phase::Inference);
    }
    if code.contains("cross_entropy")
        || code.contains("log_softmax")
        || lower.contains("loss") && !["training_step", "forward_loss"].contains(&lower.as_str()) && !calls_model(code)
        || file.ends_with("nn/modules/loss.py")
    {
        return Some(Phase::Loss);
    }
    if lower == "forward" || code.contains("scaled_dot_product_attention(") {
        return Some(Phase::Forward);
    }
    let trains = lower == "train"
        || lower.starts_with("train_")
        || lower == "fit"
        || lower.ends_with("_train")
        || lower == "training_step"
        || lower == "_inner_training_loop";
    (trains && (!installed || lower != "train")).then_some(Phase::Train)
}

/// True for a function that asks whether what it was given is valid, or answers that it was: `is_valid`, Django's
/// `form_valid`.
fn checks_input(function: &str) -> bool {
    ["_invalid", "is_valid", "form_valid"].iter().any(|name| function.contains(name))
}

/// True for a call that goes over data by the name of their part: `iterate("val", args, loader)`.
fn goes_over_other_data(code: &str) -> bool {
    const PARTS: [&str; 6] = ["val", "valid", "validation", "test", "eval", "dev"];
    let goes = ["iterate", "epoch", "loop", "run", "pass"];
    let names = |(at, _): (usize, &str)| {
        let (called, rest) = code.split_at(at);
        let part = rest.get(1..).unwrap_or_default();
        let quoted = |quote: char| part.strip_prefix(quote).and_then(|part| part.split(quote).next());
        let part = quoted('"').or_else(|| quoted('\'')).unwrap_or_default().to_ascii_lowercase();
        PARTS.contains(&part.as_str()) && goes.iter().any(|word| called.to_ascii_lowercase().ends_with(word))
    };
    code.match_indices('(').any(names)
}

/// A function that renders whole pictures to be looked at: `render_path` of NeRF's programs, `render_sets` of Gaussian
/// splatting's. A picture to learn from is made by `render`.
fn renders_pictures(function: &str) -> bool {
    const OF: [&str; 8] = ["path", "set", "sets", "test", "tests", "video", "videos", "poses"];
    function.strip_prefix("render_").is_some_and(|rest| OF.contains(&rest.split('_').next().unwrap_or_default()))
}

/// What a line of code calls, the last two parts of its name: `self.trainer.val_epoch(x)` calls `trainer.val_epoch`.
fn called(code: &str) -> impl Iterator<Item = &str> {
    let name = |c: char| c.is_alphanumeric() || c == '_' || c == '.';
    code.match_indices('(').filter_map(move |(at, _)| {
        let before = code.get(..at)?;
        let full = before.get(before.rfind(|c| !name(c)).map_or(0, |from| from + 1)..)?;
        let from = full.rmatch_indices('.').nth(1).map_or(0, |(dot, _)| dot + 1);
        full.get(from..).filter(|called| !called.is_empty())
    })
}

/// A function that goes over data which nothing is learnt from: `val_one_epoch`, `compute_validation_map`. What reads
/// such data or checks an argument is another matter.
fn validates(function: &str) -> bool {
    let plain = function.rsplit('.').next().unwrap_or(function);
    let name = plain.to_ascii_lowercase();
    // What goes over both kinds of data is neither phase.
    if name.contains("train") || checks_input(&name) {
        return false;
    }
    // `epochVal`, `runEval`.
    if ["Val", "Eval", "Validation", "Validate"].iter().any(|end| plain.ends_with(end)) {
        return true;
    }
    // `testEpoch`, `evalOneEpoch`.
    let capital = |rest: &str| rest.starts_with(|c: char| c.is_ascii_uppercase());
    let camel = ["test", "eval", "valid", "val"].iter().any(|word| plain.strip_prefix(word).is_some_and(capital));
    if camel && ["Epoch", "Step", "Model"].iter().any(|unit| plain.contains(unit)) {
        return true;
    }
    let parts = || name.split('_').filter(|part| !part.is_empty());
    let reads =
        ["loader", "dataloader", "dataset", "data", "transform", "transforms", "split", "sampler", "dir", "path"];
    parts().any(|part| matches!(part, "val" | "valid" | "validation" | "evaluate" | "evaluation"))
        && !parts().any(|part| reads.contains(&part))
        && !matches!(parts().next(), Some("is" | "set" | "get" | "log" | "print" | "assert" | "check" | "update"))
}

/// A function that gathers or writes the state: `torch.save`, `save_checkpoint`, `full_state_dict`. `save_image` and
/// `save_for_backward` are others, and one that prepares or converts a state has just read it.
fn saves(function: &str) -> bool {
    let name = function.rsplit('.').next().unwrap_or(function).trim_start_matches('_');
    let states = ["save_checkpoint", "save_pretrained", "save_model", "save_state", "save_weights", "save_ckpt"];
    function == "torch.save"
        || states.iter().any(|state| name.starts_with(state))
        // `save_fsdp_model`, `save_lora_weights`.
        || name.starts_with("save_") && name.split('_').any(|part| matches!(part, "model" | "weights" | "checkpoint"))
        || name.ends_with("state_dict")
            && !["load", "prepare", "convert", "remap", "process", "fix"].iter().any(|verb| name.contains(verb))
}

/// Functions that make or fill a model's weights, of engines above all: `quant_method.create_weights(…)`.
const LOADERS: [&str; 8] = [
    "create_weights",
    // LMDeploy's, of each rank.
    "_create_weight",
    "_create_weight_func",
    "load_weights",
    "weight_loader",
    "_initialize_model",
    "initialize_model",
    "process_weights_after_loading",
];

/// Functions by which a training loop shows what the model draws by now.
const SHOWS: [&str; 4] = ["log_img", "log_images", "log_validation", "sample_images"];

/// Functions that answer rather than learn.
const ANSWERING: [&str; 11] = [
    "generate",
    "predict",
    "predict_batch",
    "predict_on_batch",
    "predict_proba",
    "predict_step",
    "get_preds",
    "inference",
    "infer",
    "transcribe",
    "upscale",
];

/// Functions that fill a module which is being built.
const FILLS: [&str; 5] = ["reset_parameters", "_reset_parameters", "_init_weights", "init_weights", "post_init"];

/// Attributes that a model keeps its parts under.
const PARTS: [&str; 14] = [
    "layers",
    "blocks",
    "backbone",
    "encoder",
    "decoder",
    "transformer",
    "embedding",
    "embeddings",
    "model",
    "net",
    "head",
    "experts",
    "lm_head",
    "unet",
];

/// True where the layers of a model are being made: a module's own constructor, what fills it, or a line that makes
/// modules in a place where nothing runs them.
fn builds_model(file: &str, function: &str, code: &str) -> bool {
    let of_torch = file.contains("/torch/nn/") && !file.contains("/torch/nn/parallel/");
    if of_torch && function == "__init__" || file.ends_with("/torch/nn/init.py") || FILLS.contains(&function) {
        return true;
    }
    let makes = matches!(function, "__init__" | "<module>" | "main" | "<genexpr>" | "<listcomp>")
        || ["build_", "make_", "create_"].iter().any(|start| function.starts_with(start));
    // `nn.Softmax(dim=1)(scores)` runs what it makes.
    let runs = code.contains(")(") || code.contains("loss");
    let module = code.match_indices("nn.").any(|(at, _)| {
        let own = !code.get(..at).is_some_and(|before| before.ends_with(|c: char| c.is_alphanumeric() || c == '_'));
        own && code.get(at + 3..).is_some_and(|after| after.starts_with(|c: char| c.is_ascii_uppercase()))
    });
    let part = code.split_once(" = ").is_some_and(|(name, made)| {
        let class = made.split('(').next().unwrap_or("").rsplit('.').next().unwrap_or("");
        name.strip_prefix("self.").is_some_and(|name| PARTS.contains(&name))
            && made.contains('(')
            && class.starts_with(|c: char| c.is_ascii_uppercase())
    });
    makes && !runs && (module && code.contains('(') || function == "__init__" && part)
}

/// True where fairseq builds its optimizer, and where DeepSpeed divides the parameters and makes the optimizer's own
/// copies of them, before the first step.
fn sets_up_the_optimizer(frame: &Frame) -> bool {
    let function = frame.function.rsplit('.').next().unwrap_or("");
    let sets_up = [
        "_setup_for_real_optimizer",
        "_configure_zero_optimizer",
        "_configure_optimizer",
        "initialize_optimizer_states",
    ];
    // fairseq's trainer and its optimizer for 16 bit, which makes a copy of the parameters in 32.
    let of_fairseq = ["_build_optimizer", "build_fp32_params"].contains(&function);
    let makes = ["get_optimizer", "set_optimizers", "build_optimizer", "make_optimizer", "create_optimizer"];
    of_fairseq
        || makes.contains(&function)
        || frame.path().contains("/deepspeed/") && (function.starts_with("_create_fp") || sets_up.contains(&function))
}

/// Names that data goes by.
const DATA: [&str; 18] = [
    "audio", "batch", "clip", "clips", "data", "frame", "frames", "image", "images", "img", "imgs", "inputs", "pixels",
    "samples", "video", "videos", "x", "y",
];

/// Words of what reads data: `load_video_frames`, `cameras.py`, `MyDataset.__init__`.
const READERS: [&str; 9] = ["camera", "clip", "data", "frame", "image", "img", "scene", "video", "audio"];

/// `images = images.cuda()` in a function that reads data: neither weights nor a batch that a pass works on.
fn moves_data(file: &str, function: &str, code: &str) -> bool {
    let Some(at) = code.find(".cuda(").or_else(|| code.find(".to(")) else { return false };
    let moved = code.get(..at).unwrap_or("").rsplit(" = ").next().unwrap_or("").trim_start_matches("self.");
    let name = moved.split(['.', '[', '(']).next().unwrap_or("").trim().to_ascii_lowercase();
    let (owner, plain) = function.rsplit_once('.').unwrap_or(("", function));
    let reads = |text: &str| {
        let lower = text.to_ascii_lowercase();
        READERS.iter().any(|word| lower.contains(word))
    };
    let loads = ["load", "read", "_load", "_read"].iter().any(|start| plain.starts_with(start)) && reads(plain);
    let within = matches!(plain, "__init__" | "__getitem__") && (reads(owner) || reads(file_name(file)));
    DATA.contains(&name.as_str()) && (loads || within)
}

/// True where an engine measures the peak of its largest batch, before it sizes its pool.
pub(super) fn profiles_an_engine(function: &str) -> bool {
    function.contains("profile_run")
        || ["determine_num_available_blocks", "determine_available_memory"].contains(&function)
}

/// A function that goes over the data set before training, to keep what frozen models make of it.
pub(super) fn caches_data(function: &str) -> bool {
    ["cache_latents", "cache_batch_latents", "cache_text_encoder_outputs", "cache_batch_text_encoder_outputs"]
        .contains(&function)
}

/// A function that turns latents into what is seen or heard.
fn decodes(function: &str) -> bool {
    let lower = function.to_ascii_lowercase();
    let (owner, name) = lower.rsplit_once('.').unwrap_or(("", &lower));
    let of_latents =
        |text: &str| ["vae", "latent", "first_stage", "autoencoder"].iter().any(|word| text.contains(word));
    name.contains("decode") && (of_latents(name) || of_latents(owner))
}

/// `model.to(device)`, `net.cuda()`, `.to(device)` of something that is called a model.
fn moves_model(code: &str) -> bool {
    let Some(at) = code.find(".to(").or_else(|| code.find(".cuda(")) else { return false };
    let before = code[..at].to_ascii_lowercase();
    let name = before.rsplit(['=', ' ', '(']).next().unwrap_or("");
    ["model", "net", "unet", "pipe", "encoder", "decoder", "vae"].iter().any(|known| name.contains(known))
        && !name.contains("input")
}

/// Names that a second copy of a model goes by.
const SECOND_MODELS: [&str; 14] = [
    "teacher",
    "ema",
    "ema_model",
    "average",
    "averaged",
    "averaged_model",
    "swa_model",
    "shadow",
    "ref_model",
    "reference",
    "reference_model",
    "target_net",
    "target_network",
    "target_model",
];

/// `copy.deepcopy(model)`, `teacher = build()`, `self.ref_model = AutoModel.from_pretrained(…)`.
fn copies_model(code: &str) -> bool {
    let copied = code.find("deepcopy(").and_then(|at| code.get(at + 9..)).is_some_and(|copied| {
        let name = copied.split([')', ',', '.', '(']).find(|name| *name != "self").unwrap_or("").to_ascii_lowercase();
        ["model", "net", "policy", "actor", "critic", "encoder"].iter().any(|known| name.contains(known))
    });
    let assigned = code.split_once(" = ").is_some_and(|(name, made)| {
        let name = name.trim().rsplit('.').next().unwrap_or("");
        SECOND_MODELS.contains(&name) && made.contains('(')
    });
    copied || assigned
}

/// Parts of names of scripts and functions that answer rather than learn.
const ANSWERS: [&str; 16] = [
    "infer",
    "predict",
    "demo",
    "sample",
    "generate",
    "webui",
    "gradio",
    "serve",
    "server",
    "translate",
    "transcribe",
    "upscale",
    "enhance",
    "render",
    "chat",
    "txt2img",
];

/// Where the user's own code is named for prediction, sampling or a service, and nothing in the traceback learns.
pub(super) fn predicts(frames: &[Frame]) -> Option<Span> {
    let found = script_predicts(frames).or_else(|| {
        own(frames).find(|frame| {
            named(&frame.function, &ANSWERS)
                || named(file_name(&frame.file), &ANSWERS)
                || frame.code.as_deref().is_some_and(|code| code.contains("volatile=True"))
        })
    })?;
    (!learns(frames)).then_some(found.at)
}

/// The frame of the script itself, where its name is one of those that predict or evaluate: a function that evaluates
/// may be one of training's.
pub(super) fn script_predicts(frames: &[Frame]) -> Option<&Frame> {
    own(frames).find(|frame| {
        let file = file_name(&frame.file);
        let answers = named(file, &ANSWERS)
            || named(file, &["eval", "evaluate", "evaluation", "viewer"])
            // What a benchmark's server asks for is computed once training is over.
            || ["test.py", "render.py", "submission.py"].contains(&file);
        frame.function == "<module>" && answers && !learns(frames)
    })
}

fn own(frames: &[Frame]) -> impl Iterator<Item = &Frame> {
    frames.iter().filter(|frame| frame.is_user_code())
}

fn learns(frames: &[Frame]) -> bool {
    const WORDS: [&str; 6] = ["train", "fit", "finetune", "pretrain", "backward", "optimizer"];
    own(frames).any(|frame| named(&frame.function, &WORDS) || named(file_name(&frame.file), &WORDS))
}

/// True where a word of the text starts with one of these.
fn named(text: &str, names: &[&str]) -> bool {
    let lower = text.to_ascii_lowercase();
    lower.split(|c: char| !c.is_ascii_alphanumeric()).any(|word| names.iter().any(|name| word.starts_with(name)))
}

fn file_name(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}

/// What the innermost frames show of the kind of allocation, and those of the user's own code of what it is for.
pub(super) fn clues(frames: &[Frame], clues: &mut BTreeMap<Clue, Span>) {
    for frame in frames {
        let code = frame.code.as_deref().unwrap_or("");
        if frame.is_user_code() && copies_model(code) {
            clues.entry(Clue::CopiesModel).or_insert(frame.at);
        }
        if clues_of(frame).contains(&Clue::TilesDecoding) {
            clues.entry(Clue::TilesDecoding).or_insert(frame.at);
        }
        if ["past_key_values=", "use_cache=True", "kv_cache=", "cache=cache"].iter().any(|word| code.contains(word)) {
            clues.entry(Clue::ServesWithCache).or_insert(frame.at);
        }
    }
    // A child process runs the script's own lines again, outside of a guard on `__main__`, loading included.
    if let Some(frame) = frames.iter().find(|frame| frame.function == "_fixup_main_from_path") {
        clues.entry(Clue::SpawnedAgain).or_insert(frame.at);
    }
    for frame in frames.iter().rev().take(6) {
        for clue in clues_of(frame) {
            clues.entry(clue).or_insert(frame.at);
        }
    }
}

/// How the state is spread over devices, by the frames of what spreads it.
pub(super) fn shards(frames: &[Frame], context: &mut Context) {
    for frame in frames {
        let file = frame.path();
        let fully = file.contains("/fsdp/") || file.ends_with("/fsdp_utils.py") || file.contains("fully_sharded");
        if fully || frame.function.contains("fsdp_model") {
            context.fsdp.note(true, frame.at);
        }
        if file.ends_with("/zero/stage3.py") || file.contains("/zero/partition") {
            context.zero_stage.note(3, frame.at);
        }
    }
}

fn clues_of(frame: &Frame) -> Vec<Clue> {
    let code = frame.code.as_deref().unwrap_or("");
    let function = frame.function.as_str();
    let file = frame.file.as_str();
    let any = |words: &[&str]| words.iter().any(|word| code.contains(word) || function.contains(word));
    let mut found = Vec::new();
    // What each rank sends the others once, after the loop, was kept elsewhere until then.
    let gathers = function.contains("gather") || code.contains("all_gather(") || code.contains("gather_object(");
    let keeps = any(&["nested_concat", "pad_and_concatenate", "append(loss", "losses +=", "all_preds", "all_outputs"])
        || code.contains("torch.cat(")
            && ["outputs", "preds", "results", "all_", "logits_list"].iter().any(|word| code.contains(word));
    if keeps && !gathers {
        found.push(Clue::Accumulates);
    }
    if any(&[
        "to_dense_adj",
        "cdist",
        "pairwise",
        "baddbmm",
        "attention_scores",
        "attn_weights",
        "attn_scores",
        "attn_mask",
        "scaled_dot_product",
    ]) || code.contains("interpolate(") && code.contains("mask")
        || code.contains("softmax(") && (code.contains("attn") || code.contains("score"))
    {
        found.push(Clue::Quadratic);
    }
    // Of two classes, or of boxes: there is no vocabulary.
    let of_two = any(&["binary_cross_entropy"]);
    if any(&["lm_head", "log_softmax", "logprob", "compute_logits", "ForCausalLMLoss"])
        || any(&["cross_entropy"]) && !of_two
        || code.contains("logits") && (code.contains("float()") || code.contains("softmax"))
    {
        found.push(Clue::VocabularyLogits);
    }
    if copies_model(code) {
        found.push(Clue::CopiesModel);
    }
    let makes =
        ["torch.empty(", "torch.zeros(", "torch.full(", ".new_zeros(", ".new_empty("].iter().any(|m| code.contains(m));
    let cache = ["kv_cache", "key_cache", "value_cache", "k_cache", "v_cache", "num_blocks", "blocks, ", "cache_shape"];
    if makes && cache.iter().any(|word| code.contains(word))
        || any(&[
            "allocate_kv",
            "_allocate_kv_cache",
            "init_kv_cache",
            "initialize_kv_cache",
            "StaticCache(",
            "init_memory_pool",
            "ExLlamaV2Cache(",
        ])
    {
        found.push(Clue::AllocatesCache);
    }
    if any(&["exp_avg", "_init_group"]) || code.contains("optimizer.step(") && !code.contains("closure") {
        found.push(Clue::OptimizerState);
    }
    if any(&["load_from_checkpoint", "load_state_dict", "torch.load(", "from_pretrained"])
        || function == "convert" && file.ends_with("module.py")
        || moves_model(code)
    {
        found.push(Clue::LoadsModel);
    }
    // Not DistributedDataParallel's `distributed.py`, nor FSDP's `fully_sharded_data_parallel.py`.
    if file.replace('\\', "/").ends_with("/data_parallel.py") || file.contains("scatter_gather.py") {
        found.push(Clue::DataParallel);
    }
    // Not `batch_norm(…, torch.backends.cudnn.enabled)`.
    if any(&["conv1d(", "conv2d(", "conv3d(", "_conv_forward", "cudnn_conv"]) {
        found.push(Clue::ConvWorkspace);
    }
    if any(&["cuda_graph", "CUDAGraph", "capture_graph", "cudagraph"]) {
        found.push(Clue::CudaGraphs);
    }
    if function.contains("tiled_decode")
        || function.contains("decode_tiled")
        || code.contains("tiled_decode(")
        || code.contains("decode_tiled(")
    {
        found.push(Clue::TilesDecoding);
    }
    found
}
