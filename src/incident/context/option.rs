//! Settings as the run was given them: the name, the form and the value that stand in a command line, in a dump of
//! arguments or in a configuration. A change of one is written with the name that the program already understood.

use super::Context;
use super::pairs::Pair;
use super::settings::{Setting, Source, whole};
use crate::domain::closed_set;

closed_set! {
    /// What a setting decides, as far as a change of it makes a job smaller.
    pub enum Quantity {
        /// Samples of a step and process.
        Batch = "batch",
        /// Samples of a step of evaluation.
        EvalBatch = "eval-batch",
        /// Environments, sequences, pictures: whatever else is worked on together.
        OtherBatch = "other-batch",
        /// Steps over which gradients are accumulated.
        Accumulation = "accumulation",
        /// Tokens of a sample or of a context.
        Sequence = "sequence",
        /// Pixels of a side.
        Image = "image",
        /// Processes that load data.
        Workers = "workers",
        /// Pictures or requests that are worked on at the same time, each by a thread or slot of its own.
        Concurrent = "concurrent",
        /// Pixels of a side of a tile.
        Tile = "tile",
        /// Rows, points, rays or tokens that are computed together.
        Chunk = "chunk",
        /// Frames of a film.
        Frames = "frames",
        /// Devices over which each layer is divided.
        Parallel = "parallel",
        /// Share of a device that an engine takes, in thousandths.
        Share = "share",
    }
}

/// How name and value stand together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// `--name value`.
    Apart,
    /// `name=value`, `--name=value`.
    Assigned,
    /// `name = value`.
    Spaced,
    /// `name: value`.
    Entry,
    /// `"name": value`.
    Quoted,
}

/// A setting with the name and form in which it was given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spelled {
    /// As written, with its hyphens and dots.
    name: String,
    form: Form,
    value: u64,
    command: bool,
}

impl Spelled {
    /// The pair that stated a setting of this value; `None` for a name that no run is given.
    pub(super) fn of(text: &str, pair: &Pair<'_>, setting: &Setting, source: Source) -> Option<Spelled> {
        /// What a model's own configuration prints of itself.
        const OF_A_MODEL: [&str; 2] = ["max_position_embeddings", "model_max_length"];
        let (quantity, value) = setting.quantity()?;
        // Two sides of a picture are no single number.
        let plain = whole(pair.value) == Some(value) || quantity == Quantity::Share;
        if !plain || OF_A_MODEL.contains(&pair.key) {
            return None;
        }
        let hyphens = "--".get(..usize::from(pair.hyphens))?;
        let end = pair.start + pair.key.len();
        let gap = text.get(end..pair.value.as_ptr().addr().checked_sub(text.as_ptr().addr())?)?;
        let quoted = text.get(..pair.start)?.ends_with(['"', '\'']);
        let form = match gap {
            _ if pair.hyphens > 0 => {
                if gap.contains('=') {
                    Form::Assigned
                } else {
                    Form::Apart
                }
            }
            _ if gap.contains('=') => {
                if gap.contains(' ') {
                    Form::Spaced
                } else {
                    Form::Assigned
                }
            }
            _ if quoted && gap.contains(':') => Form::Quoted,
            _ => Form::Entry,
        };
        Some(Spelled { name: format!("{hyphens}{}", pair.key), form, value, command: source == Source::Command })
    }

    /// What it is set to; a share in thousandths.
    pub fn value(&self) -> u64 {
        self.value
    }

    /// The name as written, with its hyphens.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// True where it stands in the command that started the run.
    pub fn in_command(&self) -> bool {
        self.command
    }

    /// The same with another value.
    pub fn with(&self, value: impl std::fmt::Display) -> String {
        self.form.write(&self.name, &value)
    }

    /// Another setting of the same program, in the same form.
    pub fn beside(&self, name: &str, value: impl std::fmt::Display) -> String {
        let hyphens = self.name.len() - self.name.trim_start_matches('-').len();
        self.form.write(&format!("{}{name}", &self.name[..hyphens]), &value)
    }

