//! Where a shared filter is: `redis://[user:password@]host[:port][/database]/key`, or `rediss://`.

use std::fmt;
use std::str::FromStr;

use redis::{ConnectionInfo, IntoConnectionInfo};

/// A server, one of a cluster will do, and the key of a filter in it.
#[derive(Clone)]
pub(crate) struct Address {
    /// Where the server is and how to be let in.
    pub(crate) server: ConnectionInfo,
    /// The filter.
    pub(crate) key: String,
    /// The server as it may be shown: without a password.
    shown: String,
}

impl FromStr for Address {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let expected = || {
            format!("{} is not redis://[user:password@]host[:port][/database]/key", hidden(text))
        };
        let (scheme, rest) = text.split_once("://").ok_or_else(expected)?;
        if !matches!(scheme, "redis" | "rediss") {
            return Err(expected());
        }
        let (place, path) = rest.split_once('/').ok_or_else(expected)?;
        // A key may contain slashes; a number before the first is the database.
        let (database, key) = match path.split_once('/') {
            Some((number, key)) if number.bytes().all(|digit| digit.is_ascii_digit()) => {
                (number, key)
            }
            _ => ("0", path),
        };
        if place.is_empty() || key.is_empty() {
            return Err(expected());
        }
        let server = format!("{scheme}://{place}/{database}")
            .into_connection_info()
            .map_err(|error| format!("{}: {error}", expected()))?;
        let shown = format!("{scheme}://{}", place.rsplit('@').next().unwrap_or(place));
        Ok(Self { server, key: key.to_owned(), shown })
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.shown)
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}/{}", self.key)
    }
}

/// The text without what may be a password.
fn hidden(text: &str) -> &str {
    text.rsplit('@').next().unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_an_address() {
        for (text, shown, database, key) in [
            ("redis://localhost/seen", "redis://localhost", 0, "seen"),
            ("redis://10.0.0.1:7000/3/seen", "redis://10.0.0.1:7000", 3, "seen"),
            ("redis://h/a/b", "redis://h", 0, "a/b"),
            ("rediss://user:p%40ss@h:1/2/a/b", "rediss://h:1", 2, "a/b"),
        ] {
            let address: Address = text.parse().unwrap();
            assert_eq!(address.to_string(), shown);
            assert_eq!(address.server.redis_settings().db(), database);
            assert_eq!(address.key, key);
            assert!(!format!("{address:?}").contains("p%40ss"));
        }
    }

    #[test]
    fn nonsense_is_refused_without_telling_passwords() {
        for text in
            ["", "seen", "http://h/k", "redis://h", "redis://h/", "redis:///k", "redis://h/1/"]
        {
            assert!(text.parse::<Address>().is_err(), "{text}");
        }
        let error = "redis://user:secret@h".parse::<Address>().unwrap_err();
        assert!(!error.contains("secret"), "{error}");
    }
}
