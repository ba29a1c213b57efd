//! One job, several logs: which rank fell first, which only followed.
//!
//! Every file is read and grouped on its own ([`super::assemble`]); here the failures of all files are put together, so
//! that a folder with a log for each of thousands of ranks ends as a few incidents.

use super::{Incident, RankFall};
use crate::dialect::{Fact, Resource, Sign};
use crate::domain::Program;
use crate::order::InOrder;
use regex::Regex;
use std::collections::HashMap;
use std::sync::LazyLock;

/// Two logs without rank numbers are one job when they name the same program and their failures lie this close, in
/// seconds.
const SAME_JOB_WITHIN: f64 = 600.0;

/// A rank, worker or node number in a file's name.
static NAMED_RANK: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i-u:rank|worker|process|proc|task|node|replica)[-_.=]?([0-9]{1,7})(?:[^0-9]|$)").ok()
});
/// The folders that `torchrun --log-dir` makes: `…/attempt_0/3/stderr.log`.
static TORCHRUN_RANK: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"(?-u)/([0-9]{1,7})/std(?:err|out)(?:\.log)?$").ok());

/// The rank that a log's path names, if it does.
pub fn rank_of_path(path: &str) -> Option<u32> {
    let name = path.rsplit('/').next().unwrap_or(path);
    let named = NAMED_RANK.as_ref().and_then(|pattern| pattern.captures(name));
    let found = named.or_else(|| TORCHRUN_RANK.as_ref().and_then(|pattern| pattern.captures(path)))?;
    found.get(1)?.as_str().parse().ok()
}

/// The incidents of one file.
pub struct FileIncidents {
    /// The path as given, which may name the rank.
    pub source: String,
    pub incidents: Vec<Incident>,
}

/// What makes two files' failures the same failure of one job.
#[derive(PartialEq, Eq, Hash, Clone)]
struct Kind {
    resource: Resource,
    framework: Program,
    program: Option<String>,
    survived: bool,
}

/// Failures of one kind in several files.
struct Family {
    /// Position of the file and incident that speaks for the family so far.
    members: Vec<(usize, Incident)>,
}

/// Puts the incidents of several files together, each with the position of the file it stands in, in the order of the
/// files. Failures of different ranks of one job become one incident that lists the ranks. Of those that were not
/// outlived one is primary: the one that fell first by the clock where all carry one, else the one in the first file, a
/// failure that says what ran out before one that only shows a killed process.
pub fn join(files: Vec<FileIncidents>) -> Vec<(usize, Incident)> {
    let several = files.len() > 1;
    let mut families: Vec<Family> = Vec::new();
    let mut known: HashMap<Kind, Vec<usize>> = HashMap::new();
    for (file, FileIncidents { source, incidents }) in files.into_iter().enumerate() {
        let named = if several { rank_of_path(&source) } else { None };
        for mut incident in incidents {
            for fall in &mut incident.ranks {
                fall.file = file;
            }
            incident.event.rank = incident.event.rank.or(named);
            let kind = Kind {
                resource: incident.event.resource,
                framework: incident.event.program,
                program: incident.context.program.get().cloned(),
                survived: incident.survived.is_some(),
            };
            let slot = known.entry(kind).or_default();
            // Only the latest families of a kind are compared: the work stays linear in the number of files.
            let home = slot
                .iter()
                .rev()
                .take(4)
                .copied()
                .find(|at| families.get(*at).is_some_and(|family| several && family.takes(file, &incident)));
            match home.and_then(|at| families.get_mut(at)) {
                Some(family) => family.members.push((file, incident)),
                None => {
                    slot.push(families.len());
                    families.push(Family { members: vec![(file, incident)] });
                }
            }
        }
    }
    let mut joined: Vec<(usize, Incident)> = families.into_iter().filter_map(Family::settle).collect();
    joined.order_by_key(|(file, incident)| (*file, incident.event.at.first));
    appoint(&mut joined);
    joined
}

impl Family {
    /// True when `incident` of another file is the same failure on another rank of the same job.
    fn takes(&self, file: usize, incident: &Incident) -> bool {
        let Some((last_file, last)) = self.members.last() else { return false };
        if *last_file == file {
            return false;
        }
        match (last.event.rank, incident.event.rank) {
            (Some(a), Some(b)) => a != b,
            _ => {
                let near = match (fall_clock(last), fall_clock(incident)) {
                    (Some(a), Some(b)) => (a - b).abs() <= SAME_JOB_WITHIN,
                    _ => false,
                };
                near && last.context.program.is_known()
            }
        }
    }

