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

    pub(super) fn push(&mut self, item: T) {
        let (chunk, offset) = locate(self.len);
        if offset == 0 {
            self.chunks.reserve_exact(1);
            self.chunks.push(Vec::new());
            self.chunks[chunk].reserve_exact(1 << chunk >> 1 | usize::from(chunk == 0));
        }
        self.chunks[chunk].push(item);
        self.len += 1;
    }

    #[inline(always)]
    pub(super) fn get(&self, index: usize) -> &T {
        let (chunk, offset) = locate(index);
        &self.chunks[chunk][offset]
    }

    #[inline(always)]
    pub(super) fn get_mut(&mut self, index: usize) -> &mut T {
        let (chunk, offset) = locate(index);
        &mut self.chunks[chunk][offset]
    }

    /// The item at an offset in a chunk.
    #[inline(always)]
    pub(super) fn at(&self, chunk: usize, offset: usize) -> &T {
        &self.chunks[chunk][offset]
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &T> {
        self.chunks.iter().flatten()
    }
}

/// Chunk and offset of an item.
#[inline(always)]
fn locate(index: usize) -> (usize, usize) {
    let bits = usize::BITS - index.leading_zeros();
    (bits as usize, index - (1 << bits >> 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_stay_where_they_are() {
        let mut chunks = Chunks::new();
        for i in 0..1000 {
            chunks.push(i);
            assert_eq!(chunks.len(), i + 1);
            assert_eq!(*chunks.get(i), i);
        }
        assert!((0..1000).all(|i| *chunks.get(i) == i));
        assert!(chunks.iter().copied().eq(0..1000));
        assert_eq!(chunks.heap_bytes(), 8 * 1024 + 11 * size_of::<Vec<usize>>() as u64);
    }
}
