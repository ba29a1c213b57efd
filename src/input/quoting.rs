//! Quote and comment marks in front of the lines of a message that someone pasted into a mail, an issue or a script.

use super::Line;
use super::scan::Literals;

/// Removes the marks from runs of quoted lines. Returns whether there were any.
///
/// `>` is taken off any run of two lines; marks that also stand in front of real comments, headings, lists and tables
/// only where the run carries a failure's text. `#SBATCH`, `#!/bin/sh` and `>>> ` prompts are no quoting.
pub(super) fn strip(lines: &mut [Line], literals: &Literals) -> bool {
    let mut any = false;
    let mut start = 0;
    while start < lines.len() {
        let Some((mark, _)) = mark_of(&lines[start].text) else {
            start += 1;
            continue;
        };
        let length =
            lines[start..].iter().take_while(|line| mark_of(&line.text).is_some_and(|(m, _)| m == mark)).count();
        let run = &mut lines[start..start + length];
        if (mark == '>' && length >= 2) || run.iter().any(|line| belongs_to_a_failure(&line.text, literals)) {
            any = true;
            for line in run {
                if let Some((_, content)) = mark_of(&line.text) {
                    line.text.drain(..content);
                }
            }
        }
        start += length;
    }
    any
}

fn belongs_to_a_failure(text: &str, literals: &Literals) -> bool {
    // A wrapped message can have its trigger broken across two lines.
    ["GiB", "MiB", "Traceback (most recent call last)"].iter().any(|sign| text.contains(sign))
        || literals.any(text.as_bytes())
}

/// The mark that a line begins with, and where its content begins.
fn mark_of(text: &str) -> Option<(char, usize)> {
    let trimmed = text.trim_start_matches([' ', '\t']);
    let indent = text.len() - trimmed.len();
    let mark = trimmed.chars().next()?;
    let width = match mark {
        '>' if trimmed.starts_with(">>>") => return None,
        '>' => trimmed.find(|c| c != '>' && c != ' ').unwrap_or(trimmed.len()),
        '#' => trimmed.find(|c| c != '#').unwrap_or(trimmed.len()),
        '/' if trimmed.starts_with("//") => 2,
        '|' if trimmed.len() == 1 || !trimmed.trim_end().ends_with(['|', '+']) => 1,
        '*' => 1,
        _ => return None,
    };
    let content = &trimmed[width..];
    if mark == '>' {
        // Keep the indentation of quoted code: one blank belongs to the mark.
        let marks = trimmed[..width].trim_end().len();
        let blank = usize::from(trimmed[marks..].starts_with(' '));
        return Some((mark, indent + marks + blank));
    }
    match content.chars().next() {
        None => Some((mark, text.len())),
        Some(' ') => Some((mark, indent + width + 1)),
        Some(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stripped(text: &str) -> (String, bool) {
        let mut lines: Vec<Line> =
            text.split('\n').map(|text| Line { number: 1, text: text.to_string(), rank: None }).collect();
        let any = strip(&mut lines, &Literals::new(["out of memory"]));
        (lines.into_iter().map(|line| line.text).collect::<Vec<_>>().join("\n"), any)
    }

    #[test]
    fn quoted_failures_lose_their_marks_and_keep_their_indentation() {
        for mark in ["> ", "# ", "// ", "| ", "* ", "> > ", "  # "] {
            let plain = "Traceback (most recent call last):\n  File \"a.py\"\nRuntimeError: CUDA out of memory.";
            let quoted: Vec<String> = plain.split('\n').map(|line| format!("{mark}{line}")).collect();
            assert_eq!(stripped(&quoted.join("\n")), (plain.to_string(), true), "{mark}");
        }
    }

    #[test]
    fn what_is_no_quoting_stays() {
        for text in [
            "#!/bin/bash\n#SBATCH --mem=64G\n#SBATCH --gres=gpu:2",
            "# batch size\n# epochs",
            ">>> model.to('cuda') # out of memory\n>>> 1",
            "|  0   N/A  1234  C  python  4321MiB |\n| x 1MiB |",
            "* item\n* other",
        ] {
            assert_eq!(stripped(text), (text.to_string(), false));
        }
    }
}
