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

impl Bound {
    fn bytes(&self) -> &[u8] {
        match self {
            Self::Word(bytes) => bytes,
            Self::Text(text) => text.as_bytes(),
        }
    }
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
    let infos = file.columns(0..file.n_columns())?;
    let mut short = Vec::new();
    for (i, info) in infos.iter().enumerate() {
        let column = ColumnOf {
            kind: type_name(&info.record.column_type, info.detail.as_ref()),
            column_type: info.record.column_type,
            detail: info.detail.clone(),
            name: info.name.clone(),
        };
        let is_short = is_bounded(&column) && info.record.is_bundled;
        if is_short {
            short.push((i, Values::new(info)?));
        }
        let has_statistics = is_bounded(&column) && !is_short;
        facts.bounds.push(if has_statistics { bounds(file, info)? } else { Bounds::default() });
        facts.columns.push(column);
    }
    let requests = short.iter_mut().map(|(_, values)| values.request()).collect();
    file.read(requests, Some(1), &Silent)?;
    for (i, values) in &short {
        facts.bounds[*i] = values.bounds();
    }
    Ok(facts)
}

/// The bounds of a column from statistics.
fn bounds(file: &File, info: &ColumnInfo) -> Result<Bounds> {
    let n_missing = Some(info.record.n_missing);
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
        if found.low.as_ref().is_none_or(|known| is_less(physical, low.bytes(), known.bytes())) {
            found.low = Some(low);
        }
        if found.high.as_ref().is_none_or(|known| is_less(physical, known.bytes(), high.bytes())) {
            found.high = Some(high);
        }
    }
    found.low = found.low.filter(|_| is_low);
    found.high = found.high.filter(|_| is_high);
    Ok(found)
}

/// The values of a short column. It shares blocks with others, and statistics are those of all.
struct Values<'a> {
    info: &'a ColumnInfo,
    words: Vec<u64>,
    text: Text,
    /// 1 for missing values.
    mask: Vec<u8>,
}

impl<'a> Values<'a> {
    /// Memory for the values.
    fn new(info: &'a ColumnInfo) -> Result<Self> {
        let n = usize::try_from(info.record.n_values).unwrap_or(usize::MAX);
        let width = info.record.column_type.physical.width().unwrap_or(0);
        let words = zeros(n.saturating_mul(width).div_ceil(8))?;
        Ok(Self { info, words, text: Text::new(TextLayout::Large), mask: zeros(n)? })
    }

    fn request(&mut self) -> Request<'_> {
        let Self { info, words, text, mask } = self;
        let output = match info.record.column_type.physical {
            Physical::Utf8 => Output::Text(text),
            physical => {
                let len = mask.len() * physical.width().unwrap_or(0);
                Output::Words(&mut bytemuck::cast_slice_mut(words)[..len])
            }
        };
        Request { column: info.index, rows: Rows::All, output, missing: MissingTo::Mask(mask) }
    }

    /// The bounds of the values that were read.
    fn bounds(&self) -> Bounds {
        let ColumnType { physical, .. } = self.info.record.column_type;
        let words: &[u8] = bytemuck::cast_slice(&self.words);
        let width = physical.width().unwrap_or(0);
        let (mut has_nan, mut ends) = (false, None);
        for (i, _) in self.mask.iter().enumerate().filter(|(_, is_missing)| **is_missing == 0) {
            let value = match physical {
                Physical::Utf8 => self.text.get(i).unwrap_or_default(),
                _ => &words[i * width..(i + 1) * width],
            };
            if matches!(physical, Physical::F32 | Physical::F64) && float(value).is_nan() {
                has_nan = true;
                continue;
            }
            let (low, high) = ends.get_or_insert((value, value));
            if is_less(physical, value, low) {
                *low = value;
            } else if is_less(physical, high, value) {
                *high = value;
            }
        }
        let bound = |value: &[u8]| match physical {
            Physical::Utf8 => std::str::from_utf8(value).ok().map(|text| Bound::Text(text.to_owned())),
            _ => Some(Bound::Word(value.to_vec())),
        };
        Bounds {
            n_missing: Some(self.info.record.n_missing),
            has_nan: Some(has_nan),
            low: ends.and_then(|(low, _)| bound(low)),
            high: ends.and_then(|(_, high)| bound(high)),
        }
    }
}

fn zeros<T: bytemuck::Zeroable>(n: usize) -> Result<Vec<T>> {
    let refused = |()| Error::out_of_memory(n.saturating_mul(size_of::<T>()), "the bounds of columns");
    bytemuck::allocation::try_zeroed_vec(n).map_err(refused)
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

/// Whether the bytes of a value are less than those of another one.
fn is_less(physical: Physical, a: &[u8], b: &[u8]) -> bool {
    match physical {
        Physical::Utf8 => a < b,
        Physical::F32 | Physical::F64 => float(a) < float(b),
        _ => integer(physical, a) < integer(physical, b),
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
