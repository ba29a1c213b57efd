//! Inputs that nobody means to give: empty, binary, cut, endless, forbidden. None may panic, hang or take much memory.

// A test that cannot set up its input fails by panicking.
#![allow(clippy::unwrap_used)]

use crate::binary;
use crate::every_log::every_log;
use oomdoc::command::explain::{FileEvents, diagnose};
use oomdoc::incident::context::Given;
use rayon::prelude::*;
use std::panic::AssertUnwindSafe;

use binary::{grows_linearly, process};
use flate2::{Compression, write::GzEncoder};
use oomdoc::dialect::reader;
use oomdoc::input::{Document, Repair, Source};
use proptest::prelude::*;
use std::io::{self, Read, Write};
use std::process::{Command, Stdio};

const MESSAGE: &str =
    "RuntimeError: CUDA out of memory. Tried to allocate 1.25 GiB. GPU 0 has a total capacity of 23.64 GiB";

fn read_bytes(bytes: &[u8]) -> Document {
    reader().read_stream("test", Box::new(io::Cursor::new(bytes.to_vec()))).unwrap()
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn texts(document: &Document) -> Vec<&str> {
    document.lines.iter().map(|line| line.text.as_str()).collect()
}

fn line_of(document: &Document, text: &str) -> Option<u64> {
    document.lines.iter().find(|line| line.text.contains(text)).map(|line| line.number)
}

/// Text and bookkeeping that a document holds in memory.
fn held(document: &Document) -> usize {
    document.lines.iter().map(|line| line.text.capacity() + 64).sum()
}

/// Numbered training lines, a failure in the middle.
fn long_log(bytes: usize) -> (Vec<u8>, u64) {
    let mut log = Vec::with_capacity(bytes + 200);
    let (mut number, mut failure) = (0u64, 0u64);
    while log.len() < bytes {
        number += 1;
        if failure == 0 && log.len() > bytes / 2 {
            failure = number;
            writeln!(log, "{MESSAGE}").unwrap();
        } else {
            writeln!(log, "line {number} step loss=0.{} mem={} MiB", number % 977, 1000 + number / 50).unwrap();
        }
    }
    (log, failure)
}

#[test]
fn nothing_is_an_empty_document() {
    let document = read_bytes(b"");
    assert_eq!((document.line_count, document.lines.len(), document.bytes), (0, 0, 0));
}

#[test]
fn every_line_feed_counts_and_no_bare_carriage_return() {
    let document = read_bytes(b"a\r\nb\rc\n\nd");
    assert_eq!(texts(&document), ["a", "b", "c", "", "d"]);
    let numbers: Vec<u64> = document.lines.iter().map(|line| line.number).collect();
    assert_eq!((numbers, document.line_count), (vec![1, 2, 2, 3, 4], 4));
    assert_eq!(document.repairs, [Repair::CarriageReturns]);
    assert_eq!(read_bytes(b"\r\r\r").line_count, 1);
}

#[test]
fn only_nul_bytes_leave_an_empty_line() {
    let document = read_bytes(&[0; 5000]);
    assert_eq!(texts(&document), [""]);
    assert_eq!(document.repairs, [Repair::ControlBytes]);
}

#[test]
fn raw_device_index_that_is_a_line_end_keeps_its_message_together() {
    let document = read_bytes(b"first\nout of memory. GPU \n has a total capacity of 79.15 GiB\nlast");
    assert_eq!(texts(&document), ["first", "out of memory. GPU 10 has a total capacity of 79.15 GiB", "last"]);
    assert_eq!(document.lines[2].number, 4);
}

#[test]
fn unpacked_lines_share_the_number_of_their_line() {
    let document = read_bytes(b"start\n{\"m\": \"a\\nCUDA out of memory.\\nb\"}\nend\n");
    let numbers: Vec<u64> = document.lines.iter().map(|line| line.number).collect();
    assert_eq!(numbers, [1, 2, 2, 2, 3]);
    assert_eq!(document.position(2), Some(1));
    assert_eq!(document.position(3), Some(4));
    assert_eq!(document.repairs, [Repair::Escapes]);
}

#[test]
fn gzip_is_told_by_its_first_bytes_also_with_several_members() {
    let mut bytes = gzip(b"one\n");
    bytes.extend(gzip(MESSAGE.as_bytes()));
    let document = read_bytes(&bytes);
    assert_eq!(texts(&document), ["one", MESSAGE]);
    assert_eq!(document.repairs, [Repair::Gzip]);
    assert_eq!(document.bytes, bytes.len() as u64);
}

#[test]
fn truncated_gzip_is_read_as_far_as_it_goes() {
    let (log, _) = long_log(200_000);
    let bytes = gzip(&log);
    let document = read_bytes(&bytes[..bytes.len() / 2]);
    assert_eq!(document.repairs, [Repair::Gzip, Repair::GzipTruncated]);
    assert!(document.line_count > 100, "{}", document.line_count);
    assert_eq!(document.lines[0].text, "line 1 step loss=0.1 mem=1000 MiB");
}

#[test]
fn gzip_without_any_content_is_an_error_that_says_so() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("cut.log.gz");
    std::fs::write(&path, &gzip(MESSAGE.as_bytes())[..9]).unwrap();
    let error = reader().read(&Source::File(path.clone())).unwrap_err().to_string();
    assert!(error.contains("cut.log.gz") && error.contains("unpacked"), "{error}");
}

