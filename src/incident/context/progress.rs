//! Where the run was: epochs, steps and phases as training loops and progress bars print them.

use super::Phase;
use crate::dialect::xla::tensor;

/// What one line tells of the progress; each part that it does not tell is `None`.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Progress {
    pub epoch: Option<f64>,
    pub epochs: Option<u64>,
    pub step: Option<u64>,
    pub steps: Option<u64>,
    pub phase: Option<Phase>,
    /// A bar without a word of training beside it: what it counts is not told.
    pub wordless: bool,
    /// Loading is over.
    pub loaded: bool,
    /// The phase is told by words that stand in a message of failure itself.
    pub of_the_message: bool,
    /// Image size of an Ultralytics row.
    pub image: Option<u64>,
    /// Bytes of an Ultralytics row's `GPU_mem`.
    pub gpu_memory: Option<u64>,
}

/// True for `waiting for the server to be up (3/30)`, which counts no work.
pub(super) fn waits(text: &str) -> bool {
    text.trim_start().get(..7).is_some_and(|begin| begin.eq_ignore_ascii_case("waiting"))
}

/// Reads the progress that a line tells, if any. `phases` tells that the line holds a word that phases are announced
/// with.
pub(super) fn read(text: &str, phases: bool) -> Option<Progress> {
    let mut progress = Progress::default();
    if of_a_solver(text) {
        return None;
    }
    if !ultralytics_row(text, &mut progress) {
        // The epoch and the step of a checkpoint are another run's.
        let restored = restores(text);
        if !restored && !lists_settings(text) {
            epoch(text, &mut progress);
        }
        if !timm(text, &mut progress) {
            bar(text, &mut progress);
        }
        if progress.step.is_none() && !restored {
            step(text, &mut progress);
        }
        let counts_work = progress.step.is_none() && one_of_many(text, &mut progress);
        if phases {
            // A bar without a line end is followed by whatever is printed next: that is the later of the two.
            let bar_ends = text.rfind(['[', '|']).and_then(|from| Some(from + text.get(from..)?.find(']')? + 1));
            let behind = bar_ends.filter(|_| text.contains("%|")).and_then(|at| text.get(at..));
            if let Some(phase) = behind.and_then(announced) {
                (progress.phase, progress.step, progress.steps) = (Some(phase), None, None);
            } else if progress.phase.is_none() {
                progress.phase = announced(text);
            }
        }
        progress.loaded |= phases && progress.phase.is_none() && load_is_over(&text.to_ascii_lowercase());
        if progress.phase.is_none() && (progress.step.is_some() || progress.epoch.is_some()) {
            progress.phase = Some(if phases && mentions_validation(text) { Phase::Validation } else { Phase::Train });
            let wordless = (text.contains("%|") || counts_work) && !learns(text);
            progress.wordless = (wordless || only_iterates(text)) && progress.epoch.is_none();
        }
    }
    (progress != Progress::default()).then_some(progress)
}

/// The phase that the words of a failure tell: FSDP's warning for each tensor of a state dict that finds no room
/// (torch/distributed/fsdp, 1.13 to 2.x), the part of TensorFlow's graph that the failing node belongs to, and the
/// function that Keras makes of its training step (TensorFlow 2).
pub(super) fn of_a_message(text: &str) -> Option<Progress> {
    let saves = text.contains("Failed to clone() tensor with name").then_some(Phase::Checkpoint);
    // ONNX Runtime's and Triton's word for a session that did not come about, InvokeAI's for a model, and TGI's for a
    // shard that ended before it was ready (launcher/src/main.rs); it warms up after that.
    let loads = ["Exception during initialization", "could not be loaded:", "ShardCannotStart"];
    let loads = loads.iter().any(|words| text.contains(words)).then_some(Phase::Load);
    let train = || text.contains("__inference_train_function").then_some(Phase::Train);
    let phase = saves.or(loads).or_else(|| of_a_node(tensor::node(text)?)).or_else(train)?;
    Some(Progress { phase: Some(phase), of_the_message: true, ..Progress::default() })
}

