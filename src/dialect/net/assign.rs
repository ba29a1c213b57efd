//! What figures are, told by what can be true of all of them together.
//!
//! Words fix some figures of a message. For the others each of four roles is possible: what was asked for, what is
//! free, what is held, and the whole that memory is taken from. The form of the sentence speaks for some of them, and
//! what follows from a failure speaks against others: more was asked for than is free, nobody holds more than the
//! whole, what is free and what is held make up the whole. A role is taken where the best assignment of all figures is
//! better by [`MARGIN`] than every one in which this figure is something else; otherwise the figure stays unknown.

use super::motion;
use super::roles::{Place, Said, first_chars, last_chars};
use crate::dialect::Fact;
use crate::units::Interval;

/// What holds memory: what it is said to have is its whole.
pub(super) const HOLDERS: &[&str] = &[
    "card",
    "device",
    "gpu",
    "node",
    "host",
    "machine",
    "heap",
    "pool",
    "arena",
    "system",
    "board",
    "adapter",
    "server",
    "instance",
    "container",
    "computer",
];

/// Points by which an assignment must be better than the next.
const MARGIN: i32 = 10;
/// What a sentence's form says by itself, what it says together with others, and what it hints at.
const SAYS: i32 = 20;
const SPEAKS: i32 = 12;
const HINTS: i32 = 6;
/// What cannot be true outweighs every form of words.
const CONTRADICTION: i32 = -40;
/// A sum that holds exactly; of figures that are rounded to more than [`COARSE`] of it, any three may do so.
const EXACT: i32 = 24;
const COARSE: f64 = 0.01;

/// Figures that are told by arithmetic, and figures of their line; of more, too many assignments can be true.
const MOST: usize = 4;
const MOST_OF_LINE: usize = 12;
/// Bare numbers below this count something else.
pub(super) const LEAST_BARE: u64 = 1 << 20;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    Asked,
    Free,
    Held,
    Whole,
}

impl Role {
    const ALL: [Role; 4] = [Role::Asked, Role::Free, Role::Held, Role::Whole];

    fn of(fact: Fact) -> Option<Role> {
        match fact {
            Fact::Requested | Fact::Needed | Fact::Desired => Some(Role::Asked),
            Fact::Free | Fact::Available => Some(Role::Free),
            Fact::Used | Fact::Allocated | Fact::Reserved | Fact::Process => Some(Role::Held),
            Fact::Capacity | Fact::Limit => Some(Role::Whole),
            _ => None,
        }
    }

    /// The quantity by its name. A whole that somebody set is a limit.
    fn fact(self, limited: bool) -> Fact {
        match self {
            Role::Asked => Fact::Requested,
            Role::Free => Fact::Free,
            Role::Held => Fact::Used,
            Role::Whole if limited => Fact::Limit,
            Role::Whole => Fact::Capacity,
        }
    }
}

/// How a figure is tied to the one before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Tie {
    None,
    /// `3 of 8`, `3/8`
    PartOf,
    /// `9 > 8`, `9 exceeds 8`
    Over,
    /// `7 + 2`
    Plus,
    /// `8192 MB (8 GiB)`: the same, said twice.
    Same,
}

/// True for what stands between a part and its whole: `of`, `/`, `out of a`, two words more at most.
pub(super) fn joins_whole(joint: &str) -> bool {
    let joint = joint.trim().trim_end_matches(['(', '[']).trim().to_lowercase();
    let joint = joint.trim_start_matches([')', ']', '(', ',']).trim_start();
    if joint == "/" {
        return true;
    }
    let words: Vec<&str> =
        joint.split(|c: char| c.is_whitespace() || c == '(').filter(|word| !word.is_empty()).collect();
    // `a total of 9 GiB` is a sum, and names no whole.
    let sum = words.iter().any(|word| matches!(*word, "total" | "sum"));
    let clause = !joint.contains([',', ';', ':', ')']);
    clause && !sum && words.last() == Some(&"of") && words.len() <= 4
}

