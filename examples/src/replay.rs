//! Refuses a proof that was used before, as DPoP (RFC 9449) asks of its `jti`. A proof is good until a
//! minute after it was made, and that is how long it is remembered.
//! `cargo run -p lately-examples --example replay`

use std::time::{Duration, SystemTime};

use lately::{Error, Lately, Timed};

/// How long a proof is good, before and after its own time.
const GOOD_FOR: Duration = Duration::from_secs(60);

struct Replays {
    used: Lately<Timed>,
}

#[derive(Debug, PartialEq)]
enum Verdict {
    Accepted,
    Replayed,
    Expired,
}

impl Replays {
    /// Whoever presents proofs chooses their identifiers, so they are hashed under a secret.
    fn new(secret: [u8; 16]) -> Result<Self, Error> {
        Ok(Self { used: Lately::within(2 * GOOD_FOR).error(1e-6).keyed(secret).build()? })
    }

    fn check(&mut self, jti: &str, issued: SystemTime, now: SystemTime) -> Result<Verdict, Error> {
        let age = now.duration_since(issued).unwrap_or_else(|ahead| ahead.duration());
        if age > GOOD_FOR {
            return Ok(Verdict::Expired);
        }
        // Afterwards it is expired, whoever remembers it.
        let is_new = self.used.insert_until(jti, now, issued + GOOD_FOR)?;
        Ok(if is_new { Verdict::Accepted } else { Verdict::Replayed })
    }
}

fn main() -> Result<(), Error> {
    let mut replays = Replays::new(*b"drawn at startup")?;
    let now = SystemTime::now();
    for jti in ["e1j3V_bKic8-LAEB", "e1j3V_bKic8-LAEB", "-BwC3ESc6acc2lTc"] {
        println!("{jti} {:?}", replays.check(jti, now, now)?);
    }
    Ok(())
}

#[test]
fn no_proof_is_accepted_twice() {
    let mut replays = Replays::new([7; 16]).unwrap();
    let issued = SystemTime::now();
    let mut at =
        |jti, seconds| replays.check(jti, issued, issued + Duration::from_secs(seconds)).unwrap();
    assert_eq!([at("a", 0), at("b", 1)], [Verdict::Accepted, Verdict::Accepted]);
    assert!((2..=60).all(|second| at("a", second) == Verdict::Replayed));
    assert_eq!(at("a", 61), Verdict::Expired);
}
