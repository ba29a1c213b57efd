//! `oomdoc explain` as users and programs run it.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use crate::binary;

use binary::schema::Schema;
use binary::{MESSAGE, logs, oomdoc, outcome, process};
use rayon::prelude::*;
use serde_json::Value;
use std::io::Write;
use std::process::Stdio;
use unicode_width::UnicodeWidthStr;

fn json(arguments: &[&str], input: &str) -> (i32, Value) {
    let mut command = oomdoc();
    command.args(["explain", "--format", "json"]).args(arguments).write_stdin(input);
    let (code, out, _) = outcome(&mut command);
    (code, serde_json::from_str(&out).expect("JSON"))
}

#[test]
fn a_message_on_standard_input_is_explained() {
    let (code, report) = json(&[], MESSAGE);
    assert_eq!(code, 0);
    assert_eq!(report["input"]["source"], "-");
    let incident = &report["incidents"][0];
    assert_eq!(incident["primary"], true);
    assert_eq!(incident["framework"], "pytorch");
    assert_eq!(incident["facts"]["requested_bytes"], 2_684_354_560_u64);
    assert_eq!(incident["facts"]["device"], 1);
    assert!(incident["facts"].get("other_processes").is_none(), "absent where not printed");
    assert_eq!(incident["derived"]["short_of_free"]["low"].as_i64().map(|n| n > 0), Some(true));
}

#[test]
fn a_log_without_failure_exits_with_1_and_says_so() {
    let text = "epoch 1 loss 0.31\nepoch 2 loss 0.29\n";
    let (code, report) = json(&["-"], text);
    assert_eq!((code, report["incidents"].as_array().map(Vec::len)), (1, Some(0)));
    let (code, out, _) = outcome(oomdoc().args(["explain"]).write_stdin(text));
    assert_eq!(code, 1);
    assert!(out.contains("No out-of-memory failure found"), "{out}");
    let (_, out, _) = outcome(oomdoc().args(["explain", "--lang", "zh"]).write_stdin(text));
    assert!(out.contains("未发现内存不足故障"), "{out}");
}

#[test]
fn an_unreadable_file_exits_with_2_and_is_named() {
    let (code, out, err) = outcome(oomdoc().args(["explain", "no-such.log"]));
    assert_eq!((code, out.as_str()), (2, ""));
    assert!(err.starts_with("error: ") && err.contains("no-such.log"), "{err}");
    // The readable one is explained all the same.
    let log = &logs()[0];
    let (code, out, err) = outcome(oomdoc().args(["explain", "no-such.log"]).arg(log));
    assert_eq!(code, 2);
    assert!(!out.is_empty() && err.contains("no-such.log"));
}

#[test]
fn the_last_line_says_how_more_is_had_where_it_is_read() {
    for (asked, said) in [
        ("", "\n-v shows everything behind this"),
        ("module", ".text(verbose=True) shows everything behind this"),
        ("notebook", "%oomdoc -v shows everything behind this"),
        ("traceback", "oomdoc.install(verbose=True) shows everything behind this"),
        ("\u{1b}[31m", "\n-v shows everything behind this"),
    ] {
        let (_, out, _) = outcome(oomdoc().arg("explain").env("OOMDOC_ASKED", asked).write_stdin(MESSAGE));
        assert!(out.contains(said), "{asked:?}: {out}");
        let (_, all, _) = outcome(oomdoc().args(["explain", "-v"]).env("OOMDOC_ASKED", asked).write_stdin(MESSAGE));
        assert!(!all.contains("shows everything behind"), "{asked:?}: {all}");
    }
    let (_, page, _) = outcome(oomdoc().args(["explain", "--format", "html"]).write_stdin(MESSAGE));
    assert!(!page.contains("shows everything behind"), "nothing can be asked for on a page");
}

#[test]
fn an_empty_input_is_no_failure_and_gets_a_hint() {
    let (code, _, err) = outcome(oomdoc().args(["explain"]).write_stdin(""));
    assert_eq!(code, 1);
    assert!(err.contains("2>&1"), "{err}");
}

