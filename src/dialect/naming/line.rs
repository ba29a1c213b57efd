//! The names that one line of a log gives: the class of an exception, a namespace, a prefix, a logger, the subject of a
//! sentence, an error code, a path.

use super::Way;
use super::frames;
use super::known::is_known;
use super::word::{
    camel_words, commonplace, executable, is_capitalised, is_common, is_file, is_listed, is_proper, is_prose, named,
    unversioned, without_release,
};
use crate::dialect::record::{Field, Record};
use crate::dialect::syslog;
use crate::domain::Program;

/// What a line shows is handed to `found` as it is met.
pub(super) type Found<'a> = &'a mut dyn FnMut(Way, Program);

/// Everything that a line shows. `own` tells that it is the message's.
pub(super) fn all(line: &str, own: bool, found: Found<'_>) {
    exception(line).into_iter().for_each(|program| found(Way::Class, program));
    thrown(line).into_iter().for_each(|program| found(Way::Class, program));
    if own {
        asserting(line).into_iter().for_each(|program| found(Way::Executable, program));
    }
    namespaces(line, found);
    codes(line, found);
    let record = Record::of(line);
    // An object's own words are no prose: who wrote it stands in front of it and in its fields.
    let object = record.as_ref().and_then(|record| record.object);
    let spoken = object.map_or(line, |at| &line[..at]);
    // A desktop's or an interpreter's name tells nothing: then the one in front of the text.
    let app = syslog::headed(line).and_then(|headed| headed.app);
    if let Some(program) = app.and_then(executable) {
        found(Way::Prefix, program);
    } else if own || !is_setting(spoken) {
        prefix(syslog::body(spoken), found);
    }
    loggers(spoken, found);
    if let Some(record) = record {
        fields(&record, found);
    }
    folders(line, own, found);
    if own {
        subject(spoken, found);
        tag(spoken, found);
        advice(spoken, found);
        module(spoken, found);
        language(spoken).into_iter().for_each(|program| found(Way::Language, program));
    }
}

/// `terminate called after throwing an instance of 'grid::MeshError'`: whose the class is.
fn thrown(line: &str) -> Option<Program> {
    let (_, class) = line.split_once("throwing an instance of '")?;
    let mut program = None;
    namespaces(class.split('\'').next()?, &mut |way, name| {
        program = program.or(Some(name).filter(|_| way == Way::Namespace));
    });
    program
}

/// The program that the C library names in front of an assertion, ``r.grid: mesh.c:12: grow: Assertion `n > 0'
/// failed``.
fn asserting(line: &str) -> Option<Program> {
    let (before, _) = line.split_once(": Assertion `")?;
    let mut parts = before.split(": ");
    let (name, place) = (parts.next()?, parts.next()?);
    let (file, number) = place.split_once(':')?;
    let placed = is_file(file) && number.bytes().all(|byte| byte.is_ascii_digit());
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b'+');
    if !placed || !name.bytes().all(plain) {
        return None;
    }
    executable(name).or_else(|| Program::named(name).filter(|_| name.contains('.')))
}

/// The language whose runtime prints its errors in the form of this line, with the script's place.
fn language(line: &str) -> Option<Program> {
    let numbered = |text: &str| text.starts_with(|c: char| c.is_ascii_digit());
    let placed = |ending: &str| line.split_once(ending).is_some_and(|(_, rest)| numbered(rest));
    let name = if placed(".rb:") {
        "ruby"
    } else if placed(".pl line ") || placed(".pm line ") {
        "perl"
    } else if line.contains("PHP Fatal error") || placed(".php on line ") {
        "php"
    } else if placed(".lua:") {
        "lua"
    } else {
        return None;
    };
    Program::named(name)
}

fn words(line: &str) -> impl Iterator<Item = &str> {
    line.split(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '.' | '$')))
        .filter(|word| !word.is_empty())
        .take(96)
}

/// `cupy.cuda.memory.OutOfMemoryError: …`, `org.grid.MemoryLimitException: …`: the package of an exception's class.
pub(crate) fn exception(line: &str) -> Option<Program> {
    const ENDINGS: &[&str] = &["Error", "Exception", "OutOfMemory", "OOM", "Exhausted", "Failure"];
    words(line).find_map(|word| {
        let word = word.trim_matches('.');
        let (package, class) = word.rsplit_once('.')?;
        let is_class = class.starts_with(|c: char| c.is_ascii_uppercase() || c == '_')
            && ENDINGS.iter().any(|ending| class.contains(ending));
        if is_class { of_package(package) } else { None }
    })
}

/// Whose a dotted package is: its first part, or what follows a reversed domain.
pub(super) fn of_package(package: &str) -> Option<Program> {
    const DOMAINS: &[&str] = &[
        "org", "com", "io", "net", "de", "ai", "edu", "gov", "uk", "ac", "co", "fr", "ch", "dev", "tv", "eu", "cn",
        "jp", "nl", "se", "ca", "au", "it", "es", "at", "be", "dk", "fi", "no", "pl", "cz", "ru", "br", "in", "us",
        "me", "app",
    ];
    // Houses that keep many programs under their domain.
    const HOUSES: &[&str] = &[
        "apache",
        "google",
        "github",
        "gitlab",
        "eclipse",
        "microsoft",
        "amazonaws",
        "amazon",
        "facebook",
        "meta",
        "linkedin",
        "twitter",
        "netflix",
        "uber",
        "alibaba",
        "tencent",
        "baidu",
        "oracle",
        "ibm",
        "intel",
        "nvidia",
        "sun",
        "gitee",
        "sourceforge",
        "broadinstitute",
        "broad",
        "openstreetmap",
        "cs",
        "umd",
        "ucla",
        "cmu",
        "harvard",
        "utah",
        "ucsd",
        "ucsc",
        "cornell",
        "washington",
        "ethz",
        "epfl",
        "inria",
        "tum",
        "bytedance",
        "airbnb",
        "yahoo",
        "apple",
        "devtools",
        "cloud",
        "opensource",
        "ebi",
        "sanger",
        "ncbi",
        "nih",
        "nlm",
        "mit",
        "stanford",
        "berkeley",
        "janelia",
        "mpg",
        // What stands for somebody's own.
        "example",
        "acme",
        "mycompany",
        "company",
    ];
    // A language's own, and what other programs are built on.
    const BUILT_ON: &[&str] = &[
        "builtins",
        "__main__",
        "concurrent",
        "multiprocessing",
        "subprocess",
        "java",
        "javax",
        "jdk",
        "sun",
        "scala",
        "kotlin",
        "kotlinx",
        "clojure",
        "groovy",
        "system",
        "errors",
        "core",
        "std",
        "exceptions",
        "springframework",
        "hibernate",
        "netty",
        "akka",
        "jboss",
        "slf4j",
        "junit",
        "fasterxml",
        "log4j",
        "logging",
        "commons",
        "guava",
        "jetbrains",
        "gradle",
        "maven",
        "testng",
        "mockito",
        "reactor",
        "asyncio",
        "ctypes",
        "pickle",
        "importlib",
        "socket",
        "threading",
        "queue",
        "json",
        "ssl",
        "urllib",
        "http",
        "tornado",
        "werkzeug",
        "flask",
        "fastapi",
        "starlette",
        "uvicorn",
        "pydantic",
        "sqlalchemy",
        "grpc",
        "protobuf",
    ];
    let mut parts = package.split('.').filter(|part| !part.is_empty()).peekable();
    // A university's or an agency's domain holds the place's own name: `uk.ac.manchester.grid`, `gov.nasa.grid`.
    let mut of_institution = false;
    if !package.starts_with(|c: char| c.is_ascii_lowercase() || c == '_') {
        return of_namespace(package);
    }
    let mut reversed = false;
    while let Some(part) = parts.next_if(|part| DOMAINS.contains(part)) {
        of_institution |= matches!(part, "ac" | "edu" | "gov");
        reversed = true;
    }
    let mut first = parts.next()?;
    // `org.h2.jdbc`: two letters, in a package of its own.
    if reversed && first.len() == 2 && first.bytes().any(|byte| byte.is_ascii_digit()) && parts.peek().is_some() {
        return Program::named(first);
    }
    while reversed && (HOUSES.contains(&first) || std::mem::take(&mut of_institution) && parts.peek().is_some()) {
        first = parts.next()?;
    }
    // `org.apache.hadoop.grid`: what is built on it and lives in its package.
    if let Some(inner) = parts.peek().filter(|inner| first == "hadoop" && is_known(inner)) {
        first = inner;
    }
    // `o.g.b.Breaker`: abbreviated by the logger.
    if first.len() < 2 || BUILT_ON.contains(&first) {
        return None;
    }
    named(first.trim_start_matches('_'))
}

