// The few calls of WASI preview 1 that a plugin needs: standard streams, files and
// folders that were granted, the end of the program. There is no other library:
// asconfig.json lets abort and console come from here.

@external("wasi_snapshot_preview1", "args_sizes_get")
declare function args_sizes_get(count: usize, size: usize): i32;
@external("wasi_snapshot_preview1", "args_get")
declare function args_get(list: usize, texts: usize): i32;
@external("wasi_snapshot_preview1", "fd_read")
declare function fd_read(fd: i32, vectors: usize, count: i32, done: usize): i32;
@external("wasi_snapshot_preview1", "fd_write")
declare function fd_write(fd: i32, vectors: usize, count: i32, done: usize): i32;
@external("wasi_snapshot_preview1", "fd_close")
declare function fd_close(fd: i32): i32;
@external("wasi_snapshot_preview1", "fd_readdir")
declare function fd_readdir(fd: i32, buffer: usize, size: usize, cookie: u64, used: usize): i32;
@external("wasi_snapshot_preview1", "fd_prestat_get")
declare function fd_prestat_get(fd: i32, stat: usize): i32;
@external("wasi_snapshot_preview1", "fd_prestat_dir_name")
declare function fd_prestat_dir_name(fd: i32, name: usize, size: usize): i32;
@external("wasi_snapshot_preview1", "path_open")
declare function path_open(fd: i32, look: i32, path: usize, size: usize, how: i32, rights: u64, inherited: u64, flags: i32, out: usize): i32;
@external("wasi_snapshot_preview1", "proc_exit")
declare function proc_exit(code: i32): void;

/** Errors of files by number, as WASI has them; 0 is none. */
export const NOT_FOUND: i32 = 44;
export const TOO_LARGE: i32 = 27;

const FOLLOW: i32 = 1; // links in a path, as long as they stay within the grant
const FOLDER: i32 = 2; // path_open: only a folder
const READ: u64 = (1 << 1) | (1 << 2) | (1 << 5) | (1 << 14) | (1 << 21); // read, seek, tell, list, stat
const NAME_AT: i32 = 24; // where the name begins in an entry of a listing
const IS_FOLDER: u8 = 3;
const IS_FILE: u8 = 4;

/** The program's arguments, its name first. */
export function args(): string[] {
  const sizes = new StaticArray<u32>(2);
  args_sizes_get(changetype<usize>(sizes), changetype<usize>(sizes) + 4);
  const list = new StaticArray<u32>(sizes[0]);
  const texts = new ArrayBuffer(sizes[1]);
  args_get(changetype<usize>(list), changetype<usize>(texts));
  const all = new Array<string>();
  for (let i = 0; i < list.length; i++) all.push(String.UTF8.decodeUnsafe(list[i], changetype<usize>(texts) + sizes[1] - list[i], true));
  return all;
}

/** Ends the program; there is no answer unless the code is 0. */
export function exit(code: i32): void {
  proc_exit(code);
}

/** Writes a line to stderr: a log. */
export function log(text: string): void {
  write(2, text + "\n");
}

/** Writes a text to a stream; false where it could not be written. */
export function write(fd: i32, text: string): bool {
  const bytes = String.UTF8.encode(text);
  const vector = new StaticArray<u32>(3); // where, how many, how many were written
  let at = changetype<usize>(bytes);
  const end = at + bytes.byteLength;
  while (at < end) {
    vector[0] = <u32>at;
    vector[1] = <u32>(end - at);
    if (fd_write(fd, changetype<usize>(vector), 1, changetype<usize>(vector) + 8) != 0 || vector[2] == 0) return false;
    at += vector[2];
  }
  return true;
}

/** What was read, or why not: an error by number. */
export class Content {
  constructor(public error: i32, public bytes: ArrayBuffer) {}

  /** The bytes as text; what is not UTF-8 comes out as U+FFFD. */
  text(): string {
    return String.UTF8.decode(this.bytes);
  }
}

