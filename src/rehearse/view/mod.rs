//! The private view in which a rehearsed command runs: what it writes, renames and removes touches nothing of the
//! user's.
//!
//! | level | where it can be had | what the command sees |
//! |---|---|---|
//! | [`Level::Overlay`] | user and mount namespaces | every folder is copy-on-write; what can't be is read-only |
//! | [`Level::Landlock`] | Linux 5.13, no namespaces (containers) | writes are refused, those of Python redirected |
//! | [`Level::Agent`] | everywhere | Python's writes are redirected; those of other programs are not stopped |
//! | [`Level::Off`] | asked for | the files as they are |
//!
//! The command is started by this program itself, as a hidden subcommand ([`stage`]): it enters the namespaces, mounts,
//! and becomes the command. Afterwards [`changes`] lists what was written and removed in the view.

pub mod changes;
#[cfg(target_os = "linux")]
pub mod stage;
#[cfg(target_os = "linux")]
mod sys;

use crate::domain::closed_set;
use std::path::{Path, PathBuf};

/// The argument with which the program starts itself to enter a view.
pub const NAME: &str = "rehearse-view";
/// The folder of a view inside the private one: the layers of an overlay, or the copies of redirected files.
pub const FOLDER: &str = "view";
/// The private folder for temporary files where the shared one can't be written.
pub const TEMPORARY: &str = "tmp";
/// Where the stage notes the mount namespace that it entered.
pub const NAMESPACE: &str = "namespace";
/// What the stage writes among the results where the command does not start.
pub const NOT_STARTED: &str = "not-started";

closed_set! {
    /// How the user's files are kept from the command.
    pub enum Level {
        /// A copy-on-write overlay in namespaces.
        Overlay = "overlay",
        /// The kernel refuses writes, and those of Python are redirected.
        Landlock = "landlock",
        /// The writes of Python are redirected.
        Agent = "agent",
        /// The files as they are: --allow-writes.
        Off = "off",
    }
}

impl Level {
    /// Whether the agent redirects what Python writes.
    pub fn redirects(self) -> bool {
        matches!(self, Level::Landlock | Level::Agent)
    }
}

/// The view of one command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct View {
    pub level: Level,
    /// The command reaches no other machine. Namespaces enforce it for every program, the agent for Python alone.
    pub offline: bool,
    /// This program, which the stage is a subcommand of.
    pub program: Option<PathBuf>,
}

impl View {
    /// The files as they are, and the network: for commands of our own.
    pub fn none() -> View {
        View { level: Level::Off, offline: false, program: None }
    }
}

/// Whether a level can be had, tried with a command that does nothing.
pub fn can_be_had(program: &Path, base: &Path, level: Level, offline: bool) -> bool {
    let Ok(folder) = tempfile::Builder::new().prefix("oomdoc-view-").tempdir_in(base) else { return false };
    let mut command = std::process::Command::new(program);
    command.args(arguments(level, offline, folder.path())).arg("--");
    let quiet = || std::process::Stdio::null();
    command.stdin(quiet()).stdout(quiet()).stderr(quiet());
    command.status().is_ok_and(|status| status.success())
}

/// The arguments of the stage before `--` and the command; without a command it only tries.
pub fn arguments(level: Level, offline: bool, folder: &Path) -> Vec<std::ffi::OsString> {
    let network = if offline { "offline" } else { "online" };
    vec![NAME.into(), level.id().into(), network.into(), folder.into(), std::process::id().to_string().into()]
}
