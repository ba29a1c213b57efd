//! The setting that a message says to raise, in the program's own spelling: `please increase CacheSize configuration
//! parameter`, `change it with the -o command line option`. Of a program in no list nobody else knows its name.

use super::{Event, Resource, Sign, field};
use crate::evidence::Span;
use crate::input::Document;

/// Lines behind a message that may go on with its advice.
const BEHIND: u64 = 3;
/// Longer lines are dumps.
const LONGEST: usize = 1 << 10;
/// Words between the verb and the name.
const BETWEEN: usize = 6;

/// Verbs that ask for more of a setting.
const RAISES: &[&str] = &[
    "increase",
    "increasing",
    "increased",
    "raise",
    "raising",
    "raised",
    "enlarge",
    "enlarging",
    "larger",
    "higher",
    "bigger",
    "greater",
    "change",
    "changed",
    "adjust",
    "bump",
];

/// Words of sentences that are about a limit, so that what is to be used, set or tried is its setting.
const LIMITS: &[&str] = &["limit", "more memory", "minimum amount of memory", "heap size", "memory size", "pool size"];
const SETS: &[&str] = &["use", "using", "set", "setting", "try", "specify", "with", "via"];

/// What a message of a known wording is lifted by, where it does not say so itself, as one writes it.
const KNOWN: &[(&str, &str)] = &[
    ("Allowed memory size of", "php -d memory_limit=<more> <your command>"),
    ("Cannot enlarge memory arrays", "-s ALLOW_MEMORY_GROWTH=1"),
    ("OOM command not allowed when used memory", "maxmemory <more>"),
    ("cache resources exhausted", "-limit memory <more> -limit map <more>"),
    ("PARI stack overflows", "default(parisizemax, <more>)"),
    ("maxsize reached: the PARI stack", "default(parisizemax, <more>)"),
    ("vector memory exhausted", "R_MAX_VSIZE=<more> in ~/.Renviron"),
    ("Heap exhausted, game over", "sbcl --dynamic-space-size <more>"),
    // GHC's runtime, rts/RtsFlags.c.
    ("eap exhausted;", "<your command> +RTS -M<more>"),
    // ClickHouse, src/Common/MemoryTracker.cpp, before and since 24.10.
    ("Memory limit (total) exceeded", "max_server_memory_usage: <more>"),
    ("(total) memory limit exceeded", "max_server_memory_usage: <more>"),
    ("Memory limit (for query) exceeded", "SET max_memory_usage = <more>"),
    ("(for query) memory limit exceeded", "SET max_memory_usage = <more>"),
    ("Query memory limit exceeded", "SET max_memory_usage = <more>"),
    ("Memory limit (for user) exceeded", "SET max_memory_usage_for_user = <more>"),
    // Trino and Presto, ExceededMemoryLimitException.
    ("Query exceeded per-node memory limit", "query.max-memory-per-node=<more>"),
    ("Query exceeded per-node user memory limit", "query.max-memory-per-node=<more>"),
    ("Query exceeded distributed user memory limit", "query.max-memory=<more>"),
    // MongoDB's aggregation and sort.
    ("Exceeded memory limit for $group", "{ allowDiskUse: true }"),
    ("Sort exceeded memory limit of", "{ allowDiskUse: true }"),
    ("capacity exceeded, sorry [main memory size", "main_memory = <more> in texmf.cnf, then fmtutil-sys --all"),
    ("uses more memory than 'maxmempattern'", "set maxmempattern=<more>"),
    ("SERVER_ERROR out of memory storing object", "memcached -m <more>"),
    ("Out of Memory Error: failed to", "SET memory_limit = '<more>'"),
    ("Out of Memory Error: could not", "SET memory_limit = '<more>'"),
    // Documentation/admin-guide/kernel-parameters.txt: slots of 2 KiB each.
    ("swiotlb buffer is full", "swiotlb=<more slots of 2 KiB> among the kernel's parameters"),
    // The pools of Oracle's shared memory share this.
    ("ORA-04031", "ALTER SYSTEM SET sga_target=<more> SCOPE=SPFILE;"),
    // vLLM, vllm/core/scheduler.py, up to 0.9.
    ("lack of CPU swap space", "swap_space=<more GiB>"),
    // STAR says how many it takes, at the least.
    ("limitGenomeGenerateRAM", "--limitGenomeGenerateRAM <bytes>"),
    ("not enough memory for BAM sorting", "--limitBAMsortRAM <more>"),
];

/// PHP's limit where no command can carry it.
const PHP_INI: &str = "memory_limit = <more> in the php.ini that phpinfo() names";

