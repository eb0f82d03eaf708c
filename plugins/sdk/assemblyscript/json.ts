// JSON: a reader of whole documents and a writer that puts commas and escapes.

const MAX_DEPTH = 64; // lists and objects inside each other

export enum Kind { Absent, Null, Bool, Number, Text, Array, Object }

/**
 * A JSON value, or none. Asking it for what it is not gives nothing, so that
 * v.get("a").get("b").text needs no checks in between.
 */
export class Json {
  kind: Kind = Kind.Absent;
  text: string = ""; // of a text; of a number its digits; "true" or "false"
  keys: string[] = [];
  items: Json[] = []; // of an array or object, in their order

  /** A member of an object; of two with one key the first. */
  get(key: string): Json {
    const at = this.keys.indexOf(key);
    return at < 0 ? new Json() : this.items[at];
  }

  /** The text of a member that is one, else "". */
  textAt(key: string): string {
    const v = this.get(key);
    return v.kind == Kind.Text ? v.text : "";
  }

  /** A whole number of a member, else 0; 1.0 and 1e3 are none. */
  intAt(key: string): i64 {
    const v = this.get(key);
    return v.isInt() ? I64.parseInt(v.text) : 0;
  }

  /** Whether it is a whole number of at most 18 digits. */
  isInt(): bool {
    if (this.kind != Kind.Number || this.text.length > 19) return false;
    for (let i = 0; i < this.text.length; i++) {
      const c = this.text.charCodeAt(i);
      if ((c < 0x30 || c > 0x39) && (i > 0 || c != 0x2d)) return false;
    }
    return this.text.length < 19 || this.text.startsWith("-");
  }

  /** The texts of an array. */
  texts(): string[] {
    const all = new Array<string>();
    if (this.kind != Kind.Array) return all;
    for (let i = 0; i < this.items.length; i++) if (this.items[i].kind == Kind.Text) all.push(this.items[i].text);
    return all;
  }

  /** What is wrong with settings that the plugin does not have, else "". */
  only(known: string[]): string {
    if (this.kind != Kind.Object && this.kind != Kind.Absent) return "`with` must be an object";
    for (let i = 0; i < this.keys.length; i++) {
      if (!known.includes(this.keys[i])) return "`with` has no setting " + quote(this.keys[i]);
    }
    return "";
  }
}

/** A document that was read: its value, or what is wrong with it. */
export class Parsed {
  constructor(public value: Json, public fault: string) {}
}

/** Reads one document, with nothing after the value. */
export function parse(doc: string): Parsed {
  const p = new Parser(doc);
  const value = p.value(0);
  p.space();
  if (p.fault == "" && p.at < doc.length) p.fail("something follows the value");
  return new Parsed(value, p.fault == "" ? "" : p.fault + " (letter " + p.at.toString() + ")");
}

class Parser {
  at: i32 = 0;
  fault: string = "";

  constructor(private doc: string) {}

  fail(why: string): void {
    if (this.fault == "") this.fault = why;
  }

  /** The next letter, or -1 at the end. */
  peek(): i32 {
    return this.at < this.doc.length ? this.doc.charCodeAt(this.at) : -1;
  }

  take(c: i32): bool {
    if (this.peek() != c) return false;
    this.at++;
    return true;
  }

  space(): void {
    while (this.take(0x20) || this.take(0x0a) || this.take(0x0d) || this.take(0x09)) {}
  }

  value(depth: i32): Json {
    this.space();
    const v = new Json();
    const c = this.peek();
    if (c == 0x7b || c == 0x5b) this.items(v, depth, c == 0x7b);
    else if (c == 0x22) this.known(v, Kind.Text, this.string());
    else if (c == 0x2d || (c >= 0x30 && c <= 0x39)) this.known(v, Kind.Number, this.number());
    else if (c == 0x74) this.known(v, Kind.Bool, this.word("true"));
    else if (c == 0x66) this.known(v, Kind.Bool, this.word("false"));
    else this.known(v, Kind.Null, this.word("null"));
    return v;
  }

  known(v: Json, kind: Kind, text: string): void {
    v.kind = kind;
    v.text = text;
  }

