//! `oomdoc rehearse` with programs that only pretend: shell scripts that leave the result files of a rehearsed process.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use crate::binary;

use assert_cmd::Command;
use binary::schema::Schema;
use binary::{oomdoc, outcome, process};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::{LazyLock, Mutex, PoisonError};
use tempfile::TempDir;

const MIB: u64 = 1 << 20;

/// The documents of all tests are held against it.
static SCHEMA: LazyLock<Mutex<Schema>> = LazyLock::new(|| Mutex::new(Schema::of("rehearse")));

/// What every script begins with: `fits` says whether a program that has `$allocated` of `$reserved` bytes has room,
/// `tell ENDED REST` writes the result file.
pub const PRELUDE: &str = r#"
mib=1048576
folder=${LD_LIBRARY_PATH%%/lib*}
while IFS='=' read -r name value; do eval "set_$name=\$value"; done < "$folder/settings"
free=$((set_total - set_context - set_others))
retries=0
tell() {
  if [ "$reserved" -gt "$free" ]; then reserved=$free; retries=1; fi
  cat > "$folder/results/process-$$.json" <<END
{"schema": "oomdoc.rehearsal-process/1", "torch": "2.11.0+cu130", "pid": $$, "rank": 0, "ended": "$1",
 "steps": $steps, "devices": [{"device": 0, "peak_allocated_bytes": $allocated, "peak_reserved_bytes": $reserved,
 "ooms": 0, "retries": $retries}],
 "peak": {"step": 2, "phase": "backward", "stack": ["train.py:88 train_step"]}$2}
END
}
out_of_memory() {
  steps=0 allocated=$free reserved=$free
  tell oom ", \"oom\": {\"message\": \"CUDA out of memory. Tried to allocate 1.50 GiB. GPU 0 has a total capacity of 24.00 GiB of which 512.00 MiB is free. Including non-PyTorch memory, this process has 23.50 GiB memory in use. Of the allocated memory 21.80 GiB is allocated by PyTorch, and 1.20 GiB is reserved by PyTorch but unallocated.\", \"step\": 1, \"phase\": \"forward\", \"stack\": [\"model.py:12 forward\", \"train.py:80 train_step\"]}"
  echo 'torch.OutOfMemoryError: CUDA out of memory.' >&2
  exit 1
}
steps=3
"#;

/// Training that needs 1000 MiB and 700 more for each sample, 200 of cache, and 300 more where addresses go down.
pub const TRAINING: &str = r#"
batch=${1:-4}
allocated=$(( (1000 + 700 * batch) * mib ))
reserved=$((allocated + 200 * mib))
[ "$set_addresses" = down ] && reserved=$((reserved + 300 * mib))
[ "$allocated" -gt "$free" ] && out_of_memory
tell steps ''
"#;

/// A program, and the command that rehearses it on 24 GiB.
struct Play {
    folder: TempDir,
    arguments: Vec<String>,
    program: Vec<String>,
}

fn play(script: &str) -> Play {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("train.sh");
    std::fs::write(&path, format!("{PRELUDE}{script}")).unwrap();
    let program = vec!["sh".to_string(), path.to_str().unwrap().to_string()];
    Play { folder, arguments: vec!["--gpu-memory".into(), "24GiB".into()], program }
}

impl Play {
    fn with(mut self, arguments: &[&str]) -> Play {
        self.arguments.extend(arguments.iter().map(|argument| argument.to_string()));
        self
    }

    /// With `{batch}` as the argument of the program.
    fn batch(mut self, batches: &str) -> Play {
        self.program.push("{batch}".into());
        self.with(&["--batch", batches])
    }

    fn command(&self) -> Command {
        let mut command = oomdoc();
        command.env_remove("GITHUB_STEP_SUMMARY");
        command.arg("rehearse").args(&self.arguments).arg("--").args(&self.program);
        command
    }

    fn text(&self) -> (i32, String) {
        let (code, out, err) = outcome(&mut self.command());
        assert!(!err.contains("panicked"), "{err}");
        (code, out)
    }

    /// The exit code and the JSON, which is held against the schema.
    fn json(mut self) -> (i32, Value) {
        self.arguments.push("--json".into());
        let (code, out, err) = outcome(&mut self.command());
        let report: Value = serde_json::from_str(&out).unwrap_or_else(|error| panic!("{error}: {out}\n{err}"));
        SCHEMA.lock().unwrap_or_else(PoisonError::into_inner).check(&report, &self.arguments.join(" "));
        (code, report)
    }
}

#[test]
fn a_program_that_fits() {
    let (code, report) = play(TRAINING).json();
    assert_eq!((code, report["verdict"].as_str()), (0, Some("fits")));
    assert_eq!(report["peak"]["allocated_bytes"], 3800 * MIB);
    assert_eq!(report["peak"]["phase"], "backward");
    assert_eq!(report["peak"]["stack"][0], "train.py:88 train_step");
    assert_eq!(report["peak"]["lower_bound"], false);
    assert_eq!(report["capacity_bytes"], 24 * 1024 * MIB);
}

#[test]
fn the_headroom_is_the_same_however_it_is_written() {
    let asked = |room: &str| {
        let (code, report) = play(TRAINING).with(&["--headroom", room]).json();
        (code, report["verdict"].as_str().unwrap().to_string(), report["headroom_fraction"].as_f64().unwrap())
    };
    assert_eq!(asked("0.75"), (0, "fits".into(), 0.75));
    assert_eq!(asked("75%"), asked("0.75"));
    assert_eq!(asked("75"), asked("0.75"));
    assert_eq!(asked("18GiB"), asked("0.75"));
    assert_eq!(asked("90"), (1, "tight".into(), 0.9));
    let (code, _, error) = outcome(&mut play(TRAINING).with(&["--headroom", "24GiB"]).command());
    assert_eq!(code, 2);
    assert!(error.contains("a headroom of 24.00 GiB leaves nothing"), "{error}");
}

