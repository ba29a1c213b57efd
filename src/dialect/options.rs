//! Sizes that were set when a program was started, and stand in its command: the limit that a heap, a pool or a
//! container's shared memory ran into.

use super::{Event, Fact, Resource, field};
use crate::domain::{Program, Sign};
use crate::evidence::Span;
use crate::input::Document;
use crate::units::{self, Base, Locale};

/// Lines before a message in which its command may stand.
const BEFORE: usize = 200;

/// Lines behind it in which its program says what it was set to.
const BEHIND: usize = 20;

/// An option that sets a limit, and what a bare number of it counts.
struct Setting {
    option: &'static str,
    bare: &'static str,
}

const HEAP: &[Setting] =
    &[Setting { option: "Xmx", bare: "B" }, Setting { option: "configured max heap space is '", bare: "B" }];
const METASPACE: &[Setting] = &[
    Setting { option: "-XX:MaxMetaspaceSize=", bare: "B" },
    Setting { option: "configured max metaspace is '", bare: "B" },
];
const DIRECT: &[Setting] = &[Setting { option: "-XX:MaxDirectMemorySize=", bare: "B" }];
const OLD_SPACE: &[Setting] = &[
    Setting { option: "--max-old-space-size=", bare: "MiB" },
    Setting { option: "--max_old_space_size=", bare: "MiB" },
];
/// What the pool may grow to; `--rmm-pool-size` is what it begins with.
const POOL: &[Setting] = &[
    Setting { option: "--rmm-maximum-pool-size=", bare: "B" },
    Setting { option: "--rmm-maximum-pool-size ", bare: "B" },
];
const SHARED: &[Setting] =
    &[Setting { option: "--shm-size=", bare: "B" }, Setting { option: "--shm-size ", bare: "B" }];

/// Java's smallest heap is 2 MiB, a page what any other must have.
const SMALLEST: u64 = 4096;