fn tie(joint: &str, before: &Place, place: &Place) -> Tie {
    let bare = joint.trim().trim_matches(|c: char| matches!(c, '(' | '[' | ')' | ']' | '=' | '~' | '/' | ',')).trim();
    let opened = joint.trim_start().starts_with(['(', '[', '=', '~', '/']);
    let (a, b) = (before.figure.interval(), place.figure.interval());
    if opened && (bare.is_empty() || bare == "or") && meet(a, b) {
        return Tie::Same;
    }
    if joins_whole(joint) {
        return Tie::PartOf;
    }
    let lower = joint.trim().to_lowercase();
    const OVER: &[&str] = &[
        ">",
        "exceed",
        "larger than",
        "greater than",
        "more than",
        "bigger than",
        "above",
        "over",
        "beyond",
        "does not fit",
        "on a",
        "on",
    ];
    let short = lower.split_whitespace().count() <= 6 && !lower.contains([',', ';', '.']);
    if lower == "+" || lower.ends_with(" +") {
        Tie::Plus
    } else if short
        && OVER.iter().any(|words| {
            lower.split_whitespace().any(|word| word == *words)
                || words.contains(' ') && lower.contains(words)
                || lower.contains("exceed")
        })
    {
        Tie::Over
    } else {
        Tie::None
    }
}

/// True where two printed figures can be one quantity.
fn meet(a: Interval, b: Interval) -> bool {
    a.low <= b.high && b.low <= a.high
}

/// What the form of the sentence says of one figure, in points by role.
fn cues(before: &str, after: &str, refused: bool) -> [i32; 4] {
    let lower = before.to_lowercase();
    let clause = lower.rsplit([',', ';', '(', '[']).next().unwrap_or_default();
    let open = lower.trim_end().ends_with(['(', '[']);
    let behind = after.to_lowercase();
    let behind = behind.trim_start_matches([' ', ')', ']', '-']);
    let words: Vec<&str> =
        clause.split(|c: char| !(c.is_alphanumeric() || c == '\'')).filter(|word| !word.is_empty()).collect();
    let last = |count: usize| words.iter().rev().take(count);
    let mut points = [0; 4];
    let mut add = |role: Role, count: i32| points[role as usize] += count;
    // `2 GiB failed`, `failed for 2 GiB`
    const FAILED: &[&str] = &[
        "failed",
        "fails",
        "could not be",
        "cannot be",
        "can't be",
        "was refused",
        "was denied",
        "was rejected",
        "not available",
        "unavailable",
        "did not fit",
        "does not fit",
        "won't fit",
        "will not fit",
    ];
    if FAILED.iter().any(|words| behind.starts_with(words)) {
        add(Role::Asked, SAYS);
    }
    const FOR: &[&str] = &["failed for", "failed with", "failed on", "failed at", "failed to"];
    if FOR.iter().any(|words| clause.trim_end().ends_with(words)) || in_vain(&lower) {
        add(Role::Asked, SAYS);
    } else if refused && doing(&words) {
        add(Role::Asked, SPEAKS);
    }
    // `the card has 8 GiB`, `on device 0 (8 GiB)`, `8 GiB on the card`, `8 GiB card`
    let has = last(2).any(|word| matches!(*word, "has" | "have" | "had" | "holds" | "with"));
    let opened: Vec<&str> = lower
        .trim_end()
        .trim_end_matches(['(', '['])
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .collect();
    let next: Vec<&str> =
        behind.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).take(3).collect();
    let next_holds = match next.as_slice() {
        [holder, ..] if HOLDERS.contains(holder) => !matches!(next.get(1), Some(&"memory" | &"buffer")),
        ["on" | "in", "the" | "this" | "a" | "one", holder] => HOLDERS.contains(holder),
        _ => false,
    };
    if has && held_by(last(4)) || open && held_by(opened.iter().rev().take(2)) || next_holds {
        add(Role::Whole, SAYS);
    }
    if last(3).any(|word| {
        matches!(*word, "already" | "currently" | "now" | "taken" | "held" | "occupied" | "occupying" | "holding")
    }) || next.iter().any(|word| matches!(*word, "taken" | "held" | "busy" | "occupied" | "already" | "resident"))
    {
        add(Role::Held, SPEAKS);
    }
    if last(2).any(|word| matches!(*word, "have" | "got" | "given" | "only" | "just")) && !has {
        add(Role::Free, HINTS);
        add(Role::Whole, HINTS);
    }
    points
}

