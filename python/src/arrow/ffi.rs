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
            /// A structure that is marked as released.
            pub fn empty() -> Self {
                // SAFETY: all fields are numbers, pointers or optional functions, and zeros are
                // valid for these.
                unsafe { std::mem::zeroed() }
            }
        }

        impl Drop for $name {
            fn drop(&mut self) {
                if let Some(release) = self.release {
                    // SAFETY: the structure is not released yet, and only its owner releases it.
                    unsafe { release(self) };
                }
            }
        }

        // SAFETY: the interface requires structures that any thread may use and release.
        unsafe impl Send for $name {}
        // SAFETY: an imported structure is only read.
        unsafe impl Sync for $name {}
    };
}

owned!(ArrowSchema);
owned!(ArrowArray);
owned!(ArrowArrayStream);

impl ArrowArrayStream {
    /// Moves the stream out of `from`, and marks `from` as released.
    ///
    /// # Safety
    /// `from` points to a valid stream.
    pub unsafe fn take(from: *mut Self) -> Self {
        // SAFETY: `from` is valid, as the caller promises. The interface defines that a structure
        // is moved by copying it and marking the source as released.
        unsafe { std::ptr::replace(from, Self::empty()) }
    }
}
