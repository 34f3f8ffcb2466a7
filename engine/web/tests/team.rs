//! Workers of a team: separate sessions over shared memory.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use web::{Host, Session, SharedMemory};

struct Words(Box<[AtomicU64]>);

impl SharedMemory for Words {
    fn words(&self) -> usize {
        self.0.len()
    }
    fn load(&self, index: usize) -> u64 {
        self.0[index].load(Ordering::Relaxed)
    }
    fn store(&self, index: usize, word: u64) {
        self.0[index].store(word, Ordering::Relaxed);
    }
    fn find(&self, cluster: usize, key: u64) -> Option<usize> {
        (cluster..cluster + 8).step_by(2).find(|&entry| {
            let data = self.load(entry + 1);
            data == 0 || self.load(entry) ^ data == key
        })
    }
}

struct Worker(Arc<Words>);

impl Host for Worker {
    fn now(&self) -> f64 {
        0.0
    }
    fn report(&self, _: &str) {}
    fn shared_memory(&self) -> Option<Arc<dyn SharedMemory>> {
        Some(Arc::clone(&self.0) as Arc<dyn SharedMemory>)
    }
}

fn memory(words: usize) -> Arc<Words> {
    Arc::new(Words((0..words).map(|_| AtomicU64::new(0)).collect()))
}

fn ask(session: &mut Session, memory: &Arc<Words>, request: &str) -> serde_json::Value {
    let answer = session.answer(request, &Worker(Arc::clone(memory)));
    let mut answer: serde_json::Value = serde_json::from_str(&answer).unwrap();
    answer["ok"].take()
}

fn search(session: &mut Session, memory: &Arc<Words>) -> u64 {
    let request = r#"{"op":"search","moves":["e2e4"],"depth":9}"#;
    let result = &ask(session, memory, request)["search"];
    assert_eq!(result["depth"], 9);
    result["nodes"].as_u64().unwrap()
}

#[test]
fn a_helper_searches_until_the_search_is_over() {
    let memory = memory(1 << 16);
    memory.store(0, 1);
    let helper = {
        let memory = Arc::clone(&memory);
        thread::spawn(move || {
            let request = r#"{"op":"help","moves":["e2e4"],"search":1,"helper":4}"#;
            let reply = ask(&mut Session::new().unwrap(), &memory, request);
            reply["help"].as_u64().unwrap()
        })
    };
    while memory.load(1 + 4) < 1000 {
        thread::sleep(Duration::from_millis(1));
    }
    assert!(!helper.is_finished());
    let nodes = search(&mut Session::new().unwrap(), &memory);
    let published = memory.load(1 + 4);
    assert!(nodes > 1000, "the helper's nodes are included");
    memory.store(0, 2);
    let helped = helper.join().unwrap();
    assert!(helped >= published);
    // Helping an ended search returns at once.
    let late = r#"{"op":"help","moves":[],"search":1,"helper":0}"#;
    let reply = ask(&mut Session::new().unwrap(), &memory, late);
    assert!(reply["help"].as_u64().unwrap() < 1000);
}

#[test]
fn workers_share_table_entries() {
    let memory = memory(1 << 16);
    let alone = search(&mut Session::new().unwrap(), &memory);
    let after = search(&mut Session::new().unwrap(), &memory);
    assert!(after * 3 < alone, "{after} nodes, and {alone} before");
}

#[test]
fn searches_alone_if_memory_is_too_small() {
    search(&mut Session::new().unwrap(), &memory(16));
}