/// True where the first of the words that says anything is what holds memory.
fn held_by<'a>(mut words: impl Iterator<Item = &'a &'a str>) -> bool {
    const PASSED: &[&str] = &["has", "have", "had", "holds", "with", "of", "only", "a", "the", "is"];
    words
        .find(|word| !PASSED.contains(word) && !word.bytes().all(|byte| byte.is_ascii_digit()))
        .is_some_and(|word| HOLDERS.contains(word))
}

/// True behind words for an attempt that failed, in one clause: `cannot hold`, `could not commit`, `not enough memory
/// to start`. What was to be released was no request.
fn in_vain(lower: &str) -> bool {
    const VAIN: &[&str] = &[
        "cannot ",
        "can't ",
        "can not ",
        "could not ",
        "couldn't ",
        "failed to ",
        "unable to ",
        "not able to ",
        "fails to ",
        "fail to ",
        "failure to ",
        "not enough memory to ",
        "not enough memory for ",
        "insufficient memory to ",
        "insufficient memory for ",
        "memory in the system to ",
        "not enough room for ",
        "no room for ",
        "not enough space for ",
        "unable ",
        "failed allocating ",
        "error allocating ",
    ];
    let clause = lower.rsplit(['(', ';']).next().unwrap_or_default();
    let clause = clause.rsplit(". ").next().unwrap_or_default();
    let Some(at) = VAIN.iter().filter_map(|words| clause.rfind(words).map(|at| at + words.len())).max() else {
        return false;
    };
    let rest = &clause[at..];
    let verb = rest.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
    let plain = !rest.trim_end().trim_end_matches(':').contains([',', ':', '/']);
    // `cannot fit the index into 15 GiB`: what there is.
    let within = rest.split_whitespace().next_back().is_some_and(|word| {
        matches!(
            word,
            "into" | "in" | "within" | "under" | "below" | "beyond" | "from" | "than" | "on" | "was" | "is" | "has"
        )
    });
    plain && !within && rest.split_whitespace().count() <= 14 && !motion::releases(verb)
}

/// True for words of something that was being done with memory: `while uploading texture of`, `resizing the buffer to`.
fn doing(words: &[&str]) -> bool {
    const NO_WORK: &[&str] = &[
        "during",
        "according",
        "remaining",
        "including",
        "existing",
        "using",
        "being",
        "string",
        "following",
        "thing",
        "holding",
        "pending",
        "exceeding",
        "working",
    ];
    const STATES: &[&str] = &["was", "is", "were", "are", "has", "have", "limit"];
    words
        .iter()
        .rev()
        .take(6)
        .take_while(|word| !STATES.contains(word))
        .any(|word| word.len() > 5 && word.ends_with("ing") && !NO_WORK.contains(word) && !motion::releases(word))
}

