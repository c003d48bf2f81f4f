package io.mallometer.samples;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectMethod;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;

/** Checks that the leaking tests fail, and that their messages name the code that leaks. */
class CaughtTest {

  @Test
  void iteratorOfAStateStore() {
    assertThat(failure(StateStoreTest.class, "iteratorIsNotClosed"))
        .startsWith("Native memory grows by ")
        .contains("StateStoreTest.iteratorIsNotClosed(StateStoreTest.java:")
        .contains("org.rocksdb.RocksDB.iterator(");
  }

  @Test
  void deflater() {
    assertThat(failure(CompressionTest.class, "deflaterIsNotEnded"))
        .startsWith("Native memory grows by ")
        .contains("CompressionTest.deflaterIsNotEnded(CompressionTest.java:")
        .contains("the objects are unreachable, but were not closed");
  }

  private static String failure(Class<?> type, String method) {
    List<String> failures = new ArrayList<>();
    LauncherFactory.create()
        .execute(
            LauncherDiscoveryRequestBuilder.request().selectors(selectMethod(type, method)).build(),
            new TestExecutionListener() {
              @Override
              public void executionFinished(TestIdentifier test, TestExecutionResult result) {
                result.getThrowable().ifPresent(failure -> failures.add(failure.getMessage()));
              }
            });
    assertThat(failures).hasSize(1);
    System.out.println(failures.get(0));
    return failures.get(0);
  }
}