/// `Grid.Mesh.Builder`: the first part of a .NET path, unless that is the platform's.
pub(super) fn of_namespace(path: &str) -> Option<Program> {
    const PLATFORM: &[&str] =
        &["System", "Microsoft", "Object", "Module", "Function", "Array", "Promise", "Windows", "MS", "Interop"];
    let parts: Vec<&str> = path.split('.').collect();
    let first = parts.first().filter(|first| first.len() >= 3 && !PLATFORM.contains(first))?;
    let classes = parts.iter().all(|part| {
        part.starts_with(|c: char| c.is_ascii_uppercase()) && part.bytes().any(|byte| byte.is_ascii_lowercase())
    });
    (parts.len() >= 2 && classes).then(|| named(first)).flatten()
}

/// `faiss::gpu::…`: the first part of a C++ or Rust path that is no language's own.
fn namespaces(line: &str, found: Found<'_>) {
    const LANGUAGES: &[&str] = &[
        "std",
        "__gnu_cxx",
        "boost",
        "core",
        "alloc",
        "sycl",
        "cl",
        "vk",
        "cuda",
        "hip",
        "absl",
        "google",
        "detail",
        "fmt",
        "spdlog",
        "tokio",
        "ze",
        "ur",
        "gpu",
        "nv",
        "anyhow",
        "Error",
        "thread",
        "impl",
        "internal",
        "actix_web",
        "hyper",
        "axum",
        "tracing",
        "rayon",
        "crossbeam",
        "futures",
        "serde",
        "eyre",
        "color_eyre",
        "backtrace",
        "panic_unwind",
        "rust_begin_unwind",
        "ops",
        "sys",
        "rt",
        "tbb",
        "folly",
        "testing",
        "Ui",
        "GPU",
        "CPU",
        "Memory",
        "Impl",
        "Detail",
        "Internal",
        "Utils",
        "Util",
        "Common",
        "Core",
        "Base",
        "Backend",
        "QThread",
        "QObject",
        "Eigen",
        "python",
        "pybind11",
        "nanobind",
        "asio",
        "base",
        "util",
        "utils",
        "common",
        "alloc_error",
        "exceptions",
        "gsl",
        "llvm",
        "mlir",
        "cv",
    ];
    const HOUSES: &[&str] =
        &["facebook", "google", "nvidia", "microsoft", "apache", "intel", "amd", "amazon", "alibaba", "tencent"];
    for (at, _) in line.match_indices("::").take(16) {
        let before = &line[..at];
        let word = before.rsplit(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).next().unwrap_or_default();
        let start = before.len() - word.len();
        // The first part only: what stands behind another `::` is inside it.
        if before[..start].ends_with("::") || start == at {
            continue;
        }
        // `[M::load_index]`: a level and a function, whose first word is often the program's.
        if word.len() == 1 && before[..start].ends_with('[') {
            let function = line[at + 2..].split(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).next();
            function.and_then(own_word).into_iter().for_each(|program| found(Way::Function, program));
            continue;
        }
        // `facebook::velox::…`: a house's, and then the program's.
        let inner = line[at + 2..].split(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).next().unwrap_or_default();
        if HOUSES.contains(&word) && line[at + 2 + inner.len()..].starts_with("::") {
            named(inner).into_iter().for_each(|program| found(Way::Namespace, program));
            continue;
        }
        // `gr::grid_mesh::…`: two letters, and then what they stand for.
        if word.len() == 2 && line[at + 2 + inner.len()..].starts_with("::") && !LANGUAGES.contains(&word) {
            named(inner).into_iter().for_each(|program| found(Way::Namespace, program));
            continue;
        }
        if LANGUAGES.contains(&word) || word.len() < 3 {
            continue;
        }
        let way = if is_capitalised(word) { Way::Type } else { Way::Namespace };
        named(word).into_iter().for_each(|program| found(way, program));
    }
}

const LEVELS: &[&str] = &[
    "emerg",
    "alert",
    "error",
    "err",
    "e",
    "fatal",
    "f",
    "critical",
    "c",
    "panic",
    "warning",
    "warn",
    "w",
    "info",
    "i",
    "debug",
    "d",
    "notice",
    "trace",
    "severe",
    "crit",
    "fail",
    "information",
    "fatality",
    "ftl",
    "wrn",
    "inf",
    "dbg",
    "vrb",
    "trc",
    "stderr",
    "stdout",
];

pub(super) fn is_level(word: &str) -> bool {
    let word = word.trim_matches(|c: char| !c.is_ascii_alphanumeric()).to_ascii_lowercase();
    LEVELS.contains(&word.as_str())
}

