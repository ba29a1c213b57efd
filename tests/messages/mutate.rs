//! What happens to a message between the program and the paste.

use super::shapes::{C, Locale, Message, Placed, Random, Shape};

/// A way in which a log differs from what the program printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mutation {
    /// As printed, with what follows.
    Plain,
    /// `47,53 GiB`.
    DecimalComma,
    /// `40,383,193,088`, with commas, points, spaces, narrow spaces or apostrophes.
    Thousands,
    /// Broken at 60, 80, 100 or 120 columns, inside of words.
    HardWrap,
    /// The same, between words.
    WordWrap,
    /// A timestamp, rank, worker, pod or container before every line.
    Prefix,
    /// A line that begins with digits comes right after the message.
    DigitsFollow,
    /// The first part is missing, often from inside a figure.
    CutHead,
    /// The last part is missing, often from inside a figure.
    CutTail,
    /// Two ranks print the message with different figures, line by line.
    RanksByLine,
    /// The same without a prefix, in pieces of lines.
    RanksMidLine,
    /// A JSON string, container log lines, terminal colours, CRLF, quote marks, HTML entities.
    Encoded,
    /// In lower case, as some loggers and people write.
    LowerCase,
}

impl Mutation {
    pub const ALL: [Mutation; 13] = [
        Mutation::Plain,
        Mutation::DecimalComma,
        Mutation::Thousands,
        Mutation::HardWrap,
        Mutation::WordWrap,
        Mutation::Prefix,
        Mutation::DigitsFollow,
        Mutation::CutHead,
        Mutation::CutTail,
        Mutation::RanksByLine,
        Mutation::RanksMidLine,
        Mutation::Encoded,
        Mutation::LowerCase,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Mutation::Plain => "plain",
            Mutation::DecimalComma => "decimal comma",
            Mutation::Thousands => "thousands separators",
            Mutation::HardWrap => "wrapped in words",
            Mutation::WordWrap => "wrapped between words",
            Mutation::Prefix => "prefixed",
            Mutation::DigitsFollow => "digits follow",
            Mutation::CutHead => "head cut",
            Mutation::CutTail => "tail cut",
            Mutation::RanksByLine => "two ranks by line",
            Mutation::RanksMidLine => "two ranks mid-line",
            Mutation::Encoded => "encoded",
            Mutation::LowerCase => "lower case",
        }
    }

    /// True where the whole message is still there, so that it must be seen.
    pub fn keeps_the_message(self) -> bool {
        !matches!(self, Mutation::CutHead | Mutation::CutTail | Mutation::RanksMidLine)
    }

    /// A log of `shape` under this mutation, the `number`th; nothing where it would be the plain one.
    pub fn apply(self, shape: &Shape, number: u64) -> Option<Variant> {
        let mut random = Random::of(&format!("{} {}", shape.id, self.name()), number);
        let random = &mut random;
        let plain = |random: &mut Random| shape.message(random, C);
        let variant = match self {
            Mutation::Plain => Variant::one(plain(random), |message| message.text),
            Mutation::DecimalComma => {
                if !shape.has_amounts() {
                    return None;
                }
                let group = [None, Some('.'), Some(' '), Some('\u{a0}'), Some('\u{202f}')][random.below(5)];
                localised(shape, random, Locale { point: ',', group })?
            }
            Mutation::Thousands => {
                if !shape.has_amounts() {
                    return None;
                }
                let group = Some([',', ',', '.', ' ', '\u{202f}', '\''][random.below(6)]);
                localised(shape, random, Locale { point: '.', group })?
            }
            Mutation::HardWrap => {
                let columns = [60, 80, 100, 120][random.below(4)];
                Variant::one(plain(random), |message| hard_wrap(&message.text, columns))
            }
            Mutation::WordWrap => {
                let columns = [60, 80, 100, 120][random.below(4)];
                Variant::one(plain(random), |message| word_wrap(&message.text, columns))
            }
            Mutation::Prefix => {
                let prefix = prefix(random);
                let message = plain(random);
                Variant {
                    text: by_line(&message.text, &prefix),
                    printed: format!("{prefix}\n{}", message.text),
                    figures: vec![message.figures],
                }
            }
            Mutation::DigitsFollow => {
                let next = random.of_these(&[
                    "2026-11-22 17:04:05,882 INFO stopping 2 processes",
                    "2026-11-22T17:04:05.882025Z stderr F stopping",
                    "17:04:05 stopping",
                    "0%|          | 0/1200 [00:00<?, ?it/s]",
                    " 42%|████▏     | 504/1200 [07:11<09:54,  1.17it/s]",
                    "3: stopping",
                    "82025",
                ]);
                Variant::one(plain(random), |message| {
                    let (text, follows) = message.text.split_at(message.end);
                    format!("{}\n{next}\n{follows}", text.trim_end_matches('\n'))
                })
            }
            Mutation::CutHead => {
                let message = plain(random);
                let at = cut(&message, random);
                Variant::one(message, |message| message.text[at..].to_string())
            }
            Mutation::CutTail => {
                let message = plain(random);
                let at = cut(&message, random);
                Variant::one(message, |message| message.text[..at].to_string())
            }
            Mutation::RanksByLine => {
                let (a, b) = (plain(random), plain(random));
                let prefixes = [
                    ["[rank0]: ", "[rank3]: "],
                    ["[default0]:", "[default5]:"],
                    ["0: ", "1: "],
                    ["(Worker_TP0 pid=4123) ", "(Worker_TP1 pid=4124) "],
                ][random.below(4)];
                let text = interleave(by_line(&a.text, prefixes[0]), by_line(&b.text, prefixes[1]), random, true);
                let printed = format!("{}\n{}\n{}", prefixes.join("\n"), a.text, b.text);
                Variant { text, printed, figures: vec![a.figures, b.figures] }
            }
            Mutation::RanksMidLine => {
                let (a, b) = (plain(random), plain(random));
                let text = interleave(a.text.clone(), b.text.clone(), random, false);
                Variant { text, printed: format!("{}\n{}", a.text, b.text), figures: vec![a.figures, b.figures] }
            }
            Mutation::Encoded => {
                let how = random.below(7);
                Variant::one(plain(random), |message| encode(&message.text, how))
            }
            Mutation::LowerCase => Variant::one(plain(random), |message| message.text.to_lowercase()),
        };
        Some(variant)
    }
}

