//! Patterns of SQL's LIKE.

/// A pattern, compiled. It matches characters in UTF-8, or bytes if a string is not UTF-8.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Like(Vec<Token>);

#[derive(Clone, PartialEq, Eq, Debug)]
enum Token {
    /// Exactly these bytes.
    Text(Vec<u8>),
    /// One character.
    One,
    /// Any text, also none.
    Any,
}

impl Like {
    /// Compiles a pattern. A backslash at its end stands for itself.
    pub fn new(pattern: &[u8]) -> Self {
        let mut tokens: Vec<Token> = Vec::new();
        let mut bytes = pattern.iter().copied();
        while let Some(byte) = bytes.next() {
            match byte {
                b'%' if tokens.last() == Some(&Token::Any) => {}
                b'%' => tokens.push(Token::Any),
                b'_' => tokens.push(Token::One),
                byte => {
                    let byte = if byte == b'\\' { bytes.next().unwrap_or(byte) } else { byte };
                    match tokens.last_mut() {
                        Some(Token::Text(text)) => text.push(byte),
                        _ => tokens.push(Token::Text(vec![byte])),
                    }
                }
            }
        }
        Self(tokens)
    }

    /// The text with which every match begins.
    pub fn prefix(&self) -> &[u8] {
        match self.0.first() {
            Some(Token::Text(text)) => text,
            _ => &[],
        }
    }

    /// The text, if the pattern matches nothing else.
    pub fn exact(&self) -> Option<&[u8]> {
        match self.0.as_slice() {
            [] => Some(&[]),
            [Token::Text(text)] => Some(text),
            _ => None,
        }
    }

    /// Whether the pattern matches all strings that begin with its prefix, and no others.
    pub fn is_prefix(&self) -> bool {
        matches!(self.0.as_slice(), [Token::Any] | [Token::Text(_), Token::Any])
    }

    /// The longest text that every match contains, if there is any.
    pub fn longest(&self) -> Option<&[u8]> {
        let texts = self.0.iter().filter_map(|token| match token {
            Token::Text(text) => Some(text.as_slice()),
            _ => None,
        });
        texts.max_by_key(|text| text.len())
    }

    /// Whether a string matches. The time is at most the product of both lengths.
    pub fn matches(&self, string: &[u8]) -> bool {
        let (mut token, mut at) = (0, 0);
        // The token after the last `Any`, and where its match begins.
        let mut retry: Option<(usize, usize)> = None;
        loop {
            let step = match self.0.get(token) {
                None if at == string.len() => return true,
                None => None,
                Some(Token::Any) => {
                    token += 1;
                    retry = Some((token, at));
                    continue;
                }
                Some(Token::One) => (at < string.len()).then(|| character(&string[at..])),
                Some(Token::Text(text)) => string[at..].starts_with(text).then_some(text.len()),
            };
            match (step, &mut retry) {
                (Some(len), _) => {
                    at += len;
                    token += 1;
                }
                (None, Some((first, from))) if *from < string.len() => {
                    *from += character(&string[*from..]);
                    (token, at) = (*first, *from);
                }
                _ => return false,
            }
        }
    }
}

/// The length of the character at the start of a string that is not empty.
fn character(string: &[u8]) -> usize {
    let len = match string[0] {
        0xC2..=0xDF => 2,
        0xE0..=0xEF => 3,
        0xF0..=0xF4 => 4,
        _ => 1,
    };
    len.min(string.len())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn patterns_match() {
        for (pattern, matching, others) in [
            ("a%", &["a", "ab", "a%"][..], &["", "ba", "A"][..]),
            ("%b", &["b", "ab", "bbb"], &["", "ba"]),
            ("a_c", &["abc", "aéc", "a😀c"], &["ac", "abbc"]),
            ("%a%b%", &["ab", "xaybz", "aab"], &["ba", "b"]),
            ("", &[""], &["a"]),
            ("%", &["", "é"], &[]),
            ("__", &["ab", "éé"], &["a", "abc", "é"]),
            ("10\\%", &["10%"], &["10", "100"]),
            ("a\\", &["a\\"], &["a"]),
            ("%_", &["a", "aé"], &[""]),
        ] {
            let like = Like::new(pattern.as_bytes());
            for text in matching {
                assert!(like.matches(text.as_bytes()), "{text} is like {pattern}");
            }
            for text in others {
                assert!(!like.matches(text.as_bytes()), "{text} is not like {pattern}");
            }
        }
        assert_eq!(Like::new(b"ab\\%c%d").prefix(), b"ab%c");
        assert_eq!(Like::new(b"ab").exact(), Some(&b"ab"[..]));
        assert!(
            Like::new(b"ab%").is_prefix() && Like::new(b"%%").is_prefix() && !Like::new(b"ab%c").is_prefix()
        );
    }

    /// Matches by trying every length for `%`.
    fn model(pattern: &[char], string: &[char]) -> bool {
        match pattern.split_first() {
            None => string.is_empty(),
            Some(('%', rest)) => (0..=string.len()).any(|skip| model(rest, &string[skip..])),
            Some(('_', rest)) => !string.is_empty() && model(rest, &string[1..]),
            Some((c, rest)) => string.first() == Some(c) && model(rest, &string[1..]),
        }
    }

    proptest! {
        #[test]
        fn patterns_match_as_in_a_model(pattern in "[ab%_é]{0,6}", string in "[abé]{0,8}") {
            let chars = |text: &str| text.chars().collect::<Vec<_>>();
            let like = Like::new(pattern.as_bytes());
            prop_assert_eq!(like.matches(string.as_bytes()), model(&chars(&pattern), &chars(&string)));
        }
    }
}
