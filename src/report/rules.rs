//! The documentation of causes and fixes, as `oomdoc rules` prints it and as `docs/causes.md` and `docs/fixes.md` hold
//! it.

use super::Style;
use super::layout::{Run, Screen, Tone, run};
use super::table::{Column, Table};
use super::view::Tool;
use super::wording;
use crate::allocator::config::{OPTIONS, OptionRule};
use crate::cause::proof::premises;
use crate::cause::{CAUSES, CauseId};
use crate::fix::work::Work;
use crate::fix::{Class, FIXES, Fix};
use crate::order::InOrder;
use crate::text::{Lang, Text};
use schemars::JsonSchema;
use serde::Serialize;

/// A kind of rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum, Serialize, JsonSchema)]
pub enum Subject {
    #[serde(rename = "cause")]
    Causes,
    #[serde(rename = "fix")]
    Fixes,
}

/// A cause or fix as documentation.
#[derive(Debug, Clone)]
pub struct Rule {
    pub subject: Subject,
    pub id: &'static str,
    pub class: Option<Class>,
    pub title: Text,
    pub doc: Text,
}

/// Every cause, then every fix, each in its registered order.
pub fn all() -> Vec<Rule> {
    let causes = CAUSES.iter().map(|cause| Rule {
        subject: Subject::Causes,
        id: cause.id.id(),
        class: None,
        title: (cause.title)(),
        doc: with(&(cause.doc)(), &of_cause(cause.id)),
    });
    let fixes = FIXES.iter().map(|fix| Rule {
        subject: Subject::Fixes,
        id: fix.id,
        class: Some(fix.class),
        title: (fix.title)(),
        doc: with(&(fix.doc)(), &of_fix(fix)),
    });
    causes.chain(fixes).collect()
}

/// A rule's prose with what is known of it as data behind it.
fn with(doc: &Text, facts: &Text) -> Text {
    let both = |doc: &str, facts: &str| format!("{}\n\n{facts}", doc.trim_end()).trim_end().to_string();
    Text::new(both(&doc.en, &facts.en), both(&doc.zh, &facts.zh))
}

/// The fixes that may cure a cause, the likeliest first.
fn of_cause(cause: CauseId) -> Text {
    let mut cures: Vec<(f64, &str)> = FIXES
        .iter()
        .filter_map(|fix| fix.cures().get(&cause).filter(|cured| **cured >= FAINT).map(|cured| (*cured, fix.id)))
        .collect();
    cures.order_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(b.1)));
    let list: Vec<String> = cures.iter().map(|(_, id)| format!("`{id}`")).collect();
    let cured = Text::new(
        format!("**What may cure it.** {}.", list.join(", ")),
        format!("**可能有效的修复。** {}。", list.join("、")),
    );
    match premises(cause) {
        Some(premises) => Text::new(
            format!("**Proved where** {}.\n\n{}", premises.en, cured.en),
            format!("**可证明的条件。** {}。\n\n{}", premises.zh, cured.zh),
        ),
        None => Text::new(
            format!("**Never proved** from a log.\n\n{}", cured.en),
            format!("**无法仅凭日志证明。**\n\n{}", cured.zh),
        ),
    }
}

/// Below this probability a cure is by chance.
const FAINT: f64 = 0.1;

/// What a fix cures and costs, what it is advice for, and its lines for each target.
fn of_fix(fix: &Fix) -> Text {
    let mut cures: Vec<(CauseId, f64)> = fix.cures().iter().map(|(cause, cured)| (*cause, *cured)).collect();
    cures.order_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    let list = |between: &str| {
        let each = cures.iter().map(|(cause, cured)| format!("`{}` {:.0} %", cause.id(), cured * 100.0));
        each.collect::<Vec<_>>().join(between)
    };
    let mut en = Vec::new();
    let mut zh = Vec::new();
    if !cures.is_empty() {
        en.push(format!("**Cures.** {}.", list(", ")));
        zh.push(format!("**解决的概率。** {}。", list("、")));
        let speed = wording::slowdown(fix.costs.slows);
        let numerics = wording::numerics(fix.costs.numerics).unwrap_or(Text::new("same results", "结果不变"));
        en.push(format!("**Costs.** {}; {}.", speed.en, numerics.en));
        zh.push(format!("**代价。** {}；{}。", speed.zh, numerics.zh));
    }
    if fix.helps.len() < Work::ALL.len() {
        let works: Vec<String> = fix.helps.iter().map(|work| format!("`{work}`")).collect();
        en.push(format!("**For.** {}.", works.join(", ")));
        zh.push(format!("**适用于。** {}。", works.join("、")));
    }
    if !fix.needs.is_empty() {
        let needs: Vec<String> = fix.needs.iter().map(|need| format!("`{need}`")).collect();
        en.push(format!("**Only where.** {}.", needs.join(", ")));
        zh.push(format!("**仅限于。** {}。", needs.join("、")));
    }
    let lines = |lang: Lang| {
        let each = fix.knobs.iter().flat_map(|line| {
            let template = line.template();
            let lines: Vec<String> = template.in_lang(lang).lines().map(str::to_string).collect();
            lines.into_iter().map(|text| format!("- {}: `{text}`", line.target)).collect::<Vec<_>>()
        });
        each.collect::<Vec<_>>().join("\n")
    };
    if !fix.knobs.is_empty() {
        en.push(format!("**Lines.**\n\n{}", lines(Lang::En)));
        zh.push(format!("**设置行。**\n\n{}", lines(Lang::Zh)));
    }
    Text::new(en.join("\n\n"), zh.join("\n\n"))
}