/// Gives roles to the figures of which the words say nothing, where only one can be true.
pub(super) fn settle(line: &str, places: &[Place], said: &mut [Said], refused: bool) {
    let ties: Vec<Tie> = (0..places.len())
        .map(|i| match i.checked_sub(1).and_then(|before| Some((places.get(before)?, places.get(i)?))) {
            Some((before, place)) => tie(line.get(before.to..place.from).unwrap_or_default(), before, place),
            None => Tie::None,
        })
        .collect();
    // The same said twice is one figure.
    for i in 1..said.len().min(places.len()) {
        if ties[i] == Tie::Same {
            match (said[i - 1], said[i]) {
                (Said::Nothing, known @ Said::Is(_)) => said[i - 1] = known,
                (_, Said::Nothing) => said[i] = Said::NoSize,
                _ => {}
            }
        }
    }
    // `quota exceeded: 4.02 GiB > 4.00 GiB`: what passed the bound is not the bound.
    for i in 1..said.len().min(places.len()) {
        let passed = ties[i] == Tie::Over && places[i - 1].figure.bytes > places[i].figure.bytes;
        let bound = |said: Said| matches!(said, Said::Is(Fact::Limit | Fact::Capacity));
        if passed && bound(said[i - 1]) && (said[i] == Said::Nothing || bound(said[i])) {
            said[i] = if bound(said[i]) { said[i] } else { said[i - 1] };
            said[i - 1] = Said::Nothing;
        }
    }
    let bare_told = places.iter().zip(said.iter()).any(|(place, said)| place.bare && matches!(said, Said::Is(_)));
    let open: Vec<usize> = (0..places.len().min(said.len()))
        .filter(|i| {
            let place = &places[*i];
            let sized = !place.bare || place.figure.bytes >= LEAST_BARE && (refused || bare_told);
            said[*i] == Said::Nothing && !place.doubtful && sized
        })
        .collect();
    if open.is_empty() || open.len() > MOST || places.len() > MOST_OF_LINE {
        return;
    }
    let around = |i: usize| {
        let start = i.checked_sub(1).and_then(|i| places.get(i)).map_or(0, |place| place.to);
        let end = places.get(i + 1).map_or(line.len(), |place| place.from);
        let before = line.get(start..places[i].from).unwrap_or_default();
        let after = line.get(places[i].to..end).unwrap_or_default();
        (last_chars(before, 90), first_chars(after, 40))
    };
    let lower = line.to_lowercase();
    let says = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    let limited = says(&["limit", "quota", "budget", "allowed", "maximum"]);
    let failed =
        refused || says(&["out of memory", "exhaust", "exceed", "not enough", "insufficient", "fail", " hit "]);
    let points: Vec<[i32; 4]> = open
        .iter()
        .map(|i| {
            let (before, after) = around(*i);
            cues(before, after, failed)
        })
        .collect();
    let fixed: Vec<Option<Role>> = said
        .iter()
        .map(|said| match said {
            Said::Is(fact) => Role::of(*fact),
            _ => None,
        })
        .collect();
    let mut hints = vec![[0; 4]; places.len()];
    for (i, points) in open.iter().zip(&points) {
        hints[*i] = *points;
    }
    let message = Message { places, fixed: &fixed, hints, ties, limited };
    // Every assignment, as digits of a number in base five.
    let ways = 5_usize.pow(open.len() as u32);
    let digit = |way: usize, at: usize| way / 5_usize.pow(at as u32) % 5;
    let scores: Vec<i32> = (0..ways)
        .map(|way| {
            let mut roles = fixed.clone();
            let mut score = 0;
            for (at, i) in open.iter().enumerate() {
                if let Some(role) = digit(way, at).checked_sub(1).and_then(|role| Role::ALL.get(role)) {
                    roles[*i] = Some(*role);
                    score += points[at][*role as usize];
                }
            }
            score + message.together(&roles)
        })
        .collect();
    let Some((best, score)) = scores.iter().copied().enumerate().max_by_key(|(_, score)| *score) else { return };
    for (at, i) in open.iter().enumerate() {
        let own = digit(best, at);
        let Some(role) = own.checked_sub(1).and_then(|role| Role::ALL.get(role)) else { continue };
        let other = scores.iter().enumerate().filter(|(way, _)| digit(*way, at) != own).map(|(_, score)| *score).max();
        let given = fixed.contains(&Some(*role));
        if !given && message.is_hinted(*i, *role) && other.is_none_or(|other| score - other >= MARGIN) {
            said[*i] = Said::Is(role.fact(limited));
        }
    }
}

/// A message with what is known of its figures.
struct Message<'a> {
    places: &'a [Place],
    /// What the words have fixed.
    fixed: &'a [Option<Role>],
    hints: Vec<[i32; 4]>,
    ties: Vec<Tie>,
    limited: bool,
}

