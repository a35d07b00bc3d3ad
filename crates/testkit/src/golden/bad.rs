//! Files that break one rule each, most of them under checksums that hold, and the error that each
//! must give.
//!
//! They are golden files with some bytes changed. `tests/golden-bad.csv` lists the changed bytes,
//! so that tests in Python and R build the same files.

use std::fmt::Write;

use entasis::Kind;

use crate::mutate::{Map, get};
use crate::naive::bytes::{u32_at, u64_at};

/// A bad file.
#[derive(Clone, Debug)]
pub struct Bad {
    /// The rule that it breaks.
    pub rule: &'static str,
    /// The golden file that it is made from, without the suffix.
    pub golden: &'static str,
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// The kind of the error.
    pub kind: Kind,
    /// A word of the message.
    pub word: &'static str,
}

impl Bad {
    /// The golden file that it is made from.
    ///
    /// # Panics
    /// When the file cannot be read.
    pub fn source(&self) -> Vec<u8> {
        golden_bytes(self.golden)
    }

    /// The change of the golden file: `cut:LEN`, or one `AT:HEX` for each run of changed bytes.
    fn edits(&self) -> String {
        let source = self.source();
        if self.bytes.len() < source.len() {
            return format!("cut:{}", self.bytes.len());
        }
        let mut edits = String::new();
        let mut end = 0;
        let pairs = source.iter().zip(&self.bytes).enumerate();
        for (at, (_, new)) in pairs.filter(|(_, (old, new))| old != new) {
            if edits.is_empty() || at > end {
                let separator = if edits.is_empty() { "" } else { " " };
                _ = write!(edits, "{separator}{at}:");
            }
            _ = write!(edits, "{new:02x}");
            end = at + 1;
        }
        edits
    }
}

/// The name of an error kind in `tests/golden-bad.csv` and in R's condition classes.
fn kind_name(kind: Kind) -> &'static str {
    match kind {
        Kind::NotEntasis => "not_entasis",
        Kind::Newer => "newer",
        Kind::Corrupt => "corrupt",
        Kind::Unsupported => "unsupported",
        _ => "other",
    }
}

/// The text of `tests/golden-bad.csv`: a line for each bad file.
pub fn csv(all: &[Bad]) -> String {
    let mut out = String::from("rule,golden,kind,edits\n");
    for bad in all {
        _ = writeln!(out, "{},{},{},{}", bad.rule, bad.golden, kind_name(bad.kind), bad.edits());
    }
    out
}

/// The bytes that `edits` of `tests/golden-bad.csv` make of a golden file.
///
/// # Panics
/// When the edits are not well-formed.
pub fn apply(source: &[u8], edits: &str) -> Vec<u8> {
    let mut bytes = source.to_vec();
    for edit in edits.split(' ') {
        let Some((at, change)) = edit.split_once(':') else { panic!("{edit}: no colon") };
        if at == "cut" {
            bytes.truncate(change.parse().unwrap_or_else(|error| panic!("{edit}: {error}")));
            continue;
        }
        let at: usize = at.parse().unwrap_or_else(|error| panic!("{edit}: {error}"));
        for i in 0..change.len() / 2 {
            let byte = u8::from_str_radix(&change[2 * i..2 * i + 2], 16);
            bytes[at + i] = byte.unwrap_or_else(|error| panic!("{edit}: {error}"));
        }
    }
    bytes
}

