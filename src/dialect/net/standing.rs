//! Whether what a line reports was a failure: how grave the program calls it, and whether it goes another way.

use super::outcome::{self, After};
use super::words::{FAILURES, Spoken};
use super::{clipped, roles};
use crate::dialect::joined::begins_with_stamp;
use crate::dialect::record::Record;
use crate::dialect::{Event, Sign, Standing, field};
use crate::input::Document;
use crate::text;
use crate::text::Text;

/// Why a message that a program outlived is no failure.
pub fn got_over() -> Text {
    text!(
        en: "the program found another way or went on: the lines behind the message show it",
        zh: "程序另寻出路或继续运行：其后的日志可以说明"
    )
}

/// How grave a line says it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Level {
    Error,
    Warning,
    Chatter,
}

pub(super) fn level(line: &str) -> Option<Level> {
    let head: String = line.chars().take(120).collect();
    let head = head.as_str();
    let words = || head.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    // glog: `E0311 09:14:27.1 …`
    let glog = words().next().filter(|word| word.len() == 5 && word[1..].bytes().all(|byte| byte.is_ascii_digit()));
    match glog.map(|word| word.as_bytes()[0]) {
        Some(b'E' | b'F') => return Some(Level::Error),
        Some(b'W') => return Some(Level::Warning),
        Some(b'I') => return Some(Level::Chatter),
        _ => {}
    }
    let lower = head.to_ascii_lowercase();
    let of = |word: &str| match word {
        "ERROR" | "FATAL" | "CRITICAL" | "SEVERE" | "PANIC" | "ERR" | "EMERG" | "CRIT" | "ALERT" | "FTL" => {
            Some(Level::Error)
        }
        "WARN" | "WARNING" | "WRN" | "WARNI" => Some(Level::Warning),
        "INFO" | "DEBUG" | "TRACE" | "NOTICE" | "VERBOSE" | "INF" | "DBG" => Some(Level::Chatter),
        _ => None,
    };
    if let Some(word) = Record::of(line).and_then(|record| record.level()) {
        return of(&word);
    }
    let bracketed = ["[E]", "[F]", "[C]"].iter().any(|mark| head.contains(mark));
    if bracketed {
        return Some(Level::Error);
    }
    if head.contains("[W]") {
        return Some(Level::Warning);
    }
    if head.contains("[I]") || head.contains("[D]") {
        return Some(Level::Chatter);
    }
    let lowered =
        ["[error]", "[fatal]", "[critical]", "[warn]", "[warning]", "[info]", "[debug]", "[notice]", "[trace]"];
    if let Some(mark) = lowered.iter().find(|mark| lower.contains(**mark)) {
        return of(&mark[1..mark.len() - 1].to_ascii_uppercase());
    }
    let start = lower.trim_start();
    // `W: oscap: Memory usage ratio limit reached!`
    if start.starts_with("w: ") {
        return Some(Level::Warning);
    }
    // `warning: …`, `gridtool: warning: …`
    if start.starts_with("warning") || start.starts_with("note:") || start.contains(": warning: ") {
        return Some(Level::Warning);
    }
    words().find_map(of)
}

/// What a program says that it does itself; nobody is advised in these words. elinks (src/util/memdebug.c) counts its
/// tries, and ncdu (src/util.c) waits for who runs it to let it have another.
const DOING: &[&str] = &[
    "trying again",
    "retrying",
    "falling back",
    "fell back",
    "automatically trying",
    "cpu mode is applied",
    "retry #",
    "press enter to try again",
];

