//! The message shapes: facts about what programs print when memory runs out, read from `tests/messages/*/*.toml`.
//!
//! One file per program: `program`, `names` (what the program may be called; the first is best), `kind`, `markers` (how
//! it shows in a log), `meanings` (figures that mean something else than one would think), and for every wording a
//! `[[shape]]`:
//!
//! | key | meaning |
//! | --- | --- |
//! | `resource`, `outcome` | what ran out; `failure`, `survived` (the program goes on) or `harmless` |
//! | `versions`, `source` | which versions print it; `repo`, `file`, `at`; `seen` is false for general knowledge |
//! | `text`, `follows` | the message and what comes after it; `{name}` stands for a figure declared below, any other brace is text |
//! | `[shape.figures]` | `range` in bytes printed in `unit` with `decimals`, or a `count`, a `choice`, `hex` digits |
//! | `fact` | the key of the contract that the figure belongs under; none or `""`: printed, but nothing is asked of it |
//! | `group`, `width`, `step`, `rounding = "down"` | thousands separator, right-justified, multiples only, decimals cut off |
//! | `[shape.where]` | `le` pairs in order, `same` one quantity printed twice, `sum` the last is the sum of the others |
//! | `names`, `note` | a shape whose failing program is another than the file's; a remark |

#![allow(dead_code, reason = "each test file uses a part of it")]

use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// What a message means for the job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    Failure,
    Survived,
    Harmless,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Source {
    pub repo: String,
    pub file: String,
    pub at: String,
    pub seen: bool,
}

/// A number, name or word that changes from one message to the next.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FigureShape {
    #[serde(default)]
    pub fact: String,
    range: Option<[u64; 2]>,
    #[serde(default = "one")]
    pub unit: u64,
    #[serde(default)]
    pub decimals: usize,
    count: Option<[u64; 2]>,
    choice: Option<Vec<String>>,
    hex: Option<usize>,
    group: Option<char>,
    #[serde(default)]
    width: usize,
    #[serde(default = "one")]
    step: u64,
    rounding: Option<String>,
}

fn one() -> u64 {
    1
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Where {
    #[serde(default)]
    le: Vec<[String; 2]>,
    #[serde(default)]
    same: Vec<[String; 2]>,
    #[serde(default)]
    sum: Vec<Vec<String>>,
}

/// One wording of one program.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Shape {
    pub id: String,
    pub resource: String,
    pub outcome: Outcome,
    pub versions: String,
    pub source: Source,
    pub text: String,
    pub follows: String,
    #[serde(default)]
    pub figures: BTreeMap<String, FigureShape>,
    #[serde(default, rename = "where")]
    relations: Where,
    #[serde(default)]
    pub names: Vec<String>,
    #[serde(default)]
    note: String,
}

/// All wordings of one program.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Program {
    pub program: String,
    pub names: Vec<String>,
    pub kind: String,
    /// How the program shows in a log.
    #[serde(default)]
    pub markers: String,
    /// Figures that mean something else than one would think.
    #[serde(default)]
    pub meanings: Vec<String>,
    #[serde(rename = "shape")]
    pub shapes: Vec<Shape>,
    /// The folder: one of [`PARTS`].
    #[serde(skip)]
    pub part: &'static str,
}

/// The folders of `tests/messages`. What is `unlisted` has no reader and no row: it shows how any program is read.
pub const PARTS: [&str; 4] = ["gpu", "host", "unlisted", "tables"];

/// Every program, sorted by folder and name; those of the folder `OOMDOC_MESSAGES` in place of them, where it is set.
pub fn programs() -> Vec<Program> {
    std::env::var_os("OOMDOC_MESSAGES").map_or_else(|| read(&own()), |root| read(Path::new(&root)))
}

/// The sets that were kept for measuring and have been opened since, by name.
pub fn opened() -> Vec<(String, Vec<Program>)> {
    let sets = std::fs::read_dir(own().join("sets")).unwrap().map(|set| set.unwrap());
    let mut sets: Vec<_> =
        sets.map(|set| (set.file_name().to_string_lossy().into_owned(), read(&set.path()))).collect();
    sets.sort_by(|(a, _), (b, _)| a.cmp(b));
    sets
}

fn own() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/messages")
}

