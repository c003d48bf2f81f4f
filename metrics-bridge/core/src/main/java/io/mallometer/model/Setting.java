package io.mallometer.model;

import io.mallometer.internal.text.TimeSpan;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A setting of mallometer. The list of settings in this class is the only place that states the
 * name, type, default, range and meaning of a setting. The properties, the agent's options, the
 * environment variables, the checks and {@code docs/reference/settings.md} are derived from the
 * list.
 *
 * <p>For example, the setting {@code max-scopes} is the property {@code mallometer.max-scopes}, the
 * agent's option {@code max-scopes} and the environment variable {@code MALLOMETER_MAX_SCOPES}.
 *
 * @param <T> the type of the value. A size is a number of bytes
 */
public final class Setting<T> {

  /** The part of mallometer that reads a setting. */
  public enum Reader {
    /** The starter and the agent; both also read the environment variable of the setting. */
    ALL,
    /** The Spring Boot starter. */
    STARTER,
    /** The Java agent. */
    AGENT,
    /**
     * The native library and the code that starts it. They read only the environment variable of
     * the setting.
     */
    LIBRARY,
    /** Mallometer's command-line tool. It reads only the environment variable of the setting. */
    COMMANDS
  }

  /** The type of a value, which determines how its text is read. */
  public enum Type {
    FLAG("true or false"),
    COUNT("a whole number"),
    RATIO("a number"),
    TIME("a time", ", such as 90s, 45m or 2h"),
    SIZE("a size", ", such as 512m or 2g"),
    CHOICE(""),
    TEXT("a text"),
    FILE("the path of a file"),
    LIST("a list"),
    MAP("a list of name=value");

    private final String noun;
    private final String examples;

    Type(String noun) {
      this(noun, "");
    }

    Type(String noun, String examples) {
      this.noun = noun;
      this.examples = examples;
    }
  }

  private static final List<Setting<?>> ALL = new ArrayList<>();

  private static final String SPRING = "mallometer.";
  private static final String UNITS = "kmgt";
  private static final String NOT_NEGATIVE = "not negative";

  public static final Setting<Boolean> ENABLED =
      flag(
              Reader.ALL,
              "enabled",
              true,
              "Whether to count, read and publish native memory. false switches everything"
                  + " off: a preloaded library passes every call on, the agent does not start,"
                  + " the starter adds no beans, and commands are refused.")
          .alsoOfTheLibrary();

  public static final Setting<AttachMode> ATTACH =
      choice(
              Reader.ALL,
              "attach",
              AttachMode.AUTO,
              AttachMode.values(),
              "When to begin to count in a JVM that was started without the library. auto:"
                  + " when the agent starts, or after the application's context is refreshed."
                  + " early: before Spring creates beans, which waits for at most a second. off:"
                  + " never. The variable's off, or an unknown value of it, wins over every"
                  + " property, option and command.")
          .alsoOfTheLibrary();

  public static final Setting<Path> RECORDING =
      file(
              Reader.ALL,
              "recording",
              "File of 2 MiB for a recording of the last hour, which survives a kill. Put it on a"
                  + " volume that survives the container. The variable records from the start of the"
                  + " process, takes precedence, and holds for programs named java and those that"
                  + " MALLOMETER_ONLY names.")
          .alsoOfTheLibrary();

  public static final Setting<String> TERMINATION_MESSAGE =
      text(
              Reader.ALL,
              "termination-message",
              "File whose content Kubernetes shows as the last state of a container that ended, or"
                  + " off. While memory is scarce or rises fast, it holds the diagnosis and the line"
                  + " that allocates. The file is never created; it is used if it is empty and"
                  + " nobody has locked it.")
          .withDefault("/dev/termination-log");

  public static final Setting<Duration> POLL_INTERVAL =
      time(Reader.ALL, "poll-interval", "5s", "Time between two readings of the native counters.")
          .atLeast("10ms");

  public static final Setting<Long> LIMIT =
      size(
              Reader.ALL,
              "limit",
              "Largest size that the resident set without pages of files may reach. By default the"
                  + " limit of the memory cgroup, or else the memory of the machine.")
          .atLeast("1MB");

  public static final Setting<String> VERSION =
      text(
          Reader.AGENT,
          "version",
          "Version of the application, which metrics show without control characters and cut to 64."
              + " By default service.version of the environment variable OTEL_RESOURCE_ATTRIBUTES,"
              + " or else the Implementation-Version of the jar that java -jar runs.");

