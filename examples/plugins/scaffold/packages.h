/*
 * packages.h: the work packages of a mission as its folder has them, and the
 * checks that a plan of packages must pass before anybody starts on one.
 */
#ifndef SCAFFOLD_PACKAGES_H
#define SCAFFOLD_PACKAGES_H

#include "../c/plugin.h"
#include "../c/reasons.h"
#include "frontmatter.h"

enum { MAX_PACKAGES = 500 };

struct package {
	struct text path; /* relative to the project */
	struct text id, title;
	struct items needs;    /* ids as written */
	int need[MAX_ITEMS];   /* their indexes, -1 where unknown */
	size_t subtasks;
	int wave; /* 1: needs nothing; N: needs one of wave N-1; 0: in a cycle, or behind one */
};

struct packages {
	struct package *list[MAX_PACKAGES];
	size_t n;
};

/* --- reading ----------------------------------------------------------- */

static inline int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static inline bool is_package_name(struct text name)
{
	return starts(name, "WP") && name.n > 5 && is(from(name, name.n - 3), ".md");
}

/* The names WP*.md of a folder, sorted; none where it is missing, -1 (errno) where it cannot be read. */
static inline int package_names(struct text folder, char **names)
{
	DIR *d = opendir(text_string(folder));
	struct dirent *entry;
	int n = 0;
	if (!d)
		return errno == ENOENT ? 0 : -1;
	while ((entry = readdir(d))) {
		if (!is_package_name(text_of(entry->d_name)))
			continue;
		if (n == MAX_PACKAGES)
			give_up(3, "more than %d work packages", MAX_PACKAGES);
		names[n++] = text_string(text_of(entry->d_name));
	}
	closedir(d);
	qsort(names, (size_t)n, sizeof *names, by_name);
	return n;
}

static inline void complain(struct reasons *r, struct text path, const char *what, const char *fix)
{
	struct buf b = {0};
	put_str(&b, what);
	add_reason(r, b, path, fix);
}

static inline void read_package(struct package *p, struct text file, struct reasons *r)
{
	struct frontmatter f;
	struct items subtasks;
	if (utf8_fault(file) < file.n) {
		complain(r, p->path, "the file is not UTF-8 text", "save it as UTF-8");
		return;
	}
	if (!split_frontmatter(file, &f)) {
		complain(r, p->path, "there is no front matter", "begin the file with `---`, the fields, and `---`");
		return;
	}
	if (!text_under(f.yaml, "work_package_id", &p->id) || p->id.n > 100)
		complain(r, p->path, "work_package_id is missing", "add `work_package_id: WP01`");
	if (!text_under(f.yaml, "title", &p->title))
		complain(r, p->path, "title is missing", "add `title: …`");
	if (!list_under(f.yaml, "dependencies", &p->needs))
		complain(r, p->path, "dependencies is no list", "write `dependencies: [WP01, WP02]`");
	if (list_under(f.yaml, "subtasks", &subtasks))
		p->subtasks = subtasks.n;
	struct text rest = f.body, line;
	while (next_line(&rest, &line))
		if (trim(line).n)
			return;
	complain(r, p->path, "the package has no text", "say below the front matter what is to be done");
}

/* --- checks ---------------------------------------------------------------- */

static inline bool same_fold(struct text a, struct text b)
{
	if (a.n != b.n)
		return false;
	for (size_t i = 0; i < a.n; i++)
		if (lower(a.p[i]) != lower(b.p[i]))
			return false;
	return true;
}

static inline int find_package(const struct packages *all, struct text id)
{
	for (size_t i = 0; id.n && i < all->n; i++)
		if (same(all->list[i]->id, id))
			return (int)i;
	return -1;
}

static inline void check_ids(const struct packages *all, struct reasons *r)
{
	for (size_t i = 0; i < all->n; i++)
		for (size_t j = 0; j < i; j++) {
			struct package *p = all->list[i], *q = all->list[j];
			if (!p->id.n || !same_fold(p->id, q->id))
				continue;
			struct buf b = {0};
			put_str(&b, "the id ");
			put_quoted(&b, p->id);
			put_str(&b, " is taken by ");
			put_text(&b, q->path);
			add_reason(r, b, p->path, "give each package an id of its own; letter case makes no difference");
			break;
		}
}

static inline void check_need(const struct packages *all, struct package *p, size_t at, struct reasons *r)
{
	struct buf b = {0};
	p->need[at] = find_package(all, p->needs.list[at]);
	bool self = p->need[at] >= 0 && all->list[p->need[at]] == p;
	if (p->need[at] >= 0 && !self)
		return;
	put_str(&b, self ? "it depends on itself (" : "it depends on ");
	put_quoted(&b, p->needs.list[at]);
	put_str(&b, self ? ")" : ", which is no package here");
	p->need[at] = -1;
	add_reason(r, b, p->path, self ? "take it out of dependencies" : "correct the id, or write that package");
}

/* A package is in the wave after the last of those it needs. */
static inline bool place(const struct packages *all, struct package *p)
{
	int wave = 1;
	for (size_t i = 0; i < p->needs.n; i++) {
		int needed = p->need[i] < 0 ? 1 : all->list[p->need[i]]->wave;
		if (!needed)
			return false;
		wave = p->need[i] >= 0 && needed >= wave ? needed + 1 : wave;
	}
	p->wave = wave;
	return true;
}

/* Follows unplaced needs until one comes again: that is the ring. */
static inline void report_ring(const struct packages *all, struct package *p, struct reasons *r)
{
	struct package *seen[MAX_PACKAGES];
	struct buf b = {0};
	size_t n = 0, first;
	for (;;) {
		for (first = 0; first < n && seen[first] != p; first++)
			;
		if (first < n)
			break;
		seen[n++] = p;
		struct package *next = p;
		for (size_t i = 0; next == p && i < p->needs.n; i++)
			if (p->need[i] >= 0 && !all->list[p->need[i]]->wave)
				next = all->list[p->need[i]];
		p = next;
	}
	put_str(&b, "packages wait for each other: ");
	for (; first < n; first++) {
		put_text(&b, seen[first]->id);
		put_str(&b, " needs ");
	}
	put_text(&b, p->id);
	add_reason(r, b, p->path, "take one of these dependencies out");
}

/* Sets each package's wave; names a ring of dependencies where there is one. */
static inline void place_all(const struct packages *all, struct reasons *r)
{
	bool moved = true;
	while (moved) {
		moved = false;
		for (size_t i = 0; i < all->n; i++)
			moved = (!all->list[i]->wave && place(all, all->list[i])) || moved;
	}
	for (size_t i = 0; i < all->n; i++)
		if (!all->list[i]->wave) {
			report_ring(all, all->list[i], r);
			return;
		}
}

static inline void check_packages(const struct packages *all, struct reasons *r)
{
	check_ids(all, r);
	for (size_t i = 0; i < all->n; i++)
		for (size_t n = 0; n < all->list[i]->needs.n; n++)
			check_need(all, all->list[i], n, r);
	place_all(all, r);
}

#endif
