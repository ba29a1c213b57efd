//! What is on the screen: the answer first, nothing that is to be typed cut, whatever the terminal.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use crate::binary;

use binary::{logs, oomdoc, outcome};
use rayon::prelude::*;
use serde_json::Value;

/// What `explain` prints of a fixture.
fn shown(log: &std::path::Path, more: &[&str]) -> String {
    outcome(oomdoc().arg("explain").arg(log).args(more)).1
}

fn document(log: &std::path::Path, lang: &str) -> Value {
    serde_json::from_str(&binary::json_of(log, lang)).unwrap()
}

fn primary(document: &Value) -> Option<&Value> {
    let incidents = document["incidents"].as_array()?;
    incidents.iter().find(|incident| incident["primary"] == true).or(incidents.first())
}

/// Without spaces, as a text is when it does not matter where lines are broken.
fn joined(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace() && *c != '\u{a0}').collect()
}

/// The log's messages as the program quotes them.
fn messages(value: &Value) -> Vec<&str> {
    match value {
        Value::Array(items) => items.iter().flat_map(messages).collect(),
        Value::Object(fields) => {
            let here = fields.get("message").and_then(Value::as_str);
            here.into_iter().chain(fields.values().flat_map(messages)).collect()
        }
        _ => Vec::new(),
    }
}

/// What is to be written for each fix, `None` where that is several lines, of which the screen may show the first ones.
fn one_liners(incident: &Value) -> Vec<Option<String>> {
    let fixes = incident["fixes"].as_array().into_iter().flatten();
    let lines = fixes.map(|fix| fix["how"][0]["do"].as_str().filter(|line| line.trim().lines().count() == 1));
    lines.map(|line| line.map(joined)).collect()
}

/// The fixes on a screen by their place in the list, each with its text.
fn fixes_shown(out: &str) -> Vec<(usize, String)> {
    let mut found: Vec<(usize, String)> = Vec::new();
    let mut listed = false;
    for line in out.lines() {
        listed |= line.starts_with("What else to change");
        let number = line.trim_start().split(". ").next().and_then(|number| number.parse::<usize>().ok());
        if line.starts_with("Change first: ") {
            found.push((1, String::new()));
        } else if let Some(number) = number.filter(|_| listed && line.starts_with("  ")) {
            found.push((number, String::new()));
        } else if let Some((_, text)) = found.last_mut() {
            *text += &joined(line);
        }
    }
    found
}

/// One of the cases for each fixture, in turn: all of them for each would be six times the processes for little more.
fn in_turn<T: Copy>(cases: &[T], number: usize) -> T {
    cases[number % cases.len()]
}

#[test]
fn verdict_deciding_step_and_first_fix_are_in_the_first_ten_lines() {
    let cases = [("en", "80"), ("zh", "60"), ("en", "120"), ("zh", "80"), ("en", "60"), ("zh", "120")];
    let wrong: Vec<String> = logs()
        .into_par_iter()
        .enumerate()
        .flat_map_iter(|(number, log)| {
            let (lang, width) = in_turn(&cases, number);
            let document = document(&log, lang);
            let mut wrong = Vec::new();
            let Some(incident) = primary(&document) else { return wrong };
            let causes = incident["causes"].as_array().is_some_and(|causes| !causes.is_empty());
            let first = one_liners(incident).into_iter().next().flatten();
            let has_fix = incident["fixes"].as_array().is_some_and(|fixes| !fixes.is_empty());
            let out = shown(&log, &["--lang", lang, "--width", width, "--height", "30"]);
            let top: Vec<&str> = out.lines().take(10).collect();
            let says = |words: [&str; 3]| top.iter().any(|line| words.iter().any(|word| line.starts_with(word)));
            let case = format!("{} {lang} {width}", log.display());
            if causes && !says(["Why", "To find out: ", "Undecided"]) && !says(["原因", "如何判定：", "未定"])
            {
                wrong.push(format!("{case}: no deciding step:\n{out}"));
            }
            // What only looks at the memory changes nothing.
            let looks = incident["fixes"][0]["class"] == "diagnosis";
            let head = if looks { ["Next: ", "下一步：", "-"] } else { ["Change first: ", "首先修改：", "-"] };
            if has_fix && !says(head) {
                wrong.push(format!("{case}: no fix:\n{out}"));
            }
            if first.as_ref().is_some_and(|line| !joined(&top.concat()).contains(line)) && width != "60" {
                wrong.push(format!("{case}: not what to write:\n{out}"));
            }
            wrong
        })
        .collect();
    assert!(wrong.is_empty(), "{} of them: {}", wrong.len(), wrong.join("\n"));
}