/// The phase of a node by its path: `tf.gradients` names its part (TensorFlow 1, `python/ops/gradients_util.py`), Keras
/// puts its optimizer's below `training`, and a slot is made and filled before any step.
fn of_a_node(path: &str) -> Option<Phase> {
    let parts = || path.split('/').map(|part| part.trim_end_matches(|c: char| c.is_ascii_digit() || c == '_'));
    if parts().any(|part| matches!(part, "Initializer" | "Assign")) {
        return None;
    }
    if parts().any(|part| part == "gradients" || part == "gradient_tape") {
        return Some(Phase::Backward);
    }
    let optimizer = |part: &str| matches!(part, "Adam" | "RMSprop" | "RMSProp" | "Momentum" | "SGD" | "Adagrad");
    let kept = parts().next().is_some_and(|first| first == "training" || optimizer(first));
    (kept && parts().any(optimizer)).then_some(Phase::OptimizerStep)
}

/// True for a residual of Trilinos' solvers (packages/belos, BelosStatusTestGeneralOutput):
/// `Iter   2, [ 1] :  1.28e-05`.
fn of_a_solver(text: &str) -> bool {
    let Some((number, rest)) = text.trim_start().strip_prefix("Iter ").and_then(|rest| rest.split_once(',')) else {
        return false;
    };
    let counts = number.trim().bytes().all(|byte| byte.is_ascii_digit());
    counts && rest.trim_start().starts_with('[') && rest.contains("] :")
}

/// True for a line, in lower case, that tells that the model is there: `Loading model... Done.`
fn load_is_over(lower: &str) -> bool {
    // darknet's `Done!` and others' `Loaded`, on a line of their own.
    if matches!(lower.trim().trim_end_matches(['.', '!']), "done" | "loaded") {
        return true;
    }
    let last = lower.trim_end_matches(['.', '!', ')', ']', ' ']).rsplit(|c: char| !c.is_alphanumeric()).next();
    if lower.contains("loading")
        && last.is_some_and(|word| matches!(word, "done" | "ok" | "complete" | "completed" | "finished"))
    {
        return true;
    }
    ["finished loading", "done loading", "loading model weights took", "model loaded", "server ready", "runner ready"]
        .iter()
        .any(|words| lower.contains(words))
}

/// True for a line that tells which checkpoint a run goes on from.
fn restores(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    ["loaded checkpoint", "loading checkpoint", "restored checkpoint", "restoring checkpoint", "trained to step"]
        .iter()
        .any(|words| lower.contains(words))
}

/// True for a line with a word of training.
fn learns(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    ["train", "loss", "epoch", "lr=", "lr:", "grad", "step", "iter", "fit"].iter().any(|word| lower.contains(word))
}

/// True for a line that counts iterations and says nothing of what is learnt by them: solvers and refinements iterate
/// as well, `Expectation iteration 1 of 25`.
fn only_iterates(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    lower.contains("iteration ") && !["train", "loss", "epoch", "lr", "grad", "step"].iter().any(|w| lower.contains(w))
}

/// timm's loops: `Train: 42 [   0/1429 (  0%)]`, and `Test:  [  12/78]`, whose steps are none of training.
fn timm(text: &str, progress: &mut Progress) -> bool {
    if text.trim_start().strip_prefix("Test: ").is_some_and(|after| after.trim_start().starts_with('[')) {
        progress.phase = Some(Phase::Validation);
        return true;
    }
    let Some(after) = text.split_once("Train: ").map(|(_, after)| after) else { return false };
    let Some((epoch, rest)) = whole(after.trim_start()) else { return false };
    let inner = rest.trim_start().strip_prefix('[').and_then(|rest| rest.split_once(['(', ']']));
    let Some((done, all)) = inner.and_then(|(counts, _)| ratio(counts.trim())) else { return false };
    progress.epoch = Some(epoch as f64);
    (progress.step, progress.steps) = (Some(done), Some(all));
    progress.phase = Some(Phase::Train);
    true
}

/// True for a bar without a word besides its rate: `100%|██████████| 20/20 [00:02<00:00,  8.11it/s]`.
pub(super) fn is_bare_bar(text: &str) -> bool {
    let end = text.rfind(['[', '|']).and_then(|from| Some(from + text.get(from..)?.find(']')? + 1));
    let bar = end.and_then(|end| text.get(..end)).unwrap_or(text);
    let mut words = bar.split(|c: char| !c.is_alphabetic()).filter(|word| !word.is_empty());
    bar.contains("%|") && words.all(|word| matches!(word, "it" | "s"))
}

