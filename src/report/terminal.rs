//! One screen for a tired engineer: what ran out, where the bytes are, why, what to change. Everything with
//! `--verbose`.

use super::layout::{NO_BREAK, Run, Screen, Tone, columns, pad, run, shorten};
use super::table::{Column, Table};
use super::{Diagnosis, Explanation, InputSummary, SnapshotSummary, Style, surroundings, wording};
use crate::account::{Holder, Ledger};
use crate::cause::conclusion::{Conclusion, SURE_ENOUGH, candidates};
use crate::cause::mechanism::limit::WATCHED;
use crate::cause::{CauseId, Finding};
use crate::dialect::{Event, Fact, Resource, Sign};
use crate::domain::Number;
use crate::domain::program::Kind;
use crate::evidence::Evidence;
use crate::fix::{Class, Frees, Numerics, Ranked};
use crate::incident::Incident;
use crate::incident::context::Moment;
use crate::incident::recording::Standing;
use crate::input::Repair;
use crate::order::InOrder;
use crate::text;
use crate::text::{Lang, Text};
use crate::units::{self, Bytes, Figure, Interval, about};

/// How much of the diagnosis is told. The screen takes the richest level that fits.
#[derive(Debug, Clone, Copy)]
struct Detail {
    evidence: usize,
    /// A statement that takes more lines than such a figure is left out: none is cut.
    evidence_lines: usize,
    /// Lines for the message as it was printed, and for the place in the program.
    message_lines: usize,
    fixes: usize,
    /// How many of several lines to write are shown for a fix.
    fix_lines: usize,
    /// Observations that would decide, and lines for the outcomes of each.
    observations: usize,
    outcome_lines: usize,
    wont_help: usize,
    contradictions: usize,
    contradiction_lines: usize,
    refute_lines: usize,
    second_cause_lines: usize,
    /// Other failures of the log, a line each.
    others: usize,
    /// Rows of the table of ranks.
    ranks: usize,
    frame: bool,
}

/// Ranks that are listed with `--verbose`; a job may have thousands, all of them in the JSON.
const RANKS_SHOWN: usize = 64;

/// Places that are listed with `--verbose`.
const HOLDERS_SHOWN: usize = 12;

/// Inputs that are listed with `--verbose`.
const INPUTS_SHOWN: usize = 16;

/// From everything a screen can hold to the least that is still an answer. Whole statements are left out before any is
/// cut.
const LEVELS: [Detail; 17] = {
    let ample = Detail { evidence: 6, message_lines: 2, fixes: 8, fix_lines: 4, ..EVERYTHING };
    let ample = Detail { observations: 3, wont_help: 3, contradictions: 3, others: 6, ranks: 8, ..ample };
    let rich = Detail {
        evidence: 4,
        evidence_lines: 3,
        message_lines: 1,
        fixes: 5,
        fix_lines: 2,
        observations: 3,
        outcome_lines: 4,
        wont_help: 2,
        contradictions: 2,
        contradiction_lines: 3,
        refute_lines: 4,
        second_cause_lines: 3,
        others: 3,
        ranks: 4,
        frame: true,
    };
    let some = Detail { evidence: 3, contradictions: 1, wont_help: 1, ..rich };
    let fewer_fixes = Detail { fixes: 4, ranks: 0, ..some };
    let less_evidence = Detail { evidence: 2, ..fewer_fixes };
    let three_fixes = Detail { fixes: 3, refute_lines: 3, others: 1, observations: 2, ..less_evidence };
    let tighter = Detail { evidence_lines: 2, contradiction_lines: 2, second_cause_lines: 2, ..three_fixes };
    let second_short = Detail { second_cause_lines: 1, ..tighter };
    let no_folklore = Detail { wont_help: 0, others: 0, observations: 1, ..second_short };
    let no_frame = Detail { frame: false, refute_lines: 2, ..no_folklore };
    let one_reason = Detail { evidence: 1, ..no_frame };
    let short_fixes = Detail { refute_lines: 1, contradiction_lines: 1, fix_lines: 1, outcome_lines: 3, ..one_reason };
    let bare = Detail { evidence_lines: 1, ..short_fixes };
    let least = Detail { fixes: 2, contradictions: 0, second_cause_lines: 0, ..bare };
    let terse = Detail { outcome_lines: 2, ..least };
    let answer = Detail { fixes: 1, observations: 0, evidence: 0, ..least };
    [
        WHOLE,
        ample,
        rich,
        some,
        fewer_fixes,
        less_evidence,
        three_fixes,
        tighter,
        second_short,
        no_folklore,
        no_frame,
        one_reason,
        short_fixes,
        bare,
        least,
        terse,
        answer,
    ]
};

const EVERYTHING: Detail = Detail {
    evidence: usize::MAX,
    evidence_lines: usize::MAX,
    message_lines: usize::MAX,
    fixes: usize::MAX,
    fix_lines: usize::MAX,
    observations: usize::MAX,
    outcome_lines: usize::MAX,
    wont_help: usize::MAX,
    contradictions: usize::MAX,
    contradiction_lines: usize::MAX,
    refute_lines: usize::MAX,
    second_cause_lines: usize::MAX,
    others: 0,
    ranks: RANKS_SHOWN,
    frame: true,
};

/// What a pipe gets: every statement of the answer, nothing cut.
const WHOLE: Detail = Detail { others: usize::MAX, ..EVERYTHING };

/// Lines that the weightiest evidence may always take.
const FIRST_EVIDENCE: usize = 3;

/// Beside a report that has more to show.
const JUDGED: Detail = Detail { evidence: 2, fixes: 2, fix_lines: 2, wont_help: 1, observations: 1, ..EVERYTHING };

/// The report, with colour codes; the writer takes them off where there is no terminal.
pub fn render(explanation: &Explanation, style: Style) -> String {
    without_timeline(explanation, style) + &super::timeline::terminal(&explanation.watched, style)
}

/// The answer alone, where what was watched is drawn in another way.
pub fn without_timeline(explanation: &Explanation, style: Style) -> String {
    if style.verbose {
        return everything(explanation, style).render();
    }
    let mut screen = Screen::of(style);
    let recorded = explanation.primary().is_some_and(|primary| primary.incident.recording.is_some());
    for detail in LEVELS {
        // What a snapshot says takes the lines of one fix.
        let fixes = if recorded { (detail.fixes - 1).max(2) } else { detail.fixes };
        let detail = Detail { fixes, ..detail };
        screen = one_screen(explanation, style, detail);
        if style.height.is_none_or(|most| screen.height() <= most) {
            break;
        }
    }
    screen.render()
}

/// The request as it stands beside its bar, with and without what was missing.
struct RequestLabel {
    long: String,
    short: String,
}

/// A page under construction: the screen and how to write on it.
struct Page {
    screen: Screen,
    style: Style,
    /// True where no [`Page::answer`] stands at the top.
    answers_later: bool,
}

fn one_screen(explanation: &Explanation, style: Style, detail: Detail) -> Screen {
    let mut page = Page { screen: Screen::of(style), style, answers_later: false };
    match explanation.primary().or(explanation.diagnoses.first()) {
        Some(diagnosis) => {
            page.verdict(explanation, diagnosis);
            page.answer(diagnosis, detail);
            page.message(explanation, diagnosis, detail);
            page.account(&diagnosis.incident.ledger, detail);
            page.recording(diagnosis, detail);
            page.decide(diagnosis, detail);
            page.causes(diagnosis, detail);
            page.fixes(diagnosis, detail);
            page.rest(explanation, diagnosis, detail);
        }
        None => page.nothing_found(explanation, 4),
    }
    page.screen
}

fn everything(explanation: &Explanation, style: Style) -> Screen {
    let mut page = Page { screen: Screen::of(style), style, answers_later: true };
    if explanation.diagnoses.is_empty() {
        page.nothing_found(explanation, usize::MAX);
    }
    // The one that ended the job, then the newest first; their numbers are those of the log.
    let mut order: Vec<(usize, &Diagnosis)> = explanation.diagnoses.iter().enumerate().rev().collect();
    order.order_by_key(|(_, diagnosis)| !diagnosis.incident.primary);
    for (i, diagnosis) in order {
        if explanation.diagnoses.len() > 1 {
            page.screen.blank();
            let (n, all) = (i + 1, explanation.diagnoses.len());
            let primary = diagnosis.incident.primary;
            let label = match primary {
                true => {
                    text!(
                        en: "Incident {n} of {all}, the one that the job died of",
                        zh: "第 {n}/{all} 个故障（主故障）"
                    )
                }
                false => text!(en: "Incident {n} of {all}", zh: "第 {n}/{all} 个故障"),
            };
            page.heading(&label);
        }
        page.verdict(explanation, diagnosis);
        page.message(explanation, diagnosis, EVERYTHING);
        page.undecided(diagnosis);
        page.account(&diagnosis.incident.ledger, EVERYTHING);
        page.account_table(&diagnosis.incident.ledger);
        page.recording(diagnosis, EVERYTHING);
        page.decide(diagnosis, EVERYTHING);
        page.causes(diagnosis, EVERYTHING);
        page.fixes(diagnosis, EVERYTHING);
        page.withheld(diagnosis);
        page.context_table(diagnosis);
        page.side_tables(diagnosis);
        page.ranks(explanation, diagnosis);
        page.followers(diagnosis);
    }
    if !explanation.diagnoses.is_empty() {
        page.harmless(explanation, usize::MAX);
    }
    page.inputs(explanation);
    page.screen
}

/// Why it failed, what would decide that and what to change, for a report that shows by itself what failed.
pub(super) fn judgement(screen: &mut Screen, diagnosis: &Diagnosis, style: Style) {
    let detail = if style.verbose { EVERYTHING } else { JUDGED };
    let empty = Screen::new(style.width, style.unicode);
    let mut page = Page { screen: std::mem::replace(screen, empty), style, answers_later: true };
    page.undecided(diagnosis);
    page.decide(diagnosis, detail);
    page.causes(diagnosis, detail);
    page.fixes(diagnosis, detail);
    *screen = page.screen;
}

