//! Signals for the job: what it does not get by itself is passed on, exactly once.
//!
//! What the terminal sends (Ctrl-C, Ctrl-Z, hang-up, a new window size) reaches the whole group, and what is sent to
//! the group does as well. What is sent to oomdoc alone, as by `kill`, `timeout` or a container's runtime, is for the
//! job.

use super::sentinel::Sentinel;
use super::terminal::Mirror;
use rustix::process::{Pid, Signal, kill_current_process_group, kill_process};
use signal_hook::consts::*;
use signal_hook::iterator::SignalsInfo;
use signal_hook::iterator::exfiltrator::raw::WithRawSiginfo;
use std::sync::{Arc, Mutex};

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

/// Passes signals on.
pub struct Forwarder {
    /// `None` once it has ended.
    pub job: Arc<Mutex<Option<Pid>>>,
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
        if group {
            return;
        }
        let job = self.job.lock().map_or(None, |job| *job);
        match (job, Signal::from_named_raw(number)) {
            (Some(job), Some(signal)) => {
                let _ = kill_process(job, signal);
            }
            // The job has ended: only what others still write is waited for.
            (None, _) if matches!(number, SIGINT | SIGTERM | SIGQUIT | SIGHUP) => {
                let _ = signal_hook::low_level::emulate_default_handler(number);
            }
            _ => {}
        }
    }
}
