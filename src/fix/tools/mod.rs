//! Settings of well-known programs, as their documentation gives them: where the program is certain by its files or its
//! command, a change is the option that it has, and what it has no option for is not offered.

mod applications;
mod frameworks;
mod generative;
mod hosts;
mod language;
mod libraries;
mod simulators;
mod speech;
mod vision;
mod wrappers;

use super::case::Case;
use super::knob::{Line, and_remark, line};
use crate::cause::nature;
use crate::dialect::{Event, naming};
use crate::domain::{Program, Target};
use crate::incident::Incident;
use crate::incident::context::{Clue, Context, Spelled};

/// A program that people run and set.
pub struct Tool {
    /// Its name, for messages of tests.
    pub name: &'static str,
    /// Folders of its own and ends of the paths of its files, in lower case.
    pub files: &'static [&'static str],
    /// Names of its scripts and commands, without folders; options and keys that no other program has; parts of
    /// messages that it alone prints, which hold a space, a folder or `::`. `engine+script.py` is a script of a common
    /// name within an engine that its own messages tell.
    pub scripts: &'static [&'static str],
    /// What a line of its own says.
    pub clue: Option<Clue>,
    /// The line for each change.
    pub rows: &'static [(&'static str, Line)],
    /// Changes that it has no option for: it does so already, or cannot.
    pub lacks: &'static [&'static str],
}

/// An option or a key.
const fn option(text: &'static str) -> Line {
    line(Target::Program, text)
}

/// Changes of lines that only who writes a program can make.
const IN_CODE: &[&str] = &["activation-offload", "chunk-the-operation", "detach-logged-tensors", "fused-attention"];

/// Changes that mean nothing where no tensors are worked on in batches.
const WITHOUT_BATCHES: &[&str] = &["smaller-batch", "mixed-precision", "fewer-workers", "chunk-the-operation"];

/// All of them, the more special ones first.
pub fn all() -> impl Iterator<Item = &'static Tool> {
    [
        applications::TOOLS,
        speech::TOOLS,
        language::TOOLS,
        generative::TOOLS,
        simulators::TOOLS,
        vision::TOOLS,
        frameworks::TOOLS,
        hosts::TOOLS,
        libraries::TOOLS,
    ]
    .into_iter()
    .flatten()
}

/// Programs whose own messages tell them, and beside which there is nothing else to set. Of a library, its messages say
/// nothing of who runs it.
const TOLD_BY_MESSAGES: &[Program] = &[
    Program::AwsLambda,
    Program::Caffe,
    Program::Catboost,
    Program::Darknet,
    Program::Ffmpeg,
    Program::Redis,
    Program::Relion,
];

/// As much of a process's name as Linux keeps.
const KEPT_OF_A_NAME: usize = 15;

/// What a case shows of the program that ran.
struct Shown<'a> {
    /// The files of all frames and the script in lower case, each between a slash and a line's end.
    files: String,
    /// Other files of Python and YAML that the command names, in the same form: configurations, in folders of any name.
    configurations: String,
    /// Its script, without folders.
    program: Option<&'a str>,
    /// Names that the command runs something by, without folders: it, and launchers before it.
    commands: Vec<&'a str>,
    /// The words of the command, each between spaces.
    words: String,
    /// What its own words name it, or the killer's, or a prompt's.
    named: Vec<&'a str>,
    /// The name of the process that was killed, which may be cut.
    process: Option<&'a str>,
    /// Names of the settings that the run was given, as they were written.
    keys: Vec<&'a str>,
    /// What tells of the failure.
    event: &'a Event,
}

/// True for a part of a message, rather than a name or an option.
fn is_of_a_message(script: &str) -> bool {
    !script.starts_with('-') && (script.contains([' ', '/']) || script.contains("::"))
}

/// Without folders.
fn name_of(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or_default()
}

