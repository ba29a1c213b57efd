//! What of an input is kept.

use super::Document;
use super::encoding::{self, Charset, Transcoder};
use super::lines::Draft;
use super::source::Opened;
use std::io::{self, Read};

pub(super) fn gather(opened: &mut Opened, progress: &mut dyn FnMut(u64, Option<u64>)) -> io::Result<Document> {
    let mut bytes = Vec::new();
    opened.reader.read_to_end(&mut bytes)?;
    progress(opened.taken(), opened.total);
    let (charset, mark) = encoding::detect(&bytes, true);
    let mut draft = Draft::new(charset);
    let bytes = match charset {
        Charset::Utf8 => bytes.split_off(mark),
        Charset::Other(other) => {
            let mut out = Vec::new();
            Transcoder::new(other).push(bytes.get(mark..).unwrap_or_default(), true, &mut out);
            out
        }
    };
    let count = draft.push_all(&bytes);
    let mut document = draft.finish();
    document.line_count = count;
    Ok(document)
}
