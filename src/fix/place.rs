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
            || self.context.origin.gunicorn_in_a_container
            || self.context.origin.composed
    }

    /// True where a node that ran short of memory put the pod out: what it asked for counts, not its limit.
    pub(super) fn evicted(&self) -> bool {
        self.incident.event.evicted() || self.context.origin.evicted
    }

    /// True where Java's own heap was full, which neither RAM nor swap makes larger.
    pub(super) fn of_a_java_heap(&self) -> bool {
        self.incident.event.of_a_java_heap()
    }

    /// True for programs of a desktop, which nobody submits as a job: what draws it, its session, its browsers.
    pub(super) fn of_the_desktop(&self) -> bool {
        const PARTS: [&str; 14] = [
            "lightdm",
            "gdm",
            "sddm",
            "kwin",
            "gnome",
            "plasma",
            "xorg",
            "xwayland",
            "mutter",
            "kded",
            "app-org.",
            "chrome",
            "firefox",
            "apt-check",
        ];
        let facts = &self.incident.event.facts;
        let named =
            [facts.process_name.get(), facts.cgroup.get()].into_iter().flatten().map(|name| name.to_ascii_lowercase());
        self.on_host() && named.into_iter().any(|name| PARTS.iter().any(|part| name.contains(part)))
    }

    /// True where Windows sets how much memory and swap there is: WSL, whose first process has a group of its own in
    /// which everything runs.
    pub(super) fn in_wsl(&self) -> bool {
        let group = self.incident.event.facts.cgroup.get();
        self.on_wsl_itself()
            || group.is_some_and(|group| group == "/init.scope")
            || self.context.origin.in_the_scope_of_init
    }

    /// True where a batch system holds the job to its limit.
    pub(super) fn in_a_batch_job(&self) -> bool {
        let batch = [Program::Slurm, Program::Pbs, Program::Sge, Program::Lsf, Program::HtCondor];
        self.warden().is_some_and(|warden| batch.contains(&warden))
    }

    /// True where a batch system started it, or its files lie where clusters keep theirs.
    pub(super) fn on_a_cluster(&self) -> bool {
        self.in_a_batch_job() || self.clue(Clue::Cluster) || self.context.origin.login_node
    }

    /// True where it runs in a batch job, which has what it asked for of the machine's memory.
    pub(super) fn in_a_job_of_a_size(&self) -> bool {
        let origin = &self.context.origin;
        origin.asks_for_memory || self.on_a_cluster() && !origin.login_node
    }

    /// True unless the log shows that the machine is not its user's own to set: swap needs the rights of root, outside
    /// of containers, which have the machine's.
    pub(super) fn on_a_machine_of_ones_own(&self) -> bool {
        !self.in_a_container()
            && !self.on_a_cluster()
            && !self.is_a_guest()
            && !self.in_wsl()
            && !self.clue(Clue::HostedNotebook)
            && !self.clue(Clue::ImageBuild)
    }

    /// True where the command that started the container is in the log and sets no limit of memory.
    pub(super) fn started_without_a_limit(&self) -> bool {
        self.context.origin.started_without_a_limit
    }
}