#[test]
fn both_orders_of_addresses_make_an_interval_and_the_larger_decides() {
    let (_, report) = play(TRAINING).json();
    let reserved = &report["peak"]["reserved_bytes"];
    assert_eq!((reserved["low"].as_u64(), reserved["high"].as_u64()), (Some(4000 * MIB), Some(4300 * MIB)));
    let needed = &report["peak"]["needed_bytes"];
    assert!(needed["low"].as_u64().unwrap() > 4000 * MIB && needed["high"].as_u64().unwrap() > 4300 * MIB);
    let (_, one) = play(TRAINING).with(&["--addresses", "up"]).json();
    assert_eq!(one["peak"]["reserved_bytes"]["high"], 4000 * MIB);
    assert_eq!(one["runs"][0]["takes"].as_array().unwrap().len(), 1);
}

#[test]
fn answers_can_be_turned_off() {
    // 500 MiB more where nothing is answered.
    let script = TRAINING
        .replace("tell steps", "[ \"$set_answers\" = none ] && allocated=$((allocated + 500 * mib))\ntell steps");
    let allocated =
        |options: &[&str]| play(&script).with(options).json().1["peak"]["allocated_bytes"].as_u64().unwrap();
    assert_eq!(allocated(&["--answers", "likely"]), allocated(&[]));
    assert_eq!(allocated(&["--answers", "none"]) - allocated(&[]), 500 * MIB);
}

#[test]
fn what_is_not_simulated_is_estimated() {
    let (_, alone) = play(TRAINING).json();
    let outside = |report: &Value, name: &str| report["peak"]["outside_pytorch"][name]["high"].as_u64();
    assert_eq!((outside(&alone, "nccl_bytes"), outside(&alone, "cudnn_workspace_bytes")), (None, None));
    let (_, ranks) = play(&TRAINING.replace("tell steps ''", "tell steps ', \"world_size\": 2'")).json();
    assert!(outside(&ranks, "nccl_bytes").unwrap() > 1024 * MIB);
    let convolutions = "tell steps ', \"settings\": {\"convolutions\": true}'";
    let (_, images) = play(&TRAINING.replace("tell steps ''", convolutions)).json();
    // A fifth of the 4300 MiB reserved; a tenth may be spared.
    assert_eq!(outside(&images, "cudnn_workspace_bytes"), Some(860 * MIB));
    let needed = |report: &Value, end: &str| report["peak"]["needed_bytes"][end].as_u64().unwrap();
    assert_eq!(needed(&images, "high") - needed(&alone, "high"), 860 * MIB);
    assert!(needed(&alone, "low") - needed(&images, "low") >= 400 * MIB);
    assert!(needed(&ranks, "high") > needed(&alone, "high") + 1024 * MIB);
}

#[test]
fn the_largest_batch_is_found_in_few_runs() {
    let (code, report) = play(TRAINING).batch("1..64").json();
    assert_eq!((code, report["verdict"].as_str()), (0, Some("fits")));
    // 5 % of 24 GiB stay free: 23347 MiB; 1500 + 700 per sample and at most 805 MiB outside of PyTorch, of which an
    // unnamed GPU takes up to 555 for its context.
    let largest = report["largest_batch"].as_u64().unwrap();
    assert_eq!(largest, 30);
    assert_eq!(report["first_batch_too_large"], 31);
    let runs = report["runs"].as_array().unwrap();
    assert!(runs.len() <= 5, "{} runs", runs.len());
}

