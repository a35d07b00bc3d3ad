//! `--no-clobber` never replaces a file.

use crate::common::{Folder, counting, entasis};

#[test]
fn files_that_exist_stay() {
    let folder = Folder::new();
    let file = folder.write("file.entasis", &counting(1000));
    let text = folder.path().join("in.csv");
    std::fs::write(&text, "a,b\n1,x\n2,y\n").unwrap();
    for name in ["out.entasis", "out.csv", "out.csv.gz", "out.rds"] {
        let out = folder.path().join(name);
        let calls: Vec<Vec<std::ffi::OsString>> = match name {
            "out.entasis" => vec![
                args!["convert", text, out, "--no-clobber"].to_vec(),
                args!["repair", file, out, "--no-clobber"].to_vec(),
                args!["select", file, "--to", "entasis", "--output", out, "--no-clobber"].to_vec(),
            ],
            "out.rds" => vec![args!["convert", file, out, "--no-clobber"].to_vec()],
            _ => vec![
                args!["convert", file, out, "--no-clobber"].to_vec(),
                args!["select", file, "--to", "csv", "--output", out, "--no-clobber"].to_vec(),
            ],
        };
        for call in calls {
            let _ = std::fs::remove_file(&out);
            entasis(&call).fine();
            let written = std::fs::read(&out).unwrap();
            let said = entasis(&call).failed();
            assert!(said.contains("the file exists") && said.contains(name), "{said}");
            assert!(std::fs::read(&out).unwrap() == written);
        }
    }
    let problems = folder.path().join("problems.csv");
    std::fs::write(&text, "a\n1\nx\n").unwrap();
    let out = folder.path().join("numbers.entasis");
    let call = args![
        "convert",
        "--no-clobber",
        "--type",
        "a=int64",
        "--on-error",
        "missing",
        "--problems",
        problems,
        text,
        out
    ];
    std::fs::write(&problems, "old").unwrap();
    let said = entasis(&call).failed();
    assert!(said.contains("problems.csv") && said.contains("the file exists"), "{said}");
    assert_eq!(std::fs::read(&problems).unwrap(), b"old");
    assert!(!out.exists());
}
