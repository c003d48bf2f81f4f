package io.mallometer.internal.owner;

import static org.assertj.core.api.Assertions.assertThat;

import io.mallometer.internal.library.HeapGraph;
import io.mallometer.internal.library.HeapGraph.HeapObject;
import io.mallometer.internal.library.HeapGraph.Hold;
import io.mallometer.internal.library.HeapGraph.Kind;
import io.mallometer.internal.library.HeapGraph.Link;
import io.mallometer.internal.library.HeapGraph.Reference;
import io.mallometer.model.OwnerReport.Holding;
import io.mallometer.model.OwnerReport.Way;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Tests the texts that tell which Java objects keep native memory alive. No text may claim more
 * than is known.
 */
@Tag("any-jdk")
class OwnerFinderTest {

  private static final int SAMPLES = 10;

  private final List<HeapObject> objects = new ArrayList<>();
  private final List<Hold> holds = new ArrayList<>();

  private int object(String className, Kind kind, Link... referrers) {
    objects.add(new HeapObject(className, kind, true, true, false, true, List.of(referrers)));
    return objects.size() - 1;
  }

  private static Link field(int referrer, String name) {
    return new Link(referrer, Reference.FIELD, name);
  }

  private int owner(Link... referrers) {
    return object("app.Owner", Kind.OTHER, referrers);
  }

  private void hold(int samples, int object) {
    for (int i = 0; i < samples; i++) {
      holds.add(new Hold(i, false, object, "app.Owner", "address", 0));
    }
  }

  private List<Way> ways() {
    return OwnerFinder.ways(new HeapGraph(SAMPLES, 0, holds, objects), true);
  }

  private Way only() {
    assertThat(ways()).hasSize(1);
    return ways().get(0);
  }

  private void held(Holding holding, String path) {
    assertThat(only().holding()).isEqualTo(holding);
    assertThat(only().paths().get(0).text()).isEqualTo(path);
  }

  @Test
  void aStaticListKeepsItAndItsInsidesAreTheList() {
    int type = object("app.Cache", Kind.CLASS);
    int list = object("java.util.ArrayList", Kind.OTHER, new Link(type, Reference.STATIC, "open"));
    int array = object("java.lang.Object[]", Kind.OTHER, field(list, "elementData"));
    hold(SAMPLES, owner(new Link(array, Reference.ELEMENT, null)));
    held(Holding.KEPT, "ArrayList <- static Cache.open");
    assertThat(only().holder()).isEqualTo("Owner.address");
    assertThat(only().shareLow()).isBetween(0.7, 0.75);
    assertThat(OwnerFinder.sentence(ways(), SAMPLES, false, false))
        .isEqualTo(
            "10 of 10 sampled objects (100 %, interval 72 to 100 %): kept by Owner.address <-"
                + " ArrayList <- static Cache.open.");
  }

  /** Wilson's interval for 8 of 10 is 0.490 to 0.943. */
  @Test
  void anIntervalIsNotRoundedToANarrowerOne() {
    hold(8, owner(new Link(-1, Reference.THREAD, null)));
    assertThat(OwnerFinder.sentence(ways(), SAMPLES, false, false))
        .startsWith("8 of 10 sampled objects (80 %, interval 49 to 95 %)");
  }

  @Test
  void whatCleansUpAfterAKeptOwnerIsNotListed() {
    int cleaner = object("app.Cleanup", Kind.PHANTOM);
    int thunk = object("app.Thunk", Kind.OTHER, field(cleaner, "action"));
    for (int i = 0; i < SAMPLES; i++) {
      holds.add(new Hold(i, false, thunk, "app.Thunk", "address", 0));
    }
    assertThat(only().holding()).isEqualTo(Holding.GARBAGE);
    hold(SAMPLES, owner(new Link(-1, Reference.THREAD, null)));
    assertThat(only().holding()).isEqualTo(Holding.KEPT);
  }

  @Test
  void aSoftReferenceKeepsItSoftly() {
    int soft =
        object("java.lang.ref.SoftReference", Kind.SOFT, new Link(-1, Reference.JNI_GLOBAL, null));
    hold(SAMPLES, owner(field(soft, "referent")));
    held(Holding.SOFTLY, "SoftReference.referent <- JNI global reference");
  }

  @Test
  void aWeakReferenceKeepsItWeakly() {
    int weak = object("java.lang.ref.WeakReference", Kind.WEAK);
    hold(SAMPLES, owner(field(weak, "referent")));
    held(Holding.WEAKLY, "WeakReference.referent");
  }

