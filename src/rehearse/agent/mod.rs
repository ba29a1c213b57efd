//! The part of a rehearsal that runs inside the user's Python, carried in the binary as text.
//!
//! Written into a folder that stands first on `PYTHONPATH`; what each module does is said at the head of
//! `oomdoc_rehearsal/__init__.py`. It reads the file `settings` beside that folder and leaves one file
//! `process-<pid>.json` per process, which [`super::process`] reads.

/// All files beside this one, packed.
const PACKED: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/agent.gz"));

/// The files: path below the folder, and text.
pub fn files() -> Vec<(String, String)> {
    let archive = crate::packed::text(PACKED);
    let mut rest = archive.as_str();
    let mut out = Vec::new();
    while let Some((name, behind)) = rest.split_once('\n')
        && let Some((length, behind)) = behind.split_once('\n')
        && let Some((text, behind)) = length.parse().ok().and_then(|length| behind.split_at_checked(length))
    {
        out.push((name.to_string(), text.to_string()));
        rest = behind;
    }
    out
}

/// The file that Python runs first, for another module of this program's: `module` is started, and `command` named
/// where that fails.
pub fn starting(module: &str, command: &str) -> String {
    let first = files().into_iter().find(|(name, _)| name == "sitecustomize.py").map(|(_, text)| text);
    first.unwrap_or_default().replace("oomdoc_rehearsal", module).replace("oomdoc rehearse", command)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    #[test]
    fn every_file_of_the_agent_is_carried_as_it_is() {
        let files = super::files();
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/rehearse/agent");
        for (name, text) in &files {
            assert_eq!(std::fs::read_to_string(folder.join(name)).ok().as_ref(), Some(text), "{name}");
        }
        let of = |folder: &Path| {
            let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
            entries.filter(|entry| entry.path().extension().is_some_and(|extension| extension == "py")).count()
        };
        assert_eq!(files.len(), of(&folder) + of(&folder.join("oomdoc_rehearsal")));
        assert!(files.len() > 10);
    }
}
