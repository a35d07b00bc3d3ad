//! The sources of a table. Only one file is open at a time.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use entasis::{Error, Result};

use crate::input::{Input, Inputs};
use crate::source::{Origin, SharedBytes, Source, SourceOptions};

/// The sources of a table, with the names of their origins.
pub struct Sources {
    all: Vec<One>,
    options: SourceOptions,
}

struct One {
    name: Arc<str>,
    origin: Kept,
    /// Whether nothing was read of the source that is open.
    is_new: bool,
    source: Option<Source>,
    len: Option<u64>,
    /// Length and time of the file when it was opened first.
    state: Option<(u64, Option<SystemTime>)>,
    warnings: Vec<String>,
}

/// The means to open a source.
enum Kept {
    Path(PathBuf),
    Bytes(SharedBytes),
    /// A stream, which stays open after it was taken.
    Stream(Option<Origin>),
}

impl Sources {
    /// Sources that are opened when they are read.
    pub fn new(origins: Vec<(String, Origin)>, options: SourceOptions) -> Self {
        let is_single = origins.len() == 1;
        let one = |(name, origin): (String, Origin)| {
            let (origin, len) = match origin {
                Origin::Path(path) => {
                    let len = fs::metadata(&path).ok().filter(fs::Metadata::is_file).map(|file| file.len());
                    (Kept::Path(path), len.filter(|_| !is_single))
                }
                Origin::Bytes(bytes) => {
                    let len = (*bytes).as_ref().len();
                    (Kept::Bytes(bytes), Some(len as u64))
                }
                origin @ Origin::Stream { .. } => (Kept::Stream(Some(origin)), None),
            };
            let name = name.into();
            One { name, origin, is_new: false, source: None, len, state: None, warnings: Vec::new() }
        };
        Self { all: origins.into_iter().map(one).collect(), options }
    }

    /// The first source, before anything of it is read.
    ///
    /// # Errors
    /// As [`Source::open`]; *argument* if none is given.
    pub fn first(&mut self) -> Result<&mut Source> {
        if self.all.is_empty() {
            return Err(Error::argument("there are no texts to read"));
        }
        self.source(0)
    }

    /// The first source, if it is open.
    pub fn opened_first(&self) -> Option<&Source> {
        self.all.first()?.source.as_ref()
    }

    /// Whether the source is the only one.
    pub fn is_single(&self) -> bool {
        self.all.len() == 1
    }

    /// The paths of the sources.
    pub fn paths(&self) -> impl Iterator<Item = &PathBuf> {
        self.all.iter().filter_map(|one| match &one.origin {
            Kept::Path(path) => Some(path),
            _ => None,
        })
    }

    /// The warnings of the sources that were opened.
    pub fn warnings(&self) -> Vec<String> {
        let named = |one: &One, warning: &String| {
            if self.is_single() { warning.clone() } else { format!("{}: {warning}", one.name) }
        };
        self.all.iter().flat_map(|one| one.warnings.iter().map(move |warning| named(one, warning))).collect()
    }

    /// Sources of the same origins, which are opened again. Streams go over to them.
    #[must_use]
    pub fn again(&mut self) -> Self {
        let is_single = self.is_single();
        let one = |one: &mut One| {
            let origin = match &mut one.origin {
                Kept::Path(path) => Kept::Path(path.clone()),
                Kept::Bytes(bytes) => Kept::Bytes(Arc::clone(bytes)),
                Kept::Stream(origin) => {
                    let (origin, source) = (Kept::Stream(origin.take()), one.source.take());
                    let (name, is_new) = (Arc::clone(&one.name), one.is_new);
                    return One {
                        name,
                        origin,
                        is_new,
                        source,
                        len: None,
                        state: None,
                        warnings: Vec::new(),
                    };
                }
            };
            // A file may have grown.
            let len = match &origin {
                Kept::Path(path) if !is_single => fs::metadata(path).ok().map(|file| file.len()),
                _ => one.len,
            };
            let name = Arc::clone(&one.name);
            One { name, origin, is_new: false, source: None, len, state: None, warnings: Vec::new() }
        };
        Self { all: self.all.iter_mut().map(one).collect(), options: self.options.clone() }
    }

