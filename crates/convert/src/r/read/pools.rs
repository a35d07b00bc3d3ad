//! Arrays of trees, whose values are in pools.

use std::ops::Range;
use std::rc::Rc;

use entasis::{CellKind, Error, Result};

use super::cells::Maker;
use super::columns::Parts;
use super::kinds::Form;
use super::make::{self, sliced, taken};
use super::table::Table;
use super::{Reading, damage};
use crate::r::kind::Kind;
use crate::r::{Data, Value};

impl Reading<'_> {
    /// All columns of the file, as a table of the library that wrote the cells.
    fn pools(&self, is_own: bool) -> Table {
        Table {
            file: self.whole.whole(),
            host: entasis::Value::Null,
            is_own,
            columns: Vec::new(),
            encodings: Default::default(),
        }
    }

    /// Values of a pool.
    fn pool(&self, column: u64, range: Range<u64>, is_own: bool) -> Result<Value> {
        let table = self.pools(is_own);
        let info = table.info(column)?;
        if is_own {
            let Form::Vector(kind) = self.form(&table, &info, true)? else {
                return Err(damage("a pool of a nested type"));
            };
            let columns = [column];
            let parts = Parts { columns: &columns, kind, seconds: 1, rows: range };
            return Ok(self.vector(&table, &parts)?.into());
        }
        if self.form(&table, &info, true)? == Form::Vector(Kind::Integer64) {
            let columns = [column];
            let parts = Parts { columns: &columns, kind: Kind::Integer64, seconds: 1, rows: range };
            let value = Value::from(self.vector(&table, &parts)?);
            return Ok(value.with("class", make::text("integer64")));
        }
        self.of_other_host(&table, &info, range, 1)
    }
}

impl Maker<'_, '_> {
    /// An array of some values of a pool.
    pub(super) fn array(
        &mut self,
        kind: CellKind,
        pool: u64,
        range: Range<u64>,
        dim: Option<Vec<u64>>,
    ) -> Result<Value> {
        let column = self.pool_column(pool)?;
        let n = self.reading.whole.column(column)?.record.n_values;
        if range.end > n {
            return Err(damage("an array extends beyond its pool"));
        }
        // A long vector has a pool of its own.
        let value = if range == (0..n) {
            self.reading.pool(column, range, self.is_own)?
        } else {
            let known = self.reading.pools.borrow().get(&column).cloned();
            let all = match known {
                Some(all) => all,
                None => {
                    let all = Rc::new(self.reading.pool(column, 0..n, self.is_own)?);
                    self.reading.pools.borrow_mut().insert(column, Rc::clone(&all));
                    all
                }
            };
            let data = sliced(&all.data, range.start as usize..range.end as usize);
            Value { data, attributes: all.attributes.clone(), is_s4: false }
        };
        let value = Reading::fitting(value);
        let Some(dim) = dim.filter(|dim| dim.len() > 1) else { return Ok(value) };
        let numbers: Option<Vec<i32>> = dim.iter().map(|&n| i32::try_from(n).ok()).collect();
        let numbers = numbers.ok_or_else(|| self.refused("an array with an axis longer than 2^31 - 1"))?;
        let shape = Value::from(Data::Integer(numbers));
        if kind == CellKind::FortranArray {
            let mut value = value;
            make::set(&mut value, "dim", shape);
            return Ok(value);
        }
        // R puts the dimensions first.
        let mut value = turned(value, &dim)?;
        value.attributes.get_or_insert_default().insert(0, ("dim".to_owned(), shape));
        Ok(value)
    }
}

/// The values of an array whose last axis runs fastest, in the order of R.
pub(super) fn turned(value: Value, dim: &[u64]) -> Result<Value> {
    let wrong = || Error::limit("an array is too long");
    let dim = dim.iter().map(|&n| usize::try_from(n).map_err(|_| wrong())).collect::<Result<Vec<_>>>()?;
    let n = dim.iter().try_fold(1usize, |n, &len| n.checked_mul(len)).ok_or_else(wrong)?;
    // The distance of neighbours along each axis in the file.
    let mut strides = vec![1usize; dim.len()];
    for k in (1..dim.len()).rev() {
        strides[k - 1] = strides[k] * dim[k];
    }
    let mut at = Vec::with_capacity(n);
    let mut index = vec![0usize; dim.len()];
    let mut place = 0;
    for _ in 0..n {
        at.push(place);
        for k in 0..dim.len() {
            index[k] += 1;
            place += strides[k];
            if index[k] < dim[k] {
                break;
            }
            place -= strides[k] * dim[k];
            index[k] = 0;
        }
    }
    Ok(Value { data: taken(&value.data, &at), ..value })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_become_columns() {
        let value = Value::from(Data::Integer((0..6).collect()));
        assert_eq!(turned(value.clone(), &[2, 3]).unwrap().data, Data::Integer(vec![0, 3, 1, 4, 2, 5]));
        let three = turned(value, &[1, 3, 2]).unwrap().data;
        assert_eq!(three, Data::Integer(vec![0, 2, 4, 1, 3, 5]));
    }
}