impl Page {
    fn say<'t>(&self, text: &'t Text) -> &'t str {
        text.in_lang(self.style.lang)
    }

    fn heading(&mut self, text: &Text) {
        let runs = [run(Tone::Strong, self.say(text))];
        self.screen.paragraph(&[], 0, &runs);
    }

    fn bullet(&self) -> &'static str {
        if self.style.unicode { "  • " } else { "  - " }
    }

    /// `, line 12` or the like, for the end of a statement.
    fn places(&self, lines: &[u64]) -> Option<String> {
        let shown: Vec<String> = lines.iter().filter(|line| **line > 0).take(3).map(u64::to_string).collect();
        if shown.is_empty() {
            return None;
        }
        let more = if lines.len() > shown.len() { ", …" } else { "" };
        let list = shown.join(", ");
        let place = match (self.style.lang, shown.len()) {
            (Lang::En, 1) => format!("[line {list}{more}]"),
            (Lang::En, _) => format!("[lines {list}{more}]"),
            (Lang::Zh, _) => format!("[第 {list}{more} 行]"),
        };
        Some(place.replace(' ', &NO_BREAK.to_string()))
    }

    /// The places that evidence rests on: lines of the log, an entry of a snapshot.
    fn cited(&self, evidence: &Evidence) -> Option<String> {
        let lines = self.places(&evidence.lines);
        let entry = evidence.entry.as_ref().map(|entry| {
            // The one screen has named the file above.
            let place = match entry.event.filter(|_| !self.style.verbose) {
                Some(event) => {
                    let number = u64::from(event) + 1;
                    text!(en: "entry {number}", zh: "快照第 {number} 条")
                }
                None => wording::entry(entry),
            };
            format!("[{}]", self.say(&place)).replace(' ', &NO_BREAK.to_string())
        });
        match (lines, entry) {
            (Some(lines), Some(entry)) => Some(format!("{lines} {entry}")),
            (lines, entry) => lines.or(entry),
        }
    }

    fn verdict(&mut self, explanation: &Explanation, diagnosis: &Diagnosis) {
        let verdict = verdict(diagnosis, &explanation.diagnoses);
        self.screen.paragraph(&[], 2, &[run(Tone::Alarm, self.say(&verdict))]);
    }

    /// The whole answer in a few lines, for whoever reads no further: why, or what would decide that, and the first
    /// thing to change.
    fn answer(&mut self, diagnosis: &Diagnosis, detail: Detail) {
        match diagnosis.findings.first() {
            Some(_) if diagnosis.conclusion.is_undecided() => {
                self.candidates_named(diagnosis);
                if let Some(observation) = diagnosis.decide.first() {
                    let head = Text::new("To find out: ", "如何判定：");
                    let head = [run(Tone::Strong, self.say(&head))];
                    self.screen.paragraph(&head, 2, &[run(Tone::Plain, self.say(&observation.act))]);
                }
            }
            Some(first) => {
                let title = self.cause_title(&wording::why(first), first);
                self.screen.paragraph(&[], 2, &title);
            }
            None => self.heading(&no_cause()),
        }
        if let Some(ranked) = diagnosis.plan.offers.first() {
            let head = match ranked.look {
                true => Text::new("Next: ", "下一步："),
                false => Text::new("Change first: ", "首先修改："),
            };
            let head = run(Tone::Strong, self.say(&head));
            self.fix(head, 2, ranked, Detail { fix_lines: detail.fix_lines.max(2), ..detail });
        }
    }

    /// The message as it was printed, and where the program was.
    fn message(&mut self, explanation: &Explanation, diagnosis: &Diagnosis, detail: Detail) {
        if !self.style.verbose {
            self.screen.blank();
        }
        let event = &diagnosis.incident.event;
        let place = self.place_of(explanation, diagnosis);
        if !event.message.is_empty() {
            let message = [run(Tone::Faint, format!("{place}  ")), run(Tone::Plain, one_line(&event.message))];
            self.screen.clipped(&[], 2, &message, detail.message_lines);
        }
        if let Some(survival) = diagnosis.incident.survived {
            self.screen.paragraph(&[], 2, &[run(Tone::Strong, self.say(&survival.text()))]);
        }
        if detail.frame
            && let Some(frame) = diagnosis.incident.context.user_frame()
        {
            let file = shorten_path(&frame.file, self.style.width / 2);
            let code = frame.code.as_deref().map(|code| format!(": {}", one_line(code))).unwrap_or_default();
            let at = Text::new("at ", "位于 ");
            let runs = [run(Tone::Faint, format!("{}{file}:{} {}{code}", self.say(&at), frame.line, frame.function))];
            self.screen.clipped(&[], 2, &runs, detail.message_lines);
        }
        // What stands out before any cause is weighed.
        if !self.style.verbose {
            self.beforehand(diagnosis);
        }
    }

    /// `train.log:412`, or the line alone where the log came through a pipe.
    fn place_of(&self, explanation: &Explanation, diagnosis: &Diagnosis) -> String {
        let line = diagnosis.incident.event.line();
        if diagnosis.incident.event.at.is_given()
            && let Some(recording) = &diagnosis.incident.recording
        {
            return shorten_path(recording.name(), self.style.width / 3);
        }
        match explanation.inputs.get(diagnosis.input).map(|input| input.source.as_str()) {
            None | Some("-") => self.places(&[line]).unwrap_or_default(),
            Some(path) => format!("{}:{line}", shorten_path(path, self.style.width / 3)),
        }
    }

    /// The account as a bar with the request against it, and what the parts are.
    fn account(&mut self, ledger: &Ledger, detail: Detail) {
        let entries = drawn_entries(ledger);
        if !entries.is_empty()
            && let Some(capacity) = ledger.whole().map(|c| c.middle_bytes()).filter(|c| *c > 0)
        {
            self.screen.blank();
            self.bar(ledger, &entries, capacity);
        }
        for contradiction in ledger.contradictions.iter().take(detail.contradictions) {
            let mut body = vec![run(Tone::Plain, self.say(&contradiction.text))];
            if let Some(places) = self.places(&contradiction.lines) {
                body.push(run(Tone::Faint, format!(" {places}")));
            }
            let head = [run(Tone::Alarm, "! ")];
            self.screen.whole(&head, 2, &body, detail.contradiction_lines);
        }
    }

    /// What the memory snapshot is to this failure and who holds most in it; with `--verbose` all of it.
    fn recording(&mut self, diagnosis: &Diagnosis, detail: Detail) {
        let Some(recording) = &diagnosis.incident.recording else { return };
        if self.style.verbose || detail.frame {
            self.screen.blank();
        }
        let (mark, tone) = match recording.standing {
            Standing::SameFailure => (Text::new("Snapshot: ", "快照："), Tone::Strong),
            Standing::NoFailure => (Text::new("Snapshot: ", "快照："), Tone::Faint),
            Standing::Other(_) => (Text::same("! "), Tone::Alarm),
        };
        let head = [run(tone, self.say(&mark))];
        let body = [run(Tone::Plain, self.say(&recording.about()))];
        self.screen.paragraph(&head, 2, &body);
        if diagnosis.incident.event.at.is_given() {
            let untold = Text::new(
                "A snapshot does not tell how large the device is and what others hold of it.",
                "快照中没有设备总容量，也没有其他进程的占用。",
            );
            self.screen.paragraph(&[run(Tone::Plain, "  ")], 2, &[run(Tone::Faint, self.say(&untold))]);
        }
        if matches!(recording.standing, Standing::Other(_)) {
            return;
        }
        if !self.style.verbose {
            if let Some(held) = recording.top_holder().filter(|_| detail.evidence_lines > 1) {
                let most = wording::holds_most(recording, held);
                self.screen.paragraph(&[run(Tone::Plain, "  ")], 4, &[run(Tone::Plain, self.say(&most))]);
            }
            return;
        }
        self.heading(&Text::new("Held at that moment", "此刻的占用"));
        let mut table = Table::new(&[Column::Right, Column::Right, Column::Text]);
        for held in recording.holders.iter().take(HOLDERS_SHOWN) {
            let share = run(Tone::Plain, units::percent(recording.share(held.bytes)));
            let what = run(Tone::Plain, self.say(&wording::held(held)));
            table.row(vec![vec![run(Tone::Strong, Bytes(held.bytes).to_string())], vec![share], vec![what]]);
        }
        self.screen.table(2, &table);
        if !recording.trials.is_empty() {
            self.heading(&Text::new("The same requests replayed", "重放同样的申请"));
            if !recording.faithful {
                let doubt = Text::new(
                    "The simulator does not fail where the record does, so the following proves nothing.",
                    "模拟器在记录失败之处并未失败，因此以下结果不作为证据。",
                );
                self.screen.paragraph(&[run(Tone::Plain, "  ")], 2, &[run(Tone::Plain, self.say(&doubt))]);
            }
            for trial in &recording.trials {
                let outcome = wording::trial(trial);
                let separator = if self.style.lang == Lang::Zh { "：" } else { ": " };
                let body = [run(Tone::Plain, format!("{}{separator}{}", self.say(&trial.name), self.say(&outcome)))];
                self.screen.paragraph(&[run(Tone::Faint, self.bullet())], 4, &body);
            }
        }
        if let Some(rise) = &recording.growth {
            let text = wording::rise(rise);
            self.heading(&Text::new("Growth", "增长"));
            self.screen.paragraph(&[run(Tone::Plain, "  ")], 2, &[run(Tone::Plain, self.say(&text))]);
        }
        for note in &recording.notes {
            let body = [run(Tone::Faint, self.say(note))];
            self.screen.paragraph(&[run(Tone::Faint, self.bullet())], 4, &body);
        }
    }

    fn bar(&mut self, ledger: &Ledger, entries: &[(Holder, Interval)], capacity: u64) {
        let room = self.screen.width() - 2;
        let requested = ledger.requested.map(|r| r.middle_bytes()).filter(|r| *r > 0);
        let free = ledger.free.map(|f| f.middle_bytes());
        // The request is drawn from where free memory begins, so that what is missing sticks out of the device.
        let start = free.map(|free| capacity.saturating_sub(free));
        let reach = match (requested, start) {
            (Some(requested), Some(start)) => start.saturating_add(requested).min(capacity / 100 * 130),
            _ => capacity,
        };
        let sizes: Vec<u64> = entries.iter().map(|(_, amount)| amount.middle_bytes()).collect();
        // A computed need may be larger than what there is; pages that tasks share count more than once.
        let filled = sizes.iter().fold(0u64, |sum, size| sum.saturating_add(*size)).max(capacity);
        let scale = reach.max(filled) as f64 / room as f64;
        let device = ((filled as f64 / scale).round() as usize).clamp(1, room);
        let cells = apportion(&sizes, filled, device);
        // Free memory stands at the device's end; what the message does not account for stays open in front of it.
        let open = device.saturating_sub(cells.iter().sum());
        let (dot, _) = self.open_mark();

        let mut runs = vec![run(Tone::Plain, "  ")];
        let mut drawn_open = false;
        for ((holder, _), count) in entries.iter().zip(&cells) {
            if *holder == Holder::Free {
                runs.push(run(Tone::Faint, dot.repeat(open)));
                drawn_open = true;
            }
            let (mark, tone) = self.mark(*holder);
            runs.push(run(tone, mark.repeat(*count)));
        }
        if !drawn_open {
            runs.push(run(Tone::Faint, dot.repeat(open)));
        }
        self.screen.line(&runs);

        if filled > capacity.saturating_add(capacity / 100) && ledger.loader.is_some() {
            self.too_small(capacity, filled - capacity, ((capacity as f64 / scale).round() as usize).clamp(1, device));
        } else if let (Some(requested), Some(start)) = (requested, start) {
            let from = ((start as f64 / scale).round() as usize).min(device.saturating_sub(1));
            let to = ((start.saturating_add(requested)) as f64 / scale).round().min(room as f64) as usize;
            let drawn = to.saturating_sub(from).max(1);
            let inside = drawn.min(device.saturating_sub(from));
            let (fit, over) = if self.style.unicode { ("▔", "▔") } else { ("~", "!") };
            let asked = self.request_label(ledger, requested);
            // What is missing is said where there is room for it: a huge request fills the row with its own length.
            let label = match columns(&asked.long) < from + 2 || from + 3 + drawn + columns(&asked.long) <= room {
                true => asked.long,
                false => asked.short,
            };
            // An arrow where the request goes on beyond the screen.
            let outside = drawn.saturating_sub(inside);
            let beyond = outside > 0 && start.saturating_add(requested) > reach;
            let arrow = if self.style.unicode { "→" } else { ">" };
            let mark = [
                run(Tone::Free, fit.repeat(inside)),
                run(Tone::Alarm, over.repeat(outside - usize::from(beyond))),
                run(Tone::Alarm, if beyond { arrow } else { "" }),
            ];
            let lead = from + 2;
            let mut runs = Vec::new();
            if columns(&label) < lead {
                runs.push(run(Tone::Plain, format!("{}{label} ", " ".repeat(lead - columns(&label) - 1))));
                runs.extend(mark);
            } else if lead + drawn + 1 + columns(&label) <= self.screen.width() {
                runs.push(run(Tone::Plain, " ".repeat(lead)));
                runs.extend(mark);
                runs.push(run(Tone::Plain, format!(" {label}")));
            } else {
                runs.push(run(Tone::Plain, format!("  {label}")));
            }
            self.screen.line(&runs);
        }

        let amounts: Vec<String> = entries.iter().map(|(_, amount)| about(*amount)).collect();
        let mut legend: Vec<Vec<Run>> = entries
            .iter()
            .zip(&amounts)
            .map(|((holder, amount), shown)| {
                let (mark, tone) = self.mark(*holder);
                let name = wording::holder(*holder);
                let share = ledger.share(Some(*amount)).map(units::percent).unwrap_or_default();
                vec![
                    run(tone, mark),
                    run(Tone::Plain, format!(" {} ", self.say(&name))),
                    run(Tone::Strong, shown.clone()),
                    run(Tone::Faint, format!(" {share}")),
                ]
            })
            .collect();
        if open > 0 {
            let (mark, told) = self.open_mark();
            let name = if ledger.consistent() { told } else { Text::new("in doubt, see below", "存疑，见下") };
            legend.push(vec![run(Tone::Faint, format!("{mark} {}", self.say(&name)))]);
        }
        self.screen.grid(2, &legend);
    }

    /// How far a memory reaches that the parts above it overflow, in cells, and what is missing.
    fn too_small(&mut self, there: u64, beyond: u64, cells: usize) {
        let (fit, end) = if self.style.unicode { ("▔", "┘") } else { ("~", "|") };
        let (all, beyond) = (Bytes(there), Bytes(beyond));
        let label = text!(en: "there is {all}: {beyond} too little", zh: "共有 {all}：还差 {beyond}");
        let label = self.say(&label);
        let label = if self.style.unicode { label.to_string() } else { super::layout::ascii(label) };
        let ruler = |cells: usize| run(Tone::Free, format!("{}{end}", fit.repeat(cells.saturating_sub(1))));
        let room = self.screen.width().saturating_sub(2);
        let wide = columns(&label) + 1;
        let runs = if cells > wide {
            vec![run(Tone::Alarm, format!("  {label} ")), ruler(cells - wide)]
        } else {
            vec![run(Tone::Plain, "  "), ruler(cells), run(Tone::Alarm, format!(" {label}"))]
        };
        if cells > wide || cells + wide <= room {
            self.screen.line(&runs);
        } else {
            self.screen.line(&[run(Tone::Plain, "  "), ruler(cells)]);
            self.screen.line(&[run(Tone::Alarm, format!("  {label}"))]);
        }
    }

    /// The part of the device that the message does not account for.
    fn open_mark(&self) -> (&'static str, Text) {
        (if self.style.unicode { "·" } else { "_" }, Text::new("not given", "未说明"))
    }

    fn request_label(&self, ledger: &Ledger, requested: u64) -> RequestLabel {
        let asked = Bytes(requested);
        let plain = text!(en: "asked for {asked}", zh: "申请 {asked}");
        let full = match ledger.short_of_free.filter(|short| short.low > 0).map(about) {
            Some(missing) => {
                text!(en: "asked for {asked}: {missing} more than is free", zh: "申请 {asked}：比空闲多 {missing}")
            }
            None => plain.clone(),
        };
        let shown = |text: &Text| {
            let label = self.say(text);
            if self.style.unicode { label.to_string() } else { super::layout::ascii(label) }
        };
        RequestLabel { long: shown(&full), short: shown(&plain) }
    }

    fn mark(&self, holder: Holder) -> (&'static str, Tone) {
        let (unicode, plain, tone) = match holder {
            Holder::Allocated | Holder::ThisProcess => ("█", "#", Tone::Used),
            Holder::Cached => ("▓", "+", Tone::Idle),
            Holder::PrivatePools => ("▚", "%", Tone::Idle),
            Holder::NonFramework => ("▒", "=", Tone::Foreign),
            Holder::OtherProcess(_) => ("▞", "o", Tone::Foreign),
            Holder::Outside => ("▒", "=", Tone::Foreign),
            Holder::Free => ("░", ".", Tone::Free),
            Holder::Unexplained => ("?", "?", Tone::Alarm),
            Holder::Victim | Holder::Workers | Holder::Tasks => ("█", "#", Tone::Used),
            Holder::OtherTasks | Holder::SampleCaches => ("▞", "o", Tone::Foreign),
            Holder::SharedFiles | Holder::PrefetchedBatches => ("▓", "+", Tone::Idle),
            Holder::Kernel | Holder::TrainingProcesses => ("▒", "=", Tone::Foreign),
            Holder::FileCache | Holder::PinnedBatches => ("▚", "%", Tone::Idle),
            Holder::Unlisted => ("?", "?", Tone::Alarm),
        };
        (if self.style.unicode { unicode } else { plain }, tone)
    }

    /// Where the log does not decide: that it does not, and between what.
    fn undecided(&mut self, diagnosis: &Diagnosis) {
        self.beforehand(diagnosis);
        self.candidates_named(diagnosis);
    }

    fn beforehand(&mut self, diagnosis: &Diagnosis) {
        let proved = diagnosis.conclusion == Conclusion::Proved;
        for text in wording::beforehand(&diagnosis.incident).into_iter().filter(|_| !proved) {
            self.screen.paragraph(&[], 2, &[run(Tone::Plain, self.say(&text))]);
        }
    }

    fn candidates_named(&mut self, diagnosis: &Diagnosis) {
        if let Some(text) = wording::undecided(diagnosis) {
            self.screen.paragraph(&[], 2, &[run(Tone::Strong, self.say(&text))]);
        }
    }

    /// What would decide, the cheapest observation first, before anything is changed.
    fn decide(&mut self, diagnosis: &Diagnosis, detail: Detail) {
        if diagnosis.decide.is_empty()
            || detail.observations == 0
            || !(diagnosis.conclusion.is_undecided() || self.style.verbose)
        {
            return;
        }
        self.screen.blank();
        self.heading(&match self.answers_later {
            true => Text::new("To find out, cheapest first:", "如何判定（从最省事的开始）："),
            false => Text::new("What that shows:", "结果说明什么："),
        });
        for (i, observation) in diagnosis.decide.iter().enumerate().take(detail.observations) {
            // The first stands in the answer.
            if i > 0 || self.answers_later {
                let head = [run(Tone::Strong, format!("  {}. ", i + 1))];
                self.screen.paragraph(&head, 5, &[run(Tone::Strong, self.say(&observation.act))]);
            }
            // The outcomes of the likeliest causes, as many as there is room for; one alone tells nothing.
            let indent = [run(Tone::Plain, "     ")];
            (observation.fewest()..=observation.outcomes.len()).rev().any(|most| {
                let body = [run(Tone::Plain, self.say(&wording::outcomes(observation, most)))];
                self.screen.whole(&indent, 5, &body, detail.outcome_lines)
            });
        }
    }

    /// What speaks for each of the candidates that the log leaves open.
    fn candidates(&mut self, diagnosis: &Diagnosis, detail: Detail) {
        self.screen.blank();
        let candidates = candidates(&diagnosis.findings, diagnosis.conclusion);
        let most = diagnosis.findings.first().map_or(0.0, |first| first.confidence);
        // Beside one that is all but settled, what speaks for a distant second would only look like a contradiction.
        let worth = |finding: &&Finding| {
            finding.confidence >= most || near(if most >= SURE_ENOUGH { most } else { 0.0 }, finding.confidence)
        };
        let shown = diagnosis.findings.iter().filter(|f| candidates.contains(&f.cause.id)).filter(worth);
        // Of one that is all but settled the first lines say it; and what the account cannot explain, it shows.
        let unexplained = diagnosis.incident.ledger.amount(Holder::Unexplained).is_some();
        if !unexplained
            && most < SURE_ENOUGH
            && shown.clone().all(|finding| finding.supporting().is_empty())
            && detail.evidence > 0
        {
            let rests = wording::rests_on_frequency();
            self.screen.whole(&[], 2, &[run(Tone::Plain, self.say(&rests))], detail.evidence_lines);
        }
        for finding in shown.take(detail.evidence) {
            // A cause that only its frequency speaks for is named above.
            let Some(best) = finding.supporting().first().copied() else { continue };
            let lead = Text::new("Evidence that ", "依据——");
            let mut runs = self.cause_title(&lead, finding);
            let separator = if self.style.lang == Lang::Zh { "：" } else { ": " };
            runs.push(run(Tone::Plain, format!("{separator}{}", self.say(&best.text))));
            if let Some(places) = self.cited(best) {
                runs.push(run(Tone::Faint, format!(" {places}")));
            }
            self.screen.whole(&[], 4, &runs, detail.evidence_lines);
        }
    }

    fn causes(&mut self, diagnosis: &Diagnosis, detail: Detail) {
        if diagnosis.conclusion.is_undecided() && !self.style.verbose && !diagnosis.findings.is_empty() {
            return self.candidates(diagnosis, detail);
        }
        let Some(first) = diagnosis.findings.first() else {
            if self.answers_later {
                self.screen.blank();
                self.heading(&no_cause());
            }
            return;
        };
        self.screen.blank();
        if self.answers_later {
            let title = self.cause_title(&wording::why(first), first);
            self.screen.paragraph(&[], 2, &title);
        } else {
            match first.supporting().is_empty() && first.evidence.iter().all(|evidence| evidence.weight <= 0.0) {
                true => {
                    let rests = wording::rests_on(first, &diagnosis.incident);
                    self.screen.paragraph(&[], 2, &[run(Tone::Plain, self.say(&rests))]);
                }
                false => self.heading(&Text::new("What speaks for it:", "依据：")),
            }
        }
        self.reasons(first, detail);
        let others = diagnosis.findings.iter().skip(1);
        if self.style.verbose {
            let named = candidates(&diagnosis.findings, diagnosis.conclusion);
            let (signed, unsigned): (Vec<&Finding>, Vec<&Finding>) =
                others.partition(|finding| named.contains(&finding.cause.id) || !finding.supporting().is_empty());
            for finding in signed {
                let or = Text::new("Or: ", "或者：");
                let title = self.cause_title(&or, finding);
                self.screen.paragraph(&[], 2, &title);
                self.reasons(finding, detail);
            }
            // Tests of what nothing points to would be those of other programs: a pool's beside a game.
            for (i, finding) in unsigned.into_iter().enumerate() {
                if i == 0 {
                    self.heading(&Text::new(
                        "Without a sign of it in the log, by how often it is the cause of such failures:",
                        "日志中没有迹象，仅按此类故障中的出现频率：",
                    ));
                }
                let title = self.cause_title(&Text::same(String::new()), finding);
                self.screen.paragraph(&[run(Tone::Plain, "  ".to_string())], 4, &title);
            }
        } else if detail.second_cause_lines > 0
            && let Some(second) = others.clone().next().filter(|second| near(first.confidence, second.confidence))
        {
            let or = Text::new("Or: ", "或者：");
            let title = self.cause_title(&or, second);
            let mut runs = title.clone();
            if let Some(best) = second.supporting().first() {
                let separator = if self.style.lang == Lang::Zh { "：" } else { ": " };
                runs.push(run(Tone::Plain, format!("{separator}{}", self.say(&best.text))));
                if let Some(places) = self.cited(best) {
                    runs.push(run(Tone::Faint, format!(" {places}")));
                }
            }
            // Where there is no room for what speaks for it, its name is still worth a line.
            if !self.screen.whole(&[], 4, &runs, detail.second_cause_lines) {
                self.screen.paragraph(&[], 4, &title);
            }
        }
    }

    fn cause_title(&self, lead: &Text, finding: &Finding) -> Vec<Run> {
        let title = (finding.cause.title)();
        let sure = wording::sure(finding);
        let sure = match self.style.lang {
            Lang::En => format!(" ({})", self.say(&sure)),
            Lang::Zh => format!("（{}）", self.say(&sure)),
        };
        vec![
            run(Tone::Strong, format!("{}{}", self.say(lead), self.say(&title))),
            run(Tone::Plain, sure),
            run(Tone::Faint, if self.style.verbose { format!(" [{}]", finding.cause.id.id()) } else { String::new() }),
        ]
    }

    /// The evidence for a cause, and what would rule it out.
    fn reasons(&mut self, finding: &Finding, detail: Detail) {
        let evidence: Vec<&Evidence> = match self.style.verbose {
            true => finding.evidence.iter().collect(),
            false => finding.supporting(),
        };
        for (i, item) in evidence.into_iter().take(detail.evidence).enumerate() {
            // What weighs most is told before what is short.
            let lines = if i == 0 { detail.evidence_lines.max(FIRST_EVIDENCE) } else { detail.evidence_lines };
            let mut body = vec![run(Tone::Plain, self.say(&item.text))];
            if let Some(places) = self.cited(item) {
                body.push(run(Tone::Faint, format!(" {places}")));
            }
            if self.style.verbose {
                body.push(run(Tone::Faint, format!(" ({:+.1})", item.weight)));
            }
            let head = [run(Tone::Faint, self.bullet())];
            self.screen.whole(&head, 4, &body, lines);
        }
        // What is proved needs no test.
        if !finding.refute.is_empty() && (!finding.proved || self.style.verbose) {
            let head = Text::new("  To rule it out: ", "  如何排除：");
            let head = [run(Tone::Faint, self.say(&head))];
            let body = [run(Tone::Plain, self.say(&finding.refute))];
            self.screen.whole(&head, 4, &body, detail.refute_lines);
        }
    }

    fn fixes(&mut self, diagnosis: &Diagnosis, detail: Detail) {
        if diagnosis.plan.offers.is_empty() && diagnosis.plan.wont_help.is_empty() {
            return;
        }
        self.screen.blank();
        // The first stands above already.
        let told = usize::from(!self.answers_later);
        let changes = diagnosis.plan.offers.iter().filter(|ranked| !ranked.look).count();
        if changes > told && detail.fixes > told {
            self.heading(&match self.answers_later {
                true => Text::new("What to change, best first:", "修复建议（按价值排序）："),
                false => Text::new("What else to change, best first:", "其他修复建议（按价值排序）："),
            });
        }
        for (i, ranked) in diagnosis.plan.offers.iter().enumerate().take(detail.fixes).skip(told) {
            match self.style.verbose {
                true => self.fix_in_full(i + 1, ranked),
                false if ranked.look => {
                    let head = Text::new("To see more the next time: ", "下次可先记录：");
                    self.fix(run(Tone::Faint, self.say(&head)), 4, ranked, detail);
                }
                false => self.fix(run(Tone::Plain, format!("  {}. ", i + 1)), 5, ranked, detail),
            }
        }
        // That no setting of the allocator helps is what a snapshot was given for.
        let replayed = diagnosis.incident.proof().is_some()
            && diagnosis.plan.wont_help.first().is_some_and(|(fix, _)| fix.class == Class::AllocConfig);
        let wont_help = detail.wont_help.max(usize::from(replayed && detail.evidence_lines > 1));
        for (fix, why) in diagnosis.plan.wont_help.iter().take(wont_help) {
            let title = (fix.title)();
            let head = Text::new("Will not help: ", "无效做法：");
            let separator = if self.style.lang == Lang::Zh { "：" } else { ": " };
            let body = [run(Tone::Strong, self.say(&title)), run(Tone::Plain, format!("{separator}{}", self.say(why)))];
            let head = [run(Tone::Faint, self.say(&head))];
            self.screen.whole(&head, 4, &body, detail.evidence_lines);
        }
    }

    /// What it frees, costs and changes, in brackets behind a title; nothing where it only costs the doing.
    fn price(&self, ranked: &Ranked, with_benign: bool) -> String {
        let offer = &ranked.offer;
        let free_of_charge = offer.costs.slows == (0.0, 0.0) && offer.costs.numerics == Numerics::Same;
        if free_of_charge && matches!(offer.frees, Frees::Unknown(_)) {
            return String::new();
        }
        let frees = wording::frees(&ranked.offer.frees);
        let cost = wording::slowdown(ranked.offer.costs.slows);
        let mut parts = vec![self.say(&frees).to_string(), self.say(&cost).to_string()];
        if (with_benign || ranked.offer.costs.numerics != Numerics::Benign)
            && let Some(numerics) = wording::numerics(ranked.offer.costs.numerics)
        {
            parts.push(self.say(&numerics).to_string());
        }
        match self.style.lang {
            Lang::En => format!(" ({})", parts.join("; ")),
            Lang::Zh => format!("（{}）", parts.join("，")),
        }
    }

    /// A fix and what to write for it. What is to be typed or pasted is wrapped, never cut.
    fn fix(&mut self, head: Run, hang: usize, ranked: &Ranked, detail: Detail) {
        let title = ranked.title();
        // That results differ in their last digits is said only where it takes no second line.
        let fits =
            |price: &str| columns(&head.text) + columns(self.say(&title)) + columns(price) <= self.screen.width();
        let price = Some(self.price(ranked, true)).filter(|price| fits(price));
        let price = price.unwrap_or_else(|| self.price(ranked, false));
        let body = [run(Tone::Strong, self.say(&title)), run(Tone::Faint, price)];
        self.screen.paragraph(&[head], hang, &body);
        let Some(knob) = ranked.offer.knobs.first() else { return };
        let lines: Vec<&str> =
            knob.line.in_lang(self.style.lang).lines().filter(|line| !line.trim().is_empty()).collect();
        // Of several changes, at least two are seen, and that there are more.
        let shown = if lines.len() == 1 { 1 } else { detail.fix_lines.max(2) };
        let left = lines.len().saturating_sub(shown);
        for line in lines.into_iter().take(shown) {
            // A comment does not leave its mark behind at the end of a line.
            let line = line.replace("# ", &format!("#{NO_BREAK}"));
            let indent = [run(Tone::Plain, "     ")];
            self.screen.paragraph(&indent, 7, &[run(Tone::Command, line)]);
        }
        if left > 0 {
            let noun = if left == 1 { "line" } else { "lines" };
            let rest = self.style.asked.for_the_rest();
            let text = text!(en: "{left} more {noun}{rest}", zh: "还有 {left} 行{rest}");
            self.screen.paragraph(&[run(Tone::Plain, "     ")], 7, &[run(Tone::Faint, self.say(&text))]);
        }
    }

    fn fix_in_full(&mut self, number: usize, ranked: &Ranked) {
        let title = ranked.title();
        let head = [run(Tone::Plain, format!("  {number}. "))];
        let body = [
            run(Tone::Strong, self.say(&title)),
            run(Tone::Faint, format!("{} [{}]", self.price(ranked, true), ranked.fix.id)),
        ];
        self.screen.paragraph(&head, 5, &body);
        let indent = [run(Tone::Plain, "     ")];
        self.screen.paragraph(&indent, 5, &[run(Tone::Plain, self.say(&ranked.offer.why))]);
        let amount = match &ranked.offer.frees {
            Frees::Bytes { formula, .. } => formula,
            Frees::Unknown(why) => why,
        };
        let frees = Text::new("frees: ", "释放：");
        let body = [run(Tone::Faint, format!("{}{}", self.say(&frees), self.say(amount)))];
        self.screen.paragraph(&indent, 7, &body);
        let cures = units::percent(ranked.offer.cures);
        let certainty = wording::certainty(ranked.offer.certainty);
        let body = match self.style.lang {
            Lang::En => format!("chance that this alone is enough: {cures} ({})", certainty.en),
            Lang::Zh => format!("仅此一项即可解决的概率：{cures}（{}）", certainty.zh),
        };
        self.screen.paragraph(&indent, 7, &[run(Tone::Faint, body)]);
        for knob in &ranked.offer.knobs {
            self.screen.paragraph(&indent, 7, &[run(Tone::Faint, format!("{}:", knob.target))]);
            self.screen.verbatim(7, Tone::Command, knob.line.in_lang(self.style.lang));
        }
    }

    /// Other failures, followers, and the way to more.
    fn rest(&mut self, explanation: &Explanation, diagnosis: &Diagnosis, detail: Detail) {
        let mut notes: Vec<String> = Vec::new();
        let others: Vec<&Diagnosis> =
            explanation.diagnoses.iter().filter(|other| !std::ptr::eq(*other, diagnosis)).collect();
        if !others.is_empty() && detail.others > 0 {
            self.screen.blank();
            // The newest first.
            for other in others.iter().rev().take(detail.others) {
                let place = self.place_of(explanation, other);
                let word = match other.incident.survived {
                    Some(_) => Text::new("Outlived", "已挺过"),
                    None => Text::new("Also", "另有"),
                };
                let runs = [
                    run(Tone::Faint, format!("{} {place}  ", self.say(&word))),
                    run(Tone::Plain, self.say(&verdict(other, &explanation.diagnoses))),
                ];
                self.screen.paragraph(&[], 4, &runs);
            }
        }
        let left = others.len().saturating_sub(detail.others);
        if left > 0 {
            let noun = if left == 1 { "failure" } else { "failures" };
            let text = text!(en: "{left} more {noun}", zh: "另有 {left} 个故障");
            notes.push(self.say(&text).into());
        }
        let ranks = diagnosis.incident.ranks.len();
        if ranks > 1 {
            let text = match diagnosis.incident.ranks.first().and_then(|fall| fall.rank) {
                Some(first) => {
                    text!(en: "{ranks} ranks failed, rank {first} first", zh: "{ranks} 个 rank 失败，rank {first} 最先")
                }
                None => text!(en: "{ranks} ranks failed", zh: "{ranks} 个 rank 失败"),
            };
            if detail.ranks > 0 {
                self.screen.blank();
                let colon = if self.style.lang == Lang::Zh { "：" } else { ":" };
                self.heading(&Text::same(format!("{}{colon}", self.say(&text))));
                self.rank_table(explanation, diagnosis, detail.ranks);
                self.and_more(ranks, detail.ranks);
            } else {
                notes.push(self.say(&text).into());
            }
        }
        notes.extend(self.other_messages(&diagnosis.incident));
        notes.extend(self.style.asked.for_everything().map(|how| self.say(&how).into()));
        if notes.is_empty() {
            return;
        }
        let separator = if self.style.lang == Lang::Zh { "；" } else { "; " };
        if self.style.height.is_none_or(|most| self.screen.height() + 2 <= most) {
            self.screen.blank();
        }
        self.screen.paragraph(&[], 2, &[run(Tone::Faint, notes.join(separator))]);
    }

    /// What the other messages of a failure are: another process that was killed, or the same failure told again.
    /// Those of other ranks stand in the table of ranks.
    fn other_messages(&self, incident: &Incident) -> Vec<String> {
        let of_a_rank = |event: &&Event| incident.ranks.iter().any(|fall| fall.line == event.at.first);
        let others: Vec<&Event> = incident.followers.iter().filter(|event| !of_a_rank(event)).collect();
        let killed = |event: &Event| event.has(Sign::CompilerKilled);
        let (kills, rest): (Vec<&Event>, Vec<&Event>) =
            others.into_iter().partition(|event| killed(event) && killed(&incident.event));
        let mut notes = Vec::new();
        let lines: Vec<u64> = kills.iter().map(|event| event.at.first).collect();
        if let Some(place) = self.places(&lines) {
            let (n, noun) = (kills.len(), if kills.len() == 1 { "process was" } else { "processes were" });
            let text = text!(en: "{n} more {noun} killed", zh: "另有 {n} 个进程被杀");
            notes.push(format!("{} {place}", self.say(&text)));
        }
        let n = rest.len();
        let text = match n {
            0 => return notes,
            1 => Text::new("1 other message belongs to this failure", "另有 1 条报错属于同一次失败"),
            _ => text!(en: "{n} other messages belong to this failure", zh: "另有 {n} 条报错属于同一次失败"),
        };
        notes.push(self.say(&text).into());
        notes
    }

    fn nothing_found(&mut self, explanation: &Explanation, most: usize) {
        if let [first, rest @ ..] = explanation.snapshots.as_slice()
            && explanation.inputs.iter().all(|input| input.lines == 0)
        {
            let name = match rest {
                [] => shorten_path(&first.source, self.style.width / 2),
                _ => {
                    let n = rest.len() + 1;
                    self.say(&text!(en: "{n} snapshots", zh: "{n} 个快照")).to_string()
                }
            };
            self.heading(&text!(en: "No failed request recorded in {name}.", zh: "{name} 中没有记录失败的申请。"));
            let hint = Text::new(
                "Give the log of the run as well (oomdoc explain train.log --snapshot …), or see what the snapshot \
                 holds: oomdoc replay.",
                "请同时给出该次运行的日志（oomdoc explain train.log --snapshot …），或用 oomdoc replay 查看快照内容。",
            );
            let runs = [run(Tone::Plain, self.say(&hint))];
            self.screen.paragraph(&[], 0, &runs);
            return;
        }
        let lines: u64 = explanation.inputs.iter().map(|input| input.lines).sum();
        let name = match explanation.inputs.as_slice() {
            [one] if one.source != "-" => shorten_path(&one.source, self.style.width / 2),
            [_] => self.say(&Text::new("the input", "输入")).to_string(),
            many => {
                let n = many.len();
                self.say(&text!(en: "{n} files", zh: "{n} 个文件")).to_string()
            }
        };
        let noun = if lines == 1 { "line" } else { "lines" };
        let head = text!(
            en: "No out-of-memory failure found in {name} ({lines} {noun}).",
            zh: "未发现内存不足故障：{name}（共 {lines} 行）。"
        );
        self.heading(&head);
        self.harmless(explanation, most);
        let ended_well = !explanation.watched.is_empty() && explanation.watched.iter().all(|(_, job)| !job.failed());
        if explanation.harmless.is_empty() && !ended_well {
            let hint = Text::new(
                "If the job did die of memory, the message may be elsewhere: standard error (2>&1), another rank's \
                 log, the kernel's log (dmesg) or the scheduler's (sacct, kubectl describe pod).",
                "如果任务确实因内存不足退出，报错可能在别处：标准错误（2>&1）、其他 rank 的日志、内核日志（dmesg）\
                 或调度器（sacct、kubectl describe pod）。",
            );
            let runs = [run(Tone::Plain, self.say(&hint))];
            self.screen.paragraph(&[], 0, &runs);
        }
        for input in &explanation.inputs {
            let name = shorten_path(&input.source, self.style.width / 2);
            for repair in &input.repairs {
                let cut = match repair {
                    Repair::GzipTruncated => text!(
                        en: "{name} is gzip that ends early: what came last, where failures are told, is not in it.",
                        zh: "{name} 是提前结束的 gzip：最后的内容（报错通常在那里）不在其中。"
                    ),
                    Repair::DeviceCut => {
                        let what = repair.text();
                        Text::new(format!("{name} is {}.", what.en), format!("{name} 是{}。", what.zh))
                    }
                    _ => continue,
                };
                let runs = [run(Tone::Plain, self.say(&cut))];
                self.screen.paragraph(&[], 0, &runs);
            }
        }
    }

    fn harmless(&mut self, explanation: &Explanation, most: usize) {
        if explanation.harmless.is_empty() {
            return;
        }
        self.screen.blank();
        self.heading(&Text::new("Seen, but no lack of memory:", "看到但不是内存不足："));
        for event in explanation.harmless.iter().take(most) {
            let head = [run(Tone::Faint, format!("  {}  ", event.at.first))];
            let runs = [run(Tone::Plain, one_line(&event.message))];
            let clip = if self.style.verbose { usize::MAX } else { 1 };
            self.screen.clipped(&head, 4, &runs, clip);
            if let Some(why) = &event.harmless_because {
                self.screen.paragraph(&[run(Tone::Plain, "    ")], 4, &[run(Tone::Faint, self.say(why))]);
            }
        }
        let left = explanation.harmless.len().saturating_sub(most);
        if left > 0 {
            let rest = self.style.asked.for_the_rest();
            let text = text!(en: "  and {left} more{rest}", zh: "  另有 {left} 条{rest}");
            let runs = [run(Tone::Faint, self.say(&text))];
            self.screen.line(&runs);
        }
    }

    fn account_table(&mut self, ledger: &Ledger) {
        if ledger.entries.is_empty() {
            return;
        }
        self.screen.blank();
        self.heading(&Text::new("The account", "明细账"));
        let names: Vec<String> =
            ledger.entries.iter().map(|entry| self.say(&wording::holder(entry.holder)).to_string()).collect();
        let amounts: Vec<String> = ledger.entries.iter().map(|entry| bounds(entry.amount)).collect();
        let name_width = names.iter().map(|name| columns(name)).max().unwrap_or(0).min(self.style.width / 2);
        let amount_width = amounts.iter().map(|amount| columns(amount)).max().unwrap_or(0);
        for ((entry, name), amount) in ledger.entries.iter().zip(&names).zip(&amounts) {
            let head = [
                run(Tone::Plain, format!("  {}  ", pad(name, name_width))),
                run(Tone::Strong, format!("{}{amount}", " ".repeat(amount_width - columns(amount)))),
            ];
            self.screen.paragraph(&[], 4, &head);
            let separator = if self.style.lang == Lang::Zh { "：" } else { ": " };
            let meaning = wording::holder_meaning(entry.holder);
            let basis = format!("{}{separator}{}", self.say(&meaning), self.say(&entry.basis));
            self.screen.paragraph(&[run(Tone::Plain, "    ")], 4, &[run(Tone::Faint, basis)]);
        }
    }

    fn withheld(&mut self, diagnosis: &Diagnosis) {
        if diagnosis.plan.withheld.is_empty() {
            return;
        }
        self.screen.blank();
        self.heading(&Text::new("Considered and not offered", "考虑过但未推荐"));
        for (fix, why) in &diagnosis.plan.withheld {
            let title = (fix.title)();
            let separator = if self.style.lang == Lang::Zh { "：" } else { ": " };
            let body = [run(Tone::Plain, format!("{}{separator}{}", self.say(&title), self.say(why)))];
            self.screen.paragraph(&[run(Tone::Faint, self.bullet())], 4, &body);
        }
    }

    fn context_table(&mut self, diagnosis: &Diagnosis) {
        let rows = surroundings::rows(&diagnosis.incident.context);
        let versions = diagnosis.incident.event.versions;
        if rows.is_empty() && versions.is_none() {
            return;
        }
        self.screen.blank();
        // A failure that only a snapshot tells of: there is no log.
        let alone = diagnosis.incident.event.at.is_given();
        self.heading(&match alone {
            true => Text::new("What is known about the run", "已知的运行信息"),
            false => Text::new("What the log says about the run", "日志中的运行信息"),
        });
        let mut table = Table::new(&[Column::Left, Column::Text]);
        for row in &rows {
            let mut body = vec![run(Tone::Plain, one_line(self.say(&row.shown)))];
            let place = match row.line {
                Some(line) => self.places(&[line]).unwrap_or_default(),
                None if alone => self.say(&Text::new("[snapshot, or you]", "[来自快照或你]")).to_string(),
                None => self.say(&Text::new("[as you said]", "[由你给出]")).to_string(),
            };
            body.push(run(Tone::Faint, format!(" {place}")));
            table.row(vec![vec![run(Tone::Faint, self.say(&row.label))], body]);
        }
        self.screen.table(2, &table);
        if let Some(versions) = versions {
            let framework = diagnosis.incident.event.program;
            let text = text!(
                en: "  The wording proves {framework} {versions}.",
                zh: "  报错措辞表明 {framework} 版本为 {versions}。"
            );
            let runs = [run(Tone::Plain, self.say(&text))];
            self.screen.paragraph(&[], 4, &runs);
        }
    }

    /// What tables beside the log show, and when they were read: what was free after a death was not free at it.
    fn side_tables(&mut self, diagnosis: &Diagnosis) {
        let context = &diagnosis.incident.context;
        if context.gpus.is_empty() && context.partitions.is_empty() && context.side.is_empty() {
            return;
        }
        let at = diagnosis.incident.event.at;
        let size = |figure: Option<Figure>| figure.map(|figure| Bytes(figure.bytes).to_string());
        let mut table = Table::new(&[Column::Left, Column::Text]);
        let mut add = |page: &Page, name: String, used: Option<Figure>, total: Option<Figure>, line: u64| {
            let shown = match (size(used), size(total)) {
                (Some(used), Some(total)) => text!(en: "{used} of {total} in use", zh: "已用 {used}，共 {total}"),
                (Some(used), None) => text!(en: "{used} in use", zh: "已用 {used}"),
                (None, Some(total)) => text!(en: "{total} in all", zh: "共 {total}"),
                (None, None) => return,
            };
            let moment = match Moment::of(line, at) {
                Moment::Before => Text::new("read before the failure", "失败之前读取"),
                Moment::At => Text::new("read at the failure", "失败时读取"),
                Moment::After => Text::new("read after the failure", "失败之后读取"),
            };
            let place = page.places(&[line]).unwrap_or_default();
            let body = vec![
                run(Tone::Plain, format!("{}, {}", page.say(&shown), page.say(&moment))),
                run(Tone::Faint, format!(" {place}")),
            ];
            table.row(vec![vec![run(Tone::Faint, name)], body]);
        };
        for gpu in &context.gpus {
            add(self, format!("GPU {}", gpu.index), Some(gpu.used), Some(gpu.total), gpu.used.at.first);
        }
        for part in &context.partitions {
            let name = format!("GPU {} MIG {}", part.gpu, part.ids.2);
            add(self, name, Some(part.used), Some(part.total), part.used.at.first);
        }
        for reading in &context.side {
            let name = match &reading.subject {
                Some(subject) => format!("{} {}", reading.of, one_line(subject)),
                None => reading.of.to_string(),
            };
            add(self, name, reading.used, reading.total, reading.line);
        }
        self.screen.blank();
        self.heading(&Text::new("Tables beside the log", "日志旁的表格"));
        self.screen.table(2, &table);
    }

    fn ranks(&mut self, explanation: &Explanation, diagnosis: &Diagnosis) {
        let ranks = &diagnosis.incident.ranks;
        if ranks.is_empty() {
            return;
        }
        self.screen.blank();
        self.heading(&Text::new("The ranks, in the order in which they failed", "各 rank 失败的先后"));
        self.rank_table(explanation, diagnosis, RANKS_SHOWN);
        self.and_more(ranks.len(), RANKS_SHOWN);
    }

    /// Which rank, when, and what became of it.
    fn rank_table(&mut self, explanation: &Explanation, diagnosis: &Diagnosis, most: usize) {
        let mut table = Table::new(&[Column::Right, Column::Left, Column::Left, Column::Text]);
        let head = [Text::same("rank"), Text::new("when", "时间"), Text::same("GPU"), Text::new("what", "情况")];
        table.plain(Tone::Faint, head.iter().map(|text| self.say(text)));
        for fall in diagnosis.incident.ranks.iter().take(most) {
            let number = |number: Option<u32>| number.map_or_else(|| "?".into(), |number| number.to_string());
            let when = fall.clock.map_or_else(|| "?".into(), time_of_day);
            let place = match explanation.inputs.get(fall.file) {
                Some(input) if explanation.inputs.len() > 1 => {
                    format!("{}:{}", shorten_path(&input.source, self.style.width / 3), fall.line)
                }
                _ => self.places(&[fall.line]).unwrap_or_default(),
            };
            let what = match fall.asked.map(Bytes) {
                Some(asked) => text!(en: "asked for {asked}", zh: "申请 {asked}"),
                None => Text::new("failed", "失败"),
            };
            table.row(vec![
                vec![run(Tone::Strong, number(fall.rank))],
                vec![run(Tone::Plain, when)],
                vec![run(Tone::Plain, number(fall.device))],
                vec![run(Tone::Plain, format!("{} ", self.say(&what))), run(Tone::Faint, place)],
            ]);
        }
        self.screen.table(2, &table);
    }

    /// Says how many of a list were not shown, if any.
    fn and_more(&mut self, all: usize, shown: usize) {
        let left = all.saturating_sub(shown);
        if left > 0 {
            let text = text!(en: "  … and {left} more", zh: "  … 另有 {left} 个");
            self.screen.line(&[run(Tone::Faint, self.say(&text).to_string())]);
        }
    }

    fn followers(&mut self, diagnosis: &Diagnosis) {
        if diagnosis.incident.followers.is_empty() {
            return;
        }
        self.screen.blank();
        self.heading(&Text::new("Other messages of this failure", "同一次失败的其他报错"));
        for event in &diagnosis.incident.followers {
            let rank = event.rank.map(|rank| format!("rank {rank}: ")).unwrap_or_default();
            let head = [run(Tone::Faint, format!("  {}  ", event.at.first))];
            self.screen.paragraph(&head, 4, &[run(Tone::Plain, format!("{rank}{}", one_line(&event.message)))]);
        }
    }

    fn inputs(&mut self, explanation: &Explanation) {
        self.screen.blank();
        self.heading(&Text::new("Input", "输入"));
        for input in explanation.inputs.iter().take(INPUTS_SHOWN) {
            self.input(input);
        }
        self.and_more(explanation.inputs.len(), INPUTS_SHOWN);
        let beside = explanation.snapshots.iter().filter(|snapshot| {
            // Without logs the snapshots are the inputs.
            !explanation.inputs.iter().any(|input| input.source == snapshot.source)
        });
        let beside: Vec<&SnapshotSummary> = beside.collect();
        for snapshot in beside.iter().take(INPUTS_SHOWN) {
            let size = Bytes(snapshot.bytes);
            let text = match snapshot.proves {
                true => text!(en: "snapshot, {size}, of this failure", zh: "快照，{size}，记录了本次失败"),
                false => text!(en: "snapshot, {size}, not of this failure", zh: "快照，{size}，不是本次失败"),
            };
            let name = shorten_path(&snapshot.source, self.style.width / 2);
            let body = [run(Tone::Plain, self.say(&text))];
            self.screen.paragraph(&[run(Tone::Faint, format!("  {name}  "))], 4, &body);
        }
        self.and_more(beside.len(), INPUTS_SHOWN);
    }

    fn input(&mut self, input: &InputSummary) {
        let (lines, size, encoding) = (input.lines, Bytes(input.bytes), &input.encoding);
        let text = match (encoding.as_str(), lines) {
            ("snapshot", 0) => text!(en: "snapshot, {size}", zh: "快照，{size}"),
            _ => text!(en: "{lines} lines, {size}, {encoding}", zh: "{lines} 行，{size}，{encoding}"),
        };
        let mut parts = vec![self.say(&text).to_string()];
        parts.extend(input.repairs.iter().map(|repair| self.say(&repair.text()).to_string()));
        let separator = if self.style.lang == Lang::Zh { "；" } else { "; " };
        let body = [run(Tone::Plain, parts.join(separator))];
        let name = shorten_path(&input.source, self.style.width / 2);
        self.screen.paragraph(&[run(Tone::Faint, format!("  {name}  "))], 4, &body);
    }
}

