//! XXH3 of short keys, in the caller's loop.
//!
//! Numbers, identifiers and short texts are most keys there are. For their lengths the function is
//! a few multiplications, less than calling it would cost. A length that is known when the program
//! is compiled leaves one of the ways below, and a loop keeps what depends on the seed alone.

/// The hash of a key of 8 to 64 bytes; `None` for any other.
#[inline(always)]
pub(super) fn of_short(key: &[u8], seed: u64) -> Option<u64> {
    match key.len() {
        17..=64 => Some(of_text(key, seed)),
        9..=16 => Some(of_two_words(key, seed)),
        8 => Some(of_number(word(key), seed)),
        _ => None,
    }
}

/// The first words of the standard secret.
const SECRET: [u64; 8] = [
    0xbe4b_a423_396c_feb8,
    0x1cad_21f7_2c81_017c,
    0xdb97_9083_e96d_d4de,
    0x1f67_b3b7_a4a4_4072,
    0x78e5_c0cc_4ee6_79cb,
    0x2172_ffcc_7dd0_5a82,
    0x8e24_43f7_7446_08b8,
    0x4c26_3a81_e690_35e0,
];

/// The hash of eight bytes, least first.
#[inline(always)]
pub(super) fn of_number(number: u64, seed: u64) -> u64 {
    const FACTOR: u64 = 0x9fb2_1c65_1e98_df25;
    let seed = seed ^ u64::from((seed as u32).swap_bytes()) << 32;
    let mut x = number.rotate_left(32) ^ (SECRET[1] ^ SECRET[2]).wrapping_sub(seed);
    x ^= x.rotate_left(49) ^ x.rotate_left(24);
    x = x.wrapping_mul(FACTOR);
    x ^= (x >> 35) + size_of::<u64>() as u64;
    x = x.wrapping_mul(FACTOR);
    x ^ x >> 28
}

/// 9 to 16 bytes: two words, which overlap.
#[inline(always)]
fn of_two_words(key: &[u8], seed: u64) -> u64 {
    let low = word(key) ^ (SECRET[3] ^ SECRET[4]).wrapping_add(seed);
    let high = word(&key[key.len() - 8..]) ^ (SECRET[5] ^ SECRET[6]).wrapping_sub(seed);
    let sum = (key.len() as u64).wrapping_add(low.swap_bytes()).wrapping_add(high);
    avalanche(sum.wrapping_add(folded(low, high)))
}

/// 17 to 64 bytes: the two ends, and the two parts next to them if they are not ends already.
#[inline(always)]
fn of_text(key: &[u8], seed: u64) -> u64 {
    const FACTOR: u64 = 0x9e37_79b1_85eb_ca87;
    let (len, end) = (key.len(), key.len() - 16);
    let mut sum = (len as u64).wrapping_mul(FACTOR);
    // A branch: without it, all would wait for what only the longer ones need.
    if len > 32 {
        sum = sum.wrapping_add(mixed(&key[16..], 4, seed));
        sum = sum.wrapping_add(mixed(&key[end - 16..], 6, seed));
    }
    sum = sum.wrapping_add(mixed(key, 0, seed));
    sum = sum.wrapping_add(mixed(&key[end..], 2, seed));
    avalanche(sum)
}

/// The first 16 bytes, under two words of the secret.
#[inline(always)]
fn mixed(bytes: &[u8], secret: usize, seed: u64) -> u64 {
    let low = word(bytes) ^ SECRET[secret].wrapping_add(seed);
    let high = word(&bytes[8..]) ^ SECRET[secret + 1].wrapping_sub(seed);
    folded(low, high)
}

/// Both halves of the product.
#[inline(always)]
fn folded(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    product as u64 ^ (product >> 64) as u64
}

#[inline(always)]
fn avalanche(mut x: u64) -> u64 {
    x ^= x >> 37;
    x = x.wrapping_mul(0x1656_6791_9e37_79f9);
    x ^ x >> 32
}

#[inline(always)]
fn word(bytes: &[u8]) -> u64 {
    u64::from_le_bytes(*bytes.first_chunk().expect("a key is at least a word here"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::remix;
    use xxhash_rust::xxh3::xxh3_64_with_seed;

    #[test]
    fn short_keys_hash_as_everywhere() {
        for round in 0..200 {
            let bytes: Vec<u8> = (0..80).map(|i| remix(round, i) as u8).collect();
            let seed = remix(round, 1000) >> (round % 64);
            for len in 0..bytes.len() {
                let found = of_short(&bytes[..len], seed);
                assert_eq!(found.is_some(), (8..=64).contains(&len), "{len} bytes");
                let expected = xxh3_64_with_seed(&bytes[..len], seed);
                assert_eq!(found.unwrap_or(expected), expected, "{len} bytes");
            }
        }
    }
}
