//! Lines that a narrow terminal, an editor or a mail program broke, put together again for readers that look at lines.

use super::bare::bare;
use crate::input::{Document, Line};

/// No terminal is narrower.
pub(super) const NARROWEST: usize = 40;
/// Lines of a document that are asked again in mended form, at most: most that no reader knows hold a trigger by chance.
pub(super) const MOST: usize = 64;
/// Lines on either side that show how wide the text was made.
const NEIGHBOURS: usize = 8;
/// Pieces that one line may have been broken into.
const PIECES: usize = 12;
/// Lines of the surroundings that a reader may look at.
const AROUND: usize = 80;

/// The document around a line that was broken, once with its pieces put together without a blank, as a terminal breaks
/// lines, and once with one, as editors do; with the position of the line. Nothing where nothing shows that it was broken.
pub(super) fn mended(document: &Document, position: usize) -> Vec<(Document, usize)> {
    let Some(hit) = document.lines.get(position) else { return Vec::new() };
    let own = |at: usize| document.lines.get(at).filter(|line| line.rank == hit.rank && line.text.len() < 400);
    let from = position.saturating_sub(NEIGHBOURS);
    let columns = (from..=position + NEIGHBOURS).filter_map(own).map(|line| width(&line.text)).max().unwrap_or(0);
    if columns < NARROWEST {
        return Vec::new();
    }
    // The line may be the last piece: its first stands above.
    let full = |at: usize| {
        let (Some(line), Some(next)) = (own(at), own(at + 1)) else { return false };
        let first_word = next.text.split_whitespace().next().map_or(0, width);
        // What has a time or a worker's name of its own is no continuation.
        let own_prefix = bare(&next.text).len() < next.text.trim_start_matches(['>', '|', ' ', '\t', '"']).len();
        !own_prefix && first_word > 0 && width(&line.text) + 1 + first_word > columns
    };
    let mut first = position;
    while first > 0 && position - first < 3 && full(first - 1) {
        first -= 1;
    }
    let mut last = first;
    while last - first < PIECES && full(last) {
        last += 1;
    }
    if last < position || last == first {
        return Vec::new();
    }
    let before = first.saturating_sub(AROUND);
    let after = (last + 1 + AROUND).min(document.lines.len());
    ["", " "]
        .map(|blank| {
            let text = document.lines[first..=last].iter().enumerate().fold(String::new(), |text, (i, line)| {
                let piece = if i == 0 || blank.is_empty() { line.text.as_str() } else { line.text.trim_start() };
                if i == 0 { piece.to_string() } else { text + blank + piece }
            });
            let whole = Line { number: document.lines[first].number, text, rank: hit.rank };
            let mut lines = document.lines[before..first].to_vec();
            lines.push(whole);
            lines.extend_from_slice(&document.lines[last + 1..after]);
            (Document { lines, ..Document::default() }, first - before)
        })
        .into()
}

fn width(text: &str) -> usize {
    text.chars().count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(log: &str, position: usize) -> Vec<String> {
        let document = Document::from_text("-", log);
        mended(&document, position).into_iter().map(|(document, at)| document.lines[at].text.clone()).collect()
    }

    #[test]
    fn the_pieces_of_a_line_become_one() {
        let log = "before\nThis line was broken inside of words by a termi\nnal of forty-seven columns, and so it goes on in\n the third\nafter that\n";
        let whole =
            "This line was broken inside of words by a terminal of forty-seven columns, and so it goes on in the third";
        assert_eq!(lines(log, 1)[0], whole);
        assert_eq!(lines(log, 2)[0], whole);
        let log = "This line was broken between its words by an\neditor of forty-six columns.\nAnother.\n";
        assert_eq!(lines(log, 0)[1], "This line was broken between its words by an editor of forty-six columns.");
    }

    #[test]
    fn whole_lines_stay() {
        assert!(lines("a short line\nanother\n", 0).is_empty());
        assert!(lines("a line that is long enough to have been broken by somebody\n\nx\n", 0).is_empty());
    }
}