/// The exact line to change is what somebody came for: on a narrow terminal `export…` was all that was left of it.
#[test]
fn no_line_to_write_is_cut_on_any_terminal() {
    let terminals = [("60", "24"), ("60", "45"), ("80", "24"), ("120", "60")];
    let wrong: Vec<String> = logs()
        .into_par_iter()
        .enumerate()
        .flat_map_iter(|(number, log)| {
            let document = document(&log, "en");
            let lines = primary(&document).map(one_liners).unwrap_or_default();
            let (width, height) = in_turn(&terminals, number);
            let out = shown(&log, &["--width", width, "--height", height]);
            let mut wrong = Vec::new();
            for (number, text) in fixes_shown(&out) {
                if let Some(Some(line)) = lines.get(number - 1)
                    && !text.contains(line)
                {
                    wrong.push(format!("{} {width}×{height}: {line}\n{out}", log.display()));
                }
            }
            wrong
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_pipe_gets_every_fix_and_a_taller_terminal_more() {
    let log = std::path::Path::new("fixtures/logs/pytorch/epoch-five.log");
    let all = shown(log, &[]);
    let document = document(log, "en");
    let titles: Vec<&str> = primary(&document).unwrap()["fixes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|fix| fix["title"].as_str().unwrap())
        .collect();
    assert!(titles.len() > 5, "the fixture has too few fixes for this test");
    for title in titles {
        assert!(joined(&all).contains(&joined(title)), "{title} is not in\n{all}");
    }
    let lines = |height: &str| shown(log, &["--height", height]).lines().count();
    let (small, large) = (lines("24"), lines("50"));
    assert!(small <= 24 && large <= 50 && small + 10 < large && large < all.lines().count(), "{small} {large}");
}

/// Plain blue is all but black on the black of xterm, PuTTY and Windows' console.
#[test]
fn nothing_is_dark_blue() {
    for arguments in [
        ["explain", "fixtures/logs/pytorch/epoch-five.log"],
        ["replay", "fixtures/snapshots/fragmentation-oom.pickle"],
        ["rules", "fragmentation"],
    ] {
        let coloured = outcome(oomdoc().args(arguments).args(["--color", "always"])).1;
        assert!(coloured.contains('\u{1b}'), "{arguments:?}");
        assert!(!coloured.contains("\u{1b}[34m") && !coloured.contains(";34m"), "{arguments:?}");
    }
}

/// Words that were taken out since nobody in the field says them, or since they claim too much.
#[test]
fn dead_words_stay_dead() {
    const DEAD: &[&str] = &[
        "Record what decides",
        "not handed out",
        "cures this alone",
        "every byte has an owner",
        "not known: not looked for",
        "describes another moment",
        "the line can be steeper",
        "too many pieces",
        "simulator foresaw",
        "kind unknown",
        "\"Noticed\"",
        "fits RTX",
        "is asked of the driver",
        "1 places",
        "CUDA 核在",
        "记录能定案的数据",
        "单独治好",
        "却拿不出",
        "如何证伪",
        "整块颗粒",
        "占去了",
        "没有请求能用",
    ];
    let mut found = Vec::new();
    let mut folders = vec![binary::root().join("src"), binary::root().join("docs")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let Ok(text) = std::fs::read_to_string(&path) else { continue };
            for (number, line) in text.lines().enumerate() {
                if let Some(word) = DEAD.iter().find(|word| line.contains(**word)) {
                    found.push(format!("{}:{}: {word}", path.display(), number + 1));
                }
            }
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[cfg(target_os = "linux")]
mod paste {
    use crate::run::Terminal;
    use rustix::termios::{LocalModes, tcgetattr};

    const EXPLAIN: [&str; 6] = [env!("CARGO_BIN_EXE_oomdoc"), "explain", "--lang", "en", "--color", "never"];
    const MESSAGE: &str = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 3.10 GiB. GPU 0 has a total \
                           capacity of 47.53 GiB of which 2.44 GiB is free.";

    /// A terminal hands out no more than 4,095 bytes of a line, and the rest was lost: "No failure found" with the error
    /// on the screen.
    #[test]
    fn a_line_longer_than_a_terminal_takes_is_read_whole_and_one_ctrl_d_ends_it() {
        let Some(terminal) = Terminal::start(&EXPLAIN) else { return };
        terminal.sees("Paste the log");
        // Without a line feed at the end.
        terminal.types(&format!("{}{MESSAGE}", "x ".repeat(4000)));
        terminal.types("\x04");
        terminal.sees("-v shows everything");
        let canonical = tcgetattr(&terminal.slave).unwrap().local_modes.contains(LocalModes::ICANON);
        let (text, code) = terminal.end();
        assert_eq!(code, 0, "{text}");
        assert!(text.contains("\nGPU 0 ran out of memory"), "the report begins a line of its own: {text}");
        assert!(canonical, "the terminal is given back as it was");
    }

    #[test]
    fn ctrl_c_gives_the_terminal_back() {
        let Some(terminal) = Terminal::start(&EXPLAIN) else { return };
        terminal.sees("Paste the log");
        terminal.types("half a me");
        terminal.types("\x03");
        let canonical = || tcgetattr(&terminal.slave).unwrap().local_modes.contains(LocalModes::ICANON);
        let started = std::time::Instant::now();
        while !canonical() && started.elapsed().as_secs() < 20 {
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        assert!(canonical());
        assert_eq!(terminal.end().1, 130);
    }
}

/// What the program says is told whole or left out: only text of the log is cut.
#[test]
fn no_statement_is_cut_on_any_terminal() {
    let cases: Vec<(&str, &str, Option<&str>)> = ["60", "80", "120"]
        .into_iter()
        .flat_map(|width| ["en", "zh"].map(|lang| (width, lang)))
        .flat_map(|(width, lang)| [None, Some("24"), Some("40")].map(|height| (width, lang, height)))
        .collect();
    let wrong: Vec<String> = logs()
        .into_par_iter()
        .enumerate()
        .flat_map_iter(|(number, log)| {
            let (width, lang, height) = in_turn(&cases, number);
            let mut more = vec!["--lang", lang, "--width", width];
            more.extend(height.iter().flat_map(|height| ["--height", height]));
            let out = shown(&log, &more);
            let told = joined(&binary::json_of(&log, lang));
            // A message goes on over lines that a note marks, each, as its own.
            let text = String::from_utf8_lossy(&std::fs::read(&log).unwrap()).into_owned();
            let printed: String = text.lines().map(|line| joined(line.trim_start_matches("# "))).collect();
            // Of ranks that print at once, a message is put together, too.
            let printed = printed + &joined(&messages(&document(&log, lang)).concat());
            // The place in the program is put together from the log's words.
            let place = |line: &str| line.starts_with("at ") || line.starts_with("位于 ");
            let ends = out.lines().map(str::trim_end).filter(|line| line.ends_with('…') && !place(line));
            let tail = |text: &str| {
                let tight = joined(text);
                let from = tight.char_indices().rev().nth(7).map_or(0, |(at, _)| at);
                tight[from..].to_string()
            };
            ends.filter(|line| !told.contains(&tail(line)) && !printed.contains(&tail(line.trim_end_matches('…'))))
                .map(|line| format!("{} {width} {lang} {height:?}: {line}", log.display()))
                .collect::<Vec<_>>()
        })
        .collect();
    assert!(wrong.is_empty(), "{}: {}", wrong.len(), wrong.join("\n"));
}

/// Each rank stands in the table with its own failure; what is no other message of the first is not counted as one.
#[test]
fn another_ranks_own_failure_is_no_message_of_the_first() {
    let log = std::path::Path::new("fixtures/logs/context/ranks.log");
    let out = shown(log, &[]);
    assert!(out.contains("ranks failed, rank 2 first") && !out.contains("belongs to this failure"), "{out}");
    let document = document(log, "en");
    assert!(primary(&document).is_some_and(|incident| incident["ranks"].as_array().is_some_and(|all| all.len() == 2)));
}
