//! Messages of programs, generated from their shapes and mutilated as logs are: is the failure seen, is its program
//! named, and is every figure exact or unknown?
//!
//! * `OOMDOC_SHAPES=slurm` looks at the shapes whose id or program holds the word, and prints every one;
//! * `OOMDOC_MUTATION=cut` at the mutations whose name holds it;
//! * `OOMDOC_VARIANTS=20` draws so many of each shape and mutation instead of [`VARIANTS`];
//! * `OOMDOC_MESSAGES=folder` reads the shapes of `folder/unlisted` (or `gpu`, `host`, `tables`) in place of these, such
//!   as `tests/messages/sets/seventh`;
//! * `OOMDOC_SHOW=5` prints the first five logs that went wrong;
//! * `OOMDOC_NAMES=file` writes what shows around each failure of a program in no list, for `names.py` to learn from;
//! * `OOMDOC_TERMS=file` the words around each message, for `likely.py`.
//!
//! `cargo test --test messages -- --nocapture` prints the table.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test may panic, and print its table")]

mod mutate;
mod sentences;
mod shapes;
mod verdict;

use mutate::Mutation;
use rayon::prelude::*;
use shapes::{Outcome, Program, Random, Shape};
use std::collections::BTreeMap;
use std::fmt::Write;
use verdict::Verdict;

/// Logs drawn of each shape and mutation.
const VARIANTS: u64 = 2;

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// Sums of verdicts.
#[derive(Debug, Default, Clone)]
struct Tally {
    failures: usize,
    detected: usize,
    named: usize,
    resource: usize,
    others: usize,
    left_alone: usize,
    exact: usize,
    unknown: usize,
    wrong: usize,
    mixed: usize,
}

impl Tally {
    fn add(&mut self, outcome: Outcome, verdict: &Verdict) {
        if outcome == Outcome::Failure {
            self.failures += 1;
            self.detected += usize::from(verdict.outcome);
            self.named += usize::from(verdict.named);
            self.resource += usize::from(verdict.resource);
        } else {
            self.others += 1;
            self.left_alone += usize::from(verdict.outcome);
        }
        self.exact += verdict.exact;
        self.unknown += verdict.unknown;
        self.wrong += verdict.wrong.len();
        self.mixed += usize::from(verdict.mixed);
    }

    fn plus(&mut self, other: &Tally) {
        self.failures += other.failures;
        self.detected += other.detected;
        self.named += other.named;
        self.resource += other.resource;
        self.others += other.others;
        self.left_alone += other.left_alone;
        self.exact += other.exact;
        self.unknown += other.unknown;
        self.wrong += other.wrong;
        self.mixed += other.mixed;
    }

    /// Asserts how many of a hundred failures are seen and named, others left alone, and figures read.
    fn assert_at_least(&self, [seen, named, left, read]: [usize; 4]) {
        for (what, part, whole, percent) in [
            ("failures seen", self.detected, self.failures, seen),
            ("programs named", self.named, self.failures, named),
            ("others left", self.left_alone, self.others, left),
            ("figures read", self.exact, self.exact + self.unknown, read),
        ] {
            assert!(part * 100 >= whole * percent, "{part} of {whole} {what}");
        }
    }

    fn row(&self, name: &str) -> String {
        format!(
            "{name:<24} {:>6} {:>6} {:>6} {:>6} | {:>5} {:>5} | {:>6} {:>6} {:>5} {:>5}",
            self.failures,
            self.detected,
            self.named,
            self.resource,
            self.others,
            self.left_alone,
            self.exact,
            self.unknown,
            self.wrong,
            self.mixed
        )
    }
}

const HEAD: &str = "                           fail   seen  named  resrc | other  left |  exact unknwn wrong mixed";

/// One shape's verdicts by mutation, and what to say about it.
struct Judged {
    part: &'static str,
    program: String,
    id: String,
    outcome: Outcome,
    by_mutation: BTreeMap<Mutation, Tally>,
    line: String,
    shown: Vec<String>,
}

