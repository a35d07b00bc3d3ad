//! Work that the command hands to a host: other formats, comparisons, conditions.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use entasis::{Error, FileSource, Source, WriteOptions};
use entasis_cli::{Host, Input, Listed, Objects, Progress, Reply, Request, run_with};
use serde_json::{Map, Value, json};

use crate::common::{Folder, counting, entasis, entasis_from};

/// A host that keeps requests and gives one answer. It writes the target if it succeeds. It lives
/// as long as the tests, as a host does.
struct Fake {
    asked: Mutex<Vec<Request>>,
    answer: Reply,
}

impl Fake {
    fn new(answer: Reply) -> &'static Self {
        Box::leak(Box::new(Self { asked: Mutex::default(), answer }))
    }

    fn done(result: Value) -> &'static Self {
        let result = result.as_object().cloned().unwrap_or_default();
        Self::new(Reply::Done { notes: Vec::new(), result, content: None })
    }

    /// The only request of a command, and its exit code.
    fn ask<const N: usize>(&'static self, args: [OsString; N]) -> (i32, Request) {
        let code = run_with(args, Some(self));
        let mut asked = self.asked.lock().unwrap();
        assert_eq!(asked.len(), 1, "one request");
        (code, asked.remove(0))
    }

    /// The exit code of a command that asks for nothing.
    fn unused<const N: usize>(&'static self, args: [OsString; N]) -> i32 {
        let code = run_with(args, Some(self));
        assert!(self.asked.lock().unwrap().is_empty(), "no request");
        code
    }
}

impl Host for Fake {
    fn call(&self, request: &Request, progress: Progress) -> Reply {
        progress(1, None);
        progress(1, Some(2));
        if let (Some(path), Reply::Done { .. }) = (&request.output, &self.answer) {
            std::fs::write(path, "written").unwrap();
        }
        self.asked.lock().unwrap().push(request.clone());
        self.answer.clone()
    }
}

fn options(request: &Request) -> Map<String, Value> {
    let mut found = request.options.clone();
    assert_eq!(serde_json::from_str::<Value>(&request.options_json()).unwrap(), Value::Object(found.clone()));
    found.retain(|name, value| !(name == "wait" || value == &json!({}) || value == &json!(false)));
    found
}

#[test]
fn other_formats_are_handed_on() {
    let folder = Folder::new();
    let (host, parquet) = (Fake::done(json!({"n_rows": 3})), folder.bytes("in.dat", b"PAR1\x15\x04"));
    let out = folder.path().join("out.entasis");
    let (code, asked) = host.ask(args!["convert", parquet, out]);
    assert_eq!((code, asked.verb), (0, "convert"));
    assert_eq!((&asked.inputs[..], &asked.output), (&[Input::Path(parquet.clone())][..], &Some(out.clone())));
    assert_eq!(Value::Object(options(&asked)), json!({"target_format": "entasis"}));
    std::fs::remove_file(&out).unwrap();
    let (code, asked) = host.ask(args![
        "convert",
        "--from",
        "parquet",
        "--to",
        "feather",
        "--columns",
        "a,b",
        "--rows",
        "2:",
        "--where",
        "a > 1",
        "--verify",
        "--strict",
        "--compression",
        "lz4",
        "--threads",
        "2",
        "--no-sync",
        "--wait",
        "3",
        parquet,
        out
    ]);
    assert_eq!(code, 0);
    assert_eq!(
        asked.options,
        *json!({
            "source_format": "parquet", "target_format": "feather", "columns": ["a", "b"], "rows": [2, null],
            "where": "a > 1", "verify": true, "strict": true, "compression": "lz4", "threads": 2,
            "durable": false, "wait": 3.0, "text": {}, "writing": {}
        })
        .as_object()
        .unwrap()
    );
}

