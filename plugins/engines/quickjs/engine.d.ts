// What a script of ABI v1 is given and can call, for editors: put
//   /// <reference path="../engine.d.ts" />
// on its first line. Nothing else is there: no Node API, no network, no timers.

/** The request, as plugins/README.md describes it. There may be more in it. */
interface Request {
  abi: 1;
  verb: "guard" | "execute";
  run: { id: string; mission: string; type: string; revision: number };
  mission: { dir: string };
  workspace?: string;
  step: { id: string; title: string; attempt: number; with?: any };
  package?: { id: string; title: string; lane: string; dependencies: string[]; path?: string };
  inputs: Record<string, string>;
  answers: Record<string, string>;
  completed: string[];
  packages: { id: string; title: string; lane: string; dependencies: string[]; path?: string }[];
  agent: string;
  result: string;
  reason?: string;
  now: string;
  commands: { command: string; exit?: number; stdout?: string; stderr?: string; timed_out?: boolean }[];
}

interface Reason {
  message: string;
  path?: string;
  fix?: string;
}

/** What guard returns. */
type GuardAnswer =
  | { verdict: "allow" }
  | { verdict: "refuse"; reasons: Reason[] }
  | { verdict: "error"; message: string };

interface Extras {
  inputs?: Record<string, string>;
  prompt?: string;
  notes?: string[];
}

/** What execute returns. */
type ExecuteAnswer =
  | ({ outcome: "success"; artifacts?: { path: string; content: string }[] } & Extras)
  | ({ outcome: "failed" | "blocked"; reasons: Reason[] } & Extras)
  | ({ outcome: "question"; question: { key: string; question: string; options?: string[] } } & Extras)
  | { needs: { command: string }[] };

/** The text of a file; null if there is none. Throws if it is no UTF-8, a folder, or not to be read. */
declare function readFile(path: string): string | null;

/** The bytes of a file; null if there is none. */
declare function readBytes(path: string): Uint8Array | null;

/** What lies in a folder, by name; null if there is no such folder. */
declare function listFolder(path: string): { name: string; kind: "file" | "folder" | "link" }[] | null;

/** The configured arguments behind the script's name. */
declare const args: string[];

/** All of it goes to the log (stderr): a print cannot spoil an answer. */
declare const console: Record<"debug" | "error" | "info" | "log" | "warn", (...values: unknown[]) => void>;