  public static final Setting<Boolean> METRICS_ENABLED =
      flag(
          Reader.STARTER,
          "metrics.enabled",
          true,
          "Whether to publish native memory as Micrometer meters and, in Prometheus, as a histogram"
              + " of request sizes.");

  public static final Setting<Boolean> JMX_ENABLED =
      flag(
          Reader.STARTER,
          "jmx.enabled",
          true,
          "Whether to register the MBeans io.mallometer:type=Diagnosis,"
              + " io.mallometer:type=NativeMemory, io.mallometer:type=Allocator, io.mallometer:type=CallSites and"
              + " io.mallometer:type=LeakDetector in the platform's MBean server.");

  public static final Setting<Boolean> JFR_ENABLED =
      flag(
          Reader.STARTER,
          "jfr.enabled",
          true,
          "Whether to put the events io.mallometer.NativeMemory, io.mallometer.CallSite and"
              + " io.mallometer.Monitor into recordings of Flight Recorder, whose settings can still"
              + " switch them off.");

  public static final Setting<Boolean> SCOPES_ENABLED =
      flag(
          Reader.STARTER,
          "scopes.enabled",
          false,
          "Whether to publish how much native memory each HTTP route, scheduled task and method with"
              + " the annotation NativeScoped allocates.");

  public static final Setting<Integer> MAX_SCOPES =
      count(
              Reader.STARTER,
              "max-scopes",
              "7",
              "Number of routes, tasks and methods that get meters of their own, four series each;"
                  + " all others share the meters of the scope \"other\".")
          .between("1", "80");

  public static final Setting<List<String>> APPLICATION_PACKAGES =
      list(
          Reader.ALL,
          "sites.application-packages",
          "Comma-separated list of packages, with all below them, of the application's own classes."
              + " The innermost frame of one of these names a call site. By default those that"
              + " Spring Boot scans for the application's components; without Spring Boot, the"
              + " classes of the main class's directory or jar.");

  public static final Setting<Integer> POOLS_NETTY_SAMPLING_INTERVAL =
      count(
              Reader.ALL,
              "pools.netty-sampling-interval",
              "",
              "Sets Netty's leak detector, if it is on, to track one buffer in so many. Without it"
                  + " nothing in Netty is set, and it tracks one in 128.")
          .between("1", "1024");

  public static final Setting<Boolean> LEAK_ENABLED =
      flag(
          Reader.ALL,
          "leak.enabled",
          true,
          "Whether to observe accesses to sampled objects and to judge which call sites leak."
              + " MALLOMETER_LEAKS=off stops the native library from observing.");

  public static final Setting<LeakWorkload> LEAK_WORKLOAD =
      choice(
          Reader.ALL,
          "leak.workload",
          LeakWorkload.SERVICE,
          LeakWorkload.values(),
          "Kind of program. It decides after which idle time an object can be suspected: 30 s, 2"
              + " min, 5 min or 30 min for real-time, interactive, service and batch.");

  public static final Setting<Duration> LEAK_LONGEST_TIMEOUT =
      time(
              Reader.ALL,
              "leak.longest-timeout",
              "30m",
              "Longest time for which the program does not access an object that it still needs,"
                  + " such as the timeout of its sessions. An object that is not accessed for five"
                  + " minutes longer is evidence of a leak.")
          .zeroOrAtLeast("1s");

  public static final Setting<Double> LEAK_TIME_SCALE =
      ratio(
              Reader.ALL,
              "leak.time-scale",
              "1",
              "Divisor of the idle times, the longest timeout and all pauses of leak detection. For"
                  + " tests, which cannot wait for minutes.")
          .between("1", "1000");

  public static final Setting<List<String>> LEAK_ACKNOWLEDGED_SITES =
      list(
          Reader.ALL,
          "leak.acknowledged-sites",
          "Comma-separated list of names of call sites that a person said are fine. They get a"
              + " verdict, but no meter, notification or warning. A name that ends in * stands for"
              + " all names that begin so.");

  public static final Setting<Path> LEAK_ACKNOWLEDGED_SITES_FILE =
      file(
          Reader.ALL,
          "leak.acknowledged-sites-file",
          "File that stores the names of call sites that were acknowledged at run time. Without it"
              + " they are forgotten when the process ends. The file need not exist, its directory"
              + " must.");

