//! Rules that a reader need not notice (V), and rules that bind writers alone (W).

use std::collections::BTreeSet;

use super::bytes::{Room, Wrong, checksum, is_zero, known, maybe_at, rule, u64_at};
use super::column::Column;
use super::file::Decoded;
use super::header::{SLOT_PAGES_END, SLOTS, Slot, State, trailer};
use super::records::{BlockRange, BlockRecord, Statistics};
use super::section::kind;
use super::types::{self, Type, is_var, physical, width};
use super::value::Tree;

/// Checks a decoded file.
///
/// # Errors
/// *Corrupt*.
pub fn check(file: &[u8], decoded: &Decoded) -> Result<(), Wrong> {
    slots(file, decoded)?;
    state(file, decoded)
}

/// Checks a generation of a file, without the slots.
///
/// # Errors
/// *Corrupt*.
pub fn state(file: &[u8], decoded: &Decoded) -> Result<(), Wrong> {
    let room = decoded.header.room(file);
    trailer_repeats_slot(room, decoded)?;
    program(decoded)?;
    let ids: BTreeSet<u64> = decoded.columns.iter().map(|column| column.record.id).collect();
    rule(ids.len() == decoded.columns.len(), "two columns have one id")?;
    for table in 0..decoded.tables.len() {
        names(decoded, table)?;
        sort_order(decoded, table)?;
    }
    tables(decoded)?;
    trees(decoded).try_for_each(distinct_keys)?;
    metadata(decoded)?;
    if decoded.root.version != (0, 2) {
        decoded.columns.iter().try_for_each(detail)?;
    }
    blocks(decoded)?;
    bundles(decoded)?;
    pieces(decoded)?;
    for column in &decoded.columns {
        let mut at = 0;
        for (block, statistics) in column.blocks.iter().zip(&column.statistics) {
            let n = block.n_values as usize;
            statistics_hold(statistics, &types::structure(&column.record.of), &column.cells[at..at + n])?;
            at += n;
        }
    }
    padding(room, decoded)
}

/// The slots and their pages.
fn slots(file: &[u8], decoded: &Decoded) -> Result<(), Wrong> {
    let header = &decoded.header;
    rule(!header.slots.contains(&State::Damaged), "a damaged slot")?;
    let may_be_empty = header.is_streamed || header.slots[0] != State::Empty;
    rule(may_be_empty, "the first slot is empty in streamed files alone")?;
    rule(!header.is_passed_over, "a slot without its generation")?;
    if header.has_slot_pages {
        let is_rest_zero =
            is_zero(&file[SLOTS[1] + 64..SLOTS[2]]) && is_zero(&file[SLOTS[2] + 64..SLOT_PAGES_END]);
        rule(is_rest_zero, "the rest of a slot page is zero")?;
    }
    let is_at_end = file.len() as u64 == header.current.end;
    rule(is_at_end || header.has_slot_pages, "bytes past the end")
}

fn trailer_repeats_slot(room: Room<'_>, decoded: &Decoded) -> Result<(), Wrong> {
    let slot = decoded.header.current;
    let (copy, of_header) = trailer(&room.file[room.file.len() - 64..], room.start)?;
    rule(copy == Slot { not_synced: false, ..slot }, "the trailer repeats the slot")?;
    let (header, is_old) = (&decoded.header, decoded.root.version == (0, 2));
    let expected = if is_old { ((0, 0), 0) } else { (header.version, header.flags) };
    rule(of_header == expected, "the trailer repeats the header")?;
    rule(is_old == (header.version == (0, 2)), "the root has the version of the header")
}

/// The program that wrote (W).
fn program(decoded: &Decoded) -> Result<(), Wrong> {
    let program = &decoded.root.program;
    let len = program.iter().position(|&byte| byte == 0).unwrap_or(program.len());
    let is_text = std::str::from_utf8(&program[..len]).is_ok() && is_zero(&program[len..]);
    rule(is_text, "the program that wrote is UTF-8, then zeros")
}

