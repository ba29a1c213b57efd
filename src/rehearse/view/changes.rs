//! What a command wrote and removed in its view, read from the layers that took it.

use super::FOLDER;
use crate::order::InOrder;
use crate::system::{self, is_opaque};
use std::fs::{self, File, Metadata};
use std::io::Read;
use std::path::{Path, PathBuf};

/// Changes that are kept of each kind, and entries that are looked at.
const MOST: usize = 100;
const MOST_ENTRIES: usize = 100_000;
/// Files up to this size are compared byte by byte with what they cover.
const COMPARED: u64 = 64 << 20;
/// Folders of caches: what is created there is nobody's work.
const CACHES: [&str; 5] = ["__pycache__", ".cache", ".triton", ".nv", ".config"];
/// The list of what the agent was asked to remove, beside the upper layer.
const REMOVED: &str = "removed";

/// A file, or a folder with all that is in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    pub path: PathBuf,
    pub folder: bool,
    /// Of what was written; of what would be removed, what is there.
    pub bytes: u64,
    pub files: u64,
}

/// What would have happened to the user's files.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Changes {
    pub removed: Vec<Change>,
    /// Files that exist and would have another content.
    pub replaced: Vec<Change>,
    pub created: Vec<Change>,
    /// Entries beyond these, and those in folders for temporary files and caches.
    pub unlisted: u64,
}

impl Changes {
    pub fn is_empty(&self) -> bool {
        self.removed.is_empty() && self.replaced.is_empty() && self.created.is_empty()
    }
}

/// Reads the layers below a private folder.
pub fn read(private: &Path) -> Changes {
    let mut walk = Walk { changes: Changes::default(), left: MOST_ENTRIES, private };
    let mut layers: Vec<PathBuf> =
        fs::read_dir(private.join(FOLDER)).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    layers.order_by(Ord::cmp);
    for layer in layers {
        let Ok(point) = fs::read(layer.join("point")) else { continue };
        let point = system::path_of(point);
        walk.folder(&layer.join("upper"), &point);
        let removed = fs::read(layer.join(REMOVED)).unwrap_or_default();
        for path in removed.split(|byte| *byte == 0).filter(|path| !path.is_empty()) {
            let path = system::path_of(path.to_vec());
            let below = path.strip_prefix(&point).unwrap_or(&path);
            let anew = layer.join("upper").join(below);
            match fs::symlink_metadata(&anew) {
                Err(_) => walk.removed(&path),
                // A folder that was made again lacks what was in it; a file is replaced.
                Ok(data) if data.is_dir() => walk.hidden(&anew, &path),
                Ok(_) => {}
            }
        }
    }
    let changes = &mut walk.changes;
    for list in [&mut changes.removed, &mut changes.replaced, &mut changes.created] {
        list.order_by(|one, other| one.path.cmp(&other.path));
        // What lies in a folder that is listed needs no line of its own.
        let mut last: Option<PathBuf> = None;
        list.retain(|change| {
            let inside = last.as_ref().is_some_and(|folder| change.path.starts_with(folder));
            if !inside {
                last = Some(change.path.clone());
            }
            !inside
        });
        changes.unlisted += list.len().saturating_sub(MOST) as u64;
        list.truncate(MOST);
    }
    walk.changes
}

struct Walk<'a> {
    changes: Changes,
    left: usize,
    private: &'a Path,
}

impl Walk<'_> {
    fn folder(&mut self, upper: &Path, real: &Path) {
        let Ok(entries) = fs::read_dir(upper) else { return };
        for entry in entries.flatten() {
            let Some(left) = self.left.checked_sub(1) else { return };
            self.left = left;
            let (path, real) = (entry.path(), real.join(entry.file_name()));
            let Ok(data) = fs::symlink_metadata(&path) else { continue };
            if real.starts_with(self.private) {
                continue;
            }
            if system::is_whiteout(&data) {
                self.removed(&real);
                continue;
            }
            if data.is_dir() && is_opaque(&path) {
                self.hidden(&path, &real);
            }
            match fs::symlink_metadata(&real) {
                Err(_) => self.created(&path, &real, &data),
                Ok(below) if data.is_dir() && below.is_dir() => self.folder(&path, &real),
                Ok(below) if !is_same(&path, &data, &real, &below) => {
                    let change = measured(&path, &real, &mut self.left);
                    self.changes.replaced.push(change);
                }
                Ok(_) => {}
            }
        }
    }

    /// What lies in a folder and not in the one that was made in its place.
    fn hidden(&mut self, anew: &Path, real: &Path) {
        for entry in fs::read_dir(real).into_iter().flatten().flatten() {
            if fs::symlink_metadata(anew.join(entry.file_name())).is_err() {
                self.removed(&entry.path());
            }
        }
    }

    fn removed(&mut self, real: &Path) {
        // A file of the private folder's neighbours, such as an earlier take's.
        if fs::symlink_metadata(real).is_ok() {
            let change = measured(real, real, &mut self.left);
            self.changes.removed.push(change);
        }
    }

    fn created(&mut self, path: &Path, real: &Path, data: &Metadata) {
        let temporary = std::env::temp_dir();
        let shared = [temporary.as_path(), Path::new("/tmp"), Path::new("/var/tmp")];
        let in_cache = real.iter().any(|part| CACHES.iter().any(|name| part == *name));
        // The working folder may well be a temporary one.
        let here = std::env::current_dir().unwrap_or_default();
        let in_temporary = shared.iter().any(|folder| real.starts_with(folder)) && !real.starts_with(&here);
        if in_cache || in_temporary || !(data.is_dir() || data.is_file() || data.is_symlink()) {
            self.changes.unlisted += 1;
        } else {
            let change = measured(path, real, &mut self.left);
            // Folders made on the way to a cache hold nothing.
            if !change.folder || change.files > 0 || self.changes.created.len() < MOST {
                self.changes.created.push(change);
            }
        }
    }
}

