//! What a plugin in Rust needs of ABI version 1: the request, the answers, JSON
//! and the files of a folder. No crates; Rust 1.63 or newer.
//!
//! Stdout holds the answer and nothing else: print with `eprintln!`, never with
//! `println!`.
#![allow(dead_code)]

mod json;

pub use json::Json;
use json::Writer;
use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

/// The major version of the ABI that this file speaks.
pub const VERSION: i64 = 1;
const MAX_REQUEST: u64 = 8 << 20; // bytes

/// What the plugin is and does. A verb whose function is `None` is one that the
/// plugin does not have. `Err` is no answer: it goes to stderr, the call ends with
/// exit code 1, and the step stays where it was.
pub struct Plugin {
    pub name: &'static str,
    pub version: &'static str,
    pub description: &'static str,
    /// JSON Schema of the settings, or "".
    pub with: &'static str,
    pub guard: Option<fn(&Request) -> Result<GuardAnswer, String>>,
    pub execute: Option<fn(&Request) -> Result<ExecuteAnswer, String>>,
}

impl Plugin {
    /// The whole of a plugin's main: reads the request, calls the verb's function,
    /// writes the answer. A call that is not understood ends with exit code 2.
    pub fn main(&self) -> ! {
        let verb = std::env::args().last().unwrap_or_default();
        let code = match self.answer(&verb) {
            Ok(answer) => match std::io::stdout().write_all((answer + "\n").as_bytes()) {
                Ok(()) => 0,
                Err(e) => complain(1, &e.to_string()),
            },
            Err((code, message)) => complain(code, &message),
        };
        std::process::exit(code)
    }

    fn answer(&self, verb: &str) -> Result<String, (i32, String)> {
        match (verb, self.guard, self.execute) {
            ("describe", _, _) => Ok(self.describe()),
            ("guard", Some(work), _) => work(&read_request()?)
                .map(|a| a.encode())
                .map_err(|e| (1, e)),
            ("execute", _, Some(work)) => work(&read_request()?)
                .map(|a| a.encode())
                .map_err(|e| (1, e)),
            _ => Err((2, format!("there is no verb {:?}", verb))),
        }
    }

    fn describe(&self) -> String {
        let mut w = Writer::default();
        w.open('{');
        w.key("abi");
        w.raw("1");
        w.member("name", self.name);
        w.optional("version", self.version);
        w.optional("description", self.description);
        let mut verbs = Vec::new();
        verbs.extend(self.guard.map(|_| "guard".to_string()));
        verbs.extend(self.execute.map(|_| "execute".to_string()));
        w.list("verbs", &verbs);
        if !self.with.is_empty() {
            w.key("with");
            w.raw(self.with);
        }
        w.close('}');
        w.out
    }
}

fn complain(code: i32, message: &str) -> i32 {
    eprintln!("{}", message);
    code
}

// --- the request ------------------------------------------------------------

/// The request of guard and execute. What it does not name is in `all`.
pub struct Request {
    pub all: Json,
    pub verb: String,
    pub run: Run,
    /// Absolute, such as /project/kitty-specs/034-pay-by-link.
    pub mission_dir: String,
    /// "/workspace", or "" where there is none.
    pub workspace: String,
    pub step: Step,
    /// The work package that is reported, or "".
    pub package: String,
    pub inputs: BTreeMap<String, String>,
    /// Answers to this plugin's own questions, by key.
    pub answers: BTreeMap<String, String>,
    pub completed: Vec<String>,
    pub packages: Vec<Package>,
    pub agent: String,
    pub result: String,
    pub reason: String,
    /// RFC 3339, UTC; the only time there is.
    pub now: String,
    pub commands: Vec<CommandResult>,
}

pub struct Run {
    pub id: String,
    pub mission: String,
    pub kind: String,
    /// Commits so far.
    pub revision: i64,
}

pub struct Step {
    pub id: String,
    pub title: String,
    /// 1 for the first.
    pub attempt: i64,
    /// This plugin's settings in the mission.
    pub with: Json,
}

pub struct Package {
    pub id: String,
    pub title: String,
    pub lane: String,
    pub dependencies: Vec<String>,
    /// Its file, absolute, or "".
    pub path: String,
}

pub struct CommandResult {
    pub command: String,
    /// -1 where it could not be run or was stopped.
    pub exit: i64,
    pub stdout: String,
    pub stderr: String,
    pub timed_out: bool,
}

fn read_request() -> Result<Request, (i32, String)> {
    let mut raw = Vec::new();
    let read = std::io::stdin().take(MAX_REQUEST + 1).read_to_end(&mut raw);
    read.map_err(|e| (2, format!("the request cannot be read: {}", e)))?;
    if raw.len() as u64 > MAX_REQUEST {
        return Err((2, "the request is larger than 8 MiB".to_string()));
    }
    let text = String::from_utf8(raw).map_err(|_| (2, "the request is not UTF-8".to_string()))?;
    Request::parse(&text).map_err(|e| (2, e))
}