/// True for a line that could be an Ultralytics row: `  134/200   26.5G   0.9 …`, which has no keyword.
pub(super) fn maybe_row(text: &str) -> bool {
    let text = text.trim_start();
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    (1..=6).contains(&digits) && text.as_bytes().get(digits) == Some(&b'/')
}

fn ultralytics_row(text: &str, progress: &mut Progress) -> bool {
    let mut words = text.split_whitespace();
    let (Some(first), Some(memory)) = (words.next(), words.next()) else { return false };
    let Some((epoch, epochs)) = first.split_once('/') else { return false };
    let (Ok(epoch), Ok(epochs)) = (epoch.parse::<u32>(), epochs.parse::<u64>()) else { return false };
    let Some(gigabytes) = memory.strip_suffix('G').and_then(|n| n.parse::<f64>().ok()) else { return false };
    if !(0.0..=1e5).contains(&gigabytes) {
        return false;
    }
    progress.epoch = Some(f64::from(epoch));
    progress.epochs = Some(epochs);
    // torch.cuda.memory_reserved() / 1e9 up to 8.2.x, / 2^30 since: two readings of one program compare either way.
    progress.gpu_memory = Some((gigabytes * crate::units::GIB as f64) as u64);
    progress.phase = Some(Phase::Train);
    for (word, next) in text.split_whitespace().zip(text.split_whitespace().skip(1)) {
        if let Some(size) = word.strip_suffix(':').and_then(|n| n.parse::<u64>().ok())
            && next.ends_with(|c: char| c == '%' || c == '|' || !c.is_ascii())
            && (16..=16_384).contains(&size)
        {
            progress.image = Some(size);
        }
        if next.contains('/')
            && let Some((done, all)) = ratio(next)
        {
            progress.step = Some(done);
            progress.steps = Some(all);
        }
    }
    true
}

/// `12/400` as two numbers.
pub(super) fn ratio(word: &str) -> Option<(u64, u64)> {
    let (done, all) = word.trim_matches(['[', ']', '(', ')', ',', ':', '\'', '"']).split_once('/')?;
    Some((done.trim().parse().ok()?, all.trim().parse().ok()?))
}

/// A number at the start of the text, and what follows it.
fn number(text: &str) -> Option<(f64, &str)> {
    let mut end = text.bytes().take_while(u8::is_ascii_digit).count();
    if end == 0 || end > 9 {
        return None;
    }
    let after = &text[end..];
    if let Some(fraction) = after.strip_prefix('.') {
        let decimals = fraction.bytes().take_while(u8::is_ascii_digit).count();
        if decimals > 0 {
            end += 1 + decimals;
        }
    }
    Some((text[..end].parse().ok()?, &text[end..]))
}

fn whole(text: &str) -> Option<(u64, &str)> {
    let (value, rest) = number(text)?;
    (value.fract() == 0.0).then_some((value as u64, rest))
}

/// True for a number with a point in it, which counts nothing.
fn decimal(text: &str) -> bool {
    text.trim_start_matches(|c: char| c.is_ascii_digit()).starts_with('.')
        && number(text).is_some_and(|(_, rest)| !rest.starts_with('.'))
}

