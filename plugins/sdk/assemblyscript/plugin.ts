// What a plugin in AssemblyScript needs of ABI version 1: the request, the answers
// and the call. Stdout holds the answer and nothing else; console.log prints to
// stderr.

import { Json, Kind, list, object, optional, parse, quote } from "./json";
import { args, exit, log, readAll, write } from "./wasi";

export { Json, Kind } from "./json";
export { NOT_FOUND, TOO_LARGE, files, log, readFile } from "./wasi";

const MAX_REQUEST = 4 << 20; // bytes

/** The request of guard and execute. What it does not name is in all. */
export class Request {
  verb: string;
  runId: string;
  mission: string; // slug
  missionType: string;
  revision: i64; // commits so far
  missionDir: string; // absolute, such as /project/kitty-specs/034-pay-by-link
  workspace: string; // "/workspace", or "" where there is none
  stepId: string;
  stepTitle: string;
  attempt: i64; // 1 for the first
  with: Json; // this plugin's settings in the mission
  package: string; // the work package that is reported, or ""
  inputs: Json; // texts by key
  answers: Json; // answers to this plugin's own questions, by key
  completed: string[];
  packages: Package[] = [];
  agent: string;
  result: string;
  reason: string;
  now: string; // RFC 3339, UTC; the only time there is
  commands: CommandResult[] = [];

  constructor(public all: Json) {
    const run = all.get("run");
    const step = all.get("step");
    this.verb = all.textAt("verb");
    this.runId = run.textAt("id");
    this.mission = run.textAt("mission");
    this.missionType = run.textAt("type");
    this.revision = run.intAt("revision");
    this.missionDir = all.get("mission").textAt("dir");
    this.workspace = all.textAt("workspace");
    this.stepId = step.textAt("id");
    this.stepTitle = step.textAt("title");
    this.attempt = step.intAt("attempt");
    this.with = step.get("with");
    this.package = all.textAt("package");
    this.inputs = all.get("inputs");
    this.answers = all.get("answers");
    this.completed = all.get("completed").texts();
    this.agent = all.textAt("agent");
    this.result = all.textAt("result");
    this.reason = all.textAt("reason");
    this.now = all.textAt("now");
    const packages = all.get("packages").items;
    for (let i = 0; i < packages.length; i++) this.packages.push(new Package(packages[i]));
    const commands = all.get("commands").items;
    for (let i = 0; i < commands.length; i++) this.commands.push(new CommandResult(commands[i]));
  }
}

/** One work package. */
export class Package {
  id: string;
  title: string;
  lane: string;
  dependencies: string[];
  path: string; // its file, absolute, or ""

  constructor(v: Json) {
    this.id = v.textAt("id");
    this.title = v.textAt("title");
    this.lane = v.textAt("lane");
    this.dependencies = v.get("dependencies").texts();
    this.path = v.textAt("path");
  }
}

/** What a command gave that the last answer needed. */
export class CommandResult {
  command: string;
  exit: i64; // -1 where it could not be run or was stopped
  stdout: string;
  stderr: string;
  timedOut: bool;

  constructor(v: Json) {
    this.command = v.textAt("command");
    this.exit = v.intAt("exit");
    this.stdout = v.textAt("stdout");
    this.stderr = v.textAt("stderr");
    this.timedOut = v.get("timed_out").text == "true";
  }
}

/** What stands in the way, where, and what to do; path and fix may be "". */
export class Reason {
  constructor(public message: string, public path: string = "", public fix: string = "") {}
}

/** An answer, or why there is none. */
export class Answer {
  constructor(public json: string, public fault: string = "") {}
}

/** Lets the step pass. */
export function allow(): Answer {
  return new Answer('{"verdict":"allow"}');
}

/** Does not; at least one reason is needed. */
export function refuse(reasons: Reason[]): Answer {
  return new Answer(object(["verdict", "reasons"], [quote("refuse"), reasonList(reasons)]));
}

/** The guard cannot say yes or no, and why. The step does not pass. */
export function cannotJudge(message: string): Answer {
  return new Answer(object(["verdict", "message"], [quote("error"), quote(message)]));
}