/// The names of what a command runs. Behind variables and launchers another program follows; what follows a program is
/// given to it.
fn run_by(command: &str) -> Vec<&str> {
    const WORDS: usize = 16;
    let last = command.rsplit("&&").next().and_then(|last| last.rsplit(';').next()).unwrap_or(command);
    let mut names = Vec::new();
    for word in last.split_whitespace().take(WORDS) {
        let variable = word.split_once('=').is_some_and(|(name, _)| !name.starts_with('-'));
        if variable || word.starts_with('-') || word.starts_with(|c: char| c.is_ascii_digit()) {
            continue;
        }
        let name = name_of(word);
        names.push(name);
        // `accelerate launch`, `python -m torch.distributed.run`, `th train.lua`
        let launches = naming::is_wrapper(name) || matches!(name, "launch" | "th" | "luajit");
        if !launches && !name.starts_with("torch.distributed") {
            break;
        }
    }
    names
}

/// A file as it is looked for: in lower case, between a slash and a line's end.
fn as_file(path: &str) -> String {
    format!("/{}\n", path.replace('\\', "/").to_ascii_lowercase())
}

impl<'a> Shown<'a> {
    fn of(incident: &'a Incident) -> Shown<'a> {
        let context = &incident.context;
        let command = context.command.get().map(String::as_str);
        let script = context.program.get().map(String::as_str);
        let source = |path: &&str| path.ends_with(".py");
        let frames = context.frames.iter().map(|frame| as_file(&frame.path()));
        let files = frames.chain(script.filter(source).map(as_file)).collect();
        let configuration = |path: &&str| [".py", ".yml", ".yaml"].iter().any(|end| path.ends_with(end));
        let configurations =
            command.into_iter().flat_map(str::split_whitespace).filter(configuration).map(as_file).collect();
        let words = command.map(|command| format!(" {} ", command.replace(['=', ' '], " "))).unwrap_or_default();
        let told = &incident.event.program;
        let by_messages = matches!(told, Program::Unlisted(_)) || TOLD_BY_MESSAGES.contains(told);
        // Where Python's frames are shown, a caller's name may be that of a package that the user's own script calls.
        let caller = nature::program(incident).filter(|_| context.frames.is_empty());
        Shown {
            files,
            configurations,
            program: script.map(name_of),
            commands: command.map(run_by).unwrap_or_default(),
            words,
            named: by_messages.then(|| told.id()).into_iter().chain(caller).collect(),
            process: incident.event.facts.process_name.get().map(String::as_str),
            keys: context.options.values().map(Spelled::name).collect(),
            event: &incident.event,
        }
    }

    /// True where a script or command of this name ran, or one with this option, or where the message says this.
    fn ran(&self, script: &str) -> bool {
        if is_of_a_message(script) {
            return self.event.prints(script);
        }
        let cut = |name: &str| name.len() == KEPT_OF_A_NAME && script.starts_with(name);
        if script.starts_with('-') {
            return self.words.contains(&format!(" {script} "));
        }
        self.program == Some(script)
            || self.commands.contains(&script)
            || script.split_once('+').is_some_and(|(engine, of_it)| {
                self.named.contains(&engine) && self.program.is_some_and(|program| program == of_it)
            })
            || self.named.contains(&script)
            || self.keys.iter().any(|key| key.trim_start_matches(['-', '+']) == script)
            || self.process.is_some_and(|name| name == script || cut(name))
    }

    /// True where a program shows by a frame, by the script that was started, or by a line of its own.
    fn shows(&self, tool: &Tool, context: &Context) -> bool {
        lies_in(tool, &self.files)
            || tool.files.iter().any(|part| ends_in(part, &self.configurations))
            || tool.scripts.iter().any(|script| self.ran(script))
            || tool.clue.is_some_and(|clue| context.has(clue))
    }
}

/// True where one of the files, each before a line's end, ends in this.
fn ends_in(part: &str, files: &str) -> bool {
    !part.ends_with('/') && files.match_indices(part).any(|(at, _)| files[at + part.len()..].starts_with('\n'))
}

/// True where one of the files is a program's.
fn lies_in(tool: &Tool, files: &str) -> bool {
    tool.files.iter().any(|part| ends_in(part, files) || part.ends_with('/') && files.contains(*part))
}

/// True where a program goes by a name, in any case.
fn is_called(tool: &Tool, name: &str) -> bool {
    tool.scripts.iter().any(|script| script.eq_ignore_ascii_case(name))
}

/// The well-known program that runs, where one shows.
pub(super) fn of(incident: &Incident) -> Option<&'static Tool> {
    let shown = Shown::of(incident);
    let introduced = &incident.context.introduced;
    let files: String = introduced.files.iter().map(|file| format!("{file}\n")).collect();
    let introduces = |tool: &&Tool| lies_in(tool, &files) || introduced.names.iter().any(|name| is_called(tool, name));
    // What runs comes before what is only spoken of around it.
    all().find(|tool| shown.shows(tool, &incident.context)).or_else(|| all().find(introduces))
}

