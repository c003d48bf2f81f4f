// The only program of the image: copies mallometer's files into a directory of the application. It is linked statically,
// so that the image needs nothing else.
//
//   mallometer-copy DIRECTORY    copies the library for this machine's processor and the agent, and makes a directory
//                                for the recording, to which every user may write
//   cp [-r] SOURCE... TARGET     copies files and directories, following links; the init container of the OpenTelemetry
//                                Operator calls the program in this way
//
// The program runs in an init container, whose failure keeps the application from starting. So the program always ends
// with 0 and reports failures on standard error: the application then starts without mallometer. Each file is written
// under another name and renamed, so that a file with the final name is complete.

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

// The directory of the files to copy. A test defines another one.
#ifndef FILES
#define FILES "/opt/mallometer"
#endif

static void complain(const char *what) {
  fprintf(stderr, "mallometer: %s: %s; the application starts without it\n", what, strerror(errno));
}

static bool joined(const char *directory, const char *name, char path[PATH_MAX]) {
  int length = snprintf(path, PATH_MAX, "%s/%s", directory, name);
  if (length < PATH_MAX) return true;
  errno = ENAMETOOLONG;
  complain(directory);
  return false;
}

static bool written(int from, int to) {
  static char buffer[1 << 16];
  ssize_t length;
  while ((length = read(from, buffer, sizeof buffer)) > 0) {
    for (ssize_t done = 0; done < length;) {
      ssize_t more = write(to, buffer + done, (size_t)(length - done));
      if (more < 0) return false;
      done += more;
    }
  }
  return length == 0;
}

static bool copy_file(const char *source, const char *target) {
  char beside[PATH_MAX];
  if (snprintf(beside, sizeof beside, "%s.part", target) >= (int)sizeof beside) {
    errno = ENAMETOOLONG;
    complain(target);
    return false;
  }
  int from = open(source, O_RDONLY | O_CLOEXEC);
  if (from < 0) {
    complain(source);
    return false;
  }
  unlink(beside);
  int to = open(beside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  bool copied = to >= 0 && written(from, to) && fchmod(to, 0644) == 0;
  close(from);
  if (to >= 0 && close(to) != 0) copied = false;
  copied = copied && rename(beside, target) == 0;
  if (!copied) {
    complain(target);
    unlink(beside);
  }
  return copied;
}

static bool copy(const char *source, const char *target);

static bool copy_directory(const char *source, const char *target) {
  if (mkdir(target, 0755) != 0 && errno != EEXIST) {
    complain(target);
    return false;
  }
  DIR *directory = opendir(source);
  if (directory == NULL) {
    complain(source);
    return false;
  }
  bool copied = true;
  for (struct dirent *entry; (entry = readdir(directory)) != NULL;) {
    char from[PATH_MAX];
    char to[PATH_MAX];
    if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
    copied = joined(source, entry->d_name, from) && joined(target, entry->d_name, to) && copy(from, to) && copied;
  }
  closedir(directory);
  return copied;
}

static bool copy(const char *source, const char *target) {
  struct stat status;
  if (stat(source, &status) != 0) {
    complain(source);
    return false;
  }
  return S_ISDIR(status.st_mode) ? copy_directory(source, target) : copy_file(source, target);
}

// Returns the last part of a path. If this part is "." or "", the path means the contents of a directory.
static const char *name_of(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash == NULL ? path : slash + 1;
}

static void as_cp(int count, char **paths) {
  const char *target = count > 1 ? paths[count - 1] : NULL;
  struct stat status;
  if (target == NULL) {
    fprintf(stderr, "mallometer: cp [-r] SOURCE... TARGET\n");
    return;
  }
  bool into = stat(target, &status) == 0 && S_ISDIR(status.st_mode);
  for (int i = 0; i + 1 < count; i++) {
    const char *name = name_of(paths[i]);
    char path[PATH_MAX];
    if (!into || *name == '\0' || strcmp(name, ".") == 0)
      copy(paths[i], target);
    else if (joined(target, name, path))
      copy(paths[i], path);
  }
}

static const char *platform(void) {
  struct utsname machine;
  if (uname(&machine) == 0) {
    if (strcmp(machine.machine, "x86_64") == 0) return "linux-x86-64";
    if (strcmp(machine.machine, "aarch64") == 0) return "linux-aarch64";
    fprintf(stderr, "mallometer: there is no library for %s; the application starts without it\n", machine.machine);
  }
  return NULL;
}

static void bring(const char *directory) {
  const char *here = platform();
  char from[PATH_MAX];
  char to[PATH_MAX];
  char library[PATH_MAX];
  if (here == NULL) return;
  if (!joined(here, "libmallometer.so", library)) return;
  bool copied = joined(FILES, library, from) && joined(directory, "libmallometer.so", to) && copy_file(from, to);
  // The agent is copied even if the library was not: the agent can attach a library of its own.
  copied = joined(FILES, "mallometer-agent.jar", from) && joined(directory, "mallometer-agent.jar", to) &&
           copy_file(from, to) && copied;
  // The recording's directory is open to every user; chmod is needed because the umask reduces mkdir's mode.
  if (!joined(directory, "record", to)) return;
  if ((mkdir(to, 0777) != 0 && errno != EEXIST) || chmod(to, 01777) != 0) complain(to);
  if (copied) fprintf(stderr, "mallometer: the library for %s and the agent are in %s\n", here, directory);
}

int main(int count, char **arguments) {
  const char *called = name_of(arguments[0]);
  char **paths = arguments + 1;
  int rest = count - 1;
  while (rest > 0 && paths[0][0] == '-') {
    paths++;
    rest--;
  }
  if (strcmp(called, "cp") == 0)
    as_cp(rest, paths);
  else if (rest == 1)
    bring(paths[0]);
  else
    fprintf(stderr, "mallometer: mallometer-copy DIRECTORY\n");
  return 0;
}