/// Tiers are numbered without a gap and have statistics for each block. No block belongs to two
/// columns.
fn blocks(decoded: &Decoded) -> Result<(), Wrong> {
    for of in [kind::BLOCKS, kind::STATISTICS] {
        let sections = decoded.root.sections.iter().filter(|section| section.kind == of);
        let has_gap = (0..).zip(sections).any(|(tier, section)| section.tier != tier);
        rule(!has_gap, "tiers are numbered without a gap")?;
    }
    let of_blocks = &decoded.of_blocks;
    for (blocks, statistics) in &of_blocks.tiers {
        rule(blocks.len() / 64 == statistics.len() / 48, "one statistics record per block")?;
    }
    let n_blocks: usize = of_blocks.tiers.iter().map(|(blocks, _)| blocks.len() / 64).sum();
    let live = || decoded.columns.iter().flat_map(|column| &column.ranges);
    let n_named: u64 = live().map(|range| u64::from(range.n_blocks)).sum();
    let may_be_dead = decoded.root.previous.is_some();
    let n_live = live().count();
    rule(may_be_dead || n_live == of_blocks.ranges.len(), "a dead range in a file of one generation")?;
    if decoded.root.version == (0, 2) {
        rule(n_live == of_blocks.ranges.len(), "a range of a column that is not there")?;
        let is_before = |pair: &[BlockRange]| (pair[0].column, pair[0].tier) < (pair[1].column, pair[1].tier);
        rule(of_blocks.ranges.windows(2).all(is_before), "the ranges of a column ascend by tier")?;
    }
    rule(may_be_dead || n_named == n_blocks as u64, "a block without a column in a file of one generation")?;
    let mut ranges: Vec<(u16, u64, u32)> =
        live().map(|range| (range.tier, range.first, range.n_blocks)).collect();
    ranges.sort_unstable();
    let is_apart = |pair: &[(u16, u64, u32)]| {
        pair[0].0 != pair[1].0 || pair[0].1.saturating_add(u64::from(pair[0].2)) <= pair[1].1
    };
    rule(ranges.windows(2).all(is_apart), "two ranges overlap")
}

/// No column belongs to two tables.
fn tables(decoded: &Decoded) -> Result<(), Wrong> {
    let all = decoded.tables.iter().flat_map(|table| &table.columns).filter(|range| !range.is_empty());
    let mut ranges: Vec<(u64, u64)> = all.map(|range| (range.start, range.end)).collect();
    ranges.sort_unstable();
    rule(ranges.windows(2).all(|pair| pair[0].1 <= pair[1].0), "a column belongs to two tables")
}

/// The value of a string key.
fn get<'a>(map: &'a [(Tree, Tree)], key: &str) -> Option<&'a Tree> {
    map.iter().find(|(name, _)| *name == Tree::Str(key.into())).map(|(_, value)| value)
}

/// All values of the file but those of cells.
fn trees(decoded: &Decoded) -> impl Iterator<Item = &Tree> {
    let of_tables = decoded.tables.iter().flat_map(|table| [&table.host, &table.sort_order, &table.metadata]);
    let of_columns = decoded.columns.iter();
    let of_columns = of_columns.flat_map(|column| [&column.detail, &column.host_detail, &column.metadata]);
    std::iter::once(&decoded.value).chain(of_tables).chain(of_columns.flatten())
}

/// No map has a string key twice.
fn distinct_keys(tree: &Tree) -> Result<(), Wrong> {
    match tree {
        Tree::List(items) => items.iter().try_for_each(distinct_keys),
        Tree::Map(pairs) => {
            let texts: Vec<&Tree> =
                pairs.iter().map(|(key, _)| key).filter(|key| matches!(key, Tree::Str(_))).collect();
            let is_repeated = |(i, key): (usize, &&Tree)| texts[..i].contains(key);
            rule(!texts.iter().enumerate().any(is_repeated), "a map has a key twice")?;
            pairs.iter().try_for_each(|(key, value)| distinct_keys(key).and(distinct_keys(value)))
        }
        _ => Ok(()),
    }
}

/// The sort order is a list of columns of the table (W).
fn sort_order(decoded: &Decoded, table: usize) -> Result<(), Wrong> {
    let record = decoded.tables[table].record;
    let columns = &decoded.tables[table].columns;
    let is_column = |column: &u64| columns.iter().any(|range| range.contains(column));
    let is_key = |key: &Tree| match key {
        Tree::Map(map) => {
            let is_own = matches!(get(map, "column"), Some(Tree::Column(column)) if is_column(column));
            let is_bool = |name: &str| matches!(get(map, name), Some(Tree::Bool(_)));
            is_own && is_bool("descending") && is_bool("missing_first")
        }
        _ => false,
    };
    let is_sound = match &decoded.tables[table].sort_order {
        Tree::List(keys) => keys.iter().all(is_key),
        order => record.sort_order.is_none() && *order == Tree::Null,
    };
    rule(is_sound, "the sort order of a table")
}