fn judge(program: &Program, shape: &Shape, variants: u64, mutations: &[Mutation]) -> Judged {
    let mut by_mutation: BTreeMap<Mutation, Tally> = BTreeMap::new();
    let mut line = String::new();
    let mut shown = Vec::new();
    for mutation in mutations.iter().copied() {
        for number in 0..variants {
            let Some(variant) = mutation.apply(shape, number) else { continue };
            let verdict = verdict::judge(shape, &variant);
            by_mutation.entry(mutation).or_default().add(shape.outcome, &verdict);
            if mutation == Mutation::Plain && number == 0 {
                line = describe(shape, &verdict);
            }
            if !verdict.wrong.is_empty() || (mutation.keeps_the_message() && !verdict.outcome) {
                shown.push(format!(
                    "=== {} / {} / {number}: {}\n{:?}\n{}",
                    shape.id,
                    mutation.name(),
                    describe(shape, &verdict),
                    verdict.wrong,
                    variant.text
                ));
            }
        }
    }
    let (part, outcome) = (program.part, shape.outcome);
    Judged { part, program: program.program.clone(), id: shape.id.clone(), outcome, by_mutation, line, shown }
}

/// One line about one log.
fn describe(shape: &Shape, verdict: &Verdict) -> String {
    let mut out = String::new();
    let seen = !verdict.framework.is_empty();
    match (shape.outcome, seen) {
        (Outcome::Failure, false) => out.push_str("NOT SEEN"),
        (Outcome::Failure, true) => {
            let name = if verdict.named { "" } else { " (WRONG NAME)" };
            let _ = write!(out, "seen as {} {}{name}", verdict.framework, verdict.dialect);
            if !verdict.resource {
                let _ = write!(out, " RESOURCE {} for {}", verdict.resource_got, shape.resource);
            }
        }
        (_, false) => out.push_str("left alone"),
        (_, true) => {
            let _ = write!(out, "FALSE ALARM {} {}", verdict.framework, verdict.dialect);
        }
    }
    if verdict.exact > 0 {
        let _ = write!(out, ", exact {}", verdict.exact);
    }
    if !verdict.unknown_facts.is_empty() && seen {
        let _ = write!(out, ", unknown {}", verdict.unknown_facts.join(" "));
    }
    for wrong in &verdict.wrong {
        let _ = write!(out, ", WRONG {} {} for {:?}", wrong.fact, wrong.got, wrong.printed);
    }
    out
}

/// The mutations that `OOMDOC_MUTATION` asks for: all without it.
fn mutations() -> Vec<Mutation> {
    let word = variable("OOMDOC_MUTATION").unwrap_or_default();
    Mutation::ALL.into_iter().filter(|mutation| mutation.name().contains(&word)).collect()
}

fn sweep(programs: &[Program]) -> Vec<Judged> {
    let wanted = variable("OOMDOC_SHAPES");
    let variants = variable("OOMDOC_VARIANTS").map_or(VARIANTS, |number| number.parse().unwrap());
    let mutations = mutations();
    let shapes: Vec<(&Program, &Shape)> = programs
        .iter()
        .flat_map(|program| program.shapes.iter().map(move |shape| (program, shape)))
        .filter(|(program, shape)| {
            wanted.as_ref().is_none_or(|word| shape.id.contains(word) || program.program.contains(word))
        })
        .collect();
    shapes.par_iter().map(|(program, shape)| judge(program, shape, variants, &mutations)).collect()
}

