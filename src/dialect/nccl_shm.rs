//! NCCL's shared-memory segments in `/dev/shm` (`src/misc/shmutils.cc` of NCCL).

use super::field;
use super::{Dialect, Event, Fact, Resource, Sign};
use crate::domain::Program;
use crate::evidence::Span;
use crate::input::Document;
use crate::text;
use crate::text::Text;
use crate::units::Figure;

pub const DIALECT: Dialect =
    Dialect { name: "nccl", triggers: &["shared memory", "/dev/shm", "posix_fallocate failed"], read };

fn read(document: &Document, position: usize) -> Option<Event> {
    let line = field::text(document, position);
    // Up to 2.7 (`include/shm.h`) the call, where the line about the segment is missing.
    let segment = |at: usize| field::text(document, at).contains("shared memory segment");
    let called = line.contains("include/shm.h") && !field::behind(document, position, 4).any(segment);
    if !(line.contains("shared memory segment") || line.contains("/dev/shm/nccl-") || called) {
        return None;
    }
    let message = field::joined(document, position, 3);
    let start = ["Errorwhilecreatingsharedmemorysegment", "failedtoextend/dev/shm/nccl-", "posix_fallocatefailed"]
        .iter()
        .filter_map(|wording| message.find(wording, 0))
        .min()
        .filter(|start| message.line_at(*start) == field::number(document, position))?;
    let mut event = field::event(document, position, "nccl-shm", Program::Pytorch, Resource::Shm);
    event.sign(Sign::Nccl);
    let mut end = start + 1;
    let size = message.after("(size", start).or_else(|| message.after("to", start + "failedto".len()));
    let closed = |end: usize| message.squeezed[end..].starts_with([')', 'b']);
    if let Some((bytes, after)) = size.and_then(|offset| message.count_at(offset)).filter(|(_, end)| closed(*end)) {
        end = after;
        event.facts.note(Fact::Requested, Figure { bytes, half_width: 0, at: message.span(after - 1, after) });
    }
    // `Call to shm_open failed : Permission denied`, on the line before.
    let mut above = field::before(position, 4).map(|at| field::text(document, at));
    let denied = above.any(|line| line.contains("shm_open failed") && line.contains("Permission denied"));
    if denied {
        event.make_harmless(not_opened());
    }
    if let Some(errno) = message.find("error:", start) {
        end = end.max(errno + 1);
        if ["Permissiondenied", "Nosuchfile", "Toomanyopenfiles"].iter().any(|why| message.find(why, errno).is_some()) {
            event.make_harmless(not_opened());
        }
    }
    event.at = Span::lines(event.at.first, message.line_at(end.saturating_sub(1)).max(event.at.first));
    if event.at.last > event.at.first {
        event.message = message.readable(start, message.squeezed.len(), 300);
    }
    Some(event)
}

fn not_opened() -> Text {
    text!(
        en: "the segment could not be opened (permission, missing path or file descriptors): /dev/shm was not full",
        zh: "共享内存段无法打开（权限、路径不存在或文件描述符不足），并非 /dev/shm 已满"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::Standing;

    #[test]
    fn the_size_of_the_segment_is_the_request() {
        for log in [
            "Error while creating shared memory segment /dev/shm/nccl-aBcDeF (size 9637888)",
            "Error while creating shared memory segment /dev/shm/nccl-aBcDeF\n    (size 9637888), error: No space left on device (28)",
            "NCCL WARN Call to posix_fallocate failed: No space left on device\nx\nhost:1:2 misc/shmutils.cc:87 NCCL WARN Error: failed to extend /dev/shm/nccl-abc to 9637888 bytes",
        ] {
            let document = Document::from_text("-", log);
            let events: Vec<Event> = (0..document.lines.len()).filter_map(|at| read(&document, at)).collect();
            let event = events.last().unwrap();
            assert_eq!(event.resource, Resource::Shm, "{log}");
            assert_eq!(event.facts.get(Fact::Requested).map(|figure| figure.bytes), Some(9_637_888), "{log}");
        }
    }

    #[test]
    fn a_segment_that_may_not_be_opened_is_harmless() {
        let document = Document::from_text(
            "-",
            "Error while creating shared memory segment /dev/shm/nccl-q (size 33554432), error: Permission denied (13)",
        );
        assert_eq!(read(&document, 0).unwrap().standing, Standing::Harmless);
    }
}
