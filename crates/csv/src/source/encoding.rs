//! Encodings: names, byte order marks, guesses, and the conversion to UTF-8.

use std::borrow::Cow;

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::mem::convert_latin1_to_utf8_partial;
use encoding_rs::{
    Decoder, DecoderResult, EUC_KR, Encoding, GBK, REPLACEMENT, SHIFT_JIS, UTF_8, UTF_16BE, UTF_16LE,
    WINDOWS_1252,
};
use entasis::{Error, Result};

use super::raw::Stage;

/// The byte that replaces a sequence that does not fit the encoding. UTF-8 never has it.
pub(super) const MISFIT: u8 = 0xFF;

/// The encoding of a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Charset {
    /// The bytes are passed on as they are.
    Utf8,
    /// ISO-8859-1, in which each byte is the code point. The Encoding Standard reads it as
    /// windows-1252, which has other characters for 0x80 to 0x9F.
    Latin1,
    Other(&'static Encoding),
}

impl Charset {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Utf8 => "UTF-8",
            Self::Latin1 => "ISO-8859-1",
            Self::Other(encoding) => encoding.name(),
        }
    }

    /// The encoding with this name: a label of the Encoding Standard, or a name of Python or R.
    pub(super) fn by_name(name: &str) -> Result<Self> {
        let label = name.trim().to_ascii_lowercase().replace('_', "-");
        // Names compare without hyphens where the standard has no label.
        let plain: String = label.chars().filter(|c| !matches!(c, '-' | ' ')).collect();
        Ok(match &*plain {
            // ASCII is a part of UTF-8. The standard has windows-1252 for it.
            "utf8" | "utf8sig" | "utf8bom" | "u8" | "ascii" | "usascii" | "646" => Self::Utf8,
            "latin1" | "iso88591" | "l1" | "cp819" | "ibm819" | "88591" | "latin" => Self::Latin1,
            "utf16" | "u16" | "utf16le" | "ucs2" | "ucs2le" => Self::Other(UTF_16LE),
            "utf16be" | "ucs2be" => Self::Other(UTF_16BE),
            "cp932" | "sjis" | "windows31j" | "ms932" => Self::Other(SHIFT_JIS),
            "cp936" => Self::Other(GBK),
            "cp949" | "uhc" => Self::Other(EUC_KR),
            _ if plain.starts_with("utf32") || plain.starts_with("ucs4") => return Err(utf_32()),
            _ => {
                let number = plain.strip_prefix("windows").or_else(|| plain.strip_prefix("cp"));
                let names = [
                    Cow::Borrowed(&*label),
                    Cow::Borrowed(&*plain),
                    format!("windows-{}", number.unwrap_or_default()).into(),
                    plain.replacen("iso8859", "iso-8859-", 1).into(),
                    plain.replacen("latin9", "iso-8859-15", 1).into(),
                    plain.replacen("big5", "big5-", 1).into(),
                    plain.replacen("euc", "euc-", 1).into(),
                    plain.replacen("koi8", "koi8-", 1).into(),
                    plain.replacen("mac", "x-mac-", 1).replace("x-mac-roman", "macintosh").into(),
                ];
                let found = names.iter().find_map(|name| Encoding::for_label(name.as_bytes()));
                match found.filter(|&encoding| encoding != REPLACEMENT) {
                    Some(encoding) => Self::Other(encoding),
                    None => {
                        return Err(Error::argument(format!("there is no encoding '{name}'")).advise(
                            "name one of the Encoding Standard, such as windows-1252, or convert the text with \
                             `iconv -t UTF-8`",
                        ));
                    }
                }
            }
        })
    }
}

fn utf_32() -> Error {
    Error::argument("UTF-32 is not supported").advise("convert the text with `iconv -f UTF-32 -t UTF-8`")
}

/// The encoding that the first bytes of a text indicate.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) charset: Charset,
    /// Length of the byte order mark.
    pub(super) mark_len: usize,
    pub(super) warning: Option<String>,
}