impl Message<'_> {
    fn interval(&self, i: usize) -> Interval {
        self.places[i].figure.interval()
    }

    fn is_fixed(&self, i: usize) -> bool {
        self.fixed[i].is_some()
    }

    /// True where anything but arithmetic speaks for the role.
    fn is_hinted(&self, i: usize, role: Role) -> bool {
        let to = |i: usize| self.ties.get(i).copied().unwrap_or(Tie::None);
        let tied = match role {
            Role::Asked => matches!(to(i + 1), Tie::Over | Tie::Plus) || to(i) == Tie::Plus,
            Role::Free => to(i + 1) == Tie::PartOf || to(i) == Tie::Over,
            Role::Held => matches!(to(i + 1), Tie::PartOf | Tie::Over | Tie::Plus) || to(i) == Tie::Plus,
            Role::Whole => matches!(to(i), Tie::PartOf | Tie::Over),
        };
        self.is_fixed(i) || self.hints[i][role as usize] > 0 || tied
    }

    /// What speaks for and against roles together. What the words have fixed is not judged again.
    fn together(&self, roles: &[Option<Role>]) -> i32 {
        let mut score = 0;
        let count = self.places.len().min(roles.len());
        for j in 0..count {
            let Some(second) = roles[j] else { continue };
            for i in (0..j).filter(|i| !self.is_fixed(*i) || !self.is_fixed(j)) {
                let Some(first) = roles[i] else { continue };
                // A second figure in a role that the words have given is nothing that another role could be told from.
                if first == second && (self.is_fixed(i) || self.is_fixed(j)) {
                    continue;
                }
                let tied = if i + 1 == j { self.ties[j] } else { Tie::None };
                score += pair((first, self.interval(i)), (second, self.interval(j)), tied, self.limited);
            }
        }
        let of = |role: Role| (0..count).filter(move |i| roles[*i] == Some(role));
        for whole in of(Role::Whole) {
            for held in of(Role::Held) {
                for free in of(Role::Free) {
                    score += self.made_up(whole, held, free);
                }
                for asked in of(Role::Asked).filter(|asked| ![whole, held, *asked].iter().all(|i| self.is_fixed(*i))) {
                    let sum = self.interval(asked).high + self.interval(held).high;
                    score += if sum > self.interval(whole).low { HINTS } else { CONTRADICTION / 4 };
                }
            }
        }
        score + (2..count).map(|j| self.sum_over(roles, j)).sum::<i32>()
    }

    /// What is held and what is free make up the whole.
    fn made_up(&self, whole: usize, held: usize, free: usize) -> i32 {
        if [whole, held, free].iter().all(|i| self.is_fixed(*i)) {
            return 0;
        }
        let (total, a, b) = (self.interval(whole), self.interval(held), self.interval(free));
        let (low, high) = (a.low + b.low, a.high + b.high);
        if low > total.high {
            return CONTRADICTION / 2;
        }
        if total.low > high {
            return 0;
        }
        let coarse = (high - low + total.high - total.low) as f64 > COARSE * total.high.max(1) as f64;
        // A figure of which nothing else tells may come near a sum by chance.
        let borne =
            self.is_hinted(whole, Role::Whole) && self.is_hinted(held, Role::Held) && self.is_hinted(free, Role::Free);
        if coarse || !borne { HINTS } else { EXACT }
    }

    /// `7 + 2 > 8`, the last of which is the `j`th figure.
    fn sum_over(&self, roles: &[Option<Role>], j: usize) -> i32 {
        let tied = self.ties[j] == Tie::Over && self.ties[j - 1] == Tie::Plus;
        let parts = matches!(
            roles[j - 2..=j],
            [Some(Role::Held), Some(Role::Asked), Some(Role::Whole)]
                | [Some(Role::Asked), Some(Role::Held), Some(Role::Whole)]
        );
        let over = self.interval(j - 2).high + self.interval(j - 1).high > self.interval(j).low;
        if tied && parts && over { SPEAKS } else { 0 }
    }
}

/// What speaks for and against the roles of two figures, the first of which stands before the second.
fn pair((first, a): (Role, Interval), (second, b): (Role, Interval), tied: Tie, limited: bool) -> i32 {
    use Role::{Asked, Free, Held, Whole};
    if first == second {
        return if meet(a, b) { 0 } else { CONTRADICTION };
    }
    let ((low_role, low), (high_role, high)) = match (first, second) {
        (Asked, Free) => ((Free, b), (Asked, a)),
        (Free, Asked) => ((Free, a), (Asked, b)),
        (Whole, Held | Free) => ((second, b), (Whole, a)),
        (_, Whole) => ((first, a), (Whole, b)),
        _ => ((first, a), (second, b)),
    };
    let mut score = match (low_role, high_role) {
        // Who asks for less than is free is not refused for want of it.
        (Free, Asked) if low.low >= high.high => CONTRADICTION,
        (Free, Asked) if low.high < high.low => HINTS,
        (Free, Whole) if low.low > high.high => CONTRADICTION,
        // What passed a limit is held beyond it.
        (Held, Whole) if low.low > high.high && tied == Tie::None => CONTRADICTION,
        _ => 0,
    };
    score += match (tied, first, second) {
        (Tie::PartOf, Held | Free, Whole) => SPEAKS,
        (Tie::Over, Asked | Held, Whole) if a.high > b.low => SPEAKS,
        (Tie::Over, Asked | Held, Free) if limited => CONTRADICTION,
        (Tie::Over, Asked, Free) if a.high > b.low => HINTS,
        (Tie::Plus, Held, Asked) => HINTS,
        _ => 0,
    };
    score
}

