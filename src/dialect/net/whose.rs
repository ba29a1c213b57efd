//! The process that writes a line, and the device that it names.

use super::{AROUND, clipped};
use crate::dialect::field;
use crate::evidence::{Known, Span};
use crate::input::Document;

/// The number of the process that wrote the line, where a logger put it in front of the text: `Mar  1 10:00:00 host
/// app[17]: …`, `10:00:00.12 [1217] ERROR …`, `(app:17): GLib-ERROR **: …`; or of the one that it tells of: `pid 17`.
pub(super) fn writer(line: &str) -> Option<u64> {
    /// A logger's head has a stamp, a host, a name and a level.
    const HEAD: usize = 8;
    let number = |text: &str| {
        let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        text.parse::<u64>().ok().filter(|pid| digits && (1..=MOST_PROCESSES).contains(pid))
    };
    if let Some((name, pid)) =
        line.trim_start().strip_prefix('(').and_then(|rest| rest.split_once("): ")?.0.split_once(':'))
        && !name.is_empty()
        && !name.contains(' ')
    {
        return number(pid);
    }
    let mut stamped = false;
    for word in line.split_whitespace().take(HEAD) {
        // `app[17]:`; systemd and the kernel write of others.
        if let Some((name, pid)) = word.strip_suffix("]:").and_then(|word| word.split_once('['))
            && name.starts_with(|c: char| c.is_ascii_alphabetic())
            && !name.contains('=')
        {
            return number(pid).filter(|_| name != "systemd");
        }
        // A number alone in brackets, of three digits and more: a small one is a thread's or a rank's.
        if let Some(pid) = word.strip_prefix('[').and_then(|word| word.strip_suffix(']')).filter(|pid| pid.len() >= 3)
            && stamped
            && let Some(pid) = number(pid)
        {
            return Some(pid);
        }
        let clock = word.matches(':').count() >= 2 && word.bytes().any(|byte| byte.is_ascii_digit());
        stamped = clock || stamped && word.len() <= 5 && word.bytes().all(|byte| byte.is_ascii_uppercase());
    }
    let mut told = line.match_indices("pid").chain(line.match_indices("PID")).filter_map(|(at, _)| {
        let rest = line.get(at + 3..)?.trim_start_matches([' ', ':', '=', '#']);
        let whole = !line[..at].ends_with(|c: char| c.is_ascii_alphanumeric()) && rest.len() < line.len() - at - 3;
        let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        number(&rest[..end]).filter(|_| whole)
    });
    let first = told.next()?;
    told.all(|other| other == first).then_some(first)
}

/// The number that a program tells of itself before its message, `running on node1, pid 17`, where the lines tell of
/// one.
pub(super) fn writer_near(document: &Document, position: usize) -> Option<u64> {
    let mut told = field::before(position, AROUND).filter_map(|at| {
        let lower = clipped(field::text(document, at)).to_lowercase();
        let at = lower.find("pid ").or_else(|| lower.find("pid: ")).or_else(|| lower.find("pid="))?;
        let other =
            ["kill", "child", "parent", "died", "exited", "ppid", "worker"].iter().any(|word| lower.contains(word));
        let whole = !lower[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_');
        writer(lower.get(at..)?).filter(|_| whole && !other)
    });
    let first = told.next()?;
    told.all(|other| other == first).then_some(first)
}

/// No kernel numbers its processes higher.
const MOST_PROCESSES: u64 = 1 << 22;

/// The device that the line names: `GPU 1`, `device #2`, `cuda:0`.
pub(super) fn device(known: &mut Known<u32>, line: &str, place: Span) {
    let lower = line.to_ascii_lowercase();
    for word in ["gpu_id", "dev_id", "device_id", "devid", "gpu", "device", "cuda", "hip", "ordinal", "xpu"] {
        for (at, _) in lower.match_indices(word) {
            let behind = lower.get(at + word.len()..).unwrap_or_default();
            let gap = behind.len() - behind.trim_start_matches([' ', ':', '#', '=', '_', '[']).len();
            let rest = behind.get(gap..).unwrap_or_default();
            let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
            let after = rest.get(digits..).unwrap_or_default();
            let apart = gap > 0 || word != "device" && word != "ordinal";
            // `on device 0.` ends a sentence, `device 0.5` does not.
            let fraction = after.strip_prefix('.').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
            // `CUDA device 03:00.0` is where the bus has it.
            let address = after.strip_prefix(':').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_hexdigit()));
            let alone = !fraction
                && !address
                && !after.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '%')
                && !after.trim_start().starts_with(|c: char| {
                    c.is_ascii_alphabetic() && crate::units::unit_in_front(after.trim_start()).is_some()
                });
            // `gpu02` is a machine's name: no driver pads its numbers.
            let padded = gap == 0 && digits == 2 && rest.starts_with('0');
            // `batch size per device = 8` counts something on each of them.
            let before = lower.get(..at).unwrap_or_default();
            let counted = ["per ", "per_", "per-", "each "].iter().any(|word| before.ends_with(word));
            let starts = !padded && !counted && !before.ends_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
            if (1..=2).contains(&digits)
                && gap <= 3
                && apart
                && alone
                && starts
                && let Ok(index) = rest[..digits].parse::<u32>()
            {
                known.note(index, Span::line(place.first));
                return;
            }
        }
    }
}
