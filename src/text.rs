//! Everything a user reads, in English and Chinese, written side by side.
//!
//! A [`Text`] always carries both languages, so that no message can be added in one and forgotten in the other.
//! The report picks the language at the very end.

/// The language of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Lang {
    #[default]
    En,
    Zh,
}

impl Lang {
    /// Picks the language from a locale name such as `zh_CN.UTF-8`; everything that is not Chinese reads English.
    pub fn from_locale(locale: &str) -> Lang {
        if locale.to_ascii_lowercase().starts_with("zh") { Lang::Zh } else { Lang::En }
    }
}

/// True for a character that a terminal obeys and does not show: controls, among them the first of every escape
/// sequence, and those that turn the direction of the text around or take no room (Unicode's bidirectional and
/// zero-width formatting), with which a file's name can look like another.
pub fn is_obeyed(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            '\u{61c}'
                | '\u{200b}'
                | '\u{200e}'
                | '\u{200f}'
                | '\u{202a}'..='\u{202e}'
                | '\u{2060}'..='\u{2069}'
                | '\u{feff}'
        )
}

/// A text that may hold names and values out of files, as a terminal may have it: what it would obey is a replacement
/// character. Line feeds stay.
pub fn inert(text: &str) -> String {
    text.chars().map(|c| if c != '\n' && is_obeyed(c) { char::REPLACEMENT_CHARACTER } else { c }).collect()
}

/// `1 kill`, `2 kills`: Chinese has one form for both.
pub fn counted(count: impl Into<u64>, one: &str, many: &str) -> String {
    let count = count.into();
    format!("{count} {}", if count == 1 { one } else { many })
}

/// One statement in both languages. Build it with [`text!`](crate::text!).
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Text {
    pub en: String,
    pub zh: String,
}

impl Text {
    pub fn new(en: impl Into<String>, zh: impl Into<String>) -> Text {
        Text { en: en.into(), zh: zh.into() }
    }

    /// A text that is the same in both languages: a command, a name, a figure.
    pub fn same(both: impl Into<String>) -> Text {
        let both = both.into();
        Text { en: both.clone(), zh: both }
    }

    pub fn in_lang(&self, lang: Lang) -> &str {
        match lang {
            Lang::En => &self.en,
            Lang::Zh => &self.zh,
        }
    }

    pub fn is_empty(&self) -> bool {
        self.en.is_empty()
    }
}

impl std::ops::AddAssign for Text {
    fn add_assign(&mut self, more: Text) {
        self.en += &more.en;
        self.zh += &more.zh;
    }
}

/// `text!(en: "…{x}…", zh: "…{x}…")` formats one statement in both languages; captured arguments work as in `format!`.
#[macro_export]
macro_rules! text {
    (en: $en:literal, zh: $zh:literal $(, $($arg:tt)+)?) => {
        $crate::text::Text::new(format!($en $(, $($arg)+)?), format!($zh $(, $($arg)+)?))
    };
}
