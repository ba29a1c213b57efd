//! The part of `oomdoc rehearse` that runs inside Python, under a real interpreter with a pretended torch.

#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use crate::binary;

use binary::skipped;
use oomdoc::rehearse::agent::files;
use oomdoc::rehearse::process::{Ended, ProcessReport, read_all};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;

/// What a rehearsed script left behind.
struct Rehearsed {
    folder: TempDir,
    reports: Vec<ProcessReport>,
    output: Output,
}

impl Rehearsed {
    fn stdout(&self) -> String {
        String::from_utf8_lossy(&self.output.stdout).into_owned()
    }

    fn stderr(&self) -> String {
        String::from_utf8_lossy(&self.output.stderr).into_owned()
    }

    fn only(&self) -> &ProcessReport {
        assert_eq!(self.reports.len(), 1, "{}{}", self.stdout(), self.stderr());
        &self.reports[0]
    }

    /// Traps of a kind: how many places, and how often in all.
    fn traps(&self, kind: &str) -> (usize, u64) {
        let of_kind = self.only().traps.iter().filter(|trap| trap.kind == kind);
        of_kind.fold((0, 0), |(places, count), trap| (places + 1, count + trap.count.unwrap_or(0)))
    }
}

/// A Python that the agent can run under; a machine without one skips these tests and says so.
fn python() -> Option<PathBuf> {
    let names = ["/usr/bin/python3", "python3"];
    let works = |name: &&&str| {
        let check = "import sys; sys.exit(sys.version_info < (3, 8))";
        Command::new(name).args(["-c", check]).status().is_ok_and(|status| status.success())
    };
    let found = names.iter().find(works).map(PathBuf::from);
    if found.is_none() {
        skipped("no python3 (3.8 or later) on this machine");
    }
    found
}

fn write(path: &Path, text: &str) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

/// Runs a script with the agent on its path, and further settings.
fn rehearse(script: &str, settings: &[(&str, &str)]) -> Option<Rehearsed> {
    let python = python()?;
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    for (name, text) in files() {
        write(&at("agent").join(name), &text);
    }
    std::fs::create_dir(at("results")).unwrap();
    write(&at("own/sitecustomize.py"), "import builtins\nbuiltins.own_sitecustomize = __name__\n");
    write(&at("train.py"), script);
    let fakes = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fakes/torch");
    let path = std::env::join_paths([at("agent"), at("own"), fakes]).unwrap();
    let mut command = Command::new(python);
    command.arg(at("train.py")).current_dir(folder.path()).env("PYTHONPATH", path).env("PYTHONDONTWRITEBYTECODE", "1");
    let lines = settings.iter().map(|(name, value)| format!("{name}={value}\n"));
    write(&at("settings"), &("steps=3\n".to_owned() + &lines.collect::<String>()));
    let output = command.output().unwrap();
    let reports = read_all(&at("results"));
    Some(Rehearsed { folder, reports, output })
}

/// Changes its parameters by hand.
const NO_OPTIMIZER: &str = "
import torch
for step in range(1000):
    torch.take(200)
    torch.Tensor().backward()
    torch.give(200)
    torch.take(250)
    torch.give(250)
";

#[test]
fn a_script_without_an_optimizer_stops_after_ten_backward_passes_for_each_step() {
    let Some(run) = rehearse(NO_OPTIMIZER, &[]) else { return };
    let report = run.only();
    assert_eq!(
        (report.ended, report.steps, report.micro_steps),
        (Some(Ended::Steps), 30, Some(30)),
        "{}",
        run.stderr()
    );
    assert_eq!(report.devices[0].peak_allocated_bytes, 250, "what follows the last backward pass is seen");
}

const TRAINING: &str = "
import torch
torch.take(100)
optimizer = torch.optim.SGD()
for step in range(1000):
    torch.take(200 + step)
    torch.Tensor().backward()
    torch.give(200 + step)
    torch.take(50)
    optimizer.step()
    torch.give(50)
    print('step', step)
