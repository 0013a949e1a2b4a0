//! `lately dedup`: first occurrences out, in order, byte for byte.
//!
//! What was judged is printed before it is remembered on disk: after a crash a record may come
//! twice, but none is lost.

use std::io::{self, Write};
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::bail;
use lately::raw::{Horizon, Untyped};
use lately::{Clock, Reach, Span, SystemClock, Time, Window};

use super::Ended;
use crate::args::{Dedup, Missing};
use crate::input::{Chunk, Ending, Event, Stream};
use crate::judge::{Judge, Repeats, Seen, Timing};
use crate::output::{self, Output};
use crate::printer::{Pace, Printer};
use crate::progress::Progress;
use crate::records::{Keys, Recipe, moment_text};
use crate::repeated::Repeated;
use crate::signals;
use crate::state::{self, Asked, Note, Saved, State};
use crate::stats::Counts;
use crate::unjudged::Unjudged;
use crate::watch;

pub(crate) fn run(request: &Dedup) -> anyhow::Result<Ended> {
    if !request.remembers() {
        return print_new(request);
    }
    if output::is_closed() {
        bail!(
            "standard output is closed, so what is new would be remembered and never seen; open it, \
             or send it to /dev/null, for writing only"
        );
    }
    match print_new(request) {
        // Not all that was there was done; so this is not success here.
        Err(error) if output::is_broken_pipe(&error) => Ok(Ended::Stopped(signals::BROKEN_PIPE)),
        ended => ended,
    }
}

fn print_new(request: &Dedup) -> anyhow::Result<Ended> {
    let (mut session, recipe) = Session::begin(request)?;
    let files = request.reading.files();
    let progress = if request.no_progress {
        Progress::none()
    } else {
        Progress::new(files.bytes(), request.count)
    };
    let stream = Stream::start(files, recipe, request.on_signals())?;
    let end = session.consume(&stream, &progress)?;
    drop(progress);
    session.finish(request)?;
    let ending = end?;
    match request.missing {
        Some(Missing::Pass) => session.unjudged.tell_of_times(),
        _ => session.unjudged.tell()?,
    }
    Ok(match ending {
        Ending::Stopped(signal) => Ended::Stopped(signal),
        Ending::Complete if request.exit_status && session.counts.unique == 0 => Ended::NothingNew,
        Ending::Complete => Ended::Well,
    })
}

/// The filter as it was saved, if it was made with the same options.
fn resume(path: &Path, saved: Saved, asked: Asked) -> anyhow::Result<(Untyped, Note)> {
    let differences = saved.differences(&asked)?;
    if !differences.is_empty() {
        let (path, differences) = (path.display(), differences.join(", "));
        bail!("{path} was made with other options: {differences}; use those, or another file");
    }
    Ok((saved.seen, saved.note.unwrap_or(asked.note)))
}

/// Refuses a filter whose clock is so far ahead that everything to come would be late: it would
/// take all of it to happen at one moment, and never forget.
fn check_clock(path: &Path, seen: &Untyped, horizon: Horizon) -> anyhow::Result<()> {
    let (Some(clock), wall) = (seen.filter().clock(), SystemClock.now()) else { return Ok(()) };
    if horizon.check(clock, None, wall).is_ok() {
        return Ok(());
    }
    bail!(
        "{}: its clock stands at {}, too far ahead of this machine's, so that it would take records \
         for repeats and never forget; set it back (--turn-back now), or allow it (--max-ahead any)",
        path.display(),
        moment_text(clock)
    )
}

/// Everything between the stream and the outside.
struct Session {
    judge: Judge,
    printer: Printer,
    counts: Counts,
    unjudged: Unjudged,
    /// What was held back, where that is told.
    repeated: Option<Repeated>,
    checkpoints: Option<Checkpoints>,
    /// How far back the filter remembered before this run, if that may be less than asked for, ...
    reach_before: Option<Reach>,
    /// ... and at the least during it.
    shortest: Option<Span>,
}

/// When and where the state is saved.
struct Checkpoints {
    state: State,
    /// What to note beside the filter, as it was at the beginning.
    note: Note,
    every: Duration,
    due: Instant,
    /// Records judged up to the last checkpoint of this run.
    saved: u64,
}