/// True for PHP's message in the log of a web server: nobody started a command that could be given an option.
fn on_a_web_server(document: &Document, position: usize) -> bool {
    const SIGNS: &[&str] = &[
        "PHP message: ",
        "FastCGI",
        "[client ",
        "php-fpm",
        "[proxy_fcgi:",
        "mod_fcgid",
        "/public_html/",
        "/htdocs/",
        "/wp-content/",
        "/wp-includes/",
        "/public/index.php",
    ];
    const BEFORE: usize = 40;
    let line = field::text(document, position);
    // `[19-Oct-2023 08:40:41 UTC] PHP Fatal error: …`, `[2020-02-05 16:20:45] app.ALERT: …`: a log's stamp.
    let logged = line.strip_prefix('[').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    let typed = |at: usize| {
        ["php ", "artisan", "composer ", "drush ", "wp "].iter().any(|command| {
            field::text(document, at).split_once("$ ").is_some_and(|(_, typed)| typed.starts_with(command))
        })
    };
    (logged || SIGNS.iter().any(|sign| line.contains(sign))) && !field::before(position, BEFORE).any(typed)
}

/// Notes the line that raises what refused. A program that names its own setting has refused by it.
pub(super) fn complete(document: &Document, position: usize, event: &mut Event) {
    if let Some((_, line)) = KNOWN.iter().find(|(words, _)| event.message.contains(words)) {
        let line = if line.starts_with("php ") && on_a_web_server(document, position) { PHP_INI } else { line };
        event.facts.setting.note(line.to_string(), event.at);
        event.sign(Sign::RefusedByLimit);
        return;
    }
    // SPAdes limits its own address space, and dies of the refusal as any program does.
    if event.wording() == "cpp-bad-alloc" && event.program.id() == "spades" {
        event.facts.setting.note("-m <more GB>".to_string(), event.at);
        event.sign(Sign::RefusedByLimit);
        return;
    }
    // What is shared between processes has a size of its own, and a change for it.
    if !event.has(Sign::Generic) || event.resource == Resource::Shm {
        return;
    }
    let last = event.at.last + BEHIND;
    let from = document.position(event.at.first).unwrap_or(position);
    let lines = document.lines.get(from..).unwrap_or_default();
    for (at, line) in lines.iter().enumerate().take_while(|(_, line)| line.number <= last) {
        let text = field::text(document, from + at);
        let Some(name) = (text.len() <= LONGEST).then(|| named(text)).flatten() else { continue };
        event.facts.setting.note(written(name), Span::line(line.number));
        event.sign(Sign::RefusedByLimit);
        return;
    }
}

/// The setting that a line says to raise.
fn named(line: &str) -> Option<&str> {
    let lower = line.to_lowercase();
    let about_a_limit = LIMITS.iter().any(|words| lower.contains(words));
    let by_option = about_a_limit || lower.contains("command line option");
    let words: Vec<&str> = line.split_whitespace().collect();
    let plain = |word: &str| word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
    // `maintenance_work_mem must be increased` has it before the verb; what stands behind decides first.
    for (at, word) in words.iter().enumerate() {
        let word = plain(word);
        let raises = RAISES.contains(&word.as_str());
        if !(raises || about_a_limit && SETS.contains(&word.as_str())) {
            continue;
        }
        // `raise ulimit -v` is the shell's.
        let behind = words.iter().skip(at + 1).take(BETWEEN).take_while(|word| !word.contains("ulimit"));
        if let Some(name) = behind.filter_map(|word| setting(word)).find(|name| of_memory(name, by_option)) {
            return Some(name);
        }
        let ahead = words.get(at.saturating_sub(BETWEEN)..at)?;
        let mut named = ahead.iter().rev().filter_map(|word| setting(word));
        if word.ends_with("ed")
            && let Some(name) = named.find(|name| of_memory(name, by_option))
        {
            return Some(name);
        }
    }
    None
}

/// True for a setting whose name says that it sizes memory, or an option of one letter in a sentence about a limit.
/// What divides the work, a number of parts, ranks or threads, is raised for another reason.
fn of_memory(name: &str, by_option: bool) -> bool {
    const SIZES: &[&str] = &[
        "mem", "ram", "cache", "heap", "pool", "buffer", "limit", "stack", "arena", "quota", "budget", "size", "space",
        "guard", "xmx", "jvmargs", "capacity", "fraction", "reserve",
    ];
    const DIVIDES: &[&str] = &[
        "parallel", "batch", "chunk", "split", "part", "tile", "step", "worker", "thread", "process", "shard", "block",
        "rank", "node", "gpu",
    ];
    let lower = name.to_ascii_lowercase();
    let short = lower.starts_with('-') && lower.len() <= 2;
    short && by_option
        || SIZES.iter().any(|word| lower.contains(word)) && !DIVIDES.iter().any(|word| lower.contains(word))
}

