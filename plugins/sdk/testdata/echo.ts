// Reads documents, each behind a line with its length in bytes, and writes each back
// on a line: as it was understood, or ! where it is no JSON.

import { Json, Kind, parse, quote } from "./json";
import { readAll, write } from "./wasi";

const bytes = readAll(0, 16 << 20).bytes;
const from = changetype<usize>(bytes);
let at = 0;
while (at < bytes.byteLength) {
  let size = 0;
  for (let c = load<u8>(from + at); c != 10; c = load<u8>(from + at)) {
    size = size * 10 + c - 48;
    at++;
  }
  at++;
  const p = parse(String.UTF8.decodeUnsafe(from + at, size));
  at += size;
  write(1, (p.fault == "" ? dump(p.value) : "!") + "\n");
}

function dump(v: Json): string {
  if (v.kind == Kind.Text) return quote(v.text);
  if (v.kind != Kind.Array && v.kind != Kind.Object) return v.text;
  const all = new Array<string>();
  for (let i = 0; i < v.items.length; i++) all.push((v.kind == Kind.Object ? quote(v.keys[i]) + ":" : "") + dump(v.items[i]));
  return v.kind == Kind.Object ? "{" + all.join(",") + "}" : "[" + all.join(",") + "]";
}
