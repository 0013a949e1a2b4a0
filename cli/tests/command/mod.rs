//! Runs the real binary.

use std::io::Write;
use std::process::{Command, Output, Stdio};

/// Runs `lately` with these arguments and this standard input, to its end.
pub fn lately(arguments: &[&str], input: &[u8]) -> Run {
    let mut child = Command::new(env!("CARGO_BIN_EXE_lately"))
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary starts");
    let mut stdin = child.stdin.take().expect("standard input is a pipe");
    let output = std::thread::scope(|scope| {
        // A command that fails early does not read its input; that is no error here.
        scope.spawn(move || drop(stdin.write_all(input)));
        child.wait_with_output().expect("the binary ends")
    });
    Run { arguments: arguments.join(" "), output }
}

/// How a run ended.
pub struct Run {
    arguments: String,
    output: Output,
}

impl Run {
    /// What it printed; it must have succeeded without a complaint.
    #[track_caller]
    pub fn success(self) -> Vec<u8> {
        let complaint = String::from_utf8_lossy(&self.output.stderr);
        assert_eq!(self.output.status.code(), Some(0), "{}: {complaint}", self.arguments);
        assert_eq!(complaint, "", "{}", self.arguments);
        self.output.stdout
    }

    /// Its complaint; it must have failed with exit code 2 and exactly one line.
    #[track_caller]
    pub fn failure(self) -> String {
        let complaint = String::from_utf8(self.output.stderr).expect("complaints are text");
        assert_eq!(self.output.status.code(), Some(2), "{}: {complaint}", self.arguments);
        assert_eq!(complaint.lines().count(), 1, "{}: {complaint}", self.arguments);
        assert!(complaint.starts_with("lately: "), "{}: {complaint}", self.arguments);
        complaint
    }
}
