//! Facts about a file that a manifest has: its state, and bounds of its columns.

use entasis::{
    ColumnInfo, ColumnType, Error, File, Logical, MissingTo, Output, Physical, Request, Result, Rows, Silent,
    Text, TextLayout, Value, type_name,
};

/// Bounds of a column of a file.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Bounds {
    /// The number of missing values.
    pub n_missing: Option<u64>,
    /// Whether a value is NaN.
    pub has_nan: Option<bool>,
    /// The least value, or a lower bound.
    pub low: Option<Bound>,
    /// The greatest value.
    pub high: Option<Bound>,
}

/// A value that bounds others.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Bound {
    /// The bytes of a word.
    Word(Vec<u8>),
    Text(String),
}

/// A column of a table.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ColumnOf {
    pub name: String,
    /// The name of its type.
    pub kind: String,
    pub column_type: ColumnType,
    pub detail: Option<Value>,
}

/// A file of a table.
#[derive(Clone, Debug)]
pub(crate) struct Facts {
    /// The path below the folder, with `/`.
    pub path: String,
    pub length: u64,
    pub end: Vec<u8>,
    pub generation: u64,
    pub n_rows: u64,
    /// The texts of the keys; `None` is missing.
    pub texts: Vec<Option<String>>,
    pub columns: Vec<ColumnOf>,
    /// The bounds of the columns.
    pub bounds: Vec<Bounds>,
}

/// Whether a manifest has bounds of columns of a type.
pub(crate) fn is_bounded(column: &ColumnOf) -> bool {
    let of = &column.column_type;
    match of.logical {
        Logical::Plain => matches!(
            of.physical,
            Physical::I8
                | Physical::I16
                | Physical::I32
                | Physical::I64
                | Physical::U8
                | Physical::U16
                | Physical::U32
                | Physical::F32
                | Physical::F64
                | Physical::Utf8
        ),
        Logical::Date => of.physical == Physical::I32,
        Logical::Timestamp => of.physical == Physical::I64,
        _ => false,
    }
}

/// The facts of a file of a table.
///
/// # Errors
/// *Argument* if the file holds no table; otherwise as for reading.
pub(crate) fn of(file: &File, path: &str, texts: Vec<Option<String>>) -> Result<Facts> {
    if !file.is_table() {
        return Err(Error::argument("the file holds no table").in_file(file.path()));
    }
    let (at, end) = file.fingerprint();
    let mut facts = Facts {
        path: path.to_owned(),
        length: at.saturating_add(end.len() as u64),
        end,
        generation: file.generation(),
        n_rows: file.n_rows(),
        texts,
        columns: Vec::new(),
        bounds: Vec::new(),
    };
    for info in file.columns(0..file.n_columns())? {
        let column = ColumnOf {
            kind: type_name(&info.record.column_type, info.detail.as_ref()),
            column_type: info.record.column_type,
            detail: info.detail.clone(),
            name: info.name.clone(),
        };
        facts.bounds.push(if is_bounded(&column) { bounds(file, &info)? } else { Bounds::default() });
        facts.columns.push(column);
    }
    Ok(facts)
}

/// The bounds of a column.
fn bounds(file: &File, info: &ColumnInfo) -> Result<Bounds> {
    let n_missing = Some(info.record.n_missing);
    if info.record.is_bundled {
        return bounds_of_values(file, info);
    }
    let (blocks, statistics) = (file.blocks(info.index)?, file.statistics(info.index)?);
    let mut found = Bounds { n_missing, has_nan: Some(false), low: None, high: None };
    let physical = info.record.column_type.physical;
    let (mut is_low, mut is_high) = (true, true);
    for (block, of) in blocks.iter().zip(&statistics) {
        found.has_nan = Some(found.has_nan == Some(true) || of.has_nan);
        if !of.has_min_max {
            // A block whose values are all missing, or NaN, has none to bound.
            let n_nan = of.n_nan.unwrap_or_default();
            if of.n_missing.checked_add(n_nan) != Some(block.n_values) {
                (is_low, is_high) = (false, false);
            }
            continue;
        }
        let (low, high) = (bound(physical, &of.min), bound(physical, &of.max));
        is_high &= !of.is_prefix;
        if found.low.as_ref().is_none_or(|known| is_less(physical, &low, known)) {
            found.low = Some(low);
        }
        if found.high.as_ref().is_none_or(|known| is_less(physical, known, &high)) {
            found.high = Some(high);
        }
    }
    found.low = found.low.filter(|_| is_low);
    found.high = found.high.filter(|_| is_high);
    Ok(found)
}

