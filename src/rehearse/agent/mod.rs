//! The part of a rehearsal that runs inside the user's Python, carried in the binary as text.
//!
//! Written into a folder that stands first on `PYTHONPATH`; what each module does is said at the head of
//! `oomdoc_rehearsal/__init__.py`. It reads the file `settings` beside that folder and leaves one file
//! `process-<pid>.json` per process, which [`super::process`] reads.

/// The files: path below the folder, and text.
pub const FILES: &[(&str, &str)] = &[
    ("sitecustomize.py", include_str!("sitecustomize.py")),
    ("oomdoc_rehearsal/__init__.py", include_str!("oomdoc_rehearsal/__init__.py")),
    ("oomdoc_rehearsal/chance.py", include_str!("oomdoc_rehearsal/chance.py")),
    ("oomdoc_rehearsal/device.py", include_str!("oomdoc_rehearsal/device.py")),
    ("oomdoc_rehearsal/ending.py", include_str!("oomdoc_rehearsal/ending.py")),
    ("oomdoc_rehearsal/importing.py", include_str!("oomdoc_rehearsal/importing.py")),
    ("oomdoc_rehearsal/libraries.py", include_str!("oomdoc_rehearsal/libraries.py")),
    ("oomdoc_rehearsal/longest.py", include_str!("oomdoc_rehearsal/longest.py")),
    ("oomdoc_rehearsal/memory.py", include_str!("oomdoc_rehearsal/memory.py")),
    ("oomdoc_rehearsal/model.py", include_str!("oomdoc_rehearsal/model.py")),
    ("oomdoc_rehearsal/record.py", include_str!("oomdoc_rehearsal/record.py")),
    ("oomdoc_rehearsal/redirect.py", include_str!("oomdoc_rehearsal/redirect.py")),
    ("oomdoc_rehearsal/saving.py", include_str!("oomdoc_rehearsal/saving.py")),
    ("oomdoc_rehearsal/settings.py", include_str!("oomdoc_rehearsal/settings.py")),
    ("oomdoc_rehearsal/steps.py", include_str!("oomdoc_rehearsal/steps.py")),
    ("oomdoc_rehearsal/tracebacks.py", include_str!("oomdoc_rehearsal/tracebacks.py")),
    ("oomdoc_rehearsal/values.py", include_str!("oomdoc_rehearsal/values.py")),
    ("oomdoc_rehearsal/warm.py", include_str!("oomdoc_rehearsal/warm.py")),
    ("oomdoc_rehearsal/world.py", include_str!("oomdoc_rehearsal/world.py")),
];
