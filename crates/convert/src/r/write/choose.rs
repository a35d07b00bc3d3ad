//! Chooses the kind of column for a vector, by its type and attributes.

use entasis::Unit;

use super::classes;
use crate::r::kind::Kind;
use crate::r::times::Scale;
use crate::r::zones::zone_of;
use crate::r::{Data, Strings, Value};

/// The host variant of times that are integers.
const VARIANT_INTEGER: u8 = 1;
/// The host variant of timestamps that are 64-bit integers.
const VARIANT_INTEGER64: u8 = 4;

/// The kind of column for a vector, and the attributes that it implies.
pub(super) struct Chosen<'a> {
    pub kind: Kind,
    pub unit: Unit,
    pub variant: u8,
    pub scale: Option<Scale>,
    pub zone: Option<&'a str>,
    pub levels: Option<&'a Strings>,
    pub is_ordered: bool,
    pub implied: Option<Implied<'a>>,
}

/// Attributes that a kind implies, in R's order.
#[derive(Clone, Copy)]
pub(super) enum Implied<'a> {
    Factor { is_ordered: bool },
    Class(&'static str),
    Instant { zone: &'a str },
    Span,
}

/// The kind of column for a vector, by its type and attributes; `None` for other values.
pub(super) fn choose(value: &Value) -> Option<Chosen<'_>> {
    let plain = |kind| Chosen {
        kind,
        unit: Unit::None,
        variant: 0,
        scale: None,
        zone: None,
        levels: None,
        is_ordered: false,
        implied: None,
    };
    let class = classes(value);
    let has = |name: &str| class.contains(&name);
    Some(match &value.data {
        Data::Integer(_) if has("factor") && levels_of(value).is_some() => {
            let is_ordered = has("ordered");
            let implied = Some(Implied::Factor { is_ordered });
            Chosen { levels: levels_of(value), is_ordered, implied, ..plain(Kind::Codes) }
        }
        Data::Integer(_) => match time(value, &class) {
            Some(Time { integer: kind, unit, implied, zone, .. }) => {
                Chosen { unit, variant: VARIANT_INTEGER, implied: Some(implied), zone, ..plain(kind) }
            }
            None => plain(Kind::Integer),
        },
        Data::Double(_) => match time(value, &class) {
            Some(Time { double: kind, scale, implied, zone, .. }) => {
                Chosen { scale: Some(scale), implied: Some(implied), zone, ..plain(kind) }
            }
            None if has("integer64") => {
                Chosen { implied: Some(Implied::Class("integer64")), ..plain(Kind::Integer64) }
            }
            None if has("nanotime") && value.is_s4 => {
                let (unit, variant) = (Unit::Nanosecond, VARIANT_INTEGER64);
                Chosen { unit, variant, zone: Some("UTC"), ..plain(Kind::Integer64) }
            }
            None => plain(Kind::Double),
        },
        Data::Logical(_) => plain(Kind::Logical),
        Data::Complex(_) => plain(Kind::Complex),
        Data::Raw(_) => plain(Kind::Raw),
        Data::Strings(_) => plain(Kind::String),
        Data::List(_) => plain(Kind::List),
        _ => return None,
    })
}

/// The levels of a factor.
fn levels_of(value: &Value) -> Option<&Strings> {
    value.attribute("levels").filter(|levels| levels.attributes().is_empty()).and_then(Value::strings)
}

/// The kinds of dates, times and durations.
struct Time<'a> {
    double: Kind,
    integer: Kind,
    scale: Scale,
    unit: Unit,
    zone: Option<&'a str>,
    implied: Implied<'a>,
}

fn time<'a>(value: &'a Value, class: &[&str]) -> Option<Time<'a>> {
    if class.contains(&"Date") {
        let (double, integer) = (Kind::Days, Kind::DaysInteger);
        let implied = Implied::Class("Date");
        return Some(Time { double, integer, scale: Scale::Days, unit: Unit::Day, zone: None, implied });
    }
    if class.contains(&"POSIXct") {
        let zone = zone_of(value.attribute("tzone"));
        let (double, integer) = (Kind::Instant, Kind::InstantInteger);
        let (scale, unit, implied) = (Scale::Instant, Unit::Second, Implied::Instant { zone });
        return Some(Time { double, integer, scale, unit, zone: Some(zone), implied });
    }
    if class.contains(&"difftime") {
        let units = value.attribute("units")?.strings().filter(|units| units.len() == 1)?;
        let (seconds, unit) = match units.get(0)? {
            "secs" => (1, Unit::Second),
            "mins" => (60, Unit::Minute),
            "hours" => (3_600, Unit::Hour),
            "days" => (86_400, Unit::Day),
            "weeks" => (604_800, Unit::Week),
            _ => return None,
        };
        let (double, integer) = (Kind::Span, Kind::SpanInteger);
        let (scale, implied) = (Scale::Span(seconds), Implied::Span);
        return Some(Time { double, integer, scale, unit, zone: None, implied });
    }
    None
}