/// Words by which a program says that it has another way.
const WAY_ON: &[&str] = &[
    // YOLOX (yolox/models/yolo_head.py).
    "cpu mode is applied",
    "proceed with",
    "proceeding with",
    "using the last",
    "retrying",
    // icecream's client, where a build server had no memory for a file.
    "recompiling locally",
    "will retry",
    "retry with",
    "falling back",
    "fall back",
    "fallback",
    "fell back",
    "will try",
    "trying again",
    "trying smaller",
    "trying with",
    "trying a smaller",
    "trying next",
    "trying to restart",
    "update it later",
    "using java default",
    "automatically trying",
    "trying more",
    "skipping",
    "skipped",
    "reducing",
    "reduced to",
    "using cpu",
    "use cpu instead",
    "using host",
    "using system",
    "instead of",
    "instead",
    "continuing",
    "continue without",
    "continue with",
    "continue on",
    "try to continue",
    "offload the rest",
    "offloading the rest",
    "ignoring",
    "ignored",
    "recover",
    "evict",
    "offloading to",
    "spilling",
    "spill",
    "requeu",
    "reschedul",
    "halving",
    "lowering",
    "disabling",
    "feature disabled",
    "switching to",
    "tiled",
    "preempt",
    "restored",
    "retract",
    "swapping",
    "not fatal",
    "non-fatal",
    "another way",
    "no acceleration applied",
    "will have no shadow",
    "recompute",
    "attempting to",
    "had to flush",
    "keeping the previous",
    "keeping the old",
    "keeping the existing",
    "running job without",
    "will cope",
    "going to turn on",
    "decimating",
    "flushing",
    "will be slower",
    "slower",
    "performance gains",
    "performance problems",
    "need to split",
    "needs to split",
    "splitting",
    "will split",
    "will be split",
    "multiple passes",
    "out-of-core",
    "no effect",
    "autotun",
    "select_algorithm",
    "skip config",
    "not a failure",
    "重试",
    "回退",
    "跳过",
    "降低",
    "改用",
    "リトライ",
    "재시도",
    "повторная",
    "nouvelle tentative",
    "erneut",
    "reintent",
];

/// Lines behind a message in which it does, whatever else it says of the failure between.
const DONE: usize = 10;

/// Lines before a message in which the program says what it does about it.
const INTRODUCED: usize = 8;

/// True for what is attempted where that is the request which was refused: `attempting to allocate 12 MiB`.
fn asks(text: &str) -> bool {
    ["alloc", "reserve", "malloc", "map ", "create", "commit", "obtain", "get "]
        .iter()
        .any(|verb| text.trim_start().starts_with(verb))
}

/// True for a line that tells what to do, in the imperative: `^-- Enable eviction`, `* Reduce the batch`.
fn advises(lower: &str) -> bool {
    const ORDERS: &[&str] = &[
        "increase", "enable", "reduce", "try", "consider", "use", "set", "add", "decrease", "disable", "make", "check",
        "run", "lower", "raise", "switch",
    ];
    let word = lower.trim_start_matches(|c: char| !c.is_alphabetic()).split(|c: char| !c.is_alphabetic()).next();
    word.is_some_and(|word| ORDERS.contains(&word))
        || ["you could", "you can", "you may"].iter().any(|to| lower.contains(to))
}

/// True for what is done with less than was asked for: `not enough memory for 16 threads, using 9`.
fn makes_do(behind: &str) -> bool {
    let number = |rest: &str| rest.trim_start().starts_with(|c: char| c.is_ascii_digit());
    [", using ", "; using ", " - using "]
        .iter()
        .any(|words| behind.split_once(words).is_some_and(|(_, rest)| number(rest)))
}

/// True for an attempt that begins a clause: `not enough memory; collected, trying half`.
fn tries(behind: &str) -> bool {
    [", trying ", "; trying ", ". trying "].iter().any(|words| {
        behind.split_once(words).is_some_and(|(_, attempt)| match attempt.strip_prefix("to ") {
            // `trying to use a smaller size`; to what else is tried may be what failed.
            Some(act) => ["use ", "continue", "shrink", "reduce", "split", "free ", "recover"]
                .iter()
                .any(|way| act.starts_with(way)),
            None => !asks(attempt),
        })
    })
}

