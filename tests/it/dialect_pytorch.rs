//! PyTorch's messages: the figures to the byte, the versions that the wording proves, and what is no failure at all.

use oomdoc::dialect::{self, Event, Sign, Standing};
use oomdoc::input::{Document, Source};

/// The figures of an event as `name=bytes`, sorted; `name?` for one that is no size.
fn figures(event: &Event) -> Vec<String> {
    let facts = &event.facts;
    let mut all = super::figures::of(facts);
    all.extend(facts.unreadable.keys().map(|fact| format!("{}?", fact.id().trim_end_matches("_bytes"))));
    all.extend(facts.other_processes.iter().map(|p| format!("pid{}={}", p.pid, p.figure.bytes)));
    all.sort();
    all
}

fn versions(event: &Event) -> String {
    event.versions.map(|v| v.to_string()).unwrap_or_default()
}

fn read(name: &str) -> Vec<Event> {
    let path = format!("{}/fixtures/logs/pytorch/{name}.log", env!("CARGO_MANIFEST_DIR"));
    dialect::events(&dialect::reader().read(&Source::File(path.into())).expect("the fixture"))
}

/// One expected event of a fixture.
struct Case {
    log: &'static str,
    /// Position among the events of the log, and how many there are.
    nth: (usize, usize),
    slug: &'static str,
    lines: (u64, u64),
    figures: &'static str,
    versions: &'static str,
    signs: &'static [Sign],
}

const fn case(
    log: &'static str,
    slug: &'static str,
    lines: (u64, u64),
    figures: &'static str,
    versions: &'static str,
    signs: &'static [Sign],
) -> Case {
    Case { log, nth: (0, 1), slug, lines, figures, versions, signs }
}

const fn nth(nth: (usize, usize), case: Case) -> Case {
    Case { nth, ..case }
}

use Sign::*;