/// A log, and what is printed in it.
#[derive(Debug)]
pub struct Variant {
    pub text: String,
    /// The messages before the mutation.
    pub printed: String,
    /// The figures of each message.
    pub figures: Vec<Vec<Placed>>,
}

impl Variant {
    fn one(message: Message, mutate: impl FnOnce(Message) -> String) -> Variant {
        Variant { printed: message.text.clone(), figures: vec![message.figures.clone()], text: mutate(message) }
    }
}

/// Nothing where no number looks different from what the program prints.
fn localised(shape: &Shape, random: &mut Random, locale: Locale) -> Option<Variant> {
    let mut same = random.clone();
    let message = shape.message(random, locale);
    let plain = shape.message(&mut same, C);
    (message.text != plain.text).then(|| Variant {
        text: message.text,
        printed: plain.text,
        figures: vec![message.figures],
    })
}

pub fn hard_wrap(text: &str, columns: usize) -> String {
    let mut out = String::new();
    for line in text.lines() {
        for (i, c) in line.chars().enumerate() {
            if i > 0 && i % columns == 0 {
                out.push('\n');
            }
            out.push(c);
        }
        out.push('\n');
    }
    out
}

pub fn word_wrap(text: &str, columns: usize) -> String {
    let mut out = String::new();
    for line in text.lines() {
        let mut width = 0;
        for (i, word) in line.split(' ').enumerate() {
            let long = word.chars().count();
            if i > 0 && width + 1 + long > columns {
                out.push('\n');
                width = 0;
            } else if i > 0 {
                out.push(' ');
                width += 1;
            }
            out.push_str(word);
            width += long;
        }
        out.push('\n');
    }
    out
}

