//! Threads, memory and files of the operating system.
//!
//! All `unsafe` code about the operating system and about borrowed memory of a host is here. The
//! crate depends on no other crate of the workspace:
//!
//! - [`memory`]: aligned buffers, short-lived vectors, huge pages, and memory that a host lends.
//! - [`thread_pool`]: runs a piece of work on several threads.
//! - [`fallocate`]: reserves disk space.
//! - [`xattr`]: reads and sets extended attributes of files.
//! - [`Process`]: distinguishes a process from its forked children.
//!
//! Two environment variables, read once, switch off the parts that tune for speed. With the value
//! `off` or `0`, `ENTASIS_HUGE_PAGES` leaves all memory to the allocator and gives the system no
//! advice about pages (Linux). `ENTASIS_THREAD_POOL` makes helper threads end with their work
//! instead of waiting for more.
//!
//! ```
//! use std::sync::atomic::{AtomicUsize, Ordering};
//!
//! use entasis_platform::{Buffer, thread_pool};
//!
//! let mut buffer = Buffer::zeroed(8 << 20).expect("8 MiB of memory");
//! assert!(buffer.as_ptr().addr() % 64 == 0 && buffer.iter().all(|&byte| byte == 0));
//! buffer[0] = 7;
//!
//! let sum = AtomicUsize::new(0);
//! let add = |number: usize| {
//!     sum.fetch_add(number, Ordering::Relaxed);
//! };
//! thread_pool::run(3, &add, |_helpers| add(0));
//! assert_eq!(sum.into_inner(), 1 + 2 + 3);
//! ```

pub mod fallocate;
pub mod memory;
mod process;
mod switch;
pub mod thread_pool;
pub mod xattr;

pub use memory::{Buffer, Buffers, HostRead, HostViews};
pub use process::Process;

/// The parts that environment variables switch off: name, variable, and whether the part is in use.
///
/// Reads each variable, if nothing did before.
///
/// ```
/// for (name, variable, is_on) in entasis_platform::switches() {
///     println!("{name} ({variable}): {}", if is_on { "on" } else { "off" });
/// }
/// ```
pub fn switches() -> [(&'static str, &'static str, bool); 2] {
    [("huge pages", &memory::HUGE_PAGES), ("thread pool", &thread_pool::POOL)]
        .map(|(name, switch)| (name, switch.variable(), switch.is_on()))
}
