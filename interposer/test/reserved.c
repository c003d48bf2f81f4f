/*
 * Checks that the library forbids transparent huge pages in its large mappings. Otherwise the first access to a
 * mapping could zero 2 MiB inside of malloc, and almost all of the mapping would become resident. The program itself
 * has no mapping of 2 MiB or more.
 */
#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "check.h"

#define LARGE ((uint64_t)2 << 20)

struct mapping {
  uint64_t bytes;
  char name[512];
  bool without_huge_pages;
};

static char line[1024];

static bool is_reserved(const struct mapping *mapping, const char *recording) {
  return mapping->bytes >= LARGE && (mapping->name[0] == '\0' || strcmp(mapping->name, recording) == 0);
}

/*
 * Parses /proc/self/smaps, in which a mapping begins with a line of its addresses and ends with a line of its flags.
 * Returns the number of large mappings that are anonymous or of the recording. Fails if one of them may use huge
 * pages.
 */
static unsigned all_without_huge_pages(const char *recording) {
  struct mapping mapping = {0};
  unsigned found = 0;
  FILE *file = fopen("/proc/self/smaps", "r");
  CHECK(file);
  while (fgets(line, sizeof line, file)) {
    uint64_t begin, end;
    if (sscanf(line, "%" SCNx64 "-%" SCNx64 " ", &begin, &end) == 2) {
      mapping = (struct mapping){.bytes = end - begin};
      sscanf(line, "%*s %*s %*s %*s %*s %511[^\n]", mapping.name);
    }
    if (strncmp(line, "VmFlags:", 8) != 0 || !is_reserved(&mapping, recording)) continue;
    printf("%6" PRIu64 " KiB %s %s", mapping.bytes >> 10, mapping.name, line);
    found++;
    CHECK(strstr(line, " nh"));
  }
  fclose(file);
  return found;
}

static void observe(void) {
  struct mallometer_observation observation = {0};
  CHECK_EQUAL(mallometer_leaks_start(), 0);
  do {
    nanosleep(&(struct timespec){0, 1000000}, NULL);
    CHECK_EQUAL(mallometer_leaks(&observation), 0);
  } while (observation.state == MALLOMETER_LEAKS_STARTING);
  CHECK_EQUAL(observation.state, MALLOMETER_LEAKS_ON);
}

int main(void) {
  if (access("/sys/kernel/mm/transparent_hugepage/enabled", R_OK) != 0) return 77;
  char directory[] = "/tmp/mallometer-XXXXXX", recording[64];
  setbuf(stdout, NULL);
  CHECK(mkdtemp(directory));
  snprintf(recording, sizeof recording, "%s/recording", directory);
  CHECK(mallometer_sites(&(struct mallometer_site){0}, 1, 0) >= 0);
  CHECK_EQUAL(mallometer_record(recording), 0);
  unlink(recording);
  rmdir(directory);
  strcat(recording, " (deleted)");
  observe();
  unsigned found = all_without_huge_pages(recording);
  CHECK(found >= 4); /* the library makes at least four large mappings: three tables and the recording */
  return 0;
}
