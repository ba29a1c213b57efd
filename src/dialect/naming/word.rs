//! Which words can be a program's name.

use crate::domain::Program;
use crate::domain::program::Kind;
use std::collections::BTreeSet;
use std::sync::LazyLock;

/// Words that stand where a name may stand and name no program: levels, roles, parts of any program, interfaces, the
/// words of the messages themselves.
const NO_NAMES: &str = "\
    a aarch64 abnormal abnormally abort aborted aborting about above abstract according accuracy adapter add \
    additionally address addresses after again against agpl alert alerts align alignment all alloc allocate \
    allocated allocating allocation allocations allocator allocators already also always amd amd64 an analysis \
    analyzing and androidruntime anonymous answer any api app application applications apps apptainer apr april \
    ar are arena arenas args argument arguments arm64 around array arraybuffer arrays as asctime assembly \
    assertionerror async at atom atoms audio aug august author authors available average backend background \
    backtrace backup bad bad_alloc base bash batch batches be because been before begin being below bench \
    benchmark between big bin bit bits block blocks body bool boot both box branch brk broken budget buffer \
    buffers bug bugs build builder building builds builtins bundle bus busy but by byte bytes cache caches \
    calculating calculation call callback callbacks called caller calling calloc calls can cannot catalina catch \
    cause caused cc cell cells centos cet cgo cgroup cgroups channel channels char check checking chunk chunks \
    class classes cli client clients clone close closing cloud cluster clusters cmake cmd code codes collector \
    collectors column columns command commands commit common compile compiler compiling complete completed \
    compute computer computing conda config configuration configure conn connection connections consider console \
    const container containers content contents context contexts controller controllers copy copying copyright \
    core corp corporation corrupted could count cpp cpu cpus crash crashed crashing create created creating crit \
    critical csh css csv ctest cu cuda cudart current currently cxx darwin dash data database dataset datasets \
    date day db dbg deadline debian debug dec december default defaults delete deleted demo derived description \
    desktop detail details detected detecting dev development device devices did dir directory dispatcher \
    distributed dma do doc dockerd docs documentation does done double download downloading driver drivers dump \
    dumped during each editor editors element elements else emerg empty end engine engines enomem enough enroot \
    entries entry env environment epoch epochs err errno error errorcode errors est etc eval evaluate evaluation \
    even event events every example examples exceeded exceeds exception exceptions exec execute executing \
    execution executor exhausted exhaustion exit exitcode exited exiting exits explain export exporting \
    extension extensions external factory fail failed failing fails failure false fastbin fatal fatality fault \
    feb february fedora fetch fetching fft few field fields file filename files filter filtering final find finding \
    finetune finish finished first fish flag flags float folder follower footer for foreground fork forrtl found \
    foundation frame frames framework free fri friday from frontend ftl full function functions gb gc get gib \
    glibc global gmt gnu go good goroutine gpl gpu gpus gradient gradients graph graphs grid grpc gtest gui \
    guide had handler handlers hardware has hash have having he header headers heap help helper helpers here \
    hibernate hint hip home homepage hook hooks host hostname hosts however hpp html http https huge hugepage \
    hugepages i id idle ids if image images import importing in inc increase index indexes indices inf infer inference \
    info init initialize initialized initializing input inputs insert install installed installing instance \
    instances insufficient int intel interface internal into invalid invalid_argument io ioctl ip is issue \
    issues it item items iter iteration iterations its jan january java javac javaw job jobs join js json jul \
    july jun june junit just jvm kb kernel kernels key keys kib kill killed ksh kubectl kubelet laptop large \
    larger largest last layer layers leader leaders length_error level levelname les lgpl lib libc libraries library \
    liballoc libcore libs libstdc license likely limit limits line lines linux list listener lists load loaded loader \
    loading local localhost log log4j logback logger logging logic_error logs loss ltd machine machines macos macro \
    main make malloc malloc_consolidate mamba management manager managers manual map maps mar march master match \
    matrices matrix max maximum may maybe mb me meanwhile media mem memory memoryerror merge merging mesh meshes \
    message method methods metrics mib might min minimum mmap mnt mode model models module modules mon monday \
    monitor monitoring more most mpi mpiexec mpirun ms msg munmap must my name names nan need needed needs net \
    netty network networks never new next nil no nobody node nodes nomem nomemoryerror none normal normally not \
    note notes notice nov november now npm npx null numa number ns nvidia object objects oct october of often ok \
    old omp on only onto oom oomkilled oops open opencl opening openmp openmpi operating opt optimizer option \
    options or os oserror other our out output outputs over overview package packages page pagefile pages panic \
    panicked parallel param parameter parameters params parse parser parsing part particle particles parts path \
    paths peak perhaps pid piece pieces pip pipe pipeline pipelines platform please plugin plugins pod pods pool \
    pools port posix possible possibly predict predictor pretrain previous primary print printf printing private \
    probably proc procedure process processed processes processing prod production program programs progress \
    project projects prompt protected provider pss pst pthread ptmalloc public pull push put py pytest python \
    python2 python3 pyxis queries query question queue queues quota raise raised ram ramdisk rangeerror rank \
    ranks read reader reading reads ready real realloc reason receive received receiver receiving record records \
    redhat reduce reference region regions release remaining remote remove render rendered renderer rendering \
    replica repo report reported reports repos req request requested requests require required requirement \
    requirements requires reserved resolver resource resources restore restoring result results retry return \
    returned returning rhel rlimit rocm root routine row rows rpc rs rscript rss run runner running runs runtime \
    runtime_error runtimeerror same sample samples sat saturday save saved saving sbatch sbin sbrk scan scanning \
    scene scheduler scratch script scripts search searching sec secondary secs section sections see segment \
    segmentation segments select self send sender sending sep september sequential serial server servers service \
    services sess session sessions set setting settings severe sh shall shard shards shared she shell shm should \
    sigabrt sigbus sigkill signal sigsegv sigterm simulate simulating simulation singularity size sizeof sizes slab \
    slave sleep slf4j slogan slurm_script slurmstepd small smaller so socket software solve solver solving some \
    sometimes sort \
    sorting source sources spid split splits splitting spring sql sqlstate src srun stack stacktrace stage staging \
    start started starting state statement static statistics stats status std stderr stdin stdlib stdout step steps \
    still stop stopped stopping storage stream streams string strings studio subject subroutine succeeded success \
    successful such sudo sum summary sun sunday super swap swapfile swapping sync sys system system_error \
    systemerror table tables tag task tasks tb tcp tcsh temp template tensor tensors terminal terminate terminated \
    terminating termination test testing tests text texture textures than that the their then there therefore these \
    they this those thread threaded threads threshold through throw throwing thrown thu thursday tib tid tile tiles \
    time timeout timer times timestamp tip title tmp to toml too tool tools total totals trace traceback train \
    trainer training trainval transaction trc tree trees tried true try trying ts tty tue tuesday tutorial type \
    types ubuntu udp ulimit unable uncaught under unexpected unexpectedly unhandled unittest university unix unknown \
    unnamed until untitled update upload uploading upon url usage use used user users uses using usr usually utc \
    util utils valid validate value valueerror values var vector vectors verbose version versions very video virtual \
    vm vmem void voxel vram vrb vulkan wait waiting wanted warn warning warnings was we web website wed wednesday \
    weight weights were what when while why will windows wine with within without work workdir worker workers works \
    workspace workstation would wrapper write writer writes writing written wrn x64 x86 x86_64 xml yaml yes you your \
    zsh";