/// `12:34:56` of seconds since midnight.
fn time_of_day(seconds: f64) -> String {
    let whole = seconds as u64;
    format!("{:02}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60)
}

fn no_cause() -> Text {
    Text::new("Why: the log does not say enough to tell.", "原因：日志信息不足，无法判断。")
}

/// What ran out, where, how much was asked and there, in one sentence. `all` are the failures that the log holds.
pub fn verdict(diagnosis: &Diagnosis, all: &[Diagnosis]) -> Text {
    let event = &diagnosis.incident.event;
    if event.has(Sign::Asked)
        && let Some(account) = &diagnosis.incident.ledger.loader
    {
        let limit = Bytes(account.limit.middle_bytes());
        let first = about(account.need.after_one_epoch());
        let end = about(account.need.in_the_end());
        if account.need.caches_in_the_end.high <= 0 {
            return text!(
                en: "The log holds no message, but these data loaders take {end}, and there is {limit}.",
                zh: "日志中没有报错，但这样的数据加载设置要占用 {end}，而总共只有 {limit}。"
            );
        }
        return text!(
            en: "The log holds no message, but these data loaders do not fit {limit}: they take {first} by the end of \
                 the first epoch and {end} in the end.",
            zh: "日志中没有报错，但这样的数据加载设置放不进 {limit}：第一个 epoch 结束时占用 {first}，最终 {end}。"
        );
    }
    if diagnosis.incident.is_broken_record() {
        return Text::new(
            "The record of the job breaks off while memory was nearly full; how the job ended, if it did, was not \
             seen.",
            "作业的记录在内存接近用尽时中断；作业是否结束、如何结束，都没有观察到。",
        );
    }
    if event.has(Sign::KilledWithoutProof) {
        return killed(diagnosis, all);
    }
    if event.has(Sign::BusError) {
        return Text::new(
            "A process died of a bus error (SIGBUS); nothing in the log proves that memory ran out.",
            "一个进程死于总线错误（SIGBUS）；日志中没有证据表明内存用尽。",
        );
    }
    if event.has(Sign::BeyondContext) {
        return Text::new(
            "A request is longer than the context that was set aside for it.",
            "请求超出了为其预留的上下文长度。",
        );
    }
    if event.has(Sign::FixedBuffer) {
        return too_small_within(event);
    }
    if let Some(refused) = refused_to_start(event) {
        return refused;
    }
    let ran_out = event.resource != Resource::Host || ram_ran_out(&diagnosis.incident);
    let never = wording::never_fits(&diagnosis.incident).unwrap_or_default();
    // A limit or a largest buffer refused it: the device may have room.
    let of_device = event.resource == Resource::Gpu;
    let leading = diagnosis.findings.first().filter(|first| first.cause.id == CauseId::FrameworkLimit);
    // Where only a limit is printed, and it is the cause that stands out, nothing tells of the device.
    let alone = event.facts.get(Fact::Limit).is_some() && event.facts.get(Fact::Capacity).is_none();
    let by_limit = leading.is_some_and(|first| first.proved || alone && diagnosis.conclusion == Conclusion::Likely);
    let refused = of_device
        && (by_limit
            || event.refuses_large_blocks()
            || event.has(Sign::AbsurdRequest)
            || event.facts.get(Fact::Capacity).is_none()
                && (event.has(Sign::RefusedByLimit) || event.has(Sign::BufferSizeLimit)));
    // Whoever watches memory and kills well below its size leaves some of it free.
    let watched = event.facts.number(Number::Threshold).filter(|at| event.resource == Resource::Host && *at < WATCHED);
    let threshold = watched.map(|at| {
        let at = (at * 100.0).round();
        text!(en: "A memory monitor's threshold of {at} %", zh: "内存监控的阈值 {at} %")
    });
    // What a runtime counts is its own heap, whose size is not the machine's.
    let heap = event.resource == Resource::Host
        && event.program.own_limit().is_some()
        && !event.has(Sign::KilledWithProof)
        && (event.facts.get(Fact::Free).is_none() || event.on_android() || event.of_a_java_heap());
    // The message names the setting by which the program itself refused, or a worker was ended at its share.
    let budget = event.resource == Resource::Host && event.kept_to_a_budget();
    // A runtime or service that refuses by its own limit says nothing of the machine.
    let by_itself = event.resource == Resource::Host
        && event.has(Sign::RefusedByLimit)
        && !event.has(Sign::AddressSpaceLimit)
        && !event.has(Sign::KilledWithProof)
        && event.program.kind() != Kind::Scheduler
        && (event.facts.get(Fact::Free).is_none() || event.of_a_java_heap());
    let own_heap = heap && event.program.kind() == Kind::Runtime;
    let own = event.resource == Resource::Host && event.facts.setting.is_known() || budget || by_itself && !own_heap;
    let ran_out = ran_out || by_itself;
    let of_a_process = event.met_a_process_limit();
    let place = threshold.unwrap_or_else(|| match ran_out {
        _ if budget => text!(en: "The limit of one worker", zh: "单个 worker 的上限"),
        _ if of_a_process => text!(en: "The system's limit on a process", zh: "系统对进程的上限"),
        _ if own => text!(en: "The program's own limit", zh: "程序自身的上限"),
        true if heap => {
            event.java_area().map_or_else(|| text!(en: "The program's own heap", zh: "程序自身的堆"), |(name, _)| name)
        }
        true if refused => match event.facts.device.value() {
            Some(n) => text!(en: "A request for memory of GPU {n}", zh: "GPU {n} 的显存申请"),
            None => text!(en: "A request for GPU memory", zh: "GPU 显存申请"),
        },
        true if event.has(Sign::SystemV) => text!(en: "A segment of shared memory", zh: "共享内存段申请"),
        true => wording::place(event.resource, event.facts.device.value(), event.accelerator()),
        false if event.has(Sign::PinnedHost) => {
            text!(en: "A request for page-locked host memory", zh: "锁页主机内存申请")
        }
        false if event.refuses_a_thread() => text!(en: "A new thread", zh: "新线程"),
        false if event.refuses_to_lock() => text!(en: "A request to lock pages into RAM", zh: "锁定内存页的请求"),
        false => text!(en: "A request for host memory", zh: "主机内存申请"),
    });
    let mut en: Vec<String> = Vec::new();
    let mut zh: Vec<String> = Vec::new();
    let mut part = |text: Text| {
        en.push(text.en);
        zh.push(text.zh);
    };
    let shown = |fact: Fact| event.facts.get(fact).map(as_exact_as_printed);
    // What a compiled program asks for at once are its temporary buffers; arguments and results stand beside them.
    let planned = event.facts.number(Number::ProgramTotal).filter(|total| *total >= 1.0);
    if let Some(total) = planned {
        let total = Bytes(total as u64);
        part(match shown(Fact::Requested) {
            Some(asked) => text!(
                en: "{asked} asked for by a compiled program of {total} in all",
                zh: "编译后的程序共需 {total}，其中一次申请 {asked}"
            ),
            None => text!(en: "the compiled program needs {total}", zh: "编译后的程序需要 {total}"),
        });
    } else if let Some(asked) = shown(Fact::Requested) {
        part(text!(en: "{asked} asked for", zh: "申请 {asked}"));
    } else if let Some(needed) = shown(Fact::Needed) {
        part(text!(en: "{needed} needed", zh: "需要 {needed}"));
    } else if let Some(wanted) = shown(Fact::Desired) {
        part(text!(en: "{wanted} wanted at start", zh: "启动时要占 {wanted}"));
    }
    if let Some(there) = what_there_was(event) {
        part(there);
    }
    if event.resource.on_host() {
        let who = match (event.facts.process_name.get(), event.facts.pid.value()) {
            (Some(name), Some(pid)) => Some(format!("{name} (pid {pid})")),
            (Some(name), None) => Some(name.clone()),
            (None, Some(pid)) => Some(format!("pid {pid}")),
            (None, None) => None,
        };
        let killed = event.killed();
        match (who, held(event).map(|held| (held.en, held.zh))) {
            (Some(who), _) if event.has(Sign::ToldToEnd) => {
                part(text!(en: "{who} was told to end (SIGTERM)", zh: "向 {who} 发送了 SIGTERM"));
            }
            (Some(who), Some((held, zh))) if killed => {
                part(text!(en: "{who} was killed, holding {held}", zh: "被终止的 {who} 占用 {zh}"));
            }
            (Some(who), None) if killed => part(text!(en: "{who} was killed", zh: "{who} 被终止")),
            (Some(who), Some((held, zh))) => part(text!(en: "{who} held {held}", zh: "{who} 占用 {zh}")),
            (Some(who), None) => part(text!(en: "{who} failed", zh: "{who} 失败")),
            (None, Some((held, zh))) => part(text!(en: "the process held {held}", zh: "进程占用 {zh}")),
            (None, None) => {}
        }
    } else if event.has(Sign::NoFigures) && shown(Fact::Requested).is_none() {
        part(Text::new("the message gives no figures", "报错未给出数字"));
    }
    // A cache that does not fit is planned, whatever was being loaded.
    let phase = diagnosis.incident.context.phase.value().filter(|_| event.resource != Resource::KvCache);
    let phase = phase.map(wording::phase).unwrap_or_default();
    let rank = event.rank.map(|rank| text!(en: " on rank {rank}", zh: "（rank {rank}）")).unwrap_or_default();
    let verb = match event.resource {
        Resource::KvCache => Text::new("does not fit", "放不下"),
        Resource::Cgroup => Text::new("was reached", "已用尽"),
        Resource::Shm if event.has(Sign::SystemV) => Text::new("was refused", "被拒绝"),
        Resource::Shm if diagnosis.incident.context.shared_memory_has_room(None) => Text::new("failed", "出错"),
        // A bus error comes of a mapped file as well.
        Resource::Shm if event.has(Sign::EndUntold) => Text::new("may be full", "可能已满"),
        Resource::Shm => Text::new("is full", "已满"),
        // A count ended, and memory may be free.
        Resource::Gpu if event.has(Sign::AllocationsRanOut) => {
            Text::new("was asked for more allocations than its driver keeps", "的分配数量超过驱动允许的上限")
        }
        // Such errors follow a broken context or an internal fault as well.
        Resource::Gpu if event.has(Sign::Disguised) && !event.says_out_of_memory() => {
            Text::new("may have run out of memory", "可能不足")
        }
        Resource::Gpu if refused => Text::new("was refused", "被拒绝"),
        Resource::Gpu => Text::new("ran out of memory", "不足"),
        Resource::Host if watched.is_some() || own || of_a_process => Text::new("was reached", "已达到"),
        Resource::Host if ran_out && heap => Text::new("is full", "已满"),
        Resource::Host if ran_out => Text::new("ran out", "不足"),
        Resource::Host => Text::new("was refused", "被拒绝"),
        Resource::CudaSharedMemory => Text::new("is too small", "不足"),
    };
    let phase_en = if phase.is_empty() { String::new() } else { format!(" {}", phase.en) };
    let phase_zh = if phase.is_empty() { String::new() } else { format!("（{}）", phase.zh) };
    let figures_en = if en.is_empty() { String::new() } else { format!(": {}", en.join(", ")) };
    let figures_zh = if zh.is_empty() { String::new() } else { format!("：{}", zh.join("，")) };
    Text::new(
        format!("{}{} {}{phase_en}{}{figures_en}.", never.en, place.en, verb.en, rank.en),
        format!("{}{}{}{phase_zh}{}{figures_zh}。", never.zh, place.zh, verb.zh, rank.zh),
    )
}

/// The headline of a buffer that its program had made too small: nothing of the machine or a device ran out.
fn too_small_within(event: &Event) -> Text {
    let shown = |fact: Fact| event.facts.get(fact).map(as_exact_as_printed);
    match (shown(Fact::Requested), shown(Fact::Free)) {
        (Some(asked), Some(there)) => text!(
            en: "A buffer within the program was too small: {asked} needed, {there} in it; no memory ran out.",
            zh: "程序内部的缓冲区不够用：需要 {asked}，其中有 {there}；内存并未耗尽。"
        ),
        _ => text!(
            en: "A buffer within the program was too small; no memory ran out.",
            zh: "程序内部的缓冲区不够用；内存并未耗尽。"
        ),
    }
}

/// The headline of an engine that compared its devices before it asked for anything: none of them ran out.
fn refused_to_start(event: &Event) -> Option<Text> {
    event.has(Sign::UnevenDevices).then_some(())?;
    let bytes = |number| event.facts.number(number).map(|bytes| Bytes(bytes as u64));
    Some(match (bytes(Number::LeastFree), bytes(Number::OwnFree)) {
        (Some(least), Some(own)) => text!(
            en: "The engine refused to start: {least} were free on one GPU, {own} on another.",
            zh: "引擎拒绝启动：一块 GPU 空闲 {least}，另一块空闲 {own}。"
        ),
        _ => text!(
            en: "The engine refused to start: its GPUs do not have about as much free.",
            zh: "引擎拒绝启动：各 GPU 的空闲量相差过大。"
        ),
    })
}

/// What was free, left or allowed, each by its name: what a pool, a limit or a largest buffer allows is neither the
/// device's size nor free memory of it, and what was free at the start was not free at the failure.
fn what_there_was(event: &Event) -> Option<Text> {
    let shown = |fact: Fact| event.facts.get(fact).map(as_exact_as_printed);
    let (capacity, limit) = (shown(Fact::Capacity), shown(Fact::Limit));
    let bound = match event.resource {
        Resource::Cgroup => limit.clone().or(capacity.clone()).map(|all| text!(en: "{all} in all", zh: "共 {all}")),
        // A node's own threshold, below which it evicts.
        Resource::Host if event.evicted() => {
            limit.as_ref().map(|at| text!(en: "the node evicts below {at}", zh: "节点在空闲低于 {at} 时驱逐"))
        }
        _ if event.has(Sign::BufferSizeLimit) => {
            limit.as_ref().map(|all| text!(en: "one buffer may take {all}", zh: "单个缓冲区上限 {all}"))
        }
        _ => match (&limit, &capacity) {
            (Some(limit), _) => Some(text!(en: "the limit is {limit}", zh: "上限 {limit}")),
            (None, Some(all)) => Some(text!(en: "{all} in all", zh: "共 {all}")),
            (None, None) => None,
        },
    };
    // More than there is, as some drivers have printed: nobody can use that.
    let possible =
        |free: &Figure| event.facts.get(Fact::Capacity).is_none_or(|all| free.interval().low <= all.interval().high);
    if let Some(free) = event.facts.get(Fact::Free).filter(possible) {
        let (read, free) = (free.at.last, as_exact_as_printed(free));
        // What stands beside the request is the failure's, wherever its message stands.
        let before = read > 0 && read < event.at.first && !beside_the_request(event, read);
        return Some(match capacity.filter(|_| limit.is_none() || event.resource != Resource::Cgroup) {
            Some(all) if before => text!(
                en: "{free} of {all} had been free before (line {read})",
                zh: "此前（第 {read} 行）空闲 {free}，共 {all}"
            ),
            None if before => {
                text!(en: "{free} had been free before (line {read})", zh: "此前（第 {read} 行）空闲 {free}")
            }
            Some(all) => text!(en: "{free} of {all} free", zh: "空闲 {free}，共 {all}"),
            None => match bound {
                Some(bound) => Text::new(format!("{free} free, {}", bound.en), format!("空闲 {free}，{}", bound.zh)),
                None => text!(en: "{free} free", zh: "空闲 {free}"),
            },
        });
    }
    let Some(left) = shown(Fact::Available) else { return bound };
    Some(match (event.resource, bound) {
        (Resource::KvCache, None) => text!(en: "{left} left for it", zh: "可用 {left}"),
        (_, Some(bound)) => Text::new(format!("{left} left, {}", bound.en), format!("可用 {left}，{}", bound.zh)),
        (_, None) => text!(en: "{left} left of what it may take", zh: "上限之内只剩 {left}"),
    })
}

/// Half of the difference between 10^6 and 2^20 is a wider error than that of any digit.
const EITHER_BASE: f64 = 0.02;

/// A figure with no more digits than it was printed with, in the unit that suits its size.
fn as_exact_as_printed(figure: Figure) -> String {
    let amount = figure.interval();
    match amount.half_width() as f64 / amount.middle().max(1) as f64 {
        // A zero that was rounded is something.
        _ if figure.bytes == 0 && amount.high > 0 => about(amount),
        // Of MB that may be either, no digit would be left.
        _ if amount.low <= 0 => Bytes(figure.bytes).to_string(),
        width if width > EITHER_BASE => format!("≈ {}", Bytes(figure.bytes)),
        _ => about(amount),
    }
}

/// True where what was asked for was printed by that line or right behind it.
fn beside_the_request(event: &Event, line: u64) -> bool {
    const NEAR: u64 = 3;
    event
        .facts
        .get(Fact::Requested)
        .is_some_and(|asked| asked.at.first <= line + NEAR && asked.at.last < event.at.first)
}

/// True where it is told that the machine's memory was short: by the kernel or whoever killed, by a reading of what was
/// free, or in so many words. A limit, a ceiling of the address space and a request beyond reason are refused as well,
/// with memory to spare.
fn ram_ran_out(incident: &Incident) -> bool {
    let (event, ledger) = (&incident.event, &incident.ledger);
    if event.has(Sign::KilledWithProof) || event.has(Sign::Stated) {
        return true;
    }
    // A program that compares before it loads was refused by itself, with memory left.
    if event.has(Sign::EngineStartup) {
        return false;
    }
    let requested = ledger.requested.or_else(|| Some(event.facts.get(Fact::Needed)?.interval()));
    // What a limit of the program's own leaves is not what the machine has.
    let limited = event.has(Sign::RefusedByLimit) && (event.facts.get(Fact::Free).is_none() || event.of_a_java_heap());
    if limited && event.facts.get(Fact::Capacity).is_none() {
        return false;
    }
    let there = event.facts.get(Fact::Free).or(event.facts.get(Fact::Available)).map(|figure| figure.interval());
    match (there, requested) {
        (Some(there), Some(requested)) => !there.surely_at_least(requested),
        (Some(_), None) => true,
        (None, Some(_)) => false,
        // A size that is told long before a bare refusal says nothing of what was left.
        (None, None) => [Fact::Capacity, Fact::Limit]
            .into_iter()
            .filter_map(|fact| event.facts.get(fact))
            .any(|figure| figure.at.last.saturating_add(BESIDE) >= event.at.first),
    }
}

/// What a process held as its own, and beside it the shared memory that it had touched, where that is not little: pages
/// in memory of /dev/shm and the like are only counted apart in the kernel's line.
fn held(event: &Event) -> Option<Text> {
    let own = event.facts.get(Fact::AnonRss)?;
    let shared = event.facts.get(Fact::ShmemRss).filter(|shared| shared.bytes > own.bytes / 20);
    let own = as_exact_as_printed(own);
    Some(match shared.map(as_exact_as_printed) {
        Some(shared) => text!(en: "{own} and {shared} of shared memory", zh: "{own}，另有共享内存 {shared}"),
        None => text!(en: "{own}", zh: "{own}"),
    })
}

/// Lines before a message from which on a figure is told with it.
const BESIDE: u64 = 3;

/// The headline of a kill that nothing explains: it must not claim more than that.
fn killed(diagnosis: &Diagnosis, all: &[Diagnosis]) -> Text {
    let event = &diagnosis.incident.event;
    let (en, zh) = match (event.facts.process_name.get(), event.facts.pid.value()) {
        (Some(name), Some(pid)) => (format!("{name} (pid {pid})"), format!("{name}（pid {pid}）")),
        (Some(name), None) => (name.clone(), name.clone()),
        (None, Some(pid)) => (format!("Process {pid}"), format!("进程 {pid}")),
        (None, None) if event.has(Sign::PoolWorkerKilled) => {
            ("A worker process".to_string(), "一个工作进程".to_string())
        }
        (None, None) => ("The process".to_string(), "进程".to_string()),
    };
    // Chinese text keeps a space after a Latin letter or a digit.
    let space = if zh.ends_with(|c: char| c.is_ascii_alphanumeric()) { " " } else { "" };
    let phase = diagnosis.incident.context.phase.value().map(wording::phase).unwrap_or_default();
    let phase_en = if phase.is_empty() { String::new() } else { format!(" {}", phase.en) };
    let phase_zh = if phase.is_empty() { String::new() } else { format!("（{}）", phase.zh) };
    let held = held(event).map(|held| Text::new(format!(", holding {}", held.en), format!("，当时占用 {}", held.zh)));
    let held = held.unwrap_or_default();
    // A pool of Python's processes tells no signal, nor does DataLoader always: a worker that crashed reads the same.
    let how = match event.has(Sign::PoolWorkerKilled) || event.has(Sign::EndUntold) {
        true => text!(en: "ended abruptly", zh: "意外终止"),
        false => text!(en: "was killed (SIGKILL)", zh: "被杀死（SIGKILL）"),
    };
    // Another kill that the kernel explains: which of the two this one belongs to may be open, that memory ran out is
    // not.
    let proved = |other: &&Diagnosis| other.incident.event.has(Sign::KilledWithProof) && other.input == diagnosis.input;
    if let Some(other) = all.iter().find(proved) {
        let line = other.incident.event.line();
        return Text::new(
            format!("{en} {}{phase_en}{}; line {line} tells of a kill for want of memory.", how.en, held.en),
            format!("{zh}{space}{}{phase_zh}{}；第 {line} 行记录了因内存不足的终止。", how.zh, held.zh),
        );
    }
    let place = match diagnosis.incident.observed.is_some() {
        true => text!(en: "nothing that was seen", zh: "所观察到的内容均不能"),
        false => text!(en: "nothing in the log", zh: "日志中没有任何内容"),
    };
    Text::new(
        format!("{en} {}{phase_en}{}; {} proves that memory ran out.", how.en, held.en, place.en),
        format!("{zh}{space}{}{phase_zh}{}；{}证明内存耗尽。", how.zh, held.zh, place.zh),
    )
}

/// The parts in the order they are drawn: free last, so that the request begins where free memory begins.
fn drawn_entries(ledger: &Ledger) -> Vec<(Holder, Interval)> {
    let mut entries: Vec<(Holder, Interval)> = ledger
        .entries
        .iter()
        .filter(|entry| entry.amount.middle() > 0)
        .map(|entry| (entry.holder, entry.amount))
        .collect();
    entries.order_by_key(|(holder, _)| *holder == Holder::Free);
    entries
}

/// Shares a number of cells out by size: at least one for each part, by the largest remainder. The cells of parts that
/// do not fill the whole stay undrawn.
fn apportion(sizes: &[u64], whole: u64, cells: usize) -> Vec<usize> {
    let sum: u128 = sizes.iter().map(|size| u128::from(*size)).sum();
    let whole = u128::from(whole).max(sum).max(1);
    let exact: Vec<f64> = sizes.iter().map(|size| *size as f64 * cells as f64 / whole as f64).collect();
    let mut counts: Vec<usize> = exact.iter().map(|share| (*share as usize).max(1)).collect();
    let target = (exact.iter().sum::<f64>().round() as usize).clamp(sizes.len().min(cells), cells);
    while counts.iter().sum::<usize>() < target {
        let Some(i) = (0..counts.len())
            .max_by(|a, b| (exact[*a] - counts[*a] as f64).total_cmp(&(exact[*b] - counts[*b] as f64)))
        else {
            break;
        };
        counts[i] += 1;
    }
    while counts.iter().sum::<usize>() > target {
        let Some(i) = (0..counts.len()).max_by_key(|i| counts[*i]).filter(|i| counts[*i] > 1) else { break };
        counts[i] -= 1;
    }
    counts
}

/// Whether a second cause is worth a line beside the first.
fn near(first: f64, second: f64) -> bool {
    second >= 0.10 && second * 4.0 >= first
}

/// Both ends of a range where they print differently, else the one figure.
fn bounds(amount: Interval) -> String {
    let (low, high) = (crate::units::signed(amount.low), crate::units::signed(amount.high));
    if low == high { low } else { format!("{low} … {high}") }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The end of a path, which tells files apart.
fn shorten_path(path: &str, width: usize) -> String {
    if columns(path) <= width {
        return path.to_string();
    }
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
    shorten(name, width, true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample;

    fn shown(style: Style) -> String {
        anstream::adapter::strip_str(&render(&sample::explanation(), style)).to_string()
    }

    #[test]
    fn one_screen_in_every_width_and_language() {
        for lang in [Lang::En, Lang::Zh] {
            for unicode in [true, false] {
                for width in [40, 60, 80, 100, 120] {
                    let out = shown(Style { lang, width, unicode, ..Style::PLAIN });
                    assert!(out.lines().all(|line| columns(line) <= width), "{width}:\n{out}");
                    let screen = shown(Style { lang, width, unicode, height: Some(30), ..Style::PLAIN });
                    assert!(width < 60 || screen.lines().count() <= 30, "{width}:\n{screen}");
                    let everything = shown(Style { lang, width, unicode, verbose: true, ..Style::PLAIN });
                    assert!(everything.lines().all(|line| columns(line) <= width), "{width}:\n{everything}");
                }
            }
        }
    }

    #[test]
    fn the_screen_answers_the_questions_of_three_in_the_morning() {
        let out = shown(Style::PLAIN);
        for answer in [
            "GPU 0 ran out of memory in the backward pass",
            "4.15 GiB asked for",
            "runs/train.log:412  torch.OutOfMemoryError",
            "at /home/ada/fold/train.py:181 update_nodes",
            "█ allocated 36.78 GiB 83 %",
            "Why: the cache is fragmented (probably, 61 %)",
            "[line 412]",
            "To rule it out: with expandable_segments:True",
            "Or: the job does not fit the device (possibly, 29 %)",
            "Change first: let segments grow instead of fragmenting (frees 3.2–3.5 GiB; 0–2 %\n  slower)",
            "     export PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True\n",
            "frees: unknown",
        ] {
            assert!(out.contains(answer), "{answer} is not in\n{out}");
        }
        assert!(!out.contains("only 8% of the device is cached"), "evidence against a cause is for -v");
        let zh = shown(Style { lang: Lang::Zh, ..Style::PLAIN });
        for answer in [
            "GPU 0 显存不足（反向传播时）：申请 4.15 GiB",
            "原因：显存碎片化（较可能，61 %）",
            "无效做法：减少数据加载进程",
        ] {
            assert!(zh.contains(answer), "{answer} is not in\n{zh}");
        }
    }

    #[test]
    fn verbose_leaves_nothing_out() {
        let out = shown(Style { verbose: true, ..Style::PLAIN });
        for item in [
            "only 8% of the device is cached [line 412] (-0.4)",
            "36.77 GiB … 36.79 GiB",
            "batch size  64 [as you said]",
            "ChildFailedError",
            "the retry worked",
            "Considered and not offered",
            "frees: needs the size of the activations",
            "env X=1 \\",
            "[expandable-segments]",
            "terminal colours removed",
        ] {
            assert!(out.contains(item), "{item} is not in\n{out}");
        }
    }

    #[test]
    fn what_is_missing_sticks_out_of_the_bar() {
        let out = shown(Style::PLAIN);
        let rows: Vec<&str> = out.lines().collect();
        let bar = rows.iter().position(|row| row.contains('█')).unwrap();
        assert!(rows[bar + 1].trim_end().ends_with('▔'));
        assert!(columns(rows[bar + 1]) > columns(rows[bar]), "{out}");
    }

    #[test]
    fn cells_add_up_and_nobody_vanishes() {
        assert_eq!(apportion(&[90, 1, 9], 100, 50), [45, 1, 4]);
        let counts = apportion(&[36_780, 3_560, 340, 10, 3_840], 44_530, 70);
        assert_eq!(counts.iter().sum::<usize>(), 70);
        assert!(counts.iter().all(|count| *count >= 1));
        // Half of the device is not accounted for: half of the bar stays undrawn.
        assert_eq!(apportion(&[50], 100, 40), [20]);
        assert_eq!(apportion(&[], 100, 40), Vec::<usize>::new());
    }

    /// The headline of a failure of the machine's memory.
    fn of_host(sizes: &[(Fact, &str)], signs: &[Sign]) -> Text {
        let mut event = crate::cause::trial::event(crate::domain::Program::Python, Resource::Host, sizes);
        signs.iter().for_each(|sign| event.sign(*sign));
        let incident = crate::cause::trial::settled(event);
        verdict(&Diagnosis { incident, ..sample::explanation().diagnoses.remove(0) }, &[])
    }

    #[test]
    fn a_refused_request_is_no_proof_that_ram_ran_out() {
        let headline = |sizes: &[(Fact, &str)], signs: &[Sign]| of_host(sizes, signs).en;
        let refused = "A request for host memory was refused";
        assert!(headline(&[], &[Sign::AddressSpaceLimit]).starts_with(refused));
        assert!(headline(&[(Fact::Requested, "6.00 GiB")], &[]).starts_with(refused));
        assert!(of_host(&[], &[]).zh.starts_with("主机内存申请被拒绝"));
        let there = [(Fact::Requested, "6.00 GiB"), (Fact::Free, "22.00 GiB")];
        assert!(headline(&there, &[]).starts_with(refused), "there was more than was asked for");
        let pinned = headline(&[(Fact::Requested, "2.00 GiB"), (Fact::Capacity, "64.00 GiB")], &[Sign::PinnedHost]);
        assert!(pinned.starts_with("A request for page-locked host memory was refused"), "{pinned}");
        let short = [(Fact::Requested, "6.00 GiB"), (Fact::Free, "3.00 GiB")];
        assert!(headline(&short, &[]).starts_with("The machine's RAM ran out"));
        assert!(headline(&[], &[Sign::KilledWithProof]).starts_with("The machine's RAM ran out"));
    }

    #[test]
    fn a_model_that_never_fits_is_told_before_anything_else() {
        let mut incident = crate::cause::trial::torch(&crate::cause::trial::FULL_CARD);
        let at = crate::evidence::Span::line(2);
        incident.context.parameters.note(7e9, at);
        incident.context.optimizer.note("adamw".into(), at);
        incident.context.phase.note(crate::incident::context::Phase::Backward, at);
        let told = verdict(&Diagnosis { incident, ..sample::explanation().diagnoses.remove(0) }, &[]);
        assert!(told.en.starts_with("This model never fits: weights, gradients, optimizer states take"), "{told:?}");
        assert!(told.en.contains("GPU ran out of memory in the backward pass"), "{told:?}");
    }

    #[test]
    fn a_message_that_prints_the_request_is_not_said_to_give_no_figures() {
        let mut event = crate::cause::trial::event(
            crate::domain::Program::Cuquantum,
            Resource::Gpu,
            &[(Fact::Requested, "512.00 GiB")],
        );
        event.sign(Sign::NoFigures);
        let incident = crate::cause::trial::settled(event);
        let told = verdict(&Diagnosis { incident, ..sample::explanation().diagnoses.remove(0) }, &[]);
        assert!(told.en.contains("512.00 GiB asked for") && !told.en.contains("no figures"), "{told:?}");
    }

    #[test]
    fn a_kill_that_nothing_proves_is_no_lack_of_memory_whatever_its_figures() {
        let killed =
            of_host(&[(Fact::AnonRss, "3.00 GiB"), (Fact::Capacity, "62.00 GiB")], &[Sign::KilledWithoutProof]);
        assert!(killed.en.contains("was killed (SIGKILL), holding 3.00 GiB; nothing in the log proves"), "{killed:?}");
        assert!(!killed.en.contains("ran out:") && !killed.zh.contains("不足"), "{killed:?}");
    }

    fn headline(program: crate::domain::Program, resource: Resource, signs: &[Sign]) -> String {
        let mut event = crate::cause::trial::event(program, resource, &[]);
        signs.iter().for_each(|sign| event.sign(*sign));
        let incident = crate::cause::trial::settled(event);
        verdict(&Diagnosis { incident, ..sample::explanation().diagnoses.remove(0) }, &[]).en
    }

    /// A guard that refuses leaves the device as it was.
    #[test]
    fn what_refused_before_it_asked_for_memory_did_not_run_out() {
        use crate::domain::Program;
        let uneven = headline(Program::Sglang, Resource::Gpu, &[Sign::EngineStartup, Sign::UnevenDevices]);
        assert!(uneven.starts_with("The engine refused to start"), "{uneven}");
        let context = headline(Program::LlamaCpp, Resource::KvCache, &[Sign::BeyondContext, Sign::NoFigures]);
        assert!(context.starts_with("A request is longer than the context"), "{context}");
    }

    #[test]
    fn a_kill_beside_one_that_the_kernel_explains_is_not_said_to_be_unexplained() {
        let of = |sign: Sign| {
            let mut event = crate::cause::trial::event(crate::domain::Program::Python, Resource::Host, &[]);
            event.sign(sign);
            let incident = crate::cause::trial::settled(event);
            Diagnosis { incident, ..sample::explanation().diagnoses.remove(0) }
        };
        let all = [of(Sign::KilledWithoutProof), of(Sign::KilledWithProof)];
        let told = verdict(&all[0], &all);
        assert!(told.en.contains("tells of a kill for want of memory") && !told.en.contains("nothing"), "{told:?}");
        assert!(verdict(&all[0], &all[..1]).en.contains("nothing in the log proves"));
    }

    #[test]
    fn a_second_cause_is_shown_when_it_is_near() {
        assert!(near(0.5, 0.3) && near(0.4, 0.1));
        assert!(!near(0.9, 0.08) && !near(0.9, 0.2));
    }

    #[test]
    fn paths_keep_their_end() {
        assert_eq!(shorten_path("/a/very/long/path/train.log", 12), "train.log");
        assert_eq!(shorten_path("train.log", 12), "train.log");
    }
}