#[test]
fn options_of_texts_are_handed_on() {
    let folder = Folder::new();
    let (host, out) = (Fake::done(json!({})), folder.path().join("out.parquet"));
    let text = folder.bytes("in.csv", b"a;b\n1;2\n");
    let (_, asked) = host.ask(args![
        "convert",
        "--sep",
        "; ",
        "--quote",
        "none",
        "--type",
        "a=decimal(9,2)",
        "--dates",
        "%d",
        "--dates",
        "b=%Y",
        "--na",
        "-",
        "--na",
        "?",
        "--id",
        "file",
        "--drop",
        "b",
        "--no-header",
        "--on-error",
        "skip",
        "--max-field",
        "1MiB",
        text,
        out
    ]);
    let given = json!({
        "sep": "; ", "quote": null, "dtypes": {"a": "decimal(9, 2)"}, "dates": [[null, ["%d"]], ["b", ["%Y"]]],
        "na": ["-", "?"], "id": "file", "drop": ["b"], "header": false, "on_error": "skip", "max_field": 1 << 20,
    });
    assert_eq!(asked.options["text"], given);
    // The other way, the text that is written has options.
    let (parquet, text) = (folder.bytes("in.parquet", b"PAR1"), folder.path().join("out.csv"));
    let words = ["--sep", ";", "--decimal", ",", "--na", "-"];
    let [a, b, c, d, e, f] = words.map(OsString::from);
    let (_, asked) = host.ask([a, b, c, d, e, f].into_iter().fold(
        args!["convert", parquet, text, "--no-header", "", "", "", "", "", ""],
        |mut all, word| {
            let at = all.iter().position(|one| one.is_empty()).unwrap();
            all[at] = word;
            all
        },
    ));
    assert_eq!(asked.options["writing"], json!({"sep": ";", "decimal": ",", "na": "-", "header": false}));
    assert_eq!(asked.options["text"], json!({}));
}

#[test]
fn what_the_command_does_itself_is_not_handed_on() {
    let folder = Folder::new();
    let host = Fake::new(Reply::failed("unused"));
    let text = folder.bytes("in.csv", b"a,b\n1,2\n");
    let (file, back) = (folder.path().join("t.entasis"), folder.path().join("back.csv"));
    assert_eq!(host.unused(args!["convert", "--strict", text, file]), 0);
    assert_eq!(host.unused(args!["convert", file, back]), 0);
    assert_eq!(std::fs::read(&back).unwrap(), b"a,b\n1,2\n");
    let table = Path::new(env!("CARGO_MANIFEST_DIR")).join("../convert/tests/data/small.fst");
    assert_eq!(host.unused(args!["convert", "--strict", table, folder.path().join("r.entasis")]), 0);
}

#[test]
fn answers_decide_the_exit_code() {
    let folder = Folder::new();
    let (parquet, out) = (folder.bytes("in.parquet", b"PAR1"), folder.path().join("out.jsonl"));
    for (answer, of_convert, of_diff) in [
        (Reply::failed("no"), 1, 2),
        (Reply::Stopped, 130, 130),
        (Reply::Closed, 0, 0),
        (Reply::Done { notes: vec!["a warning".to_owned()], result: Map::new(), content: None }, 0, 2),
    ] {
        let host = Fake::new(answer);
        assert_eq!(host.ask(args!["convert", parquet, out]).0, of_convert, "{:?}", host.answer);
        assert_eq!(host.ask(args!["diff", parquet, out]).0, of_diff, "{:?}", host.answer);
        let _ = std::fs::remove_file(&out);
    }
    for (differs, code) in [(true, 1), (false, 0)] {
        let host = Fake::done(json!({"differs": differs, "lines": ["x"]}));
        let (found, asked) = host.ask(args![
            "diff",
            "--key",
            "id",
            "-k",
            "b",
            "--columns",
            "c,d",
            "--tolerance",
            "0.5",
            "-n",
            "7",
            "--json",
            parquet,
            out
        ]);
        assert_eq!((found, asked.verb), (code, "diff"));
        let given =
            json!({"key": ["id", "b"], "columns": ["c", "d"], "tolerance": 0.5, "limit": 7, "json": true});
        assert_eq!(Value::Object(options(&asked)), given);
    }
}

