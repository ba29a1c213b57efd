//! The process between the rehearsal and the command: it enters the view and becomes the command.
//!
//! With namespaces, every mount is first made read-only, then an overlay is laid over every folder that has no other
//! mount below it; the kernel refuses to lay one over a folder that has (it would show what the mounts hide). So
//! nothing can be written but what lies in an overlay's upper layer or in the private folder, whatever else fails.

use super::{FOLDER, HOLD, Level, NAMESPACE, NOT_STARTED, sys};
use crate::order::InOrder;
use anyhow::{Context as _, bail, ensure};
use rustix::mount::{MountFlags, MountPropagationFlags};
use rustix::thread::UnshareFlags;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Overlays that are laid at most, and how deep below the root.
const MOST_OVERLAYS: usize = 256;
const DEEPEST: usize = 6;

/// Enters the view and becomes the command; without one, says by its exit code whether the view can be had.
///
/// # Errors
/// When the view cannot be had: the command is not started then.
pub fn run(arguments: impl Iterator<Item = OsString>) -> anyhow::Result<u8> {
    let arguments: Vec<OsString> = arguments.collect();
    let [level, network, folder, parent, dashes, command @ ..] = arguments.as_slice() else {
        bail!("not for use by hand")
    };
    ensure!(dashes == "--", "not for use by hand");
    let level = level.to_str().and_then(|id| id.parse::<Level>().ok()).context("no such level")?;
    let folder = Path::new(folder);
    match level {
        Level::Overlay => {
            enter_namespaces(folder, network == "offline", command)?;
            let namespace = fs::read_link("/proc/self/ns/mnt").context("the namespace")?;
            fs::write(folder.join(NAMESPACE), namespace.as_os_str().as_bytes()).context("the private folder")?;
        }
        Level::Landlock => {
            let allowed = ["/dev", "/proc"].map(Path::new);
            sys::forbid_changes(&[allowed.as_slice(), &[folder]].concat())?;
        }
        Level::Agent | Level::Off => {}
    }
    // After the change of credentials, which clears it.
    let _ = rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL));
    let alive = parent.to_str().and_then(|pid| pid.parse().ok()) == Some(std::os::unix::process::parent_id());
    ensure!(alive, "the parent has gone away");
    let Some((program, rest)) = command.split_first() else { return Ok(0) };
    if program == HOLD {
        std::io::copy(&mut std::io::stdin(), &mut std::io::sink())?;
        return Ok(0);
    }
    let error = Command::new(program).args(rest).exec();
    let note = folder.join("results").join(NOT_STARTED);
    fs::write(note, error.raw_os_error().unwrap_or(0).to_string())?;
    Ok(127)
}

/// One line of `/proc/self/mountinfo`.
struct Mount {
    point: PathBuf,
    options: String,
    kind: String,
}

/// The mounts of this namespace in their order; of several at one place the last is seen.
fn mounts() -> std::io::Result<Vec<Mount>> {
    let text = fs::read("/proc/self/mountinfo")?;
    let mut found: Vec<Mount> = Vec::new();
    for line in text.split(|byte| *byte == b'\n') {
        let fields: Vec<&[u8]> = line.split(|byte| *byte == b' ').collect();
        let (Some(point), Some(options)) = (fields.get(4), fields.get(5)) else { continue };
        let dash = fields.iter().position(|field| *field == b"-");
        let Some(kind) = dash.and_then(|dash| fields.get(dash + 1)) else { continue };
        let point = PathBuf::from(OsString::from_vec(unescaped(point)));
        found.retain(|mount| mount.point != point);
        let text = |field: &[u8]| String::from_utf8_lossy(field).into_owned();
        found.push(Mount { point, options: text(options), kind: text(kind) });
    }
    Ok(found)
}

/// `\040` → a space.
fn unescaped(field: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(field.len());
    let mut rest = field;
    while let Some((first, tail)) = rest.split_first() {
        let code = tail.get(..3).and_then(|digits| std::str::from_utf8(digits).ok());
        match code.and_then(|digits| u8::from_str_radix(digits, 8).ok()).filter(|_| *first == b'\\') {
            Some(byte) => {
                out.push(byte);
                rest = tail.get(3..).unwrap_or_default();
            }
            None => {
                out.push(*first);
                rest = tail;
            }
        }
    }
    out
}

/// Processes, devices and terminals are no files: they stay as they are.
fn is_left_alone(mount: &Mount) -> bool {
    let kinds = ["proc", "devtmpfs", "devpts", "mqueue", "hugetlbfs", "autofs", "binfmt_misc", "nsfs"];
    kinds.contains(&mount.kind.as_str()) || mount.point == Path::new("/dev")
}

