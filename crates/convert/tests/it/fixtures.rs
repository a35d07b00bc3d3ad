//! The same values in all forms of RDS.

use entasis_convert::r::{Data, EnvironmentRef, Item, Value, Values};
use entasis_convert::{Format, recognise};

use crate::common::{bits, element, file, read_file, rounded};

#[test]
fn all_forms_have_the_same_values() {
    let expected = read_file("values_v3_none.rds");
    for name in [
        "values_le.rds",
        "values_v2_bzip2.rds",
        "values_v2_gzip.rds",
        "values_v2_xz.rds",
        "values_v3_bzip2.rds",
        "values_v3_gzip.rds",
        "values_v3_xz.rds",
        "values_ascii.rds",
    ] {
        assert_eq!(recognise(&file(name)), Some(Format::Rds), "{name}");
        let values = read_file(name);
        assert_eq!(values.environments.len(), expected.environments.len(), "{name}");
        // R writes 16 digits in ASCII.
        let exact = if name.contains("ascii") { rounded } else { bits };
        let (Data::List(found), Data::List(of)) = (exact(&values.value).data, exact(&expected.value).data)
        else {
            panic!("not a list")
        };
        assert_eq!(values.value.attribute("names"), expected.value.attribute("names"));
        for (i, (found, of)) in found.iter().zip(&of).enumerate() {
            assert!(found == of, "{name}, element {i}:\n{found:?}\n{of:?}");
        }
    }
}

#[test]
fn values_are_those_of_r() {
    let value = read_file("values_v3_gzip.rds").value;
    let frame = element(&value, "frame");
    assert!(frame.inherits("data.frame"));
    assert_eq!(frame.attribute("row.names").unwrap().data, Data::Integer(vec![i32::MIN, 40]));
    let Data::Integer(ints) = &element(frame, "int").data else { panic!() };
    assert_eq!(ints[..6], [53, 26, 25, 26, 12, 77]);
    assert_eq!(element(frame, "ramp").data, Data::Integer((1..=40).collect()));
    assert_eq!(element(frame, "txt").strings().unwrap().get(1), None);
    assert_eq!(element(frame, "uniq").strings().unwrap().get(0), Some("row-02630"));
    let fac = element(frame, "fac");
    let levels: Vec<_> = fac.attribute("levels").unwrap().strings().unwrap().iter().flatten().collect();
    assert_eq!(levels, ["lo", "mid", "hi"]);
    let table = element(&value, "dt");
    assert!(table.inherits("data.table") && table.attribute(".internal.selfref").is_none());
    assert_eq!(element(&value, "seq").data, Data::Integer((1..=1000).collect()));
    let l1 = element(&value, "l1").strings().unwrap();
    assert_eq!((l1.get(0), l1.codes()), (Some("é"), Some(&[1][..])));
    let Data::Complex(complex) = &element(&value, "cplx").data else { panic!() };
    assert_eq!(complex[1], [2.0, 3.0]);
    let formula = element(&value, "f");
    assert!(formula.inherits("formula"));
    assert_eq!(formula.attribute(".Environment").unwrap().data, Data::Environment(EnvironmentRef::Global));
    let Data::Call(items) = &formula.data else { panic!() };
    assert_eq!(items[0].value.data, Data::Symbol("~".into()));
}

#[test]
fn a_workspace_is_a_list() {
    assert_eq!(recognise(&file("two.RData")), Some(Format::RData));
    let value = read_file("two.RData").value;
    let names: Vec<_> = value.attribute("names").unwrap().strings().unwrap().iter().collect();
    assert_eq!(names, [Some("x"), Some("y")]);
    let expected = read_file("values_v3_none.rds").value;
    assert!(bits(element(&value, "x")) == bits(&expected));
}

#[test]
fn code_is_data() {
    let value = read_file("code.rds").value;
    assert_eq!(element(&value, "e").data, Data::Environment(EnvironmentRef::Global));
    let Data::Closure(parts) = &element(&value, "g").data else { panic!() };
    let argument = Item { tag: "x".into(), value: Data::Symbol(String::new()).into() };
    assert_eq!(parts[0].data, Data::Pairlist(vec![argument]));
    let Data::Call(items) = &element(&value, "p").data else { panic!() };
    let symbols = ["+", "a", "b"].map(|name| Item { tag: String::new(), value: symbol(name) });
    assert_eq!(items[..], symbols);
}

fn symbol(name: &str) -> Value {
    Data::Symbol(name.into()).into()
}

/// Kinds of values that a list of R holds.
#[test]
fn all_kinds_are_read_from_all_forms() {
    let expected = read_file("kinds.rds");
    for name in ["kinds_v2.rds", "kinds_hex.rds", "kinds_le.rds"] {
        let found = read_file(name);
        assert!(bits(&found.value) == bits(&expected.value), "{name}");
        assert_eq!(format!("{:?}", found.environments), format!("{:?}", expected.environments), "{name}");
    }
    let workspace = read_file("ascii.RData");
    assert!(rounded(element(&workspace.value, "x")) == rounded(&expected.value));
}