impl Session {
    /// A filter, empty or as it was saved, and how to read what it judges.
    fn begin(request: &Dedup) -> anyhow::Result<(Self, Recipe)> {
        let (state, saved) = match request.state.as_deref() {
            None => (None, None),
            // What is not printed is not remembered, either.
            Some(path) if request.count => (None, state::look(path)?),
            Some(path) => State::open(path).map(|(state, saved)| (Some(state), saved))?,
        };
        let goal = request.wanted.goal()?;
        let keys = if request.summary { Keys::Kept } else { Keys::Hashed };
        let recipe = request.reading.recipe(goal.window, request.hashing(), keys);
        let mut recipe = recipe.under_one_header();
        if request.is_shared() {
            recipe.horizon = request.reading.shared_horizon(goal.window);
        }
        let refresh = request.repeats() == Repeats::Refresh;
        let note = Note::new(&goal, recipe.to_string(), refresh);
        let (seen, note) = match (&request.state, saved) {
            (Some(path), Some(saved)) => {
                let (structure, hashing) = (request.structure.clone(), request.hashing());
                let limit = request.wanted.limit();
                let asked = Asked { goal, limit, structure, hashing, note };
                let (mut seen, mut note) = resume(path, saved, asked)?;
                if let Some(moment) = request.turn_back {
                    seen.filter_mut().turn_back(moment);
                    note.latest = note.latest.min(moment.millis());
                    if let Some(state) = &state {
                        state.save(&seen, &note)?;
                    }
                }
                check_clock(path, &seen, recipe.horizon)?;
                if request.counts() && seen.filter().counting().is_none() {
                    bail!(
                        "{}: its filter does not count, so it cannot let lines pass more than once; use \
                         another file for --pass and --summary",
                        path.display()
                    );
                }
                (Seen::Here(seen), note)
            }
            _ => match request.shared()? {
                Some(shared) => (shared, note),
                None => {
                    let (seen, goal) = request.filter()?;
                    (Seen::Here(seen), Note::new(&goal, note.keys, refresh))
                }
            },
        };
        let pace = match request {
            Dedup { count: true, .. } => Pace::Never,
            Dedup { line_buffered: true, .. } => Pace::Each,
            _ => Pace::Gathered,
        };
        let output = Output::new(recipe.terminator());
        let missing = request.missing.unwrap_or(Missing::Pass);
        let printer = Printer::new(output, request.show(), missing, pace);
        let timing = if recipe.tells_time() { Timing::Records } else { Timing::Clock };
        let latest = Time::from_millis(note.latest);
        let reach_before = match &seen {
            Seen::Here(seen) => seen.filter().reach(Time::ZERO),
            #[cfg(feature = "redis")]
            Seen::There(_) => None,
        };
        let judge = Judge::new(seen, request.repeats(), timing, latest);
        let every = Duration::from_millis(request.checkpoint.millis());
        let due = Instant::now() + every;
        let checkpoints = state.map(|state| Checkpoints { state, note, every, due, saved: 0 });
        let (counts, unjudged) = (Counts::new(), Unjudged::new(&recipe));
        let repeated = request.summary.then(|| Repeated::new(&recipe));
        let shortest = None;
        Ok((
            Self {
                judge,
                printer,
                counts,
                unjudged,
                repeated,
                checkpoints,
                reach_before,
                shortest,
            },
            recipe,
        ))
    }

    /// Judges and prints until the end. An input that fails is an end like any other for what came
    /// before it; an output that fails is not.
    fn consume(
        &mut self,
        stream: &Stream,
        progress: &Progress,
    ) -> anyhow::Result<anyhow::Result<Ending>> {
        loop {
            let mut event = stream.ready();
            if event.is_none() {
                self.printer.flush()?;
                self.judge.settle()?;
                let checkpoint = self.checkpoints.as_ref().map(|checkpoints| checkpoints.due);
                let over = self.tell_of_repeats()?;
                let wake = [checkpoint, self.judge.expire(), over].into_iter().flatten().min();
                event = stream.wait(wake);
            }
            match event {
                Some(Event::Chunk(chunk)) => {
                    self.take(&chunk)?;
                    self.notice_reach();
                    progress.set(stream.progress());
                    stream.recycle(*chunk);
                }
                Some(Event::End(end)) => return Ok(end),
                None => {}
            }
            if self
                .checkpoints
                .as_ref()
                .is_some_and(|checkpoints| checkpoints.due <= Instant::now())
            {
                self.checkpoint()?;
            }
        }
    }

