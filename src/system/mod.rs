//! What one operating system can do and another cannot: signals, modes of files, pipes with names, the end of a parent.
//!
//! Everything else of the program is the same everywhere. `unix.rs` and `other.rs` have the same functions; where a
//! system has nothing of the kind the answer is that of a system on which it never happened. Commands that need more
//! than this (`run`, the device of `rehearse`) say so in one sentence.

#[cfg_attr(unix, path = "unix.rs")]
#[cfg_attr(not(unix), path = "other.rs")]
mod here;

pub(crate) use here::*;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

static READY: Mutex<Option<Paste>> = Mutex::new(None);

/// Readies the terminal before anybody is asked to paste into it: what came before that would be cut.
pub(crate) fn expect_paste() {
    *READY.lock().unwrap_or_else(PoisonError::into_inner) = Paste::begin();
}

/// What is pasted into the terminal; `None` where standard input is none.
pub(crate) fn pasted() -> Option<Paste> {
    READY.lock().unwrap_or_else(PoisonError::into_inner).take().or_else(Paste::begin)
}

/// A signal by what it says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Signal {
    Interrupt,
    Terminate,
    HangUp,
    Kill,
}

/// From when it is made until it is dropped, signals are noted instead of ending the process.
#[derive(Debug)]
pub(crate) struct Noted {
    came: Arc<AtomicBool>,
    _handlers: Handlers,
}

impl Noted {
    /// # Errors
    /// Where the system refuses a handler.
    pub(crate) fn from_now_on(signals: &[Signal]) -> std::io::Result<Noted> {
        let came = Arc::new(AtomicBool::new(false));
        Ok(Noted { _handlers: Handlers::set(signals, &came)?, came })
    }

    pub(crate) fn came(&self) -> bool {
        self.came.load(Ordering::Relaxed)
    }

    /// For a thread that is to know, too.
    pub(crate) fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.came)
    }
}
