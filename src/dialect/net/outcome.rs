//! What comes after a message decides what it was: a death, a retry that worked, or a program that went on.

use crate::dialect::field;
use crate::input::Document;
use std::sync::Arc;

/// What the lines behind a message tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum After {
    /// The program ended: an abort, an exit code, a traceback.
    Died,
    /// It went on: steps that count up, results saved, exit code 0.
    WentOn,
    Unknown,
}

/// Lines behind a message in which its process dies.
const NEAR: usize = 14;
/// Lines behind it in which it shows that it goes on.
const FAR: usize = 200;

const DEATHS: &[&str] = &[
    "aborted",
    "aborting.",
    "abort trap",
    "core dumped",
    "terminate called",
    "traceback (most recent",
    "segmentation fault",
    "sigabrt",
    "sigkill",
    "panicked at",
    "giving up",
    "srun: error",
    "returned non-zero",
    "calledprocesserror",
    "job failed",
    "failed to start",
    "exiting",
    "shutting down",
    "terminating",
    "be terminated",
    "been terminated",
    "was terminated",
    "terminated, status",
    "cannot continue",
    "unrecoverable",
    "mpi_abort",
    "killed",
    "process finished with exit code",
    "main process exited, code=",
    "exited with",
    "exit code",
    "exit status",
    "exitcode",
    "return code",
    "crashed",
    "crash dump",
    "abnormal",
    "failed with",
    "error: command",
    "run failed",
    "fatal",
    "mining suspended",
];

/// Words of work that goes on or came to something.
const GOES_ON: &[&str] = &[
    "saved",
    "saving",
    "success",
    "succeeded",
    "resuming",
    "resumed",
    "recovered",
    "training complete",
    "written to",
    "wrote ",
    "accepted by",
    "logged in",
    "ready for connections",
    "ready to accept",
    "normal termination",
    "(all ok)",
];

/// Words by which npm does without what is optional, and a limiter says that it is over.
const OVER: &[&str] = &["skipping optional dependency", "no longer being exceeded", "memory pressure: normal"];

/// True for a line, in lower case, about what is kept of a failure: `profile saved to: …`, `core written to …`.
pub fn keeps_a_trace(lower: &str) -> bool {
    const KEPT: &[&str] = &[
        "log",
        "logs",
        "report",
        "profile",
        "dump",
        "core",
        "trace",
        "crash",
        "backtrace",
        "stack",
        "minidump",
        "diagnostics",
    ];
    lower.split(|c: char| !c.is_alphanumeric()).take(12).any(|noun| KEPT.contains(&noun))
}

/// True where one of [`GOES_ON`] is said, and its clause doesn't deny it: `did not successfully train any models`.
fn goes_on(lower: &str) -> bool {
    GOES_ON.iter().filter_map(|word| lower.find(word).map(|at| (*word, at))).any(|(word, at)| {
        let lead = &lower[..at];
        let writes = matches!(word, "saved" | "saving" | "written to" | "wrote ");
        if writes && keeps_a_trace(lower) {
            return false;
        }
        let clause = lead.rsplit([',', ';', '.', ':', ']']).next().unwrap_or_default();
        let denies =
            |word: &str| matches!(word, "not" | "no" | "never" | "without" | "nothing" | "0") || word.ends_with("n't");
        // `number of successor states`
        let successor = lower[at + word.len()..].starts_with("or");
        let denied = ["un", "non", "non-"].iter().any(|no| lead.ends_with(no));
        !successor && !denied && !clause.split_whitespace().any(denies)
    })
}

/// Words of an end. A script says them whatever became of the program in it: alone they show nothing.
const ENDS: &[&str] = &["completed", "finished", "done", "elapsed", "started in "];

/// True where the sum of the work, behind a message, says that some of it is missing: what was skipped is.
pub fn counts_failures(document: &Document, position: usize) -> bool {
    let lines = document.lines.get(position..).unwrap_or_default().iter().take(FAR);
    let mut sums = lines.filter_map(|line| line.text.rsplit_once("umber of failed examples: "));
    sums.any(|(_, count)| count.starts_with(|c: char| matches!(c, '1'..='9')))
}

