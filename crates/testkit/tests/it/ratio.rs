//! Stored sizes of fixed columns are those of `tests/ratio/results.csv`.

use entasis_testkit::ratio;

#[test]
fn sizes_are_as_recorded() {
    assert_eq!(ratio::columns().len(), 30);
    let recorded = std::fs::read_to_string(ratio::path()).unwrap();
    let now = ratio::csv();
    let differs = |(old, new): (&str, &str)| (old != new).then(|| format!("{old}\n{new}"));
    let changed: Vec<String> = recorded.lines().zip(now.lines()).filter_map(differs).collect();
    assert!(
        recorded == now,
        "stored sizes changed, recorded and current ones are:\n{}\nIf the change is intended: cargo run --release -p \
         entasis-testkit --bin ratio",
        changed.join("\n")
    );
}

#[test]
fn a_higher_setting_is_never_larger() {
    let recorded = std::fs::read_to_string(ratio::path()).unwrap();
    let mut n = 0;
    for line in recorded.lines().skip(1) {
        let sizes: Vec<u64> = line.split(',').skip(3).map(|size| size.parse().unwrap()).collect();
        assert_eq!(sizes.len(), ratio::SETTINGS.len());
        assert!(sizes.is_sorted_by(|a, b| a >= b), "{line}");
        n += 1;
    }
    assert_eq!(n, ratio::columns().len());
}