static STOPS: LazyLock<BTreeSet<&str>> = LazyLock::new(|| NO_NAMES.split_ascii_whitespace().collect());

/// True for a word that names a role, a level or a part of any program.
pub(super) fn is_common(word: &str) -> bool {
    STOPS.contains(word.to_ascii_lowercase().as_str())
}

/// Words of a sentence that begin lines, stand before colons and are written large in headings. Where a command or a
/// file is named they may be a program's; in prose they are what they say.
const PROSE: &str = "\
    absent absolute accept acceptable access account achieved act action actions activity actual adapt added adding \
    adjust admin advance advice advise affected allow allowed amount analyse analyze announce appears append apply \
    approach approx archive area arrival article ask asked aspect assembled assert assign assume attach attempt \
    attempts attention avoid aware axis balance barrier basic beware bind bottom bound brief bring broadcast browser \
    calculate cancel candidate capacity capture care career carry case cases center central certain chain change \
    changed changes chapter choice choose chosen circuit cleanup clear click collect color come comment compare \
    component compress concurrent condition confirm conflict connect consequence consult contact continue contract \
    control convert correct cost costs couple course cover credit cross customer cycle damage deal debt decide \
    decrease deep degree delay delta depth describe design destroy detect deviation diagnosis difference digest \
    digits dimension direct disable disabled discard discover disk display distance document domain drop dropped \
    duplicate duration earlier early easy edge edges edit effect effort either eligible email emit enable enabled \
    enforce enter entire equal erase escape estimate estimated exact except exchange exclude expand expect expected \
    experiment explicit extend extra extract faces fact factor far fast feature features feed feedback figure fill \
    fit fix fixed fixing flow flush focus follow force forecast form formula forward fraction fresh friend front \
    further future gain gather general generate genome give given goal great green ground group groups grow growth \
    hand hang hard health heavy height high history hold hour hours idea identify ignore ignored impossible include \
    increment inform initial inner inside inspect instead intent interval introduction invoke isolated joined keep \
    kind know label labels land language latency latest launch lead learn leave left length less life lift light \
    link links live loads locate lock locked locks long look lookup loop lost low lower magic mail major margin mark \
    marks mask mass mean measure measured meet member members mention menu minor minute minutes mirror miss missing \
    mix mixed moment month motion mount move moved much multiple native nature near nearly negative neighbor \
    neighbour neither nothing notify numeric obtain occur offset older once operator order ordered origin original \
    outer outside owner pair panel paper parent parity partial partition pass passed past pattern patterns pause \
    payload pending people percent perform period permission phase phases photo pick place plain plan plane play \
    player point points poll position positive post power precision prefer prefix prepare prepared press pressure \
    prevent price principal priority problem problems proceed produce product profile profiles promise proof \
    property protect protein prove provide purge purpose quality quantity quick quiet quit quote radius range rate \
    rates ratio raw reach reached reasons rebuild recall recent recipe recommend recommended recover recovery red \
    redo refer refuse refused register reject rejected relation relative reload rely remain remark remedy remember \
    rename repair repeat replace replay reply represent rescue research reset resize resolve respond response rest \
    restrict resume retain retried reveal reverse review revise right role roll rollback rounds route rule rules \
    safe sale scale score scores screen seal season seats second seconds security seed seek seems selected sense \
    sequence series serious shape share sheet shift ship short show shown shut side sign significant similar simple \
    single site situation skip skipped slot slots slow slower snapshot solution solutions sorry sound space spaces \
    spare speak special speed spend spill stable stand standard starve stay steady store story strategy strength \
    strict strong style submit subset suffix suggest suggested suggestion suitable suite sure surface suspect \
    suspend suspended symbol tail take taken talk target targets team tell term terms thank think ticket tight today \
    top topic touch track traffic transfer transform translate treat trial trigger trim trouble truncate trust turn \
    twice unit units unlimited unlock unsupported usual utility variable variables variant vary vertex vertices via \
    victim view views visit volume volumes walk wall war wave week whether whole wide width window wish won word \
    words workaround world worse worst worth wrong year yellow zero zone \
    booted brought built came caught child children crossing cut deferred denied determine differs dying edition ended \
    enough ensure equals evicted fallback fell finally flushed forced formed freed full gave gone got grew halted held \
    hit joined kept lacks launched led linked lists locked lots made marked matched merged met minus nested nonzero \
    obtained opened outlier overall owned parsed passes paused pinned placed plus polled popped posted pruned pulled \
    pushed ran recovered reduced released removed renamed reopened repeated replaced resized resolved restored resumed \
    reused rose said sent served shrunk signaled slept sorted spawned spent spilled stalled stays stuck sums swapped \
    switched synced tells threw ticks told tracked tripped turned typed unset unused updated verified walked wants \
    wasted went woke wrote das dem den der des die ein eine el il la las le les lo los nous un une und vous";