#[test]
fn missing_file_and_directory_are_errors_that_name_the_path() {
    let directory = tempfile::tempdir().unwrap();
    let error = reader().read(&Source::File(directory.path().to_path_buf())).unwrap_err().to_string();
    assert!(error.contains("is a directory") && error.contains(&*directory.path().to_string_lossy()), "{error}");
    let error = reader().read(&Source::File(directory.path().join("absent.log"))).unwrap_err().to_string();
    assert!(error.contains("no such file") && error.contains("absent.log"), "{error}");
}

#[cfg(unix)]
#[test]
fn unreadable_file_is_an_error_that_names_the_path() {
    use std::os::unix::fs::PermissionsExt;
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("secret.log");
    std::fs::write(&path, MESSAGE).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o000)).unwrap();
    // The administrator may read everything.
    if std::fs::read(&path).is_ok() {
        return;
    }
    let error = reader().read(&Source::File(path)).unwrap_err().to_string();
    assert!(error.contains("no permission") && error.contains("secret.log"), "{error}");
}

#[test]
fn large_log_keeps_head_failure_samples_and_tail_under_their_true_numbers() {
    let (log, failure) = long_log(8 << 20);
    let lines = log.iter().filter(|byte| **byte == b'\n').count() as u64;
    for bytes in [log.clone(), gzip(&log)] {
        let document = read_bytes(&bytes);
        assert_eq!(document.line_count, lines);
        assert!(document.repairs.contains(&Repair::Sampled) && !document.repairs.contains(&Repair::LongLines));
        assert_eq!(line_of(&document, "CUDA out of memory"), Some(failure));
        assert_eq!(document.lines[0].number, 1);
        assert_eq!(document.lines.last().map(|line| line.number), Some(lines));
        for line in document.lines.iter().filter(|line| line.number != failure) {
            let begins = format!("line {} step ", line.number);
            assert!(line.text.starts_with(&begins), "{} is {}", line.number, line.text);
        }
        // The traceback before a message, evenly spread samples for a fit over time.
        assert!((failure - 500..failure + 100).all(|number| document.position(number).is_some()));
        for tenth in 0..10 {
            let range = lines * tenth / 10..lines * (tenth + 1) / 10;
            assert!(document.lines.iter().filter(|line| range.contains(&line.number)).count() > 40, "{tenth}");
        }
        assert!(held(&document) < 8 << 20, "{}", held(&document));
    }
}

#[test]
fn large_utf16_and_gbk_logs_are_transcoded_as_they_stream() {
    let (log, failure) = long_log(6 << 20);
    let text = String::from_utf8(log).unwrap().replace("loss", "损失");
    let utf16: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let gbk = encoding_rs::GBK.encode(&text).0.into_owned();
    for (bytes, encoding) in [(utf16, "utf-16le"), (gbk, "gb18030")] {
        let document = read_bytes(&bytes);
        assert_eq!(document.encoding, encoding);
        assert_eq!(line_of(&document, "CUDA out of memory"), Some(failure));
        assert!(document.lines[1].text.contains("损失"));
        assert!(document.repairs.contains(&Repair::Sampled));
    }
}

#[test]
fn flood_of_failures_keeps_the_first_and_the_last() {
    let mut log = Vec::new();
    for number in 1..=300_000u32 {
        writeln!(log, "{number} Warning: CUDA out of memory, retrying").unwrap();
        if number == 300_000 {
            // No line end behind the last failure: its line is whole all the same.
            log.pop();
        }
        if number == 150_000 {
            writeln!(log, "{number} Killed process 77 (python)").unwrap();
        }
    }
    let document = read_bytes(&log);
    assert_eq!(document.lines[0].text, "1 Warning: CUDA out of memory, retrying");
    assert_eq!(document.lines.last().map(|line| line.number), Some(300_001));
    assert_eq!(document.repairs, [Repair::Sampled]);
    // A literal that is rare is not lost among frequent ones.
    assert_eq!(line_of(&document, "Killed process 77"), Some(150_001));
    assert!(held(&document) < 16 << 20, "{}", held(&document));
}

