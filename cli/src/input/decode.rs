//! Compressed files are known by how they begin, whatever their name.

use std::io::{self, BufReader, Cursor, ErrorKind, Read};

/// How a file is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Encoding {
    Plain,
    Gzip,
    Zstd,
    Bzip2,
    Xz,
}

/// What a byte must be.
#[derive(Debug, Clone, Copy)]
enum Byte {
    Is(u8),
    Between(u8, u8),
    /// None of these bits is set.
    Without(u8),
}

use Byte::{Between, Is, Without};

/// How compressed files begin, beyond the few letters that text may begin with, too; and after how
/// many bytes a file that ends there is one that was cut off rather than text.
const BEGINNINGS: [(&[Byte], usize, Encoding); 5] = [
    // Deflated is all that there is, and of eight flags three.
    (&[Is(0x1f), Is(0x8b), Is(8), Without(0xe0)], 3, Encoding::Gzip),
    // One bit of the frame's descriptor is reserved.
    (&[Is(0x28), Is(0xb5), Is(0x2f), Is(0xfd), Without(8)], 4, Encoding::Zstd),
    // A size, and the digits of pi, with which a block begins, or of its root, for the end.
    (
        &[
            Is(b'B'),
            Is(b'Z'),
            Is(b'h'),
            Between(b'1', b'9'),
            Is(0x31),
            Is(0x41),
            Is(0x59),
            Is(0x26),
            Is(0x53),
            Is(0x59),
        ],
        5,
        Encoding::Bzip2,
    ),
    (
        &[
            Is(b'B'),
            Is(b'Z'),
            Is(b'h'),
            Between(b'1', b'9'),
            Is(0x17),
            Is(0x72),
            Is(0x45),
            Is(0x38),
            Is(0x50),
            Is(0x90),
        ],
        5,
        Encoding::Bzip2,
    ),
    // Of the flags of a stream four bits are used.
    (
        &[Is(0xfd), Is(b'7'), Is(b'z'), Is(b'X'), Is(b'Z'), Is(0), Is(0), Without(0xf0)],
        6,
        Encoding::Xz,
    ),
];

impl Byte {
    fn allows(self, byte: u8) -> bool {
        match self {
            Is(this) => byte == this,
            Between(first, last) => (first..=last).contains(&byte),
            Without(bits) => byte & bits == 0,
        }
    }
}

/// Whether the bytes are those of a beginning, as far as both go.
fn agree(beginning: &[Byte], head: &[u8]) -> bool {
    beginning.iter().zip(head).all(|(allowed, &byte)| allowed.allows(byte))
}

/// Reads what is stored, decompressed. Several compressed files joined to one are one.
pub(crate) fn decode(mut reader: impl Read + 'static) -> io::Result<(Box<dyn Read>, Encoding)> {
    let (head, encoding) = look(&mut reader)?;
    let whole = Cursor::new(head).chain(reader);
    let decoded: Box<dyn Read> = match encoding {
        Encoding::Plain => Box::new(whole),
        Encoding::Gzip => Box::new(flate2::read::MultiGzDecoder::new(whole)),
        Encoding::Zstd => Box::new(zstd::Decoder::new(whole)?),
        Encoding::Bzip2 => Box::new(bzip2::read::MultiBzDecoder::new(whole)),
        Encoding::Xz => Box::new(lzma_rust2::XzReader::new(BufReader::new(whole), true)),
    };
    Ok((decoded, encoding))
}

/// Reads just as much as it takes to tell: a first line typed by hand must not wait for a second.
fn look(reader: &mut impl Read) -> io::Result<(Vec<u8>, Encoding)> {
    let mut head = Vec::new();
    let mut bytes = [0; 10];
    loop {
        let possible = || BEGINNINGS.iter().filter(|(bytes, ..)| agree(bytes, &head));
        if let Some(&(.., encoding)) = possible().find(|(bytes, ..)| bytes.len() <= head.len()) {
            return Ok((head, encoding));
        }
        let Some(most) = possible().map(|(bytes, ..)| bytes.len()).min() else {
            return Ok((head, Encoding::Plain));
        };
        match reader.read(&mut bytes[head.len()..most]) {
            Ok(0) => {
                let cut_off = possible().find(|(_, enough, _)| head.len() >= *enough);
                let encoding = cut_off.map_or(Encoding::Plain, |&(.., encoding)| encoding);
                return Ok((head, encoding));
            }
            Ok(read) => head.extend_from_slice(&bytes[head.len()..][..read]),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Hands out one byte per read, like the slowest of pipes.
    struct ByteByByte(&'static [u8]);

    impl Read for ByteByByte {
        fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
            let read = room.len().min(1);
            self.0.read(&mut room[..read])
        }
    }

    #[test]
    fn text_is_told_from_its_first_bytes() {
        for (bytes, looked_at) in [
            (&b"{\"a\":1}"[..], 1),
            (b"BZ, not", 3),
            (b"BZhang wrote this", 4),
            (b"BZh9\n", 5),
            (b"BZh91\n", 6),
            (b"BZh9", 4),
            (b"\x1fx", 2),
            (b"\x1f\x8b, and more", 3),
            (b"\x1f\x8b\x08text", 4),
            (b"\x28\xb5\x2f\xfdhand", 5),
            (b"\xfd7zXZ\0text", 7),
            (b"", 0),
        ] {
            let (head, encoding) = look(&mut ByteByByte(bytes)).unwrap();
            assert_eq!((head.len(), encoding), (looked_at, Encoding::Plain));
            let (mut whole, _) = decode(ByteByByte(bytes)).unwrap();
            let mut read = Vec::new();
            whole.read_to_end(&mut read).unwrap();
            assert_eq!(read, bytes);
        }
    }
}