fn read(root: &Path) -> Vec<Program> {
    let mut programs = Vec::new();
    for part in PARTS {
        for entry in std::fs::read_dir(root.join(part)).into_iter().flatten() {
            let path = entry.unwrap().path();
            let text = std::fs::read_to_string(&path).unwrap();
            let mut program: Program =
                toml_edit::de::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            program.part = part;
            for shape in program.shapes.iter_mut().filter(|shape| shape.names.is_empty()) {
                shape.names.clone_from(&program.names);
            }
            programs.push(program);
        }
    }
    assert!(!programs.is_empty(), "no shapes in {}", root.display());
    programs.sort_by(|a, b| (a.part, &a.program).cmp(&(b.part, &b.program)));
    programs
}

/// splitmix64: small, seeded, the same on every machine.
#[derive(Debug, Clone)]
pub struct Random(u64);

impl Random {
    /// A generator of its own for every name and number.
    pub fn of(name: &str, number: u64) -> Random {
        // FNV-1a
        let hash = name
            .bytes()
            .fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
        Random(hash ^ number.wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Below `end`, which is not 0.
    pub fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }

    pub fn within(&mut self, low: u64, high: u64) -> u64 {
        low + self.next() % (high - low + 1)
    }

    pub fn of_these<'a, T: ?Sized>(&mut self, these: &[&'a T]) -> &'a T {
        these[self.below(these.len())]
    }
}

/// How a locale prints numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Locale {
    pub point: char,
    /// The separator of thousands, put into whole numbers of bytes and kilobytes.
    pub group: Option<char>,
}

/// As programs print by themselves.
pub const C: Locale = Locale { point: '.', group: None };

/// A value drawn for a figure.
#[derive(Debug, Clone)]
enum Drawn {
    Number(u64),
    Word(String),
}

/// A figure as it stands in a message.
#[derive(Debug, Clone)]
pub struct Placed {
    /// Where it stands, in bytes of the text.
    pub start: usize,
    pub end: usize,
    /// The contract's key; empty where nothing is asked.
    pub fact: String,
    /// What the printed number means.
    pub value: u64,
}

/// A message with figures.
#[derive(Debug, Clone)]
pub struct Message {
    pub text: String,
    /// Where `follows` begins.
    pub end: usize,
    pub figures: Vec<Placed>,
}

impl FigureShape {
    fn draw(&self, random: &mut Random) -> Drawn {
        if let Some(words) = &self.choice {
            return Drawn::Word(words[random.below(words.len())].clone());
        }
        if let Some(digits) = self.hex {
            let hex = (0..digits).map(|_| char::from(b"0123456789abcdef"[random.below(16)])).collect();
            return Drawn::Word(hex);
        }
        let [low, high] = self.count.or(self.range).expect("a figure has a range, a count, a choice or hex digits");
        Drawn::Number(random.within(low.div_ceil(self.step), high / self.step) * self.step)
    }

    /// True for an amount of memory, which a locale may print its own way: no identifier, clock or percentage.
    fn is_memory(&self) -> bool {
        self.range.is_some() && (!self.fact.is_empty() || [1, 1 << 10, 1 << 20, 1 << 30].contains(&self.unit))
    }

    /// The printed text and the number it says in `C`.
    fn print(&self, drawn: &Drawn, locale: Locale) -> (String, f64) {
        let value = match drawn {
            Drawn::Word(word) => return (word.clone(), f64::NAN),
            Drawn::Number(value) if self.count.is_some() => return (value.to_string(), *value as f64),
            Drawn::Number(value) => *value,
        };
        let scale = 10_u64.pow(self.decimals as u32);
        let plain = if self.rounding.as_deref() == Some("down") {
            let cut = u128::from(value) * u128::from(scale) / u128::from(self.unit);
            format!("{:.*}", self.decimals, cut as f64 / scale as f64)
        } else {
            format!("{:.*}", self.decimals, value as f64 / self.unit as f64)
        };
        let number = plain.parse().expect("a number was printed");
        let (whole, fraction) = plain.split_once('.').map_or((plain.as_str(), None), |(a, b)| (a, Some(b)));
        let locale = if self.is_memory() { locale } else { C };
        let group = self.group.or(locale.group.filter(|_| locale.point == ',' || self.decimals == 0));
        let mut text = String::new();
        for (i, digit) in whole.chars().enumerate() {
            if let Some(group) = group.filter(|_| i > 0 && (whole.len() - i) % 3 == 0) {
                text.push(group);
            }
            text.push(digit);
        }
        if let Some(fraction) = fraction {
            text.push(if self.group.is_some() { '.' } else { locale.point });
            text.push_str(fraction);
        }
        (text, number)
    }
}