/// `affinity: SYS`, one of a list of settings and figures: a word and its value.
fn is_setting(line: &str) -> bool {
    let mut words = line.split_whitespace();
    let key = words.next().and_then(|key| key.strip_suffix(':'));
    key.is_some_and(|key| key.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')))
        && words.next().is_some()
        && words.next().is_none()
}

/// The name in front of a log line's text: `[FooServer] …`, `foo: error: …`, `ERROR:foo.bar:…`, `… - foo.bar - ERROR -
/// …`, `host foo[123]: …`, `Foo Bar: …`.
fn prefix(line: &str, found: Found<'_>) {
    // What was being done, and without a line's end who failed at it: `Reading the index...solver: …`
    if let Some(tail) = line.rsplit_once("...").map(|(_, tail)| tail.trim_start())
        && tail.starts_with(|c: char| c.is_alphabetic())
        && tail.contains(": ")
    {
        prefix(tail, found);
        return;
    }
    // `gridgpu 0000:01:00.0: solver[4711]: …`: the driver of the kernel, its device, and for whom.
    let mut pairs = line.split_whitespace().zip(line.split_whitespace().skip(1)).take(8);
    let driver = pairs.find_map(|(name, device)| {
        let bytes = device.as_bytes();
        let place = matches!(bytes, [_, _, _, _, b':', _, _, b':', _, _, b'.', _, b':']);
        (place && device.bytes().all(|byte| byte.is_ascii_hexdigit() || matches!(byte, b':' | b'.'))).then_some(name)
    });
    if let Some(program) = driver.and_then(named) {
        found(Way::Prefix, program);
        return;
    }
    // `… host foo[123]: …`, `… node1 !ERR | foo[123] …`: who writes, with its number.
    let writer = line.split_whitespace().take(9).find_map(|word| {
        let (name, pid) = word.trim_end_matches(':').strip_suffix(']')?.split_once('[')?;
        // NSLog prints the thread as well: `Foo[4711:88231]`, `Foo[4711:0x1a2b]`.
        let process = pid.split_once(':').map_or(pid, |(process, _)| process);
        let thread = pid.len() > process.len() || process.len() >= 3;
        let number = thread && !process.is_empty() && process.bytes().all(|byte| byte.is_ascii_digit());
        executable(name).filter(|_| number && !name.contains('='))
    });
    if let Some(program) = writer {
        found(Way::Prefix, program);
        return;
    }
    let mut rest = line.trim_start_matches([' ', '\t', '*', '#', '>', '!', '-', '=']);
    for _ in 0..10 {
        let Some(word) = rest.split_whitespace().next() else { return };
        let body = word.trim_matches(|c: char| !c.is_ascii_alphanumeric());
        let digits = body.bytes().filter(u8::is_ascii_digit).count();
        let behind = rest.get(word.len()..).unwrap_or_default().trim_start();
        // `11:17:02[grid] …`: no blank behind the clock.
        if let Some(at) = word.find('[').filter(|at| *at > 0)
            && word[..at].contains(':')
            && word[..at].bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b':' | b'.' | b','))
        {
            rest = rest.get(at..).unwrap_or_default();
            continue;
        }
        // `Grid++> Running …`: a runtime's mark before all that it says.
        if let Some(name) = word.strip_suffix('>')
            && is_capitalised(name)
            && !behind.is_empty()
        {
            named(name).into_iter().for_each(|program| found(Way::Bracket, program));
            return;
        }
        // A path to an executable: `./bin/solver: out of memory`; in a system's folder of them any word is a name.
        if word.ends_with(':') && (word.starts_with("./") || word.starts_with('/')) {
            let installed =
                || word.trim_end_matches(':').rsplit_once("/bin/").and_then(|(_, name)| Program::named(name));
            executable(word).or_else(installed).into_iter().for_each(|program| found(Way::Prefix, program));
            return;
        }
        // `grid( 0/ 8): …`: with the process's rank of so many.
        if let Some((name, tail)) = rest.split_once('(').filter(|(name, _)| !name.contains(char::is_whitespace))
            && let Some((rank, tail)) = tail.split_once(')')
            && rank.contains('/')
            && rank.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b' ' | b'/'))
            && tail.starts_with([':', ','])
        {
            own_word(name).into_iter().for_each(|program| found(Way::Prefix, program));
            return;
        }
        // `grid (mesh.h:318): realloc of …`: with the place in its source.
        if let Some((place, _)) = behind.strip_prefix('(').and_then(|behind| behind.split_once("): "))
            && place
                .split_once(':')
                .is_some_and(|(file, line)| is_file(file) && line.bytes().all(|b| b.is_ascii_digit()))
        {
            own_word(body).into_iter().for_each(|program| found(Way::Prefix, program));
            return;
        }
        // `grid (gridapi_alloc): …`: with the function that failed.
        if let Some((function, _)) = behind.strip_prefix('(').and_then(|behind| behind.split_once("): "))
            && function.contains('_')
            && function.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        {
            own_word(body).into_iter().for_each(|program| found(Way::Prefix, program));
            return;
        }
        // `[V-Ray GPU] …`, `[guppy/error] …`, `[2025-01-01 10:00:00 foo] …`
        if let Some((inner, tail)) = rest.strip_prefix('[').and_then(|rest| rest.split_once(']'))
            && inner.len() <= 64
        {
            bracket(inner, found);
            rest = tail.trim_start_matches([' ', ':', '-', '|']);
            continue;
        }
        // `x264 [error]: …`
        if let Some((inner, _)) = behind.strip_prefix('[').and_then(|behind| behind.split_once(']'))
            && is_level(inner)
            && let Some(program) = executable(word)
        {
            found(Way::Prefix, program);
            return;
        }
        // GLib's: `(foo:4711): GLib-ERROR **: …`
        if let Some(inner) = word.strip_prefix('(').and_then(|word| word.strip_suffix("):"))
            && let Some((name, pid)) = inner.split_once(':')
            && pid.bytes().all(|byte| byte.is_ascii_digit())
        {
            executable(name).into_iter().for_each(|program| found(Way::Prefix, program));
            return;
        }
        // `ERROR:foo.bar:…`
        if let Some((level, logger)) = word.split_once(':')
            && is_level(level)
            && !logger.is_empty()
        {
            let logger = logger.split(':').next().unwrap_or_default();
            of_package(logger).into_iter().for_each(|program| found(Way::Logger, program));
            return;
        }
        // `service[4711] …: grid: …`: a part of any system with its process, and then who.
        if body.split_once('[').is_some_and(|(name, pid)| is_common(name) && pid.bytes().all(|b| b.is_ascii_digit())) {
            rest = behind;
            continue;
        }
        let lettered = body.starts_with(|c: char| c.is_ascii_alphabetic());
        let clock = digits * 2 > body.len() || body.contains(':') && digits > 0 && !lettered || digits >= 6;
        if body.is_empty() || clock || is_level(word) {
            rest = behind;
            continue;
        }
        // `E 00:00:00.1 grid:mesh.h:12] …`: the module before the source's file and line.
        if let Some((name, place)) = word.strip_suffix(']').and_then(|word| word.split_once(':'))
            && place.split_once(':').is_some_and(|(file, _)| is_file(file))
            && !is_file(name)
        {
            named(name).into_iter().for_each(|program| found(Way::Prefix, program));
            return;
        }
        // `foo.cc:123] …` and `[file.py:12]` name no program, and no name follows them.
        if word.ends_with(']') && word.contains(".c") {
            return;
        }
        if behind.starts_with("- ") || behind.starts_with("| ") {
            // `foo_1  | …` of a composed container, `foo.bar - ERROR - …` of a logger.
            let name = body.trim_end_matches(|c: char| c.is_ascii_digit()).trim_end_matches(['-', '_']);
            if !is_file(body) {
                of_package(name).or_else(|| named(name)).into_iter().for_each(|program| found(Way::Logger, program));
            }
            rest = behind.trim_start_matches(['-', '|', ' ']);
            continue;
        }
        // `mesh3d.cu(53): …`: a place in the source.
        if body.split_once('(').is_some_and(|(file, _)| is_file(file) && !file.ends_with(".exe")) {
            return;
        }
        // `solver FATAL …`, `calculix : …`: who writes, and then how grave it is, or a colon as French sets it.
        let next = behind.split_whitespace().next().unwrap_or_default();
        let grave = next.trim_end_matches([':', ']', '!']);
        let graded = is_level(grave) && grave.len() >= 3 && grave.bytes().all(|byte| byte.is_ascii_uppercase());
        if graded || next == ":" {
            let program = if body.contains('.') && !is_file(body) { of_package(body) } else { own_word(body) };
            program.into_iter().for_each(|program| found(Way::Prefix, program));
            return;
        }
        // `ERROR qdrant::actix: …` is a namespace's; `INFO name.module …` a logger behind its level.
        if word.ends_with(':') && !word.ends_with("::") {
            // `rate_control:  CQP`: a setting in a list of them, aligned.
            if rest.get(word.len()..).is_some_and(|behind| behind.starts_with("  ")) {
                return;
            }
            let name = without_release(body.split(['[', '(']).next().unwrap_or_default());
            // `kernel: GRID: …`, `stderr: grid: …`: a part of any system, and then who.
            let follows = behind.split_whitespace().next().is_some_and(|next| next.ends_with(':'));
            if follows && is_common(name) {
                rest = behind;
                continue;
            }
            if name.contains('.') && !is_file(name) {
                of_package(name).into_iter().for_each(|program| found(Way::Logger, program));
                return;
            }
            let is_class = ["Error", "Exception", "OutOfMemory"].iter().any(|end| name.contains(end));
            let call = body.contains('(') || word.contains("()");
            if is_class || call {
                function(name).into_iter().for_each(|program| found(Way::Function, program));
            } else if let Some((way, program)) = own_name(name) {
                found(way, program);
            } else {
                class(name).into_iter().for_each(|program| found(Way::Function, program));
            }
            return;
        }
        two_words(rest, found);
        return;
    }
}

