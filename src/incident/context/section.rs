//! Statements about the run that failed against advice on how to do better.
//!
//! A program's log states what was. A write-up also says what one should change, with the same words and other numbers:
//! a value from a recommendation must not be taken for the value that failed.

/// Keeps track of whether the lines read are statements or advice.
#[derive(Debug, Default)]
pub(super) struct Sections {
    /// A heading announced solutions: what follows, to the end of the text, is advice unless it says otherwise.
    solutions: bool,
    /// Inside a fenced block of code.
    fence: bool,
    /// A line announced a list or block of advice, or of how it was; it holds to the next blank line or fence.
    block: Option<bool>,
    headings: usize,
}

const ADVICE: &[&str] = &[
    "✅",
    "建议",
    "推荐",
    "优化后",
    "解决",
    "方案",
    "修改",
    "修复",
    "改进",
    "recommend",
    "suggest",
    "solution",
    "workaround",
    "try ",
    "consider ",
    "instead",
    "should ",
    "rerun",
    "may help",
    "may give",
    "might help",
    "reduce ",
    "reducing ",
    "lower ",
    "decrease ",
    "decreasing ",
];

const STATED: &[&str] = &[
    "❌",
    "当前**",
    "当前:",
    "当前：",
    "当前配置",
    "原来",
    "原始",
    "问题代码",
    "currently",
    "current:",
    "before:",
    "was using",
    "i use",
    "i am using",
    "we use",
];

impl Sections {
    /// True for a write-up, which has headings and tells things in the order of an argument rather than of time.
    pub(super) fn is_write_up(&self) -> bool {
        self.headings >= 3
    }

    /// Takes the next line; true when what it says is advice. `touched` tells whether the line holds any word of
    /// interest.
    pub(super) fn advises(&mut self, text: &str, touched: bool) -> bool {
        if text.trim().is_empty() {
            if !self.fence {
                self.block = None;
            }
            return false;
        }
        if !touched {
            return self.block.unwrap_or(self.solutions);
        }
        // `UserWarning: volatile was removed … Use `torch.no_grad()` instead.`: it tells what the program does.
        if text.contains("volatile was removed") {
            return false;
        }
        let trimmed = text.trim_start();
        if trimmed.starts_with("```") {
            self.fence = !self.fence;
            self.block = self.block.filter(|_| self.fence);
            return true;
        }
        let lower = text.to_lowercase();
        let advice = first_of(&lower, ADVICE);
        let stated = first_of(&lower, STATED);
        let hashes = trimmed.bytes().take_while(|b| *b == b'#').count();
        let typed = hashes == 1 && trimmed.get(2..).is_some_and(typed_by_root);
        let heading =
            !self.fence && !typed && (1..=6).contains(&hashes) && trimmed.as_bytes().get(hashes) == Some(&b' ');
        if heading {
            self.headings += 1;
            let title = lower.trim_start_matches(['#', ' ']);
            let short = title.split_whitespace().count() <= 3;
            let fixes =
                short && (title.starts_with("fix") || title.starts_with("how to fix") || title.starts_with("after"));
            // A single `#` is a comment in logs and scripts as often as a heading.
            if fixes || advice.is_some() && (hashes > 1 || short || !title.is_ascii()) {
                self.solutions = true;
            }
            self.block = None;
            return true;
        }
        let line = match (advice, stated) {
            (Some(a), Some(s)) => Some(a < s),
            (Some(_), None) => Some(true),
            (None, Some(_)) => Some(false),
            (None, None) => None,
        };
        let announces = trimmed.ends_with([':', '：']) || self.fence && trimmed.starts_with('#');
        if announces && line.is_some() {
            self.block = line;
        }
        line.or(self.block).unwrap_or(self.solutions)
    }
}

/// True for what stands behind root's prompt, `# ulimit -v 4194304`, which looks like a heading.
fn typed_by_root(text: &str) -> bool {
    const COMMANDS: &[&str] = &[
        "ulimit",
        "docker",
        "podman",
        "kubectl",
        "systemctl",
        "systemd-run",
        "journalctl",
        "dmesg",
        "nvidia-smi",
        "rocm-smi",
        "free",
        "df",
        "sysctl",
        "mount",
        "python",
        "python3",
        "torchrun",
        "sbatch",
        "srun",
    ];
    let mut words = text.split_whitespace();
    let command = words.next().unwrap_or_default();
    let argument = words.next().is_none_or(|word| word.starts_with(['-', '/', '.']) || word.contains(['.', '=']));
    let subcommand = ["docker", "podman", "kubectl", "systemctl", "systemd-run"].contains(&command);
    command.starts_with(['/', '.']) || COMMANDS.contains(&command) && (argument || subcommand)
}

/// Where the first of the words starts that is not the tail of another one.
fn first_of(text: &str, words: &[&str]) -> Option<usize> {
    words
        .iter()
        .filter_map(|word| {
            let at = text.find(word)?;
            let inside = at > 0 && text.as_bytes()[at - 1].is_ascii_alphanumeric() && word.is_ascii();
            (!inside).then_some(at)
        })
        .min()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn advised(text: &str) -> Vec<bool> {
        let mut sections = Sections::default();
        text.lines().map(|line| sections.advises(line, true)).collect()
    }

    #[test]
    fn a_solutions_heading_holds_to_the_end_but_for_what_is_said_to_be_current() {
        let text = "batch=8 fails\n## ✅ 解决方案\nbatch=4\n## 配置\nworkers: 2\n当前: batch=8";
        assert_eq!(advised(text), [false, true, true, true, true, false]);
    }

    #[test]
    fn a_log_line_that_recommends_says_nothing_about_the_next() {
        assert_eq!(advised("it is recommended to set num_workers=8\nbatch_size: 4"), [true, false]);
    }

    #[test]
    fn a_list_of_suggestions_ends_at_a_blank_line() {
        assert_eq!(advised("Possible solutions:\n1. set batch=4\n\nbatch_size: 8"), [true, true, false, false]);
    }

    #[test]
    fn code_marked_as_the_old_one_is_stated() {
        let text =
            "```python\n# ❌ 原来的配置\nnum_workers=4\n```\n## ✅ 优化\n```python\n# ✅ 优化后\nnum_workers=2\n```";
        assert!(!advised(text)[2]);
        assert!(advised(text)[7]);
    }
}
