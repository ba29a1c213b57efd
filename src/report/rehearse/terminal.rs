//! The rehearsal for people: the answer, the device, the runs, where the peak is, what it rests on.

use super::{View, wording};
use crate::domain::Verdict;
use crate::gpu::products::{PRODUCTS, Provenance};
use crate::rehearse::gpus::Gpu;
use crate::rehearse::outcome::{Question, Run, trap_texts};
use crate::rehearse::view::Level;
use crate::report::layout::{self, Screen, Tone, columns, pad, run, shorten};
use crate::report::table::{Column, Table};
use crate::report::{Explanation, Style, replay, wording as common};
use crate::snapshot::holders;
use crate::text;
use crate::text::Text;
use crate::units::{self, Bytes, Interval};

/// Holders of the peak without `-v`.
const HOLDERS: usize = 5;
/// Changed files of a kind without `-v`.
const CHANGES: usize = 4;
/// Fixes without `-v`.
const FIXES: usize = 3;
/// Runs from which their peaks are drawn.
const DRAWN: usize = 3;

/// The answer as text.
pub fn render(view: &View<'_>) -> String {
    let mut page = Page { screen: Screen::of(view.style), view: *view };
    page.answer();
    page.device();
    page.runs();
    page.failure();
    page.peak();
    page.limits();
    page.files();
    page.screen.render()
}

/// One line when a run is done.
pub fn progress(done: &Run, question: &Question, style: Style) -> String {
    let verdict = done.verdict.text();
    let figures = match done.oom() {
        Some(_) => Text::new("out of memory", "显存不足"),
        None => Text::same(wording::span(done.needed())),
    };
    let label = match done.batch {
        Some(batch) => text!(en: "batch {batch}", zh: "批大小 {batch}"),
        None => Text::same(question.gpu.name.as_str()),
    };
    let say = |text: &Text| text.in_lang(style.lang).to_string();
    format!("  {}  {}, {}, {:.1} s", pad(&say(&label), 12), say(&figures), say(&verdict), done.seconds)
}

/// The table of `--like list`.
pub fn gpus(style: Style) -> String {
    let mut screen = Screen::of(Style { width: style.width.max(78), ..style });
    let say = |en: &str, zh: &str| Text::new(en, zh).in_lang(style.lang).to_string();
    let mut table = Table::new(&[Column::Left; 6]);
    let heads = [
        say("GPU", "GPU"),
        say("memory, GiB", "显存 GiB"),
        say("cc", "算力"),
        say("SMs", "SM"),
        say("context, MiB", "上下文 MiB"),
        say("memory from", "显存来源"),
    ];
    table.plain(Tone::Strong, heads);
    for product in PRODUCTS {
        let gpu = Gpu::of(product, None);
        let gib = |bytes: i128| format!("{:.2}", bytes as f64 / (1u64 << 30) as f64);
        let mib = |bytes: i128| (bytes >> 20).to_string();
        let cells = [
            product.name.to_string(),
            format!("{} … {}", gib(gpu.total.low), gib(gpu.total.high)),
            format!("{}.{}", product.compute.0, product.compute.1),
            product.multiprocessors.to_string(),
            format!("{} … {}", mib(gpu.context.low), mib(gpu.context.high)),
            match product.known {
                Provenance::Reported => say("reports", "实测报告"),
                Provenance::Derived => say("derived", "推算"),
            },
        ];
        table.plain(Tone::Plain, cells);
    }
    screen.table(0, &table);
    let note = say(
        "Memory is what CUDA reports as the total under Linux, which depends on the driver; the smaller figure is used. Contexts are estimates. --gpu-memory sets any other size.",
        "显存为 CUDA 在 Linux 下报告的总量（随驱动而异），取较小值。上下文为估计值。--gpu-memory 可指定其他大小。",
    );
    screen.blank();
    screen.paragraph(&[], 0, &[run(Tone::Faint, note)]);
    screen.render()
}

struct Page<'a> {
    screen: Screen,
    view: View<'a>,
}

