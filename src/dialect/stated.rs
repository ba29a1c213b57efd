//! A failure that no program printed: prose that states that the machine's memory ran out, with a figure, or only the
//! user's word for it. Asked only where a text holds no message of any program, so that a remark beside a real message
//! never counts.

use super::{Event, Fact, Resource, Sign, field};
use crate::domain::Program;
use crate::evidence::Span;
use crate::input::Document;
use crate::units::{self, Base, Size};
use regex::Regex;
use std::sync::LazyLock;

/// Slug of a statement in the text.
const STATED: &str = "stated";
/// Slug of a question put by options alone.
const ASKED: &str = "asked";

/// A statement is looked for in this many lines; write-ups name the failure near their beginning.
const LINES: usize = 2000;

static SIZE: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"(?-u)([0-9]{1,5}(?:\.[0-9]{1,3})?) ?(GiB|GB|TiB|TB)\b").ok());

/// What of a line must be there, in any order, to state that the machine's memory ran out; and what makes it a hope, a
/// warning or a matter of the GPU instead.
struct Grammar {
    failure: &'static [&'static str],
    memory: &'static [&'static str],
    happened: &'static [&'static str],
    otherwise: &'static [&'static str],
}

const CHINESE: Grammar = Grammar {
    failure: &["oom", "内存不足", "内存耗尽", "内存溢出"],
    memory: &["系统内存", "物理内存", "主机内存", "机器内存", "cpu内存", "cpu 内存"],
    happened: &["导致", "触发", "发生", "出现", "报错", "被杀", "崩溃"],
    otherwise: &["显存", "gpu", "cuda", "避免", "防止", "如果", "可能", "不会", "没有", "未发生"],
};

const ENGLISH: Grammar = Grammar {
    failure: &["oom", "out of memory", "ran out of ram", "out-of-memory"],
    memory: &["system memory", "system ram", "host memory", "host ram", "physical memory", "cpu memory", "main memory"],
    happened: &[
        "killed",
        "crashed",
        "crashes",
        "ran out",
        "led to",
        "leads to",
        "causing",
        "caused",
        "resulting in",
        "died",
    ],
    otherwise: &[
        "gpu", "cuda", "vram", "avoid", "prevent", "if ", "may ", "might", "could", "would", "never", "without", " no ",
    ],
};

impl Grammar {
    fn states(&self, line: &str) -> bool {
        let any = |words: &[&str]| words.iter().any(|word| line.contains(word));
        any(self.failure) && any(self.memory) && any(self.happened) && !any(self.otherwise)
    }
}

/// The first line that states the failure together with a size of memory.
pub fn read(document: &Document) -> Option<Event> {
    let (position, size) = (0..document.lines.len().min(LINES)).find_map(|position| {
        let line = field::text(document, position);
        if line.len() > 2000
            || !(line.contains("OOM") || line.contains("emory") || line.contains("RAM") || line.contains("内存"))
        {
            return None;
        }
        let lower = line.to_ascii_lowercase();
        let size =
            largest_size(line).filter(|_| CHINESE.states(&lower) || ENGLISH.states(&field::without_month(&lower)))?;
        Some((position, size))
    })?;
    let mut event = field::event(document, position, STATED, program(document), Resource::Host);
    event.sign(Sign::Stated);
    event.facts.note(Fact::Capacity, size.at(Span::line(field::number(document, position))));
    Some(event)
}

/// The failure that the user's options describe, where the text has no message at all.
pub fn asked(document: &Document) -> Event {
    let mut event = Event::new(ASKED, program(document), Resource::Host, Span::line(1));
    event.sign(Sign::Asked);
    event.sign(Sign::NoFigures);
    event
}

fn largest_size(line: &str) -> Option<Size> {
    let sizes = SIZE
        .as_ref()?
        .captures_iter(line)
        .filter_map(|found| units::size(found.get(1)?.as_str(), found.get(2)?.as_str(), Base::Binary));
    sizes.max_by_key(|size| size.bytes)
}

/// The program that the text is about.
fn program(document: &Document) -> Program {
    let mentions = |word: &str| document.lines.iter().take(LINES).any(|line| line.text.contains(word));
    if mentions("torch") || mentions("DataLoader") || mentions("num_workers") {
        Program::Pytorch
    } else if mentions("tensorflow") || mentions("keras") {
        Program::Tensorflow
    } else {
        Program::Python
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stated(text: &str) -> Option<u64> {
        let event = read(&Document::from_text("-", text))?;
        event.facts.get(Fact::Capacity).map(|figure| figure.bytes >> 30)
    }

    #[test]
    fn a_failure_told_in_prose_with_its_figure() {
        assert_eq!(stated("# notes\n训练两小时后系统内存涨满128GB，触发OOM，进程退出\n"), Some(128));
        assert_eq!(stated("After an hour the host memory (64 GB) was full and the job was killed by OOM"), Some(64));
    }

    #[test]
    fn hopes_warnings_and_gpus_are_none() {
        for text in [
            "限制缓存以避免系统内存超过128GB导致OOM",
            "GPU显存24GB，触发OOM，系统内存128GB",
            "如果系统内存达到128GB可能导致OOM",
            "To prevent an OOM of system memory we bought 64 GB, which led to fewer crashes",
            "system memory: 64 GB, OOM score 0",
            "the job was killed by OOM in system memory",
        ] {
            assert_eq!(stated(text), None, "{text}");
        }
    }
}