/// With what lies in it.
fn measured(path: &Path, real: &Path, left: &mut usize) -> Change {
    let mut change = Change { path: real.to_path_buf(), folder: false, bytes: 0, files: 0 };
    let mut open = vec![path.to_path_buf()];
    while let Some(path) = open.pop() {
        let Ok(data) = fs::symlink_metadata(&path) else { continue };
        if data.is_dir() {
            change.folder |= change.files == 0 && open.is_empty();
            for entry in fs::read_dir(&path).into_iter().flatten().flatten() {
                let Some(fewer) = left.checked_sub(1) else { return change };
                *left = fewer;
                open.push(entry.path());
            }
        } else if !system::is_device(&data) {
            change.bytes = change.bytes.saturating_add(data.len());
            change.files += 1;
        }
    }
    change
}

/// Whether a file that was opened for writing holds what it held before.
fn is_same(path: &Path, data: &Metadata, real: &Path, below: &Metadata) -> bool {
    if data.is_symlink() || below.is_symlink() {
        return data.is_symlink() && below.is_symlink() && fs::read_link(path).ok() == fs::read_link(real).ok();
    }
    if !data.is_file() || !below.is_file() || system::mode(data) != system::mode(below) || data.len() != below.len() {
        return false;
    }
    data.len() <= COMPARED && same_content(path, real).unwrap_or(false)
}

fn same_content(one: &Path, other: &Path) -> std::io::Result<bool> {
    let (mut one, mut other) = (File::open(one)?.take(COMPARED), File::open(other)?.take(COMPARED));
    let (mut left, mut right) = (Vec::new(), Vec::new());
    one.read_to_end(&mut left)?;
    other.read_to_end(&mut right)?;
    Ok(left == right)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layers_tell_what_was_created_replaced_and_removed() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let write = |name: &str, text: &str| {
            fs::create_dir_all(at(name).parent().unwrap()).unwrap();
            fs::write(at(name), text).unwrap();
        };
        write("home/best.pt", "good");
        write("home/opened.txt", "as it was");
        write("home/runs/old/a", "12345");
        write("private/view/0/point", at("home").to_str().unwrap());
        write("private/view/0/upper/best.pt", "bad!");
        write("private/view/0/upper/opened.txt", "as it was");
        write("private/view/0/upper/new/step-1/model.pt", "1234");
        write("private/view/0/upper/__pycache__/x.pyc", "1234");
        let removed = [at("home/runs/old"), at("home/never-was"), at("home/best.pt")];
        let removed: Vec<String> = removed.iter().map(|path| format!("{}\0", path.display())).collect();
        write("private/view/0/removed", &removed.concat());
        // The working folder is not in a temporary one here; the test's folder is.
        std::env::set_current_dir(folder.path()).unwrap();
        let changes = read(&at("private"));
        let names = |list: &[Change]| {
            let short = |change: &Change| change.path.strip_prefix(at("home")).unwrap().display().to_string();
            list.iter().map(|change| (short(change), change.folder, change.bytes, change.files)).collect::<Vec<_>>()
        };
        assert_eq!(names(&changes.removed), [("runs/old".to_string(), true, 5, 1)]);
        assert_eq!(names(&changes.replaced), [("best.pt".to_string(), false, 4, 1)]);
        assert_eq!(names(&changes.created), [("new".to_string(), true, 4, 1)]);
        assert_eq!(changes.unlisted, 1);
    }
}
