package io.mallometer.jmx;

import io.mallometer.Mallometer;
import io.mallometer.internal.text.Choice;
import io.mallometer.model.CallSite;
import io.mallometer.model.CallSites;
import io.mallometer.model.Estimate;
import io.mallometer.model.Grouping;
import io.mallometer.model.SiteGroup;
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

/** Shows call sites. */
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
  public List<CallSitesMXBean.Site> getTopSites() {
    return mallometer.sites().read().ofApplication().sortedBy(SiteOrder.LIVE).stream()
        .limit(TABLE_ROWS)
        .map(CallSiteTables::row)
        .toList();
  }

  @Override
  public List<CallSitesMXBean.Group> getTopLibraries() {
    return groups(Grouping.LIBRARY, SiteOrder.LIVE, TABLE_ROWS);
  }

  @Override
  public List<CallSitesMXBean.Group> groups(String grouping, String sort, int limit) {
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
      Files.deleteIfExists(path); // ours: it was made above
      throw e;
    }
    return "%s, %d bytes".formatted(path, Files.size(path));
  }

  /** Created with its permissions, so that there is no moment at which others may open it. */
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

  /** A client may leave an argument out. */
  private static Path path(@Nullable String file) {
    try {
      if (file != null && !file.isBlank()) {
        return Path.of(file).toAbsolutePath();
      }
    } catch (InvalidPathException e) {
      // Told below.
    }
    throw new IllegalArgumentException(
        "file is '%s' and must be the path of a file".formatted(file));
  }

  private List<CallSitesMXBean.Group> groups(Grouping grouping, SiteOrder order, int limit) {
    CallSites read = mallometer.sites().read();
    CallSites shown = grouping == Grouping.LIBRARY ? read : read.ofApplication();
    return shown.groupedBy(grouping).stream()
        .sorted(order.comparator())
        .limit(limit)
        .map(CallSiteTables::row)
        .toList();
  }

  private static CallSitesMXBean.Site row(CallSite site) {
    return new CallSitesMXBean.Site(
        site.number(),
        site.name(),
        site.library(),
        site.samples(),
        interval(site.liveBytes()),
        interval(site.liveObjects()),
        interval(site.allocatedBytes()),
        interval(site.allocatedObjects()),
        knownFraction(site.bytesPerSecond()),
        knownFraction(site.ages().median()));
  }

  private static CallSitesMXBean.Group row(SiteGroup group) {
    return new CallSitesMXBean.Group(
        group.key(),
        group.sites(),
        group.samples(),
        interval(group.liveBytes()),
        interval(group.liveObjects()),
        interval(group.allocatedBytes()),
        interval(group.allocatedObjects()),
        knownFraction(group.bytesPerSecond()));
  }

  private static CallSitesMXBean.Interval interval(Estimate estimate) {
    return new CallSitesMXBean.Interval(
        Math.round(estimate.value()), Math.round(estimate.low()), Math.round(estimate.high()));
  }

  private static @Nullable Double knownFraction(double value) {
    return Double.isNaN(value) ? null : (Double) value;
  }
}
