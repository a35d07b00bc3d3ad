//! Enumerations that the file stores as one number.

/// Defines an enumeration with the given codes, with `from_code`, `code`, `name` and `Display`.
macro_rules! codes {
    ($(#[$meta:meta])* $name:ident: $number:ty { $($(#[$doc:meta])* $variant:ident = $code:literal, $text:literal;)+ }) => {
        $(#[$meta])*
        #[repr($number)]
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum $name { $($(#[$doc])* $variant = $code,)+ }

        impl $name {
            /// All variants, ascending by code.
            pub const ALL: &'static [$name] = &[$($name::$variant,)+];

            /// The variant with this code, if this version knows it.
            #[inline]
            pub const fn from_code(code: $number) -> Option<Self> {
                match code { $($code => Some($name::$variant),)+ _ => None }
            }

            /// The number in the file.
            #[inline]
            pub const fn code(self) -> $number {
                match self { $($name::$variant => $code,)+ }
            }

            /// The name to show.
            pub const fn name(self) -> &'static str {
                match self { $($name::$variant => $text,)+ }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.name())
            }
        }
    };
}
