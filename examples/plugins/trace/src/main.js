/// <reference path="../../../../plugins/engines/quickjs/engine.d.ts" />
// trace: a guard that follows requirements into the work packages. Each one that the
// specification defines (a line that begins with FR-001, in a list, table or heading)
// must be named by a task, and no task may name one that is not defined.

const most = 40; // reasons in an answer

export const describe = {
  name: "trace",
  version: "1.0.0",
  description: "Wants each requirement of the specification in a task, and none that is not in it",
  with: {
    type: "object",
    additionalProperties: false,
    properties: {
      file: { type: "string", minLength: 1, default: "spec.md" },
      folder: { type: "string", minLength: 1, default: "tasks" },
      ids: { type: "array", minItems: 1, items: { type: "string", pattern: "^[A-Z][A-Z0-9]*$" }, default: ["FR"] },
    },
  },
};

/**
 * @param {Request} request
 * @returns {GuardAnswer}
 */
export function guard(request) {
  const settings = { file: "spec.md", folder: "tasks", ids: ["FR"], ...request.step?.with };
  const wrong = faultOf(settings);
  if (wrong) return { verdict: "error", message: wrong };
  const id = `(?:${settings.ids.join("|")})-\\d+`;
  const spec = `${request.mission.dir}/${settings.file}`;
  const folder = `${request.mission.dir}/${settings.folder}`;
  const text = readFile(spec);
  if (text === null) return refuse([reason(`there is no ${settings.file}`, spec, 'write it, and let the plugin read it: read = ["{mission}"]')]);
  const { defined, twice } = definitions(text, id);
  if (defined.size === 0) return refuse([reason(`${settings.file} defines no requirement such as ${settings.ids[0]}-001`, spec, "begin the line of each with its id")]);
  const named = mentions(folder, id);
  if (named === null) return refuse([reason(`there is no folder ${settings.folder}`, folder, `cut the work into ${settings.folder}/WP01-….md`)]);
  const reasons = twice.map((t) => reason(`${t.id} is defined in line ${t.first} and again in line ${t.line}`, spec, "give one of them another id"));
  for (const [name, line] of defined) {
    if (!named.has(name)) reasons.push(reason(`no task names ${name} (line ${line})`, spec, `name it in the task that does it, in ${settings.folder}`));
  }
  for (const [name, path] of named) {
    if (!defined.has(name)) reasons.push(reason(`${name} is not in ${settings.file}`, path, "define it there, or take it out"));
  }
  return reasons.length ? refuse(shortened(reasons)) : { verdict: "allow" };
}

/** What is wrong with the settings, or "". */
function faultOf(settings) {
  const known = Object.keys(describe.with.properties);
  for (const key of Object.keys(settings)) {
    if (!known.includes(key)) return `the setting ${key} in \`with\` is not known here; known are ${known.join(", ")}`;
  }
  for (const key of ["file", "folder"]) {
    if (typeof settings[key] !== "string" || settings[key] === "") return `the setting ${key} in \`with\` must be a path in the mission's folder`;
  }
  const { ids } = settings;
  if (!Array.isArray(ids) || ids.length === 0 || !ids.every((p) => typeof p === "string" && /^[A-Z][A-Z0-9]*$/.test(p))) {
    return 'the setting ids in `with` must be a list of capital letters such as ["FR", "SC"]';
  }
  return "";
}

/** The requirements that a text defines, each with its line. */
function definitions(text, id) {
  const begins = new RegExp(`^[\\s>|#*_+\`-]*(?:\\[[ xX]\\]\\s*)?[*_\`]*(${id})\\b`);
  const defined = new Map();
  const twice = [];
  prose(text).forEach((content, at) => {
    const found = begins.exec(content);
    if (!found) return;
    const first = defined.get(found[1]);
    if (first === undefined) defined.set(found[1], at + 1);
    else twice.push({ id: found[1], first, line: at + 1 });
  });
  return { defined, twice };
}

/** All ids that files in a folder name, each with the first file; null without a folder. */
function mentions(folder, id) {
  const entries = listFolder(folder);
  if (entries === null) return null;
  const named = new Map();
  // The step runner lists by name; other WASI runners do as the disk does.
  entries.sort((a, b) => (a.name < b.name ? -1 : 1));
  for (const entry of entries) {
    if (entry.kind !== "file" || !entry.name.endsWith(".md")) continue;
    const path = `${folder}/${entry.name}`;
    const text = prose(readFile(path) ?? "").join("\n");
    for (const [name] of text.matchAll(new RegExp(`\\b${id}\\b`, "g"))) {
      if (!named.has(name)) named.set(name, path);
    }
  }
  return named;
}

/** The lines of a Markdown text, those of fenced code empty. */
function prose(text) {
  let fence = "";
  return text.split(/\r?\n/).map((line) => {
    const mark = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1] ?? "";
    if (fence === "") {
      fence = mark;
      return mark ? "" : line;
    }
    if (mark.startsWith(fence) && line.trim() === mark) fence = "";
    return "";
  });
}

function shortened(reasons) {
  if (reasons.length <= most) return reasons;
  return [...reasons.slice(0, most - 1), { message: `and ${reasons.length - most + 1} more` }];
}

function reason(message, path, fix) {
  return { message, path, fix };
}

function refuse(reasons) {
  return { verdict: "refuse", reasons };
}