/// Yields one byte over and over, with some text in the middle.
struct Monotone {
    left: u64,
    middle: u64,
}

impl Read for Monotone {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = buffer.len().min(usize::try_from(self.left).unwrap_or(usize::MAX));
        buffer[..n].fill(b'x');
        let before = self.left;
        self.left -= n as u64;
        if before > self.middle && self.left <= self.middle && n > MESSAGE.len() {
            buffer[..MESSAGE.len()].copy_from_slice(MESSAGE.as_bytes());
        }
        Ok(n)
    }
}

#[test]
fn one_endless_line_is_cut_around_its_failure() {
    let size = 12 << 20;
    let document = reader().read_stream("test", Box::new(Monotone { left: size, middle: size / 2 })).unwrap();
    assert_eq!(document.line_count, 1);
    assert!(document.lines.iter().all(|line| line.number == 1));
    assert!(line_of(&document, MESSAGE).is_some());
    assert!(document.repairs.contains(&Repair::LongLines) && document.repairs.contains(&Repair::Sampled));
    assert!(held(&document) < 2 << 20, "{}", held(&document));
}

#[test]
fn gzip_bomb_takes_no_more_memory_than_any_large_input() {
    let bytes = gzip(&vec![b'\n'; 8 << 20]);
    assert!(bytes.len() < 1 << 20);
    let document = read_bytes(&bytes);
    assert_eq!(document.line_count, 8 << 20);
    assert!(held(&document) < 4 << 20, "{}", held(&document));
}

#[test]
fn progress_is_reported_up_to_the_end() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("long.log");
    let (log, _) = long_log(6 << 20);
    std::fs::write(&path, &log).unwrap();
    let mut last = (0, None);
    let mut ascending = true;
    reader()
        .read_with_progress(&Source::File(path), &mut |read, total| {
            ascending &= read >= last.0;
            last = (read, total);
        })
        .unwrap();
    assert!(ascending);
    assert_eq!(last, (log.len() as u64, Some(log.len() as u64)));
}

#[test]
fn binary_files_become_documents() {
    let pickle =
        b"\x80\x04\x95\x1a\x00\x00\x00\x00\x00\x00\x00}\x94(\x8c\x08segments\x94]\x94\x8c\x06traces\x94]\x94u.";
    let png = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x01\x00\x00\x00\x01\x00\x08\x06\x00\x00\x00";
    for bytes in [&pickle[..], &png[..]] {
        let document = read_bytes(bytes);
        assert!(document.repairs.contains(&Repair::ControlBytes));
        assert!(texts(&document).iter().all(|text| !text.contains(|c: char| c.is_control() && c != '\t')));
    }
}

#[test]
fn long_lines_of_nothing_but_escapes_take_linear_time() {
    // 200,000 of each of these took a minute while a search began anew at every escape.
    for (begin, repeated) in [
        ("", "\u{1b}]"),
        ("\"out of memory\\\"", "\\x\\xe4"),
        ("\"out of memory\\\"", "\\q"),
        ("\"out of memory\\\" C:", "\\n"),
        ("", "&gt"),
        ("", "^[["),
        ("", "> "),
        ("", "GPU \r"),
    ] {
        grows_linearly(&format!("{repeated:?}"), |n| {
            let text = format!("{begin}{}", repeated.repeat(n));
            assert!(ascending(&read_bytes(text.as_bytes())));
        });
    }
}

