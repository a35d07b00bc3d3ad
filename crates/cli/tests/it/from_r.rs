//! Files of R: `entasis convert`, and the verbs that read.

use std::path::{Path, PathBuf};

use crate::common::{Folder, entasis, verify};

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../convert/tests/data").join(name)
}

#[test]
fn files_of_r_become_files() {
    let folder = Folder::new();
    let out = folder.path().join("out.entasis");
    for name in ["values_v3_xz.rds", "values_v2_gzip.rds", "values_ascii.rds", "values.qs2", "two.RData"] {
        let said = entasis(args!["convert", data(name), out]).fine();
        assert!(said.contains("a tree of values"), "{name}: {said}");
        verify(&out);
    }
    for name in ["small.fst", "table.qs2", "table.qdata"] {
        let said = entasis(args!["convert", data(name), out]).fine();
        assert!(said.contains(" rows x "), "{name}: {said}");
        verify(&out);
    }
}

#[test]
fn verbs_read_files_of_r() {
    let folder = Folder::new();
    let (out, text) = (folder.path().join("out.entasis"), folder.path().join("out.csv"));
    for name in ["table.qs2", "small.fst"] {
        let path = data(name);
        entasis(args!["convert", path, out]).fine();
        for verb in ["head", "tail", "select", "schema", "count"] {
            let (own, converted) = (entasis(args![verb, path]).fine(), entasis(args![verb, out]).fine());
            if verb == "schema" && name == "small.fst" {
                // Missing values of fst are not counted.
                let words = |said: &str| -> Vec<_> {
                    said.lines()
                        .skip(1)
                        .map(|line| line.split_whitespace().take(2).map(str::to_owned).collect::<Vec<_>>())
                        .collect()
                };
                assert_eq!(words(&own), words(&converted));
                continue;
            }
            let without_path = |said: &str, path: &Path| said.replace(&*path.to_string_lossy(), "");
            assert_eq!(without_path(&own, &path), without_path(&converted, &out), "{verb} {name}");
        }
    }
    let path = data("small.fst");
    entasis(args!["convert", path, out]).fine();
    for rows in [
        &["head", "-n", "3"][..],
        &["head", "--rows", "7:70"],
        &["tail", "-n", "2"],
        &["select", "-n", "5"],
        &["select", "--where", "c5 > 0 and not c10"],
    ] {
        for columns in [&[][..], &["--columns", "c20,c3"], &["--json", "--columns", "c1"]] {
            let words = || rows.iter().chain(columns).map(std::ffi::OsString::from);
            let said = |path: &Path| entasis(words().chain([path.as_os_str().to_owned()])).fine();
            assert_eq!(said(&path), said(&out), "{rows:?}, {columns:?}");
        }
    }
    let said = entasis(args!["head", "--columns", "c2,nothing", path]).failed();
    assert!(said.contains("nothing"), "{said}");
    let count = |path: &Path| entasis(args!["count", "--where", "c20 is null or c0 < 1", path]).fine();
    assert_eq!(count(&path), count(&out));
    let said = entasis(args!["select", "--where", "nothing = 1", path]).failed();
    assert!(said.contains("nothing"), "{said}");
    let said = entasis(args!["info", path]).fine();
    assert!(said.contains("70 rows x 26 columns") && said.contains("format fst"), "{said}");
    let said = entasis(args!["info", "--json", path]).fine();
    assert!(said.contains("\"format\":\"fst\",\"n_rows\":70,\"n_columns\":26"), "{said}");
    entasis(args!["convert", data("table.qs2"), text]).fine();
    assert_eq!(std::fs::read_to_string(&text).unwrap().lines().count(), 5001);
    assert!(entasis(args!["tree", data("values_v3_none.rds")]).fine().contains("fit"));
}

#[test]
fn functions_are_refused_or_kept_as_data() {
    let folder = Folder::new();
    let out = folder.path().join("out.entasis");
    let said = entasis(args!["convert", data("code.rds"), out]).failed();
    assert!(said.contains("x$g: a value of type closure is code"), "{said}");
    assert!(!out.exists());
    entasis(args!["convert", "--functions", data("code.rds"), out]).fine();
    verify(&out);
    let said = entasis(args!["convert", "--rows", "0:5", data("table.qs2"), out]).failed();
    assert!(said.contains("--rows"), "{said}");
}

#[test]
fn damaged_files_leave_nothing() {
    let folder = Folder::new();
    let out = folder.path().join("out.entasis");
    let whole = std::fs::read(data("values_v3_none.rds")).unwrap();
    for n in [20, 1000, whole.len() - 1] {
        let cut = folder.bytes("cut.rds", &whole[..n]);
        let said = entasis(args!["convert", cut, out]).failed();
        assert!(said.contains("cut.rds"), "{said}");
        assert!(!out.exists());
    }
}

#[test]
fn targets_have_the_name_of_what_is_written() {
    let folder = Folder::new();
    let text = folder.bytes("in.csv", b"a,b\n1,2\n");
    let file = folder.path().join("in.entasis");
    entasis(args!["convert", text, file]).fine();
    let target = |name: &str| folder.path().join(name);
    for (from, to, says) in [
        (&text, "out.csv", "a text from a text needs Python"),
        (&text, "out.parquet", "(parquet) needs Python"),
        (&file, "out.entasis", "needs Python"),
        (&file, "out.Parquet", "(parquet) needs Python"),
        (&data("table.qs2"), "out.fst", "read_entasis() in R"),
        (&data("table.qs2"), "out.xlsx", "no verb writes it"),
    ] {
        let said = entasis(args!["convert", from, target(to)]).failed();
        assert!(said.contains(says), "{said}");
        assert!(!target(to).exists());
    }
    entasis(args!["convert", file, target("out.dat")]).fine();
    entasis(args!["convert", text, target("file")]).fine();
}