/// Prose is in the language of the report, documentation in Markdown.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(title = "oomdoc rules --format json")]
pub struct Document {
    #[schemars(extend("const" = "oomdoc.rules/1"))]
    schema: &'static str,
    tool: Tool,
    /// The rules asked for: every cause, then every fix.
    #[serde(skip_serializing_if = "Option::is_none")]
    rules: Option<Vec<Described>>,
    /// Of alloc-conf: the options of PyTorch's allocator, in place of rules.
    #[serde(skip_serializing_if = "Option::is_none")]
    options: Option<Vec<DescribedOption>>,
}

/// A cause or a fix.
#[derive(Debug, Serialize, JsonSchema)]
struct Described {
    kind: Subject,
    id: &'static str,
    /// Of a fix: the kind of change.
    #[serde(skip_serializing_if = "Option::is_none")]
    class: Option<Class>,
    title: String,
    doc: String,
}

/// An option of PyTorch's allocator.
#[derive(Debug, Serialize, JsonSchema)]
struct DescribedOption {
    option: &'static str,
    /// First release of PyTorch that accepts it.
    since: String,
    values: &'static str,
    default: &'static str,
    effect: String,
}

impl Document {
    fn of(rules: Option<Vec<Described>>, options: Option<Vec<DescribedOption>>) -> Document {
        Document { schema: "oomdoc.rules/1", tool: Tool::this(), rules, options }
    }
}

impl Described {
    fn of(rule: &Rule, lang: Lang) -> Described {
        Described {
            kind: rule.subject,
            id: rule.id,
            class: rule.class,
            title: rule.title.in_lang(lang).to_string(),
            doc: rule.doc.in_lang(lang).trim().to_string(),
        }
    }
}

/// All rules, or those of one kind, for programs.
pub fn document(subject: Option<Subject>, lang: Lang) -> Document {
    let wanted = all().into_iter().filter(|rule| subject.is_none_or(|subject| subject == rule.subject));
    Document::of(Some(wanted.map(|rule| Described::of(&rule, lang)).collect()), None)
}

/// One rule, for programs.
pub fn document_of(rule: &Rule, lang: Lang) -> Document {
    Document::of(Some(vec![Described::of(rule, lang)]), None)
}

/// The options of PyTorch's allocator, for programs.
pub fn alloc_conf_document(lang: Lang) -> Document {
    let options = OPTIONS.iter().map(|rule| DescribedOption {
        option: rule.key,
        since: format!("{}.{}", rule.since.0, rule.since.1),
        values: rule.values,
        default: rule.default,
        effect: (rule.effect)().in_lang(lang).to_string(),
    });
    Document::of(None, Some(options.collect()))
}

/// True for the name under which the options of PyTorch's allocator are documented.
pub fn is_alloc_conf(id: &str) -> bool {
    normal(id) == "alloc-conf"
}

fn alloc_conf_intro() -> Text {
    Text::new(
        "Options of `PYTORCH_CUDA_ALLOC_CONF` (ROCm also `PYTORCH_HIP_ALLOC_CONF`; `PYTORCH_ALLOC_CONF` from 2.10 on), \
         written `option:value,option:value`. Where several are set, the CUDA one counts alone. They are read once, at \
         the first allocation; a misspelt option stops the program.",
        "`PYTORCH_CUDA_ALLOC_CONF`（ROCm 另有 `PYTORCH_HIP_ALLOC_CONF`；2.10 起有 `PYTORCH_ALLOC_CONF`）的选项，写法为 \
         `选项:值,选项:值`。同时设置多个变量时只认 CUDA 的那个。仅在首次分配时读取一次；选项拼写错误会使程序退出。",
    )
}