#[rustfmt::skip]
const FAILURES: &[Case] = &[
    case("runtime-error-2", "pytorch-cuda-runtime-error", (8, 8), "", "≤ 0.4", &[NoFigures]),
    case("cached", "pytorch-cached", (5, 5), "requested=118.00MiB device=1 capacity=10.92GiB allocated=9.17GiB free=77.44MiB cached=1.09GiB", "1.0 … 1.3", &[]),
    case("reserved", "pytorch-reserved-in-total", (5, 5), "requested=592.00MiB device=0 capacity=14.76GiB allocated=12.58GiB free=441.75MiB reserved=13.22GiB", "1.4 … 1.9", &[]),
    case("reserved-allowed", "pytorch-reserved-in-total", (1, 1), "requested=1.50GiB device=2 capacity=31.75GiB allocated=14.61GiB free=16.03GiB fraction_limit=15.87GiB reserved=15.02GiB", "1.8 … 1.9", &[]),
    case("reserved-hint", "pytorch-reserved-in-total", (1, 1), "requested=2.25GiB device=0 capacity=23.70GiB allocated=17.33GiB free=1.41GiB reserved=21.06GiB", "1.10 … 1.12", &[]),
    case("reserved-oom-class", "pytorch-reserved-in-total", (4, 4), "requested=20.00MiB device=0 capacity=12.00GiB allocated=10.87GiB free=0 reserved=11.13GiB", "1.13 … 2.0", &[MinimumSegment, Windows]),
    case("capacty-wrapped", "pytorch-capacty", (1, 8), "requested=386.00MiB device=3 capacity=39.39GiB free=171.56MiB process=39.21GiB allocated=34.73GiB reserved_unallocated=3.96GiB", "2.1", &[]),
    case("capacty-quoted-cut", "pytorch-capacty", (1, 1), "requested=64.00MiB device=0 capacity=7.75GiB free=43.19MiB", "2.1", &[Cut]),
    case("index-lost", "pytorch-of-which", (1, 1), "requested=7.12GiB", "2.3", &[Cut]),
    case("two-processes", "pytorch-of-which", (1, 1), "requested=514.00MiB device=5 capacity=47.53GiB free=310.12MiB pid81220=12.44GiB pid97411=6.30GiB process=28.49GiB allocated=26.90GiB reserved_unallocated=1.08GiB", "2.5 … 2.9", &[]),
    case("allowed", "pytorch-of-which", (1, 1), "requested=3.00GiB device=0 capacity=79.25GiB free=38.21GiB process=41.04GiB fraction_limit=39.62GiB allocated=37.75GiB reserved_unallocated=2.66GiB", "2.5 … 2.9", &[]),
    case("private-pools", "pytorch-of-which", (2, 2), "requested=96.00MiB device=1 capacity=23.55GiB free=58.69MiB process=23.49GiB allocated=22.71GiB private_pools=1.37GiB reserved_unallocated=214.50MiB", "2.5 … 2.9", &[]),
    case("caught-and-skipped", "pytorch-of-which", (1, 1), "requested=33.50GiB device=0 capacity=47.40GiB free=19.27GiB process=28.11GiB allocated=27.30GiB reserved_unallocated=402.91MiB", "≥ 2.11", &[CaughtAndContinued]),
    case("figures-swallowed", "pytorch-bare", (2, 2), "", "", &[NoFigures, CaughtAndContinued]),
    case("alloc-conf", "pytorch-of-which", (1, 1), "requested=2.00MiB device=0 capacity=11.63GiB free=1.06MiB process=11.62GiB allocated=11.21GiB reserved_unallocated=88.40MiB", "2.10", &[MinimumSegment]),
    case("preemptively-rejected", "pytorch-preemptively-rejected", (1, 1), "requested=5.50GiB", "≥ 2.12", &[RefusedByLimit]),
    case("expandable-enabled", "pytorch-of-which", (1, 1), "requested=1.75GiB device=0 capacity=31.36GiB free=902.31MiB process=30.47GiB allocated=29.88GiB reserved_unallocated=40.00MiB", "≥ 2.15", &[ExpandableSegmentsOn]),
    case("expandable-reserve", "pytorch-of-which", (1, 1), "requested=6.00GiB device=0 capacity=23.55GiB free=19.84GiB process=3.71GiB allocated=3.25GiB reserved_unallocated=28.00MiB", "≥ 2.15", &[ExpandableReserve, ExpandableSegmentsOn]),
    case("mempool", "pytorch-of-which", (1, 1), "requested=256.00MiB device=0 capacity=79.25GiB free=70.12GiB process=9.13GiB allocated=8.40GiB reserved_unallocated=16.00MiB", "≥ 2.15", &[CustomAllocator]),
    case("more-than-1eb", "pytorch-more-than-1eb", (2, 2), "", "1.9 … 1.12", &[AbsurdRequest]),
    case("underflow", "pytorch-of-which", (1, 1), "requested=160.00MiB device=0 capacity=8.00GiB free=0 process? allocated=7.12GiB reserved_unallocated=266.81MiB", "2.5 … 2.9", &[]),
    case("malloc-async", "pytorch-malloc-async", (1, 7), "requested=768.00MiB device=0 capacity=15.77GiB allocated=13.31GiB free=512.44MiB", "≥ 2.5", &[AsyncBackend]),
    case("malloc-async-limit", "pytorch-malloc-async", (1, 7), "requested=1.25GiB device=1 capacity=23.65GiB allocated=11.80GiB free=10.97GiB fraction_limit=11.82GiB", "≥ 2.5", &[AsyncBackend]),
    nth((0, 2), case("malloc-async-cut", "pytorch-malloc-async", (1, 1), "", "2.3 … 2.9", &[NoFigures, Cut, AsyncBackend])),
    nth((1, 2), case("malloc-async-cut", "pytorch-malloc-async", (5, 5), "", "2.5 … 2.9", &[NoFigures, Cut, AsyncBackend])),
    case("mps-gb", "pytorch-mps", (1, 1), "requested=1.00GiB allocated=15.38GiB other_allocations=2.06GiB limit=18.13GiB fraction_limit=18.13GiB", "≤ 2.7", &[Mps]),
    case("mps-gib-torn", "pytorch-mps", (1, 3), "requested=512.00MiB allocated=26.04GiB other_allocations=900.50MiB limit=27.20GiB fraction_limit=27.20GiB", "≥ 2.8", &[Mps]),
    case("mps-elided", "pytorch-mps", (1, 1), "allocated=9.87GiB limit=10.00GiB fraction_limit=10.00GiB", "≥ 2.8", &[Cut, Mps]),
    case("mps-buffer-size", "pytorch-mps-buffer-size", (3, 3), "requested=38.44GiB", "", &[Mps, BufferSizeLimit]),
    case("xpu", "pytorch-xpu", (1, 1), "requested=4.50GiB device=0 capacity=15.91GiB allocated=12.30GiB reserved_unallocated=311.07MiB", "", &[Xpu]),
    case("xpu-of-which", "pytorch-xpu", (1, 1), "requested=1.00GiB device=1 capacity=11.33GiB free=640.25MiB fraction_limit=10.20GiB allocated=9.73GiB reserved_unallocated=121.00MiB", "", &[Xpu]),
    case("npu", "pytorch-npu", (1, 1), "requested=1.31GiB device=4 capacity=60.97GiB allocated=55.20GiB current_active=55.20GiB free=1.02GiB reserved=58.33GiB", "", &[Npu]),
    case("npu-elided", "pytorch-npu", (1, 1), "requested=640.00MiB device=1 capacity=29.50GiB allocated=27.75GiB free=288.10MiB", "", &[Cut, Npu]),
    case("hip", "pytorch-of-which", (1, 1), "requested=750.00MiB device=0 capacity=23.98GiB free=522.00MiB allocated=22.40GiB private_pools=64.00MiB reserved_unallocated=419.30MiB", "≥ 2.5", &[Hip]),
    case("hip-cut", "pytorch-of-which", (1, 2), "requested=11.25GiB device=2 capacity=63.98GiB", "2.2 … 2.4", &[Cut, Hip]),
    case("cuda-error", "pytorch-cuda-error", (3, 7), "", "2.9 … 2.12", &[NoFigures, Disguised, Asynchronous]),
    case("cuda-error-old", "pytorch-cuda-error", (1, 4), "", "2.0 … 2.3", &[NoFigures, Disguised, Asynchronous]),
    case("driver-error", "pytorch-driver-error", (1, 1), "", "", &[NoFigures, Disguised]),
    case("cublas", "pytorch-cublas", (3, 3), "", "", &[NoFigures, Disguised, ContextCreation, ForeignLibrary, Cublas]),
    case("cudnn", "pytorch-cudnn", (1, 1), "", "", &[NoFigures, Disguised, ForeignLibrary, Cudnn]),
    case("nccl-unhandled", "pytorch-nccl", (1, 4), "", "", &[NoFigures, Disguised, ForeignLibrary, Nccl]),
    case("nccl-calloc", "pytorch-nccl", (1, 1), "requested=10485760 device=5", "", &[Disguised, ForeignLibrary, Nccl]),
    case("nvml-assert", "pytorch-nvml-assert", (1, 1), "", "2.1 … 2.13", &[NoFigures, Disguised]),
    case("nvml-missing", "pytorch-nvml-missing", (1, 1), "", "2.1", &[NoFigures, Disguised]),
    case("expandable-assert", "pytorch-expandable-assert", (1, 1), "", "2.1 … 2.4", &[NoFigures, ExpandableSegmentsOn, Disguised]),
    case("foreign-library", "cuda-driver", (1, 1), "", "", &[NoFigures, Disguised, ForeignLibrary]),
    case("writeup-en", "pytorch-of-which", (6, 7), "requested=1.86GiB device=0 capacity=31.73GiB free=1.22GiB process=30.51GiB allocated=22.94GiB reserved_unallocated=7.10GiB", "≥ 2.2", &[Cut]),
    case("writeup-zh", "pytorch-of-which", (3, 4), "requested=520.00MiB device=1 capacity=23.69GiB free=332.06MiB allocated=21.35GiB reserved_unallocated=1.46GiB", "≥ 2.2", &[Cut]),
    nth((0, 2), case("two-ranks", "pytorch-of-which", (1, 3), "requested=220.00MiB device=1 capacity=39.49GiB free=150.75MiB", "≥ 2.5", &[Cut])),
    nth((1, 2), case("two-ranks", "pytorch-of-which", (2, 4), "requested=224.00MiB device=0 capacity=39.49GiB free=108.00MiB", "≥ 2.5", &[Cut])),
];

