//! Files that an installed R writes now. Without R, the tests pass.

use std::process::{Command, Stdio};

use entasis_convert::r::{Data, Value};

use crate::common::{element, read};

/// The bytes of the file that a script of R writes to `path`.
fn written_by_r(script: &str) -> Option<Vec<u8>> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x");
    let script = format!("path <- commandArgs(TRUE)[1]; {script}");
    let mut command = Command::new("Rscript");
    command.args(["--vanilla", "-e", &script]).arg(&path).stdout(Stdio::null());
    let Ok(status) = command.status() else {
        println!("skipped: Rscript is not installed");
        return None;
    };
    assert!(status.success());
    Some(std::fs::read(path).unwrap())
}

/// Numbers as strings that were never used, and the same strings made by R.
#[test]
fn deferred_strings_are_those_of_r() {
    let script = "set.seed(1)
        d <- c(round(runif(500, -9, 9), 6), sample(1e9, 500) / 100, 2^(0:52), 10^(-5:16), -123456:-123400,
            1 / 3, 2 / 3, 1e-300, 1.5e300, 0.1 + 0.2, 1e5 + 0.1, NA, NaN, Inf, -Inf, -0)
        i <- c(1L, NA, -5L, 100000L, .Machine$integer.max)
        made <- function(x) vapply(seq_along(x), function(k) substring(as.character(x[k]), 1L), '')
        saveRDS(list(d = as.character(d), e = made(d), i = as.character(i), j = made(i)), path)";
    let Some(bytes) = written_by_r(script) else { return };
    let value = read(&bytes).unwrap().value;
    for (deferred, made) in [("d", "e"), ("i", "j")] {
        let texts = |name: &str| element(&value, name).strings().unwrap().clone();
        let (deferred, made) = (texts(deferred), texts(made));
        for (found, of) in deferred.iter().zip(made.iter()) {
            assert_eq!(found, of);
        }
        assert_eq!(deferred.len(), made.len());
    }
}

#[test]
fn long_vectors_of_r_are_read() {
    let script = "n <- 1e6; saveRDS(data.frame(i = sample(n), d = seq_len(n) / 7, s = as.character(seq_len(n) %% 999)), path)";
    let Some(bytes) = written_by_r(script) else { return };
    let value = read(&bytes).unwrap().value;
    assert_eq!(value.attribute("row.names").unwrap().data, Data::Integer(vec![i32::MIN, -1_000_000]));
    let Data::Integer(ints) = &element(&value, "i").data else { panic!() };
    assert_eq!(ints.iter().map(|&i| i64::from(i)).sum::<i64>(), 500_000_500_000);
    let Data::Double(doubles) = &element(&value, "d").data else { panic!() };
    assert!(doubles.iter().zip(1..).all(|(&value, i)| value == f64::from(i) / 7.0));
    let strings = element(&value, "s").strings().unwrap();
    assert_eq!((strings.get(998), strings.get(999_999)), (Some("0"), Some("1")));
    assert_eq!(Value::len(element(&value, "s")), 1_000_000);
}

/// The namespace `methods` has byte code, environments and S4 classes.
#[test]
fn namespaces_of_r_are_read() {
    let script = "e <- as.list(asNamespace('methods'), all.names = TRUE)
        saveRDS(lapply(e, function(x) if (is.function(x)) x), path)";
    let Some(bytes) = written_by_r(script) else { return };
    let value = read(&bytes).unwrap_or_else(|error| panic!("{error}")).value;
    assert!(value.len() > 100);
    let script = "e <- as.list(asNamespace('stats'), all.names = TRUE)
        for (n in names(e)) if (is.function(e[[n]])) environment(e[[n]]) <- globalenv()
        saveRDS(list(made = e, bodies = lapply(Filter(is.function, e), body)), path)";
    let Some(bytes) = written_by_r(script) else { return };
    let values = read(&bytes).unwrap_or_else(|error| panic!("{error}"));
    let (made, bodies) = (element(&values.value, "made"), element(&values.value, "bodies"));
    let Data::List(bodies_of) = &bodies.data else { panic!() };
    let names = bodies.attribute("names").and_then(Value::strings).unwrap();
    for (name, body) in names.iter().flatten().zip(bodies_of) {
        let Data::Closure(parts) = &element(made, name).data else { continue };
        assert!(parts[1] == *body, "the body of {name}: {:?}", parts[1]);
    }
}