    /// One incident of all members: the one that fell first speaks, the others are listed by rank.
    fn settle(self) -> Option<(usize, Incident)> {
        let mut members = self.members;
        if members.len() > 1 {
            let timed = members.iter().all(|(_, incident)| fall_clock(incident).is_some());
            if timed {
                members.order_by(|(_, a), (_, b)| {
                    fall_clock(a).partial_cmp(&fall_clock(b)).unwrap_or(std::cmp::Ordering::Equal)
                });
            } else {
                // Without clocks nobody can say who fell first; a message with figures says most.
                members.order_by_key(|(file, incident)| (incident.event.facts.sizes.is_empty(), *file));
            }
        }
        let falls: Vec<RankFall> = members.iter().flat_map(|(file, incident)| falls_of(*file, incident)).collect();
        let (file, mut incident) = members.into_iter().next()?;
        incident.ranks = if falls.len() > 1 { falls } else { Vec::new() };
        Some((file, incident))
    }
}

/// The falls an incident lists, or its own.
fn falls_of(file: usize, incident: &Incident) -> Vec<RankFall> {
    if incident.ranks.is_empty() {
        vec![RankFall {
            rank: incident.event.rank,
            device: incident.event.facts.device.value(),
            line: incident.event.at.first,
            clock: incident.clock,
            asked: incident.event.facts.get(Fact::Requested).map(|figure| figure.bytes),
            file,
        }]
    } else {
        incident.ranks.clone()
    }
}

fn fall_clock(incident: &Incident) -> Option<f64> {
    incident.ranks.first().map_or(incident.clock, |fall| fall.clock)
}

/// Makes one incident primary, if the program outlived not all.
fn appoint(joined: &mut [(usize, Incident)]) {
    let vague =
        |incident: &Incident| incident.event.has(Sign::KilledWithoutProof) && incident.event.facts.sizes.is_empty();
    let candidates: Vec<usize> = (0..joined.len()).filter(|i| joined[*i].1.primary).collect();
    let timed = candidates.iter().all(|i| fall_clock(&joined[*i].1).is_some());
    let first = candidates.into_iter().min_by(|a, b| {
        let (one, other) = (&joined[*a].1, &joined[*b].1);
        vague(one).cmp(&vague(other)).then_with(|| match timed {
            true => fall_clock(one).partial_cmp(&fall_clock(other)).unwrap_or(std::cmp::Ordering::Equal),
            false => a.cmp(b),
        })
    });
    for (i, (_, incident)) in joined.iter_mut().enumerate() {
        incident.primary = Some(i) == first;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::{Event, Fact};
    use crate::evidence::Span;
    use crate::incident::Context;
    use crate::units::{Figure, GIB};

    fn incident(resource: Resource, clock: Option<f64>) -> Incident {
        let mut event = Event::new("test", Program::Pytorch, resource, Span::line(7));
        event.facts.note(Fact::Requested, Figure { bytes: GIB, half_width: 0, at: event.at });
        Incident { clock, ..Incident::alone(event, Context::default()) }
    }

    fn file(name: &str, incidents: Vec<Incident>) -> FileIncidents {
        FileIncidents { source: name.to_string(), incidents }
    }

    #[test]
    fn ranks_are_read_from_file_names() {
        assert_eq!(rank_of_path("logs/rank_12.log"), Some(12));
        assert_eq!(rank_of_path("trainer-worker-3.log.gz"), Some(3));
        assert_eq!(rank_of_path("out/none_x1/attempt_0/5/stderr.log"), Some(5));
        assert_eq!(rank_of_path("run2024/train.log"), None);
    }

    #[test]
    fn the_rank_that_fell_first_speaks_for_the_job() {
        let joined = join(vec![
            file("rank0.log", vec![incident(Resource::Gpu, Some(50.0))]),
            file("rank1.log", vec![incident(Resource::Gpu, Some(42.5))]),
            file("rank2.log", vec![incident(Resource::Gpu, Some(50.1))]),
        ]);
        assert_eq!(joined.len(), 1);
        let (file, incident) = &joined[0];
        assert_eq!((*file, incident.primary, incident.event.rank), (1, true, Some(1)));
        assert_eq!(incident.ranks.iter().map(|fall| fall.rank).collect::<Vec<_>>(), [Some(1), Some(0), Some(2)]);
    }

    #[test]
    fn logs_of_unrelated_runs_stay_apart() {
        let joined = join(vec![
            file("monday.log", vec![incident(Resource::Gpu, None)]),
            file("tuesday.log", vec![incident(Resource::Gpu, None)]),
        ]);
        assert_eq!(joined.iter().map(|(_, incident)| incident.primary).collect::<Vec<_>>(), [true, false]);
    }

    #[test]
    fn a_killed_process_without_words_never_goes_before_a_message_with_figures() {
        let mut killed = incident(Resource::Host, None);
        killed.event.facts.sizes.clear();
        killed.event.sign(Sign::KilledWithoutProof);
        let joined =
            join(vec![file("rank0.log", vec![killed]), file("rank1.log", vec![incident(Resource::Gpu, None)])]);
        assert_eq!(joined.iter().find(|(_, incident)| incident.primary).map(|(file, _)| *file), Some(1));
    }
}
