//! Makes and stores manifests.

use std::path::Path;

use entasis::cells::{CellWriter, Json};
use entasis::{
    AppendOptions, Array, Chunk, Column, ColumnType, Document, File, Frame, HostRead, HostValidity,
    HostValues, Join, Monitor, Opening, OwnedValues, Physical, Result, Value, WriteOptions, write_document,
};

use crate::facts::{Bound, Bounds, ColumnOf, Facts, is_bounded};
use crate::keys::KeyType;
use crate::manifest::VERSION;

/// Lends memory to the writer until it returns.
pub type Lend<'a> = &'a dyn Fn(&[u8]) -> HostRead;

/// The metadata of a manifest to store.
pub(crate) struct Header<'a> {
    /// The random name of the job that writes it.
    pub job: &'a str,
    /// The name of its operation.
    pub operation: &'a str,
    /// The columns of all files.
    pub columns: &'a [ColumnOf],
    /// The keys with their types.
    pub keys: &'a [(String, KeyType)],
}

/// Creates a manifest at a path where no file is, with the rows of an earlier one and of new files.
///
/// # Errors
/// *Io*, of kind `AlreadyExists`, if there is a file; otherwise as for writing.
pub(crate) fn store(
    path: &Path,
    header: &Header<'_>,
    before: Option<&Path>,
    files: &[Facts],
    options: &WriteOptions,
    lend: Lend<'_>,
    monitor: &dyn Monitor,
) -> Result<()> {
    let mut frame = frame(header, files);
    if let Some(before) = before {
        let rows = crate::memory::file(&frame, path)?;
        let files = vec![
            File::open_with(before, Opening { secret: options.secret.clone(), ..Opening::default() }),
            Ok(rows),
        ];
        let fill = AppendOptions { fill: true, ..AppendOptions::default() };
        frame = Join::new(files.into_iter(), path, &fill, monitor)?.into_frame(monitor)?;
    }
    let mut cells = CellWriter::new();
    metadata(header).write(&mut cells);
    let (columns, names) = cells.columns(0, lend);
    let value =
        Value::map([("value", Value::Table(0)), ("metadata", Value::Cell(0)), ("cells", Value::Map(names))]);
    let document = Document { frames: vec![frame], columns, value };
    let options = WriteOptions { must_be_new: true, ..options.clone() };
    write_document(path, &document, &options, monitor)
}

/// The rows of a manifest.
fn frame(header: &Header<'_>, files: &[Facts]) -> Frame {
    let words = |of: &dyn Fn(&Facts) -> u64| {
        files.iter().map(|file| Some(of(file).to_le_bytes().to_vec())).collect::<Vec<_>>()
    };
    let texts = |of: &dyn Fn(&Facts) -> Option<Vec<u8>>| files.iter().map(of).collect::<Vec<_>>();
    let number = ColumnType::plain(Physical::I64);
    let mut columns = vec![
        strings("path", Physical::Utf8, texts(&|file| Some(file.path.clone().into_bytes()))),
        fixed("length", number, None, words(&|file| file.length)),
        strings("end", Physical::Binary, texts(&|file| Some(file.end.clone()))),
        fixed("generation", number, None, words(&|file| file.generation)),
        fixed("n_rows", number, None, words(&|file| file.n_rows)),
    ];
    for (i, (name, _)) in header.keys.iter().enumerate() {
        let text = |file: &Facts| file.texts.get(i).cloned().flatten().map(String::into_bytes);
        columns.push(strings(&format!("key/{name}"), Physical::Utf8, texts(&text)));
    }
    for column in header.columns.iter().filter(|column| is_bounded(column)) {
        let of: Vec<Option<&Bounds>> = files.iter().map(|file| bounds_of(file, &column.name)).collect();
        let missing = of.iter().map(|of| Some(of.as_ref()?.n_missing?.to_le_bytes().to_vec())).collect();
        columns.push(fixed(&format!("missing/{}", column.name), number, None, missing));
        let nan = of.iter().map(|of| Some(vec![u8::from(of.as_ref()?.has_nan?)])).collect();
        columns.push(fixed(&format!("nan/{}", column.name), ColumnType::plain(Physical::Bool), None, nan));
        let lows: Vec<Option<Bound>> = of.iter().map(|of| of.as_ref()?.low.clone()).collect();
        let highs: Vec<Option<Bound>> = of.iter().map(|of| of.as_ref()?.high.clone()).collect();
        columns.push(bounds("min", column, lows));
        columns.push(bounds("max", column, highs));
    }
    Frame { n_rows: files.len() as u64, columns, extra: Vec::new(), host: Value::Null }
}