fn enter_namespaces(folder: &Path, offline: bool, command: &[OsString]) -> anyhow::Result<()> {
    let here = std::env::current_dir().context("the working folder")?;
    let (user, group) = (rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw());
    let mut flags = UnshareFlags::NEWNS;
    if offline {
        flags |= UnshareFlags::NEWNET;
    }
    // Who may mount needs no user namespace, in which files of other users would belong to nobody.
    let own_users = user != 0 || sys::unshare(flags).is_err();
    if own_users {
        sys::unshare(flags | UnshareFlags::NEWUSER).context("no namespaces")?;
        // Older kernels have no such file.
        let _ = fs::write("/proc/self/setgroups", "deny");
        fs::write("/proc/self/uid_map", format!("{user} {user} 1")).context("uid_map")?;
        fs::write("/proc/self/gid_map", format!("{group} {group} 1")).context("gid_map")?;
    }
    if offline {
        sys::raise_loopback().context("the loopback interface")?;
    }
    // Of folders whose owner the new user namespace does not know, an overlay can't make copies: it begins below them.
    let within = if own_users { own_folders(&here, command, user) } else { Vec::new() };
    let laid = mount_view(folder, own_users, within)?;
    // Until now it is the folder below the overlay.
    std::env::set_current_dir(&here).context("the working folder")?;
    ensure!(laid.iter().any(|point| here.starts_with(point)), "the working folder can't be laid over");
    Ok(())
}

/// The folders that the command is likely to write into, each as far up as everything on the way is the user's own: the
/// working folder, home, the temporary folder, and those that the command line and the environment name.
fn own_folders(here: &Path, command: &[OsString], user: u32) -> Vec<PathBuf> {
    const MOST: usize = 64;
    let values = std::env::vars_os().map(|(_, value)| value);
    let words = command.iter().map(|word| word.as_bytes().rsplit(|byte| *byte == b'=').next().unwrap_or_default());
    let named = words.map(|word| PathBuf::from(OsStr::from_bytes(word))).chain(values.map(PathBuf::from));
    let named = named.filter(|path| path.is_absolute() || path.components().count() > 1);
    let mut found: Vec<PathBuf> = Vec::new();
    for path in [here.to_path_buf(), std::env::temp_dir()].into_iter().chain(std::env::home_dir()).chain(named) {
        // What is not there yet will be made in the folder that is.
        let Some(start) = here.join(path).ancestors().find_map(|path| path.canonicalize().ok()) else { continue };
        let Some(mut top) = start.ancestors().find(|path| path.is_dir()) else { continue };
        while let (Ok(data), Some(parent)) = (fs::metadata(top), top.parent()) {
            if data.uid() != user || parent == Path::new("/") {
                break;
            }
            top = parent;
        }
        let writable = rustix::fs::access(top, rustix::fs::Access::WRITE_OK).is_ok();
        if found.len() < MOST && top != Path::new("/") && (top == here || writable || top != start) {
            found.push(top.to_path_buf());
        }
    }
    // The outer ones first, which the inner ones then cover in part.
    found.order_by(Ord::cmp);
    found.dedup();
    found
}

/// Makes everything read-only and lays the overlays, those over the folders `within` last; returns the folders that
/// have one.
fn mount_view(folder: &Path, own_users: bool, within: Vec<PathBuf>) -> anyhow::Result<Vec<PathBuf>> {
    rustix::mount::mount_change("/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC)
        .context("private mounts")?;
    let known = mounts().context("the list of mounts")?;
    // A mount of its own, which stays writable.
    rustix::mount::mount_bind(folder, folder).context("the private folder")?;
    let private = fs::File::open(folder).context("the private folder")?;
    for mount in known.iter().filter(|mount| !is_left_alone(mount)) {
        if mount.options.split(',').any(|option| option == "ro") {
            continue;
        }
        // A mount below another that hides it, or without a way to it for this user, is out of reach for all.
        if let Err(error) = read_only(mount)
            && !matches!(error.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::InvalidInput)
        {
            return Err(error).with_context(|| format!("{} can't be made read-only", mount.point.display()));
        }
    }
    let shared_memory = Path::new("/dev/shm");
    if shared_memory.is_dir() {
        rustix::mount::mount("tmpfs", shared_memory, "tmpfs", MountFlags::NOSUID | MountFlags::NODEV, c"mode=1777")
            .context("/dev/shm")?;
    }
    let points: Vec<PathBuf> = known.iter().map(|mount| mount.point.clone()).collect();
    // By this path it is found wherever an overlay hides its own.
    let source = PathBuf::from(format!("/proc/self/fd/{}", private.as_raw_fd()));
    let mut layers = Layers { folder: &source, own_users, points, laid: Vec::new() };
    for point in ["/proc", "/sys", "/dev"] {
        layers.points.push(point.into());
    }
    // Opened before an overlay hides what lies below.
    let within: Vec<(PathBuf, fs::File)> =
        within.into_iter().filter_map(|path| Some((path.clone(), fs::File::open(path).ok()?))).collect();
    layers.protect(Path::new("/"), 0);
    for (path, file) in &within {
        let mounted_below = layers.points.iter().any(|point| point != path && point.starts_with(path));
        if !layers.laid.contains(path) && !mounted_below {
            layers.lay(path, &PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd())));
        }
    }
    // Back to its place, over the overlay or the fresh file system that covers it now.
    fs::create_dir_all(folder).context("the private folder")?;
    rustix::mount::mount_bind(&source, folder).context("the private folder")?;
    Ok(layers.laid)
}

