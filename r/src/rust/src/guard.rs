//! Guards every call from C: errors become objects, panics are caught, interrupts are polled.

use std::any::Any;
use std::cell::RefCell;
use std::ffi::{c_char, c_int};
use std::io::ErrorKind;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::null;
use std::sync::Once;
use std::sync::atomic::{AtomicU64, Ordering};

use entasis::{Error, Kind, Location, Monitor, Result};

/// An error, which C inspects and frees.
pub struct Failure {
    message: String,
    file: String,
    section: String,
    column: String,
    kind: &'static str,
    block: Option<u64>,
    page: Option<u64>,
    offset: Option<u64>,
}

/// The fields of a [`Failure`]: texts with their length, numbers or -1.
#[repr(C)]
pub struct FailureParts {
    kind: Text,
    message: Text,
    file: Text,
    section: Text,
    column: Text,
    block: f64,
    page: f64,
    offset: f64,
}

/// A text that a Rust object owns: UTF-8 without a terminating zero.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Text {
    start: *const c_char,
    len: usize,
}

impl Text {
    /// Lends a text while its owner lives.
    pub fn lend(text: &str) -> Self {
        Self::lend_bytes(text.as_bytes())
    }

    /// Lends bytes while their owner lives.
    pub fn lend_bytes(bytes: &[u8]) -> Self {
        Self { start: bytes.as_ptr().cast(), len: bytes.len() }
    }

    /// No text.
    pub fn none() -> Self {
        Self { start: null(), len: 0 }
    }

    /// Whether the text is missing.
    pub fn is_none(&self) -> bool {
        self.start.is_null()
    }

    /// The bytes that C lends.
    ///
    /// # Safety
    /// The bytes must be valid and unchanged while the slice is used. The start may be null.
    pub unsafe fn bytes<'a>(self) -> &'a [u8] {
        // SAFETY: as the caller promises; null and no bytes make an empty slice.
        unsafe { slice(self.start.cast(), self.len) }
    }

    /// The text that C lends.
    ///
    /// # Safety
    /// As for [`bytes`](Self::bytes).
    pub unsafe fn text<'a>(self) -> Result<&'a str> {
        // SAFETY: as the caller promises.
        let bytes = unsafe { self.bytes() };
        std::str::from_utf8(bytes).map_err(|_| Error::argument("a text that is not UTF-8"))
    }
}

/// `n` values that C lends.
///
/// # Safety
/// The values must be valid, initialised, aligned and unchanged while the slice is used. Null gives
/// an empty slice.
pub unsafe fn slice<'a, T>(start: *const T, n: usize) -> &'a [T] {
    if start.is_null() || n == 0 {
        return &[];
    }
    // SAFETY: not null, and the caller vouches for the rest.
    unsafe { std::slice::from_raw_parts(start, n) }
}

/// `n` values that C lends for writing.
///
/// # Safety
/// As for [`slice`]; nothing else may use the memory. It comes from another allocator, so the
/// compiler must take any bytes for initialised.
pub unsafe fn slice_mut<'a, T>(start: *mut T, n: usize) -> &'a mut [T] {
    if start.is_null() || n == 0 {
        // SAFETY: no values; the address is aligned for any of them.
        return unsafe { std::slice::from_raw_parts_mut(std::ptr::without_provenance_mut(64), 0) };
    }
    // SAFETY: not null, and the caller vouches for the rest.
    unsafe { std::slice::from_raw_parts_mut(start, n) }
}