#[test]
fn listed_batches_are_each_judged() {
    let (code, report) = play(TRAINING).batch("8,16,40").json();
    assert_eq!((code, report["verdict"].as_str()), (1, Some("does-not-fit")));
    let verdicts: Vec<_> =
        report["runs"].as_array().unwrap().iter().map(|run| run["verdict"].as_str().unwrap()).collect();
    assert_eq!(verdicts, ["fits", "fits", "does-not-fit"]);
    assert_eq!(report["largest_batch"], 16);
    assert_eq!(report["oom"]["batch_size"], 40);
    assert_eq!(report["oom"]["stack"][0], "model.py:12 forward");
    assert_eq!(report["oom"]["explanation"]["incidents"][0]["facts"]["requested_bytes"], 1536 * MIB);
    let (_, text) = play(TRAINING).batch("8,16,40").text();
    for part in
        ["Batch 16 is the largest of these that fits the", "Tried to allocate 1.50 GiB", "Most likely:", "model.py:12"]
    {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn a_cache_that_fills_the_device_is_no_need() {
    // Reserves whatever there is, and still runs where less is there.
    let script = "allocated=$((15000 * mib)) reserved=$((99000 * mib))\n[ $allocated -gt $free ] && out_of_memory\ntell steps ''";
    let (code, report) = play(script).json();
    assert_eq!((code, report["verdict"].as_str()), (0, Some("fits")));
    assert_eq!(report["runs"][0]["ran_without_headroom"], true);
    // The same program with live memory that leaves no headroom.
    let script = script.replace("15000", "23200");
    let (code, report) = play(&script).json();
    assert_eq!((code, report["verdict"].as_str()), (1, Some("tight")));
}

#[test]
fn traps_that_hide_memory_never_end_in_fits() {
    let script = r#"allocated=$((2000 * mib)) reserved=$allocated
tell steps ', "traps": [{"kind": "zero-rows", "where": "detect.py:40 assign", "count": 3}]'"#;
    let (code, report) = play(script).json();
    assert_eq!((code, report["verdict"].as_str()), (3, Some("unknown")));
    assert_eq!(report["peak"]["lower_bound"], true);
    assert!(report["because"][0].as_str().unwrap().contains("detect.py:40"));
    let (_, text) = play(script).text();
    assert!(text.contains("at least") && text.contains("Only a lower bound"), "{text}");

    let harmless = script.replace("zero-rows", "value-read");
    assert_eq!(play(&harmless).json().0, 0);
    let new_kind = script.replace("zero-rows", "something-new");
    assert_eq!(play(&new_kind).json().0, 3);
}

#[test]
fn a_lower_bound_still_tells_which_batches_are_too_large() {
    let script = TRAINING
        .replace("tell steps ''", "tell steps ', \"traps\": [{\"kind\": \"zero-rows\", \"memory\": \"lower\"}]'");
    let (code, report) = play(&script).batch("1..64").json();
    assert_eq!((code, report["verdict"].as_str()), (3, Some("unknown")));
    assert_eq!(report["largest_batch"], Value::Null);
    assert_eq!(report["first_batch_too_large"], 32);
    assert!(report["message"].as_str().unwrap().contains("From batch 32 on it surely does not"), "{report}");
}

#[test]
fn an_error_smaller_than_that_of_the_estimates_is_tight_where_it_runs_with_kind_ones() {
    let verdict_where = |free: &str, script: &str| {
        let close = play(script);
        let path = close.folder.path().join("train.sh");
        let text = std::fs::read_to_string(&path).unwrap().replace("of which 512.00 MiB is free", free);
        std::fs::write(&path, text).unwrap();
        let (code, report) = close.json();
        (code, report["verdict"].as_str().unwrap().to_string())
    };
    // Runs with a context of up to 200 MiB.
    let lucky = "if [ $set_context -lt $((200 * mib)) ]; then\n\
                 allocated=$((9000 * mib)) reserved=$allocated\ntell steps ''\nelse\nout_of_memory\nfi";
    let short_of_100_mib = "of which 1.40 GiB is free";
    assert_eq!(verdict_where(short_of_100_mib, lucky), (1, "tight".into()));
    // It would have run out of memory at the next request.
    assert_eq!(verdict_where(short_of_100_mib, "out_of_memory"), (1, "does-not-fit".into()));
    assert_eq!(verdict_where("of which 512.00 MiB is free", lucky), (1, "does-not-fit".into()));
}

#[test]
fn a_pytorch_that_fails_when_allocations_are_recorded_runs_without() {
    let script = r#"allocated=$((2000 * mib)) reserved=$allocated
if [ "$set_snapshot" = 1 ]; then
  steps=0
  tell error ', "error": {"type": "SystemError", "message": "<built-in method dropout> returned NULL without setting an exception"}'
  exit 1
fi
tell steps ''"#;
    let (code, report) = play(script).json();
    assert_eq!((code, report["verdict"].as_str()), (0, Some("fits")), "{report}");
}

#[test]
fn the_first_fix_is_rehearsed_before_it_is_said() {
    let helps = "reserved=$((9000 * mib)) allocated=$((8000 * mib))\n\
                 [ -n \"$PYTORCH_ALLOC_CONF$PYTORCH_CUDA_ALLOC_CONF\" ] || out_of_memory\ntell steps ''";
    let (_, report) = play(helps).json();
    let tried = &report["oom"]["tried"];
    assert_eq!((&tried[0]["fix"], &tried[0]["verdict"]), (&json!("expandable-segments"), &json!("fits")), "{tried}");
    let fixes = |report: &Value| -> Vec<String> {
        let diagnosis = &report["oom"]["explanation"]["incidents"][0];
        let fixes = diagnosis["fixes"].as_array().unwrap().iter();
        fixes.map(|fix| fix["id"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(fixes(&report)[0], "expandable-segments");
    let (_, text) = play(helps).text();
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("expandable_segments:True: it runs and needs up to"), "{text}");

    let (_, report) = play("out_of_memory").json();
    let tried = &report["oom"]["tried"];
    assert_eq!(tried[0]["verdict"], "does-not-fit", "{tried}");
    assert!(!fixes(&report).contains(&"expandable-segments".to_owned()), "{:?}", fixes(&report));
}

#[test]
fn an_interrupt_leaves_nothing_behind() {
    let play = play("echo $$ > \"$SEEN\"\nsleep 60\necho over > \"$SEEN.over\"\n");
    let temporary = tempfile::tempdir().unwrap();
    let seen = play.folder.path().join("seen");
    let mut child = process()
        .args(["rehearse", "--gpu-memory", "24GiB", "--addresses", "up", "--allow-writes", "--"])
        .args(&play.program)
        .env("TMPDIR", temporary.path())
        .env("SEEN", &seen)
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let started = std::time::Instant::now();
    let program = loop {
        assert!(started.elapsed().as_secs() < 60, "the program did not start");
        match std::fs::read_to_string(&seen) {
            Ok(pid) if pid.ends_with('\n') => break pid.trim().to_string(),
            _ => std::thread::sleep(std::time::Duration::from_millis(20)),
        }
    };
    let interrupted = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(interrupted.success());
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert!(!play.folder.path().join("seen.over").exists(), "it waited for the program");
    assert!(!PathBuf::from(format!("/proc/{program}")).exists(), "the program still runs");
    assert_eq!(std::fs::read_dir(temporary.path()).unwrap().count(), 0);
}

#[test]
fn snapshots_are_kept_where_asked() {
    let script = "allocated=$((1000 * mib)) reserved=$allocated\n\
                  echo pickle > \"$folder/results/snapshot-$$.pickle\"\n\
                  tell steps \", \\\"snapshot\\\": \\\"snapshot-$$.pickle\\\"\"";
    let play = play(script).batch("4");
    let folder = play.folder.path().join("kept");
    let play = play.with(&["--keep", folder.to_str().unwrap()]);
    let (code, text) = play.text();
    assert_eq!(code, 0, "{text}");
    let names: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names.len(), 1);
    assert!(names[0].to_str().unwrap().starts_with("batch-4-snapshot-"), "{names:?}");
}

/// The counters of a process that read one unknown value.
const READ_ONE: &str = r#"{ printf 'OOMSIM\001\000'; printf '\007\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0'
head -c 5216 /dev/zero; } | head -c 5248 > "$folder/results/device-$$.bin"
"#;

#[test]
fn memory_that_hangs_on_values_that_were_read_is_never_promised() {
    let reads = format!("allocated=$((2000 * mib)) reserved=$allocated\n{READ_ONE}");
    let told = r#"tell steps ', "traps": [{"kind": "value-read", "where": "train.py:6 pad", "memory": "same"}]'"#;
    let (code, report) = play(&format!("{reads}{told}")).json();
    assert_eq!((code, report["verdict"].as_str()), (0, Some("fits")), "it needs the same with other values: {report}");
    assert!(report["runs"][0]["notes"].to_string().contains("four more runs"), "{report}");
    let larger = "[ \"$set_values\" = large ] && allocated=$((9000 * mib)) reserved=$((9000 * mib))\n";
    let (code, report) = play(&format!("{reads}{larger}{told}")).json();
    assert_eq!((code, report["verdict"].as_str()), (3, Some("unknown")), "{report}");
    let because = report["because"][0].as_str().unwrap();
    assert!(because.contains("train.py:6 pad") && because.contains("8.79 GiB"), "{because}");
    assert_eq!(report["peak"]["lower_bound"], true);
    let another_way = "[ \"$set_values\" = large ] && steps=1\n";
    assert_eq!(play(&format!("{reads}{another_way}{told}")).json().0, 3);
    // Nothing was read: nothing is tried.
    let unread = format!("allocated=$((2000 * mib)) reserved=$allocated\n{larger}{told}");
    assert_eq!(play(&unread).json().0, 0);
}

#[test]
fn values_that_only_a_huge_one_would_change_are_tried_too() {
    let reads = format!("allocated=$((2000 * mib)) reserved=$allocated\n{READ_ONE}");
    let larger = "[ \"$set_values\" = huge ] && allocated=$((9000 * mib)) reserved=$((9000 * mib))\n";
    let (code, report) = play(&format!("{reads}{larger}tell steps ''")).json();
    assert_eq!((code, report["verdict"].as_str()), (3, Some("unknown")), "{report}");
    assert!(report["because"][0].as_str().unwrap().contains("8.79 GiB reserved where they are huge"), "{report}");
    // A program that refuses such a number, or ends there with less, needs no more by it.
    let refuses = r#"[ "$set_values" = huge ] && tell error ', "error": {"type": "OverflowError", "message": "x"}' && exit 1
"#;
    let ends = "[ \"$set_values\" = huge ] && steps=1 allocated=$((500 * mib)) reserved=$allocated && tell exit '' && exit 0\n";
    for otherwise in [refuses, ends] {
        let (code, report) = play(&format!("{reads}{otherwise}tell steps ''")).json();
        assert_eq!((code, report["verdict"].as_str()), (0, Some("fits")), "{report}");
    }
}

#[test]
fn a_failure_on_values_that_were_read_is_told_as_one_and_the_figures_are_those_of_others() {
    let fails = r#"steps=1
  tell error ', "error": {"type": "ValueError", "message": "math domain error", "stack": ["train.py:9 bits"]}'
  exit 1
fi
tell steps ''"#;
    let script =
        |when: &str| format!("allocated=$((2000 * mib)) reserved=$allocated\n{READ_ONE}if {when}; then\n  {fails}");
    const TELLS: [&str; 3] =
        ["with zeros in place of the values that it reads", "math domain error (train.py:9 bits)", "large ones"];
    // With huge values it needs other memory, or whatever else is assumed is refused too: nothing bounds the figures.
    let huge =
        "[ \"$set_values\" = huge ] && allocated=$((9000 * mib)) reserved=$allocated\n[ \"$set_values\" = zeros ]";
    for when in [huge, "[ \"$set_values\" != large ]"] {
        let (code, report) = play(&script(when)).json();
        assert_eq!((code, report["verdict"].as_str()), (3, Some("unknown")), "{report}");
        let because = report["because"][0].as_str().unwrap();
        assert!(TELLS.iter().all(|part| because.contains(part)), "{because}");
        assert_eq!(report["peak"]["allocated_bytes"], 2000_u64 << 20, "of the run that went on: {report}");
    }
    // What it goes on with needs the same: it refuses zeros, and what may be one.
    for when in
        ["[ \"$set_values\" = zeros ]", "case \"$set_values\" in zeros|negative|huge|mixed) true;; *) false;; esac"]
    {
        let (code, report) = play(&script(when)).json();
        assert_eq!((code, report["verdict"].as_str()), (0, Some("fits")), "{report}");
        let notes = report["runs"][0]["notes"].to_string();
        assert!(TELLS[..2].iter().all(|part| notes.contains(part)), "{notes}");
    }
    // One that fails whatever the values are, fails.
    let (code, report) = play(&script("true")).json();
    assert_eq!(code, 3, "{report}");
    assert!(report["because"][0].as_str().unwrap().starts_with("the program failed after 1 step for"), "{report}");
}

#[test]
fn out_of_memory_that_other_values_avoid_is_not_certain() {
    let script = format!(
        "{READ_ONE}[ \"$set_values\" = zeros ] && out_of_memory\nallocated=$((2000 * mib)) reserved=$allocated\n\
         tell steps ''"
    );
    let (code, report) = play(&script).json();
    assert_eq!((code, report["verdict"].as_str()), (3, Some("unknown")), "{report}");
    assert!(report["because"][0].as_str().unwrap().contains("it runs out of memory"), "{report}");
    let always = format!("{READ_ONE}out_of_memory");
    assert_eq!(play(&always).json().0, 1);
}

#[test]
fn memory_that_runs_out_with_one_layout_of_blocks_alone_is_tight() {
    let script =
        "[ \"$set_addresses\" = down ] && out_of_memory\nallocated=$((22000 * mib)) reserved=$allocated\ntell steps ''";
    let (code, report) = play(script).json();
    assert_eq!((code, report["verdict"].as_str()), (1, Some("tight")), "{report}");
    assert!(report["message"].as_str().unwrap().contains("one of two layouts"), "{report}");
    assert_eq!(play(&script.replace(" = down ]", " != none ]")).json().1["verdict"], "does-not-fit");
}

#[test]
fn cublas_workspaces_lie_out_of_the_way_in_one_of_two_runs() {
    let script = "allocated=$((2000 * mib)) reserved=$allocated\ntell steps ''\n\
                  echo \"$set_addresses ${CUBLAS_WORKSPACE_CONFIG:-none}\" >&2";
    let said = |command: &mut Command| {
        let (_, _, err) = outcome(command);
        let mut lines: Vec<String> = err.lines().filter(|line| line.contains(' ')).map(str::to_string).collect();
        lines.sort();
        lines
    };
    let play = play(script).with(&["--show-output"]);
    assert_eq!(said(play.command().env_remove("CUBLAS_WORKSPACE_CONFIG")), ["down :16:8", "up none"]);
    assert_eq!(said(play.command().env("CUBLAS_WORKSPACE_CONFIG", ":4096:8")), ["down :4096:8", "up :4096:8"]);
}

#[test]
fn an_optimizer_that_never_steps_is_no_training_that_was_seen() {
    let script = "allocated=$((2000 * mib)) reserved=$allocated steps=0\n";
    let (code, report) = play(&format!("{script}tell exit ', \"optimizers\": [{{\"class\": \"AdamW\"}}]'")).json();
    assert_eq!((code, report["verdict"].as_str()), (3, Some("unknown")), "{report}");
    assert!(report["message"].as_str().unwrap().contains("made no step"), "{report}");
    // Inference has none.
    assert_eq!(play(&format!("{script}tell exit ''")).json().0, 0);
}

#[test]
fn processes_that_use_a_gpu_at_the_same_time_are_added_up() {
    let two = |first: &str, second: &str| {
        let one = |name: &str, span: &str| {
            format!(
                "tell exit ', {span}'\nmv \"$folder/results/process-$$.json\" \
                 \"$folder/results/process-{name}.json\"\n"
            )
        };
        let script = "allocated=$((13000 * mib)) reserved=$allocated\n";
        play(&format!("{script}{}{}", one("1", first), one("2", second))).json()
    };
    let (code, report) = two("\"used_from\": 10, \"used_until\": 30", "\"used_from\": 20, \"used_until\": 40");
    assert_eq!((code, report["verdict"].as_str()), (1, Some("does-not-fit")), "{report}");
    assert_eq!(report["peak"]["allocated_bytes"], 26000 * MIB);
    let (code, report) = two("\"used_from\": 10, \"used_until\": 20", "\"used_from\": 20, \"used_until\": 40");
    assert_eq!((code, report["peak"]["allocated_bytes"].as_u64()), (0, Some(13000 * MIB)), "one after the other");
}

#[test]
fn an_error_that_the_program_survives_is_told_with_its_batch() {
    let script = r#"allocated=$((9000 * mib)) reserved=$allocated steps=2
tell exit ', "oom": {"message": "CUDA out of memory. Tried to allocate 20.00 GiB.", "caught": true, "count": 3},
 "batch": {"observed": 8, "from": "find_executable_batch_size"}'"#;
    let (code, report) = play(script).json();
    assert_eq!((code, report["verdict"].as_str()), (0, Some("fits")), "{report}");
    let notes = report["runs"][0]["notes"].to_string();
    assert!(notes.contains("3 times") && notes.contains("with batch 8"), "{notes}");
    let uncaught = script.replace("\"caught\": true", "\"caught\": false");
    assert_eq!(play(&uncaught).json().0, 1);
}

#[test]
fn memory_that_grows_with_each_step_is_told_with_the_step_of_its_end() {
    let grow = |last: &str| {
        let mib = |n: u64| (n * MIB).to_string();
        let rows: Vec<String> = [2000, 3000, 4000, 5000, 6000].iter().map(|n| mib(*n)).collect();
        let rows: Vec<String> = rows.iter().enumerate().map(|(i, used)| format!("[{}, {used}]", i + 1)).collect();
        format!(
            "allocated=$((7000 * mib)) reserved=$allocated steps=6\n\
             tell steps ''\nsed -i 's/\"ooms\"/\"last_steps\": [{}, [6, {last}]], \"ooms\"/' \
             \"$folder/results/process-$$.json\"",
            rows.join(", ")
        )
    };
    let (code, report) = play(&grow(&(7000 * MIB).to_string())).json();
    assert_eq!((code, report["verdict"].as_str()), (3, Some("unknown")), "{report}");
    let message = report["message"].as_str().unwrap();
    assert!(message.contains("grows by 1000.00 MiB") && message.contains("run out at step 24"), "{message}");
    assert_eq!(play(&grow(&(6000 * MIB).to_string())).json().0, 0, "the last step needs no more");
}

#[test]
fn an_error_after_the_steps_asked_for_is_told_and_no_verdict() {
    let script = r#"allocated=$((2000 * mib)) reserved=$allocated steps=9
tell error ', "error": {"type": "ZeroDivisionError", "message": "division by zero", "stack": ["eval.py:3 accuracy"]}'
exit 1"#;
    let (code, report) = play(script).json();
    assert_eq!((code, report["verdict"].as_str()), (0, Some("fits")), "{report}");
    assert!(report["runs"][0]["notes"].to_string().contains("ZeroDivisionError"), "{report}");
    assert!(report["message"].as_str().unwrap().contains("not seen: evaluation, saving"), "{report}");
}

#[test]
fn other_errors_and_programs_without_a_gpu_are_not_judged() {
    let script = r#"allocated=$((2000 * mib)) reserved=$allocated steps=1
tell error ', "error": {"type": "ValueError", "message": "no such file: data.bin", "stack": ["data.py:3 load"]}'
exit 1"#;
    let (code, report) = play(script).json();
    assert_eq!(code, 3);
    assert!(report["message"].as_str().unwrap().contains("ValueError: no such file: data.bin (data.py:3 load)"));

    let (code, report) = play("echo 'ModuleNotFoundError: No module named tqdm' >&2; exit 1").json();
    assert_eq!(code, 3);
    assert!(report["message"].as_str().unwrap().contains("No module named tqdm"), "{report}");
    let (code, report) = play("exit 0").json();
    assert_eq!((code, report["message"].as_str().unwrap().contains("never used the GPU")), (3, true));
    // A Python that says so itself.
    let (code, report) = play("allocated=0 reserved=0 steps=0\ntell exit ''").json();
    assert_eq!((code, report["message"].as_str().unwrap().contains("without using the GPU")), (3, true), "{report}");
}

#[test]
fn usage_errors_show_the_way() {
    let refused = |arguments: &[&str]| {
        let (code, out, err) = outcome(oomdoc().arg("rehearse").args(arguments));
        assert_eq!((code, out.as_str()), (2, ""), "{arguments:?}");
        err
    };
    let err = refused(&["--gpu-memory", "24GiB", "--batch", "8", "--", "python", "train.py", "--batch-size", "4"]);
    assert!(err.contains("python train.py --batch-size {batch}"), "{err}");
    let err = refused(&["--gpu-memory", "24GiB", "--batch", "8", "--", "python", "train.py", "trainer.batch=4"]);
    assert!(err.contains("trainer.batch={batch}"), "{err}");
    assert!(refused(&["--gpu-memory", "24GiB", "--", "python", "train.py", "{batch}"]).contains("--find-batch"));
    assert!(refused(&["--like", "RTX 3009", "--", "python"]).contains("\"RTX 3090\""));
    assert!(refused(&["--like", "A100", "--", "python"]).contains("\"A100 40GB\", \"A100 80GB\""));
    assert!(refused(&["--", "python", "train.py"]).contains("--like list"));
    assert!(refused(&["--like", "3090"]).contains("which program"));
    assert!(refused(&["--like", "3090", "--batch", "9..3", "--", "x"]).contains("empty"));
    assert!(!refused(&["--like", "3090", "--", "/no/such/program"]).contains("panicked"));
}

#[test]
fn the_table_of_gpus() {
    let (code, out, _) = outcome(oomdoc().args(["rehearse", "--like", "list"]));
    assert_eq!(code, 0);
    assert!(out.lines().count() > 40 && out.contains("RTX 3090 Ti"), "{out}");
    let (_, out, _) = outcome(oomdoc().args(["rehearse", "--like", "list", "--json"]));
    let table: Value = serde_json::from_str(&out).unwrap();
    assert!(table["gpus"].as_array().unwrap().len() >= 40);
}

#[test]
fn a_named_gpu_gives_its_memory_and_capability() {
    let script = "allocated=$((1000 * mib)) reserved=$allocated\n\
                  echo \"$set_cc $set_sms $set_total\" > \"$SEEN\"\ntell steps ''";
    let mut play = play(script);
    play.arguments = vec!["--like".into(), "4090".into()];
    let seen = play.folder.path().join("seen");
    let assignment = format!("SEEN={}", seen.display());
    let (code, report) = play.with(&["--env", &assignment]).json();
    assert_eq!((code, report["gpu"]["compute_capability"].as_str()), (0, Some("8.9")));
    assert_eq!(report["gpu"]["multiprocessors"], 128);
}

/// Checks that a text is well-formed XML of elements, attributes and text; returns the names of its elements.
fn elements(xml: &str) -> Vec<String> {
    let body = xml.strip_prefix("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n").unwrap();
    let (mut open, mut names): (Vec<String>, Vec<String>) = (Vec::new(), Vec::new());
    let mut rest = body;
    while let Some(at) = rest.find('<') {
        assert!(!rest[..at].contains('>') && !rest[..at].replace("&amp;", "").contains("& "), "{}", &rest[..at]);
        let end = at + rest[at..].find('>').expect("an end of the tag");
        let tag = &rest[at + 1..end];
        rest = &rest[end + 1..];
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop().as_deref(), Some(name));
            continue;
        }
        let name = tag.split([' ', '/']).next().unwrap().to_string();
        assert_eq!(tag.matches('"').count() % 2, 0, "{tag}");
        names.push(name.clone());
        if !tag.ends_with('/') {
            open.push(name);
        }
    }
    assert!(open.is_empty() && rest.trim().is_empty(), "{open:?} {rest}");
    names
}