/// What stands in the brackets of a log line: a logger, a program with its level, a function.
fn bracket(inner: &str, found: Found<'_>) {
    let parts = inner.split([' ', '/', '|', ',']).filter(|part| !part.is_empty());
    let mut names = parts.filter(|part| {
        let digits = part.bytes().filter(u8::is_ascii_digit).count();
        !is_level(part) && digits * 2 <= part.len() && !is_file(part.split(':').next().unwrap_or_default())
    });
    let Some(part) = names.next() else { return };
    // `[4711:grid]`: the process's number, and who it is.
    let number = |part: &str| part.len() >= 2 && part.bytes().all(|byte| byte.is_ascii_digit());
    if let Some((_, name)) = inner.split_once(':').filter(|(pid, name)| number(pid) && !name.contains([':', ' '])) {
        executable(name).into_iter().for_each(|program| found(Way::Prefix, program));
        return;
    }
    // `[realmain:1180]`: a function, and the line in it.
    let placed = inner.split_once(':').is_some_and(|(_, line)| number(line));
    let part = part.split(':').next().unwrap_or(part);
    if placed && !part.contains('_') {
        return;
    }
    let program = if part.contains('.') { of_package(part) } else { own_word(part).filter(|_| part.len() > 2) };
    let way = if placed || part.matches('_').count() >= 2 { Way::Function } else { Way::Bracket };
    program.into_iter().for_each(|program| found(way, program));
}

/// `Foo Bar: …`: two or three words before a colon, of which one at least is a name's.
fn two_words(rest: &str, found: Found<'_>) {
    let Some((head, _)) = rest.split_once(": ") else { return };
    let parts: Vec<&str> = head.split_whitespace().take(5).collect();
    // `Foo's memory management: …`
    if let Some(owner) = parts.first().and_then(|first| first.strip_suffix("'s")).filter(|owner| is_capitalised(owner))
    {
        named(owner).into_iter().for_each(|program| found(Way::Subject, program));
        return;
    }
    // `gridExec() failed: …`: a call, and not who called.
    let called = parts.iter().any(|part| part.contains('('));
    if !(2..=3).contains(&parts.len()) || head.len() > 40 || called {
        return;
    }
    let own: Vec<&str> = parts.iter().copied().filter(|part| named(part).is_some()).collect();
    match own.as_slice() {
        // `samtools sort: …`, `BLAST engine error: …`
        [one] if parts.first() == Some(one) && (is_proper(one) || !is_capitalised(one)) => {
            own_name(one).into_iter().for_each(|(_, program)| found(Way::TwoWords, program));
        }
        [first, second] if is_capitalised(first) && is_capitalised(second) => {
            named(first).into_iter().for_each(|program| found(Way::Mention, program));
            Program::named(&format!("{first}-{second}").to_ascii_lowercase())
                .into_iter()
                .for_each(|program| found(Way::TwoWords, program));
        }
        [first, _, ..] if parts.first() == Some(first) && (!is_capitalised(first) || is_proper(first)) => {
            own_name(first).into_iter().for_each(|(_, program)| found(Way::TwoWords, program));
        }
        _ => {}
    }
}

/// `kafka.server.ReplicaManager` anywhere in a line: a class as loggers print it.
fn loggers(line: &str, found: Found<'_>) {
    for word in words(line) {
        let Some((package, class)) = word.rsplit_once('.') else { continue };
        let is_class = class.len() > 3
            && class.starts_with(|c: char| c.is_ascii_uppercase())
            && class.bytes().any(|byte| byte.is_ascii_lowercase());
        let deep = package.contains('.') && package.split('.').all(|part| part.starts_with(|c: char| c.is_lowercase()));
        if is_class && deep {
            of_package(package).into_iter().for_each(|program| found(Way::Logger, program));
        }
    }
    // `INFO grid.mesh.build starts`, `WARN qdrant::actix`: behind the level.
    let mut words = line.split_whitespace().take(12);
    if words.any(is_level)
        && let Some(logger) = words.next().map(|word| word.trim_matches(|c: char| !c.is_ascii_alphanumeric()))
        && logger.contains('.')
        && !is_file(logger)
        && logger.split('.').all(|part| {
            part.len() > 1
                && part.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_' || byte.is_ascii_digit())
        })
    {
        of_package(logger).into_iter().for_each(|program| found(Way::Logger, program));
    }
}

