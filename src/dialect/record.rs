//! Structured log lines: JSON objects as zap, pino, bunyan, Serilog or tracing write them, and `key=value` pairs. Lines
//! are cut and nested as they come, so what can be read is read, and what is broken ends the line.

/// Fields that are read of one line; a record of a failure has a dozen.
const MOST: usize = 48;
/// Deeper objects are dumps.
const DEEPEST: usize = 8;

/// One field: its keys from the outermost on, joined by points, in lower case without `_`, `-` and `@`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Field {
    pub key: String,
    pub value: String,
}

impl Field {
    /// The innermost key.
    pub fn last(&self) -> &str {
        self.key.rsplit('.').next().unwrap_or(&self.key)
    }
}

/// A line's fields in their order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Record {
    pub fields: Vec<Field>,
    /// Where the object begins, where the line is one: what stands before is another writer's head.
    pub object: Option<usize>,
}

/// Keys under which a record's own text stands.
const TEXTS: &[&str] = &[
    "msg",
    "message",
    "m",
    "mt",
    "log",
    "text",
    "error",
    "err",
    "errmsg",
    "errormessage",
    "reason",
    "exception",
    "exc",
    "excinfo",
    "x",
    "shortmessage",
    "fullmessage",
    "detail",
    "details",
    "panic",
    "stack",
    "stacktrace",
    "event",
    "cause",
    "renderedmessage",
    "textpayload",
];

impl Record {
    /// The fields of a line; nothing where it has none.
    pub fn of(line: &str) -> Option<Record> {
        let object = line.match_indices('{').map(|(at, _)| at).find(|at| {
            let inner = line[at + 1..].trim_start();
            inner.starts_with('"')
                && inner[1..].split_once('"').is_some_and(|(_, rest)| rest.trim_start().starts_with(':'))
        });
        let fields = match object {
            Some(at) => nested(&line[at..]),
            None if line.contains('=') => pairs(line),
            None => Vec::new(),
        };
        (!fields.is_empty()).then_some(Record { fields, object })
    }

    /// The values of the texts, the message first as most loggers print it.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        self.fields.iter().filter(|field| TEXTS.contains(&field.last())).map(|field| field.value.as_str())
    }

    /// How grave the record says it is, as a word in upper case.
    pub fn level(&self) -> Option<String> {
        const LEVELS: &[&str] =
            &["level", "lvl", "severity", "levelname", "loglevel", "log.level", "l", "s", "priority", "severitytext"];
        let field = self.fields.iter().find(|field| LEVELS.contains(&field.key.as_str()))?;
        let word = match field.value.as_str() {
            // pino and bunyan count in tens.
            "60" | "50" => "ERROR",
            "40" => "WARN",
            "30" | "20" | "10" => "INFO",
            // The syslog's numbers, as the journal exports them.
            "0" | "1" | "2" | "3" if field.key == "priority" => "ERROR",
            "4" if field.key == "priority" => "WARN",
            "5" | "6" | "7" if field.key == "priority" => "INFO",
            word => word,
        };
        let single = matches!(field.key.as_str(), "s" | "l");
        let upper = word.to_ascii_uppercase();
        let word = match upper.as_str() {
            "F" | "E" | "FTL" | "DPANIC" => "ERROR",
            "W" | "WRN" => "WARN",
            "I" | "D" | "INF" | "DBG" | "INFORMATION" => "INFO",
            other if single && other.len() < 4 => return None,
            other => other,
        };
        Some(word.to_string())
    }
}

/// A key in the spelling that [`Field`] promises.
fn spelled(key: &str) -> String {
    key.chars().filter(|c| !matches!(c, '_' | '-' | '@')).flat_map(char::to_lowercase).collect()
}

/// The fields of a JSON object, whole or cut.
fn nested(text: &str) -> Vec<Field> {
    let mut fields: Vec<Field> = Vec::new();
    let mut path: Vec<String> = Vec::new();
    let mut pending: Option<String> = None;
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        if fields.len() >= MOST || path.len() > DEEPEST {
            break;
        }
        match c {
            '{' | '[' => {
                path.push(pending.take().unwrap_or_default());
                rest = &rest[1..];
            }
            '}' | ']' => {
                path.pop();
                pending = None;
                rest = &rest[1..];
                if path.is_empty() {
                    break;
                }
            }
            '"' => {
                let (value, behind) = string(&rest[1..]);
                rest = behind;
                let behind = behind.trim_start();
                match (pending.take(), behind.strip_prefix(':')) {
                    (None, Some(behind)) => {
                        pending = Some(spelled(&value));
                        rest = behind;
                    }
                    (Some(key), _) => fields.push(field(&path, key, value)),
                    (None, None) => {}
                }
            }
            _ if c.is_alphanumeric() || c == '-' => {
                let end = rest.find(|c: char| !(c.is_alphanumeric() || "+-._".contains(c))).unwrap_or(rest.len());
                if let Some(key) = pending.take() {
                    fields.push(field(&path, key, rest[..end].to_string()));
                }
                rest = &rest[end.max(c.len_utf8())..];
            }
            _ => rest = &rest[c.len_utf8()..],
        }
    }
    fields
}

