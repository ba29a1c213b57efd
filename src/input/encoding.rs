//! Which encoding an input is in, and its bytes as UTF-8.

use encoding_rs::{CoderResult, Decoder, Encoding, GB18030, UTF_16BE, UTF_16LE, WINDOWS_1252};
use std::borrow::Cow;

/// What the bytes of an input mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Charset {
    Utf8,
    Other(&'static Encoding),
}

impl Charset {
    /// The IANA name, in lower case.
    pub fn name(self) -> String {
        match self {
            Charset::Utf8 => "utf-8".to_string(),
            Charset::Other(encoding) => encoding.name().to_ascii_lowercase(),
        }
    }
}

/// Tells the encoding from the beginning of an input; also the length of its byte order mark.
/// `complete` says that the sample is all there is, so that a character cut at its end is an error.
pub(super) fn detect(sample: &[u8], complete: bool) -> (Charset, usize) {
    if let Some((encoding, mark)) = Encoding::for_bom(sample) {
        let charset = if encoding == encoding_rs::UTF_8 { Charset::Utf8 } else { Charset::Other(encoding) };
        return (charset, mark);
    }
    if let Some(encoding) = utf16_without_mark(sample) {
        return (Charset::Other(encoding), 0);
    }
    let (mut valid, mut invalid) = (0usize, 0usize);
    let mut chunks = sample.utf8_chunks().peekable();
    while let Some(chunk) = chunks.next() {
        valid += chunk.valid().bytes().filter(|byte| *byte >= 0xc0).count();
        let cut_at_end = chunks.peek().is_none() && !complete;
        if !chunk.invalid().is_empty() && !cut_at_end {
            invalid += 1;
        }
    }
    // A UTF-8 log in which single characters are broken is still UTF-8.
    if invalid == 0 || valid > invalid {
        (Charset::Utf8, 0)
    } else if reads_as_chinese(sample) {
        (Charset::Other(GB18030), 0)
    } else {
        (Charset::Other(WINDOWS_1252), 0)
    }
}

/// UTF-16 without a byte order mark shows by the zero bytes of its blanks, digits and Latin letters, all at one parity.
fn utf16_without_mark(sample: &[u8]) -> Option<&'static Encoding> {
    const ENOUGH: usize = 4096;
    let (mut even, mut odd, mut pairs) = (0usize, 0usize, 0usize);
    for pair in sample.chunks_exact(2).take(ENOUGH) {
        pairs += 1;
        even += usize::from(pair[0] == 0 && pair[1] != 0);
        odd += usize::from(pair[1] == 0 && pair[0] != 0);
    }
    let many = |count: usize| pairs >= 2 && count * 10 >= pairs * 3;
    let few = |count: usize| count * 50 <= pairs;
    if many(odd) && few(even) {
        Some(UTF_16LE)
    } else if many(even) && few(odd) {
        Some(UTF_16BE)
    } else {
        None
    }
}

/// GBK puts nearly every character of today's Chinese into two bytes that are both ≥ 0xA1 (the GB 2312 part);
/// the accented letters of a one-byte code page stand alone between ASCII letters.
fn reads_as_chinese(bytes: &[u8]) -> bool {
    let (mut common, mut other) = (0usize, 0usize);
    let mut at = 0;
    while let Some(&lead) = bytes.get(at) {
        if lead < 0x80 {
            at += 1;
            continue;
        }
        match bytes.get(at + 1) {
            Some(&trail) if (0xa1..=0xf7).contains(&lead) && trail >= 0xa1 => {
                common += 1;
                at += 2;
            }
            Some(&trail) if trail >= 0x40 && trail != 0x7f => {
                other += 1;
                at += 2;
            }
            Some(_) => {
                other += 1;
                at += 1;
            }
            // A pair cut at the end says nothing.
            None => at += 1,
        }
    }
    common >= 1 && common >= 8 * other
}