/** No answer: the message goes to stderr, and the step stays where it was. */
export function fail(message: string): Answer {
  return new Answer("", message);
}

/** The answer to execute: an outcome with what belongs to it, or needs alone. */
export class Execute {
  outcome: string = ""; // success, failed, blocked or question
  reasons: Reason[] = [];
  inputKeys: string[] = []; // values to store for the run, in the order of inputValues
  inputValues: string[] = [];
  question: Question | null = null;
  prompt: string = "";
  notes: string[] = [];
  artifacts: Artifact[] = [];
  needs: string[] = []; // names of declared commands

  answer(): Answer {
    const quoted = new Array<string>();
    for (let i = 0; i < this.inputValues.length; i++) quoted.push(quote(this.inputValues[i]));
    const artifacts = new Array<string>();
    for (let i = 0; i < this.artifacts.length; i++) artifacts.push(this.artifacts[i].json());
    const needs = new Array<string>();
    for (let i = 0; i < this.needs.length; i++) needs.push(object(["command"], [quote(this.needs[i])]));
    const question = this.question;
    return new Answer(object(
      ["outcome", "reasons", "inputs", "question", "prompt", "notes", "artifacts", "needs"],
      [
        optional(this.outcome), reasonList(this.reasons), quoted.length ? object(this.inputKeys, quoted) : "",
        question === null ? "" : question.json(), optional(this.prompt), list(this.notes), joined(artifacts), joined(needs),
      ],
    ));
  }
}

/**
 * Is asked of whoever works on the mission; the answer comes in the next request's
 * answers, under the key. Without options any text is an answer.
 */
export class Question {
  constructor(public key: string, public question: string, public options: string[] = []) {}

  json(): string {
    return object(["key", "question", "options"], [quote(this.key), quote(this.question), list(this.options)]);
  }
}

/** A file for the host to write; the path is relative to the project. */
export class Artifact {
  constructor(public path: string, public content: string) {}

  json(): string {
    return object(["path", "content"], [quote(this.path), quote(this.content)]);
  }
}

function reasonList(reasons: Reason[]): string {
  const all = new Array<string>();
  for (let i = 0; i < reasons.length; i++) {
    const r = reasons[i];
    all.push(object(["message", "path", "fix"], [quote(r.message), optional(r.path), optional(r.fix)]));
  }
  return joined(all);
}

function joined(all: string[]): string {
  return all.length ? "[" + all.join(",") + "]" : "";
}

/** What the plugin is; settings is a JSON Schema of its settings, or "". */
export class Description {
  constructor(public name: string, public version: string, public description: string, public verbs: string[], public settings: string = "") {}

  json(): string {
    return object(
      ["abi", "name", "version", "description", "verbs", "with"],
      ["1", quote(this.name), optional(this.version), optional(this.description), list(this.verbs), this.settings],
    );
  }
}

/**
 * The whole of a plugin's main: reads the request, calls work for a verb that the
 * plugin has, writes the answer. A call that is not understood ends with exit
 * code 2, one without an answer with 1.
 */
export function main(self: Description, work: (r: Request) => Answer): void {
  const all = args();
  const verb = all.length ? all[all.length - 1] : "";
  if (verb == "describe") return finish(new Answer(self.json()));
  if (!self.verbs.includes(verb)) return complain(2, "there is no verb " + quote(verb));
  const content = readAll(0, MAX_REQUEST);
  if (content.error != 0) return complain(2, "the request cannot be read, or is larger than 4 MiB");
  const doc = parse(content.text());
  if (doc.fault != "") return complain(2, "the request is not JSON: " + doc.fault);
  const abi = doc.value.get("abi");
  if (abi.kind != Kind.Number || abi.text != "1") return complain(2, "the request is not one of ABI version 1, the only one that this plugin knows");
  const request = new Request(doc.value);
  request.verb = verb;
  if (request.missionDir == "") return complain(2, "the request has no mission.dir");
  finish(work(request));
}

function finish(answer: Answer): void {
  if (answer.fault != "") return complain(1, answer.fault);
  if (!write(1, answer.json + "\n")) complain(1, "the answer could not be written");
}

function complain(code: i32, message: string): void {
  log(message);
  exit(code);
}
