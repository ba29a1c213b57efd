//! Many runs of one import: what the first run imported is imported once more, and further runs are forked from there.

#![cfg(all(target_os = "linux", target_arch = "x86_64"))]
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use crate::binary;

use binary::{oomdoc, outcome, skipped};
use oomdoc::rehearse::stubs::{self, Stub};
use serde_json::Value;
use std::fs;
use std::path::Path;

/// Takes a thousand bytes for each sample of its batch, and fails where it finds what an earlier run wrote.
const TRAINING: &str = "
import heavy, os, sys, torch
batch = int(sys.argv[1])
assert os.environ['SIZE'] == sys.argv[1] and not os.path.exists('seen'), os.listdir('.')
open('seen', 'w').write('by this run')
optimizer = torch.optim.SGD()
torch._C.state['total'] = 10000
torch.take(1000 * batch)
for step in range(5):
    torch.Tensor().backward()
    optimizer.step()
";

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let to = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &to);
        } else {
            fs::copy(entry.path(), to).unwrap();
        }
    }
}

/// A pretended torch as a package: with a version, and a library that asks for the CUDA runtime.
fn packages(folder: &Path, heavy: &str) {
    copy(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fakes/torch/torch"), &folder.join("torch"));
    fs::write(folder.join("torch/version.py"), "__version__ = '2.99.0+cu124'\ncuda = '12.4'\n").unwrap();
    fs::create_dir(folder.join("torch/lib")).unwrap();
    let library = stubs::write("libtorch_cuda.so", "libcudart.so.12", &Stub::default()).unwrap();
    fs::write(folder.join("torch/lib/libtorch_cuda.so"), library).unwrap();
    fs::write(folder.join("heavy.py"), heavy.to_owned() + "import sys\nsys.stderr.write('imported\\n')\n").unwrap();
}

#[test]
fn further_runs_are_forked_with_arguments_environment_and_files_of_their_own() {
    forks("");
}

/// As dill does: the standard library finds the folder for temporary files by writing to it.
#[test]
fn a_library_that_tries_the_temporary_folder_when_it_is_imported_is_forked_too() {
    forks("import tempfile\nWHERE = tempfile.gettempdir()\ntempfile.TemporaryDirectory().cleanup()\n");
}

/// Rehearses three batches with a library that does this when it is imported, which happens once.
fn forks(heavy: &str) {
    let python = "/usr/bin/python3";
    let check = "import sys; sys.exit(sys.version_info < (3, 10))";
    if !std::process::Command::new(python).args(["-c", check]).status().is_ok_and(|status| status.success()) {
        return skipped("no /usr/bin/python3 (3.10 or later) on this machine");
    }
    let folder = tempfile::tempdir().unwrap();
    let packages_folder = folder.path().join("site-packages");
    packages(&packages_folder, heavy);
    fs::write(folder.path().join("train.py"), TRAINING).unwrap();
    let mut command = oomdoc();
    command.current_dir(folder.path()).env("PYTHONPATH", &packages_folder);
    command.args(["rehearse", "--gpu-memory", "1GiB", "--batch", "1,2,3", "--ahead", "0s", "--show-output", "--json"]);
    // Near the limit both orders of addresses are rehearsed.
    command.args([
        "--headroom",
        "70%",
        "--view",
        "overlay",
        "--env",
        "SIZE={batch}",
        "--",
        python,
        "train.py",
        "{batch}",
    ]);
    let (_, out, err) = outcome(&mut command);
    if err.contains("private view") {
        return skipped(&format!("no namespaces on this machine: {err}"));
    }
    let report: Value = serde_json::from_str(&out).unwrap_or_else(|error| panic!("{error}: {out}\n{err}"));
    let runs = report["runs"].as_array().unwrap();
    let peaks: Vec<Vec<u64>> = runs
        .iter()
        .map(|run| {
            run["takes"].as_array().unwrap().iter().map(|take| take["allocated_bytes"].as_u64().unwrap()).collect()
        })
        .collect();
    assert_eq!(peaks, [[1000, 1000], [2000, 2000], [3000, 3000]], "{err}");
    assert_eq!(err.matches("imported\n").count(), 1, "six runs, one of which was started anew\n{err}");
    assert!(!folder.path().join("seen").exists());
}