#[test]
fn several_files_make_one_report_with_one_primary_incident() {
    let folder = tempfile::tempdir().unwrap();
    let (a, b) = (folder.path().join("a.log"), folder.path().join("b.log"));
    std::fs::write(&a, MESSAGE).unwrap();
    std::fs::write(&b, format!("step 1\n{MESSAGE}\n")).unwrap();
    let (code, report) = json(&[a.to_str().unwrap(), b.to_str().unwrap()], "");
    assert_eq!(code, 0);
    let incidents = report["incidents"].as_array().unwrap();
    assert!(!incidents.is_empty());
    assert_eq!(incidents.iter().filter(|incident| incident["primary"] == true).count(), 1);
    assert_eq!(report["inputs"].as_array().map(Vec::len), Some(2));
}

#[test]
fn a_reader_that_leaves_early_does_not_change_the_exit_code() {
    for (text, expected) in [(MESSAGE, 0), ("all went well\n", 1)] {
        for format in ["terminal", "json", "markdown"] {
            let mut child = process()
                .args(["explain", "--format", format])
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .spawn()
                .unwrap();
            // Nobody listens any more before there is anything to say.
            drop(child.stdout.take());
            child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
            let output = child.wait_with_output().unwrap();
            assert_eq!(output.status.code(), Some(expected), "{format}");
            assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{format}");
        }
    }
}

