package io.mallometer.junit;

import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.reporting.ReportEntry;
import org.junit.platform.engine.support.descriptor.MethodSource;
import org.junit.platform.launcher.LauncherDiscoveryRequest;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;

final class Engine {

  private Engine() {}

  record Ended(String method, TestExecutionResult result, Map<String, String> reported) {}

  static Map<String, TestExecutionResult> run(Class<?> type, Map<String, String> parameters) {
    Map<String, TestExecutionResult> byMethod = new TreeMap<>();
    all(type, parameters).forEach(ended -> byMethod.put(ended.method(), ended.result()));
    return byMethod;
  }

  /**
   * Returns whether a factory of dynamic tests failed. A failed factory has no tests, so its own
   * result must be reported.
   */
  private static boolean hasFailed(TestIdentifier test, TestExecutionResult result) {
    return test.getSource().filter(MethodSource.class::isInstance).isPresent()
        && result.getStatus() == TestExecutionResult.Status.FAILED;
  }

  static Map<String, TestExecutionResult> run(Class<?> type) {
    return run(type, Map.of());
  }

  static List<Ended> all(Class<?> type, Map<String, String> parameters) {
    List<Ended> ended = Collections.synchronizedList(new ArrayList<>());
    LauncherDiscoveryRequest request =
        LauncherDiscoveryRequestBuilder.request()
            .selectors(selectClass(type))
            .configurationParameters(parameters)
            .build();
    LauncherFactory.create()
        .execute(
            request,
            new TestExecutionListener() {
              private final Map<TestIdentifier, Map<String, String>> reported =
                  new ConcurrentHashMap<>();

              @Override
              public void reportingEntryPublished(TestIdentifier test, ReportEntry entry) {
                reported
                    .computeIfAbsent(test, key -> new ConcurrentHashMap<>())
                    .putAll(entry.getKeyValuePairs());
              }

              @Override
              public void executionFinished(TestIdentifier test, TestExecutionResult result) {
                if (test.isTest() || hasFailed(test, result)) {
                  test.getSource()
                      .map(MethodSource.class::cast)
                      .ifPresent(
                          source ->
                              ended.add(
                                  new Ended(
                                      source.getMethodName(),
                                      result,
                                      reported.getOrDefault(test, Map.of()))));
                }
              }
            });
    return ended;
  }
}
