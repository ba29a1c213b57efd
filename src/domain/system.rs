//! Operating systems, by whose own tools the memory of a machine is read.

use super::program::{Meter, PROCESS_METER};
use super::target::Target;

/// The system that a job runs on, as far as the log tells: Linux where nothing does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum System {
    Linux,
    Windows,
    MacOs,
    /// FreeBSD, OpenBSD, NetBSD: the commands are those that all of them have.
    Bsd,
}

/// What is typed on Windows has to work in both of its shells, for few logs show which one it is.
impl System {
    /// Whose line its commands are.
    pub const fn target(self) -> Target {
        match self {
            System::Linux => Target::Linux,
            System::Windows => Target::Windows,
            System::MacOs | System::Bsd => Target::Shell,
        }
    }

    /// How much memory there is and how much of it is free, with what limits a process or its group.
    pub const fn limits(self) -> &'static str {
        match self {
            System::Linux => "ulimit -v; cat /sys/fs/cgroup/memory.max; free -h",
            System::Windows => "systeminfo | findstr Memory",
            System::MacOs => "ulimit -a; top -l 1 | grep PhysMem",
            System::Bsd => "ulimit -a; top -b | head",
        }
    }

    /// What one process holds. A Mac tells its peak when it ends.
    pub const fn process(self) -> Meter {
        match self {
            System::Linux => PROCESS_METER,
            System::Windows => Meter {
                now: "tasklist /fi \"pid eq PID\"",
                peak: "powershell -c \"(Get-Process -Id PID).PeakWorkingSet64\"",
            },
            System::MacOs | System::Bsd => Meter { now: "ps -o rss= -p PID", peak: "/usr/bin/time -l <your command>" },
        }
    }

    /// What devices of any vendor have in use, where the system has a tool of its own for it.
    pub const fn devices(self) -> Option<Meter> {
        const COUNTER: &str = r#"powershell -c "Get-Counter '\GPU Adapter Memory(*)\Dedicated Usage'""#;
        match self {
            System::Windows => Some(Meter { now: COUNTER, peak: COUNTER }),
            System::Linux | System::MacOs | System::Bsd => None,
        }
    }

    /// The processes that hold most.
    pub const fn processes(self) -> &'static str {
        match self {
            System::Linux => "ps -eo pid,user,rss,comm --sort=-rss | head",
            // Those above a GB; sorting takes PowerShell.
            System::Windows => "tasklist /fi \"memusage gt 1000000\"",
            System::MacOs => "top -l 1 -o mem -n 10 -stats pid,command,mem",
            System::Bsd => "ps -axm -o pid,user,rss,command | head",
        }
    }

    /// What the system wrote down of processes that it ended for want of memory. Windows ends none: it refuses.
    pub const fn kills(self) -> Option<&'static str> {
        match self {
            System::Linux => Some("dmesg -T | grep -iE 'out of memory|oom-kill|killed process'"),
            System::Windows => None,
            System::Bsd => Some("dmesg | grep -iE 'was killed|out of'"),
            System::MacOs => Some("log show --last 1h --predicate 'eventMessage CONTAINS \"memorystatus\"'"),
        }
    }
}
