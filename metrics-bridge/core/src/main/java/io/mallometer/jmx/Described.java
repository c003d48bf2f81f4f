package io.mallometer.jmx;

import io.mallometer.model.AllocatorStatistics;
import io.mallometer.model.CallSite;
import io.mallometer.model.CgroupMemory;
import io.mallometer.model.HistoryPoint;
import io.mallometer.model.HugeAllocation;
import io.mallometer.model.MemoryBudget;
import io.mallometer.model.Observation;
import io.mallometer.model.OwnerReport;
import io.mallometer.model.PoolReport;
import io.mallometer.model.RecordingStatus;
import io.mallometer.model.ResidentMemory;
import io.mallometer.model.ScopeCounts;
import io.mallometer.model.SelfReport;
import io.mallometer.model.SiteGroup;
import io.mallometer.model.SiteVerdict;
import io.mallometer.model.SizeDistribution;
import io.mallometer.model.Status;
import io.mallometer.model.TrimReport;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Attributes and operations of the MBeans, with descriptions. {@link MeterAttributes} adds further
 * attributes. The interfaces are public, because JMX accepts no others.
 */
final class Described {

  private Described() {}

  /** The operation that every MBean has. */
  public interface OfEach {

    /**
     * Returns an attribute as text for people.
     *
     * @throws IllegalArgumentException if there is no such attribute
     */
    @Description("An attribute as text for people")
    String text(String attribute);
  }

  /**
   * Attributes of {@link DiagnosisMXBean}. JConsole sorts attributes by name, so the names are
   * chosen to put {@code Sentence} first.
   */
  public interface OfDiagnosis {

    @Description("The diagnosis on the process in one sentence")
    String getSentence();

    @Description("The diagnosis: act, watch, too_early or healthy")
    String getState();

    @Description("What to do, most urgent first; empty if nothing is needed")
    List<String> getToDo();
  }

  public interface OfNativeMemory {

    @Description(
        value = "Sizes that successful native allocations requested, by class; empty if unknown",
        rows = SizeDistribution.SizeClass.class)
    List<Row> getSizeDistribution();

    @Description(
        value = "The most memory that the configuration may need; null if unknown",
        rows = MemoryBudget.class)
    @Nullable Row getBudget();

    @Description(
        value = "The resident set by part, and its huge pages; null before the first split",
        rows = ResidentMemory.class)
    @Nullable Row getResident();

    @Description(
        value = "The memory cgroup as the kernel accounts for it; null outside one",
        rows = CgroupMemory.class)
    @Nullable Row getCgroup();

    @Description(
        value = "The last hour, oldest first: by the second, ten seconds, the minute",
        rows = HistoryPoint.class)
    List<Row> getHistory();

    @Description(
        value = "The file that the last hour is recorded in, or why there is none",
        rows = RecordingStatus.class)
    Row getRecording();

    @Description("Whether native allocations are counted now")
    boolean isActive();

    @Description(
        value = "Whether native allocations are counted, why, and what to do if they are not",
        rows = Status.class)
    Row getStatus();

    @Description(
        value = "Version, mode and cost of mallometer, and the result of an attach",
        rows = SelfReport.class)
    Row getSelf();

    @Description(
        "Version, allocator, mode and accounting of the counting library, in one text for"
            + " exporters")
    String getIdentity();

    @Description("Version of the application; null if it is not known")
    @Nullable String getApplicationVersion();

    @Description("Starts a measurement of this MBean; a measurement that is running is dropped")
    void hook();

    @Description(
        value =
            "Ends the measurement of this MBean and returns its counts; null if none is running",
        rows = ScopeCounts.class)
    @Nullable Row unhook();

    @Description(
        value = "Counts of the running measurement of this MBean; null if none is running",
        rows = ScopeCounts.class)
    @Nullable Row statistics();

    @Description(
        value = "Ends the process's phase and returns its counts, null if unknown; begins the next",
        rows = ScopeCounts.class)
    @Nullable Row nextPhase(
        @Description(name = "name", value = "Name of the next phase; an empty one begins none")
            String name);
  }

  public interface OfAllocator {

    @Description("The allocator that serves malloc: glibc, jemalloc, tcmalloc, mimalloc or unknown")
    String getKind();