#[test]
fn every_fixture_fits_its_screen_in_both_languages() {
    let wrong: Vec<String> = logs()
        .into_par_iter()
        .flat_map_iter(|log| {
            let mut wrong = Vec::new();
            for (lang, width, verbose) in
                [("en", 80, false), ("zh", 80, false), ("en", 80, true), ("zh", 60, true), ("en", 130, false)]
            {
                let mut command = oomdoc();
                command.args(["explain", "--lang", lang, "--width", &width.to_string(), "--height", "30"]).arg(&log);
                if verbose {
                    command.arg("--verbose");
                }
                let (_, out, err) = outcome(&mut command);
                let case = format!("{} {lang} {width} verbose={verbose}", log.display());
                if !err.is_empty() {
                    wrong.push(format!("{case}: {err}"));
                }
                if out.contains('\u{1b}') {
                    wrong.push(format!("{case}: colours in a pipe"));
                }
                for line in out.lines().filter(|line| line.width() > width) {
                    wrong.push(format!("{case}: {} columns: {line}", line.width()));
                }
                if !verbose && out.lines().count() > 30 {
                    wrong.push(format!("{case}: {} lines", out.lines().count()));
                }
            }
            wrong
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn english_reports_have_no_chinese_and_the_other_way_round() {
    let han = |text: &str| text.chars().filter(|c| ('\u{4e00}'..='\u{9fff}').contains(c)).count();
    let (_, en, _) = outcome(oomdoc().args(["explain", "-v", "--lang", "en"]).write_stdin(MESSAGE));
    assert_eq!(han(&en), 0, "{en}");
    let (_, zh, _) = outcome(oomdoc().args(["explain", "-v", "--lang", "zh"]).write_stdin(MESSAGE));
    assert!(han(&zh) > 50, "{zh}");
}

#[test]
fn colours_appear_only_when_asked_for_in_a_pipe() {
    let run = |arguments: &[&str]| outcome(oomdoc().arg("explain").args(arguments).write_stdin(MESSAGE)).1;
    assert!(!run(&[]).contains('\u{1b}'));
    assert!(!run(&["--color", "never"]).contains('\u{1b}'));
    assert!(run(&["--color", "always"]).contains('\u{1b}'));
}

#[test]
fn a_locale_without_unicode_gets_ascii() {
    let (_, out, _) = outcome(oomdoc().env("LC_ALL", "C").args(["explain", "-v"]).write_stdin(MESSAGE));
    let strange: String = out.chars().filter(|c| !c.is_ascii()).collect();
    assert_eq!(strange, "", "{out}");
}

#[test]
fn the_language_follows_the_flag_then_the_variable_then_the_locale() {
    let heading = |command: &mut assert_cmd::Command| {
        let (_, out, _) = outcome(command.arg("explain").write_stdin("fine\n"));
        if out.starts_with("No") { "en" } else { "zh" }
    };
    assert_eq!(heading(oomdoc().env("LANG", "zh_CN.UTF-8")), "zh");
    assert_eq!(heading(oomdoc().env("LANG", "zh_CN.UTF-8").env("LC_ALL", "en_GB.UTF-8")), "en");
    assert_eq!(heading(oomdoc().env("LANG", "zh_CN.UTF-8").env("OOMDOC_LANG", "en")), "en");
    let mut flagged = oomdoc();
    flagged.env("OOMDOC_LANG", "en");
    let (_, out, _) = outcome(flagged.args(["explain", "--lang", "zh"]).write_stdin("fine\n"));
    assert!(out.contains("未发现"));
}

#[test]
fn what_the_user_states_stands_in_the_context() {
    let (_, report) = json(&["--batch-size", "48", "--params", "7B", "--host-memory", "256GB"], MESSAGE);
    let context = &report["incidents"][0]["context"];
    assert_eq!(context["batch_size"], serde_json::json!({"value": 48, "given": true}));
    assert_eq!(context["parameters"]["value"], 7e9);
    assert_eq!(context["host_total_bytes"]["value"], 256_u64 << 30);
}

#[test]
fn markdown_has_the_account_as_a_table() {
    let (code, out, _) = outcome(oomdoc().args(["explain", "-f", "markdown"]).write_stdin(MESSAGE));
    assert_eq!(code, 0);
    assert!(out.contains("| --- | ---: | ---: |") && out.contains("24.18 GiB"), "{out}");
    assert_eq!(out.matches("```").count() % 2, 0);
}

/// A process that holds less than its allocator has reserved.
const CONTRADICTORY: &str = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 512.00 MiB. GPU 0 has a total \
capacity of 23.53 GiB of which 120.00 MiB is free. Process 4242 has 1.20 GiB memory in use. Including non-PyTorch memory, \
this process has 2.10 GiB memory in use. Of the allocated memory 20.00 GiB is allocated by PyTorch, and 1.50 GiB is reserved \
by PyTorch but unallocated.";

/// Settings that no fixture has.
const SETTINGS: &str = "PYTORCH_CUDA_ALLOC_CONF=max_split_size_mb:8
attn_implementation: sdpa
per_device_eval_batch_size: 4
torch_compile: true
fsdp: full_shard
persistent_workers=True
load_in_4bit: true
";

/// What `oomdoc run` writes, with everything that it can hold.
const RECORD: &str = r#"{"schema":"oomdoc.record/1","began":1000.0,"pid":10,"rank":0,"host":"node1","ram":8000000000,"devices":[[0,9000000000]]}
{"t":0.5,"j":100000000,"h":1000000000,"g":[{"i":0,"u":5000000000,"o":1000000000,"x":[[77,4000000000]]}]}
{"t":1.0,"j":200000000,"h":1000000000,"f":0.25,"p":[{"i":10,"u":9,"n":"python train.py","m":200000000}]}
{"t":1.4,"x":[{"pid":11,"name":"python train.py","rank":1,"own":100000000}]}
{"t":1.5,"end":{"code":137,"signal":9,"group_kills":1,"machine_kills":1}}
"#;

#[test]
fn every_fixture_conforms_to_the_schema() {
    let mut schema = Schema::of("explain");
    let mut wrong = Vec::new();
    let cases = logs().into_iter().map(|log| log.display().to_string());
    for case in cases {
        let (code, report) = json(&[&case, "--batch-size", "4"], "");
        schema.check(&report, &case);
        let incidents = report["incidents"].as_array().map_or(0, Vec::len);
        assert_eq!(code, i32::from(incidents == 0), "{case}");
        let primaries = report["incidents"].as_array().into_iter().flatten().filter(|i| i["primary"] == true).count();
        let died = report["incidents"].as_array().into_iter().flatten().filter(|i| i["survived"] != true).count();
        if primaries != died.min(1) {
            wrong.push(format!("{case}: {primaries} primary incidents"));
        }
        for incident in report["incidents"].as_array().into_iter().flatten() {
            let sum: f64 =
                incident["causes"].as_array().into_iter().flatten().filter_map(|c| c["confidence"].as_f64()).sum();
            if sum > 1.0 + 1e-9 {
                wrong.push(format!("{case}: confidence adds up to {sum}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    for (arguments, text) in [
        // Several files, several snapshots, one of another failure.
        (&["fixtures/logs/pytorch/snapshot-leak.log", "fixtures/logs/pytorch/snapshot-fragmentation.log"][..], ""),
        (&["-s", "fixtures/snapshots/fragmentation-expandable.pickle", "fixtures/logs/pytorch/snapshot-leak.log"], ""),
        (&["-s", "fixtures/snapshots/leak-oom.pickle", "fixtures/logs/pytorch/snapshot-leak.log"], ""),
        (
            &["-s", "fixtures/snapshots/fragmentation-oom.pickle", "fixtures/logs/pytorch/snapshot-fragmentation.log"],
            "",
        ),
        (&["-s", "fixtures/snapshots/gpt2-oom-backward.pickle.gz", "fixtures/logs/pytorch/snapshot-capacity.log"], ""),
        (
            &[
                "--workers",
                "24",
                "--processes",
                "4",
                "--sample-bytes",
                "64MiB",
                "--batch-size",
                "8",
                "--host-memory",
                "96GiB",
            ],
            "",
        ),
        (
            &[
                "--cache",
                "90GiB",
                "--workers",
                "4",
                "--sample-bytes",
                "64MiB",
                "--samples",
                "9000",
                "--host-memory",
                "96GiB",
            ],
            "",
        ),
        (&["--params", "7B", "--optimizer", "adamw", "--precision", "bf16"], MESSAGE),
        (&[], CONTRADICTORY),
        (&[], &format!("{SETTINGS}{MESSAGE}")),
    ] {
        schema.check(&json(arguments, text).1, &arguments.join(" "));
    }
    let folder = tempfile::tempdir().unwrap();
    for rank in 0..2 {
        std::fs::write(folder.path().join(format!("rank{rank}.log")), MESSAGE).unwrap();
    }
    schema.check(&json(&[folder.path().to_str().unwrap()], "").1, "a folder of ranks");
    std::fs::write(folder.path().join("rank0.record"), RECORD).unwrap();
    schema.check(&json(&[folder.path().join("rank0.record").to_str().unwrap()], "").1, "a record");
    schema.complete(&[
        ("Extra.*", "numbers of single programs; that a dialect writes each is tested in tests/house.rs"),
        ("known_*.given", "the command line takes counts, sizes and names alone"),
        ("Series.rank", "no log at hand has readings of several ranks"),
        ("Snapshot.taken_meanwhile_bytes", "in no record at hand did somebody take memory meanwhile"),
        ("Trial.why", "PyTorch refuses none of the settings that are tried"),
    ]);
}

#[test]
fn the_schema_check_finds_what_is_wrong() {
    let schema = Schema::of("explain");
    let (_, good) = json(&[], MESSAGE);
    let complaints = |report: &Value| schema.complaints(report);
    assert_eq!(complaints(&good), Vec::<String>::new());
    let mut renamed = good.clone();
    renamed["incidents"][0]["facts"]["requested"] = 1.into();
    assert_eq!(complaints(&renamed).len(), 1);
    let mut missing = good.clone();
    missing["incidents"][0].as_object_mut().unwrap().remove("resource");
    assert_eq!(complaints(&missing).len(), 1);
    let mut wrong_type = good;
    wrong_type["incidents"][0]["line"] = "12".into();
    assert!(!complaints(&wrong_type).is_empty());
}

/// `explain <(kubectl logs …)`: looking whether it is a snapshot or a record took the beginning of what can be read
/// once.
#[cfg(unix)]
#[test]
fn what_comes_through_a_pipe_with_a_name_is_read_whole() {
    let folder = tempfile::tempdir().unwrap();
    for (command, text, expected) in [
        (&["explain"][..], "RuntimeError: CUDA out of memory. Tried to allocate 2.00 GiB\n", "2.00 GiB asked for"),
        (&["simulate", "--capacity", "8GiB"], "a 1 1GiB\nf 1\n", "1.00 GiB"),
    ] {
        let pipe = folder.path().join(command[0]);
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let writing = {
            let (pipe, text) = (pipe.clone(), text.to_string());
            std::thread::spawn(move || std::fs::write(pipe, text))
        };
        let (code, out, err) = outcome(oomdoc().args(command).arg(&pipe));
        writing.join().unwrap().unwrap();
        assert!(code == 0 && out.contains(expected), "{command:?}: {out}{err}");
    }
}

/// The screen for a text, with its lines' ends made blanks.
fn screen(text: &str) -> String {
    let (_, out, _) = outcome(oomdoc().args(["explain", "-"]).write_stdin(text));
    out.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn a_table_before_the_message_is_no_part_of_it_and_what_it_shows_is_used() {
    let mut log = "$ while true; do df -h | grep shm; sleep 10; done\n".to_string();
    for (used, left, share) in [(" 38M", " 24G", " 1"), ("8.7G", " 15G", "37"), (" 20G", "3.8G", "84")] {
        log += &format!("tmpfs                 24G {used}  {left}  {share}% /dev/shm\n");
    }
    log += "tmpfs                 24G   23G  1.1G  96% /dev/shm\n\
            RuntimeError: DataLoader worker (pid 13) is killed by signal: Bus error.\n";
    let told = screen(&log);
    assert!(told.contains("[line 6] RuntimeError: DataLoader worker"), "{told}");
    assert!(told.contains("of 24.00 GiB in /dev/shm 23.00 GiB were in use"), "{told}");
    assert!(!told.contains("64 MiB") && !told.contains("Run `df -h"), "{told}");
    assert!(told.contains("--shm-size=48g"), "more than the 24 GiB that were not enough: {told}");
}

#[test]
fn a_kill_that_may_be_no_lack_of_memory_says_so_where_the_first_check_asks() {
    let told = screen("./train.sh: line 4: 3181 Killed python train.py --epochs 90\n");
    assert!(told.contains("or an error that only looks like a lack of memory."), "{told}");
    assert!(told.contains("dmesg"), "{told}");
}

#[test]
fn a_size_that_nobody_meant_is_refused_and_did_not_run_out() {
    let told = screen(
        "[rank 0] epoch 2 done, loss 0.412\nTraceback (most recent call last):\n  File \"fit.py\", line 171, in <module>\n    \
         dist.gather_object(shards, everyone if rank == 0 else None, dst=0)\n  File \
         \"/opt/lib/python3.11/site-packages/torch/distributed/distributed_c10d.py\", line 2721, in gather_object\n    \
         coalesced_output_tensor = torch.empty(\n\
         torch.OutOfMemoryError: CUDA out of memory. Tried to allocate more than 1EB memory.\n",
    );
    assert!(told.starts_with("A request for GPU memory was refused."), "{told}");
    assert!(told.contains("[lines 5, 7]") || told.contains("[lines 5, 6, 7]"), "{told}");
}

#[test]
fn a_figure_is_told_with_the_digits_it_was_printed_with() {
    let told = screen(
        "RuntimeError: CUDA out of memory. Tried to allocate 1.50 GiB (GPU 0; 10.76 GiB total capacity; 8.90 GiB \
         already allocated; 0.70 GiB free; 9.00 GiB reserved in total by PyTorch)\n",
    );
    assert!(told.contains("1.50 GiB asked for, ≈ 717 MiB of 10.76 GiB free"), "{told}");
}
