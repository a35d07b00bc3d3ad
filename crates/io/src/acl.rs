//! POSIX access control lists, in the form of the attribute `system.posix_acl_access`.
//!
//! Four bytes with the version, then eight bytes for each entry: its tag and permissions in two
//! bytes each, and the id of a user or group in four, all little-endian.

const VERSION: [u8; 4] = [2, 0, 0, 0];
const ENTRY: usize = 8;

const NAMED_USER: u16 = 0x02;
const OWNING_GROUP: u16 = 0x04;
const NAMED_GROUP: u16 = 0x08;
const MASK: u16 = 0x10;
const OTHERS: u16 = 0x20;

/// The mode for a file of mode `mode` that loses the list `acl`. Nobody has more access by it.
///
/// Without the list a named user has the permissions of the group or of others, and a member of a
/// named group has the permissions of others.
pub(crate) fn mode_without(acl: &[u8], mode: u32) -> u32 {
    let Some(entries) = entries(acl) else { return mode & 0o700 };
    let permissions = |wanted: u16| entries.iter().find(|entry| entry.0 == wanted).map(|entry| entry.1);
    let mask = permissions(MASK).unwrap_or(7);
    let mut group = permissions(OWNING_GROUP).unwrap_or(0) & mask;
    let mut others = (mode & 0o007) as u16;
    for &(tag, permissions) in &entries {
        if tag == NAMED_USER {
            group &= permissions & mask;
        }
        if tag == NAMED_USER || tag == NAMED_GROUP {
            others &= permissions & mask;
        }
    }
    mode & 0o700 | u32::from(group) << 3 | u32::from(others)
}

/// The list for a file whose group could not be kept. Members of the old and the new group change
/// places with others, so both get only the permissions that both had.
pub(crate) fn for_other_group(mut acl: Vec<u8>) -> Vec<u8> {
    let entries = entries(&acl).unwrap_or_default();
    let permissions = |wanted: u16| entries.iter().find(|entry| entry.0 == wanted).map(|entry| entry.1);
    let group = permissions(OWNING_GROUP).unwrap_or(0) & permissions(MASK).unwrap_or(7);
    let both = (group & permissions(OTHERS).unwrap_or(0)).to_le_bytes();
    for entry in acl.get_mut(VERSION.len()..).unwrap_or_default().chunks_exact_mut(ENTRY) {
        if [OWNING_GROUP, OTHERS].map(u16::to_le_bytes).contains(&[entry[0], entry[1]]) {
            entry[2..4].copy_from_slice(&both);
        }
    }
    acl
}

/// Tag and permissions of each entry; `None` for a list of another form.
fn entries(acl: &[u8]) -> Option<Vec<(u16, u16)>> {
    let entries = acl.strip_prefix(&VERSION)?.chunks_exact(ENTRY);
    if !entries.remainder().is_empty() {
        return None;
    }
    Some(entries.map(|e| (u16::from_le_bytes([e[0], e[1]]), u16::from_le_bytes([e[2], e[3]]) & 7)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    const OWNER: u16 = 0x01;

    fn acl(entries: &[(u16, u16)]) -> Vec<u8> {
        let bytes = |&(tag, permissions): &(u16, u16)| {
            [tag.to_le_bytes(), permissions.to_le_bytes(), [1, 0], [0, 0]].concat()
        };
        [VERSION.to_vec(), entries.iter().flat_map(bytes).collect()].concat()
    }

    fn mode(group: u16, mask: u16, others: u16, named: &[(u16, u16)]) -> u32 {
        let all = [&[(OWNER, 6)], named, &[(OWNING_GROUP, group), (MASK, mask), (OTHERS, others)]].concat();
        mode_without(&acl(&all), 0o600 | u32::from(mask) << 3 | u32::from(others))
    }

    #[test]
    fn nobody_gains_access_without_the_list() {
        // The mode shows 660, and the group has no access.
        assert_eq!(mode(0, 6, 0, &[(NAMED_USER, 6)]), 0o600);
        assert_eq!(mode(6, 6, 4, &[(NAMED_USER, 6)]), 0o664);
        assert_eq!(mode(6, 4, 0, &[(NAMED_USER, 6)]), 0o640);
        assert_eq!(mode(6, 6, 4, &[(NAMED_USER, 0)]), 0o600);
        assert_eq!(mode(6, 6, 4, &[(NAMED_GROUP, 0)]), 0o660);
        assert_eq!(mode(6, 6, 6, &[(NAMED_GROUP, 4), (NAMED_GROUP, 6)]), 0o664);
        assert_eq!(mode_without(b"another form", 0o664), 0o600);
    }

    #[test]
    fn another_group_and_others_get_what_both_had() {
        let list = |group, others| {
            acl(&[(OWNER, 6), (NAMED_USER, 6), (OWNING_GROUP, group), (MASK, 6), (OTHERS, others)])
        };
        for (group, others, both) in [(6, 4, 4), (2, 4, 0), (0, 6, 0), (7, 7, 6)] {
            assert_eq!(for_other_group(list(group, others)), list(both, both));
        }
    }
}