  @Test
  void whatOnlyACleanerKnowsIsGarbage() {
    int cleaner = object("app.Cleanup", Kind.PHANTOM);
    hold(SAMPLES, owner(field(cleaner, "action")));
    held(Holding.GARBAGE, "Cleanup.action");
    assertThat(OwnerFinder.sentence(ways(), SAMPLES, false, false)).contains("This is no leak");
  }

  @Test
  void thePhantomReferenceOfAnObjectGivesItToNobody() {
    int cleaner = object("app.Cleanup", Kind.PHANTOM);
    hold(SAMPLES, owner(field(cleaner, "referent")));
    held(Holding.UNREACHABLE, "");
  }

  @Test
  void anObjectThatWaitsForItsFinalizerIsGarbage() {
    int finalizer = object("java.lang.ref.Finalizer", Kind.FINAL);
    hold(SAMPLES, owner(field(finalizer, "referent")));
    held(Holding.GARBAGE, "Finalizer.referent");
  }

  @Test
  void garbageWithoutACleanerFreesNothing() {
    hold(SAMPLES, garbage());
    held(Holding.UNREACHABLE, "");
    assertThat(OwnerFinder.sentence(ways(), SAMPLES, false, false))
        .contains("only garbage has their address, in Owner.address, and no cleaner");
  }

  private int garbage() {
    objects.add(new HeapObject("app.Owner", Kind.OTHER, true, true, false, false, List.of()));
    return objects.size() - 1;
  }

  @Test
  void aFewKeptHoldersDoNotMakeGarbageKept() {
    for (int i = 0; i < SAMPLES; i++) {
      int holder = i < 2 ? owner(new Link(-1, Reference.THREAD, null)) : garbage();
      holds.add(new Hold(i, false, holder, "app.Owner", "address", 0));
    }
    assertThat(only().holding()).isEqualTo(Holding.UNREACHABLE);
  }

  @Test
  void addressesThatGarbageHasFromBeforeAreKeptByTheirOwner() {
    hold(SAMPLES, garbage());
    hold(SAMPLES, owner(new Link(-1, Reference.THREAD, null)));
    assertThat(only().holding()).isEqualTo(Holding.KEPT);
  }

  @Test
  void whatOnlyGarbageHasIsNotCountedAsKept() {
    int owner = owner(new Link(-1, Reference.THREAD, null));
    hold(SAMPLES, garbage());
    hold(6, owner);
    assertThat(ways()).extracting(Way::holding).containsExactly(Holding.KEPT, Holding.UNREACHABLE);
    assertThat(ways()).extracting(Way::samples).containsExactly(6, 4);
  }

  @Test
  void garbageIsNotSaidToBeAllWhereAHolderWasNotFollowed() {
    hold(SAMPLES, garbage());
    objects.add(new HeapObject("app.Owner", Kind.OTHER, false, false, false, false, List.of()));
    hold(SAMPLES, objects.size() - 1);
    assertThat(only().holding()).isEqualTo(Holding.HELD);
  }

  @Test
  void oneSampleIsTooFew() {
    hold(1, owner(new Link(-1, Reference.THREAD, null)));
    List<Way> ways = OwnerFinder.ways(new HeapGraph(1, 0, holds, objects), true);
    assertThat(ways).isEmpty();
    assertThat(OwnerFinder.sentence(ways, 1, false, false))
        .startsWith("1 sampled object is too few");
  }

  @Test
  void theRestThatNobodyHoldsComesAfterWaysThroughNativeMemory() {
    int holder = owner(new Link(-1, Reference.THREAD, null));
    for (int i = 0; i < 6; i++) {
      holds.add(new Hold(i, false, holder, "app.Owner", "address", 2));
    }
    assertThat(ways()).extracting(Way::holding).containsExactly(Holding.KEPT, Holding.NOBODY);
  }

  @Test
  void aLocalVariableHasItsMethod() {
    hold(SAMPLES, owner(new Link(-1, Reference.LOCAL, "app.jobs.Worker.run")));
    held(Holding.LOCAL_VARIABLE, "local variable of Worker.run");
  }

  @Test
  void aWeakWordIsNotSaidWhereAStrongerPathMayBe() {
    int weak = object("java.lang.ref.WeakReference", Kind.WEAK);
    // The search has not looked for the referrers of this object.
    objects.add(new HeapObject("app.Pool", Kind.OTHER, true, false, false, true, List.of()));
    hold(SAMPLES, owner(field(weak, "referent"), field(1, "all")));
    held(Holding.DEEPER, "Pool.all");
  }