/// Version, values and default of an option, in one line.
fn alloc_conf_facts(rule: &OptionRule) -> Text {
    let (major, minor) = rule.since;
    crate::text!(
        en: "since PyTorch {major}.{minor}; {}; default {}",
        zh: "自 PyTorch {major}.{minor} 起；取值：{}；默认 {}",
        rule.values, rule.default
    )
}

/// Every option of PyTorch's allocator, wrapped for the terminal.
pub fn show_alloc_conf(style: Style) -> String {
    let mut screen = Screen::of(style);
    screen.paragraph(&[], 0, &inline(alloc_conf_intro().in_lang(style.lang)));
    for rule in OPTIONS {
        screen.blank();
        screen.line(&[run(Tone::Command, rule.key)]);
        screen.paragraph(&[run(Tone::Plain, "  ")], 2, &[run(Tone::Faint, alloc_conf_facts(rule).in_lang(style.lang))]);
        screen.paragraph(&[run(Tone::Plain, "  ")], 2, &inline((rule.effect)().in_lang(style.lang)));
    }
    screen.render()
}

/// Every option of PyTorch's allocator, as Markdown.
pub fn alloc_conf_markdown(lang: Lang) -> String {
    let mut out = format!("# PYTORCH_CUDA_ALLOC_CONF\n\n{}\n", alloc_conf_intro().in_lang(lang));
    for rule in OPTIONS {
        let (facts, effect) = (alloc_conf_facts(rule), (rule.effect)());
        out.push_str(&format!("\n## {}\n\n*{}*\n\n{}\n", rule.key, facts.in_lang(lang), effect.in_lang(lang)));
    }
    out
}

/// The rule of an id; `-` and `_` are taken for each other, case does not matter.
pub fn find(id: &str) -> Option<Rule> {
    let wanted = normal(id);
    all().into_iter().find(|rule| normal(rule.id) == wanted)
}

fn normal(id: &str) -> String {
    id.trim().to_ascii_lowercase().replace('_', "-")
}

/// The id nearest to a misspelt one, or one that contains it; `None` where nothing is near.
pub fn nearest(id: &str) -> Option<&'static str> {
    let wanted = normal(id);
    if wanted.is_empty() || wanted.len() > 64 {
        return None;
    }
    let rules = all();
    let by_distance = rules
        .iter()
        .map(|rule| (strsim::osa_distance(&wanted, &normal(rule.id)), rule.id))
        .min()
        .filter(|(d, candidate)| *d <= 1 + candidate.len().min(wanted.len()) / 4)
        .map(|(_, id)| id);
    by_distance.or_else(|| rules.iter().find(|rule| normal(rule.id).contains(&wanted)).map(|rule| rule.id))
}

fn heading(subject: Subject) -> Text {
    match subject {
        Subject::Causes => Text::new("Causes", "原因"),
        Subject::Fixes => Text::new("Fixes", "修复"),
    }
}

fn of(subject: Option<Subject>) -> impl Iterator<Item = (Subject, Vec<Rule>)> {
    [Subject::Causes, Subject::Fixes]
        .into_iter()
        .filter(move |kind| subject.is_none_or(|wanted| wanted == *kind))
        .map(|kind| (kind, all().into_iter().filter(|rule| rule.subject == kind).collect()))
}

/// All ids with their titles, one line each.
pub fn list(subject: Option<Subject>, style: Style) -> String {
    let mut screen = Screen::of(style);
    for (kind, rules) in of(subject) {
        screen.blank();
        screen.line(&[run(Tone::Strong, heading(kind).in_lang(style.lang))]);
        let mut table = Table::new(&[Column::Left, Column::Text]);
        for rule in rules {
            table.row(vec![vec![run(Tone::Command, rule.id)], vec![run(Tone::Plain, rule.title.in_lang(style.lang))]]);
        }
        screen.table(2, &table);
    }
    screen.blank();
    let more = Text::new(
        "One in full: oomdoc rules ID; the options of PyTorch's allocator: oomdoc rules alloc-conf",
        "查看其中一条：oomdoc rules ID；PyTorch 分配器的选项：oomdoc rules alloc-conf",
    );
    screen.paragraph(&[], 0, &[run(Tone::Faint, more.in_lang(style.lang))]);
    screen.render()
}

