//! Filters as a field of whatever is serialized: their snapshots, as bytes. Feature `serde`.

use alloc::vec::Vec;
use core::fmt;
use core::marker::PhantomData;

use serde::de::{Error as _, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

#[cfg(feature = "std")]
use super::Shared;
use super::{Counter, Lately, Timed};
use crate::error::Error;

/// Something with a snapshot.
trait Snapshot: Sized {
    fn open_snapshot(bytes: &[u8]) -> Result<Self, Error>;
}

/// Takes bytes in any of the ways in which formats hand them over.
struct SnapshotBytes<S>(PhantomData<S>);

impl<'de, S: Snapshot> Visitor<'de> for SnapshotBytes<S> {
    type Value = S;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the bytes of a lately snapshot")
    }

    fn visit_bytes<E: serde::de::Error>(self, bytes: &[u8]) -> Result<S, E> {
        S::open_snapshot(bytes).map_err(E::custom)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<S, A::Error> {
        let mut bytes = Vec::new();
        while let Some(byte) = sequence.next_element()? {
            bytes.push(byte);
        }
        S::open_snapshot(&bytes).map_err(A::Error::custom)
    }
}

macro_rules! as_its_snapshot {
    ($($type:ty, $open:path);+ $(;)?) => {$(
        impl Snapshot for $type {
            fn open_snapshot(bytes: &[u8]) -> Result<Self, Error> {
                $open(bytes)
            }
        }

        impl Serialize for $type {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_bytes(&self.save())
            }
        }

        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                deserializer.deserialize_byte_buf(SnapshotBytes(PhantomData))
            }
        }
    )+};
}

as_its_snapshot! {
    Lately, Lately::open;
    Lately<Timed>, Lately::open_within;
    Counter, Counter::open;
    Counter<Timed>, Counter::open_within;
}

#[cfg(feature = "std")]
as_its_snapshot! {
    Shared, Shared::open;
    Shared<Timed>, Shared::open_within;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::window::Time;
    use std::time::Duration;

    #[derive(Serialize, Deserialize)]
    struct Service {
        seen: Lately,
        hour: Lately<Timed>,
        counts: Counter,
        shared: Shared,
    }

    #[test]
    fn a_field_like_any_other() {
        let mut service = Service {
            seen: Lately::last(9).build().unwrap(),
            hour: Lately::within(Duration::from_secs(3600)).build().unwrap(),
            counts: Lately::ever().counting().expected_items(9).build().unwrap(),
            shared: Lately::last(9).build_shared().unwrap(),
        };
        service.seen.insert("a");
        service.hour.insert_at("a", Time::from_millis(5)).unwrap();
        service.counts.add("a");
        service.shared.insert("a");
        let text = serde_json::to_string(&service).unwrap();
        let again: Service = serde_json::from_str(&text).unwrap();
        assert!(again.seen.contains("a") && again.shared.contains("a"));
        assert!(again.hour.contains_at("a", Time::from_millis(5)));
        assert_eq!(again.counts.count("a"), 1);
        let refused = serde_json::from_str::<Lately>("[1, 2, 3]").err().unwrap().to_string();
        assert!(refused.contains("not a lately snapshot"), "{refused}");
    }
}
