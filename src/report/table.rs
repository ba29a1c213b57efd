//! Tables: comfy-table decides what stands where, colours come after it, so that they take no width.
//!
//! No borders are drawn, two spaces part the columns. comfy-table is given marks in the place of its lines, by which the
//! finished lines are told apart again into rows and cells.

use super::layout::{NO_BREAK, Run, Tone, is_unit, run};
use crate::text::is_obeyed;
use comfy_table::{
    CellAlignment, ColumnConstraint, ContentArrangement, ContentLineStyle, LineStyle, TableStyle, Width,
};

/// Stands between two cells: a private character, which no cell holds.
const BETWEEN_CELLS: char = '\u{f8fe}';
/// Fills the line between two rows.
const BETWEEN_ROWS: char = '\u{f8ff}';

const MARKED: TableStyle = TableStyle::new()
    .content_lines(ContentLineStyle::none().junction(BETWEEN_CELLS))
    .row_separator(LineStyle::none().fill(BETWEEN_ROWS).junction(BETWEEN_ROWS));

/// How a column is laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Column {
    /// As wide as its widest cell.
    Left,
    /// The same, for figures.
    Right,
    /// At least so many columns wide, and not broken.
    Label(u16),
    /// Broken at words where there is no room, at most this share of the width in percent.
    Name(u16),
    /// Broken at words where there is no room.
    Text,
}

/// Rows of cells, a cell being text in one or several tones.
#[derive(Debug, Clone)]
pub struct Table {
    columns: Vec<Column>,
    rows: Vec<Vec<Vec<Run>>>,
}

impl Table {
    pub fn new(columns: &[Column]) -> Table {
        Table { columns: columns.to_vec(), rows: Vec::new() }
    }

    /// A row in one tone, such as the heads.
    pub fn plain<T: Into<String>>(&mut self, tone: Tone, cells: impl IntoIterator<Item = T>) {
        self.row(cells.into_iter().map(|cell| vec![run(tone, cell)]).collect());
    }

    pub fn row(&mut self, cells: Vec<Vec<Run>>) {
        self.rows.push(cells);
    }

    /// The lines, at most `width` columns wide where the columns that are broken leave room for it; `shown` is what of
    /// a text may be shown, and how.
    pub fn lines(&self, width: usize, shown: impl Fn(&str) -> String) -> Vec<Vec<Run>> {
        let mut table = comfy_table::Table::new();
        table
            .load_style(MARKED)
            .set_content_arrangement(ContentArrangement::Dynamic)
            .set_width(u16::try_from(width).unwrap_or(u16::MAX));
        let rows: Vec<Vec<Vec<Run>>> =
            self.rows.iter().map(|row| row.iter().map(|cell| prepared(cell, &shown)).collect()).collect();
        for row in &rows {
            table.add_row(row.iter().map(|cell| cell.iter().map(|run| run.text.as_str()).collect::<String>()));
        }
        for (at, column) in self.columns.iter().enumerate() {
            let Some(laid_out) = table.column_mut(at) else { continue };
            // One more column is taken by the mark.
            laid_out.set_padding((0, u16::from(at + 1 < self.columns.len())));
            if *column == Column::Right {
                laid_out.set_cell_alignment(CellAlignment::Right);
            }
            match column {
                Column::Left | Column::Right => {
                    laid_out.set_constraint(ColumnConstraint::ContentWidth);
                }
                Column::Label(least) => {
                    laid_out.set_constraint(ColumnConstraint::Absolute(Width::Fixed(*least)));
                }
                Column::Name(most) => {
                    laid_out.set_constraint(ColumnConstraint::UpperBoundary(Width::Percentage(*most)));
                }
                Column::Text => {}
            }
        }
        let mut out = Vec::new();
        let mut rows = rows.iter();
        let mut tones = rows.next().map(|row| tones_of(row)).unwrap_or_default();
        for line in table.lines() {
            if line.contains(BETWEEN_ROWS) {
                tones = rows.next().map(|row| tones_of(row)).unwrap_or_default();
            } else {
                out.push(coloured(&line, &mut tones));
            }
        }
        out
    }
}

/// The tones of the characters of each cell, spaces left out: a layout moves only these.
fn tones_of(row: &[Vec<Run>]) -> Vec<std::vec::IntoIter<Tone>> {
    let tones = |cell: &Vec<Run>| {
        let of_run = |run: &Run| run.text.chars().filter(|c| !is_space(*c)).map(|_| run.tone).collect::<Vec<_>>();
        cell.iter().flat_map(of_run).collect::<Vec<_>>().into_iter()
    };
    row.iter().map(tones).collect()
}