#[test]
fn build_servers_get_junit() {
    let (code, xml) = play(TRAINING).batch("8,40").with(&["--format", "junit"]).text();
    assert_eq!(code, 1);
    let names = elements(&xml);
    assert_eq!(names.iter().filter(|name| *name == "testcase").count(), 2);
    assert!(xml.contains("tests=\"2\" failures=\"1\" errors=\"0\""), "{xml}");
    assert!(xml.contains("name=\"batch 40 on 24.00 GiB GPU\" file=\"model.py\" line=\"12\""), "{xml}");
    // A search is one question, answered: the batches tried on the way are no failures.
    let (code, xml) = play(TRAINING).batch("1..64").with(&["--format", "junit"]).text();
    assert_eq!(code, 0);
    assert!(xml.contains("tests=\"1\" failures=\"0\""), "{xml}");
}

#[test]
fn github_gets_annotations_and_a_summary() {
    let play = play(TRAINING).batch("8,40").with(&["--format", "github"]);
    let summary: PathBuf = play.folder.path().join("summary.md");
    std::fs::write(&summary, "before\n").unwrap();
    let (code, out, _) = outcome(play.command().env("GITHUB_STEP_SUMMARY", &summary));
    assert_eq!(code, 1);
    let lines: Vec<&str> = out.lines().collect();
    assert_eq!(lines.len(), 2);
    assert!(lines[0].starts_with("::notice "), "{out}");
    assert!(lines[1].starts_with("::error file=model.py,line=12,title=oomdoc rehearse%3A batch 40"), "{out}");
    let text = std::fs::read_to_string(&summary).unwrap();
    assert!(text.starts_with("before\n") && text.contains("| batch 40 on 24.00 GiB GPU | does not fit |"), "{text}");
    assert!(text.contains("Tried to allocate 1.50 GiB"), "{text}");
}