/// The logger of a line by its full name, in the forms in which Python's loggers are written out: `INFO:grid.mesh:…`,
/// `… - grid.mesh - INFO - …`, `… grid.mesh  INFO : …`, `[INFO] [grid.mesh:71] …`, `[date grid.mesh]: …`. One without
/// a path counts only between marks.
pub(super) fn logger(line: &str) -> Option<&str> {
    /// Words in front of a line's text: a date, a level, a process, a logger.
    const FRONT: usize = 10;
    let words: Vec<&str> = line.split([' ', '|', '\t']).filter(|word| !word.is_empty()).take(FRONT).collect();
    let first = *words.first()?;
    // `INFO:grid.mesh:…`
    if let Some((level, rest)) = first.split_once(':')
        && is_level(level)
    {
        return logger_name(rest.split(':').next()?);
    }
    // `grid.mesh - …`
    if words.get(1) == Some(&"-") && first.contains('.') {
        return logger_name(first);
    }
    // `[05/01 12:00:00 grid.mesh]: …`
    if first.starts_with('[')
        && let Some(last) = words.iter().find(|word| word.ends_with("]:"))
        && last.contains('.')
    {
        return logger_name(last);
    }
    let level = words.iter().position(|word| {
        let word = word.trim_matches(|c: char| !c.is_ascii_alphanumeric());
        word.len() > 1 && word.bytes().all(|byte| byte.is_ascii_uppercase()) && is_level(word)
    });
    // `[INFO|2024-05-01 12:00:00] grid.mesh:157 >> …`
    let level = level.or_else(|| first.strip_prefix('[').filter(|word| is_level(word)).map(|_| 0))?;
    let dotted = |word: &&&str| word.contains('.');
    let behind = words.get(level + 1..)?.iter().take(4).find(dotted);
    let before = words.get(..level)?.iter().rev().find(dotted);
    if let Some(name) = behind.and_then(|word| logger_name(word)).or_else(|| before.and_then(|word| logger_name(word)))
    {
        return Some(name);
    }
    // `… - grid - INFO - …`
    match level.checked_sub(3).and_then(|from| words.get(from..level + 2))? {
        ["-", name, "-", _, "-"] => logger_name(name).filter(|name| !name.contains('.') && named(name).is_some()),
        _ => None,
    }
}

/// What may be a logger's name: words of lower case with points between, and neither a file's nor a host's.
fn logger_name(word: &str) -> Option<&str> {
    const HOSTS: [&str; 6] = [".com", ".org", ".net", ".io", ".local", ".internal"];
    const LONGEST: usize = 80;
    let name = word.trim_matches(|c: char| !c.is_ascii_alphanumeric() && c != '_').split(':').next()?;
    let plain = name.split('.').all(|part| {
        part.starts_with(|c: char| c.is_ascii_lowercase() || c == '_')
            && part.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_' || byte.is_ascii_digit())
    });
    let host = || HOSTS.iter().any(|end| name.ends_with(end));
    (plain && (2..=LONGEST).contains(&name.len()) && !is_file(name) && !host()).then_some(name)
}

const VERBS: &[&str] = &[
    "execute",
    "exec",
    "query",
    "handle",
    "fetch",
    "compute",
    "render",
    "parse",
    "send",
    "receive",
    "recv",
    "close",
    "flush",
    "merge",
    "select",
    "prepare",
    "submit",
    "launch",
    "save",
    "store",
    "launch",
    "lookup",
    "find",
    "fill",
    "ensure",
    "acquire",
    "obtain",
    "map",
    "emplace",
    "append",
    "enqueue",
    "register",
    "setup",
    "solve",
    "step",
    "sort",
    "get",
    "set",
    "create",
    "make",
    "new",
    "try",
    "do",
    "read",
    "write",
    "open",
    "copy",
    "build",
    "allocate",
    "malloc",
    "calloc",
    "realloc",
    "mmap",
    "free",
    "upload",
    "cudamalloc",
    "hipmalloc",
    "posix",
    "alloc",
    "load",
    "init",
    "my",
    "safe",
    "xmalloc",
    "gpu",
    "cuda",
    "hip",
    "cu",
    "device",
    "host",
    "mem",
    "memory",
    "buffer",
    "allocator",
    "util",
    "resize",
    "grow",
    "push",
    "reserve",
    "process",
    "run",
    "start",
    "add",
    "insert",
    "update",
    "check",
    "x",
    "g",
    "s",
    "fatal",
    "error",
    "err",
    "main",
    "thread",
];

/// True for a word that calls memory, or checks such a call: `morecore`, `galloc`, `cudaMalloc`, `gpuAssert`.
fn allocates(name: &str) -> bool {
    const CALLS: &[&str] = &["alloc", "morecore", "mmap", "memcpy", "memalign", "new_array", "getmem", "sbrk"];
    const CHECKS: &[&str] =
        &["assert", "errchk", "safecall", "checkcuda", "cudacheck", "cuda_check", "check_cuda", "hipcheck"];
    let lower = name.to_ascii_lowercase();
    CALLS.iter().chain(CHECKS).any(|word| lower.contains(word))
}

/// True for a function's name: one of its words is a verb.
fn acts(name: &str) -> bool {
    name.split('_').skip(1).any(|word| VERBS.contains(&word.to_ascii_lowercase().as_str()))
}

/// A function's library, by the first of its words, unless that is a verb or a part of any program.
fn function(name: &str) -> Option<Program> {
    let first = name.split(['_', '.']).next().filter(|first| first.len() >= 3 && first.len() < name.len())?;
    if VERBS.contains(&first.to_ascii_lowercase().as_str()) || allocates(first) {
        return None;
    }
    named(first)
}

/// `GridMemoryAllocator`: whose a class is, by the word in front of those that any program's classes bear.
fn class(name: &str) -> Option<Program> {
    let words: Vec<&str> = camel_words(name).collect();
    let common = words.iter().skip(1).all(|word| is_common(word));
    let first = words.first().filter(|first| first.len() >= 3 && words.len() >= 2 && common)?;
    (is_capitalised(name) && !allocates(first)).then(|| named(first)).flatten()
}

/// A name that may be a function's: then its library's.
fn own_word(name: &str) -> Option<Program> {
    // `clCreateBuffer`: a verb within makes it a function's.
    let camel = name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.bytes().any(|byte| byte.is_ascii_uppercase())
        && (allocates(name) || camel_words(name).any(|word| VERBS.contains(&word.to_ascii_lowercase().as_str())));
    if camel {
        return None;
    }
    // `grid_tracked`, `grid_index`: a library's prefix and what is done.
    const PLATFORMS: &[&str] = &["vulkan", "cuda", "opencl", "hip", "gpu", "cpu", "mpi", "omp", "metal", "sycl"];
    let act = name
        .split_once('_')
        .filter(|(_, act)| !PLATFORMS.contains(act))
        .is_some_and(|(_, act)| is_prose(act) || is_common(act) || act.ends_with("ed"));
    if act && !is_listed(name) {
        return name.split_once('_').and_then(|(library, _)| named(library)).or_else(|| named(name));
    }
    if name.matches('_').count() >= 2 || allocates(name) || acts(name) { function(name) } else { named(name) }
}

