//! Strings given by views with addresses make the same file as strings given by offsets.

use crate::common::{Memory, Model, check, file_of, frame_of, open};
use entasis::{Array, Chunk, HostValidity, HostValues, HostViews, MemorySink, Rows, Silent, WriteOptions};

/// Views of strings that stay where they are.
fn views(texts: &[Vec<u8>]) -> Vec<u128> {
    let view = |text: &Vec<u8>| {
        if text.len() > HostViews::INLINE {
            return HostViews::view(text.len() as u32, text.as_ptr());
        }
        let mut view = [0; 16];
        view[0] = text.len() as u8;
        view[4..4 + text.len()].copy_from_slice(text);
        u128::from_le_bytes(view)
    };
    texts.iter().map(view).collect()
}

#[test]
fn strings_come_back_from_anywhere() {
    // More than a block, with short and long strings, and some of 12 and 13 bytes.
    let texts: Vec<Vec<u8>> =
        (0..70_000).map(|i: usize| format!("{i:0>width$}", width = i * i % 40).into_bytes()).collect();
    for some_missing in [false, true] {
        let mut model = Model::text(&texts);
        if some_missing {
            model = model.with_missing(|i| i % 7 != 3);
        }
        let views = views(&texts);
        // SAFETY: views and texts stay until the file is written.
        let anywhere = HostValues::Anywhere(unsafe { HostViews::new(views.as_ptr(), views.len()) });
        let (columns, memory) = ([("x", model.clone())], [Memory::new(&model)]);
        let mut frame = frame_of(&columns, &memory);
        let validity = frame.columns[0].array.chunks[0].validity.clone();
        let n = texts.len();
        frame.columns[0].array = Array::new(Chunk { n, values: anywhere, validity });
        let sink = MemorySink::new();
        let options = WriteOptions::default();
        entasis::write_to(&sink, &frame, &options, &Silent).unwrap();
        let bytes = sink.into_bytes();
        assert!(bytes == file_of(&columns, &options));
        let file = open(&bytes).unwrap();
        check(&file, 0, &model, &Rows::All, 2);
        check(&file, 0, &model, &Rows::Range(65_000..66_000), 1);
    }
}

#[test]
fn fewer_views_than_values_are_refused() {
    let texts = vec![b"one".to_vec(), b"another of more than twelve bytes".to_vec()];
    let model = Model::text(&texts);
    let views = views(&texts);
    // SAFETY: views and texts stay until the file is written.
    let anywhere = HostValues::Anywhere(unsafe { HostViews::new(views.as_ptr(), 1) });
    let mut frame = frame_of(&[("x", model.clone())], &[Memory::new(&model)]);
    frame.columns[0].array = Array::new(Chunk { n: 2, values: anywhere, validity: HostValidity::AllValid });
    let error = entasis::write_to(&MemorySink::new(), &frame, &WriteOptions::default(), &Silent).unwrap_err();
    assert!(error.to_string().contains("shorter than its values"), "{error}");
}