#[cfg(test)]
mod tests {
    use super::super::roles::figures;
    use crate::dialect::Fact::{self, Allocated, Capacity, Free, Limit, Needed, Requested, Used};
    use crate::evidence::Span;
    use crate::units::Base;

    const M: u64 = 1 << 20;

    /// What a sentence that reports a refusal tells, in MiB.
    fn read(line: &str) -> Vec<(Fact, u64)> {
        let mut told: Vec<_> = figures(line, "", Span::line(1), false, Some(0), Base::Binary)
            .figures
            .into_iter()
            .map(|(fact, figure)| (fact, figure.bytes / M))
            .collect();
        told.sort();
        told
    }

    #[test]
    fn one_figure_of_an_attempt_that_failed_is_what_was_asked_for() {
        for line in [
            "could not commit 256 MiB of memory",
            "clCreateBuffer failed for 268435456 B: CL_MEM_OBJECT_ALLOCATION_FAILURE",
            "failed to create a 268435456 byte buffer",
            "not enough memory in the system to start the machine X with ram size 256 megabytes",
            "bad_alloc while resizing particle buffer to 256 MiB",
        ] {
            assert_eq!(read(line), vec![(Requested, 256)], "{line}");
        }
    }

    #[test]
    fn a_part_is_held_where_more_than_it_was_asked_for_would_else_be_free() {
        let told = vec![(Requested, 2560), (Capacity, 8192), (Used, 7168)];
        assert_eq!(read("alloc: 2.50 GiB failed. device 0: 7.00/8.00 GiB"), told);
        assert_eq!(read("alloc: 2.50 GiB failed. device 0: 7.00 GiB/8.00 GiB"), told);
        let told = vec![(Requested, 2560), (Capacity, 8192), (Free, 1024)];
        assert_eq!(read("alloc: 2.50 GiB failed. device 0: 1.00 GiB/8.00 GiB"), told);
    }

    #[test]
    fn a_sum_that_holds_exactly_tells_its_parts() {
        let line = "allocating 2.500 GiB: 6.125 GiB + 1.9375 GiB = 8.0625 GiB";
        assert!(read(line).contains(&(Requested, 2560)), "{:?}", read(line));
    }

    #[test]
    fn a_label_that_one_figure_has_taken_is_no_other_figures() {
        let line = "memory budget exceeded: 4194304 bytes requested, 7985573888 currently allocated, 7990152090 bytes \
                    in budget";
        assert_eq!(read(line), vec![(Requested, 4), (Limit, 7620), (Allocated, 7615)]);
        assert_eq!(read("need 4096MiB free 1024MiB"), vec![(Requested, 4096), (Free, 1024)]);
        assert_eq!(read("lack of memory: 2.0 GiB wanted, 3.0 GiB on disk"), vec![(Requested, 2048)]);
    }

    #[test]
    fn what_would_have_been_is_neither_held_nor_there() {
        assert_eq!(read("cannot allocate 1 GiB: the pool would grow to 9 GiB"), vec![(Requested, 1024)]);
    }

    #[test]
    fn a_whole_is_what_its_holder_has() {
        assert_eq!(read("mesh does not fit (needs 9 GiB, card has 8 GiB)"), vec![(Requested, 9216), (Capacity, 8192)]);
        assert_eq!(read("at least 9 GiB is needed, device 0 (8 GiB) is too small").last(), Some(&(Capacity, 8192)));
    }

    #[test]
    fn what_two_assignments_explain_stays_unknown() {
        for line in ["out of memory: 5 GiB, 3 GiB", "failed: 5 GiB of data, 3 GiB of index, 1 GiB of log"] {
            assert!(read(line).iter().all(|(fact, _)| !matches!(fact, Free | Used | Limit | Needed)), "{line}");
        }
    }
}
