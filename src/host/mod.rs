//! The machine around the GPU: plain readers of `/proc` and `/sys` under a root path, so that a container can read its
//! node's files where they are mounted, and a test its own.

pub mod cgroup;
pub mod kernel_log;
pub mod meminfo;
pub mod processes;
pub mod shm;
pub mod warnings;

use crate::order::InOrder;
use crate::reading::{Reading, unavailable};
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

/// Files of `/proc` and `/sys` are small; more than this is none of them.
const LARGEST_FILE: u64 = 4 << 20;

/// Nearly all of them fit.
const MOST_FILES: usize = 8 << 10;

/// Where the machine's files lie: `/`, or a folder in which another machine's are mounted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Root(PathBuf);

impl Default for Root {
    fn default() -> Root {
        Root(PathBuf::from("/"))
    }
}

impl Root {
    pub fn at(folder: impl Into<PathBuf>) -> Root {
        Root(folder.into())
    }

    /// True where these are the files of the running system.
    pub fn is_own(&self) -> bool {
        self.0 == Path::new("/")
    }

    /// The path of a file given from the root, such as `proc/meminfo`.
    pub fn path(&self, relative: &str) -> PathBuf {
        self.0.join(relative.trim_start_matches('/'))
    }

    /// A text file, lossy where it is no UTF-8.
    pub fn text(&self, relative: &str) -> Reading<String> {
        // Most are read in one call then; without, the first of a dozen asks for 32 bytes.
        let mut bytes = Vec::with_capacity(MOST_FILES);
        let read =
            std::fs::File::open(self.path(relative)).and_then(|file| file.take(LARGEST_FILE).read_to_end(&mut bytes));
        match read {
            Ok(_) => Ok(String::from_utf8_lossy(&bytes).into_owned()),
            Err(error) => missing(relative, &error),
        }
    }

    /// A file that holds one whole number.
    pub fn number(&self, relative: &str) -> Reading<u64> {
        let text = self.text(relative)?;
        match text.trim().parse() {
            Ok(number) => Ok(number),
            Err(_) => unavailable(format!("/{relative} holds no number"), format!("/{relative} 中不是数字")),
        }
    }

    /// The names in a folder, sorted.
    pub fn names(&self, relative: &str) -> Reading<Vec<String>> {
        match std::fs::read_dir(self.path(relative)) {
            Ok(entries) => {
                let mut names: Vec<String> =
                    entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
                names.order_by(Ord::cmp);
                Ok(names)
            }
            Err(error) => missing(relative, &error),
        }
    }

    /// Where a symbolic link points, as the kernel prints it.
    pub fn link(&self, relative: &str) -> Reading<String> {
        match std::fs::read_link(self.path(relative)) {
            Ok(target) => Ok(target.to_string_lossy().into_owned()),
            Err(error) => missing(relative, &error),
        }
    }

    pub fn exists(&self, relative: &str) -> bool {
        self.path(relative).exists()
    }
}

/// Why a file could not be read.
fn missing<T>(relative: &str, error: &std::io::Error) -> Reading<T> {
    let relative = relative.trim_start_matches('/');
    match error.kind() {
        ErrorKind::NotFound => unavailable(format!("/{relative} does not exist here"), format!("此处没有 /{relative}")),
        ErrorKind::PermissionDenied => {
            unavailable(format!("no permission to read /{relative}"), format!("没有读取 /{relative} 的权限"))
        }
        _ => unavailable(format!("/{relative} cannot be read ({error})"), format!("无法读取 /{relative}（{error}）")),
    }
}

/// The host's side of a probe.
#[derive(Debug, Clone)]
pub struct Host {
    pub memory: Reading<meminfo::Memory>,
    pub pressure: Reading<meminfo::Pressure>,
    pub groups: Reading<cgroup::Groups>,
    pub shm: Reading<shm::Shm>,
    /// The largest processes first.
    pub processes: Reading<Vec<processes::Process>>,
    pub kernel: Reading<kernel_log::KernelLog>,
}

impl Host {
    pub fn read(root: &Root) -> Host {
        Host {
            memory: meminfo::Memory::read(root),
            pressure: meminfo::Pressure::read(root, "proc/pressure/memory"),
            groups: cgroup::Groups::read(root),
            shm: shm::Shm::read(root),
            processes: processes::largest(root),
            kernel: kernel_log::KernelLog::read(root),
        }
    }
}