thread_local! {
    /// The message of the last panic of this thread.
    static PANIC: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Runs `work`. After an error or a panic, stores the failure in `failure` and returns `or`.
///
/// # Safety
/// `failure` must be null or writable.
pub unsafe fn call<T>(failure: *mut *mut Failure, or: T, work: impl FnOnce() -> Result<T>) -> T {
    static QUIET: Once = Once::new();
    // The default hook prints to standard error, which packages of R must not do.
    QUIET.call_once(|| {
        std::panic::set_hook(Box::new(|info| {
            PANIC.with(|last| last.replace(info.to_string()));
        }));
    });
    // A failed refill is ignored here: after a use of the reserve, the first memory check inside
    // `work` reports it.
    let _ = entasis::reserve::refill();
    let error = match catch_unwind(AssertUnwindSafe(work)) {
        Ok(Ok(value)) => return value,
        Ok(Err(error)) => Failure::new(&error),
        Err(panic) => match entasis::refusal(&*panic) {
            Some(error) => Failure::new(&error),
            None => Failure::of_panic(&*panic),
        },
    };
    if !failure.is_null() {
        // SAFETY: not null, and the caller promises that it is writable.
        unsafe { *failure = Box::into_raw(Box::new(error)) };
    }
    or
}

/// Whether the user wants the work to end. The arguments are the amount done and the total. C asks
/// R inside `R_ToplevelExec`, so no jump leaves the function.
pub type Interrupted = extern "C" fn(f64, f64) -> c_int;

/// A monitor that polls C for interrupts and reports progress to it.
pub struct Signals {
    interrupted: Option<Interrupted>,
    done: AtomicU64,
    total: AtomicU64,
}

impl Signals {
    /// Polls this function.
    pub fn new(interrupted: Option<Interrupted>) -> Self {
        Self { interrupted, done: AtomicU64::new(0), total: AtomicU64::new(0) }
    }
}

impl Monitor for Signals {
    fn interrupted(&self) -> bool {
        let count = |number: &AtomicU64| number.load(Ordering::Relaxed) as f64;
        self.interrupted.is_some_and(|interrupted| interrupted(count(&self.done), count(&self.total)) != 0)
    }

    fn progress(&self, done: u64, total: u64) {
        self.done.store(done, Ordering::Relaxed);
        self.total.store(total, Ordering::Relaxed);
    }

    fn finished(&self, _total: u64) -> bool {
        // R handles an interrupt after the call.
        true
    }
}

/// The message for users. R itself adds the word "Error" and the call. The reason of an I/O error
/// has the form that R's own messages have.
fn message_of(error: &Error) -> String {
    let location = error.location();
    let advice = error.advice().map(|advice| format!("; {advice}")).unwrap_or_default();
    match error.kind() {
        Kind::Argument => {
            let location =
                if *location == Location::default() { String::new() } else { format!(" ({location})") };
            format!("{}{location}{advice}", error.message())
        }
        Kind::Io(_) => {
            let file =
                location.file.as_ref().map(|file| format!(" '{}'", file.display())).unwrap_or_default();
            let reason = error.io_source().map(ToString::to_string).unwrap_or_default();
            let reason = reason.split(" (os error").next().unwrap_or_default();
            format!("cannot {}{file}: {reason}{advice}", error.message())
        }
        _ => match error.exceeded_limit() {
            Some(limit) => error
                .to_string_with(&format!("if you trust the file, raise it: limits = list({limit} = ...)")),
            None => error.to_string(),
        },
    }
}

impl Failure {
    /// The failure of an error.
    pub fn new(error: &Error) -> Self {
        let location = error.location();
        let text = |text: &Option<String>| text.clone().unwrap_or_default();
        Self {
            message: message_of(error),
            file: location.file.as_ref().map(|file| file.display().to_string()).unwrap_or_default(),
            section: location.section.unwrap_or_default().to_owned(),
            column: text(&location.column),
            kind: match error.kind() {
                Kind::Io(ErrorKind::WouldBlock) => "busy",
                Kind::Io(ErrorKind::AlreadyExists) => "exists",
                Kind::Io(_) => "io",
                Kind::NotEntasis => "not_entasis",
                Kind::Newer => "newer",
                Kind::Corrupt => "corrupt",
                Kind::Tampered => "tampered",
                Kind::WrongKey => "wrong_key",
                Kind::Text => "text",
                Kind::Unsupported => "unsupported",
                Kind::Limit => "limit",
                Kind::OutOfMemory => "out_of_memory",
                Kind::Interrupted => "interrupted",
                Kind::Argument | Kind::NoColumn => "argument",
                _ => "defect",
            },
            block: location.block,
            page: location.page,
            offset: location.at,
        }
    }

    fn of_panic(panic: &(dyn Any + Send)) -> Self {
        let said = PANIC.with(RefCell::take);
        let of_thread = panic.downcast_ref::<&str>().map_or("another thread", |_| "this thread");
        let what = if said.is_empty() { of_thread } else { &said };
        Self {
            message: format!("a defect of entasis, please report it: {what}"),
            file: String::new(),
            section: String::new(),
            column: String::new(),
            kind: "defect",
            block: None,
            page: None,
            offset: None,
        }
    }
}

/// The fields of a failure, valid until it is freed.
///
/// # Safety
/// A call must have returned `failure`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ent_failure_parts(failure: *const Failure) -> FailureParts {
    // SAFETY: as the caller promises.
    let failure = unsafe { &*failure };
    let number = |number: Option<u64>| number.map_or(-1.0, |number| number as f64);
    FailureParts {
        kind: Text::lend(failure.kind),
        message: Text::lend(&failure.message),
        file: Text::lend(&failure.file),
        section: Text::lend(&failure.section),
        column: Text::lend(&failure.column),
        block: number(failure.block),
        page: number(failure.page),
        offset: number(failure.offset),
    }
}

/// Frees a failure.
///
/// # Safety
/// A call must have returned `failure`, which is invalid afterwards.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ent_failure_free(failure: *mut Failure) {
    // SAFETY: `call` made it with `Box::into_raw`, as the caller promises.
    drop(unsafe { Box::from_raw(failure) });
}

/// Whether a text is UTF-8.
///
/// # Safety
/// The text must be valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ent_is_utf8(text: Text) -> c_int {
    // SAFETY: as the caller promises.
    c_int::from(std::str::from_utf8(unsafe { text.bytes() }).is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_and_panics_become_failures() {
        for (work, kind, message) in [
            (
                Box::new(|| Err(Error::corrupt("torn").in_column("a").at(5)))
                    as Box<dyn FnOnce() -> Result<i32>>,
                "corrupt",
                "torn",
            ),
            (Box::new(|| panic!("on purpose")), "defect", "on purpose"),
        ] {
            let mut failure = std::ptr::null_mut();
            // SAFETY: `failure` is a local.
            assert_eq!(unsafe { call(&raw mut failure, -1, work) }, -1);
            // SAFETY: `call` returned it; it is freed once, after the last use of its texts.
            unsafe {
                let parts = ent_failure_parts(failure);
                assert_eq!(parts.kind.text().unwrap(), kind);
                assert!(parts.message.text().unwrap().contains(message));
                assert_eq!(parts.offset, if kind == "corrupt" { 5.0 } else { -1.0 });
                ent_failure_free(failure);
            }
        }
        // SAFETY: nothing is written without an error.
        assert_eq!(unsafe { call(std::ptr::null_mut(), -1, || Ok(7)) }, 7);
    }
}