  public static final Setting<Duration> OWNERS_MAX_PAUSE =
      time(
          Reader.ALL,
          "owners.max-pause",
          "1s",
          "Longest time that one walk over the Java heap, in search of the objects that hold native"
              + " memory, may stop the program. A search that is estimated to take longer is"
              + " refused; 0 forbids all.");

  public static final Setting<Duration> OWNERS_MAX_TOTAL_PAUSE =
      time(
          Reader.ALL,
          "owners.max-total-pause",
          "5s",
          "Longest time that all walks of one such search may stop the program.");

  public static final Setting<Long> MONITOR_THRESHOLD =
      size(
              Reader.ALL,
              "monitor.threshold",
              "Size above which each request for native memory is reported with its stack: of 64"
                  + " requests at most between two readings of the counters.")
          .atLeast("1");

  public static final Setting<Long> MONITOR_LIVE_SIZE =
      size(
              Reader.ALL,
              "monitor.live-size",
              "Size of live bytes above which the call sites that hold most are reported.")
          .atLeast("1");

  public static final Setting<Path> MONITOR_CSV_FILE =
      file(
          Reader.ALL,
          "monitor.csv-file",
          "File to which a row of comma-separated values is written at each reading of the"
              + " counters.");

  public static final Setting<Boolean> MONITOR_USABLE_SIZES =
      flag(
          Reader.ALL,
          "monitor.usable-sizes",
          false,
          "Whether to count allocations by the size that the allocator hands out, which makes each"
              + " allocation about three times as expensive.");

  public static final Setting<Duration> TRIM_INTERVAL =
      time(
              Reader.STARTER,
              "trim.interval",
              "",
              "Time between two automatic trims of the allocator, at least the minimum interval."
                  + " Without it nothing is trimmed automatically.")
          .atLeast("1s");

  public static final Setting<Double> TRIM_RETAINED_SHARE =
      ratio(
              Reader.STARTER,
              "trim.retained-share",
              "0.1",
              "Share of the resident set. An automatic trim that would return less is skipped.")
          .between("0", "1");

  public static final Setting<Duration> TRIM_MINIMUM_INTERVAL =
      time(
          Reader.ALL,
          "trim.minimum-interval",
          "1m",
          "Least time between two trims, whichever way they are requested. An earlier one is"
              + " refused.");

  public static final Setting<String> PUSH_URL =
      text(
              Reader.ALL,
              "push.url",
              "Address of a profile store that speaks Pyroscope's protocol for pushes, such as"
                  + " https://pyroscope:4040, without the protocol's path, a user or a password."
                  + " Without it nothing is sent.")
          .secret();

  public static final Setting<Duration> PUSH_INTERVAL =
      time(Reader.ALL, "push.interval", "15s", "Time between two profiles.").atLeast("1s");

  public static final Setting<Map<String, String>> PUSH_LABELS =
      map(Reader.ALL, "push.labels", "Labels of the profiles, beside service_name and hostname.")
          .separatedByBlanks();

  public static final Setting<String> PUSH_USERNAME =
      text(Reader.ALL, "push.username", "Name for basic authentication at the profile store.")
          .secret();

  public static final Setting<String> PUSH_PASSWORD =
      text(Reader.ALL, "push.password", "Password for basic authentication at the profile store.")
          .secret();

  public static final Setting<Path> PUSH_TOKEN_FILE =
      file(
              Reader.ALL,
              "push.token-file",
              "File with a bearer token of one line for the profile store, which is read at each"
                  + " push.")
          .secret();

  public static final Setting<String> PUSH_TENANT =
      text(
              Reader.ALL,
              "push.tenant",
              "Tenant at the profile store, which the header X-Scope-OrgID names.")
          .secret();

  public static final Setting<String> PUSH_SSL_BUNDLE =
      text(
          Reader.STARTER,
          "push.ssl.bundle",
          "Name of the SSL bundle (spring.ssl.bundle) for connections to the profile store. Without"
              + " it the JVM's certificates are trusted.");

  public static final Setting<Path> PUSH_CERTIFICATES =
      file(
          Reader.AGENT,
          "push.certificates",
          "PEM file of the only certificates to trust at the profile store. Without it the JVM's"
              + " certificates are trusted.");