fn by_line(text: &str, prefix: &str) -> String {
    text.lines().map(|line| format!("{prefix}{line}\n")).collect()
}

fn prefix(random: &mut Random) -> String {
    let rank = random.below(8);
    let pid = random.within(300, 99_000);
    let (minute, second, micros) = (random.below(60), random.below(60), random.below(1_000_000));
    let clock = format!("17:{minute:02}:{second:02}");
    match random.below(18) {
        0 => format!("2026-11-22 {clock} "),
        1 => format!("2026-11-22 {clock},{:03} ERROR ", micros / 1000),
        2 => format!("2026-11-22T{clock}.{micros:06}Z "),
        3 => format!("2026-11-22T{clock}.{micros:06}131Z stdout F "),
        4 => format!("2026-11-22T{clock}.{micros:06}1Z "),
        5 => format!("[2026-11-22 {clock}] "),
        6 => format!("{clock} "),
        7 => format!("[{clock}] "),
        8 => format!("[rank{rank}]: "),
        9 => format!("[default{rank}]:"),
        10 => format!("{rank}: "),
        11 => format!("(Worker pid={pid}) "),
        12 => format!("(RayTrainWorker pid={pid}, ip=10.0.4.17) "),
        13 => "[pod/train-7d4b9/main] ".to_string(),
        14 => "trainer-1  | ".to_string(),
        15 => format!("Nov 22 {clock} node07 python[{pid}]: "),
        16 => format!("1763830{second:03}.{micros:06} "),
        _ => format!("[1,{rank}]<stderr>:"),
    }
}

/// A place to cut: in two of three, in or around a figure that is asked for.
fn cut(message: &Message, random: &mut Random) -> usize {
    let asked: Vec<&Placed> = message.figures.iter().filter(|figure| !figure.fact.is_empty()).collect();
    let mut at = if asked.is_empty() || random.below(3) == 0 {
        random.below(message.text.len().max(1))
    } else {
        let figure = asked[random.below(asked.len())];
        // With the unit behind it: `47.53 GiB`.
        random.within(figure.start as u64, (figure.end as u64 + 5).min(message.text.len() as u64)) as usize
    };
    while !message.text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// Pieces of two texts by turns: whole lines, or parts of lines. Programs write words and numbers whole, and often the
/// end of the line apart from it.
fn interleave(a: String, b: String, random: &mut Random, whole_lines: bool) -> String {
    let mut rest = [a.as_str(), b.as_str()];
    let mut out = String::new();
    let mut turn = random.below(2);
    while rest.iter().any(|text| !text.is_empty()) {
        let text = rest[turn];
        let line = text.find('\n').map_or(text.len(), |end| end + 1);
        let mut end = line;
        // Writers are torn seldom: in one of four pieces.
        if !whole_lines && line > 1 && random.below(4) == 0 {
            let blanks: Vec<usize> = text[..line - 1].match_indices(' ').map(|(at, _)| at + 1).collect();
            end = if blanks.is_empty() || random.below(2) == 0 { line - 1 } else { blanks[random.below(blanks.len())] };
        }
        out.push_str(&text[..end]);
        rest[turn] = &text[end..];
        if random.below(2) == 0 {
            turn = 1 - turn;
        }
    }
    out
}

fn encode(text: &str, how: usize) -> String {
    match how {
        0 => serde_json::to_string(text).unwrap(),
        1 => text
            .lines()
            .map(|line| {
                let log = serde_json::to_string(&format!("{line}\n")).unwrap();
                format!("{{\"log\":{log},\"stream\":\"stderr\",\"time\":\"2026-11-22T17:04:05.120482937Z\"}}\n")
            })
            .collect(),
        2 => text.lines().map(|line| format!("\u{1b}[31m{line}\u{1b}[0m\n")).collect(),
        3 => text.replace('\n', "\r\n"),
        4 => by_line(text, "> "),
        5 => text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;"),
        _ => by_line(text, "    "),
    }
}
