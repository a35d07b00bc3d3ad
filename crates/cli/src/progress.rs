//! Progress of long work: a bar on the terminal after one second, and cancellation with Ctrl-C.

use std::io::{self, IsTerminal};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Once, OnceLock};
use std::time::{Duration, Instant};

use entasis::{Error, Monitor};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

const PATIENCE: Duration = Duration::from_secs(1);

static STOPPED: AtomicBool = AtomicBool::new(false);
static LISTEN: Once = Once::new();

/// Watches a piece of work.
pub(crate) struct Watch {
    label: String,
    started: Instant,
    bar: OnceLock<ProgressBar>,
    visible: bool,
}

impl Watch {
    /// Watches the work that `label` names. From now on the first Ctrl-C cancels the work, and the
    /// second one ends the process.
    pub(crate) fn new(label: impl Into<String>) -> Self {
        LISTEN.call_once(|| {
            // Without the handler Ctrl-C ends the process.
            let _ = ctrlc::set_handler(|| {
                if STOPPED.swap(true, Ordering::Relaxed) {
                    std::process::exit(130);
                }
            });
        });
        Self::of_host(label)
    }

    /// Watches work of the host, which has a handler of Ctrl-C.
    pub(crate) fn of_host(label: impl Into<String>) -> Self {
        let visible = io::stderr().is_terminal();
        Self { label: label.into(), started: Instant::now(), bar: OnceLock::new(), visible }
    }

    /// Watches the printing of lines. The bar is hidden where it would mix with them.
    pub(crate) fn of_lines(label: impl Into<String>) -> Self {
        let mut watch = Self::new(label);
        watch.visible &= !io::stdout().is_terminal();
        watch
    }

    /// Shows how much is done, of how much if that is known.
    pub(crate) fn count(&self, done: u64, total: Option<u64>) {
        if let Some(total) = total {
            self.progress(done, total);
        } else if self.visible && self.started.elapsed() >= PATIENCE {
            let bar = self.bar.get_or_init(|| {
                let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
                if let Ok(style) = ProgressStyle::with_template("{msg} {human_pos}") {
                    bar.set_style(style);
                }
                bar.with_message(self.label.clone())
            });
            bar.set_position(done);
        }
    }

    /// Removes the bar.
    pub(crate) fn clear(&self) {
        if let Some(bar) = self.bar.get() {
            bar.finish_and_clear();
        }
    }

    /// Returns an error after the user pressed Ctrl-C.
    pub(crate) fn check(&self) -> entasis::Result<()> {
        if self.interrupted() { Err(Error::interrupted()) } else { Ok(()) }
    }
}

impl Monitor for Watch {
    fn interrupted(&self) -> bool {
        STOPPED.load(Ordering::Relaxed)
    }

    fn progress(&self, done: u64, total: u64) {
        if !self.visible || self.started.elapsed() < PATIENCE {
            return;
        }
        let bar = self.bar.get_or_init(|| {
            let bar = ProgressBar::with_draw_target(Some(total), ProgressDrawTarget::stderr());
            if let Ok(style) = ProgressStyle::with_template("{msg} [{bar:30}] {percent}% ({eta} left)") {
                bar.set_style(style.progress_chars("=> "));
            }
            bar.with_message(self.label.clone()).with_elapsed(self.started.elapsed())
        });
        // Each step of longer work has its own total.
        bar.set_length(total);
        bar.set_position(done.min(total));
    }
}

/// Watches a step of longer work: Ctrl-C cancels it, and no bar shows its progress.
pub(crate) struct Step;

impl Monitor for Step {
    fn interrupted(&self) -> bool {
        STOPPED.load(Ordering::Relaxed)
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.clear();
    }
}
