/*
 * Preloaded into a gateway: counts its writes, fsyncs, renames and unlinks beneath one folder, and at the n-th
 * either fails it once, or kills the process before, in the middle of, or after it.
 *
 *   FAULT_UNDER  folder beneath which operations count
 *   FAULT_AT     which one, from 1; 0 only lists them
 *   FAULT_MODE   fail | before | in | after
 *   FAULT_LOG    file that gets a line per operation (FAULT_AT=0), or one for that which was struck
 *
 * Its variables are taken out of the environment, so that child processes run without it.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

static atomic_long counted;
static long at = -1;
static char under[PATH_MAX];
static char mode[16];
static int log_fd = -1;

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

__attribute__((constructor)) static void begin(void) {
  const char *folder = getenv("FAULT_UNDER"), *n = getenv("FAULT_AT");
  const char *how = getenv("FAULT_MODE"), *log = getenv("FAULT_LOG");
  if (folder && n && log) {
    snprintf(under, sizeof under, "%s/", folder);
    snprintf(mode, sizeof mode, "%s", how ? how : "fail");
    log_fd = open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    at = strtol(n, NULL, 10);
  }
  unsetenv("LD_PRELOAD");
  unsetenv("FAULT_UNDER");
  unsetenv("FAULT_AT");
  unsetenv("FAULT_MODE");
  unsetenv("FAULT_LOG");
}

static void tell(const char *operation, const char *path) {
  char line[PATH_MAX + 64];
  int length = snprintf(line, sizeof line, "%s %s\n", operation, path + strlen(under));
  ssize_t written = REAL(write)(log_fd, line, length < (int)sizeof line ? length : (int)sizeof line - 1);
  (void)written;
}

/* Whether this operation is the one; `path` is absolute. */
static int struck(const char *operation, const char *path) {
  if (at < 0 || strncmp(path, under, strlen(under)) != 0) return 0;
  long n = atomic_fetch_add(&counted, 1) + 1;
  if (at != 0 && n != at) return 0;
  tell(operation, path);
  return at != 0;
}

static int struck_fd(const char *operation, int fd) {
  char link[64], path[PATH_MAX];
  struct stat stats;
  if (at < 0 || fd < 3 || fstat(fd, &stats) != 0) return 0;
  if (!S_ISREG(stats.st_mode) && !S_ISDIR(stats.st_mode)) return 0;
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, sizeof path - 1);
  if (length < 0) return 0;
  path[length] = 0;
  return struck(operation, path);
}

static int is(const char *name) { return strcmp(mode, name) == 0; }
static void die(void) {
  kill(getpid(), SIGKILL);
  for (;;) pause();
}

/* `whole` is the operation, `half` what is done of it when it dies in the middle. */
#define STRIKE(hit, type, whole, half)                                                                              \
  if (!(hit)) return whole;                                                                                         \
  if (is("fail")) {                                                                                                 \
    errno = EIO;                                                                                                    \
    return -1;                                                                                                      \
  }                                                                                                                 \
  if (is("in")) {                                                                                                   \
    type halved = half;                                                                                             \
    (void)halved;                                                                                                   \
  }                                                                                                                 \
  if (is("after")) {                                                                                                \
    type done = whole;                                                                                              \
    (void)done;                                                                                                     \
  }                                                                                                                 \
  die();                                                                                                            \
  return -1;

ssize_t write(int fd, const void *bytes, size_t count) {
  STRIKE(struck_fd("write", fd), ssize_t, REAL(write)(fd, bytes, count), REAL(write)(fd, bytes, count / 2))
}
ssize_t pwrite(int fd, const void *bytes, size_t count, off_t offset) {
  STRIKE(struck_fd("write", fd), ssize_t, REAL(pwrite)(fd, bytes, count, offset),
         REAL(pwrite)(fd, bytes, count / 2, offset))
}
ssize_t pwrite64(int fd, const void *bytes, size_t count, off64_t offset) {
  STRIKE(struck_fd("write", fd), ssize_t, REAL(pwrite64)(fd, bytes, count, offset),
         REAL(pwrite64)(fd, bytes, count / 2, offset))
}
static ssize_t first_half(int fd, const struct iovec *parts) {
  return REAL(write)(fd, parts[0].iov_base, parts[0].iov_len / 2);
}
ssize_t writev(int fd, const struct iovec *parts, int count) {
  STRIKE(struck_fd("write", fd), ssize_t, REAL(writev)(fd, parts, count), first_half(fd, parts))
}
ssize_t pwritev(int fd, const struct iovec *parts, int count, off_t offset) {
  STRIKE(struck_fd("write", fd), ssize_t, REAL(pwritev)(fd, parts, count, offset),
         REAL(pwrite)(fd, parts[0].iov_base, parts[0].iov_len / 2, offset))
}
ssize_t pwritev64(int fd, const struct iovec *parts, int count, off64_t offset) {
  STRIKE(struck_fd("write", fd), ssize_t, REAL(pwritev64)(fd, parts, count, offset),
         REAL(pwrite64)(fd, parts[0].iov_base, parts[0].iov_len / 2, offset))
}
#undef fwrite_unlocked
/* LevelDB writes through stdio, and flushes each record itself. */
size_t fwrite_unlocked(const void *bytes, size_t size, size_t count, FILE *file) {
  size_t (*real)(const void *, size_t, size_t, FILE *) = REAL(fwrite_unlocked);
  if (!struck_fd("write", fileno(file))) return real(bytes, size, count, file);
  if (is("fail")) {
    errno = EIO;
    return 0;
  }
  if (is("in")) real(bytes, 1, size * count / 2, file);
  if (is("after")) real(bytes, size, count, file);
  if (!is("before")) fflush(file);
  die();
  return 0;
}
int fsync(int fd) { STRIKE(struck_fd("fsync", fd), int, REAL(fsync)(fd), 0) }
int fdatasync(int fd) { STRIKE(struck_fd("fsync", fd), int, REAL(fdatasync)(fd), 0) }
int rename(const char *from, const char *to) { STRIKE(struck("rename", to), int, REAL(rename)(from, to), 0) }
int unlink(const char *path) { STRIKE(struck("unlink", path), int, REAL(unlink)(path), 0) }
