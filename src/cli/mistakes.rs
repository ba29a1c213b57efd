//! What is wrong with a command line, in Chinese: clap knows English alone, but hands out what it knows by kind.

use super::Refused;
use crate::domain::headroom::BadHeadroom;
use crate::text::Lang;
use clap::builder::{StyledStr, Styles};
use clap::error::{ContextKind, ContextValue, ErrorFormatter, ErrorKind};
use std::error::Error as _;
use std::num::{IntErrorKind, ParseIntError};

/// For [`clap::Error::apply`].
pub(super) struct InChinese;

impl ErrorFormatter for InChinese {
    fn format_error(error: &clap::error::Error<InChinese>) -> StyledStr {
        let styles = Styles::styled();
        let (red, green) = (styles.get_error(), styles.get_valid());
        let mut page = format!("{red}错误：{red:#}{}", wrong(error));
        for (kind, noun) in [
            (ContextKind::SuggestedSubcommand, "命令"),
            (ContextKind::SuggestedArg, "参数"),
            (ContextKind::SuggestedValue, "值"),
        ] {
            let alike = quoted(error.get(kind));
            if !alike.is_empty() {
                page += &format!("\n\n  {green}提示：{green:#}有相近的{noun}：{}", alike.join("、"));
            }
        }
        if let Some(ContextValue::StyledStrs(tips)) = error.get(ContextKind::Suggested) {
            for tip in tips {
                page += &format!("\n\n  {green}提示：{green:#}{}", suggestion(&tip.to_string()));
            }
        }
        if let Some(ContextValue::StyledStr(usage)) = error.get(ContextKind::Usage) {
            page += &format!("\n\n{}", super::chinese::own_words(&usage.to_string()));
        }
        (page + "\n\n详细说明请用 '--help'。\n").into()
    }
}

fn wrong(error: &clap::error::Error<InChinese>) -> String {
    let one = |kind| quoted(error.get(kind)).into_iter().next().unwrap_or_default();
    let number = |kind| match error.get(kind) {
        Some(ContextValue::Number(number)) => *number,
        _ => 0,
    };
    let argument = one(ContextKind::InvalidArg);
    let value = one(ContextKind::InvalidValue);
    match error.kind() {
        ErrorKind::ArgumentConflict => {
            let own = if argument.is_empty() { one(ContextKind::InvalidSubcommand) } else { argument };
            match quoted(error.get(ContextKind::PriorArg)) {
                others if others.as_slice() == [own.as_str()] => format!("参数 {own} 不能重复使用"),
                others if others.is_empty() => format!("参数 {own} 不能与其他参数同时使用"),
                others => format!("参数 {own} 不能与 {} 同时使用", others.join("、")),
            }
        }
        ErrorKind::NoEquals => format!("给 {argument} 赋值须用等号"),
        ErrorKind::InvalidValue if value == "''" => format!("{argument} 需要一个值") + &choices(error),
        ErrorKind::InvalidValue => format!("{argument} 的值 {value} 无效") + &choices(error),
        ErrorKind::ValueValidation => match error.source() {
            Some(why) => format!("{argument} 的值 {value} 无效：{}", reason(why)),
            None => format!("{argument} 的值 {value} 无效"),
        },
        ErrorKind::InvalidSubcommand => format!("没有 {} 这个命令", one(ContextKind::InvalidSubcommand)),
        ErrorKind::MissingSubcommand => format!("{} 后面须有一个命令", one(ContextKind::InvalidSubcommand)),
        ErrorKind::UnknownArgument => format!("没有 {argument} 这个参数"),
        ErrorKind::MissingRequiredArgument => {
            format!("缺少必需的参数：{}", quoted(error.get(ContextKind::InvalidArg)).join("、"))
        }
        ErrorKind::TooManyValues => format!("{argument} 多了一个值：{value}"),
        ErrorKind::TooFewValues => {
            let (least, given) = (number(ContextKind::MinValues), number(ContextKind::ActualNumValues));
            format!("{argument} 至少需要 {least} 个值，只给了 {given} 个")
        }
        ErrorKind::WrongNumberOfValues => {
            let (needed, given) = (number(ContextKind::ExpectedNumValues), number(ContextKind::ActualNumValues));
            format!("{argument} 需要 {needed} 个值，给了 {given} 个")
        }
        ErrorKind::InvalidUtf8 => "有一个参数不是有效的 UTF-8".to_string(),
        kind => error.source().map_or_else(|| kind.to_string(), ToString::to_string),
    }
}

/// One or several values, each in quotes and without what a terminal would obey.
fn quoted(value: Option<&ContextValue>) -> Vec<String> {
    let quote = |text: &String| format!("'{}'", crate::text::inert(text));
    match value {
        Some(ContextValue::String(text)) => vec![quote(text)],
        Some(ContextValue::Strings(texts)) => texts.iter().map(quote).collect(),
        _ => Vec::new(),
    }
}

fn choices(error: &clap::error::Error<InChinese>) -> String {
    match error.get(ContextKind::ValidValue) {
        Some(ContextValue::Strings(values)) if !values.is_empty() => format!("\n  [可选值：{}]", values.join(", ")),
        _ => String::new(),
    }
}

