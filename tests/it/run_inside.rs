//! `oomdoc run --snapshot`: what PyTorch tells from inside the job, tried with a pretended torch.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use crate::binary::{process, skipped};
use std::path::Path;
use std::process::Output;

/// Grows by 72 MiB in each step until 4 GiB are full.
const LEAKS: &str = "
import torch
torch._C.state['total'] = 4 << 30
optimizer = torch.optim.SGD()
torch.take(1 << 30)
for step in range(100):
    try:
        torch.take(72 << 20)
    except torch.OutOfMemoryError:
        raise torch.OutOfMemoryError(
            'CUDA out of memory. Tried to allocate 72.00 MiB. GPU 0 has a total capacity of 4.00 GiB of which '
            '48.00 MiB is free. Including non-PyTorch memory, this process has 3.95 GiB memory in use. Of the allocated memory '
            '3.95 GiB is allocated by PyTorch, and 0 bytes is reserved by PyTorch but unallocated.')
    optimizer.step()
";

/// Eight steps that need 2 GiB of 4, and then gradients are off.
const STEADY: &str = "
import torch
torch._C.state['total'] = 4 << 30
optimizer = torch.optim.SGD()
torch.take(1 << 30)
for step in range(8):
    torch.take(1 << 30)
    torch.give(1 << 30)
    optimizer.step()
torch.is_grad_enabled = lambda: False
";

/// The requests of [`LEAKS`] alone, one after another until one fails.
fn requests() -> &'static str {
    &LEAKS[LEAKS.find("for step").unwrap()..LEAKS.find("    optimizer.step()").unwrap()]
}

