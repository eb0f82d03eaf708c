// probe.ts tries what a guest must not be able to do, see README.md. The language
// has no files of its own, so it asks WASI: paths below the first folder from
// there, all others as they are.

import { args, write } from "./sdk/wasi";

@external("wasi_snapshot_preview1", "path_open")
declare function path_open(fd: i32, look: i32, path: usize, size: usize, how: i32, rights: u64, inherited: u64, flags: i32, out: usize): i32;
@external("wasi_snapshot_preview1", "fd_read")
declare function fd_read(fd: i32, vectors: usize, count: i32, done: usize): i32;
@external("wasi_snapshot_preview1", "fd_write")
declare function fd_write(fd: i32, vectors: usize, count: i32, done: usize): i32;
@external("wasi_snapshot_preview1", "fd_readdir")
declare function fd_readdir(fd: i32, buffer: usize, size: usize, cookie: u64, used: usize): i32;
@external("wasi_snapshot_preview1", "path_filestat_get")
declare function path_filestat_get(fd: i32, look: i32, path: usize, size: usize, out: usize): i32;
@external("wasi_snapshot_preview1", "path_create_directory")
declare function path_create_directory(fd: i32, path: usize, size: usize): i32;
@external("wasi_snapshot_preview1", "path_unlink_file")
declare function path_unlink_file(fd: i32, path: usize, size: usize): i32;
@external("wasi_snapshot_preview1", "path_remove_directory")
declare function path_remove_directory(fd: i32, path: usize, size: usize): i32;
@external("wasi_snapshot_preview1", "path_rename")
declare function path_rename(fd: i32, path: usize, size: usize, to: i32, path2: usize, size2: usize): i32;
@external("wasi_snapshot_preview1", "path_symlink")
declare function path_symlink(path: usize, size: usize, fd: i32, path2: usize, size2: usize): i32;
@external("wasi_snapshot_preview1", "path_link")
declare function path_link(fd: i32, look: i32, path: usize, size: usize, to: i32, path2: usize, size2: usize): i32;
@external("wasi_snapshot_preview1", "environ_sizes_get")
declare function environ_sizes_get(count: usize, size: usize): i32;
@external("wasi_snapshot_preview1", "clock_time_get")
declare function clock_time_get(id: i32, precision: u64, out: usize): i32;
@external("wasi_snapshot_preview1", "sock_accept")
declare function sock_accept(fd: i32, flags: i32, out: usize): i32;

const ROOT = 3;
const out = new StaticArray<u8>(64);
const at = changetype<usize>(out);
let found = "";

const all = args();
for (let i = 1; i < all.length - 1; i++) {
  const space = all[i].indexOf(" ");
  found = "";
  const ok = attempt(all[i].substring(0, space), all[i].substring(space + 1));
  write(1, all[i] + (ok ? (": yes " + found).trimEnd() : ": no") + "\n");
}

function attempt(op: string, path: string): bool {
  const below = op != "o" && path.startsWith("/project/") ? path.substring(9) : op != "o" && path == "/project" ? "." : path;
  const name = String.UTF8.encode(below);
  const p = changetype<usize>(name);
  const n = name.byteLength;
  const second = String.UTF8.encode(below + "-2");
  const p2 = changetype<usize>(second);
  const n2 = second.byteLength;
  if (op == "r") return read(p, n);
  if (op == "l") return list(p, n);
  if (op == "s") return look(p, n);
  if (op == "w") return put(p, n, 0);
  if (op == "c") return put(p, n, 1 | 4);
  if (op == "t") return put(p, n, 8);
  if (op == "m") return path_create_directory(ROOT, p, n) == 0;
  if (op == "u") return path_unlink_file(ROOT, p, n) == 0 || path_remove_directory(ROOT, p, n) == 0;
  if (op == "n") return path_rename(ROOT, p, n, ROOT, p2, n2) == 0;
  if (op == "k") return path_symlink(p, n, ROOT, p2, n2) == 0;
  if (op == "h") return path_link(ROOT, 0, p, n, ROOT, p2, n2) == 0;
  if (op == "o") return path_open(ROOT, 1, p, n, 0, 2, 2, 0, at) == 0;
  if (op == "env") return said(environ_sizes_get(at, at + 4), <u64>load<u32>(at));
  if (op == "clock") return said(clock_time_get(0, 1, at), load<u64>(at) / 1000000000);
  for (let fd = 0; fd < 32; fd++) if (sock_accept(fd, 0, at) == 0) return true;
  return false;
}

function said(errno: i32, value: u64): bool {
  found = value.toString();
  return errno == 0;
}

function read(p: usize, n: i32): bool {
  if (path_open(ROOT, 1, p, n, 0, 2, 2, 0, at) != 0) return false;
  const fd = load<i32>(at);
  const buffer = new ArrayBuffer(4096);
  store<u32>(at, changetype<usize>(buffer));
  store<u32>(at, 4096, 4);
  if (fd_read(fd, at, 1, at + 8) != 0) return false;
  found = String.UTF8.decodeUnsafe(changetype<usize>(buffer), load<u32>(at, 8));
  return true;
}

function list(p: usize, n: i32): bool {
  if (path_open(ROOT, 1, p, n, 2, 1 << 14, 1 << 14, 0, at) != 0) return false;
  const buffer = new ArrayBuffer(4096);
  const from = changetype<usize>(buffer);
  if (fd_readdir(load<i32>(at), from, 4096, 0, at) != 0) return false;
  for (let entry = from; entry < from + load<u32>(at); entry += 24 + load<u32>(entry, 16)) {
    const name = String.UTF8.decodeUnsafe(entry + 24, load<u32>(entry, 16));
    if (name != "." && name != "..") found += (found == "" ? "" : ",") + name;
  }
  return true;
}

function look(p: usize, n: i32): bool {
  if (path_filestat_get(ROOT, 1, p, n, at) != 0) return false;
  found = load<u8>(at, 16) == 3 ? "folder" : "file";
  return true;
}

function put(p: usize, n: i32, how: i32): bool {
  if (path_open(ROOT, 1, p, n, how, 64, 64, 0, at) != 0) return false;
  const fd = load<i32>(at);
  const text = String.UTF8.encode("written");
  store<u32>(at, changetype<usize>(text));
  store<u32>(at, text.byteLength, 4);
  return fd_write(fd, at, 1, at + 8) == 0;
}
