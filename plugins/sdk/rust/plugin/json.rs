//! JSON without crates: a reader of whole documents and a writer that puts commas
//! and escapes.

use super::Reason;
use std::collections::BTreeMap;
use std::fmt::Write as _;

const MAX_DEPTH: usize = 64; // lists and objects inside each other

/// A JSON value. Asking it for what it is not gives nothing, so that
/// `v.get("a").get("b").text()` needs no checks in between.
#[derive(Clone, Debug, PartialEq)]
pub enum Json {
    Absent,
    Null,
    Bool(bool),
    /// A number's digits, as they were written.
    Number(String),
    Text(String),
    Array(Vec<Json>),
    /// Members in their order.
    Object(Vec<(String, Json)>),
}

impl Json {
    /// Reads one document, with nothing after the value. A lone surrogate escape
    /// reads as U+FFFD.
    pub fn parse(doc: &str) -> Result<Json, String> {
        let mut p = Parser { doc, at: 0 };
        let v = p.value(0);
        p.space();
        match v {
            Ok(v) if p.at == doc.len() => Ok(v),
            Ok(_) => Err(format!("something follows the value (byte {})", p.at)),
            Err(why) => Err(format!("{} (byte {})", why, p.at)),
        }
    }

    /// A member of an object; of two with one key the first.
    pub fn get(&self, key: &str) -> &Json {
        match self {
            Json::Object(members) => members
                .iter()
                .find(|(k, _)| k == key)
                .map_or(&Json::Absent, |(_, v)| v),
            _ => &Json::Absent,
        }
    }

    pub fn items(&self) -> &[Json] {
        match self {
            Json::Array(items) => items,
            _ => &[],
        }
    }

    pub fn text(&self) -> Option<&str> {
        match self {
            Json::Text(text) => Some(text),
            _ => None,
        }
    }

    /// A whole number; 1.0 and 1e3 are none.
    pub fn int(&self) -> Option<i64> {
        match self {
            Json::Number(digits) => digits.parse().ok(),
            _ => None,
        }
    }

    /// The texts of an array.
    pub fn texts(&self) -> Vec<String> {
        self.items()
            .iter()
            .filter_map(|v| v.text().map(String::from))
            .collect()
    }

    /// Refuses settings that the plugin does not have: they would have no effect.
    pub fn only(&self, known: &[&str]) -> Result<(), String> {
        match self {
            Json::Object(members) => match members
                .iter()
                .find(|(key, _)| !known.contains(&key.as_str()))
            {
                Some((key, _)) => Err(format!("`with` has no setting {:?}", key)),
                None => Ok(()),
            },
            Json::Absent => Ok(()),
            _ => Err("`with` must be an object".to_string()),
        }
    }

    /// A setting that is a text, or what holds without it.
    pub fn text_or(&self, key: &str, without: &str) -> Result<String, String> {
        match self.get(key) {
            Json::Absent => Ok(without.to_string()),
            Json::Text(text) if !text.is_empty() => Ok(text.clone()),
            _ => Err(format!("the setting {} in `with` must be a text", key)),
        }
    }

    pub(super) fn text_at(&self, key: &str) -> String {
        self.get(key).text().unwrap_or_default().to_string()
    }

    pub(super) fn texts_by_key(&self) -> BTreeMap<String, String> {
        match self {
            Json::Object(members) => members
                .iter()
                .filter_map(|(k, v)| v.text().map(|t| (k.clone(), t.to_string())))
                .collect(),
            _ => BTreeMap::new(),
        }
    }
}

struct Parser<'a> {
    doc: &'a str,
    at: usize,
}

impl<'a> Parser<'a> {
    fn peek(&self) -> u8 {
        *self.doc.as_bytes().get(self.at).unwrap_or(&0)
    }

    fn take(&mut self, b: u8) -> bool {
        let found = self.doc.as_bytes().get(self.at) == Some(&b);
        self.at += found as usize;
        found
    }

    fn space(&mut self) {
        while matches!(self.peek(), b' ' | b'\n' | b'\r' | b'\t') {
            self.at += 1;
        }
    }

