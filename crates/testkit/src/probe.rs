//! Reads everything in a file of any bytes, and checks what holds for any result.

use entasis::cells::Cell;
use entasis::{
    ColumnInfo, Error, File, Kind, Limits, Logical, MemorySource, MissingTo, Output, Request, Result, Rows,
    Silent, checksum, type_name,
};

use crate::frames::nested;
use crate::frames::read::Target;
use crate::naive;

/// Everything that a reader can get from a file.
#[derive(Clone, Debug, PartialEq)]
pub struct Contents {
    /// Names, types, host and layout, as text.
    pub about: String,
    /// The checksum of the values of each column.
    pub columns: Vec<u64>,
}

/// Opens bytes with the default limits.
///
/// # Errors
/// As the core.
pub fn open(bytes: &[u8]) -> Result<File> {
    let source = MemorySource::new(bytes.to_vec());
    File::from_source(Box::new(source), std::path::Path::new("probe"), Limits::default())
}

/// Reads all metadata, as text: value, tables, names, types, layout.
///
/// # Errors
/// As the core.
///
/// # Panics
/// When a result breaks a rule that holds for any result.
pub fn metadata(opened: &File) -> Result<String> {
    let mut about = format!("{:?} of {} tables", opened.value(), opened.n_tables());
    for number in 0..opened.n_tables() {
        let table = opened.table(number)?;
        about += &format!("; {} rows {} host {:?}", table.n_rows(), table.n_columns(), table.host()?);
        let columns = table.columns(0..table.n_columns())?;
        for column in &columns {
            about += &format!("; {} {:?}", column.name, column.record);
            table.find_all(&column.name)?;
        }
        schema(&table, &columns)?;
    }
    opened.info()?;
    Ok(about)
}

/// The most bytes and values that reading all columns gives. A small file can have many: constants
/// and missing values take no bytes.
pub fn work(opened: &File) -> u64 {
    let file = opened.whole();
    let mut work = 0u64;
    for i in 0..file.n_columns_total() {
        if let Ok(info) = file.column(i) {
            let width = info.record.column_type.layout().width().unwrap_or(1).max(1);
            work = work.saturating_add(info.record.n_values.saturating_mul(width as u64));
        }
        if let Ok(blocks) = file.blocks(i) {
            work = blocks.iter().fold(work, |work, block| work.saturating_add(block.decoded_len));
        }
    }
    work
}

/// Reads everything in a file.
///
/// # Errors
/// As the core.
///
/// # Panics
/// When a result breaks a rule that holds for any result.
pub fn contents(bytes: &[u8]) -> Result<Contents> {
    let opened = open(bytes)?;
    let mut about = metadata(&opened)?;
    let file = opened.whole();
    let mut columns = Vec::new();
    for i in 0..file.n_columns_total() {
        map(&file, i, bytes, None);
    }
    for i in 0..file.n_columns_total() {
        let info = file.column(i)?;
        let record = &info.record;
        let details = (&info.detail, &info.host_detail);
        about += &format!("; {} {:?} {details:?}", info.name, record.column_type);
        let target = read(&file, i, record.n_values)?;
        target.check();
        map(&file, i, bytes, Some(&target));
        if record.column_type.logical == Logical::Categorical {
            let Some(dictionary) = record.dictionary else { panic!("a categorical has a dictionary") };
            target.check_codes(file.column(dictionary)?.record.n_values);
        }
        integers(&file, i);
        some_rows(&file, i, record.n_values, &target)?;
        columns.push(checksum(&target.bytes()));
        // Reading a nested column copies all values below it, so reading each level would copy them
        // again.
        if record.column_type.physical.is_nested() && record.parent.is_none() {
            columns.push(checksum(&nested_values(&file, i, record.n_values)?));
        }
        file.statistics(i)?;
    }
    about += &cells(&opened)?;
    Ok(Contents { about, columns })
}

