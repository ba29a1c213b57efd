//! Styled text in columns: wrapping at words, double-width Chinese, indents.
//!
//! Everything that is printed for people passes through [`Screen`], which knows the width and never exceeds it.

use super::Style;
use super::table::Table;
use crate::privacy;
use crate::text::is_obeyed;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// What a piece of text is, which decides its colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Tone {
    #[default]
    Plain,
    /// Headings and verdicts.
    Strong,
    /// What ran out, errors.
    Alarm,
    /// Something to type or paste.
    Command,
    /// Places in the log, formulas, asides.
    Faint,
    /// Memory in use by the framework.
    Used,
    /// Memory held and idle.
    Idle,
    /// Memory of others.
    Foreign,
    /// Free memory.
    Free,
}

impl Tone {
    fn style(self) -> anstyle::Style {
        use anstyle::{AnsiColor, Style};
        match self {
            Tone::Plain => Style::new(),
            Tone::Strong => Style::new().bold(),
            Tone::Alarm => AnsiColor::Red.on_default().bold(),
            Tone::Command => AnsiColor::Cyan.on_default(),
            Tone::Faint => Style::new().dimmed(),
            // Plain blue is all but black on the black of many terminals.
            Tone::Used => AnsiColor::BrightBlue.on_default(),
            Tone::Idle => AnsiColor::Yellow.on_default(),
            Tone::Foreign => AnsiColor::Magenta.on_default(),
            Tone::Free => AnsiColor::Green.on_default(),
        }
    }
}

/// A stretch of text in one tone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Run {
    pub tone: Tone,
    pub text: String,
}

/// A stretch of text in one tone.
pub fn run(tone: Tone, text: impl Into<String>) -> Run {
    Run { tone, text: text.into() }
}

/// Columns that a text takes on a terminal.
pub fn columns(text: &str) -> usize {
    UnicodeWidthStr::width(text)
}

/// Cuts a text to at most `width` columns, with an ellipsis where something was lost.
pub fn shorten(text: &str, width: usize, unicode: bool) -> String {
    let text: String = text.chars().map(|c| if is_obeyed(c) { ' ' } else { c }).collect();
    if columns(&text) <= width {
        return text;
    }
    let ellipsis = if unicode { "…" } else { "..." };
    let room = width.saturating_sub(columns(ellipsis));
    let mut out = String::new();
    let mut used = 0;
    for c in text.chars() {
        let w = c.width().unwrap_or(0);
        if used + w > room {
            break;
        }
        used += w;
        out.push(c);
    }
    out.truncate(out.trim_end().len());
    out + ellipsis
}

/// Pads a text with spaces to `width` columns.
pub fn pad(text: &str, width: usize) -> String {
    format!("{text}{}", " ".repeat(width.saturating_sub(columns(text))))
}

/// Replaces the characters that an ASCII terminal cannot show in English text; other scripts stay as they are.
pub fn ascii(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '…' => out.push_str("..."),
            '−' | '–' | '—' => out.push('-'),
            '×' => out.push('x'),
            '≈' => out.push('~'),
            '≥' => out.push_str(">="),
            '≤' => out.push_str("<="),
            '→' => out.push_str("->"),
            '“' | '”' => out.push('"'),
            '‘' | '’' => out.push('\''),
            '·' | '•' => out.push('*'),
            '±' => out.push_str("+/-"),
            '²' => out.push_str("^2"),
            '÷' => out.push('/'),
            '\u{202f}' => out.push(NO_BREAK),
            c => out.push(c),
        }
    }
    out
}

/// A space at which no line is broken.
pub const NO_BREAK: char = '\u{a0}';

/// A stretch that is not broken: a word, or one wide character with the punctuation that clings to it.
struct Atom {
    chars: Vec<(char, Tone)>,
    width: usize,
    /// Spaces in front of it.
    glue: usize,
}

/// Closing punctuation that may not begin a line.
fn clings_to_left(c: char) -> bool {
    matches!(
        c,
        '，' | '。'
            | '、'
            | '；'
            | '：'
            | '！'
            | '？'
            | '）'
            | '」'
            | '』'
            | '】'
            | '》'
            | '”'
            | '’'
            | '…'
            | '％'
            | ']'
    )
}

/// Opening punctuation that may not end a line.
fn clings_to_right(c: char) -> bool {
    matches!(c, '（' | '「' | '『' | '【' | '《' | '“' | '‘' | '[')
}

/// True for a unit, closing punctuation behind it or not.
pub(super) fn is_unit(word: &str) -> bool {
    let word = word.trim_end_matches([',', '.', ';', ':', ')', '，', '。', '；', '）']);
    matches!(word, "B" | "KiB" | "MiB" | "GiB" | "TiB" | "KB" | "MB" | "GB" | "TB" | "%")
}

