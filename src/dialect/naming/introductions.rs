//! How programs introduce themselves around a message that is a library's or a driver's: by the names of their loggers,
//! the source files in other lines, a banner, the command. A name alone tells little; one that a table of well-known
//! programs has is as good as certain.

use super::{Way, banner, commands, head, line};
use crate::domain::Program;
use crate::input::Document;

/// Lines before and behind a message that are looked at, and lines from the beginning of the log.
const BEFORE: usize = 60;
const AFTER: usize = 20;
const BEGINNING: usize = 40;
/// So many files and names are kept.
const MOST: usize = 48;

/// What the lines around a message introduce.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Introductions {
    /// Source files in lower case, each from the `/` before its first folder to its end: `/grid/mesh/build.py`. The
    /// logger `grid.mesh.build` is of such a file.
    pub files: Vec<String>,
    /// Names of loggers without a path, of banners and of the last command.
    pub names: Vec<String>,
}

impl Introductions {
    /// What the lines around the message at `position` introduce.
    pub fn around(document: &Document, position: usize) -> Introductions {
        let mut found = Introductions::default();
        let near = position.saturating_sub(BEFORE);
        let last = position.saturating_add(AFTER + 1).min(document.lines.len());
        for at in (0..BEGINNING.min(near)).chain(near..last) {
            let Some(line) = document.lines.get(at) else { continue };
            found.take(head(&line.text));
        }
        banner::all(document, position, &mut |way, program| {
            if matches!(way, Way::Banner | Way::Began) {
                found.name(program.id());
            }
        });
        let mut last: Option<Program> = None;
        commands::all(document, position, &mut |way, program| {
            if matches!(way, Way::Command | Way::Script | Way::Echo) {
                last = last.or(Some(program));
            }
        });
        last.into_iter().for_each(|program| found.name(program.id()));
        found
    }

    fn take(&mut self, text: &str) {
        if let Some(logger) = line::logger(text) {
            if logger.contains('.') {
                self.file(&format!("/{}.py", logger.to_ascii_lowercase().replace('.', "/")));
            } else {
                self.name(logger);
            }
        }
        // Most lines hold none.
        if !text.contains(['/', '\\']) {
            return;
        }
        const MARKS: [char; 11] = [' ', '\t', '"', '\'', '(', ')', ',', '[', ']', '<', '>'];
        for path in text.split(MARKS).filter_map(source_file) {
            self.file(&path);
        }
    }

    fn file(&mut self, path: &str) {
        if self.files.len() < MOST && !self.files.iter().any(|known| known == path) {
            self.files.push(path.to_string());
        }
    }

    fn name(&mut self, name: &str) {
        if self.names.len() < MOST && !self.names.iter().any(|known| known.eq_ignore_ascii_case(name)) {
            self.names.push(name.to_string());
        }
    }
}

/// The path of a source file with folders that a word begins with: `C:\grid\mesh.py:12` is `/c:/grid/mesh.py`.
fn source_file(word: &str) -> Option<String> {
    const KINDS: [&str; 7] = [".py", ".cpp", ".cuh", ".cu", ".cc", ".m", ".lua"];
    const LONGEST: usize = 240;
    if word.len() > LONGEST || !word.contains(['/', '\\']) {
        return None;
    }
    let path = word.to_ascii_lowercase().replace('\\', "/");
    let end = KINDS.iter().find_map(|kind| {
        let end = path.find(kind)? + kind.len();
        let follows = path[end..].chars().next();
        follows.is_none_or(|c| !c.is_ascii_alphanumeric() && c != '/' && c != '_').then_some(end)
    })?;
    Some(format!("/{}", path[..end].trim_start_matches('/')))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Introductions {
        let document = Document::from_text("-", text);
        let position = document.lines.iter().position(|line| line.text.contains("out of memory")).expect("a message");
        Introductions::around(&document, position)
    }

    #[test]
    fn loggers_give_paths_and_names() {
        for line in [
            "INFO:grid.mesh.build:Starting",
            "2024-05-01 12:00:00,123 - grid.mesh.build - INFO - Starting",
            "[2024-05-01 12:00:00] grid.mesh.build       INFO    : Starting",
            "2024-05-01 12:00:00 | INFO | grid.mesh.build | Starting",
            "[2024-05-01 12:00:00,123] [INFO] [grid.mesh.build:71] [PID:41] Starting",
            "[INFO|2024-05-01 12:00:00] grid.mesh.build:157 >> Starting",
            "[05/01 12:00:00 grid.mesh.build]: Starting",
            "grid.mesh.build - Starting",
        ] {
            let found = of(&format!("{line}\nCUDA error: out of memory"));
            assert_eq!(found.files, ["/grid/mesh/build.py"], "{line}");
        }
        let named = of("2021-05-05 12:00:00,123 - gridseg - INFO - workflow\nCUDA error: out of memory");
        assert_eq!(named.names, ["gridseg"]);
        for line in
            ["INFO loading model.safetensors", "2024-05-01 INFO 10.0.0.1 answers", "WARNING: see grid.example.com/a"]
        {
            let found = of(&format!("{line}\nCUDA error: out of memory"));
            assert!(found.files.is_empty(), "{line}: {found:?}");
        }
    }

    #[test]
    fn files_banners_and_commands_are_met() {
        let log = "$ ./bin/gridmap -n 4 in.dat\nGridmap version 2.1\nError: CUDA error: out of memory\n  File \
                   \"C:\\Grid\\core\\Mesh.py\", line 93, in build\n";
        let found = of(log);
        assert_eq!(found.files, ["/c:/grid/core/mesh.py"]);
        assert!(found.names.iter().any(|name| name == "gridmap"), "{found:?}");
    }
}