    /// The name of text `i` in errors; `None` for bytes alone.
    pub fn named(&self, i: usize) -> Option<Arc<str>> {
        let is_bytes = self.is_single() && matches!(self.all[i].origin, Kept::Bytes(_));
        (!is_bytes).then(|| Arc::clone(&self.all[i].name))
    }

    /// Refuses a path to write that is a source itself.
    ///
    /// # Errors
    /// *Argument*.
    pub fn check_target(&self, path: &Path) -> Result<()> {
        if let Ok(to) = path.canonicalize()
            && self.paths().any(|from| from.canonicalize().is_ok_and(|from| from == to))
        {
            return Err(Error::argument("the file to write is the text that is read").in_file(path));
        }
        Ok(())
    }

    /// Closes the files that are open.
    pub fn close(&mut self) {
        for one in self.all.iter_mut().filter(|one| !matches!(one.origin, Kept::Stream(_))) {
            one.source = None;
        }
    }

    /// Text `i` from its first byte on, for one pass. It no longer belongs to these sources.
    ///
    /// # Errors
    /// As [`Inputs::open`].
    pub fn take(&mut self, i: usize) -> Result<Source> {
        self.open(i)?;
        let source = self.all[i].source.take();
        let mut source = source.ok_or_else(|| Error::argument("the text is not open"))?;
        source.forget();
        Ok(source)
    }

    fn source(&mut self, i: usize) -> Result<&mut Source> {
        for (other, one) in self.all.iter_mut().enumerate() {
            if other != i && !matches!(one.origin, Kept::Stream(_)) {
                one.source = None;
            }
        }
        let One { name, origin, is_new, source, state, warnings, .. } = &mut self.all[i];
        if source.is_none() {
            let origin = match origin {
                Kept::Path(path) => Origin::Path(path.clone()),
                Kept::Bytes(bytes) => Origin::Bytes(Arc::clone(bytes)),
                Kept::Stream(origin) => {
                    let advice = "save it to a file and read that, or keep the frame that was read";
                    let once = || Error::argument("a stream can be read only once").advise(advice);
                    origin.take().ok_or_else(once)?
                }
            };
            if let Origin::Path(path) = &origin {
                let now = fs::metadata(path).ok().map(|file| (file.len(), file.modified().ok()));
                if state.is_some() && *state != now {
                    let error = Error::corrupt("the file changed while it was read").in_file(path);
                    return Err(error.advise("read it again when no program writes to it"));
                }
                *state = now;
            }
            let opened = Source::open(origin, &self.options)
                .map_err(|error| error.in_file(std::path::Path::new(&**name)))?;
            *warnings = opened.warnings().to_vec();
            *source = Some(opened);
            *is_new = true;
        }
        source.as_mut().ok_or_else(|| Error::argument("the text is not open"))
    }
}

impl Inputs for Sources {
    fn n(&self) -> usize {
        self.all.len()
    }

    fn open(&mut self, i: usize) -> Result<&mut dyn Input> {
        self.source(i)?;
        let One { is_new, source, .. } = &mut self.all[i];
        let Some(source) = source else { return Err(Error::argument("the text is not open")) };
        if !std::mem::take(is_new) {
            source.rewind()?;
        }
        Ok(source)
    }

    fn name(&self, i: usize) -> Option<Arc<str>> {
        (self.all.len() > 1).then(|| Arc::clone(&self.all[i].name))
    }

    fn origin(&self, i: usize) -> Arc<str> {
        Arc::clone(&self.all[i].name)
    }

    fn place(&self, i: usize) -> (u64, Option<u64>) {
        if let (true, Some(source)) = (self.is_single(), self.opened_first()) {
            return (0, source.total());
        }
        let before = self.all[..i].iter().filter_map(|one| one.len).sum();
        let all: Option<u64> = self.all.iter().map(|one| one.len).sum();
        (before, all)
    }
}
