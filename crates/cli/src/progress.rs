//! Long work: a bar on the terminal after a second, and an end when the user asks for it.

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
    /// Begins to watch work that the label names. Ctrl-C from now on ends work in good order; a second one at once.
    pub(crate) fn new(label: impl Into<String>) -> Self {
        LISTEN.call_once(|| {
            // Without the handler Ctrl-C just ends the process.
            let _ = ctrlc::set_handler(|| {
                if STOPPED.swap(true, Ordering::Relaxed) {
                    std::process::exit(130);
                }
            });
        });
        let visible = io::stderr().is_terminal();
        Self { label: label.into(), started: Instant::now(), bar: OnceLock::new(), visible }
    }

    /// An error once the user has asked for the end.
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
        // Work of several steps has a total for each.
        bar.set_length(total);
        bar.set_position(done.min(total));
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        if let Some(bar) = self.bar.get() {
            bar.finish_and_clear();
        }
    }
}
