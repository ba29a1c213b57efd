//! Windows: the commit limit, that is RAM and page file together, and the codes by which programs die of it; WSL on
//! top.
//!
//! Free RAM proves nothing there: what a process reserves counts, used or not.

use super::wording::{Unit, WORDING, Wording};
use super::{Dialect, Event, Fact, Resource, Sign, field, wording};
use crate::domain::{Number, Program};
use crate::input::Document;
use crate::units::Base;

pub const DIALECT: Dialect = Dialect {
    name: "windows",
    triggers: &[
        "(?i)rror 1455",
        "(?i)code 1455",
        "代码 1455",
        "(?i)winerror 1450",
        "(?i)winerror 8]",
        "(?i)paging file is too small",
        "页面文件太小",
        "(?i)auslagerungsdatei",
        "(?i)fichier de pagination",
        "archivo de paginación",
        "ページング ファイル",
        "Файл подкачки",
        "arquivo de paginação",
        "페이징 파일",
        "(?i)0xc0000017",
        "-1073741801",
        "(?i)0xc000012d",
        "-1073741523",
        "(?i)low virtual memory condition",
        "(?i)0x800705aa",
        "(?i)initentryutilityvm",
    ],
    read,
};

/// "The paging file is too small for this operation to complete", the system's text of error 1455.
const PAGE_FILE: &[&str] = &[
    "pagingfileistoosmall",
    "页面文件太小",
    "auslagerungsdateiistzuklein",
    "fichierdepaginationestinsuffisant",
    "archivodepaginaciónesdemasiadopequeño",
    "ページングファイルが小さすぎ",
    "Файлподкачкислишкоммал",
    "arquivodepaginaçãoémuitopequeno",
    "페이징파일이너무작",
];

const SIGNS: &[Sign] = &[Sign::Windows, Sign::AddressSpaceLimit];

const TABLE: &[Wording] = &[
    Wording {
        says: &["code1455", "代码1455"],
        slug: "windows-commit-limit",
        program: Program::Windows,
        signs: SIGNS,
        ..WORDING
    },
    // The JVM passes the text on and then gives its own message, with the figure.
    Wording {
        says: PAGE_FILE,
        not: &["os::commit_memory"],
        slug: "windows-commit-limit",
        program: Program::Windows,
        signs: SIGNS,
        ..WORDING
    },
    Wording {
        says: &["[winerror1450]", "[winerror8]"],
        slug: "windows-no-resources",
        program: Program::Python,
        signs: SIGNS,
        ..WORDING
    },
    // STATUS_NO_MEMORY and STATUS_COMMITMENT_LIMIT.
    Wording {
        says: &["0xc0000017", "-1073741801", "0xc000012d", "-1073741523"],
        slug: "windows-status",
        program: Program::Windows,
        signs: SIGNS,
        ..WORDING
    },
    Wording {
        says: &["diagnosedalowvirtualmemorycondition"],
        slug: "windows-resource-exhaustion",
        program: Program::Windows,
        signs: SIGNS,
        figures: &[(Fact::Process, "consumed", Unit::Printed(Base::Binary))],
        pid: &["mostvirtualmemory:python.exe("],
        ..WORDING
    },
    Wording { says: &["0x800705aa"], slug: "wsl-no-resources", program: Program::Wsl, signs: SIGNS, ..WORDING },
    Wording {
        says: &["initentryutilityvm"],
        and: &["inithasexited"],
        slug: "wsl-stopped",
        program: Program::Wsl,
        signs: &[Sign::Windows, Sign::KilledWithoutProof],
        ..WORDING
    },
];

fn read(document: &Document, position: usize) -> Option<Event> {
    let line = field::text(document, position);
    if let Some(event) = commit_limit(document, position, line) {
        return Some(event);
    }
    let mut event = wording::read(document, position, TABLE)?;
    if event.program == Program::Windows {
        event.program = program(document, position);
    }
    Some(event)
}

/// Whose allocation was refused, by what stands around.
fn program(document: &Document, position: usize) -> Program {
    let around = |words: &[&str]| {
        field::before(position + 1, 12)
            .chain(field::behind(document, position, 6))
            .any(|at| words.iter().any(|word| field::text(document, at).contains(word)))
    };
    if around(&["rustc", ".rlib", "cargo", "error[E"]) {
        Program::Rust
    } else if around(&["fork/exec", "go.exe"]) {
        Program::Go
    } else if around(&["torch", "cudnn", "cublas"]) {
        Program::Pytorch
    } else if around(&["c1xx", "cl.exe"]) {
        Program::Msvc
    } else if around(&["python.exe exited", "ImportError", "OSError", "Traceback"]) {
        Program::Python
    } else {
        Program::Windows
    }
}

/// Error 1455 by its number: RAM and page file together cannot back what was reserved.
fn commit_limit(document: &Document, position: usize, line: &str) -> Option<Event> {
    if !line.contains("rror 1455") {
        return None;
    }
    let program = match program(document, position) {
        // This spelling is Rust's: in a Python program it is the reader of safetensors files.
        Program::Pytorch | Program::Python | Program::Windows if line.contains("os error 1455") => Program::HuggingFace,
        Program::Windows => Program::Python,
        program => program,
    };
    let mut event = field::event(document, position, "windows-commit-limit", program, Resource::Host);
    event.sign(Sign::Windows);
    event.sign(Sign::AddressSpaceLimit);
    event.sign(Sign::NoFigures);
    field::note_number(&mut event, Number::Errno, Some(1455.0));
    Some(event)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_commit_limit_in_many_tongues_and_numbers() {
        for (log, program) in [
            (
                "OSError: [WinError 1455] The paging file is too small. Error loading \"C:\\torch\\lib\\cudnn_adv.dll\"",
                Program::Pytorch,
            ),
            (
                "OSError: The paging file is too small for this operation to complete. (os error 1455)",
                Program::HuggingFace,
            ),
            ("ImportError: DLL load failed while importing _core: 页面文件太小，无法完成操作。", Program::Python),
            ("fork/exec C:\\go.exe: Die Auslagerungsdatei ist zu klein, um diesen Vorgang durchzuführen.", Program::Go),
            ("python.exe exited with code -1073741801 (0xC0000017)", Program::Python),
            ("Error code: Wsl/Service/CreateInstance/CreateVm/HCS/0x800705aa", Program::Wsl),
        ] {
            let document = Document::from_text("-", log);
            let event = read(&document, 0).unwrap_or_else(|| panic!("{log}"));
            assert_eq!(event.program, program, "{log}");
            assert!(event.has(Sign::AddressSpaceLimit), "{log}");
        }
    }
}
