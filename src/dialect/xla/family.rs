//! Which program of the family speaks, and what the log tells of the device before and of the run after the failure.

use crate::dialect::{Fact, Facts};
use crate::domain::{Number, Program};
use crate::evidence::Span;
use crate::input::Document;
use crate::units::{Base, Figure};

/// Lines looked at before and after the failure.
const BEFORE: usize = 400;
const AFTER: usize = 60;

/// What stands around a failure.
#[derive(Debug, Default)]
pub struct Surroundings {
    tensorflow: bool,
    jax: bool,
    /// Sources as jaxlib's build names them, in which TensorFlow is another's: TensorFlow's own stand in no folder
    /// `external`. Its server's do, too.
    jaxlib: bool,
    server: bool,
    exla: bool,
    /// PyTorch compiles by XLA, whose client still has TensorFlow's names (torch_xla 1.x).
    torch: bool,
    /// Words of XLA's runtime, which JAX prints and TensorFlow only with `jit_compile`.
    xla: bool,
    /// By more than the sentence with which it refuses.
    named: bool,
    /// A compiled program was being started: what is asked for is all of its temporary buffers at once.
    pub program: bool,
    /// The run goes on after it.
    pub goes_on: bool,
    total: Option<Figure>,
    free: Option<Figure>,
    pool: Option<(f64, Span)>,
    index: Option<(u32, Span)>,
    many: bool,
}

impl Surroundings {
    pub fn of(document: &Document, first: usize, last: usize) -> Surroundings {
        let mut found = Surroundings::default();
        let from = first.saturating_sub(BEFORE);
        // Of a long dump only its ends: the middle tells nothing of the program.
        let near = last.min(first.saturating_add(AFTER));
        let head = document.lines.get(from..=near).unwrap_or_default();
        let tail_from = near.max(last.saturating_sub(AFTER)).saturating_add(1);
        let tail_to = last.saturating_add(AFTER).min(document.lines.len());
        let tail = document.lines.get(tail_from..tail_to).unwrap_or_default();
        for line in head.iter().chain(tail) {
            found.words(&line.text);
        }
        for line in head {
            found.device(&line.text, Span::line(line.number));
        }
        let rest = document.lines.get(last + 1..).unwrap_or_default();
        found.goes_on = rest
            .iter()
            .filter(|line| !line.text.trim().is_empty())
            .take(AFTER)
            .take_while(|line| !is_error(&line.text))
            .any(|line| progress(&line.text));
        found
    }

    fn words(&mut self, text: &str) {
        let has = |word: &str| text.contains(word);
        self.exla |= has("exla") || has("EXLA");
        self.torch |= has("torch_xla") || has("xla_client/xla_util.cc") || has("xm.optimizer_step(");
        self.jax |= has("jaxlib")
            || has("jax.")
            || has("jax/")
            || has("import jax")
            || has("XlaRuntimeError")
            || has("external/xla/")
            || has("external/tsl/")
            || has("compiler/xla/python")
            || has("compiler/xla/pjrt")
            || has("XLA_PYTHON_CLIENT")
            || has("op_name=\"jit(")
            || has("/flax/")
            || has("/haiku/");
        self.jaxlib |= has("external/org_tensorflow/");
        self.server |= has("tensorflow_serving") || has("saved_model");
        self.named |= has("RESOURCE_EXHAUSTED") || has("esource exhausted") || has("XLA") || has("xla");
        self.xla |= self.named || has("emory while trying to allocate");
        self.program |= has("Execution of replica")
            || has("executable_name=")
            || has("compiled.execute(")
            || has("execute_sharded(")
            || has("ExecuteReplicated");
        self.tensorflow |= has("tensorflow")
            || has("keras")
            || has("local_tsl")
            || has("local_xla")
            || has("/job:localhost")
            || has("/job:worker/")
            || has("Keras");
    }

    /// `Total memory: 7.92GiB`, `Free memory: 204.12MiB`, `(…device:GPU:0 with 9637 MB memory)`, TensorFlow at its
    /// start.
    fn device(&mut self, text: &str, at: Span) {
        use crate::dialect::field::{after, number_after, size_after};
        let size = |label: &str| size_after(text, label, Base::Binary).map(|size| size.at(at));
        // `Free memory/Total memory: 3/8` is the asynchronous allocator's, and read with its message.
        let alone = !text.contains("/Total memory:");
        if let Some(total) = size("Total memory: ").filter(|_| alone).or_else(|| size("totalMemory: ")) {
            self.total = Some(total);
            self.free = size("freeMemory: ").or(self.free);
        }
        if let Some(free) = size("Free memory: ") {
            self.free = Some(free);
        }
        // `-> (device: 0, name: GeForce GTX 1070, …)`, `Found device 0 with properties`.
        let index = number_after(text, "(device: ").or_else(|| number_after(text, "Found device "));
        if let Some(index) = index.and_then(|n| u32::try_from(n).ok()) {
            match self.index {
                // Several devices: none of them is surely the failing one.
                Some((known, _)) if known != index => self.many = true,
                _ => self.index = Some((index, at)),
            }
        }
        if text.contains("MB memory)")
            && let Some(rest) = after(text, "device:GPU:")
            && let Some(megabytes) = number_after(rest, "with ")
            && rest.contains(&format!("with {megabytes} MB"))
        {
            self.pool = Some((megabytes as f64 * 1048576.0, at));
        }
    }

    /// True where anything but the sentence itself shows one of the family.
    pub fn speaks(&self) -> bool {
        self.exla || self.jax || self.tensorflow || self.program || self.named
    }

    /// True where nothing but TensorFlow shows.
    pub fn only_tensorflow(&self) -> bool {
        self.tensorflow && !self.jax && !self.exla
    }

    /// Which program it is. JAX's runtime carries TensorFlow's paths up to 2023, so its own words outweigh those.
    pub fn program(&self, spoken_by_tensorflow: bool) -> Program {
        if self.exla {
            Program::Exla
        } else if self.torch {
            Program::PytorchXla
        } else if self.jax && !spoken_by_tensorflow || self.jaxlib && !self.server {
            Program::Jax
        } else if self.tensorflow || spoken_by_tensorflow || !self.xla {
            Program::Tensorflow
        } else {
            Program::Jax
        }
    }

    /// Capacity and free memory as printed when the device was opened.
    pub fn startup_figures(&self, facts: &mut Facts) {
        if let Some(total) = self.total {
            facts.note(Fact::Capacity, total);
        }
        if let Some(free) = self.free {
            facts.note(Fact::Free, free);
        }
        if let Some((index, at)) = self.index.filter(|_| !self.many) {
            facts.device.note(index, at);
        }
        if let Some(pool) = self.pool {
            facts.numbers.entry(Number::PoolAtStart).or_insert(pool);
        }
    }
}

/// True for a line that shows a run at work.
pub fn progress(text: &str) -> bool {
    let text = text.trim_start();
    ["Epoch ", "Step ", "step ", "epoch ", "INFO:tensorflow:loss", "Iteration", "iter "]
        .iter()
        .any(|start| text.starts_with(start))
        // What an interpreter shows of a value that it got.
        || text.starts_with('<') && text.contains(" object at 0x")
        || ["ms/step", "s/step", " loss: ", " loss=", " accuracy: ", "it/s]"].iter().any(|word| text.contains(word))
}

fn is_error(text: &str) -> bool {
    ["Traceback (", "Error:", "Error(", "exhausted", "EXHAUSTED", "Aborted", "Killed"].iter().any(|w| text.contains(w))
}
