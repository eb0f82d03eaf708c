//! clarify: an executor that asks what a specification leaves open.
//!
//! Authors mark an open point in the text, with answers to choose from or without:
//!
//!     [NEEDS CLARIFICATION: Which database? | postgres | sqlite]
//!
//! Each marker becomes a question, one after the other, in the order of the text.
//! When all are answered the step succeeds: the answers stand in the prompt of
//! whoever works next, in the notes, and with `input` in an input of the run.
//!
//! A question's key comes from its words, so that an answer stays with its question
//! when the text around it changes.

mod plugin;

use plugin::{reason, ExecuteAnswer, Plugin, Question, Request};
use std::io::ErrorKind;

const MARKER: &str = "[NEEDS CLARIFICATION:";
const LONGEST: usize = 1000; // letters of a question or an option
const MOST: usize = 50; // questions

fn main() {
    Plugin {
        name: "clarify",
        version: "1.0.0",
        description: "Asks what a specification marks as open",
        with: r#"{"type":"object","additionalProperties":false,"properties":{"file":{"type":"string"},"input":{"type":"string"}}}"#,
        guard: None,
        execute: Some(execute),
    }
    .main()
}

fn execute(r: &Request) -> Result<ExecuteAnswer, String> {
    let with = &r.step.with;
    with.only(&["file", "input"])?;
    let name = with.text_or("file", "spec.md")?;
    let input = with.text_or("input", "-")?;
    let path = format!("{}/{}", r.mission_dir, name);
    std::fs::read_dir(&r.mission_dir).map_err(|_| format!("{} cannot be seen; grant it: read = [\"{{mission}}\"]", r.mission_dir))?;
    let text = match std::fs::read_to_string(&path) {
        Ok(text) => text,
        Err(e) if e.kind() == ErrorKind::NotFound => return Ok(blocked(format!("there is no {}", name), path, "write it")),
        Err(e) => return Ok(blocked(format!("{} cannot be read: {}", name, e), path, "make it a plain file in UTF-8")),
    };
    let open = questions(&text);
    if open.len() > MOST {
        return Ok(blocked(format!("{} points are open", open.len()), path, "answer the smaller ones yourself: at most 50 are asked"));
    }
    Ok(open.iter().find(|q| !r.answers.contains_key(&q.key)).map_or_else(|| settled(r, &name, &input, &open), ask))
}

fn blocked(message: String, path: String, fix: &str) -> ExecuteAnswer {
    ExecuteAnswer { outcome: "blocked", reasons: vec![reason(message, path, fix)], ..Default::default() }
}

fn ask(q: &Question) -> ExecuteAnswer {
    let question = Question { key: q.key.clone(), question: q.question.clone(), options: q.options.clone() };
    ExecuteAnswer { outcome: "question", question: Some(question), ..Default::default() }
}

fn settled(r: &Request, name: &str, input: &str, asked: &[Question]) -> ExecuteAnswer {
    let mut done = ExecuteAnswer { outcome: "success", ..Default::default() };
    if asked.is_empty() {
        done.notes.push(format!("nothing is open in {}", name));
        return done;
    }
    let lines: Vec<String> = asked.iter().map(|q| format!("- {} {}", q.question, one_line(&r.answers[&q.key]))).collect();
    done.notes.push(format!("{} open points of {} are answered", lines.len(), name));
    done.prompt = format!("Write these answers into {} in place of their markers:\n\n{}\n", name, lines.join("\n"));
    if input != "-" {
        done.inputs.insert(input.to_string(), lines.join("\n"));
    }
    done
}

/// The open points of a text, each once. Code is not looked at.
fn questions(text: &str) -> Vec<Question> {
    let mut all: Vec<Question> = Vec::new();
    let mut code = false;
    let mut plain = String::new();
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            code = !code;
        } else if !code {
            plain.push_str(line);
            plain.push('\n');
        }
    }
    for part in plain.split(MARKER).skip(1) {
        let marked = part.split(']').next().unwrap_or_default();
        let mut words = marked.split('|').map(one_line).filter(|w| !w.is_empty());
        if let Some(question) = words.next() {
            let key = key_of(&question);
            if all.iter().all(|q| q.key != key) {
                all.push(Question { key, question, options: words.take(20).collect() });
            }
        }
    }
    all
}

/// Words with single spaces, cut where a question would be too long.
fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(LONGEST).collect()
}

/// A key that stays as long as the words do (FNV-1a).
fn key_of(question: &str) -> String {
    let hash = question.bytes().fold(0xcbf29ce484222325u64, |h, b| (h ^ u64::from(b)).wrapping_mul(0x100000001b3));
    format!("q_{:016x}", hash)
}