/// The detail of a column has the form that its type gives.
fn detail(column: &Column) -> Result<(), Wrong> {
    let Some(detail) = &column.detail else { return Ok(()) };
    let of = &column.record.of;
    let map = if let Tree::Map(map) = detail { Some(map) } else { None };
    let is_union = of.physical == physical::UNION;
    let n_types = column.record.n_children as usize - usize::from(types::has_child_offsets(of));
    let is_code = |code: &Tree| matches!(code, Tree::Int(_) | Tree::UInt(_));
    let has_codes = map.is_some_and(|map| match get(map, "codes") {
        None => true,
        Some(Tree::List(codes)) => codes.len() == n_types && codes.iter().all(is_code),
        Some(_) => false,
    });
    let fits = match of.logical {
        0 => is_union && has_codes,
        3 | 7 => matches!(detail, Tree::Str(_)),
        9..=11 => map.is_some_and(|map| {
            let is_named = matches!(get(map, "name"), Some(Tree::Str(_)));
            let has_metadata = matches!(get(map, "metadata"), None | Some(Tree::Bytes(_)));
            is_named && has_metadata && (has_codes || !is_union)
        }),
        12 => matches!(detail, Tree::Cell(_)),
        _ => false,
    };
    rule(fits, "the detail of a column fits its type")
}

/// Comment and unit of a column are strings (W).
fn metadata(decoded: &Decoded) -> Result<(), Wrong> {
    let maps = decoded.columns.iter().filter_map(|column| match &column.metadata {
        Some(Tree::Map(map)) => Some(map),
        _ => None,
    });
    let is_text = |value: Option<&Tree>| matches!(value, None | Some(Tree::Str(_)));
    let mut maps = maps;
    let is_sound = maps.all(|map| is_text(get(map, "comment")) && is_text(get(map, "unit")));
    rule(is_sound, "comment and unit of a column are strings")
}

/// The members of each storage column cover it, without gap or overlap.
fn bundles(decoded: &Decoded) -> Result<(), Wrong> {
    for (number, storage) in decoded.columns.iter().enumerate().filter(|(_, column)| column.record.is_bundle)
    {
        let of_this = |column: &&Column| column.record.storage == Some(number as u64);
        let members = decoded.columns.iter().filter(of_this);
        let mut ranges: Vec<(u64, u64)> =
            members.map(|member| (member.record.first_value, member.record.n_values)).collect();
        ranges.sort_unstable();
        let mut next = 0;
        for (first, n) in ranges {
            rule(first == next, "the members of a bundle follow one another")?;
            next += n;
        }
        rule(next == storage.record.n_values, "the members of a bundle cover it")?;
    }
    Ok(())
}

/// A bundle begins each piece with a block, and has members of one table alone if that has pieces.
fn pieces(decoded: &Decoded) -> Result<(), Wrong> {
    for (number, table) in decoded.tables.iter().enumerate().filter(|(_, table)| table.pieces.len() > 1) {
        let own = decoded.columns_of(number).into_iter();
        let storages: BTreeSet<u64> = own.filter_map(|column| column.record.storage).collect();
        let is_of =
            |column: &Column| column.record.storage.is_some_and(|storage| storages.contains(&storage));
        let n_all = decoded.columns.iter().filter(|column| is_of(column)).count();
        let n_own = decoded.columns_of(number).into_iter().filter(|column| is_of(column)).count();
        rule(n_all == n_own, "the members of a bundle in pieces are of one table")?;
        for storage in storages {
            let storage = &decoded.columns[storage as usize];
            let k = storage.record.n_values / table.record.n_rows;
            let mut begin = 0;
            for n in &table.pieces {
                let begins = storage.blocks.iter().any(|block| block.first_value == begin * k);
                rule(begins, "a piece begins with a block")?;
                begin += n;
            }
        }
    }
    Ok(())
}

