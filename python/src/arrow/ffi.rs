//! The structures of Arrow's C data and C stream interfaces.

use std::ffi::{c_char, c_int, c_void};

/// The categories have an order.
pub const ORDERED: i64 = 1;
/// The keys of a map are sorted.
pub const KEYS_SORTED: i64 = 4;
/// Values may be missing.
pub const NULLABLE: i64 = 2;

/// A type.
#[repr(C)]
pub struct ArrowSchema {
    pub format: *const c_char,
    pub name: *const c_char,
    pub metadata: *const c_char,
    pub flags: i64,
    pub n_children: i64,
    pub children: *mut *mut ArrowSchema,
    pub dictionary: *mut ArrowSchema,
    pub release: Option<unsafe extern "C" fn(*mut ArrowSchema)>,
    pub private_data: *mut c_void,
}

/// Values.
#[repr(C)]
pub struct ArrowArray {
    pub length: i64,
    pub null_count: i64,
    pub offset: i64,
    pub n_buffers: i64,
    pub n_children: i64,
    pub buffers: *mut *const c_void,
    pub children: *mut *mut ArrowArray,
    pub dictionary: *mut ArrowArray,
    pub release: Option<unsafe extern "C" fn(*mut ArrowArray)>,
    pub private_data: *mut c_void,
}

/// Values piece by piece.
#[repr(C)]
pub struct ArrowArrayStream {
    pub get_schema: Option<unsafe extern "C" fn(*mut ArrowArrayStream, *mut ArrowSchema) -> c_int>,
    pub get_next: Option<unsafe extern "C" fn(*mut ArrowArrayStream, *mut ArrowArray) -> c_int>,
    pub get_last_error: Option<unsafe extern "C" fn(*mut ArrowArrayStream) -> *const c_char>,
    pub release: Option<unsafe extern "C" fn(*mut ArrowArrayStream)>,
    pub private_data: *mut c_void,
}

macro_rules! owned {
    ($name:ident) => {
        impl $name {
            /// One that is released already.
            pub fn empty() -> Self {
                // SAFETY: all fields are numbers, pointers or optional functions, for which zeros are valid.
                unsafe { std::mem::zeroed() }
            }
        }

        impl Drop for $name {
            fn drop(&mut self) {
                if let Some(release) = self.release {
                    // SAFETY: not released yet; a structure is released once, by its owner.
                    unsafe { release(self) };
                }
            }
        }

        // SAFETY: the interface asks producers for structures that may be used and released on any thread.
        unsafe impl Send for $name {}
        // SAFETY: after import they are only read.
        unsafe impl Sync for $name {}
    };
}

owned!(ArrowSchema);
owned!(ArrowArray);
owned!(ArrowArrayStream);

impl ArrowArrayStream {
    /// Takes the stream out of `from`, which is released then for its owner.
    ///
    /// # Safety
    /// `from` points to a valid stream.
    pub unsafe fn take(from: *mut Self) -> Self {
        // SAFETY: the caller's promise; moving out and marking as released is how the interface hands over.
        unsafe { std::ptr::replace(from, Self::empty()) }
    }
}