/// The encoding of a text that begins with `head`. `is_whole`: `head` is the whole text.
pub(super) fn find(head: &[u8], is_whole: bool, given: Option<&str>) -> Result<Found> {
    let given_charset = given.map(Charset::by_name).transpose()?;
    if head.starts_with(b"\xFF\xFE\0\0") || head.starts_with(b"\0\0\xFE\xFF") {
        return Err(utf_32());
    }
    if let Some((encoding, mark_len)) = Encoding::for_bom(head) {
        let charset = if encoding == UTF_8 { Charset::Utf8 } else { Charset::Other(encoding) };
        // `utf-16` names no byte order, so the mark decides.
        let agrees = given_charset.is_none_or(|given| {
            given == charset || (given == Charset::Other(UTF_16LE) && charset == Charset::Other(UTF_16BE))
        });
        let warning = (!agrees).then(|| {
            let (given, found) = (given.unwrap_or_default(), charset.name());
            format!(
                "the text begins with the byte order mark of {found}, and is read as {found}, not as {given}"
            )
        });
        return Ok(Found { charset, mark_len, warning });
    }
    if let Some(charset) = given_charset {
        return Ok(Found { charset, mark_len: 0, warning: None });
    }
    refuse_binary(head)?;
    if is_mostly_utf_8(head, is_whole) {
        return Ok(Found { charset: Charset::Utf8, mark_len: 0, warning: None });
    }
    let encoding = guess(head);
    let name = encoding.name();
    let warning = format!(
        "the text is not UTF-8, and was read as {name}, which is a guess: pass the encoding to be sure"
    );
    Ok(Found { charset: Charset::Other(encoding), mark_len: 0, warning: Some(warning) })
}

/// Bytes on which a guess is based. The detector reads some 20 MB/s.
const GUESS_LEN: usize = 128 << 10;

/// The likeliest encoding, by the lines that have other bytes than ASCII.
fn guess(head: &[u8]) -> &'static Encoding {
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
    let mut left = GUESS_LEN;
    // No encoding without NULs has the byte of a newline within a character.
    for line in head.split_inclusive(|&byte| byte == b'\n').filter(|line| !line.is_ascii()) {
        let line = &line[..line.len().min(left)];
        detector.feed(line, false);
        left -= line.len();
        if left == 0 {
            break;
        }
    }
    detector.guess(None, Utf8Detection::Deny)
}

/// Refuses bytes with so many NULs that they are not a text in UTF-8 or in an older encoding.
fn refuse_binary(head: &[u8]) -> Result<()> {
    let n_nuls = |step: usize, from: usize| head.iter().skip(from).step_by(step).filter(|&&b| b == 0).count();
    let n = n_nuls(1, 0);
    if n < 16 || n < head.len() / 10 {
        return Ok(());
    }
    let (even, odd) = (n_nuls(2, 0), n_nuls(2, 1));
    let pairs = head.len() / 2;
    for (of_order, of_other, name) in [(odd, even, "utf-16le"), (even, odd, "utf-16be")] {
        if of_order > pairs / 3 && of_other < pairs / 20 {
            let message = "the text seems to be UTF-16 without a byte order mark";
            return Err(Error::argument(message).advise(format!("pass the encoding {name}")));
        }
    }
    Err(Error::argument("the source has many NUL bytes: it is binary data and not a text")
        .advise("name a text file, or pass the encoding if it is one"))
}

/// Whether `head` is UTF-8. In a long text, a few bytes may be wrong: they are problems of their
/// rows. Older encodings hardly ever have pairs of bytes that are characters of UTF-8.
fn is_mostly_utf_8(head: &[u8], is_whole: bool) -> bool {
    if let Err(error) = simdutf8::compat::from_utf8(head)
        && (error.error_len().is_some() || is_whole)
    {
        let (mut n_valid, mut n_wrong) = (0, 0);
        for chunk in head.utf8_chunks() {
            // Each character has one byte that begins it.
            n_valid += chunk.valid().bytes().filter(|&byte| byte >= 0xC0).count();
            n_wrong += usize::from(!chunk.invalid().is_empty());
        }
        return n_valid >= 16 && n_valid / 16 >= n_wrong;
    }
    true
}

/// Bytes of another encoding as UTF-8. A sequence that does not fit becomes [`MISFIT`].
pub(super) struct Transcoder<S> {
    stage: S,
    decoder: Kind,
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    is_last: bool,
    ended: bool,
    /// Text that did not fit a short buffer of the reader.
    spare: [u8; LEAST],
    spare_at: usize,
    spare_end: usize,
}

enum Kind {
    Latin1,
    /// Latin-1, apart from the bytes 0x80 to 0x9F, which are rare.
    Windows1252(Decoder),
    Other(Decoder),
}

/// Whether the byte is a control character of ISO-8859-1 beyond ASCII.
fn is_control(byte: u8) -> bool {
    (0x80..0xA0).contains(&byte)
}

/// The number of bytes before the first one for which [`is_control`] holds.
fn controls_at(bytes: &[u8]) -> usize {
    // Without an early end, the compiler uses vectors for a chunk.
    let n_chunks =
        bytes.chunks(64).take_while(|chunk| !chunk.iter().fold(false, |any, &b| any | is_control(b)));
    let start = (n_chunks.count() * 64).min(bytes.len());
    start + bytes[start..].iter().take_while(|&&byte| !is_control(byte)).count()
}

