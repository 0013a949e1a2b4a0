//! The keys that count most as bytes, to be stored beside the snapshot of their counter.

use alloc::vec::Vec;

use super::top_keys::{Held, TopKeys};
use crate::codec::{Reader, Writer};
use crate::error::Error;
use crate::group::Group;
use crate::hash::Hashing;
use crate::window::Window;

impl TopKeys {
    /// Everything needed to go on later, or elsewhere, beside the counter.
    pub fn save(&self) -> Vec<u8> {
        let mut out = Writer::new();
        out.u16(VERSION);
        for number in [self.most as u64, self.room as u64, self.is_endless.into(), self.stale] {
            out.u64(number);
        }
        write_groups(&mut out, &self.marks);
        out.u64(self.held.len() as u64);
        let mut keys: Vec<&Held> = self.held.iter().collect();
        keys.sort_unstable_by_key(|held| held.hash);
        for held in keys {
            out.u64(held.key.len() as u64);
            out.bytes(&held.key);
            write_groups(&mut out, &held.groups);
        }
        out.into_bytes()
    }

    /// What [`save`](Self::save) wrote, for a counter with this window and this way of hashing.
    pub fn open(bytes: &[u8], window: Window, hashing: &Hashing) -> Result<Self, Error> {
        let mut reader = Reader::new(bytes);
        let found = reader.u16("version of the top keys")?;
        if found > VERSION {
            return Err(Error::Version { newest: VERSION, found });
        }
        let refused = |field, found, expected| Err(Error::Field { field, found, expected });
        let most = reader.u64("top")?;
        if !(1..=Self::MOST as u64).contains(&most) {
            return refused("top", most, "from 1 to 1048576");
        }
        let (room, endless) = (reader.u64("room for keys")?, reader.u64("endless")?);
        let stale = reader.u64("moment at which the first key leaves")?;
        let is_endless = window == Window::Ever;
        if endless != u64::from(is_endless) {
            return refused("endless", endless, "as the window of the counter is");
        }
        let marks = read_groups(&mut reader)?;
        let mut held: Vec<Held> = Vec::new();
        for _ in 0..reader.u64("keys")? {
            let length = reader.u64("length of a key")?;
            let key = reader.bytes("key", length)?;
            let (hash, groups) = (hashing.hash(key), read_groups(&mut reader)?);
            let is_next = held.last().is_none_or(|last| last.hash < hash);
            if groups.is_empty() || !is_next {
                return refused("key", hash, "one that counts, in the order of hashes");
            }
            held.push(Held { hash, key: key.into(), groups: groups.into() });
        }
        reader.finish("end of the top keys")?;
        let most = most as usize;
        let fits = room >= held.len() as u64 && room <= Self::room(most, held.len()) as u64;
        if !fits {
            return refused("room for keys", room, "as many as were left at last");
        }
        let (room, places, groups) = (room as usize, Vec::new(), Vec::new());
        let mut opened = Self { most, room, is_endless, held, places, marks, stale, groups };
        opened.fit();
        Ok(opened)
    }
}

/// The version this release writes, and the newest it reads.
const VERSION: u16 = 1;

fn write_groups(out: &mut Writer, groups: &[Group]) {
    out.u64(groups.len() as u64);
    for group in groups {
        out.u64(group.leaves);
        out.u64(group.count);
    }
}

fn read_groups(reader: &mut Reader<'_>) -> Result<Vec<Group>, Error> {
    let count = reader.u64("groups")?;
    let words = reader.words("groups", count.saturating_mul(2))?;
    let group = |pair: &[u64; 2]| Group { leaves: pair[0], count: pair[1] };
    let groups: Vec<Group> = words.as_chunks().0.iter().map(group).collect();
    let are_groups = groups.windows(2).all(|pair| pair[0].leaves < pair[1].leaves)
        && groups.iter().all(|group| group.count > 0);
    if !are_groups {
        let expected = "groups that count, in the order of leaving";
        return Err(Error::Field { field: "groups", found: count, expected });
    }
    Ok(groups)
}