static SENTENCES: LazyLock<BTreeSet<&str>> = LazyLock::new(|| PROSE.split_ascii_whitespace().collect());

/// True for a word of English prose: one of its commonest, or one that has the ending of an action, a quality or a
/// participle. Programs named so are few, and show by their command.
pub(super) fn is_prose(word: &str) -> bool {
    const ENDINGS: &[&str] = &["ing", "tion", "tions", "sion", "ment", "ments", "ness", "ally", "ated", "ized", "ised"];
    let word = word.to_ascii_lowercase();
    let ends = word.len() >= 7 && ENDINGS.iter().any(|ending| word.ends_with(ending));
    let letters = word.bytes().all(|byte| byte.is_ascii_alphabetic());
    letters && ends
        || SENTENCES.contains(word.as_str())
        || word
            .split_once('-')
            .is_some_and(|(a, b)| [a, b].iter().all(|part| is_common(part) || SENTENCES.contains(part)))
}

/// True for one of many machines, devices or workers, by the number behind its last dash: `data-hot-1`, `gpu-b17`.
pub(super) fn is_numbered(name: &str) -> bool {
    name.rsplit_once('-').is_some_and(|(lead, last)| {
        let digits = last.trim_start_matches(|c: char| c.is_ascii_alphabetic());
        let letters = last.len() - digits.len();
        !lead.is_empty() && letters <= 1 && !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
    })
}