/// `Epoch 3/10`, `Epoch [1][50/100]`, `Epoch: [0] [ 60/834]`, `epoch=3`, `'epoch': 0.4`, `Train Epoch: 1 [640/60000
/// (1%)]`, `0/10 * Epoch (train)`, `第5个Epoch`.
fn epoch(text: &str, progress: &mut Progress) {
    let mut from = 0;
    while let Some(found) = find_ignoring_case(&text[from..], "epoch") {
        let at = from + found;
        let after = &text[at + 5..];
        from = at + 5;
        if let Some(number) = ordinal_before(&text[..at]) {
            progress.epoch = Some(number);
            return;
        }
        // An option tells what is wanted, as which checkpoint a decoder reads, and not what was reached; so does a
        // word for how many there will be.
        if option_at(text, at) || bounds(&text[..at]) {
            continue;
        }
        if after.starts_with(['s', 'S', '_', '.'])
            || text[..at].ends_with(['_', '.', '/']) && !text[..at].ends_with("current_")
        {
            continue;
        }
        // `Num batches each epoch = 12` counts batches.
        let before = text[..at].trim_end();
        if ["each", "per", "every", "an", "one"].iter().any(|word| before.ends_with(&format!(" {word}"))) {
            continue;
        }
        // Catalyst: `0/10 * Epoch (train): 100% 32/32`.
        if let Some((done, all)) = text[..at].trim_end_matches([' ', '*']).rsplit(' ').next().and_then(ratio)
            && text[..at].trim_end().ends_with('*')
        {
            progress.epoch = Some(done as f64);
            progress.epochs = Some(all);
            progress.phase = Some(if mentions_validation(after) { Phase::Validation } else { Phase::Train });
            if let Some((done, all)) = after.split_whitespace().take(4).find_map(ratio) {
                progress.step = Some(done);
                progress.steps = Some(all);
            }
            return;
        }
        let mut rest = after.trim_start_matches(['\'', '"', '*', '`', ' ', ':', '=', '#', '：', ']']);
        for part in ["(train)", "(val)", "(valid)", "(test)"] {
            if let Some(after) = rest.strip_prefix(part) {
                if part != "(train)" {
                    progress.phase = Some(Phase::Validation);
                }
                rest = after.trim_start_matches([' ', ':']);
            }
        }
        let bracketed = rest.starts_with(['[', '(']);
        let Some((value, rest)) = number(rest.trim_start_matches(['[', '(', ' '])) else { continue };
        // `Epoch 1-2` is a range and `epoch 3 hours` is not ours either; `epoch 10%` is none.
        if rest.starts_with('-') && rest[1..].starts_with(|c: char| c.is_ascii_digit())
            || rest.starts_with(['%', '×', 'x', '~'])
            // A server's number of its start is hexadecimal: `epoch 65f1a0c2`.
            || rest.len() >= 4 && rest.bytes().take(4).all(|byte| byte.is_ascii_hexdigit()) && !rest.starts_with(' ')
        {
            continue;
        }
        progress.epoch = Some(value);
        let mut rest = rest;
        if let Some((all, after)) = rest.trim_start().strip_prefix(['/']).and_then(|r| whole(r.trim_start())) {
            progress.epochs = Some(all);
            rest = after;
        }
        let rest = if bracketed { rest.trim_start_matches([']', ')']) } else { rest };
        // The second bracket counts steps, or samples when a percentage stands in it.
        if let Some(inner) = rest.trim_start_matches([' ', ',', ':']).strip_prefix('[')
            && let Some((inner, _)) = inner.split_once(']')
            && !inner.contains('%')
            && let Some((done, all)) = ratio(inner)
        {
            progress.step = Some(done);
            progress.steps = Some(all);
        }
        return;
    }
    // 第 12 轮
    if let Some((before, _)) = text.split_once('轮')
        && let Some(number) = ordinal_before(before)
    {
        progress.epoch = Some(number);
    }
}

/// True for all of a program's settings on one line, whose `epoch` is how many there will be: `Namespace(epoch=200,
/// dataset_dir=…)`, `{'checkpoint_dir': …, 'epoch': 200}`.
fn lists_settings(text: &str) -> bool {
    const OF_FILES: &[&str] =
        &["_dir'", "_dir\"", "_dir=", "_path'", "_path\"", "_path=", "dataset'", "dataset\"", "dataset="];
    let settings =
        || text.contains("Namespace(") || text.contains('{') && OF_FILES.iter().any(|name| text.contains(name));
    find_ignoring_case(text, "epoch").is_some() && settings() && find_ignoring_case(text, "loss").is_none()
}

/// True where the word at `at` stands in the name of an option: `--epoch`, `--max-epoch`.
fn option_at(text: &str, at: usize) -> bool {
    let name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let word = text[..at].rsplit(|c: char| !name(c)).next().unwrap_or("");
    word.starts_with("--") || word.is_empty() && text[..at].ends_with("--")
}

/// True where what stands before a count says how far it may go: `max epoch: 100`, `total steps 500`.
fn bounds(before: &str) -> bool {
    let word = before.trim_end_matches([' ', '-', '_']).rsplit(|c: char| !c.is_ascii_alphabetic()).next().unwrap_or("");
    ["max", "maximum", "num", "number", "total", "n"].iter().any(|bound| word.eq_ignore_ascii_case(bound))
}

