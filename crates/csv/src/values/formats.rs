//! Dates and times in formats that a user gives.
//!
//! A field must fit its format exactly, apart from zeros before days, hours, minutes and seconds
//! of one digit.

use entasis::{Error, Result};

use super::times::{Datetime, civil, days, offset};

/// A format such as `%d/%m/%Y %H:%M`, or a form of ISO 8601.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Format {
    /// A date by ISO 8601.
    IsoDate,
    /// A time by ISO 8601, with or without an offset from UTC.
    IsoTime {
        /// Whether it has an offset.
        is_utc: bool,
    },
    /// A format of the user.
    Own(Own),
}

/// A format of the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Own {
    items: Vec<Item>,
    has_time: bool,
    has_offset: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Item {
    /// A byte that stands for itself.
    Byte(u8),
    /// Year of four digits.
    Year,
    /// Year of two digits: 69 to 99 are 1969 to 1999, 00 to 68 are 2000 to 2068.
    ShortYear,
    Month,
    /// The first three letters of an English month.
    MonthName,
    Day,
    DayOfYear,
    Hour,
    /// Hour from 1 to 12.
    HalfHour,
    /// AM or PM.
    Half,
    Minute,
    Second,
    /// One to nine digits.
    Fraction,
    /// `Z`, `+01`, `+0130` or `+01:30`.
    Offset,
}

const MONTHS: [&[u8; 3]; 12] =
    [b"jan", b"feb", b"mar", b"apr", b"may", b"jun", b"jul", b"aug", b"sep", b"oct", b"nov", b"dec"];

impl Own {
    /// Parses a format.
    ///
    /// # Errors
    /// *Argument* for unknown directives, and for formats that do not give one date.
    pub fn parse(text: &str) -> Result<Self> {
        let wrong = |what: &str| {
            Error::argument(format!("the format {text:?} {what}")).advise(
                "use %Y or %y, %m or %b, %d or %j, %H or %I with %p, %M, %S, %f, %z, and %% for a percent sign",
            )
        };
        let mut items = Vec::new();
        let mut bytes = text.bytes();
        while let Some(byte) = bytes.next() {
            let item = if byte != b'%' {
                Item::Byte(byte)
            } else {
                match bytes.next() {
                    Some(b'%') => Item::Byte(b'%'),
                    Some(b'Y') => Item::Year,
                    Some(b'y') => Item::ShortYear,
                    Some(b'm') => Item::Month,
                    Some(b'b') => Item::MonthName,
                    Some(b'd') => Item::Day,
                    Some(b'j') => Item::DayOfYear,
                    Some(b'H') => Item::Hour,
                    Some(b'I') => Item::HalfHour,
                    Some(b'p') => Item::Half,
                    Some(b'M') => Item::Minute,
                    Some(b'S') => Item::Second,
                    Some(b'f') => Item::Fraction,
                    Some(b'z') => Item::Offset,
                    _ => return Err(wrong("has an unknown directive")),
                }
            };
            if !matches!(item, Item::Byte(_)) && items.contains(&item) {
                return Err(wrong("has a part twice"));
            }
            items.push(item);
        }
        let has = |item| usize::from(items.contains(&item));
        let months = has(Item::Month) + has(Item::MonthName);
        let is_date = has(Item::Year) + has(Item::ShortYear) == 1
            && (months, has(Item::Day), has(Item::DayOfYear)) != (0, 0, 0)
            && matches!((months, has(Item::Day), has(Item::DayOfYear)), (1, 1, 0) | (0, 0, 1));
        if !is_date {
            return Err(wrong("does not give one date: it needs a year with a month and a day"));
        }
        let hours = has(Item::Hour) + has(Item::HalfHour);
        let finer = [Item::Half, Item::Minute, Item::Second, Item::Fraction, Item::Offset];
        let has_time = hours > 0;
        let is_time = hours <= 1
            && has(Item::HalfHour) == has(Item::Half)
            && (has_time || finer.iter().all(|&item| has(item) == 0))
            && has(Item::Second) <= has(Item::Minute)
            && has(Item::Fraction) <= has(Item::Second);
        if !is_time {
            return Err(wrong("does not give one time of the day"));
        }
        let has_offset = items.contains(&Item::Offset);
        Ok(Self { items, has_time, has_offset })
    }