/// Runs a script under `oomdoc run` with these options, in a folder of its own.
fn run(folder: &Path, options: &[&str], script: &str, environment: &[(&str, &str)]) -> Option<Output> {
    if std::process::Command::new("python3").arg("--version").output().is_err() {
        skipped("no python3 on this machine");
        return None;
    }
    std::fs::write(folder.join("train.py"), script).unwrap();
    std::fs::create_dir_all(folder.join("own")).unwrap();
    std::fs::write(folder.join("own/sitecustomize.py"), "import builtins\nbuiltins.own = __name__\n").unwrap();
    let fakes = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fakes/torch");
    let mut command = process();
    command.current_dir(folder).arg("run").args(options).args(["--", "python3", "train.py"]);
    command.env("PYTHONPATH", std::env::join_paths([folder.join("own"), fakes]).unwrap());
    // What the other tests set for themselves.
    command.env_remove("OOMDOC_NO_REHEARSAL");
    command.env("PYTHONDONTWRITEBYTECODE", "1").envs(environment.iter().copied());
    Some(command.output().unwrap())
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn files(folder: &Path) -> usize {
    std::fs::read_dir(folder).into_iter().flatten().count()
}

#[test]
fn a_leak_is_told_by_what_was_allocated_after_each_step_and_the_record_tells_it_again() {
    let folder = tempfile::tempdir().unwrap();
    let options = ["--snapshot=shots", "--record", "run.record"];
    let Some(output) = run(folder.path(), &options, LEAKS, &[]) else { return };
    let told = text(&output);
    assert_eq!(output.status.code(), Some(1), "{told}");
    assert!(told.contains("Why: usage grows over time"), "{told}");
    assert!(told.contains("readings rise from 1.07 GiB to 3.95 GiB"), "{told}");
    assert_eq!(files(&folder.path().join("shots")), 1);

    let record = std::fs::read_to_string(folder.path().join("run.record")).unwrap();
    assert!(record.contains("\"requested\":75497472") && record.contains("\"step\":42"), "{record}");
    let mut again = process();
    again.current_dir(folder.path()).args(["explain", "run.record"]);
    let again = String::from_utf8(again.output().unwrap().stdout).unwrap();
    assert!(again.contains("readings rise from 1.07 GiB to 3.95 GiB"), "{again}");
}

/// The message names no phase. A teacher or a reference model runs without gradients, too: that alone was told as
/// validation.
#[test]
fn what_fails_without_gradients_after_steps_is_validation_and_not_the_jobs_own_need() {
    let failing = requests().replace('\n', "\n    ");
    for (function, validates) in [("evaluate", true), ("teacher", false)] {
        let script = format!("{STEADY}def {function}():\n    {failing}\n{function}()\n");
        let folder = tempfile::tempdir().unwrap();
        let Some(output) = run(folder.path(), &["--snapshot=shots"], &script, &[]) else { return };
        let told = text(&output);
        assert!(told.contains("ran out of memory"), "{told}");
        assert_eq!(told.contains("ran out of memory in validation"), validates, "{told}");
    }
}

#[test]
fn nothing_of_it_shows_in_the_job_and_nothing_is_written_when_all_goes_well() {
    let script = "
import builtins, os, sys, torch
torch.take(10)
assert builtins.own == 'sitecustomize', 'the job has one of its own'
assert not [path for path in sys.path if 'oomdoc-run' in path], sys.path
assert not [finder for finder in sys.meta_path if 'oomdoc' in getattr(finder, '__module__', '')]
assert not [name for name in os.environ if name.startswith('OOMDOC')], os.environ
assert torch._C.state['recording'] == ('all', 'alloc', 'python')
print('fine')
";
    let folder = tempfile::tempdir().unwrap();
    let Some(output) = run(folder.path(), &["--snapshot"], script, &[]) else { return };
    assert_eq!((output.status.code(), output.stdout.as_slice()), (Some(0), &b"fine\n"[..]), "{}", text(&output));
    assert_eq!(files(&folder.path().join("oomdoc-snapshots")), 0);
}

#[test]
fn the_variable_asks_for_it_too_and_without_either_nothing_is_asked() {
    let script = "import torch\ntorch.take(10)\nprint(torch._C.state['recording'] is not None)\n";
    let folder = tempfile::tempdir().unwrap();
    for (value, asked) in [("1", "True\n"), ("0", "False\n"), ("", "False\n"), ("elsewhere", "True\n")] {
        let Some(output) = run(folder.path(), &[], script, &[("OOMDOC_SNAPSHOT", value)]) else { return };
        assert_eq!(String::from_utf8_lossy(&output.stdout), asked, "{value}: {}", text(&output));
    }
}

#[test]
fn errors_that_the_job_survives_are_told_in_one_line() {
    let script = "
import torch
optimizer = torch.optim.SGD()
torch.take(10)
optimizer.step()
try:
    torch.take(5000)
except torch.OutOfMemoryError:
    pass
";
    let folder = tempfile::tempdir().unwrap();
    let Some(output) = run(folder.path(), &["--snapshot=shots"], script, &[]) else { return };
    let told = text(&output);
    assert_eq!(output.status.code(), Some(0), "{told}");
    assert!(told.contains("allocated by PyTorch 10 B at most (step 1 of 1)"), "{told}");
    assert!(told.contains("1 memory snapshot of errors that it survived") && told.lines().count() == 1, "{told}");
}

#[test]
fn a_job_whose_pythons_import_nothing_is_told_in_one_line_and_one_that_does_is_not() {
    const TOLD: &str = "--snapshot had nothing to look at";
    let folder = tempfile::tempdir().unwrap();
    let Some(output) = run(folder.path(), &["--snapshot", "-q"], "print(1)", &[]) else { return };
    assert_eq!(text(&output), "", "it came, although there was nothing to see");
    for job in [["python3", "-I", "-c", "print(1)"], ["sh", "-c", "exit 0", "sh"]] {
        let output = process().current_dir(folder.path()).args(["run", "--snapshot", "-q", "--"]).args(job).output();
        let told = text(&output.unwrap());
        assert!(told.contains(TOLD) && told.lines().count() == 1, "{job:?}: {told}");
    }
}

#[test]
fn what_the_steps_needed_is_recorded_and_held_against_a_failure_that_no_call_names() {
    let script = format!("{STEADY}{}", requests());
    let folder = tempfile::tempdir().unwrap();
    let Some(output) = run(folder.path(), &["--snapshot=shots", "--record", "run.record"], &script, &[]) else {
        return;
    };
    let told = text(&output);
    assert!(told.contains("8 steps peaked at 2.00 GiB at most (step 1) and left 2.00 GiB"), "{told}");
    let record = std::fs::read_to_string(folder.path().join("run.record")).unwrap();
    assert!(record.contains("\"raises\":[[1,2147483648]]") && record.contains("\"device\":0"), "{record}");
}

/// Models of tensors with sizes, over the pretended torch, and what its message would say.
const MODELS: &str = "
import math, torch
torch._C.state['total'] = 2 << 30
class Place:
    index = 0
torch.Tensor.device = Place()
torch.Tensor.grad = None
torch.Tensor.is_cuda = False
torch.Tensor.numel = lambda self: math.prod(self.shape)
torch.Tensor.element_size = lambda self: 4
torch.Tensor.data_ptr = lambda self: id(self)
def to_device(tensor):
    size = tensor.numel() * 4
    try:
        torch.take(size)
    except torch.OutOfMemoryError:
        mib = lambda size: '%.2f MiB' % (size / (1 << 20))
        held = torch._C.state['current']
        raise torch.OutOfMemoryError(
            'CUDA out of memory. Tried to allocate ' + mib(size) + '. GPU 0 has a total capacity of 2.00 GiB of which '
            + mib((2 << 30) - held) + ' is free. Including non-PyTorch memory, this process has ' + mib(held)
            + ' memory in use. Of the allocated memory ' + mib(held)
            + ' is allocated by PyTorch, and 0 bytes is reserved by PyTorch but unallocated.')
    tensor.is_cuda = True
    return tensor
class Net(torch.nn.Module):
    def __init__(self, height):
        self._modules, self._buffers = {}, {}
        self._parameters = {str(i): torch.Tensor(height + i, 1 << 20) for i in range(4)}
    def cuda(self):
        for each in self._parameters.values():
            to_device(each)
        return self
net = Net(64).cuda()
optimizer = torch.optim.SGD()
";

/// [`MODELS`] on a device of 4 GiB, and what follows.
fn larger(then: &str) -> String {
    MODELS.replace("2 << 30", "4 << 30").replace("2.00 GiB", "4.00 GiB") + then
}

/// Of four tensors of 256 to 268 MiB, three of the second model are on the device when the last one fails.
#[test]
fn a_second_model_on_its_way_to_the_device_is_told_and_another_model_is_none() {
    for (height, again) in [(64, true), (65, false)] {
        let script = format!("{MODELS}for step in range(4):\n    optimizer.step()\nother = Net({height}).cuda()\n");
        let folder = tempfile::tempdir().unwrap();
        let Some(output) = run(folder.path(), &["--snapshot=shots"], &script, &[]) else { return };
        let told = text(&output).split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(told.contains("GPU 0 ran out of memory"), "{told}");
        let copied =
            told.contains("the weights of Net (1.02 GiB) lie on the device again, 780.00 MiB in all, made since");
        assert_eq!(copied && told.contains("in 1 module alike (268.00 MiB of it still to come)"), again, "{told}");
        assert_eq!(told.contains("Why: the model or data is loaded twice"), again, "{told}");
    }
}

/// Weights in full precision that the optimizer updates in place of the module's own were told as a second model.
#[test]
fn the_weights_that_an_optimizer_updates_are_no_second_model_and_a_set_that_nobody_has_is_one() {
    let held = "kept = [to_device(torch.Tensor(*each.shape)) for each in net._parameters.values()]\n";
    let fails = "optimizer.step()\nto_device(torch.Tensor(600, 1 << 20))\n";
    for (owner, again) in [("", true), ("optimizer.param_groups = [{'params': kept}]\n", false)] {
        let script = larger(&format!("{held}{owner}{fails}"));
        let folder = tempfile::tempdir().unwrap();
        let Some(output) = run(folder.path(), &["--snapshot=shots"], &script, &[]) else { return };
        let told = text(&output).split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(told.contains("GPU 0 ran out of memory"), "{told}");
        let copied = "lie on the device again, 1.02 GiB in all: in 1 set of tensors that belong to no module";
        assert_eq!(told.contains(copied), again, "{told}");
    }
}

/// Two states for each parameter, as Adam has them: with the gradients more than the device holds.
#[test]
fn states_that_do_not_fit_beside_the_model_are_counted_while_the_optimizer_makes_them() {
    let script = larger(
        "for each in net._parameters.values():
    each.grad = to_device(torch.Tensor(*each.shape))
optimizer.state, optimizer.param_groups = {}, [{'params': list(net._parameters.values())}]
def make_states():
    for each in net._parameters.values():
        kept = optimizer.state[each] = {}
        kept['average'] = to_device(torch.Tensor(*each.shape))
        kept['square'] = to_device(torch.Tensor(*each.shape))
optimizer._step = make_states
optimizer.step()
",
    );
    let folder = tempfile::tempdir().unwrap();
    let Some(output) = run(folder.path(), &["--snapshot=shots"], &script, &[]) else { return };
    let told = text(&output).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(told.contains("Why: the job needs more than the device has"), "{told}");
    // Of 1048 MiB with as much of gradients: both states of three tensors, 2 × 780 MiB, and one of the fourth.
    assert!(told.contains("states, which stay: 1.79 GiB, complete for 780.00 MiB of 1.02 GiB of parameters"), "{told}");
    assert!(
        told.contains("about 268.00 MiB were to come: after that, 4.09 GiB would be allocated of 4.00 GiB"),
        "{told}"
    );
}

#[test]
fn a_module_of_the_same_name_as_torch_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(folder.path().join("own")).unwrap();
    std::fs::write(folder.path().join("own/torch.py"), "value = 7\n").unwrap();
    let Some(output) = run(folder.path(), &["--snapshot", "-q"], "import torch\nprint(torch.value)\n", &[]) else {
        return;
    };
    assert_eq!((output.stdout.as_slice(), text(&output)), (&b"7\n"[..], String::new()));
}