  word(word: string): string {
    if (this.doc.substr(this.at, word.length) != word) this.fail("a value was expected");
    else this.at += word.length;
    return word;
  }

  /** An array or an object, from its opening bracket. */
  items(v: Json, depth: i32, object: bool): void {
    if (depth == MAX_DEPTH) return this.fail("nested too deeply");
    const close = object ? 0x7d : 0x5d;
    v.kind = object ? Kind.Object : Kind.Array;
    this.at++;
    this.space();
    if (this.take(close)) return;
    do {
      if (object) {
        this.space();
        v.keys.push(this.string());
        this.space();
        if (!this.take(0x3a)) this.fail("a colon was expected");
      }
      if (this.fault != "") return;
      v.items.push(this.value(depth + 1));
      this.space();
    } while (this.fault == "" && this.take(0x2c));
    if (!this.take(close)) this.fail("a comma or a closing bracket was expected");
  }

  number(): string {
    const from = this.at;
    this.take(0x2d);
    if (!this.take(0x30)) this.digits();
    if (this.take(0x2e)) this.digits();
    if (this.take(0x65) || this.take(0x45)) {
      if (!this.take(0x2b)) this.take(0x2d);
      this.digits();
    }
    return this.doc.substring(from, this.at);
  }

  digits(): void {
    const from = this.at;
    while (this.peek() >= 0x30 && this.peek() <= 0x39) this.at++;
    if (this.at == from) this.fail("a digit was expected");
  }

  string(): string {
    if (!this.take(0x22)) this.fail("a text was expected");
    let out = "";
    let from = this.at;
    while (this.fault == "") {
      const c = this.peek();
      if (c < 0) this.fail("the document is cut off");
      else if (c < 0x20) this.fail("a control character in a text");
      else if (c == 0x22) {
        out += this.doc.substring(from, this.at++);
        return out;
      } else if (c == 0x5c) {
        out += this.doc.substring(from, this.at++) + this.escape();
        from = this.at;
      } else this.at++;
    }
    return "";
  }

  /** One escape: a unit of UTF-16, so that a pair comes together by itself. */
  escape(): string {
    const at = '"\\/bfnrt'.indexOf(this.doc.charAt(this.at));
    if (this.at < this.doc.length && at >= 0) {
      this.at++;
      return '"\\/\b\f\n\r\t'.charAt(at);
    }
    if (!this.take(0x75)) this.fail("an unknown escape");
    let unit = 0;
    for (let i = 0; i < 4; i++) {
      const digit = "0123456789abcdef".indexOf(this.doc.charAt(this.at).toLowerCase());
      if (this.at == this.doc.length || digit < 0) this.fail("an unknown escape");
      unit = unit * 16 + digit;
      this.at++;
    }
    return String.fromCharCode(unit);
  }
}

/** A text as JSON. A half of a pair is written as U+FFFD. */
export function quote(text: string): string {
  let out = '"';
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i);
    if (c == 0x22 || c == 0x5c) out += "\\" + text.charAt(i);
    else if (c == 0x0a) out += "\\n";
    else if (c < 0x20 || c == 0x7f) out += "\\u00" + (c < 16 ? "0" : "") + c.toString(16);
    else if (c < 0xd800 || c > 0xdfff) out += text.charAt(i);
    else if (c < 0xdc00 && i + 1 < text.length && (text.charCodeAt(i + 1) & 0xfc00) == 0xdc00) out += text.substr(i++, 2);
    else out += "\ufffd";
  }
  return out + '"';
}

/** An object of members that are JSON already; those that are "" are left out. */
export function object(keys: string[], values: string[]): string {
  let out = "";
  for (let i = 0; i < keys.length; i++) {
    if (values[i] != "") out += (out == "" ? "" : ",") + quote(keys[i]) + ":" + values[i];
  }
  return "{" + out + "}";
}

/** A list of texts, or "" for none. */
export function list(texts: string[]): string {
  let out = "";
  for (let i = 0; i < texts.length; i++) out += (i ? "," : "") + quote(texts[i]);
  return out == "" ? "" : "[" + out + "]";
}

/** A text, or "" for none. */
export function optional(text: string): string {
  return text == "" ? "" : quote(text);
}
