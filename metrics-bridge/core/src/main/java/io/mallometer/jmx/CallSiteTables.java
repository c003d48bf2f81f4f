package io.mallometer.jmx;

import io.mallometer.Mallometer;
import io.mallometer.internal.text.Choice;
import io.mallometer.model.CallSites;
import io.mallometer.model.Grouping;
import io.mallometer.model.SiteOrder;
import io.mallometer.model.StackFrame;
import io.mallometer.report.ReportFormat;
import io.mallometer.report.ReportMetric;
import java.io.BufferedOutputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.channels.Channels;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Answers the requests to {@link CallSitesMXBean}. */
final class CallSiteTables implements Described.OfCallSites {

  private static final int TABLE_ROWS = 20;
  private static final int MOST_ROWS = 10_000;

  private final Mallometer mallometer;

  CallSiteTables(Mallometer mallometer) {
    this.mallometer = mallometer;
  }

  @Override
  public String getTime() {
    return mallometer.sites().read().time().toString();
  }

  @Override
  public String getReason() {
    return mallometer.sites().read().reason();
  }

  @Override
  public List<Row> getTopSites() {
    return mallometer.sites().read().ofApplication().sortedBy(SiteOrder.LIVE).stream()
        .limit(TABLE_ROWS)
        .map(Row::of)
        .toList();
  }

  @Override
  public List<Row> getTopLibraries() {
    return groups(Grouping.LIBRARY, SiteOrder.LIVE, TABLE_ROWS);
  }

  @Override
  public List<Row> groups(String grouping, String sort, int limit) {
    if (limit < 1 || limit > MOST_ROWS) {
      throw new IllegalArgumentException(
          "limit is %d and must be from 1 to %d".formatted(limit, MOST_ROWS));
    }
    return groups(
        Choice.of("grouping", grouping, Grouping.values(), Grouping::id),
        Choice.of("sort", sort, SiteOrder.values(), SiteOrder::id),
        limit);
  }

  @Override
  public List<String> stack(int number) {
    return mallometer
        .sites()
        .read()
        .site(number)
        .map(site -> site.frames().stream().map(StackFrame::toString).toList())
        .orElseThrow(
            () -> new IllegalArgumentException("there is no call site of number " + number));
  }

  @Override
  public String export(String format, String metric) throws IOException {
    ReportFormat known = Choice.of("format", format, ReportFormat.values(), ReportFormat::id);
    if (known == ReportFormat.PPROF) {
      throw new IllegalArgumentException("format pprof is not text: use exportTo");
    }
    ReportMetric figure = Choice.of("metric", metric, ReportMetric.values(), ReportMetric::id);
    ByteArrayOutputStream text = new ByteArrayOutputStream();
    known.write(mallometer.sites().read(), figure, text);
    return text.toString(StandardCharsets.UTF_8);
  }

  @Override
  public String exportTo(String format, String metric, String file) throws IOException {
    ReportFormat known = Choice.of("format", format, ReportFormat.values(), ReportFormat::id);
    ReportMetric figure = Choice.of("metric", metric, ReportMetric.values(), ReportMetric::id);
    CallSites sites = mallometer.sites().read();
    Path path = path(file);
    OutputStream created = create(path);
    try (OutputStream out = created) {
      known.write(sites, figure, out);
    } catch (IOException | RuntimeException e) {
      Files.deleteIfExists(path); // This method created the file, so it may delete it.
      throw e;
    }
    return "%s, %d bytes".formatted(path, Files.size(path));
  }

  /** Creates the file with its final permissions, so that other users can never open it. */
  private static OutputStream create(Path path) throws IOException {
    try {
      return new BufferedOutputStream(
          Channels.newOutputStream(
              Files.newByteChannel(
                  path,
                  Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE),
                  PosixFilePermissions.asFileAttribute(
                      PosixFilePermissions.fromString("rw-------")))));
    } catch (FileAlreadyExistsException e) {
      throw new IllegalArgumentException(path + " exists and is not overwritten");
    }
  }

  private static Path path(@Nullable String file) {
    try {
      if (file != null && !file.isBlank()) {
        return Path.of(file).toAbsolutePath();
      }
    } catch (InvalidPathException e) {
      // The exception below names the argument.
    }
    throw new IllegalArgumentException(
        "file is '%s' and must be the path of a file".formatted(file));
  }

  private List<Row> groups(Grouping grouping, SiteOrder order, int limit) {
    CallSites read = mallometer.sites().read();
    CallSites shown = grouping == Grouping.LIBRARY ? read : read.ofApplication();
    return shown.groupedBy(grouping).stream()
        .sorted(order.comparator())
        .limit(limit)
        .map(Row::of)
        .toList();
  }
}