/// Read-only for this namespace; the other options of the mount have to be named again.
fn read_only(mount: &Mount) -> std::io::Result<()> {
    let mut flags = MountFlags::BIND | MountFlags::RDONLY;
    for option in mount.options.split(',') {
        flags |= match option {
            "nosuid" => MountFlags::NOSUID,
            "nodev" => MountFlags::NODEV,
            "noexec" => MountFlags::NOEXEC,
            "noatime" => MountFlags::NOATIME,
            "nodiratime" => MountFlags::NODIRATIME,
            "relatime" => MountFlags::RELATIME,
            _ => MountFlags::empty(),
        };
    }
    Ok(rustix::mount::mount_remount(&mount.point, flags, c"")?)
}

/// The overlays as they are laid.
struct Layers<'a> {
    folder: &'a Path,
    own_users: bool,
    /// Where something is mounted.
    points: Vec<PathBuf>,
    laid: Vec<PathBuf>,
}

impl Layers<'_> {
    /// Lays an overlay over a folder, or over the folders in it where mounts lie below. What can't be is read-only.
    fn protect(&mut self, folder: &Path, depth: usize) {
        let below = self.points.iter().any(|point| point != folder && point.starts_with(folder));
        if !below {
            let special = ["/proc", "/sys", "/dev"].iter().any(|name| folder.starts_with(name));
            if !special && self.laid.len() < MOST_OVERLAYS {
                self.lay(folder, folder);
            }
            return;
        }
        if depth == DEEPEST || ["/proc", "/sys", "/dev"].iter().any(|name| folder == Path::new(name)) {
            return;
        }
        let Ok(entries) = fs::read_dir(folder) else { return };
        for entry in entries.flatten() {
            // Neither links nor files.
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                self.protect(&entry.path(), depth + 1);
            }
        }
    }

    /// The layer below is `lower`, another name of the same folder.
    fn lay(&mut self, over: &Path, lower: &Path) {
        let layer = self.folder.join(FOLDER).join(self.laid.len().to_string());
        let made = || -> std::io::Result<()> {
            let data = fs::metadata(lower)?;
            for part in ["upper", "work"] {
                fs::create_dir_all(layer.join(part))?;
            }
            fs::write(layer.join("point"), over.as_os_str().as_bytes())?;
            let upper = layer.join("upper");
            // The merged folder has the rights of the upper layer's; it is this user's where it can't be the owner's.
            let _ = std::os::unix::fs::chown(&upper, Some(data.uid()), Some(data.gid()));
            fs::set_permissions(&upper, fs::Permissions::from_mode(data.mode() & 0o7777))?;
            let mut options = b"lowerdir=".to_vec();
            options.extend(escaped(lower.as_os_str()));
            options.extend(b",upperdir=");
            options.extend(escaped(upper.as_os_str()));
            options.extend(b",workdir=");
            options.extend(escaped(layer.join("work").as_os_str()));
            if self.own_users {
                options.extend(b",userxattr");
            }
            let options = std::ffi::CString::new(options)?;
            Ok(rustix::mount::mount("overlay", over, "overlay", MountFlags::empty(), options.as_c_str())?)
        };
        match made() {
            Ok(()) => self.laid.push(over.to_path_buf()),
            // Read-only then.
            Err(_) => {
                let _ = fs::remove_dir_all(&layer);
            }
        }
    }
}

/// A path inside of an overlay's options.
fn escaped(path: &OsStr) -> Vec<u8> {
    let mut out = Vec::new();
    for byte in path.as_bytes() {
        if matches!(byte, b',' | b':' | b'\\') {
            out.push(b'\\');
        }
        out.push(*byte);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_mount_points_are_unescaped_and_those_of_layers_escaped() {
        assert_eq!(unescaped(br"/mnt/my\040disk\134x"), br"/mnt/my disk\x");
        assert_eq!(unescaped(br"/mnt/a\9"), br"/mnt/a\9");
        assert_eq!(escaped(OsStr::new("/a,b:c")), br"/a\,b\:c");
    }
}
