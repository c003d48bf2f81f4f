/*
 * The layout of the recording's file. Java's reader is generated from this header (GenerateAbi.java).
 * docs/reference/recording.md is the reference.
 *
 * A header, written once, lists regions: rings of slots of one size. Each slot holds one record, which begins with a
 * checksum, its length and a sequence number. A record that a kill cut off has a wrong checksum and is skipped. The
 * file is never flushed, because the kernel keeps its pages when the process ends.
 *
 * Every change of the layout gets another RECORDING_FORMAT, and readers refuse any other format. Numbers are
 * little-endian. Samples never cross a page.
 */
#ifndef MALLOMETER_CONTROL_RECORDING_FORMAT_H
#define MALLOMETER_CONTROL_RECORDING_FORMAT_H

#include <stddef.h>
#include <stdint.h>

#define RECORDING_MAGIC "mallometer-rec\n"
#define RECORDING_FORMAT 3u
#define RECORDING_FILE_BYTES 2097152ul
#define RECORDING_PAGE 4096u

enum recording_region_kind {
  /* Samples of the counters, one ring for each interval. */
  RECORDING_SAMPLES = 1,
  /* The end of the process, written by the library. */
  RECORDING_EXIT = 2,
  /* Texts from Java: SHUTDOWN, written when the shutdown begins; JVM, facts about the JVM, written once; MINUTES,
   * written every minute; and EXCEEDED, written when a share of the memory limit is exceeded. */
  RECORDING_SHUTDOWN = 3,
  RECORDING_JVM = 4,
  RECORDING_MINUTES = 5,
  RECORDING_EXCEEDED = 6,
  /* The call sites at the peak, in slots 0 and 1 in turn. Slots 2 to 4 have the call sites at the last times when
   * 85, 90 and 95 % of the memory limit were exceeded. A record's slot follows from its sequence number, so the
   * writer skips numbers to reach a slot. */
  RECORDING_PROFILES = 7,
  /* The call sites of fast rises of memory (struct recording_burst). The region has two slots, for the latest two
   * records. */
  RECORDING_BURST = 8,
  /*
   * The names of the Java methods in the stacks of RECORDING_BURST. The region has two slots, which new records
   * overwrite in turn. A line describes one frame. Its fields, separated by tabs, are the frame in hexadecimal digits,
   * the class as in class files, the method, its source file, and the line number.
   */
  RECORDING_NAMES = 9
};

struct recording_region {
  /* enum recording_region_kind */
  uint32_t kind;
  uint32_t slot_bytes;
  uint64_t offset;
  uint32_t slots;
  uint32_t reserved;
  /* Time between two records; 0 if it is not fixed. */
  uint64_t interval_ns;
};

#define RECORDING_REGIONS 12
#define RECORDING_DOCUMENT_BYTES 16384u
#define RECORDING_PROFILE_BYTES 69632u
#define RECORDING_BURST_SLOT_BYTES 4096u
#define RECORDING_NAMES_SLOT_BYTES 12288u

struct recording_header {
  char magic[16];
  uint32_t format;
  uint32_t header_bytes;
  uint64_t file_bytes;
  /* A random number for this run of the process. */
  uint64_t life;
  /* Start of the recording, in nanoseconds since 1970. */
  uint64_t started_realtime_ns;
  uint64_t started_monotonic_ns;
  uint32_t pid;
  uint32_t unused;
  /* The start of the process, in clock ticks since the start of the machine (/proc/self/stat, field 22). */
  uint64_t process_start_ticks;
  /* enum mallometer_byte_unit; 0 if unknown */
  uint32_t byte_unit;
  uint32_t regions_used;
  /* Inode of the memory cgroup's directory; 0 if unknown. */
  uint64_t cgroup_inode;
  /* NUL-terminated texts. */
  char boot_id[40];
  char build[32];
  char allocator[64];
  char executable[64];
  char cgroup[256];
  struct recording_region regions[RECORDING_REGIONS];
  uint32_t reserved;
  /* CRC-32 (ISO 3309) of all bytes before it. */
  uint32_t checksum;
};

/* Kinds of records. Java writes SHUTDOWN, TEXT and PROFILE. The flags of a profile are the exceeded percentage of
 * the memory limit, or 0 for a profile at the peak. */
enum recording_record_kind {
  RECORDING_RECORD_SAMPLE = 1,
  RECORDING_RECORD_EXIT = 2,
  RECORDING_RECORD_SHUTDOWN = 3,
  RECORDING_RECORD_TEXT = 4,
  RECORDING_RECORD_PROFILE = 5,
  RECORDING_RECORD_BURST = 6,
  RECORDING_RECORD_NAMES = 7
};