#[test]
fn kinds_are_those_of_r() {
    let Values { value, environments } = read_file("kinds.rds");
    let Data::Closure(parts) = &element(&value, "closure").data else { panic!() };
    let Data::Pairlist(arguments) = &parts[0].data else { panic!() };
    let tags: Vec<_> = arguments.iter().map(|item| item.tag.as_str()).collect();
    assert_eq!(tags, ["x", "...", "n"]);
    // The body was compiled.
    let Data::Call(body) = &parts[1].data else { panic!("{:?}", parts[1]) };
    assert_eq!((body[0].value.data.clone(), body.len()), (symbol("{").data, 3));
    assert_eq!(parts[2].data, Data::Environment(EnvironmentRef::Global));

    assert_eq!(element(&value, "env"), element(&value, "env2"));
    let Data::Environment(EnvironmentRef::Number(number)) = element(&value, "env").data else { panic!() };
    let environment = &environments[number];
    assert!(environment.is_locked && environment.parent == Some(EnvironmentRef::Global));
    assert_eq!(environment.attributes.as_ref().unwrap()[0].0, "note");
    let binding = |name: &str| environment.bindings.iter().find(|binding| binding.name == name).unwrap();
    assert_eq!(binding("self").value.data, Data::Environment(EnvironmentRef::Number(number)));
    assert!(binding("a").is_locked && !binding("b c").is_locked && binding("now").is_active);
    assert!(matches!(binding("now").value.data, Data::Closure(_)));
    let Data::Environment(EnvironmentRef::Number(plain)) = element(&value, "plain").data else { panic!() };
    let lazy = environments[plain].bindings.iter().find(|binding| binding.name == "lazy").unwrap();
    let Data::Promise(parts) = &lazy.value.data else { panic!("{lazy:?}") };
    assert_eq!(parts[1].data, Data::Environment(EnvironmentRef::Global));
    assert!(matches!(&parts[0].data, Data::Call(items) if items.len() == 3));

    let s4 = element(&value, "s4");
    assert!(s4.is_s4 && s4.data == Data::S4);
    assert_eq!(s4.attribute("name").unwrap().strings().unwrap().get(0), Some("Ann"));
    assert_eq!(
        s4.attribute("class").unwrap().attribute("package").unwrap().strings().unwrap().get(0),
        Some(".GlobalEnv")
    );
    assert!(matches!(&element(&value, "expr").data, Data::Expression(values) if values.len() == 2));
    assert_eq!(element(&value, "sum").data, Data::Primitive("sum".into()));
    assert_eq!(element(&value, "if").data, Data::Primitive("if".into()));
    assert_eq!(element(&value, "miss"), &symbol(""));
    for (name, environment) in [
        ("ns", EnvironmentRef::Namespace("stats".into())),
        ("pkg", EnvironmentRef::Package("stats".into())),
        ("base", EnvironmentRef::Base),
        ("empty", EnvironmentRef::Empty),
        ("basens", EnvironmentRef::Namespace("base".into())),
    ] {
        assert_eq!(element(&value, name).data, Data::Environment(environment), "{name}");
    }
    let Data::Environment(EnvironmentRef::Number(call)) = element(&value, "dots").data else { panic!() };
    let Data::Dots(dots) = &environments[call].bindings[0].value.data else { panic!() };
    assert!(dots[0].tag == "k" && matches!(dots[0].value.data, Data::Promise(_)));
    let Data::Pairlist(items) = &element(&value, "pl").data else { panic!() };
    assert_eq!((items.len(), items[0].tag.as_str()), (3, "a"));
    assert_eq!(element(&value, "seq").data, Data::Integer((-2..=5).rev().collect()));
    let texts = |name: &str| -> Vec<_> { element(&value, name).strings().unwrap().iter().collect() };
    assert_eq!(texts("deferred"), [Some("3"), None, Some("-7")]);
    let deferred = ["1", "2.5", "1e+05", "", "1e+15", "0.1", "123456"]
        .map(|text| Some(text).filter(|text| !text.is_empty()));
    assert_eq!(texts("deferd"), deferred);
    assert_eq!(texts("enc"), [Some("gr\u{fc}n"), Some("gr\u{fc}n"), Some("\u{ff}"), None, Some("plain")]);
    assert_eq!(element(&value, "enc").strings().unwrap().codes(), Some(&[1, 0, 2, 2, 2][..]));
    assert_eq!(element(&value, "raw").data, Data::Raw(vec![0, 255]));
    assert!(element(&value, "weird").attribute("note").is_some());
}