/// Endings of files that hold code or data: a word with one is a file's name.
const ENDINGS: &[&str] = &[
    ".py",
    ".c",
    ".cc",
    ".cpp",
    ".cxx",
    ".cu",
    ".cuh",
    ".h",
    ".hh",
    ".hpp",
    ".rs",
    ".go",
    ".java",
    ".scala",
    ".kt",
    ".js",
    ".ts",
    ".mjs",
    ".sh",
    ".log",
    ".txt",
    ".yaml",
    ".yml",
    ".json",
    ".toml",
    ".so",
    ".dll",
    ".jl",
    ".r",
    ".f",
    ".f90",
    ".f77",
    ".m",
    ".mm",
    ".cs",
    ".rb",
    ".pl",
    ".pm",
    ".php",
    ".lua",
    ".ipynb",
    ".csv",
    ".tsv",
    ".gz",
    ".zip",
    ".tar",
    ".bam",
    ".sam",
    ".fastq",
    ".fasta",
    ".fa",
    ".fq",
    ".vcf",
    ".bed",
    ".h5",
    ".hdf5",
    ".npy",
    ".npz",
    ".pt",
    ".pth",
    ".onnx",
    ".bin",
    ".dat",
    ".data",
    ".out",
    ".err",
    ".inp",
    ".in",
    ".cfg",
    ".conf",
    ".ini",
    ".xml",
    ".html",
    ".md",
    ".png",
    ".jpg",
    ".jpeg",
    ".tif",
    ".tiff",
    ".exr",
    ".obj",
    ".ply",
    ".mp4",
    ".wav",
    ".gguf",
    ".safetensors",
    ".ckpt",
    ".com",
    ".org",
    ".net",
    ".edu",
    ".io",
    ".local",
    ".internal",
    ".lan",
    ".pdb",
    ".cif",
    ".gro",
    ".tpr",
    ".mdp",
    ".nc",
];

pub(super) fn is_file(word: &str) -> bool {
    let lower = word.to_ascii_lowercase();
    ENDINGS.iter().any(|ending| lower.len() > ending.len() && lower.ends_with(ending))
}

/// A name that could be a program's, in the spelling of the list.
pub(super) fn named(word: &str) -> Option<Program> {
    // `Étape`: a letter of another script is no mark around a name.
    let trimmed = word.trim_matches(|c: char| !c.is_alphanumeric());
    let word = word.trim_matches(|c: char| !c.is_ascii_alphanumeric());
    if trimmed.len() > word.len() && word.is_ascii() {
        return None;
    }
    let letters = word.bytes().filter(u8::is_ascii_alphabetic).count();
    let dots = word.contains("..");
    // `LogRender:` is a category of a log.
    let category = word.strip_prefix("Log").is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_uppercase()));
    let plain = !dots
        && !category
        && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'+'));
    if letters < 2 || word.len() > 32 || !plain || !word.starts_with(|c: char| c.is_ascii_alphabetic()) {
        return None;
    }
    let lower = word.to_ascii_lowercase();
    // Hexadecimal, and words that name a role, a level, a part of any program.
    // `conn41`, `ORA-04030`: one of many, and a code.
    let stem = lower.trim_end_matches(|c: char| c.is_ascii_digit()).trim_end_matches(['-', '_']);
    let code = word.len() - stem.len() > 3 && word[..stem.len()].bytes().all(|byte| byte.is_ascii_uppercase());
    if stem.len() < lower.len() && is_common(stem) || code && word.contains('-') {
        return None;
    }
    let hexadecimal = lower.bytes().all(|byte| byte.is_ascii_hexdigit()) && letters < lower.len();
    if is_common_class(word) {
        return None;
    }
    if hexadecimal || is_common(&lower) || is_file(&lower) || lower.split(['-', '_', '.']).all(is_common_or_number) {
        return None;
    }
    let known = |name: &str| Program::named(name).filter(|program| !matches!(program, Program::Unlisted(_)));
    known(&lower).or_else(|| known(&lower.replace('_', "-"))).or_else(|| Program::named(&lower))
}