    /// Judges and prints the records of a chunk, as many at a time as the filter allows.
    fn take(&mut self, chunk: &Chunk) -> anyhow::Result<()> {
        self.counts.bytes += chunk.length() as u64;
        self.unjudged.look_at(chunk);
        if self.repeated.is_some() {
            return self.take_one_by_one(chunk);
        }
        let (all, together) = (chunk.records.len(), self.judge.together());
        let mut end = 0;
        while end < all {
            let range = end..all.min(end.saturating_add(together));
            end = range.end;
            let new = self.judge.judge(&chunk.records, range.clone(), chunk.now)?;
            self.printer.print(chunk, range, new, &mut self.counts)?;
            self.counts.late = self.judge.late();
            if self.judge.waits() {
                self.printer.flush()?;
            }
        }
        Ok(())
    }

    /// The same, with what was held back in its place between them.
    fn take_one_by_one(&mut self, chunk: &Chunk) -> anyhow::Result<()> {
        let mut sightings = watch::sightings(chunk).zip(chunk.records.keys());
        let mut text = Vec::new();
        for at in 0..chunk.records.len() {
            let range = at..at + 1;
            let new = self.judge.judge(&chunk.records, range.clone(), chunk.now)?.to_vec();
            let judged = if new.is_empty() { None } else { sightings.next() };
            if let (Some(((hash, moment), key)), Some(repeated), Some(admission)) =
                (judged, &mut self.repeated, self.judge.admission())
            {
                text.clear();
                repeated.judged((hash, key), moment, admission, &mut text);
                self.printer.print_text(&text)?;
            }
            self.printer.print(chunk, range, &new, &mut self.counts)?;
            self.counts.late = self.judge.late();
        }
        Ok(())
    }

    /// Tells of what was held back in windows that are over, by this machine's clock if records tell no
    /// time, and says when the next one is.
    fn tell_of_repeats(&mut self) -> anyhow::Result<Option<Instant>> {
        let Some(repeated) = &mut self.repeated else { return Ok(None) };
        if !self.judge.follows_the_clock() {
            return Ok(None);
        }
        let Some(now) = SystemClock.now() else { return Ok(None) };
        let mut text = Vec::new();
        repeated.write_due(now, &mut text);
        let next = repeated.next().map(|next| Instant::now() + next.since(now).into());
        self.printer.print_text(&text)?;
        self.printer.flush()?;
        Ok(next)
    }

    /// Prints what is held back, then saves the state if there is anything new in it.
    fn checkpoint(&mut self) -> anyhow::Result<()> {
        self.printer.flush()?;
        self.judge.settle()?;
        let Some(checkpoints) = &mut self.checkpoints else { return Ok(()) };
        let judged = self.counts.judged();
        if judged > checkpoints.saved || !checkpoints.state.path().exists() {
            let note = Note {
                records: checkpoints.note.records + judged,
                latest: self.judge.latest().millis(),
                ..checkpoints.note.clone()
            };
            if let Some(seen) = self.judge.here() {
                checkpoints.state.save(seen, &note)?;
            }
            checkpoints.saved = judged;
        }
        checkpoints.due = Instant::now() + checkpoints.every;
        Ok(())
    }

    /// Notices how far back the filter remembers, if that may be less than asked for.
    fn notice_reach(&mut self) {
        let reach = self.judge.here().and_then(|seen| seen.filter().reach(Time::ZERO));
        let Some((Reach { now, least }, before)) = reach.zip(self.reach_before) else { return };
        // What it was at the least in former runs was told then.
        let least = if least < before.least { least } else { now };
        self.shortest = Some(self.shortest.map_or(least, |shortest| shortest.min(least)));
    }

    /// Says so if the window was shorter than asked for.
    fn tell_of_the_window(&self) {
        let Some((seen, shortest)) = self.judge.here().zip(self.shortest) else { return };
        let window = seen.promise().window;
        if !matches!(window, Window::Within(span) if shortest < span) {
            return;
        }
        let now = seen.filter().reach(Time::ZERO).map_or(shortest, |reach| reach.now);
        // Nobody may be there to read it.
        let _ = writeln!(
            io::stderr(),
            "lately: more came than fits, so instead of {window} it remembered {} at the least, and {} at \
             the end; repeats after that were taken for new",
            shortest.rounded(),
            now.rounded()
        );
    }

    fn finish(&mut self, request: &Dedup) -> anyhow::Result<()> {
        if let Some(repeated) = &mut self.repeated {
            let mut text = Vec::new();
            repeated.write_all(&mut text);
            self.printer.print_text(&text)?;
        }
        self.checkpoint()?;
        if request.count {
            output::print(&format!("{}\n", self.printer.shown()))?;
        }
        self.tell_of_the_window();
        if !request.figures.are_wanted() {
            return Ok(());
        }
        let report = self.counts.report(self.judge.about()?);
        request.figures.tell(&report, || report.json())
    }
}
