//! The option `--threads`.

use std::num::NonZero;

use clap::Args;

/// Size of the program's thread pool.
#[derive(Args, Clone, Copy, Debug, Default)]
pub struct Threads {
    /// Threads to compute with [default: one a core]
    #[arg(short, long, value_name = "N")]
    threads: Option<NonZero<u16>>,
}

impl Threads {
    /// Sets the size of rayon's global pool. Call it once, before anything uses the pool. A system
    /// that refuses the threads gets a message, and the pool its default size.
    pub fn apply(self) {
        let Some(threads) = self.threads else { return };
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads.get().into());
        if let Err(error) = pool.build_global() {
            crate::tell(format_args!("--threads {threads}: {error}"));
        }
    }
}
