//! Files that are joined without a copy hold what a table in memory holds.

use std::path::{Path, PathBuf};

use entasis::{AppendOptions, Durable, File, Join, Kind, Result, Silent, Value, WriteOptions};
use entasis_testkit::compare::{assert_holds, core_holds};
use entasis_testkit::frames::host::Memory;
use entasis_testkit::frames::{Model, Table, nested_tables, noise, shapes, tables};
use entasis_testkit::hostile::{is_long, is_release};

use crate::grow::{is_dictionary, rows};

/// A folder that is removed at the end of a test.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("entasis-join-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.join(format!("{name}.entasis"))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn options() -> WriteOptions {
    WriteOptions { durable: Durable::Never, ..WriteOptions::default() }
}

fn write(path: &Path, table: &Table, compression: u8) {
    let memory = Memory::of(table);
    let options = WriteOptions { compression: Some(compression), ..options() };
    entasis::write(path, &memory.frame(table), &options, &Silent).unwrap();
}

/// Writes the rows between the `ends` to files of their own.
fn write_parts(folder: &Folder, table: &Table, ends: &[usize]) -> Vec<PathBuf> {
    let mut paths = Vec::new();
    for (i, pair) in ends.windows(2).enumerate() {
        let path = folder.path(&i.to_string());
        write(&path, &rows(table, pair[0], pair[1]), [0, 50, 80][i % 3]);
        paths.push(path);
    }
    paths
}

fn join(folder: &Folder, paths: &[PathBuf], options: &AppendOptions<'_>) -> Result<File> {
    let files = paths.iter().map(|path| File::open(path));
    Ok(Join::new(files, &folder.0, options, &Silent)?.into_file())
}

/// Joins files with the rows between the `ends`, and compares a copy of the result.
fn check(table: &Table, ends: &[usize]) {
    let table = Table { host: Value::Null, in_runs: false, ..table.clone() };
    let name = table.name.replace(['/', ' '], "-");
    let folder = Folder::new(&format!("{name}-{}-{}", ends.len(), ends[ends.len() - 1]));
    let paths = write_parts(&folder, &table, ends);
    let file = join(&folder, &paths, &AppendOptions::default()).unwrap_or_else(|e| panic!("{name}: {e}"));
    let whole = rows(&table, ends[0], ends[ends.len() - 1]);
    assert_eq!(file.n_rows(), whole.n_rows as u64, "{name}");
    core_holds(&file, &whole);
    let copy = folder.path("copy");
    file.repair(&copy, &options(), &Silent).unwrap_or_else(|e| panic!("{name}: {e}"));
    assert_holds(&std::fs::read(&copy).unwrap(), &whole);
}

/// A table whose extra columns are dictionaries alone.
fn without_labels(table: Table) -> Table {
    assert!((0..table.extra.len()).all(|i| is_dictionary(&table.columns, i)), "{}", table.name);
    table
}

#[test]
fn flat_columns() {
    for n in [30, if is_long() { 70_000 } else { 9_000 }] {
        check(&without_labels(tables::types(n)), &[0, n / 3, n / 2, n / 2, n - 1, n]);
    }
    // Long files between short ones.
    if is_release() {
        check(&without_labels(tables::types(26_000)), &[0, 10, 9_000, 17_500, 17_510, 26_000]);
    } else {
        check(&without_labels(tables::types(17_000)), &[0, 10, 8_400, 8_410, 17_000]);
    }
}

#[test]
fn forms_of_every_encoding() {
    let ends =
        if is_long() { [0, 22_000, 44_000, 44_100, 66_000] } else { [0, 8_200, 16_400, 16_500, 25_000] };
    check(&Table::new("shapes", shapes::columns(ends[4])), &ends);
}

#[test]
fn categoricals() {
    for n in [30, 20_000] {
        check(&without_labels(tables::categoricals(n)), &[0, n / 2, n / 2 + 1, n]);
    }
}

/// Blocks of lists and structs stay in their files. Unions are refused, as appending refuses them.
#[test]
fn nested_columns() {
    check(&nested_tables::deep(20, 18_000), &[0, 9_000, 18_000]);
    check(&nested_tables::deep(3, 30), &[0, 10, 30]);
    let folder = Folder::new("nested");
    let paths = write_parts(&folder, &nested_tables::one_type(18_000), &[0, 9_000, 18_000]);
    let error = join(&folder, &paths, &AppendOptions::default()).unwrap_err();
    assert_eq!(error.kind(), Kind::Argument, "{error}");
    assert!(error.to_string().contains("1.entasis") && error.to_string().contains("nested"), "{error}");
}

#[test]
fn many_files_need_few_descriptors() {
    let table = Table::new(
        "numbers",
        vec![Model::text("text", &noise(9_000, 3).iter().map(u64::to_string).collect::<Vec<_>>())],
    );
    let folder = Folder::new("many");
    write(&folder.path("0"), &table, 50);
    let paths: Vec<PathBuf> = (0..300).map(|_| folder.path("0")).collect();
    let file = join(&folder, &paths, &AppendOptions::default()).unwrap();
    assert_eq!(file.n_rows(), 300 * 9_000);
    #[cfg(target_os = "linux")]
    {
        file.repair(&folder.path("copy"), &options(), &Silent).unwrap();
        let open = std::fs::read_dir("/proc/self/fd").unwrap().filter_map(|entry| {
            std::fs::read_link(entry.unwrap().path()).ok().filter(|path| path.starts_with(&folder.0))
        });
        let n = open.count();
        assert!((1..=130).contains(&n), "{n} descriptors");
    }
    // A file in the place of another is noticed.
    drop(file);
    let paths: Vec<PathBuf> = (0..300).map(|i| folder.path(&i.to_string())).collect();
    for path in &paths {
        write(path, &table, 50);
    }
    let file = join(&folder, &paths, &AppendOptions::default()).unwrap();
    write(&paths[250], &rows(&table, 0, 8_500), 50);
    let error = file.repair(&folder.path("copy"), &options(), &Silent).unwrap_err();
    assert!(error.to_string().contains("250.entasis"), "{error}");
}

#[test]
fn files_that_do_not_fit_are_refused() {
    let folder = Folder::new("refused");
    assert_eq!(join(&folder, &[], &AppendOptions::default()).unwrap_err().kind(), Kind::Argument);
    let paths = [folder.path("0"), folder.path("1")];
    write(&paths[0], &tables::types(9_000), 50);
    write(&paths[1], &Table::new("shapes", shapes::columns(9_000)), 50);
    let error = join(&folder, &paths, &AppendOptions::default()).unwrap_err();
    assert!(error.to_string().contains("1.entasis"), "{error}");
    std::fs::write(&paths[1], b"nothing").unwrap();
    assert_eq!(join(&folder, &paths, &AppendOptions::default()).unwrap_err().kind(), Kind::NotEntasis);
}
