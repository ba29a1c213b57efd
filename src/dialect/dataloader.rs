//! PyTorch's data-loading workers: killed ones (`torch/csrc/DataLoader.cpp`), those that merely ended, and their
//! shared memory (`aten/src/ATen/MapAllocator.cpp`).

use super::labelled::{Labelled, Unit};
use super::proof::{self, Witness};
use super::{Dialect, Event, Fact, Resource, Sign, Standing, field, kernel};
use crate::domain::{Number, Program};
use crate::evidence::Span;
use crate::input::Document;
use crate::text;

pub const DIALECT: Dialect = Dialect {
    name: "dataloader",
    triggers: &["DataLoader worker", "shared memory", "</torch_", "llocate ", "/dev/shm", "left on device"],
    read,
};

/// What a worker's handler of SIGBUS says before it dies, torch's and Paddle's alike.
const TOO_SMALL: &str = "insufficient shared memory (shm)";
/// Lines between the deaths of workers that die together.
const TOGETHER: usize = 6;
/// How far a worker's own words stand from the main process' report of its death: a traceback in between.
const NEAR: usize = 60;

fn read(document: &Document, position: usize) -> Option<Event> {
    let line = field::text(document, position);
    // Paddle's message of a bus error names the worker as well.
    if line.contains("DataLoader worker") && !line.contains(TOO_SMALL) {
        return worker(document, position);
    }
    bus_error(document, position)
        .or_else(|| shared_file(document, position))
        .or_else(|| full_device(document, position))
}

/// True for a line that names a file in shared memory or the code that makes one.
fn in_shared_memory(line: &str) -> bool {
    // `_share_fd_cpu_`, `_share_filename_cpu_`: torch/multiprocessing/reductions.py and torch/storage.py.
    const PLACES: [&str; 8] = [
        "</torch_",
        "/dev/shm",
        "multiprocessing/heap.py",
        "multiprocessing/shared_memory.py",
        "SemLock(",
        // A lock of several processes is a file there, whose making CPython spreads over two lines.
        "multiprocessing/synchronize.py",
        "_share_f",
        "SharedMemory(create=True",
    ];
    PLACES.iter().any(|place| line.contains(place))
}

/// `No space left on device`: a disk, unless the traceback leads into shared memory.
fn full_device(document: &Document, position: usize) -> Option<Event> {
    let line = field::text(document, position);
    if !line.contains("No space left on device") {
        return None;
    }
    let shared = in_shared_memory(line)
        || field::before(position, 12)
            .map(|at| field::text(document, at))
            // Another error's message ends this one's traceback.
            .take_while(|line| !line.contains("Error: "))
            .any(in_shared_memory);
    // What was raised as this was handled names the file that could not be written.
    let shared = shared || {
        let behind = || field::behind(document, position, NEAR).map(|at| field::text(document, at));
        let handled = behind().take(4).any(|line| line.starts_with("During handling of the above exception"));
        handled && behind().any(|line| line.contains("Error: ") && line.contains("/dev/shm/"))
    };
    // joblib keeps arrays for its workers in /dev/shm, where there is one; `df`, asked afterwards, finds it full.
    let shared = shared || {
        let above = || field::before(position, 12).map(|at| field::text(document, at));
        let behind = || field::behind(document, position, NEAR).map(|at| field::text(document, at));
        above().any(|line| line.contains("joblib/_memmapping_reducer.py"))
            && behind().any(|line| line.contains(" 100% ") && line.trim_end().ends_with("/dev/shm"))
    };
    // A program that names its segment has a message of its own.
    if !shared && (line.contains("shared memory") || line.contains("shm connection")) {
        return None;
    }
    let mut event = field::event(document, position, "shared-memory-full", Program::Python, Resource::Shm);
    event.sign(Sign::NoFigures);
    if !shared {
        event.make_harmless(text!(
            en: "a disk or quota is full, not the memory",
            zh: "磁盘或配额已满，并非内存不足"
        ));
    }
    Some(event)
}

/// The ends of a worker that the main process reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Killed,
    Bus,
    /// A signal that the message does not name; seen where the process was killed while being stopped.
    UnknownSignal,
    /// A signal of a bug or of a person.
    OtherSignal,
    /// It ended with this code; `None` where the message gives none.
    Exited(Option<i64>),
}

/// The pids and the end told by a message that begins at `message`, or nothing for a source line that merely holds it.
fn death(message: &str) -> Option<(Option<u64>, End)> {
    let tail = field::after(message, "DataLoader worker (pid")?;
    let tail = tail.strip_prefix("(s)").unwrap_or(tail);
    let (pids, told) = tail.split_once(") ")?;
    if pids.contains('{') || pids.contains('%') || pids.len() > 400 {
        return None;
    }
    let pid = pids.split(|c: char| !c.is_ascii_digit()).find_map(|digits| digits.parse().ok());
    if let Some(signal) = field::after(told, "is killed by signal:") {
        let end = if signal.starts_with("Killed") {
            End::Killed
        } else if signal.starts_with("Bus") {
            End::Bus
        } else if signal.starts_with("Unknown signal") {
            End::UnknownSignal
        } else {
            End::OtherSignal
        };
        return Some((pid, end));
    }
    if told.starts_with("exited unexpectedly") {
        return Some((pid, End::Exited(field::signed_after(told, "with exit code"))));
    }
    None
}