impl Page<'_> {
    fn say(&self, text: &Text) -> String {
        text.in_lang(self.view.style.lang).to_string()
    }

    fn pick(&self, en: &str, zh: &str) -> String {
        Text::new(en, zh).in_lang(self.view.style.lang).to_string()
    }

    fn paragraph(&mut self, tone: Tone, text: &str) {
        self.screen.paragraph(&[], 0, &[run(tone, text)]);
    }

    fn heading(&mut self, en: &str, zh: &str) {
        self.screen.blank();
        let text = self.pick(en, zh);
        self.paragraph(Tone::Strong, &text);
    }

    fn bullet(&mut self, text: &Text) {
        let bullet = if self.view.style.unicode { "  • " } else { "  - " };
        let body = [run(Tone::Plain, self.say(text))];
        self.screen.paragraph(&[run(Tone::Faint, bullet)], 4, &body);
    }

    fn answer(&mut self) {
        let answer = self.view.answer;
        let tone = match answer.verdict {
            Verdict::Fits => Tone::Strong,
            Verdict::Tight | Verdict::DoesNotFit | Verdict::Unknown => Tone::Alarm,
        };
        let text = self.say(&wording::headline(answer));
        self.paragraph(tone, &text);
        if answer.runs.len() > 1
            && let Some(shown) = answer.shown().filter(|run| run.verdict == Verdict::Fits)
        {
            let (needed, capacity) = (wording::span(shown.needed()), Bytes(answer.capacity()));
            let mut text = match shown.batch {
                Some(batch) => text!(
                    en: "Batch {batch} needs {needed} of {capacity}.",
                    zh: "批大小 {batch} 需要 {needed}，共 {capacity}。"
                ),
                None => text!(en: "It needs {needed} of {capacity}.", zh: "需要 {needed}，共 {capacity}。"),
            };
            if shown.pressed == Some(true) {
                let usable = Bytes(answer.usable());
                text.en +=
                    &format!(" PyTorch's cache grows that far, but it still ran where only {usable} were there.");
                text.zh += &format!("PyTorch 缓存会增长到这个程度，但在只有 {usable} 时仍能运行。");
            }
            let text = self.say(&text);
            self.paragraph(Tone::Plain, &text);
        }
        if let Some(why) = &answer.cut_short {
            let text = self.say(why);
            self.paragraph(Tone::Alarm, &text);
        }
        if let Some(built) = answer.shown().and_then(Run::deciding).and_then(|take| take.model.as_ref()) {
            let text = self.say(&wording::model(built));
            self.paragraph(Tone::Plain, &text);
        }
    }

    /// The device with the shown run in it.
    fn device(&mut self) {
        let answer = self.view.answer;
        let Some(shown) = answer.shown().filter(|run| run.ran()) else { return };
        let capacity = answer.capacity();
        let reserved = shown.reserved().high.max(0) as u64;
        let allocated = shown.deciding().map_or(0, |take| take.allocated).min(reserved);
        let outside = shown.deciding().map_or(0, |take| take.outside.sum().middle_bytes());
        let cached = reserved - allocated;
        let free = capacity.saturating_sub(reserved).saturating_sub(outside);
        let unicode = self.view.style.unicode;
        let marks = if unicode { ["█", "▒", "▓", "·"] } else { ["#", "=", "%", "."] };
        let tones = [Tone::Used, Tone::Idle, Tone::Foreign, Tone::Free];
        let labels = [
            self.pick("in use at the peak", "峰值占用"),
            self.pick("cached", "缓存"),
            self.outside(shown),
            self.pick("free", "空闲"),
        ];
        let sizes = [allocated, cached, outside, free];
        let room = self.screen.width() - 2;
        let filled = sizes.iter().fold(0u64, |sum, size| sum.saturating_add(*size)).max(1);
        self.screen.blank();
        let mut runs = vec![run(Tone::Plain, "  ")];
        let (mut sum, mut drawn) = (0u64, 0usize);
        for ((size, mark), tone) in sizes.iter().zip(marks).zip(tones) {
            sum = sum.saturating_add(*size);
            let until = ((sum as f64 / filled as f64) * room as f64).round() as usize;
            runs.push(run(tone, mark.repeat(until.saturating_sub(drawn))));
            drawn = drawn.max(until);
        }
        self.screen.line(&runs);
        let cells: Vec<Vec<layout::Run>> = sizes
            .iter()
            .zip(marks)
            .zip(tones)
            .zip(&labels)
            .filter(|(((size, _), _), _)| **size > 0)
            .map(|(((size, mark), tone), label)| {
                vec![run(tone, format!("{mark} ")), run(Tone::Plain, format!("{} {label}", Bytes(*size)))]
            })
            .collect();
        self.screen.grid(2, &cells);
    }

    /// What is estimated for a run, in a few words.
    fn outside(&self, shown: &Run) -> String {
        match shown.deciding().is_some_and(|take| take.outside.nccl.is_some()) {
            true => self.pick("context, libraries, NCCL (estimate)", "上下文、库与 NCCL（估计）"),
            false => self.pick("context, libraries (estimate)", "上下文与库（估计）"),
        }
    }

    fn runs(&mut self) {
        let answer = self.view.answer;
        if answer.runs.len() < 2 && !self.view.style.verbose {
            return;
        }
        self.heading("Runs", "各次运行");
        let heads = [
            self.pick("batch", "批大小"),
            self.pick("in use", "占用"),
            self.pick("reserved", "已保留"),
            self.pick("needed", "共需"),
            self.pick("verdict", "结论"),
            self.pick("seconds", "秒"),
        ];
        let mut rows: Vec<(Tone, [String; 6])> = vec![(Tone::Faint, heads)];
        for (i, one) in answer.runs.iter().enumerate() {
            let whole = one.is_whole() && one.oom().is_none();
            // Of a lower bound the lower end is enough.
            let span = |amount: Interval| match whole {
                true => wording::span(amount),
                false => format!("≥ {}", wording::span(Interval { low: amount.low, high: amount.low })),
            };
            let mut verdict = self.say(&one.verdict.text());
            if one.oom().is_some() {
                verdict = self.pick("out of memory", "显存不足");
            }
            rows.push((
                if i == answer.shown { Tone::Strong } else { Tone::Plain },
                [
                    one.batch.map_or("-".into(), |batch| batch.to_string()),
                    span(Interval::exactly(one.allocated())),
                    span(one.reserved()),
                    span(one.needed()),
                    verdict,
                    format!("{:.1}", one.seconds),
                ],
            ));
        }
        let mut table =
            Table::new(&[Column::Right, Column::Right, Column::Right, Column::Right, Column::Left, Column::Right]);
        for (tone, row) in rows {
            table.plain(tone, row);
        }
        self.screen.table(2, &table);
        self.plot();
    }

    /// Peaks over the batch as bars, with the end of the device marked.
    fn plot(&mut self) {
        let answer = self.view.answer;
        let drawn: Vec<&Run> = answer.runs.iter().filter(|run| run.batch.is_some()).collect();
        if drawn.len() < DRAWN {
            return;
        }
        let capacity = answer.capacity();
        let label = drawn.iter().filter_map(|run| run.batch).max().unwrap_or(0).to_string().len();
        let room = self.screen.width().saturating_sub(label + 4);
        let reach = room * 9 / 10;
        let unicode = self.view.style.unicode;
        let (full, end, beyond) = if unicode { ("█", "│", "▶") } else { ("#", "|", ">") };
        let at = |bytes: u64| ((bytes as f64 / capacity.max(1) as f64) * reach as f64).round() as usize;
        self.screen.blank();
        for one in drawn {
            let out = one.oom().is_some();
            let needed = one.needed().high.max(0) as u64;
            let length = if out { room - 1 } else { at(needed).min(room - 1) };
            let tone = match one.verdict {
                Verdict::Fits => Tone::Used,
                Verdict::Tight => Tone::Idle,
                _ => Tone::Alarm,
            };
            let batch = one.batch.unwrap_or(0);
            let mut runs = vec![run(Tone::Faint, format!("  {batch:>label$} "))];
            if length >= reach {
                runs.push(run(tone, full.repeat(reach)));
                runs.push(run(Tone::Strong, end));
                runs.push(run(tone, full.repeat((length - reach).saturating_sub(1))));
                runs.push(run(tone, if out { beyond } else { "" }));
            } else {
                runs.push(run(tone, full.repeat(length)));
                runs.push(run(Tone::Plain, " ".repeat(reach - length)));
                runs.push(run(Tone::Strong, end));
            }
            self.screen.line(&runs);
        }
        let text = self.pick("needed", "共需");
        let capacity = Bytes(capacity).to_string();
        let lead = (label + 3 + reach + 1).saturating_sub(columns(&capacity));
        let gap = lead.saturating_sub(label + 3 + columns(&text));
        let line = format!("{}{text}{}{capacity}", " ".repeat(label + 3), " ".repeat(gap));
        self.screen.line(&[run(Tone::Faint, line)]);
    }

    /// The first out-of-memory error with its explanation.
    fn failure(&mut self) {
        let Some((failed, oom)) = self.view.answer.first_oom() else { return };
        let when = self.say(&wording::moment(oom.phase.as_deref(), oom.step));
        self.screen.blank();
        let head = match (failed.batch, when.is_empty()) {
            (Some(batch), true) => text!(en: "What batch {batch} ran into", zh: "批大小 {batch} 遇到的错误"),
            (Some(batch), false) => {
                text!(en: "What batch {batch} ran into {when}", zh: "批大小 {batch} 在{when}遇到的错误")
            }
            (None, true) => Text::new("What it ran into", "遇到的错误"),
            (None, false) => text!(en: "What it ran into {when}", zh: "在{when}遇到的错误"),
        };
        let head = self.say(&head);
        self.paragraph(Tone::Strong, &head);
        let most = if self.view.style.verbose { usize::MAX } else { 5 };
        let message = [run(Tone::Faint, oom.message.trim())];
        self.screen.clipped(&[run(Tone::Plain, "  ")], 2, &message, most);
        let frames = if self.view.style.verbose { 12 } else { 2 };
        self.stack(&oom.stack, frames);
        if let Some(explanation) = self.view.explanation {
            self.explanation(explanation);
        }
    }

    fn stack(&mut self, stack: &[String], most: usize) {
        let own = wording::own_frames(stack);
        let shown = if self.view.style.verbose { stack.iter().collect() } else { own };
        for frame in shown.into_iter().take(most) {
            let at = self.pick("at ", "位于 ");
            let room = self.screen.width().saturating_sub(2 + columns(&at));
            let frame = shorten(frame, room, self.view.style.unicode);
            self.screen.line(&[run(Tone::Faint, format!("  {at}")), run(Tone::Plain, frame)]);
        }
    }

    fn explanation(&mut self, explanation: &Explanation) {
        let Some(diagnosis) = explanation.primary() else { return };
        if let Some(finding) = diagnosis.findings.first() {
            let (title, sure) = ((finding.cause.title)(), units::percent(finding.confidence));
            let text =
                Text::new(format!("Most likely: {} ({sure})", title.en), format!("最可能：{}（{sure}）", title.zh));
            let text = self.say(&text);
            self.screen.paragraph(&[run(Tone::Plain, "  ")], 2, &[run(Tone::Strong, text)]);
        }
        for tried in &self.view.answer.tried {
            let text = self.say(&tried.text());
            let tone = if tried.helps() { Tone::Strong } else { Tone::Plain };
            self.screen.paragraph(&[run(Tone::Plain, "  ")], 2, &[run(tone, text)]);
        }
        let most = if self.view.style.verbose { usize::MAX } else { FIXES };
        for (i, ranked) in diagnosis.plan.offers.iter().take(most).enumerate() {
            let (title, frees) = (self.say(&ranked.title()), self.say(&common::frees(&ranked.offer.frees)));
            let head = [run(Tone::Strong, format!("  {}. ", i + 1))];
            let separator = self.pick(": ", "：");
            self.screen.paragraph(&head, 5, &[run(Tone::Plain, format!("{title}{separator}{frees}"))]);
            if let Some(knob) = ranked.offer.knobs.first() {
                let line = knob
                    .line
                    .in_lang(self.view.style.lang)
                    .lines()
                    .find(|line| !line.trim().is_empty())
                    .unwrap_or_default();
                let line = shorten(line.trim(), self.screen.width().saturating_sub(5), self.view.style.unicode);
                self.screen.line(&[run(Tone::Command, format!("     {line}"))]);
            }
        }
    }

    /// Where the peak of the shown run is, and who holds it.
    fn peak(&mut self) {
        let Some(shown) = self.view.answer.shown().filter(|run| run.ran()) else { return };
        let Some(take) = shown.deciding().filter(|take| take.allocated > 0) else { return };
        let when = self.say(&wording::peak_moment(take));
        let holding = self.view.peak.and_then(|analysis| {
            let device = analysis.devices.iter().max_by_key(|device| device.holding.bytes)?;
            Some((device, &analysis.sites))
        });
        if when.is_empty() && holding.is_none() {
            return;
        }
        self.screen.blank();
        let batch = shown.batch;
        let head = match (batch, shown.oom()) {
            (Some(batch), None) => text!(en: "The peak of batch {batch}", zh: "批大小 {batch} 的峰值"),
            (Some(batch), Some(_)) => {
                text!(en: "The peak of batch {batch} until then", zh: "批大小 {batch} 此前的峰值")
            }
            (None, None) => Text::new("The peak", "峰值"),
            (None, Some(_)) => Text::new("The peak until then", "此前的峰值"),
        };
        let head = match when.is_empty() {
            true => self.say(&head),
            false => format!("{}{}{when}", self.say(&head), self.pick(" is ", "：")),
        };
        self.paragraph(Tone::Strong, &head);
        if let Some(peak) = &take.peak {
            let most = if self.view.style.verbose { 12 } else { 1 };
            self.stack(&peak.stack, most);
        }
        let Some((device, sites)) = holding else { return };
        let most = if self.view.style.verbose { usize::MAX } else { HOLDERS };
        let mut table = replay::terminal::held_table();
        for holder in device.holding.holders.iter().take(most) {
            let site = sites.get(holder.site as usize);
            // The backward pass runs in threads of autograd, which have no Python stack.
            let in_backward = take.peak.as_ref().is_some_and(|at| at.phase.as_deref() == Some("backward"));
            let place = match in_backward && site.is_none_or(holders::is_silent) {
                true => self.pick("no Python stack: likely the backward pass", "没有 Python 调用栈：很可能是反向传播"),
                false => self.say(&replay::wording::place(site)),
            };
            let count = self.say(&replay::wording::count(holder));
            table.row(replay::terminal::held_row(holder, device.holding.bytes, place, &count));
        }
        self.screen.table(2, &table);
    }

    /// What became of the user's files: nothing, and what the program would have done to them.
    fn files(&mut self) {
        let answer = self.view.answer;
        let Some(take) = answer.shown().and_then(Run::deciding) else { return };
        let verbose = self.view.style.verbose;
        let told = wording::changes(&take.changes, if verbose { usize::MAX } else { CHANGES });
        let unprotected = answer.view.level == Level::Off;
        if told.is_empty() && !verbose && !unprotected {
            return;
        }
        self.heading("Your files", "你的文件");
        let text = self.say(&wording::protection(&answer.view));
        self.paragraph(Tone::Plain, &text);
        told.iter().for_each(|text| self.bullet(text));
        if verbose && !take.kept_back.is_empty() {
            let names = take.kept_back.join(", ");
            let text =
                text!(en: "not passed on: {names} (--env NAME passes one)", zh: "未传递：{names}（--env NAME 可传递）");
            self.bullet(&text);
        }
    }

    /// What keeps the figures from being those of a real GPU, and what they rest on.
    fn limits(&mut self) {
        let answer = self.view.answer;
        let Some(shown) = answer.shown() else { return };
        let verbose = self.view.style.verbose;
        let shortfalls = shown.shortfalls();
        let failed = shown.takes.iter().find(|take| !take.last_words.is_empty());
        if !shown.ran() {
            if let Some(take) = failed {
                self.heading("What the program wrote last", "程序最后的输出");
                let most = if verbose { usize::MAX } else { 6 };
                let from = take.last_words.len().saturating_sub(most);
                for line in take.last_words.iter().skip(from) {
                    self.screen.verbatim(2, Tone::Faint, line);
                }
            }
        } else if !shortfalls.is_empty() {
            self.heading("Only a lower bound, because", "只是下限，因为");
            shortfalls.iter().for_each(|text| self.bullet(text));
        }
        let mut told: Vec<Text> = shown.notes();
        let traps = shown.takes.iter().flat_map(|take| &take.traps);
        told.extend(trap_texts(traps.filter(|trap| trap.keeps_memory())));
        if !told.is_empty() {
            self.heading("Worth knowing", "值得注意");
            let most = if verbose { usize::MAX } else { 4 };
            told.iter().take(most).for_each(|text| self.bullet(text));
        }
        let assumed = wording::assumptions(answer);
        if verbose {
            self.heading("Assumed", "前提与估计");
            assumed.iter().for_each(|text| self.bullet(text));
            for take in &shown.takes {
                let order = wording::order(take.addresses);
                let (allocated, reserved) = (Bytes(take.allocated), Bytes(take.reserved));
                let (retries, steps) = (take.retries, take.steps);
                let text = Text::new(
                    format!(
                        "addresses {}: {allocated} in use, {reserved} reserved, {steps} steps, cache given back {retries} times",
                        order.en
                    ),
                    format!("地址{}：占用 {allocated}，保留 {reserved}，{steps} 步，缓存归还 {retries} 次", order.zh),
                );
                self.bullet(&text);
            }
        } else if !assumed.is_empty() && shown.ran() {
            self.screen.blank();
            let outside = shown.deciding().map(|take| wording::span(take.outside.sum())).unwrap_or_default();
            let seconds = format!("{:.0}", answer.seconds);
            let text = text!(
                en: "No GPU was used: {seconds} s on this machine's processors. Estimated, not simulated: {outside} outside of PyTorch's tensors. -v lists all that was assumed.",
                zh: "未使用 GPU：在本机处理器上用时 {seconds} 秒。PyTorch 张量之外的 {outside} 是估计而非模拟。-v 列出全部前提。"
            );
            let text = self.say(&text);
            self.paragraph(Tone::Faint, &text);
            // What the user left open and what decides much is said without being asked.
            let gpu = &answer.question.gpu;
            if let Some(first) = assumed.first().filter(|_| !gpu.named || gpu.unified) {
                let text = format!("{}{}", self.pick("Assumed: ", "前提："), self.say(first));
                self.paragraph(Tone::Faint, &text);
            }
        }
    }
}
