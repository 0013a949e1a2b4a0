//! Memory that is given back to the system piece by piece, before its owner gives back the rest.
//!
//! A large block takes the system as long to take back as it has pages, and whoever frees it waits. If
//! its pages went one by one when their content was no longer needed, nothing is left to wait for.
#![allow(unsafe_code)]

/// Lets the system have the pages that lie wholly in this memory: their content is zero from now on,
/// or what it was.
pub fn give_back<T: Copy + Default>(memory: &mut [T]) {
    let range = memory.as_mut_ptr_range();
    let start = range.start.addr().next_multiple_of(PAGE);
    let end = range.end.addr() / PAGE * PAGE;
    if start < end {
        let_go(range.start.cast::<u8>().with_addr(start), end - start);
    }
}

/// A multiple of what any system has for a page.
const PAGE: usize = 1 << 16;

#[cfg(all(feature = "std", target_os = "linux", not(miri)))]
fn let_go(start: *mut u8, bytes: usize) {
    // SAFETY: whole pages of a slice that is borrowed for writing, of integers, for which zeros are
    // as good as what they were. Memory of an allocator is private and belongs to no file, so that
    // zeros are what it has when it is used again.
    unsafe { libc::madvise(start.cast(), bytes, libc::MADV_DONTNEED) };
}

#[cfg(not(all(feature = "std", target_os = "linux", not(miri))))]
fn let_go(_start: *mut u8, _bytes: usize) {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lies_around_stays() {
        let mut memory = vec![7_u64; 1 << 17];
        give_back(&mut memory[100..1 << 16]);
        assert!(memory[..100].iter().chain(&memory[1 << 16..]).all(|&word| word == 7));
        assert!(memory.iter().all(|&word| word == 7 || word == 0));
        give_back(&mut memory[..3]);
        give_back::<u64>(&mut []);
        memory.fill(9);
        assert!(memory.iter().all(|&word| word == 9), "it can be used again");
    }
}
