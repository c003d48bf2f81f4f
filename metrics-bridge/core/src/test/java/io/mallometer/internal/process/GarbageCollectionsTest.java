package io.mallometer.internal.process;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class GarbageCollectionsTest {

  @Test
  void aCollectionOfTheWholeHeapCounts() {
    GarbageCollections before = GarbageCollections.ofThisJvm();
    System.gc();
    GarbageCollections after = GarbageCollections.ofThisJvm();
    assertThat(after.all()).isGreaterThan(before.all());
    assertThat(after.whole()).isGreaterThan(before.whole());
    assertThat(after.oldBytes()).isPositive();
  }

  @ParameterizedTest
  @CsvSource({
    "G1 Young Generation, false",
    "PS Scavenge, false",
    "Copy, false",
    "ZGC Minor Cycles, false",
    "G1 Old Generation, true",
    "ZGC Cycles, true",
    "ZGC Major Cycles, true"
  })
  void beansThatReclaim(String bean, boolean ofTheWholeHeap) {
    assertThat(GarbageCollections.reclaims(bean)).isTrue();
    assertThat(GarbageCollections.isWhole(bean)).isEqualTo(ofTheWholeHeap);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"ZGC Pauses", "ZGC Major Pauses", "Shenandoah Pauses", "G1 Concurrent GC"})
  void beansThatDoNot(String bean) {
    assertThat(GarbageCollections.reclaims(bean)).isFalse();
  }

  @ParameterizedTest
  @CsvSource({
    "G1 Old Gen, true",
    "PS Old Gen, true",
    "Tenured Gen, true",
    "ZGC Old Generation, true",
    "G1 Eden Space, false",
    "ZHeap, false",
    "ZGC Young Generation, false"
  })
  void oldGenerations(String pool, boolean isOld) {
    assertThat(GarbageCollections.isOld(pool)).isEqualTo(isOld);
  }
}
