//! The metadata of a manifest.

use std::sync::Arc;

use entasis::cells::{Cell, Children, Loaded};
use entasis::{CellKind, Error, File, Result, Silent};

/// The deepest value.
const MOST: usize = 8;

/// The metadata of a manifest.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Metadata {
    /// The version of the manifest.
    pub version: i64,
    /// The random name of the job that wrote it.
    pub job: String,
    /// The names and types of the columns of all files.
    pub names: Vec<String>,
    pub types: Vec<String>,
    /// The names and types of the keys.
    pub keys: Vec<(String, String)>,
}

/// A value of metadata.
enum Node {
    Int(i64),
    Text(String),
    List(Vec<Node>),
    Map(Vec<(String, Node)>),
    Other,
}

/// The metadata of a manifest.
///
/// # Errors
/// *Corrupt* if they are not those of a manifest; otherwise as for reading.
pub(crate) fn of(file: &File) -> Result<Metadata> {
    let wrong = || Error::corrupt("the file is not a manifest").in_file(file.path());
    let cells = file.cells()?.ok_or_else(wrong)?;
    let number = cells.roots()?.1.ok_or_else(wrong)?;
    let left = cells.n_cells().saturating_mul(2);
    let mut loaded = Loaded::new(Arc::new(cells), Some(1));
    let root = number..number.saturating_add(1);
    loaded.close(Vec::from([root]), &Silent)?;
    let root = Reader { loaded: &loaded, left }.node(number, 0).map_err(|e| e.in_file(file.path()))?;
    let Node::Map(pairs) = root else { return Err(wrong()) };
    let mut found = Metadata::default();
    let mut seen = 0;
    for (name, value) in pairs {
        match (name.as_str(), value) {
            ("manifest", Node::Int(version)) => (found.version, seen) = (version, seen | 1),
            ("keys", Node::List(keys)) => {
                found.keys =
                    keys.into_iter().map(|key| pair(key).ok_or_else(wrong)).collect::<Result<_>>()?;
                seen |= 2;
            }
            ("job", Node::Text(job)) => (found.job, seen) = (job, seen | 4),
            ("names", Node::List(names)) => (found.names, seen) = (texts(names).ok_or_else(wrong)?, seen | 8),
            ("types", Node::List(types)) => {
                (found.types, seen) = (texts(types).ok_or_else(wrong)?, seen | 16)
            }
            _ => {}
        }
    }
    if seen == 31 { Ok(found) } else { Err(wrong()) }
}

fn texts(nodes: Vec<Node>) -> Option<Vec<String>> {
    let text = |node| match node {
        Node::Text(text) => Some(text),
        _ => None,
    };
    nodes.into_iter().map(text).collect()
}

/// The name and the type of a key.
fn pair(node: Node) -> Option<(String, String)> {
    let Node::List(parts) = node else { return None };
    match <[Node; 2]>::try_from(parts).ok()? {
        [Node::Text(name), Node::Text(kind)] => Some((name, kind)),
        _ => None,
    }
}

struct Reader<'a> {
    loaded: &'a Loaded,
    /// Cells that may still be read. A sound file has no more.
    left: u64,
}

impl Reader<'_> {
    fn node(&mut self, number: u64, depth: usize) -> Result<Node> {
        let inside = || Error::corrupt("the metadata contain themselves");
        self.left = self.left.checked_sub(1).filter(|_| depth < MOST).ok_or_else(inside)?;
        let cell = match self.loaded.cell(number)? {
            Cell::Int(CellKind::Reference, target) if (0..number.cast_signed()).contains(&target) => {
                self.loaded.cell(target.cast_unsigned())?
            }
            cell => cell,
        };
        Ok(match cell {
            Cell::Int(CellKind::Int, value) => Node::Int(value),
            Cell::Str(CellKind::Str, text) => Node::Text(text.to_owned()),
            Cell::Parent(CellKind::List, of) => Node::List(self.nodes(of.first, &of, depth)?),
            Cell::Parent(CellKind::Map, of) => {
                let keys = self.nodes(of.keys, &of, depth)?;
                let values = self.nodes(of.first, &of, depth)?;
                let name = |key| match key {
                    Node::Text(name) => name,
                    _ => String::new(),
                };
                Node::Map(keys.into_iter().map(name).zip(values).collect())
            }
            _ => Node::Other,
        })
    }

    fn nodes(&mut self, first: u64, of: &Children, depth: usize) -> Result<Vec<Node>> {
        (first..first.saturating_add(of.count)).map(|number| self.node(number, depth + 1)).collect()
    }
}
