//! probe.rs tries what a guest must not be able to do, see README.md.

use std::fs::{self, OpenOptions};
use std::io::{Error, ErrorKind, Result, Write};
use std::time::SystemTime;

#[link(wasm_import_module = "wasi_snapshot_preview1")]
extern "C" {
    #[link_name = "path_open"]
    fn path_open(fd: i32, look: i32, path: *const u8, size: usize, how: i32, rights: i64, inherited: i64, flags: i32, out: *mut i32) -> i32;
    #[link_name = "path_symlink"]
    fn path_symlink(old: *const u8, old_size: usize, fd: i32, new: *const u8, new_size: usize) -> i32;
}

fn main() {
    let args: Vec<String> = std::env::args().collect();
    for attempt in &args[1..args.len() - 1] {
        let (op, path) = attempt.split_once(' ').expect("an operation and a path");
        match attempt_one(op, path) {
            Ok(found) => println!("{}", format!("{}: yes {}", attempt, found).trim_end()),
            Err(e) => {
                println!("{}: no", attempt);
                eprintln!("{}: {}", attempt, e);
            }
        }
    }
}

fn attempt_one(op: &str, path: &str) -> Result<String> {
    let second = format!("{}-2", path);
    match op {
        "r" => fs::read_to_string(path),
        "l" => list(path),
        "s" => fs::metadata(path).map(|m| if m.is_dir() { "folder" } else { "file" }.to_string()),
        "w" => write(path, OpenOptions::new().write(true)),
        "c" => write(path, OpenOptions::new().write(true).create_new(true)),
        "t" => write(path, OpenOptions::new().write(true).truncate(true)),
        "m" => fs::create_dir(path).map(nothing),
        "u" => fs::remove_file(path).or_else(|_| fs::remove_dir_all(path)).map(nothing),
        "n" => fs::rename(path, second).map(nothing),
        "k" => number(unsafe { path_symlink(path.as_ptr(), path.len(), 3, second.as_ptr(), second.len()) }),
        "h" => fs::hard_link(path, second).map(nothing),
        "o" => {
            let mut fd = 0;
            number(unsafe { path_open(3, 1, path.as_ptr(), path.len(), 0, 2, 2, 0, &mut fd) })
        }
        "env" => Ok(std::env::vars_os().count().to_string()),
        "clock" => Ok(SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).expect("a time after 1970").as_secs().to_string()),
        "sock" => std::net::TcpStream::connect(path).map(|_| String::new()),
        _ => Err(Error::from(ErrorKind::InvalidInput)),
    }
}

fn nothing(_: ()) -> String {
    String::new()
}

fn number(errno: i32) -> Result<String> {
    if errno != 0 {
        return Err(Error::from_raw_os_error(errno));
    }
    Ok(String::new())
}

fn list(path: &str) -> Result<String> {
    let mut names = Vec::new();
    for entry in fs::read_dir(path)? {
        names.push(entry?.file_name().to_string_lossy().into_owned());
    }
    Ok(names.join(","))
}

fn write(path: &str, how: &mut OpenOptions) -> Result<String> {
    how.open(path)?.write_all(b"written").map(nothing)
}