fn worker(document: &Document, position: usize) -> Option<Event> {
    let line = field::text(document, position);
    let (pid, end) = death(line).or_else(|| death(&field::unwrapped(document, position, 3)))?;
    let mut event = field::event(document, position, "dataloader-worker", Program::Pytorch, Resource::Host);
    event.sign(Sign::DataLoaderWorker);
    event.sign(Sign::NoFigures);
    field::note_pid(&mut event, pid);
    field::note_number(&mut event, Number::WorkerPid, pid.map(|pid| pid as f64));
    if let End::Exited(Some(code)) = end {
        field::note_number(&mut event, Number::ExitCode, Some(code as f64));
    }
    match end {
        End::Bus => {
            event.dialect = "dataloader-bus-error";
            event.resource = Resource::Shm;
            if field::before(position, NEAR).any(|at| tells_of_full_shm(field::text(document, at))) {
                event.standing = Standing::Follower;
            }
        }
        End::Killed | End::Exited(Some(-9 | 137)) => killed(document, position, pid, &mut event),
        // `Unknown signal: 0`: torch read the worker's end before its signal was known.
        End::UnknownSignal => {
            event.sign(Sign::EndUntold);
            killed(document, position, pid, &mut event);
        }
        End::Exited(None) => {
            event.dialect = "dataloader-exited";
            let reason = field::before(position, NEAR).find_map(|at| reason(field::text(document, at)));
            match reason {
                Some(resource) => {
                    event.resource = resource;
                    event.standing = Standing::Follower;
                }
                None => {
                    event.sign(Sign::EndUntold);
                    killed(document, position, pid, &mut event);
                }
            }
        }
        End::Exited(Some(_)) => {
            event.dialect = "dataloader-exited";
            event.make_harmless(text!(
                en: "the worker ended with an ordinary exit code, so it failed by an error of its own, not by the killer",
                zh: "worker 以普通退出码结束，属于自身报错，并非被 OOM killer 杀死"
            ));
        }
        End::OtherSignal => {
            event.make_harmless(text!(
                en: "this signal comes from a bug in native code or from someone stopping the job, not from a lack of memory",
                zh: "该信号来自原生代码缺陷或人为终止，并非内存不足"
            ));
        }
    }
    Some(event)
}

/// Completes the event of a killed worker with what the surroundings prove.
fn killed(document: &Document, position: usize, pid: Option<u64>, event: &mut Event) {
    // Workers that die together are one failure, and its first death has been looked into.
    if field::before(position, TOGETHER).any(|at| field::text(document, at).contains("is killed by signal: Killed")) {
        event.standing = Standing::Follower;
        event.sign(Sign::KilledWithoutProof);
        return;
    }
    let Some(proof) = proof::around(document, position, pid) else {
        event.sign(Sign::KilledWithoutProof);
        return;
    };
    event.resource = proof.resource;
    event.signs.insert(Sign::KilledWithProof, proof.at);
    if proof.witness == Witness::Kernel
        && let Some(report) = pid.and_then(|pid| kernel::report_of(document, proof.position, pid))
    {
        kernel::adopt(event, &report);
    }
}

/// The failure that an earlier line tells, for a worker that "exited unexpectedly" after it.
fn reason(line: &str) -> Option<Resource> {
    if line.contains("DataLoader worker") {
        return match death(line) {
            Some((_, End::Bus)) => Some(Resource::Shm),
            Some((_, End::Killed | End::UnknownSignal)) => Some(Resource::Host),
            _ => None,
        };
    }
    tells_of_full_shm(line).then_some(Resource::Shm)
}

fn tells_of_full_shm(line: &str) -> bool {
    line.contains(TOO_SMALL)
        || line.contains("bus error encountered in worker")
        || line.contains("unable to write to file </torch_")
        || line.contains("unable to allocate shared memory(shm)")
}

/// The worker whose death by a bus error is reported after a message of its own that names no pid.
fn pid_told_later(document: &Document, position: usize) -> Option<u64> {
    field::behind(document, position, NEAR).find_map(|at| match death(field::text(document, at)) {
        Some((pid, End::Bus)) => pid,
        _ => None,
    })
}

