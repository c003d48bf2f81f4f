/* Tests the parsers of files in /proc and /sys/fs/cgroup. The test replaces the system calls that read these files,
 * and supplies files of both versions of cgroups: intact, damaged and truncated. */
#include <stdint.h>

#include "platform/system_calls.h"

static int fake_open(const char *path, int flags);
static ssize_t fake_read(int file, void *to, size_t capacity);
static int fake_close(int file);

#define call_open fake_open
#define call_read fake_read
#define call_close fake_close
#include "../src/platform/kernel.c"
#include "../src/platform/mappings.c"
#undef call_open
#undef call_read
#undef call_close

#include <stdlib.h>

#include "check.h"

void *memory_map(void *wish, size_t bytes) { return wish ? NULL : calloc(1, bytes); }

void memory_unmap(void *memory, size_t bytes) { free(bytes ? memory : NULL); }

#define FILES 12
#define LONGEST 70000

static struct {
  char path[200];
  char text[LONGEST];
  size_t length, position;
} files[FILES];
static int files_used;
static uint64_t random_state = 1;

static uint64_t random_below(uint64_t limit) {
  random_state = random_state * 6364136223846793005u + 1442695040888963407u;
  return (random_state >> 33) % limit;
}

static int fake_open(const char *path, int flags) {
  (void)flags;
  for (int i = 0; i < files_used; i++) {
    if (strcmp(files[i].path, path) == 0) {
      files[i].position = 0;
      return i;
    }
  }
  return -1;
}

/* Reads a random number of bytes, because read(2) may return fewer than requested. */
static ssize_t fake_read(int file, void *to, size_t capacity) {
  size_t left = files[file].length - files[file].position;
  size_t piece = left < capacity ? left : capacity;
  if (piece > 1) piece = 1 + random_below(piece);
  memcpy(to, files[file].text + files[file].position, piece);
  files[file].position += piece;
  return (ssize_t)piece;
}

static int fake_close(int file) {
  (void)file;
  return 0;
}

static void file(const char *path, const char *text) {
  snprintf(files[files_used].path, sizeof files[0].path, "%s", path);
  snprintf(files[files_used].text, sizeof files[0].text, "%s", text);
  files[files_used].length = strlen(files[files_used].text);
  files_used++;
}

static struct memory_reading read_memory(void) {
  struct memory_cgroup cgroup;
  struct memory_reading reading;
  memory_cgroup_find(&cgroup);
  memory_read(&cgroup, &reading);
  memory_read_rest(&cgroup, &reading);
  return reading;
}

static void version_1(void) {
  files_used = 0;
  file("/proc/self/statm", "4822 1200 800 5 0 300 0\n");
  file("/proc/self/cgroup", "9:name=systemd:/\n4:cpu,memory:/box/abc\n1:cpu:/\n0::/\n");
  file("/proc/self/mountinfo",
       "22 28 0:21 / /sys rw,nosuid - sysfs sysfs rw\n"
       "31 30 0:27 / /sys/fs/cgroup/unified rw shared:5 - cgroup2 cgroup2 rw\n"
       "36 30 0:32 / /sys/fs/cgroup/memory rw,relatime shared:16 - cgroup cgroup rw,memory\n");
  file("/sys/fs/cgroup/memory/box/abc/memory.usage_in_bytes", "1000000\n");
  file("/sys/fs/cgroup/memory/box/abc/memory.limit_in_bytes", "9223372036854771712\n");
  file("/sys/fs/cgroup/memory/box/abc/memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 3\n");
  file("/sys/fs/cgroup/memory/box/abc/memory.stat",
       "cache 5\nshmem 1\ninactive_file 6\nhierarchical_memory_limit 2000000\ntotal_cache 30\ntotal_shmem 10\n"
       "total_inactive_file 8\n");
}

static void version_2(void) {
  files_used = 0;
  file("/proc/self/statm", "4822 1200 800 5 0 300 0\n");
  file("/proc/self/cgroup", "0::/kubepods/pod1/app\n");
  file("/proc/self/mountinfo", "30 23 0:26 / /sys/fs/cgroup ro,nosuid - cgroup2 cgroup rw,nsdelegate\n");
  file("/sys/fs/cgroup/kubepods/pod1/app/memory.current", "1000000\n");
  file("/sys/fs/cgroup/kubepods/pod1/app/memory.max", "max\n");
  file("/sys/fs/cgroup/kubepods/pod1/memory.max", "2000000\n");
  file("/sys/fs/cgroup/kubepods/memory.max", "3000000\n");
  file("/sys/fs/cgroup/kubepods/pod1/app/memory.events", "low 0\nhigh 0\nmax 9\noom 4\noom_kill 3\noom_group_kill 1\n");
  file("/sys/fs/cgroup/kubepods/pod1/app/memory.stat",
       "anon 5\nfile 30\nkernel 2\nshmem 10\nfile_mapped 9\ninactive_anon 7\ninactive_file 8\n");
}