/// A program's name before a colon: `solver:`. A function's, such as `solver_alloc_grid:`, names its library.
fn own_name(name: &str) -> Option<(Way, Program)> {
    let known = named(name)?;
    if !matches!(known, Program::Unlisted(_)) {
        return Some((Way::Prefix, known));
    }
    let program = own_word(name)?;
    let way = if program == known { Way::Prefix } else { Way::Function };
    // `Solver:` may begin any sentence, `solver:` is what a program calls itself.
    let spoken = way == Way::Prefix && is_capitalised(name) && !is_proper(name);
    Some((if spoken { Way::Capital } else { way }, program))
}

/// The fields of a structured log line that name who wrote it, and the message's own text.
fn fields(record: &Record, found: Found<'_>) {
    const WRITERS: &[&str] = &[
        "logger",
        "loggername",
        "service",
        "svc",
        "servicename",
        "service.name",
        "app",
        "appname",
        "app.name",
        "application",
        "applicationname",
        "program",
        "programname",
        "exe",
        "process",
        "processname",
        "process.name",
        "syslogidentifier",
        "identifier",
        "comm",
        "container",
        "containername",
        "container.name",
        "binary",
        "daemon",
        "unit",
        "systemdunit",
        "sourcecontext",
        "target",
        "ident",
        "facility",
        "category",
        "log.logger",
    ];
    // Parts of a program more often than its name.
    const PARTS: &[&str] = &["component", "module", "subsystem", "plugin", "job", "tag"];
    let spoken = record.texts().next().is_some();
    for Field { key, value } in &record.fields {
        let last = key.rsplit('.').next().unwrap_or(key);
        let writes = WRITERS.contains(&key.as_str()) || WRITERS.contains(&last) && !key.contains("error");
        // `name` is the logger's in bunyan's, pino's and Python's records, and anything's elsewhere.
        let way = if writes || key == "name" && spoken && record.level().is_some() {
            Way::Logger
        } else if PARTS.contains(&last) {
            Way::Tag
        } else {
            continue;
        };
        writer(value).into_iter().for_each(|program| found(way, program));
    }
    for line in record.texts().take(4).flat_map(|text| text.lines().take(2)) {
        exception(line).into_iter().for_each(|program| found(Way::Class, program));
        prefix(line, found);
        subject(line, found);
    }
}

/// Whose name stands in a field: a logger's path, a unit, a container with its number.
fn writer(value: &str) -> Option<Program> {
    let value = value.strip_suffix(".service").unwrap_or(value);
    if value.contains(char::is_whitespace) {
        return None;
    }
    if value.contains("::") {
        return value.split("::").next().and_then(named);
    }
    if value.contains('/') {
        return executable(value);
    }
    if value.contains('.') && !value.ends_with(".exe") {
        return of_package(value);
    }
    let numbered = value.trim_end_matches(|c: char| c.is_ascii_digit());
    own_word(numbered.strip_suffix('-').filter(|_| numbered.len() < value.len()).unwrap_or(value))
}

/// `in module foo.exe at …`, `Faulting application name: foo.exe`, `Process: org.foo.app, PID: …`: the file or package
/// that a system names when one of its programs fails.
fn module(line: &str, found: Found<'_>) {
    const RUNTIMES: &[&str] = &["python", "pythonw", "java", "javaw", "node", "cmd", "explorer", "svchost", "dotnet"];
    for word in line.split([' ', '\'', '"', '(', ')', ',', ';', '\\', '/', '[', ']']).take(64) {
        let word = word.trim_end_matches(['.', ':']);
        let Some(name) = word.strip_suffix(".exe").or_else(|| word.strip_suffix(".EXE")) else { continue };
        if !RUNTIMES.contains(&name.to_ascii_lowercase().as_str()) {
            executable(word).into_iter().for_each(|program| found(Way::Executable, program));
        }
    }
    let process = line.split_once("Process: ").and_then(|(_, rest)| rest.split_once(", PID: "));
    if let Some((package, _)) = process.filter(|(package, _)| package.contains('.') && !package.contains(' ')) {
        of_package(package).into_iter().for_each(|program| found(Way::Executable, program));
    }
}

/// `SQLITE_NOMEM`, `GRB_ERROR_OUT_OF_MEMORY`: the library of an error code.
fn codes(line: &str, found: Found<'_>) {
    const INTERFACES: &[&str] = &[
        "CL",
        "VK",
        "CU",
        "CUDA",
        "HIP",
        "UR",
        "ZE",
        "PI",
        "NV",
        "STATUS",
        "E",
        "ERROR",
        "ERR",
        "D3D",
        "DXGI",
        "GL",
        "MEM",
        "MEMORY",
        "OUT",
        "RESULT",
        "CUBLAS",
        "CUDNN",
        "CUFFT",
        "CUSPARSE",
        "CUSOLVER",
        "NVML",
        "NCCL",
        "MPI",
        "RESOURCE",
        "INSUFFICIENT",
        "ALLOC",
        "ALLOCATION",
        "OOM",
        "WL",
        "EGL",
        "NTE",
        "HRESULT",
        "SYSTEM",
        "HOST",
        "DEVICE",
        "GPU",
        "NPU",
        "TOTAL",
        "MAX",
        "JAVA",
        "HSA",
        "ROCM",
        "FATAL",
        "KERNEL",
        "LIMIT",
        "PYTORCH",
        "AN",
    ];
    for word in line.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).filter(|word| word.len() >= 8).take(48) {
        let Some((first, rest)) = word.split_once('_') else { continue };
        let code = !word.bytes().any(|byte| byte.is_ascii_lowercase())
            && ["NOMEM", "NO_MEM", "OUT_OF_MEM", "OUTOFMEM", "ALLOC", "MEM_FULL", "OOM", "MEMORY"]
                .iter()
                .any(|words| rest.contains(words));
        if code && first.len() >= 2 && !INTERFACES.contains(&first) && !is_prose(first) {
            named(first).into_iter().for_each(|program| found(Way::Code, program));
        }
    }
}

