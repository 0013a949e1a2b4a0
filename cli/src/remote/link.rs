//! A connection that is made again when it breaks.

use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use redis::cluster::{ClusterClientBuilder, ClusterConnection};
use redis::{Cmd, ErrorKind, FromRedisValue, RedisError, RedisResult, ServerErrorKind};

use super::Address;

/// A server or a cluster, reached again with growing pauses when it is lost.
pub(crate) struct Link {
    address: Address,
    connection: Option<Connection>,
    /// How long to try before giving up.
    patience: Duration,
}

enum Connection {
    One(Box<redis::Connection>),
    Cluster(Box<ClusterConnection>),
}

/// Answers, and whether they are those of the first attempt. After a failed attempt nobody knows
/// what it did: its commands may have been carried out, and only the answers were lost.
#[derive(Debug)]
pub(crate) struct Answered<T> {
    pub(crate) answers: Vec<T>,
    pub(crate) certain: bool,
}

/// The longest that a server may take for one batch, and for a connection.
const TIMEOUT: Duration = Duration::from_secs(20);

/// The first pause; each further one is twice as long, up to the longest.
const FIRST_PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_secs(3);

impl Link {
    /// Connects. A server that is not there at the beginning is not waited for.
    pub(crate) fn open(address: &Address, patience: Duration) -> anyhow::Result<Self> {
        let connection =
            Connection::open(address).with_context(|| format!("cannot reach {address}"))?;
        Ok(Self { address: address.clone(), connection: Some(connection), patience })
    }

    /// Carries out commands, one answer each, again if need be.
    pub(crate) fn run<T: FromRedisValue>(
        &mut self,
        commands: &[Cmd],
    ) -> anyhow::Result<Answered<T>> {
        let begun = Instant::now();
        let mut pause = FIRST_PAUSE;
        let mut certain = true;
        loop {
            let error = match self.attempt(commands) {
                Ok(answers) if answers.len() == commands.len() => {
                    return Ok(Answered { answers, certain });
                }
                Ok(_) => bail!("{} answered something else than was asked", self.address),
                Err(error) if is_passing(&error) => error,
                Err(error) => return Err(error).with_context(|| self.address.to_string()),
            };
            self.connection = None;
            certain = false;
            if begun.elapsed() + pause > self.patience {
                let seconds = self.patience.as_secs();
                return Err(error)
                    .with_context(|| format!("{} was lost for {seconds} s", self.address));
            }
            sleep(pause);
            pause = LONGEST_PAUSE.min(2 * pause);
        }
    }

    fn attempt<T: FromRedisValue>(&mut self, commands: &[Cmd]) -> RedisResult<Vec<T>> {
        let connection = match &mut self.connection {
            Some(connection) => connection,
            none => none.insert(Connection::open(&self.address)?),
        };
        match connection {
            Connection::One(connection) => {
                let mut pipe = redis::pipe();
                for command in commands {
                    pipe.add_command(command.clone());
                }
                pipe.query(connection.as_mut())
            }
            Connection::Cluster(connection) => {
                let mut pipe = redis::cluster::cluster_pipe();
                for command in commands {
                    pipe.add_command(command.clone());
                }
                pipe.query(connection.as_mut())
            }
        }
    }
}

impl Connection {
    fn open(address: &Address) -> RedisResult<Self> {
        // Cryptography for `rediss`; an error says that it is installed already.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = redis::Client::open(address.server.clone())?;
        let mut one = client.get_connection_with_timeout(TIMEOUT)?;
        one.set_read_timeout(Some(TIMEOUT))?;
        one.set_write_timeout(Some(TIMEOUT))?;
        let info: String = redis::cmd("INFO").arg("cluster").query(&mut one)?;
        if !info.contains("cluster_enabled:1") {
            return Ok(Connection::One(Box::new(one)));
        }
        let client = ClusterClientBuilder::new([address.server.clone()])
            .connection_timeout(TIMEOUT)
            .response_timeout(TIMEOUT)
            .build()?;
        Ok(Connection::Cluster(Box::new(client.get_connection()?)))
    }
}

/// Whether it makes sense to try again: the network, or a server that is starting, moving slots or
/// changing roles.
fn is_passing(error: &RedisError) -> bool {
    error.is_io_error()
        || error.is_timeout()
        || error.is_connection_dropped()
        || error.is_connection_refusal()
        || matches!(
            error.kind(),
            ErrorKind::ClusterConnectionNotFound
                | ErrorKind::Server(
                    ServerErrorKind::BusyLoading
                        | ServerErrorKind::TryAgain
                        | ServerErrorKind::ClusterDown
                        | ServerErrorKind::MasterDown
                        | ServerErrorKind::ReadOnly
                        | ServerErrorKind::Moved
                        | ServerErrorKind::Ask
                )
        )
}
