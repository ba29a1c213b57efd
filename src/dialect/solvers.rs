//! Direct solvers of sparse systems, which tell a lack of memory by a number: MUMPS, MKL's PARDISO.

use super::{Dialect, Event, Resource, Sign, field};
use crate::domain::Program;
use crate::input::Document;

pub const DIALECT: Dialect =
    Dialect { name: "solvers", triggers: &["MUMPS", "PARDISO", "NOT ENOUGH MEMORY during"], read };

fn read(document: &Document, position: usize) -> Option<Event> {
    let line = field::text(document, position);
    let (slug, program, set) = mumps(line).or_else(|| pardiso(line))?;
    let mut event = field::event(document, position, slug, Program::named(program)?, Resource::Host);
    event.sign(Sign::NoFigures);
    if set {
        event.sign(Sign::RefusedByLimit);
        // The percentage by which its estimate of the workspace is raised, and PETSc's option for it.
        let setting = "ICNTL(14)=<more percent>   # PETSc: -mat_mumps_icntl_14 <more percent>";
        event.facts.setting.note(setting.to_string(), event.at);
    }
    Some(event)
}

/// True for messages whose figures count numbers of a size that is not said.
pub(super) fn counts_numbers(event: &Event) -> bool {
    event.wording() == "mumps-workspace"
}

/// `On return from DMUMPS, INFOG(1)= -13`, `** ERROR RETURN ** FROM ZMUMPS INFO(1)= -9`, PETSc's `Error reported by
/// MUMPS in numerical factorization phase: INFOG(1)=-13, INFO(2)=36536`. By its Users' Guide (Error diagnostics) -8
/// and -9 are a workspace that its own estimate and ICNTL(14) made too small, -19 one that ICNTL(23) did, and -7 and
/// -13 refused allocations. INFO(2) counts numbers, whose size is not said.
fn mumps(line: &str) -> Option<(&'static str, &'static str, bool)> {
    const REFUSED: [i32; 2] = [-7, -13];
    const WORKSPACE: [i32; 3] = [-8, -9, -19];
    // Of the same failure, with its counts of numbers.
    if line.contains("NOT ENOUGH MEMORY during") {
        return Some(("mumps-workspace", "mumps", true));
    }
    let (_, behind) = line.split_once("MUMPS")?;
    let (_, behind) = behind.split_once("INFOG(1)").or_else(|| behind.split_once("INFO(1)"))?;
    let code = behind.trim_start().strip_prefix('=')?.trim_start();
    let end = code.find(|c: char| !(c == '-' || c.is_ascii_digit())).unwrap_or(code.len());
    match code[..end].parse().ok()? {
        code if REFUSED.contains(&code) => Some(("mumps-allocation", "mumps", false)),
        code if WORKSPACE.contains(&code) => Some(("mumps-workspace", "mumps", true)),
        _ => None,
    }
}

/// The code of MKL's solver for too little memory, as the programs over it print it: `PARDISO Num Factor: The following
/// ERROR was detected: -2` (FDS, Source/pres.f90).
fn pardiso(line: &str) -> Option<(&'static str, &'static str, bool)> {
    let (_, behind) = line.split_once("PARDISO")?;
    let code = behind.split_once("ERROR was detected:")?.1.trim();
    (code == "-2").then_some(("pardiso-memory", "pardiso", false))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect;

    fn events(log: &str) -> Vec<Event> {
        dialect::events(&Document::from_text("-", log))
    }

    #[test]
    fn a_code_of_mumps_tells_its_workspace_from_the_machine() {
        let told = |line: &str| {
            let found = events(&format!("{line}\n"));
            found.first().map(|event| (event.wording().to_string(), event.has(Sign::RefusedByLimit)))
        };
        let is = |slug: &str, limit: bool| Some((slug.to_string(), limit));
        assert_eq!(told(" On return from DMUMPS, INFOG(1)=              -13"), is("mumps-allocation", false));
        assert_eq!(told(" ** ERROR RETURN ** FROM ZMUMPS INFO(1)=  -9"), is("mumps-workspace", true));
        let petsc =
            "[0]PETSC ERROR: Error reported by MUMPS in numerical factorization phase: INFOG(1)=-13, INFO(2)=36536";
        assert_eq!(told(petsc), is("mumps-allocation", false));
        // A singular matrix, an invalid pointer, a warning, and how it went well.
        for other in ["-10", "-22", "1", "0", "-130"] {
            assert_eq!(told(&format!(" On return from DMUMPS, INFOG(1)= {other}")), None, "{other}");
        }
    }

    #[test]
    fn counts_of_numbers_are_no_bytes() {
        let log = "  NOT ENOUGH MEMORY during ASSEMBLY  MEMORY REQUESTED =      13381  AVAILABLE =      9798\n  \
                   FAILURE, WORKSPACE TOO SMALL DURING DMUMPS_FAC_ASM\n ** ERROR RETURN ** FROM DMUMPS INFO(1)= -9\n";
        let found = events(log);
        assert!(!found.is_empty() && found.iter().all(|event| event.facts.sizes.is_empty()), "{found:#?}");
        assert!(found[0].facts.setting.get().is_some_and(|setting| setting.contains("ICNTL(14)")));
    }

    #[test]
    fn only_the_code_for_memory_is_one() {
        let log = |code: &str| {
            format!("ULMAT_H_MATRIX_LUDCMP PARDISO Num Factor: The following ERROR was detected:    {code}\n")
        };
        assert_eq!(events(&log("-2")).len(), 1);
        assert!(events(&log("-4")).is_empty());
    }
}