/// Puts a script under this name into a folder of programs.
fn program(folder: &Path, name: &str, text: &str) {
    let path = folder.join(name);
    std::fs::write(&path, text).unwrap();
    std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
}

/// With a pretended `srun` that starts two ranks.
#[test]
fn the_example_for_slurm_leaves_records_and_explains_them() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    std::fs::create_dir(at("bin")).unwrap();
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_oomdoc"), at("bin/oomdoc")).unwrap();
    let srun = "#!/bin/sh\nSLURM_PROCID=0 \"$@\" & SLURM_PROCID=1 \"$@\" & wait $! ; code=$?; wait; exit $code\n";
    program(&at("bin"), "srun", srun);
    let message = "RuntimeError: CUDA out of memory. Tried to allocate 2.00 GiB (GPU 0; 15.78 GiB total capacity; 14.10 \
                   GiB already allocated; 310.75 MiB free; 14.20 GiB reserved in total by PyTorch)";
    program(folder.path(), "train.sh", &format!("#!/bin/sh\necho '{message}' >&2\nexit 1\n"));
    let path = format!("{}:{}", at("bin").display(), std::env::var("PATH").unwrap());
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/jobs");
    let run = |script: &str| {
        let mut command = process();
        let environment: Vec<_> = command.get_envs().map(|(k, v)| (k.to_owned(), v.map(ToOwned::to_owned))).collect();
        command = std::process::Command::new("bash");
        for (name, value) in environment {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        command.arg(examples.join(script)).current_dir(folder.path());
        command.env("PATH", &path).env("SLURM_JOB_ID", "77").env_remove("SLURM_SUBMIT_DIR").output().unwrap()
    };
    let job = run("slurm-job.sh");
    let told = String::from_utf8_lossy(&job.stdout).into_owned();
    assert_eq!(job.status.code(), Some(1), "{told}\n{}", text(&job));
    assert!(told.contains("2.00 GiB asked for"), "{told}\n{}", text(&job));
    assert_eq!(files(&at("records/77")), 2, "a record for each rank");
    assert_eq!(run("slurm-epilog.sh").status.code(), Some(0));
    assert!(std::fs::read_to_string(at("records/77/oomdoc.md")).unwrap().contains("2.00 GiB"));
}

#[test]
fn the_example_for_kubernetes_names_options_that_there_are() {
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/jobs/kubernetes-job.yaml");
    let example = std::fs::read_to_string(example).unwrap();
    let words = |key: &str| -> Vec<String> {
        let line = example.lines().find_map(|line| line.trim().strip_prefix(key)).unwrap();
        serde_json::from_str(line).unwrap()
    };
    let command = words("command: ");
    let folder = tempfile::tempdir().unwrap();
    let at_home =
        |word: &String| if word == "/records/" { format!("{}/", folder.path().display()) } else { word.clone() };
    let output = process().args(command[1..].iter().map(at_home)).args(["sh", "-c", "exit 5"]).output().unwrap();
    assert_eq!((output.status.code(), files(folder.path())), (Some(5), 1), "{}", text(&output));
}
