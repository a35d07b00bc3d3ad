//! Repairing and compacting files whose fields have impossible values, under checksums that hold:
//! an error or a file that can be verified, and no panic.

use std::path::PathBuf;

use entasis::{Durable, File, Rows, Silent, WriteOptions, compact};
use entasis_testkit::frames::read::Target;
use entasis_testkit::frames::{documents, grown, nested_tables, tables, write_at};
use entasis_testkit::hostile::by_tier;
use entasis_testkit::mutate::{Dice, Map, edges, get};
use entasis_testkit::probe::{is_fit, open};

struct Temp(PathBuf);

impl Temp {
    fn new(name: &str) -> Self {
        Self(std::env::temp_dir().join(format!("entasis-rebuild-{}-{name}", std::process::id())))
    }
}

impl Drop for Temp {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

fn files() -> Vec<(&'static str, Vec<u8>)> {
    let options = WriteOptions { durable: Durable::Never, ..WriteOptions::default() };
    let mut files = vec![
        ("types", write_at(&tables::types(30), 50)),
        ("bundles", write_at(&tables::bundles(30), 50)),
        ("runs", write_at(&tables::runs(20), 50)),
        ("categoricals", write_at(&tables::categoricals(30), 50)),
        ("nested", write_at(&nested_tables::every_type(40), 50)),
        ("pieces", grown::grown(&grown::of_pieces(41), &[20, 24, 40], &options)),
        ("grown", grown::grown(&grown::of_tiers(), &[330_000, 330_050], &options)),
    ];
    files.extend(documents::all().into_iter().map(|tree| (tree.name, tree.bytes)));
    files
}

/// Reads all columns that are there.
fn read_all(file: &File) {
    let file = file.whole();
    for number in 0..file.n_columns_total() {
        let Ok(info) = file.column(number) else { continue };
        let of = info.record.column_type.layout();
        if info.record.n_values > Target::most(of) {
            continue;
        }
        let mut target = Target::new(of, info.record.n_values as usize, 0);
        if let Err(error) = file.read(vec![target.request(number, Rows::All)], Some(1), &Silent) {
            assert!(is_fit(&error), "{error}");
        }
    }
}

#[test]
fn every_result_is_an_error_or_a_sound_file() {
    let temp = Temp::new("file");
    let out = Temp::new("out");
    let options = WriteOptions { durable: Durable::Never, threads: Some(1), ..WriteOptions::default() };
    for (name, bytes) in files() {
        let map = Map::of(&bytes);
        let mut dice = Dice(7);
        let (mut n_views, mut n_repaired, mut n_compacted) = (0, 0, 0);
        for i in 0..by_tier(120, 300, 300) {
            let field = map.fields[dice.below(map.fields.len())];
            let values = edges(bytes.len() as u64, get(&bytes, &field));
            let value = values[dice.below(values.len())];
            let mut changed = map.changed(&bytes, &field, value);
            if i % 2 == 0 {
                // Damage for `repair` to find.
                let at = dice.below(changed.len());
                changed[at] ^= 1;
            }
            let here = format!("{name}: {} = {value}", field.name);
            let Ok(file) = open(&changed) else { continue };
            match file.without_damage(Some(1), &Silent) {
                Ok((view, _)) => {
                    n_views += 1;
                    read_all(&view);
                }
                Err(error) => assert!(is_fit(&error), "{here}: {error}"),
            }
            let _ = std::fs::remove_file(&out.0);
            match file.repair(&out.0, &options, &Silent) {
                Ok(_) => {
                    n_repaired += 1;
                    let len = std::fs::metadata(&out.0).unwrap().len();
                    assert!(len < 64 << 20, "{here}: {len} bytes");
                    if let Err(error) = File::open(&out.0).and_then(|file| file.verify(Some(1), &Silent)) {
                        assert!(is_fit(&error), "{here}: {error}");
                    }
                }
                Err(error) => assert!(is_fit(&error), "{here}: {error}"),
            }
            std::fs::write(&temp.0, &changed).unwrap();
            match compact(&temp.0, &options, &Silent) {
                Ok(()) => n_compacted += 1,
                Err(error) => {
                    assert!(is_fit(&error), "{here}: {error}");
                    assert!(std::fs::read(&temp.0).unwrap() == changed, "{here}: an error changed the file");
                }
            }
        }
        assert!(
            n_views > 10 && n_repaired > 5 && n_compacted > 5,
            "{name}: {n_views} {n_repaired} {n_compacted}"
        );
    }
}