#[test]
fn every_fixture_is_read_to_the_byte() {
    let mut wrong = Vec::new();
    for case in FAILURES {
        let events = read(case.log);
        let failures: Vec<&Event> = events.iter().filter(|event| event.standing == Standing::Failure).collect();
        let (nth, count) = case.nth;
        let Some(event) = failures.get(nth).filter(|_| failures.len() == count) else {
            wrong.push(format!("{}: {} failures instead of {count}", case.log, failures.len()));
            continue;
        };
        let mut signs = case.signs.to_vec();
        signs.sort();
        let got = (
            event.wording(),
            (event.at.first, event.at.last),
            figures(event),
            versions(event),
            event.signs.keys().copied().collect::<Vec<_>>(),
        );
        let want = (case.slug, case.lines, super::figures::expected(case.figures), case.versions.to_string(), signs);
        if got != want {
            wrong.push(format!("{} [{nth}]:\n    got  {got:?}\n    want {want:?}", case.log));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn what_only_sounds_like_it_is_harmless_or_nothing() {
    for (log, slugs) in [
        ("not-a-failure", &["pytorch-tiled-retry", "pytorch-mapping-warning", "pytorch-cpu-fallback"] as &[&str]),
        ("other-cuda-errors", &["pytorch-device-assert", "cuda-illegal-access", "cuda-no-kernel-image"]),
        ("source-code", &[]),
    ] {
        let events = read(log);
        assert_eq!(events.iter().map(|event| event.wording()).collect::<Vec<_>>(), slugs, "{log}");
        assert!(events.iter().all(|e| e.standing == Standing::Harmless && e.harmless_because.is_some()), "{log}");
    }
    let echo = read("cublas-after-assert");
    let library = echo.iter().find(|event| event.wording() == "pytorch-cublas").unwrap();
    assert_eq!(library.standing, Standing::Harmless);
}

#[test]
fn figures_know_their_lines_and_the_message_reads_as_printed() {
    let events = read("capacty-wrapped");
    let facts = &events[0].facts;
    let line = |fact| facts.get(fact).map(|figure| (figure.at.first, figure.at.last));
    assert_eq!(line(dialect::Fact::Capacity), Some((2, 3)));
    assert_eq!(line(dialect::Fact::Process), Some((4, 4)));
    assert_eq!(line(dialect::Fact::Allocated), Some((4, 5)));
    let swallowed = &read("figures-swallowed")[0].message;
    assert_eq!(
        swallowed,
        "2024-03-07 21:40:55 | INFO | fold | Failed (CUDA out of memory) on target_032 of length 1288."
    );
    let bullets = &read("writeup-en")[0];
    assert_eq!(
        bullets.message,
        "CUDA out of memory. Tried to allocate 1.86 GiB. GPU 0 has a total capacity of 31.73 GiB"
    );
    let ranks = read("two-ranks");
    assert_eq!(ranks.iter().map(|event| event.rank).collect::<Vec<_>>(), [Some(1), Some(0)]);
}

/// What the allocator of one release prints, composed as its source does.
struct Release {
    version: (u16, u16),
    /// The versions that the text of a plain message proves.
    proves: &'static str,
}

#[rustfmt::skip]
const RELEASES: [Release; 16] = [
    Release { version: (2, 0), proves: "1.10 … 2.0" },
    Release { version: (2, 1), proves: "2.1" },
    Release { version: (2, 2), proves: "2.2 … 2.9" },
    Release { version: (2, 3), proves: "2.2 … 2.9" },
    Release { version: (2, 4), proves: "2.2 … 2.9" },
    Release { version: (2, 5), proves: "2.2 … 2.9" },
    Release { version: (2, 6), proves: "2.2 … 2.9" },
    Release { version: (2, 7), proves: "2.2 … 2.9" },
    Release { version: (2, 8), proves: "2.2 … 2.9" },
    Release { version: (2, 9), proves: "2.2 … 2.9" },
    Release { version: (2, 10), proves: "2.10" },
    Release { version: (2, 11), proves: "≥ 2.11" },
    Release { version: (2, 12), proves: "≥ 2.11" },
    Release { version: (2, 13), proves: "≥ 2.11" },
    Release { version: (2, 14), proves: "≥ 2.11" },
    Release { version: (2, 15), proves: "≥ 2.11" },
];

/// What a message says, each as printed.
#[derive(Clone, Copy)]
struct Said {
    requested: &'static str,
    device: u8,
    capacity: &'static str,
    free: &'static str,
    process: Option<&'static str>,
    others: &'static [(u32, &'static str)],
    allowed: Option<&'static str>,
    allocated: &'static str,
    private: Option<&'static str>,
    reserved: &'static str,
    unallocated: &'static str,
    expandable: bool,
}

const PLAIN: Said = Said {
    requested: "640.00 MiB",
    device: 0,
    capacity: "10.75 GiB",
    free: "402.12 MiB",
    process: Some("10.36 GiB"),
    others: &[],
    allowed: None,
    allocated: "9.04 GiB",
    private: None,
    reserved: "9.93 GiB",
    unallocated: "911.36 MiB",
    expandable: false,
};

impl Release {
    fn message(&self, said: &Said) -> String {
        let Said { requested, device, capacity, free, allocated, reserved, unallocated, .. } = *said;
        if self.version == (2, 0) {
            let allowed = said.allowed.map(|a| format!("{a} allowed; ")).unwrap_or_default();
            return format!(
                "CUDA out of memory. Tried to allocate {requested} (GPU {device}; {capacity} total capacity; {allocated} already \
                 allocated; {free} free; {allowed}{reserved} reserved in total by PyTorch) If reserved memory is >> allocated memory \
                 try setting max_split_size_mb to avoid fragmentation.  See documentation for Memory Management and \
                 PYTORCH_CUDA_ALLOC_CONF"
            );
        }
        let index = if self.version == (2, 3) { char::from(device).to_string() } else { device.to_string() };
        let capacity_word = if self.version == (2, 1) { "capacty" } else { "capacity" };
        let mut processes = String::new();
        if let Some(process) = said.process {
            processes += &format!("Including non-PyTorch memory, this process has {process} memory in use. ");
        }
        for (pid, size) in said.others {
            processes += &format!("Process {pid} has {size} memory in use. ");
        }
        let allowed =
            said.allowed.filter(|_| self.version >= (2, 5)).map(|a| format!("{a} allowed; ")).unwrap_or_default();
        let private = said.private.filter(|_| self.version >= (2, 4));
        let private =
            private.map(|p| format!("with {p} allocated in private pools (e.g., CUDA Graphs), ")).unwrap_or_default();
        let hint = "If reserved but unallocated memory is large try setting ";
        let see = "to avoid fragmentation.  See documentation for Memory Management ";
        let tail = match self.version {
            (2, 15) if said.expandable => {
                " expandable_segments is enabled. If instead the process is running out of virtual address space (VSZ), \
                 expandable segments may be over-reserving VA (each segment reserves ~9/8 of device memory, times the number of \
                 streams); reduce it via PYTORCH_CUDA_ALLOC_CONF expandable_segments_reserve / \
                 expandable_segments_reserve_by_class."
                    .to_string()
            }
            (2, 14) if said.expandable => String::new(),
            (2, 1) => format!(" {hint}max_split_size_mb {see}and PYTORCH_CUDA_ALLOC_CONF"),
            (2, 2..=9) => format!(
                " {hint}PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True {see} \
                 (https://pytorch.org/docs/stable/notes/cuda.html#environment-variables)"
            ),
            (2, 10) => format!(
                " {hint}PYTORCH_ALLOC_CONF=expandable_segments:True {see} \
                 (https://pytorch.org/docs/stable/notes/cuda.html#environment-variables)"
            ),
            _ => format!(
                " {hint}PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True {see} \
                 (https://docs.pytorch.org/docs/stable/notes/cuda.html#optimizing-memory-usage-with-pytorch-cuda-alloc-conf)"
            ),
        };
        format!(
            "CUDA out of memory. Tried to allocate {requested}. GPU {index} has a total {capacity_word} of {capacity} of which \
             {free} is free. {processes}{allowed}Of the allocated memory {allocated} is allocated by PyTorch, {private}and \
             {unallocated} is reserved by PyTorch but unallocated.{tail}"
        )
    }

    /// The figures that this release prints of what was said.
    fn prints(&self, said: &Said) -> Vec<String> {
        let squeeze = |size: &str| size.replace(' ', "").replace("bytes", "");
        let mut fields = vec![
            format!("requested={}", squeeze(said.requested)),
            format!("device={}", said.device),
            format!("capacity={}", squeeze(said.capacity)),
            format!("free={}", squeeze(said.free)),
            format!("allocated={}", squeeze(said.allocated)),
        ];
        let old = self.version == (2, 0);
        if old {
            fields.push(format!("reserved={}", squeeze(said.reserved)));
        } else {
            fields.push(format!("reserved_unallocated={}", squeeze(said.unallocated)));
            fields.extend(said.process.map(|p| format!("process={}", squeeze(p))));
            fields.extend(said.others.iter().map(|(pid, size)| format!("pid{pid}={}", squeeze(size))));
        }
        if old || self.version >= (2, 5) {
            fields.extend(said.allowed.map(|a| format!("fraction_limit={}", squeeze(a))));
        }
        if self.version >= (2, 4) {
            fields.extend(said.private.map(|p| format!("private_pools={}", squeeze(p))));
        }
        super::figures::expected(&fields.join(" "))
    }
}

fn scenarios() -> Vec<Said> {
    vec![
        PLAIN,
        Said { requested: "2.00 MiB", free: "0 bytes", process: Some("10.75 GiB"), ..PLAIN },
        Said {
            device: 1,
            requested: "100.00 GiB",
            allocated: "0 bytes",
            reserved: "0 bytes",
            unallocated: "0 bytes",
            ..PLAIN
        },
        Said { others: &[(4711, "3.00 GiB"), (52, "512.00 MiB")], process: Some("6.88 GiB"), ..PLAIN },
        Said { process: None, others: &[(900_123, "10.36 GiB")], ..PLAIN },
        Said { process: None, ..PLAIN },
        Said { allowed: Some("5.38 GiB"), free: "5.07 GiB", process: Some("5.68 GiB"), ..PLAIN },
        Said { private: Some("1.25 GiB"), ..PLAIN },
        Said { expandable: true, unallocated: "12.00 MiB", reserved: "9.05 GiB", ..PLAIN },
    ]
}

fn only_event(text: &str) -> Event {
    let mut events = dialect::events(&Document::from_text("-", text));
    assert_eq!(events.len(), 1, "{text}");
    events.remove(0)
}

#[test]
fn sixteen_releases_are_read_to_the_byte() {
    for release in &RELEASES {
        for said in scenarios() {
            let text = release.message(&said);
            let event = only_event(&text);
            assert_eq!(figures(&event), release.prints(&said), "{text}");
            let v = event.versions.expect("a version range");
            assert!(v.from.is_none_or(|from| from <= release.version), "{:?} not in {v}: {text}", release.version);
            assert!(v.to.is_none_or(|to| to >= release.version), "{:?} not in {v}: {text}", release.version);
            assert!(!event.has(Sign::Cut), "{text}");
            assert_eq!(event.has(Sign::ExpandableSegmentsOn), said.expandable && release.version == (2, 15), "{text}");
        }
        assert_eq!(versions(&only_event(&release.message(&PLAIN))), release.proves, "{:?}", release.version);
    }
}

#[test]
fn tears_do_no_harm() {
    for release in &RELEASES {
        for said in scenarios() {
            let text = release.message(&said);
            for width in [33, 57, 80] {
                let torn: Vec<String> =
                    text.chars().collect::<Vec<_>>().chunks(width).map(|part| part.iter().collect()).collect();
                let torn = torn.join("\n");
                let event = only_event(&torn);
                assert_eq!(figures(&event), release.prints(&said), "{torn}");
            }
        }
    }
}

#[test]
fn a_message_cut_anywhere_yields_only_true_figures() {
    for release in &RELEASES {
        for said in scenarios() {
            let text = release.message(&said);
            let whole = release.prints(&said);
            for (cut, _) in text.char_indices().skip("CUDA out of memory.".len()).step_by(3) {
                let events = dialect::events(&Document::from_text("-", &text[..cut]));
                assert_eq!(events.len(), 1, "{}", &text[..cut]);
                for figure in figures(&events[0]) {
                    assert!(whole.contains(&figure), "{figure} from {:?}", &text[..cut]);
                }
            }
        }
    }
}

#[test]
fn raw_index_bytes_of_2_3_count_devices() {
    let release = &RELEASES[3];
    for device in [0, 1, 7, 9, 10, 14] {
        let event = only_event(&release.message(&Said { device, ..PLAIN }));
        assert_eq!(event.facts.device.value(), Some(u32::from(device)));
    }
}

/// Lines with the words but no figures: which of them are messages.
#[test]
fn mentions_are_told_from_messages() {
    for message in [
        "CUDA out of memory",
        "**CUDA out of memory.**",
        "RuntimeError: CUDA out of memory.",
        "[2024-05-02 10:00:11] worker 3 hit an exception: torch.OutOfMemoryError: CUDA out of memory.",
        "Training failed (CUDA out of memory)",
        "| WARNING: ran out of memory with exception: CUDA out of memory. Tried to allocate 1.00 GiB",
        "torch.cuda.OutOfMemoryError",
        "RuntimeError: CUDA error: out of memory",
        "RuntimeError: CUDA error: out of memory CUDA kernel errors might be asynchronously reported at some other API call",
        "{'status': \"error\", 'detail': OutOfMemoryError('CUDA out of memory. ')}",
    ] {
        let events = dialect::events(&Document::from_text("-", message));
        assert_eq!(events.len(), 1, "{message}");
        assert_eq!((events[0].program.id(), events[0].standing), ("pytorch", Standing::Failure), "{message}");
    }
    for mention in [
        "If you run into CUDA out of memory, lower the batch size.",
        "Use gradient checkpointing to avoid CUDA out of memory errors",
        "    if 'out of memory' in str(e):",
        "    raise RuntimeError(\"CUDA out of memory\")",
        "logger.error(\"CUDA out of memory\")",
        "    except torch.OutOfMemoryError:",
        "WARNING: larger windows may end in CUDA out of memory.",
        "from torch.cuda import OutOfMemoryError",
        "if (status == cudaErrorMemoryAllocation) {",
        "#   Memory cgroup out of memory is the kernel's",
        "Exception raised from malloc at ../c10/cuda/CUDACachingAllocator.cpp:578 (most recent call first):",
    ] {
        assert_eq!(dialect::events(&Document::from_text("-", mention)), [], "{mention}");
    }
}

#[test]
fn a_context_that_does_not_fit_is_told_by_its_frame() {
    let log = "  File \"site-packages/torch/cuda/__init__.py\", line 412, in _lazy_init\n    torch._C._cuda_init()\n\
               RuntimeError: CUDA error: out of memory\n";
    let event = only_event(log);
    assert!(event.has(Sign::ContextCreation) && event.at.first == 3, "{event:?}");
    assert!(!only_event("RuntimeError: CUDA error: out of memory").has(Sign::ContextCreation));
}

/// Pieces of messages in any order, as logs of many processes and careless copies have them.
const PIECES: [&str; 28] = [
    "CUDA out of memory. ",
    "Tried to allocate ",
    "1.00 GiB",
    "GPU 0 has a total capacity of ",
    " of which ",
    " is free.",
    "\n",
    "(GPU 1; ",
    "Process 5 has ",
    " memory in use",
    "MPS backend out of memory (MPS allocated: ",
    "max allowed: ",
    "Allocation on device ",
    "CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`",
    "显存不足：",
    "…",
    "\\\n",
    " reserved in total by PyTorch)",
    " total capacity;",
    "\u{0}",
    "Cuda failure 2 'out of memory'",
    "NVML_SUCCESS == ",
    "CUDACachingAllocator.cpp",
    " is reserved by PyTorch but unallocated",
    " allowed;",
    "99999999999999999999999999 GiB",
    "CUDA error: out of memory",
    "- Free: 3 GiB\n",
];

proptest::proptest! {
    #[test]
    fn any_jumble_is_read_without_harm(order in proptest::collection::vec(0..PIECES.len(), 0..60)) {
        let text: String = order.iter().map(|i| PIECES[*i]).collect();
        let document = Document::from_text("-", &text);
        let last = document.lines.last().map_or(0, |line| line.number);
        for event in dialect::events(&document) {
            proptest::prop_assert!(1 <= event.at.first && event.at.first <= event.at.last && event.at.last <= last);
            for figure in event.facts.sizes.values() {
                proptest::prop_assert!(figure.at.last <= last);
                proptest::prop_assert!([1 << 30, 3 << 30].contains(&figure.bytes), "{:?} in {:?}", figure, text);
            }
        }
    }
}