  public static final Setting<Integer> PORT =
      count(
              Reader.AGENT,
              "port",
              "",
              "Port on which the agent serves. Without it there are only the MBeans. 0 takes a free"
                  + " port, which the agent's line names.")
          .between("0", "65535");

  public static final Setting<String> HOST =
      text(Reader.AGENT, "host", "Address on which the agent listens.").withDefault("127.0.0.1");

  public static final Setting<Boolean> ALLOW_TRIM =
      flag(
          Reader.AGENT,
          "allow-trim",
          false,
          "Whether requests may trim the allocator and acknowledge call sites. With the starter,"
              + " management.endpoint.nativememory.access decides.");

  public static final Setting<Boolean> ALLOW_OWNERS =
      flag(
          Reader.AGENT,
          "allow-owners",
          false,
          "Whether a POST to /nativememory/owners/NUMBER searches the Java heap for the objects that hold a call"
              + " site's memory. With the starter, management.endpoint.nativememory.access decides.");

  public static final Setting<Path> CONFIG =
      file(
          Reader.AGENT,
          "config",
          "File with the agent's options. Options on the command line take precedence over it, and"
              + " it takes precedence over variables.");

  public static final Setting<String> HTTP_USERNAME =
      text(Reader.AGENT, "http-server.authentication.basic.username", "Name of the agent's login.")
          .secret();

  public static final Setting<String> HTTP_PASSWORD =
      text(
              Reader.AGENT,
              "http-server.authentication.basic.password",
              "Password of the agent's login, which every path asks for.")
          .secret();

  public static final Setting<String> HTTP_PASSWORD_HASH =
      text(
              Reader.AGENT,
              "http-server.authentication.basic.password-hash",
              "Hash of the agent's password in hexadecimal digits, with any algorithm but plaintext.")
          .secret();

  public static final Setting<String> HTTP_ALGORITHM =
      text(
              Reader.AGENT,
              "http-server.authentication.basic.algorithm",
              "Algorithm of the hash: SHA-1, SHA-256 or SHA-512 of salt, colon and password, or"
                  + " PBKDF2WithHmacSHA1, PBKDF2WithHmacSHA256 or PBKDF2WithHmacSHA512.")
          .withDefault("plaintext");

  public static final Setting<String> HTTP_SALT =
      text(Reader.AGENT, "http-server.authentication.basic.salt", "Salt of the hash.").secret();

  public static final Setting<Integer> HTTP_ITERATIONS =
      count(
              Reader.AGENT,
              "http-server.authentication.basic.iterations",
              "",
              "Iterations of PBKDF2. By default 1300000, 600000 or 210000 for SHA1, SHA256 and"
                  + " SHA512.")
          .between("1", "2147483647");

  public static final Setting<Path> HTTP_KEY_STORE =
      file(
          Reader.AGENT,
          "http-server.ssl.key-store.filename",
          "JKS or PKCS12 file with the certificate of the agent's server, which then speaks TLS.");

  public static final Setting<String> HTTP_KEY_STORE_PASSWORD =
      text(
              Reader.AGENT,
              "http-server.ssl.key-store.password",
              "Password of the key store and of the key in it.")
          .secret();

  public static final Setting<String> HTTP_CERTIFICATE_ALIAS =
      text(
          Reader.AGENT,
          "http-server.ssl.certificate.alias",
          "Alias of the certificate in the key store. By default any.");

  public static final Setting<String> OTLP_URL =
      text(
              Reader.AGENT,
              "otlp.url",
              "Address of the receiver of OTLP metrics, with its path. Without it nothing is sent.")
          .secret();

  public static final Setting<Path> OTLP_PATH =
      file(Reader.AGENT, "otlp.path", "Directory with the jars of OpenTelemetry's exporter.");

  public static final Setting<Duration> OTLP_INTERVAL =
      time(Reader.AGENT, "otlp.interval", "1m", "Time between two pushes of metrics.")
          .atLeast("1s");

  public static final Setting<Map<String, String>> OTLP_HEADERS =
      map(Reader.AGENT, "otlp.headers", "Headers of each request, such as Authorization=Bearer ...")
          .secret();

  public static final Setting<Map<String, String>> OTLP_ATTRIBUTES =
      map(
          Reader.AGENT,
          "otlp.attributes",
          "Attributes of the resource, such as service.name=shop.");

