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

/// The first bytes of compressed files.
const BEGINNINGS: [(&[u8], Encoding); 4] = [
    (b"\x1f\x8b", Encoding::Gzip),
    (b"\x28\xb5\x2f\xfd", Encoding::Zstd),
    (b"BZh", Encoding::Bzip2),
    (b"\xfd7zXZ\0", Encoding::Xz),
];

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
    let mut bytes = [0; 6];
    loop {
        if let Some((_, encoding)) = BEGINNINGS.iter().find(|(start, _)| head.starts_with(start)) {
            return Ok((head, *encoding));
        }
        if !BEGINNINGS.iter().any(|(start, _)| start.starts_with(&head)) {
            return Ok((head, Encoding::Plain));
        }
        match reader.read(&mut bytes[head.len()..]) {
            Ok(0) => return Ok((head, Encoding::Plain)),
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
    fn text_is_told_from_its_first_byte() {
        for (bytes, looked_at) in [(&b"{\"a\":1}"[..], 1), (b"BZ, not", 3), (b"\x1fx", 2), (b"", 0)]
        {
            let (head, encoding) = look(&mut ByteByByte(bytes)).unwrap();
            assert_eq!((head.len(), encoding), (looked_at, Encoding::Plain));
            let (mut whole, _) = decode(ByteByByte(bytes)).unwrap();
            let mut read = Vec::new();
            whole.read_to_end(&mut read).unwrap();
            assert_eq!(read, bytes);
        }
    }
}
