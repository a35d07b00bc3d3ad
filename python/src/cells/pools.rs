//! Arrays in trees become columns. Small arrays of one dtype share a column.

use std::collections::HashMap;

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

/// The most bytes of an array that shares a column. A larger array has its own, because a block has
/// one encoding for all arrays in it.
const SMALL: usize = 1 << 20;

/// The arrays of one column.
struct Pool {
    arrays: Py<PyList>,
    len: u64,
    itemsize: usize,
}

/// The arrays of all trees in a file.
pub struct Pools {
    pools: Vec<Pool>,
    /// Pools of small arrays by the address of the dtype, and by the dtype.
    by_address: HashMap<usize, usize>,
    by_dtype: Py<PyDict>,
    /// The dtypes in `by_address`, kept alive so that no other object gets their addresses.
    dtypes: Vec<Py<PyAny>>,
}

impl Pools {
    pub fn new(py: Python<'_>) -> Self {
        let (pools, by_address, dtypes) = Default::default();
        Self { pools, by_address, by_dtype: PyDict::new(py).unbind(), dtypes }
    }

    /// The arrays of each pool, and how many values they have.
    pub fn arrays(&self, py: Python<'_>) -> Vec<(Py<PyList>, u64)> {
        self.pools.iter().map(|pool| (pool.arrays.clone_ref(py), pool.len)).collect()
    }

    /// Whether an array with this very dtype object was added.
    pub fn know(&self, dtype: &Bound<'_, PyAny>) -> bool {
        self.by_address.contains_key(&(dtype.as_ptr() as usize))
    }

    /// Adds a one-dimensional array of `n` values. Returns its pool, and its first value there. A
    /// large array has a pool of its own.
    pub fn add(
        &mut self,
        array: &Bound<'_, PyAny>,
        dtype: &Bound<'_, PyAny>,
        n: usize,
    ) -> PyResult<(usize, u64)> {
        let known = self.by_address.get(&(dtype.as_ptr() as usize)).copied();
        let itemsize = match known {
            Some(pool) => self.pools[pool].itemsize,
            None => dtype.getattr("itemsize")?.extract()?,
        };
        let pool = match known {
            _ if n.saturating_mul(itemsize) > SMALL => self.new_pool(dtype)?,
            Some(pool) => pool,
            None => self.pool(dtype)?,
        };
        let of = &mut self.pools[pool];
        let at = of.len;
        of.arrays.bind(array.py()).append(array)?;
        of.len += n as u64;
        Ok((pool, at))
    }

    /// The pool of small arrays of a dtype.
    fn pool(&mut self, dtype: &Bound<'_, PyAny>) -> PyResult<usize> {
        let py = dtype.py();
        let kind: String = dtype.getattr("kind")?.extract()?;
        // Equal dtypes of other kinds may differ in their metadata or fields.
        if !"biufcmMSU".contains(&kind) {
            return self.new_pool(dtype);
        }
        let pool = match self.by_dtype.bind(py).get_item(dtype)? {
            Some(pool) => pool.extract()?,
            None => {
                let pool = self.new_pool(dtype)?;
                self.by_dtype.bind(py).set_item(dtype, pool)?;
                pool
            }
        };
        self.by_address.insert(dtype.as_ptr() as usize, pool);
        self.dtypes.push(dtype.clone().unbind());
        Ok(pool)
    }

    fn new_pool(&mut self, dtype: &Bound<'_, PyAny>) -> PyResult<usize> {
        let itemsize: usize = dtype.getattr("itemsize")?.extract()?;
        self.pools.push(Pool { arrays: PyList::empty(dtype.py()).unbind(), len: 0, itemsize });
        Ok(self.pools.len() - 1)
    }
}