/// A name of a letter and a digit, `z3`, where what stands there can be a name only.
pub(super) fn tiny(word: &str) -> Option<Program> {
    let (letter, digit) = word.split_at_checked(1)?;
    let plain = letter.bytes().all(|byte| byte.is_ascii_alphabetic()) && digit.len() == 1;
    Program::named(word).filter(|_| plain && digit.bytes().all(|byte| byte.is_ascii_digit()))
}

/// The words of a name in camel case.
pub(super) fn camel_words(name: &str) -> impl Iterator<Item = &str> {
    let starts = |at: &usize| *at == 0 || name.as_bytes().get(*at).is_some_and(u8::is_ascii_uppercase);
    let starts: Vec<usize> = (0..name.len()).filter(starts).chain([name.len()]).collect();
    let words: Vec<&str> = starts.windows(2).filter_map(|pair| name.get(pair[0]..pair[1])).collect();
    words.into_iter()
}

/// `MemoryFile`, `BufferPool`: a class that any program may have, and no known program.
fn is_common_class(word: &str) -> bool {
    const CLASSES: &[&str] = &[
        "Msg",
        "Err",
        "File",
        "Pool",
        "Manager",
        "Thread",
        "Allocator",
        "Buffer",
        "Map",
        "Cache",
        "Loader",
        "Handler",
        "Factory",
        "Builder",
        "Context",
        "Impl",
        "List",
        "Table",
        "Queue",
        "Heap",
        "Store",
        "Reader",
        "Writer",
        "Executor",
        "Scheduler",
        "Dispatcher",
        "Provider",
        "Set",
        "Array",
        "Vector",
        "Stream",
        "Device",
        "Block",
        "Chunk",
    ];
    let common = |part: &str| is_common(part) || SENTENCES.contains(part.to_ascii_lowercase().as_str());
    let mut words = camel_words(word).peekable();
    let several = words.peek().is_some_and(|first| first.len() < word.len());
    is_capitalised(word)
        && several
        && CLASSES.iter().any(|end| word.ends_with(end))
        && words.all(|part| part.len() >= 2 && common(part))
        && !super::known::is_known(&word.to_ascii_lowercase())
}

/// `grid5.4`: without the release that a language puts behind its interpreter's name.
pub(super) fn without_release(name: &str) -> &str {
    let stem = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    let release = &name[stem.len()..];
    let released = release.split('.').all(|part| !part.is_empty()) && release.contains('.');
    let letters = stem.len() >= 2 && stem.bytes().all(|byte| byte.is_ascii_alphabetic());
    if released && letters { stem } else { name }
}

fn is_common_or_number(word: &str) -> bool {
    word.is_empty() || word.bytes().all(|byte| byte.is_ascii_digit()) || is_common(word)
}

/// What a build of a program adds to its name: the device, the precision, the way it is linked.
const BUILDS: &[&str] = &[
    "cuda", "gpu", "mpi", "omp", "openmp", "hip", "rocm", "opencl", "vulkan", "cpu", "avx", "avx2", "avx512", "sse",
    "sse2", "sse4", "exe", "x", "bin", "linux", "linux64", "x86", "x64", "64", "static", "mt", "serial", "release",
    "debug", "main", "base", "single", "double", "sp", "dp", "smp", "jar", "real", "wrapped", "core", "master",
    "latest", "opt", "prof", "dbg",
];

/// True for the toolkit with which one of a program's clients draws, and its release: `gtk3.22`,
/// `qt5`.
fn is_toolkit(word: &str) -> bool {
    let name = word.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    matches!(name, "gtk" | "qt" | "x11" | "sdl" | "tty" | "curses" | "wayland")
}

/// True for the name of a listed program.
pub(super) fn is_listed(name: &str) -> bool {
    named(name).is_some_and(|program| !matches!(program, Program::Unlisted(_)))
}