/// Bytes read at once.
const BUFFER_LEN: usize = 64 << 10;
/// Room that is enough for every decoder to go on.
const LEAST: usize = 64;

impl<S: Stage> Transcoder<S> {
    /// `None` for UTF-8.
    pub(super) fn new(stage: S, charset: Charset) -> std::result::Result<Self, S> {
        let decoder = match charset {
            Charset::Utf8 => return Err(stage),
            Charset::Latin1 => Kind::Latin1,
            Charset::Other(encoding) if encoding == WINDOWS_1252 => {
                Kind::Windows1252(encoding.new_decoder_without_bom_handling())
            }
            Charset::Other(encoding) => Kind::Other(encoding.new_decoder_without_bom_handling()),
        };
        Ok(Self {
            stage,
            decoder,
            buffer: vec![0; BUFFER_LEN],
            start: 0,
            end: 0,
            is_last: false,
            ended: false,
            spare: [0; LEAST],
            spare_at: 0,
            spare_end: 0,
        })
    }

    /// Decodes into at least [`LEAST`] bytes; 0 means the end.
    fn decode(&mut self, into: &mut [u8]) -> Result<usize> {
        let mut n = 0;
        while !self.ended && into.len() - n >= LEAST {
            if self.start == self.end && !self.is_last {
                self.start = 0;
                self.end = self.stage.read(&mut self.buffer)?;
                self.is_last = self.end == 0;
            }
            let from = &self.buffer[self.start..self.end];
            match &mut self.decoder {
                Kind::Latin1 => {
                    let (read, written) = convert_latin1_to_utf8_partial(from, &mut into[n..]);
                    self.start += read;
                    n += written;
                    self.ended = self.is_last;
                }
                Kind::Windows1252(decoder) => {
                    // Each byte is a character, so the text may be cut anywhere.
                    let n_latin1 = controls_at(from);
                    let (read, written) = if n_latin1 > 0 {
                        convert_latin1_to_utf8_partial(&from[..n_latin1], &mut into[n..])
                    } else {
                        let n_others = from.iter().take_while(|&&byte| is_control(byte)).count();
                        let others = &from[..n_others];
                        let (_, read, written) =
                            decoder.decode_to_utf8_without_replacement(others, &mut into[n..], false);
                        (read, written)
                    };
                    self.start += read;
                    n += written;
                    self.ended = self.is_last;
                }
                Kind::Other(decoder) => {
                    // The last byte is left for a misfit.
                    let to = into.len() - 1;
                    let (result, read, written) =
                        decoder.decode_to_utf8_without_replacement(from, &mut into[n..to], self.is_last);
                    self.start += read;
                    n += written;
                    match result {
                        DecoderResult::InputEmpty => self.ended = self.is_last,
                        DecoderResult::OutputFull => break,
                        DecoderResult::Malformed(..) => {
                            into[n] = MISFIT;
                            n += 1;
                        }
                    }
                }
            }
        }
        Ok(n)
    }
}

impl<S: Stage> Stage for Transcoder<S> {
    fn read(&mut self, into: &mut [u8]) -> Result<usize> {
        if self.spare_at == self.spare_end {
            if into.len() >= LEAST {
                return self.decode(into);
            }
            if into.is_empty() {
                return Ok(0);
            }
            let mut spare = [0; LEAST];
            self.spare_end = self.decode(&mut spare)?;
            self.spare_at = 0;
            self.spare = spare;
        }
        let n = into.len().min(self.spare_end - self.spare_at);
        into[..n].copy_from_slice(&self.spare[self.spare_at..self.spare_at + n]);
        self.spare_at += n;
        Ok(n)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(given: &str) -> &'static str {
        Charset::by_name(given).unwrap().name()
    }