";

#[test]
fn training_stops_after_the_steps_asked_for() {
    let Some(run) = rehearse(TRAINING, &[("snapshot", "1")]) else { return };
    let report = run.only();
    assert_eq!(run.output.status.code(), Some(0), "{}", run.stderr());
    assert_eq!(run.stdout(), "step 0\nstep 1\n", "what was printed is not lost, the third step is the last thing done");
    assert_eq!(report.ended, Some(Ended::Steps));
    assert_eq!((report.steps, report.micro_steps), (3, Some(3)));
    assert_eq!(report.torch.as_deref(), Some("2.99.0+test"));
    let device = &report.devices[0];
    assert_eq!((device.peak_allocated_bytes, device.allocated_bytes, device.total_bytes), (302, Some(150), Some(1000)));
    let peak = report.peak.as_ref().unwrap();
    assert_eq!((peak.step, peak.phase.as_deref()), (Some(3), Some("forward")));
    let of = |step, phase: &str| {
        let mut rows = report.steps_peak.iter();
        rows.find(|row| row.step == step && row.phase.as_deref() == Some(phase)).map(|row| row.peak_allocated_bytes)
    };
    assert_eq!(of(0, "setup"), Some(100));
    assert_eq!(
        [of(1, "forward"), of(2, "forward"), of(3, "forward"), of(4, "forward")],
        [Some(300), Some(301), Some(302), None]
    );
    let snapshot = run.folder.path().join("results").join(report.snapshot.as_ref().unwrap());
    assert_eq!(std::fs::read_to_string(snapshot).unwrap(), "('all', 'alloc', 'python')");
}

#[test]
fn a_program_goes_on_after_the_steps_asked_for_and_later_needs_are_seen() {
    let script = "
import torch
torch.take(100)
model, optimizer = torch.nn.Module(), torch.optim.SGD()
for step in range(20):
    torch.take(200); torch.Tensor().backward(); torch.give(200); optimizer.step()
model.eval()
torch.take(700)
";
    let Some(run) = rehearse(script, &[("ahead", "30")]) else { return };
    let report = run.only();
    assert_eq!((report.ended, report.steps, report.evaluated), (Some(Ended::Exit), 20, true), "{}", run.stderr());
    assert_eq!(report.devices[0].peak_allocated_bytes, 800);
    assert_eq!(report.complete.map(|peak| peak.allocated_bytes), Some(300), "until the third step");

    let endless =
        script.replace("range(20)", "iter(int, 1)").replace("optimizer.step()", "optimizer.step(); time.sleep(.01)");
    let Some(run) = rehearse(&format!("import time{endless}"), &[("ahead", "0.5")]) else { return };
    assert_eq!((run.only().ended, run.output.status.code()), (Some(Ended::Steps), Some(0)), "{}", run.stderr());
    assert!(run.only().steps > 3);
}

#[test]
fn what_a_failed_attempt_took_is_no_need_of_a_program_that_goes_on() {
    let script = "
import torch
optimizer = torch.optim.SGD()
for size in (800, 400, 200):
    try:
        torch.take(300)
        torch.take(size)
        break
    except RuntimeError:
        torch.give(300)
torch.Tensor().backward(); optimizer.step()
torch.take(50)
torch.Tensor().backward(); optimizer.step()
";
    let Some(run) = rehearse(script, &[]) else { return };
    let report = run.only();
    assert!(report.oom.as_ref().is_some_and(|oom| oom.caught && oom.count == Some(1)), "{}", run.stderr());
    assert_eq!(report.devices[0].peak_allocated_bytes, 750);
}

