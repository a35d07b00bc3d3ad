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
        for verb in ["head", "schema", "count"] {
            let (own, converted) = (entasis(args![verb, path]).fine(), entasis(args![verb, out]).fine());
            let without_path = |said: &str, path: &Path| said.replace(&*path.to_string_lossy(), "");
            assert_eq!(without_path(&own, &path), without_path(&converted, &out), "{verb} {name}");
        }
    }
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
        (&text, "out.csv", "is the name of a text"),
        (&text, "out.parquet", "en.convert in Python"),
        (&file, "out.entasis", "both are Entasis files"),
        (&file, "out.Parquet", "en.convert in Python"),
        (&data("table.qs2"), "out.rds", "convert_entasis() in R"),
        (&data("table.qs2"), "out.fst", "read_entasis() in R"),
    ] {
        let said = entasis(args!["convert", from, target(to)]).failed();
        assert!(said.contains(says), "{said}");
        assert!(!target(to).exists());
    }
    entasis(args!["convert", file, target("out.dat")]).fine();
    entasis(args!["convert", text, target("file")]).fine();
}
