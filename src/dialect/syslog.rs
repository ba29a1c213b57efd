//! The head that the system's log puts in front of a line. The host in it is no word of the message: a machine called
//! `gpu01` makes no failure one of a GPU.

/// What stands behind the host: the writer and its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Headed<'a> {
    /// Who writes, where the head names it in a place of its own.
    pub app: Option<&'a str>,
    /// The line from the writer on.
    pub body: &'a str,
}

/// The line behind the head of `Mar  1 10:00:00 host app[17]: …`, `2025-03-01T10:00:00+01:00 host app[17]: …` and
/// `<11>1 2025-03-01T10:00:00Z host app 17 - - …`.
pub(super) fn headed(line: &str) -> Option<Headed<'_>> {
    let line = line.trim_start();
    let (numbered, rest) = match line.strip_prefix('<').and_then(|rest| rest.split_once('>')) {
        Some((number, rest)) if number.len() <= 3 && number.bytes().all(|byte| byte.is_ascii_digit()) => (true, rest),
        _ => (false, line),
    };
    if let Some(rest) = rest.strip_prefix("1 ").filter(|_| numbered) {
        let (stamp, rest) = word(rest)?;
        let (_, rest) = word(rest)?;
        let (app, rest) = word(rest)?;
        let (_, rest) = word(rest)?;
        let (_, body) = word(rest)?;
        return is_date(stamp).then_some(Headed { app: Some(app).filter(|app| *app != "-"), body });
    }
    let (first, rest) = word(rest)?;
    let rest = if is_month(first) {
        let (_, rest) =
            word(rest).filter(|(day, _)| day.len() <= 2 && day.bytes().all(|byte| byte.is_ascii_digit()))?;
        word(rest).filter(|(clock, _)| is_clock(clock))?.1
    } else {
        is_date(first).then_some(rest)?
    };
    let (host, body) = word(rest)?;
    let (writer, _) = word(body)?;
    // Other logs begin with a date as well: only a writer with its number or the kernel makes it the system's.
    let tagged = writer.ends_with("]:") && writer.contains('[') || is_month(first) && writer.ends_with(':');
    let plain = host.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_'));
    (tagged && plain).then_some(Headed { app: None, body })
}

/// The line without the system log's head.
pub(super) fn body(line: &str) -> &str {
    headed(line).map_or(line, |headed| headed.body)
}

/// The program that writes a line of the system's log.
pub fn writer(line: &str) -> Option<&str> {
    let headed = headed(line)?;
    Some(headed.app.unwrap_or_else(|| headed.body.split(['[', ':', ' ']).next().unwrap_or_default()))
}

/// The process that writes a line of the system's log, where it tells its number: `opendkim[1210]`.
pub fn process(line: &str) -> Option<&str> {
    let body = headed(line)?.body;
    let (process, _) = body.split_once("]:")?;
    let (name, number) = process.split_once('[')?;
    let plain = !name.is_empty() && !name.contains(' ') && !number.is_empty();
    (plain && number.bytes().all(|byte| byte.is_ascii_digit())).then_some(process)
}

fn word(text: &str) -> Option<(&str, &str)> {
    let text = text.trim_start_matches(' ');
    let (word, rest) = text.split_once(' ')?;
    (!word.is_empty()).then_some((word, rest.trim_start_matches(' ')))
}

fn is_month(word: &str) -> bool {
    const MONTHS: [&str; 12] = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
    MONTHS.iter().any(|month| word.eq_ignore_ascii_case(month))
}

fn is_clock(word: &str) -> bool {
    word.len() >= 8 && word.as_bytes().get(2) == Some(&b':') && word.as_bytes().get(5) == Some(&b':')
}

/// `2025-03-01T10:00:00…`
fn is_date(word: &str) -> bool {
    let bytes = word.as_bytes();
    bytes.len() >= 19
        && bytes.iter().take(4).all(u8::is_ascii_digit)
        && bytes.get(4) == Some(&b'-')
        && bytes.get(10).is_some_and(|byte| byte.eq_ignore_ascii_case(&b't'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_host_is_no_part_of_the_message() {
        for (line, text) in [
            ("Mar  1 10:00:00 gpu01 app[17]: no memory", "app[17]: no memory"),
            ("mar 12 10:00:00 gpu01 app: no memory", "app: no memory"),
            ("2025-03-01T10:00:00+0100 gpu01 app[17]: no memory", "app[17]: no memory"),
            ("<11>1 2025-03-01T10:00:00Z gpu01 app 17 - - no memory", "- no memory"),
            ("2025-03-01T10:00:00Z ERROR gpu: no memory", "2025-03-01T10:00:00Z ERROR gpu: no memory"),
            ("May you run out of memory on gpu01: no", "May you run out of memory on gpu01: no"),
            ("", ""),
        ] {
            assert_eq!(body(line), text);
        }
        assert_eq!(headed("<11>1 2025-03-01T10:00:00Z n app 17 - - x").and_then(|headed| headed.app), Some("app"));
    }
}
