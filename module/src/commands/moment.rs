//! Commands in pairs: `X` happens now, `XAT` at a moment that the client tells after the key.

use crate::engine::{Arg, Kind};

/// An argument for the moment at which something happens.
pub const MOMENT: Arg = Arg::new(c"milliseconds", Kind::Moment);

/// Declares such a pair: the name and the summary of both, what they may do, their arguments after the key
/// and how many words those are at least, and the deed. That is told when it happens, and the place of the
/// first word after key and moment.
macro_rules! now_and_at {
    (
        $now:ident: $name:expr, $summary:expr;
        $at:ident: $name_at:expr, $summary_at:expr;
        $effect:expr, [$($arg:expr),+], $words:literal, $deed:expr
    ) => {
        #[doc = concat!("`", stringify!($name), "`, now.")]
        pub struct $now;

        #[doc = concat!("`", stringify!($name_at), "`, at a moment.")]
        pub struct $at;

        impl $crate::engine::Command<$crate::ours::Ours> for $now {
            const DOC: $crate::engine::Doc = $crate::engine::Doc {
                name: $name,
                summary: $summary,
                complexity: c"O(N) where N is the number of items",
                arity: -2 - $words,
                effect: $effect,
                keys: $crate::engine::Keys::First,
                args: &[$crate::engine::Arg::key(), $($arg),+],
            };

            #[inline(always)]
            fn run(
                call: &mut $crate::ours::Call<'_>,
            ) -> Result<$crate::engine::Reply, $crate::engine::Refusal> {
                $deed(call, $crate::args::When::Now, 2)
            }
        }

        impl $crate::engine::Command<$crate::ours::Ours> for $at {
            const DOC: $crate::engine::Doc = $crate::engine::Doc {
                name: $name_at,
                summary: $summary_at,
                arity: -3 - $words,
                args: &[$crate::engine::Arg::key(), $crate::commands::moment::MOMENT, $($arg),+],
                ..<$now as $crate::engine::Command<$crate::ours::Ours>>::DOC
            };

            #[inline(always)]
            fn run(
                call: &mut $crate::ours::Call<'_>,
            ) -> Result<$crate::engine::Reply, $crate::engine::Refusal> {
                let when = $crate::args::When::at(call.word(2))?;
                $deed(call, when, 3)
            }
        }
    };
}

pub(super) use now_and_at;