impl Request {
    /// Reads a request. Keys that it does not know are ignored.
    pub fn parse(text: &str) -> Result<Request, String> {
        let all = Json::parse(text).map_err(|e| format!("the request is not JSON: {}", e))?;
        if all.get("abi").int() != Some(VERSION) {
            return Err(
                "the request is not one of ABI version 1, the only one that this plugin knows"
                    .to_string(),
            );
        }
        let mission_dir = all.get("mission").text_at("dir");
        if mission_dir.is_empty() {
            return Err("the request has no mission.dir".to_string());
        }
        let (run, step) = (all.get("run"), all.get("step"));
        Ok(Request {
            verb: all.text_at("verb"),
            run: Run {
                id: run.text_at("id"),
                mission: run.text_at("mission"),
                kind: run.text_at("type"),
                revision: run.get("revision").int().unwrap_or(0),
            },
            mission_dir,
            workspace: all.text_at("workspace"),
            step: Step {
                id: step.text_at("id"),
                title: step.text_at("title"),
                attempt: step.get("attempt").int().unwrap_or(0),
                with: step.get("with").clone(),
            },
            package: all.text_at("package"),
            inputs: all.get("inputs").texts_by_key(),
            answers: all.get("answers").texts_by_key(),
            completed: all.get("completed").texts(),
            packages: all.get("packages").items().iter().map(package).collect(),
            agent: all.text_at("agent"),
            result: all.text_at("result"),
            reason: all.text_at("reason"),
            now: all.text_at("now"),
            commands: all
                .get("commands")
                .items()
                .iter()
                .map(command_result)
                .collect(),
            all,
        })
    }
}

fn package(v: &Json) -> Package {
    Package {
        id: v.text_at("id"),
        title: v.text_at("title"),
        lane: v.text_at("lane"),
        dependencies: v.get("dependencies").texts(),
        path: v.text_at("path"),
    }
}

fn command_result(v: &Json) -> CommandResult {
    CommandResult {
        command: v.text_at("command"),
        exit: v.get("exit").int().unwrap_or(-1),
        stdout: v.text_at("stdout"),
        stderr: v.text_at("stderr"),
        timed_out: v.get("timed_out") == &Json::Bool(true),
    }
}

// --- the answers ------------------------------------------------------------

/// What stands in the way, where, and what to do; path and fix may be "".
#[derive(Default)]
pub struct Reason {
    pub message: String,
    pub path: String,
    pub fix: String,
}

/// A reason of these three texts.
pub fn reason(
    message: impl Into<String>,
    path: impl Into<String>,
    fix: impl Into<String>,
) -> Reason {
    Reason {
        message: message.into(),
        path: path.into(),
        fix: fix.into(),
    }
}

pub enum GuardAnswer {
    /// The step passes.
    Allow,
    /// It does not; at least one reason is needed.
    Refuse(Vec<Reason>),
    /// The guard cannot say yes or no, and why. The step does not pass.
    CannotJudge(String),
}

impl GuardAnswer {
    pub fn encode(&self) -> String {
        let mut w = Writer::default();
        w.open('{');
        match self {
            GuardAnswer::Allow => w.member("verdict", "allow"),
            GuardAnswer::Refuse(reasons) => {
                w.member("verdict", "refuse");
                w.reasons(reasons);
            }
            GuardAnswer::CannotJudge(message) => {
                w.member("verdict", "error");
                w.member("message", message);
            }
        }
        w.close('}');
        w.out
    }
}

/// The answer to execute: an outcome (success, failed, blocked, question) with
/// what belongs to it, or needs alone: names of declared commands.
#[derive(Default)]
pub struct ExecuteAnswer {
    pub outcome: &'static str,
    pub reasons: Vec<Reason>,
    /// Values to store for the run.
    pub inputs: BTreeMap<String, String>,
    pub question: Option<Question>,
    pub prompt: String,
    pub notes: Vec<String>,
    pub artifacts: Vec<Artifact>,
    pub needs: Vec<String>,
}

/// Is asked of whoever works on the mission. The answer comes in the next request's
/// answers, under the key. Without options any text is an answer.
pub struct Question {
    pub key: String,
    pub question: String,
    pub options: Vec<String>,
}

/// A file for the host to write; the path is relative to the project.
pub struct Artifact {
    pub path: String,
    pub content: String,
}

impl ExecuteAnswer {
    pub fn encode(&self) -> String {
        let mut w = Writer::default();
        w.open('{');
        w.optional("outcome", self.outcome);
        w.reasons(&self.reasons);
        if !self.inputs.is_empty() {
            w.key("inputs");
            w.open('{');
            self.inputs
                .iter()
                .for_each(|(key, value)| w.member(key, value));
            w.close('}');
        }
        if let Some(q) = &self.question {
            w.key("question");
            w.open('{');
            w.member("key", &q.key);
            w.member("question", &q.question);
            w.list("options", &q.options);
            w.close('}');
        }
        w.optional("prompt", &self.prompt);
        w.list("notes", &self.notes);
        w.objects("artifacts", &self.artifacts, |w, a| {
            w.member("path", &a.path);
            w.member("content", &a.content);
        });
        w.objects("needs", &self.needs, |w, name| w.member("command", name));
        w.close('}');
        w.out
    }
}

// --- files -------------------------------------------------------------------

/// The regular files in a folder and below it, in the order of their names. A
/// folder that was not granted is one that does not exist.
pub fn files(folder: impl AsRef<Path>) -> std::io::Result<Vec<PathBuf>> {
    let mut all = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let kind = entry.file_type()?;
        if kind.is_dir() {
            all.extend(files(entry.path())?);
        } else if kind.is_file() {
            all.push(entry.path());
        }
    }
    all.sort();
    Ok(all)
}
