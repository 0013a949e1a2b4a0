//! Builds counters that list the keys that came most often.

use super::{Builder, Counter, Door};
use crate::error::Error;
use crate::queries::{Top, TopKeys};

impl<T: Clone> Builder<Counter<T>>
where
    Counter<T>: Door<Time = T>,
{
    /// Builds a counter that also lists so many of the keys that came most often, right at every moment.
    /// Of a window it is the structure that knows when sightings leave.
    ///
    /// ```
    /// let mut views = lately::Lately::last(1000).counting().build_top(2)?;
    /// for page in ["/", "/about", "/", "/help", "/", "/help"] {
    ///     views.add(page);
    /// }
    /// assert_eq!(views.list(), [(&b"/"[..], 3), (b"/help", 2)]);
    /// # Ok::<(), lately::Error>(())
    /// ```
    pub fn build_top(&self, most: usize) -> Result<Top<T>, Error> {
        let builder = match (self.row, TopKeys::structure(self.goal.window)) {
            (None, Some(name)) => self.clone().structure(name),
            _ => self.clone(),
        };
        Top::new(builder.build()?, most)
    }
}