  public static final Setting<Path> OTLP_CERTIFICATES =
      file(
          Reader.AGENT,
          "otlp.certificates",
          "PEM file of the only certificates to trust at the receiver. Without it the JVM's"
              + " certificates are trusted.");

  static {
    variable(
        "only",
        "",
        "names of executables",
        "Comma-separated list of the programs in which the library counts. In all others it passes"
            + " calls on. Without it the library counts in every program that inherits LD_PRELOAD.");
    variable(
        "accounting",
        "usable",
        "usable, header",
        "Unit of allocated, freed and live bytes. usable: the size that the allocator reports as"
            + " usable. header: the requested size, stored in 16 bytes before each object.");
    variable(
        "huge",
        "64m",
        "a size of at least 32k",
        "Size above which a request counts as huge (native.malloc.huge). The library keeps the"
            + " latest 64 huge requests with time and thread.");
    variable(
        "sample-interval",
        "512k",
        "a size",
        "Sample interval. Every object of at least this size is sampled. A smaller object is sampled"
            + " with a probability in proportion to its size. The first allocations of each call"
            + " path are sampled too. 1 samples every allocation, 0 none. Set it for the JVM only,"
            + " for the reason given at MALLOMETER_STACKS.");
    variable(
        "stacks",
        "java",
        "off, large, native, java",
        "Stacks that the library keeps. large: return addresses of each request above"
            + " MALLOMETER_HUGE. native: also up to 128 native frames of each sample. java: also"
            + " up to 512 Java frames. Set it for the JVM only: every other program that inherits"
            + " native or java reserves 10 MiB of addresses.");
    variable(
        "overhead-target",
        "0.5%",
        "a share such as 1%, or off",
        "Share of one processor's time that samples may take, and of each thread's time in"
            + " any 20 ms (at least 2 ms). Above it the library samples less: first code that"
            + " allocates often, then code that allocates rarely, large amounts of memory last."
            + " Neither limit applies with off, or with MALLOMETER_SAMPLE_INTERVAL=1.");
    variable(
        "unwind",
        "dwarf",
        "dwarf, fp",
        "How the library unwinds native stacks. dwarf: by the unwind tables of each loaded library;"
            + " with glibc before 2.35 and with musl mallometer keeps a table of loaded libraries"
            + " for that. fp: by frame pointers, which few libraries keep.");
    variable(
        "leaks",
        "on",
        "on, off, clear_refs",
        "Whether the library observes accesses to sampled objects, once the bridge requests"
            + " it. clear_refs is for kernels without MADV_COLD (before Linux 5.4, or where it is"
            + " forbidden): it takes some milliseconds for each resident GiB, once an epoch.");
    variable(
        "arena-bytes",
        "16m",
        "a size",
        "Limit for the additional memory that observation takes: the bytes of the pages of observed"
            + " objects less the objects' own bytes. A second limit is 5 % of the resident set; 1"
            + " MiB is always allowed. With 0 nothing is observed.");
    variable(
            "agent",
            "",
            "the path of mallometer-agent.jar, with =OPTIONS as in -javaagent",
            "Starts the agent: the preloaded library adds -javaagent: with this value to"
                + " JAVA_TOOL_OPTIONS before main. If the file is missing or incomplete, if an"
                + " image made by jlink lacks java.instrument, or if the value has blanks or"
                + " quotes, the JVM starts without the agent, and one line says so. Applies only"
                + " to programs named java and those that MALLOMETER_ONLY names.")
        .secret();
    variable(
        "monitor",
        "",
        "maximum, histogram, usable-sizes, threshold",
        "Comma-separated list of the reports that each program prints to standard error when it"
            + " ends.");
    variable(
        "log",
        "warn",
        "off, warn, info",
        "Messages on standard error. info adds one line at the start of each program.");
    variable(
        "experimental",
        "",
        "macos",
        "Loads the library for macOS, which has never run on a Mac. The system property"
            + " mallometer.experimental has the same effect. Other systems ignore it.");
    text(
            Reader.COMMANDS,
            "password",
            "Password with which a command logs in at the server whose address it is given.")
        .secret();
  }

  private final Reader reader;
  private final String name;
  private final Type type;
  private final String meaning;
  private final Enum<?>[] choices;
  private String defaultText;