/// The tables of `--nocapture`.
fn print(judged: &[Judged]) {
    let mut by_mutation: BTreeMap<Mutation, Tally> = BTreeMap::new();
    let mut by_part: BTreeMap<&str, Tally> = BTreeMap::new();
    for shape in judged {
        for (mutation, tally) in &shape.by_mutation {
            by_mutation.entry(*mutation).or_default().plus(tally);
            by_part.entry(shape.part).or_default().plus(tally);
        }
    }
    if variable("OOMDOC_SHAPES").is_some() || variable("OOMDOC_LIST").is_some() {
        for shape in judged {
            let lost = shape.by_mutation.iter().filter(|(m, t)| m.keeps_the_message() && t.detected < t.failures);
            let lost: Vec<&str> = lost.map(|(mutation, _)| mutation.name()).collect();
            let wrong = shape.by_mutation.iter().filter(|(_, t)| t.wrong > 0).map(|(mutation, _)| mutation.name());
            let wrong: Vec<&str> = wrong.collect();
            print!("{}/{} {} [{:?}]: {}", shape.part, shape.program, shape.id, shape.outcome, shape.line);
            if !lost.is_empty() {
                print!("; not seen when {}", lost.join(", "));
            }
            if !wrong.is_empty() {
                print!("; wrong figures when {}", wrong.join(", "));
            }
            println!();
        }
    }
    let show: usize = variable("OOMDOC_SHOW").map_or(0, |number| number.parse().unwrap());
    judged.iter().flat_map(|shape| &shape.shown).take(show).for_each(|text| println!("{text}"));
    println!("{HEAD}");
    by_mutation.iter().for_each(|(mutation, tally)| println!("{}", tally.row(mutation.name())));
    by_part.iter().for_each(|(part, tally)| println!("{}", tally.row(part)));
    let mut all = Tally::default();
    by_part.values().for_each(|tally| all.plus(tally));
    println!("{}", all.row("all"));
    let plain = |outcome| judged.iter().filter(move |shape| shape.outcome == outcome);
    let unseen = plain(Outcome::Failure).filter(|shape| shape.line.starts_with("NOT SEEN")).count();
    println!("shapes: {} failures, {unseen} not seen as printed", plain(Outcome::Failure).count());
}

/// What is asked of programs that no reader knows, as they print it: failures seen, programs named, figures read, and
/// everything else left alone.
fn assert_any_program_is_read(judged: &[Judged]) {
    let mut tally = Tally::default();
    for shape in judged.iter().filter(|shape| shape.part == "unlisted") {
        shape.by_mutation.get(&Mutation::Plain).into_iter().for_each(|plain| tally.plus(plain));
    }
    // Of those kept here 94 % are named; of programs that nobody looked at before, seven of ten.
    tally.assert_at_least([92, 85, 90, 80]);
}

#[test]
fn figures_are_exact_or_unknown() {
    let judged = sweep(&shapes::programs());
    print(&judged);
    if variable("OOMDOC_SHAPES").is_none() && variable("OOMDOC_MUTATION").is_none() {
        assert_any_program_is_read(&judged);
    }
    let wrong: Vec<String> = judged
        .iter()
        .flat_map(|shape| shape.by_mutation.iter().map(move |(mutation, tally)| (shape, mutation, tally)))
        .filter(|(_, _, tally)| tally.wrong > 0)
        .map(|(shape, mutation, _)| format!("{} {}", shape.id, mutation.name()))
        .collect();
    assert!(wrong.is_empty(), "figures silently wrong: {wrong:?}");
}

/// The sets, this one among them.
fn sets() -> Vec<(String, Vec<Program>)> {
    let own = ("own".to_string(), shapes::programs());
    shapes::opened().into_iter().chain([own]).collect()
}

/// The shapes of programs in no list, each with the name of its set.
fn unlisted(sets: &[(String, Vec<Program>)]) -> Vec<(&str, &Shape)> {
    sets.iter()
        .flat_map(|(set, programs)| programs.iter().map(move |program| (set.as_str(), program)))
        .filter(|(_, program)| program.part == "unlisted")
        .flat_map(|(set, program)| program.shapes.iter().map(move |shape| (set, shape)))
        .collect()
}

