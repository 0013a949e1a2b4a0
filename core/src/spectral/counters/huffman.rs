//! A prefix code for a few symbols, fitted to how often each occurs, no code word too long.

use alloc::vec::Vec;

/// Symbols: lengths of counters from 0 to 63 bits.
pub const SYMBOLS: usize = 64;

/// Bits of each symbol's code word when the weights are these; every symbol gets one, of at most
/// `longest` bits.
///
/// Huffman's method; where it makes a word too long, weights are evened out and it starts again.
pub fn code_lengths(weights: &[u64; SYMBOLS], longest: u32) -> [u8; SYMBOLS] {
    let mut weights = weights.map(|weight| 2 * weight + 1);
    loop {
        let lengths = huffman(&weights);
        if lengths.iter().all(|&length| u32::from(length) <= longest) {
            return lengths;
        }
        weights = weights.map(|weight| weight.div_ceil(2));
    }
}

/// The code words that belong to these lengths, to be read from the lowest bit on: of equal length
/// in the order of their symbols, shorter before longer.
pub fn code_words(lengths: &[u8; SYMBOLS]) -> [u16; SYMBOLS] {
    let mut order: Vec<usize> = (0..SYMBOLS).collect();
    order.sort_by_key(|&symbol| lengths[symbol]);
    let mut words = [0; SYMBOLS];
    let (mut next, mut length) = (0_u16, 0);
    for symbol in order {
        next <<= lengths[symbol] - length;
        length = lengths[symbol];
        words[symbol] = next.reverse_bits() >> (16 - length);
        next += 1;
    }
    words
}

fn huffman(weights: &[u64; SYMBOLS]) -> [u8; SYMBOLS] {
    // Trees not joined yet, as their weight and the symbols in them. Small, so a scan will do.
    let mut trees: Vec<(u64, Vec<usize>)> =
        weights.iter().enumerate().map(|(symbol, &weight)| (weight, vec![symbol])).collect();
    let mut lengths = [0; SYMBOLS];
    while trees.len() > 1 {
        trees.sort_by_key(|tree| core::cmp::Reverse(tree.0));
        let ((a, mut symbols), (b, more)) =
            (trees.pop().expect("two trees"), trees.pop().expect("two trees"));
        symbols.extend(more);
        for &symbol in &symbols {
            lengths[symbol] += 1;
        }
        trees.push((a + b, symbols));
    }
    lengths
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_complete_short_and_begin_no_other() {
        let flat = [1; SYMBOLS];
        let steep: [u64; SYMBOLS] = std::array::from_fn(|symbol| 1 << (40 - symbol.min(40)));
        let two: [u64; SYMBOLS] =
            std::array::from_fn(|symbol| if symbol == 0 || symbol == 10 { 1_000_000 } else { 0 });
        for weights in [flat, steep, two] {
            for longest in [6, 8, 11, 15] {
                let lengths = code_lengths(&weights, longest);
                assert!(lengths.iter().all(|&length| (1..=longest).contains(&length.into())));
                let kraft: f64 = lengths.iter().map(|&length| 0.5_f64.powi(length.into())).sum();
                assert_eq!(kraft, 1.0);
                let words = code_words(&lengths);
                for a in 0..SYMBOLS {
                    for b in (0..SYMBOLS).filter(|&b| b != a && lengths[a] <= lengths[b]) {
                        assert_ne!(words[a], words[b] & ((1 << lengths[a]) - 1), "{a} {b}");
                    }
                }
            }
        }
    }

    #[test]
    fn frequent_symbols_get_short_words() {
        let mut weights = [0; SYMBOLS];
        (weights[0], weights[7]) = (5_000, 4_000);
        let lengths = code_lengths(&weights, 11);
        assert_eq!((lengths[0], lengths[7]), (1, 2));
    }
}
