/* probe.c tries what a guest must not be able to do, see README.md. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <wasi/api.h>

extern char **environ;

static char found[4096], second[4096];

static int read_file(const char *path)
{
	int fd = open(path, O_RDONLY);
	ssize_t n = fd < 0 ? -1 : read(fd, found, sizeof found - 1);
	if (n >= 0)
		found[n] = 0;
	return n < 0;
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static int list(const char *path)
{
	struct dirent **names;
	int n = scandir(path, &names, NULL, by_name);
	for (int i = 0; i < n; i++) {
		if (strcmp(names[i]->d_name, ".") == 0 || strcmp(names[i]->d_name, "..") == 0)
			continue;
		if (found[0])
			strcat(found, ",");
		strcat(found, names[i]->d_name);
	}
	return n < 0;
}

static int look(const char *path)
{
	struct stat st;
	int err = stat(path, &st);
	strcpy(found, S_ISDIR(st.st_mode) ? "folder" : "file");
	return err;
}

static int write_file(const char *path, int flags)
{
	int fd = open(path, flags, 0644);
	return fd < 0 || write(fd, "written", 7) != 7;
}

static int raw_open(const char *path)
{
	__wasi_fd_t fd;
	errno = __wasi_path_open(3, __WASI_LOOKUPFLAGS_SYMLINK_FOLLOW, path, 0, __WASI_RIGHTS_FD_READ, __WASI_RIGHTS_FD_READ, 0, &fd);
	return errno != 0;
}

static int talk(void)
{
	for (int fd = 0; fd < 32; fd++)
		if (accept(fd, NULL, NULL) >= 0)
			return 0;
	return 1;
}

static int try(const char *op, const char *path)
{
	snprintf(second, sizeof second, "%s-2", path);
	found[0] = 0;
	if (strcmp(op, "env") == 0) {
		int n = 0;
		while (environ && environ[n])
			n++;
		return sprintf(found, "%d", n) < 0;
	}
	if (strcmp(op, "clock") == 0)
		return sprintf(found, "%lld", (long long)time(NULL)) < 0;
	if (strcmp(op, "sock") == 0)
		return talk();
	switch (op[0]) {
	case 'r': return read_file(path);
	case 'l': return list(path);
	case 's': return look(path);
	case 'w': return write_file(path, O_WRONLY);
	case 'c': return write_file(path, O_WRONLY | O_CREAT | O_EXCL);
	case 't': return write_file(path, O_WRONLY | O_TRUNC);
	case 'm': return mkdir(path, 0755);
	case 'u': return unlink(path) && rmdir(path);
	case 'n': return rename(path, second);
	case 'k': return symlink(path, second);
	case 'h': return link(path, second);
	case 'o': return raw_open(path);
	}
	exit(2);
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc - 1; i++) {
		char op[16] = {0};
		const char *path = strchr(argv[i], ' ');
		memcpy(op, argv[i], (size_t)(path - argv[i]));
		if (try(op, path + 1)) {
			fprintf(stderr, "%s: %s\n", argv[i], strerror(errno));
			printf("%s: no\n", argv[i]);
		} else {
			printf("%s: yes%s%s\n", argv[i], found[0] ? " " : "", found);
		}
	}
	return 0;
}