#[test]
fn wrong_options_are_refused_before_the_host() {
    let folder = Folder::new();
    let host = Fake::new(Reply::failed("unused"));
    let (parquet, text) = (folder.bytes("in.parquet", b"PAR1"), folder.bytes("in.csv", b"a\n1\n"));
    let out = folder.path().join("out.feather");
    for words in [
        args!["convert", "--id", "x", parquet, out],
        args!["convert", "--sep", ";", parquet, out],
        args!["convert", "--skip", "1", parquet, out],
        args!["convert", "--problems", "p.csv", text, out],
        args!["convert", "--to", "parquet", parquet, "-"],
    ] {
        assert_eq!(host.unused(words), 1);
    }
    assert_eq!(host.unused(args!["convert", "--to", "jsonl", "--verify", parquet, "-"]), 1);
    assert_eq!(host.unused(args!["convert", parquet, folder.bytes("old.feather", b"PAR1")]), 1);
    assert_eq!(host.unused(args!["convert", parquet, text, out]), 1, "inputs of two formats");
    for wrong in [["--to", "excel"], ["--compression", "zip"], ["--from", "parket"]] {
        assert_eq!(host.unused(args!["convert", wrong[0], wrong[1], parquet, out]), 2);
    }
    assert_eq!(host.unused(args!["diff", "--tolerance=-1", parquet, out]), 2);
    assert_eq!(std::fs::read(&text).unwrap(), b"a\n1\n");
}

#[test]
fn a_file_without_the_last_word_is_not_replaced() {
    let folder = Folder::new();
    let host = Fake::done(json!({}));
    let (one, two) = (folder.bytes("a.parquet", b"PAR1"), folder.bytes("b.parquet", b"PAR1"));
    assert_eq!(host.unused(args!["convert", one, two]), 1);
    assert_eq!(host.unused(args!["convert", one, one]), 1);
    assert_eq!(std::fs::read(&two).unwrap(), b"PAR1");
    let (code, _) = host.ask(args!["convert", "--to", "parquet", one, two]);
    assert_eq!((code, std::fs::read(&two).unwrap()), (0, b"written".to_vec()));
}

#[test]
fn a_program_without_a_host_says_how_to_get_one() {
    let folder = Folder::new();
    let file = folder.write("in.entasis", &counting(10));
    let out = folder.path().join("out.parquet");
    for words in [
        args!["convert", file, out].to_vec(),
        args!["convert", "--verify", file, folder.path().join("out.csv")].to_vec(),
        args!["convert", "--strict", file, folder.path().join("out.csv")].to_vec(),
        args!["convert", "--where", "id > 1", file, "-"].to_vec(),
    ] {
        let said = entasis(words).failed();
        assert!(said.contains("needs Python") && said.contains("pip install 'entasis[all]'"), "{said}");
    }
    let said = entasis(args!["diff", file, file]);
    assert_eq!((said.code, said.out.as_str()), (2, ""));
    assert!(said.err.contains("`entasis diff` needs Python"), "{}", said.err);
    assert!(!out.exists());
}

#[test]
fn an_entasis_file_from_the_standard_input_becomes_a_text() {
    let folder = Folder::new();
    let file = folder.write("in.entasis", &counting(3));
    let said = entasis_from(args!["convert", "-", "-"], std::fs::File::open(&file).unwrap().into()).fine();
    assert_eq!(said, entasis(args!["convert", file, "-"]).fine());
}

#[test]
fn verbs_show_what_the_host_reads() {
    let folder = Folder::new();
    let content = std::fs::read(folder.write("read.entasis", &counting(5))).unwrap();
    let parquet = folder.bytes("in.parquet", b"PAR1");
    let host = Fake::new(Reply::Done {
        notes: Vec::new(),
        result: json!({"n_rows": 70}).as_object().cloned().unwrap(),
        content: Some(content),
    });
    for (words, rows) in [
        (args!["head", "-n", "5", parquet].to_vec(), json!([0, 5])),
        (args!["head", "--rows", "1:3", parquet].to_vec(), Value::Null),
        (args!["count", parquet].to_vec(), json!([0, 0])),
    ] {
        let code = run_with(words, Some(host));
        let asked = host.asked.lock().unwrap().remove(0);
        assert_eq!((code, asked.verb, &asked.inputs[..]), (0, "read", &[Input::Path(parquet.clone())][..]));
        assert_eq!(asked.options.get("rows").cloned().unwrap_or_default(), rows);
    }
    // The layout is that of Entasis files, and verbs that change a file take no other.
    for verb in ["info", "verify", "compact", "generations"] {
        assert_eq!(host.unused(args![verb, parquet]), 1, "{verb}");
    }
    for (verb, says) in [("head", "reads files of parquet: pip install"), ("info", "`entasis convert` makes")]
    {
        let said = entasis(args![verb, parquet]).failed();
        assert!(said.contains(says), "{said}");
    }
    let none = folder.path().join("none.parquet");
    assert_eq!(host.unused(args!["head", none]), 1);
}

