//! Hands work to the host, shows its progress, and reports its warnings.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use entasis::Error;
use serde_json::{Map, Value};

use crate::csv::{is_stdin, warn};
use crate::failure::{Failure, Outcome};
use crate::host::{self, Host, Input, Reply, Request};
use crate::limits::standard_bytes;
use crate::progress::Watch;

/// The host, or the error that it is missing. `what` is the work, as the start of a sentence.
pub(crate) fn required(what: &str) -> Outcome<&'static dyn Host> {
    host::current().ok_or_else(|| {
        let advice = "pip install 'entasis[all]' installs a command that has it";
        Failure::Other(format!("{what} needs Python, and this program was built without: {advice}"))
    })
}

/// Asks a host, and shows the progress.
pub(crate) fn answer(host: &dyn Host, request: &Request, label: String) -> Reply {
    let watch = Arc::new(Watch::of_host(label));
    let shown = Arc::clone(&watch);
    let reply = host.call(request, Arc::new(move |done, total| shown.count(done, total)));
    watch.clear();
    reply
}

/// Does the work of a verb with a host.
pub(crate) fn call(host: &dyn Host, request: &Request, label: String) -> Outcome<Map<String, Value>> {
    match answer(host, request, label) {
        Reply::Done { notes, result, .. } => {
            warn(&notes);
            Ok(result)
        }
        Reply::Failed { notes, message } => {
            warn(&notes);
            Err(Failure::Other(message))
        }
        Reply::Stopped => Err(Error::interrupted().into()),
        Reply::Closed => Err(Failure::Output(io::ErrorKind::BrokenPipe.into())),
    }
}

/// Paths as inputs of a host. The standard input is read whole.
pub(crate) fn inputs(paths: &[PathBuf]) -> Outcome<Vec<Input>> {
    paths.iter().map(|path| input(path)).collect()
}

fn input(path: &Path) -> Outcome<Input> {
    if is_stdin(path) { Ok(Input::Content(standard_bytes()?)) } else { Ok(Input::Path(path.to_owned())) }
}
