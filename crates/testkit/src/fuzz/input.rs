//! Takes the parts of an input from the bytes that a fuzzer gives.

/// Bytes that are taken from the front. After the end they are zero.
#[derive(Clone, Debug)]
pub(super) struct Input<'a> {
    rest: &'a [u8],
}

impl<'a> Input<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    pub fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    /// The next `len` bytes, or fewer at the end.
    pub fn take(&mut self, len: usize) -> &'a [u8] {
        let (taken, rest) = self.rest.split_at(len.min(self.rest.len()));
        self.rest = rest;
        taken
    }

    /// All bytes that are left.
    pub fn rest(self) -> &'a [u8] {
        self.rest
    }

    fn word<const N: usize>(&mut self) -> [u8; N] {
        let taken = self.take(N);
        let mut word = [0; N];
        word[..taken.len()].copy_from_slice(taken);
        word
    }

    pub fn u8(&mut self) -> u8 {
        self.word::<1>()[0]
    }

    pub fn u16(&mut self) -> u16 {
        u16::from_le_bytes(self.word())
    }

    pub fn u32(&mut self) -> u32 {
        u32::from_le_bytes(self.word())
    }

    pub fn u64(&mut self) -> u64 {
        u64::from_le_bytes(self.word())
    }

    /// A number that takes one byte when it is less than 255, else nine.
    pub fn number(&mut self) -> u64 {
        match self.u8() {
            u8::MAX => self.u64(),
            small => small.into(),
        }
    }
}

/// Appends a number as [`Input::number`] reads it.
pub(super) fn put_number(out: &mut Vec<u8>, number: u64) {
    if number < u64::from(u8::MAX) {
        out.push(number as u8);
    } else {
        out.push(u8::MAX);
        out.extend(number.to_le_bytes());
    }
}