/// One line of an input that counts as UTF-8. A line that is none is read as GBK or windows-1252 if it makes sense as
/// such: programs of several encodings write into one log. The second value names the encoding of such a line.
pub(super) fn line_text(bytes: &[u8]) -> (Cow<'_, str>, Option<Charset>) {
    let Err(error) = std::str::from_utf8(bytes) else {
        return (String::from_utf8_lossy(bytes), None);
    };
    // Lines with correct characters beside broken ones are damaged UTF-8.
    let has_valid = bytes.get(..error.valid_up_to()).is_some_and(|valid| !valid.is_ascii());
    if !has_valid && reads_as_chinese(bytes) {
        let (text, errors) = GB18030.decode_without_bom_handling(bytes);
        if !errors {
            return (text, Some(Charset::Other(GB18030)));
        }
    }
    (String::from_utf8_lossy(bytes), None)
}

/// Turns a stream of another encoding into UTF-8, piece by piece.
pub(super) struct Transcoder {
    decoder: Decoder,
}

impl Transcoder {
    pub fn new(encoding: &'static Encoding) -> Transcoder {
        Transcoder { decoder: encoding.new_decoder_without_bom_handling() }
    }

    /// Appends the text of the next bytes. `last` flushes a character that was cut by the end of the input.
    pub fn push(&mut self, mut bytes: &[u8], last: bool, out: &mut Vec<u8>) {
        let mut piece = [0u8; 16 << 10];
        loop {
            let (result, read, written, _) = self.decoder.decode_to_utf8(bytes, &mut piece, last);
            out.extend_from_slice(piece.get(..written).unwrap_or_default());
            bytes = bytes.get(read..).unwrap_or_default();
            if result == CoderResult::InputEmpty {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(bytes: &[u8]) -> (String, String) {
        let (charset, mark) = detect(bytes, true);
        let bytes = &bytes[mark..];
        let text = match charset {
            Charset::Utf8 => {
                bytes.split(|b| *b == b'\n').map(|l| line_text(l).0.into_owned()).collect::<Vec<_>>().join("\n")
            }
            Charset::Other(encoding) => {
                let mut out = Vec::new();
                let mut transcoder = Transcoder::new(encoding);
                for byte in bytes {
                    transcoder.push(&[*byte], false, &mut out);
                }
                transcoder.push(&[], true, &mut out);
                String::from_utf8(out).unwrap()
            }
        };
        (charset.name(), text)
    }

    const MIXED: &str = "第 3 轮：显存不足，批大小 16\nRuntimeError: CUDA out of memory.\n";

    #[test]
    fn utf16_reads_with_and_without_a_mark_in_both_orders() {
        for (name, mark) in [("utf-16le", true), ("utf-16le", false), ("utf-16be", true), ("utf-16be", false)] {
            let units = mark.then_some(0xfeffu16).into_iter().chain(MIXED.encode_utf16());
            let bytes: Vec<u8> = if name == "utf-16le" {
                units.flat_map(u16::to_le_bytes).collect()
            } else {
                units.flat_map(u16::to_be_bytes).collect()
            };
            assert_eq!(decoded(&bytes), (name.to_string(), MIXED.to_string()));
        }
    }

    #[test]
    fn utf16_of_odd_length_keeps_all_but_the_half_character() {
        let mut bytes: Vec<u8> = "out of memory".encode_utf16().flat_map(u16::to_le_bytes).collect();
        bytes.pop();
        assert_eq!(decoded(&bytes), ("utf-16le".to_string(), "out of memor\u{fffd}".to_string()));
    }

    #[test]
    fn gbk_is_told_from_accents_of_one_byte_pages() {
        let (gbk, _, _) = GB18030.encode(MIXED);
        assert_eq!(decoded(&gbk), ("gb18030".to_string(), MIXED.to_string()));
        let accents = "mémoire épuisée à l'étape 3 — arrêt\n";
        let (latin, _, _) = WINDOWS_1252.encode(accents);
        assert_eq!(decoded(&latin), ("windows-1252".to_string(), accents.to_string()));
        assert_eq!(decoded(accents.as_bytes()), ("utf-8".to_string(), accents.to_string()));
    }

    #[test]
    fn one_gbk_line_in_a_utf8_log_is_read_as_gbk() {
        let (gbk, _, _) = GB18030.encode("显存不足");
        let mut bytes = "训练开始，正常\n".as_bytes().to_vec();
        bytes.extend_from_slice(&gbk);
        assert_eq!(decoded(&bytes).1, "训练开始，正常\n显存不足");
    }
}