fn golden_bytes(name: &str) -> Vec<u8> {
    let path = super::folder().join(format!("{name}.entasis"));
    std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// A change of one field: (rule, golden file, field, number among fields of that name, value, kind,
/// word).
type Change = (&'static str, &'static str, &'static str, usize, u64, Kind, &'static str);

const FAR: u64 = 1 << 40;
const C: Kind = Kind::Corrupt;

/// Fields with values that break a rule.
const CHANGES: &[Change] = &[
    ("header-other-major", "constant", "header.major", 0, 1, C, "header"),
    ("header-other-minor", "constant", "header.minor", 0, 9, C, "header"),
    ("header-minor-of-old-files", "constant", "header.minor", 0, 2, C, "version"),
    ("header-older-minor", "constant", "header.minor", 0, 1, Kind::Unsupported, "0.1"),
    ("header-unknown-flag", "constant", "header.flags", 0, 8, Kind::Newer, "flag"),
    ("header-no-slot-pages", "constant", "header.flags", 0, 2, C, ""),
    ("header-reserved", "constant", "header.reserved", 0, 1, Kind::Unsupported, "reserved"),
    ("header-reserved-slot", "constant", "header.reserved2", 0, 1, C, "reserved"),
    ("slot-flag", "constant", "slot.flags", 0, 2, Kind::Newer, "flag"),
    ("slot-reserved", "constant", "slot.reserved", 0, 1, Kind::Unsupported, "reserved"),
    ("slot-generation-zero", "constant", "slot.generation", 0, 0, C, "generation"),
    ("slot-root-outside", "constant", "slot.root_at", 0, FAR, C, "root"),
    ("slot-root-in-header", "constant", "slot.root_at", 0, 64, C, "root"),
    ("slot-end-past-file", "constant", "slot.end", 0, FAR, C, "trailer"),
    ("root-generation", "constant", "root.generation", 0, 2, C, "generation"),
    ("root-n-sections", "constant", "root.n_sections", 0, 7, C, "root"),
    ("root-reserved", "constant", "root.reserved", 0, 1, Kind::Unsupported, "reserved"),
    ("root-reserved-words", "constant", "root.reserved2", 0, 1, Kind::Unsupported, "reserved"),
    ("root-readers-must-know", "constant", "root.readers", 0, 2, Kind::Newer, "0.3"),
    ("root-deleted-rows", "constant", "root.readers", 0, 1, Kind::Newer, "0.3"),
    ("root-version-without-words", "constant", "root.minor", 0, 2, C, "version"),
    ("root-edition", "constant", "root.edition", 0, 0, C, "edition"),
    ("root-footer-at", "constant", "root.footer_at", 0, FAR, C, "footer"),
    ("root-footer-in-header", "constant", "root.footer_at", 0, 255, C, "footer"),
    ("trailer-version", "constant", "trailer.minor", 0, 4, C, "trailer"),
    ("trailer-flags", "constant", "trailer.flags", 0, 1, C, "trailer"),
    ("root-value-node", "constant", "root.value_node", 0, 99, C, ""),
    ("trailer-differs", "constant", "trailer.generation", 0, 2, C, "trailer"),
    ("section-order", "constant", "section.kind", 1, 1, C, "section"),
    ("section-record-len", "constant", "section.record_len", 1, 104, C, "record"),
    ("section-record-len-long", "constant", "section.record_len", 1, 4097, C, "record"),
    ("section-n-records-huge", "constant", "section.n_records", 1, FAR, C, ""),
    ("section-n-records", "constant", "section.n_records", 1, 2, C, ""),
    ("section-height", "constant", "section.height", 1, 1, C, ""),
    ("section-outside", "constant", "section.part_at", 1, FAR, C, "outside"),
    ("section-codec", "constant", "section.codec", 1, 2, Kind::Unsupported, "codec"),
    ("section-filter", "constant", "section.filter", 1, 1, C, "shuffled"),
    ("section-stored-len", "constant", "section.stored_len", 1, 8, C, "stored length"),
    ("section-flags", "constant", "section.flags", 1, 16, Kind::Unsupported, "flags"),
    ("section-reserved-end", "constant", "section.reserved2", 1, 1, Kind::Unsupported, "reserved"),
    ("section-leaf-len", "compressed-leaves", "section.stored_len", 3, 999, C, "LZ4"),
    ("section-leaf-whole", "compressed-leaves", "section.stored_len", 3, 0, C, ""),
    ("section-leaf-codec", "compressed-leaves", "section.codec", 3, 0, C, ""),
    ("section-leaf-filter", "compressed-leaves", "section.filter", 3, 2, Kind::Unsupported, "filter"),
    ("index-part-stored-len", "compressed-leaves", "index.stored_len", 0, 65_521, C, "stored length"),
    ("index-part-stored-short", "compressed-leaves", "index.stored_len", 0, 100, C, "LZ4"),
    ("section-tier", "constant", "section.tier", 0, 1, C, "tier"),
    ("section-tier-of-blocks", "constant", "section.tier", 5, 24, C, "tier"),
    ("section-tier-gap", "constant", "section.tier", 5, 1, C, ""),
    ("index-part-outside", "index-parts", "index.part_at", 0, FAR, C, "outside"),
    ("table-first-column", "constant", "table.first_column", 0, 9, C, "columns"),
    ("table-n-rows", "constant", "table.n_rows", 0, 9, C, "rows"),
    ("table-host-node", "constant", "table.host_node", 0, 99, C, "node"),
    ("table-sort-order", "constant", "table.sort_order", 0, 99, C, "node"),
    ("table-n-slots", "name-index", "table.n_slots", 0, 3, C, "slots"),
    ("column-physical", "constant", "column.physical", 0, 99, Kind::Unsupported, "type"),
    ("column-physical-second", "delta", "column.physical", 1, 99, Kind::Unsupported, "type"),
    ("column-logical", "constant", "column.logical", 0, 99, Kind::Unsupported, "type"),
    ("column-unit", "logical-types", "column.unit", 0, 7, C, "date"),
    ("column-flags", "constant", "column.flags", 0, 64, Kind::Unsupported, "flags"),
    ("column-metadata", "constant", "column.metadata", 0, 99, C, "node"),
    ("column-host-detail", "constant", "column.host_detail", 0, 99, C, "node"),
    ("column-metadata-kind", "constant", "column.metadata", 0, 3, C, "metadata"),
    ("column-name-outside", "constant", "column.name_at", 0, FAR, C, ""),
    ("column-n-values", "constant", "column.n_values", 0, 9, C, "values"),
    ("column-dictionary", "categoricals", "column.dictionary", 0, 99, C, ""),
    ("column-storage", "bundles", "column.storage", 0, 0, C, ""),
    ("column-storage-outside", "bundles", "column.storage", 0, 999, C, ""),
    ("column-first-value", "bundles", "column.first_value", 0, FAR, C, "bundled"),
    ("column-detail", "logical-types", "column.detail", 0, 999, C, "node"),
    ("column-precision", "decimals", "column.precision", 1, 10, C, "decimal"),
    ("column-precision-huge", "decimals", "column.precision", 6, 39, C, "decimal"),
    ("column-value-len", "fixed-bytes", "column.value_len", 0, 262_145, C, "fixed bytes"),
    ("column-value-len-of-others", "constant", "column.value_len", 0, 8, C, "length"),
    ("column-value-len-differs", "fixed-bytes", "column.value_len", 0, 8, C, ""),
    ("column-precision-of-others", "constant", "column.precision", 0, 3, C, "precision"),
    ("column-scale-of-others", "constant", "column.scale", 0, 255, C, "precision"),
    ("column-uuid", "fixed-bytes", "column.logical", 0, 9, C, "uuid"),
    ("column-interval", "fixed-bytes", "column.logical", 0, 8, C, "interval"),
    ("column-id", "names", "column.id", 1, 0, C, "id"),
    ("column-n-missing-null", "physical-types", "column.n_missing", 0, 3, C, "missing"),
    ("column-null-of-values", "constant", "column.physical", 0, 0, C, "missing"),
    ("column-null-with-blocks", "validity-all-missing", "column.physical", 0, 0, C, "blocks"),
    ("bundle-overlap", "bundles", "column.first_value", 3, 0, C, "storage column"),
    ("bundle-type", "bundles", "column.missing", 3, 3, C, "type"),
    ("column-period", "fixed-bytes", "column.logical", 0, 7, C, "period"),
    ("column-json", "fixed-bytes", "column.logical", 0, 10, C, "JSON"),
    ("nested-child-before-parent", "nested", "column.first_child", 0, 0, C, "children"),
    ("nested-child-outside", "nested", "column.first_child", 0, FAR, C, "children"),
    ("nested-n-children", "nested", "column.n_children", 0, 2, C, "children"),
    ("nested-child-of-two", "nested", "column.first_child", 1, 21, C, ""),
    ("nested-value-len", "nested", "column.value_len", 3, 4, C, "values"),
    ("nested-union-missing", "nested", "column.n_missing", 9, 1, C, "missing"),
    ("nested-dense-is-sparse", "nested", "column.value_len", 9, 1, C, "values"),
    ("nested-map-of-no-struct", "nested", "column.physical", 0, 24, C, "map"),
    ("nested-map-entries-missing", "nested", "column.n_missing", 28, 1, C, "entries or keys"),
    ("nested-map-keys-missing", "nested", "column.n_missing", 29, 1, C, "entries or keys"),
    ("nested-logical", "nested", "column.logical", 0, 5, C, "categorical"),
    ("nested-first-child", "nested", "block.first_child", 0, 1, C, "child"),
    ("block-first-child", "constant", "block.first_child", 0, 1, C, "child"),
    ("name-position", "name-index", "name.position", 0, 77, C, "name"),
    ("runs-order", "column-runs", "run.first_column", 1, 0, C, "runs"),
    ("runs-first", "column-runs", "run.first_column", 0, 1, C, "runs"),
    ("runs-of-two-tables", "column-runs", "table.n_columns", 0, 4, C, "table"),
    ("runs-not-bundled", "column-runs", "run.first_column", 1, 2, C, ""),
    ("runs-more-than-names", "column-runs", "column.name_len", 1, 15, C, "names"),
    ("runs-huge", "column-runs", "run.first_column", 7, FAR, C, "runs"),
    ("runs-first-value", "column-runs", "column.first_value", 1, u64::MAX - 100, C, ""),
    ("range-column", "blocks", "range.column", 0, 9, C, ""),
    ("range-first-block", "blocks", "range.first_block", 0, 1, C, ""),
    ("range-n-blocks", "blocks", "range.n_blocks", 0, 1, C, ""),
    ("range-no-blocks", "blocks", "range.n_blocks", 0, 0, C, "range"),
    ("range-tier", "blocks", "range.tier", 0, 1, C, ""),
    ("range-overlap", "tiers", "range.tier", 1, 0, C, ""),
    ("slot-a-generation", "generations", "slot.generation", 1, 0, C, "generation"),
    ("slot-b-root", "generations", "slot.root_at", 2, 4096, C, "root"),
    ("table-reserved", "constant", "table.reserved", 0, 1, Kind::Unsupported, "reserved"),
    ("table-first-piece", "constant", "table.first_piece", 0, 1, C, "pieces"),
    ("piece-no-rows", "pieces", "piece.n_rows", 2, 0, C, "piece"),
    ("piece-rows", "pieces", "piece.n_rows", 2, 2, C, "pieces"),
    ("piece-rows-huge", "pieces", "piece.n_rows", 1, u64::MAX, C, "piece"),
    ("table-n-pieces", "pieces", "table.n_pieces", 0, 2, C, "pieces"),
    ("table-n-pieces-outside", "pieces", "table.n_pieces", 0, 4, C, "pieces"),
    ("table-n-pieces-too-many", "pieces", "table.n_pieces", 0, 65, C, "pieces"),
    ("table-first-piece-outside", "pieces", "table.first_piece", 0, FAR, C, "pieces"),
    ("table-metadata", "constant", "table.metadata", 0, 99, C, "node"),
    ("table-metadata-kind", "constant", "table.metadata", 0, 0, C, "metadata"),
    ("column-reserved", "constant", "column.reserved", 0, 1, Kind::Unsupported, "byte 71"),
    ("node-reserved", "values", "node.reserved", 0, 1, Kind::Unsupported, "reserved"),
    ("statistics-reserved", "delta", "statistics.reserved", 0, 1, Kind::Unsupported, "reserved"),
    ("range-reserved", "blocks", "range.reserved", 0, 1, Kind::Unsupported, "reserved"),
    ("block-first-value", "blocks", "block.first_value", 1, 1, C, "blocks"),
    ("block-n-values", "blocks", "block.n_values", 0, 0, C, "values"),
    ("block-packing-differs", "delta", "block.packing", 0, 2, C, "directory"),
    ("block-packing-unknown", "delta", "block.packing", 0, 77, Kind::Unsupported, "encoding"),
    ("block-directory-outside", "delta", "block.directory_at", 0, FAR, C, "outside"),
    ("block-pages-outside", "delta", "block.pages_at", 0, FAR, C, "outside"),
    ("block-empty-pages-outside", "constant", "block.pages_at", 0, FAR, C, "outside"),
    ("block-directory-len", "delta", "block.directory_len", 0, 41, C, "directory"),
    ("block-decoded-len", "delta", "block.decoded_len", 0, 7, C, ""),
    ("directory-width", "bit-packed", "directory.width", 0, 77, C, "width"),
    ("directory-width-of-delta", "delta", "directory.width", 0, 0, C, ""),
    ("directory-flags", "bit-packed", "directory.flags", 0, 64, Kind::Unsupported, "flag"),
    ("directory-unused", "bit-packed", "directory.e", 0, 1, C, ""),
    ("directory-alp-exponents", "alp", "directory.e", 0, 19, C, ""),
    ("directory-residual-bits", "alp-residual", "directory.f", 0, 13, C, ""),
    ("directory-n-dictionary", "dictionary-words", "directory.n_dictionary", 0, 3, C, "dictionary"),
    ("directory-n-pages", "blocks", "directory.n_pages", 0, 1, C, ""),
    ("page-n-values", "blocks", "page.n_values", 0, 8191, C, ""),
    ("page-stored-len", "blocks", "page.stored_len", 0, 2, C, ""),
    ("page-payload-len", "lz4", "page.payload_len", 0, 99_999, C, ""),
    ("page-payload-huge", "zstd", "page.payload_len", 0, 0xFFFF_FFFF, C, "payload"),
    ("page-decoded-len", "strings", "page.decoded_len", 0, 9, C, ""),
    ("statistics-n-missing", "validity-bits", "statistics.n_missing", 0, 1, C, "missing"),
    ("statistics-flags", "delta", "statistics.flags", 0, 0x8000, Kind::Unsupported, "statistics"),
    ("statistics-min", "delta", "statistics.min", 0, 500_000, C, "bounds"),
    ("statistics-max", "delta", "statistics.max", 0, 500_000, C, "bounds"),
    ("statistics-nan", "dictionary-floats", "statistics.flags", 0, 33, C, "contradict"),
    ("statistics-n-nan", "dictionary-floats", "statistics.n_nan", 0, 1, C, "NaN"),
    ("statistics-n-nan-none", "dictionary-floats", "statistics.n_nan", 0, 0, C, "contradict"),
    (
        "statistics-n-nan-uncounted",
        "dictionary-floats",
        "statistics.flags",
        0,
        17,
        Kind::Unsupported,
        "reserved",
    ),
    ("statistics-n-nan-of-integers", "delta", "statistics.flags", 0, 33, C, "type"),
    ("statistics-order", "delta", "statistics.flags", 1, 5, C, "order"),
    ("statistics-n-distinct", "dictionary-words", "statistics.n_distinct", 0, 6, C, "distinct"),
    ("node-kind", "values", "node.kind", 2, 99, Kind::Unsupported, "value"),
    ("node-child-before-parent", "values", "node.a", 1, 1, C, ""),
    ("node-key-hash", "values", "node.key_hash", 2, 1, C, ""),
];

/// All bad files, made from the golden files, which do not change when the writer does.
///
/// # Panics
/// When a golden file is missing, or a change changes nothing.
pub fn all() -> Vec<Bad> {
    let mut all = Vec::new();
    for &(rule, name, field, which, value, kind, word) in CHANGES {
        let file = golden_bytes(name);
        let map = Map::of(&file);
        let Some(field) = map.named(field).nth(which) else { panic!("{rule}: {name} has no {field}") };
        assert_ne!(get(&file, field), value, "{rule}: nothing is changed");
        all.push(Bad { rule, golden: name, bytes: map.changed(&file, field, value), kind, word });
    }
    for &(rule, name, repair, kind, word, edit) in EDITS {
        let mut bytes = golden_bytes(name);
        let map = Map::of(&bytes);
        let edits = edit(&bytes, &map);
        assert!(!edits.is_empty(), "{rule}: nothing is changed");
        for (at, byte) in edits {
            assert_ne!(bytes[at], byte, "{rule}: nothing is changed");
            bytes[at] = byte;
        }
        if repair {
            map.repair(&mut bytes);
        }
        all.push(Bad { rule, golden: name, bytes, kind, word });
    }
    for (rule, len) in [("truncated", 1500), ("truncated-header", 100)] {
        let bytes = golden_bytes("delta")[..len].to_vec();
        all.push(Bad { rule, golden: "delta", bytes, kind: C, word: "truncated" });
    }
    all
}

/// Offsets, and the bytes that are written there.
type Edits = Vec<(usize, u8)>;

/// A change of stored bytes: (rule, golden file, whether checksums are repaired, kind, word, the
/// changed bytes).
type Edit = (&'static str, &'static str, bool, Kind, &'static str, fn(&[u8], &Map) -> Edits);

const EDITS: &[Edit] = &[
    ("magic", "constant", false, Kind::NotEntasis, "Entasis", |_, _| vec![(0, b'X')]),
    ("header-checksum", "constant", false, C, "checksum", |_, _| vec![(24, 1)]),
    ("slot-checksum", "constant", false, C, "slot", |_, _| vec![(64, 7)]),
    ("slot-torn", "generations", false, C, "slot", |_, _| vec![(4096, 9)]),
    ("slot-page", "generations", false, C, "padding", |_, _| vec![(5000, 1)]),
    ("section-checksum", "constant", false, C, "checksum", |_, map| vec![(map.footer_at, 7)]),
    ("page-checksum", "delta", false, C, "checksum", |file, map| vec![(first(file, map), 7)]),
    ("padding", "raw", false, C, "padding", |file, map| vec![(end(file, map.blocks[0]) + 1, 1)]),
    ("utf8", "strings", true, C, "UTF-8", |file, map| vec![(end(file, map.blocks[0]) - 1, 0xFF)]),
    ("run-ends", "run-length", true, C, "run", |file, map| fill(first(file, map) + 2, 2)),
    ("validity-kind", "validity-bits", true, Kind::Unsupported, "validity", |file, map| {
        vec![(first(file, map), 9)]
    }),
    ("validity-count", "validity-sparse", true, C, "validity", |file, map| vec![(first(file, map) + 1, 0)]),
    ("patch-position", "patches", true, C, "patch", patch_position),
    ("category", "categoricals", true, C, "categor", |file, map| bases(file, map, 9)),
    ("name-slot", "name-index", true, C, "name index", |file, map| {
        // A slot that no name search visits must be empty.
        let empty = map.named("name.position").find(|field| get(file, field) == u64::MAX);
        empty.map_or(Vec::new(), |field| fill_with(field.at, 8, 0))
    }),
    ("node-column", "values", true, C, "column", |file, map| node(file, map, 9, 37)),
    ("node-table", "values", true, C, "table", |file, map| node(file, map, 10, 37)),
    ("node-key-twice", "values", true, C, "twice", |file, map| {
        let keys: Vec<_> = map.named("node.key_hash").collect();
        let of_one_map = keys.windows(2).find(|pair| pair.iter().all(|field| get(file, field) > 0));
        let (from, to) = of_one_map.map_or((0, 0), |pair| (pair[0].at - 16, pair[1].at - 16));
        (0..24).map(|i| (to + i, file[from + i])).filter(|&(at, byte)| file[at] != byte).collect()
    }),
    ("piece-without-block", "pieces", true, C, "block", |_, map| {
        // A piece has 23 instead of 24 rows, and the next one 17 instead of 16.
        map.named("piece.n_rows").zip([23, 17]).map(|(field, n)| (field.at, n)).collect()
    }),
    ("piece-member", "pieces", true, C, "pieces", |file, map| {
        let member = map.named("column.first_value").find(|field| get(file, field) > 0);
        member.map_or(Vec::new(), |field| vec![(field.at, file[field.at] ^ 1)])
    }),
    ("root-value-integer", "values", true, Kind::Unsupported, "neither", |file, map| {
        let number = map.named("node.kind").position(|field| get(file, field) == 3).map_or(0, |n| n as u8);
        map.named("root.value_node").map(|field| (field.at, number)).collect()
    }),
    ("unused-bits", "lanes", true, C, "unused bits", |file, map| {
        // The last vector has 52 values of 3 bits.
        let at = end(file, map.blocks[0]) - 1;
        vec![(at, file[at] | 0x80)]
    }),
    ("string-start", "strings", true, C, "start", |file, map| vec![(first(file, map), 1)]),
    ("dictionary-code", "dictionary-one", true, C, "dictionary", |file, map| bases(file, map, 9)),
    ("lz4", "lz4", true, C, "codec", |file, map| fill(first(file, map), 9)),
    ("zstd", "zstd", true, C, "codec", |file, map| fill(first(file, map), 9)),
    ("name-utf8", "constant", true, C, "UTF-8", |file, map| {
        let names = map.named("section.kind").position(|field| get(file, field) == 3);
        let at = names.and_then(|names| map.named("section.part_at").nth(names));
        at.map_or(Vec::new(), |field| vec![(get(file, field) as usize, 0xFF)])
    }),
];

/// The offset of the first block's pages.
fn first(file: &[u8], map: &Map) -> usize {
    u64_at(file, map.blocks[0] + 24) as usize
}

/// The offset of the end of a block's pages.
fn end(file: &[u8], block: usize) -> usize {
    u64_at(file, block + 24) as usize + u32_at(file, block + 36) as usize
}

fn fill(at: usize, n: usize) -> Edits {
    fill_with(at, n, 0xFF)
}

fn fill_with(at: usize, n: usize, byte: u8) -> Edits {
    (at..at + n).map(|at| (at, byte)).collect()
}

/// Lets the last node of a kind name another column or table.
fn node(file: &[u8], map: &Map, kind: u64, number: u8) -> Edits {
    let last = map.named("node.kind").filter(|field| get(file, field) == kind).last();
    last.map_or(Vec::new(), |field| vec![(field.at + 8, number)])
}

fn bases(_: &[u8], map: &Map, value: u8) -> Edits {
    map.named("directory.base").map(|field| (field.at, value)).collect()
}

/// Sets position 1 of the first page's patches to 0, so that positions do not ascend.
fn patch_position(file: &[u8], map: &Map) -> Edits {
    // The block ends with the positions (u16) of eleven patches and their values (u32).
    let positions = end(file, map.blocks[0]) - 11 * 6;
    vec![(positions + 2, 0), (positions + 3, 0x80)]
}
