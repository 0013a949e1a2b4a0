//! Runs the real binary.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use lately::plan::Goal;
use lately::{ErrorRate, Span, Window};

/// Runs `lately` with these arguments and this standard input, to its end.
pub fn lately(arguments: &[&str], input: &[u8]) -> Run {
    run(Command::new(env!("CARGO_BIN_EXE_lately")).args(arguments), input)
}

/// Runs a command, prepared in any way, with this standard input, to its end.
pub fn run(command: &mut Command, input: &[u8]) -> Run {
    let mut child = start(command);
    let mut stdin = child.stdin.take().expect("standard input is a pipe");
    let output = std::thread::scope(|scope| {
        // A command that fails early does not read its input; that is no error here.
        scope.spawn(move || drop(stdin.write_all(input)));
        child.wait_with_output().expect("the binary ends")
    });
    Run { command: format!("{command:?}"), output }
}

/// Starts a command with pipes on all sides.
pub fn start(command: &mut Command) -> Child {
    heed_signals();
    let command = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().expect("the binary starts")
}

/// Lets signals mean to a command what they usually do. Whoever runs tests in the background of a script
/// has them ignore SIGINT, and what a process ignores, those it starts ignore too; what it handles, they
/// do not inherit.
pub fn heed_signals() {
    #[cfg(unix)]
    {
        use signal_hook::consts::{SIGINT, SIGTERM};
        static ONCE: std::sync::Once = std::sync::Once::new();
        ONCE.call_once(|| {
            for signal in [SIGINT, SIGTERM] {
                let always = std::sync::Arc::new(true.into());
                let end = signal_hook::flag::register_conditional_shutdown;
                end(signal, 128 + signal, always).expect("a handler");
            }
        });
    }
}

/// How a run ended.
pub struct Run {
    command: String,
    output: Output,
}

impl Run {
    /// What it printed; it must have succeeded without a complaint.
    #[track_caller]
    pub fn success(self) -> Vec<u8> {
        let (printed, complaint) = self.ended(0);
        assert_eq!(complaint, "");
        printed
    }

    /// Whether it succeeded.
    pub fn succeeded(&self) -> bool {
        self.output.status.success()
    }

    /// The same, as text.
    #[track_caller]
    pub fn text(self) -> String {
        String::from_utf8(self.success()).expect("text was expected")
    }

    /// Its complaint; it must have failed with exit code 2 and exactly one line.
    #[track_caller]
    pub fn failure(self) -> String {
        let (_, complaint) = self.ended(2);
        assert_eq!(complaint.lines().count(), 1, "{complaint}");
        assert!(complaint.starts_with("lately: "), "{complaint}");
        complaint
    }

    /// What it printed on both sides; it must have ended with this exit code.
    #[track_caller]
    pub fn ended(self, code: i32) -> (Vec<u8>, String) {
        let complaint = String::from_utf8(self.output.stderr).expect("complaints are text");
        assert_eq!(self.output.status.code(), Some(code), "{}: {complaint}", self.command);
        (self.output.stdout, complaint)
    }
}

/// A folder of a test's own, gone when the test is.
pub struct Folder(PathBuf);

impl Folder {
    /// An empty folder. Tests that run at the same time take different names.
    pub fn new(name: &str) -> Self {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).expect("the folder can be made");
        Self(path)
    }

    /// The path of a file in it.
    pub fn path(&self, name: &str) -> String {
        self.0.join(name).to_str().expect("paths of tests are text").to_owned()
    }

    /// A file in it with this content.
    pub fn file(&self, name: &str, content: impl AsRef<[u8]>) -> String {
        let path = self.path(name);
        fs::write(&path, content).expect("the file can be written");
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Flags for every kind of window that something in the catalog keeps, each far longer than the
/// tests are, and so exact that no mistake is expected in any of them.
pub fn windows() -> Vec<Vec<&'static str>> {
    let hour = Span::from_millis(3_600_000);
    let all = [
        (&["--last", "100000"][..], Window::Last(100_000)),
        (&["--within", "1h"], Window::Within(hour)),
        (&["--ever"], Window::Ever),
    ];
    let rate = ErrorRate::new(1e-9).expect("a rate");
    let kept = |window| Goal::new(window, rate).plans().is_ok();
    let kept = all.into_iter().filter(|&(_, window)| kept(window));
    kept.map(|(flags, _)| [flags, &["--error", "1e-9"]].concat()).collect()
}