#[test]
fn chinese_reports_are_chinese() {
    let (code, text) = play(TRAINING).batch("1..64").with(&["--lang", "zh"]).text();
    assert_eq!(code, 0);
    assert!(text.contains("批大小 30") && text.contains("余量") && text.contains("峰值"), "{text}");
    for word in ["Batch", "needs", "free", "Runs", "estimate"] {
        assert!(!text.contains(word), "{word}: {text}");
    }
}

#[test]
fn a_launcher_of_several_processes_has_a_gpu_for_each() {
    for option in [&["--nproc-per-node", "2"][..], &["--nproc_per_node=2"], &["--num_processes", "2"]] {
        let mut play = play(TRAINING);
        play.program.push("1".into());
        play.program.extend(option.iter().map(|word| word.to_string()));
        assert_eq!(play.with(&["--addresses", "up"]).json().1["gpus"], 2, "{option:?}");
    }
    assert_eq!(play(TRAINING).with(&["--addresses", "up"]).json().1["gpus"], 1);
}

#[test]
fn what_a_program_would_have_overwritten_is_told() {
    let overwrite = "python3 -c \"import sys; open(sys.argv[1], 'w').write('bad')\" \"$(dirname \"$0\")/best.pt\"\n";
    let play = play(&format!("{overwrite}{TRAINING}"));
    let path = play.folder.path().join("best.pt");
    std::fs::write(&path, "good").unwrap();
    let (_, report) = play.json();
    let withheld = &report["withheld"][0];
    assert_eq!(withheld["path"].as_str(), path.to_str(), "{withheld}");
    assert_eq!(
        (&withheld["what"], &withheld["existed"], &withheld["bytes"]),
        (&"written".into(), &true.into(), &3.into())
    );
}