fn atoms(runs: &[Run]) -> Vec<Atom> {
    let mut atoms: Vec<Atom> = Vec::new();
    let mut glue = 0;
    // Whether the next character starts a new atom.
    let mut broken = true;
    let mut previous: Option<char> = None;
    for (c, tone) in runs.iter().flat_map(|run| run.text.chars().map(move |c| (c, run.tone))) {
        let c = if c == '\t' { ' ' } else { c };
        if is_obeyed(c) {
            continue;
        }
        if c == ' ' {
            glue += 1;
            broken = true;
            previous = None;
            continue;
        }
        // A no-break space only looks like one, and holds what stands on both sides of it.
        let held = c == NO_BREAK || previous == Some(NO_BREAK);
        let kept = c;
        let c = if c == NO_BREAK { ' ' } else { c };
        let width = c.width().unwrap_or(0);
        let wide = width > 1;
        if let Some(before) = previous
            && !broken
            && (wide || before.width().unwrap_or(0) > 1)
            && !clings_to_left(c)
            && !clings_to_right(before)
            && !held
        {
            broken = true;
        }
        match atoms.last_mut() {
            Some(atom) if !broken => {
                atom.chars.push((c, tone));
                atom.width += width;
            }
            _ => atoms.push(Atom { chars: vec![(c, tone)], width, glue: std::mem::take(&mut glue) }),
        }
        broken = false;
        previous = Some(kept);
    }
    // "4.15 GiB" stays together.
    let mut joined: Vec<Atom> = Vec::with_capacity(atoms.len());
    for atom in atoms {
        let word: String = atom.chars.iter().take(5).map(|(c, _)| *c).collect();
        match joined.last_mut() {
            Some(before)
                if atom.glue == 1
                    && before.width <= 16
                    && before.chars.last().is_some_and(|(c, _)| c.is_ascii_digit())
                    && is_unit(&word) =>
            {
                before.chars.push((' ', Tone::Plain));
                before.width += 1 + atom.width;
                before.chars.extend(atom.chars);
            }
            _ => joined.push(atom),
        }
    }
    joined
}

/// One finished line.
type Row = Vec<(char, Tone)>;

/// Breaks runs into rows of at most `first` columns for the first and `rest` columns for the others.
fn wrap(runs: &[Run], first: usize, rest: usize) -> Vec<Row> {
    let mut rows: Vec<Row> = vec![Vec::new()];
    let mut used = 0;
    for atom in atoms(runs) {
        let limit = if rows.len() == 1 { first } else { rest };
        let glue = if used == 0 && rows.len() > 1 { 0 } else { atom.glue };
        if used > 0 && used + glue + atom.width > limit {
            rows.push(Vec::new());
            used = 0;
        } else if let Some(row) = rows.last_mut() {
            row.extend(std::iter::repeat_n((' ', Tone::Plain), glue));
            used += glue;
        }
        for (c, tone) in atom.chars {
            let width = c.width().unwrap_or(0);
            let limit = if rows.len() == 1 { first } else { rest };
            // A word longer than a line is broken hard.
            if used + width > limit && used > 0 {
                rows.push(Vec::new());
                used = 0;
            }
            if let Some(row) = rows.last_mut() {
                row.push((c, tone));
            }
            used += width;
        }
    }
    rows
}

/// Lines under construction, none wider than the screen.
pub struct Screen {
    width: usize,
    unicode: bool,
    redact: bool,
    rows: Vec<Row>,
}

impl Screen {
    pub fn new(width: usize, unicode: bool) -> Screen {
        Screen { width: width.max(20), unicode, redact: false, rows: Vec::new() }
    }

    pub fn of(style: Style) -> Screen {
        Screen { redact: style.redact, ..Screen::new(style.width, style.unicode) }
    }

    /// What of a run's text may be shown, in the characters of the terminal.
    fn shown(&self, text: &str) -> String {
        let text = privacy::leaving(text, self.redact);
        if self.unicode { text.into_owned() } else { ascii(&text) }
    }

    pub fn width(&self) -> usize {
        self.width
    }

    /// Number of lines so far.
    pub fn height(&self) -> usize {
        self.rows.len()
    }

    pub fn blank(&mut self) {
        if self.rows.last().is_some_and(|row| !row.is_empty()) {
            self.rows.push(Vec::new());
        }
    }

    /// A paragraph. `head` stands on the first line in front of the text, continuation lines are indented by `hang`
    /// columns.
    pub fn paragraph(&mut self, head: &[Run], hang: usize, body: &[Run]) {
        self.clipped(head, hang, body, usize::MAX);
    }

