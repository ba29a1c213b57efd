//! Signals for the job: what it does not get by itself is passed on, exactly once.
//!
//! What the terminal sends (Ctrl-C, Ctrl-Z, hang-up, a new window size) reaches the whole group, and what is sent to
//! the group does as well. What is sent to oomdoc alone, as by `kill`, `timeout` or a container's runtime, is for the
//! job.

use super::sentinel::Sentinel;
use super::terminal::Mirror;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_current_process_group, kill_process, waitid};
use signal_hook::consts::*;
use signal_hook::iterator::SignalsInfo;
use signal_hook::iterator::exfiltrator::raw::WithRawSiginfo;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// The kernel itself made it, such as the terminal's driver.
const BY_KERNEL: i32 = 0x80;

/// Signals that end or steer a job. Those that only a fault raises, that cannot be caught, that stop a reader in the
/// background, or that a closed pipe makes, stay as they are.
const PASSED_ON: &[i32] = &[
    SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGCONT, SIGTSTP, SIGWINCH, SIGALRM, SIGABRT, SIGVTALRM,
    SIGPROF, SIGXCPU, SIGXFSZ, SIGIO, SIGPWR, SIGSTKFLT,
];
const SIGPWR: i32 = 30;
const SIGSTKFLT: i32 = 16;

/// Signals to catch: not those that were ignored when the program was started (`nohup`), so that the job ignores them
/// too.
pub fn wanted() -> Vec<i32> {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    PASSED_ON.iter().copied().filter(|signal| ignored >> (signal - 1) & 1 == 0).collect()
}

/// Catches signals from now on; they wait until [`Forwarder::serve`] is called.
///
/// # Errors
/// Where the system refuses handlers.
pub fn catch() -> std::io::Result<SignalsInfo<WithRawSiginfo>> {
    SignalsInfo::new(wanted())
}

/// The job, as those see it who are sent signals for it.
#[derive(Debug, Clone, Copy)]
pub enum Standing {
    Runs(Pid),
    /// It is over and was waited for.
    EndedAt(Instant),
}

/// Whose a signal is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum For {
    Job(Pid),
    /// This process: the job has ended, and only what it or others have written is waited for.
    Oomdoc,
    /// Whoever it is for has it.
    Nobody,
}

/// A signal of the whole group may have ended the job before it is looked at here.
const JUST_ENDED: Duration = Duration::from_secs(1);

/// Passes signals on.
pub struct Forwarder {
    pub job: Arc<Mutex<Standing>>,
    pub sentinel: Option<Arc<Sentinel>>,
    pub mirrors: Vec<Mirror>,
}

impl Forwarder {
    /// Never ends.
    pub fn serve(self, mut signals: SignalsInfo<WithRawSiginfo>) {
        for signal in &mut signals {
            self.handle(signal.si_signo, signal.si_code == BY_KERNEL);
        }
    }

    fn handle(&self, number: i32, by_kernel: bool) {
        // Asked in any case, so that no old answer is taken for a new one.
        let group = self.sentinel.as_ref().is_some_and(|sentinel| sentinel.group_got(number)) || by_kernel;
        if number == SIGWINCH && self.mirrors.iter().filter(|mirror| mirror.resize()).count() > 0 {
            // The job may have looked before its terminal had the new size.
            let _ = kill_current_process_group(Signal::WINCH);
            return;
        }
        match (self.whose(number, group), Signal::from_named_raw(number)) {
            (For::Job(job), Some(signal)) => {
                let _ = kill_process(job, signal);
            }
            (For::Oomdoc, _) => {
                let _ = signal_hook::low_level::emulate_default_handler(number);
            }
            _ => {}
        }
    }

    fn whose(&self, number: i32, group: bool) -> For {
        let Ok(standing) = self.job.lock().map(|standing| *standing) else { return For::Nobody };
        let ends = matches!(number, SIGINT | SIGTERM | SIGQUIT | SIGHUP);
        match standing {
            Standing::Runs(_) if group => For::Nobody,
            // To one that has ended and was not waited for yet a signal can be sent, and is lost.
            Standing::Runs(job) if !has_ended(job) => For::Job(job),
            Standing::EndedAt(then) if group && then.elapsed() < JUST_ENDED => For::Nobody,
            _ if ends => For::Oomdoc,
            _ => For::Nobody,
        }
    }
}

/// True for a child that has ended, whether or not somebody has waited for it; it is left to be waited for.
fn has_ended(child: Pid) -> bool {
    let asked = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    !matches!(waitid(WaitId::Pid(child), asked), Ok(None))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may panic")]

    use super::*;

    /// `run` went on until its output was read: the signal that was to end it went to the job, which had ended a moment
    /// before.
    #[test]
    fn a_signal_is_not_lost_upon_a_job_that_has_just_ended() {
        let mut child = std::process::Command::new("true").spawn().unwrap();
        let job = Pid::from_child(&child);
        let whose = |standing, number, group| {
            let job = Arc::new(Mutex::new(standing));
            Forwarder { job, sentinel: None, mirrors: Vec::new() }.whose(number, group)
        };
        waitid(WaitId::Pid(job), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT).unwrap();
        assert_eq!(whose(Standing::Runs(job), SIGTERM, false), For::Oomdoc);
        assert_eq!(whose(Standing::Runs(job), SIGUSR1, false), For::Nobody);
        child.wait().unwrap();
        assert_eq!(whose(Standing::Runs(job), SIGTERM, false), For::Oomdoc);

        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let job = Pid::from_child(&child);
        assert_eq!(whose(Standing::Runs(job), SIGTERM, false), For::Job(job));
        assert_eq!(whose(Standing::Runs(job), SIGTERM, true), For::Nobody);
        child.kill().unwrap();
        child.wait().unwrap();

        let now = Instant::now();
        assert_eq!(whose(Standing::EndedAt(now), SIGINT, true), For::Nobody, "it ended the job");
        assert_eq!(whose(Standing::EndedAt(now), SIGINT, false), For::Oomdoc);
        let before = now.checked_sub(2 * JUST_ENDED).unwrap();
        assert_eq!(whose(Standing::EndedAt(before), SIGINT, true), For::Oomdoc, "nobody else can end it");
    }
}
