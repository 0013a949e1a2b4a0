//! All experiments. An area has a file and a place in [`AREAS`]; an experiment is a value there.

mod ages;
mod sets;
mod sliding;
mod windows;

use anyhow::{Result, anyhow};

use crate::experiment::Experiment;

/// The experiments of every area.
pub static AREAS: &[&[Experiment]] =
    &[windows::EXPERIMENTS, sliding::EXPERIMENTS, ages::EXPERIMENTS, sets::EXPERIMENTS];

/// Every experiment.
pub fn all() -> impl Iterator<Item = &'static Experiment> {
    AREAS.iter().copied().flatten()
}

/// The experiment with this name.
pub fn named(name: &str) -> Result<&'static Experiment> {
    all().find(|experiment| experiment.name == name).ok_or_else(|| {
        let known: Vec<&str> = all().map(|experiment| experiment.name).collect();
        anyhow!("there is no experiment called {name:?}; choose one of: {}", known.join(", "))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::{Figure, Kind};
    use std::collections::HashSet;

    #[test]
    fn definitions_are_sound() {
        let mut names = HashSet::new();
        for experiment in all() {
            let name = experiment.name;
            assert!(names.insert(name), "{name} is defined twice");
            assert!(experiment.question.ends_with('?'), "{name} asks nothing");
            assert!(!experiment.sizes.is_empty() && !experiment.limits.is_empty(), "{name}");
            for allowance in experiment.limits {
                let limit = allowance.limit(experiment.sizes[0]).unwrap();
                let goal = (experiment.goal)(experiment.sizes[0], limit);
                goal.validate().unwrap();
                let contenders = experiment.contenders(&goal).unwrap();
                for figure in experiment.figures {
                    let (Figure::Space { contender, .. }
                    | Figure::Memory { contender, .. }
                    | Figure::Speed { contender, .. }) = figure;
                    let found = contenders.iter().any(|c| c.name() == *contender);
                    assert!(found, "{name} expects a figure of {contender}, who is not in it");
                    let races = experiment.kind == Kind::Race;
                    let timed = matches!(figure, Figure::Speed { .. });
                    assert!(races || !timed, "{name} is no race");
                }
            }
        }
        assert!(named("window-speed").is_ok());
        assert!(named("nonsense").err().unwrap().to_string().contains("window-speed"));
    }
}
