//! `entasis man`: the manual page.

use std::io::{self, Write};

use clap::Command;
use clap_mangen::Man;
use clap_mangen::roff::{Roff, bold, roman};

use crate::failure::Outcome;
use crate::output::Out;

const EXAMPLES: &str = "Examples:
  entasis man > ~/.local/share/man/man1/entasis.1     install it, then: man entasis
  entasis man | man -l -                              read it without installing it

The page describes the command and all its verbs.";

/// Print the manual page, for the program `man`
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {}

/// Runs the verb for this command.
pub(crate) fn run(command: &Command, out: &mut Out) -> Outcome {
    out.write_all(page(command)?.as_bytes())?;
    Ok(())
}

/// The page of the command, with a section for its verbs.
fn page(command: &Command) -> io::Result<String> {
    let name = command.get_name();
    let about = command.get_about().map(ToString::to_string).unwrap_or_default();
    let (first, description) = about.split_once("\n\n").unwrap_or((&about, ""));
    let mut head = Roff::new();
    let source = format!("{name} {}", entasis::VERSION);
    // An empty date would be left out, and the next argument would take its place.
    head.control("TH", [name, "1", " ", &source, "User Commands"]);
    head.control("SH", ["NAME"]);
    head.text([roman(format!("{name} - {}", first.trim_end_matches('.')))]);
    head.control("SH", ["SYNOPSIS"]);
    head.text([bold(name), roman(" VERB [OPTION]... [FILE]...")]);
    head.control("SH", ["DESCRIPTION"]);
    paragraphs(&mut head, description);
    head.control("SH", ["OPTIONS"]);
    let mut text = head.render();
    // Each verb has --help, so the page describes it once.
    text.push_str(&options(command)?);
    let mut verbs = Roff::new();
    verbs.control("SH", ["VERBS"]);
    text.push_str(&verbs.to_roff());
    for verb in command.get_subcommands() {
        text.push_str(&section(name, verb)?);
    }
    let mut end = Roff::new();
    let sections = [
        ("EXAMPLES", crate::EXAMPLES),
        ("EXIT STATUS", crate::EXIT_STATUS),
        ("ENVIRONMENT", crate::ENVIRONMENT),
    ];
    for (heading, text) in sections {
        end.control("SH", [heading]);
        paragraphs(&mut end, text);
    }
    text.push_str(&end.to_roff());
    Ok(text)
}

/// The section of a verb.
fn section(name: &str, verb: &Command) -> io::Result<String> {
    let full_name = format!("{name} {}", verb.get_name());
    let mut verb = verb.clone().bin_name(&full_name).disable_help_flag(true);
    let usage = verb.render_usage().to_string();
    let usage = usage.trim_start_matches("Usage:").trim();
    let mut head = Roff::new();
    head.control("SS", [full_name.as_str()]);
    let rest = usage.strip_prefix(full_name.as_str()).unwrap_or(usage);
    head.text([bold(&full_name), roman(rest)]);
    let about = verb.get_long_about().or_else(|| verb.get_about()).map(ToString::to_string);
    paragraphs(&mut head, &about.unwrap_or_default());
    let mut end = Roff::new();
    paragraphs(&mut end, &verb.get_after_help().map(ToString::to_string).unwrap_or_default());
    Ok(head.to_roff() + &options(&verb)? + &end.to_roff())
}

/// The options and arguments of a command, without their heading.
fn options(command: &Command) -> io::Result<String> {
    let mut bytes = Vec::new();
    Man::new(command.clone().disable_help_subcommand(true)).render_options_section(&mut bytes)?;
    let text = String::from_utf8_lossy(&bytes);
    Ok(text.split_once(".SH OPTIONS\n").map(|(_, options)| options.to_owned()).unwrap_or_default())
}

/// Paragraphs. One with several lines keeps them, because they are examples or a list.
fn paragraphs(page: &mut Roff, text: &str) {
    for paragraph in text.split("\n\n").filter(|paragraph| !paragraph.is_empty()) {
        page.control("PP", []);
        let is_kept = paragraph.contains('\n');
        if is_kept {
            page.control("nf", []);
        }
        paragraph.lines().for_each(|line| {
            page.text([roman(line)]);
        });
        if is_kept {
            page.control("fi", []);
        }
    }
}
