//! The commands that started programs: typed at a prompt, echoed by a launcher, or listed as its arguments.

use crate::dialect::{field, naming};
use crate::evidence::Span;
use crate::input::Document;

/// A command that started a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Launch {
    pub at: Span,
    /// How many kept lines it takes.
    pub lines: usize,
    /// The command on one line, without prompt.
    pub text: String,
    /// The script or module.
    pub program: Option<String>,
}

/// A command with more continuation lines than this is not read to its end.
const CONTINUED_AT_MOST: usize = 60;

/// Programs that run training or serving programs, and what must follow for the line to be a command and no prose.
const LAUNCHERS: &[&str] = &[
    "python",
    "python3",
    "torchrun",
    "deepspeed",
    "accelerate",
    "yolo",
    "srun",
    "mpirun",
    "horovodrun",
    "docker",
    "podman",
    "vllm",
    "swift",
    "llamafactory-cli",
    "axolotl",
    "lightning",
    "fabric",
    "singularity",
    "apptainer",
    "sbatch",
    "bash",
    "sh",
    "CUDA_VISIBLE_DEVICES",
    "ollama",
    "litgpt",
    "tune",
    "dask-cuda-worker",
    "trtllm-serve",
    "trtllm-build",
    "llama-server",
    "invokeai",
    "nohup",
    "sudo",
    "env",
    "time",
    "conda",
    "uv",
    "poetry",
];

/// Reads the command that starts on the line at `position`, if one does.
pub(super) fn launch(document: &Document, position: usize) -> Option<Launch> {
    let line = document.lines.get(position)?;
    let listed = listed(&line.text);
    let first = match &listed {
        Some(text) => text.as_str(),
        None => typed(&line.text)?,
    };
    let mut text = first.to_string();
    let mut lines = 1;
    let mut last = line.number;
    while text.ends_with('\\') && lines < CONTINUED_AT_MOST {
        text.truncate(text.trim_end_matches('\\').trim_end().len());
        let Some(next) = document.lines.get(position + lines) else { break };
        text.push(' ');
        text.push_str(next.text.trim());
        last = next.number;
        lines += 1;
    }
    let at_a_prompt = of_a_folder(&line.text, text.split(' ').next().unwrap_or(""))
        || of_any_program(&line.text, strip_prompt(line.text.trim()));
    if !at_a_prompt && !is_launch(&text) {
        return None;
    }
    text.truncate(text.trim_end().len());
    let program = program(&text);
    Some(Launch { at: Span::lines(line.number, last), lines, text, program })
}

/// The command after a prompt, or the whole line where it begins with a launcher.
fn typed(line: &str) -> Option<&str> {
    let text = line.trim();
    let text = strip_prompt(text);
    let first = text.split([' ', '=']).next().unwrap_or("");
    let name = first.rsplit(['/', '\\']).next().unwrap_or("").trim_end_matches(".exe");
    let assigns = first.len() < text.len()
        && text.as_bytes().get(first.len()) == Some(&b'=')
        && first.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_');
    let known = LAUNCHERS.contains(&name)
        || name.starts_with("python3.")
        || ["./", ".\\"].iter().any(|here| first.starts_with(*here));
    (known || assigns || of_a_folder(line, first) || of_any_program(line, text)).then_some(text)
}

/// True for `user@host:~$ solver -n 4 in.dat`: behind a shell's prompt a program with an option, and none that runs or
/// looks at others. Of most lines the command is all: they show no prompt.
fn of_any_program(line: &str, command: &str) -> bool {
    let line = line.trim();
    let Some(prompt) = line.strip_suffix(command).map(str::trim_end).filter(|prompt| !prompt.is_empty()) else {
        return false;
    };
    let mut words = command.split_whitespace();
    let first = words.next().unwrap_or_default();
    let name = first.rsplit(['/', '\\']).next().unwrap_or_default();
    let plain = name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.'));
    let option = |word: &str| word.starts_with('-') && word.contains(|c: char| c.is_ascii_alphabetic());
    let shell = prompt.ends_with(['$', '%', '#']) || field::behind_a_folder(line).is_some();
    shell && plain && !naming::is_wrapper(name) && words.take(12).any(option)
}