/// The number of `第5个` or `第 5 ` that ends the text.
fn ordinal_before(before: &str) -> Option<f64> {
    let head = before.trim_end().trim_end_matches('个').trim_end();
    let digits = head.bytes().rev().take_while(u8::is_ascii_digit).count();
    let (head, digits) = head.split_at(head.len() - digits);
    head.trim_end().ends_with('第').then(|| digits.parse().ok())?
}

fn find_ignoring_case(text: &str, word: &str) -> Option<usize> {
    let (word, first) = (word.as_bytes(), word.as_bytes().first()?.to_ascii_lowercase());
    let bytes = text.as_bytes();
    memchr::memchr2_iter(first, first.to_ascii_uppercase(), bytes)
        .find(|at| bytes.get(*at..at + word.len()).is_some_and(|part| part.eq_ignore_ascii_case(word)))
}

/// True for mmcv's bar, by which its runner evaluates: `[>>   ] 12/512, 3.1 task/s, elapsed: 4s, ETA: 161s`.
fn is_bar_of_mmcv(text: &str) -> bool {
    let count =
        text.strip_prefix('[').and_then(|rest| rest.split_once("] ")).and_then(|(_, rest)| rest.split_once(','));
    text.contains(", elapsed: ") && count.is_some_and(|(count, _)| ratio(count).is_some())
}

/// tqdm and keras bars: `Train:  11%|███ | 3/27 [01:52<14:28, 36.19s/it`, `250/250 [=====>...]`.
fn bar(text: &str, progress: &mut Progress) {
    if is_bar_of_mmcv(text) {
        progress.phase = Some(Phase::Validation);
        return;
    }
    let (description, count) = if let Some(at) = text.find("%|") {
        let before = text[..at].trim_end_matches(|c: char| c.is_ascii_digit()).trim_end();
        let Some((_, after)) = text[at + 2..].split_once('|') else { return };
        (before, after.trim_start().split(' ').next().unwrap_or(""))
    } else if let Some(at) = text.find(" [=").or_else(|| text.find(" [..")) {
        ("", text[..at].rsplit(' ').next().unwrap_or(""))
    } else {
        // `calling: 118 reads [03:41,  1.88s/ reads]`: the model that it counts with is there.
        let counts = text.contains(" [") && ["/s]", "s/it", "s/ "].iter().any(|rate| text.contains(rate));
        let of_files = |lower: String| ["load", "shard", "fetch"].iter().any(|word| lower.contains(word));
        progress.loaded |= counts && !of_files(text.to_ascii_lowercase());
        return;
    };
    let Some((done, all)) = ratio(count) else { return };
    let lower = description.to_ascii_lowercase();
    let says = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    // `Loading data train (5210):  71%`: a file of a model's is called a shard, a checkpoint or weights.
    if says(&["load", "read", "cache"]) && says(&["data", "image", "frame", "sample", "scene"]) {
        progress.phase = Some(Phase::DataLoading).filter(|_| done < all);
        return;
    }
    if says(&["load", "shard"]) {
        match done < all {
            true => progress.phase = Some(Phase::Load),
            false => progress.loaded = true,
        }
        return;
    }
    let maps = lower.trim_start().starts_with("map");
    if maps
        || says(&[
            "tokeniz",
            "filter",
            "download",
            "caching",
            "scanning",
            "fetch",
            "preprocess",
            "reading",
            "generating train",
            "generating test",
        ])
    {
        progress.phase = Some(Phase::DataLoading);
        return;
    }
    // What is made before the first step: `Creating 2048 environments: 100%`.
    if lower.trim_start().starts_with("creat") {
        return;
    }
    if says(&["captur", "warm", "graph"]) {
        progress.phase = Some(Phase::Warmup);
        return;
    }
    if mentions_validation(&lower) || says(&["instances", "labels", "targets"]) && says(&["images"]) && says(&["class"])
    {
        progress.phase = Some(Phase::Validation);
    } else if says(&["predict", "generat", "infer", "sampl", "transcrib"]) {
        progress.phase = Some(Phase::Inference);
    } else if progress.phase.is_none() && says(&["train", "epoch", "step", "iter"]) {
        progress.phase = Some(Phase::Train);
    }
    progress.step = Some(done);
    progress.steps = Some(all);
}