  /**
   * The default value, computed when first needed. Threads may compute it at the same time, because
   * their results are equal.
   */
  private @Nullable T defaultValue;

  private String values;
  private String least = "";
  private String most = "";
  private boolean allowsZero;
  private boolean splitsAtBlanks;
  private boolean secret;
  private boolean ofLibrary;

  private Setting(
      Reader reader,
      String name,
      Type type,
      String defaultText,
      Enum<?>[] choices,
      String meaning) {
    this.reader = reader;
    this.name = name;
    this.type = type;
    this.defaultText = defaultText;
    this.choices = choices;
    this.values = type.noun;
    this.meaning = meaning;
    ALL.add(this);
  }

  private static <T> Setting<T> row(
      Reader reader, String name, Type type, String defaultText, String meaning) {
    return new Setting<>(reader, name, type, defaultText, new Enum<?>[0], meaning);
  }

  private static Setting<Boolean> flag(
      Reader reader, String name, boolean defaultValue, String meaning) {
    return row(reader, name, Type.FLAG, Boolean.toString(defaultValue), meaning);
  }

  private static Setting<Integer> count(
      Reader reader, String name, String defaultText, String meaning) {
    return row(reader, name, Type.COUNT, defaultText, meaning);
  }

  private static Setting<Double> ratio(
      Reader reader, String name, String defaultText, String meaning) {
    return row(reader, name, Type.RATIO, defaultText, meaning);
  }

  private static Setting<Duration> time(
      Reader reader, String name, String defaultText, String meaning) {
    return Setting.<Duration>row(reader, name, Type.TIME, defaultText, meaning).atLeast("0");
  }

  private static Setting<Long> size(Reader reader, String name, String meaning) {
    return row(reader, name, Type.SIZE, "", meaning);
  }

  private static Setting<String> text(Reader reader, String name, String meaning) {
    return row(reader, name, Type.TEXT, "", meaning);
  }

  private static Setting<Path> file(Reader reader, String name, String meaning) {
    return row(reader, name, Type.FILE, "", meaning);
  }

  private static Setting<List<String>> list(Reader reader, String name, String meaning) {
    return row(reader, name, Type.LIST, "", meaning);
  }

  private static Setting<Map<String, String>> map(Reader reader, String name, String meaning) {
    return row(reader, name, Type.MAP, "", meaning);
  }

  private static <E extends Enum<E>> Setting<E> choice(
      Reader reader, String name, E defaultChoice, E[] choices, String meaning) {
    Setting<E> setting =
        new Setting<>(reader, name, Type.CHOICE, word(defaultChoice), choices, meaning);
    setting.values = "one of " + String.join(", ", setting.words());
    return setting;
  }

  private static Setting<String> variable(
      String name, String defaultText, String values, String meaning) {
    Setting<String> setting = text(Reader.LIBRARY, name, meaning).withDefault(defaultText);
    setting.values = values;
    return setting;
  }

