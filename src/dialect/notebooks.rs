//! Notebooks and editors whose kernel or session ended: Colab, Kaggle, Jupyter, VS Code.
//!
//! Most of them see only that a process is gone. Where they don't say why, memory is the common reason and no more.

use super::wording::{self, Means, WORDING, Wording};
use super::{Dialect, Event, Resource, Sign, Standing, field};
use crate::domain::Program;
use crate::input::Document;

pub const DIALECT: Dialect = Dialect {
    name: "notebooks",
    triggers: &[
        "(?i)your session crashed",
        "(?i)all available ram",
        "(?i)appears to have died",
        "(?i)kernelrestarter",
        "(?i)autorestarter",
        "(?i)kernel crashed while",
        "(?i)terminated unexpectedly",
        "(?i)ran out of memory",
        "(?i)warning:root:kernel",
    ],
    read,
};

const TABLE: &[Wording] = &[
    Wording {
        says: &["crashedafterusingallavailableram"],
        slug: "colab-session-crashed",
        program: Program::Colab,
        signs: &[Sign::KilledWithProof],
        ..WORDING
    },
    Wording {
        says: &["appearstohavedied"],
        and: &["kernel"],
        slug: "notebook-kernel-died",
        program: Program::Jupyter,
        signs: &[Sign::KilledWithoutProof],
        ..WORDING
    },
    Wording {
        says: &["thekernelcrashedwhileexecutingcode"],
        slug: "notebook-kernel-died",
        program: Program::VsCode,
        signs: &[Sign::KilledWithoutProof],
        ..WORDING
    },
    Wording {
        says: &["windowterminatedunexpectedly(reason:'oom'"],
        slug: "vscode-window-oom",
        program: Program::VsCode,
        resource: Resource::Host,
        signs: &[Sign::KilledWithProof],
        ..WORDING
    },
    Wording {
        // Colab's own log of its runtime, newest line first.
        says: &["warning:root:kernel"],
        and: &["restarted"],
        slug: "notebook-kernel-restarting",
        program: Program::Jupyter,
        means: Means::Follower,
        ..WORDING
    },
    Wording {
        says: &["restartingkernel("],
        slug: "notebook-kernel-restarting",
        program: Program::Jupyter,
        means: Means::Follower,
        ..WORDING
    },
];

/// Lines around a restart in which the reason, or the same death, is told.
const NEAR: usize = 6;

fn read(document: &Document, position: usize) -> Option<Event> {
    let mut event = wording::read(document, position, TABLE)?;
    // A request for one large block right before or after the restart says what it died of.
    if event.standing == Standing::Follower {
        let near = || field::before(position, NEAR).chain(field::behind(document, position, NEAR));
        let says = |words: &str| near().any(|at| field::text(document, at).contains(words));
        if says("tcmalloc: large alloc") && !says("all available RAM") {
            event.standing = Standing::Failure;
            event.program = Program::Colab;
            event.sign(Sign::KilledWithoutProof);
            event.sign(Sign::EndUntold);
        }
    }
    Some(event)
}
