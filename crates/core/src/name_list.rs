//! A compact list of names.

use entasis_format::emit_run_names;

/// A list of names, stored in one string of less than 4 GiB.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NameList {
    text: String,
    /// The end of each name in the text.
    ends: Vec<u32>,
}

impl NameList {
    /// An empty list with room for `n` names.
    pub fn with_capacity(n: usize) -> Self {
        Self { text: String::new(), ends: Vec::with_capacity(n) }
    }

    /// The names in `text`. `ends` are their ends; `None` if these do not fit the text.
    pub fn from_parts(text: String, ends: Vec<u32>) -> Option<Self> {
        let are_ends = ends.is_sorted() && ends.iter().all(|&end| text.is_char_boundary(end as usize));
        let last = ends.last().map_or(0, |&end| end as usize);
        (are_ends && last == text.len()).then_some(Self { text, ends })
    }

    /// Adds a name. Returns false and adds nothing if the text would reach 4 GiB.
    #[must_use]
    pub fn push(&mut self, name: &str) -> bool {
        let end = u32::try_from(self.text.len() + name.len());
        if let Ok(end) = end {
            self.text.push_str(name);
            self.ends.push(end);
        }
        end.is_ok()
    }

    /// The number of names.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The name at index `i`.
    pub fn get(&self, i: usize) -> Option<&str> {
        let end = *self.ends.get(i)? as usize;
        self.text.get(self.start(i)..end)
    }

    fn start(&self, i: usize) -> usize {
        i.checked_sub(1).map_or(0, |before| self.ends[before] as usize)
    }

    /// The names, in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &str> {
        (0..self.len()).map(|i| self.get(i).unwrap_or_default())
    }

    /// The names in `range`, which must exist.
    #[must_use]
    pub fn part(&self, range: std::ops::Range<usize>) -> Self {
        if range == (0..self.len()) {
            return self.clone();
        }
        let start = self.start(range.start);
        let end = self.start(range.end);
        Self {
            text: self.text[start..end].to_owned(),
            ends: self.ends[range].iter().map(|end| end - start as u32).collect(),
        }
    }

    /// Appends the names as a file stores the names of a column run.
    pub(crate) fn emit(&self, out: &mut Vec<u8>) {
        emit_run_names(&self.ends, &self.text, out);
    }
}

impl<'a> FromIterator<&'a str> for NameList {
    /// # Panics
    /// If the names have 4 GiB or more in total.
    fn from_iter<I: IntoIterator<Item = &'a str>>(names: I) -> Self {
        let mut list = Self::default();
        for name in names {
            assert!(list.push(name), "names of 4 GiB");
        }
        list
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_parts_of_them() {
        let names = ["a", "", "é", "bcd"];
        let list: NameList = names.into_iter().collect();
        assert_eq!((list.len(), list.iter().collect::<Vec<_>>()), (4, names.to_vec()));
        assert_eq!(list.get(4), None);
        assert_eq!(NameList::from_parts("aébcd".to_owned(), vec![1, 1, 3, 6]), Some(list.clone()));
        for ends in [vec![1, 2, 6], vec![1, 3], vec![3, 1, 6], vec![1, 7]] {
            assert_eq!(NameList::from_parts("aébcd".to_owned(), ends), None);
        }
        for from in 0..=4 {
            for to in from..=4 {
                assert_eq!(list.part(from..to), names[from..to].iter().copied().collect(), "{from}..{to}");
            }
        }
    }
}
