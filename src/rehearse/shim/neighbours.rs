//! Other processes of the same run, where they share the devices with this one.
//!
//! A rehearsal plays each process alone, so that its figures do not hang on who came first. The setting `shared` takes
//! the processes together instead, as one machine has them: what one holds on a device, the others lack. They know each
//! other by the counter files (see `report`); one that has ended holds nothing.

use crate::counters::{LENGTH, MAGIC, PEAK, PID, ROW, ROWS, USED};
use crate::settings::settings;

/// Those with which the devices are shared: each pid and the bytes it holds on one, its context among them.
pub fn on(device: usize) -> Vec<(u32, u64)> {
    if settings().shared { known(device) } else { Vec::new() }
}

/// Each of them that has used a device, shared or not: for monitors, which look at the whole machine.
pub fn known(device: usize) -> Vec<(u32, u64)> {
    let settings = settings();
    let Some(folder) = &settings.report else { return Vec::new() };
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let mut found: Vec<(u32, u64)> = entries
        .flatten()
        .filter_map(|entry| {
            let name = entry.file_name();
            let pid: u32 = name.to_str()?.strip_prefix("device-")?.strip_suffix(".bin")?.parse().ok()?;
            if pid == std::process::id() || !lives(pid) {
                return None;
            }
            let bytes = std::fs::read(entry.path()).ok().filter(|bytes| bytes.len() == LENGTH)?;
            let word = |place: usize| {
                let word = bytes.get(place * 8..place * 8 + 8).and_then(|word| word.try_into().ok());
                word.map_or(0, u64::from_le_bytes)
            };
            let figure = |figure: usize| word(ROWS + device * ROW + figure);
            // A process has a context on the devices that it ever took memory of.
            let known = word(0) == MAGIC && word(PID) == u64::from(pid) && figure(PEAK) > 0;
            known.then(|| (pid, figure(USED).saturating_add(settings.context)))
        })
        .collect();
    found.sort_unstable();
    found
}

/// Whether a process still runs. One that has ended and was not waited for does not.
fn lives(pid: u32) -> bool {
    let Ok(line) = std::fs::read_to_string(format!("/proc/{pid}/stat")) else { return false };
    // The name in brackets may hold anything; the state follows the last bracket.
    line.rsplit_once(')').is_some_and(|(_, rest)| !rest.trim_start().starts_with(['Z', 'X']))
}
