//! Fields of random bytes are those of csv-core, on every instruction set.

use csv_core::{ReadFieldResult, ReaderBuilder};
use entasis_csv::cut::Cutter;
use entasis_csv::fields::{Fields, Uneven};
use entasis_csv::input::Bytes;
use entasis_csv::strict::unquote;
use entasis_csv::{Dialect, Plan};
use entasis_kernels::dispatch::on_every_isa;

use crate::common::{Dice, by_tier};
use crate::model;
use crate::read::is_open;

type Rows = Vec<Vec<Vec<u8>>>;

/// The rows that csv-core finds. It leaves out blank lines.
fn of_csv_core(text: &[u8]) -> Rows {
    let mut reader = ReaderBuilder::new().build();
    let (mut rows, mut row, mut field) = (Vec::new(), Vec::new(), Vec::new());
    let (mut rest, mut output) = (text, [0; 64]);
    loop {
        let (result, n_in, n_out) = reader.read_field(rest, &mut output);
        rest = &rest[n_in..];
        field.extend_from_slice(&output[..n_out]);
        match result {
            ReadFieldResult::InputEmpty | ReadFieldResult::OutputFull => {}
            ReadFieldResult::Field { record_end } => {
                row.push(std::mem::take(&mut field));
                if record_end {
                    rows.push(std::mem::take(&mut row));
                }
            }
            ReadFieldResult::End => return rows,
        }
    }
}

/// The rows of `n` fields that the masks or the strict rules find.
fn of_reader(text: &[u8], n: usize, chunk_len: usize) -> Rows {
    let dialect = Dialect::default();
    let mut input = Bytes::new(text);
    let mut cutter = Cutter::new(&mut input, dialect, 0, chunk_len, 1 << 20).unwrap();
    let (mut rows, mut fields) = (Vec::new(), Fields::default());
    while let Some(chunk) = cutter.next(Vec::new()).unwrap() {
        fields.find(&chunk, 0, n, &dialect, Uneven::Skip, usize::MAX);
        for row in 0..fields.n_rows() {
            let field = |column: usize| {
                let (start, end) = fields.column(&chunk, column).get(row);
                let mut text = Vec::new();
                unquote(&chunk.rows()[start..end], &dialect, &mut text);
                text
            };
            rows.push((0..n).map(field).collect());
        }
    }
    rows
}

/// Random bytes: often those with a meaning, in runs up to a few masks long.
fn text(dice: &mut Dice) -> Vec<u8> {
    let most = if dice.once_in(4) { 400 } else { 60 };
    let len = dice.below(most);
    let alphabet: &[u8] = match dice.below(4) {
        0 => b",\n",
        1 => b",\n\"",
        2 => b"a1,,\r\n\"\"",
        _ => b"ab,\n\"\r\0\xff",
    };
    let mut text = Vec::with_capacity(len);
    while text.len() < len {
        match dice.below(20) {
            0 => text.push(dice.number() as u8),
            1 => text.extend(std::iter::repeat_n(dice.pick(alphabet), dice.below(70))),
            2 => text.extend(b"\"x,y\n\"\"z\","),
            _ => text.push(dice.pick(alphabet)),
        }
    }
    text
}

#[test]
fn fields_of_random_bytes_are_those_of_csv_core() {
    let n = by_tier(10_000, 20_000, 1_000_000);
    for seed in 0..n {
        let mut dice = Dice(seed);
        let text = text(&mut dice);
        if is_open(&text, &Plan::default()) {
            continue;
        }
        let n = 2 + dice.below(3);
        let mut expected = of_csv_core(&text);
        let naive: Rows = model::split(&text, &Dialect::default())
            .into_iter()
            .filter(|row| row.len() > 1 || !row[0].place.is_empty())
            .map(|row| row.into_iter().map(|field| field.text).collect())
            .collect();
        assert_eq!(naive, expected, "seed {seed}: {:?}", String::from_utf8_lossy(&text));
        expected.retain(|row| row.len() == n);
        let chunk_len = 1 + dice.below(2 * text.len() + 1);
        on_every_isa(|_| {
            let found = of_reader(&text, n, chunk_len);
            assert_eq!(found, expected, "seed {seed}: {:?}", String::from_utf8_lossy(&text));
        });
    }
}