/// True for an ending that is none of failure.
fn clean_exit(lower: &str) -> bool {
    [
        "exit code 0",
        "exit code: 0",
        "exited with code 0",
        "exit status 0",
        "exit status: 0",
        "exiting with status = 0",
        "return code 0",
        "exitcode: 0",
        "exitcode=0",
        "exiting with code 0",
        "rc=0",
    ]
    .iter()
    .any(|words| {
        // `exit code 0x100` is none of success.
        lower.find(words).is_some_and(|at| !lower[at + words.len()..].starts_with(|c: char| c.is_ascii_alphanumeric()))
    })
}

/// True for a line that counts work: `step 12/100`, `epoch 3`, `45 %`, `1.2 it/s`.
fn progresses(lower: &str) -> bool {
    if lower.contains("it/s") || lower.contains("s/it") {
        return true;
    }
    // `[frame 0]: libgrid.so(+0x1) [0x7f]`: of a stack.
    if lower.contains("[frame ") || lower.contains("[0x") || lower.contains("(+0x") {
        return false;
    }
    [
        "step", "epoch", "iter", "batch", "frame", "chunk", "tile", "request", "trial", "sample", "token", "loss",
        "record", "run", "phase", "pass", "round", "cycle", "event",
    ]
    .iter()
    .any(|word| {
        lower.find(word).is_some_and(|at| {
            let rest = &lower[at + word.len()..];
            let rest = rest.trim_start_matches(|c: char| c.is_ascii_alphabetic());
            let gap = rest.len() - rest.trim_start_matches([' ', ':', '=', '#', '[', '(']).len();
            gap <= 4 && rest[gap..].starts_with(|c: char| c.is_ascii_digit())
        })
    })
}

/// True for a row of measurements: numbers alone, two and more, one of them no whole one.
fn is_row(lower: &str) -> bool {
    let number = |word: &str| word.parse::<f64>().is_ok_and(f64::is_finite);
    let words = || lower.split_whitespace();
    words().count() >= 2 && words().all(number) && words().any(|word| word.contains('.'))
}

/// True where a command at the prompt above lists what stands in a program's file, its help or its manual: nothing ran.
pub fn is_listed(document: &Document, position: usize) -> bool {
    listed(document, position, true)
}

/// The same of a file alone. Below a history or a help somebody may have started a program without a prompt.
pub fn shows_a_file(document: &Document, position: usize) -> bool {
    listed(document, position, false)
}

fn listed(document: &Document, position: usize, briefly: bool) -> bool {
    const LISTED: usize = 40;
    const TEXTS: &[&str] = &[
        ".md", ".rst", ".html", ".h", ".c", ".cc", ".cpp", ".hpp", ".py", ".po", ".rs", ".go", ".js", ".ts", ".java",
        ".cs", ".rb", ".pl", ".lua", ".swg", ".i",
    ];
    // What somebody has written down may quote a log; what comes with a program is about it.
    const WRITINGS: &[&str] = &[".md", ".rst", ".html"];
    const COMES_ALONG: &[&str] = &["readme", "changelog", "changes", "history", "news", "contributing", "install"];
    let command =
        std::iter::once(position).chain(field::before(position, LISTED)).find_map(|at| Typed::of(document, at));
    // `src/pool.cc:140:  LOG(ERROR) << "out of memory"`, below a search.
    let found = || {
        let mut parts = field::text(document, position).splitn(3, ':');
        let (Some(place), Some(number), Some(_)) = (parts.next(), parts.next(), parts.next()) else { return false };
        number.parse::<u64>().is_ok() && TEXTS.iter().any(|end| place.ends_with(end))
    };
    command.is_some_and(|typed| {
        let mut words = typed.split_whitespace();
        let tool = words.next().unwrap_or_default();
        let call = words.clone().next().unwrap_or_default();
        let searches = matches!(tool, "grep" | "rg" | "zgrep" | "egrep" | "ag") || tool == "git" && call == "grep";
        // What is handed on through a pipe is another's to read, and what that one says a message.
        let shows = matches!(tool, "cat" | "sed" | "head" | "tail" | "less" | "zless" | "more" | "bat")
            && !typed.contains(['|', '>']);
        let texts = |word: &str| TEXTS.iter().any(|end| word.ends_with(end)) || word.contains("/share/doc/");
        // Of several commands in one line the last one may have run.
        let alone = !typed.contains(';') && !typed.contains("&&");
        let help = typed.split_whitespace().any(|word| word == "--help");
        // `NEWS`, `CHANGELOG.md`, `changelogs/v4.6.0.md`
        let along = |word: &str| {
            let mut parts = word.rsplit('/');
            let name = parts.next().unwrap_or_default().to_ascii_lowercase();
            // `news.err` is a log.
            let (stem, kind) = name.split_once('.').unwrap_or((&name, "md"));
            let kind = kind.strip_suffix("gz").unwrap_or(kind).trim_end_matches('.');
            let prose = matches!(kind, "" | "md" | "rst" | "txt" | "html" | "debian");
            COMES_ALONG.contains(&stem) && prose
                || parts.any(|folder| folder.to_ascii_lowercase().starts_with("changelog"))
        };
        let code = |word: &str| along(word) || texts(word) && !WRITINGS.iter().any(|end| word.ends_with(end));
        // What it shows is written elsewhere: what is left to read is its own.
        let page = matches!(tool, "lynx" | "w3m") && words.clone().any(|word| word == "-dump") && !typed.contains('>');
        let history =
            matches!(tool, "git" | "hg" | "svn") && matches!(call, "log" | "show" | "blame" | "annotate" | "shortlog");
        alone
            && (matches!(tool, "strings" | "man" | "info" | "pdftotext")
                || page
                || briefly && (help || history)
                || shows && words.clone().any(code)
                || searches && (words.any(texts) || found()))
    })
}