/// The bounds of a column, if its name is that of one column.
fn bounds_of<'a>(file: &'a Facts, name: &str) -> Option<&'a Bounds> {
    let mut found = file.columns.iter().zip(&file.bounds).filter(|(column, _)| column.name == name);
    match (found.next(), found.next()) {
        (Some((_, bounds)), None) => Some(bounds),
        _ => None,
    }
}

fn bounds(fact: &str, column: &ColumnOf, values: Vec<Option<Bound>>) -> Column {
    let name = format!("{fact}/{}", column.name);
    let bytes = values.into_iter().map(|value| {
        value.map(|value| match value {
            Bound::Word(word) => word,
            Bound::Text(text) => text.into_bytes(),
        })
    });
    if column.column_type.physical == Physical::Utf8 {
        return strings(&name, Physical::Utf8, bytes.collect());
    }
    let of = ColumnType {
        logical: column.column_type.logical,
        unit: column.column_type.unit,
        ..ColumnType::plain(column.column_type.physical)
    };
    fixed(&name, of, column.detail.clone(), bytes.collect())
}

fn fixed(name: &str, of: ColumnType, detail: Option<Value>, values: Vec<Option<Vec<u8>>>) -> Column {
    let width = of.physical.width().unwrap_or(1);
    let mut bytes = Vec::with_capacity(values.len() * width);
    for value in &values {
        bytes.extend_from_slice(value.as_deref().unwrap_or(&[0; 8][..width]));
    }
    column(name, of, detail, OwnedValues::fixed(width, bytes), &values)
}

fn strings(name: &str, physical: Physical, values: Vec<Option<Vec<u8>>>) -> Column {
    let (mut offsets, mut bytes) = (vec![0], Vec::new());
    for value in &values {
        bytes.extend_from_slice(value.as_deref().unwrap_or_default());
        offsets.push(bytes.len() as u64);
    }
    column(name, ColumnType::plain(physical), None, OwnedValues::strings(offsets, bytes), &values)
}

fn column(
    name: &str,
    column_type: ColumnType,
    detail: Option<Value>,
    values: OwnedValues,
    of: &[Option<Vec<u8>>],
) -> Column {
    let mask: Vec<u8> = of.iter().map(|value| u8::from(value.is_none())).collect();
    let validity = if mask.contains(&1) { HostValidity::Owned(mask.into()) } else { HostValidity::AllValid };
    let chunk = Chunk { n: of.len(), values: HostValues::Owned(values), validity };
    Column {
        name: name.to_owned(),
        run: None,
        column_type,
        detail,
        host_detail: None,
        dictionary: None,
        children: Vec::new(),
        array: if of.is_empty() { Array::default() } else { Array::new(chunk) },
    }
}

fn metadata(header: &Header<'_>) -> Json {
    let text = |text: &str| Json::Text(text.to_owned());
    let key = |(name, kind): &(String, KeyType)| Json::List(vec![text(name), text(kind.name())]);
    let pairs = [
        ("manifest", Json::Int(VERSION)),
        ("job", text(header.job)),
        ("operation", text(header.operation)),
        ("names", Json::List(header.columns.iter().map(|column| text(&column.name)).collect())),
        ("types", Json::List(header.columns.iter().map(|column| text(&column.kind)).collect())),
        ("keys", Json::List(header.keys.iter().map(key).collect())),
    ];
    Json::Map(pairs.map(|(name, value)| (name.to_owned(), value)).into())
}