/// A word that is a setting by its form: an option, `%mem`, `CacheSize`, `work_mem`, `org.gradle.jvmargs`.
fn setting(word: &str) -> Option<&str> {
    const FILES: &[&str] = &[
        "py", "c", "cc", "cpp", "cu", "h", "hpp", "rs", "go", "js", "ts", "java", "txt", "log", "md", "html", "htm",
        "org", "com", "io", "net", "yml", "yaml", "json", "toml", "ini", "conf", "cfg", "xml", "sh", "so", "dll",
        "exe",
    ];
    let word = word.trim_start_matches(['\'', '"', '`', '(', '[', '“', '‘', '«', '<']);
    let word = word.split(['=', ',', ';', '\'', '"', '`', ')', ']', '”', '’', '»', '>']).next().unwrap_or_default();
    let word = word.trim_end_matches(['.', ':', '!', '?']);
    let inner = word.trim_start_matches(['-', '%']);
    let letters = inner.bytes().filter(u8::is_ascii_alphabetic).count();
    let plain = inner.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.'));
    if letters == 0 || !plain || !inner.starts_with(|c: char| c.is_ascii_alphabetic()) {
        return None;
    }
    let option = word.starts_with('-') && (letters >= 1) || word.starts_with('%') && letters >= 2;
    let joined = inner.trim_matches('_').contains('_') && letters >= 4;
    let bytes = inner.as_bytes();
    let camel = letters >= 6
        && bytes.iter().zip(bytes.iter().skip(1)).any(|(a, b)| a.is_ascii_lowercase() && b.is_ascii_uppercase());
    let dotted = inner.rsplit_once('.').is_some_and(|(head, end)| {
        head.len() >= 2 && end.len() >= 2 && !FILES.contains(&end) && !inner.contains(|c: char| c.is_ascii_digit())
    });
    let file = inner.rsplit_once('.').is_some_and(|(_, end)| FILES.contains(&end));
    (!file && (option || joined || camel || dotted)).then_some(word)
}

/// The setting with a place for its value, as it is written.
fn written(name: &str) -> String {
    const OF_THE_SYSTEM: &[&str] = &["iogpu.", "vm.", "kernel.", "kern."];
    match name {
        name if OF_THE_SYSTEM.iter().any(|part| name.starts_with(part)) => format!("sudo sysctl {name}=<more>"),
        name if name.starts_with("-X") => format!("{name}<more>"),
        name if name.starts_with("--") || name.len() <= 2 && name.starts_with('-') => format!("{name} <more>"),
        name if name.starts_with(['-', '%']) => format!("{name}=<more>"),
        name => format!("{name} = <more>"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect;

    #[test]
    fn a_setting_is_told_by_its_form_behind_a_verb_that_asks_for_more() {
        for (line, name) in [
            ("gridd: realloc(): please increase CacheSize configuration parameter", "CacheSize"),
            ("(change it with the -o command line option) in", "-o"),
            ("Use %mem=124MW to provide the minimum amount of memory required to complete this step.", "%mem"),
            ("Try again with a larger 'pool_size_mb'.", "pool_size_mb"),
            ("raise --mem-fraction to serve it", "--mem-fraction"),
            ("work_area_mem must be increased", "work_area_mem"),
            ("The limit can be set with grid.daemon.heap in grid.properties", "grid.daemon.heap"),
        ] {
            assert_eq!(named(line), Some(name), "{line}");
        }
        for line in [
            "reduce batch_size or increase the memory of the machine",
            "try setting PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True to avoid fragmentation",
            "increase the memory, see https://grid.example/docs/memory.html",
            "allocation failed in grid_alloc.c, change of plans",
            "could not raise: out of memory",
            "increase tensor_parallel_size to spread the weights",
            "try a larger --chunks",
            "raise ulimit -v to go on",
        ] {
            assert_eq!(named(line), None, "{line}");
        }
    }

    #[test]
    fn what_the_message_names_stands_with_the_event() {
        let log = "gridd 3.2 started\n[error] out of memory (requested 5242880 bytes)\n[error] please increase \
                   CacheSize configuration parameter\ngridd: exiting\n";
        let events = dialect::events(&Document::from_text("-", log));
        let event = events.first().expect("it says out of memory");
        assert_eq!(event.facts.setting.get().map(String::as_str), Some("CacheSize = <more>"));
        assert!(event.has(Sign::RefusedByLimit));
        let php = "PHP Fatal error:  Allowed memory size of 209715200 bytes exhausted (tried to allocate 81819160 \
                   bytes) in /srv/a.php on line 224\n";
        let events = dialect::events(&Document::from_text("-", php));
        let line = events.first().and_then(|event| event.facts.setting.get());
        assert_eq!(line.map(String::as_str), Some("php -d memory_limit=<more> <your command>"));
    }
}
