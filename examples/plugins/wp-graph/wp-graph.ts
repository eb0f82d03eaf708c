// wp-graph: a guard that looks at the work packages of a mission. They must be there,
// name packages that exist as their dependencies, not wait for each other in a ring,
// and their files must have the sections that the mission wants.

import { Answer, Description, Kind, NOT_FOUND, Package, Reason, Request, allow, cannotJudge, main, readFile, refuse } from "./plugin";

const MOST = 40; // reasons in an answer

main(
  new Description(
    "wp-graph", "1.0.0", "Looks at dependencies and sections of work packages", ["guard"],
    '{"type":"object","additionalProperties":false,"properties":{"sections":{"type":"array","items":{"type":"string"}}}}',
  ),
  guard,
);

function guard(r: Request): Answer {
  const wrong = r.with.only(["sections"]);
  if (wrong != "") return cannotJudge(wrong);
  const set = r.with.get("sections");
  const sections = set.texts();
  if (set.kind != Kind.Absent && (set.kind != Kind.Array || sections.length != set.items.length)) {
    return cannotJudge("the setting sections in `with` must be a list of texts");
  }
  if (r.packages.length == 0) return refuse([new Reason("there are no work packages", r.missionDir + "/tasks", "cut the work into tasks/WP01-….md")]);
  const reasons = new Array<Reason>();
  for (let i = 0; i < r.packages.length; i++) {
    needs(r.packages[i], r.packages, reasons);
    has(r.packages[i], sections, reasons);
  }
  const ring = findRing(r.packages);
  if (ring.length) reasons.push(new Reason("packages wait for each other: " + ring.join(" needs "), pathOf(ring[0], r.packages), "take one of these dependencies out"));
  return reasons.length ? refuse(shortened(reasons)) : allow();
}

/** What a package needs must be there, and be another one. */
function needs(p: Package, all: Package[], reasons: Reason[]): void {
  for (let i = 0; i < p.dependencies.length; i++) {
    const id = p.dependencies[i];
    if (id == p.id) reasons.push(new Reason(p.id + " needs itself", p.path, "take the dependency out"));
    else if (find(id, all) < 0) reasons.push(new Reason(p.id + " needs " + id + ", which does not exist", p.path, "name a package that does"));
  }
}

/** The sections that are wanted must be headings of the file. */
function has(p: Package, sections: string[], reasons: Reason[]): void {
  if (sections.length == 0) return;
  const content = readFile(p.path);
  if (content.error != 0) {
    const why = content.error == NOT_FOUND ? " is not there" : " cannot be read: error " + content.error.toString();
    reasons.push(new Reason("the file of " + p.id + why, p.path, "write it, and let the plugin read it: read = [\"{mission}\"]"));
    return;
  }
  const headings = headingsOf(content.text());
  for (let i = 0; i < sections.length; i++) {
    let found = false;
    for (let j = 0; j < headings.length; j++) found = found || headings[j].startsWith(sections[i].toLowerCase());
    if (!found) reasons.push(new Reason(p.id + " has no section \"" + sections[i] + "\"", p.path, "write it"));
  }
}

/** Headings in lower case, without those in code. */
function headingsOf(text: string): string[] {
  const all = new Array<string>();
  const lines = text.split("\n");
  let code = false;
  for (let i = 0; i < lines.length; i++) {
    const line = lines[i].trim();
    if (line.startsWith("```")) code = !code;
    if (!code && line.startsWith("#")) {
      let level = 0;
      while (line.charAt(level) == "#") level++;
      if (level <= 6 && line.charAt(level) == " ") all.push(line.substring(level).trim().toLowerCase());
    }
  }
  return all;
}

/** The ids of a ring, its first again at the end; none where there is no ring. */
function findRing(all: Package[]): string[] {
  const done = new Array<bool>(all.length).fill(false);
  for (let i = 0; i < all.length; i++) {
    const ring = walk(i, all, [], done);
    if (ring.length) return ring;
  }
  return [];
}

// A path is at most as long as there are packages: what is done is not walked again.
function walk(at: i32, all: Package[], path: string[], done: bool[]): string[] {
  const id = all[at].id;
  const seen = path.indexOf(id);
  if (seen >= 0) return path.slice(seen).concat([id]);
  if (done[at]) return [];
  path.push(id);
  const needed = all[at].dependencies;
  for (let i = 0; i < needed.length; i++) {
    const next = find(needed[i], all);
    if (next < 0 || next == at) continue;
    const ring = walk(next, all, path, done);
    if (ring.length) return ring;
  }
  path.pop();
  done[at] = true;
  return [];
}

function find(id: string, all: Package[]): i32 {
  for (let i = 0; i < all.length; i++) if (all[i].id == id) return i;
  return -1;
}

function pathOf(id: string, all: Package[]): string {
  return all[find(id, all)].path;
}

/** A list that is cut says how much more there is. */
function shortened(reasons: Reason[]): Reason[] {
  if (reasons.length <= MOST) return reasons;
  const shown = reasons.slice(0, MOST - 1);
  shown.push(new Reason("and " + (reasons.length - shown.length).toString() + " more"));
  return shown;
}