    fn value(&mut self, depth: usize) -> Result<Json, &'static str> {
        self.space();
        match self.peek() {
            b'{' | b'[' if depth == MAX_DEPTH => Err("nested too deeply"),
            b'{' => self.object(depth + 1),
            b'[' => self.array(depth + 1),
            b'"' => self.string().map(Json::Text),
            b'-' | b'0'..=b'9' => self.number(),
            b't' => self.word("true", Json::Bool(true)),
            b'f' => self.word("false", Json::Bool(false)),
            b'n' => self.word("null", Json::Null),
            _ => Err("a value was expected"),
        }
    }

    fn word(&mut self, word: &str, v: Json) -> Result<Json, &'static str> {
        if !self.doc[self.at..].starts_with(word) {
            return Err("a value was expected");
        }
        self.at += word.len();
        Ok(v)
    }

    fn array(&mut self, depth: usize) -> Result<Json, &'static str> {
        self.at += 1;
        let mut items = Vec::new();
        self.space();
        if self.take(b']') {
            return Ok(Json::Array(items));
        }
        loop {
            items.push(self.value(depth)?);
            self.space();
            if self.take(b']') {
                return Ok(Json::Array(items));
            }
            self.comma()?;
        }
    }

    fn object(&mut self, depth: usize) -> Result<Json, &'static str> {
        self.at += 1;
        let mut members = Vec::new();
        self.space();
        if self.take(b'}') {
            return Ok(Json::Object(members));
        }
        loop {
            self.space();
            let key = self.string()?;
            self.space();
            if !self.take(b':') {
                return Err("a colon was expected");
            }
            members.push((key, self.value(depth)?));
            self.space();
            if self.take(b'}') {
                return Ok(Json::Object(members));
            }
            self.comma()?;
        }
    }

    fn comma(&mut self) -> Result<(), &'static str> {
        if self.take(b',') {
            return Ok(());
        }
        Err("a comma or a closing bracket was expected")
    }

    fn number(&mut self) -> Result<Json, &'static str> {
        let from = self.at;
        self.take(b'-');
        if !self.take(b'0') {
            self.digits()?;
        }
        if self.take(b'.') {
            self.digits()?;
        }
        if self.take(b'e') || self.take(b'E') {
            let _ = self.take(b'+') || self.take(b'-');
            self.digits()?;
        }
        Ok(Json::Number(self.doc[from..self.at].to_string()))
    }

    fn digits(&mut self) -> Result<(), &'static str> {
        let from = self.at;
        while self.peek().is_ascii_digit() {
            self.at += 1;
        }
        if self.at == from {
            return Err("a digit was expected");
        }
        Ok(())
    }

    fn string(&mut self) -> Result<String, &'static str> {
        if !self.take(b'"') {
            return Err("a text was expected");
        }
        let mut out = String::new();
        let mut from = self.at;
        loop {
            match self.peek() {
                b'"' => {
                    out.push_str(&self.doc[from..self.at]);
                    self.at += 1;
                    return Ok(out);
                }
                b'\\' => {
                    out.push_str(&self.doc[from..self.at]);
                    self.at += 1;
                    out.push(self.escape()?);
                    from = self.at;
                }
                _ if self.at == self.doc.len() => return Err("the document is cut off"),
                0..=0x1f => return Err("a control character in a text"),
                _ => self.at += 1,
            }
        }
    }

    fn escape(&mut self) -> Result<char, &'static str> {
        let b = self.peek();
        self.at += 1;
        match b {
            b'"' | b'\\' | b'/' => Ok(b as char),
            b'b' => Ok('\u{8}'),
            b'f' => Ok('\u{c}'),
            b'n' => Ok('\n'),
            b'r' => Ok('\r'),
            b't' => Ok('\t'),
            b'u' => self
                .unit()
                .map(|high| self.letter(high))
                .ok_or("an unknown escape"),
            _ => Err("an unknown escape"),
        }
    }

    /// The letter that begins with this unit; of a pair the other half is taken.
    fn letter(&mut self, high: u32) -> char {
        let mark = self.at;
        if (0xD800..0xDC00).contains(&high) && self.take(b'\\') && self.take(b'u') {
            if let Some(low @ 0xDC00..=0xDFFF) = self.unit() {
                return char::from_u32(0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00))
                    .unwrap_or('\u{FFFD}');
            }
        }
        if (0xD800..0xDC00).contains(&high) {
            self.at = mark;
        }
        char::from_u32(high).unwrap_or('\u{FFFD}')
    }

    fn unit(&mut self) -> Option<u32> {
        let digits = self
            .doc
            .get(self.at..self.at + 4)
            .filter(|d| d.bytes().all(|b| b.is_ascii_hexdigit()))?;
        self.at += 4;
        u32::from_str_radix(digits, 16).ok()
    }
}

/// Puts commas and escapes.
#[derive(Default)]
pub(super) struct Writer {
    pub(super) out: String,
    comma: bool,
}

impl Writer {
    fn value(&mut self) {
        if self.comma {
            self.out.push(',');
        }
        self.comma = true;
    }

    pub(super) fn open(&mut self, bracket: char) {
        self.value();
        self.out.push(bracket);
        self.comma = false;
    }

    pub(super) fn close(&mut self, bracket: char) {
        self.out.push(bracket);
        self.comma = true;
    }

    pub(super) fn raw(&mut self, json: &str) {
        self.value();
        self.out.push_str(json);
    }

    pub(super) fn key(&mut self, name: &str) {
        self.text(name);
        self.out.push(':');
        self.comma = false;
    }

    pub(super) fn member(&mut self, key: &str, value: &str) {
        self.key(key);
        self.text(value);
    }

    pub(super) fn optional(&mut self, key: &str, value: &str) {
        if !value.is_empty() {
            self.member(key, value);
        }
    }

    pub(super) fn list(&mut self, key: &str, all: &[String]) {
        if !all.is_empty() {
            self.key(key);
            self.open('[');
            all.iter().for_each(|text| self.text(text));
            self.close(']');
        }
    }

    pub(super) fn objects<T>(&mut self, key: &str, all: &[T], members: impl Fn(&mut Writer, &T)) {
        if !all.is_empty() {
            self.key(key);
            self.open('[');
            for item in all {
                self.open('{');
                members(self, item);
                self.close('}');
            }
            self.close(']');
        }
    }

    pub(super) fn reasons(&mut self, all: &[Reason]) {
        self.objects("reasons", all, |w, r| {
            w.member("message", &r.message);
            w.optional("path", &r.path);
            w.optional("fix", &r.fix);
        });
    }

    fn text(&mut self, text: &str) {
        self.value();
        self.out.push('"');
        for c in text.chars() {
            match c {
                '"' | '\\' => self.out.extend(['\\', c]),
                '\n' => self.out.push_str("\\n"),
                '\u{0}'..='\u{1f}' | '\u{7f}' => {
                    let _ = write!(self.out, "\\u{:04x}", c as u32);
                }
                _ => self.out.push(c),
            }
        }
        self.out.push('"');
    }
}