/// The names that show around the failures that the net reads, with those by which their programs are called, as JSON.
fn shown() -> String {
    let sets = sets();
    let shapes = unlisted(&sets);
    let rows: Vec<serde_json::Value> = shapes
        .par_iter()
        .filter(|(_, shape)| shape.outcome == Outcome::Failure)
        .filter_map(|(set, shape)| {
            let names = verdict::names_shown(&Mutation::Plain.apply(shape, 0)?.text)?;
            Some(serde_json::json!({ "set": set, "id": shape.id, "names": shape.names, "shown": names }))
        })
        .collect();
    serde_json::to_string(&rows).unwrap()
}

/// The terms around the messages of programs in no list and of the reports that no reader knows, with what came of
/// each, as JSON. Half of a set's are as they were printed, the others mutilated in every way by turns.
fn terms() -> String {
    let sets = sets();
    let shapes = unlisted(&sets);
    let row = |set: &str, failure: bool, text: &str| {
        let terms = verdict::terms_around(text)?;
        Some(serde_json::json!({ "set": set, "failure": failure, "terms": terms }))
    };
    let drawn = shapes.par_iter().enumerate().flat_map_iter(|(at, (set, shape))| {
        let turn = Mutation::ALL[1 + at % (Mutation::ALL.len() - 1)];
        [Mutation::Plain, turn]
            .into_iter()
            .filter_map(|way| way.apply(shape, 0))
            .filter_map(move |variant| row(set, shape.outcome == Outcome::Failure, &variant.text))
    });
    let mut rows: Vec<serde_json::Value> = drawn.collect();
    let folder = std::path::Path::new("tests/corpus/reports");
    let mut logs: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    logs.sort();
    logs.retain(|path| path.extension().is_some_and(|kind| kind == "log"));
    let reports = logs.par_iter().filter_map(|path| {
        let label: serde_json::Value =
            serde_json::from_str(&std::fs::read_to_string(path.with_extension("json")).unwrap()).unwrap();
        let text = String::from_utf8_lossy(&std::fs::read(path).unwrap()).into_owned();
        let open = label["held"] != true && verdict::is_unknown(&text);
        row("reports", label["causes"][0] != "not_oom", &text).filter(|_| open)
    });
    rows.extend(reports.collect::<Vec<_>>());
    serde_json::to_string(&rows).unwrap()
}