/// Why a value was refused: by this program, or by clap's own reading of whole numbers.
fn reason(why: &(dyn std::error::Error + 'static)) -> String {
    if let Some(refused) = why.downcast_ref::<Refused>() {
        return refused.0.in_lang(Lang::Zh).to_string();
    }
    if let Some(bad) = why.downcast_ref::<BadHeadroom>() {
        return bad.text().zh;
    }
    if let Some(number) = why.downcast_ref::<ParseIntError>() {
        return match number.kind() {
            IntErrorKind::PosOverflow | IntErrorKind::NegOverflow => "数字过大".to_string(),
            _ => "不是整数".to_string(),
        };
    }
    let said = why.to_string();
    match said.split_once(" is not in ") {
        Some((_, range)) => format!("不在 {range} 范围内"),
        None => said,
    }
}

/// Clap's own hints, of which it has three, as whole sentences.
fn suggestion(tip: &str) -> String {
    let quotes: Vec<&str> = tip.split('\'').skip(1).step_by(2).collect();
    match quotes.as_slice() {
        [given, instead] if tip.starts_with("to pass ") => format!("要把 '{given}' 当作值，请写 '{instead}'"),
        [command, _] if tip.starts_with("subcommand ") => format!("有 '{command}' 这个命令；请去掉前面的 '--'"),
        [known] if tip.ends_with(" exists") => format!("有 '{known}'"),
        _ => tip.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::command;
    use super::*;

    fn told(line: &[&str]) -> (ErrorKind, String) {
        let Err(error) = command(Lang::Zh).try_get_matches_from(line) else { panic!("{line:?} is taken") };
        let kind = error.kind();
        (kind, error.apply::<InChinese>().render().to_string())
    }

    /// English words of a page but for what is quoted and for names in capitals.
    fn english(page: &str) -> Vec<String> {
        let sentence = page.split("用法：").next().unwrap_or_default();
        let outside: String = sentence.split('\'').step_by(2).collect();
        let words = outside.split(|c: char| !c.is_ascii_alphabetic() && c != '-' && c != '_');
        let own = |word: &&str| word.len() > 3 && word.chars().any(|c| c.is_ascii_lowercase());
        words.filter(own).map(str::to_string).collect()
    }

    #[test]
    fn every_kind_of_mistake_is_told_in_chinese() {
        let cases: [(&[&str], ErrorKind, &str); 13] = [
            (&["oomdoc", "explian"], ErrorKind::InvalidSubcommand, "没有 'explian' 这个命令"),
            (&["oomdoc", "explain", "--verbos"], ErrorKind::UnknownArgument, "有相近的参数：'--verbose'"),
            (&["oomdoc", "explain", "--no-such"], ErrorKind::UnknownArgument, "请写 '-- --no-such'"),
            (&["oomdoc", "explain", "--format", "yaml"], ErrorKind::InvalidValue, "[可选值：terminal, json"),
            (&["oomdoc", "explain", "--format"], ErrorKind::InvalidValue, "需要一个值"),
            (&["oomdoc", "explain", "--json", "--format", "html"], ErrorKind::ArgumentConflict, "同时使用"),
            (&["oomdoc", "explain", "--json", "--json"], ErrorKind::ArgumentConflict, "不能重复使用"),
            (&["oomdoc", "explain", "--width", "3"], ErrorKind::ValueValidation, "不在 40..=400 范围内"),
            (&["oomdoc", "explain", "--width", "many"], ErrorKind::ValueValidation, "不是整数"),
            (&["oomdoc", "explain", "--params", "many"], ErrorKind::ValueValidation, "不是参数量"),
            (&["oomdoc", "diff", "a.pickle"], ErrorKind::MissingRequiredArgument, "缺少必需的参数：'<AFTER>'"),
            (&["oomdoc", "completions"], ErrorKind::MissingRequiredArgument, "'<SHELL>'"),
            (&["oomdoc", "explain", "--json=yes"], ErrorKind::TooManyValues, "多了一个值"),
        ];
        for (line, kind, said) in cases {
            let (found, page) = told(line);
            assert_eq!(found, kind, "{line:?}: {page}");
            assert!(page.starts_with("错误：") && page.contains(said), "{line:?}: {page}");
            assert!(
                page.contains("\n用法：oomdoc") || matches!(kind, ErrorKind::ValueValidation | ErrorKind::InvalidValue)
            );
        }
    }

    /// A value that no option takes, given to each: whoever adds an option with a check of its own is held to this.
    #[test]
    fn no_option_refuses_a_value_in_english() {
        let grammar = command(Lang::Zh);
        let mut refused = 0;
        for sub in grammar.get_subcommands() {
            for arg in sub.get_arguments().filter(|arg| arg.get_action().takes_values()) {
                let Some(name) = arg.get_long() else { continue };
                for value in ["\u{1}?", "0", "-1", "1e99", "99999999999999999999999"] {
                    let line = ["oomdoc", sub.get_name(), &format!("--{name}={value}")];
                    let Err(error) = command(Lang::Zh).try_get_matches_from(line) else { continue };
                    refused += 1;
                    let page = error.apply::<InChinese>().render().to_string();
                    let reason = page.split("[可选值").next().unwrap_or_default();
                    let (reason, _) = reason.split_once("可选：").unwrap_or((reason, ""));
                    assert!(!page.contains('\u{1}'), "{line:?}: {page}");
                    let own = english(reason);
                    assert!(own.iter().all(|word| KNOWN_WORDS.contains(&word.as_str())), "{own:?} in {page}");
                }
            }
        }
        assert!(refused > 100, "{refused}");
    }

    /// Names that stand in sentences of either language.
    const KNOWN_WORDS: [&str; 13] = [
        "growth",
        "reserved",
        "self",
        "none",
        "missing",
        "batch",
        "pickle",
        "adamw",
        "sgd-momentum",
        "adafactor",
        "lion",
        "adagrad",
        "rmsprop",
    ];
}