#[test]
fn every_property_of_the_schema_is_in_a_document() {
    what_a_program_would_have_overwritten_is_told();
    what_is_not_simulated_is_estimated();
    the_largest_batch_is_found_in_few_runs();
    listed_batches_are_each_judged();
    a_cache_that_fills_the_device_is_no_need();
    an_error_smaller_than_that_of_the_estimates_is_tight_where_it_runs_with_kind_ones();
    other_errors_and_programs_without_a_gpu_are_not_judged();
    the_first_fix_is_rehearsed_before_it_is_said();
    a_described_model_is_rehearsed_by_a_program_of_ours();
    let told = r#"', "traps": [{"kind": "zero-rows", "where": "a.py:4 f", "count": 3, "detail": "x"}], "batch": {"observed": 8}'"#;
    play(&TRAINING.replace("tell steps ''", &format!("tell steps {told}"))).with(&["--world-size", "2"]).json();
    SCHEMA.lock().unwrap_or_else(PoisonError::into_inner).complete(&[
        (".cut_short", "a search that takes longer than its limit"),
        ("Peak.holders", "needs the snapshot of a real PyTorch: tests/rehearse_agent.rs"),
        ("SiteHolder.*", "as in replay.schema.json"),
    ]);
}

/// A Python that pretends: a shell script that gets the words of our program.
fn pretended_python(script: &str) -> (TempDir, Vec<String>) {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("python3");
    std::fs::write(&path, format!("#!/bin/sh\n[ \"$1\" = -c ] && exit 1\n{PRELUDE}{script}")).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    let words = ["rehearse", "--gpu-memory", "24GiB", "--json", "--model", "config.json", "--python"];
    let mut words: Vec<String> = words.iter().map(|word| word.to_string()).collect();
    words.push(path.to_str().unwrap().to_owned());
    (folder, words)
}

