//! The README shows what the program prints.

use crate::binary;

use binary::process;

/// The fenced block that follows `marker` in the file.
fn block_after<'a>(text: &'a str, marker: &str) -> &'a str {
    let from = text.find(marker).unwrap_or_else(|| panic!("no {marker} in the README"));
    let block = text[from..].split("```text\n").nth(1).expect("a text block after the marker");
    block.split("```").next().expect("an end of the block")
}

/// The log of the first example.
const LOG: &[&str] = &["fixtures/logs/pytorch/epoch-five.log"];
/// The log and the snapshot of the second.
const WITH_SNAPSHOT: &[&str] =
    &["fixtures/logs/pytorch/snapshot-fragmentation.log", "--snapshot", "fixtures/snapshots/fragmentation-oom.pickle"];

fn shown_output_is_current(readme: &str, lang: &str, marker: &str, arguments: &[&str]) {
    let path = format!("{}/{readme}", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).expect("the README is there");
    let shown = block_after(&text, marker).to_string();
    let done = process()
        .args(["explain", "--color", "never", "--width", "80", "--height", "30", "--lang", lang])
        .args(arguments)
        .output()
        .expect("the binary runs");
    assert_eq!(done.status.code(), Some(0));
    let printed = String::from_utf8(done.stdout).expect("UTF-8");
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(&path, text.replacen(&format!("```text\n{shown}```"), &format!("```text\n{printed}```"), 1))
            .expect("the README can be written");
        return;
    }
    assert_eq!(
        shown, printed,
        "{readme} shows other output than the program prints; UPDATE=1 cargo test --test it readme::"
    );
}

#[test]
fn the_english_readme_shows_the_real_output() {
    shown_output_is_current("README.md", "en", "<!-- output of the command above", LOG);
    shown_output_is_current("README.md", "en", "<!-- output with the snapshot", WITH_SNAPSHOT);
}

#[test]
fn the_chinese_readme_shows_the_real_output() {
    shown_output_is_current("README.zh-CN.md", "zh", "<!-- output of the command above", LOG);
    shown_output_is_current("README.zh-CN.md", "zh", "<!-- output with the snapshot", WITH_SNAPSHOT);
}