  private static String word(Enum<?> choice) {
    return choice.name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  private Setting<T> withDefault(String defaultText) {
    this.defaultText = defaultText;
    return this;
  }

  private Setting<T> atLeast(String least) {
    this.least = least;
    return this;
  }

  private Setting<T> zeroOrAtLeast(String least) {
    this.allowsZero = true;
    return atLeast(least);
  }

  private Setting<T> between(String least, String most) {
    this.most = most;
    return atLeast(least);
  }

  private Setting<T> secret() {
    this.secret = true;
    return this;
  }

  private Setting<T> separatedByBlanks() {
    this.splitsAtBlanks = true;
    return this;
  }

  private Setting<T> alsoOfTheLibrary() {
    this.ofLibrary = true;
    return this;
  }

  /** Returns all settings, in the order of the reference page. */
  public static List<Setting<?>> all() {
    return Collections.unmodifiableList(ALL);
  }

  /** Returns the part of mallometer that reads the setting. */
  public Reader reader() {
    return reader;
  }

  /** Returns whether the native library itself reads the environment variable of the setting. */
  public boolean isOfTheLibrary() {
    return ofLibrary || reader == Reader.LIBRARY;
  }

  /** Returns whether the Spring Boot starter has a property for the setting. */
  public boolean isProperty() {
    return reader == Reader.ALL || reader == Reader.STARTER;
  }

  /** Returns whether the agent has an option for the setting. */
  public boolean isOption() {
    return reader == Reader.ALL || reader == Reader.AGENT;
  }

  /** Returns the name, which is also the agent's option, such as {@code max-scopes}. */
  public String name() {
    return name;
  }

  /** Returns the name of the property, such as {@code mallometer.max-scopes}. */
  public String property() {
    return SPRING + name;
  }

  /** Returns the name of the environment variable, such as {@code MALLOMETER_MAX_SCOPES}. */
  public String variable() {
    return property().toUpperCase(Locale.ROOT).replace('.', '_').replace('-', '_');
  }

  /** Returns the type of the value. */
  public Type type() {
    return type;
  }

  /** Returns the enum class of the values of a {@link Type#CHOICE}. */
  public Class<?> choiceType() {
    return choices.getClass().getComponentType();
  }

  /** Returns the words that a {@link Type#CHOICE} allows; an empty list for another type. */
  public List<String> words() {
    return Arrays.stream(choices).map(Setting::word).toList();
  }

  /**
   * Returns the setting that this setting requires. If the required setting is missing, this
   * setting has no effect. Null if none is required.
   */
  @Nullable Setting<?> requiredSetting() {
    if (name.startsWith("push.")) {
      return PUSH_URL;
    }
    if (name.startsWith("otlp.")) {
      return OTLP_URL;
    }
    return name.startsWith("http-server.") || this == HOST ? PORT : null;
  }

  /**
   * Returns the default as text; empty if there is none, or if the default is known only at run
   * time.
   */
  public String defaultText() {
    return defaultText;
  }

  /** Returns a description of the allowed values, such as {@code a whole number from 1 to 80}. */
  public String values() {
    String range = range();
    if (range.isEmpty() || range.equals(NOT_NEGATIVE)) {
      return values;
    }
    return values + (allowsZero ? ", " : most.isEmpty() ? " of " : " ") + range;
  }

  /** Returns the meaning, in sentences. */
  public String meaning() {
    return meaning;
  }

  /** Returns whether the value is secret, so that messages and reports mask it. */
  public boolean isSecret() {
    return secret;
  }

  @Nullable T defaultValue() {
    if (defaultValue == null && (!defaultText.isEmpty() || type == Type.LIST || type == Type.MAP)) {
      defaultValue = cast(read(defaultText));
    }
    return defaultValue;
  }

  /**
   * Reads a value from text.
   *
   * @param spelled the name that the user wrote, for the message
   * @throws InvalidSettingException if the text is not allowed
   */
  public T parse(String spelled, String text) {
    @Nullable Object value = read(text.strip());
    if (value == null) {
      String unit = type.examples.isEmpty() ? "" : " with a unit" + type.examples;
      throw invalid(spelled, shown(text), "must be " + values + unit);
    }
    return check(spelled, text, cast(value));
  }

  T check(T value) {
    return check(name, type == Type.TIME ? text((Duration) value) : String.valueOf(value), value);
  }

  private T check(String spelled, String text, T value) {
    if (!(isWithin(value) || allowsZero && isZero(value))) {
      throw invalid(spelled, shown(text), rule());
    }
    return value;
  }

  /**
   * Returns an exception for a value that breaks a rule.
   *
   * @param rule the rule, such as "must be at least 1m"
   */
  public InvalidSettingException invalid(String text, String rule) {
    return invalid(name, text, rule);
  }

  private InvalidSettingException invalid(String spelled, String text, String rule) {
    return new InvalidSettingException(this, spelled, text, rule);
  }

  private String rule() {
    if (range().equals(NOT_NEGATIVE)) {
      return "must not be negative";
    }
    return "must be " + range() + type.examples;
  }

  /** Returns a value for a message, with asterisks in place of a secret. */
  public String shown(String text) {
    return secret ? "******" : text;
  }

  private String range() {
    if (least.isEmpty()) {
      return "";
    }
    if (type == Type.TIME && least.equals("0")) {
      return NOT_NEGATIVE;
    }
    String from = most.isEmpty() ? "at least " + least : "from " + least + " to " + most;
    return allowsZero ? "0 or " + from : from;
  }

  @SuppressWarnings("unchecked")
  private boolean isWithin(T value) {
    if (least.isEmpty()) {
      return true;
    }
    Comparable<Object> compared = (Comparable<Object>) value;
    return compared.compareTo(limit(least)) >= 0
        && (most.isEmpty() || compared.compareTo(limit(most)) <= 0);
  }

  private Object limit(String text) {
    @Nullable Object limit = read(text);
    if (limit == null) {
      throw new IllegalStateException(name + " has the limit " + text);
    }
    return limit;
  }

  private static boolean isZero(Object value) {
    return value.equals(Duration.ZERO);
  }

  private @Nullable Object read(String text) {
    try {
      switch (type) {
        case FLAG:
          return flag(text);
        case COUNT:
          return Integer.valueOf(text);
        case RATIO:
          double ratio = Double.parseDouble(text);
          return Double.isNaN(ratio) ? null : ratio;
        case TIME:
          Optional<Duration> span = TimeSpan.parse(text);
          return span.isPresent() ? span.get() : null;
        case SIZE:
          return bytes(text);
        case CHOICE:
          return chosen(text);
        case FILE:
          return Path.of(text);
        case LIST:
          return parts(text);
        case MAP:
          return pairs(text);
        default:
          return text;
      }
    } catch (NumberFormatException | InvalidPathException e) {
      return null;
    }
  }

  private static @Nullable Boolean flag(String text) {
    switch (text.toLowerCase(Locale.ROOT)) {
      case "true", "on", "yes", "1":
        return true;
      case "false", "off", "no", "0":
        return false;
      default:
        return null;
    }
  }

  /**
   * Returns the constant for a word. A setting whose last constant is named {@code off} also
   * accepts {@code true}, which selects the first constant, and {@code false}, which selects {@code
   * off}.
   */
  private @Nullable Enum<?> chosen(String text) {
    @Nullable Boolean flag = flag(text);
    String wanted = flag == null ? text : flag ? word(choices[0]) : "off";
    for (Enum<?> each : choices) {
      if (word(each).equalsIgnoreCase(wanted) && (flag == null || hasOff())) {
        return each;
      }
    }
    return null;
  }

  private boolean hasOff() {
    return word(choices[choices.length - 1]).equals("off");
  }

  /** Reads a size such as 512, 512m or 512MiB, as the native library does. */
  private static @Nullable Long bytes(String text) {
    String lower = text.toLowerCase(Locale.ROOT);
    int end = 0;
    while (end < lower.length() && lower.charAt(end) >= '0' && lower.charAt(end) <= '9') {
      end++;
    }
    long number = Long.parseLong(lower.substring(0, end));
    if (end == lower.length()) {
      return number;
    }
    int unit = UNITS.indexOf(lower.charAt(end));
    String rest = lower.substring(end + 1);
    if (unit < 0 || !(rest.isEmpty() || rest.equals("b") || rest.equals("ib"))) {
      return null;
    }
    int shift = 10 * (unit + 1);
    return number > Long.MAX_VALUE >> shift ? null : number << shift;
  }

  /**
   * Splits a text at commas and blanks. In the agent's options, commas already separate the
   * options, so the parts of a value are separated by blanks there.
   */
  private static List<String> parts(String text) {
    List<String> parts = new ArrayList<>();
    for (String part : text.replace(' ', ',').split(",")) {
      if (!part.isEmpty()) {
        parts.add(part);
      }
    }
    return Collections.unmodifiableList(parts);
  }

  private @Nullable Map<String, String> pairs(String text) {
    Map<String, String> pairs = new LinkedHashMap<>();
    for (String part : splitsAtBlanks ? parts(text) : List.of(text.split(","))) {
      if (part.isBlank()) {
        continue;
      }
      int equals = part.indexOf('=');
      if (equals < 1) {
        return null;
      }
      pairs.put(part.substring(0, equals).strip(), part.substring(equals + 1).strip());
    }
    return Collections.unmodifiableMap(pairs);
  }

  /** Returns a duration in the form of settings, such as {@code 90s} or {@code 500ms}. */
  public static String text(Duration duration) {
    return duration.toMillis() % 1000 == 0
        ? duration.toSeconds() + "s"
        : duration.toMillis() + "ms";
  }

  @SuppressWarnings("unchecked") // A value has the type of its setting.
  private static <V> V cast(@Nullable Object value) {
    return (V) value;
  }

  /** Returns the name. */
  @Override
  public String toString() {
    return name;
  }
}