static void check_known(void) {
  struct memory_reading reading = read_memory();
  CHECK_EQUAL(reading.resident_bytes, 1200 * getpagesize());
  CHECK_EQUAL(reading.charged_bytes, 1000000);
  CHECK_EQUAL(reading.limit_bytes, 2000000);
  CHECK_EQUAL(reading.file_bytes, 20);
  CHECK_EQUAL(reading.oom_kills, 3);
}

static void without_shared_memory(void) {
  version_2();
  files_used--;
  file("/sys/fs/cgroup/kubepods/pod1/app/memory.stat", "anon 5\nfile 30\ninactive_file 8\n");
  CHECK_EQUAL(read_memory().file_bytes, 8);
}

/* Tests a container without a cgroup namespace. /proc/self/cgroup has the cgroup's path on the host, but the
 * container mounts only a part of the hierarchy. */
static void without_a_namespace(void) {
  version_2();
  snprintf(files[2].text, LONGEST,
           "30 23 0:26 /kubepods/pod1/app /sys/fs/cgroup/kubepods/pod1/app ro - cgroup2 cgroup rw\n");
  files[2].length = strlen(files[2].text);
  struct memory_reading reading = read_memory();
  CHECK_EQUAL(reading.charged_bytes, 1000000);
  CHECK(reading.limit_bytes == UNKNOWN);
}

/* The list of mounts has lines of 9,000 bytes, longer than the parser's buffer, before the cgroup's line. */
static void among_long_lines(void) {
  version_1();
  char line[200];
  snprintf(line, sizeof line, "%.150s",
           "36 30 0:32 / /sys/fs/cgroup/memory rw,relatime shared:16 - cgroup cgroup rw,memory\n");
  size_t at = 0;
  for (int i = 0; i < 5; i++) {
    at += (size_t)snprintf(files[2].text + at, LONGEST - at, "%d 1 0:1 / /layer rw - overlay overlay rw,lowerdir=", i);
    memset(files[2].text + at, 'x', 9000);
    at += 9000;
    files[2].text[at++] = '\n';
  }
  at += (size_t)snprintf(files[2].text + at, LONGEST - at, "%s", line);
  files[2].length = at;
  check_known();
}

static void nothing_there(void) {
  files_used = 0;
  struct memory_reading reading = read_memory();
  CHECK(reading.resident_bytes == UNKNOWN && reading.charged_bytes == UNKNOWN && reading.limit_bytes == UNKNOWN);
}

static void of_the_process(void) {
  char id[40];
  files_used = 0;
  file("/proc/self/statm", "4822 1200 800 5 0 300 0\n");
  file("/proc/self/stat",
       "7 (a) (b 9) c) S 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 987654 23 24 25 26 27 "
       "28 29 30 31 32 33 34 35 36 37 38 39 40 41 42 43 44 45 46 94267801255936 48\n");
  file("/proc/self/status", "Name:\ta\nTgid:\t7\nTracerPid:\t0\nUid:\t0\n");
  file("/proc/sys/kernel/random/boot_id", "5b1f1cf0-6f42-4d0e-8d1f-0123456789ab\n");
  struct process_memory memory = process_memory();
  CHECK_EQUAL(memory.addresses, 4822 * getpagesize());
  CHECK_EQUAL(memory.resident, 1200 * getpagesize());
  CHECK_EQUAL(memory.data, 300 * getpagesize());
  CHECK_EQUAL(process_start_ticks(), 987654);
  CHECK_EQUAL(process_heap_begin(), 94267801255936);
  CHECK(!process_is_traced());
  machine_run_id(id, sizeof id);
  CHECK(strcmp(id, "5b1f1cf0-6f42-4d0e-8d1f-0123456789ab") == 0);
  files[2].text[strlen("Name:\ta\nTgid:\t7\nTracerPid:\t")] = '8';
  CHECK(process_is_traced());
  files_used = 0;
  CHECK_EQUAL(process_start_ticks(), 0);
  CHECK_EQUAL(process_heap_begin(), 0);
  CHECK(process_is_traced());
  CHECK(process_memory().data == UNKNOWN);
  machine_run_id(id, sizeof id);
  CHECK_EQUAL(id[0], 0);
}