/// The bounds of a short column. It shares blocks with others, and statistics are those of all.
fn bounds_of_values(file: &File, info: &ColumnInfo) -> Result<Bounds> {
    let ColumnType { physical, .. } = info.record.column_type;
    let n = usize::try_from(info.record.n_values).unwrap_or(usize::MAX);
    let mut mask: Vec<u8> = zeros(n)?;
    let mut found =
        Bounds { n_missing: Some(info.record.n_missing), has_nan: Some(false), ..Bounds::default() };
    let mut add = |value: Bound| {
        if is_nan(physical, &value) {
            found.has_nan = Some(true);
            return;
        }
        if found.low.as_ref().is_none_or(|low| is_less(physical, &value, low)) {
            found.low = Some(value.clone());
        }
        if found.high.as_ref().is_none_or(|high| is_less(physical, high, &value)) {
            found.high = Some(value);
        }
    };
    let read = |output, mask| {
        let request = Request { column: info.index, rows: Rows::All, output, missing: MissingTo::Mask(mask) };
        file.read(vec![request], Some(1), &Silent)
    };
    if physical == Physical::Utf8 {
        let mut text = Text::new(TextLayout::Large);
        read(Output::Text(&mut text), &mut mask)?;
        for (i, _) in mask.iter().enumerate().filter(|(_, is_missing)| **is_missing == 0) {
            let value = text.get(i).and_then(|bytes| std::str::from_utf8(bytes).ok());
            add(Bound::Text(value.unwrap_or_default().to_owned()));
        }
    } else if let Some(width) = physical.width() {
        let mut words: Vec<u64> = zeros(n.saturating_mul(width).div_ceil(8))?;
        let bytes: &mut [u8] = &mut bytemuck::cast_slice_mut(&mut words)[..n * width];
        read(Output::Words(bytes), &mut mask)?;
        for (word, _) in bytes.chunks_exact(width).zip(&mask).filter(|(_, is_missing)| **is_missing == 0) {
            add(Bound::Word(word.to_vec()));
        }
    }
    Ok(found)
}

fn zeros<T: bytemuck::Zeroable>(n: usize) -> Result<Vec<T>> {
    let refused = |()| Error::out_of_memory(n.saturating_mul(size_of::<T>()), "the bounds of columns");
    bytemuck::allocation::try_zeroed_vec(n).map_err(refused)
}

fn is_nan(physical: Physical, value: &Bound) -> bool {
    matches!((physical, value), (Physical::F32 | Physical::F64, Bound::Word(word)) if float(word).is_nan())
}

/// A bound of a block.
fn bound(physical: Physical, stored: &[u8; 16]) -> Bound {
    if physical == Physical::Utf8 {
        let len = usize::from(stored[0]).min(15);
        let bytes = &stored[1..=len];
        // A character that was cut is left out, which makes a lower bound only less.
        let valid = match std::str::from_utf8(bytes) {
            Ok(text) => text,
            Err(error) => std::str::from_utf8(&bytes[..error.valid_up_to()]).unwrap_or_default(),
        };
        return Bound::Text(valid.to_owned());
    }
    Bound::Word(stored[..physical.width().unwrap_or(8)].to_vec())
}

fn is_less(physical: Physical, a: &Bound, b: &Bound) -> bool {
    match (a, b) {
        (Bound::Text(a), Bound::Text(b)) => a.as_bytes() < b.as_bytes(),
        (Bound::Word(a), Bound::Word(b)) => match physical {
            Physical::F32 | Physical::F64 => float(a) < float(b),
            _ => integer(physical, a) < integer(physical, b),
        },
        _ => false,
    }
}

fn float(word: &[u8]) -> f64 {
    match (<[u8; 4]>::try_from(word), <[u8; 8]>::try_from(word)) {
        (Ok(word), _) => f64::from(f32::from_le_bytes(word)),
        (_, Ok(word)) => f64::from_le_bytes(word),
        _ => f64::NAN,
    }
}

fn integer(physical: Physical, word: &[u8]) -> i128 {
    let is_signed = matches!(physical, Physical::I8 | Physical::I16 | Physical::I32 | Physical::I64);
    let is_negative = is_signed && word.last().is_some_and(|byte| byte & 0x80 != 0);
    let mut bytes = if is_negative { [0xff; 16] } else { [0; 16] };
    bytes.iter_mut().zip(word).for_each(|(to, from)| *to = *from);
    i128::from_le_bytes(bytes)
}
