//! Kinds of times.

/// Kinds of times. Only times of one kind are compared.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TimeKind {
    /// A day or a point in time without a time zone.
    Naive,
    /// A point in time with a time zone.
    Aware,
    /// A time of day.
    OfDay,
    /// A span of time.
    Duration,
}
