package io.mallometer.internal.history;

import io.mallometer.model.CallSites;
import io.mallometer.model.KeptMoment;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The recording of one run of a process.
 *
 * <p>The file may contain anything: a record is used only if its checksum is right, and each number
 * of the header is checked before it is used as an offset or a size.
 *
 * @param samples the samples, oldest first, denser towards the end; empty only if none was written
 * @param end the end of the run, as far as it was recorded
 * @param jvm what Java wrote about the JVM; empty if Java wrote nothing
 * @param profiles the gzipped call sites at the recorded {@link KeptMoment}s, such as the peak
 * @param rise the latest fast rise of memory; empty if there was none
 */
record RecordedLife(
    Header header,
    List<Sample> samples,
    End end,
    Optional<MemoryText> jvm,
    Parts parts,
    Map<KeptMoment, byte[]> profiles,
    Optional<FastRise> rise,
    Damage damage) {

  private static final int LARGEST_FILE = 64 << 20;
  private static final Path SELF = Path.of("/proc/self");

  /**
   * The recorded process.
   *
   * @param life a number that no other run has
   * @param started when recording began, which may be after the process started
   * @param startedMonotonicNanos when recording began, by the monotonic clock
   * @param bootId the kernel's id of the machine's boot
   */
  record Header(
      long life,
      Instant started,
      long startedMonotonicNanos,
      long pid,
      String bootId,
      RecordedLibrary library,
      String executable,
      RecordedCgroup cgroup) {}

  /**
   * The library in the recorded process.
   *
   * @param build mallometer's version
   * @param allocator the allocator that served the process
   */
  record RecordedLibrary(String build, String allocator) {}

  /**
   * The memory cgroup of the recorded process.
   *
   * @param directory its directory; empty if unknown
   * @param inode the directory's inode; 0 if unknown
   */
  record RecordedCgroup(String directory, long inode) {}

  /**
   * Describes how a run ended.
   *
   * @param exit the memory and counters at the exit; empty if no exit was recorded
   * @param exitCode valid only if an exit was recorded
   * @param shutdown when Java began to shut down; empty if it did not
   */
  record End(Optional<Sample> exit, int exitCode, Optional<Instant> shutdown) {}

  /**
   * The parts of the memory in the course of a run.
   *
   * @param minutes a text for each minute, oldest first
   * @param exceeded a text for each time that memory exceeded a threshold of the limit
   */
  record Parts(List<RecordedText> minutes, List<RecordedText> exceeded) {

    private Stream<RecordedText> all() {
      return Stream.concat(minutes.stream(), exceeded.stream());
    }

    Optional<RecordedText> latest() {
      return all().max(Comparator.comparingLong(RecordedText::monotonicNanos));
    }

    private Optional<RecordedText> nearest(long monotonicNanos) {
      return all()
          .min(Comparator.comparingLong(text -> Math.abs(text.monotonicNanos() - monotonicNanos)));
    }
  }

  /**
   * The damage of a file.
   *
   * @param tornRecords records that were left out because their checksums are wrong
   * @param truncated whether the file is shorter than its header says
   */
  record Damage(int tornRecords, boolean truncated) {}

  /**
   * Returns whether the path is a recording that this user owns; false if there is no file.
   *
   * @throws IOException if the path is a link, another user's file, or no recording
   */
  static boolean isOwn(Path path) throws IOException {
    if (!Files.exists(path, LinkOption.NOFOLLOW_LINKS)) {
      return false;
    }
    if (Files.isSymbolicLink(path)) {
      throw new IOException(path + " is a symbolic link");
    }
    if (!Files.isRegularFile(path, LinkOption.NOFOLLOW_LINKS)) {
      throw new IOException(path + " is not a regular file");
    }
    if (!Files.getAttribute(path, "unix:uid", LinkOption.NOFOLLOW_LINKS)
        .equals(Files.getAttribute(SELF, "unix:uid"))) {
      throw new IOException(path + " belongs to another user");
    }
    if (!Arrays.equals(beginning(path), RecordingBytes.MAGIC)) {
      throw new IOException(path + " is not a recording and is left unchanged");
    }
    return true;
  }

  private static byte[] beginning(Path path) throws IOException {
    try (InputStream file = new FileInputStream(path.toFile())) {
      return file.readNBytes(RecordingBytes.MAGIC.length);
    }
  }

  static RecordedLife read(Path file) throws IOException {
    try (InputStream in = new FileInputStream(file.toFile())) {
      return parse(in.readNBytes(LARGEST_FILE));
    } catch (UnreadableRecordingException e) {
      throw new UnreadableRecordingException(file + ": " + e.getMessage());
    }
  }

  static RecordedLife parse(byte[] bytes) throws UnreadableRecordingException {
    ByteBuffer file = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    checkHeader(file);
    return new Parser(file).life();
  }

  private static void checkHeader(ByteBuffer file) throws UnreadableRecordingException {
    if (file.capacity() == 0) {
      throw new UnreadableRecordingException("the file is empty");
    }
    if (!RecordingBytes.hasMagic(file)) {
      throw new UnreadableRecordingException("not a recording of mallometer");
    }
    if (file.capacity() < RecordingFormat.HEADER_BYTES) {
      throw new UnreadableRecordingException("the header is torn");
    }
    int format = file.getInt(RecordingFormat.HEADER_FORMAT);
    if (format != RecordingFormat.FORMAT) {
      throw new UnreadableRecordingException(
          "written in format "
              + Integer.toUnsignedString(format)
              + " by another version of mallometer; this version reads format "
              + RecordingFormat.FORMAT);
    }
    if (file.getInt(RecordingFormat.HEADER_HEADER_BYTES) != RecordingFormat.HEADER_BYTES
        || RecordingBytes.checksum(file, 0, RecordingFormat.HEADER_CHECKSUM)
            != file.getInt(RecordingFormat.HEADER_CHECKSUM)) {
      throw new UnreadableRecordingException("the header is torn");
    }
  }

  Sample last() {
    return end.exit().orElseGet(() -> samples.get(samples.size() - 1));
  }

  boolean empty() {
    return samples.isEmpty() && end.exit().isEmpty();
  }

  /**
   * Returns the call sites of a kind of moment, such as the peak.
   *
   * @throws UnreadableRecordingException if the recording has none; the message names the moments
   *     with call sites
   */
  CallSites profile(KeptMoment moment) throws IOException {
    byte[] profile = profiles.get(moment);
    if (profile == null) {
      throw new UnreadableRecordingException(
          "the recording has no call sites %s%s"
              .formatted(
                  moment.sentence(),
                  profiles.isEmpty()
                      ? ""
                      : "; it has those "
                          + profiles.keySet().stream()
                              .map(KeptMoment::sentence)
                              .collect(Collectors.joining(", "))));
    }
    return ProfileText.read(profile);
  }

  Duration duration() {
    return empty()
        ? Duration.ZERO
        : Duration.ofNanos(Math.max(0, last().monotonicNanos() - header.startedMonotonicNanos()));
  }

  private static final class Parser {
    private static final int BURST_RECORD_BYTES =
        RecordingFormat.FRAME_BYTES + RecordingFormat.BURST_BYTES;

    private final ByteBuffer file;
    private final TreeMap<Long, Sample> samples = new TreeMap<>();
    private Optional<ByteBuffer> exit = Optional.empty();
    private Optional<ByteBuffer> shutdown = Optional.empty();
    private Optional<MemoryText> jvm = Optional.empty();
    private Parts parts = new Parts(List.of(), List.of());
    private final Map<KeptMoment, byte[]> profiles = new EnumMap<>(KeptMoment.class);
    private Optional<ByteBuffer> burst = Optional.empty();
    private String names = "";
    private int torn;

    Parser(ByteBuffer file) {
      this.file = file;
    }

    RecordedLife life() {
      RecordingRegion.all(file).forEach(this::region);
      return new RecordedLife(
          header(),
          samples.values().stream().map(this::complete).toList(),
          new End(
              exit.map(record -> complete(Sample.read(record, exitIsIncomplete()))),
              exit.map(record -> record.getInt(RecordingFormat.SAMPLE_FLAGS)).orElse(0),
              shutdown.map(
                  record -> Sample.instant(record.getLong(RecordingFormat.SAMPLE_REALTIME_NS)))),
          jvm,
          parts,
          profiles,
          burst.map(record -> FastRise.read(record, FastRise.names(names))),
          new Damage(torn, file.capacity() < file.getLong(RecordingFormat.HEADER_FILE_BYTES)));
    }

    /**
     * Returns whether the live bytes of the last sample are unknown. Those of the exit record are
     * then unknown, too. The exit record has no flag for this, because its flags contain the exit
     * status.
     */
    private boolean exitIsIncomplete() {
      return !samples.isEmpty()
          && Double.isNaN(samples.lastEntry().getValue().malloc().liveBytes());
    }

    /**
     * Completes a sample that lacks the number of bytes that were live before an attach. Java
     * regularly records a text that states the number. The text nearest in time is used.
     */
    private Sample complete(Sample sample) {
      if (!Double.isNaN(sample.malloc().liveBytes())) {
        return sample;
      }
      OptionalLong before =
          parts
              .nearest(sample.monotonicNanos())
              .map(text -> text.text().number(MemoryText.BEFORE))
              .orElse(OptionalLong.empty());
      return before.isPresent() ? sample.withBefore(before.getAsLong()) : sample;
    }

    private void region(RecordingRegion region) {
      switch (region.kind()) {
        case RecordingFormat.SAMPLES ->
            records(region, RecordingFormat.SAMPLE_BYTES).forEach(this::sample);
        case RecordingFormat.EXIT ->
            exit = records(region, RecordingFormat.SAMPLE_BYTES).stream().findFirst();
        case RecordingFormat.SHUTDOWN ->
            shutdown = records(region, RecordingFormat.FRAME_BYTES).stream().findFirst();
        case RecordingFormat.JVM ->
            jvm = texts(region).stream().map(RecordedText::text).findFirst();
        case RecordingFormat.MINUTES -> parts = new Parts(texts(region), parts.exceeded());
        case RecordingFormat.EXCEEDED -> parts = new Parts(parts.minutes(), texts(region));
        case RecordingFormat.PROFILES ->
            records(region, RecordingFormat.FRAME_BYTES).forEach(this::profile);
        case RecordingFormat.BURST -> burst = latest(region, BURST_RECORD_BYTES);
        case RecordingFormat.NAMES ->
            names =
                latest(region, RecordingFormat.FRAME_BYTES)
                    .map(record -> content(record))
                    .orElse("");
        default -> {
          // A later version may have more kinds of regions.
        }
      }
    }

    private void sample(ByteBuffer record) {
      Sample sample = Sample.read(record);
      samples.put(sample.monotonicNanos(), sample);
    }

    private void profile(ByteBuffer record) {
      int percent = record.getInt(RecordingFormat.SAMPLE_FLAGS);
      int begin = record.arrayOffset() + RecordingFormat.FRAME_BYTES;
      int end = record.arrayOffset() + record.getInt(RecordingFormat.SAMPLE_LENGTH);
      Optional<KeptMoment> moment =
          percent == 0 ? Optional.of(KeptMoment.PEAK) : KeptMoment.ofPercent(percent);
      moment.ifPresent(
          known -> profiles.put(known, Arrays.copyOfRange(record.array(), begin, end)));
    }

    private List<RecordedText> texts(RecordingRegion region) {
      return records(region, RecordingFormat.FRAME_BYTES).stream().map(Parser::text).toList();
    }

    private static RecordedText text(ByteBuffer record) {
      return new RecordedText(
          Sample.instant(record.getLong(RecordingFormat.SAMPLE_REALTIME_NS)),
          record.getLong(RecordingFormat.SAMPLE_MONOTONIC_NS),
          MemoryText.parse(content(record)));
    }

    private static String content(ByteBuffer record) {
      return new String(
          record.array(),
          record.arrayOffset() + RecordingFormat.FRAME_BYTES,
          record.getInt(RecordingFormat.SAMPLE_LENGTH) - RecordingFormat.FRAME_BYTES,
          StandardCharsets.UTF_8);
    }

    private Optional<ByteBuffer> latest(RecordingRegion region, int shortest) {
      List<ByteBuffer> records = records(region, shortest);
      return records.isEmpty() ? Optional.empty() : Optional.of(records.get(records.size() - 1));
    }

    /**
     * Returns the valid records of a region that have at least {@code shortest} bytes, in the order
     * of their sequence numbers.
     */
    private List<ByteBuffer> records(RecordingRegion region, int shortest) {
      List<ByteBuffer> records = new ArrayList<>();
      if (region.slotBytes() < RecordingFormat.FRAME_BYTES || region.offset() < 0) {
        return records;
      }
      for (int i = 0; i < region.slots(); i++) {
        long at = region.offset() + (long) i * region.slotBytes();
        if (at < 0 || at > file.capacity() - (long) region.slotBytes()) {
          break;
        }
        record((int) at, region.slotBytes(), shortest).ifPresent(records::add);
      }
      records.sort(
          Comparator.comparingLong(record -> record.getLong(RecordingFormat.SAMPLE_SEQUENCE)));
      return records;
    }

    private Optional<ByteBuffer> record(int at, int slotBytes, int shortest) {
      ByteBuffer slot = file.slice(at, slotBytes).order(ByteOrder.LITTLE_ENDIAN);
      if (slot.getLong(RecordingFormat.SAMPLE_SEQUENCE) == 0
          && slot.getInt(RecordingFormat.SAMPLE_CHECKSUM) == 0) {
        return Optional.empty();
      }
      int length = slot.getInt(RecordingFormat.SAMPLE_LENGTH);
      if (length < shortest
          || length > slotBytes
          || RecordingBytes.checksum(slot, RecordingFormat.SAMPLE_LENGTH, length)
              != slot.getInt(RecordingFormat.SAMPLE_CHECKSUM)) {
        torn++;
        return Optional.empty();
      }
      return Optional.of(slot);
    }

    private Header header() {
      return new Header(
          file.getLong(RecordingFormat.HEADER_LIFE),
          Sample.instant(file.getLong(RecordingFormat.HEADER_STARTED_REALTIME_NS)),
          file.getLong(RecordingFormat.HEADER_STARTED_MONOTONIC_NS),
          Integer.toUnsignedLong(file.getInt(RecordingFormat.HEADER_PID)),
          RecordingBytes.text(
              file, RecordingFormat.HEADER_BOOT_ID, RecordingFormat.HEADER_BOOT_ID_LENGTH),
          new RecordedLibrary(
              RecordingBytes.text(
                  file, RecordingFormat.HEADER_BUILD, RecordingFormat.HEADER_BUILD_LENGTH),
              RecordingBytes.text(
                  file, RecordingFormat.HEADER_ALLOCATOR, RecordingFormat.HEADER_ALLOCATOR_LENGTH)),
          RecordingBytes.text(
              file, RecordingFormat.HEADER_EXECUTABLE, RecordingFormat.HEADER_EXECUTABLE_LENGTH),
          new RecordedCgroup(
              RecordingBytes.text(
                  file, RecordingFormat.HEADER_CGROUP, RecordingFormat.HEADER_CGROUP_LENGTH),
              file.getLong(RecordingFormat.HEADER_CGROUP_INODE)));
    }
  }
}