#[test]
fn a_step_is_over_when_every_optimizer_has_stepped() {
    let script = "
import torch
critic, generator = torch.optim.SGD(), torch.optim.SGD()
for iteration in range(1000):
    for _ in range(2):
        torch.take(10); torch.Tensor().backward(); critic.step(); torch.give(10)
    torch.take(99); torch.Tensor().backward(); generator.step(); torch.give(99)
    print(iteration)
";
    let Some(run) = rehearse(script, &[]) else { return };
    assert_eq!(run.stdout(), "0\n1\n", "stopped when the generator had stepped three times: {}", run.stderr());
    assert_eq!(run.only().steps, 6);
    assert_eq!(run.only().devices[0].peak_allocated_bytes, 99);
}

#[test]
fn an_optimizer_that_never_steps_is_not_waited_for_without_end() {
    let script = "
import torch
used, unused = torch.optim.SGD(), torch.optim.SGD()
for iteration in range(1000):
    torch.take(1); torch.give(1); used.step()
";
    let Some(run) = rehearse(script, &[]) else { return };
    assert_eq!((run.only().ended, run.only().steps), (Some(Ended::Steps), 30));
}

#[test]
fn an_error_the_script_does_not_catch_keeps_its_traceback() {
    let script = "
import torch
def train():
    torch.take(900)
    torch.take(400)
torch.optim.SGD()
train()
";
    let Some(run) = rehearse(script, &[]) else { return };
    let (report, oom) = (run.only(), run.only().oom.as_ref().unwrap());
    assert_eq!((report.ended, run.output.status.code()), (Some(Ended::Oom), Some(1)));
    assert_eq!(oom.message, "CUDA out of memory. Tried to allocate 400 bytes.");
    assert!(!oom.caught);
    assert_eq!(oom.phase.as_deref(), Some("forward"));
    let train = oom.stack.iter().position(|row| row == "train.py:5 train").unwrap();
    assert_eq!(oom.stack[train + 1], "train.py:7 <module>", "innermost first");
    assert_eq!((report.devices[0].ooms, report.devices[0].peak_allocated_bytes), (1, 900));
    assert!(
        run.stderr().ends_with("OutOfMemoryError: CUDA out of memory. Tried to allocate 400 bytes.\n"),
        "{}",
        run.stderr()
    );

    let Some(run) = rehearse("import torch\ntorch.take(1)\nraise ValueError('no such file')\n", &[]) else { return };
    let error = run.only().error.as_ref().unwrap();
    assert_eq!(run.only().ended, Some(Ended::Error));
    assert_eq!((error.kind.as_str(), error.message.as_str()), ("ValueError", "no such file"));
    assert_eq!(error.stack, ["train.py:3 <module>"]);
}

#[test]
fn an_error_the_script_catches_is_told_all_the_same() {
    let script = "
import torch
size = 3000
while True:
    try:
        torch.take(size)
        break
    except RuntimeError:
        size //= 2
print(size)
";
    let Some(run) = rehearse(script, &[]) else { return };
    let oom = run.only().oom.as_ref().unwrap();
    assert_eq!((run.stdout().as_str(), run.only().ended), ("750\n", Some(Ended::Exit)));
    assert_eq!((oom.caught, oom.count), (true, Some(2)));
    assert_eq!(oom.message, "CUDA out of memory. Tried to allocate 3000 bytes.", "the first is kept");
}

#[test]
fn the_users_own_sitecustomize_runs_and_the_agent_stays_out_of_sight() {
    let script = "
import builtins, sys
assert builtins.own_sitecustomize == 'sitecustomize'
assert '/own/' in sys.modules['sitecustomize'].__file__
assert not any(entry.endswith('/agent') for entry in sys.path), sys.path
import os
assert not [name for name in os.environ if 'OOMDOC' in name], os.environ
";
    let Some(run) = rehearse(script, &[]) else { return };
    assert_eq!(run.output.status.code(), Some(0), "{}", run.stderr());
    assert_eq!(run.only().torch, None, "a script that never imports torch says so by a file without it");
    assert!(run.only().devices.is_empty());
}

