//! Enums whose values have a number and a name in JSON.

/// Declare an enum. `ALL` has its values in order of their numbers.
macro_rules! named {
    ($(#[$of_enum:meta])* $enum:ident { $($(#[$of_value:meta])* $value:ident = $name:literal,)+ }) => {
        $(#[$of_enum])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $enum {
            $($(#[$of_value])* $value,)+
        }

        impl $enum {
            /// All values, in order of their numbers.
            pub const ALL: [Self; [$($name),+].len()] = [$(Self::$value),+];

            /// Its name in JSON and in sentences.
            pub fn name(self) -> &'static str {
                [$($name),+][self as usize]
            }
        }
    };
}
pub(super) use named;
