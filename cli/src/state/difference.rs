//! Why a state does not fit the flags, in words.

use lately::{Blueprint, Hashing};

use super::{Note, Saved};

impl Saved {
    /// What differs from what the flags ask for: `name is this there and that here`. Nothing if it
    /// is the same.
    pub(crate) fn differences(
        &self,
        (blueprint, hashing, note): (&dyn Blueprint, Hashing, &Note),
    ) -> Vec<String> {
        let blueprints = (self.seen.filter().blueprint(), blueprint);
        let mut pairs = vec![("structure", of(blueprints, |b| b.structure().to_owned()))];
        if blueprints.0.structure() == blueprints.1.structure() {
            let fields = blueprints.0.fields().into_iter().zip(blueprints.1.fields());
            pairs.extend(fields.map(|((name, there), (_, here))| (name, (there, here))));
        } else {
            pairs.push(("promise", of(blueprints, |b| b.promise().to_string())));
        }
        pairs.push(("seed", of((self.seen.hashing(), hashing), seed)));
        if let Some(there) = &self.note {
            pairs.push(("key", of((there, note), |note| note.keys.clone())));
            pairs.push(("--refresh", of((there, note), |note| on_or_off(note.refresh))));
        }
        pairs
            .into_iter()
            .filter(|(_, (there, here))| there != here)
            .map(|(name, (there, here))| format!("{name} is {there} there and {here} here"))
            .collect()
    }
}

fn of<T>((there, here): (T, T), text: impl Fn(T) -> String) -> (String, String) {
    (text(there), text(here))
}

fn seed(hashing: Hashing) -> String {
    match hashing {
        Hashing::Fast(seed) => seed.0.to_string(),
        Hashing::Keyed(_) => "secret".to_owned(),
    }
}

fn on_or_off(on: bool) -> String {
    if on { "on" } else { "off" }.to_owned()
}