    #[test]
    fn names_of_python_and_r_are_known() {
        for (names, expected) in [
            ("utf-8 UTF8 utf_8 utf-8-sig U8 ascii US-ASCII", "UTF-8"),
            ("latin-1 latin1 Latin_1 iso-8859-1 ISO8859-1 iso8859_1 ISO_8859-1 cp819", "ISO-8859-1"),
            ("windows-1252 cp1252 CP-1252 windows_1252 1252_", "windows-1252"),
            ("utf-16 utf16 UTF-16LE utf_16_le UCS-2LE", "UTF-16LE"),
            ("utf-16-be UTF16BE", "UTF-16BE"),
            ("iso8859_15 ISO-8859-15 latin9 l9", "ISO-8859-15"),
            ("iso8859_2 latin2", "ISO-8859-2"),
            ("shift_jis Shift-JIS sjis cp932", "Shift_JIS"),
            ("euc_jp EUC-JP eucjp", "EUC-JP"),
            ("euc_kr cp949", "EUC-KR"),
            ("gb18030 GB-18030", "gb18030"),
            ("gbk cp936 gb2312", "GBK"),
            ("big5 big5-hkscs big5hkscs", "Big5"),
            ("koi8_r koi8-r", "KOI8-R"),
            ("mac_roman macintosh", "macintosh"),
            ("cp866 ibm866", "IBM866"),
            ("cp1251 windows1251", "windows-1251"),
        ] {
            for given in names.split(' ').filter(|name| !name.ends_with('_')) {
                assert_eq!(name(given), expected, "{given}");
            }
        }
        for unknown in ["", "utf", "cp437", "hz-gb-2312", "x"] {
            let error = Charset::by_name(unknown).unwrap_err().to_string();
            assert!(error.contains(&format!("there is no encoding '{unknown}'")), "{error}");
        }
        assert!(Charset::by_name("utf-32-le").unwrap_err().to_string().contains("UTF-32"));
    }

    #[test]
    fn marks_and_guesses() {
        let found = |head: &[u8], given| find(head, true, given).unwrap();
        let utf_8 = found("\u{feff}a".as_bytes(), None);
        assert_eq!((utf_8.charset, utf_8.mark_len, utf_8.warning), (Charset::Utf8, 3, None));
        let given = found(b"\xFE\xFF\0a", Some("utf-16"));
        assert_eq!((given.charset.name(), given.mark_len, given.warning), ("UTF-16BE", 2, None));
        let other = found(b"\xFF\xFEa\0", Some("latin1"));
        assert_eq!((other.charset.name(), other.mark_len), ("UTF-16LE", 2));
        assert!(other.warning.unwrap().contains("not as latin1"));
        let guess =
            found("name;gr\u{f6}\u{df}e\n".chars().map(|c| c as u8).collect::<Vec<_>>().as_slice(), None);
        assert_eq!(guess.charset.name(), "windows-1252");
        assert!(guess.warning.unwrap().contains("windows-1252"));
        for (text, utf_16) in [("a,b\n".repeat(50), "utf-16le"), ("x,y\n".repeat(50), "utf-16be")] {
            let units = text.encode_utf16();
            let bytes: Vec<u8> = match utf_16 {
                "utf-16le" => units.flat_map(u16::to_le_bytes).collect(),
                _ => units.flat_map(u16::to_be_bytes).collect(),
            };
            let error = find(&bytes, true, None).unwrap_err().to_string();
            assert!(error.contains(utf_16), "{error}");
        }
        assert!(find(&[0; 100], true, None).is_err());
        assert_eq!(found(b"a,b\n\0,\0\n", None).charset, Charset::Utf8);
    }

    #[test]
    fn guesses_are_right_for_long_texts() {
        for (encoding, line) in [
            (WINDOWS_1252, "12;Gr\u{f6}\u{df}e;Stra\u{df}e \u{20ac};M\u{fc}nchen\n"),
            (SHIFT_JIS, "1,\u{6771}\u{4eac}\u{90fd},\u{3053}\u{3093}\u{306b}\u{3061}\u{306f}\n"),
            (GBK, "1,\u{5317}\u{4eac}\u{5e02},\u{4f60}\u{597d}\u{4e16}\u{754c}\n"),
            (
                encoding_rs::WINDOWS_1251,
                "1,\u{41c}\u{43e}\u{441}\u{43a}\u{432}\u{430},\u{43f}\u{440}\u{438}\u{432}\u{435}\u{442}\n",
            ),
            (
                encoding_rs::WINDOWS_1250,
                "1,Krak\u{f3}w,\u{142}\u{f3}d\u{17a},\u{15b}wi\u{119}to,\u{17c}\u{f3}\u{142}ty\n",
            ),
        ] {
            let text = format!("{}{}", "a,b\n1,2\n".repeat(1000), line.repeat(10_000));
            let bytes = encoding.encode(&text).0;
            assert_eq!(find(&bytes, false, None).unwrap().charset.name(), encoding.name());
        }
    }

    #[test]
    fn a_character_that_is_cut_is_utf_8_unless_the_text_ends() {
        let cut = &"caf\u{e9}".as_bytes()[..4];
        assert!(is_mostly_utf_8(cut, false) && !is_mostly_utf_8(cut, true));
        // One wrong byte among many characters is a problem of its row.
        let mut text = "\u{e9}\u{4e2d},".repeat(100).into_bytes();
        text.extend_from_slice(b"\xE9,\n");
        assert!(is_mostly_utf_8(&text, true));
    }
}