/// A worker's own message on its way down; an editor may have put its second sentence on the next line.
fn bus_error(document: &Document, position: usize) -> Option<Event> {
    let line = field::text(document, position);
    if !line.contains(TOO_SMALL) {
        return None;
    }
    // `…, please check whether use_shared_memory is set and storage space in /dev/shm is enough`
    // (paddle/fluid/imperative/data_loader.cc).
    let program = if line.contains("use_shared_memory") { Program::Paddle } else { Program::Pytorch };
    let wrapped = !line.contains("bus error")
        && position > 0
        && field::text(document, position - 1).contains("bus error encountered in worker");
    let start = if wrapped { position - 1 } else { position };
    let mut event = field::event(document, start, "dataloader-bus-error", program, Resource::Shm);
    event.at.last = field::number(document, position);
    event.sign(Sign::DataLoaderWorker);
    event.sign(Sign::NoFigures);
    let pid = pid_told_later(document, position);
    field::note_pid(&mut event, pid);
    field::note_number(&mut event, Number::WorkerPid, pid.map(|pid| pid as f64));
    if field::before(start, NEAR).any(|at| tells_of_full_shm(field::text(document, at))) {
        event.standing = Standing::Follower;
    }
    Some(event)
}

/// No more than this a machine that still runs has free at any time.
const FEW_PAGES: u64 = 64 << 10;

/// A file in shared memory that could not be made, filled or mapped.
fn shared_file(document: &Document, position: usize) -> Option<Event> {
    let line = field::text(document, position);
    let wording = [
        "unable to write to file </torch_",
        "unable to allocate shared memory(shm)",
        "unable to mmap",
        "unable to open shared memory object",
        "unable to resize file",
        "unable to stretch file",
        "No space left on device: '/dev/shm",
        "truncate shm file",
    ]
    .into_iter()
    .find_map(|wording| line.find(wording))?;
    let message = &line[wording..];
    let opens = message.starts_with("unable to open");
    let mut event = field::event(document, position, "torch-shared-file", Program::Pytorch, Resource::Shm);
    let next = field::text(document, position + 1);
    let errno = field::after(message, "(")
        .into_iter()
        .chain(message.rsplit('(').next())
        .chain(next.trim_start().strip_prefix('('))
        .find_map(|tail| field::leading_number(tail).filter(|_| tail.contains(')')));
    let told = |errno_wanted: u64, words: &str| {
        errno == Some(errno_wanted) || message.contains(words) || message.ends_with(':') && next.contains(words)
    };
    field::note_number(&mut event, Number::Errno, errno.map(|errno| errno as f64));
    if let Some(figure) = Labelled::at(document, position, 2).figure("unabletommap", Unit::Counted(1, "bytes")) {
        event.facts.note(Fact::Requested, figure);
    }
    let harmless = if told(24, "Too many open files") {
        Some(text!(
            en: "the process ran out of file descriptors (ulimit -n), not of memory",
            zh: "进程耗尽的是文件描述符（ulimit -n），不是内存"
        ))
    } else if told(2, "No such file") || told(17, "File exists") || told(13, "Permission denied") {
        Some(text!(
            en: "the shared file was missing, taken or not permitted: usually its owner had already ended; no memory ran out",
            zh: "共享文件不存在、已被占用或无权限，通常是其所有者进程已结束，并非内存不足"
        ))
    } else if opens && !told(12, "Cannot allocate memory") && !told(28, "No space left on device") {
        // PyTorch before 1.9 doesn't print the code.
        Some(text!(
            en: "the shared file could not be opened, which takes no memory: as a rule too many are open (ulimit -n)",
            zh: "共享文件无法打开，这并不占用内存：通常是打开的文件过多（ulimit -n）"
        ))
    } else {
        None
    };
    if let Some(because) = harmless {
        event.make_harmless(because);
        return Some(event);
    }
    // A few pages are there as long as anything runs: what ended is the number of mappings (vm.max_map_count).
    let few = event.facts.get(Fact::Requested).is_some_and(|asked| asked.bytes <= FEW_PAGES);
    if told(12, "Cannot allocate memory") && few {
        event.resource = Resource::Host;
        event.sign(Sign::MappingsRanOut);
        event.at = Span::line(event.at.first);
        return Some(event);
    }
    // Without a file in shared memory the mapping is plain memory: a checkpoint, say.
    if told(12, "Cannot allocate memory") && !in_shared_memory(line) {
        event.resource = Resource::Host;
        event.sign(Sign::MappedFile);
    }
    if let Some(pid) = pid_told_later(document, position) {
        event.sign(Sign::DataLoaderWorker);
        field::note_pid(&mut event, Some(pid));
    }
    event.at = Span::line(event.at.first);
    Some(event)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deaths_and_source_lines_are_told_apart() {
        let of = |text: &str| death(text);
        assert_eq!(of("DataLoader worker (pid 31) is killed by signal: Killed. "), Some((Some(31), End::Killed)));
        assert_eq!(of("DataLoader worker (pid(s) 7, 9) exited unexpectedly"), Some((Some(7), End::Exited(None))));
        assert_eq!(
            of("DataLoader worker (pid 7) exited unexpectedly with exit code 1. Details"),
            Some((Some(7), End::Exited(Some(1))))
        );
        assert_eq!(of("DataLoader worker (pid XX) is killed by signal: Bus error."), Some((None, End::Bus)));
        assert_eq!(of("raise RuntimeError(f'DataLoader worker (pid(s) {pids_str}) exited unexpectedly') from e"), None);
        assert_eq!(of("'DataLoader worker (pid(s) {}) exited unexpectedly'.format(pids_str)"), None);
    }
}