/// All ids with their titles, as a Markdown list.
pub fn list_markdown(subject: Option<Subject>, lang: Lang) -> String {
    let mut out = String::new();
    for (kind, rules) in of(subject) {
        out.push_str(&format!("## {}\n\n", heading(kind).in_lang(lang)));
        for rule in rules {
            out.push_str(&format!("- `{}`: {}\n", rule.id, rule.title.in_lang(lang)));
        }
        out.push('\n');
    }
    out.truncate(out.trim_end().len());
    out + "\n"
}

/// One rule, wrapped for the terminal.
pub fn show(rule: &Rule, style: Style) -> String {
    let mut screen = Screen::of(style);
    screen.paragraph(
        &[],
        2,
        &[run(Tone::Strong, rule.title.in_lang(style.lang)), run(Tone::Faint, format!("  ({})", rule.id))],
    );
    screen.blank();
    let mut in_code = false;
    for block in rule.doc.in_lang(style.lang).lines() {
        let body = block.trim_start();
        if body.starts_with("```") {
            in_code = !in_code;
        } else if in_code {
            screen.verbatim(4, Tone::Command, block);
        } else if body.is_empty() {
            screen.blank();
        } else if body.starts_with('#') {
            screen.blank();
            screen.paragraph(&[], 2, &[run(Tone::Strong, body.trim_start_matches('#').trim())]);
        } else {
            let lead = block.len() - body.len();
            let marker = if body.starts_with("- ") || body.starts_with("* ") { 2 } else { 0 };
            let head = [run(Tone::Plain, " ".repeat(lead.min(8)))];
            screen.paragraph(&head, lead.min(8) + marker, &inline(body));
        }
    }
    screen.render()
}

/// Markdown's inline marks as tones. Code keeps its backticks, which show it in a pipe too.
fn inline(text: &str) -> Vec<Run> {
    let mut runs = Vec::new();
    for (i, part) in text.split('`').enumerate() {
        if i % 2 == 1 {
            runs.push(run(Tone::Command, format!("`{part}`")));
            continue;
        }
        for (j, piece) in part.split("**").enumerate() {
            let tone = if j % 2 == 1 { Tone::Strong } else { Tone::Plain };
            // A star beside a word marks emphasis; one between spaces or digits is a product.
            let mut out = String::with_capacity(piece.len());
            let mut before = ' ';
            let mut rest = piece.chars().peekable();
            while let Some(c) = rest.next() {
                let after = rest.peek().copied().unwrap_or(' ');
                let product = before == after || (before.is_ascii_alphanumeric() && after.is_ascii_alphanumeric());
                if c != '*' || product {
                    out.push(c);
                }
                before = c;
            }
            runs.push(run(tone, out));
        }
    }
    runs
}

/// One rule as a section of Markdown.
pub fn markdown(rule: &Rule, lang: Lang) -> String {
    let class = rule.class.map(|class| format!(" · `{}`", class.id())).unwrap_or_default();
    format!("## {}\n\n`{}`{class}\n\n{}\n", rule.title.in_lang(lang), rule.id, rule.doc.in_lang(lang).trim())
}

/// The whole page of one kind of rules, for `docs/`.
pub fn page(subject: Subject, lang: Lang) -> String {
    let intro = match subject {
        Subject::Causes => Text::new(
            "What can make a job run out of memory, as `oomdoc explain` names it. Generated from the files in \
             `src/cause/`.",
            "任务内存不足的各种原因，即 `oomdoc explain` 给出的名称。由 `src/cause/` 中的文件生成。",
        ),
        Subject::Fixes => Text::new(
            "What `oomdoc explain` may advise. Generated from the files in `src/fix/`.",
            "`oomdoc explain` 可能给出的建议。由 `src/fix/` 中的文件生成。",
        ),
    };
    let mut out = format!("# {}\n\n{}\n", heading(subject).in_lang(lang), intro.in_lang(lang));
    for rule in all().into_iter().filter(|rule| rule.subject == subject) {
        out.push('\n');
        out.push_str(&markdown(&rule, lang));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inline_marks_become_tones() {
        let runs = inline("**How.** From *fragmentation* by `a * b`, 2 * 3，与*碎片*看。");
        let text: String = runs.iter().map(|run| run.text.as_str()).collect();
        assert_eq!(text, "How. From fragmentation by `a * b`, 2 * 3，与碎片看。");
        assert!(runs.contains(&run(Tone::Strong, "How.")) && runs.contains(&run(Tone::Command, "`a * b`")));
    }

    #[test]
    fn edits_between_words() {
        assert_eq!(strsim::osa_distance("fragmentation", "fragmentaton"), 1);
        assert_eq!(strsim::osa_distance("leak", "laek"), 1);
        assert_eq!(strsim::osa_distance("", "abc"), 3);
    }
}
