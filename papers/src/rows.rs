//! Rows of the papers' structures; the library's are in [`lately::catalog`].

use lately::catalog::{self, Catalog, Row};
use lately::duplicates::{AloneParameters as Alone, QueuingParameters as Queued};

use crate::{
    BlockDecayingParameters, Cuckoo, GrowingLayersParameters, GrowingTailsParameters, StableBloom,
    StreamingQuotient, TimeLimitedParameters, TwoBuffersParameters,
};

/// Every structure: those of the library, then those of papers.
pub const CATALOG: Catalog = Catalog::of(&[catalog::ROWS, ROWS]);

/// Every structure of this crate: id in snapshots, name, and what it is good at.
#[rustfmt::skip]
pub const ROWS: &[Row] = &[
    Row::of::<Alone<Cuckoo>>(25, "cuckoo",
        "full of fingerprints, it forgets at random; kept for comparison"),
    Row::of::<Queued<Cuckoo>>(31, "queued-cuckoo",
        "cuckoo tables that take turns: small errors from few bits"),
    Row::of::<Alone<StreamingQuotient>>(24, "streaming-quotient",
        "a published rival of quotient tables, kept for comparison"),
    Row::of::<Queued<StreamingQuotient>>(30, "queued-streaming-quotient",
        "streaming quotient filters that take turns, kept for comparison"),
    Row::of::<Alone<StableBloom>>(26, "stable-bloom",
        "a published way to forget evenly; kept for comparison"),
    Row::of::<Queued<StableBloom>>(32, "queued-stable-bloom",
        "stable Bloom filters that take turns, kept for comparison"),
    Row::of::<TwoBuffersParameters>(27, "active-active",
        "two Bloom filters that turn by new keys, not by keys; repeats do not age it"),
    Row::of::<BlockDecayingParameters>(28, "block-decaying",
        "one array of counters, with a small slack"),
    Row::of::<TimeLimitedParameters>(11, "time-limited",
        "keeps a span of time at any rate, and its memory follows the rate"),
    Row::of::<GrowingTailsParameters>(42, "growing-tails",
        "lookups in one place, but a doubling stops everything"),
    Row::of::<GrowingLayersParameters>(41, "growing-layers",
        "a plain stack of Bloom filters, which asks all of them"),
];
