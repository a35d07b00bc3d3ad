//! The copied sections of the footer, and the records of changed columns.

use std::collections::HashMap;

use entasis_format::{ColumnRecord, Error, Kind, Result, RunNames, SectionKind, fallible};

use super::{PARTS, RECORDS};
use crate::file::{ColumnInfo, File};

/// The new numbers in the record of a column.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Changed {
    pub n_values: u64,
    pub n_missing: u64,
}

/// All records of a section.
pub(super) fn section(file: &File, kind: SectionKind) -> Result<Vec<u8>> {
    if let Some(section) = file.root().section(kind, 0)
        && section.record_len != kind.record_len()
    {
        let message = "the file has records of a newer version, which cannot be stored anew";
        return Err(Error::unsupported(message).in_section(kind.name()));
    }
    let (n, mut records) = (file.n_records(kind), Vec::new());
    let step = (RECORDS / u64::from(kind.record_len().max(1))).max(1);
    for from in (0..n).step_by(step as usize) {
        let some = file.records(kind, from..n.min(from + step))?;
        fallible::extend(&mut records, some.into_iter(), PARTS)?;
    }
    Ok(records)
}

/// The sections *columns* and *runs*. If a column in a run changes, each column of the run gets a
/// record.
pub(super) fn columns(
    file: &File,
    columns: &[ColumnInfo],
    changed: &HashMap<u64, Changed>,
) -> Result<(Vec<u8>, Vec<u8>)> {
    let (records, runs) = (section(file, SectionKind::Columns)?, section(file, SectionKind::Runs)?);
    if changed.is_empty() && !file.is_before_0_3() {
        return Ok((records, runs));
    }
    if changed.is_empty() || runs.is_empty() {
        let mut out = fallible::with_capacity(records.len(), PARTS)?;
        for (number, bytes) in (0u64..).zip(records.chunks_exact(ColumnRecord::LEN)) {
            match ColumnRecord::parse(bytes) {
                Err(error) if error.kind() == Kind::Unsupported => out.extend_from_slice(bytes),
                record => {
                    let mut record = record?;
                    record.column_type = file.upgraded(record.column_type);
                    emit(record, changed.get(&number), &mut out);
                }
            }
        }
        return Ok((out, runs));
    }
    let mut out = fallible::with_capacity(columns.len().saturating_mul(ColumnRecord::LEN), PARTS)?;
    file.visit_runs(0..file.n_columns_total(), |run| {
        let names = run.names();
        let bytes = if run.n > 1 {
            file.records(SectionKind::Names, names.at..names.at.saturating_add(names.len.into()))?
        } else {
            Vec::new()
        };
        // The names of a run are consecutive, so a record of one column can refer to its own.
        let mut name_at = names.at.saturating_add(run.n.saturating_mul(4));
        let ends = if run.n > 1 { Some(RunNames::parse(&bytes, run.n)?) } else { None };
        let mut start = 0;
        let mut ends = ends.iter().flat_map(RunNames::ends);
        for column in run.columns.clone() {
            let mut record = run.member(column)?;
            if run.n > 1 {
                let end = ends.next().unwrap_or(start);
                (record.name_at, record.name_len) = (name_at, end.saturating_sub(start));
                name_at = name_at.saturating_add(u64::from(record.name_len));
                start = end;
            }
            emit(record, changed.get(&column), &mut out);
        }
        Ok(())
    })?;
    Ok((out, Vec::new()))
}

fn emit(record: ColumnRecord, changed: Option<&Changed>, out: &mut Vec<u8>) {
    match changed {
        Some(&Changed { n_values, n_missing }) => ColumnRecord { n_values, n_missing, ..record }.emit(out),
        None => record.emit(out),
    }
}