/// Checks that reading all columns together gives the names and types of reading them one by one.
fn schema(table: &File, columns: &[ColumnInfo]) -> Result<()> {
    let schema = table.schema(&type_name)?;
    let (mut names, mut types) = (Vec::new(), Vec::new());
    table.visit_names(&schema.names, |name| {
        names.push(name.to_owned());
        Ok(())
    })?;
    for column in columns {
        types.push(table.type_name(column, &|c| type_name(&c.record.column_type, c.detail.as_ref()))?);
    }
    assert!(names.iter().eq(columns.iter().map(|column| &column.name)), "names differ");
    assert!(schema.type_of.iter().map(|&i| &schema.types[i as usize]).eq(&types), "types differ");
    Ok(())
}

/// Reads all cells, and checks that each range of them gives the same.
fn cells(file: &File) -> Result<String> {
    let Some(cells) = file.cells()? else { return Ok(String::new()) };
    let n = cells.n_cells();
    let all = cells.load(0..n, Some(1), &Silent)?;
    let mut about = format!("; {n} cells");
    for number in 0..n {
        let cell = all.cell(number)?;
        if n < 1000 {
            about += &format!(" {cell:?}");
        }
        if let Cell::Parent(kind, children) = cell {
            // The outcome is not compared: the range may be damaged.
            let _ = all.check_children(number, kind, &children);
        }
    }
    for range in [n / 3..n - n / 5, n.saturating_sub(1)..n] {
        let some = cells.load(range.clone(), Some(1), &Silent)?;
        for number in range {
            let (a, b) = (format!("{:?}", some.cell(number)), format!("{:?}", all.cell(number)));
            assert!(a == b, "cell {number} depends on the range asked for: {a}, {b}");
        }
    }
    Ok(about)
}

fn read(file: &File, column: u64, n_values: u64) -> Result<Target> {
    let of = file.column(column)?.record.column_type.layout();
    let most = Target::most(of);
    let rows = if n_values <= most { Rows::All } else { Rows::Range(0..most) };
    let mut target = Target::new(of, n_values.min(most) as usize, 0xA5);
    file.read(vec![target.request(column, rows)], Some(1), &Silent)?;
    Ok(target)
}

/// Reads a sound column as 32-bit integers with a sentinel. Checks that codes are below the number
/// of categories.
fn integers(file: &File, column: u64) {
    const SENTINEL: i32 = i32::MIN;
    let Ok(info) = file.column(column) else { return };
    let of = info.record.column_type;
    let n = info.record.n_values.min(Target::most(of.layout()));
    let is_code = of.logical == Logical::Categorical;
    let mut out = vec![0x5A5A_5A5A_i32; n as usize];
    let output = Output::Int32 { memory: bytemuck::cast_slice_mut(&mut out), plus: i32::from(is_code) };
    let missing = MissingTo::Sentinel(SENTINEL as u32 as u64);
    let request = Request { column, rows: Rows::Range(0..n), output, missing };
    match file.read(vec![request], Some(1), &Silent) {
        Ok(()) if is_code => {
            let below =
                info.record.dictionary.and_then(|d| file.column(d).ok()).map_or(0, |d| d.record.n_values);
            let is_fit = |&code: &i32| code == SENTINEL || (code > 0 && code as u64 <= below);
            assert!(out.iter().all(is_fit), "a code is not among the categories");
        }
        Ok(()) => {}
        // Wider integers, list lengths and type ids are read when all of them fit.
        Err(error) => {
            let is_beyond = !is_code && error.kind() == Kind::Unsupported;
            assert!(is_beyond || error.kind() == Kind::Argument, "{error}");
        }
    }
}