fn oomdoc() -> Command {
    let mut command = process();
    command.args(["explain", "--format", "json"]).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Peak resident memory of a live process in KiB.
#[cfg(target_os = "linux")]
fn peak_of(process: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    peak.trim().trim_end_matches(" kB").parse().unwrap()
}

#[cfg(target_os = "linux")]
#[test]
fn endless_line_through_a_pipe_takes_under_32_mib() {
    let mut child = oomdoc().arg("-").stdin(Stdio::piped()).spawn().unwrap();
    let mut pipe = child.stdin.take().unwrap();
    let piece = vec![b'x'; 1 << 20];
    for _ in 0..40 {
        pipe.write_all(&piece).unwrap();
    }
    pipe.write_all(MESSAGE.as_bytes()).unwrap();
    let peak = peak_of(child.id());
    drop(pipe);
    let output = child.wait_with_output().unwrap();
    assert!(peak > 1024 && peak < 32 << 10, "{peak} KiB");
    let report = String::from_utf8(output.stdout).unwrap();
    assert!(report.contains("\"long-lines\"") && report.contains("1.25 GiB"), "{report}");
}

#[test]
fn closed_output_is_no_failure_of_its_own() {
    let log = format!("{MESSAGE}\n").repeat(2000);
    let mut child = oomdoc().arg("-").stdin(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    child.stdin.take().unwrap().write_all(log.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(!String::from_utf8_lossy(&output.stderr).contains("panicked"));
    assert!(output.status.code().is_some_and(|code| code < 100), "{:?}", output.status);
}

#[test]
fn missing_file_is_named_on_standard_error() {
    let output = oomdoc().args(["--color", "never", "absent.log"]).output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && output.stdout.is_empty());
    assert!(error.contains("absent.log") && !error.contains("panicked"), "{error}");
}

fn ascending(document: &Document) -> bool {
    document.lines.windows(2).all(|pair| pair[0].number <= pair[1].number)
        && document.lines.iter().all(|line| (1..=document.line_count).contains(&line.number))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_become_ascending_lines(bytes in proptest::collection::vec(any::<u8>(), 0..4096)) {
        let document = read_bytes(&bytes);
        prop_assert!(ascending(&document));
        prop_assert_eq!(document.bytes, bytes.len() as u64);
    }

    #[test]
    fn any_pieces_of_real_text_become_ascending_lines(pieces in proptest::collection::vec(prop_oneof![
        Just("\r"), Just("\n"), Just("GPU \n has a total cap"), Just("\u{1b}["), Just("\u{1b}]0;"), Just("\\n"), Just("\\u4e2d"),
        Just("\\ud83d"), Just("\\x"), Just("CUDA out of memory"), Just("> "), Just("# "), Just("[rank3]:"), Just("[1,3]<stderr>"),
        Just("å†…å"), Just("显存"), Just("&gt;"), Just("&#x;"), Just("\""), Just("C:\\"), Just("3: "), Just("worker-3"), Just("\0"), Just("[0m"),
    ], 0..64)) {
        let text: String = pieces.concat();
        prop_assert!(ascending(&Document::from_text("test", &text)));
    }

    #[test]
    fn plain_ascii_text_is_kept(text in "[a-zA-Z0-9 .,=\n]{0,400}") {
        let document = Document::from_text("test", &text);
        let expected: Vec<&str> = text.split_terminator('\n').collect();
        // A last line of nothing but a line end is no line.
        prop_assert_eq!(texts(&document), expected);
    }
}

#[test]
fn small_files_that_unpack_to_much_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, bytes: &[u8]| {
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        path
    };
    // 60 MB of empty lists, which were 1.4 GB in memory; of nested arrays; of zeros.
    let lists = file("lists.pickle.gz", &gzip(&[&[0x80, 4][..], &vec![b']'; 60 << 20]].concat()));
    let blank = file("blank.json.gz", &gzip(&vec![b' '; 60 << 20]));
    let arrays = file("config.json.gz", &gzip(&b"[0],".repeat(15 << 20)));
    let cut = {
        let whole: String = (1..40u64).map(|batch| format!("{batch},{}\n", batch * (1 << 30))).collect();
        let packed = gzip(format!("batch,peak_bytes\n{whole}").as_bytes());
        file("peaks.csv.gz", &packed[..packed.len() * 2 / 3])
    };
    for (arguments, path, said) in [
        (&["replay"][..], &lists, "the pickle is damaged here"),
        (&["replay"], &blank, "unpack to more than 150 times"),
        (&["headroom", "--gpu", "T4", "--batch", "8", "--model"], &arrays, "larger than 8 MiB"),
        (&["headroom", "--gpu", "T4", "--rehearsal"], &arrays, "larger than 8 MiB"),
        (&["headroom", "--gpu", "T4", "--measurements"], &cut, "it ends early"),
    ] {
        let output = process().args(arguments).arg(path).output().unwrap();
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {error}");
        assert!(error.contains(said), "{arguments:?}: {error}");
    }
}

#[test]
#[cfg(unix)]
fn an_endless_device_comes_to_an_end() {
    let output = process().args(["explain", "/dev/zero"]).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(said.contains("/dev/zero is a device without an end: only the first 64 MiB were read"), "{said}");
    let ended = process().args(["explain", "/dev/null"]).output().unwrap();
    assert!(!String::from_utf8(ended.stdout).unwrap().contains("device"));
}

#[test]
fn what_a_terminal_would_obey_is_in_no_error() {
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("config.json");
    // Red, a write to the clipboard, text turned around.
    std::fs::write(&config, r#"{"model_type": "\u001b[31mred\u001b]52;c;YQ\u0007\u202egpj"}"#).unwrap();
    let trace = folder.path().join("\u{1b}]0;title\u{7}\u{2066}.trace");
    std::fs::write(&trace, "a 1 \u{1b}[2J\n").unwrap();
    for arguments in [
        vec!["headroom", "--gpu", "T4", "--batch", "8", "--model", config.to_str().unwrap()],
        vec!["simulate", "--capacity", "1GiB", trace.to_str().unwrap()],
        vec!["explain", folder.path().join("\u{1b}[31m\u{202e}.log").to_str().unwrap()],
    ] {
        let output = process().args(&arguments).output().unwrap();
        let error = String::from_utf8(output.stderr).unwrap();
        assert!(!error.is_empty() && !output.status.success(), "{arguments:?}");
        let obeyed = error.chars().find(|c| *c != '\n' && oomdoc::text::is_obeyed(*c));
        assert_eq!(obeyed, None, "{arguments:?}: {error:?}");
    }
}

/// The table of a machine with many processes stands between the beginning of a kernel's report and its victim: without
/// the line that begins it the victim was lost from 200 tasks on, and with it from 33,000 on.
#[test]
fn a_kernel_report_of_any_length_names_its_victim() {
    let asked = "[90.0] cron invoked oom-killer: gfp_mask=0x140cca(GFP_HIGHUSER_MOVABLE), order=0, oom_score_adj=0\n";
    let headed = "[90.0] Tasks state (memory values in pages):\n[90.0] [  pid  ]   uid  tgid total_vm      rss \
                  pgtables_bytes swapents oom_score_adj name\n";
    let killed = "[90.2] Out of memory: Killed process 1207 (ingest) total-vm:9437184kB, anon-rss:8388608kB, \
                  file-rss:0kB, shmem-rss:0kB, UID:0 pgtables:16500kB oom_score_adj:0\n";
    for tasks in [300u64, 3000, 40_000] {
        let rows: String = (1000..1000 + tasks)
            .map(|i| format!("[90.1] [{i:7}]  1000 {i:6}    90000   2048   65536 0 0 w\n"))
            .collect();
        let fronts = [asked.to_string(), headed.to_string(), String::new(), format!("{asked}{headed}")];
        for front in fronts.into_iter().take(if tasks > 33_000 { 1 } else { 4 }) {
            let log = format!("{front}{rows}{killed}");
            let lines = log.lines().count() as u64;
            let document = read_bytes(log.as_bytes());
            let events = oomdoc::dialect::events(&document);
            let case = format!("{tasks} tasks behind {front:?}");
            let [event] = events.as_slice() else { panic!("{case}: {events:?}") };
            assert_eq!(event.facts.pid.value(), Some(1207), "{case}");
            assert_eq!(event.facts.process_name.get().map(String::as_str), Some("ingest"), "{case}");
            assert_eq!(event.quoted_at, Some(lines), "{case}");
        }
    }
}

/// A blank of three bytes before the words split a character; every log is written so here, and with letters and marks of
/// several bytes. What is read matters to other tests, that all of it is read to this one.
#[test]
fn characters_of_several_bytes_are_nowhere_split() {
    let ways: [fn(&str) -> String; 4] = [
        |text| text.replace(' ', "\u{202f}"),
        |text| text.replace(':', "：").replace('(', "（").replace(',', "、"),
        |text| text.replace('e', "é").replace('o', "о"),
        |text| text.replace(['_', '-', '.', '/'], "·").replace('=', "＝"),
    ];
    let given = Given::default();
    let broken: Vec<String> = every_log()
        .par_iter()
        .enumerate()
        .filter_map(|(at, log)| {
            let text = ways[at % ways.len()](&log.text());
            let read = || {
                let document = Document::from_text("-", &text);
                diagnose(vec![FileEvents::of(&document, &given)], &given)
            };
            std::panic::catch_unwind(AssertUnwindSafe(read))
                .is_err()
                .then(|| format!("{} {}", at % ways.len(), log.name()))
        })
        .collect();
    assert!(broken.is_empty(), "{broken:#?}");
}
