//! Sets that never forget.

use datasketches::bloom::{BloomFilter as DatasketchesBloom, BloomFilterBuilder};
use growable_bloom_filter::GrowableBloom;
use lately::raw::Unfit;
use lately::{Promise, Time};
use scalable_cuckoo_filter::ScalableCuckooFilter;

use super::split_block::SplitBlock;
use super::{FastBloom, error, fastbloom, set_promise, set_size};
use crate::contender::{Profile, Rival, Subject};

/// A single `fastbloom` filter, for a set whose size is known.
pub static FASTBLOOM: Rival = Rival {
    name: "fastbloom",
    build: |goal, seed| {
        let items = set_size(goal)?;
        let filter = fastbloom(error(goal)?, items, seed);
        let promise = set_promise(filter.expected_false_pos(items as usize));
        Ok(Box::new(Set { filter, promise }))
    },
};

/// A `qfilter` quotient filter, for a set whose size is known.
pub static QFILTER: Rival = Rival {
    name: "qfilter",
    build: |goal, _| {
        let filter = qfilter::Filter::new(set_size(goal)?, error(goal)?)
            .map_err(|_| Unfit("cannot be sized so"))?;
        let promise = set_promise(filter.max_error_ratio());
        Ok(Box::new(Set { filter, promise }))
    },
};

/// A `scalable_cuckoo_filter`, which grows beyond its first capacity: given a tenth of the size.
pub static SCALABLE_CUCKOO: Rival = Rival {
    name: "scalable-cuckoo",
    build: |goal, _| {
        let first = (set_size(goal)? / 10).max(1) as usize;
        let rate = error(goal)?;
        let filter = ScalableCuckooFilter::new(first, rate);
        Ok(Box::new(Set { filter, promise: set_promise(rate) }))
    },
};

/// A `qfilter` that starts as small as can be and doubles up to the expected size.
pub static QFILTER_GROWN: Rival = Rival {
    name: "qfilter",
    build: |goal, _| {
        let rate = error(goal)?;
        let filter = qfilter::Filter::new_resizeable(SMALLEST, set_size(goal)?, rate)
            .map_err(|_| Unfit("cannot be sized so"))?;
        Ok(Box::new(Set { filter, promise: set_promise(rate) }))
    },
};

/// A `scalable_cuckoo_filter` that starts as small.
pub static SCALABLE_CUCKOO_GROWN: Rival = Rival {
    name: "scalable-cuckoo",
    build: |goal, _| {
        let rate = error(goal)?;
        let filter = ScalableCuckooFilter::new(SMALLEST as usize, rate);
        Ok(Box::new(Set { filter, promise: set_promise(rate) }))
    },
};

/// Keys for which a rival that grows is sized at first.
const SMALLEST: u64 = 64;

/// A `sbbf-rs-safe` filter of one cache line per key, for a set whose size is known.
pub static SPLIT_BLOCK: Rival = Rival {
    name: "sbbf-rs-safe",
    build: |goal, seed| {
        let filter = SplitBlock::new(set_size(goal)?, error(goal)?, seed)?;
        let promise = set_promise(filter.false_positives);
        Ok(Box::new(Set { filter, promise }))
    },
};

/// A `growable-bloom-filter`, told the size: it adds layers beyond that.
pub static GROWABLE_BLOOM: Rival = Rival {
    name: "growable-bloom-filter",
    build: |goal, _| {
        let rate = error(goal)?;
        let filter = GrowableBloom::new(rate, set_size(goal)? as usize);
        Ok(Box::new(Set { filter, promise: set_promise(rate) }))
    },
};

/// The Bloom filter of Apache's `datasketches`.
pub static DATASKETCHES: Rival = Rival {
    name: "datasketches",
    build: |goal, seed| {
        let rate = error(goal)?;
        let builder = BloomFilterBuilder::with_accuracy(set_size(goal)?, rate).seed(seed.0);
        let filter = builder.build().map_err(|_| Unfit("cannot be sized so"))?;
        Ok(Box::new(Set { filter, promise: set_promise(rate) }))
    },
};

/// A rival that never forgets.
struct Set<F> {
    filter: F,
    promise: Promise,
}

/// Inserting and looking up, as each crate spells it.
trait SetOperations {
    /// `true` if the key was new.
    fn insert(&mut self, key: u64) -> bool;
    fn contains(&self, key: u64) -> bool;
}

impl<F: SetOperations> Subject for Set<F> {
    fn profile(&self) -> Profile {
        Profile::of_rival(self.promise)
    }

    #[inline]
    fn insert(&mut self, key: u64, _now: Time) -> bool {
        self.filter.insert(key)
    }

    #[inline]
    fn contains(&self, key: u64, _now: Time) -> bool {
        self.filter.contains(key)
    }
}

impl SetOperations for FastBloom {
    #[inline]
    fn insert(&mut self, key: u64) -> bool {
        !FastBloom::insert(self, &key)
    }

    #[inline]
    fn contains(&self, key: u64) -> bool {
        FastBloom::contains(self, &key)
    }
}

impl SetOperations for qfilter::Filter {
    #[inline]
    fn insert(&mut self, key: u64) -> bool {
        qfilter::Filter::insert(self, key).expect("no more keys than it was sized for")
    }

    #[inline]
    fn contains(&self, key: u64) -> bool {
        qfilter::Filter::contains(self, key)
    }
}

impl SetOperations for ScalableCuckooFilter<u64> {
    #[inline]
    fn insert(&mut self, key: u64) -> bool {
        !self.insert_if_not_contained(&key)
    }

    #[inline]
    fn contains(&self, key: u64) -> bool {
        ScalableCuckooFilter::contains(self, &key)
    }
}

impl SetOperations for SplitBlock {
    #[inline]
    fn insert(&mut self, key: u64) -> bool {
        !self.filter.insert_hash(self.hash(key))
    }

    #[inline]
    fn contains(&self, key: u64) -> bool {
        self.filter.contains_hash(self.hash(key))
    }
}

impl SetOperations for GrowableBloom {
    #[inline]
    fn insert(&mut self, key: u64) -> bool {
        GrowableBloom::insert(self, key)
    }

    #[inline]
    fn contains(&self, key: u64) -> bool {
        GrowableBloom::contains(self, key)
    }
}

impl SetOperations for DatasketchesBloom {
    #[inline]
    fn insert(&mut self, key: u64) -> bool {
        !self.contains_and_insert(&key)
    }

    #[inline]
    fn contains(&self, key: u64) -> bool {
        DatasketchesBloom::contains(self, &key)
    }
}