/// Notes the limit that the options around a message set, where the message prints none and they tell one only.
pub(super) fn complete(document: &Document, position: usize, event: &mut Event) {
    let settings = match (event.program, event.resource) {
        (Program::Java, Resource::Host) => match event.java_area() {
            None => HEAP,
            Some((_, "-XX:MaxMetaspaceSize")) => METASPACE,
            Some((_, "-XX:MaxDirectMemorySize")) => DIRECT,
            Some(_) => return,
        },
        (Program::Node, Resource::Host) => OLD_SPACE,
        (Program::Rapids | Program::DaskCuda, Resource::Gpu) => POOL,
        (_, Resource::Shm) => SHARED,
        (_, Resource::Host) if event.has(Sign::Generic) => {
            by_input(document, position, event);
            return by_name(document, position, event);
        }
        _ => return,
    };
    if is_told(event) {
        return;
    }
    let mut told: Option<units::Figure> = None;
    for at in field::before(position, BEFORE).chain(field::behind(document, position, BEHIND)) {
        let line = field::text(document, at);
        if !(at < position && is_command(line) || states(line)) {
            continue;
        }
        for Setting { option, bare } in settings {
            let Some((_, value)) = line.split_once(option) else { continue };
            let end = value.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(value.len());
            let (number, rest) = value.split_at(end);
            // `'512 MiB'`: between quotes a blank may stand.
            let rest = if option.ends_with('\'') { rest.trim_start_matches(' ') } else { rest };
            let unit = rest.split(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or_default();
            let unit = if unit.is_empty() { bare } else { unit };
            // `-Xmx4g` sets 4 GiB exactly.
            let Some(size) = units::size_in(number, unit, Base::Binary, Locale::of(line)) else { continue };
            // A number of which only the first digits were read: no heap, pool or segment is that small.
            if size.bytes < SMALLEST {
                continue;
            }
            let figure = exactly(size, document, at);
            if told.is_some_and(|known| known.bytes != figure.bytes) {
                return;
            }
            told = told.or(Some(figure));
        }
    }
    // A heap that ended below half of what an option asks for never had it: `npx --max-old-space-size=8192 build`.
    let used = event.facts.get(Fact::Used).or(event.facts.get(Fact::Allocated)).map_or(u64::MAX, |used| used.bytes);
    let in_force = |figure: &units::Figure| event.program != Program::Node || used >= figure.bytes / 2;
    if let Some(figure) = told.filter(in_force) {
        event.facts.note(Fact::Limit, figure);
    }
}

/// True where a message prints what there was.
fn is_told(event: &Event) -> bool {
    [Fact::Limit, Fact::Capacity].iter().any(|fact| event.facts.get(*fact).is_some())
}

/// What an option sets is no rounded figure.
fn exactly(size: units::Size, document: &Document, at: usize) -> units::Figure {
    units::Size { half_width: 0, ..size }.at(Span::line(field::number(document, at)))
}

/// Notes the limit that the command of a program in no list names. The run that failed is the last one that was started.
fn by_name(document: &Document, position: usize, event: &mut Event) {
    let sets = |at: &usize| is_command(field::text(document, *at)) || states(field::text(document, *at));
    // GHC's runtime tells its limit itself, on the next line: a paste may break off before it.
    if event.message.contains("Heap exhausted") {
        return;
    }
    let command = field::before(position, BEFORE).find(sets);
    let Some(at) = command.filter(|_| !is_told(event)) else { return };
    if let Some(size) = named_limit(field::text(document, at)) {
        event.facts.note(Fact::Limit, exactly(size, document, at));
        // `ghc: panic! heap overflow`: of the heap that was set.
        if event.message.to_ascii_lowercase().contains("heap ") {
            event.sign(Sign::RefusedByLimit);
        }
    }
}

/// Notes that a program refused by its own division of memory, where its input sets one: `memory total 2000 mb global
/// 700 mb` (NWChem), `memory 4 Gb` (Psi4), `%mem=8GB` (Gaussian). What their megabyte is differs, so no figure is read.
fn by_input(document: &Document, position: usize, event: &mut Event) {
    const REFUSED: [&str; 4] = ["insufficient memory", "no memory left", "not enough memory", "memory exhausted"];
    let lower = event.message.to_ascii_lowercase();
    if event.resource != Resource::Host || !REFUSED.iter().any(|words| lower.contains(words)) {
        return;
    }
    if field::before(position, BEFORE).any(|at| sets_memory(field::text(document, at))) {
        event.sign(Sign::RefusedByLimit);
    }
}

/// True for a statement of an input that sets the memory of the program that reads it.
fn sets_memory(line: &str) -> bool {
    let lower = line.trim().to_ascii_lowercase();
    if let Some(size) = lower.strip_prefix("%mem=") {
        return size.starts_with(|c: char| c.is_ascii_digit());
    }
    let Some(rest) = lower.strip_prefix("memory ") else { return false };
    let mut words = rest.split_whitespace().skip_while(|word| ["total", "stack", "heap"].contains(word));
    let number = words.next().is_some_and(|word| word.parse::<f64>().is_ok());
    number && words.next().is_some_and(|unit| ["mb", "gb", "mw", "kb"].contains(&unit))
}

/// The memory that a command lets its program have: the value of an option whose name says so, in a unit that the value
/// or the name gives (`--memlimit 7g`, `--max-memory-mib 4096`), or of bytes that are no smaller unit's count. One is
/// none that names two.
fn named_limit(command: &str) -> Option<units::Size> {
    /// A bare number from here on counts bytes: as KiB it would be a TiB.
    const BYTES: u64 = 1 << 30;
    let words: Vec<&str> = command.split_whitespace().collect();
    let mut found: Option<units::Size> = None;
    // What stands between these is for the runtime of a program that GHC compiled: `+RTS -M4G -A128m -RTS`.
    let runtime = words.iter().position(|word| *word == "+RTS").unwrap_or(usize::MAX);
    for (i, word) in words.iter().enumerate().filter(|(_, word)| word.starts_with('-')) {
        let option = word.trim_start_matches('-');
        let of_runtime = option.strip_prefix('M').filter(|size| size.starts_with(|c: char| c.is_ascii_digit()));
        let (name, value) = match (option.split_once(['=', ':']), of_runtime.filter(|_| i > runtime)) {
            (Some((name, value)), _) => (name, value),
            (None, Some(size)) => ("Xmx", size),
            (None, None) => match (option.strip_prefix("Xmx"), words.get(i + 1)) {
                (Some(value), _) => ("Xmx", value),
                (None, Some(value)) => (option, *value),
                (None, None) => continue,
            },
        };
        let Some(unit) = unit_of_a_limit(name) else { continue };
        let end = value.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(value.len());
        let (number, rest) = value.split_at(end);
        let unit = match (rest, unit) {
            ("", Some(unit)) => unit,
            ("", None) if number.parse::<u64>().is_ok_and(|bytes| bytes >= BYTES) => "B",
            ("", None) => continue,
            (rest, _) => rest,
        };
        let Some(size) = units::size_in(number, unit, Base::Binary, Locale::of(command)) else { continue };
        if size.bytes < SMALLEST || found.is_some_and(|known| known.bytes != size.bytes) {
            return None;
        }
        found = Some(size);
    }
    found
}

/// The unit that the name of an option gives, where it is one of a limit on memory: `heap-size`, `max-memory`,
/// `memlimit`, `Xmx`, `max-memory-mib`. What a cache or a batch may take is part of it.
fn unit_of_a_limit(name: &str) -> Option<Option<&'static str>> {
    const MEMORY: &[&str] = &["mem", "heap", "ram", "maxmem", "memlimit", "memmax", "heapsize", "memory"];
    const LIMIT: &[&str] = &["limit", "max", "size", "budget", "maximum", "maxmem", "memlimit", "memmax", "heapsize"];
    const PARTS: &[&str] =
        &["cache", "batch", "page", "block", "chunk", "init", "initial", "min", "shared", "fraction", "total"];
    if name == "Xmx" {
        return Some(Some("B"));
    }
    let lower = name.to_ascii_lowercase();
    let parts = || lower.split(['-', '_', '.']);
    let says = |words: &[&str]| parts().any(|part| words.contains(&part));
    let of_memory = says(MEMORY) && says(LIMIT) || lower == "memorylimit" || lower == "maxmemory" || lower == "memory";
    if !of_memory || says(PARTS) {
        return None;
    }
    // A name's `mb` and `gb` are powers of ten in one program and of two in the next.
    let units = [("mib", "MiB"), ("gib", "GiB"), ("bytes", "B")];
    Some(units.iter().find(|(part, _)| parts().any(|own| own == *part)).map(|(_, unit)| *unit))
}

