//! Where a job runs, as far as that decides who may change its limits and in whose words: on a machine of one's own, in
//! a container, in a pod, under a batch system, in a notebook of somebody else's cloud.

use super::case::Case;
use crate::domain::Program;
use crate::incident::context::Clue;

impl Case<'_> {
    /// True where Kubernetes runs it: by who held it to its limits, its tools' words, or the name of a pod.
    pub(super) fn in_a_pod(&self) -> bool {
        self.warden() == Some(Program::Kubernetes) || self.clue(Clue::Pod)
    }

    /// True where something speaks of a container: its runtime, the path of its control group, how it was started.
    pub(super) fn in_a_container(&self) -> bool {
        self.in_a_pod()
            || matches!(self.warden(), Some(Program::Docker | Program::Podman))
            || self.context.container.value() == Some(true)
    }

    /// True where a batch system holds the job to its limit.
    pub(super) fn in_a_batch_job(&self) -> bool {
        let batch = [Program::Slurm, Program::Pbs, Program::Sge, Program::Lsf, Program::HtCondor];
        self.warden().is_some_and(|warden| batch.contains(&warden))
    }

    /// True where a batch system started it, or its files lie where clusters keep theirs.
    pub(super) fn on_a_cluster(&self) -> bool {
        self.in_a_batch_job() || self.clue(Clue::Cluster)
    }

    /// True unless the log shows that the machine is not its user's own to set: swap needs the rights of root, outside
    /// of containers, which have the machine's.
    pub(super) fn on_a_machine_of_ones_own(&self) -> bool {
        !self.in_a_container()
            && !self.on_a_cluster()
            && !self.clue(Clue::HostedNotebook)
            && !self.clue(Clue::ImageBuild)
    }

    /// True where the command that started the container is in the log and sets no limit of memory.
    pub(super) fn started_without_a_limit(&self) -> bool {
        let runs = |command: &String| {
            ["docker run", "podman run"].iter().any(|run| command.contains(run))
                && !["--memory", " -m ", " -m=", "--kernel-memory"].iter().any(|limit| command.contains(limit))
        };
        self.context.command.get().is_some_and(runs)
    }
}
