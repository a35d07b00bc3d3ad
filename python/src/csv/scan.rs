//! Texts that Python reads batch by batch.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

use entasis::{File, Silent};
use entasis_csv::condition::Condition;
use entasis_csv::piece::{Facts, Piece, TextLayout};
use entasis_csv::problems::start;
use entasis_csv::{Column, Job, Outcome, Query, Refused, Scan, Table, Type};
use pyo3::prelude::*;

use super::condition::PyCondition;
use super::reader::Raised;
use super::table::{CsvTable, Problem, in_memory, problems, store_scan};
use super::{Arguments, SNIFFED_ROWS, Sources, keep, or_raised, origins, refusal};
use crate::write::destination::Destination;
use crate::{errors, monitor};

/// Texts with a type for each column.
#[pyclass(frozen, module = "entasis._entasis")]
pub struct CsvText {
    job: Mutex<Job>,
    raised: Raised,
    /// The columns, without values.
    names_and_types: Vec<(String, Type)>,
    /// The columns whose types the caller gave.
    given: HashSet<String>,
    spec: String,
    warnings: Vec<String>,
}

/// Finds the types of texts, which are read later.
#[pyfunction]
pub fn scan_csv(py: Python<'_>, sources: Sources, arguments: Arguments) -> PyResult<CsvText> {
    let options = arguments.options().map_err(|e| errors::raise(py, &e))?;
    let given = options.types.iter().map(|(name, _)| name.clone()).collect();
    let raised = Raised::default();
    let found = monitor::run(py, |monitor| {
        let mut job = Job::open_all(origins(sources, &raised), &options)?;
        let table = job.find_types(SNIFFED_ROWS, monitor)?;
        Ok((job, table))
    });
    let (job, table) = or_raised(found, &raised)?;
    let spec = job.spec(&table).to_json();
    let of_id = job.plan.id.iter().map(|name| (name.clone(), Type::Categorical));
    let of_text = table.columns.into_iter().map(|column| (column.name, column.of));
    Ok(CsvText {
        names_and_types: of_id.chain(of_text).collect(),
        job: Mutex::new(job),
        raised,
        given,
        spec,
        warnings: table.warnings,
    })
}

#[pymethods]
impl CsvText {
    /// The names of all columns.
    #[getter]
    fn names(&self) -> Vec<&str> {
        self.names_and_types.iter().map(|(name, _)| name.as_str()).collect()
    }

    /// The spec as JSON.
    #[getter]
    fn spec(&self) -> &str {
        &self.spec
    }

    /// Facts that a user should know.
    #[getter]
    fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// Some columns without rows.
    fn empty(&self, py: Python<'_>, columns: Vec<String>, views: bool) -> PyResult<CsvTable> {
        let layout = layout(views);
        let mut found = Vec::with_capacity(columns.len());
        for name in columns {
            let of = self.names_and_types.iter().find(|(known, _)| *known == name).map(|&(_, of)| of);
            let of = of.ok_or_else(|| {
                let message = format!("there is no column '{}'", start(&name, 40));
                errors::raise(py, &entasis::Error::no_column(message))
            })?;
            let pieces = vec![Piece::missing(of, 0, layout).map_err(|e| errors::raise(py, &e))?];
            let facts = Facts::default();
            found.push(Column { name, of, pieces, categories: None, facts, format: None });
        }
        let table = Table {
            columns: found,
            n_rows: 0,
            names: Vec::new(),
            problems: Default::default(),
            warnings: Vec::new(),
        };
        Ok(CsvTable::new(table, layout, String::new(), false))
    }

    /// Begins to read rows of some columns.
    fn open(
        &self,
        py: Python<'_>,
        columns: Vec<String>,
        filter: Option<(Vec<String>, Py<PyAny>)>,
        rows: Option<(u64, u64)>,
        limit: Option<u64>,
        views: bool,
    ) -> PyResult<CsvBatches> {
        let condition = filter.map(|(columns, bind)| Arc::new(PyCondition::new(columns, bind)));
        let layout = layout(views);
        let query = Query {
            columns: Some(columns),
            rows: rows.map(|(start, end)| start..end),
            condition: condition.clone().map(|condition| condition as Arc<dyn Condition>),
            limit,
            layout,
        };
        let scan = py.detach(|| self.job.lock().unwrap_or_else(PoisonError::into_inner).scan(query));
        let scan = scan.map_err(|e| errors::raise(py, &e))?;
        let names = scan.names().to_vec();
        Ok(CsvBatches {
            scan: Mutex::new(Some(scan)),
            condition,
            layout,
            raised: Raised::clone(&self.raised),
            given: self.given.clone(),
            names,
        })
    }
}

