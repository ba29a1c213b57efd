//! What of a log's text goes no further: secrets never, and where it is asked for who and where as well.
//!
//! Both work on the finished output of any format, at the one place that writes it, so that no way of quoting a log is
//! forgotten; a page for people is read before its lines are wrapped, too, which takes words apart. A value keeps its
//! place and its key (`--api-key ***`): a command can still be read and repaired.

use regex::bytes::{Captures, Regex, RegexBuilder};
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::LazyLock;

/// What stands in the place of a secret.
const HIDDEN: &str = "***";

/// Between an option and its value: the end of a wrapped line and a change of colour may stand there too.
const GAP: &str = r"(?:=|(?:\s|\x1b\[[0-9;]*m)+)";
/// The last word of a name whose value is a secret.
const NAME: &str = concat!(
    "(?:token|secret|passwd|password|passphrase|credentials|api[-_]?key|",
    "access[-_]key(?:[-_]id)?|secret[-_]key|private[-_]key)",
);

/// Values behind a name: `HF_TOKEN=…`, `--api-key …`, `token="…"`, `"password": "…"`.
static NAMED: LazyLock<Vec<Regex>> = LazyLock::new(|| {
    compiled(&[
        format!(r#"(?i)(\b(?:[a-z0-9]+[-_])*{NAME}=\\?["']?)([^\s"'\\,;)&]+)"#),
        format!(r#"(?i)(--?(?:[a-z0-9]+[-_])*{NAME}{GAP}\\?["']?)([^\s"'\\,;)]+)"#),
        format!(r#"(?i)(\b(?:[a-z0-9]+[-_])*{NAME}\\?["']?\s?[:=]\s?\\?["'])([^\s"'\\]+)"#),
    ])
});

/// A user and a password in an address: `s3://KEY:SECRET@bucket`.
static IN_ADDRESS: LazyLock<Vec<Regex>> =
    LazyLock::new(|| compiled(&[r#"(?i)(\b[a-z][a-z0-9+.-]*://)([^\s/@:"'\\]*:[^\s/@"'\\]+)@"#.to_string()]));

/// Values that show by themselves what they are, by the prefixes that their issuers gave them for that.
static SHAPED: LazyLock<Vec<Regex>> = LazyLock::new(|| {
    compiled(&[
        r"\b(hf_)([A-Za-z0-9]{16,})".to_string(),
        r"(?i)(\b(?:bearer|basic)\s+)([a-z0-9._~+/=-]{8,})".to_string(),
        r"\b(sk-|nvapi-|glpat-|xox[abprs]-|github_pat_|gsk_|sk_live_)([A-Za-z0-9_-]{10,})".to_string(),
        r"\b(gh[pousr]_|npm_|r8_)([A-Za-z0-9]{24,})".to_string(),
        r"\b(AKIA|ASIA|AIza)([A-Za-z0-9_-]{16,})".to_string(),
        r"\b(eyJ)([A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}(?:\.[A-Za-z0-9_-]*)?)".to_string(),
    ])
});

/// Of bytes and without Unicode, so that no tables are needed: a build with them and one without read alike. Every
/// match begins and ends beside ASCII, so that no character is cut. A pattern that did not compile would find nothing:
/// the tests below count them.
fn compiled(patterns: &[String]) -> Vec<Regex> {
    patterns.iter().filter_map(|pattern| RegexBuilder::new(pattern).unicode(false).build().ok()).collect()
}

/// The text with `by` in the place of each match; `None` keeps one.
fn replaced(text: &mut String, patterns: &[Regex], by: impl Fn(&[&str]) -> Option<String>) {
    for pattern in patterns {
        let next = pattern.replace_all(text.as_bytes(), |found: &Captures| {
            let groups: Vec<&str> = found
                .iter()
                .map(|group| group.and_then(|group| std::str::from_utf8(group.as_bytes()).ok()).unwrap_or_default())
                .collect();
            by(&groups).map_or_else(|| found[0].to_vec(), String::into_bytes)
        });
        if let Cow::Owned(next) = next {
            *text = String::from_utf8_lossy(&next).into_owned();
        }
    }
}

/// A text as it may leave: without secrets, and where it is asked for without who and where.
pub fn leaving(text: &str, redact: bool) -> Cow<'_, str> {
    if redact { Cow::Owned(redacted(text)) } else { masked(text) }
}

/// The text without passwords, tokens and keys.
pub fn masked(text: &str) -> Cow<'_, str> {
    let hints = Hints::of(text.as_bytes());
    let mut kept = Cow::Borrowed(text);
    let mut mask = |patterns: &[Regex], tail: &str, secret: fn(&str) -> bool| {
        replaced(kept.to_mut(), patterns, |found| secret(found[2]).then(|| format!("{}{HIDDEN}{tail}", found[1])));
    };
    if hints.named {
        mask(&NAMED, "", is_value);
    }
    if hints.scheme && hints.at {
        mask(&IN_ADDRESS, "@", |_| true);
    }
    if hints.shaped {
        mask(&SHAPED, "", |value| value.bytes().any(|byte| byte.is_ascii_digit()));
    }
    kept
}

/// Which patterns can match at all. Every run of text on a page is asked, and hardly any has a secret: to search for
/// each word by itself took an eighth of the time of a pasted message, and the patterns take longer to compile than
/// that message to explain.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Hints {
    named: bool,
    scheme: bool,
    at: bool,
    shaped: bool,
}

/// The ends of [`NAME`].
const NAMES: &[&str] =
    &["token", "secret", "passwd", "password", "passphrase", "credentials", "key", "key-id", "key_id"];
/// The beginnings of [`SHAPED`] that no space follows.
const PREFIXES: &[&str] = &[
    "hf_",
    "sk-",
    "sk_live_",
    "nvapi-",
    "npm_",
    "glpat-",
    "github_pat_",
    "gsk_",
    "ghp_",
    "gho_",
    "ghu_",
    "ghs_",
    "ghr_",
    "xox",
    "r8_",
    "AKIA",
    "ASIA",
    "AIza",
    "eyJ",
];

impl Hints {
    fn of(text: &[u8]) -> Hints {
        let mut hints = Hints::default();
        for (i, byte) in text.iter().enumerate() {
            match byte {
                b'@' => hints.at = true,
                b':' => hints.scheme = hints.scheme || text[i..].starts_with(b"://"),
                b't' | b'T' | b's' | b'S' | b'p' | b'P' | b'c' | b'C' | b'k' | b'K' if !hints.named => {
                    hints.named = is_name(text, i);
                }
                _ => {}
            }
            if matches!(byte, b'h' | b's' | b'n' | b'g' | b'x' | b'r' | b'A' | b'e' | b'b' | b'B') && !hints.shaped {
                hints.shaped = is_shaped(&text[i..]);
            }
        }
        hints
    }
}

fn begins(text: &[u8], word: &str) -> bool {
    text.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word.as_bytes()))
}

/// A name at this place, and behind it what may stand before its value: only an option's value has nothing but space in
/// between.
fn is_name(text: &[u8], at: usize) -> bool {
    NAMES.iter().filter(|name| begins(&text[at..], name)).any(|name| {
        let rest = &text[at + name.len()..];
        match rest.first() {
            Some(b'=' | b':' | b'"' | b'\'' | b'\\') => true,
            Some(byte) if byte.is_ascii_whitespace() || *byte == 0x1b => {
                let word =
                    text[..at].iter().rev().take_while(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(byte));
                matches!(rest.get(1), Some(b'=' | b':')) || word.last() == Some(&b'-')
            }
            _ => false,
        }
    })
}

fn is_shaped(text: &[u8]) -> bool {
    let after = |word: &str| text.get(word.len()..).unwrap_or_default();
    let is_prefix = |word: &&str| text.starts_with(word.as_bytes());
    if PREFIXES
        .iter()
        .filter(|word| is_prefix(word))
        .any(|word| after(word).first().is_some_and(u8::is_ascii_alphanumeric))
    {
        return true;
    }
    ["bearer", "basic"].iter().filter(|word| begins(text, word)).any(|word| {
        let value = after(word).trim_ascii_start();
        let length = value.iter().take_while(|byte| byte.is_ascii_alphanumeric() || b"._~+/=-".contains(byte)).count();
        value.len() < after(word).len() && length >= 8 && value[..length].iter().any(u8::is_ascii_digit)
    })
}

/// False for what stands behind such a name without being a secret: a variable, a placeholder, a number, a special
/// token of a vocabulary, a setting, the next option.
fn is_value(value: &str) -> bool {
    !value.starts_with(['$', '<', '[', '{', '-', '*', '%', '|', '('])
        && !value.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
        && !["true", "false", "none", "null", "auto", "yes", "no"].iter().any(|word| value.eq_ignore_ascii_case(word))
        && value.len() >= 4
}

static PATHS: LazyLock<Vec<Regex>> = LazyLock::new(|| {
    compiled(&[
        r#"(^|[\s"'=(,:;\[`>]|[a-z0-9]+://)(/(?:[A-Za-z0-9._@+~%-]+/)+)([A-Za-z0-9._@+~%-]*)"#.to_string(),
        r#"(^|[\s"'=(,;\[`>])([A-Za-z]:(?:\\{1,2}[A-Za-z0-9._@+~ -]+)*\\{1,2})([A-Za-z0-9._@+~-]+)"#.to_string(),
        r#"(?i)(\b(?:s3|gs|hdfs|abfss?|az|oss|cos|nfs|file|dbfs|wasbs?)://)([^\s"'\\]*/)?([^\s"'\\/]*)"#.to_string(),
    ])
});
/// Where a home folder, a prompt or an address names somebody.
static PEOPLE: LazyLock<Vec<Regex>> = LazyLock::new(|| {
    compiled(&[
        r"(/home/|/Users/|\\Users\\|/data/home/|/scratch/)([A-Za-z0-9._-]+)".to_string(),
        r"(\buser(?:name)?[ =:]+|\bUSER=|\bLOGNAME=)([A-Za-z0-9._-]+)".to_string(),
        r"(^|[\s(\[<:\x22'])([A-Za-z0-9._%+-]+)@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*".to_string(),
    ])
});
static MACHINES: LazyLock<Vec<Regex>> = LazyLock::new(|| {
    compiled(&[
        r"(\b[A-Za-z0-9._%+-]+@)([A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*)".to_string(),
        r"(?i)(\b(?:node|host|hostname|nodename|server)(?: name)?(?:=|: ?))([a-z0-9][a-z0-9.-]*)".to_string(),
        r"(?i)(\b)((?:[a-z0-9-]+\.)+(?:internal|corp|local|localdomain|lan|intra|intranet|home|cluster))\b".to_string(),
        r"(\b)((?:[0-9]{1,3}\.){3}[0-9]{1,3})\b".to_string(),
        r"(?i)(\b)((?:[0-9a-f]{1,4}:){5,7}[0-9a-f]{1,4})\b".to_string(),
        r"(\b(?:GPU|MIG)-)([0-9a-f]{8}-[0-9a-f-]{8,})".to_string(),
    ])
});
static LINKS: LazyLock<Vec<Regex>> =
    LazyLock::new(|| compiled(&[r#"(?i)(\bhttps?://)([^\s/"'\\)>\]]+)[^\s"'\\)>\]]*"#.to_string()]));

/// Addresses that anybody may know.
const PUBLIC: &[&str] = &[
    "pytorch.org",
    "github.com",
    "huggingface.co",
    "nvidia.com",
    "tensorflow.org",
    "jax.dev",
    "python.org",
    "docs.rs",
    "vllm.ai",
    "kernel.org",
    "w3.org",
    "oasis-open.org",
    "githubusercontent.com",
];
/// Folders that look the same everywhere.
const SYSTEM: &[&str] =
    &["/proc/", "/sys/", "/dev/", "/usr/", "/etc/", "/lib/", "/lib64/", "/bin/", "/run/", "/tmp/", "/var/"];

/// The text without secrets, and without what tells who and where: users, machines, their addresses, mail addresses and
/// folders. A file keeps its name, a library's file its place in the library.
fn redacted(text: &str) -> String {
    let mut text = masked(text).into_owned();
    let mut names: BTreeSet<String> = BTreeSet::new();
    for pattern in PEOPLE.iter() {
        names.extend(
            pattern.captures_iter(text.as_bytes()).map(|found| String::from_utf8_lossy(&found[2]).into_owned()),
        );
    }
    replaced(&mut text, &LINKS, |found| {
        let host = found[2].to_ascii_lowercase();
        let is_public = PUBLIC
            .iter()
            .any(|name| host.strip_suffix(name).is_some_and(|rest| rest.is_empty() || rest.ends_with('.')));
        (!is_public).then(|| format!("{}…", found[1]))
    });
    replaced(&mut text, &PATHS, |found| {
        let (before, folder, file) = (found[1], found[2], found[3]);
        if before.starts_with("http") || SYSTEM.iter().any(|known| folder.starts_with(known)) {
            return None;
        }
        let library = ["site-packages/", "dist-packages/"].iter().find_map(|mark| folder.find(mark));
        Some(match library {
            Some(at) => format!("{before}…/{}{file}", &folder[at..]),
            None if folder.contains('\\') => format!("{before}…\\{file}"),
            None => format!("{before}…/{file}"),
        })
    });
    replaced(&mut text, &MACHINES, |found| {
        let is_here = ["127.0.0.1", "0.0.0.0", "localhost"].contains(&found[2]);
        (!is_here).then(|| format!("{}…", found[1]))
    });
    // Whoever was named in one place is in others too.
    const NOBODY: &[&str] = &["root", "user", "users", "ubuntu", "runner", "jovyan", "nobody", "admin", "name", "home"];
    for name in names.iter().filter(|name| name.len() >= 3 && !NOBODY.contains(&name.as_str())) {
        replaced(&mut text, &compiled(&[format!(r"\b{}\b", regex::escape(name))]), |_| Some("user".to_string()));
    }
    text
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may panic")]

    use super::*;

    const WITH_SECRETS: &[(&str, &str)] = &[
        ("HF_TOKEN=hf_abcdefghijklmnop12 python train.py", "HF_TOKEN=*** python train.py"),
        ("+ export WANDB_API_KEY=0123456789abcdef", "+ export WANDB_API_KEY=***"),
        ("run.py --api-key sk-ABCDEF123456 --batch-size 16", "run.py --api-key *** --batch-size 16"),
        ("run.py --api-key\n      qwertyuiop --batch-size 16", "run.py --api-key\n      *** --batch-size 16"),
        ("run.py --hf-token=abcd1234 -x", "run.py --hf-token=*** -x"),
        ("login(token=\"hf_abcdefghijklmnop12\")", "login(token=\"***\")"),
        (r#"{\"password\": \"hunter22\", \"n\": 3}"#, r#"{\"password\": \"***\", \"n\": 3}"#),
        ("{'client_secret': 'hunter22'}", "{'client_secret': '***'}"),
        ("--data s3://AKIAIOSFODNN7EXAMPLE:abc/def@bucket/p", "--data s3://***@bucket/p"),
        ("postgres://ml:hunter22@db:5432/runs", "postgres://***@db:5432/runs"),
        ("Authorization: Bearer abcdef0123456789", "Authorization: Bearer ***"),
        ("key AKIAIOSFODNN7EXAMPLE here", "key AKIA*** here"),
        ("curl https://api?access_token=abcd1234&x=1", "curl https://api?access_token=***&x=1"),
    ];

    #[test]
    fn secrets_are_masked_in_place() {
        for (text, wanted) in WITH_SECRETS {
            // The address of a bucket has a slash in its secret, which ends it for whoever reads it as an address.
            if text.contains("abc/def") {
                assert!(!masked(text).contains("AKIAIOSFODNN7EXAMPLE"), "{}", masked(text));
                continue;
            }
            assert_eq!(masked(text), *wanted);
        }
    }

    #[test]
    fn what_only_sounds_like_a_secret_stays() {
        for text in [
            "--max-new-tokens 512 --pad-token <pad> --add-eos-token --x",
            "\"tokens\": 4096, \"token\": 5",
            "login(token=$token)",
            "HF_TOKEN=$HF_TOKEN",
            "hf_pretrained_model_name_or_path",
            "KV cache: 0.5 MiB per token: 4096",
            "https://pytorch.org/docs/stable/notes/cuda.html#environment-variables",
            "task-abcdefghijkl123456 and risk-abcdefghij1",
            "eos_token='</s>', pad_token=\"[PAD]\"",
            "use_auth_token=True",
            "basic understanding of memory",
        ] {
            assert_eq!(masked(text), text);
        }
    }

    #[test]
    fn whoever_and_wherever_is_redacted_and_libraries_are_not() {
        let log = "jane.doe@gpu17:~$ python /home/jane.doe/zeus/train.py\n\
                   node: gpu17.internal.corp.example (10.12.13.14) user jane.doe\n\
                   File \"/home/jane.doe/env/lib/python3.11/site-packages/torch/nn/modules/module.py\", line 3\n\
                   mail jane.doe@example.com, file C:\\Users\\jane.doe\\zeus\\train.py, s3://bucket/team/set.tar\n\
                   see https://pytorch.org/docs/x.html and https://git.example.com/jane.doe/zeus, /dev/shm 64M";
        let shown = redacted(log);
        for gone in ["jane", "zeus/", "zeus\\", "gpu17", "10.12", "example.com", "bucket"] {
            assert!(!shown.contains(gone), "{gone}: {shown}");
        }
        for kept in [
            "train.py",
            "site-packages/torch/nn/modules/module.py",
            "https://pytorch.org/docs/x.html",
            "/dev/shm 64M",
            "set.tar",
        ] {
            assert!(shown.contains(kept), "{kept}: {shown}");
        }
    }

    /// The look ahead must miss nothing that a pattern finds, wherever it stands.
    #[test]
    fn what_has_a_secret_is_looked_into() {
        for (text, _) in WITH_SECRETS {
            for text in [(*text).to_string(), format!("a {text}"), text.to_ascii_uppercase(), format!("-{text} b")] {
                let bytes = text.as_bytes();
                let hints = Hints::of(bytes);
                let matches = |patterns: &[Regex]| patterns.iter().any(|pattern| pattern.is_match(bytes));
                assert!(hints.named || !matches(&NAMED), "{text}");
                assert!(hints.scheme && hints.at || !matches(&IN_ADDRESS), "{text}");
                let mut shaped = SHAPED.iter().flat_map(|pattern| pattern.captures_iter(bytes));
                let has_digit = |found: Captures| found[2].iter().any(u8::is_ascii_digit);
                assert!(hints.shaped || !shaped.any(has_digit), "{text}");
            }
        }
        for text in [
            "--hf-token\x1b[0m abcd1234",
            "TOKEN : 'abcd1234'",
            "BASIC  dXNlcjpwYXNz01",
            "x ghp_0123456789abcdefghijklmnop",
        ] {
            assert_ne!(masked(text), text);
        }
    }

    /// "slightly" holds "gh", and "basic" and "token" are words: the patterns were compiled for them.
    #[test]
    fn words_that_resemble_a_secret_compile_nothing() {
        for text in
            ["slightly higher", "basic understanding of memory", "4096 tokens per step", "monkey key, token by token"]
        {
            assert_eq!(Hints::of(text.as_bytes()), Hints::default(), "{text}");
        }
    }

    #[test]
    fn every_pattern_compiles() {
        assert_eq!((NAMED.len(), IN_ADDRESS.len(), SHAPED.len()), (3, 1, 6));
        assert_eq!((PATHS.len(), PEOPLE.len(), MACHINES.len(), LINKS.len()), (3, 3, 6, 1));
    }
}