/* Is recorded if the exit status is unknown, because the C library (musl) does not pass it to functions at exit. */
#define RECORDING_STATUS_NOT_TOLD 0x80000000u
/* Bits of recording_sample.flags in a sample. RECORDING_RECORD_EXIT has the exit status in this field instead. */
enum recording_sample_flags {
  /* Counting was off for some time, or began with an attach. The allocated minus the freed bytes are then not the
   * live bytes. The bytes from before an attach are in the records that Java writes (such as RECORDING_MINUTES). */
  RECORDING_INCOMPLETE = 1u
};

#define RECORDING_UNKNOWN UINT64_MAX

struct recording_sample {
  /* CRC-32 of the bytes after it, up to `length`. */
  uint32_t checksum;
  /* The bytes of the whole record, from the checksum on. */
  uint32_t length;
  /* The number of the record in its ring, from 1; 0 for an empty slot. */
  uint64_t sequence;
  uint64_t realtime_ns;
  uint64_t monotonic_ns;
  /* enum recording_record_kind */
  uint32_t kind;
  uint32_t flags;
  /* Totals of the process since counting began, at the start of the process or by an attach. */
  uint64_t allocations;
  uint64_t frees;
  uint64_t requested_bytes;
  uint64_t allocated_bytes;
  uint64_t freed_bytes;
  uint32_t failed;
  uint32_t threads;
  /* The following amounts are RECORDING_UNKNOWN if the system does not report them. */
  uint64_t resident_bytes;
  uint64_t charged_bytes;
  uint64_t limit_bytes;
  /* Cached pages of files, without shared memory. */
  uint64_t file_bytes;
  uint64_t oom_kills;
};
_Static_assert(sizeof(struct recording_sample) == 128, "a page holds a whole number of samples");
/* Bytes of the frame: the fields with which each record begins, up to `flags`. */
#define RECORDING_FRAME_BYTES 40u
_Static_assert(offsetof(struct recording_sample, allocations) == RECORDING_FRAME_BYTES,
               "the frame ends with the flags");

#define RECORDING_MOST_SITES 16
#define RECORDING_MOST_FRAMES 20
#define RECORDING_THREAD_NAME_BYTES 16

/* A call site whose live bytes grew in a fast rise of memory. */
struct recording_grown {
  /* Estimated growth of the site's live bytes since the rise began. */
  uint64_t live_bytes;
  /* The number of the site, as in mallometer_site. */
  uint32_t site;
  /* The kernel's ID of the thread that allocated most at the site, by its latest samples; 0 if unknown. */
  uint32_t thread;
  /* The name of the thread, NUL-terminated; empty if unknown. */
  char thread_name[RECORDING_THREAD_NAME_BYTES];
  uint32_t frames;
  uint32_t reserved;
  /* The frames from the innermost Java frame outwards or, if there is no Java frame, from the innermost frame
   * outwards. */
  uint64_t stack[RECORDING_MOST_FRAMES];
};

/* The description of a fast rise of memory. In the file it follows the first RECORDING_FRAME_BYTES bytes of its
 * record. */
struct recording_burst {
  uint64_t begin_monotonic_ns;
  /* The bytes that the kernel charges to the cgroup: `begin_bytes` before the rise, `charged_bytes` when this
   * description was made. Without a memory limit, both are the anonymous memory of the process. */
  uint64_t begin_bytes;
  uint64_t charged_bytes;
  /* RECORDING_UNKNOWN without a limit. */
  uint64_t limit_bytes;
  /* The number of call sites in `grown`, which is sorted by descending growth; 0 if the memory was freed again. */
  uint32_t sites;
  uint32_t reserved;
  struct recording_grown grown[RECORDING_MOST_SITES];
};
_Static_assert(RECORDING_FRAME_BYTES + sizeof(struct recording_burst) <= RECORDING_BURST_SLOT_BYTES,
               "a slot holds a rise");

/* Returns the CRC-32 of zlib and java.util.zip.CRC32. `before` is the CRC-32 of the preceding bytes, or 0. */
static inline uint32_t recording_checksum(uint32_t before, const void *bytes, size_t length) {
  static const uint32_t of_nibble[16] = {0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac, 0x76dc4190, 0x6b6b51f4,
                                         0x4db26158, 0x5005713c, 0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c,
                                         0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c};
  const unsigned char *at = bytes;
  uint32_t crc = ~before;
  for (size_t i = 0; i < length; i++) {
    crc ^= at[i];
    crc = (crc >> 4) ^ of_nibble[crc & 15];
    crc = (crc >> 4) ^ of_nibble[crc & 15];
  }
  return ~crc;
}

#endif