    /// Whether it has a time of day.
    pub fn has_time(&self) -> bool {
        self.has_time
    }

    /// Whether it has an offset from UTC.
    pub fn has_offset(&self) -> bool {
        self.has_offset
    }

    /// The bytes that stand for themselves.
    pub fn bytes(&self) -> impl Iterator<Item = u8> + '_ {
        self.items.iter().filter_map(|item| match item {
            Item::Byte(byte) => Some(*byte),
            _ => None,
        })
    }

    /// Appends a time, given as seconds since 1970 in UTC and nanoseconds. Returns whether the
    /// reader takes it for the same time.
    pub fn write(&self, seconds: i64, nanoseconds: u32, out: &mut Vec<u8>) -> bool {
        let from = out.len();
        let (day_number, clock) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
        let (year, month, day) = civil(day_number);
        let hour = clock / 3600;
        for item in &self.items {
            match item {
                Item::Year => digits(out, year, 4),
                Item::ShortYear => digits(out, year.rem_euclid(100), 2),
                Item::Month => digits(out, month, 2),
                Item::Day => digits(out, day, 2),
                Item::DayOfYear => {
                    let first = days(year, 1, 1).unwrap_or(day_number);
                    digits(out, day_number - first + 1, 3);
                }
                Item::Hour => digits(out, hour, 2),
                Item::HalfHour => digits(out, (hour + 11) % 12 + 1, 2),
                Item::Minute => digits(out, clock / 60 % 60, 2),
                Item::Second => digits(out, clock % 60, 2),
                Item::Fraction if nanoseconds.is_multiple_of(1000) => {
                    digits(out, i64::from(nanoseconds / 1000), 6)
                }
                Item::Fraction => digits(out, i64::from(nanoseconds), 9),
                Item::Byte(byte) => out.push(*byte),
                Item::MonthName => {
                    let name = MONTHS.get(month as usize - 1).map_or(b"jan", |name| *name);
                    out.push(name[0].to_ascii_uppercase());
                    out.extend_from_slice(&name[1..]);
                }
                Item::Half => out.extend_from_slice(if hour < 12 { b"AM" } else { b"PM" }),
                Item::Offset => out.extend_from_slice(b"+0000"),
            }
        }
        let is_same = |time: Datetime| (time.seconds, time.nanoseconds) == (seconds, nanoseconds);
        let field = &out[from..];
        // The reader refuses a field that ISO 8601 takes for another time.
        let iso = if self.has_time { Format::IsoTime { is_utc: self.has_offset } } else { Format::IsoDate };
        let is_iso = self.items.first() == Some(&Item::Year);
        self.read(field).is_some_and(is_same)
            && (!is_iso || iso.read(field, &mut Vec::new()).is_none_or(is_same))
    }

    /// The time of a field, which is midnight for a date alone.
    fn read(&self, field: &[u8]) -> Option<Datetime> {
        let mut rest = field;
        let (mut year, mut month, mut day, mut day_of_year) = (0, 1, 1, None);
        let (mut hour, mut half_hour, mut is_afternoon) = (0, None, false);
        let (mut minute, mut second, mut nanoseconds, mut has_nanoseconds) = (0, 0, 0, false);
        let mut from_utc = 0;
        for (i, item) in self.items.iter().enumerate() {
            // One digit is enough only where no other digits are before or after it.
            let (before, next) = (i.checked_sub(1).map(|i| self.items[i]), self.items.get(i + 1).copied());
            let is_apart = |item: Option<Item>| match item {
                None | Some(Item::Half | Item::MonthName) => true,
                Some(Item::Byte(byte)) => !byte.is_ascii_digit(),
                Some(_) => false,
            };
            let is_alone = is_apart(before) && (is_apart(next) || next == Some(Item::Offset));
            let least = if is_alone { 1 } else { 2 };
            match item {
                Item::Byte(byte) => {
                    let (first, after) = rest.split_first()?;
                    if first != byte {
                        return None;
                    }
                    rest = after;
                }
                Item::Year => year = number(&mut rest, 4, 4)? as i64,
                Item::ShortYear => {
                    year = number(&mut rest, 2, 2)? as i64;
                    year += if year < 69 { 2000 } else { 1900 };
                }
                Item::Month => month = number(&mut rest, least, 2)?,
                Item::MonthName => {
                    let (name, after) = rest.split_first_chunk::<3>()?;
                    let name = name.map(|letter| letter.to_ascii_lowercase());
                    month = MONTHS.iter().position(|other| **other == name)? as u64 + 1;
                    rest = after;
                }
                Item::Day => day = number(&mut rest, least, 2)?,
                Item::DayOfYear => day_of_year = Some(number(&mut rest, 3, 3)?),
                Item::Hour => hour = number(&mut rest, least, 2)?,
                Item::HalfHour => half_hour = Some(number(&mut rest, least, 2)?),
                Item::Half => {
                    let (letters, after) = rest.split_first_chunk::<2>()?;
                    is_afternoon = match &letters.map(|letter| letter.to_ascii_lowercase()) {
                        b"am" => false,
                        b"pm" => true,
                        _ => return None,
                    };
                    rest = after;
                }
                Item::Minute => minute = number(&mut rest, least, 2)?,
                Item::Second => second = number(&mut rest, least, 2)?,
                Item::Fraction => {
                    let len = rest.len();
                    let digits = number(&mut rest, 1, 9)?;
                    let len = len - rest.len();
                    nanoseconds = digits as u32 * 10u32.pow(9 - len as u32);
                    has_nanoseconds = len > 6;
                }
                Item::Offset => {
                    let len = if next.is_none() { rest.len() } else { offset_len(rest) };
                    let (here, after) = rest.split_at(len);
                    from_utc = offset(here)??;
                    rest = after;
                }
            }
        }
        if let Some(half_hour) = half_hour {
            if !(1..=12).contains(&half_hour) {
                return None;
            }
            hour = half_hour % 12 + if is_afternoon { 12 } else { 0 };
        }
        if !rest.is_empty() || hour > 23 || minute > 59 || second > 59 {
            return None;
        }
        let day = match day_of_year {
            None => days(year, month, day)?,
            Some(number) => {
                let first = days(year, 1, 1)?;
                let day = first + number as i64 - 1;
                if number == 0 || day >= days(year + 1, 1, 1)? {
                    return None;
                }
                day
            }
        };
        let seconds = day * 86_400 + (hour * 3600 + minute * 60 + second) as i64 - from_utc;
        Some(Datetime { seconds, nanoseconds, has_nanoseconds, is_utc: self.has_offset })
    }
}

