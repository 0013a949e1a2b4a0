//! Parameters, told once.
//!
//! A structure lists its parameters in one function ([`Parameters::list`]), in the order in which snapshots
//! have them. That list is all there is: it prints them for people, writes and reads them in snapshots,
//! refuses what cannot be, and describes them in FORMAT.md. Two that write the same are the same.
//!
//! ```text
//! list.add("window", &mut self.window, 1..=Window::LONGEST, "from 1 to 2^48")?;
//! list.add("blocks", &mut self.blocks, 1.., "at least 1")?;
//!
//!     printed    window 1000, blocks 8
//!     written    E8 03 00 00 00 00 00 00  08 00 00 00 00 00 00 00
//!     read       "window is 0, expected from 1 to 2^48"
//!     described  window, blocks
//! ```

use alloc::borrow::ToOwned;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::any::Any;
use core::ops::RangeBounds;

use crate::bits::size;
use crate::catalog::{self, Row};
use crate::codec::{Reader, Writer};
use crate::error::Error;
use crate::rate::ErrorRate;
use crate::window::{Span, Window};

/// What a structure is built from. The default is what a list is read into, and need not be of use.
pub trait Parameters: Clone + Default + Any {
    /// Tells every parameter, in the order of snapshots. Only a list that is read can fail.
    fn list(&mut self, list: &mut List<'_, '_>) -> Result<(), Error>;

    /// The rows among which its own is found. Those that join from another crate name that crate's.
    fn rows() -> &'static [Row] {
        catalog::ROWS
    }

    /// Reads and checks what [`Told::write_parameters`] wrote.
    fn read(from: &mut Reader<'_>) -> Result<Self, Error> {
        let mut parameters = Self::default();
        parameters.list(&mut List(Deed::Read(from)))?;
        Ok(parameters)
    }

    /// What snapshots have of them, for FORMAT.md.
    fn described() -> String {
        let mut list = List(Deed::Describe(Vec::new()));
        let _ = Self::default().list(&mut list);
        let Deed::Describe(described) = list.0 else { unreachable!("the deed stays the same") };
        described.join(", ")
    }
}

/// Parameters of any structure, as people and snapshots see them.
pub trait Told {
    /// The row of the structure that is built from them; `None` if they are a part of others.
    fn row(&self) -> Option<&'static Row>;

    /// The parameters by name, for people.
    fn fields(&self) -> Vec<(&'static str, String)>;

    /// Writes the parameters as the snapshot stores them.
    fn write_parameters(&self, out: &mut Writer);
}

impl<P: Parameters> Told for P {
    fn row(&self) -> Option<&'static Row> {
        P::rows().iter().find(|row| row.is_of::<P>())
    }

    fn fields(&self) -> Vec<(&'static str, String)> {
        let mut list = List(Deed::Show(Vec::new()));
        let _ = self.clone().list(&mut list);
        let Deed::Show(shown) = list.0 else { unreachable!("the deed stays the same") };
        shown
    }

    fn write_parameters(&self, out: &mut Writer) {
        let _ = self.clone().list(&mut List(Deed::Write(out)));
    }
}

/// Where parameters are told to: what is done with them is not theirs to know.
#[derive(Debug)]
pub struct List<'a, 'b>(Deed<'a, 'b>);