/// What a program of several executables adds to its name.
const PARTS: &[&str] = &["server", "client", "cli", "daemon", "service", "worker", "runner", "shell"];

/// The name of an executable: its file's, without the folder, the version and what tells one build from another.
pub(super) fn executable(path: &str) -> Option<Program> {
    let file = path.trim_end_matches([':', ',', ')', '\'', '"', '`']).rsplit(['/', '\\']).next()?;
    const KINDS: &[&str] = &[".exe", ".jar", ".service"];
    let file = KINDS.iter().find_map(|kind| file.strip_suffix(kind)).unwrap_or(file);
    let mut name = unversioned(without_release(file));
    // `grid-85.jar`
    if path.contains(".jar")
        && let Some((stem, number)) = name.rsplit_once('-')
        && number.bytes().all(|byte| byte.is_ascii_digit())
    {
        name = stem;
    }
    // `grid-server`, `grid-cli`: a part of `grid`, unless it is listed by itself.
    if !is_listed(name)
        && let Some((stem, _)) = name.rsplit_once(['-', '_']).filter(|(_, part)| PARTS.contains(part))
        && named(stem).is_some()
    {
        name = stem;
    }
    if let Some((stem, _)) = name.rsplit_once('-').filter(|(stem, toolkit)| stem.len() >= 3 && is_toolkit(toolkit)) {
        name = stem;
    }
    while let Some((stem, build)) = name.rsplit_once(['-', '_', '.'])
        && stem.len() >= 2
        && BUILDS.contains(&build.to_ascii_lowercase().as_str())
    {
        name = unversioned(stem);
    }
    // `x264`: a letter and digits are a name where an executable stands.
    let short = name.len() >= 3 && name.bytes().filter(u8::is_ascii_alphabetic).count() == 1;
    named(name).or_else(|| Program::named(name).filter(|_| short && name.starts_with(|c: char| c.is_ascii_lowercase())))
}

/// An executable that is called by common words, `./solver`, `./build_index`, where those tell one from another.
pub(super) fn commonplace(file: &str) -> Option<Program> {
    const ANY: &[&str] = &[
        "main",
        "run",
        "test",
        "tests",
        "train",
        "app",
        "start",
        "launch",
        "program",
        "exe",
        "bin",
        "out",
        "demo",
        "example",
        "build",
        "bench",
        "benchmark",
        "setup",
        "install",
        "configure",
        "prog",
        "script",
        "job",
    ];
    let name = unversioned(file);
    let mut parts = name.split(['_', '-']);
    let plain = name.len() >= 4 && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'));
    let tells = parts.any(|part| !ANY.contains(&part) && part.bytes().any(|byte| byte.is_ascii_alphabetic()));
    Program::named(name).filter(|_| plain && tells && !is_file(file))
}

/// `solver-1.2.3` and `solver_v2`: without the version.
pub(super) fn unversioned(name: &str) -> &str {
    let mut marks = name.match_indices(['-', '_', '@']).filter(|(at, _)| *at > 0);
    let cut = marks.find(|(at, mark)| {
        let behind = &name[at + mark.len()..];
        let rest = behind.trim_start_matches(['v', 'V']);
        let number = rest.split(['-', '_']).next().unwrap_or_default();
        rest.starts_with(|c: char| c.is_ascii_digit()) && (number.contains('.') || rest.len() < behind.len())
    });
    cut.map_or(name, |(at, _)| &name[..at])
}

/// True for a word written as names are: capitals within or throughout, digits among letters.
pub(super) fn is_proper(word: &str) -> bool {
    let word = word.trim_matches(|c: char| !c.is_ascii_alphanumeric());
    let letters = word.bytes().filter(u8::is_ascii_alphabetic).count();
    let digits = word.bytes().filter(u8::is_ascii_digit).count();
    let starts = word.starts_with(|c: char| c.is_ascii_alphabetic());
    let inner = word.bytes().skip(1).any(|byte| byte.is_ascii_uppercase());
    starts && letters >= 2 && (inner || digits > 0 && digits < letters)
}

/// True for a word that begins with a capital.
pub(super) fn is_capitalised(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_uppercase())
}

/// True where the name tells which program it was: no language, interface, scheduler or killer.
pub(super) fn tells(program: Program) -> bool {
    !matches!(program.kind(), Kind::Runtime | Kind::Scheduler | Kind::OomKiller | Kind::GpuApi | Kind::Unnamed)
}