  @Test
  void thePathAsFarAsItIsKnownIsToldOfWhatIsDeeper() {
    objects.add(new HeapObject("app.Beans", Kind.OTHER, true, false, false, true, List.of()));
    int service = object("app.Service", Kind.OTHER, field(0, "all"));
    int queue = object("java.util.ArrayDeque", Kind.OTHER, field(service, "open"));
    hold(SAMPLES, owner(field(queue, "elements")));
    held(Holding.DEEPER, "ArrayDeque <- Service.open <- Beans.all");
    assertThat(OwnerFinder.sentence(ways(), SAMPLES, false, false))
        .endsWith(
            "held by Owner.address <- ArrayDeque <- Service.open <- Beans.all, which something"
                + " deeper than was looked keeps.");
  }

  @Test
  void whatHasMoreReferrersThanWereKeptIsDeeper() {
    objects.add(new HeapObject("app.Owner", Kind.OTHER, true, true, true, true, List.of()));
    hold(SAMPLES, 0);
    held(Holding.DEEPER, "");
  }

  @Test
  void aCircleEnds() {
    objects.add(
        new HeapObject("app.A", Kind.OTHER, true, true, false, true, List.of(field(1, "a"))));
    objects.add(
        new HeapObject("app.B", Kind.OTHER, true, true, false, true, List.of(field(0, "b"))));
    hold(SAMPLES, 0);
    held(Holding.UNREACHABLE, "");
  }

  @Test
  void withoutLinksNobodyKnowsWhatKeepsTheHolder() {
    hold(SAMPLES, owner());
    List<Way> ways = OwnerFinder.ways(new HeapGraph(SAMPLES, 0, holds, objects), false);
    assertThat(ways.get(0).holding()).isEqualTo(Holding.HELD);
    assertThat(OwnerFinder.sentence(ways, SAMPLES, false, false))
        .endsWith("held by Owner.address; what keeps that was not looked at.");
  }

  @Test
  void aFieldWithFewOfTheSamplesIsNotNamed() {
    hold(2, owner());
    assertThat(ways()).extracting(Way::holding).containsExactly(Holding.NOBODY);
    assertThat(only().samples()).isEqualTo(SAMPLES - 2);
  }

  @Test
  void nobodyIsSaidWithWhatItCanMean() {
    assertThat(OwnerFinder.sentence(ways(), SAMPLES, false, false))
        .contains("no Java long holds their address. Native code may hold it;")
        .endsWith("or they are lost, which only the search for lost memory can tell.");
    assertThat(OwnerFinder.sentence(ways(), SAMPLES, true, false))
        .endsWith("With ZGC and Shenandoah garbage may have it, too: their walks see none.");
  }

  @Test
  void samplesThatWereFreedMeanNothing() {
    int holder = owner(new Link(-1, Reference.THREAD, null));
    for (int i = 0; i < SAMPLES; i++) {
      holds.add(new Hold(i, i < 6, holder, "app.Owner", "address", 0));
    }
    Way way = OwnerFinder.ways(new HeapGraph(SAMPLES, 6, holds, objects), true).get(0);
    assertThat(way.samples()).isEqualTo(4);
    assertThat(way.share()).isEqualTo(1);
  }

  @Test
  void theListThatJnaHasOfAllItsMemoryComesLast() {
    int type = object("com.sun.jna.Memory", Kind.CLASS);
    int map =
        object(
            "java.util.concurrent.ConcurrentHashMap",
            Kind.OTHER,
            new Link(type, Reference.STATIC, "allocatedMemory"));
    int key = object("java.lang.Long", Kind.OTHER, field(map, "table"));
    int cleaner = object("app.Cleanup", Kind.PHANTOM);
    for (int i = 0; i < SAMPLES; i++) {
      holds.add(new Hold(i, false, key, "java.lang.Long", "value", 0));
    }
    hold(SAMPLES, owner(field(cleaner, "action")));
    assertThat(ways()).extracting(Way::holding).containsExactly(Holding.GARBAGE, Holding.KEPT);
    assertThat(ways().get(1).paths().get(0).text())
        .endsWith("(bookkeeping of all memory of JNA, no owner)");
  }

  @Test
  void aLambdaHasTheSameNameInEachRun() {
    assertThat(PathText.field("app.Main$$Lambda/0x00007f1234.0x1", "arg$1"))
        .isEqualTo("Main$$Lambda.arg$1");
    assertThat(PathText.field("long[]", "")).isEqualTo("long[]");
  }
}
