//! The index of the golden files, for tests in other languages.

use entasis::{Physical, json_string};

use super::Golden;
use crate::frames::Model;

/// CRC-32 (as in zlib) of all values: 0 for a missing one, else 1, the length of its bytes (u32)
/// and the bytes.
pub fn crc(model: &Model) -> u32 {
    let mut crc = u32::MAX;
    let mut add = |bytes: &[u8]| {
        for byte in bytes {
            crc ^= u32::from(*byte);
            for _ in 0..8 {
                crc = crc >> 1 ^ if crc & 1 == 1 { 0xEDB8_8320 } else { 0 };
            }
        }
    };
    for cell in &model.cells {
        match cell {
            None => add(&[0]),
            Some(bytes) => {
                add(&[1]);
                add(&(bytes.len() as u32).to_le_bytes());
                add(bytes);
            }
        }
    }
    !crc
}

/// A value as JSON: integers and booleans as they are, strings (at most 40 characters), else the
/// bytes in hexadecimal (of fixed bytes and nested values at most 40).
fn show(physical: Physical, cell: &Option<Vec<u8>>) -> String {
    let Some(bytes) = cell else { return "null".into() };
    let hex =
        |bytes: &[u8]| format!("\"{}\"", bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>());
    match physical {
        _ if physical == Physical::FixedBytes || physical.is_nested() => hex(&bytes[..bytes.len().min(40)]),
        Physical::Bool => (bytes[0] != 0).to_string(),
        Physical::Utf8 => json_string(&String::from_utf8_lossy(bytes).chars().take(40).collect::<String>()),
        Physical::U128 => bytes.first_chunk().map_or(0, |bytes| u128::from_le_bytes(*bytes)).to_string(),
        _ if physical.is_integer() || physical == Physical::I128 => {
            let is_signed = physical.is_signed() || physical == Physical::I128;
            let fill = if is_signed && bytes.last().is_some_and(|&byte| byte >= 128) { 0xFF } else { 0 };
            let mut wide = [fill; 16];
            wide[..bytes.len()].copy_from_slice(bytes);
            i128::from_le_bytes(wide).to_string()
        }
        _ => hex(bytes),
    }
}

/// The index as JSON, a line per column.
pub fn json(files: &[Golden]) -> String {
    let column = |model: &Model| {
        let first: Vec<String> =
            model.cells.iter().take(5).map(|cell| show(model.of.physical, cell)).collect();
        format!(
            "        {{\"name\": {}, \"type\": {}, \"n_values\": {}, \"n_missing\": {}, \"crc32\": \"{:08x}\", \"first\": [{}]}}",
            json_string(&model.name),
            json_string(&model.type_name()),
            model.cells.len(),
            model.n_missing(),
            crc(model),
            first.join(", ")
        )
    };
    let list = |models: &[Model]| match models {
        [] => "[]".to_owned(),
        models => format!("[\n{}\n      ]", models.iter().map(column).collect::<Vec<_>>().join(",\n")),
    };
    let file = |golden: &Golden| {
        format!(
            "    {{\n      \"file\": {},\n      \"compression\": {},\n      \"n_rows\": {},\n      \"columns\": {},\n      \"extra\": {}\n    }}",
            json_string(&golden.file_name()),
            golden.compression,
            golden.table.n_rows,
            list(&golden.table.columns),
            list(&golden.table.extra)
        )
    };
    let files: Vec<String> = files.iter().map(file).collect();
    format!("{{\n  \"format\": \"0.3\",\n  \"files\": [\n{}\n  ]\n}}\n", files.join(",\n"))
}