/// Checks the extents of a mappable column: inside the file, as words of their width, equal to the
/// values that are read.
fn map(file: &File, column: u64, bytes: &[u8], target: Option<&Target>) {
    let Ok(info) = file.column(column) else { return };
    let of = info.record.column_type.layout();
    let n = info.record.n_values.min(Target::most(of));
    for rows in [0..n, n / 3..n - n / 5] {
        let extent = match file.extent(column, rows.clone()) {
            Ok(extent) => extent,
            Err(error) => {
                assert!(is_fit(&error), "{error}");
                continue;
            }
        };
        let end = extent.at.checked_add(extent.len);
        assert!(end.is_some_and(|end| end <= file.file_len()), "an extent ends outside the file");
        let mapped = &bytes[extent.at as usize..][..extent.len as usize];
        let bit = |i: u64| {
            mapped[((u64::from(extent.first_bit) + i) / 8) as usize]
                >> ((u64::from(extent.first_bit) + i) % 8)
                & 1
        };
        match (of.width(), target) {
            (Some(width), _) => {
                let is_aligned = !of.is_word() || extent.at.is_multiple_of(width as u64);
                assert!(is_aligned, "words are at multiples of their width");
                assert_eq!(extent.len, extent.n_values * width as u64, "an extent is as long as its values");
                let words =
                    target.map(|target| &target.words()[width * rows.start as usize..][..mapped.len()]);
                assert!(words.is_none_or(|words| words == mapped), "mapped values are those that are read");
            }
            (None, Some(target)) => {
                let bits = (0..extent.n_values).map(bit);
                let bools = &target.words()[rows.start as usize..rows.end as usize];
                assert!(bits.eq(bools.iter().copied()), "mapped booleans are those that are read");
            }
            (None, None) => {}
        }
    }
}

/// Checks that every 7th row, backwards, and a range give the values of all rows.
fn some_rows(file: &File, column: u64, n_values: u64, all: &Target) -> Result<()> {
    let of = file.column(column)?.record.column_type.layout();
    if n_values == 0 || n_values > Target::most(of) {
        return Ok(());
    }
    let (from, to) = (n_values / 3, n_values - n_values / 5);
    let every: Vec<u64> = (0..n_values).rev().step_by(7).collect();
    let range: Vec<u64> = (from..to).collect();
    for (rows, numbers) in [(Rows::step(n_values - 1, u64::MAX, -7), every), (Rows::Range(from..to), range)] {
        let mut some = Target::new(of, numbers.len(), 0x5A);
        file.read(vec![some.request(column, rows)], Some(1), &Silent)?;
        some.check();
        for (k, &row) in numbers.iter().enumerate() {
            assert!(
                some.get(k) == all.get(row as usize),
                "row {row} of column {column} depends on the rows asked for"
            );
        }
    }
    Ok(())
}

/// The most values of a nested column that a test takes apart.
const MOST_NESTED: usize = 1 << 20;

/// Reads a nested column in several selections of rows, checks that they agree, and returns the
/// values.
fn nested_values(file: &File, column: u64, n_values: u64) -> Result<Vec<u8>> {
    let most = n_values.min(1 << 17);
    let (from, to) = (most / 3, most - most / 5);
    let every: Vec<u64> = (0..most).rev().step_by(7).collect();
    let Some(all) = nested::read_some(file, column, Rows::Range(0..most), MOST_NESTED)? else {
        return Ok(Vec::new());
    };
    let range: Vec<u64> = (from..to).collect();
    for (rows, numbers) in [(Rows::Indices(every.clone().into()), every), (Rows::Range(from..to), range)] {
        let Some(some) = nested::read_some(file, column, rows, MOST_NESTED)? else { continue };
        for (cell, &row) in some.iter().zip(&numbers) {
            assert!(*cell == all[row as usize], "row {row} of column {column} depends on the rows asked for");
        }
    }
    let mut bytes = Vec::new();
    all.iter().for_each(|cell| naive::nested::put(&mut bytes, cell));
    Ok(bytes)
}

/// Verifies bytes.
///
/// # Errors
/// As the core.
pub fn verify(bytes: &[u8]) -> Result<()> {
    open(bytes)?.verify(Some(1), &Silent).map(|_| ())
}

/// Whether damage may give this error.
pub fn is_fit(error: &Error) -> bool {
    matches!(
        error.kind(),
        Kind::Corrupt | Kind::NotEntasis | Kind::Newer | Kind::Unsupported | Kind::Limit | Kind::OutOfMemory
    )
}