    /// A paragraph, if it takes no more than `most` lines; says whether it was written. What the program says is left
    /// out or told whole, never cut.
    pub fn whole(&mut self, head: &[Run], hang: usize, body: &[Run], most: usize) -> bool {
        let before = self.rows.len();
        self.paragraph(head, hang, body);
        let fits = self.rows.len() - before <= most;
        if !fits {
            self.rows.truncate(before);
        }
        fits
    }

    /// A paragraph of at most `most` lines, ended by an ellipsis where text was left out: for text of the log alone.
    pub fn clipped(&mut self, head: &[Run], hang: usize, body: &[Run], most: usize) {
        let prepare = |runs: &[Run]| -> Vec<Run> { runs.iter().map(|r| run(r.tone, self.shown(&r.text))).collect() };
        let head: Row = prepare(head)
            .iter()
            .flat_map(|r| r.text.chars().map(|c| (c, r.tone)).collect::<Vec<_>>())
            .filter(|(c, _)| !is_obeyed(*c))
            .map(|(c, tone)| (if c == NO_BREAK { ' ' } else { c }, tone))
            .collect();
        let head_width: usize = head.iter().map(|(c, _)| c.width().unwrap_or(0)).sum();
        let hang = hang.min(self.width / 2);
        let mut rows = wrap(&prepare(body), self.width.saturating_sub(head_width).max(8), self.width - hang);
        if rows.len() > most {
            let next = rows.get(most).cloned().unwrap_or_default();
            rows.truncate(most);
            let indent = if most == 1 { head_width } else { hang };
            if let Some(row) = rows.last_mut() {
                let ellipsis = if self.unicode { "…" } else { "..." };
                let room = (self.width - indent).saturating_sub(columns(ellipsis));
                let columns_of = |row: &Row| row.iter().map(|(c, _)| c.width().unwrap_or(0)).sum::<usize>();
                // A word wider than what was left stands on the next line: rather than half a line of nothing, its
                // beginning is shown.
                if columns_of(row) * 2 < room {
                    if row.last().is_some_and(|(c, _)| *c != ' ') {
                        row.push((' ', Tone::Plain));
                    }
                    row.extend(next);
                }
                let mut used = columns_of(row);
                let mut cut = false;
                while used > room
                    && let Some((c, _)) = row.pop()
                {
                    used -= c.width().unwrap_or(0);
                    cut = c != ' ';
                }
                // Back to the end of a word, if that is near.
                let word = row.iter().rev().take_while(|(c, _)| c.is_ascii() && *c != ' ').count();
                if cut && word < 12 && word < row.len() {
                    row.truncate(row.len() - word);
                }
                while row.last().is_some_and(|(c, _)| matches!(c, ' ' | ',' | '，' | '；' | ';')) {
                    row.pop();
                }
                row.extend(ellipsis.chars().map(|c| (c, Tone::Faint)));
            }
        }
        for (i, row) in rows.into_iter().enumerate() {
            let mut line: Row =
                if i == 0 { head.clone() } else { std::iter::repeat_n((' ', Tone::Plain), hang).collect() };
            line.extend(row);
            while line.last().is_some_and(|(c, _)| *c == ' ') {
                line.pop();
            }
            self.rows.push(line);
        }
    }

    /// Text that keeps its line ends and leading spaces, such as a command or configuration.
    pub fn verbatim(&mut self, indent: usize, tone: Tone, text: &str) {
        for line in text.lines() {
            let body = line.trim_start();
            let lead = (line.len() - body.len()).min(self.width / 3);
            self.paragraph(&[run(Tone::Plain, " ".repeat(indent + lead))], indent + lead + 2, &[run(tone, body)]);
        }
    }

    /// A line that is cut at the width, not wrapped.
    pub fn line(&mut self, runs: &[Run]) {
        let mut row = Row::new();
        let mut left = self.width;
        for piece in runs {
            let text = self.shown(&piece.text);
            let shown = shorten(&text, left, self.unicode);
            left -= columns(&shown).min(left);
            let cut = shown.len() < text.len();
            row.extend(shown.chars().map(|c| (if c == NO_BREAK { ' ' } else { c }, piece.tone)));
            if cut {
                break;
            }
        }
        self.rows.push(row);
    }

    /// A table, indented.
    pub fn table(&mut self, indent: usize, table: &Table) {
        for line in table.lines(self.width.saturating_sub(indent), |text| self.shown(text)) {
            let mut runs = vec![run(Tone::Plain, " ".repeat(indent))];
            runs.extend(line);
            self.line(&runs);
        }
    }

