//! Tracebacks in a box, as rich prints them for Typer, Lightning, Accelerate and many web UIs: put into Python's own
//! form, so that one reader reads both.
//!
//! rich/traceback.py: a frame is `path:line in function`, broken where the box ends; below it stands its code,
//! numbered, with `❱` before the line that ran.

use crate::input::Line;

/// A frame's head may be broken over so many lines of the box.
const PIECES: usize = 3;

/// The lines of a traceback in which each boxed one has Python's form; `None` where nothing is boxed.
pub(super) fn plain(lines: &[&Line]) -> Option<Vec<Line>> {
    lines.iter().any(|line| pointed(&line.text).is_some()).then_some(())?;
    let mut plain = Vec::with_capacity(lines.len());
    let mut at = 0;
    while let Some(line) = lines.get(at) {
        let with = |text: String| Line { text, ..(*line).clone() };
        at += 1;
        let Some(inner) = inside(&line.text) else {
            let edge = line.text.trim_start().starts_with(['╭', '╰', '┌', '└']);
            let heads = line.text.contains("Traceback (most recent call last)");
            plain.push(with(if edge && !heads { String::new() } else { line.text.clone() }));
            continue;
        };
        if let Some((number, code)) = pointed(&line.text) {
            plain.push(with(format!("--> {number} {code}")));
            continue;
        }
        let mut head = inner.to_string();
        let mut frame = frame(&head);
        let mut pieces = 1;
        while frame.is_none() && pieces < PIECES && is_path(inner) {
            let Some(next) = lines.get(at + pieces - 1).and_then(|line| inside(&line.text)) else { break };
            // Words are kept whole, a path is broken anywhere.
            if next.starts_with("in ") {
                head.push(' ');
            }
            head.push_str(next);
            frame = self::frame(&head);
            pieces += 1;
        }
        match frame {
            Some((file, number, function)) => {
                plain.push(with(format!("  File \"{file}\", line {number}, in {function}")));
                at += pieces - 1;
            }
            None => plain.push(with(String::new())),
        }
    }
    Some(plain)
}

/// What stands between the sides of the box.
fn inside(text: &str) -> Option<&str> {
    let inner = text.trim().strip_prefix(['│', '┃'])?;
    Some(inner.strip_suffix(['│', '┃']).unwrap_or(inner).trim())
}

/// `❱ 268 │   │   loss.backward()`: number and code of the line that ran.
fn pointed(text: &str) -> Option<(u64, &str)> {
    let after = inside(text)?.strip_prefix('❱')?.trim_start();
    let digits = after.bytes().take_while(u8::is_ascii_digit).count();
    let number = after.get(..digits)?.parse().ok()?;
    Some((number, after.get(digits..)?.trim_start_matches([' ', '│', '┃']).trim_end()))
}

fn is_path(text: &str) -> bool {
    text.starts_with(['/', '~', '<']) || text.get(1..3).is_some_and(|drive| drive == ":\\" || drive == ":/")
}

/// `/opt/x/trainer.py:2348 in _save_checkpoint`, also `… in forward:31` of the oldest rich.
fn frame(head: &str) -> Option<(&str, u64, &str)> {
    let (place, function) = head.rsplit_once(" in ")?;
    let (file, number) = place.rsplit_once(':')?;
    let function = function.trim();
    let named = !function.is_empty() && !function.contains(' ');
    Some((file, number.parse().ok()?, function)).filter(|_| named && is_path(file))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<Line> {
        let numbered = text.lines().zip(1..);
        numbered.map(|(text, number)| Line { number, text: text.to_string(), rank: None }).collect()
    }

    fn plainly(text: &str) -> Option<Vec<String>> {
        let lines = lines(text);
        let all: Vec<&Line> = lines.iter().collect();
        plain(&all).map(|lines| lines.into_iter().map(|line| line.text).filter(|text| !text.is_empty()).collect())
    }

    #[test]
    fn a_box_has_frames_and_code() {
        let boxed = "\
50%|██ | 1/2╭──────────── Traceback (most recent call last) ────────────╮
│ /srv/tune.py:283 in <module>                                  │
│                                                               │
│   282 │                                                       │
│ ❱ 283 │   trainer.train(resume=True)                          │
│                                                               │
│ /home/v/lib/python3.10/site-packages/transformers/trainer.py: │
│ 2348 in _save_checkpoint                                      │
│                                                               │
│ ❱ 2348 │   │   self.save_model(out)                           │
│ /home/v/lib/python3.8/site-packages/torch/utils/dat           │
│ aloader.py:1024                                               │
│ in _try_get_data                                              │
│ ❱ 1024 │   raise RuntimeError(                                │
╰───────────────────────────────────────────────────────────────╯
RuntimeError: CUDA out of memory.";
        let expected = [
            "50%|██ | 1/2╭──────────── Traceback (most recent call last) ────────────╮",
            "  File \"/srv/tune.py\", line 283, in <module>",
            "--> 283 trainer.train(resume=True)",
            "  File \"/home/v/lib/python3.10/site-packages/transformers/trainer.py\", line 2348, in _save_checkpoint",
            "--> 2348 self.save_model(out)",
            "  File \"/home/v/lib/python3.8/site-packages/torch/utils/dataloader.py\", line 1024, in _try_get_data",
            "--> 1024 raise RuntimeError(",
            "RuntimeError: CUDA out of memory.",
        ];
        assert_eq!(plainly(boxed).unwrap(), expected);
    }

    #[test]
    fn a_table_is_no_traceback() {
        assert_eq!(plainly("│ 0  Tesla T4 │ 12 W │\n│ batch │ 32 │\nRuntimeError: CUDA out of memory."), None);
    }
}