/// Folders whose name is the program's, in the paths of a line: `/opt/NAME-1.2/bin`, `NAME/src/mesh.cc`, `libNAME.so`.
fn folders(line: &str, own: bool, found: Found<'_>) {
    const HOMES: &[&str] = &[
        "opt",
        "srv",
        "app",
        "local",
        "share",
        "snap",
        "Program Files",
        "Applications",
        "builds",
        "envs",
        "lib",
        "checkouts",
        "etc",
        "log",
    ];
    /// Folders of these that are the system's own.
    const SYSTEM_FOLDERS: &[&str] = &[
        "ssl",
        "ssh",
        "security",
        "default",
        "sysconfig",
        "alternatives",
        "profile.d",
        "init.d",
        "cron.d",
        "systemd",
        "journal",
        "x86_64-linux-gnu",
        "modules",
        "firmware",
        "pki",
        "apt",
        "yum",
        "network",
        "pam.d",
    ];
    const HIDDEN: &[&str] = &[
        "cache",
        "local",
        "config",
        "conda",
        "cargo",
        "rustup",
        "venv",
        "env",
        "npm",
        "nvm",
        "ssh",
        "git",
        "github",
        "m2",
        "gradle",
        "ivy2",
        "julia",
        "virtualenvs",
        "pyenv",
        "rbenv",
        "vscode-server",
        "vscode",
        "jupyter",
        "ipython",
        "lake",
        "cabal",
        "stack",
        "opam",
        "asdf",
        "nuget",
        "dotnet",
        "docker",
        "kube",
        "aws",
        "triton",
        "nv",
        "pip",
        "pixi",
        "mamba",
        "build",
        "libs",
        "deps",
        "obj",
        "svn",
        "hg",
        "idea",
        "tox",
        "nox",
        "yarn",
        "pnpm",
        "mozilla",
        "var",
        "wine",
        "theano",
        "keras",
        "huggingface",
    ];
    const INSIDE: &[&str] = &["src", "source", "csrc", "lib", "include", "bin", "build", "python", "cpp", "libs"];
    let split = |c: char| {
        c.is_whitespace() || matches!(c, '(' | ')' | '\'' | '"' | '`' | ',' | '=' | '<' | '>' | '[' | ']' | ';')
    };
    for path in line.split(split).filter(|word| word.len() > 5 && word.contains(['/', '\\'])).take(24) {
        if path.contains("://") {
            address(path, found);
            continue;
        }
        if path.contains("site-packages") || path.contains("dist-packages") || path.contains("node_modules") {
            continue;
        }
        let parts: Vec<&str> = path.split(['/', '\\', ':']).filter(|part| !part.is_empty()).collect();
        let folders = &parts[..parts.len().saturating_sub(1)];
        if own {
            source_root(path).into_iter().for_each(|program| found(Way::Source, program));
            source_file(path).into_iter().for_each(|program| found(Way::Function, program));
        }
        let file = path.split([':', '(']).next().and_then(|path| path.rsplit(['/', '\\']).next()).unwrap_or_default();
        let absolute = path.starts_with(['/', '~']) || path.get(1..2) == Some(":");
        let mut rooted = false;
        for (at, part) in folders.iter().enumerate() {
            let under = at.checked_sub(1).and_then(|at| folders.get(at));
            // `…/src/umpire/alloc/CudaAllocator.hpp`: the package within a source tree, in the message's own line.
            let source = own && file.contains('.') && under.is_some_and(|under| matches!(*under, "src" | "include"));
            // `grid/src/grid_mesh/mesh.c`: the project before its sources, where that is a name.
            let project = (at == 2 && !absolute).then(|| folders.first()).flatten();
            let project = project.and_then(|name| named(unversioned(name)));
            if source && !INSIDE.contains(part) && project.is_none() {
                named(unversioned(part)).into_iter().for_each(|program| found(Way::Source, program));
            }
            let holds = folders.get(at + 1).is_some_and(|next| INSIDE.contains(next));
            let home = absolute
                && under.is_some_and(|under| HOMES.contains(under))
                && !INSIDE.contains(part)
                && !SYSTEM_FOLDERS.contains(part);
            // `~/.grid/tuning/`: what a program keeps for its user.
            let hidden = part.strip_prefix('.').filter(|name| name.len() >= 3 && !HIDDEN.contains(name) && at > 0);
            hidden.and_then(|name| named(unversioned(name))).into_iter().for_each(|name| found(Way::Folder, name));
            let root = own
                && at == 0
                && !absolute
                && !path.starts_with('.')
                && folders.get(1).is_some_and(|next| *next == "src");
            if home || holds && at > 0 || root {
                let way = if own { Way::Source } else { Way::Folder };
                let package = named(unversioned(part));
                // The package before its sources is surer than the folder of a checkout.
                rooted |= package.is_some() && holds && part.contains('_');
                package.into_iter().for_each(|program| found(way, program));
            }
        }
        if !rooted && absolute_source(path) {
            frames::checkout(path).into_iter().for_each(|(_, program)| found(Way::Source, program));
        }
        if let Some(library) = file.strip_prefix("lib").and_then(|file| file.split_once(".so")) {
            const SYSTEM: &[&str] = &[
                "c",
                "m",
                "dl",
                "pthread",
                "stdc++",
                "gcc_s",
                "cuda",
                "cudart",
                "cublas",
                "nvidia",
                "rt",
                "util",
                "z",
                "ld",
                "gomp",
                "mpi",
                "open-pal",
                "open-rte",
                "glib-2",
                "gobject-2",
                "jvm",
                "ssl",
                "crypto",
                "python",
            ];
            let name = library.0;
            if !SYSTEM.contains(&name)
                && !name.starts_with("python")
                && !name.starts_with("Qt")
                && !name.starts_with("cu")
            {
                named(name).into_iter().for_each(|program| found(Way::Library, program));
            }
        }
        if folders.last() == Some(&"bin") || path.starts_with("./") && parts.len() == 1 {
            let name = file.trim_end_matches([':', '.']);
            let script = is_file(name) && !name.ends_with(".exe") && !name.ends_with(".x");
            if !script && !super::commands::is_wrapper(name) {
                let common = || commonplace(name).map(|program| (Way::Commonplace, program));
                let own = executable(name).map(|program| (Way::Executable, program)).or_else(common);
                own.into_iter().for_each(|(way, program)| found(way, program));
            }
        }
    }
}

/// True for a place in a source file that was named from the root on: `/home/ann/grid/mesh.cc:12`.
fn absolute_source(path: &str) -> bool {
    let drive = path.get(1..3) == Some(":\\");
    let place = path.get(if drive { 2 } else { 0 }..).and_then(|path| path.split_once(':'));
    let Some((file, line)) = place.filter(|_| drive || path.starts_with('/')) else { return false };
    line.starts_with(|c: char| c.is_ascii_digit()) && CODE.iter().any(|kind| file.ends_with(kind))
}

/// Endings of files in which programs are written.
const CODE: &[&str] = &[".c", ".cc", ".cpp", ".cxx", ".cu", ".h", ".hpp", ".cuh", ".go", ".rs", ".f90", ".java"];

