//! The manual page, and the scripts that complete words.

use std::process::{Command, Stdio};

use crate::common::{Folder, entasis};

/// The verbs that the help lists.
fn verbs() -> Vec<String> {
    let help = entasis(["--help"]).fine();
    let (_, commands) = help.split_once("Commands:\n").unwrap();
    let lines = commands.lines().take_while(|line| !line.is_empty());
    let verbs = lines.filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    let verbs = verbs.map(|line| line.split_whitespace().next().unwrap().to_owned());
    verbs.filter(|verb| verb != "help").collect()
}

fn is_installed(program: &str) -> bool {
    let version = Command::new(program).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    version.is_ok_and(|status| status.success())
}

/// Runs a program, which must succeed without messages; returns its output.
fn run(program: &str, args: &[&str]) -> String {
    let output = Command::new(program).args(args).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    assert_eq!((output.status.code(), text(output.stderr)), (Some(0), String::new()), "{program} {args:?}");
    text(output.stdout)
}

#[test]
fn the_manual_has_all_verbs() {
    let folder = Folder::new();
    let page = entasis(["man"]).fine();
    let verbs = verbs();
    assert!(verbs.len() > 20 && verbs.contains(&"man".to_owned()), "{verbs:?}");
    for verb in &verbs {
        assert!(page.contains(&format!("\n.SS \"entasis {verb}\"\n")), "{verb}");
    }
    let sections: Vec<_> = page.lines().filter_map(|line| line.strip_prefix(".SH ")).collect();
    let wanted =
        ["NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "VERBS", "EXAMPLES", "\"EXIT STATUS\"", "ENVIRONMENT"];
    assert_eq!(sections, wanted);
    // Lines of text that begin with a point are escaped, so that each of these is a macro.
    let known = ["TH", "SH", "SS", "PP", "TP", "IP", "RS", "RE", "nf", "fi", "br", "ie", "el"];
    for line in page.lines().filter_map(|line| line.strip_prefix('.')) {
        assert!(known.contains(&line.split(' ').next().unwrap()), ".{line}");
    }
    assert_eq!(page.matches("\n.nf").count(), page.matches("\n.fi").count());
    if !is_installed("groff") {
        return;
    }
    let path = folder.bytes("entasis.1", page.as_bytes());
    let text = run("groff", &["-man", "-ww", "-Tascii", "-P-c", "-P-b", "-P-u", path.to_str().unwrap()]);
    for part in [
        concat!("entasis ", env!("CARGO_PKG_VERSION")),
        "entasis - Look into Entasis files, ",
        "entasis head [OPTIONS] <FILE>",
        "--rows <START:STOP>",
    ] {
        // Lines are filled with spaces.
        let joined = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(joined.contains(part), "{part} in {text}");
    }
    // Examples keep their lines.
    let example = "\n         entasis head -n 3 --columns carrier,delay flights.entasis\n";
    assert!(text.contains(example), "{text}");
}

/// The completions of the last word by bash.
#[cfg(unix)]
fn completed(words: &[&str]) -> Vec<String> {
    let script = r#"
        eval "$(entasis completions bash)"
        [[ "$(complete -p entasis)" == *"-o default"*"-F _entasis_words entasis" ]] || exit 1
        COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
        _entasis_words entasis "${@: -1}" "${@: -2:1}"
        echo "${COMPREPLY[*]}"
    "#;
    let folder = std::path::Path::new(env!("CARGO_BIN_EXE_entasis")).parent().unwrap();
    let path = std::env::var("PATH").unwrap();
    let mut command = Command::new("bash");
    command.args(["-c", script, "bash", "entasis"]).args(words);
    let output = command.env("PATH", format!("{}:{path}", folder.display())).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), &b""[..]), "{words:?}");
    text.split_whitespace().map(ToOwned::to_owned).collect()
}

#[cfg(unix)]
#[test]
fn bash_completes_words() {
    if !is_installed("bash") {
        return;
    }
    let mut all = completed(&[""]);
    let mut verbs = verbs();
    all.sort();
    verbs.sort();
    assert_eq!(all, verbs);
    let cases: [(&[&str], &[&str]); 9] = [
        (&["he"], &["head"]),
        (&["--ver"], &["--version"]),
        (&["head", "--wi"], &["--width"]),
        (&["cat", "a.entasis", "--wh"], &["--where"]),
        (&["select", "--to", ""], &["table", "json", "csv", "entasis"]),
        (&["completions", "z"], &["zsh"]),
        // Nothing is left for the files that bash adds by default.
        (&["head", ""], &[]),
        (&["head", "a.entasis", ""], &[]),
        (&["verify", "fl"], &[]),
    ];
    for (words, wanted) in cases {
        assert_eq!(completed(words), wanted, "{words:?}");
    }
}

#[test]
fn each_shell_has_a_script() {
    let folder = Folder::new();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = entasis(["completions", shell]).fine();
        assert!(verbs().iter().all(|verb| script.contains(verb.as_str())), "{shell}");
        if ["bash", "zsh", "fish"].contains(&shell) && is_installed(shell) {
            let path = folder.bytes(shell, script.as_bytes());
            run(shell, &["-n", path.to_str().unwrap()]);
        }
    }
    let said = entasis(["completions", "tcsh"]);
    assert!(said.code == 2 && said.err.contains("zsh"), "{}", said.err);
}