/// True for an application, in which nobody but its authors writes a line.
pub(super) fn is_application(tool: &Tool) -> bool {
    applications::TOOLS.iter().any(|own| std::ptr::eq(own, tool))
}

/// What a well-known program has for a change.
pub(super) enum Setting {
    /// Lines, of which those hold that their circumstances allow.
    Lines(Vec<Line>),
    /// No option, or one that is in force.
    None,
}

/// True where a command gives a line's option, as a switch or with what is no more than the line's value.
fn in_force(command: &str, line: &Line) -> bool {
    let template = line.template().en;
    let (line, _) = and_remark(&template);
    // A number of devices that the command sets within quotes: `--overrides "tensor_parallel_shards=4"`.
    let counted = line.split_once("=<GPUs>").and_then(|(lead, _)| lead.rsplit('"').next());
    if counted.is_some_and(|key| command.contains(&format!("{key}="))) {
        return true;
    }
    let Some((name, value)) =
        line.split_once([' ', '=']).or(Some((line, ""))).filter(|(name, _)| name.starts_with('-'))
    else {
        return false;
    };
    let mut words = command.split([' ', '=']).skip_while(|word| *word != name);
    if words.next().is_none() {
        return false;
    }
    let number = |text: &str| text.split_whitespace().next().and_then(|word| word.parse::<f64>().ok());
    match (words.next().and_then(number), number(value)) {
        (Some(now), Some(then)) => now <= then,
        (Some(_), None) => !value.starts_with(['<', '{']),
        _ => true,
    }
}

impl Case<'_> {
    /// True where the well-known program that runs here has a line for a change.
    pub(super) fn has_a_setting_of_its_own(&self, fix: &str) -> bool {
        matches!(self.setting_of_a_tool(fix), Some(Setting::Lines(_)))
    }

    /// What the well-known program that runs here has for a change; `None` where nothing is written down of it.
    pub(super) fn setting_of_a_tool(&self, fix: &str) -> Option<Setting> {
        let tool = self.tool?;
        if tool.lacks.contains(&fix) {
            return Some(Setting::None);
        }
        let lines: Vec<Line> = tool.rows.iter().filter(|(of, _)| *of == fix).map(|(_, line)| *line).collect();
        if lines.is_empty() {
            return None;
        }
        // A switch that the command gives is in force.
        let command = self.context.command.get().map(String::as_str).unwrap_or_default();
        if lines.iter().any(|line| in_force(command, line)) {
            return Some(Setting::None);
        }
        Some(Setting::Lines(lines))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_runs_what_follows_its_launchers() {
        assert_eq!(run_by("cd /srv/airflow && CUDA_VISIBLE_DEVICES=0 python -u train.py orca"), ["python", "train.py"]);
        assert_eq!(run_by("mpirun -np 4 /opt/relion/bin/relion_refine_mpi --o a"), ["mpirun", "relion_refine_mpi"]);
        assert_eq!(run_by("python -m demucs.separate a.mp3"), ["python", "demucs.separate"]);
        assert_eq!(run_by("th neural_style.lua -image_size 256"), ["th", "neural_style.lua"]);
        assert_eq!(
            run_by("accelerate launch --num_processes 2 sdxl_train.py"),
            ["accelerate", "launch", "sdxl_train.py"]
        );
    }

    #[test]
    fn an_option_is_in_force_where_it_is_given_as_low() {
        let tiles = line(Target::Program, "--tile 400").note("then 200", "再试 200");
        assert!(!in_force("a.py -i in", &tiles) && !in_force("a.py --tile 800 -i in", &tiles));
        assert!(in_force("a.py --tile 200", &tiles) && in_force("a.py --tile=400", &tiles));
        assert!(in_force("a.py --fp16 -i in", &line(Target::Program, "--fp16")));
        assert!(!in_force("a.py --workers 8", &line(Target::Program, "--workers <fewer>")));
    }
}
