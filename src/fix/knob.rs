//! The lines that a fix suggests: templates, one or more for each target, and what becomes of them in an incident.

use crate::domain::Target;
use crate::text::Text;

/// A line of a fix as it is written down, with `{name}` where a figure of the incident goes.
#[derive(Debug, Clone, Copy)]
pub struct Line {
    pub target: Target,
    en: &'static str,
    zh: &'static str,
    /// The remark behind it, which the report prints as a comment.
    note: Option<(&'static str, &'static str)>,
    /// The circumstance under which alone it is offered, and whether it must be given or not.
    only: Option<(&'static str, bool)>,
    /// Written where the one before it came too late for the releases of the log.
    older: bool,
}

/// A line of code or settings.
pub const fn line(target: Target, code: &'static str) -> Line {
    Line { target, en: code, zh: code, note: None, only: None, older: false }
}

/// A line of prose: what to do where there is nothing to paste.
pub const fn said(target: Target, en: &'static str, zh: &'static str) -> Line {
    Line { target, en, zh, note: None, only: None, older: false }
}

impl Line {
    pub const fn note(mut self, en: &'static str, zh: &'static str) -> Line {
        self.note = Some((en, zh));
        self
    }

    /// Offered only where the circumstance is given.
    pub const fn when(mut self, circumstance: &'static str) -> Line {
        self.only = Some((circumstance, true));
        self
    }

    /// Offered only where the circumstance is not given.
    pub const fn unless(mut self, circumstance: &'static str) -> Line {
        self.only = Some((circumstance, false));
        self
    }

    /// The form of the line before it for releases that do not know that one: offered only where that one is left out
    /// for its age.
    pub const fn older(mut self) -> Line {
        self.older = true;
        self
    }

    /// True for such a form.
    pub fn is_older(&self) -> bool {
        self.older
    }