    /// Cells in as many columns as fit, each indented.
    pub fn grid(&mut self, indent: usize, cells: &[Vec<Run>]) {
        let prepared: Vec<Vec<Run>> =
            cells.iter().map(|cell| cell.iter().map(|r| run(r.tone, self.shown(&r.text))).collect()).collect();
        let widths: Vec<usize> =
            prepared.iter().map(|cell| cell.iter().map(|r| columns(&r.text)).sum::<usize>()).collect();
        let cell_width = widths.iter().copied().max().unwrap_or(0) + 3;
        let per_row = ((self.width + 3).saturating_sub(indent) / cell_width.max(1)).max(1);
        for (row_cells, row_widths) in prepared.chunks(per_row).zip(widths.chunks(per_row)) {
            let mut runs = Vec::new();
            for (i, (cell, width)) in row_cells.iter().zip(row_widths).enumerate() {
                runs.extend(cell.iter().cloned());
                if i + 1 < row_cells.len() {
                    runs.push(run(Tone::Plain, " ".repeat(cell_width - width)));
                }
            }
            let indent_run = [run(Tone::Plain, " ".repeat(indent))];
            self.paragraph(&indent_run, indent + 2, &runs);
        }
    }

    /// The lines with colour codes; the writer takes them off where there is no terminal.
    pub fn render(&self) -> String {
        let mut out = String::new();
        for row in &self.rows {
            let mut tone = Tone::Plain;
            for (c, next) in row {
                if *next != tone {
                    out.push_str(&tone.style().render_reset().to_string());
                    out.push_str(&next.style().render().to_string());
                    tone = *next;
                }
                out.push(*c);
            }
            out.push_str(&tone.style().render_reset().to_string());
            out.push('\n');
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(screen: &Screen) -> Vec<String> {
        anstream::adapter::strip_str(&screen.render()).to_string().lines().map(str::to_string).collect()
    }

    #[test]
    fn a_citation_is_never_broken() {
        let cited = format!("占用随时间增长 [第{NO_BREAK}12,{NO_BREAK}14{NO_BREAK}行]");
        for width in 20..40 {
            let mut screen = Screen::new(width, true);
            screen.paragraph(&[], 2, &[run(Tone::Plain, format!("日志中的读数一直上升，{cited}，没有回落"))]);
            let lines = plain(&screen);
            assert!(lines.iter().any(|line| line.contains("[第 12, 14 行]")), "{width}: {lines:?}");
        }
    }

    #[test]
    fn a_statement_is_whole_or_not_there() {
        let mut screen = Screen::new(20, true);
        let body = [run(Tone::Plain, "twelve words that take more than the two lines there are room for")];
        assert!(!screen.whole(&[], 2, &body, 2) && screen.height() == 0);
        assert!(screen.whole(&[], 2, &body, 9) && plain(&screen).concat().ends_with("for"));
    }

    #[test]
    fn words_wrap_and_figures_keep_their_unit() {
        let mut screen = Screen::new(24, true);
        screen.paragraph(&[], 2, &[run(Tone::Plain, "the request wanted 4.15 GiB of it")]);
        assert_eq!(plain(&screen), ["the request wanted", "  4.15 GiB of it"]);
    }

    #[test]
    fn chinese_wraps_at_any_character_but_not_before_a_comma() {
        let mut screen = Screen::new(20, true);
        screen.paragraph(&[], 0, &[run(Tone::Plain, "显存不足时先看缓存，再看其他进程。")]);
        let lines = plain(&screen);
        assert!(lines.iter().all(|line| columns(line) <= 20), "{lines:?}");
        assert!(lines.iter().all(|line| !line.starts_with('，')), "{lines:?}");
        assert_eq!(lines.concat(), "显存不足时先看缓存，再看其他进程。");
    }

    #[test]
    fn a_word_longer_than_the_screen_is_broken_rather_than_let_out() {
        let mut screen = Screen::new(20, true);
        screen.paragraph(&[run(Tone::Plain, "> ")], 2, &[run(Tone::Plain, "x".repeat(50))]);
        assert!(plain(&screen).iter().all(|line| columns(line) <= 20));
    }

    #[test]
    fn clipping_marks_what_was_left_out() {
        let mut screen = Screen::new(20, true);
        screen.clipped(&[], 0, &[run(Tone::Plain, "one two three four five six seven eight nine")], 2);
        let lines = plain(&screen);
        assert_eq!(lines.len(), 2);
        assert!(lines[1].ends_with('…') && columns(&lines[1]) <= 20);
    }

    #[test]
    fn ascii_terminals_get_ascii() {
        let mut screen = Screen::new(40, false);
        screen.paragraph(&[], 0, &[run(Tone::Plain, "≥ 2 × 3 → 6 − 0 …")]);
        assert_eq!(plain(&screen), [">= 2 x 3 -> 6 - 0 ..."]);
    }
}
