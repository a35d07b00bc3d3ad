//! `entasis completions`: scripts with which shells complete verbs, options and files.

use std::io::Write;

use clap::Command;
use clap_complete::Shell;

use crate::failure::Outcome;
use crate::output::Out;

const EXAMPLES: &str = "Examples:
  source <(entasis completions bash)            for this session of bash
  entasis completions bash > ~/.local/share/bash-completion/completions/entasis
  entasis completions fish > ~/.config/fish/completions/entasis.fish
  entasis completions zsh > ~/.zfunc/_entasis
  entasis completions powershell | Out-String | Invoke-Expression

bash needs the package bash-completion for the second form. zsh needs these lines in ~/.zshrc, in this order: \
fpath=(~/.zfunc $fpath) and autoload -Uz compinit && compinit. New shells then complete `entasis`.";

/// Lets bash complete files after a space, where clap's script completes options.
const BASH_FILES: &str = r#"
# A word without a beginning is a verb, a value or a file, rather than an option.
_entasis_words() {
    _entasis "$@"
    if [[ -z "$2" ]]; then
        local word words=()
        for word in "${COMPREPLY[@]}"; do
            [[ "$word" == -* ]] || words+=("$word")
        done
        COMPREPLY=("${words[@]}")
    fi
}

if [[ "${BASH_VERSINFO[0]}" -eq 4 && "${BASH_VERSINFO[1]}" -ge 4 || "${BASH_VERSINFO[0]}" -gt 4 ]]; then
    complete -F _entasis_words -o nosort -o bashdefault -o default entasis
else
    complete -F _entasis_words -o bashdefault -o default entasis
fi
"#;

/// Print a script that lets a shell complete verbs, options and files
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The shell that reads the script
    #[arg(value_name = "SHELL")]
    shell: Shell,
}

/// Runs the verb for this command.
pub(crate) fn run(args: &Args, command: Command, out: &mut Out) -> Outcome {
    out.write_all(&script(args.shell, command))?;
    Ok(())
}

fn script(shell: Shell, command: Command) -> Vec<u8> {
    // The library panics where it cannot write, so it writes to memory.
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut command.disable_help_subcommand(true), "entasis", &mut script);
    if shell == Shell::Bash {
        script.extend(BASH_FILES.as_bytes());
    }
    script
}