    /// True where the circumstances, of which those in `given` hold, allow it.
    pub fn holds(&self, given: &[&'static str]) -> bool {
        self.only.is_none_or(|(circumstance, wanted)| given.contains(&circumstance) == wanted)
    }

    /// The line for programs that are run as they were installed, which names no call and fits any program.
    pub fn in_words_of_any_program(&self, values: &[(&'static str, Text)]) -> Option<Text> {
        let fits = self.only == Some(("installed", true)) && self.target == Target::Program;
        fits.then(|| self.fill(values)).flatten()
    }

    /// The circumstance that it depends on.
    #[cfg(test)]
    pub(crate) fn circumstance(&self) -> Option<&'static str> {
        self.only.map(|(circumstance, _)| circumstance)
    }

    /// The template with its remark.
    pub fn template(&self) -> Text {
        let zh = remarked(self.zh, self.note.map(|note| note.1));
        Text::new(remarked(self.en, self.note.map(|note| note.0)), blanks_in_chinese(zh))
    }

    /// The line with this incident's figures; `None` where one that it needs is not known.
    pub fn fill(&self, values: &[(&'static str, Text)]) -> Option<Text> {
        let mut text = self.template();
        for (name, value) in values {
            let place = format!("{{{name}}}");
            text = Text::new(text.en.replace(&place, &value.en), text.zh.replace(&place, &value.zh));
        }
        text.zh = blanks_in_chinese(text.zh);
        placeholders(&text.en).is_empty().then_some(text)
    }
}

/// What sets a remark off from the line that it stands behind.
const REMARK: &str = "   # ";

/// A line and the remark behind it.
pub(super) fn and_remark(line: &str) -> (&str, Option<&str>) {
    line.split_once(REMARK).map_or((line, None), |(line, remark)| (line, Some(remark)))
}

/// A line with a remark behind it.
pub(super) fn remarked(line: &str, remark: Option<&str>) -> String {
    remark.map_or_else(|| line.to_string(), |remark| format!("{line}{REMARK}{remark}"))
}

/// What stands in angle brackets for the reader to fill in, in both languages.
const BLANKS: &[(&str, &str)] = &[
    ("<a quarter of the limit>", "<上限的四分之一>"),
    ("<at least the request and its answer>", "<不少于请求加回答>"),
    ("<at most -Xmx>", "<不大于 -Xmx>"),
    ("<below the card's memory>", "<低于显存容量>"),
    ("<below the container's limit>", "<低于容器上限>"),
    ("<below the machine's memory>", "<低于机器内存>"),
    ("<bits>", "<位数>"),
    ("<boxes>", "<框数>"),
    ("<bytes>", "<字节数>"),
    ("<checkpoint>", "<检查点>"),
    ("<classes>", "<类别>"),
    ("<dataset>", "<数据集>"),
    ("<fewer layers>", "<更少的层数>"),
    ("<fewer>", "<更少>"),
    ("<file of fewer bits>", "<更低位宽的文件>"),
    ("<folder>", "<目录>"),
    ("<GB>", "<GB 数>"),
    ("<GPUs>", "<GPU 数>"),
    ("<half of max_memory_usage>", "<max_memory_usage 的一半>"),
    ("<half of the limit>", "<上限的一半>"),
    ("<half>", "<减半>"),
    ("<index>", "<编号>"),
    ("<input>", "<输入>"),
    ("<list of modules>", "<模块列表>"),
    ("<local disk>", "<本地磁盘>"),
    ("<MB below the limit>", "<低于上限的 MB 数>"),
    ("<MB>", "<MB 数>"),
    ("<model>", "<模型>"),
    ("<module>", "<模块>"),
    ("<more>", "<更多>"),
    ("<name>", "<名称>"),
    ("<nine tenths of the limit>", "<上限的九成>"),
    ("<number>", "<数量>"),
    ("<output>", "<输出目录>"),
    ("<pattern>", "<模式>"),
    ("<patterns of the names>", "<参数名模式>"),
    ("<peak + 20 %>", "<峰值 + 20 %>"),
    ("<rule>", "<规则>"),
    ("<sample>", "<样本>"),
    ("<samples>", "<采样数>"),
    ("<seconds>", "<秒数>"),
    ("<share>", "<比例>"),
    ("<shorter>", "<更短>"),
    ("<size>", "<大小>"),
    ("<smaller spec>", "<更小的形状>"),
    ("<smaller>", "<更小>"),
    ("<spec>", "<形状>"),
    ("<stage>", "<阶段>"),
    ("<three quarters of the limit>", "<上限的四分之三>"),
    ("<tokens of the input>", "<输入的 token 数>"),
    ("<tokens>", "<token 数>"),
    ("<tool>", "<工具>"),
    ("<twice>", "<加倍>"),
    ("<two thirds of the limit>", "<上限的三分之二>"),
    ("<unit>", "<单元>"),
    ("<service>", "<服务>"),
    ("<x>", "<倍数>"),
    ("<your command>", "<你的命令>"),
];

/// The same line with what is to be filled in told in Chinese.
pub(super) fn blanks_in_chinese(line: String) -> String {
    if !line.contains('<') {
        return line;
    }
    BLANKS.iter().fold(line, |line, (en, zh)| line.replace(en, zh))
}

/// The names in braces that a template holds. Braces of code have other things between them than one name.
pub fn placeholders(template: &str) -> Vec<&str> {
    let mut names = Vec::new();
    for (open, _) in template.match_indices('{') {
        let rest = template.get(open + 1..).unwrap_or_default();
        if let Some((name, _)) = rest.split_once('}')
            && !name.is_empty()
            && name.bytes().all(|b| b.is_ascii_lowercase() || b == b'_')
        {
            names.push(name);
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_without_its_figure_is_not_offered() {
        let batch =
            line(Target::Pytorch, "DataLoader(batch_size={batch}, **{\"a\": {}})").note("was {was}", "原为 {was}");
        assert_eq!(batch.fill(&[("batch", Text::same("8"))]), None);
        let filled = batch.fill(&[("batch", Text::same("8")), ("was", Text::same("16"))]).expect("both are known");
        assert_eq!(filled.en, "DataLoader(batch_size=8, **{\"a\": {}})   # was 16");
        assert_eq!(filled.zh, "DataLoader(batch_size=8, **{\"a\": {}})   # 原为 16");
    }

    #[test]
    fn a_line_may_depend_on_a_circumstance() {
        let (with, without) = (line(Target::Shell, "a").when("x"), line(Target::Shell, "b").unless("x"));
        assert!(with.holds(&["x"]) && !with.holds(&[]));
        assert!(!without.holds(&["x"]) && without.holds(&["y"]));
    }
}