/// A folder of the disk that plays one on a store. It has no manifest.
#[derive(Debug)]
struct Bucket {
    root: PathBuf,
    opened: Mutex<Vec<String>>,
}

/// A host whose addresses are all in one folder.
struct Stores(Arc<Bucket>);

impl Host for Stores {
    fn call(&self, request: &Request, _: Progress) -> Reply {
        Reply::failed(format!("{} is not expected", request.verb))
    }

    fn source(&self, address: &str) -> entasis::Result<(Box<dyn Source>, PathBuf)> {
        let path = address.strip_prefix("s3://bucket/sales/").unwrap_or("none");
        Ok((self.0.open(path, None)?, PathBuf::from(address)))
    }

    fn folder(&self, _: &str) -> entasis::Result<Option<Arc<dyn Objects>>> {
        Ok(Some(Arc::<Bucket>::clone(&self.0)))
    }
}

impl Objects for Bucket {
    fn name(&self) -> &str {
        "s3://bucket/sales"
    }

    fn list(&self, prefix: &str) -> entasis::Result<Vec<Listed>> {
        let listed = |path: String| {
            let len = std::fs::metadata(self.root.join(&path)).unwrap().len();
            Listed { path, len, identity: String::new() }
        };
        let found = entasis_dataset::list(&self.root)?.into_iter();
        Ok(found.filter(|path| path.starts_with(prefix)).map(listed).collect())
    }

    fn open(&self, path: &str, _: Option<&Listed>) -> entasis::Result<Box<dyn Source>> {
        self.opened.lock().unwrap().push(path.to_owned());
        match FileSource::open(self.root.join(path)) {
            Ok(source) => Ok(Box::new(source)),
            Err(error) => Err(Error::io(error, "open")),
        }
    }
}

#[test]
fn folders_on_stores_are_read_through_the_host() {
    let folder = Folder::new();
    let root = folder.path().join("sales");
    for key in 0..25 {
        let below = root.join(format!("k={key}"));
        std::fs::create_dir_all(&below).unwrap();
        let options = WriteOptions::default();
        entasis::write(&below.join("x.entasis"), &counting(9_000), &options, &entasis::Silent).unwrap();
    }
    std::fs::create_dir_all(root.join("_left")).unwrap();
    std::fs::write(root.join("_left/y.entasis"), "out").unwrap();
    let bucket = Arc::new(Bucket { root: root.clone(), opened: Mutex::default() });
    let host: &'static Stores = Box::leak(Box::new(Stores(Arc::clone(&bucket))));
    let (ours, others) = (folder.path().join("a.entasis"), folder.path().join("b.entasis"));
    for (place, out) in [(root.into_os_string(), &ours), ("s3://bucket/sales".into(), &others)] {
        let condition = "id >= 8999 and k <> 3";
        let words = args!["select", place, "--where", condition, "--to", "entasis", "--output", out];
        assert_eq!(run_with(words, Some(host)), 0);
    }
    assert_eq!(entasis(args!["count", ours]).fine().trim(), "24");
    assert_eq!(std::fs::read(&ours).unwrap(), std::fs::read(&others).unwrap());
    // Each object is opened once, ten at a time.
    let mut opened = std::mem::take(&mut *bucket.opened.lock().unwrap());
    assert!(
        opened[..10].iter().all(|path| entasis_dataset::list(&bucket.root).unwrap()[..10].contains(path))
    );
    opened.sort();
    assert_eq!(opened, entasis_dataset::list(&bucket.root).unwrap());
    for verb in ["info", "schema", "head", "count", "verify"] {
        assert_eq!(run_with(args![verb, "s3://bucket/sales"], Some(host)), 0, "{verb}");
    }
    std::fs::write(bucket.root.join("k=7/x.entasis"), "damaged").unwrap();
    for verb in ["verify", "head", "generations"] {
        assert_eq!(run_with(args![verb, "s3://bucket/sales"], Some(host)), 1, "{verb}");
    }
}