/** Reads an open file to its end, at most so many bytes. */
export function readAll(fd: i32, limit: i32): Content {
  let bytes = new ArrayBuffer(16384);
  let size = 0;
  const vector = new StaticArray<u32>(3);
  while (true) {
    if (size == bytes.byteLength) {
      const more = new ArrayBuffer(size * 2);
      memory.copy(changetype<usize>(more), changetype<usize>(bytes), size);
      bytes = more;
    }
    vector[0] = <u32>(changetype<usize>(bytes) + size);
    vector[1] = bytes.byteLength - size;
    const error = fd_read(fd, changetype<usize>(vector), 1, changetype<usize>(vector) + 8);
    if (error != 0) return new Content(error, new ArrayBuffer(0));
    if (vector[2] == 0) return new Content(0, bytes.slice(0, size));
    size += vector[2];
    if (size > limit) return new Content(TOO_LARGE, new ArrayBuffer(0));
  }
}

/** Reads a file of at most so many bytes, by its absolute path. */
export function readFile(path: string, limit: i32 = 4 << 20): Content {
  const fd = open(path, 0);
  if (fd < 0) return new Content(-fd, new ArrayBuffer(0));
  const content = readAll(fd, limit);
  fd_close(fd);
  return content;
}

/**
 * The regular files in a folder and below it, as absolute paths in the order of
 * their names. A folder that was not granted is one that does not exist: null.
 */
export function files(folder: string): string[] | null {
  const fd = open(folder, FOLDER);
  if (fd < 0) return null;
  const all = new Array<string>();
  list(fd, folder, all);
  fd_close(fd);
  return all.sort();
}

function list(fd: i32, folder: string, all: string[]): void {
  const buffer = new ArrayBuffer(65536);
  const at = changetype<usize>(buffer);
  const used = new StaticArray<u32>(1);
  let cookie: u64 = 0;
  while (fd_readdir(fd, at, buffer.byteLength, cookie, changetype<usize>(used)) == 0) {
    let entry: usize = 0;
    while (entry + NAME_AT <= used[0]) {
      const size = load<u32>(at + entry, 16);
      if (entry + NAME_AT + size > used[0]) break; // cut off: it comes again
      add(folder, String.UTF8.decodeUnsafe(at + entry + NAME_AT, size), load<u8>(at + entry, 20), all);
      cookie = load<u64>(at + entry);
      entry += NAME_AT + size;
    }
    if (used[0] < <u32>buffer.byteLength) return;
  }
}

function add(folder: string, name: string, kind: u8, all: string[]): void {
  if (name == "." || name == "..") return;
  const path = folder + "/" + name;
  if (kind == IS_FILE) all.push(path);
  if (kind == IS_FOLDER) {
    const below = files(path);
    if (below !== null) for (let i = 0; i < below.length; i++) all.push(below[i]);
  }
}

/** Opens what lies at an absolute path: a descriptor, or an error below 0. */
function open(path: string, how: i32): i32 {
  const stat = new StaticArray<u32>(2); // kind, length of the name
  for (let fd = 3; fd_prestat_get(fd, changetype<usize>(stat)) == 0; fd++) {
    const name = new ArrayBuffer(stat[1]);
    fd_prestat_dir_name(fd, changetype<usize>(name), stat[1]);
    const mount = String.UTF8.decode(name);
    if (path != mount && !path.startsWith(mount + "/")) continue;
    const rest = String.UTF8.encode(path == mount ? "." : path.substring(mount.length + 1));
    const error = path_open(fd, FOLLOW, changetype<usize>(rest), rest.byteLength, how, READ, READ, 0, changetype<usize>(stat));
    return error == 0 ? <i32>stat[0] : -error;
  }
  return -NOT_FOUND;
}

/** What the compiler calls where a check fails: a message, and no answer. */
export function abort(message: string | null, file: string | null, line: u32, column: u32): void {
  log((message ? message : "aborted") + " (" + (file ? file : "") + ":" + line.toString() + ":" + column.toString() + ")");
  proc_exit(255);
}

/** console prints to stderr: stdout is for the answer alone. */
export namespace console {
  export function log(text: string = ""): void {
    write(2, text + "\n");
  }
  export function info(text: string = ""): void {
    write(2, text + "\n");
  }
  export function warn(text: string = ""): void {
    write(2, text + "\n");
  }
  export function error(text: string = ""): void {
    write(2, text + "\n");
  }
}
