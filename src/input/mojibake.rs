//! UTF-8 that a program read as a one-byte code page, and wrote as UTF-8 again: `显存` became `æ˜¾å­˜`.
//!
//! Each byte of the UTF-8 became the character that the code page has for it. Some bytes have no character there
//! (windows-1252: 81 8D 8F 90 9D; windows-1254 also 8E 9E), and the soft hyphen (AD) is invisible, so that copying
//! loses them. What follows from the rest is restored; what does not becomes U+FFFD.

use super::Line;
use encoding_rs::Encoding;

/// Mis-read twice is seen; more is not.
const ROUNDS: usize = 2;

/// Puts mis-read lines right. Returns whether there were any.
pub(super) fn repair(lines: &mut [Line]) -> bool {
    let mut any = false;
    for _ in 0..ROUNDS {
        if lines.iter().all(|line| line.text.is_ascii()) {
            break;
        }
        let Some(page) = misread_as(lines) else { break };
        for line in lines.iter_mut().filter(|line| !line.text.is_ascii()) {
            if let Some(text) = page.restore(&line.text) {
                line.text = text;
                any = true;
            }
        }
    }
    any
}

/// The code page that the whole text was clearly mis-read as, if it was.
///
/// Letters with accents in a correct text are followed by ASCII letters, hardly ever by the symbols that the second and
/// third bytes of UTF-8 become; so complete sequences prove the mistake and must outnumber the broken ones.
fn misread_as(lines: &[Line]) -> Option<CodePage> {
    // The first two are what editors and web pages mistake UTF-8 for; letters of the others make sequences by chance.
    let candidates: [(&'static Encoding, u64); 6] = [
        (encoding_rs::WINDOWS_1252, 1),
        (encoding_rs::WINDOWS_1254, 1),
        (encoding_rs::WINDOWS_1250, 4),
        (encoding_rs::WINDOWS_1251, 4),
        (encoding_rs::ISO_8859_15, 4),
        (encoding_rs::MACINTOSH, 4),
    ];
    // Of two pages that explain as many whole sequences, the better one explains more of the broken ones too.
    let mut best: Option<((u64, u64), CodePage)> = None;
    for (encoding, least) in candidates {
        let page = CodePage::new(encoding);
        let (mut whole, mut broken) = (0u64, 0u64);
        for line in lines.iter().filter(|line| !line.text.is_ascii()) {
            for part in page.parse(&line.text) {
                match part {
                    Part::Whole(_) => whole += 1,
                    Part::Broken(_) => broken += 1,
                    Part::Other(_) => {}
                }
            }
        }
        if whole >= least && whole >= broken && best.as_ref().is_none_or(|(most, _)| (whole, broken) > *most) {
            best = Some(((whole, broken), page));
        }
    }
    best.map(|(_, page)| page)
}

/// A piece of a line, as UTF-8 that was mis-read.
enum Part {
    /// A complete sequence.
    Whole(char),
    /// A sequence that lacks bytes.
    Broken(Vec<Byte>),
    /// A character that is no mis-read lead byte.
    Other(char),
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Byte {
    Known(u8),
    /// Replaced by U+FFFD on the way.
    Lost,
}

/// The upper half of a one-byte code page.
struct CodePage {
    /// Sorted by character.
    bytes: Vec<(char, u8)>,
}

impl CodePage {
    fn new(encoding: &'static Encoding) -> CodePage {
        let mut bytes: Vec<(char, u8)> = (0x80..=0xffu8)
            .filter_map(|byte| {
                let c = encoding.decode_without_bom_handling(&[byte]).0.chars().next()?;
                (c != char::REPLACEMENT_CHARACTER).then_some((c, byte))
            })
            .collect();
        bytes.sort_unstable();
        CodePage { bytes }
    }

    fn byte(&self, c: char) -> Option<u8> {
        if let Ok(at) = self.bytes.binary_search_by_key(&c, |(c, _)| *c) {
            return self.bytes.get(at).map(|(_, byte)| *byte);
        }
        // Bytes that the page leaves undefined come through as C1 control characters of the same number.
        u8::try_from(u32::from(c)).ok().filter(|byte| (0x80..0xa0).contains(byte))
    }

    fn parse<'t>(&'t self, text: &'t str) -> impl Iterator<Item = Part> + 't {
        let mut rest = text.chars();
        std::iter::from_fn(move || {
            let first = rest.next()?;
            let Some(lead) = self.byte(first).filter(|byte| (0xc2..=0xf4).contains(byte)) else {
                return Some(Part::Other(first));
            };
            let length = utf8_length(lead);
            let mut sequence = vec![Byte::Known(lead)];
            while sequence.len() < length {
                let mut ahead = rest.clone();
                let Some(next) = ahead.next() else { break };
                match self.byte(next) {
                    Some(byte) if byte & 0xc0 == 0x80 => sequence.push(Byte::Known(byte)),
                    None if next == char::REPLACEMENT_CHARACTER => sequence.push(Byte::Lost),
                    // A no-break space (A0) that became a blank, when the byte behind it shows that it belongs here.
                    None if next == ' '
                        && sequence.len() + 2 == length
                        && ahead.next().and_then(|c| self.byte(c)).is_some_and(|byte| byte & 0xc0 == 0x80) =>
                    {
                        sequence.push(Byte::Known(0xa0));
                    }
                    _ => break,
                }
                rest.next();
            }
            Some(match decode(&sequence).filter(|_| sequence.len() == length) {
                Some(c) => Part::Whole(c),
                None => Part::Broken(sequence),
            })
        })
    }

    /// The line put right, or nothing when there is nothing to put right in it.
    fn restore(&self, text: &str) -> Option<String> {
        let has_whole = self.parse(text).any(|part| matches!(part, Part::Whole(_)));
        let mut slots: Vec<Slot> = Vec::with_capacity(text.len() / 2);
        let mut changed = false;
        for part in self.parse(text) {
            match part {
                Part::Whole(c) => {
                    changed = true;
                    slots.push(Slot::Known(c));
                }
                Part::Other(c) => slots.push(Slot::Known(c)),
                Part::Broken(sequence) => {
                    // Beside restored characters the rest of a sequence is noise; alone it may be a real letter.
                    if !has_whole && sequence.len() == 1 {
                        return None;
                    }
                    changed = true;
                    slots.push(Slot::OneOf(candidates(&sequence)));
                }
            }
        }
        if !changed {
            return None;
        }
        fill_in_words(&mut slots);
        Some(
            slots
                .into_iter()
                .map(|slot| match slot {
                    Slot::Known(c) => c,
                    Slot::OneOf(candidates) => match candidates.as_slice() {
                        [only] => *only,
                        _ => char::REPLACEMENT_CHARACTER,
                    },
                })
                .collect(),
        )
    }
}

/// One character of a restored line.
enum Slot {
    Known(char),
    /// It lacks bytes; these fit what is left of it.
    OneOf(Vec<char>),
}

impl Slot {
    fn fits(&self, c: char) -> bool {
        match self {
            Slot::Known(known) => *known == c,
            Slot::OneOf(candidates) => candidates.contains(&c),
        }
    }
}

/// Words of reports on memory, to restore a character by its neighbours.
const WORDS: [&str; 85] = [
    "显存",
    "内存",
    "缓存",
    "存储",
    "保存",
    "存在",
    "存活",
    "分配",
    "分配器",
    "分析",
    "解析",
    "碎片",
    "片段",
    "开始",
    "初始",
    "原始",
    "正常",
    "正在",
    "使用",
    "占用",
    "可用",
    "启用",
    "引用",
    "调用",
    "保留",
    "预留",
    "增加",
    "增大",
    "增长",
    "泄漏",
    "泄露",
    "每次",
    "每个",
    "直接",
    "连接",
    "接口",
    "可能",
    "性能",
    "进程",
    "线程",
    "训练",
    "推理",
    "批大小",
    "批次",
    "样本",
    "减小",
    "减少",
    "累积",
    "累计",
    "梯度",
    "激活",
    "重计算",
    "计算",
    "检查点",
    "优化",
    "模型",
    "参数",
    "张量",
    "设备",
    "主机",
    "共享",
    "数据",
    "加载",
    "错误",
    "异常",
    "失败",
    "不足",
    "溢出",
    "超出",
    "限制",
    "容量",
    "空闲",
    "剩余",
    "申请",
    "尝试",
    "请求",
    "释放",
    "清理",
    "验证",
    "评估",
    "学习",
    "序列",
    "长度",
    "问题",
    "崩溃",
];

/// Chooses among the candidates of a character where a word decides it: some of the word must be there unharmed.
fn fill_in_words(slots: &mut [Slot]) {
    for at in 0..slots.len() {
        if matches!(&slots[at], Slot::Known(_)) {
            continue;
        }
        let mut chosen: Option<char> = None;
        let mut contradicted = false;
        for word in WORDS {
            for (place, c) in word.chars().enumerate() {
                let Some(start) = at.checked_sub(place) else { break };
                let mut anchored = false;
                let fits = word.chars().enumerate().all(|(i, c)| {
                    slots.get(start + i).is_some_and(|slot| {
                        anchored |= matches!(slot, Slot::Known(_));
                        slot.fits(c)
                    })
                });
                if fits && anchored {
                    contradicted |= chosen.is_some_and(|earlier| earlier != c);
                    chosen = Some(c);
                }
            }
        }
        if let Some(c) = chosen.filter(|_| !contradicted) {
            slots[at] = Slot::Known(c);
        }
    }
}

fn utf8_length(lead: u8) -> usize {
    match lead {
        0..=0xdf => 2,
        0xe0..=0xef => 3,
        _ => 4,
    }
}

fn decode(sequence: &[Byte]) -> Option<char> {
    let mut bytes = [0u8; 4];
    for (slot, byte) in bytes.iter_mut().zip(sequence) {
        match byte {
            Byte::Known(byte) => *slot = *byte,
            Byte::Lost => return None,
        }
    }
    let text = std::str::from_utf8(bytes.get(..sequence.len())?).ok()?;
    text.chars().next()
}

/// The characters in common use that a sequence of three which lacks one byte can have been.
fn candidates(sequence: &[Byte]) -> Vec<char> {
    /// Bytes without a character in windows-1252 or windows-1254, and the soft hyphen.
    const LOSSY: [u8; 8] = [0x81, 0x8d, 0x8e, 0x8f, 0x90, 0x9d, 0x9e, 0xad];
    let Some(Byte::Known(lead)) = sequence.first().copied() else { return Vec::new() };
    if utf8_length(lead) != 3 {
        return Vec::new();
    }
    let gaps: Vec<Vec<Byte>> = match sequence {
        [a, b] => vec![vec![*a, Byte::Lost, *b], vec![*a, *b, Byte::Lost]],
        [_, Byte::Lost, _] | [_, _, Byte::Lost] => vec![sequence.to_vec()],
        _ => return Vec::new(),
    };
    let mut candidates: Vec<char> = gaps
        .iter()
        .flat_map(|gap| {
            LOSSY.iter().filter_map(|byte| {
                let filled: Vec<Byte> =
                    gap.iter().map(|b| if *b == Byte::Lost { Byte::Known(*byte) } else { *b }).collect();
                decode(&filled)
            })
        })
        .filter(|c| in_common_use(*c))
        .collect();
    candidates.sort_unstable();
    candidates.dedup();
    candidates
}

/// The 3755 characters of GB 2312's first level, ordered there by frequency of use, and the punctuation of Chinese.
fn in_common_use(c: char) -> bool {
    if matches!(
        c,
        '、' | '。' | '《' | '》' | '「' | '」' | '【' | '】' | '！' | '（' | '）' | '，' | '：' | '；' | '？'
    ) {
        return true;
    }
    let mut utf8 = [0u8; 4];
    let (gbk, _, _) = encoding_rs::GBK.encode(c.encode_utf8(&mut utf8));
    matches!(*gbk, [0xb0..=0xd7, 0xa1..=0xff])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a program does that takes UTF-8 for a code page and drops what has no character there.
    fn misread(text: &str, encoding: &'static Encoding, lose: &[u8]) -> String {
        let kept: Vec<u8> = text.bytes().filter(|byte| !lose.contains(byte)).collect();
        encoding.decode_without_bom_handling(&kept).0.into_owned()
    }

    fn repaired(text: &str) -> (String, bool) {
        let mut lines = vec![Line { number: 1, text: text.to_string(), rank: None }];
        let any = repair(&mut lines);
        (lines.remove(0).text, any)
    }

    const TEXT: &str = "第 5 轮训练时显存不足：GPU 0 总容量 44.53 GiB，已分配 36.78 GiB — naïve café 🔍";

    #[test]
    fn text_misread_once_or_twice_comes_back_whole() {
        for encoding in [encoding_rs::WINDOWS_1252, encoding_rs::WINDOWS_1254] {
            let once = misread(TEXT, encoding, &[]);
            assert_ne!(once, TEXT);
            assert_eq!(repaired(&once), (TEXT.to_string(), true));
            let twice = misread(&once, encoding, &[]);
            assert_eq!(repaired(&twice), (TEXT.to_string(), true));
        }
    }

    #[test]
    fn accents_alone_are_repaired() {
        assert_eq!(repaired("l\u{c3}\u{a9}ger d\u{c3}\u{a9}passement"), ("léger dépassement".to_string(), true));
        assert_eq!(repaired("canâ€™t allocate"), ("can’t allocate".to_string(), true));
    }

    #[test]
    fn lost_bytes_are_filled_in_only_when_nothing_else_fits() {
        let lossy = misread(TEXT, encoding_rs::WINDOWS_1254, &[0x81, 0x8d, 0x8e, 0x8f, 0x90, 0x9d, 0x9e, 0xad]);
        let (text, any) = repaired(&lossy);
        assert!(any);
        for (restored, original) in text.chars().zip(TEXT.chars()) {
            assert!(restored == original || restored == char::REPLACEMENT_CHARACTER, "{restored} for {original}");
        }
        assert_eq!(text.chars().count(), TEXT.chars().count());
    }

    #[test]
    fn neighbours_decide_where_they_make_a_word() {
        let lossy =
            misread("显存不足，缓存碎片", encoding_rs::WINDOWS_1254, &[0x81, 0x8d, 0x8e, 0x8f, 0x90, 0x9d, 0x9e, 0xad]);
        assert_eq!(repaired(&lossy), ("显存不足，缓存碎片".to_string(), true));
    }

    #[test]
    fn correct_texts_are_left_alone() {
        for text in [
            TEXT,
            "mémoire épuisée à l'étape 3, « arrêt » — Größe überschritten, señal, ação, são",
            "Недостаточно памяти: «РАМ» исчерпана № 3",
            "メモリ不足 100%|██████████| 3/3 ─┐ ═╗ “quoted” …",
            "yetersiz bellek: ğüşıöç İĞÜŞÖÇ",
        ] {
            assert_eq!(repaired(text), (text.to_string(), false));
        }
    }
}