/// Whether the line reports a failure or something that was got over; nothing where it stands in no error's context.
pub(super) fn standing(
    document: &Document,
    position: usize,
    line: &str,
    lower: &str,
    behind: &str,
    spoken: Spoken,
) -> Option<Standing> {
    const FAILING: &[&str] = &[
        "killed",
        "ran out",
        "out of",
        "exhausted",
        "reached",
        "no memory",
        "what()",
        "assert",
        "larger than",
        "too large",
        "too big",
        "no free",
        "no room",
        "no space",
        "not found",
        "refuse",
        "rejected",
        "unsuccessful",
        "depleted",
        "below",
        "more memory than",
        "too much",
        "have enough",
        "problem alloc",
        "trouble alloc",
        "épuisée",
        "agotada",
        "esaurita",
        "esgotada",
        "erschöpft",
        "исчерпана",
        "耗尽",
        "用尽",
        "错误",
        "失败",
        "不足",
        "异常",
        "无法",
        "溢出",
        "エラー",
        "失敗",
        "오류",
        "실패",
        "부족",
        "fehler",
        "nicht",
        "erreur",
        "insuffisant",
        "impossible",
        "échec",
        "insuficiente",
        "sin memoria",
        "no se pudo",
        "sem memória",
        "ошибка",
        "не удалось",
        "недостаточно",
        "не хватает",
        "нехватка",
        "zu wenig",
        "plus de",
        "manque",
    ];
    // A server logs its client's error as a warning: `[warning] Error message: …`.
    let quoted = |key: &str| {
        let mut places = lower.match_indices(key).filter_map(|(at, _)| lower.get(at + key.len()..));
        places.any(|value| value.trim_start_matches(['"', '\'']).starts_with(|c: char| c.is_alphabetic()))
    };
    // `query cancelled, reason=Memory limit exceeded`: the words are what the key of an outcome holds.
    let keyed = || {
        let lead = lower.get(..spoken.at).unwrap_or_default();
        let lead = lead.trim_end_matches(['"', '\'', ' ']);
        let value =
            ["err_msg=", "error_msg=", "errmsg=", "status=", "reason=", "cause=", "reason:", "cause:", "status:"];
        value.iter().any(|key| lead.ends_with(key))
    };
    let quotes = ["error message:", "error: ", "exception: ", "errorcode"].iter().any(|word| lower.contains(word))
        || ["error=", "exception=", "err="].into_iter().any(quoted)
        || keyed();
    // A tracer prints what every call of another program gave: `mmap(…) = -1 ENOMEM (Cannot allocate memory)`.
    let traced = lower.contains("= -1 enomem");
    let level = level(line).or(traced.then_some(Level::Chatter));
    // `INFO server  PHP Fatal error: …`: what a supervisor passes on of its worker has a level of its own.
    let passed_on = level == Some(Level::Chatter) && lower.contains("fatal error: ");
    let level = if passed_on { Some(Level::Error) } else { level };
    // A compiler's own warning is none of another program's error.
    let own = lower.trim_start().starts_with("warning: ");
    let level = level.map(|level| if level == Level::Warning && quotes && !own { Level::Error } else { level });
    let mut next = field::behind(document, position, 3).map(|at| field::text(document, at).to_lowercase());
    let has = |text: &str, words: &[&str]| words.iter().any(|word| text.contains(word));
    let fails = |text: &str| has(text, FAILURES) || has(text, FAILING);
    // Advice behind the words is no way on: `try again with a smaller batch`.
    let advice = has(
        behind,
        &[
            "try ",
            "make sure",
            "solution",
            "workaround",
            "increase ",
            "increasing",
            "please",
            "consider",
            "you can",
            "try to",
            "try setting",
            "try using",
            "suggest",
            "recommend",
        ],
    );
    // `recover` within another word, such as a program's name, is no way on.
    let begins = |text: &str, words: &[&str]| {
        words.iter().any(|word| {
            text.match_indices(word).any(|(at, _)| {
                let inside = text[..at].ends_with(|c: char| c.is_ascii_alphanumeric());
                let request = *word == "attempting to" && asks(&text[at + word.len()..]);
                // `too low to initialize the spilling operator`, `the memory required to spill`: what it lacks.
                // `skipping the cleanup`: what comes with the end.
                let after = &text[at + word.len()..];
                let ending = word.starts_with("skip")
                    && ["destruct", "cleanup", "clean-up", "clean up", "teardown", "tear down", "shutdown", "finaliz"]
                        .iter()
                        .any(|end| after.contains(end));
                // `disabling device 0`: it does without what failed.
                let gone = *word == "disabling"
                    && ["device", "gpu", "card"].iter().any(|holder| after.trim_start().starts_with(holder));
                let clause = text[..at].rsplit([';', ',']).next().unwrap_or_default();
                let clause = clause.rsplit(". ").next().unwrap_or_default();
                let lacks = ["too low to ", "too small to ", "not enough memory to ", "required "]
                    .iter()
                    .any(|words| clause.contains(words))
                    && clause.contains("to ");
                // `tips on reducing your footprint`: what is told of, and not done.
                let told_of =
                    word.ends_with("ing") && [" on ", " for ", " about "].iter().any(|lead| text[..at].ends_with(lead));
                // `the operator can not spill`
                let denied = ["not ", "cannot ", "n't ", "no "].iter().any(|no| text[..at].ends_with(no));
                !inside && !request && !lacks && !ending && !gone && !told_of && !denied
            })
        })
    };
    // What stands before the words is no advice: `preempted because there is not enough … Increase …`.
    let says_way_on = tries(behind)
        || makes_do(behind)
        || match lower.strip_suffix(behind) {
            Some(lead) => begins(lead, WAY_ON) || begins(behind, WAY_ON) && (!advice || begins(behind, DOING)),
            None => begins(lower, WAY_ON) && !advice,
        };
    // `GPU step failed! Falling back to the CPU. Error:`, and then the message that it is about.
    let introduced = || {
        let above = field::before(position, INTRODUCED).map(|at| field::text(document, at).trim_end().to_lowercase());
        // `attempt 1 of 3 failed, again in 5000 ms`, and then the message that it is about.
        let again = |line: &str| line.contains("attempt ") && line.contains(" again in ");
        above.into_iter().any(|line| line.ends_with(':') && begins(&line, DOING) || again(&line))
    };
    let way_on = says_way_on
        // `This may cause performance problems. Consider …`: of a setting.
        || lower.contains("may cause performance")
        || next.any(|line| begins(&line, WAY_ON) && !has(&line, &["fatal", "traceback", "hint:"]) && !advises(&line))
        || field::behind(document, position, DONE)
            .map(|at| field::text(document, at).to_lowercase())
            .take_while(|line| !has(line, &["fatal", "traceback"]))
            .any(|line| begins(&line, DOING) && !advises(&line))
        || introduced();
    let after = outcome::after(document, position);
    let last =
        document.lines.iter().skip(position + 1).take(64).filter(|line| !line.text.trim().is_empty()).count() <= 2;
    // Work that begins or ends behind what is no error's word: the program goes on.
    let busy = || {
        let mut rest = field::behind(document, position, 64).map(|at| field::text(document, at).to_lowercase());
        rest.any(|line| !fails(&line) && has(&line, &["finished", "completed", "started", "starting"]))
    };
    // Whoever says on the same line that there is another way, and dies, dies of something that has its own message.
    if says_way_on {
        return Some(Standing::Harmless);
    }
    if way_on {
        return Some(if after == After::Died { Standing::Failure } else { Standing::Harmless });
    }
    let fails_on = || {
        let mut behind = field::behind(document, position, 2).map(|at| field::text(document, at));
        behind.any(|line| {
            let stamped = line.starts_with(|c: char| c.is_ascii_digit()) && begins_with_stamp(line);
            // `[native-compiler-failed,native-compiler]`: the warning's own kind.
            let kind = line.starts_with('[') && line.trim_end().ends_with(']');
            // The same warning again is no failure that it led to.
            let again = line.trim() == document.lines.get(position).map_or("", |own| own.text.trim());
            !stamped && !kind && !again && fails(&line.to_lowercase())
        })
    };
    let harmless = |failed: bool| Some(if failed { Standing::Failure } else { Standing::Harmless });
    match level {
        Some(Level::Warning) => match after {
            After::Died => harmless(true),
            After::WentOn => harmless(false),
            // What fails on the lines behind a warning fails of what it warns of; a service, which stamps each of its
            // lines, tells of another request there.
            After::Unknown => harmless(
                (last || fails_on())
                    && (spoken.named
                        || has(
                            lower,
                            &[
                                "out of memory",
                                "not enough memory",
                                "bad alloc",
                                "error in ",
                                "error when ",
                                "oom",
                                "不足",
                            ],
                        )),
            ),
        },
        // An agent tells of its job's end as of any other: `OOM detected for the terminated container`.
        Some(Level::Chatter) if has(lower, &["oom detected for "]) && after != After::WentOn => harmless(true),
        Some(Level::Chatter) => match after {
            After::Died if spoken.named || fails(lower) => harmless(true),
            After::Unknown if last && has(lower, &["error", "fail", "out of memory", "exception", "abort"]) => {
                harmless(true)
            }
            _ => None,
        },
        Some(Level::Error) => harmless(after != After::WentOn),
        None if spoken.named || fails(lower) || lower.contains(" > ") && roles::asks_too_much(line) => {
            harmless(after != After::WentOn)
        }
        None => (after == After::Died || last && !busy()).then_some(Standing::Failure),
    }
}

