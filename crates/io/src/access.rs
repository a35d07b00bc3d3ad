//! Gives a new file mode, owner, group, access control list and `user.*` attributes of the old one.

#[cfg(unix)]
pub(crate) use unix::adopt;

/// A new file takes the permissions of its directory.
#[cfg(not(unix))]
pub(crate) fn adopt(_: &std::fs::File, _: &std::fs::File) -> std::io::Result<()> {
    Ok(())
}

#[cfg(unix)]
mod unix {
    use std::ffi::CString;
    use std::fs::{File, Permissions};
    use std::io::{self, ErrorKind};
    use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};

    use entasis_platform::xattr::{self, ACL};

    use crate::acl;

    /// Gives `file`, which only its owner may access, the access of `old`. At no moment does
    /// anybody have more access than `old` gives.
    pub(crate) fn adopt(file: &File, old: &File) -> io::Result<()> {
        // First, because the mode may forbid it afterwards.
        copy_attributes(file, old)?;
        let (ours, theirs) = (file.metadata()?, old.metadata()?);
        let acl = supported(xattr::value(old, ACL))?.flatten();
        let is_same_group = ours.gid() == theirs.gid() || fchown(file, None, Some(theirs.gid())).is_ok();
        let mut mode =
            acl.as_deref().map_or(theirs.mode() & 0o777, |acl| acl::mode_without(acl, theirs.mode()));
        // The directory may give new files a list. Permissions of the group would then apply to all
        // users in that list.
        if matches!(xattr::value(file, ACL), Ok(Some(_))) && xattr::remove(file, ACL).is_err() {
            mode &= 0o707;
        }
        if !is_same_group {
            // Members of the old group are others now, and members of the new group were others.
            let both = (mode >> 3) & mode & 0o007;
            mode = (mode & 0o700) | (both << 3) | both;
        }
        // Some file systems have one mode for all files and refuse the call.
        if ours.mode() & 0o777 != mode {
            file.set_permissions(Permissions::from_mode(mode))?;
        }
        if let Some(acl) = acl {
            let acl = if is_same_group { acl } else { acl::for_other_group(acl) };
            let _ = xattr::set(file, ACL, &acl); // the mode gives nobody more
        }
        if ours.uid() != theirs.uid() {
            let _ = fchown(file, Some(theirs.uid()), None); // only the administrator may give files away
        }
        Ok(())
    }

    /// Copies the attributes that belong to users. Those that the system forbids are left out.
    fn copy_attributes(file: &File, old: &File) -> io::Result<()> {
        for name in permitted(xattr::names(old))?.unwrap_or_default() {
            let Ok(name) = CString::new(name) else { continue };
            if !name.as_bytes().starts_with(b"user.") {
                continue;
            }
            let copied = xattr::value(old, &name).and_then(|value| match value {
                Some(value) => xattr::set(file, &name, &value),
                None => Ok(()),
            });
            permitted(copied)?;
        }
        Ok(())
    }

    /// Maps an unsupported or forbidden call to `None`.
    fn permitted<T>(result: io::Result<T>) -> io::Result<Option<T>> {
        match result {
            Err(error) if error.kind() == ErrorKind::PermissionDenied => Ok(None),
            other => supported(other),
        }
    }

    /// Maps an unsupported call to `None`.
    fn supported<T>(result: io::Result<T>) -> io::Result<Option<T>> {
        match result {
            Err(error) if error.kind() == ErrorKind::Unsupported => Ok(None),
            other => other.map(Some),
        }
    }
}