/// `step 1200`, `Step 100/1000`, `[Step 100]`, `iteration  100/ 500000`, `Iter(train) [ 50/1000]`, `global_step=7`,
/// `'global_step/max_steps': '1/27'`.
fn step(text: &str, progress: &mut Progress) {
    for word in ["step", "iteration", "iter", "batch"] {
        let mut from = 0;
        while let Some(found) = find_ignoring_case(&text[from..], word) {
            let at = from + found;
            from = at + word.len();
            let before = &text[..at];
            let whole_word = !before
                .ends_with(|c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '/' | '.'))
                || before.ends_with("global_")
                || before.ends_with("training_")
                || before.ends_with("train_") && word != "batch";
            let after = &text[from..];
            let after = after.strip_prefix("/max_steps").unwrap_or(after);
            let after = after.strip_prefix("(train)").unwrap_or(after);
            if !whole_word
                || option_at(text, at)
                || bounds(before)
                || after.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_' || c == '-')
            {
                continue;
            }
            let rest = after.trim_start_matches(['\'', '"', ' ', ':', '=', '#', '[', '(', '*', '`']);
            let Some((value, rest)) = whole(rest).filter(|_| !decimal(rest)) else { continue };
            // `Step: 864ms`: how long one takes.
            if rest.starts_with("ms") || rest.starts_with('s') && !rest[1..].starts_with(char::is_alphabetic) {
                continue;
            }
            let total = rest.trim_start().strip_prefix('/').and_then(|r| whole(r.trim_start()));
            // `Step 1: install …` numbers instructions; `batch 4` alone is a size.
            let instruction =
                word == "step" && rest.starts_with([':', '.', ')', '：']) && value < 20 && !before.ends_with('[');
            if instruction || word == "batch" && total.is_none() || rest.starts_with(['-', '%']) {
                continue;
            }
            progress.step = Some(value);
            progress.steps = total.map(|(all, _)| all);
            return;
        }
    }
}

/// What a program goes through one after the other.
const PIECES_OF_WORK: [&str; 8] = ["image", "fold", "video", "subject", "scene", "prompt", "document", "sample"];

/// `image 44 of 453`, `fold 3/8`: which piece of its work the program is at.
fn one_of_many(text: &str, progress: &mut Progress) -> bool {
    let lower = text.to_ascii_lowercase();
    let found = PIECES_OF_WORK.iter().find_map(|word| {
        let (before, behind) = lower.split_once(word)?;
        let begins = before.chars().next_back().is_none_or(|c| !c.is_ascii_alphanumeric());
        let (at, rest) = whole(behind.trim_start_matches([' ', '#', ':']))?;
        let rest = rest.trim_start();
        let (all, _) = whole(rest.strip_prefix('/').or_else(|| rest.strip_prefix("of "))?.trim_start())?;
        (begins && behind.starts_with([' ', '#', ':']) && at <= all && all > 1).then_some((at, all))
    });
    let Some((at, all)) = found else { return false };
    // Those before this one are done.
    (progress.step, progress.steps) = (Some(at.saturating_sub(1)), Some(all));
    true
}

fn mentions_validation(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    const WORDS: [&str; 9] =
        ["valid", "evaluat", "eval:", "eval ", "sanity checking", "val:", "(val)", "[val]", "testing:"];
    // torchvision's and DETR's loops: `Test:  [ 10/314]  eta: …`.
    let tests = || lower.trim_start().starts_with("test: ");
    (WORDS.iter().any(|word| lower.contains(word)) || tests())
        && !lower.contains("val_loss")
        && !lower.contains("eval_loss")
        // `step 3100/7500 training loss = 1.87 validation loss = 1.99`: of a step of training.
        && !(lower.contains("train") && lower.contains("validation loss"))
        // Pictures held against what they should be, and nothing learnt of it.
        || lower.contains("psnr") && lower.contains("ssim") && !lower.contains("loss")
}

/// True for a line, in lower case, that is one of some words and no more, as a heading is set: `VALID`, `== eval ==`.
fn is_heading(lower: &str, words: &[&str]) -> bool {
    let word = lower.trim_matches(|c: char| c.is_whitespace() || matches!(c, '.' | ':' | '=' | '-' | '*' | '#' | '>'));
    words.contains(&word)
}