/// No ranges overlap. The bytes between ranges are zero or belong to earlier generations.
fn padding(room: Room<'_>, decoded: &Decoded) -> Result<(), Wrong> {
    let slot = decoded.header.current;
    let mut spans = vec![(0, 256), (slot.root_at, u64::from(slot.root_len)), (slot.end - 64, 64)];
    if decoded.header.has_slot_pages {
        spans.extend(SLOTS[1..].iter().map(|&at| (at as u64, 64)));
    }
    spans.extend(&decoded.parts);
    for block in decoded.columns.iter().flat_map(|column: &Column| &column.blocks) {
        spans.extend(spans_of(block));
    }
    spans.retain(|span| span.1 > 0);
    spans.sort_unstable();
    let earlier = match decoded.root.previous {
        None => room.start..room.start,
        Some(root) => room.start..root.at + u64::from(root.len) + 64,
    };
    let mut end = 0;
    for (at, len) in spans {
        rule(at >= end, "two parts of the file overlap")?;
        for gap in [end..at.min(earlier.start), end.max(earlier.end)..at] {
            // Bytes of the room may be those of sections that this decoder does not know.
            let may_be_unknown = !decoded.unknown.is_empty() && gap.start >= room.start;
            let is_padding =
                may_be_unknown || gap.is_empty() || is_zero(&room.file[gap.start as usize..gap.end as usize]);
            rule(is_padding, "padding is zero")?;
        }
        end = at + len;
    }
    Ok(())
}

fn spans_of(block: &BlockRecord) -> [(u64, u64); 2] {
    [(block.pages_at, u64::from(block.pages_len)), (block.directory_at, u64::from(block.directory_len))]
}

/// The name index has one slot for each column, and the search for a name meets its columns in
/// order.
fn names(decoded: &Decoded, table: usize) -> Result<(), Wrong> {
    let record = decoded.tables[table].record;
    let columns = decoded.columns_of(table);
    if record.n_slots == 0 {
        return Ok(());
    }
    let mut n_occupied = 0;
    for slot in record.first_slot..record.first_slot + record.n_slots {
        let at = slot as usize * 16;
        let hash = u64_at(&decoded.name_index, at);
        let Some(position) = maybe_at(&decoded.name_index, at + 8) else {
            rule(hash == 0, "the hash of an empty slot is 0")?;
            continue;
        };
        rule(position < record.n_columns, "the position of a name")?;
        let name = columns[position as usize].name.as_bytes();
        rule(hash == checksum(name), "the hash of a name")?;
        n_occupied += 1;
    }
    rule(n_occupied == columns.len(), "the name index has one slot for each column")?;
    for (position, column) in columns.iter().enumerate() {
        let hash = checksum(column.name.as_bytes());
        let mut found = Vec::new();
        for probe in 0..record.n_slots {
            let slot = record.first_slot + hash.wrapping_add(probe) % record.n_slots;
            let at = slot as usize * 16;
            let Some(there) = maybe_at(&decoded.name_index, at + 8) else {
                break;
            };
            let is_hit = u64_at(&decoded.name_index, at) == hash;
            if is_hit && columns[there as usize].name == column.name {
                found.push(there as usize);
            }
        }
        let expected = columns.iter().enumerate().filter(|(_, other)| other.name == column.name);
        let expected: Vec<usize> = expected.map(|(i, _)| i).collect();
        rule(found == expected && found.contains(&position), "a name is in the name index")?;
    }
    Ok(())
}

