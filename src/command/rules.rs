//! `oomdoc rules`: the causes and fixes that the program knows, from the files that hold them.

use crate::cli::{RulesFormat, RulesOptions};
use crate::report::rules;
use crate::report::view::to_json;
use anyhow::bail;

/// Lists the rules or prints the documentation of one. Always exit code 0.
///
/// # Errors
/// When no rule has the id asked for, or standard output cannot be written.
pub fn run(options: &RulesOptions) -> anyhow::Result<u8> {
    let style = options.output.style;
    let text = match &options.id {
        None => match options.format {
            RulesFormat::Terminal => rules::list(options.subject, style),
            RulesFormat::Json => to_json(&rules::document(options.subject, style.lang)),
            RulesFormat::Markdown => rules::list_markdown(options.subject, style.lang),
        },
        Some(id) if rules::is_alloc_conf(id) => match options.format {
            RulesFormat::Terminal => rules::show_alloc_conf(style),
            RulesFormat::Json => to_json(&rules::alloc_conf_document(style.lang)),
            RulesFormat::Markdown => rules::alloc_conf_markdown(style.lang),
        },
        Some(id) => match (rules::find(id), options.format) {
            (Some(rule), RulesFormat::Terminal) => rules::show(&rule, style),
            (Some(rule), RulesFormat::Json) => to_json(&rules::document_of(&rule, style.lang)),
            (Some(rule), RulesFormat::Markdown) => rules::markdown(&rule, style.lang),
            (None, _) => {
                let near = rules::nearest(id);
                let message = match near {
                    Some(near) => crate::text!(
                        en: "no rule is called '{id}'; did you mean '{near}'? `oomdoc rules` lists all",
                        zh: "没有名为 '{id}' 的规则；是否想找 '{near}'？`oomdoc rules` 列出全部"
                    ),
                    None => crate::text!(
                        en: "no rule is called '{id}'; `oomdoc rules` lists all",
                        zh: "没有名为 '{id}' 的规则；`oomdoc rules` 列出全部"
                    ),
                };
                bail!("{}", message.in_lang(style.lang));
            }
        },
    };
    super::print(&text, &options.output)?;
    Ok(0)
}
