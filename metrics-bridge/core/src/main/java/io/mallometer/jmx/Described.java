package io.mallometer.jmx;

import io.mallometer.model.CallSite;
import io.mallometer.model.SiteGroup;
import io.mallometer.model.SiteVerdict;
import io.mallometer.model.TrimReport;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Attributes and operations of the MBeans beside the figures of the list of meters, with their
 * descriptions. JMX accepts public interfaces only.
 */
final class Described {

  private Described() {}

  /** Attributes and operations of {@link NativeMemoryMXBean}. */
  public interface OfNativeMemory {

    @Description("The conclusion on the process: act, watch, too_early or healthy")
    String getConclusion();

    @Description("The conclusion in one sentence")
    String getConclusionSentence();

    @Description("Actions, most urgent first; empty if none is needed")
    List<String> getActions();

    @Description("Sizes that successful native allocations requested, by class; empty if unknown")
    List<SizeClass> getSizeDistribution();

    @Description("The most memory that the configuration may need, line by line; empty if unknown")
    List<BudgetLine> getBudget();

    @Description("Whether the limit is large enough for the configuration; empty if unknown")
    String getBudgetVerdict();

    @Description("How much of the resident set is in transparent huge pages; empty if unknown")
    String getHugePages();

    @Description("The last hour, oldest first: by the second, ten seconds, the minute")
    List<HistoryRow> getHistory();

    @Description("The file that the last hour is recorded in; empty if there is none")
    String getRecordPath();

    @Description("Why there is no such file although one was configured; empty otherwise")
    String getRecordFailure();

    @Description("Whether native allocations are counted now")
    boolean isActive();

    @Description("ACTIVE, DISABLED or UNAVAILABLE")
    String getStatus();

    @Description(
        "Version, allocator, mode and accounting of the counting library, in one text for"
            + " exporters")
    String getIdentity();

    @Description("Version of the application; null if it is not known")
    @Nullable String getApplicationVersion();

    @Description("How the library came into the process, or why nothing is counted")
    String getReason();

    @Description("What to do if nothing is counted: a command or a setting")
    String getRemedy();

    @Description("Version of the native library")
    String getBuild();

    @Description("The allocator that serves the allocations")
    String getAllocator();

    @Description("How the library came to count: preload, attached or none")
    String getMode();

    @Description(
        "When counting began: the start of the process, or the attach, ISO 8601; empty if it has"
            + " not")
    String getSince();

    @Description("Result of the attach, and the memory allocated before it; null without an attach")
    @Nullable AttachmentFigures getAttachment();

    @Description("Meaning of one byte of allocated, freed and live: usable, chunk or requested")
    String getByteUnit();

    @Description("Notes of the library on its own work, such as a part that is off, and why")
    String getRemark();

    @Description("Starts a measurement of this MBean; a measurement that is running is dropped")
    void hook();

    @Description(
        "Ends the measurement of this MBean and returns its counts; null if none is running")
    @Nullable Statistics unhook();

    @Description("Counts of the running measurement of this MBean; null if none is running")
    @Nullable Statistics statistics();

    @Description(
        "Ends the process's phase and returns its counts, null if unknown; begins the next")
    @Nullable Statistics nextPhase(
        @Description(name = "name", value = "Name of the next phase; an empty one begins none")
            String name);
  }

  /** Attributes and operations of {@link AllocatorMXBean}. */
  public interface OfAllocator {

    @Description("The allocator that serves malloc: glibc, jemalloc, tcmalloc, mimalloc or unknown")
    String getKind();

    @Description("The allocator with its version, if it states one")
    String getAllocator();

    @Description("The allocator's figures by kind, for JMX exporters; empty if unknown")
    Map<String, AllocatorMXBean.Figures> getByKind();

    @Description("The arenas one by one, where the allocator reports them; empty if unknown")
    List<AllocatorMXBean.Arena> getArenaTable();

    @Description("The latest requests above the size MALLOMETER_HUGE, oldest first")
    List<AllocatorMXBean.LargeRequest> getLargeAllocations();

    @Description("Advice on memory that the allocator retains; empty if there is none")
    List<AllocatorMXBean.AdviceLine> getAdvice();

    @Description(
        value =
            "Asks the allocator to return free memory; returns how much came back, or why it was"
                + " refused",
        rows = TrimReport.class)
    @Nullable Row trim();
  }

  /** Attributes and operations of {@link CallSitesMXBean}. */
  public interface OfCallSites {