#[test]
fn a_described_model_is_rehearsed_by_a_program_of_ours() {
    let script = r#"
[ "$1 $2 $3 $4" = "-m oomdoc_rehearsal.model --model config.json" ] || exit 9
for word in "$@"; do case $word in --batch=*) batch=${word#--batch=} ;; esac; done
allocated=$((batch * 1000 * mib)) reserved=$((batch * 1000 * mib))
tell steps ", \"settings\": {\"model\": {\"class\": \"LlamaForCausalLM\", \"parameters\": 7000, \"trainable_parameters\": 70}}"
"#;
    let (_folder, words) = pretended_python(script);
    let (code, out, err) = outcome(oomdoc().args(&words).args(["--batch", "4,8", "--lora", "16"]));
    let report: Value = serde_json::from_str(&out).unwrap_or_else(|error| panic!("{error}: {out}\n{err}"));
    SCHEMA.lock().unwrap_or_else(PoisonError::into_inner).check(&report, "--model");
    assert_eq!((code, report["verdict"].as_str()), (0, Some("fits")));
    assert_eq!(report["runs"][1]["allocated_bytes"], 8000 * MIB);
    let built = json!({"class": "LlamaForCausalLM", "parameters": 7000, "trainable_parameters": 70});
    assert_eq!(report["model"], built);
    let words: Vec<String> = words.into_iter().filter(|word| word != "--json").collect();
    let (_, out, _) = outcome(oomdoc().args(&words));
    assert!(out.contains("LlamaForCausalLM, 7,000 parameters; 70 are trained."), "{out}");
}

#[test]
fn a_described_model_reads_masks_of_its_own_making_which_no_other_values_contradict() {
    let larger = "[ \"$set_values\" = large ] && allocated=$((9000 * mib)) reserved=$((9000 * mib))\n";
    let script = format!("allocated=$((2000 * mib)) reserved=$allocated\n{READ_ONE}{larger}tell steps ''\n");
    let (_folder, words) = pretended_python(&script);
    let (code, out, _) = outcome(oomdoc().args(&words));
    let report: Value = serde_json::from_str(&out).unwrap();
    assert_eq!((code, report["verdict"].as_str()), (0, Some("fits")), "{report}");
    assert_eq!(play(&script).json().0, 3, "of a program's own reads the same is not known");
}

#[test]
fn what_a_described_model_lacks_is_bad_usage_with_words() {
    let script = r#"
echo 'a warning of some library' >&2
echo '{"problem": "package", "name": "peft", "detail": ""}' >&2
exit 215
"#;
    let (_folder, words) = pretended_python(script);
    let (code, _, err) = outcome(oomdoc().args(&words).args(["--lora", "16"]));
    assert_eq!(code, 2);
    assert!(err.contains("has no peft"), "{err}");
    let (_, _, err) = outcome(oomdoc().args(&words).args(["--lora", "16", "--lang", "zh"]));
    assert!(err.contains("没有 peft"), "{err}");
}

/// `headroom` of a configuration, with a Python that pretends.
fn headroom(script: &str, config: &str, arguments: &[&str]) -> (i32, Value) {
    let (folder, _words) = pretended_python(script);
    let path = folder.path().join("config.json");
    std::fs::write(&path, config).unwrap();
    let python = folder.path().join("python3");
    let mut command = oomdoc();
    command.env_remove("OOMDOC_NO_REHEARSAL").args(["headroom", "--json", "--gpu-memory", "24GiB", "--model"]);
    command.arg(path).arg("--python").arg(python).args(arguments);
    let (code, out, err) = outcome(&mut command);
    (code, serde_json::from_str(&out).unwrap_or_else(|error| panic!("{error}: {out}\n{err}")))
}

/// 1000 MiB, 700 more for each sample, and 200 of cache.
const DESCRIBED: &str = r#"
for word in "$@"; do case $word in --batch=*) batch=${word#--batch=} ;; esac; done
allocated=$(( (1000 + 700 * batch) * mib ))
reserved=$((allocated + 200 * mib))
tell steps ''
"#;
const KNOWN: &str = r#"{"model_type": "gpt2", "architectures": ["GPT2LMHeadModel"], "vocab_size": 50257,
    "n_embd": 768, "n_layer": 12, "n_head": 12, "n_positions": 1024}"#;