    @Description("The allocator with its version, if it states one")
    String getAllocator();

    @Description("The allocator's figures by kind, for JMX exporters; empty if unknown")
    Map<String, AllocatorMXBean.Figures> getByKind();

    @Description(
        value = "The latest statistics, the arenas one by one, and advice; null if unknown",
        rows = AllocatorStatistics.class)
    @Nullable Row getStatistics();

    @Description(
        value = "The latest requests above the size MALLOMETER_HUGE, oldest first",
        rows = HugeAllocation.class)
    List<Row> getHugeAllocations();

    @Description(
        value =
            "Pools of other libraries, such as Netty's, and the lines whose buffers keep their"
                + " chunks; null if none was found",
        rows = PoolReport.class)
    @Nullable Row getPools();

    @Description(
        value =
            "Asks the allocator to return free memory; returns how much came back, or why it was"
                + " refused",
        rows = TrimReport.class)
    Row trim();
  }

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
     * Returns groups of call sites.
     *
     * @throws IllegalArgumentException if an argument is not allowed
     */
    @Description(value = "Call sites in groups, largest first", rows = SiteGroup.class)
    List<Row> groups(
        @Description(name = "grouping", value = "How to group: site, library, frame or package")
            String grouping,
        @Description(
                name = "sort",
                value =
                    "The order: live, live-objects, allocated, allocated-objects, rate or resident")
            String sort,
        @Description(name = "limit", value = "How many at most, 1 to 10000") int limit);

    /**
     * Returns the stack of a site.
     *
     * @throws IllegalArgumentException if there is no such site
     */
    @Description("The stack of a call site, innermost frame first")
    List<String> stack(@Description(name = "number", value = "The site's number") int number);

    /**
     * Returns a report of all call sites as text.
     *
     * @throws IllegalArgumentException if an argument is not allowed, or the format is not text
     * @throws IOException if the report cannot be written
     */
    @Description("A report of all call sites as text")
    String export(
        @Description(name = "format", value = "collapsed, flamegraph, dhat or table") String format,
        @Description(name = "metric", value = "live, live-objects, allocated or allocated-objects")
            String metric)
        throws IOException;

    /**
     * Writes a report into a new file that only its owner may read.
     *
     * @return the file's absolute path and its size
     * @throws IllegalArgumentException if an argument is not allowed, or the file exists
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

  public interface OfLeakDetector {

    @Description("When the sites were judged, ISO 8601")
    String getTime();

    @Description(
        value = "Whether accesses to objects are observed, and the result of the latest search",
        rows = Observation.class)
    Row getObservation();

    @Description(
        value =
            "The call sites that leak, are unused, grow, wait for a collection or keep a pool, worst first, at most 100;"
                + " verdicts do not cover objects that were allocated before an attach",
        rows = SiteVerdict.class)
    List<Row> getVerdicts();

    /**
     * Returns the stack of a site that has a verdict.
     *
     * @throws IllegalArgumentException if there is no verdict on the site
     */
    @Description("The allocation stack of a call site that has a verdict, innermost frame first")
    List<String> stack(@Description(name = "number", value = "The site's number") int number);

    /**
     * Acknowledges a site until the process ends, or withdraws the acknowledgement. A configured
     * file stores the change for later processes.
     */
    @Description(
        "Acknowledges a call site, or takes the acknowledgement back. Lasts until the process"
            + " ends, or longer if a file stores the names")
    void acknowledge(
        @Description(
                name = "site",
                value = "The name; one that ends in * stands for all names that begin so")
            String site,
        @Description(name = "acknowledged", value = "true to acknowledge, false to take it back")
            boolean acknowledged);

    /**
     * Searches the Java heap for the objects that hold the memory of a site. Stops the program for
     * at most as long as the options allow.
     */
    @Description(
        value =
            "Searches the Java heap for the objects that hold a call site's memory; stops the"
                + " program for as long as mallometer.owners.max-pause allows",
        rows = OwnerReport.class)
    Row owners(
        @Description(name = "number", value = "The site's number") int number,
        @Description(
                name = "links",
                value =
                    "Over how many links what keeps them is looked for, 0 to 8; each stops the"
                        + " program")
            int links);
  }
}
