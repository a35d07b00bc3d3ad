//! Filters on Entasis files: predicates, pruning by statistics, and scans.
//!
//! A [`Predicate`] is a tree of conditions on the columns of a table. A [`Scan`] binds it to a file
//! and finds the rows that it keeps:
//!
//! 1. Binding turns each comparison into a test of stored values: a set of integers or of strings.
//!    Negations become complements, and tests of the same column become one.
//! 2. The statistics of blocks decide most tests of clustered columns: no row passes, or all do.
//! 3. The other rows are tested in tasks of 65,536, with one bitmap each. A dictionary is tested
//!    once per entry; pages without a remaining row are not read.
//!
//! # Example
//!
//! ```
//! # use entasis::{
//! #     Array, Chunk, Column, ColumnType, File, Frame, HostRead, HostValidity, HostValues,
//! #     Physical, Silent, Value, WriteOptions,
//! # };
//! use entasis_query::{Comparison, Literal, Predicate, Rules, Scan};
//!
//! # fn main() -> entasis::Result<()> {
//! # let path = std::env::temp_dir().join(format!("scan-{}.entasis", std::process::id()));
//! # let prices = [9.5f64, 12.25, 7.0];
//! # let bytes: &[u8] = bytemuck::cast_slice(&prices);
//! # // SAFETY: the prices live until the file is written.
//! # let memory = unsafe { HostRead::new(bytes.as_ptr(), bytes.len()) };
//! # let column = Column {
//! #     name: "price".to_owned(), run: None, column_type: ColumnType::plain(Physical::F64),
//! #     detail: None, host_detail: None, dictionary: None, children: Vec::new(),
//! #     array: Array::new(Chunk {
//! #         n: 3,
//! #         values: HostValues::Words { memory, stride: 8 },
//! #         validity: HostValidity::AllValid,
//! #     }),
//! # };
//! # let frame = Frame { n_rows: 3, columns: vec![column], extra: Vec::new(), host: Value::Null };
//! # entasis::write(&path, &frame, &WriteOptions::default(), &Silent)?;
//! // A table with the prices 9.5, 12.25 and 7.0.
//! let file = File::open(&path)?;
//! let is_cheap = Predicate::Compare {
//!     column: file.find("price")?,
//!     op: Comparison::Less,
//!     literal: Literal::Int(10),
//!     rules: Rules::default(),
//! };
//! let scan = Scan::new(&file, &is_cheap)?;
//! assert_eq!(scan.count(None, &Silent)?, 2);
//! assert_eq!(scan.row_numbers(None, &Silent)?, [0, 2]);
//! # std::fs::remove_file(&path).ok();
//! # Ok(())
//! # }
//! ```
#![forbid(unsafe_code)]

mod bind;
mod conjunction;
mod evaluate;
mod fields;
mod host_rules;
mod iso_time;
mod key_set;
mod like;
mod literal_keys;
mod mark_strings;
mod node;
mod ones;
mod predicate;
mod row_bits;
mod scan;
mod selection;
mod string_set;
mod test;
mod time_kind;
mod tokens;
mod where_clause;
mod wide_decimal;

pub use fields::field;
pub use host_rules::{NanIsNull, is_float, missing_rules};
pub use predicate::{Comparison, Literal, Match, NanRule, Predicate, Rules};
pub use row_bits::RowBits;
pub use scan::{Plan, Scan};
pub use time_kind::TimeKind;
pub use tokens::where_words;
pub use where_clause::parse_where;