/// Rows that are read batch by batch.
#[pyclass(frozen, module = "entasis._entasis")]
pub struct CsvBatches {
    /// None after `close`.
    scan: Mutex<Option<Scan>>,
    condition: Option<Arc<PyCondition>>,
    layout: TextLayout,
    raised: Raised,
    given: HashSet<String>,
    /// The names of all columns of the text.
    names: Vec<String>,
}

#[pymethods]
impl CsvBatches {
    /// The next rows: `n`, or those of some chunks; None after the last ones.
    fn next(
        &self,
        py: Python<'_>,
        n: Option<usize>,
        progress: Option<Bound<'_, PyAny>>,
    ) -> PyResult<Option<CsvTable>> {
        let found = self.run(py, progress, |scan, monitor| scan.next(n, monitor))?;
        found.map(|found| self.table(py, found)).transpose()
    }

    /// All rows that are left.
    fn read(&self, py: Python<'_>, progress: Option<Bound<'_, PyAny>>) -> PyResult<CsvTable> {
        let found = self.run(py, progress, Scan::read)?;
        self.table(py, found)
    }

    /// The number of rows that are left.
    fn count(&self, py: Python<'_>, progress: Option<Bound<'_, PyAny>>) -> PyResult<u64> {
        let (n, refused) = self.run(py, progress, Scan::count)?;
        refused.map_or(Ok(n), |refused| Err(self.refused(py, refused)))
    }

    /// Writes the rows that are left into a file.
    fn store(&self, py: Python<'_>, to: Destination) -> PyResult<()> {
        let write = to.options();
        let (path, progress) = to.into_path()?;
        let progress = progress.map(|progress| progress.into_bound(py));
        let found = self.run(py, progress, |scan, monitor| store_scan(scan, &path, &write, monitor))?;
        self.table(py, found).map(drop)
    }

    /// The number of places that did not fit so far, and the first of them.
    fn problems<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let of_scan = |scan: Option<&Scan>| scan.map(|scan| scan.problems().clone()).unwrap_or_default();
        let found = py.detach(|| of_scan(self.scan.lock().unwrap_or_else(PoisonError::into_inner).as_ref()));
        let (n, kept): (u64, Vec<Problem<'_>>) = problems(&found, &self.names);
        Ok((n, kept).into_pyobject(py)?.into_any())
    }

    /// Closes the text.
    fn close(&self, py: Python<'_>) {
        py.detach(|| drop(self.scan.lock().unwrap_or_else(PoisonError::into_inner).take()));
    }
}

impl CsvBatches {
    /// Rows as a file in memory.
    pub fn file(&self, table: &Table, threads: usize) -> entasis::Result<File> {
        let lent: Vec<_> = table.columns.iter().map(Column::lent).collect();
        in_memory(&lent, table.n_rows, self.layout, Some(threads), &Silent)
    }

    /// Works on the scan without the GIL. `progress` is called with the bytes that were read.
    pub fn run<T: Send>(
        &self,
        py: Python<'_>,
        progress: Option<Bound<'_, PyAny>>,
        work: impl FnOnce(&mut Scan, &dyn entasis::Monitor) -> entasis::Result<T> + Send,
    ) -> PyResult<T> {
        let result = monitor::run_watched(py, progress, |monitor| {
            let mut scan = self.scan.lock().unwrap_or_else(PoisonError::into_inner);
            let scan = scan.as_mut().ok_or_else(|| entasis::Error::argument("the batches are closed"))?;
            work(scan, monitor).inspect_err(|error| {
                let condition = self.condition.as_ref();
                if let Some(exception) = condition.and_then(|condition| condition.exception(error)) {
                    keep(&self.raised, exception);
                }
            })
        });
        or_raised(result, &self.raised)
    }

    fn table(&self, py: Python<'_>, found: Outcome) -> PyResult<CsvTable> {
        match found {
            Outcome::Table(table) => Ok(CsvTable::new(table, self.layout, String::new(), true)),
            Outcome::Refused(refused) => Err(self.refused(py, refused)),
        }
    }

    /// The exception for places that do not fit, with the call that finds types for all values.
    pub fn refused(&self, py: Python<'_>, refused: Refused) -> PyErr {
        let mut error = py.detach(|| {
            let scan = self.scan.lock().unwrap_or_else(PoisonError::into_inner);
            scan.as_ref().map_or_else(|| refused.error(), |scan| scan.error(&refused))
        });
        let is_guessed = refused.problems.kept.iter().any(|problem| {
            let name = problem.column.and_then(|column| refused.names.get(column));
            problem.expected != "UTF-8" && name.is_some_and(|name| !self.given.contains(name))
        });
        if is_guessed {
            error = error.advise(
                "the types are those of the first rows: pass spec=sniff_csv(source, rows=\"all\"), whose types hold \
                 for all values",
            );
        }
        refusal(py, &error, &refused)
    }
}

fn layout(views: bool) -> TextLayout {
    if views { TextLayout::Views } else { TextLayout::Offsets }
}