fn is_space(c: char) -> bool {
    c == ' ' || c == NO_BREAK
}

/// A finished line with the tones of its cells, without spaces at its end.
fn coloured(line: &str, tones: &mut [std::vec::IntoIter<Tone>]) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    let mut cell = 0;
    for c in line.trim_end_matches([' ', BETWEEN_CELLS]).chars() {
        let (c, tone) = match c {
            BETWEEN_CELLS => {
                cell += 1;
                (' ', None)
            }
            c if is_space(c) => (c, None),
            c => (c, tones.get_mut(cell).and_then(Iterator::next)),
        };
        match (runs.last_mut(), tone) {
            (Some(last), None) => last.text.push(c),
            (Some(last), Some(tone)) if last.tone == tone => last.text.push(c),
            (_, tone) => runs.push(run(tone.unwrap_or_default(), c)),
        }
    }
    runs
}

/// Text as the terminal can show it, on one line, figures kept with their units.
fn prepared(cell: &[Run], shown: impl Fn(&str) -> String) -> Vec<Run> {
    let clean = |text: &str| -> String {
        let text = shown(text);
        let text = text.chars().map(|c| if is_obeyed(c) { ' ' } else { c });
        text.filter(|c| !matches!(*c, BETWEEN_CELLS | BETWEEN_ROWS)).collect()
    };
    cell.iter().map(|part| run(part.tone, with_units(&clean(&part.text)))).collect()
}

/// "4.15 GiB" stays together.
fn with_units(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for word in text.split(' ') {
        if !out.is_empty() || text.starts_with(' ') {
            let joined = is_unit(word) && out.ends_with(|c: char| c.is_ascii_digit());
            out.push(if joined { NO_BREAK } else { ' ' });
        }
        out.push_str(word);
    }
    if text.starts_with(' ') { out.split_off(1) } else { out }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::layout::{Screen, columns};

    fn text(table: &Table, width: usize) -> Vec<String> {
        let mut screen = Screen::new(width, true);
        screen.table(0, table);
        anstream::adapter::strip_str(&screen.render()).to_string().lines().map(str::to_string).collect()
    }

    #[test]
    fn columns_line_up_and_figures_stand_at_the_right() {
        let mut table = Table::new(&[Column::Left, Column::Right, Column::Text]);
        table.plain(Tone::Strong, ["GPU", "used", ""]);
        table.plain(Tone::Plain, ["0", "512.00 MiB", "idle"]);
        table.plain(Tone::Plain, ["card1", "1.00 GiB", ""]);
        assert_eq!(text(&table, 40), ["GPU          used", "0      512.00 MiB  idle", "card1    1.00 GiB"]);
    }

    #[test]
    fn chinese_takes_two_columns_a_character() {
        let mut table = Table::new(&[Column::Left, Column::Left]);
        table.plain(Tone::Plain, ["显存", "x"]);
        table.plain(Tone::Plain, ["ab", "y"]);
        assert_eq!(text(&table, 40), ["显存  x", "ab    y"]);
    }

    #[test]
    fn text_is_broken_within_its_column_and_keeps_its_tones() {
        let mut table = Table::new(&[Column::Right, Column::Text]);
        let words = vec![run(Tone::Plain, "one two three four "), run(Tone::Faint, "five 6 GiB seven")];
        table.row(vec![vec![run(Tone::Used, "1 B")], words]);
        table.plain(Tone::Plain, ["22 B", "short"]);
        let lines = text(&table, 21);
        assert!(lines.iter().all(|line| columns(line) <= 21), "{lines:?}");
        assert_eq!(lines, [" 1 B  one two three", "      four five 6 GiB", "      seven", "22 B  short"]);
        let tones = table.lines(21, str::to_string);
        assert_eq!(tones[1], [run(Tone::Plain, "      four "), run(Tone::Faint, "five 6\u{a0}GiB")]);
        assert_eq!(tones[0][0].tone, Tone::Plain, "spaces have no tone of their own");
        assert_eq!(tones[0][1], run(Tone::Used, "1\u{a0}B  "));
    }

    #[test]
    fn no_text_can_pass_for_a_mark() {
        let mut table = Table::new(&[Column::Left, Column::Left]);
        table.plain(Tone::Plain, ["a\u{f8fe}b\u{f8ff}c\nd", "e"]);
        assert_eq!(text(&table, 40), ["abc d  e"]);
    }
}
