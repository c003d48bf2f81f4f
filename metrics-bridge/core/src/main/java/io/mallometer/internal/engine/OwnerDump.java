package io.mallometer.internal.engine;

import java.io.BufferedWriter;
import java.io.IOException;
import java.io.OutputStreamWriter;
import java.io.Writer;
import java.lang.management.ManagementFactory;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import javax.management.JMException;
import javax.management.ObjectName;

/**
 * A heap dump, with the addresses of a call site's live samples in a file beside it, for a search
 * without the JVM. Both can be read by their owner alone.
 */
final class OwnerDump {

  private static final String DIAGNOSTIC = "com.sun.management:type=HotSpotDiagnostic";

  private OwnerDump() {}

  /**
   * Writes both; the dump stops the program for as long as it takes.
   *
   * @param dump a file that does not exist, whose name ends in {@code .hprof}
   * @return the file with the addresses
   * @throws IOException if one cannot be written, or the JVM refuses
   */
  static Path write(List<long[]> addresses, Path dump) throws IOException {
    Path beside = dump.resolveSibling(dump.getFileName() + ".addresses");
    if (Files.exists(dump)) {
      throw new IOException(dump + " exists already; name a file that does not");
    }
    writeAddresses(addresses, beside);
    // They would be found in the dump, as owners.
    addresses.forEach(block -> Arrays.fill(block, 0));
    try {
      ManagementFactory.getPlatformMBeanServer()
          .invoke(
              new ObjectName(DIAGNOSTIC),
              "dumpHeap",
              new Object[] {dump.toString(), false},
              new String[] {String.class.getName(), boolean.class.getName()});
    } catch (JMException | RuntimeException e) {
      Files.deleteIfExists(beside);
      throw new IOException("the JVM writes no heap dump to " + dump + ": " + e.getMessage(), e);
    }
    return beside;
  }

  static void writeAddresses(List<long[]> addresses, Path file) throws IOException {
    try (Writer out =
        new BufferedWriter(
            new OutputStreamWriter(
                Channels.newOutputStream(
                    FileChannel.open(
                        file,
                        Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE),
                        PosixFilePermissions.asFileAttribute(
                            PosixFilePermissions.fromString("rw-------")))),
                StandardCharsets.US_ASCII))) {
      for (long[] block : addresses) {
        out.write("0x%x %d\n".formatted(block[0], block[1]));
      }
    }
  }
}