#[test]
fn headroom_rehearses_a_configuration_where_a_python_can() {
    let (code, report) = headroom(DESCRIBED, KNOWN, &["--batch", "8", "--seq", "512"]);
    assert_eq!((code, report["verdict"].as_str(), report["basis"].as_str()), (0, Some("fits"), Some("rehearsal")));
    assert_eq!(report["peak_bytes"]["expected"], 6800 * MIB, "{report}");
    let source = report["because"][0].as_str().unwrap();
    assert!(source.starts_with("rehearsed: built by the transformers of /"), "{source}");
    assert!(report["taken"].as_str().unwrap().starts_with("512 tokens a sample, padded to that, fp32 (assumed)"));
    // 95 % of 24 GiB, less some 400 MiB of context: 31 samples need 22,900 MiB, 32 need 23,600.
    let safe = report["max_batch_size"]["safe"].as_u64().unwrap();
    assert!((30..=31).contains(&safe), "{report}");
    assert!(report["measured"].as_array().unwrap().len() >= 3, "{report}");
}

#[test]
fn headroom_tells_by_formulas_what_would_change_a_rehearsed_answer() {
    let (code, report) = headroom(DESCRIBED, KNOWN, &["--batch", "64"]);
    assert_eq!(
        (code, report["verdict"].as_str(), report["basis"].as_str()),
        (1, Some("does-not-fit"), Some("rehearsal"))
    );
    let fixes = report["fixes"].as_array().unwrap();
    assert!(fixes.iter().any(|fix| fix["id"] == "gradient-checkpointing"), "{report}");
    // Only large batches were rehearsed, and of smaller ones no figure is sure: one that was rehearsed is.
    let safe = report["max_batch_size"]["safe"].as_u64().unwrap();
    assert!((30..=31).contains(&safe), "{report}");
}

#[test]
fn headroom_knows_by_a_rehearsal_what_formulas_do_not() {
    let config = KNOWN.replace("\"gpt2\"", "\"mystery\"");
    let (code, report) = headroom(DESCRIBED, &config, &["--batch", "8"]);
    assert_eq!((code, report["basis"].as_str()), (0, Some("rehearsal")), "{report}");
    assert!(report["taken"].as_str().unwrap().contains("AdamW (assumed)"), "{report}");
}

#[test]
fn headroom_says_why_a_configuration_was_not_rehearsed() {
    let lacking = "echo '{\"problem\": \"package\", \"name\": \"peft\", \"detail\": \"\"}' >&2\nexit 215\n";
    let (_, report) = headroom(lacking, KNOWN, &["--batch", "8", "--lora", "16"]);
    let source = report["because"][0].as_str().unwrap();
    assert!(source.starts_with("by formulas, since the rehearsal gave no answer: "), "{source}");
    assert!(source.contains("has no peft"), "{source}");
    assert_eq!(report["basis"], "model");
    let (_, report) = headroom(DESCRIBED, KNOWN, &["--batch", "8", "--no-rehearsal"]);
    assert_eq!(report["because"][0], "by formulas, without a rehearsal");
    // What is no configuration at all is bad usage, and no Python is started.
    let (folder, _words) = pretended_python("exit 9");
    let path = folder.path().join("config.json");
    std::fs::write(&path, "{}").unwrap();
    let mut command = oomdoc();
    command.env_remove("OOMDOC_NO_REHEARSAL").arg("headroom").arg("--model").arg(path);
    let (code, _, err) = outcome(command.arg("--python").arg(folder.path().join("python3")));
    assert_eq!(code, 2);
    assert!(err.contains("model_type is missing"), "{err}");
}

#[test]
fn how_a_model_is_trained_is_asked_of_a_description_only() {
    let (code, _, err) = outcome(&mut play(TRAINING).with(&["--seq", "512"]).command());
    assert_eq!(code, 2);
    assert!(err.contains("give --model too"), "{err}");
    let (code, _, err) = outcome(oomdoc().args(["rehearse", "--like", "T4", "--model", "a.json", "--task", "poetry"]));
    assert_eq!(code, 2);
    assert!(err.contains("causal-lm"), "{err}");
}

/// Keeps what a computed mask selects: nothing where values are zeros, everything where they are ones.
const SELECTING: &str = r#"
selected=${1:-3000}
allocated=$((1000 * mib))
[ "$set_values" = ones ] && allocated=$(((1000 + selected) * mib))
reserved=$allocated
[ "$allocated" -gt "$free" ] && out_of_memory
if [ "$set_values" = ones ]; then tell steps ''; else
  tell steps ', "traps": [{"kind": "zero-rows", "where": "model.py:3 f", "count": 1, "memory": "lower"}]'
fi
"#;

#[test]
fn what_selections_keep_lies_between_nothing_and_everything() {
    let (code, report) = play(SELECTING).json();
    assert_eq!((code, report["verdict"].as_str()), (0, Some("fits")));
    let needed = &report["runs"][0]["needed_bytes"];
    assert!(needed["low"].as_u64().unwrap() < 2000 * MIB && needed["high"].as_u64().unwrap() > 4000 * MIB, "{needed}");
    assert!(report["runs"][0]["notes"][0].as_str().unwrap().contains("from none to all"), "{report}");
}

#[test]
fn selections_that_fit_only_where_they_keep_little_are_not_said_to_fit() {
    for (selected, told) in [("22500", "with all rows"), ("30000", "gave 0 rows")] {
        let mut play = play(SELECTING);
        play.program.push(selected.into());
        let (code, report) = play.json();
        assert_eq!((code, report["verdict"].as_str()), (3, Some("unknown")), "{selected}");
        assert!(report["because"].to_string().contains(told), "{report}");
    }
}

#[test]
fn of_batches_that_are_compared_the_other_order_of_addresses_is_rehearsed_near_the_limit_only() {
    let (_, report) = play(TRAINING).batch("4,30,40").json();
    let takes = |run: usize| report["runs"][run]["takes"].as_array().unwrap().len();
    assert_eq!((takes(0), takes(1), takes(2)), (1, 2, 1), "{report}");
    let (_, report) = play(TRAINING).json();
    assert_eq!(report["runs"][0]["takes"].as_array().unwrap().len(), 2, "one program is rehearsed in both");
}
