//! Keys and passwords of encrypted files. They are never among the words of a command, which other
//! users of a machine can see.

use std::io::{BufRead, IsTerminal};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use entasis::{Error, Key, Kind, Opening, Password, Result, Secret};
use zeroize::Zeroizing;

/// Keys and passwords of encrypted files.
#[derive(Clone, Default, clap::Args)]
pub(crate) struct SecretArgs {
    /// The key of an encrypted file: the path of a file with its 32 bytes, or 64 hexadecimal
    /// digits. Without it, ENTASIS_KEY_FILE names that file
    #[arg(long, value_name = "FILE", conflicts_with = "password_file")]
    key_file: Option<PathBuf>,
    /// The password of an encrypted file: the path of a file with it in its first line. Without it
    /// and in a terminal, the command asks for the password
    #[arg(long, value_name = "FILE")]
    password_file: Option<PathBuf>,
    /// The password that was asked for.
    #[arg(skip)]
    asked: OnceLock<Secret>,
}

impl SecretArgs {
    /// The key or password that was given.
    pub(crate) fn given(&self) -> Result<Option<Secret>> {
        if let Some(asked) = self.asked.get() {
            return Ok(Some(asked.clone()));
        }
        of_files(self.key_file.as_deref(), self.password_file.as_deref())
    }

    /// Does work with the key or password. If it fails without one, asks for a password and tries
    /// again.
    pub(crate) fn unlocking<T>(&self, work: impl Fn(Option<Secret>) -> Result<T>) -> Result<T> {
        let given = self.given()?;
        let is_given = given.is_some();
        match work(given) {
            Err(error) if error.kind() == Kind::WrongKey && !is_given => {
                if Secret::of_environment()?.is_some() {
                    return Err(error);
                }
                if !can_ask() {
                    return Err(error
                        .reworded("the file is encrypted")
                        .advise("pass --key-file FILE or --password-file FILE"));
                }
                work(Some(self.ask("password: ")?))
            }
            done => done,
        }
    }

    /// Opens a file in some way, with the default limits.
    pub(crate) fn open<T>(&self, open: impl Fn(Opening) -> Result<T>) -> Result<T> {
        self.unlocking(|secret| open(Opening { secret, ..Opening::default() }))
    }

    /// The key or password for files that the host opens, or writes. In a terminal, asks for a
    /// password if one of them is encrypted and nothing else opens it.
    pub(crate) fn for_host(&self, paths: &[PathBuf]) -> Result<Option<Secret>> {
        let given = self.given()?;
        if given.is_some() || Secret::of_environment()?.is_some() || !can_ask() {
            return Ok(given);
        }
        // Files of other formats are errors here.
        let is_encrypted = |path: &PathBuf| entasis::is_encrypted(path).unwrap_or(false);
        if paths.iter().any(is_encrypted) { self.ask("password: ").map(Some) } else { Ok(None) }
    }

    /// The key or password of a new file. In a terminal, asks for a password twice if none was
    /// given.
    pub(crate) fn for_new_file(&self) -> Result<Secret> {
        if let Some(secret) = self.given()? {
            return Ok(secret);
        }
        if !can_ask() {
            let error = Error::argument("nothing to encrypt with");
            return Err(error.advise("pass --key-file FILE or --password-file FILE"));
        }
        new_password()
    }

    fn ask(&self, prompt: &str) -> Result<Secret> {
        let secret = Secret::Password(Password::new(&asked(prompt)?)?);
        Ok(self.asked.get_or_init(|| secret).clone())
    }
}

/// The key or password in a file.
pub(crate) fn of_files(key_file: Option<&Path>, password_file: Option<&Path>) -> Result<Option<Secret>> {
    if let Some(path) = key_file {
        return Key::from_file(path).map(Secret::Key).map(Some);
    }
    let Some(path) = password_file else { return Ok(None) };
    let on_disk = |source| Error::io(source, "read the password file").in_file(path);
    let file = std::fs::File::open(path).map_err(on_disk)?;
    let mut line = Zeroizing::new(String::new());
    std::io::BufReader::new(file).read_line(&mut line).map_err(on_disk)?;
    let text = line.trim_end_matches(['\n', '\r']);
    Password::new(text).map(Secret::Password).map(Some).map_err(|error| error.in_file(path))
}

/// Asks for a new password twice.
pub(crate) fn new_password() -> Result<Secret> {
    let text = asked("new password: ")?;
    if asked("the same again: ")? != text {
        return Err(Error::argument("the two passwords differ"));
    }
    Password::new(&text).map(Secret::Password)
}

/// Whether a user can answer.
pub(crate) fn can_ask() -> bool {
    std::io::stdin().is_terminal() && std::io::stderr().is_terminal()
}

fn asked(prompt: &str) -> Result<Zeroizing<String>> {
    let answer = rpassword::prompt_password(prompt).map_err(|e| Error::io(e, "ask for a password"))?;
    Ok(Zeroizing::new(answer))
}
