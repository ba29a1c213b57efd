//! Figures that a person listed below a message instead of quoting it whole: `- Free: 3.84 GiB`, `PyTorch 已分配: 37.60
//! GiB`.
//!
//! Only what the message itself leaves open is filled in, only from lines of the form `label: size` that stand within
//! eighty lines and before the next message, and not from tables, examples or what was measured at another time.

use crate::dialect::{Event, Fact};
use crate::evidence::Span;
use crate::input::Document;
use crate::units::{self, Base};

/// Labels in lower case, without blanks, for each fact.
const LABELS: [(Fact, &[&str]); 7] = [
    (
        Fact::Requested,
        &["triedtoallocate", "requested", "request", "attemptedallocation", "尝试分配", "请求分配", "申请"],
    ),
    (
        Fact::Capacity,
        &[
            "totalcapacity",
            "gputotal",
            "totalgpumemory",
            "gpucapacity",
            "total",
            "capacity",
            "总容量",
            "总显存",
            "显存总量",
            "显存容量",
            "gpu总容量",
            "gpu总显存",
        ],
    ),
    (
        Fact::Free,
        &[
            "free",
            "freememory",
            "freegpumemory",
            "空闲",
            "可用",
            "实际可用",
            "剩余",
            "剩余显存",
            "空闲显存",
            "可用显存",
            "剩余可用",
        ],
    ),
    (
        Fact::Process,
        &[
            "inusebyprocess",
            "inusebythisprocess",
            "usedbyprocess",
            "usedbythisprocess",
            "processmemory",
            "thisprocess",
            "进程占用",
            "本进程占用",
            "当前进程占用",
            "进程使用",
            "进程已用",
            "本进程",
        ],
    ),
    (
        Fact::ReservedUnallocated,
        &[
            "reservedbutunallocated",
            "reservedbypytorchbutunallocated",
            "pytorchreservedbutunallocated",
            "pytorch保留但未分配",
            "保留但未分配",
            "已保留但未分配",
            "预留但未分配",
            "保留未分配",
            "pytorch预留但未分配",
        ],
    ),
    (
        Fact::Allocated,
        &[
            "allocatedbypytorch",
            "pytorchallocated",
            "pytorchallocatedmemory",
            "allocated",
            "alreadyallocated",
            "pytorch已分配",
            "已分配",
            "pytorch分配",
        ],
    ),
    (
        Fact::Reserved,
        &[
            "reservedbypytorch",
            "reservedintotalbypytorch",
            "reserved",
            "pytorchreserved",
            "pytorch已保留",
            "已保留",
            "已预留",
        ],
    ),
];

/// How far below its message a listing may stand.
const REACH: u64 = 80;

/// Words of a heading or line that tell of figures of another time, or of invented ones.
const ELSEWHERE: [&str; 16] = [
    "停止",
    "之后",
    "优化后",
    "修改后",
    "示例",
    "假设",
    "例如",
    "预期",
    "建议",
    "after",
    "After",
    "xample",
    "xpected",
    "ssum",
    "stopped",
    "before",
];

/// Fills in what the message of `event` left open.
pub fn complete(document: &Document, event: &mut Event) {
    let Some(start) = document.position(event.at.first) else { return };
    let mut elsewhere = false;
    for line in document.lines.get(start + 1..).unwrap_or_default() {
        let text = line.text.trim();
        if line.number > event.at.last.saturating_add(REACH) || line.number > event.at.last && is_next_message(text) {
            return;
        }
        let item = text.trim_start_matches(|c: char| c.is_whitespace() || "-*•·├─└│➜→>".contains(c));
        let Some((label, value)) = item.split_once([':', '：']) else {
            if !text.is_empty() {
                elsewhere = ELSEWHERE.iter().any(|word| text.contains(word));
            }
            continue;
        };
        let value = value.trim_start_matches(|c: char| c.is_whitespace() || c == '*' || c == '`').trim_start();
        let Some((number, unit)) = leading_size(value) else {
            elsewhere = ELSEWHERE.iter().any(|word| text.contains(word));
            continue;
        };
        if elsewhere || text.starts_with('|') {
            continue;
        }
        let label: String = label
            .chars()
            .filter(|c| !c.is_whitespace() && !"*`()（）".contains(*c))
            .flat_map(char::to_lowercase)
            .collect();
        let Some((fact, _)) = LABELS.iter().find(|(_, labels)| labels.contains(&label.as_str())) else { continue };
        if fact == &Fact::Reserved && event.facts.get(Fact::ReservedUnallocated).is_some() {
            continue;
        }
        if let Some(size) = units::size(number, unit, Base::Binary) {
            event.facts.note(*fact, size.at(Span::line(line.number)));
        }
    }
}

/// True for a line that belongs to another failure.
fn is_next_message(line: &str) -> bool {
    line.contains("out of memory") || line.contains("Tried to allocate")
}

/// The number and unit that `value` starts with, where a unit follows and no other word of the same breath.
fn leading_size(value: &str) -> Option<(&str, &str)> {
    let digits = value.find(|c: char| !(c.is_ascii_digit() || c == '.' || c == ',')).unwrap_or(value.len());
    let number = &value[..digits];
    let rest = value[digits..].trim_start();
    let unit = &rest[..rest.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(rest.len())];
    (number.starts_with(|c: char| c.is_ascii_digit()) && !unit.is_empty() && units::unit(unit, Base::Binary).is_some())
        .then_some((number, unit))
}
