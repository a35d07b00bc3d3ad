//! Refuses the first, the second, ... allocation of at least 4 KiB of each operation of the
//! reader, until the operation has no further one. It refuses once only that allocation, and once
//! all from it on. The result is the error *out of memory*, never an abort or a panic, and the same
//! operation works afterwards.
//!
//! An operation may also do without the memory, if its result is the same. After an abort,
//! `RUST_BACKTRACE=1` shows the place.

mod allocator;

use std::path::Path;

use entasis::buffers::{self, Input};
use entasis::{
    File, Form, HostRead, Kind, Limits, Matrix, MemorySource, Nested, NestedValues, Physical, Result, Rows,
    Side, Silent, TextLayout, type_name,
};
use entasis_testkit::frames;
use entasis_testkit::frames::models::{Model, Table};
use entasis_testkit::frames::read::Target;
use entasis_testkit::golden::{buffer_folder, buffers as golden, folder, tree_folder};
use entasis_testkit::hostile::by_tier;

use allocator::{outside, refusing};

/// Runs an operation with every single failure. `prepare` runs before each attempt, and no request
/// of it is refused. The tests of a change refuse a request either alone or with all later ones.
fn fails_well<P, T: PartialEq>(what: &str, prepare: impl Fn() -> P, work: impl Fn(&P) -> Result<T>) -> u64 {
    let expected = work(&prepare()).unwrap_or_else(|error| panic!("{what}: {error}"));
    let mut n_refused = 0;
    for from_then_on in [false, true] {
        let (first, step) = by_tier((u64::from(from_then_on), 2), (0, 1), (0, 1));
        for n in (first..).step_by(step) {
            let prepared = prepare();
            let (done, was_refused) = refusing(n, from_then_on, || work(&prepared));
            match done {
                Ok(value) => assert!(value == expected, "{what}: another value without request {n}"),
                Err(error) => {
                    assert_eq!(error.kind(), Kind::OutOfMemory, "{what}: request {n}: {error}");
                    assert!(was_refused, "{what}: {error}");
                }
            }
            let again = work(&prepared).unwrap_or_else(|error| panic!("{what}, after request {n}: {error}"));
            assert!(again == expected, "{what}: another value after request {n}");
            if !was_refused {
                break;
            }
            n_refused += 1;
        }
    }
    n_refused
}

fn open(bytes: &'static [u8]) -> Result<File> {
    File::from_source(Box::new(MemorySource::new(bytes)), Path::new("refused"), Limits::default())
}

/// Reads some rows of all columns that are not nested, in one call.
fn read(file: &File, rows: &dyn Fn(u64) -> Rows, threads: usize) -> Result<Vec<Vec<u8>>> {
    let mut targets = Vec::new();
    for column in 0..file.n_columns_total() {
        let info = file.column(column)?;
        let n = info.record.n_values;
        outside(|| {
            targets.push((
                column,
                rows(n),
                Target::new(info.record.column_type.layout(), rows(n).n(n) as usize, 0),
            ))
        });
    }
    let requests = outside(|| {
        targets.iter_mut().map(|(column, rows, target)| target.request(*column, rows.clone())).collect()
    });
    file.read(requests, Some(threads), &Silent)?;
    Ok(outside(|| targets.iter().map(|(.., target)| target.bytes()).collect()))
}

/// Every byte of decoded columns.
fn bytes_of(columns: &[Nested], out: &mut Vec<u8>) {
    for column in columns {
        out.extend_from_slice(column.validity.as_deref().unwrap_or(b"valid"));
        match &column.values {
            NestedValues::None => {}
            NestedValues::Words(words) | NestedValues::Bits(words) | NestedValues::Ends(words) => {
                out.extend_from_slice(words);
            }
            NestedValues::Text(text) => {
                (0..column.n).for_each(|i| out.extend_from_slice(text.get(i).unwrap()))
            }
            NestedValues::Offsets { offsets, .. } => out.extend_from_slice(offsets),
            NestedValues::Types { types, offsets } => {
                out.extend_from_slice(types);
                out.extend_from_slice(offsets.as_deref().unwrap_or_default());
            }
        }
        bytes_of(&column.children, out);
    }
}

fn read_nested(file: &File, rows: &dyn Fn(u64) -> Rows) -> Result<Vec<u8>> {
    let columns = outside(|| {
        let of = |column| (column, rows(file.column(column).unwrap().record.n_values));
        (0..file.n_columns()).map(of).collect::<Vec<_>>()
    });
    for text in [TextLayout::Large, TextLayout::Views, TextLayout::Codes] {
        let nested = file.read_nested(&columns, &|_| Form { text, ..Form::default() }, Some(1), &Silent)?;
        outside(|| drop(nested));
    }
    let nested = file.read_nested(&columns, &|_| Form::default(), Some(1), &Silent)?;
    Ok(outside(|| {
        let mut bytes = Vec::new();
        bytes_of(&nested, &mut bytes);
        bytes
    }))
}

/// All that the footer says.
fn describe(file: &File) -> Result<String> {
    let info = file.info()?;
    let schema = file.schema(&type_name)?;
    let groups = file.groups()?;
    let mut names = outside(String::new);
    file.visit_names(&schema.names, |name| {
        outside(|| names.push_str(name));
        Ok(())
    })?;
    let mut found = 0;
    for name in [info.columns.first(), info.columns.last()].into_iter().flatten().map(|column| &*column.name)
    {
        found += file.find_all(name)?.len();
        found += file.find_all(name)?.len();
    }
    for column in 0..file.n_columns_total() {
        found += file.statistics(column)?.len() + file.blocks(column)?.len();
        found += usize::from(file.extent(column, 0..0).is_ok());
    }
    let host = file.host()?;
    Ok(outside(|| format!("{} {host:?} {names} {found} {}", info.to_json(), groups.others.len())))
}