    /// How several settings of this form follow each other.
    pub fn between(&self) -> &'static str {
        match self.form {
            Form::Apart => " ",
            Form::Assigned if self.command || self.name.starts_with('-') => " ",
            Form::Assigned | Form::Quoted => ", ",
            Form::Spaced | Form::Entry => "\n",
        }
    }
}

impl Form {
    fn write(self, name: &str, value: &impl std::fmt::Display) -> String {
        match self {
            Form::Apart => format!("{name} {value}"),
            Form::Assigned => format!("{name}={value}"),
            Form::Spaced => format!("{name} = {value}"),
            Form::Entry => format!("{name}: {value}"),
            Form::Quoted => format!("\"{name}\": {value}"),
        }
    }
}

impl Setting {
    /// What it decides and its value, where a change of it may be written in the words of the run.
    pub(super) fn quantity(&self) -> Option<(Quantity, u64)> {
        match self {
            Setting::Batch(n) | Setting::MicroBatch(n) | Setting::TrainBatch(n) => Some((Quantity::Batch, *n)),
            Setting::EvalBatch(n) => Some((Quantity::EvalBatch, *n)),
            Setting::OtherBatch(_, n) => Some((Quantity::OtherBatch, *n)),
            Setting::Accumulation(n) => Some((Quantity::Accumulation, *n)),
            Setting::Sequence(n) => Some((Quantity::Sequence, *n)),
            Setting::Image(n) => Some((Quantity::Image, *n)),
            Setting::Workers(n) => Some((Quantity::Workers, *n)),
            Setting::Other(quantity, n) => Some((*quantity, *n)),
            _ => None,
        }
    }
}

impl Context {
    /// The setting that decides a quantity, as the run was given it.
    pub fn option(&self, of: Quantity) -> Option<&Spelled> {
        self.options.get(&of)
    }

    /// Keeps the first spelling of each quantity whose value is the one that counts.
    pub(super) fn spell(&mut self, quantity: Quantity, spelled: &Spelled) {
        let counts = match quantity {
            Quantity::Batch => self.batch_size.value(),
            Quantity::EvalBatch => self.eval_batch_size.value(),
            Quantity::OtherBatch => self.other_batch.get().map(|(_, count)| *count),
            Quantity::Accumulation => self.accumulation.value(),
            Quantity::Sequence => self.sequence_length.value(),
            Quantity::Image => self.image_size.value(),
            Quantity::Workers => self.workers.value(),
            _ => Some(spelled.value),
        };
        if counts == Some(spelled.value) {
            self.options.entry(quantity).or_insert_with(|| spelled.clone());
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::incident::context::settings;

    fn halved(line: &str, command: bool) -> Vec<String> {
        let read = settings::read(line, 1, command);
        read.into_iter().filter_map(|(.., spelled)| spelled).map(|it| it.with(it.value() / 2)).collect()
    }

    #[test]
    fn a_setting_is_written_as_it_was_given() {
        assert_eq!(halved("python run.py --batch_size 32", true), ["--batch_size 16"]);
        assert_eq!(halved("python run.py --batch-size=32", true), ["--batch-size=16"]);
        assert_eq!(halved("python run.py -batch_size 32", true), ["-batch_size 16"]);
        assert_eq!(halved("python main.py -b 128", true), ["-b 64"]);
        assert_eq!(halved("yolo train batch=16", true), ["batch=8"]);
        assert_eq!(halved("Namespace(data='x', batch_size=8)", false), ["batch_size=4"]);
        assert_eq!(halved("  train.micro_batch_size: 4", false), ["train.micro_batch_size: 2"]);
        assert_eq!(
            halved("    \"train_micro_batch_size_per_gpu\": 4,", false),
            ["\"train_micro_batch_size_per_gpu\": 2"]
        );
        assert_eq!(halved("batch_size = 64", false), ["batch_size = 32"]);
    }

    #[test]
    fn what_a_model_prints_of_itself_is_no_option() {
        assert_eq!(halved("  \"max_position_embeddings\": 4096,", false), [""; 0]);
        assert_eq!(halved("Instantaneous batch size per device = 8", false), [""; 0]);
    }
}