impl Shape {
    /// Draws the figures and puts them into the text.
    pub fn message(&self, random: &mut Random, locale: Locale) -> Message {
        let drawn = self.draw(random);
        let mut message = Message { text: String::new(), end: 0, figures: Vec::new() };
        for (i, template) in [&self.text, &self.follows].into_iter().enumerate() {
            if i == 1 {
                message.end = message.text.len();
            }
            if !template.trim().is_empty() {
                self.fill(template, &drawn, locale, &mut message);
            }
        }
        message
    }

    /// Whether a locale changes anything in it.
    pub fn has_amounts(&self) -> bool {
        self.figures.values().any(FigureShape::is_memory)
    }

    /// The key of a figure; where one quantity is printed twice, either printing is right for the other's key.
    fn fact_of(&self, name: &str) -> String {
        let own = &self.figures[name].fact;
        let twins = self.relations.same.iter().filter_map(|[a, b]| match (a == name, b == name) {
            (true, _) => Some(b),
            (_, true) => Some(a),
            _ => None,
        });
        let twin = twins.map(|twin| &self.figures[twin].fact).find(|fact| !fact.is_empty());
        if own.is_empty() { twin.cloned().unwrap_or_default() } else { own.clone() }
    }

    fn draw(&self, random: &mut Random) -> BTreeMap<&str, Drawn> {
        for _ in 0..10_000 {
            let mut drawn: BTreeMap<&str, Drawn> =
                self.figures.iter().map(|(name, figure)| (name.as_str(), figure.draw(random))).collect();
            let number = |drawn: &BTreeMap<&str, Drawn>, name: &str| match drawn.get(name) {
                Some(Drawn::Number(value)) => *value,
                _ => panic!("{}: {name} is no number", self.id),
            };
            // Exchanging is a bubble sort: as many passes as there are relations.
            for [a, b] in self.relations.le.iter().cycle().take(self.relations.le.len().pow(2)) {
                if number(&drawn, a) > number(&drawn, b) {
                    let (x, y) = (drawn[a.as_str()].clone(), drawn[b.as_str()].clone());
                    drawn.insert(a, y);
                    drawn.insert(b, x);
                }
            }
            for sum in &self.relations.sum {
                let (total, parts) = sum.split_last().expect("a sum has parts");
                let total_value = parts.iter().map(|part| number(&drawn, part)).sum();
                drawn.insert(total, Drawn::Number(total_value));
            }
            for [a, b] in &self.relations.same {
                let value = drawn[a.as_str()].clone();
                drawn.insert(b, value);
            }
            if self.relations.le.iter().all(|[a, b]| number(&drawn, a) <= number(&drawn, b)) {
                return drawn;
            }
        }
        panic!("{}: the relations cannot be met", self.id);
    }

    fn fill(&self, template: &str, drawn: &BTreeMap<&str, Drawn>, locale: Locale, message: &mut Message) {
        let mut rest = template;
        while let Some(open) = rest.find('{') {
            message.text.push_str(&rest[..open]);
            rest = &rest[open..];
            let name = rest.find('}').map(|close| &rest[1..close]);
            let Some((name, figure)) = name.and_then(|name| self.figures.get_key_value(name)) else {
                message.text.push('{');
                rest = &rest[1..];
                continue;
            };
            rest = &rest[name.len() + 2..];
            let fact = self.fact_of(name);
            let (text, number) = figure.print(&drawn[name.as_str()], locale);
            let pad = figure.width.saturating_sub(text.chars().count());
            message.text.extend(std::iter::repeat_n(' ', pad));
            let start = message.text.len();
            message.text.push_str(&text);
            if number.is_finite() {
                let unit = if figure.range.is_some() { figure.unit } else { 1 };
                let value = (number * unit as f64).round() as u64;
                let end = message.text.len();
                message.figures.push(Placed { start, end, fact, value });
            }
        }
        message.text.push_str(rest);
    }
}
