//! The word before each item: its type, and what follows.

/// The types of items.
pub(super) mod kind {
    pub const NIL: u8 = 0;
    pub const SYMBOL: u8 = 1;
    pub const PAIRLIST: u8 = 2;
    pub const CLOSURE: u8 = 3;
    pub const ENVIRONMENT: u8 = 4;
    pub const PROMISE: u8 = 5;
    pub const CALL: u8 = 6;
    pub const SPECIAL: u8 = 7;
    pub const BUILTIN: u8 = 8;
    pub const CHAR: u8 = 9;
    pub const LOGICAL: u8 = 10;
    pub const INTEGER: u8 = 13;
    pub const DOUBLE: u8 = 14;
    pub const COMPLEX: u8 = 15;
    pub const STRINGS: u8 = 16;
    pub const DOTS: u8 = 17;
    pub const LIST: u8 = 19;
    pub const EXPRESSION: u8 = 20;
    pub const BYTE_CODE: u8 = 21;
    pub const POINTER: u8 = 22;
    pub const WEAK_REFERENCE: u8 = 23;
    pub const RAW: u8 = 24;
    pub const S4: u8 = 25;
    pub const ALTREP: u8 = 238;
    pub const BASE_ENVIRONMENT: u8 = 241;
    pub const EMPTY_ENVIRONMENT: u8 = 242;
    pub const PACKAGE: u8 = 248;
    pub const NAMESPACE: u8 = 249;
    pub const PERSISTENT: u8 = 247;
    pub const BASE_NAMESPACE: u8 = 250;
    pub const MISSING_ARGUMENT: u8 = 251;
    pub const UNBOUND: u8 = 252;
    pub const GLOBAL_ENVIRONMENT: u8 = 253;
    pub const NIL_VALUE: u8 = 254;
    pub const REFERENCE: u8 = 255;
}

/// Levels of strings: the encoding.
pub(super) mod level {
    pub const BYTES: u32 = 1 << 1;
    pub const LATIN1: u32 = 1 << 2;
    pub const UTF8: u32 = 1 << 3;
}

/// The word before an item.
#[derive(Clone, Copy, Debug)]
pub(super) struct Flags(pub(super) u32);

impl Flags {
    /// The type.
    pub(super) fn kind(self) -> u8 {
        self.0 as u8
    }

    /// Whether attributes follow.
    pub(super) fn has_attributes(self) -> bool {
        self.0 & 1 << 9 != 0
    }

    /// Whether a tag follows.
    pub(super) fn has_tag(self) -> bool {
        self.0 & 1 << 10 != 0
    }

    /// Bits that depend on the type.
    pub(super) fn levels(self) -> u32 {
        self.0 >> 12 & 0xffff
    }

    /// Whether it is an object of S4.
    pub(super) fn is_s4(self) -> bool {
        self.levels() & 1 << 4 != 0
    }

    /// For names in an environment: whether the value is locked.
    pub(super) fn is_locked_binding(self) -> bool {
        self.levels() & 1 << 14 != 0
    }

    /// For names in an environment: whether the value is a function that computes it.
    pub(super) fn is_active_binding(self) -> bool {
        self.levels() & 1 << 15 != 0
    }

    /// Whether the item is NULL.
    pub(super) fn is_null(self) -> bool {
        matches!(self.kind(), kind::NIL | kind::NIL_VALUE)
    }
}