/// Words by which another reader's program says that it has another way.
const OTHER_WAY: &[&str] = &[
    "retrying",
    "retry with",
    "falling back",
    "fall back to",
    "fallback",
    "fell back",
    "skipping batch",
    "skipping this batch",
    "using batch size",
    "skipping tactic",
    "skip config",
    "trying with",
    "trying smaller",
    "trying again",
    "will try",
    "using cpu",
    "on cpu instead",
    "switching to",
    "select_algorithm",
    "autotun",
    "evict",
    "reducing batch",
    "reducing the batch",
    "tiling",
    "will be slower",
    "performance gains",
    "performance problems",
    "merging on the cpu",
];

/// Lines behind a message on which a program says so.
const SOON: usize = 3;

/// A device's refusal that a known program got over: it says so on the message's own lines or right behind them, and it
/// does not die of it.
pub fn survived(document: &Document, position: usize, event: &Event) -> bool {
    if event.standing != Standing::Failure || event.resource.on_host() || event.program.is_warden() {
        return false;
    }
    let says = |at: usize, words: &[&str]| {
        let lower = clipped(field::text(document, at)).to_lowercase();
        words.iter().any(|word| lower.contains(word)) || at == position && tries(&lower) || starts_again(&lower)
    };
    let last = document.lines.partition_point(|line| line.number <= event.at.last).max(position + 1) - 1;
    let mild = matches!(level(field::text(document, position)), Some(Level::Warning | Level::Chatter));
    let here = || (position..=last.min(position + SOON)).any(|at| says(at, OTHER_WAY));
    let soon = |words: &[&str]| field::behind(document, last, SOON).any(|at| says(at, words));
    // Where the log ends with a try, nobody knows how it went.
    let tried = |words: &[&str]| {
        let said = field::behind(document, last, SOON).find(|at| says(*at, words));
        said.is_some_and(|at| field::behind(document, at, SOON).any(|at| !field::text(document, at).trim().is_empty()))
    };
    let outcome = outcome::after(document, last);
    // An exception ends what raised it, unless the log shows that something went on.
    let went_on = match outcome {
        After::Died => false,
        // A pool that is refused its growth does with what it has.
        After::WentOn => event.has(Sign::PoolGrowthRefused) || here() || soon(OTHER_WAY),
        After::Unknown => mild && here() || tried(AGAIN),
    };
    went_on && !outcome::counts_failures(document, position)
}

/// `batch 512 -> 256, starting this shard again`: less, and then once more.
fn starts_again(lower: &str) -> bool {
    let less = lower.split_once("->").is_some_and(|(before, after)| {
        let number = |word: Option<&str>| word.and_then(|word| word.trim_end_matches(',').parse::<u64>().ok());
        let (from, to) = (number(before.split_whitespace().next_back()), number(after.split_whitespace().next()));
        from.zip(to).is_some_and(|(from, to)| to < from)
    });
    less && lower.contains(" again")
}

/// Words by which the line behind a refusal says that it is tried in another way.
const AGAIN: &[&str] = &[
    "failed setup for format",
    "retrying",
    "retry with",
    "tiling",
    "merging on the cpu",
    "skipping tactic",
    "attempting to recover from",
];