    @Description("When the call sites were read, ISO 8601")
    String getTime();

    @Description(
        "Why there are no call sites, or no Java frames in them; empty if nothing is missing")
    String getReason();

    @Description(
        value = "The 20 call sites, by their whole stack, with most live bytes, most first",
        rows = CallSite.class)
    List<Row> getTopSites();

    @Description(
        value = "The 20 libraries with most live bytes, most first",
        rows = SiteGroup.class)
    List<Row> getTopLibraries();

    /**
     * Call sites taken together.
     *
     * @throws IllegalArgumentException if an argument is none of those that it may be
     */
    @Description(value = "Call sites in groups, largest first", rows = SiteGroup.class)
    List<Row> groups(
        @Description(name = "grouping", value = "How to group: site, library, frame or package")
            String grouping,
        @Description(
                name = "sort",
                value = "The order: live, live-objects, allocated, allocated-objects or rate")
            String sort,
        @Description(name = "limit", value = "How many at most, 1 to 10000") int limit);

    /**
     * The stack of a site.
     *
     * @throws IllegalArgumentException if there is no such site
     */
    @Description("The stack of a call site, innermost frame first")
    List<String> stack(@Description(name = "number", value = "The site's number") int number);

    /**
     * A report as text.
     *
     * @throws IllegalArgumentException if there is no such format or metric, or the format is not
     *     text
     * @throws IOException if the report cannot be written
     */
    @Description("A report of all call sites as text")
    String export(
        @Description(name = "format", value = "collapsed, flamegraph, dhat or table") String format,
        @Description(name = "metric", value = "live, live-objects, allocated or allocated-objects")
            String metric)
        throws IOException;

    /**
     * Writes a report into a new file of this machine that only its owner may read.
     *
     * @return the file's absolute path and its size
     * @throws IllegalArgumentException if there is no such format or metric, or the file exists
     * @throws IOException if the file cannot be written
     */
    @Description("Writes a report of all call sites into a new file that only its owner may read")
    String exportTo(
        @Description(name = "format", value = "collapsed, flamegraph, pprof, dhat or table")
            String format,
        @Description(name = "metric", value = "live, live-objects, allocated or allocated-objects")
            String metric,
        @Description(name = "file", value = "The path of a file that does not exist yet")
            String file)
        throws IOException;
  }

  /** Attributes and operations of {@link LeakDetectorMXBean}. */
  public interface OfLeakDetector {

    @Description("When the sites were judged, ISO 8601")
    String getTime();

    @Description("Whether accesses to objects are observed: off, starting, on or failed")
    String getState();

    @Description("Parts of the observation that are off, and why; empty if none is")
    String getReason();

    @Description("Result of the latest search for lost memory, or why there was none")
    String getLostMemory();

    @Description("Epochs of observation that ended")
    long getEpochs();

    @Description("Epochs without a result, because the kernel cleared accessed bits")
    long getVoidEpochs();

    @Description(
        value =
            "The call sites that leak, are unused, grow or keep a pool, worst first, at most 100;"
                + " verdicts do not cover objects that were allocated before an attach",
        rows = SiteVerdict.class)
    List<Row> getVerdicts();

    /**
     * The stack of a site that has a verdict.
     *
     * @throws IllegalArgumentException if there is none
     */
    @Description("The allocation stack of a call site that has a verdict, innermost frame first")
    List<String> stack(@Description(name = "number", value = "The site's number") int number);

    /** Says that a site is fine, or takes that back; for longer where a file keeps the names. */
    @Description(
        "Acknowledges a call site, or takes the acknowledgement back. Lasts until the process"
            + " ends, or longer if a file stores the names")
    void acknowledge(
        @Description(
                name = "site",
                value = "The name; one that ends in * stands for all names that begin so")
            String site,
        @Description(name = "fine", value = "true to acknowledge, false to take it back")
            boolean fine);

    /**
     * Searches the Java heap for the objects that hold the memory of a site, which stops the
     * program for as long as the options allow.
     */
    @Description(
        "Searches the Java heap for the objects that hold a call site's memory; stops the"
            + " program for as long"
            + " as mallometer.owners.pause allows")
    LeakDetectorMXBean.Owners owners(
        @Description(name = "number", value = "The site's number") int number,
        @Description(
                name = "links",
                value =
                    "Over how many links what keeps them is looked for, 0 to 8; each stops the"
                        + " program")
            int links);
  }
}