impl Format {
    /// The time of a field, which is midnight for a date.
    pub fn read(&self, field: &[u8], memory: &mut Vec<u8>) -> Option<Datetime> {
        if let Self::Own(own) = self {
            return own.read(field);
        }
        memory.clear();
        memory.extend_from_slice(field);
        memory.resize(field.len() + super::PADDING, 0);
        match self {
            Self::IsoDate => {
                let days = super::times::date(memory, 0, field.len())?;
                let seconds = i64::from(days) * 86_400;
                Some(Datetime { seconds, nanoseconds: 0, has_nanoseconds: false, is_utc: false })
            }
            Self::IsoTime { is_utc } => {
                super::times::datetime(memory, 0, field.len()).filter(|time| time.is_utc == *is_utc)
            }
            Self::Own(own) => own.read(field),
        }
    }

    /// Whether it has a time of day.
    pub fn has_time(&self) -> bool {
        match self {
            Self::IsoDate => false,
            Self::IsoTime { .. } => true,
            Self::Own(own) => own.has_time,
        }
    }

    /// Whether it has an offset from UTC.
    pub fn is_utc(&self) -> bool {
        match self {
            Self::IsoDate => false,
            Self::IsoTime { is_utc } => *is_utc,
            Self::Own(own) => own.has_offset,
        }
    }
}