fn cells(file: &File) -> Result<String> {
    let Some(cells) = file.cells()? else { return Ok(String::new()) };
    let all = cells.load(0..cells.n_cells(), Some(1), &Silent)?;
    outside(|| (0..cells.n_cells()).map(|number| Ok(format!("{:?}", all.cell(number)?))).collect())
}

/// Reads the columns of each type into matrices.
fn matrices(file: &File) -> Result<Vec<Vec<u8>>> {
    let groups = file.groups()?;
    let mut memory: Vec<Vec<u8>> = outside(|| {
        let len = |group: &entasis::Group| {
            group.columns.len()
                * file.n_rows() as usize
                * group.record.column_type.layout().width().unwrap_or(1)
        };
        groups.groups.iter().map(|group| vec![0; len(group)]).collect()
    });
    let matrices = outside(|| {
        let fits = |group: &entasis::Group| {
            matches!(group.record.column_type.layout().width(), None | Some(1 | 2 | 4 | 8 | 16))
        };
        let pairs = groups.groups.iter().zip(&mut memory).filter(|(group, _)| fits(group));
        pairs
            .map(|(group, out)| Matrix { columns: Side::Each(group.columns.clone()), out, sentinel: None })
            .collect()
    });
    file.read_matrices(matrices, Some(1), &Silent)?;
    Ok(memory)
}

/// Every operation on the bytes of a file.
fn operations(name: &str, bytes: &[u8]) -> u64 {
    let bytes: &'static [u8] = Vec::leak(bytes.to_vec());
    let file = || open(bytes).unwrap();
    let whole = || open(bytes).unwrap().whole();
    let every = |n: u64| if n == 0 { Rows::All } else { Rows::step(n - 1, u64::MAX, -7) };
    let some = |n: u64| Rows::Indices((0..n).rev().step_by(3).collect::<Vec<_>>().into());
    let range = |n: u64| Rows::Range(n / 3..n - n / 5);
    let named = |what: &str| format!("{name}: {what}");
    let about =
        |file: &File| outside(|| (file.n_rows(), file.n_columns_total(), format!("{:?}", file.value())));
    let all: &dyn Fn(u64) -> Rows = &|_| Rows::All;
    let mut n = fails_well(&named("open"), || (), |()| open(bytes).map(|file| about(&file)));
    n += fails_well(&named("describe"), file, describe);
    n += fails_well(&named("read"), whole, |file| read(file, all, 1));
    n += fails_well(&named("read a range"), whole, |file| read(file, &range, 1));
    n += fails_well(&named("read every 7th"), whole, |file| read(file, &every, 1));
    n += fails_well(&named("read by number"), whole, |file| read(file, &some, 1));
    n += fails_well(&named("read nested"), file, |file| read_nested(file, all));
    n += fails_well(&named("read nested by number"), file, |file| read_nested(file, &some));
    n += fails_well(&named("read matrices"), file, matrices);
    n += fails_well(&named("load cells"), file, cells);
    n + fails_well(&named("verify"), file, |file| file.verify(Some(1), &Silent).map(|report| report.n_values))
}

fn files_in(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let files = entries.filter(|path| path.extension().is_some_and(|end| end == "entasis"));
    let named = |path: &Path| path.file_name().unwrap().to_str().unwrap().to_owned();
    files.map(|path| (named(&path), std::fs::read(path).unwrap())).collect()
}

/// One test alone, because the allocator serves the whole process.
#[test]
fn every_refused_allocation_is_an_error() {
    let mut files = files_in(&folder());
    files.extend(files_in(&tree_folder()));
    let numbers = (0..300).map(|i| Model::words(format!("column {i}"), Physical::I32, &[i, -i, 7]));
    let wide = Table::new("wide", numbers.collect());
    // Strings longer than 4 KiB, and dictionaries of that length.
    let text = |i: usize| char::from(b'a' + (i % 26) as u8).to_string().repeat(i % 100 * 60);
    let texts: Vec<String> = (0..400).map(text).collect();
    let texts = Table::new("texts", vec![Model::text("a", &texts), Model::text(text(99), &texts)]);
    for table in [wide, texts] {
        files.push((table.name.clone(), frames::write_at(&table, 50)));
    }
    let mut n = 0;
    for (name, bytes) in &files {
        n += operations(name, bytes);
    }
    for vector in golden::all() {
        let container = std::fs::read(buffer_folder().join(vector.file_name())).unwrap();
        // SAFETY: `container` outlives every use and does not change.
        let host = unsafe { HostRead::new(container.as_ptr(), container.len()) };
        for input in [Input::Slice(&container), Input::Host(host)] {
            n += fails_well(
                &vector.file_name(),
                || (),
                |()| {
                    let decoded = buffers::decompress(input, None, Some(1), &Silent)?;
                    let hash = buffers::hash(input, 7, Some(1), &Silent)?;
                    Ok(outside(|| (decoded.to_vec(), hash)))
                },
            );
        }
    }
    println!("{n} refused allocations in {} files", files.len());
    assert!(n > 1000, "the operations need memory: {n}");
}