/// Compares statistics with the values of the block.
fn statistics_hold(of: &Statistics, kind: &Type, cells: &[Option<Vec<u8>>]) -> Result<(), Wrong> {
    let of_type = kind;
    let kind = kind.physical;
    let n_missing = cells.iter().filter(|cell| cell.is_none()).count();
    rule(n_missing == of.n_missing as usize, "n_missing of statistics")?;
    let distinct: BTreeSet<&Vec<u8>> = cells.iter().flatten().collect();
    rule(of.n_distinct == 0 || of.n_distinct as usize == distinct.len(), "n_distinct of statistics")?;
    let n_nan = cells.iter().flatten().filter(|cell| is_nan(kind, cell)).count();
    let has_nan = n_nan > 0;
    if kind == physical::F32 || kind == physical::F64 {
        rule(has_nan == (of.flags & 16 != 0), "statistics say whether there is a NaN")?;
        rule(of.flags & 32 == 0 || n_nan == of.n_nan as usize, "n_nan of statistics")?;
    } else {
        rule(of.flags & 32 == 0, "NaN are counted for f32 and f64")?;
    }
    let is_wide = kind == physical::I128 || kind == physical::U128;
    let is_integer = (physical::BOOL..=physical::U64).contains(&kind) || is_wide;
    let has_order = is_integer || is_var(kind) || kind == physical::F32 || kind == physical::F64;
    known(has_order || of.flags & 1 == 0, "a type without an order has no bounds")?;
    rule(has_order || of.flags & 28 == 0, "a type without an order is not sorted")?;
    if of.flags & 1 != 0 {
        bounds(of, of_type, cells)?;
    }
    if of.flags & 12 != 0 {
        rule(n_missing == 0 && !has_nan, "ascending and descending are for values that are all there")?;
        let values: Vec<&Vec<u8>> = cells.iter().flatten().collect();
        let is = |up: bool| {
            values.windows(2).all(|pair| {
                let order = compare(kind, pair[0], pair[1]);
                if up { order.is_le() } else { order.is_ge() }
            })
        };
        rule(of.flags & 4 == 0 || is(true), "statistics say ascending")?;
        rule(of.flags & 8 == 0 || is(false), "statistics say descending")?;
    }
    Ok(())
}

fn bounds(of: &Statistics, kind: &Type, cells: &[Option<Vec<u8>>]) -> Result<(), Wrong> {
    let of_type = kind;
    let kind = kind.physical;
    if is_var(kind) {
        rule(of.min[0] <= 15 && of.max[0] <= 15, "the length of a minimum or maximum")?;
    }
    if kind == physical::BOOL {
        rule(of.min[0] <= 1 && of.max[0] <= 1, "the minimum or maximum of booleans")?;
    }
    let bound = |bytes: &[u8; 16]| match width(of_type) {
        Some(width) => bytes[..width].to_vec(),
        None if kind == physical::BOOL => bytes[..1].to_vec(),
        None => bytes[1..1 + bytes[0] as usize].to_vec(),
    };
    let (min, max) = (bound(&of.min), bound(&of.max));
    for (bytes, len) in [(&of.min, min.len()), (&of.max, max.len())] {
        let from = if is_var(kind) { len + 1 } else { len };
        rule(is_zero(&bytes[from..]), "zeros after a minimum or maximum")?;
    }
    for cell in cells.iter().flatten().filter(|cell| !is_nan(kind, cell)) {
        rule(compare(kind, &min, cell).is_le(), "the minimum")?;
        let above = of.flags & 2 != 0 && cell.starts_with(&max);
        rule(above || compare(kind, cell, &max).is_le(), "the maximum")?;
    }
    Ok(())
}

fn f(bytes: &[u8]) -> f64 {
    let mut wide = [0; 8];
    wide[..bytes.len()].copy_from_slice(bytes);
    if bytes.len() == 8 {
        f64::from_le_bytes(wide)
    } else {
        f64::from(f32::from_bits(u64::from_le_bytes(wide) as u32))
    }
}

fn is_nan(kind: u8, cell: &[u8]) -> bool {
    (kind == physical::F32 || kind == physical::F64) && f(cell).is_nan()
}

/// The order of two values that are not NaN.
fn compare(kind: u8, a: &[u8], b: &[u8]) -> std::cmp::Ordering {
    match kind {
        _ if is_var(kind) => a.cmp(b),
        physical::F32 | physical::F64 => f(a).partial_cmp(&f(b)).unwrap_or(std::cmp::Ordering::Less),
        // Bytes of any number: as one number without sign.
        _ if a.len() > 16 || kind == physical::U128 => a.iter().rev().cmp(b.iter().rev()),
        _ => {
            let signed = (2..=5).contains(&kind) || kind == physical::I128;
            let number = |bytes: &[u8]| {
                let fill = if signed && bytes.last().is_some_and(|&byte| byte >= 128) { 0xFF } else { 0 };
                let mut wide = [fill; 16];
                wide[..bytes.len()].copy_from_slice(bytes);
                i128::from_le_bytes(wide)
            };
            number(a).cmp(&number(b))
        }
    }
}
