//! Kinds of cells, the parts of trees (`docs/format/values.md`).

codes! {
    /// The kind of a cell.
    CellKind: u8 {
        /// Nothing.
        Null = 0, "None";
        /// False.
        False = 1, "False";
        /// True.
        True = 2, "True";
        /// Three dots.
        Ellipsis = 3, "Ellipsis";
        /// The missing value of pandas.
        NA = 4, "NA";
        /// The missing time of pandas.
        NaT = 5, "NaT";
        /// False of NumPy.
        NumpyFalse = 6, "numpy.False";
        /// True of NumPy.
        NumpyTrue = 7, "numpy.True";
        /// An integer.
        Int = 16, "int";
        /// A day since 1970.
        Date = 17, "date";
        /// Microseconds of a day.
        Time = 18, "time";
        /// Microseconds since 1970, without a zone.
        Datetime = 19, "datetime";
        /// Microseconds.
        Timedelta = 20, "timedelta";
        /// An integer of NumPy.
        Int8 = 21, "numpy.int8";
        /// An integer of NumPy.
        Int16 = 22, "numpy.int16";
        /// An integer of NumPy.
        Int32 = 23, "numpy.int32";
        /// An integer of NumPy.
        Int64 = 24, "numpy.int64";
        /// An integer of NumPy.
        UInt8 = 25, "numpy.uint8";
        /// An integer of NumPy.
        UInt16 = 26, "numpy.uint16";
        /// An integer of NumPy.
        UInt32 = 27, "numpy.uint32";
        /// An integer of NumPy.
        UInt64 = 28, "numpy.uint64";
        /// Refers to another cell.
        Reference = 29, "reference";
        /// The number of a table.
        Table = 30, "table";
        /// A float.
        Float = 32, "float";
        /// A float of NumPy.
        Float64 = 33, "numpy.float64";
        /// A float of NumPy.
        Float32 = 34, "numpy.float32";
        /// A float of NumPy.
        Float16 = 35, "numpy.float16";
        /// Text.
        Str = 40, "str";
        /// A decimal number, as text.
        Decimal = 41, "Decimal";
        /// A path without a file system.
        PurePosixPath = 42, "PurePosixPath";
        /// A path without a file system.
        PureWindowsPath = 43, "PureWindowsPath";
        /// A path.
        PosixPath = 44, "PosixPath";
        /// A path.
        WindowsPath = 45, "WindowsPath";
        /// Text of NumPy.
        NumpyStr = 46, "numpy.str";
        /// Bytes.
        Bytes = 48, "bytes";
        /// Bytes, mutable.
        ByteArray = 49, "bytearray";
        /// An integer of more than 64 bits.
        BigInt = 50, "int";
        /// A universally unique identifier.
        Uuid = 51, "UUID";
        /// Text with unpaired surrogates.
        Surrogates = 52, "str";
        /// Bytes of NumPy.
        NumpyBytes = 53, "numpy.bytes";
        /// Values in order.
        List = 64, "list";
        /// Values in order, immutable.
        Tuple = 65, "tuple";
        /// Distinct values.
        Set = 66, "set";
        /// Distinct values, immutable.
        FrozenSet = 67, "frozenset";
        /// Keys and values in order.
        Map = 68, "dict";
        /// Real and imaginary part.
        Complex = 69, "complex";
        /// Start, stop, step.
        Range = 70, "range";
        /// Start, stop, step.
        Slice = 71, "slice";
        /// Numerator and denominator.
        Fraction = 72, "Fraction";
        /// Time, zone, fold.
        FullTime = 73, "time";
        /// Datetime, zone, fold.
        FullDatetime = 74, "datetime";
        /// Days, seconds, microseconds.
        FullTimedelta = 75, "timedelta";
        /// Elements that are any values.
        ObjectArray = 76, "array of objects";
        /// A name, then parts.
        Object = 77, "object";
        /// Maps with equal keys: a list of values for each key.
        Records = 78, "list";
        /// Tuples of equal length: a list of values for each position.
        Rows = 79, "list";
        /// An array, the last axis running fastest.
        Array = 96, "array";
        /// An array, the first axis running fastest.
        FortranArray = 97, "array";
    }
}

/// The kinds by their codes.
static KINDS: [Option<CellKind>; 256] = {
    let mut kinds = [None; 256];
    let mut code = 0;
    while code < 256 {
        kinds[code] = CellKind::from_code(code as u8);
        code += 1;
    }
    kinds
};

/// The pool that holds a cell's value.
#[repr(u8)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CellClass {
    /// A kind without a value.
    Unit = 0,
    /// Integers of 64 bits.
    Int = 1,
    /// Floats of 64 bits.
    Float = 2,
    /// Text.
    Str = 3,
    /// Bytes.
    Bytes = 4,
    /// Children.
    Parent = 5,
    /// Arrays.
    Array = 6,
}

impl CellKind {
    /// The class, which follows from the code.
    #[inline]
    pub const fn class(self) -> CellClass {
        match self.code() {
            0..16 => CellClass::Unit,
            16..32 => CellClass::Int,
            32..40 => CellClass::Float,
            40..48 => CellClass::Str,
            48..64 => CellClass::Bytes,
            64..96 => CellClass::Parent,
            _ => CellClass::Array,
        }
    }

    /// The kind with this code. A table, because millions of kinds are looked up.
    #[inline]
    pub fn of(code: u8) -> Option<Self> {
        KINDS[code as usize]
    }

    /// Whether it is a list of rows: its children are lists, one for each key or index.
    #[inline]
    pub const fn is_rows(self) -> bool {
        matches!(self, Self::Records | Self::Rows)
    }

    /// Whether it has keys, its own or those of another map.
    #[inline]
    pub const fn has_keys(self) -> bool {
        matches!(self, Self::Map | Self::Records)
    }

    /// Whether it can be a value in a list of rows: it has no parts.
    #[inline]
    pub const fn is_scalar(self) -> bool {
        self.code() < 64 && !matches!(self, Self::Reference | Self::Table)
    }

    /// The number of children, if it is the same for all cells of the kind.
    pub const fn n_children(self) -> Option<u64> {
        match self {
            Self::Complex | Self::Fraction => Some(2),
            Self::Range | Self::Slice | Self::FullTime | Self::FullDatetime | Self::FullTimedelta => Some(3),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_and_classes() {
        for &kind in CellKind::ALL {
            assert_eq!(CellKind::from_code(kind.code()), Some(kind));
            assert_eq!(CellKind::of(kind.code()), Some(kind));
        }
        assert!((0..=255).filter(|&code| CellKind::from_code(code).is_some()).count() == CellKind::ALL.len());
        assert_eq!(CellKind::Table.class(), CellClass::Int);
        assert_eq!(CellKind::Object.class(), CellClass::Parent);
        assert_eq!(CellKind::FortranArray.class(), CellClass::Array);
    }
}
