//! A list that grows without ever moving what it holds.
//!
//! Chunk 0 and chunk 1 hold one item each, chunk c holds 2^(c-1): item i lies in the chunk whose
//! number is the length of i in bits. A chunk is reserved when its first item comes, and not
//! touched before it is filled, so no push costs more than a few cache lines.

/// Items in chunks of doubling size.
#[derive(Debug, Clone)]
pub(super) struct Chunks<T> {
    chunks: Vec<Vec<T>>,
    len: usize,
}

impl<T> Chunks<T> {
    pub(super) fn new() -> Self {
        Self { chunks: Vec::new(), len: 0 }
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Bytes on the heap, those of the items themselves not counted.
    pub(super) fn heap_bytes(&self) -> u64 {
        let items: usize = self.chunks.iter().map(Vec::capacity).sum();
        (items * size_of::<T>() + self.chunks.capacity() * size_of::<Vec<T>>()) as u64
    }

    /// Appends an item, and returns its chunk and offset.
    pub(super) fn push(&mut self, item: T) -> (u8, u32) {
        let bits = usize::BITS - self.len.leading_zeros();
        let (chunk, offset) = (bits as usize, self.len - (1 << bits >> 1));
        if offset == 0 {
            self.chunks.reserve_exact(1);
            self.chunks.push(Vec::new());
            self.chunks[chunk].reserve_exact(1 << chunk >> 1 | usize::from(chunk == 0));
        }
        self.chunks[chunk].push(item);
        self.len += 1;
        (chunk as u8, offset as u32)
    }

    #[inline(always)]
    pub(super) fn at(&self, chunk: u8, offset: u32) -> &T {
        &self.chunks[usize::from(chunk)][offset as usize]
    }

    #[inline(always)]
    pub(super) fn at_mut(&mut self, chunk: u8, offset: u32) -> &mut T {
        &mut self.chunks[usize::from(chunk)][offset as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_stay_where_they_are() {
        let mut chunks = Chunks::new();
        let mut places = Vec::new();
        for i in 0..1000 {
            places.push((chunks.push(i), i));
            assert_eq!(chunks.len(), i + 1);
        }
        let first = std::ptr::from_ref(chunks.at(0, 0));
        places.extend((1000..2000).map(|i| (chunks.push(i), i)));
        assert_eq!(std::ptr::from_ref(chunks.at(0, 0)), first);
        assert!(places.iter().all(|&((chunk, offset), i)| *chunks.at(chunk, offset) == i));
        assert_eq!(chunks.heap_bytes(), 8 * 2048 + 12 * size_of::<Vec<usize>>() as u64);
    }
}