/// Appends a number with at least `n` digits.
fn digits(out: &mut Vec<u8>, value: i64, n: usize) {
    let text = format!("{value:0n$}");
    out.extend_from_slice(text.as_bytes());
}

/// Takes a number of `least` to `most` digits.
fn number(rest: &mut &[u8], least: usize, most: usize) -> Option<u64> {
    let len = rest.iter().take(most).take_while(|byte| byte.is_ascii_digit()).count();
    if len < least {
        return None;
    }
    let (digits, after) = rest.split_at(len);
    *rest = after;
    Some(digits.iter().fold(0, |number, digit| 10 * number + u64::from(digit - b'0')))
}

/// The length of an offset from UTC at the start of a text.
fn offset_len(text: &[u8]) -> usize {
    if text.first() == Some(&b'Z') {
        return 1;
    }
    [6, 5, 3]
        .into_iter()
        .find(|&len| text.get(..len).is_some_and(|text| matches!(offset(text), Some(Some(_)))))
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(format: &str, field: &str) -> Option<(i64, u32)> {
        let time = Own::parse(format).unwrap().read(field.as_bytes())?;
        Some((time.seconds, time.nanoseconds))
    }

    fn seconds(text: &str) -> i64 {
        let mut memory = Vec::new();
        let iso = Format::IsoTime { is_utc: false };
        iso.read(text.as_bytes(), &mut memory).unwrap().seconds
    }

    #[test]
    fn formats_are_read() {
        for (format, field, expected) in [
            ("%d/%m/%Y", "31/01/2020", "2020-01-31T00:00"),
            ("%d/%m/%Y", "1/2/2020", "2020-02-01T00:00"),
            ("%m/%d/%y", "12/31/68", "2068-12-31T00:00"),
            ("%m/%d/%y", "12/31/69", "1969-12-31T00:00"),
            ("%d.%m.%Y %H:%M:%S", "29.02.2020 23:59:58", "2020-02-29T23:59:58"),
            ("%Y%m%d", "20200102", "2020-01-02T00:00"),
            ("%Y%m%dT%H%M", "20200102T0304", "2020-01-02T03:04"),
            ("%d%b%Y", "05Mar2020", "2020-03-05T00:00"),
            ("%d-%b-%Y", "5-MAR-2020", "2020-03-05T00:00"),
            ("%b %d, %Y %I:%M %p", "Dec 31, 2020 12:05 am", "2020-12-31T00:05"),
            ("%b %d, %Y %I:%M%p", "Dec 31, 2020 1:05PM", "2020-12-31T13:05"),
            ("%Y %j", "2020 366", "2020-12-31T00:00"),
            ("%Y-%m-%dT%H:%M%z", "2020-01-01T00:30+01:00", "2019-12-31T23:30"),
            ("%z %d/%m/%Y %H", "-0130 01/01/2020 5", "2020-01-01T06:30"),
            ("%d%%%m%%%Y", "1%2%2020", "2020-02-01T00:00"),
        ] {
            assert_eq!(read(format, field), Some((seconds(expected), 0)), "{format} {field}");
        }
        let field = "01/01/1970 00:00:01.123456789";
        assert_eq!(read("%d/%m/%Y %H:%M:%S.%f", field), Some((1, 123_456_789)));
        assert_eq!(read("%d/%m/%Y %H:%M:%S.%f", "01/01/1970 00:00:01.5"), Some((1, 500_000_000)));
    }

    #[test]
    fn written_times_are_read_again() {
        for (format, text, expected) in [
            ("%d.%m.%Y", "2020-01-31T00:00", Some("31.01.2020")),
            ("%m/%d/%y", "2068-12-31T00:00", Some("12/31/68")),
            ("%m/%d/%y", "1968-12-31T00:00", None),
            ("%d.%m.%Y", "2020-01-31T00:01", None),
            ("%d-%b-%Y", "0980-03-05T00:00", Some("05-Mar-0980")),
            ("%b %d, %Y %I:%M %p", "2020-12-31T00:05", Some("Dec 31, 2020 12:05 AM")),
            ("%b %d, %Y %I:%M %p", "2020-12-31T12:05", Some("Dec 31, 2020 12:05 PM")),
            ("%b %d, %Y %I:%M %p", "2020-12-31T23:05", Some("Dec 31, 2020 11:05 PM")),
            ("%Y %j", "2020-12-31T00:00", Some("2020 366")),
            ("%Y %j", "2019-01-01T00:00", Some("2019 001")),
            ("%Y-%m-%dT%H:%M%z", "1969-12-31T23:30", Some("1969-12-31T23:30+0000")),
            // ISO 8601 gives another day.
            ("%Y-%d-%m", "2020-01-02T00:00", None),
            ("%Y-%d-%m", "2020-01-31T00:00", Some("2020-31-01")),
            ("%Y%m%d", "2020-01-02T00:00", Some("20200102")),
        ] {
            let mut out = b"x".to_vec();
            let is_same = Own::parse(format).unwrap().write(seconds(text), 0, &mut out);
            let found = is_same.then(|| std::str::from_utf8(&out[1..]).unwrap());
            assert_eq!(found, expected, "{format} {text}");
        }
        let own = Own::parse("%d/%m/%Y %H:%M:%S.%f").unwrap();
        for (nanoseconds, fraction) in [(123_456_789, "123456789"), (500_000_000, "500000"), (1000, "000001")]
        {
            let mut out = Vec::new();
            assert!(own.write(1, nanoseconds, &mut out));
            assert_eq!(out, format!("01/01/1970 00:00:01.{fraction}").as_bytes());
        }
        assert!(!Own::parse("%d/%m/%Y %H:%M:%S").unwrap().write(1, 1, &mut Vec::new()));
        assert!(!Own::parse("%d/%m/%Y").unwrap().write(i64::MAX / 2, 0, &mut Vec::new()));
    }

    #[test]
    fn other_fields_do_not_fit() {
        for (format, field) in [
            ("%d/%m/%Y", "32/01/2020"),
            ("%d/%m/%Y", "29/02/2021"),
            ("%d/%m/%Y", "01/13/2020"),
            ("%d/%m/%Y", "1/1/20"),
            ("%d/%m/%Y", "1/1/20200"),
            ("%d/%m/%Y", "001/1/2020"),
            ("%d/%m/%Y", " 1/1/2020"),
            ("%d/%m/%Y", "1/1/2020 "),
            ("%d/%m/%Y", "1-1-2020"),
            ("%d/%m/%Y", ""),
            ("%Y%m%d", "2020102"),
            ("%Y %j", "2021 366"),
            ("%Y %j", "2021 000"),
            ("%d/%m/%Y %H:%M", "1/1/2020 24:00"),
            ("%d/%m/%Y %H:%M:%S", "1/1/2020 23:59:60"),
            ("%d/%m/%Y %I:%M %p", "1/1/2020 13:00 PM"),
            ("%d/%m/%Y %I:%M %p", "1/1/2020 0:00 AM"),
            ("%d/%m/%Y %H%z", "1/1/2020 5"),
            ("%d/%b/%Y", "1/Mär/2020"),
            ("%d/%m/%Y %H:%M:%S.%f", "1/1/2020 00:00:00.0123456789"),
        ] {
            assert_eq!(read(format, field), None, "{format} {field}");
        }
    }

    #[test]
    fn formats_give_one_date_and_one_time() {
        for format in [
            "",
            "%d/%m",
            "%Y",
            "%m/%Y",
            "%Y-%m-%d %d",
            "%Y-%y-%m-%d",
            "%Y-%m-%b-%d",
            "%Y-%m-%d %j",
            "%d %j %Y",
            "%Y-%m-%d %M",
            "%Y-%m-%d %H:%S",
            "%Y-%m-%d %H:%M.%f",
            "%Y-%m-%d %I",
            "%Y-%m-%d %H %p",
            "%Y-%m-%d %H %I %p",
            "%Y-%m-%d%z",
            "%Y-%m-%d %Q",
            "%Y-%m-%d %",
        ] {
            assert!(Own::parse(format).is_err(), "{format}");
        }
    }
}