fn field(path: &[String], key: String, value: String) -> Field {
    let mut whole: Vec<&str> = path.iter().map(String::as_str).filter(|part| !part.is_empty()).collect();
    whole.push(&key);
    Field { key: whole.join("."), value }
}

/// A string without its marks of escape, up to its closing quote, and what follows that.
fn string(text: &str) -> (String, &str) {
    let mut out = String::new();
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return (out, &text[at + 1..]),
            '\\' => match chars.next().map(|(_, escaped)| escaped) {
                Some('n' | 'r') => out.push('\n'),
                Some('t') => out.push(' '),
                Some(other) => out.push(other),
                None => {}
            },
            other => out.push(other),
        }
    }
    (out, "")
}

/// `level=error app=solver msg="out of memory"`, and the same in brackets.
fn pairs(line: &str) -> Vec<Field> {
    let mut fields = Vec::new();
    let mut rest = line;
    while fields.len() < MOST {
        let Some(at) = rest.find('=') else { break };
        let before = &rest[..at];
        let start = before.rfind([' ', '\t', '[', '{', ',', '(']).map_or(0, |at| at + 1);
        let key = &before[start..];
        let named = key.starts_with(|c: char| c.is_ascii_alphabetic() || matches!(c, '_' | '@'))
            && key.len() <= 40
            && key.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b'-' | b'@'));
        let behind = &rest[at + 1..];
        let (value, next) = match behind.strip_prefix('"') {
            Some(quoted) => string(quoted),
            None => {
                let end = behind.find(|c: char| c.is_whitespace() || c == ']').unwrap_or(behind.len());
                (behind[..end].trim_end_matches([',', ')', '}']).to_string(), &behind[end..])
            }
        };
        if named && !value.is_empty() {
            fields.push(Field { key: spelled(key), value });
            rest = next;
        } else {
            rest = behind;
        }
    }
    fields
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(line: &str) -> Vec<(String, String)> {
        let record = Record::of(line).unwrap_or_default();
        record.fields.into_iter().map(|field| (field.key, field.value)).collect()
    }

    fn own(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
        pairs.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect()
    }

    #[test]
    fn objects_are_read_whole_nested_and_cut() {
        assert_eq!(
            fields(r#"{"level":50,"log":{"logger":"a.b"},"err_msg":"say \"no\"\nnow","n":[1,{"x":2}],"ok":true}"#),
            own(&[("level", "50"), ("log.logger", "a.b"), ("errmsg", "say \"no\"\nnow"), ("n.x", "2"), ("ok", "true")])
        );
        assert_eq!(fields(r#"x {"a":"b", "msg":"cut he"#), own(&[("a", "b"), ("msg", "cut he")]));
        assert_eq!(fields("{a set} of {words}"), own(&[]));
    }

    #[test]
    fn pairs_are_read_quoted_or_not() {
        assert_eq!(
            fields(r#"ts=1 level=error msg="out of memory" size=8GiB (a=b, c==d)"#),
            own(&[
                ("ts", "1"),
                ("level", "error"),
                ("msg", "out of memory"),
                ("size", "8GiB"),
                ("a", "b"),
                ("c", "=d")
            ])
        );
        assert_eq!(fields(r#"[err="no memory"] [conn=3]"#), own(&[("err", "no memory"), ("conn", "3")]));
    }

    #[test]
    fn levels_are_words_numbers_and_letters() {
        for (line, level) in [
            (r#"{"level":60}"#, Some("ERROR")),
            (r#"{"s":"F"}"#, Some("ERROR")),
            (r#"{"log.level":"warn"}"#, Some("WARN")),
            (r#"{"PRIORITY":"3"}"#, Some("ERROR")),
            (r#"{"s":"12"}"#, None),
            ("lvl=info x=1", Some("INFO")),
        ] {
            assert_eq!(Record::of(line).and_then(|record| record.level()).as_deref(), level, "{line}");
        }
    }

    #[test]
    fn any_cut_of_any_line_is_read_without_a_fault() {
        let line = r#"ä{"a":"\"ö","b":{"c":[1,"→"]},"d":-1.5e3}=中="x y" z=]"#;
        for from in (0..line.len()).filter(|at| line.is_char_boundary(*at)) {
            for to in (from..=line.len()).filter(|at| line.is_char_boundary(*at)) {
                let _ = Record::of(&line[from..to]);
                let _ = pairs(&line[from..to]);
            }
        }
    }
}