/// Phases that a line announces.
fn announced(text: &str) -> Option<Phase> {
    let of_classes = text.contains("Instances") || text.contains("Labels") || text.contains("Targets");
    if text.contains("Images") && of_classes && text.contains("Class") {
        return Some(Phase::Validation);
    }
    let lower = text.to_ascii_lowercase();
    let says = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    if says(&[
        "running evaluation",
        "starting evaluation",
        "start evaluation",
        "computing validation",
        "computing perplexity",
        "computing metrics",
        "sanity checking",
        "validating",
        "begin test",
        "running validation",
        "running on validation",
        "running on the validation",
        "start validation",
        "starting validation",
        "validation:",
        "in the evaluation:",
    ]) || says(&["evaluating"]) && !lower.contains("msg=evaluating")
        || is_heading(&lower, &["valid", "validation", "validate", "eval", "evaluation", "testing"])
    {
        return Some(Phase::Validation);
    }
    if lower.contains("decoding") && says(&["latent", "image", "vae", "frame"])
        || lower.contains("vaedecode") && says(&["executing", "node type"])
    {
        return Some(Phase::Decode);
    }
    // `Saving checkpoints to: outputs/x` tells the folder.
    let to_a_folder = says(&["saving checkpoints to", "checkpoints will be saved"]);
    if !to_a_folder
        && says(&[
            "saving checkpoint",
            "saving model checkpoint",
            "saving model",
            "saving the model",
            "save checkpoint",
            "saving state",
            "writing checkpoint",
            "gathering state dict",
            "gathering full state",
        ])
    {
        return Some(Phase::Checkpoint);
    }
    if says(&[
        "resuming from",
        "resuming training",
        "resume from",
        "resumed from",
        "restoring checkpoint",
        "restoring from",
    ]) {
        return Some(Phase::Resume);
    }
    // SGLang serves what it was asked for.
    if text.contains("Prefill batch") || text.contains("Decode batch") {
        return Some(Phase::Inference);
    }
    if says(&["starting profile run"]) {
        return Some(Phase::Warmup);
    }
    // TensorFlow's data sets, before the first step.
    if lower.contains("filling up shuffle buffer") {
        return Some(Phase::DataLoading);
    }
    if load_is_over(&lower) {
        return None;
    }
    // Caffe, once it begins to solve: `solver.cpp:279] Solving VGG`, or its Python's `Solving...`
    let solves = lower.contains("solver.cpp:") && lower.contains("] solving ") || text.trim() == "Solving...";
    if solves || is_heading(&lower, &["training"]) {
        return Some(Phase::Train);
    }
    if says(&[
        "loading checkpoint",
        "loading model",
        "loading weights",
        "load weight begin",
        "loading pretrained",
        "loading shard",
        "loading safetensors",
    ]) {
        return Some(Phase::Load);
    }
    if says(&["creating fp32 partitions", "initializing zero optimizer", "stage 3 initialize beginning"])
        || says(&["creating"]) && says(&["zero stage", "zero optimizer"])
    {
        return Some(Phase::OptimizerSetup);
    }
    if says(&[
        "running training",
        "start training",
        "starting training",
        "begin training",
        "begin model training",
        // TensorFlow's supervisor, between its first checkpoint and the first step.
        "starting queues",
        "global_step/sec",
    ]) {
        return Some(Phase::Train);
    }
    // What a server prints once it is up: its warm-up is over.
    let serves = [
        // stable-diffusion.cpp, whose weights are in place by then.
        "sampling using",
        "generating image:",
        "setting max batch total tokens",
        "application startup complete",
        "runner started in",
        "server is fired up",
        "post /v1/chat/",
        "post /v1/completions",
    ];
    if says(&["running prediction", "starting predictions", "running inference"]) || says(&serves) {
        return Some(Phase::Inference);
    }
    if says(&["capturing cuda graph", "capture cuda graph", "graph capturing", "capturing batches", "warming up"]) {
        return Some(Phase::Warmup);
    }
    if says(&["compiling the model", "torch.compile took", "autotuning", "compiling a graph"]) {
        return Some(Phase::Compile);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    type Told = (Option<f64>, Option<u64>, Option<u64>, Option<u64>, Option<Phase>);

    fn at(text: &str) -> Told {
        let p = read(text, true).unwrap_or_default();
        (p.epoch, p.epochs, p.step, p.steps, p.phase)
    }

    #[test]
    fn a_load_is_over_where_its_line_ends_with_that_word() {
        assert!(load_is_over("loading model... done."));
        assert!(!load_is_over("loading weights from facebook"));
        assert!(!load_is_over("loading of 12 shards is incomplete"));
    }

    #[test]
    fn a_bar_is_bare_without_a_word_besides_its_rate() {
        assert!(is_bare_bar("100%|██████████| 20/20 [00:02<00:00,  8.11it/s]"));
        assert!(is_bare_bar("  0%|          | 0/20 [00:00<?, ?it/s]OutOfMemoryError: CUDA out of memory."));
        assert!(!is_bare_bar("  5%|▌         | 8/150 [00:02<00:40,  3.11it/s, loss=0.31]"));
        assert!(!is_bare_bar("Steps:   5%|▌         | 8/150 [00:02<00:40,  3.11it/s]"));
        assert!(!is_bare_bar("20 steps"));
    }

    #[test]
    fn loops_of_many_trainers_are_read() {
        let train = Some(Phase::Train);
        let rows = [
            ("Epoch 3/15", (Some(3.0), Some(15), None, None, train)),
            ("Epoch [2][50/100]  lr: 0.02", (Some(2.0), None, Some(50), Some(100), train)),
            ("Epoch: [0]  [ 60/834]  eta: 0:13", (Some(0.0), None, Some(60), Some(834), train)),
            ("Train Epoch: 4 [640/60000 (1%)]\tLoss: 0.4", (Some(4.0), None, None, None, train)),
            ("{'loss': 0.5, 'learning_rate': 2e-05, 'epoch': 0.4}", (Some(0.4), None, None, None, train)),
            ("Epoch 5:  12%|█▏   | 30/250 [00:10<01:00, 3.0it/s]", (Some(5.0), None, Some(30), Some(250), train)),
            ("  11%|████     | 3/27 [01:52<14:28, 36.19s/it]", (None, None, Some(3), Some(27), train)),
            ("Validation:   3%|  | 1/32 [00:01<00:45]", (None, None, Some(1), Some(32), Some(Phase::Validation))),
            (
                "2/10 * Epoch (valid):   3% 1/32 [00:01",
                (Some(2.0), Some(10), Some(1), Some(32), Some(Phase::Validation)),
            ),
            (" iteration      100/  500000 | consumed samples", (None, None, Some(100), Some(500_000), train)),
            ("step 1200 loss 3.1", (None, None, Some(1200), None, train)),
            ("[Step 300] Memory - Process: 1MB", (None, None, Some(300), None, train)),
            ("为什么第5个Epoch才OOM", (Some(5.0), None, None, None, train)),
            ("250/300 [=====>....] - 5s 2s/step - loss: 1.7", (None, None, Some(250), Some(300), train)),
            (
                "Epoch 1:  65%|█▉ | 13/20 [00:00<00:00, 25it/s]Running evaluation",
                (Some(1.0), None, None, None, Some(Phase::Validation)),
            ),
            ("Loading checkpoint shards:  50%|█  | 2/4 [00:01<00:01]", (None, None, None, None, Some(Phase::Load))),
        ];
        for (text, want) in rows {
            assert_eq!(at(text), want, "{text}");
        }
    }

    #[test]
    fn an_ultralytics_row_tells_epoch_memory_and_image_size() {
        let p = read("    134/200      26.5G      0.98      54       1280: 100% ━━━━━━━━━━━━ 115/115", true).unwrap();
        assert_eq!(
            (p.epoch, p.epochs, p.image, p.step, p.steps),
            (Some(134.0), Some(200), Some(1280), Some(115), Some(115))
        );
        assert_eq!(p.gpu_memory, Some(28_454_158_336));
        let header = read("   Class     Images  Instances      Box(P          R      mAP50", true).unwrap();
        assert_eq!(header.phase, Some(Phase::Validation));
    }

    #[test]
    fn numbers_that_are_no_progress_are_left_alone() {
        for text in [
            "num_epochs=100",
            "warmup_steps: 500",
            "Step 2: install torch",
            "157ms/step",
            "Epoch 1-2: rising",
            "save every 5 epochs",
            "{'checkpoint_dir': 'checkpoint', 'epoch': 200, 'learning_rate': 5e-05, 'train': True}",
            "Namespace(batch=4, data_dir='/d', epoch=30)",
        ] {
            assert_eq!(read(text, true).map(|p| (p.epoch, p.step)).unwrap_or_default(), (None, None), "{text}");
        }
    }
}