/// True for a shell's prompt with a command behind it: `$ solver`, `ann@host:~$ solver`, `[ann@host work]# solver`.
pub fn is_prompt(line: &str) -> bool {
    typed(line).is_some()
}

/// True for a command at a shell's prompt and nothing else, or a line that goes on with one behind a backslash: what it
/// asks for did not happen. A folder of Windows' that ends in one has no blank before it.
pub fn is_typed(document: &Document, position: usize, line: &str) -> bool {
    const LINES: usize = 12;
    let above = field::before(position, LINES).map(|at| field::text(document, at));
    line.starts_with("$ ") && is_prompt(line)
        || above.take_while(|line| line.trim_end().ends_with(" \\")).any(is_prompt)
}

/// The command behind a shell's prompt.
fn typed(line: &str) -> Option<&str> {
    let typed = line.strip_prefix("$ ").or_else(|| {
        let (prompt, rest) = line.split_once("$ ").or_else(|| line.split_once("# "))?;
        let named = prompt.contains('@') && (!prompt.contains(' ') || prompt.starts_with(['[', '(']));
        // `~/src/grid$ make`, `~/src/grid $ make`
        let folder = prompt.starts_with("~/") && !prompt.trim_end().contains(' ');
        (named || folder).then_some(rest)
    });
    let typed = typed.or_else(|| field::behind_a_folder(line));
    typed.filter(|typed| typed.starts_with(|c: char| c.is_ascii_alphabetic() || matches!(c, '.' | '/' | '(')))
}

/// The command that a line has behind a prompt.
#[derive(Clone)]
struct Typed(Option<Arc<str>>);

impl Typed {
    fn of(document: &Document, at: usize) -> Option<Arc<str>> {
        let line = field::text(document, at);
        document.memo.of(line, || Typed(typed(line).map(Arc::from))).0
    }
}

/// What a line behind a message says of the program's fate, whatever the message was.
#[derive(Clone, Copy)]
struct Fate {
    /// A shell's prompt with a command: another program's matter from here on.
    prompt: bool,
    /// An ending that is none of failure, or words that it is over: `Controller run succeeded after 2 errors`. A
    /// probe's attempts come with a new start.
    ends_well: bool,
    /// `strerror(ENOMEM) = "Out of memory" as expected`: a test of it.
    expected: bool,
    exception: bool,
    fails: bool,
    dies: bool,
    shuts_down: bool,
    /// An engine that has done its work: `done. Elapsed time: 39.90 minutes.`
    done: bool,
    goes_on: bool,
    progresses: bool,
    /// The head of a table of results, `# Size  Latency`.
    headed: bool,
    row: bool,
    ends: bool,
    /// It fell there, if it had gone on before.
    falls: bool,
}