/// True for `$ bin/tool …`: the start script of a program that was unpacked somewhere. The system's own folders hold
/// the tools that one looks around with.
fn of_a_folder(line: &str, first: &str) -> bool {
    let prompted = line.trim_start().starts_with("$ ");
    let name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '/' | '_' | '-' | '.' | '~');
    let of_the_system = ["/usr/", "/bin/", "/sbin/", "/etc/"].iter().any(|folder| first.starts_with(folder));
    prompted && first.contains('/') && first.chars().all(name) && !of_the_system
}

/// The command of a line that shows a prompt.
pub(super) fn at_a_prompt(text: &str) -> Option<&str> {
    let text = text.trim();
    Some(strip_prompt(text)).filter(|command| command.len() < text.len())
}

fn strip_prompt(text: &str) -> &str {
    let text = text.strip_prefix("+ ").unwrap_or(text);
    if let Some(command) = field::behind_a_folder(text) {
        return command;
    }
    for mark in ["$ ", "% ", "cmd = ", "CMD: ", "Command: ", "command: ", "Running command: ", "> "] {
        if let Some(i) = text.find(mark)
            && i < 80
            && (i == 0 || mark.ends_with("= ") || mark.ends_with(": ") || text[..i].contains(['@', '~', ')', ']']))
        {
            return text[i + mark.len()..].trim_start();
        }
    }
    if let Some(i) = text.find("# ")
        && text[..i].contains('@')
    {
        return text[i + 2..].trim_start();
    }
    text.strip_prefix('!').unwrap_or(text)
}

/// `['/opt/python', '-u', 'train.py', …]` as launchers print what they ran, joined with spaces.
fn listed(line: &str) -> Option<String> {
    let start = line.find("['")?;
    let list = &line[start + 1..];
    let list = &list[..list.find(']').unwrap_or(list.len())];
    let first = list.split('\'').nth(1)?;
    if !first.contains("python") && !LAUNCHERS.contains(&first) {
        return None;
    }
    let words: Vec<&str> = list.split(',').map(|word| word.trim().trim_matches(['\'', '"'])).collect();
    (words.len() > 1).then(|| words.join(" "))
}

/// True where what follows the launcher makes it a command rather than a sentence or another program's message.
fn is_launch(text: &str) -> bool {
    if text.contains("invoked oom-killer") || text.ends_with(':') {
        return false;
    }
    let words: Vec<&str> = text.split_whitespace().take(400).collect();
    let script = words.iter().any(|word| word.ends_with(".py") || word.ends_with(".sh"));
    let module = words.contains(&"-m");
    let option = words.iter().skip(1).any(|word| word.starts_with("--"));
    let known = words.iter().any(|word| {
        matches!(
            word.rsplit('/').next(),
            Some("yolo" | "vllm" | "torchrun" | "deepspeed" | "swift" | "ollama" | "llama-server")
        )
    });
    script || module || option && words.len() > 1 || known && words.len() > 2 && text.contains(['=', '/'])
}

/// The script or module that a command runs.
fn program(text: &str) -> Option<String> {
    let words: Vec<&str> = text.split_whitespace().take(400).collect();
    if let Some(script) = words.iter().find(|word| word.ends_with(".py") && !word.starts_with('-')) {
        return Some((*script).to_string());
    }
    let mut modules = words.windows(2).filter(|pair| pair[0] == "-m").map(|pair| pair[1]);
    let module = modules
        .clone()
        .find(|module| !module.starts_with("torch.distributed") && *module != "accelerate.commands.launch");
    if let Some(module) = module.or_else(|| modules.next()) {
        return Some(module.to_string());
    }
    let name = |word: &&&str| LAUNCHERS.contains(&word.rsplit('/').next().unwrap_or("")) && !word.contains('=');
    words
        .iter()
        .find(|word| word.ends_with(".sh"))
        .or_else(|| words.iter().find(name))
        .map(|word| word.rsplit('/').next().unwrap_or(word).to_string())
}