#[test]
fn time_that_is_up_tells_where_the_script_stood() {
    let script = "
import time, torch
torch.take(7)
def wait():
    while True:
        time.sleep(0.01)
wait()
";
    let Some(run) = rehearse(script, &[("time", "1")]) else { return };
    let stack = &run.only().stopped_at.as_ref().unwrap().stack;
    assert_eq!(run.only().ended, Some(Ended::Time));
    assert!(stack.contains(&"train.py:7 <module>".to_owned()), "{stack:?}");
    assert_eq!(run.only().devices[0].peak_allocated_bytes, 7);
}

#[test]
fn forked_workers_write_nothing_unless_they_use_the_device() {
    let script = "
import os, torch
def child(work):
    pid = os.fork()
    if pid == 0:
        work()
        os._exit(0)
    assert os.waitpid(pid, 0)[1] == 0
def trains():
    optimizer = torch.optim.SGD()
    torch.take(5)
    optimizer.step()
child(lambda: None)
child(trains)
torch.take(3)
child(lambda: None)
";
    let Some(run) = rehearse(script, &[]) else { return };
    assert_eq!(run.output.status.code(), Some(0), "{}", run.stderr());
    let mut found: Vec<_> =
        run.reports.iter().map(|report| (report.devices[0].peak_allocated_bytes, report.steps)).collect();
    found.sort_unstable();
    assert_eq!(found, [(3, 0), (5, 1)]);
}

#[test]
fn the_script_reads_the_peak_counters_as_if_alone() {
    let script = "
import torch
torch.take(500); torch.give(500)
optimizer = torch.optim.SGD()
assert torch.cuda.max_memory_allocated() == 500
torch.cuda.reset_peak_memory_stats()
assert torch.cuda.max_memory_allocated() == 0
torch.take(60); torch.give(60)
torch.Tensor().backward(); optimizer.step()
assert torch.cuda.max_memory_allocated() == 60
torch.take(40); torch.give(40)
assert torch.cuda.max_memory_allocated() == 60
";
    let Some(run) = rehearse(script, &[]) else { return };
    assert_eq!(run.output.status.code(), Some(0), "{}", run.stderr());
    assert_eq!(run.only().devices[0].peak_allocated_bytes, 500);
}

#[test]
fn guards_against_infinite_values_pass_and_are_told() {
    let script = "
import torch
torch.take(1)
for step in range(3):
    assert torch.isfinite(torch.Tensor())._oomdoc_answer
    assert torch.Tensor().isfinite().all()._oomdoc_answer
assert not hasattr(torch.Tensor().all(), '_oomdoc_answer')
";
    let Some(run) = rehearse(script, &[]) else { return };
    assert_eq!(run.output.status.code(), Some(0), "{}", run.stderr());
    assert_eq!(run.traps("isfinite"), (2, 6));
    assert_eq!(run.only().traps[0].place.as_deref(), Some("train.py:5 <module>"));
}

#[test]
fn the_scale_of_gradients_falls_where_values_are_assumed_to_be_large() {
    let script = "
import torch
torch.take(1)
scaler = torch.amp.grad_scaler.GradScaler()
scaler._lazy_init_scale_growth_tracker(None)
scales = []
for step in range(20):
    scaler.update()
    scales.append(scaler.get_scale())
print(scales[0], scales[1], scales[-1])
";
    let Some(run) = rehearse(script, &[]) else { return };
    assert_eq!((run.stdout().as_str(), run.traps("scale-read")), ("65536.0 65536.0 65536.0\n", (1, 20)));
    let Some(run) = rehearse(script, &[("values", "large")]) else { return };
    assert_eq!(run.stdout(), "32768.0 16384.0 1.0\n");
}

#[test]
fn no_answer_is_given_where_none_is_wanted() {
    let script = "
import torch
torch.take(1)
assert not hasattr(torch.isfinite(torch.Tensor()), '_oomdoc_answer')
";
    let Some(run) = rehearse(script, &[("answers", "none")]) else { return };
    assert_eq!(run.output.status.code(), Some(0), "{}", run.stderr());
    assert_eq!(run.traps("isfinite"), (0, 0));
}