impl Fate {
    fn of(document: &Document, at: usize) -> Fate {
        let text = document.lines.get(at).map_or("", |line| &line.text);
        // Names in a stack are no news: `at TaskAwaiter.HandleNonSuccessAndDebuggerNotification(Task task)`.
        let text = if text.trim_start().starts_with("at ") && text.ends_with(')') { "" } else { text };
        document.memo.of(text, || Fate::read(text))
    }

    fn read(text: &str) -> Fate {
        let head: String = text.chars().take(400).collect();
        let lower = head.to_lowercase();
        let says = |words: &[&str]| words.iter().any(|word| lower.contains(word));
        let at_last = lower.contains(" succeeded after ") && lower.contains(" error");
        let fails = says(&["error", "fail", "unable", "cannot", "could not", "out of memory"]);
        // A service that is started anew had ended.
        let anew = says(&["probe", "startup", "starting"]);
        Fate {
            prompt: is_prompt(&head),
            // `Available memory (5120 MB) exceeds the threshold, resuming …`, behind a pause.
            ends_well: clean_exit(&lower)
                || at_last
                || says(OVER)
                || !fails && lower.contains("available memory") && lower.contains(", resuming "),
            expected: lower.trim_end().ends_with(" as expected") && !lower.contains("not as expected"),
            exception: field::is_exception(text),
            fails,
            dies: says(DEATHS),
            shuts_down: lower.contains("shutting down"),
            done: lower.contains(" done. elapsed time"),
            goes_on: !fails && !anew && goes_on(&lower),
            progresses: progresses(&lower),
            headed: lower.starts_with("# "),
            row: is_row(&lower),
            ends: says(ENDS),
            falls: says(&["core dumped", "terminate called", "traceback (most recent", "panicked at"]),
        }
    }
}

/// Reads on behind the line at `position`.
pub fn after(document: &Document, position: usize) -> After {
    let end = document.lines.len().min(position.saturating_add(FAR));
    let text = |at: usize| document.lines.get(at).map_or("", |line| line.text.as_str());
    // The same message again is no death.
    let words = |text: &str| text.chars().filter(|c| c.is_alphabetic()).take(200).collect::<String>();
    let own = words(text(position));
    let mut went_on = 0usize;
    let (mut ended, mut last_goes_on, mut raised) = (false, false, false);
    let (mut headed, mut rows) = (false, 0);
    for (i, at) in (position + 1..end).filter(|at| !text(*at).trim().is_empty()).enumerate() {
        let fate = Fate::of(document, at);
        if fate.prompt {
            break;
        }
        if fate.ends_well || i < 2 && fate.expected {
            return After::WentOn;
        }
        raised = fate.exception;
        let again = || own.len() >= 12 && words(text(at)) == own;
        if went_on == 0 && i < NEAR && fate.dies && !again() {
            // An engine that has done its work shuts down as well.
            if fate.shuts_down && (at + 1..end.min(at + 3)).any(|next| Fate::of(document, next).done) {
                return After::WentOn;
            }
            return After::Died;
        }
        last_goes_on = fate.goes_on;
        // A row below the head of a table of results: `# Size  Latency`, `1  0.23`.
        let row = headed && fate.row;
        headed = fate.headed || row;
        if row {
            rows += 1;
        }
        if row && rows == 1 {
            went_on += 1;
            ended = true;
            continue;
        }
        if !fate.fails && (fate.progresses || last_goes_on) {
            went_on += 1;
        } else if !fate.fails && fate.ends {
            ended = true;
        } else if went_on > 0 && fate.falls {
            // It went on and fell later: that is another failure's matter.
            return After::WentOn;
        }
    }
    // An exception that ends the log ended the program.
    if went_on == 0 && raised {
        return After::Died;
    }
    if went_on >= 2 || went_on == 1 && (ended || last_goes_on) { After::WentOn } else { After::Unknown }
}
