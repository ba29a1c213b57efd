//! What the job works on, and whether on several at once. Pictures are made smaller, texts shorter, environments
//! fewer: a change in the words of the one is none for the other.

use super::case::Case;
use crate::domain::{Number, Program};
use crate::incident::context::{Frame, Subject, subject};

/// Words of scripts and commands that work on one thing at a time: what is given to them is answered, and they end.
const SINGLE: &[&str] = &[
    "demo*",
    "gradio",
    "infer*",
    "inference",
    "img2img",
    "txt2img",
    "upscal*",
    "enhance*",
    "superres*",
    "separate*",
    "synthesize*",
    "tts",
    "generate*",
    "dream*",
    "repl",
];

/// Endings of files that hold one picture or recording.
const ONE_FILE: &[&str] =
    &[".jpg", ".jpeg", ".png", ".bmp", ".tif", ".tiff", ".webp", ".wav", ".mp3", ".flac", ".m4a", ".ogg"];

/// What a program of this name works on, where it works on nothing else.
fn of_program(program: Program) -> Option<Subject> {
    Some(match program {
        Program::Gsplat => Subject::Gaussians,
        Program::InstantNgp | Program::Nerfstudio | Program::TinyCudaNn => Subject::Rays,
        Program::IsaacLab | Program::IsaacGym | Program::IsaacSim => Subject::Environments,
        Program::Lammps | Program::Gromacs | Program::Namd | Program::Amber | Program::OpenMm => Subject::Atoms,
        Program::AlphaFold | Program::OpenFold => Subject::Proteins,
        Program::Whisper | Program::WhisperX | Program::WhisperCpp | Program::FasterWhisper => Subject::Sound,
        Program::Espnet | Program::SpeechBrain => Subject::Sound,
        Program::Open3d => Subject::Points,
        Program::Dgl => Subject::Graph,
        Program::Ultralytics | Program::Detectron2 | Program::MmEngine | Program::NnUnet => Subject::Pictures,
        Program::KohyaSs | Program::SdWebUi | Program::SdCpp | Program::Fooocus | Program::InvokeAi => {
            Subject::Pictures
        }
        Program::Fairseq | Program::TextGenerationWebUi | Program::Spacy => Subject::Text,
        _ => return None,
    })
}

/// Whether several are worked on at the same time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AtOnce {
    /// A setting, a loader or a shape shows more than one.
    Several,
    /// One text, picture, recording or scene.
    One,
    /// Nothing tells.
    Open,
}

/// Folders and the file of a frame that tell what it is about: a package by its name, a script by where it lies.
fn about(frame: &Frame) -> String {
    let file = frame.path();
    match file.rsplit_once("-packages/") {
        Some((_, package)) => package.to_string(),
        None if frame.is_user_code() => {
            let parts: Vec<&str> = file.rsplit('/').take(NEAR).collect();
            parts.join("/")
        }
        None => String::new(),
    }
}

/// Parts of a script's path that are the project's: beyond them lie the user's own folders.
const NEAR: usize = 4;

impl Case<'_> {
    /// What the job works on; `None` where its script, command, model and frames name nothing.
    pub fn subject(&self) -> Option<Subject> {
        self.subject
    }

    /// Looks for [`Self::subject`], once.
    pub(super) fn look_for_subject(&self) -> Option<Subject> {
        if self.of_gaussians() {
            return Some(Subject::Gaussians);
        }
        if let Some(subject) = of_program(self.program()) {
            return Some(subject);
        }
        let context = self.context;
        let told = [context.program.get(), context.command.get(), context.model.get()];
        let mut texts: Vec<String> = told.into_iter().flatten().cloned().collect();
        texts.extend(context.other_batch.get().map(|(name, _)| name.clone()));
        for frame in &context.frames {
            texts.push(about(frame));
            if frame.is_user_code() {
                texts.push(frame.function.clone());
                texts.extend(frame.code.clone());
            }
        }
        let named = subject::of_texts(texts.iter().map(String::as_str));
        // `show_images` is an argument of a prediction of proteins, too.
        let proteins = context.subject.filter(|of| *of == Subject::Proteins && named == Some(Subject::Pictures));
        let subject = proteins.or(named).or(context.subject);
        // To learn to speak, recordings go through it.
        subject.map(|of| if of == Subject::Speech && self.training() { Subject::Sound } else { of })
    }

    /// True where the command names the one picture or recording that it is about.
    fn given_one_file(&self) -> bool {
        let named = |word: &str| {
            let word = word.trim_matches(['"', '\'']).to_ascii_lowercase();
            !word.contains('*') && ONE_FILE.iter().any(|end| word.ends_with(end))
        };
        self.context.command.get().is_some_and(|command| command.split([' ', '=']).any(named))
    }

    /// Whether several are worked on at once.
    pub fn at_once(&self) -> AtOnce {
        let context = self.context;
        let told = context.batch_size.is_known() || context.other_batch.is_known();
        if told || self.incident.event.facts.numbers.contains_key(&Number::FirstDimension) {
            return if self.one_at_a_time() { AtOnce::One } else { AtOnce::Several };
        }
        let one_scene = matches!(self.subject(), Some(Subject::Gaussians | Subject::Rays));
        if one_scene || self.one_at_a_time() {
            return AtOnce::One;
        }
        if !self.training() && self.given_one_file() {
            return AtOnce::One;
        }
        // Who predicts the structure of one chain calls its features a batch.
        let features = self.subject() == Some(Subject::Proteins) && !self.training();
        let names_a_batch = |frame: &Frame| {
            !features
                && frame.is_user_code()
                && frame.code.as_deref().is_some_and(|code| subject::speaks(code, &["batch*", "*batch", "*loader"]))
        };
        if self.training() || context.frames.iter().any(names_a_batch) || super::need::loader(self) {
            return AtOnce::Several;
        }
        let script = [context.program.get(), context.command.get()];
        let single = script.into_iter().flatten().any(|text| subject::speaks(text, SINGLE))
            || context
                .frames
                .first()
                .is_some_and(|first| subject::speaks(first.path().rsplit('/').next().unwrap_or(""), SINGLE));
        if single { AtOnce::One } else { AtOnce::Open }
    }
}
