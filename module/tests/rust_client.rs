//! `BF.*` through the commands of the Rust client `redis`, as programs written for RedisBloom use it.
//!
//! `cargo xtask module` says where the servers and the module are; without that there is nothing to
//! test with.

use std::net::{Ipv4Addr, TcpListener};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use redis::bloom::{BloomFilterDumpIterator, BloomFilterInsertOptions, BloomFilterScalingOptions};
use redis::{Client, Connection, TypedCommands};

#[test]
fn bloom_commands_of_the_client() {
    let (Ok(engines), Ok(module)) =
        (std::env::var("LATELY_ENGINES"), std::env::var("LATELY_MODULE"))
    else {
        eprintln!("skipped: no servers; `cargo xtask module` brings some");
        return;
    };
    for engine in engines.split(',') {
        let program = engine.split_once('=').expect("name=path").1;
        for protocol in ["resp2", "resp3"] {
            let server = Server::start(program, &module);
            use_every_command(&mut server.connect(protocol));
        }
    }
}

fn use_every_command(client: &mut Connection) {
    client.bf_reserve("bloom", 0.01, 1000).unwrap();
    assert!(client.bf_reserve("bloom", 0.01, 1000).is_err());
    assert!(client.bf_add("bloom", "a").unwrap());
    assert!(!client.bf_add("bloom", "a").unwrap());
    assert!(client.bf_exists("bloom", "a").unwrap());
    assert!(!client.bf_exists("bloom", "b").unwrap());
    assert_eq!(client.bf_madd("bloom", &["a", "b", "c"]).unwrap(), [false, true, true]);
    assert_eq!(client.bf_mexists("bloom", &["a", "d"]).unwrap(), [true, false]);
    assert_eq!(client.bf_insert("made", &["x", "x"]).unwrap(), [true, false]);
    assert_eq!(client.bf_card("bloom").unwrap(), 3);

    let options = BloomFilterInsertOptions::default()
        .capacity(500)
        .error_rate(0.001)
        .expansion(BloomFilterScalingOptions::ExpansionRate(4));
    assert_eq!(client.bf_insert_options("told", &["x"], options).unwrap(), [true]);
    let missing = BloomFilterInsertOptions::default().nocreate();
    assert!(client.bf_insert_options("missing", &["x"], missing).is_err());
    client.bf_reserve_options("fixed", 0.01, 10, BloomFilterScalingOptions::NonScaling).unwrap();

    let info = client.bf_info("told").unwrap();
    assert_eq!(info["Capacity"], 500.0);
    assert_eq!(info["Expansion rate"], 4.0);
    assert_eq!(info["Number of items inserted"], 1.0);
    assert_eq!(client.bf_info("fixed").unwrap()["Expansion rate"], 0.0);
    let size = client.bf_info_type("told", redis::bloom::BloomFilterInfoType::Size).unwrap();
    assert_eq!(info["Size"], *size);

    let chunks: Vec<_> =
        BloomFilterDumpIterator::new(client, "bloom").map(|chunk| chunk.unwrap()).collect();
    for chunk in chunks {
        client.bf_loadchunk("copy", chunk).unwrap();
    }
    assert_eq!(
        client.bf_mexists("copy", &["a", "b", "c", "d"]).unwrap(),
        [true, true, true, false]
    );
}

/// A server with the module on a port of its own; stopped when dropped.
struct Server {
    process: Child,
    port: u16,
}

impl Server {
    fn start(program: &str, module: &str) -> Self {
        let probe = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port is free");
        let port = probe.local_addr().expect("it is bound").port();
        drop(probe);
        let process = Command::new(program)
            .args(["--port", &port.to_string(), "--bind", "127.0.0.1", "--save", ""])
            .args(["--loadmodule", module])
            .stdout(Stdio::null())
            .spawn()
            .expect("the server starts");
        Self { process, port }
    }

    fn connect(&self, protocol: &str) -> Connection {
        let url = format!("redis://127.0.0.1:{}/?protocol={protocol}", self.port);
        let client = Client::open(url).expect("the address is right");
        let deadline = Instant::now() + Duration::from_secs(20);
        loop {
            match client.get_connection() {
                Ok(connection) => return connection,
                Err(error) if Instant::now() > deadline => panic!("no server: {error}"),
                Err(_) => sleep(Duration::from_millis(10)),
            }
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended by itself, which the test has noticed then.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
