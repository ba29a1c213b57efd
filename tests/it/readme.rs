//! Both READMEs come from one source, `docs/README.src.md`, and show what the program prints.
//! `UPDATE=1 cargo test --test it readme::` writes them, and the pictures.
//!
//! In the source `<!-- en -->` and `<!-- zh -->` begin what stands in one language alone, `<!-- all -->` ends it, and a line
//! `{{explain …}}` stands for what that command prints on a terminal of 80 columns and 30 lines. `{patterns}` is the number
//! of literals that a log is searched for.

use crate::binary;

use binary::{process, root};
use std::fmt::Write;
use unicode_width::UnicodeWidthChar;

const SOURCE: &str = "docs/README.src.md";
const LANGUAGES: [(&str, &str, &str); 2] =
    [("en", "README.md", "docs/explain.svg"), ("zh", "README.zh-CN.md", "docs/explain.zh.svg")];
/// What the picture shows.
const PICTURE: &str = "explain fixtures/logs/pytorch/epoch-five.log";

fn printed(command: &str, lang: &str, color: &str) -> String {
    let words: Vec<&str> = command.split_whitespace().collect();
    let done = process()
        .args(words)
        .args(["--color", color, "--width", "80", "--height", "30", "--lang", lang])
        .output()
        .expect("the binary runs");
    assert_eq!(done.status.code(), Some(0), "{command}");
    String::from_utf8(done.stdout).expect("UTF-8")
}

fn page(lang: &str) -> String {
    let source = std::fs::read_to_string(root().join(SOURCE)).expect("the source is there");
    let mut out = String::from("<!-- Generated from docs/README.src.md: UPDATE=1 cargo test --test it readme:: -->\n");
    let patterns = oomdoc::dialect::literals().len().to_string();
    let mut wanted = true;
    for line in source.lines() {
        match line {
            "<!-- all -->" => wanted = true,
            "<!-- en -->" | "<!-- zh -->" => wanted = line.contains(lang),
            _ if !wanted => {}
            _ => match line.strip_prefix("{{").and_then(|rest| rest.strip_suffix("}}")) {
                Some(command) => out += &printed(command, lang, "never"),
                None if line.is_empty() && out.ends_with("\n\n") => {}
                None => out += &format!("{}\n", line.replace("{patterns}", &patterns)),
            },
        }
    }
    format!("{}\n", out.trim_end())
}

/// The colours of the terminal in the picture, by the codes that choose them.
fn colour(code: &str) -> Option<&'static str> {
    Some(match code {
        "31" => "#f47067",
        "32" => "#57ab5a",
        "33" => "#c69026",
        "35" => "#dcbdfb",
        "36" => "#39c5cf",
        "94" => "#6cb6ff",
        _ => return None,
    })
}

/// A terminal with the output, coloured, as a picture. Each stretch has its place and its width, whatever the font.
fn picture(output: &str) -> String {
    const CELL: f64 = 8.4;
    const LINE: f64 = 19.0;
    let mut body = String::new();
    let mut height = 0.0;
    for (row, line) in output.lines().enumerate() {
        height = 30.0 + LINE * (row + 1) as f64;
        let (mut column, mut fill, mut bold, mut faint) = (0usize, "#cdd9e5", false, false);
        for (i, piece) in line.split('\u{1b}').enumerate() {
            let text = match piece.strip_prefix('[').and_then(|rest| rest.split_once('m')).filter(|_| i > 0) {
                None => piece,
                Some((codes, text)) => {
                    for code in codes.split(';') {
                        match code {
                            "" | "0" => (fill, bold, faint) = ("#cdd9e5", false, false),
                            "1" => bold = true,
                            "2" => faint = true,
                            code => fill = colour(code).unwrap_or(fill),
                        }
                    }
                    text
                }
            };
            let cells: usize = text.chars().filter_map(UnicodeWidthChar::width).sum();
            let shown = text.trim();
            if !shown.is_empty() {
                let before = text.len() - text.trim_start().len();
                let wide: usize = shown.chars().filter_map(UnicodeWidthChar::width).sum();
                let escaped = shown.replace('&', "&amp;").replace('<', "&lt;");
                let style = match (bold, faint) {
                    (true, _) => " font-weight=\"bold\"",
                    (false, true) => " opacity=\"0.65\"",
                    (false, false) => "",
                };
                let (x, y) = (16.0 + CELL * (column + before) as f64, 28.0 + LINE * row as f64);
                writeln!(
                    body,
                    "<text x=\"{x:.1}\" y=\"{y:.1}\" textLength=\"{:.1}\" lengthAdjust=\"spacingAndGlyphs\" \
                     fill=\"{fill}\"{style}>{escaped}</text>",
                    CELL * wide as f64
                )
                .expect("a string takes all");
            }
            column += cells;
        }
    }
    let width = 32.0 + CELL * 80.0;
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" width=\"{width:.0}\" \
         font-family=\"ui-monospace, SFMono-Regular, Menlo, Consolas, DejaVu Sans Mono, monospace\" font-size=\"14\">\n\
         <rect width=\"100%\" height=\"100%\" rx=\"8\" fill=\"#1c2128\"/>\n{body}</svg>\n"
    )
}

#[test]
fn both_readmes_and_their_pictures_come_from_the_source() {
    for (lang, readme, svg) in LANGUAGES {
        for (name, text) in [(readme, page(lang)), (svg, picture(&printed(PICTURE, lang, "always")))] {
            let path = root().join(name);
            if std::env::var_os("UPDATE").is_some() {
                std::fs::write(&path, text).expect("it can be written");
                continue;
            }
            let there = std::fs::read_to_string(&path).unwrap_or_default();
            assert!(
                there == text,
                "{name} is not what {SOURCE} and the program make; UPDATE=1 cargo test --test it readme::"
            );
        }
    }
}

/// The first page of the book (`docs/book.toml`): its links lead to other pages of the book, and those that would lead
/// out of it are none.
fn first_page() -> String {
    let link = regex::Regex::new(r"\[([^\]]+)\]\(([^)#:]+)\)").expect("a pattern");
    let page = page("en");
    let linked = link.replace_all(&page, |found: &regex::Captures<'_>| match found[2].strip_prefix("docs/") {
        Some(page) => format!("[{}]({page})", &found[1]),
        None => found[1].to_string(),
    });
    linked.into_owned()
}

#[test]
fn the_book_begins_with_the_readme_and_has_every_page() {
    let path = root().join("docs/introduction.md");
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(&path, first_page()).expect("it can be written");
    }
    assert!(
        std::fs::read_to_string(&path).unwrap_or_default() == first_page(),
        "docs/introduction.md is stale; UPDATE=1 cargo test --test it readme::"
    );
    let summary = std::fs::read_to_string(root().join("docs/SUMMARY.md")).expect("the book has a summary");
    for entry in std::fs::read_dir(root().join("docs")).expect("docs").flatten() {
        let name = entry.file_name().into_string().expect("UTF-8");
        let is_page = name.ends_with(".md") && !["SUMMARY.md", "README.src.md"].contains(&name.as_str());
        assert!(!is_page || summary.contains(&format!("({name})")), "{name} is in no chapter of docs/SUMMARY.md");
    }
    for target in summary.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
        assert!(root().join("docs").join(target).is_file(), "{target} of docs/SUMMARY.md is gone");
    }
}

/// What one language is told and the other is not was how the two drifted apart.
#[test]
fn both_languages_have_the_same_headings() {
    let headings = |lang: &str| page(lang).lines().filter(|line| line.starts_with("## ")).count();
    assert!(headings("en") > 8);
    assert_eq!(headings("en"), headings("zh"));
}