/// What a set taught is not lost again, and above all no figure is told wrong: the sets that were kept for measuring are
/// read with the rest once they have been opened. How well they were read at first sight stands in `notes.md`.
#[test]
fn opened_sets_keep_what_they_taught() {
    /// Programs whose second figure of a kind is the one that their label means: a heap's own maximum beside `-Xmx`, what
    /// is free of all nodes beside what is free of one, a heap's maximum beside the threshold at which it refuses, of a
    /// collector's tries the first beside the last, which it could not do without (bdwgc's alloc.c).
    const OTHER_FIGURE: [&str; 4] = ["activemq-heap", "gamer-memfree", "t20a-geode-lowmemory", "bdwgc-null"];
    if variable("OOMDOC_SHAPES").is_some() || variable("OOMDOC_MESSAGES").is_some() {
        return;
    }
    let mutations = mutations();
    if let Some(file) = variable("OOMDOC_NAMES") {
        std::fs::write(file, shown()).unwrap();
    }
    if let Some(file) = variable("OOMDOC_TERMS") {
        std::fs::write(file, terms()).unwrap();
    }
    let sets = shapes::opened();
    let programs = sets.iter().flat_map(|(_, programs)| programs);
    let shapes: Vec<(&Program, &Shape)> =
        programs.flat_map(|program| program.shapes.iter().map(move |shape| (program, shape))).collect();
    // Every shape as printed, and mutilated in every third way by turns, so that the whole takes seconds.
    let drawn = |at: usize| -> Vec<Mutation> {
        let all = variable("OOMDOC_MUTATION").is_some();
        let numbered = mutations.iter().copied().enumerate();
        numbered
            .filter(|(i, way)| all || *way == Mutation::Plain || (at + i).is_multiple_of(3))
            .map(|(_, way)| way)
            .collect()
    };
    let judged: Vec<Judged> =
        shapes.par_iter().enumerate().map(|(at, (program, shape))| judge(program, shape, 1, &drawn(at))).collect();
    print(&judged);
    let (mut plain, mut mutilated) = (Tally::default(), Tally::default());
    for (mutation, tally) in judged.iter().flat_map(|shape| &shape.by_mutation) {
        if *mutation == Mutation::Plain { &mut plain } else { &mut mutilated }.plus(tally);
    }
    let wrong = |shape: &&Judged| shape.by_mutation.get(&Mutation::Plain).is_some_and(|plain| plain.wrong > 0);
    let wrong: Vec<&str> = judged.iter().filter(wrong).map(|shape| shape.id.as_str()).collect();
    assert!(wrong.iter().all(|id| OTHER_FIGURE.contains(id)), "figures silently wrong: {wrong:?}");
    // Of mutilated ones most are the second figure of a kind where the first is cut off or belongs to another rank.
    assert!(mutilated.wrong * 100 <= mutilated.exact, "{} of {} wrong", mutilated.wrong, mutilated.exact);
    if variable("OOMDOC_MUTATION").is_some() {
        return;
    }
    // A third of the figures that are not read stand in tables asked for at another moment, which are left out on purpose.
    // Without the twenty-eighth set, in which 61 % of the programs are named, that is 75 %; in the twenty-ninth every
    // fifth harmless log is taken for a failure, and in the thirtieth, whose author looked for what misleads, every fourth:
    // without it that is 91 %.
    plain.assert_at_least([94, 74, 90, 74]);
}

/// A wrapped line is the same sentence: what its figures are doesn't depend on where it was broken.
#[test]
fn wrapping_changes_no_role() {
    /// Columns drawn for each message; every one with `OOMDOC_VARIANTS=1000`.
    const COLUMNS: u64 = 4;
    let draws = variable("OOMDOC_VARIANTS").map_or(COLUMNS, |number| number.parse().unwrap());
    let programs = shapes::programs();
    let shapes: Vec<&Shape> = programs
        .iter()
        .flat_map(|program| &program.shapes)
        .filter(|shape| shape.outcome == Outcome::Failure && shape.has_amounts())
        .collect();
    let changed: Vec<String> = shapes
        .par_iter()
        .flat_map_iter(|shape| {
            let mut random = Random::of(&shape.id, 0);
            let message = shape.message(&mut random, shapes::C).text;
            let plain = verdict::told_by_the_net(&message).filter(|plain| !plain.is_empty());
            let draws = if plain.is_some() { draws } else { 0 };
            (0..draws).filter_map(move |_| {
                let columns = random.within(40, 130) as usize;
                let words = random.below(2) == 0;
                let wrapped = if words { mutate::word_wrap } else { mutate::hard_wrap }(&message, columns);
                let plain = plain.as_ref()?;
                let told = verdict::told_by_the_net(&wrapped)?;
                let other = told.into_iter().find(|(key, got)| {
                    let known = plain.get(key).map_or(&[][..], Vec::as_slice);
                    got.iter().any(|got| !known.contains(got))
                });
                other.map(|other| format!("{} at {columns}, between words: {words}: {other:?} of {plain:?}", shape.id))
            })
        })
        .collect();
    assert!(changed.is_empty(), "{}", changed.join("\n"));
}

/// A program with a row of its own would prove nothing of how any program is read.
#[test]
fn programs_in_no_list_have_no_row() {
    for program in shapes::programs().iter().filter(|program| program.part == "unlisted") {
        for name in &program.names {
            let read = oomdoc::domain::Program::named(name);
            assert!(matches!(read, Some(oomdoc::domain::Program::Unlisted(_))), "{name} has a row");
        }
    }
}