/// True for a line in which the program that failed tells what its heap was set to: Gradle's and GraalVM's.
fn states(line: &str) -> bool {
    ["configured max heap space is '", "heap size of the process was set with '-Xmx", "org.gradle.jvmargs="]
        .iter()
        .any(|words| line.contains(words))
        || is_option_alone(line)
        || is_variable(line)
}

/// A variable of options in a list of the environment, a script or a file of settings:
/// `KAFKA_HEAP_OPTS=-Xms512M -Xmx8g`, `ES_JAVA_OPTS: "-Xmx1g"`.
fn is_variable(line: &str) -> bool {
    let line = line.trim_start().trim_start_matches("- ");
    let line = ["export ", "ENV ", "Environment="].iter().find_map(|word| line.strip_prefix(word)).unwrap_or(line);
    let line = line.trim_start_matches(['"', '\'']);
    let end = line.find(|c: char| !(c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_')).unwrap_or(line.len());
    let (name, value) = line.split_at(end);
    ["OPTS", "OPTIONS"].iter().any(|last| name.ends_with(last)) && value.starts_with(['=', ':'])
}

/// `-Xmx2048m` alone on its line, as `grep Xmx` finds it in a command or a file of settings.
fn is_option_alone(line: &str) -> bool {
    let option = line.trim().trim_start_matches('-');
    option.starts_with("Xmx") && !option.contains(char::is_whitespace)
}

/// True for a line that runs a program, or tells how one was run. Advice has the same options in other words.
fn is_command(line: &str) -> bool {
    const RUNS: &[&str] = &[
        "dask-cuda-worker ",
        "dask cuda worker ",
        "java ",
        "node ",
        "docker run ",
        "podman run ",
        "Picked up ",
        "JVM arg",
        "ommand line",
        "srun ",
        // Of what GHC compiled, and GHC's own.
        " +RTS -",
    ];
    const ADVISES: &[&str] =
        &["...", "try ", "ncrease", "e.g.", "xample", "ecommend", "such as", "instead", "should", " use "];
    let start = line.trim_start();
    let prompt = ["$ ", "+ ", "# ", "> "].iter().any(|mark| start.starts_with(mark)) || line.contains("$ ");
    (prompt || RUNS.iter().any(|word| line.contains(word))) && !ADVISES.iter().any(|word| line.contains(word))
}

#[cfg(test)]
mod tests {
    use crate::dialect::{self, Fact};
    use crate::input::Document;

    fn limit(log: &str) -> Option<u64> {
        let events = dialect::events(&Document::from_text("-", log));
        events.first().and_then(|event| event.facts.get(Fact::Limit)).map(|figure| figure.bytes)
    }

    #[test]
    fn the_heap_that_a_command_sets_is_the_limit() {
        let failed = "Exception in thread \"main\" java.lang.OutOfMemoryError: Java heap space\n\tat a.B.c(B.java:1)\n";
        assert_eq!(limit(&format!("$ java -Xms1g -Xmx4g -jar grid.jar\n{failed}")), Some(4 << 30));
        assert_eq!(limit(&format!("$ java -jar grid.jar\n{failed}")), None);
        assert_eq!(limit(&format!("Try java -Xmx8g, e.g. java -Xmx8g -jar grid.jar\n{failed}")), None, "advice");
        let node = "FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory\n";
        assert_eq!(limit(&format!("$ node --max-old-space-size=4096 build.js\n{node}")), Some(4 << 30));
    }

    #[test]
    fn the_heap_that_a_program_tells_behind_its_failure_is_the_limit() {
        let failed = "java.lang.OutOfMemoryError: Java heap space\n";
        let gradle =
            "The currently configured max heap space is '512 MiB' and the configured max metaspace is '384 MiB'.\n";
        assert_eq!(limit(&format!("{failed}{gradle}")), Some(512 << 20));
        let image = "(The maximum heap size of the process was set with '-Xmx3072m'.)\n";
        assert_eq!(limit(&format!("{failed}{image}")), Some(3 << 30));
    }

    #[test]
    fn what_a_pool_may_grow_to_is_its_limit() {
        let failed = "MemoryError: std::bad_alloc: out_of_memory: RMM failure at: pool_memory_resource.hpp:196: \
                      Maximum pool size exceeded\n";
        let run = |option: &str| limit(&format!("$ dask-cuda-worker tcp://a:8786 {option}\n{failed}"));
        assert_eq!(run("--rmm-pool-size 8GiB --rmm-maximum-pool-size 24GiB"), Some(24 << 30));
        assert_eq!(run("--rmm-pool-size 8GiB"), None, "it grows");
    }

    #[test]
    fn a_command_that_names_a_limit_tells_it() {
        let of = |command: &str| limit(&format!("$ {command}\nreading model\ngridtool: out of memory\n"));
        assert_eq!(of("gridtool --memlimit 7g main.c"), Some(7 << 30));
        assert_eq!(of("gridtool --heap-size 1610612736 --load a.lsp"), Some(1_610_612_736));
        assert_eq!(of("gridtool --max-memory=512M --jobs 4"), Some(512 << 20));
        assert_eq!(of("gridtool --max-memory-mib 4096"), Some(4 << 30));
        assert_eq!(of("gridtool --ram-limit-gb 4"), None, "of which gigabytes the name does not say");
        assert_eq!(of("gridtool -W max-memory-size=2147483648 a.wasm"), None, "not of the option's name");
        // MB or KB, and nobody says which.
        assert_eq!(of("gridtool --memory-limit=1024 a.p"), None);
        assert_eq!(of("gridtool --heap-size 4g --max-heap 8g"), None);
        assert_eq!(of("gridtool --mem-cache-size 4g --batch-size 64"), None);
        let opts =
            |line: &str| limit(&format!("{line}\njava.lang.OutOfMemoryError: Java heap space\n\tat a.B.c(B.java:1)\n"));
        assert_eq!(opts("KAFKA_HEAP_OPTS=-Xms512M -Xmx8g"), Some(8 << 30));
        assert_eq!(opts("      - \"ES_JAVA_OPTS=-Xms1g -Xmx1g\""), Some(1 << 30));
        assert_eq!(opts("KAFKA_HEAP_OPTS was -Xmx8g once"), None);
        // Another run's.
        assert_eq!(of("gridtool --memlimit 7g a.c\n$ gridtool a.c"), None);
    }

    #[test]
    fn two_heaps_of_different_sizes_tell_nothing() {
        let failed = "java.lang.OutOfMemoryError: Java heap space\n";
        let log = format!("$ java -Xmx4g -jar a.jar\n$ java -Xmx8g -jar b.jar\n{failed}");
        assert_eq!(limit(&log), None);
    }
}