#[derive(Debug)]
enum Deed<'a, 'b> {
    Show(Vec<(&'static str, String)>),
    Write(&'a mut Writer),
    Read(&'a mut Reader<'b>),
    Describe(Vec<String>),
}

impl List<'_, '_> {
    /// A parameter, which is in this range; `expected` says so to people.
    pub fn add<V: Value>(
        &mut self,
        name: &'static str,
        value: &mut V,
        range: impl RangeBounds<V>,
        expected: &'static str,
    ) -> Result<(), Error> {
        self.shown(name, || value.text());
        self.stored(name, value, range, expected)
    }

    /// A window by count.
    pub fn window(&mut self, window: &mut u64) -> Result<(), Error> {
        self.add("window", window, 1..=Window::LONGEST, "from 1 to 2^48")
    }

    /// One of a few, which snapshots know by its number among all.
    pub fn one_of<T: Copy + PartialEq>(
        &mut self,
        name: &'static str,
        value: &mut T,
        all: &[T],
        (text, expected): (fn(T) -> String, &'static str),
    ) -> Result<(), Error> {
        self.shown(name, || text(*value));
        let mut number = all.iter().position(|one| one == value).unwrap_or(0) as u8;
        self.stored(name, &mut number, ..all.len() as u8, expected)?;
        *value = all[usize::from(number)];
        Ok(())
    }

    /// Something that follows from the parameters, for people only.
    pub fn shown<T: ToString>(&mut self, name: &'static str, text: impl FnOnce() -> T) {
        if let Deed::Show(shown) = &mut self.0 {
            shown.push((name, text().to_string()));
        }
    }

    /// A parameter that snapshots have, and people see otherwise.
    pub fn stored<V: Value>(
        &mut self,
        name: &'static str,
        value: &mut V,
        range: impl RangeBounds<V>,
        expected: &'static str,
    ) -> Result<(), Error> {
        match &mut self.0 {
            Deed::Show(_) => {}
            Deed::Write(out) => value.write(out),
            Deed::Read(from) => {
                *value = V::read(from, name)?;
                self.check(range.contains(value), name, value.found(), expected)?;
            }
            Deed::Describe(described) => described.push(match V::kind() {
                kind if kind == u64::kind() => name.to_owned(),
                kind => format!("{name} ({kind})"),
            }),
        }
        Ok(())
    }

    /// A parameter that came after the first release: snapshots have it only where it is not zero, and it is
    /// the last.
    pub fn later<const N: usize>(
        &mut self,
        name: &'static str,
        value: &mut [u8; N],
    ) -> Result<(), Error> {
        let nothing = [0; N];
        if *value != nothing {
            self.shown(name, || value.text());
        }
        match &mut self.0 {
            Deed::Write(_) if *value == nothing => Ok(()),
            Deed::Read(from) if from.remaining() == 0 => Ok(()),
            Deed::Describe(described) => {
                described.push(format!("{name} ({}, only if not 0)", <[u8; N]>::kind()));
                Ok(())
            }
            _ => {
                self.stored(name, value, .., "")?;
                self.check(*value != nothing, name, 0, "not 0, or nothing")
            }
        }
    }

    /// Refuses parameters that were read and do not go together.
    pub fn check(
        &self,
        right: bool,
        field: &'static str,
        found: u64,
        expected: &'static str,
    ) -> Result<(), Error> {
        match self.0 {
            Deed::Read(_) if !right => Err(Error::Field { field, found, expected }),
            _ => Ok(()),
        }
    }
}

/// What a parameter can be.
pub trait Value: PartialOrd + Sized {
    /// How it is stored, as FORMAT.md has it.
    fn kind() -> String;

    /// For people.
    fn text(&self) -> String;

    /// For messages about snapshots.
    fn found(&self) -> u64;

    /// Writes it.
    fn write(&self, out: &mut Writer);

    /// Reads it.
    fn read(from: &mut Reader<'_>, name: &'static str) -> Result<Self, Error>;
}

/// For each: how it is stored, its text, what messages say, how it is written and how it is read.
macro_rules! values {
    ($($(@[$($generic:tt)*])? $value:ty: $kind:expr, |$it:ident| $text:expr, $found:expr,
        |$out:ident| $write:expr, |$from:ident, $name:ident| $read:expr;)+) => {$(
        impl$(<$($generic)*>)? Value for $value {
            fn kind() -> String {
                $kind
            }

            fn text(&self) -> String {
                let $it = self;
                $text
            }

            fn found(&self) -> u64 {
                let $it = self;
                $found
            }

            fn write(&self, $out: &mut Writer) {
                let $it = self;
                $write
            }

            fn read($from: &mut Reader<'_>, $name: &'static str) -> Result<Self, Error> {
                $read
            }
        }
    )+};
}

values! {
    u8: "`u8`".to_owned(), |it| it.to_string(), (*it).into(),
        |out| out.u8(*it), |from, name| from.u8(name);
    u32: "`u32`".to_owned(), |it| it.to_string(), (*it).into(),
        |out| out.u32(*it), |from, name| from.u32(name);
    u64: "`u64`".to_owned(), |it| it.to_string(), *it,
        |out| out.u64(*it), |from, name| from.u64(name);
    usize: u64::kind(), |it| it.to_string(), *it as u64,
        |out| out.u64(*it as u64), |from, name| Ok(size(from.u64(name)?));
    bool: u8::kind(), |it| it.to_string(), (*it).into(),
        |out| out.u8((*it).into()), |from, name| match from.u8(name)? {
            found @ 2.. => {
                Err(Error::Field { field: name, found: found.into(), expected: "0 or 1" })
            }
            found => Ok(found == 1),
        };
    Span: u64::kind(), |it| it.to_string(), it.millis(),
        |out| out.u64(it.millis()), |from, name| Ok(Span::from_millis(from.u64(name)?));
    f64: "`f64`".to_owned(), |it| format!("{it:.4}"), it.to_bits(),
        |out| out.f64(*it), |from, name| from.f64(name);
    ErrorRate: f64::kind(), |it| it.to_string(), it.get().to_bits(),
        |out| out.f64(it.get()), |from, name| ErrorRate::new(from.f64(name)?);
    @[const N: usize] [u8; N]: format!("{N} x `u8`"),
        |it| it.map(|number| number.to_string()).join(" "), u64::from(it[0]),
        |out| out.bytes(it), |from, name| from.array(name);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Clone, Default, PartialEq)]
    struct Several {
        window: u64,
        bits: u32,
        removing: bool,
        span: Span,
        widths: [u8; 2],
        newer: [u8; 2],
    }

    impl Parameters for Several {
        fn list(&mut self, list: &mut List<'_, '_>) -> Result<(), Error> {
            list.window(&mut self.window)?;
            list.add("bits", &mut self.bits, 1..=64, "from 1 to 64")?;
            list.shown("values", || 1_u64 << self.bits);
            list.add("removing", &mut self.removing, .., "")?;
            list.stored("span", &mut self.span, .., "")?;
            list.add("widths", &mut self.widths, .., "")?;
            list.later("newer", &mut self.newer)?;
            list.check(self.widths[0] <= self.widths[1], "widths", 0, "in order")
        }
    }

    fn several() -> Several {
        let span = Span::from_millis(7);
        Several { window: 3, bits: 5, removing: true, span, widths: [1, 2], newer: [0; 2] }
    }

    fn written(parameters: &Several) -> Vec<u8> {
        let mut out = Writer::new();
        parameters.write_parameters(&mut out);
        out.into_bytes()
    }

    #[test]
    fn one_list_prints_writes_reads_and_describes() {
        let fields = [("window", "3"), ("bits", "5"), ("values", "32"), ("removing", "true")];
        let fields = fields.into_iter().chain([("widths", "1 2")]);
        assert!(
            several().fields().into_iter().eq(fields.map(|(name, text)| (name, text.to_owned())))
        );
        let bytes = written(&several());
        assert_eq!(
            bytes,
            [&[3, 0, 0, 0, 0, 0, 0, 0, 5, 0, 0, 0, 1][..], &[7, 0, 0, 0, 0, 0, 0, 0, 1, 2]]
                .concat()
        );
        assert_eq!(Several::read(&mut Reader::new(&bytes)), Ok(several()));
        let described = "window, bits (`u32`), removing (`u8`), span, widths (2 x `u8`), \
                         newer (2 x `u8`, only if not 0)";
        assert_eq!(Several::described(), described);
    }

    /// What was written before there was such a parameter is read as before, and there is one way to write each.
    #[test]
    fn a_later_parameter_is_there_only_if_it_says_something() {
        let newer = Several { newer: [0, 9], ..several() };
        let [before, after] = [several(), newer.clone()].map(|parameters| written(&parameters));
        assert_eq!(after, [&before[..], &[0, 9]].concat());
        assert_eq!(Several::read(&mut Reader::new(&after)), Ok(newer.clone()));
        let shown = newer.fields();
        assert_eq!(shown.last(), Some(&("newer", "0 9".to_owned())));
        let error = Several::read(&mut Reader::new(&[&before[..], &[0, 0]].concat())).unwrap_err();
        let expected = "not 0, or nothing";
        assert_eq!(error, Error::Field { field: "newer", found: 0, expected });
    }

    #[test]
    fn what_is_read_is_checked_and_what_is_written_is_not() {
        let refused = |wrong: Several, field, found, expected| {
            let error = Several::read(&mut Reader::new(&written(&wrong))).unwrap_err();
            assert_eq!(error, Error::Field { field, found, expected });
        };
        refused(Several { window: 0, ..several() }, "window", 0, "from 1 to 2^48");
        refused(Several { bits: 65, ..several() }, "bits", 65, "from 1 to 64");
        refused(Several { widths: [2, 1], ..several() }, "widths", 0, "in order");
        let mut bytes = written(&several());
        bytes[12] = 2;
        let error = Several::read(&mut Reader::new(&bytes)).unwrap_err();
        assert_eq!(error, Error::Field { field: "removing", found: 2, expected: "0 or 1" });
    }
}