#[test]
fn checkpoints_do_not_overwrite_good_ones() {
    let script = "
import torch
open('best.pt', 'w').write('good')
class Host:
    is_cuda = False
torch.save({'data': Host()}, 'cache.pt')
torch.take(1)
torch.save({'data': [Host()]}, 'cache2.pt')
torch.save({'model': {'weight': torch.Tensor()}}, 'best.pt')
optimizer = torch.optim.SGD()
torch.save({'model': Host()}, 'best.pt')
for name in ('best.pt', 'cache.pt', 'cache2.pt'):
    print(open(name).read())
";
    let Some(run) = rehearse(script, &[]) else { return };
    assert_eq!(run.stdout(), "good\nsaved\nsaved\n", "{}", run.stderr());
    assert_eq!(run.traps("checkpoint"), (2, 2));
    assert!(run.only().traps.iter().all(oomdoc::rehearse::process::Trap::keeps_memory));
}

#[test]
fn hooks_that_fail_leave_the_script_alone() {
    // The pretended torch has no library to register kernels with.
    let Some(run) = rehearse(TRAINING, &[]) else { return };
    assert!(run.only().failures.iter().any(|failure| failure.starts_with("values.kernels: AttributeError")));

    let without_results = format!("import shutil\nshutil.rmtree('results')\n{TRAINING}");
    let Some(run) = rehearse(&without_results, &[]) else { return };
    assert_eq!(run.output.status.code(), Some(0));
    assert_eq!((run.stdout().as_str(), run.stderr().as_str()), ("step 0\nstep 1\n", ""));
    assert!(run.reports.is_empty());

    let script = "import torch\ndel torch.OutOfMemoryError\n";
    let Some(run) = rehearse(script, &[("time", "soon"), ("steps", "")]) else {
        return;
    };
    assert_eq!(run.output.status.code(), Some(0), "{}", run.stderr());
}

#[test]
fn the_batch_is_the_one_that_the_loader_gave() {
    let script = "
import torch
from torch.utils.data import DataLoader
torch.take(30)
for batch in DataLoader([{'ids': torch.Tensor(16, 512)}, {'ids': torch.Tensor(3, 512)}]):
    torch.take(5); torch.give(5)
";
    let Some(run) = rehearse(script, &[]) else { return };
    let batch = run.only().batch.as_ref().unwrap();
    assert_eq!((batch.observed, batch.from.as_deref()), (Some(16), Some("DataLoader")));
    assert_eq!(run.only().settings["data_workers"], 2);
}

#[test]
fn the_result_is_never_a_part_of_a_file() {
    let script = "
import os, torch
optimizer = torch.optim.SGD()
torch.take(1)
optimizer.step()
os.kill(os.getpid(), 9)
";
    let Some(run) = rehearse(script, &[]) else { return };
    assert_eq!((run.only().ended, run.only().steps), (None, 1), "what was known after the first step is there");
    let names: Vec<_> = std::fs::read_dir(run.folder.path().join("results"))
        .unwrap()
        .flatten()
        .map(|entry| entry.file_name())
        .collect();
    assert_eq!(names.len(), 1, "{names:?}");
}

#[test]
fn runs_that_are_compared_draw_the_same_random_numbers_unless_the_script_chooses_its_own() {
    let script = "
import random
print(random.random())
random.seed(7)
print(random.random())
";
    let drawn = |offline: &str| Some(rehearse(script, &[("offline", offline)])?.stdout());
    let (Some(first), Some(second), Some(own)) = (drawn("1"), drawn("1"), drawn("0")) else { return };
    assert_eq!(first, second);
    assert_eq!(first.lines().nth(1), own.lines().nth(1), "its own seed counts");
    assert_ne!(first.lines().next(), own.lines().next(), "with a network, ports are chosen by chance");
}