/* The file has a line with 6,000 groups, which is longer than the parser's buffer, before the line with the swapped
 * bytes. */
static void swapped(void) {
  files_used = 0;
  CHECK(process_swapped_bytes() == UNKNOWN);
  file("/proc/self/status", "Name:\ta\nGroups:\t");
  for (int i = 0; i < 6000; i++) {
    files[0].length += (size_t)snprintf(files[0].text + files[0].length, 20, "%d ", 10000 + i);
  }
  CHECK(process_swapped_bytes() == UNKNOWN);
  files[0].length += (size_t)snprintf(files[0].text + files[0].length, 40, "\nVmSwap:\t      12 kB\nThreads:\t1\n");
  CHECK_EQUAL(process_swapped_bytes(), 12 << 10);
  files[0].length -= strlen("2 kB\nThreads:\t1\n");
  CHECK(process_swapped_bytes() == UNKNOWN);
}

static struct mapping mapping_of(const struct mappings *mappings, size_t number) {
  for (size_t i = 0; i < mappings->count; i++) {
    if (mappings->rows[i].begin <= number << 12 && number << 12 < mappings->rows[i].end) return mappings->rows[i];
  }
  CHECK(false);
  return (struct mapping){0};
}

static void mapped(void) {
  static const struct {
    const char *text;
    bool is_anonymous, is_device;
  } kinds[] = {{"rw-p 00000000 00:00 0 ", true, false},
               {"rw-p 00000000 00:00 0                   [heap]", true, false},
               {"rw-p 00003000 08:01 77                  /usr/lib/libc.so.6", false, false},
               {"rw-s 00000000 00:05 9                   /memfd:heap (deleted)", false, false},
               {"rw-s 00000000 00:17 9                   /dev/shm/pool", false, false},
               {"rw-s 00000000 00:05 9                   /dev/dri/card0", false, true},
               {"rw-s 00000000 00:05 9                   anon_inode:[perf_event]", false, true},
               {"rw-s 00000000 00:0d 9                   /dmabuf:", false, true},
               {"rw-s 00000000 00:15 9                   /sys/devices/pci0000:00/0000:00:03.0/resource0", false, true},
               {"rw-p 00000000 08:01 77                  /system/data", false, false}};
  enum { KINDS = sizeof kinds / sizeof *kinds };
  struct mappings mappings;
  char lines[KINDS * 120];
  size_t length = 0;
  for (size_t i = 0; i < KINDS; i++) {
    length +=
        (size_t)snprintf(lines + length, sizeof lines - length, "%zx000-%zx000 %s\n", i + 16, i + 17, kinds[i].text);
  }
  files_used = 0;
  file("/proc/self/maps", lines);
  CHECK(mappings_read(&mappings));
  for (size_t i = 0; i < KINDS; i++) {
    struct mapping row = mapping_of(&mappings, i + 16);
    CHECK(mapping_is_readable(&row) && mapping_is_writable(&row));
    CHECK_EQUAL(row.is_anonymous, kinds[i].is_anonymous);
    CHECK_EQUAL(row.is_device, kinds[i].is_device);
    CHECK_EQUAL(row.is_shared, kinds[i].text[3] == 's');
  }
  mappings_forget(&mappings);
}

static void garbled(void) {
  static const char interesting[] = " \n:-/,0a";
  for (int round = 0; round < 20000; round++) {
    if (round % 2) version_1();
    if (round % 2 == 0) version_2();
    for (int i = 0; i < files_used; i++) {
      for (uint64_t change = random_below(4); change > 0 && files[i].length; change--) {
        size_t at = random_below(files[i].length);
        files[i].text[at] =
            random_below(2) ? (char)random_below(256) : interesting[random_below(sizeof interesting - 1)];
      }
      if (random_below(3) == 0) files[i].length = random_below(files[i].length + 1);
    }
    read_memory();
  }
}

int main(void) {
  version_1();
  check_known();
  version_2();
  check_known();
  without_shared_memory();
  without_a_namespace();
  among_long_lines();
  nothing_there();
  of_the_process();
  swapped();
  mapped();
  garbled();
  return 0;
}