/// The project in whose sources a failure is placed, `gridlib/core/mesh.cc:12`: the first folder of a path that begins
/// where the build did.
fn source_root(path: &str) -> Option<Program> {
    const PARTS: &[&str] = &["third_party", "thirdparty", "vendor", "pkg", "cmd", "contrib", "deps", "runtime"];
    let (file, line) = path.split_once(':')?;
    let (first, rest) = file.split_once('/')?;
    let placed = line.starts_with(|c: char| c.is_ascii_digit()) && CODE.iter().any(|kind| file.ends_with(kind));
    let rooted = first.is_empty() || first.starts_with('.') || !rest.contains('/') || PARTS.contains(&first);
    (placed && !rooted).then(|| named(unversioned(first))).flatten()
}

/// Whose a source file is that bears its project's name in front of a part's: `GRID_common.cpp`, `grid_core.cu:12`.
fn source_file(path: &str) -> Option<Program> {
    const PARTS: &[&str] = &["common", "core", "main", "utils", "util", "api", "lib", "cli", "kernels"];
    let file = path.split([':', '(']).next()?.rsplit(['/', '\\']).next()?;
    let (stem, ending) = file.rsplit_once('.')?;
    let (project, part) = stem.split_once('_')?;
    let code = matches!(ending, "c" | "cc" | "cpp" | "cu" | "cuh" | "h" | "hpp" | "cxx" | "f90");
    (code && PARTS.contains(&part) && project.len() >= 3 && !allocates(project)).then(|| named(project)).flatten()
}

/// The project of a web address.
fn address(word: &str, found: Found<'_>) {
    let Some((_, rest)) = word.split_once("://") else { return };
    let mut parts = rest.trim_end_matches(['.', ')', ',']).split('/');
    let Some(host) = parts.next() else { return };
    let program = if matches!(host, "github.com" | "gitlab.com" | "bitbucket.org" | "codeberg.org" | "sourceforge.net")
    {
        parts.nth(1).and_then(|name| named(name.trim_end_matches(".git")))
    } else {
        const OTHERS: &[&str] = &[
            "pytorch",
            "nvidia",
            "docs",
            "www",
            "google",
            "stackoverflow",
            "python",
            "docker",
            "kubernetes",
            "aws",
            "microsoft",
            "huggingface",
            "wikipedia",
            "khronos",
            "readthedocs",
            "github",
            "medium",
            "nodejs",
            "apache",
            "amazonaws",
            "azure",
            "goo",
            "bit",
            "aka",
            "dask",
            "slurm",
            "schedmd",
            "conda",
            "anaconda",
            "spark",
            "ray",
        ];
        let labels: Vec<&str> = host.split([':', '@']).next().unwrap_or_default().split('.').collect();
        let own =
            labels.iter().rev().skip(1).find(|label| label.len() > 2 && !matches!(**label, "com" | "org" | "edu"));
        let own = match own {
            Some(&"readthedocs") => labels.first(),
            Some(&"github") => labels.first(),
            own => own,
        };
        own.filter(|own| !OTHERS.contains(own)).and_then(|own| named(own))
    };
    program.into_iter().for_each(|program| found(Way::Address, program));
}

/// Who ran out, in a sentence: `Kraken2 ran out of memory`, `STAR could not allocate`.
fn subject(line: &str, found: Found<'_>) {
    const VERBS: &[&str] = &[
        " ran out of",
        " has run out of",
        " is out of",
        " could not",
        " was not able",
        " is not able",
        " couldn't",
        " failed to",
        " cannot",
        " can't",
        " unable to",
        " is unable to",
        " was unable to",
        " was killed",
        " has failed to",
        " needs ",
        " requires ",
        " Error",
        " Exception",
        " has insufficient",
        " does not have enough",
        " engine error",
        " error:",
        " exception",
        " crashed",
        " OOM",
        " stopped",
        " aborted",
        " terminated",
        " refuses to",
        " refused to",
        " has exceeded",
        " exceeded",
        " has exhausted",
        " exhausted",
        " has reached",
        " reached",
        " exited",
        " died",
    ];
    let Some(at) = VERBS.iter().filter_map(|verb| line.find(verb)).min() else { return };
    // `The Grid System stopped`: the name of those that begin with a capital.
    let mut words =
        line[..at].split_whitespace().rev().map(|word| word.trim_matches(|c: char| !c.is_ascii_alphanumeric()));
    let Some(last) = words.next() else { return };
    let mut before = words.take(2).take_while(|word| is_capitalised(word));
    let word = if is_capitalised(last) && is_common(last) {
        before.find(|word| !is_common(word)).unwrap_or(last)
    } else {
        last
    };
    if allocates(word) || word.contains(['(', '/', ':']) {
        return;
    }
    let way = match (is_proper(word), is_capitalised(word)) {
        (true, _) => Way::Subject,
        (false, true) => Way::Capital,
        _ if is_known(word) => Way::Subject,
        _ => return,
    };
    own_word(word).into_iter().for_each(|program| found(way, program));
}

/// Whom the user is told to start again, or whose manual to read: `re-run Grid with …`, `restart Grid`, `see the Grid
/// manual`.
fn advice(line: &str, found: Found<'_>) {
    const AGAIN: &[&str] =
        &["re-run ", "rerun ", "restart ", "Restart ", "restarting ", "relaunch ", "re-start ", "running ", "run "];
    const PAPERS: &[&str] = &[" manual", " documentation", " user guide", " docs", " FAQ", " settings", " preferences"];
    let mut tell = |word: &str| {
        let word = word.trim_matches(|c: char| !c.is_ascii_alphanumeric());
        if is_proper(word) || is_capitalised(word) {
            named(word).into_iter().for_each(|program| found(Way::Subject, program));
        }
    };
    for words in AGAIN {
        let Some((before, rest)) = line.split_once(words) else { continue };
        let mut behind = rest.split_whitespace();
        let name = behind.next().unwrap_or_default();
        let plain = matches!(*words, "run " | "running ");
        let on = behind.next().is_some_and(|next| matches!(next, "with" | "using" | "on" | "again" | "in"));
        if !before.ends_with(|c: char| c.is_alphanumeric()) && (!plain || on) {
            tell(name);
            return;
        }
    }
    for words in PAPERS {
        if let Some((before, _)) = line.split_once(words) {
            tell(before.rsplit(' ').next().unwrap_or_default());
            return;
        }
    }
}

/// A name in parentheses at the end of a line.
fn tag(line: &str, found: Found<'_>) {
    let Some(inner) = line.trim_end().strip_suffix(')').and_then(|line| line.rsplit_once('(')).map(|(_, inner)| inner)
    else {
        return;
    };
    let raised = inner.ends_with("Error") || inner.ends_with("Exception");
    if !raised
        && inner.len() <= 24
        && !inner.contains(' ')
        && is_capitalised(inner)
        && !inner.contains('_')
        && !is_common(inner)
    {
        named(inner).into_iter().for_each(|program| found(Way::Tag, program));
    }
}
