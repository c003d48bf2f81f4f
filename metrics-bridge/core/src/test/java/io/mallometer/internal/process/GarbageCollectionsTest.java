package io.mallometer.internal.process;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
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
  @ValueSource(
      strings = {
        "G1 Young Generation",
        "PS Scavenge",
        "Copy",
        "ZGC Minor Cycles",
        "G1 Old Generation",
        "ZGC Cycles",
        "ZGC Major Cycles"
      })
  void beansThatReclaim(String bean) {
    assertThat(GarbageCollections.reclaims(bean)).isTrue();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"ZGC Pauses", "ZGC Major Pauses", "Shenandoah Pauses", "G1 Concurrent GC"})
  void beansThatDoNot(String bean) {
    assertThat(GarbageCollections.reclaims(bean)).isFalse();
  }

  @ParameterizedTest
  @ValueSource(strings = {"G1 Young Generation", "PS Scavenge", "Copy", "ZGC Minor Cycles"})
  void beansOfAPartOfTheHeap(String bean) {
    assertThat(GarbageCollections.isWhole(bean)).isFalse();
  }

  @ParameterizedTest
  @ValueSource(strings = {"G1 Old Gen", "PS Old Gen", "Tenured Gen", "ZGC Old Generation"})
  void oldGenerations(String pool) {
    assertThat(GarbageCollections.isOld(pool)).isTrue();
  }

  @ParameterizedTest
  @ValueSource(strings = {"G1 Eden Space", "ZHeap", "ZGC Young Generation"})
  void othersAreNone(String pool) {
    assertThat(GarbageCollections.isOld(pool)).isFalse();
  }
}
