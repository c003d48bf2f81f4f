package io.mallometer.junit;

import io.mallometer.model.Status;
import java.io.IOException;
import java.lang.annotation.Annotation;
import java.lang.reflect.Method;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.ExtensionConfigurationException;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;
import org.junit.jupiter.api.extension.InvocationInterceptor;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;
import org.junit.jupiter.api.extension.ReflectiveInvocationContext;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.platform.commons.support.AnnotationSupport;
import org.junit.platform.commons.support.ReflectionSupport;
import org.opentest4j.AssertionFailedError;
import org.opentest4j.TestAbortedException;

/**
 * Measures the native memory of tests with {@link ExpectMaxNative}, {@link ExpectNoNativeGrowth} or
 * {@link ExpectNativeFreed}, which register this extension, and of tests with a parameter {@link
 * NativeMemory}. Monitors tests with {@link MonitorNative}.
 *
 * <p>A test fails if native memory cannot be counted: the library is not preloaded, and an attach
 * is impossible. The configuration parameter {@code mallometer.uncounted=skip} skips the test
 * instead.
 */
public final class NativeMemoryExtension
    implements InvocationInterceptor, ParameterResolver, AfterEachCallback {

  /** The configuration parameter for tests without measurement: {@code fail} or {@code skip}. */
  public static final String UNCOUNTED = "mallometer.uncounted";

  /**
   * The configuration parameter for the directory of the file with the figures, or {@code off}. The
   * default is {@code target/mallometer}, or {@code build/mallometer} with Gradle.
   */
  public static final String RESULTS_DIRECTORY = "mallometer.results";

  private static final String OFF = "off";
  private static final Map<Path, ResultsFile> RESULTS = new ConcurrentHashMap<>();
  private static final Pattern INVOCATION =
      Pattern.compile("\\[test-template-invocation:#(\\d+)]$");
  private static final String SKIP = "skip";
  private static final String FAIL = "fail";
  private static final String PARALLEL = "junit.jupiter.execution.parallel.enabled";
  private static final Namespace NAMESPACE = Namespace.create(NativeMemoryExtension.class);

  /** Called by JUnit. */
  public NativeMemoryExtension() {}

  /**
   * Makes the tests of a context and its children measure {@code process}. Only this extension's
   * own tests call this.
   */
  static void measure(ExtensionContext context, ThisProcess process) {
    context.getStore(NAMESPACE).put(ThisProcess.class, process);
  }

  @Override
  public void interceptTestMethod(
      Invocation<Void> invocation,
      ReflectiveInvocationContext<Method> call,
      ExtensionContext context)
      throws Throwable {
    intercept(invocation, call, context);
  }

  @Override
  public void interceptTestTemplateMethod(
      Invocation<Void> invocation,
      ReflectiveInvocationContext<Method> call,
      ExtensionContext context)
      throws Throwable {
    intercept(invocation, call, context);
  }

  @Override
  public <T> T interceptTestFactoryMethod(
      Invocation<T> invocation, ReflectiveInvocationContext<Method> call, ExtensionContext context)
      throws Throwable {
    if (expectations(context).isPresent() || find(context, MonitorNative.class).isPresent()) {
      throw new ExtensionConfigurationException(
          "The native memory of dynamic tests is not measured. Use a test method, or a parameter of"
              + " type NativeMemory.");
    }
    return invocation.proceed();
  }

  private static void intercept(
      Invocation<Void> invocation,
      ReflectiveInvocationContext<Method> call,
      ExtensionContext context)
      throws Throwable {
    Optional<MonitorNative> monitor = find(context, MonitorNative.class);
    if (monitor.isEmpty()) {
      check(invocation, call, context);
    } else {
      monitored(monitor.get(), () -> check(invocation, call, context), context);
    }
  }

  /**
   * Monitors a test. An exception of the test itself takes precedence over the findings of the
   * monitors, which are then only reported.
   */
  private static void monitored(MonitorNative wanted, Body test, ExtensionContext context)
      throws Throwable {
    boolean alone = alone(context);
    Of of = alone ? wanted.of() : Of.TEST;
    if (wanted.matched() && of != Of.TEST) {
      throw new ExtensionConfigurationException(
          "Native memory is matched by address for a thread only: @MonitorNative(matched = true, of"
              + " = Of.TEST)");
    }
    if (wanted.liveSize() != MonitorNative.NONE && !alone) {
      throw new ExtensionConfigurationException(
          "@MonitorNative(liveSize = ...) needs @Isolated: tests that run in parallel share the live"
              + " bytes of the process");
    }
    Optional<Path> rows =
        wanted.csvMillis() > 0
            ? resultsDirectory(context).map(directory -> directory.resolve(rowsName(context)))
            : Optional.empty();
    Monitored monitoring =
        counted(context).monitor(wanted, of, context.getRequiredTestClass(), rows);
    try {
      test.run();
    } catch (Throwable e) {
      try {
        report(monitoring, context);
      } catch (RuntimeException second) {
        e.addSuppressed(second);
      }
      throw e;
    }
    monitoring.check(report(monitoring, context));
  }

  private static String report(Monitored monitoring, ExtensionContext context) {
    String report = monitoring.end();
    context.publishReportEntry("native memory", report);
    return report;
  }

  private static String rowsName(ExtensionContext context) {
    return name(context).replaceAll("[^\\w.\\[\\]$-]", "_") + ".csv";
  }

  private static void check(
      Invocation<Void> invocation,
      ReflectiveInvocationContext<Method> call,
      ExtensionContext context)
      throws Throwable {
    Optional<Expectations> expectations = expectations(context);
    if (expectations.isEmpty()) {
      invocation.proceed();
      return;
    }
    ThisProcess process = counted(context);
    UseByMetric figures = new UseByMetric();
    try {
      expectations
          .get()
          .check(
              process,
              context.getRequiredTestClass(),
              alone(context),
              body(invocation, call),
              figures);
    } finally {
      write(figures, context);
    }
  }

  /**
   * Writes the figures. The test does not fail if they cannot be written, for example to a full
   * disk.
   */
  private static void write(UseByMetric figures, ExtensionContext context) {
    Optional<Path> directory = resultsDirectory(context);
    if (directory.isEmpty() || figures.byMetric().isEmpty()) {
      return;
    }
    try {
      RESULTS
          .computeIfAbsent(directory.get(), ResultsFile::new)
          .put(context.getUniqueId(), name(context), figures);
    } catch (IOException e) {
      context.publishReportEntry("mallometer", "The results file could not be written: " + e);
    }
  }

  private static Optional<Path> resultsDirectory(ExtensionContext context) {
    Path project = Path.of("").toAbsolutePath();
    Optional<String> wanted = context.getConfigurationParameter(RESULTS_DIRECTORY);
    return wanted.isEmpty()
        ? ResultsFile.usualDirectory(project)
        : wanted.filter(path -> !path.equals(OFF)).map(project::resolve);
  }

  private static String name(ExtensionContext context) {
    Matcher invocation = INVOCATION.matcher(context.getUniqueId());
    return context.getRequiredTestClass().getName()
        + '.'
        + context.getRequiredTestMethod().getName()
        + (invocation.find() ? "[" + invocation.group(1) + "]" : "");
  }

  /**
   * Returns the body of a test. JUnit allows only one call of proceed(), so further runs call the
   * test method by reflection.
   */
  private static Body body(Invocation<Void> invocation, ReflectiveInvocationContext<Method> call) {
    boolean[] proceeded = new boolean[1];
    return () -> {
      if (proceeded[0]) {
        ReflectionSupport.invokeMethod(
            call.getExecutable(), call.getTarget().orElse(null), call.getArguments().toArray());
      } else {
        proceeded[0] = true;
        invocation.proceed();
      }
    };
  }

  private static Optional<Expectations> expectations(ExtensionContext context) {
    Expectations found =
        new Expectations(
            find(context, ExpectMaxNative.class),
            find(context, ExpectNativeFreed.class),
            find(context, ExpectNoNativeGrowth.class));
    return found.isEmpty() ? Optional.empty() : Optional.of(found);
  }

  private static <A extends Annotation> Optional<A> find(ExtensionContext context, Class<A> type) {
    Optional<A> found = AnnotationSupport.findAnnotation(context.getTestMethod(), type);
    Optional<Class<?>> around = context.getTestClass();
    while (found.isEmpty() && around.isPresent()) {
      found = AnnotationSupport.findAnnotation(around, type);
      around = around.map(Class::getEnclosingClass);
    }
    return found;
  }

  /** Returns whether no other test runs in parallel. */
  private static boolean alone(ExtensionContext context) {
    boolean parallel =
        context.getConfigurationParameter(PARALLEL).map(Boolean::parseBoolean).orElse(false);
    return !parallel || find(context, Isolated.class).isPresent();
  }

  private static ThisProcess process(ExtensionContext context) {
    @Nullable ThisProcess other =
        context.getStore(NAMESPACE).get(ThisProcess.class, ThisProcess.class);
    return other == null ? ThisProcess.INSTANCE : other;
  }

  /**
   * Returns the process to measure. Throws if the process is not counted: the test then fails, or
   * is skipped if {@link #UNCOUNTED} is {@code skip}.
   */
  private static ThisProcess counted(ExtensionContext context) {
    ThisProcess process = process(context);
    Status status = process.status();
    if (!status.active()) {
      uncounted(status, context.getConfigurationParameter(UNCOUNTED).orElse(FAIL));
    }
    return process;
  }

  private static void uncounted(Status status, String wanted) {
    String text =
        "Native memory is not counted: %s.%s"
            .formatted(
                status.reason(),
                status.remedy().isEmpty() ? "" : " What to do: " + status.remedy());
    switch (wanted.toLowerCase(Locale.ROOT)) {
      case SKIP -> throw new TestAbortedException(text);
      case FAIL ->
          throw new AssertionFailedError(
              text + "\nTo skip such tests: configuration parameter " + UNCOUNTED + "=" + SKIP);
      default ->
          throw new ExtensionConfigurationException(
              "The configuration parameter %s is '%s'; it can be %s or %s."
                  .formatted(UNCOUNTED, wanted, FAIL, SKIP));
    }
  }

  @Override
  public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
    return parameter.getParameter().getType() == NativeMemory.class;
  }

  @Override
  public NativeMemory resolveParameter(ParameterContext parameter, ExtensionContext context) {
    return context
        .getStore(NAMESPACE)
        .getOrComputeIfAbsent(
            NativeMemory.class,
            type ->
                new NativeMemory(counted(context), context.getRequiredTestClass(), alone(context)),
            NativeMemory.class);
  }

  /** Ends the open phase, and publishes all phases of the test as report entries. */
  @Override
  public void afterEach(ExtensionContext context) {
    @Nullable NativeMemory memory =
        context.getStore(NAMESPACE).get(NativeMemory.class, NativeMemory.class);
    if (memory != null) {
      memory.endPhase();
      memory
          .phases()
          .forEach(phase -> context.publishReportEntry(phase.getKey(), phase.getValue()));
    }
  }
}
